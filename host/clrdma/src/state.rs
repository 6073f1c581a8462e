//! The board, the GPU and the buffers of the process.

use crate::board::Board;
use crate::buffer::Buffer;
use crate::error::{CLRDMA_NOT_INITIALIZED, Failure};
use crate::opencl::{self, Handle};
use peerlane_gpu::Gpu;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of the process.
pub(crate) static STATE: State = State(Mutex::new(Inner {
    board: None,
    gpu: None,
    buffers: BTreeMap::new(),
}));

pub(crate) struct State(Mutex<Inner>);

struct Inner {
    board: Option<Arc<Board>>,
    gpu: Option<Gpu>,
    /// By the address of the `cl_mem`.
    buffers: BTreeMap<usize, Arc<Buffer>>,
}

fn not_named(what: &str, call: &str) -> Failure {
    Failure::new(
        CLRDMA_NOT_INITIALIZED,
        format!("there is no {what} yet: call {call} first"),
    )
}

impl State {
    /// Locks the state. No foreign code runs while it is locked.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_board(&self, board: Arc<Board>) {
        let before = self.lock().board.replace(board);
        drop(before);
    }

    pub(crate) fn set_gpu(&self, gpu: Gpu) {
        let before = self.lock().gpu.replace(gpu);
        drop(before);
    }

    /// Drops the registrations of all buffers. Copies in progress keep theirs.
    pub(crate) fn forget_all(&self) {
        let buffers: Vec<_> = self.lock().buffers.values().cloned().collect();
        for buffer in buffers {
            buffer.forget();
        }
    }

    pub(crate) fn board(&self) -> Result<Arc<Board>, Failure> {
        let board = self.lock().board.clone();
        board.ok_or_else(|| not_named("board", "clrdma_init_altera"))
    }

    fn gpu(&self) -> Result<Gpu, Failure> {
        let gpu = self.lock().gpu.clone();
        gpu.ok_or_else(|| not_named("GPU", "clrdma_init_nvidia"))
    }

    /// Makes a buffer of the GPU, to which OpenCL has one reference.
    ///
    /// # Safety
    /// They are a `cl_context` and a `cl_command_queue` of it.
    pub(crate) unsafe fn create(
        &self,
        context: Handle,
        queue: Handle,
        size: usize,
    ) -> Result<Handle, Failure> {
        let gpu = self.gpu()?;
        // SAFETY: the caller promises both.
        let buffer = unsafe { Buffer::new(&gpu, context, queue, size) }?;
        let handle = buffer.handle();
        self.lock().buffers.insert(handle.addr(), Arc::new(buffer));
        // SAFETY: the buffer is new, and `gone` takes nothing but its address.
        if let Err(error) = unsafe { opencl::when_gone(handle, gone, std::ptr::null_mut()) } {
            // Without it the end of the buffer would stay unknown.
            let buffer = self.lock().buffers.remove(&handle.addr());
            if let Some(buffer) = buffer {
                // SAFETY: the handle has no other owner.
                unsafe { buffer.release() };
            }
            return Err(error);
        }
        Ok(handle)
    }

    /// Returns a buffer that was made here.
    pub(crate) fn buffer(&self, handle: Handle) -> Result<Arc<Buffer>, Failure> {
        let found = self.lock().buffers.get(&handle.addr()).cloned();
        found.ok_or_else(|| {
            Failure::invalid(
                "clrdma_create_pinnable_buffer_nvidia has not made the buffer: other buffers have \
                 no address on the GPU",
            )
        })
    }

    /// Returns the buffer that has a range of addresses.
    pub(crate) fn at(&self, address: u64, bytes: usize) -> Result<Arc<Buffer>, Failure> {
        let inner = self.lock();
        // The end of a buffer may be the beginning of another one, which is meant then.
        let has = |bytes| (inner.buffers.values()).find(|buffer| buffer.has(address, bytes));
        let found = has(bytes.max(1)).or_else(|| has(bytes)).cloned();
        found.ok_or_else(|| {
            Failure::invalid(format!(
                "{bytes} bytes at {address:#x} do not lie in a buffer of clrdma_create_pinnable_buffer_nvidia"
            ))
        })
    }
}

/// Frees a buffer. OpenCL calls this when a buffer is gone (`clSetMemObjectDestructorCallback`). Functions of CUDA or
/// OpenCL that take long must not be called here, so another thread frees the memory.
unsafe extern "C" fn gone(handle: Handle, _: *mut c_void) {
    let buffer = STATE.lock().buffers.remove(&handle.addr());
    let give_back = std::thread::Builder::new().name("clrdma".into());
    if let Some(buffer) = buffer {
        // Where there is no thread the buffer is dropped here.
        let _ = give_back.spawn(move || drop(buffer));
    }
}
