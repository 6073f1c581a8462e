//! Memory mapped into the process.

use crate::error::{Error, Result};
use crate::memory::check;
use rustix::fd::BorrowedFd;
use rustix::mm::{self, MapFlags, ProtFlags};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// Memory mapped into the process, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: it is an address range that belongs to this value and may be used from any thread;
// every access goes through pointers or atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above: nothing hands out a reference to memory that is not atomic.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a file, shared.
    pub(crate) fn file(
        what: &'static str,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
        protection: ProtFlags,
    ) -> Result<Self> {
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe {
            mm::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                file,
                offset,
            )
        };
        Self::new(what, base, length)
    }

    /// Maps new memory of the process, all zero.
    pub(crate) fn anonymous(what: &'static str, length: usize, flags: MapFlags) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { mm::mmap_anonymous(std::ptr::null_mut(), length, protection, flags) };
        Self::new(what, base, length)
    }

    fn new(
        what: &'static str,
        base: rustix::io::Result<*mut std::ffi::c_void>,
        length: usize,
    ) -> Result<Self> {
        let error = |source| Error::map(what, length, source);
        let base = NonNull::new(base.map_err(error)?.cast());
        let base = base.ok_or_else(|| error(rustix::io::Errno::NOMEM))?;
        Ok(Self { base, length })
    }

    /// The first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Copies from the mapping.
    pub(crate) fn copy_to(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        check("mapping", self.length, offset, bytes.len())?;
        // SAFETY: the range lies in the mapping, and nobody has a reference into it, so `bytes` does
        // not overlap it. The board may be writing: then the bytes are of before or after, each by
        // itself.
        unsafe {
            let from = self.base.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len());
        }
        Ok(())
    }

    /// Copies into the mapping.
    pub(crate) fn copy_from(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        check("mapping", self.length, offset, bytes.len())?;
        // SAFETY: as in `copy_to`.
        unsafe {
            let to = self.base.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        Ok(())
    }

    /// The mapping as dwords that somebody else may write.
    pub(crate) fn dwords(&self) -> &[AtomicU32] {
        // SAFETY: mappings begin at page boundaries and live as long as `self`; memory that is
        // mapped read-only is only loaded, 4 bytes at a time, which `std::sync::atomic` allows.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.length / 4) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is ours, and no reference into it outlives `self`.
        // It cannot fail for a range that was mapped in one piece.
        let _ = unsafe { mm::munmap(self.base.as_ptr().cast(), self.length) };
    }
}
