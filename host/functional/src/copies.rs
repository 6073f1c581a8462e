//! Copies of memory that is not registered, in windows.

use crate::{Bench, LIMIT, Work, bytes, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{
    CopyOptions, Direction, Error, Memory, MemoryKind, Queue, Result as BoardResult,
};

/// More than nine windows of the least size.
const LENGTH: usize = 600 << 10;

/// # Safety
/// As [`Queue::begin_copy`].
unsafe fn copy(
    queue: &Queue,
    direction: Direction,
    place: (u64, u64),
    fpga: u64,
    options: CopyOptions,
) -> BoardResult<()> {
    // SAFETY: the caller promises it.
    unsafe { queue.begin_copy(direction, place, fpga, options)? }.wait(LIMIT)
}

/// Copies to the FPGA and back, from places inside of a page, in more windows than can be under way.
pub fn there_and_back(bench: &dyn Bench) -> Result<()> {
    let work = Work::with(bench, LENGTH as u64)?;
    // The library writes the ends of the process's own memory by its address.
    let memory = || match bench.takes_addresses() {
        true => Memory::new(LENGTH),
        false => work.device.memory(MemoryKind::Host, LENGTH),
    };
    let (from, to) = (memory().map_err(told)?, memory().map_err(told)?);
    let data = pattern(0x31, LENGTH);
    from.write(0, &data).map_err(told)?;
    let mut options = CopyOptions::default();
    // Whole dwords, where the library cannot write the memory's ends by its address.
    let odd = if bench.takes_addresses() { 3 } else { 0 };
    for (window, first, last) in [
        (64 << 10, 0, LENGTH),
        (4 << 20, 4100 + odd, LENGTH - 8 - odd),
    ] {
        options.window = window;
        to.write(0, &[0xee; LENGTH]).map_err(told)?;
        let mut expected = vec![0xee; LENGTH];
        expected[first..last].copy_from_slice(&data[first..last]);
        let length = (last - first) as u64;
        let places = [(Direction::ToFpga, &from), (Direction::FromFpga, &to)];
        for (direction, memory) in places {
            let address = memory.address() + first as u64;
            // SAFETY: the memory outlives the call, and no thread accesses it during the call.
            let copied = unsafe {
                copy(
                    &work.queue,
                    direction,
                    (address, length),
                    work.place,
                    options,
                )
            };
            copied.map_err(told)?;
        }
        same("the memory", &bytes(&to)?, &expected)?;
        ensure!(work.queue.under_way() == 0);
    }
    // The library may have registered memory of its own for ends.
    let [held, cached] = work.device.query().map_err(told)?.regions;
    ensure!(
        held <= 1 && cached == 0,
        "{held} windows are registered, {cached} cached"
    );
    Ok(())
}

/// A refused copy moves nothing, and leaves no region.
pub fn wrong(bench: &dyn Bench) -> Result<()> {
    let work = Work::with(bench, 64 << 10)?;
    let memory = work
        .device
        .memory(MemoryKind::Host, 128 << 10)
        .map_err(told)?;
    for (fpga, length) in [
        (work.place, 0),
        (work.place + 4096, 64 << 10),
        (u64::MAX - 5, 64),
    ] {
        let (place, options) = ((memory.address(), length), CopyOptions::default());
        // SAFETY: nothing is moved.
        let refused = unsafe { copy(&work.queue, Direction::ToFpga, place, fpga, options) };
        let fits = matches!(refused, Err(Error::Empty { .. } | Error::Local { .. }));
        ensure!(fits, "{length} bytes to {fpga:#x}: {refused:?}");
    }
    ensure!(work.queue.under_way() == 0);
    Ok(())
}
