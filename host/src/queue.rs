//! The fast path: this library accesses the channel's page and ring itself.

mod bounce;
mod restart;
mod tasks;
mod transfer;
mod waits;

pub(crate) use waits::LOOK;

pub use tasks::Ended;
pub use transfer::Transfer;

use crate::context::{Context, RawChannel};
use crate::device::{ChannelUser, Device, DeviceQueue, QueueLife};
use crate::ends::{Ends, Scrap, is_ragged};
use crate::error::{Error, Result};
use crate::flow::{Closed, Closing, Flow, Order, Post, TransferId, Unproven};
use crate::region::{Part, Region};
use crate::request::Request;
use crate::sys::Process;
use crate::terms::Terms;
use bounce::Bounce;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::extent::Extents;
use peerlane_core::record;
use peerlane_core::ring::Slots;
use peerlane_core::uapi::{Query, state};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;
use tasks::Tasks;

/// Default of the most bytes that one descriptor moves: the largest value of its length.
const PIECE: u32 = u32::MAX;

/// The longest sleep at a stretch while no transfer under way will raise an interrupt.
const SILENT: Duration = Duration::from_micros(100);

/// Counts of a queue's work so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Descriptors given to the board.
    pub descriptors: u64,
    /// Stores to the channel's page.
    pub stores: u64,
    /// Records taken from the ring.
    pub records: u64,
    /// Calls of the driver made to wait. For the kernel's driver these are system calls.
    pub system_calls: u64,
    /// Records that a wait found by itself, after a second, where the board should have raised an interrupt. If this is
    /// not 0, interrupts are lost, and waits take a second.
    pub late_records: u64,
}

/// A channel's queues and completion ring. Transfers of one direction are worked through in the order of submission;
/// the two directions run concurrently. Transfers are split into descriptors. One that is larger than the queue
/// continues while any transfer of it is waited for or polled.
///
/// Clones are handles of the same queue, for any thread. When the last handle and the last of its transfers are
/// dropped, the queue is stopped: transfers under way then are aborted.
#[derive(Debug, Clone)]
pub struct Queue(Arc<Shared>);

/// A point in the order of a queue's submissions: [`Queue::mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// State that the handles of a queue and its transfers share.
#[derive(Debug)]
pub(crate) struct Shared {
    device: Device,
    /// The process that made it: a child's copy ends nothing.
    owner: Process,
    state: Mutex<State>,
    /// Memory for ends of writes, from the first such write on.
    bounce: OnceLock<Bounce>,
    /// Notified when a thread has finished work for all threads: a sleep, a restart of the channel, or the rest of a
    /// write.
    woken: Condvar,
}

#[derive(Debug)]
struct State {
    flow: Flow<Region>,
    generation: u32,
    /// Time since when doorbells were refused, if any were since the last restart.
    refused: Option<Duration>,
    /// Time of the last check for refused doorbells.
    looked: Duration,
    piece: u32,
    spin: Duration,
    statistics: Statistics,
    /// A thread waits for events. They are acknowledged for the whole context, so the other threads wait for that
    /// thread.
    sleeping: bool,
    /// The last wait for an interrupt ran into its time limit.
    overslept: bool,
    /// A thread restarts the channel. Until it has finished, no other thread takes records or gives the board
    /// descriptors.
    restarting: bool,
    /// Number of threads that wait for another one.
    followers: u32,
    /// Tasks that wait for transfers.
    tasks: Tasks,
    /// The board or its driver has failed, and no caller has got the error yet.
    suspect: bool,
    /// The board is gone, and a caller knows that no transfer is under way: the library does not write the memory of
    /// transfers any more either.
    given_up: bool,
}

/// The channel's page, and the counts of its use.
struct Page<'a>(&'a dyn Context, &'a mut Statistics);

impl Post for Page<'_> {
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) {
        self.1.stores += u64::from(self.0.post(direction, descriptor, freed));
        self.1.descriptors += 1;
    }
}

/// The completion ring.
pub(crate) struct Records<'a>(pub(crate) &'a dyn Context);

impl Slots for Records<'_> {
    fn status(&mut self, index: u32) -> u32 {
        self.0.status(index)
    }

    fn record(&mut self, index: u32) -> [u32; record::DWORDS] {
        self.0.record(index)
    }
}

impl Device {
    /// Returns the device's queue. A device has one: [`Queue::new`].
    pub fn queue(&self) -> Result<Queue> {
        Queue::new(self)
    }

    /// Hands the channel to a user that is not a [`Queue`], for example a GPU. That user writes descriptors, rings the
    /// doorbells and reads the records from now on. Where it computes addresses, register memory of this process by
    /// [`one_page_size`](Self::one_page_size).
    ///
    /// # Errors
    /// As [`Queue::new`], and [`Error::Map`] with `EOPNOTSUPP` where the channel is not mapped into the
    /// process.
    pub fn hand_over(&self) -> Result<RawChannel> {
        Queue::hand_over(self)
    }

    /// Takes back a channel that was [handed over](Self::hand_over) and was not used: the device can have a [`Queue`]
    /// again. The user that had it must not use it any more, or the channel has two writers.
    ///
    /// # Errors
    /// [`Error::Taken`] if the channel was not handed over, or was used. Use shows in the ring and in descriptors under
    /// way.
    pub fn take_back(&self) -> Result<()> {
        Queue::take_back(self)
    }
}

impl Queue {
    /// Takes over the channel's page and ring. From now on the device has no slow path.
    ///
    /// # Errors
    /// [`Error::Map`] with `EBUSY` once the slow path was used; [`Error::Taken`] if the device has, or had, a queue, or
    /// if another owner of its file has used the channel ([`Device::from_file`]). Such use shows in the ring and in
    /// descriptors under way. It does not show if the board was restarted since, or if the other owner has not begun.
    pub fn new(device: &Device) -> Result<Self> {
        let mut place = device.0.user_place();
        if place.is_some() {
            return Err(Error::Taken);
        }
        // A queue that was not made has rung no doorbell.
        let queue = Self::open(device)?;
        *place = Some(ChannelUser::Queue(Arc::<Shared>::downgrade(&queue.0)));
        device.0.note_queue(QueueLife::Lives);
        Ok(queue)
    }

    /// Implements [`Device::hand_over`].
    fn hand_over(device: &Device) -> Result<RawChannel> {
        let mut place = device.0.user_place();
        if place.is_some() {
            return Err(Error::Taken);
        }
        let context = device.context();
        let channel = context.open_channel()?;
        let missing = || Error::map("the channel", 0, Errno::OPNOTSUPP);
        let channel = channel.ok_or_else(missing)?;
        if !is_unused(context, device.capabilities().queue_depth()) {
            return Err(Error::Taken);
        }
        // The page takes doorbells from the first query on.
        if device.shared().query()?.state & state::GONE != 0 {
            return Err(Error::Gone);
        }
        *place = Some(ChannelUser::Other);
        Ok(channel)
    }

    /// Implements [`Device::take_back`].
    fn take_back(device: &Device) -> Result<()> {
        let mut place = device.0.user_place();
        let handed_over = matches!(*place, Some(ChannelUser::Other));
        if !handed_over || !is_unused(device.context(), device.capabilities().queue_depth()) {
            return Err(Error::Taken);
        }
        *place = None;
        Ok(())
    }

    fn open(device: &Device) -> Result<Self> {
        let context = device.context();
        let info = context.info();
        context.open_channel()?;
        let mut state = State {
            // A channel that was never used: its ring is at the first slot.
            flow: Flow::new(1, info.ring_log2, info.channel)?,
            generation: 0,
            refused: None,
            looked: context.now(),
            piece: PIECE,
            spin: Duration::ZERO,
            statistics: Statistics::default(),
            sleeping: false,
            overslept: false,
            restarting: false,
            followers: 0,
            tasks: Tasks::default(),
            suspect: false,
            given_up: false,
        };
        // Checked before the query. The query would acknowledge events of another user of the channel, and report to
        // the driver that the generation is known.
        if !is_unused(context, device.capabilities().queue_depth()) {
            return Err(Error::Taken);
        }
        state.statistics.system_calls += 1;
        state.generation = generation(device)?;
        // While the channel is being stopped, or the board started, the page does not have this number. After a start
        // it is read again.
        let slots = match slots(context) {
            0 => device.capabilities().queue_depth(),
            slots => slots,
        };
        state.flow.renew(slots)?;
        Ok(Self(Arc::new(Shared {
            device: device.clone(),
            owner: Process::current(),
            state: Mutex::new(state),
            bounce: OnceLock::new(),
            woken: Condvar::new(),
        })))
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Sets the most bytes that one descriptor moves, for transfers that are submitted later; at first 4 GiB less 1. 0
    /// counts as 1, which is a descriptor for each byte. Where the board writes whole dwords only, a descriptor of a
    /// write moves whole dwords, at least one. Smaller pieces show the progress of a long transfer; larger pieces cost
    /// fewer stores.
    pub fn set_piece(&self, bytes: u32) {
        if let Ok(mut state) = self.0.lock_own() {
            state.piece = bytes.max(1);
        }
    }

    /// Sets the time for which [`Transfer::wait`] and [`drain`](Self::drain) look at the ring before they sleep. By
    /// default they sleep at once.
    pub fn set_spin(&self, spin: Duration) {
        if let Ok(mut state) = self.0.lock_own() {
            state.spin = spin;
        }
    }

    /// Returns the counts so far; all zero in the child of a fork.
    pub fn statistics(&self) -> Statistics {
        let state = self.0.lock_own();
        state.map_or_else(|_| Statistics::default(), |state| state.statistics)
    }

    /// Returns the number of transfers that have not ended; 0 in the child of a fork.
    pub fn under_way(&self) -> usize {
        let state = self.0.lock_own();
        state.map_or(0, |state| state.flow.under_way())
    }

    /// Begins to move a part of a region to or from an FPGA address. It never waits for room on the board. It makes no
    /// system call, unless it finds an error, or unregisters a region whose last handle belonged to a transfer that has
    /// ended. The number of submitted transfers is limited only by the process's memory.
    ///
    /// Some boards write whole dwords only
    /// ([`write_granularity`](peerlane_core::capability::Capabilities::write_granularity): boards with Altera's
    /// Avalon-MM bridge). If a write to such a board begins or ends inside of a dword, the library copies the 1 to 3
    /// bytes at that end: by the processor, or in a GPU's memory by the GPU. Each end costs a descriptor and that copy.
    /// Later writes, and reads that are [chained](Terms::after_from_fpga), begin when the transfer has ended. The
    /// library notices that end while a program waits for a transfer of the queue, polls one, or calls
    /// [`turn`](Self::turn). Where a write is not flushed ([`Terms`]), bytes of an earlier write to the same place can
    /// arrive after the copy. The first such write of a queue registers a small buffer.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Local`], [`Error::Region`], [`Error::Foreign`]: the bytes cannot be moved so.
    /// [`Error::Granularity`]: a write begins or ends inside of a dword, and the region has no copy for that
    /// ([`Region::set_patch`]). [`Error::Call`] of a registration, [`Error::Map`], [`Error::AttFull`]: there is no
    /// memory for the buffer. [`Error::Gone`] and [`Error::Broken`] as [`Transfer::wait`]. No bytes are moved after an
    /// error.
    pub fn submit<'a>(
        &self,
        direction: Direction,
        part: impl Into<Part<'a>>,
        fpga_address: u64,
    ) -> Result<Transfer> {
        let request = Request::new(direction, part, fpga_address);
        self.submit_with(&request, Terms::default())
    }

    /// Begins to move FPGA memory into a region, or a part of one.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn from_fpga<'a>(&self, fpga_address: u64, to: impl Into<Part<'a>>) -> Result<Transfer> {
        self.submit(Direction::FromFpga, to, fpga_address)
    }

    /// Begins to move a region, or a part of one, into FPGA memory.
    ///
    /// A board without [`TAGGED_READS`](peerlane_core::uapi::feature::TAGGED_READS) gets no answer to a read that is
    /// refused by an IOMMU, or that goes to a missing GPU. Then the transfer fails with
    /// [`Fault::ReadTimeout`](crate::Fault::ReadTimeout), and reads of all channels fail with
    /// [`Fault::PortDown`](crate::Fault::PortDown) until the board's link was reset. [`Device::proved_only`] registers
    /// memory that is safe to read. Such a board also accepts data that a device marks as damaged.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn to_fpga<'a>(&self, from: impl Into<Part<'a>>, fpga_address: u64) -> Result<Transfer> {
        self.submit(Direction::ToFpga, from, fpga_address)
    }

    /// Submits a transfer with terms: chained to earlier transfers, or urgent. The board keeps the order by itself; the
    /// program need not wait in between.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_with(&self, request: &Request<'_>, terms: Terms) -> Result<Transfer> {
        self.submit_part(request, terms, false)
    }

    /// Submits a transfer. One that is `followed` raises no interrupt at its end, because the next one of its direction
    /// does.
    pub(crate) fn submit_part(
        &self,
        request: &Request<'_>,
        terms: Terms,
        followed: bool,
    ) -> Result<Transfer> {
        let &Request {
            direction,
            region,
            fpga_address,
            length,
            piece,
            ..
        } = request;
        let (peer, granularity, ends) = self.prepare(request)?;
        let mut state = self.0.lock_own()?;
        // First, because this can fail: a transfer that is refused must not be made later.
        let taken = self.0.take_records(&mut state).map(|()| {
            let piece = piece.unwrap_or(state.piece).max(granularity);
            let order = Order {
                direction,
                peer,
                local: fpga_address,
                length,
                piece: piece - piece % granularity,
                terms,
                unreadable: !region.is_readable(),
                // The library has to see the end of a transfer with ends, even if another one follows.
                followed: followed && ends.is_none(),
                ends,
            };
            let id = state.flow.submit(order, region.clone());
            self.0.pump(&mut state);
            id
        });
        self.0.unlock(state);
        let writes = direction == Direction::FromFpga;
        let is_unflushed = writes && (terms.no_flush || region.is_never_proven());
        if is_unflushed {
            region.note_unflushed();
        }
        Ok(Transfer {
            queue: Arc::clone(&self.0),
            id: taken?,
            direction,
            length,
            written: writes.then(|| region.handle()),
            is_unflushed,
        })
    }

    /// Checks a request. Returns the place of its bytes in the region, the granularity of the board's access there, and
    /// the ends that the library writes.
    pub(crate) fn prepare(&self, request: &Request<'_>) -> Result<(Extents, u32, Option<Ends>)> {
        let peer = self.0.device.check(request)?;
        let granularity = match request.direction {
            Direction::FromFpga => self.0.device.capabilities().write_granularity,
            Direction::ToFpga => 1,
        };
        let ends = match is_ragged(peer.first(), request.length, granularity) {
            true => Some(self.0.bounce()?.ends(peer.first(), request.length)),
            false => None,
        };
        Ok((peer, granularity, ends))
    }

    /// Makes the memory for the ends of a write to this address, before other memory takes the room.
    pub(crate) fn prepare_ends(&self, address: u64, length: u64) -> Result<()> {
        let granularity = self.0.device.capabilities().write_granularity;
        match (address | length) & u64::from(granularity - 1) {
            0 => Ok(()),
            _ => self.0.bounce().map(drop),
        }
    }

    /// Checks a request as [`submit_with`](Self::submit_with) does, without moving bytes.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn check(&self, request: &Request<'_>) -> Result<()> {
        self.0.device.check(request).map(drop)
    }

    /// Waits until all transfers that were submitted before have ended, well or not; `None`: without a limit. It does
    /// not report failures: only the [`Transfer`]s do.
    ///
    /// # Errors
    /// [`Error::NotDrained`]; [`Error::Gone`] and [`Error::Broken`] as [`Transfer::wait`].
    pub fn drain(&self, limit: impl Into<Option<Duration>>) -> Result<()> {
        self.drain_to(self.mark()?, limit)
    }

    /// Returns a mark after all transfers that were submitted so far.
    ///
    /// # Errors
    /// [`Error::Inherited`].
    pub fn mark(&self) -> Result<Mark> {
        Ok(Mark(self.0.lock_own()?.flow.submitted()))
    }

    /// Waits as [`drain`](Self::drain) does, for transfers that were submitted before a mark. So a wait in several
    /// calls has one end.
    ///
    /// # Errors
    /// As [`drain`](Self::drain).
    pub fn drain_to(&self, mark: Mark, limit: impl Into<Option<Duration>>) -> Result<()> {
        let before = mark.0;
        self.0.until(
            limit.into(),
            |flow| (flow.left(before) == 0).then_some(Ok(())),
            |flow, waited| Error::NotDrained {
                under_way: flow.left(before),
                waited,
            },
        )
    }

    /// Ends all transfers under way, and leaves an empty queue. Transfers that had not ended fail with
    /// [`Error::Stopped`], except those for which the board had found a fault. Regions and FPGA memory stay, and the
    /// queue remains usable.
    ///
    /// It does not recover the board: that is the task of the driver. If the driver has to, this waits for it, and
    /// transfers that had not ended fail with [`Error::Restarted`]. That happens where the board is being restarted,
    /// does not end its descriptors, or was reset without the driver's knowledge, for example by another tool that
    /// configured the FPGA. The driver learns of such a reset by this call at once, and by itself within a second or
    /// two; before that, transfers do not end. A driver in the process does not notice it: then this fails with
    /// [`Error::Broken`], and [`Driver::reset`](crate::driver::Driver::reset) starts the block again.
    ///
    /// # Errors
    /// [`Error::Gone`]; [`Error::Broken`] if board and queue still disagree: close the device and open it again.
    /// [`Error::Call`] if the board is not restarted within ten seconds; transfers under way are still under way then.
    /// [`Error::Inherited`] in the child of a fork.
    pub fn restart(&self) -> Result<()> {
        self.0.restart_all()
    }

    /// Takes the records that have come, so that [`Transfer::has_ended`] knows of them. It does not call the driver,
    /// gives the board no descriptors and does not wait, not even for another thread that uses the queue: Python's
    /// garbage collector calls it.
    pub fn take_note(&self) {
        if self.is_inherited() {
            return;
        }
        if let Ok(mut state) = self.0.state.try_lock()
            && !state.restarting
        {
            let context = self.0.device.context();
            // The next call finds an error again.
            if let Ok(records @ 1..) = state.flow.drain(&mut Records(context)) {
                state.statistics.records += records;
                self.0.wake(&mut state);
            }
        }
    }

    /// Returns whether this process is the child of a fork, and the queue its parent's. It takes no lock, which another
    /// thread of the parent may have held at the time of the fork.
    pub fn is_inherited(&self) -> bool {
        self.0.is_inherited()
    }
}

/// Returns whether the channel shows no use by another owner of the same file since it was started. Without use, slot 0
/// of the ring holds no record, and no descriptor is under way.
pub(crate) fn is_unused(context: &dyn Context, depth: u32) -> bool {
    let empty = context.status(0) == record::empty();
    let free = context.queue_free();
    // While the channel takes no doorbells, the page does not show the descriptors under way.
    empty && (free == [0, 0] || free.iter().all(|free| *free >= depth))
}

/// Returns the number of descriptors that each direction takes while it is idle. It is 0 while doorbells are refused,
/// and on an empty page, which means that the board is being started.
fn slots(context: &dyn Context) -> u32 {
    let [writes, reads] = context.queue_free();
    writes.min(reads)
}

impl DeviceQueue for Shared {
    fn between_descriptors(&self, f: &dyn Fn() -> bool) -> bool {
        self.between_descriptors(f)
    }

    fn settle(&self) {
        self.settle();
    }

    fn give_up(&self) -> bool {
        self.give_up()
    }

    fn query(&self) -> Result<Query> {
        self.query()
    }

    fn is_inherited(&self) -> bool {
        self.is_inherited()
    }
}

impl Shared {
    /// Returns the memory for ends of writes. The first call makes it, by a call of the driver.
    fn bounce(&self) -> Result<&Bounce> {
        if self.bounce.get().is_none() {
            // Another thread may be first; then this one's memory is dropped.
            let _ = self.bounce.set(Bounce::new(&self.device)?);
        }
        self.bounce.get().ok_or(Error::Forgotten)
    }

    /// Locks the state. A panic elsewhere leaves it consistent: every change is made after the calls that can fail.
    /// While it is locked, no thread sleeps, and no driver stops a channel or flushes a write. A query of the kernel's
    /// driver waits while the driver is being unbound: for seconds at most.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state, in the process that made the queue. A child of a fork does not have the channel's page and
    /// ring, and another thread of the parent may have had the lock.
    fn lock_own(&self) -> Result<MutexGuard<'_, State>> {
        match self.is_inherited() {
            true => Err(Error::Inherited),
            false => Ok(self.lock()),
        }
    }

    /// Unlocks the state, and then does the work that must not be done under the lock: the rest of writes that the
    /// board is done with, the release of regions of ended transfers (the last handle of a region calls the driver),
    /// and the wakeup of due tasks. Returns `true` if writes are left, because the board is being restarted.
    fn unlock<'a>(&'a self, mut state: MutexGuard<'a, State>) -> bool {
        let mut away = false;
        while state.flow.can_finish() && !away {
            away = !self.finish(state);
            state = self.lock();
        }
        while let Some(kept) = state.flow.take_ended() {
            drop(state);
            drop(kept);
            state = self.lock();
        }
        let due = state.tasks.take_due();
        drop(state);
        due.into_iter().for_each(Waker::wake);
        away
    }

    pub(crate) fn release(&self, id: TransferId) {
        let Ok(mut state) = self.lock_own() else {
            return;
        };
        state.flow.release(id);
        let task = state.tasks.forget(id);
        drop(state);
        drop(task);
    }

    /// Returns the state of the context, for a caller other than the queue. The generation that the driver returns here
    /// admits the channel, so the queue takes it over.
    pub(crate) fn query(&self) -> Result<Query> {
        // Events are left to a thread that waits for them. A thread that begins to wait looks at the ring first.
        let waits = self.lock_own()?.sleeping;
        if waits
            && let Some(query) = self.device.shared().peek()?
            && (query.state & state::GONE != 0 || query.generation == self.lock_own()?.generation)
        {
            return Ok(query);
        }
        let context = self.device.context();
        let mut state = self.lock_own()?;
        let query = self.device.shared().query().and_then(|query| {
            if query.state & state::GONE == 0 {
                state.admit(context, query.generation)?;
            }
            Ok(query)
        });
        // The event that this has acknowledged may be one that those threads or tasks wait for.
        self.wake_all(&mut state);
        self.unlock(state);
        query
    }

    pub(crate) fn is_inherited(&self) -> bool {
        self.owner != Process::current()
    }

    /// Takes the records that have come, and releases the regions of ended transfers.
    pub(crate) fn settle(&self) {
        if let Ok(mut state) = self.lock_own() {
            // The next call finds an error again.
            let _ = self.take_records(&mut state);
            self.unlock(state);
        }
    }

    /// Makes sure, on a board that is gone, that the library does not write memory of transfers any more. Transfers that
    /// the board has ended before it was gone get their rest first. Returns `false` if the board is there again: then
    /// its transfers have ended, or go on.
    pub(crate) fn give_up(&self) -> bool {
        self.settle();
        let Ok(mut state) = self.lock_own() else {
            return false;
        };
        let is_gone = matches!(state.notice(&self.device), Err(Error::Gone));
        if is_gone {
            state.given_up = true;
        } else {
            state.suspect = true;
            self.wake_all(&mut state);
        }
        let state = self.await_rest(state);
        self.unlock(state);
        is_gone
    }

    /// Returns the result of a look for the end of transfers. Of a board that is gone nothing is reported before
    /// [`give_up`](Self::give_up), whose last records may have brought the end, and whose query of the driver returns
    /// only when the board reaches no memory any more. That the board is gone may also be a known result of earlier.
    fn after_gone<T>(
        &self,
        found: Result<T>,
        mut happened: impl FnMut(&Flow<Region>) -> Option<Result<T>>,
    ) -> Result<T> {
        if !matches!(found, Err(Error::Gone)) {
            return found;
        }
        if let Some(known) = happened(&self.lock().flow) {
            return known;
        }
        self.give_up();
        happened(&self.lock().flow).unwrap_or(found)
    }

    /// Gives the board no more descriptors of a transfer. Transfers after it have their turn.
    pub(crate) fn cancel(&self, id: TransferId) {
        let Ok(mut state) = self.lock_own() else {
            return;
        };
        state.flow.cancel(id);
        self.pump(&mut state);
        self.wake(&mut state);
        self.unlock(state);
    }

    /// Returns the device.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Calls `f` while the board gets no descriptors, and then waits for copies that began before.
    fn between_descriptors(&self, f: &dyn Fn() -> bool) -> bool {
        let state = self.lock();
        let done = f();
        // A write whose rest begins later sees the change of `f`.
        drop(self.await_rest(state));
        done
    }

    /// Waits until the rest of a write is done that another thread does now.
    fn await_rest<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let began = state.flow.finishing();
        while began.is_some() && state.flow.finishing() == began {
            state = self.follow(state, waits::LOOK);
        }
        state
    }

    /// Takes the records that have come.
    fn take_records(&self, state: &mut State) -> Result<()> {
        if state.restarting {
            return Ok(());
        }
        let context = self.device.context();
        let overslept = std::mem::take(&mut state.overslept);
        match state.flow.drain(&mut Records(context)) {
            Ok(0) => Ok(()),
            Ok(records) => {
                state.statistics.records += records;
                if overslept {
                    state.statistics.late_records += records;
                }
                self.wake(state);
                Ok(())
            }
            // After a reset the ring starts again, and after an unbind it is a page of zeros.
            Err(error) => {
                let restarted = state.notice(&self.device);
                self.wake_all(state);
                restarted?.then_some(()).ok_or(error)
            }
        }
    }

    /// Does the rest of a write that the board is done with: flushes it where the block could not, and copies its ends.
    /// Returns `false` if the board is being restarted.
    fn finish(&self, mut state: MutexGuard<'_, State>) -> bool {
        let Some(closing) = state.flow.begin_finish() else {
            return true;
        };
        if state.given_up {
            (state.flow).end_finish(&closing, Closed::Flushed(Err(Error::Gone)));
            self.wake(&mut state);
            return true;
        }
        drop(state);
        let rest = Rest {
            queue: self,
            closing,
            closed: None,
        };
        rest.carry_out()
    }

    /// Flushes a write.
    fn flush(&self, region: &Region, why: Unproven) -> Result<()> {
        let context = self.device.context();
        let flushed = match why {
            Unproven::BrokenOff => context.flush(region.handle()),
            Unproven::Unread => context.flush_unread(region.handle()),
        };
        (self.now_or_before(flushed)).inspect_err(|_| region.note_unflushed())
    }

    /// Flushes a region by its handle.
    pub(crate) fn flush_region(&self, handle: u32) -> Result<()> {
        self.now_or_before(self.device.context().flush(handle))
    }

    /// Returns the result of a flush. A region that is not registered any more was flushed by its unregistration, which
    /// another thread may not have ended yet.
    fn now_or_before(&self, flushed: Result<()>) -> Result<()> {
        match flushed {
            Err(Error::Call { source, .. }) if source == Errno::NOENT => {
                self.device.shared().wait_for_unregistrations();
                Ok(())
            }
            flushed => flushed,
        }
    }

    /// Copies an end of a write.
    fn place(&self, region: &Region, end: &Scrap) -> Result<()> {
        match self.bounce.get() {
            Some(bounce) => bounce.place(region, end),
            None => Err(Error::Forgotten),
        }
    }

    /// Gives the board the descriptors that it has room for.
    fn pump(&self, state: &mut State) {
        if state.restarting {
            return;
        }
        let State {
            flow, statistics, ..
        } = state;
        flow.pump(&mut Page(self.device.context(), statistics));
    }

    /// Makes threads that wait for another thread look again, and, once the state is unlocked, tasks whose transfers
    /// have ended.
    fn wake(&self, state: &mut State) {
        if state.followers > 0 {
            self.woken.notify_all();
        }
        let State { tasks, flow, .. } = state;
        tasks.ended_due(|id| flow.result(id).is_some());
    }

    /// Makes waiting threads and all tasks look again.
    fn wake_all(&self, state: &mut State) {
        self.wake(state);
        state.tasks.all_due();
    }
}

/// The rest of a write, which a thread does without the lock. Its drop ends it in any case.
struct Rest<'a> {
    queue: &'a Shared,
    closing: Closing<Region>,
    closed: Option<Closed>,
}

impl Rest<'_> {
    /// Does the rest. Returns `false` if the board is being restarted.
    fn carry_out(mut self) -> bool {
        let queue = self.queue;
        let closed = self.closing.carry_out(
            |region, why| queue.flush(region, why),
            |region, end| queue.place(region, end),
        );
        let away = matches!(closed, Closed::Away);
        self.closed = Some(closed);
        !away
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        let panicked = || {
            Closed::Flushed(Err(Error::Broken {
                reason: "the copy of a write's end panicked".into(),
            }))
        };
        let closed = self.closed.take().unwrap_or_else(panicked);
        let mut state = self.queue.lock();
        state.flow.end_finish(&self.closing, closed);
        // Transfers that must come after it.
        self.queue.pump(&mut state);
        self.queue.wake(&mut state);
    }
}

/// Queries the driver's state of the context, and returns its generation. The caller notes the generation: the driver
/// lets the board take doorbells from then on.
pub(crate) fn generation(device: &Device) -> Result<u32> {
    match device.shared().query()? {
        query if query.state & state::GONE != 0 => Err(Error::Gone),
        query => Ok(query.generation),
    }
}

impl State {
    /// Queries the state of the context, which acknowledges its events, and notes it. Returns whether the block was
    /// reset. After a reset the ring starts at its first slot, and doorbells were refused from the reset to this query.
    fn notice(&mut self, device: &Device) -> Result<bool> {
        self.statistics.system_calls += 1;
        let generation = generation(device)?;
        self.admit(device.context(), generation)
    }

    /// Returns whether the block was reset since it had this generation, as another thread may have noticed.
    fn is_new(&mut self, device: &Device, generation: u32) -> Result<bool> {
        Ok(self.generation != generation || self.notice(device)?)
    }

    /// Notes the generation that the driver has reported. Returns whether it is a new one.
    fn admit(&mut self, context: &dyn Context, generation: u32) -> Result<bool> {
        let restarted = generation != self.generation;
        if restarted {
            // The board may be in another restart.
            let slots = match slots(context) {
                0 => self.flow.slots(),
                slots => slots,
            };
            self.flow.renew(slots)?;
            self.generation = generation;
            // The board is there again, and all earlier transfers have ended.
            self.given_up = false;
            // Refused descriptors are lost with the others.
            self.note_refused(context);
            self.refused = None;
        }
        Ok(restarted)
    }

    /// Checks whether doorbells were refused, and clears that note at the board.
    fn note_refused(&mut self, context: &dyn Context) {
        self.looked = context.now();
        if context.take_refused() {
            self.refused.get_or_insert(self.looked);
        }
    }
}

/// Notes the end of a queue, also after a panic: a thread may wait for it.
struct Dropped<'a>(&'a Device, QueueLife);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.0.note_queue(self.1);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_inherited() {
            return;
        }
        let mut dropped = Dropped(&self.device, QueueLife::Stopped);
        let mut state = self.lock();
        if state.flow.under_way() > 0 {
            // Before the regions of transfers under way are unregistered, and their memory is used for another purpose.
            // A board that is gone has no transfers under way.
            let context = self.device.context();
            dropped.1 = QueueLife::Unstopped;
            let stopped = context.stop(Duration::ZERO);
            let is_gone = matches!(stopped, Err(Error::Gone));
            if stopped.is_ok() || is_gone {
                dropped.1 = QueueLife::Stopped;
            }
            // Ends of writes that the board has ended well.
            if !state.given_up {
                let _ = state.flow.drain(&mut Records(context));
                state.flow.finish(
                    |region, why| self.flush(region, why),
                    |region, end| self.place(region, end),
                );
            }
            let mut regions = BTreeMap::new();
            state.flow.each_write(|region| {
                regions.insert(region.handle(), region.clone());
            });
            for region in regions.values() {
                // After an error the driver unregisters the region instead of caching it.
                // A thread that has the region's lock may wait for the queue's.
                if self.flush_region(region.handle()).is_err() {
                    region.note_unflushed();
                }
                if stopped.is_err() {
                    region.do_not_keep();
                }
            }
        }
        // The last rests, too.
        self.unlock(state);
    }
}
