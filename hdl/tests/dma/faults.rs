//! A fault ends the descriptor that it concerns, with a code, and nothing else.

use crate::rig::{Descriptor, IRQ, MIB, RECORD, Record, Rig, library, same};
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::Params;
use peerlane_sim::{Answer, BoardConfig, FaultRule, Hits, Side, Space};

const LENGTH: u8 = 1;
const ATT_BOUNDS: u8 = 2;
const ATT_INVALID: u8 = 3;
const ATT_OWNER: u8 = 4;
const ATT_PERMISSION: u8 = 5;
const ATT_PAGE_SIZE: u8 = 6;
const READ_TIMEOUT: u8 = 7;
const PORT_DOWN: u8 = 8;
const ABORTED: u8 = 9;
const DESCRIPTOR: u8 = 10;
const FLUSH: u8 = 11;

const QUARANTINE_BIT: u32 = 1 << 2;

fn rig() -> Rig {
    Rig::new(&library(&Params::default()), BoardConfig::default())
}

fn run(rig: &mut Rig, read: bool, peer: u64, local: u64, length: u32, control: u32) -> Record {
    rig.queue(
        read,
        Descriptor {
            peer,
            local,
            length,
            control: control | RECORD | IRQ,
            cookie: 77,
        },
    );
    let record = rig.wait(100_000);
    assert_eq!((record.cookie, record.read), (77, read));
    record
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_the_att_does_not_grant_does_not_happen() {
    let mut rig = rig();
    let host = 0x1_2000_0000u64;
    let good = rig.map(12, &[host, host + 0x1000], 3);
    let read_only = rig.map(12, &[host + 0x2000], 1);
    let write_only = rig.map(12, &[host + 0x3000], 2);
    rig.csr(csr::ATT_OWNER_LO, 0b10);
    let foreign = rig.map(12, &[host + 0x4000], 3);
    rig.csr(csr::ATT_OWNER_LO, 0b01);
    let none = 100u64 << 12;
    let beyond = 4096u64 << 12;
    let large = (1u64 << 62) | good;
    for read in [false, true] {
        for (peer, code) in [
            (if read { write_only } else { read_only }, ATT_PERMISSION),
            (foreign, ATT_OWNER),
            (none, ATT_INVALID),
            (beyond, ATT_BOUNDS),
            (large, ATT_PAGE_SIZE),
        ] {
            let record = run(&mut rig, read, peer + 8, 0, 100, 0);
            assert_eq!(
                (record.code, record.bytes, record.fault),
                (code, 0, peer + 8)
            );
        }
        // Half of it is granted: the first half moves, and the record says how far.
        let record = run(&mut rig, read, good + 0x1F00, 0, 0x300, 0);
        let code = if read { 0 } else { ATT_PERMISSION };
        if read {
            // The next page is readable.
            assert_eq!((record.code, record.bytes), (code, 0x300));
        } else {
            assert_eq!(
                (record.code, record.bytes, record.fault),
                (code, 0x100, good + 0x2000)
            );
        }
        assert_eq!(run(&mut rig, read, good, 0, 4096, 0).code, 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_descriptor_of_garbage_is_one() {
    let mut rig = rig();
    let peer = rig.map_gpu(0, MIB);
    for read in [false, true] {
        for (d_peer, local, length, control, code) in [
            (peer, 0, 0, 0, LENGTH),
            (peer, (1 << 32) - 64, 65, 0, LENGTH),
            (peer, 1 << 32, 1, 0, LENGTH),
            (peer, 1 << 40, 64, 0, DESCRIPTOR),
            (peer, 1 << 60, 64, 0, DESCRIPTOR),
            (peer | 1 << 40, 0, 64, 0, DESCRIPTOR),
            (peer | 3 << 62, 0, 64, 0, DESCRIPTOR),
            (peer, 0, 64, 1 << 6, DESCRIPTOR),
            (peer, 0, 64, 1 << 31, DESCRIPTOR),
        ] {
            let record = run(&mut rig, read, d_peer, local, length, control);
            assert_eq!((record.code, record.bytes), (code, 0), "{record:?}");
        }
    }
    assert_eq!(run(&mut rig, true, peer, 0, 5000, 0).code, 0);
}

/// A descriptor may end with FPGA memory, and not a byte later.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_last_byte_of_memory_is_moved() {
    let params = Params {
        memory_log2: 31,
        ..Params::default()
    };
    let mut rig = Rig::new(&library(&params), BoardConfig::default());
    let peer = rig.map_gpu(0, MIB);
    for read in [false, true] {
        for (bytes, code, moved) in [(64, 0, 64), (65, LENGTH, 0)] {
            let record = run(&mut rig, read, peer, (1 << 31) - 64, bytes, 0);
            assert_eq!((record.code, record.bytes), (code, moved), "{record:?}");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_that_is_never_answered_ends_and_the_rest_goes_on() {
    for hit in [0, 3, 15] {
        let mut rig = rig();
        let peer = rig.map_gpu(0, MIB);
        rig.csr(csr::PORT_TIMEOUT, 2000);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(hit),
            answer: Answer::Never,
        });
        let record = run(&mut rig, true, peer, 0, 8192, 0);
        assert_eq!(record.code, READ_TIMEOUT, "{record:?}");
        assert!(
            record.bytes < 8192 && record.bytes.is_multiple_of(512),
            "{record:?}"
        );
        assert_eq!(record.fault, peer + u64::from(record.bytes));
        assert_ne!(rig.read_csr(csr::STATUS) & QUARANTINE_BIT, 0);
        // Reads fail at once, writes work; a write that wants its flush reports that it had none.
        assert_eq!(run(&mut rig, true, peer, 0, 64, 0).code, PORT_DOWN);
        assert_eq!(run(&mut rig, false, peer, 0, 4096, 1 << 2).code, 0);
        let unconfirmed = run(&mut rig, false, peer, 0, 4096, 0);
        assert_eq!((unconfirmed.code, unconfirmed.bytes), (FLUSH, 4096));
        // Software cannot release the reads that the bridge waits for, and no other read leaves.
        let asked = rig.board.stats().read_requests;
        for _ in 0..9 {
            rig.csr(csr::QUARANTINE, 1);
            rig.board.run(50).unwrap();
            assert_ne!(rig.read_csr(csr::STATUS) & QUARANTINE_BIT, 0);
            assert_eq!(run(&mut rig, true, peer, 0, 64, 0).code, PORT_DOWN);
        }
        assert_eq!(rig.board.stats().read_requests, asked);
        // The driver resets the link, and with it the hard IP and the block's side of it.
        rig.board.bus_mut().clear_faults();
        rig.board.reset_side(Side::Pcie).unwrap();
        rig.restart();
        assert_eq!(rig.read_csr(csr::STATUS) & QUARANTINE_BIT, 0);
        let peer = rig.map_gpu(0, MIB);
        let data: Vec<u8> = (0..8192u32).map(|i| ((i * 31) >> 3) as u8).collect();
        rig.board.gpu_mut().write(0, &data).unwrap();
        rig.transfer(true, peer, 0x4000, 8192);
        let mut got = vec![0; 8192];
        rig.board.ddr_mut().read(0x4000, &mut got).unwrap();
        same("after recovery", &got, &data);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn late_answers_are_not_taken_for_new_ones() {
    // Lengths whose owed beats do and do not fill the counters that see them go by.
    for (length, nth) in [(8192u32, 5), (8000, 5), (5000, 3), (700, 0), (64, 0)] {
        let mut rig = rig();
        let peer = rig.map_gpu(0, MIB);
        rig.csr(csr::PORT_TIMEOUT, 1000);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(nth),
            answer: Answer::Late(40_000),
        });
        rig.board.gpu_mut().write(0, &[0x11; 8192]).unwrap();
        let record = run(&mut rig, true, peer, 0, length, 0);
        assert_eq!(record.code, READ_TIMEOUT);
        // The port opens by itself when all owed beats have come.
        let mut waited = 0;
        while rig.read_csr(csr::STATUS) & QUARANTINE_BIT != 0 {
            rig.board.run(500).unwrap();
            waited += 500;
            assert!(waited < 100_000, "the port stays closed");
        }
        let data: Vec<u8> = (0..8192u32).map(|i| ((i * 13) >> 2) as u8).collect();
        rig.board.gpu_mut().write(0, &data).unwrap();
        // Short ones first: a wrong count of the late beats would use up the reads in flight.
        for after in [16; 10].into_iter().chain([8192]) {
            rig.transfer(true, peer, 0x4000, after);
            let mut got = vec![0; after as usize];
            rig.board.ddr_mut().read(0x4000, &mut got).unwrap();
            same("after the late ones", &got, &data[..after as usize]);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_refused_read_cannot_hang_the_block() {
    // A completer without data may give all ones or any value.
    for answer in [Answer::AllOnes, Answer::Garbage] {
        let mut rig = rig();
        let peer = rig.map_gpu(0, MIB);
        rig.board.bus_mut().inject(FaultRule {
            hits: Hits::Nth(2),
            answer,
        });
        assert_eq!(run(&mut rig, true, peer, 0, 8192, 0).code, 0);
        assert_eq!(run(&mut rig, true, peer, 0, 8192, 0).code, 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_full_queue_refuses_and_loses_nothing() {
    for read in [false, true] {
        let mut rig = rig();
        let peer = rig.map_gpu(0, 4 * MIB);
        let queue = |rig: &mut Rig, length: u32, cookie: u32| {
            rig.queue(
                read,
                Descriptor {
                    peer,
                    local: 0,
                    length,
                    control: RECORD,
                    cookie,
                },
            );
        };
        // One long descriptor holds the engine, 128 fill the channel's share of the ring.
        queue(&mut rig, 4 * MIB as u32, 0);
        rig.board.run(500).unwrap();
        for cookie in 1..=140 {
            queue(&mut rig, 64, cookie);
        }
        let at = if read { 16 } else { 0 };
        let free = rig
            .board
            .bar_read32(Space::Chan, chan::QUEUE_FREE as u64)
            .unwrap();
        assert_eq!(free >> at & 0xFFFF, 0);
        let refused = rig
            .board
            .bar_read32(Space::Chan, chan::REFUSED as u64)
            .unwrap();
        assert_eq!(refused, 1 << u32::from(read));
        for cookie in 0..=128 {
            let record = rig.wait(3_000_000);
            assert_eq!((record.code, record.cookie), (0, cookie));
        }
        rig.board.run(5000).unwrap();
        assert_eq!(rig.poll(), None);
        rig.board
            .bar_write32(Space::Chan, chan::REFUSED as u64, refused)
            .unwrap();
        queue(&mut rig, 64, 5000);
        assert_eq!(rig.wait(10_000).cookie, 5000);
        let refused = rig
            .board
            .bar_read32(Space::Chan, chan::REFUSED as u64)
            .unwrap();
        assert_eq!(refused, 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_soft_reset_ends_every_descriptor() {
    soft_reset(&Params::default());
}

/// Runs a soft reset in the middle of everything.
pub fn soft_reset(params: &Params) {
    for cycles in [0, 7, 100, 1234] {
        let mut rig = Rig::new(&library(params), BoardConfig::default());
        let peer = rig.map_gpu(0, 4 * MIB);
        for read in [false, true] {
            for cookie in 0..20 {
                rig.queue(
                    read,
                    Descriptor {
                        peer,
                        local: 0,
                        length: 2 * MIB as u32,
                        control: RECORD,
                        cookie,
                    },
                );
            }
        }
        rig.board.run(2000 + cycles).unwrap();
        rig.csr(csr::CONTROL, 0b11 | 1 << 8);
        rig.board.run(20_000).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS), 0);
        let mut aborted = 0;
        while let Some(record) = rig.poll() {
            assert_eq!(record.code, ABORTED, "{record:?}");
            assert!(record.bytes < 2 * MIB as u32);
            assert!(record.cookie == 0 || record.bytes == 0);
            aborted += 1;
        }
        assert_eq!(aborted, 40, "each descriptor has one end");
        rig.transfer(false, peer, 0, 5000);
        rig.transfer(true, peer, 0, 5000);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_hard_reset_at_any_moment_leaves_a_clean_block() {
    let mut rig = rig();
    for cycles in [1, 40, 333, 2048, 5001] {
        let peer = rig.map_gpu(0, MIB);
        for read in [false, true] {
            for cookie in 0..3 {
                rig.queue(
                    read,
                    Descriptor {
                        peer,
                        local: 0,
                        length: MIB as u32,
                        control: RECORD | IRQ,
                        cookie,
                    },
                );
            }
        }
        rig.board.run(cycles).unwrap();
        rig.board.reset().unwrap();
        rig.restart();
        // Nothing is left of the mappings and descriptors.
        assert_eq!(run(&mut rig, false, peer, 0, 64, 0).code, ATT_INVALID);
        let fresh = rig.map_gpu(MIB, MIB);
        rig.transfer(false, fresh, 0, 9000);
        rig.transfer(true, fresh, 0, 9000);
        rig.board.run(2000).unwrap();
        assert_eq!(rig.poll(), None);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_ring_laps_and_the_interrupt_follows() {
    let mut rig = rig();
    let peer = rig.map_gpu(0, MIB);
    let mut cookie = 0;
    for batch in 0..45 {
        for _ in 0..50 {
            for read in [false, true] {
                rig.queue(
                    read,
                    Descriptor {
                        peer,
                        local: 0,
                        length: 64,
                        control: RECORD,
                        cookie,
                    },
                );
            }
            cookie += 1;
        }
        for _ in 0..100 {
            let record = rig.wait(10_000);
            assert_eq!(record.code, 0);
        }
        assert!(!rig.board.irq());
        assert_eq!(rig.board.irqs(), batch);
        assert_eq!(run(&mut rig, false, peer, 0, 64, 0).code, 0);
        rig.board.run(50).unwrap();
        assert!(rig.board.irq());
        rig.csr(csr::IRQ_STATUS, 0b111);
        rig.board.run(500).unwrap();
        assert!(!rig.board.irq());
    }
    assert_eq!(rig.poll(), None);
}
