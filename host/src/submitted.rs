//! The slow path: one descriptor, by way of the kernel.

use crate::deadline::deadline;
use crate::device::Device;
use crate::ends::Access;
use crate::error::{Error, Result};
use crate::region::{Part, Region};
use crate::status::outcome;
use crate::sys::Argument;
use crate::terms::Terms;
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::Direction;
use peerlane_core::uapi::{self, submit};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// A transfer under way. Dropping it does not stop the transfer.
#[derive(Debug)]
#[must_use = "only this reports whether the transfer fails: wait for it, or drop it on purpose"]
pub struct Submitted {
    device: Device,
    region: Region,
    offset: u64,
    direction: Direction,
    length: u32,
    /// The descriptors: one for each extent of the region.
    cookies: Vec<u32>,
}

impl Device {
    /// Hands a transfer to the kernel as one descriptor: a part of a region, of 4 GiB less 1 at most, to or from the
    /// FPGA address `local`. [`Terms::urgent`] is ignored. Memory of this process may lie in pages of two sizes: then a
    /// part takes a descriptor for each of its [extents](Region::extents).
    ///
    /// # Errors
    /// [`Error::TooLong`], and the errors of [`Queue::submit`](crate::Queue::submit) for requests that it refuses;
    /// [`Error::Granularity`] for all memory except the host's. [`Error::Call`] with `EBUSY` once the device has a
    /// [`Queue`](crate::Queue), with `EAGAIN` while the channel has as many descriptors of this direction as it takes,
    /// with `EOPNOTSUPP` of a driver in the process. After an error no descriptor is under way, but some of the first
    /// extents may have been moved.
    pub fn submit<'a>(
        &self,
        direction: Direction,
        part: impl Into<Part<'a>>,
        local: u64,
        terms: Terms,
    ) -> Result<Submitted> {
        let Part {
            region,
            offset,
            length,
        } = part.into();
        self.0.check_local(local, length)?;
        region.check_device(self)?;
        region.check(direction, offset, length)?;
        let places = region.places(offset, length)?;
        if direction == Direction::FromFpga {
            // The driver writes the ends in host memory.
            region.check_ends(places.first(), length, Access::is_host)?;
        }
        let length = u32::try_from(length).map_err(|_| Error::TooLong { length })?;
        if direction == Direction::FromFpga && (terms.no_flush || region.is_never_proven()) {
            region.note_unflushed();
        }
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        let path = self.0.slow_path(uapi::Submit::NAME)?;
        let mut submitted = Submitted {
            device: self.clone(),
            region: region.clone(),
            offset,
            direction,
            length,
            cookies: Vec::with_capacity(1),
        };
        let mut start = 0;
        for extent in places.iter() {
            let first = start == 0;
            let last = start + extent.length == u64::from(length);
            let mut submit = uapi::Submit {
                direction: direction.raw(),
                // The later ones follow the first, and the flush of the last covers all.
                flags: bit(terms.no_flush || !last, submit::NO_FLUSH)
                    | bit(terms.after_from_fpga && first, submit::AFTER_WRITE)
                    | bit(terms.after_to_fpga && first, submit::AFTER_READ),
                handle: region.handle(),
                // Not larger than `length`, which fits.
                length: extent.length as u32,
                offset: offset + start,
                local: local + start,
                ..Default::default()
            };
            while let Err(error) = path.submit(&mut submit) {
                let has_room = match (&error, submitted.cookies.last()) {
                    // There is room again when an earlier descriptor has ended.
                    (Error::Call { source, .. }, Some(cookie)) if *source == Errno::AGAIN => {
                        submitted.end_of(*cookie, None).map(drop)
                    }
                    _ => Err(error),
                };
                if let Err(error) = has_room {
                    submitted.end_all(!terms.no_flush);
                    return Err(error);
                }
            }
            submitted.cookies.push(submit.cookie);
            start += extent.length;
        }
        Ok(submitted)
    }
}

impl Submitted {
    /// Returns the kernel's name of its last descriptor, which is unique together with the direction.
    pub fn cookie(&self) -> u32 {
        self.cookies.last().copied().unwrap_or(0)
    }

    /// Waits until the board has none of its descriptors any more, after the last extents could not be submitted. They
    /// would have flushed the data.
    fn end_all(&self, flush: bool) {
        for cookie in &self.cookies {
            // A board that fails here moves no bytes, or is being restarted.
            let _ = self.end_of(*cookie, None);
        }
        if flush && self.direction == Direction::FromFpga && !self.cookies.is_empty() {
            let _ = self.region.flush();
        }
    }

    /// Waits for the end of a descriptor. `None`: it has not ended in time.
    fn end_of(&self, cookie: u32, limit: Option<Duration>) -> Result<Option<uapi::Wait>> {
        let mut wait = uapi::Wait {
            direction: self.direction.raw(),
            cookie,
            deadline_ns: deadline(limit),
            ..Default::default()
        };
        let path = self.device.0.slow_path(uapi::Wait::NAME)?;
        Ok(path.wait(&mut wait)?.then_some(wait))
    }

    /// Waits for its end, and returns the bytes moved; `None`: without a limit.
    ///
    /// # Errors
    /// [`Error::Timeout`]: it is still under way, wait again. [`Error::Fault`]: the board ended it. [`Error::Call`]
    /// with `ENOENT`: too many transfers of its direction were submitted since, so its result was dropped.
    pub fn wait(&self, limit: impl Into<Option<Duration>>) -> Result<u64> {
        let begin = Instant::now();
        let limit = limit.into();
        let (mut bytes_done, mut failed) = (0, Ok(()));
        // All have ended when this returns, also after a failure.
        for cookie in &self.cookies {
            let left = limit.map(|limit| limit.saturating_sub(begin.elapsed()));
            let Some(wait) = self.end_of(*cookie, left)? else {
                return Err(Error::Timeout {
                    direction: self.direction,
                    bytes_done,
                    length: self.length.into(),
                    waited: begin.elapsed(),
                });
            };
            if failed.is_ok() {
                bytes_done += u64::from(wait.bytes_done);
            }
            let ended = outcome(wait.status, |fault| Error::Fault {
                direction: self.direction,
                fault,
                bytes_done,
                length: self.length.into(),
                offset: AttAddress::from_raw(wait.fault_address)
                    .filter(|_| wait.fault_address != 0)
                    .and_then(|at| self.region.extents().offset_of(at))
                    .and_then(|at| at.checked_sub(self.offset)),
            });
            failed = failed.and(ended);
        }
        if failed.is_err() && self.direction == Direction::FromFpga {
            self.region.note_unflushed();
        }
        failed.map(|()| bytes_done)
    }
}
