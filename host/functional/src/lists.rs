//! Scatter lists.

use crate::{Bench, LIMIT, Work, bytes, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{Direction, Error, Region, Request, Terms};

const LENGTH: usize = 48 << 10;

/// Lengths that are not multiples of anything, so that each part begins elsewhere in its page.
const STRETCHES: [usize; 7] = [1, 4095, 63, 8192, 777, 12_289, 300];

fn part<'a>(
    direction: Direction,
    region: &'a Region,
    offset: usize,
    fpga_address: u64,
    length: usize,
) -> Request<'a> {
    Request {
        direction,
        region,
        offset: offset as u64,
        fpga_address,
        length: length as u64,
        piece: None,
    }
}

/// Pieces of two memories are gathered in FPGA memory, and scattered from there in another order, by one list each.
pub fn both_directions(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (one, one_region) = work.host(LENGTH)?;
    let (other, other_region) = work.host(LENGTH)?;
    let (to, to_region) = work.host(LENGTH)?;
    let data = [pattern(5, LENGTH), pattern(9, LENGTH)];
    one.write(0, &data[0]).map_err(told)?;
    other.write(0, &data[1]).map_err(told)?;
    to.write(0, &[0xee; LENGTH]).map_err(told)?;

    let (mut gather, mut scatter, mut expected) = (Vec::new(), Vec::new(), vec![0xee; LENGTH]);
    let (mut offset, mut end, mut fpga) = (17, LENGTH, work.place + 3);
    for (index, length) in STRETCHES.into_iter().enumerate() {
        let region = [&one_region, &other_region][index % 2];
        gather.push(part(Direction::ToFpga, region, offset, fpga, length));
        // From the end of the memory backwards, with holes of 5 bytes.
        end -= length + 5;
        scatter.push(part(Direction::FromFpga, &to_region, end, fpga, length));
        expected[end..end + length].copy_from_slice(&data[index % 2][offset..offset + length]);
        offset += length + 11;
        fpga += length as u64;
    }
    let moved: usize = STRETCHES.iter().sum();
    let gathered = work.queue.submit_list(&gather, Terms::default());
    let gathered = gathered.map_err(told)?;
    ensure!(gathered.length() == moved as u64 && gathered.parts().len() == STRETCHES.len());
    // After the reads, without a wait in the program.
    let terms = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let scattered = work.queue.submit_list(&scatter, terms).map_err(told)?;
    ensure!(scattered.wait(LIMIT).map_err(told)? == moved as u64);
    ensure!(gathered.poll().map_err(told)? == Some(moved as u64));
    ensure!(scattered.poll().map_err(told)? == Some(moved as u64));
    ensure!(work.queue.under_way() == 0);
    same("the memory", &bytes(&to)?, &expected)
}

/// A list with a wrong part moves nothing at all.
pub fn wrong_part(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(4096)?;
    let before = work.queue.statistics().descriptors;
    let good = part(Direction::FromFpga, &region, 0, work.place, 64);
    let wrong = [
        part(Direction::FromFpga, &region, 4095, work.place, 2),
        part(Direction::FromFpga, &region, 0, work.place, 0),
        part(Direction::ToFpga, &region, 0, u64::MAX, 64),
    ];
    for wrong in wrong {
        let list = work.queue.submit_list(&[good, wrong], Terms::default());
        ensure!(list.is_err(), "{wrong:?}");
    }
    let none = work.queue.submit_list(&[], Terms::default());
    ensure!(matches!(none, Err(Error::Empty { .. })));
    ensure!(work.queue.statistics().descriptors == before && work.queue.under_way() == 0);
    same("the memory", &bytes(&memory)?, &[0; 4096])
}
