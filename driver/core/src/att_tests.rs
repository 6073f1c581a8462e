// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of the ATT's entries, addresses and allocator.

use super::*;
use proptest::prelude::*;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

fn allocator(entries: u32) -> AttAllocator<Vec<u64>> {
    let words = AttAllocator::<Vec<u64>>::words(entries);
    AttAllocator::new(vec![u64::MAX; words], entries).unwrap()
}

#[test]
fn entry_encoding_is_the_documented_one() {
    let entry = Entry {
        address: 0x0000_0380_0020_0000,
        page_size: PageSize::Mib2,
        permissions: Permissions::Write,
    };
    assert_eq!(entry.encode(), Ok(0x0000_0380_0020_0000 | 0b10_101));
    let entry = Entry {
        address: 0xffff_ffff_ffff_f000,
        page_size: PageSize::Kib4,
        permissions: Permissions::ReadWrite,
    };
    assert_eq!(entry.encode(), Ok(0xffff_ffff_ffff_f007));
    assert_eq!(Entry::decode(0xffff_ffff_ffff_f007), Ok(Some(entry)));
}

#[test]
fn entries_that_lie_are_refused() {
    let unaligned = Entry {
        address: 0x1_1000,
        page_size: PageSize::Kib64,
        permissions: Permissions::Read,
    };
    assert!(matches!(
        unaligned.encode(),
        Err(EntryError::Unaligned { .. })
    ));
    // Page size 3, no permission, a reserved bit, an address below the page size.
    for raw in [0b11_011, 0b00_001, 0b1_00011, 0x1000 | 0b01_011] {
        assert_eq!(Entry::decode(raw), Err(EntryError::Malformed { raw }));
    }
    assert_eq!(Entry::decode(Entry::INVALID), Ok(None));
    assert_eq!(Entry::decode(0xabc0_0000_0000_0006), Ok(None));
}

#[test]
fn att_addresses_name_entry_and_offset() {
    let address = AttAddress::new(PageSize::Kib64, 5, 0x1_2345).unwrap();
    assert_eq!(address.raw(), 1 << 62 | 0x6_2345);
    assert_eq!((address.entry(), address.page_offset()), (6, 0x2345));
    assert_eq!(AttAddress::from_raw(address.raw()), Some(address));
    assert_eq!(address.to_string(), "entry 6 + 0x2345 (64 KiB pages)");
    let further = address.checked_add(0x1_0000).unwrap();
    assert_eq!(further.entry(), 7);
    assert_eq!(further.offset_from(address), Some(0x1_0000));
    assert_eq!(address.offset_from(further), None);
}

#[test]
fn att_addresses_end_with_the_largest_table() {
    assert!(AttAddress::new(PageSize::Mib2, 65535, 0x1f_ffff).is_some());
    assert!(AttAddress::new(PageSize::Mib2, 65535, 0x20_0000).is_none());
    assert!(AttAddress::new(PageSize::Kib4, u32::MAX, u64::MAX).is_none());
    assert!(AttAddress::from_raw(3 << 62).is_none());
    assert!(AttAddress::from_raw(1 << 40).is_none());
}

#[test]
fn best_fit_takes_the_smallest_gap() {
    let mut att = allocator(100);
    let a = att.allocate(10).unwrap();
    let b = att.allocate(20).unwrap();
    let c = att.allocate(5).unwrap();
    let d = att.allocate(3).unwrap();
    assert_eq!(
        (a.first(), b.first(), c.first(), d.first()),
        (0, 10, 30, 35)
    );
    att.free(b).unwrap();
    att.free(c).unwrap();
    // The two gaps are one of 25 now; 62 are free at the end.
    assert_eq!(att.largest_free(), 62);
    assert_eq!(att.allocate(25).unwrap().first(), 10);
    att.free(a).unwrap();
    assert_eq!(att.allocate(10).unwrap().first(), 0);
    assert_eq!(
        att.allocate(63),
        Err(AllocError::Full {
            wanted: 63,
            largest: 62,
            free: 62
        })
    );
}

#[test]
fn foreign_runs_are_refused() {
    let mut att = allocator(64);
    let run = att.allocate(8).unwrap();
    let next = att.allocate(4).unwrap();
    for (first, count) in [(0, 4), (1, 7), (0, 12), (12, 1), (60, 8), (u32::MAX, 2)] {
        assert_eq!(
            att.free(Run { first, count }),
            Err(AllocError::NotAllocated { first, count })
        );
    }
    att.free(run).unwrap();
    att.free(next).unwrap();
    assert_eq!((att.free_entries(), att.largest_free()), (64, 64));
}

#[test]
fn bad_sizes_are_refused() {
    assert!(AttAllocator::new(vec![0; 2], 0).is_err());
    assert!(AttAllocator::new(vec![0; 2], 65).is_err());
    assert!(AttAllocator::new(vec![0; 4096], 65537).is_err());
    assert!(AttAllocator::new(vec![0; 2048], 65536).is_ok());
    assert_eq!(allocator(8).allocate(0), Err(AllocError::Zero));
}

proptest! {
    /// A look ahead gives the same result as freeing the runs and allocating.
    #[test]
    fn a_look_ahead_is_right(
        sizes in proptest::collection::vec(1u32..30, 1..30),
        returned in proptest::collection::vec(any::<(bool, bool)>(), 30),
        count in 1u32..100,
    ) {
        let mut att = allocator(200);
        let runs: Vec<Run> = sizes.iter().filter_map(|size| att.allocate(*size).ok()).collect();
        let words = || vec![u64::MAX; EntrySet::<Vec<u64>>::words(200)];
        let mut later = Vec::new();
        let mut spare = Vec::new();
        for (run, (now, then)) in runs.into_iter().zip(returned) {
            if now {
                att.free(run).unwrap();
            } else if then {
                spare.push(run.indices());
                later.push(run);
            }
        }
        let taken = att.taken(words());
        let mut after = EntrySet::new(words());
        after.copy_from(&taken);
        spare.into_iter().for_each(|run| after.remove(run));
        let found = after.free_run(200, count);
        for run in later {
            att.free(run).unwrap();
        }
        let said = found.is_some();
        if let Some(found) = found {
            let free = att.taken(words());
            prop_assert_eq!(free.free_run(found.end, count), Some(found.clone()));
        }
        prop_assert_eq!(said, att.allocate(count).is_ok());
    }
}
