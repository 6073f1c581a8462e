//! The engine with tagged streams: completions in any order, and with a status.

use crate::channels::{descriptor, map_for, rig_with};
use crate::rig::{Descriptor, MIB, RECORD, Record, Rig, grain, library, near, same};
use peerlane_core::regs::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub const READ_TIMEOUT: u8 = 7;
pub const FLUSH: u8 = 11;
const UNSUPPORTED: u8 = 13;
const COMPLETER_ABORT: u8 = 14;
const POISONED: u8 = 15;
const QUARANTINE: u32 = 1 << 2;

pub fn params(port_bits: u32) -> Params {
    Params {
        port: Port::Stream,
        port_bits,
        reads_log2: 6,
        receive_log2: 11,
        ..Params::default()
    }
}

/// Both ports, each in both widths.
pub fn ports() -> [Params; 4] {
    [
        Params::default(),
        Params {
            port_bits: 256,
            ..Params::default()
        },
        params(128),
        params(256),
    ]
}

pub fn config() -> BoardConfig {
    let mut config = BoardConfig::default();
    config.link.max_read_request = 512;
    config
}

pub fn run(rig: &mut Rig, read: bool, peer: u64, local: u64, length: u32, cookie: u32) {
    rig.queue(
        read,
        Descriptor {
            peer,
            local,
            length,
            control: RECORD,
            cookie,
        },
    );
}

/// Returns a board with completions in pieces and in any order, and with no side always ready.
pub fn disorder() -> BoardConfig {
    let mut config = config();
    config.stream.reorder = 70;
    config.stream.short_completions = 50;
    config.stream.answer_gaps = 20;
    config.link.read_jitter_ns = 800;
    config.stream.backpressure = Backpressure::Random(30);
    config.ddr.backpressure = Backpressure::Random(30);
    config
}

/// Runs random transfers, and compares them byte for byte, with the bytes around them.
pub fn transfers(params: &Params, config: BoardConfig, seed: u64, rounds: u32) {
    let mut rig = Rig::new(&library(params), config);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let peer = rig.map_gpu(0, MIB);
    for _ in 0..rounds {
        let length = match rng.random_range(0..4) {
            0 => rng.random_range(1..70),
            1 => rng.random_range(400..600),
            _ => rng.random_range(1..20_000u32),
        };
        let offset = rng.random_range(300..MIB - 21_000);
        let local = rng.random_range(300..MIB - 21_000);
        let read = rng.random();
        let grain = if read { 1 } else { grain(params) };
        let (offset, length) = (
            offset / grain * grain,
            length.next_multiple_of(grain as u32),
        );
        let mut data = vec![0; length as usize];
        let mut around = vec![0; length as usize + 512];
        rng.fill_bytes(&mut data);
        rng.fill_bytes(&mut around);
        let mut got = around.clone();
        if read {
            rig.board.gpu_mut().write(offset, &data).unwrap();
            rig.board.ddr_mut().write(local - 256, &around).unwrap();
            rig.transfer(true, peer + offset, local, length);
            rig.board.ddr_mut().read(local - 256, &mut got).unwrap();
        } else {
            rig.board.ddr_mut().write(local, &data).unwrap();
            rig.board.gpu_mut().write(offset - 256, &around).unwrap();
            rig.transfer(false, peer + offset, local, length);
            rig.board.gpu_mut().read(offset - 256, &mut got).unwrap();
        }
        around[256..256 + length as usize].copy_from_slice(&data);
        same("data and guard bytes", &got, &around);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_are_right_in_whatever_order_completions_come() {
    for port_bits in [128, 256] {
        let disorder = disorder();
        transfers(&params(port_bits), disorder, u64::from(port_bits), 150);
        let mut ideal = config();
        ideal.stream.link = false;
        ideal.stream.reorder = 50;
        transfers(&params(port_bits), ideal, 9, 150);
    }
}

/// Runs a descriptor with one bad read, while others go on.
fn with_fault(params: &Params, answer: Answer, nth: u64, timeout: u32) -> (Rig, u64, Record) {
    let mut disorder = config();
    disorder.stream.reorder = 60;
    disorder.link.read_jitter_ns = 300;
    let mut rig = Rig::new(&library(params), disorder);
    rig.open_channel(1);
    rig.csr(csr::ATT_OWNER_LO, 3);
    let peer = rig.map_gpu(0, MIB);
    rig.csr(csr::PORT_TIMEOUT, timeout);
    rig.board.bus_mut().inject(FaultRule {
        hits: Hits::Nth(nth),
        answer,
    });
    run(&mut rig, true, peer, 0, 16_384, 1);
    let record = rig.wait(100_000);
    rig.board.bus_mut().clear_faults();
    (rig, peer, record)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_status_ends_the_descriptor_with_its_code() {
    each_status(&params(128));
}

/// Tests a status in place of data: its code, the bytes before it, and no harm.
pub fn each_status(params: &Params) {
    for (answer, code) in [
        (Answer::Unsupported, UNSUPPORTED),
        (Answer::Abort, COMPLETER_ABORT),
        (Answer::Poisoned, POISONED),
    ] {
        for nth in [0, 13, 31] {
            let (mut rig, peer, record) = with_fault(params, answer, nth, 0);
            assert_eq!(record.code, code, "{record:?}");
            // The reads before it are of 512 bytes, or of 256 where a transaction layer asks for that.
            let before = u64::from(record.bytes);
            assert!((nth * 256..=nth * 512).contains(&before) && before.is_multiple_of(256));
            assert_eq!(record.fault, peer + before);
            assert_eq!(rig.read_csr(csr::STATUS), 0);
            rig.transfer(true, peer, 0, 16_384);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn all_ones_with_a_status_are_never_data() {
    let (mut rig, peer, record) = with_fault(&params(128), Answer::Unsupported, 4, 0);
    assert_eq!(record.code, UNSUPPORTED);
    // All ones that are data are data.
    rig.board.gpu_mut().write(0, &[0xFF; 4096]).unwrap();
    rig.transfer(true, peer, 0x4000, 4096);
    let mut got = vec![0; 4096];
    rig.board.ddr_mut().read(0x4000, &mut got).unwrap();
    same("ones", &got, &[0xFF; 4096]);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_lost_read_costs_its_tag_and_no_more() {
    lost_read(&params(128));
}

/// Tests a read that is never answered.
pub fn lost_read(params: &Params) {
    let (mut rig, peer, record) = with_fault(params, Answer::Never, 9, 5000);
    assert_eq!((record.code, record.bytes), (READ_TIMEOUT, 9 * 512));
    assert_eq!(rig.read_csr(csr::STATUS), QUARANTINE);
    // Reads go on with the tags that are left, in both channels.
    let data: Vec<u8> = (0..60_000u32).map(|i| ((i * 5) >> 2) as u8).collect();
    rig.board.gpu_mut().write(0, &data).unwrap();
    for _ in 0..4 {
        rig.transfer(true, peer, 0x4000, 60_000);
        let mut got = vec![0; data.len()];
        rig.board.ddr_mut().read(0x4000, &mut got).unwrap();
        same("with a tag less", &got, &data);
    }
    rig.board.link_reset();
    rig.csr(csr::QUARANTINE, 1);
    rig.board.run(100).unwrap();
    assert_eq!(rig.read_csr(csr::STATUS), 0);
    rig.transfer(true, peer, 0x4000, 60_000);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_late_completion_is_dropped_and_frees_its_tag() {
    late_completion(&params(128));
}

/// Tests a read that is answered when the block no longer waits for it.
pub fn late_completion(params: &Params) {
    for nth in [0, 7, 31] {
        let (mut rig, peer, record) = with_fault(params, Answer::Late(80_000), nth, 5000);
        assert_eq!(record.code, READ_TIMEOUT);
        assert_eq!(rig.read_csr(csr::STATUS), QUARANTINE);
        let data: Vec<u8> = (0..60_000u32).map(|i| ((i * 11) >> 2) as u8).collect();
        rig.board.gpu_mut().write(0, &data).unwrap();
        let mut rounds = 0;
        while rig.read_csr(csr::STATUS) & QUARANTINE != 0 {
            rig.transfer(true, peer, 0x4000, 60_000);
            rounds += 1;
            assert!(rounds < 40, "the tag stays lost");
        }
        rig.transfer(true, peer, 0x4000, 60_000);
        let mut got = vec![0; data.len()];
        rig.board.ddr_mut().read(0x4000, &mut got).unwrap();
        same("after the late one", &got, &data);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_flush_that_is_refused_or_lost_is_reported() {
    bad_flush(&params(128));
}

/// Tests a flush read that is refused or never answered.
pub fn bad_flush(params: &Params) {
    let mut rig = Rig::new(&library(params), config());
    let peer = rig.map_gpu(0, MIB);
    rig.csr(csr::PORT_TIMEOUT, 3000);
    for answer in [Answer::Unsupported, Answer::Never] {
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(0),
            answer,
        });
        run(&mut rig, false, peer, 0, 2000, 3);
        let record = rig.wait(30_000);
        assert_eq!((record.code, record.bytes), (FLUSH, 2000), "{record:?}");
        rig.board.bus_mut().clear_faults();
        run(&mut rig, false, peer, 0, 2000, 4);
        assert_eq!(rig.wait(30_000).code, 0);
    }
}

/// Writes 64 bytes at `peer`; returns the code of the record.
fn write_code(rig: &mut Rig, peer: u64, cookie: u32) -> u8 {
    run(rig, false, peer, 0, 64, cookie);
    rig.wait(30_000).code
}

/// Pins 64 KiB pages of GPU memory: returns their bus addresses, and the ATT address of the first.
pub fn gpu_pages(rig: &mut Rig) -> (Vec<u64>, u64) {
    let pages = rig.board.gpu_mut().pin(0, MIB).unwrap();
    let peer = rig.map(16, &pages, 3);
    (pages, peer)
}

/// Makes the next `times` reads of a page get `answer`.
pub fn spoil(rig: &mut Rig, page: u64, answer: Answer, times: u64) {
    rig.board.bus_mut().inject(FaultRule {
        hits: Hits::Counted {
            addresses: page..page + (1 << 16),
            skip: 0,
            times,
        },
        answer,
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_lost_flush_costs_its_tag_and_no_more() {
    let mut rig = Rig::new(&library(&params(128)), config());
    let (pages, peer) = gpu_pages(&mut rig);
    rig.csr(csr::PORT_TIMEOUT, 3000);
    // Of the 8 tags 7 are lost one after another; the others serve.
    for lost in 0..7 {
        spoil(&mut rig, pages[0], Answer::Never, 1);
        assert_eq!(write_code(&mut rig, peer, lost), FLUSH);
        for good in 0..20 {
            assert_eq!(write_code(&mut rig, peer, good), 0, "{good}, {lost} lost");
        }
        assert_eq!(rig.read_csr(csr::STATUS), QUARANTINE);
    }
    // With the eighth lost there is no flush read to wait for: flushes fail at once.
    spoil(&mut rig, pages[0], Answer::Never, 1);
    assert_eq!(write_code(&mut rig, peer, 8), FLUSH);
    let before = rig.board.cycles();
    for cookie in 0..10 {
        assert_eq!(write_code(&mut rig, peer, cookie), FLUSH);
    }
    assert!(rig.board.cycles() - before < 3000 * 2, "not at once");
    rig.board.link_reset();
    rig.csr(csr::QUARANTINE, 1);
    rig.board.run(100).unwrap();
    assert_eq!(rig.read_csr(csr::STATUS), 0);
    for cookie in 0..10 {
        assert_eq!(write_code(&mut rig, peer, cookie), 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_late_flush_gives_its_tag_back() {
    let mut rig = Rig::new(&library(&params(128)), config());
    let (pages, peer) = gpu_pages(&mut rig);
    rig.csr(csr::PORT_TIMEOUT, 3000);
    spoil(&mut rig, pages[0], Answer::Late(100_000), 5);
    for cookie in 0..5 {
        assert_eq!(write_code(&mut rig, peer, cookie), FLUSH);
    }
    let mut rounds = 0;
    while rig.read_csr(csr::STATUS) & QUARANTINE != 0 {
        assert_eq!(write_code(&mut rig, peer, rounds), 0);
        rounds += 1;
        assert!(rounds < 200, "a tag stays lost");
    }
    assert!(rounds > 8, "they were not late");
    // All 8 can be lost again, and not fewer.
    spoil(&mut rig, pages[0], Answer::Never, 8);
    for cookie in 0..8 {
        let before = rig.board.cycles();
        assert_eq!(write_code(&mut rig, peer, cookie), FLUSH);
        assert!(rig.board.cycles() - before >= 3000, "{cookie} did not wait");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn flushes_are_reported_in_order_whatever_order_they_are_answered_in() {
    let mut disorder = config();
    disorder.stream.reorder = 80;
    disorder.link.read_jitter_ns = 2000;
    let mut rig = Rig::new(&library(&params(128)), disorder);
    let (pages, peer) = gpu_pages(&mut rig);
    rig.csr(csr::PORT_TIMEOUT, 6000);
    // Every seventh is refused, and one of the many is lost.
    let bad = |n: u32| n % 7 == 3 || n == 40;
    for (page, answer) in [(1, Answer::Unsupported), (2, Answer::Never)] {
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Addresses(pages[page]..pages[page] + (1 << 16)),
            answer,
        });
    }
    for n in 0..120 {
        let page = if n == 40 { 2 } else { u64::from(bad(n)) };
        run(&mut rig, false, peer + (page << 16), 0, 64, n);
    }
    for n in 0..120 {
        let record = rig.wait(30_000);
        assert_eq!((record.cookie, record.code == FLUSH), (n, bad(n)));
    }
}

/// Runs reads and flushes of separate channels, of which one is lost: a read if `read` is set. All others come in time,
/// for longer than the timeout, and with so few tags that they are used again.
fn beside_a_lost_one(read: bool) {
    const TIMEOUT: u32 = 20_000;
    let few = Params {
        reads_log2: 3,
        ..params(128)
    };
    let mut rig = Rig::new(&library(&few), config());
    rig.open_channel(1);
    rig.csr(csr::ATT_OWNER_LO, 3);
    let (pages, peer) = gpu_pages(&mut rig);
    rig.csr(csr::PORT_TIMEOUT, TIMEOUT);
    spoil(&mut rig, pages[0], Answer::Never, 1);
    let (lost, other) = (peer, peer + (1 << 16));
    let descriptor = |peer, cookie| Descriptor {
        peer,
        local: 0,
        length: 64,
        control: RECORD,
        cookie,
    };
    rig.queue_on(0, read, descriptor(lost, 0));
    let end = rig.board.cycles() + u64::from(TIMEOUT) * 2;
    let mut cookie = 0;
    while rig.board.cycles() < end {
        // Requests of the same kind wait for the lost one, as ends are in order.
        for _ in 0..20 {
            cookie += 1;
            rig.queue_on(1, !read, descriptor(other, cookie));
        }
        for n in cookie - 19..=cookie {
            let record = rig.wait_on(1, u64::from(TIMEOUT) / 2);
            assert_eq!((record.cookie, record.code), (n, 0));
        }
    }
    let code = if read { READ_TIMEOUT } else { FLUSH };
    assert_eq!(rig.wait(100).code, code);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_lost_read_delays_no_flush_and_a_lost_flush_no_read() {
    beside_a_lost_one(true);
    beside_a_lost_one(false);
}

/// A descriptor that fails in the middle ends alone, however many later ones of its channel are under way.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn only_the_descriptor_that_failed_ends_with_a_code() {
    for reads_log2 in [3, 5, 6] {
        let params = Params {
            reads_log2,
            ..params(128)
        };
        let mut config = near();
        config.gpu.read_round_trip_ns = 5000;
        let mut rig = rig_with(&params, config);
        let peer = map_for(&mut rig, 1, 0, MIB);
        rig.csr(csr::CHANNEL_SELECT, 0);
        rig.csr(csr::CHANNEL_CONTROL, 1);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(0),
            answer: Answer::Unsupported,
        });
        rig.queue(true, descriptor(peer, 0, 1024, RECORD, 0));
        for n in 1..100 {
            rig.queue(true, descriptor(peer + 0x1000, 0x1000, 64, RECORD, n));
        }
        rig.csr(csr::CHANNEL_CONTROL, 3);
        for n in 0..100 {
            let record = rig.wait(100_000);
            let want = if n == 0 { (UNSUPPORTED, 0) } else { (0, 64) };
            assert_eq!(record.cookie, n);
            assert_eq!(
                (record.code, record.bytes),
                want,
                "descriptor {n} of reads_log2 {reads_log2}"
            );
        }
    }
}
