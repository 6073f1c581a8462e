//! Requests that no slave serves, a bus that does nothing, and resets.

use super::{
    Access, BAR_0, accesses, courses, engine_goes_on, exchange, memory_is_right, read_all, write,
};
use crate::rig::{BUS_PATIENCE, Rig, library};
use peerlane_sim::hip::{Grant, HipConfig, Tlp};
use peerlane_verilated::Library;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A request that no BAR claims or no slave serves: refused if it wants an answer, else dropped; the hard IP is
/// notified of each.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_nobody_serves_is_refused() {
    for bits in [128, 256] {
        refusals(&library(bits));
    }
}

pub fn refusals(library: &Library) {
    let mut rig = Rig::new(library, HipConfig::default());
    let other = |lead: u32, tag: u32, payload: Vec<u32>| Tlp {
        header: [
            lead | payload.len().max(1) as u32,
            0x0008_000F | tag << 8,
            0x1000,
        ]
        .into_iter()
        .chain((lead >> 29 & 1 == 1).then_some(0x10))
        .collect(),
        payload,
        damaged: None,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut wanted = 0;
    for round in 0..20 {
        let mut none = other(0x4200_0000, 9, vec![7]);
        none.header[1] &= !0xF;
        let mut some: Vec<(Tlp, u8)> = vec![
            // Reads of other BARs, of the expansion ROM, of none.
            (Access::read(0x104, 1).packet(1, &mut rng), 4),
            (Access::read(0x0FC, 64).packet(2, &mut rng), 0x40),
            (
                Access {
                    first: 0b1000,
                    last: 1,
                    ..Access::read(0x7C, 2)
                }
                .packet(3, &mut rng),
                0,
            ),
            (
                Access {
                    first: 0,
                    ..Access::read(0x7C, 1)
                }
                .packet(4, &mut rng),
                0,
            ),
            // I/O, both ways, and of no byte; a fetch-and-add; a compare-and-swap of eight bytes.
            (other(0x0200_0000, 5, vec![]), 1),
            (other(0x4200_0000, 6, vec![7]), 1),
            (none, 1),
            (other(0x4C00_0000, 7, vec![7]), 1),
            (other(0x6E00_0000, 8, vec![1, 2, 3, 4]), 1),
        ];
        wanted += some.len();
        // Requests without an answer: writes of other BARs, messages with data and without.
        for (dwords, bars) in [(1, 0), (64, 8), (3, 0x80)] {
            let access = Access {
                writes: true,
                ..Access::read(0x208, dwords)
            };
            some.push((access.packet(0, &mut rng), bars));
        }
        some.push((other(0x3400_0000, 0, vec![]), 0xFF));
        some.push((other(0x7400_0000, 0, vec![1, 2, 3]), 0xFF));
        // Requests with poisoned data.
        let mut poisoned = Access {
            writes: true,
            ..Access::read(0x300, 8)
        }
        .packet(0, &mut rng);
        poisoned.header[0] |= 1 << 14;
        some.push((poisoned, BAR_0));
        some.shuffle(&mut rng);
        rig.hip.host.queue.extend(some);
        rig.finish(10_000);
        assert_eq!(rig.hip.host.ends.len(), wanted);
        assert!(
            rig.hip
                .host
                .ends
                .iter()
                .all(|end| end.status == 1 && end.bytes == 0)
        );
        let told = round + 1;
        assert_eq!(rig.hip.errors, [0, 0, 0, 0, 3 * told, wanted as u64, 0]);
        assert_eq!((rig.bus.reads, rig.bus.writes), (0, 0));
        rig.hip.host.ends.clear();
        wanted = 0;
        rig.hip.errors[5] = 0;
    }
    assert_eq!(rig.get("host_refused"), 180);
    assert_eq!(rig.get("host_dropped"), 60);
    // And requests that are served go on.
    exchange(&mut rig, &[Access::read(0x100, 64)], &mut rng);
}

/// A bus that brings nothing more from some beat on: every read ends with Completer Abort, once. Late data belong to no
/// read, and then all requests succeed again.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_that_the_bus_does_not_answer_are_aborted() {
    for bits in [128, 256] {
        for beats in (0..12).chain([31, 32, 33, 40, 64, 95, 96, 97]) {
            unanswered(&library(bits), beats);
        }
    }
}

pub fn unanswered(library: &Library, beats: u64) {
    let mut rig = Rig::new(
        library,
        HipConfig {
            seed: beats + 1,
            ..HipConfig::default()
        },
    );
    rig.bus.silent_after = Some(beats);
    // 1, 2, 3 and 33 qwords and more: 107.
    let lengths = [1, 4, 5, 66, 17, 120];
    let reads = lengths.map(|dwords| Access::read(0x1000 + 4 * beats, dwords));
    read_all(&mut rig, reads);
    rig.run(BUS_PATIENCE - 100);
    assert_eq!(rig.get("host_down"), 0);
    let whole = rig.hip.host.ends.len();
    assert!(whole < 6);
    rig.run(300);
    assert_eq!(rig.hip.host.open(), 0);
    assert_eq!(rig.get("host_down"), 1);
    let aborted = 6 - whole as u64;
    for (number, end) in rig.hip.host.ends.iter().enumerate() {
        let status = if number < whole { 0 } else { 4 };
        assert_eq!(end.status, status, "{end:?}");
    }
    assert_eq!(rig.hip.errors, [0, 0, aborted, 0, 0, 0, 0]);
    assert_eq!(rig.get("host_aborted"), aborted);
    // From now on at once, except for a read of no byte; and writes are done.
    let none = Access {
        first: 0,
        ..Access::read(0x88, 1)
    };
    read_all(
        &mut rig,
        [Access::read(0x80, 1), none, Access::read(0x1084, 200)],
    );
    write(&mut rig, 0x200, 40);
    rig.run(200);
    memory_is_right(&rig);
    let statuses: Vec<u8> = rig.hip.host.ends[6..]
        .iter()
        .map(|end| end.status)
        .collect();
    assert_eq!(statuses, [4, 0, 4]);
    // The bus wakes up, and owes nothing in the end.
    rig.bus.silent = false;
    rig.run(200);
    assert_eq!((rig.bus.owed(), rig.get("host_down")), (0, 0));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    exchange(&mut rig, &reads, &mut rng);
    exchange(&mut rig, &[Access::read(0x200, 40)], &mut rng);
}

/// The bus is given up again and again: no place is lost.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn aborted_reads_give_their_places_back() {
    for bits in [128, 256] {
        again(&library(bits));
    }
}

pub fn again(library: &Library) {
    let mut rig = Rig::new(library, HipConfig::default());
    for round in 0..20 {
        rig.bus.silent_after = Some(round);
        let reads = [200, 700].map(|dwords| Access::read(0x1000 + 4 * round, dwords));
        read_all(&mut rig, reads);
        rig.finish(4 * BUS_PATIENCE);
        rig.bus.silent = false;
        rig.run(700);
        assert_eq!((rig.bus.owed(), rig.get("host_down")), (0, 0));
    }
    assert_eq!(rig.get("host_aborted"), 40);
    // Sixteen are under way at once, as before.
    rig.bus.config.latency = 300;
    let before = rig.bus.reads;
    read_all(&mut rig, [Access::read(0x1000, 1); 20]);
    rig.run(250);
    assert_eq!(rig.bus.reads - before, 16);
    rig.finish(2000);
}

/// A bus that wakes up at any moment around the one at which it is given up.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_bus_may_wake_up_at_any_moment() {
    for bits in [128, 256] {
        for moment in 0..60 {
            wakes_up(&library(bits), moment);
        }
    }
}

pub fn wakes_up(library: &Library, moment: u64) {
    let mut rig = Rig::new(library, HipConfig::default());
    rig.bus.silent = true;
    let reads = [1, 3, 70, 2, 100].map(|dwords| Access::read(0x1000 + 4 * moment, dwords));
    let start = rig.cycle;
    read_all(&mut rig, reads);
    while rig.cycle < start + BUS_PATIENCE - 10 + moment {
        rig.step();
    }
    rig.bus.silent = false;
    // More reads come in that time.
    for tag in 10..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let packet = Access::read(0x2000 + 8 * u64::from(tag), 1).packet(tag, &mut rng);
        rig.hip.host.queue.push_back((packet, BAR_0));
        rig.run(3);
    }
    rig.finish(5000);
    assert_eq!(rig.hip.host.ends.len(), 35);
    assert!(
        rig.hip
            .host
            .ends
            .iter()
            .all(|end| end.status == 0 || end.status == 4)
    );
    assert_eq!((rig.bus.owed(), rig.get("host_down")), (0, 0));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    exchange(&mut rig, &reads, &mut rng);
}

/// A bus that takes nothing, from any beat on: reads are aborted, writes dropped and reported, the engine goes on. When
/// the bus takes data again it gets whole bursts.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_bus_that_takes_nothing_holds_nothing_up() {
    for bits in [128, 256] {
        for cycles in 0..40 {
            stuck(&library(bits), cycles);
        }
    }
}

pub fn stuck(library: &Library, cycles: u64) {
    let mut rig = Rig::new(library, HipConfig::default());
    for number in 0..6 {
        write(&mut rig, 0x1008 + 512 * number, 40);
    }
    read_all(&mut rig, (0..4).map(|n| Access::read(0x40 * n, 8)));
    for number in 0..200 {
        write(&mut rig, 0x4000 + 256 * number, 64);
    }
    rig.run(cycles);
    rig.bus.stuck = true;
    engine_goes_on(&mut rig);
    rig.finish(20_000);
    assert_eq!(rig.hip.host.open(), 0);
    assert_eq!(rig.get("host_down"), 1);
    assert!(rig.hip.errors[4] > 190, "{:?}", rig.hip.errors);
    assert_eq!(rig.hip.errors[4], rig.get("host_dropped"));
    // The bus takes data again: the rest of the burst has no byte, and the next writes arrive.
    rig.bus.stuck = false;
    rig.run(200);
    assert_eq!(rig.get("host_down"), 0);
    assert!(rig.bus.empty_writes < 32);
    rig.bus.memory.clear();
    rig.hip.host.forget(&rig.bus.memory);
    write(&mut rig, 0x1008, 64);
    write(&mut rig, 0x2004, 1);
    rig.finish(1000);
    memory_is_right(&rig);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    exchange(&mut rig, &[Access::read(0x1000, 100)], &mut rng);
}

/// A read that is several on the bus, because not all bytes of its first and last qword are wanted. The bus takes any
/// number of them, and nothing more: the read is aborted, once.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_the_bus_takes_in_part_is_aborted() {
    for bits in [128, 256] {
        for dwords in [4, 40, 200] {
            for taken in 0..3 {
                in_part(&library(bits), dwords, taken);
            }
        }
    }
}

fn in_part(library: &Library, dwords: u32, taken: u64) {
    let mut rig = Rig::new(library, HipConfig::default());
    let read = Access {
        first: 0b1000,
        last: 0b0001,
        ..Access::read(0x1000, dwords)
    };
    rig.bus.silent = true;
    rig.bus.stuck = taken == 0;
    read_all(&mut rig, [read]);
    while rig.bus.reads < taken {
        rig.step();
    }
    rig.bus.stuck = true;
    rig.finish(4 * BUS_PATIENCE);
    let ends: Vec<_> = rig.hip.host.ends.iter().map(|end| end.status).collect();
    assert_eq!((ends, rig.get("host_aborted")), (vec![4], 1));
    assert_eq!(rig.get("host_down"), 1);
    rig.bus.stuck = false;
    rig.bus.silent = false;
    rig.run(700);
    assert_eq!((rig.bus.owed(), rig.get("host_down")), (0, 0));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    exchange(&mut rig, &[read, Access::read(0x1100, 60)], &mut rng);
}

/// A reset of both while the host has made more requests than there are places; all places are free after it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_a_full_target_leaves_nothing_behind() {
    for bits in [128, 256] {
        let config = HipConfig {
            replies: Grant::NOTHING,
            credit_delay: 1 << 40,
            ..HipConfig::default()
        };
        let mut rig = Rig::new(&library(bits), config);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let reads: Vec<Access> = (0..100).map(|n| Access::read(64 * n, 16)).collect();
        for _ in 0..2 {
            read_all(&mut rig, reads.iter().copied());
            rig.run(3000);
            assert_eq!(rig.hip.host.ends.len(), 0);
            rig.reset();
            rig.run(200);
        }
        rig.hip.grant_replies(100, 400);
        exchange(&mut rig, &reads, &mut rng);
    }
}

/// A reset of both at any moment; requests after it are right.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_amid_what_the_host_asks_leaves_nothing_behind() {
    for bits in [128, 256] {
        for (hip, bus) in courses().into_iter().step_by(9) {
            let mut rng = ChaCha8Rng::seed_from_u64(hip.seed);
            let all = accesses(20, hip.payload, hip.seed);
            let mut rig = Rig::with_bus(&library(bits), hip, bus);
            for round in 0..60u64 {
                for (tag, access) in (0..60u8).zip(&all[round as usize * 60..]) {
                    rig.hip
                        .host
                        .queue
                        .push_back((access.packet(tag, &mut rng), BAR_0));
                }
                rig.bus.silent_after = (round % 5 == 4).then_some(round);
                rig.run(round * 11 % 301);
                rig.bus.silent = false;
                rig.bus.silent_after = None;
                rig.reset();
                rig.run(170);
                assert_eq!(rig.get("host_down"), 0);
            }
            exchange(&mut rig, &all[..200], &mut rng);
            memory_is_right(&rig);
        }
    }
}
