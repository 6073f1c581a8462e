//! The host's way to a block with a transaction layer and places for its slaves: every access is a packet, and finds
//! its slave inside the block. Accesses to other addresses go on to the board.

use crate::channels::descriptor;
use crate::packets;
use crate::resets::cut_off;
use crate::rig::{MIB, RECORD, Rig, library, near, same};
use crate::stream::{self, disorder};
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::{Irq, Params, Slaves};
use peerlane_sim::{BarConfig, BarSizes, BoardConfig, Space};

/// The block with places for its slaves.
pub fn params(port_bits: u32, irq: Irq) -> Params {
    Params {
        irq,
        slaves: Some(Slaves {
            bar: 2,
            csr: 0xC800,
            chan: 0x2_0000,
            att: 0x2_8000,
            msix: (irq == Irq::Msix).then_some(0x3_0000),
            window: Some(0x1_0000),
        }),
        ..packets::params(port_bits)
    }
}

/// Returns a board whose host knows them.
pub fn board(params: &Params, config: BoardConfig) -> BoardConfig {
    let slaves = params.slaves.expect("places");
    BoardConfig {
        bar: BarConfig {
            csr: slaves.csr,
            window: slaves.window.expect("a place for the window"),
            channels: slaves.chan,
            att: slaves.att,
            msix: slaves.msix.unwrap_or(1 << 20),
            number: slaves.bar as u8,
            sizes: Some(BarSizes {
                channels: u64::from(params.channels) << 12,
                att: 8 << params.att_log2,
                msix: if slaves.msix.is_some() { 4096 } else { 0 },
            }),
        },
        ..config
    }
}

fn builds() -> [Params; 2] {
    [params(128, Irq::Rxm), params(256, Irq::Msix)]
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_slave_is_found_by_packets() {
    for params in builds() {
        let mut rig = Rig::new(&library(&params), board(&params, near()));
        assert_eq!(rig.read_csr(csr::BUILD_ID), params.build_id());
        rig.csr(csr::CHANNEL_SELECT, 5);
        assert_eq!(rig.read_csr(csr::CHANNEL_SELECT), 5);
        // At the offsets of the BAR, too.
        let at = |place: u64, register: usize| place + register as u64;
        let select = at(0xC800, csr::CHANNEL_SELECT);
        rig.board.bar_write32_at(select, 3).unwrap();
        assert_eq!(rig.board.bar_read32_at(select).unwrap(), 3);
        for channel in [0, 7] {
            rig.open_channel(channel);
            let page = u64::from(channel) << 12;
            let free = at(page, chan::QUEUE_FREE);
            let free = rig.board.bar_read32(Space::Chan, free).unwrap();
            assert_eq!(free & 0xFFFF, params.queue_depth(), "channel {channel}");
        }
        assert_eq!(rig.board.bar_read32(Space::Att, 8).unwrap(), 0);
        if params.irq == Irq::Msix {
            for word in 0..3 {
                rig.board
                    .bar_write32(Space::Msix, 32 + 4 * word, 0x1230 + word as u32 * 16)
                    .unwrap();
            }
            let words: Vec<u32> = (0..4)
                .map(|word| rig.board.bar_read32(Space::Msix, 32 + 4 * word).unwrap())
                .collect();
            assert_eq!(words, [0x1230, 0x1240, 0x1250, 1]);
        }
        rig.board.check().unwrap();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_is_not_the_blocks_goes_to_the_board() {
    for params in builds() {
        let mut rig = Rig::new(&library(&params), board(&params, near()));
        let base = 3 * (MIB >> 4);
        rig.csr(csr::WINDOW_LO, base as u32);
        rig.csr(csr::WINDOW_HI, 0);
        assert_eq!(rig.read_csr(csr::WINDOW_LO), base as u32);
        let data: Vec<u8> = (0..300u32).map(|i| ((i * 7) >> 1) as u8).collect();
        rig.board.window_write(0x1235, &data).unwrap();
        let mut got = vec![0; data.len()];
        rig.board.ddr_mut().read(base + 0x1235, &mut got).unwrap();
        same("through the window", &got, &data);
        rig.board.ddr_mut().write(base + 0x4000, &data).unwrap();
        rig.board.window_read(0x4000, &mut got).unwrap();
        same("back", &got, &data);
        // Addresses where the board has no slave: it answers with zeros. The block's registers go on.
        for nowhere in [0, 0xCC00, 0x3_8000] {
            rig.board.bar_write32_at(nowhere, 7).unwrap();
        }
        assert_eq!(rig.read_csr(csr::BUILD_ID), params.build_id());
        rig.board.check().unwrap();
    }
}

/// From the packet's beat at the hard IP to the completion's.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_register_of_the_block_is_read_in_24_cycles() {
    for params in builds() {
        let mut rig = Rig::new(&library(&params), board(&params, near()));
        for (space, offset) in [(Space::Csr, csr::BUILD_ID), (Space::Chan, chan::QUEUE_FREE)] {
            rig.board.run(100).unwrap();
            rig.board.bar_read32(space, offset as u64).unwrap();
            let took = rig.board.last_host_read_cycles();
            println!("{} bits, {space:?}: {took} cycles", params.port_bits);
            assert!((1..=24).contains(&took), "{took} cycles");
        }
    }
}

/// All accesses of the host to such a board go through the layer.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_board_that_is_no_bus_master_answers_and_is_drained() {
    for params in builds() {
        let mut config = near();
        config.tlp.own_packets = 5;
        cut_off(&params, &board(&params, config));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_driver_works_through_packets() {
    for params in builds() {
        let mut config = disorder();
        config.tlp.own_packets = 5;
        stream::transfers(&params, board(&params, config), 41, 30);
    }
}

/// A BAR of 512 MiB, as network cards have it, with a slave of the board in its upper half: addresses that are the same
/// modulo 256 KiB, registers of the block among them, are different places.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_large_bar_is_decoded_to_its_end() {
    const HIGH: u64 = 0x1000_0000;
    for small in builds() {
        let slaves = small.slaves.map(|slaves| Slaves {
            window: None,
            ..slaves
        });
        let params = Params {
            slaves,
            bar_log2: Some(29),
            ..small
        };
        let mut config = board(&small, near());
        config.bar.window = HIGH;
        let mut rig = Rig::new(&library(&params), config);
        rig.csr(csr::WINDOW_LO, 0);
        rig.csr(csr::WINDOW_HI, 0);
        rig.csr(csr::CHANNEL_SELECT, 5);
        // Where the registers are, 256 MiB higher.
        let select = 0xC800 + csr::CHANNEL_SELECT as u64;
        let data: Vec<u8> = (0..64u32).map(|i| (i * 5) as u8 | 1).collect();
        rig.board.window_write(select, &data).unwrap();
        let mut got = vec![0; data.len()];
        rig.board.ddr_mut().read(select, &mut got).unwrap();
        same("above", &got, &data);
        rig.board.window_read(select, &mut got).unwrap();
        same("back", &got, &data);
        assert_eq!(rig.read_csr(csr::CHANNEL_SELECT), 5);
        // No slave is at the same place below.
        rig.board.bar_write32_at(0x1235 & !3, 7).unwrap();
        rig.board.ddr_mut().read(0x1234, &mut got).unwrap();
        assert!(got.iter().all(|byte| *byte == 0));
        rig.board.check().unwrap();
    }
}

/// The FPGA is configured again while transfers are under way.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_power_up_under_load_leaves_the_registers_readable() {
    for params in builds() {
        let mut rig = Rig::new(&library(&params), board(&params, near()));
        for round in 0..12 {
            let pages = rig.board.gpu_mut().pin(0, 2 * MIB).unwrap();
            let peer = rig.map(16, &pages, 3);
            for cookie in 0..6 {
                let d = descriptor(peer, 0, 300_000, RECORD, cookie);
                rig.queue(cookie % 2 == 0, d);
            }
            rig.board.run(1000 + round * 777).unwrap();
            rig.board.reset().unwrap();
            assert_eq!(
                rig.read_csr(csr::BUILD_ID),
                params.build_id(),
                "round {round}"
            );
            rig.restart();
            rig.reuse_entries();
        }
    }
}
