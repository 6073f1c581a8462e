//! Tests with memory whose pages of 4 KiB are not contiguous, as on a machine that has run for long. Each page takes an
//! entry of the board's table, which has no room for a large buffer.

use crate::lab::{Buffer, LIMIT, Lab, Mover, entries_free, entries_used, told};
use crate::physical;
use crate::suite::Suite;
use crate::transfers;
use anyhow::{Context, Result, ensure};
use peerlane_guest::pattern;
use peerlane_host::{Error, Memory, Permissions};
use rand::Rng;
use rustix::mm::Advice;
use std::path::Path;

const MIB: usize = 1 << 20;
const PAGE: usize = 4096;

/// Runs the tests of this module, in memory that stays fragmented as long as they run.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    let mut held = None;
    suite.run("scattered.fragmented", || {
        held = Some(fragment()?);
        Ok("")
    });
    suite.run("scattered.entries", || entries(lab));
    suite.run("scattered.too_large", || too_large(lab));
    suite.run("scattered.copied", || copied(lab));
    transfers::run_in_small_pages(suite, lab);
    // The memory is still fragmented at the end.
    suite.run("scattered.entries_again", || entries(lab));
}

fn place_of(memory: &Memory, at: usize) -> *mut std::ffi::c_void {
    (memory.address() as usize + at) as *mut std::ffi::c_void
}

/// Takes most of the free memory and frees each second page of it, so that no free page has a free neighbour. The
/// kernel hands out single pages before it divides larger pieces.
fn fragment() -> Result<Memory> {
    // Compaction would join free pages again.
    std::fs::write("/proc/sys/vm/compaction_proactiveness", "0")?;
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let available = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<usize>().ok())
        .context("no MemAvailable")?;
    let pages = (available << 10) / 10 * 7 / PAGE;
    let memory = Memory::new(pages * PAGE)?;
    // SAFETY: there are no references into the memory.
    unsafe {
        rustix::mm::madvise(
            place_of(&memory, 0),
            memory.length(),
            Advice::LinuxNoHugepage,
        )?;
        // Children do not need it.
        rustix::mm::madvise(place_of(&memory, 0), memory.length(), Advice::LinuxDontFork)?;
    }
    for page in 0..pages {
        memory.write(page * PAGE, &[1])?;
    }
    let mut given = 0;
    for range in physical::ranges(memory.address(), memory.length() as u64, "")? {
        let at = given;
        let frames = range.1 as usize / PAGE;
        given += frames;
        for frame in 0..frames {
            if (range.0 as usize / PAGE + frame) % 2 == 1 {
                // SAFETY: as above.
                unsafe {
                    let place = place_of(&memory, (at + frame) * PAGE);
                    rustix::mm::madvise(place, PAGE, Advice::LinuxDontNeed)?;
                }
            }
        }
    }
    Ok(memory)
}

/// Checks that each page takes an entry, and that almost no page has a neighbour.
fn entries(lab: &mut Lab) -> Result<String> {
    const LENGTH: usize = 4 * MIB;
    const PAGES: usize = LENGTH / PAGE;
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let memory = Memory::new(LENGTH)?;
    memory.write(0, &vec![1; LENGTH])?;
    let stretches = physical::ranges(memory.address(), LENGTH as u64, "")?.len();
    ensure!(
        stretches > PAGES * 9 / 10,
        "{PAGES} pages are {stretches} stretches of memory: it is not fragmented"
    );
    let before = entries_used(device.name().as_ref())?;
    let buffer = Buffer::of(&device, memory)?;
    let taken = entries_used(device.name().as_ref())?.saturating_sub(before);
    ensure!(
        taken as usize > PAGES * 9 / 10,
        "{taken} entries for {PAGES} pages"
    );
    let place = lab.place(&device)?;
    lab.check_some(&mut mover, &buffer, place, 10, LENGTH)?;
    Ok(format!("{taken} entries"))
}

/// Checks that memory that needs more entries than the board has is refused at once, and takes none.
fn too_large(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let before = entries_used(device.name().as_ref())?;
    let most = entries_free(device.name().as_ref())?;
    let memory = Memory::new((most + most / 4) * PAGE)?;
    memory.write(0, &vec![1; memory.length()])?;
    let refused = device.register(&memory, 0..memory.length(), Permissions::ReadWrite);
    match refused {
        Err(Error::TooLarge { .. }) => {}
        other => anyhow::bail!("{} bytes: {other:?}", memory.length()),
    }
    ensure!(
        entries_used(device.name().as_ref())? == before,
        "entries are gone"
    );
    // There is room for a part of it.
    let region = device.register(&memory, 0..memory.length() / 2, Permissions::ReadWrite);
    region.map_err(told)?.forget().map_err(told)?;
    Ok(format!("{} pages", memory.length() / PAGE))
}

/// Copies the same memory in windows that fit into the table, and checks that each window is unregistered.
fn copied(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::fast_with_all(lab)?;
    let device = mover.device().clone();
    let most = entries_free(device.name().as_ref())?;
    let length = (most + most / 8) * PAGE + 4099;
    let place = device.range().start + 77;
    let queue = mover.queue()?;
    let first = queue.statistics().descriptors;
    let [seed, other] = [lab.rng.random(), lab.rng.random()];
    let mut bytes = vec![0; length];
    pattern(seed, &mut bytes);
    queue
        .copy_to_fpga(&bytes, place, LIMIT)
        .map_err(told)
        .context("to FPGA memory")?;
    lab.host.fpga_check(place, seed, length as u64)?;
    lab.host.fpga_write(place, other, length as u64)?;
    let mut found = vec![0; length];
    queue
        .copy_from_fpga(place, &mut found, LIMIT)
        .map_err(told)
        .context("from FPGA memory")?;
    pattern(other, &mut bytes);
    crate::lab::same(&bytes, &found, 0)?;
    let windows = queue.statistics().descriptors - first;
    ensure!(windows > 2, "{windows} descriptors");
    // Registered and cached regions. The queue has memory of its own for ends inside of a dword.
    let regions = device.query().map_err(told)?.regions;
    ensure!(
        regions[0] <= 1 && regions[1] == 0,
        "windows are still there: {regions:?}"
    );
    let file = Path::new("/sys/kernel/mm/transparent_hugepage/enabled");
    let huge = std::fs::read_to_string(file)?;
    ensure!(huge.contains("[never]"), "huge pages: {huge}");
    Ok(format!("{length} bytes each way, {windows} descriptors"))
}
