//! The kernel interface (`acl_kernel_interface`): the host's access to the kernels' registers.
//!
//! Source: the open runtime (intel/fpga-runtime-for-opencl), `acl_kernel_if.cpp`, and the offsets in the BSPs
//! of the *Altera SDK for OpenCL Custom Platform Toolkit User Guide*. 16 KiB, dwords with byte enables:
//!
//! | offset | |
//! | --- | --- |
//! | 0x000 | version: where the text about the program stands ([`Rom`]) |
//! | 0x018 | memory organisation, for the memory bank divider |
//! | 0x020 | segment: the CRA address that the window begins at, in steps of 4 KiB |
//! | 0x030 | software reset, 16 bytes: any write resets the kernels; reads 1 |
//! | 0x1000 | window of 4 KiB into the kernels' 30-bit CRA space |
//! | 0x2000 | the text, 4 KiB, of a board whose version says so |
//!
//! A software reset lasts 1024 cycles. Until its end an access to the reset register or to the window waits; all others
//! are answered. Segment and memory organisation are not reset. While the kernel clock does not run, an access to the
//! window waits without end.
//!
//! A store to the reset register during a reset waits without end, too: the register's logic (Altera's `sw_reset.v`)
//! restarts the count in each cycle in which it sees a store, even one that it makes wait, and ignores address and byte
//! enables. Its slave is 64 bits wide in BSPs of 13.1; it is not known whether 8 or 16 bytes of the interface lead to
//! it, so here 16 do.
//!
//! The memory bank divider itself is not modelled, because kernels and host share one view of a memory whose
//! organisation does not change while it is in use; its register holds the written value. Snoop streams are not
//! modelled either: the kernels here have no caches that would need them.
//!
//! Where CRA space has no kernel's register, reads give 0 and writes do nothing.

use serde::{Deserialize, Serialize};

use crate::access::{Wait, mask};
use crate::kernel::{BYTES as KERNEL_BYTES, Machine};
use crate::memory::Memory;

/// Cycles of a software reset.
pub(crate) const RESET_CYCLES: u64 = 1 << 10;
const CRA_SPACE: u32 = 1 << 30;
const WINDOW_BYTES: u32 = 0x1000;
/// Bytes of the text's ROM at 0x2000.
pub(crate) const ROM_BYTES: usize = 0x1000;

/// Place of the text about the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rom {
    /// At 0x2000, followed by zeros, at most 4 KiB: version 0xA0C00001.
    #[default]
    Interface,
    /// At the end of CRA space, in a power of two of bytes: the text, blanks, and its length as eight
    /// hexadecimal digits. Version 0xA0C00002.
    Cra,
}

/// The kernel interface with its kernels.
#[derive(Debug, Clone)]
pub(crate) struct KernelInterface {
    rom: Rom,
    text: Vec<u8>,
    organisation: u32,
    segment: u32,
    reset_left: u64,
    pub(crate) resets: u64,
    kernels: Vec<Machine>,
}

impl KernelInterface {
    /// Bytes of the slave.
    pub(crate) const BYTES: u64 = 0x4000;

    /// Makes the interface in its state after the FPGA's configuration.
    pub(crate) fn new(rom: Rom, text: &str, kernels: Vec<Machine>) -> Self {
        let text = match rom {
            Rom::Interface => text.as_bytes().to_vec(),
            Rom::Cra => {
                // 2^(floor(log2(length + 8)) + 1), as the runtime computes it.
                let bytes = 2 << (text.len() + 8).ilog2();
                let mut rom = text.as_bytes().to_vec();
                rom.resize(bytes - 8, b' ');
                rom.extend(format!("{:08X}", text.len()).bytes());
                rom
            }
        };
        Self {
            rom,
            text,
            organisation: 0,
            segment: 0,
            reset_left: 0,
            resets: 0,
            kernels,
        }
    }

    pub(crate) fn kernels(&self) -> &[Machine] {
        &self.kernels
    }

    pub(crate) fn kernels_mut(&mut self) -> &mut [Machine] {
        &mut self.kernels
    }

    /// Returns the level of the kernels' interrupt. The bridge that carries it is reset with the kernels.
    pub(crate) fn irq(&self) -> bool {
        self.reset_left == 0 && self.kernels.iter().any(Machine::irq)
    }

    /// Returns whether something happens by itself; `clocked`: the kernel clock runs.
    pub(crate) fn busy(&self, clocked: bool) -> bool {
        self.reset_left > 0 || clocked && self.kernels.iter().any(Machine::busy)
    }

    /// Advances by a cycle; `clocked`: the kernel clock runs.
    pub(crate) fn tick(&mut self, clocked: bool, memory: &mut dyn Memory) {
        if self.reset_left > 0 {
            self.reset_left -= 1;
        } else if clocked {
            for kernel in &mut self.kernels {
                kernel.tick(memory);
            }
        }
    }

    /// Returns whether an access waits in this cycle.
    fn waits(&self, at: u64, clocked: bool) -> bool {
        match at {
            0x30..0x40 => self.reset_left > 0,
            0x1000..0x2000 => self.reset_left > 0 || !clocked,
            _ => false,
        }
    }

    /// Returns the CRA address for an offset of the window.
    fn cra(&self, at: u64) -> u32 {
        (self.segment + at as u32 % WINDOW_BYTES) % CRA_SPACE
    }

    fn kernel(&mut self, cra: u32) -> Option<(&mut Machine, u32)> {
        self.kernels.iter_mut().find_map(|kernel| {
            let at = cra.checked_sub(kernel.kernel().csr)?;
            (at < KERNEL_BYTES).then_some((kernel, at))
        })
    }

    /// Returns the dword at an offset of the text's ROM.
    fn text(&self, at: usize) -> u32 {
        let byte = |n| self.text.get(at + n).copied().unwrap_or(0);
        u32::from_le_bytes(std::array::from_fn(byte))
    }

    pub(crate) fn read(&mut self, at: u64, clocked: bool) -> Result<u32, Wait> {
        if self.waits(at, clocked) {
            return Err(Wait);
        }
        Ok(match (at, self.rom) {
            (0x00, Rom::Interface) => 0xA0C0_0001,
            (0x00, Rom::Cra) => 0xA0C0_0002,
            (0x18, _) => self.organisation,
            (0x20, _) => self.segment,
            (0x30..0x40, _) => u32::from(at == 0x30),
            (0x1000..0x2000, rom) => {
                let cra = self.cra(at);
                let begin = CRA_SPACE as usize - self.text.len();
                match (cra as usize).checked_sub(begin) {
                    Some(at) if rom == Rom::Cra => self.text(at),
                    _ => self.kernel(cra).map_or(0, |(kernel, at)| kernel.read(at)),
                }
            }
            (0x2000..0x3000, Rom::Interface) => self.text(at as usize - 0x2000),
            _ => 0,
        })
    }

    pub(crate) fn write(
        &mut self,
        at: u64,
        value: u32,
        lanes: u8,
        clocked: bool,
    ) -> Result<(), Wait> {
        if self.waits(at, clocked) {
            if (0x30..0x40).contains(&at) {
                self.reset_left = RESET_CYCLES;
            }
            return Err(Wait);
        }
        let mask = mask(lanes);
        let merged = |old: u32| old & !mask | value & mask;
        match at {
            0x18 => self.organisation = merged(self.organisation),
            0x20 => self.segment = (merged(self.segment) % CRA_SPACE) & !(WINDOW_BYTES - 1),
            0x30..0x40 => self.reset(),
            0x1000..0x2000 => {
                let cra = self.cra(at);
                if let Some((kernel, at)) = self.kernel(cra) {
                    kernel.write(at, value, lanes);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.reset_left = RESET_CYCLES;
        self.resets += 1;
        for kernel in &mut self.kernels {
            kernel.reset();
        }
    }
}
