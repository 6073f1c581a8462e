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
    layout(list(segments), offset, length, None)
}

fn mixed(segments: &[(u64, u64)], offset: u64, length: u64) -> Layout {
    layout(list(segments), offset, length, Some(u32::MAX)).unwrap()
}

fn addresses(segments: &[(u64, u64)], offset: u64, length: u64) -> Vec<u64> {
    let list = list(segments);
    let layout = layout(list.clone(), offset, length, None).unwrap();
    let addresses: Vec<u64> = pages(list, offset, &layout)
        .map(|page| page.address)
        .collect();
    assert_eq!(addresses.len(), layout.entries as usize);
    addresses
}

#[test]
fn aligned_memory_takes_the_largest_page() {
    assert_eq!(
        map(&[(0x4000_0000, 256 * MIB)], 0, 256 * MIB),
        Ok(Layout::uniform(PageSize::Mib2, 128, 0, 256 * MIB))
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

/// Head and tail of scattered 4 KiB pages, around `huge` scattered pages of 2 MiB.
fn process_memory(head: u64, huge: u64, tail: u64) -> Vec<(u64, u64)> {
    let small = |count, place| (0..count).map(move |page| (place + page * 8 * KIB, 4 * KIB));
    let large = (0..huge).map(|page| (0x8000_0000 + page * 4 * MIB, 2 * MIB));
    let before = small(head, 0x4000_1000);
    before
        .chain(large)
        .chain(small(tail, 0x6000_0000))
        .collect()
}

#[test]
fn huge_pages_keep_their_size_between_small_ones() {
    let memory = process_memory(3, 50, 2);
    let length = 12 * KIB + 100 * MIB + 8 * KIB;
    // From the middle of the first page to the middle of the last.
    let found = mixed(&memory, 0x800, length - 0x800 - 5);
    let expected = Layout {
        page_size: PageSize::Mib2,
        entries: 3 + 50 + 2,
        first_offset: 0x800,
        length: length - 0x800 - 5,
        head: 12 * KIB - 0x800,
        tail: 8 * KIB - 5,
    };
    assert_eq!(found, expected);
    let all: Vec<Page> = pages(list(&memory), 0x800, &found).collect();
    let one = |&(address, bytes): &(u64, u64)| Page {
        address,
        size: if bytes == 2 * MIB {
            PageSize::Mib2
        } else {
            PageSize::Kib4
        },
    };
    assert_eq!(all, memory.iter().map(one).collect::<Vec<_>>());
    // A layout that is not mixed needs an entry for each 4 KiB.
    let uniform = map(&memory, 0x800, length - 0x800 - 5).unwrap();
    assert_eq!(
        (uniform.page_size, uniform.entries),
        (PageSize::Kib4, 25_605)
    );
}

#[test]
fn a_mixed_layout_has_its_ends_only_where_they_are_needed() {
    let parts = |found: Layout| (found.page_size, found.head, found.tail, found.entries);
    // No tail: the range ends inside of a huge page, which is the process's.
    let found = mixed(&process_memory(1, 4, 0), 0, 4 * KIB + 7 * MIB);
    assert_eq!(parts(found), (PageSize::Mib2, 4 * KIB, 0, 5));
    // No head: it begins inside of one.
    let found = mixed(&process_memory(0, 4, 1), MIB + 1, 7 * MIB - 1 + 5);
    assert_eq!(parts(found), (PageSize::Mib2, 0, 5, 5));
    assert_eq!(found.first_offset, MIB + 1);
    // Pages of one size stay so.
    let found = mixed(&process_memory(0, 4, 0), 0, 8 * MIB);
    assert_eq!(parts(found), (PageSize::Mib2, 0, 0, 4));
    let found = mixed(&process_memory(20, 0, 0), 5, 70 * KIB);
    assert_eq!(parts(found), (PageSize::Kib4, 0, 0, 18));
    // One 64 KiB page among many small ones is not worth it, among few it is.
    let mut memory = process_memory(40, 0, 0);
    memory.push((0x1_0000, 64 * KIB));
    assert_eq!(mixed(&memory, 0, 224 * KIB).page_size, PageSize::Kib4);
    let found = mixed(&memory, 160 * KIB - 1, 64 * KIB + 1);
    assert_eq!(parts(found), (PageSize::Kib64, 1, 0, 2));
    assert_eq!(found.first_offset, 0xfff);
}

#[test]
fn a_mixed_layout_is_taken_where_no_other_fits() {
    let memory = process_memory(1000, 1, 792);
    let (length, needed) = (2304 * 4 * KIB, 1000 + 1 + 792);
    let entries = |most| layout(list(&memory), 0, length, most).unwrap().entries;
    assert_eq!(entries(None), 2304);
    assert_eq!(entries(Some(2304)), 2304);
    assert_eq!(entries(Some(2303)), needed);
    assert_eq!(entries(Some(5)), needed);
}

#[test]
fn the_longest_run_of_huge_pages_is_the_middle() {
    let mut memory = process_memory(0, 2, 1);
    memory.extend(process_memory(0, 5, 1));
    let length = 14 * MIB + 8 * KIB;
    let found = mixed(&memory, 0, length);
    assert_eq!(
        (found.page_size, found.entries),
        (PageSize::Mib2, 1025 + 5 + 1)
    );
    assert_eq!((found.head, found.tail), (4 * MIB + 4 * KIB, 4 * KIB));
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
    // The bytes after the memory belong to others.
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
    // Also where no part of it is wanted.
    assert_eq!(pieces(0x1000, &list), Err(empty));
    let wraps = [(0x9000, 0x1000), (u64::MAX - 0xfff, 0x1001)];
    assert_eq!(pieces(0x4000, &wraps), Err(LayoutError::Overflow));
    // A piece that ends with the address space cannot be distinguished from one that wraps to 0.
    let top = [(u64::MAX - 0xfff, 0x1000)];
    assert_eq!(pieces(0x4000, &top), Err(LayoutError::Overflow));
}

#[test]
fn the_top_of_the_address_space_can_be_mapped() {
    let top = u64::MAX - 0xfff;
    let layout = map(&[(top, 0xfff)], 0, 0xfff).unwrap();
    assert_eq!((layout.page_size, layout.entries), (PageSize::Kib4, 1));
}
