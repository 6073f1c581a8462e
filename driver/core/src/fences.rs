// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose fence is next.
//!
//! The block has one fence at a time, and whoever wants one looks whether it is free, with pauses in
//! between. Who comes anew looks more often than who has waited for long, so without an order many
//! who begin one fence after the other could keep another from ever having its own: the owner of
//! memory, who takes it back and must be served in bounded time.
//!
//! The order is that of arrival, but that behind each fence one other may find the block free before
//! the next one looks: no more than two fences begin for each who came before. Who has not looked for a while is passed over: a thread that gets no
//! processor holds nobody up.

/// In nanoseconds: how long after its last look somebody is still next. Longer than the pause between
/// two looks.
const PRESENT: u64 = 5_000_000;

/// The fences of a block. It is changed under the lock under which its registers are accessed.
#[derive(Debug, Default)]
pub struct Fences {
    begun: u64,
    tickets: u64,
    next: Option<Next>,
}

/// Of those who wait and have looked lately, the one who came first.
#[derive(Debug, Clone, Copy)]
struct Next {
    ticket: u64,
    looked: u64,
}

/// Somebody's place among those who want a fence.
#[derive(Debug, Default)]
pub struct Turn {
    /// Its own fence, if that may not be over.
    own: Option<u64>,
    /// Its ticket, since it had to wait.
    ticket: Option<u64>,
    /// It was free when it looked last, and another's turn.
    held_off: bool,
}

impl Turn {
    /// Whether the block was free at its last look, and it had to wait for another who was next. That
    /// says nothing of the block.
    pub const fn was_held_off(&self) -> bool {
        self.held_off
    }
}

impl Fences {
    /// No fence was begun yet, and nobody waits.
    pub const fn new() -> Self {
        Self {
            begun: 0,
            tickets: 0,
            next: None,
        }
    }

    /// How many were begun, by anybody.
    pub const fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether somebody has to wait, as it looks now (nanoseconds) and finds the block `busy` with a
    /// fence, or not: for the end of its own fence, or for its turn.
    ///
    /// A fence is begun only when the block was seen free under the lock. So where another was begun
    /// after its own, its own is over.
    pub fn waits(&self, turn: &mut Turn, busy: bool, now: u64) -> bool {
        turn.held_off = false;
        if let Some(own) = turn.own {
            if busy && self.begun == own {
                return true;
            }
            turn.own = None;
            return false;
        }
        turn.held_off = !busy && self.is_held_off(turn, now);
        busy || turn.held_off
    }

    fn is_held_off(&self, turn: &Turn, now: u64) -> bool {
        self.next.is_some_and(|next| {
            let earlier = turn.ticket.is_none_or(|ticket| next.ticket < ticket);
            earlier && now.saturating_sub(next.looked) <= PRESENT
        })
    }

    /// It has to wait, and will look again.
    pub fn will_look_again(&mut self, turn: &mut Turn, now: u64) {
        if turn.own.is_some() {
            return;
        }
        let ticket = *turn.ticket.get_or_insert_with(|| {
            self.tickets += 1;
            self.tickets
        });
        if !self.is_held_off(turn, now) {
            let looked = now;
            self.next = Some(Next { ticket, looked });
        }
    }

    /// It begins a fence, which it did not have to wait for, or not any more.
    pub fn begin(&mut self, turn: &mut Turn) {
        self.leave(turn);
        self.begun += 1;
        turn.own = Some(self.begun);
    }

    /// It looks no more.
    pub fn leave(&mut self, turn: &mut Turn) {
        let ticket = turn.ticket;
        if ticket.is_some() && self.next.is_some_and(|next| Some(next.ticket) == ticket) {
            self.next = None;
        }
        *turn = Turn::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// One who begins a fence, waits for its end, and does it again.
    struct Thread {
        turn: Turn,
        /// When it looks next.
        looks_at: u64,
        /// The pause between two looks while it waits.
        pause: u64,
        /// The first time it is to begin.
        since: u64,
        /// Fences of others that were begun while it wanted its own.
        passed: u64,
        begun: u64,
        ended: u64,
    }

    /// Runs such threads, for so long, on a block whose fences take this long.
    fn run(pauses: &[u64], fence: u64, long: u64) -> Vec<Thread> {
        let (mut fences, mut busy_until) = (Fences::new(), 0);
        let thread = |(number, pause): (usize, &u64)| Thread {
            turn: Turn::default(),
            looks_at: number as u64,
            pause: *pause,
            since: 0,
            passed: 0,
            begun: 0,
            ended: 0,
        };
        let mut threads: Vec<Thread> = pauses.iter().enumerate().map(thread).collect();
        loop {
            let thread = threads
                .iter_mut()
                .min_by_key(|thread| thread.looks_at)
                .unwrap();
            let now = thread.looks_at;
            if now > long {
                return threads;
            }
            let has_begun = thread.turn.own.is_some();
            if fences.waits(&mut thread.turn, now < busy_until, now) {
                fences.will_look_again(&mut thread.turn, now);
                thread.looks_at = now + thread.pause;
                continue;
            }
            if has_begun {
                fences.leave(&mut thread.turn);
                thread.ended += 1;
                thread.since = fences.begun();
                // Another region.
                thread.looks_at = now + 1;
                continue;
            }
            assert!(busy_until <= now, "two fences at once");
            thread.passed = thread.passed.max(fences.begun() - thread.since);
            thread.begun += 1;
            fences.begin(&mut thread.turn);
            busy_until = now + fence;
            thread.looks_at = now + thread.pause;
        }
    }

    #[test]
    fn who_looks_seldom_is_served_among_those_who_look_often() {
        let mut pauses = [20_000; 8];
        pauses[7] = 500_000;
        let threads = run(&pauses, 30_000, 1_000_000_000);
        let seldom = &threads[7];
        assert!(seldom.begun > 100, "{} fences", seldom.begun);
        for (number, thread) in threads.iter().enumerate() {
            // Each of those who came before, and one behind each that found the block free first.
            assert!(thread.passed <= 16, "{} before {number}'s", thread.passed);
        }
    }

    #[test]
    fn who_does_not_look_holds_nobody_up() {
        let mut pauses = [20_000; 4];
        // It gets a processor twice a minute.
        pauses[0] = 30_000_000_000;
        let threads = run(&pauses, 30_000, 1_000_000_000);
        let others: u64 = threads[1..].iter().map(|thread| thread.ended).sum();
        assert!(others > 10_000, "{others} fences");
    }

    #[test]
    fn a_fence_is_over_when_another_has_begun() {
        let mut fences = Fences::new();
        let [mut first, mut second] = [Turn::default(), Turn::default()];
        assert!(!fences.waits(&mut first, false, 0));
        fences.begin(&mut first);
        assert!(fences.waits(&mut first, true, 10));
        assert!(fences.waits(&mut second, true, 10));
        fences.will_look_again(&mut second, 10);
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
            fences.will_look_again(turn, 10);
        }
        assert!(fences.waits(&mut second, false, 20), "out of turn");
        assert!(fences.waits(&mut Turn::default(), false, 20), "out of turn");
        fences.leave(&mut first);
        assert!(!fences.waits(&mut second, false, 20));
        // Nobody is next for ever.
        let mut third = Turn::default();
        fences.will_look_again(&mut second, 30);
        fences.will_look_again(&mut third, 30);
        assert!(fences.waits(&mut third, false, 30 + PRESENT));
        assert!(!fences.waits(&mut third, false, 31 + PRESENT));
    }
}
