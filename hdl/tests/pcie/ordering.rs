//! Packets do not pass packets that they must not pass, and neither writes nor reads starve.

use crate::rig::{Ask, Rig, library, one_write};
use peerlane_sim::hip::{Grant, HipConfig, RootConfig};
use peerlane_verilated::Library;

/// Writes leave in their order, with any concurrent reads.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_keep_their_order() {
    for bits in [128, 256] {
        for payload in [128, 256] {
            let mut rig = Rig::new(
                &library(bits),
                HipConfig {
                    payload,
                    not_ready: 30,
                    ..HipConfig::default()
                },
            );
            rig.hip.root.keep_writes();
            rig.idle = 20;
            let mut expected = Vec::new();
            for number in 0..200u64 {
                // Bulk data, a record, a message.
                let (address, bytes) = match number % 3 {
                    0 => (0x10_0000 + 256 * number, 256),
                    1 => (0x8_0000_0000 + 32 * number, 32),
                    _ => (0xFEE0_0000 + 4 * number, 4),
                };
                rig.post(address, bytes);
                let mut at = 0;
                while at < bytes as u64 {
                    expected.push(address + at);
                    at += u64::from(payload);
                }
                rig.asks.push_back(Ask {
                    address: 0x4000,
                    bytes: 64,
                    tag: number as u8 % 8,
                });
            }
            rig.finish(100_000);
            assert_eq!(rig.hip.root.writes, expected);
        }
    }
}

/// A read that is asked for after a write has the write's data.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_does_not_pass_the_writes_before_it() {
    for bits in [128, 256] {
        behind_writes(&library(bits));
    }
}

pub fn behind_writes(library: &Library) {
    let mut rig = Rig::new(
        library,
        HipConfig {
            not_ready: 60,
            root: RootConfig {
                latency: 20,
                ..RootConfig::default()
            },
            ..HipConfig::default()
        },
    );
    for round in 0..200u64 {
        for part in 0..4 {
            rig.post(0x10_0000 + 1024 * round + 256 * part, 256);
        }
        while !rig.posts.is_empty() {
            rig.step();
        }
        // The memory is looked at as the read arrives, and data are compared with the posted bytes.
        rig.checks_data = false;
        let at = 0x10_0000 + 1024 * round + 1000;
        rig.asks.push_back(Ask {
            address: at,
            bytes: 24,
            tag: 64,
        });
        while !rig.asks.is_empty() {
            rig.step();
        }
        let reads = rig.hip.root.reads();
        let mut waited = 0;
        while rig.hip.root.reads() == reads && waited < 20_000 && rig.unanswered() > 0 {
            rig.step();
            waited += 1;
        }
        rig.clean();
        rig.posted.clear();
    }
}

/// Of two streams that want all of the link each gets its turn by the packet: reads of 64 bytes and writes of 256.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn neither_writes_nor_reads_starve() {
    for bits in [128, 256] {
        let mut rig = Rig::new(
            &library(bits),
            HipConfig {
                posted: Grant::ENDLESS,
                root: RootConfig {
                    latency: 20,
                    ..RootConfig::default()
                },
                ..HipConfig::default()
            },
        );
        rig.hip.root.keep_writes();
        for number in 0..1000u64 {
            rig.post(0x10_0000 + 256 * number, 256);
            rig.asks.push_back(Ask {
                address: 0x4000 + number % 64 * 64,
                bytes: 64,
                tag: (number % 48) as u8,
            });
        }
        let start = rig.cycle;
        while !rig.posts.is_empty() {
            rig.step();
        }
        let cycles = rig.cycle - start;
        let beats = 256 / (bits as u64 / 8) + 1;
        // At most one beat of a read for each write, and hardly anything else.
        let most = 1000 * (beats + 1) + 200;
        assert!(cycles < most, "{cycles} of {most}");
        // A read waits for the packets that were accepted before it: some, not all.
        assert!(rig.hip.root.reads() > 1000 / 8, "{}", rig.hip.root.reads());
        rig.finish(100_000);
    }
}

/// Writes alone leave without a beat between them.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_leave_at_the_rate_of_the_interface() {
    for bits in [128, 256] {
        for (bytes, address) in [(256, 0x10_0000), (64, 0x10_0000), (256, 0x9_0000_0000u64)] {
            let mut rig = Rig::new(
                &library(bits),
                HipConfig {
                    posted: Grant::ENDLESS,
                    ..HipConfig::default()
                },
            );
            for number in 0..500u64 {
                rig.post(address + bytes * number, bytes as usize);
            }
            let start = rig.cycle;
            while !rig.posts.is_empty() {
                rig.step();
            }
            let cycles = rig.cycle - start;
            let beats = bytes / (u64::from(bits) / 8) + 1;
            assert!(cycles <= 500 * beats + 10, "{cycles} for {}", 500 * beats);
            rig.finish(10_000);
        }
    }
}

/// A reset while a read waits for a write that has no credits: the number of writes that have left is cleared with the
/// rest, so the next read waits, too.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_waits_for_the_writes_before_it_behind_a_reset_too() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), one_write());
        for round in 0..4 {
            rig.post(0x10_0000, 64);
            rig.run(100);
            assert_eq!(rig.get("stalled_credits"), 0, "nobody waits");
            rig.post(0x10_1000, 64);
            rig.run(100);
            assert_eq!(rig.get("stalled_credits"), 1);
            let before = rig.hip.root.reads();
            rig.asks.push_back(Ask {
                address: 0x4000,
                bytes: 64,
                tag: 1,
            });
            rig.run(500);
            assert_eq!(rig.hip.root.reads(), before, "round {round}");
            if round < 3 {
                rig.reset();
                rig.posted.clear();
                rig.run(300);
            }
        }
        rig.hip.grant(1, 4, 0);
        rig.finish(1000);
        assert_eq!(rig.ends.len(), 1);
    }
}
