// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of an address space that have begun and not ended.

use core::ops::Range;

/// How many there are, and which addresses they may touch: all from the lowest to the highest, until
/// none is left. (Linux keeps book for virtual machines in the same way: `mmu_invalidate_in_progress`
/// and the range beside it in virt/kvm/kvm_main.c.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    under_way: usize,
    range: Range<usize>,
}

impl Changes {
    /// None.
    pub const NONE: Self = Self {
        under_way: 0,
        range: 0..0,
    };

    /// One begins.
    pub fn begin(&mut self, range: Range<usize>) {
        self.range = match self.under_way {
            0 => range,
            _ => self.range.start.min(range.start)..self.range.end.max(range.end),
        };
        self.under_way = self.under_way.saturating_add(1);
    }

    /// One ends.
    pub fn end(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Whether one that is under way may touch these addresses.
    pub fn may_touch(&self, range: &Range<usize>) -> bool {
        self.under_way > 0 && self.range.start < range.end && range.start < self.range.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn what_has_begun_counts_until_it_has_ended() {
        let mut changes = Changes::NONE;
        assert!(!changes.may_touch(&(0..usize::MAX)));
        changes.begin(0x2000..0x4000);
        assert!(changes.may_touch(&(0x3000..0x5000)) && changes.may_touch(&(0x1000..0x2001)));
        assert!(!changes.may_touch(&(0x1000..0x2000)) && !changes.may_touch(&(0x4000..0x5000)));
        // One in another place does not hide it.
        changes.begin(0x9000..0xa000);
        assert!(changes.may_touch(&(0x2000..0x3000)) && changes.may_touch(&(0x9000..0xa000)));
        changes.end();
        assert!(changes.may_touch(&(0x2000..0x3000)) && changes.may_touch(&(0x9000..0xa000)));
        changes.end();
        assert!(!changes.may_touch(&(0..usize::MAX)));
        // What was before is forgotten.
        changes.begin(0x9000..0xa000);
        assert!(!changes.may_touch(&(0x2000..0x3000)));
    }

    proptest! {
        /// Whatever overlaps: none that is under way is missed, and none is seen when there is none.
        #[test]
        fn none_is_missed(
            acts in proptest::collection::vec((any::<bool>(), 0usize..100, 1usize..20), 0..100),
            watched in 0usize..100,
        ) {
            let mut changes = Changes::NONE;
            let mut open: Vec<Range<usize>> = Vec::new();
            let watched = watched..watched + 5;
            for (begins, start, length) in acts {
                if begins {
                    changes.begin(start..start + length);
                    open.push(start..start + length);
                } else if !open.is_empty() {
                    changes.end();
                    // They end in any order.
                    open.swap_remove(start % open.len());
                }
                let touched = |change: &Range<usize>| {
                    change.clone().any(|address| watched.contains(&address))
                };
                prop_assert!(changes.may_touch(&watched) || !open.iter().any(touched));
                prop_assert!(!changes.may_touch(&watched) || !open.is_empty());
            }
        }
    }
}
