//! Tests of the arguments that the window into FPGA memory must refuse.

use super::mappings::try_map;
use super::{Bench, refuse};
use crate::raw;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{self, Window, map, window::RELEASE};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

const RELEASED: Window = Window {
    base: 0,
    flags: RELEASE,
    reserved: 0,
};

fn at(base: u64) -> Window {
    Window {
        base,
        ..Default::default()
    }
}

/// Tries places, flags and orders that make no sense.
pub(super) fn arguments(bench: &Bench) -> Result<()> {
    let refuse = |argument, error| refuse(bench, uapi::WINDOW, argument, error);
    let call = |mut argument: Window| raw::with(&bench.device, uapi::WINDOW, &mut argument);
    if bench.device.info().window_bytes == 0 {
        refuse(at(bench.place), Errno::OPNOTSUPP)?;
        return refuse(RELEASED, Errno::OPNOTSUPP);
    }
    let end = bench.device.range().end;
    // In the second round the context holds the window, and keeps it.
    for held in [false, true] {
        for base in [1, 4096, bench.place + 0x8000, u64::MAX] {
            refuse(at(base), Errno::INVAL)?;
        }
        for base in [end, end + 0x1_0000, 1 << 40, 1 << 63, u64::MAX << 16] {
            refuse(at(base), Errno::PERM)?;
        }
        for flags in [2, 3, 1 << 31, u32::MAX] {
            refuse(Window { flags, ..RELEASED }, Errno::INVAL)?;
        }
        // With a base that makes no sense, or would only make sense as a place.
        for base in [1, 0x1_0000, u64::MAX] {
            refuse(Window { base, ..RELEASED }, Errno::INVAL)?;
        }
        match held {
            false => {
                refuse(RELEASED, Errno::NOENT)?;
                call(at(bench.place))?;
                call(at(end - 0x1_0000))?;
            }
            true => call(RELEASED)?,
        }
    }
    refuse(RELEASED, Errno::NOENT)
}

/// Checks that only the context that holds the window can map it: shared, within its 64 KiB, and not executable.
pub(super) fn mappings(bench: &Bench) -> Result<()> {
    const BYTES: usize = 64 << 10;
    let (read, write) = (ProtFlags::READ, ProtFlags::READ | ProtFlags::WRITE);
    let shared = MapFlags::SHARED;
    let map = |offset: u64, length, protection, flags| {
        try_map(
            &bench.device,
            map::WINDOW + offset,
            length,
            protection,
            flags,
        )
    };
    let call = |mut argument: Window| raw::with(&bench.device, uapi::WINDOW, &mut argument);
    if bench.device.info().window_bytes == 0 {
        let mapped = map(0, 4096, read, shared);
        ensure!(mapped == Err(Errno::INVAL), "mapping it gave {mapped:?}");
        return Ok(());
    }
    ensure!(
        map(0, BYTES, write, shared) == Err(Errno::PERM),
        "it was mapped without being held"
    );
    call(at(bench.place))?;
    map(0, BYTES, write, shared)?;
    map(0, BYTES, read, shared)?;
    map(0xf000, 4096, write, shared)?;
    for (what, offset, length, protection, flags) in [
        ("a private window", 0, BYTES, write, MapFlags::PRIVATE),
        ("more than the window", 0, BYTES + 4096, write, shared),
        ("the page after it", 0x1_0000, 4096, read, shared),
        ("a range over its end", 0xf000, 8192, read, shared),
        ("code", 0, 4096, read | ProtFlags::EXEC, shared),
    ] {
        let mapped = map(offset, length, protection, flags);
        ensure!(mapped.is_err(), "{what} can be mapped");
    }
    call(RELEASED)?;
    ensure!(
        map(0, 4096, read, shared) == Err(Errno::PERM),
        "it was mapped after it was released"
    );
    Ok(())
}
