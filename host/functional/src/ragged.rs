//! Writes that begin and end anywhere, also where the board writes whole dwords only: exactly the bytes of the range
//! change.

use crate::{Bench, LIMIT, Work, bytes, done, pattern, same, told};
use anyhow::{Context, Result, ensure};
use peerlane_host::{Course, Direction, Error, Memory, Permissions, Region, Request, Terms};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of FPGA memory that the tests take data from.
const SOURCE: usize = 128 << 10;

/// Memory that a test writes, and the bytes that it must have.
struct Target {
    memory: Memory,
    region: Region,
    expected: Vec<u8>,
}

impl Target {
    fn new(work: &Work, (memory, region): (Memory, Region)) -> Result<(Self, Vec<u8>)> {
        let data = pattern(0x5a, SOURCE);
        work.set_fpga(work.place, &data)?;
        let expected = pattern(0x91, memory.length());
        memory.write(0, &expected).map_err(told)?;
        let target = Self {
            memory,
            region,
            expected,
        };
        Ok((target, data))
    }

    fn request(&mut self, work: &Work, data: &[u8], at: usize, from: Range<usize>) -> Request<'_> {
        let length = from.len();
        self.expected[at..at + length].copy_from_slice(&data[from.clone()]);
        Request {
            direction: Direction::FromFpga,
            region: &self.region,
            offset: at as u64,
            fpga_address: work.place + from.start as u64,
            length: length as u64,
            piece: None,
        }
    }

    fn check(&self, what: &str) -> Result<()> {
        same(what, &bytes(&self.memory)?, &self.expected)
    }
}

/// Every start and every end in a dword, for all lengths up to 80 bytes, from every place in a dword of FPGA memory.
pub fn every_end(bench: &dyn Bench) -> Result<()> {
    const EACH: usize = 96;
    let work = Work::new(bench)?;
    for kind in bench.kinds() {
        let (mut target, data) = Target::new(&work, work.buffer(*kind, 81 * EACH)?)?;
        for start in 0..4 {
            let mut transfers = Vec::new();
            for length in 1..=80 {
                let from = 1000 * start + 7 * length;
                let at = length * EACH + start;
                let request = target.request(&work, &data, at, from..from + length);
                let transfer = work.queue.submit_with(&request, Terms::default());
                transfers.push(transfer.map_err(told)?);
            }
            transfers.iter().try_for_each(done)?;
            target.check(&format!("{kind:?} memory, from byte {start} of a dword on"))?;
        }
    }
    Ok(())
}

/// Writes around the end of a page, and in several descriptors.
pub fn around_a_page(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (mut target, data) = Target::new(&work, work.host(SOURCE)?)?;
    for piece in [u32::MAX, 4096, 1021, 3] {
        work.queue.set_piece(piece);
        let large = if piece < 100 { 67 } else { 70_001 };
        for start in 0..4 {
            for (at, length) in [
                (4090 + start, 9),
                (4093 + start, 4097 + start),
                (8192 - 80, 80 + start),
                (12_288 + start, large),
            ] {
                let from = 5 + start;
                let request = target.request(&work, &data, at, from..from + length);
                let write = work.queue.submit_with(&request, Terms::default());
                done(&write.map_err(told)?).with_context(|| format!("{length} bytes at {at}"))?;
            }
            target.check(&format!("pieces of {piece}"))?;
        }
    }
    Ok(())
}

/// A read that is chained after such a write sees all of its bytes, and later writes stay.
pub fn in_order(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (mut target, data) = Target::new(&work, work.host(4096)?)?;
    let copy = work.place + SOURCE as u64;
    let behind = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    for round in 0..8 {
        let start = round % 4;
        let mut all = Vec::new();
        // The last of these wins, byte by byte: ragged over ragged, whole dwords over an end, an end over whole dwords.
        for (at, length) in [
            (start, 6),
            (4 + start, 9),
            (8, 8),
            (13, 2),
            (16, 5),
            (20, 8),
        ] {
            let from = 100 * round + 10 * at;
            let request = target.request(&work, &data, at, from..from + length);
            let write = work.queue.submit_with(&request, Terms::default());
            all.push(write.map_err(told)?);
        }
        let read = Request {
            direction: Direction::ToFpga,
            region: &target.region,
            offset: 0,
            fpga_address: copy,
            length: 32,
            piece: None,
        };
        let read = work.queue.submit_with(&read, behind).map_err(told)?;
        // Only the last one is waited for.
        done(&read)?;
        for write in &all {
            ensure!(write.poll().map_err(told)?.is_some(), "it ends later");
        }
        same(
            "the bytes that were read",
            &work.fpga(copy, 32)?,
            &target.expected[..32],
        )?;
        target.check("the memory")?;
    }
    Ok(())
}

/// Another thread writes the other bytes of both dwords concurrently.
pub fn neighbours(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (mut target, data) = Target::new(&work, work.host(64)?)?;
    let memory = target.memory.clone();
    let over = AtomicBool::new(false);
    // Bytes of the first dword and of the last one.
    let theirs = [4, 11];
    std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let mut byte = 0_u8;
            loop {
                byte = byte.wrapping_add(1);
                for at in theirs {
                    memory.write(at, &[byte]).map_err(told)?;
                }
                std::thread::yield_now();
                for at in theirs {
                    let mut found = [0];
                    memory.read(at, &mut found).map_err(told)?;
                    ensure!(found == [byte], "byte {at} is {found:?}, not {byte}");
                }
                if over.load(Ordering::Relaxed) {
                    return Ok(byte);
                }
            }
        });
        let written = (0..200).try_for_each(|round| {
            let from = round % 60;
            let request = target.request(&work, &data, 5, from..from + 6);
            let write = work.queue.submit_with(&request, Terms::default());
            done(&write.map_err(told)?)
        });
        over.store(true, Ordering::Relaxed);
        let last = neighbour.join().expect("it does not panic")?;
        written?;
        for at in theirs {
            target.expected[at] = last;
        }
        target.check("the memory")
    })
}

/// A list of parts that all begin and end inside of dwords, and a stream of odd slots.
pub fn lists_and_streams(bench: &dyn Bench) -> Result<()> {
    const SLOT: usize = 1021;
    let work = Work::new(bench)?;
    let (mut target, data) = Target::new(&work, work.host(16 << 10)?)?;
    let (mut at, mut from, mut places) = (3, 1, Vec::new());
    for length in [1, 2, 3, 5, 64, 1021, 7, 4096, 2] {
        target.request(&work, &data, at, from..from + length);
        places.push((at as u64, work.place + from as u64, length as u64));
        at += length + 1;
        from += length;
    }
    let part = |&(offset, fpga_address, length)| Request {
        direction: Direction::FromFpga,
        region: &target.region,
        offset,
        fpga_address,
        length,
        piece: None,
    };
    let parts: Vec<_> = places.iter().map(part).collect();
    let list = work.queue.submit_list(&parts, Terms::default());
    list.map_err(told)?.wait(LIMIT).map_err(told)?;
    target.check("the memory of a list")?;

    let length = 9 * SLOT + 13;
    let course = Course {
        direction: Direction::FromFpga,
        region: target.region.clone(),
        offset: 5,
        slot: SLOT as u64,
        slots: 3,
        fpga: work.place..work.place + 10 * SLOT as u64,
        length: Some(length as u64),
    };
    let mut stream = work.queue.stream(course).map_err(told)?;
    let mut found = Vec::new();
    while let Some(turn) = stream.next(LIMIT).map_err(told)? {
        let mut slot = vec![0; turn.length() as usize];
        let at = turn.offset() as usize;
        target.memory.read(at, &mut slot).map_err(told)?;
        found.extend(slot);
    }
    same("the stream", &found, &data[..length])
}

/// All bytes are in their places, whichever way a program learns of the end.
pub fn however_it_ends(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (mut target, data) = Target::new(&work, work.host(4096)?)?;
    for round in 0..5 {
        let at = 100 * round + 1;
        let request = target.request(&work, &data, at, round..round + 93);
        let write = work.queue.submit_with(&request, Terms::default());
        let write = write.map_err(told)?;
        match round {
            0 => {
                while write.poll().map_err(told)?.is_none() {
                    work.device
                        .poll(Some(Duration::from_millis(1)))
                        .map_err(told)?;
                }
            }
            1 => ensure!(work.queue.block_on(write.ended()).map_err(told)? == 93),
            2 => work.queue.drain(LIMIT).map_err(told)?,
            3 => {
                // The board has its descriptors by now, so it ends well; or it was stopped before.
                match write.stop(LIMIT) {
                    Ok(moved) => ensure!(moved == 93),
                    Err(Error::Stopped) => return Ok(()),
                    Err(error) => return Err(told(error)),
                }
            }
            _ => {
                // Its handle is dropped.
                drop(write);
                work.queue.drain(LIMIT).map_err(told)?;
            }
        }
        target.check(&format!("the memory, round {round}"))?;
    }
    Ok(())
}

/// Memory of the process, registered by its address.
pub fn by_its_address(bench: &dyn Bench) -> Result<()> {
    if !bench.takes_addresses() {
        return Ok(());
    }
    let work = Work::new(bench)?;
    let data = pattern(0x5a, SOURCE);
    work.set_fpga(work.place, &data)?;
    let memory = Memory::new(16 << 10).map_err(told)?;
    let mut expected = vec![0; memory.length()];
    // The region itself begins and ends inside of a dword.
    let (first, length) = (4099, 9001);
    let address = memory.address() + first;
    // SAFETY: the memory outlives the region, and there are no references to it.
    let region = unsafe { (work.device).register_address(address, length, Permissions::Write) };
    let region = region.map_err(told)?;
    for (offset, length) in [(0, 1), (2, 2), (5, 4000), (8998, 3), (1, 9000)] {
        let write = work
            .queue
            .from_fpga(work.place + 3, region.part(offset..offset + length));
        done(&write.map_err(told)?)?;
        let (at, length) = ((first + offset) as usize, length as usize);
        expected[at..at + length].copy_from_slice(&data[3..3 + length]);
        same("the memory", &bytes(&memory)?, &expected)?;
    }
    Ok(())
}
