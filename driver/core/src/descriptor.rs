// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptors: encoding, validation, and cutting a transfer into pieces.

use super::att::AttAddress;
use super::regs;
use core::fmt;

/// Direction of a transfer. In the register map these are the board's writes and reads of a peer's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From FPGA memory to a peer: the board writes the peer's memory.
    FromFpga,
    /// From a peer to FPGA memory: the board reads the peer's memory.
    ToFpga,
}

/// The largest number of streams of a direction.
pub const MOST_STREAMS: u32 = regs::csr::STREAM_SELECT_STREAM_MASK + 1;

/// Number of dwords of a descriptor that are written; the rest is reserved.
pub const DWORDS: usize = 7;

impl Direction {
    /// Both directions.
    pub const BOTH: [Self; 2] = [Self::FromFpga, Self::ToFpga];

    /// Translates the register map's direction.
    pub const fn of_board(direction: regs::Direction) -> Self {
        match direction {
            regs::Direction::Write => Self::FromFpga,
            regs::Direction::Read => Self::ToFpga,
        }
    }

    /// Returns the register map's direction.
    pub const fn board(self) -> regs::Direction {
        match self {
            Self::FromFpga => regs::Direction::Write,
            Self::ToFpga => regs::Direction::Read,
        }
    }

    /// Returns the register map's number.
    pub const fn raw(self) -> u32 {
        self.board().raw()
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FromFpga => "transfer from the FPGA",
            Self::ToFpga => "transfer to the FPGA",
        })
    }
}

/// The FPGA's end of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// A byte address in FPGA memory.
    Memory(u64),
    /// The number of a stream of the logic, in the transfer's direction.
    Stream(u32),
}

/// One transfer as the block reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Address in the peer's memory.
    pub peer: AttAddress,
    /// The FPGA's end.
    pub local: Local,
    /// Bytes to move, at least 1.
    pub length: u32,
    /// Conditions of its start, and actions at its end.
    pub control: Control,
    /// Value that the record returns.
    pub cookie: u32,
}

/// Conditions of a descriptor's start, and actions at its end. By default it starts in its turn and, unless it fails,
/// ends without a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Control {
    /// Write a completion record. A descriptor that fails writes one in any case.
    pub record: bool,
    /// Raise the interrupt after the record, which is then written in any case.
    pub interrupt: bool,
    /// The interrupt is not held back by the channel's moderation.
    pub urgent: bool,
    /// Do not flush the destination before the record.
    pub no_flush: bool,
    /// Start when all writes of the channel that were queued before have ended.
    pub after_write: bool,
    /// Start when all reads of the channel that were queued before have ended.
    pub after_read: bool,
}

impl Control {
    /// Adds a condition to the start: all descriptors of that direction that were queued on the channel before have
    /// ended, successfully or not.
    #[must_use]
    pub const fn after(mut self, direction: Direction) -> Self {
        match direction {
            Direction::FromFpga => self.after_write = true,
            Direction::ToFpga => self.after_read = true,
        }
        self
    }
}

/// Reasons why a descriptor is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptorError {
    /// The length is zero.
    Empty,
    /// No build has a stream of this number.
    Stream {
        /// The number.
        number: u32,
    },
    /// The FPGA range ends after the addresses that a descriptor can name.
    Local {
        /// First FPGA byte address.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// The peer address is not valid.
    Peer {
        /// The address as read.
        raw: u64,
    },
    /// The peer range ends after the last entry that any ATT has.
    PeerRange {
        /// First address.
        peer: AttAddress,
        /// Bytes.
        length: u32,
    },
    /// A reserved bit is set.
    Reserved {
        /// Index of the dword.
        dword: usize,
    },
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a transfer of no bytes"),
            Self::Local { address, length } => write!(
                f,
                "{length} bytes at FPGA address {address:#x} do not lie in the FPGA's memory"
            ),
            Self::Stream { number } => write!(f, "there is no stream {number}"),
            Self::Peer { raw } => write!(f, "{raw:#x} is not an ATT address"),
            Self::PeerRange { peer, length } => {
                write!(f, "{length} bytes at {peer} run past the end of the ATT")
            }
            Self::Reserved { dword } => {
                write!(
                    f,
                    "reserved bits are set in dword {dword} of the descriptor"
                )
            }
        }
    }
}

impl core::error::Error for DescriptorError {}

/// Checks that FPGA memory of `memory` bytes holds the range.
pub fn check_local(address: u64, length: u64, memory: u64) -> Result<(), DescriptorError> {
    match address.checked_add(length) {
        _ if length == 0 => Err(DescriptorError::Empty),
        Some(end) if end <= memory => Ok(()),
        _ => Err(DescriptorError::Local { address, length }),
    }
}

impl Descriptor {
    /// Checks everything that the hardware would refuse, as far as this is visible without the ATT.
    pub fn validate(&self) -> Result<(), DescriptorError> {
        let length = u64::from(self.length);
        match self.local {
            Local::Memory(address) => {
                let limit = regs::Descriptor::default()
                    .with_local_address(u64::MAX)
                    .local
                    + 1;
                check_local(address, length, limit)?;
            }
            Local::Stream(_) if length == 0 => return Err(DescriptorError::Empty),
            Local::Stream(number) if number >= MOST_STREAMS => {
                return Err(DescriptorError::Stream { number });
            }
            Local::Stream(_) => {}
        }
        // The last byte must have an address.
        if self.peer.checked_add(length - 1).is_none() {
            return Err(DescriptorError::PeerRange {
                peer: self.peer,
                length: self.length,
            });
        }
        Ok(())
    }

    fn record(&self) -> regs::Descriptor {
        let (port, address) = match self.local {
            Local::Memory(address) => (regs::Port::Memory, address),
            Local::Stream(number) => (regs::Port::Stream, number.into()),
        };
        regs::Descriptor {
            peer: self.peer.raw(),
            length: self.length,
            cookie: self.cookie,
            ..Default::default()
        }
        .with_local_address(address)
        .with_local_port(port)
        .with_control_record(self.control.record)
        .with_control_irq(self.control.interrupt)
        .with_control_urgent(self.control.urgent)
        .with_control_no_flush(self.control.no_flush)
        .with_control_after_write(self.control.after_write)
        .with_control_after_read(self.control.after_read)
    }

    /// Returns the dwords to write to a channel's descriptor registers, in ascending order.
    pub fn encode(&self) -> Result<[u32; DWORDS], DescriptorError> {
        self.validate()?;
        let [a, b, c, d, e, f, g, ..] = self.record().to_words();
        Ok([a, b, c, d, e, f, g])
    }

    /// Returns the descriptor that these dwords encode.
    pub fn decode(dwords: &[u32; DWORDS]) -> Result<Self, DescriptorError> {
        let [
            peer_lo,
            peer_hi,
            local_lo,
            local_hi,
            length,
            control,
            cookie,
        ] = *dwords;
        let raw = u64::from(peer_hi) << 32 | u64::from(peer_lo);
        let record = regs::Descriptor {
            peer: raw,
            local: u64::from(local_hi) << 32 | u64::from(local_lo),
            length,
            control,
            cookie,
            ..Default::default()
        };
        let descriptor = Self {
            peer: AttAddress::from_raw(raw).ok_or(DescriptorError::Peer { raw })?,
            local: match record.local_port() {
                // An address that is too large for a number is refused below.
                Ok(regs::Port::Stream) => Local::Stream(record.local_address() as u32),
                _ => Local::Memory(record.local_address()),
            },
            length,
            control: Control {
                record: record.control_record(),
                interrupt: record.control_irq(),
                urgent: record.control_urgent(),
                no_flush: record.control_no_flush(),
                after_write: record.control_after_write(),
                after_read: record.control_after_read(),
            },
            cookie,
        };
        // Bits that it does not hold must be zero.
        let known = descriptor.record().to_words();
        if let Some(dword) = dwords.iter().zip(&known).position(|(a, b)| a != b) {
            return Err(DescriptorError::Reserved { dword });
        }
        descriptor.validate()?;
        Ok(descriptor)
    }
}

/// One piece of a transfer, to become one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the transfer before this piece.
    pub start: u64,
    /// Bytes in this piece, at least 1.
    pub length: u32,
}

/// Iterator over the pieces of a transfer.
///
/// Pieces of 4 KiB or more end at multiples of 4 KiB on the peer's side, so that
/// cutting costs no extra request on the bus; only the first and the last piece
/// can be shorter than asked for.
#[derive(Debug, Clone)]
pub struct Pieces {
    done: u64,
    length: u64,
    piece: u32,
    /// Bytes by which the first piece is shorter.
    skew: u32,
}

impl Pieces {
    /// The smallest size from which pieces are aligned: the boundary that no
    /// request crosses (PCIe Base Specification, section 2.2.7).
    pub const ALIGN: u32 = 4096;

    /// Cuts `length` bytes at `peer` into pieces of `piece` bytes (0 counts as 1).
    pub fn new(peer: AttAddress, length: u64, piece: u32) -> Self {
        let (piece, skew) = if piece >= Self::ALIGN {
            let skew = peer.page_offset() % u64::from(Self::ALIGN);
            (piece - piece % Self::ALIGN, skew as u32)
        } else {
            (piece.max(1), 0)
        };
        Self {
            done: 0,
            length,
            piece,
            skew,
        }
    }

    /// Returns the number of pieces that are still to come.
    pub fn remaining(&self) -> u64 {
        let left = self.length - self.done;
        if left == 0 {
            return 0;
        }
        let first = self.next_length().min(left);
        1 + (left - first).div_ceil(u64::from(self.piece))
    }

    /// Cuts no further piece.
    pub fn stop(&mut self) {
        self.length = self.done;
    }

    /// Returns the length of the next piece if the transfer is long enough.
    fn next_length(&self) -> u64 {
        u64::from(if self.done == 0 {
            // `skew` is below `ALIGN`, and so below `piece`.
            self.piece - self.skew
        } else {
            self.piece
        })
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let left = self.length - self.done;
        let length = self.next_length().min(left);
        if length == 0 {
            return None;
        }
        let start = self.done;
        self.done += length;
        // At most `piece`, which is a u32.
        let length = u32::try_from(length).ok()?;
        Some(Piece { start, length })
    }
}

#[cfg(test)]
#[path = "descriptor_tests.rs"]
mod tests;
