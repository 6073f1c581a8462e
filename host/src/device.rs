//! Opening a device, and its settings.

use crate::backend::{Backend, MemoryKind};
use crate::channel::{Channel, ChannelOptions, Claim};
use crate::engine::Inner;
use crate::error::{Error, Result};
use crate::memory::{Memory, Region};
use crate::transfer::Queue;
use peerlane_core::att::Permissions;
use peerlane_core::capability::Capabilities;
use peerlane_core::counters::{BlockCounters, ChannelCounters};
use peerlane_core::owners::Owners;
use peerlane_core::regs::csr;
use peerlane_core::steps::Register;
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
    /// Longest wait of the board for its PCIe port, in cycles of the port's clock: for the
    /// answer to a read, and for a request or data to be taken. 0 is for ever, `None`
    /// leaves the block's own value.
    pub port_timeout_cycles: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            build_id: None,
            piece: 1 << 20,
            port_timeout_cycles: None,
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
    /// Answers to reads that timed out are still owed; reads are refused, or where they
    /// have tags, these tags are not used.
    pub read_quarantine: bool,
    /// The PCIe port takes nothing any more; see [`Error::PortDead`].
    pub port_dead: bool,
}

/// Counters as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// Of the block as a whole.
    pub block: BlockCounters,
    /// Of each channel, by its number.
    pub channels: Vec<ChannelCounters>,
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
        let mut found = Ok(None);
        let ended = self.until(timeout, |inner| {
            found = inner.poll(id);
            !matches!(found, Ok(None))
        })?;
        match (found?, ended) {
            (Some(bytes), _) => Ok(bytes),
            (None, waited) => {
                let mut inner = self.lock();
                // Was it only slow, or does nothing work any more?
                inner.board.check_present()?;
                inner.board.check_port()?;
                Err(inner.transfers.timeout(id, waited))
            }
        }
    }

    /// Lets time pass until `ended` says so, for at most `timeout`; gives the time that
    /// has passed.
    fn until(
        &self,
        timeout: Duration,
        mut ended: impl FnMut(&mut Inner) -> bool,
    ) -> Result<Duration> {
        let mut inner = self.lock();
        let start = inner.board.backend.now();
        loop {
            let done = ended(&mut inner);
            let waited = inner.board.backend.now().saturating_sub(start);
            let left = timeout.saturating_sub(waited);
            if done || left.is_zero() {
                return Ok(waited);
            }
            let slice = inner.slice().min(left);
            let interrupted = inner.board.backend.wait_interrupt(slice)?;
            if interrupted {
                inner.service(true)?;
            }
            drop(inner);
            inner = self.lock();
        }
    }

    /// Waits until a channel has ended what was submitted to it.
    pub(crate) fn drain(&self, channel: u32, timeout: Duration) -> Result<()> {
        let Some(last) = self.lock().transfers.last() else {
            return Ok(());
        };
        let mut failed = Ok(());
        let waited = self.until(timeout, |inner| {
            failed = inner.service(false).and_then(|()| inner.usable(channel));
            failed.is_err() || inner.rests(channel, last)
        })?;
        failed?;
        let mut inner = self.lock();
        if !inner.rests(channel, last) {
            inner.board.check_port()?;
            return Err(Error::NotDrained { channel, waited });
        }
        // Others may have submitted more meanwhile.
        if inner.rests(channel, u64::MAX) {
            inner.confirm_rest(channel)?;
        }
        Ok(())
    }

    /// Gives a channel back that nobody holds any more.
    pub(crate) fn close(&self, channel: u32) {
        let limit = self.lock().drain_limit(channel);
        // What fails here is for the abort.
        let _ = self.until(limit, |inner| {
            inner.service(false).is_err()
                || inner.usable(channel).is_err()
                || inner.rests(channel, u64::MAX)
        });
        self.lock().close(channel);
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
        self.shared.lock().board.backend.now()
    }

    /// What the block is doing.
    pub fn status(&self) -> Result<Status> {
        let mut inner = self.shared.lock();
        let status = inner.board.read(Register::Csr(csr::STATUS))?;
        Ok(Status {
            write_busy: status & csr::STATUS_WRITE_BUSY_MASK != 0,
            read_busy: status & csr::STATUS_READ_BUSY_MASK != 0,
            read_quarantine: status & csr::STATUS_READ_QUARANTINE_MASK != 0,
            port_dead: status & csr::STATUS_PORT_DEAD_MASK != 0,
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

    /// Registers all of a memory, for every channel.
    pub fn register(&self, memory: &Memory, permissions: Permissions) -> Result<Region> {
        self.register_range(memory, 0..memory.length, permissions)
    }

    /// Registers a range of a memory, any offset and length, for every channel.
    pub fn register_range(
        &self,
        memory: &Memory,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<Region> {
        Region::new(&self.shared, memory, range, permissions, Owners::ALL)
    }

    /// Registers a range of a memory for some channels; for one, see [`Channel::register`].
    /// The board refuses the region to all others, with
    /// [`Fault::AttOwner`](crate::Fault::AttOwner).
    pub fn register_for(
        &self,
        memory: &Memory,
        range: Range<u64>,
        permissions: Permissions,
        channels: &[&Channel],
    ) -> Result<Region> {
        let mut owners = Owners::NONE;
        for channel in channels {
            if !Arc::ptr_eq(&self.shared, &channel.claim.shared) {
                return Err(Error::Foreign { what: "channel" });
            }
            owners = owners.with(Owners::channel(channel.number()));
        }
        if owners.is_empty() {
            return Err(Error::NoOwner);
        }
        Region::new(&self.shared, memory, range, permissions, owners)
    }

    /// The submission queue of the device's own channel. That is claimed with the first
    /// transfer and kept as long as the device is open; regions that were registered for
    /// every channel suit it.
    pub fn queue(&self) -> Queue {
        Queue {
            shared: Arc::clone(&self.shared),
            claim: None,
        }
    }

    /// Takes a free channel, with all of FPGA memory for its range.
    pub fn channel(&self) -> Result<Channel> {
        self.channel_with(&ChannelOptions::default())
    }

    /// Takes a free channel with settings of its own. [`Error::ChannelsTaken`] if there is
    /// none.
    pub fn channel_with(&self, options: &ChannelOptions) -> Result<Channel> {
        let number = self.shared.lock().claim(options)?;
        Ok(Channel {
            claim: Arc::new(Claim {
                shared: Arc::clone(&self.shared),
                number,
            }),
        })
    }

    /// What the block and its channels have done since the block's reset, all as of now.
    pub fn counters(&self) -> Result<Counters> {
        self.shared.lock().counters()
    }

    /// Resets the engines and the queues of all channels. Transfers under way end with
    /// [`Fault::Aborted`](crate::Fault::Aborted); channels stay open and regions
    /// registered. This is the way out of [`Error::Timeout`] and [`Error::Broken`] where
    /// [`Channel::abort`] is not enough.
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
        inner.board.write(Register::Csr(csr::QUARANTINE), pulse)?;
        inner.board.check_present()
    }

    /// Reads FPGA memory behind the board's back; simulated devices only.
    pub fn fpga_memory_backdoor_read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        let mut inner = self.shared.lock();
        let memory = inner.board.backend.fpga_memory_backdoor();
        Ok(memory.ok_or(Error::NoBackdoor)?.read(address, bytes)?)
    }

    /// Writes FPGA memory behind the board's back; simulated devices only.
    pub fn fpga_memory_backdoor_write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let mut inner = self.shared.lock();
        let memory = inner.board.backend.fpga_memory_backdoor();
        Ok(memory.ok_or(Error::NoBackdoor)?.write(address, bytes)?)
    }
}
