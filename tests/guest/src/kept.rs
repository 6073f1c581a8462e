//! Tests of regions that were unregistered and are cached: they are found again when it is the same memory, and never
//! when it is not.

mod changes;
mod freed;

pub(crate) use freed::scattered;

use crate::faults;
use crate::lab::{Buffer, Lab, Mover, entries_free, pci_device, told};
use crate::process;
use crate::suite::Suite;
use anyhow::{Context, Result, anyhow, ensure};
use peerlane_host::{Device, Direction, Error, Memory, Permissions};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const MIB: usize = 1 << 20;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("kept.found_again", || found_again(lab));
    suite.run("kept.what_must_agree", || what_must_agree(lab));
    suite.run("kept.mapped_anew", || {
        changed(lab, "mapped again", map_anew)
    });
    suite.run("kept.thrown_away", || {
        changed(lab, "thrown away", throw_away)
    });
    suite.run("kept.moved", || changed(lab, "moved", swap_places));
    suite.run("kept.shared_with_a_child", || shared_with_a_child(lab));
    suite.run("kept.protected", || protected(lab));
    suite.run("kept.thrown_away_meanwhile", || thrown_away_meanwhile(lab));
    suite.run("kept.of_a_changing_process", || {
        changes::of_a_changing_process(lab)
    });
    suite.run("kept.between_changes", || changes::between(lab));
    suite.run("kept.freed_by_its_process", || freed::by_its_process(lab));
    suite.run("kept.of_hugetlb", || freed::of_hugetlb(lab));
    suite.run("kept.short_control_group", || {
        freed::by_its_control_group(lab)
    });
    suite.run("kept.freed_within_a_control_group", || {
        freed::within_a_control_group(lab)
    });
    suite.run("kept.control_groups_come_and_go", || {
        freed::control_groups_come_and_go(lab)
    });
    suite.run("kept.registered_at_once", || freed::registered_at_once(lab));
    suite.run("kept.not_evicted_in_vain", || freed::not_in_vain(lab));
    suite.run("kept.evicted_for_entries_that_linger", || {
        freed::for_entries_that_linger(lab)
    });
    suite.run("kept.limit", || limit(lab));
    suite.run("kept.gives_way", || gives_way(lab));
    suite.run("kept.gives_way_to_others", || gives_way_to_others(lab));
    suite.run("kept.found_across_a_restart", || {
        across_a_restart(lab, true)
    });
    suite.run("kept.made_across_a_restart", || {
        across_a_restart(lab, false)
    });
}

fn register(device: &Device, memory: &Memory) -> Result<Buffer> {
    let region = device
        .register(memory, 0..memory.length(), Permissions::ReadWrite)
        .map_err(told)?;
    Ok(Buffer {
        memory: memory.clone(),
        region,
    })
}

/// Checks that registering again does not access the board, and that the data still arrive.
fn found_again(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let memory = Memory::new(16 * MIB)?;
    let first = register(&device, &memory)?;
    ensure!(!first.region.found(), "found before it was made");
    let place = lab.place(&device)?;
    // A transfer's end proves that the register writes before it have been counted.
    lab.check_some(&mut mover, &first, place, 2, 1000)?;
    drop(first);
    let before = lab.host.counters()?;
    let second = register(&device, &memory)?;
    ensure!(second.region.found(), "not found again");
    let after = lab.host.counters()?;
    ensure!(
        after.other_writes == before.other_writes,
        "{} registers written for a region that was there",
        after.other_writes - before.other_writes
    );
    lab.check_some(&mut mover, &second, place, 4, MIB)?;
    let forgotten = second.region.clone();
    drop(second);
    forgotten.forget().map_err(told)?;
    ensure!(
        !register(&device, &memory)?.region.found(),
        "found after it was invalidated"
    );
    Ok("")
}

/// Checks that another length, place, or permission gives another region.
fn what_must_agree(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let memory = Memory::new(64 << 10)?;
    let first = register(&device, &memory)?;
    // A region in use is not found: it has a handle already.
    ensure!(
        !register(&device, &memory)?.region.found(),
        "a region in use was found"
    );
    drop(first);
    for (range, permissions, found) in [
        (0..4096, Permissions::ReadWrite, false),
        (1..64 << 10, Permissions::ReadWrite, false),
        (0..64 << 10, Permissions::Read, false),
        (0..64 << 10, Permissions::Write, false),
        (0..64 << 10, Permissions::ReadWrite, true),
    ] {
        let region = device
            .register(&memory, range.clone(), permissions)
            .map_err(told)?;
        ensure!(
            region.found() == found,
            "{range:?}, {permissions:?}: found {}",
            region.found()
        );
    }
    // Another context has no cached regions.
    let other = lab.open()?;
    ensure!(
        !register(&other, &memory)?.region.found(),
        "another context's region was found"
    );
    Ok("")
}

/// A change that replaces the memory at an address.
type Change = fn(&Memory) -> Result<()>;

fn place_of(memory: &Memory) -> *mut c_void {
    memory.address() as *mut c_void
}

const BOTH: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

fn map_anew(memory: &Memory) -> Result<()> {
    // SAFETY: it replaces the memory as a whole, into which there are no references.
    unsafe {
        rustix::mm::munmap(place_of(memory), memory.length())?;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        rustix::mm::mmap_anonymous(place_of(memory), memory.length(), BOTH, flags)?;
    }
    Ok(())
}

/// Registers memory while the kernel discards it: the kernel has notified all that watch it, and has not freed the page
/// yet. Checks that this page is not found later.
fn thrown_away_meanwhile(lab: &mut Lab) -> Result<String> {
    const PAGE: usize = 4096;
    let mut mover = Mover::slow(lab)?;
    let device = mover.device().clone();
    let place = lab.place(&device)?;
    let target = Buffer::new(&device, PAGE)?;
    // The last page is freed last.
    let memory = Memory::new(48 * MIB)?;
    // SAFETY: there are no references into the memory.
    unsafe { rustix::mm::madvise(place_of(&memory), memory.length(), Advice::LinuxNoHugepage)? };
    let last = memory.length() - PAGE;
    let register = || {
        device
            .register(&memory, last..last + PAGE, Permissions::ReadWrite)
            .map_err(told)
    };
    let (mut found, mut takes) = (0, std::time::Duration::ZERO);
    let tries = 4 * lab.rounds.max(1);
    for round in 0..tries {
        for page in (0..memory.length()).step_by(PAGE) {
            memory.write(page, &[1])?;
        }
        memory.write(last, &[round as u8; PAGE])?;
        let begins = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let thrower = scope.spawn(|| {
                begins.store(true, Ordering::Release);
                let begin = std::time::Instant::now();
                throw_away(&memory).map(|()| begin.elapsed())
            });
            while !begins.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            std::thread::sleep(takes * round / tries);
            // Registers the page, and unregisters it.
            register()?;
            match thrower.join() {
                Ok(took) => takes = took?,
                Err(_) => return Err(anyhow!("the throwing thread panicked")),
            }
            anyhow::Ok(())
        })?;
        let fresh = [0x80 | round as u8; PAGE];
        memory.write(last, &fresh)?;
        let region = register()?;
        found += u32::from(region.found());
        mover.transfer(Direction::ToFpga, &region, 0, place, PAGE)?;
        mover.transfer(Direction::FromFpga, &target.region, 0, place, PAGE)?;
        let mut seen = [0; PAGE];
        target.memory.read(0, &mut seen)?;
        ensure!(
            seen == fresh,
            "round {round}: the board reads {:#x} where the process has {:#x}; found {}",
            seen[0],
            fresh[0],
            region.found()
        );
        region.forget().map_err(told)?;
    }
    Ok(format!(
        "found {found} of {tries}, thrown away in {takes:?}"
    ))
}

fn throw_away(memory: &Memory) -> Result<()> {
    // SAFETY: there are no references into the memory.
    unsafe {
        rustix::mm::madvise(place_of(memory), memory.length(), Advice::LinuxDontNeed)?;
    }
    Ok(())
}

fn swap_places(memory: &Memory) -> Result<()> {
    let length = memory.length();
    // SAFETY: other pages are moved to the memory's place, into which there are no references.
    unsafe {
        let other = rustix::mm::mmap_anonymous(
            std::ptr::null_mut(),
            length,
            BOTH,
            MapFlags::PRIVATE | MapFlags::POPULATE,
        )?;
        rustix::mm::mremap_fixed(
            other,
            length,
            length,
            MremapFlags::MAYMOVE,
            place_of(memory),
        )?;
    }
    Ok(())
}

/// Checks that a change of the memory is noticed: the cached region is that of the earlier memory.
fn changed(lab: &mut Lab, what: &str, change: Change) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let place = lab.place(&device)?;
    for round in 0..lab.rounds {
        let memory = Memory::new(MIB)?;
        let first = register(&device, &memory)?;
        lab.check_some(&mut mover, &first, place, 2, 50_000)?;
        drop(first);
        change(&memory)?;
        let second = register(&device, &memory)?;
        ensure!(
            !second.region.found(),
            "round {round}: found, though it was {what}"
        );
        lab.check_some(&mut mover, &second, place, 2, 50_000)
            .with_context(|| format!("round {round}, after it was {what}"))?;
    }
    Ok("")
}

/// Checks memory that is shared with a child. After a fork the parent's pages may be copied when it writes to them; the
/// board must see the same pages as the parent.
fn shared_with_a_child(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let place = lab.place(&device)?;
    let memory = Memory::new(MIB)?;
    drop(register(&device, &memory)?);
    let (ours, theirs) = crate::process::pair()?;
    let child = crate::process::fork("child", move || theirs.wait())?;
    memory.write(0, &vec![0x42; MIB])?;
    let buffer = register(&device, &memory)?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)
        .context("while the child lives")?;
    drop(buffer);
    ours.signal()?;
    child.wait()?;
    let buffer = register(&device, &memory)?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)
        .context("after the child's end")?;
    Ok("")
}

/// Checks that a cached region is found again after its process had no access to the memory for a while, as NUMA
/// balancing causes it, and not while the process may not write.
fn protected(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let memory = Memory::new(MIB)?;
    let protect = |flags| {
        // SAFETY: there are no references into the memory.
        unsafe { rustix::mm::mprotect(place_of(&memory), MIB, flags) }
    };
    drop(register(&device, &memory)?);
    protect(MprotectFlags::empty())?;
    protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
    let again = register(&device, &memory)?;
    ensure!(again.region.found(), "it was not found");
    drop(again);
    protect(MprotectFlags::READ)?;
    let refused = device.register(&memory, 0..MIB, Permissions::ReadWrite);
    let is_fault = matches!(
        &refused,
        Err(Error::Call {
            source: Errno::FAULT,
            ..
        })
    );
    ensure!(is_fault, "{refused:?}");
    protect(MprotectFlags::READ | MprotectFlags::WRITE)?;
    ensure!(
        !register(&device, &memory)?.region.found(),
        "it was found after all"
    );
    Ok("")
}

/// Returns the driver's limit of cached regions.
fn kept_regions() -> Result<u32> {
    let path = pci_device()?.join("peerlane/kept_regions");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(text.trim().parse()?)
}

/// Checks that no more regions are cached than allowed, and that the region whose last use is longest ago is evicted
/// first.
fn limit(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let allowed = kept_regions()?;
    let pages = allowed as usize + 8;
    let memory = Memory::new(pages * 4096)?;
    let page = |index: usize| {
        device
            .register(
                &memory,
                index * 4096..(index + 1) * 4096,
                Permissions::Write,
            )
            .map_err(told)
    };
    for index in 0..pages {
        drop(page(index)?);
    }
    let kept = device.query().map_err(told)?.regions;
    ensure!(
        kept[0] == 0 && kept[1] <= allowed,
        "{kept:?} regions, {allowed} allowed"
    );
    ensure!(kept[1] > 0, "nothing was kept");
    ensure!(page(pages - 1)?.found(), "the last one was not kept");
    ensure!(!page(0)?.found(), "the first one was kept");
    Ok(format!("{} of {pages} kept", kept[1]))
}

/// Checks that cached regions are evicted when the table is full, and that regions in use are not.
fn gives_way(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let free = entries_free(device.name().as_ref())?;
    // Every second page, so that no two pages share an entry.
    let memory = Memory::new(2 * (free + 1) * 4096)?;
    let page = |index: usize| {
        let start = 2 * index * 4096;
        device
            .register(&memory, start..start + 4096, Permissions::Write)
            .map_err(told)
            .with_context(|| format!("region {index} of {free} entries"))
    };
    let half = free / 2;
    let mut held = (0..half).map(page).collect::<Result<Vec<_>>>()?;
    for index in half..free {
        drop(page(index)?);
    }
    let kept = device.query().map_err(told)?.regions[1];
    ensure!(kept > 0, "nothing was kept");
    for index in (half..free).rev() {
        held.push(page(index)?);
    }
    let full = device.register(
        &memory,
        2 * free * 4096..(2 * free + 1) * 4096,
        Permissions::Write,
    );
    ensure!(
        matches!(
            full,
            Err(Error::Call {
                source: Errno::NOSPC,
                ..
            })
        ),
        "a full table gave {full:?}"
    );
    drop(held);
    drop(page(0)?);
    Ok(format!("{free} regions, {kept} were kept between"))
}

/// Checks that cached regions of one context are evicted when another context needs their entries.
fn gives_way_to_others(lab: &mut Lab) -> Result<String> {
    const KEPT: usize = 1000;
    let mut mover = Mover::slow(lab)?;
    let miser = mover.device().clone();
    let other = lab.open()?;
    let free = entries_free(miser.name().as_ref())?;
    let memory = Memory::new(4096)?;
    let all = |device: &Device| {
        device
            .register(&memory, 0..4096, Permissions::Write)
            .map_err(told)
    };
    // All regions are of one page, each with another range of bytes, and so another region.
    let keep = |index: usize| {
        miser
            .register(&memory, index..4096, Permissions::Write)
            .map_err(told)
    };
    for index in 0..KEPT {
        drop(keep(index)?);
    }
    let kept = miser.query().map_err(told)?.regions[1];
    ensure!(kept as usize == KEPT, "{kept} regions of {KEPT} were kept");
    let held = (0..free)
        .map(|index| all(&other).with_context(|| format!("region {index} of {free}")))
        .collect::<Result<Vec<_>>>()?;
    let kept = miser.query().map_err(told)?.regions[1];
    ensure!(
        kept == 0,
        "{kept} regions are kept while another context needs room"
    );
    drop(held);
    let buffer = Buffer::new(&miser, MIB)?;
    let place = lab.place(&miser)?;
    lab.check_some(&mut mover, &buffer, place, 2, 5000)?;
    Ok(format!("{free} entries taken"))
}

/// Registers regions over and over, from the cache or not, while the board is reset. Checks that the board knows the
/// region that is held when the reset is over.
fn across_a_restart(lab: &mut Lab, keep: bool) -> Result<String> {
    let resets = 8 * lab.rounds;
    let lab = lab.branch();
    // The process is a new one, which may have a second thread.
    let child = process::fork("across_a_restart", move || {
        let device = lab.open()?;
        let place = lab.place(&device)?;
        let memory = Memory::new(4096)?;
        for round in 0..resets {
            let back = Arc::new(AtomicBool::new(false));
            let user = {
                let (device, memory, back) = (device.clone(), memory.clone(), back.clone());
                std::thread::spawn(move || turn_over(&device, &memory, keep, &back))
            };
            faults::reset()?;
            back.store(true, Ordering::Release);
            let buffer = user.join().map_err(|_| anyhow!("the user panicked"))??;
            let mut mover = Mover::Slow(device.clone());
            for direction in Direction::BOTH {
                mover
                    .transfer(direction, &buffer.region, 0, place, 4096)
                    .with_context(|| format!("after reset {round}, {direction}"))?;
            }
        }
        Ok(())
    })?;
    child.wait()?;
    Ok(format!("{resets} resets"))
}

/// Registers memory and unregisters it until the reset is over. Returns the last region.
fn turn_over(device: &Device, memory: &Memory, keep: bool, back: &AtomicBool) -> Result<Buffer> {
    loop {
        // Read before the region is registered: a region that is registered later must be good.
        let last = back.load(Ordering::Acquire);
        match register(device, memory) {
            Ok(buffer) if last || back.load(Ordering::Acquire) => return Ok(buffer),
            Ok(buffer) if keep => drop(buffer),
            Ok(buffer) => buffer.region.forget().map_err(told)?,
            Err(error) if last => return Err(error),
            Err(_) => {}
        }
    }
}
