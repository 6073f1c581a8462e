//! The board's parts beside the block.

use crate::guest::{Guest, RAM, params};
use crate::transfers::{PAGE, both_ways};
use peerlane_core::descriptor::Direction;
use peerlane_core::regs::csr;
use peerlane_endpoint::{Irq, Port};

/// Where the reference BSP has the hard IP's `Cra`, and registers of it.
const CRA: u64 = 0x8000;
const STATUS: u64 = CRA + 0x40;
const ENABLE: u64 = CRA + 0x50;
const KERNEL: u32 = 1;
const DMA: u32 = 2;

/// A function that interrupts by the hard IP's message, its enable bits as after power-up.
fn guest() -> Guest {
    Guest::with(params(Port::Txs, Irq::Rxm), |config| {
        config.layout.cra = Some(CRA);
    })
}

fn enable(guest: &mut Guest, lines: u32) {
    guest.write_bar(ENABLE, &lines.to_le_bytes());
}

fn word(guest: &mut Guest, offset: u64) -> u32 {
    u32::from_le_bytes(guest.read_bar(offset))
}

/// Interrupts so far, once nothing happens any more.
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
    guest.submit(Direction::Write, host, 0, 64);
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
    guest.submit(Direction::Write, host, 0, 64);
    guest.record();
    assert_eq!(word(&mut guest, STATUS), KERNEL | DMA);
    assert_eq!(interrupts(&guest), 1);
    // Masked, the kernel leaves the request to the block.
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
    // A new configuration of the FPGA, too.
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
