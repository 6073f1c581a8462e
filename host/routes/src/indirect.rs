//! Copies through the host's memory.
//!
//! One thread keeps both devices at work: it begins copies into free places of staging memory, and copies out of those
//! that are full, and sleeps until the next copy has ended. So there is no second thread, and no place that two threads
//! use.

use crate::error::{Error, Result};
use crate::limits::{GRACE, Watch};
use crate::side::{Engine, Pending, Piece, Way};
use std::collections::VecDeque;
use std::time::Duration;

/// Parameters of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// First byte in the memory of the one side.
    pub(crate) from: u64,
    /// First byte in the memory of the other side.
    pub(crate) to: u64,
    /// Bytes.
    pub(crate) length: u64,
    /// Bytes of a piece.
    pub(crate) chunk: u64,
    /// Places in staging memory, a piece each; with one, the devices take turns.
    pub(crate) slots: u64,
}

/// A piece on its way, in a place of staging memory.
struct Part {
    pending: Box<dyn Pending>,
    /// First byte, counted from the beginning of the copy.
    offset: u64,
    length: u64,
    slot: u64,
}

/// Copies in progress, the oldest first.
struct Flight {
    reading: VecDeque<Part>,
    writing: VecDeque<Part>,
}

impl Flight {
    /// Ends the copies in progress, after an error. Returns the error for the caller. Places in staging memory are not
    /// used again before this.
    fn end(&mut self, error: Error) -> Error {
        // While the first copy ends, no engine begins with the others.
        for part in self.reading.iter_mut().chain(&mut self.writing) {
            part.pending.call_off();
        }
        let parts = self.reading.iter_mut().chain(&mut self.writing);
        let going_on = parts.filter_map(|part| (!part.pending.end(GRACE)).then_some(()));
        error.with(going_on.count())
    }
}

/// Copies through the staging memory that both engines are attached to.
///
/// # Errors
/// [`Error::Deadline`], [`Error::Cancelled`] and errors of the engines, after which nothing is in progress; or
/// [`Error::UnderWay`].
pub(crate) fn copy(
    from: &mut dyn Engine,
    to: &mut dyn Engine,
    plan: &Plan,
    watch: &Watch<'_>,
) -> Result<u64> {
    let mut flight = Flight {
        reading: VecDeque::new(),
        writing: VecDeque::new(),
    };
    pump(&mut flight, (from, to), plan, watch).map_err(|error| flight.end(error))
}

/// Keeps both engines at work until all is copied.
fn pump(
    flight: &mut Flight,
    (from, to): (&mut dyn Engine, &mut dyn Engine),
    plan: &Plan,
    watch: &Watch<'_>,
) -> Result<u64> {
    let mut free: Vec<u64> = (0..plan.slots.max(1)).rev().collect();
    let chunk = plan.chunk.max(1);
    let (mut begun, mut done) = (0, 0);
    loop {
        // Places that have become free.
        while let Some(part) = flight.writing.front_mut() {
            if !part.pending.wait(Duration::ZERO)? {
                break;
            }
            done += part.length;
            free.push(part.slot);
            flight.writing.pop_front();
        }
        while begun < plan.length
            && let Some(slot) = free.pop()
        {
            let length = chunk.min(plan.length - begun);
            let pending = from.begin(Piece {
                way: Way::Out,
                at: plan.from + begun,
                staged: slot * chunk,
                length,
            })?;
            flight.reading.push_back(Part {
                pending,
                offset: begun,
                length,
                slot,
            });
            begun += length;
        }
        if done == plan.length {
            return Ok(done);
        }
        let stretch = watch.stretch(done)?;
        // The other device has a copy in progress, or this one has filled all places.
        match flight.reading.front_mut() {
            Some(part) => {
                if part.pending.wait(stretch)?
                    && let Some(mut part) = flight.reading.pop_front()
                {
                    part.pending = to.begin(Piece {
                        way: Way::In,
                        at: plan.to + part.offset,
                        staged: part.slot * chunk,
                        length: part.length,
                    })?;
                    flight.writing.push_back(part);
                }
            }
            None => {
                if let Some(part) = flight.writing.front_mut() {
                    part.pending.wait(stretch)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
