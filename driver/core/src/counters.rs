// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters, as of one moment.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::regs::csr;
use super::steps::{Register, Step};

/// Takes a snapshot of all counters. They do not change from its end to the next one.
pub const fn snapshot() -> [Step; 2] {
    let place = Register::Csr(csr::COUNTER_SNAPSHOT);
    [
        Step::Write(place, csr::COUNTER_SNAPSHOT_TAKE_MASK),
        Step::Wait(place, csr::COUNTER_SNAPSHOT_BUSY_MASK),
    ]
}

/// Counters of one direction of a channel since the block's reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Payload moved, bytes.
    pub bytes: u64,
    /// Requests for payload that have ended on the PCIe port.
    pub requests: u64,
    /// Descriptors that have ended.
    pub descriptors: u64,
    /// Descriptors of these that failed.
    pub faults: u64,
    /// Descriptors that failed because the ATT did not permit them.
    pub att_faults: u64,
    /// Descriptors that failed because a read was not answered in time.
    pub timeouts: u64,
}

/// Counters of one channel since the block's reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelCounters {
    /// FPGA to peer.
    pub write: DirectionCounters,
    /// Peer to FPGA.
    pub read: DirectionCounters,
}

/// Counters of the block since its reset. Times are in cycles of the PCIe clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Time with a write descriptor of any channel in progress.
    pub write_busy: u64,
    /// Time with a read descriptor of any channel in progress.
    pub read_busy: u64,
    /// Time in which the PCIe port did not accept an offered request.
    pub stall_txs: u64,
    /// Time in which a read request waited for the end of another one in progress.
    pub stall_tags: u64,
    /// Time in which a read request waited for room in the receive buffer.
    pub stall_credits: u64,
    /// Time in which a write request waited for its data from FPGA memory.
    pub stall_mem_read: u64,
    /// Time in which received data waited for FPGA memory.
    pub stall_mem_write: u64,
    /// Completion records written.
    pub records: u64,
    /// Interrupts: rising edges of the line, and messages.
    pub irqs: u64,
}

/// Errors that the transaction layer has seen since the reset of the PCIe side; only with
/// [`tlp`](super::capability::Capabilities::tlp). Each count stops at 65535. They are not part of a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkErrors {
    /// Completions with Unsupported Request, or a status that is reserved.
    pub unsupported: u32,
    /// Completions with Completer Abort.
    pub aborted: u32,
    /// Completions whose data are marked as wrong.
    pub poisoned: u32,
    /// Completions that do not fit their read.
    pub malformed: u32,
    /// Completions of no read.
    pub unexpected: u32,
    /// Reads that were given up because their answers did not come in time. The tag and the room of each are used
    /// again when the rest of its answer has come late, or after a reset of the PCIe side; the count does not fall.
    pub expired: u32,
}

/// Reads the two words of a counter. A snapshot does not change, so their order is free.
pub(super) fn wide<E>(
    read: &mut impl FnMut(Register) -> Result<u32, E>,
    place: impl Fn(usize) -> Register,
    low: usize,
) -> Result<u64, E> {
    // Offsets of the map.
    let high = low.saturating_add(4);
    let words = [read(place(low))?, read(place(high))?];
    Ok(u64::from(words[1]) << 32 | u64::from(words[0]))
}

impl ChannelCounters {
    /// Reads a channel's counters of the last snapshot.
    pub fn read<E>(
        channel: u32,
        mut read: impl FnMut(Register) -> Result<u32, E>,
    ) -> Result<Self, E> {
        let place = |offset| Register::Channel { channel, offset };
        let mut get = |low| wide(&mut read, place, low);
        Ok(Self {
            write: DirectionCounters {
                bytes: get(csr::WRITE_BYTES_LO)?,
                requests: get(csr::WRITE_REQUESTS_LO)?,
                descriptors: get(csr::WRITE_DESCRIPTORS_LO)?,
                faults: get(csr::WRITE_FAULTS_LO)?,
                att_faults: get(csr::WRITE_ATT_FAULTS_LO)?,
                timeouts: get(csr::WRITE_TIMEOUTS_LO)?,
            },
            read: DirectionCounters {
                bytes: get(csr::READ_BYTES_LO)?,
                requests: get(csr::READ_REQUESTS_LO)?,
                descriptors: get(csr::READ_DESCRIPTORS_LO)?,
                faults: get(csr::READ_FAULTS_LO)?,
                att_faults: get(csr::READ_ATT_FAULTS_LO)?,
                timeouts: get(csr::READ_TIMEOUTS_LO)?,
            },
        })
    }
}

impl BlockCounters {
    /// Reads the block's counters of the last snapshot.
    pub fn read<E>(mut read: impl FnMut(Register) -> Result<u32, E>) -> Result<Self, E> {
        let mut get = |low| wide(&mut read, Register::Csr, low);
        Ok(Self {
            write_busy: get(csr::WRITE_BUSY_LO)?,
            read_busy: get(csr::READ_BUSY_LO)?,
            stall_txs: get(csr::STALL_TXS_LO)?,
            stall_tags: get(csr::STALL_TAGS_LO)?,
            stall_credits: get(csr::STALL_CREDITS_LO)?,
            stall_mem_read: get(csr::STALL_MEM_READ_LO)?,
            stall_mem_write: get(csr::STALL_MEM_WRITE_LO)?,
            records: get(csr::RECORDS_LO)?,
            irqs: get(csr::IRQS_LO)?,
        })
    }
}

impl LinkErrors {
    /// Reads the counts as they are now.
    pub fn read<E>(mut read: impl FnMut(Register) -> Result<u32, E>) -> Result<Self, E> {
        let [refusals, errors, losses] =
            [csr::LINK_REFUSALS, csr::LINK_ERRORS, csr::LINK_LOSSES].map(Register::Csr);
        let (refusals, errors, losses) = (read(refusals)?, read(errors)?, read(losses)?);
        Ok(Self {
            unsupported: (refusals & csr::LINK_REFUSALS_UNSUPPORTED_MASK)
                >> csr::LINK_REFUSALS_UNSUPPORTED_LSB,
            aborted: (refusals & csr::LINK_REFUSALS_ABORTED_MASK) >> csr::LINK_REFUSALS_ABORTED_LSB,
            poisoned: (errors & csr::LINK_ERRORS_POISONED_MASK) >> csr::LINK_ERRORS_POISONED_LSB,
            malformed: (errors & csr::LINK_ERRORS_MALFORMED_MASK) >> csr::LINK_ERRORS_MALFORMED_LSB,
            unexpected: (losses & csr::LINK_LOSSES_UNEXPECTED_MASK)
                >> csr::LINK_LOSSES_UNEXPECTED_LSB,
            expired: Self::expired_in(losses),
        })
    }

    /// Returns the count of reads that were given up, of a value of `LINK_LOSSES`.
    pub const fn expired_in(losses: u32) -> u32 {
        (losses & csr::LINK_LOSSES_EXPIRED_MASK) >> csr::LINK_LOSSES_EXPIRED_LSB
    }
}

/// Decides whether a count of reads that were given up is logged. Also returns the count that was logged last, from
/// now on. The first is logged, and then each time that they are twice as many, so that a peer that is silent for
/// days does not fill the log. A count that has fallen has been reset.
pub const fn given_up(expired: u32, told: u32) -> (bool, u32) {
    let told = if expired < told { 0 } else { told };
    match expired > 0 && expired >= told.saturating_mul(2) {
        true => (true, expired),
        false => (false, told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    /// Models a register file in which the value of each word is its place.
    fn word(register: Register) -> Result<u32, Infallible> {
        let (_, channel) = register.select().unwrap_or((0, 0xff));
        Ok(channel << 16 | register.offset() as u32)
    }

    #[test]
    fn counters_are_read_at_their_places() {
        let Ok(counters) = ChannelCounters::read(5, word);
        assert_eq!(counters.write.bytes, 0x0005_0104_0005_0100);
        assert_eq!(counters.write.timeouts, 0x0005_012c_0005_0128);
        assert_eq!(counters.read.bytes, 0x0005_0144_0005_0140);
        assert_eq!(counters.read.att_faults, 0x0005_0164_0005_0160);
        let Ok(block) = BlockCounters::read(word);
        assert_eq!(block.write_busy, 0x00ff_0184_00ff_0180);
        assert_eq!(block.stall_credits, 0x00ff_01a4_00ff_01a0);
        assert_eq!(block.irqs, 0x00ff_01c4_00ff_01c0);
    }

    #[test]
    fn errors_of_the_link_are_read_at_their_places() {
        let word = |register: Register| match register.offset() {
            0x4c => Ok::<_, Infallible>(0x0002_0001),
            0x50 => Ok(0x0004_0003),
            0x54 => Ok(0xffff_0005),
            other => panic!("{other:#x}"),
        };
        let Ok(errors) = LinkErrors::read(word);
        let want = LinkErrors {
            unsupported: 1,
            aborted: 2,
            poisoned: 3,
            malformed: 4,
            unexpected: 5,
            expired: 65535,
        };
        assert_eq!(errors, want);
    }

    #[test]
    fn reads_that_are_given_up_are_told_as_they_double() {
        let mut told = 0;
        let mut lines = std::vec::Vec::new();
        // The side is reset after the last, and twice more between two looks.
        for expired in (0..=65535).chain([0, 0, 1, 1, 5, 9, 10, 3, 2, 4]) {
            let tells;
            (tells, told) = given_up(expired, told);
            if tells {
                lines.push(expired);
            }
        }
        assert_eq!(lines[..4], [1, 2, 4, 8]);
        assert_eq!(lines[16..], [1, 5, 10, 3, 2, 4]);
    }

    #[test]
    fn a_failing_read_is_told() {
        let mut left = 3;
        let failing = |_| {
            left -= 1;
            if left == 0 { Err("gone") } else { Ok(0) }
        };
        assert_eq!(ChannelCounters::read(0, failing), Err("gone"));
    }

    #[test]
    fn a_snapshot_is_waited_for() {
        let place = Register::Csr(0x2c);
        assert_eq!(snapshot(), [Step::Write(place, 1), Step::Wait(place, 2)]);
    }
}
