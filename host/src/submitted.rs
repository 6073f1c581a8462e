//! The slow path: one descriptor, by way of the kernel.

use crate::device::Device;
use crate::ends::Access;
use crate::error::{Error, Result};
use crate::region::{Part, Region};
use crate::sys::Argument;
use crate::transfer::Terms;
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;
use peerlane_core::regs::StatusCode;
use peerlane_core::uapi::{self, submit};
use rustix::time::ClockId;
use std::time::{Duration, Instant};

/// So much later than now, as the driver wants to be told, for who calls it or implements
/// [`Context`](crate::Context): nanoseconds of CLOCK_MONOTONIC, or [`uapi::NEVER`] for `None`.
pub fn deadline(limit: Option<Duration>) -> i64 {
    let now = rustix::time::clock_gettime(ClockId::Monotonic);
    let now = Duration::try_from(now).unwrap_or_default();
    let then = limit.and_then(|limit| now.checked_add(limit));
    then.and_then(|then| i64::try_from(then.as_nanos()).ok())
        .unwrap_or(uapi::NEVER)
}

/// A descriptor on its way. Dropping it does not stop it.
#[derive(Debug)]
#[must_use = "only this tells whether the transfer fails: wait for it, or drop it on purpose"]
pub struct Submitted {
    device: Device,
    region: Region,
    offset: u64,
    direction: Direction,
    length: u32,
    cookie: u32,
}

/// A status code as the driver gives it.
pub(crate) fn outcome(status: u32, fault: impl FnOnce(Fault) -> Error) -> Result<()> {
    let code = StatusCode::from_raw(status).map_err(|code| Error::Broken {
        reason: format!("unknown status code {code}"),
    })?;
    Fault::from_code(code).map_err(fault)
}

impl Device {
    /// Hands one descriptor to the kernel: a part of a region, of 4 GiB less 1 at most, to or from
    /// the FPGA address `local`. [`Terms::urgent`] is not looked at. Memory of this process may lie in pages of two sizes, and
    /// then takes a descriptor for each size: [`one_page_size`](Self::one_page_size) registers it in pages of one.
    ///
    /// # Errors
    /// [`Error::TooLong`]; [`Error::Region`] also of bytes in several [extents](Region::extents); and what [`Queue::submit`](crate::Queue::submit) refuses; [`Error::Granularity`] of all memory
    /// but the host's. [`Error::Call`] with
    /// `EBUSY` once the device has a [`Queue`](crate::Queue), with `EAGAIN` while the channel has as many
    /// descriptors of this direction as it takes, with `EOPNOTSUPP` of a driver in the process.
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
        let peer = region.place(offset, length)?;
        if direction == Direction::FromFpga {
            // The driver does those of host memory.
            region.check_ends(peer, length, Access::is_host)?;
        }
        let length = u32::try_from(length).map_err(|_| Error::TooLong { length })?;
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        let mut submit = uapi::Submit {
            direction: direction.raw(),
            flags: bit(terms.no_flush, submit::NO_FLUSH)
                | bit(terms.after_from_fpga, submit::AFTER_WRITE)
                | bit(terms.after_to_fpga, submit::AFTER_READ),
            handle: region.handle(),
            length,
            offset,
            local,
            ..Default::default()
        };
        self.0.slow_path(uapi::Submit::NAME)?.submit(&mut submit)?;
        Ok(Submitted {
            device: self.clone(),
            region: region.clone(),
            offset,
            direction,
            length,
            cookie: submit.cookie,
        })
    }
}

impl Submitted {
    /// Names it to the kernel, with its direction.
    pub fn cookie(&self) -> u32 {
        self.cookie
    }

    /// Waits for its end; `None`: for as long as it takes. Returns the bytes moved.
    ///
    /// # Errors
    /// [`Error::Timeout`]: it goes on, wait again. [`Error::Fault`]: the board ended it. [`Error::Call`] with
    /// `ENOENT`: too many of its direction were submitted since, its end is forgotten.
    pub fn wait(&self, limit: impl Into<Option<Duration>>) -> Result<u64> {
        let begin = Instant::now();
        let mut wait = uapi::Wait {
            direction: self.direction.raw(),
            cookie: self.cookie,
            deadline_ns: deadline(limit.into()),
            ..Default::default()
        };
        let path = self.device.0.slow_path(uapi::Wait::NAME)?;
        if !path.wait(&mut wait)? {
            return Err(Error::Timeout {
                direction: self.direction,
                bytes_done: 0,
                length: self.length.into(),
                waited: begin.elapsed(),
            });
        }
        let bytes_done = wait.bytes_done.into();
        outcome(wait.status, |fault| Error::Fault {
            direction: self.direction,
            fault,
            bytes_done,
            length: self.length.into(),
            offset: AttAddress::from_raw(wait.fault_address)
                .filter(|_| wait.fault_address != 0)
                .and_then(|at| self.region.extents().offset_of(at))
                .and_then(|at| at.checked_sub(self.offset)),
        })?;
        Ok(bytes_done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes() {
        let fault = |fault| Error::Fault {
            direction: Direction::FromFpga,
            fault,
            bytes_done: 0,
            length: 1,
            offset: None,
        };
        assert!(outcome(0, fault).is_ok());
        // 7 is READ_TIMEOUT in the register map.
        assert!(matches!(
            outcome(7, fault),
            Err(Error::Fault {
                fault: Fault::ReadTimeout,
                ..
            })
        ));
        assert!(matches!(outcome(99, fault), Err(Error::Broken { .. })));
    }
}
