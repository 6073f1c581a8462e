//! Tests of configurations of the FPGA, and of events that happen to the process that configures it.

use super::{VERSION, VERSIONS, dword, holder, take};
use crate::faults::{aer, reset};
use crate::lab::{LIMIT, Lab, told};
use crate::opencl_side::program;
use crate::process::{fork, pair};
use crate::worker::Worker;
use anyhow::{Result, bail, ensure};
use peerlane_core::uapi::reprogram;
use peerlane_guest::Fault;
use peerlane_host::{Area, Error, Packing};
use rustix::io::Errno;
use rustix::process::Signal;

/// Checks that transfers of all processes end, and that later ones succeed, independent of the FPGA's state in between.
pub(super) fn reprogrammed(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    for _ in 0..lab.rounds {
        let before = device.query().map_err(told)?;
        let resets = side.resets().map_err(told)?;
        ensure!(before.resets == resets);
        let configured = side.reprogram(false, &mut || {
            let asked = lab.host.fault(Fault::Configure {});
            asked.map_err(|error| Error::Program {
                reason: error.to_string(),
            })
        });
        configured.map_err(told)?;
        let after = device.query().map_err(told)?;
        ensure!(after.generation != before.generation);
        ensure!(after.resets == resets + 1 && side.resets().map_err(told)? == after.resets);
        worker.progress()?;
    }
    worker.stop()?;
    let version = dword(&*side, Area::Kernels, VERSION)?;
    ensure!(VERSIONS.contains(&version), "version {version:#x}");
    Ok("")
}

/// Checks that the bracket ends with its holder.
pub(super) fn reprogrammer_killed(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let child_lab = lab.branch();
    let mut child = fork("holder", || {
        let device = holder(&child_lab)?;
        let _side = take(&device)?;
        program(&device, reprogram::BEGIN)?;
        theirs.signal()?;
        loop {
            std::thread::sleep(LIMIT);
        }
    })?;
    ours.wait()?;
    match lab.open() {
        Err(error) if format!("{error:#}").contains("try again") || is_away(&error) => {}
        other => bail!("a board that is configured was opened: {other:?}"),
    }
    child.signal(Signal::KILL)?;
    ensure!(child.wait_for(LIMIT)?.is_some());
    let device = holder(lab)?;
    take(&device)?;
    Ok("")
}

pub(super) fn is_away(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<Error>();
    matches!(
        error,
        Some(Error::Open {
            source: Errno::AGAIN,
            ..
        })
    )
}

/// Checks that a reset of the function by another process does not start a board whose FPGA is being configured.
pub(super) fn reset_while_reprogrammed(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    ensure!(program(&device, reprogram::BEGIN) == Err(Errno::PERM));
    let side = take(&device)?;
    ensure!(program(&device, reprogram::END) == Err(Errno::NOENT));
    ensure!(program(&device, 3) == Err(Errno::INVAL));
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    ensure!(program(&device, reprogram::BEGIN) == Err(Errno::ALREADY));
    // This board has no registers for a configuration over PCIe.
    ensure!(!side.configures());
    match side.configure(&[0; 64], Packing::AsTold) {
        Err(Error::Call {
            source: Errno::OPNOTSUPP,
            ..
        }) => {}
        other => bail!("a board without CvP was configured: {other:?}"),
    }
    reset()?;
    let mut byte = [0];
    match side.read(Area::Kernels, VERSION, &mut byte) {
        Err(Error::Call {
            source: Errno::AGAIN,
            ..
        }) => {}
        other => bail!("a board that is configured answers: {other:?}"),
    }
    ensure!(program(&device, reprogram::END) == Ok(()));
    ensure!(VERSIONS.contains(&dword(&*side, Area::Kernels, VERSION)?));
    Ok("")
}

/// Checks that the link can only be disabled inside of the bracket, and only where the port supports it: QEMU's ports
/// do not.
pub(super) fn link_off(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(program(&device, reprogram::LINK_OFF) == Err(Errno::NOENT));
    let disabled = || aer::Port::above_the_board()?.link_is_disabled();
    let mut during = false;
    for configure in [false, true] {
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        ensure!(!disabled()?, "disabled without being asked");
        for _ in 0..2 {
            ensure!(program(&device, reprogram::LINK_OFF) == Ok(()));
        }
        during = disabled()?;
        if configure {
            lab.host.fault(Fault::Configure {})?;
        }
        ensure!(program(&device, reprogram::END) == Ok(()));
        ensure!(!disabled()?, "the link stays disabled");
        ensure!(VERSIONS.contains(&dword(&*side, Area::Kernels, VERSION)?));
    }
    // The end of the context ends the bracket, too.
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    ensure!(program(&device, reprogram::LINK_OFF) == Ok(()));
    drop(side);
    drop(device);
    ensure!(!disabled()?, "the link stays disabled");
    drop(take(&holder(lab)?)?);
    Ok(match during {
        true => "",
        false => "the port has no Link Disable",
    })
}

/// Checks that the port above the board does not report a link that a configuration takes down. Its registers are only
/// written where the kernel owns them.
pub(super) fn reports(lab: &mut Lab) -> Result<&'static str> {
    let parameters = std::fs::read_to_string("/proc/cmdline")?;
    let ours = !parameters
        .split_whitespace()
        .any(|word| word == "pci=noaer");
    let device = holder(lab)?;
    let _side = take(&device)?;
    let port = aer::Port::above_the_board()?;
    for masked in [false, true] {
        port.mask_surprise_down(masked)?;
        let before = port.uncorrectable()?;
        ensure!(before.masks_surprise_down() == masked);
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        let during = port.uncorrectable()?;
        ensure!(program(&device, reprogram::END) == Ok(()));
        let after = port.uncorrectable()?;
        ensure!(
            during.masks_surprise_down() == (masked || ours),
            "{before:x?} became {during:x?}"
        );
        ensure!(ours || during == before, "{before:x?} became {during:x?}");
        ensure!(after == before, "{before:x?} became {after:x?}");
    }
    port.mask_surprise_down(false)?;
    Ok(if ours {
        "the kernel's"
    } else {
        "the firmware's"
    })
}
