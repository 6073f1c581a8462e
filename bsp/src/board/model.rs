//! The facts of a board that its files depend on.

use std::path::PathBuf;

use crate::error::Place;

/// The only family that the templates support.
pub(crate) const FAMILY: &str = "Stratix V";

/// A board.
#[derive(Debug, Clone)]
pub struct Board {
    /// Name, also of its directory.
    pub name: String,
    /// The board's usual name.
    pub title: String,
    /// The device.
    pub device: Device,
    /// Resources of the device that the board's logic takes.
    pub shell: Shell,
    /// The link to the host.
    pub pcie: Pcie,
    /// Clock of the board's logic that always runs, in Hz.
    pub board_hz: u64,
    /// Reference of the kernels' PLL, in Hz.
    pub kernel_hz: u64,
    /// Banks of memory: 1, 2 or 4, all of one size.
    pub memory: Vec<Bank>,
    /// The file with the pins, as given.
    pub pins: Option<PathBuf>,
    /// The place of `pins` in the description, or the place where it belongs.
    pub pins_place: Place,
    /// The place of the BAR's size in the description, or the place where it belongs.
    pub bar_place: Place,
}

/// The device.
#[derive(Debug, Clone)]
pub struct Device {
    /// Part number, as Quartus spells it.
    pub part: String,
    /// Speed grade, as Platform Designer spells it.
    pub speed_grade: String,
    /// Speed grade of the fabric.
    pub core_grade: char,
    /// File of the device in the OpenCL SDK.
    pub model: String,
}

/// Resources of the device that the board's logic takes, without kernels and Peerlane's block.
#[derive(Debug, Clone)]
pub struct Shell {
    /// Adaptive logic modules.
    pub alms: u64,
    /// Registers.
    pub ffs: u64,
    /// DSP blocks.
    pub dsps: u64,
    /// M20K memories.
    pub rams: u64,
}

/// The link to the host.
#[derive(Debug, Clone)]
pub struct Pcie {
    /// 1 or 2.
    pub generation: u32,
    /// 4 or 8.
    pub lanes: u32,
    /// Address bits of the BAR, if the description gives its size.
    pub bar_bits: Option<u32>,
    /// PCI vendor.
    pub vendor: u16,
    /// PCI device.
    pub device: u16,
    /// PCI subsystem vendor.
    pub subsystem_vendor: u16,
    /// Reference clock in Hz.
    pub reference_hz: u64,
}

/// A bank of DDR3 memory with a UniPHY controller.
#[derive(Debug, Clone)]
pub struct Bank {
    /// Name of its instance, and of its pins' ports.
    pub name: String,
    /// `UNBUFFERED` or `DISCRETE`, as UniPHY spells it.
    pub format: &'static str,
    /// Bytes of the bank.
    pub bytes: u64,
    /// Data pins.
    pub width: u32,
    /// Memory clock in Hz.
    pub clock_hz: u64,
    /// Reference clock in Hz.
    pub reference_hz: u64,
    /// Address pins; also the bits of a row.
    pub row_bits: u32,
    /// Bits of a column.
    pub column_bits: u32,
    /// Bank address pins.
    pub bank_bits: u32,
    /// Ranks: pins of chip select, clock enable and termination.
    pub ranks: u32,
    /// Pairs of clock pins.
    pub clock_pairs: u32,
    /// Further parameters of the controller.
    pub uniphy: Vec<(String, String)>,
}

impl Board {
    /// Returns the bytes of all memory.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.iter().map(|bank| bank.bytes).sum()
    }
}

impl Bank {
    /// Returns the bits of the controller's port: a quarter-rate controller moves 8 words of the data pins in a clock.
    pub fn port_bits(&self) -> u32 {
        8 * self.width
    }
}
