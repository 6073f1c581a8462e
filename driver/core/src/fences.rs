// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of threads that want a fence.
//!
//! The block has one fence at a time. A thread that wants one looks whether the block is free, with pauses in
//! between. A new thread looks more often than one that has waited for long. So without an order, many threads that
//! begin one fence after the other could keep another thread from ever having its own: the owner of memory, which
//! invalidates it and must be served in bounded time.
//!
//! The order is that of arrival, among the threads that have looked during the last fence: the first of them is next.
//! It looks often, so that the block is not idle for long. The others look less often the more of them there are:
//! together about as often as one thread.
//!
//! A free block waits for the thread that is next, but not for long: a thread that gets no processor costs each fence
//! of others `GRACE` at most. It stays the first of all when it looks again.

use super::patience::{LONG, SHORT};

/// Nanoseconds for which a free block waits for the thread that is next. Longer than a short pause.
const GRACE: u64 = 10 * SHORT;

/// The longest pause of a thread that is not next, in nanoseconds. With 100 times `SHORT` it is reached when a
/// hundred threads wait.
const FAR: u64 = 4 * LONG;

/// The fences of a block. It is changed under the lock under which its registers are accessed.
#[derive(Debug, Default)]
pub struct Fences {
    begun: u64,
    /// The last fence that has failed; 0: none.
    failed: u64,
    tickets: u64,
    /// Number of threads with a ticket.
    waiting: u64,
    /// The ticket of the thread that is next: of the threads that have looked lately, the one that came first.
    next: Option<u64>,
    /// When the block was first seen free since the last fence.
    free_since: Option<u64>,
}

/// The place of one thread among those that want a fence.
#[derive(Debug, Default)]
pub struct Turn {
    /// Its own fence, if that may not be over.
    own: Option<u64>,
    /// The last of its own fences; 0: none.
    last: u64,
    /// Its ticket, since it had to wait.
    ticket: Option<u64>,
    /// At its last look the block was free, and it was another thread's turn.
    held_off: bool,
}

impl Turn {
    /// Whether the block was free at this thread's last look, and the thread had to wait for another one that was
    /// next. That says nothing about the block.
    pub const fn was_held_off(&self) -> bool {
        self.held_off
    }
}

impl Fences {
    /// Creates the state in which no fence was begun yet, and no thread waits.
    pub const fn new() -> Self {
        Self {
            begun: 0,
            failed: 0,
            tickets: 0,
            waiting: 0,
            next: None,
            free_since: None,
        }
    }

    /// Returns how many fences were begun, by all threads.
    pub const fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether a thread has to wait: for the end of its own fence, or for its turn. It looks at time `now`
    /// (nanoseconds) and finds the block `busy` with a fence, or not.
    ///
    /// A fence is begun only when the block was seen free under the lock. So if another one was begun after the
    /// thread's own, its own is over.
    pub fn waits(&mut self, turn: &mut Turn, busy: bool, now: u64) -> bool {
        turn.held_off = false;
        let free_since = match busy {
            true => None,
            false => Some(*self.free_since.get_or_insert(now)),
        };
        self.free_since = free_since;
        if let Some(own) = turn.own {
            if busy && self.begun == own {
                return true;
            }
            turn.own = None;
            return false;
        }
        let is_kept = free_since.is_some_and(|since| now.saturating_sub(since) <= GRACE);
        turn.held_off = is_kept && self.is_behind(turn);
        busy || turn.held_off
    }

    /// Records the block's status of the last fence with a read, at a look that finds the block free. A fence begins
    /// only after such a look, so no status is missed.
    pub fn hear(&mut self, failed: bool) {
        if failed {
            self.failed = self.begun;
        }
    }

    /// Whether the last fence of this thread has failed, if it had a read. A later failure of another thread's fence
    /// counts, too: this thread's own may have failed before.
    pub fn has_failed(&self, turn: &Turn) -> bool {
        turn.last != 0 && self.failed >= turn.last
    }

    /// Whether another thread that came earlier is next.
    fn is_behind(&self, turn: &Turn) -> bool {
        self.next
            .is_some_and(|next| turn.ticket.is_none_or(|ticket| next < ticket))
    }

    /// Registers that the thread has to wait, and will look again.
    pub fn will_look_again(&mut self, turn: &mut Turn) {
        if turn.own.is_some() {
            return;
        }
        let ticket = *turn.ticket.get_or_insert_with(|| {
            self.waiting += 1;
            self.tickets += 1;
            self.tickets
        });
        if !self.is_behind(turn) {
            self.next = Some(ticket);
        }
    }

    /// Returns how long the thread sleeps before it looks again, in nanoseconds. `pause` is the pause of a thread
    /// that waits only for the block. The thread that is next sleeps no longer than a free block waits.
    pub fn pause(&self, turn: &Turn, pause: u64) -> u64 {
        match turn.ticket {
            Some(ticket) if self.next != Some(ticket) => {
                SHORT.saturating_mul(self.waiting).min(FAR).max(pause)
            }
            // A pause longer than the grace would cost it its turn.
            Some(_) => pause.min(GRACE / 2),
            None => pause,
        }
    }

    /// Begins a fence of a thread that does not have to wait, or not any more.
    pub fn begin(&mut self, turn: &mut Turn) {
        if self.is_behind(turn) {
            // The thread that was next did not come.
            self.next = None;
        }
        self.leave(turn);
        self.free_since = None;
        self.begun += 1;
        turn.own = Some(self.begun);
        turn.last = self.begun;
    }

    /// Removes a thread that does not look any more.
    pub fn leave(&mut self, turn: &mut Turn) {
        if let Some(ticket) = turn.ticket {
            self.waiting -= 1;
            if self.next == Some(ticket) {
                self.next = None;
            }
        }
        *turn = Turn::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::patience::Patience;
    use super::super::regs::csr;
    use super::super::steps::Register;
    use super::*;
    use std::vec::Vec;

    const MS: u64 = 1_000_000;
    const SECOND: u64 = 1000 * MS;
    const FENCE: u64 = 30_000;
    const REGISTER: Register = Register::Csr(csr::ATT_INVALIDATE);

    /// A thread that begins a fence, waits for its end, and repeats this.
    struct Thread {
        turn: Turn,
        patience: Patience,
        /// When it looks next.
        looks_at: u64,
        /// The shortest pause between two looks that it gets.
        least: u64,
        /// Makes it sleep somewhat longer than it asked for, now more and now less.
        chance: u64,
        /// Since when it has wanted its fence, and how many were begun before.
        since: (u64, u64),
        /// Fences of others that were begun while it wanted its own, and the longest wait.
        passed: u64,
        waited: u64,
        begun: u64,
    }

    impl Thread {
        fn new(number: usize, least: u64) -> Self {
            let comes = number as u64;
            Self {
                turn: Turn::default(),
                patience: Patience::new(SECOND),
                looks_at: comes,
                least,
                chance: comes,
                since: (comes, 0),
                passed: 0,
                waited: 0,
                begun: 0,
            }
        }

        fn sleeps(&mut self, fences: &mut Fences, now: u64) {
            fences.will_look_again(&mut self.turn);
            if self.turn.was_held_off() {
                self.patience.begin_anew();
            }
            let again = self.patience.looks_again(REGISTER, now, fences.begun());
            assert!(again, "the block is late");
            let pause = fences.pause(&self.turn, self.patience.pause());
            let pause = pause.max(self.least);
            // Of Knuth's MMIX; a quarter more at most, as a sleep of the kernel's may take.
            let (factor, addend) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
            self.chance = self.chance.wrapping_mul(factor).wrapping_add(addend);
            self.looks_at = now + pause + (self.chance >> 33) % (pause / 4);
        }
    }

    /// Results of all threads.
    #[derive(Debug, Default)]
    struct Sum {
        fences: u64,
        looks: u64,
        idle: u64,
    }

    /// Runs such threads, for so long, on a block whose fences take this long.
    fn run(threads: &mut [Thread], fence: u64, long: u64) -> Sum {
        let (mut fences, mut busy_until) = (Fences::new(), 0);
        let mut sum = Sum::default();
        loop {
            let next = threads.iter_mut().min_by_key(|thread| thread.looks_at);
            let thread = next.unwrap();
            let now = thread.looks_at;
            if now > long {
                sum.fences = fences.begun();
                return sum;
            }
            sum.looks += 1;
            let has_begun = thread.turn.own.is_some();
            if fences.waits(&mut thread.turn, now < busy_until, now) {
                thread.sleeps(&mut fences, now);
                continue;
            }
            if has_begun {
                fences.leave(&mut thread.turn);
                thread.since = (now + 1, fences.begun());
                thread.patience = Patience::new(SECOND);
                // Another region.
                thread.looks_at = now + 1;
                continue;
            }
            assert!(busy_until <= now, "two fences at once");
            sum.idle += now - busy_until;
            let (since, before) = thread.since;
            thread.passed = thread.passed.max(fences.begun() - before);
            thread.waited = thread.waited.max(now - since.min(now));
            thread.begun += 1;
            fences.begin(&mut thread.turn);
            busy_until = now + fence;
            thread.sleeps(&mut fences, now);
        }
    }

    fn threads(least: &[u64]) -> Vec<Thread> {
        let each = least.iter().enumerate();
        each.map(|(number, least)| Thread::new(number, *least))
            .collect()
    }

    #[test]
    fn the_block_is_seldom_idle_and_seldom_asked() {
        for count in [2, 3, 8, 50, 500] {
            let mut threads = threads(&std::vec![0; count]);
            let sum = run(&mut threads, FENCE, SECOND);
            let looks = sum.looks / sum.fences;
            assert!(sum.idle < SECOND * 2 / 5, "{count} threads: {sum:?}");
            assert!(looks <= 16, "{count} threads: {looks} looks for each fence");
        }
    }

    #[test]
    fn all_are_served() {
        for count in [2, 3, 8, 50, 200] {
            let mut threads = threads(&std::vec![0; count]);
            run(&mut threads, FENCE, SECOND);
            for (number, thread) in threads.iter().enumerate() {
                let passed = thread.passed;
                assert!(
                    passed <= 4 * count as u64,
                    "{passed} before {number}'s of {count}"
                );
            }
        }
    }

    /// Where the link or the peer is slow, a thread that has waited for long sleeps for long.
    #[test]
    fn nobody_misses_its_turn_where_fences_are_long() {
        for count in [2, 3, 8] {
            let mut threads = threads(&std::vec![0; count]);
            run(&mut threads, 5 * MS, 10 * SECOND);
            for (number, thread) in threads.iter().enumerate() {
                let passed = thread.passed;
                assert!(
                    passed <= count as u64,
                    "{passed} before {number}'s of {count}"
                );
            }
        }
    }

    #[test]
    fn who_looks_seldom_is_served_among_those_who_look_often() {
        for least in [LONG, 25 * MS] {
            let mut pauses = [0; 8];
            pauses[7] = least;
            let mut threads = threads(&pauses);
            run(&mut threads, FENCE, 10 * SECOND);
            let Thread { begun, waited, .. } = threads[7];
            // It looks three times for a fence at least: for its turn, and for the end.
            assert!(waited < 32 * least, "it waited for {waited} ns");
            assert!(begun > 10 * SECOND / least / 8, "{begun} fences");
        }
    }

    #[test]
    fn who_does_not_look_holds_nobody_up() {
        let mut pauses = [0; 4];
        // It gets a processor twice a minute.
        pauses[0] = 30 * SECOND;
        let sum = run(&mut threads(&pauses), FENCE, SECOND);
        assert!(sum.fences > 10_000, "{sum:?}");
    }

    #[test]
    fn many_who_get_no_processor_do_not_hold_up_an_owner() {
        for least in [10 * MS, 100 * MS] {
            for owner_comes in (200..210).map(|time| time * MS + time * 997) {
                let mut threads = threads(&[least; 501]);
                for (number, thread) in threads.iter_mut().enumerate() {
                    thread.looks_at = number as u64 * least / 500;
                    thread.since = (thread.looks_at, 0);
                }
                let owner = Thread {
                    looks_at: owner_comes,
                    since: (owner_comes, 0),
                    ..Thread::new(500, 0)
                };
                threads[500] = owner;
                // Once.
                run(&mut threads, FENCE, owner_comes + 100 * MS);
                let Thread { begun, waited, .. } = threads[500];
                assert!(begun > 0, "{begun} fences");
                // Some of the threads that came first look within the time.
                let limit = if least > 50 * MS {
                    10 * MS
                } else {
                    2000 * FENCE
                };
                assert!(waited < limit, "it waited for {waited} ns");
            }
        }
    }

    #[test]
    fn a_failure_is_heard_by_whose_fence_it_was() {
        let mut fences = Fences::new();
        let [mut first, mut second] = [(), ()].map(|()| Turn::default());
        assert!(!fences.has_failed(&first));
        fences.begin(&mut first);
        fences.hear(true);
        fences.begin(&mut second);
        fences.hear(false);
        // It looks late, and hears it all the same.
        assert!(!fences.waits(&mut first, false, 30) && !fences.waits(&mut second, false, 30));
        assert!(fences.has_failed(&first) && !fences.has_failed(&second));
    }

    #[test]
    fn a_fence_is_over_when_another_has_begun() {
        let mut fences = Fences::new();
        let [mut first, mut second] = [Turn::default(), Turn::default()];
        assert!(!fences.waits(&mut first, false, 0));
        fences.begin(&mut first);
        assert!(fences.waits(&mut first, true, 10));
        assert!(fences.waits(&mut second, true, 10));
        fences.will_look_again(&mut second);
        assert!(!fences.waits(&mut second, false, 20));
        fences.begin(&mut second);
        // Busy with the second's.
        assert!(!fences.waits(&mut first, true, 30));
        assert!(fences.waits(&mut second, true, 30));
        assert_eq!(fences.begun(), 2);
    }

    #[test]
    fn who_goes_leaves_its_turn_to_the_next() {
        let mut fences = Fences::new();
        let [mut owner, mut first, mut second] =
            [Turn::default(), Turn::default(), Turn::default()];
        fences.begin(&mut owner);
        for turn in [&mut first, &mut second] {
            assert!(fences.waits(turn, true, 10));
            fences.will_look_again(turn);
        }
        assert!(fences.waits(&mut second, false, 20), "out of order");
        assert!(
            fences.waits(&mut Turn::default(), false, 20),
            "out of order"
        );
        fences.leave(&mut first);
        assert!(!fences.waits(&mut second, false, 20));
        // No thread is next for ever.
        let mut third = Turn::default();
        fences.will_look_again(&mut second);
        fences.will_look_again(&mut third);
        assert!(fences.waits(&mut third, false, 20 + GRACE));
        assert!(!fences.waits(&mut third, false, 21 + GRACE));
        fences.begin(&mut third);
        assert!(fences.waits(&mut second, true, 22 + GRACE));
        fences.will_look_again(&mut second);
        assert!(fences.waits(&mut Turn::default(), false, 30 + GRACE));
        assert!(!fences.waits(&mut second, false, 40 + GRACE));
    }
}
