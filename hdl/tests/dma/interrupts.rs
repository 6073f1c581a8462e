//! Interrupts of the whole block: moderated, by the line and by messages.

use crate::host;
use crate::rig::{Descriptor, IRQ, MIB, RECORD, Rig, library, library_of};
use crate::stream::disorder;
use peerlane_core::regs::csr;
use peerlane_hdl::{Irq, Params, Port, generate};
use peerlane_sim::{BoardConfig, Space};
use peerlane_verilated::Library;
use std::panic::catch_unwind;

const URGENT: u32 = 1 << 3;
const COMPLETION: u32 = 1;

fn rig(params: &Params) -> (Rig, u64) {
    rig_of(&library(params), params, BoardConfig::default())
}

fn rig_of(library: &Library, params: &Params, config: BoardConfig) -> (Rig, u64) {
    let config = match params.slaves {
        Some(_) => host::board(params, config),
        None => config,
    };
    let mut rig = Rig::new(library, config);
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
    // The fourth event, or 40 × 256 cycles after the first.
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
    // Another channel is not moderated, and a descriptor without `irq` is silent.
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
    let of = |port, port_bits| Params {
        irq: Irq::Msix,
        port,
        port_bits,
        ..Params::default()
    };
    for params in [
        of(Port::Txs, 128),
        of(Port::Stream, 256),
        of(Port::Tlp, 128),
        host::params(256, Irq::Msix),
    ] {
        let (mut rig, peer) = rig(&params);
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
        // The OpenCL kernel's, at its edge; and a fault's in addition to the channel's.
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

const MSI: (u64, u16) = (0xFEE0_1000, 0x4055);

/// Writes of a few bytes on each channel, with an interrupt each.
fn little_writes(rig: &mut Rig, peer: u64, channels: u32, cookie: u32) {
    for channel in 0..channels {
        let d = Descriptor {
            peer: peer + u64::from(cookie) * 64,
            local: u64::from(channel) * 4096,
            length: 4 + 88 * channel,
            control: RECORD | IRQ,
            cookie,
        };
        rig.queue_on(channel, false, d);
    }
}

/// The n-th message of a vector says that at least n records are there, even if other packets are still on their way.
fn messages_follow_records(library: &Library, params: &Params) {
    for seed in 1..4 {
        let config = BoardConfig { seed, ..disorder() };
        let (mut rig, peer) = rig_of(library, params, config);
        rig.board.set_msix(true, false);
        for n in 0..params.channels + 2 {
            vector(&mut rig, n);
        }
        rig.board.drain_host().unwrap();
        let mut records = vec![0; params.channels as usize];
        let mut messages = vec![0; params.channels as usize];
        for round in 0..12 {
            little_writes(&mut rig, peer, params.channels, round);
            let last = rig.board.cycles() + 60_000;
            while records.iter().any(|count| *count <= round) || messages.contains(&0) {
                rig.board.run(1).unwrap();
                assert!(rig.board.cycles() < last, "{messages:?} and {records:?}");
                for message in rig.board.take_messages() {
                    let channel = (message.data - 0x4002) as usize;
                    while rig.poll_on(channel as u32).is_some() {
                        records[channel] += 1;
                    }
                    messages[channel] += 1;
                    assert!(
                        messages[channel] <= records[channel],
                        "channel {channel}: message {} and {} records",
                        messages[channel],
                        records[channel]
                    );
                }
                if rig.board.cycles().is_multiple_of(500) {
                    for channel in 0..params.channels {
                        while rig.poll_on(channel).is_some() {
                            records[channel as usize] += 1;
                        }
                    }
                }
            }
        }
        rig.board.run_until_quiet(2000, 50_000).unwrap();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn no_message_overtakes_the_record_that_it_reports() {
    for params in [host::params(128, Irq::Msix), host::params(256, Irq::Msix)] {
        messages_follow_records(&library(&params), &params);
    }
}

/// With a transaction layer an interrupt line becomes a message as soon as software has enabled MSI, one for each time
/// that the line rises, after the record.
fn lines_become_messages(library: &Library, params: &Params) {
    for seed in 1..4 {
        let config = BoardConfig { seed, ..disorder() };
        let (mut rig, peer) = rig_of(library, params, config);
        send(&mut rig, 1, peer, IRQ);
        assert!(rig.board.irq());
        assert_eq!(data(&mut rig), []);
        // The line is high.
        rig.board.set_msi(Some(MSI));
        assert_eq!(data(&mut rig), [0x4055]);
        assert_eq!(data(&mut rig), []);
        assert!(take(&mut rig));
        let mut told = 0;
        for round in 1..15 {
            // The port is busy: a record and a message may wait for its turn together.
            let long = Descriptor {
                peer: peer + (1 << 19),
                local: 0,
                length: 12_000,
                control: RECORD,
                cookie: 77,
            };
            rig.queue_on(2, false, long);
            little_writes(&mut rig, peer, 1, round);
            let arrived = |board: &peerlane_sim::Board| !board.messages().is_empty();
            rig.board.run_until(arrived, 40_000).unwrap();
            told += rig.board.take_messages().len() as u32;
            assert_eq!(rig.poll_on(0).expect("the record is there").cookie, round);
            assert_eq!(told, round);
            assert!(take(&mut rig));
        }
        // The kernels' line for itself, while the block's is high.
        send(&mut rig, 1, peer, IRQ);
        assert_eq!(data(&mut rig), [0x4055]);
        rig.board.set_kernel_irq(true);
        assert_eq!(data(&mut rig), [0x4055]);
        rig.board.set_kernel_irq(false);
        assert_eq!(data(&mut rig), []);
        // Disabled, nothing is sent; a line that is high then is reported when MSI is enabled.
        assert!(take(&mut rig));
        rig.board.set_msi(None);
        rig.board.run(300).unwrap();
        rig.board.set_kernel_irq(true);
        assert_eq!(data(&mut rig), []);
        rig.board.set_msi(Some(MSI));
        assert_eq!(data(&mut rig), [0x4055]);
        rig.board.set_kernel_irq(false);
        rig.board.check().unwrap();
    }
}

/// The words of the capability come one after another, in no order that software knows: no word of a message is from
/// before it was enabled.
fn words_of_one_time(library: &Library, params: &Params) {
    let (mut rig, _) = rig_of(library, params, BoardConfig::default());
    rig.board.set_kernel_irq(true);
    for n in 0..140u16 {
        rig.board.set_msi(None);
        rig.board.run(300 + u64::from(n)).unwrap();
        let at = 0xFEE0_0000 | u64::from(n) << 12 | u64::from(n) << 2;
        rig.board.set_msi(Some((at, 0x1234 ^ n << 5)));
        rig.board.run(1000).unwrap();
        let messages: Vec<_> = rig.board.take_messages().into_iter().collect();
        let found: Vec<_> = messages.iter().map(|m| (m.address, m.data)).collect();
        assert_eq!(found, [(at, u32::from(0x1234 ^ n << 5))], "{n}");
    }
}

fn single(library: &Library, params: &Params) {
    lines_become_messages(library, params);
    words_of_one_time(library, params);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn lines_become_an_msi_behind_a_transaction_layer() {
    for params in [host::params(128, Irq::Rxm), host::params(256, Irq::Msix)] {
        single(&library(&params), &params);
    }
}

/// Modules of the block, a text that each has once, and its replacement.
type Fault = &'static [(&'static str, &'static str, &'static str)];

/// The interrupt comes before the record, and its message has precedence.
const EARLY: Fault = &[
    (
        "peerlane_engine_completer",
        "assign irq = fires & gone_irq_q;",
        "assign irq = found_q & chosen_q & (~offering_q) & (~over_q) & wants_irq_q;",
    ),
    (
        "peerlane_stream_poster",
        "assign next_record = record_valid & (~at_record_q);",
        "assign next_record = record_valid & (~at_record_q) & (~message_valid);",
    ),
];

/// Faults that the tests of messages find.
const MESSAGE_FAULTS: [Fault; 2] = [
    EARLY,
    &[(
        "peerlane_pcie_settings",
        "assign msix_enable = msix_q[1];",
        "assign msix_enable = msix_q[0];",
    )],
];

/// Faults that the tests of MSI find.
const SINGLE_FAULTS: [Fault; 6] = [
    EARLY,
    &[(
        "peerlane_engine_single",
        "| (kernel_irq & (~kernel_seen_q))",
        "",
    )],
    &[(
        "peerlane_engine_single",
        "line_seen_d = line & enable;",
        "line_seen_d = line;",
    )],
    &[(
        "peerlane_engine_single",
        "assign cause = enable & ((line & (~line_seen_q))",
        "assign cause = enable & (line",
    )],
    &[(
        "peerlane_pcie_settings",
        "msi_d = early_ctl_q[0] & msi_seen_q;",
        "msi_d = early_ctl_q[0];",
    )],
    &[(
        "peerlane_pcie_settings",
        "({44'd0, early_ctl_q[31:12]} << 4'hc)",
        "({44'd0, early_ctl_q[31:12]} << 4'hd)",
    )],
];

fn are_found(params: &Params, faults: &[Fault], all: fn(&Library, &Params)) {
    let sound = generate(params).unwrap();
    all(&library_of(&sound), params);
    for fault in faults {
        let mut design = sound.clone();
        for (name, from, to) in *fault {
            let mut modules = design.modules.iter_mut();
            let module = modules.find(|one| one.name == *name).unwrap();
            assert_eq!(module.verilog.matches(from).count(), 1, "{name}: `{from}`");
            module.verilog = module.verilog.replace(from, to);
        }
        let library = library_of(&design);
        let found = catch_unwind(|| all(&library, params)).is_err();
        assert!(found, "no test detects {fault:?}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_of_messages_are_found() {
    let params = host::params(128, Irq::Msix);
    are_found(&params, &MESSAGE_FAULTS, messages_follow_records);
}

#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn planted_faults_of_msi_are_found() {
    let params = host::params(128, Irq::Rxm);
    are_found(&params, &SINGLE_FAULTS, single);
}
