//! The block with its own transaction layer, on the modelled hard IP's Avalon-ST interface, connected to the board's
//! link and bus. The model checks every packet against the hard IP's rules.

use crate::channels::{aborts, descriptor, drains, hostile};
use crate::faults::soft_reset;
use crate::fence::{late_rounds, records_while_fences_flush};
use crate::resets::survives;
use crate::rig::{MIB, RECORD, Rig, library, same};
use crate::stream::{self, FLUSH, READ_TIMEOUT, config, disorder};
use crate::transfers::{alignments, both_directions};
use peerlane_core::regs::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Answer, BoardConfig, Generation, Side};
use peerlane_verilated::Library;
use std::collections::HashMap;

const PORT_DEAD: u32 = csr::STATUS_PORT_DEAD_MASK;

/// Descriptors are under way.
const BUSY: u32 = csr::STATUS_WRITE_BUSY_MASK | csr::STATUS_READ_BUSY_MASK;

/// 128 bits for Gen2 x8, 256 for Gen3 x8.
pub fn params(port_bits: u32) -> Params {
    Params {
        port: Port::Tlp,
        port_bits,
        reads_log2: 6,
        receive_log2: 10,
        ..Params::default()
    }
}

fn widths() -> [Params; 2] {
    [params(128), params(256)]
}

/// Returns the disorder of streams, and that of packets in addition.
fn packets_in_disorder() -> BoardConfig {
    let mut config = disorder();
    config.tlp.own_packets = 5;
    config
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_are_right_in_whatever_order_completions_come() {
    for params in widths() {
        stream::transfers(&params, packets_in_disorder(), 11, 40);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn no_read_is_longer_than_software_allows() {
    for params in widths() {
        for (payload, request, extended) in [(128, 128, false), (256, 256, true)] {
            let mut config = packets_in_disorder();
            config.link.max_payload = payload;
            config.link.completion_bytes = payload;
            config.link.max_read_request = request;
            config.tlp.extended_tags = extended;
            stream::transfers(&params, config.clone(), 12, 8);
            let mut rig = Rig::new(&library(&params), config);
            let code = |bytes: u32| (bytes / 128).trailing_zeros();
            let tags = if extended { 56 } else { 24 };
            assert_eq!(
                rig.read_csr(csr::LINK),
                code(payload) | code(request) << 4 | tags << 8 | 195 << 16
            );
            // The engine cuts them: a part of a read does not wait for the one before it.
            let peer = rig.map_gpu(0, MIB);
            let before = rig.board.stats();
            rig.transfer(true, peer, 0, 64 << 10);
            let stats = rig.board.stats();
            assert_eq!(
                stats.read_requests - before.read_requests,
                (64 << 10) / u64::from(request)
            );
            assert!(
                stats.txs.most_reads > 4,
                "{} reads at once",
                stats.txs.most_reads
            );
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_is_wrong_with_a_read_is_told_and_counted() {
    for params in widths() {
        stream::each_status(&params);
    }
    stream::lost_read(&params(128));
    stream::bad_flush(&params(256));
}

/// The transaction layer gives a read up after as many cycles at most, and not after 8 million of them. It looks for
/// one more each 256 cycles.
const GIVEN_UP: u64 = 130 << peerlane_block::IMPATIENCE_LOG2;

/// A block whose transaction layer gives reads up that soon.
fn impatient(params: &Params) -> Library {
    peerlane_block::impatient(params).expect("the block as a model")
}

/// The engine is notified when the transaction layer gives a read up: long before its own time is over, and it loses
/// none of its tags.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_given_up_ends_before_the_engines_own_time() {
    for params in widths() {
        let mut rig = Rig::new(&impatient(&params), config());
        let (pages, peer) = stream::gpu_pages(&mut rig);
        for round in 0..10 {
            stream::spoil(&mut rig, pages[0], Answer::Never, 1);
            let before = rig.board.cycles();
            stream::run(&mut rig, true, peer, 0, 16_384, round);
            let record = rig.wait(GIVEN_UP + 5000);
            assert_eq!(record.code, READ_TIMEOUT, "{record:?}");
            // Not the engine's, by default 50 ms at 250 MHz.
            assert!(rig.board.cycles() - before < 12_500_000);
            assert_eq!(rig.read_csr(csr::STATUS), 0);
            rig.transfer(true, peer, 0x4000, 16_384);
        }
        for round in 0..7 {
            stream::spoil(&mut rig, pages[0], Answer::Never, 1);
            stream::run(&mut rig, false, peer, 0, 64, round);
            assert_eq!(rig.wait(GIVEN_UP + 5000).code, FLUSH);
            assert_eq!(rig.read_csr(csr::STATUS), 0);
            for _ in 0..20 {
                rig.transfer(false, peer, 0x4000, 64);
            }
        }
    }
}

/// A peer that answers no read takes the hard IP's tags and room, by one descriptor. The descriptor ends with its
/// record, all other reads end with theirs, and data that are written to other peers arrive. The port is dead, so that
/// the driver resets it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_silent_peer_costs_the_reads_and_nothing_else() {
    for params in widths() {
        for bytes in [16_384, 0x1_0000] {
            let mut rig = Rig::new(&impatient(&params), config());
            let (pages, peer) = stream::gpu_pages(&mut rig);
            let good = peer + 0x1_0000;
            stream::spoil(&mut rig, pages[0], Answer::Never, 1000);
            stream::run(&mut rig, true, peer, 0, bytes, 1);
            rig.board.run(2000).unwrap();
            for round in 0..20 {
                stream::run(&mut rig, false, good, 0, 64, 10 + round);
            }
            rig.board.run(4 * GIVEN_UP).unwrap();
            let mut codes: HashMap<u32, u8> = HashMap::new();
            while let Some(record) = rig.poll() {
                assert!(codes.insert(record.cookie, record.code).is_none());
            }
            assert_eq!(codes.remove(&1), Some(READ_TIMEOUT));
            assert_eq!(codes.len(), 20);
            assert!(codes.values().all(|code| *code == 0), "{codes:?}");
            assert_eq!(rig.read_csr(csr::STATUS) & (PORT_DEAD | BUSY), PORT_DEAD);
            stream::run(&mut rig, true, good, 0, 4096, 2);
            assert_eq!(rig.wait(GIVEN_UP).code, READ_TIMEOUT);
            stream::run(&mut rig, false, good, 0, 4096, 3);
            assert_eq!(rig.wait(GIVEN_UP).code, 0);
        }
    }
}

/// Data that the hard IP has lost belong to no read: the descriptor does not end, and STATUS says that the port is
/// dead, even while other requests wait at it, so that the driver resets the link.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn with_data_lost_the_port_is_dead() {
    const RX_FAILED: u32 = 1 << 24;
    for params in widths() {
        let mut rig = Rig::new(&library(&params), config());
        let (_, peer) = stream::gpu_pages(&mut rig);
        rig.transfer(true, peer, 0, 100_000);
        assert_eq!(rig.read_csr(csr::STATUS), 0);
        assert_eq!(rig.read_csr(csr::LINK) & RX_FAILED, 0);
        rig.board.damage_a_completion();
        stream::run(&mut rig, true, peer, 0, 100_000, 1);
        rig.board.run(100_000).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS) & PORT_DEAD, PORT_DEAD);
        assert_eq!(rig.read_csr(csr::LINK) & RX_FAILED, RX_FAILED);
        assert_eq!(rig.poll(), None);
    }
}

/// Ends each read within PORT_TIMEOUT (50 ms, as much sooner as this block gives reads up), though the packet that the
/// hard IP has lost is half in memory. Descriptors that come later end, too.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn behind_lost_data_every_read_ends() {
    const TIMEOUT: u32 = 12_500_000 >> 8;
    for params in widths() {
        for moment in [300, 700, 1100] {
            let mut rig = Rig::new(&impatient(&params), config());
            let (_, peer) = stream::gpu_pages(&mut rig);
            rig.csr(csr::PORT_TIMEOUT, TIMEOUT);
            stream::run(&mut rig, true, peer, 0, 100_000, 1);
            rig.board.run(moment).unwrap();
            rig.board.damage_a_completion();
            stream::run(&mut rig, true, peer, 0x4_0000, 4096, 2);
            rig.board.run(1000).unwrap();
            assert_eq!(rig.read_csr(csr::STATUS) & PORT_DEAD, PORT_DEAD);
            stream::run(&mut rig, true, peer, 0x4_0000, 4096, 3);
            for _ in 0..3 {
                let record = rig.wait(4 * u64::from(TIMEOUT));
                assert_ne!(record.code, 0, "{record:?}");
            }
            assert_eq!(rig.read_csr(csr::STATUS) & BUSY, 0);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_channel_drains_and_aborts() {
    drains(&params(128));
    aborts(&params(256));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn behind_a_fence_nothing_arrives() {
    let params = params(128);
    assert_eq!(late_rounds(&params, true, 8), 0);
    assert_ne!(late_rounds(&params, false, 5), 0);
    records_while_fences_flush(&params);
}

/// A hard IP that does not show the credits that were consumed: the block sends nothing, and shows that in its
/// registers.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_hard_ip_whose_credits_are_not_known_is_a_dead_port() {
    for params in widths() {
        for read in [false, true] {
            let mut config = config();
            config.tlp.shows_consumed = false;
            let mut rig = Rig::new(&library(&params), config);
            let peer = rig.map_gpu(0, MIB);
            rig.csr(csr::PORT_TIMEOUT, 1500);
            rig.queue(read, descriptor(peer, 0, 100_000, RECORD, 1));
            rig.board.run(1000).unwrap();
            assert_eq!(rig.read_csr(csr::STATUS) & PORT_DEAD, 0);
            rig.board.run(20_000).unwrap();
            let status = rig.read_csr(csr::STATUS);
            assert_eq!(
                status & (PORT_DEAD | BUSY),
                PORT_DEAD,
                "read: {read}, {status:#x}"
            );
            let stats = rig.board.stats();
            assert_eq!((stats.txs.read_bursts, stats.txs.write_bursts), (0, 0));
        }
    }
}

/// At the speed of Gen3 x8 with the memory's port at its own clock, in both directions at once.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn gen3_moves_what_it_should() {
    let mut config = config();
    config.link = config.link.with_speed(Generation::Gen3, 8);
    let mut rig = Rig::new(&library(&params(256)), config);
    let peer = rig.map_gpu(0, MIB);
    let data: Vec<u8> = (0..200_000u32).map(|i| ((i * 7) >> 2) as u8).collect();
    rig.board.gpu_mut().write(0, &data).unwrap();
    rig.transfer(true, peer, 0x1000, 200_000);
    rig.transfer(false, peer + 512 * 1024, 0x1000, 200_000);
    let mut got = vec![0; data.len()];
    rig.board.gpu_mut().read(512 * 1024, &mut got).unwrap();
    same("there and back", &got, &data);
}

/// The rest of the block's tests that are about data and their order.
mod full_matrix {
    use super::*;

    #[test]
    #[ignore = "external tools: cargo xtask test pcie"]
    fn every_alignment() {
        for params in widths() {
            alignments(params, config(), 21);
            alignments(params, packets_in_disorder(), 22);
        }
    }

    #[test]
    #[ignore = "external tools: cargo xtask test pcie"]
    fn random_transfers() {
        for params in widths() {
            for seed in 30..34 {
                stream::transfers(&params, packets_in_disorder(), seed, 200);
            }
            both_directions(&params);
        }
    }

    #[test]
    #[ignore = "external tools: cargo xtask test pcie"]
    fn faults() {
        for params in widths() {
            stream::lost_read(&params);
            stream::late_completion(&params);
            stream::bad_flush(&params);
            soft_reset(&params);
            drains(&params);
            aborts(&params);
            hostile(&params, 5, 40);
        }
    }

    #[test]
    #[ignore = "external tools: cargo xtask test pcie"]
    fn fences() {
        for params in widths() {
            assert_eq!(late_rounds(&params, true, 30), 0);
            records_while_fences_flush(&params);
        }
    }

    #[test]
    #[ignore = "external tools: cargo xtask test pcie"]
    fn resets() {
        for params in widths() {
            for side in [Side::Pcie, Side::Memory] {
                survives(&params, side, 300, 10);
            }
        }
    }
}
