//! Terms of transfers, and their costs.

use crate::{Bench, LIMIT, Work, bytes, done, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{Direction, Moderation, Request, Terms};
use std::time::Instant;

const LENGTH: usize = 32 << 10;

/// A read, a write that must come after it, and a read after that: the data are right only in this order.
pub fn chained(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (from, from_region) = work.host(LENGTH)?;
    let (to, to_region) = work.host(LENGTH)?;
    let data = pattern(5, LENGTH);
    from.write(0, &data).map_err(told)?;
    let submit = |direction, region, fpga_address, terms| {
        let request = Request {
            direction,
            region,
            offset: 0,
            fpga_address,
            length: LENGTH as u64,
            // More pieces than small queues have slots.
            piece: Some(256),
        };
        work.queue.submit_with(&request, terms).map_err(told)
    };
    let after_to_fpga = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let after_from_fpga = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    let [first, second] = [work.place, work.place + LENGTH as u64];
    let transfers = [
        submit(Direction::ToFpga, &from_region, first, Terms::default())?,
        submit(Direction::FromFpga, &to_region, first, after_to_fpga)?,
        submit(Direction::ToFpga, &to_region, second, after_from_fpga)?,
    ];
    transfers.iter().rev().try_for_each(done)?;
    same("the memory", &bytes(&to)?, &data)?;
    same("FPGA memory", &work.fpga(second, LENGTH)?, &data)
}

/// An interrupt that moderation would delay for good.
pub fn urgent(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let moderation = Moderation {
        count: 200,
        // No limit by time: without urgency no interrupt would come.
        age: 0,
    };
    work.device.moderate(moderation).map_err(told)?;
    let (_memory, region) = work.host(4096)?;
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: work.place,
        length: 4096,
        piece: None,
    };
    let terms = Terms {
        urgent: true,
        ..Terms::default()
    };
    let transfer = work.queue.submit_with(&request, terms).map_err(told)?;
    let begin = work.device.now();
    while work.device.now().saturating_sub(begin) < LIMIT {
        // Other transfers share the interrupt on some boards.
        let event = work.device.poll(Some(LIMIT)).map_err(told)?;
        ensure!(event, "no event");
        if transfer.poll().map_err(told)?.is_some() {
            break;
        }
        work.device.query().map_err(told)?;
    }
    ensure!(transfer.poll().map_err(told)? == Some(4096));
    work.device.moderate(Moderation::default()).map_err(told)
}

/// A write whose end is reported before its data have arrived; a later flush makes them arrive.
pub fn without_a_flush(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(LENGTH)?;
    let data = pattern(7, LENGTH);
    work.set_fpga(work.place, &data)?;
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: work.place,
        length: LENGTH as u64,
        piece: None,
    };
    let terms = Terms {
        no_flush: true,
        ..Terms::default()
    };
    done(&work.queue.submit_with(&request, terms).map_err(told)?)?;
    // The same byte once more, with a flush.
    done(
        &work
            .queue
            .from_fpga(work.place, region.part(0..1))
            .map_err(told)?,
    )?;
    same("the memory", &bytes(&memory)?, &data)
}

/// A transfer that fits one descriptor is one descriptor, and polling it makes no call to wait.
pub fn stores(bench: &dyn Bench) -> Result<()> {
    let begin = Instant::now();
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    work.queue.set_spin(LIMIT);
    for direction in Direction::BOTH {
        let before = work.queue.statistics();
        let transfer = work
            .queue
            .submit(direction, region.part(0..LENGTH as u64), work.place);
        done(&transfer.map_err(told)?)?;
        let after = work.queue.statistics();
        ensure!(after.descriptors - before.descriptors == 1);
        ensure!(after.records - before.records == 1);
        // Seven words and a doorbell at most.
        ensure!(after.stores - before.stores <= 8);
        // Once a second the queue checks the board's generation.
        ensure!(after.system_calls - before.system_calls <= begin.elapsed().as_secs());
    }
    Ok(())
}
