//! GPUs by CUDA's driver. The sections named are those of NVIDIA's CUDA Driver API manual.

mod backing;
mod buffer;
mod driver;
mod export;

pub(crate) use backing::Backing;
pub use buffer::GpuBuffer;
#[cfg(test)]
pub(crate) use driver::UNHEARD;
pub(crate) use driver::{Driver, SUCCESS};
pub use export::DmaBuf;

use crate::error::{Error, Result};
use cudarc::driver::CudaContext;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use peerlane_host::Process;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A GPU of NVIDIA's. Clones are the same GPU.
#[derive(Clone)]
pub struct Gpu {
    context: Arc<Context>,
    abilities: Abilities,
    bus: String,
}

/// A context of CUDA's, with the object that keeps it.
struct Context {
    driver: &'static Driver,
    raw: sys::CUcontext,
    device: sys::CUdevice,
    /// The program's own, or `None`: a share of the GPU's primary context.
    program: Option<Arc<CudaContext>>,
    owner: Process,
    /// Stream of the library's own fills and copies, or null before it is made. The legacy default stream is not used
    /// for them: its use while another thread captures a stream that is not `CU_STREAM_NON_BLOCKING` fails and
    /// invalidates the graph, in each capture mode of the thread (driver 580: `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`).
    stream: sys::CUstream,
}

// SAFETY: any thread may use a context of CUDA's ("Context management"); nothing is accessed through the pointer.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Makes it the thread's context until the result is dropped: [`Gpu::bind`].
    fn bind(&self) -> Result<Bound> {
        let driver = self.driver;
        // SAFETY: the context lives as long as this value, and as the objects that it is made current for.
        let code = unsafe { (driver.context_push)(self.raw) };
        driver.check("cuCtxPushCurrent", code)?;
        let mut bound = Bound {
            driver,
            mode: None,
            thread: PhantomData,
        };
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED as c_int;
        // SAFETY: a place with a mode, which gets the thread's earlier mode.
        let code = unsafe { (driver.exchange_capture_mode)(&raw mut mode) };
        driver.check("cuThreadExchangeStreamCaptureMode", code)?;
        bound.mode = Some(mode);
        Ok(bound)
    }

    /// Makes its stream.
    fn make_stream(&mut self) -> Result<()> {
        let _bound = self.bind()?;
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is the thread's, the first argument a place for the stream.
        let code = unsafe { (self.driver.stream_create)(&raw mut self.stream, flags) };
        self.driver.check("cuStreamCreate", code)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.owner != Process::current() {
            return;
        }
        if !self.stream.is_null()
            && let Ok(_bound) = self.bind()
        {
            // SAFETY: the stream is this value's, and each of its users has waited for it.
            let _ = unsafe { (self.driver.stream_destroy)(self.stream) };
        }
        if self.program.is_none() {
            // SAFETY: this releases the one share that `Gpu::open` took.
            let _ = unsafe { (self.driver.primary_release)(self.device) };
        }
    }
}

/// Abilities of a GPU and its driver that concern other devices.
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
    /// The way that a peer's writes are shown to kernels that run.
    pub flush: Flush,
    /// Readers for which a peer's writes are in order without a flush.
    pub ordering: Ordering,
}

/// Ways that a peer's writes are shown to kernels that run (`GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// By a call of the host's: `cuFlushGPUDirectRDMAWrites`.
    Host,
    /// By an operation in a stream only.
    Stream,
    /// Not at all.
    None,
}

/// Readers for which a peer's writes are in order by themselves (`GPU_DIRECT_RDMA_WRITES_ORDERING`). Each value
/// includes those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ordering {
    /// For no reader.
    None,
    /// For the context that owns the memory.
    Owner,
    /// For all GPUs of the machine.
    All,
}

/// Readers that shall see a peer's writes: argument of [`Gpu::flush`].
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

/// Returns text that a function of the driver writes.
fn text(write: impl FnOnce(*mut std::ffi::c_char, c_int) -> Result<()>) -> Result<String> {
    let mut text = [0; 256];
    write(text.as_mut_ptr(), text.len() as c_int)?;
    let text = text.map(|letter| letter as u8);
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

impl Gpu {
    /// Counts the GPUs that this process may use.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`].
    pub fn count() -> Result<usize> {
        let driver = Driver::get()?;
        let mut count = 0;
        // SAFETY: the argument is a place for the number.
        let code = unsafe { (driver.device_count)(&raw mut count) };
        driver.check("cuDeviceGetCount", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Returns the number of the GPU that has the memory at an address, for [`open`](Self::open).
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`], for example if the memory is not CUDA's.
    pub fn number_of(address: u64) -> Result<usize> {
        Self::number_with(Driver::get()?, address)
    }

    /// Does the work of [`number_of`](Self::number_of) by any driver.
    fn number_with(driver: &'static Driver, address: u64) -> Result<usize> {
        const NO_CONTEXT: c_int = sys::CUresult::CUDA_ERROR_INVALID_CONTEXT as c_int;
        let ask = || {
            let mut number: c_int = 0;
            let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as c_int;
            // SAFETY: the attribute is an int.
            let code =
                unsafe { (driver.pointer_get)((&raw mut number).cast(), attribute, address) };
            (code, number)
        };
        let (code, number) = match ask() {
            // Any context will do: addresses are all GPUs' ("Unified Addressing"). A thread that has memory usually has
            // one.
            (NO_CONTEXT, _) => {
                let first = Self::open_with(driver, 0)?;
                let _bound = first.bind()?;
                ask()
            }
            asked => asked,
        };
        driver.check("cuPointerGetAttribute", code)?;
        // Memory of no GPU has a negative number.
        usize::try_from(number).map_err(|_| {
            driver.error(
                "cuPointerGetAttribute",
                sys::CUresult::CUDA_ERROR_INVALID_VALUE as c_int,
            )
        })
    }

    /// Opens the GPU with this number, by its primary context.
    ///
    /// # Errors
    /// [`Error::NoCuda`], [`Error::OldCuda`], and [`Error::Cuda`].
    pub fn open(ordinal: usize) -> Result<Self> {
        Self::open_with(Driver::get()?, ordinal)
    }

    /// Does the work of [`open`](Self::open) by any driver.
    pub(crate) fn open_with(driver: &'static Driver, ordinal: usize) -> Result<Self> {
        let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        let mut device = 0;
        // SAFETY: the first argument is a place for the device.
        let code = unsafe { (driver.device)(&raw mut device, number) };
        driver.check("cuDeviceGet", code)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the device is the driver's, the first argument a place for its context.
        let code = unsafe { (driver.primary_retain)(&raw mut raw, device) };
        driver.check("cuDevicePrimaryCtxRetain", code)?;
        Self::of(Context {
            driver,
            raw,
            device,
            program: None,
            owner: Process::current(),
            stream: std::ptr::null_mut(),
        })
    }

    /// Opens the GPU of a context of the program's own.
    ///
    /// # Errors
    /// [`Error::OldCuda`] and [`Error::Cuda`].
    pub fn over(context: Arc<CudaContext>) -> Result<Self> {
        Self::of(Context {
            driver: Driver::get()?,
            raw: context.cu_ctx(),
            device: context.cu_device(),
            program: Some(context),
            owner: Process::current(),
            stream: std::ptr::null_mut(),
        })
    }

    fn of(mut context: Context) -> Result<Self> {
        let abilities = Abilities::of(&context)?;
        let bus = text(|place, length| {
            // SAFETY: the place is as long as it says.
            let code = unsafe { (context.driver.device_bus)(place, length, context.device) };
            context.driver.check("cuDeviceGetPCIBusId", code)
        })?;
        context.make_stream()?;
        Ok(Self {
            context: Arc::new(context),
            abilities,
            bus: bus.to_ascii_lowercase(),
        })
    }

    /// Returns its context, for functions of CUDA's; it lives as long as this value. For streams of [`cudarc`], make a
    /// [`CudaContext`] of the same GPU, whose primary context is this one.
    pub fn context(&self) -> sys::CUcontext {
        self.context.raw
    }

    /// Returns its device, for functions of CUDA's.
    pub fn device(&self) -> sys::CUdevice {
        self.context.device
    }

    /// Returns the major number of its compute capability.
    pub(crate) fn major(&self) -> Result<c_int> {
        (self.context).attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    }

    /// Returns the driver.
    pub(crate) fn driver(&self) -> &'static Driver {
        self.context.driver
    }

    /// Returns its abilities.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// Returns its place on the bus, as Linux names it: `0000:3b:00.0`.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Returns its name.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn name(&self) -> Result<String> {
        text(|place, length| {
            // SAFETY: the place is as long as it says.
            let code = unsafe { (self.driver().device_name)(place, length, self.device()) };
            self.driver().check("cuDeviceGetName", code)
        })
    }

    /// Returns the identifier that distinguishes it from all other GPUs.
    pub(crate) fn uuid(&self) -> Result<[u8; 16]> {
        let mut uuid = [0; 16];
        // SAFETY: the first argument is a place for 16 bytes.
        let code = unsafe { (self.driver().device_uuid)(&raw mut uuid, self.device()) };
        self.driver().check("cuDeviceGetUuid", code)?;
        Ok(uuid)
    }

    /// Allocates memory, all zero, that boards reach, and that other APIs take where the GPU allows it.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NoPeers`], and [`Error::Cuda`].
    pub fn buffer(&self, length: u64) -> Result<GpuBuffer> {
        match self.abilities.shared && self.abilities.peers_of_shared {
            true => GpuBuffer::shareable(self, length),
            false => GpuBuffer::plain(self, length),
        }
    }

    /// Allocates memory, all zero, by `cuMemAlloc`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NoPeers`], and [`Error::Cuda`].
    pub fn plain_buffer(&self, length: u64) -> Result<GpuBuffer> {
        GpuBuffer::plain(self, length)
    }

    /// Makes peers' writes until now visible to readers that run. This costs nothing where the GPU orders such writes
    /// by itself. Call it after the transfer has ended.
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
        let _bound = self.bind()?;
        let target = Target::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        // SAFETY: both are constants, and the context is the thread's.
        let code = unsafe { (self.driver().flush_writes)(target as c_int, scope as c_int) };
        self.driver().check("cuFlushGPUDirectRDMAWrites", code)
    }

    /// Releases something that kernels may have used. Returns whether it could: after an error of the GPU it cannot.
    ///
    /// CUDA has no way to wait for all work of a context that leaves graphs alone. To synchronise a context while one
    /// of its streams is captured invalidates the graph, in each capture mode of the thread ("CUDA Graphs", "Prohibited
    /// and Unhandled Operations"), and no function reports whether one is captured. So each caller has waited for the
    /// library's own work before, and CUDA asks programs to do that for theirs. To free memory also waits for kernels,
    /// as far as the driver does that ("Memory Management", `cuMemFree`: it "may perform implicit synchronization").
    pub(crate) fn give_back(&self, give_back: impl FnOnce()) -> bool {
        if self.is_inherited() {
            return false;
        }
        let Ok(_bound) = self.bind() else {
            return false;
        };
        let driver = self.driver();
        let mut address = 0;
        // SAFETY: a place for the address; the allocation is freed, and no code has used it.
        let rests = unsafe {
            match (driver.allocate)(&raw mut address, 1) {
                SUCCESS => (driver.free)(address) == SUCCESS,
                // If the memory is full, the release is all the more needed.
                code => code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as c_int,
            }
        };
        if rests {
            give_back();
        }
        rests
    }

    /// Whether this is the child of a fork, where CUDA does not work: it must not release the parent's objects.
    pub(crate) fn is_inherited(&self) -> bool {
        self.context.owner != Process::current()
    }

    /// Makes its context the thread's until the result is dropped, which restores the earlier one. Programs and their
    /// libraries depend on the thread's context, because it is the current device ("Driver API", context management).
    ///
    /// Calls of the library in between do not belong to a graph that another thread captures: otherwise allocations and
    /// frees would be refused, and would invalidate the graph ("Stream Management",
    /// `cuThreadExchangeStreamCaptureMode`).
    pub(crate) fn bind(&self) -> Result<Bound> {
        self.context.bind()
    }

    /// Enqueues work in the library's own stream, and waits for it.
    pub(crate) fn by_stream(
        &self,
        call: &'static str,
        does: impl FnOnce(&Driver, sys::CUstream) -> c_int,
    ) -> Result<()> {
        let _bound = self.bind()?;
        let (driver, stream) = (self.driver(), self.context.stream);
        driver.check(call, does(driver, stream))?;
        // SAFETY: a living stream.
        let code = unsafe { (driver.stream_synchronize)(stream) };
        driver.check("cuStreamSynchronize", code)
    }

    /// Makes synchronous copies and fills of the program's own memory complete before their call returns, because a
    /// peer must see them ("GPUDirect RDMA", "Synchronization and Memory Ordering"). Asynchronous ones stay
    /// asynchronous. Memory of virtual memory management does not take the attribute (driver 580:
    /// `CUDA_ERROR_NOT_SUPPORTED`): there the program must wait for its streams.
    pub(crate) fn order_copies(&self, address: u64) -> Result<()> {
        const NOT_SUPPORTED: c_int = sys::CUresult::CUDA_ERROR_NOT_SUPPORTED as c_int;
        let _bound = self.bind()?;
        let on: u32 = 1;
        let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS as c_int;
        // SAFETY: the attribute is a flag of 32 bits, of the allocation that holds the address.
        let code =
            unsafe { (self.driver().pointer_set)((&raw const on).cast(), attribute, address) };
        match code {
            NOT_SUPPORTED => Ok(()),
            code => self.driver().check("cuPointerSetAttribute", code),
        }
    }
}

/// A context that is the thread's current one.
#[must_use = "the context is the thread's until this is dropped"]
pub(crate) struct Bound {
    driver: &'static Driver,
    /// The thread's earlier capture mode (`CUstreamCaptureMode`).
    mode: Option<c_int>,
    /// Makes the type `!Send`: the context is a thread's own.
    thread: PhantomData<*const ()>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(mut mode) = self.mode {
            // SAFETY: a place with the earlier mode.
            let _ = unsafe { (self.driver.exchange_capture_mode)(&raw mut mode) };
        }
        let mut ours = std::ptr::null_mut();
        // SAFETY: a place for the context, which `bind` has pushed.
        let _ = unsafe { (self.driver.context_pop)(&raw mut ours) };
    }
}

impl Context {
    fn attribute(&self, attribute: Attribute) -> Result<c_int> {
        let mut value = 0;
        // SAFETY: the first argument is a place for the value.
        let code = unsafe {
            (self.driver.device_attribute)(&raw mut value, attribute as c_int, self.device)
        };
        self.driver.check("cuDeviceGetAttribute", code)?;
        Ok(value)
    }
}

impl Abilities {
    fn of(context: &Context) -> Result<Self> {
        let get = |attribute| context.attribute(attribute);
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
    /// Makes it from the attribute's bits (`CUflushGPUDirectRDMAWritesOptions`).
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
    /// Makes it from the attribute's value (`CUGPUDirectRDMAWritesOrdering`), which grows with the guarantee.
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
    fn memory_tells_its_gpu() {
        use crate::standin;
        let gpu = standin::gpu();
        let buffer = gpu.plain_buffer(1 << 20).unwrap();
        // With a context of the thread's, of any GPU, and without one.
        assert_eq!(standin::current(), None);
        let number = |address| Gpu::number_with(gpu.driver(), address);
        assert_eq!(number(buffer.address() + 5).unwrap(), standin::NUMBER);
        standin::make_current(64);
        assert_eq!(number(buffer.address()).unwrap(), standin::NUMBER);
        let error = number(0x1000).unwrap_err();
        assert!(matches!(error, Error::Cuda { .. }), "{error:?}");
    }

    #[test]
    fn without_a_gpu_there_is_an_error_and_no_panic() {
        // On a machine with a GPU this opens one.
        match Gpu::count() {
            Ok(count) => assert!(Gpu::open(count).is_err()),
            Err(error) => assert!(!error.hint().is_empty()),
        }
    }
}
