// SPDX-License-Identifier: GPL-2.0

//! The boards that this driver is built for: how they are found, and where the block's slaves
//! lie in the BAR. `peerlane extend` places the slaves and writes the numbers into its report.

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
    /// Frequency of the hard IP's clock, in hertz.
    pub(crate) clock: u64,
}

/// Peerlane's reference BSP (`bsp/reference`), extended.
pub(crate) const REFERENCE: Place = Place {
    bar: 2,
    csr: 0x3000,
    chan: 0x2_0000,
    att: 0x2_8000,
    // 128 bits of 8 lanes at 5 GT/s.
    clock: 250_000_000,
};

/// Vendor and device ID that Altera's OpenCL boards have: `vendor_id_hwtcl` and
/// `device_id_hwtcl` of their hard IP's parameters.
pub(crate) const ALTERA_OPENCL: pci::DeviceId = id(0x1172, 0xab00);

/// An ID that [`pci::Vendor`] has no name for.
const fn id(vendor: u32, device: u32) -> pci::DeviceId {
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
