//! The counters, Verilated, against counts that the test makes itself.

mod rig;
mod traffic;

use rand::Rng;
use rig::{Inputs, Rig, Truth};
use traffic::{Source, Traffic};

fn with_take(inputs: Inputs) -> Inputs {
    Inputs {
        take: true,
        ..inputs
    }
}

/// Takes snapshots under changing traffic, each after a number of cycles, some taken while one is under way.
fn snapshots(channels_log2: usize, seed: u64, count: usize) {
    let mut rig = Rig::new(channels_log2, 0, seed as u32);
    let mut traffic = Traffic::full(rig.channels, seed);
    assert_eq!(
        rig.shown(|| traffic.next()),
        Truth::new(rig.channels, 0),
        "before a snapshot"
    );
    for number in 0..count {
        for _ in 0..traffic.random.random_range(0..[2, 200, 20_000][number % 3]) {
            rig.cycle(&traffic.next());
        }
        rig.cycle(&with_take(traffic.next()));
        let expected = rig.truth.clone();
        assert!(!rig.busy, "busy only after the snapshot starts");
        if number % 4 == 3 {
            traffic.change(rig.channels);
        }
        if number % 3 == 1 {
            // Another take while this one is under way: of some cycle after it, and one for all counters.
            for _ in 0..traffic.random.random_range(0..64 * rig.channels) {
                rig.cycle(&traffic.next());
                assert!(rig.busy);
            }
            rig.cycle(&with_take(traffic.next()));
            assert!(rig.busy);
            let mut candidate = rig.truth.clone();
            let mut later = vec![];
            rig.idle(|| {
                later.push(traffic.next());
                later.last().unwrap().clone()
            });
            let shown = rig.shown(|| traffic.next());
            let found = std::iter::once(&Inputs::default())
                .chain(&later)
                .any(|inputs| {
                    candidate.count(inputs);
                    candidate == shown
                });
            assert!(
                found,
                "snapshot {number}, seed {seed}, does not match any single cycle"
            );
        } else {
            let cycles = rig.idle(|| traffic.next());
            assert!(cycles <= 64 * rig.channels + 128 + 8, "{cycles} cycles");
            let shown = rig.shown(|| traffic.next());
            assert_eq!(shown, expected, "snapshot {number}, seed {seed}");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn one_channel() {
    for seed in 1..=4 {
        snapshots(0, seed, 40);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn eight_channels() {
    for seed in 1..=3 {
        snapshots(3, seed, 32);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn sixty_four_channels() {
    for seed in 1..=2 {
        snapshots(6, seed, 12);
    }
}

/// A burst that fills the FIFOs, all of it for the channel that is swept first, ends in the cycle of the take and is
/// counted; later events are not.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_snapshot_right_behind_a_burst() {
    let mut rig = Rig::new(3, 0, 9);
    for phase in 0..64 {
        for _ in 0..40 + phase {
            rig.cycle(&Inputs::default());
        }
        let mut burst: Vec<_> = (0..23)
            .map(|i| Inputs {
                requests: [Some((0, 100 + i)), Some((0, 512 - i))],
                ends: [Some((0, i % 16)), Some((0, 7))],
                levels: 0x1FF,
                ..Inputs::default()
            })
            .collect();
        burst[22].take = true;
        for inputs in &burst {
            rig.cycle(inputs);
        }
        let expected = rig.truth.clone();
        // One event of each source every three cycles keeps the FIFOs as full as they are.
        let mut cycle = 0;
        let mut later = || {
            cycle += 1;
            if cycle % 3 == 0 {
                Inputs {
                    take: false,
                    ..burst[22].clone()
                }
            } else {
                Inputs::default()
            }
        };
        rig.idle(&mut later);
        assert_eq!(rig.shown(later), expected, "phase {phase}");
    }
}

/// All turns of both tallies go to one row, the last that is swept, for as long as it can gather: more than
/// is promised, and nothing is lost or overflows.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_last_row_gathers_all_that_there_are_turns_for() {
    let mut rig = Rig::new(6, 0, 1);
    let mut traffic = Traffic::full(64, 1);
    let [write, read, write_ends, read_ends] = &mut traffic.sources;
    for (source, rate) in [
        (write, (30, 64)),
        (read, (30, 64)),
        (write_ends, (28, 64)),
        (read_ends, (28, 64)),
    ] {
        *source = Source::new(rate, 2);
    }
    let next = |traffic: &mut Traffic| {
        let mut inputs = traffic.next();
        inputs.requests = inputs.requests.map(|r| r.map(|_| (63, 512)));
        inputs.ends = inputs.ends.map(|e| e.map(|_| (63, 7)));
        inputs
    };
    for phase in [0, 1, 31, 63] {
        for _ in 0..9000 + phase {
            rig.cycle(&next(&mut traffic));
        }
        for _ in 0..2 {
            // The second immediately after the first, the next one a long time later.
            rig.cycle(&with_take(next(&mut traffic)));
            let expected = rig.truth.clone();
            rig.idle(|| next(&mut traffic));
            if phase == 31 {
                for _ in 0..2 * 4096 {
                    rig.cycle(&next(&mut traffic));
                }
            }
            assert_eq!(rig.shown(|| next(&mut traffic)), expected);
        }
    }
}

/// Totals begin a little below 2^32, in both halves, for all the counters to carry.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn totals_carry_into_their_high_words() {
    let mut rig = Rig::new(3, 0xFFFF_FFF0, 1);
    let mut traffic = Traffic::full(8, 2);
    let begin = rig.truth.clone();
    for _ in 0..24_000 {
        rig.cycle(&traffic.next());
    }
    rig.cycle(&with_take(traffic.next()));
    let expected = rig.truth.clone();
    rig.idle(|| traffic.next());
    let shown = rig.shown(|| traffic.next());
    assert_eq!(shown, expected);
    let all = |truth: &Truth| -> Vec<u64> {
        let channels = truth.channels.iter().flatten().flatten();
        channels
            .chain(&truth.levels)
            .map(|value| value >> 32)
            .collect()
    };
    for (before, after) in all(&begin).iter().zip(all(&shown)) {
        assert_eq!(after, before + 1, "each has carried");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reset_clears_everything() {
    let mut rig = Rig::new(3, 0, 5);
    let mut traffic = Traffic::full(8, 5);
    for wait in [1, 40, 100, 333, 900] {
        for _ in 0..2000 {
            rig.cycle(&traffic.next());
        }
        rig.cycle(&with_take(traffic.next()));
        for _ in 0..wait {
            rig.cycle(&traffic.next());
        }
        rig.reset();
        assert_eq!(rig.shown(Inputs::default), Truth::new(8, 0));
        for _ in 0..100 {
            rig.cycle(&traffic.next());
        }
        rig.cycle(&with_take(traffic.next()));
        let expected = rig.truth.clone();
        rig.idle(|| traffic.next());
        assert_eq!(rig.shown(|| traffic.next()), expected);
    }
}
