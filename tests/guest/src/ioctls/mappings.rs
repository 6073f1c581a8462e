//! Tests of the mappings that a context allows, and of the calls that they exclude.

use super::{Bench, good_probe, good_submit, refuse};
use crate::lab::{Buffer, Lab, Mover, told};
use crate::raw;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{self, Allocate, Probe, Submit, Wait, map};
use peerlane_host::Device;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

/// Maps a part of the context's file, and unmaps it again.
pub(super) fn try_map(
    device: &Device,
    offset: u64,
    length: usize,
    protection: ProtFlags,
    flags: MapFlags,
) -> Result<(), Errno> {
    // SAFETY: a new mapping at a place of the kernel's choice, which no code uses.
    unsafe {
        let base = rustix::mm::mmap(
            std::ptr::null_mut(),
            length,
            protection,
            flags,
            raw::fd(device),
            offset,
        )?;
        rustix::mm::munmap(base, length)
    }
}

/// Checks that every mapping but that of the context's own page and ring is refused.
pub(super) fn mappings(bench: &Bench) -> Result<()> {
    let (read, write) = (ProtFlags::READ, ProtFlags::READ | ProtFlags::WRITE);
    let info = bench.device.info();
    let ring = usize::try_from(info.ring_bytes)?;
    let map = |offset, length, protection, flags| {
        try_map(&bench.device, offset, length, protection, flags)
    };
    let refused = |what: &str, result: Result<(), Errno>| {
        ensure!(result.is_err(), "{what} can be mapped");
        Ok(())
    };
    let shared = MapFlags::SHARED;
    refused(
        "a private ring",
        map(map::RING, ring, read, MapFlags::PRIVATE),
    )?;
    refused("a ring to write", map(map::RING, ring, write, shared))?;
    refused(
        "a ring to execute",
        map(map::RING, ring, read | ProtFlags::EXEC, shared),
    )?;
    refused(
        "more than the ring",
        map(map::RING, ring + 4096, read, shared),
    )?;
    refused(
        "the page after the ring",
        map(map::RING + ring as u64, 4096, read, shared),
    )?;
    refused(
        "a private page",
        map(map::PAGE, 4096, write, MapFlags::PRIVATE),
    )?;
    refused("two pages", map(map::PAGE, 8192, write, shared))?;
    refused("another's page", map(map::PAGE + 4096, 4096, write, shared))?;
    refused("nothing known", map(3 << 32, 4096, read, shared))?;
    refused("a page far after all", map(1 << 62, 4096, read, shared))?;
    // A part of the ring may be mapped, and it stays read-only.
    map(map::RING, 4096, read, shared)?;
    // SAFETY: as in `try_map`.
    let made_writable = unsafe {
        let base = rustix::mm::mmap(
            std::ptr::null_mut(),
            4096,
            read,
            shared,
            raw::fd(&bench.device),
            map::RING,
        )?;
        let flags = MprotectFlags::READ | MprotectFlags::WRITE;
        let result = rustix::mm::mprotect(base, 4096, flags);
        rustix::mm::munmap(base, 4096)?;
        result
    };
    refused("a ring that becomes writable", made_writable)
}

/// Checks that slow path and fast path exclude each other.
pub(super) fn one_writer(lab: &mut Lab) -> Result<&'static str> {
    let fast = Mover::fast(lab)?;
    let bench = Bench {
        buffer: Buffer::new(fast.device(), 4096)?,
        place: lab.place(fast.device())?,
        device: fast.device().clone(),
    };
    refuse(&bench, uapi::SUBMIT, good_submit(&bench), Errno::BUSY)?;
    refuse(&bench, uapi::WAIT, Wait::default(), Errno::BUSY)?;
    refuse(&bench, uapi::PROBE, good_probe(&bench), Errno::BUSY)?;
    drop(fast);
    // The page was mapped once, so the driver cannot know which descriptors the process has written.
    refuse(&bench, uapi::SUBMIT, good_submit(&bench), Errno::BUSY)?;

    let mut slow = Mover::slow(lab)?;
    let buffer = Buffer::new(slow.device(), 1 << 16)?;
    let place = lab.place(slow.device())?;
    lab.check_some(&mut slow, &buffer, place, 2, 5000)?;
    let write = ProtFlags::READ | ProtFlags::WRITE;
    let mapped = try_map(slow.device(), map::PAGE, 4096, write, MapFlags::SHARED);
    ensure!(
        mapped == Err(Errno::BUSY),
        "mapping the page gave {mapped:?}"
    );
    lab.check_some(&mut slow, &buffer, place, 2, 5000)?;
    Ok("")
}

/// Checks that a call that is refused decides nothing: the process may still become its channel's writer.
pub(super) fn no_writer_yet(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let bench = Bench {
        buffer: Buffer::new(&device, 4096)?,
        place: lab.place(&device)?,
        device,
    };
    let code = ProtFlags::READ | ProtFlags::EXEC;
    let mapped = try_map(&bench.device, map::PAGE, 4096, code, MapFlags::SHARED);
    ensure!(mapped.is_err(), "a page of code was mapped");
    let good = good_submit(&bench);
    let outside = bench.device.range().end;
    for (wrong, error) in [
        (Submit { handle: !0, ..good }, Errno::NOENT),
        (
            Submit {
                direction: 2,
                ..good
            },
            Errno::INVAL,
        ),
        (Submit { length: 0, ..good }, Errno::INVAL),
        (
            Submit {
                offset: 4090,
                ..good
            },
            Errno::INVAL,
        ),
        (
            Submit {
                local: outside,
                ..good
            },
            Errno::INVAL,
        ),
    ] {
        refuse(&bench, uapi::SUBMIT, wrong, error)?;
    }
    for cookie in [0, 1, !0] {
        let wait = Wait {
            cookie,
            ..Default::default()
        };
        refuse(&bench, uapi::WAIT, wait, Errno::NOENT)?;
    }
    let probe = Probe {
        local: outside,
        ..good_probe(&bench)
    };
    refuse(&bench, uapi::PROBE, probe, Errno::INVAL)?;
    let again = Allocate {
        bytes: 4096,
        ..Default::default()
    };
    refuse(&bench, uapi::ALLOCATE, again, Errno::EXIST)?;
    bench.device.query().map_err(told)?;
    let fresh = lab.open()?;
    let mut too_much = Allocate {
        bytes: u64::MAX,
        ..Default::default()
    };
    let refused = raw::with(&fresh, uapi::ALLOCATE, &mut too_much);
    ensure!(refused.is_err(), "all bytes there are were allocated");
    let write = ProtFlags::READ | ProtFlags::WRITE;
    for device in [&bench.device, &fresh] {
        let mapped = try_map(device, map::PAGE, 4096, write, MapFlags::SHARED);
        ensure!(mapped == Ok(()), "mapping the page gave {mapped:?}");
    }
    refuse(&bench, uapi::SUBMIT, good, Errno::BUSY).map(|()| "")
}
