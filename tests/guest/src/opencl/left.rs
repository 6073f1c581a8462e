//! Tests in which the process that took the OpenCL side has ended, and children that it forked before still have its
//! file.

use super::{COPY, MIB, VERSION, dword, start_copy};
use crate::lab::{Lab, driver_says, told};
use crate::opencl_side::{holder, program, take};
use crate::process::{Child, Peer, fork, pair};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::uapi::{self, reprogram};
use peerlane_guest::Fault;
use peerlane_host::{Area, Device, Error, OpenCl};
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Bit of a kernel's status that says that it runs (open OpenCL runtime, `acl_hal_mmd.cpp`: "running").
const RUNNING: u32 = 1 << 15;

/// Longer than it takes to stop kernels and to free memory.
const SOON: Duration = Duration::from_secs(60);

/// Runs the tests of this module.
pub(super) fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("opencl.left_to_a_child", || left_to_a_child(lab));
    suite.run("opencl.left_by_exec", || left_by_exec(lab));
    suite.run("opencl.left_while_reprogrammed", || {
        left_while_reprogrammed(lab)
    });
    suite.run("opencl.kept_by_the_living", || kept_by_the_living(lab));
}

/// A holder that has forked a child. Both have signalled that they are ready; the child continues when its peer
/// signals.
struct Family {
    holder: Child,
    child: Peer,
}

impl Family {
    /// Ends the child, too, and waits until it has closed the board's file: no process can wait for the child itself.
    fn ends(self) -> Result<&'static str> {
        self.child.signal()?;
        let begin = Instant::now();
        while driver_says(Path::new("peerlane0"), "state")?.contains("opened by") {
            ensure!(begin.elapsed() < SOON, "the child does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok("")
    }
}

/// Starts a process that takes the OpenCL side, forks a child that runs `inherit`, and runs `go_on`.
fn family(
    lab: &mut Lab,
    go_on: impl FnOnce(&Device, &dyn OpenCl) -> Result<()>,
    inherit: impl FnOnce(&Device, &dyn OpenCl, &Peer) -> Result<()>,
) -> Result<Family> {
    let (ours, theirs) = pair()?;
    let (child, childs) = pair()?;
    let of_lab = lab.branch();
    let holder = fork("holder", || {
        let device = holder(&of_lab)?;
        let side = take(&device)?;
        // The child outlives its parent, and ends when `inherit` returns.
        std::mem::forget(fork("child of the holder", || {
            childs.signal()?;
            inherit(&device, &*side, &childs)
        })?);
        theirs.signal()?;
        go_on(&device, &*side)?;
        loop {
            std::thread::sleep(SOON);
        }
    })?;
    ours.wait()?;
    child.wait()?;
    Ok(Family { holder, child })
}

/// Checks that a call was refused because the context does not hold the side.
fn refused(result: peerlane_host::Result<()>) -> Result<()> {
    match result {
        Err(Error::Call {
            source: Errno::PERM,
            ..
        }) => Ok(()),
        other => bail!("a part that is not held gave {other:?}"),
    }
}

/// Checks that a child can use nothing of the OpenCL side, and gets errors that say so.
fn has_nothing(device: &Device, side: &dyn OpenCl) -> Result<()> {
    refused(side.read(Area::Kernels, VERSION, &mut [0; 4]))?;
    refused(side.write(Area::Clock, 0x200, &[0; 4]))?;
    refused(side.arm())?;
    ensure!(program(device, reprogram::BEGIN) == Err(Errno::PERM));
    ensure!(super::call_take(device, 0) == Err(Errno::PERM));
    // The child does not have the memory, which was all of the board's.
    let freed = raw::with(device, uapi::FREE, &mut uapi::Free::default());
    ensure!(freed == Err(Errno::NOENT), "{freed:?}");
    Ok(())
}

/// Checks that the next holder gets the side and the memory, and that no kernel of the last holder runs.
fn is_free(lab: &Lab) -> Result<()> {
    let device = holder(lab).context("the memory")?;
    let side = take(&device)?;
    let status = dword(&*side, Area::Kernels, COPY)?;
    ensure!(status & RUNNING == 0, "a kernel runs: {status:#x}");
    Ok(())
}

/// Checks that a holder that is killed leaves nothing to its child, not even a kernel that never ends.
fn left_to_a_child(lab: &mut Lab) -> Result<&'static str> {
    lab.host.fault(Fault::EndlessKernels {})?;
    let (started, starts) = pair()?;
    let mut family = family(
        lab,
        |_, side| {
            side.arm().map_err(told)?;
            start_copy(side, 1000, MIB, 2 * MIB)?;
            let status = dword(side, Area::Kernels, COPY)?;
            ensure!(status & RUNNING != 0, "no kernel runs: {status:#x}");
            starts.signal()
        },
        |device, side, peer| {
            peer.wait()?;
            has_nothing(device, side)?;
            peer.signal()?;
            peer.wait()
        },
    )?;
    started.wait()?;
    family.holder.signal(Signal::KILL)?;
    ensure!(family.holder.wait_for(SOON)?.is_some());
    is_free(lab)?;
    family.child.signal()?;
    family.child.wait().context("the child")?;
    // The child lives, and does not prevent other holders.
    is_free(lab)?;
    lab.host.fault(Fault::Clear {})?;
    family.ends()
}

/// Checks that a holder that becomes another program by exec leaves nothing either: its files are closed, and its
/// child's are not.
fn left_by_exec(lab: &mut Lab) -> Result<&'static str> {
    let family = family(
        lab,
        |_, _| {
            let error = Command::new("/bin/busybox").args(["sleep", "60"]).exec();
            bail!("no other program: {error}")
        },
        |device, side, peer| {
            peer.wait()?;
            has_nothing(device, side)?;
            peer.signal()?;
            peer.wait()
        },
    )?;
    let begin = Instant::now();
    while let Err(error) = is_free(lab) {
        ensure!(begin.elapsed() < SOON, "{error:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
    family.child.signal()?;
    family.child.wait().context("the child")?;
    family.ends()
}

/// Checks that a configuration of the FPGA continues after its holder has ended: the process that waits for the tool
/// has the file. The side is released when the configuration ends.
fn left_while_reprogrammed(lab: &mut Lab) -> Result<&'static str> {
    let (begun, begins) = pair()?;
    let mut family = family(
        lab,
        |device, _| {
            program(device, reprogram::BEGIN)?;
            begins.signal()
        },
        |device, side, peer| {
            peer.wait()?;
            ensure!(program(device, reprogram::END) == Ok(()));
            has_nothing(device, side)?;
            peer.signal()?;
            peer.wait()
        },
    )?;
    begun.wait()?;
    family.holder.signal(Signal::KILL)?;
    ensure!(family.holder.wait_for(SOON)?.is_some());
    match lab.open() {
        Err(error) if super::programmed::is_away(&error) => {}
        other => bail!("a board that is configured was opened: {other:?}"),
    }
    family.child.signal()?;
    family.child.wait().context("the child")?;
    is_free(lab)?;
    family.ends()
}

/// Checks that the holder stays the holder when it closes a copy of the file, when a child with a copy ends, and when a
/// thread with descriptors of its own ends.
fn kept_by_the_living(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let range = device.range();
    drop(rustix::io::dup(raw::fd(&device))?);
    fork("child", || Ok(()))?.wait()?;
    std::thread::spawn(|| {
        // SAFETY: the thread uses no descriptor.
        unsafe { libc::unshare(libc::CLONE_FILES) }
    })
    .join()
    .map_err(|_| anyhow::anyhow!("the thread panicked"))?;
    let version = dword(&*side, Area::Kernels, VERSION)?;
    ensure!(super::VERSIONS.contains(&version));
    super::refused(&lab.open()?, Errno::PERM)?;
    ensure!(device.range() == range && !range.is_empty());
    let freed = raw::with(&device, uapi::FREE, &mut uapi::Free::default());
    ensure!(freed == Err(Errno::BUSY), "{freed:?}");
    Ok("")
}
