//! GPU memory as an end of routes.

mod functions;
mod stores;

use crate::cuda::{Gpu, GpuBuffer, Readers};
use crate::error::Error;
use crate::queue::{Event, Registered};
use cudarc::driver::sys;
use functions::{Functions, NOT_READY};
use peerlane_host::{Device, Memory, Permissions};
use peerlane_routes::engine::{End, Reached, Streamed};
use peerlane_routes::{Engine, Pending, Piece, Push, Reach, Residence, Result, Side, Way};
use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use stores::Stores;

/// A [`GpuBuffer`] as an end of routes. Clones are the same end.
///
/// The GPU's copy engine works by a stream of the library's own. So the program waits for the end of kernels that write
/// the memory before a copy begins (`cuStreamSynchronize`), and bytes of a copy are visible to kernels that are
/// launched after the copy has returned.
#[derive(Debug, Clone)]
pub struct GpuMemory {
    buffer: Arc<GpuBuffer>,
    functions: &'static Functions,
}

impl GpuMemory {
    /// Makes a side of the buffer.
    ///
    /// # Errors
    /// As [`Gpu::open`]: functions of CUDA's that are missing.
    pub fn new(buffer: Arc<GpuBuffer>) -> crate::Result<Self> {
        Ok(Self {
            buffer,
            functions: Functions::get()?,
        })
    }

    /// Returns the buffer.
    pub fn buffer(&self) -> &GpuBuffer {
        &self.buffer
    }
}

/// Converts an error of the GPU's for routes.
pub(crate) fn told(error: Error) -> peerlane_routes::Error {
    match error {
        Error::Board(error) => error.into(),
        error if error.lacks_room() => peerlane_routes::Error::busy("the GPU", error, true),
        error => peerlane_routes::Error::side("the GPU", error),
    }
}

impl Side for GpuMemory {
    fn name(&self) -> String {
        format!("the GPU {}", self.buffer.gpu().bus())
    }

    fn length(&self) -> u64 {
        self.buffer.length()
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        let reached = Reached::new(staging)?;
        let gpu = self.buffer.gpu();
        let stream = || Stream::new(gpu, self.functions).map(Arc::new);
        Ok(Box::new(Copies {
            stream: stream().map_err(told)?,
            teller: stream().map_err(told)?,
            copied: Event::new(gpu).map_err(told)?,
            buffer: Arc::clone(&self.buffer),
            pinned: pin(gpu, reached.memory()).map(Arc::new),
            reached,
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let buffer = self.buffer.gpu().buffer(bytes).map_err(told)?;
        Ok(Box::new(Self {
            buffer: Arc::new(buffer),
            functions: self.functions,
        }))
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let region = (self.buffer.register(device, range, permissions)).map_err(told)?;
        Ok(Reach {
            region: region.pages().clone(),
            offset: region.offset(),
        })
    }

    /// Pinned memory of a GPU stays where it is.
    fn residence(&self) -> Residence {
        Residence::Device
    }

    fn arrived(&self) -> Result<()> {
        self.buffer.gpu().flush(Readers::Context).map_err(told)
    }

    fn pusher(&self, device: &Device) -> Result<Box<dyn Push>> {
        let window = device.window(device.range().start)?;
        Ok(Box::new(Stores::new(self, window)?))
    }
}

/// Pins memory of this process for the GPU. Without that, copies use a buffer of CUDA's and may return only when they
/// have ended: slower, and correct.
fn pin(gpu: &Gpu, memory: &Memory) -> Option<Registered> {
    let base = std::ptr::with_exposed_provenance_mut::<u8>(memory.address() as usize);
    // SAFETY: the memory is mapped for as long as it lives, and each holder of the registration has the memory.
    unsafe { Registered::new(gpu, NonNull::new(base)?, memory.length(), [0; 2]) }.ok()
}

/// A stream of CUDA's.
struct Stream {
    gpu: Gpu,
    functions: &'static Functions,
    raw: sys::CUstream,
}

// SAFETY: any thread that has the context may use its streams ("Stream management").
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    fn new(gpu: &Gpu, functions: &'static Functions) -> crate::Result<Self> {
        let _bound = gpu.bind()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the first argument is a place for the stream.
        let code = unsafe { (functions.create)(&raw mut raw, flags) };
        gpu.driver().check("cuStreamCreate", code)?;
        Ok(Self {
            gpu: gpu.clone(),
            functions,
            raw,
        })
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        self.gpu.driver().check(call, code).map_err(told)
    }

    /// Begins a copy.
    ///
    /// # Safety
    /// `host` is so many bytes that stay mapped until the stream has made the copy; `at` is that many of the GPU's
    /// memory.
    unsafe fn copy(&self, way: Way, at: u64, host: *mut c_void, length: usize) -> Result<()> {
        let _bound = self.gpu.bind().map_err(told)?;
        // SAFETY: the caller promises both ranges.
        let (call, code) = unsafe {
            match way {
                Way::Out => (
                    "cuMemcpyDtoHAsync",
                    (self.functions.copy_out)(host, at, length, self.raw),
                ),
                Way::In => (
                    "cuMemcpyHtoDAsync",
                    (self.functions.copy_in)(at, host, length, self.raw),
                ),
            }
        };
        self.check(call, code)
    }

    /// Whether the stream has done all of its work. A stream that has failed does not run callbacks any more.
    fn rests(&self) -> Result<bool> {
        let _bound = self.gpu.bind().map_err(told)?;
        // SAFETY: a living stream.
        match unsafe { (self.functions.query)(self.raw) } {
            NOT_READY => Ok(false),
            code => self.check("cuStreamQuery", code).map(|()| true),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.is_inherited() {
            return;
        }
        if let Ok(_bound) = self.gpu.bind() {
            // SAFETY: the stream is this value's. Work that was enqueued goes on to its end ("cuStreamDestroy").
            unsafe { (self.functions.destroy)(self.raw) };
        }
    }
}

/// The copy engine between GPU memory and staging memory.
struct Copies {
    stream: Arc<Stream>,
    /// Runs the callbacks. A callback delays the work that follows it in its stream ("cuLaunchHostFunc"), and the next
    /// copy must not wait for a thread of the host's.
    teller: Arc<Stream>,
    /// After the copy that was begun last.
    copied: Event,
    buffer: Arc<GpuBuffer>,
    pinned: Option<Arc<Registered>>,
    reached: Reached,
}

/// Reports the end of the work that was enqueued before.
///
/// # Safety
/// `user` is of [`End::to_user`], and no other code frees it.
pub(crate) unsafe extern "C" fn ended(user: *mut c_void) {
    // SAFETY: the caller promises it.
    unsafe { End::<()>::from_user(user) }.tell(());
}

impl Engine for Copies {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let at = self.buffer.at(piece.at, piece.length).map_err(told)?;
        let host = self.reached.begin(&piece)?;
        let length = piece.length as usize;
        // SAFETY: both ranges were checked. The copy's handle keeps the memory, and leaks it if the handle is dropped
        // before the copy's end; all accesses to it are by atomics (`Place`).
        unsafe { self.stream.copy(piece.way, at, host, length) }?;
        let end = Arc::<End<()>>::default();
        let streams = [&self.stream, &self.teller].map(Arc::clone);
        let copying = Streamed::new(
            Arc::clone(&end),
            self.reached.rest(&piece),
            move || {
                let mut all = streams.iter();
                all.try_fold(true, |rest, stream| Ok(stream.rests()? && rest))
            },
            (
                self.reached.clone(),
                Arc::clone(&self.buffer),
                self.pinned.clone(),
            ),
        );
        let user = end.to_user();
        if let Err(error) = self.tell(user) {
            // SAFETY: no callback comes, so this is the only code that frees it.
            drop(unsafe { End::<()>::from_user(user) });
            return Ok(Box::new(copying.untold(error)));
        }
        Ok(Box::new(copying))
    }
}

impl Copies {
    /// Makes the GPU report the end of the copy that was begun last.
    fn tell(&self, user: *mut c_void) -> Result<()> {
        let Functions { wait, tell, .. } = self.stream.functions;
        self.copied.record(self.stream.raw).map_err(told)?;
        // SAFETY: a living stream, and an event of the same context. The wait is for the event's place now, also if it
        // is recorded again later.
        let code = unsafe { wait(self.teller.raw, self.copied.raw(), 0) };
        self.stream.check("cuStreamWaitEvent", code)?;
        // SAFETY: the function takes the argument `user`; the stream is a living one.
        let code = unsafe { tell(self.teller.raw, ended, user) };
        self.stream.check("cuLaunchHostFunc", code)
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Functions")
    }
}

#[cfg(test)]
mod tests;
