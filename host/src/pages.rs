//! Pages of a GPU's memory.

use std::ops::Range;

/// Sizes of the pages of a GPU's memory at its BAR, the largest first: 2 MiB, 64 KiB (NVIDIA TB-06712-001, "Pinning GPU
/// memory"), and the host's, of which a dma-buf must consist (`cuMemGetHandleForAddressRange`).
const PAGES: [u64; 3] = [2 << 20, 64 << 10, HOST_PAGE];

/// Bytes of the host's page.
const HOST_PAGE: u64 = 4 << 10;

/// Pages of a GPU's memory around a range of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// Range to export as a dma-buf: whole pages.
    pub export: Range<u64>,
    /// Range to register: the exported range if it lies in the allocation, otherwise the range that was asked for.
    pub register: Range<u64>,
}

/// Extends a range of a GPU's addresses to the largest pages that fit into the allocation, so that a board needs few
/// entries for it. An allocation that does not consist of whole host pages shares its pages with other memory of the
/// program. CUDA exports these pages, too (driver 580, for allocations of 256 bytes to 3 MiB): then the result is the
/// pages around the range. `None`: the range does not lie in the allocation.
pub fn widen(asked: &Range<u64>, allocation: &Range<u64>) -> Option<Pages> {
    let around = |page: u64| {
        let start = asked.start / page * page;
        Some(start..asked.end.checked_next_multiple_of(page)?)
    };
    if asked.start < allocation.start || asked.end > allocation.end {
        return None;
    }
    let inside = PAGES.into_iter().find_map(|page| {
        around(page).filter(|all| allocation.start <= all.start && all.end <= allocation.end)
    });
    match inside {
        Some(pages) => Some(Pages {
            export: pages.clone(),
            register: pages,
        }),
        None => Some(Pages {
            export: around(HOST_PAGE)?,
            register: asked.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn ranges_widen_to_the_largest_pages_that_fit() {
        let base = 0x7f00_0000_0000;
        let of = |start: u64, end: u64| base + start..base + end;
        let whole = |asked: Range<u64>, allocation: &Range<u64>| {
            let pages = widen(&asked, allocation).expect("it is inside");
            assert_eq!(pages.export, pages.register);
            pages.export
        };
        // In a pool of 8 MiB, a small piece is extended to a page of 2 MiB.
        let pool = of(0, 8 * MIB);
        assert_eq!(whole(of(100, 200), &pool), of(0, 2 * MIB));
        assert_eq!(whole(of(2 * MIB - 1, 2 * MIB + 1), &pool), of(0, 4 * MIB));
        // An allocation of 1 MiB has no such page, but pages of 64 KiB.
        let small = of(0, MIB);
        assert_eq!(whole(of(70_000, 70_001), &small), of(65_536, 131_072));
        // An allocation that does not begin or end at such a page gets smaller pages.
        let odd = of(4096, 12_288);
        assert_eq!(whole(of(5000, 6000), &odd), of(4096, 8192));
    }

    /// Other allocations of the program lie in the same pages: they are exported with it, and not registered.
    #[test]
    fn an_allocation_that_is_no_whole_pages_is_exported_in_those_around_it() {
        let base = 0x7f00_0000_0000;
        let of = |start: u64, end: u64| base + start..base + end;
        let around = |asked: Range<u64>, allocation: Range<u64>| {
            let pages = widen(&asked, &allocation).expect("it is inside");
            assert_eq!(pages.register, asked);
            pages.export
        };
        let array = of(512, 100_512);
        assert_eq!(around(array.clone(), array.clone()), of(0, 102_400));
        assert_eq!(
            around(of(100_511, 100_512), array.clone()),
            of(98_304, 102_400)
        );
        assert_eq!(around(of(5000, 6000), of(5000, 6000)), of(4096, 8192));
        // Its middle has whole pages of its own.
        let middle = widen(&of(5000, 6000), &array).expect("it is inside");
        assert_eq!(
            (middle.export, middle.register),
            (of(4096, 8192), of(4096, 8192))
        );
        for outside in [of(511, 600), of(100_000, 100_513)] {
            assert_eq!(widen(&outside, &array), None);
        }
        assert_eq!(widen(&(u64::MAX - 1..u64::MAX), &(0..u64::MAX)), None);
    }
}
