// SPDX-License-Identifier: GPL-2.0

//! How a board is found, and where the block's slaves lie in its BAR.

use crate::logic::places::Places;
pub(crate) use crate::logic::shell::{Line, OpenCl, Range};
use kernel::{bindings, pci, prelude::*};

/// A board that the driver was built for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Name of the board.
    pub(crate) name: &'static CStr,
    /// `BUILD_ID` of its block, which also stands for the offsets below.
    pub(crate) build_id: u32,
    /// The BAR.
    pub(crate) bar: u32,
    /// Byte offset of the CSR.
    pub(crate) csr: usize,
    /// Byte offset of the channel pages.
    pub(crate) chan: usize,
    /// Byte offset of the ATT.
    pub(crate) att: usize,
    /// Byte offset of the MSI-X table, in builds with one.
    pub(crate) msix: Option<usize>,
    /// Byte offset of the window into FPGA memory, where the BAR has one.
    pub(crate) window: Option<usize>,
    /// Bytes of FPGA memory, from address 0 on.
    pub(crate) memory: u64,
    /// Frequency of the hard IP's clock, in hertz.
    pub(crate) clock: u64,
    /// The hard IP's interrupt input, of builds without an MSI-X table.
    pub(crate) line: Option<Line>,
    /// The OpenCL side, as far as the BAR has it.
    pub(crate) opencl: OpenCl,
}

impl Place {
    /// Returns the places of the slaves.
    pub(crate) fn slaves(&self) -> Places {
        let offset = |at: usize| at as u64;
        Places {
            csr: offset(self.csr),
            chan: offset(self.chan),
            att: offset(self.att),
            msix: self.msix.map(offset),
            window: self.window.map(offset),
        }
    }
}

/// Makes the IDs of a board, with those of its subsystem: only these differ from the IDs of the vendor's board, which
/// belongs to another driver. `u32::MAX` (`PCI_ANY_ID`) is any; [`pci::DeviceId`] itself makes no ID with a
/// subsystem.
pub(crate) const fn id(vendor: u32, device: u32, subvendor: u32, subdevice: u32) -> pci::DeviceId {
    let raw = bindings::pci_device_id {
        vendor,
        device,
        subvendor,
        subdevice,
        class: 0,
        class_mask: 0,
        driver_data: 0,
        override_only: 0,
    };
    // SAFETY: `DeviceId` is a transparent wrapper of this structure, without invariants.
    unsafe { core::mem::transmute(raw) }
}
