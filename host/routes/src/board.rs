//! A board's memory as an end of routes.

use crate::error::{Error, Result};
use crate::limits::Clock;
use crate::side::{Engine, Pending, Piece, Side, Staging, Way};
use crate::turns::Turns;
use peerlane_host::{Device, Direction, Memory, MemoryKind, Permissions, Queue, Region, Transfer};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Staging memory of a board. It is registered once for each direction: with pages of 4 KiB that takes half of the
/// default build's table. A board's link takes ten times as long for a piece, a quarter of it, as the host's work for
/// the piece.
pub(crate) const STAGING: usize = 4 << 20;

/// A context of a board, with its queue and its FPGA memory. Clones are the same context.
///
/// A part of the FPGA memory is the library's own, for probes and measurements.
#[derive(Debug, Clone)]
pub struct Board(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    queue: Queue,
    memory: Range<u64>,
    scratch: Range<u64>,
    /// Turns at `scratch` and the window.
    turns: Turns,
}

/// Bytes of FPGA memory for probes and measurements, unless the caller sets another size.
pub const SCRATCH: u64 = 1 << 20;

/// Fewest bytes of that memory.
const LEAST_SCRATCH: u64 = 64 << 10;

impl Board {
    /// Takes a device that has neither FPGA memory nor a queue, and gives it both: so many bytes for the caller, and
    /// [`SCRATCH`].
    ///
    /// # Errors
    /// As [`Device::allocate`] and [`Device::queue`].
    pub fn new(device: &Device, bytes: u64) -> Result<Self> {
        let all = device.allocate(bytes.saturating_add(SCRATCH))?;
        let queue = device.queue()?;
        let Range { start, end } = all.keep();
        let (memory, scratch) = (start..end - SCRATCH, end - SCRATCH..end);
        Ok(Self::of(device.clone(), queue, memory, scratch))
    }

    /// Takes a queue, and FPGA memory of its device: `memory` for the caller, and `scratch`, 64 KiB or more, that no
    /// other code uses.
    ///
    /// # Errors
    /// [`Error::Bounds`], and [`Error::Side`] where `scratch` is shorter or not apart from `memory`.
    pub fn over(queue: Queue, memory: Range<u64>, scratch: Range<u64>) -> Result<Self> {
        let device = queue.device().clone();
        let all = device.range();
        for part in [&memory, &scratch] {
            if part.start < all.start || part.end > all.end || part.is_empty() {
                return Err(Error::Bounds {
                    side: device.name(),
                    offset: part.start,
                    length: part.end.saturating_sub(part.start),
                    size: all.end - all.start,
                });
            }
        }
        if scratch.end - scratch.start < LEAST_SCRATCH {
            return Err(Error::side(
                device.name(),
                format!("memory for probes has {LEAST_SCRATCH} bytes or more"),
            ));
        }
        if memory.start < scratch.end && scratch.start < memory.end {
            return Err(Error::side(
                device.name(),
                "memory for probes is overwritten: it must not overlap the caller's",
            ));
        }
        Ok(Self::of(device, queue, memory, scratch))
    }

    fn of(device: Device, queue: Queue, memory: Range<u64>, scratch: Range<u64>) -> Self {
        Self(Arc::new(Inner {
            turns: Turns::of(&device.name()),
            device,
            queue,
            memory,
            scratch,
        }))
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the queue.
    pub fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// Returns the caller's FPGA memory.
    pub fn memory(&self) -> Range<u64> {
        self.0.memory.clone()
    }

    /// Returns the turns of all users of this board.
    pub(crate) fn shared(&self) -> &Turns {
        &self.0.turns
    }

    /// Returns the library's FPGA memory.
    pub(crate) fn scratch(&self) -> Range<u64> {
        self.0.scratch.clone()
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock::Board(self.0.device.clone())
    }

    /// Returns its engine over any FPGA memory of the context: offsets are FPGA addresses.
    pub(crate) fn engine(&self, staging: &Memory) -> Result<BoardEngine> {
        let register = |permissions| self.0.device.register_all(staging, permissions);
        Ok(BoardEngine {
            out: register(Permissions::Write)?,
            into: register(Permissions::ReadWrite)?,
            board: self.clone(),
            base: 0,
        })
    }
}

impl Side for Board {
    fn name(&self) -> String {
        self.0.device.name()
    }

    fn length(&self) -> u64 {
        self.0.memory.end - self.0.memory.start
    }

    fn staging(&self, bytes: usize) -> Result<Option<Staging>> {
        Ok(Some(Staging {
            memory: self.0.device.memory(MemoryKind::Host, bytes)?,
            only: true,
        }))
    }

    /// More memory would take entries of the board's address translation table from other users.
    fn staging_most(&self) -> usize {
        STAGING
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        let mut engine = self.engine(staging)?;
        engine.base = self.0.memory.start;
        Ok(Box::new(engine))
    }

    /// Returns the scratch memory.
    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let scratch = self.scratch();
        let end = (scratch.start.checked_add(bytes)).filter(|end| *end <= scratch.end);
        let memory = scratch.start..end.unwrap_or(scratch.end);
        let (device, queue) = (self.0.device.clone(), self.0.queue.clone());
        Ok(Box::new(Self::of(device, queue, memory, scratch)))
    }

    fn turns(&self) -> Option<Turns> {
        Some(self.shared().clone())
    }
}

/// The board's own DMA, between FPGA memory and staging memory.
pub(crate) struct BoardEngine {
    board: Board,
    /// The staging memory as registered for data from the board: for writing only. The board confirms writes to memory
    /// that it may read by a read, and refuses such writes once a read was never answered.
    out: Region,
    /// The staging memory as registered for data to the board.
    into: Region,
    base: u64,
}

impl Engine for BoardEngine {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let (direction, region) = match piece.way {
            Way::Out => (Direction::FromFpga, &self.out),
            Way::In => (Direction::ToFpga, &self.into),
        };
        let queue = self.board.queue();
        let fpga = self.base + piece.at;
        let transfer = queue.submit(
            direction,
            region.part(piece.staged..piece.staged + piece.length),
            fpga,
        )?;
        Ok(Box::new(Moving::new(transfer)))
    }
}

/// A transfer of the board's.
pub(crate) struct Moving {
    transfer: Transfer,
    ended: bool,
}

impl Moving {
    pub(crate) fn new(transfer: Transfer) -> Self {
        Self {
            transfer,
            ended: false,
        }
    }
}

impl Pending for Moving {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        if self.ended {
            return Ok(true);
        }
        let moved = match limit.is_zero() {
            true => self.transfer.poll()?.is_some(),
            false => match self.transfer.wait(limit) {
                Ok(_) => true,
                Err(peerlane_host::Error::Timeout { .. }) => false,
                Err(error) => return Err(error.into()),
            },
        };
        self.ended = moved;
        Ok(moved)
    }

    fn call_off(&mut self) {
        self.transfer.call_off();
    }

    fn end(&mut self, grace: Duration) -> bool {
        // The board does not get the rest of the transfer, and other transfers of the queue go on. Only if a part that
        // the board has does not end, it also ends the others, which report that.
        rests(&self.transfer.stop(grace))
    }
}

/// Whether nothing of a transfer is on its way any more, after a [`Transfer::stop`] with this result: it has ended, or
/// its board was reset or is gone, and so moves nothing; or all but the ends of a write has arrived. Any other error
/// means that it goes on, or that nothing proves that the bytes that it has written have arrived.
fn rests(stopped: &peerlane_host::Result<u64>) -> bool {
    use peerlane_host::Error;
    matches!(
        stopped,
        Ok(_)
            | Err(Error::Stopped
                | Error::Restarted
                | Error::Fault { .. }
                | Error::Ends { .. }
                | Error::Gone)
    )
}
