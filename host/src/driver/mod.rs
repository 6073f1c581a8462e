//! A driver in the process: everything below [`Context`] for a board whose registers the
//! process reaches by itself.
//!
//! A [`Driver`] is to a [`Backend`] what the kernel driver is to a PCI device. It starts the block,
//! writes its ATT, gives out channels and FPGA memory; [`Driver::open`] is what opening a
//! `/dev/peerlane*` is there. It keeps to the same rules ([`peerlane_core::uapi`]), but it protects
//! nobody: all contexts are of one process. It has no slow path but for probes, and no window,
//! and dma-bufs where the backend has some, as its [features](crate::Device::has) say. It has an OpenCL side where the backend has a [`Bar`].
//!
//! It does not notice that somebody else has reset the block: waits end with [`Error::Timeout`] then, until
//! [`Driver::reset`].

mod backend;
mod board;
mod channels;
mod context;
mod opencl;
mod own;
mod probe;
mod regions;
mod zeros;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use board::Board;
use channels::Channel;
use context::Held;
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::channel;
use peerlane_core::counters::{self, BlockCounters, ChannelCounters, LinkErrors};
use peerlane_core::fpga_memory::FpgaMemory;
use peerlane_core::link;
use peerlane_core::regs::{MAP_ID, csr};
use peerlane_core::steps::{self, Register};
use peerlane_core::table::{self, Reach};
use regions::Regions;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

pub use backend::{Allocation, Backend, BackendError, BackendResult, Bar, MemoryId, Pinned, Space};

/// Settings of a driver.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Refuse hardware of another build than this (`BUILD_ID`); `None` takes any build
    /// of the right map.
    pub build_id: Option<u32>,
    /// Longest wait of the board for its PCIe port, in cycles of the port's clock: for the
    /// answer to a read, and for a request or data to be taken. 0 is for ever, `None`
    /// leaves the block's own value, which is 50 ms at 250 MHz.
    pub port_timeout_cycles: Option<u32>,
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
    /// The PCIe port takes nothing any more, has lost data, or waits for peers that do not answer; see [`Error::PortDead`].
    pub port_dead: bool,
}

/// Counters as of one moment, but for those of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Of the block as a whole.
    pub block: BlockCounters,
    /// What has failed on the link since its reset, where the block has a transaction layer of its own: read behind the
    /// others.
    pub link: Option<LinkErrors>,
    /// Of each channel, by its number.
    pub channels: Vec<ChannelCounters>,
}

/// A board that is driven from this process. Clones are handles of the same one; it is shut down with
/// the last of them and of its devices.
#[derive(Debug, Clone)]
pub struct Driver(Arc<Shared>);

/// What the driver and its contexts share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Threads that want it.
    waiting: AtomicUsize,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}

impl Shared {
    /// The state. A panic elsewhere leaves it consistent enough to clean up: every
    /// change is made after what can fail.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner.unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, if it can be had within so long: whoever programs the FPGA has it for many seconds.
    pub(crate) fn lock_within(&self, limit: Duration) -> Option<MutexGuard<'_, Inner>> {
        let begin = Instant::now();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let inner = loop {
            match self.inner.try_lock() {
                Ok(inner) => break Some(inner),
                Err(TryLockError::Poisoned(error)) => break Some(error.into_inner()),
                Err(TryLockError::WouldBlock) if begin.elapsed() >= limit => break None,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner
    }

    /// Lets others have the state who wait for it: a mutex goes to whoever asks first, and that is the
    /// thread that has just let it go. Only a few times, for there may always be some.
    pub(crate) fn make_way(&self) {
        for _ in 0..16 {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody is left to report a failure to.
        let inner = (self.inner.get_mut()).unwrap_or_else(PoisonError::into_inner);
        if inner.shut_down().is_err() {
            inner.regions.leak_kept();
        }
    }
}

impl Driver {
    /// Takes the board behind a backend over: checks that its register map (and build, if
    /// one is named) is this library's, resets the engines, and starts them.
    pub fn new(backend: impl Backend + 'static, options: &Options) -> Result<Self> {
        let inner = Inner::new(Box::new(backend), options)?;
        Ok(Self(Arc::new(Shared {
            inner: Mutex::new(inner),
            waiting: AtomicUsize::new(0),
        })))
    }

    /// Opens a context on a channel that is free.
    ///
    /// # Errors
    /// [`Error::ChannelsTaken`] if none is; [`Error::Gone`] if the board did not answer at some time
    /// since it was started.
    pub fn open(&self) -> Result<Device> {
        Device::over(self.context()?)
    }

    /// Opens a context as [`open`](Self::open) does, for who puts something around it
    /// ([`Device::over`]).
    ///
    /// # Errors
    /// As `open`.
    pub fn context(&self) -> Result<impl Context + use<>> {
        Held::new(&self.0)
    }

    /// What this build can do.
    pub fn capabilities(&self) -> Capabilities {
        self.0.lock().caps
    }

    /// The `BUILD_ID` of the hardware.
    pub fn build_id(&self) -> u32 {
        self.0.lock().identity.build_id
    }

    /// The board's time.
    pub fn now(&self) -> Duration {
        self.0.lock().board.backend.now()
    }

    /// What the block is doing.
    pub fn status(&self) -> Result<Status> {
        let status = self.0.lock().board.read(Register::Csr(csr::STATUS))?;
        Ok(Status {
            write_busy: status & csr::STATUS_WRITE_BUSY_MASK != 0,
            read_busy: status & csr::STATUS_READ_BUSY_MASK != 0,
            read_quarantine: status & csr::STATUS_READ_QUARANTINE_MASK != 0,
            port_dead: status & csr::STATUS_PORT_DEAD_MASK != 0,
        })
    }

    /// What the block and its channels have done since the block's reset, all as of now.
    pub fn counters(&self) -> Result<Counters> {
        let mut inner = self.0.lock();
        let Capabilities { channels, tlp, .. } = inner.caps;
        let board = &mut inner.board;
        board.run("taken a snapshot", counters::snapshot())?;
        Ok(Counters {
            block: BlockCounters::read(|register| board.read(register))?,
            link: tlp
                .then(|| LinkErrors::read(|register| board.read(register)))
                .transpose()?,
            channels: (0..channels)
                .map(|number| ChannelCounters::read(number, |register| board.read(register)))
                .collect::<Result<_>>()?,
        })
    }

    /// Resets the block's engines and starts them anew. Transfers under way end with [`Error::Restarted`]; contexts
    /// stay open and regions registered. This is the way out of [`Error::NotReady`] and
    /// [`Error::Timeout`] where [`Queue::restart`](crate::Queue::restart) is not enough, and of
    /// [`Error::Gone`] where the board answers again. It does not end a quarantine of reads.
    ///
    /// A queue learns of it by its next wait, or by [`Device::query`]. What is submitted before ends with
    /// [`Error::Restarted`], too.
    ///
    /// # Errors
    /// [`Error::NotReady`] and [`Error::Gone`] if the board does not come back. A port that is dead stays
    /// so: the next wait says [`Error::PortDead`] again.
    pub fn reset(&self) -> Result<()> {
        self.0.lock().reset()
    }

    /// Ends the quarantine of reads by hand, of a board with reads by tag.
    ///
    /// Only for after a link reset or the like, when none of the answers that are owed
    /// can come any more: a late one would be taken for the answer to a new read.
    ///
    /// # Errors
    /// [`Error::ReadsOwed`] of a board without: its port gives answers in their order, and has lost one. It would give no
    /// later one, and stop at last. Reads are there again when the answers have come, or when the link was reset, which
    /// resets the port.
    pub fn release_read_quarantine(&self) -> Result<()> {
        let mut inner = self.0.lock();
        if !inner.caps.tagged {
            return Err(Error::ReadsOwed);
        }
        let pulse = csr::QUARANTINE_DROP_OWED_MASK;
        inner.board.write(Register::Csr(csr::QUARANTINE), pulse)?;
        inner.board.check_present()
    }
}

/// The state of a driver.
pub(crate) struct Inner {
    board: Board,
    caps: Capabilities,
    identity: Identity,
    port_timeout_cycles: Option<u32>,
    regions: Regions,
    fpga: FpgaMemory,
    /// By their numbers; those that are free are `None`.
    channels: Vec<Option<Channel>>,
    /// Interrupts so far, of any channel: the block has one line.
    events: u64,
    /// A context has the board's OpenCL side.
    opencl_held: bool,
}

impl Inner {
    fn new(backend: Box<dyn Backend>, options: &Options) -> Result<Self> {
        let mut board = Board::new(backend);
        let mut words = [0; Identity::OFFSETS.len()];
        for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
            // Not through the check for all ones: the identity tells more.
            *word = board.backend.read32(Space::Csr, offset)?;
        }
        let identity = Identity::new(words);
        let caps = identity
            .check(MAP_ID, options.build_id)
            .map_err(|source| Error::Identity {
                board: board.backend.name(),
                source,
            })?;
        let bytes = board.backend.fpga_bytes().min(caps.memory_bytes());
        let mut inner = Self {
            board,
            caps,
            identity,
            port_timeout_cycles: options.port_timeout_cycles,
            regions: Regions::new(caps.att_entries())?,
            fpga: FpgaMemory::new(bytes, None),
            channels: (0..caps.channels).map(|_| None).collect(),
            events: 0,
            opencl_held: false,
        };
        inner.stop()?;
        // What somebody else may have left open.
        for number in 0..caps.channels {
            let steps = channel::close(number);
            inner.board.run("closed a channel", steps)?;
        }
        inner.start()?;
        Ok(inner)
    }

    /// Resets the engines and waits until they rest and every record has left the block.
    /// Interrupts are off after it.
    fn stop(&mut self) -> Result<()> {
        let timeout = match self.port_timeout_cycles {
            Some(cycles) => cycles,
            None => self.board.read(Register::Csr(csr::PORT_TIMEOUT))?,
        };
        self.board.set_patience(timeout);
        let steps = steps::reset().into_iter().chain(table::fence(Reach::Host));
        self.board.run("come to rest after a reset", steps)
    }

    /// Starts the block, which must be at rest, with all channels and regions there are.
    fn start(&mut self) -> Result<()> {
        if let Some(cycles) = self.port_timeout_cycles {
            self.board.write(Register::Csr(csr::PORT_TIMEOUT), cycles)?;
        }
        let pace = link::set_pace(self.board.backend.link());
        self.board.run("taken the pace of the link", [pace])?;
        self.regions.program_all(&mut self.board)?;
        self.board.run("started", steps::start())?;
        self.board.check_present()?;
        self.board.gone = false;
        for number in 0..self.caps.channels {
            self.restart(number)?;
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.stop()?;
        // Nobody knows what a transfer that was cut off has left.
        self.renew(true)
    }

    /// Starts the block, which must be at rest, as a new one: contexts are told.
    fn renew(&mut self, memory_lost: bool) -> Result<()> {
        if memory_lost {
            self.fpga.forget();
        }
        for state in self.channels.iter_mut().flatten() {
            state.generation = state.generation.wrapping_add(1);
        }
        // Contexts are to look.
        self.events += 1;
        self.give_up_lost()?;
        self.start()
    }

    /// Leaves the block at rest, unable to reach any memory, and gives all memory back.
    fn shut_down(&mut self) -> Result<()> {
        // A board that does not come to rest, or does not answer, may reach memory: what it knows is
        // kept.
        self.stop()?;
        for number in 0..self.caps.channels {
            self.board.run("closed a channel", channel::close(number))?;
        }
        self.regions.unmap_all(&mut self.board)?;
        self.board.check_port()?;
        for state in self.channels.drain(..).flatten() {
            self.board.backend.free(state.ring.id);
        }
        self.regions.free_all(&mut self.board);
        Ok(())
    }

    /// Lets time pass until an interrupt comes, for at most `limit`, and acknowledges it: a record that
    /// comes after that raises it again.
    fn await_interrupt(&mut self, limit: Duration) -> Result<()> {
        if self.board.backend.wait_interrupt(limit)? {
            let place = Register::Csr(csr::IRQ_STATUS);
            let status = self.board.read(place)?;
            self.board.write(place, status)?;
            self.events += 1;
        }
        Ok(())
    }
}
