//! Wrong completions: counted, and reported to the engine with their code. Later completions are right.

use crate::range::wide;
use crate::rig::{Ask, PATIENCE_LOG2, Rig, library};
use peerlane_sim::hip::{Fate, HipConfig, RootConfig};
use peerlane_verilated::Library;
use std::collections::HashSet;

const UNSUPPORTED: u8 = 1;
const ABORT: u8 = 2;
const POISONED: u8 = 3;
const GIVEN_UP: u8 = 4;

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
/// Cycles for which a read finds no tag or no room, with no read under way, before it ends.
const HOPE: u64 = 56 << PATIENCE_LOG2;

/// Runs forty reads, of which the twentieth has a fate; then forty more. Returns the code of that one, and the counts.
pub fn with(library: &Library, fate: Fate, seed: u64) -> (Vec<u8>, [u64; 6]) {
    let mut rig = Rig::new(library, config(seed));
    rig.hip.root.strike(20, fate);
    rig.asks.extend((0..40).map(ask));
    rig.run(10_000);
    rig.run(TOO_LONG);
    assert_eq!(rig.ends.len(), 40);
    let codes = rig.ends.iter().filter(|end| end.code != 0);
    let codes: Vec<u8> = codes.map(|end| end.code).collect();
    assert_eq!(rig.get("cpl_pending"), 0);
    rig.ends.clear();
    rig.hip.root.config.latency = 3000;
    let before = rig.hip.root.reads();
    rig.asks.extend((100..340).map(ask));
    rig.run(2500);
    // Eight lines each, and three for flushes. One or more are kept for completions that may still come, if the late
    // part begins a line.
    let room = rig.hip.root.reads() - before;
    match fate {
        Fate::Never => assert_eq!(room, (195 - 3 - 8) / 8),
        Fate::Short => assert!((23..=24).contains(&room), "{room}"),
        _ => assert_eq!(room, (195 - 3) / 8),
    }
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
    let counts = counts.map(|name| rig.get(name));
    // The hard IP is notified of a completion's timeout, and of a completion that no read waits for or that does not
    // fit.
    let [.., malformed, unexpected, expired] = counts;
    assert_eq!(
        rig.hip.errors,
        [0, expired, 0, malformed + unexpected, 0, 0, 0]
    );
    (codes, counts)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_fault_ends_its_read_and_is_counted() {
    for bits in [128, 256] {
        for seed in 1..4 {
            let table: [(Fate, &[u8], [u64; 6]); 16] = [
                (Fate::Status(1), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::Status(4), &[ABORT], [0, 1, 0, 0, 0, 0]),
                // Configuration Request Retry, and a status that does not exist.
                (Fate::Status(2), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::Status(7), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::StatusWithData(1), &[UNSUPPORTED], [1, 0, 0, 0, 0, 0]),
                (Fate::StatusWithData(4), &[ABORT], [0, 1, 0, 0, 0, 0]),
                (Fate::Poisoned, &[POISONED], [0, 0, 1, 0, 0, 0]),
                (Fate::PoisonedFromThere, &[POISONED], [0, 0, 1, 0, 0, 0]),
                (Fate::Bare, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Count, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Address, &[POISONED], [0, 0, 0, 1, 0, 0]),
                (Fate::Never, &[GIVEN_UP], [0, 0, 0, 0, 0, 1]),
                // Tags that this hard IP does not have.
                (Fate::Stray(0x40), &[], [0, 0, 0, 0, 1, 0]),
                (Fate::Stray(0x80), &[], [0, 0, 0, 0, 1, 0]),
                (Fate::Stray(0xC0), &[], [0, 0, 0, 0, 1, 0]),
                (Fate::Long, &[POISONED], [0, 0, 0, 1, 0, 0]),
            ];
            for (fate, codes, counts) in table {
                let (got, mut counted) = with(&library(bits), fate, seed);
                // Completions after a wrong one may find that their read no longer exists.
                if counts[3] == 1 {
                    counted[4] = 0;
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

/// A read without completions is given up between the first and the second look, and is reported once.
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
        assert_eq!(rig.ends.len(), 1);
        assert_eq!((rig.ends[0].ask, rig.ends[0].code), (ask(0), GIVEN_UP));
    }
}

/// A lost read after a reset in the middle of a completion.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_lost_behind_a_reset_is_given_up() {
    for bits in [128, 256] {
        for moment in 0..16 {
            let mut rig = Rig::new(&library(bits), config(9));
            rig.asks.extend((0..20).map(ask));
            rig.run(110 + moment);
            rig.reset();
            rig.run(300);
            rig.ends.clear();
            rig.hip.root.strike(0, Fate::Never);
            rig.asks.push_back(short(0, 0));
            rig.run(TOO_LONG);
            let codes: Vec<u8> = rig.ends.iter().map(|end| end.code).collect();
            assert_eq!(codes, [GIVEN_UP], "{moment}");
        }
    }
}

/// Makes a read of four bytes: all are alike, except for their data.
fn short(number: u64, tag: u8) -> Ask {
    Ask {
        address: 0x3_0000_0000 + number * 4096,
        bytes: 4,
        tag,
    }
}

/// Completions of a read that was given up are not taken for those of another read: its tag is not used until they have
/// come, and is used after that.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_comes_too_late_is_nobodys() {
    for bits in [128, 256] {
        late(&library(bits));
    }
}

pub fn late(library: &Library) {
    let mut rig = Rig::new(library, config(6));
    let comes = rig.cycle + 3 * TOO_LONG;
    // One short read, and one that has eight lines.
    for number in [3, 5] {
        rig.hip.root.strike(number, Fate::Late(3 * TOO_LONG));
    }
    rig.asks.extend((0..5).map(|n| short(n, n as u8)));
    rig.asks.extend((5..8).map(ask));
    rig.run(TOO_LONG);
    let codes: Vec<u8> = rig.ends.iter().map(|end| end.code).collect();
    assert_eq!(codes, [0, 0, 0, 0, 0, 0, GIVEN_UP, GIVEN_UP]);
    // Every tag in turn, some of them under way as the late completions come.
    let mut number = 8;
    while rig.cycle < comes + 1000 {
        rig.asks.push_back(short(number, number as u8 % 64));
        rig.run(50);
        number += 1;
    }
    rig.finish(2000);
    assert_eq!(rig.ends.len() as u64, number);
    assert!(rig.ends[8..].iter().all(|end| end.code == 0));
    assert_eq!((rig.get("expired"), rig.get("unexpected")), (2, 0));
    // All tags are there again, and as much room as there was.
    rig.hip.root.config.latency = 3000;
    let before = rig.hip.root.reads();
    rig.asks.extend((0..63).map(|tag| short(0, tag)));
    rig.run(1000);
    assert_eq!(rig.hip.root.reads() - before, 56);
    rig.finish(20_000);
    let before = rig.hip.root.reads();
    rig.asks.extend((0..40).map(ask));
    rig.run(1000);
    assert_eq!(rig.hip.root.reads() - before, (195 - 3) / 8);
    rig.finish(20_000);
}

/// With every tag lost, for data or for flushes, no such read leaves, and the engine is notified that it waits. Reads
/// that find no tag for too long end, and when the late completions have come reads leave again.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn with_all_tags_lost_reads_end_until_they_come_back() {
    for bits in [128, 256] {
        for (first, tags) in [(0, 56), (64, 8)] {
            let mut rig = Rig::new(&library(bits), config(7));
            for number in 0..tags {
                rig.hip.root.strike(number, Fate::Late(3 * TOO_LONG));
            }
            rig.asks
                .extend((0..tags).map(|n| short(n, first + n as u8)));
            rig.run(2 * TOO_LONG);
            assert_eq!(rig.ends.len() as u64, tags);
            assert!(rig.ends.iter().all(|end| end.code == GIVEN_UP));
            assert_eq!(rig.get("rx_failed"), 0);
            rig.ends.clear();
            rig.asks
                .extend((0..8).map(|n| short(100 + n, first + n as u8)));
            rig.run(200);
            assert_eq!((rig.get("stalled_tags"), rig.ends.len()), (1, 0));
            rig.run(HOPE - 200);
            assert_eq!((rig.get("rx_failed"), rig.ends.len()), (0, 0));
            rig.run(8 * 300);
            assert_eq!(rig.hip.root.reads(), tags);
            assert_eq!(rig.ends.len(), 8);
            assert!(rig.ends.iter().all(|end| end.code == GIVEN_UP));
            assert_eq!(rig.get("rx_failed"), 1);
            rig.run(3 * TOO_LONG);
            rig.ends.clear();
            rig.asks
                .extend((0..8).map(|n| short(200 + n, first + n as u8)));
            rig.finish(3 * TOO_LONG);
            assert_eq!(rig.ends.len(), 8);
            assert!(rig.ends.iter().all(|end| end.code == 0));
            // Until a reset.
            assert_eq!(rig.get("rx_failed"), 1);
            rig.reset();
            assert_eq!(rig.get("rx_failed"), 0);
        }
    }
}

/// A link or a peer that makes no progress for longer than reads are waited for, and goes on: waiting reads are not
/// ended, and no reset is asked for.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_that_wait_outlive_a_pause() {
    for bits in [128, 256] {
        for (first, tags) in [(0, 56), (64, 8)] {
            let mut rig = Rig::new(&library(bits), config(7));
            for number in 0..tags {
                rig.hip.root.strike(number, Fate::Late(TOO_LONG + HOPE / 2));
            }
            rig.asks
                .extend((0..tags + 4).map(|n| short(n, first + (n % tags) as u8)));
            rig.finish(2 * TOO_LONG);
            let codes: Vec<u8> = rig.ends.iter().map(|end| end.code).collect();
            let given_up = codes.iter().filter(|code| **code == GIVEN_UP).count();
            assert_eq!(given_up as u64, tags, "{codes:?}");
            assert_eq!(codes[tags as usize..], [0; 4]);
            assert_eq!(rig.get("rx_failed"), 0);
        }
    }
}

/// One peer is silent and has all room: reads end, and flushes to others leave between them.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn with_all_room_lost_reads_end_and_flushes_go_on() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), config(9));
        let read = |number: u64| Ask {
            address: 0x4_0000_0000 + 512 * number,
            bytes: 512,
            tag: number as u8,
        };
        rig.hip.root.config.latency = 1 << 40;
        rig.asks.extend((0..24).map(read));
        rig.run(1000);
        rig.hip.root.config.latency = 60;
        for number in 24..40 {
            rig.asks.push_back(read(number));
            rig.asks.push_back(short(number, 64 + number as u8 % 8));
        }
        rig.run(2 * TOO_LONG);
        let given_up = (0..40).all(|tag| {
            let mut ends = rig.ends.iter().filter(|end| end.ask.tag == tag);
            ends.next().is_some_and(|end| end.code == GIVEN_UP) && ends.next().is_none()
        });
        assert!(given_up, "{:?}", rig.ends);
        let flushes: Vec<_> = rig.ends.iter().filter(|end| end.ask.tag >= 64).collect();
        assert_eq!(flushes.len(), 16);
        assert!(flushes.iter().all(|end| end.code == 0));
        assert_eq!(rig.hip.root.reads(), 24 + 16);
    }
}

/// A slow read is not lost: a read that finds no room waits for those under way, however long they take.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn while_reads_are_under_way_the_others_wait() {
    for bits in [128, 256] {
        let mut slow = config(10);
        slow.root.latency = TOO_LONG / 3;
        slow.patient = true;
        let mut rig = Rig::new(&library(bits), slow);
        rig.run(200);
        rig.asks.extend((0..100).map(ask));
        rig.finish(20 * TOO_LONG);
        assert_eq!(rig.ends.len(), 100);
        assert!(rig.ends.iter().all(|end| end.code == 0));
        assert_eq!(rig.get("rx_failed"), 0);
    }
}

/// Completion Timeout Disable: no read is given up, until software clears the bit.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn no_read_is_given_up_while_software_forbids_it() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), config(11));
        rig.hip.config.patient = true;
        rig.run(400);
        rig.hip.root.strike(0, Fate::Never);
        rig.asks.push_back(ask(1));
        rig.run(4 * TOO_LONG);
        assert_eq!((rig.ends.len(), rig.get("expired")), (0, 0));
        rig.hip.config.patient = false;
        rig.run(2 * TOO_LONG);
        assert_eq!(rig.get("expired"), 1);
        assert_eq!(rig.ends.len(), 1);
        assert_eq!(rig.ends[0].code, GIVEN_UP);
    }
}

/// A flush takes any free tag of those for flushes: lost tags hold up nothing.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_lost_flush_holds_up_no_other() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), config(8));
        for number in 0..7 {
            rig.hip.root.strike(number, Fate::Never);
        }
        rig.asks.extend((0..7).map(|n| short(n, 64 + n as u8)));
        rig.run(2 * TOO_LONG);
        assert_eq!(rig.ends.len(), 7);
        rig.asks
            .extend((0..40).map(|n| short(50 + n, 64 + n as u8 % 8)));
        rig.finish(20_000);
        assert_eq!(rig.ends.len(), 47);
        assert!(rig.ends[7..].iter().all(|end| end.code == 0));
    }
}

/// Reads are given up while packets of others are half received for longer than a read is waited for.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_are_given_up_beside_packets_that_come_slowly() {
    for bits in [128, 256] {
        for seed in 1..6 {
            let mut slow = config(seed);
            slow.gaps = 70;
            slow.root.latency = 20;
            let mut rig = Rig::new(&wide(bits), slow);
            for number in 0..100 {
                rig.hip.root.strike(3 * number, Fate::Late(2000));
            }
            rig.asks.extend((0..300).map(|number| Ask {
                tag: number as u8 % 3,
                ..ask(number)
            }));
            rig.finish(500_000);
            assert_eq!(rig.ends.len(), 300);
            let codes: HashSet<u8> = rig.ends.iter().map(|end| end.code).collect();
            assert_eq!(codes, [0, GIVEN_UP].into());
        }
    }
}

/// A read in parts ends with the part that fails: once, with that part's code, and the next answer belongs to another
/// read.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_part_that_fails_ends_its_read() {
    for bits in [128, 256] {
        for part in 0..4 {
            for (fate, code) in [
                (Fate::Status(1), UNSUPPORTED),
                (Fate::Poisoned, POISONED),
                (Fate::Late(3 * TOO_LONG), GIVEN_UP),
            ] {
                let mut rig = Rig::new(&library(bits), config(9));
                rig.hip.config.request = 128;
                rig.run(400);
                rig.hip.root.strike(8 + part, fate);
                rig.asks.extend((0..6).map(|number| Ask {
                    address: 0x3_0000_0000 + 4096 * number,
                    bytes: 512,
                    tag: number as u8,
                }));
                rig.finish(6 * TOO_LONG);
                let mut ends = rig.ends.clone();
                ends.sort_by_key(|end| end.ask.tag);
                let codes: Vec<u8> = ends.iter().map(|end| end.code).collect();
                assert_eq!(codes, [0, 0, code, 0, 0, 0], "{fate:?} in part {part}");
                // Data that came before are in order; no data of later parts have come.
                assert!(u64::from(ends[2].bytes) <= 128 * (part + 1));
                assert_eq!(rig.hip.root.reads(), 5 * 4 + part + 1);
            }
        }
    }
}
