//! Streams from peers to the FPGA's logic. The packets that the logic gets are compared with the peer's memory, and the
//! records with the descriptors.

use crate::channels::{ABORT, ABORTED, ACCEPT, RUN, control, descriptor, map_for};
use crate::inputs::{
    ALIGNMENT, LOCAL_RANGE, OUTPUTS, STREAM, bytes, cycles_of, open, ports, rig, rig_with,
};
use crate::port::hold;
use crate::rig::{MIB, RECORD, Rig, near, same};
use peerlane_core::regs::csr;
use peerlane_hdl::{Params, Port};
use peerlane_sim::{Answer, Backpressure, BoardConfig, FaultRule, Hits, Packet, Side};

const DESCRIPTOR: u8 = 10;
const ATT_INVALID: u8 = 3;
/// Bit of STREAM_SELECT: an output.
const OUT: u32 = 16;
/// Bytes of a stream's buffer.
const BUFFER: u32 = 32 << 10;

/// Waits for a packet of an output.
fn packet(rig: &mut Rig, number: usize, cycles: u64) -> Packet {
    for _ in 0..cycles / 16 {
        if let Some(packet) = rig.board.sink_mut(number).packet() {
            return packet;
        }
        rig.board.run(16).unwrap();
    }
    panic!("no packet in {cycles} cycles");
}

/// Fills the GPU's memory with bytes that say where they belong.
fn fill(rig: &mut Rig, seed: u32, count: usize) -> Vec<u8> {
    let data = bytes(seed, count);
    rig.board.gpu_mut().write(0, &data).unwrap();
    data
}

/// Returns STREAM_STATUS of an output.
fn status(rig: &mut Rig, number: u32) -> u32 {
    rig.csr(csr::STREAM_SELECT, OUT | number);
    rig.read_csr(csr::STREAM_STATUS)
}

/// The ports of the inputs' tests, and a transaction layer.
fn all_ports() -> impl Iterator<Item = Params> {
    let layer = Params {
        port: Port::Tlp,
        ..ports()[1]
    };
    ports().into_iter().chain([layer])
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn packets_arrive_whole_and_in_order_for_every_width_and_clock() {
    for params in all_ports() {
        for (round, clocks) in [[1_700, 4_000, 9_100, 31_000], [31_000, 9_100, 4_000, 1_700]]
            .into_iter()
            .enumerate()
        {
            let mut config = near();
            config.seed = round as u64;
            config.link.read_jitter_ns = 400 * round as u32;
            config.stream.reorder = 50;
            config.stream.short_completions = 60;
            config.stream.answer_gaps = 10;
            let mut rig = rig_with(&params, config, &[OUT, OUT | 1, OUT | 2, OUT | 3]);
            let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
            let data = fill(&mut rig, round as u32, 4 * MIB as usize);
            for (number, clock) in clocks.into_iter().enumerate() {
                rig.board.sink_mut(number).set_clock_ps(clock);
                rig.board
                    .sink_mut(number)
                    .set_gaps([0, 30, 0, 60][(number + round) % 4]);
            }
            let lengths = [
                1u32, 7, 8, 9, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 513, 1000, 4096,
                20_480, 4097, 3, 2048, 64, 64, 64,
            ];
            // All reads of a streams' packets lie apart, and one descriptor of memory in between.
            let place = |number: u32, at: usize| {
                u64::from(number) * MIB + at as u64 * 0x5000 + 64 * u64::from(number)
            };
            for (at, length) in lengths.into_iter().enumerate() {
                for number in 0..4u32 {
                    let local = STREAM | u64::from(number);
                    let from = peer + place(number, at);
                    rig.queue_on(
                        number,
                        true,
                        descriptor(from, local, length, RECORD, at as u32),
                    );
                }
                rig.queue_on(
                    5,
                    true,
                    descriptor(peer + 3, at as u64 * 8192 + 5, 700, RECORD, 9),
                );
            }
            for (at, length) in lengths.into_iter().enumerate() {
                for number in 0..4u32 {
                    let record = rig.wait_on(number, 400_000);
                    assert_eq!(
                        (record.code, record.bytes, record.cookie),
                        (0, length, at as u32),
                        "{params:?}"
                    );
                    let got = packet(&mut rig, number as usize, 400_000);
                    let from = place(number, at) as usize;
                    same(
                        &format!("packet {at} of output {number}"),
                        &got.bytes,
                        &data[from..from + length as usize],
                    );
                    assert!(!got.error);
                }
                assert_eq!(rig.wait_on(5, 100_000).bytes, 700);
            }
            for number in 0..4 {
                assert_eq!(rig.board.sink_mut(number).packet(), None);
                assert_eq!(status(&mut rig, number as u32), 1, "open and empty");
            }
            let mut memory = vec![0; 700];
            for at in 0..lengths.len() as u64 {
                rig.board.ddr().read(at * 8192 + 5, &mut memory).unwrap();
                same("memory", &memory, &data[3..703]);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn logic_that_takes_nothing_holds_up_nobody() {
    for params in ports() {
        let mut rig = rig(&params, &[OUT, OUT | 1, OUT | 2]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        let data = fill(&mut rig, 1, 4 * MIB as usize);
        let alone = cycles_of(&mut rig, true, 7, peer, 0, (BUFFER, 8));
        // One takes nothing, one has no clock, one is slow.
        rig.board.sink_mut(0).set_gaps(100);
        rig.board.sink_mut(1).set_clock_ps(0);
        rig.board.sink_mut(2).set_clock_ps(400_000);
        for channel in 0..3 {
            for cookie in 0..4 {
                let local = STREAM | u64::from(channel);
                rig.queue_on(
                    channel,
                    true,
                    descriptor(peer, local, 4 * BUFFER, RECORD, cookie),
                );
            }
        }
        rig.board.run(20_000).unwrap();
        for number in 0..2 {
            // Full but for less than a request.
            let waiting = status(&mut rig, number) >> 16;
            assert!(waiting > BUFFER - 576 && waiting <= BUFFER, "{waiting}");
        }
        let beside = cycles_of(&mut rig, true, 7, peer, 0, (BUFFER, 8));
        // The slow one takes a word now and then.
        assert!(
            beside as f64 <= 1.02 * alone as f64,
            "{params:?}: {beside} cycles, {alone} alone"
        );
        rig.board.sink_mut(0).set_gaps(0);
        rig.board.sink_mut(1).set_clock_ps(3_000);
        rig.board.sink_mut(2).set_clock_ps(2_000);
        for cookie in 0..4 {
            for channel in 0..3 {
                let record = rig.wait_on(channel, 200_000);
                assert_eq!((record.code, record.cookie), (0, cookie));
                let got = packet(&mut rig, channel as usize, 200_000);
                same("a packet", &got.bytes, &data[..4 * BUFFER as usize]);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_packet_whose_descriptor_fails_ends_with_an_error() {
    for params in ports() {
        let mut rig = rig(&params, &[OUT, OUT | 3]);
        let data = fill(&mut rig, 1, MIB as usize);
        // The entry after the first is not valid.
        let peer = map_for(&mut rig, 0xFF, 0, 64 << 10);
        for (channel, number) in [(0, 0u32), (1, 3)] {
            for gaps in [0, 50] {
                rig.board.sink_mut(number as usize).set_gaps(gaps);
                let local = STREAM | u64::from(number);
                for (start, whole) in [(0u64, 64 << 10), (0xF000, 4096), (0xFFC0, 64)] {
                    let good = descriptor(peer, local, 1000, RECORD, 1);
                    rig.queue_on(channel, true, good);
                    let bad = descriptor(peer + start, local, whole + 8192, RECORD, 2);
                    rig.queue_on(channel, true, bad);
                    rig.queue_on(channel, true, good);
                    assert_eq!(rig.wait_on(channel, 50_000).code, 0);
                    let record = rig.wait_on(channel, 50_000);
                    assert_eq!((record.code, record.bytes), (ATT_INVALID, whole));
                    assert_eq!(rig.wait_on(channel, 50_000).code, 0);
                    let from = start as usize;
                    for (want, error) in [
                        (&data[..1000], false),
                        (&data[from..from + whole as usize], true),
                        (&data[..1000], false),
                    ] {
                        let got = packet(&mut rig, number as usize, 50_000);
                        same("a packet", &got.bytes, want);
                        assert_eq!(got.error, error);
                    }
                }
                // Nothing of this one reaches the logic.
                let none = descriptor(peer + (64 << 10), local, 8192, RECORD, 2);
                rig.queue_on(channel, true, none);
                let record = rig.wait_on(channel, 50_000);
                assert_eq!((record.code, record.bytes), (ATT_INVALID, 0));
                rig.board.run(2_000).unwrap();
                assert_eq!(rig.board.sink_mut(number as usize).packet(), None);
                assert_eq!(status(&mut rig, number), 1);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn words_of_a_read_that_fails_reach_no_logic() {
    // Only a port with tags goes on after such a read.
    for params in &ports()[1..] {
        assert_eq!(params.port, Port::Stream);
        let mut rig = rig(params, &[OUT, OUT | 3]);
        let data = fill(&mut rig, 1, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        let mut cut = 0;
        for round in 0..24u64 {
            let (channel, number) = [(0, 0u32), (1, 3)][round as usize % 2];
            rig.board
                .sink_mut(number as usize)
                .set_gaps([0, 50][round as usize / 2 % 2]);
            rig.board.bus_mut().inject(FaultRule {
                hits: Hits::Nth(round % 12),
                answer: Answer::Unsupported,
            });
            let local = STREAM | u64::from(number);
            for cookie in 0..3u64 {
                let from = peer + 8192 * cookie;
                rig.queue_on(
                    channel,
                    true,
                    descriptor(from, local, 3000, RECORD, cookie as u32),
                );
            }
            for cookie in 0..3usize {
                let record = rig.wait_on(channel, 50_000);
                let whole = &data[8192 * cookie..][..3000];
                let want = &whole[..record.bytes as usize];
                if record.code != 0 && record.bytes == 0 {
                    continue;
                }
                let got = packet(&mut rig, number as usize, 50_000);
                same("a packet", &got.bytes, want);
                assert_eq!(got.error, record.code != 0);
                assert_eq!(record.code == 0, record.bytes == 3000);
                cut += u32::from(record.code != 0);
            }
            rig.board.bus_mut().clear_faults();
            rig.board.run(2_000).unwrap();
            assert_eq!(status(&mut rig, number), 1, "open and empty");
        }
        assert!(cut > 8, "{cut}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn outputs_of_others_and_wrong_descriptors_are_refused() {
    let mut rig = rig(&ports()[0], &[OUT, OUT | 1]);
    let data = fill(&mut rig, 5, 8192);
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    let last = OUTPUTS.len() as u64;
    for (channel, wrong, code) in [
        (0, descriptor(peer, STREAM | 1, 64, RECORD, 0), LOCAL_RANGE),
        (0, descriptor(peer, STREAM | 2, 64, RECORD, 0), LOCAL_RANGE),
        (
            0,
            descriptor(peer, STREAM | last, 64, RECORD, 0),
            LOCAL_RANGE,
        ),
        (0, descriptor(peer, STREAM | 16, 64, RECORD, 0), DESCRIPTOR),
        (0, descriptor(peer + 32, STREAM, 64, RECORD, 0), ALIGNMENT),
        (0, descriptor(peer, STREAM, 0, RECORD, 0), 1),
    ] {
        rig.queue_on(channel, true, wrong);
        let record = rig.wait_on(channel, 20_000);
        assert_eq!((record.code, record.bytes), (code, 0), "{wrong:?}");
    }
    // In the middle of another channel's packet, a refused descriptor ends nothing.
    rig.board.sink_mut(0).set_gaps(100);
    rig.queue_on(0, true, descriptor(peer, STREAM, BUFFER + 8192, RECORD, 0));
    rig.board.run(5_000).unwrap();
    rig.queue_on(1, true, descriptor(peer, STREAM, 64, RECORD, 0));
    assert_eq!(rig.wait_on(1, 20_000).code, LOCAL_RANGE);
    rig.board.sink_mut(0).set_gaps(0);
    rig.board.run(5_000).unwrap();
    assert_eq!(rig.wait_on(0, 20_000).code, 0);
    let got = packet(&mut rig, 0, 20_000);
    assert!(!got.error && got.bytes.len() == BUFFER as usize + 8192);
    same("a packet", &got.bytes[..8192], &data);
    for number in 0..2 {
        assert_eq!(rig.board.sink_mut(number).packet(), None);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_output_that_is_closed_cuts_its_packet_and_opens_empty() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[OUT | 2]);
        let data = fill(&mut rig, 5, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        let (mut cut, mut refused) = (0, 0);
        for round in 0..60u64 {
            let gaps = [0, 40, 90, 100][round as usize % 4];
            rig.board.sink_mut(2).set_gaps(gaps);
            rig.queue_on(0, true, descriptor(peer, STREAM | 2, 60_000, RECORD, 1));
            rig.queue_on(0, true, descriptor(peer, STREAM | 2, 60_000, RECORD, 2));
            rig.board.run(100 + 37 * round).unwrap();
            rig.csr(csr::STREAM_SELECT, OUT | 2);
            rig.csr(csr::STREAM_CONTROL, 0);
            // It is opened for another channel at once, with reads of the first under way.
            rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
            rig.board.run(1_500).unwrap();
            assert_eq!(rig.read_csr(csr::STREAM_STATUS), 1, "round {round}");
            for _ in 0..2 {
                let record = rig.wait_on(0, 50_000);
                assert!([0, LOCAL_RANGE].contains(&record.code), "{record:?}");
                refused += u32::from(record.code != 0);
            }
            rig.queue_on(
                1,
                true,
                descriptor(peer + 4096, STREAM | 2, 5000, RECORD, 3),
            );
            assert_eq!(rig.wait_on(1, 20_000).code, 0);
            rig.board.sink_mut(2).set_gaps(gaps.min(90));
            // At most two packets of the first owner, the last of which may be cut; then the new owner's.
            let mut packets = Vec::new();
            loop {
                let got = packet(&mut rig, 2, 50_000);
                if !got.error && got.bytes.len() == 5000 {
                    same("the next owner's", &got.bytes, &data[4096..9096]);
                    break;
                }
                packets.push(got);
            }
            assert!(packets.len() <= 2);
            for (at, got) in packets.iter().enumerate() {
                same("the first owner's", &got.bytes, &data[..got.bytes.len()]);
                assert!(got.error || got.bytes.len() == 60_000);
                assert!(!got.error || at + 1 == packets.len());
                cut += u32::from(got.error);
            }
            rig.csr(csr::STREAM_CONTROL, 0);
            open(&mut rig, OUT | 2, 0);
        }
        assert!(cut > 20 && refused > 20, "{cut} cut, {refused} refused");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_in_the_middle_of_packets_leaves_nothing() {
    let params = ports()[0];
    let mut rig = rig(&params, &[OUT, OUT | 1]);
    for round in 0..12u64 {
        let data = fill(&mut rig, round as u32, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        rig.board
            .sink_mut(0)
            .set_gaps([0, 50, 100][round as usize % 3]);
        rig.queue_on(0, true, descriptor(peer, STREAM, 60_000, RECORD, 1));
        rig.queue_on(1, true, descriptor(peer, STREAM | 1, 60_000, RECORD, 1));
        rig.board.run(200 + 111 * round).unwrap();
        rig.board.sink_mut(1).set_clock_ps(0);
        rig.board.reset().unwrap();
        rig.reuse_entries();
        rig.restart();
        for channel in 1..params.channels {
            rig.open_channel(channel);
        }
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        open(&mut rig, OUT, 0);
        // With a stopped clock, the other stays closed.
        rig.csr(csr::STREAM_SELECT, OUT | 1);
        rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
        rig.board.run(1_000).unwrap();
        assert_eq!(rig.read_csr(csr::STREAM_STATUS), 0);
        rig.queue_on(0, true, descriptor(peer + 64, STREAM, 3000, RECORD, 2));
        assert_eq!(rig.wait_on(0, 20_000).bytes, 3000);
        rig.board.sink_mut(0).set_gaps(0);
        rig.board.sink_mut(1).set_clock_ps(5_000);
        rig.board.run(1_000).unwrap();
        rig.queue_on(1, true, descriptor(peer + 64, STREAM | 1, 3000, RECORD, 2));
        assert_eq!(rig.wait_on(1, 20_000).bytes, 3000);
        for number in 0..2 {
            let mut got = packet(&mut rig, number, 20_000);
            if got.error {
                same("before the reset", &got.bytes, &data[..got.bytes.len()]);
                got = packet(&mut rig, number, 20_000);
            }
            same("after the reset", &got.bytes, &data[64..3064]);
            assert!(!got.error);
            assert_eq!(rig.board.sink_mut(number).packet(), None);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_abort_ends_descriptors_that_wait_for_room() {
    for params in ports() {
        let mut rig = rig(&params, &[OUT | 1]);
        let data = fill(&mut rig, 5, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        rig.board.sink_mut(1).set_gaps(100);
        for cookie in 0..3 {
            let local = STREAM | 1;
            rig.queue_on(0, true, descriptor(peer, local, 60_000, RECORD, cookie));
        }
        rig.board.run(10_000).unwrap();
        control(&mut rig, 0, ACCEPT | RUN | ABORT);
        for cookie in 0..3 {
            let record = rig.wait_on(0, 20_000);
            assert_eq!((record.code, record.cookie), (ABORTED, cookie));
            assert_eq!(record.bytes > 0, cookie == 0);
        }
        control(&mut rig, 0, ACCEPT | RUN);
        rig.board.sink_mut(1).set_gaps(0);
        let got = packet(&mut rig, 1, 20_000);
        assert!(got.error && got.bytes.len() > 30_000);
        same("the packet", &got.bytes, &data[..got.bytes.len()]);
        rig.queue_on(0, true, descriptor(peer, STREAM | 1, 60_000, RECORD, 4));
        assert_eq!(rig.wait_on(0, 50_000).bytes, 60_000);
        let got = packet(&mut rig, 1, 20_000);
        assert!(!got.error);
        same("the next packet", &got.bytes, &data[..60_000]);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_request_goes_on_at_the_beginning_of_the_buffer() {
    for params in ports() {
        // Each first packet puts the requests of the next at other places.
        for first in [64u32, 256, 448] {
            let mut rig = rig(&params, &[OUT, OUT | 1]);
            let data = fill(&mut rig, first, MIB as usize);
            let peer = map_for(&mut rig, 0xFF, 0, MIB);
            // The words that wait in the other buffer stay.
            rig.board.sink_mut(1).set_gaps(100);
            rig.queue_on(1, true, descriptor(peer, STREAM | 1, 8192, RECORD, 0));
            rig.wait_on(1, 20_000);
            for length in [first, 64 << 10] {
                rig.queue_on(0, true, descriptor(peer, STREAM, length, RECORD, 0));
                assert_eq!(rig.wait_on(0, 100_000).code, 0);
                let got = packet(&mut rig, 0, 50_000);
                same("a packet", &got.bytes, &data[..length as usize]);
            }
            rig.board.sink_mut(1).set_gaps(0);
            let got = packet(&mut rig, 1, 50_000);
            same("the other stream", &got.bytes, &data[..8192]);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_slow_memory_clock_is_waited_for() {
    for params in ports() {
        let config = BoardConfig {
            clk_ps: 60_000,
            ..near()
        };
        let mut rig = rig_with(&params, config, &[]);
        // The reset takes as long.
        rig.board.run(4_000).unwrap();
        rig.restart();
        open(&mut rig, OUT | 3, 0);
        rig.board.sink_mut(3).set_clock_ps(1_700);
        let data = fill(&mut rig, 3, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        for (at, length) in [64u32, 1, 512, 4096, 1000].into_iter().enumerate() {
            let from = at * 8192;
            rig.queue_on(
                0,
                true,
                descriptor(peer + from as u64, STREAM | 3, length, RECORD, 0),
            );
            assert_eq!(rig.wait_on(0, 50_000).code, 0);
            let got = packet(&mut rig, 3, 50_000);
            same("a packet", &got.bytes, &data[from..][..length as usize]);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_descriptor_does_not_outlive_its_stream() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[OUT]);
        let data = fill(&mut rig, 3, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        // The descriptor waits for room. Then the port takes nothing, so its channel has no turn when the stream is
        // closed.
        rig.board.sink_mut(0).set_gaps(100);
        rig.queue_on(0, true, descriptor(peer, STREAM, 60_000, RECORD, 1));
        rig.board.run(10_000).unwrap();
        hold(&mut rig, params.port, Backpressure::Random(100));
        rig.queue_on(1, true, descriptor(peer, 0, 64 << 10, RECORD, 2));
        rig.board.run(500).unwrap();
        rig.csr(csr::STREAM_SELECT, OUT);
        rig.csr(csr::STREAM_CONTROL, 0);
        rig.board.run(200).unwrap();
        rig.csr(csr::STREAM_CONTROL, 1);
        rig.board.run(500).unwrap();
        rig.board.sink_mut(0).set_gaps(0);
        hold(&mut rig, params.port, Backpressure::None);
        let record = rig.wait_on(0, 20_000);
        assert_eq!(record.code, LOCAL_RANGE, "{record:?}");
        assert_eq!(rig.wait_on(1, 50_000).bytes, 64 << 10);
        rig.board.run(1_000).unwrap();
        while let Some(got) = rig.board.sink_mut(0).packet() {
            assert!(got.error, "{} bytes without an error", got.bytes.len());
            same("the packet", &got.bytes, &data[..got.bytes.len()]);
        }
        rig.queue_on(0, true, descriptor(peer, STREAM, 3000, RECORD, 3));
        assert_eq!(rig.wait_on(0, 20_000).bytes, 3000);
        let got = packet(&mut rig, 0, 20_000);
        same("the next packet", &got.bytes, &data[..3000]);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_from_before_a_close_reach_no_later_packet() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[OUT | 2]);
        let data = fill(&mut rig, 3, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        for round in 0..24u64 {
            rig.queue_on(0, true, descriptor(peer, STREAM | 2, 60_000, RECORD, 1));
            rig.board.run(60 + 23 * round).unwrap();
            rig.csr(csr::STREAM_SELECT, OUT | 2);
            rig.csr(csr::STREAM_CONTROL, 0);
            // For the same channel, while reads are under way.
            open(&mut rig, OUT | 2, 0);
            let record = rig.wait_on(0, 20_000);
            assert!([0, LOCAL_RANGE].contains(&record.code), "{record:?}");
            rig.queue_on(
                0,
                true,
                descriptor(peer + 4096, STREAM | 2, 5000, RECORD, 2),
            );
            assert_eq!(rig.wait_on(0, 20_000).code, 0);
            let mut got = packet(&mut rig, 2, 20_000);
            if got.error {
                same("the first packet", &got.bytes, &data[..got.bytes.len()]);
                got = packet(&mut rig, 2, 20_000);
            }
            assert!(!got.error);
            same("the next packet", &got.bytes, &data[4096..9096]);
            assert_eq!(rig.board.sink_mut(2).packet(), None);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_the_logic_has_at_a_close_is_whole_or_has_an_error() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[OUT | 3]);
        let data = fill(&mut rig, 3, MIB as usize);
        let peer = map_for(&mut rig, 0xFF, 0, MIB);
        // The first two packets have come, and requests of the third leave: every few cycles.
        for offset in 0..64 {
            rig.board.sink_mut(3).set_gaps(100);
            for (from, length) in [(0u64, 64u32), (4096, 64), (8192, 60_000)] {
                rig.queue_on(
                    0,
                    true,
                    descriptor(peer + from, STREAM | 3, length, RECORD, 0),
                );
            }
            rig.board.run(300 + 7 * offset).unwrap();
            rig.board.sink_mut(3).set_clock_ps(0);
            rig.csr(csr::STREAM_SELECT, OUT | 3);
            rig.csr(csr::STREAM_CONTROL, 0);
            rig.board.run(2_000).unwrap();
            rig.board.sink_mut(3).set_gaps(0);
            rig.board.sink_mut(3).set_clock_ps(5_000);
            rig.board.run(500).unwrap();
            for _ in 0..3 {
                rig.wait_on(0, 20_000);
            }
            open(&mut rig, OUT | 3, 0);
            let mut from = [0, 4096, 8192].into_iter();
            while let Some(got) = rig.board.sink_mut(3).packet() {
                let from = from.next().unwrap();
                same("a packet", &got.bytes, &data[from..][..got.bytes.len()]);
                assert!(got.error || got.bytes.len() == 64);
            }
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_new_owner_closes_an_open_stream() {
    let mut rig = rig(&ports()[1], &[OUT]);
    let data = fill(&mut rig, 3, MIB as usize);
    let peer = map_for(&mut rig, 0xFF, 0, MIB);
    rig.queue_on(0, true, descriptor(peer, STREAM, 60_000, RECORD, 1));
    rig.board.run(900).unwrap();
    rig.csr(csr::STREAM_SELECT, OUT);
    rig.csr(csr::STREAM_CONTROL, 1 << 8 | 1);
    assert_eq!(rig.wait_on(0, 20_000).code, LOCAL_RANGE);
    assert_eq!(rig.read_csr(csr::STREAM_STATUS) & 1, 0);
    open(&mut rig, OUT, 1);
    rig.queue_on(1, true, descriptor(peer + 4096, STREAM, 3000, RECORD, 1));
    assert_eq!(rig.wait_on(1, 20_000).code, 0);
    let cut = packet(&mut rig, 0, 20_000);
    assert!(cut.error);
    same("the first owner's", &cut.bytes, &data[..cut.bytes.len()]);
    let got = packet(&mut rig, 0, 20_000);
    same("the next owner's", &got.bytes, &data[4096..7096]);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_output_outlives_a_reset_of_either_side() {
    for params in [ports()[0], ports()[2]] {
        let mut rig = rig(&params, &[OUT | 1]);
        for round in 0..8u64 {
            let side = [Side::Memory, Side::Pcie][round as usize % 2];
            let data = fill(&mut rig, round as u32, MIB as usize);
            let peer = map_for(&mut rig, 0xFF, 0, MIB);
            rig.queue_on(0, true, descriptor(peer, STREAM | 1, 60_000, RECORD, 1));
            rig.board.run(300 + 217 * round).unwrap();
            rig.board.reset_side(side).unwrap();
            rig.reuse_entries();
            rig.restart();
            let peer = map_for(&mut rig, 0xFF, 0, MIB);
            open(&mut rig, OUT | 1, 0);
            rig.queue_on(0, true, descriptor(peer + 64, STREAM | 1, 3000, RECORD, 2));
            assert_eq!(rig.wait_on(0, 20_000).bytes, 3000);
            let mut got = packet(&mut rig, 1, 20_000);
            if got.error {
                same("before the reset", &got.bytes, &data[..got.bytes.len()]);
                got = packet(&mut rig, 1, 20_000);
            }
            same("after the reset", &got.bytes, &data[64..3064]);
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn an_output_is_as_fast_as_memory() {
    for params in ports() {
        let number = params.port_bits / 256 + 1;
        assert_eq!(OUTPUTS[number as usize].bits, params.port_bits);
        let mut rig = rig(&params, &[OUT | number]);
        let peer = map_for(&mut rig, 0xFF, 0, 4 * MIB);
        rig.board.sink_mut(number as usize).set_clock_ps(4_000);
        let blocks = (32 << 10, 16);
        let stored = cycles_of(&mut rig, true, 0, peer, 0, blocks);
        let streamed = cycles_of(&mut rig, true, 0, peer, STREAM | u64::from(number), blocks);
        assert!(
            streamed as f64 <= 1.01 * stored as f64,
            "{params:?}: {streamed} cycles, {stored} to memory"
        );
    }
}
