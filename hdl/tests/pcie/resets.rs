//! Resets: the first packets after one, and the packets with which the hard IP goes on.

use crate::rig::{Ask, Rig, design, library};
use crate::target::{Access, BAR_0};
use peerlane_hdl::pcie::TOP;
use peerlane_sim::hip::HipConfig;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// After a reset the function's number comes in its turn: no packet leaves with another number. The model compares it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_leaves_before_the_functions_number_is_known() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), HipConfig::default());
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..200 {
            rig.run(round);
            rig.reset();
            rig.posted.clear();
            rig.asks.extend((0..4).map(|tag| Ask {
                address: 0x1000 + 64 * u64::from(tag),
                bytes: 64,
                tag,
            }));
            for number in 0..4 {
                let packet = Access::read(64 * number, 4).packet(number as u8, &mut rng);
                rig.hip.host.queue.push_back((packet, BAR_0));
            }
            rig.finish(2000);
        }
    }
}

/// Nothing waits for credits after a reset while there is no request.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_is_stalled_behind_a_reset() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), HipConfig::default());
        for _ in 0..4 {
            rig.reset();
            for _ in 0..60 {
                assert_eq!(rig.get("stalled_credits"), 0);
                rig.step();
            }
        }
    }
}

/// The layer alone is reset while a completion is half received. The rest of it belongs to no read, and frees no room.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn half_a_packet_behind_a_reset_gives_no_room() {
    for bits in [128, 256] {
        for moment in 0..120 {
            let config = HipConfig {
                gaps: 30,
                space: (40, 160),
                lets_strays_through: true,
                seed: 5,
                ..HipConfig::default()
            };
            let mut rig = Rig::new(&library(bits), config);
            let ask = |number: u64, bytes| Ask {
                address: 0x5_0000_0000 + 512 * number,
                bytes,
                tag: number as u8,
            };
            rig.asks.extend((0..4).map(|number| ask(number, 512)));
            rig.run(300 + moment);
            rig.reset_layer();
            rig.run(1500);
            rig.hip.root.config.latency = 1 << 40;
            let before = rig.hip.root.reads();
            rig.asks.extend((0..60).map(|number| ask(number, 64)));
            rig.run(900);
            let reads = rig.hip.root.reads() - before;
            assert!(
                reads <= 40 - 3,
                "{reads} lines are promised, moment {moment}"
            );
        }
    }
}

/// Packets that come while the link trains wait, and counting begins as it comes up: until then the hard IP may show
/// the numbers of the previous link.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_leaves_before_the_link_is_up() {
    for bits in [128, 256] {
        let config = HipConfig {
            training: 3000,
            ..HipConfig::default()
        };
        let mut rig = Rig::new(&library(bits), config);
        rig.hip.root.keep_writes();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // The model reports a packet without a link.
        use_all(&mut rig, &mut rng);
        for _ in 0..3 {
            rig.reset();
            rig.posted.clear();
            // Bus Master Enable comes in that time, and the function's number after it: two turns of the words.
            rig.run(400);
            use_all(&mut rig, &mut rng);
        }
    }
}

/// Uses more than the credits granted at first, of each kind.
fn use_all(rig: &mut Rig, rng: &mut ChaCha8Rng) {
    let before = (rig.hip.root.reads(), rig.hip.root.writes.len());
    for number in 0..80 {
        rig.post(0x8000 + 256 * number, 64);
        rig.asks.push_back(Ask {
            address: 0x5_0000_0000 + 64 * number,
            bytes: 64,
            tag: number as u8 % 64,
        });
    }
    for number in 0..4 {
        let packet = Access::read(64 * number, 4).packet(number as u8, rng);
        rig.hip.host.queue.push_back((packet, BAR_0));
    }
    rig.finish(20_000);
    let after = (rig.hip.root.reads(), rig.hip.root.writes.len());
    assert_eq!((after.0 - before.0, after.1 - before.1), (80, 80));
}

/// The link goes down and comes up without a reset of the layer: it counts from the first credits of the new one.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn credits_are_counted_again_with_each_link() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), HipConfig::default());
        rig.hip.root.keep_writes();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for cycles in [20, 200, 1000] {
            use_all(&mut rig, &mut rng);
            rig.hip.relink(cycles);
            rig.run(10);
            use_all(&mut rig, &mut rng);
        }
    }
}

/// An illegal state, by an upset: reads go on without a reset.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_upset_state_machine_recovers() {
    const UPSET: u64 = 0x7777_7777;
    let mut design = design(128);
    let name = format!("{TOP}_asks");
    let asks = (design.modules.iter_mut()).find(|module| module.name == name);
    let verilog = &mut asks.unwrap().verilog;
    let (register, upset) = (
        "state_q <= state_d;",
        format!("state_q <= address == 64'd{UPSET} ? 3'd7 : state_d;"),
    );
    assert_eq!(verilog.matches(register).count(), 1);
    *verilog = verilog.replace(register, &upset);
    let library = peerlane_block::library_of(TOP, &design).unwrap();
    let mut rig = Rig::new(&library, HipConfig::default());
    let ask = |tag| Ask {
        address: 0x5000 + 64 * u64::from(tag),
        bytes: 64,
        tag,
    };
    for round in 0..4 {
        rig.asks.extend((0..8).map(ask));
        rig.finish(5000);
        rig.set("ask_address", UPSET);
        rig.step();
        rig.set("ask_address", 0);
        rig.run(round);
    }
    assert_eq!(rig.ends.len(), 32);
    assert!(rig.ends.iter().all(|end| end.code == 0));
}

/// The link goes down as a read waits for a packet that is half sent: it leaves on the next link, and is counted there.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_stands_waits_for_the_next_link() {
    for bits in [128, 256] {
        let mut rig = Rig::new(&library(bits), HipConfig::default());
        for round in 0..20 {
            rig.post(0x8000, 256);
            let begun = rig.cycle + 100;
            while rig.get("tx_st_valid") == 0 {
                rig.step();
                assert!(rig.cycle < begun);
            }
            rig.asks.push_back(Ask {
                address: 0x5000,
                bytes: 64,
                tag: 0,
            });
            rig.hip.config.not_ready = 100;
            rig.run(20 + round);
            rig.hip.relink(200);
            rig.run(50);
            rig.hip.config.not_ready = 0;
            rig.run(100);
            assert_eq!(rig.hip.root.reads(), round);
            // The packet was sent on the previous link.
            rig.posted.clear();
            rig.finish(2000);
            assert_eq!(rig.hip.root.reads(), round + 1);
        }
    }
}
