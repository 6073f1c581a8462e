//! The engine behind tagged streams: completions in any order, and with a status.

use crate::rig::{Descriptor, MIB, RECORD, Record, Rig, library, same};
use peerlane_hdl::generated::constants::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const READ_TIMEOUT: u8 = 7;
const FLUSH: u8 = 11;
const UNSUPPORTED: u8 = 13;
const COMPLETER_ABORT: u8 = 14;
const POISONED: u8 = 15;
const QUARANTINE: u32 = 1 << 2;

fn params(port_bits: u32) -> Params {
    Params {
        port: Port::Stream,
        port_bits,
        reads_log2: 6,
        receive_log2: 11,
        ..Params::default()
    }
}

fn config() -> BoardConfig {
    let mut config = BoardConfig::default();
    config.link.max_read_request = 512;
    config
}

fn run(rig: &mut Rig, read: bool, peer: u64, local: u64, length: u32, cookie: u32) {
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

fn transfers(params: &Params, config: BoardConfig, seed: u64) {
    let mut rig = Rig::new(&library(params), config);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let peer = rig.map_gpu(0, MIB);
    for _ in 0..150 {
        let length = match rng.random_range(0..4) {
            0 => rng.random_range(1..70),
            1 => rng.random_range(400..600),
            _ => rng.random_range(1..20_000u32),
        };
        let offset = rng.random_range(300..MIB - 21_000);
        let local = rng.random_range(300..MIB - 21_000);
        let read = rng.random();
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
        let mut disorder = config();
        disorder.stream.reorder = 70;
        disorder.stream.short_completions = 50;
        disorder.stream.answer_gaps = 20;
        disorder.link.read_jitter_ns = 800;
        disorder.stream.backpressure = Backpressure::Random(30);
        disorder.ddr.backpressure = Backpressure::Random(30);
        transfers(&params(port_bits), disorder, u64::from(port_bits));
        let mut ideal = config();
        ideal.stream.link = false;
        ideal.stream.reorder = 50;
        transfers(&params(port_bits), ideal, 9);
    }
}

/// A descriptor with one bad read, while others go on.
fn with_fault(answer: Answer, nth: u64, timeout: u32) -> (Rig, u64, Record) {
    let mut disorder = config();
    disorder.stream.reorder = 60;
    disorder.link.read_jitter_ns = 300;
    let mut rig = Rig::new(&library(&params(128)), disorder);
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
    for (answer, code) in [
        (Answer::Unsupported, UNSUPPORTED),
        (Answer::Abort, COMPLETER_ABORT),
        (Answer::Poisoned, POISONED),
    ] {
        for nth in [0, 13, 31] {
            let (mut rig, peer, record) = with_fault(answer, nth, 0);
            assert_eq!(record.code, code, "{record:?}");
            assert_eq!(u64::from(record.bytes), nth * 512);
            assert_eq!(record.fault, peer + nth * 512);
            assert_eq!(rig.read_csr(csr::STATUS), 0);
            rig.transfer(true, peer, 0, 16_384);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn all_ones_with_a_status_are_never_data() {
    let (mut rig, peer, record) = with_fault(Answer::Unsupported, 4, 0);
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
    let (mut rig, peer, record) = with_fault(Answer::Never, 9, 5000);
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
    for nth in [0, 7, 31] {
        let (mut rig, peer, record) = with_fault(Answer::Late(80_000), nth, 5000);
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
    let mut rig = Rig::new(&library(&params(128)), config());
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
