//! Memory of an AMD GPU, and dma-bufs of it.

use super::AmdGpu;
use super::runtime::{DEVICE_TO_HOST, HOST_TO_DEVICE, Hsa};
use crate::error::{Error, Result, within};
use crate::patch::{Gone, Patch, freed};
use crate::region::GpuRegion;
use peerlane_host::{Device, Permissions, widen};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::{FromRawFd, OwnedFd};

/// The largest page of the board's table. A page has memory of one buffer only, because a board is let into whole
/// pages.
const LARGE_PAGE: usize = 2 << 20;

/// Page size that the GPU's page tables, the kernel's and the board's have in common.
const PAGE: u64 = 4096;

/// Memory of an AMD GPU that boards reach. A region of it outlives this value, since its dma-buf keeps the memory.
#[derive(Debug)]
pub struct AmdBuffer {
    gpu: AmdGpu,
    address: u64,
    /// Bytes that were asked for.
    length: u64,
    /// Bytes that were requested.
    size: usize,
    gone: Gone,
}

/// An allocation of an AMD GPU's as a dma-buf, which keeps the memory until it is closed.
#[derive(Debug)]
pub struct AmdDmaBuf {
    /// The dma-buf. The runtime may have several allocations in one.
    pub file: OwnedFd,
    /// Offset in the dma-buf where the allocation begins.
    pub offset: u64,
    /// Bytes of the allocation.
    pub length: u64,
}

fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl AmdBuffer {
    pub(super) fn new(gpu: &AmdGpu, length: u64) -> Result<Self> {
        if length == 0 {
            return Err(Error::Empty);
        }
        let size = usize::try_from(length).ok();
        let size = size.and_then(|size| size.checked_next_multiple_of(LARGE_PAGE));
        // No GPU has that much memory: HIP reports its own error.
        let size = size.unwrap_or(usize::MAX);
        let _bound = gpu.bind()?;
        let mut address = std::ptr::null_mut();
        // SAFETY: the device is the thread's, the first argument a place for the address.
        let code = unsafe { (gpu.hip.allocate)(&raw mut address, size) };
        gpu.hip.check("hipMalloc", code)?;
        let buffer = Self {
            gpu: gpu.clone(),
            address: address.expose_provenance() as u64,
            length,
            size,
            gone: Gone::default(),
        };
        // SAFETY: the memory is the buffer's, of this size.
        let code = unsafe { (gpu.hip.fill)(address, 0, size) };
        gpu.hip.check("hipMemset", code)?;
        // A fill may return before it is done ("hipMemset").
        // SAFETY: the device is the thread's.
        let code = unsafe { (gpu.hip.device_synchronize)() };
        gpu.hip.check("hipDeviceSynchronize", code)?;
        Ok(buffer)
    }

    /// Returns its GPU.
    pub fn gpu(&self) -> &AmdGpu {
        &self.gpu
    }

    /// Returns the address of the first byte, for kernels: HIP's `hipDeviceptr_t`.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Copies from the host's memory. The bytes have arrived when it returns.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Rocm`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let at = self.at(offset, bytes.len() as u64)?;
        let _bound = self.gpu.bind()?;
        let hip = self.gpu.hip;
        // SAFETY: the range was found to lie in the buffer.
        let code = unsafe {
            (hip.copy)(
                pointer(at),
                bytes.as_ptr().cast(),
                bytes.len(),
                HOST_TO_DEVICE,
            )
        };
        hip.check("hipMemcpy", code)?;
        // A copy from pageable memory may return when it has been staged ("hipMemcpy").
        // SAFETY: the device is the thread's.
        hip.check("hipDeviceSynchronize", unsafe {
            (hip.device_synchronize)()
        })
    }

    /// Copies to the host's memory.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Rocm`].
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let at = self.at(offset, bytes.len() as u64)?;
        let _bound = self.gpu.bind()?;
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: the range was found to lie in the buffer.
        let code = unsafe { (self.gpu.hip.copy)(to, pointer(at), bytes.len(), DEVICE_TO_HOST) };
        self.gpu.hip.check("hipMemcpy", code)
    }

    /// Exports all of it as a dma-buf.
    ///
    /// # Errors
    /// [`Error::NoRocm`], [`Error::Rocm`], and [`Error::BadExport`].
    pub fn export(&self) -> Result<AmdDmaBuf> {
        AmdDmaBuf::of(self.address, self.size as u64)
    }

    /// Registers a part of it at a board.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Empty`], as [`export`](Self::export), and [`Error::Board`] as
    /// [`Device::register_dmabuf`].
    pub fn register(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = range.end.saturating_sub(range.start);
        let at = self.at(range.start, length)?;
        let allocation = self.address..self.address + self.size as u64;
        let dmabuf = self.export()?;
        let of = (&self.gpu, &allocation, &self.gone);
        dmabuf.register(device, at..at + length, of, permissions)
    }

    /// Returns the address of a range in it.
    pub(super) fn at(&self, offset: u64, length: u64) -> Result<u64> {
        within(offset, length, self.length)?;
        Ok(self.address + offset)
    }
}

impl Drop for AmdBuffer {
    fn drop(&mut self) {
        // The child of a fork has no memory of the parent's to free.
        if self.gpu.is_inherited() {
            return;
        }
        freed(&self.gone);
        let hip = self.gpu.hip;
        if let Ok(_bound) = self.gpu.bind() {
            // Commands that use it end first ("hipFree"). A dma-buf of it keeps the memory.
            // SAFETY: the address is that of `hipMalloc`, and this frees it once.
            let _ = unsafe { (hip.free)(pointer(self.address)) };
        }
    }
}

impl AmdGpu {
    /// Registers memory of the program's own by its address: an address of `hipMalloc`, or that of a tensor. The memory
    /// is registered as a dma-buf, in pages as large as its allocation has room for. So the board may reach bytes of
    /// the same allocation around the range.
    ///
    /// # Safety
    /// The board may write the memory until the region is dropped and no transfer with it is in progress, and other
    /// bytes of the same allocation are written only by transfers that name them. A write may begin or end at an
    /// address that is not a multiple of the board's
    /// [granularity](peerlane_host::peerlane_core::capability::Capabilities::write_granularity): then the GPU copies
    /// the ends of that write, by the address. The memory is not freed before such a write has ended.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Bounds`] if the range does not lie in one allocation, [`Error::NoRocm`],
    /// [`Error::Rocm`], [`Error::BadExport`], and [`Error::Board`] as [`Device::register_dmabuf`].
    pub unsafe fn register(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let _bound = self.bind()?;
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        let range = self.hip.address_range;
        // SAFETY: both are places of the types that the function names.
        let code = unsafe { range(&raw mut base, &raw mut size, pointer(address)) };
        self.hip.check("hipMemGetAddressRange", code)?;
        let base = base.expose_provenance() as u64;
        let allocation = base..base.saturating_add(size as u64);
        let dmabuf = AmdDmaBuf::of(base, size as u64)?;
        let asked = address..address.saturating_add(length);
        let of = (self, &allocation, &Gone::default());
        dmabuf.register(device, asked, of, permissions)
    }
}

impl AmdDmaBuf {
    /// Exports an allocation.
    ///
    /// The result is checked: a part of a dma-buf that does not hold the allocation, or does not begin at a page, would
    /// let the board into other memory.
    fn of(address: u64, length: u64) -> Result<Self> {
        let hsa = Hsa::get()?;
        let (mut file, mut offset): (c_int, u64) = (-1, 0);
        let from = pointer(address).cast_const();
        // SAFETY: both are places of the types that the function names; it looks the address up.
        let code = unsafe { (hsa.export)(from, length as usize, &raw mut file, &raw mut offset) };
        hsa.check("hsa_amd_portable_export_dmabuf", code)?;
        if file < 0 {
            return Err(bad(format!("the descriptor is {file}")));
        }
        // `hsa_amd_portable_close_dmabuf` is close(2), and nothing else (ROCR-Runtime, `Runtime::DmaBufClose`).
        // SAFETY: the call has made it, and no other code has it.
        let mut file = File::from(unsafe { OwnedFd::from_raw_fd(file) });
        let size = file.seek(SeekFrom::End(0));
        let size = size.map_err(|error| bad(format!("its length cannot be had: {error}")))?;
        let end = offset.checked_add(length);
        let inside = end
            .and_then(|end| end.checked_next_multiple_of(PAGE))
            .is_some_and(|end| end <= size);
        if !inside {
            return Err(bad(format!(
                "{length} bytes at {offset} of it do not lie in its {size} bytes"
            )));
        }
        if !(offset ^ address).is_multiple_of(PAGE) {
            return Err(bad(format!(
                "address {address:#x} is said to be at {offset:#x} of it, which is another place in its page"
            )));
        }
        Ok(Self {
            file: file.into(),
            offset,
            length,
        })
    }

    /// Registers a range of addresses of the allocation.
    fn register(
        &self,
        device: &Device,
        asked: Range<u64>,
        (gpu, allocation, gone): (&AmdGpu, &Range<u64>, &Gone),
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = asked.end.saturating_sub(asked.start);
        if length == 0 {
            return Err(Error::Empty);
        }
        let bounds = || Error::Bounds {
            offset: asked.start.saturating_sub(allocation.start),
            length,
            size: self.length,
        };
        if asked.end > allocation.end {
            return Err(bounds());
        }
        // An allocation has its last page to itself, for any requested size (ROCR-Runtime, `MemoryRegion::Allocate`).
        let end = allocation.end.checked_next_multiple_of(PAGE);
        let whole = allocation.start..end.unwrap_or(allocation.end);
        let range = widen(&asked, &whole).ok_or_else(bounds)?.register;
        let at = self.offset + (range.start - allocation.start);
        let whole = range.end - range.start;
        let region = device.register_dmabuf(&self.file, at, whole, permissions)?;
        region.do_not_keep();
        let (gpu, first) = (gpu.clone(), range.start);
        region.set_patch(Patch::new(gone, move |offset, bytes| {
            // SAFETY: the bytes are a region's, whose memory is not gone: a buffer ensures that, and for other memory
            // the caller promises it.
            unsafe { super::side::store(&gpu, first + offset, bytes) }
        }));
        GpuRegion::new(region, asked.start - range.start, length)
    }
}

fn bad(reason: String) -> Error {
    Error::BadExport { reason }
}
