//! A PCIe port that stands still.

use crate::rig::{Descriptor, MIB, RECORD, Rig, library, near};
use peerlane_core::regs::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Backpressure, BoardConfig};

const DEAD: u32 = csr::STATUS_PORT_DEAD_MASK;

/// The engine comes to rest, whatever it was doing when the port stopped, and a reset opens it again.
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
                            length: 100_001,
                            control: RECORD,
                            cookie,
                        },
                    );
                }
            }
        }
        rig.board.run(cycles).unwrap();
        let stop = |rig: &mut Rig, backpressure: Backpressure| match params.port {
            Port::Txs => rig.board.set_txs_backpressure(backpressure),
            Port::Stream | Port::Tlp => rig.board.set_stream_backpressure(backpressure),
        };
        stop(&mut rig, Backpressure::Random(100));
        rig.board.run(30_000).unwrap();
        let status = rig.read_csr(csr::STATUS);
        assert_ne!(status & DEAD, 0, "status {status:#x}");
        assert_eq!(status & 0b11, 0, "every descriptor has ended: {status:#x}");
        // A fence ends too, with a flush read and without.
        for start in [0b001, 0b101] {
            rig.csr(csr::ATT_INVALIDATE, start);
            rig.board.run(100).unwrap();
            assert_eq!(rig.read_csr(csr::ATT_INVALIDATE), 0);
        }
        // It may come back, and gets the rest of the burst that stood there.
        stop(&mut rig, Backpressure::None);
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
            let hold = |rig: &mut Rig, backpressure| match port {
                Port::Txs => rig.board.set_txs_backpressure(backpressure),
                Port::Stream | Port::Tlp => rig.board.set_stream_backpressure(backpressure),
            };
            hold(&mut rig, Backpressure::Random(100));
            rig.board.run(3000).unwrap();
            assert_ne!(rig.read_csr(csr::STATUS) & DEAD, 0);
            hold(&mut rig, Backpressure::None);
            if let Err(error) = rig.board.run(200) {
                panic!("{port:?}, {cycles} cycles: {error}");
            }
        }
    }
}
