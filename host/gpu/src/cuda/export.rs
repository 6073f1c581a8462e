//! GPU memory as dma-bufs.

use super::{Backing, Gpu};
use crate::error::{Error, Result};
use cudarc::driver::sys;
use peerlane_host::{Pages, widen};
use std::ffi::c_int;
use std::ops::Range;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// GPU memory as a dma-buf, which keeps the memory until it is closed.
#[derive(Debug)]
pub struct DmaBuf {
    /// The dma-buf.
    pub file: OwnedFd,
    /// Its length in bytes: whole pages, the largest that the allocation has room for, or the host's pages around the
    /// range.
    pub length: u64,
    /// Offset in it of the requested range.
    pub offset: u64,
    /// The range of it that is registered at a board: all of it, unless other allocations of the program lie in its
    /// pages.
    pub(crate) register: Range<u64>,
}

/// Results that CUDA may return for a range that cannot be one dma-buf (`cuMemGetHandleForAddressRange`).
const REFUSED: [c_int; 2] = [
    sys::CUresult::CUDA_ERROR_INVALID_VALUE as c_int,
    sys::CUresult::CUDA_ERROR_NOT_SUPPORTED as c_int,
];

impl Gpu {
    /// Finds the allocation that holds an address.
    pub(crate) fn allocation(&self, address: u64) -> Result<Range<u64>> {
        let _bound = self.bind()?;
        let (mut base, mut size) = (0, 0);
        // SAFETY: both are places of the types that the function names.
        let code = unsafe { (self.driver().address_range)(&raw mut base, &raw mut size, address) };
        self.driver().check("cuMemGetAddressRange", code)?;
        Ok(base..base.saturating_add(size as u64))
    }

    /// Returns the number that distinguishes a buffer from an earlier one at the same address.
    pub(crate) fn identity(&self, address: u64) -> Result<u64> {
        let _bound = self.bind()?;
        let mut identity = 0_u64;
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID as c_int;
        let place = (&raw mut identity).cast();
        // SAFETY: the attribute is a number of 64 bits.
        let code = unsafe { (self.driver().pointer_get)(place, attribute, address) };
        self.driver().check("cuPointerGetAttribute", code)?;
        Ok(identity)
    }

    /// Exports GPU memory of the program's own as a dma-buf, by its address. The dma-buf has whole pages: other bytes
    /// of the same allocation may be in it, and bytes of other allocations where this one does not consist of whole
    /// pages. Pieces that were mapped side by side by virtual memory management become one dma-buf if they were made
    /// with the same properties ("Memory Management", `cuMemGetHandleForAddressRange`).
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Bounds`] if the range lies neither in one allocation nor in pieces side by side,
    /// [`Error::Pieces`], and [`Error::Cuda`].
    ///
    /// # Safety
    /// Boards and other devices may write the memory for as long as they have the dma-buf.
    pub unsafe fn export_address(&self, address: u64, length: u64) -> Result<DmaBuf> {
        let backing = self.backing(&(address..address.saturating_add(length)))?;
        self.export_in(address, length, &backing)
    }

    /// Exports a range of the memory that was found at its address.
    pub(crate) fn export_in(&self, address: u64, length: u64, backing: &Backing) -> Result<DmaBuf> {
        if length == 0 {
            return Err(Error::Empty);
        }
        let allocation = &backing.range;
        let outside = || Error::Bounds {
            offset: address - allocation.start,
            length,
            size: allocation.end - allocation.start,
        };
        let end = address
            .checked_add(length)
            .filter(|end| *end <= allocation.end);
        let asked = address..end.ok_or_else(outside)?;
        let Pages {
            export: range,
            register,
        } = widen(&asked, allocation).ok_or_else(outside)?;
        let _bound = self.bind()?;
        let mut file: RawFd = -1;
        let kind = sys::CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD as c_int;
        let size = (range.end - range.start) as usize;
        // SAFETY: for this kind the result is a file descriptor, which is an int.
        let code = unsafe {
            (self.driver().range_handle)((&raw mut file).cast(), range.start, size, kind, 0)
        };
        let check = self.driver().check("cuMemGetHandleForAddressRange", code);
        check.map_err(|error| match error {
            Error::Cuda { code, name, .. } if backing.pieces > 1 && REFUSED.contains(&code) => {
                Error::Pieces {
                    length,
                    pieces: backing.pieces,
                    name,
                }
            }
            error => error,
        })?;
        // SAFETY: the call has made it, and no other code has it.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        Ok(DmaBuf {
            file,
            length: range.end - range.start,
            offset: asked.start - range.start,
            register: register.start - range.start..register.end - range.start,
        })
    }
}
