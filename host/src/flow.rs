//! The account of a channel's transfers: pieces onto the channel, records back. It knows no driver:
//! doorbells and ring come in as traits.
//!
//! Once as many transfers were under way together as will ever be, it allocates no more.

use crate::error::{Error, Result};
use crate::transfer::Terms;
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::{Control, DWORDS, Descriptor, Direction, Pieces};
use peerlane_core::fault::Fault;
use peerlane_core::queue::{Occupancy, QueueError};
use peerlane_core::record::Record;
use peerlane_core::ring::{Ring, RingError, Slots};
use std::collections::VecDeque;

/// Where descriptors go.
pub(crate) trait Post {
    /// Writes a descriptor into the channel's page, and rings the doorbell, which says how many slots of
    /// the ring are free again.
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16);
}

/// What must live as long as the board works on a transfer.
pub(crate) trait Keep {
    /// Whether the board still has it. Descriptors of what it has not could reach something else. It
    /// changes between two descriptors only, and is found without a lock.
    fn stands(&self) -> bool;
}

/// A transfer to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    pub(crate) direction: Direction,
    /// Where in the peer's memory.
    pub(crate) peer: AttAddress,
    /// First byte in FPGA memory.
    pub(crate) local: u64,
    /// Bytes, at least 1.
    pub(crate) length: u64,
    /// Bytes that one descriptor moves at most.
    pub(crate) piece: u32,
    pub(crate) terms: Terms,
    /// The board may not read the memory, so it cannot make sure that a write has arrived.
    pub(crate) unreadable: bool,
}

/// Names a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferId {
    /// Where it is in the table.
    index: u32,
    /// Rises with every transfer of the channel.
    number: u64,
}

/// A transfer that the board works on or will.
#[derive(Debug)]
struct Work<K> {
    order: Order,
    /// Pieces that are still to go to the board.
    pieces: Pieces,
    /// A piece has gone to the board.
    begun: bool,
    /// Pieces that the board has.
    outstanding: u32,
    /// Bytes moved from the start without a gap.
    done: u64,
    failure: Option<Error>,
    /// What must live as long as the board works on it.
    keep: K,
}

impl<K> Work<K> {
    fn over(&self) -> bool {
        self.outstanding == 0 && self.pieces.remaining() == 0
    }
}

#[derive(Debug)]
enum State<K> {
    Empty,
    UnderWay(Work<K>),
    Ended(Result<u64>),
}

/// A place in the table of transfers.
#[derive(Debug)]
struct Entry<K> {
    number: u64,
    /// Somebody will ask for the result.
    held: bool,
    state: State<K>,
}

impl<K> Entry<K> {
    fn work(&mut self, id: TransferId) -> Option<&mut Work<K>> {
        match &mut self.state {
            State::UnderWay(work) if self.number == id.number => Some(work),
            _ => None,
        }
    }
}

/// A descriptor that the board has.
#[derive(Debug)]
struct Flight {
    cookie: u32,
    transfer: TransferId,
    length: u32,
    interrupt: bool,
}

/// One direction of the channel.
#[derive(Debug)]
struct Lane {
    /// Transfers with pieces that are still to go to the board.
    waiting: VecDeque<TransferId>,
    /// What the board has.
    flights: VecDeque<Flight>,
}

/// The account of a channel's transfers.
#[derive(Debug)]
pub(crate) struct Flow<K> {
    occupancy: Occupancy,
    ring: Ring,
    channel: u32,
    lanes: [Lane; 2],
    table: Vec<Entry<K>>,
    /// Empty places of the table.
    empty: Vec<u32>,
    under_way: usize,
    /// What was kept for writes that have ended, and that the block could not flush.
    unflushed: Vec<K>,
    /// A record that came out of turn: descriptors before it were refused, or it is a wrong one.
    odd: Option<Record>,
    next: u64,
    /// Descriptors that each queue takes.
    slots: u32,
}

fn broken(reason: impl ToString) -> Error {
    Error::Broken {
        reason: reason.to_string(),
    }
}

fn out_of_turn() -> Error {
    broken("a record names a descriptor out of turn: those before it were refused")
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        broken(error)
    }
}

impl From<RingError> for Error {
    fn from(error: RingError) -> Self {
        broken(error)
    }
}

impl<K: Keep> Flow<K> {
    /// Nothing under way on a channel whose queues take `slots` descriptors each.
    pub(crate) fn new(slots: u32, ring_log2: u32, channel: u32) -> Result<Self> {
        let ring = Ring::new(ring_log2, channel)?;
        let room = slots as usize;
        let lane = || Lane {
            waiting: VecDeque::with_capacity(room),
            flights: VecDeque::with_capacity(room),
        };
        Ok(Self {
            occupancy: Occupancy::new(slots, ring.entries())?,
            ring,
            channel,
            lanes: [lane(), lane()],
            table: Vec::with_capacity(2 * room),
            empty: Vec::with_capacity(2 * room),
            under_way: 0,
            unflushed: Vec::with_capacity(room),
            odd: None,
            next: 0,
            slots,
        })
    }

    /// Descriptors that each of the channel's queues takes.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// The same channel after a reset, from its ring's first slot on: what was under way is
    /// lost.
    pub(crate) fn renew(&mut self, slots: u32) -> Result<()> {
        let fresh = Self::new(slots, self.ring.size_log2(), self.channel)?;
        for index in 0..self.table.len() {
            if let State::UnderWay(work) = &mut self.table[index].state {
                work.pieces.stop();
                work.outstanding = 0;
                work.failure = Some(Error::Restarted);
                self.settle(index);
            }
        }
        // What was written before the reset has arrived or never will.
        self.unflushed.clear();
        let (mut table, mut empty) = (
            std::mem::take(&mut self.table),
            std::mem::take(&mut self.empty),
        );
        table.reserve(fresh.table.capacity());
        empty.reserve(fresh.empty.capacity());
        *self = Self {
            table,
            empty,
            next: self.next,
            ..fresh
        };
        Ok(())
    }

    /// Gives the board nothing more of what was submitted.
    pub(crate) fn abandon(&mut self) {
        for lane in &mut self.lanes {
            lane.waiting.clear();
        }
        for index in 0..self.table.len() {
            if let State::UnderWay(work) = &mut self.table[index].state {
                if work.pieces.remaining() > 0 {
                    work.pieces.stop();
                    work.failure.get_or_insert(Error::Stopped);
                }
                self.settle(index);
            }
        }
    }

    /// Takes the records of a channel at rest of which doorbells were refused. Descriptors without a
    /// record were refused, and their transfers fail. Says how many records there were.
    pub(crate) fn salvage(&mut self, slots: &mut impl Slots) -> Result<u64> {
        self.abandon();
        let mut records = 0;
        loop {
            let record = match self.odd.take() {
                Some(record) => record,
                None => match self.ring.poll(slots)? {
                    Some(record) => record,
                    None => break,
                },
            };
            for _ in 0..self.place_of(&record).unwrap_or(0) {
                self.lose(record.direction);
            }
            self.complete(&record)?;
            records += 1;
        }
        for direction in Direction::BOTH {
            while self.lose(direction) {}
        }
        Ok(records)
    }

    /// The oldest descriptor of a direction was refused; whether there was one.
    fn lose(&mut self, direction: Direction) -> bool {
        let Some(flight) = self.lane(direction).flights.pop_front() else {
            return false;
        };
        self.occupancy.lose(direction);
        if let Some(work) = self.work(flight.transfer) {
            work.outstanding -= 1;
            work.failure.get_or_insert(Error::Stopped);
            self.settle(flight.transfer.index as usize);
        }
        true
    }

    fn work(&mut self, id: TransferId) -> Option<&mut Work<K>> {
        self.table.get_mut(id.index as usize)?.work(id)
    }

    /// Notes the result of a transfer once nothing of it is left to be done.
    fn settle(&mut self, index: usize) {
        let Some(entry) = self.table.get_mut(index) else {
            return;
        };
        if !matches!(&entry.state, State::UnderWay(work) if work.over()) {
            return;
        }
        let State::UnderWay(work) = std::mem::replace(&mut entry.state, State::Empty) else {
            return;
        };
        self.under_way -= 1;
        let order = &work.order;
        let unflushed = match order.direction {
            Direction::Write => work.failure.is_some() || order.unreadable && !order.terms.no_flush,
            Direction::Read => false,
        };
        if entry.held {
            entry.state = State::Ended(work.failure.map_or(Ok(work.done), Err));
        } else {
            self.empty.push(index as u32);
        }
        if unflushed {
            self.unflushed.push(work.keep);
        }
    }

    /// What was kept for a write that has ended, but may not have arrived.
    pub(crate) fn take_unflushed(&mut self) -> Option<K> {
        self.unflushed.pop()
    }

    /// Takes a transfer on. What the board has room for goes to it by [`pump`](Self::pump). Its place is
    /// taken until [`release`](Self::release).
    pub(crate) fn submit(&mut self, order: Order, keep: K) -> TransferId {
        let number = self.next;
        self.next += 1;
        let state = State::UnderWay(Work {
            order,
            pieces: Pieces::new(order.peer, order.length, order.piece),
            begun: false,
            outstanding: 0,
            done: 0,
            failure: None,
            keep,
        });
        let entry = Entry {
            number,
            held: true,
            state,
        };
        let index = match self.empty.pop() {
            Some(index) => {
                self.table[index as usize] = entry;
                index
            }
            None => {
                self.table.push(entry);
                (self.table.len() - 1) as u32
            }
        };
        let id = TransferId { index, number };
        self.under_way += 1;
        self.lane(order.direction).waiting.push_back(id);
        id
    }

    /// Nobody will ask for the result of a transfer any more.
    pub(crate) fn release(&mut self, id: TransferId) {
        let Some(entry) = self.table.get_mut(id.index as usize) else {
            return;
        };
        if entry.number != id.number {
            return;
        }
        entry.held = false;
        if matches!(entry.state, State::Ended(_)) {
            entry.state = State::Empty;
            self.empty.push(id.index);
        }
    }

    fn lane(&mut self, direction: Direction) -> &mut Lane {
        &mut self.lanes[direction as usize]
    }

    /// Gives the board what it has room for.
    pub(crate) fn pump(&mut self, port: &mut impl Post) -> Result<()> {
        // A piece of one direction can be what the other one waited for.
        while self.pump_lane(Direction::Write, port)? | self.pump_lane(Direction::Read, port)? {}
        Ok(())
    }

    /// Gives the board pieces of one direction; says whether any could go.
    fn pump_lane(&mut self, direction: Direction, port: &mut impl Post) -> Result<bool> {
        let [write, read] = Direction::BOTH.map(|of| self.lanes[of as usize].waiting.front());
        let first_of_other = match direction {
            Direction::Write => read,
            Direction::Read => write,
        };
        let first_of_other = first_of_other.map(|id| id.number);
        let mut moved = false;
        while let Some(&id) = self.lanes[direction as usize].waiting.front() {
            let lane = &mut self.lanes[direction as usize];
            let work = (self.table.get_mut(id.index as usize)).and_then(|entry| entry.work(id));
            let left = work.map(|work| (work.pieces.remaining(), work));
            let Some((more, work)) = left.filter(|(left, _)| *left > 0) else {
                lane.waiting.pop_front();
                moved = true;
                continue;
            };
            if !work.keep.stands() {
                work.pieces.stop();
                // What the board says of a region that is gone.
                let (bytes_done, length) = (work.done, work.order.length);
                work.failure.get_or_insert(Error::Fault {
                    direction,
                    fault: Fault::AttInvalid,
                    bytes_done,
                    length,
                    offset: None,
                });
                self.settle(id.index as usize);
                continue;
            }
            let more = more - 1;
            let Order { terms, .. } = work.order;
            // The board chains to what it was given before: all of the other direction's earlier
            // transfers must be there. Earlier ones never wait for later ones, so this ends.
            let chained = match direction {
                Direction::Write => terms.after_reads,
                Direction::Read => terms.after_writes,
            };
            if chained && !work.begun && first_of_other.is_some_and(|first| first < id.number) {
                return Ok(moved);
            }
            let Some(ticket) = self.occupancy.submit(direction, more) else {
                return Ok(moved);
            };
            let short = || broken("a transfer has fewer pieces than it said");
            let piece = work.pieces.next().ok_or_else(short)?;
            let descriptor = Descriptor {
                peer: (work.order.peer.checked_add(piece.start)).ok_or_else(short)?,
                local: work.order.local + piece.start,
                length: piece.length,
                control: Control {
                    // Each piece: one that fails without a record would go unseen.
                    record: true,
                    interrupt: ticket.interrupt,
                    urgent: ticket.interrupt && terms.urgent,
                    // The flush of the last piece covers those before it.
                    no_flush: direction == Direction::Write && (more > 0 || terms.no_flush),
                    // The pieces behind the first start after it.
                    after_write: terms.after_writes && !work.begun,
                    after_read: terms.after_reads && !work.begun,
                },
                cookie: ticket.cookie,
            };
            let dwords = descriptor.encode().map_err(broken)?;
            port.post(direction, &dwords, ticket.freed);
            work.begun = true;
            work.outstanding += 1;
            moved = true;
            lane.flights.push_back(Flight {
                cookie: ticket.cookie,
                transfer: id,
                length: piece.length,
                interrupt: ticket.interrupt,
            });
        }
        Ok(moved)
    }

    /// Takes the records that have come; says how many.
    pub(crate) fn drain(&mut self, slots: &mut impl Slots) -> Result<u64> {
        let mut records = 0;
        while self.odd.is_none()
            && let Some(record) = self.ring.poll(slots)?
        {
            self.complete(&record)?;
            records += 1;
        }
        match self.odd {
            Some(_) => Err(out_of_turn()),
            None => Ok(records),
        }
    }

    /// How many descriptors of its direction went out before the one that a record names.
    fn place_of(&self, record: &Record) -> Option<usize> {
        let mut flights = self.lanes[record.direction as usize].flights.iter();
        flights.position(|flight| flight.cookie == record.cookie)
    }

    fn complete(&mut self, record: &Record) -> Result<()> {
        if self.place_of(record).is_some_and(|place| place > 0) {
            self.odd = Some(*record);
            return Err(out_of_turn());
        }
        self.occupancy.complete(record.direction, record.cookie)?;
        let flight = self.lane(record.direction).flights.pop_front();
        let flight = flight.ok_or_else(out_of_turn)?;
        let work = self.work(flight.transfer);
        let work = work.ok_or_else(|| broken("a record names a transfer that has ended"))?;
        work.outstanding -= 1;
        if work.failure.is_none() {
            work.done += u64::from(record.bytes_done.min(flight.length));
            match record.outcome {
                Ok(()) if record.bytes_done == flight.length => {}
                Ok(()) => {
                    return Err(broken(format_args!(
                        "a descriptor of {} bytes ended well after {}",
                        flight.length, record.bytes_done
                    )));
                }
                Err(fault) => {
                    // What the board has goes on to its end; the rest is not worth sending.
                    work.pieces.stop();
                    let order = &work.order;
                    work.failure = Some(Error::Fault {
                        direction: order.direction,
                        fault,
                        bytes_done: work.done,
                        length: order.length,
                        offset: (record.fault_address)
                            .and_then(|at| at.offset_from(order.peer))
                            .filter(|offset| *offset < order.length),
                    });
                }
            }
        }
        self.settle(flight.transfer.index as usize);
        Ok(())
    }

    /// The result of a transfer, if it has ended.
    pub(crate) fn result(&self, id: TransferId) -> Option<Result<u64>> {
        match self.table.get(id.index as usize) {
            Some(entry) if entry.number == id.number => match &entry.state {
                State::Ended(result) => Some(result.clone()),
                _ => None,
            },
            _ => Some(Err(broken("a transfer that was let go is asked for"))),
        }
    }

    /// Bytes of a transfer under way that are known to be moved.
    pub(crate) fn done(&mut self, id: TransferId) -> u64 {
        self.work(id).map_or(0, |work| work.done)
    }

    /// The number that the next transfer gets.
    pub(crate) fn submitted(&self) -> u64 {
        self.next
    }

    /// Whether all transfers before a number have ended.
    pub(crate) fn rests(&self, before: u64) -> bool {
        let under_way = |entry: &Entry<K>| matches!(entry.state, State::UnderWay(_));
        let mut entries = self.table.iter();
        self.under_way == 0 || !entries.any(|entry| under_way(entry) && entry.number < before)
    }

    /// Transfers that have not ended.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether the board will raise an interrupt for what it has. After a fault the last
    /// pieces of a transfer may all be silent.
    pub(crate) fn will_interrupt(&self) -> bool {
        let mut flights = self.lanes.iter().flat_map(|lane| &lane.flights);
        flights.any(|flight| flight.interrupt)
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
