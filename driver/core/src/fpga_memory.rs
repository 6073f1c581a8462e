// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which channel has which part of the FPGA memory, and the knowledge about the content of the rest.
//!
//! A channel has one range at most, for the block allows only one. Free memory is not listed, so no ranges have to be
//! joined when one is freed. The content of free memory is unknown and may be data of other users. The exceptions are
//! a fixed number of [notes](Content); memory whose note was dropped counts as unknown. Users share the notes: a user
//! with more than a fair share of notes loses one of its own. So no user can end others' offers by making many.
//!
//! Ranges are taken from the top down, so that the memory for the [holder of all](FpgaMemory::allocate_all) begins at
//! 0 and is in one piece.

use super::regs::chan;
use super::window;
use core::fmt;
use core::ops::Range;

/// Ranges begin and end at multiples of this: 64 KiB, the size of the window in the BAR, so that the window can be
/// anywhere in them. (The block itself would take multiples of 4 KiB.)
pub const GRANULE: u64 = window::BYTES;

/// Number of notes about the content of free memory.
pub const NOTES: usize = 32;

/// Name of memory that was offered: a channel that knows it may take the memory over as it is.
#[derive(Clone, Copy)]
pub struct Token(pub [u64; 2]);

impl PartialEq for Token {
    /// Takes the same time however much of it is right.
    fn eq(&self, other: &Self) -> bool {
        let [a, b] = self.0;
        let [c, d] = other.0;
        a ^ c | b ^ d == 0
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    /// Hides the token, which is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Knowledge about the content of memory that is freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Unknown; it may be data of a user.
    Unknown,
    /// The driver has filled it with zeros from the start, and no process could reach it since.
    Zeros {
        /// Number of bytes that are zero so far.
        bytes: u64,
        /// The epoch of the [`Grant`] under which it was filled.
        epoch: u32,
    },
    /// Its owner lets a channel with the token take it over with all its contents.
    Offered {
        /// The token, and the user who offers it.
        offer: Offer,
        /// The [`FpgaMemory::epoch`] in which all of it was in the memory. It was read before the
        /// range was taken from its owner: a restart in between ends the offer.
        epoch: u32,
    },
}

/// Knowledge about free memory. All of `range` is free.
#[derive(Debug, Clone)]
struct Note {
    range: Range<u64>,
    /// `None`: the memory is zero.
    offer: Option<Offer>,
}

/// An offer of memory, and the user who made it. A channel that takes it over and fails offers it again unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    token: Token,
    user: u32,
    /// Its place in the order of age: `None` before it was noted.
    number: Option<u64>,
}

impl Offer {
    /// Creates a new offer by the user of this number.
    pub const fn new(token: Token, user: u32) -> Self {
        Self {
            token,
            user,
            number: None,
        }
    }
}

impl Note {
    fn user(&self) -> Option<u32> {
        self.offer.map(|offer| offer.user)
    }
}

/// Memory that a channel was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The FPGA addresses.
    pub range: Range<u64>,
    /// Number of bytes from the start that need not be filled with zeros before the owner can see the range.
    pub ready: u64,
    /// The [`FpgaMemory::epoch`] at that time.
    pub epoch: u32,
    /// The offer that was taken over, if any.
    pub offer: Option<Offer>,
}

impl Grant {
    /// Returns the content of the memory as long as no process could reach it, when `zeros` bytes from the start are
    /// zero: memory from an offer is still offered, unchanged.
    pub fn content(&self, zeros: u64) -> Content {
        let epoch = self.epoch;
        match self.offer {
            Some(offer) => Content::Offered { offer, epoch },
            None => Content::Zeros {
                bytes: zeros,
                epoch,
            },
        }
    }
}

/// Reasons why memory is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryError {
    /// A range of no bytes.
    Empty,
    /// The channel has a range.
    Exists,
    /// Another channel holds all.
    Held {
        /// The holder.
        channel: u32,
    },
    /// So much is not free in one piece.
    Full {
        /// Bytes asked for.
        wanted: u64,
        /// Bytes of the largest piece.
        largest: u64,
    },
    /// No memory is offered under this token; another channel may have it.
    NotOffered,
    /// The memory may have changed since it was granted, for the board was started again.
    Restarted,
    /// No build has a channel of this number.
    Channel(u32),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("a range without FPGA memory was asked for: ask for one byte at least")
            }
            Self::Exists => f.write_str("the channel has FPGA memory already: free it first"),
            Self::Held { channel } => write!(
                f,
                "channel {channel} holds all FPGA memory that is not allocated: close its file, or set a part aside by memory_pool_mib"
            ),
            Self::Full { wanted, largest } => write!(
                f,
                "{wanted:#x} bytes of FPGA memory are not free in one piece, the largest has \
                 {largest:#x}: ask for less, or close contexts that have FPGA memory"
            ),
            Self::NotOffered => f.write_str(
                "no FPGA memory is offered under this token any more: allocate without it",
            ),
            Self::Restarted => {
                f.write_str("the board was started again during the call: allocate once more")
            }
            Self::Channel(channel) => write!(f, "there is no channel {channel}"),
        }
    }
}

impl core::error::Error for MemoryError {}

/// A board's memory.
#[derive(Debug)]
pub struct FpgaMemory {
    /// End of the memory that channels may have, exclusive.
    end: u64,
    /// First byte of the memory of which channels take pieces; it ends at `end`.
    pool: u64,
    held: [Option<Range<u64>>; chan::COUNT],
    /// The channel that holds all memory that the others do not have.
    holder: Option<u32>,
    /// Notes, the oldest first.
    notes: [Option<Note>; NOTES],
    /// Number of offers that were made.
    offers: u64,
    /// Times that all notes were dropped.
    epoch: u32,
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl FpgaMemory {
    /// Creates a memory of `bytes` bytes; all of it is free and its content is unknown. Channels may take pieces of
    /// the last `pool` bytes; `None`: of all.
    pub fn new(bytes: u64, pool: Option<u64>) -> Self {
        let end = bytes - bytes % GRANULE;
        let pool = pool.unwrap_or(end).min(end);
        Self {
            end,
            pool: end - pool / GRANULE * GRANULE,
            held: [const { None }; chan::COUNT],
            holder: None,
            notes: [const { None }; NOTES],
            offers: 0,
            epoch: 0,
        }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Returns the number of times that all notes were dropped.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns the part of which channels may take pieces.
    pub fn pool(&self) -> Range<u64> {
        self.pool..self.end
    }

    /// Whether a channel holds all memory that the others do not have.
    pub fn holds_all(&self, channel: u32) -> bool {
        self.holder == Some(channel)
    }

    /// Returns the range of a channel.
    pub fn held(&self, channel: u32) -> Option<Range<u64>> {
        self.held.get(channel as usize)?.clone()
    }

    /// Returns the bytes of a channel that are charged to its user. The memory of the holder of all is charged to no
    /// user, for a user who may hold it may take all.
    pub fn charged(&self, channel: u32) -> u64 {
        match self.held(channel) {
            Some(range) if !self.holds_all(channel) => range.end - range.start,
            _ => 0,
        }
    }

    /// Returns the number of bytes that a request for `bytes` gets.
    pub fn rounded(bytes: u64) -> u64 {
        bytes.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX)
    }

    /// Returns the number of bytes that are offered under a token.
    pub fn offered(&self, token: Token) -> Result<u64, MemoryError> {
        let note = self.offer(token).ok_or(MemoryError::NotOffered)?;
        Ok(note.range.end - note.range.start)
    }

    fn offer(&self, token: Token) -> Option<&Note> {
        let mut notes = self.notes.iter().flatten();
        notes.find(|note| note.offer.is_some_and(|offer| offer.token == token))
    }

    /// Returns the number of bytes that no channel has.
    pub fn free_bytes(&self) -> u64 {
        let held = self.held.iter().flatten();
        self.end - held.map(|range| range.end - range.start).sum::<u64>()
    }

    fn check_new(&self, channel: u32) -> Result<(), MemoryError> {
        match self.held.get(channel as usize) {
            None => Err(MemoryError::Channel(channel)),
            Some(Some(_)) => Err(MemoryError::Exists),
            Some(None) => Ok(()),
        }
    }

    /// Returns the ranges that a new range must not overlap.
    fn obstacles(&self, offered: bool) -> impl Iterator<Item = &Range<u64>> + Clone {
        let notes = self.notes.iter().flatten();
        let avoided = notes.filter(move |note| offered && note.offer.is_some());
        Iterator::chain(self.held.iter().flatten(), avoided.map(|note| &note.range))
    }

    /// Returns the highest place in the pool for so many bytes.
    fn fit(&self, bytes: u64, offered: bool) -> Option<Range<u64>> {
        let obstacles = self.obstacles(offered);
        let ends = Iterator::chain([self.end].into_iter(), obstacles.clone().map(|o| o.start));
        let places = ends.filter_map(|end| Some(end.checked_sub(bytes)?..end));
        places
            .filter(|place| place.start >= self.pool && place.end <= self.end)
            .filter(|place| !obstacles.clone().any(|obstacle| overlap(obstacle, place)))
            .max_by_key(|place| place.end)
    }

    /// Returns the bytes of the largest free piece of the pool.
    fn largest(&self) -> u64 {
        let starts = self.held.iter().flatten().map(|range| range.end);
        let gap = |start: u64| {
            let later = self.held.iter().flatten().map(|range| range.start);
            let end = later.filter(|&later| later >= start).min();
            let end = end.map_or(self.end, |end| end.max(self.pool));
            let start = start.max(self.pool);
            end.saturating_sub(start)
        };
        Iterator::chain([0].into_iter(), starts)
            .map(gap)
            .max()
            .unwrap_or(0)
    }

    fn give(&mut self, channel: u32, range: Range<u64>, ready: u64) -> Grant {
        for place in &mut self.notes {
            // A note that is only partly in the range is dropped as a whole.
            if place
                .as_ref()
                .is_some_and(|note| overlap(&note.range, &range))
            {
                *place = None;
            }
        }
        if let Some(place) = self.held.get_mut(channel as usize) {
            *place = Some(range.clone());
        }
        Grant {
            range,
            ready,
            epoch: self.epoch,
            offer: None,
        }
    }

    /// Gives a channel without memory `bytes` bytes, in whole [`GRANULE`]s, in one piece. Memory that is offered is
    /// taken last.
    pub fn allocate(&mut self, channel: u32, bytes: u64) -> Result<Grant, MemoryError> {
        self.check_new(channel)?;
        if bytes == 0 {
            return Err(MemoryError::Empty);
        }
        let rounded = Self::rounded(bytes);
        let found = self.fit(rounded, true).or_else(|| self.fit(rounded, false));
        let range = found.ok_or_else(|| MemoryError::Full {
            wanted: bytes,
            largest: self.largest(),
        })?;
        let zeros = |note: &&Note| note.offer.is_none() && note.range.contains(&range.start);
        let known = self.notes.iter().flatten().find(zeros);
        let ready = known.map_or(0, |note| note.range.end.min(range.end) - range.start);
        Ok(self.give(channel, range, ready))
    }

    /// Gives a channel without memory the memory that is offered under a token, as it is.
    pub fn take_over(&mut self, channel: u32, token: Token) -> Result<Grant, MemoryError> {
        self.check_new(channel)?;
        let note = self.offer(token).ok_or(MemoryError::NotOffered)?;
        let (range, offer) = (note.range.clone(), note.offer);
        let ready = range.end - range.start;
        Ok(Grant {
            offer,
            ..self.give(channel, range, ready)
        })
    }

    /// Gives a channel without memory all memory below the ranges of others, as it is: `least` bytes or more. Where
    /// only a part is the pool, that is all the rest. One channel at a time can hold it.
    pub fn allocate_all(&mut self, channel: u32, least: u64) -> Result<Grant, MemoryError> {
        self.check_new(channel)?;
        if let Some(channel) = self.holder {
            return Err(MemoryError::Held { channel });
        }
        let limit = match self.pool {
            0 => self.end,
            pool => pool,
        };
        let held = self.held.iter().flatten().map(|range| range.start);
        let end = held.min().unwrap_or(limit).min(limit);
        if end < least.max(GRANULE) {
            return Err(MemoryError::Full {
                wanted: least.max(GRANULE),
                largest: end,
            });
        }
        self.holder = Some(channel);
        Ok(self.give(channel, 0..end, end))
    }

    /// Whether the knowledge about the content of a granted range is still valid. [`forget`](Self::forget)
    /// makes it invalid.
    pub fn confirm(&self, grant: &Grant) -> Result<(), MemoryError> {
        match grant.epoch == self.epoch {
            true => Ok(()),
            false => Err(MemoryError::Restarted),
        }
    }

    /// Frees a channel's range, if it has one. Nothing may be able to access it for the channel any more. The content
    /// that the holder of all reports for its range is not believed.
    pub fn free(&mut self, channel: u32, content: Content) {
        let held = self.held.get_mut(channel as usize).and_then(Option::take);
        let Some(range) = held else { return };
        if self.holder == Some(channel) {
            self.holder = None;
            return;
        }
        match content {
            Content::Zeros { bytes, epoch } if bytes > 0 && epoch == self.epoch => {
                let end = range.start.saturating_add(bytes).min(range.end);
                self.note(Note {
                    range: range.start..end,
                    offer: None,
                });
            }
            Content::Offered { mut offer, epoch } if epoch == self.epoch => {
                offer.number.get_or_insert_with(|| {
                    self.offers += 1;
                    self.offers
                });
                self.note(Note {
                    range,
                    offer: Some(offer),
                });
            }
            Content::Unknown | Content::Zeros { .. } | Content::Offered { .. } => {}
        }
    }

    /// Returns the user of each noted offer, in the order of the offers, oldest first.
    fn offerers(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + '_ {
        self.notes.iter().flatten().filter_map(Note::user)
    }

    /// Returns the note to drop, when all places are taken, for an offer of `user`'s or for zeros (`None`). Notes of
    /// zeros go first, for they only save work; for zeros nothing else goes. Otherwise it is the oldest offer of a
    /// user who has more than a fair share with the new one: of `user`, if that is so, or of the user with most
    /// offers.
    fn note_to_drop(&self, user: Option<u32>) -> Option<usize> {
        let first = |wanted: Option<u32>| {
            let mut notes = self.notes.iter();
            notes.position(|note| note.as_ref().is_some_and(|note| note.user() == wanted))
        };
        if let Some(zeros) = first(None) {
            return Some(zeros);
        }
        let user = user?;
        let count = |user| self.offerers().filter(|other| *other == user).count();
        let mut others = 0;
        for (index, other) in self.offerers().enumerate() {
            let again = self.offerers().take(index).any(|earlier| earlier == other);
            others += usize::from(!again && other != user);
        }
        let fair = (NOTES / (others + 1)).max(1);
        let loser = match count(user) + 1 > fair {
            true => user,
            // The last of equals is taken, so the one whose offer is the oldest.
            false => self.offerers().rev().max_by_key(|user| count(*user))?,
        };
        first(Some(loser))
    }

    fn note(&mut self, note: Note) {
        let free = self.notes.iter().position(Option::is_none);
        let Some(place) = free.or_else(|| self.note_to_drop(note.user())) else {
            return;
        };
        // Later notes move up.
        self.notes[place..].rotate_left(1);
        // A note that is offered again goes before notes that were made after it.
        let number = |note: &Note| note.offer.and_then(|offer| offer.number);
        let place = match number(&note) {
            None => NOTES - 1,
            own => {
                let mut notes = self.notes[..NOTES - 1].iter();
                let later =
                    notes.position(|other| other.as_ref().is_some_and(|other| number(other) > own));
                later.unwrap_or(NOTES - 1)
            }
        };
        self.notes[NOTES - 1] = Some(note);
        self.notes[place..].rotate_right(1);
    }

    /// Drops all knowledge about any memory: the board was reset, lost power or was configured again.
    pub fn forget(&mut self) {
        self.notes = [const { None }; NOTES];
        self.epoch = self.epoch.wrapping_add(1);
    }
}

#[cfg(test)]
#[path = "fpga_memory_tests.rs"]
mod tests;
