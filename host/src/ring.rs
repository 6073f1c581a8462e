//! Rings: slots of memory that the block fills by itself with the words of the FPGA's logic.
//!
//! The block's queue keeps its descriptors. So the library writes them once, with the slots' addresses by turns, and a
//! doorbell without a descriptor returns a slot to the block (`docs/explain/block.md`, "Rings").

use crate::device::{ChannelUser, Device};
use crate::error::{Error, Result};
use crate::flow::broken;
use crate::queue::{LOOK, Records, generation, is_unused};
use crate::region::{HeldRegion, Region};
use crate::sys::{Argument, Process};
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local};
use peerlane_core::fault::Fault;
use peerlane_core::record::Record;
use peerlane_core::regs::csr;
use peerlane_core::ring::{self, RingError};
use peerlane_core::streams::{Counts, Header, Status, Stream};
use peerlane_core::uapi::{self, feature, stream};
use rustix::io::Errno;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest time until a stream is open, in the board's time: far more than the cycles of two clocks that it takes.
const OPENS: Duration = Duration::from_millis(2);

/// The longest time for which the descriptors of a closed stream are in progress.
const FILLED: Duration = Duration::from_secs(1);

/// Bytes of which slots are multiples (`docs/explain/block.md`, "From the logic": requests of streams).
const UNIT: u64 = 64;

/// The direction of a stream from the logic.
const WAY: Direction = Direction::FromFpga;

/// Memory of a ring: slots of the same size, one after the other.
#[derive(Debug, Clone)]
pub struct Slots {
    /// Region with the slots.
    pub region: Region,
    /// First byte of the first slot, in the region.
    pub offset: u64,
    /// Bytes of a slot, a multiple of 64. A block has as many at most.
    pub bytes: u32,
    /// Number of slots: a power of two, at least 2 and at most the descriptors that a queue has.
    pub count: u32,
}

impl Slots {
    /// Returns the offset of a slot in the region.
    fn place(&self, slot: u32) -> u64 {
        self.offset + u64::from(slot) * u64::from(self.bytes)
    }

    fn check(&self, device: &Device, depth: u32, stream: Stream) -> Result<()> {
        let refused = |reason| Err(Error::Course { reason });
        let Self { count, bytes, .. } = *self;
        if count < 2 || !count.is_power_of_two() || count > depth {
            return refused(
                "the number of slots is not a power of two from 2 to the depth of the queue",
            );
        }
        if bytes == 0 || !u64::from(bytes).is_multiple_of(UNIT) {
            return refused("a slot is not a multiple of 64 bytes");
        }
        self.region.check_device(device)?;
        let all = u64::from(count) * u64::from(bytes);
        self.region.check(WAY, self.offset, all)?;
        // All errors are found before the channel is used.
        for slot in 0..count {
            self.descriptor(stream, slot, slot)?;
        }
        Ok(())
    }

    /// Returns the descriptor of a slot.
    fn descriptor(&self, stream: Stream, slot: u32, cookie: u32) -> Result<Descriptor> {
        let peer = self.region.place(self.place(slot), self.bytes.into())?;
        if !peer.page_offset().is_multiple_of(UNIT) {
            return Err(Error::Course {
                reason: "the slots do not begin at a multiple of 64 bytes",
            });
        }
        Ok(Descriptor {
            peer,
            local: Local::Stream(stream.number),
            length: self.bytes,
            control: Control {
                record: true,
                interrupt: true,
                ..Control::default()
            },
            cookie,
        })
    }
}

/// A ring that a stream of the FPGA's logic fills: each slot gets a block, in turn, and comes back to the block when the
/// program has dropped its [`Block`].
///
/// A block of a stream ends when its slot is full, with a packet of the logic, by the time limit, or in front of a gap.
/// While the program has all slots the stream waits. Then the logic waits, or a lossy stream counts its lost words
/// ([`Block::lost`]).
///
/// When the ring and all its blocks are dropped, the stream is closed and free, and nothing is written to the slots any
/// more. The device's channel belongs to the ring for the device's life: open a device for each ring.
///
/// ```no_run
/// # use peerlane_host::{Device, MemoryKind, Permissions, Result, Slots};
/// # use std::time::Duration;
/// # fn process(offset: u64, bytes: u32) {}
/// # fn take(device: &Device) -> Result<()> {
/// // 8 slots of 64 KiB for the first stream of the board.
/// let memory = device.memory(MemoryKind::Host, 8 << 16)?;
/// // A slot lies in pages of one size.
/// let region = device.one_page_size().register_all(&memory, Permissions::ReadWrite)?;
/// let slots = Slots { region, offset: 0, bytes: 1 << 16, count: 8 };
/// let mut ring = device.ring(0, slots, 0)?;
/// loop {
///     let block = ring.next(Duration::from_secs(1))?;
///     process(block.offset(), block.bytes());
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Ring(Arc<Inner>);

/// A block of a stream, in its slot. The slot returns to the board when this is dropped, from any thread and in any order.
/// The board gets slots in their order, so a block that is kept holds back the slots after it.
#[derive(Debug)]
#[must_use = "its slot returns to the board when it is dropped"]
pub struct Block {
    ring: Arc<Inner>,
    slot: u32,
    bytes: u32,
    header: Header,
}

#[derive(Debug)]
struct Inner {
    device: Device,
    owner: Process,
    stream: Stream,
    slots: Slots,
    /// The queue names the region's entries for as long as the channel lives: no other region may have them.
    _held: HeldRegion,
    /// The number of restarts of the channel when the ring was made.
    generation: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    records: ring::Ring,
    /// Time of the last look for changes that bring no record.
    looked: Duration,
    /// Slots of the completion ring that no doorbell has reported as free.
    freed: u16,
    /// The slot whose record is next.
    next: u32,
    /// The oldest slot that the block does not have.
    oldest: u32,
    /// Slots that the program has released, by their numbers.
    released: Vec<bool>,
    /// The error that ended the ring. Later calls return it again.
    failed: Option<Error>,
}

impl Device {
    /// Returns the numbers of the board's streams between the FPGA's logic and peers.
    pub fn streams(&self) -> Counts {
        self.capabilities().streams
    }

    /// Makes a ring of a stream from the logic, and opens the stream. `limit` is the longest time of a block from its
    /// first word on, in units of 256 cycles of the PCIe clock (1 µs at 250 MHz); 0: no limit.
    ///
    /// # Errors
    /// [`Error::Course`] for slots that are not possible; [`Error::Region`] for a slot that one descriptor cannot name;
    /// [`Error::Taken`] if the device's channel is, or was, in use; [`Error::Call`] with `EINVAL` for a stream that the
    /// board does not have, `EBUSY` for one of another program, `EOPNOTSUPP` where board or driver have no streams;
    /// [`Error::NotReady`] if the clock of the stream stands still.
    pub fn ring(&self, stream: u32, slots: Slots, limit: u16) -> Result<Ring> {
        Ring::new(self, stream, slots, limit)
    }
}

impl Ring {
    fn new(device: &Device, number: u32, slots: Slots, limit: u16) -> Result<Self> {
        if !device.has(feature::STREAMS) {
            return Err(Error::call(uapi::Stream::NAME, Errno::OPNOTSUPP));
        }
        let context = device.context();
        let info = context.info();
        let depth = device.capabilities().queue_depth();
        let direction = WAY;
        let stream = Stream { direction, number };
        slots.check(device, depth, stream)?;
        let mut place = device.0.user_place();
        if place.is_some() {
            return Err(Error::Taken);
        }
        context.open_channel()?;
        if !is_unused(context, depth) {
            return Err(Error::Taken);
        }
        let inner = Inner {
            generation: generation(device)?,
            device: device.clone(),
            owner: Process::current(),
            state: Mutex::new(State {
                records: ring::Ring::new(info.ring_log2, info.channel)?,
                looked: context.now(),
                freed: 0,
                next: 0,
                oldest: 0,
                released: vec![false; slots.count as usize],
                failed: None,
            }),
            stream,
            _held: slots.region.hold()?,
            slots,
        };
        // Fails before the channel is used if another program has the stream.
        inner.call(stream::OPEN, limit)?;
        *place = Some(ChannelUser::Ring);
        drop(place);
        inner.call(stream::CLOSE, 0)?;
        inner.fill(depth)?;
        inner.call(stream::OPEN, limit)?;
        inner.await_open()?;
        {
            let mut state = inner.lock();
            for _ in 0..inner.slots.count {
                inner.ring_again(&mut state);
            }
        }
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the next block, when it is there. `None` as the limit: waits for ever. Times are the board's.
    ///
    /// # Errors
    /// [`Error::Timeout`]: not yet, call it again. [`Error::Fault`]: the board could not write a block, and its words are
    /// lost; its slot has returned to the board, and the ring goes on. Others end the ring: [`Error::Restarted`] after a
    /// restart of the board, [`Error::Stopped`] after a [`Device::stop`], [`Error::Gone`]. [`Error::Inherited`] in the
    /// child of a fork.
    pub fn next(&mut self, limit: impl Into<Option<Duration>>) -> Result<Block> {
        let limit = limit.into();
        let begin = self.0.device.now();
        loop {
            if let Some(block) = self.poll()? {
                return Ok(block);
            }
            let context = self.0.device.context();
            let waited = context.now().saturating_sub(begin);
            let left = limit.map_or(LOOK, |limit| limit.saturating_sub(waited));
            if left.is_zero() {
                return Err(self.0.late(waited));
            }
            context.await_event(Some(left.min(LOOK)))?;
            self.0.acknowledge()?;
        }
    }

    /// Returns the next block, if it is there. Once a second it looks for changes that bring no block, such as a restart
    /// of the board.
    ///
    /// # Errors
    /// As [`next`](Self::next), except that nothing is waited for.
    pub fn poll(&mut self) -> Result<Option<Block>> {
        let inner = &self.0;
        inner.check_owner()?;
        let (slot, record) = {
            let mut state = inner.lock();
            match inner.take(&mut state)? {
                Some(taken) => taken,
                None if state.looked.saturating_add(LOOK) > inner.device.now() => return Ok(None),
                None => {
                    drop(state);
                    inner.acknowledge()?;
                    return Ok(None);
                }
            }
        };
        let block = Block {
            ring: Arc::clone(inner),
            slot,
            bytes: record.bytes_done,
            header: Header::new(record.header),
        };
        match record.outcome {
            Ok(()) => {
                if !inner.slots.region.is_readable() {
                    // The board cannot read after its writes, so the driver proves that they have arrived.
                    let handle = inner.slots.region.handle();
                    inner.device.context().flush_unread(handle)?;
                }
                Ok(Some(block))
            }
            // The drop of the block returns its slot.
            Err(fault) => Err(inner.fault(fault, slot, record.bytes_done)),
        }
    }

    /// Returns the state of the stream.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn state(&self) -> Result<Status> {
        self.0.call(0, 0)
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }
}

impl Block {
    /// Returns the offset of its first byte in the region.
    pub fn offset(&self) -> u64 {
        self.ring.slots.place(self.slot)
    }

    /// Returns its number of bytes, at least 1. The bytes after them, up to the next multiple of 64, have any value.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the region with its slot.
    pub fn region(&self) -> &Region {
        &self.ring.slots.region
    }

    /// Returns the time at which it began, in cycles of the PCIe clock since the block's reset, modulo 2^48.
    pub fn began(&self) -> u64 {
        self.header.began
    }

    /// Returns the number of words that the logic offered, and the block could not take, between the block before and
    /// this one. [`MOST_LOST`](peerlane_core::streams::MOST_LOST): so many or more.
    pub fn lost(&self) -> u16 {
        self.header.lost
    }

    /// Returns whether a packet of the logic ends with it.
    pub fn ends_packet(&self) -> bool {
        self.header.ends_packet
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.ring.release(self.slot);
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_owner(&self) -> Result<()> {
        match self.owner == Process::current() {
            true => Ok(()),
            false => Err(Error::Inherited),
        }
    }

    /// Returns the error of a block that has not come in time.
    fn late(&self, waited: Duration) -> Error {
        Error::Timeout {
            direction: WAY,
            bytes_done: 0,
            length: self.slots.bytes.into(),
            waited,
        }
    }

    /// Returns the error of a block that could not be written.
    fn fault(&self, fault: Fault, slot: u32, bytes_done: u32) -> Error {
        Error::Fault {
            direction: WAY,
            fault,
            bytes_done: bytes_done.into(),
            length: self.slots.bytes.into(),
            offset: Some(self.slots.place(slot)),
        }
    }

    /// Calls the driver for the stream, and returns the stream's state.
    fn call(&self, flags: u32, limit: u16) -> Result<Status> {
        let mut call = uapi::Stream {
            number: self.stream.number,
            flags,
            limit: limit.into(),
            ..Default::default()
        };
        self.device.context().stream(&mut call)?;
        Ok(Status::reported(&call))
    }

    /// Writes the descriptors of all slots, by turns, into the queue. They end at once, because the stream is closed.
    fn fill(&self, depth: u32) -> Result<()> {
        let context = self.device.context();
        for cookie in 0..depth {
            let slot = cookie % self.slots.count;
            let descriptor = self.slots.descriptor(self.stream, slot, cookie)?;
            let dwords = descriptor.encode().map_err(broken)?;
            // Their records have all slots of the completion ring to themselves.
            context.post(WAY, &dwords, 0);
        }
        let begin = context.now();
        for _ in 0..depth {
            let record = loop {
                let mut state = self.lock();
                match state.records.poll(&mut Records(context)) {
                    Ok(Some(record)) => break record,
                    Err(error) => return Err(self.fail(&mut state, broken(error))),
                    Ok(None) if context.now().saturating_sub(begin) >= FILLED => {
                        drop(state);
                        self.acknowledge()?;
                        return Err(self.late(FILLED));
                    }
                    Ok(None) => {}
                }
                drop(state);
                context.pause();
            };
            self.lock().freed += 1;
            match record.outcome {
                Err(Fault::LocalRange) => {}
                Err(fault) => return Err(self.fault(fault, record.cookie % self.slots.count, 0)),
                Ok(()) => return Err(broken("a closed stream has moved words")),
            }
        }
        Ok(())
    }

    fn await_open(&self) -> Result<()> {
        let context = self.device.context();
        let begin = context.now();
        loop {
            if self.call(0, 0)?.open {
                return Ok(());
            }
            let waited = context.now().saturating_sub(begin);
            if waited >= OPENS {
                return Err(Error::NotReady {
                    what: "opened the stream, whose clock may stand still",
                    waited,
                    register: csr::STREAM_STATUS,
                    value: 0,
                });
            }
            context.pause();
        }
    }

    /// Returns the oldest slot of those that the program has to the block.
    fn ring_again(&self, state: &mut State) {
        let freed = std::mem::take(&mut state.freed);
        self.device.context().ring_again(WAY, freed);
    }

    /// Takes the next record. Returns it with its slot.
    fn take(&self, state: &mut State) -> Result<Option<(u32, Record)>> {
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let taken = state.records.poll(&mut Records(self.device.context()));
        let slot = state.next;
        let record = match taken {
            Ok(None) => return Ok(None),
            Ok(Some(record)) => record,
            // A restart of the board empties the ring.
            Err(RingError::Emptied { .. }) => return Err(self.fail(state, Error::Restarted)),
            Err(error) => return Err(self.fail(state, broken(error))),
        };
        if record.direction != WAY || record.cookie % self.slots.count != slot {
            let reason = format!("the record of slot {slot} was next, not {record:?}");
            return Err(self.fail(state, broken(reason)));
        }
        match record.outcome {
            Ok(()) if record.bytes_done == 0 || record.bytes_done > self.slots.bytes => {
                let reason = format!("a block of {} bytes", record.bytes_done);
                return Err(self.fail(state, broken(reason)));
            }
            // Doorbells were refused while the channel was being stopped, so slots are lost.
            Err(Fault::Aborted) => return Err(self.fail(state, Error::Stopped)),
            _ => {}
        }
        state.freed += 1;
        state.next = (slot + 1) % self.slots.count;
        Ok(Some((slot, record)))
    }

    /// Asks the driver for the state of the context. Returns the error after which the ring gets no more blocks.
    fn ended(&self) -> Option<Error> {
        match generation(&self.device) {
            Ok(generation) if generation == self.generation => None,
            Ok(_) => Some(Error::Restarted),
            Err(error) => Some(error),
        }
    }

    /// Ends the ring. A restart of the board and its end also explain other errors.
    fn fail(&self, state: &mut State, error: Error) -> Error {
        let error = self.ended().unwrap_or(error);
        state.failed = Some(error.clone());
        error
    }

    /// Acknowledges the events of the context. Fails if the board was restarted, or the channel was stopped.
    fn acknowledge(&self) -> Result<()> {
        let context = self.device.context();
        // Before the look at the generation: a restart refuses doorbells, too.
        let refused = context.take_refused();
        let ended = self.ended().or(refused.then_some(Error::Stopped));
        let mut state = self.lock();
        state.looked = context.now();
        state.failed = ended.or(state.failed.take());
        state.failed.clone().map_or(Ok(()), Err)
    }

    /// Takes a slot back from the program. The board gets the slots in their order.
    fn release(&self, slot: u32) {
        if self.check_owner().is_err() {
            return;
        }
        let mut state = self.lock();
        state.released[slot as usize] = true;
        loop {
            let oldest = state.oldest;
            if !std::mem::take(&mut state.released[oldest as usize]) {
                break;
            }
            state.oldest = (oldest + 1) % self.slots.count;
            if state.failed.is_none() {
                self.ring_again(&mut state);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.check_owner().is_ok() {
            // The driver does both when the device is closed, too. Descriptors of a closed stream end by themselves.
            let _ = self.call(stream::CLOSE, 0);
            let region = &self.slots.region;
            if self.device.context().stop(Duration::ZERO).is_err() {
                region.do_not_keep();
            }
            // Words of a block that was aborted may be on their way to a GPU. The region notes an error.
            let _ = region.flush();
        }
    }
}
