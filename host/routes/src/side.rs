//! The ends of a route.

use crate::error::{Error, Result};
use crate::turns::Turns;
use peerlane_host::{Device, Memory, Permissions, Region};
use std::ops::Range;
use std::time::Duration;

/// Which way a device's own engine copies.
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
    /// Which way.
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
/// What is needed for the ways through the host is required. What a device may have besides (memory that a board
/// reaches, a copy engine that stores to a board) has a default that says it has not.
pub trait Side: Send + Sync {
    /// What messages call it.
    fn name(&self) -> String;

    /// Bytes of its memory.
    fn length(&self) -> u64;

    /// Memory of the host's that its engine needs, or is fastest with; `None`: it takes any memory.
    ///
    /// # Errors
    /// What the device says.
    fn staging(&self, bytes: usize) -> Result<Option<Staging>> {
        let _ = bytes;
        Ok(None)
    }

    /// Bytes of staging memory that its engine takes at most, where more would cost others something.
    fn staging_most(&self) -> usize {
        usize::MAX
    }

    /// Its engine, ready to copy from and to this memory.
    ///
    /// # Errors
    /// What the device says.
    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>>;

    /// Memory of the same kind for a probe, whose contents nobody needs.
    ///
    /// # Errors
    /// What the device says.
    fn another(&self, bytes: u64) -> Result<Box<dyn Side>>;

    /// What who uses memory of [`another`](Self::another) takes turns for, where all of that is the same: a board's.
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
            "its memory is not for other devices to reach",
        ))
    }

    /// Where its memory lies, once a board reaches it.
    fn residence(&self) -> Residence {
        Residence::Unknown
    }

    /// Has the device's programs see what a board has written, of which the board has told the end.
    ///
    /// # Errors
    /// What the device says.
    fn arrived(&self) -> Result<()> {
        Ok(())
    }

    /// The device's own way to store to a board: by the board's window into FPGA memory.
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
    /// Its engine may reach no other memory, so that it goes before what the other side would like.
    pub only: bool,
}

/// Where a side's memory lies, for those who are told that it is the device's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// In the device.
    Device,
    /// In the host's memory: a board that reaches it goes through the host.
    Host,
    /// Nobody says.
    Unknown,
}

/// A part of a side's memory that a board reaches.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Its region at the board. Nobody else needs it: [`Routes::forget`](crate::Routes::forget) takes it from the board.
    pub region: Region,
    /// Where in it the part begins.
    pub offset: u64,
}

/// A device's engine. One copy follows the other; several may be under way.
pub trait Engine: Send {
    /// Begins to copy, behind what was begun before.
    ///
    /// # Errors
    /// What the device says; nothing was begun then. A copy that was begun and of whose end nobody will be told is no error of
    /// this: its [`wait`](Pending::wait) is one, and its [`end`](Pending::end) ends it.
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>>;
}

/// A copy under way. It keeps the memory that the engine uses.
pub trait Pending: Send {
    /// Waits for its end, for so long at most, and sleeps meanwhile; says whether it has ended. It may be asked again
    /// afterwards.
    ///
    /// # Errors
    /// What the device says: it does not end well. It may be under way still until [`end`](Self::end) has said otherwise.
    fn wait(&mut self, limit: Duration) -> Result<bool>;

    /// Calls it off, and waits for nothing: what was not begun of it is not begun any more. Of several that are to
    /// [end](Self::end) all are called off first.
    fn call_off(&mut self) {}

    /// Ends it, well or not: the engine is given `grace`, and what it does not end by then is stopped where the device
    /// can do that. Says whether nothing is under way any more.
    fn end(&mut self, grace: Duration) -> bool {
        !matches!(self.wait(grace), Ok(false))
    }
}

/// A device that stores to a board by its window into FPGA memory.
pub trait Push: Send {
    /// Bytes of the window, which stands at multiples of them.
    fn window(&self) -> u64;

    /// Moves the window to an FPGA address. What was stored has [settled](Self::settle).
    ///
    /// # Errors
    /// As [`peerlane_host::Window::place`], also where the window stands there already.
    fn place(&mut self, fpga: u64) -> Result<()>;

    /// Stores bytes of the device's memory from `from` on to `to` of the window. They are on their way when it returns.
    ///
    /// # Errors
    /// What the device says.
    fn push(&mut self, from: u64, to: u64, length: u64) -> Result<()>;

    /// Waits until all that was stored is in FPGA memory, for so long at most; says whether it is. That the device has
    /// sent its stores is not enough: they are on their way, and the window must not move under them.
    ///
    /// # Errors
    /// What board or device say.
    fn settle(&mut self, limit: Duration) -> Result<bool>;

    /// Makes sure that the window shows FPGA memory now, where it was placed last. While a board is being started again it
    /// shows none, what is stored is lost, and nobody is told.
    ///
    /// # Errors
    /// The window shows nothing, or nobody can say.
    fn confirm(&mut self) -> Result<()> {
        Ok(())
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
