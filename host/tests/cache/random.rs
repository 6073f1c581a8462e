//! A program that allocates, frees and registers at random, against a model.

use crate::{Rig, limits};
use peerlane_host::cache::{Buffer, Cache, Cached};
use peerlane_host::{Errno, Error, Permissions};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// One step of a program that allocates and frees.
#[derive(Debug, Clone)]
enum Step {
    /// Frees the memory in a slot, and allocates there again; the cache is notified, or not.
    Renew { slot: u64, told: bool },
    /// Looks up a range of the slot's memory, in pages; and keeps it for a while, or not.
    Get {
        slot: u64,
        first: u64,
        pages: u64,
        permissions: Permissions,
        keeps: bool,
        /// Pages of the pieces in which it is registered.
        piece: u64,
    },
    /// Ends the use that began longest ago.
    Release,
    /// A transfer has failed with the region that is used longest.
    Forget,
    /// The driver has no room once.
    Full,
}

const SLOTS: u64 = 4;
const SLOT_PAGES: u64 = 8;
const PAGE: u64 = 4096;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let permissions = prop_oneof![
        Just(Permissions::Read),
        Just(Permissions::Write),
        Just(Permissions::ReadWrite)
    ];
    let renew = (0..SLOTS, any::<bool>()).prop_map(|(slot, told)| Step::Renew { slot, told });
    let get = (
        0..SLOTS,
        0..SLOT_PAGES,
        1..=SLOT_PAGES,
        permissions,
        any::<bool>(),
        prop_oneof![Just(1_u64), Just(2), Just(3), Just(SLOT_PAGES)],
    )
        .prop_map(
            |(slot, first, pages, permissions, keeps, piece)| Step::Get {
                slot,
                first,
                pages: pages.min(SLOT_PAGES - first),
                permissions,
                keeps,
                piece,
            },
        );
    let step = prop_oneof![
        2 => renew,
        8 => get,
        2 => Just(Step::Release),
        1 => Just(Step::Forget),
        1 => Just(Step::Full)
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    /// For any order of allocations, frees and registrations: a look-up returns memory that exists, all of the range,
    /// with its permissions, known to the driver; and the limits hold.
    #[test]
    fn no_dead_mapping_is_found(
        steps in steps(),
        regions in 1_usize..8,
        pages in 1_u64..40,
        bar_pages in 1_u64..40,
    ) {
        let rig = Rig::new();
        let limits = limits(regions, pages * PAGE, bar_pages * PAGE);
        let cache = Cache::new(limits);
        // The model: the owner of each place, the owner of each region's memory, and the regions in use.
        let mut identities: Vec<u64> = (0..SLOTS).collect();
        let mut owners: BTreeMap<u32, u64> = BTreeMap::new();
        let mut used: Vec<Cached> = Vec::new();
        for step in steps {
            match step {
                Step::Renew { slot, told } => {
                    let identity = &mut identities[slot as usize];
                    if told {
                        cache.invalidate(&Buffer::cuda(*identity));
                    }
                    *identity += SLOTS;
                }
                Step::Get { slot, first, pages, permissions, keeps, piece } => {
                    let identity = identities[slot as usize];
                    let start = (slot * SLOT_PAGES + first) * PAGE;
                    let range = start..start + pages * PAGE;
                    let buffer = Buffer::cuda(identity).behind(slot % 2);
                    let cached = cache.get(&buffer, range.clone(), permissions, |range| {
                        // Wider than it was asked for, but within its slot.
                        let slots = slot * SLOT_PAGES * PAGE..(slot + 1) * SLOT_PAGES * PAGE;
                        let piece = piece * PAGE;
                        let start = (range.start / piece * piece).max(slots.start);
                        let end = range.end.next_multiple_of(piece).min(slots.end);
                        let made = rig.register(start..end, permissions)?;
                        owners.insert(made.region.handle(), identity);
                        Ok::<_, Error>(made)
                    });
                    // Room is made once, which is enough.
                    let cached = cached.unwrap();
                    let region = cached.region();
                    prop_assert_eq!(owners[&region.handle()], identity, "memory of before");
                    let granted = region.permissions();
                    prop_assert!(granted == permissions || granted == Permissions::ReadWrite);
                    let known = rig.least.regions.lock().unwrap()[&region.handle()];
                    let begin = known.address + cached.offset();
                    prop_assert_eq!(begin..begin + cached.length(), range);
                    prop_assert!(cached.offset() + cached.length() <= known.length);
                    if keeps {
                        used.push(cached);
                    }
                }
                Step::Release if !used.is_empty() => drop(used.remove(0)),
                Step::Forget if !used.is_empty() => {
                    let failed = used.remove(0).region().clone();
                    let handle = failed.handle();
                    failed.forget().unwrap();
                    prop_assert!(!rig.least.regions.lock().unwrap().contains_key(&handle));
                    // There may be no other holder that uses it.
                    used.retain(|cached| cached.region().handle() != handle);
                }
                Step::Full => *rig.least.refuse.lock().unwrap() = Some((Errno::NOSPC, 1)),
                Step::Release | Step::Forget => {}
            }
            let statistics = cache.statistics();
            prop_assert!(statistics.regions <= limits.regions && statistics.bytes <= limits.bytes);
            // The driver has the regions of the cache, and those in use.
            let known = rig.least.regions.lock().unwrap();
            prop_assert!(known.len() <= statistics.regions + used.len());
        }
        // The counts match the regions.
        cache.clear();
        let left = cache.statistics();
        prop_assert_eq!((left.regions, left.bytes), (0, 0));
        drop((used, cache));
        prop_assert_eq!(rig.known(), []);
        prop_assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
    }
}
