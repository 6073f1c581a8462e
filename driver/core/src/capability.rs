// SPDX-License-Identifier: MIT OR Apache-2.0
//! Capabilities of a build of the block, read from its CSR.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::channel::LOCAL_BITS;
use super::regs::{chan, csr};
use super::streams::{self, Counts};
use core::fmt;

/// The registers that identify a block, as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// `MAP_ID`: hash of the register map.
    pub map_id: u32,
    /// `BUILD_ID`: hash of the map and the build's parameters.
    pub build_id: u32,
    /// `CAPS0`.
    pub caps0: u32,
    /// `CAPS1`.
    pub caps1: u32,
    /// `CAPS2`.
    pub caps2: u32,
    /// `CAPS3`.
    pub caps3: u32,
}

/// Capabilities of a build of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Version of the register map.
    pub version: u32,
    /// Channels, each with a 4 KiB page.
    pub channels: u32,
    /// Width of the PCIe port in bytes, 16 or 32.
    pub port_bytes: u32,
    /// Bits of a bus address: 64, or 32 when the board reaches the bus through windows.
    pub txs_addr_bits: u32,
    /// log2 of the descriptors that the queues of one direction hold, all channels
    /// together.
    pub queue_log2: u32,
    /// log2 of the ATT's entries.
    pub att_log2: u32,
    /// log2 of the longest request on the bus, bytes.
    pub max_burst_log2: u32,
    /// Bits of an FPGA memory address.
    pub mem_addr_bits: u32,
    /// log2 of the reads that can be in progress.
    pub reads_log2: u32,
    /// Whether reads carry tags, and their answers a status: one that is lost closes its
    /// tag. Otherwise answers come in order, and one that is lost closes the read port.
    pub tagged: bool,
    /// Whether the block has an MSI-X table. Otherwise it has the interrupt line only.
    pub msix: bool,
    /// Whether the block has a transaction layer of its own, which counts errors of the link.
    pub tlp: bool,
    /// Granularity of writes at the peer in bytes: first address and end of a write are multiples of it. 1: any byte.
    /// 4: whole dwords, all that `Txs` of the V-series hard IP can enable.
    pub write_granularity: u32,
    /// Numbers of the streams of the FPGA's logic.
    pub streams: Counts,
}

/// Reasons why software and block do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityError {
    /// Every register reads as ones: the board does not answer.
    Gone,
    /// The block was generated from another register map.
    Map {
        /// Value that the software was built with.
        software: u32,
        /// Value that the block reports.
        hardware: u32,
    },
    /// The block is of another build than the one expected.
    Build {
        /// Value that was expected.
        expected: u32,
        /// Value that the block reports.
        hardware: u32,
    },
    /// A capability is outside of the limits of the map.
    Capability {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u32,
    },
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("the block does not answer (every register reads as ones)"),
            Self::Map { software, hardware } => write!(
                f,
                "register maps differ: MAP_ID is {hardware:#010x} in the hardware and {software:#010x} in this software"
            ),
            Self::Build { expected, hardware } => write!(
                f,
                "builds differ: BUILD_ID is {hardware:#010x} in the hardware and {expected:#010x} was expected"
            ),
            Self::Capability { name, value } => {
                write!(f, "the block reports an impossible {name}: {value}")
            }
        }
    }
}

impl core::error::Error for IdentityError {}

/// The hard IP translates the board's addresses, in windows that software would have to set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Translated {
    /// Bits of an address that the board's port takes.
    pub bits: u32,
}

impl fmt::Display for Translated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "its port takes addresses of {} bits, which the hard IP translates in windows that this software does not set up: extend the vendor's BSP again",
            self.bits
        )
    }
}

impl core::error::Error for Translated {}

/// The largest number of descriptors that the queues of one direction hold, log2.
const LARGEST_QUEUE_LOG2: u32 = 12;
/// The smallest FPGA memory of a build, log2 of bytes.
const LEAST_MEMORY_LOG2: u32 = 20;

impl Identity {
    /// The byte offsets in the CSR, in the order of the fields.
    pub const OFFSETS: [usize; 6] = [
        csr::MAP_ID,
        csr::BUILD_ID,
        csr::CAPS0,
        csr::CAPS1,
        csr::CAPS2,
        csr::CAPS3,
    ];

    /// Makes the identity of the values of the registers at [`Identity::OFFSETS`].
    pub const fn new(words: [u32; 6]) -> Self {
        let [map_id, build_id, caps0, caps1, caps2, caps3] = words;
        Self {
            map_id,
            build_id,
            caps0,
            caps1,
            caps2,
            caps3,
        }
    }

    /// Checks the identity against the software's map and, if one is named, a build.
    pub fn check(&self, map_id: u32, build_id: Option<u32>) -> Result<Capabilities, IdentityError> {
        if *self == Self::new([u32::MAX; 6]) {
            return Err(IdentityError::Gone);
        }
        if self.map_id != map_id {
            return Err(IdentityError::Map {
                software: map_id,
                hardware: self.map_id,
            });
        }
        if let Some(expected) = build_id {
            if expected != self.build_id {
                return Err(IdentityError::Build {
                    expected,
                    hardware: self.build_id,
                });
            }
        }
        self.capabilities()
    }

    /// Reads and checks the capability fields.
    fn capabilities(&self) -> Result<Capabilities, IdentityError> {
        let caps = Capabilities {
            version: (self.caps0 & csr::CAPS0_VERSION_MASK) >> csr::CAPS0_VERSION_LSB,
            channels: (self.caps0 & csr::CAPS0_CHANNELS_MASK) >> csr::CAPS0_CHANNELS_LSB,
            port_bytes: (self.caps0 & csr::CAPS0_PORT_BYTES_MASK) >> csr::CAPS0_PORT_BYTES_LSB,
            txs_addr_bits: (self.caps0 & csr::CAPS0_TXS_ADDR_BITS_MASK)
                >> csr::CAPS0_TXS_ADDR_BITS_LSB,
            queue_log2: (self.caps1 & csr::CAPS1_QUEUE_LOG2_MASK) >> csr::CAPS1_QUEUE_LOG2_LSB,
            att_log2: (self.caps1 & csr::CAPS1_ATT_LOG2_MASK) >> csr::CAPS1_ATT_LOG2_LSB,
            max_burst_log2: (self.caps1 & csr::CAPS1_MAX_BURST_LOG2_MASK)
                >> csr::CAPS1_MAX_BURST_LOG2_LSB,
            mem_addr_bits: (self.caps1 & csr::CAPS1_MEM_ADDR_BITS_MASK)
                >> csr::CAPS1_MEM_ADDR_BITS_LSB,
            reads_log2: (self.caps2 & csr::CAPS2_READS_LOG2_MASK) >> csr::CAPS2_READS_LOG2_LSB,
            tagged: self.caps2 & csr::CAPS2_TAGGED_MASK != 0,
            msix: self.caps2 & csr::CAPS2_MSIX_MASK != 0,
            tlp: self.caps2 & csr::CAPS2_TLP_MASK != 0,
            write_granularity: 1
                << ((self.caps2 & csr::CAPS2_WRITE_GRANULARITY_LOG2_MASK)
                    >> csr::CAPS2_WRITE_GRANULARITY_LOG2_LSB),
            streams: Counts::new(self.caps3),
        };
        let checks = [
            (
                "number of channels",
                caps.channels,
                caps.channels.is_power_of_two() && caps.channels <= chan::COUNT as u32,
            ),
            (
                "port width in bytes",
                caps.port_bytes,
                matches!(caps.port_bytes, 16 | 32),
            ),
            (
                "number of bus address bits",
                caps.txs_addr_bits,
                (32..=64).contains(&caps.txs_addr_bits),
            ),
            // Builds have 256 to 4096 descriptors; each channel has one at least.
            (
                "log2 of the queues' depth",
                caps.queue_log2,
                caps.queue_log2 <= LARGEST_QUEUE_LOG2 && 1 << caps.queue_log2 >= caps.channels,
            ),
            (
                "log2 of the ATT's entries",
                caps.att_log2,
                (8..=16).contains(&caps.att_log2),
            ),
            // Requests never cross 4 KiB (PCIe Base Specification, section 2.2.7).
            (
                "log2 of the longest request",
                caps.max_burst_log2,
                caps.max_burst_log2 <= 12,
            ),
            (
                "number of FPGA memory address bits",
                caps.mem_addr_bits,
                (LEAST_MEMORY_LOG2..=LOCAL_BITS).contains(&caps.mem_addr_bits),
            ),
            // At most 64 tags (docs/explain/block.md, the PCIe port).
            (
                "log2 of the reads under way",
                caps.reads_log2,
                caps.reads_log2 <= 6,
            ),
            (
                "granularity of writes",
                caps.write_granularity,
                matches!(caps.write_granularity, 1 | 4),
            ),
            (
                "number of streams from the logic",
                caps.streams.inputs,
                caps.streams.inputs <= streams::MOST,
            ),
            (
                "number of streams to the logic",
                caps.streams.outputs,
                caps.streams.outputs <= streams::MOST,
            ),
        ];
        match checks.iter().find(|(_, _, sound)| !sound) {
            Some(&(name, value, _)) => Err(IdentityError::Capability { name, value }),
            None => Ok(caps),
        }
    }
}

impl Capabilities {
    /// Returns the number of descriptors that each direction's queue of one channel holds.
    pub const fn queue_depth(&self) -> u32 {
        // No division: the number is a power of two in every build that passes the check.
        1 << self.queue_log2.saturating_sub(self.channels.ilog2())
    }

    /// Returns the entries of the ATT.
    pub const fn att_entries(&self) -> u32 {
        1 << self.att_log2
    }

    /// Returns the bytes of FPGA memory that a descriptor can name.
    pub const fn memory_bytes(&self) -> u64 {
        1 << self.mem_addr_bits
    }

    /// Refuses a board whose addresses the hard IP translates in windows.
    pub const fn require_bus_addresses(&self) -> Result<(), Translated> {
        match self.txs_addr_bits {
            64 => Ok(()),
            bits => Err(Translated { bits }),
        }
    }

    /// Whether the block can put `address` on the bus.
    pub const fn reaches(&self, address: u64) -> bool {
        self.txs_addr_bits >= 64 || address >> self.txs_addr_bits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    const GOOD: Identity = Identity {
        map_id: 0x1234_5678,
        build_id: 0x9abc_def0,
        caps0: 0x4010_0101,
        caps1: 0x2809_0c0a,
        caps2: 0x0000_0205,
        caps3: 0x0000_0102,
    };

    #[test]
    fn capabilities_are_taken_apart() {
        let caps = GOOD.check(0x1234_5678, None).unwrap();
        assert_eq!((caps.version, caps.channels), (1, 1));
        assert_eq!((caps.port_bytes, caps.txs_addr_bits), (16, 64));
        assert_eq!((caps.queue_depth(), caps.att_entries()), (1024, 4096));
        assert_eq!(caps.memory_bytes(), 1 << 40);
        assert!(caps.reaches(u64::MAX));
        assert_eq!(caps.reads_log2, 5);
        assert!(caps.msix && !caps.tagged);
        assert_eq!((caps.streams.inputs, caps.streams.outputs), (2, 1));
        let many = Identity {
            caps3: 0x1100,
            ..GOOD
        };
        assert!(many.check(0x1234_5678, None).is_err());
    }

    #[test]
    fn channels_share_the_queues() {
        let words = [0x1234_5678, 0, 0x4010_4001, 0x2809_0c08, 0x0000_0106, 0];
        let caps = Identity::new(words).check(0x1234_5678, None).unwrap();
        assert_eq!((caps.channels, caps.queue_depth()), (64, 4));
        assert_eq!(caps.reads_log2, 6);
        assert!(caps.tagged && !caps.msix);
    }

    #[test]
    fn windows_reach_four_gigabytes() {
        let identity = Identity {
            caps0: 0x2010_0101,
            ..GOOD
        };
        let caps = identity.check(0x1234_5678, None).unwrap();
        assert!(caps.reaches(0xffff_ffff) && !caps.reaches(1 << 32));
        // Software would have to set the windows.
        assert!(caps.require_bus_addresses().is_err());
        assert!(
            GOOD.check(0x1234_5678, None)
                .is_ok_and(|caps| caps.require_bus_addresses().is_ok())
        );
        let refusal = caps.require_bus_addresses().unwrap_err().to_string();
        assert!(refusal.contains("32 bits") && refusal.contains("extend the vendor's BSP again"));
    }

    proptest! {
        /// For any values of the registers, accepted capabilities are small enough for arithmetic and allocations.
        #[test]
        fn what_is_taken_is_bounded(caps0: u32, caps1: u32, caps2: u32, caps3: u32, sound: bool) {
            // Random words alone are never accepted.
            let (caps0, caps1) = match sound {
                true => (caps0 & 0x0000_7f00 | 0x4010_0001, caps1 & 0x0f01_070f | 0x2008_0800),
                false => (caps0, caps1),
            };
            let identity = Identity { caps0, caps1, caps2, caps3: caps3 & 0x1f1f, ..GOOD };
            if let Ok(caps) = identity.check(GOOD.map_id, None) {
                prop_assert!((1..=64).contains(&caps.channels));
                prop_assert!((1..=4096).contains(&caps.queue_depth()));
                prop_assert_eq!(caps.queue_depth() * caps.channels, 1 << caps.queue_log2);
                prop_assert!((256..=65536).contains(&caps.att_entries()));
                prop_assert!((1 << 20..=1 << 40).contains(&caps.memory_bytes()));
                prop_assert!(caps.reads_log2 <= 6);
                prop_assert!(caps.streams.inputs <= 16 && caps.streams.outputs <= 16);
            }
        }
    }

    #[test]
    fn differences_are_refused() {
        assert_eq!(
            GOOD.check(1, None),
            Err(IdentityError::Map {
                software: 1,
                hardware: 0x1234_5678
            })
        );
        assert_eq!(
            GOOD.check(0x1234_5678, Some(2)),
            Err(IdentityError::Build {
                expected: 2,
                hardware: 0x9abc_def0
            })
        );
        assert!(GOOD.check(0x1234_5678, Some(0x9abc_def0)).is_ok());
        let gone = Identity::new([u32::MAX; 6]);
        assert_eq!(gone.check(u32::MAX, None), Err(IdentityError::Gone));
        for (caps0, caps1) in [
            (0x4010_0001, GOOD.caps1),
            (0x4008_0101, GOOD.caps1),
            (0x4110_0101, GOOD.caps1),
            (GOOD.caps0, 0x2809_0c10),
            (GOOD.caps0, 0x2809_070a),
            (GOOD.caps0, 0x280d_0c0a),
            (GOOD.caps0, 0x4009_0c0a),
            // 64 channels, 32 descriptors.
            (0x4010_4001, 0x2809_0c05),
            // More FPGA memory than a channel's range can name, and less than there is.
            (GOOD.caps0, 0x2909_0c0a),
            (GOOD.caps0, 0x1309_0c0a),
        ] {
            let identity = Identity {
                caps0,
                caps1,
                ..GOOD
            };
            assert!(matches!(
                identity.check(0x1234_5678, None),
                Err(IdentityError::Capability { .. })
            ));
        }
    }
}
