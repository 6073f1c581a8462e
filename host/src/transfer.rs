//! Submitting transfers and waiting for them.

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

/// The device's submission queues, one for each direction. Transfers of one direction
/// are worked through in the order of submission; the two directions run at once.
#[derive(Debug, Clone)]
pub struct Queue {
    pub(crate) shared: Arc<Shared>,
}

impl Queue {
    /// Submits a transfer. It never waits for room on the board: what does not fit is
    /// queued while this or another transfer is waited for.
    pub fn submit(&self, request: &Request<'_>) -> Result<Transfer> {
        if !Arc::ptr_eq(&self.shared, &request.region.shared) {
            return Err(Error::Foreign { what: "region" });
        }
        let id = self.shared.lock().submit(request)?;
        Ok(Transfer {
            shared: Arc::clone(&self.shared),
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
