//! The table of a cache: its regions, and the registrations in progress. Nothing here calls other code. Regions that
//! are removed are handed to the caller, which drops them without the lock.

use super::{Buffer, Limits, Parts, Space, Statistics};
use crate::flow::Keep;
use crate::region::Region;
use peerlane_core::att::Permissions;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Identity of memory, and permissions of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    space: Space,
    identity: u64,
    bar: Option<u64>,
    /// The parts identify the memory, not `identity`.
    parted: bool,
    permissions: Permissions,
}

impl Place {
    pub(super) fn new(buffer: &Buffer, parted: bool, permissions: Permissions) -> Self {
        Self {
            space: buffer.space,
            identity: buffer.identity,
            bar: buffer.bar,
            parted,
            permissions,
        }
    }

    /// Returns whether ranges of the other place cannot be the same memory. For memory with parts, the parts decide
    /// that.
    fn is_stranger(&self, other: &Self) -> bool {
        let same = match self.parted && other.parted {
            true => true,
            false => (self.parted, self.identity) == (other.parted, other.identity),
        };
        self.space == other.space && !same
    }

    /// Returns whether regions of both places are in the same tree.
    fn beside(&self, other: &Self) -> bool {
        (self.space, self.permissions) == (other.space, other.permissions)
    }
}

/// A cached region, for a range of its buffer that begins at its key. The region may reach further on both sides, where
/// other regions are cached.
#[derive(Debug)]
struct Kept {
    end: u64,
    /// Where the region's byte 0 is in the buffer: at the key, or before it.
    base: u64,
    identity: u64,
    bar: Option<u64>,
    /// The pieces of the memory, if it consists of several.
    parts: Option<Parts>,
    /// Value of `Table::clock` at its last use.
    used: u64,
    region: Region,
}

impl Kept {
    /// Returns whether the memory is that of a place, with these parts.
    fn is(&self, place: &Place, parts: Option<&Parts>) -> bool {
        match (&self.parts, parts) {
            (None, None) => self.identity == place.identity,
            (Some(kept), Some(now)) => kept.agree(now),
            _ => false,
        }
    }

    /// Returns the range of the buffer that the region covers.
    fn all(&self) -> Range<u64> {
        self.base..self.end.max(self.base.saturating_add(self.region.length()))
    }
}

/// A region to drop, and after it the reference that kept the names of its parts.
pub(super) type Gone = (Region, Option<Parts>);

/// A region or registration that may be removed.
pub(super) struct Seen<'a> {
    pub(super) space: Space,
    pub(super) range: Range<u64>,
    identity: u64,
    /// `None` for a registration in progress.
    parts: Option<&'a Parts>,
    parted: bool,
}

impl Seen<'_> {
    /// Returns whether some of it belongs to a buffer. Where that is unknown, the result is `true`.
    pub(super) fn is_of(&self, buffer: &Buffer) -> bool {
        let identity = buffer.identity;
        let is = match (self.parts, self.parted) {
            (Some(parts), _) => parts.has(identity),
            (None, true) => true,
            (None, false) => self.identity == identity,
        };
        self.space == buffer.space && is
    }
}

/// Regions of memory with the same permissions. Their ranges do not overlap.
type Tree = BTreeMap<u64, Kept>;

/// For each permission.
type Trees = [Tree; 3];

/// Place of a cached region: the tree's space and permission, and the key.
type Key = (Space, usize, u64);

/// A hash of a few numbers that no user chooses: the kernel assigns inodes.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 over the golden ratio: neighbours lie far apart (Knuth, volume 3, 6.4).
        self.0 = (self.0.rotate_left(32) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A registration in progress.
#[derive(Debug)]
struct Going {
    number: u64,
    place: Place,
    range: Range<u64>,
    /// The memory was freed in the meantime, so the result is not cached.
    dead: bool,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    trees: HashMap<Space, Trees, BuildHasherDefault<Mixer>>,
    regions: usize,
    bytes: u64,
    /// Bytes in each BAR.
    bars: HashMap<u64, u64>,
    going: Vec<Going>,
    /// Number of the last registration that was begun.
    last: u64,
    /// Counts uses.
    clock: u64,
    found: u64,
    registered: u64,
}

/// Returns whether ranges have a byte in common.
pub(super) fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the regions of a tree that have a byte of a range, in their order.
fn overlapping(tree: &Tree, range: Range<u64>) -> impl Iterator<Item = (u64, &Kept)> {
    let before = tree.range(..range.start).next_back();
    let before = before.filter(|(_, kept)| kept.end > range.start);
    let all = before.into_iter().chain(tree.range(range));
    all.map(|(start, kept)| (*start, kept))
}

impl Table {
    pub(super) fn statistics(&self) -> Statistics {
        Statistics {
            found: self.found,
            registered: self.registered,
            regions: self.regions,
            bytes: self.bytes,
        }
    }

    /// Returns the region with all of a range, and the place of its byte 0 in the buffer. Marks the region as used now.
    pub(super) fn find(
        &mut self,
        place: &Place,
        parts: Option<&Parts>,
        range: &Range<u64>,
    ) -> Option<(Region, u64)> {
        let trees = self.trees.get_mut(&place.space)?;
        for permissions in [place.permissions, Permissions::ReadWrite] {
            let tree = &mut trees[permissions as usize];
            let Some((_, kept)) = tree.range_mut(..=range.start).next_back() else {
                continue;
            };
            let all = kept.end >= range.end;
            if all && kept.is(place, parts) && kept.region.stands() {
                self.clock += 1;
                self.found += 1;
                kept.used = self.clock;
                return Some((kept.region.clone(), kept.base));
            }
        }
        None
    }

    /// Takes dead regions out at a range: regions of memory that was there before, and invalidated regions.
    pub(super) fn expel(
        &mut self,
        place: &Place,
        parts: Option<&Parts>,
        range: &Range<u64>,
        out: &mut Vec<Gone>,
    ) {
        for going in &mut self.going {
            let stranger = going.place.is_stranger(place);
            going.dead |= stranger && overlap(&going.range, range);
        }
        let Some(trees) = self.trees.get(&place.space) else {
            return;
        };
        let mut dead = Vec::new();
        for (permissions, tree) in trees.iter().enumerate() {
            let all = overlapping(tree, range.clone());
            let all = all.filter(|(_, kept)| !kept.is(place, parts) || !kept.region.stands());
            dead.extend(all.map(|(start, _)| (place.space, permissions, start)));
        }
        self.remove_all(dead, out);
    }

    /// Returns the regions of a place that have a byte of a range.
    fn same(&self, place: &Place, range: &Range<u64>) -> impl Iterator<Item = (u64, &Kept)> {
        let tree = self.trees.get(&place.space);
        let tree = tree.map(|trees| &trees[place.permissions as usize]);
        tree.into_iter()
            .flat_map(|tree| overlapping(tree, range.clone()))
    }

    /// Returns a range extended by all regions that overlap it.
    pub(super) fn with_overlapping(&self, place: &Place, range: &Range<u64>) -> Range<u64> {
        let all = self.same(place, range);
        all.fold(range.clone(), |all, (start, kept)| {
            all.start.min(start)..all.end.max(kept.end)
        })
    }

    /// Begins a registration, unless one of an overlapping range is in progress. Returns its number.
    pub(super) fn begin(&mut self, place: &Place, range: &Range<u64>) -> Option<u64> {
        let taken = |going: &Going| going.place.beside(place) && overlap(&going.range, range);
        // A dead registration is of other memory, or of memory that no caller may get.
        if (self.going.iter()).any(|going| !going.dead && taken(going)) {
            return None;
        }
        self.last += 1;
        self.going.push(Going {
            number: self.last,
            place: *place,
            range: range.clone(),
            dead: false,
        });
        Some(self.last)
    }

    /// Ends a registration.
    pub(super) fn end(&mut self, number: u64) {
        self.going.retain(|going| going.number != number);
    }

    /// Reduces a registration in progress to `range`. Takes out the regions that were to become one with it, and with
    /// `all` also all regions that are not in use.
    pub(super) fn give_way(&mut self, number: u64, range: &Range<u64>, all: bool) -> Vec<Gone> {
        let mut out = Vec::new();
        let Some(going) = self.going.iter_mut().find(|going| going.number == number) else {
            return out;
        };
        going.range = range.clone();
        let place = going.place;
        let tree = (place.space, place.permissions as usize);
        let keys = self
            .same(&place, range)
            .map(|(start, _)| (tree.0, tree.1, start));
        self.remove_all(keys.collect(), &mut out);
        if all {
            let unused = self.keys(|_, kept| !kept.region.is_shared());
            self.remove_all(unused, &mut out);
        }
        out
    }

    /// Caches the result of a registration, unless the memory was freed in the meantime, or there is no room.
    pub(super) fn insert(
        &mut self,
        number: u64,
        made: Range<u64>,
        (region, parts): Gone,
        limits: &Limits,
        out: &mut Vec<Gone>,
    ) {
        self.registered += 1;
        let going = self.going.iter().find(|going| going.number == number);
        let Some(Going { place, range, .. }) = going.filter(|going| !going.dead) else {
            out.push((region, parts));
            return;
        };
        let (place, asked) = (*place, range.clone());
        let (range, within) = self.place_among(&place, parts.as_ref(), made.clone());
        // Another thread may have registered a wider range than it was asked for, which overlaps this range. Then a
        // look-up would find only a part of this region. So it is not cached, and the next look-up registers all of the
        // range.
        if range.start > asked.start || range.end < asked.end {
            out.push((region, parts));
            return;
        }
        self.remove_all(within, out);
        if !self.make_room(&place, region.length(), limits, out) {
            out.push((region, parts));
            return;
        }
        self.clock += 1;
        self.regions += 1;
        self.bytes += region.length();
        if let Some(bar) = place.bar {
            *self.bars.entry(bar).or_default() += region.length();
        }
        let kept = Kept {
            end: range.end,
            base: made.start,
            identity: place.identity,
            bar: place.bar,
            parts,
            used: self.clock,
            region,
        };
        let trees = self.trees.entry(place.space).or_default();
        trees[place.permissions as usize].insert(range.start, kept);
    }

    /// Returns the part of a range that no cached region has, and the keys of the regions within the range, which the
    /// caller removes. The part has no bytes, or less than none, where a cached region has all of the range.
    fn place_among(
        &self,
        place: &Place,
        parts: Option<&Parts>,
        mut range: Range<u64>,
    ) -> (Range<u64>, Vec<Key>) {
        let mut within = Vec::new();
        for (start, kept) in self.same(place, &range.clone()) {
            let lives = kept.is(place, parts) && kept.region.stands();
            if !lives || range.start <= start && kept.end <= range.end {
                within.push((place.space, place.permissions as usize, start));
                continue;
            }
            if start <= range.start {
                range.start = kept.end;
            }
            if kept.end >= range.end {
                range.end = start;
            }
        }
        (range, within)
    }

    /// Makes room for `length` bytes: evicts the regions that were used longest ago. Returns whether there is room.
    fn make_room(
        &mut self,
        place: &Place,
        length: u64,
        limits: &Limits,
        out: &mut Vec<Gone>,
    ) -> bool {
        // A region that never fits evicts nothing.
        let too_long = length > limits.bytes || place.bar.is_some() && length > limits.bar_bytes;
        if limits.regions == 0 || too_long {
            return false;
        }
        loop {
            let behind = place.bar.and_then(|bar| self.bars.get(&bar)).copied();
            let behind = behind.unwrap_or(0).saturating_add(length);
            let bar_full = place.bar.is_some() && behind > limits.bar_bytes;
            let full =
                self.regions >= limits.regions || self.bytes.saturating_add(length) > limits.bytes;
            if !full && !bar_full {
                return true;
            }
            // Where only a BAR is full, regions in other BARs need not go.
            match self.evict(|kept| full || kept.bar == place.bar) {
                Some(gone) => out.push(gone),
                None => return false,
            }
        }
    }

    /// Takes out the region of a kind that was used longest ago and is not in use. It looks at all regions: the
    /// registration that needs the room costs more.
    fn evict(&mut self, which: impl Fn(&Kept) -> bool) -> Option<Gone> {
        let mut oldest: Option<(u64, Key)> = None;
        for (space, trees) in &self.trees {
            for (permissions, tree) in trees.iter().enumerate() {
                for (start, kept) in tree {
                    let older = oldest.is_none_or(|(used, _)| kept.used < used);
                    if older && which(kept) && !kept.region.is_shared() {
                        oldest = Some((kept.used, (*space, permissions, *start)));
                    }
                }
            }
        }
        oldest.and_then(|(_, key)| self.remove(key))
    }

    /// Takes out all regions of a kind. The results of registrations in progress of that kind will not be cached.
    pub(super) fn take(&mut self, which: impl Fn(&Seen<'_>) -> bool) -> Vec<Gone> {
        for going in &mut self.going {
            going.dead |= which(&Seen {
                space: going.place.space,
                range: going.range.clone(),
                identity: going.place.identity,
                parts: None,
                parted: going.place.parted,
            });
        }
        let keys = self.keys(|space, kept| {
            which(&Seen {
                space: *space,
                range: kept.all(),
                identity: kept.identity,
                parts: kept.parts.as_ref(),
                parted: kept.parts.is_some(),
            })
        });
        let mut out = Vec::new();
        self.remove_all(keys, &mut out);
        out
    }

    /// Returns the keys of all regions of a kind.
    fn keys(&self, which: impl Fn(&Space, &Kept) -> bool) -> Vec<Key> {
        let mut keys = Vec::new();
        for (space, trees) in &self.trees {
            for (permissions, tree) in trees.iter().enumerate() {
                let all = tree.iter();
                let all = all.filter(|(_, kept)| which(space, kept));
                keys.extend(all.map(|(start, _)| (*space, permissions, *start)));
            }
        }
        keys
    }

    fn remove_all(&mut self, keys: Vec<Key>, out: &mut Vec<Gone>) {
        out.extend(keys.into_iter().filter_map(|key| self.remove(key)));
    }

    fn remove(&mut self, (space, permissions, start): Key) -> Option<Gone> {
        let trees = self.trees.get_mut(&space)?;
        let kept = trees[permissions].remove(&start)?;
        let Kept {
            bar, region, parts, ..
        } = kept;
        if trees.iter().all(BTreeMap::is_empty) {
            self.trees.remove(&space);
        }
        self.regions -= 1;
        self.bytes -= region.length();
        if let Some(bar) = bar
            && let Some(bytes) = self.bars.get_mut(&bar)
        {
            *bytes -= region.length();
            if *bytes == 0 {
                self.bars.remove(&bar);
            }
        }
        Some((region, parts))
    }
}
