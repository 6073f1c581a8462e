//! A buffer of the GPU's.

use crate::board::{Board, Code, Peer};
use crate::error::Failure;
use crate::opencl::{self, Handle};
use peerlane_gpu::opencl::Imported;
use peerlane_gpu::{Gpu, GpuBuffer};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory that CUDA has made and OpenCL has imported.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Given back before the memory.
    peer: Mutex<Option<Arc<Peer>>>,
    /// The one reference that it has is the program's.
    imported: ManuallyDrop<Imported>,
    memory: GpuBuffer,
    /// The address of the `cl_command_queue`, which is retained.
    queue: usize,
    /// Held while a transfer goes on.
    turn: Mutex<()>,
}

impl Buffer {
    /// # Safety
    /// They are a `cl_context` and a `cl_command_queue` of it.
    pub(crate) unsafe fn new(
        gpu: &Gpu,
        context: Handle,
        queue: Handle,
        size: usize,
    ) -> Result<Self, Failure> {
        let memory = gpu.buffer(size as u64)?;
        // SAFETY: the caller promises the context, and the queue is one of it.
        let imported = unsafe {
            let imported = peerlane_gpu::opencl::import(context, &memory)?;
            imported.acquire(queue)?;
            opencl::retain_queue(queue)?;
            imported
        };
        Ok(Self {
            peer: Mutex::default(),
            imported: ManuallyDrop::new(imported),
            memory,
            queue: queue.expose_provenance(),
            turn: Mutex::new(()),
        })
    }

    /// The `cl_mem`.
    pub(crate) fn handle(&self) -> Handle {
        self.imported.raw()
    }

    /// Gives up the reference to the `cl_mem`.
    ///
    /// # Safety
    /// Nobody else has it or releases it.
    pub(crate) unsafe fn release(&self) {
        // SAFETY: the caller promises it. The value is not used again: only its place is dropped, as nothing.
        drop(unsafe { std::ptr::read(&*self.imported) });
    }

    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Whether a range lies in it.
    pub(crate) fn has(&self, address: u64, bytes: usize) -> bool {
        let offset = address.checked_sub(self.address());
        let end = offset.and_then(|offset| offset.checked_add(bytes as u64));
        end.is_some_and(|end| end <= self.memory.size())
    }

    /// Its turn for a transfer.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> Handle {
        std::ptr::with_exposed_provenance_mut(self.queue)
    }

    /// Hands it over to the board: what was enqueued before has ended.
    pub(crate) fn hand_over(&self) -> Result<(), Failure> {
        // SAFETY: the queue is retained, of the buffer's context.
        unsafe {
            self.imported.release(self.queue())?;
            opencl::finish(self.queue())
        }
    }

    /// Takes it back: what is enqueued from now on sees what the board has written.
    pub(crate) fn take_back(&self) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { self.imported.acquire(self.queue()) }.map_err(Failure::from)
    }

    /// A range of it, registered at a board for as long as the result lives.
    pub(crate) fn register(
        &self,
        board: &Arc<Board>,
        offset: u64,
        bytes: usize,
    ) -> Result<Result<Peer, Code>, Failure> {
        let identity = self.memory.identity()?;
        // SAFETY: the memory is this buffer's, which whoever copies keeps.
        Ok(unsafe { board.register(self.address() + offset, bytes, identity) })
    }

    /// All of it, registered at a board: the first time, and kept from then on.
    pub(crate) fn whole(&self, board: &Arc<Board>) -> Result<Result<Arc<Peer>, Code>, Failure> {
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(peer) = peer.as_ref().filter(|peer| peer.is_of(board)) {
            return Ok(Ok(Arc::clone(peer)));
        }
        let size = self.memory.size() as usize;
        let registered = self.register(board, 0, size)?;
        Ok(registered.map(|registered| {
            let registered = Arc::new(registered);
            *peer = Some(Arc::clone(&registered));
            registered
        }))
    }

    /// Forgets that registration.
    pub(crate) fn forget(&self) {
        let peer = self
            .peer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(peer);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.forget();
        // SAFETY: it was retained.
        let _ = unsafe { opencl::release_queue(self.queue()) };
    }
}
