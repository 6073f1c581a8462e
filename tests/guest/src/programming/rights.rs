//! Tests of the permission to configure the FPGA. It is separate from the permission to hold all FPGA memory, because a
//! process that has it can replace the block that keeps the board from other processes' memory.

use super::{configure, image, is_there};
use crate::lab::{LIMIT, Lab, pci_device, told};
use crate::opencl_side::{holder, program, take};
use crate::process::{become_nobody, fork};
use crate::suite::skip;
use anyhow::{Result, ensure};
use peerlane_core::uapi::reprogram;
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// Returns whether the driver was loaded with this parameter.
fn has(parameter: &str) -> bool {
    let parameters = std::env::var("PEERLANE_PARAMETERS").unwrap_or_default();
    parameters.split_whitespace().any(|word| word == parameter)
}

/// Returns the value of the driver's parameter that is in force for this board.
fn in_force(parameter: &str) -> Result<String> {
    let file = pci_device()?.join("peerlane").join(parameter);
    Ok(std::fs::read_to_string(file)?.trim().into())
}

/// Checks that a user without capabilities, but with the permission to hold all FPGA memory, cannot configure the FPGA:
/// neither in a bracket of its own nor in one that another process has begun. With `hold_all=1`, and `configure_all=1`
/// on a machine without an IOMMU.
pub(super) fn refused(lab: &mut Lab) -> Result<&'static str> {
    if !has("hold_all=1") || in_force("configure_all").is_ok_and(|granted| granted == "1") {
        return skip("the driver lets all users configure, or no user hold all memory");
    }
    let before = lab.host.programmed(0, 0)?.transfers;
    let of_lab = lab.branch();
    fork("nobody", move || {
        let device = of_lab.open()?;
        become_nobody()?;
        device.allocate_all(0).map_err(told)?.keep();
        let side = take(&device)?;
        ensure!(program(&device, reprogram::BEGIN) == Err(Errno::PERM));
        ensure!(configure(&*side, &image(21, 64))? == Err(Errno::PERM));
        is_there(&*side)
    })?
    .wait()?;
    // The file of a process that has the permission, in the middle of a bracket.
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    let child = fork("nobody", || {
        become_nobody()?;
        let configured = configure(&*side, &image(21, 64))?;
        ensure!(configured == Err(Errno::PERM), "{configured:?}");
        Ok(())
    })?
    .wait();
    ensure!(program(&device, reprogram::END) == Ok(()));
    child?;
    ensure!(
        lab.host.programmed(0, 0)?.transfers == before,
        "an image of theirs was begun"
    );
    is_there(&*side)?;
    ensure!(in_force("configure_all")? == "0");
    Ok("")
}

/// Checks that not even root can configure the FPGA in a kernel that is locked down, as with Secure Boot.
pub(super) fn locked_down(lab: &mut Lab) -> Result<&'static str> {
    let state = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if state.is_empty() || state.contains("[none]") {
        return skip("the kernel is not locked down");
    }
    let before = lab.host.programmed(0, 0)?.transfers;
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(program(&device, reprogram::BEGIN) == Err(Errno::PERM));
    ensure!(configure(&*side, &image(23, 64))? == Err(Errno::PERM));
    ensure!(
        lab.host.programmed(0, 0)?.transfers == before,
        "an image was begun"
    );
    is_there(&*side)?;
    Ok("")
}

/// Checks that a user without capabilities can configure the FPGA where the administrator allows it and an IOMMU bounds
/// the accesses of a design. If the user does not end the bracket, the driver does, and the board works for others.
/// With `hold_all=1 configure_all=1 configure_s=5` under an IOMMU.
pub(super) fn granted(lab: &mut Lab) -> Result<String> {
    if !has("configure_all=1") || in_force("configure_all")? != "1" {
        return skip("no user is given the right");
    }
    let seconds = in_force("configure_s")?;
    let limit = Duration::from_secs(seconds.parse()?);
    let of_lab = lab.branch();
    fork("nobody", move || {
        let device = of_lab.open()?;
        become_nobody()?;
        device.allocate_all(0).map_err(told)?.keep();
        let side = take(&device)?;
        let good = image(22, super::LENGTH);
        let configured = side.reprogram(false, &mut || {
            side.configure(&good, peerlane_host::Packing::AsTold)
        });
        configured.map_err(told)?;
        is_there(&*side)?;
        // A second time, until its time is over.
        let begun = Instant::now();
        ensure!(program(&device, reprogram::BEGIN) == Ok(()));
        ensure!(
            is_there(&*side).is_err(),
            "the board answers during the configuration"
        );
        let generation = device.query().map_err(told)?.generation;
        while device.query().map_err(told)?.generation == generation {
            ensure!(begun.elapsed() < limit + LIMIT, "it does not end");
            std::thread::sleep(Duration::from_millis(100));
        }
        ensure!(begun.elapsed() >= limit, "it ended early");
        ensure!(program(&device, reprogram::END) == Err(Errno::NOENT));
        ensure!(configure(&*side, &good)? == Err(Errno::NOENT));
        is_there(&*side)
    })?
    .wait()?;
    super::arrived(lab, 22, super::LENGTH)?;
    // A process that does not need this permission has no time limit.
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(program(&device, reprogram::BEGIN) == Ok(()));
    std::thread::sleep(limit + Duration::from_secs(3));
    ensure!(program(&device, reprogram::END) == Ok(()));
    is_there(&*side)?;
    Ok(format!("{limit:?}"))
}
