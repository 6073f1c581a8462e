//! Memory of any size and of any pages, moved in windows that the board's address table has room for.

use crate::cache::NoRoom as _;
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::region::Region;
use crate::transfer::{Request, Terms, Transfer};
use peerlane_core::att::Permissions;
use peerlane_core::descriptor::Direction;
use std::collections::VecDeque;
use std::time::Duration;

/// Windows that are registered at a time: one is being moved while the next one is registered.
const WINDOWS: usize = 2;

/// Bytes of the smallest window. One in pages of 4 KiB takes 16 entries.
const LEAST: u64 = 64 << 10;

/// Bytes of the largest.
const MOST: u64 = 1 << 40;

/// Between two attempts to take memory from a board that does not answer.
const PAUSE: Duration = Duration::from_millis(10);

/// How [`Queue::begin_copy`] moves memory that the board does not know.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Bytes of a window: a power of two, 64 KiB or more. It becomes smaller by itself where the board's table has no room.
    /// From 2 MiB on huge pages take one entry each.
    pub window: u64,
    /// Terms of the first window.
    pub terms: Terms,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self {
            window: 4 << 20,
            terms: Terms::default(),
        }
    }
}

/// A window that is being moved. The board has forgotten it when this is dropped.
#[derive(Debug)]
struct Moving {
    region: Option<Region>,
    transfer: Transfer,
}

impl Moving {
    fn forget(&mut self) -> Result<()> {
        let Some(region) = &self.region else {
            return Ok(());
        };
        region.clone().forget()?;
        self.region = None;
        Ok(())
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if self.region.is_some() {
            // It may have failed, and have ended.
            let _ = self.transfer.stop(Duration::ZERO);
        }
        while let Err(error) = self.forget() {
            if matches!(error, Error::Gone | Error::Inherited) {
                // A board that is gone reaches nothing. The memory of a child is its own.
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// A copy of memory that is not registered, in windows. If it is dropped before its end, it is stopped, and the board has
/// forgotten the memory afterwards: where the board does not answer, the drop waits until it does, or the driver reports that it
/// is gone.
#[derive(Debug)]
#[must_use = "it makes no progress but in its waits"]
pub struct Copying<'a> {
    queue: &'a Queue,
    direction: Direction,
    address: u64,
    length: u64,
    fpga_address: u64,
    window: u64,
    terms: Terms,
    /// Bytes that were handed to the board, and those of them that are where they belong.
    begun: u64,
    done: u64,
    moving: VecDeque<Moving>,
}

impl Queue {
    /// Copies memory of this process, of any size, to FPGA memory, and returns when all of it is there. The memory is not
    /// registered before: this registers a part of it, has the board move that, and meanwhile registers the next part.
    ///
    /// What is copied often is better registered once ([`Device::register_address`](crate::Device::register_address),
    /// [`Device::memory`](crate::Device::memory)). A few KiB are moved faster by way of memory that the board knows.
    ///
    /// ```no_run
    /// # use peerlane_host::{Queue, Result};
    /// # fn send(queue: &Queue) -> Result<()> {
    /// let frames = vec![0_u8; 1 << 30];
    /// let fpga_address = queue.device().range().start;
    /// queue.copy_to_fpga(&frames, fpga_address, None)
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Copying::wait`] and [`begin_copy`](Self::begin_copy). After [`Error::Timeout`], too, some of the bytes may have been
    /// moved, and the board has forgotten the memory.
    pub fn copy_to_fpga(
        &self,
        from: &[u8],
        fpga_address: u64,
        limit: impl Into<Option<Duration>>,
    ) -> Result<()> {
        let (direction, options) = (Direction::Read, CopyOptions::default());
        let place = (from.as_ptr().expose_provenance() as u64, from.len() as u64);
        // SAFETY: the bytes are borrowed until this returns, and the board only reads them.
        unsafe { self.begin_copy(direction, place, fpga_address, options)? }.wait(limit)
    }

    /// Copies FPGA memory to memory of this process, of any size, and returns when all of it is there. See
    /// [`copy_to_fpga`](Self::copy_to_fpga).
    ///
    /// # Errors
    /// As [`copy_to_fpga`](Self::copy_to_fpga).
    pub fn copy_from_fpga(
        &self,
        fpga_address: u64,
        to: &mut [u8],
        limit: impl Into<Option<Duration>>,
    ) -> Result<()> {
        let (direction, options) = (Direction::Write, CopyOptions::default());
        let place = (to.as_mut_ptr().expose_provenance() as u64, to.len() as u64);
        // SAFETY: the bytes are borrowed for this alone until it returns.
        unsafe { self.begin_copy(direction, place, fpga_address, options)? }.wait(limit)
    }

    /// Begins a copy as [`copy_to_fpga`](Self::copy_to_fpga) and [`copy_from_fpga`](Self::copy_from_fpga) do it, of memory by
    /// its address and its length. Nothing is moved but in [`Copying::wait`].
    ///
    /// # Safety
    /// Until the copy has ended, or is dropped, nobody else holds references into the memory, or if it is only read, changes it.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Local`]: the bytes cannot be moved so.
    pub unsafe fn begin_copy(
        &self,
        direction: Direction,
        (address, length): (u64, u64),
        fpga_address: u64,
        options: CopyOptions,
    ) -> Result<Copying<'_>> {
        if length == 0 {
            return Err(Error::Empty { what: "a copy" });
        }
        self.device().0.check_local(fpga_address, length)?;
        Ok(Copying {
            queue: self,
            direction,
            address,
            length,
            fpga_address,
            window: options.window.clamp(LEAST, MOST).next_power_of_two(),
            terms: options.terms,
            begun: 0,
            done: 0,
            moving: VecDeque::with_capacity(WINDOWS),
        })
    }
}

impl Copying<'_> {
    /// Goes on with the copy, and returns when all of it is done; `None`: however long that takes. After
    /// [`Error::Timeout`] it may be called again.
    ///
    /// # Errors
    /// As [`Transfer::wait`] and [`Device::register_address`](crate::Device::register_address). After another error than
    /// [`Error::Timeout`] the copy does not go on.
    pub fn wait(&mut self, limit: impl Into<Option<Duration>>) -> Result<()> {
        let queue = self.queue;
        let now = || queue.device().context().now();
        let deadline = limit.into().map(|limit| now().saturating_add(limit));
        while self.done < self.length {
            if self.begun < self.length && self.moving.len() < WINDOWS && self.begin_window()? {
                continue;
            }
            let left = deadline.map(|deadline| deadline.saturating_sub(now()));
            if let Some(first) = self.moving.front_mut() {
                let moved = first.transfer.wait(left)?;
                first.forget()?;
                self.moving.pop_front();
                self.done += moved;
            }
        }
        Ok(())
    }

    /// Registers the next window, and has the board move it. `false`: there is no room before another window has ended.
    fn begin_window(&mut self) -> Result<bool> {
        let first = self.address.saturating_add(self.begun);
        // Windows end at multiples of their size, so that no page belongs to two.
        let length = (self.window - first % self.window).min(self.length - self.begun);
        let permissions = match self.direction {
            Direction::Read => Permissions::Read,
            // The board proves that the data have arrived.
            Direction::Write => Permissions::ReadWrite,
        };
        // SAFETY: promised to `begin_copy`. The region is forgotten before the copy ends.
        let region = unsafe {
            self.queue
                .device()
                .register_address(first, length, permissions)
        };
        let region = match region {
            Ok(region) => region,
            Err(error) if !fits_less(&error) => return Err(error),
            // The one that is being moved may have what this one needs.
            Err(_) if !self.moving.is_empty() => return Ok(false),
            Err(error) if self.window <= LEAST => return Err(error),
            Err(_) => {
                self.window /= 2;
                return Ok(true);
            }
        };
        region.do_not_keep();
        let request = Request {
            direction: self.direction,
            region: &region,
            offset: 0,
            fpga_address: self.fpga_address + self.begun,
            length,
            piece: None,
        };
        let transfer = self
            .queue
            .submit_with(&request, std::mem::take(&mut self.terms))?;
        self.moving.push_back(Moving {
            transfer,
            region: Some(region),
        });
        self.begun += length;
        Ok(true)
    }
}

/// Whether a smaller window may find room.
fn fits_less(error: &Error) -> bool {
    error.no_room() || matches!(error, Error::TooLarge { .. })
}
