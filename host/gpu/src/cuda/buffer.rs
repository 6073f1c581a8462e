//! GPU memory that boards reach.

use super::{Backing, DmaBuf, Driver, Gpu};
use crate::error::{Error, Result, within};
use crate::patch::{Gone, freed};
use cudarc::driver::sys;
use peerlane_host::cache::{Buffer, Cache, Parts, WeakCache};
use std::ffi::c_int;
use std::fmt;
use std::ops::Range;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of a GPU that boards reach until this is dropped. A region of it lives even longer where the GPU's driver
/// exports dma-bufs. The program's own kernels that use the memory must have ended before the drop. The buffer may be
/// dropped while another thread captures a graph.
pub struct GpuBuffer {
    gpu: Gpu,
    address: sys::CUdeviceptr,
    /// Bytes that were requested.
    length: u64,
    /// Bytes that were allocated.
    size: usize,
    kind: Kind,
    cached: Mutex<Cached>,
    gone: Gone,
}

/// Caches that have registered the buffer.
#[derive(Debug, Default)]
struct Cached {
    /// Its key in the caches, and its parts if it was mapped: these do not change while it lives.
    known: Option<(Buffer, Option<Parts>)>,
    caches: Vec<WeakCache>,
}

/// The largest page of a GPU's memory.
const LARGE_PAGE: usize = 2 << 20;

/// The function that the memory is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `cuMemAlloc`.
    Plain,
    /// Virtual memory management.
    Shareable(sys::CUmemGenericAllocationHandle),
}

impl fmt::Debug for GpuBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuBuffer")
            .field("gpu", &self.gpu.bus())
            .field("address", &format_args!("{:#x}", self.address))
            .field("length", &self.length)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// A range of addresses, released on drop.
struct Reserved {
    driver: &'static Driver,
    address: sys::CUdeviceptr,
    size: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the range was reserved with this size, and nothing is mapped in it.
        let _ = unsafe { (self.driver.unreserve)(self.address, self.size) };
    }
}

/// Memory of virtual memory management, released on drop.
struct Physical(&'static Driver, sys::CUmemGenericAllocationHandle);

impl Drop for Physical {
    fn drop(&mut self) {
        // SAFETY: the handle is that of `cuMemCreate`, and this releases it once.
        let _ = unsafe { (self.0.release)(self.1) };
    }
}

impl GpuBuffer {
    /// Allocates it by `cuMemAlloc`.
    pub(super) fn plain(gpu: &Gpu, length: u64) -> Result<Self> {
        let size = check(gpu, gpu.abilities.peers, length)?;
        // Whole pages of the GPU's: a page has memory of one buffer only, because a board is let into whole pages.
        let size = size.checked_next_multiple_of(LARGE_PAGE);
        let size = size.ok_or_else(|| too_long(gpu, "cuMemAlloc"))?;
        let _bound = gpu.bind()?;
        let mut address = 0;
        // SAFETY: the context is the thread's, the first argument a place for the address.
        let code = unsafe { (gpu.driver().allocate)(&raw mut address, size) };
        gpu.driver().check("cuMemAlloc", code)?;
        let buffer = Self {
            gpu: gpu.clone(),
            address,
            length,
            size,
            kind: Kind::Plain,
            cached: Mutex::default(),
            gone: Gone::default(),
        };
        buffer.prepare()?;
        Ok(buffer)
    }

    /// Allocates it by virtual memory management, so that it has a handle that other APIs take.
    pub(super) fn shareable(gpu: &Gpu, length: u64) -> Result<Self> {
        let length_asked = check(gpu, gpu.abilities.peers_of_shared, length)?;
        let _bound = gpu.bind()?;
        let properties = properties(gpu);
        let driver = gpu.driver();
        let mut granularity = 0;
        let option = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
        let option = option as c_int;
        // SAFETY: both are places of the types that the function names.
        let code =
            unsafe { (driver.granularity)(&raw mut granularity, &raw const properties, option) };
        driver.check("cuMemGetAllocationGranularity", code)?;
        let size = length_asked.checked_next_multiple_of(granularity.max(1));
        let size = size.ok_or_else(|| too_long(gpu, "cuMemCreate"))?;

        let mut handle = 0;
        // SAFETY: as above, and the size is a multiple of the granularity.
        let code = unsafe { (driver.create)(&raw mut handle, size, &raw const properties, 0) };
        driver.check("cuMemCreate", code)?;
        let physical = Physical(driver, handle);
        let mut address = 0;
        // SAFETY: a place for the address; the size is as above, the alignment a power of two or 0.
        let code = unsafe { (driver.reserve)(&raw mut address, size, 0, 0, 0) };
        driver.check("cuMemAddressReserve", code)?;
        let reserved = Reserved {
            driver,
            address,
            size,
        };
        // SAFETY: the range was reserved and the memory made, both with this size.
        let code = unsafe { (driver.map)(address, size, 0, handle, 0) };
        driver.check("cuMemMap", code)?;
        // From here on the buffer releases all of it.
        std::mem::forget((physical, reserved));
        let buffer = Self {
            gpu: gpu.clone(),
            address,
            length,
            size,
            kind: Kind::Shareable(handle),
            cached: Mutex::default(),
            gone: Gone::default(),
        };
        let access = sys::CUmemAccessDesc {
            location: properties.location,
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the range is mapped, and there is one description.
        let code = unsafe { (driver.set_access)(address, size, &raw const access, 1) };
        driver.check("cuMemSetAccess", code)?;
        buffer.prepare()?;
        Ok(buffer)
    }

    /// Makes copies by CUDA complete before their call returns, also those of the program's own, and fills the memory
    /// with zeros. Memory of virtual memory management does not take the attribute for that ([`Gpu::order_copies`]).
    fn prepare(&self) -> Result<()> {
        if self.kind == Kind::Plain {
            self.gpu.order_copies(self.address)?;
        }
        self.gpu.by_stream("cuMemsetD8Async", |driver, stream| {
            // SAFETY: the memory is the buffer's, of this size, and the stream a living one.
            unsafe { (driver.fill)(self.address, 0, self.size, stream) }
        })
    }

    fn driver(&self) -> &'static Driver {
        self.gpu.driver()
    }

    /// Returns its GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the address of the first byte, for kernels: CUDA's `CUdeviceptr`.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the bytes that were allocated for it: its length, rounded up by the GPU's driver.
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Returns the number that distinguishes it from an earlier buffer at the same address
    /// (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn identity(&self) -> Result<u64> {
        self.gpu.identity(self.address)
    }

    /// Copies from the host's memory. When it returns, the bytes have arrived for kernels that are launched then, and
    /// for boards. The library's own stream makes the copy, concurrently with all other streams: work of the program's
    /// that uses the bytes must have ended before.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Cuda`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let at = self.at(offset, bytes.len() as u64)?;
        self.gpu.by_stream("cuMemcpyHtoDAsync", |driver, stream| {
            // SAFETY: the range was found to lie in the buffer, and the stream is waited for.
            unsafe { (driver.copy_in)(at, bytes.as_ptr().cast(), bytes.len(), stream) }
        })
    }

    /// Copies to the host's memory. The library's own stream makes the copy, concurrently with all other streams: work
    /// of the program's that writes the bytes must have ended before (`cuStreamSynchronize`).
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Cuda`].
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let at = self.at(offset, bytes.len() as u64)?;
        self.gpu.by_stream("cuMemcpyDtoHAsync", |driver, stream| {
            // SAFETY: as above.
            unsafe { (driver.copy_out)(bytes.as_mut_ptr().cast(), at, bytes.len(), stream) }
        })
    }

    /// Exports a part of it as a dma-buf, in whole pages.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Bounds`], and [`Error::Cuda`].
    pub fn export(&self, range: Range<u64>) -> Result<DmaBuf> {
        let length = range.end.saturating_sub(range.start);
        let at = self.at(range.start, length)?;
        self.gpu.export_in(at, length, &self.backing())
    }

    /// Describes its memory: one allocation.
    pub(crate) fn backing(&self) -> Backing {
        Backing {
            range: self.address..self.address + self.size as u64,
            pieces: 1,
            parts: None,
        }
    }

    /// Exports a file descriptor that other APIs take for the whole allocation of [`size`](Self::size) bytes
    /// (`cuMemExportToShareableHandle`).
    ///
    /// # Errors
    /// [`Error::NotShareable`] and [`Error::Cuda`].
    pub fn handle(&self) -> Result<OwnedFd> {
        let Kind::Shareable(handle) = self.kind else {
            return Err(Error::NotShareable {
                reason: "it was made by cuMemAlloc",
            });
        };
        let _bound = self.gpu.bind()?;
        let mut file: RawFd = -1;
        let kind = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let kind = kind.0 as c_int;
        // SAFETY: the handle is the buffer's; for this kind the result is a file descriptor, which is an int.
        let code = unsafe { (self.driver().export)((&raw mut file).cast(), handle, kind, 0) };
        self.driver().check("cuMemExportToShareableHandle", code)?;
        // SAFETY: the call has made it, and no other code has it.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    }

    fn cached(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its key in caches, and its parts. This cache is notified when the buffer is dropped.
    pub(crate) fn known_in(&self, cache: &Cache) -> Result<(Buffer, Option<Parts>)> {
        let mut cached = self.cached();
        let known = match &cached.known {
            Some(known) => known.clone(),
            None => {
                let all = self.backing().range;
                let known = (
                    self.gpu.cache_key(all.start)?,
                    self.gpu.backing(&all)?.parts,
                );
                cached.known.insert(known).clone()
            }
        };
        if !cached.caches.iter().any(|known| known.is_of(cache)) {
            cached.caches.retain(|known| known.upgrade().is_some());
            cached.caches.push(cache.downgrade());
        }
        Ok(known)
    }

    /// Makes caches invalidate its regions.
    fn tell_caches(&self) {
        let Cached { known, caches } = std::mem::take(&mut *self.cached());
        if let Some((key, _)) = known {
            for cache in caches.iter().filter_map(WeakCache::upgrade) {
                cache.invalidate(&key);
            }
        }
    }

    /// Returns the flag that says whether it was freed, for regions that have its address alone.
    pub(crate) fn gone(&self) -> &Gone {
        &self.gone
    }

    /// Returns the address of a range in it.
    pub(crate) fn at(&self, offset: u64, length: u64) -> Result<sys::CUdeviceptr> {
        within(offset, length, self.length)?;
        Ok(self.address + offset)
    }
}

impl Drop for GpuBuffer {
    fn drop(&mut self) {
        // Before the memory is freed: otherwise a cached region would keep it allocated, or name freed memory.
        self.tell_caches();
        freed(&self.gone);
        // After an error of the GPU the memory stays allocated: something may still use it.
        let _ = self.gpu.give_back(|| match self.kind {
            Kind::Plain => {
                // SAFETY: the address is that of `cuMemAlloc`, and this frees it once.
                let _ = unsafe { (self.driver().free)(self.address) };
            }
            Kind::Shareable(handle) => {
                // SAFETY: the range is the buffer's, mapped as a whole.
                let _ = unsafe { (self.driver().unmap)(self.address, self.size) };
                let reserved = Reserved {
                    driver: self.driver(),
                    address: self.address,
                    size: self.size,
                };
                drop((reserved, Physical(self.driver(), handle)));
            }
        });
    }
}

/// Describes memory that can be shared.
fn properties(gpu: &Gpu) -> sys::CUmemAllocationProp {
    // SAFETY: a structure of C's of numbers, pointers and enumerations that all have a value 0.
    let mut properties: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes =
        sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = sys::CUmemLocation {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: gpu.device(),
    };
    properties.allocFlags.gpuDirectRDMACapable = 1;
    properties
}

/// Checks that a GPU may be asked for memory of a length.
fn check(gpu: &Gpu, peers: bool, length: u64) -> Result<usize> {
    if !peers {
        return Err(Error::NoPeers {
            gpu: gpu.bus().into(),
        });
    }
    match usize::try_from(length) {
        Ok(0) => Err(Error::Empty),
        Ok(length) => Ok(length),
        Err(_) => Err(too_long(gpu, "cuMemCreate")),
    }
}

/// Returns the error that the driver would report for a length that does not fit its type.
fn too_long(gpu: &Gpu, call: &'static str) -> Error {
    let code = sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as c_int;
    gpu.driver().error(call, code)
}
