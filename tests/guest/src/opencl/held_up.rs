//! Tests of kernels' registers that do not answer, because their clock was set wrongly. The holder's access to them
//! stalls the BAR.

use super::{SEGMENT, TEXT, WINDOW, dword, holder, take};
use crate::faults::{come_back_anew, reset};
use crate::lab::{LIMIT, Lab, pci_device, told};
use crate::raw;
use crate::worker::is_expected;
use anyhow::{Result, bail, ensure};
use peerlane_core::shell::KERNELS_RESET;
use peerlane_core::uapi;
use peerlane_guest::Fault;
use peerlane_host::{Area, Error, OpenCl};
use std::time::{Duration, Instant};

/// Registers of the kernels' clock (open OpenCL runtime, `acl_pll.cpp`): its counter M, and start and readiness of a
/// new setting.
const COUNTER: u64 = 0x210;
const START: u64 = 0x208;
const READY: u64 = 0x204;

/// Effect of a reset of the function on the stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    /// None: the reset does not reach the fabric.
    Nothing,
    /// The reset ends the stall.
    Helps,
}

/// Time in which the driver's watchdog looks several times.
const WHILE: Duration = Duration::from_secs(5);

/// Returns the state of the board, from sysfs.
fn state() -> Result<String> {
    let file = pci_device()?.join("peerlane/state");
    Ok(std::fs::read_to_string(file)?.trim().to_owned())
}

/// Checks that a read of a kernel's register reports that the board is gone if it does not answer. The error is
/// necessary: the register of a finished kernel may read as ones, too.
fn is_gone(side: &dyn OpenCl) -> Result<()> {
    let mut bytes = [0; 4];
    match side.read(Area::Kernels, WINDOW, &mut bytes) {
        Err(Error::Gone) => Ok(()),
        other => bail!("a board that is gone gave {other:?}, {bytes:x?}"),
    }
}

/// Checks that the holder's reads and writes fail when the board stops answering.
pub(super) fn gone(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let mut text = [0; 4096];
    for _ in 0..lab.rounds {
        dword(&*side, Area::Kernels, WINDOW)?;
        lab.host.fault(Fault::Absent {})?;
        let gone = is_gone(&*side);
        // A read of many registers, and a store after a store to a reset.
        let whole = side.read(Area::Kernels, TEXT, &mut text);
        let stored = side.write(Area::Kernels, KERNELS_RESET, &[0; 4]);
        lab.host.fault(Fault::Clear {})?;
        gone?;
        // The driver may have noticed it in the meantime.
        for ended in [whole, stored] {
            let told = ended.as_ref().is_err_and(is_expected);
            ensure!(told, "a board that is gone gave {ended:?}");
        }
        reset()?;
        // On a board that answers, ones are a normal value.
        side.write(Area::Kernels, SEGMENT, &[0xff; 4])
            .map_err(told)?;
        let read = dword(&*side, Area::Kernels, SEGMENT);
        side.write(Area::Kernels, SEGMENT, &[0; 4]).map_err(told)?;
        read?;
    }
    drop((side, device));
    come_back_anew(lab)
}

/// A board does not answer for a moment, which the holder's read notices, and a stop has it cut off. Checks that
/// `resets` is raised: stores to the kernels' registers may be lost, so they are not as the holder knows them.
pub(super) fn silence_is_counted(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    for round in 0..lab.rounds {
        dword(&*side, Area::Kernels, WINDOW)?;
        let before = device.query().map_err(told)?;
        lab.host.fault(Fault::Absent {})?;
        let gone = is_gone(&*side);
        let stopped = raw::with(&device, uapi::STOP, &mut uapi::Stop::default());
        lab.host.fault(Fault::Clear {})?;
        ensure!(stopped.is_err(), "round {round}: STOP gave {stopped:?}");
        let begin = Instant::now();
        let after = loop {
            let query = device.query().map_err(told)?;
            if query.state == uapi::state::GONE {
                // The watchdog has reset the function in that moment, and has given it up.
                reset()?;
            } else if query.state == 0 && query.generation != before.generation {
                break query;
            }
            ensure!(begin.elapsed() < LIMIT, "round {round}: {query:?}");
            std::thread::sleep(Duration::from_millis(1));
        };
        // The watchdog may have looked first; a board that is away is not read.
        if gone.is_ok() {
            ensure!(
                after.resets > before.resets,
                "round {round}: {before:?} became {after:?}"
            );
        }
    }
    drop((side, device));
    come_back_anew(lab)
}

/// Checks that the driver resets the function, once, and that the board then works again or is given up.
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
        // In this order: a state from before the reset does not show the result of the reset.
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
    // The driver does not reset it again when a process opens the board or closes it.
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
