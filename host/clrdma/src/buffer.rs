//! A buffer of the GPU.

use crate::board::{Access, Board, Code, Peer};
use crate::direction::Direction;
use crate::error::Failure;
use crate::opencl::{self, Handle};
use crate::turns::Exclusive;
use peerlane_gpu::opencl::Imported;
use peerlane_gpu::{Gpu, GpuBuffer};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Memory that CUDA has made and OpenCL has imported.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Unregistered before the memory is freed.
    peers: Mutex<Peers>,
    /// Its only reference belongs to the program.
    imported: ManuallyDrop<Imported>,
    memory: GpuBuffer,
    /// The address of the `cl_command_queue`, which is retained.
    queue: usize,
    /// For a transfer.
    turns: Exclusive,
}

/// All of a buffer, registered at a board.
#[derive(Debug, Default)]
struct Peers {
    known: Vec<(Access, Arc<Peer>)>,
    /// The board may not read it for transfers to it, because the platform passes writes only.
    writes_only: bool,
}

/// The exclusive use of a buffer for a transfer, until this is dropped.
pub(crate) struct Turn(Arc<Buffer>);

impl Turn {
    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        &self.0
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.turns.release();
    }
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
            peers: Mutex::default(),
            imported: ManuallyDrop::new(imported),
            memory,
            queue: queue.expose_provenance(),
            turns: Exclusive::new(),
        })
    }

    /// Returns the `cl_mem`.
    pub(crate) fn handle(&self) -> Handle {
        self.imported.raw()
    }

    /// Releases the reference to the `cl_mem`.
    ///
    /// # Safety
    /// No other code has the reference or releases it.
    pub(crate) unsafe fn release(&self) {
        // SAFETY: the caller promises it. The value is not used again: the drop of its place does nothing.
        drop(unsafe { std::ptr::read(&*self.imported) });
    }

    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Returns whether a range lies in it.
    pub(crate) fn has(&self, address: u64, bytes: usize) -> bool {
        let offset = address.checked_sub(self.address());
        let end = offset.and_then(|offset| offset.checked_add(bytes as u64));
        end.is_some_and(|end| end <= self.memory.size())
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn for a transfer; `None` if it did not come before the deadline.
    pub(crate) fn turn(self: &Arc<Self>, deadline: Option<Instant>) -> Option<Turn> {
        self.turns.take(deadline).then(|| Turn(Arc::clone(self)))
    }

    fn queue(&self) -> Handle {
        std::ptr::with_exposed_provenance_mut(self.queue)
    }

    /// Hands it over to the board, when commands that were enqueued before have ended. Returns `false` if they have not
    /// ended before the deadline; then the buffer belongs to the program again.
    pub(crate) fn hand_over(&self, deadline: Option<Instant>) -> Result<bool, Failure> {
        // SAFETY: the program has the buffer; the queue is retained, of the buffer's context.
        let over = unsafe {
            let released = self.imported.release(self.queue()).map_err(Failure::from);
            released.and_then(|()| opencl::finish_by(self.queue(), deadline))
        };
        if !matches!(over, Ok(true)) {
            // The first error is reported already.
            let _ = self.take_back();
        }
        over
    }

    /// Takes it back: commands that are enqueued from now on see the board's data.
    pub(crate) fn take_back(&self) -> Result<(), Failure> {
        // SAFETY: the queue is retained, and the caller of a copy keeps the buffer's `cl_mem`. A command that is not
        // flushed keeps it, too, after the program has released it.
        unsafe {
            self.imported.acquire(self.queue())?;
            opencl::flush(self.queue())
        }
    }

    /// Keeps its `cl_mem` for a copy that goes on after the program's call has returned: until
    /// [`let_go`](Self::let_go).
    pub(crate) fn keep(&self) -> Result<(), Failure> {
        // SAFETY: the program is in a call with it, and releases it afterwards at the earliest.
        unsafe { opencl::retain_memory(self.handle()) }
    }

    /// Ends [`keep`](Self::keep).
    pub(crate) fn let_go(&self) -> Result<(), Failure> {
        // SAFETY: it was retained.
        unsafe { opencl::release_memory(self.handle()) }
    }

    /// Returns the permissions of the board for a transfer with it.
    pub(crate) fn access(&self, direction: Direction) -> Access {
        match direction {
            Direction::ToGpu if self.peers().writes_only => Access::Write,
            _ => Access::Both,
        }
    }

    /// Sets whether the board may only write it for transfers to it, from now on. Returns whether that is new.
    pub(crate) fn set_writes_only(&self, only: bool) -> bool {
        let mut peers = self.peers();
        std::mem::replace(&mut peers.writes_only, only) != only
    }

    /// Registers a range of it at a board for as long as the result lives.
    pub(crate) fn register(
        &self,
        board: &Arc<Board>,
        (offset, bytes): (u64, usize),
        access: Access,
    ) -> Result<Result<Peer, Code>, Failure> {
        let identity = self.memory.identity()?;
        // SAFETY: the memory belongs to this buffer, which the caller of a copy keeps.
        Ok(unsafe { board.register(self.address() + offset, bytes, identity, access) })
    }

    /// Returns all of it, registered at a board. The first call registers it, and the registration is cached from then
    /// on.
    pub(crate) fn whole(
        &self,
        board: &Arc<Board>,
        access: Access,
    ) -> Result<Result<Arc<Peer>, Code>, Failure> {
        let mut peers = self.peers();
        peers.known.retain(|(_, peer)| peer.is_of(board));
        let mut known = peers.known.iter();
        if let Some((_, peer)) = known.find(|(may, _)| *may == access) {
            return Ok(Ok(Arc::clone(peer)));
        }
        let size = self.memory.size() as usize;
        let registered = self.register(board, (0, size), access)?;
        Ok(registered.map(|registered| {
            let registered = Arc::new(registered);
            peers.known.push((access, Arc::clone(&registered)));
            registered
        }))
    }

    /// Drops its registrations.
    pub(crate) fn forget(&self) {
        let known = std::mem::take(&mut self.peers().known);
        drop(known);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.forget();
        // SAFETY: it was retained.
        let _ = unsafe { opencl::release_queue(self.queue()) };
    }
}
