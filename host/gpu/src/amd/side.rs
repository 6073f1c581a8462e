//! Memory of an AMD GPU as an end of routes.

use super::runtime::{DEVICE_TO_HOST, HOST_TO_DEVICE, Hip, NON_BLOCKING, NOT_READY, StreamHandle};
use super::{AmdBuffer, AmdGpu};
use crate::error::Error;
use peerlane_host::{Device, Memory, MemoryKind, Permissions};
use peerlane_routes::{Engine, Pending, Piece, Reach, Result, Side, Way};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Addresses from here on are no process's (the kernel's Documentation/arch/x86/x86_64/mm.rst): memory that a simulated
/// board has there is copied from and to.
const NO_PROCESS: u64 = 1 << 63;

/// An [`AmdBuffer`] as an end of routes. Clones are the same.
///
/// The GPU's copy engine works by a stream of the library's own: what kernels write, the program has ended before a copy
/// begins (`hipStreamSynchronize`), and what a copy brings is there for kernels that are launched when it has returned.
/// The GPU does not store to the board's window: HIP maps no memory of other devices. DirectGMA does
/// ([`crate::directgma`]).
#[derive(Debug, Clone)]
pub struct AmdMemory(Arc<AmdBuffer>);

impl AmdMemory {
    /// The buffer as a side.
    pub fn new(buffer: Arc<AmdBuffer>) -> Self {
        Self(buffer)
    }

    /// The buffer.
    pub fn buffer(&self) -> &AmdBuffer {
        &self.0
    }
}

/// An error of the GPU's, for routes.
fn told(error: Error) -> peerlane_routes::Error {
    match error {
        Error::Board(error) => error.into(),
        error => peerlane_routes::Error::side("the GPU", error),
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
        let mapped = staging.kind() == MemoryKind::Host && staging.address() < NO_PROCESS;
        let reached = match mapped {
            true => staging.clone(),
            false => Memory::new(staging.length())?,
        };
        let gpu = self.0.gpu();
        Ok(Box::new(Copies {
            stream: Arc::new(Stream::new(gpu).map_err(told)?),
            pinned: Pinned::new(gpu, &reached).map(Arc::new),
            buffer: Arc::clone(&self.0),
            reached,
            staging: (!mapped).then(|| staging.clone()),
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        let buffer = self.0.gpu().buffer(bytes).map_err(told)?;
        Ok(Box::new(Self(Arc::new(buffer))))
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let region = self.0.register(device, range, permissions).map_err(told)?;
        Ok(Reach {
            region: region.region().clone(),
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
        gpu.bind()?;
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

    /// Whether the stream has failed: then it calls nobody back any more.
    fn state(&self) -> Result<()> {
        self.gpu.bind().map_err(told)?;
        // SAFETY: a living stream.
        match unsafe { (self.hip().stream_query)(self.raw) } {
            NOT_READY => Ok(()),
            code => self.hip().check("hipStreamQuery", code).map_err(told),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: the stream is this value's. What was enqueued goes on to its end ("hipStreamDestroy").
            unsafe { (self.hip().stream_destroy)(self.raw) };
        }
    }
}

/// Memory of this process that the GPU reaches by itself. Without that, copies are staged by HIP: slower, and right.
struct Pinned {
    hip: &'static Hip,
    memory: Memory,
}

impl Pinned {
    fn new(gpu: &AmdGpu, memory: &Memory) -> Option<Self> {
        gpu.bind().ok()?;
        let base = std::ptr::with_exposed_provenance_mut::<c_void>(memory.address() as usize);
        // SAFETY: the memory is mapped for as long as it lives, and this keeps it.
        let code = unsafe { (gpu.hip.host_register)(base, memory.length(), 0) };
        (code == 0).then(|| Self {
            hip: gpu.hip,
            memory: memory.clone(),
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let base = std::ptr::with_exposed_provenance_mut::<c_void>(self.memory.address() as usize);
        // SAFETY: it was registered once.
        unsafe { (self.hip.host_unregister)(base) };
    }
}

/// The copy engine between GPU memory and staging memory.
struct Copies {
    // Its drop waits for nothing: a copy that is under way keeps all of these.
    stream: Arc<Stream>,
    pinned: Option<Arc<Pinned>>,
    buffer: Arc<AmdBuffer>,
    /// Memory of this process.
    reached: Memory,
    /// Where that is not the staging memory.
    staging: Option<Memory>,
}

/// The end of a copy, as the stream tells it.
struct End {
    ended: Mutex<bool>,
    told: Condvar,
}

/// A copy under way.
struct Copying {
    stream: Arc<Stream>,
    end: Arc<End>,
    /// What is copied on when it has ended: into this memory, from `reached`.
    rest: Option<(Memory, usize, usize)>,
    reached: Memory,
    buffer: Arc<AmdBuffer>,
    pinned: Option<Arc<Pinned>>,
}

/// Tells the end of what was enqueued before.
///
/// # Safety
/// `user` is an `Arc<End>` that nobody else gives back.
unsafe extern "C" fn ended(user: *mut c_void) {
    // SAFETY: the caller promises it.
    let end = unsafe { Arc::from_raw(user.cast::<End>().cast_const()) };
    *end.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    end.told.notify_all();
}

fn pass_on(from: &Memory, to: &Memory, at: usize, length: usize) -> Result<()> {
    let mut bytes = vec![0; length];
    from.read(at, &mut bytes)?;
    Ok(to.write(at, &bytes)?)
}

impl Engine for Copies {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        let at = self.buffer.at(piece.at, piece.length).map_err(told)?;
        let (staged, length) = (piece.staged as usize, piece.length as usize);
        let size = self.reached.length();
        if staged.checked_add(length).is_none_or(|end| end > size) {
            return Err(peerlane_routes::Error::Bounds {
                side: "the staging memory".into(),
                offset: piece.staged,
                length: piece.length,
                size: size as u64,
            });
        }
        if let (Way::In, Some(staging)) = (piece.way, &self.staging) {
            pass_on(staging, &self.reached, staged, length)?;
        }
        let pointer =
            |address: u64| std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        let (host, there) = (pointer(self.reached.address() + piece.staged), pointer(at));
        let (to, from, kind) = match piece.way {
            Way::Out => (host, there, DEVICE_TO_HOST),
            Way::In => (there, host, HOST_TO_DEVICE),
        };
        let hip = self.stream.hip();
        self.stream.gpu.bind().map_err(told)?;
        // SAFETY: both ranges were checked. The copy's handle keeps the memory, and leaves it to the process if it goes
        // before its end; nobody uses it but by atomics (`Place`).
        let code = unsafe { (hip.copy_begin)(to, from, length, kind, self.stream.raw) };
        hip.check("hipMemcpyAsync", code).map_err(told)?;
        let end = Arc::new(End {
            ended: Mutex::new(false),
            told: Condvar::new(),
        });
        let copying = Copying {
            stream: Arc::clone(&self.stream),
            end: Arc::clone(&end),
            rest: match (piece.way, &self.staging) {
                (Way::Out, Some(staging)) => Some((staging.clone(), staged, length)),
                _ => None,
            },
            reached: self.reached.clone(),
            buffer: Arc::clone(&self.buffer),
            pinned: self.pinned.clone(),
        };
        let user = Arc::into_raw(end).cast_mut().cast();
        // SAFETY: the function takes what it is given; the stream is a living one.
        let code = unsafe { (hip.tell)(self.stream.raw, ended, user) };
        if let Err(error) = hip.check("hipLaunchHostFunc", code) {
            // SAFETY: nobody calls back, so this is the one who gives it back.
            drop(unsafe { Arc::from_raw(user.cast::<End>().cast_const()) });
            return Err(told(error));
        }
        Ok(Box::new(copying))
    }
}

impl Copying {
    fn has_ended(&self) -> bool {
        let ended = self.end.ended.lock();
        *ended.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending for Copying {
    fn wait(&mut self, limit: Duration) -> Result<bool> {
        let begin = Instant::now();
        let mut ended = (self.end.ended.lock()).unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            let left = limit.saturating_sub(begin.elapsed());
            if left.is_zero() {
                drop(ended);
                // A stream that has failed calls nobody back.
                if !limit.is_zero() {
                    self.stream.state()?;
                }
                return Ok(false);
            }
            let woken = self.end.told.wait_timeout(ended, left);
            ended = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(ended);
        match self.rest.take() {
            Some((to, at, length)) => pass_on(&self.reached, &to, at, length).map(|()| true),
            None => Ok(true),
        }
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        if !self.has_ended() {
            // The GPU may still copy: what it uses stays for good.
            std::mem::forget((
                self.reached.clone(),
                self.buffer.clone(),
                self.pinned.clone(),
            ));
        }
    }
}
