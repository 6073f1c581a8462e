//! An open device: one context, one channel.

use crate::context::{Context, SlowPath};
use crate::error::{Error, Result};
use crate::kernel::Node;
use crate::lock_free::Seat;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::OpenCl;
use crate::sys::Process;
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::channel::Moderation;
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

/// The longest time that a channel's work may take to end by itself when the channel is stopped. The kernel driver
/// waits no longer ([`uapi::Stop::deadline_ns`]).
const LONGEST_DRAIN: Duration = Duration::from_secs(1);

/// An open device: a context of a board, with a channel of its own. Clones are the same context. It is closed when the
/// last clone and all its regions, queues and transfers are dropped.
///
/// # Forks
/// A child that a fork makes has copies of all values of this library, but the context is the parent's alone. Dropping
/// the copies releases nothing and ends nothing. Calls that would end transfers fail. The child must not use the
/// copies: the channel would have two writers. It may open a device of its own, or receive the file of the parent's
/// device ([`from_file`](Self::from_file)). As with every fork of a process with several threads, the child may do
/// little before it calls `execve`, and a drop can be too much: another thread may have held a lock (POSIX.1-2017,
/// `fork`).
#[derive(Debug, Clone)]
pub struct Device(pub(crate) Arc<Shared>, Registrations);

/// Settings of registrations by this value.
#[derive(Debug, Clone, Copy, Default)]
struct Registrations {
    /// Memory of other devices is registered for reading only if there is a proof that the board can read it. Else the
    /// driver makes the proof.
    proved_only: bool,
    /// All ATT pages of a region have the same size.
    one_page_size: bool,
}

/// User of a device's channel.
#[derive(Debug)]
pub(crate) enum ChannelUser {
    /// A queue, which may be dropped.
    Queue(Weak<dyn DeviceQueue>),
    /// A ring, for the device's life: the queue keeps its descriptors.
    Ring,
    /// A user to which the channel was handed over, for example a GPU.
    Other,
}

impl ChannelUser {
    /// Returns the queue, if it exists.
    fn queue(&self) -> Option<Arc<dyn DeviceQueue>> {
        match self {
            Self::Queue(queue) => queue.upgrade(),
            Self::Ring | Self::Other => None,
        }
    }
}

/// The device's queue, for the device and its regions, which the queue itself uses.
pub(crate) trait DeviceQueue: Send + Sync {
    /// Calls `f` once, between the descriptors that the queue gives the board, and returns its result.
    fn between_descriptors(&self, f: &dyn Fn() -> bool) -> bool;

    /// Takes the records that have come.
    fn settle(&self);

    /// Makes sure, on a board that is gone, that the library does not write memory of transfers any more.
    /// Returns `false` if the board is there again.
    fn give_up(&self) -> bool;

    /// Queries the state of the context.
    fn query(&self) -> Result<uapi::Query>;

    /// Returns whether it is a copy in the child of a fork.
    fn is_inherited(&self) -> bool;
}

/// State of a device's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueLife {
    /// It may have transfers under way.
    Lives,
    /// There was none, or its drop has stopped its transfers.
    Stopped,
    /// Its drop could not stop them.
    Unstopped,
}

/// State that the clones share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) context: Box<dyn Context>,
    capabilities: Capabilities,
    range: Mutex<Range<u64>>,
    /// Held while the driver allocates or frees FPGA memory, so that `range` is the result of the last call. A thread
    /// that only reads the range does not wait for that.
    changes_range: Mutex<()>,
    /// Read-locked while a region is unregistered: the driver removes its handle before the board has stopped using it.
    unregisters: RwLock<()>,
    /// The user that the channel has, or had. A queue reads the ring, so only it knows the ring's position.
    user: Mutex<Option<ChannelUser>>,
    /// Whether that queue may have transfers under way. Its drop stops them after the last reference to it is gone.
    queue_life: (Mutex<QueueLife>, Condvar),
    /// The process whose context it is: a child's copy ends nothing.
    owner: Process,
    /// Whether a window of this device holds the board's window.
    pub(crate) window_seat: Seat,
    /// The largest [`Query::doubts`](uapi::Query::doubts) that the driver has reported.
    doubts: AtomicU64,
}

impl Device {
    /// Makes a device of a device node that is open already: inherited, or sent by another process. Both processes then
    /// use one context. They must agree which of them uses it, and at most one of them has a [`Queue`](crate::Queue).
    /// The other one then must not call [`query`](Self::query) and [`stop`](Self::stop): its queries report to the
    /// driver that a restart of the board is known. `path` is for messages.
    pub fn from_file(file: OwnedFd, path: impl Into<PathBuf>) -> Result<Self> {
        Self::from_file_with(file, path, 0)
    }

    /// Makes a device as [`from_file`](Self::from_file), but requires some features: bits of [`uapi::feature`].
    ///
    /// # Errors
    /// [`Error::Features`] if one is missing.
    pub fn from_file_with(file: OwnedFd, path: impl Into<PathBuf>, required: u64) -> Result<Self> {
        Self::over(Node::from_file(file, path.into(), required)?)
    }

    /// Makes a device over any driver's context.
    ///
    /// # Errors
    /// [`Error::Identity`] if board and library do not match.
    pub fn over(context: impl Context + 'static) -> Result<Self> {
        let info = context.info();
        let [caps0, caps1, caps2] = info.caps;
        let identity = Identity::new([info.map_id, info.build_id, caps0, caps1, caps2, info.caps3]);
        match identity.check(MAP_ID, None) {
            Ok(capabilities) => {
                let shared = Shared {
                    owner: Process::current(),
                    capabilities,
                    range: Mutex::new(info.local_base..info.local_end),
                    user: Mutex::new(None),
                    queue_life: (Mutex::new(QueueLife::Stopped), Condvar::new()),
                    window_seat: Seat::default(),
                    doubts: AtomicU64::new(0),
                    changes_range: Mutex::new(()),
                    unregisters: RwLock::new(()),
                    context: Box::new(context),
                };
                Ok(Self(Arc::new(shared), Registrations::default()))
            }
            Err(source) => Err(Error::Identity {
                board: context.name(),
                source,
            }),
        }
    }

    pub(crate) fn context(&self) -> &dyn Context {
        &*self.0.context
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Returns a name of the board for messages, for example its device node.
    pub fn name(&self) -> String {
        self.context().name()
    }

    /// Returns the driver's description of board and context, as of the time when the device was opened.
    pub fn info(&self) -> &uapi::Info {
        self.context().info()
    }

    /// Returns whether driver and board have all of these features: bits of
    /// [`peerlane_core::uapi::feature`](uapi::feature). Features that depend on an NVIDIA driver may have come, or
    /// gone, since the device was opened.
    pub fn has(&self, features: u64) -> bool {
        features & !self.info().features == 0
    }

    /// Returns the same device, for registrations that risk no read. On a board with
    /// [`PROVED_PEERS`](uapi::feature::PROVED_PEERS) the first registration of another device's memory for reading
    /// makes the board read a few bytes. If that read is not answered, the board takes no reads of any context until
    /// its driver has reset its link, which ends all transfers under way. With this value such memory is registered
    /// only if the board has read from that device before; otherwise the registration fails: [`Error::Call`] with
    /// `EXDEV`.
    #[must_use]
    pub fn proved_only(&self) -> Self {
        let proved_only = true;
        Self(
            Arc::clone(&self.0),
            Registrations {
                proved_only,
                ..self.1
            },
        )
    }

    /// Returns the same device, for regions whose bytes have consecutive ATT addresses. It is for programs that compute
    /// addresses ([`Region::att_address`](crate::Region::att_address)). Otherwise memory of a process may have pages of
    /// two sizes. That takes far fewer ATT entries: huge pages have entries of 2 MiB although the memory does not begin
    /// or end with one.
    #[must_use]
    pub fn one_page_size(&self) -> Self {
        let one_page_size = true;
        Self(
            Arc::clone(&self.0),
            Registrations {
                one_page_size,
                ..self.1
            },
        )
    }

    /// Returns the flag of a registration that risks no read. Drivers without the feature do not know the flag.
    pub(crate) fn proof_flag(&self) -> u32 {
        match self.1.proved_only && self.has(uapi::feature::PROVED_PEERS) {
            true => uapi::register::PROVED_ONLY,
            false => 0,
        }
    }

    /// Returns the flag of a registration whose pages may be of two sizes, where the driver knows it. It is not for a
    /// GPU's memory: programs on a GPU compute its addresses.
    pub(crate) fn mixed_flag(&self, provider: u32) -> u32 {
        let is_host = provider == uapi::provider::HOST;
        match is_host && !self.1.one_page_size && self.has(uapi::feature::MIXED) {
            true => uapi::register::MIXED,
            false => 0,
        }
    }

    /// Returns the capabilities of the board.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// Returns the board's time: CLOCK_MONOTONIC, or simulated time. Limits of waits are in it. Simulated time advances
    /// only while a thread waits.
    pub fn now(&self) -> Duration {
        self.context().now()
    }

    /// Allocates memory that can be registered, all zero. The kernel's device takes any memory of the process, a driver
    /// in the process only memory from here.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::Map`], and [`Error::Backend`] of a driver in the process, if there is not enough
    /// memory; [`Error::NoGpu`]: memory of a real GPU is allocated by the GPU's own driver.
    pub fn memory(&self, kind: MemoryKind, length: usize) -> Result<Memory> {
        self.context().memory(kind, length)
    }

    /// Returns the state of the context, and acknowledges its events: `poll` reports nothing until the next event.
    /// While a thread waits for events, in a wait of the device's [`Queue`](crate::Queue), the events are left to that
    /// thread, unless the board was restarted ([`feature::PEEK`](uapi::feature::PEEK)).
    ///
    /// The device's [`Queue`](crate::Queue) learns of a restart of the board by this. After a restart of the block
    /// alone only transfers under way are lost, and `generation` has changed. If `resets` has changed, too, FPGA
    /// memory, kernels and their clock may have changed ([`Query::resets`](uapi::Query::resets)).
    ///
    /// If this acknowledges an event that a thread waits for, in a wait of that queue, the thread looks a second later
    /// at the latest.
    pub fn query(&self) -> Result<uapi::Query> {
        let user = self.0.user_place();
        match user.as_ref().and_then(ChannelUser::queue) {
            Some(queue) => {
                drop(user);
                queue.query()
            }
            // No queue is made at the same time: the lock is held, because this may admit the channel after a restart.
            None => self.0.query(),
        }
    }

    /// Waits for an event of the context; `None`: without a limit. Returns `false` if no event has come in time. It
    /// also returns `true` without an event, after a signal. The ring and [`query`](Self::query) have the result.
    ///
    /// # Errors
    /// [`Error::Gone`]: no more events come. The driver may report this before the board is stopped; when `query`
    /// reports it, the board reaches no memory any more.
    pub fn poll(&self, limit: Option<Duration>) -> Result<bool> {
        self.context().await_event(limit)
    }

    /// Sets an eventfd that each event of the context adds 1 to, or removes it.
    ///
    /// # Errors
    /// [`Error::Call`], with `EOPNOTSUPP` of a driver in the process.
    pub fn set_eventfd(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        self.context().set_eventfd(eventfd)
    }

    /// Returns the device node, where there is one: for `poll`, and to be sent to another process.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.context().file()
    }

    /// Stops the channel. Descriptors that have not ended by themselves after `drain`, at most a second, are aborted.
    /// Returns whether any descriptor was aborted. In the meantime the board refuses the doorbells of a
    /// [`Queue`](crate::Queue), which has to be [restarted](crate::Queue::restart) then. So a program with a queue
    /// calls `restart` instead, and processes that share a device agree which of them stops it. Data that writes had
    /// sent to a GPU may be on their way when this returns: [`Region::flush`](crate::Region::flush).
    ///
    /// # Errors
    /// [`Error::Inherited`] in the child of a fork, and errors of the driver.
    pub fn stop(&self, drain: Duration) -> Result<bool> {
        if self.0.owner != Process::current() {
            return Err(Error::Inherited);
        }
        self.context().stop(drain.min(LONGEST_DRAIN))
    }

    /// Returns the range of FPGA memory that the context has ([`allocate`](Self::allocate)); empty at first.
    pub fn range(&self) -> Range<u64> {
        self.0.range()
    }

    /// Takes the OpenCL side of the board. The kernels in the FPGA reach all of its memory, so the kernel's driver
    /// requires that the context has [all free FPGA memory](Self::allocate_all).
    ///
    /// # Errors
    /// [`Error::OpenCl`]: with `EBUSY` or `EEXIST` if a context has it already; with `EPERM` if this one does not have
    /// all memory; with `EOPNOTSUPP` if board or driver have no OpenCL side. [`Error::Gone`].
    pub fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        self.context().open_cl()
    }

    /// Sets the moderation of the channel's interrupts; at first no interrupt is delayed. Set an age. Without one, the
    /// last completions may raise no interrupt, and a wait sees them at the end of its limit, or a second late.
    /// [`Terms::urgent`](crate::Terms::urgent) exempts one transfer.
    pub fn moderate(&self, moderation: Moderation) -> Result<()> {
        self.context().moderate(moderation)
    }
}

impl Shared {
    /// Queries the state of the context, and notes it.
    pub(crate) fn query(&self) -> Result<uapi::Query> {
        Ok(self.noted(self.context.query()?))
    }

    /// Returns the state of the context without acknowledging an event; `None` where the driver cannot.
    pub(crate) fn peek(&self) -> Result<Option<uapi::Query>> {
        Ok(self.context.peek()?.map(|query| self.noted(query)))
    }

    fn noted(&self, query: uapi::Query) -> uapi::Query {
        self.doubts.fetch_max(query.doubts, Ordering::Relaxed);
        query
    }

    /// Returns whether a region with this [`Register::proof`](uapi::Register::proof) is only written from now on, as
    /// far as the driver has reported.
    pub(crate) fn doubts(&self, proof: u64) -> bool {
        proof != 0 && proof <= self.doubts.load(Ordering::Relaxed)
    }

    /// Returns the place of the channel's user; `None` inside if it never had one.
    pub(crate) fn user_place(&self) -> MutexGuard<'_, Option<ChannelUser>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the device's queue, while it has one.
    pub(crate) fn queue(&self) -> Option<Arc<dyn DeviceQueue>> {
        self.user_place().as_ref().and_then(ChannelUser::queue)
    }

    fn queue_life(&self) -> MutexGuard<'_, QueueLife> {
        self.queue_life
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the device has a queue, or the way in which its queue has ended.
    pub(crate) fn note_queue(&self, life: QueueLife) {
        *self.queue_life() = life;
        self.queue_life.1.notify_all();
    }

    /// Returns whether transfers may be under way although there are no references to a queue. A queue that is dropped
    /// may not have stopped its transfers yet. Without a queue the slow path or a GPU may have the channel.
    pub(crate) fn may_move(&self) -> bool {
        let had_queue = matches!(*self.user_place(), Some(ChannelUser::Queue(_)));
        !had_queue || *self.queue_life() != QueueLife::Stopped
    }

    /// Waits until a queue without references has ended.
    fn wait_for_dropped_queue(&self) {
        let (life, changed) = (self.queue_life(), &self.queue_life.1);
        drop(changed.wait_while(life, |life| *life == QueueLife::Lives));
    }

    /// Returns the number of bytes of which the board writes multiples.
    pub(crate) fn write_granularity(&self) -> u32 {
        self.capabilities.write_granularity
    }

    /// Calls `f` between the descriptors that the queue gives the board. The queue sees the changes of `f` before its
    /// next descriptor. `f` must not use the queue or its place, and neither must a thread that holds a lock that `f`
    /// takes.
    pub(crate) fn between_descriptors(&self, f: &dyn Fn() -> bool) -> bool {
        let user = self.user_place();
        match user.as_ref().and_then(ChannelUser::queue) {
            Some(queue) => {
                drop(user);
                queue.between_descriptors(f)
            }
            // No queue is made in the meantime.
            None => {
                self.wait_for_dropped_queue();
                f()
            }
        }
    }

    /// Unregisters a region.
    pub(crate) fn unregister(&self, handle: u32, flags: u32) -> Result<()> {
        let _under_way = (self.unregisters.read()).unwrap_or_else(PoisonError::into_inner);
        self.context.unregister(handle, flags)
    }

    /// Waits for the unregistrations under way.
    pub(crate) fn wait_for_unregistrations(&self) {
        drop((self.unregisters.write()).unwrap_or_else(PoisonError::into_inner));
    }

    /// Has the driver change the context's FPGA memory, and notes the range that `call` returns.
    pub(crate) fn change_range<T>(
        &self,
        call: impl FnOnce(&dyn Context) -> Result<(Range<u64>, T)>,
    ) -> Result<T> {
        let _alone = (self.changes_range.lock()).unwrap_or_else(PoisonError::into_inner);
        let (range, result) = call(&*self.context)?;
        *self.range.lock().unwrap_or_else(PoisonError::into_inner) = range;
        Ok(result)
    }

    /// Returns the driver's slow path, for the call of this name.
    pub(crate) fn slow_path(&self, call: &'static str) -> Result<&dyn SlowPath> {
        (self.context.slow_path()).ok_or_else(|| Error::call(call, Errno::OPNOTSUPP))
    }

    fn range(&self) -> Range<u64> {
        (self.range.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    /// Checks a range of FPGA memory. The board checks it too.
    pub(crate) fn check_local(&self, address: u64, length: u64) -> Result<()> {
        let Range { start: base, end } = self.range();
        match address.checked_add(length) {
            _ if length == 0 => Err(Error::Empty { what: "a transfer" }),
            Some(last) if address >= base && last <= end => Ok(()),
            _ => Err(Error::Local {
                address,
                length,
                base,
                end,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_refused() {
        let error = Device::open("/dev/no such peerlane").unwrap_err();
        assert!(matches!(
            &error,
            Error::Open { source, .. } if *source == Errno::NOENT
        ));
        // It opens, but knows no such ioctl.
        let error = Device::open("/dev/null").unwrap_err();
        assert_eq!(
            error.to_string(),
            "INFO failed: Inappropriate ioctl for device (os error 25)"
        );
    }
}
