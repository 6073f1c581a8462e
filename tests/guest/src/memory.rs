//! Tests that FPGA memory belongs to its owner: no process sees or changes the memory that another one has, or had.

mod ends;
mod hands;
mod page;
mod races;

use crate::faults::reset;
use crate::lab::{Buffer, LIMIT, Lab, Mover, told};
use crate::process::{become_nobody, fork, pair};
use crate::raw;
use crate::suite::{Suite, skip};
use anyhow::{Context, Result, bail, ensure};
use page::Page;
use peerlane_core::att::AttAddress;
use peerlane_core::fault::Fault;
use peerlane_core::uapi::{self, state};
use peerlane_host::{Device, Direction, Error, FpgaMemory, Offer, Terms};
use rand::Rng;
use rustix::io::Errno;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Size of which ranges are multiples.
const GRANULE: u64 = 64 << 10;
const KIB: u64 = 1 << 10;
/// The most that one descriptor fills: eight pages of the ATT.
const PIECE: u64 = 512 * KIB;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("memory.nothing_first", || nothing_first(lab));
    suite.run("memory.zero_at_first", || zero_at_first(lab));
    suite.run("memory.zero_again", || zero_again(lab));
    suite.run("memory.of_another_process", || of_another_process(lab));
    suite.run("memory.neighbours", || neighbours(lab));
    suite.run("memory.one_writer", || one_writer(lab));
    suite.run("memory.full", || full(lab));
    suite.run("memory.all", || all(lab));
    suite.run("memory.all_for_whom", || all_for_whom(lab));
    suite.run("memory.offered", || offered(lab));
    suite.run("memory.freed_while_absent", || freed_while_absent(lab));
    ends::run(suite, lab);
    suite.run("memory.kept_of_a_channel", || hands::of_a_channel(lab));
    suite.run("memory.races", || races::races(lab));
}

/// Checks that a call about FPGA memory fails with this error.
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, error: Errno) -> Result<()> {
    match result {
        Err(Error::Memory { source, .. }) if source == error => Ok(()),
        other => bail!("{other:?} instead of {error}"),
    }
}

fn allocate(device: &Device, bytes: u64) -> Result<FpgaMemory> {
    device.allocate(bytes).map_err(told)
}

/// Fills FPGA memory with data of another process, every byte of which differs from 0.
fn fill(lab: &mut Lab, range: &Range<u64>) -> Result<u64> {
    let seed = lab.rng.random();
    lab.host
        .fpga_write(range.start, seed, range.end - range.start)?;
    Ok(seed)
}

/// Reads everything in a context's range, by the board.
fn content(device: &Device, buffer: &Buffer, range: &Range<u64>) -> Result<Vec<u8>> {
    let length = range.end - range.start;
    let terms = Terms::default();
    buffer
        .memory
        .write(0, &vec![0xa5; usize::try_from(length)?])?;
    let region = &buffer.region;
    let moved = device
        .submit(
            Direction::FromFpga,
            region.part(0..length),
            range.start,
            terms,
        )
        .and_then(|submitted| submitted.wait(Some(LIMIT)))
        .map_err(told)?;
    ensure!(moved == length, "{moved} bytes of {length}");
    let mut bytes = vec![0; usize::try_from(length)?];
    buffer.memory.read(0, &mut bytes)?;
    Ok(bytes)
}

/// Checks that all of a context's range is zero.
fn zero(device: &Device, buffer: &Buffer, range: &Range<u64>) -> Result<()> {
    let bytes = content(device, buffer, range)?;
    match bytes.iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(at) => bail!("byte {at:#x} of {range:x?} is {:#04x}", bytes[at]),
    }
}

/// Returns the range that the next allocation of so many bytes would get.
fn next_place(lab: &Lab, bytes: u64) -> Result<Range<u64>> {
    let device = lab.open()?;
    let memory = allocate(&device, bytes)?;
    Ok(memory.range())
}

/// Checks that a context that has allocated nothing reaches nothing, by either path.
fn nothing_first(lab: &mut Lab) -> Result<&'static str> {
    let place = next_place(lab, 4 * GRANULE)?;
    let secret = fill(lab, &place)?;
    let device = lab.open()?;
    ensure!(device.range().is_empty(), "{:x?}", device.range());
    let buffer = Buffer::new(&device.one_page_size(), 4096)?;
    let mut page = Page::new(&device)?;
    for local in [0, GRANULE, place.start, place.end - 64] {
        for direction in Direction::BOTH {
            let end = page.run(direction, buffer.region.att_address(), local, 64)?;
            ensure!(
                end == Err(Fault::LocalRange),
                "{direction} at {local:#x}: {end:?}"
            );
        }
    }
    lab.host
        .fpga_check(place.start, secret, place.end - place.start)?;
    Ok("")
}

/// Checks that a new range is zero, all of it, independent of its earlier content, and that the memory around it stays.
fn zero_at_first(lab: &mut Lab) -> Result<String> {
    let sizes = [
        1,
        GRANULE,
        GRANULE + 1,
        PIECE,
        PIECE + 1,
        3 * PIECE - GRANULE,
    ];
    for bytes in sizes {
        let wide = next_place(lab, bytes + GRANULE)?;
        let below = wide.start..wide.start + GRANULE;
        fill(lab, &wide)?;
        let kept = fill(lab, &below)?;
        let device = lab.open()?;
        let memory = allocate(&device, bytes)?;
        ensure!(
            memory.length() == bytes.next_multiple_of(GRANULE)
                && memory.range() == (below.end..wide.end),
            "{bytes:#x} bytes: {:x?}",
            memory.range()
        );
        let buffer = Buffer::new(&device.one_page_size(), usize::try_from(memory.length())?)?;
        zero(&device, &buffer, &memory.range()).with_context(|| format!("{bytes:#x} bytes"))?;
        lab.host.fpga_check(below.start, kept, GRANULE)?;
    }
    Ok(format!("{} sizes", sizes.len()))
}

/// Checks that memory that a context has freed is zero when the context gets it again, and cannot be reached in
/// between.
fn zero_again(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device.one_page_size(), usize::try_from(GRANULE)?)?;
    let mut mover = Mover::Slow(device.clone());
    let mut before = None;
    for _ in 0..3 {
        let memory = allocate(&device, GRANULE)?;
        let range = memory.range();
        ensure!(before.is_none_or(|before| before == range), "{range:x?}");
        zero(&device, &buffer, &range)?;
        fill(lab, &range)?;
        lab.check(&mut mover, Direction::ToFpga, &buffer, 0, range.start, 4096)?;
        memory.free().map_err(told)?;
        match device.submit(
            Direction::FromFpga,
            buffer.region.part(0..64),
            range.start,
            Terms::default(),
        ) {
            Err(Error::Local { .. }) => {}
            other => bail!("a transfer with freed memory gave {other:?}"),
        }
        before = Some(range);
    }
    // Both directions in turn belong to one context: its queue begins at the first slot of the ring.
    let memory = allocate(&device, GRANULE)?;
    lab.check(
        &mut mover,
        Direction::FromFpga,
        &buffer,
        0,
        memory.base(),
        512,
    )?;
    Ok("")
}

/// Checks that FPGA memory of a process is not shown to the next one, in whichever way the process ends.
fn of_another_process(lab: &mut Lab) -> Result<&'static str> {
    for (end, fast) in [("killed", false), ("killed", true), ("closed", true)] {
        let (ours, theirs) = pair()?;
        let branch = lab.branch();
        let child = fork("first", move || {
            let mut mover = match fast {
                true => Mover::fast(&branch)?,
                false => Mover::slow(&branch)?,
            };
            let device = mover.device().clone();
            let place = branch.place(&device)?;
            let buffer = Buffer::new(&device.one_page_size(), 512 << 10)?;
            buffer.memory.write(0, &vec![0x77; 512 << 10])?;
            let region = &buffer.region;
            mover.transfer(Direction::ToFpga, region, 0, place, 512 << 10)?;
            theirs.signal()?;
            if end == "killed" {
                // More data is being written when the end comes.
                loop {
                    mover.transfer(Direction::ToFpga, region, 0, place, 512 << 10)?;
                }
            }
            Ok(())
        })?;
        ours.wait()?;
        match end {
            "killed" => child.kill()?,
            _ => child.wait()?,
        }
        let device = lab.open()?;
        let place = lab.place(&device)?;
        let buffer = Buffer::new(&device.one_page_size(), 512 << 10)?;
        for part in [0, 512 * KIB, 1024 * KIB, 1536 * KIB] {
            let range = place + part..place + part + 512 * KIB;
            zero(&device, &buffer, &range).with_context(|| format!("{end}, fast: {fast}"))?;
        }
    }
    Ok("")
}

/// Checks that descriptors that a context writes into its page do not reach the memory of others, however the ends
/// overlap.
fn neighbours(lab: &mut Lab) -> Result<String> {
    let contexts = [(); 3].map(|()| lab.open());
    let [above, own, below] = contexts;
    let [above, own, below] = [above?, own?, below?];
    let [high, mine, low] = [&above, &own, &below].map(|device| allocate(device, GRANULE));
    let [high, mine, low] = [high?, mine?, low?];
    let range = mine.range();
    ensure!(
        (low.range().end, high.base()) == (range.start, range.end),
        "{low:?}, {mine:?}, {high:?}"
    );
    let secrets = [fill(lab, &low.range())?, fill(lab, &high.range())?];
    let buffer = Buffer::new(&own.one_page_size(), 2 * GRANULE as usize)?;
    let peer: AttAddress = buffer.region.att_address();
    buffer.memory.write(0, &vec![0x5a; 2 * GRANULE as usize])?;
    let mut page = Page::new(&own)?;
    let mut tried = 0;
    for direction in Direction::BOTH {
        for (local, length) in [
            (range.start - 64, 64),
            (range.start - 1, 2),
            (range.start - 1, 1),
            (range.end, 1),
            (range.end, 64),
            (range.end - 1, 2),
            (range.start, GRANULE as u32 + 1),
            (range.start - 1, GRANULE as u32 + 1),
            (low.base(), 64),
            (high.base() + 4096, 4096),
            (0, 64),
            (0, 1 << 20),
        ] {
            let end = page.run(direction, peer, local, length)?;
            ensure!(
                end == Err(Fault::LocalRange),
                "{direction} of {length} bytes at {local:#x}: {end:?}"
            );
            tried += 1;
        }
        let end = page.run(direction, peer, range.start, GRANULE as u32)?;
        ensure!(end == Ok(()), "{direction} of all of its own: {end:?}");
    }
    lab.host.fpga_check(low.base(), secrets[0], GRANULE)?;
    lab.host.fpga_check(high.base(), secrets[1], GRANULE)?;
    Ok(format!("{tried} descriptors"))
}

/// Checks that a context whose process writes descriptors itself can neither allocate memory nor free it.
fn one_writer(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let _page = Page::new(&device)?;
    refused(device.allocate(1), Errno::BUSY)?;
    let device = lab.open()?;
    let memory = allocate(&device, GRANULE)?;
    // The transfer that filled the memory has left nothing in the ring, and the channel has no writer yet.
    let buffer = Buffer::new(&device.one_page_size(), 4096)?;
    let mut page = Page::new(&device)?;
    let peer = buffer.region.att_address();
    let end = page.run(Direction::FromFpga, peer, memory.base(), 4096)?;
    ensure!(end == Ok(()), "{end:?}");
    refused(memory.free(), Errno::BUSY)?;
    let end = page.run(Direction::FromFpga, peer, device.range().start, 64)?;
    ensure!(end == Ok(()), "after it was not freed: {end:?}");
    Ok("")
}

/// Returns the bytes that contexts may allocate, from the driver's parameter.
fn pool() -> Result<u64> {
    let parameters = std::env::var("PEERLANE_PARAMETERS").unwrap_or_default();
    let mut words = parameters.split(' ');
    let pool = words.find_map(|word| word.strip_prefix("memory_pool_mib="));
    match pool {
        Some(mib) => Ok(mib.parse::<u64>()? << 20),
        None => skip("the driver was loaded without a pool"),
    }
}

/// Returns the bytes of the board's memory.
fn total(device: &Device) -> u64 {
    device.capabilities().memory_bytes()
}

/// Checks that the pool has its size and no more, and that freed memory can be allocated again.
fn full(lab: &mut Lab) -> Result<&'static str> {
    let pool = pool()?;
    let [one, two, three] = [lab.open()?, lab.open()?, lab.open()?];
    refused(one.allocate(pool + 1), Errno::NOSPC)?;
    refused(one.allocate(total(&one)), Errno::NOSPC)?;
    let most = allocate(&one, pool - GRANULE)?;
    ensure!(most.range().end == total(&one), "{most:?}");
    refused(two.allocate(GRANULE + 1), Errno::NOSPC)?;
    let rest = allocate(&two, GRANULE)?;
    ensure!(rest.base() == total(&one) - pool, "{rest:?}");
    refused(three.allocate(1), Errno::NOSPC)?;
    drop(rest);
    drop(two);
    let rest = allocate(&three, 1)?;
    ensure!(rest.range().end == most.base(), "{rest:?}");
    Ok("")
}

/// Checks that one context at a time can hold all memory outside the pool, with its content.
fn all(lab: &mut Lab) -> Result<&'static str> {
    let pool = pool()?;
    let [holder, second] = [lab.open()?, lab.open()?];
    let end = total(&holder) - pool;
    let [low, high] = [0..GRANULE, end - GRANULE..end];
    let secrets = [fill(lab, &low)?, fill(lab, &high)?];
    let small = allocate(&second, GRANULE)?;
    refused(holder.allocate_all(end + 1), Errno::NOSPC)?;
    let memory = holder.allocate_all(end).map_err(told)?;
    ensure!(memory.range() == (0..end), "{memory:?}");
    lab.host.fpga_check(low.start, secrets[0], GRANULE)?;
    lab.host.fpga_check(high.start, secrets[1], GRANULE)?;
    drop(small);
    refused(second.allocate_all(0), Errno::BUSY)?;
    // Other contexts still have their own memory, next to it.
    let small = allocate(&second, GRANULE)?;
    ensure!(small.base() >= end, "{small:?}");
    drop(small);
    let buffer = Buffer::new(&holder, GRANULE as usize)?;
    let mut mover = Mover::Slow(holder.clone());
    for range in [&low, &high] {
        lab.check(
            &mut mover,
            Direction::FromFpga,
            &buffer,
            0,
            range.start,
            4096,
        )?;
    }
    refused(memory.offer(), Errno::INVAL)?;
    drop((holder, mover, buffer));
    let memory = second.allocate_all(0).map_err(told)?;
    ensure!(memory.range() == (0..end), "{memory:?}");
    Ok("")
}

/// Checks that a privilege is necessary to hold all memory.
fn all_for_whom(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let parameters = std::env::var("PEERLANE_PARAMETERS").unwrap_or_default();
    let everybody = parameters.contains("hold_all=1");
    fork("nobody", move || {
        become_nobody()?;
        match everybody {
            true => {
                let memory = device.allocate_all(0).map_err(told)?;
                ensure!(memory.base() == 0, "{memory:?}");
            }
            false => refused(device.allocate_all(0), Errno::PERM)?,
        }
        // Pieces are for every user who may open the board.
        device.allocate(1).map(drop).or_else(|error| match error {
            Error::Memory {
                source: Errno::EXIST,
                ..
            } if everybody => Ok(()),
            error => Err(told(error)),
        })
    })?
    .wait()?;
    Ok("")
}

/// Checks that offered memory goes to the context that has the token, once, with its content, and to no context after a
/// restart.
fn offered(lab: &mut Lab) -> Result<&'static str> {
    let [giver, taker] = [lab.open()?, lab.open()?];
    let length = usize::try_from(2 * GRANULE)?;
    let buffer = Buffer::new(&taker, length)?;
    let offer = |lab: &mut Lab| -> Result<(Offer, Range<u64>, u64)> {
        let memory = allocate(&giver, 2 * GRANULE)?;
        let range = memory.range();
        let secret = fill(lab, &range)?;
        Ok((memory.offer().map_err(told)?, range, secret))
    };
    let (token, range, secret) = offer(lab)?;
    for bit in [0, 63, 64, 127] {
        let mut wrong = token;
        wrong.0[bit / 64] ^= 1 << (bit % 64);
        refused(taker.take_over(wrong), Errno::NOENT)?;
    }
    // A context that comes without the token gets other memory.
    let other = lab.open()?;
    let beside = allocate(&other, GRANULE)?;
    ensure!(beside.range().end <= range.start, "{beside:?}");
    let memory = taker.take_over(token).map_err(told)?;
    ensure!(memory.range() == range, "{memory:?}, not {range:x?}");
    let mut expected = vec![0; length];
    peerlane_guest::pattern(secret, &mut expected);
    crate::lab::same(&expected, &content(&taker, &buffer, &range)?, 0)?;
    drop(memory);
    refused(taker.take_over(token), Errno::NOENT)?;
    let (second, ..) = offer(lab)?;
    ensure!(second != token, "the same token twice");
    crate::faults::reset()?;
    refused(taker.take_over(second), Errno::NOENT)?;
    let memory = allocate(&taker, 2 * GRANULE)?;
    zero(&taker, &buffer, &memory.range())?;
    Ok("")
}

/// Memory is freed while the board does not answer, and takes no stores. Checks that the channel does not reach it when
/// another one has it.
fn freed_while_absent(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device.one_page_size(), 4096)?;
    let memory = allocate(&device, GRANULE)?;
    let range = memory.range();
    let before = device.query().map_err(told)?.generation;
    lab.host.fault(peerlane_guest::Fault::Absent {})?;
    let freed = raw::with(&device, uapi::FREE, &mut uapi::Free::default());
    lab.host.fault(peerlane_guest::Fault::Clear {})?;
    ensure!(freed == Ok(()), "FREE gave {freed:?}");
    let begin = Instant::now();
    loop {
        let query = device.query().map_err(told)?;
        if query.state == state::GONE {
            // The watchdog has reset the function in that moment, and has given it up.
            reset()?;
        } else if query.state == 0 && query.generation != before {
            break;
        }
        ensure!(begin.elapsed() < LIMIT, "the board stays {query:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
    let next = lab.open()?;
    let others = allocate(&next, GRANULE)?;
    ensure!(
        others.range() == range,
        "{:x?} is free, and {:x?} was given",
        range,
        others.range()
    );
    let secret = fill(lab, &range)?;
    let mut page = Page::new(&device)?;
    for direction in Direction::BOTH {
        let end = page.run(direction, buffer.region.att_address(), range.start, 64)?;
        ensure!(end == Err(Fault::LocalRange), "{direction}: {end:?}");
    }
    lab.host
        .fpga_check(range.start, secret, range.end - range.start)?;
    Ok("")
}
