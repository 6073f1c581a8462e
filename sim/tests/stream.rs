//! The stream port's model with a hand-written Verilog master: a correct one, and one that breaks each rule.

use std::sync::OnceLock;

use peerlane_sim::{
    Access, Answer, Backpressure, Board, BoardConfig, Error, FaultRule, Generation, Hits,
    LinkConfig, Message, Rule, Space, StreamConfig,
};
use peerlane_verilated::{Build, Library, Toolchain};

const HOST: u64 = 0x1_0000_0000;

const WRITE: u32 = 1;
const READ: u32 = 4;
const WRITE_THEN_READ: u32 = 3;

fn library(width: u32) -> &'static Library {
    static NARROW: OnceLock<Library> = OnceLock::new();
    static WIDE: OnceLock<Library> = OnceLock::new();
    let once = if width == 128 { &NARROW } else { &WIDE };
    once.get_or_init(|| {
        Build::new("toy_stream")
            .text("toy_stream.v", include_str!("toy_stream.v"))
            .flag("-Wno-fatal")
            .flag(format!("-GWIDTH={width}"))
            .model(&Toolchain::open().unwrap())
            .unwrap()
    })
}

fn board(width: u32, config: BoardConfig) -> Board {
    let board = Board::new(library(width).instance().unwrap(), config).unwrap();
    assert_eq!(board.stream_width(), Some(width / 8));
    assert_eq!(board.txs_shape(), None);
    board
}

fn with_stream(stream: StreamConfig) -> BoardConfig {
    BoardConfig {
        stream,
        ..BoardConfig::default()
    }
}

fn ideal() -> StreamConfig {
    StreamConfig {
        link: false,
        ..StreamConfig::default()
    }
}

fn set(board: &mut Board, word: u64, value: u32) {
    board.bar_write32(Space::Csr, word * 4, value).unwrap();
}

fn get(board: &mut Board, word: u64) -> u32 {
    board.bar_read32(Space::Csr, word * 4).unwrap()
}

/// Starts requests: reads of `size` bytes each, writes of `beats` beats.
fn start(board: &mut Board, address: u64, requests: u32, size: u32, beats: u32, go: u32) {
    let values = [
        address as u32,
        (address >> 32) as u32,
        requests,
        size,
        beats,
        go,
    ];
    board.bar_write(Space::Csr, 0, &values).unwrap();
}

fn finish(board: &mut Board) -> Result<(), Error> {
    board.drain_host()?;
    board.run_until_quiet(200, 1_000_000)?;
    assert_eq!(get(board, 6), 0, "the master still waits");
    Ok(())
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// Reads `requests` times `size` bytes from `HOST + offset` into the master's memory, at the same offset.
fn fetch(board: &mut Board, offset: u64, requests: u32, size: u32) -> Result<(), Error> {
    set(board, 16, offset as u32);
    start(board, HOST + offset, requests, size, 0, READ);
    finish(board)
}

/// Returns the contents of the master's memory, by way of `HOST + 0x10000`.
fn memory(board: &mut Board, len: usize) -> Vec<u8> {
    let burst = 16 * board.stream_width().unwrap();
    let bursts = (len as u32).div_ceil(burst);
    start(board, HOST + 0x1_0000, bursts, 0, 16, WRITE);
    finish(board).unwrap();
    board.host().slice(HOST + 0x1_0000, len).unwrap().to_vec()
}

/// Returns several configurations that are hard for the design.
fn hard() -> [BoardConfig; 3] {
    let link = LinkConfig {
        read_jitter_ns: 700,
        ..LinkConfig::default()
    };
    let stream = StreamConfig {
        reorder: 60,
        short_completions: 40,
        answer_gaps: 30,
        backpressure: Backpressure::Random(40),
        ..StreamConfig::default()
    };
    let ideal = StreamConfig {
        link: false,
        ..stream.clone()
    };
    let slow = LinkConfig {
        completion_bytes: 128,
        read_completion_boundary: 128,
        ..link.clone().with_speed(Generation::Gen1, 1)
    };
    [(&link, &stream), (&link, &ideal), (&slow, &stream)].map(|(link, stream)| BoardConfig {
        link: link.clone(),
        ..with_stream(stream.clone())
    })
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn data_come_whole_in_any_order_and_at_any_alignment() {
    for width in [128, 256] {
        for config in [BoardConfig::default(), with_stream(ideal())]
            .into_iter()
            .chain(hard())
        {
            let (link, hard) = (config.stream.link, config.stream.reorder > 0);
            let mut board = board(width, config);
            let data = noise(0x2000);
            board.host_mut().write(HOST, &data).unwrap();
            // 37 bytes each, from byte 5 on, within the first 4 KiB.
            fetch(&mut board, 5, 110, 37).unwrap();
            let found = memory(&mut board, 0x1000);
            assert!(found[5..5 + 4070] == data[5..5 + 4070]);
            assert_eq!(board.stats().reads_done, 110);
            assert_eq!(board.stats().bytes_read, 4070);
            // Whole bursts, with idle cycles between the beats of the writes.
            set(&mut board, 19, 3);
            fetch(&mut board, 0, 16, 512).unwrap();
            assert!(memory(&mut board, 0x2000) == data);
            assert_eq!(get(&mut board, 21), 0, "completions cut off RCB");
            let waited = board.stats().txs.wait_cycles;
            assert_eq!(waited > 0, link || hard, "{waited}");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn completions_of_different_tags_mix_only_when_asked_to() {
    let chunks_and_switches = |reorder, jitter| {
        let mut config = with_stream(StreamConfig {
            reorder,
            ..StreamConfig::default()
        });
        config.link.completion_bytes = 64;
        config.link.read_jitter_ns = jitter;
        let mut board = board(128, config);
        fetch(&mut board, 0, 16, 512).unwrap();
        (get(&mut board, 12), get(&mut board, 20))
    };
    // 8 completions per read; in order, the completions of each read are consecutive.
    assert_eq!(chunks_and_switches(0, 0), (128, 16));
    assert_eq!(chunks_and_switches(0, 2000), (128, 16));
    let (chunks, switches) = chunks_and_switches(100, 0);
    assert!(chunks == 128 && switches > 64, "{switches}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_takes_the_configured_round_trip() {
    for (width, ns, link) in [(128, 1000, true), (256, 2000, true), (256, 700, false)] {
        let mut config = with_stream(StreamConfig {
            link,
            ..StreamConfig::default()
        });
        config.link.read_round_trip_ns = ns;
        let mut board = board(width, config);
        fetch(&mut board, 0, 1, 512).unwrap();
        let took = board.stats().read_ns_max;
        assert!((took - f64::from(ns)).abs() <= 12.0, "{took} for {ns}");
    }
}

/// Returns the rates of writes and reads that run at the same time, in bytes per second.
fn duplex(width: u32, config: BoardConfig) -> (f64, f64) {
    let mut board = board(width, config);
    let requests = 4096;
    let beats = 4096 / width;
    start(&mut board, HOST, requests, 512, beats, WRITE | READ);
    let most = u64::from(requests) * 512;
    let past = |bytes| {
        move |board: &Board| board.stats().bytes_read.min(board.stats().bytes_written) > bytes
    };
    board.run_until(past(most / 8), 1_000_000).unwrap();
    let before = board.stats();
    board.run_until(past(most / 4 * 3), 1_000_000).unwrap();
    let after = board.stats();
    assert_eq!(after.txs.most_reads, 64);
    (after.write_rate(&before), after.read_rate(&before))
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_link_is_the_limit_or_the_port_alone() {
    // The port alone: one beat a cycle each way, 250 MHz.
    for (width, rate) in [(128, 4e9), (256, 8e9)] {
        let mut config = with_stream(ideal());
        config.link.read_round_trip_ns = 2000;
        let (write, read) = duplex(width, config);
        assert!((write / rate - 1.0).abs() < 0.01, "{write}");
        assert!((read / rate - 1.0).abs() < 0.01, "{read}");
    }
    // Gen2 x8, 4 GB/s. Incoming: 256 of 276 bytes are payload. Outgoing: one request of 24 bytes per 512 bytes read,
    // and 256 of 280 bytes of the rest. 64 tags cover a round trip of 2 µs.
    let mut config = BoardConfig::default();
    config.link.read_round_trip_ns = 2000;
    let (write, read) = duplex(128, config);
    assert!((read / 3.710e9 - 1.0).abs() < 0.01, "{read}");
    assert!((write / 3.498e9 - 1.0).abs() < 0.01, "{write}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_slow_link_holds_both_requests() {
    let mut config = BoardConfig::default();
    config.link = config.link.with_speed(Generation::Gen1, 1);
    let mut board = board(128, config);
    fetch(&mut board, 0, 64, 4).unwrap();
    let reads = board.stats().txs;
    assert!(reads.wait_reads > 100 && reads.wait_reads == reads.wait_cycles);
    memory(&mut board, 0x2000);
    let writes = board.stats().txs;
    assert!(writes.wait_cycles > reads.wait_cycles + 1000);
    assert_eq!(writes.wait_reads, reads.wait_reads);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_sees_the_writes_before_it() {
    for link in [true, false] {
        let mut config = with_stream(StreamConfig {
            link,
            reorder: 50,
            ..StreamConfig::default()
        });
        config.gpu.write_latency_ns = 5000;
        let mut board = board(128, config);
        let data = noise(1024);
        board.host_mut().write(HOST, &data).unwrap();
        fetch(&mut board, 0, 2, 512).unwrap();
        let bus = board.gpu_mut().pin(0, 0x1_0000).unwrap()[0];
        // 1 KiB to the GPU and back, to the addresses that follow in the memory.
        set(&mut board, 16, 0x1000);
        start(&mut board, bus, 2, 512, 32, WRITE_THEN_READ);
        board.drain_host().unwrap();
        board.run(300).unwrap();
        assert_eq!(board.gpu().memory().slice(0, 1).unwrap(), [0]);
        finish(&mut board).unwrap();
        assert!(memory(&mut board, 0x1400)[0x1000..] == data);
        assert!(board.gpu().memory().slice(0, 1024).unwrap() == data);
        assert!(board.stats().read_ns_max > 4000.0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn failures_have_their_codes() {
    let run = |answer, hits| {
        let mut config = BoardConfig::default();
        config.link.completion_bytes = 64;
        let mut board = board(128, config);
        board.host_mut().write(HOST, &noise(4096)).unwrap();
        board.bus_mut().inject(FaultRule { hits, answer });
        let result = fetch(&mut board, 0, 4, 512);
        (board, result)
    };
    let data = noise(4096);
    let codes = |board: &mut Board| [12, 13, 14, 15].map(|word| get(board, word));
    for (answer, code) in [
        (Answer::Unsupported, 1),
        (Answer::Abort, 2),
        (Answer::Poisoned, 3),
    ] {
        // The whole read fails.
        let (mut board, result) = run(answer, Hits::Nth(1));
        result.unwrap();
        let mut expected = [24, 0, 0, 0];
        expected[code] = 1;
        assert_eq!(codes(&mut board), expected);
        // From byte 0x10A of the second read on: the four completions before it have data.
        let (mut board, result) = run(answer, Hits::Addresses(HOST + 0x30A..HOST + 0x320));
        result.unwrap();
        expected[0] = 28;
        assert_eq!(codes(&mut board), expected);
        assert_eq!(board.stats().reads_failed, 1);
        assert_eq!(board.stats().bytes_read, 28 * 64);
        let found = memory(&mut board, 0x800);
        assert!(found[..0x300] == data[..0x300] && found[0x400..] == data[0x400..0x800]);
        assert!(found[0x300..0x400] != data[0x300..0x400]);
    }
    let (mut ones, result) = run(Answer::AllOnes, Hits::Nth(2));
    result.unwrap();
    assert_eq!(codes(&mut ones), [32, 0, 0, 0]);
    assert!(memory(&mut ones, 0x800)[0x400..0x600] == [0xFF; 0x200]);
    let (mut garbage, result) = run(Answer::Garbage, Hits::Nth(0));
    result.unwrap();
    let found = memory(&mut garbage, 0x800);
    assert!(found[..0x200] != data[..0x200] && found[0x200..] == data[0x200..0x800]);
    // The other reads complete first.
    let (mut late, result) = run(Answer::Late(9000), Hits::Nth(0));
    result.unwrap();
    assert!(memory(&mut late, 0x800) == data[..0x800]);
    assert!(late.stats().read_ns_max > 9000.0);
    assert!(late.stats().read_ns_mean < 4000.0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_without_an_answer_keeps_its_tag_until_the_link_is_reset() {
    let mut board = board(128, BoardConfig::default());
    board.bus_mut().inject(FaultRule {
        hits: Hits::Addresses(HOST + 0x700..HOST + 0x701),
        answer: Answer::Never,
    });
    start(&mut board, HOST, 8, 512, 0, READ);
    board.run(5000).unwrap();
    assert_eq!(board.reads_outstanding(), 1);
    assert_eq!(board.stats().reads_done, 7);
    // 7 reads, and the completion of the lost read before the byte affected.
    assert_eq!(get(&mut board, 12), 15);
    // The reset drops the read, and its tag is free again.
    board.reset().unwrap();
    assert_eq!(board.reads_outstanding(), 0);
    board.bus_mut().clear_faults();
    fetch(&mut board, 0, 8, 512).unwrap();
    assert_eq!(board.stats().reads_done, 15);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn where_nothing_is_reads_fail_and_writes_are_dropped() {
    let mut board = board(128, BoardConfig::default());
    start(&mut board, 0x1000, 1, 64, 4, WRITE_THEN_READ);
    finish(&mut board).unwrap();
    assert_eq!(get(&mut board, 13), 1);
    let unsupported: Vec<_> = board
        .bus()
        .unsupported()
        .iter()
        .map(|request| (request.access, request.address, request.bytes))
        .collect();
    let expected = [(Access::Write, 0x1000, 64), (Access::Read, 0x1000, 64)];
    assert_eq!(unsupported, expected);
    board.bus_mut().allow(HOST..HOST + 0x1000, Access::Both);
    let error = fetch(&mut board, 0x1000, 1, 4).unwrap_err();
    let blamed = |error: &Error| match error {
        Error::Violations { list, .. } => (list[0].rule, list[0].signal.clone()),
        other => panic!("{other}"),
    };
    assert_eq!(blamed(&error), (Rule::Stray, "ask_address".to_owned()));
    start(&mut board, HOST + 0x1000, 1, 0, 1, WRITE);
    let error = finish(&mut board).unwrap_err();
    assert_eq!(blamed(&error), (Rule::Stray, "post_address".to_owned()));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn only_enabled_bytes_are_written() {
    let mut board = board(128, BoardConfig::default());
    board.host_mut().write(HOST, &noise(0x100)).unwrap();
    fetch(&mut board, 0, 1, 0x100).unwrap();
    let data = noise(0x100);
    board.host_mut().write(HOST, &[0; 0x100]).unwrap();
    // From byte 13 of the first beat to byte 2 of the fourth: one packet.
    set(&mut board, 7, 0xE000);
    set(&mut board, 8, 0x0007);
    start(&mut board, HOST, 1, 0, 4, WRITE);
    finish(&mut board).unwrap();
    let found = board.host().slice(HOST, 0x100).unwrap();
    assert!(found[13..51] == data[13..51]);
    assert!(
        found[..13]
            .iter()
            .chain(&found[51..])
            .all(|byte| *byte == 0)
    );
    assert_eq!(board.stats().write_packets, 1);
    assert_eq!(board.stats().bytes_written, 38);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn interrupts_arrive_behind_the_writes_before_them() {
    let mut board = board(128, BoardConfig::default());
    board.bus_mut().allow(HOST..HOST + 0x1000, Access::Both);
    board.host_mut().write(HOST, &noise(0x20)).unwrap();
    fetch(&mut board, 0, 1, 0x20).unwrap();
    let data = noise(0x20);
    // The dword in lanes 4 to 7 of the second word.
    set(&mut board, 7, 0x00F0);
    set(&mut board, 17, 1);
    start(&mut board, 0xFEE0_1000, 1, 0, 1, WRITE);
    board
        .run_until(|board| !board.messages().is_empty(), 10_000)
        .unwrap();
    let cycle = board.cycles();
    let expected = Message {
        cycle: board.messages()[0].cycle,
        address: 0xFEE0_1004,
        data: u32::from_le_bytes(data[20..24].try_into().unwrap()),
    };
    assert!(cycle - expected.cycle <= 1);
    assert_eq!(board.take_messages(), [expected]);
    assert!(board.messages().is_empty());
    assert_eq!((board.stats().messages, board.stats().strays), (1, 0));
    assert_eq!(board.irqs(), 0);
}

/// Returns the rules that a variant of the master breaks in a job.
fn broken(
    config: BoardConfig,
    registers: &[(u64, u32)],
    requests: (u32, u32, u32, u32),
) -> Vec<(Rule, String)> {
    let mut board = board(128, config);
    for (word, value) in registers {
        set(&mut board, *word, *value);
    }
    let (count, size, beats, go) = requests;
    start(&mut board, HOST, count, size, beats, go);
    let result = board.drain_host().and_then(|()| board.run(2000));
    match result {
        Err(Error::Violations { list, .. }) => list
            .into_iter()
            .map(|violation| (violation.rule, violation.signal))
            .collect(),
        Err(other) => panic!("{other}"),
        Ok(()) => Vec::new(),
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_broken_rule_is_reported() {
    let config = || {
        with_stream(StreamConfig {
            backpressure: Backpressure::Random(50),
            ..StreamConfig::default()
        })
    };
    let (write, read) = ((16, 0, 8, WRITE), (16, 64, 0, READ));
    assert_eq!(broken(config(), &[], write), []);
    assert_eq!(broken(config(), &[], read), []);
    let breaks = |variant| vec![(9, variant)];
    for (registers, requests, rule, signal) in [
        (
            breaks(1),
            (16, 0, 1, WRITE),
            Rule::StableWhileWaiting,
            "post_address",
        ),
        (breaks(2), write, Rule::StableWhileWaiting, "post_data"),
        (breaks(3), write, Rule::StableWhileWaiting, "post_valid"),
        (breaks(4), write, Rule::BurstCount, "post_beats"),
        (breaks(5), write, Rule::AddressAlignment, "post_address"),
        (breaks(6), write, Rule::BurstInterrupted, "post_address"),
        (breaks(7), write, Rule::ByteEnable, "post_enable"),
        (vec![(7, 0x0FFF)], write, Rule::ByteEnable, "post_enable"),
        (vec![(8, 0xFFF0)], write, Rule::ByteEnable, "post_enable"),
        (vec![(8, 0)], write, Rule::ByteEnable, "post_enable"),
        (vec![], (16, 0, 24, WRITE), Rule::Crosses4K, "post_address"),
        (breaks(8), read, Rule::StableWhileWaiting, "ask_address"),
        (breaks(9), read, Rule::StableWhileWaiting, "ask_valid"),
        (vec![], (1, 0, 0, READ), Rule::ReadSize, "ask_bytes"),
        (vec![], (1, 513, 0, READ), Rule::ReadSize, "ask_bytes"),
        (vec![], (16, 300, 0, READ), Rule::Crosses4K, "ask_address"),
        (vec![(10, 72)], read, Rule::TagRange, "ask_tag"),
        (vec![(11, 3), (9, 11)], read, Rule::TagReuse, "ask_tag"),
    ] {
        let found = broken(config(), &registers, requests);
        assert!(
            found.contains(&(rule, signal.to_owned())),
            "{registers:?} {requests:?}: {found:?}"
        );
    }
    // The largest read request of the link matters only with a link.
    for (link, rules) in [(true, vec![Rule::ReadSize]), (false, vec![])] {
        let mut config = with_stream(StreamConfig {
            link,
            ..StreamConfig::default()
        });
        config.link.max_read_request = 256;
        let found = broken(config, &[], (1, 512, 0, READ));
        assert_eq!(
            found.into_iter().map(|(rule, _)| rule).collect::<Vec<_>>(),
            rules
        );
    }
    // The last existing tag, and one tag for all reads, one after the other.
    assert_eq!(broken(config(), &[(10, 71), (11, 1)], (4, 64, 0, READ)), []);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_other_inputs_and_slaves_are_driven() {
    let mut board = board(128, BoardConfig::default());
    assert_eq!(get(&mut board, 18), 0);
    for (enable, mask, irq, expected) in [(true, false, true, 5), (true, true, false, 3)] {
        board.set_msix(enable, mask);
        board.set_kernel_irq(irq);
        board.run(2).unwrap();
        assert_eq!(get(&mut board, 18), expected);
    }
    board.reset().unwrap();
    assert_eq!(get(&mut board, 18), 3);
    // MSI-X: 4 KiB, at its base of the flat BAR.
    assert_eq!(board.space_size(Space::Msix), 4096);
    let vector = [0xFEE0_0000, 0, 0x4021, 1];
    board.bar_write(Space::Msix, 0, &vector).unwrap();
    let base = board.config().bar.msix;
    for (word, value) in (0..).zip(vector) {
        assert_eq!(board.bar_read32(Space::Msix, word * 4).unwrap(), value);
        assert_eq!(board.bar_read32_at(base + word * 4).unwrap(), value);
    }
    // 64 channel pages; no access to them reaches the next slave.
    assert_eq!(board.space_size(Space::Chan), 64 * 4096);
    let chan = board.config().bar.channels;
    board
        .bar_write32_at(chan + 63 * 4096 + 0x40, 0xBEEF)
        .unwrap();
    let last = board.bar_read32_at(chan + 64 * 4096 - 4).unwrap();
    assert_eq!(last, ((63 * 4096 + 0x40) / 4) << 16 | 0xBEEF);
    assert_eq!(board.bar_read32(Space::Chan, 63 * 4096).unwrap(), 63 * 1024);
    assert!(board.bar_write32(Space::Chan, 64 * 4096, 0).is_err());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn impossible_configurations_are_refused() {
    let mut config = BoardConfig::default();
    config.stream.post_buffer = 256;
    let error = Board::new(library(128).instance().unwrap(), config).unwrap_err();
    assert!(error.to_string().contains("post_buffer"), "{error}");
}
