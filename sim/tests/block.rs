//! The emitted block on the board: bulk both ways, by hand-written register accesses, so that
//! this test and the block share no code but the register map's numbers.

use peerlane_hdl::Params;
use peerlane_sim::{Access, Board, BoardConfig, BridgeRates, Space};
use peerlane_verilated::Library;

const RING: u64 = 0x1_0000_0000;
const PAGE: u64 = 64 << 10;

fn library(params: &Params) -> Library {
    peerlane_block::library(params).unwrap()
}

/// Enables the block and its first channel with a ring of 256 records.
fn start(board: &mut Board) {
    board.bus_mut().allow(RING..RING + 256 * 32, Access::Write);
    // STATUS: the table is cleared after reset.
    while board.bar_read32(Space::Csr, 0x14).unwrap() & 8 != 0 {}
    // CHANNEL_SELECT, the ring (high word first), the range of FPGA memory, accept and run; the owner
    // of the entries that follow; CONTROL.
    for (register, value) in [
        (0x080, 0),
        (0x094, (RING >> 32) as u32),
        (0x090, RING as u32 | 8 << 4 | 1),
        (0x098, 0),
        (0x09C, 1 << 20),
        (0x084, 3),
        (0x030, 1),
        (0x010, 3),
    ] {
        board.bar_write32(Space::Csr, register, value).unwrap();
    }
}

/// Pins GPU memory and puts its pages into the table from `entry` on.
fn map(board: &mut Board, entry: u64, gpu: u64, bytes: u64) {
    for (n, page) in board
        .gpu_mut()
        .pin(gpu, bytes)
        .unwrap()
        .into_iter()
        .enumerate()
    {
        board.bus_mut().allow(page..page + PAGE, Access::Both);
        // Valid, readable, writable, 64 KiB.
        let at = (entry + n as u64) * 8;
        let low = page as u32 | 0b01_111;
        board
            .bar_write(Space::Att, at, &[low, (page >> 32) as u32])
            .unwrap();
    }
}

/// Queues a descriptor that leaves a record and raises the interrupt. `at` is the offset of the
/// direction's descriptor in the channel's page.
fn submit(board: &mut Board, at: u64, peer: u64, local: u64, bytes: u32, cookie: u32) {
    let peer = 1 << 62 | peer;
    let words = [
        peer as u32,
        (peer >> 32) as u32,
        local as u32,
        (local >> 32) as u32,
        bytes,
        0b11,
        cookie,
    ];
    board.bar_write(Space::Chan, at, &words).unwrap();
    board.bar_write32(Space::Chan, at + 0x40, 1).unwrap();
}

const WRITE: u64 = 0x000;
const READ: u64 = 0x080;

fn noise(len: usize, mut state: u32) -> Vec<u8> {
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// One descriptor of `bytes`; gives bytes a second and checks the record and the interrupt.
fn transfer(board: &mut Board, at: u64, bytes: u32, record: u64) -> f64 {
    board.drain_host().unwrap();
    let irqs = board.irqs();
    let before = board.stats();
    submit(board, at, 0, 0x10_0000, bytes, 0xC0DE_0000 + record as u32);
    let slot = RING + record * 32;
    board
        .run_until(
            |board| board.host().read32(slot + 4).unwrap() & 1 == 1,
            2_000_000,
        )
        .unwrap();
    let ns = board.ns() - before.ns;
    board.run_until(|board| board.irqs() > irqs, 1000).unwrap();
    board.bar_write32(Space::Csr, 0x18, 7).unwrap();
    let mut found = [0; 32];
    board.host().read(slot, &mut found).unwrap();
    let word = |n: usize| u32::from_le_bytes(found[n * 4..n * 4 + 4].try_into().unwrap());
    assert_eq!(word(0), 0xC0DE_0000 + record as u32);
    assert_eq!(
        word(1),
        u32::from(at == READ) << 1 | 1,
        "phase, direction, channel, code"
    );
    assert_eq!(word(2), bytes);
    f64::from(bytes) * 1e9 / ns
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn bulk_moves_both_ways_near_the_ceiling() {
    const BYTES: usize = 4 << 20;
    for port_bits in [128, 256] {
        let library = library(&Params {
            port_bits,
            ..Params::default()
        });
        let mut board = Board::new(library.instance().unwrap(), BoardConfig::default()).unwrap();
        assert_eq!(board.txs_shape(), Some((port_bits / 8, 64)));
        let rates = BridgeRates::of(board.config(), port_bits / 8);
        let link = board.config().link.clone();
        start(&mut board);
        map(&mut board, 0, 0x20_0000, BYTES as u64);

        let data = noise(BYTES, 1);
        board.ddr_mut().write(0x10_0000, &data).unwrap();
        let fraction = transfer(&mut board, WRITE, BYTES as u32, 0)
            / rates.write(512).min(link.write_ceiling());
        assert!(fraction > 0.97 && fraction < 1.0, "write {fraction:.3}");
        assert!(board.gpu().memory().slice(0x20_0000, BYTES).unwrap() == data);

        let data = noise(BYTES, 2);
        board.gpu_mut().write(0x20_0000, &data).unwrap();
        let fraction =
            transfer(&mut board, READ, BYTES as u32, 1) / rates.read().min(link.read_ceiling());
        assert!(fraction > 0.97 && fraction < 1.0, "read {fraction:.3}");
        assert!(board.ddr().slice(0x10_0000, BYTES).unwrap() == data);
        assert_eq!(board.stats().strays, 0);
        assert_eq!(board.stats().unsupported, 0);
    }
}
