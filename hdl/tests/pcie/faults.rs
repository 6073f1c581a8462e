//! Completions that are wrong: counted, and told the engine with their code. What comes after them is right.

use crate::rig::{Ask, PATIENCE_LOG2, Rig, library};
use peerlane_sim::hip::{Fate, HipConfig, RootConfig};
use peerlane_verilated::Library;

const UNSUPPORTED: u8 = 1;
const ABORT: u8 = 2;
const POISONED: u8 = 3;

fn config(seed: u64) -> HipConfig {
    HipConfig {
        root: RootConfig {
            split: 60,
            reorder: 50,
            latency: 60,
            jitter: 40,
            ..RootConfig::default()
        },
        gaps: 20,
        seed,
        lets_strays_through: true,
        ..HipConfig::default()
    }
}

fn ask(number: u64) -> Ask {
    Ask {
        address: 0x2_0000_0000 + number * 512 + number % 7,
        bytes: 505,
        tag: number as u8 % 64,
    }
}

/// Longer than any read is waited for.
const TOO_LONG: u64 = 130 << PATIENCE_LOG2;

/// Forty reads, of which the twentieth has a fate; then forty more. The code of that one, and the counts.
pub fn with(library: &Library, fate: Fate, seed: u64) -> (Vec<u8>, [u64; 6]) {
    let mut rig = Rig::new(library, config(seed));
    rig.hip.root.strike(20, fate);
    rig.asks.extend((0..40).map(ask));
    rig.run(10_000);
    let codes = rig.ends.iter().filter(|end| end.code != 0);
    let codes: Vec<u8> = codes.map(|end| end.code).collect();
    assert_eq!(rig.unanswered(), usize::from(fate == Fate::Never));
    assert_eq!(rig.ends.len() + rig.unanswered(), 40);
    // Its tag is free again in time, here and at the hard IP; and then all of the space.
    rig.run(TOO_LONG);
    assert_eq!(rig.get("cpl_pending"), 0);
    rig.hip.forget();
    rig.forget();
    rig.ends.clear();
    rig.hip.root.config.latency = 3000;
    let before = rig.hip.root.reads();
    rig.asks.extend((100..340).map(ask));
    rig.run(2500);
    // Eight lines each, and three for flushes.
    assert_eq!(rig.hip.root.reads() - before, (195 - 3) / 8);
    rig.hip.root.config.latency = 60;
    rig.finish(100_000);
    assert_eq!(rig.ends.len(), 240);
    assert!(rig.ends.iter().all(|end| end.code == 0));
    let counts = [
        "unsupported",
        "aborted",
        "poisoned",
        "malformed",
        "unexpected",
        "expired",
    ];
    (codes, counts.map(|name| rig.get(name)))
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_fault_ends_its_read_and_is_counted() {
    for bits in [128, 256] {
        for seed in 1..4 {
            let table: [(Fate, &[u8], [u64; 6]); 11] = [
                (Fate::Status(1), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::Status(4), &[ABORT], [0, 1, 0, 0, 0, 0]),
                // Configuration Request Retry, and a status that is none.
                (Fate::Status(2), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::Status(7), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::Poisoned, &[POISONED], [0, 0, 1, 0, 0, 0]),
                (Fate::Bare, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Count, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Address, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Never, &[], [0, 0, 0, 0, 0, 1]),
                (Fate::Stray, &[], [0, 0, 0, 0, 1, 0]),
                (Fate::Long, &[POISONED], [0, 0, 0, 1, 0, 0]),
            ];
            for (fate, codes, counts) in table {
                let (got, mut counted) = with(&library(bits), fate, seed);
                // What follows a completion that was wrong may find no read any more, or never end it.
                if counts[3] == 1 {
                    assert!(counted[5] <= 1, "{fate:?} {counted:?}");
                    counted[4..].fill(0);
                }
                assert_eq!(
                    (&got[..], counted),
                    (codes, counts),
                    "{fate:?}, {bits} bits"
                );
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_completion_that_comes_short_fails_and_its_tag_waits() {
    for bits in [128, 256] {
        let (codes, counts) = with(&library(bits), Fate::Short, 5);
        assert_eq!(codes, [POISONED]);
        assert_eq!(counts[3], 1, "{counts:?}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_last_completion_that_comes_twice_is_unexpected() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), config(3));
        rig.hip.root.strike(0, Fate::Twice);
        rig.asks.push_back(Ask {
            address: 0x1000,
            bytes: 4,
            tag: 9,
        });
        rig.finish(2000);
        assert_eq!(rig.get("unexpected"), 1);
        assert_eq!(rig.ends.len(), 1);
    }
}

/// A read of which nothing comes gives its tag back between the first and the second look, and says so once.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_lost_is_given_up_in_time() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), config(4));
        rig.hip.root.strike(0, Fate::Never);
        rig.asks.push_back(ask(0));
        let sent = rig.cycle;
        let mut told = 0;
        let mut at = 0;
        while rig.cycle < sent + TOO_LONG {
            rig.step();
            if rig.get("cpl_err") != 0 {
                assert_eq!(rig.get("cpl_err"), 2);
                told += 1;
                at = rig.cycle - sent;
            }
        }
        assert_eq!(told, 1);
        assert!(
            (64 << PATIENCE_LOG2..130 << PATIENCE_LOG2).contains(&at),
            "{at}"
        );
        assert_eq!(rig.get("cpl_pending"), 0);
    }
}
