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

/// Between two attempts to take memory from a board that does not answer, or to find room in its table.
const PAUSE: Duration = Duration::from_millis(10);

/// For how long a copy looks for room where none of its windows has any. Entries of windows before stay reserved until the
/// descriptors of the channel that may name them have ended, those of other transfers among them.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time that windows have to end by themselves after a copy was given up, with what is before them: the rest of the queue
/// goes on then.
const GRACE: Duration = Duration::from_secs(1);

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

/// A window that the board can reach. The board has forgotten the window when this is dropped, also after a panic.
#[derive(Debug)]
struct Window(Region);

impl Window {
    /// Takes the memory from the board, once.
    fn forget(&self) -> Result<()> {
        self.0.clone().forget()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        while let Err(error) = self.forget() {
            // The memory of a child is its own.
            let is_over = match error {
                Error::Gone => self.0.is_safe_when_gone(),
                error => matches!(error, Error::Inherited),
            };
            if is_over {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// A window that is being moved.
#[derive(Debug)]
struct Moving {
    transfer: Transfer,
    window: Window,
}

/// A copy of memory that is not registered, in windows. If it is dropped before its end, it is stopped, and the
/// board has forgotten the memory afterwards. Its descriptors that the board has, and those before them, have a second to end by
/// themselves. Then the queue is [restarted](Queue::restart). Where the board does not answer, the drop waits until it does, or the
/// driver reports that it is gone.
#[derive(Debug)]
#[must_use = "it makes no progress but in its waits"]
pub struct Copying {
    queue: Queue,
    direction: Direction,
    address: u64,
    length: u64,
    fpga_address: u64,
    /// Bytes of a window as they were asked for, and as they find room.
    most: u64,
    window: u64,
    terms: Terms,
    /// Since when no window has found room.
    short: Option<Duration>,
    /// Bytes that were handed to the board, and those of them that are where they belong.
    begun: u64,
    done: u64,
    moving: VecDeque<Moving>,
}

impl Queue {
    /// Copies memory of this process, of any size, to FPGA memory, and returns when all of it is there. The memory is not
    /// registered before: this registers a part of it, has the board move that, and meanwhile registers the next part.
    ///
    /// Memory that is copied often is better registered once ([`Device::register_address`](crate::Device::register_address),
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
    /// As [`Copying::wait`] and [`begin_copy`](Self::begin_copy). After any error, [`Error::Timeout`] too, some of the bytes may
    /// have been moved, and the board has forgotten the memory. The descriptors of the
    /// copy that the board has then, and other transfers before them, have a second to end. If it has not, the queue is
    /// [restarted](Self::restart): other transfers of it fail with [`Error::Stopped`]. Where a board does not answer, this
    /// returns when it does, or when its driver reports that it is gone.
    pub fn copy_to_fpga(
        &self,
        from: &[u8],
        fpga_address: u64,
        limit: impl Into<Option<Duration>>,
    ) -> Result<()> {
        let (direction, options) = (Direction::ToFpga, CopyOptions::default());
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
        let (direction, options) = (Direction::FromFpga, CopyOptions::default());
        let place = (to.as_mut_ptr().expose_provenance() as u64, to.len() as u64);
        // SAFETY: the bytes are borrowed for this alone until it returns.
        unsafe { self.begin_copy(direction, place, fpga_address, options)? }.wait(limit)
    }

    /// Begins a copy as [`copy_to_fpga`](Self::copy_to_fpga) and [`copy_from_fpga`](Self::copy_from_fpga) do it, of memory by
    /// its address and its length. Nothing is moved but in [`Copying::wait`].
    ///
    /// # Safety
    /// Until the copy has ended, or is dropped, no other thread holds references into the memory, or, if the board only
    /// reads it, changes it.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Local`]: the bytes cannot be moved so.
    pub unsafe fn begin_copy(
        &self,
        direction: Direction,
        (address, length): (u64, u64),
        fpga_address: u64,
        options: CopyOptions,
    ) -> Result<Copying> {
        if length == 0 {
            return Err(Error::Empty { what: "a copy" });
        }
        self.device().0.check_local(fpga_address, length)?;
        let window = options.window.clamp(LEAST, MOST).next_power_of_two();
        Ok(Copying {
            queue: self.clone(),
            direction,
            address,
            length,
            fpga_address,
            most: window,
            window,
            terms: options.terms,
            short: None,
            begun: 0,
            done: 0,
            moving: VecDeque::with_capacity(WINDOWS),
        })
    }
}

impl Copying {
    /// Goes on with the copy, and returns when all of it is done; `None`: however long that takes. After
    /// [`Error::Timeout`] it may be called again. Each call goes on, also one with no time at all, which begins one window at most.
    ///
    /// # Errors
    /// As [`Transfer::wait`] and [`Device::register_address`](crate::Device::register_address). Offsets and bytes done are those
    /// of the whole copy. Where the board's table has no room for the smallest window, that is reported after ten seconds.
    pub fn wait(&mut self, limit: impl Into<Option<Duration>>) -> Result<()> {
        let queue = self.queue.clone();
        if queue.is_inherited() {
            return Err(Error::Inherited);
        }
        let now = || queue.device().context().now();
        let (begin, begun) = (now(), self.begun);
        let limit = limit.into();
        while self.done < self.length {
            let spent = now().saturating_sub(begin);
            let left = limit.map(|limit| limit.saturating_sub(spent));
            // Without time left a call begins one window, so that each call goes on. More could take long: their pages may
            // be elsewhere.
            let has_time = left != Some(Duration::ZERO) || self.begun == begun;
            let has_room = self.begun < self.length && self.moving.len() < WINDOWS;
            if has_time && has_room && self.begin_window(now())? {
                continue;
            }
            match self.moving.front() {
                Some(first) => match first.transfer.wait(left) {
                    Ok(moved) => {
                        first.window.forget()?;
                        self.moving.pop_front();
                        self.done += moved;
                    }
                    Err(Error::Timeout { .. }) => {
                        return Err(self.late(now().saturating_sub(begin)));
                    }
                    Err(error) => return Err(self.of_whole(error)),
                },
                // Others may have to end before a window has room.
                None if left == Some(Duration::ZERO) => return Err(self.late(spent)),
                None => {
                    let pause = left.map_or(PAUSE, |left| left.min(PAUSE));
                    queue.turn()?;
                    queue.device().poll(Some(pause))?;
                }
            }
        }
        Ok(())
    }

    fn late(&self, waited: Duration) -> Error {
        Error::Timeout {
            direction: self.direction,
            bytes_done: self.done,
            length: self.length,
            waited,
        }
    }

    /// Translates an error of the first window to one of the whole copy.
    fn of_whole(&self, error: Error) -> Error {
        match error {
            Error::Fault {
                direction,
                fault,
                bytes_done,
                offset,
                ..
            } => Error::Fault {
                direction,
                fault,
                bytes_done: self.done + bytes_done,
                length: self.length,
                offset: offset.map(|offset| self.done + offset),
            },
            error => error,
        }
    }

    /// Registers the next window, and has the board move it. `false`: there is no room now.
    fn begin_window(&mut self, now: Duration) -> Result<bool> {
        let first = self.address.saturating_add(self.begun);
        // Windows end at multiples of their size, so that no page belongs to two.
        let length = (self.window - first % self.window).min(self.length - self.begun);
        let permissions = match self.direction {
            Direction::ToFpga => Permissions::Read,
            // The board proves that the data have arrived.
            Direction::FromFpga => Permissions::ReadWrite,
        };
        let ends = match self.direction {
            Direction::FromFpga => self.queue.prepare_ends(self.address, self.length),
            Direction::ToFpga => Ok(()),
        };
        let device = self.queue.device();
        // SAFETY: promised to `begin_copy`. The region is forgotten before the copy ends.
        let register = || unsafe { device.register_address(first, length, permissions) };
        let region = ends.and_then(|()| register());
        let window = match region {
            Ok(region) => Window(region),
            Err(error @ Error::TooLarge { .. }) if self.window <= LEAST => return Err(error),
            Err(Error::TooLarge { .. }) => {
                self.window /= 2;
                self.most = self.window;
                return Ok(true);
            }
            Err(error) if !error.no_room() => return Err(error),
            // The window that is being moved may hold the entries that this one needs.
            Err(_) if !self.moving.is_empty() => return Ok(false),
            Err(_) if self.window > LEAST => {
                self.window /= 2;
                return Ok(true);
            }
            Err(error) => {
                let since = *self.short.get_or_insert(now);
                let waits = now.saturating_sub(since) < PATIENCE;
                return waits.then_some(false).ok_or(error);
            }
        };
        let fpga_address = self.fpga_address + self.begun;
        let request = Request::new(self.direction, &window.0, fpga_address);
        let terms = std::mem::take(&mut self.terms);
        let transfer = self.queue.submit_with(&request, terms)?;
        self.moving.push_back(Moving { transfer, window });
        self.begun += length;
        self.short = None;
        // There may be more room by now.
        self.window = (2 * self.window).min(self.most);
        Ok(true)
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        for moving in &self.moving {
            moving.transfer.call_off();
        }
        let end = self.queue.device().now() + GRACE;
        for moving in &self.moving {
            // It may have failed, and have ended. The board forgets the memory in any case.
            let _ = moving.transfer.stop_by(end);
        }
    }
}
