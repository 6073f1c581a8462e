//! The host's requests to the board. The model of the host checks every completion against the specification, the model
//! of the bus every access against its rules; the tests here make the requests, and check the contents of the memory.

mod failures;
mod turns;

use crate::damage;
use crate::rig::{Ask, Rig, library};
use peerlane_sim::hip::{BusConfig, Grant, HipConfig, Tlp};
use peerlane_verilated::Library;
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// Where BAR 0 is: below 4 GiB, three dwords of header, and above.
pub const BASES: [u64; 2] = [0xF7C4_0000, 0x38_0004_0000];

/// The hard IP's value for a hit of BAR 0.
pub const BAR_0: u8 = 1;

const COUNT: u64 = 1 << 18;

/// A request: whether it writes, its offset, dwords and byte enables.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub writes: bool,
    pub base: u64,
    pub offset: u64,
    pub dwords: u32,
    pub first: u32,
    pub last: u32,
}

impl Access {
    pub fn read(offset: u64, dwords: u32) -> Self {
        Self {
            writes: false,
            base: BASES[1],
            offset,
            dwords,
            first: 0xF,
            last: if dwords == 1 { 0 } else { 0xF },
        }
    }

    /// Offsets of the bytes that it names.
    fn bytes(&self) -> impl Iterator<Item = u64> + '_ {
        (0..u64::from(self.dwords) * 4)
            .filter(|byte| {
                let mask = match *byte / 4 {
                    0 => self.first,
                    dword if dword + 1 == u64::from(self.dwords) => self.last,
                    _ => 0xF,
                };
                mask >> (byte % 4) & 1 == 1
            })
            .map(|byte| self.offset + byte)
    }

    pub fn packet(&self, tag: u8, rng: &mut ChaCha8Rng) -> Tlp {
        let address = self.base + self.offset;
        let requester = rng.random();
        let mut packet = if self.writes {
            let data = (0..self.dwords).map(|_| rng.random()).collect();
            Tlp::write(address, (self.first, self.last), requester, data)
        } else {
            Tlp::read(
                address,
                self.dwords,
                (self.first, self.last),
                requester,
                tag,
            )
        };
        // Traffic class and attributes are anything.
        packet.header[0] |= rng.random::<u32>() & 0x0074_3000;
        packet
    }
}

/// Returns byte enables that a request of so many dwords may have (section 2.2.5).
fn enables(dwords: u32, aligned: bool) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    for first in 0..16 {
        for last in 0..16 {
            let whole = [0b1000, 0b1100, 0b1110, 0b1111].contains(&first)
                && [0b0001, 0b0011, 0b0111, 0b1111].contains(&last);
            if match dwords {
                1 => last == 0,
                2 => first != 0 && last != 0 && (aligned || whole),
                _ => whole,
            } {
                all.push((first, last));
            }
        }
    }
    all
}

/// Returns lengths in dwords.
fn lengths() -> impl Iterator<Item = u32> {
    (1..=20)
        .chain([31, 32, 33, 34, 63, 64, 65, 66, 96, 127, 128, 129, 255, 256])
        .chain([257, 511, 1022, 1023, 1024])
}

/// Returns offsets in a page, near edges, of a request of so many dwords.
fn offsets(dwords: u32) -> impl Iterator<Item = u64> {
    [0u64, 64, 128, 256, 4096]
        .into_iter()
        .flat_map(|edge| (0..10).map(move |before| (edge + 4096 - 4 * before) % 4096))
        .filter(move |offset| offset + u64::from(dwords) * 4 <= 4096)
}

/// Returns all byte enables of first and last dword by length by address near an edge by form of the header; one in
/// `every`.
fn accesses(every: usize, payload: u32, seed: u64) -> Vec<Access> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for dwords in lengths() {
        for offset in offsets(dwords) {
            for (first, last) in enables(dwords, offset % 8 == 0) {
                for base in BASES {
                    for writes in [false, true] {
                        if writes && dwords * 4 > payload {
                            continue;
                        }
                        let page = rng.random_range(0..COUNT / 4096) * 4096;
                        all.push(Access {
                            writes,
                            base,
                            offset: page + offset,
                            dwords,
                            first,
                            last,
                        });
                    }
                }
            }
        }
    }
    all.shuffle(&mut rng);
    all.truncate(all.len() / every);
    all
}

/// Returns how many there are in all. Of one dword any bytes may be named; of two, if they are one qword, any but none
/// of each; else the first's last ones and the last's first ones, one to four (section 2.2.5). Each is read, and
/// written where that is one packet, below 4 GiB and above.
fn dimension(payload: u32) -> usize {
    let of_length = |dwords: u32| -> usize {
        let ways = if dwords * 4 <= payload { 2 } else { 1 };
        let named = offsets(dwords).map(|offset| match (dwords, offset % 8) {
            (1, _) => 1 << 4,
            (2, 0) => 15 * 15,
            _ => 4 * 4,
        });
        named.sum::<usize>() * BASES.len() * ways
    };
    lengths().map(of_length).sum()
}

/// Returns the behaviours of both sides.
fn courses() -> Vec<(HipConfig, BusConfig)> {
    let mut all = Vec::new();
    for (not_ready, gaps) in [(0, 0), (40, 30), (85, 5), (5, 70)] {
        for (wait, latency, jitter, silent) in [(0, 1, 0, 0), (50, 3, 20, 30), (10, 60, 5, 0)] {
            for payload in [128, 256, 512] {
                let seed = all.len() as u64 + 1;
                all.push((
                    HipConfig {
                        not_ready,
                        gaps,
                        payload,
                        own: 3,
                        replies: if seed.is_multiple_of(2) {
                            Grant {
                                headers: Some(3),
                                data: Some(17),
                            }
                        } else {
                            HipConfig::default().replies
                        },
                        seed,
                        ..HipConfig::default()
                    },
                    BusConfig {
                        wait,
                        latency,
                        jitter,
                        gaps: silent,
                        seed,
                    },
                ));
            }
        }
    }
    all
}

/// Sends the requests, and waits until all of them have ended. At the same time the engine writes and reads.
#[track_caller]
fn exchange(rig: &mut Rig, some: &[Access], rng: &mut ChaCha8Rng) {
    let before = rig.hip.host.ends.len();
    for (tag, access) in (0..=255u8).zip(some) {
        let packet = access.packet(tag, rng);
        rig.hip.host.queue.push_back((packet, BAR_0));
    }
    for number in 0..some.len() as u64 / 8 {
        rig.post(0x10_0000 + 4096 * number, 128);
        rig.asks.push_back(Ask {
            address: 0x2_0000_0000 + 512 * number,
            bytes: 100,
            tag: number as u8 % 32,
        });
    }
    rig.finish(1_000_000);
    let reads = some.iter().filter(|access| !access.writes).count();
    let ends = &rig.hip.host.ends[before..];
    assert_eq!(ends.len(), reads);
    assert!(ends.iter().all(|end| end.status == 0), "{ends:?}");
    rig.posted.clear();
}

/// Queues writes and reads of the engine.
fn engine_goes_on(rig: &mut Rig) {
    for number in 0..20 {
        rig.post(0x10_0000 + 256 * number, 256);
        rig.asks.push_back(Ask {
            address: 0x2_0000_0000 + 512 * number,
            bytes: 512,
            tag: number as u8,
        });
    }
}

/// Checks that written bytes are in memory, and nothing else.
#[track_caller]
fn memory_is_right(rig: &Rig) {
    let image = rig.hip.host.image();
    assert_eq!(rig.bus.memory.len(), image.len());
    for (at, byte) in image {
        assert_eq!(rig.bus.memory.get(at), Some(byte), "at {at:#x}");
    }
}

/// Runs one course with one in `every` of all accesses; returns how many there were.
fn course(library: &Library, (hip, bus): (HipConfig, BusConfig), every: usize) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(hip.seed);
    let all = accesses(every, hip.payload, hip.seed);
    let mut rig = Rig::with_bus(library, hip, bus);
    let mut wanted = HashSet::new();
    for some in all.chunks(200) {
        for access in some.iter().filter(|access| !access.writes) {
            wanted.extend(access.bytes());
        }
        exchange(&mut rig, some, &mut rng);
    }
    memory_is_right(&rig);
    // No byte was read without a request, and all requested bytes were read.
    assert_eq!(rig.bus.looked_at, wanted);
    assert_eq!(rig.hip.errors, [0; 7]);
    all.len()
}

fn matrix(every: usize) -> usize {
    let mut count = 0;
    for bits in [128, 256] {
        for each in courses() {
            count += course(&library(bits), each, every);
        }
    }
    count
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_sample_of_what_the_host_may_ask() {
    assert_eq!(matrix(300), of_all(300));
}

/// Runs a quarter of all, a different one in each of the 36 courses: `cargo xtask test pcie`.
#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn target_full_matrix() {
    assert_eq!(matrix(4), of_all(4));
}

/// Runs one in `every` of all, of both widths.
fn of_all(every: usize) -> usize {
    let courses = courses();
    let each = courses
        .iter()
        .map(|(hip, _)| dimension(hip.payload) / every);
    2 * each.sum::<usize>()
}

#[test]
fn the_matrix_has_its_dimensions() {
    for payload in [128, 256, 512] {
        assert_eq!(accesses(1, payload, 1).len(), dimension(payload));
    }
}

/// Reads and writes of a few places: a read has the data of the writes before it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_does_not_pass_the_hosts_writes_before_it() {
    for bits in [128, 256] {
        few_places(&library(bits));
    }
}

fn few_places(library: &Library) {
    for (hip, bus) in courses().into_iter().step_by(5) {
        let mut rng = ChaCha8Rng::seed_from_u64(hip.seed);
        let mut rig = Rig::with_bus(library, hip, bus);
        for _ in 0..10 {
            let some: Vec<Access> = (0..200)
                .map(|_| Access {
                    writes: rng.random(),
                    ..Access::read(rng.random_range(0..8) * 4, rng.random_range(1..5))
                })
                .collect();
            exchange(&mut rig, &some, &mut rng);
        }
        memory_is_right(&rig);
    }
}

/// A register: a read of four bytes, from its packet's beat at the hard IP to the completion's, with a bus that brings
/// data in the cycle after the one in which it takes the command.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_register_is_read_in_24_cycles() {
    for bits in [128, 256] {
        for offset in [0, 4] {
            let mut rig = Rig::new(&library(bits), HipConfig::default());
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            exchange(&mut rig, &[Access::read(offset, 1)], &mut rng);
            let took = rig.hip.host.ends[0].took;
            println!("{bits} bits: {took} cycles");
            assert!(took <= 24, "{took} cycles, {bits} bits");
        }
    }
}

/// The most that can be kept: a completion has begun to leave and waits, and the other ones come after it, of as many
/// beats as there are.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn completions_behind_one_that_stands_on_the_link_keep_their_data() {
    for bits in [128, 256] {
        kept(&library(bits));
    }
}

fn kept(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut rig = Rig::new(library, HipConfig::default());
    // 63 dwords up to a multiple of 256 bytes: the header leaves place for one in its beat, and the rest are whole.
    let reads: Vec<_> = (0..20)
        .map(|page| Access::read(page * 4096 + 4, 63))
        .collect();
    let writes: Vec<_> = (reads.iter())
        .map(|read| Access {
            writes: true,
            ..*read
        })
        .collect();
    exchange(&mut rig, &writes, &mut rng);
    read_all(&mut rig, reads.iter().copied());
    let sent = rig.hip.bytes.0;
    while rig.get("tx_st_valid") == 0 {
        rig.step();
    }
    rig.hip.config.not_ready = 100;
    rig.run(2000);
    assert_eq!(
        rig.hip.bytes.0, sent,
        "it waits until the interface is ready"
    );
    rig.hip.config.not_ready = 0;
    rig.finish(20_000);
    assert_eq!(rig.hip.host.ends.len(), reads.len());
    memory_is_right(&rig);
}

/// Several reads are under way: sixteen of a register take less than four times as long as one.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_are_under_way_together() {
    for bits in [128, 256] {
        let slow = BusConfig {
            latency: 200,
            ..BusConfig::default()
        };
        let mut rig = Rig::with_bus(&library(bits), HipConfig::default(), slow);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let some = [Access::read(0x40, 1); 16];
        let start = rig.cycle;
        exchange(&mut rig, &some, &mut rng);
        let most = rig.hip.host.ends.iter().map(|end| end.took).max();
        assert!(rig.cycle - start < 800, "{} cycles", rig.cycle - start);
        assert!(most < Some(500), "{most:?}");
    }
}

fn read_all(rig: &mut Rig, reads: impl IntoIterator<Item = Access>) {
    let mut rng = ChaCha8Rng::seed_from_u64(rig.cycle);
    for (tag, access) in (0..=255u8).zip(reads) {
        let packet = access.packet(tag, &mut rng);
        rig.hip.host.queue.push_back((packet, BAR_0));
    }
}

fn write(rig: &mut Rig, offset: u64, dwords: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(rig.cycle);
    let access = Access {
        writes: true,
        ..Access::read(offset, dwords)
    };
    let packet = access.packet(0, &mut rng);
    rig.hip.host.queue.push_back((packet, BAR_0));
}

/// A bus that brings nothing owes the data of as many reads as there is room for: of sixteen completions of 256 bytes,
/// or a little less. A short one before the last takes the last place before that: of 128 bits the beats are counted to
/// the last.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_silent_bus_owes_what_there_is_room_for() {
    let long = |n: u64| Access::read(4096 * n, 64);
    let mut one_short: Vec<_> = (0..20).map(long).collect();
    one_short[13] = Access::read(13 * 4096, 1);
    for (bits, most, most_with_short) in [(128, 14 * 32, 14 * 32 + 1), (256, 16 * 32, 15 * 32 + 1)]
    {
        for (reads, most) in [
            ((0..20).map(long).collect(), most),
            (one_short.clone(), most_with_short),
        ] {
            let mut rig = Rig::new(&library(bits), HipConfig::default());
            rig.bus.silent = true;
            read_all(&mut rig, reads);
            rig.run(400);
            assert_eq!(rig.bus.owed(), most);
            rig.bus.silent = false;
            rig.finish(10_000);
            assert!(rig.hip.host.ends.iter().all(|end| end.status == 0));
        }
    }
}

/// Data that a slow bus brings at once find their reads, with answers between that need none of its data.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_that_come_at_once_find_their_reads() {
    for bits in [128, 256] {
        at_once(&library(bits));
    }
}

fn at_once(library: &Library) {
    let mut rig = Rig::new(library, HipConfig::default());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let none = |offset| Access {
        first: 0,
        ..Access::read(offset, 1)
    };
    let some = [0x80, 0x100, 0x180].map(|offset| [Access::read(offset, 2), none(offset)]);
    rig.bus.silent = true;
    for (tag, access) in (0..=255u8).zip(some.as_flattened()) {
        let packet = access.packet(tag, &mut rng);
        rig.hip.host.queue.push_back((packet, BAR_0));
    }
    rig.run(100);
    rig.bus.silent = false;
    rig.finish(1000);
    let ends = &rig.hip.host.ends;
    assert_eq!(ends.len(), 6);
    assert!(ends.iter().all(|end| end.status == 0), "{ends:?}");
    memory_is_right(&rig);
}

/// Reads that cannot be answered hold up neither the host's writes nor the engine, however many there are.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_that_wait_hold_nothing_up() {
    for bits in [128, 256] {
        waiting_reads(&library(bits));
    }
}

fn waiting_reads(library: &Library) {
    // No completion may leave.
    let config = HipConfig {
        replies: Grant::NOTHING,
        credit_delay: 1 << 40,
        posted: Grant::ENDLESS,
        reads: Grant::ENDLESS,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    read_all(
        &mut rig,
        (0..100).map(|n| Access::read(0x1000 + 64 * n, 16)),
    );
    for number in 0..100 {
        write(&mut rig, 0x8000 + 64 * number, 1 + number as u32 % 16);
    }
    engine_goes_on(&mut rig);
    rig.run(6000);
    memory_is_right(&rig);
    assert_eq!(
        (rig.asks.len(), rig.unanswered(), rig.posts.len()),
        (0, 0, 0)
    );
    assert!(rig.hip.host.open() > 16);
    assert_eq!(rig.hip.host.ends.len(), 0);
    assert_eq!(rig.get("stalled_credits"), 1);
    // Credits of data for one completion at a time, of 4 units each, then for all.
    rig.hip.grant_replies(1, 4);
    rig.run(200);
    assert_eq!(rig.hip.host.ends.len(), 1);
    rig.hip.grant_replies(5, 7);
    rig.run(200);
    assert_eq!(rig.hip.host.ends.len(), 2);
    rig.hip.grant_replies(94, 400);
    rig.finish(20_000);
    assert_eq!(rig.hip.host.ends.len(), 100);
    memory_is_right(&rig);
}

/// Tests everything that the target must do, in short form.
pub fn all(library: &Library) {
    for each in courses().into_iter().step_by(5) {
        course(library, each, 1500);
    }
    few_places(library);
    at_once(library);
    waiting_reads(library);
    turns::behind_posts(library);
    kept(library);
    failures::refusals(library);
    damage::writes(library);
    for beats in [0, 1, 5, 31, 40] {
        failures::unanswered(library, beats);
    }
    failures::again(library);
    for moment in (0..60).step_by(5) {
        failures::wakes_up(library, moment);
    }
    for cycles in (0..40).step_by(3) {
        failures::stuck(library, cycles);
    }
}
