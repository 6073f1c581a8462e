//! Stores of a device to a board.

use crate::error::Result;
use std::time::Duration;

/// A device that stores to a board by its window into FPGA memory.
pub trait Push: Send {
    /// Returns the bytes of the window. It is placed at multiples of its length.
    fn window(&self) -> u64;

    /// Moves the window to an FPGA address. Earlier stores have [settled](Self::settle).
    ///
    /// # Errors
    /// As [`peerlane_host::Window::place`], also where the window is at that address already.
    fn place(&mut self, fpga: u64) -> Result<()>;

    /// Stores bytes of the device's memory from `from` on to `to` of the window. They are on their way when it returns.
    ///
    /// # Errors
    /// Errors of the device.
    fn push(&mut self, from: u64, to: u64, length: u64) -> Result<()>;

    /// Waits until all stores are in FPGA memory, for at most `limit`; returns whether they are. It is not enough that
    /// the device has sent its stores: they are on their way, and the window must not move before they arrive.
    ///
    /// # Errors
    /// Errors of board or device.
    fn settle(&mut self, limit: Duration) -> Result<bool>;

    /// Makes sure that the window shows FPGA memory now, where it was placed last. While a board is being started again
    /// the window shows none, stores are lost, and no error is reported.
    ///
    /// # Errors
    /// The window shows nothing, or this cannot be found out.
    fn confirm(&mut self) -> Result<()> {
        Ok(())
    }
}
