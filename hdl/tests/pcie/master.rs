//! A board that is not a bus master: it makes no request, its engine is notified of that, and the host is answered.

use crate::rig::{Ask, Rig, library};
use peerlane_sim::hip::{HipConfig, RootConfig, Tlp};
use peerlane_verilated::Library;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Cycles until software's setting has been shown to the layer, and the last request has left.
const SEEN: u64 = 300;

/// Unsupported Request, as the engine's port has it.
const REFUSED: u8 = 1;

fn ask(tag: u8) -> Ask {
    Ask {
        address: 0x5000 + 64 * u64::from(tag),
        bytes: 64,
        tag,
    }
}

/// The host reads a register.
fn host_reads(rig: &mut Rig, tag: u8) {
    let read = Tlp::read(0xF7C4_0000, 1, (0xF, 0), 0x0008, tag);
    rig.hip.host.queue.push_back((read, 1));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_is_posted_is_dropped_and_what_is_asked_refused() {
    for bits in [128, 256] {
        stopped(&library(bits));
    }
}

/// With Bus Master Enable off from the beginning, and again with it cleared.
pub fn stopped(library: &Library) {
    for master in [false, true] {
        let mut rig = Rig::new(
            library,
            HipConfig {
                master,
                ..HipConfig::default()
            },
        );
        rig.hip.root.keep_writes();
        rig.hip.config.master = false;
        rig.run(SEEN);
        assert_eq!(rig.get("bus_master"), 0);
        for number in 0..100 {
            rig.post(0x8000 + 256 * number, 256);
            rig.post(0x2_0000 + 4 * number, 4);
        }
        rig.asks.extend((0..72).map(ask));
        rig.run(50);
        host_reads(&mut rig, 7);
        rig.run(4000);
        assert_eq!(rig.posts.len(), 0, "posts wait");
        assert_eq!(rig.hip.host.ends.len(), 1, "the host is not answered");
        assert_eq!(rig.ends.len(), 72);
        assert!(
            rig.ends
                .iter()
                .all(|end| (end.code, end.bytes) == (REFUSED, 0))
        );
        assert_eq!(
            (rig.get("stalled_tags"), rig.get("stalled_credits")),
            (0, 0)
        );
        // None of these requests leaves as software sets the bit again; later ones do.
        rig.hip.config.master = true;
        rig.run(SEEN);
        assert_eq!((rig.hip.root.writes.len(), rig.hip.root.reads()), (0, 0));
        rig.posted.clear();
        rig.ends.clear();
        rig.post(0x8000, 256);
        rig.asks.extend((0..72).map(ask));
        rig.finish(10_000);
        assert_eq!((rig.hip.root.writes.len(), rig.ends.len()), (1, 72));
        assert!(rig.ends.iter().all(|end| end.code == 0));
    }
}

/// A packet that the hard IP has not taken when the bit is cleared does not leave when it is set again; a packet that
/// has begun to leave does, to its end.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_stands_behind_the_hard_ip_is_dropped() {
    for bits in [128, 256] {
        stands(&library(bits));
    }
}

pub fn stands(library: &Library) {
    let mut rig = Rig::new(library, HipConfig::default());
    rig.hip.root.keep_writes();
    rig.hip.config.not_ready = 100;
    rig.run(10);
    rig.post(0x8000, 256);
    rig.post(0x9000, 256);
    rig.run(60);
    rig.asks.extend((0..4).map(ask));
    rig.run(60);
    rig.hip.config.master = false;
    rig.run(SEEN);
    rig.hip.config.master = true;
    rig.run(SEEN);
    rig.hip.config.not_ready = 0;
    rig.run(2000);
    assert_eq!(rig.hip.root.writes, [0x8000]);
    assert_eq!(rig.hip.root.reads(), 0);
    assert_eq!(rig.ends.len(), 4);
    assert!(rig.ends.iter().all(|end| end.code == REFUSED));
    rig.posted
        .retain(|address, _| (0x8000..0x8100).contains(address));
    rig.clean();
    rig.asks.extend((0..72).map(ask));
    rig.post(0x9000, 256);
    rig.finish(10_000);
}

/// A read in parts, of which one is under way.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_rest_of_a_read_is_refused() {
    for bits in [128, 256] {
        rest(&library(bits));
    }
}

pub fn rest(library: &Library) {
    let mut rig = Rig::new(
        library,
        HipConfig {
            request: 128,
            root: RootConfig {
                latency: 700,
                ..RootConfig::default()
            },
            ..HipConfig::default()
        },
    );
    rig.asks.push_back(Ask {
        address: 0x5000,
        bytes: 512,
        tag: 3,
    });
    rig.run(100);
    rig.hip.config.master = false;
    rig.run(SEEN);
    rig.hip.config.master = true;
    rig.finish(2000);
    let end = rig.ends[0];
    assert_eq!((end.code, end.bytes), (REFUSED, 128));
    assert_eq!(rig.hip.root.reads(), 1);
}

/// A read that was accepted while the bit was clear is refused, though it is looked at when the bit is set again.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_waits_as_the_bit_is_set_is_refused() {
    for bits in [128, 256] {
        waits(&library(bits));
    }
}

pub fn waits(library: &Library) {
    let config = HipConfig {
        master: false,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    let mut asked = 0;
    let mut step = |rig: &mut Rig| {
        while rig.asks.len() < 2 {
            rig.asks.push_back(ask(asked % 72));
            asked += 1;
        }
        rig.step();
        usize::from(asked) - rig.asks.len()
    };
    for _ in 0..SEEN {
        step(&mut rig);
    }
    rig.ends.clear();
    let before = rig.unanswered();
    let accepted = step(&mut rig);
    rig.hip.config.master = true;
    let mut now = accepted;
    while rig.get("bus_master") == 0 {
        now = step(&mut rig);
    }
    for _ in 0..20 {
        step(&mut rig);
    }
    rig.asks.clear();
    rig.finish(2000);
    let refused = rig.ends.iter().filter(|end| end.code == REFUSED).count();
    // Earlier reads that waited, too; not those that the layer took as it saw the bit and in the next cycle.
    let old = before + now - accepted;
    assert!((old - 2..=old).contains(&refused), "{refused} of {old}");
}

/// However soon a write was dropped before the bit was set, later ones leave.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_comes_when_the_bit_is_set_leaves() {
    for bits in [128, 256] {
        set(&library(bits));
    }
}

pub fn set(library: &Library) {
    let config = HipConfig {
        master: false,
        ..HipConfig::default()
    };
    let fresh = || {
        let mut rig = Rig::new(library, config.clone());
        rig.hip.root.keep_writes();
        rig.run(SEEN);
        rig.hip.config.master = true;
        rig
    };
    let mut rig = fresh();
    let begin = rig.cycle;
    while rig.get("bus_master") == 0 {
        rig.step();
    }
    let takes = rig.cycle - begin;
    for before in 1..40.min(takes) {
        let mut rig = fresh();
        rig.run(takes - before);
        rig.post(0x8000, 64);
        rig.run(before + 20);
        rig.posted.clear();
        rig.post(0x9000, 64);
        rig.post(0xA000, 64);
        rig.finish(500);
        assert!(
            rig.hip.root.writes.ends_with(&[0x9000, 0xA000]),
            "{before}: {:x?}",
            rig.hip.root.writes
        );
    }
}

/// Software sets and clears the bit at any moment. The model of the hard IP checks each packet against the setting that
/// the layer has been shown.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_bit_changes_at_any_moment() {
    for bits in [128, 256] {
        for seed in 0..6 {
            toggled(&library(bits), seed);
        }
    }
}

pub fn toggled(library: &Library, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rig = Rig::new(
        library,
        HipConfig {
            not_ready: [0, 20, 70][seed as usize % 3],
            gaps: 20,
            own: 5,
            payload: [128, 256][seed as usize % 2],
            root: RootConfig {
                split: 50,
                reorder: 50,
                latency: 100,
                jitter: 200,
                ..RootConfig::default()
            },
            seed: seed + 1,
            ..HipConfig::default()
        },
    );
    rig.hip.root.keep_writes();
    let (mut asked, mut refused, mut answered, mut host) = (0, 0, 0, 0);
    for round in 0..60 {
        rig.hip.config.master = !rig.hip.config.master;
        for _ in 0..rng.random_range(1..800) {
            if rig.posts.len() < 4 {
                let beats = rng.random_range(1..=8) * rig.bytes as u64;
                let page = rng.random_range(0..1000) * 4096;
                rig.post(
                    0x100_0000 + page + beats * rng.random_range(0..8),
                    beats as usize,
                );
            }
            if rig.asks.len() < 4 {
                rig.asks.push_back(Ask {
                    address: rng.random_range(0..1000) * 4096 + rng.random_range(0..3000),
                    bytes: rng.random_range(1..=512),
                    tag: (asked % 72) as u8,
                });
                asked += 1;
            }
            rig.step();
        }
        // The host is answered in that time.
        if !rig.hip.host.waits(0x0008, round) {
            host_reads(&mut rig, round);
            host += 1;
        }
        rig.posted.clear();
        refused += rig.ends.iter().filter(|end| end.code == REFUSED).count();
        answered += rig.ends.iter().filter(|end| end.code == 0).count();
        assert!(rig.ends.iter().all(|end| end.code <= REFUSED));
        rig.ends.clear();
        rig.clean();
    }
    // All requests end, and the layer is as it was.
    rig.hip.config.master = true;
    rig.run(SEEN);
    while !rig.posts.is_empty() {
        rig.step();
    }
    rig.posted.clear();
    rig.post(0x8000, 256);
    rig.finish(50_000);
    assert_eq!(rig.hip.host.ends.len(), host);
    assert!(refused > 100 && answered > 40, "{refused} {answered}");
    assert!(rig.hip.root.writes.len() > 40);
    assert_eq!((rig.get("unexpected"), rig.get("malformed")), (0, 0));
    assert_eq!((rig.get("unsupported"), rig.get("expired")), (0, 0));
}

/// The first write of all to the configuration gives the function its number and sets the bit: no packet leaves with
/// the earlier number.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_number_comes_before_the_bit() {
    for bits in [128, 256] {
        let library = library(bits);
        for moment in 0..128 {
            let mut rig = Rig::new(
                &library,
                HipConfig {
                    id: 0,
                    master: false,
                    ..HipConfig::default()
                },
            );
            rig.run(SEEN + moment);
            rig.hip.config.id = 0x0300;
            rig.hip.config.master = true;
            for number in 0..8 {
                rig.run(20);
                rig.asks.push_back(ask(number));
                rig.post(0x8000 + 64 * u64::from(number), 32);
            }
            rig.run(2 * SEEN);
            assert_eq!(rig.hip.breaches(), [], "{moment}");
            rig.posted.clear();
            rig.post(0x9000, 64);
            rig.asks.push_back(ask(8));
            rig.finish(10_000);
            assert_eq!(rig.ends.last().unwrap().code, 0);
        }
    }
}
