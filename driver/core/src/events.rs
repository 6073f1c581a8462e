// SPDX-License-Identifier: MIT OR Apache-2.0
//! What has happened to a context, and what of it its user has been told.
//!
//! Telling takes two steps: the answer is copied to the user, which may fail or take its time, and
//! only then counts as told. What happened in between is still news.

/// What has happened to a context so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Interrupts, and other reasons to look at the ring.
    pub events: u64,
    /// Times that the channel was started anew, modulo 2^32.
    pub generation: u32,
    /// Times that the owner of a region has taken its memory back.
    pub revoked: u64,
    /// The board does not answer, or has been let go.
    pub gone: bool,
}

/// What has happened, and what is known of it.
#[derive(Debug, Clone, Default)]
pub struct Account {
    seen: Seen,
    /// `events` as the user knows them.
    told: u64,
}

impl Account {
    /// Nothing has happened.
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

    /// What has happened so far.
    pub const fn seen(&self) -> Seen {
        self.seen
    }

    /// There is a reason to look at the ring. No count stops the driver by an overflow: a process
    /// makes as many events as it likes.
    pub fn event(&mut self) {
        self.seen.events = self.seen.events.wrapping_add(1);
    }

    /// The channel starts again at the first slot of its ring, of a board that may have been gone.
    /// Returns the new generation.
    pub fn restarted(&mut self) -> u32 {
        self.seen.gone = false;
        self.seen.generation = self.seen.generation.wrapping_add(1);
        self.event();
        self.seen.generation
    }

    /// A region's memory was taken back.
    pub fn revoked(&mut self) {
        self.seen.revoked = self.seen.revoked.wrapping_add(1);
        self.event();
    }

    /// The board is gone, until it is started again, if ever.
    pub fn gone(&mut self) {
        self.seen.gone = true;
        self.event();
    }

    /// The user has been told this much.
    pub fn told(&mut self, seen: &Seen) {
        // Of two threads that ask at once the later one may have the older answer.
        self.told = self.told.max(seen.events);
    }

    /// Whether there is something that the user has not been told.
    pub const fn has_news(&self) -> bool {
        self.told != self.seen.events
    }
}

/// Whether a process that writes descriptors itself may have them accepted: not from when it gets the
/// channel, or from a start of that, until it has been told of the present generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// The generation that the process is to be told of.
    untold: Option<u32>,
}

impl Admission {
    /// It may not: it has just got a channel of this generation. What it was told before says nothing,
    /// for it may not have seen it as the state of what it writes now.
    pub const fn new(generation: u32) -> Self {
        Self {
            untold: Some(generation),
        }
    }

    /// The channel was started anew, with this generation.
    pub fn restarted(&mut self, generation: u32) {
        self.untold = Some(generation);
    }

    /// Whether it may not.
    pub const fn is_halted(&self) -> bool {
        self.untold.is_some()
    }

    /// Whether to be told of this generation is what it waits for.
    pub fn waits_for(&self, generation: u32) -> bool {
        self.untold == Some(generation)
    }

    /// From now on it may.
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
        // It was asked for, and not told yet.
        assert!(account.has_news());
        account.revoked();
        let second = account.seen();
        account.told(&first);
        assert!(account.has_news());
        account.told(&second);
        assert!(!account.has_news());
        // An answer that comes late takes nothing back.
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
        // And again, while it was being told.
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
