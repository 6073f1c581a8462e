//! Transfers that are called off, or that miss their deadline.

use crate::{Bench, LIMIT, Work, bytes, done, pattern, same, told};
use anyhow::{Result, bail, ensure};
use peerlane_host::{Direction, Error, Transfer};
use std::time::Duration;

const LENGTH: usize = 256 << 10;

/// Checks the result of a called-off transfer: it ended before the call, or because of it.
fn ended(direction: Direction, moved: Result<u64, Error>) -> Result<()> {
    match moved {
        Ok(moved) => ensure!(moved == LENGTH as u64),
        Err(Error::Stopped) => {}
        Err(error) => bail!("{direction:?}: {error:?}"),
    }
    Ok(())
}

/// One of several transfers is called off, in the middle: the others end well, and it is not under way any more.
pub fn called_off(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let length = LENGTH as u64;
    let data = pattern(4, 4096);
    for direction in Direction::BOTH {
        let (memory, region) = work.host(LENGTH)?;
        let (_other_memory, other) = work.host(4096)?;
        // More pieces than the board takes at a time.
        work.queue.set_piece(256);
        let first = work
            .queue
            .submit(direction, region.part(0..length), work.place);
        let first = first.map_err(told)?;
        work.queue.set_piece(u32::MAX);
        let behind = work
            .queue
            .submit(direction, other.part(0..4096), work.place);
        let behind = behind.map_err(told)?;
        let late = first.wait(Duration::from_micros(2));
        ensure!(
            matches!(late, Ok(_) | Err(Error::Timeout { .. })),
            "{late:?}"
        );
        ended(direction, first.stop(LIMIT))?;
        // It stays ended, and the calls can be repeated.
        ended(direction, first.poll().map(Option::unwrap_or_default))?;
        ended(direction, first.stop(Duration::ZERO))?;
        done(&behind)?;
        ensure!(work.queue.under_way() == 0);
        // The memory belongs to the program again.
        memory.write(0, &data).map_err(told)?;
        work.device
            .poll(Some(Duration::from_millis(1)))
            .map_err(told)?;
        let mut found = vec![0; 4096];
        memory.read(0, &mut found).map_err(told)?;
        same("after it was called off", &found, &data)?;
    }
    Ok(())
}

/// A deadline that has passed already, without grace: descriptors of the board are aborted, and the queue remains
/// usable.
pub fn deadline(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let length = LENGTH as u64;
    for direction in Direction::BOTH {
        for piece in [u32::MAX, 256] {
            let (memory, region) = work.host(LENGTH)?;
            work.queue.set_piece(piece);
            let submit = || {
                work.queue
                    .submit(direction, region.part(0..length), work.place)
            };
            let transfers: Vec<Transfer> = (0..3).map(|_| submit()).collect::<Result<_, _>>()?;
            for transfer in &transfers {
                ended(direction, transfer.finish(Duration::ZERO, Duration::ZERO))?;
            }
            ensure!(work.queue.under_way() == 0);
            memory.write(0, &vec![0xee; LENGTH]).map_err(told)?;
            work.device
                .poll(Some(Duration::from_millis(1)))
                .map_err(told)?;
            same("after the deadline", &bytes(&memory)?, &vec![0xee; LENGTH])?;
        }
    }
    work.queue.set_piece(u32::MAX);
    let data = pattern(2, LENGTH);
    work.set_fpga(work.place, &data)?;
    same("FPGA memory", &work.fpga(work.place, LENGTH)?, &data)
}
