//! The application's memory.

use peerlane_host::{Device, Direction, Permissions, Region, Result};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Unit in which the kernel pins memory: a page.
const PAGE: usize = 4096;

/// Memory of the application's that a transfer reads or writes. The code that makes one promises that only the transfer
/// uses the memory as long as this lives.
#[derive(Debug)]
pub(crate) struct HostMemory {
    address: usize,
    length: usize,
    /// `true`: FPGA to host, which the runtime calls a read.
    written: bool,
}

impl HostMemory {
    /// Takes memory that is read.
    ///
    /// # Safety
    /// The bytes stay mapped, and no other code writes them, as long as the value lives.
    pub(crate) unsafe fn source(address: *const c_void, length: usize) -> Self {
        Self {
            address: address.expose_provenance(),
            length,
            written: false,
        }
    }

    /// Takes memory that is written.
    ///
    /// # Safety
    /// The bytes stay mapped, and no other code reads or writes them, as long as the value lives.
    pub(crate) unsafe fn destination(address: *mut c_void, length: usize) -> Self {
        Self {
            address: address.expose_provenance(),
            length,
            written: true,
        }
    }

    /// Returns the address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address as u64
    }

    /// Returns its length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns the direction of the transfer.
    pub(crate) fn direction(&self) -> Direction {
        match self.written {
            true => Direction::FromFpga,
            false => Direction::ToFpga,
        }
    }

    /// Returns some of the bytes.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.length);
        if range.is_empty() {
            return &[];
        }
        // SAFETY: they lie in the memory, which by the promise of `source` and `destination` is mapped, and which only
        // `bytes_mut` writes.
        unsafe {
            let first = with_exposed_provenance::<u8>(self.address + range.start);
            std::slice::from_raw_parts(first, range.len())
        }
    }

    /// Returns some of the bytes, of memory that is written.
    pub(crate) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(self.written && range.start <= range.end && range.end <= self.length);
        if range.is_empty() {
            return &mut [];
        }
        // SAFETY: they lie in the memory, which by the promise of `destination` is mapped and this value's
        // alone.
        unsafe {
            let first = with_exposed_provenance_mut::<u8>(self.address + range.start);
            std::slice::from_raw_parts_mut(first, range.len())
        }
    }

    /// Lets the board reach the pages that the memory lies in; also returns the memory's offset in them. The driver
    /// keeps unregistered pages mapped, as long as they are the same pages: to register them again is fast then.
    pub(crate) fn register(&self, device: &Device) -> Result<(Region, u64)> {
        let start = self.address / PAGE * PAGE;
        let end = (self.address + self.length).next_multiple_of(PAGE);
        let permissions = match self.written {
            // If the board may also read it, a read proves that its writes have arrived.
            true => Permissions::ReadWrite,
            false => Permissions::Read,
        };
        let offset = self.address - start;
        // SAFETY: the board writes only bytes that transfers name, and these name bytes of the memory only, which is
        // this value's alone; the region is dropped before the value is.
        let region =
            unsafe { device.register_address(start as u64, (end - start) as u64, permissions) }?;
        Ok((region, offset as u64))
    }
}
