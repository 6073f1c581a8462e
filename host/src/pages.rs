//! Pages of a GPU's memory.

use std::ops::Range;

/// Pages that a GPU's memory has at its BAR, the largest first: 2 MiB, 64 KiB (NVIDIA TB-06712-001, "Pinning
/// GPU memory"), and the host's, which a dma-buf must keep to (`cuMemGetHandleForAddressRange`).
const PAGES: [u64; 3] = [2 << 20, 64 << 10, 4 << 10];

/// A range of a GPU's addresses in the largest pages that the allocation has room for, so that a board needs
/// few entries for it: what to export as a dma-buf, and to register all of. `None`: the range is not in the
/// allocation, or the allocation not in whole pages of the host.
pub fn widen(asked: &Range<u64>, allocation: &Range<u64>) -> Option<Range<u64>> {
    PAGES.into_iter().find_map(|page| {
        let start = asked.start / page * page;
        let end = asked.end.checked_next_multiple_of(page)?;
        (allocation.start <= start && end <= allocation.end).then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn ranges_widen_to_the_largest_pages_that_fit() {
        let base = 0x7f00_0000_0000;
        let of = |start: u64, end: u64| base + start..base + end;
        // A pool of 8 MiB: a small piece of it is a page of 2 MiB.
        let pool = of(0, 8 * MIB);
        assert_eq!(widen(&of(100, 200), &pool), Some(of(0, 2 * MIB)));
        assert_eq!(
            widen(&of(2 * MIB - 1, 2 * MIB + 1), &pool),
            Some(of(0, 4 * MIB))
        );
        // An allocation of 1 MiB has no such page, but pages of 64 KiB.
        let small = of(0, MIB);
        assert_eq!(
            widen(&of(70_000, 70_001), &small),
            Some(of(65_536, 131_072))
        );
        // One that does not begin or end at such a page keeps to what it has.
        let odd = of(4096, 12_288);
        assert_eq!(widen(&of(5000, 6000), &odd), Some(of(4096, 8192)));
        assert_eq!(widen(&of(5000, 6000), &of(5000, 6000)), None);
        assert_eq!(widen(&(u64::MAX - 1..u64::MAX), &(0..u64::MAX)), None);
    }
}
