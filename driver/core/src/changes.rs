// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of an address space that have begun and not ended.

use core::ops::Range;

/// Number of changes that are known one by one.
const EXACT: usize = 8;

/// Changes that are in progress, and the addresses that they may touch.
///
/// A few are known exactly. Of further ones, all addresses from the lowest to the highest count until the last of
/// them has ended. (Linux uses the same method for virtual machines: `mmu_invalidate_in_progress` and the range next
/// to it in virt/kvm/kvm_main.c.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    exact: [Range<usize>; EXACT],
    /// Number of changes in `exact`.
    known: usize,
    joined: Range<usize>,
    /// Number of further changes.
    beyond: usize,
}

impl Changes {
    /// No change.
    pub const NONE: Self = Self {
        exact: [const { 0..0 }; EXACT],
        known: 0,
        joined: 0..0,
        beyond: 0,
    };

    /// Records the begin of a change.
    pub fn begin(&mut self, range: Range<usize>) {
        match self.exact.get_mut(self.known) {
            Some(free) => {
                *free = range;
                self.known += 1;
            }
            None if self.beyond == 0 => (self.joined, self.beyond) = (range, 1),
            None => {
                let (start, end) = (self.joined.start, self.joined.end);
                self.joined = start.min(range.start)..end.max(range.end);
                self.beyond = self.beyond.saturating_add(1);
            }
        }
    }

    /// Records the end of a change, with the addresses with which it has begun. A change whose begin was not recorded
    /// is ignored as far as it can be distinguished. Linux has no such change: it does not notify a notifier of
    /// changes that were in progress when the notifier was registered (`mm_take_all_locks`).
    pub fn end(&mut self, range: &Range<usize>) {
        if let Some(index) = self.known().iter().position(|known| known == range) {
            self.known -= 1;
            self.exact.swap(index, self.known);
        } else if self.joined.start <= range.start && range.end <= self.joined.end {
            self.beyond = self.beyond.saturating_sub(1);
        }
    }

    fn known(&self) -> &[Range<usize>] {
        &self.exact[..self.known]
    }

    /// Whether a change in progress may touch these addresses.
    pub fn may_touch(&self, range: &Range<usize>) -> bool {
        let touches = |change: &Range<usize>| change.start < range.end && range.start < change.end;
        self.beyond > 0 && touches(&self.joined) || self.known().iter().any(touches)
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
        // One in another place hides neither it nor the addresses between them.
        changes.begin(0x9000..0xa000);
        assert!(changes.may_touch(&(0x2000..0x3000)) && changes.may_touch(&(0x9000..0xa000)));
        assert!(!changes.may_touch(&(0x4000..0x9000)));
        changes.end(&(0x2000..0x4000));
        assert!(!changes.may_touch(&(0x2000..0x4000)) && changes.may_touch(&(0x9000..0xa000)));
        // Changes whose begin was not recorded.
        changes.end(&(0x2000..0x4000));
        changes.end(&(0x5000..0x6000));
        assert!(changes.may_touch(&(0x9000..0xa000)));
        changes.end(&(0x9000..0xa000));
        assert!(!changes.may_touch(&(0..usize::MAX)));
    }

    proptest! {
        /// For any overlaps: no change in progress is missed, none is reported when none is in progress, and a few
        /// are distinguished.
        #[test]
        fn none_is_missed(
            acts in proptest::collection::vec((any::<bool>(), 0usize..100, 1usize..20), 0..100),
            watched in 0usize..100,
        ) {
            let mut changes = Changes::NONE;
            let mut open: Vec<Range<usize>> = Vec::new();
            let watched = watched..watched + 5;
            // Whether more than a few have been open since none was open.
            let mut many = false;
            for (begins, start, length) in acts {
                if begins {
                    changes.begin(start..start + length);
                    open.push(start..start + length);
                } else if !open.is_empty() {
                    // They end in any order.
                    changes.end(&open.swap_remove(start % open.len()));
                }
                many = !open.is_empty() && (many || open.len() > 8);
                let touched = |change: &Range<usize>| {
                    change.clone().any(|address| watched.contains(&address))
                };
                let expected = open.iter().any(touched);
                prop_assert!(changes.may_touch(&watched) || !expected);
                prop_assert!(many || changes.may_touch(&watched) == expected);
                prop_assert!(!changes.may_touch(&watched) || !open.is_empty());
            }
        }
    }
}
