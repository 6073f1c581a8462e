//! Streams: data of any length through memory with a few slots.
//!
//! The board works on some slots while the program, or a GPU's kernel, has another one. So the memory that the board
//! reaches need only hold a few slots, for data of any length: a GPU's BAR shows only a part of its memory (M.
//! Vogelgesang and others, *A High-Throughput DAQ System Based on DirectGMA and PCI Express*, 2015, alternate between
//! two such buffers).
//!
//! A stream does not synchronize the board with logic on the FPGA. A stream from the FPGA moves its first blocks at
//! once, one for each slot, and one more at the end of each turn. If the logic has not made that block by then, stale
//! bytes are moved, or a block is moved twice. If the logic is faster, blocks are lost. Have the logic report its
//! progress, and end a turn only then. With a stream to the FPGA it is the other way round.

use crate::error::{Error, Result};
use crate::queue::{Queue, Transfer};
use crate::region::Region;
use crate::request::Request;
use peerlane_core::descriptor::Direction;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// Settings of a stream.
#[derive(Debug, Clone)]
pub struct Course {
    /// Write: from the FPGA to the program. Read: the other way round.
    pub direction: Direction,
    /// The slots' memory.
    pub region: Region,
    /// First byte of the first slot, in the region.
    pub offset: u64,
    /// Bytes of a slot.
    pub slot: u64,
    /// Number of slots: two at least, so that board and program both have one.
    pub slots: u64,
    /// FPGA memory, in whole slots. After its end the stream continues at its first byte.
    pub fpga: Range<u64>,
    /// Bytes in all; `None`: until the stream is stopped.
    pub length: Option<u64>,
}

/// A stream of a [`Queue`]. When it is dropped, or has failed, the board gets no more of its descriptors, and ends
/// those that it has by itself; [`stop`](Self::stop) ends those, too.
///
/// ```no_run
/// # use peerlane_host::{Course, Direction, Queue, Region, Result};
/// # use std::time::Duration;
/// # fn process(offset: u64, length: u64) {}
/// # fn take(queue: &Queue, region: Region) -> Result<()> {
/// // All of the context's FPGA memory, through two slots of a megabyte.
/// let fpga = queue.device().range();
/// let course = Course {
///     direction: Direction::FromFpga,
///     region,
///     offset: 0,
///     slot: 1 << 20,
///     slots: 2,
///     length: Some(fpga.end - fpga.start),
///     fpga,
/// };
/// let mut stream = queue.stream(course)?;
/// while let Some(turn) = stream.next(Duration::from_secs(1))? {
///     // The board fills the other slot meanwhile.
///     process(turn.offset(), turn.length());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stream {
    queue: Queue,
    course: Course,
    /// Transfers under way with their slots, the oldest first.
    under_way: VecDeque<(Transfer, u64)>,
    /// Bytes that the board was given, or that a program has.
    begun: u64,
    /// Bytes of the turns that the program has had.
    turned: u64,
    /// The error that ended the stream. Later calls return it again.
    failed: Option<Error>,
}

/// A slot that belongs to the program until this is dropped. Then it is the board's turn.
#[derive(Debug)]
pub struct Turn<'a> {
    stream: &'a mut Stream,
    slot: u64,
    length: u64,
    position: u64,
}

impl Queue {
    /// Makes a stream. From the FPGA it begins at once, into all slots; to the FPGA it begins with the first slot that
    /// the program has filled.
    ///
    /// # Errors
    /// [`Error::Course`]: only one slot, no bytes, or FPGA memory that does not consist of whole slots. As
    /// [`Queue::submit`], for all bytes of the course. No transfer is under way after an error, unless
    /// [`Queue::restart`] fails, too.
    pub fn stream(&self, course: Course) -> Result<Stream> {
        let Course { slot, slots, .. } = course;
        let fpga = course.fpga.end.saturating_sub(course.fpga.start);
        let refused = |reason| Err(Error::Course { reason });
        if slots < 2 {
            return refused("it has less than two slots");
        }
        if slot == 0 || fpga == 0 || course.length == Some(0) {
            return refused("it has no bytes, or no FPGA memory");
        }
        if !fpga.is_multiple_of(slot) {
            return refused("its FPGA memory does not consist of whole slots");
        }
        // The check covers the whole stream, before any transfer of it is under way.
        let most = course.length.unwrap_or(u64::MAX);
        let request = Request {
            direction: course.direction,
            region: &course.region,
            offset: course.offset,
            fpga_address: course.fpga.start,
            length: slots.saturating_mul(slot).min(most),
            piece: None,
        };
        let peer = self.device().check_peer(&request)?;
        if course.direction == Direction::FromFpga {
            // The length of a slot, and of the last one.
            for length in [slot.min(most), course.length.map_or(slot, |all| all % slot)] {
                course.region.check_ends(peer.first(), length, |_| true)?;
            }
        }
        (self.device().0).check_local(course.fpga.start, fpga.min(most))?;
        let mut stream = Stream {
            queue: self.clone(),
            under_way: VecDeque::new(),
            course,
            begun: 0,
            turned: 0,
            failed: None,
        };
        if stream.course.direction == Direction::FromFpga {
            for slot in 0..slots {
                let Some(length) = stream.following() else {
                    break;
                };
                // The board has failed in the meantime, or the context's memory was freed.
                if let Err(error) = stream.begin(slot, length) {
                    let _ = stream.stop(Duration::ZERO);
                    return Err(error);
                }
            }
        }
        Ok(stream)
    }
}

impl Stream {
    /// Returns the bytes of the next slot; `None`: all were begun.
    fn following(&self) -> Option<u64> {
        let slot = self.course.slot;
        let left = self.course.length.map_or(slot, |all| all - self.begun);
        (left > 0).then(|| left.min(slot))
    }

    /// Has the board move the next bytes into a slot, or out of it.
    fn begin(&mut self, slot: u64, length: u64) -> Result<()> {
        let Course {
            direction,
            region,
            offset,
            fpga,
            ..
        } = &self.course;
        let place = fpga.start + self.begun % (fpga.end - fpga.start);
        let at = offset.saturating_add(slot.saturating_mul(self.course.slot));
        let transfer = self
            .queue
            .submit(*direction, region.part(at..at + length), place)?;
        self.under_way.push_back((transfer, slot));
        self.begun += length;
        Ok(())
    }

    /// Ends the stream with an error.
    fn fail<T>(&mut self, error: Error) -> Result<T> {
        self.failed = Some(error.clone());
        self.cancel();
        Err(error)
    }

    /// Gives the board no more descriptors of the transfers under way.
    fn cancel(&self) {
        for (transfer, _) in &self.under_way {
            transfer.call_off();
        }
    }

    /// Returns the next slot in turn, once the board is done with it: with data from the FPGA, or to be filled for it.
    /// `None`: the program had all slots.
    ///
    /// # Errors
    /// [`Error::Timeout`]: not yet, call it again. Others are as [`Transfer::wait`], and end the stream.
    pub fn next(&mut self, limit: impl Into<Option<Duration>>) -> Result<Option<Turn<'_>>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let Course {
            direction, slots, ..
        } = self.course;
        let position = self.turned;
        let (slot, length) = match direction {
            Direction::ToFpga => match self.following() {
                Some(length) => (position / self.course.slot % slots, length),
                None => return Ok(None),
            },
            Direction::FromFpga => match self.under_way.front() {
                Some((transfer, slot)) => (*slot, transfer.length()),
                None => return Ok(None),
            },
        };
        let limit = limit.into();
        // There are slots that the board never had, and a turn that was leaked has submitted nothing.
        while let Some((transfer, _)) = self.under_way.front()
            && self.under_way.iter().any(|(_, busy)| *busy == slot)
        {
            match transfer.wait(limit) {
                Ok(_) => drop(self.under_way.pop_front()),
                Err(error @ Error::Timeout { .. }) => return Err(error),
                Err(error) => return self.fail(error),
            }
        }
        self.turned += length;
        Ok(Some(Turn {
            stream: self,
            slot,
            length,
            position,
        }))
    }

    /// Waits until the board is done with all its transfers, including the last slots that were filled for it.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn finish(&mut self, limit: Duration) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let end = self.queue.device().now().saturating_add(limit);
        while let Some((transfer, _)) = self.under_way.front() {
            let left = end.saturating_sub(self.queue.device().now());
            match transfer.wait(left) {
                Ok(_) => drop(self.under_way.pop_front()),
                Err(error @ Error::Timeout { .. }) => return Err(error),
                Err(error) => return self.fail(error),
            }
        }
        Ok(())
    }

    /// Calls the stream off: none of its transfers is under way when this returns `Ok`, as after [`Transfer::stop`].
    ///
    /// # Errors
    /// As [`Transfer::stop`]: the first one. All of its transfers are stopped also after an error of one of them, unless
    /// the queue fails.
    pub fn stop(mut self, grace: Duration) -> Result<()> {
        let device = self.queue.device().clone();
        self.cancel();
        // Time for transfers before these is not part of their grace.
        for (transfer, _) in &self.under_way {
            transfer.queue.wait_for_others(transfer.id, Duration::MAX);
        }
        let end = device.now().saturating_add(grace);
        let mut stopped = Ok(());
        while let Some((transfer, _)) = self.under_way.pop_front() {
            match transfer.stop(end.saturating_sub(device.now())) {
                // The result of the transfer does not matter.
                Ok(_) | Err(Error::Stopped | Error::Restarted | Error::Fault { .. }) => {}
                // The queue has failed, and no other transfer would end either.
                Err(error) if !transfer.has_ended() => return Err(error),
                Err(error) => stopped = stopped.and(Err(error)),
            }
        }
        stopped
    }

    /// Returns the bytes of the turns that the program has had.
    pub fn position(&self) -> u64 {
        self.turned
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Turn<'_> {
    /// Returns the offset of its first byte in the region.
    pub fn offset(&self) -> u64 {
        self.stream.course.offset + self.slot * self.stream.course.slot
    }

    /// Returns its number of bytes: a slot, or the rest of the stream.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the number of bytes of the stream before it.
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let stream = &mut *self.stream;
        let length = match stream.course.direction {
            Direction::ToFpga => Some(self.length),
            Direction::FromFpga => stream.following(),
        };
        if let Some(length) = length
            && let Err(error) = stream.begin(self.slot, length)
        {
            // The next call returns the error.
            let _ = stream.fail::<()>(error);
        }
    }
}
