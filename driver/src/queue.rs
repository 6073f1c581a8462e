// SPDX-License-Identifier: GPL-2.0

//! Descriptors that the driver writes for a process, and their results.

use crate::{
    context::{Context, Writer},
    events::{Deadline, Woken},
    fpga_memory::Share,
    gate::Inside,
    logic::{
        att::AttAddress,
        channel::{self, LocalRange},
        descriptor::{Control, Descriptor, Direction, Local},
        ends::Cut,
        orders::{self, Beside, Orders, Standing},
        record::{Record, DWORDS, STATUS},
        ring::Slots,
        steps::Step,
        uapi::{submit, Submit, Wait},
    },
    mapping::Mapping,
    scratch::Scratch,
    trace,
};
use kernel::{
    prelude::*,
    sync::{Arc, MutexGuard},
    time::Delta,
};

/// The driver's own use of a channel.
pub(crate) type Queue = Orders<KVec<Standing>>;

/// A transfer between a region and FPGA memory.
pub(crate) struct Order {
    pub(crate) direction: Direction,
    /// First byte in the region.
    pub(crate) offset: u64,
    /// First byte in FPGA memory.
    pub(crate) local: u64,
    pub(crate) length: u32,
    /// Conditions of its start, and whether it is flushed.
    pub(crate) control: Control,
}

/// The records of a ring in the driver's memory.
struct Records(*mut u32);

impl Slots for Records {
    fn status(&mut self, index: u32) -> u32 {
        // SAFETY: `index` is a slot of the ring, and `STATUS` a dword of it.
        let status = unsafe { self.0.add(index as usize * DWORDS + STATUS).read_volatile() };
        // The rest of the record was written before.
        core::sync::atomic::fence(core::sync::atomic::Ordering::Acquire);
        u32::from_le(status)
    }

    fn record(&mut self, index: u32) -> [u32; DWORDS] {
        // SAFETY: as above.
        core::array::from_fn(|dword| unsafe {
            u32::from_le(self.0.add(index as usize * DWORDS + dword).read_volatile())
        })
    }
}

/// Interval at which a call looks for the end of a descriptor that may make no interrupt.
const LOOK: Delta = Delta::from_millis(10);

fn direction(raw: u32) -> Result<Direction> {
    match raw {
        0 => Ok(Direction::FromFpga),
        1 => Ok(Direction::ToFpga),
        _ => Err(EINVAL),
    }
}

/// Makes a queue in which nothing was submitted yet.
pub(crate) fn new_queue(context: &Context) -> Result<Queue> {
    let slots = context.board.capabilities.queue_depth();
    let side = || KVec::from_elem(Standing::None, orders::look_back(slots), GFP_KERNEL_ACCOUNT);
    let sides = [side()?, side()?];
    Orders::new(slots, context.ring_log2, context.channel, sides).map_err(|_| EINVAL)
}

impl Context {
    /// Whether no descriptor that the driver wrote is in progress.
    pub(crate) fn is_idle(&self, queue: &mut Queue) -> Result<bool> {
        self.collect(queue)?;
        let busy = |direction| queue.outstanding(direction) > 0;
        Ok(!Direction::BOTH.into_iter().any(busy))
    }

    /// Whether each descriptor that the driver wrote has its record, on a channel that was stopped.
    pub(crate) fn has_all_records(&self) -> bool {
        match &mut *self.writer.lock() {
            Writer::Driver(queue) => self.is_idle(queue).unwrap_or(false),
            Writer::Process(_) | Writer::Nobody => true,
        }
    }

    /// Records the descriptors that have ended.
    fn collect(&self, queue: &mut Queue) -> Result {
        let seen = |record: &Record| trace::ended(&self.board, record);
        let collected = self.with_ring(|ring| queue.collect(&mut Records(ring.start()), seen))?;
        collected.map_err(|_| EIO)
    }

    /// Calls `f` with the driver's queue. `EBUSY`: the process writes descriptors itself; `ENOENT`: no descriptor was
    /// written yet.
    fn with_queue<R>(&self, f: impl FnOnce(&mut Queue) -> Result<R>) -> Result<R> {
        match &mut *self.writer.lock() {
            Writer::Driver(queue) => {
                self.collect(queue)?;
                f(queue)
            }
            Writer::Process(_) => Err(EBUSY),
            Writer::Nobody => Err(ENOENT),
        }
    }

    /// Calls `f` with the driver's queue, which is made at its first use. The driver is the channel's writer,
    /// permanently, only if that succeeds: otherwise the process may still be.
    fn with_new_queue<R>(&self, f: impl FnOnce(&mut Queue) -> Result<R>) -> Result<R> {
        let mut writer = self.writer.lock();
        let (result, queue) = match &mut *writer {
            Writer::Driver(queue) => {
                self.collect(queue)?;
                return f(queue);
            }
            Writer::Process(_) => return Err(EBUSY),
            Writer::Nobody => {
                let mut queue = new_queue(self)?;
                (f(&mut queue)?, queue)
            }
        };
        *writer = Writer::Driver(queue);
        Ok(result)
    }

    /// Submits one descriptor to the board, for the caller.
    pub(crate) fn submit(
        &self,
        held: MutexGuard<'_, ()>,
        inside: &Inside<'_>,
        arguments: &mut Submit,
    ) -> Result {
        let known = submit::NO_FLUSH | submit::AFTER_WRITE | submit::AFTER_READ;
        if arguments.flags & !known != 0 {
            return Err(EINVAL);
        }
        let mapping = self.regions.lock().get(arguments.handle)?.mapping().clone();
        let order = Order {
            direction: direction(arguments.direction)?,
            offset: arguments.offset,
            local: arguments.local,
            length: arguments.length,
            control: Control {
                no_flush: arguments.flags & submit::NO_FLUSH != 0,
                after_write: arguments.flags & submit::AFTER_WRITE != 0,
                after_read: arguments.flags & submit::AFTER_READ != 0,
                ..Control::default()
            },
        };
        let cut = self.cut(&mapping, &order)?;
        arguments.cookie = if cut.is_whole() {
            self.order(&held, &mapping, Beside::default(), order)?
        } else {
            // Otherwise it would be held for as long as earlier transfers take.
            drop(held);
            self.submit_with_ends(inside, arguments.handle, &mapping, order, cut)?
        };
        Ok(())
    }

    /// Cuts an order at whole dwords of the bus. `EOPNOTSUPP`: the driver cannot write the ends.
    fn cut(&self, mapping: &Mapping, order: &Order) -> Result<Cut> {
        let Order {
            direction,
            offset,
            local,
            length,
            ..
        } = *order;
        let granularity = match direction {
            Direction::FromFpga => self.board.capabilities.write_granularity,
            Direction::ToFpga => 1,
        };
        let peer = mapping.region(|region| {
            region.check(direction, offset, u64::from(length))?;
            region.place(offset, u64::from(length))
        })?;
        // An ATT page begins with a whole dword.
        let peer = peer.map_err(|_| EINVAL)?.raw();
        let cut = Cut::new(peer, local, length, granularity);
        match cut.is_whole() || !mapping.kind().is_peer() {
            true => Ok(cut),
            false => Err(EOPNOTSUPP),
        }
    }

    /// Submits a write whose ends the driver writes itself. The board writes the dwords of FPGA memory with the ends
    /// into memory of the driver, after all writes that were submitted before. The rest follows, and later
    /// descriptors come after it.
    fn submit_with_ends(
        &self,
        inside: &Inside<'_>,
        handle: u32,
        mapping: &Arc<Mapping>,
        order: Order,
        cut: Cut,
    ) -> Result<u32> {
        /// Bytes of an end's dwords, at most.
        const PLACE: usize = 8;
        let Order { offset, local, length, .. } = order;
        if !self.share.lock().process().contains(local, length.into()) {
            return Err(EINVAL);
        }
        // Nothing is posted before earlier transfers have ended. A signal ends the wait for them, and the call that
        // is made again would post the ends once more. Descriptors of other threads that come in between are waited
        // for below.
        self.end_earlier(Direction::FromFpga)?;
        if order.control.after_read {
            self.end_earlier(Direction::ToFpga)?;
        }
        let scratch = Scratch::new(inside, self)?;
        let control = Control {
            after_write: true,
            after_read: order.control.after_read,
            // Even if the process moderates its interrupts.
            urgent: true,
            ..Control::default()
        };
        let mut done = None;
        for (index, end) in cut.ends.iter().flatten().enumerate() {
            let part = Order {
                direction: Direction::FromFpga,
                offset: (index * PLACE) as u64,
                local: end.local,
                length: end.length,
                control,
            };
            let cookie = self.order(&self.submission.lock(), scratch.mapping(), Beside::default(), part)?;
            let record = self.end(Direction::FromFpga, cookie, Deadline::NEVER)?;
            if record.outcome.is_err() {
                self.amend(cookie, 0)?;
                return Ok(cookie);
            }
            done = Some(cookie);
        }
        {
            let regions = self.regions.lock();
            let region = regions.get(handle)?;
            if !Arc::ptr_eq(region.mapping(), mapping) {
                return Err(ENOENT);
            }
            for (index, end) in cut.ends.iter().flatten().enumerate() {
                let bytes: [u8; PLACE] = scratch.read(index * PLACE);
                let (skip, count) = (end.skip as usize, end.bytes as usize);
                let bytes = bytes.get(skip..skip + count).ok_or(EINVAL)?;
                region.store(offset + u64::from(end.at), bytes)?;
            }
        }
        let (at, bytes) = cut.rest;
        match done {
            Some(cookie) if bytes == 0 => {
                self.amend(cookie, length)?;
                Ok(cookie)
            }
            _ => {
                let rest = Order {
                    offset: offset + u64::from(at),
                    local: local + u64::from(at),
                    length: bytes,
                    ..order
                };
                let beside = Beside {
                    before: at,
                    behind: length - bytes - at,
                };
                self.order(&self.submission.lock(), mapping, beside, rest)
            }
        }
    }

    fn amend(&self, cookie: u32, bytes_done: u32) -> Result {
        self.with_queue(|queue| {
            queue.amend(Direction::FromFpga, cookie, bytes_done);
            Ok(())
        })
    }

    /// Submits one descriptor for a region to the board; `beside` has the bytes that were moved in addition. It ends
    /// with a record and an interrupt. The lock that is held is [`Context::submission`]: a channel that is being
    /// stopped refuses doorbells.
    ///
    /// The region keeps its entries until the doorbell is rung. A caller that then takes the entries finds the
    /// descriptor in the channel's queue, and does not give them to another region while it is there.
    pub(crate) fn order(
        &self,
        held: &MutexGuard<'_, ()>,
        mapping: &Mapping,
        beside: Beside,
        order: Order,
    ) -> Result<u32> {
        let Order {
            direction,
            offset,
            length,
            ..
        } = order;
        self.post(held, beside, order, Share::process, |hand_over| {
            mapping.region(|region| {
                let checked = region.check(direction, offset, u64::from(length));
                let peer = checked.and_then(|()| region.place(offset, u64::from(length)));
                hand_over(peer.map_err(|_| EINVAL)?)
            })?
        })
    }

    /// Submits one descriptor to the board, for a part of the context's FPGA memory that `allowed` returns. It ends
    /// with a record and an interrupt. `peer` calls its argument with the address of the order's first byte, and
    /// holds a lock that keeps this address valid.
    pub(crate) fn post(
        &self,
        _: &MutexGuard<'_, ()>,
        beside: Beside,
        order: Order,
        allowed: impl FnOnce(&Share) -> LocalRange,
        peer: impl FnOnce(&mut dyn FnMut(AttAddress) -> Result<u32>) -> Result<u32>,
    ) -> Result<u32> {
        let Order {
            direction,
            local,
            length,
            control,
            ..
        } = order;
        self.with_new_queue(|queue| {
            // The context's memory does not change under this lock. Memory that the context has freed may already
            // belong to another one.
            let allowed = allowed(&self.share.lock());
            if length == 0 || !allowed.contains(local, u64::from(length)) {
                return Err(EINVAL);
            }
            peer(&mut |peer| {
                let mut descriptor = Descriptor {
                    peer,
                    local: Local::Memory(local),
                    length,
                    control: Control {
                        record: true,
                        interrupt: true,
                        ..control
                    },
                    cookie: 0,
                };
                // A descriptor that cannot be encoded takes no ticket.
                descriptor.validate().map_err(|_| EINVAL)?;
                let submitted = queue.submit(direction, beside, |ticket| {
                    descriptor.cookie = ticket.cookie;
                    let dwords = descriptor.encode().map_err(|_| EINVAL)?;
                    let doorbell = ring_doorbell(self.channel, direction, &dwords, ticket.freed);
                    self.board.hw.ring(doorbell).map_err(Error::from)
                })?;
                submitted.ok_or(EAGAIN)
            })
        })
    }

    /// Returns how a descriptor has ended, if it has.
    fn outcome(&self, direction: Direction, cookie: u32) -> Result<Option<Record>> {
        self.with_queue(|queue| match queue.standing(direction, cookie) {
            Standing::Ended(record) => Ok(Some(record)),
            Standing::Pending { .. } => Ok(None),
            Standing::None => Err(ENOENT),
        })
    }

    /// Waits for a descriptor, for the caller.
    pub(crate) fn wait(&self, arguments: &mut Wait) -> Result {
        let direction = direction(arguments.direction)?;
        let deadline = Deadline::from_user(arguments.deadline_ns)?;
        // After a signal the kernel makes the same call again, with the rest of the time.
        let record = self.end(direction, arguments.cookie, deadline)?;
        arguments.status = record.outcome.err().map_or(0, |fault| fault.code().raw());
        arguments.bytes_done = record.bytes_done;
        arguments.fault_address = record.fault_address.map_or(0, |address| address.raw());
        Ok(())
    }

    /// Waits for the end of a descriptor, outside of the gate except for its looks. The last look is after the
    /// deadline: interrupts may be moderated, and then nothing wakes the thread that waits.
    pub(crate) fn end(
        &self,
        direction: Direction,
        cookie: u32,
        deadline: Deadline,
    ) -> Result<Record> {
        let mut late = false;
        loop {
            let seen = self.events.seen();
            let inside = self.board.gate.enter()?;
            let record = self.outcome(direction, cookie)?;
            drop(inside);
            if let Some(record) = record {
                return Ok(record);
            }
            if seen.gone {
                return Err(ENODEV);
            }
            if late {
                return Err(ETIME);
            }
            match self.events.wait(seen.events, deadline) {
                Woken::Event => {}
                Woken::Late => late = true,
                Woken::Signal => return Err(ERESTARTSYS),
            }
        }
    }

    /// Waits until the descriptors of a direction have ended that were submitted before this call. It polls, too,
    /// because moderation may hold their interrupts back for ever.
    fn end_earlier(&self, direction: Direction) -> Result {
        let newest = self.with_queue(|queue| queue.newest(direction).ok_or(ENOENT));
        let ended = newest.and_then(|cookie| loop {
            match self.end(direction, cookie, Deadline::after(LOOK)) {
                Err(error) if error == ETIME => {}
                ended => break ended.map(drop),
            }
        });
        match ended {
            // No descriptor was in progress, or later ones have taken its place in the account since.
            Err(error) if error == ENOENT => Ok(()),
            ended => ended,
        }
    }

    /// Returns the numbers of descriptors in progress, writes and reads; those that a process writes itself are not
    /// known.
    pub(crate) fn outstanding(&self) -> [u32; 2] {
        let busy =
            |queue: &mut Queue| Ok(Direction::BOTH.map(|direction| queue.outstanding(direction)));
        self.with_queue(busy).unwrap_or([0; 2])
    }
}

/// Returns the accesses that submit a descriptor, and release the slots of the ring that are `freed`.
fn ring_doorbell(
    number: u32,
    direction: Direction,
    dwords: &[u32],
    freed: u16,
) -> impl Iterator<Item = Step> + use<'_> {
    let (slot, doorbell) = channel::entrance(direction);
    let write = move |(index, dword): (usize, &u32)| {
        Step::Write(channel::page(number, slot + 4 * index), *dword)
    };
    let ring = Step::Write(channel::page(number, doorbell), freed.into());
    Iterator::chain(dwords.iter().enumerate().map(write), [ring])
}
