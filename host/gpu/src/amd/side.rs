//! Memory of an AMD GPU as an end of routes.

use super::runtime::{DEVICE_TO_HOST, HOST_TO_DEVICE, Hip, NON_BLOCKING, NOT_READY, StreamHandle};
use super::{AmdBuffer, AmdGpu};
use crate::side::{ended, told};
use peerlane_host::{Device, Memory, Permissions};
use peerlane_routes::engine::{End, Reached, Streamed};
use peerlane_routes::{Engine, Pending, Piece, Reach, Result, Side, Way};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// An [`AmdBuffer`] as an end of routes. Clones are the same end.
///
/// The GPU's copy engine works by a stream of the library's own. So the program waits for the end of kernels that write
/// the memory before a copy begins (`hipStreamSynchronize`), and bytes of a copy are visible to kernels that are
/// launched after the copy has returned. The GPU does not store to the board's window: HIP does not map memory of other
/// devices. DirectGMA does ([`crate::directgma`]).
#[derive(Debug, Clone)]
pub struct AmdMemory(Arc<AmdBuffer>);

impl AmdMemory {
    /// Makes a side of the buffer.
    pub fn new(buffer: Arc<AmdBuffer>) -> Self {
        Self(buffer)
    }

    /// Returns the buffer.
    pub fn buffer(&self) -> &AmdBuffer {
        &self.0
    }
}

impl Side for AmdMemory {
    fn name(&self) -> String {
        format!("the GPU {}", self.0.gpu().bus())
    }

    fn length(&self) -> u64 {
        self.0.length()
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        let reached = Reached::new(staging)?;
        let gpu = self.0.gpu();
        Ok(Box::new(Copies {
            stream: Arc::new(Stream::new(gpu).map_err(told)?),
            pinned: Pinned::new(gpu, reached.memory()).map(Arc::new),
            buffer: Arc::clone(&self.0),
            reached,
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let buffer = self.0.gpu().buffer(bytes).map_err(told)?;
        Ok(Box::new(Self(Arc::new(buffer))))
    }

    fn arrived(&self) -> Result<()> {
        self.0.gpu().flush().map_err(told)
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let region = self.0.register(device, range, permissions).map_err(told)?;
        Ok(Reach {
            region: region.pages().clone(),
            offset: region.offset(),
        })
    }
}

/// A stream of HIP's.
struct Stream {
    gpu: AmdGpu,
    raw: StreamHandle,
}

// SAFETY: streams are used by any thread ("hipStreamCreateWithFlags").
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    fn new(gpu: &AmdGpu) -> crate::Result<Self> {
        let _bound = gpu.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the first argument is a place for the stream.
        let code = unsafe { (gpu.hip.stream_create)(&raw mut raw, NON_BLOCKING) };
        gpu.hip.check("hipStreamCreateWithFlags", code)?;
        Ok(Self {
            gpu: gpu.clone(),
            raw,
        })
    }

    fn hip(&self) -> &'static Hip {
        self.gpu.hip
    }

    /// Whether the stream has done all of its work. A stream that has failed does not run callbacks any more.
    fn rests(&self) -> Result<bool> {
        let _bound = self.gpu.bind().map_err(told)?;
        // SAFETY: a living stream.
        match unsafe { (self.hip().stream_query)(self.raw) } {
            NOT_READY => Ok(false),
            code => {
                let checked = self.hip().check("hipStreamQuery", code);
                checked.map(|()| true).map_err(told)
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The child of a fork has none of the parent's streams.
        if self.gpu.is_inherited() {
            return;
        }
        if let Ok(_bound) = self.gpu.bind() {
            // SAFETY: the stream is this value's. Work that was enqueued goes on to its end ("hipStreamDestroy").
            unsafe { (self.hip().stream_destroy)(self.raw) };
        }
    }
}

/// Copies from the host's memory by a stream of its own, which does not wait for the program's work, and waits for the
/// end.
///
/// # Safety
/// `at` is the address of as many bytes of the GPU's memory as `bytes` has.
pub(super) unsafe fn store(gpu: &AmdGpu, at: u64, bytes: &[u8]) -> crate::Result<()> {
    let stream = Stream::new(gpu)?;
    let _bound = gpu.bind()?;
    let to = std::ptr::with_exposed_provenance_mut::<c_void>(at as usize);
    let (from, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the caller promises the GPU's memory, and this waits for the end before the bytes are released.
    let code = unsafe { (gpu.hip.copy_begin)(to, from, length, HOST_TO_DEVICE, stream.raw) };
    gpu.hip.check("hipMemcpyAsync", code)?;
    // SAFETY: a living stream.
    while unsafe { (gpu.hip.stream_query)(stream.raw) } == NOT_READY {
        std::thread::yield_now();
    }
    // SAFETY: as above. A stream that has failed reports the error each time.
    let code = unsafe { (gpu.hip.stream_query)(stream.raw) };
    gpu.hip.check("hipStreamQuery", code)
}

/// Memory of this process that the GPU reaches by itself. Without that, HIP stages copies: slower, and correct.
struct Pinned {
    gpu: AmdGpu,
    memory: Memory,
}

impl Pinned {
    fn new(gpu: &AmdGpu, memory: &Memory) -> Option<Self> {
        let _bound = gpu.bind().ok()?;
        let base = std::ptr::with_exposed_provenance_mut::<c_void>(memory.address() as usize);
        // SAFETY: the memory is mapped for as long as it lives, and this value keeps it.
        let code = unsafe { (gpu.hip.host_register)(base, memory.length(), 0) };
        (code == 0).then(|| Self {
            gpu: gpu.clone(),
            memory: memory.clone(),
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // In the child of a fork nothing is registered.
        if self.gpu.is_inherited() {
            return;
        }
        let base = std::ptr::with_exposed_provenance_mut::<c_void>(self.memory.address() as usize);
        // SAFETY: it was registered once.
        unsafe { (self.gpu.hip.host_unregister)(base) };
    }
}

/// The copy engine between GPU memory and staging memory.
struct Copies {
    // Its drop waits for nothing: a copy that is in progress keeps all of these.
    stream: Arc<Stream>,
    pinned: Option<Arc<Pinned>>,
    buffer: Arc<AmdBuffer>,
    reached: Reached,
}

impl Engine for Copies {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let at = self.buffer.at(piece.at, piece.length).map_err(told)?;
        let host = self.reached.begin(&piece)?;
        let there = std::ptr::with_exposed_provenance_mut::<c_void>(at as usize);
        let length = piece.length as usize;
        let (to, from, kind) = match piece.way {
            Way::Out => (host, there, DEVICE_TO_HOST),
            Way::In => (there, host, HOST_TO_DEVICE),
        };
        let hip = self.stream.hip();
        let _bound = self.stream.gpu.bind().map_err(told)?;
        // SAFETY: both ranges were checked. The copy's handle keeps the memory, and leaks it if the handle is dropped
        // before the copy's end; all accesses to it are by atomics (`Place`).
        let code = unsafe { (hip.copy_begin)(to, from, length, kind, self.stream.raw) };
        hip.check("hipMemcpyAsync", code).map_err(told)?;
        let end = Arc::<End<()>>::default();
        let stream = Arc::clone(&self.stream);
        let copying = Streamed::new(
            Arc::clone(&end),
            self.reached.rest(&piece),
            move || stream.rests(),
            (
                self.reached.clone(),
                Arc::clone(&self.buffer),
                self.pinned.clone(),
            ),
        );
        let user = end.to_user();
        // SAFETY: the function takes the argument `user`; the stream is a living one.
        let code = unsafe { (hip.tell)(self.stream.raw, ended, user) };
        if let Err(error) = hip.check("hipLaunchHostFunc", code) {
            // SAFETY: no callback comes, so this is the only code that frees it.
            drop(unsafe { End::<()>::from_user(user) });
            return Ok(Box::new(copying.untold(told(error))));
        }
        Ok(Box::new(copying))
    }
}
