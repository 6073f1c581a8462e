//! Scatter lists: many pieces of memory, moved as one.

use crate::error::{Error, Result};
use crate::queue::{Queue, Transfer};
use crate::request::Request;
use crate::terms::Terms;
use peerlane_core::descriptor::Direction;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The transfers of a scatter list: one for each of its parts, in their order. The list has ended when all of them have
/// ended.
///
/// ```no_run
/// # use peerlane_host::{Direction, Queue, Region, Request, Result, Terms};
/// # use std::time::Duration;
/// # fn gather(queue: &Queue, header: &Region, rows: &[(u64, u64)], image: &Region) -> Result<()> {
/// // A header, and rows that lie apart, into one piece of FPGA memory.
/// let mut fpga_address = queue.device().range().start;
/// let mut part = |region, offset, length| {
///     let request = Request { direction: Direction::ToFpga, region, offset, fpga_address, length, piece: None };
///     fpga_address += length;
///     request
/// };
/// let mut parts = vec![part(header, 0, 64)];
/// parts.extend(rows.iter().map(|(offset, length)| part(image, *offset, *length)));
/// queue.submit_list(&parts, Terms::default())?.wait(Duration::from_secs(1))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "only this reports whether the transfers fail: wait for it, or drop it on purpose"]
pub struct TransferList {
    parts: Vec<Transfer>,
    length: u64,
    /// Number of the first parts that have ended: a poll begins after them.
    ended: AtomicUsize,
}

impl Queue {
    /// Begins to move all parts of a list. Parts of one direction move one after the other, concurrently with those of
    /// the other direction. `terms` apply to the list: the first part of each direction starts when they allow it, and
    /// the last one follows them. The board verifies once that consecutive writes to one region have arrived: after the
    /// last of them.
    ///
    /// # Errors
    /// As [`submit_with`](Self::submit_with), for any of the parts. Nothing is moved then, unless the board has failed
    /// in the meantime. [`check`](Self::check) of each part shows which one is refused. [`Error::Empty`] for no parts.
    pub fn submit_list(&self, parts: &[Request<'_>], terms: Terms) -> Result<TransferList> {
        let last = parts.len().checked_sub(1);
        let last = last.ok_or(Error::Empty { what: "a list" })?;
        for part in parts {
            self.prepare(part)?;
        }
        let mut list = TransferList {
            parts: Vec::with_capacity(parts.len()),
            length: (parts.iter()).fold(0, |all, part| all.saturating_add(part.length)),
            ended: AtomicUsize::new(0),
        };
        // Both directions have a first part, and each waits for transfers that were submitted before the list.
        let mut begun = [false; 2];
        // The last part of each direction raises the interrupt.
        let last_of = Direction::BOTH.map(|of| parts.iter().rposition(|part| part.direction == of));
        for (index, part) in parts.iter().enumerate() {
            let first = !std::mem::replace(&mut begun[part.direction as usize], true);
            let followed = (parts.get(index + 1)).is_some_and(|next| {
                let same = next.region.handle() == part.region.handle();
                let writes = [part, next].map(|part| part.direction) == [Direction::FromFpga; 2];
                // The library copies ends; the board writes the rest of both and then verifies their arrival.
                same && writes
                    && [part, next]
                        .iter()
                        .all(|part| self.device().writes_all(part))
            });
            let terms = Terms {
                after_from_fpga: terms.after_from_fpga && first,
                after_to_fpga: terms.after_to_fpga && first,
                urgent: terms.urgent && index == last,
                no_flush: terms.no_flush || followed,
            };
            let quiet = last_of[part.direction as usize] != Some(index);
            match self.submit_part(part, terms, quiet) {
                Ok(transfer) => list.parts.push(transfer),
                Err(error) => {
                    // The board has failed in the meantime, or the context's memory was freed.
                    let _ = list.stop(Duration::ZERO);
                    // A part that has ended well may have left its flush to one that was not submitted.
                    let _ = (parts[..index].iter())
                        .filter(|part| part.direction == Direction::FromFpga)
                        .try_for_each(|part| part.region.flush());
                    return Err(error);
                }
            }
        }
        Ok(list)
    }
}

impl TransferList {
    /// Returns the bytes of all parts.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the transfers, for callers that wait for each separately, for example in a task. The board raises one
    /// interrupt for all parts of a direction, at the last of them, and occasionally in a long list. So a wait for an
    /// earlier part may end as late. If the next part writes to the same region, the end of a write does not prove that
    /// its data have arrived.
    pub fn parts(&self) -> &[Transfer] {
        &self.parts
    }

    /// Returns whether no part of the list is under way any more: [`Transfer::has_ended`] of all.
    pub fn has_ended(&self) -> bool {
        self.parts.iter().all(Transfer::has_ended)
    }

    /// Returns the index of the first failed part, in the list's order, of those that have ended.
    pub fn failed(&self) -> Option<usize> {
        (self.parts.iter()).position(|part| matches!(part.result(), Some(Err(_))))
    }

    /// Polls whether all parts have ended, and returns the bytes moved.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn poll(&self) -> Result<Option<u64>> {
        let ended = self.ended.load(Ordering::Relaxed);
        for (index, part) in self.parts.iter().enumerate().skip(ended) {
            let polled = part.poll();
            if !part.has_ended() {
                self.ended.store(index, Ordering::Relaxed);
                return polled;
            }
        }
        self.ended.store(self.parts.len(), Ordering::Relaxed);
        let mut moved = Ok(0);
        for part in &self.parts {
            match part.poll() {
                Ok(Some(bytes)) => moved = moved.map(|moved| moved + bytes),
                Ok(None) => return Ok(None),
                Err(error) => moved = moved.and(Err(error)),
            }
        }
        moved.map(Some)
    }

    /// Waits for all parts to end, and returns the bytes moved; `None`: without a limit.
    ///
    /// # Errors
    /// As [`Transfer::wait`]. [`Error::Timeout`]: some parts are still under way, wait again. [`Error::Gone`],
    /// [`Error::Broken`] and errors of the driver come at once, and the board may still have some parts. Other errors
    /// are those of the first part that failed; all parts have ended then.
    pub fn wait(&self, limit: impl Into<Option<Duration>>) -> Result<u64> {
        let limit = limit.into();
        self.each(|part, waited| part.wait(limit.map(|limit| limit.saturating_sub(waited))))
    }

    /// Calls all parts off, as [`Transfer::stop`] does: no part of the list is under way when it returns.
    ///
    /// # Errors
    /// As [`Transfer::stop`], of the first part that did not end well.
    pub fn stop(&self, grace: Duration) -> Result<u64> {
        // All at once, so that no more descriptors of any part go to the board.
        for part in &self.parts {
            part.call_off();
        }
        // Time for transfers before the parts is not part of their grace.
        for part in &self.parts {
            part.queue.wait_for_others(part.id, Duration::MAX);
        }
        let mut regions = BTreeSet::new();
        let ended = self.each(|part, waited| {
            let (ended, region) = part.halt(Duration::MAX, || grace.saturating_sub(waited));
            regions.extend(region);
            ended
        });
        let Some(first) = self.parts.first() else {
            return ended;
        };
        let flush = |region: &u32| first.queue.flush_region(*region);
        regions.iter().try_for_each(flush).and(ended)
    }

    /// Calls `end` for each part with the time waited before it. Returns all bytes or the first error.
    fn each(&self, mut end: impl FnMut(&Transfer, Duration) -> Result<u64>) -> Result<u64> {
        let mut moved = Ok(0);
        let Some(first) = self.parts.first() else {
            return moved;
        };
        let device = first.queue.device();
        let begin = device.now();
        for part in &self.parts {
            match end(part, device.now().saturating_sub(begin)) {
                Ok(bytes) => moved = moved.map(|moved| moved + bytes),
                // The queue has failed, and no other part would end either.
                Err(error) if !part.has_ended() => return Err(error),
                Err(error) => moved = moved.and(Err(error)),
            }
        }
        moved
    }
}
