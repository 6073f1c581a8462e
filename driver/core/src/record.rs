// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion records.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::att::AttAddress;
use super::descriptor::Direction;
use super::fault::Fault;
use super::regs::{self, StatusCode};
use core::fmt;

/// A completion record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The descriptor's cookie.
    pub cookie: u32,
    /// The direction of the descriptor's queue.
    pub direction: Direction,
    /// The channel.
    pub channel: u32,
    /// Phase bit.
    pub phase: bool,
    /// Result of the descriptor.
    pub outcome: Result<(), Fault>,
    /// Bytes moved.
    pub bytes_done: u32,
    /// Records of this channel before this one.
    pub sequence: u32,
    /// Address of the failing request, if one failed.
    pub fault_address: Option<AttAddress>,
    /// Header of a block of a stream that has not failed ([`Header`](super::streams::Header)); 0: of other memory. Its
    /// dwords come after the sequence number. So where a processor shows a record in parts, they may be those of an
    /// older record.
    pub header: u64,
}

/// Reasons why 32 bytes are not a completion record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// Reserved bits are set in the status.
    Reserved {
        /// The status dword.
        status: u32,
    },
    /// The status code is unknown.
    Code {
        /// The code.
        code: u32,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved { status } => write!(
                f,
                "reserved bits are set in the status {status:#010x} of a completion record"
            ),
            Self::Code { code } => {
                write!(f, "a completion record has the unknown status code {code}")
            }
        }
    }
}

impl core::error::Error for RecordError {}

/// Dwords of a record.
pub const DWORDS: usize = regs::Completion::SIZE / 4;

/// Index of the status dword, which holds the phase bit.
pub const STATUS: usize = core::mem::offset_of!(regs::Completion, status) / 4;

/// Index of the dword that holds the sequence number.
pub const SEQUENCE: usize = core::mem::offset_of!(regs::Completion, sequence) / 4;

/// Returns the phase bit of a record's status dword.
pub fn phase(status: u32) -> bool {
    let record = regs::Completion {
        status,
        ..Default::default()
    };
    record.status_phase()
}

/// Returns the status dword of a slot of a ring that holds no record: phase 0, as the first lap needs it, and a code
/// that no block writes, so that a reader on another lap does not take it for a record.
pub fn empty() -> u32 {
    let record = regs::Completion {
        status: u32::MAX,
        ..Default::default()
    };
    record.with_status_phase(false).status
}

/// Returns the dwords that empty a slot: their indices and values, in the order in which they are stored.
///
/// The status comes first: a reader that has seen a record there, and finds the number wrong, finds the slot empty
/// when it looks again. No record of the first lap has the number that is stored there. So the parts of a record that
/// is still coming can be distinguished from those of a record that the slot held before.
pub fn emptied(slot: u32) -> [(usize, u32); 2] {
    [(STATUS, empty()), (SEQUENCE, !slot)]
}

impl Record {
    /// Decodes the dwords of a record.
    pub fn decode(dwords: &[u32; DWORDS]) -> Result<Self, RecordError> {
        let [cookie, status, bytes_done, sequence, fault_lo, fault_hi, ..] = *dwords;
        let raw = regs::Completion {
            cookie,
            status,
            bytes_done,
            sequence,
            fault_address: u64::from(fault_hi) << 32 | u64::from(fault_lo),
            ..Default::default()
        };
        let code = raw
            .status_code()
            .map_err(|code| RecordError::Code { code })?;
        let outcome = Fault::from_code(code);
        // 0 stands for "no request failed"; a fault at entry 0 + 0 reads the same.
        let (fault_address, header) = match (outcome, raw.fault_address) {
            (Ok(()), header) => (None, header),
            (Err(_), 0) => (None, 0),
            // The descriptor's own address can be the invalid one.
            (Err(_), raw) => (AttAddress::from_raw(raw), 0),
        };
        let record = Self {
            cookie,
            direction: raw
                .status_direction()
                .map(Direction::of_board)
                .map_err(|_| RecordError::Reserved { status })?,
            channel: raw.status_channel(),
            phase: raw.status_phase(),
            outcome,
            bytes_done,
            sequence,
            fault_address,
            header,
        };
        // Bits that it does not hold must be zero.
        if record.raw().status != status {
            return Err(RecordError::Reserved { status });
        }
        Ok(record)
    }

    fn raw(&self) -> regs::Completion {
        let code = match self.outcome {
            Ok(()) => StatusCode::Ok,
            Err(fault) => fault.code(),
        };
        regs::Completion {
            cookie: self.cookie,
            bytes_done: self.bytes_done,
            sequence: self.sequence,
            fault_address: self.fault_address.map_or(self.header, AttAddress::raw),
            ..Default::default()
        }
        .with_status_phase(self.phase)
        .with_status_direction(self.direction.board())
        .with_status_channel(self.channel)
        .with_status_code(code)
    }

    /// Returns the dwords of the record, as the hardware writes them (for models of it).
    pub fn encode(&self) -> [u32; DWORDS] {
        self.raw().to_words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::att::PageSize;
    use crate::uapi::RING_EMPTY;

    #[test]
    fn a_record_is_taken_apart() {
        // Channel 2, a read, phase 1, READ_TIMEOUT, at entry 7 + 0x10 of 4 KiB pages.
        let record = Record::decode(&[5, 0x0007_0203, 0x1000, 9, 0x7010, 0, 0, 0]).unwrap();
        assert_eq!(
            record,
            Record {
                cookie: 5,
                direction: Direction::ToFpga,
                channel: 2,
                phase: true,
                outcome: Err(Fault::ReadTimeout),
                bytes_done: 0x1000,
                sequence: 9,
                fault_address: AttAddress::new(PageSize::Kib4, 7, 0x10),
                header: 0,
            }
        );
        assert_eq!(
            record.encode(),
            [5, 0x0007_0203, 0x1000, 9, 0x7010, 0, 0, 0]
        );
    }

    /// The header of a block is 64 bits of any value; that of other memory is 0.
    #[test]
    fn a_block_of_a_stream_has_a_header() {
        let words = [5, 0x0000_0201, 0x1000, 9, 0x8765_4321, 0xc000_1234, 0, 0];
        let record = Record::decode(&words).unwrap();
        assert_eq!(record.header, 0xc000_1234_8765_4321);
        assert_eq!((record.outcome, record.fault_address), (Ok(()), None));
        assert_eq!(record.encode(), words);
    }

    #[test]
    fn a_fault_without_a_place_has_none() {
        // Channel 63, a write, LOCAL_RANGE: no request was made.
        let record = Record::decode(&[1, 0x000c_3f00, 0, 2, 0, 0, 0, 0]).unwrap();
        assert_eq!(record.outcome, Err(Fault::LocalRange));
        assert_eq!(
            (record.channel, record.direction),
            (63, Direction::FromFpga)
        );
        assert_eq!(record.fault_address, None);
    }

    /// The constant of the interface has the value of an empty slot: phase 0, code 255.
    #[test]
    fn an_empty_slot_is_no_record() {
        assert_eq!(empty() & 0x00ff_0001, RING_EMPTY << 16);
        assert!(!phase(empty()));
        assert_eq!(
            Record::decode(&[0, empty(), 0, 0, 0, 0, 0, 0]),
            Err(RecordError::Code { code: 255 })
        );
    }

    #[test]
    fn garbage_is_refused() {
        assert_eq!(
            Record::decode(&[u32::MAX; 8]),
            Err(RecordError::Code { code: 255 })
        );
        for status in [0x0100_0001, 0x0000_0005] {
            assert_eq!(
                Record::decode(&[0, status, 0, 0, 0, 0, 0, 0]),
                Err(RecordError::Reserved { status })
            );
        }
        assert_eq!(
            Record::decode(&[0, 0x0011_0001, 0, 0, 0, 0, 0, 0]),
            Err(RecordError::Code { code: 17 })
        );
    }
}
