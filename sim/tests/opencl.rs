//! The OpenCL side with a hand-written design.

use peerlane_sim::opencl::{Config, Contents, Offsets, OpenClSide, Program};
use peerlane_sim::{Board, BoardConfig, Error, Space};
use peerlane_verilated::{Build, Toolchain};

/// Offsets of the toy's interrupt line, and of the `Cra` in the tests.
const LINE: u64 = 32;
const CRA: u64 = 0x8000;

fn board() -> Board {
    let build = Build::new("toy_txs").text("toy_txs.v", include_str!("toy_txs.v"));
    let library = build.flag("-Wno-fatal").model(&Toolchain::open().unwrap());
    Board::new(library.unwrap().instance().unwrap(), BoardConfig::default()).unwrap()
}

fn with_cra() -> Board {
    let mut board = board();
    let offsets = Offsets {
        cra: Some(CRA),
        ..Offsets::default()
    };
    let config = Config {
        offsets,
        ..Config::default()
    };
    board.attach_opencl(OpenClSide::new(config).unwrap());
    board
}

/// Returns a board with kernels, with all parts at the offsets that they have on the DE5-Net.
fn with_kernels() -> Board {
    let mut board = board();
    let config = Config {
        offsets: Offsets::DE5_NET,
        program: Some(program()),
        ..Config::default()
    };
    board.attach_opencl(OpenClSide::new(config).unwrap());
    board
}

fn program() -> Program {
    let hash = "0123456789abcdef0123456789abcdef01234567";
    Program::of_all_kinds("sim_board", hash, 2 << 30)
}

/// Writes dwords to the kernel interface.
fn block(board: &mut Board, offset: u64, values: &[u32]) {
    for (index, value) in values.iter().enumerate() {
        let at = 0x4000 + offset + index as u64 * 4;
        board.opencl_write(at, *value, 15).unwrap();
    }
}

/// Starts a copy of `words` words.
fn start_copy(board: &mut Board, from: u32, to: u32, words: u32) {
    block(board, 0x20, &[0x1000]);
    block(board, 0x1140, &[words]);
    block(board, 0x1180, &[from, 0, to, 0]);
    block(board, 0x1108, &[1]);
}

/// Sets the level of the toy's interrupt, and returns the number of messages that arrive until it is quiet.
fn line(board: &mut Board, level: bool) -> u64 {
    let before = board.irqs_delivered();
    board.bar_write32(Space::Csr, LINE, level.into()).unwrap();
    board.run(2000).unwrap();
    board.irqs_delivered() - before
}

fn enable(board: &mut Board, lines: u32) -> u64 {
    enable_at(board, CRA, lines)
}

fn enable_at(board: &mut Board, cra: u64, lines: u32) -> u64 {
    let before = board.irqs_delivered();
    board.opencl_write(cra + 0x50, lines, 15).unwrap();
    board.run(2000).unwrap();
    board.irqs_delivered() - before
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn messages_need_the_enable_bit() {
    let mut board = with_cra();
    assert_eq!(line(&mut board, true), 0);
    assert_eq!(board.opencl_read(CRA + 0x40).unwrap(), 2);
    assert_eq!(enable(&mut board, 1), 0);
    assert_eq!(enable(&mut board, 2), 1);
    assert_eq!(line(&mut board, false), 0);
    assert_eq!(line(&mut board, true), 1);
    // The level is visible at both ends.
    assert_eq!((board.irqs(), board.irq()), (2, true));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_kernels_line_and_the_dmas_share_the_message() {
    let mut board = with_cra();
    enable(&mut board, 3);
    board.set_kernel_irq(true);
    board.run(2000).unwrap();
    assert_eq!(board.irqs_delivered(), 1);
    assert_eq!(board.opencl_read(CRA + 0x40).unwrap(), 1);
    assert_eq!(line(&mut board, true), 0);
    assert_eq!(board.opencl_read(CRA + 0x40).unwrap(), 3);
    // Masked and enabled again, as by a driver that must not miss the second interrupt.
    assert_eq!(enable(&mut board, 0), 0);
    assert_eq!(enable(&mut board, 3), 1);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_hard_ip_disables() {
    let mut board = with_cra();
    enable(&mut board, 3);
    board.reset_hard_ip();
    assert_eq!(board.opencl_read(CRA + 0x50).unwrap(), 0);
    assert_eq!(line(&mut board, true), 0);
    enable(&mut board, 3);
    board.reset().unwrap();
    assert_eq!(board.opencl_read(CRA + 0x50).unwrap(), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn accesses_keep_their_order() {
    let mut board = with_cra();
    // The line rises before it is enabled, and a read follows both.
    board.bar_write32(Space::Csr, LINE, 1).unwrap();
    board.opencl_write(CRA + 0x50, 2, 15).unwrap();
    assert!(board.irq());
    assert_eq!(board.opencl_read(CRA + 0x50).unwrap(), 2);
    let cycles = board.cycles();
    board.opencl_read(CRA + 0x40).unwrap();
    // 250 ns each way, in addition to the time of the packets themselves, at 4 ns a cycle.
    let took = board.cycles() - cycles;
    assert!((125..200).contains(&took), "{took}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn wrong_accesses_are_refused() {
    let mut board = board();
    let error = board.opencl_read(0).unwrap_err();
    assert!(matches!(&error, Error::HostAccess { message, .. } if message.contains("OpenCL")));
    let mut board = with_cra();
    let error = board.opencl_write(CRA + 0x51, 0, 15).unwrap_err();
    assert!(matches!(error, Error::HostAccess { offset, .. } if offset == CRA + 0x51));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_kernel_works_on_fpga_memory_and_interrupts() {
    let mut board = with_kernels();
    let data: Vec<u8> = (0..4000_u32).map(|n| n.wrapping_mul(97) as u8).collect();
    board.ddr_mut().write(0x1000, &data).unwrap();
    assert_eq!(enable_at(&mut board, 0, 1), 0);
    start_copy(&mut board, 0x1000, 0x8_0000, 1000);
    assert!(board.busy());
    board.run_until(|board| !board.busy(), 100_000).unwrap();
    assert_eq!(board.irqs_delivered(), 1);
    assert_eq!(board.opencl_read(0x40).unwrap(), 1);
    let mut copy = vec![0; 4000];
    board.ddr().read(0x8_0000, &mut copy).unwrap();
    assert!(copy == data);
    // A read of the finish counter lowers the line.
    assert_eq!(board.opencl_read(0x4000 + 0x1130).unwrap(), 1);
    assert_eq!(board.opencl_read(0x40).unwrap(), 0);
    assert_eq!(board.kernel_strays(), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_wrong_pointer_of_a_kernel_is_counted() {
    let mut board = with_kernels();
    start_copy(&mut board, 0x1000, 0x8000_0000, 16);
    board.run_until(|board| !board.busy(), 100_000).unwrap();
    assert_eq!(board.kernel_strays(), 1);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_of_the_kernels_holds_the_window() {
    let mut board = with_kernels();
    block(&mut board, 0x30, &[0]);
    let cycles = board.cycles();
    assert_eq!(board.opencl_read(0x4000 + 0x30).unwrap(), 1);
    // 1024 cycles of `clk`, or of `pcie_clk` in a design without `clk`, less the cycles of the way.
    assert!(board.cycles() - cycles >= 900);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_is_kept_or_lost_by_another_program() {
    let mut board = with_kernels();
    board.ddr_mut().write(0x1000, &[7; 64]).unwrap();
    let mut word = [0];
    for (contents, byte) in [(Contents::Kept, 7), (Contents::Lost, 0)] {
        board.reprogram(program(), contents).unwrap();
        board.ddr().read(0x1020, &mut word).unwrap();
        assert_eq!(word, [byte]);
    }
    let wrong = Program {
        hash: String::new(),
        ..program()
    };
    let error = board.reprogram(wrong, Contents::Kept).unwrap_err();
    assert!(matches!(error, Error::Program(_)));
}
