// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of the ATT's sequences.

use super::*;
use crate::att::{AttAllocator, PageSize, Permissions};
use crate::layout::{self, Layout, Page, Segment};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

fn large(address: u64) -> Page {
    Page {
        address,
        size: PageSize::Kib64,
    }
}

fn att(offset: usize, value: u32) -> Step {
    Step::Write(Register::Att(offset), value)
}

/// A region of two 64 KiB pages at entries 9 and 10.
fn region() -> Region {
    let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
    let _before = att.allocate(9).unwrap();
    let layout = Layout::uniform(PageSize::Kib64, 2, 0, 0x2_0000);
    let run = att.allocate(2).unwrap();
    Region::new(run, &layout, Permissions::Read, Owners::channel(33)).unwrap()
}

#[test]
fn entries_are_written_low_word_first() {
    let pages = [0x38_0001_0000, 0x12_3456_0000].map(large);
    let steps: Vec<Step> = map(&region(), pages.into_iter())
        .flat_map(Result::unwrap)
        .collect();
    let expected = [
        att(0x48, 0x0001_000b),
        att(0x4c, 0x38),
        att(0x50, 0x3456_000b),
        att(0x54, 0x12),
    ];
    assert_eq!(steps, expected);
    let unaligned: Vec<_> = map(&region(), [large(0x1000)].into_iter()).collect();
    assert!(matches!(
        unaligned[..],
        [Err(EntryError::Unaligned {
            address: 0x1000,
            ..
        })]
    ));
}

#[test]
fn owners_are_two_words() {
    let [low, high] = [Register::Csr(0x30), Register::Csr(0x34)];
    let steps = [Step::Write(low, 0), Step::Write(high, 2)];
    assert_eq!(set_owners(region().owners()), steps);
    let steps = [Step::Write(low, u32::MAX), Step::Write(high, u32::MAX)];
    assert_eq!(set_owners(Owners::ALL), steps);
}

#[test]
fn an_invalidation_clears_and_then_fences() {
    let place = Register::Csr(0x38);
    let region = region();
    let steps: Vec<Step> = unmap(region.run()).chain(fence(Reach::Host)).collect();
    let expected = [
        att(0x48, 0),
        att(0x4c, 0),
        att(0x50, 0),
        att(0x54, 0),
        Step::Wait(place, 2),
        Step::Write(place, 1),
        Step::Wait(place, 2),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_fence_reads_the_first_byte_of_a_region_that_may_be_read() {
    let layout = Layout::uniform(PageSize::Kib64, 2, 0x123, 0x1_0000);
    for (permissions, flush) in [
        (Permissions::Read, Some(0x38_0001_0123)),
        (Permissions::ReadWrite, Some(0x38_0001_0123)),
        (Permissions::Write, None),
    ] {
        let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
        let run = att.allocate(2).unwrap();
        let region = Region::new(run, &layout, permissions, Owners::ALL).unwrap();
        let pages = [0x38_0001_0000, 0x12_3456_0000].map(large).into_iter();
        assert_eq!(Reach::peer(&region, pages), Reach::Peer { flush });
    }
}

proptest! {
    /// For a region at any place in memory of any number of pieces: a fence reads its first byte, which is mapped if
    /// the region is.
    #[test]
    fn a_fence_reads_memory_that_is_mapped(
        pieces in proptest::collection::vec((0u64..1 << 20, 1u64..40), 1..6),
        offset in any::<proptest::sample::Index>(),
        length in any::<proptest::sample::Index>(),
        mixed: bool,
    ) {
        // Apart from each other, in whole pages of 4 KiB.
        let segment = |(index, (page, pages)): (usize, &(u64, u64))| Segment {
            address: ((index as u64) << 40) | (page << 12),
            length: pages << 12,
        };
        let list: Vec<Segment> = pieces.iter().enumerate().map(segment).collect();
        let bytes: u64 = list.iter().map(|segment| segment.length).sum();
        let offset = offset.index(bytes as usize) as u64;
        let length = 1 + length.index((bytes - offset) as usize) as u64;
        let layout = layout::layout(list.clone(), offset, length, mixed.then_some(u32::MAX)).unwrap();
        let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
        let run = att.allocate(layout.entries).unwrap();
        let region = Region::new(run, &layout, Permissions::ReadWrite, Owners::ALL).unwrap();
        let pages = layout::pages(list.clone(), offset, &layout);
        let Reach::Peer { flush: Some(flush) } = Reach::peer(&region, pages) else {
            panic!("a region that may be read is not read");
        };
        let mut before = 0;
        let first = list.iter().find_map(|segment| {
            let here = offset.checked_sub(before).filter(|here| *here < segment.length);
            before += segment.length;
            here.map(|here| segment.address + here)
        });
        prop_assert_eq!(Some(flush), first);
    }
}

#[test]
fn a_fence_for_a_peer_reads_from_it_where_it_may() {
    let place = Register::Csr(0x38);
    let flush = Some(0x38_0001_0fff);
    let steps: Vec<Step> = fence(Reach::Peer { flush }).collect();
    // The address is written while no other fence uses it.
    let expected = [
        Step::Wait(place, 2),
        Step::Write(Register::Csr(0x40), 0x0001_0fc0),
        Step::Write(Register::Csr(0x44), 0x38),
        Step::Write(place, 5),
        Step::Wait(place, 2),
    ];
    assert_eq!(steps[..5], expected);
    assert!(steps[5..].iter().all(|step| *step == Step::Wait(place, 0)));
    // Without a read only time passes.
    let steps: Vec<Step> = fence(Reach::Peer { flush: None }).collect();
    assert_eq!(steps[1], Step::Write(place, 1));
    assert!(steps.len() > 3);
}

#[test]
fn a_wipe_leaves_no_entry_and_no_owner() {
    let steps: Vec<Step> = wipe(3).collect();
    let entry = |index| {
        let [low, high] = Register::entry(index);
        [Step::Write(low, 0), Step::Write(high, 0)]
    };
    let owners = [0x30, 0x34].map(|offset| Step::Write(Register::Csr(offset), 0));
    let expected = [owners, entry(0), entry(1), entry(2)].concat();
    assert_eq!(steps, expected);
}
