//! Streams through memory that is shorter than the stream.

use crate::{Bench, LIMIT, Work, pattern, same, told};
use anyhow::{Context, Result, ensure};
use peerlane_host::{Course, Direction, Error, Region};
use std::time::Duration;

const SLOT: usize = 4096;

/// Several times the slots, and not a multiple of one.
const LENGTH: usize = 7 * SLOT + 1234;

fn course(work: &Work, direction: Direction, region: &Region, slots: u64) -> Course {
    Course {
        direction,
        region: region.clone(),
        offset: 100,
        slot: SLOT as u64,
        slots,
        fpga: work.place..work.place + 8 * SLOT as u64,
        length: Some(LENGTH as u64),
    }
}

/// All data come, in their order, with two and with three slots; a slot that the program has is not written.
pub fn from_the_fpga(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let data = pattern(3, LENGTH);
    work.set_fpga(work.place, &data)?;
    for slots in [2, 3] {
        let (memory, region) = work.host(100 + slots * SLOT)?;
        let course = course(&work, Direction::FromFpga, &region, slots as u64);
        let mut stream = work.queue.stream(course).map_err(told)?;
        let mut found = Vec::new();
        while let Some(turn) = stream.next(LIMIT).map_err(told)? {
            ensure!(turn.position() == found.len() as u64);
            let mut now = vec![0; turn.length() as usize];
            let (mut later, at) = (now.clone(), turn.offset() as usize);
            memory.read(at, &mut now).map_err(told)?;
            // The board works on the other slots.
            let (_other, other) = work.host(SLOT)?;
            let beside = work
                .queue
                .to_fpga(other.part(0..64), work.place + (LENGTH as u64));
            beside.map_err(told)?.wait(LIMIT).map_err(told)?;
            memory.read(at, &mut later).map_err(told)?;
            same("a slot that is the program's", &later, &now)?;
            found.extend(now);
        }
        same("the stream", &found, &data)?;
        ensure!(stream.position() == LENGTH as u64);
        ensure!(stream.next(LIMIT).map_err(told)?.is_none());
        ensure!(work.queue.under_way() == 0);
    }
    Ok(())
}

/// In the end, FPGA memory has the data that the program wrote into each slot in turn.
pub fn to_the_fpga(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let data = pattern(8, LENGTH);
    let (memory, region) = work.host(100 + 2 * SLOT)?;
    let course = course(&work, Direction::ToFpga, &region, 2);
    let mut stream = work.queue.stream(course).map_err(told)?;
    while let Some(turn) = stream.next(LIMIT).map_err(told)? {
        let from = turn.position() as usize;
        let part = &data[from..from + turn.length() as usize];
        memory.write(turn.offset() as usize, part).map_err(told)?;
    }
    stream.finish(LIMIT).map_err(told)?;
    ensure!(work.queue.under_way() == 0);
    same("FPGA memory", &work.fpga(work.place, LENGTH)?, &data)
}

/// A stream without an end wraps in FPGA memory until it is stopped; then nothing is written any more. Wrong settings
/// are refused.
pub fn without_an_end(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let data = pattern(6, 8 * SLOT);
    work.set_fpga(work.place, &data)?;
    let (memory, region) = work.host(100 + 2 * SLOT)?;
    let endless = Course {
        length: None,
        ..course(&work, Direction::FromFpga, &region, 2)
    };
    for wrong in [
        Course {
            slots: 1,
            ..endless.clone()
        },
        Course {
            slot: 0,
            ..endless.clone()
        },
        Course {
            slot: 4095,
            ..endless.clone()
        },
        Course {
            length: Some(0),
            ..endless.clone()
        },
    ] {
        let refused = work.queue.stream(wrong);
        ensure!(matches!(refused, Err(Error::Course { .. })), "{refused:?}");
    }
    let mut stream = work.queue.stream(endless).map_err(told)?;
    for round in 0..20 {
        let turn = stream.next(LIMIT).map_err(told)?.context("it has ended")?;
        let mut found = vec![0; SLOT];
        memory
            .read(turn.offset() as usize, &mut found)
            .map_err(told)?;
        let from = round % 8 * SLOT;
        same("a round", &found, &data[from..from + SLOT])?;
    }
    stream.stop(LIMIT).map_err(told)?;
    ensure!(work.queue.under_way() == 0);
    memory.write(0, &vec![0xee; 100 + 2 * SLOT]).map_err(told)?;
    // Time for bytes that would be under way.
    work.device
        .poll(Some(Duration::from_millis(1)))
        .map_err(told)?;
    let mut found = vec![0; 100 + 2 * SLOT];
    memory.read(0, &mut found).map_err(told)?;
    same("after the stop", &found, &vec![0xee; 100 + 2 * SLOT])
}
