// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumer's side of a completion ring.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::record::{self, Record, RecordError};
use super::regs;
use core::fmt;
use core::sync::atomic::{Ordering, fence};

const RECORD_BYTES: u64 = regs::Completion::SIZE as u64;

/// log2 of the records in the largest ring, the bound of `CHANNEL_RING.size_log2`.
pub const MAX_LOG2: u32 = 15;

/// Number of reads of a record whose sequence number is not the next: far longer than a packet needs to be in memory
/// once its first dwords are there.
const READS: u32 = 1000;

/// Access to the records of a ring in memory that the board writes.
///
/// The ring reads a slot's status first and the whole record only when the phase
/// bit says that it is new, more than once. An implementation over real memory must keep that
/// order: a volatile or atomic load of the status with acquire ordering.
pub trait Slots {
    /// Returns the status dword of slot `index`.
    fn status(&mut self, index: u32) -> u32;
    /// Returns all dwords of slot `index`.
    fn record(&mut self, index: u32) -> [u32; record::DWORDS];
}

/// Position of the consumer in a completion ring.
#[derive(Debug, Clone)]
pub struct Ring {
    size_log2: u32,
    channel: u32,
    /// Sequence number of the next record; its low bits are the slot, the bit above
    /// them is the lap's parity.
    next: u64,
    failed: Option<RingError>,
}

/// Reasons why a ring can no longer be trusted. The error is returned until the ring is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingError {
    /// Records are missing: a doorbell reported their slots as free before they were read, or they went elsewhere.
    Lost {
        /// The sequence number that was next.
        expected: u32,
        /// The one found.
        found: u32,
    },
    /// A record that was seen before.
    Duplicate {
        /// The sequence number that was next.
        expected: u32,
        /// The one found.
        found: u32,
    },
    /// A record of another channel.
    Channel {
        /// This ring's channel.
        expected: u32,
        /// The one found.
        found: u32,
    },
    /// The slot does not contain a valid record.
    Record {
        /// The slot.
        slot: u32,
        /// Why.
        error: RecordError,
    },
    /// The ring was emptied: its channel was started again, or its board is gone.
    Emptied {
        /// The slot.
        slot: u32,
    },
    /// The size is not 1 to 2^15 records.
    Size {
        /// log2 of the size asked for.
        size_log2: u32,
    },
}

impl RingError {
    /// Whether this error may come from a record that is still on its way into memory.
    fn may_pass(self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Duplicate { .. })
    }
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { expected, found } => write!(
                f,
                "completion records were lost: number {expected} was next, {found} was found"
            ),
            Self::Duplicate { expected, found } => write!(
                f,
                "a completion record came twice: number {expected} was next, {found} was found"
            ),
            Self::Channel { expected, found } => write!(
                f,
                "a completion record of channel {found} lies in the ring of channel {expected}"
            ),
            Self::Record { slot, error } => write!(f, "slot {slot} of the ring: {error}"),
            Self::Emptied { slot } => write!(
                f,
                "slot {slot} of the ring was emptied: the channel was started again, or its board is gone"
            ),
            Self::Size { size_log2 } => {
                write!(
                    f,
                    "a ring of 2^{size_log2} records is larger than 2^{MAX_LOG2}, the largest"
                )
            }
        }
    }
}

impl core::error::Error for RingError {}

impl Ring {
    /// Makes a ring of `2^size_log2` records, from its first slot and lap on. Each slot must have been
    /// [emptied](record::emptied), and the sequence numbers of the channel start at 0 too.
    pub fn new(size_log2: u32, channel: u32) -> Result<Self, RingError> {
        if size_log2 > MAX_LOG2 {
            return Err(RingError::Size { size_log2 });
        }
        Ok(Self {
            size_log2,
            channel,
            next: 0,
            failed: None,
        })
    }

    /// Resets the ring after a restart of the channel: it is then like a new ring of the same size.
    pub fn restart(&mut self) {
        self.next = 0;
        self.failed = None;
    }

    /// Returns log2 of the records in the ring.
    pub fn size_log2(&self) -> u32 {
        self.size_log2
    }

    /// Returns the number of records in the ring.
    pub fn entries(&self) -> u64 {
        1 << self.size_log2
    }

    /// Returns the bytes of memory that the ring takes.
    pub fn bytes(&self) -> u64 {
        self.entries().saturating_mul(RECORD_BYTES)
    }

    /// Returns the slot of the next record.
    pub fn slot(&self) -> u32 {
        (self.next & self.entries().wrapping_sub(1)) as u32
    }

    /// Returns the phase bit of the next record: 1 on the first lap.
    pub fn phase(&self) -> bool {
        self.next >> self.size_log2 & 1 == 0
    }

    /// Takes the next record, if the board has written it.
    pub fn poll(&mut self, slots: &mut impl Slots) -> Result<Option<Record>, RingError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let slot = self.slot();
        let status = slots.status(slot);
        if record::phase(status) != self.phase() {
            return Ok(None);
        }
        let taken = match status == record::empty() {
            true => Err(RingError::Emptied { slot }),
            false => self.read(slot, slots),
        };
        match taken {
            Ok(record) => {
                self.next = self.next.wrapping_add(1);
                Ok(Some(record))
            }
            Err(error) => {
                self.failed = Some(error);
                Err(error)
            }
        }
    }

    /// Reads the record of a slot whose status is new.
    ///
    /// A record is one posted write. Its dwords are promised to be visible in ascending order, but not all at the
    /// same time (PCI Express Base Specification 4.0, 2.4.3). So the status, the second dword, can be there before
    /// the sequence number, the fourth: if dwords after the status are wrong, the record is read again. Also, the
    /// number can arrive after the dwords before it were read: once it is right, these are read again. The dword
    /// after the number, the fault address, is used only for messages.
    ///
    /// That holds on the first lap, too: a slot that was [emptied](record::emptied) has a number that no
    /// record of that lap has.
    fn read(&self, slot: u32, slots: &mut impl Slots) -> Result<Record, RingError> {
        let mut reads = 1;
        loop {
            let error = match self.accept(slot, &slots.record(slot)) {
                Ok(_) => break,
                Err(error) => error,
            };
            if !error.may_pass() || reads == READS {
                return Err(error);
            }
            reads = reads.saturating_add(1);
            core::hint::spin_loop();
        }
        fence(Ordering::Acquire);
        self.accept(slot, &slots.record(slot))
    }

    fn accept(&self, slot: u32, dwords: &[u32; record::DWORDS]) -> Result<Record, RingError> {
        if dwords[record::STATUS] == record::empty() {
            return Err(RingError::Emptied { slot });
        }
        let record = Record::decode(dwords).map_err(|error| RingError::Record { slot, error })?;
        if record.channel != self.channel {
            return Err(RingError::Channel {
                expected: self.channel,
                found: record.channel,
            });
        }
        let expected = self.next as u32;
        let found = record.sequence;
        match found.wrapping_sub(expected) {
            0 => Ok(record),
            ahead if ahead < 1 << 31 => Err(RingError::Lost { expected, found }),
            _ => Err(RingError::Duplicate { expected, found }),
        }
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
