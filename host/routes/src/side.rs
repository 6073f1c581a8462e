//! The ends of a route.

use crate::error::{Error, Result};
use crate::push::Push;
use crate::turns::Turns;
use peerlane_host::{Device, Memory, Permissions, Region};
use std::ops::Range;
use std::time::Duration;

/// Direction in which a device's own engine copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Out of the device's memory, into the host's.
    Out,
    /// From the host's memory into the device's.
    In,
}

/// A copy between a side's memory and staging memory of the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The direction.
    pub way: Way,
    /// First byte in the side's memory.
    pub at: u64,
    /// First byte in staging memory.
    pub staged: u64,
    /// Bytes.
    pub length: u64,
}

/// Memory of a device that copies between it and the host's by an engine of its own: one end of a route.
///
/// The functions for the ways through the host are required. Other abilities of a device (memory that a board reaches,
/// a copy engine that stores to a board) have defaults that report their absence.
pub trait Side: Send + Sync {
    /// Returns the name that messages use.
    fn name(&self) -> String;

    /// Returns the bytes of its memory.
    fn length(&self) -> u64;

    /// Allocates memory of the host's that its engine needs, or is fastest with; `None`: it takes any memory.
    ///
    /// # Errors
    /// Errors of the device.
    fn staging(&self, bytes: usize) -> Result<Option<Staging>> {
        let _ = bytes;
        Ok(None)
    }

    /// Returns the most bytes of staging memory that its engine takes, where more would take a resource from others.
    fn staging_most(&self) -> usize {
        usize::MAX
    }

    /// Returns its engine, ready to copy from and to this memory.
    ///
    /// # Errors
    /// Errors of the device.
    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>>;

    /// Allocates memory of the same kind for a probe, whose contents no other code needs.
    ///
    /// # Errors
    /// Errors of the device.
    fn another(&self, bytes: u64) -> Result<Box<dyn Side>>;

    /// Returns the turns at memory of [`another`](Self::another), where all callers get the same memory: a board's.
    fn turns(&self) -> Option<Turns> {
        None
    }

    /// Lets a board reach a part of its memory.
    ///
    /// # Errors
    /// [`Error::Side`] where it cannot, by default.
    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let _ = (device, range, permissions);
        Err(Error::side(
            self.name(),
            "other devices cannot reach its memory",
        ))
    }

    /// Returns the place of its memory, once a board reaches it.
    fn residence(&self) -> Residence {
        Residence::Unknown
    }

    /// Makes bytes that a board has written, and whose end the board has reported, visible to the device's programs.
    ///
    /// # Errors
    /// Errors of the device.
    fn arrived(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the device's own way to store to a board: by the board's window into FPGA memory.
    ///
    /// # Errors
    /// [`Error::Side`] where it has none, by default.
    fn pusher(&self, device: &Device) -> Result<Box<dyn Push>> {
        let _ = device;
        Err(Error::side(
            self.name(),
            "its engine does not store to other devices",
        ))
    }
}

/// Staging memory that a side has made.
#[derive(Debug, Clone)]
pub struct Staging {
    /// The memory.
    pub memory: Memory,
    /// Whether its engine reaches no other memory, so that this memory is preferred to the other side's.
    pub only: bool,
}

/// Place of a side's memory. An API may report memory as the device's that lies elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// In the device.
    Device,
    /// In the host's memory: a board that reaches it goes through the host.
    Host,
    /// Unknown.
    Unknown,
}

/// A part of a side's memory that a board reaches.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Its region at the board. No other code needs it: [`Routes::forget`](crate::Routes::forget) unregisters it.
    pub region: Region,
    /// Offset in it where the part begins.
    pub offset: u64,
}

/// A device's engine. One copy follows the other; several may be in progress.
pub trait Engine: Send {
    /// Begins to copy, after the copies that were begun before.
    ///
    /// # Errors
    /// Errors of the device; no copy was begun then. A copy that was begun and whose end will not be reported is not an
    /// error here: its [`wait`](Pending::wait) returns the error, and its [`end`](Pending::end) ends it.
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>>;
}

/// A copy in progress. It keeps the memory that the engine uses.
pub trait Pending: Send {
    /// Sleeps until its end, for at most `limit`; returns whether it has ended. It may be called again afterwards.
    ///
    /// # Errors
    /// Errors of the device: the copy has failed. It may still be in progress until [`end`](Self::end) returns `true`.
    fn wait(&mut self, limit: Duration) -> Result<bool>;

    /// Cancels it, and waits for nothing: a part that was not begun is not begun any more. Of several copies that are
    /// to [end](Self::end) all are cancelled first.
    fn call_off(&mut self) {}

    /// Ends it, also with an error: the engine gets `grace`, and the parts that it does not end by then are stopped
    /// where the device can do that. Returns whether nothing is in progress any more.
    fn end(&mut self, grace: Duration) -> bool {
        !matches!(self.wait(grace), Ok(false))
    }
}

/// Checks a range.
pub(crate) fn check(side: &dyn Side, offset: u64, length: u64) -> Result<()> {
    let size = side.length();
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(Error::Bounds {
            side: side.name(),
            offset,
            length,
            size,
        }),
    }
}
