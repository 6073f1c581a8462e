//! Tests of the PCIe function: identification, access to the BAR, resets.

use crate::guest::{Guest, params};
use peerlane_core::regs::{MAP_ID, csr};
use peerlane_endpoint::{Irq, Port, Resets};
use vfio_bindings::bindings::vfio::*;

fn guest() -> Guest {
    Guest::new(params(Port::Txs, Irq::Msix))
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_block_answers_in_the_bar() {
    let mut guest = guest();
    assert_eq!(guest.read_config(0), 0xAB00_1172);
    assert_eq!(guest.client.region(2).unwrap().size, 256 << 10);
    assert_eq!(
        guest
            .client
            .region(VFIO_PCI_CONFIG_REGION_INDEX)
            .unwrap()
            .size,
        4096
    );
    assert_eq!(guest.read_csr(csr::MAP_ID), MAP_ID);
    let build = guest.config.block().build_id();
    assert_eq!(guest.read_csr(csr::BUILD_ID), build);
    // Eight bytes are two registers; one and two bytes are parts of one.
    let at = 0x3000 + csr::MAP_ID as u64;
    let [map, next] = [csr::MAP_ID, csr::MAP_ID + 4].map(|offset| guest.read_csr(offset));
    let both = u64::from(next) << 32 | u64::from(map);
    assert_eq!(u64::from_le_bytes(guest.read_bar(at)), both);
    assert_eq!(
        u16::from_le_bytes(guest.read_bar(at + 2)),
        (map >> 16) as u16
    );
    assert_eq!(guest.read_bar::<1>(at + 3), [(map >> 24) as u8]);
    // An address without a slave.
    assert_eq!(guest.read_bar::<8>(0x8000), [0; 8]);
    guest.write_bar(0x8000, &[1; 8]);
    assert_eq!(guest.read_csr(csr::MAP_ID), MAP_ID);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn accesses_are_counted_where_they_go() {
    let mut guest = guest();
    guest.handle.clear_counters().unwrap();
    guest.read_csr(csr::MAP_ID);
    guest.write_bar(0x2_8000, &[0; 8]);
    guest.write_bar(0x2_0000, &[0; 4]);
    guest.read_bar::<4>(0);
    guest.settle();
    let mmio = guest.handle.status().unwrap().mmio;
    let counts: Vec<_> = (mmio.iter())
        .map(|(name, count)| (*name, count.reads, count.writes))
        .collect();
    let expected = [
        ("att", 0, 1),
        ("chan", 0, 1),
        ("csr", 1, 0),
        ("nothing", 1, 0),
    ];
    assert_eq!(counts, expected);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_window_shows_fpga_memory() {
    let mut guest = guest();
    guest.handle.write_fpga(0x123, b"from the board").unwrap();
    assert_eq!(&guest.read_bar::<14>(0x1_0123), b"from the board");
    guest.write_bar(
        0x1_0F03,
        b"from the host, over two words of the window's 64 bytes and so on",
    );
    guest.settle();
    assert_eq!(guest.handle.read_fpga(0xF03, 13).unwrap(), b"from the host");
    let beyond = guest.handle.read_fpga(1 << 32, 1);
    assert!(beyond.is_err());
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn without_memory_space_the_bar_is_all_ones() {
    let mut guest = guest();
    guest.write_csr(csr::PORT_TIMEOUT, 1234);
    guest.write_config(4, 0x4);
    assert_eq!(guest.read_csr(csr::MAP_ID), u32::MAX);
    guest.write_csr(csr::PORT_TIMEOUT, 4321);
    guest.write_config(4, 0x6);
    assert_eq!(guest.read_csr(csr::PORT_TIMEOUT), 1234);
    assert_eq!(guest.handle.status().unwrap().undecoded, 2);
    // D3hot: only configuration is left.
    guest.write_config(0x7C, 3);
    assert_eq!(guest.read_csr(csr::MAP_ID), u32::MAX);
    assert_eq!(guest.read_config(0), 0xAB00_1172);
    assert_eq!(guest.handle.status().unwrap().undecoded, 3);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn resets_reach_the_block_or_not() {
    // FLR, the transition from D3hot to D0, a reset of the bus.
    for (resets, reached) in [
        (Resets::Configuration, [false; 3]),
        (Resets::Link, [false, false, true]),
        (Resets::Fabric, [true; 3]),
    ] {
        let guest = Guest::with_resets(params(Port::Txs, Irq::Msix), resets);
        all_resets(guest, reached);
    }
}

/// Checks that each kind of reset clears the configuration, and the block's registers if it reaches the block. None
/// configures the FPGA with another block.
fn all_resets(mut guest: Guest, reached: [bool; 3]) {
    type Reset = fn(&mut Guest);
    let resets: [(&str, Reset); 3] = [
        ("FLR", |guest| guest.write_config(0x88, 0xA810)),
        ("D3hot", |guest| {
            guest.write_config(0x7C, 3);
            guest.write_config(0x7C, 0);
        }),
        ("client", |guest| guest.client.reset().unwrap()),
    ];
    for ((name, reset), reached) in resets.into_iter().zip(reached) {
        guest.handle.configure_other(0x1234_5678).unwrap();
        guest.enable();
        guest.write_csr(csr::PORT_TIMEOUT, 1234);
        assert_eq!(guest.read_csr(csr::PORT_TIMEOUT), 1234, "{name}");
        reset(&mut guest);
        assert_eq!(guest.read_config(4), 0x0010_0000, "{name}");
        guest.enable();
        let value = guest.read_csr(csr::PORT_TIMEOUT);
        let after = if reached {
            csr::PORT_TIMEOUT_RESET
        } else {
            1234
        };
        assert_eq!(value, after, "{name}");
        assert_eq!(guest.read_csr(csr::BUILD_ID), 0x1234_5678, "{name}");
    }
    assert_eq!(guest.handle.status().unwrap().resets, 3);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_bar_that_is_away_comes_back() {
    let mut guest = guest();
    guest.write_csr(csr::PORT_TIMEOUT, 1234);
    guest.handle.hide_bar().unwrap();
    guest.write_csr(csr::PORT_TIMEOUT, 4321);
    assert_eq!(guest.read_csr(csr::MAP_ID), u32::MAX);
    guest.handle.clear_faults().unwrap();
    assert_eq!(guest.read_csr(csr::PORT_TIMEOUT), 1234);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_next_client_finds_it_as_new() {
    let mut guest = guest();
    guest.write_csr(csr::PORT_TIMEOUT, 1234);
    let socket = guest.socket();
    guest.client.shutdown().unwrap();
    guest.client = vfio_user::Client::new(&socket).unwrap();
    assert_eq!(guest.read_config(4), 0x0010_0000);
    assert_eq!(guest.read_csr(csr::MAP_ID), u32::MAX);
    guest.enable();
    assert_eq!(guest.read_csr(csr::PORT_TIMEOUT), csr::PORT_TIMEOUT_RESET);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_clock_stands_still_when_nothing_happens() {
    let mut guest = guest();
    guest.open();
    guest.settle();
    let cycles = guest.handle.status().unwrap().cycles;
    std::thread::sleep(std::time::Duration::from_millis(50));
    // A request costs a few cycles, an idle board none: 50 ms would be tens of thousands.
    guest.settle();
    let more = guest.handle.status().unwrap().cycles - cycles;
    assert!(more < 10_000, "{more}");
}
