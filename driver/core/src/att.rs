// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address translation table (ATT): page sizes, entries, addresses, and the
//! allocator of its entries.
//!
//! The table maps the addresses that a descriptor may name to bus addresses. An ATT address is `(first entry << page
//! shift) + byte offset`, with the page size in its top two bits; the bits above the shift are the entry index.

use super::bits;
use super::regs;
use core::fmt;
use core::ops::{Deref, DerefMut, Range};

pub use super::regs::PageSize;

/// Entries of the largest ATT (the entry index has 16 bits).
pub const MAX_ENTRIES: u32 = regs::att::ENTRIES as u32;

impl PageSize {
    /// All page sizes, largest first.
    pub const LARGEST_FIRST: [Self; 3] = [Self::Mib2, Self::Kib64, Self::Kib4];

    /// Returns log2 of the size in bytes.
    pub const fn shift(self) -> u32 {
        match self {
            Self::Kib4 => 12,
            Self::Kib64 => 16,
            Self::Mib2 => 21,
        }
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }

    /// Returns `address` rounded down to a page boundary.
    pub const fn floor(self, address: u64) -> u64 {
        address & !(self.bytes() - 1)
    }

    /// Returns the offset of `address` in its page.
    pub const fn offset(self, address: u64) -> u64 {
        address & (self.bytes() - 1)
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kib4 => "4 KiB",
            Self::Kib64 => "64 KiB",
            Self::Mib2 => "2 MiB",
        })
    }
}

/// Rights of the board to a region. "Read" and "write" are the board's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permissions {
    /// The board may read: the region can be the source of a read transfer.
    Read,
    /// The board may write: the region can be the destination of a write transfer.
    Write,
    /// Both.
    ReadWrite,
}

impl Permissions {
    /// Whether the board may read.
    pub const fn read(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether the board may write.
    pub const fn write(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }
}

/// A valid ATT entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Bus address of the page; a multiple of the page size.
    pub address: u64,
    /// Size of the page.
    pub page_size: PageSize,
    /// Rights of the board.
    pub permissions: Permissions,
}

/// Reasons why an entry cannot be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryError {
    /// The bus address is not a multiple of the page size.
    Unaligned {
        /// The bus address.
        address: u64,
        /// The page size.
        page_size: PageSize,
    },
    /// Reserved bits, an unknown page size, or an entry that permits nothing.
    Malformed {
        /// The entry as read.
        raw: u64,
    },
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unaligned { address, page_size } => {
                write!(
                    f,
                    "bus address {address:#x} is not a multiple of {page_size}"
                )
            }
            Self::Malformed { raw } => write!(f, "{raw:#018x} is not an ATT entry"),
        }
    }
}

impl core::error::Error for EntryError {}

impl Entry {
    /// The encoding of an entry that maps nothing.
    pub const INVALID: u64 = 0;

    /// Returns the 64-bit encoding; the low dword is written first.
    pub fn encode(&self) -> Result<u64, EntryError> {
        if self.page_size.offset(self.address) != 0 {
            return Err(EntryError::Unaligned {
                address: self.address,
                page_size: self.page_size,
            });
        }
        Ok(self.record().entry)
    }

    fn record(&self) -> regs::AttEntry {
        let mut record = regs::AttEntry::default()
            .with_entry_valid(true)
            .with_entry_device_read(self.permissions.read())
            .with_entry_device_write(self.permissions.write())
            .with_entry_page_size(self.page_size);
        // Aligned, so the bits below are free.
        record.entry |= self.address;
        record
    }

    /// Decodes an entry; `None` if its valid bit is clear.
    pub fn decode(raw: u64) -> Result<Option<Self>, EntryError> {
        let record = regs::AttEntry { entry: raw };
        if !record.entry_valid() {
            return Ok(None);
        }
        let malformed = EntryError::Malformed { raw };
        let page_size = record.entry_page_size().map_err(|_| malformed)?;
        let permissions = match (record.entry_device_read(), record.entry_device_write()) {
            (true, true) => Permissions::ReadWrite,
            (true, false) => Permissions::Read,
            (false, true) => Permissions::Write,
            (false, false) => return Err(malformed),
        };
        let entry = Self {
            address: page_size.floor(raw),
            page_size,
            permissions,
        };
        // All bits that it does not hold must be zero.
        if entry.record() != record {
            return Err(malformed);
        }
        Ok(Some(entry))
    }
}

/// An address as a descriptor names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttAddress(u64);

impl AttAddress {
    /// Returns the address `offset` bytes after the start of entry `first`. `None` if it is after the last entry that
    /// any table can have.
    pub fn new(page_size: PageSize, first: u32, offset: u64) -> Option<Self> {
        let linear = (u64::from(first) << page_size.shift()).checked_add(offset)?;
        let entry = linear >> page_size.shift();
        (entry < u64::from(MAX_ENTRIES)).then(|| {
            let descriptor = regs::Descriptor::default()
                .with_peer_page_size(page_size)
                .with_peer_address(linear);
            Self(descriptor.peer)
        })
    }

    /// Returns the address of a raw value, as found in a descriptor or completion record.
    pub fn from_raw(raw: u64) -> Option<Self> {
        let descriptor = Self(raw).descriptor();
        let page_size = descriptor.peer_page_size().ok()?;
        Self::new(page_size, 0, descriptor.peer_address())
    }

    /// Returns the value in a descriptor.
    pub const fn raw(self) -> u64 {
        self.0
    }

    fn descriptor(self) -> regs::Descriptor {
        regs::Descriptor {
            peer: self.0,
            ..Default::default()
        }
    }

    /// Returns the page size that it was made with.
    pub fn page_size(self) -> PageSize {
        // Both constructors take a page size, so the code is known.
        self.descriptor().peer_page_size().unwrap_or(PageSize::Kib4)
    }

    fn linear(self) -> u64 {
        self.descriptor().peer_address()
    }

    /// Returns the index of its entry.
    pub fn entry(self) -> u32 {
        (self.linear() >> self.page_size().shift()) as u32
    }

    /// Returns the byte offset in that entry's page.
    pub fn page_offset(self) -> u64 {
        self.page_size().offset(self.linear())
    }

    /// Returns the address `bytes` further on, under the same limit as [`AttAddress::new`].
    pub fn checked_add(self, bytes: u64) -> Option<Self> {
        Self::new(self.page_size(), 0, self.linear().checked_add(bytes)?)
    }

    /// Returns how many bytes `self` is after `base`, if it is and the page sizes agree.
    pub fn offset_from(self, base: Self) -> Option<u64> {
        if self.page_size() != base.page_size() {
            return None;
        }
        self.linear().checked_sub(base.linear())
    }
}

impl fmt::Display for AttAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "entry {} + {:#x} ({} pages)",
            self.entry(),
            self.page_offset(),
            self.page_size()
        )
    }
}

/// A run of consecutive entries, owned. Only the allocator makes one, and frees it by value: a run is freed once.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    first: u32,
    count: u32,
}

impl Run {
    /// Returns the index of the first entry.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the number of entries, at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the entries' indices.
    pub fn indices(&self) -> Range<u32> {
        // The allocator makes no run that ends after its table.
        self.first..self.first + self.count
    }
}

/// Reasons for a failure of the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocError {
    /// The table size is not 1 to 65536 entries, or the storage is too small.
    Storage {
        /// Entries asked for.
        entries: u32,
        /// Words of storage given.
        words: usize,
    },
    /// A run of no entries was asked for.
    Zero,
    /// No free run is long enough.
    Full {
        /// Entries asked for.
        wanted: u32,
        /// The longest free run.
        largest: u32,
        /// Free entries in all.
        free: u32,
    },
    /// The run that was to be freed is not one that this allocator has allocated.
    NotAllocated {
        /// Its first entry.
        first: u32,
        /// Its number of entries.
        count: u32,
    },
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Storage { entries, words } => write!(
                f,
                "{words} words of storage do not suit an ATT of {entries} entries"
            ),
            Self::Zero => f.write_str("a run without ATT entries was asked for"),
            Self::Full {
                wanted,
                largest,
                free,
            } => write!(
                f,
                "{wanted} consecutive ATT entries are not free: {free} are free in all, {largest} in the longest run"
            ),
            Self::NotAllocated { first, count } => write!(
                f,
                "ATT entries {first}..{} were not allocated as one run",
                u64::from(*first) + u64::from(*count)
            ),
        }
    }
}

impl core::error::Error for AllocError {}

/// Entries of a table, one bit each, in storage given by the caller.
#[derive(Debug)]
pub struct EntrySet<S> {
    words: S,
}

impl<S: Deref<Target = [u64]> + DerefMut> EntrySet<S> {
    /// Words of storage for a table of `entries`.
    pub const fn words(entries: u32) -> usize {
        entries.div_ceil(u64::BITS) as usize
    }

    /// Makes an empty set. The storage's content is overwritten. Entries for which the storage has no bit are never
    /// in it.
    pub fn new(mut words: S) -> Self {
        words.fill(0);
        Self { words }
    }

    /// Makes it the same as another set.
    pub fn copy_from(&mut self, other: &Self) {
        self.copy(&other.words);
    }

    fn copy(&mut self, words: &[u64]) {
        for (word, other) in self.words.iter_mut().zip(words) {
            *word = *other;
        }
    }

    /// Removes a run of entries.
    pub fn remove(&mut self, run: Range<u32>) {
        bits::fill(&mut self.words, run.start, run.len() as u32, false);
    }

    /// Returns the first run of `count` entries that are not in it, of a table of so many.
    pub fn free_run(&self, entries: u32, count: u32) -> Option<Range<u32>> {
        let run = free_runs(&self.words, entries).find(|run| run.len() >= count as usize)?;
        Some(run.start..run.start + count)
    }
}

/// Returns the longest runs of bits that are clear, by rising index, of so many.
fn free_runs(words: &[u64], entries: u32) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut at = 0;
    core::iter::from_fn(move || {
        let first = bits::find(words, at, entries, false);
        at = bits::find(words, first, entries, true);
        (at > first).then_some(first..at)
    })
}

/// Allocator of runs of ATT entries: best fit, lowest index among equals.
///
/// The state is two bitmaps in storage given by the caller (one bit for "in use",
/// one for "a run starts here"), so free neighbours coalesce by themselves and
/// freeing cannot fail for want of memory.
#[derive(Debug)]
pub struct AttAllocator<S> {
    storage: S,
    entries: u32,
    free: u32,
}

impl<S: Deref<Target = [u64]> + DerefMut> AttAllocator<S> {
    /// Returns the words of storage for a table of `entries`.
    pub const fn words(entries: u32) -> usize {
        2 * entries.div_ceil(u64::BITS) as usize
    }

    /// Makes an allocator with all `entries` free. The content of the storage is overwritten.
    pub fn new(mut storage: S, entries: u32) -> Result<Self, AllocError> {
        let words = storage.len();
        if entries == 0 || entries > MAX_ENTRIES || words < Self::words(entries) {
            return Err(AllocError::Storage { entries, words });
        }
        storage.fill(0);
        Ok(Self {
            storage,
            entries,
            free: entries,
        })
    }

    /// Returns the number of entries in the table.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Returns the number of free entries, in all runs together.
    pub fn free_entries(&self) -> u32 {
        self.free
    }

    fn split(&self) -> (&[u64], &[u64]) {
        self.storage.split_at(Self::words(self.entries) / 2)
    }

    fn split_mut(&mut self) -> (&mut [u64], &mut [u64]) {
        let half = Self::words(self.entries) / 2;
        self.storage.split_at_mut(half)
    }

    /// Returns the longest free runs, by rising index.
    fn free_runs(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        free_runs(self.split().0, self.entries)
    }

    /// Returns the length of the longest free run, 0 if the table is full.
    pub fn largest_free(&self) -> u32 {
        self.free_runs()
            .map(|run| run.len() as u32)
            .max()
            .unwrap_or(0)
    }

    /// Returns the entries that are taken, in other storage.
    pub fn taken<T: Deref<Target = [u64]> + DerefMut>(&self, storage: T) -> EntrySet<T> {
        let mut taken = EntrySet::new(storage);
        taken.copy(self.split().0);
        taken
    }

    /// Allocates `count` consecutive entries.
    pub fn allocate(&mut self, count: u32) -> Result<Run, AllocError> {
        if count == 0 {
            return Err(AllocError::Zero);
        }
        let fitting = self.free_runs().filter(|run| run.len() >= count as usize);
        let Some(Range { start: first, .. }) = fitting.min_by_key(|run| run.len()) else {
            return Err(AllocError::Full {
                wanted: count,
                largest: self.largest_free(),
                free: self.free,
            });
        };
        let (used, starts) = self.split_mut();
        bits::fill(used, first, count, true);
        bits::fill(starts, first, 1, true);
        self.free -= count;
        Ok(Run { first, count })
    }

    /// Frees a run.
    pub fn free(&mut self, run: Run) -> Result<(), AllocError> {
        let Run { first, count } = run;
        let refused = AllocError::NotAllocated { first, count };
        let end = first
            .checked_add(count)
            .filter(|end| *end <= self.entries)
            .ok_or(refused)?;
        let (used, starts) = self.split();
        let whole = bits::get(starts, first)
            && bits::find(used, first, end, false) == end
            && bits::find(starts, first + 1, end, true) == end
            // The next entry must not be the rest of a longer run.
            && (end == self.entries || !bits::get(used, end) || bits::get(starts, end));
        if !whole {
            return Err(refused);
        }
        let (used, starts) = self.split_mut();
        bits::fill(used, first, count, false);
        bits::fill(starts, first, 1, false);
        self.free += count;
        Ok(())
    }
}

#[cfg(test)]
#[path = "att_tests.rs"]
mod tests;
