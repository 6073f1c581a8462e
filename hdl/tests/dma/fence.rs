//! The fence that reads from a peer: after it nothing arrives there any more, and the flush reads of descriptors are
//! not mixed up with its own.

use crate::channels::{descriptor, rig_with};
use crate::port::stop;
use crate::rig::{MIB, RECORD, Rig, near, same};
use crate::stream;
use peerlane_core::regs::csr;
use peerlane_hdl::Params;
use peerlane_sim::{Answer, BoardConfig, FaultRule, GpuConfig, Hits, LinkConfig, Side};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const START: u32 = 1;
const BUSY: u32 = 2;
const FLUSH: u32 = 4;
const PAGE: u64 = 64 << 10;

fn ports() -> [Params; 2] {
    [Params::default(), stream::params(128)]
}

/// Returns a board whose registers answer at once and whose GPU is slow: so an end that is not waited for shows.
fn slow_gpu() -> BoardConfig {
    BoardConfig {
        gpu: GpuConfig {
            write_latency_ns: 3000,
            ..GpuConfig::default()
        },
        link: LinkConfig {
            mmio_latency_ns: 0,
            ..LinkConfig::default()
        },
        ..BoardConfig::default()
    }
}

/// Runs a fence to its end; with an address it reads from there.
pub fn fence(rig: &mut Rig, flush: Option<u64>) {
    let start = match flush {
        Some(address) => {
            rig.csr(csr::ATT_FLUSH_LO, address as u32);
            rig.csr(csr::ATT_FLUSH_HI, (address >> 32) as u32);
            START | FLUSH
        }
        None => START,
    };
    rig.csr(csr::ATT_INVALIDATE, start);
    let begin = rig.board.cycles();
    while rig.read_csr(csr::ATT_INVALIDATE) & BUSY != 0 {
        assert!(rig.board.cycles() < begin + 40_000, "no end of the fence");
    }
}

fn gpu(rig: &mut Rig, at: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    rig.board.gpu_mut().read(at, &mut bytes).unwrap();
    bytes
}

/// Takes a page of the GPU away in the middle of writes to it; returns in how many rounds of `rounds` data still
/// arrived after the fence.
pub fn late_rounds(params: &Params, flush: bool, rounds: u32) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut rig = rig_with(params, slow_gpu());
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let stays = rig.map_gpu(8 * MIB, MIB);
    let mut data = vec![0; PAGE as usize];
    rng.fill_bytes(&mut data);
    rig.board.ddr_mut().write(0, &data).unwrap();
    let bus = rig.board.gpu_mut().pin(0, PAGE).unwrap()[0];
    let round = |_: &u32| {
        rig.board
            .gpu_mut()
            .write(0, &vec![0xEE; data.len()])
            .unwrap();
        let entry = rig.next_entry();
        let peer = rig.map(16, &[bus], 3);
        // Without a record the descriptor has no flush read of its own.
        rig.queue_on(1, false, descriptor(peer, 0, PAGE as u32, 0, 0));
        rig.queue_on(2, false, descriptor(stays, 0, PAGE as u32, RECORD, 1));
        rig.board.run(rng.random_range(500..4000)).unwrap();
        rig.entry(entry, 0);
        fence(&mut rig, flush.then_some(bus + PAGE / 2));
        let before = gpu(&mut rig, 0, PAGE);
        let other = rig.wait_on(2, 40_000);
        assert_eq!((other.code, other.bytes), (0, PAGE as u32));
        rig.board.run(4000).unwrap();
        while rig.poll_on(1).is_some() {}
        before != gpu(&mut rig, 0, PAGE)
    };
    (0..rounds).filter(round).count()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn behind_a_fence_that_flushes_nothing_arrives_at_the_peer() {
    for params in ports() {
        assert_eq!(late_rounds(&params, true, 30), 0, "{:?}", params.port);
        // Without the read data do arrive: the test would see it.
        assert_ne!(late_rounds(&params, false, 5), 0, "{:?}", params.port);
    }
}

/// A fence counts the requests that are under way as it begins: those of a short transfer, in each cycle of its way.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_fence_ends_that_begins_in_any_cycle_of_a_transfer() {
    for params in ports() {
        for read in [false, true] {
            let mut config = near();
            config.gpu.read_round_trip_ns = 200;
            let mut rig = rig_with(&params, config);
            rig.csr(csr::ATT_OWNER_LO, 0xFF);
            let peer = rig.map_gpu(0, MIB);
            let mut over = false;
            let mut cycles = 0;
            while !over {
                rig.queue_on(1, read, descriptor(peer, 0, 64, RECORD, cycles));
                rig.board.drain_host().unwrap();
                rig.board.run(u64::from(cycles)).unwrap();
                let record = rig.poll_on(1);
                fence(&mut rig, None);
                over = record.is_some();
                let record = record.unwrap_or_else(|| rig.wait_on(1, 5000));
                assert_eq!((record.cookie, record.code), (cycles, 0));
                cycles += 1;
            }
            assert!(cycles > 30, "the record was there after {cycles} cycles");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_record_comes_behind_its_own_data_while_fences_flush() {
    for params in ports() {
        records_while_fences_flush(&params);
    }
}

/// Records of short writes on several channels, with fences between them.
pub fn records_while_fences_flush(params: &Params) {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut rig = rig_with(params, slow_gpu());
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let bus = rig.board.gpu_mut().pin(0, PAGE).unwrap()[0];
    let peer = rig.map(16, &[bus], 3);
    let mut next = 0u64;
    for _ in 0..40 {
        let mut pieces = Vec::new();
        for channel in 0..4 {
            let length = 4 * rng.random_range(1..150u64);
            let mut data = vec![0; length as usize];
            rng.fill_bytes(&mut data);
            let at = u64::from(channel) << 10;
            rig.board.ddr_mut().write(next, &data).unwrap();
            rig.queue_on(
                channel,
                false,
                descriptor(peer + at, next, length as u32, RECORD, 9),
            );
            next = (next + 1023) % MIB;
            pieces.push((channel, at, data));
        }
        rig.board.run(rng.random_range(0..400)).unwrap();
        fence(&mut rig, Some(bus));
        for (channel, at, data) in pieces {
            let record = rig.wait_on(channel, 20_000);
            assert_eq!((record.code, record.bytes), (0, data.len() as u32));
            let got = gpu(&mut rig, at, data.len() as u64);
            same("the data of the record have arrived", &got, &data);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_peer_that_answers_nothing_holds_no_fence_up() {
    for params in ports() {
        let mut rig = rig_with(&params, slow_gpu());
        rig.csr(csr::ATT_OWNER_LO, 0xFF);
        rig.csr(csr::PORT_TIMEOUT, 2000);
        let bus = rig.board.gpu_mut().pin(0, PAGE).unwrap()[0];
        let peer = rig.map(16, &[bus], 3);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(1),
            answer: Answer::Late(20_000),
        });
        fence(&mut rig, Some(bus));
        rig.board.bus_mut().clear_faults();
        // Fences end while the reads are not answered, too, and transfers succeed when they are.
        fence(&mut rig, Some(bus));
        let begin = rig.board.cycles();
        while rig.read_csr(csr::STATUS) & 4 != 0 {
            assert!(rig.board.cycles() < begin + 60_000, "still in quarantine");
            rig.board.run(500).unwrap();
        }
        fence(&mut rig, Some(bus));
        rig.queue_on(1, false, descriptor(peer, 0, 5000, RECORD, 2));
        assert_eq!(rig.wait_on(1, 20_000).code, 0);
        rig.queue_on(1, true, descriptor(peer, 0, 5000, RECORD, 3));
        assert_eq!(rig.wait_on(1, 20_000).code, 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_burst_that_outlives_a_reset_of_the_memory_side_holds_the_fence() {
    for params in ports() {
        let mut rig = rig_with(&params, near());
        let pages = rig.board.gpu_mut().pin(0, 2 * PAGE).unwrap();
        let (peer, id) = rig.map_revocable(16, pages[0], 3);
        rig.map_revocable(16, pages[1], 3);
        rig.queue(false, descriptor(peer, 0, 60_000, RECORD, 1));
        rig.board.run(400).unwrap();
        stop(&mut rig, params.port, true);
        rig.board.run(100).unwrap();
        rig.entry(0, 0);
        rig.csr(csr::ATT_INVALIDATE, START);
        assert_eq!(rig.read_csr(csr::ATT_INVALIDATE), BUSY);
        rig.board.reset_side(Side::Memory).unwrap();
        rig.board.run(200).unwrap();
        for channel in 0..params.channels {
            rig.csr(csr::CHANNEL_SELECT, channel);
            assert_eq!(rig.read_csr(csr::CHANNEL_STATUS), 0b11, "{:?}", params.port);
        }
        assert_eq!(rig.read_csr(csr::ATT_INVALIDATE), BUSY, "{:?}", params.port);
        stop(&mut rig, params.port, false);
        let begin = rig.board.cycles();
        while rig.read_csr(csr::ATT_INVALIDATE) & BUSY != 0 {
            assert!(rig.board.cycles() < begin + 1000, "no end of the burst");
        }
        // Data that were taken have arrived after a read. Then the memory may be released: an access to it would be an
        // error of the run.
        fence(&mut rig, Some(pages[1]));
        rig.board.bus_mut().revoke(id);
        rig.board.run(2000).unwrap();
        assert_eq!(rig.read_csr(csr::CHANNEL_STATUS), 0, "{:?}", params.port);
    }
}

/// Other channels end writes at the same time, each with a flush read that is answered before the fence's.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_fence_waits_for_its_own_read_while_others_are_answered() {
    const LATE_NS: u64 = 40_000;
    for params in ports() {
        let mut config = near();
        config.gpu.read_round_trip_ns = 3000;
        let mut rig = rig_with(&params, config);
        rig.csr(csr::ATT_OWNER_LO, 0xFF);
        let pages = rig.board.gpu_mut().pin(0, 2 * PAGE).unwrap();
        let peer = rig.map(16, &pages[..1], 3);
        rig.map(16, &pages[1..], 3);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Addresses(pages[1]..pages[1] + PAGE),
            answer: Answer::Late(LATE_NS),
        });
        let depth = params.queue_depth();
        for n in 0..3 * depth {
            rig.queue_on(n % 3, false, descriptor(peer, 0, 64, RECORD, n / 3));
        }
        rig.board.drain_host().unwrap();
        let begin = rig.board.ns();
        fence(&mut rig, Some(pages[1]));
        let took = rig.board.ns() - begin;
        assert!(took > LATE_NS as f64, "{:?}: {took} ns", params.port);
        for n in 0..3 * depth {
            let record = rig.wait_on(n % 3, 20_000);
            assert_eq!((record.cookie, record.code), (n / 3, 0));
        }
    }
}
