//! AMD's GPUs, and by which of their interfaces a board reaches their memory.

use super::Finding;
use super::pci::{AMD, Bus};
use peerlane_gpu::amd::AmdGpu;
use peerlane_gpu::directgma;

const ABOUT: &str = "amd";

/// What is said of all that works: nobody has tried it.
const UNTRIED: &str = "not verified on hardware: believe the probe";

/// The GPUs that ROCm has.
pub(super) fn gpus() -> Vec<AmdGpu> {
    let numbers = 0..AmdGpu::count().unwrap_or(0);
    numbers
        .filter_map(|number| AmdGpu::open(number).ok())
        .collect()
}

/// What this computer's AMD GPUs can. Nothing, where there are none.
pub(super) fn abilities(bus: &Bus, gpus: &[AmdGpu]) -> Vec<Finding> {
    let seen: Vec<&str> = (bus.gpus())
        .filter(|gpu| gpu.vendor == AMD)
        .map(|gpu| gpu.slot.as_str())
        .collect();
    if seen.is_empty() && gpus.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if let (true, Err(error)) = (gpus.is_empty(), AmdGpu::count()) {
        findings.push(Finding::note(
            ABOUT,
            format!("{}: no dma-bufs by ROCm: {error}", seen.join(" and ")),
            error.remedy(),
        ));
    }
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
                format!("{named}: no dma-buf by ROCm: {error}"),
                error.remedy(),
            ),
        }
    }));
    match directgma::devices() {
        Ok(devices) => findings.extend(devices.iter().map(|device| {
            let bus = device.bus().unwrap_or("a GPU");
            Finding::ok(
                ABOUT,
                format!(
                    "{bus} ({}): has DirectGMA, by which it pushes into a board's window ({UNTRIED})",
                    device.name()
                ),
            )
        })),
        Err(error) => findings.push(Finding::note(ABOUT, error.to_string(), error.remedy())),
    }
    findings
}
