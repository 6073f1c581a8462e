// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel's settings, and how it is opened, drained, aborted and closed.

use super::descriptor::Direction;
use super::regs::{chan, csr};
use super::steps::{Register, Step};
use core::fmt;
use core::ops::Range;

/// Granule of a channel's range of FPGA memory.
pub const LOCAL_PAGE: u64 = 1 << 12;

/// Bits of an FPGA address in a descriptor; no channel's range ends after them.
pub const LOCAL_BITS: u32 = csr::CHANNEL_MEM_BASE_PAGE_WIDTH as u32 + LOCAL_PAGE.trailing_zeros();

/// The part of FPGA memory that a channel may access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocalRange {
    base: u64,
    end: u64,
}

/// Reasons why a channel cannot have a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalRangeError {
    /// Its ends are not multiples of 4 KiB.
    Unaligned {
        /// The end that is not.
        address: u64,
    },
    /// It ends before it begins, or after the end of the FPGA memory.
    Range {
        /// First byte.
        base: u64,
        /// End, exclusive.
        end: u64,
        /// Bytes of FPGA memory.
        memory: u64,
    },
}

impl fmt::Display for LocalRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unaligned { address } => write!(
                f,
                "a channel's range cannot begin or end at FPGA address {address:#x}: it is not a multiple of 4 KiB"
            ),
            Self::Range { base, end, memory } => write!(
                f,
                "the range {base:#x}..{end:#x} does not lie in {memory:#x} bytes of FPGA memory"
            ),
        }
    }
}

impl core::error::Error for LocalRangeError {}

impl LocalRange {
    /// An empty range.
    pub const EMPTY: Self = Self { base: 0, end: 0 };

    /// Makes the range over these bytes of an FPGA memory of `memory` bytes.
    pub fn new(range: Range<u64>, memory: u64) -> Result<Self, LocalRangeError> {
        let Range { start: base, end } = range;
        let memory = memory.min(1 << LOCAL_BITS);
        if base > end || end > memory {
            return Err(LocalRangeError::Range { base, end, memory });
        }
        for address in [base, end] {
            if address % LOCAL_PAGE != 0 {
                return Err(LocalRangeError::Unaligned { address });
            }
        }
        Ok(Self { base, end })
    }

    /// Returns the bytes in it.
    pub const fn bytes(&self) -> Range<u64> {
        self.base..self.end
    }

    /// Whether `length` bytes at an FPGA address are in it.
    pub fn contains(&self, address: u64, length: u64) -> bool {
        let end = address.checked_add(length);
        address >= self.base && end.is_some_and(|end| end <= self.end)
    }

    /// Returns the values of `CHANNEL_MEM_BASE` and `CHANNEL_MEM_END`.
    const fn registers(&self) -> [u32; 2] {
        // The end is at most 2^40: 29 bits.
        [
            (self.base / LOCAL_PAGE) as u32,
            (self.end / LOCAL_PAGE) as u32,
        ]
    }
}

/// Moderation of a channel's interrupts. By default no interrupt is held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Moderation {
    /// Number of completions that ask for an interrupt after which one is raised; 0 and 1: each.
    pub count: u8,
    /// Longest time from the first completion that waits for an interrupt to the interrupt, in units of 256 cycles of
    /// the PCIe clock; 0: no limit by time, so the last completions may never raise one.
    pub age: u16,
}

impl Moderation {
    const fn register(&self) -> u32 {
        (self.count as u32) << csr::CHANNEL_MODERATION_COUNT_LSB
            | (self.age as u32) << csr::CHANNEL_MODERATION_AGE_LSB
    }
}

/// Settings with which a channel is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Bus address of the completion ring, a multiple of 4 KiB. The status of each slot is
    /// [`empty`](super::record::empty) or zero.
    pub ring: u64,
    /// log2 of the records in the ring.
    pub ring_log2: u32,
    /// FPGA memory that the channel may access.
    pub range: LocalRange,
    /// Its interrupts.
    pub moderation: Moderation,
}

const ACCEPT_AND_RUN: u32 = csr::CHANNEL_CONTROL_ACCEPT_MASK | csr::CHANNEL_CONTROL_RUN_MASK;
const BUSY: u32 = csr::CHANNEL_STATUS_WRITE_BUSY_MASK | csr::CHANNEL_STATUS_READ_BUSY_MASK;
const REFUSED: u32 = chan::REFUSED_WRITE_MASK | chan::REFUSED_READ_MASK;

const fn at(channel: u32, offset: usize) -> Register {
    Register::Channel { channel, offset }
}

const fn control(channel: u32, value: u32) -> Step {
    Step::Write(at(channel, csr::CHANNEL_CONTROL), value)
}

const fn rest(channel: u32) -> Step {
    Step::Wait(at(channel, csr::CHANNEL_STATUS), BUSY)
}

/// Opens a channel: doorbells are accepted when all steps are done.
pub const fn open(channel: u32, settings: &Settings) -> [Step; 9] {
    let [a, b, c, d, e, f, g, h] = prepare(channel, settings);
    [a, b, c, d, e, f, g, h, resume(channel)]
}

/// Opens a channel that accepts no doorbells yet: its ring starts at the first slot. The channel must not be in use
/// elsewhere; the first steps wait until it is idle. [`resume`] makes it accept doorbells.
pub const fn prepare(channel: u32, settings: &Settings) -> [Step; 8] {
    let Settings {
        ring,
        ring_log2,
        range,
        moderation,
    } = settings;
    let [base, end] = range.registers();
    let ring_low = *ring as u32 & csr::CHANNEL_RING_LO_BASE_MASK
        | *ring_log2 << csr::CHANNEL_RING_LO_SIZE_LOG2_LSB & csr::CHANNEL_RING_LO_SIZE_LOG2_MASK
        | csr::CHANNEL_RING_LO_ENABLE_MASK;
    [
        halt(channel),
        rest(channel),
        // The low word starts the ring.
        Step::Write(at(channel, csr::CHANNEL_RING_HI), (*ring >> 32) as u32),
        Step::Write(at(channel, csr::CHANNEL_RING_LO), ring_low),
        Step::Write(at(channel, csr::CHANNEL_MEM_BASE), base),
        Step::Write(at(channel, csr::CHANNEL_MEM_END), end),
        moderate(channel, *moderation),
        Step::Write(page(channel, chan::REFUSED), REFUSED),
    ]
}

/// Gives an idle channel another range.
pub const fn set_range(channel: u32, range: &LocalRange) -> [Step; 3] {
    let [base, end] = range.registers();
    [
        // The range is empty in between.
        Step::Write(at(channel, csr::CHANNEL_MEM_END), 0),
        Step::Write(at(channel, csr::CHANNEL_MEM_BASE), base),
        Step::Write(at(channel, csr::CHANNEL_MEM_END), end),
    ]
}

/// Changes how interrupts of a channel are moderated.
pub const fn moderate(channel: u32, moderation: Moderation) -> Step {
    Step::Write(at(channel, csr::CHANNEL_MODERATION), moderation.register())
}

/// Closes a channel's doorbells. Accepted descriptors go on.
pub const fn close_doorbells(channel: u32) -> Step {
    control(channel, csr::CHANNEL_CONTROL_RUN_MASK)
}

/// Lets a channel end the descriptors that it has accepted, and accept no more. It takes as long as the transfers do;
/// one that hangs ends by `PORT_TIMEOUT`.
pub const fn drain(channel: u32) -> [Step; 2] {
    [close_doorbells(channel), rest(channel)]
}

/// Makes an idle channel, which is still open, accept no doorbells until [`resume`].
pub const fn halt(channel: u32) -> Step {
    control(channel, 0)
}

/// Lets an idle channel, which is still open, go on as before.
pub const fn resume(channel: u32) -> Step {
    control(channel, ACCEPT_AND_RUN)
}

/// Ends all descriptors that a channel has accepted, each with its record. This takes a few times `PORT_TIMEOUT` at
/// most, in any state of the link.
pub const fn abort(channel: u32) -> [Step; 3] {
    let abort = csr::CHANNEL_CONTROL_RUN_MASK | csr::CHANNEL_CONTROL_ABORT_MASK;
    [control(channel, abort), rest(channel), halt(channel)]
}

/// Takes an idle channel out of use: no ring, no range, no doorbells. The last record has left the block when the
/// fence after this is reached ([`table::fence`](super::table::fence)); the ring's memory must live until then.
pub const fn close(channel: u32) -> [Step; 4] {
    [
        halt(channel),
        Step::Write(at(channel, csr::CHANNEL_RING_LO), 0),
        // The end first: the range is empty from then on.
        Step::Write(at(channel, csr::CHANNEL_MEM_END), 0),
        Step::Write(at(channel, csr::CHANNEL_MEM_BASE), 0),
    ]
}

/// Returns a register in the page of a channel.
pub const fn page(channel: u32, offset: usize) -> Register {
    Register::Page { channel, offset }
}

/// Returns the offsets in a channel's page at which descriptors of a direction are written, and their doorbell.
pub const fn entrance(direction: Direction) -> (usize, usize) {
    match direction {
        Direction::FromFpga => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
        Direction::ToFpga => (chan::READ_DESC, chan::READ_DOORBELL),
    }
}

/// Decodes `QUEUE_FREE`: the number of doorbells that a channel's write and read queue take.
pub const fn queue_free(value: u32) -> [u32; 2] {
    [
        (value & chan::QUEUE_FREE_WRITE_MASK) >> chan::QUEUE_FREE_WRITE_LSB,
        (value & chan::QUEUE_FREE_READ_MASK) >> chan::QUEUE_FREE_READ_LSB,
    ]
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
