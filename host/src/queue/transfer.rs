//! The handle of a transfer under way.

use super::Shared;
use crate::error::{Error, Result};
use crate::flow::TransferId;
use peerlane_core::descriptor::Direction;
use std::sync::Arc;
use std::time::Duration;

/// A transfer of a [`Queue`](crate::Queue), under way or ended.
///
/// Dropping it does not stop the transfer: the board finishes it as long as the queue, or another transfer of it,
/// exists; and the region's memory stays mapped until then. But a failure is not reported any more:
///
/// ```compile_fail
/// # #![deny(unused_must_use)]
/// # use peerlane_host::{Queue, Region, Result};
/// # fn send(queue: &Queue, region: &Region) -> Result<()> {
/// queue.to_fpga(region.part(0..64), 0)?;
/// # queue.drain(None)
/// # }
/// ```
#[derive(Debug)]
#[must_use = "only this reports whether the transfer fails: wait for it, or drop it on purpose"]
pub struct Transfer {
    pub(crate) queue: Arc<Shared>,
    pub(crate) id: TransferId,
    pub(crate) direction: Direction,
    pub(crate) length: u64,
    /// The handle of the region that a transfer from the FPGA writes.
    pub(crate) written: Option<u32>,
    /// The end of the write does not prove that its data have arrived.
    pub(crate) is_unflushed: bool,
}

impl Transfer {
    /// Returns the direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the bytes asked for.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Polls whether the transfer has ended, and returns the bytes moved. Also gives the board descriptors that the
    /// queue holds back. It does not wait. On a board whose time advances only while a thread waits, as on the
    /// simulated one, nothing happens between two polls unless [`Device::poll`](crate::Device::poll) lets time pass.
    ///
    /// It makes a system call once a second, to learn of a restart and the end of the board, and when it finds an
    /// error. Another one unregisters a region whose last handle belonged to a transfer that has ended.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn poll(&self) -> Result<Option<u64>> {
        self.queue.poll(self.id)
    }

    /// Returns the result of the transfer, as far as the queue knows; `None`: it has not ended. It does not look at the
    /// ring and does not call the driver.
    pub fn result(&self) -> Option<Result<u64>> {
        self.queue.result(self.id)
    }

    /// Returns whether the transfer is not under way any more, as far as the queue knows. A queue that fails
    /// ([`Error::Broken`](crate::Error::Broken)) has not ended its transfers: the board may still have them.
    pub fn has_ended(&self) -> bool {
        self.result().is_some()
    }

    /// Waits for the transfer to end, and returns the bytes moved; `None`: without a limit. It may be called again,
    /// after a timeout and after the end.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout): the transfer is still under way, wait again.
    /// [`Error::Fault`](crate::Error::Fault), [`Error::Restarted`](crate::Error::Restarted),
    /// [`Error::Stopped`](crate::Error::Stopped): it has ended, and the queue remains usable.
    /// [`Error::Gone`](crate::Error::Gone), [`Error::Broken`](crate::Error::Broken): see
    /// [`Queue::restart`](crate::Queue::restart).
    pub fn wait(&self, limit: impl Into<Option<Duration>>) -> Result<u64> {
        self.queue.wait(self, limit.into())
    }

    /// Calls the transfer off, without waiting. The board gets no more of its descriptors; those that it has go on to
    /// their end. To stop several transfers, call all of them off before the first is [stopped](Self::stop): the board
    /// gets no descriptors of the others in the meantime.
    pub fn call_off(&self) {
        self.queue.cancel(self.id);
    }

    /// Calls the transfer off, and returns when it is not under way any more: no byte of its memory changes after that,
    /// also if it was to be moved without a flush. (For GPU memory that the board may not read there is no proof, only
    /// time: [`access::WRITE`](peerlane_core::uapi::access::WRITE).) The board gets no more of its descriptors. A
    /// descriptor that it has, which may be the whole transfer ([`Queue::set_piece`](crate::Queue::set_piece)), has
    /// `grace` to end by itself, and other transfers of the queue go on. If that is not enough, the queue is
    /// [restarted](crate::Queue::restart), and other transfers fail with [`Error::Stopped`], too.
    ///
    /// The grace begins when the board has no descriptors of other transfers before this one, except of transfers that
    /// were called off, too. That takes as long as they take, unless they move less than 64 MiB a second: then the queue
    /// is restarted as well.
    ///
    /// # Errors
    /// As [`wait`](Self::wait), of a transfer that has ended: [`Error::Stopped`] if it was called off before it had
    /// moved all bytes. If the queue had to be restarted and could not be, as
    /// [`Queue::restart`](crate::Queue::restart): only then may the transfer be under way. If it cannot be proven that
    /// data have arrived, as [`Region::flush`](crate::Region::flush): they may be on their way.
    /// [`Error::Gone`](crate::Error::Gone): a board that is gone moves no bytes.
    pub fn stop(&self, grace: Duration) -> Result<u64> {
        self.stop_within(Duration::MAX, || grace)
    }

    /// Stops the transfer as [`stop`](Self::stop) does, but by an end in the board's time, which also limits the time
    /// of transfers before this one.
    pub(crate) fn stop_by(&self, end: Duration) -> Result<u64> {
        let left = || end.saturating_sub(self.queue.device().now());
        self.stop_within(left(), left)
    }

    /// Stops the transfer. Transfers before it have the time `others` at most. `grace` is called after them.
    fn stop_within(&self, others: Duration, grace: impl FnOnce() -> Duration) -> Result<u64> {
        let (ended, region) = self.halt(others, grace);
        let flushed = region.map_or(Ok(()), |region| self.queue.flush_region(region));
        flushed.and(ended)
    }

    /// Adds to the result of a transfer the handle of the region to flush: the transfer may have ended before it was
    /// called off, and the flush of one that failed may have failed, too.
    fn with_unflushed(&self, ended: Result<u64>) -> (Result<u64>, Option<u32>) {
        let failed = match ended {
            // The board was stopped or reset for these, or moves nothing.
            Ok(_) | Err(Error::Stopped | Error::Restarted | Error::Gone) => false,
            Err(_) => true,
        };
        (ended, self.written.filter(|_| self.is_unflushed || failed))
    }

    /// Stops the transfer as [`stop_within`](Self::stop_within), but without the flush. Returns its result, and the
    /// handle of the region to flush.
    pub(crate) fn halt(
        &self,
        others: Duration,
        grace: impl FnOnce() -> Duration,
    ) -> (Result<u64>, Option<u32>) {
        if self.queue.is_inherited() {
            return (Err(Error::Inherited), None);
        }
        self.call_off();
        self.queue.wait_for_others(self.id, others);
        // The board may have ended the transfer already. An error comes again below.
        let _ = self.poll();
        let waited = self.wait(grace());
        if let Some(ended) = self.queue.result(self.id) {
            return self.with_unflushed(ended);
        }
        if matches!(waited, Err(Error::Gone)) {
            return (waited, None);
        }
        // A late transfer may still move data, and so may the transfers of a broken queue.
        match self.queue.restart_for(self.id) {
            Ok(()) => self.with_unflushed(self.wait(Duration::ZERO)),
            Err(error) => (Err(error), None),
        }
    }

    /// Waits with a deadline. A transfer that has not ended by then is [stopped](Self::stop).
    ///
    /// # Errors
    /// As [`stop`](Self::stop).
    pub fn finish(&self, limit: Duration, grace: Duration) -> Result<u64> {
        match self.wait(limit) {
            Err(Error::Timeout { .. }) => self.stop(grace),
            ended => ended,
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.queue.release(self.id);
    }
}
