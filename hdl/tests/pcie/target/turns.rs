//! Turns: completions together with the engine's writes and reads.

use super::{Access, read_all};
use crate::rig::{Ask, Rig, library, one_write};
use peerlane_sim::hip::{Grant, HipConfig};
use peerlane_verilated::Library;

/// A register that says that a write is done is read after the write.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_completion_does_not_pass_the_engines_writes_before_it() {
    for bits in [128, 256] {
        behind_posts(&library(bits));
    }
}

pub fn behind_posts(library: &Library) {
    let mut rig = Rig::new(library, one_write());
    // Uses the credits that there are.
    rig.post(0x9000, 256);
    rig.finish(1000);
    rig.posted.clear();
    for round in 0..50u64 {
        // There is no write before it: it leaves though later writes cannot.
        read_all(&mut rig, [Access::read(0x40, 1)]);
        rig.run(60);
        assert_eq!(rig.hip.host.ends.len() as u64, 2 * round + 1);
        for number in 0..3 {
            rig.post(0x10_0000 + 1024 * round + 256 * number, 256);
        }
        rig.run(100);
        assert!(rig.posts.is_empty());
        read_all(&mut rig, [Access::read(0x40, 1)]);
        for granted in 0..3 {
            rig.run(100);
            assert_eq!(rig.hip.host.open(), 1, "{granted} of 3 writes have left");
            rig.hip.grant(1, 16, 0);
        }
        rig.finish(1000);
        rig.posted.clear();
    }
}

/// Writes, reads and completions that want everything: each has its share of the packets.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn none_of_three_starves() {
    for bits in [128, 256] {
        let endless = Grant::ENDLESS;
        let config = HipConfig {
            posted: endless,
            reads: endless,
            ..HipConfig::default()
        };
        let mut rig = Rig::new(&library(bits), config);
        rig.hip.root.keep_writes();
        read_all(
            &mut rig,
            (0..200).map(|n| Access::read(0x1000 + 256 * n, 64)),
        );
        for number in 0..2000u64 {
            rig.post(0x10_0000 + 256 * number, 256);
            rig.asks.push_back(Ask {
                address: 0x4000 + number % 64 * 64,
                bytes: 64,
                tag: (number % 48) as u8,
            });
        }
        while rig.hip.host.ends.len() < 200 {
            rig.step();
            assert!(rig.cycle < 40_000);
        }
        let writes = rig.hip.root.writes.len();
        let reads = rig.hip.root.reads();
        assert!(writes > 100 && reads > 25, "{writes} {reads}");
        // By the bus's 64 bits, and with as many writes between them.
        let most = 200 * (2 * (256 / (u64::from(bits) / 8) + 2) + 32) + 1000;
        assert!(rig.cycle < most, "{} of {most}", rig.cycle);
        rig.finish(100_000);
    }
}

/// A reset while completions wait for writes that have no credits: the next completions still wait for their writes.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_completion_waits_for_writes_behind_a_reset_too() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), one_write());
        for round in 0..4 {
            // The first leaves.
            rig.post(0x10_0000, 64);
            rig.post(0x10_1000, 64);
            rig.run(100);
            read_all(&mut rig, (0..5).map(|n| Access::read(64 * n, 16)));
            rig.run(500);
            assert_eq!(rig.hip.host.ends.len(), 0, "round {round}");
            if round < 3 {
                rig.reset();
                rig.posted.clear();
                rig.run(300);
            }
        }
        rig.hip.grant(1, 4, 0);
        rig.finish(1000);
        assert_eq!(rig.hip.host.ends.len(), 5);
    }
}

/// Many writes and completions wait when the other end grants credits again: they leave in turn.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_and_completions_that_have_waited_leave_in_turn() {
    for bits in [128, 256] {
        let config = HipConfig {
            replies: Grant::NOTHING,
            ..one_write()
        };
        let mut rig = Rig::new(&library(bits), config);
        rig.post(0x10_0000, 64);
        rig.run(100);
        // Completions do not pass writes that came before.
        read_all(&mut rig, (0..10).map(|n| Access::read(64 * n, 16)));
        rig.run(500);
        rig.hip.root.keep_writes();
        for number in 0..8 {
            rig.post(0x10_1000 + 64 * number, 64);
        }
        rig.run(200);
        assert!(rig.posts.is_empty());
        rig.hip.grant(64, 1024, 0);
        rig.hip.grant_replies(64, 1024);
        while rig.hip.host.ends.len() < 6 {
            let (writes, ends) = (rig.hip.root.writes.len(), rig.hip.host.ends.len());
            assert!(writes.abs_diff(ends) < 3, "{writes} {ends}");
            rig.step();
        }
        rig.finish(1000);
    }
}
