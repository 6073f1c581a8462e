//! Kernels' registers that do not answer, because their clock was spoilt. Their holder's access holds up the BAR.

use super::{SEGMENT, TEXT, WINDOW, dword, holder, take};
use crate::faults::{come_back_anew, reset};
use crate::lab::{LIMIT, Lab, pci_device, told};
use crate::worker::is_expected;
use anyhow::{Result, bail, ensure};
use peerlane_core::shell::KERNELS_RESET;
use peerlane_guest::Fault;
use peerlane_host::{Area, Error, OpenCl};
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

/// Who reads a kernel's register of a board that does not answer is told so: a kernel that is done reads as ones, too.
fn is_gone(side: &dyn OpenCl) -> Result<()> {
    let mut bytes = [0; 4];
    match side.read(Area::Kernels, WINDOW, &mut bytes) {
        Err(Error::Gone) => Ok(()),
        other => bail!("a board that is gone gave {other:?}, {bytes:x?}"),
    }
}

/// The board stops answering while its holder reads and writes.
pub(super) fn gone(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let mut text = [0; 4096];
    for _ in 0..lab.rounds {
        dword(&*side, Area::Kernels, WINDOW)?;
        lab.host.fault(Fault::Absent {})?;
        let gone = is_gone(&*side);
        // Among others, and behind a store to a reset.
        let whole = side.read(Area::Kernels, TEXT, &mut text);
        let stored = side.write(Area::Kernels, KERNELS_RESET, &[0; 4]);
        lab.host.fault(Fault::Clear {})?;
        gone?;
        // The driver may have found it meanwhile.
        for ended in [whole, stored] {
            let told = ended.as_ref().is_err_and(is_expected);
            ensure!(told, "a board that is gone gave {ended:?}");
        }
        reset()?;
        // What reads as ones of a board that is there is that.
        side.write(Area::Kernels, SEGMENT, &[0xff; 4])
            .map_err(told)?;
        let read = dword(&*side, Area::Kernels, SEGMENT);
        side.write(Area::Kernels, SEGMENT, &[0; 4]).map_err(told)?;
        read?;
    }
    drop((side, device));
    come_back_anew(lab)
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
    is_gone(&*side)?;
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
