//! Copies of memory of any size and with any pages. The memory is moved in windows that fit into the board's address
//! table.

use crate::cache::NoRoom as _;
use crate::error::{Error, Result};
use crate::queue::{Queue, Transfer};
use crate::region::Region;
use crate::request::Request;
use crate::terms::Terms;
use peerlane_core::att::Permissions;
use peerlane_core::descriptor::Direction;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Number of windows that are registered at a time: one is moved while the next one is registered.
const WINDOWS: usize = 2;

/// Bytes of the smallest window. One in pages of 4 KiB takes 16 entries.
const LEAST: u64 = 64 << 10;

/// Bytes of the largest window.
const MOST: u64 = 1 << 40;

/// Time between two attempts to unregister memory at a board that does not answer, or to find room in its table.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest time that a copy looks for room where none of its windows has any. Entries of earlier windows stay
/// reserved until the descriptors of the channel that may name them have ended, including those of other transfers.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time that windows and the descriptors before them have to end by themselves after a copy was given up. The rest of
/// the queue goes on then.
const GRACE: Duration = Duration::from_secs(1);

/// Time in which another thread may reset a board that does not release a window, before the board is cut off from
/// memory.
const STUCK: Duration = Duration::from_secs(2);

/// Options of [`Queue::begin_copy`], which moves memory that is not registered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Bytes of a window: a power of two, 64 KiB or more. It becomes smaller automatically where the board's table has
    /// no room. From 2 MiB on, huge pages take one entry each.
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

/// A window that the board can reach. When this is dropped, also after a panic, the region is unregistered.
#[derive(Debug)]
struct Window(Region);

impl Window {
    /// Unregisters the memory; tries once.
    fn forget(&self) -> Result<()> {
        self.0.clone().forget()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let begin = Instant::now();
        while let Err(error) = self.forget() {
            // A board that is gone reaches no memory. The memory of a child process is its own.
            if matches!(error, Error::Gone | Error::Inherited) {
                break;
            }
            // A port that is dead does not come back by itself.
            if begin.elapsed() >= STUCK {
                self.0.give_up();
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

/// A copy of memory that is not registered, in windows. A copy that is dropped before its end is stopped, and its
/// memory is unregistered afterwards. The descriptors of the copy that the board has, and those before them, have a
/// second to end by themselves. Then the queue is [restarted](Queue::restart).
///
/// A driver in the process cuts the board off from memory if it has not released the copy's memory two seconds later,
/// because its port is dead for example. All calls fail with [`Error::Gone`] until the board is
/// [reset](crate::driver::Driver::reset). Where the driver cannot cut the board off, the drop waits until another thread
/// has reset it; no real board has such a driver.
#[derive(Debug)]
#[must_use = "the copy makes progress only during its waits"]
pub struct Copying {
    queue: Queue,
    direction: Direction,
    address: u64,
    length: u64,
    fpga_address: u64,
    /// Bytes of a window as asked for. `window` is smaller where there is less room.
    most: u64,
    window: u64,
    terms: Terms,
    /// Time since when no window has found room.
    short: Option<Duration>,
    /// Bytes that were handed to the board. `done` counts the bytes whose copy is complete.
    begun: u64,
    done: u64,
    moving: VecDeque<Moving>,
}

impl Queue {
    /// Copies memory of this process, of any size, to FPGA memory, and returns when all of it is there. The memory need
    /// not be registered: this registers a part of it, has the board move that part, and registers the next part at the
    /// same time.
    ///
    /// Memory that is copied often is better registered once
    /// ([`Device::register_address`](crate::Device::register_address), [`Device::memory`](crate::Device::memory)). A
    /// few KiB are moved faster by way of memory that the board knows.
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
    /// As [`Copying::wait`] and [`begin_copy`](Self::begin_copy). After any error, also [`Error::Timeout`], some of the
    /// bytes may have been moved, and the memory is unregistered. The descriptors of the copy that the board has then,
    /// and other transfers before them, have a second to end. If they have not ended by then, the queue is
    /// [restarted](Self::restart): its other transfers fail with [`Error::Stopped`]. It returns when the
    /// board reaches the memory no more, as the drop of [`Copying`].
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
        // SAFETY: the bytes are borrowed exclusively until this returns.
        unsafe { self.begin_copy(direction, place, fpga_address, options)? }.wait(limit)
    }

    /// Begins a copy of memory given by its address and length, otherwise as [`copy_to_fpga`](Self::copy_to_fpga) and
    /// [`copy_from_fpga`](Self::copy_from_fpga). Bytes are moved only in calls of [`Copying::wait`].
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
    /// Continues the copy, and returns when all of it is done; `None`: without a limit. After [`Error::Timeout`] it may
    /// be called again. Each call makes progress. A call without time begins one window at most.
    ///
    /// # Errors
    /// As [`Transfer::wait`] and [`Device::register_address`](crate::Device::register_address). Offsets and bytes done
    /// refer to the whole copy. If the board's table has no room for the smallest window, that is reported after ten
    /// seconds.
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
            // Without time left a call begins one window, so that each call makes progress. More windows could take
            // long: their pages may be swapped out.
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
                // Other transfers may have to end before a window has room.
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

    /// Registers the next window, and has the board move it. Returns `false` if there is no room now.
    fn begin_window(&mut self, now: Duration) -> Result<bool> {
        let first = self.address.saturating_add(self.begun);
        // Windows end at multiples of their size, so that no page belongs to two.
        let length = (self.window - first % self.window).min(self.length - self.begun);
        let permissions = match self.direction {
            Direction::ToFpga => Permissions::Read,
            // The board can then read back, which proves that the data have arrived.
            Direction::FromFpga => Permissions::ReadWrite,
        };
        let ends = match self.direction {
            Direction::FromFpga => self.queue.prepare_ends(self.address, self.length),
            Direction::ToFpga => Ok(()),
        };
        let device = self.queue.device();
        // SAFETY: the caller of `begin_copy` promised it. The region is unregistered before the copy ends.
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
            // The transfer may have failed, and have ended. The memory is unregistered in any case.
            let _ = moving.transfer.stop_by(end);
        }
    }
}
