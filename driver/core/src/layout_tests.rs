// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of the page-size choice.

use super::*;
use std::vec;
use std::vec::Vec;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn list(segments: &[(u64, u64)]) -> Vec<Segment> {
    segments
        .iter()
        .map(|&(address, length)| Segment { address, length })
        .collect()
}

fn map(segments: &[(u64, u64)], offset: u64, length: u64) -> Result<Layout, LayoutError> {
    layout(list(segments), offset, length)
}

fn addresses(segments: &[(u64, u64)], offset: u64, length: u64) -> Vec<u64> {
    let list = list(segments);
    let layout = layout(list.clone(), offset, length).unwrap();
    let addresses: Vec<u64> = pages(list, offset, &layout).collect();
    assert_eq!(addresses.len(), layout.entries as usize);
    addresses
}

#[test]
fn aligned_memory_takes_the_largest_page() {
    assert_eq!(
        map(&[(0x4000_0000, 256 * MIB)], 0, 256 * MIB),
        Ok(Layout {
            page_size: PageSize::Mib2,
            entries: 128,
            first_offset: 0,
            length: 256 * MIB
        })
    );
}

#[test]
fn neighbours_are_joined() {
    let halves: Vec<(u64, u64)> = (0..1024)
        .map(|i| (4 * MIB + i * 4 * KIB, 4 * KIB))
        .collect();
    assert_eq!(addresses(&halves, 0, 4 * MIB), vec![4 * MIB, 6 * MIB]);
}

#[test]
fn gpu_pages_give_64_kib_entries() {
    let segments = [(0x10_0001_0000, 64 * KIB), (0x10_0005_0000, 128 * KIB)];
    let layout = map(&segments, 0, 192 * KIB).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib64, 3));
    assert_eq!(
        addresses(&segments, 0, 192 * KIB),
        vec![0x10_0001_0000, 0x10_0005_0000, 0x10_0006_0000]
    );
}

#[test]
fn the_offset_in_the_first_page_is_kept() {
    let segments = [(0x4000_0000, 8 * MIB)];
    let layout = map(&segments, 3 * MIB + 7, 2 * MIB).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Mib2, 2));
    assert_eq!(layout.first_offset, MIB + 7);
    assert_eq!(
        addresses(&segments, 3 * MIB + 7, 2 * MIB),
        vec![0x4020_0000, 0x4040_0000]
    );
}

#[test]
fn a_large_page_opens_nothing_that_is_not_in_the_list() {
    // 64 KiB inside an aligned 2 MiB page, but only those 64 KiB were handed over.
    let layout = map(&[(0x4001_0000, 64 * KIB)], 0, 64 * KIB).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib64, 1));
    // A tail of 4 KiB does not open 60 KiB more.
    let layout = map(&[(0x4000_0000, 68 * KIB)], 0, 68 * KIB).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib4, 17));
    // The list ends with the memory; the range may stop earlier.
    let layout = map(&[(0x4000_0000, 2 * MIB)], 0, 5).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Mib2, 1));
}

#[test]
fn ends_below_4_kib_are_rounded_out() {
    let layout = map(&[(0x1ff0, 0x20)], 0, 0x20).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib4, 2));
    assert_eq!(layout.first_offset, 0xff0);
}

#[test]
fn segments_outside_the_range_do_not_count() {
    let segments = [(0x123, 0x10), (0x4000_0000, 2 * MIB), (0x77, 0x30)];
    let layout = map(&segments, 0x10, 2 * MIB).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Mib2, 1));
}

#[test]
fn bad_lists_are_refused() {
    assert_eq!(map(&[(0, 4096)], 0, 0), Err(LayoutError::Empty));
    assert_eq!(
        map(&[(0, 4096), (0x10000, 0)], 1, 4096),
        Err(LayoutError::Beyond {
            end: 4097,
            available: 4096
        })
    );
    assert_eq!(map(&[(u64::MAX - 5, 7)], 0, 3), Err(LayoutError::Overflow));
    assert_eq!(map(&[(0, 4096)], u64::MAX, 2), Err(LayoutError::Overflow));
    assert_eq!(
        map(&[(0x1000, 0x1800), (0x9000, 0x1000)], 0, 0x2800),
        Err(LayoutError::Seam { address: 0x2800 })
    );
    assert_eq!(
        map(&[(0x1000, 0x1000), (0x9800, 0x1000)], 0, 0x2000),
        Err(LayoutError::Seam { address: 0x9800 })
    );
    assert_eq!(
        map(&[(0, 1 << 40)], 0, 1 << 40),
        Err(LayoutError::TooLong { entries: 1 << 19 })
    );
}

fn pieces(length: u64, pieces: &[(u64, u64)]) -> Result<Vec<Segment>, LayoutError> {
    let mut collected = Pieces::new(length);
    let mut segments = Vec::new();
    for piece in list(pieces) {
        segments.extend(collected.push(piece)?);
    }
    segments.extend(collected.finish());
    Ok(segments)
}

#[test]
fn pieces_are_joined_in_their_order_and_cut_to_the_memory() {
    let all = [(0x9000, 0x1000), (0xa000, 0x2000), (0x1000, 0x1000)];
    assert_eq!(
        pieces(0x4000, &all),
        Ok(list(&[(0x9000, 0x3000), (0x1000, 0x1000)]))
    );
    // What follows the memory is somebody else's.
    assert_eq!(pieces(0x2800, &all), Ok(list(&[(0x9000, 0x2800)])));
    assert_eq!(pieces(0x1000, &all), Ok(list(&[(0x9000, 0x1000)])));
    // The same page twice is nothing unusual.
    let twice = [(0x9000, 0x1000), (0x9000, 0x1000)];
    assert_eq!(pieces(u64::MAX, &twice), Ok(list(&twice)));
    assert_eq!(pieces(u64::MAX, &[]), Ok(vec![]));
}

#[test]
fn broken_pieces_are_refused() {
    let empty = LayoutError::EmptyPiece {
        offset: 0x1000,
        address: 0x5000,
    };
    let list = [(0x9000, 0x1000), (0x5000, 0), (0xa000, 0x1000)];
    assert_eq!(pieces(0x4000, &list), Err(empty));
    // Also where nothing of it is wanted.
    assert_eq!(pieces(0x1000, &list), Err(empty));
    let wraps = [(0x9000, 0x1000), (u64::MAX - 0xfff, 0x1001)];
    assert_eq!(pieces(0x4000, &wraps), Err(LayoutError::Overflow));
    // One that ends with the address space cannot be told from one that wraps to 0.
    let top = [(u64::MAX - 0xfff, 0x1000)];
    assert_eq!(pieces(0x4000, &top), Err(LayoutError::Overflow));
}

#[test]
fn the_top_of_the_address_space_can_be_mapped() {
    let top = u64::MAX - 0xfff;
    let layout = map(&[(top, 0xfff)], 0, 0xfff).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib4, 1));
}
