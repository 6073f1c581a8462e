//! A PCIe port that takes nothing.

use crate::rig::{Descriptor, MIB, RECORD, Rig, library, near, same};
use peerlane_core::regs::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Backpressure, BoardConfig};

const DEAD: u32 = csr::STATUS_PORT_DEAD_MASK;
const LOST: u32 = csr::STATUS_PORT_LOST_MASK;

/// Makes the port take no command. The bridge still answers registers as long as no interrupt waits there and no burst
/// has begun.
pub fn stop(rig: &mut Rig, port: Port, stops: bool) {
    match port {
        Port::Txs => {
            rig.csr(csr::CONTROL, 0b01);
            rig.board.bus_mut().set_master(!stops);
        }
        Port::Stream | Port::Tlp => {
            let hold = [Backpressure::None, Backpressure::Random(100)];
            rig.board.set_stream_backpressure(hold[usize::from(stops)]);
        }
    }
}

/// The engine becomes idle, in any state in which the port stopped, and a reset opens the port again.
fn dies(params: &Params) {
    for cycles in [300, 1001, 1777, 2500] {
        let config = BoardConfig::default();
        let mut rig = Rig::new(&library(params), config);
        for channel in 1..params.channels {
            rig.open_channel(channel);
        }
        rig.csr(csr::ATT_OWNER_LO, 0xFF);
        let peer = rig.map_gpu(0, MIB);
        rig.csr(csr::PORT_TIMEOUT, 1500);
        for channel in 0..params.channels {
            for read in [false, true] {
                for cookie in 0..5 {
                    rig.queue_on(
                        channel,
                        read,
                        Descriptor {
                            peer,
                            local: 0,
                            length: 100_004,
                            control: RECORD,
                            cookie,
                        },
                    );
                }
            }
        }
        rig.board.run(cycles).unwrap();
        stop(&mut rig, params.port, true);
        rig.board.run(30_000).unwrap();
        let status = rig.read_csr(csr::STATUS);
        assert_ne!(status & DEAD, 0, "status {status:#x}");
        assert_eq!(status & 0b11, 0, "every descriptor has ended: {status:#x}");
        // A fence ends too, without a flush read and with one, which reports that no answer has come.
        for (start, failed) in [(0b001, 0), (0b101, csr::ATT_INVALIDATE_FAILED_MASK)] {
            rig.csr(csr::ATT_INVALIDATE, start);
            rig.board.run(100).unwrap();
            assert_eq!(rig.read_csr(csr::ATT_INVALIDATE), failed);
        }
        // The port may go on, and gets the rest of the burst that waited there.
        stop(&mut rig, params.port, false);
        rig.board.run(2000).unwrap();
        rig.board.reset().unwrap();
        rig.restart();
        assert_eq!(rig.read_csr(csr::STATUS), 0);
        let fresh = rig.map_gpu(MIB, MIB);
        rig.transfer(false, fresh, 0, 9000);
        rig.transfer(true, fresh, 0, 9000);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_dead_txs_port_leaves_the_engine_at_rest() {
    dies(&Params::default());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_dead_stream_port_leaves_the_engine_at_rest() {
    dies(&Params {
        port: Port::Stream,
        ..Params::default()
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_dead_port_that_comes_back_is_given_whole_bursts() {
    for port in [Port::Txs, Port::Stream] {
        let params = Params {
            port,
            ..Params::default()
        };
        for cycles in 300..320 {
            let mut rig = Rig::new(&library(&params), near());
            let peer = rig.map_gpu(0, MIB);
            rig.csr(csr::PORT_TIMEOUT, 500);
            let d = Descriptor {
                peer,
                local: 0,
                length: 100_000,
                control: RECORD,
                cookie: 1,
            };
            rig.queue(false, d);
            rig.board.run(cycles).unwrap();
            stop(&mut rig, port, true);
            rig.board.run(3000).unwrap();
            assert_ne!(rig.read_csr(csr::STATUS) & DEAD, 0);
            stop(&mut rig, port, false);
            if let Err(error) = rig.board.run(200) {
                panic!("{port:?}, {cycles} cycles: {error}");
            }
        }
    }
}

fn params_of(port: Port) -> Params {
    Params {
        port,
        ..Params::default()
    }
}

pub fn hold(rig: &mut Rig, port: Port, backpressure: Backpressure) {
    match port {
        Port::Txs => rig.board.set_txs_backpressure(backpressure),
        Port::Stream | Port::Tlp => rig.board.set_stream_backpressure(backpressure),
    }
}

/// A port that takes nothing for a little longer than it may, and goes on: it opens by itself. Each record is true,
/// also of a descriptor that was under way before and after. No byte outside of the transfers is written.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_port_that_goes_on_opens_by_itself_and_no_record_lies() {
    const LENGTH: usize = 8000;
    const AT: usize = 36;
    const EACH: usize = 16 << 10;
    const DESCRIPTORS: usize = 6;
    let mut codes = [0; 17];
    for port in [Port::Txs, Port::Stream] {
        for held in (0..460).step_by(23) {
            let mut rig = Rig::new(&library(&params_of(port)), near());
            let peer = rig.map_gpu(0, MIB);
            rig.csr(csr::PORT_TIMEOUT, 300);
            let before = vec![0x77; DESCRIPTORS * EACH];
            rig.board.gpu_mut().write(0, &before).unwrap();
            let data: Vec<u8> = (0..LENGTH).map(|at| ((at * 11) >> 3) as u8).collect();
            rig.board.ddr_mut().write(1, &data).unwrap();
            for cookie in 0..DESCRIPTORS {
                let d = Descriptor {
                    peer: peer + (cookie * EACH + AT) as u64,
                    local: 1,
                    length: LENGTH as u32,
                    control: RECORD,
                    cookie: cookie as u32,
                };
                rig.queue(false, d);
            }
            rig.board.run(900 + held / 3).unwrap();
            hold(&mut rig, port, Backpressure::Random(100));
            rig.board.run(300 + held).unwrap();
            hold(&mut rig, port, Backpressure::None);
            rig.board.run(20_000).unwrap();
            let status = rig.read_csr(csr::STATUS);
            let mut there = before.clone();
            rig.board.gpu_mut().read(0, &mut there).unwrap();
            for cookie in 0..DESCRIPTORS {
                let Some(record) = rig.poll() else {
                    rig.skip();
                    continue;
                };
                assert_eq!(record.cookie, cookie as u32);
                codes[usize::from(record.code)] += 1;
                let moved = record.bytes as usize;
                assert!(record.code == 8 || moved == LENGTH, "{record:?}");
                let at = cookie * EACH + AT;
                same("the moved data", &there[at..at + moved], &data[..moved]);
            }
            for (cookie, piece) in there.chunks(EACH).enumerate() {
                let around: Vec<_> = (piece[..AT].iter()).chain(&piece[AT + LENGTH..]).collect();
                assert!(around.iter().all(|byte| **byte == 0x77), "beside {cookie}");
            }
            // The driver is notified, and gives the channel a new ring.
            let error = rig.read_csr(csr::IRQ_STATUS) & csr::IRQ_STATUS_ERROR_MASK;
            assert!(held < 100 || error != 0, "held for {held}");
            let lost = [0, LOST][usize::from(error != 0)];
            assert_eq!(status, lost, "{port:?}, held for {held}");
            rig.csr(csr::CONTROL, 0b11 | csr::CONTROL_RESET_MASK);
            rig.board.run(500).unwrap();
            assert_eq!(rig.read_csr(csr::STATUS), 0);
            rig.csr(csr::PORT_TIMEOUT, 12_500_000);
            rig.open_channel(0);
            rig.transfer(false, peer, 0, 9000);
            rig.transfer(true, peer, 0, 9000);
        }
    }
    // Some ended well, some were lost, and of these some were reported.
    assert!(codes[0] > 20 && codes[8] > 2, "{codes:?}");
}

/// A record of which one half waits at the port when that is given up is right when it comes.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_record_that_outlives_a_dead_port_is_whole() {
    const LOCAL_RANGE: u8 = 12;
    let mut came = 0;
    for cycles in (20..140).step_by(3) {
        let mut rig = Rig::new(&library(&Params::default()), near());
        let peer = rig.map_gpu(0, MIB);
        rig.csr(csr::CHANNEL_MEM_END, 0);
        rig.csr(csr::PORT_TIMEOUT, 100);
        let d = Descriptor {
            peer: peer + 0x1230,
            local: 0,
            length: 64,
            control: RECORD,
            cookie: 0x5A5A_1234,
        };
        rig.queue(false, d);
        rig.board.drain_host().unwrap();
        rig.board.run(cycles).unwrap();
        hold(&mut rig, Port::Txs, Backpressure::Random(100));
        rig.board.run(400).unwrap();
        hold(&mut rig, Port::Txs, Backpressure::None);
        rig.board.run(2000).unwrap();
        assert_eq!(rig.read_csr(csr::STATUS) & !LOST, 0);
        if let Some(record) = rig.poll() {
            came += 1;
            assert_eq!(
                (record.code, record.bytes, record.cookie, record.fault),
                (LOCAL_RANGE, 0, d.cookie, d.peer),
                "held after {cycles} cycles"
            );
        }
    }
    assert!(came > 2, "{came}");
}
