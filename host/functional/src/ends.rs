//! How transfers, queues and regions end.

use crate::{Bench, LIMIT, PLACE, Work, bytes, done, fault_of, pattern, same, told};
use anyhow::{Result, bail, ensure};
use peerlane_host::{Direction, Error, Fault, Region};
use std::time::Duration;

const LENGTH: usize = 128 << 10;

/// Transfers whose handles are dropped complete.
pub fn handles_may_go(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(LENGTH)?;
    let data = pattern(6, LENGTH);
    work.set_fpga(work.place, &data)?;
    work.queue.set_piece(512);
    let chunk = LENGTH as u64 / 16;
    for offset in (0..LENGTH as u64).step_by(chunk as usize) {
        let transfer = work
            .queue
            .from_fpga(work.place + offset, region.part(offset..offset + chunk));
        drop(transfer.map_err(told)?);
    }
    // The last handle of the region: the queue has its own.
    drop(region);
    work.queue.drain(LIMIT).map_err(told)?;
    ensure!(work.queue.under_way() == 0);
    same("the memory", &bytes(&memory)?, &data)
}

/// A result can be asked for repeatedly.
pub fn results_stay(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(4096)?;
    let transfer = work
        .queue
        .from_fpga(work.place, region.part(0..4096))
        .map_err(told)?;
    for _ in 0..3 {
        done(&transfer)?;
        ensure!(transfer.poll().map_err(told)? == Some(4096));
    }
    // After other transfers, too.
    done(
        &work
            .queue
            .to_fpga(region.part(0..4096), work.place)
            .map_err(told)?,
    )?;
    done(&transfer)
}

/// A queue is restarted with transfers under way, and remains usable.
pub fn restarted(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    work.queue.set_piece(256);
    for _ in 0..3 {
        let transfers = Direction::BOTH.map(|direction| {
            work.queue
                .submit(direction, region.part(0..LENGTH as u64), work.place)
        });
        work.queue.restart().map_err(told)?;
        ensure!(work.queue.under_way() == 0);
        for transfer in transfers {
            match transfer.map_err(told)?.poll() {
                Ok(Some(moved)) => ensure!(moved == LENGTH as u64),
                Err(Error::Stopped) => {}
                other => bail!("{other:?} after a restart"),
            }
        }
        work.queue.set_piece(u32::MAX);
        let data = pattern(2, LENGTH);
        work.set_fpga(work.place, &data)?;
        same("FPGA memory", &work.fpga(work.place, LENGTH)?, &data)?;
        work.queue.set_piece(256);
    }
    Ok(())
}

/// A channel that is stopped without transfers under way remains usable.
pub fn stopped(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(4096)?;
    for _ in 0..3 {
        done(
            &work
                .queue
                .from_fpga(work.place, region.part(0..4096))
                .map_err(told)?,
        )?;
        let aborted = work.device.stop(Duration::from_millis(10)).map_err(told)?;
        ensure!(!aborted, "nothing was under way, and something was aborted");
    }
    done(
        &work
            .queue
            .from_fpga(work.place, region.part(0..4096))
            .map_err(told)?,
    )
}

/// A drain waits for transfers that were submitted before it.
pub fn drained(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    work.queue.drain(Duration::ZERO).map_err(told)?;
    work.queue.set_piece(256);
    let length = LENGTH as u64;
    let transfer = work
        .queue
        .from_fpga(work.place, region.part(0..length))
        .map_err(told)?;
    match work.queue.drain(Duration::ZERO) {
        Ok(()) | Err(Error::NotDrained { .. }) => {}
        Err(error) => return Err(told(error)),
    }
    work.queue.drain(LIMIT).map_err(told)?;
    ensure!(transfer.poll().map_err(told)? == Some(length));
    Ok(())
}

/// Transfers that are submitted with an invalidated region end with the fault that the board would report.
pub fn a_forgotten_region(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(4096)?;
    let expected = pattern(8, 4096);
    memory.write(0, &expected).map_err(told)?;
    let stale = region.clone();
    region.forget().map_err(told)?;
    for direction in Direction::BOTH {
        let transfer = work
            .queue
            .submit(direction, stale.part(0..4096), work.place);
        ensure!(fault_of(&transfer.map_err(told)?)? == Fault::AttInvalid);
    }
    same("the memory", &bytes(&memory)?, &expected)?;
    // Other regions remain usable.
    let (_memory, region) = work.host(4096)?;
    done(
        &work
            .queue
            .from_fpga(work.place, region.part(0..4096))
            .map_err(told)?,
    )
}

/// A transfer that waits in the queue fails when its region is invalidated, and does not reach the region that comes
/// after it.
pub fn forgotten_while_queued(bench: &dyn Bench) -> Result<()> {
    const LONG: usize = PLACE as usize;
    const SHORT: usize = 4096;
    let work = Work::new(bench)?;
    let (_long_memory, long) = work.host(LONG)?;
    let expected = pattern(3, SHORT);
    for direction in Direction::BOTH {
        let (memory, region) = work.host(SHORT)?;
        memory.write(0, &pattern(4, SHORT)).map_err(told)?;
        let submit = |region: &Region, length: usize| {
            let length = length as u64;
            let transfer = work
                .queue
                .submit(direction, region.part(0..length), work.place);
            transfer.map_err(told)
        };
        let first = submit(&long, LONG)?;
        let second = submit(&region, SHORT)?;
        region.forget().map_err(told)?;
        // As long as the region before, so that its entries fit.
        let (other, other_region) = work.host(SHORT)?;
        other.write(0, &expected).map_err(told)?;
        ensure!(fault_of(&second)? == Fault::AttInvalid, "{direction:?}");
        done(&first)?;
        same("a region of later", &bytes(&other)?, &expected)?;
        drop(other_region);
    }
    Ok(())
}
