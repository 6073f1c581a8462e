// SPDX-License-Identifier: GPL-2.0

//! Descriptors that the driver writes for a process, and what became of them.

use crate::{
    board::Board,
    context::{Context, Writer},
    events::{Deadline, Woken},
    fpga_memory::Share,
    logic::{
        channel::{self, LocalRange},
        descriptor::{Control, Descriptor, Direction},
        fault::Fault,
        queue::Occupancy,
        record::{Record, DWORDS, STATUS},
        regs::chan,
        ring::{Ring, Slots},
        steps::Step,
        uapi::{submit, Submit, Wait},
    },
    mapping::Mapping,
    trace,
};
use kernel::{prelude::*, sync::MutexGuard};

/// How a descriptor stands.
#[derive(Clone, Copy)]
enum Place {
    Free,
    Pending(u32),
    Ended(Record),
}

/// One direction of a queue.
struct Side {
    /// By cookie, as many as a process may look back.
    places: KVec<Place>,
    last: Option<u32>,
}

impl Side {
    fn new(length: usize) -> Result<Self> {
        Ok(Self {
            places: KVec::from_elem(Place::Free, length, GFP_KERNEL_ACCOUNT)?,
            last: None,
        })
    }

    fn place(&mut self, cookie: u32) -> &mut Place {
        // Their number is a power of two.
        let index = cookie as usize & (self.places.len() - 1);
        &mut self.places[index]
    }
}

/// The driver's own use of a channel.
pub(crate) struct Queue {
    channel: u32,
    occupancy: Occupancy,
    ring: Ring,
    sides: [Side; 2],
}

/// What a descriptor is to do with a region.
pub(crate) struct Order {
    pub(crate) direction: Direction,
    /// First byte in the region.
    pub(crate) offset: u64,
    /// First byte in FPGA memory.
    pub(crate) local: u64,
    pub(crate) length: u32,
    /// When it starts, and whether it is flushed.
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

fn index(direction: Direction) -> usize {
    match direction {
        Direction::Write => 0,
        Direction::Read => 1,
    }
}

fn direction(raw: u32) -> Result<Direction> {
    match raw {
        0 => Ok(Direction::Write),
        1 => Ok(Direction::Read),
        _ => Err(EINVAL),
    }
}

impl Queue {
    /// A queue with nothing in it.
    pub(crate) fn new(context: &Context) -> Result<Self> {
        let slots = context.board.capabilities.queue_depth();
        let occupancy = Occupancy::new(slots, 1 << context.ring_log2).map_err(|_| EINVAL)?;
        let ring = Ring::new(context.ring_log2, context.channel).map_err(|_| EINVAL)?;
        // Those that are under way, and as many that have ended.
        let look_back = (2 * slots as usize).next_power_of_two();
        Ok(Self {
            channel: context.channel,
            occupancy,
            ring,
            sides: [Side::new(look_back)?, Side::new(look_back)?],
        })
    }

    /// The ring starts again at its first slot; what was under way is lost.
    pub(crate) fn restart(&mut self) {
        if let Ok(ring) = Ring::new(self.ring.size_log2(), self.channel) {
            self.ring = ring;
        }
        for direction in Direction::BOTH {
            let side = &mut self.sides[index(direction)];
            let Some(last) = side.last else { continue };
            for place in &mut side.places {
                if let Place::Pending(cookie) = *place {
                    *place = Place::Ended(Record {
                        cookie,
                        direction,
                        channel: self.channel,
                        phase: false,
                        outcome: Err(Fault::Aborted),
                        bytes_done: 0,
                        sequence: 0,
                        fault_address: None,
                    });
                }
            }
            // Nothing may have been under way.
            let _ = self.occupancy.complete(direction, last);
        }
    }

    /// Takes note of what has ended.
    fn collect(&mut self, board: &Board, records: *mut u32) -> Result {
        let mut records = Records(records);
        while let Some(record) = self.ring.poll(&mut records).map_err(|_| EIO)? {
            let ended = self.occupancy.complete(record.direction, record.cookie);
            ended.map_err(|_| EIO)?;
            trace::ended(board, &record);
            let side = &mut self.sides[index(record.direction)];
            *side.place(record.cookie) = Place::Ended(record);
        }
        Ok(())
    }
}

impl Context {
    /// Whether nothing that the driver wrote is under way.
    pub(crate) fn is_idle(&self, queue: &mut Queue) -> Result<bool> {
        self.with_ring(|ring| queue.collect(&self.board, ring.start()))??;
        let busy = |direction| queue.occupancy.outstanding(direction) > 0;
        Ok(!Direction::BOTH.into_iter().any(busy))
    }

    /// Runs with the driver's queue, which is made at its first use. A process that writes
    /// descriptors itself has none.
    fn with_queue<R>(&self, f: impl FnOnce(&mut Queue) -> Result<R>) -> Result<R> {
        let mut writer = self.writer.lock();
        if let Writer::Nobody = *writer {
            *writer = Writer::Driver(Queue::new(self)?);
        }
        match &mut *writer {
            Writer::Driver(queue) => {
                self.with_ring(|ring| queue.collect(&self.board, ring.start()))??;
                f(queue)
            }
            Writer::Nobody | Writer::Process(_) => Err(EBUSY),
        }
    }

    /// Hands one descriptor to the board, for the caller.
    pub(crate) fn submit(&self, held: &MutexGuard<'_, ()>, arguments: &mut Submit) -> Result {
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
        arguments.cookie = self.order(held, &mapping, order)?;
        Ok(())
    }

    /// Hands one descriptor for a region to the board. It ends with a record and an interrupt. The
    /// lock that is held is [`Context::submission`]: a channel that is being stopped refuses
    /// doorbells.
    pub(crate) fn order(
        &self,
        held: &MutexGuard<'_, ()>,
        mapping: &Mapping,
        order: Order,
    ) -> Result<u32> {
        let Order {
            direction,
            offset,
            local,
            length,
            control,
        } = order;
        let peer = mapping.region(|region| {
            region.check(direction, offset, u64::from(length))?;
            region.att_address(offset)
        })?;
        let descriptor = Descriptor {
            peer: peer.map_err(|_| EINVAL)?,
            local,
            length,
            control,
            cookie: 0,
        };
        self.post(held, direction, descriptor, Share::process)
    }

    /// Hands one descriptor to the board, for FPGA memory that `allowed` makes of the context's. It
    /// ends with a record and an interrupt.
    pub(crate) fn post(
        &self,
        _: &MutexGuard<'_, ()>,
        direction: Direction,
        mut descriptor: Descriptor,
        allowed: impl FnOnce(&Share) -> LocalRange,
    ) -> Result<u32> {
        descriptor.control.record = true;
        descriptor.control.interrupt = true;
        self.with_queue(|queue| {
            // The context's memory does not change under this lock: the one that it gave back may
            // be another's when it has it again.
            let allowed = allowed(&self.share.lock());
            let Descriptor { local, length, .. } = descriptor;
            if length == 0 || !allowed.contains(local, u64::from(length)) {
                return Err(EINVAL);
            }
            // What does not encode takes no ticket.
            descriptor.validate().map_err(|_| EINVAL)?;
            let ticket = queue.occupancy.submit(direction, 0).ok_or(EAGAIN)?;
            descriptor.cookie = ticket.cookie;
            let dwords = descriptor.encode().map_err(|_| EINVAL)?;
            let side = &mut queue.sides[index(direction)];
            *side.place(ticket.cookie) = Place::Pending(ticket.cookie);
            side.last = Some(ticket.cookie);
            self.board.hw.run(ring_doorbell(
                self.channel,
                direction,
                &dwords,
                ticket.freed,
            ))?;
            Ok(ticket.cookie)
        })
    }

    /// How a descriptor has ended, if it has.
    fn outcome(&self, direction: Direction, cookie: u32) -> Result<Option<Record>> {
        self.with_queue(|queue| match *queue.sides[index(direction)].place(cookie) {
            Place::Ended(record) if record.cookie == cookie => Ok(Some(record)),
            Place::Pending(pending) if pending == cookie => Ok(None),
            _ => Err(ENOENT),
        })
    }

    /// Waits for a descriptor, for the caller.
    pub(crate) fn wait(&self, arguments: &mut Wait) -> Result {
        let direction = direction(arguments.direction)?;
        let deadline = Deadline::from_user(arguments.deadline_ns)?;
        // After a signal the kernel makes the same call again, with what is left of the time.
        let record = self.end(direction, arguments.cookie, deadline)?;
        arguments.status = record.outcome.err().map_or(0, |fault| fault.code().raw());
        arguments.bytes_done = record.bytes_done;
        arguments.fault_address = record.fault_address.map_or(0, |address| address.raw());
        Ok(())
    }

    /// Waits for the end of a descriptor, outside of the gate but for its looks.
    pub(crate) fn end(
        &self,
        direction: Direction,
        cookie: u32,
        deadline: Deadline,
    ) -> Result<Record> {
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
            match self.events.wait(seen.events, deadline) {
                Woken::Event => {}
                Woken::Late => return Err(ETIME),
                Woken::Signal => return Err(ERESTARTSYS),
            }
        }
    }

    /// Descriptors under way, writes and reads; none are known of a process's own.
    pub(crate) fn outstanding(&self) -> [u32; 2] {
        let busy = |queue: &mut Queue| {
            Ok(Direction::BOTH.map(|direction| queue.occupancy.outstanding(direction)))
        };
        match &*self.writer.lock() {
            Writer::Driver(_) => {}
            Writer::Nobody | Writer::Process(_) => return [0; 2],
        }
        self.with_queue(busy).unwrap_or([0; 2])
    }
}

/// The accesses that hand a descriptor over, and with it the slots of the ring that are `freed`.
fn ring_doorbell(
    number: u32,
    direction: Direction,
    dwords: &[u32],
    freed: u16,
) -> impl Iterator<Item = Step> + use<'_> {
    let (slot, doorbell) = match direction {
        Direction::Write => (chan::WRITE_DESC, chan::WRITE_DOORBELL),
        Direction::Read => (chan::READ_DESC, chan::READ_DOORBELL),
    };
    let write = move |(index, dword): (usize, &u32)| {
        Step::Write(channel::page(number, slot + 4 * index), *dword)
    };
    let ring = Step::Write(channel::page(number, doorbell), freed.into());
    Iterator::chain(dwords.iter().enumerate().map(write), [ring])
}
