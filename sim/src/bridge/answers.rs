//! Completions in the bridge, and the words that it gives out of them.
//!
//! The bridge's memory for completions has 8 places of 512 bytes, and a tag's is its number modulo 8. The words of a tag
//! are written one after the other, the last one with a mark. When the last completion of the tag whose turn it is has
//! come, its place is read from its beginning up to the mark. Nothing compares the place's contents with the tag: with
//! more than 8 tags under way, which takes requests of less than 512 bytes, an answer that comes early overwrites one
//! that waits (RTL that Quartus 16.0 generates for the Stratix V Avalon-MM bridge, 128 bits).

use std::collections::VecDeque;

use super::{BURST_BYTES, COMPLETION_CYCLES, READS, TAGS};
use crate::pcie::Arrived;

/// Cycles from the first beat of a completion at the bridge to the one in which its place is taken for full.
const RECEIVE: u64 = 8;

/// Widest word in bytes.
pub(crate) const WIDEST: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Word {
    data: [u8; WIDEST],
    /// The last one of its tag.
    end: bool,
}

/// A completion with data on its way through the bridge.
#[derive(Debug)]
struct Coming {
    at: u64,
    tag: usize,
    words: Vec<Word>,
    last: bool,
}

/// A read that is owed words.
#[derive(Debug, Clone, Copy)]
struct Owed {
    words: u32,
    given: u32,
    /// When it was taken, in femtoseconds.
    since: u64,
}

#[derive(Debug)]
pub(crate) struct Answers {
    /// Bytes of a word.
    width: usize,
    places: Vec<Word>,
    /// Where the next word of each tag goes in its place.
    next: [usize; TAGS],
    /// The last completion of a tag has come, and it has not been given out.
    full: [bool; TAGS],
    /// The tag whose turn it is.
    turn: usize,
    /// Words given out of its place.
    given: usize,
    /// A tag has ended in the cycle before.
    pause: bool,
    coming: VecDeque<Coming>,
    /// Cycle in which the bridge takes the next completion.
    free: u64,
    owed: VecDeque<Owed>,
    /// Reads that ended in this cycle and in the one before: the bridge still counts them.
    ending: u8,
    /// Tags that are in use.
    pub(super) tags: u32,
}

/// A word for the master.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    pub data: [u8; WIDEST],
    /// When the read was taken whose last word it is.
    pub ended: Option<u64>,
}

impl Answers {
    pub(super) fn new(width: u32) -> Self {
        let empty = Word {
            data: [0xEE; WIDEST],
            end: false,
        };
        let width = width as usize;
        Self {
            width,
            places: vec![empty; (READS * BURST_BYTES) as usize / width],
            next: [0; TAGS],
            full: [false; TAGS],
            turn: 0,
            given: 0,
            pause: false,
            coming: VecDeque::new(),
            free: 0,
            owed: VecDeque::new(),
            ending: 0,
            tags: 0,
        }
    }

    /// Reads that are owed words.
    pub(super) fn owed(&self) -> usize {
        self.owed.len()
    }

    /// Whether no further read is taken.
    pub(super) fn full(&self) -> bool {
        self.owed.len() as u32 + self.ending.count_ones() >= READS
    }

    /// A read was taken.
    pub(super) fn owe(&mut self, words: u32, since: u64) {
        self.owed.push_back(Owed {
            words,
            given: 0,
            since,
        });
    }

    /// Whether the bridge takes a completion in this cycle.
    pub(super) fn ready(&self, cycle: u64) -> bool {
        self.free <= cycle
    }

    /// The bridge takes a completion. It looks at its tag alone, not at the requester or at a mark of poisoned
    /// data. One without data it drops, and the tag's turn never ends.
    pub(super) fn take(&mut self, cycle: u64, completion: &Arrived<'_>) {
        let lane = (completion.address % self.width as u64) as usize;
        let count = (lane + completion.data.len()).div_ceil(self.width);
        self.free = cycle + u64::from(COMPLETION_CYCLES) + count as u64;
        let tag = usize::from(completion.tag);
        if completion.data.is_empty() || tag >= TAGS {
            return;
        }
        let (mut rest, mut from) = (completion.data, lane);
        let mut words = Vec::with_capacity(count);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.width - from));
            // The bytes next to the ones asked for are undefined.
            let mut data = [0xEE; WIDEST];
            data[from..from + now.len()].copy_from_slice(now);
            let end = completion.last && later.is_empty();
            words.push(Word { data, end });
            (rest, from) = (later, 0);
        }
        self.coming.push_back(Coming {
            at: cycle + RECEIVE,
            tag,
            words,
            last: completion.last,
        });
    }

    fn place(&self, tag: usize, word: usize) -> usize {
        let words = BURST_BYTES as usize / self.width;
        tag % READS as usize * words + word % words
    }

    /// A cycle: writes the completions that have come into their places.
    #[inline]
    pub(super) fn store(&mut self, cycle: u64) {
        self.ending = self.ending << 1 & 0b11;
        while self.coming.front().is_some_and(|coming| coming.at <= cycle)
            && let Some(coming) = self.coming.pop_front()
        {
            for (n, word) in coming.words.iter().enumerate() {
                let place = self.place(coming.tag, self.next[coming.tag] + n);
                self.places[place] = *word;
            }
            self.next[coming.tag] += coming.words.len();
            if coming.last {
                self.next[coming.tag] = 0;
                self.full[coming.tag] = true;
            }
        }
    }

    /// The word that the master sees in the next cycle. Between two tags a cycle passes.
    #[inline]
    pub(super) fn give(&mut self) -> Option<Given> {
        if std::mem::take(&mut self.pause) || !self.full[self.turn] {
            return None;
        }
        let word = self.places[self.place(self.turn, self.given)];
        self.given += 1;
        if word.end {
            self.full[self.turn] = false;
            self.turn = (self.turn + 1) % TAGS;
            self.given = 0;
            self.pause = true;
            self.tags = self.tags.saturating_sub(1);
        }
        let mut ended = None;
        if let Some(owed) = self.owed.front_mut() {
            owed.given += 1;
            if owed.given == owed.words {
                ended = Some(owed.since);
                self.ending |= 1;
                self.owed.pop_front();
            }
        }
        Some(Given {
            data: word.data,
            ended,
        })
    }
}
