//! Interrupts of the whole block: moderated, by the line and by messages.

use crate::rig::{Descriptor, IRQ, MIB, RECORD, Rig, library};
use peerlane_core::regs::csr;
use peerlane_hdl::{Irq, Params, Port};
use peerlane_sim::{BoardConfig, Space};

const URGENT: u32 = 1 << 3;
const COMPLETION: u32 = 1;

fn rig(params: &Params) -> (Rig, u64) {
    let mut rig = Rig::new(&library(params), BoardConfig::default());
    for channel in 1..params.channels {
        rig.open_channel(channel);
    }
    rig.csr(csr::ATT_OWNER_LO, 0xFF);
    let peer = rig.map_gpu(0, MIB);
    (rig, peer)
}

fn send(rig: &mut Rig, channel: u32, peer: u64, control: u32) {
    let d = Descriptor {
        peer,
        local: 0,
        length: 64,
        control: control | RECORD,
        cookie: 1,
    };
    rig.queue_on(channel, true, d);
    assert_eq!(rig.wait_on(channel, 10_000).cookie, 1);
    rig.board.run(60).unwrap();
}

fn moderate(rig: &mut Rig, channel: u32, count: u32, age: u32) {
    rig.csr(csr::CHANNEL_SELECT, channel);
    rig.csr(csr::CHANNEL_MODERATION, age << 16 | count);
}

fn take(rig: &mut Rig) -> bool {
    let status = rig.read_csr(csr::IRQ_STATUS);
    rig.csr(csr::IRQ_STATUS, status);
    rig.board.run(300).unwrap();
    status & COMPLETION != 0
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn completions_are_moderated_by_count_by_age_and_not_when_urgent() {
    let (mut rig, peer) = rig(&Params::default());
    // The fourth, or 40 × 256 cycles after the first.
    moderate(&mut rig, 2, 4, 40);
    rig.board.run(600).unwrap();
    for round in 0..3 {
        for n in 1..=4 {
            send(&mut rig, 2, peer, IRQ);
            assert_eq!(rig.board.irq(), n == 4, "completion {n} of round {round}");
        }
        assert!(take(&mut rig));
        assert!(!rig.board.irq());
    }
    send(&mut rig, 2, peer, IRQ);
    assert!(!rig.board.irq());
    rig.board.run(41 * 256).unwrap();
    assert!(rig.board.irq(), "by age");
    assert!(take(&mut rig));
    send(&mut rig, 2, peer, IRQ);
    send(&mut rig, 2, peer, IRQ | URGENT);
    assert!(rig.board.irq(), "urgent");
    assert!(take(&mut rig));
    // Another channel is not moderated, and one without `irq` is silent.
    send(&mut rig, 3, peer, IRQ);
    assert!(rig.board.irq());
    assert!(take(&mut rig));
    send(&mut rig, 3, peer, 0);
    rig.board.run(12_000).unwrap();
    assert!(!rig.board.irq());
}

fn vector(rig: &mut Rig, n: u32) {
    for (word, value) in [0xFEE0_1000, 0, 0x4000 + n, 0].into_iter().enumerate() {
        let at = u64::from(n) * 16 + word as u64 * 4;
        rig.board.bar_write32(Space::Msix, at, value).unwrap();
    }
}

fn data(rig: &mut Rig) -> Vec<u32> {
    rig.board.run(1000).unwrap();
    let messages = rig.board.take_messages();
    messages
        .iter()
        .map(|message| {
            assert_eq!(message.address, 0xFEE0_1000);
            message.data
        })
        .collect()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_channel_has_a_vector_whose_message_follows_the_record() {
    for (port, port_bits) in [(Port::Txs, 128), (Port::Stream, 256)] {
        let (mut rig, peer) = rig(&Params {
            irq: Irq::Msix,
            port,
            port_bits,
            ..Params::default()
        });
        rig.board.set_msix(true, false);
        for n in 0..10 {
            vector(&mut rig, n);
        }
        rig.board.drain_host().unwrap();
        for channel in [0, 3, 7] {
            let d = Descriptor {
                peer,
                local: 0,
                length: 5000,
                control: RECORD | IRQ,
                cookie: 9,
            };
            rig.queue_on(channel, false, d);
            let arrived = |board: &peerlane_sim::Board| !board.messages().is_empty();
            rig.board.run_until(arrived, 20_000).unwrap();
            assert_eq!(rig.poll_on(channel).expect("the record is there").cookie, 9);
            assert_eq!(data(&mut rig), [0x4002 + channel]);
        }
        // The OpenCL kernel's, at its edge; and a fault's beside the channel's.
        rig.board.set_kernel_irq(true);
        assert_eq!(data(&mut rig), [0x4001]);
        assert_eq!(data(&mut rig), []);
        rig.board.set_kernel_irq(false);
        let bad = Descriptor {
            peer: 9999 << 12,
            local: 0,
            length: 1,
            control: 0,
            cookie: 9,
        };
        rig.queue_on(5, false, bad);
        let mut both = data(&mut rig);
        both.sort_unstable();
        assert_eq!(both, [0x4000, 0x4007]);
        // Masked, it waits.
        rig.board.bar_write32(Space::Msix, 4 * 16 + 12, 1).unwrap();
        rig.board.drain_host().unwrap();
        send(&mut rig, 2, peer, IRQ);
        assert_eq!(data(&mut rig), []);
        let pending = rig.board.bar_read32(Space::Msix, 0x800).unwrap();
        assert_eq!(pending, 1 << 4);
        rig.board.bar_write32(Space::Msix, 4 * 16 + 12, 0).unwrap();
        assert_eq!(data(&mut rig), [0x4004]);
    }
}
