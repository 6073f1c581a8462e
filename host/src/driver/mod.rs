//! A driver in the process: everything below [`Context`] for a board whose registers the
//! process reaches by itself.
//!
//! A [`Driver`] has the role for a [`Backend`] that the kernel driver has for a PCI device. It starts the block, writes
//! its ATT, and assigns channels and FPGA memory. [`Driver::open`] corresponds to opening a `/dev/peerlane*`. It
//! follows the rules of [`peerlane_core::uapi`], but it protects no process from another: all contexts are of one
//! process. It has a slow path for probes only. It takes dma-bufs, and has a window, where the backend does. Its
//! [features](crate::Device::has) report this. It has an OpenCL side where the backend has a [`Bar`].
//!
//! Where the backend has it look, it notices that others have reset the board, and starts the block again.
//! Transfers that were under way end with [`Error::Restarted`].

mod backend;
mod board;
mod channels;
mod context;
mod opencl;
mod own;
mod probe;
mod regions;
mod streams;
mod wait;
mod window;
mod zeros;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::sys::Process;
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
use peerlane_core::streams::Holders;
use peerlane_core::table::{self, Reach};
use regions::Regions;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

pub use crate::error::{BackendError, BackendResult};
pub use backend::{Allocation, Backend, Bar, Health, MemoryId, Pin, PinWork, Pinned, Space};
pub(crate) use board::RETURN;

/// Time for threads that wait for the state.
const OTHERS: Duration = Duration::from_micros(50);

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

/// Status of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The write engine is at work.
    pub write_busy: bool,
    /// The read engine is at work.
    pub read_busy: bool,
    /// Answers to timed-out reads are still owed. Reads are refused, or on a block whose reads have tags, these tags
    /// are not used.
    pub read_quarantine: bool,
    /// The PCIe port takes nothing any more, has lost data, or waits for peers that do not answer; see
    /// [`Error::PortDead`].
    pub port_dead: bool,
}

/// Counters as of one moment, except those of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Counters of the block as a whole.
    pub block: BlockCounters,
    /// Errors of the link since its reset, where the block has a transaction layer of its own. They are read after the
    /// other counters.
    pub link: Option<LinkErrors>,
    /// Counters of each channel, by its number.
    pub channels: Vec<ChannelCounters>,
}

/// A board that is driven from this process. Clones are handles of the same driver. It shuts the board down when the
/// last clone and the last of its devices are dropped.
#[derive(Debug, Clone)]
pub struct Driver(Arc<Shared>);

/// A handle that does not keep the driver.
#[derive(Debug)]
pub(crate) struct WeakDriver {
    shared: Weak<Shared>,
    /// [`Shared::exists`].
    exists: Weak<()>,
    owner: Process,
}

impl WeakDriver {
    /// Returns whether this process made the driver, not its parent.
    fn is_own(&self) -> bool {
        self.owner == Process::current()
    }

    /// Returns whether this process has not dropped all of the driver yet: a thread may just be doing it.
    pub(crate) fn exists(&self) -> bool {
        self.is_own() && self.exists.strong_count() > 0
    }

    /// Returns the driver, if it exists and is this process's own.
    pub(crate) fn upgrade(&self) -> Option<Driver> {
        let shared = self.shared.upgrade()?;
        self.is_own().then_some(Driver(shared))
    }
}

/// State that the driver and its contexts share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Number of threads that wait for it.
    waiting: AtomicUsize,
    /// Events of the board have changed.
    events: Condvar,
    /// The process that made the driver: a child's copy ends nothing.
    owner: Process,
    /// Dropped as the last field, after the backend: the board is free then.
    exists: Arc<()>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}

impl Shared {
    /// Returns whether this process is the child of a fork, and the board its parent's.
    pub(crate) fn is_inherited(&self) -> bool {
        self.owner != Process::current()
    }

    /// Locks the state. A panic elsewhere leaves it consistent enough to clean up: every change is made after the calls
    /// that can fail.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner.unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state if that is possible within `limit`: a thread that programs the FPGA has it for many seconds.
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

    /// Lets threads that wait for the state have it. A mutex goes to the thread that asks first, which is the one that
    /// has just released it. This yields only a few times, because there may always be waiting threads.
    pub(crate) fn make_way(&self) {
        for _ in 0..16 {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            std::thread::yield_now();
        }
    }
}

/// The state, locked by a thread that releases it in the middle of long work.
pub(crate) struct Locked<'a> {
    shared: &'a Shared,
    inner: Option<MutexGuard<'a, Inner>>,
}

impl<'a> Locked<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        let inner = Some(shared.lock());
        Self { shared, inner }
    }

    /// Returns the state, and locks it if it was released.
    pub(crate) fn get(&mut self) -> &mut Inner {
        self.inner.get_or_insert_with(|| self.shared.lock())
    }

    /// Releases the state, so that other threads have it.
    pub(crate) fn release(&mut self) {
        self.inner = None;
        self.shared.make_way();
        // A thread that sleeps takes longer to come than to be woken.
        if self.shared.waiting.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(OTHERS);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_inherited() {
            return;
        }
        // There is no caller left to report a failure to.
        let inner = (self.inner.get_mut()).unwrap_or_else(PoisonError::into_inner);
        if inner.shut_down().is_err() {
            inner.regions.leak_kept();
        }
    }
}

impl Driver {
    /// Takes over the board of a backend: checks that its register map (and build, if one is named) is this library's,
    /// resets the engines, and starts them.
    pub fn new(backend: impl Backend + 'static, options: &Options) -> Result<Self> {
        let inner = Inner::new(Box::new(backend), options)?;
        Ok(Self(Arc::new(Shared {
            inner: Mutex::new(inner),
            waiting: AtomicUsize::new(0),
            events: Condvar::new(),
            owner: Process::current(),
            exists: Arc::default(),
        })))
    }

    /// Returns a handle that does not keep the driver.
    pub(crate) fn downgrade(&self) -> WeakDriver {
        WeakDriver {
            shared: Arc::downgrade(&self.0),
            exists: Arc::downgrade(&self.0.exists),
            owner: self.0.owner,
        }
    }

    /// Opens a context on a free channel.
    ///
    /// # Errors
    /// [`Error::ChannelsTaken`] if no channel is free; [`Error::Gone`] if the board did not answer at some time since
    /// it was started.
    pub fn open(&self) -> Result<Device> {
        Device::over(self.context()?)
    }

    /// Opens a context as [`open`](Self::open) does, for code that wraps the context ([`Device::over`]).
    ///
    /// # Errors
    /// As `open`.
    pub fn context(&self) -> Result<impl Context + use<>> {
        Held::new(&self.0)
    }

    /// Returns the capabilities of this build.
    pub fn capabilities(&self) -> Capabilities {
        self.0.lock().caps
    }

    /// Returns the `BUILD_ID` of the hardware.
    pub fn build_id(&self) -> u32 {
        self.0.lock().identity.build_id
    }

    /// Returns the board's time.
    pub fn now(&self) -> Duration {
        self.0.lock().board.backend.now()
    }

    /// Reads the status of the block.
    pub fn status(&self) -> Result<Status> {
        let status = self.0.lock().board.read(Register::Csr(csr::STATUS))?;
        Ok(Status {
            write_busy: status & csr::STATUS_WRITE_BUSY_MASK != 0,
            read_busy: status & csr::STATUS_READ_BUSY_MASK != 0,
            read_quarantine: status & csr::STATUS_READ_QUARANTINE_MASK != 0,
            port_dead: status & csr::STATUS_PORT_DEAD_MASK != 0,
        })
    }

    /// Reads the counters of the block and its channels since the block's reset, all of the same moment.
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

    /// Resets the block's engines and starts them again. Transfers under way end with [`Error::Restarted`]; contexts
    /// stay open and regions registered. This is the way out of [`Error::NotReady`] and [`Error::Timeout`] where
    /// [`Queue::restart`](crate::Queue::restart) is not enough, and of [`Error::Gone`] where the board answers again.
    /// It does not end a quarantine of reads.
    ///
    /// A queue learns of the reset by its next wait, or by [`Device::query`]. Transfers that are submitted before that
    /// end with [`Error::Restarted`], too.
    ///
    /// After [`Error::Gone`] by VFIO, memory is pinned again by its addresses
    /// ([`Device::register_address`](crate::Device::register_address)). A region whose memory is not there any more
    /// stays invalid: its transfers fail with [`Fault::AttInvalid`](crate::Fault::AttInvalid).
    ///
    /// # Errors
    /// [`Error::NotReady`] and [`Error::Gone`] if the board does not come back. A port that is dead stays dead: the
    /// next wait fails with [`Error::PortDead`] again.
    pub fn reset(&self) -> Result<()> {
        self.0.lock().reset()
    }

    /// Ends the quarantine of reads by hand, on a board whose reads have tags.
    ///
    /// Call this only after a link reset or the like, when none of the owed answers can come any more: a late answer
    /// would be taken for the answer to a new read.
    ///
    /// # Errors
    /// [`Error::ReadsOwed`] of a board without tags. Its port returns answers in their order, and has lost one. It
    /// would return no later one, and would stop in the end. Reads work again when the answers have come, or when the
    /// link was reset, which resets the port.
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
    /// By their numbers; free ones are `None`.
    channels: Vec<Option<Channel>>,
    /// The block was started, and only other programs can have stopped it since.
    started: bool,
    /// Resets of more than the block: [`peerlane_core::uapi::Query::resets`].
    resets: Arc<AtomicU64>,
    /// Interrupts so far, of any channel: the block has one line.
    events: u64,
    /// A thread waits for interrupts without the lock.
    awaited: bool,
    /// The window into FPGA memory, while a context has it.
    window: Option<window::Lease>,
    /// The channel whose context has the board's OpenCL side.
    opencl_holder: Option<u32>,
    /// The streams of the FPGA's logic.
    streams: Holders,
}

impl Inner {
    fn new(backend: Box<dyn Backend>, options: &Options) -> Result<Self> {
        let mut board = Board::new(backend);
        let mut words = [0; Identity::OFFSETS.len()];
        for (word, offset) in words.iter_mut().zip(Identity::OFFSETS) {
            // Read without the check for all ones: the identity check reports more.
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
            started: false,
            resets: Arc::default(),
            events: 0,
            awaited: false,
            window: None,
            opencl_holder: None,
            streams: Holders::new(caps.streams),
        };
        inner.stop()?;
        // Another program may have left channels open.
        for number in 0..caps.channels {
            let steps = channel::close(number);
            inner.board.run("closed a channel", steps)?;
        }
        inner.start()?;
        Ok(inner)
    }

    /// Fails if the board was lost since it was started, or if its owner asks for it, which stops it. Starts a board
    /// again that others have reset.
    fn attend(&mut self) -> Result<()> {
        if self.board.check_there().is_err() {
            return Err(self.board.lose());
        }
        if !self.board.backend.is_wanted_back() {
            return match self.board.backend.health() {
                Health::Good => Ok(()),
                Health::Unknown => self.watch(),
                Health::Failed => self.recover(),
            };
        }
        // A block that does not become idle is cut off at its work.
        let _ = self.stop();
        let error = self.board.lose();
        // Descriptors that the stop has aborted did not fail: their transfers end because the board is gone.
        for number in 0..self.caps.channels {
            let _ = self.empty_ring(number);
        }
        // Contexts have to look at their state.
        self.events += 1;
        Err(error)
    }

    /// Starts the board again if others have reset it.
    fn watch(&mut self) -> Result<()> {
        let control = self.board.read(Register::Csr(csr::CONTROL))?;
        match self.started && control & csr::CONTROL_ENABLE_MASK == 0 {
            true => self.recover(),
            false => Ok(()),
        }
    }

    /// Starts the board again after a reset of all of it.
    fn recover(&mut self) -> Result<()> {
        self.resets.fetch_add(1, Ordering::Relaxed);
        self.board.forget_selection();
        self.reset().map_err(|_| self.board.lose())
    }

    /// Resets the engines and waits until they are idle and every record has left the block. Interrupts are off
    /// afterwards.
    fn stop(&mut self) -> Result<()> {
        self.started = false;
        let timeout = match self.port_timeout_cycles {
            Some(cycles) => cycles,
            None => self.board.read(Register::Csr(csr::PORT_TIMEOUT))?,
        };
        self.board.set_patience(timeout);
        let steps = steps::reset().into_iter().chain(table::fence(Reach::Host));
        self.board.run("become idle after a reset", steps)
    }

    /// Starts the block, which must be idle, with all channels and regions that exist.
    fn start(&mut self) -> Result<()> {
        let gone = self.board.backend.allow_access()?;
        self.regions.bury(&gone);
        if let Some(cycles) = self.port_timeout_cycles {
            self.board.write(Register::Csr(csr::PORT_TIMEOUT), cycles)?;
        }
        let pace = link::set_pace(self.board.backend.link());
        self.board.run("accepted the pace of the link", [pace])?;
        self.regions.program_all(&mut self.board)?;
        self.replace_window()?;
        // Since the memory was made reachable, nothing has waited for the end of a reset by others. So a reset that has
        // taken settings back takes this one back, too, and is noticed ([`watch`](Self::watch)).
        self.board.run("started", steps::start())?;
        self.board.check_present()?;
        for number in 0..self.caps.channels {
            self.restart(number)?;
        }
        self.started = true;
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.stop()?;
        // The result of a transfer that was cut off is unknown.
        self.renew(true)
    }

    /// Starts the block, which must be idle, as a new one: contexts get a new generation.
    fn renew(&mut self, memory_lost: bool) -> Result<()> {
        if memory_lost {
            self.fpga.forget();
        }
        if self.board.is_cut_off() {
            self.regions.give_up_kept(&mut self.board);
        }
        for state in self.channels.iter_mut().flatten() {
            state.generation = state.generation.wrapping_add(1);
        }
        // Contexts have to look at their state.
        self.events += 1;
        // The block was stopped, so it answers. If it is lost again, it is cut off again.
        self.board.find();
        let started = self.give_up_lost().and_then(|()| self.start());
        if started.is_err() {
            // The contexts' rings may still have records of the time before the reset.
            self.board.lose();
        }
        started
    }

    /// Leaves the block idle and unable to reach any memory, and frees all memory.
    fn shut_down(&mut self) -> Result<()> {
        if let Err(error) = self.release() {
            // A board that does not become idle, or does not answer, may reach memory: the memory that it knows is kept
            // if the board cannot be cut off.
            self.board.lose();
            if !self.board.is_cut_off() {
                return Err(error);
            }
        }
        for state in self.channels.drain(..).flatten() {
            self.board.backend.free(state.ring.id);
        }
        self.regions.free_all(&mut self.board);
        Ok(())
    }

    /// Leaves the block idle and unable to reach any memory.
    fn release(&mut self) -> Result<()> {
        self.board.check_there()?;
        self.stop()?;
        for number in 0..self.caps.channels {
            self.board.run("closed a channel", channel::close(number))?;
        }
        self.regions.unmap_all(&mut self.board)?;
        self.board.check_port()
    }
}
