//! A reset of one side of the block: answers that the other side owes are dropped, bursts that it was promised are
//! completed, and none of them is taken for another one later.

use crate::channels::{descriptor, map_for, rig_with};
use crate::fence::fence;
use crate::rig::{IRQ, MIB, RECORD, Rig, library, near, same};
use crate::stream::{self, ports};
use peerlane_core::regs::csr;
use peerlane_hdl::{Irq, Params};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits, LinkConfig, Side, Space};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const QUARANTINE: u32 = 1 << 2;
const ATT_INVALID: u8 = 3;

/// Returns a board whose memory and peers answer late and accept nothing in most cycles.
fn slow(rng: &mut ChaCha8Rng) -> BoardConfig {
    let mut config = BoardConfig {
        link: LinkConfig {
            max_read_request: 512,
            ..LinkConfig::default()
        },
        seed: rng.random(),
        ..BoardConfig::default()
    };
    let mut hold = || match rng.random_range(0..3) {
        0 => Backpressure::None,
        1 => Backpressure::Random(rng.random_range(50..99)),
        _ => Backpressure::Pattern {
            bits: !1,
            len: rng.random_range(2..60),
        },
    };
    config.ddr.backpressure = hold();
    config.txs.backpressure = hold();
    config.stream.backpressure = hold();
    config.ddr.latency = [40, 300, 6000][rng.random_range(0..3)];
    config.gpu.read_round_trip_ns = [1000, 5000, 40_000][rng.random_range(0..3)];
    config
}

/// Runs random transfers, and compares them byte for byte, with the bytes before and after them.
fn works(rig: &mut Rig, rng: &mut ChaCha8Rng, pages: &[u64], transfers: u32) {
    const BESIDE: usize = 64;
    rig.csr(csr::ATT_OWNER_LO, 1);
    let peer = rig.map(16, pages, 3);
    for _ in 0..transfers {
        let length = rng.random_range(1..6000u32);
        let [offset, local] = [0; 2].map(|_| rng.random_range(BESIDE as u64..MIB - 6100));
        // Writes that any port can do.
        let (length, offset) = (length.next_multiple_of(4), offset / 4 * 4);
        let mut data = vec![0; length as usize];
        rng.fill_bytes(&mut data);
        let mut want = vec![0xC3; length as usize + 2 * BESIDE];
        let [from, to] = [offset, local].map(|at| at - BESIDE as u64);
        let read = rng.random();
        if read {
            rig.board.gpu_mut().write(MIB + offset, &data).unwrap();
            rig.board.ddr_mut().write(to, &want).unwrap();
        } else {
            rig.board.ddr_mut().write(local, &data).unwrap();
            rig.board.gpu_mut().write(MIB + from, &want).unwrap();
        }
        want[BESIDE..][..length as usize].copy_from_slice(&data);
        let d = descriptor(peer + offset, local, length, RECORD | IRQ, length);
        rig.queue(read, d);
        let record = rig.wait(2_000_000);
        assert_eq!((record.code, record.bytes), (0, length), "{record:?}");
        let mut got = vec![0; want.len()];
        if read {
            rig.board.ddr_mut().read(to, &mut got).unwrap();
        } else {
            rig.board.gpu_mut().read(MIB + from, &mut got).unwrap();
        }
        same("after the reset", &got, &want);
    }
}

/// Resets one side in the middle of everything.
pub fn survives(params: &Params, side: Side, seed: u64, rounds: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for round in 0..rounds {
        let config = slow(&mut rng);
        let late = config.gpu.read_round_trip_ns / 4 + 6000;
        let mut rig = rig_with(params, config);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        for channel in 0..3 {
            for cookie in 0..6 {
                let (offset, local) = (rng.random_range(0..1000), rng.random_range(0..1000));
                let length = rng.random_range(1..7500) * 4;
                let d = descriptor(peer + offset / 4 * 4, local, length, RECORD, cookie);
                rig.queue_on(channel, rng.random(), d);
            }
        }
        rig.board.run(rng.random_range(200..12_000)).unwrap();
        rig.board.reset_side(side).unwrap();
        rig.restart();
        // Nothing of the mappings is left.
        rig.queue(false, descriptor(peer, 0, 64, RECORD, 7));
        let record = rig.wait(2_000_000);
        assert_eq!(record.code, ATT_INVALID, "round {round}");
        // A read port that is owed completions opens when they have come.
        let mut waited = 0;
        while rig.read_csr(csr::STATUS) & QUARANTINE != 0 {
            rig.board.run(500).unwrap();
            waited += 500;
            assert!(waited < late + 100_000, "the port stays closed");
        }
        let pages = rig.board.gpu_mut().pin(MIB, MIB).unwrap();
        works(&mut rig, &mut rng, &pages, 6);
        rig.board.run(2000).unwrap();
        assert_eq!(rig.poll(), None);
        assert_eq!(rig.read_csr(csr::STATUS), 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_pcie_side_alone_leaves_nothing_behind() {
    for (seed, params) in ports().iter().enumerate() {
        survives(params, Side::Pcie, seed as u64, 3);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_memory_side_alone_leaves_nothing_behind() {
    for (seed, params) in ports().iter().enumerate() {
        survives(params, Side::Memory, 100 + seed as u64, 3);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_one_side_in_any_cycle_leaves_nothing_behind() {
    in_any_cycle(17);
}

/// Resets one side in the cycles of a short transfer, one of each `step` and other ones in every run, with memory that
/// answers long after the reset is over.
pub fn in_any_cycle(step: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for params in [Params::default(), stream::params(128)] {
        for side in [Side::Pcie, Side::Memory] {
            let mut config = BoardConfig {
                link: LinkConfig {
                    mmio_latency_ns: 0,
                    max_read_request: 512,
                    ..LinkConfig::default()
                },
                ..BoardConfig::default()
            };
            config.ddr.latency = 120;
            config.ddr.backpressure = Backpressure::Random(70);
            config.txs.backpressure = Backpressure::Random(70);
            config.stream.backpressure = Backpressure::Random(70);
            config.txs.response_gaps = 70;
            config.stream.answer_gaps = 70;
            let mut rig = rig_with(&params, config);
            let pages = rig.board.gpu_mut().pin(0, 2 * MIB).unwrap();
            let first = rand::random_range(0..step as u64);
            eprintln!("{side:?}, every {step}th cycle from {first}");
            for cycles in (first..600).step_by(step) {
                rig.csr(csr::ATT_OWNER_LO, 1);
                let peer = rig.map(16, &pages[..2], 3);
                for (read, length) in [(true, 1500), (false, 1500), (true, 100), (false, 100)] {
                    rig.queue(read, descriptor(peer + 40, 24, length, RECORD, 1));
                }
                rig.board.drain_host().unwrap();
                rig.board.run(cycles).unwrap();
                rig.board.reset_side(side).unwrap();
                rig.restart();
                while rig.read_csr(csr::STATUS) & QUARANTINE != 0 {
                    rig.board.run(100).unwrap();
                }
                works(&mut rig, &mut rng, &pages[16..], 2);
                if rig.next_entry() > 3900 {
                    rig.reuse_entries();
                }
            }
        }
    }
}

/// A board that loses the right to be bus master in the middle of everything: its registers are read all the same, a
/// reset of the block drains it, and no request that was under way leaves when it has the right again.
pub fn cut_off(params: &Params, config: &BoardConfig) {
    for cycles in [300, 1777, 5000] {
        let mut rig = Rig::new(&library(params), config.clone());
        let peer = rig.map_gpu(0, 4 * MIB);
        for read in [false, true] {
            for cookie in 0..10 {
                let d = descriptor(peer, 0, 2 * MIB as u32, RECORD | IRQ, cookie);
                rig.queue(read, d);
            }
        }
        rig.board.run(cycles).unwrap();
        rig.board.bus_mut().set_master(false);
        rig.board.run(cycles).unwrap();
        assert_eq!(rig.read_csr(csr::BUILD_ID), params.build_id());
        rig.csr(csr::CONTROL, 1 << 8);
        rig.board.run(20_000).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS), 0);
        // The memory gets another owner in that time, and the next start finds its contents unchanged.
        let mine = vec![0xA5; 2 * MIB as usize];
        rig.board.gpu_mut().write(0, &mine).unwrap();
        rig.board.bus_mut().set_master(true);
        rig.restart();
        rig.board.run(5000).unwrap();
        assert_eq!(rig.poll(), None);
        let mut got = vec![0; mine.len()];
        rig.board.gpu_mut().read(0, &mut got).unwrap();
        same("memory of the other owner", &got, &mine);
        let peer = rig.map_gpu(2 * MIB, MIB);
        rig.transfer(false, peer, 0, 5000);
        rig.transfer(true, peer, 0, 5000);
        rig.board.check().unwrap();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_board_that_is_no_bus_master_is_drained_by_a_reset() {
    for params in [stream::params(128), stream::params(256)] {
        cut_off(&params, &BoardConfig::default());
    }
}

/// At `Txs` requests wait. The board goes on where it was when it is bus master again in time; else its port opens by
/// itself: no reset, and nothing is written outside the transfers' bytes.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_txs_board_that_is_bus_master_again_goes_on() {
    const LENGTH: u32 = 100_000;
    for (cycles, in_time) in [(300, true), (300, false), (1777, false), (5001, true)] {
        let mut rng = ChaCha8Rng::seed_from_u64(cycles);
        let mut rig = Rig::new(&library(&Params::default()), near());
        let peer = rig.map_gpu(0, MIB);
        rig.csr(csr::PORT_TIMEOUT, 2000);
        let mut data = vec![0; LENGTH as usize];
        rng.fill_bytes(&mut data);
        let before = vec![0xA5; MIB as usize];
        rig.board.gpu_mut().write(0, &before).unwrap();
        rig.board.ddr_mut().write(5, &data).unwrap();
        // An interrupt that waits in the bridge would hold the answers to the host's reads.
        rig.csr(csr::CONTROL, 0b01);
        rig.queue(false, descriptor(peer + 20, 5, LENGTH, RECORD, 1));
        let back = descriptor(peer + MIB / 2, MIB, LENGTH, RECORD, 2);
        rig.queue(true, back);
        rig.board.run(cycles).unwrap();
        rig.board.bus_mut().set_master(false);
        rig.board.run(if in_time { 1500 } else { 20_000 }).unwrap();
        assert_eq!(rig.read_csr(csr::BUILD_ID), Params::default().build_id());
        if !in_time {
            // The reads that were taken may have been answered.
            let dead = csr::STATUS_PORT_DEAD_MASK | csr::STATUS_PORT_LOST_MASK;
            assert_eq!(rig.read_csr(csr::STATUS) & !QUARANTINE, dead);
            // Not by a soft reset.
            rig.csr(csr::CONTROL, 0b01 | 1 << 8);
            rig.board.run(1000).unwrap();
            assert_eq!(rig.read_csr(csr::STATUS) & !QUARANTINE, dead);
        }
        rig.board.bus_mut().set_master(true);
        if in_time {
            for _ in 0..2 {
                let record = rig.wait(200_000);
                assert_eq!((record.code, record.bytes), (0, LENGTH));
            }
        } else {
            rig.board.run(3000).unwrap();
            let lost = csr::STATUS_PORT_LOST_MASK;
            assert_eq!(rig.read_csr(csr::STATUS), lost);
        }
        let mut there = before.clone();
        rig.board.gpu_mut().read(0, &mut there).unwrap();
        let (end, whole) = (20 + LENGTH as usize, there.len());
        same("before it", &there[..20], &before[..20]);
        same("after it", &there[end..], &before[end..whole]);
        if in_time {
            same("the sent data", &there[20..end], &data);
        }
        rig.open_channel(0);
        let pages = rig.board.gpu_mut().pin(MIB, MIB).unwrap();
        works(&mut rig, &mut rng, &pages, 4);
        rig.board.check().unwrap();
    }
}

/// Completions that never come keep the reads closed, until the hard IP is reset; writes work in that time.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_a_reset_leaves_owed_for_ever_closes_the_reads_until_the_link_is_reset() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut rig = rig_with(&Params::default(), BoardConfig::default());
    let peer = map_for(&mut rig, 1, 0, MIB);
    rig.board.bus_mut().inject(FaultRule {
        hits: Hits::Nth(1),
        answer: Answer::Never,
    });
    rig.queue(true, descriptor(peer, 0, 8192, RECORD, 1));
    rig.board.run(2000).unwrap();
    rig.board.reset_side(Side::Memory).unwrap();
    rig.board.bus_mut().clear_faults();
    rig.restart();
    assert_eq!(rig.read_csr(csr::STATUS) & QUARANTINE, QUARANTINE);
    let peer = map_for(&mut rig, 1, 0, MIB);
    rig.queue(false, descriptor(peer, 0, 5000, RECORD | 1 << 2, 2));
    assert_eq!(rig.wait(50_000).code, 0);
    rig.queue(true, descriptor(peer, 0, 5000, RECORD, 3));
    assert_eq!(rig.wait(50_000).code, 8);
    rig.csr(csr::QUARANTINE, 1);
    rig.board.run(2000).unwrap();
    assert_eq!(rig.read_csr(csr::STATUS), QUARANTINE);
    rig.board.reset_side(Side::Pcie).unwrap();
    rig.restart();
    assert_eq!(rig.read_csr(csr::STATUS), 0);
    let pages = rig.board.gpu_mut().pin(MIB, MIB).unwrap();
    works(&mut rig, &mut rng, &pages, 6);
    // The window into FPGA memory is not concerned.
    rig.board.window_write(0, &[7; 64]).unwrap();
    let mut bytes = [0; 64];
    rig.board.window_read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 64]);
    assert_eq!(
        rig.board
            .bar_read32(Space::Csr, csr::STATUS as u64)
            .unwrap(),
        0
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_pcie_side_sends_no_command_to_a_slow_memory() {
    slow_memory((0..60).step_by(7));
}

/// A memory whose clock is slow sees the reset late: until then nothing of it may show, or the memory gets a command
/// that the engine never gave.
pub fn slow_memory(rounds: impl Iterator<Item = u64> + Clone) {
    for clk_ps in [2500, 5000, 8500, 10_000, 13_000, 16_000] {
        for round in rounds.clone() {
            let mut config = BoardConfig { clk_ps, ..near() };
            config.ddr.latency = 20;
            let mut rig = rig_with(&Params::default(), config);
            let peer = map_for(&mut rig, 0xFF, 0, MIB);
            let length = 1000 + 80 * round as u32;
            for read in [true, false] {
                rig.queue(read, descriptor(peer, 24, length, RECORD, 1));
            }
            // Each round with other phases of the clocks.
            rig.board.run(200 + round * 13).unwrap();
            let reset = rig.board.reset_side(Side::Pcie);
            if let Err(error) = reset.and_then(|()| rig.board.run(500)) {
                panic!("{clk_ps} ps, round {round}: {error}");
            }
        }
    }
}

/// The operating system writes the vectors once, and again only when it has reset the function.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_memory_side_masks_no_vector() {
    let params = Params {
        irq: Irq::Msix,
        ..Params::default()
    };
    let mut rig = rig_with(&params, near());
    rig.board.set_msix(true, false);
    let control = 2 * 16 + 12;
    for (word, value) in [0xFEE0_1000, 0, 0x4000, 0].into_iter().enumerate() {
        let at = 2 * 16 + word as u64 * 4;
        rig.board.bar_write32(Space::Msix, at, value).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(rig.board.bar_read32(Space::Msix, control).unwrap(), 0);
        let peer = map_for(&mut rig, 1, 0, MIB);
        rig.board.take_messages();
        rig.queue(false, descriptor(peer, 0, 64, RECORD | IRQ, 1));
        rig.wait(20_000);
        rig.board.run(2000).unwrap();
        assert_eq!(rig.board.take_messages().len(), 1);
        rig.board.reset_side(Side::Memory).unwrap();
        rig.restart();
    }
    rig.board.reset_side(Side::Pcie).unwrap();
    rig.restart();
    assert_eq!(rig.board.bar_read32(Space::Msix, control).unwrap(), 1);
}

/// A read is on the bus, untaken, when the port is given up. It is answered when the port goes on, and that answer is
/// dropped.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_stands_at_a_dead_port_answers_no_other() {
    for cycles in 20..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(cycles);
        let mut rig = rig_with(&Params::default(), near());
        let peer = map_for(&mut rig, 1, 0, MIB);
        rig.board.gpu_mut().write(0, &[0x11; 8192]).unwrap();
        rig.csr(csr::PORT_TIMEOUT, 500);
        rig.queue(true, descriptor(peer, 0, 8192, 0, 1));
        rig.board.drain_host().unwrap();
        rig.board.run(cycles).unwrap();
        rig.board.set_txs_backpressure(Backpressure::Random(100));
        rig.board.run(3000).unwrap();
        let status = rig.read_csr(csr::STATUS);
        let lost = csr::STATUS_PORT_LOST_MASK;
        let stands = csr::STATUS_PORT_DEAD_MASK | lost | QUARANTINE;
        assert!(status == stands || status == 0, "{status:#x}");
        // A reset from the side of the memory keeps all of this state, except that the port was dead before.
        let mut left = status & lost;
        if cycles % 2 == 0 {
            rig.board.reset_side(Side::Memory).unwrap();
            rig.restart();
            left = 0;
        }
        rig.csr(csr::QUARANTINE, 1);
        rig.board.set_txs_backpressure(Backpressure::None);
        rig.board.run(3000).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS), left, "after {cycles} cycles");
        rig.open_channel(0);
        let pages = rig.board.gpu_mut().pin(MIB, MIB).unwrap();
        works(&mut rig, &mut rng, &pages, 2);
    }
}

/// The process that has the window does not know of a reset by others, and continues to store.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn no_reset_moves_the_window_to_memory_of_another() {
    type Reset = fn(&mut Rig);
    let resets: [Reset; 4] = [
        |rig| rig.board.reset_side(Side::Memory).unwrap(),
        |rig| rig.board.reset_side(Side::Pcie).unwrap(),
        |rig| rig.board.reset().unwrap(),
        |rig| {
            rig.csr(csr::CONTROL, csr::CONTROL_RESET_MASK);
            rig.board.run(500).unwrap();
        },
    ];
    // With the value of only one of the two registers, the window would be in memory of another process.
    let params = Params {
        memory_log2: 33,
        ..Params::default()
    };
    let mut config = near();
    config.ddr.bytes = 1 << 33;
    let mut rig = rig_with(&params, config);
    let (high, low) = (1, 5 << 16);
    let mine = u64::from(high) << 32 | u64::from(low);
    let others = [0, u64::from(low), u64::from(high) << 32];
    let his = [9; 64];
    for other in others {
        rig.board.ddr_mut().write(other, &his).unwrap();
    }
    rig.csr(csr::WINDOW_LO, low);
    rig.csr(csr::WINDOW_HI, high);
    assert_eq!(rig.read_csr(csr::WINDOW_HI), high);
    for (round, reset) in resets.into_iter().enumerate() {
        reset(&mut rig);
        let stored = [round as u8 + 1; 64];
        rig.board.window_write(0, &stored).unwrap();
        let mut bytes = [0; 64];
        rig.board.window_read(0, &mut bytes).unwrap();
        assert_eq!(bytes, stored, "round {round}");
        rig.board.ddr_mut().read(mine, &mut bytes).unwrap();
        assert_eq!(bytes, stored, "round {round}");
        for other in others {
            rig.board.ddr_mut().read(other, &mut bytes).unwrap();
            assert_eq!(bytes, his, "round {round}, {other:#x}");
        }
        let stands = (rig.read_csr(csr::WINDOW_HI), rig.read_csr(csr::WINDOW_LO));
        assert_eq!(stands, (high, low), "round {round}");
    }
}

/// A fence counts the requests under way: those from before a reset are not among them.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_fence_ends_after_a_reset_in_the_middle_of_requests() {
    for params in ports() {
        for side in [Side::Pcie, Side::Memory] {
            // Nothing is answered before the reset.
            let mut config = near();
            config.gpu.read_round_trip_ns = 40_000;
            config.ddr.latency = 6000;
            let mut rig = rig_with(&params, config);
            for _ in 0..2 {
                let peer = map_for(&mut rig, 0xFF, 0, MIB);
                for read in [false, true] {
                    rig.queue(read, descriptor(peer, 0, 20_000, RECORD, 1));
                }
                rig.board.run(1000).unwrap();
                rig.board.reset_side(side).unwrap();
                rig.restart();
                fence(&mut rig, None);
            }
        }
    }
}
