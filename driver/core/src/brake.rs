// SPDX-License-Identifier: MIT OR Apache-2.0
//! A limit on how often a channel's interrupt may wake threads.
//!
//! The kernel runs the handler of an interrupt before all ordinary work, and a process that writes descriptors itself
//! makes as many interrupts as the board can send.

/// Wake-ups in one interval. A process that acts on each of them, with a system call or two, a
/// doorbell, and a round trip on the bus, takes longer than the interval's share: 4 us.
pub const BUDGET: u32 = 256;

/// The interval, in nanoseconds. A channel that has used up the budget pauses for the same time.
pub const INTERVAL_NS: i64 = 1_000_000;

/// Number of recent wake-ups.
#[derive(Debug, Clone, Copy, Default)]
pub struct Brake {
    /// When the interval began, in nanoseconds of any clock that does not go back.
    begin: i64,
    wakes: u32,
}

impl Brake {
    /// Makes the state without wake-ups.
    pub const fn new() -> Self {
        Self { begin: 0, wakes: 0 }
    }

    /// Counts a wake-up. Returns whether there must be a pause of [`INTERVAL_NS`] before the next one.
    pub fn wake(&mut self, now: i64) -> bool {
        if now.saturating_sub(self.begin) >= INTERVAL_NS || self.wakes >= BUDGET {
            *self = Self {
                begin: now,
                wakes: 0,
            };
        }
        self.wakes += 1;
        self.wakes >= BUDGET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates wake-ups for a second, each so long after the one before or its pause. Returns the number of
    /// wake-ups and of pauses.
    fn second(every_ns: i64) -> (u32, u32) {
        let (mut brake, mut now) = (Brake::new(), 7_000_000_000);
        let (end, mut wakes, mut rests) = (now + 1_000_000_000, 0, 0);
        while now < end {
            wakes += 1;
            now += every_ns;
            if brake.wake(now) {
                rests += 1;
                now += INTERVAL_NS;
            }
        }
        (wakes, rests)
    }

    #[test]
    fn who_acts_on_each_is_never_held_back() {
        for every_us in [4, 5, 10, 100, 10_000] {
            assert_eq!(second(every_us * 1000).1, 0, "{every_us} us");
        }
    }

    /// Handling an interrupt takes a microsecond or two. However fast they come, the processor is
    /// free for most of the time, or half of it.
    #[test]
    fn a_storm_leaves_the_processor_to_others() {
        for (every_ns, most) in [(1, 257_000), (1000, 205_000), (2000, 171_000)] {
            let (wakes, rests) = second(every_ns);
            assert!(
                wakes <= most && rests >= wakes / BUDGET,
                "{wakes} in a second"
            );
            let busy = i64::from(wakes) * every_ns;
            assert!(busy < 350_000_000, "{busy} ns in a second");
        }
    }

    /// A burst within the budget is not held back, and a pause clears the count.
    #[test]
    fn bursts_pass() {
        let mut brake = Brake::new();
        for burst in 1..10 {
            let start = burst * 2 * INTERVAL_NS;
            for wake in 1..BUDGET {
                assert!(!brake.wake(start + i64::from(wake)), "{burst} {wake}");
            }
        }
        assert!(brake.wake(18 * INTERVAL_NS + 999));
        assert!(!brake.wake(18 * INTERVAL_NS + 1000));
    }
}
