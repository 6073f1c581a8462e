// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of a context, and the events that its user has seen.
//!
//! Reporting takes two steps: the answer is copied to the user, which may fail or take its time, and only then counts
//! as seen. Events in between are still unseen.

/// Events of a context so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Interrupts, and other reasons to look at the ring.
    pub events: u64,
    /// Number of restarts of the channel, modulo 2^32.
    pub generation: u32,
    /// Times that the owner of a region has invalidated its memory.
    pub revoked: u64,
    /// The board does not answer, or was released.
    pub gone: bool,
}

/// Events of a context, and the part that its user has seen.
#[derive(Debug, Clone, Default)]
pub struct Account {
    seen: Seen,
    /// `events` as the user knows it.
    told: u64,
}

impl Account {
    /// Makes the account without events.
    pub const fn new() -> Self {
        Self {
            seen: Seen {
                events: 0,
                generation: 0,
                revoked: 0,
                gone: false,
            },
            told: 0,
        }
    }

    /// Returns the events so far.
    pub const fn seen(&self) -> Seen {
        self.seen
    }

    /// Counts a reason to look at the ring. An overflow of the count must not stop the driver: a process makes as
    /// many events as it likes.
    pub fn event(&mut self) {
        self.seen.events = self.seen.events.wrapping_add(1);
    }

    /// Records that the channel starts again at the first slot of its ring, of a board that may have been gone.
    /// Returns the new generation.
    pub fn restarted(&mut self) -> u32 {
        self.seen.gone = false;
        self.seen.generation = self.seen.generation.wrapping_add(1);
        self.event();
        self.seen.generation
    }

    /// Records that a region's memory was invalidated by its owner.
    pub fn revoked(&mut self) {
        self.seen.revoked = self.seen.revoked.wrapping_add(1);
        self.event();
    }

    /// Records that the board is gone, until it is started again, if ever.
    pub fn gone(&mut self) {
        self.seen.gone = true;
        self.event();
    }

    /// Records the events that the user has seen.
    pub fn told(&mut self, seen: &Seen) {
        // If two threads ask at the same time, the later one may have the older answer.
        self.told = self.told.max(seen.events);
    }

    /// Whether there are events that the user has not seen.
    pub const fn has_news(&self) -> bool {
        self.told != self.seen.events
    }
}

/// Whether the descriptors of a process that writes them itself may be accepted. They may not from the time when it
/// gets the channel, or from a restart of the channel, until it has seen the present generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// The generation that the process must see.
    untold: Option<u32>,
}

impl Admission {
    /// Makes the state of a process that has just got a channel of this generation: it may not. Earlier answers do
    /// not count, for the process may not have taken them as the state of the descriptors that it writes now.
    pub const fn new(generation: u32) -> Self {
        Self {
            untold: Some(generation),
        }
    }

    /// Records that the channel was started again, with this generation.
    pub fn restarted(&mut self, generation: u32) {
        self.untold = Some(generation);
    }

    /// Whether descriptors may not be accepted.
    pub const fn is_halted(&self) -> bool {
        self.untold.is_some()
    }

    /// Whether the process waits to see this generation.
    pub fn waits_for(&self, generation: u32) -> bool {
        self.untold == Some(generation)
    }

    /// Lets descriptors be accepted from now on.
    pub fn admit(&mut self) {
        self.untold = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_told_is_news() {
        let mut account = Account::new();
        assert!(!account.has_news());
        account.event();
        let first = account.seen();
        // It was queried, but not yet reported as seen.
        assert!(account.has_news());
        account.revoked();
        let second = account.seen();
        account.told(&first);
        assert!(account.has_news());
        account.told(&second);
        assert!(!account.has_news());
        // A late answer does not undo a later one.
        account.told(&first);
        assert!(!account.has_news());
        assert_eq!(
            (second.events, second.revoked, second.generation),
            (2, 1, 0)
        );
        account.gone();
        assert!(account.has_news() && account.seen().gone);
        // It came back.
        assert_eq!(account.restarted(), 1);
        assert!(!account.seen().gone);
    }

    #[test]
    fn a_process_is_admitted_by_the_generation_that_it_was_told() {
        let mut account = Account::new();
        let before = account.seen();
        let mut admission = Admission::new(before.generation);
        assert!(admission.is_halted() && admission.waits_for(before.generation));
        admission.admit();
        assert!(!admission.is_halted());
        admission.restarted(account.restarted());
        // The answer was made before the start.
        assert!(admission.is_halted() && !admission.waits_for(before.generation));
        let once = account.seen();
        assert!(admission.waits_for(once.generation));
        // And again, while it was being reported.
        admission.restarted(account.restarted());
        assert!(!admission.waits_for(once.generation));
        assert!(admission.waits_for(account.seen().generation));
        admission.admit();
        assert!(!admission.is_halted());
        assert!(!admission.waits_for(account.seen().generation));
    }

    #[test]
    fn counts_that_are_full_begin_anew() {
        let mut account = Account {
            seen: Seen {
                events: u64::MAX,
                generation: u32::MAX,
                revoked: u64::MAX,
                gone: false,
            },
            told: u64::MAX - 1,
        };
        assert!(account.has_news());
        assert_eq!(account.restarted(), 0);
        account.revoked();
        assert_eq!(
            account.seen(),
            Seen {
                events: 1,
                ..Seen::default()
            }
        );
    }
}
