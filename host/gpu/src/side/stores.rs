//! The GPU's stores to a board's window, by its copy engine.

use super::{GpuMemory, Stream, told};
use crate::cuda::GpuBuffer;
use crate::error::Error;
use crate::queue::Registered;
use crate::window::{LAST, late};
use cudarc::driver::sys;
use peerlane_host::Window;
use peerlane_routes::{Error as RouteError, Push, Result, Way};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are read back: a window takes one access of at most 8 bytes at a time, and each bus makes a dword access.
const WORD: u64 = 4;

/// Range of the pause between two looks at a stream: the delay is only a part of the time that the work took.
const PAUSES: Range<Duration> = Duration::from_micros(5)..Duration::from_micros(200);

/// A window into FPGA memory, mapped into this process.
pub(super) trait Shown: Send {
    /// Returns the address of its first byte.
    fn address(&self) -> u64;

    /// Returns its length in bytes. It is placed at multiples of its length.
    fn length(&self) -> u64;

    /// Moves it.
    fn place(&mut self, fpga: u64) -> Result<()>;

    /// Makes sure that it shows FPGA memory.
    fn confirm(&mut self) -> Result<()>;
}

impl Shown for Window {
    fn address(&self) -> u64 {
        Window::address(self)
    }

    fn length(&self) -> u64 {
        Window::length(self) as u64
    }

    fn place(&mut self, fpga: u64) -> Result<()> {
        Ok(Window::place(self, fpga)?)
    }

    /// Places the window where it is: the driver refuses that while the board is being started again.
    fn confirm(&mut self) -> Result<()> {
        Ok(Window::place(self, self.base())?)
    }
}

/// State of the stores that the stream was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// All are in FPGA memory.
    Settled,
    /// They are on their way. The value is the offset of the last word of the window that they store to.
    Stored(u64),
    /// The GPU reads that word back.
    Reading,
}

/// The GPU's stores to a board's window.
///
/// When the stream has done the stores, the GPU has sent them. A read of the GPU's that follows them proves that they
/// are in FPGA memory: no read passes a write of the same requester (PCI Express Base Specification 4.0, 2.4.1, table
/// 2-39). A load of the processor's takes another way to the board, and would prove nothing.
///
/// Not tried for want of a board: see [`GpuQueue`](crate::GpuQueue) for the conditions under which NVIDIA's driver maps
/// a device's registers.
pub(super) struct Stores<W: Shown> {
    used: ManuallyDrop<Used<W>>,
    state: State,
}

/// Objects that stores in progress use.
struct Used<W> {
    // Dropped before the window.
    _registered: Registered,
    stream: Stream,
    buffer: Arc<GpuBuffer>,
    /// Memory for the word that is read back.
    back: GpuBuffer,
    window: W,
}

impl<W: Shown> Stores<W> {
    /// Makes the GPU of some memory store from the memory to a window.
    pub(super) fn new(memory: &GpuMemory, window: W) -> Result<Self> {
        let gpu = memory.buffer.gpu();
        let stream = Stream::new(gpu, memory.functions).map_err(told)?;
        let base = std::ptr::with_exposed_provenance_mut::<u8>(window.address() as usize);
        let base = NonNull::new(base).ok_or_else(|| told(Error::Empty))?;
        let registers = sys::CU_MEMHOSTREGISTER_IOMEMORY;
        let length = window.length() as usize;
        // SAFETY: the window is mapped for as long as it lives, and is dropped after the registration. In a test,
        // memory takes the place of the window.
        let registered = unsafe { Registered::new(gpu, base, length, [registers, 0]) };
        let used = Used {
            _registered: registered.map_err(told)?,
            stream,
            buffer: Arc::clone(&memory.buffer),
            back: gpu.plain_buffer(WORD).map_err(told)?,
            window,
        };
        Ok(Self {
            used: ManuallyDrop::new(used),
            state: State::Settled,
        })
    }

    /// Returns the address of a place of the window in this process.
    fn at(&self, offset: u64) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut((self.used.window.address() + offset) as usize)
    }
}

impl<W: Shown> Push for Stores<W> {
    fn window(&self) -> u64 {
        self.used.window.length()
    }

    /// The registration stays: it is of the window's address in this process, and nothing is stored during the move.
    fn place(&mut self, fpga: u64) -> Result<()> {
        match self.settle(LAST)? {
            true => self.used.window.place(fpga),
            false => Err(late()),
        }
    }

    fn push(&mut self, from: u64, to: u64, length: u64) -> Result<()> {
        let at = self.used.buffer.at(from, length).map_err(told)?;
        let size = self.used.window.length();
        let end = to.checked_add(length).filter(|end| *end <= size);
        let Some(end) = end else {
            return Err(RouteError::Bounds {
                side: "the window".into(),
                offset: to,
                length,
                size,
            });
        };
        if length == 0 {
            return Ok(());
        }
        // Also after an error, something may have been stored.
        self.state = State::Stored((end - 1) / WORD * WORD);
        // SAFETY: both ranges were checked; the window moves only after the stream has made the copy, and the drop of
        // the registration waits for that, too.
        unsafe { (self.used.stream).copy(Way::Out, at, self.at(to), length as usize) }
    }

    fn settle(&mut self, limit: Duration) -> Result<bool> {
        if let State::Stored(last) = self.state {
            let at = self.used.back.at(0, WORD).map_err(told)?;
            // SAFETY: a word of the window, which is mapped for as long as this lives, into memory of as many bytes.
            // The read follows the stores in the stream.
            unsafe { (self.used.stream).copy(Way::In, at, self.at(last), WORD as usize) }?;
            self.state = State::Reading;
        }
        let begin = Instant::now();
        while self.state == State::Reading {
            if self.used.stream.rests()? {
                self.state = State::Settled;
                break;
            }
            let waited = begin.elapsed();
            if waited >= limit {
                break;
            }
            let pause = (waited / 8).clamp(PAUSES.start, PAUSES.end);
            std::thread::sleep(pause.min(limit - waited));
        }
        Ok(self.state == State::Settled)
    }

    fn confirm(&mut self) -> Result<()> {
        match self.state {
            State::Settled => self.used.window.confirm(),
            // The window would be moved during the stores, although to the same place.
            _ => Ok(()),
        }
    }
}

impl<W: Shown> Drop for Stores<W> {
    fn drop(&mut self) {
        // A child's copy waits for nothing, and releases nothing.
        let rests = self.used.stream.gpu.is_inherited() || matches!(self.settle(LAST), Ok(true));
        if rests {
            // SAFETY: it is used no more, and dropped once.
            unsafe { ManuallyDrop::drop(&mut self.used) };
        }
        // Otherwise the window stays this process's: its next owner would find late stores in other FPGA memory.
    }
}

#[cfg(test)]
mod tests;
