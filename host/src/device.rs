//! Opening a device, and its settings.

use crate::backend::{Backend, MemoryKind, Space};
use crate::engine::Inner;
use crate::error::{Error, Result};
use crate::memory::{Memory, Region};
use crate::transfer::Queue;
use peerlane_core::att::Permissions;
use peerlane_core::capability::Capabilities;
use peerlane_core::regs::csr;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Settings of a device.
#[derive(Debug, Clone)]
pub struct Options {
    /// Refuse hardware of another build than this (`BUILD_ID`); `None` takes any build
    /// of the right map.
    pub build_id: Option<u32>,
    /// Bytes a descriptor, 1 MiB by default. 4 KiB and more is rounded down to a
    /// multiple of 4 KiB.
    pub piece: u32,
    /// Longest wait of the board for the answer to a read, in cycles of its PCIe
    /// clock; 0 is for ever, `None` leaves the block's own value.
    pub read_timeout_cycles: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            build_id: None,
            piece: 1 << 20,
            read_timeout_cycles: None,
        }
    }
}

/// What the block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The write engine is at work.
    pub write_busy: bool,
    /// The read engine is at work.
    pub read_busy: bool,
    /// Answers to reads that timed out are still owed; reads are refused.
    pub read_quarantine: bool,
}

/// What the handles of a device share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").finish_non_exhaustive()
    }
}

impl Shared {
    /// The state. A panic elsewhere leaves it consistent enough to clean up: every
    /// change is made after what can fail.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a transfer. The lock is given up between slices of the wait, so other
    /// threads get their turn.
    pub(crate) fn wait(&self, id: u64, timeout: Duration) -> Result<u64> {
        let mut inner = self.lock();
        let start = inner.backend.now();
        loop {
            if let Some(bytes) = inner.poll(id)? {
                return Ok(bytes);
            }
            let waited = inner.backend.now().saturating_sub(start);
            let Some(left) = timeout.checked_sub(waited).filter(|left| !left.is_zero()) else {
                // Was it only slow, or is nothing there any more?
                inner.check_present()?;
                return Err(inner.timeout(id, waited));
            };
            let slice = inner.slice().min(left);
            let interrupted = inner.backend.wait_interrupt(slice)?;
            if interrupted {
                inner.service(true)?;
            }
            drop(inner);
            inner = self.lock();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody is left to report a failure to.
        let _ = self
            .inner
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .shut_down();
    }
}

/// A board. Clones are handles of the same one; it is shut down with the last handle
/// of it, its memory, regions, queues and transfers.
#[derive(Debug, Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

impl Device {
    /// Opens the board behind a backend: checks that its register map (and build, if
    /// one is named) is this library's, resets the engines, and starts them.
    pub fn open(backend: impl Backend + 'static, options: &Options) -> Result<Self> {
        let inner = Inner::open(Box::new(backend), options)?;
        Ok(Self {
            shared: Arc::new(Shared {
                inner: Mutex::new(inner),
            }),
        })
    }

    /// What this build can do.
    pub fn capabilities(&self) -> Capabilities {
        self.shared.lock().caps
    }

    /// The `BUILD_ID` of the hardware.
    pub fn build_id(&self) -> u32 {
        self.shared.lock().build_id
    }

    /// The board's time: simulated time, or a monotonic clock.
    pub fn now(&self) -> Duration {
        self.shared.lock().backend.now()
    }

    /// What the block is doing.
    pub fn status(&self) -> Result<Status> {
        let mut inner = self.shared.lock();
        let status = inner.read_csr(csr::STATUS)?;
        Ok(Status {
            write_busy: status & csr::STATUS_WRITE_BUSY_MASK != 0,
            read_busy: status & csr::STATUS_READ_BUSY_MASK != 0,
            read_quarantine: status & csr::STATUS_READ_QUARANTINE_MASK != 0,
        })
    }

    /// Allocates memory that the board can reach, all zero.
    pub fn allocate(&self, kind: MemoryKind, length: u64) -> Result<Memory> {
        let id = self.shared.lock().allocate(kind, length)?;
        Ok(Memory {
            shared: Arc::clone(&self.shared),
            id,
            kind,
            length,
        })
    }

    /// Registers all of a memory.
    pub fn register(&self, memory: &Memory, permissions: Permissions) -> Result<Region> {
        self.register_range(memory, 0..memory.length, permissions)
    }

    /// Registers a range of a memory; any offset and length.
    pub fn register_range(
        &self,
        memory: &Memory,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<Region> {
        if !Arc::ptr_eq(&self.shared, &memory.shared) {
            return Err(Error::Foreign { what: "memory" });
        }
        let length = range.end.saturating_sub(range.start);
        let mut inner = self.shared.lock();
        let (id, page_size, entries) =
            inner.register(memory.id, range.start, length, permissions)?;
        Ok(Region {
            shared: Arc::clone(&self.shared),
            id,
            length,
            permissions,
            page_size,
            entries,
        })
    }

    /// The submission queue.
    pub fn queue(&self) -> Queue {
        Queue {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Resets the engines and queues. Transfers under way end with
    /// [`Fault::Aborted`](crate::Fault::Aborted); regions stay registered. This is the
    /// way out of [`Error::Timeout`] and [`Error::Broken`].
    pub fn reset(&self) -> Result<()> {
        self.shared.lock().reset()
    }

    /// Ends the quarantine of reads by hand.
    ///
    /// Only for after a link reset or the like, when none of the answers that are owed
    /// can come any more: a late one would be taken for the answer to a new read.
    pub fn release_read_quarantine(&self) -> Result<()> {
        let mut inner = self.shared.lock();
        let pulse = csr::QUARANTINE_DROP_OWED_MASK;
        inner.backend.write32(Space::Csr, csr::QUARANTINE, pulse)?;
        inner.check_present()
    }

    /// Reads FPGA memory behind the board's back; simulated devices only.
    pub fn fpga_memory_backdoor_read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        let mut inner = self.shared.lock();
        let memory = inner.backend.fpga_memory_backdoor();
        Ok(memory.ok_or(Error::NoBackdoor)?.read(address, bytes)?)
    }

    /// Writes FPGA memory behind the board's back; simulated devices only.
    pub fn fpga_memory_backdoor_write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let mut inner = self.shared.lock();
        let memory = inner.backend.fpga_memory_backdoor();
        Ok(memory.ok_or(Error::NoBackdoor)?.write(address, bytes)?)
    }
}
