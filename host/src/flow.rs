//! The bookkeeping of a channel's transfers: descriptors go to the channel, records come back. It knows no driver:
//! doorbells and ring are traits.
//!
//! It allocates no more memory once the number of simultaneous transfers has reached its maximum.

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
use work::Work;

pub(crate) use work::{Order, Unproven, broken};

/// Destination of descriptors.
pub(crate) trait Post {
    /// Writes a descriptor into the channel's page and rings the doorbell, which also reports how many slots of the
    /// ring are free again.
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16);
}

/// Value that must live as long as the board works on a transfer.
pub(crate) trait Keep {
    /// Returns whether the board still has the region. Descriptors for an invalidated region could reach other memory.
    /// The result changes only between two descriptors, and takes no lock.
    fn stands(&self) -> bool;
}

/// Name of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferId {
    /// Its index in the table.
    index: u32,
    /// Its number, which rises with every transfer of the channel.
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
    /// The board has flushed the queue's memory but not the region: data of earlier writes may arrive after the copy.
    bounced: bool,
    /// Ends that are to be copied when all data have arrived.
    ends: [Option<Scrap>; 2],
}

/// A write that the board is done with, while a thread does the rest of it. The bookkeeping can be used at the same
/// time.
#[derive(Debug)]
pub(crate) struct Closing<K> {
    id: TransferId,
    result: Result<u64>,
    rest: Rest,
    unproven: Option<Unproven>,
    keep: K,
}

/// Result of the rest of a write.
#[derive(Debug)]
pub(crate) enum Closed {
    /// The board is being restarted: nothing was done.
    Away,
    /// The flush failed: its data may be on their way.
    Unproven(Error),
    /// All of it was done, or a copy failed.
    Flushed(Result<u64>),
}

/// The write whose rest a thread does.
#[derive(Debug, Clone, Copy)]
struct Finishing {
    id: TransferId,
    /// The channel was reset in the meantime.
    renewed: bool,
}

/// A place in the table of transfers.
#[derive(Debug)]
struct Entry<K> {
    number: u64,
    /// The result is still needed.
    held: bool,
    state: State<K>,
}

impl Rest {
    /// Returns the result of a write whose ends were not copied: the bytes of its head are not in place.
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

    /// Copies the ends of a write that was to end with `result`. Returns its final result.
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
                // The board reports the same fault for a region that is gone.
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
    /// Flushes the write if necessary, and copies its ends.
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
    /// Descriptors that the board has.
    flights: VecDeque<Flight>,
}

/// The bookkeeping of a channel's transfers.
#[derive(Debug)]
pub(crate) struct Flow<K> {
    occupancy: Occupancy,
    ring: Ring,
    channel: u32,
    lanes: [Lane; 2],
    table: Vec<Entry<K>>,
    /// Free places of the table.
    empty: Vec<u32>,
    under_way: usize,
    /// Places of the writes with a rest to do, in the order in which the board was done with them.
    unfinished: VecDeque<u32>,
    /// The first of them, while a thread does its rest.
    finishing: Option<Finishing>,
    /// A write has ended whose data may not have arrived.
    loose: bool,
    /// The write with ends that has begun and not ended. Transfers that must come after it wait.
    ragged: Option<TransferId>,
    /// Kept values of transfers that have ended.
    ended: Vec<K>,
    /// A record out of turn: descriptors before it were refused, or the record is wrong.
    odd: Option<Record>,
    /// Contradiction in a record for a descriptor that the board has.
    wrong: Option<Error>,
    next: u64,
    /// Number of descriptors that each queue takes.
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

/// Returns whether an error means that the board is being restarted.
fn is_away(error: &Error) -> bool {
    let Error::Call { source, .. } = error else {
        return false;
    };
    *source == Errno::AGAIN
}

impl<K: Keep + Clone> Flow<K> {
    /// Makes the bookkeeping of an idle channel whose queues take `slots` descriptors each.
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

    /// Returns the number of descriptors that each of the channel's queues takes.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// Begins again after a reset of the channel, from its ring's first slot on. Transfers under way are lost. So is a
    /// write whose rest a thread does, because its copy may come as late.
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
                // Data that were written before the reset have arrived, or never will.
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
            // Writes after it still wait for its copy.
            ragged: self.ragged,
            ..fresh
        };
        Ok(())
    }

    /// Gives the board no more descriptors of transfers that were submitted before number `before`.
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

    /// Gives the board no more descriptors of one transfer. Its descriptors at the board go on to their end. Before the
    /// transfer ends, all data have arrived that it or earlier writes have sent to its memory.
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

    /// Returns the bytes of the earlier descriptors that the board still has before those of this transfer: of other
    /// transfers in its direction, and where it is chained also in the other one. Those of called-off transfers do not
    /// count. Returns 0 if the board has no descriptors of this transfer.
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

    /// Calls `f` with the kept value of each write that the board has descriptors of, or whose data may not have
    /// arrived.
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

    /// Takes the records of an idle channel of which doorbells were refused. Descriptors without a record were refused.
    /// Their transfers fail, together with all that were submitted before number `before`. The board has no descriptors
    /// of later transfers. Returns the number of records.
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

    /// Notes that the oldest descriptor of a direction was refused. Returns whether there was one.
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

    /// Notes the result of a transfer once the board has no more descriptors of it.
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

    /// Ends a transfer whose state was taken out of its place.
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

    /// Flushes writes that the block could not flush, copies their ends, and ends them. While the board is being
    /// restarted, all of them wait.
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

    /// Returns whether a write has a rest to do that no thread does.
    pub(crate) fn can_finish(&self) -> bool {
        self.finishing.is_none() && !self.unfinished.is_empty()
    }

    /// Returns the write whose rest a thread does.
    pub(crate) fn finishing(&self) -> Option<TransferId> {
        self.finishing.map(|finishing| finishing.id)
    }

    /// Begins the rest of the write that the board was done with first. Only one is in progress at a time, because a
    /// copy must not come before earlier data to the same bytes. [`end_finish`](Self::end_finish) must follow.
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

    /// Ends a write whose rest was done. Returns `false` if the board is being restarted: then the rest is to be done
    /// later, or [`renew`](Self::renew) ends the write. A write fails if its rest fails.
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
                    // The caller that called it off relies on the flush. For other failures the transfer's own error is
                    // more precise.
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

    /// Returns whether a value is still kept for a transfer that has ended.
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes the kept value of a transfer that has ended. The caller drops it where that does no harm.
    pub(crate) fn take_ended(&mut self) -> Option<K> {
        self.ended.pop()
    }

    /// Adds a transfer. Its descriptors go to the board by [`pump`](Self::pump), as there is room. Its place is taken
    /// until [`release`](Self::release).
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

    /// Releases a transfer whose result is not needed any more.
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

    /// Gives the board the descriptors that it has room for.
    pub(crate) fn pump(&mut self, port: &mut impl Post) {
        // A descriptor of one direction can be one that the other direction waited for.
        while self.pump_lane(Direction::FromFpga, port) | self.pump_lane(Direction::ToFpga, port) {}
    }

    /// Gives the board descriptors of one direction. Returns whether it took any.
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
                // The board reports the same fault for a region that is gone.
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
            // The board chains a descriptor to those that it was given before: all earlier transfers of the other
            // direction must be there. Earlier transfers never wait for later ones, so this ends.
            let chained = match direction {
                Direction::FromFpga => terms.after_to_fpga,
                Direction::ToFpga => terms.after_from_fpga,
            };
            if chained && !work.begun && first_of_other.is_some_and(|first| first < id.number) {
                return moved;
            }
            // The board does not know the ends, so it does not wait for them.
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

    /// Takes the records that have come, and returns their number. After a record with a contradiction this fails until
    /// [`forgive`](Self::forgive).
    pub(crate) fn drain(&mut self, slots: &mut impl Slots) -> Result<u64> {
        let records = self.take(slots)?;
        match &self.wrong {
            Some(error) => Err(error.clone()),
            None => Ok(records),
        }
    }

    /// Takes the records that have come, whether their transfers went well or not.
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

    /// Clears the error of a wrong record: no transfer is under way any more, so none depends on that record.
    pub(crate) fn forgive(&mut self) {
        self.wrong = None;
    }

    /// Returns how many descriptors of its direction were posted before the one that a record names.
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
                broken("a record names a descriptor out of order: earlier descriptors were refused")
            }
        })
    }

    /// Notes the end of a record's descriptor. A record that does not belong to the oldest descriptor is kept as odd.
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

    /// Returns the result of a transfer, if it has ended.
    pub(crate) fn result(&self, id: TransferId) -> Option<Result<u64>> {
        match self.table.get(id.index as usize) {
            Some(entry) if entry.number == id.number => match &entry.state {
                State::Ended(result) => Some(result.clone()),
                _ => None,
            },
            _ => Some(Err(broken(
                "the result of a released transfer is asked for",
            ))),
        }
    }

    /// Returns whether the board is done with a transfer whose rest is not done.
    pub(crate) fn is_unfinished(&self, id: TransferId) -> bool {
        let entry = self.table.get(id.index as usize);
        entry.is_some_and(|entry| {
            entry.number == id.number && matches!(entry.state, State::Unfinished(..))
        })
    }

    /// Returns the bytes of a transfer under way that are known to be moved.
    pub(crate) fn done(&mut self, id: TransferId) -> u64 {
        self.work(id).map_or(0, |work| work.in_place())
    }

    /// Returns the number that the next transfer gets.
    pub(crate) fn submitted(&self) -> u64 {
        self.next
    }

    /// Returns the number of transfers before number `before` that have not ended.
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

    /// Returns the number of transfers that have not ended.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Returns whether the board will raise an interrupt for its descriptors, in each direction that has some. After a
    /// fault the last descriptors of a transfer may all be silent.
    pub(crate) fn will_interrupt(&self) -> bool {
        let mut busy = self.lanes.iter().filter(|lane| !lane.flights.is_empty());
        let will = |lane: &Lane| lane.flights.iter().any(|flight| flight.interrupt);
        self.lanes.iter().any(will) && busy.all(will)
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
