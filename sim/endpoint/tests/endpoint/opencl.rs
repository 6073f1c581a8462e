//! Tests of the board's other parts, next to the block.

use crate::guest::{Guest, RAM, noise, params};
use crate::transfers::{PAGE, both_ways};
use peerlane_core::descriptor::Direction;
use peerlane_core::regs::csr;
use peerlane_endpoint::opencl::{Contents, Program, Timing};
use peerlane_endpoint::{Irq, Port};

/// Offset of the hard IP's `Cra` in the reference BSP, and registers of it.
const CRA: u64 = 0x8000;
const STATUS: u64 = CRA + 0x40;
const ENABLE: u64 = CRA + 0x50;
const KERNEL: u32 = 1;
const DMA: u32 = 2;

/// Makes a guest whose function interrupts by the hard IP's message, with the enable bits as after power-up.
fn guest() -> Guest {
    Guest::new(params(Port::Txs, Irq::Rxm))
}

/// The kernel interface of the reference BSP, with its window.
const KERNELS: u64 = 0x4000;
const WINDOW: u64 = KERNELS + 0x1000;

fn program() -> Program {
    let hash = "0123456789abcdef0123456789abcdef01234567";
    Program::of_all_kinds("sim_board", hash, 2 << 30)
}

/// Makes a guest whose function has kernels.
fn with_kernels(port: Port, irq: Irq) -> Guest {
    Guest::with(params(port, irq), |config| {
        config.layout = config.layout.clone().with_opencl();
        config.opencl.program = Some(program());
    })
}

/// Starts the copying of 1000 words from 1 MiB to 2 MiB, in accesses like a processor's.
fn start_copy(guest: &mut Guest) {
    guest.write_bar(KERNELS + 0x20, &0x1000_u32.to_le_bytes());
    guest.write_bar(WINDOW + 0x140, &1000_u32.to_le_bytes());
    guest.write_bar(WINDOW + 0x180, &0x10_0000_u64.to_le_bytes());
    guest.write_bar(WINDOW + 0x188, &0x20_0000_u64.to_le_bytes());
    guest.write_bar(WINDOW + 0x108, &1_u32.to_le_bytes());
}

/// Checks a copy by the kernel, its interrupt, and the values that the handler reads.
fn copy_by_kernel(guest: &mut Guest, vector: usize) {
    let data = noise(4000, 3);
    guest.handle.write_fpga(0x10_0000, &data).unwrap();
    start_copy(guest);
    guest.interrupt(vector);
    assert!(guest.handle.read_fpga(0x20_0000, 4000).unwrap() == data);
    assert_eq!(word(guest, WINDOW + 0x100), 0x5_0002);
    assert_eq!(word(guest, WINDOW + 0x130), 1);
    assert_eq!(word(guest, WINDOW + 0x100), 0x5_0000);
    guest.settle();
    let status = guest.handle.status().unwrap();
    assert_eq!((status.violations, status.first_error), (0, None));
    // The interrupt was one message.
    assert_eq!(status.interrupts[vector], 1);
    assert!(status.mmio["opencl"].writes >= 5);
}

fn enable(guest: &mut Guest, lines: u32) {
    guest.write_bar(ENABLE, &lines.to_le_bytes());
}

fn word(guest: &mut Guest, offset: u64) -> u32 {
    u32::from_le_bytes(guest.read_bar(offset))
}

/// Waits until the block is idle, and returns the number of interrupts so far.
fn interrupts(guest: &Guest) -> u64 {
    guest.settle();
    guest.handle.status().unwrap().interrupts[0]
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_with_the_line_enabled() {
    let mut guest = guest();
    enable(&mut guest, DMA);
    both_ways(&mut guest, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn no_message_before_the_line_is_enabled() {
    let mut guest = guest();
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.submit(Direction::FromFpga, host, 0, 64);
    guest.record();
    assert_eq!(interrupts(&guest), 0);
    assert_eq!(
        (word(&mut guest, STATUS), word(&mut guest, ENABLE)),
        (DMA, 0)
    );
    // The line is high: a message comes as soon as it is enabled.
    enable(&mut guest, KERNEL);
    assert_eq!(interrupts(&guest), 0);
    enable(&mut guest, KERNEL | DMA);
    guest.interrupt(0);
    guest.write_csr(csr::IRQ_STATUS, u32::MAX);
    assert_eq!(word(&mut guest, STATUS), 0);
    assert_eq!(interrupts(&guest), 1);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_kernel_that_is_not_masked_hides_the_block() {
    let mut guest = guest();
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    enable(&mut guest, KERNEL | DMA);
    guest.handle.set_kernel_irq(true).unwrap();
    guest.interrupt(0);
    guest.submit(Direction::FromFpga, host, 0, 64);
    guest.record();
    assert_eq!(word(&mut guest, STATUS), KERNEL | DMA);
    assert_eq!(interrupts(&guest), 1);
    // While its interrupt is disabled, the kernel does not block the DMA's.
    enable(&mut guest, 0);
    enable(&mut guest, DMA);
    guest.interrupt(0);
    assert_eq!(interrupts(&guest), 2);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_function_reset_disables_the_lines() {
    let mut guest = guest();
    enable(&mut guest, KERNEL | DMA);
    assert_eq!(word(&mut guest, ENABLE), KERNEL | DMA);
    guest.write_config(0x88, 0xA810);
    guest.enable();
    assert_eq!(word(&mut guest, ENABLE), 0);
    guest.handle.set_kernel_irq(true).unwrap();
    assert_eq!(interrupts(&guest), 0);
    // A new configuration of the FPGA has this effect, too.
    enable(&mut guest, KERNEL);
    guest.interrupt(0);
    guest.handle.configure().unwrap();
    assert_eq!(word(&mut guest, ENABLE), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_build_with_a_table_has_no_line() {
    let mut guest = Guest::with(params(Port::Txs, Irq::Msix), |config| {
        config.layout.cra = Some(CRA);
    });
    enable(&mut guest, KERNEL | DMA);
    guest.handle.set_kernel_irq(true).unwrap();
    guest.interrupt(1);
    assert_eq!(word(&mut guest, STATUS), 0);
    guest.settle();
    assert_eq!(guest.handle.status().unwrap().interrupts[..3], [0, 1, 0]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_kernel_interrupts_by_the_line() {
    let mut guest = with_kernels(Port::Txs, Irq::Rxm);
    enable(&mut guest, KERNEL | DMA);
    copy_by_kernel(&mut guest, 0);
    assert_eq!(word(&mut guest, STATUS), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_kernel_interrupts_by_its_vector() {
    let mut guest = with_kernels(Port::Txs, Irq::Msix);
    copy_by_kernel(&mut guest, 1);
}

/// The kernels belong to the board: the host's accesses to them go through the block as packets, and the answers back.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn kernels_are_reached_by_packets() {
    copy_by_kernel(&mut with_kernels(Port::Tlp, Irq::Msix), 1);
    copy_by_kernel(&mut with_kernels(Port::Tlp, Irq::Rxm), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_parts_of_the_reference_bsp_answer() {
    let mut guest = with_kernels(Port::Txs, Irq::Msix);
    assert_eq!(word(&mut guest, KERNELS), 0xA0C0_0001);
    assert_eq!(word(&mut guest, 0x2000), 0xA0C0_0001);
    assert_eq!(word(&mut guest, 0x2120), 1);
    assert_eq!(word(&mut guest, 0x3800), 0xA0C7_C1E0);
    // The text, 8 bytes a read.
    let text = program().text();
    let read: Vec<_> = (0..text.len() as u64 / 8)
        .flat_map(|n| guest.read_bar::<8>(KERNELS + 0x2000 + n * 8))
        .collect();
    assert_eq!(read, text.as_bytes()[..read.len()]);
    // A read of the reset register waits for the reset's end.
    guest.write_bar(KERNELS + 0x30, &[0]);
    assert_eq!(word(&mut guest, KERNELS + 0x30), 1);
    // The block is still at its place.
    assert_ne!(guest.read_csr(csr::MAP_ID), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_kernel_at_work_ends_with_its_program() {
    let mut guest = with_kernels(Port::Txs, Irq::Msix);
    let slow = Timing {
        start: u64::MAX,
        ..Timing::default()
    };
    let handle = guest.handle.clone();
    let set = handle.with_board(move |board| board.opencl_mut().unwrap().set_timing(slow));
    set.unwrap();
    handle.write_fpga(0x20_0000, &[9; 16]).unwrap();
    start_copy(&mut guest);
    assert_eq!(word(&mut guest, WINDOW + 0x100), 0x5_C000);
    handle.reprogram(program(), Contents::Kept).unwrap();
    assert_eq!(handle.read_fpga(0x20_0000, 16).unwrap(), [9; 16]);
    guest.settle();
    handle.reprogram(program(), Contents::Lost).unwrap();
    assert_eq!(handle.read_fpga(0x20_0000, 16).unwrap(), [0; 16]);
    // As after power-up: the segment is 0, and no kernel exists.
    assert_eq!(word(&mut guest, WINDOW + 0x100), 0);
    assert_eq!(guest.handle.status().unwrap().interrupts[1], 0);
    // The block has continued.
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.submit(Direction::FromFpga, host, 0, 64);
    assert_eq!(guest.record().outcome, Ok(()));
}

/// Registers of the reference BSP's kernel clock: counter M, start, readiness.
const CLOCK: u64 = 0x2000;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn who_is_not_answered_holds_up_all_others() {
    let mut guest = with_kernels(Port::Txs, Irq::Msix);
    // No counter works with this value: the clock does not lock any more.
    guest.write_bar(CLOCK + 0x210, &0_u32.to_le_bytes());
    guest.write_bar(CLOCK + 0x208, &1_u32.to_le_bytes());
    while word(&mut guest, CLOCK + 0x204) != 1 {}
    assert_eq!(word(&mut guest, CLOCK + 0x120), 0);
    let version = word(&mut guest, KERNELS);
    assert_ne!(version, u32::MAX);
    for offset in [WINDOW, KERNELS, CLOCK, 0x3000] {
        assert_eq!(word(&mut guest, offset), u32::MAX, "{offset:#x}");
    }
    guest.handle.configure().unwrap();
    assert_eq!(word(&mut guest, KERNELS), version);
    assert_eq!(word(&mut guest, CLOCK + 0x120), 1);
    word(&mut guest, WINDOW);
    assert_eq!(guest.handle.status().unwrap().violations, 0);
}
