//! AMD's GPUs, and the interfaces by which a board reaches their memory.

use super::Finding;
use super::pci::{AMD, Bus};
use peerlane_gpu::Error;
use peerlane_gpu::amd::AmdGpu;
use peerlane_gpu::directgma;

const ABOUT: &str = "amd";

/// Note on every working feature: none of them has been tested.
const UNTRIED: &str = "not verified on hardware: rely on the probe";

/// Returns the GPUs that ROCm finds, and the capabilities of this computer's AMD GPUs; both empty without such GPUs.
pub(super) fn gpus(bus: &Bus) -> (Vec<AmdGpu>, Vec<Finding>) {
    let opened = AmdGpu::count().map(|count| (0..count).map(AmdGpu::open).collect::<Vec<_>>());
    let seen: Vec<&str> = (bus.gpus())
        .filter(|gpu| gpu.vendor == AMD)
        .map(|gpu| gpu.slot.as_str())
        .collect();
    let any = opened.as_ref().is_ok_and(|opened| !opened.is_empty());
    if seen.is_empty() && !any {
        return Default::default();
    }
    let refused = |text: String, error: &Error| {
        let text = format!("{text}: ROCm exports no dma-bufs: {error}");
        Finding::note(ABOUT, text, error.hint())
    };
    let (mut gpus, mut findings) = (Vec::new(), Vec::new());
    match opened {
        Ok(opened) => {
            for (number, gpu) in opened.into_iter().enumerate() {
                match gpu {
                    Ok(gpu) => gpus.push(gpu),
                    Err(error) => findings.push(refused(format!("GPU {number}"), &error)),
                }
            }
        }
        Err(error) => findings.push(refused(seen.join(" and "), &error)),
    }
    findings.extend(abilities(&gpus));
    (gpus, findings)
}

fn abilities(gpus: &[AmdGpu]) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(gpus.iter().map(|gpu| {
        let name = gpu.name().unwrap_or_default();
        let named = format!("{} ({name})", gpu.bus());
        match gpu.buffer(1).and_then(|buffer| buffer.export()) {
            Ok(_) => Finding::ok(
                ABOUT,
                format!("{named}: ROCm exports its memory as dma-bufs ({UNTRIED})"),
            ),
            Err(error) => Finding::note(
                ABOUT,
                format!("{named}: ROCm exports no dma-buf: {error}"),
                error.hint(),
            ),
        }
    }));
    match directgma::devices() {
        Ok(devices) => findings.extend(devices.iter().map(|device| {
            let bus = device.bus().unwrap_or("a GPU");
            Finding::ok(
                ABOUT,
                format!(
                    "{bus} ({}): has DirectGMA, with which it pushes into a board's window ({UNTRIED})",
                    device.name()
                ),
            )
        })),
        Err(error) => findings.push(Finding::note(ABOUT, error.to_string(), error.hint())),
    }
    findings
}
