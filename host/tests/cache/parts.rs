//! Memory that consists of several pieces.

use crate::{KIB, Rig};
use peerlane_host::cache::{Buffer, Cache, Cached, Limits, Part, Parts};
use peerlane_host::{Error, Permissions};
use std::ops::Range;
use std::sync::Arc;

const PIECE: u64 = 64 * KIB;

/// Returns the pieces from 0 on, of memory with these handles, that a range touches.
fn parts(handles: &[u64], range: &Range<u64>, keep: &Arc<()>) -> Parts {
    let pieces = (0..).zip(handles).map(|(index, handle)| Part {
        range: index * PIECE..(index + 1) * PIECE,
        // As of a driver that names places, not memory.
        identity: index,
        handle: *handle,
    });
    let touched =
        pieces.filter(|part| part.range.start < range.end && range.start < part.range.end);
    Parts::new(touched.collect(), Arc::clone(keep))
}

fn get(rig: &Rig, cache: &Cache, handles: &[u64], range: Range<u64>, keep: &Arc<()>) -> Cached {
    let both = Permissions::ReadWrite;
    let buffer = Buffer::cuda(range.start / PIECE);
    let asked = parts(handles, &range, keep);
    let got = cache.get_parts(&buffer, &asked, range, both, |range| {
        let parts = parts(handles, &range, keep);
        Ok::<_, Error>((rig.register(range, both)?, parts))
    });
    got.unwrap()
}

#[test]
fn a_piece_that_was_changed_is_other_memory_and_the_rest_is_not() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let keep = Arc::new(());
    let get = |handles: &[u64], range| get(&rig, &cache, handles, range, &keep);
    let all = get(&[1, 2, 3], 0..3 * PIECE).region().handle();
    assert_eq!(get(&[1, 2, 3], PIECE..2 * PIECE).region().handle(), all);
    // Pieces outside of the range are not compared.
    assert_eq!(get(&[1, 9, 3], 2 * PIECE..3 * PIECE).region().handle(), all);
    let changed = get(&[1, 9, 3], PIECE..PIECE + KIB);
    assert_ne!(changed.region().handle(), all);
    assert_eq!(rig.known(), [(PIECE, KIB)], "the dead one goes");
    // Overlapping ranges become one, also over the border of pieces.
    let wider = get(&[1, 9, 3], PIECE - KIB..PIECE + KIB);
    assert_eq!(wider.length(), 2 * KIB);
    drop((changed, wider));
    assert_eq!(rig.known(), [(PIECE - KIB, 2 * KIB)]);
}

#[test]
fn handles_are_kept_for_as_long_as_a_region_is() {
    let rig = Rig::new();
    let limits = crate::limits(1, u64::MAX, 0);
    let keep = Arc::new(());
    let cache = Cache::new(limits);
    let kept = || Arc::strong_count(&keep) - 1;
    drop(get(&rig, &cache, &[1, 2], 0..2 * PIECE, &keep));
    assert_eq!(kept(), 1);
    // The region is evicted, or the cache is notified that one of its pieces goes: any of them.
    drop(get(
        &rig,
        &cache,
        &[1, 2, 3, 4],
        2 * PIECE..4 * PIECE,
        &keep,
    ));
    assert_eq!((kept(), rig.known().len()), (1, 1));
    cache.invalidate(&Buffer::cuda(1));
    assert_eq!((kept(), rig.known().len()), (1, 1));
    cache.invalidate(&Buffer::cuda(3));
    assert_eq!((kept(), rig.known().len()), (0, 0));
    drop(get(&rig, &cache, &[1, 2], 0..KIB, &keep));
    cache.invalidate_addresses(PIECE..2 * PIECE);
    assert_eq!(kept(), 1);
    drop(cache);
    assert_eq!((kept(), rig.known().len()), (0, 0));
}

#[test]
fn memory_with_parts_and_without_are_strangers() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let keep = Arc::new(());
    let parted = get(&rig, &cache, &[1], 0..KIB, &keep).region().handle();
    let plain = rig.get(&cache, &Buffer::cuda(0), 0..KIB).region().handle();
    assert_ne!(plain, parted);
    assert_eq!(rig.known().len(), 1);
    let again = get(&rig, &cache, &[1], 0..KIB, &keep);
    assert_ne!(again.region().handle(), plain);
    assert_eq!(rig.known().len(), 1);
}
