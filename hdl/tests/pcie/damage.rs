//! Data that the hard IP receives and loses: an error in its buffer that it cannot correct (`rx_st_err`). It may end
//! the packet there. No part of it is taken as valid; requests of the host are answered as long as possible; a reset
//! recovers from it.

use crate::rig::{Ask, End, LOST, PATIENCE_LOG2, Rig, library};
use crate::target::{Access, BAR_0, BASES};
use peerlane_sim::hip::{Damaged, HipConfig, RootConfig};
use peerlane_verilated::Library;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const ALL: [Damaged; 6] = [
    Damaged::Header,
    Damaged::Data(1),
    Damaged::Data(2),
    Damaged::Data(usize::MAX),
    Damaged::Cut(1),
    Damaged::Cut(3),
];

fn ask(number: u64) -> Ask {
    Ask {
        address: 0x3_0000_0000 + number * 1024 + number % 5,
        bytes: 480,
        tag: number as u8 % 60,
    }
}

/// Makes a write of the host, and a read from another place.
fn host(rig: &mut Rig, rng: &mut ChaCha8Rng, offset: u64) {
    let write = Access {
        writes: true,
        ..Access::read(offset, 3)
    };
    for access in [write, Access::read(offset + 8192, 3)] {
        rig.hip.host.queue.push_back((access.packet(7, rng), BAR_0));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn no_read_ends_with_lost_data() {
    for bits in [128, 256] {
        completions(&library(bits));
    }
}

/// Tests reads: the rig compares the data of every read that ends without an error.
pub fn completions(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (seed, damaged) in (1..).zip(ALL) {
        let config = HipConfig {
            root: RootConfig {
                split: 70,
                reorder: 50,
                ..RootConfig::default()
            },
            seed,
            ..HipConfig::default()
        };
        let mut rig = Rig::new(library, config);
        rig.hip.root.keep_writes();
        rig.asks.extend((0..30).map(ask));
        rig.finish(10_000);
        assert_eq!((rig.ends.len(), rig.get("rx_failed")), (30, 0));
        // Some of the next reads are answered before.
        rig.asks.extend((30..60).map(ask));
        rig.run(100 + 10 * seed);
        rig.hip.damage(damaged);
        rig.run(2000);
        assert_eq!(rig.get("rx_failed"), 1, "{damaged:?}");
        assert!((30..60).contains(&rig.ends.len()), "{damaged:?}");
        let lost = rig.ends.iter().filter(|end| end.code != 0).count();
        assert!(lost <= 1, "{damaged:?}: {:?}", rig.ends);
        // The host goes on, and so do the engine's writes.
        host(&mut rig, &mut rng, 64);
        rig.post(0x8000, 64);
        rig.run(500);
        assert_eq!(rig.hip.host.ends.len(), 1, "{damaged:?}");
        assert_eq!(rig.hip.host.ends[0].status, 0);
        assert_eq!(rig.hip.root.writes.len(), 1);
        // All others are given up, and so are those that are asked for later.
        rig.asks.extend((60..70).map(ask));
        rig.run((2 * 130) << PATIENCE_LOG2);
        assert_eq!((rig.ends.len(), rig.unanswered()), (70, 0), "{damaged:?}");
        let late = |end: &&End| end.ask.address >= ask(60).address;
        assert!(rig.ends.iter().filter(late).all(|end| end.code == LOST));
        rig.clean();
        rig.reset();
        assert_eq!(rig.get("rx_failed"), 0);
        rig.run(300);
        rig.ends.clear();
        rig.asks.extend((0..30).map(ask));
        rig.finish(10_000);
        assert_eq!(rig.ends.len(), 30);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_is_written_of_lost_data() {
    for bits in [128, 256] {
        writes(&library(bits));
    }
}

/// Tests a write of the host that is damaged, a later write, and a read. Each word has its old value or the value that
/// the host wrote, and the later write is not there: a doorbell must not come without its descriptor.
pub fn writes(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut answered = 0;
    for damaged in ALL {
        for base in BASES {
            for (offset, dwords) in [(0, 1), (4, 1), (4, 5), (0, 16), (4, 31), (200, 40)] {
                let mut rig = Rig::new(library, HipConfig::default());
                rig.hip.root.keep_writes();
                let access = Access {
                    writes: true,
                    base,
                    ..Access::read(offset, dwords)
                };
                let old = access.packet(0, &mut rng);
                let mut new = access.packet(0, &mut rng);
                new.damaged = Some(damaged);
                rig.hip.host.queue.push_back((old.clone(), BAR_0));
                rig.hip.host.queue.push_back((new.clone(), BAR_0));
                host(&mut rig, &mut rng, 4096);
                rig.post(0x8000, 64);
                rig.run(1000);
                // The beginning of the payload: after the header, in the half of a qword that its address says.
                let begins = match (base >> 32 != 0, offset % 8 == 4) {
                    (_, false) => 4,
                    (false, true) => 3,
                    (true, true) => 5,
                };
                let width = rig.bytes / 4;
                let beats = (begins + dwords as usize).div_ceil(width);
                let bad = match damaged {
                    Damaged::Header => 0,
                    Damaged::Data(beat) | Damaged::Cut(beat) => beat.min(beats - 1),
                };
                for (number, (old, new)) in old.payload.iter().zip(&new.payload).enumerate() {
                    let at = access.offset + 4 * number as u64;
                    let got = [0, 1, 2, 3].map(|byte| rig.bus.memory[&(at + byte)]);
                    let comes = (begins + number) / width < bad;
                    assert!(
                        got == old.to_le_bytes() || comes && got == new.to_le_bytes(),
                        "{damaged:?} {access:?} {number}"
                    );
                }
                assert_eq!(rig.get("rx_failed"), 1);
                assert_eq!(rig.hip.root.writes.len(), 1);
                // No later write is made. Where only a header was lost, reads are answered.
                let ends = rig.hip.host.ends.len();
                assert_eq!(ends, usize::from(bad == 0), "{damaged:?} {access:?}");
                assert!(
                    !rig.bus.memory.contains_key(&4096),
                    "{damaged:?} {access:?}"
                );
                answered += ends;
                rig.reset();
                rig.run(300);
                host(&mut rig, &mut rng, 12_288);
                rig.finish(2000);
                assert!(rig.bus.memory.contains_key(&12_288));
            }
        }
    }
    assert!(answered > 10, "{answered}");
}
