//! The generated host Rust, compiled: layouts and accessors against numbers worked out by hand.

#[allow(dead_code)]
#[path = "generated/regs.rs"]
mod regs;

use peerlane_regmap::Map;
use regs::{AttEntry, Completion, Descriptor, Direction, PageSize, Port, StatusCode, csr};

#[test]
fn constants() {
    assert_eq!(regs::MAP_ID, Map::load().map_id());
    assert_eq!(csr::PORT_TIMEOUT, 0x20);
    assert_eq!(csr::PORT_TIMEOUT_RESET, 12_500_000);
    assert_eq!(csr::CONTROL_RESET_MASK, 0x100);
    assert_eq!(csr::WRITE_FAULTS_HI, 0x11C);
    assert_eq!((csr::CHANNEL_RING_HI, csr::ATT_OWNER_HI), (0x94, 0x34));
    assert_eq!(
        (csr::WINDOW_LO_BASE_MASK, csr::WINDOW_HI_BASE_MASK),
        (0xFFFF_0000, 0xFF)
    );
    assert_eq!(regs::chan::QUEUE_FREE_READ_LSB, 16);
    assert_eq!(regs::att::ENTRIES, 65536);
}

#[test]
fn descriptor() {
    let descriptor = Descriptor {
        length: 0x1122_3344,
        cookie: 0xCAFE_F00D,
        ..Descriptor::default()
    }
    .with_peer_address((7 << 21) + 5)
    .with_peer_page_size(PageSize::Mib2)
    .with_local_address(0xFF_0123_4567)
    .with_local_port(Port::Memory)
    .with_control_irq(true);
    assert_eq!(descriptor.peer, 0x8000_0000_00E0_0005);
    assert_eq!(descriptor.local, 0xFF_0123_4567);
    assert_eq!(descriptor.control, 2);
    assert_eq!(descriptor.peer_page_size(), Ok(PageSize::Mib2));
    assert!(!descriptor.control_record() && descriptor.control_irq());
    let words = descriptor.to_words();
    assert_eq!(
        words[..7],
        [
            0x00E0_0005,
            0x8000_0000,
            0x0123_4567,
            0xFF,
            0x1122_3344,
            2,
            0xCAFE_F00D
        ]
    );
    assert_eq!(words[7..], [0; 9]);
    let bytes = descriptor.to_bytes();
    assert_eq!(bytes[16..20], [0x44, 0x33, 0x22, 0x11]);
    assert_eq!(Descriptor::from_bytes(&bytes), descriptor);
}

#[test]
fn completion() {
    let mut bytes = [0; Completion::SIZE];
    bytes[..4].copy_from_slice(&[1, 2, 3, 4]);
    bytes[4..8].copy_from_slice(&[0b11, 5, 7, 0]);
    bytes[8..12].copy_from_slice(&[0, 16, 0, 0]);
    bytes[16..24].copy_from_slice(&[8, 7, 6, 5, 4, 3, 2, 1]);
    let record = Completion::from_bytes(&bytes);
    assert_eq!(record.cookie, 0x0403_0201);
    assert!(record.status_phase());
    assert_eq!(record.status_direction(), Ok(Direction::Read));
    assert_eq!(record.status_channel(), 5);
    assert_eq!(record.status_code(), Ok(StatusCode::ReadTimeout));
    assert_eq!(record.bytes_done, 4096);
    assert_eq!(record.fault_address, 0x0102_0304_0506_0708);
    assert_eq!(record.to_bytes(), bytes);
    let strange = Completion {
        status: 0x00EE_0000,
        ..record
    };
    assert_eq!(strange.status_code(), Err(0xEE));
}

#[test]
fn att_entry() {
    let entry = AttEntry::default()
        .with_entry_valid(true)
        .with_entry_device_write(true)
        .with_entry_page_size(PageSize::Kib64)
        .with_entry_address(0x12_3456_7890);
    assert_eq!(entry.to_words(), [0x6789_000D, 0x0001_2345]);
    // Setters replace the field, and drop bits that do not fit.
    let entry = entry.with_entry_address(u64::MAX).with_entry_valid(false);
    assert_eq!(entry.entry, 0xFFFF_FFFF_FFFF_F00C);
}
