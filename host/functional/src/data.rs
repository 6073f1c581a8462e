//! Data arrive completely, and nowhere else.

use crate::{Bench, LIMIT, Work, bytes, done, pattern, same, told};
use anyhow::{Context, Result, ensure};
use peerlane_host::{Device, Direction, Memory, MemoryKind, Permissions, Region, Request};

/// Bytes of each guard.
const GUARD: usize = 64;

/// Moves `length` bytes from `offset` of a memory into FPGA memory and back into another memory, with
/// guards around all places.
fn there_and_back(
    work: &Work,
    kind: MemoryKind,
    (offset, shift, length): (usize, usize, usize),
) -> Result<()> {
    let size = offset + length + GUARD;
    let (from, from_region) = work.buffer(kind, size)?;
    let (to, to_region) = work.buffer(kind, size)?;
    let data = pattern(1, size);
    let mut expected = pattern(2, size);
    from.write(0, &data).map_err(told)?;
    to.write(0, &expected).map_err(told)?;
    let around = pattern(3, length + 2 * GUARD);
    let start = work.place + shift as u64;
    work.set_fpga(start, &around)?;
    let (local, length_64) = (start + GUARD as u64, length as u64);
    let read = work.queue.to_fpga(
        from_region.part(offset as u64..offset as u64 + length_64),
        local,
    );
    done(&read.map_err(told)?).context("read")?;
    let write = work.queue.from_fpga(
        local,
        to_region.part(offset as u64..offset as u64 + length_64),
    );
    done(&write.map_err(told)?).context("write")?;
    let part = offset..offset + length;
    let mut fpga = around;
    fpga[GUARD..GUARD + length].copy_from_slice(&data[part.clone()]);
    same("FPGA memory", &work.fpga(start, fpga.len())?, &fpga)?;
    expected[part.clone()].copy_from_slice(&data[part]);
    same("the memory read", &bytes(&from)?, &data)?;
    same("the memory written", &bytes(&to)?, &expected)
}

/// Moves ranges with both ends at every place in a word.
pub fn every_alignment(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    for offset in 0..8 {
        for shift in [0, 1, 3, 6] {
            let place = (4093 + offset, 4096 - GUARD + shift, 21);
            there_and_back(&work, MemoryKind::Host, place).with_context(|| format!("{place:?}"))?;
        }
    }
    Ok(())
}

/// Lengths around the sizes of beats, requests and pages, in every kind of memory.
pub fn every_length(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    for kind in bench.kinds() {
        for place in [
            (0, 0, 1),
            (1, 1, 2),
            (0, 64, 64),
            (255, 7, 513),
            (4095, 127, 4097),
            (0, 0, 65_536),
            (12_345, 54_321, 150_001),
        ] {
            let what = || format!("{kind:?} memory, {place:?}");
            there_and_back(&work, *kind, place).with_context(what)?;
        }
    }
    Ok(())
}

/// A region of a part of a memory.
pub fn ranges_keep_their_offset(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let memory = work
        .device
        .memory(MemoryKind::Host, 128 << 10)
        .map_err(told)?;
    let range = 5000..105_000;
    let region = work.device.register(&memory, range, Permissions::Write);
    let region = region.map_err(told)?;
    ensure!(region.length() == 100_000);
    let data = pattern(9, 3000);
    work.set_fpga(work.place, &data)?;
    let write = work.queue.from_fpga(work.place, region.part(7000..10000));
    done(&write.map_err(told)?)?;
    let mut expected = vec![0; memory.length()];
    expected[12_000..15_000].copy_from_slice(&data);
    same("the memory", &bytes(&memory)?, &expected)
}

/// More descriptors than queue and ring take.
pub fn larger_than_the_queue(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let pieces = 3 * work.device.capabilities().queue_depth() as usize;
    work.queue.set_piece(100);
    let length = (pieces * 100 + 1).min(256 << 10);
    let (from, from_region) = work.host(length)?;
    let (to, to_region) = work.host(length)?;
    let data = pattern(5, length);
    from.write(0, &data).map_err(told)?;
    let read = work
        .queue
        .to_fpga(from_region.part(0..length as u64), work.place);
    done(&read.map_err(told)?)?;
    let write = work
        .queue
        .from_fpga(work.place, to_region.part(0..length as u64));
    done(&write.map_err(told)?)?;
    same("the memory", &bytes(&to)?, &data)
}

/// Writes and reads under way together, waited for last first.
pub fn both_directions_at_once(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let length = 64 << 10;
    let data = pattern(3, length);
    let [first, second] = [work.place, work.place + length as u64];
    work.set_fpga(first, &data)?;
    let (to, to_region) = work.host(length)?;
    let (from, from_region) = work.host(length)?;
    let other = pattern(4, length);
    from.write(0, &other).map_err(told)?;
    work.queue.set_piece(4096);
    let (mut transfers, chunk) = (Vec::new(), 16 << 10);
    for offset in (0..length as u64).step_by(chunk as usize) {
        for direction in Direction::BOTH {
            let (region, local) = match direction {
                Direction::FromFpga => (&to_region, first + offset),
                Direction::ToFpga => (&from_region, second + offset),
            };
            let transfer = work
                .queue
                .submit(direction, region.part(offset..offset + chunk), local);
            transfers.push(transfer.map_err(told)?);
        }
    }
    transfers.iter().rev().try_for_each(done)?;
    ensure!(work.queue.under_way() == 0);
    same("the memory written", &bytes(&to)?, &data)?;
    same("FPGA memory", &work.fpga(second, length)?, &other)
}

/// Several threads wait for transfers of one queue.
pub fn threads_share_a_queue(bench: &dyn Bench) -> Result<()> {
    const EACH: usize = 32 << 10;
    let work = Work::new(bench)?;
    let work = &work;
    work.queue.set_piece(4096);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3u8)
            .map(|seed| {
                scope.spawn(move || -> Result<()> {
                    let place = work.place + u64::from(seed) * EACH as u64;
                    let (memory, region) = work.host(EACH)?;
                    for round in 0..4 {
                        let data = pattern(16 * round + seed, EACH);
                        memory.write(0, &data).map_err(told)?;
                        let length = EACH as u64;
                        let read = work
                            .queue
                            .to_fpga(region.part(0..length), place)
                            .map_err(told)?;
                        ensure!(read.wait(LIMIT).map_err(told)? == length);
                        memory.write(0, &vec![0; EACH]).map_err(told)?;
                        done(
                            &work
                                .queue
                                .from_fpga(place, region.part(0..length))
                                .map_err(told)?,
                        )?;
                        same("the memory", &bytes(&memory)?, &data)?;
                    }
                    Ok(())
                })
            })
            .collect();
        let mut threads = threads.into_iter();
        threads.try_for_each(|thread| thread.join().expect("it does not panic"))
    })
}

/// Huge pages of the tests' computers.
const HUGE: u64 = 2 << 20;

/// Allocates memory of two huge pages, with 8 KiB before them and a page after them. Returns its start, too.
fn around_huge_pages(bench: &dyn Bench, device: &Device) -> Result<(Memory, Region, usize)> {
    const LENGTH: usize = (2 * HUGE as usize) + (12 << 10);
    let space = LENGTH + 2 * HUGE as usize;
    // With one more byte in each page, because huge pages are made when they are touched.
    let memory = match bench.takes_addresses() {
        true => Memory::new(space),
        false => device.memory(MemoryKind::Host, space),
    };
    let memory = memory.map_err(told)?;
    memory.write(0, &pattern(7, space)).map_err(told)?;
    let start = (memory.address() + (8 << 10)).next_multiple_of(HUGE) - (8 << 10);
    let start = (start - memory.address()) as usize;
    let region = device.register(&memory, start..start + LENGTH, Permissions::ReadWrite);
    Ok((memory, region.map_err(told)?, start))
}

/// Transfers across the places where the size of a region's pages changes.
pub fn pages_of_two_sizes(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region, start) = around_huge_pages(bench, &work.device)?;
    let extents: Vec<u64> = region.extents().iter().map(|one| one.length).collect();
    if bench.shows_huge_pages() {
        ensure!(extents == [8 << 10, 2 * HUGE, 4 << 10], "{extents:?}");
    }
    let mut expected = bytes(&memory)?;
    for (number, seam) in [(11, 8 << 10), (12, (8 << 10) + 2 * HUGE)] {
        for (before, behind) in [(1, 1), (1500, 1503), (4096, 4096)] {
            let (first, length) = (seam - before, before + behind);
            let place = start + first as usize;
            let data = expected[place..place + length as usize].to_vec();
            let read = work
                .queue
                .to_fpga(region.part(first..first + length), work.place);
            done(&read.map_err(told)?).context("read")?;
            same("FPGA memory", &work.fpga(work.place, data.len())?, &data)?;
            let data = pattern(number, data.len());
            work.set_fpga(work.place, &data)?;
            let write = work
                .queue
                .from_fpga(work.place, region.part(first..first + length));
            done(&write.map_err(told)?).context("write")?;
            expected[place..place + data.len()].copy_from_slice(&data);
        }
    }
    same("the memory", &bytes(&memory)?, &expected)?;
    // One descriptor does not cross from one extent to the next.
    let request = Request {
        piece: None,
        ..Request::new(
            Direction::ToFpga,
            region.part((8 << 10) - 4..(8 << 10) + 4),
            work.place,
        )
    };
    let described = work.device.describe(&request, 1);
    ensure!(described.is_ok() == (extents.len() == 1), "{described:?}");
    // A program that computes addresses gets one extent.
    drop(region);
    let device = work.device.one_page_size();
    let region = device.register(&memory, start..start + 8200, Permissions::Read);
    let region = region.map_err(told)?;
    ensure!(region.extents().iter().count() == 1);
    Ok(())
}
