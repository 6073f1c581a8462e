//! The account of a channel's transfers: pieces onto the channel, records back. It knows no driver:
//! doorbells and ring come in as traits.
//!
//! Once as many transfers were under way together as will ever be, it allocates no more.

mod work;

use crate::ends::Scrap;
use crate::error::{Error, Result};
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::fault::Fault;
use peerlane_core::queue::{Occupancy, QueueError};
use peerlane_core::record::Record;
use peerlane_core::ring::{Ring, RingError, Slots};
use rustix::io::Errno;
use std::collections::VecDeque;
use work::{Work, broken};

pub(crate) use work::{Order, Unproven};

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

/// Names a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferId {
    /// Where it is in the table.
    index: u32,
    /// Rises with every transfer of the channel.
    number: u64,
}

#[derive(Debug)]
enum State<K> {
    Empty,
    UnderWay(Work<K>),
    /// The board is done with it, but data may not have arrived, or not be where they belong.
    Unfinished(Result<u64>, Rest, K),
    Ended(Result<u64>),
}

/// Work that is left for a transfer that the board is done with.
#[derive(Debug, Clone, Copy)]
struct Rest {
    unproven: Option<Unproven>,
    /// The board has flushed the queue's memory and not the region: data of writes before it may arrive behind the copy.
    bounced: bool,
    /// Ends that are to be copied when all has arrived.
    ends: [Option<Scrap>; 2],
}

/// A write that the board is done with, while somebody does the rest of it. The account can be used meanwhile.
#[derive(Debug)]
pub(crate) struct Closing<K> {
    id: TransferId,
    result: Result<u64>,
    rest: Rest,
    unproven: Option<Unproven>,
    keep: K,
}

/// How far the rest of a write came.
#[derive(Debug)]
pub(crate) enum Closed {
    /// The board is being started again: nothing was done.
    Away,
    /// The flush failed: its data may be on their way.
    Unproven(Error),
    /// All of it was done, or a copy failed.
    Flushed(Result<u64>),
}

/// Which write somebody does the rest of.
#[derive(Debug, Clone, Copy)]
struct Finishing {
    id: TransferId,
    /// The channel was reset meanwhile.
    renewed: bool,
}

/// A place in the table of transfers.
#[derive(Debug)]
struct Entry<K> {
    number: u64,
    /// Somebody will ask for the result.
    held: bool,
    state: State<K>,
}

impl Rest {
    /// How a write ends whose ends were not copied: the bytes of its head are not there.
    fn without_ends(&self, result: Result<u64>) -> Result<u64> {
        let without_head = self.ends.iter().flatten().any(|end| end.start == 0);
        result.map_err(|mut error| {
            if let Error::Fault { bytes_done, .. } = &mut error
                && without_head
            {
                *bytes_done = 0;
            }
            error
        })
    }

    /// Copies the ends of a write that was to end so; how it ends.
    fn place<K: Keep>(
        &self,
        result: Result<u64>,
        keep: &K,
        place: &mut impl FnMut(&K, &Scrap) -> Result<()>,
    ) -> Result<u64> {
        for end in self.ends.iter().flatten() {
            let placed = match keep.stands() {
                true => place(keep, end),
                false => Err(Error::Forgotten),
            };
            match placed {
                Ok(()) => {}
                // What the board says of a region that is gone.
                Err(Error::Forgotten) => {
                    let length = match result {
                        Ok(length) | Err(Error::Fault { length, .. }) => length,
                        failed => return failed,
                    };
                    return Err(Error::Fault {
                        direction: Direction::FromFpga,
                        fault: Fault::AttInvalid,
                        bytes_done: end.start,
                        length,
                        offset: Some(end.start),
                    });
                }
                Err(error) => return Err(error),
            }
        }
        result
    }
}

impl<K: Keep> Closing<K> {
    /// Flushes the write if that is to be done, and copies its ends.
    pub(crate) fn carry_out(
        &self,
        flush: impl FnOnce(&K, Unproven) -> Result<()>,
        mut place: impl FnMut(&K, &Scrap) -> Result<()>,
    ) -> Closed {
        match self.unproven.map_or(Ok(()), |why| flush(&self.keep, why)) {
            Ok(()) => {
                let result = self.result.clone();
                Closed::Flushed(self.rest.place(result, &self.keep, &mut place))
            }
            Err(error) if is_away(&error) => Closed::Away,
            Err(error) => Closed::Unproven(error),
        }
    }
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
    /// Places of the writes of which something is left to do, in the order in which the board was done with them.
    unfinished: VecDeque<u32>,
    /// The first of them, while somebody does the rest of it.
    finishing: Option<Finishing>,
    /// A write has ended whose data may not have arrived.
    loose: bool,
    /// The write with ends that has begun and not ended. Transfers that are to come after it wait.
    ragged: Option<TransferId>,
    /// What was kept for transfers that have ended.
    ended: Vec<K>,
    /// A record that came out of turn: descriptors before it were refused, or it is a wrong one.
    odd: Option<Record>,
    /// What a record said that cannot be, of a descriptor that the board has.
    wrong: Option<Error>,
    next: u64,
    /// Descriptors that each queue takes.
    slots: u32,
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

/// Whether an error says that the board is being started again.
fn is_away(error: &Error) -> bool {
    let Error::Call { source, .. } = error else {
        return false;
    };
    *source == Errno::AGAIN
}

impl<K: Keep + Clone> Flow<K> {
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
            unfinished: VecDeque::with_capacity(room),
            finishing: None,
            loose: false,
            ragged: None,
            ended: Vec::with_capacity(2 * room),
            odd: None,
            wrong: None,
            next: 0,
            slots,
        })
    }

    /// Descriptors that each of the channel's queues takes.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// The same channel after a reset, from its ring's first slot on: what was under way is
    /// lost. A write of which somebody does the rest ends with that, for its copy may come as late.
    pub(crate) fn renew(&mut self, slots: u32) -> Result<()> {
        let fresh = Self::new(slots, self.ring.size_log2(), self.channel)?;
        let finishing = self.finishing.map(|finishing| Finishing {
            renewed: true,
            ..finishing
        });
        let stays = finishing.map(|finishing| finishing.id);
        for index in 0..self.table.len() {
            if stays.is_some_and(|id| id.index as usize == index) {
                continue;
            }
            match std::mem::replace(&mut self.table[index].state, State::Empty) {
                State::UnderWay(work) => self.end(index, Err(Error::Restarted), work.keep),
                // What was written before the reset has arrived, or never will.
                State::Unfinished(result, rest, keep) => {
                    let result = rest.without_ends(result).and(Err(Error::Restarted));
                    self.end(index, result, keep);
                }
                other => self.table[index].state = other,
            }
        }
        let (mut table, mut empty, mut ended) = (
            std::mem::take(&mut self.table),
            std::mem::take(&mut self.empty),
            std::mem::take(&mut self.ended),
        );
        let room = 2 * slots as usize;
        table.reserve(room);
        empty.reserve(room);
        ended.reserve(room);
        *self = Self {
            table,
            empty,
            ended,
            next: self.next,
            under_way: self.under_way,
            finishing,
            // Writes that come after it wait for its copy still.
            ragged: self.ragged,
            ..fresh
        };
        Ok(())
    }

    /// Gives the board nothing more of what was submitted before a number.
    pub(crate) fn abandon(&mut self, before: u64) {
        for lane in &mut self.lanes {
            lane.waiting.retain(|id| id.number >= before);
        }
        for index in 0..self.table.len() {
            let entry = &mut self.table[index];
            if entry.number >= before {
                continue;
            }
            if let State::UnderWay(work) = &mut entry.state {
                work.called_off = true;
                if work.remaining() > 0 {
                    work.fail(Error::Stopped);
                }
                self.settle(index);
            }
        }
    }

    /// Gives the board nothing more of one transfer. What it has goes on to its end. Before the transfer has ended all data
    /// have arrived that it or writes before it have sent to its memory.
    pub(crate) fn cancel(&mut self, id: TransferId) {
        let Some(work) = self.work(id) else {
            return;
        };
        work.called_off = true;
        if work.remaining() > 0 {
            work.fail(Error::Stopped);
            self.settle(id.index as usize);
        }
    }

    /// Bytes that others have given the board before a transfer that it has something of, and that are wanted still: of its
    /// direction, and where it is chained of the other one.
    pub(crate) fn before(&self, id: TransferId) -> u64 {
        let work = |id: TransferId| match self.table.get(id.index as usize) {
            Some(Entry {
                number,
                state: State::UnderWay(work),
                ..
            }) if *number == id.number => Some(work),
            _ => None,
        };
        let Some(own) = work(id).filter(|own| own.outstanding > 0) else {
            return 0;
        };
        let chained = own.order.terms.after_from_fpga || own.order.terms.after_to_fpga;
        let lanes = Direction::BOTH.into_iter().filter(|direction| {
            let its = *direction == own.order.direction;
            its || chained
        });
        let flights = lanes.flat_map(|direction| &self.lanes[direction as usize].flights);
        let before = flights.filter(|flight| {
            let wanted = work(flight.transfer).is_some_and(|work| !work.called_off);
            wanted && flight.transfer.number < id.number
        });
        before.map(|flight| u64::from(flight.length)).sum()
    }

    /// Calls `f` with what is kept for each write that the board has something of, or whose data may not have arrived.
    pub(crate) fn each_write(&self, mut f: impl FnMut(&K)) {
        for entry in &self.table {
            match &entry.state {
                State::UnderWay(work)
                    if work.begun && work.order.direction == Direction::FromFpga =>
                {
                    f(&work.keep);
                }
                State::Unfinished(_, rest, keep) if rest.unproven == Some(Unproven::BrokenOff) => {
                    f(keep);
                }
                _ => {}
            }
        }
    }

    /// Takes the records of a channel at rest of which doorbells were refused. Descriptors without a
    /// record were refused, and their transfers fail, with all that was submitted before a number. The board has nothing
    /// that was submitted later. Returns how many records there were.
    pub(crate) fn salvage(&mut self, before: u64, slots: &mut impl Slots) -> Result<u64> {
        self.abandon(before);
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
            self.complete(&record);
            self.check_odd()?;
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
            work.fail(Error::Stopped);
            self.settle(flight.transfer.index as usize);
        }
        true
    }

    fn work(&mut self, id: TransferId) -> Option<&mut Work<K>> {
        self.table.get_mut(id.index as usize)?.work(id)
    }

    /// Notes the result of a transfer once the board has nothing more to do with it.
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
        let unproven = work.unproven();
        self.loose |= work.is_loose();
        let (result, ends) = work.result();
        match (unproven, ends) {
            (None, [None, None]) => self.end(index, result, work.keep),
            (unproven, ends) => {
                let rest = Rest {
                    unproven,
                    bounced: work.is_bounced(),
                    ends,
                };
                entry.state = State::Unfinished(result, rest, work.keep);
                self.unfinished.push_back(index as u32);
            }
        }
    }

    /// Ends a transfer, whose state was taken out of its place.
    fn end(&mut self, index: usize, result: Result<u64>, keep: K) {
        self.under_way -= 1;
        self.ended.push(keep);
        self.ragged = self.ragged.filter(|id| id.index as usize != index);
        let entry = &mut self.table[index];
        if entry.held {
            entry.state = State::Ended(result);
        } else {
            entry.state = State::Empty;
            self.empty.push(index as u32);
        }
    }

    /// Flushes writes that the block could not flush, copies their ends, and ends them. While the board is being started
    /// again all wait.
    pub(crate) fn finish(
        &mut self,
        mut flush: impl FnMut(&K, Unproven) -> Result<()>,
        mut place: impl FnMut(&K, &Scrap) -> Result<()>,
    ) {
        while let Some(closing) = self.begin_finish() {
            let closed = closing.carry_out(&mut flush, &mut place);
            if !self.end_finish(&closing, closed) {
                break;
            }
        }
    }

    /// Whether the rest of a write is to be done, and nobody does it.
    pub(crate) fn can_finish(&self) -> bool {
        self.finishing.is_none() && !self.unfinished.is_empty()
    }

    /// The write whose rest a thread does.
    pub(crate) fn finishing(&self) -> Option<TransferId> {
        self.finishing.map(|finishing| finishing.id)
    }

    /// Begins the rest of the write that the board was done with first: one at a time, for a copy must not come before
    /// earlier data to the same bytes. [`end_finish`](Self::end_finish) must follow.
    pub(crate) fn begin_finish(&mut self) -> Option<Closing<K>> {
        if self.finishing.is_some() {
            return None;
        }
        let &index = self.unfinished.front()?;
        let Entry {
            number,
            state: State::Unfinished(result, rest, keep),
            ..
        } = &self.table[index as usize]
        else {
            return None;
        };
        let number = *number;
        let id = TransferId { index, number };
        self.finishing = Some(Finishing { id, renewed: false });
        let overtaken = || (rest.bounced && self.loose).then_some(Unproven::BrokenOff);
        Some(Closing {
            id,
            result: result.clone(),
            rest: *rest,
            unproven: rest.unproven.or_else(overtaken),
            keep: keep.clone(),
        })
    }

    /// Ends a write whose rest was done, or takes note that the board is away: `false`. Then the rest is to be done later,
    /// or [`renew`](Self::renew) ends the write. A write fails if its rest fails.
    pub(crate) fn end_finish(&mut self, closing: &Closing<K>, closed: Closed) -> bool {
        let Some(finishing) = self.finishing.take() else {
            return false;
        };
        let index = closing.id.index;
        let result = match closed {
            _ if finishing.renewed => {
                let result = closing.rest.without_ends(closing.result.clone());
                result.and(Err(Error::Restarted))
            }
            Closed::Away => return false,
            Closed::Flushed(result) => result,
            Closed::Unproven(error) => {
                self.loose = true;
                match &closing.result {
                    // Whoever called it off counts on the flush. Of another failure its own error says more.
                    Ok(_) | Err(Error::Stopped) => Err(error),
                    failed => closing.rest.without_ends(failed.clone()),
                }
            }
        };
        if self.unfinished.front() == Some(&index) {
            self.unfinished.pop_front();
        }
        let state = &mut self.table[index as usize].state;
        if let State::Unfinished(_, _, keep) = std::mem::replace(state, State::Empty) {
            self.end(index as usize, result, keep);
        }
        true
    }

    /// Whether something is still kept for a transfer that has ended.
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// What was kept for a transfer that has ended, to be let go where that does no harm.
    pub(crate) fn take_ended(&mut self) -> Option<K> {
        self.ended.pop()
    }

    /// Takes a transfer on. What the board has room for goes to it by [`pump`](Self::pump). Its place is
    /// taken until [`release`](Self::release).
    pub(crate) fn submit(&mut self, order: Order, keep: K) -> TransferId {
        let number = self.next;
        self.next += 1;
        let state = State::UnderWay(Work::new(order, keep));
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
    pub(crate) fn pump(&mut self, port: &mut impl Post) {
        // A piece of one direction can be what the other one waited for.
        while self.pump_lane(Direction::FromFpga, port) | self.pump_lane(Direction::ToFpga, port) {}
    }

    /// Gives the board pieces of one direction; says whether any could go.
    fn pump_lane(&mut self, direction: Direction, port: &mut impl Post) -> bool {
        let [write, read] = Direction::BOTH.map(|of| self.lanes[of as usize].waiting.front());
        let first_of_other = match direction {
            Direction::FromFpga => read,
            Direction::ToFpga => write,
        };
        let first_of_other = first_of_other.map(|id| id.number);
        let mut moved = false;
        while let Some(&id) = self.lanes[direction as usize].waiting.front() {
            let lane = &mut self.lanes[direction as usize];
            let work = (self.table.get_mut(id.index as usize)).and_then(|entry| entry.work(id));
            let left = work.map(|work| (work.remaining(), work));
            let Some((more, work)) = left.filter(|(left, _)| *left > 0) else {
                lane.waiting.pop_front();
                moved = true;
                continue;
            };
            if !work.keep.stands() {
                // What the board says of a region that is gone.
                let (bytes_done, length) = (work.done, work.order.length);
                work.fail(Error::Fault {
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
                Direction::FromFpga => terms.after_to_fpga,
                Direction::ToFpga => terms.after_from_fpga,
            };
            if chained && !work.begun && first_of_other.is_some_and(|first| first < id.number) {
                return moved;
            }
            // The board knows nothing of its ends, so it does not wait for them.
            let behind = |ragged: TransferId| {
                let waits = direction == Direction::FromFpga || terms.after_from_fpga;
                waits && !work.begun && ragged.number < id.number
            };
            if self.ragged.is_some_and(behind) {
                return moved;
            }
            let silent = more + u64::from(work.order.followed);
            let Some(ticket) = self.occupancy.submit(direction, silent) else {
                return moved;
            };
            match work.next(&ticket, more) {
                Ok((length, dwords)) => {
                    if work.order.ends.is_some() {
                        self.ragged = Some(id);
                    }
                    port.post(direction, &dwords, ticket.freed);
                    lane.flights.push_back(Flight {
                        cookie: ticket.cookie,
                        transfer: id,
                        length,
                        interrupt: ticket.interrupt,
                    });
                }
                Err(error) => {
                    self.occupancy.withdraw(direction, ticket);
                    work.fail(error);
                    self.settle(id.index as usize);
                }
            }
            moved = true;
        }
        moved
    }

    /// Takes the records that have come; says how many. Once a record said what cannot be, this fails
    /// until [`forgive`](Self::forgive).
    pub(crate) fn drain(&mut self, slots: &mut impl Slots) -> Result<u64> {
        let records = self.take(slots)?;
        match &self.wrong {
            Some(error) => Err(error.clone()),
            None => Ok(records),
        }
    }

    /// Takes the records that have come, whatever they say of their transfers.
    pub(crate) fn take(&mut self, slots: &mut impl Slots) -> Result<u64> {
        self.check_odd()?;
        let mut records = 0;
        while let Some(record) = self.ring.poll(slots)? {
            self.complete(&record);
            self.check_odd()?;
            records += 1;
        }
        Ok(records)
    }

    /// Nothing is under way any more, so that nothing depends on a wrong record.
    pub(crate) fn forgive(&mut self) {
        self.wrong = None;
    }

    /// How many descriptors of its direction went out before the one that a record names.
    fn place_of(&self, record: &Record) -> Option<usize> {
        let mut flights = self.lanes[record.direction as usize].flights.iter();
        flights.position(|flight| flight.cookie == record.cookie)
    }

    /// Fails while there is a record that cannot be taken.
    fn check_odd(&self) -> Result<()> {
        let Some(record) = &self.odd else {
            return Ok(());
        };
        let &Record {
            direction, cookie, ..
        } = record;
        Err(match self.place_of(record) {
            None => QueueError::Cookie { direction, cookie }.into(),
            Some(_) => {
                broken("a record names a descriptor out of turn: those before it were refused")
            }
        })
    }

    /// Takes a record's descriptor for ended. A record that is not of the oldest one is kept as odd.
    fn complete(&mut self, record: &Record) {
        let &Record {
            direction, cookie, ..
        } = record;
        let oldest = self.place_of(record) == Some(0);
        let taken = oldest && self.occupancy.complete(direction, cookie).is_ok();
        let flight = match taken {
            true => self.lane(direction).flights.pop_front(),
            false => None,
        };
        let Some(flight) = flight else {
            self.odd = Some(*record);
            return;
        };
        let Some(work) = self.work(flight.transfer) else {
            return;
        };
        let wrong = work.complete(record, flight.length);
        self.wrong = self.wrong.take().or(wrong);
        self.settle(flight.transfer.index as usize);
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
        self.work(id).map_or(0, |work| work.in_place())
    }

    /// The number that the next transfer gets.
    pub(crate) fn submitted(&self) -> u64 {
        self.next
    }

    /// Transfers before a number that have not ended.
    pub(crate) fn left(&self, before: u64) -> usize {
        let left = |entry: &&Entry<K>| {
            let under_way = matches!(entry.state, State::UnderWay(_) | State::Unfinished(..));
            under_way && entry.number < before
        };
        match self.under_way {
            0 => 0,
            _ => self.table.iter().filter(left).count(),
        }
    }

    /// Transfers that have not ended.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether the board will raise an interrupt for what it has, in each direction that it has
    /// something of. After a fault the last pieces of a transfer may all be silent.
    pub(crate) fn will_interrupt(&self) -> bool {
        let mut busy = self.lanes.iter().filter(|lane| !lane.flights.is_empty());
        let will = |lane: &Lane| lane.flights.iter().any(|flight| flight.interrupt);
        self.lanes.iter().any(will) && busy.all(will)
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
