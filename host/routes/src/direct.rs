//! Copies between the devices, without the host's memory.

use crate::board::{Board, Moving};
use crate::error::{Error, Result};
use crate::limits::{GRACE, Watch};
use crate::push::Push;
use crate::side::{Pending, Reach, Side};
use peerlane_host::{Device, Direction, Permissions};
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes of a side's memory that are registered at a time: as many as the thesis pins at a time (5.5). Two such ranges
/// are registered while a copy goes from one to the next, where there is room for both; a side's BAR does not have to
/// show all of its memory.
const WINDOW: u64 = 32 << 20;

/// Fewest bytes that are tried where a side cannot show so many.
const LEAST_WINDOW: u64 = 64 << 10;

/// Bytes of one transfer: the most that are still moved after a copy was cancelled.
const SLICE: u64 = 4 << 20;

/// Transfers in progress at a time. The board has its next one before the last has ended.
const AHEAD: usize = 4;

/// Most ranges that stay registered.
const KEPT: usize = 6;

/// Ranges of a side that a board reaches, the latest last.
#[derive(Debug)]
pub(crate) struct Reached {
    ranges: Vec<(Range<u64>, Permissions, Reach)>,
    /// Bytes of a range that there was room for last.
    window: u64,
    /// Whether there may be room for more by now.
    grows: bool,
}

impl Default for Reached {
    fn default() -> Self {
        Self {
            ranges: Vec::new(),
            window: WINDOW,
            grows: false,
        }
    }
}

impl Reached {
    /// Begins a copy: there may be room by now that was missing before.
    fn begin(&mut self) {
        self.grows = true;
    }

    /// Returns a range that contains a place, registered for the board, up to `end` at most. While a transfer is in
    /// progress no range is dropped for this one: the transfer keeps its range registered, so that the drop would make
    /// no room.
    fn at(
        &mut self,
        (board, side): (&Board, &dyn Side),
        place: u64,
        permissions: Permissions,
        under_way: bool,
    ) -> Result<(Range<u64>, Reach)> {
        // The board reads such memory again once it is registered again.
        let doubted = |(_, _, reach): &mut (_, _, Reach)| reach.region.is_doubted();
        for (_, _, reach) in self.ranges.extract_if(.., doubted) {
            take_back(reach);
        }
        let fits = |(range, known, _): &(Range<u64>, Permissions, Reach)| {
            range.contains(&place) && *known == permissions
        };
        if let Some(found) = self.ranges.iter().position(fits) {
            let entry = self.ranges.remove(found);
            let answer = (entry.0.clone(), entry.2.clone());
            self.ranges.push(entry);
            return Ok(answer);
        }
        if self.grows && self.window < WINDOW {
            let more = 2 * self.window;
            match self.enter((board, side), place, permissions, more) {
                Ok(entered) => {
                    self.window = more;
                    return Ok(entered);
                }
                Err(error) if error.lacks_room() => self.grows = false,
                Err(error) => return Err(error),
            }
        }
        loop {
            match self.enter((board, side), place, permissions, self.window) {
                Err(error) if error.lacks_room() => {
                    // There may be room for it without the other ranges, or for a shorter one.
                    if under_way {
                        return Err(error);
                    } else if !self.ranges.is_empty() {
                        self.ranges.remove(0);
                    } else if self.window > LEAST_WINDOW && side.length() > LEAST_WINDOW {
                        self.window /= 2;
                        self.grows = false;
                    } else {
                        return Err(error);
                    }
                }
                entered => return entered,
            }
        }
    }

    /// Registers the range of so many bytes that contains a place.
    fn enter(
        &mut self,
        (board, side): (&Board, &dyn Side),
        place: u64,
        permissions: Permissions,
        window: u64,
    ) -> Result<(Range<u64>, Reach)> {
        // Windows of one size, so that the next copy finds them.
        let start = place / window * window;
        let range = start..(start + window).min(side.length());
        // The probe has proved that the board can read here.
        let reach = side.reach(&board.device().proved_only(), range.clone(), permissions)?;
        if self.ranges.len() >= KEPT {
            self.ranges.remove(0);
        }
        let entry = (range.clone(), permissions, reach.clone());
        self.ranges.push(entry);
        Ok((range, reach))
    }

    /// Drops all ranges. The driver may cache them.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Unregisters all ranges: a driver must not use a cached region for the next registration of the same memory.
    pub(crate) fn forget(&mut self) {
        for (_, _, reach) in self.ranges.drain(..) {
            take_back(reach);
        }
    }
}

/// Unregisters memory. If that fails now, the driver unregisters it when the region is dropped.
fn take_back(reach: Reach) {
    let _ = reach.region.forget();
}

/// Bytes that a device pushes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PushJob {
    /// First byte in the device's memory.
    pub(crate) at: u64,
    /// First byte in FPGA memory.
    pub(crate) fpga: u64,
    pub(crate) length: u64,
}

/// What is moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) direction: Direction,
    /// First byte in FPGA memory.
    pub(crate) fpga: u64,
    /// First byte in the side's memory.
    pub(crate) at: u64,
    pub(crate) length: u64,
    /// Access of the board to the side's memory.
    pub(crate) permissions: Permissions,
}

/// Transfers in progress, the oldest first.
struct Flight<P>(VecDeque<(P, u64)>);

impl<P: Pending> Flight<P> {
    /// Ends them, after an error. Returns the error for the caller.
    fn end(&mut self, error: Error) -> Error {
        // While the first one ends, the board gets nothing of the others.
        for (moving, _) in &mut self.0 {
            moving.call_off();
        }
        let parts = self.0.iter_mut();
        let going_on = parts.filter_map(|(moving, _)| (!moving.end(GRACE)).then_some(()));
        error.with(going_on.count())
    }
}

/// Copies by the board's own DMA.
pub(crate) fn by_board(
    board: &Board,
    side: &dyn Side,
    reached: &mut Reached,
    job: &Job,
    watch: &Watch<'_>,
) -> Result<u64> {
    let mut flight = Flight(VecDeque::new());
    let done =
        pump(&mut flight, (board, side), reached, job, watch).map_err(|error| flight.end(error))?;
    if job.direction == Direction::FromFpga {
        // All transfers have succeeded. The device cannot show the bytes to its programs.
        side.arrived().map_err(|error| Error::Unseen {
            side: side.name(),
            length: done,
            why: reason(&error),
        })?;
    }
    Ok(done)
}

/// Keeps the board at work until all is moved.
fn pump(
    flight: &mut Flight<Moving>,
    (board, side): (&Board, &dyn Side),
    reached: &mut Reached,
    job: &Job,
    watch: &Watch<'_>,
) -> Result<u64> {
    let (mut begun, mut done) = (0, 0);
    // There is no room for the next range in addition to the ranges of the transfers in progress.
    let mut full = false;
    reached.begin();
    while done < job.length {
        full &= !flight.0.is_empty();
        while begun < job.length && flight.0.len() < AHEAD && !full {
            let place = job.at + begun;
            let under_way = !flight.0.is_empty();
            let found = reached.at((board, side), place, job.permissions, under_way);
            let (range, reach) = match found {
                Ok(found) => found,
                Err(error) if under_way && error.lacks_room() => {
                    full = true;
                    break;
                }
                Err(error) => return Err(error),
            };
            let length = SLICE.min(job.length - begun).min(range.end - place);
            let offset = reach.offset + (place - range.start);
            let fpga = job.fpga + begun;
            let queue = board.queue();
            let transfer = queue.submit(
                job.direction,
                reach.region.part(offset..offset + length),
                fpga,
            )?;
            flight.0.push_back((Moving::new(transfer), length));
            begun += length;
        }
        let stretch = watch.stretch(done)?;
        if let Some((moving, length)) = flight.0.front_mut()
            && moving.wait(stretch)?
        {
            done += *length;
            flight.0.pop_front();
        }
    }
    Ok(done)
}

/// Copies by stores of the device to the board's window.
///
/// A device gets no report if its stores were lost because the board was reset during the copy. The generation shows
/// that: it was raised before the board shows the window again.
pub(crate) fn by_push(
    push: &mut dyn Push,
    (device, side): (&Device, &dyn Side),
    job: PushJob,
    watch: &Watch<'_>,
) -> Result<u64> {
    let before = device.query()?;
    let mut stored = store(push, job, watch);
    if let Err(error) = stored {
        // Stores that were begun end before another user has the window, or the memory. A device that cannot be asked
        // may go on.
        let rests = push.settle(GRACE).unwrap_or(false);
        stored = Err(error.with(usize::from(!rests)));
    }
    // The data are undefined, and so is their number; but a device that goes on must be reported, also if the board
    // fails.
    if let Err(Error::UnderWay { .. }) = stored {
        return stored;
    }
    // In this order: a board that shows its window and has the same generation was not reset.
    let shown = push.confirm();
    let after = device.query()?;
    let memory = after.resets != before.resets;
    match (shown, stored) {
        (Err(error @ Error::Board(peerlane_host::Error::Gone)), _) => Err(error),
        (shown, _) if shown.is_err() || memory || after.generation != before.generation => {
            Err(Error::Lost {
                side: side.name(),
                length: job.length,
                memory,
            })
        }
        (_, stored) => stored,
    }
}

/// Stores to one place of the window after the other.
fn store(push: &mut dyn Push, job: PushJob, watch: &Watch<'_>) -> Result<u64> {
    let PushJob { at, fpga, length } = job;
    let window = push.window();
    let mut done = 0;
    while done < length {
        watch.stretch(done)?;
        let place = fpga + done;
        let base = place / window * window;
        let part = (base + window - place).min(length - done);
        push.place(base)?;
        push.push(at + done, place - base, part)?;
        // Before the window moves, and before the caller is notified.
        while !push.settle(watch.stretch(done)?)? {}
        done += part;
    }
    Ok(done)
}

/// Returns the text of an error, for a route that a side or a board does not have.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::Side { reason, .. } | Error::Busy { reason, .. } => reason.clone(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
