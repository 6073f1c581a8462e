//! Transfers: what is asked for, and the handle of one under way.

use crate::error::{Error, Result};
use crate::flow::TransferId;
use crate::queue::Shared;
use crate::region::{Part, Region};
use peerlane_core::descriptor::Direction;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

/// A transfer to submit.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Which way.
    pub direction: Direction,
    /// The peer's memory.
    pub region: &'a Region,
    /// Byte offset in the region.
    pub offset: u64,
    /// Byte address in FPGA memory.
    pub fpga_address: u64,
    /// Bytes to move.
    pub length: u64,
    /// Bytes a descriptor; `None` takes the setting of [`Queue::set_piece`](crate::Queue::set_piece).
    pub piece: Option<u32>,
}

impl<'a> Request<'a> {
    /// Makes a request for a region or a part of one, with the queue's setting of bytes a descriptor.
    pub fn new(direction: Direction, part: impl Into<Part<'a>>, fpga_address: u64) -> Self {
        let Part {
            region,
            offset,
            length,
        } = part.into();
        Self {
            direction,
            region,
            offset,
            fpga_address,
            length,
            piece: None,
        }
    }
}

/// When a transfer starts, what it makes sure of, and how it is told of. By default it starts in its
/// turn, beside what the other direction does; its end is reported when the data have arrived; and its
/// interrupt is moderated like all others.
///
/// A write to a region that the board may not read is an exception: the board makes sure of the arrival
/// by a read. On the kernel's device the end of such a write is reported before its data are proven to
/// have arrived ([`access::WRITE`](peerlane_core::uapi::access::WRITE)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Start when all transfers from the FPGA that were submitted to the channel before have ended, well or
    /// not: their data have arrived, or their faults are told.
    pub after_from_fpga: bool,
    /// Start when all transfers to the FPGA that were submitted to the channel before have ended, well or
    /// not: their data are in FPGA memory, or their faults are reported. For a transfer from the FPGA that is so if the
    /// board's BSP has no
    /// interconnect stage between the block and FPGA memory. This is Peerlane's default; `peerlane check` of the BSP says so
    /// where it is otherwise, and there the program has to wait.
    pub after_to_fpga: bool,
    /// The interrupt at its end is not held back by the channel's moderation. The slow path has no
    /// such descriptors.
    pub urgent: bool,
    /// Do not make sure that the data of a transfer from the FPGA have arrived before its end is reported.
    pub no_flush: bool,
}

/// A transfer of a [`Queue`](crate::Queue), under way or ended.
///
/// Dropping it does not stop the transfer: the board finishes it as long as the queue, or another
/// transfer of it, is there; and the region's memory stays mapped until then. But nobody is told any
/// more if it fails:
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
#[must_use = "only this tells whether the transfer fails: wait for it, or drop it on purpose"]
pub struct Transfer {
    pub(crate) queue: Arc<Shared>,
    pub(crate) id: TransferId,
    pub(crate) direction: Direction,
    pub(crate) length: u64,
    /// The region of a write that is not flushed.
    pub(crate) unflushed: Option<u32>,
}

impl Transfer {
    /// Which way.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Bytes asked for.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Looks whether the transfer has ended, and returns the bytes moved; what the queue holds back is
    /// given to the board. It does not wait: on a board whose time goes on only while somebody waits, as on
    /// the simulated one, nothing happens between two polls unless [`Device::poll`](crate::Device::poll)
    /// lets time pass.
    ///
    /// A system call is made once a second, to learn of a restart and the end of the board, and once
    /// something is found to be wrong. Another one gives a region back whose last handle a transfer had
    /// that has ended.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn poll(&self) -> Result<Option<u64>> {
        self.queue.poll(self.id)
    }

    /// How the transfer has ended, as far as the queue has taken note; `None`: it has not. It looks at no ring and calls no
    /// driver.
    pub fn result(&self) -> Option<Result<u64>> {
        self.queue.result(self.id)
    }

    /// Whether nothing of the transfer is under way any more, as far as the queue has taken note. A queue that fails
    /// ([`Error::Broken`](crate::Error::Broken)) has not ended its transfers: the board may still have them.
    pub fn has_ended(&self) -> bool {
        self.result().is_some()
    }

    /// Waits for the transfer to end, and returns the bytes moved; `None`: for as long as it takes.
    /// May be called again, after a timeout and after the end.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout): it goes on, wait again.
    /// [`Error::Fault`](crate::Error::Fault), [`Error::Restarted`](crate::Error::Restarted),
    /// [`Error::Stopped`](crate::Error::Stopped): it has ended, the queue can be used on.
    /// [`Error::Gone`](crate::Error::Gone), [`Error::Broken`](crate::Error::Broken): see
    /// [`Queue::restart`](crate::Queue::restart).
    pub fn wait(&self, limit: impl Into<Option<Duration>>) -> Result<u64> {
        self.queue.wait(self, limit.into())
    }

    /// Calls the transfer off, and waits for nothing: what the board was not given yet it does not get, and what it has goes
    /// on to its end. To call off several before the first is [stopped](Self::stop): meanwhile the board gets nothing of the
    /// others.
    pub fn call_off(&self) {
        self.queue.cancel(self.id);
    }

    /// Calls the transfer off, and returns when nothing of it is under way any more: no byte of its memory changes
    /// after that, also where it was to be moved without a flush. (There is no proof for GPU memory that the board may
    /// not read, only time: [`access::WRITE`](peerlane_core::uapi::access::WRITE).) What the board was not given yet it does not get. What it has, a descriptor that may be the whole
    /// transfer ([`Queue::set_piece`](crate::Queue::set_piece)), has `grace` to end by itself, and others of the queue
    /// go on. If that does not do, the queue is [restarted](crate::Queue::restart), and others fail with
    /// [`Error::Stopped`], too.
    ///
    /// The grace begins when the board has nothing of others before it. That takes as long as they do, unless they move
    /// less than 64 MiB a second: then the queue is restarted as well.
    ///
    /// # Errors
    /// As [`wait`](Self::wait), of a transfer that has ended: [`Error::Stopped`] if it was called off before it had
    /// moved all. Where the queue was to be restarted and could not be, as [`Queue::restart`](crate::Queue::restart):
    /// only then may the transfer be under way. Where it cannot be proven that data have arrived, as
    /// [`Region::flush`](crate::Region::flush): they may be on their way. [`Error::Gone`](crate::Error::Gone): a board that
    /// is gone moves nothing.
    pub fn stop(&self, grace: Duration) -> Result<u64> {
        self.stop_within(Duration::MAX, || grace)
    }

    /// Stops the transfer as [`stop`](Self::stop) does, but by an end in the board's time: it is for others before this
    /// one, too.
    pub(crate) fn stop_by(&self, end: Duration) -> Result<u64> {
        let left = || end.saturating_sub(self.queue.device().now());
        self.stop_within(left(), left)
    }

    /// Stops the transfer. Others before it have this time at most. The grace is asked for after them.
    fn stop_within(&self, others: Duration, grace: impl FnOnce() -> Duration) -> Result<u64> {
        if self.queue.is_inherited() {
            return Err(Error::Inherited);
        }
        self.call_off();
        self.queue.wait_for_others(self.id, others);
        match self.wait(grace()) {
            // What is late may still move data, and what a queue has that is broken, too.
            Err(Error::Timeout { .. }) => {}
            Err(Error::Gone) => return Err(Error::Gone),
            Err(_) if !self.has_ended() => {}
            ended => {
                // It may have ended before it was called off.
                let flushed = self.flush();
                return ended.and_then(|bytes| flushed.map(|()| bytes));
            }
        }
        self.queue.restart_all()?;
        self.wait(Duration::ZERO)
    }

    /// Flushes a write that was to be moved without. A region that is not registered any more was flushed before.
    fn flush(&self) -> Result<()> {
        let Some(handle) = self.unflushed else {
            return Ok(());
        };
        match self.queue.device().context().flush(handle) {
            Err(Error::Call { source, .. }) if source == Errno::NOENT => Ok(()),
            flushed => flushed,
        }
    }

    /// Waits with a deadline: what has not ended by then is [stopped](Self::stop).
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
