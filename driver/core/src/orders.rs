// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptors that the driver writes for a process, and their results.

use super::descriptor::Direction;
use super::fault::Fault;
use super::queue::{Occupancy, QueueError, Ticket};
use super::record::Record;
use super::ring::{Ring, RingError, Slots};
use core::fmt;
use core::ops::DerefMut;

/// States of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The descriptor does not exist.
    None,
    /// The descriptor with this cookie is in progress.
    Pending {
        /// The cookie.
        cookie: u32,
        /// Bytes that were moved another way.
        beside: Beside,
    },
    /// It has ended.
    Ended(Record),
}

/// Bytes of a caller's transfer that are moved another way than by its descriptor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside {
    /// Bytes before the descriptor's. They count as moved also if it fails.
    pub before: u32,
    /// Bytes after the descriptor's. They count if it succeeds: the count of a failure has only bytes that are moved
    /// without a gap.
    pub behind: u32,
}

/// The account of one channel: its queues, its ring, and how each descriptor ended.
///
/// `S` is the storage for one direction, of [`look_back`] places.
#[derive(Debug)]
pub struct Orders<S> {
    channel: u32,
    occupancy: Occupancy,
    ring: Ring,
    sides: [S; 2],
}

/// Reasons why the account and the board do not fit any more, until the channel is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrdersError {
    /// The number of places is not that of [`look_back`].
    Storage,
    /// The contents of the ring are invalid.
    Ring(RingError),
    /// A record is of no descriptor.
    Queue(QueueError),
}

impl fmt::Display for OrdersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Storage => f.write_str("the account of a channel has too few places"),
            Self::Ring(error) => error.fmt(f),
            Self::Queue(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for OrdersError {}

impl From<RingError> for OrdersError {
    fn from(error: RingError) -> Self {
        Self::Ring(error)
    }
}

impl From<QueueError> for OrdersError {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}

/// Returns how many descriptors of a direction are known: those that are in progress in a queue of `slots`, and the
/// same number of descriptors that have ended. A power of two.
pub const fn look_back(slots: u32) -> usize {
    (2 * slots as usize).next_power_of_two()
}

const fn index(direction: Direction) -> usize {
    match direction {
        Direction::FromFpga => 0,
        Direction::ToFpga => 1,
    }
}

impl<S: DerefMut<Target = [Standing]>> Orders<S> {
    /// Makes an account in which nothing was submitted yet. All of `sides`, for writes and for reads, is
    /// [`Standing::None`].
    pub fn new(
        slots: u32,
        ring_log2: u32,
        channel: u32,
        sides: [S; 2],
    ) -> Result<Self, OrdersError> {
        if sides.iter().any(|side| side.len() != look_back(slots)) {
            return Err(OrdersError::Storage);
        }
        let ring = Ring::new(ring_log2, channel)?;
        Ok(Self {
            channel,
            occupancy: Occupancy::new(slots, ring.entries())?,
            ring,
            sides,
        })
    }

    fn place(&mut self, direction: Direction, cookie: u32) -> &mut Standing {
        let side = &mut self.sides[index(direction)];
        // Their number is a power of two.
        let place = cookie as usize & (side.len() - 1);
        &mut side[place]
    }

    /// Submits a descriptor: `ring` writes it, and rings the doorbell. `None`: there is no room. A descriptor that
    /// `ring` refuses leaves no trace in the account. The bytes of `beside` count when it ends.
    pub fn submit<E>(
        &mut self,
        direction: Direction,
        beside: Beside,
        ring: impl FnOnce(Ticket) -> Result<(), E>,
    ) -> Result<Option<u32>, E> {
        let Some(ticket) = self.occupancy.submit(direction, 0) else {
            return Ok(None);
        };
        if let Err(error) = ring(ticket) {
            self.occupancy.withdraw(direction, ticket);
            return Err(error);
        }
        let cookie = ticket.cookie;
        *self.place(direction, cookie) = Standing::Pending { cookie, beside };
        Ok(Some(cookie))
    }

    /// Records the descriptors that have ended, and shows each record to `seen`.
    pub fn collect(
        &mut self,
        slots: &mut impl Slots,
        mut seen: impl FnMut(&Record),
    ) -> Result<(), OrdersError> {
        while let Some(record) = self.ring.poll(slots)? {
            self.occupancy.complete(record.direction, record.cookie)?;
            seen(&record);
            let place = self.place(record.direction, record.cookie);
            let moved = match *place {
                Standing::Pending { beside, .. } if record.outcome.is_ok() => {
                    beside.before + beside.behind
                }
                Standing::Pending { beside, .. } => beside.before,
                Standing::None | Standing::Ended(_) => 0,
            };
            *place = Standing::Ended(Record {
                bytes_done: record.bytes_done.saturating_add(moved),
                ..record
            });
        }
        Ok(())
    }

    /// Sets how many bytes of its caller's transfer an ended descriptor has moved: it moved others in their place, so
    /// the address of a fault means nothing to the caller.
    pub fn amend(&mut self, direction: Direction, cookie: u32, bytes_done: u32) {
        if let Standing::Ended(record) = self.standing(direction, cookie) {
            *self.place(direction, cookie) = Standing::Ended(Record {
                bytes_done,
                fault_address: None,
                header: 0,
                ..record
            });
        }
    }

    /// Returns the state of a descriptor; [`Standing::None`] also for one that is not known any more.
    pub fn standing(&mut self, direction: Direction, cookie: u32) -> Standing {
        let known = match *self.place(direction, cookie) {
            Standing::None => return Standing::None,
            Standing::Pending { cookie, .. } => cookie,
            Standing::Ended(record) => record.cookie,
        };
        match known == cookie {
            true => *self.place(direction, cookie),
            false => Standing::None,
        }
    }

    /// Returns the number of descriptors in progress.
    pub fn outstanding(&self, direction: Direction) -> u32 {
        self.occupancy.outstanding(direction)
    }

    /// Returns the cookie of the descriptor that was submitted last, if it is in progress. The others of its
    /// direction end before it.
    pub fn newest(&self, direction: Direction) -> Option<u32> {
        self.occupancy.newest(direction)
    }

    /// Records that the channel is started again, from the first slot of its ring on: descriptors that were in
    /// progress have ended as aborted. Cookies go on.
    pub fn restart(&mut self) {
        self.ring.restart();
        self.occupancy.restart();
        for direction in Direction::BOTH {
            for place in self.sides[index(direction)].iter_mut() {
                if let Standing::Pending { cookie, beside } = *place {
                    *place = Standing::Ended(Record {
                        cookie,
                        direction,
                        channel: self.channel,
                        phase: false,
                        outcome: Err(Fault::Aborted),
                        bytes_done: beside.before,
                        sequence: 0,
                        fault_address: None,
                        header: 0,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::DWORDS;
    use Direction::{FromFpga, ToFpga};
    use std::vec;
    use std::vec::Vec;

    const SLOTS: u32 = 4;
    const RING_LOG2: u32 = 3;
    const CHANNEL: u32 = 5;

    struct Memory(Vec<[u32; DWORDS]>);

    impl Slots for Memory {
        fn status(&mut self, index: u32) -> u32 {
            self.0[index as usize][1]
        }
        fn record(&mut self, index: u32) -> [u32; DWORDS] {
            self.0[index as usize]
        }
    }

    /// A channel as in the block: it counts the free slots of its ring.
    struct Channel {
        memory: Memory,
        sequence: u32,
        free: u32,
        queued: Vec<(Direction, u32)>,
    }

    impl Channel {
        fn new() -> Self {
            Self {
                memory: Memory(vec![[0; DWORDS]; 1 << RING_LOG2]),
                sequence: 0,
                free: 1 << RING_LOG2,
                queued: vec![],
            }
        }

        /// Rings a doorbell, which must be accepted, and must not report too many free slots.
        fn ring(&mut self, direction: Direction, ticket: Ticket) {
            self.free += u32::from(ticket.freed);
            let waiting = self.queued.len() as u32;
            assert!(self.free <= (1 << RING_LOG2) - waiting, "freed too much");
            assert!(self.free > 0, "no slot is free");
            self.free -= 1;
            self.queued.push((direction, ticket.cookie));
        }

        fn end(&mut self) {
            let (direction, cookie) = self.queued.remove(0);
            let record = Record {
                cookie,
                direction,
                channel: CHANNEL,
                phase: self.sequence >> RING_LOG2 & 1 == 0,
                outcome: Ok(()),
                bytes_done: 1,
                sequence: self.sequence,
                fault_address: None,
                header: 0,
            };
            let slot = self.sequence as usize % (1 << RING_LOG2);
            self.memory.0[slot] = record.encode();
            self.sequence += 1;
        }
    }

    fn orders() -> Orders<Vec<Standing>> {
        let side = || vec![Standing::None; look_back(SLOTS)];
        Orders::new(SLOTS, RING_LOG2, CHANNEL, [side(), side()]).unwrap()
    }

    fn submit(
        orders: &mut Orders<Vec<Standing>>,
        channel: &mut Channel,
        direction: Direction,
    ) -> u32 {
        let rung = orders.submit(direction, Beside::default(), |ticket| {
            channel.ring(direction, ticket);
            Ok::<_, ()>(())
        });
        rung.unwrap().unwrap()
    }

    fn refused(orders: &mut Orders<Vec<Standing>>, direction: Direction) {
        assert_eq!(
            orders.submit(direction, Beside::default(), |_| Err("away")),
            Err("away")
        );
    }

    /// However often a doorbell cannot be rung, the queue has room when it can again.
    #[test]
    fn what_was_refused_never_was() {
        let (mut orders, mut channel) = (orders(), Channel::new());
        let first = submit(&mut orders, &mut channel, FromFpga);
        for _ in 0..100 {
            refused(&mut orders, FromFpga);
            refused(&mut orders, ToFpga);
        }
        assert_eq!(
            [FromFpga, ToFpga].map(|way| orders.outstanding(way)),
            [1, 0]
        );
        assert_eq!(
            [FromFpga, ToFpga].map(|way| orders.newest(way)),
            [Some(first), None]
        );
        assert_eq!(
            orders.standing(FromFpga, first),
            Standing::Pending {
                cookie: first,
                beside: Beside::default()
            }
        );
        assert_eq!(orders.standing(FromFpga, first + 1), Standing::None);
        channel.end();
        orders.collect(&mut channel.memory, |_| {}).unwrap();
        // The next doorbell that is rung reports the end, once, after any number of refused ones.
        refused(&mut orders, ToFpga);
        for _ in 0..20 {
            for way in [ToFpga, FromFpga] {
                let cookie = submit(&mut orders, &mut channel, way);
                channel.end();
                orders.collect(&mut channel.memory, |_| {}).unwrap();
                let order = orders.standing(way, cookie);
                assert!(matches!(order, Standing::Ended(record) if record.outcome.is_ok()));
            }
        }
        assert_eq!(channel.free, (1 << RING_LOG2) - 1);
    }

    /// A descriptor that is refused does not replace the result of an ended one at its place.
    #[test]
    fn what_was_refused_hides_nothing() {
        let (mut orders, mut channel) = (orders(), Channel::new());
        let known: Vec<u32> = (0..look_back(SLOTS))
            .map(|_| {
                let cookie = submit(&mut orders, &mut channel, FromFpga);
                channel.end();
                orders.collect(&mut channel.memory, |_| {}).unwrap();
                cookie
            })
            .collect();
        refused(&mut orders, FromFpga);
        for cookie in known {
            assert!(matches!(
                orders.standing(FromFpga, cookie),
                Standing::Ended(_)
            ));
        }
    }

    /// A channel that was started again has a free ring: the first doorbell frees nothing.
    #[test]
    fn a_restart_owes_no_slots() {
        let (mut orders, mut channel) = (orders(), Channel::new());
        let ended = submit(&mut orders, &mut channel, FromFpga);
        channel.end();
        orders.collect(&mut channel.memory, |_| {}).unwrap();
        let lost = submit(&mut orders, &mut channel, ToFpga);
        channel = Channel::new();
        orders.restart();
        assert_eq!(
            [FromFpga, ToFpga].map(|way| orders.outstanding(way)),
            [0, 0]
        );
        assert!(
            matches!(orders.standing(FromFpga, ended), Standing::Ended(record) if record.outcome.is_ok())
        );
        let aborted = orders.standing(ToFpga, lost);
        assert!(
            matches!(aborted, Standing::Ended(record) if record.outcome == Err(Fault::Aborted)),
            "{aborted:?}"
        );
        let mut told = vec![];
        for _ in 0..SLOTS {
            let rung = orders.submit(FromFpga, Beside::default(), |ticket| {
                told.push(ticket.freed);
                channel.ring(FromFpga, ticket);
                Ok::<_, ()>(())
            });
            assert!(rung.unwrap().is_some());
        }
        assert_eq!(told, [0; SLOTS as usize]);
        assert_eq!(
            orders.submit(FromFpga, Beside::default(), |_| Ok::<_, ()>(())),
            Ok(None)
        );
    }

    /// Bytes that were moved another way count: with the rest, or alone.
    #[test]
    fn what_was_moved_before_counts() {
        let (mut orders, mut channel) = (orders(), Channel::new());
        let give = |orders: &mut Orders<_>, channel: &mut Channel, before| {
            let beside = Beside { before, behind: 9 };
            let rung = orders.submit(FromFpga, beside, |ticket| {
                channel.ring(FromFpga, ticket);
                Ok::<_, ()>(())
            });
            rung.unwrap().unwrap()
        };
        let [ended, other, lost] = [3, 0, 5].map(|before| give(&mut orders, &mut channel, before));
        channel.end();
        channel.end();
        orders.collect(&mut channel.memory, |_| {}).unwrap();
        // One that has not ended is not amended.
        orders.amend(FromFpga, other, 2);
        orders.amend(FromFpga, lost, 2);
        orders.restart();
        let bytes = [ended, other, lost].map(|cookie| match orders.standing(FromFpga, cookie) {
            Standing::Ended(record) => record.bytes_done,
            standing => panic!("{standing:?}"),
        });
        // A lost descriptor leaves a gap, so bytes after it do not count.
        assert_eq!(bytes, [13, 2, 5]);
    }

    #[test]
    fn a_record_of_nothing_is_an_error() {
        let (mut orders, mut channel) = (orders(), Channel::new());
        channel.queued.push((FromFpga, 7));
        channel.end();
        let error = orders.collect(&mut channel.memory, |_| {}).unwrap_err();
        assert!(matches!(error, OrdersError::Queue(_)), "{error}");
        let short = [vec![Standing::None; 2], vec![Standing::None; 2]];
        let made = Orders::new(SLOTS, RING_LOG2, CHANNEL, short);
        assert_eq!(made.map(|_| ()), Err(OrdersError::Storage));
    }
}
