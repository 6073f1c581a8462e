//! Tags, space for completions and credits: the layer uses all of them, and none that does not exist.

use crate::rig::{Ask, PATIENCE_LOG2, Rig, library};
use crate::target::{Access, BAR_0};
use peerlane_sim::hip::{Fate, Grant, HipConfig, RootConfig, Tlp};
use peerlane_verilated::Library;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn slow() -> HipConfig {
    HipConfig {
        root: RootConfig {
            latency: 5000,
            ..RootConfig::default()
        },
        ..HipConfig::default()
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn tags_are_shared_out_as_they_are_enabled() {
    for bits in [128, 256] {
        tags(&library(bits));
    }
}

/// Tests reads of four bytes under way at once, by the configuration.
pub fn tags(library: &Library) {
    for (extended, data, all) in [(false, 24, 32), (true, 56, 64)] {
        let mut rig = Rig::new(library, HipConfig { extended, ..slow() });
        let mut ask = |tag: u64| Ask {
            address: 0x1000 + tag * 64,
            bytes: 4,
            tag: tag as u8,
        };
        rig.asks.extend((0..63).map(&mut ask));
        rig.run(3000);
        assert_eq!(rig.hip.root.reads(), data);
        assert_eq!(rig.get("stalled_tags"), 1);
        // Reads leave in their order: the flushes would come after the read that waits. So they are asked for first,
        // from another layer.
        let mut rig = Rig::new(library, HipConfig { extended, ..slow() });
        rig.asks.extend((64..72).chain(0..63).map(&mut ask));
        rig.run(3000);
        assert_eq!(rig.hip.root.reads(), all);
        rig.finish(100_000);
        assert_eq!(rig.hip.root.reads(), 71);
    }
}

/// Tests lines of 64 bytes under way: three fewer than the hard IP has room for, which are for flushes. The buffer is
/// never overrun when all of them come while the design is held up.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_leave_while_there_is_room_for_their_completions() {
    for bits in [128, 256] {
        room(&library(bits));
    }
}

pub fn room(library: &Library) {
    for (space, lines) in [
        ((195, 781), 8),
        ((112, 448), 8),
        ((40, 160), 2),
        ((60, 240), 2),
    ] {
        let config = HipConfig {
            space,
            gaps: 90,
            ..slow()
        };
        let mut rig = Rig::new(library, config);
        rig.hip.root.config.split = 100;
        rig.asks.extend((0..50).map(|tag| {
            let page = 0x10_0000 + 4096 * u64::from(tag);
            // Eight lines; or the last dword of one and the first of the next.
            let (offset, bytes) = if lines == 8 { (0, 512) } else { (0x3C, 8) };
            Ask {
                address: page + offset,
                bytes,
                tag,
            }
        }));
        rig.run(2000);
        assert_eq!(rig.hip.root.reads(), (u64::from(space.0) - 3) / lines);
        rig.finish(1_000_000);
        assert_eq!(rig.ends.len(), 50);
        assert!(rig.hip.most <= space.0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_leaves_without_credits_and_all_leaves_with_them() {
    for bits in [128, 256] {
        credits(&library(bits));
    }
}

pub fn credits(library: &Library) {
    for (headers, data, reads) in [(0, 0, 0), (1, 16, 0), (0, 16, 1), (4, 5, 1), (2, 40, 3)] {
        let config = HipConfig {
            posted: Grant {
                headers: Some(headers),
                data: Some(data),
            },
            reads: Grant {
                headers: Some(reads),
                data: None,
            },
            credit_delay: 1 << 40,
            ..HipConfig::default()
        };
        let mut rig = Rig::new(library, config);
        rig.hip.root.keep_writes();
        for number in 0..5 {
            rig.asks.push_back(Ask {
                address: 0x5000,
                bytes: 64,
                tag: number,
            });
        }
        // Asked for before: a read does not pass the writes that were accepted before it.
        rig.run(200);
        for number in 0..10 {
            rig.post(0x8000 + 256 * number, 64);
        }
        rig.run(2000);
        assert_eq!(rig.hip.root.reads(), u64::from(reads));
        let writes = headers.min(data / 4);
        assert_eq!(
            rig.hip.root.writes.len(),
            writes as usize,
            "{headers} {data}"
        );
        // A read after the writes waits for them, so they are granted first.
        for _ in 0..20 {
            rig.hip.grant(1, 4, 1);
            rig.run(200);
        }
        rig.finish(10_000);
        assert_eq!(rig.hip.root.writes.len(), 10);
        assert_eq!(rig.hip.root.reads(), 5);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn credits_without_a_limit_are_none() {
    let endless = Grant::ENDLESS;
    let fresh = HipConfig::default();
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), HipConfig::default());
        for (posted, reads, replies) in [
            (endless, endless, endless),
            (fresh.posted, fresh.reads, fresh.posted),
            (endless, fresh.reads, fresh.posted),
            (fresh.posted, endless, endless),
        ] {
            rig.hip.config.posted = posted;
            rig.hip.config.reads = reads;
            rig.hip.config.replies = replies;
            rig.reset();
            rig.run(300);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            for number in 0..600 {
                rig.post(0x8000 + 256 * number, 256);
            }
            for tag in 0..200 {
                rig.asks.push_back(Ask {
                    address: 0x5000,
                    bytes: 64,
                    tag: tag % 64,
                });
                let packet = Access::read(0x1000, 64).packet(tag, &mut rng);
                rig.hip.host.queue.push_back((packet, BAR_0));
            }
            rig.finish(100_000);
            rig.posted.clear();
        }
    }
}

/// The hard IP consumes credits for packets of its own at any moment: before they are counted, as they are counted for
/// the first time, at the same time as packets of the layer and between them. The layer uses all that are left, and no
/// more, which the model checks. A credit that is consumed just as they are counted for the first time may be counted
/// twice: no document says whether the sum that the hard IP shows holds it already.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn credits_that_the_hard_ip_consumes_are_counted() {
    for bits in [128, 256] {
        for seed in 0..20 {
            for limited in 0..5 {
                own_packets(&library(bits), limited, seed);
            }
        }
    }
}

fn own_packets(library: &Library, limited: usize, seed: u64) {
    let limit = |kind: usize| (kind == limited).then_some(120);
    let grant = |headers, data| Grant {
        headers: limit(headers),
        data: limit(data),
    };
    let config = HipConfig {
        posted: grant(0, 1),
        reads: grant(2, usize::MAX),
        replies: grant(3, 4),
        credit_delay: 1 << 40,
        own: 400,
        seed: seed + 1,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for number in 0..200 {
        if number == 60 {
            rig.hip.config.own = 0;
        }
        // One unit of data each.
        rig.post(0x1_0000 + 64 * number, 16);
        rig.asks.push_back(Ask {
            address: 0x2_0000_0000 + 64 * number,
            bytes: 4,
            tag: number as u8 % 56,
        });
        let register = Access::read(8 * number, 1).packet(number as u8, &mut rng);
        rig.hip.host.queue.push_back((register, BAR_0));
        rig.run(2);
    }
    rig.run(6000);
    assert_eq!(rig.hip.breaches(), []);
    let left = rig.hip.credits_left()[limited].unwrap();
    assert!(left <= 1, "{left} credits of kind {limited}, seed {seed}");
}

/// A hard IP without `use_tx_cons_cred_sel_hwtcl` shows the granted credits in place of the consumed ones. If any
/// credit was granted before the layer left its reset, all of them look consumed, and nothing leaves: that is the safe
/// side. And the host still reads registers, for a root complex grants completions without a limit (PCI Express Base
/// Specification 2.1, section 2.6.1).
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn without_what_was_consumed_nothing_leaves_but_completions() {
    for bits in [128, 256] {
        unknown_credits(&library(bits));
    }
}

pub fn unknown_credits(library: &Library) {
    let config = HipConfig {
        shows_consumed: false,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    rig.hip.root.keep_writes();
    rig.post(0x8000, 64);
    rig.asks.push_back(Ask {
        address: 0x5000,
        bytes: 64,
        tag: 0,
    });
    rig.run(1000);
    let register = Tlp::read(0xF7C4_0000, 1, (0xF, 0), 0x0008, 0);
    rig.hip.host.queue.push_back((register, 1));
    rig.run(5000);
    assert_eq!((rig.hip.root.reads(), rig.hip.root.writes.len()), (0, 0));
    assert_eq!((rig.hip.host.open(), rig.hip.host.ends.len()), (0, 1));
    assert_eq!(rig.posts.len(), 1, "it is not accepted");
    assert_eq!(rig.hip.breaches(), []);
    // Credits that are granted from then on can be used.
    rig.hip.grant(1, 4, 1);
    rig.finish(5000);
    assert_eq!((rig.hip.root.reads(), rig.hip.root.writes.len()), (1, 1));
}

/// The age of a read counts from its departure: a read that the hard IP does not take for longer than reads are waited
/// for is answered all the same, whole or in parts, and so are later ones.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_cannot_leave_is_not_given_up() {
    for bits in [128, 256] {
        for request in [512, 128] {
            let mut rig = Rig::new(
                &library(bits),
                HipConfig {
                    request,
                    ..HipConfig::default()
                },
            );
            rig.hip.config.not_ready = 100;
            rig.post(0x8000, 64);
            rig.run(40);
            rig.asks.push_back(Ask {
                address: 0x5000,
                bytes: 512,
                tag: 3,
            });
            rig.run(130 << PATIENCE_LOG2);
            assert_eq!(rig.hip.root.reads(), 0);
            rig.hip.config.not_ready = 0;
            rig.asks.extend((10..13).map(|tag| Ask {
                address: 0x6000,
                bytes: 8,
                tag,
            }));
            rig.finish(5000);
            assert_eq!(rig.ends.len(), 4);
            assert!(rig.ends.iter().all(|end| end.code == 0));
            assert_eq!((rig.get("unexpected"), rig.get("expired")), (0, 0));
        }
    }
}

/// A reset with everything under way, again and again; packets after it are right.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_at_any_moment_leaves_nothing_behind() {
    for bits in [128, 256] {
        let mut rig = Rig::new(
            &library(bits),
            HipConfig {
                not_ready: 20,
                gaps: 20,
                own: 5,
                root: RootConfig {
                    split: 50,
                    reorder: 50,
                    latency: 100,
                    jitter: 50,
                    ..RootConfig::default()
                },
                ..HipConfig::default()
            },
        );
        for round in 0..120u64 {
            for number in 0..20 {
                rig.asks.push_back(Ask {
                    address: 0x10_0000 + number * 640 % 4096 / 512 * 512,
                    bytes: 512,
                    tag: number as u8,
                });
                rig.post(0x8000 + 256 * number, 256);
            }
            if round == 60 {
                rig.hip.root.strike(3, Fate::Poisoned);
            }
            rig.run(round * 7 % 613);
            rig.reset();
            rig.posted.clear();
            rig.run(170);
            assert_eq!(rig.get("cpl_pending"), 0);
        }
        rig.asks.extend((0..63).map(|tag| Ask {
            address: 0x20_0000 + 512 * u64::from(tag),
            bytes: 512,
            tag,
        }));
        rig.post(0x9000, 256);
        rig.finish(100_000);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_software_has_set_is_seen_whole() {
    for bits in [128, 256] {
        capabilities(&library(bits));
    }
}

/// Tests the words of the MSI capability, which come in turn: where MSI is seen as enabled, address and data are seen,
/// too, whichever word was shown as software enabled it.
pub fn capabilities(library: &Library) {
    for word_cycles in [4, 8] {
        standing(library, word_cycles);
        changing(library, word_cycles);
    }
}

/// Tests that a value that does not change is seen in every cycle, though some bits of a word come a cycle late.
fn standing(library: &Library, word_cycles: u64) {
    let config = HipConfig {
        id: 0x5AA8,
        word_cycles,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    for _ in 0..4000 {
        rig.step();
        let seen = [
            "max_payload",
            "max_request",
            "extended_tags",
            "read_boundary",
            "bus_master",
            "requester_id",
            "msix_enable",
        ]
        .map(|name| rig.get(name));
        assert_eq!(seen, [1, 2, 1, 0, 1, 0x5AA8, 0], "{word_cycles} cycles");
    }
}

fn changing(library: &Library, word_cycles: u64) {
    let config = HipConfig {
        word_cycles,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    for round in 0..130u64 {
        rig.hip.config.msi = None;
        rig.run(300 + round);
        assert_eq!(rig.get("msi_enable"), 0);
        let (address, data) = (
            0x1234_5678_9ABC_DEF0 ^ round.wrapping_mul(0x0101_0204_0810_2040) & !3,
            0x6789 ^ round as u16,
        );
        rig.hip.config.msi = Some((address, data));
        let mut cycles = 0;
        while rig.get("msi_enable") == 0 {
            rig.step();
            cycles += 1;
            // Two turns of sixteen words, and the values on their way.
            assert!(cycles < 32 * word_cycles + 10);
        }
        assert_eq!(
            (rig.get("msi_address"), rig.get("msi_data")),
            (address, u64::from(data)),
            "round {round}"
        );
    }
    rig.hip.config.msix = (true, false);
    rig.run(300);
    assert_eq!((rig.get("msix_enable"), rig.get("msix_mask")), (1, 0));
    rig.hip.config.msix = (true, true);
    rig.run(300);
    assert_eq!((rig.get("msix_enable"), rig.get("msix_mask")), (1, 1));
}

/// Writes are cut at multiples of Max Payload Size, and nowhere else.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_have_as_few_packets_as_may_be() {
    for bits in [128, 256] {
        for payload in [128, 256, 512] {
            packets(&library(bits), payload);
        }
    }
}

pub fn packets(library: &Library, payload: u32) {
    let config = HipConfig {
        payload,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    rig.hip.root.keep_writes();
    let mut expected = Vec::new();
    for (address, bytes) in [(0x8000, 512), (0x9040, 448), (0xA0C0, 512), (0xBE00, 512)] {
        rig.post(address, bytes);
        expected.push(address);
        let edges = (address + 1..address + bytes as u64)
            .filter(|at| at.is_multiple_of(u64::from(payload)));
        expected.extend(edges);
    }
    rig.finish(2000);
    assert_eq!(rig.hip.root.writes, expected);
}

/// The layer asks for shorter reads while nearly all room is promised and the link brings little, and only then.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn shorter_reads_are_wished_for_where_room_is_what_lacks() {
    for bits in [128, 256] {
        crowd(&library(bits));
    }
}

pub fn crowd(library: &Library) {
    let mut number = 0;
    let mut rig = Rig::new(library, slow());
    let mut run = |rig: &mut Rig, most: usize, cycles: u64| {
        for _ in 0..cycles {
            while rig.asks.is_empty() && rig.unanswered() < most {
                rig.asks.push_back(Ask {
                    address: 0x10_0000 + 512 * number,
                    bytes: 512,
                    tag: (number % 63) as u8,
                });
                number += 1;
            }
            rig.step();
        }
    };
    // Room for 24. With 18 of them 48 lines are free, with 21 of them 24.
    run(&mut rig, 18, 4000);
    assert_eq!(rig.get("short_reads"), 0);
    run(&mut rig, 21, 4000);
    assert_eq!(rig.get("short_reads"), 1);
    run(&mut rig, 30, 4000);
    assert_eq!(rig.get("short_reads"), 1);
    // As long as the answers take, the interface brings data in nearly every cycle. A thousand such cycles do not yet
    // weigh as much as the idle cycles before.
    rig.hip.root.config.latency = 30;
    let mut arrived = 0;
    let mut wished = false;
    while arrived < 1000 {
        run(&mut rig, 30, 1);
        arrived += rig.get("rx_st_valid");
        wished |= arrived > 500 && rig.get("short_reads") == 1;
    }
    assert!(wished);
    run(&mut rig, 30, 12_000);
    assert_eq!(rig.get("short_reads"), 0);
    rig.hip.root.config.latency = 5000;
    run(&mut rig, 30, 8000);
    assert_eq!(rig.get("short_reads"), 1);
    rig.asks.clear();
    rig.finish(20_000);
}
