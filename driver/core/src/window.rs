// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place of the host's window into FPGA memory (`s_nondma`).
//!
//! There is one window a board. It belongs to no channel: all software that reaches it in the BAR can access the FPGA
//! memory that it shows, so the driver decides which process does, and which address the window has.

use super::channel::LocalRange;
use super::regs::csr;
use super::steps::{Register, Step};
use core::fmt;

/// Bytes that the window shows. Its addresses are multiples of them.
pub const BYTES: u64 = 1 << csr::WINDOW_LO_BASE_LSB;

/// An address of the window, inside of memory that its user may access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    base: u64,
}

/// Reasons why the window cannot have an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowError {
    /// The address is not a multiple of 64 KiB.
    Unaligned {
        /// The first byte.
        base: u64,
    },
    /// Not all memory that it would show may be accessed.
    Outside {
        /// The first byte.
        base: u64,
    },
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unaligned { base } => write!(
                f,
                "the window into FPGA memory cannot be placed at {base:#x}: it is not a multiple \
                 of 64 KiB"
            ),
            Self::Outside { base } => write!(
                f,
                "the window into FPGA memory at {base:#x} would show memory that its user may not \
                 access"
            ),
        }
    }
}

impl core::error::Error for WindowError {}

impl Window {
    /// Makes the window at an FPGA address, for a user that may access `allowed`.
    pub fn new(base: u64, allowed: &LocalRange) -> Result<Self, WindowError> {
        if base % BYTES != 0 {
            return Err(WindowError::Unaligned { base });
        }
        if !allowed.contains(base, BYTES) {
            return Err(WindowError::Outside { base });
        }
        Ok(Self { base })
    }

    /// Returns the FPGA address of the first byte that it shows.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Moves the window to this address, which has arrived in the block when the last step is done. The window must
    /// not be used during this: its address crosses into the memory's clock bit by bit.
    pub const fn place(&self) -> [Step; 3] {
        let low = Register::Csr(csr::WINDOW_LO);
        let high = Register::Csr(csr::WINDOW_HI);
        [
            Step::Write(low, self.base as u32 & csr::WINDOW_LO_BASE_MASK),
            Step::Write(high, (self.base >> 32) as u32 & csr::WINDOW_HI_BASE_MASK),
            Step::Wait(high, 0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn it_stands_at_multiples_of_64_kib_inside() {
        let memory = 1 << 33;
        let allowed = LocalRange::new(0x1_f000..0x5_0000, memory).unwrap();
        assert_eq!(BYTES, 65536);
        for base in [0x2_0000, 0x4_0000] {
            assert_eq!(Window::new(base, &allowed).unwrap().base(), base);
        }
        for base in [1, 0x2_1000, 0x2_ffff, u64::MAX] {
            let error = Window::new(base, &allowed).unwrap_err();
            assert_eq!(error, WindowError::Unaligned { base });
        }
        // It begins or ends outside, wraps, or is empty.
        for base in [0, 0x1_0000, 0x5_0000, 1 << 33, u64::MAX << 16] {
            let error = Window::new(base, &allowed).unwrap_err();
            assert_eq!(error, WindowError::Outside { base });
        }
        let error = Window::new(0, &LocalRange::EMPTY).unwrap_err();
        assert!(error.to_string().contains("at 0x0"), "{error}");
    }

    /// `regmap`: `WINDOW` at 0x70, bits 39:16 of the address.
    #[test]
    fn its_place_is_written_then_seen() {
        let allowed = LocalRange::new(0..1 << 40, 1 << 40).unwrap();
        let window = Window::new(0xab_1234_0000, &allowed).unwrap();
        let (low, high) = (Register::Csr(0x70), Register::Csr(0x74));
        let steps = [
            Step::Write(low, 0x1234_0000),
            Step::Write(high, 0xab),
            Step::Wait(high, 0),
        ];
        assert_eq!(window.place(), steps);
    }
}
