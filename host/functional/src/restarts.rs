//! The board is reset and restarted.

use crate::{Bench, LIMIT, Work, bytes, done, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{Direction, Error, Region, Transfer};

const LENGTH: usize = 128 << 10;

/// Begins transfers in both directions, in many pieces.
fn begin(work: &Work, region: &Region) -> Result<Vec<Transfer>> {
    work.queue.set_piece(256);
    let length = LENGTH as u64;
    let begun = Direction::BOTH.map(|direction| {
        let transfer = work
            .queue
            .submit(direction, region.part(0..length), work.place);
        transfer.map_err(told)
    });
    begun.into_iter().collect()
}

/// Checks that region, FPGA memory and queue remain usable.
fn goes_on(work: &Work, region: &Region) -> Result<()> {
    work.queue.set_piece(u32::MAX);
    let data = pattern(12, LENGTH);
    work.set_fpga(work.place, &data)?;
    done(
        &work
            .queue
            .from_fpga(work.place, region.part(0..LENGTH as u64))
            .map_err(told)?,
    )?;
    same("FPGA memory", &work.fpga(work.place, LENGTH)?, &data)
}

/// Transfers under way end with the restart, in every context; regions and FPGA memory stay.
pub fn under_way(bench: &dyn Bench) -> Result<()> {
    let works = [Work::new(bench)?, Work::new(bench)?];
    let [one, other] = &works;
    let buffers = [one.host(LENGTH)?, other.host(LENGTH)?];
    for _ in 0..2 {
        let mut transfers = Vec::new();
        for (work, (_, region)) in works.iter().zip(&buffers) {
            transfers.extend(begin(work, region)?);
        }
        if !bench.reset()? {
            return Ok(());
        }
        for transfer in &transfers {
            let ended = transfer.wait(LIMIT);
            ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
        }
        for (work, (memory, region)) in works.iter().zip(&buffers) {
            ensure!(work.queue.under_way() == 0);
            goes_on(work, region)?;
            same("the memory", &bytes(memory)?, &pattern(12, LENGTH))?;
        }
    }
    Ok(())
}

/// A query of the device next to a queue takes nothing from the queue: the generation has changed, polls alone find the
/// ended transfers, and the next transfer completes.
pub fn query_beside_a_queue(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    let before = work.device.query().map_err(told)?.generation;
    let transfers = begin(&work, &region)?;
    if !bench.reset()? {
        return Ok(());
    }
    let after = work.device.query().map_err(told)?.generation;
    ensure!(after != before, "generation {after} as before");
    let again = work.device.query().map_err(told)?.generation;
    ensure!(again == after, "generation {again} without a restart");
    for transfer in &transfers {
        let ended = transfer.poll();
        ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
    }
    goes_on(&work, &region)
}

/// A queue that is made after a restart, and a queue that is restarted itself after it, are like new.
pub fn queues_after(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (_memory, region) = work.host(LENGTH)?;
    let transfers = begin(&work, &region)?;
    let late = bench.open()?;
    let place = late.allocate(LENGTH as u64).map_err(told)?.keep().start;
    if !bench.reset()? {
        return Ok(());
    }
    work.queue.restart().map_err(told)?;
    for transfer in &transfers {
        let ended = transfer.poll();
        ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
    }
    goes_on(&work, &region)?;
    let queue = late.queue().map_err(told)?;
    let late = Work {
        device: late,
        queue,
        place,
    };
    let (_memory, region) = late.host(LENGTH)?;
    goes_on(&late, &region)
}
