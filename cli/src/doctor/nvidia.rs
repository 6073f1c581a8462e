//! NVIDIA's GPUs, and the reasons why CUDA does not find them.

use super::Finding;
use super::pci::{Bus, NVIDIA};
use peerlane_gpu::{Error, Gpu};

const ABOUT: &str = "cuda";

/// Returns the GPUs that CUDA finds, and its errors for others; both empty without CUDA and without a GPU of NVIDIA's.
pub(super) fn gpus(bus: &Bus) -> (Vec<Gpu>, Vec<Finding>) {
    let seen: Vec<&str> = (bus.gpus())
        .filter(|gpu| gpu.vendor == NVIDIA)
        .map(|gpu| gpu.slot.as_str())
        .collect();
    let refused =
        |what: &str, error: &Error| Finding::note(ABOUT, format!("{what}: {error}"), error.hint());
    let count = match Gpu::count() {
        Ok(count) => count,
        Err(Error::NoCuda) if seen.is_empty() => return Default::default(),
        Err(error) => {
            let what = match seen.is_empty() {
                true => "CUDA finds no GPU".into(),
                false => format!("CUDA does not find {}", seen.join(" and ")),
            };
            return (Vec::new(), vec![refused(&what, &error)]);
        }
    };
    let (mut gpus, mut findings) = (Vec::new(), Vec::new());
    for number in 0..count {
        match Gpu::open(number) {
            Ok(gpu) => gpus.push(gpu),
            Err(error) => findings.push(refused(&format!("CUDA GPU {number}"), &error)),
        }
    }
    (gpus, findings)
}
