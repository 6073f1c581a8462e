//! GPU memory of CUDA's, unchanged: the block's packets reach the memory that is registered by its address.
//!
//! The simulated GPU's memory holds nothing here. Each registration takes a stretch of it, and an access there is a
//! copy by CUDA at the address that was registered. So the library's own calls for a GPU's memory run unchanged: by
//! address and `BUFFER_ID`, as with NVIDIA's interface for peers. As NVIDIA's driver would, this refuses an identity
//! that does not match the memory, and refuses accesses to memory that was freed, which it counts.
//!
//! NVIDIA's driver notifies the board's driver when memory is freed; after that no fence reads from that memory. This
//! mock is not notified, so the fence after an unregistration may still read there. These reads are counted separately:
//! they are refused like any other, and they are the only ones that a registration that outlived its memory may cause.

use cudarc::driver::{CudaContext, result};
use peerlane_gpu::Gpu;
use peerlane_host::cache::Buffer;
use peerlane_host::driver::{BackendError, Driver};
use peerlane_host::peerlane_core::regs::csr;
use peerlane_host::peerlane_core::uapi::{self, provider};
use peerlane_host::peerlane_core::window;
use peerlane_host::{
    BoardWindow, Context, Device, Errno, Error, Mapping, Memory, MemoryKind, RawChannel, Result,
};
use peerlane_sim::{GPU_PAGE, RealMemory, Space};
use peerlane_simulated::SimBoard;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Addresses from here on are the simulated board's own memory (`peerlane_simulated`).
const SIMULATED: u64 = 1 << 63;

/// The most bytes that a fence's read asks for: a beat of the port's bus.
const FENCE_READ: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// A registration of memory.
struct Shown {
    /// The memory's range in the simulated GPU's memory.
    range: Range<u64>,
    /// CUDA's address of the start of that range: at a page, which may begin before the memory.
    first: u64,
    /// The address of the memory that was registered.
    address: u64,
    /// The memory's identity at that time.
    key: Buffer,
}

/// Backing memory of the simulated GPU's BAR.
struct Behind {
    context: Arc<CudaContext>,
    gpu: Gpu,
    size: u64,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    shown: Vec<Shown>,
    /// Accesses to memory that was freed since it was registered.
    dead: u64,
    /// Reads of such memory while its registration is being removed: the fence's.
    fences: u64,
    /// Whether a registration is being removed.
    unregisters: bool,
    /// Accesses without a registration.
    stray: u64,
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Behind")
            .field("gpu", &self.gpu)
            .finish_non_exhaustive()
    }
}

impl Behind {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts a place in the simulated GPU's memory to CUDA's address.
    fn at(&self, access: Access, place: u64, length: usize) -> Option<u64> {
        let mut guard = self.table();
        let table = &mut *guard;
        let end = place + length as u64;
        let inside = |shown: &&Shown| shown.range.start <= place && end <= shown.range.end;
        let Some(shown) = table.shown.iter().find(inside) else {
            table.stray += 1;
            return None;
        };
        let at = shown.first + (place - shown.range.start);
        // Compare with the buffer that is at this address now.
        if self.gpu.cache_key(shown.address).ok() != Some(shown.key) {
            match table.unregisters && access == Access::Read && length <= FENCE_READ {
                true => table.fences += 1,
                false => table.dead += 1,
            }
            return None;
        }
        Some(at)
    }
}

impl RealMemory for Behind {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, place: u64, data: &mut [u8]) -> bool {
        let Some(at) = self.at(Access::Read, place, data.len()) else {
            return false;
        };
        // SAFETY: the memory is CUDA's and was not freed.
        self.context.bind_to_thread().is_ok()
            && unsafe { result::memcpy_dtoh_sync(data, at) }.is_ok()
    }

    fn write(&self, place: u64, data: &[u8]) -> bool {
        let Some(at) = self.at(Access::Write, place, data.len()) else {
            return false;
        };
        self.context.bind_to_thread().is_ok()
            // SAFETY: as above.
            && unsafe { result::memcpy_htod_sync(at, data) }.is_ok()
            // A copy of few bytes may return when they have been staged ("API synchronization behavior").
            // SAFETY: null is the default stream.
            && unsafe { result::stream::synchronize(null_mut()) }.is_ok()
    }

    fn clear(&self, _: u64, _: u64) -> bool {
        // Memory that is here is shown, and belongs to its owner.
        true
    }
}

/// A context of the driver in the process whose GPU memory is CUDA's, and which has a window.
#[derive(Clone)]
pub struct Peers(Arc<Inner>);

struct Inner {
    context: Box<dyn Context>,
    board: SimBoard,
    behind: Arc<Behind>,
    /// The simulated memory of each region.
    regions: Mutex<BTreeMap<u32, Memory>>,
    /// Memory to which stores to the window go; [`Peers::carry`] takes them from there.
    window: OwnedFd,
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peers").field(&self.0.context).finish()
    }
}

impl Peers {
    /// Makes a context around a new context of the board's driver. The board must not have pinned GPU memory before.
    pub fn new(
        (gpu, cuda): (&Gpu, &Arc<CudaContext>),
        board: &SimBoard,
        driver: &Driver,
    ) -> anyhow::Result<Self> {
        let behind = Arc::new(Behind {
            context: Arc::clone(cuda),
            gpu: gpu.clone(),
            size: board.with(|board| board.config().gpu.bytes),
            table: Mutex::default(),
        });
        let real = Arc::clone(&behind);
        board.with(|board| board.gpu_mut().replace(real));
        let window = memfd_create("window", MemfdFlags::CLOEXEC)?;
        ftruncate(&window, window::BYTES)?;
        Ok(Self(Arc::new(Inner {
            context: Box::new(driver.context()?),
            board: board.clone(),
            behind,
            regions: Mutex::default(),
            window,
        })))
    }

    /// Opens the device over this context.
    pub fn device(&self) -> Result<Device> {
        Device::over(self.clone())
    }

    /// Returns the number of accesses until now to memory that was freed since it was registered (without a fence's
    /// reads), and of accesses without a registration.
    pub fn lost(&self) -> [u64; 2] {
        let table = self.0.behind.table();
        [table.dead, table.stray]
    }

    /// Stores the content of a part of the window's memory to the board's window.
    pub fn carry(&self, part: Range<u64>) -> anyhow::Result<()> {
        let mut bytes = vec![0; (part.end - part.start) as usize];
        let file = std::fs::File::from(self.0.window.try_clone()?);
        file.read_exact_at(&mut bytes, part.start)?;
        Ok((self.0.board).with(|board| board.window_write(part.start, &bytes))?)
    }

    fn regions(&self) -> MutexGuard<'_, BTreeMap<u32, Memory>> {
        (self.0.regions.lock()).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn show(&self, memory: &Memory, (first, address): (u64, u64), key: Buffer) {
        let start = memory.address() & !SIMULATED;
        self.behind.table().shown.push(Shown {
            range: start..start + memory.length() as u64,
            first,
            address,
            key,
        });
    }

    /// Removes the memory from the BAR.
    fn hide(&self, memory: &Memory) {
        let start = memory.address() & !SIMULATED;
        let shown = &mut self.behind.table().shown;
        shown.retain(|shown| shown.range.start != start);
    }
}

impl Context for Peers {
    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        let inner = &*self.0;
        if region.provider != provider::NVIDIA || region.address >= SIMULATED {
            return inner.context.register(region);
        }
        let refused = |source| Error::Call {
            call: "REGISTER",
            source,
        };
        // Refuse memory that does not exist, or belongs to another buffer.
        let key = inner.behind.gpu.cache_key(region.address);
        let key = key.map_err(|_| refused(Errno::INVAL))?;
        let device = inner.behind.gpu.device() as u64;
        if key != Buffer::cuda(region.identity).behind(device) {
            return Err(refused(Errno::STALE));
        }
        let first = region.address / GPU_PAGE * GPU_PAGE;
        let end = (region.address.checked_add(region.length))
            .and_then(|end| end.checked_next_multiple_of(GPU_PAGE));
        let end = end.ok_or_else(|| refused(Errno::INVAL))?;
        let memory = (inner.context).memory(MemoryKind::Gpu, (end - first) as usize)?;
        inner.show(&memory, (first, region.address), key);
        let mut there = uapi::Register {
            address: memory.address() + (region.address - first),
            ..*region
        };
        if let Err(error) = inner.context.register(&mut there) {
            inner.hide(&memory);
            return Err(error);
        }
        *region = uapi::Register {
            address: region.address,
            ..there
        };
        self.regions().insert(region.handle, memory);
        Ok(())
    }

    fn unregister(&self, handle: u32, flags: u32) -> Result<()> {
        self.0.behind.table().unregisters = true;
        let unregistered = self.0.context.unregister(handle, flags);
        self.0.behind.table().unregisters = false;
        unregistered?;
        if let Some(memory) = self.regions().remove(&handle) {
            self.0.hide(&memory);
        }
        Ok(())
    }

    fn open_channel(&self) -> Result<Option<RawChannel>> {
        self.0.context.open_channel()
    }

    fn window(&self) -> Option<&dyn BoardWindow> {
        Some(self)
    }

    forward!(self => self.0.context);
}

impl BoardWindow for Peers {
    fn place(&self, place: &uapi::Window) -> Result<()> {
        if place.flags & uapi::window::RELEASE != 0 {
            return Ok(());
        }
        let refused = |source| Error::Window {
            base: place.base,
            source,
        };
        if !place.base.is_multiple_of(window::BYTES) {
            return Err(refused(Errno::INVAL));
        }
        let placed = self.0.board.with(|board| {
            let high = csr::WINDOW_HI as u64;
            board.bar_write32(Space::Csr, csr::WINDOW_LO as u64, place.base as u32)?;
            board.bar_write32(Space::Csr, high, (place.base >> 32) as u32)?;
            // The window has moved when the register reads as 0 (`peerlane_core::window`).
            for _ in 0..1000 {
                if board.bar_read32(Space::Csr, high)? == 0 {
                    return Ok(true);
                }
            }
            Ok::<_, peerlane_sim::Error>(false)
        });
        match placed.map_err(|error| BackendError::Other(error.to_string()))? {
            true => Ok(()),
            false => Err(refused(Errno::IO)),
        }
    }

    fn map(&self) -> Result<Mapping> {
        Mapping::of_memory(self.0.window.as_fd(), window::BYTES as usize)
    }
}
