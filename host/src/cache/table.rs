//! What a cache has, and what is being registered. Nothing here calls anybody: what goes is handed to the caller, who
//! lets go of it without the lock.

use super::{Buffer, Limits, Parts, Space, Statistics};
use crate::flow::Keep;
use crate::region::Region;
use peerlane_core::att::Permissions;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Whose memory, and what the board may do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    space: Space,
    identity: u64,
    bar: Option<u64>,
    /// Its parts say which memory it is, and not the identity.
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

    /// Whether ranges of the other one cannot be the same memory. Of memory with parts that is told by these.
    fn is_stranger(&self, other: &Self) -> bool {
        let same = match self.parted && other.parted {
            true => true,
            false => (self.parted, self.identity) == (other.parted, other.identity),
        };
        self.space == other.space && !same
    }

    /// Whether the other one's regions lie in the same tree.
    fn beside(&self, other: &Self) -> bool {
        (self.space, self.permissions) == (other.space, other.permissions)
    }
}

/// A region that is kept, for a range of its buffer that begins at its key. The region may reach further on both sides,
/// where others are kept.
#[derive(Debug)]
struct Kept {
    end: u64,
    /// Where the region's byte 0 is in the buffer: at the key, or before it.
    base: u64,
    identity: u64,
    bar: Option<u64>,
    /// What memory it is, if it is put together.
    parts: Option<Parts>,
    /// When it was used last.
    used: u64,
    region: Region,
}

impl Kept {
    /// Whether it is memory of a place, with these parts.
    fn is(&self, place: &Place, parts: Option<&Parts>) -> bool {
        match (&self.parts, parts) {
            (None, None) => self.identity == place.identity,
            (Some(kept), Some(now)) => kept.agree(now),
            _ => false,
        }
    }

    /// All that the region has of the buffer.
    fn all(&self) -> Range<u64> {
        self.base..self.end.max(self.base.saturating_add(self.region.length()))
    }
}

/// What is let go of: a region, and then what kept the names of its parts.
pub(super) type Gone = (Region, Option<Parts>);

/// What may be let go of.
pub(super) struct Seen<'a> {
    pub(super) space: Space,
    pub(super) range: Range<u64>,
    identity: u64,
    /// `None` of a registration that goes on.
    parts: Option<&'a Parts>,
    parted: bool,
}

impl Seen<'_> {
    /// Whether some of it is of a buffer. Where that cannot be told, it is.
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

/// Where a region is kept: the tree's space and permission, and the key.
type Key = (Space, usize, u64);

/// A hash of a few numbers that nobody chooses: inodes are given out by the kernel.
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

/// A registration that goes on.
#[derive(Debug)]
struct Going {
    number: u64,
    place: Place,
    range: Range<u64>,
    /// The memory was freed meanwhile: what comes of it is not kept.
    dead: bool,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    trees: HashMap<Space, Trees, BuildHasherDefault<Mixer>>,
    regions: usize,
    bytes: u64,
    /// Bytes behind each BAR.
    bars: HashMap<u64, u64>,
    going: Vec<Going>,
    /// Number of the last registration that was begun.
    last: u64,
    /// Counts uses.
    clock: u64,
    found: u64,
    registered: u64,
}

/// Whether ranges have a byte in common.
pub(super) fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Regions of a tree that have a byte of a range, in their order.
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

    /// The region with all of a range, and where its byte 0 is in the buffer. It was used now.
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

    /// Takes out what is dead at a range: regions of memory that was there before, and those that were forgotten.
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

    /// Regions of a place that have a byte of a range.
    fn same(&self, place: &Place, range: &Range<u64>) -> impl Iterator<Item = (u64, &Kept)> {
        let tree = self.trees.get(&place.space);
        let tree = tree.map(|trees| &trees[place.permissions as usize]);
        tree.into_iter()
            .flat_map(|tree| overlapping(tree, range.clone()))
    }

    /// A range with all that overlaps it, which is then one.
    pub(super) fn with_overlapping(&self, place: &Place, range: &Range<u64>) -> Range<u64> {
        let all = self.same(place, range);
        all.fold(range.clone(), |all, (start, kept)| {
            all.start.min(start)..all.end.max(kept.end)
        })
    }

    /// Begins a registration, unless one goes on with some of it. Gives its number.
    pub(super) fn begin(&mut self, place: &Place, range: &Range<u64>) -> Option<u64> {
        let taken = |going: &Going| going.place.beside(place) && overlap(&going.range, range);
        // What is dead is other memory, or what nobody shall have.
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

    /// A registration has ended.
    pub(super) fn end(&mut self, number: u64) {
        self.going.retain(|going| going.number != number);
    }

    /// A registration goes on with less: takes out what was to become one with it, and with `all` what nobody uses.
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

    /// Keeps what a registration gave of a range, unless the memory was freed meanwhile, or there is no room for it.
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
        // What others have registered meanwhile, wider than they were asked for, can have some of what was asked for here. Then
        // nobody would find this, but for a part: the next who asks registers all of it.
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

    /// The part of a range that no kept region has, unless that lies within the range: those go, and are named. The part
    /// has no bytes, or less than none, where a region has all of the range.
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

    /// Whether there is room for so many bytes, made of what was used longest ago.
    fn make_room(
        &mut self,
        place: &Place,
        length: u64,
        limits: &Limits,
        out: &mut Vec<Gone>,
    ) -> bool {
        // What never fits takes nothing with it.
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
            // Where only a BAR is full, what is behind others need not go.
            match self.evict(|kept| full || kept.bar == place.bar) {
                Some(gone) => out.push(gone),
                None => return false,
            }
        }
    }

    /// Takes out the region of a kind that was used longest ago, and that nobody uses. It looks at all of them: a
    /// registration, which this makes room for, costs more.
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

    /// Takes out all regions of a kind; what is being registered of it will not be kept.
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

    /// All regions of a kind.
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
