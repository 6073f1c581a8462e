//! Everything at any moment: reads and writes of the engine, requests of the host, software that changes its settings,
//! completions that fail or come late, a bus that stops. Every read ends once, with its own data or a code; every
//! request of the host is answered once; and in the end all room is free again. The models check every packet against
//! its rules.

use crate::range::wide;
use crate::rig::{Ask, Rig};
use crate::target::{Access, BAR_0};
use peerlane_sim::hip::{BusConfig, Fate, Grant, HipConfig, RootConfig};
use peerlane_verilated::Library;
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// Rules of the settings that are valid now; a packet may have been made before software changed the settings.
const OF_SETTINGS: [&str; 3] = [
    "longer than Max",
    "a tag that is not enabled",
    "more than Max Payload",
];

fn config(rng: &mut ChaCha8Rng, seed: u64) -> HipConfig {
    let usual = HipConfig::default();
    let few = |headers, data| Grant {
        headers: Some(headers),
        data,
    };
    HipConfig {
        seed,
        gaps: *[0, 30, 70].choose(rng).unwrap(),
        not_ready: *[0, 30, 80].choose(rng).unwrap(),
        own: 3,
        space: *[(40, 160), usual.space].choose(rng).unwrap(),
        lets_strays_through: true,
        posted: *[usual.posted, few(4, Some(40))].choose(rng).unwrap(),
        reads: *[usual.reads, few(3, None)].choose(rng).unwrap(),
        replies: *[usual.replies, few(3, Some(17))].choose(rng).unwrap(),
        root: RootConfig {
            split: 60,
            reorder: 60,
            latency: 60,
            jitter: 90,
            ..RootConfig::default()
        },
        ..usual
    }
}

/// Makes something happen; returns the number of reads that it asks for.
fn event(rig: &mut Rig, rng: &mut ChaCha8Rng, number: &mut u64) -> usize {
    let mut next = || {
        *number += 1;
        *number
    };
    match rng.random_range(0..14) {
        0..=3 => {
            let reads = rng.random_range(1..12);
            for _ in 0..reads {
                let number = next();
                let flushes = rng.random_range(0..6) == 0;
                let base = if rng.random() {
                    0x2_0000_0000
                } else {
                    0x2000_0000
                };
                let bytes = *[1, 4, 64, 100, 505, 512].choose(rng).unwrap();
                rig.asks.push_back(Ask {
                    address: base + number * 1024 + rng.random_range(0..500),
                    bytes: if flushes { 4 } else { bytes },
                    tag: if flushes {
                        64 + number as u8 % 8
                    } else {
                        number as u8 % 64
                    },
                });
            }
            return reads;
        }
        4 | 5 => {
            for _ in 0..rng.random_range(1..6) {
                let base = if rng.random() {
                    0x9_0000_0000
                } else {
                    0x9000_0000
                };
                rig.post(
                    base + 512 * (next() % 5000),
                    *[32, 64, 256, 512].choose(rng).unwrap(),
                );
            }
        }
        6 => {
            let fate = match rng.random_range(0..8) {
                0 => Fate::Status(1),
                1 => Fate::Status(4),
                2 => Fate::Poisoned,
                3 => Fate::Stray(0xC0),
                4 | 5 => Fate::Bare,
                _ => Fate::Late(rng.random_range(100..3000)),
            };
            rig.hip.root.strike(rng.random_range(0..6), fate);
        }
        7 => rig.hip.config.extended = rng.random(),
        8 => rig.hip.config.request = *[128, 256, 512].choose(rng).unwrap(),
        9 => rig.hip.config.master = rng.random_range(0..3) != 0,
        10 => rig.hip.config.payload = *[128, 256, 512].choose(rng).unwrap(),
        11 | 12 => {
            let dwords = rng.random_range(1..32);
            let access = Access {
                writes: rng.random(),
                ..Access::read(4 * rng.random_range(0..200), dwords)
            };
            let packet = access.packet(next() as u8, rng);
            rig.hip.host.queue.push_back((packet, BAR_0));
        }
        _ => match rng.random_range(0..8) {
            0 | 1 => rig.bus.silent = !rig.bus.silent,
            2 => rig.bus.stuck = !rig.bus.stuck,
            _ => {}
        },
    }
    0
}

fn course(library: &Library, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bus = BusConfig {
        wait: 20,
        latency: 3,
        jitter: 9,
        gaps: 20,
        seed,
    };
    let mut rig = Rig::with_bus(library, config(&mut rng, seed), bus);
    rig.hip.host.window = u64::from(u32::MAX);
    // Data that are dropped are not in memory, and a request that is not answered has failed.
    rig.hip.host.registers = true;
    let (mut number, mut asked) = (0, 0);
    for _ in 0..600 {
        asked += event(&mut rig, &mut rng, &mut number);
        rig.run(rng.random_range(0..120));
    }
    rig.hip.config.master = true;
    (rig.bus.silent, rig.bus.stuck) = (false, false);
    settle(&mut rig);
    assert_eq!(rig.ends.len(), asked, "seed {seed}");
    assert_eq!(rig.get("cpl_pending"), 0);
    let kept = |what: &str| !OF_SETTINGS.iter().any(|rule| what.starts_with(rule));
    let breaches = rig.hip.breaches().iter();
    let broken: Vec<_> = breaches.filter(|breach| kept(&breach.what)).collect();
    assert!(broken.is_empty(), "seed {seed}: {broken:?}");
    assert_eq!(
        (&rig.broken, &rig.bus.breaches),
        (&vec![], &vec![]),
        "seed {seed}"
    );

    // All that was late has come, and its room is back.
    rig.hip.config.extended = true;
    rig.hip.config.request = 512;
    rig.hip.root.config.latency = 4000;
    rig.run(400);
    let before = rig.hip.root.reads();
    // No more than 127 may be granted and not used.
    rig.hip.grant(0, 0, 50);
    rig.asks.extend((0..40).map(|tag| Ask {
        address: 0x5_0000_0000 + 512 * u64::from(tag),
        bytes: 512,
        tag,
    }));
    rig.run(1500);
    let room = u64::from(rig.hip.config.space.0 - 3) / 8;
    assert_eq!(rig.hip.root.reads() - before, room, "seed {seed}");
}

/// Runs until nothing is under way, and late completions have come.
fn settle(rig: &mut Rig) {
    let mut still = 0;
    let last = rig.cycle + 400_000;
    while still < 5000 {
        rig.step();
        let busy = !rig.posts.is_empty()
            || !rig.asks.is_empty()
            || rig.unanswered() != 0
            || rig.hip.host.open() != 0
            || rig.hip.root.owed() != 0
            || !rig.hip.quiet();
        still = if busy { 0 } else { still + 1 };
        assert!(rig.cycle < last, "it does not become idle");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn everything_at_any_moment() {
    for bits in [128, 256] {
        for seed in 0..6 {
            course(&wide(bits), seed);
        }
    }
}

/// Many more: `cargo xtask test pcie`.
#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn everything_at_any_moment_full_matrix() {
    for bits in [128, 256] {
        for seed in 100..200 {
            course(&wide(bits), seed);
        }
    }
}
