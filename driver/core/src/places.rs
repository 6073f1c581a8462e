// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places of a board's slaves in its BAR, and checks of these places.
//!
//! The places come from the table that the driver is built with, the sizes from the block itself, and the BAR from
//! the bus. None of them is trusted alone: a channel page that is shared with another slave would be mapped into a
//! process together with it.

use super::capability::Capabilities;
use super::regs::{chan, csr};
use core::fmt;

/// Bytes of the MSI-X table's slave, pending bits included.
pub const MSIX_BYTES: u64 = 4096;

/// Bytes that an entry of the ATT takes up.
const ENTRY_BYTES: u64 = 8;

/// Bytes of the CSR.
const CSR_BYTES: u64 = csr::SIZE as u64;

/// Byte offsets of the slaves in the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Places {
    /// Control and status registers.
    pub csr: u64,
    /// Channel pages.
    pub chan: u64,
    /// Address translation table.
    pub att: u64,
    /// MSI-X table, if there is one.
    pub msix: Option<u64>,
    /// Window into FPGA memory, if the host reaches it.
    pub window: Option<u64>,
}

/// A slave's place: offset and length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slave {
    /// Its name.
    pub name: &'static str,
    /// Offset of its first byte in the BAR.
    pub offset: u64,
    /// Bytes of it.
    pub bytes: u64,
}

/// Reasons why slaves cannot be at the given places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceError {
    /// One is not all in the BAR.
    Outside {
        /// The slave.
        slave: Slave,
        /// Bytes of the BAR.
        bar: u64,
    },
    /// One does not begin at a multiple of its size, as all slaves do on an interconnect that selects them by the
    /// upper bits of their addresses (Avalon Interface Specifications, address alignment of slaves). So pages of the
    /// host do not contain parts of two.
    Unaligned {
        /// The slave.
        slave: Slave,
    },
    /// Two share bytes.
    Overlap {
        /// One of them.
        one: Slave,
        /// The other.
        other: Slave,
    },
    /// The block has an MSI-X table without a place, or a place is named and it has none.
    Msix {
        /// Whether the block has one.
        there: bool,
    },
}

impl fmt::Display for Slave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            offset,
            bytes,
        } = self;
        write!(f, "{name} ({bytes:#x} bytes at {offset:#x})")
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { slave, bar } => {
                write!(f, "{slave} does not lie in the BAR of {bar:#x} bytes")
            }
            Self::Unaligned { slave } => {
                write!(f, "{slave} does not begin at a multiple of its size")
            }
            Self::Overlap { one, other } => write!(f, "{one} overlaps {other}"),
            Self::Msix { there: true } => {
                f.write_str("the block has an MSI-X table, but its place is not known")
            }
            Self::Msix { there: false } => {
                f.write_str("a place of an MSI-X table is known, but the block has none")
            }
        }
    }
}

impl core::error::Error for PlaceError {}

impl Places {
    const fn csr_slave(&self) -> Slave {
        Slave {
            name: "csr",
            offset: self.csr,
            bytes: CSR_BYTES,
        }
    }

    /// Returns the slaves of a block with these capabilities.
    pub(super) fn slaves(&self, capabilities: &Capabilities) -> [Option<Slave>; 5] {
        let slave = |name, offset, bytes| Slave {
            name,
            offset,
            bytes,
        };
        let pages = u64::from(capabilities.channels) * chan::SIZE as u64;
        let table = u64::from(capabilities.att_entries()) * ENTRY_BYTES;
        let window = super::window::BYTES;
        [
            Some(self.csr_slave()),
            Some(slave("chan", self.chan, pages)),
            Some(slave("att", self.att, table)),
            self.msix.map(|offset| slave("msix", offset, MSIX_BYTES)),
            self.window.map(|offset| slave("s_nondma", offset, window)),
        ]
    }

    /// Checks that the registers that identify the block can be read in a BAR of so many bytes.
    pub fn check_csr(&self, bar: u64) -> Result<(), PlaceError> {
        self.csr_slave().check(bar)
    }

    /// Checks that all slaves of a block are in a BAR of so many bytes, and do not overlap.
    pub fn check(&self, capabilities: &Capabilities, bar: u64) -> Result<(), PlaceError> {
        if self.msix.is_some() != capabilities.msix {
            return Err(PlaceError::Msix {
                there: capabilities.msix,
            });
        }
        let slaves = self.slaves(capabilities);
        for slave in slaves.iter().flatten() {
            slave.check(bar)?;
        }
        for (index, one) in slaves.iter().enumerate() {
            for other in slaves.iter().skip(index + 1) {
                if let (Some(one), Some(other)) = (*one, *other) {
                    if one.overlaps(&other) {
                        return Err(PlaceError::Overlap { one, other });
                    }
                }
            }
        }
        Ok(())
    }
}

impl Slave {
    pub(super) fn check(self, bar: u64) -> Result<(), PlaceError> {
        self.check_inside(bar)?;
        if self.offset % self.bytes != 0 {
            return Err(PlaceError::Unaligned { slave: self });
        }
        Ok(())
    }

    pub(super) fn check_inside(self, bar: u64) -> Result<(), PlaceError> {
        let end = self.offset.checked_add(self.bytes);
        match end.is_none_or(|end| end > bar) {
            true => Err(PlaceError::Outside { slave: self, bar }),
            false => Ok(()),
        }
    }

    /// Whether both have a byte. Their ends must have been checked.
    pub(super) const fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.offset + other.bytes && other.offset < self.offset + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Counts;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    /// Makes a build with so many channels and entries.
    fn block(channels: u32, att_log2: u32, msix: bool) -> Capabilities {
        Capabilities {
            version: 1,
            channels,
            port_bytes: 16,
            txs_addr_bits: 64,
            queue_log2: 10,
            att_log2,
            max_burst_log2: 9,
            mem_addr_bits: 32,
            reads_log2: 5,
            tagged: false,
            msix,
            tlp: false,
            write_granularity: 4,
            streams: Counts::default(),
        }
    }

    /// Places as `peerlane extend` assigns them.
    const PLACES: Places = Places {
        csr: 0x3000,
        chan: 0x2_0000,
        att: 0x2_8000,
        msix: Some(0x3_0000),
        window: Some(0x1_0000),
    };
    const BAR: u64 = 0x4_0000;

    #[test]
    fn a_board_as_it_is_extended_is_taken() {
        assert_eq!(PLACES.check(&block(8, 12, true), BAR), Ok(()));
        assert_eq!(PLACES.check_csr(BAR), Ok(()));
        let line = Places {
            msix: None,
            window: None,
            ..PLACES
        };
        assert_eq!(line.check(&block(8, 12, false), BAR), Ok(()));
    }

    fn refused(places: Places, block: &Capabilities, bar: u64) -> std::string::String {
        places.check(block, bar).unwrap_err().to_string()
    }

    #[test]
    fn a_refusal_names_who_is_where() {
        let good = block(8, 12, true);
        // One channel more, and the pages reach into the ATT.
        assert_eq!(
            refused(PLACES, &block(16, 12, true), BAR),
            "chan (0x10000 bytes at 0x20000) overlaps att (0x8000 bytes at 0x28000)"
        );
        assert_eq!(
            refused(PLACES, &good, 0x3_0000),
            "msix (0x1000 bytes at 0x30000) does not lie in the BAR of 0x30000 bytes"
        );
        let half = Places {
            chan: 0x2_0800,
            ..PLACES
        };
        assert_eq!(
            refused(half, &good, BAR),
            "chan (0x8000 bytes at 0x20800) does not begin at a multiple of its size"
        );
        let wild = Places {
            att: u64::MAX - 7,
            ..PLACES
        };
        assert_eq!(
            refused(wild, &good, BAR),
            "att (0x8000 bytes at 0xfffffffffffffff8) does not lie in the BAR of 0x40000 bytes"
        );
        assert_eq!(
            refused(PLACES, &block(8, 12, false), BAR),
            "a place of an MSI-X table is known, but the block has none"
        );
        let none = Places {
            msix: None,
            ..PLACES
        };
        assert_eq!(
            refused(none, &good, BAR),
            "the block has an MSI-X table, but its place is not known"
        );
        assert!(PLACES.check_csr(0x3000).is_err());
    }

    fn offset() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => (0u64..0x50).prop_map(|page| page << 12),
            4 => (0u64..5).prop_map(|at| at << 16),
            1 => 0u64..0x5_0000,
            1 => any::<u64>(),
        ]
    }

    proptest! {
        /// Places are accepted if, and only if, no byte of the BAR would belong to two slaves, none would be outside,
        /// and all slaves are aligned.
        #[test]
        fn random_places_are_judged_as_byte_by_byte(
            csr in offset(),
            chan in offset(),
            att in offset(),
            msix in proptest::option::of(offset()),
            window in proptest::option::of(offset()),
            channels_log2 in 0u32..4,
            att_log2 in 8u32..13,
            table: bool,
            bar_log2 in 12u32..19,
        ) {
            let places = Places { csr, chan, att, msix, window };
            let bar = 1u64 << bar_log2;
            let block = block(1 << channels_log2, att_log2, table);
            // By the sizes of the design, written out.
            let ranges = [
                (Some(csr), 1024),
                (Some(chan), 4096 << channels_log2),
                (Some(att), 8 << att_log2),
                (msix, 4096),
                (window, 65536),
            ];
            let mut taken: Vec<bool> = vec![false; bar as usize];
            let mut sound = msix.is_some() == table;
            for (offset, bytes) in ranges {
                let Some(offset) = offset else { continue };
                sound &= offset % bytes == 0;
                for byte in 0..bytes {
                    match offset.checked_add(byte).filter(|at| *at < bar) {
                        Some(at) => sound &= !core::mem::replace(&mut taken[at as usize], true),
                        None => sound = false,
                    }
                }
            }
            prop_assert_eq!(places.check(&block, bar).is_ok(), sound);
        }
    }
}
