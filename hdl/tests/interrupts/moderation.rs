//! When channels fire: any events and settings, against the promise of a channel.

use crate::Bench;
use peerlane_hdl::rtl::interrupts::moderation::Moderation;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Why a channel fired.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    Urgent,
    Count,
    Time,
    Settings,
}

/// The promise of a channel. Cycles are those in which a signal can be seen.
#[derive(Default)]
struct Channel {
    /// Events that no interrupt has reported: cycle, urgent.
    waiting: VecDeque<(u64, bool)>,
    /// Settings: cycle of the write, count, time. The newest is the last.
    settings: Vec<(u64, usize, u64)>,
}

impl Channel {
    /// Fires in this cycle: for the events up to three cycles ago, by the settings three cycles ago.
    fn fires(&mut self, now: u64) -> Reason {
        let told = self.waiting.iter().take_while(|w| w.0 + 3 <= now).count();
        assert!(told > 0, "cycle {now}: fires without an event");
        let oldest = self.waiting[0].0;
        let urgent = self.waiting.drain(..told).any(|w| w.1);
        let (_, count, time) = self
            .settings
            .iter()
            .rfind(|s| s.0 + 3 <= now)
            .copied()
            .unwrap_or_default();
        if urgent {
            Reason::Urgent
        } else if told >= count {
            Reason::Count
        } else if time > 0 && now - oldest > 256 * (time - 1) {
            Reason::Time
        } else if self.settings.iter().any(|s| s.0 + 2 == now) {
            Reason::Settings
        } else {
            panic!("cycle {now}: fires for {told} of {count} events, {time} from {oldest}")
        }
    }

    /// Checks that no waiting event should have fired by now.
    fn check(&self, now: u64) {
        let (written, count, time) = self.settings.last().copied().unwrap_or_default();
        let mut due = u64::MAX;
        if let Some(urgent) = self.waiting.iter().find(|w| w.1) {
            due = urgent.0 + 4;
        }
        if let Some(last) = self.waiting.get(count.max(1) - 1) {
            // Settings that came after the event are seen by the next visit.
            due = due.min(if self.settings.is_empty() || written <= last.0 {
                last.0 + 4
            } else {
                written + 264
            });
        }
        if let (1.., Some(oldest)) = (time, self.waiting.front()) {
            due = due.min(oldest.0.max(written) + 256 * time + 8);
        }
        assert!(
            now < due,
            "cycle {now}: {count}, {time}: {:?}",
            self.waiting
        );
    }
}

/// The moderation of a block, watched.
struct Watched {
    bench: Bench,
    channels: Vec<Channel>,
    reasons: Vec<Reason>,
}

impl Watched {
    fn new(log2: usize, seed: u32) -> Self {
        Self {
            bench: Bench::new("moderation", Moderation::new(log2), seed),
            channels: vec![],
            reasons: vec![],
        }
    }

    fn reset(&mut self) {
        self.channels = (0..64).map(|_| Channel::default()).collect();
        self.bench.set("event_valid", false);
        self.bench.set("write", false);
        self.bench.reset();
    }

    fn cycle(&mut self, event: Option<(usize, bool)>, write: Option<(usize, usize, u64)>) {
        let bench = &mut self.bench;
        let now = bench.cycle;
        if bench.get("fired") == 1 {
            let channel = bench.get("fired_channel") as usize;
            self.reasons.push(self.channels[channel].fires(now));
        }
        self.channels.iter().for_each(|c| c.check(now));
        bench.set("event_valid", event.is_some());
        if let Some((channel, urgent)) = event {
            bench.set("event_channel", channel as u64);
            bench.set("event_urgent", urgent);
            self.channels[channel].waiting.push_back((now, urgent));
        }
        bench.set("write", write.is_some());
        if let Some((channel, count, time)) = write {
            bench.set("write_channel", channel as u64);
            bench.set("write_count", count as u64);
            bench.set("write_time", time);
            self.channels[channel].settings.push((now, count, time));
        }
        bench.edge();
    }

    /// Runs so many cycles without input; returns how often a channel fired.
    fn idle(&mut self, cycles: u64) -> usize {
        let before = self.reasons.len();
        (0..cycles).for_each(|_| self.cycle(None, None));
        self.reasons.len() - before
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn channels_fire_when_they_must_and_only_then() {
    for (log2, seed) in [(0, 1), (3, 2), (6, 3)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut watched = Watched::new(log2, seed as u32);
        for _ in 0..4 {
            // Events from the first cycle on, while the memories are cleared.
            watched.reset();
            let mut writable = false;
            for _ in 0..12 {
                // A phase: as many events as there may be, or few; many channels, or one; settings that stay, or change
                // all the time.
                let gap = *[0, 0, 1, 8, 60].choose(&mut rng).unwrap();
                let channels = 1usize << rng.random_range(0..=log2);
                let first = rng.random_range(0..=(1 << log2) - channels);
                let writes = *[0.0, 0.002, 0.3].choose(&mut rng).unwrap();
                let urgent = *[0.0, 0.01].choose(&mut rng).unwrap();
                let mut next = 0;
                for n in 0..3000 {
                    let event = (n >= next).then(|| {
                        next = n + 2 + rng.random_range(0..=gap);
                        (
                            first + rng.random_range(0..channels),
                            rng.random_bool(urgent),
                        )
                    });
                    writable |= n == 64;
                    let write = (writable && rng.random_bool(writes)).then(|| {
                        let count = *[0, 1, 2, 3, 5, 20, 255].choose(&mut rng).unwrap();
                        let channel = first + rng.random_range(0..channels);
                        (channel, count, rng.random_range(0..5))
                    });
                    watched.cycle(event, write);
                }
            }
        }
        for reason in [
            Reason::Urgent,
            Reason::Count,
            Reason::Time,
            Reason::Settings,
        ] {
            let times = watched.reasons.iter().filter(|r| **r == reason).count();
            assert!(times > 20, "2^{log2} channels: {times} times {reason:?}");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_limits_are_as_wide_as_their_registers() {
    let mut watched = Watched::new(3, 7);
    watched.reset();
    watched.idle(64);
    watched.cycle(None, Some((5, 255, 300)));
    for n in 1..=254 {
        watched.cycle(Some((5, false)), None);
        assert_eq!(watched.idle(6), 0, "{n} events");
    }
    watched.cycle(Some((5, false)), None);
    assert_eq!(watched.idle(6), 1, "255 events");
    watched.cycle(Some((5, false)), None);
    assert_eq!(watched.idle(299 * 256), 0);
    assert_eq!(watched.idle(256 + 8), 1);
    // Without a time the last event waits until the settings change.
    watched.cycle(None, Some((5, 2, 0)));
    watched.cycle(Some((5, false)), None);
    assert_eq!(watched.idle(2000), 0);
    watched.cycle(None, Some((5, 1, 0)));
    assert_eq!(watched.idle(264), 1);
}
