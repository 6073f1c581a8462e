// SPDX-License-Identifier: GPL-2.0

//! Memory of the driver that the board reaches.

use crate::{
    ffi::{peerlane_page_address, peerlane_page_to_pfn, raw_device},
    logic::{
        att::Permissions,
        record::{self, DWORDS},
        regs::Completion,
    },
    memory::direction,
};
use core::ptr::NonNull;
use kernel::{
    bindings,
    device::{Bound, Device},
    page::PAGE_SHIFT,
    prelude::*,
    sync::aref::ARef,
};

/// Pages that the board writes and the driver reads, and that can also be mapped into a process, for example a
/// completion ring. (`dma_alloc_pages`: they need no synchronisation where devices are coherent, as on x86.) The
/// caller's control group is charged for them, except where the DMA API takes them from a pool of its own (CMA,
/// restricted DMA), and for an IOMMU's tables of pages.
pub(crate) struct DmaPages {
    device: ARef<Device>,
    pages: NonNull<bindings::page>,
    address: u64,
    bytes: usize,
    permissions: Permissions,
}

// SAFETY: the pages are ours alone.
unsafe impl Send for DmaPages {}
// SAFETY: all access is by volatile loads, or while the board does not write.
unsafe impl Sync for DmaPages {}

impl DmaPages {
    /// Allocates so many bytes, whole pages, all zero, which the board may access as `permissions` say: an IOMMU
    /// enforces that if it can.
    pub(crate) fn new(
        device: &Device<Bound>,
        bytes: usize,
        permissions: Permissions,
    ) -> Result<Self> {
        let mut address = 0;
        // SAFETY: the device is bound.
        let pages = unsafe {
            bindings::dma_alloc_pages(
                raw_device(device),
                bytes,
                &mut address,
                direction(permissions),
                bindings::GFP_KERNEL_ACCOUNT,
            )
        };
        let pages = Self {
            device: device.into(),
            pages: NonNull::new(pages).ok_or(ENOMEM)?,
            address,
            bytes,
            permissions,
        };
        // The allocation does not promise zeros.
        // SAFETY: so many bytes are ours, and nothing else uses them.
        unsafe { pages.start().cast::<u8>().write_bytes(0, bytes) };
        Ok(pages)
    }

    /// Returns the kernel's address of the pages.
    pub(crate) fn start(&self) -> *mut u32 {
        // SAFETY: `dma_alloc_pages` without `__GFP_HIGHMEM` gives pages that are always mapped.
        unsafe { peerlane_page_address(self.pages.as_ptr()).cast() }
    }

    /// Empties the completion ring in these pages. The board must not write to it during this.
    pub(crate) fn empty_ring(&self) {
        // SAFETY: so many bytes are ours.
        unsafe { empty_ring(self.start(), self.bytes) };
    }

    /// Returns the bus address.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the frame of a page.
    pub(crate) fn pfn(&self, index: usize) -> Option<usize> {
        let inside = index << PAGE_SHIFT < self.bytes;
        // SAFETY: a valid page, the first of neighbours.
        inside.then(|| unsafe { peerlane_page_to_pfn(self.pages.as_ptr()) } as usize + index)
    }
}

/// Marks all slots of a completion ring as holding no record.
///
/// # Safety
/// So many bytes are there, aligned. A process may be reading them.
pub(crate) unsafe fn empty_ring(start: *mut u32, bytes: usize) {
    for slot in 0..bytes / Completion::SIZE {
        for (dword, value) in record::emptied(slot as u32) {
            // SAFETY: by contract. A dword is stored at once: a reader sees a record or none.
            unsafe { start.add(slot * DWORDS + dword).write_volatile(value.to_le()) };
        }
    }
}

impl Drop for DmaPages {
    fn drop(&mut self) {
        // SAFETY: the device is bound until all rings are gone; the board does not know this one any more.
        unsafe {
            bindings::dma_free_pages(
                raw_device(self.device.as_bound()),
                self.bytes,
                self.pages.as_ptr(),
                self.address,
                direction(self.permissions),
            );
        }
    }
}
