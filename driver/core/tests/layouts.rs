// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the crate's encoding of records and registers with the register map itself: the map defines the place of
//! each field, and the crate's values are decoded by that.

use peerlane_core::att::{AttAddress, Entry, PageSize, Permissions};
use peerlane_core::channel::{self, LocalRange, Moderation, Settings};
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local};
use peerlane_core::fault::Fault;
use peerlane_core::record::Record;
use peerlane_core::regs::{MsixEntry, chan, csr};
use peerlane_core::ring;
use peerlane_core::steps::{Register, Step};
use peerlane_regmap::{Content, Map};

/// A field of a record, read from its bytes.
fn field(map: &Map, record: &str, member: &str, field: &str, bytes: &[u8]) -> u64 {
    let record = map.record(record).unwrap();
    assert_eq!(bytes.len() as u64, record.size);
    let member = (record.members.iter().find(|m| m.name == member)).unwrap();
    let field = (member.fields.iter().find(|f| f.name == field)).unwrap();
    let at = member.offset as usize;
    let mut word = [0; 8];
    let length = member.width as usize / 8;
    word[..length].copy_from_slice(&bytes[at..at + length]);
    let value = u64::from_le_bytes(word) >> field.lsb;
    value & (u64::MAX >> (64 - field.width))
}

fn bytes(dwords: &[u32], size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    bytes.resize(size, 0);
    bytes
}

#[test]
fn descriptors() {
    let map = Map::load();
    for bit in 0..6 {
        let control = Control {
            record: bit == 0,
            interrupt: bit == 1,
            no_flush: bit == 2,
            urgent: bit == 3,
            after_write: bit == 4,
            after_read: bit == 5,
        };
        let descriptor = Descriptor {
            peer: AttAddress::new(PageSize::Mib2, 0x1234, 0x5_6789).unwrap(),
            local: Local::Memory(0x12_3456_789a),
            length: 0xfedc_ba98,
            control,
            cookie: 0xdead_beef,
        };
        // It ends after the table; only its form matters here.
        let short = Descriptor {
            length: 0x1_0000,
            ..descriptor
        };
        let raw = bytes(&short.encode().unwrap(), 64);
        let get = |member, name| field(&map, "descriptor", member, name, &raw);
        assert_eq!(get("peer", "address"), 0x1234 << 21 | 0x5_6789);
        assert_eq!(get("peer", "page_size"), 2);
        assert_eq!(get("local", "address"), 0x12_3456_789a);
        assert_eq!(get("local", "port"), 0);
        assert_eq!(get("length", "bytes"), 0x1_0000);
        assert_eq!(get("cookie", "value"), 0xdead_beef);
        let flags = [
            "record",
            "irq",
            "no_flush",
            "urgent",
            "after_write",
            "after_read",
        ];
        for (index, name) in flags.into_iter().enumerate() {
            assert_eq!(get("control", name), u64::from(index == bit), "{name}");
        }
    }
}

#[test]
fn completions() {
    let map = Map::load();
    for fault in Fault::ALL {
        let record = Record {
            cookie: 0x0123_4567,
            direction: Direction::ToFpga,
            channel: 63,
            phase: true,
            outcome: Err(fault),
            bytes_done: 0x89ab_cdef,
            sequence: 0xdead_beef,
            fault_address: AttAddress::new(PageSize::Kib64, 3, 1),
            header: 0,
        };
        let raw = bytes(&record.encode(), 32);
        let get = |member, name| field(&map, "completion", member, name, &raw);
        assert_eq!(get("cookie", "value"), 0x0123_4567);
        assert_eq!(get("status", "phase"), 1);
        assert_eq!(get("status", "direction"), 1);
        assert_eq!(get("status", "channel"), 63);
        let code = get("status", "code");
        let codes = &map.enumeration("status_code").unwrap().variants;
        let name = codes
            .iter()
            .find(|v| v.value == code)
            .unwrap()
            .name
            .as_str();
        let expected: String = format!("{fault:?}")
            .chars()
            .flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain([c]))
            .collect();
        assert_eq!(name, expected.trim_start_matches('_').to_uppercase());
        assert_eq!(get("bytes_done", "bytes"), 0x89ab_cdef);
        assert_eq!(get("sequence", "value"), 0xdead_beef);
        assert_eq!(get("fault_address", "address"), 1 << 62 | 0x3_0001);
    }
    let ok = map.enumeration("status_code").unwrap().variants.len();
    assert_eq!(ok, Fault::ALL.len() + 1, "a fault for every code but OK");
}

#[test]
fn att_entries() {
    let map = Map::load();
    let entry = Entry {
        address: 0x0012_3456_7890_0000 & !0xffff,
        page_size: PageSize::Kib64,
        permissions: Permissions::Write,
    };
    let raw = entry.encode().unwrap().to_le_bytes();
    let get = |name| field(&map, "att_entry", "entry", name, &raw);
    assert_eq!(get("valid"), 1);
    assert_eq!((get("device_read"), get("device_write")), (0, 1));
    assert_eq!(get("page_size"), 1);
    assert_eq!(get("address"), entry.address >> 12);
}

#[test]
fn msix_entries() {
    let map = Map::load();
    let entry = MsixEntry {
        message_data: 0x4021,
        ..MsixEntry::default()
    }
    .with_message_address_address(0xfee0_1000 >> 2)
    .with_vector_control_mask(true);
    let raw = entry.to_bytes();
    let get = |member, name| field(&map, "msix_entry", member, name, &raw);
    assert_eq!(get("message_address", "address") << 2, 0xfee0_1000);
    assert_eq!(get("message_data", "value"), 0x4021);
    assert_eq!(get("vector_control", "mask"), 1);
    // Faults, the kernel and one a channel.
    let Content::Table { entries, .. } = map.block("msix").unwrap().content else {
        panic!("the MSI-X table is not a table");
    };
    assert!(entries as usize >= chan::COUNT + 2);
}

#[test]
fn channels() {
    let map = Map::load();
    let registers = map.block("csr").unwrap().registers();
    let range = LocalRange::new(0x12_3456_7000..0x23_4567_8000, 1 << 40).unwrap();
    let settings = Settings {
        ring: 0x1234_5678_9abc_d000,
        ring_log2: ring::MAX_LOG2,
        range,
        moderation: Moderation {
            count: 0xa5,
            age: 0x1234,
        },
    };
    let steps = channel::open(9, &settings);
    let written = |offset: u64| {
        let place = |step: &&Step| matches!(step, Step::Write(Register::Channel { channel: 9, offset: at }, _) if *at as u64 == offset);
        match steps.iter().rfind(place) {
            Some(Step::Write(_, value)) => u64::from(*value),
            _ => panic!("nothing is written at {offset:#x}"),
        }
    };
    let get = |register: &str, name: &str| {
        let register = registers.iter().find(|r| r.name == register).unwrap();
        let field = register.fields.iter().find(|f| f.name == name).unwrap();
        let mut value = written(register.offset);
        if register.width == 64 {
            value |= written(register.offset + 4) << 32;
        }
        (value >> field.lsb) & (u64::MAX >> (64 - field.width))
    };
    assert_eq!(get("CHANNEL_RING", "base"), 0x1_2345_6789_abcd);
    assert_eq!(get("CHANNEL_RING", "size_log2"), 15);
    assert_eq!(get("CHANNEL_RING", "enable"), 1);
    assert_eq!(get("CHANNEL_MEM_BASE", "page"), 0x123_4567);
    assert_eq!(get("CHANNEL_MEM_END", "page"), 0x234_5678);
    assert_eq!(get("CHANNEL_MODERATION", "count"), 0xa5);
    assert_eq!(get("CHANNEL_MODERATION", "age"), 0x1234);
    assert_eq!(get("CHANNEL_CONTROL", "accept"), 1);
    assert_eq!(get("CHANNEL_CONTROL", "run"), 1);
    assert_eq!(get("CHANNEL_CONTROL", "abort"), 0);
    let ring = registers.iter().find(|r| r.name == "CHANNEL_RING").unwrap();
    let size = ring.fields.iter().find(|f| f.name == "size_log2").unwrap();
    assert_eq!(size.max, Some(u64::from(ring::MAX_LOG2)));
    // Every register that CHANNEL_SELECT selects is at the map's offset.
    let selected = registers.iter().filter(|r| r.name.starts_with("CHANNEL_"));
    assert!(
        selected
            .clone()
            .all(|r| r.offset >= csr::CHANNEL_SELECT as u64)
    );
    assert_eq!(selected.count(), 7);
}
