//! Data move both ways, byte for byte, and no other byte is touched.

use crate::rig::{Descriptor, IRQ, MIB, RECORD, Rig, grain, library, same};
use peerlane_core::regs::csr;
use peerlane_hdl::Params;
use peerlane_sim::{Backpressure, Board, BoardConfig, BridgeRates};
use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const GUARD: u64 = 256;

/// Runs a transfer between random data, with guard bytes around its target.
fn check(
    rig: &mut Rig,
    rng: &mut ChaCha8Rng,
    read: bool,
    peer: u64,
    offset: u64,
    local: u64,
    length: u32,
) {
    let (from, to) = if read {
        (offset, local)
    } else {
        (local, offset)
    };
    let whole = u64::from(length) + 2 * GUARD;
    let mut data = vec![0; length as usize];
    let mut before = vec![0; whole as usize];
    rng.fill_bytes(&mut data);
    rng.fill_bytes(&mut before);
    let put = |board: &mut Board, fpga: bool, at: u64, bytes: &[u8]| {
        if fpga {
            board.ddr_mut().write(at, bytes).unwrap();
        } else {
            board.gpu_mut().write(at, bytes).unwrap();
        }
    };
    put(&mut rig.board, !read, from, &data);
    put(&mut rig.board, read, to - GUARD, &before);
    rig.transfer(read, peer + offset, local, length);
    let mut after = vec![0; whole as usize];
    if read {
        rig.board.ddr_mut().read(to - GUARD, &mut after).unwrap();
    } else {
        rig.board.gpu_mut().read(to - GUARD, &mut after).unwrap();
    }
    let mut want = before;
    want[GUARD as usize..(GUARD + u64::from(length)) as usize].copy_from_slice(&data);
    same(
        &format!("read {read}, peer offset {offset:#x}, FPGA {local:#x}, {length} bytes"),
        &after,
        &want,
    );
}

/// Lengths around every edge that the block knows.
const LENGTHS: [u32; 22] = [
    1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 257, 511, 512, 513, 4097, 8000,
];

pub fn alignments(params: Params, config: BoardConfig, seed: u64) {
    let library = library(&params);
    let mut rig = Rig::new(&library, config);
    let peer = rig.map_gpu(0, MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let beat = u64::from(params.port_bits) / 8;
    for source in 0..beat {
        for target in 0..beat {
            let read = rng.random();
            let length = *LENGTHS.choose(&mut rng).unwrap();
            // Somewhere near an edge of 512 bytes, of 4 KiB or of a page.
            let edge = *[0x1000, 0x2200, 0xFE00, 0x10000, 0x20000 - 64]
                .choose(&mut rng)
                .unwrap();
            if read {
                let (offset, local) = (edge + source, 0x4000 + target);
                check(&mut rig, &mut rng, read, peer, offset, local, length);
            } else {
                let offset = edge + target / grain(&params) * grain(&params);
                let local = 0x4000 + source + 64 * rng.random_range(0..8);
                let length = length.next_multiple_of(grain(&params) as u32);
                check(&mut rig, &mut rng, read, peer, offset, local, length);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_alignment_on_128_bits() {
    alignments(Params::default(), BoardConfig::default(), 1);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_alignment_on_256_bits() {
    let params = Params {
        port_bits: 256,
        ..Default::default()
    };
    alignments(params, BoardConfig::default(), 2);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_alignment_under_back_pressure() {
    let mut config = BoardConfig::default();
    config.txs.backpressure = Backpressure::Random(40);
    config.txs.response_gaps = 30;
    config.ddr.backpressure = Backpressure::Random(40);
    config.ddr.jitter = 20;
    alignments(Params::default(), config, 3);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_alignment_at_other_ratios_of_the_clocks() {
    // Gen1 x8 with fast memory, and memory slower than the port; edges that drift past each other.
    for (pcie_clk_ps, clk_ps, clk_phase_ps) in [(8000, 3751, 11), (4000, 7013, 1999)] {
        let config = BoardConfig {
            pcie_clk_ps,
            clk_ps,
            clk_phase_ps,
            ..BoardConfig::default()
        };
        alignments(Params::default(), config, clk_ps);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_length_up_to_two_beats_and_around_the_edges() {
    let library = library(&Params::default());
    let mut rig = Rig::new(&library, BoardConfig::default());
    let peer = rig.map_gpu(0, MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for length in (1..=33).chain(500..=530) {
        let offset = 0x1000 + rng.random_range(0..600);
        let local = 0x4000 + rng.random_range(0..600);
        check(&mut rig, &mut rng, true, peer, offset, local, length);
        // All dwords that a beat may begin and end with, and those that a burst may.
        for length in [4 * length, 4 * (length % 16) + 2000] {
            let offset = 0x1000 + 4 * rng.random_range(0..150);
            let local = 0x4000 + rng.random_range(0..600);
            check(&mut rig, &mut rng, false, peer, offset, local, length);
        }
    }
}

/// Tests every first and every last dword of a burst, of one to four beats and at the edges of bursts and pages, and
/// every byte at which the data begin in a beat of FPGA memory.
pub fn every_dword(params: &Params, config: BoardConfig) {
    let mut rig = Rig::new(&library(params), config);
    let peer = rig.map_gpu(0, MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let beat = u64::from(params.port_bits) / 8;
    let mut lane = 0;
    for edge in [0x1000, 0x2200 - beat, 0x1_0000 - 2 * beat] {
        for first in (0..beat).step_by(4) {
            for end in (first + 4..=first + 4 * beat).step_by(4) {
                let local = 0x4000 + lane % (4 * beat);
                lane += 5;
                let length = (end - first) as u32;
                check(&mut rig, &mut rng, false, peer, edge + first, local, length);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_first_and_last_dword_of_a_burst() {
    for port_bits in [128, 256] {
        let params = Params {
            port_bits,
            ..Params::default()
        };
        every_dword(&params, BoardConfig::default());
    }
}

/// A write that begins or ends inside a dword of the peer ends with a code of its own, and not a byte is sent.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_write_between_two_dwords_is_refused() {
    const ALIGNMENT: u8 = 16;
    let mut rig = Rig::new(&library(&Params::default()), BoardConfig::default());
    let caps = rig.read_csr(csr::CAPS2) & csr::CAPS2_WRITE_GRANULARITY_LOG2_MASK;
    assert_eq!(caps >> csr::CAPS2_WRITE_GRANULARITY_LOG2_LSB, 2);
    let peer = rig.map_gpu(0, MIB);
    let before = vec![0x3C; MIB as usize];
    rig.board.gpu_mut().write(0, &before).unwrap();
    let written = rig.board.stats().bytes_written;
    let mut refused = 0;
    // Within a dword, a beat, a burst; across a page.
    for (edge, length) in [(0x100, 0), (0x104, 8), (0x300, 500), (0xFFF0, 5000)] {
        for first in 0..4 {
            for end in 0..4u32 {
                let length = length + 4 + end - first;
                if first == 0 && end == 0 {
                    continue;
                }
                let at = peer + edge + u64::from(first);
                let d = Descriptor {
                    peer: at,
                    local: u64::from(first + end),
                    length,
                    control: RECORD | IRQ,
                    cookie: 5,
                };
                rig.queue(false, d);
                let record = rig.wait(20_000);
                assert_eq!(
                    (record.code, record.bytes, record.fault),
                    (ALIGNMENT, 0, at),
                    "{length} bytes"
                );
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 4 * 15);
    let mut after = before.clone();
    rig.board.gpu_mut().read(0, &mut after).unwrap();
    same("the peer", &after, &before);
    let records = 32 * refused;
    assert_eq!(rig.board.stats().bytes_written, written + records);
    // The next one works, and the alignment of FPGA memory is free.
    rig.transfer(false, peer + 4, 3, 5000);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn pages_of_each_size_and_host_memory() {
    let library = library(&Params::default());
    let mut rig = Rig::new(&library, BoardConfig::default());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    // Pages out of order, so that a wrong translation shows.
    for (shift, length) in [(12, 20_000u32), (16, 200_000), (21, 3_000_000)] {
        let base = 0x1_1000_0000u64;
        let page = 1u64 << shift;
        let pages: Vec<u64> = [3, 0, 5, 1, 4].iter().map(|i| base + i * page).collect();
        let peer = rig.map(shift, &pages, 3);
        let mut data = vec![0; length as usize];
        rng.fill_bytes(&mut data);
        let start = 300u64;
        rig.board.ddr_mut().write(0x10_0000, &data).unwrap();
        rig.transfer(false, peer + start, 0x10_0000, length);
        let mut got = vec![0; length as usize];
        for (i, byte) in got.iter_mut().enumerate() {
            let at = start + i as u64;
            let bus = pages[(at / page) as usize] + at % page;
            let mut one = [0];
            if i % 61 == 0 || at % page < 2 || at % page > page - 2 {
                rig.board.host_mut().read(bus, &mut one).unwrap();
                *byte = one[0];
            } else {
                *byte = data[i];
            }
        }
        same("host memory", &got, &data);
        rig.transfer(true, peer + start, 0x80_0000, length);
        let mut back = vec![0; length as usize];
        rig.board.ddr_mut().read(0x80_0000, &mut back).unwrap();
        same("and back", &back, &data);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn windows_mode_drives_32_bit_addresses() {
    let params = Params {
        txs_addr_bits: 32,
        ..Default::default()
    };
    let library = library(&params);
    let mut rig = Rig::new(&library, BoardConfig::default());
    // Window 2 of 256 MiB at host memory; the ATT gives window + offset.
    let host = 0x1_0000_0000u64;
    rig.board.set_windows(28, vec![host; 4]);
    let data: Vec<u8> = (0..10_000u32).map(|i| (i * 7) as u8).collect();
    rig.board.ddr_mut().write(0, &data).unwrap();
    rig.board.bus_mut().allow(
        host + 0x10_0000..host + 0x12_0000,
        peerlane_sim::Access::Both,
    );
    let code = 1u64;
    rig.entry(0, ((2 << 28) + 0x10_0000) | (code << 3) | 7);
    rig.queue(
        false,
        Descriptor {
            peer: code << 62,
            local: 0,
            length: 10_000,
            control: 0,
            cookie: 0,
        },
    );
    rig.board.run(20_000).unwrap();
    let mut got = vec![0; data.len()];
    rig.board
        .host_mut()
        .read(host + 0x10_0000, &mut got)
        .unwrap();
    same("through window 2", &got, &data);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn both_directions_at_once_with_queued_descriptors() {
    both_directions(&Params::default());
}

/// Tests both directions, cut at random; a record of a write says that its data are there.
pub fn both_directions(params: &Params) {
    let library = library(params);
    let mut config = BoardConfig::default();
    config.txs.backpressure = Backpressure::Random(10);
    config.ddr.jitter = 8;
    let mut rig = Rig::new(&library, config);
    let peer = rig.map_gpu(0, 4 * MIB);
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut out = vec![0; MIB as usize];
    let mut back = vec![0; MIB as usize];
    rng.fill_bytes(&mut out);
    rng.fill_bytes(&mut back);
    rig.board.ddr_mut().write(0, &out).unwrap();
    rig.board.gpu_mut().write(2 * MIB, &back).unwrap();
    let mut pieces = vec![];
    let mut at = 0u64;
    while at < MIB {
        let length = rng.random_range(1..20_000u64);
        let length = length.next_multiple_of(grain(params)).min(MIB - at);
        pieces.push((at, length));
        at += length;
    }
    for (i, (at, length)) in pieces.iter().enumerate() {
        for read in [false, true] {
            rig.queue(
                read,
                Descriptor {
                    peer: peer + at + if read { 2 * MIB } else { 0 },
                    local: at + if read { 16 * MIB } else { 0 },
                    length: *length as u32,
                    control: RECORD | IRQ,
                    cookie: i as u32,
                },
            );
        }
    }
    let mut next = [0u32; 2];
    for sequence in 0..2 * pieces.len() as u32 {
        let record = rig.wait(200_000);
        let n = &mut next[usize::from(record.read)];
        assert_eq!(
            (record.code, record.cookie, record.sequence),
            (0, *n, sequence)
        );
        assert_eq!(u64::from(record.bytes), pieces[*n as usize].1);
        *n += 1;
        // A record of a write says that its data are there, now.
        if !record.read {
            let (at, length) = pieces[record.cookie as usize];
            let mut got = vec![0; length as usize];
            rig.board.gpu_mut().read(at, &mut got).unwrap();
            same(
                "at its record",
                &got,
                &out[at as usize..(at + length) as usize],
            );
        }
    }
    let mut got = vec![0; MIB as usize];
    rig.board.gpu_mut().read(0, &mut got).unwrap();
    same("FPGA to GPU", &got, &out);
    rig.board.ddr_mut().read(16 * MIB, &mut got).unwrap();
    same("GPU to FPGA", &got, &back);
    assert_eq!(rig.poll(), None);
}

/// Both directions alone reach the limits of the bridge of `Txs`: its cycles for a burst of 512 bytes, and eight reads
/// in flight.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn bulk_runs_at_the_speed_of_the_bridge() {
    let library = library(&Params::default());
    for completion_bytes in [64, 256] {
        let mut config = BoardConfig::default();
        config.link.completion_bytes = completion_bytes;
        let rates = BridgeRates::of(&config, 16);
        let mut rig = Rig::new(&library, config);
        let peer = rig.map_gpu(0, 4 * MIB);
        for read in [false, true] {
            let before = rig.board.stats();
            for i in 0..4u64 {
                rig.queue(
                    read,
                    Descriptor {
                        peer: peer + i * MIB,
                        local: i * MIB,
                        length: MIB as u32,
                        control: if i == 3 { RECORD | IRQ } else { 0 },
                        cookie: 0,
                    },
                );
            }
            let record = rig.wait(4 * MIB);
            assert_eq!(record.code, 0);
            let stats = rig.board.stats();
            let (rate, ceiling) = if read {
                (stats.read_rate(&before), rates.read())
            } else {
                (stats.write_rate(&before), rates.write(512))
            };
            println!("read {read}: {:.3} of the ceiling", rate / ceiling);
            assert!(
                rate > 0.98 * ceiling,
                "read {read}: {rate:.3e} of {ceiling:.3e} B/s"
            );
        }
    }
}
