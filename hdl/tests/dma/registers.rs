//! Values of registers in the cycle after an access that changes them, and while the last beat of a descriptor waits at
//! a port that does not take it.

use crate::rig::{Descriptor, MIB, RECORD, Rig, library, near};
use crate::stream::ports;
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Backpressure, Space};

const IRQ: u32 = 1 << 1;
const NO_FLUSH: u32 = 1 << 2;
const BUSY: u32 = 1 << 4 | 0b11;

fn stop(rig: &mut Rig, port: Port, stopped: bool) {
    let backpressure = if stopped {
        Backpressure::Random(100)
    } else {
        Backpressure::None
    };
    match port {
        Port::Txs => rig.board.set_txs_backpressure(backpressure),
        Port::Stream | Port::Tlp => rig.board.set_stream_backpressure(backpressure),
    }
}

/// Writes to the CSR, and reads a register in the cycle after the last write.
fn after(rig: &mut Rig, writes: &[(Space, usize, u32)], register: usize) -> u32 {
    let writes: Vec<_> = (writes.iter())
        .map(|(space, offset, value)| (*space, *offset as u64, *value))
        .collect();
    rig.board
        .bar_write_read(&writes, Space::Csr, register as u64)
        .unwrap()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_selected_channel_is_seen_in_the_next_cycle() {
    let params = Params {
        channels: 64,
        ..Params::default()
    };
    let mut rig = Rig::new(&library(&params), near());
    // Channel 5 has a write under way for ever, channel 6 a read; the port takes nothing.
    rig.csr(csr::ATT_OWNER_LO, u32::MAX);
    let peer = rig.map_gpu(0, MIB);
    for channel in [5, 6] {
        rig.open_channel(channel);
    }
    rig.csr(csr::CHANNEL_SELECT, 9);
    rig.csr(csr::CHANNEL_CONTROL, 0b100);
    stop(&mut rig, params.port, true);
    let long = Descriptor {
        peer,
        local: 0,
        length: MIB as u32,
        control: RECORD,
        cookie: 1,
    };
    rig.queue_on(5, false, long);
    rig.queue_on(6, true, long);
    rig.board.run(1000).unwrap();
    // From a channel and back to it, in every order.
    let expected = [
        (5u32, 0b01, 0b011),
        (6, 0b10, 0b011),
        (7, 0, 0),
        (9, 0, 0b100),
    ];
    for (from, ..) in expected {
        for (to, status, control) in expected {
            for (register, value) in [
                (csr::CHANNEL_STATUS, status),
                (csr::CHANNEL_CONTROL, control),
            ] {
                rig.csr(csr::CHANNEL_SELECT, from);
                rig.board.run(20).unwrap();
                let select = [(Space::Csr, csr::CHANNEL_SELECT, to)];
                assert_eq!(after(&mut rig, &select, register), value, "{from} to {to}");
                let both = [
                    (Space::Csr, csr::CHANNEL_SELECT, from),
                    (Space::Csr, csr::CHANNEL_SELECT, to),
                ];
                assert_eq!(after(&mut rig, &both, register), value, "{from}, {to}");
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_was_written_is_seen_in_the_next_cycle() {
    let mut rig = Rig::new(&library(&Params::default()), near());
    rig.csr(csr::CHANNEL_SELECT, 3);
    for control in [0b011, 0b100, 0b001, 0b010, 0b111, 0] {
        let write = [(Space::Csr, csr::CHANNEL_CONTROL, control)];
        assert_eq!(after(&mut rig, &write, csr::CHANNEL_CONTROL), control);
    }
    // A doorbell makes its channel busy, and the block. The channel is stopped: it stays so.
    rig.open_channel(3);
    for (read, doorbell) in [(false, chan::WRITE_DOORBELL), (true, chan::READ_DOORBELL)] {
        for (channel, register, mask) in [
            (3, csr::CHANNEL_STATUS, 0b11),
            (4, csr::CHANNEL_STATUS, 0b11),
            (5, csr::STATUS, 0b11),
        ] {
            rig.open_channel(channel);
            rig.csr(csr::CHANNEL_CONTROL, 0b001);
            rig.board.run(20).unwrap();
            assert_eq!(rig.read_csr(register) & mask, 0);
            let ring = [(Space::Chan, doorbell + ((channel as usize) << 12), 0)];
            let busy = after(&mut rig, &ring, register) & mask;
            assert_eq!(busy, 1 << u32::from(read), "channel {channel}");
            // The descriptor is the old contents of the memory: it ends.
            rig.csr(csr::CHANNEL_CONTROL, 0b100);
            rig.board.run(2000).unwrap();
            assert_eq!(rig.read_csr(register) & mask, 0);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_queue_that_refuses_has_no_room() {
    let mut rig = Rig::new(&library(&Params::default()), near());
    let free = |rig: &mut Rig| {
        rig.board
            .bar_read32(Space::Chan, chan::QUEUE_FREE as u64)
            .unwrap()
    };
    assert_eq!(free(&mut rig), 128 << 16 | 128);
    rig.csr(csr::CONTROL, 0);
    assert_eq!(free(&mut rig), 0);
    rig.csr(csr::CONTROL, 1);
    assert_eq!(free(&mut rig), 128 << 16 | 128);
    for (control, full) in [(0b010, 0), (0b011, 128), (0b101, 0), (0b001, 128)] {
        rig.csr(csr::CHANNEL_CONTROL, control);
        assert_eq!(free(&mut rig), full << 16 | full, "{control:#b}");
    }
    // As long as a soft reset lasts: the port takes nothing in that time.
    rig.csr(csr::CHANNEL_CONTROL, 0b011);
    let peer = rig.map_gpu(0, MIB);
    stop(&mut rig, Port::Txs, true);
    rig.queue(
        false,
        Descriptor {
            peer,
            local: 0,
            length: 5000,
            control: RECORD,
            cookie: 1,
        },
    );
    rig.board.run(1000).unwrap();
    rig.csr(csr::CONTROL, 1 | 1 << 8);
    assert_eq!(free(&mut rig), 0);
    stop(&mut rig, Port::Txs, false);
    rig.board.run(5000).unwrap();
    assert_eq!(free(&mut rig), 128 << 16 | 128);
}

/// Stops the port at any moment of a descriptor: the data of a descriptor that reads as idle then have arrived.
fn idle_is_idle(params: &Params, read: bool, control: u32, length: u32) {
    let mut rig = Rig::new(&library(params), near());
    let peer = rig.map_gpu(0, MIB);
    let mut data = vec![0u8; length as usize];
    let (mut idle, mut standing) = (0, 0);
    for cycles in if read { 150..600 } else { 0..200 } {
        data.iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
        rig.board.ddr_mut().write(0, &data).unwrap();
        rig.queue(
            read,
            Descriptor {
                peer,
                local: 0,
                length,
                control,
                cookie: cycles,
            },
        );
        rig.board.drain_host().unwrap();
        rig.board.run(cycles.into()).unwrap();
        stop(&mut rig, params.port, true);
        rig.board.run(500).unwrap();
        let status = rig.read_csr(csr::STATUS) & BUSY;
        let channel = rig.read_csr(csr::CHANNEL_STATUS);
        let interrupted = rig.board.irq();
        // Data that the port has taken arrive all the same.
        let record = rig.poll();
        let mut there = vec![0; length as usize];
        rig.board.gpu_mut().read(0, &mut there).unwrap();
        let arrived = if control & RECORD == 0 {
            there == data
        } else {
            record.is_some()
        };
        assert!(
            arrived || (status != 0 && channel != 0 && !interrupted),
            "after {cycles} cycles: status {status:#x}, channel {channel:#x}, interrupt {interrupted}"
        );
        if status == 0 {
            idle += 1;
        } else {
            standing += 1;
        }
        stop(&mut rig, params.port, false);
        if control & RECORD != 0 && record.is_none() {
            rig.wait(5000);
        }
        rig.board.run(700).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS) & BUSY, 0);
        rig.csr(csr::IRQ_STATUS, 0b111);
        rig.board.drain_host().unwrap();
    }
    assert!(idle > 10 && standing > 10, "{idle} idle, {standing} not");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn idle_is_what_has_left_the_port() {
    for params in ports() {
        idle_is_idle(&params, false, NO_FLUSH | RECORD | IRQ, 16);
    }
}

/// Tests the same with long writes, with reads, and with descriptors that leave no record.
pub(crate) fn idle_in_all_ways() {
    for params in ports() {
        idle_is_idle(&params, false, NO_FLUSH, 16);
        idle_is_idle(&params, false, NO_FLUSH, 300);
        idle_is_idle(&params, true, RECORD | IRQ, 64);
    }
}
