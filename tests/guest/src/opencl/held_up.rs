//! Kernels' registers that do not answer, because their clock was spoilt. Their holder's access holds up the BAR.

use super::{WINDOW, dword, holder, take};
use crate::faults::{come_back_anew, reset};
use crate::lab::{LIMIT, Lab, pci_device, told};
use anyhow::{Result, ensure};
use peerlane_guest::Fault;
use peerlane_host::Area;
use std::time::{Duration, Instant};

/// Registers of the kernels' clock (open OpenCL runtime, `acl_pll.cpp`): its counter M, start and readiness of a new
/// setting.
const COUNTER: u64 = 0x210;
const START: u64 = 0x208;
const READY: u64 = 0x204;

/// What a reset of the function does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    /// Nothing: it does not reach the fabric.
    Nothing,
    /// It ends it.
    Helps,
}

/// Long enough for several looks of the driver's watchdog.
const WHILE: Duration = Duration::from_secs(5);

/// How the board stands, as sysfs says.
fn state() -> Result<String> {
    let file = pci_device()?.join("peerlane/state");
    Ok(std::fs::read_to_string(file)?.trim().to_owned())
}

/// The driver resets the function, once: the board is there again, or given up.
pub(super) fn held_up(lab: &mut Lab, means: Reset) -> Result<String> {
    let before = lab.host.counters()?.resets;
    let resets = |lab: &Lab| anyhow::Ok(lab.host.counters()?.resets - before);
    let device = holder(lab)?;
    let side = take(&device)?;
    let write = |offset, value: u32| side.write(Area::Clock, offset, &value.to_le_bytes());
    write(COUNTER, 0).map_err(told)?;
    write(START, 1).map_err(told)?;
    while dword(&*side, Area::Clock, READY)? != 1 {}
    let begin = Instant::now();
    // However it ends.
    let _ = dword(&*side, Area::Kernels, WINDOW);
    let ended = loop {
        // In this order: a state from before the reset says nothing of what the reset has left.
        let resets = resets(lab)?;
        let state = state()?;
        if resets > 0 && (state == "ready" || state == "gone") {
            break state;
        }
        ensure!(
            begin.elapsed() < LIMIT,
            "the board is {state}, after {resets} resets"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    let took = begin.elapsed();
    let expected = match means {
        Reset::Nothing => "gone",
        Reset::Helps => "ready",
    };
    ensure!(ended == expected, "a reset has left the board {ended}");
    // Nor when somebody wants it, or leaves it.
    let other = lab.open();
    ensure!(other.is_ok() == (means == Reset::Helps), "{other:?}");
    std::thread::sleep(WHILE);
    drop((side, device));
    std::thread::sleep(WHILE);
    let (now, resets) = (state()?, resets(lab)?);
    ensure!(
        now == expected && resets == 1,
        "{now} after {resets} resets"
    );
    drop(other);
    if means == Reset::Nothing {
        lab.host.fault(Fault::Configure {})?;
        reset()?;
    }
    let how = come_back_anew(lab)?;
    Ok(format!("{expected} after {took:?}; good again {how}"))
}
