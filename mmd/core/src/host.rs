//! The application's memory.

use peerlane_host::{Device, Direction, Permissions, Region, Result};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// What the kernel pins: a page.
const PAGE: usize = 4096;

/// Memory of the application's that a transfer reads or writes. Whoever makes one promises that it is the
/// transfer's alone as long as this lives.
#[derive(Debug)]
pub(crate) struct HostMemory {
    address: usize,
    length: usize,
    /// FPGA to host, which the runtime calls a read.
    written: bool,
}

impl HostMemory {
    /// Memory that is read.
    ///
    /// # Safety
    /// The bytes stay mapped, and nobody writes them, as long as the value lives.
    pub(crate) unsafe fn source(address: *const c_void, length: usize) -> Self {
        Self {
            address: address.expose_provenance(),
            length,
            written: false,
        }
    }

    /// Memory that is written.
    ///
    /// # Safety
    /// The bytes stay mapped, and nobody else reads or writes them, as long as the value lives.
    pub(crate) unsafe fn destination(address: *mut c_void, length: usize) -> Self {
        Self {
            address: address.expose_provenance(),
            length,
            written: true,
        }
    }

    /// Where it begins.
    pub(crate) fn address(&self) -> u64 {
        self.address as u64
    }

    /// Bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Which way the transfer goes.
    pub(crate) fn direction(&self) -> Direction {
        match self.written {
            true => Direction::FromFpga,
            false => Direction::ToFpga,
        }
    }

    /// Some of the bytes.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.length);
        if range.is_empty() {
            return &[];
        }
        // SAFETY: they lie in the memory, which by the promise of `source` and `destination` is mapped, and
        // which nobody writes meanwhile but `bytes_mut`.
        unsafe {
            let first = with_exposed_provenance::<u8>(self.address + range.start);
            std::slice::from_raw_parts(first, range.len())
        }
    }

    /// Some of the bytes, of memory that is written.
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

    /// Lets the board reach the pages that the memory lies in; also says where in them it begins. The
    /// driver keeps pages mapped that were given back, as long as they are the same pages: to register them
    /// again is cheap then.
    pub(crate) fn register(&self, device: &Device) -> Result<(Region, u64)> {
        let start = self.address / PAGE * PAGE;
        let end = (self.address + self.length).next_multiple_of(PAGE);
        let permissions = match self.written {
            // A board that may read it proves that its writes have arrived.
            true => Permissions::ReadWrite,
            false => Permissions::Read,
        };
        let offset = self.address - start;
        // SAFETY: the board writes what transfers name, and these name bytes of the memory only, which is
        // this value's alone; the region is dropped before the value is.
        let region =
            unsafe { device.register_address(start as u64, (end - start) as u64, permissions) }?;
        Ok((region, offset as u64))
    }
}
