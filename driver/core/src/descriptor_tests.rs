// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of descriptors and pieces.

use super::*;
use crate::att::PageSize;
use std::vec;
use std::vec::Vec;

fn peer(offset: u64) -> AttAddress {
    AttAddress::new(PageSize::Mib2, 3, offset).unwrap()
}

fn descriptor() -> Descriptor {
    Descriptor {
        peer: peer(0x12_3456),
        local: Local::Memory(0xab_cdef_0123),
        length: 0x0010_0000,
        control: Control {
            record: true,
            interrupt: true,
            ..Control::default()
        },
        cookie: 0xdead_beef,
    }
}

#[test]
fn the_encoding_is_the_documented_one() {
    assert_eq!(
        descriptor().encode(),
        Ok([
            0x0072_3456,
            0x8000_0000,
            0xcdef_0123,
            0x0000_00ab,
            0x0010_0000,
            0b011,
            0xdead_beef
        ])
    );
}

#[test]
fn each_control_bit_is_at_its_place() {
    let none = Control::default();
    let bits = [
        none,
        Control {
            record: true,
            ..none
        },
        Control {
            interrupt: true,
            ..none
        },
        Control {
            no_flush: true,
            ..none
        },
        Control {
            urgent: true,
            ..none
        },
        none.after(Direction::FromFpga),
        none.after(Direction::ToFpga),
    ];
    for (control, value) in bits.into_iter().zip([0, 1, 2, 4, 8, 16, 32]) {
        let descriptor = Descriptor {
            control,
            ..descriptor()
        };
        assert_eq!(descriptor.encode().unwrap()[5], value);
    }
    let both = none.after(Direction::ToFpga).after(Direction::FromFpga);
    assert!(both.after_read && both.after_write && !both.urgent);
}

#[test]
fn what_the_hardware_refuses_is_refused_before() {
    let good = descriptor();
    let encode = |change: &dyn Fn(&mut Descriptor)| {
        let mut descriptor = good;
        change(&mut descriptor);
        descriptor.encode().unwrap_err()
    };
    assert_eq!(encode(&|d| d.length = 0), DescriptorError::Empty);
    assert!(matches!(
        encode(&|d| d.local = Local::Memory((1 << 40) - 1)),
        DescriptorError::Local { .. }
    ));
    assert!(matches!(
        encode(&|d| d.local = Local::Memory(u64::MAX)),
        DescriptorError::Local { .. }
    ));
    assert!(matches!(
        encode(&|d| d.peer = AttAddress::new(PageSize::Kib4, 65535, 1).unwrap()),
        DescriptorError::PeerRange { .. }
    ));
}

#[test]
fn reserved_bits_do_not_decode() {
    let good = descriptor().encode().unwrap();
    let decode = |dword: usize, bits: u32| {
        let mut dwords = good;
        dwords[dword] |= bits;
        Descriptor::decode(&dwords).unwrap_err()
    };
    assert_eq!(decode(3, 1 << 8), DescriptorError::Reserved { dword: 3 });
    assert_eq!(decode(3, 1 << 28), DescriptorError::Reserved { dword: 3 });
    assert_eq!(decode(5, 1 << 6), DescriptorError::Reserved { dword: 5 });
    assert!(matches!(decode(1, 1 << 30), DescriptorError::Peer { .. }));
}

fn cut(offset: u64, length: u64, piece: u32) -> Vec<(u64, u32)> {
    let pieces = Pieces::new(peer(offset), length, piece);
    let announced = pieces.remaining();
    let pieces: Vec<(u64, u32)> = pieces.map(|p| (p.start, p.length)).collect();
    assert_eq!(announced, pieces.len() as u64);
    pieces
}

#[test]
fn pieces_end_at_4_kib_of_the_peer() {
    assert_eq!(
        cut(0x10, 0x5000, 0x2000),
        vec![(0, 0x1ff0), (0x1ff0, 0x2000), (0x3ff0, 0x1010)]
    );
    assert_eq!(cut(0x10, 0x1ff0, 0x2000), vec![(0, 0x1ff0)]);
    assert_eq!(cut(0, 0x2000, 0x2000), vec![(0, 0x2000)]);
    assert_eq!(cut(0xfff, 2, 0x1000), vec![(0, 1), (1, 1)]);
}

#[test]
fn small_pieces_are_cut_as_asked() {
    assert_eq!(cut(0x10, 10, 4), vec![(0, 4), (4, 4), (8, 2)]);
    assert_eq!(cut(0, 2, 0), vec![(0, 1), (1, 1)]);
    assert_eq!(cut(0, 0, 64), vec![]);
}

#[test]
fn the_piece_size_is_rounded_down_to_4_kib() {
    assert_eq!(
        cut(0, 0x2400, 0x1234),
        vec![(0, 0x1000), (0x1000, 0x1000), (0x2000, 0x400)]
    );
}

#[test]
fn a_gibibyte_is_1024_pieces_of_a_mebibyte() {
    assert_eq!(cut(0, 1 << 30, 1 << 20).len(), 1024);
    let mut pieces = Pieces::new(peer(0), u64::MAX, u32::MAX);
    assert_eq!(
        pieces.next(),
        Some(Piece {
            start: 0,
            length: 0xffff_f000
        })
    );
    assert!(pieces.remaining() > 1 << 31);
}
