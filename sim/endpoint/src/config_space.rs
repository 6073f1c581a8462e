//! The function's configuration space: 4096 bytes, and the effects of writes.
//!
//! Capabilities are at the places of the Stratix V hard IP (user guide 683411, 5.1, "Correspondence between
//! Configuration Space Registers and the PCIe Specification": MSI 0x50, MSI-X 0x68, power management 0x78, PCI Express
//! 0x80, AER 0x800, which a BSP may leave out). The device serial number is at 0x100, where the list of extended
//! capabilities must begin and the hard IP has its virtual channel capability. Where the FPGA can be configured over
//! PCIe, the capability for it is at 0x200 ([`crate::programming`]). Bits and reset values are those of the PCI Express
//! Base Specification 3.0, chapter 7, and of the PCI Local Bus Specification 3.0, sections 6.2 and 6.8.
//!
//! A build has MSI-X (a table in the block) or MSI (the hard IP makes one of the block's interrupt
//! line), never both, and no INTx.

use peerlane_sim::{Generation, LinkConfig};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::programming::CAPABILITY as PROGRAMMING;

/// Bytes of the space.
pub(crate) const SIZE: usize = 4096;

const COMMAND: usize = 0x04;
const MSI: usize = 0x50;
const MSIX: usize = 0x68;
const POWER: usize = 0x78;
const PCIE: usize = 0x80;
const SERIAL: usize = 0x100;
const AER: usize = 0x800;

/// Bits of the AER registers for uncorrectable errors that an endpoint has.
const UNCORRECTABLE: u32 = 0x005F_F010;
/// Bits of the AER registers for correctable errors.
const CORRECTABLE: u32 = 0x0000_71C1;
/// The PCI Express capability's Device Control, and its bit that resets the function.
const DEVICE_CONTROL: usize = PCIE + 0x08;
const RESET_FUNCTION: u8 = 0x80;

/// Identity of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ids {
    /// Vendor: Altera, unless set otherwise.
    pub vendor: u16,
    /// Device: 0xAB00, as in OpenCL BSPs of the time.
    pub device: u16,
    /// Subsystem vendor.
    pub subsystem_vendor: u16,
    /// Subsystem: that of an extended board, unless set otherwise.
    pub subsystem: u16,
    /// Device serial number.
    pub serial: u64,
}

impl Default for Ids {
    fn default() -> Self {
        Self {
            vendor: 0x1172,
            device: 0xAB00,
            subsystem_vendor: 0x1172,
            subsystem: 0x504C,
            serial: 0,
        }
    }
}

/// Properties of the registers other than the identity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Features {
    pub(crate) messages: Messages,
    /// Whether the bits of Device Control that report errors are set after a reset.
    pub(crate) error_reporting: bool,
    /// Whether the function has the capability by which the FPGA is configured.
    pub(crate) programming: bool,
}

/// The function's kind of interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Messages {
    /// One message, for the interrupt line.
    Msi,
    /// This number of vectors, with their table in the block.
    MsiX(u32),
}

/// Permissions of the function by its registers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Whether it answers accesses to its BAR: Memory Space Enable, in D0.
    pub memory: bool,
    /// Whether it may send requests: Bus Master Enable, in D0.
    pub master: bool,
    /// Whether it is in D0, not D3hot.
    pub d0: bool,
    /// Whether MSI is enabled.
    pub msi: bool,
    /// Whether MSI-X is enabled.
    pub msix: bool,
    /// Whether all MSI-X vectors are masked (Function Mask).
    pub msix_mask: bool,
    /// Address of the BAR.
    pub bar: u64,
}

/// Effect of resets of the function beyond its configuration space: a function level reset, the transition from D3hot
/// to D0, and a reset of the bus. The BSP decides it: whether any of the FPGA's fabric uses the hard IP's reset
/// outputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resets {
    /// None: the block keeps its settings, registers, ATT and rings, and continues all that is in progress.
    #[default]
    Configuration,
    /// A reset of the bus or the link reaches the block, too: the block is then as after power-up. The other resets do
    /// not: the hard IP shows the fabric neither a function level reset nor the transition from D3hot to D0.
    Link,
    /// All of them reach the block.
    Fabric,
}

/// The registers.
#[derive(Debug, Clone)]
pub(crate) struct ConfigSpace {
    bytes: Box<[u8; SIZE]>,
    initial: Box<[u8; SIZE]>,
    /// Bits that software sets and clears.
    writable: Box<[u8; SIZE]>,
    /// Bits that software clears by writing 1.
    clearable: Box<[u8; SIZE]>,
    /// Offset of the register of the BAR.
    bar: usize,
}

/// Builds the space.
struct Maker(ConfigSpace);

impl Maker {
    fn put(&mut self, offset: usize, value: &[u8]) {
        self.0.initial[offset..offset + value.len()].copy_from_slice(value);
    }

    fn put16(&mut self, offset: usize, value: u16, writable: u16) {
        self.put(offset, &value.to_le_bytes());
        self.0.writable[offset..offset + 2].copy_from_slice(&writable.to_le_bytes());
    }

    fn put32(&mut self, offset: usize, value: u32, writable: u32) {
        self.put(offset, &value.to_le_bytes());
        self.0.writable[offset..offset + 4].copy_from_slice(&writable.to_le_bytes());
    }

    fn clears(&mut self, offset: usize, bits: u32) {
        self.0.clearable[offset..offset + 4].copy_from_slice(&bits.to_le_bytes());
    }

    fn header(&mut self, ids: &Ids, layout: &Layout, first_capability: usize) {
        self.put16(0x00, ids.vendor, 0);
        self.put16(0x02, ids.device, 0);
        // Memory space, bus master, parity, SERR#, INTx disable.
        self.put16(COMMAND, 0, 0x0546);
        // The function has a list of capabilities.
        self.put16(0x06, 0x0010, 0);
        self.clears(COMMAND, 0xF900_0000);
        // Processing accelerator, revision 1.
        self.put32(0x08, 0x1200_0001, 0);
        // Cache line size.
        self.put32(0x0C, 0, 0xFF);
        let bar = self.0.bar;
        let kind = 0b0100 | u32::from(layout.prefetchable) << 3;
        // At most 2 GiB, so all of the upper half is the host's.
        self.put32(bar, kind, !(layout.size - 1) as u32);
        self.put32(bar + 4, 0, u32::MAX);
        self.put16(0x2C, ids.subsystem_vendor, 0);
        self.put16(0x2E, ids.subsystem, 0);
        self.put(0x34, &[first_capability as u8]);
        // Interrupt line; no pin.
        self.put32(0x3C, 0, 0xFF);
    }

    fn messages(&mut self, messages: Messages, layout: &Layout) {
        match messages {
            Messages::Msi => {
                self.put(MSI, &[0x05, POWER as u8]);
                // One vector, a 64-bit address.
                self.put16(MSI + 2, 0x0080, 0x0071);
                self.put32(MSI + 4, 0, 0xFFFF_FFFC);
                self.put32(MSI + 8, 0, u32::MAX);
                self.put16(MSI + 12, 0, u16::MAX);
            }
            Messages::MsiX(vectors) => {
                self.put(MSIX, &[0x11, POWER as u8]);
                self.put16(MSIX + 2, vectors as u16 - 1, 0xC000);
                let at = |offset: Option<u64>| offset.unwrap_or(0) as u32 | u32::from(layout.bar);
                self.put32(MSIX + 4, at(layout.msix), 0);
                self.put32(MSIX + 8, at(layout.pending_bits()), 0);
            }
        }
    }

    fn power(&mut self) {
        self.put(POWER, &[0x01, PCIE as u8]);
        // Version 3; neither D1, D2 nor PME. D3hot to D0 resets the function (No_Soft_Reset 0).
        self.put16(POWER + 2, 0x0003, 0);
        self.put16(POWER + 4, 0, 0x0003);
    }

    fn pcie(&mut self, link: &LinkConfig, error_reporting: bool) {
        let speed = match link.generation {
            Generation::Gen1 => 1,
            Generation::Gen2 => 2,
            Generation::Gen3 => 3,
        };
        let width = link.lanes;
        self.put(PCIE, &[0x10, 0]);
        // Version 2, endpoint.
        self.put16(PCIE + 2, 0x0002, 0);
        // Function reset, role-based error reporting, payloads of 256 bytes at most.
        self.put32(PCIE + 0x04, 0x1000_8001, 0);
        // Relaxed ordering, no snoop, reads of 512 bytes; extended tags do not exist.
        let reported = if error_reporting { 0x000F } else { 0 };
        self.put16(DEVICE_CONTROL, 0x2810 | reported, 0x78FF);
        self.clears(DEVICE_CONTROL, 0x000F_0000);
        self.put32(PCIE + 0x0C, speed | width << 4, 0);
        // ASPM, read completion boundary, common clock, extended synch.
        self.put16(PCIE + 0x10, 0, 0x00CB);
        // The slot's clock.
        self.put16(PCIE + 0x12, 0x1000 | (speed | width << 4) as u16, 0);
        // Completion time-outs in all ranges, and their disabling.
        self.put32(PCIE + 0x24, 0x0000_001F, 0);
        self.put16(PCIE + 0x28, 0, 0x001F);
        // Speeds up to that of the link.
        self.put32(PCIE + 0x2C, ((1 << speed) - 1) << 1, 0);
        self.put16(PCIE + 0x30, speed as u16, 0x000F);
    }

    fn extended(&mut self, ids: &Ids, programming: bool) {
        let next = if programming { PROGRAMMING } else { AER };
        self.put32(SERIAL, 0x0003 | 1 << 16 | (next as u32) << 20, 0);
        if programming {
            // Vendor-specific; its own header has the vendor's ID and the length (683093, 6.6).
            self.put32(PROGRAMMING, 0x000B | 1 << 16 | (AER as u32) << 20, 0);
            self.put32(PROGRAMMING + 4, 0x1172 | 0x044 << 20, 0);
        }
        self.put(SERIAL + 4, &ids.serial.to_le_bytes());
        self.put32(AER, 0x0001 | 2 << 16, 0);
        self.clears(AER + 0x04, UNCORRECTABLE);
        // Internal errors are masked at first.
        self.put32(AER + 0x08, 0x0040_0000, UNCORRECTABLE);
        self.put32(AER + 0x0C, 0x0046_2010, UNCORRECTABLE);
        self.clears(AER + 0x10, CORRECTABLE);
        // Advisory errors and corrected internal errors are masked, too.
        self.put32(AER + 0x14, 0x0000_6000, CORRECTABLE);
    }
}

impl ConfigSpace {
    pub(crate) fn new(ids: &Ids, layout: &Layout, link: &LinkConfig, features: Features) -> Self {
        let zero = || Box::new([0; SIZE]);
        let mut maker = Maker(Self {
            bytes: zero(),
            initial: zero(),
            writable: zero(),
            clearable: zero(),
            bar: 0x10 + usize::from(layout.bar) * 4,
        });
        let first = match features.messages {
            Messages::Msi => MSI,
            Messages::MsiX(_) => MSIX,
        };
        maker.header(ids, layout, first);
        maker.messages(features.messages, layout);
        maker.power();
        maker.pcie(link, features.error_reporting);
        maker.extended(ids, features.programming);
        let mut space = maker.0;
        space.bytes = space.initial.clone();
        space
    }

    /// Sets every register as after power-up.
    pub(crate) fn power_up(&mut self) {
        *self.bytes = *self.initial;
    }

    /// Resets the function: sticky registers keep their values (the registers of AER).
    fn reset(&mut self) {
        let sticky = AER + 0x04..AER + 0x18;
        let kept: Vec<u8> = self.bytes[sticky.clone()].to_vec();
        *self.bytes = *self.initial;
        self.bytes[sticky].copy_from_slice(&kept);
    }

    /// Copies registers out. After the last one everything reads as 0.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        let from = usize::try_from(offset).unwrap_or(SIZE).min(SIZE);
        let there = data.len().min(SIZE - from);
        let (head, tail) = data.split_at_mut(there);
        head.copy_from_slice(&self.bytes[from..from + there]);
        tail.fill(0);
    }

    /// Writes registers; returns `true` if that resets the function.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> bool {
        let from = usize::try_from(offset).unwrap_or(SIZE).min(SIZE);
        let asleep = self.bytes[POWER + 4] & 3 != 0;
        let mut reset = false;
        for (at, value) in (from..SIZE).zip(data) {
            let (writable, clearable) = (self.writable[at], self.clearable[at]);
            // D1 and D2 do not exist: a write of them is ignored.
            if at == POWER + 4 && matches!(value & 3, 1 | 2) {
                continue;
            }
            let old = self.bytes[at];
            self.bytes[at] = (old & !writable | value & writable) & !(value & clearable);
            reset |= at == DEVICE_CONTROL + 1 && value & RESET_FUNCTION != 0;
        }
        reset |= asleep && self.bytes[POWER + 4] & 3 == 0;
        if reset {
            self.reset();
        }
        reset
    }

    /// Returns the permissions of the function by its registers.
    pub(crate) fn function(&self) -> Function {
        let command = self.bytes[COMMAND];
        let d0 = self.bytes[POWER + 4] & 3 == 0;
        let control = self.bytes[MSIX + 3];
        let bar = self.bytes[self.bar..self.bar + 8].try_into();
        Function {
            memory: d0 && command & 2 != 0,
            master: d0 && command & 4 != 0,
            d0,
            msi: self.bytes[MSI + 2] & 1 != 0,
            msix: control & 0x80 != 0,
            msix_mask: control & 0x40 != 0,
            bar: bar.map_or(0, u64::from_le_bytes) & !0xF,
        }
    }
}

#[cfg(test)]
#[path = "config_space_tests.rs"]
mod tests;
