//! GPU memory registered at a board.

use crate::cuda::{Backing, Gpu, GpuBuffer};
use crate::error::{Error, Result, within};
use crate::patch::{Gone, Patch};
use cudarc::driver::sys;
use peerlane_host::cache::{Buffer, Cache, NoRoom, Parts, Registered};
use peerlane_host::peerlane_core::att::AttAddress;
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{Device, Part, Permissions, Region};
use std::ops::Range;

/// GPU memory registered at a board. Whole pages of the GPU's are registered, so the memory begins at
/// [`offset`](Self::offset) in the region.
#[derive(Debug, Clone)]
pub struct GpuRegion {
    region: Region,
    address: AttAddress,
    offset: u64,
    length: u64,
}

impl GpuRegion {
    pub(crate) fn new(region: Region, offset: u64, length: u64) -> Result<Self> {
        let address = region.att_address().checked_add(offset);
        let address = address.ok_or_else(|| peerlane_host::Error::Broken {
            reason: format!("a region's byte {offset} lies after the end of the address table"),
        })?;
        Ok(Self {
            region,
            address,
            offset,
            length,
        })
    }

    /// Selects some of the memory's bytes, for a transfer. The region itself stands for all of them:
    /// `queue.to_fpga(&region, ..)`.
    ///
    /// # Errors
    /// [`Error::Bounds`]: they do not lie in the memory, though they may lie in its pages.
    pub fn part(&self, bytes: Range<u64>) -> Result<Part<'_>> {
        let length = bytes.end.saturating_sub(bytes.start);
        within(bytes.start, length, self.length)?;
        let first = self.offset + bytes.start;
        Ok(self.region.part(first..first + length))
    }

    /// Returns the region of whole pages that the memory lies in. Other memory may lie in it, too: transfers are of
    /// [`part`](Self::part)s of the memory.
    pub fn pages(&self) -> &Region {
        &self.region
    }

    /// Returns the offset in bytes at which the memory begins in its [`pages`](Self::pages).
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the board's address of the memory's first byte, for descriptors that a kernel writes (`peerlane_gpu.h`).
    /// [`Region::att_address`] is another address, that of its [`pages`](Self::pages): [`offset`](Self::offset) bytes
    /// before.
    pub fn att_address(&self) -> AttAddress {
        self.address
    }

    /// Returns the length of the memory in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl<'a> From<&'a GpuRegion> for Part<'a> {
    fn from(region: &'a GpuRegion) -> Self {
        let first = region.offset;
        region.region.part(first..first + region.length)
    }
}

impl GpuBuffer {
    /// Registers a part of it at a board.
    ///
    /// # Errors
    /// [`Error::Bounds`] and [`Error::Empty`], and as [`Gpu::register`].
    pub fn register(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = range.end.saturating_sub(range.start);
        let at = self.at(range.start, length)?;
        let gpu = self.gpu();
        // SAFETY: the allocation is this buffer's alone, whose bytes are read and written by copying only. The driver
        // takes freed memory from the board.
        unsafe {
            gpu.register_in(
                device,
                at,
                length,
                &self.backing(),
                permissions,
                self.gone(),
            )
        }
    }

    /// Registers a part of it by a cache: the first call registers it, and later calls find it. The cache must be the
    /// device's. The cache invalidates the region when this buffer is dropped, or with the last transfer that uses it.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_cached(
        &self,
        cache: &Cache,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let length = range.end.saturating_sub(range.start);
        let at = self.at(range.start, length)?;
        let known = self.known_in(cache)?;
        let gpu = self.gpu();
        // SAFETY: as in `register`; the cache returns ranges that were registered for the buffer with this identity.
        unsafe {
            gpu.register_by(
                cache,
                known,
                device,
                at..at + length,
                permissions,
                self.gone(),
            )
        }
    }

    /// Returns the key that distinguishes its memory from all other memory, for a cache.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn cache_key(&self) -> Result<Buffer> {
        self.gpu().cache_key(self.address())
    }
}

impl NoRoom for Error {
    fn no_room(&self) -> bool {
        // The GPU's BAR1 may be full (`cuMemGetHandleForAddressRange`).
        let full = sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32;
        match self {
            Self::Cuda { code, .. } => *code == full,
            Self::Board(error) => error.no_room(),
            _ => false,
        }
    }
}

impl Gpu {
    /// Registers GPU memory of the program's own, by its address.
    /// Work of a stream that writes the memory must have ended before the board reads it: synchronize the stream first.
    /// An asynchronous copy stays asynchronous. For memory of `cuMemAlloc`, synchronous copies and fills are complete
    /// when their call returns, as the board must see them (`CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`). The attribute is set
    /// for the whole allocation and stays set: another library may have set it as well, and CUDA does not count the
    /// libraries that need it. For memory of virtual memory management CUDA does not offer it.
    ///
    /// The memory is registered as a dma-buf where GPU and driver have those, in pages as large as the allocation has
    /// room for: the board may then reach bytes of the same allocation around the range. (An allocation that does not
    /// consist of whole pages shares them with others of the program: then the region has only the range.) Otherwise,
    /// and where the kernel or the GPU's driver refuses the dma-buf to the board, the memory is registered by NVIDIA's
    /// interface for peers. Virtual memory management can map memory of several allocations side by side, for example
    /// for PyTorch's `expandable_segments`: such memory is one region where the driver exports it as one dma-buf.
    ///
    /// # Safety
    /// The board may write the memory until the region is dropped and no transfer with it is in progress, and other
    /// bytes of the same allocation are written only by transfers that name them. A write may begin or end at an
    /// address that is not a multiple of the board's
    /// [granularity](peerlane_host::peerlane_core::capability::Capabilities::write_granularity): then the GPU copies
    /// the ends of that write, by the address. The memory is not freed before such a write has ended.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Bounds`] if the range lies neither in one allocation nor in pieces side by side,
    /// [`Error::Pieces`], [`Error::NoPeers`], [`Error::Cuda`], and [`Error::Board`] as [`Device::register_dmabuf`].
    pub unsafe fn register(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let backing = self.backing(&(address..address.saturating_add(length)))?;
        // SAFETY: the caller promises it.
        unsafe {
            self.register_in(
                device,
                address,
                length,
                &backing,
                permissions,
                &Gone::default(),
            )
        }
    }

    /// Registers memory by a cache: the first call registers it, and later calls find it for as long as the same memory
    /// is at the address. Memory that is mapped at its address later is other memory. The cache must be the device's.
    ///
    /// # Safety
    /// As [`register`](Self::register), until the cache has invalidated the region. Code that frees the memory
    /// invalidates it in the cache before ([`Cache::invalidate`], [`Cache::invalidate_addresses`]), or all such memory
    /// is the program's.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub unsafe fn register_cached(
        &self,
        cache: &Cache,
        device: &Device,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<GpuRegion> {
        let asked = address..address.saturating_add(length);
        let known = (self.cache_key(address)?, self.backing(&asked)?.parts);
        // SAFETY: the caller promises it.
        unsafe { self.register_by(cache, known, device, asked, permissions, &Gone::default()) }
    }

    /// Returns the key that distinguishes the memory at an address from all other memory, for a cache. For mapped
    /// memory, [`register_cached`](Self::register_cached) gives the cache more; this key
    /// [invalidates](Cache::invalidate) the memory.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn cache_key(&self, address: u64) -> Result<Buffer> {
        let identity = self.identity(address)?;
        Ok(Buffer::cuda(identity).behind(self.device() as u64))
    }

    /// # Safety
    /// As [`register_cached`](Self::register_cached); key and parts are those of the range.
    unsafe fn register_by(
        &self,
        cache: &Cache,
        (key, parts): (Buffer, Option<Parts>),
        device: &Device,
        asked: Range<u64>,
        permissions: Permissions,
        gone: &Gone,
    ) -> Result<GpuRegion> {
        let register = |range: Range<u64>| {
            let length = range.end - range.start;
            let backing = self.backing(&range)?;
            // SAFETY: the caller promises it.
            let made = unsafe {
                self.register_in(device, range.start, length, &backing, permissions, gone)
            }?;
            let start = range.start - made.offset;
            let range = start..start + made.region.length();
            let region = made.region;
            Ok::<_, Error>((Registered { region, range }, backing))
        };
        let cached = match parts {
            Some(parts) => cache.get_parts(&key, &parts, asked, permissions, |range| {
                let (made, backing) = register(range)?;
                // A range without parts is not found by parts.
                let parts = backing.parts.unwrap_or_else(Parts::unknown);
                Ok::<_, Error>((made, parts))
            }),
            None => cache.get(&key, asked, permissions, |range| {
                register(range).map(|(made, _)| made)
            }),
        }?;
        GpuRegion::new(cached.region().clone(), cached.offset(), cached.length())
    }

    /// # Safety
    /// As [`register`](Self::register); `backing` is the memory at the address.
    unsafe fn register_in(
        &self,
        device: &Device,
        address: u64,
        length: u64,
        backing: &Backing,
        permissions: Permissions,
        gone: &Gone,
    ) -> Result<GpuRegion> {
        if !self.abilities().peers {
            return Err(Error::NoPeers {
                gpu: self.bus().into(),
            });
        }
        self.order_copies(address)?;
        let mut refused = None;
        let mut found = None;
        if self.abilities().dma_buf && device.has(feature::DMABUF) {
            let dmabuf = self.export_in(address, length, backing)?;
            let Range { start, end } = dmabuf.register;
            match device.register_dmabuf(&dmabuf.file, start, end - start, permissions) {
                Ok(region) => {
                    region.do_not_keep();
                    found = Some((region, dmabuf.offset - start));
                }
                // NVIDIA's driver has rules of its own for dma-bufs, which do not apply to these pages.
                Err(error) if error.is_no_way() && device.has(feature::NVIDIA) => {
                    refused = Some(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let (region, offset) = match found {
            Some(found) => found,
            None => {
                let identity = self.identity(address)?;
                // SAFETY: the caller promises it.
                let pages =
                    unsafe { device.register_nvidia(address, length, identity, permissions) };
                // Of two errors the dma-buf's says more: it is the way that NVIDIA recommends.
                (pages.map_err(|error| refused.unwrap_or(error))?, 0)
            }
        };
        let (gpu, first) = (self.clone(), address - offset);
        region.set_patch(Patch::new(gone, move |offset, bytes| {
            gpu.by_stream("cuMemcpyHtoDAsync", |driver, stream| {
                let (at, from) = (first + offset, bytes.as_ptr().cast());
                // SAFETY: the bytes are a region's, whose memory is not gone: a buffer ensures that, and for other
                // memory the caller promises it. The stream is waited for.
                unsafe { (driver.copy_in)(at, from, bytes.len(), stream) }
            })
        }));
        GpuRegion::new(region, offset, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least::Least;
    use crate::standin;
    use peerlane_host::cache::Limits;

    /// NVIDIA's interface: the mock's board has no dma-bufs.
    #[test]
    fn a_buffer_is_registered_once_and_another_at_its_address_anew() {
        let least = Least::new();
        let device = Device::over(least.clone()).unwrap();
        let cache = Cache::new(Limits::default());
        let gpu = standin::gpu();
        let both = Permissions::ReadWrite;
        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        let region = buffer
            .register_cached(&cache, &device, 0..1 << 20, both)
            .unwrap();
        let part = buffer
            .register_cached(&cache, &device, 4096..8192, both)
            .unwrap();
        assert_eq!(part.pages().handle(), region.pages().handle());
        assert_eq!((part.offset(), part.length()), (4096, 4096));
        // The same memory, registered by the program itself.
        let address = buffer.address() + 4096;
        // SAFETY: the memory is the buffer's.
        let own = unsafe { gpu.register_cached(&cache, &device, address, 4, both) }.unwrap();
        assert_eq!(own.pages().handle(), region.pages().handle());
        assert_eq!((own.offset(), own.length()), (4096, 4));
        let (before, address) = (region.pages().handle(), buffer.address());
        drop((region, part, own));
        assert_eq!(least.regions.lock().unwrap().len(), 1, "it is kept");
        drop(buffer);
        assert!(
            least.regions.lock().unwrap().is_empty(),
            "the cache releases a buffer that goes"
        );

        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        assert_eq!(buffer.address(), address, "the mock uses addresses again");
        let region = buffer
            .register_cached(&cache, &device, 0..1 << 20, both)
            .unwrap();
        assert_ne!(region.pages().handle(), before);
        let known: Vec<u32> = least.regions.lock().unwrap().keys().copied().collect();
        assert_eq!(known, [region.pages().handle()]);
        // Without this the buffer's memory would stay in the cache, also for its next owner.
        let other = Cache::new(Limits::default());
        let second = buffer.register_cached(&other, &device, 0..4096, both);
        drop((region, second.unwrap()));
        assert_eq!(least.regions.lock().unwrap().len(), 2);
        cache.invalidate(&buffer.cache_key().unwrap());
        assert_eq!(least.regions.lock().unwrap().len(), 1);
        // A cache that was dropped is not notified.
        drop(other);
        assert!(least.regions.lock().unwrap().is_empty());
        for range in [0..0, 1..1, (1 << 20) - 1..(1 << 20) + 1] {
            let refused = buffer.register_cached(&cache, &device, range, both);
            assert!(matches!(
                refused,
                Err(Error::Empty | Error::Bounds { .. } | Error::Board(_))
            ));
        }
    }

    /// NVIDIA's driver has rules for dma-bufs that do not apply to its pages. A full BAR is full for both.
    #[test]
    fn where_a_dma_buf_is_refused_nvidias_pages_are_tried() {
        use peerlane_host::Errno;
        use peerlane_host::peerlane_core::uapi::provider::NVIDIA;
        let gpu = standin::gpu();
        let both = feature::DMABUF | feature::NVIDIA;
        for (errno, features, way) in [
            (Errno::HOSTUNREACH, both, Some(NVIDIA)),
            (Errno::REMOTEIO, both, Some(NVIDIA)),
            (Errno::HOSTUNREACH, feature::DMABUF, None),
            (Errno::NOBUFS, both, None),
        ] {
            let least = Least::with(features);
            *least.refuse.lock().unwrap() = Some((errno, 1));
            let device = Device::over(least.clone()).unwrap();
            let buffer = gpu.plain_buffer(1 << 20).unwrap();
            let region = buffer.register(&device, 0..4096, Permissions::ReadWrite);
            let known = least.regions.lock().unwrap();
            let found = known.values().next().map(|region| region.provider);
            drop(known);
            assert_eq!(found, way, "{errno}");
            match region {
                Ok(_) => assert!(way.is_some()),
                Err(Error::Board(peerlane_host::Error::Call { source, .. })) => {
                    assert_eq!((source, way), (errno, None));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The board writes the whole dwords, and the GPU copies the rest, for as long as its memory is there.
    #[test]
    fn the_gpu_copies_the_ends_of_writes() {
        let limit = std::time::Duration::from_secs(1);
        let device = Device::over(Least::of_dwords()).unwrap();
        let queue = device.queue().unwrap();
        let gpu = standin::gpu();
        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        let both = Permissions::ReadWrite;
        let cache = Cache::new(Limits::default());
        let (address, range) = (buffer.address(), 4096..8192);
        let regions = [
            buffer.register(&device, range.clone(), both).unwrap(),
            buffer
                .register_cached(&cache, &device, range, both)
                .unwrap(),
            // SAFETY: the memory is the buffer's.
            unsafe { gpu.register(&device, address + 4096, 4096, both) }.unwrap(),
        ];
        for region in &regions {
            for (at, length, ends) in [
                (8, 64, vec![]),
                (1, 10, vec![(1, 3), (8, 3)]),
                (4, 2, vec![(4, 2)]),
            ] {
                standin::copied();
                let part = region.part(at..at + length).unwrap();
                let write = queue.from_fpga(0, part).unwrap();
                assert_eq!(write.wait(limit).unwrap(), length);
                let ends: Vec<_> = (ends.into_iter())
                    .map(|(at, bytes)| (address + 4096 + at, bytes))
                    .collect();
                assert_eq!(standin::copied(), ends, "{length} bytes at {at}");
            }
        }
        standin::fail(standin::Failure {
            call: "copy_in",
            which: 1..2,
        });
        let write = queue.from_fpga(0, regions[0].pages().part(1..3)).unwrap();
        let error = write.wait(limit).unwrap_err().to_string();
        assert!(error.contains("cuMemcpyHtoDAsync"), "{error}");
        // The address can be another buffer's by then.
        let region = regions.into_iter().next().unwrap();
        drop((buffer, cache));
        standin::copied();
        let write = queue.from_fpga(0, region.pages().part(1..3)).unwrap();
        assert!(matches!(
            write.wait(limit),
            Err(peerlane_host::Error::Fault { .. })
        ));
        assert_eq!(standin::copied(), []);
    }

    /// A region that was registered by its address is found by its identity, which has to distinguish the program's own
    /// memory: the driver is asked at each use, for the buffer that is at the address then.
    #[test]
    fn an_identity_is_asked_for_at_every_use_of_an_address() {
        let least = Least::new();
        let device = Device::over(least.clone()).unwrap();
        let cache = Cache::new(Limits::default());
        let gpu = standin::gpu();
        let both = Permissions::ReadWrite;
        let mut handles = Vec::new();
        for _ in 0..2 {
            let buffer = gpu.plain_buffer(1 << 20).unwrap();
            // SAFETY: the memory is the buffer's.
            let own = unsafe { gpu.register_cached(&cache, &device, buffer.address(), 4096, both) };
            handles.push((buffer.address(), own.unwrap().pages().handle()));
        }
        assert_eq!(handles[0].0, handles[1].0, "the address comes again");
        assert_ne!(handles[0].1, handles[1].1, "and is other memory");
        standin::fail(standin::Failure {
            call: "pointer_get",
            which: 1..2,
        });
        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        let address = buffer.address();
        // SAFETY: as above.
        let refused = unsafe { gpu.register_cached(&cache, &device, address, 4096, both) };
        assert!(matches!(refused, Err(Error::Cuda { .. })), "{refused:?}");
        // A driver whose call failed once is asked again.
        // SAFETY: as above.
        unsafe { gpu.register_cached(&cache, &device, address, 4096, both) }.unwrap();
    }

    /// Frameworks depend on the thread's context, and a peer sees copies of the program's own memory only if they are
    /// complete when they return.
    #[test]
    fn the_threads_context_stays_and_copies_of_memory_are_complete() {
        let device = Device::over(Least::new()).unwrap();
        let gpu = standin::gpu();
        standin::make_current(64);
        let before = standin::current();
        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        let address = buffer.address();
        assert_eq!(standin::ordered(), [address]);
        // SAFETY: the memory is the buffer's.
        let own = unsafe { gpu.register(&device, address + 4096, 4096, Permissions::ReadWrite) };
        own.unwrap();
        assert_eq!(standin::ordered(), [address, address + 4096]);
        buffer.write(0, &[1, 2, 3, 4]).unwrap();
        drop(buffer);
        assert_eq!(standin::current(), before);
    }

    #[test]
    fn a_full_bar_is_no_room() {
        let full = Error::Cuda {
            call: "cuMemGetHandleForAddressRange",
            // CUDA_ERROR_OUT_OF_MEMORY of cuda.h.
            code: 2,
            name: String::new(),
        };
        assert!(full.no_room() && !Error::Empty.no_room());
    }
}
