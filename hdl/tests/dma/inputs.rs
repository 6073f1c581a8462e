//! Streams from the FPGA's logic to peers. The bytes that arrive are compared with those that the logic was given, and
//! the records with the blocks that follow from the rules.

use crate::channels::{ABORT, ABORTED, ACCEPT, RUN, control, descriptor, map_for};
use crate::port::hold;
use crate::rig::{MIB, RECORD, Rig, library, near, same};
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::{Input, Irq, Output, Params, Port, Streams};
use peerlane_sim::{Access, Backpressure, BoardConfig, Space};
use std::collections::VecDeque;

const DESCRIPTOR: u8 = 10;
pub const LOCAL_RANGE: u8 = 12;
pub const ALIGNMENT: u8 = 16;
/// Bits 63:60 of a local address: a stream.
pub const STREAM: u64 = 1 << 60;

/// The streams of all builds here, so that few models are compiled: plain ones of each width, of packets, lossy ones.
const INPUTS: [Input; 9] = [
    stream(64, false, false),
    stream(128, false, false),
    stream(256, false, false),
    stream(512, false, false),
    stream(64, true, false),
    stream(512, true, false),
    stream(64, false, true),
    stream(512, false, true),
    stream(128, true, true),
];

/// One of each width.
pub const OUTPUTS: [Output; 4] = [
    Output { bits: 64 },
    Output { bits: 128 },
    Output { bits: 256 },
    Output { bits: 512 },
];

const fn stream(bits: u32, packets: bool, lossy: bool) -> Input {
    Input {
        bits,
        packets,
        lossy,
    }
}

fn with_streams(params: Params) -> Params {
    Params {
        inputs: Streams::try_from(INPUTS.to_vec()).unwrap(),
        outputs: Streams::try_from(OUTPUTS.to_vec()).unwrap(),
        ..params
    }
}

pub fn tagged(port_bits: u32) -> Params {
    Params {
        port: Port::Stream,
        irq: Irq::Msix,
        port_bits,
        ..Params::default()
    }
}

pub fn ports() -> [Params; 3] {
    [Params::default(), tagged(128), tagged(256)].map(with_streams)
}

/// Bytes of a word.
fn width(number: u32) -> usize {
    INPUTS[number as usize].bits as usize / 8
}

/// Opens a stream, of which bit 4 says the direction, for a channel.
pub fn open(rig: &mut Rig, number: u32, channel: u32) {
    rig.csr(csr::STREAM_SELECT, number);
    rig.csr(csr::STREAM_CONTROL, channel << 8 | 1);
    for _ in 0..100 {
        if rig.read_csr(csr::STREAM_STATUS) & 1 != 0 {
            return;
        }
        rig.board.run(16).unwrap();
    }
    panic!("stream {number} does not open");
}

/// Makes a board with all channels open, and some streams: each for the channel of its place in the list.
pub fn rig(params: &Params, streams: &[u32]) -> Rig {
    rig_with(params, near(), streams)
}

/// The same on another board.
pub fn rig_with(params: &Params, config: BoardConfig, streams: &[u32]) -> Rig {
    let mut rig = Rig::new(&library(params), config);
    for channel in 0..params.channels {
        if channel != 0 {
            rig.open_channel(channel);
        }
    }
    for (channel, number) in streams.iter().enumerate() {
        open(&mut rig, *number, channel as u32);
    }
    rig
}

/// Bytes that say where they belong: no two aligned words of a megabyte are equal.
pub fn bytes(seed: u32, count: usize) -> Vec<u8> {
    (0..count.div_ceil(4) as u32)
        .flat_map(|word| (word ^ seed.wrapping_mul(0x9E37_79B9)).to_le_bytes())
        .take(count)
        .collect()
}

fn gpu(rig: &Rig, at: u64, count: usize) -> Vec<u8> {
    let mut data = vec![0; count];
    rig.board.gpu().read(at, &mut data).unwrap();
    data
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn words_arrive_in_order_for_every_width_and_clock() {
    for params in ports() {
        let mut rig = rig(&params, &[0, 1, 2, 3]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        for (number, clock) in [(0, 1_700), (1, 4_000), (2, 9_100), (3, 31_000)] {
            rig.board.source_mut(number).set_clock_ps(clock);
        }
        // Blocks of several sizes, and between them some that are shorter than a request.
        let blocks = [64u32, 4096, 512, 128, 8192, 64, 64, 1024, 576, 20_480];
        let total: u32 = blocks.iter().sum();
        for number in 0..4u32 {
            let data = bytes(number, total as usize);
            rig.board.source_mut(number as usize).send(&data);
            let mut at = u64::from(number) * MIB;
            for (cookie, length) in blocks.into_iter().enumerate() {
                let local = STREAM | u64::from(number);
                let cookie = cookie as u32;
                rig.queue_on(
                    number,
                    false,
                    descriptor(peer + at, local, length, RECORD, cookie),
                );
                // The slots are apart, and of different alignment in a page.
                at += u64::from(length) + 320;
            }
        }
        for number in 0..4u32 {
            let data = bytes(number, total as usize);
            let (mut from, mut at) = (0, u64::from(number) * MIB);
            let mut began = 0;
            for (cookie, length) in blocks.into_iter().enumerate() {
                let record = rig.wait_on(number, 200_000);
                assert_eq!(
                    (record.code, record.bytes),
                    (0, length),
                    "{params:?} {record:?}"
                );
                assert_eq!(record.cookie, cookie as u32);
                // Lost words, the end of a packet; then the time.
                assert_eq!(record.fault >> 48, 0);
                assert!(record.fault > began, "{record:?}");
                began = record.fault;
                let got = gpu(&rig, at, length as usize + 320);
                let (block, gap) = got.split_at(length as usize);
                same("a block", block, &data[from..from + length as usize]);
                assert!(gap.iter().all(|byte| *byte == 0), "bytes after a block");
                from += length as usize;
                at += u64::from(length) + 320;
            }
            assert_eq!(rig.board.source_mut(number as usize).left(), 0);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn packets_end_blocks() {
    for params in ports() {
        let mut rig = rig(&params, &[4, 5]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        const SLOT: usize = 2048;
        let lengths = [
            1usize, 7, 8, 9, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 2047, 2048, 2049,
            5000, 4096, 3, 2048, 1,
        ];
        for (channel, number) in [(0, 4), (1, 5)] {
            let mut blocks = VecDeque::new();
            for (packet, length) in lengths.into_iter().enumerate() {
                let data = bytes(packet as u32 * 77 + number, length);
                rig.board.source_mut(number as usize).send_packet(&data);
                let mut parts = data.chunks(SLOT).peekable();
                while let Some(part) = parts.next() {
                    blocks.push_back((part.to_vec(), parts.peek().is_none()));
                }
            }
            let base = u64::from(channel) * MIB;
            for slot in 0..blocks.len() as u64 {
                let at = peer + base + slot * SLOT as u64;
                let local = STREAM | u64::from(number);
                rig.queue_on(
                    channel,
                    false,
                    descriptor(at, local, SLOT as u32, RECORD, slot as u32),
                );
            }
            for (slot, (part, ends)) in blocks.into_iter().enumerate() {
                let record = rig.wait_on(channel, 100_000);
                assert_eq!((record.code, record.cookie), (0, slot as u32));
                assert_eq!(
                    record.bytes as usize,
                    part.len(),
                    "{params:?} slot {slot}: {record:?}"
                );
                assert_eq!(record.fault >> 63 == 1, ends, "slot {slot}");
                assert_eq!(record.fault >> 48 & 0x7FFF, 0);
                let got = gpu(&rig, base + (slot * SLOT) as u64, SLOT);
                same("a packet", &got[..part.len()], &part);
                // The last beat is written whole.
                let written = part.len().next_multiple_of(params.port_bits as usize / 8);
                assert!(got[written..].iter().all(|byte| *byte == 0), "slot {slot}");
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_starved_stream_holds_up_nobody() {
    for params in ports() {
        let mut rig = rig(&params, &[0, 1]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        // Stream 0 has a part of the bytes that its descriptor wants, stream 1 nothing.
        let head = bytes(1, 4096 - 256);
        rig.board.source_mut(0).send(&head);
        rig.queue_on(0, false, descriptor(peer, STREAM, 4096, RECORD, 1));
        rig.queue_on(
            1,
            false,
            descriptor(peer + MIB, STREAM | 1, 4096, RECORD, 2),
        );
        rig.board.run(5_000).unwrap();
        let data = bytes(3, 256 << 10);
        rig.board.ddr_mut().write(0, &data).unwrap();
        for read in [false, true] {
            rig.queue_on(2, read, descriptor(peer + 2 * MIB, 0, 256 << 10, RECORD, 3));
            assert_eq!(rig.wait_on(2, 100_000).bytes, 256 << 10);
        }
        same("memory", &gpu(&rig, 2 * MIB, data.len()), &data);
        assert_eq!(rig.poll_on(0), None);
        assert_eq!(rig.poll_on(1), None);
        let tail = bytes(2, 256);
        rig.board.source_mut(0).send(&tail);
        assert_eq!(rig.wait_on(0, 20_000).bytes, 4096);
        same("the stream", &gpu(&rig, 0, 4096), &[head, tail].concat());
        // The other one ends by an abort, and keeps the words for the next descriptor.
        control(&mut rig, 1, ACCEPT | RUN | ABORT);
        let record = rig.wait_on(1, 20_000);
        assert_eq!((record.code, record.bytes), (ABORTED, 0));
        control(&mut rig, 1, ACCEPT | RUN);
        let late = bytes(9, 512);
        rig.board.source_mut(1).send(&late);
        rig.queue_on(1, false, descriptor(peer + MIB, STREAM | 1, 512, RECORD, 4));
        assert_eq!(rig.wait_on(1, 20_000).bytes, 512);
        same("after the abort", &gpu(&rig, MIB, 512), &late);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_time_limit_ends_a_block_and_loses_nothing() {
    for params in ports() {
        for number in [0, 3] {
            let mut rig = rig(&params, &[number]);
            let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
            rig.csr(csr::STREAM_SELECT, number);
            rig.csr(csr::STREAM_LIMIT, 4);
            let width = width(number);
            let data = bytes(5, 600 * width);
            // Bursts of words, with pauses in which the limit of 1,024 cycles ends the block.
            let mut sent = 0;
            let mut got = Vec::new();
            let mut slot = 0u64;
            let mut short = 0;
            while got.len() < data.len() {
                if sent < data.len() {
                    // Now and then more than a block of the wide stream has.
                    let most = if slot.is_multiple_of(5) { 40 } else { 12 };
                    let burst = (1 + (slot as usize * 7) % most) * width;
                    let end = (sent + burst).min(data.len());
                    rig.board.source_mut(number as usize).send(&data[sent..end]);
                    sent = end;
                }
                rig.queue(
                    false,
                    descriptor(
                        peer + slot * 1024,
                        STREAM | u64::from(number),
                        1024,
                        RECORD,
                        slot as u32,
                    ),
                );
                let record = rig.wait(20_000);
                assert_eq!((record.code, record.cookie), (0, slot as u32));
                assert!(record.bytes > 0);
                short += u32::from(record.bytes < 1024);
                got.extend(gpu(&rig, slot * 1024, record.bytes as usize));
                slot += 1;
            }
            same("the stream", &got, &data);
            assert!(short > 10, "{short} short blocks");
            // No word: no block.
            rig.queue(
                false,
                descriptor(peer, STREAM | u64::from(number), 1024, RECORD, 0),
            );
            rig.board.run(20_000).unwrap();
            assert_eq!(rig.poll(), None);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn lost_words_are_counted_where_they_are_missing() {
    for params in ports() {
        for number in [6, 7] {
            let mut rig = rig(&params, &[number]);
            let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
            let width = width(number);
            let data = bytes(7, 16_384 * width);
            rig.board.source_mut(number as usize).send(&data);
            rig.board.source_mut(number as usize).set_gaps(60);
            // No descriptor takes the words for some time, again and again.
            let (mut slot, mut at, mut gaps) = (0u64, 0usize, 0);
            while rig.board.source_mut(number as usize).left() > 0 {
                rig.queue(
                    false,
                    descriptor(
                        peer + (slot % 64) * 8192,
                        STREAM | u64::from(number),
                        8192,
                        RECORD,
                        slot as u32,
                    ),
                );
                let Some(record) = (0..400).find_map(|_| {
                    rig.board.run(64).unwrap();
                    rig.poll()
                }) else {
                    break;
                };
                assert_eq!((record.code, record.cookie), (0, slot as u32));
                let lost = (record.fault >> 48 & 0x7FFF) as usize;
                gaps += u32::from(lost > 0);
                at += lost * width;
                let length = record.bytes as usize;
                let got = gpu(&rig, (slot % 64) * 8192, length);
                same("between gaps", &got, &data[at..at + length]);
                at += length;
                slot += 1;
                rig.board
                    .run(if slot.is_multiple_of(3) { 8_000 } else { 10 })
                    .unwrap();
            }
            assert!(gaps > 1, "{params:?}: {gaps} gaps");
            assert_eq!(rig.board.source_mut(number as usize).waited(), 0);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_packet_is_lost_from_the_first_missing_word_on() {
    let mut rig = rig(&ports()[0], &[8]);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    let sent: Vec<_> = (0..400).map(|n| bytes(n, 900 + n as usize % 50)).collect();
    for packet in &sent {
        rig.board.source_mut(8).send_packet(packet);
    }
    rig.board.run(20_000).unwrap();
    let (mut next, mut whole, mut cut, mut gaps) = (0, 0, 0, 0);
    for slot in 0..60u64 {
        rig.queue(
            false,
            descriptor(peer + slot * 1024, STREAM | 8, 1024, RECORD, slot as u32),
        );
        let Some(record) = (0..200).find_map(|_| {
            rig.board.run(64).unwrap();
            rig.poll()
        }) else {
            break;
        };
        assert_eq!(record.code, 0);
        let got = gpu(&rig, slot * 1024, record.bytes as usize);
        gaps += u32::from(record.fault >> 48 & 0x7FFF != 0);
        // It is the beginning of some later packet; with the mark of an end it is all of it.
        let found = (next..sent.len()).find(|n| sent[*n].starts_with(&got));
        let found = found.unwrap_or_else(|| panic!("slot {slot}: {} unknown bytes", got.len()));
        if record.fault >> 63 == 1 {
            assert_eq!(got.len(), sent[found].len());
            whole += 1;
        } else {
            assert!(got.len() < sent[found].len());
            cut += 1;
        }
        next = found + 1;
    }
    assert!(
        whole > 5 && cut > 0 && gaps > 0,
        "{whole} whole, {cut} cut, {gaps} gaps"
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn streams_of_others_and_wrong_descriptors_are_refused() {
    let mut rig = rig(&ports()[0], &[0, 1]);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    assert_eq!(rig.read_csr(csr::CAPS3), 4 << 8 | 9);
    rig.board.source_mut(0).send(&bytes(0, 4096));
    rig.board.source_mut(1).send(&bytes(1, 4096));
    rig.board.run(2_000).unwrap();
    rig.csr(csr::STREAM_SELECT, 0);
    let before = rig.read_csr(csr::STREAM_STATUS);
    assert!(before >> 16 > 512 && before & 1 == 1, "{before:#x}");
    let cases = [
        // Of another channel; one that is not open; one that the build does not have.
        (0, descriptor(peer, STREAM | 1, 64, RECORD, 0), LOCAL_RANGE),
        (0, descriptor(peer, STREAM | 2, 64, RECORD, 0), LOCAL_RANGE),
        (0, descriptor(peer, STREAM | 9, 64, RECORD, 0), LOCAL_RANGE),
        (0, descriptor(peer, STREAM | 15, 64, RECORD, 0), LOCAL_RANGE),
        // Reserved bits.
        (0, descriptor(peer, STREAM | 16, 64, RECORD, 0), DESCRIPTOR),
        (
            0,
            descriptor(peer, STREAM | 1 << 32, 64, RECORD, 0),
            DESCRIPTOR,
        ),
        (
            0,
            descriptor(peer, STREAM | 1 << 40, 64, RECORD, 0),
            DESCRIPTOR,
        ),
        (0, descriptor(peer, 2 << 60, 64, RECORD, 0), DESCRIPTOR),
        (0, descriptor(peer, 3 << 60, 64, RECORD, 0), DESCRIPTOR),
        // Not at 64 bytes.
        (0, descriptor(peer + 32, STREAM, 64, RECORD, 0), ALIGNMENT),
        (0, descriptor(peer, STREAM, 65, RECORD, 0), ALIGNMENT),
        (0, descriptor(peer, STREAM, 0, RECORD, 0), 1),
    ];
    for (channel, wrong, code) in cases {
        rig.queue_on(channel, false, wrong);
        let record = rig.wait_on(channel, 20_000);
        assert_eq!((record.code, record.bytes), (code, 0), "{wrong:?}");
    }
    // A read names an output, which is not open.
    rig.queue_on(0, true, descriptor(peer, STREAM, 64, RECORD, 0));
    assert_eq!(rig.wait_on(0, 20_000).code, LOCAL_RANGE);
    // No word was taken by any of them.
    rig.csr(csr::STREAM_SELECT, 0);
    assert_eq!(rig.read_csr(csr::STREAM_STATUS), before);
    // A channel that waits for a stream hears that it is closed.
    for channel in 0..2 {
        let local = STREAM | u64::from(channel);
        rig.queue_on(channel, false, descriptor(peer, local, 8192, RECORD, 7));
        rig.board.run(2_000).unwrap();
        rig.csr(csr::STREAM_SELECT, channel);
        rig.csr(csr::STREAM_CONTROL, 0);
        let record = rig.wait_on(channel, 20_000);
        assert_eq!(record.code, LOCAL_RANGE);
        assert!(record.bytes < 4096);
    }
    // A build without streams.
    let mut rig = Rig::new(&library(&Params::default()), near());
    let peer = map_for(&mut rig, 1, 0, MIB);
    assert_eq!(rig.read_csr(csr::CAPS3), 0);
    rig.queue(false, descriptor(peer, STREAM, 64, RECORD, 0));
    assert_eq!(rig.wait(20_000).code, DESCRIPTOR);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_begins_afresh_also_while_the_logics_clock_stands() {
    let params = ports()[0];
    let mut rig = rig(&params, &[0, 1]);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    for round in 0..6u32 {
        rig.board.source_mut(0).send(&bytes(round, 8192));
        rig.board.source_mut(1).send(&bytes(round, 8192));
        rig.queue(false, descriptor(peer, STREAM, 4096, RECORD, 1));
        rig.board.run(u64::from(300 + 211 * round)).unwrap();
        if round % 2 == 1 {
            rig.board.source_mut(1).set_clock_ps(0);
        }
        rig.board.reset().unwrap();
        rig.reuse_entries();
        rig.restart();
        for channel in 1..params.channels {
            rig.open_channel(channel);
        }
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        // Until it is opened the logic waits.
        while rig.board.source_mut(0).left() > 0 {
            open(&mut rig, 0, 0);
            rig.queue(false, descriptor(peer, STREAM, 64, RECORD, 1));
            if rig.board.source_mut(0).left() == 0 {
                break;
            }
            rig.wait(20_000);
        }
        control(&mut rig, 0, ABORT);
        rig.board.run(2_000).unwrap();
        while rig.poll().is_some() {}
        control(&mut rig, 0, ACCEPT | RUN);
        // With a stopped clock it stays closed, and the other one works.
        rig.csr(csr::STREAM_SELECT, 1);
        rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
        rig.board.run(2_000).unwrap();
        rig.csr(csr::STREAM_SELECT, 1);
        assert_eq!(
            rig.read_csr(csr::STREAM_STATUS) & 1,
            u32::from(round % 2 == 0)
        );
        rig.csr(csr::STREAM_CONTROL, 0);
        rig.csr(csr::STREAM_SELECT, 0);
        rig.csr(csr::STREAM_CONTROL, 0);
        rig.board.run(500).unwrap();
        open(&mut rig, 0, 0);
        let data = bytes(round + 100, 4096);
        rig.board.source_mut(0).send(&data);
        rig.queue(false, descriptor(peer + MIB, STREAM, 4096, RECORD, 2));
        let record = rig.wait(20_000);
        assert_eq!((record.code, record.bytes), (0, 4096));
        same("after a reset", &gpu(&rig, MIB, 4096), &data);
        rig.board.source_mut(1).set_clock_ps(5_000);
        let left = rig.board.source_mut(1).left();
        rig.csr(csr::STREAM_SELECT, 1);
        rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
        for _ in 0..200 {
            rig.board.run(100).unwrap();
        }
        assert!(left == 0 || rig.board.source_mut(1).left() < left);
        rig.csr(csr::STREAM_CONTROL, 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stream_that_is_closed_holds_up_no_other() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[0, 1]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        for round in 0..20u32 {
            // Requests of both streams wait at a port that takes nothing.
            hold(&mut rig, params.port, Backpressure::Random(100));
            for number in 0..2 {
                let data = bytes(round * 2 + number, 4096);
                rig.board.source_mut(number as usize).send(&data);
            }
            rig.board.run(1_000).unwrap();
            rig.queue_on(0, false, descriptor(peer, STREAM, 4096, RECORD, 1));
            rig.queue_on(
                1,
                false,
                descriptor(peer + MIB, STREAM | 1, 4096, RECORD, 2),
            );
            rig.board.run(u64::from(40 + 13 * round)).unwrap();
            rig.csr(csr::STREAM_SELECT, 0);
            rig.csr(csr::STREAM_CONTROL, 0);
            rig.board.run(200).unwrap();
            assert_eq!(rig.read_csr(csr::STREAM_STATUS), 0);
            // It is opened again at once, with other words.
            rig.csr(csr::STREAM_CONTROL, 1);
            rig.board.run(500).unwrap();
            hold(&mut rig, params.port, Backpressure::None);
            let record = rig.wait_on(1, 20_000);
            assert_eq!((record.code, record.bytes), (0, 4096), "round {round}");
            let data = bytes(round * 2 + 1, 4096);
            same("the other stream", &gpu(&rig, MIB, 4096), &data);
            // The descriptor of the closed stream ends, with the bytes that had left before the stream was closed.
            let left = rig.board.source_mut(0).left();
            let record = rig.wait_on(0, 20_000);
            assert!([0, LOCAL_RANGE].contains(&record.code), "{record:?}");
            assert_eq!(record.code == 0, record.bytes == 4096);
            let count = record.bytes as usize;
            same(
                "the closed stream",
                &gpu(&rig, 0, count),
                &bytes(round * 2, 4096)[..count],
            );
            assert!(left <= 256);
            // The earlier words are out of the way.
            control(&mut rig, 0, ABORT);
            rig.csr(csr::STREAM_SELECT, 0);
            rig.csr(csr::STREAM_CONTROL, 0);
            open(&mut rig, 0, 0);
            while rig.board.source_mut(0).left() > 0 {
                rig.csr(csr::STREAM_CONTROL, 0);
                open(&mut rig, 0, 0);
            }
            rig.csr(csr::STREAM_CONTROL, 0);
            rig.board.run(200).unwrap();
            open(&mut rig, 0, 0);
            control(&mut rig, 0, ACCEPT | RUN);
            let data = bytes(2000 + round, 2048);
            rig.board.source_mut(0).send(&data);
            rig.queue_on(0, false, descriptor(peer, STREAM, 2048, RECORD, 3));
            let record = rig.wait_on(0, 20_000);
            assert_eq!((record.code, record.bytes, record.cookie), (0, 2048, 3));
            same("after it was opened", &gpu(&rig, 0, 2048), &data);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_request_of_a_closed_stream_takes_nothing_of_its_next_owner() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[0]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        let mut refused = 0;
        for round in 0..40u32 {
            // The write path fills up with requests of a channel and of the stream, in turn. The one that finds no room
            // is judged, and waits.
            rig.csr(csr::STREAM_SELECT, 0);
            rig.csr(csr::STREAM_CONTROL, 1);
            rig.board.source_mut(0).send(&bytes(round, 1536));
            rig.board.run(1_500).unwrap();
            hold(&mut rig, params.port, Backpressure::Random(100));
            rig.queue_on(2, false, descriptor(peer + 2 * MIB, 0, 64 << 10, RECORD, 2));
            rig.board.run(u64::from(round) * 3).unwrap();
            rig.queue_on(0, false, descriptor(peer, STREAM, 1536, RECORD, 1));
            rig.board.run(500).unwrap();
            rig.csr(csr::STREAM_CONTROL, 0);
            rig.board.run(200).unwrap();
            rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
            rig.board.run(500).unwrap();
            hold(&mut rig, params.port, Backpressure::None);
            let record = rig.wait_on(0, 20_000);
            assert!([0, LOCAL_RANGE].contains(&record.code), "{record:?}");
            refused += u32::from(record.code != 0);
            assert_eq!(rig.wait_on(2, 50_000).bytes, 64 << 10);
            rig.board.run(500).unwrap();
            // Open, and empty.
            assert_eq!(rig.read_csr(csr::STREAM_STATUS), 1, "round {round}");
            let data = bytes(1000 + round, 2048);
            rig.board.source_mut(0).send(&data);
            rig.queue_on(1, false, descriptor(peer + MIB, STREAM, 2048, RECORD, 3));
            assert_eq!(rig.wait_on(1, 20_000).bytes, 2048);
            same("the next owner's words", &gpu(&rig, MIB, 2048), &data);
            rig.csr(csr::STREAM_CONTROL, 0);
            rig.board.run(200).unwrap();
        }
        assert!(refused > 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_descriptor_does_not_outlive_its_stream() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[0]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        // The descriptor has moved some of its words, and starves. Then the port takes nothing, so its channel has no
        // turn when the stream is closed.
        rig.board.source_mut(0).send(&bytes(1, 1024));
        rig.queue_on(0, false, descriptor(peer, STREAM, 4096, RECORD, 1));
        rig.board.run(2_000).unwrap();
        hold(&mut rig, params.port, Backpressure::Random(100));
        rig.queue_on(1, false, descriptor(peer + MIB, 0, 64 << 10, RECORD, 2));
        rig.board.run(500).unwrap();
        rig.csr(csr::STREAM_SELECT, 0);
        rig.csr(csr::STREAM_CONTROL, 0);
        rig.board.run(200).unwrap();
        rig.csr(csr::STREAM_CONTROL, 1);
        rig.board.run(500).unwrap();
        rig.board.source_mut(0).send(&bytes(2, 8192));
        hold(&mut rig, params.port, Backpressure::None);
        let record = rig.wait_on(0, 20_000);
        assert_eq!(record.code, LOCAL_RANGE, "{record:?}");
        assert!(record.bytes <= 1024);
        assert_eq!(rig.wait_on(1, 50_000).bytes, 64 << 10);
        rig.queue_on(0, false, descriptor(peer, STREAM, 8192, RECORD, 3));
        assert_eq!(rig.wait_on(0, 20_000).bytes, 8192);
        same("the stream", &gpu(&rig, 0, 8192), &bytes(2, 8192));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_header_of_a_block_is_right_also_if_the_stream_is_closed_then() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[5]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        let mut whole = 0;
        for offset in 0..96 {
            rig.csr(csr::STREAM_SELECT, 5);
            open(&mut rig, 5, 0);
            rig.board.source_mut(5).send_packet(&bytes(offset, 448));
            rig.board.run(300).unwrap();
            rig.queue_on(0, false, descriptor(peer, STREAM | 5, 512, RECORD, offset));
            rig.board.run(u64::from(offset) / 2).unwrap();
            rig.csr(csr::STREAM_CONTROL, 0);
            let record = rig.wait_on(0, 20_000);
            if record.code == 0 {
                assert_eq!((record.bytes, record.fault >> 63), (448, 1), "{record:?}");
                whole += 1;
            } else {
                assert_eq!(record.code, LOCAL_RANGE);
            }
            rig.board.run(200).unwrap();
        }
        assert!(whole > 0 && whole < 96, "{whole}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_time_limit_ends_a_block_in_front_of_a_gap_without_an_end() {
    for params in ports() {
        let mut rig = rig(&params, &[8]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        let data = bytes(1, 64 << 10);
        rig.board.source_mut(8).send_packet(&data);
        // Words are lost, and then the logic pauses in the middle of its packet.
        rig.board.run(2_500).unwrap();
        rig.board.source_mut(8).set_gaps(100);
        rig.csr(csr::STREAM_SELECT, 8);
        rig.csr(csr::STREAM_LIMIT, 4);
        rig.queue(false, descriptor(peer, STREAM | 8, 64 << 10, RECORD, 1));
        let record = rig.wait(20_000);
        assert_eq!((record.code, record.fault >> 48), (0, 0), "{record:?}");
        let head = record.bytes as usize;
        assert!(head > 8192 && head < 32 << 10, "{head}");
        same("in front of the gap", &gpu(&rig, 0, head), &data[..head]);
        // The rest of the packet is lost, and the next one says how much.
        rig.board.source_mut(8).set_gaps(0);
        rig.board.source_mut(8).send_packet(&bytes(2, 640));
        rig.queue(false, descriptor(peer, STREAM | 8, 64 << 10, RECORD, 2));
        let record = rig.wait(20_000);
        assert_eq!((record.code, record.bytes), (0, 640));
        assert_eq!(record.fault >> 63, 1);
        let lost = ((64 << 10) - head) / width(8);
        assert_eq!((record.fault >> 48 & 0x7FFF) as usize, lost);
        same("the next packet", &gpu(&rig, 0, 640), &bytes(2, 640));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_rest_of_a_packet_reaches_no_later_owner() {
    for params in ports() {
        for number in [4, 5, 8] {
            let mut rig = rig(&params, &[number]);
            let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
            for round in 0..4 {
                // More than the stream has room for, so the logic waits in the middle.
                rig.board
                    .source_mut(number as usize)
                    .send_packet(&bytes(round, 80 << 10));
                rig.board.run(1_000).unwrap();
                rig.csr(csr::STREAM_SELECT, number);
                rig.csr(csr::STREAM_CONTROL, 0);
                rig.board.run(300).unwrap();
                let next = bytes(100 + round, 700);
                rig.board.source_mut(number as usize).send_packet(&next);
                open(&mut rig, number, 1);
                let local = STREAM | u64::from(number);
                rig.queue_on(1, false, descriptor(peer, local, 1024, RECORD, round));
                let record = rig.wait_on(1, 100_000);
                assert_eq!((record.code, record.bytes), (0, 700), "{params:?}");
                same("the next packet", &gpu(&rig, 0, 700), &next);
                rig.csr(csr::STREAM_CONTROL, 0);
                open(&mut rig, number, 0);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_last_owner_counts_while_a_stream_opens() {
    let mut rig = rig(&ports()[0], &[]);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    rig.csr(csr::STREAM_SELECT, 0);
    for round in 0..3u32 {
        rig.board.source_mut(0).set_clock_ps(0);
        for owner in [6, 2] {
            rig.csr(csr::STREAM_CONTROL, owner << 8 | 1);
            rig.board.run(u64::from(round) * 40).unwrap();
        }
        assert_eq!(rig.read_csr(csr::STREAM_STATUS) & 1, 0);
        rig.board.source_mut(0).set_clock_ps(5_000);
        rig.board.run(500).unwrap();
        assert_eq!(rig.read_csr(csr::STREAM_STATUS) & 1, 1, "round {round}");
        rig.board.source_mut(0).send(&bytes(round, 512));
        rig.queue_on(2, false, descriptor(peer, STREAM, 512, RECORD, 1));
        assert_eq!(rig.wait_on(2, 20_000).bytes, 512);
        rig.csr(csr::STREAM_CONTROL, 0);
        rig.board.run(300).unwrap();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn starved_channels_cost_others_nothing() {
    for params in ports() {
        let mut rig = rig(&params, &[0, 1, 2, 3]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        let (length, count) = (32 << 10, 8);
        let alone = cycles(&mut rig, 7, peer, 0, length, count);
        // As a ring has them: several descriptors a channel.
        for channel in 0..4 {
            for cookie in 0..4 {
                let local = STREAM | u64::from(channel);
                rig.queue_on(
                    channel,
                    false,
                    descriptor(peer + MIB, local, 4096, RECORD, cookie),
                );
            }
        }
        rig.board.run(1_000).unwrap();
        let beside = cycles(&mut rig, 7, peer, 0, length, count);
        assert!(
            beside as f64 <= 1.01 * alone as f64,
            "{params:?}: {beside} cycles, {alone} alone"
        );
        // A fence ends at any time.
        for offset in 0..64 {
            rig.board.run(offset).unwrap();
            rig.csr(csr::ATT_INVALIDATE, 1);
            rig.board.run(200).unwrap();
            assert_eq!(rig.read_csr(csr::ATT_INVALIDATE) & 2, 0, "offset {offset}");
        }
        // After an abort the channels are as others.
        for channel in 0..4 {
            control(&mut rig, channel, ACCEPT | RUN | ABORT);
        }
        for channel in 0..4 {
            for cookie in 0..4 {
                let record = rig.wait_on(channel, 20_000);
                assert_eq!((record.code, record.cookie), (ABORTED, cookie));
            }
            control(&mut rig, channel, ACCEPT | RUN);
        }
        for channel in 0..4 {
            rig.queue_on(channel, false, descriptor(peer, 0, 64 << 10, RECORD, 9));
        }
        for channel in 0..4 {
            assert_eq!(rig.wait_on(channel, 50_000).bytes, 64 << 10);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_fence_that_starts_while_a_channel_starves_ends() {
    let mut rig = rig(&ports()[0], &[0, 1]);
    let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
    rig.queue_on(1, false, descriptor(peer, STREAM | 1, 4096, RECORD, 0));
    rig.board.run(1_000).unwrap();
    for offset in 0..64u64 {
        // The descriptor is looked at, and starves, some cycles after its doorbell.
        let doorbell = rig.describe(0, false, descriptor(peer, STREAM, 4096, RECORD, 0));
        rig.board
            .bar_write32(Space::Chan, doorbell, u32::from(offset > 0))
            .unwrap();
        rig.board.run(offset % 32).unwrap();
        rig.csr(csr::ATT_INVALIDATE, 1);
        rig.board.run(200).unwrap();
        assert_eq!(rig.read_csr(csr::ATT_INVALIDATE) & 2, 0, "offset {offset}");
        control(&mut rig, 0, ACCEPT | RUN | ABORT);
        assert_eq!(rig.wait_on(0, 20_000).code, ABORTED);
        control(&mut rig, 0, ACCEPT | RUN);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_dead_port_ends_descriptors_that_wait_for_streams() {
    for params in ports() {
        let mut rig = rig(&params, &[0]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        rig.queue(false, descriptor(peer, STREAM, 4096, RECORD, 1));
        rig.board.run(1_000).unwrap();
        rig.csr(csr::PORT_TIMEOUT, 2_000);
        hold(&mut rig, params.port, Backpressure::Random(100));
        rig.queue_on(1, false, descriptor(peer + MIB, 0, 4096, RECORD, 2));
        rig.board.run(6_000).unwrap();
        // The record is lost, as all of that time: the channel has ended.
        rig.csr(csr::CHANNEL_SELECT, 0);
        assert_eq!(rig.read_csr(csr::CHANNEL_STATUS), 0);
    }
}

/// Returns the cycles from the first doorbell to the last record of `count` blocks of `length` bytes.
fn cycles(rig: &mut Rig, channel: u32, peer: u64, local: u64, length: u32, count: u32) -> u64 {
    cycles_of(rig, false, channel, peer, local, (length, count))
}

/// The same of either direction.
pub fn cycles_of(
    rig: &mut Rig,
    read: bool,
    channel: u32,
    peer: u64,
    local: u64,
    (length, count): (u32, u32),
) -> u64 {
    let start = rig.board.cycles();
    for block in 0..count {
        let at = peer + u64::from(block * length);
        rig.queue_on(channel, read, descriptor(at, local, length, RECORD, block));
    }
    for block in 0..count {
        let record = rig.wait_on(channel, 200_000);
        assert_eq!(
            (record.code, record.bytes, record.cookie),
            (0, length, block)
        );
    }
    rig.board.cycles() - start
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stream_is_as_fast_as_memory() {
    for params in ports() {
        let number = params.port_bits / 256 + 1;
        assert_eq!(INPUTS[number as usize].bits, params.port_bits);
        let mut rig = rig(&params, &[number]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        rig.board.source_mut(number as usize).set_clock_ps(4_000);
        let (length, count) = (32 << 10, 16);
        rig.board
            .source_mut(number as usize)
            .send(&bytes(1, (length * count) as usize));
        // The buffers are full before the first doorbell, as FPGA memory is.
        rig.board.run(2_000).unwrap();
        let streamed = cycles(&mut rig, 0, peer, STREAM | u64::from(number), length, count);
        let stored = cycles(&mut rig, 0, peer, 0, length, count);
        assert!(
            streamed as f64 <= 1.01 * stored as f64,
            "{params:?}: {streamed} cycles, {stored} from memory"
        );
    }
}

/// Rings the write doorbell of channel 0 without a descriptor: the one that the slot at the tail had a lap ago counts.
fn ring_again(rig: &mut Rig, freed: u32) {
    let doorbell = chan::WRITE_DOORBELL as u64;
    rig.board.bar_write32(Space::Chan, doorbell, freed).unwrap();
}

/// A consumer that returns the slots of a ring by one store each, as a GPU's kernel does.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_doorbell_without_a_descriptor_returns_a_slot() {
    const SLOTS: u32 = 8;
    const SLOT: usize = 1024;
    for params in ports() {
        let mut rig = rig(&params, &[0]);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        let queue = params.queue_depth();
        // The descriptors of a closed stream end at once, and leave the queue's memory as it is to be.
        rig.csr(csr::STREAM_SELECT, 0);
        rig.csr(csr::STREAM_CONTROL, 0);
        for cookie in 0..queue {
            let at = peer + u64::from(cookie % SLOTS) * SLOT as u64;
            let slot = descriptor(at, STREAM, SLOT as u32, RECORD, cookie);
            rig.queue_on(0, false, slot);
            let record = rig.wait_on(0, 10_000);
            assert_eq!((record.code, record.cookie), (LOCAL_RANGE, cookie));
        }
        open(&mut rig, 0, 0);
        let blocks = 2 * queue + SLOTS + 3;
        let data = bytes(7, blocks as usize * SLOT);
        rig.board.source_mut(0).send(&data);
        ring_again(&mut rig, 1);
        for _ in 1..SLOTS {
            ring_again(&mut rig, 0);
        }
        for (block, sent) in (0..).zip(data.chunks(SLOT)) {
            let record = rig.wait_on(0, 100_000);
            assert_eq!(
                (record.code, record.cookie),
                (0, block % queue),
                "{params:?}"
            );
            if block == queue + 2 {
                // No slot is filled that was not returned.
                let filled = gpu(&rig, 0, SLOTS as usize * SLOT);
                for _ in 1..SLOTS {
                    rig.board.run(4000).unwrap();
                }
                let later = gpu(&rig, 0, SLOTS as usize * SLOT);
                let first = (block % SLOTS) as usize * SLOT;
                same(
                    "the slot in use",
                    &later[first..first + SLOT],
                    &filled[first..first + SLOT],
                );
            }
            let at = u64::from(block % SLOTS) * SLOT as u64;
            same("a block", &gpu(&rig, at, SLOT), sent);
            ring_again(&mut rig, 1);
        }
    }
}

/// The records of a channel lie in the GPU's memory, as the blocks do: neither has to go through host memory.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn records_lie_in_the_gpus_memory() {
    const BLOCKS: u32 = 40;
    const SLOT: usize = 512;
    const RING: u64 = MIB;
    for params in ports() {
        let mut rig = rig(&params, &[0]);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        let page = rig.board.gpu_mut().pin(RING, 4096).unwrap()[0];
        rig.board.bus_mut().allow(page..page + 4096, Access::Write);
        rig.csr(csr::CHANNEL_SELECT, 0);
        rig.csr(csr::CHANNEL_RING_HI, (page >> 32) as u32);
        // 16 records.
        rig.csr(csr::CHANNEL_RING_LO, page as u32 | 4 << 4 | 1);
        let data = bytes(3, BLOCKS as usize * SLOT);
        rig.board.source_mut(0).send(&data);
        for (block, sent) in (0..BLOCKS).zip(data.chunks(SLOT)) {
            let at = u64::from(block) * SLOT as u64;
            let slot = descriptor(peer + at, STREAM, SLOT as u32, RECORD, block);
            rig.queue_telling(0, false, slot, u32::from(block != 0));
            let record = RING + u64::from(block % 16) * 32;
            let lap = block / 16;
            let there = |rig: &Rig| {
                let words = gpu(rig, record, 8);
                words[..4] == block.to_le_bytes() && u32::from(words[4] & 1) == (lap & 1 ^ 1)
            };
            let end = rig.board.cycles() + 50_000;
            while !there(&rig) {
                assert!(
                    rig.board.cycles() < end,
                    "{params:?}: no record of block {block}"
                );
                rig.board.run(16).unwrap();
            }
            // The data are there when the record is.
            same("a block", &gpu(&rig, at, SLOT), sent);
            let ended = gpu(&rig, record, 12);
            assert_eq!(
                (ended[6], ended[8..].to_vec()),
                (0, (SLOT as u32).to_le_bytes().to_vec())
            );
        }
    }
}
