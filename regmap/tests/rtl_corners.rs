//! Unusual shapes of registers, generated and simulated.

mod common;

#[allow(dead_code)]
#[path = "generated/corners/mod.rs"]
mod corners;

use corners::{FourRegs, OneRegs, ThreeRegs, TwoRegs};
use peerlane_language::*;
use peerlane_regmap::{Map, emit};

/// One clock cycle.
macro_rules! tick {
    ($uut:expr) => {
        assert!(simulate(&mut $uut, 20));
        $uut.clock.next = true.into();
        assert!(simulate(&mut $uut, 20));
        $uut.clock.next = false.into();
        assert!(simulate(&mut $uut, 20));
    };
}

/// A block whose connections rust-hdl finds complete, after its reset.
macro_rules! reset {
    ($block:ty) => {{
        let mut uut = <$block>::default();
        uut.connect_all();
        check_all(&uut).unwrap();
        uut.reset.next = true;
        tick!(uut);
        uut.reset.next = false;
        uut.byteenable.next = 15u64.into();
        tick!(uut);
        uut
    }};
}

/// Writes a word.
macro_rules! write {
    ($uut:expr, $word:expr, $data:expr) => {
        $uut.write.next = true;
        $uut.address.next = ($word as u64).into();
        $uut.writedata.next = ($data as u64).into();
        tick!($uut);
        $uut.write.next = false;
        assert!(simulate(&mut $uut, 20));
    };
}

/// Reads a word.
macro_rules! read {
    ($uut:expr, $word:expr) => {{
        $uut.read.next = true;
        $uut.address.next = ($word as u64).into();
        tick!($uut);
        $uut.readdata.val().to_u64()
    }};
}

#[test]
fn corners_are_current() {
    let map = Map::parse(include_str!("corners.toml"), "corners.toml").unwrap();
    let command = "cargo run --bin peerlane-regmap -- --map regmap/tests/corners.toml \
                   emit rtl --out regmap/tests/generated/corners";
    let files = emit::rtl(&map);
    common::assert_current("regmap/tests/generated/corners", &files, command);
}

#[test]
fn a_field_with_one_bit_in_the_second_word() {
    let mut uut = reset!(OneRegs);
    // The reset value has the field's highest and lowest bit.
    assert_eq!(uut.a_f.val().to_u64(), 0x800_0001);
    assert_eq!(read!(uut, 0), 0x20);
    assert_eq!(read!(uut, 1), 1);
    write!(uut, 0, 0xFFFF_FFFFu32);
    assert_eq!(uut.a_f.val().to_u64(), 0xFFF_FFFF);
    write!(uut, 1, 0xFFFF_FFFEu32);
    assert_eq!(uut.a_f.val().to_u64(), 0x7FF_FFFF);
    uut.a_g.next = true;
    uut.a_h.next = 0x12_3456u64.into();
    assert_eq!(read!(uut, 1), 0x1234_5604);
    assert_eq!(read!(uut, 0), 0xFFFF_FFE0);
}

#[test]
fn an_array_that_fills_its_block() {
    let mut uut = reset!(TwoRegs);
    for index in 0..4u64 {
        uut.write.next = true;
        uut.address.next = index.into();
        assert!(simulate(&mut uut, 20));
        assert!(uut.b_we.val());
        assert_eq!(uut.b_index.val().to_u64(), index);
    }
    uut.write.next = false;
    assert_eq!(read!(uut, 2), 0);
    assert!(!uut.b_we.val());
}

#[test]
fn a_strided_array_of_two() {
    let mut uut = reset!(ThreeRegs);
    uut.write.next = true;
    for word in 0..16u64 {
        uut.address.next = word.into();
        assert!(simulate(&mut uut, 20));
        let strobes = (uut.d_lo_we.val(), uut.d_hi_we.val());
        assert_eq!(strobes, (word == 8 || word == 12, word == 9 || word == 13));
        if strobes != (false, false) {
            assert_eq!(uut.d_index.val(), word >= 12);
        }
    }
    write!(uut, 1, 8u32);
    assert!(uut.c_go.val());
    tick!(uut);
    assert!(!uut.c_go.val());
    write!(uut, 6, 0x89AB_CDEFu32);
    write!(uut, 7, 0x0123_4567u32);
    assert_eq!(uut.e.val().to_u64(), 0x0123_4567_89AB_CDEF);
    assert_eq!(read!(uut, 6), 0x89AB_CDEF);
    assert_eq!(read!(uut, 1), 0);
}

#[test]
fn a_block_that_is_only_read() {
    let mut uut = reset!(FourRegs);
    let map = Map::parse(include_str!("corners.toml"), "corners.toml").unwrap();
    assert_eq!(read!(uut, 1), u64::from(map.map_id()));
    uut.g_x.next = 0x1_8000_0002u64.into();
    assert_eq!(read!(uut, 2), 0x8000_0002);
    assert_eq!(read!(uut, 3), 1);
    assert_eq!(read!(uut, 0), 0);
}
