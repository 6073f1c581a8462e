use super::*;
use peerlane_hdl::{Irq, Params};

fn space(irq: Irq) -> ConfigSpace {
    space_with(irq, false)
}

fn space_with(irq: Irq, programming: bool) -> ConfigSpace {
    let layout = Layout::of(&Params {
        irq,
        ..Params::default()
    });
    let messages = match irq {
        Irq::Msix => Messages::MsiX(10),
        Irq::Rxm => Messages::Msi,
    };
    let ids = Ids {
        subsystem: 0xBEEF,
        serial: 0x1122_3344_5566_7788,
        ..Ids::default()
    };
    let features = Features {
        messages,
        error_reporting: false,
        programming,
    };
    ConfigSpace::new(&ids, &layout, &LinkConfig::default(), features)
}

fn read32(space: &ConfigSpace, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    space.read(offset, &mut bytes);
    u32::from_le_bytes(bytes)
}

fn write32(space: &mut ConfigSpace, offset: u64, value: u32) -> bool {
    space.write(offset, &value.to_le_bytes())
}

/// Walks the capabilities: id and offset of each.
fn capabilities(space: &ConfigSpace) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    let mut at = read32(space, 0x34) as u8;
    while at != 0 {
        let [id, next, ..] = read32(space, at.into()).to_le_bytes();
        found.push((id, at));
        at = next;
    }
    found
}

#[test]
fn it_says_who_it_is() {
    let space = space(Irq::Msix);
    assert_eq!(read32(&space, 0), 0xAB00_1172);
    assert_eq!(read32(&space, 8), 0x1200_0001);
    assert_eq!(read32(&space, 0x2C), 0xBEEF_1172);
    assert_eq!(read32(&space, 0x3C), 0);
    // Serial number, then AER, then no more.
    assert_eq!(read32(&space, 0x100), 0x8001_0003);
    assert_eq!(read32(&space, 0x104), 0x5566_7788);
    assert_eq!(read32(&space, 0x800), 0x0002_0001);
}

#[test]
fn the_capability_for_programming_stands_where_the_hard_ip_has_it() {
    let space = space_with(Irq::Msix, true);
    assert_eq!(read32(&space, 0x100), 0x2001_0003);
    assert_eq!(read32(&space, 0x200), 0x8001_000B);
    assert_eq!(read32(&space, 0x204), 0x0440_1172);
    assert_eq!(read32(&space, 0x800), 0x0002_0001);
}

#[test]
fn a_build_has_msi_or_msi_x() {
    assert_eq!(
        capabilities(&space(Irq::Msix)),
        [(0x11, 0x68), (1, 0x78), (0x10, 0x80)]
    );
    assert_eq!(
        capabilities(&space(Irq::Rxm)),
        [(5, 0x50), (1, 0x78), (0x10, 0x80)]
    );
    let space = space(Irq::Msix);
    assert_eq!(read32(&space, 0x68) >> 16, 9);
    assert_eq!(read32(&space, 0x6C), 0x3_0002);
    assert_eq!(read32(&space, 0x70), 0x3_0802);
}

#[test]
fn the_bar_says_its_size() {
    let mut space = space(Irq::Msix);
    for offset in [0x10, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x30] {
        write32(&mut space, offset, u32::MAX);
    }
    let bars = [0x10, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x30].map(|offset| read32(&space, offset));
    assert_eq!(bars, [0, 0, 0xFFFC_000C, u32::MAX, 0, 0, 0]);
    write32(&mut space, 0x18, 0xFE12_3456);
    assert_eq!(read32(&space, 0x18), 0xFE10_000C);
}

#[test]
fn what_is_read_only_stays() {
    let mut space = space(Irq::Rxm);
    let before = space.bytes.clone();
    for offset in (0..SIZE as u64).step_by(4) {
        // The function's own reset is another test.
        let value = if offset == 0x88 { 0x7FFF } else { u32::MAX };
        assert!(!write32(&mut space, offset, value), "{offset:#x}");
    }
    for at in 0..SIZE {
        let changed = before[at] ^ space.bytes[at];
        assert_eq!(changed & !(space.writable[at] | space.clearable[at]), 0);
    }
    assert_eq!(read32(&space, 0), 0xAB00_1172);
    assert_eq!(read32(&space, COMMAND as u64), 0x0010_0546);
    assert_eq!(read32(&space, 0x84), 0x1000_8001);
}

#[test]
fn the_command_register_and_d3hot_gate_the_function() {
    let mut space = space(Irq::Msix);
    assert!(!space.function().memory && !space.function().master);
    space.write(4, &[6, 0]);
    let function = space.function();
    assert!(function.memory && function.master && function.d0);
    // D1 is not there.
    space.write(0x7C, &[1]);
    assert!(space.function().d0);
    assert!(!space.write(0x7C, &[3]));
    let function = space.function();
    assert!(!function.memory && !function.master && !function.d0);
    assert!(space.write(0x7C, &[0]), "D3hot to D0 resets");
    assert!(space.function().d0 && !space.function().memory);
}

#[test]
fn a_function_reset_keeps_what_is_sticky() {
    let mut space = space(Irq::Msix);
    space.write(4, &[6, 0]);
    write32(&mut space, 0x18, 0xFE00_0000);
    write32(&mut space, 0x6A, 0xC000);
    assert!(space.function().msix && space.function().msix_mask);
    write32(&mut space, 0x808, 0x0000_1000);
    assert!(space.write(0x88, &[0x10, 0xA8]));
    assert_eq!(read32(&space, 4), 0x0010_0000);
    assert_eq!(read32(&space, 0x18), 0xC);
    assert!(!space.function().msix);
    assert_eq!(read32(&space, 0x88) & 0xFFFF, 0x2810);
    assert_eq!(read32(&space, 0x808), 0x0000_1000);
    space.power_up();
    assert_eq!(read32(&space, 0x808), 0x0040_0000);
}

#[test]
fn errors_are_cleared_by_ones() {
    let mut space = space(Irq::Msix);
    space.bytes[AER + 4 + 2] = 0x10;
    write32(&mut space, 0x804, 0x0001_0000);
    assert_eq!(read32(&space, 0x804), 0x0010_0000);
    write32(&mut space, 0x804, 0x0010_0000);
    assert_eq!(read32(&space, 0x804), 0);
}

#[test]
fn accesses_end_with_the_space() {
    let mut space = space(Irq::Msix);
    let mut data = [7; 8];
    space.read(4092, &mut data);
    assert_eq!(data, [0; 8]);
    assert!(!space.write(4094, &[0xFF; 8]));
    assert!(!space.write(u64::MAX, &[0xFF; 8]));
}
