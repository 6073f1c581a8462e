//! Resets: what comes at once behind one, and what the hard IP goes on with.

use crate::rig::{Ask, Rig, library};
use crate::target::{Access, BAR_0};
use peerlane_sim::hip::HipConfig;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Behind a reset the function's number comes in its turn: nothing leaves with another. The model compares it.
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

/// Nothing waits for credits behind a reset that nobody has asked for.
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

/// The layer alone is reset while a completion is half received. Its end is nobody's, and gives no room.
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
