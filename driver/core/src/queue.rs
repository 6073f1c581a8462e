// SPDX-License-Identifier: MIT OR Apache-2.0
//! Occupancy of a channel's two descriptor queues and its completion ring.
//!
//! The board refuses a doorbell for which its queue has no room. It also refuses one whose record would have no slot
//! of the ring, according to the free slots that were reported to the board. This account prevents both. It returns
//! the number that each doorbell has to report, and the cookies: per direction they count the descriptors, so a
//! record identifies the descriptor that ended, and with it all earlier ones, for the board works through each queue
//! in order.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::descriptor::Direction;
use super::ring::MAX_LOG2;
use core::fmt;

/// The account of one channel.
#[derive(Debug, Clone)]
pub struct Occupancy {
    write: Side,
    read: Side,
    /// Descriptors that have ended and that no doorbell has reported to the board.
    untold: u16,
}

#[derive(Debug, Clone)]
struct Side {
    /// Descriptors that may be outstanding.
    limit: u32,
    /// Cookie of the oldest outstanding descriptor.
    oldest: u32,
    /// Cookie of the next descriptor.
    next: u32,
    /// Descriptors since the last one that raises an interrupt.
    silent: u32,
}

/// Permission to ring one doorbell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// The descriptor's cookie.
    pub cookie: u32,
    /// Whether the descriptor must raise the interrupt.
    pub interrupt: bool,
    /// Value that the doorbell reports: ended descriptors whose slots of the ring are free again.
    pub freed: u16,
    /// The direction's earlier count of silent descriptors.
    silent: u32,
}

/// Reasons why a completion does not fit the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueError {
    /// No descriptor with this cookie is outstanding.
    Cookie {
        /// The direction.
        direction: Direction,
        /// The cookie.
        cookie: u32,
    },
    /// The queue or the ring has no room at all.
    Capacity {
        /// Slots of each queue.
        slots: u32,
        /// Records in the ring.
        ring: u64,
    },
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cookie { direction, cookie } => write!(
                f,
                "a completion record names the {direction} descriptor {cookie}, which is not outstanding"
            ),
            Self::Capacity { slots, ring } => write!(
                f,
                "a queue of {slots} descriptors with a ring of {ring} records can hold nothing"
            ),
        }
    }
}

impl core::error::Error for QueueError {}

impl Side {
    fn outstanding(&self) -> u32 {
        self.next.wrapping_sub(self.oldest)
    }
}

impl Occupancy {
    /// Makes an empty account for queues of `slots` descriptors in each direction and a ring of `ring` records.
    ///
    /// Each outstanding descriptor counts as an outstanding record. A direction gets at
    /// most half the ring, so that neither can take the other's room.
    pub fn new(slots: u32, ring: u64) -> Result<Self, QueueError> {
        let half = u32::try_from(ring / 2).unwrap_or(u32::MAX);
        let limit = slots.min(half);
        if limit == 0 {
            return Err(QueueError::Capacity { slots, ring });
        }
        let side = Side {
            limit,
            oldest: 0,
            next: 0,
            silent: 0,
        };
        Ok(Self {
            write: side.clone(),
            read: side,
            untold: 0,
        })
    }

    /// Returns log2 of the records in a ring that lets two queues of `slots` descriptors be full, or in the largest
    /// ring.
    pub const fn ring_log2(slots: u32) -> u32 {
        let log2 = if slots <= 1 << (MAX_LOG2 - 1) {
            slots.saturating_mul(2).next_power_of_two().trailing_zeros()
        } else {
            MAX_LOG2
        };
        // A record for each direction at least.
        if log2 == 0 { 1 } else { log2 }
    }

    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::FromFpga => &self.write,
            Direction::ToFpga => &self.read,
        }
    }

    fn side_mut(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::FromFpga => &mut self.write,
            Direction::ToFpga => &mut self.read,
        }
    }

    /// Returns the number of descriptors in progress.
    pub fn outstanding(&self, direction: Direction) -> u32 {
        self.side(direction).outstanding()
    }

    /// Returns the cookie of the youngest descriptor in progress.
    pub fn newest(&self, direction: Direction) -> Option<u32> {
        let side = self.side(direction);
        (side.outstanding() > 0).then(|| side.next.wrapping_sub(1))
    }

    /// Returns the number of doorbells that may be rung now.
    pub fn room(&self, direction: Direction) -> u32 {
        let side = self.side(direction);
        side.limit.saturating_sub(side.outstanding())
    }

    /// Takes one place, if there is one. `more` is the number of pieces of the same
    /// transfer that come after this one.
    ///
    /// The interrupt is for a transfer's last piece. A transfer that does not fit the
    /// queue raises a few more on the way, so that the rest can be queued in time.
    pub fn submit(&mut self, direction: Direction, more: u64) -> Option<Ticket> {
        let room = self.room(direction).checked_sub(1)?;
        let freed = core::mem::take(&mut self.untold);
        let side = self.side_mut(direction);
        let silent = side.silent.saturating_add(1);
        let due = more > u64::from(room) && silent >= (side.limit / 4).max(1);
        let ticket = Ticket {
            cookie: side.next,
            interrupt: more == 0 || due,
            freed,
            silent: side.silent,
        };
        side.silent = if ticket.interrupt { 0 } else { silent };
        side.next = side.next.wrapping_add(1);
        Some(ticket)
    }

    /// Takes back a ticket whose doorbell was not rung, if it is the last one of its direction. Any other ticket is
    /// left alone.
    pub fn withdraw(&mut self, direction: Direction, ticket: Ticket) {
        let side = self.side_mut(direction);
        if side.outstanding() == 0 || ticket.cookie.wrapping_add(1) != side.next {
            return;
        }
        side.next = ticket.cookie;
        side.silent = ticket.silent;
        self.untold = self.untold.saturating_add(ticket.freed);
    }

    /// Records that the oldest descriptor of a direction was refused: it has no slot of the ring, so no doorbell must
    /// report it. Nothing happens where none is outstanding.
    pub fn lose(&mut self, direction: Direction) {
        let side = self.side_mut(direction);
        if side.outstanding() > 0 {
            side.oldest = side.oldest.wrapping_add(1);
        }
    }

    /// Records that the channel was started again: no descriptor is in progress, and its whole ring is free without a
    /// doorbell that reports it. Cookies go on.
    pub fn restart(&mut self) {
        for side in [&mut self.write, &mut self.read] {
            side.oldest = side.next;
            side.silent = 0;
        }
        self.untold = 0;
    }

    /// Records that descriptor `cookie` has ended, and all before it. Returns how many places that frees, at least 1.
    pub fn complete(&mut self, direction: Direction, cookie: u32) -> Result<u32, QueueError> {
        let side = self.side_mut(direction);
        let before = cookie.wrapping_sub(side.oldest);
        if before >= side.outstanding() {
            return Err(QueueError::Cookie { direction, cookie });
        }
        side.oldest = cookie.wrapping_add(1);
        // Not more than the ring has slots, 2^15 at most.
        let freed = before.saturating_add(1);
        self.untold = self.untold.saturating_add(freed as u16);
        Ok(freed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{FromFpga, ToFpga};

    #[test]
    fn a_full_queue_gives_no_ticket() {
        let mut queue = Occupancy::new(4, 8).unwrap();
        for cookie in 0..4 {
            assert_eq!(queue.submit(FromFpga, 0).unwrap().cookie, cookie);
        }
        assert_eq!(queue.submit(FromFpga, 0), None);
        assert_eq!(queue.room(ToFpga), 4);
        assert_eq!(queue.complete(FromFpga, 1), Ok(2));
        assert_eq!(queue.room(FromFpga), 2);
        assert_eq!(queue.submit(FromFpga, 0).unwrap().cookie, 4);
    }

    #[test]
    fn each_end_is_told_with_one_doorbell() {
        let mut queue = Occupancy::new(4, 8).unwrap();
        let told = |queue: &mut Occupancy, direction| queue.submit(direction, 0).unwrap().freed;
        for direction in [FromFpga, FromFpga, ToFpga, FromFpga] {
            assert_eq!(told(&mut queue, direction), 0);
        }
        queue.complete(FromFpga, 1).unwrap();
        queue.complete(ToFpga, 0).unwrap();
        // A doorbell of either direction reports the ends of both, each once.
        assert_eq!(told(&mut queue, ToFpga), 3);
        assert_eq!(told(&mut queue, ToFpga), 0);
        queue.complete(FromFpga, 2).unwrap();
        while queue.room(ToFpga) > 0 {
            queue.submit(ToFpga, 0);
        }
        // Without a ticket nothing is reported.
        queue.complete(ToFpga, 1).unwrap();
        while queue.room(ToFpga) > 0 {
            queue.submit(ToFpga, 0);
        }
        assert_eq!(queue.submit(ToFpga, 0), None);
        assert_eq!(told(&mut queue, FromFpga), 0);
    }

    #[test]
    fn a_ticket_that_is_taken_back_was_never_given() {
        let mut queue = Occupancy::new(4, 8).unwrap();
        let first = queue.submit(FromFpga, 0).unwrap();
        queue.submit(ToFpga, 0).unwrap();
        queue.complete(ToFpga, 0).unwrap();
        let (before, next) = (queue.clone(), queue.submit(FromFpga, 9).unwrap());
        assert_eq!((next.cookie, next.freed), (1, 1));
        // Only the last can be taken back.
        queue.withdraw(FromFpga, first);
        assert_eq!(queue.outstanding(FromFpga), 2);
        queue.withdraw(FromFpga, next);
        assert_eq!(std::format!("{queue:?}"), std::format!("{before:?}"));
        // And once.
        queue.withdraw(FromFpga, next);
        assert_eq!(queue.outstanding(FromFpga), 1);
        assert_eq!(queue.submit(FromFpga, 9), Some(next));
    }

    #[test]
    fn what_was_refused_frees_its_place_and_no_slot() {
        let mut queue = Occupancy::new(2, 4).unwrap();
        for _ in 0..2 {
            queue.submit(FromFpga, 0).unwrap();
        }
        queue.lose(FromFpga);
        assert_eq!((queue.room(FromFpga), queue.room(ToFpga)), (1, 2));
        assert_eq!(queue.complete(FromFpga, 1), Ok(1));
        queue.lose(FromFpga);
        let ticket = queue.submit(FromFpga, 0).unwrap();
        assert_eq!((ticket.cookie, ticket.freed), (2, 1));
    }

    #[test]
    fn a_restart_tells_of_nothing() {
        let mut queue = Occupancy::new(4, 8).unwrap();
        for direction in [FromFpga, FromFpga, ToFpga] {
            queue.submit(direction, 0).unwrap();
        }
        queue.complete(FromFpga, 0).unwrap();
        queue.restart();
        assert_eq!((queue.room(FromFpga), queue.room(ToFpga)), (4, 4));
        let ticket = queue.submit(FromFpga, 0).unwrap();
        assert_eq!((ticket.cookie, ticket.freed), (2, 0));
        assert_eq!(queue.submit(ToFpga, 0).unwrap().cookie, 1);
    }

    #[test]
    fn a_small_ring_bounds_the_queue() {
        let mut queue = Occupancy::new(1024, 8).unwrap();
        assert_eq!((queue.room(FromFpga), queue.room(ToFpga)), (4, 4));
        for direction in Direction::BOTH {
            while queue.submit(direction, 0).is_some() {}
        }
        assert_eq!(queue.outstanding(FromFpga) + queue.outstanding(ToFpga), 8);
        assert!(Occupancy::new(4, 1).is_err());
        assert!(Occupancy::new(0, 64).is_err());
    }

    #[test]
    fn the_ring_is_sized_to_the_share_of_a_channel() {
        // 1024 descriptors among 8 channels, 256 among 64, 4096 for one.
        for (slots, log2) in [(128, 8), (4, 3), (4096, 13), (85, 8), (1, 1)] {
            assert_eq!(Occupancy::ring_log2(slots), log2, "{slots}");
            let queue = Occupancy::new(slots, 1 << log2).unwrap();
            assert_eq!(queue.room(FromFpga), slots);
        }
        assert_eq!(Occupancy::ring_log2(0), 1);
        assert_eq!(Occupancy::ring_log2(u32::MAX), 15);
    }

    #[test]
    fn unknown_cookies_are_refused() {
        let mut queue = Occupancy::new(4, 8).unwrap();
        assert!(queue.complete(FromFpga, 0).is_err());
        queue.submit(FromFpga, 0).unwrap();
        assert!(queue.complete(FromFpga, 1).is_err());
        assert!(queue.complete(ToFpga, 0).is_err());
        assert_eq!(queue.complete(FromFpga, 0), Ok(1));
        assert!(queue.complete(FromFpga, 0).is_err());
    }

    #[test]
    fn a_transfer_that_fits_interrupts_once() {
        let mut queue = Occupancy::new(1024, 2048).unwrap();
        let interrupts = (0..1024u64)
            .filter(|i| queue.submit(FromFpga, 1023 - i).unwrap().interrupt)
            .count();
        assert_eq!(interrupts, 1);
    }

    #[test]
    fn a_transfer_that_does_not_fit_goes_on() {
        let mut queue = Occupancy::new(16, 32).unwrap();
        let (mut submitted, mut interrupts) = (0u64, 0);
        let mut waiting = None;
        while submitted < 100 {
            match queue.submit(ToFpga, 99 - submitted) {
                Some(ticket) => {
                    submitted += 1;
                    if ticket.interrupt {
                        interrupts += 1;
                        waiting.get_or_insert(ticket.cookie);
                    }
                }
                // Nothing happens before the next interrupt: there must be one.
                None => {
                    queue.complete(ToFpga, waiting.take().unwrap()).unwrap();
                }
            }
        }
        assert!(interrupts > 1 && interrupts <= 100 / 4 + 1);
    }

    #[test]
    fn cookies_wrap() {
        let mut queue = Occupancy::new(2, 4).unwrap();
        queue.write.next = u32::MAX;
        queue.write.oldest = u32::MAX;
        assert_eq!(queue.submit(FromFpga, 0).unwrap().cookie, u32::MAX);
        assert_eq!(queue.submit(FromFpga, 0).unwrap().cookie, 0);
        assert_eq!(queue.complete(FromFpga, 0), Ok(2));
        assert_eq!(queue.submit(FromFpga, 5).unwrap().cookie, 1);
    }
}
