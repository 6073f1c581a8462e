//! A set of addresses, stored as few ranges.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Serialize, Serializer};

/// Addresses, stored as ranges that neither overlap nor touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges {
    /// First address, and first address after the range.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Adds a range.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        if let Some((&first, &behind)) = self.ends.range(..=start).next_back()
            && behind >= start
        {
            if behind >= end {
                return;
            }
            start = first;
        }
        while let Some((&first, &behind)) = self.ends.range(start..=end).next() {
            self.ends.remove(&first);
            end = end.max(behind);
        }
        self.ends.insert(start, end);
    }

    /// Returns the ranges, by rising address.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().map(|(start, end)| *start..*end)
    }

    /// Returns whether all of a range is in the set.
    pub fn contains(&self, range: &Range<u64>) -> bool {
        range.is_empty()
            || (self.ends.range(..=range.start).next_back())
                .is_some_and(|(_, &end)| end >= range.end)
    }

    /// Returns the part of this set that is not in the other.
    pub fn outside(&self, other: &Self) -> Self {
        let mut rest = Self::default();
        for range in self.iter() {
            let mut at = range.start;
            let before = other.ends.range(..=at).next_back();
            let inside = other.ends.range(at..range.end);
            for (&start, &end) in before.into_iter().chain(inside) {
                rest.insert(at..start.min(range.end));
                at = at.max(end);
            }
            rest.insert(at..range.end);
        }
        rest
    }

    /// Returns the number of addresses in the set.
    pub fn bytes(&self) -> u64 {
        self.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl From<Range<u64>> for Ranges {
    fn from(range: Range<u64>) -> Self {
        Self::from_iter([range])
    }
}

impl FromIterator<Range<u64>> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        let mut set = Self::default();
        for range in ranges {
            set.insert(range);
        }
        set
    }
}

impl Serialize for Ranges {
    /// As pairs of the first address and the first one after the range.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.ends.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[Range<u64>]) -> Ranges {
        ranges.iter().cloned().collect()
    }

    fn list(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges
            .iter()
            .map(|range| (range.start, range.end))
            .collect()
    }

    #[test]
    fn what_overlaps_or_touches_is_joined() {
        let mut ranges = set(&[10..20, 30..40, 50..60]);
        ranges.insert(20..25);
        assert_eq!(list(&ranges), [(10, 25), (30, 40), (50, 60)]);
        ranges.insert(22..55);
        assert_eq!(list(&ranges), [(10, 60)]);
        ranges.insert(12..13);
        ranges.insert(5..5);
        ranges.insert(0..10);
        assert_eq!(list(&ranges), [(0, 60)]);
        assert_eq!(ranges.bytes(), 60);
    }

    #[test]
    fn against_a_bitmap() {
        // Pseudo-random ranges of 0..64 against a bit for each address.
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 58
        };
        for _ in 0..2000 {
            let mut sets = [(Ranges::default(), 0_u64), (Ranges::default(), 0)];
            for (ranges, bits) in &mut sets {
                for _ in 0..4 {
                    let (start, length) = (next(), next() / 4);
                    let end = (start + length).min(63);
                    ranges.insert(start..end);
                    (start..end).for_each(|at| *bits |= 1 << at);
                }
            }
            let [(a, a_bits), (b, b_bits)] = &sets;
            let bits = |set: &Ranges| set.iter().flatten().fold(0, |bits, at| bits | 1_u64 << at);
            assert_eq!(bits(a), *a_bits);
            assert_eq!(bits(&a.outside(b)), a_bits & !b_bits);
            let (start, end) = (next(), next());
            let inside = (start..end).all(|at| a_bits >> at & 1 == 1);
            assert_eq!(a.contains(&(start..end)), inside, "{a:?} {start}..{end}");
        }
    }
}
