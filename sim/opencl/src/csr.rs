//! Places of a kernel's control and status registers.
//!
//! Source: the open runtime (intel/fpga-runtime-for-opencl), `acl_kernel_if.cpp`, which drives all three versions; for
//! version 3 also the code that compilers up to 18.1 generate.

use serde::{Deserialize, Serialize};

/// Version of the registers, as in bits 31:16 of the status register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Csr {
    /// Compilers up to 18.1: no finish counter, one start at a time, software clears done.
    V3,
    /// From 19.1 on: a finish counter, queued starts.
    V4,
    /// From 23.1 on: the start register is separate from the status register.
    #[default]
    V5,
}

/// Bits of the status register.
pub(crate) mod status {
    /// Starts the kernel (versions 3 and 4).
    pub const START: u32 = 1 << 0;
    pub const DONE: u32 = 1 << 1;
    /// The printf buffer is full.
    pub const STALLED: u32 = 1 << 3;
    /// The printf buffer has been emptied.
    pub const UNSTALL: u32 = 1 << 4;
    pub const BUSY: u32 = 1 << 14;
    pub const RUNNING: u32 = 1 << 15;
    /// Lowest bit of the version.
    pub const VERSION: u32 = 16;
}

impl Csr {
    pub(crate) fn version(self) -> u32 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
        }
    }

    /// Offset of the start register, if it is separate.
    pub(crate) fn start(self) -> Option<u32> {
        (self == Self::V5).then_some(0x08)
    }

    /// Offset of the number of bytes in the printf buffer.
    pub(crate) fn printf(self) -> u32 {
        match self {
            Self::V3 | Self::V4 => 0x04,
            Self::V5 => 0x0C,
        }
    }

    /// Offset of the finish counter, if there is one.
    pub(crate) fn finish(self) -> Option<u32> {
        match self {
            Self::V3 => None,
            Self::V4 => Some(0x28),
            Self::V5 => Some(0x30),
        }
    }

    /// Offset of the dimensions of the work. Dwords: dimensions, work-group size, global size (3), groups (3), local
    /// size (3); then the global offset (3): dwords in version 3, a dword of padding and qwords later.
    pub(crate) fn work(self) -> u32 {
        match self {
            Self::V3 => 0x28,
            Self::V4 => 0x30,
            Self::V5 => 0x38,
        }
    }

    /// Offset of the first global offset.
    pub(crate) fn global_offset(self) -> u32 {
        match self {
            Self::V3 => self.work() + 44,
            Self::V4 | Self::V5 => self.work() + 48,
        }
    }

    /// Offset of the arguments, which are packed.
    pub(crate) fn arguments(self) -> u32 {
        match self {
            Self::V3 => self.work() + 56,
            Self::V4 | Self::V5 => self.work() + 72,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_follow_the_dimensions() {
        let arguments = [Csr::V3, Csr::V4, Csr::V5].map(Csr::arguments);
        assert_eq!(arguments, [0x60, 0x78, 0x80]);
    }
}
