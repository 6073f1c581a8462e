//! Tests of data, records and interrupts.

use crate::guest::{GPU, Guest, MIB, RAM, RAM_BYTES, noise, params};
use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;
use peerlane_core::regs::csr;
use peerlane_endpoint::{Access, Irq, Port, Ranges, Resets, Touched};

/// Offset of the tests' page in guest memory.
pub const PAGE: u64 = 2 * MIB;

/// Moves bytes in both directions, and checks them, the record and the interrupt.
pub fn both_ways(guest: &mut Guest, vector: usize) {
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    let gpu = guest.map(1, GPU);
    // `Txs` writes whole dwords.
    const BYTES: usize = 10_008;
    for (index, peer) in [host, gpu].into_iter().enumerate() {
        let (peer, at) = (peer.checked_add(76).unwrap(), [PAGE, 0][index] + 76);
        let data = noise(BYTES, index as u32);
        guest.handle.write_fpga(0x1003, &data).unwrap();
        guest.submit(Direction::FromFpga, peer, 0x1003, BYTES as u32);
        guest.interrupt(vector);
        // The interrupt comes after the record, and the record after the data.
        let record = guest.record();
        assert_eq!((record.outcome, record.bytes_done), (Ok(()), BYTES as u32));
        let memory = [&guest.ram, &guest.gpu][index];
        assert!(memory.read(at, BYTES) == data, "{index}");
        assert_eq!(memory.read(at - 1, 1), [0]);
        assert_eq!(memory.read(at + BYTES as u64, 1), [0]);

        let data = noise(BYTES, 7 + index as u32);
        memory.write(at, &data);
        guest.write_csr(csr::IRQ_STATUS, u32::MAX);
        guest.submit(Direction::ToFpga, peer, 0x20_0001, BYTES as u32);
        guest.interrupt(vector);
        assert_eq!(guest.record().outcome, Ok(()));
        assert!(guest.handle.read_fpga(0x20_0001, BYTES).unwrap() == data);
        guest.write_csr(csr::IRQ_STATUS, u32::MAX);
    }
    guest.settle();
    let status = guest.handle.status().unwrap();
    assert_eq!(
        (status.violations, status.unmapped_total),
        (0, 0),
        "{status:#?}"
    );
    assert_eq!(status.interrupts[vector], 4);
    let bytes = BYTES as u64;
    assert!(status.gpu.bytes_written == bytes && status.gpu.bytes_read >= bytes);
    // Four records in addition to the data.
    assert_eq!(status.host.bytes_written, bytes + 4 * 32);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_by_msi_x() {
    both_ways(&mut Guest::new(params(Port::Txs, Irq::Msix)), 2);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_by_msi() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Rxm));
    // Enable the block's line in the hard IP.
    guest.write_bar(0x8050, &2_u32.to_le_bytes());
    both_ways(&mut guest, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_by_tagged_streams() {
    both_ways(&mut Guest::new(params(Port::Stream, Irq::Msix)), 2);
}

/// On this port register accesses are packets, too.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_by_packets() {
    both_ways(&mut Guest::new(params(Port::Tlp, Irq::Msix)), 2);
}

/// The block makes the message of its line itself.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn data_move_both_ways_by_packets_and_msi() {
    both_ways(&mut Guest::new(params(Port::Tlp, Irq::Rxm)), 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_masked_function_keeps_its_interrupts() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.write_config(0x68, 0xC000_0000);
    guest.submit(Direction::FromFpga, host, 0, 64);
    guest.record();
    guest.settle();
    assert!(guest.events[2].read().is_err());
    // The interrupt is pending.
    assert_eq!(guest.read_bar::<4>(0x3_0800), [4, 0, 0, 0]);
    guest.write_config(0x68, 0x8000_0000);
    guest.interrupt(2);
    guest.settle();
    assert_eq!(guest.read_bar::<4>(0x3_0800), [0; 4]);
    assert_eq!(guest.handle.status().unwrap().interrupts_lost, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn descriptors_outlive_a_function_reset() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.write_config(0x88, 0xA810);
    guest.write_config(0x04, 0x6);
    guest.write_config(0x68, 0x8000_0000);
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.submit(Direction::FromFpga, host, 0, 64);
    guest.interrupt(2);
}

/// A driver that does not have the table restored gets no interrupts, and one that restores a part of it only gets
/// those of that part.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_table_that_is_lost_opens_one_vector_after_the_other() {
    type Loss = fn(&mut Guest);
    let losses: [(Resets, Loss); 2] = [
        (Resets::Fabric, |guest| {
            guest.write_config(0x88, 0xA810);
            guest.write_config(0x04, 0x6);
            guest.write_config(0x68, 0x8000_0000);
        }),
        (Resets::Configuration, |guest| {
            guest.handle.configure().unwrap();
        }),
    ];
    for (resets, lose) in losses {
        let mut guest = Guest::with_resets(params(Port::Txs, Irq::Msix), resets);
        lose(&mut guest);
        guest.open();
        let host = guest.map(0, RAM + PAGE);
        guest.submit(Direction::FromFpga, host, 0, 64);
        guest.record();
        for vector in [3, 0] {
            guest.unmask(vector);
            guest.settle();
            assert!(guest.events[2].read().is_err(), "{resets:?}, {vector}");
            // The interrupt stays pending.
            assert_eq!(guest.read_bar::<4>(0x3_0800), [4, 0, 0, 0]);
        }
        guest.unmask(2);
        guest.interrupt(2);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_kernel_has_a_vector_of_its_own() {
    let guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.handle.set_kernel_irq(true).unwrap();
    guest.interrupt(1);
    guest.settle();
    assert_eq!(guest.handle.status().unwrap().interrupts[..3], [0, 1, 0]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn every_touched_address_is_known() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.settle();
    guest.handle.clear_counters().unwrap();
    let ring = RAM..RAM + (32 << 8);
    let target = RAM + PAGE + 4..RAM + PAGE + 4 + 4000;
    let allowed = Touched {
        // The flush reads where the block wrote.
        read: Ranges::from(RAM + PAGE..RAM + PAGE + 4096),
        written: Ranges::from_iter([ring.clone(), target.clone()]),
    };
    guest.handle.allow_only(Some(allowed.clone()));
    guest.submit(Direction::FromFpga, host.checked_add(4).unwrap(), 0, 4000);
    guest.record();
    guest.settle();
    let touched = guest.handle.touched();
    assert!(touched.outside(&allowed.read, &allowed.written).is_empty());
    let written: Vec<_> = touched.written.iter().collect();
    assert_eq!(written, [ring.start..ring.start + 32, target.clone()]);
    assert_eq!(guest.handle.status().unwrap().strays, 0);
    // One dword more is not allowed.
    guest.submit(Direction::FromFpga, host.checked_add(4).unwrap(), 0, 4004);
    guest.record();
    guest.settle();
    let status = guest.handle.status().unwrap();
    assert_eq!(status.strays, 1);
    let stray = status.first_stray.unwrap();
    assert!(stray.write && stray.address + u64::from(stray.bytes) == target.end + 4);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn what_is_unmapped_is_not_touched_any_more() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let gpu = guest.map(0, GPU);
    guest.client.dma_unmap(GPU, 4 * MIB).unwrap();
    guest.handle.write_fpga(0, &[0x5A; 64]).unwrap();
    guest.submit(Direction::FromFpga, gpu, 0, 64);
    // The read that would prove its arrival does not arrive either.
    assert_eq!(guest.record().outcome, Err(Fault::Flush));
    guest.settle();
    assert_eq!(guest.gpu.read(0, 64), [0; 64]);
    let status = guest.handle.status().unwrap();
    let write = Access {
        address: GPU,
        bytes: 64,
        write: true,
    };
    assert_eq!(status.unmapped.first(), Some(&write));
    // The bridge of this port drops an answer without data. The first such read ends all reads until a reset.
    guest.submit(Direction::ToFpga, gpu, 0, 64);
    assert_eq!(guest.record().outcome, Err(Fault::PortDown));
    assert_eq!(guest.handle.read_fpga(0, 64).unwrap(), [0x5A; 64]);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn unmapping_under_load_is_safe() {
    let mut guest = Guest::new(params(Port::Txs, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    use std::os::fd::AsRawFd;
    let again = tempfile::tempfile().unwrap();
    again.set_len(RAM_BYTES).unwrap();
    for _ in 0..4 {
        guest.submit(Direction::FromFpga, host, 0, MIB as u32);
    }
    // The ring's first page stays; the rest comes and goes.
    guest.client.dma_unmap(RAM, RAM_BYTES).unwrap();
    for _ in 0..50 {
        let fd = again.as_raw_fd();
        guest.client.dma_map(0, RAM, RAM_BYTES, fd).unwrap();
        guest.client.dma_unmap(RAM, RAM_BYTES).unwrap();
    }
    guest.settle();
    let status = guest.handle.status().unwrap();
    assert!(status.unmapped_total > 0 && !status.dead);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn without_bus_mastering_nothing_is_touched() {
    let mut guest = Guest::new(params(Port::Stream, Irq::Msix));
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    guest.settle();
    guest.handle.clear_counters().unwrap();
    guest.write_config(4, 0x2);
    guest.submit(Direction::FromFpga, host, 0, 256);
    guest.submit(Direction::ToFpga, host, 0, 256);
    guest.settle();
    assert!(guest.handle.touched().is_empty());
    assert!(guest.events[2].read().is_err());
    assert_eq!(guest.ram.read(4, 4), [0; 4]);
    // With the permission a read is answered as before.
    guest.write_config(4, 0x6);
    guest.open();
    guest.submit(Direction::ToFpga, host, 0, 256);
    assert_eq!(guest.record().outcome, Ok(()));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_function_reset_stops_everything_at_once() {
    for resets in [Resets::Fabric, Resets::Configuration] {
        stops_at_once(resets);
    }
}

/// Checks a board on which the reset does not reach the block: the block continues as soon as it may.
fn stops_at_once(resets: Resets) {
    let mut guest = Guest::with_resets(params(Port::Txs, Irq::Msix), resets);
    guest.open();
    let host = guest.map(0, RAM + PAGE);
    for direction in [Direction::BOTH; 4].into_iter().flatten() {
        guest.submit(direction, host, 0, MIB as u32);
    }
    while guest.handle.status().unwrap().host.bytes_written < 4096 {
        std::thread::yield_now();
    }
    guest.write_config(0x88, 0xA810);
    if resets == Resets::Configuration {
        // The bridge sees the bit a little later, and sends the data that it has taken.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let traffic = guest.handle.status().unwrap().host;
    assert!(traffic.bytes_written < 4 * MIB);
    if resets == Resets::Configuration {
        // If the block continued without the permission, it would be at the end by then.
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(guest.handle.status().unwrap().host, traffic);
    }
    guest.enable();
    guest.settle();
    let went_on = guest.handle.status().unwrap().host != traffic;
    assert_eq!(went_on, resets == Resets::Configuration);
}
