//! What a process keeps is let go on behalf of others, while it sees to it that a change of its address
//! space is always under way: nobody waits for that.

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

/// Threads that change the address space: many more than processors, so that most of them are stopped
/// in the middle of a change.
const THREADS: usize = 16;

/// For what takes milliseconds.
const DEADLINE: Duration = Duration::from_secs(120);

/// Keeps a region of a context that it then gives away, and changes its addresses until it is killed.
fn change_for_ever(lab: &Lab, context: &Peer, changes: &Peer) -> Result<()> {
    let memory = Memory::new(48 * MIB)?;
    let (place, length) = (super::place_of(&memory), memory.length());
    // SAFETY: nobody has references into the memory.
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
            // Pages that are free to be taken stay as long as nobody needs them: each round is as long
            // as the first.
            scope.spawn(|| {
                loop {
                    // SAFETY: nobody has references into the memory.
                    let _ = unsafe {
                        rustix::mm::madvise(super::place_of(&memory), length, Advice::LinuxFree)
                    };
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        changes.signal()?;
        context.send(raw::fd(&device))?;
        // Who got it is the only one who has it.
        drop(device);
        anyhow::Ok(())
    })
}

/// Somebody whom the context is given: gets ready, says so, receives it and does something.
type Act = fn(&Lab, &Peer) -> Result<()>;

fn receive(from: &Peer) -> Result<Device> {
    from.signal()?;
    Device::from_file(from.receive()?, "the changer's context").map_err(told)
}

fn close(_: &Lab, from: &Peer) -> Result<()> {
    drop(receive(from)?);
    Ok(())
}

/// Needs so many entries that what is kept must go; and somebody else closes.
fn need(lab: &Lab, from: &Peer) -> Result<()> {
    const PAGES: usize = 64;
    let (needy, other) = (lab.open()?, lab.open()?);
    let memory = Memory::new(PAGES * PAGE)?;
    // SAFETY: nobody has references into the memory.
    unsafe {
        rustix::mm::madvise(
            super::place_of(&memory),
            PAGES * PAGE,
            Advice::LinuxNoHugepage,
        )?
    };
    // Neighbours that do not follow each other need an entry each.
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
    // Whoever waits for it goes on now.
    changer.kill()?;
    let end = end.with_context(|| format!("{what} waits for the changes of another process"))?;
    ensure!(end.exit_status() == Some(0), "{what} ended with {end:?}");
    Ok(took)
}

/// Somebody closes the context, needs its entries, takes the board away.
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

/// Between addresses that are always being changed memory is kept and found again.
pub(super) fn between(lab: &mut Lab) -> Result<&'static str> {
    const ROUNDS: usize = 50;
    const PART: usize = 16 * MIB;
    let device = lab.open()?;
    let memory = Memory::new(3 * PART)?;
    // SAFETY: nobody has references into the memory.
    unsafe { rustix::mm::madvise(super::place_of(&memory), 3 * PART, Advice::LinuxNoHugepage)? };
    for page in (0..3 * PART).step_by(PAGE) {
        memory.write(page, &[1])?;
    }
    let done = AtomicBool::new(false);
    let change = &|part: usize| {
        while !done.load(Ordering::Relaxed) {
            // SAFETY: nobody has references into the memory; the place is within it.
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
