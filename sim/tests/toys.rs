//! The models with hand-written Verilog masters: correct ones, and ones that break each rule.

use peerlane_sim::{
    Access, Answer, Backpressure, Board, BoardConfig, BridgeRates, Error, FaultRule, Generation,
    Hits, LinkConfig, Rule, Space, TxsConfig,
};
use peerlane_verilated::{Build, Library, Toolchain};

const HOST: u64 = 0x1_0000_0000;

fn toy(parameters: &[&str]) -> Library {
    let mut build = Build::new("toy_txs")
        .text("toy_txs.v", include_str!("toy_txs.v"))
        .flag("-Wno-fatal");
    for parameter in parameters {
        build = build.flag(format!("-G{parameter}"));
    }
    build.model(&Toolchain::open().unwrap()).unwrap()
}

fn board_of(library: &Library, config: BoardConfig) -> Board {
    Board::new(library.instance().unwrap(), config).unwrap()
}

fn board(config: BoardConfig) -> Board {
    board_of(&toy(&[]), config)
}

const WRITE: u32 = 1;
const READ: u32 = 2;

fn program(board: &mut Board, address: u64, bursts: u32, words: u32, go: u32) {
    let values = [address as u32, (address >> 32) as u32, bursts, words, go];
    board.bar_write(Space::Csr, 0, &values).unwrap();
}

/// Runs a job to its end.
fn job(board: &mut Board, address: u64, bursts: u32, words: u32, go: u32) -> Result<(), Error> {
    program(board, address, bursts, words, go);
    board.drain_host()?;
    board.run_until_quiet(200, 1_000_000).map(|_| ())
}

/// Returns the data that the toy writes: 32-bit counters.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u32 / 4).flat_map(u32::to_le_bytes).collect()
}

/// Returns the checksum that the toy computes from the words it reads.
fn sum(data: &[u8], width: usize) -> u32 {
    data.chunks_exact(width).fold(0_u32, |sum, word| {
        let fold = word.chunks_exact(4).fold(0_u32, |fold, lane| {
            fold.rotate_left(3) ^ u32::from_le_bytes(lane.try_into().unwrap())
        });
        sum.rotate_left(1).wrapping_add(fold)
    })
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

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_land_in_host_memory_at_the_speed_of_link_and_bridge() {
    for (generation, lanes, expected) in [
        (Generation::Gen1, 4, 0.914e9),
        // 512 bytes in 41 cycles.
        (Generation::Gen2, 8, 3.122e9),
    ] {
        let link = LinkConfig::default().with_speed(generation, lanes);
        let mut board = board(BoardConfig {
            link,
            ..BoardConfig::default()
        });
        board.drain_host().unwrap();
        let before = board.stats();
        program(&mut board, HOST, 512, 32, WRITE);
        board
            .run_until(|board| board.stats().bytes_written >= 512 * 512, 1_000_000)
            .unwrap();
        let rate = board.stats().write_rate(&before);
        // The doorbell and the filling of the buffer take part of the time.
        assert!(rate < expected * 1.001, "{rate}");
        assert!(rate > expected * 0.98, "{rate}");
        board.run_until_quiet(200, 10_000).unwrap();
        let written = board.host().slice(HOST, 512 * 512).unwrap();
        assert!(written == pattern(512 * 512));
        assert_eq!(board.host().read32(HOST + 512 * 512).unwrap(), 0);
        let stats = board.stats();
        assert_eq!(stats.txs.write_bursts, 512);
        assert_eq!(stats.write_packets, 1024);
        assert_eq!(stats.host.bytes_written, 512 * 512);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn one_read_takes_the_configured_round_trip_and_the_bridges_own() {
    for (width, ns, completion_bytes) in [(128, 1000, 256), (128, 2000, 64), (256, 700, 128)] {
        let config = BoardConfig {
            link: LinkConfig {
                read_round_trip_ns: ns,
                completion_bytes,
                ..LinkConfig::default()
            },
            ..BoardConfig::default()
        };
        let expected = BridgeRates::of(&config, width / 8).round_trip * 1e9;
        assert!(expected > f64::from(ns) + 100.0, "{expected}");
        let mut board = board_of(&toy(&[&format!("WIDTH={width}")]), config);
        let data = noise(512);
        board.host_mut().write(HOST, &data).unwrap();
        job(&mut board, HOST, 1, 512 * 8 / width, READ).unwrap();
        let sums = board.bar_read32(Space::Csr, 24).unwrap();
        assert_eq!(sums, sum(&data, width as usize / 8));
        let took = board.stats().read_ns_max;
        assert!((took - expected).abs() <= 16.0, "{took} for {expected}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn reads_are_bounded_by_the_cost_of_completions_or_by_eight_outstanding() {
    let rate = |ns, completion_bytes| {
        let mut board = board(BoardConfig {
            link: LinkConfig {
                read_round_trip_ns: ns,
                completion_bytes,
                ..LinkConfig::default()
            },
            ..BoardConfig::default()
        });
        let data = noise(1 << 20);
        board.host_mut().write(HOST, &data).unwrap();
        program(&mut board, HOST, 2048, 32, READ);
        board.drain_host().unwrap();
        let before = board.stats();
        board.run_until_quiet(200, 1_000_000).unwrap();
        let after = board.stats();
        assert_eq!(board.bar_read32(Space::Csr, 24).unwrap(), sum(&data, 16));
        assert_eq!(board.bar_read32(Space::Csr, 20).unwrap(), 0);
        assert_eq!(after.txs.most_reads, 8);
        assert!(after.txs.wait_reads > 0);
        after.bytes_read as f64 * 1e9 / (after.ns - 200.0 * 4.0 - before.ns)
    };
    // 256 bytes in 20 cycles, 64 in 8, 4 KiB in 2 µs and 41 cycles.
    for (ns, completion_bytes, expected) in
        [(500, 256, 3.2e9), (500, 64, 2.0e9), (2000, 256, 1.893e9)]
    {
        let found = rate(ns, completion_bytes);
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn backpressure_and_jitter_change_no_data() {
    let patterns = [
        Backpressure::Random(60),
        Backpressure::Pattern {
            bits: 0b1101,
            len: 4,
        },
    ];
    for backpressure in patterns {
        for width in [128, 256] {
            let mut board = board_of(
                &toy(&[&format!("WIDTH={width}")]),
                BoardConfig {
                    txs: TxsConfig {
                        backpressure,
                        response_gaps: 40,
                        ..TxsConfig::default()
                    },
                    link: LinkConfig {
                        read_jitter_ns: 900,
                        completion_bytes: 64,
                        ..LinkConfig::default()
                    },
                    ..BoardConfig::default()
                },
            );
            let words = 512 * 8 / width;
            job(&mut board, HOST, 100, words, WRITE).unwrap();
            assert!(board.host().slice(HOST, 51200).unwrap() == pattern(51200));
            let data = noise(51200);
            board.host_mut().write(HOST, &data).unwrap();
            job(&mut board, HOST, 100, words, READ).unwrap();
            let found = board.bar_read32(Space::Csr, 24).unwrap();
            assert_eq!(found, sum(&data, width as usize / 8));
            assert!(board.stats().txs.wait_cycles > 100);
        }
    }
}

/// Returns the rules that a variant of the toy breaks in a job.
fn broken(variant: u32, words: u32, go: u32) -> Vec<(Rule, String)> {
    let mut board = board(BoardConfig {
        txs: TxsConfig {
            backpressure: Backpressure::Random(50),
            ..TxsConfig::default()
        },
        ..BoardConfig::default()
    });
    board.bar_write32(Space::Csr, 36, variant).unwrap();
    match job(&mut board, HOST, 16, words, go) {
        Err(Error::Violations { list, .. }) => {
            assert!(board.stats().violations > 0);
            list.into_iter()
                .map(|violation| (violation.rule, violation.signal))
                .collect()
        }
        Err(other) => panic!("{other}"),
        Ok(()) => Vec::new(),
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_broken_rule_is_reported() {
    assert_eq!(broken(0, 8, WRITE), []);
    assert_eq!(broken(0, 8, READ), []);
    for (variant, go, rule, signal) in [
        (1, READ, Rule::StableWhileWaiting, "txs_address"),
        (2, READ, Rule::BurstCount, "txs_burstcount"),
        (3, READ, Rule::ByteEnable, "txs_byteenable"),
        (4, READ, Rule::AddressAlignment, "txs_address"),
        (5, WRITE, Rule::ReadAndWrite, "txs_read"),
        (6, WRITE, Rule::BurstInterrupted, "txs_read"),
        (7, READ, Rule::StableWhileWaiting, "txs_read"),
        (7, WRITE, Rule::StableWhileWaiting, "txs_write"),
        (8, WRITE, Rule::StableWhileWaiting, "txs_writedata"),
        (9, READ, Rule::StableWhileWaiting, "txs_burstcount"),
        (10, WRITE, Rule::ByteEnable, "txs_byteenable"),
    ] {
        let found = broken(variant, 8, go);
        assert!(
            found.contains(&(rule, signal.to_owned())),
            "variant {variant}: {found:?}"
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_burst_across_4k_is_reported_or_split() {
    let mut strict = board(BoardConfig::default());
    let error = job(&mut strict, HOST + 0xF00, 1, 32, WRITE).unwrap_err();
    assert!(matches!(&error, Error::Violations { list, .. } if list[0].rule == Rule::Crosses4K));
    let mut bridge = board(BoardConfig {
        txs: TxsConfig {
            forbid_4k_crossing: false,
            ..TxsConfig::default()
        },
        ..BoardConfig::default()
    });
    job(&mut bridge, HOST + 0xE80, 1, 32, WRITE).unwrap();
    assert!(bridge.host().slice(HOST + 0xE80, 512).unwrap() == pattern(512));
    // 0xE80 to 0xF80, to 0x1000, to 0x1080.
    assert_eq!(bridge.stats().write_packets, 3);
    job(&mut bridge, HOST + 0xE80, 1, 32, READ).unwrap();
    // Up to 4 KiB, and the rest.
    assert_eq!(bridge.stats().read_requests, 2);
    assert_eq!(
        bridge.bar_read32(Space::Csr, 24).unwrap(),
        sum(&pattern(512), 16)
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn ragged_words_damage_their_neighbours() {
    let mut board = board(BoardConfig {
        txs: TxsConfig {
            allow_damage: true,
            ..TxsConfig::default()
        },
        ..BoardConfig::default()
    });
    board.host_mut().write(HOST, &[0xAA; 32]).unwrap();
    board.bar_write32(Space::Csr, 28, 0x0038).unwrap();
    // A byte write to a register changes one byte only.
    board
        .bar_write_bytes(Space::Csr, 28, 0xFFFF_FF00, 2)
        .unwrap();
    board.bar_write_bytes(Space::Csr, 28, 0, 2).unwrap();
    assert_eq!(board.bar_read32(Space::Csr, 28).unwrap(), 0x38);
    job(&mut board, HOST, 1, 1, WRITE).unwrap();
    // Both ends by the enables of lanes 3 to 0, and all bytes between them.
    let mut expected = [0xAA; 32];
    expected[3..12].copy_from_slice(&[0, 1, 0, 0, 0, 2, 0, 0, 0]);
    expected[15] = 0;
    assert_eq!(board.host().slice(HOST, 32).unwrap(), expected);
    assert_eq!(board.stats().bytes_written, 10);
    board.host_mut().write(HOST, &[0xAA; 32]).unwrap();
    board.bar_write32(Space::Csr, 28, 0x0FF0).unwrap();
    job(&mut board, HOST, 1, 1, WRITE).unwrap();
    let mut expected = [0xAA; 32];
    expected[4..12].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(board.host().slice(HOST, 32).unwrap(), expected);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_reach_gpu_memory_through_its_bar() {
    let mut board = board(BoardConfig::default());
    let bus = board.gpu_mut().pin(0x30_0000, 0x2_0000).unwrap();
    assert_eq!(bus.len(), 2);
    job(&mut board, bus[1] + 0x1000, 8, 32, WRITE).unwrap();
    let mut found = vec![0; 4096];
    board.gpu().read(0x31_1000, &mut found).unwrap();
    assert!(found == pattern(4096));
    assert_eq!(board.stats().gpu.bytes_written, 4096);
    assert_eq!(board.stats().host.bytes_written, 0);
    job(&mut board, bus[1] + 0x1000, 8, 32, READ).unwrap();
    assert_eq!(board.bar_read32(Space::Csr, 24).unwrap(), sum(&found, 16));
    // An unpinned page is an unsupported request: nothing is written, and a read never receives its words.
    board.gpu_mut().unpin(&bus[1..]);
    job(&mut board, bus[1], 1, 32, WRITE).unwrap();
    program(&mut board, bus[1], 1, 32, READ);
    board.run(20_000).unwrap();
    assert_eq!(board.reads_outstanding(), 1);
    let unsupported: Vec<_> = board
        .bus()
        .unsupported()
        .iter()
        .map(|access| (access.access, access.address - bus[1], access.bytes))
        .collect();
    let expected = [
        (Access::Write, 0, 256),
        (Access::Write, 256, 256),
        (Access::Read, 0, 512),
    ];
    assert_eq!(unsupported, expected);
    assert_eq!(board.stats().reads_failed, 1);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_read_waits_for_the_writes_before_it() {
    // The GPU takes 5 µs to see a write; a read directly after it nevertheless sees it.
    let mut config = BoardConfig::default();
    config.gpu.write_latency_ns = 5000;
    let mut board = board(config);
    let bus = board.gpu_mut().pin(0, 0x1_0000).unwrap()[0];
    program(&mut board, bus, 1, 32, WRITE | READ);
    board
        .run_until(|board| board.stats().txs.write_bursts == 1, 1000)
        .unwrap();
    board.run(100).unwrap();
    assert_eq!(board.gpu().memory().slice(4, 1).unwrap(), [0]);
    board.run_until_quiet(100, 10_000).unwrap();
    assert_eq!(
        board.bar_read32(Space::Csr, 24).unwrap(),
        sum(&pattern(512), 16)
    );
    assert!(board.stats().read_ns_max > 5000.0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn injected_faults_do_what_they_say() {
    let library = toy(&[]);
    let run = |answer, hits| {
        let mut board = board_of(&library, BoardConfig::default());
        board.host_mut().write(HOST, &noise(4096)).unwrap();
        board.bus_mut().inject(FaultRule { hits, answer });
        let result = job(&mut board, HOST, 8, 32, READ);
        (board, result)
    };
    let mut data = noise(4096);
    let good = sum(&data, 16);
    let (mut late, result) = run(Answer::Late(9000), Hits::Nth(2));
    result.unwrap();
    assert_eq!(late.bar_read32(Space::Csr, 24).unwrap(), good);
    assert!(late.stats().read_ns_max > 9000.0);
    let (mut garbage, result) = run(Answer::Garbage, Hits::Nth(0));
    result.unwrap();
    assert_ne!(garbage.bar_read32(Space::Csr, 24).unwrap(), good);
    let at = |offset| Hits::Addresses(HOST + offset..HOST + offset + 1);
    // The bridge ignores the mark of poisoned data.
    let (mut poisoned, result) = run(Answer::Poisoned, at(0x310));
    result.unwrap();
    assert_eq!(poisoned.bar_read32(Space::Csr, 24).unwrap(), good);
    // Only the request that touches the range fails.
    data[0x200..0x400].fill(0xFF);
    let (mut ones, result) = run(Answer::AllOnes, at(0x310));
    result.unwrap();
    assert_eq!(ones.bar_read32(Space::Csr, 24).unwrap(), sum(&data, 16));
    assert_eq!(ones.stats().reads_failed, 1);
    // After a completion that is lost, or has no data, no read is answered until the link is reset.
    for answer in [Answer::Never, Answer::Unsupported, Answer::Abort] {
        let (mut never, result) = run(answer, at(0x500));
        assert!(matches!(result, Err(Error::Timeout { .. })), "{result:?}");
        assert_eq!(never.stats().txs.read_words, 0x400 / 16);
        assert_eq!(never.reads_outstanding(), 6);
        never.link_reset();
        assert_eq!(never.reads_outstanding(), 0);
        never.bus_mut().clear_faults();
        job(&mut never, HOST, 8, 32, READ).unwrap();
        assert_eq!(never.bar_read32(Space::Csr, 20).unwrap(), 0);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_block_alone_clears_nothing_in_the_bridge() {
    let mut board = board(BoardConfig::default());
    board.host_mut().write(HOST, &noise(4096)).unwrap();
    // Outstanding answers arrive at a block that has no record of them.
    program(&mut board, HOST, 4, 32, READ);
    board
        .run_until(|board| board.stats().txs.read_bursts == 4, 1000)
        .unwrap();
    board.reset_block().unwrap();
    assert_eq!(board.reads_outstanding(), 4);
    board
        .run_until(|board| board.reads_outstanding() == 0, 10_000)
        .unwrap();
    assert_eq!(board.stats().txs.read_words, 4 * 32);
    // A tag that is lost stays lost.
    board.bus_mut().inject(FaultRule {
        hits: Hits::Nth(0),
        answer: Answer::Unsupported,
    });
    program(&mut board, HOST, 1, 32, READ);
    board.run(3000).unwrap();
    board.reset_block().unwrap();
    program(&mut board, HOST, 8, 32, READ);
    board.run(10_000).unwrap();
    assert_eq!(board.reads_outstanding(), 8);
    assert_eq!(board.stats().txs.read_words, 4 * 32);
    // Only the hard IP's own reset recovers it.
    board.reset().unwrap();
    assert_eq!(board.reads_outstanding(), 0);
    job(&mut board, HOST, 8, 32, READ).unwrap();
    assert_eq!(
        board.bar_read32(Space::Csr, 24).unwrap(),
        sum(&noise(4096), 16)
    );
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_board_that_may_not_be_master_goes_on_when_it_may() {
    let mut board = board(BoardConfig::default());
    program(&mut board, HOST, 64, 32, WRITE);
    board
        .run_until(|board| board.stats().txs.write_bursts == 3, 1000)
        .unwrap();
    board.bus_mut().set_master(false);
    board.run(500).unwrap();
    let taken = board.stats().txs.write_words;
    board.run(5000).unwrap();
    assert_eq!(board.stats().txs.write_words, taken);
    assert!(taken < 64 * 32);
    assert_eq!(board.bar_read32(Space::Csr, 20).unwrap() & 1, 1);
    assert!(board.host().slice(HOST, taken as usize * 16).unwrap() == pattern(taken as usize * 16));
    board.bus_mut().set_master(true);
    board.run_until_quiet(200, 100_000).unwrap();
    assert!(board.host().slice(HOST, 64 * 512).unwrap() == pattern(64 * 512));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn strays_end_the_run() {
    let mut board = board(BoardConfig::default());
    let id = board.bus_mut().allow(HOST..HOST + 0x1000, Access::Both);
    job(&mut board, HOST, 8, 32, WRITE).unwrap();
    let error = job(&mut board, HOST, 9, 32, READ).unwrap_err();
    assert!(matches!(&error, Error::Violations { list, .. } if list[0].rule == Rule::Stray));
    assert!(error.to_string().contains("0x100001000"), "{error}");
    board.bus_mut().revoke(id);
    assert!(job(&mut board, HOST, 1, 1, READ).is_err());
    assert!(board.stats().strays >= 2);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_32_bit_port_goes_through_windows() {
    let mut board = board_of(&toy(&["ADDRESS=32"]), BoardConfig::default());
    assert_eq!(board.txs_shape(), Some((16, 32)));
    board.set_windows(28, vec![0, HOST + 0x1000_0000]);
    job(&mut board, 0x1000_0100, 2, 32, WRITE).unwrap();
    let written = board.host().slice(HOST + 0x1000_0100, 1024).unwrap();
    assert!(written == pattern(1024));
    let error = job(&mut board, 0x2000_0000, 1, 1, WRITE).unwrap_err();
    assert!(matches!(&error, Error::Violations { list, .. } if list[0].rule == Rule::OutOfRange));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn interrupts_are_counted_and_delivered() {
    let mut board = board(BoardConfig::default());
    for _ in 0..3 {
        board.bar_write32(Space::Csr, 32, 1).unwrap();
        board.run_until(Board::irq, 1000).unwrap();
        board.bar_write32(Space::Csr, 32, 0).unwrap();
        board.run_until(|board| !board.irq(), 1000).unwrap();
    }
    board.run(1000).unwrap();
    assert_eq!((board.irqs(), board.stats().irqs_delivered), (3, 3));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_write_to_the_interrupt_range_is_a_message() {
    let mut board = board(BoardConfig::default());
    board.bus_mut().allow(HOST..HOST + 0x1000, Access::Both);
    board.bar_write32(Space::Csr, 28, 0x0F00).unwrap();
    job(&mut board, 0xFEE0_0100, 1, 1, WRITE).unwrap();
    let messages = board.take_messages();
    let found: Vec<_> = messages
        .iter()
        .map(|message| (message.address, message.data))
        .collect();
    // Lanes 8 to 11 of the toy's first word hold 2.
    assert_eq!(found, [(0xFEE0_0108, 2)]);
    assert_eq!((board.stats().strays, board.stats().unsupported), (0, 0));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn host_accesses_keep_order_and_bounds() {
    let mut board = board(BoardConfig::default());
    assert_eq!(board.space_size(Space::Csr), 1024);
    for value in [5, 6, 7] {
        board.bar_write32(Space::Csr, 8, value).unwrap();
    }
    let before = board.ns();
    assert_eq!(board.bar_read32(Space::Csr, 8).unwrap(), 7);
    // Both ways, 250 ns each.
    assert!(board.ns() - before > 500.0 && board.ns() - before < 700.0);
    assert!(board.bar_write32(Space::Csr, 2, 0).is_err());
    assert!(board.bar_write32(Space::Csr, 1024, 0).is_err());
    assert!(board.bar_write(Space::Csr, 1020, &[0, 0]).is_err());
    assert!(board.bar_read32(Space::Chan, 0).is_err());
    assert!(board.window_write(0, &[0]).is_err());
    // The flat BAR: the CSR at its base, nothing elsewhere.
    board.bar_write32_at(0xC808, 9).unwrap();
    assert_eq!(board.bar_read32_at(0xC808).unwrap(), 9);
    assert_eq!(board.bar_read32_at(0xC000).unwrap(), u32::MAX);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_ports_copy_and_the_window_reaches_memory() {
    let library = Build::new("toy_memory")
        .text("toy_memory.v", include_str!("toy_memory.v"))
        .flag("-Wno-fatal")
        .model(&Toolchain::open().unwrap())
        .unwrap();
    let mut config = BoardConfig::default();
    for (backpressure, jitter) in [(Backpressure::None, 0), (Backpressure::Random(50), 30)] {
        config.ddr.backpressure = backpressure;
        config.ddr.jitter = jitter;
        let mut board = board_of(&library, config.clone());
        let data = noise(64 * 512);
        board.ddr_mut().write(0x4000, &data).unwrap();
        let copy = |board: &mut Board, source, bursts, go| {
            board.bar_write(Space::Csr, 0, &[source, 0x80_0000, bursts, go])?;
            board.drain_host()?;
            board.run_until_quiet(200, 100_000)
        };
        let cycles = copy(&mut board, 0x4000, 64, 1).unwrap();
        assert_eq!(board.bar_read32(Space::Csr, 12).unwrap(), 1);
        assert!(board.ddr().slice(0x80_0000, data.len()).unwrap() == data);
        assert_eq!(board.stats().mem_rd.words_read, 512);
        assert_eq!(board.stats().mem_wr.words_written, 512);
        // 512 words in and out, one word per cycle of clk, which is 1.25 cycles of pcie_clk.
        assert!(cycles > 1280 + 200, "{cycles}");
        if backpressure == Backpressure::None {
            assert!(cycles < 1280 + 200 + 150, "{cycles}");
        }
        // The window shows address 0x10000.
        board.window_write(0x103, &noise(200)).unwrap();
        let mut back = vec![0; 200];
        board.window_read(0x103, &mut back).unwrap();
        assert_eq!(back, noise(200));
        assert_eq!(board.ddr().slice(0x1_0103, 200).unwrap(), noise(200));
        assert_eq!(board.ddr().slice(0x1_0102, 1).unwrap(), [0]);
        board.bar_write32_at(0x1_0010, 0x1122_3344).unwrap();
        assert_eq!(board.bar_read32_at(0x1_0010).unwrap(), 0x1122_3344);
        // A burst beyond the end of memory is reported.
        let error = copy(&mut board, 0x8000_0000, 1, 2).unwrap_err();
        assert!(
            matches!(&error, Error::Violations { list, .. }
                if list[0].rule == Rule::OutOfRange && list[0].signal == "mem_rd_address"),
            "{error}"
        );
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn wrong_designs_and_configurations_are_refused() {
    let library = Build::new("t")
        .text(
            "t.v",
            "module t(input clk, output q);\nassign q = clk;\nendmodule\n",
        )
        .model(&Toolchain::open().unwrap())
        .unwrap();
    let error = Board::new(library.instance().unwrap(), BoardConfig::default()).unwrap_err();
    assert!(error.to_string().contains("pcie_clk"), "{error}");
    let mut config = BoardConfig::default();
    config.link.lanes = 5;
    let error = Board::new(toy(&[]).instance().unwrap(), config).unwrap_err();
    assert!(error.to_string().contains("lanes"), "{error}");
    let mut config = BoardConfig::default();
    config.gpu.bar_base = HOST;
    let error = Board::new(toy(&[]).instance().unwrap(), config).unwrap_err();
    assert!(matches!(error, Error::Overlap { .. }), "{error}");
}
