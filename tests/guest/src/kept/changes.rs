//! Tests in which cached regions of a process are evicted for other processes, while threads of that process change its
//! address space all the time: no other process may wait for that.

use super::MIB;
use crate::faults;
use crate::lab::{Lab, entries_free, told};
use crate::process::{Peer, fork, pair};
use crate::raw;
use anyhow::{Context, Result, ensure};
use peerlane_host::{Device, Memory, Permissions};
use rustix::mm::Advice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PAGE: usize = 4096;

/// Threads that change the address space. There are many more than processors, so that most of them are preempted in
/// the middle of a change.
const THREADS: usize = 16;

/// Time limit for operations that take milliseconds.
const DEADLINE: Duration = Duration::from_secs(120);

/// Caches a region of a context, sends the context to another process, and changes its own address space until it is
/// killed.
fn change_for_ever(lab: &Lab, context: &Peer, changes: &Peer) -> Result<()> {
    let memory = Memory::new(48 * MIB)?;
    let (place, length) = (super::place_of(&memory), memory.length());
    // SAFETY: there are no references into the memory.
    unsafe { rustix::mm::madvise(place, length, Advice::LinuxNoHugepage)? };
    for page in (0..length).step_by(PAGE) {
        memory.write(page, &[1])?;
    }
    let device = lab.open()?;
    let middle = length / 2..length / 2 + PAGE;
    drop(
        device
            .register(&memory, middle, Permissions::ReadWrite)
            .map_err(told)?,
    );
    let kept = device.query().map_err(told)?.regions;
    ensure!(kept == [0, 1], "regions {kept:?}");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            // Pages that are marked as free stay as long as the memory is not needed: each round takes as long as the
            // first.
            scope.spawn(|| {
                loop {
                    // SAFETY: there are no references into the memory.
                    let _ = unsafe {
                        rustix::mm::madvise(super::place_of(&memory), length, Advice::LinuxFree)
                    };
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        changes.signal()?;
        context.send(raw::fd(&device))?;
        // The receiver is now the only process that has the context.
        drop(device);
        anyhow::Ok(())
    })
}

/// Work of the process that gets the context: it prepares, signals, receives the context and uses it.
type Act = fn(&Lab, &Peer) -> Result<()>;

fn receive(from: &Peer) -> Result<Device> {
    from.signal()?;
    Device::from_file(from.receive()?, "the changer's context").map_err(told)
}

fn close(_: &Lab, from: &Peer) -> Result<()> {
    drop(receive(from)?);
    Ok(())
}

/// Needs so many entries that cached regions must be evicted, while another context is closed.
fn need(lab: &Lab, from: &Peer) -> Result<()> {
    const PAGES: usize = 64;
    let (needy, other) = (lab.open()?, lab.open()?);
    let memory = Memory::new(PAGES * PAGE)?;
    // SAFETY: there are no references into the memory.
    unsafe {
        rustix::mm::madvise(
            super::place_of(&memory),
            PAGES * PAGE,
            Advice::LinuxNoHugepage,
        )?
    };
    // Neighbours whose pages are not contiguous need an entry each.
    for page in (0..PAGES).rev() {
        memory.write(page * PAGE, &[1])?;
    }
    let mut held = Vec::new();
    let mut take = |pages: usize| {
        let region = needy.register(&memory, 0..pages * PAGE, Permissions::Read);
        held.push(region.map_err(told)?);
        entries_free(needy.name().as_ref())
    };
    let mut left = entries_free(needy.name().as_ref())?;
    while left > 2 {
        left = take(if left > PAGES + 2 { PAGES } else { 1 })?;
    }
    let device = receive(from)?;
    take(1)?;
    take(1)?;
    let kept = device.query().map_err(told)?.regions;
    ensure!(kept == [0, 0], "regions {kept:?}");
    drop(other);
    Ok(())
}

fn unbind(_: &Lab, from: &Peer) -> Result<()> {
    let device = receive(from)?;
    faults::unbind()?;
    drop(device);
    faults::bind()
}

fn within_the_deadline(lab: &mut Lab, what: &'static str, act: Act) -> Result<Duration> {
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let mut actor = fork(what, move || act(&branch, &ours))?;
    let branch = lab.branch();
    let (begins, changes) = pair()?;
    let changer = fork("changer", move || {
        theirs.wait()?;
        change_for_ever(&branch, &theirs, &changes)
    })?;
    begins.wait()?;
    let begin = Instant::now();
    let end = actor.wait_for(DEADLINE)?;
    let took = begin.elapsed();
    // If a process still waits for the changes, it continues now.
    changer.kill()?;
    let end = end.with_context(|| format!("{what} waits for the changes of another process"))?;
    ensure!(end.exit_status() == Some(0), "{what} ended with {end:?}");
    Ok(took)
}

/// Checks closing the context, needing its entries, and unbinding the board, each in another process.
pub(super) fn of_a_changing_process(lab: &mut Lab) -> Result<String> {
    let mut took = Vec::new();
    for (what, act) in [
        ("a close", close as Act),
        ("a need of entries", need),
        ("an unbind", unbind),
    ] {
        took.push(within_the_deadline(lab, what, act)?);
    }
    Ok(format!("{took:?}"))
}

/// Checks that memory between addresses that change all the time is cached and found again.
pub(super) fn between(lab: &mut Lab) -> Result<&'static str> {
    const ROUNDS: usize = 50;
    const PART: usize = 16 * MIB;
    let device = lab.open()?;
    let memory = Memory::new(3 * PART)?;
    // SAFETY: there are no references into the memory.
    unsafe { rustix::mm::madvise(super::place_of(&memory), 3 * PART, Advice::LinuxNoHugepage)? };
    for page in (0..3 * PART).step_by(PAGE) {
        memory.write(page, &[1])?;
    }
    let done = AtomicBool::new(false);
    let change = &|part: usize| {
        while !done.load(Ordering::Relaxed) {
            // SAFETY: there are no references into the memory; the place is within it.
            let _ = unsafe {
                let place = super::place_of(&memory).byte_add(part * PART);
                rustix::mm::madvise(place, PART, Advice::LinuxFree)
            };
        }
    };
    let found = std::thread::scope(|scope| {
        for part in [0, 2, 0, 2, 0, 2] {
            scope.spawn(move || change(part));
        }
        let rounds = (0..ROUNDS).map(|round| {
            let start = PART + round * PAGE;
            let register = || {
                let region = device.register(&memory, start..start + PAGE, Permissions::ReadWrite);
                region.map_err(told)
            };
            drop(register()?);
            anyhow::Ok(register()?.found())
        });
        let found: Result<Vec<bool>> = rounds.collect();
        done.store(true, Ordering::Relaxed);
        found
    })?;
    let kept = found.iter().filter(|found| **found).count();
    ensure!(kept == ROUNDS, "{kept} of {ROUNDS} were found again");
    Ok("")
}
