//! The OpenCL side beside a hand-written design.

use peerlane_sim::opencl::{Offsets, OpenClSide};
use peerlane_sim::{Board, BoardConfig, Error, Space};
use peerlane_verilated::{Build, Toolchain};

/// Where the toy has its interrupt line, and where the tests have the `Cra`.
const LINE: u64 = 32;
const CRA: u64 = 0x8000;

fn board() -> Board {
    let build = Build::new("toy_txs").text("toy_txs.v", include_str!("toy_txs.v"));
    let library = build.flag("-Wno-fatal").model(&Toolchain::open().unwrap());
    Board::new(library.unwrap().instance().unwrap(), BoardConfig::default()).unwrap()
}

fn with_cra() -> Board {
    let mut board = board();
    board.attach_opencl(OpenClSide::new(Offsets {
        cra: Some(CRA),
        ..Offsets::default()
    }));
    board
}

/// Sets the level of the toy's interrupt, and gives the messages that have come until it is quiet.
fn line(board: &mut Board, level: bool) -> u64 {
    let before = board.irqs_delivered();
    board.bar_write32(Space::Csr, LINE, level.into()).unwrap();
    board.run(2000).unwrap();
    board.irqs_delivered() - before
}

fn enable(board: &mut Board, lines: u32) -> u64 {
    let before = board.irqs_delivered();
    board.opencl_write(CRA + 0x50, lines, 15).unwrap();
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
    // The level is seen at both ends.
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
    // Masked and enabled again, as a driver does it that must not miss the second one.
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
    // The line rises before it is enabled, and a read comes behind both.
    board.bar_write32(Space::Csr, LINE, 1).unwrap();
    board.opencl_write(CRA + 0x50, 2, 15).unwrap();
    assert!(board.irq());
    assert_eq!(board.opencl_read(CRA + 0x50).unwrap(), 2);
    let cycles = board.cycles();
    board.opencl_read(CRA + 0x40).unwrap();
    // 250 ns each way beside the packets' own time, at 4 ns a cycle.
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
