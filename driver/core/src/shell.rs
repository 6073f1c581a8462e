// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vendor's part of a board, as far as the driver uses it: the hard IP's interrupt registers, and the OpenCL
//! side, which is the interface to the kernels in the FPGA, their clock, and the registers that identify the board.
//!
//! The board's description ([`super::board`]) has the addresses. Nothing in the FPGA reports them.

use super::capability::Capabilities;
use super::places::{PlaceError, Places, Slave};
use core::ops;

/// Bytes of the hard IP's control registers (Stratix V Avalon-MM Interface for PCIe Solutions User Guide,
/// 683411, 5.7: 14 address bits).
pub const CRA_BYTES: u64 = 0x4000;

/// Avalon-MM to PCI Express Interrupt Status Register: a bit for each of the 16 lines, with its present level. The
/// user guide (683411, 5.7.1.1) has it at 0x0060 in its table and at 0x0040 in the list of registers (5.7); vendors'
/// drivers read 0x0040, and the other address is that of the vector (5.7.1.2, table 47).
pub const INTERRUPT_STATUS: usize = 0x40;

/// Avalon-MM to PCI Express Interrupt Enable Register (683411, 5.7.1.2): only a line whose bit is set makes a
/// message. After a reset none is.
pub const INTERRUPT_ENABLE: usize = 0x50;

/// Lines that the hard IP takes (683411, 5.7.1.2: `AVL_IRQ[15:0]`).
pub const LINES: u32 = 16;

/// Bytes of the interface to the kernels (open OpenCL runtime, `acl_kernel_if.h`: the window into the kernels'
/// registers at 0x1000, the text that describes them at 0x2000, each 4 KiB; BSPs leave it 16 KiB).
pub const KERNELS_BYTES: u64 = 0x4000;

/// Register of that interface that resets all kernels when it is written, and does not read as 0 when they are.
/// (Open OpenCL runtime, `acl_kernel_if.cpp`.) Their arguments stay.
pub const KERNELS_RESET: u64 = 0x30;

/// Register of the kernels' clock that resets it when it is written (open OpenCL runtime, `acl_pll.cpp`).
pub const CLOCK_RESET: u64 = 0x110;

/// Largest size of such a register's slave, in bytes. (BSPs of 13.1 have that of the kernels with 64 bits. It is
/// aligned to 16 bytes, and 16 bytes are between the clock's slave and the next one.)
const RESET_BYTES: u64 = 16;

/// The hard IP's interrupt input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Byte offset of the hard IP's control registers in the BAR.
    pub cra: u64,
    /// Number of the block's line.
    pub block: u32,
    /// Number of the OpenCL kernels' line.
    pub kernels: Option<u32>,
}

impl Line {
    /// Returns the offset in the BAR of [`INTERRUPT_STATUS`].
    pub const fn status(&self) -> usize {
        self.cra as usize + INTERRUPT_STATUS
    }

    /// Returns the offset in the BAR of [`INTERRUPT_ENABLE`].
    pub const fn enable(&self) -> usize {
        self.cra as usize + INTERRUPT_ENABLE
    }

    /// Returns the value to write there so that the block's line makes messages, and the kernels' if `kernels` is
    /// set.
    pub fn enabled(&self, kernels: bool) -> u32 {
        bit(Some(self.block)) | if kernels { self.kernels_mask() } else { 0 }
    }

    /// Returns the kernels' bit in the status; 0 if they have none.
    pub fn kernels_mask(&self) -> u32 {
        bit(self.kernels)
    }
}

fn bit(line: Option<u32>) -> u32 {
    line.and_then(|line| 1_u32.checked_shl(line)).unwrap_or(0)
}

/// A range of the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Byte offset.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The OpenCL side of a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenCl {
    /// The interface to the kernels.
    pub kernels: Option<Range>,
    /// Their clock.
    pub clock: Option<Range>,
    /// The board's version.
    pub version: Option<Range>,
    /// The FPGA's temperature.
    pub temperature: Option<Range>,
    /// Whether the board's memory is calibrated.
    pub status: Option<Range>,
}

/// A part of the OpenCL side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// The interface to the kernels.
    Kernels,
    /// Their clock.
    Clock,
    /// The board's version.
    Version,
    /// The FPGA's temperature.
    Temperature,
    /// Whether the board's memory is calibrated.
    Status,
}

impl Area {
    /// All areas, in the order of their numbers in the driver's interface.
    pub const ALL: [Self; 5] = [
        Self::Kernels,
        Self::Clock,
        Self::Version,
        Self::Temperature,
        Self::Status,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Kernels => "the kernels' interface",
            Self::Clock => "the kernels' clock",
            Self::Version => "version_id",
            Self::Temperature => "temperature",
            Self::Status => "uniphy_status",
        }
    }

    /// Returns the register that must be read after a store of so many bytes at an offset of the area, before the
    /// next store: that of a reset.
    ///
    /// A reset lasts for some thousand cycles, and lets stores to it wait during that time. Its logic (`sw_reset.v`
    /// of Altera's BSPs) starts the count again in each cycle in which it sees a store, at any address in the slave
    /// and with any bytes. So a store that waits there waits for ever, and with it the whole BAR. A read is answered
    /// when the reset has ended.
    pub const fn read_behind(self, offset: u64, bytes: u64) -> Option<u64> {
        let reset = match self {
            Self::Kernels => KERNELS_RESET,
            Self::Clock => CLOCK_RESET,
            Self::Version | Self::Temperature | Self::Status => return None,
        };
        match offset < reset + RESET_BYTES && reset < offset.saturating_add(bytes) {
            true => Some(reset),
            false => None,
        }
    }

    /// Whether it is only read.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Version | Self::Temperature | Self::Status)
    }
}

impl OpenCl {
    /// Whether the OpenCL side exists: it needs the kernels' interface.
    pub const fn is_there(&self) -> bool {
        self.kernels.is_some()
    }

    /// Returns the range of an area.
    pub const fn range(&self, area: Area) -> Option<Range> {
        match area {
            Area::Kernels => self.kernels,
            Area::Clock => self.clock,
            Area::Version => self.version,
            Area::Temperature => self.temperature,
            Area::Status => self.status,
        }
    }

    /// Returns the bytes of an area; 0 if it does not exist.
    pub fn bytes(&self, area: Area) -> u64 {
        self.range(area).map_or(0, |range| range.bytes)
    }

    /// Returns the bytes of the BAR for `bytes` bytes of an area, from an offset in it on. `None`: they are not all
    /// there.
    pub fn place(&self, area: Area, offset: u64, bytes: u64) -> Option<ops::Range<u64>> {
        let range = self.range(area)?;
        let end = offset.checked_add(bytes)?;
        let start = range.offset.checked_add(offset)?;
        (end <= range.bytes).then(|| start..start + bytes)
    }

    fn slaves(&self) -> impl Iterator<Item = Slave> + '_ {
        Area::ALL.into_iter().filter_map(|area| {
            let Range { offset, bytes } = self.range(area)?;
            let name = area.name();
            Some(Slave {
                name,
                offset,
                bytes,
            })
        })
    }

    /// Returns the offset in the BAR of [`KERNELS_RESET`].
    pub fn kernels_reset(&self) -> Option<usize> {
        let kernels = self.kernels?;
        Some((kernels.offset + KERNELS_RESET) as usize)
    }

    /// Whether the kernels' interface begins and ends with pages of so many bytes, a power of two. Then a process
    /// that maps its pages reaches nothing else.
    pub fn is_mappable(&self, page: u64) -> bool {
        let whole = |range: Range| (range.offset | range.bytes) & (page - 1) == 0;
        self.kernels.is_some_and(whole)
    }
}

/// Returns the accesses that a range of bytes takes, in ascending order: offset and length of each, 1, 2 or 4 bytes,
/// aligned to their length.
pub fn accesses(offset: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = offset.saturating_add(bytes);
    let mut at = offset;
    core::iter::from_fn(move || {
        let left = end - at;
        let length = [4, 2, 1]
            .into_iter()
            .find(|length| at % length == 0 && *length <= left)?;
        at += length;
        Some((at - length, length))
    })
}

/// Whether one of the [`accesses`] by which bytes were read from an offset on has returned only ones. A board that is
/// not there answers none, and the root complex returns ones then (PCI Express Base Specification, 2.3.2); registers
/// may hold ones, too. So another register must be read to decide.
pub fn reads_as_ones(offset: u64, bytes: &[u8]) -> bool {
    accesses(offset, bytes.len() as u64).any(|(at, length)| {
        let from = (at - offset) as usize;
        let read = bytes.get(from..from + length as usize);
        read.is_some_and(|read| read.iter().all(|byte| *byte == u8::MAX))
    })
}

/// Checks that these parts of a board are in a BAR of so many bytes, and overlap neither each other nor the slaves of
/// a block with these capabilities. A holder of the OpenCL side would reach those slaves, too.
pub fn check(
    line: Option<&Line>,
    opencl: &OpenCl,
    places: &Places,
    capabilities: &Capabilities,
    bar: u64,
) -> Result<(), PlaceError> {
    let cra = line.map(|line| Slave {
        name: "the hard IP's registers",
        offset: line.cra,
        bytes: CRA_BYTES,
    });
    let ours = || {
        let block = places.slaves(capabilities).into_iter().flatten();
        block.chain(cra)
    };
    if let Some(cra) = cra {
        cra.check(bar)?;
    }
    for slave in opencl.slaves() {
        slave.check_inside(bar)?;
    }
    let all = || ours().chain(opencl.slaves());
    for (index, one) in all().enumerate() {
        for other in all().skip(index + 1) {
            if one.overlaps(&other) {
                return Err(PlaceError::Overlap { one, other });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
