//! Every value that a setting, an address or a count can have.

use crate::rig::{Ask, Rig, library};
use crate::target::{Access, BAR_0};
use peerlane_hdl::pcie::target::Reach;
use peerlane_hdl::pcie::{TOP, generate_reaching};
use peerlane_sim::hip::{Fate, Grant, HipConfig, RootConfig, Tlp};
use peerlane_verilated::Library;
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use std::sync::OnceLock;

/// Max Payload Size and Max Read Request Size, in bytes.
const SIZES: [u32; 6] = [128, 256, 512, 1024, 2048, 4096];

/// Cycles that are more than all words of the configuration take to be shown twice.
const SHOWN: u64 = 400;

/// Returns a layer with short time limits, whose BAR has all addresses of 32 bits. It is compiled once for each width.
pub fn wide(bits: u32) -> Library {
    static BUILT: [OnceLock<Library>; 2] = [const { OnceLock::new() }; 2];
    let build = || {
        let reach = Reach {
            bar_log2: 32,
            patience_log2: 6,
            ..Reach::default()
        };
        let design = generate_reaching(bits, 2, reach).unwrap();
        peerlane_block::library_of(TOP, &design).expect("the layer as a model")
    };
    let built = &BUILT[usize::from(bits == 256)];
    built.get_or_init(build).clone()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_setting_is_shown_as_software_has_it() {
    for bits in [128, 256] {
        settings(&library(bits));
    }
}

pub fn settings(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut rig = Rig::new(library, HipConfig::default());
    for _ in 0..60 {
        let config = &mut rig.hip.config;
        config.payload = *SIZES.choose(&mut rng).unwrap();
        config.request = *SIZES.choose(&mut rng).unwrap();
        config.extended = rng.random();
        config.master = rng.random();
        config.msix = (rng.random(), rng.random());
        let address = rng.random::<u64>() & !3;
        config.msi = rng.random::<bool>().then(|| (address, rng.random()));
        config.id = rng.random::<u16>() & !7;
        config.root.boundary = *[64, 128].choose(&mut rng).unwrap();
        rig.run(SHOWN);
        let config = rig.hip.config.clone();
        for (name, wanted) in [
            ("max_payload", (config.payload / 128).ilog2().into()),
            ("max_request", (config.request / 128).ilog2().into()),
            ("extended_tags", config.extended.into()),
            ("bus_master", config.master.into()),
            ("msix_enable", config.msix.0.into()),
            ("msix_mask", config.msix.1.into()),
            ("msi_enable", config.msi.is_some().into()),
            ("requester_id", config.id.into()),
            ("read_boundary", u64::from(config.root.boundary == 128)),
        ] {
            assert_eq!(rig.get(name), wanted, "{name} of {config:?}");
        }
        if let Some((address, data)) = config.msi {
            assert_eq!(rig.get("msi_address"), address);
            assert_eq!(rig.get("msi_data"), u64::from(data));
        }
    }
    rig.clean();
}

/// The other end allows more than the layer sends in one packet, and then less; more tags, and fewer.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn packets_keep_to_sizes_that_change() {
    for bits in [128, 256] {
        sizes(&library(bits));
    }
}

pub fn sizes(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut rig = Rig::new(library, HipConfig::default());
    rig.hip.root.config.latency = 1000;
    for (number, size) in SIZES.into_iter().rev().enumerate() {
        rig.hip.config.payload = size;
        rig.hip.config.request = size;
        rig.hip.config.extended = number % 2 == 0;
        rig.run(SHOWN);
        let before = rig.hip.host.ends.len();
        for number in 0..20 {
            rig.post(0x10_0000 + 4096 * number, 512);
            rig.asks.push_back(Ask {
                address: 0x2_0000_0000 + 1024 * number + rng.random_range(0..512),
                bytes: 512,
                tag: number as u8,
            });
            rig.asks
                .extend((20 + 2 * number as u8..).take(2).map(|tag| Ask {
                    address: 0x3_0000_0000,
                    bytes: 4,
                    tag,
                }));
            let read = Access::read(4096 * number + 4 * rng.random_range(0..10), 1000);
            let packet = read.packet(number as u8, &mut rng);
            rig.hip.host.queue.push_back((packet, BAR_0));
        }
        rig.finish(100_000);
        let ends = &rig.hip.host.ends[before..];
        assert_eq!((ends.len(), rig.ends.len()), (20, 60));
        assert!(ends.iter().all(|end| end.status == 0));
        rig.ends.clear();
        rig.posted.clear();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn writes_without_credits_fill_the_store_and_lose_nothing() {
    for bits in [128, 256] {
        for payload in [128, 512] {
            full(&library(bits), payload);
        }
    }
}

pub fn full(library: &Library, payload: u32) {
    let config = HipConfig {
        payload,
        posted: Grant::NOTHING,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    rig.hip.root.keep_writes();
    for number in 0..100 {
        rig.post(
            0x10_0000 + 512 * number,
            if number % 3 == 0 { 32 } else { 512 },
        );
    }
    rig.run(3000);
    assert_eq!(rig.get("post_ready"), 0);
    let kept = rig.posts.len();
    rig.run(1000);
    assert_eq!((rig.posts.len(), rig.hip.root.writes.len()), (kept, 0));
    for _ in 0..500 {
        rig.hip.grant(1, 32, 0);
        rig.run(20);
    }
    rig.finish(1000);
    assert!(rig.hip.root.writes.is_sorted());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_bit_of_an_address_reaches_the_link() {
    for bits in [128, 256] {
        addresses(&library(bits));
    }
}

/// Tests addresses with each single bit, and random ones.
pub fn addresses(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut rig = Rig::new(library, HipConfig::default());
    let any: Vec<u64> = (0..100).map(|_| rng.random()).collect();
    let all: Vec<u64> = (5..64).map(|bit| 1 << bit).chain(any).collect();
    for address in &all {
        rig.post(address & !31, 32);
    }
    rig.finish(20_000);
    rig.asks
        .extend((0..).zip(&all).map(|(number, address)| Ask {
            // Within its page.
            address: address & !0xE00,
            bytes: 30,
            tag: number % 64,
        }));
    rig.finish(20_000);
    assert_eq!(rig.ends.len(), 159);
    assert!(rig.ends.iter().all(|end| end.code == 0));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_bit_of_an_address_reaches_the_board() {
    for bits in [128, 256] {
        places(&wide(bits));
    }
}

/// Tests addresses in a BAR of 4 GiB. The models compare data that are read with those that were written.
pub fn places(library: &Library) {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut rig = Rig::new(library, HipConfig::default());
    rig.hip.host.window = u64::from(u32::MAX);
    let any: Vec<u64> = (0..100)
        .map(|_| rng.random_range(0..1 << 32) & !3)
        .collect();
    let offsets = (2..32).map(|bit| 1 << bit).chain(any);
    for (tag, offset) in (0..=255).zip(offsets) {
        let offset = offset & !0xF00;
        for writes in [true, false] {
            let access = Access {
                writes,
                base: 0x38_0000_0000,
                ..Access::read(offset, 5)
            };
            let packet = access.packet(tag, &mut rng);
            rig.hip.host.queue.push_back((packet, BAR_0));
        }
    }
    rig.finish(20_000);
    assert_eq!(rig.hip.host.ends.len(), 130);
    assert!(rig.hip.host.ends.iter().all(|end| end.status == 0));
    assert_eq!(rig.bus.memory, *rig.hip.host.image());
}

/// More than a count of 16 bits can show.
const MANY: u64 = 0x1_0100;

const LARGEST: u64 = 0xFFFF;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn counts_of_completions_stop_at_the_largest_number() {
    for (bits, fate, name) in [
        (128, Fate::Status(1), "unsupported"),
        (256, Fate::Status(4), "aborted"),
        (128, Fate::Poisoned, "poisoned"),
        (256, Fate::Bare, "malformed"),
        (128, Fate::Stray(0xC0), "unexpected"),
        (256, Fate::Late(600), "expired"),
    ] {
        completions(&wide(bits), fate, name);
    }
}

fn completions(library: &Library, fate: Fate, name: &str) {
    let config = HipConfig {
        root: RootConfig {
            latency: 20,
            ..RootConfig::default()
        },
        lets_strays_through: true,
        ..HipConfig::default()
    };
    let mut rig = Rig::new(library, config);
    let ask = |number: u64| Ask {
        address: 0x3_0000_0000 + 64 * (number % 64),
        bytes: 16,
        tag: (number % 64) as u8,
    };
    for number in 0..MANY {
        rig.hip.root.strike(number, fate);
    }
    for round in 0..MANY / 256 {
        rig.asks.extend((256 * round..256 * (round + 1)).map(ask));
        rig.finish(100_000);
        rig.ends.clear();
        if round == MANY / 512 {
            assert_eq!(rig.get(name), 256 * (round + 1), "{name}");
        }
    }
    assert_eq!(rig.get(name), LARGEST, "{name}");
    rig.asks.extend((0..64).map(ask));
    rig.finish(10_000);
    assert_eq!(rig.ends.len(), 64);
    assert!(rig.ends.iter().all(|end| end.code == 0));
    assert_eq!(rig.get(name), LARGEST, "{name}");
    rig.reset();
    assert_eq!(rig.get(name), 0, "{name}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn counts_of_the_hosts_requests_stop_at_the_largest_number() {
    let read = || Tlp::read(0x38_0000_0000, 1, (0xF, 0), 0x0008, 0);
    let write = || Tlp::write(0x38_0000_0000, (0xF, 0), 0x0008, vec![1]);
    // A request of no BAR; and one whose bus is silent.
    requests(&wide(128), "host_refused", &|| (read(), 4));
    requests(&wide(256), "host_dropped", &|| (write(), 4));
    requests(&wide(128), "host_aborted", &|| (read(), BAR_0));
}

fn requests(library: &Library, name: &str, packet: &dyn Fn() -> (Tlp, u8)) {
    let mut rig = Rig::new(library, HipConfig::default());
    rig.hip.host.registers = true;
    rig.bus.silent = true;
    for round in 0..MANY / 256 {
        for tag in 0..256 {
            let (mut tlp, bar) = packet();
            tlp.header[1] |= tag << 8;
            rig.hip.host.queue.push_back((tlp, bar));
        }
        rig.finish(100_000);
        if round == MANY / 512 {
            assert_eq!(rig.get(name), 256 * (round + 1), "{name}");
        }
    }
    assert_eq!(rig.get(name), LARGEST, "{name}");
    assert!(rig.hip.host.ends.iter().all(|end| end.status != 0));
    rig.reset();
    assert_eq!(rig.get(name), 0);
}
