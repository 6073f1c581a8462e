//! Transfers on their way: pieces onto the channel, records back. It knows nothing of
//! files: the channel's page and ring come in as traits.

use crate::error::{Error, Result};
use peerlane_core::att::AttAddress;
use peerlane_core::descriptor::{Control, DWORDS, Descriptor, Direction, Pieces};
use peerlane_core::queue::{Occupancy, QueueError};
use peerlane_core::record::Record;
use peerlane_core::ring::{Ring, RingError, Slots};
use std::collections::{BTreeMap, VecDeque};

/// Where descriptors go.
pub(crate) trait Post {
    /// Writes a descriptor into the channel's page, and rings the doorbell, which says how many slots of
    /// the ring are free again.
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16);
}

/// A transfer to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) direction: Direction,
    /// Where in the peer's memory.
    pub(crate) peer: AttAddress,
    /// First byte in FPGA memory.
    pub(crate) local: u64,
    /// Bytes, at least 1.
    pub(crate) length: u64,
    /// Bytes that one descriptor moves at most.
    pub(crate) piece: u32,
}

#[derive(Debug)]
struct Transfer<K> {
    request: Request,
    /// Pieces that are still to go to the board.
    pieces: Pieces,
    /// Pieces that the board has.
    outstanding: u32,
    /// Bytes moved from the start without a gap.
    done: u64,
    failure: Option<Error>,
    /// What must live as long as the board works on it.
    _keep: K,
}

#[derive(Debug)]
struct Flight {
    cookie: u32,
    transfer: u64,
    length: u32,
    interrupt: bool,
}

/// One direction of the channel.
#[derive(Debug, Default)]
struct Lane {
    /// Transfers with pieces that are still to go to the board.
    waiting: VecDeque<u64>,
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
    transfers: BTreeMap<u64, Transfer<K>>,
    ended: BTreeMap<u64, Result<u64>>,
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

impl<K> Flow<K> {
    /// Nothing under way on a channel whose queues take `slots` descriptors each.
    pub(crate) fn new(slots: u32, ring_log2: u32, channel: u32) -> Result<Self> {
        let ring = Ring::new(ring_log2, channel)?;
        Ok(Self {
            occupancy: Occupancy::new(slots, ring.entries())?,
            ring,
            channel,
            lanes: Default::default(),
            transfers: BTreeMap::new(),
            ended: BTreeMap::new(),
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
        for id in std::mem::take(&mut self.transfers).into_keys() {
            self.ended.insert(id, Err(Error::Restarted));
        }
        *self = Self {
            ended: std::mem::take(&mut self.ended),
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
        for (id, mut transfer) in std::mem::take(&mut self.transfers) {
            if transfer.pieces.remaining() > 0 {
                transfer.pieces.stop();
                transfer.failure.get_or_insert(Error::Stopped);
            }
            self.transfers.insert(id, transfer);
            self.settle(id);
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
        if let Some(transfer) = self.transfers.get_mut(&flight.transfer) {
            transfer.outstanding -= 1;
            transfer.failure.get_or_insert(Error::Stopped);
            self.settle(flight.transfer);
        }
        true
    }

    /// Notes the result of a transfer once nothing of it is left to be done.
    fn settle(&mut self, id: u64) {
        let over =
            |transfer: &Transfer<K>| transfer.outstanding == 0 && transfer.pieces.remaining() == 0;
        if self.transfers.get(&id).is_some_and(over)
            && let Some(transfer) = self.transfers.remove(&id)
        {
            let result = transfer.failure.map_or(Ok(transfer.done), Err);
            self.ended.insert(id, result);
        }
    }

    /// Takes a transfer on. What the board has room for goes to it by [`pump`](Self::pump).
    pub(crate) fn submit(&mut self, request: Request, keep: K) -> u64 {
        let id = self.next;
        self.next += 1;
        let transfer = Transfer {
            request,
            pieces: Pieces::new(request.peer, request.length, request.piece),
            outstanding: 0,
            done: 0,
            failure: None,
            _keep: keep,
        };
        self.transfers.insert(id, transfer);
        self.lane(request.direction).waiting.push_back(id);
        id
    }

    fn lane(&mut self, direction: Direction) -> &mut Lane {
        &mut self.lanes[direction as usize]
    }

    /// Gives the board what it has room for.
    pub(crate) fn pump(&mut self, port: &mut impl Post) -> Result<()> {
        for direction in Direction::BOTH {
            while self.pump_one(direction, port)? {}
        }
        Ok(())
    }

    /// Gives the board one piece; says whether more can go.
    fn pump_one(&mut self, direction: Direction, port: &mut impl Post) -> Result<bool> {
        let lane = &mut self.lanes[direction as usize];
        let Some(&id) = lane.waiting.front() else {
            return Ok(false);
        };
        let Some(transfer) = self.transfers.get_mut(&id) else {
            lane.waiting.pop_front();
            return Ok(true);
        };
        let Some(more) = transfer.pieces.remaining().checked_sub(1) else {
            lane.waiting.pop_front();
            return Ok(true);
        };
        let Some(ticket) = self.occupancy.submit(direction, more) else {
            return Ok(false);
        };
        let short = || broken("a transfer has fewer pieces than it said");
        let piece = transfer.pieces.next().ok_or_else(short)?;
        let request = transfer.request;
        let descriptor = Descriptor {
            peer: request.peer.checked_add(piece.start).ok_or_else(short)?,
            local: request.local + piece.start,
            length: piece.length,
            control: Control {
                // Each piece: one that fails without a record would go unseen.
                record: true,
                interrupt: ticket.interrupt,
                // The flush of the last piece covers those before it.
                no_flush: direction == Direction::Write && more > 0,
                ..Default::default()
            },
            cookie: ticket.cookie,
        };
        let dwords = descriptor.encode().map_err(broken)?;
        port.post(direction, &dwords, ticket.freed);
        transfer.outstanding += 1;
        lane.flights.push_back(Flight {
            cookie: ticket.cookie,
            transfer: id,
            length: piece.length,
            interrupt: ticket.interrupt,
        });
        Ok(true)
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
        let transfer = self.transfers.get_mut(&flight.transfer);
        let transfer =
            transfer.ok_or_else(|| broken("a record names a transfer that has ended"))?;
        transfer.outstanding -= 1;
        if transfer.failure.is_none() {
            transfer.done += u64::from(record.bytes_done.min(flight.length));
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
                    transfer.pieces.stop();
                    let request = &transfer.request;
                    transfer.failure = Some(Error::Fault {
                        direction: request.direction,
                        fault,
                        bytes_done: transfer.done,
                        length: request.length,
                        offset: (record.fault_address)
                            .and_then(|at| at.offset_from(request.peer))
                            .filter(|offset| *offset < request.length),
                    });
                }
            }
        }
        self.settle(flight.transfer);
        Ok(())
    }

    /// Hands the result of a transfer out, once, if it has ended.
    pub(crate) fn take(&mut self, id: u64) -> Result<Option<u64>> {
        match self.ended.remove(&id) {
            Some(result) => result.map(Some),
            None if self.transfers.contains_key(&id) => Ok(None),
            None => Err(Error::Unknown),
        }
    }

    /// Transfers that have not ended.
    pub(crate) fn under_way(&self) -> usize {
        self.transfers.len()
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
