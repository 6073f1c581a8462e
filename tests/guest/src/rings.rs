//! Streams of the FPGA's logic: rings, their holders, and their ends.

use crate::faults::reset;
use crate::lab::{Lab, told};
use crate::process::{fork, pair};
use crate::raw;
use crate::suite::Suite;
use anyhow::{Result, bail, ensure};
use peerlane_core::uapi::{self, stream};
use peerlane_guest::pattern;
use peerlane_host::{Device, Errno, Error, Memory, Permissions, Ring, Slots};
use std::time::Duration;

/// Bytes and number of the slots.
const SLOT: usize = 4096;
const COUNT: u32 = 8;
const LIMIT: Duration = Duration::from_secs(30);

/// Runs the tests.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("rings.blocks", || blocks(lab));
    suite.run("rings.calls", || calls(lab));
    suite.run("rings.one_holder", || one_holder(lab));
    suite.run("rings.killed", || killed(lab));
    suite.run("rings.reset", || restarted(lab));
    suite.run("rings.held", || held(lab));
    suite.run("rings.dropped_in_a_reset", || dropped_in_a_reset(lab));
    suite.run("rings.blocks_again", || blocks(lab));
}

/// Runs the tests for a board that is bound to vfio-pci.
pub fn run_by_vfio(suite: &mut Suite, lab: &mut Lab) {
    suite.run("vfio.rings.blocks", || blocks(lab));
    suite.run("vfio.rings.killed", || killed(lab));
    suite.run("vfio.rings.held", || held(lab));
}

fn ring(device: &Device) -> Result<(Memory, Ring)> {
    let memory = Memory::new(SLOT * COUNT as usize).map_err(told)?;
    let region = (device.register_all(&memory, Permissions::ReadWrite)).map_err(told)?;
    let slots = Slots {
        region,
        offset: 0,
        bytes: SLOT as u32,
        count: COUNT,
    };
    let ring = device.ring(0, slots, 0).map_err(told)?;
    Ok((memory, ring))
}

/// Moves blocks of random words, and compares them.
fn some(lab: &Lab, memory: &Memory, ring: &mut Ring, seed: u64, count: usize) -> Result<()> {
    let mut sent = vec![0; SLOT * count];
    pattern(seed, &mut sent);
    lab.host.feed(0, seed, sent.len() as u64)?;
    let mut found = vec![0; SLOT];
    for (number, sent) in sent.chunks(SLOT).enumerate() {
        let block = ring.next(LIMIT).map_err(told)?;
        ensure!(
            block.bytes() as usize == SLOT && block.lost() == 0,
            "{block:?}"
        );
        memory.read(block.offset() as usize, &mut found)?;
        ensure!(found == sent, "block {number} differs");
    }
    Ok(())
}

/// More blocks than the queue has descriptors.
fn blocks(lab: &Lab) -> Result<String> {
    let device = lab.open()?;
    let (memory, mut ring) = ring(&device)?;
    some(lab, &memory, &mut ring, 1, 300)?;
    ensure!(ring.poll().map_err(told)?.is_none(), "one block more");
    let state = ring.state().map_err(told)?;
    ensure!(state.open && state.waiting == 0, "{state:?}");
    Ok(format!("{:?}", device.streams()))
}

fn call(device: &Device, call: uapi::Stream) -> Result<uapi::Stream, Errno> {
    let mut call = call;
    raw::with(device, uapi::STREAM, &mut call).map(|()| call)
}

/// Wrong arguments.
fn calls(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let good = uapi::Stream::default();
    let open = stream::OPEN;
    for (wrong, errno) in [
        (
            uapi::Stream {
                number: 1,
                flags: open,
                ..good
            },
            Errno::INVAL,
        ),
        (
            uapi::Stream {
                number: u32::MAX,
                flags: open,
                ..good
            },
            Errno::INVAL,
        ),
        (uapi::Stream { number: 1, ..good }, Errno::INVAL),
        (uapi::Stream { flags: 8, ..good }, Errno::INVAL),
        (
            uapi::Stream {
                flags: open | stream::CLOSE,
                ..good
            },
            Errno::INVAL,
        ),
        (
            uapi::Stream {
                flags: open,
                limit: 1 << 16,
                ..good
            },
            Errno::INVAL,
        ),
        (uapi::Stream { limit: 1, ..good }, Errno::INVAL),
        (
            uapi::Stream {
                flags: open,
                reserved: 1,
                ..good
            },
            Errno::INVAL,
        ),
        // Not held.
        (good, Errno::PERM),
        (
            uapi::Stream {
                flags: stream::CLOSE,
                ..good
            },
            Errno::PERM,
        ),
    ] {
        let refused = call(&device, wrong);
        ensure!(refused == Err(errno), "{wrong:?}: {refused:?}");
    }
    Ok("")
}

/// Two contexts.
fn one_holder(lab: &Lab) -> Result<&'static str> {
    let (device, other) = (lab.open()?, lab.open()?);
    let (memory, mut ring) = ring(&device)?;
    let open = uapi::Stream {
        flags: stream::OPEN,
        ..Default::default()
    };
    let close = uapi::Stream {
        flags: stream::CLOSE,
        ..Default::default()
    };
    let refused = [open, close, uapi::Stream::default()].map(|order| call(&other, order));
    let expected = [Errno::BUSY, Errno::PERM, Errno::PERM].map(Err);
    ensure!(refused == expected, "{refused:?}");
    some(lab, &memory, &mut ring, 2, 20)?;
    drop((ring, device));
    let taken = call(&other, open);
    ensure!(taken.is_ok(), "{taken:?}");
    Ok("")
}

/// A process with a ring is killed while its stream moves words: the stream is free and closed, and the memory is not
/// written any more.
fn killed(lab: &mut Lab) -> Result<&'static str> {
    let (ours, theirs) = pair()?;
    let branch = lab.branch();
    let child = fork("user", move || {
        let device = branch.open()?;
        let (_memory, mut ring) = ring(&device)?;
        let _block = ring.next(LIMIT).map_err(told)?;
        theirs.signal()?;
        std::thread::sleep(Duration::from_secs(60));
        bail!("it was not killed")
    })?;
    lab.host.feed(0, 3, 64 * SLOT as u64)?;
    ours.wait()?;
    child.kill()?;
    let device = lab.open()?;
    let (memory, mut ring) = ring(&device)?;
    // The logic still has words of the time before.
    let mut early = 0;
    while let Ok(_block) = ring.next(Duration::from_secs(1)) {
        early += 1;
    }
    ensure!(early > 0 && early < 64, "{early} blocks");
    drop((ring, memory, device));
    Ok("")
}

/// A reset ends a ring. Its device goes on with another one.
fn restarted(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let (memory, mut ring) = ring(&device)?;
    some(lab, &memory, &mut ring, 4, 10)?;
    let block = {
        lab.host.feed(0, 5, SLOT as u64)?;
        ring.next(LIMIT).map_err(told)?
    };
    reset()?;
    for _ in 0..2 {
        let ended = ring.next(LIMIT).map(drop);
        ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
    }
    drop((block, ring));
    Ok("")
}

/// Memory of a ring stays registered, also while no descriptor is under way.
fn held(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let memory = Memory::new(SLOT * 2).map_err(told)?;
    let region = (device.register_all(&memory, Permissions::ReadWrite)).map_err(told)?;
    let slots = Slots {
        region: region.clone(),
        offset: 0,
        bytes: SLOT as u32,
        count: 2,
    };
    let mut ring = device.ring(0, slots, 0).map_err(told)?;
    lab.host.feed(0, 6, 2 * SLOT as u64)?;
    let mut next = || ring.next(LIMIT).map_err(told);
    let blocks = [next()?, next()?];
    let refused = region.clone().forget();
    ensure!(
        matches!(
            refused,
            Err(Error::Call {
                source: Errno::BUSY,
                ..
            })
        ),
        "{refused:?}"
    );
    drop((blocks, ring));
    region.forget().map_err(told)?;
    Ok("")
}

/// A stream is free when its ring was dropped in the middle of a reset.
fn dropped_in_a_reset(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let (_memory, ring) = ring(&device)?;
    let resetter = std::thread::spawn(reset);
    std::thread::sleep(Duration::from_millis(50));
    drop(ring);
    match resetter.join() {
        Ok(done) => done?,
        Err(_) => bail!("the reset panicked"),
    }
    let other = lab.open()?;
    let mut open = uapi::Stream {
        flags: stream::OPEN,
        ..Default::default()
    };
    raw::with(&other, uapi::STREAM, &mut open)?;
    Ok("")
}
