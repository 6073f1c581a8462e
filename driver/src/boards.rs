// SPDX-License-Identifier: GPL-2.0

//! How a board is found, and where the block's slaves lie in its BAR.

use kernel::{bindings, pci};

/// Where the block is in a board's BAR.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The BAR.
    pub(crate) bar: u32,
    /// Byte offset of the CSR.
    pub(crate) csr: usize,
    /// Byte offset of the channel pages.
    pub(crate) chan: usize,
    /// Byte offset of the ATT.
    pub(crate) att: usize,
    /// Byte offset of the window into FPGA memory, where the BAR has one.
    pub(crate) window: Option<usize>,
    /// Bytes of FPGA memory, from address 0 on.
    pub(crate) memory: u64,
    /// Frequency of the hard IP's clock, in hertz.
    pub(crate) clock: u64,
}

/// An ID that [`pci::Vendor`] has no name for.
pub(crate) const fn id(vendor: u32, device: u32) -> pci::DeviceId {
    let raw = bindings::pci_device_id {
        vendor,
        device,
        subvendor: u32::MAX,
        subdevice: u32::MAX,
        class: 0,
        class_mask: 0,
        driver_data: 0,
        override_only: 0,
    };
    // SAFETY: `DeviceId` is a transparent wrapper of this structure, without invariants.
    unsafe { core::mem::transmute(raw) }
}
