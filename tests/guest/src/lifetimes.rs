//! Tests of lifetimes: memory, regions, contexts and processes end in every order, and the board never reaches memory
//! that is gone.

mod locked;
mod submitted;

pub(crate) use locked::{become_limited, refused};

use crate::lab::{Buffer, LIMIT, Lab, Mover, entries_used, same, told};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::fault::Fault;
use peerlane_core::uapi::{self, access};
use peerlane_host::{Device, Direction, Error, Memory, Permissions};
use rand::Rng;
use rustix::io::Errno;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("lifetimes.fork", || fork_while_registered(lab));
    suite.run("lifetimes.fork_kept", || fork_kept(lab));
    suite.run("lifetimes.file_passed", || file_passed(lab));
    suite.run("lifetimes.use_after_forget", || use_after_forget(lab));
    suite.run("lifetimes.forget_while_busy", || forget_while_busy(lab));
    suite.run("lifetimes.drop_while_busy", || drop_while_busy(lab));
    suite.run("lifetimes.submitted_while_given_back", || {
        submitted::while_given_back(lab)
    });
    suite.run("lifetimes.exit_while_busy", || end_while_busy(lab, false));
    suite.run("lifetimes.kill_while_busy", || end_while_busy(lab, true));
    suite.run("lifetimes.open_and_close", || open_and_close(lab));
    suite.run("lifetimes.unmapped_while_registered", || unmapped(lab));
    suite.run("lifetimes.locked_memory", || locked::of_a_process(lab));
    suite.run("lifetimes.locked_by_children", || locked::by_children(lab));
    suite.run("lifetimes.locked_elsewhere", || locked::elsewhere(lab));
    suite.run("lifetimes.locked_by_turns", || locked::by_turns(lab));
    suite.run("lifetimes.locked_and_refused", || {
        locked::refused_for_nothing(lab)
    });
    suite.run("lifetimes.nothing_left", || nothing_left(lab));
}

/// Checks that a child's copy of registered memory is the child's own, and that the board still accesses the parent's.
fn fork_while_registered(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), MIB)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)?;
    let mut before = vec![0; MIB];
    buffer.memory.read(0, &mut before)?;
    let (ours, theirs) = pair()?;
    let memory = buffer.memory.clone();
    let copy = before.clone();
    let child = fork("child", move || {
        theirs.wait()?;
        let mut found = vec![0; MIB];
        memory.read(0, &mut found)?;
        same(&copy, &found, 0).context("the parent's transfers show in the child")?;
        memory.write(0, &vec![0x5a; MIB])?;
        theirs.signal()?;
        theirs.wait()
    })?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)
        .context("after the fork")?;
    ours.signal()?;
    ours.wait()?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)
        .context("after the child has written to its copy")?;
    ours.signal()?;
    child.wait()?;
    lab.check_some(&mut mover, &buffer, place, 4, 50_000)
        .context("after the child's end")?;
    Ok("")
}

/// Checks that a child does not find the region that is cached for the same address of its parent.
fn fork_kept(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let memory = Memory::new(64 << 10)?;
    let place = lab.place(&device)?;
    let ones = vec![0x11; memory.length()];
    memory.write(0, &ones)?;
    let all = 0..memory.length();
    drop(
        device
            .register(&memory, all.clone(), Permissions::ReadWrite)
            .map_err(told)?,
    );
    ensure!(
        device.query().map_err(told)?.regions == [0, 1],
        "the region was not kept"
    );
    let mut branch = lab.branch();
    let (theirs, child_device) = (memory.clone(), device.clone());
    fork("child", move || {
        let region = child_device
            .register(&theirs, all, Permissions::ReadWrite)
            .map_err(told)?;
        ensure!(!region.found(), "the child was given the parent's region");
        let buffer = Buffer {
            memory: theirs,
            region,
        };
        let mut mover = Mover::Slow(child_device);
        branch.check_some(&mut mover, &buffer, place, 4, 5000)
    })?
    .wait()?;
    let mut found = vec![0; memory.length()];
    memory.read(0, &mut found)?;
    same(&ones, &found, 0).context("the child's transfers went to the parent")?;
    Ok("")
}

/// Checks that a context can be sent to another process, and lives on there.
fn file_passed(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let mut branch = lab.branch();
    let child = fork("receiver", move || {
        let file = theirs.receive()?;
        theirs.wait()?;
        let device = Device::from_file(file, "a file that was sent").map_err(told)?;
        let regions = device.query().map_err(told)?.regions;
        ensure!(regions[0] == 1, "the sender's region is gone: {regions:?}");
        let buffer = Buffer::new(&device, MIB)?;
        let place = branch.place(&device)?;
        let mut mover = Mover::Slow(device);
        branch.check_some(&mut mover, &buffer, place, 6, 50_000)
    })?;
    let device = lab.open()?;
    // A region that is not unregistered, in memory that is freed at the end of this function.
    let memory = Memory::new(4096)?;
    let mut register = raw::page(&memory, access::READ);
    raw::with(&device, uapi::REGISTER, &mut register)?;
    ours.send(raw::fd(&device))?;
    drop(device);
    ours.signal()?;
    child.wait()?;
    Ok("")
}

/// Checks that a region that was unregistered cannot be reached by any address.
fn use_after_forget(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let buffer = Buffer::new(mover.device(), MIB)?;
    let place = lab.place(mover.device())?;
    lab.check_some(&mut mover, &buffer, place, 2, 50_000)?;
    let stale = buffer.region.clone();
    buffer.region.forget().map_err(told)?;
    let expected = vec![0x77; MIB];
    buffer.memory.write(0, &expected)?;
    for direction in Direction::BOTH {
        match mover.attempt(direction, &stale, 0, place, MIB, LIMIT) {
            Err(Error::Fault {
                fault: Fault::AttInvalid,
                bytes_done: 0,
                ..
            }) => {}
            other => bail!("a {direction} with an invalidated region gave {other:?}"),
        }
    }
    let mut found = vec![0; MIB];
    buffer.memory.read(0, &mut found)?;
    same(&expected, &found, 0)?;
    // The handle is invalid, too.
    ensure!(
        stale.probe(0, place).is_err(),
        "an invalidated region can be probed"
    );
    Ok("")
}

/// Checks that nothing arrives any more after a region was unregistered in the middle of a transfer.
fn forget_while_busy(lab: &mut Lab) -> Result<String> {
    let mut cut = 0;
    for round in 0..lab.rounds {
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 4 * MIB)?;
        let place = lab.place(mover.device())?;
        lab.host.fpga_write(place, lab.rng.random(), 4 << 20)?;
        let queue = mover.queue()?;
        queue.set_piece(64 << 10);
        let region = buffer.region.clone();
        let id = queue
            .submit(Direction::FromFpga, region.part(0..4 << 20), place)
            .map_err(told)?;
        let other = queue
            .submit(Direction::ToFpga, region.part(0..4 << 20), place)
            .map_err(told)?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..20_000)));
        buffer.region.forget().map_err(told)?;
        let [mut at_once, mut later] = [vec![0; 4 * MIB], vec![0; 4 * MIB]];
        buffer.memory.read(0, &mut at_once)?;
        std::thread::sleep(Duration::from_millis(100));
        for id in [id, other] {
            match id.wait(Some(LIMIT)) {
                Ok(_) => {}
                Err(Error::Fault { .. }) => cut += 1,
                Err(error) => return Err(told(error)),
            }
        }
        buffer.memory.read(0, &mut later)?;
        same(&at_once, &later, 0)
            .with_context(|| format!("round {round}: written after it was invalidated"))?;
    }
    Ok(format!("{cut} of {} transfers were cut", 2 * lab.rounds))
}

/// Checks that a queue that is dropped in the middle of a transfer does not write to its memory afterwards.
fn drop_while_busy(lab: &mut Lab) -> Result<&'static str> {
    for round in 0..lab.rounds {
        let mut mover = Mover::fast(lab)?;
        let device = mover.device().clone();
        let buffer = Buffer::new(&device, 4 * MIB)?;
        let place = lab.place(&device)?;
        lab.host.fpga_write(place, lab.rng.random(), 4 << 20)?;
        let queue = mover.queue()?;
        let _ = queue
            .submit(Direction::FromFpga, buffer.region.part(0..4 << 20), place)
            .map_err(told)?;
        std::thread::sleep(Duration::from_micros(lab.rng.random_range(0..20_000)));
        drop(mover);
        drop(buffer.region);
        let [mut at_once, mut later] = [vec![0; 4 * MIB], vec![0; 4 * MIB]];
        buffer.memory.read(0, &mut at_once)?;
        std::thread::sleep(Duration::from_millis(100));
        buffer.memory.read(0, &mut later)?;
        same(&at_once, &later, 0).with_context(|| format!("round {round}: written after"))?;
    }
    Ok("")
}

/// A process ends in the middle of transfers. Checks that the board works as before, and that memory of other processes
/// is not written.
fn end_while_busy(lab: &mut Lab, killed: bool) -> Result<&'static str> {
    for round in 0..2 * lab.rounds {
        let make = if round % 2 == 0 {
            Mover::fast
        } else {
            Mover::slow
        };
        let pause = Duration::from_micros(lab.rng.random_range(0..30_000));
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let child = fork("busy", move || {
            let mut mover = make(&branch)?;
            let buffer = Buffer::new(mover.device(), 4 * MIB)?;
            let place = branch.place(mover.device())?;
            theirs.signal()?;
            for direction in
                Direction::BOTH
                    .into_iter()
                    .cycle()
                    .take(if killed { 10_000 } else { 2 })
            {
                let region = &buffer.region;
                let (device, length) = (mover.device().clone(), 4 << 20);
                match &mut mover {
                    Mover::Fast(queue) => {
                        let _ = queue
                            .submit(direction, region.part(0..length), place)
                            .map_err(told)?;
                    }
                    Mover::Slow(_) => {
                        let terms = peerlane_host::Terms::default();
                        match device.submit(direction, region.part(0..length), place, terms) {
                            Err(Error::Call {
                                source: Errno::AGAIN,
                                ..
                            }) => std::thread::sleep(Duration::from_millis(1)),
                            result => drop(result.map_err(told)?),
                        }
                    }
                }
            }
            // The process ends without waiting for the transfers and without releasing anything.
            std::mem::forget((mover, buffer));
            Ok(())
        })?;
        ours.wait()?;
        if killed {
            std::thread::sleep(pause);
            child.kill()?;
        } else {
            child.wait()?;
        }
        let mut mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 8 * MIB)?;
        let place = lab.place(mover.device())?;
        lab.check_some(&mut mover, &buffer, place, 2, MIB)
            .with_context(|| format!("round {round}"))?;
        let mut rest = vec![0; 2 * MIB];
        buffer.memory.write(6 * MIB, &vec![0xc3; 2 * MIB])?;
        std::thread::sleep(Duration::from_millis(20));
        buffer.memory.read(6 * MIB, &mut rest)?;
        same(&vec![0xc3; 2 * MIB], &rest, 6 * MIB).context("memory that no transfer writes")?;
    }
    Ok("")
}

/// Checks that channels do not run out.
fn open_and_close(lab: &mut Lab) -> Result<&'static str> {
    let rounds = 10 * lab.open()?.capabilities().channels;
    for round in 0..rounds {
        let mut mover = if round % 2 == 0 {
            Mover::fast_with(lab, 8192)?
        } else {
            Mover::slow(lab)?
        };
        let buffer = Buffer::new(mover.device(), 8192)?;
        let place = lab.place_of(mover.device(), 8192)?;
        mover
            .transfer(Direction::FromFpga, &buffer.region, 5, place, 4099)
            .with_context(|| format!("context {round}"))?;
    }
    Ok("")
}

/// Checks that memory that is unmapped while it is registered is not allocated again before the board has released it.
fn unmapped(lab: &mut Lab) -> Result<&'static str> {
    let mut mover = Mover::fast(lab)?;
    let place = lab.place(mover.device())?;
    for _ in 0..lab.rounds {
        let length = 2 * MIB;
        let memory = Memory::new(length)?;
        // SAFETY: there are no references into the memory.
        let region = unsafe {
            mover
                .device()
                .register_address(memory.address(), length as u64, Permissions::ReadWrite)
        }
        .map_err(told)?;
        lab.host
            .fpga_write(place, lab.rng.random(), length as u64)?;
        let queue = mover.queue()?;
        let id = queue
            .submit(Direction::FromFpga, region.part(0..length as u64), place)
            .map_err(told)?;
        drop(memory);
        // The allocation would probably get the same pages if they were free.
        let other = Memory::new(length)?;
        let expected = vec![0x3c; length];
        other.write(0, &expected)?;
        match id.wait(Some(LIMIT)) {
            Ok(_) | Err(Error::Fault { .. }) => {}
            Err(error) => return Err(told(error)),
        }
        let mut found = vec![0; length];
        other.read(0, &mut found)?;
        same(&expected, &found, 0).context("the board writes into memory of others")?;
    }
    Ok("")
}

/// Checks that the board's table is empty when all contexts of earlier tests are closed.
fn nothing_left(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    // The end of the last process may still be in progress.
    let end = Instant::now() + Duration::from_secs(60);
    let mut used = entries_used(device.name().as_ref())?;
    while used != 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
        used = entries_used(device.name().as_ref())?;
    }
    ensure!(used == 0, "{used} entries without an owner");
    let buffer = Buffer::new(&device, MIB)?;
    let with_one = entries_used(device.name().as_ref())?;
    ensure!(with_one > 0, "entries are not counted");
    buffer.region.forget().map_err(told)?;
    let used = entries_used(device.name().as_ref())?;
    ensure!(
        used == 0,
        "{used} entries after all regions were invalidated"
    );
    Ok("")
}
