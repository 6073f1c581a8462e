//! Allocation of addresses.

use std::collections::BTreeMap;

/// First-fit allocator of an address range.
pub(crate) struct Arena {
    /// Free ranges: start, length.
    free: BTreeMap<u64, u64>,
}

impl Arena {
    pub(crate) fn new(base: u64, length: u64) -> Self {
        Self {
            free: BTreeMap::from([(base, length)]),
        }
    }

    pub(crate) fn take(&mut self, length: u64, align: u64) -> Option<u64> {
        let (start, size, at) = self.free.iter().find_map(|(&start, &size)| {
            let at = start.checked_next_multiple_of(align)?;
            let fits = at.checked_add(length)? <= start + size;
            fits.then_some((start, size, at))
        })?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        let end = at + length;
        if end < start + size {
            self.free.insert(end, start + size - end);
        }
        Some(at)
    }

    pub(crate) fn give(&mut self, mut start: u64, mut length: u64) {
        if let Some(after) = self.free.remove(&(start + length)) {
            length += after;
        }
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.free.remove(&before);
            (start, length) = (before, size + length);
        }
        self.free.insert(start, length);
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn the_arena_aligns_and_joins() {
        let mut arena = Arena::new(0x1000, 0x10000);
        let a = arena.take(0x1000, 0x1000).unwrap();
        let b = arena.take(0x4000, 0x4000).unwrap();
        let c = arena.take(0x1000, 0x1000).unwrap();
        assert_eq!((a, b, c), (0x1000, 0x4000, 0x2000));
        assert_eq!(arena.take(0x10000, 0x1000), None);
        arena.give(a, 0x1000);
        arena.give(b, 0x4000);
        arena.give(c, 0x1000);
        assert_eq!(arena.take(0x10000, 0x1000), Some(0x1000));
    }
}
