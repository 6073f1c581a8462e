//! GPUs by CUDA's driver. The sections named are those of NVIDIA's CUDA Driver API manual.

mod buffer;
mod export;

pub use buffer::GpuBuffer;
pub use export::DmaBuf;

use crate::error::{Error, Result};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, result};
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// The oldest driver with all functions that are called: that of CUDA 11.8, in CUDA's form.
const OLDEST: i32 = 11_080;

/// A GPU of NVIDIA's. Clones are the same one.
#[derive(Clone)]
pub struct Gpu {
    context: Arc<CudaContext>,
    abilities: Abilities,
    bus: String,
}

/// What a GPU and its driver offer to other devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Other devices may access its memory (`GPU_DIRECT_RDMA_SUPPORTED`).
    pub peers: bool,
    /// Also memory of virtual memory management (`GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED`).
    pub peers_of_shared: bool,
    /// Memory is exported as dma-bufs (`DMA_BUF_SUPPORTED`).
    pub dma_buf: bool,
    /// Memory can be shared by file descriptor (`HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED`).
    pub shared: bool,
    /// How a peer's writes are shown to kernels that run.
    pub flush: Flush,
    /// For whom a peer's writes are in order without a flush.
    pub ordering: Ordering,
}

/// How a peer's writes are shown to kernels that run (`GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// By a call of the host's: `cuFlushGPUDirectRDMAWrites`.
    Host,
    /// By an operation in a stream only.
    Stream,
    /// Not at all.
    None,
}

/// For whom a peer's writes are in order by themselves (`GPU_DIRECT_RDMA_WRITES_ORDERING`). Each value
/// includes those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ordering {
    /// For nobody.
    None,
    /// For the context that owns the memory.
    Owner,
    /// For all GPUs of the machine.
    All,
}

/// Who is to see what a peer wrote: argument of [`Gpu::flush`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Kernels of the CUDA context that has the memory.
    Context,
    /// Kernels of all GPUs.
    AllGpus,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu")
            .field("bus", &self.bus)
            .field("abilities", &self.abilities)
            .finish_non_exhaustive()
    }
}

/// Whether CUDA's driver is here, and new enough.
fn load() -> Result<()> {
    // SAFETY: it loads the driver's library, whose initialisation is NVIDIA's, and looks for no symbol.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoCuda);
    }
    let mut found = 0;
    // SAFETY: the argument is a place for the version, and every driver has the function.
    let result = unsafe { sys::cuDriverGetVersion(&raw mut found) };
    result.result().map_err(Error::cuda("cuDriverGetVersion"))?;
    if found < OLDEST {
        return Err(Error::OldCuda {
            found,
            needed: OLDEST,
        });
    }
    result::init().map_err(Error::cuda("cuInit"))
}

impl Gpu {
    /// GPUs that this process may use.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`].
    pub fn count() -> Result<usize> {
        load()?;
        let count = result::device::get_count().map_err(Error::cuda("cuDeviceGetCount"))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The GPU with this number, by its primary context.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`].
    pub fn open(ordinal: usize) -> Result<Self> {
        load()?;
        let context = CudaContext::new(ordinal).map_err(Error::cuda("cuDevicePrimaryCtxRetain"))?;
        Self::over(context)
    }

    /// The GPU of a context of the program's own.
    ///
    /// # Errors
    /// [`Error::OldCuda`] and [`Error::Cuda`].
    pub fn over(context: Arc<CudaContext>) -> Result<Self> {
        load()?;
        let abilities = Abilities::of(&context)?;
        let mut text = [0; 32];
        // SAFETY: the text is as long as it says, and ends within it.
        let result = unsafe {
            sys::cuDeviceGetPCIBusId(text.as_mut_ptr(), text.len() as i32, context.cu_device())
        };
        (result.result()).map_err(Error::cuda("cuDeviceGetPCIBusId"))?;
        let text = text.map(|letter| letter as u8);
        let bus = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Ok(Self {
            context,
            abilities,
            bus: bus.to_string_lossy().to_ascii_lowercase(),
        })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// What it offers.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// Its place on the bus, as Linux names it: `0000:3b:00.0`.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Its name.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn name(&self) -> Result<String> {
        self.context.name().map_err(Error::cuda("cuDeviceGetName"))
    }

    /// What tells it from all other GPUs.
    pub(crate) fn uuid(&self) -> Result<[u8; 16]> {
        let uuid = self
            .context
            .uuid()
            .map_err(Error::cuda("cuDeviceGetUuid"))?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    /// New memory, all zero, that boards reach, and that other APIs take where the GPU allows it.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NoPeers`], and [`Error::Cuda`].
    pub fn buffer(&self, length: u64) -> Result<GpuBuffer> {
        match self.abilities.shared && self.abilities.peers_of_shared {
            true => GpuBuffer::shareable(self, length),
            false => GpuBuffer::plain(self, length),
        }
    }

    /// New memory, all zero, by `cuMemAlloc`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NoPeers`], and [`Error::Cuda`].
    pub fn plain_buffer(&self, length: u64) -> Result<GpuBuffer> {
        GpuBuffer::plain(self, length)
    }

    /// Has readers that run see what peers have written until now. Costs nothing where the GPU orders
    /// such writes by itself. Call it after the transfer has ended.
    ///
    /// # Errors
    /// [`Error::NoFlush`] and [`Error::Cuda`].
    pub fn flush(&self, readers: Readers) -> Result<()> {
        use sys::CUflushGPUDirectRDMAWritesScope as Scope;
        use sys::CUflushGPUDirectRDMAWritesTarget as Target;
        let (ordered, scope) = match readers {
            Readers::Context => (
                Ordering::Owner,
                Scope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER,
            ),
            Readers::AllGpus => (
                Ordering::All,
                Scope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES,
            ),
        };
        if self.abilities.ordering >= ordered {
            return Ok(());
        }
        if self.abilities.flush != Flush::Host {
            return Err(Error::NoFlush {
                gpu: self.bus.clone(),
            });
        }
        self.bind()?;
        let target = Target::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        // SAFETY: both are constants, and the context is the thread's.
        let result = unsafe { sys::cuFlushGPUDirectRDMAWrites(target, scope) };
        (result.result()).map_err(Error::cuda("cuFlushGPUDirectRDMAWrites"))
    }

    /// Waits until nothing of the context runs, and does something then: for what gives memory back. Says
    /// whether it could. `bind` would not do: it tells of errors of before.
    pub(crate) fn at_rest(&self, give_back: impl FnOnce()) -> bool {
        let mut before = std::ptr::null_mut();
        // SAFETY: the context lives as long as this; what was pushed is popped.
        unsafe {
            if sys::cuCtxPushCurrent_v2(self.context.cu_ctx())
                .result()
                .is_err()
            {
                return false;
            }
            let rests = sys::cuCtxSynchronize().result().is_ok();
            if rests {
                give_back();
            }
            let _ = sys::cuCtxPopCurrent_v2(&raw mut before);
            rests
        }
    }

    /// Makes its context the thread's.
    pub(crate) fn bind(&self) -> Result<()> {
        self.context
            .bind_to_thread()
            .map_err(Error::cuda("cuCtxSetCurrent"))
    }
}

impl Abilities {
    fn of(context: &CudaContext) -> Result<Self> {
        let get = |attribute| {
            context
                .attribute(attribute)
                .map_err(Error::cuda("cuDeviceGetAttribute"))
        };
        let has = |attribute| Ok::<_, Error>(get(attribute)? != 0);
        Ok(Self {
            peers: has(Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)?,
            peers_of_shared: has(
                Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
            )?,
            dma_buf: has(Attribute::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)?,
            shared: has(
                Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
            )?,
            flush: Flush::of(get(
                Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
            )?),
            ordering: Ordering::of(get(
                Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
            )?),
        })
    }
}

impl Flush {
    /// By the attribute's bits (`CUflushGPUDirectRDMAWritesOptions`).
    fn of(bits: i32) -> Self {
        use sys::CUflushGPUDirectRDMAWritesOptions as Options;
        let has = |option: Options| bits & option as i32 != 0;
        if has(Options::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST) {
            Self::Host
        } else if has(Options::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS) {
            Self::Stream
        } else {
            Self::None
        }
    }
}

impl Ordering {
    /// By the attribute's value (`CUGPUDirectRDMAWritesOrdering`), which grows with what is promised.
    fn of(value: i32) -> Self {
        use sys::CUGPUDirectRDMAWritesOrdering as Cuda;
        if value >= Cuda::CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES as i32 {
            Self::All
        } else if value >= Cuda::CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER as i32 {
            Self::Owner
        } else {
            Self::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_ordering_are_those_of_the_manual() {
        // CUDA Driver API, "Data types used by CUDA driver": HOST is 1, MEMOPS is 2; NONE 0, OWNER 100,
        // ALL_DEVICES 200.
        assert_eq!(
            [0, 1, 2, 3].map(Flush::of),
            [Flush::None, Flush::Host, Flush::Stream, Flush::Host]
        );
        assert_eq!(
            [0, 100, 200].map(Ordering::of),
            [Ordering::None, Ordering::Owner, Ordering::All]
        );
        assert!(Ordering::None < Ordering::Owner && Ordering::Owner < Ordering::All);
    }

    #[test]
    fn without_a_gpu_there_is_an_error_and_no_panic() {
        // On a machine with a GPU this opens one.
        match Gpu::count() {
            Ok(count) => assert!(Gpu::open(count).is_err()),
            Err(error) => assert!(!error.remedy().is_empty()),
        }
    }
}
