//! Submitting transfers and waiting for them.

use crate::channel::Claim;
use crate::device::Shared;
use crate::error::{Error, Result};
use crate::memory::Region;
use peerlane_core::descriptor::Direction;
use std::sync::Arc;
use std::time::Duration;

/// A transfer to submit.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Which way.
    pub direction: Direction,
    /// The peer's memory.
    pub region: &'a Region,
    /// Byte offset in the region.
    pub offset: u64,
    /// Byte address in FPGA memory.
    pub fpga_address: u64,
    /// Bytes to move.
    pub length: u64,
    /// Bytes a descriptor; `None` takes the device's setting.
    pub piece: Option<u32>,
}

/// When a transfer starts, and how it is told of. By default it starts in its turn, beside
/// what the other direction does, and its interrupt is moderated like all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Start when all writes that were submitted to the channel before have ended, well or
    /// not: their data have arrived, or their faults are told.
    pub after_writes: bool,
    /// Start when all reads that were submitted to the channel before have ended, well or
    /// not: their data are in FPGA memory, or their faults are told.
    pub after_reads: bool,
    /// The interrupt at its end is not held back by the channel's moderation.
    pub urgent: bool,
}

/// A channel's submission queues, one for each direction. Transfers of one direction are
/// worked through in the order of submission; the two directions run at once.
#[derive(Debug, Clone)]
pub struct Queue {
    pub(crate) shared: Arc<Shared>,
    /// The channel; the device's own if there is none.
    pub(crate) claim: Option<Arc<Claim>>,
}

impl Queue {
    /// Submits a transfer. It never waits for room on the board: what does not fit is
    /// queued while this or another transfer is waited for.
    pub fn submit(&self, request: &Request<'_>) -> Result<Transfer> {
        self.submit_with(request, Terms::default())
    }

    /// Submits a transfer on other terms: chained to those before, or urgent. The board
    /// keeps the order by itself; nothing needs to be waited for in between.
    pub fn submit_with(&self, request: &Request<'_>, terms: Terms) -> Result<Transfer> {
        if !Arc::ptr_eq(&self.shared, &request.region.shared) {
            return Err(Error::Foreign { what: "region" });
        }
        let mut inner = self.shared.lock();
        inner.check(request)?;
        let channel = match &self.claim {
            Some(claim) => claim.number,
            None => inner.own_channel()?,
        };
        let id = inner.submit(channel, request, terms)?;
        drop(inner);
        Ok(Transfer {
            shared: Arc::clone(&self.shared),
            _claim: self.claim.clone(),
            id,
            direction: request.direction,
            length: request.length,
        })
    }

    /// Moves `length` bytes of FPGA memory into a region.
    pub fn write(
        &self,
        fpga_address: u64,
        region: &Region,
        offset: u64,
        length: u64,
    ) -> Result<Transfer> {
        self.submit(&Request {
            direction: Direction::Write,
            region,
            offset,
            fpga_address,
            length,
            piece: None,
        })
    }

    /// Moves `length` bytes of a region into FPGA memory.
    pub fn read(
        &self,
        region: &Region,
        offset: u64,
        fpga_address: u64,
        length: u64,
    ) -> Result<Transfer> {
        self.submit(&Request {
            direction: Direction::Read,
            region,
            offset,
            fpga_address,
            length,
            piece: None,
        })
    }
}

/// A transfer under way or ended.
///
/// Dropping it does not stop the transfer: the board finishes it, and the region's
/// memory stays mapped until then.
#[derive(Debug)]
pub struct Transfer {
    shared: Arc<Shared>,
    /// The channel cannot go before it.
    _claim: Option<Arc<Claim>>,
    id: u64,
    direction: Direction,
    length: u64,
}

impl Transfer {
    /// Which way.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Bytes asked for.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Waits until the transfer has ended, by interrupt, for at most `timeout` of the
    /// board's time. Gives the bytes moved: all of them, and the memory's owner can see
    /// them. May be called again, after a timeout and after the end.
    pub fn wait(&self, timeout: Duration) -> Result<u64> {
        self.shared.wait(self.id, timeout)
    }

    /// Looks whether the transfer has ended, without waiting for it. It reads the
    /// completion ring in memory, no register; only the end of a write takes the time
    /// of a flush.
    pub fn poll(&self) -> Result<Option<u64>> {
        self.shared.lock().poll(self.id)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.shared.lock().abandon(self.id);
    }
}
