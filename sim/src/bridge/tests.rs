//! Tests of the bridge by itself, cycle by cycle, against the figures of runs of the real one.

use super::*;
use crate::{
    bus::{Access, FaultRule, Hits},
    memory::{Gpu, HostMemory},
    pcie::{Kind, Shape},
};

const HOST: u64 = 0x1_0000_0000;
const CYCLE: u64 = 4_000_000;

/// A command of the master.
#[derive(Debug, Clone)]
struct Job {
    read: bool,
    address: u64,
    enables: Vec<u64>,
}

fn write(address: u64, enables: &[u64]) -> Job {
    Job {
        read: false,
        address,
        enables: enables.to_vec(),
    }
}

fn whole(address: u64, beats: usize) -> Job {
    write(address, &vec![0xFFFF; beats])
}

fn read(address: u64, beats: usize) -> Job {
    Job {
        read: true,
        ..whole(address, beats)
    }
}

/// A bridge with a master and a memory.
struct Rig {
    bridge: Bridge,
    pcie: Pcie,
    bus: Bus,
    log: Log,
    cycle: u64,
    ready: bool,
    /// Beats of the current job that were taken.
    done: usize,
    jobs: std::collections::VecDeque<Job>,
    /// Cycles in which a beat of a write, a read, or a word for the master was moved.
    beats: Vec<u64>,
    reads: Vec<u64>,
    words: Vec<(u64, Vec<u8>)>,
    /// The cycles in which the master pauses.
    pause: fn(u64) -> bool,
}

fn rig(change: impl FnOnce(&mut BoardConfig)) -> Rig {
    let mut config = BoardConfig {
        host: (HOST, 1 << 20),
        ..BoardConfig::default()
    };
    config.gpu.bytes = 1 << 20;
    change(&mut config);
    assert_eq!(config.problem(), None);
    let mut host = HostMemory::default();
    host.add_range(HOST, 1 << 20).unwrap();
    let mut bus = Bus::new(host, Gpu::new(&config.gpu).unwrap());
    bus.behind_bridge = true;
    let shape = Shape {
        width: 16,
        link: true,
        buffer: config.txs.write_buffer,
        reorder: u64::from(config.txs.reorder_cycles) * CYCLE,
        kind: Kind::Txs,
    };
    Rig {
        bridge: Bridge::new(&config, 16, 64),
        pcie: Pcie::new(&config, shape),
        bus,
        log: Log::default(),
        cycle: 0,
        ready: true,
        done: 0,
        jobs: Vec::new().into(),
        beats: Vec::new(),
        reads: Vec::new(),
        words: Vec::new(),
        pause: |_| false,
    }
}

/// Returns the byte that the master writes to an address.
fn byte(address: u64) -> u8 {
    (address ^ address >> 8).wrapping_mul(31) as u8 | 1
}

impl Rig {
    fn step(&mut self) {
        let now = self.cycle * CYCLE;
        self.pcie
            .advance(now, self.cycle, &mut self.bus, &mut self.log);
        let job = self.jobs.front().filter(|_| !(self.pause)(self.cycle));
        let words: Vec<u32> = job
            .map(|job| {
                let at = job.address + self.done as u64 * 16;
                let word =
                    |n: u64| u32::from_le_bytes([0_u64, 1, 2, 3].map(|k| byte(at + n * 4 + k)));
                (0..4).map(word).collect()
            })
            .unwrap_or_default();
        let shown = Shown {
            read: job.is_some_and(|job| job.read),
            write: job.is_some_and(|job| !job.read),
            held: false,
            address: job.map_or(0, |job| job.address),
            burst: job.map_or(0, |job| job.enables.len() as u32),
            enable: job.map_or(0, |job| job.enables[self.done]),
            data: &words,
        };
        let (wait, active) = (self.bridge.waits(shown.read), shown.read || shown.write);
        let (pcie, bus, log) = (&mut self.pcie, &mut self.bus, &mut self.log);
        let taken = (self.bridge).tick(&shown, self.ready, now, self.cycle, pcie, bus, log);
        assert_eq!(taken.read || taken.beat, active && !wait, "{shown:?}");
        if taken.beat {
            self.beats.push(self.cycle);
            self.done += 1;
        }
        if taken.read {
            self.reads.push(self.cycle);
        }
        if taken.read
            || self
                .jobs
                .front()
                .is_some_and(|job| self.done == job.enables.len())
        {
            self.jobs.pop_front();
            self.done = 0;
        }
        self.cycle += 1;
        if let Some(given) = self.bridge.give() {
            // The master sees it in the next cycle.
            self.words.push((self.cycle, given.data[..16].to_vec()));
        }
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) -> u64 {
        for _ in 0..20_000 {
            if done(self) {
                return self.cycle;
            }
            self.step();
        }
        panic!("never: {what}");
    }

    /// Returns the bytes that were written of `len` bytes from an address on, as a mask; checks that each has the right
    /// value.
    fn written(&self, address: u64, len: usize) -> u128 {
        let found = self.bus.host.slice(address, len).unwrap();
        (0..len).fold(0, |mask, n| {
            assert!(found[n] == 0 || found[n] == byte(address + n as u64));
            mask | u128::from(found[n] != 0) << n
        })
    }

    /// Fills memory and returns the data that reads should get.
    fn fill(&mut self, len: usize) -> Vec<u8> {
        let data: Vec<u8> = (0..len as u64).map(|n| byte(n * 7 + 3)).collect();
        self.bus.host.write(HOST, &data).unwrap();
        data
    }

    fn got(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|(_, word)| word.clone())
            .collect()
    }

    fn fault(&mut self, nth: u64, answer: Answer) {
        let hits = Hits::Nth(nth);
        self.bus.inject(FaultRule { hits, answer });
    }
}

#[test]
fn a_burst_takes_the_cycles_of_the_real_bridge() {
    for (beats, payload, cycles) in [
        (1, 256, 8),
        (2, 256, 9),
        (4, 256, 11),
        (8, 256, 15),
        (16, 256, 23),
        (32, 256, 41),
        (32, 128, 45),
        (32, 512, 41),
    ] {
        let mut rig = rig(|config| {
            config.link.max_payload = payload;
            config.link.completion_bytes = 64;
        });
        rig.jobs = vec![whole(HOST, beats), whole(HOST + 512, 1)].into();
        rig.until("both", |rig| rig.jobs.is_empty());
        // The first beat in the sixth cycle, and so that of the second burst after its turn begins.
        assert_eq!(rig.beats[0], 5);
        assert_eq!(rig.beats[beats], cycles + 5, "{beats} beats, {payload}");
        let gaps: Vec<u64> = rig.beats[..beats]
            .windows(2)
            .map(|two| two[1] - two[0])
            .filter(|gap| *gap > 1)
            .collect();
        let packets = (beats * 16).div_ceil(payload.min(256) as usize);
        assert_eq!(gaps, vec![3; packets - 1]);
        rig.until("landed", |rig| {
            rig.bridge.quiet() && rig.pcie.writes_landed()
        });
        assert_eq!(rig.pcie.stats.write_packets, packets as u64 + 1);
    }
}

#[test]
fn a_packet_stands_at_the_hard_ip_ten_cycles_after_its_last_beat() {
    for beats in [1, 2, 16] {
        let mut rig = rig(|_| {});
        rig.jobs = vec![whole(HOST, beats)].into();
        let end = rig.until("left", |rig| rig.pcie.stats.write_packets == 1);
        // The header's word is the first one, the last beat's the last.
        let first = end - 1 - beats as u64;
        assert_eq!(first, rig.beats[beats - 1] + 10, "{beats}");
    }
}

#[test]
fn bursts_are_cut_from_their_first_beat_on_and_at_4_kib() {
    let mut rig = rig(|config| config.txs.forbid_4k_crossing = false);
    rig.jobs = vec![whole(HOST + 0xE80, 32)].into();
    rig.until("landed", |rig| {
        rig.jobs.is_empty() && rig.bridge.quiet() && rig.pcie.writes_landed()
    });
    assert_eq!(rig.pcie.stats.write_packets, 3);
    for at in (HOST + 0xE80..HOST + 0x1080).step_by(64) {
        assert_eq!(rig.written(at, 64), u128::from(u64::MAX));
    }
    assert_eq!(rig.written(HOST + 0x1080, 16), 0);
    // Two packets of 16 and 8 beats, a translation in between the second and the third.
    assert_eq!(rig.beats[16] - rig.beats[15], 3);
    assert_eq!(rig.beats[24] - rig.beats[23], 7);
    // A burst in the middle of a payload is one packet all the same.
    rig.jobs = vec![whole(HOST + 0x2080, 16)].into();
    rig.until("landed", |rig| {
        rig.jobs.is_empty() && rig.bridge.quiet() && rig.pcie.writes_landed()
    });
    assert_eq!(rig.pcie.stats.write_packets, 4);
}

#[test]
fn a_master_may_pause_and_the_lowest_bits_of_an_address_count_for_nothing() {
    let mut rig = rig(|_| {});
    rig.pause = |cycle| cycle % 3 == 1;
    rig.jobs = vec![write(HOST + 0x105, &[0xFFF0, 0xFFFF, 0x00FF])].into();
    rig.until("landed", |rig| {
        rig.jobs.is_empty() && rig.bridge.quiet() && rig.pcie.writes_landed()
    });
    let found = rig.bus.host.slice(HOST + 0x100, 48).unwrap();
    let bytes = found
        .iter()
        .enumerate()
        .fold(0_u64, |mask, (n, byte)| mask | u64::from(*byte != 0) << n);
    assert_eq!(bytes, 0x00FF_FFFF_FFF0);
}

#[test]
fn a_hard_ip_that_is_not_ready_stops_the_bridge_without_a_loss() {
    for (beats, taken) in [(16, 44), (1, 15)] {
        let mut rig = rig(|_| {});
        rig.ready = false;
        let jobs = (0..40).map(|n| whole(HOST + n * 16 * beats as u64, beats));
        rig.jobs = jobs.collect::<Vec<_>>().into();
        rig.run(2000);
        assert_eq!(rig.beats.len(), taken, "{beats}");
        rig.ready = true;
        rig.until("landed", |rig| {
            rig.jobs.is_empty() && rig.bridge.quiet() && rig.pcie.writes_landed()
        });
        for at in (0..40 * 16 * beats as u64).step_by(16) {
            assert_eq!(rig.written(HOST + at, 16), 0xFFFF);
        }
    }
}

/// Returns the bytes of 16-byte beats that reach the peer.
fn reached(enables: &[u64]) -> u128 {
    let mut rig = rig(|config| config.txs.allow_damage = true);
    rig.jobs = vec![write(HOST + 0x40, enables)].into();
    rig.until("landed", |rig| {
        rig.jobs.is_empty() && rig.bridge.quiet() && rig.pcie.writes_landed()
    });
    assert_eq!(rig.written(HOST, 0x40), 0);
    assert_eq!(rig.written(HOST + 0x40 + 16 * enables.len() as u64, 64), 0);
    rig.written(HOST + 0x40, 16 * enables.len())
}

#[test]
fn legal_enables_are_right_and_others_damage_the_peer() {
    for mask in [
        0x000F, 0x00F0, 0x0F00, 0xF000, 0x00FF, 0x0FF0, 0xFF00, 0x0FFF, 0xFFF0, 0xFFFF,
    ] {
        assert_eq!(reached(&[mask]), mask.into());
    }
    for first in [0xFFFF_u64, 0xFFF0, 0xFF00, 0xF000] {
        for last in [0xFFFF_u64, 0x0FFF, 0x00FF, 0x000F] {
            let expected = u128::from(first) | u128::from(last) << 16;
            assert_eq!(reached(&[first, last]), expected);
        }
    }
    for (enables, expected) in [
        // Both ends by lanes 3 to 0, the middle whole: the cases that were seen at a peer.
        (&[0x0001][..], 0x1FF1),
        (&[0x3FFF], 0xFFFF),
        (&[0x8000], 0x0FF0),
        (&[0x0000], 0x0FF0),
        (&[0xFFFE, 0xFFFF], 0xFFFF_FFFE),
        (&[0xFFFE, 0x00FF], 0xFFFF_FFFE),
        (&[0x8000, 0xFFFF], 0xFFFF_FFF0),
        (&[0xFFFF, 0x0007], 0x7FFF_FFFF),
        // The enables of the middle are ignored.
        (&[0xFFFF, 0x0F00, 0xFFFF], 0xFFFF_FFFF_FFFF),
    ] {
        assert_eq!(reached(enables), expected, "{enables:x?}");
    }
}

#[test]
fn reads_take_eight_cycles_a_packet_and_eight_may_be_owed() {
    for (request, cycles, packets) in [(512, 8, 1), (4096, 8, 1), (256, 16, 2), (128, 32, 4)] {
        let mut rig = rig(|config| config.link.max_read_request = request);
        rig.jobs = (0..9).map(|n| read(HOST + n * 512, 32)).collect();
        rig.until("three", |rig| rig.reads.len() == 3);
        assert_eq!(rig.reads, [0, cycles, 2 * cycles]);
        rig.until("eight", |rig| rig.reads.len() == 8);
        assert_eq!(rig.bridge.owed(), 8);
        rig.until("given", |rig| rig.words.len() == 32);
        let first = rig.words[31].0;
        rig.until("nine", |rig| rig.reads.len() == 9);
        assert_eq!(rig.reads[8], first + 2);
        rig.until("all", |rig| rig.words.len() == 9 * 32);
        assert_eq!(rig.pcie.stats.read_requests, 9 * packets);
    }
}

#[test]
fn a_request_stands_at_the_hard_ip_13_cycles_after_the_read_was_taken() {
    let mut rig = rig(|_| {});
    rig.jobs = vec![read(HOST + 0xF80, 32)].into();
    let end = rig.until("left", |rig| rig.pcie.stats.read_requests == 1);
    assert_eq!(end - 1, rig.reads[0] + 13);
    // The rest after the boundary of 4 KiB.
    let end = rig.until("left", |rig| rig.pcie.stats.read_requests == 2);
    assert_eq!(end - 1, rig.reads[0] + 21);
}

#[test]
fn words_come_in_order_without_gaps_and_cost_what_completions_cost() {
    for (completion, per_read) in [(64, 64), (128, 48), (256, 40)] {
        let mut rig = rig(|config| {
            config.link.completion_bytes = completion;
            config.link.read_round_trip_ns = 400;
            // So that the link is not a limit.
            config.link.lanes = 16;
        });
        let data = rig.fill(64 * 512);
        rig.jobs = (0..64).map(|n| read(HOST + n * 512, 32)).collect();
        rig.until("all", |rig| rig.words.len() == 64 * 32);
        assert!(rig.got() == data);
        let starts: Vec<u64> = rig.words.iter().step_by(32).map(|(at, _)| *at).collect();
        for (n, word) in rig.words.iter().enumerate() {
            assert_eq!(word.0, starts[n / 32] + n as u64 % 32);
        }
        let cycles = (starts[60] - starts[20]) as f64 / 40.0;
        assert!((cycles - f64::from(per_read)).abs() < 0.1, "{cycles}");
    }
}

#[test]
fn single_beats_ask_for_the_dwords_that_they_enable() {
    let mut rig = rig(|_| {});
    let data = rig.fill(64);
    let mut one = read(HOST + 16, 1);
    one.enables = vec![0x0FF0];
    rig.jobs = vec![one].into();
    rig.until("given", |rig| rig.words.len() == 1);
    assert_eq!(rig.got()[4..12], data[20..28]);
    assert_eq!(rig.pcie.stats.rx_payload, 8);
}

#[test]
fn an_answer_that_comes_early_overwrites_one_that_waits() {
    let run = |request, seed| {
        let mut rig = rig(|config| {
            config.link.max_read_request = request;
            config.txs.reorder_cycles = 400;
            config.seed = seed;
        });
        let data = rig.fill(128 * 512);
        rig.jobs = (0..128).map(|n| read(HOST + n * 512, 32)).collect();
        rig.run(40_000);
        rig.got() == data
    };
    for seed in 1..7 {
        assert!(run(512, seed), "seed {seed}");
        assert!(!run(256, seed), "seed {seed}");
        assert!(!run(128, seed), "seed {seed}");
    }
    // In order all data are right.
    let mut rig = rig(|config| config.link.max_read_request = 128);
    let data = rig.fill(128 * 512);
    rig.jobs = (0..128).map(|n| read(HOST + n * 512, 32)).collect();
    rig.until("all", |rig| rig.words.len() == 128 * 32);
    assert!(rig.got() == data);
}

#[test]
fn the_data_of_tag_13_are_given_out_for_tag_5() {
    // Sixteen packets of 256 bytes. The fifth is answered last, and the later ones wait in their places.
    let mut rig = rig(|config| config.link.max_read_request = 256);
    let data = rig.fill(16 * 256);
    let late = HOST + 4 * 256;
    rig.bus.inject(FaultRule {
        hits: Hits::Addresses(late..late + 1),
        answer: Answer::Late(20_000),
    });
    rig.jobs = (0..8).map(|n| read(HOST + n * 512, 32)).collect();
    rig.run(20_000);
    let (got, at) = (rig.got(), |tag: usize| tag * 256..(tag + 1) * 256);
    assert!(got[..5 * 256] == data[..5 * 256]);
    assert!(got[at(5)] == data[at(13)] && data[at(5)] != data[at(13)]);
}

#[test]
fn a_read_without_data_ends_the_reads_behind_it_until_a_reset() {
    for answer in [Answer::Unsupported, Answer::Abort, Answer::Never] {
        let mut rig = rig(|_| {});
        let data = rig.fill(16 * 512);
        rig.fault(2, answer);
        rig.jobs = (0..12).map(|n| read(HOST + n * 512, 32)).collect();
        rig.run(20_000);
        // Two came; eight are owed, and the port takes no other read.
        assert_eq!(rig.words.len(), 2 * 32);
        assert_eq!((rig.reads.len(), rig.bridge.owed()), (10, 8));
        assert_eq!(rig.jobs.len(), 2);
        // Writes are still taken.
        rig.jobs.clear();
        rig.jobs = vec![whole(HOST + 0x8000, 4)].into();
        rig.until("written", |rig| rig.pcie.stats.write_packets == 1);
        rig.bridge.reset(&mut rig.pcie, false);
        rig.pcie.reset();
        rig.bus.clear_faults();
        rig.words.clear();
        rig.jobs = (0..12).map(|n| read(HOST + n * 512, 32)).collect();
        rig.until("all", |rig| rig.words.len() == 12 * 32);
        assert!(rig.got() == data[..12 * 512]);
    }
}

#[test]
fn poison_is_passed_on_and_a_late_answer_is_still_awaited() {
    let mut rig = rig(|_| {});
    let data = rig.fill(4 * 512);
    rig.fault(0, Answer::Poisoned);
    rig.fault(2, Answer::Late(100_000));
    rig.jobs = (0..4).map(|n| read(HOST + n * 512, 32)).collect();
    rig.run(20_000);
    assert_eq!(rig.words.len(), 2 * 32);
    rig.run(10_000);
    assert!(rig.got() == data);
}

#[test]
fn completions_are_accepted_by_their_tag_alone() {
    let mut rig = rig(|config| config.link.read_round_trip_ns = 4000);
    let data = rig.fill(512);
    rig.jobs = vec![read(HOST, 32), read(HOST, 32)].into();
    rig.run(50);
    // Another requester's, for tag 0; one for the root port's half of the tags.
    for (tag, value) in [(16, 0x11), (0, 0x77)] {
        rig.bridge.answers.take(
            rig.cycle,
            &crate::pcie::Arrived {
                tag,
                address: HOST,
                last: true,
                data: &[value; 512],
            },
        );
    }
    rig.until("given", |rig| rig.words.len() == 32);
    assert!(rig.got() == [0x77; 512]);
    // No read waits for the true answer of tag 0 now; that of tag 1 comes in its turn.
    rig.until("given", |rig| rig.words.len() == 64);
    assert!(rig.got()[512..] == data);
}

#[test]
fn reads_go_aside_for_want_of_credits_and_writes_pass() {
    for credits in [1, 2, 5] {
        let mut rig = rig(|config| config.txs.non_posted_credits = Some(credits));
        let data = rig.fill(16 * 512);
        rig.jobs = (0..4).map(|n| read(HOST + n * 512, 32)).collect();
        rig.jobs.push_back(whole(HOST + 0x8000, 1));
        rig.jobs.extend((4..16).map(|n| read(HOST + n * 512, 32)));
        rig.until("written", |rig| rig.pcie.stats.write_packets == 1);
        let asked = rig.pcie.stats.read_requests;
        assert!(asked == 4.min(u64::from(credits)), "{asked}");
        rig.until("all", |rig| rig.words.len() == 16 * 32);
        assert!(rig.got() == data);
    }
}

#[test]
fn without_bus_master_enable_the_port_waits_and_nothing_is_lost() {
    let mut rig = rig(|_| {});
    let data = rig.fill(8 * 512);
    rig.run(128);
    rig.jobs = vec![whole(HOST + 0x8000, 32), read(HOST, 32)].into();
    rig.run(8);
    rig.bus.set_master(false);
    rig.bridge.interrupt();
    rig.until("the burst", |rig| rig.beats.len() == 32);
    // The bit has its turn once in 128 cycles.
    let seen = rig.cycle.next_multiple_of(128);
    rig.jobs = vec![whole(HOST + 0x8200, 32), read(HOST, 32)].into();
    rig.until("the turn", |rig| rig.cycle > seen);
    let (beats, messages) = (rig.beats.len(), rig.pcie.stats.tx_packets);
    rig.run(3000);
    // The burst that was taken has landed.
    assert!(rig.written(HOST + 0x8000, 64) == u128::from(u64::MAX));
    assert!(rig.beats.len() == beats || rig.beats.len() == 64);
    assert!(rig.reads.is_empty() || rig.beats.len() == 64);
    assert!(rig.pcie.stats.tx_packets - messages <= 4);
    rig.bus.set_master(true);
    rig.until("all", |rig| rig.jobs.is_empty() && rig.words.len() == 32);
    assert!(rig.got() == data[..512]);
    rig.until("landed", |rig| {
        rig.bridge.quiet() && rig.pcie.writes_landed()
    });
    for at in (HOST + 0x8000..HOST + 0x8400).step_by(64) {
        assert_eq!(rig.written(at, 64), u128::from(u64::MAX));
    }
}

#[test]
fn a_host_is_answered_without_bus_master_enable_unless_a_message_waits() {
    let mut rig = rig(|_| {});
    rig.bus.set_master(false);
    rig.run(200);
    rig.jobs = vec![whole(HOST, 32)].into();
    rig.bridge.answer_host(rig.cycle);
    rig.until("answered", |rig| rig.bridge.host_answered().is_some());
    assert!(rig.beats.is_empty());
    rig.bridge.interrupt();
    rig.bridge.answer_host(rig.cycle);
    rig.run(5000);
    assert_eq!(rig.bridge.host_answered(), None);
    rig.bus.set_master(true);
    rig.until("answered", |rig| rig.bridge.host_answered().is_some());
}

#[test]
fn a_message_may_leave_before_the_record_in_front_of_it() {
    // A record, then the interrupt: on an idle bridge one cycle before the record's last word.
    for stands in [0, 500, 5000] {
        let mut rig = rig(|_| {});
        rig.run(10);
        rig.ready = stands == 0;
        rig.jobs = vec![whole(HOST, 2)].into();
        rig.until("taken", |rig| rig.beats.len() == 2);
        rig.bridge.interrupt();
        let began = rig.cycle;
        let message = rig.until("message", |rig| rig.pcie.stats.tx_packets == 1);
        assert_eq!(rig.pcie.stats.write_packets, 0, "{stands}");
        if stands > 0 {
            rig.run(stands - (message - began));
            rig.ready = true;
        }
        let record = rig.until("record", |rig| rig.pcie.stats.write_packets == 1);
        let early = record - message;
        match stands {
            0 => assert_eq!(early, 1),
            _ => assert!(early > stands - 30, "{early}"),
        }
    }
}

#[test]
fn one_message_waits_and_rises_without_msi_are_lost() {
    let mut rig = rig(|_| {});
    rig.bridge.msi = false;
    rig.bridge.interrupt();
    rig.run(100);
    assert_eq!(rig.pcie.stats.tx_packets, 0);
    rig.bridge.msi = true;
    rig.jobs = vec![whole(HOST, 32)].into();
    rig.until("begun", |rig| rig.beats.len() == 3);
    // Twice in the middle of a burst, after which the next one waits.
    rig.bridge.interrupt();
    rig.bridge.interrupt();
    rig.jobs.push_back(whole(HOST, 1));
    rig.until("all", |rig| rig.beats.len() == 33);
    assert_eq!(rig.beats[32] - rig.beats[31], 8 + 2);
    rig.run(500);
    assert_eq!(rig.pcie.stats.tx_packets, 2 + 1 + 1);
}

#[test]
fn a_host_is_answered_behind_the_writes_that_were_taken() {
    let mut rig = rig(|_| {});
    rig.ready = false;
    rig.jobs = vec![whole(HOST, 2)].into();
    rig.until("taken", |rig| rig.beats.len() == 2);
    rig.bridge.answer_host(rig.cycle);
    rig.run(200);
    assert_eq!(rig.bridge.host_answered(), None);
    rig.ready = true;
    rig.until("answered", |rig| rig.bridge.host_answered().is_some());
    assert_eq!(rig.pcie.stats.write_packets, 1);
}

#[test]
fn nothing_is_written_where_nothing_is() {
    let mut rig = rig(|_| {});
    rig.jobs = vec![whole(0x10, 1)].into();
    rig.run(500);
    let found: Vec<_> = rig.bus.unsupported().iter().map(|one| one.access).collect();
    assert_eq!(found, [Access::Write]);
    assert_eq!(rig.log.total(), 0);
}
