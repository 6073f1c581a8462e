// SPDX-License-Identifier: GPL-2.0

//! Room for a region: cached regions are evicted for it.
//!
//! Nobody else's are evicted in vain. Before regions go for entries of the ATT, the driver works out how many of them have to
//! go, and evicts none if all would not be enough. The context's own go first, then the oldest of the others.

use crate::{
    board::{Board, Need},
    context::Context,
    ffi::peerlane_is_killed,
    logic::{att::EntrySet, regs::chan},
    memory::{dmabuf::Exporter, host::Payer},
    regions::Region,
};
use core::ops::Range;
use kernel::{
    prelude::*,
    time::{Delta, Instant, Monotonic},
};

/// Something of which a region has found too little.
#[derive(Clone, Copy)]
pub(crate) enum Short {
    /// Entries of the ATT, one after the other, so many.
    Entries(u32),
    /// Entries of the ATT that the context's user may have, so many.
    Share(u32),
    /// Other devices' memory that the context's user may have pinned.
    Pinned,
    /// Memory that the calling process or its user may lock.
    Locked,
    /// Room in the BAR of whoever exports the memory; `None`: not known.
    Bar(Option<Exporter>),
}

/// For how long a region is tried again after regions were evicted for it: another process may cache
/// something meanwhile.
const PATIENCE: Delta = Delta::from_secs(1);

/// How often at least: on a busy machine one try can take longer than [`PATIENCE`].
const LEAST_TRIES: u32 = 16;

/// The search of one call for room. While it lives, those whose regions were evicted cache nothing.
pub(crate) struct Room<'a> {
    context: &'a Context,
    need: Need<'a>,
    since: Option<Instant<Monotonic>>,
    tries: u32,
}

/// A cached region that may be evicted.
struct Candidate {
    channel: u32,
    place: u64,
    entries: Range<u32>,
}

/// The place of a cached region among those that may be evicted, from 1: the context's own first, then the oldest.
fn place(region: &Region, is_own: bool) -> u64 {
    let place = region.given_back() + 1;
    match is_own {
        true => place,
        false => place | 1 << 63,
    }
}

impl<'a> Room<'a> {
    /// A search that has not begun.
    pub(crate) fn new(context: &'a Context) -> Self {
        Self {
            context,
            need: context.board.need(),
            since: None,
            tries: 0,
        }
    }

    /// Runs `f`. If it finds too little of something, as `short` says of its error, and regions can be evicted for that,
    /// they are, and `f` runs again.
    pub(crate) fn find<T>(
        &mut self,
        short: impl Fn(Error) -> Option<Short>,
        mut f: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        let board = &self.context.board;
        loop {
            let departures = board.departures();
            let error = match f() {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            let short = short(error).ok_or(error)?;
            let since: &Instant<Monotonic> = self.since.get_or_insert_with(Instant::now);
            self.tries += 1;
            if since.elapsed() > PATIENCE && self.tries > LEAST_TRIES {
                return Err(error);
            }
            // SAFETY: it looks at the calling thread.
            if unsafe { peerlane_is_killed() } {
                return Err(EINTR);
            }
            // Unbind may wait for this thread already: it is not let in again then.
            let _inside = board.gate.enter()?;
            let went = self.make(short)?;
            // A region that was cached when `f` was refused, and is not any more, may be all that is needed.
            if !went && departures == board.departures() {
                return Err(error);
            }
        }
    }

    /// Evicts regions. Returns whether there were any of use. One thread at a time does this: what another evicts is gone
    /// afterwards.
    fn make(&mut self, short: Short) -> Result<bool> {
        let board = self.context.board.clone();
        match short {
            Short::Entries(count) => board.let_go(|| self.make_entries(count, |_| true, Self::fits)),
            Short::Share(count) => {
                let context = self.context;
                board.let_go(|| {
                    self.make_entries(count, |other| context.has_user_of(other), Self::may_have)
                })
            }
            Short::Pinned => {
                let context = self.context;
                let is_ours = |other: &Context| context.has_user_of(other);
                Ok(board.let_go(|| self.make_if(is_ours, |region| region.kind().is_peer())))
            }
            Short::Locked => {
                let payer = Payer::caller()?;
                Ok(board.let_go(|| self.make_if(|_| true, |region| region.memory().weighs_on(&payer))))
            }
            Short::Bar(exporter) => {
                let helps = |region: &Region| region.memory().fills_the_bar_of(exporter);
                Ok(board.let_go(|| self.make_if(|_| true, helps)))
            }
        }
    }

    /// Evicts all regions of the context that help. If there are none, those of the others that do.
    fn make_if(&mut self, who: impl Fn(&Context) -> bool, helps: impl Fn(&Region) -> bool) -> bool {
        if self.context.evict(|region, _| helps(region)) {
            return true;
        }
        let mut went = false;
        self.context.board.for_each_user(|other| {
            if who(other) && other.evict(|region, _| helps(region)) {
                self.need.press(other.channel);
                went = true;
            }
        });
        went
    }

    /// Evicts as many regions as are needed, as `enough` says of a list of candidates: none, if all are not enough.
    fn make_entries(
        &mut self,
        count: u32,
        who: impl Fn(&Context) -> bool,
        enough: impl Fn(&Board, u32, u32, &mut dyn Iterator<Item = &Candidate>) -> Result<bool>,
    ) -> Result<bool> {
        let (board, own) = (&self.context.board, self.context.channel);
        let candidates = self.candidates(&who)?;
        let enough = |last: u64| {
            let mut first = candidates.iter().filter(|one| one.place <= last);
            enough(board, own, count, &mut first)
        };
        if !enough(u64::MAX)? {
            return Ok(false);
        }
        // The last one that has to go.
        let (mut less, mut last) = (0, u64::MAX);
        while less < last {
            let middle = less + (last - less) / 2;
            match enough(middle)? {
                true => last = middle,
                false => less = middle + 1,
            }
        }
        // Something may have come free meanwhile.
        let mut went = last == 0;
        board.for_each_user(|other| {
            let place = |region: &Region| place(region, other.channel == own);
            if who(other) && other.evict(|region, _| place(region) <= last) {
                if other.channel != own {
                    self.need.press(other.channel);
                }
                went = true;
            }
        });
        Ok(went)
    }

    /// All that is cached and has entries, of these contexts.
    fn candidates(&self, who: impl Fn(&Context) -> bool) -> Result<KVVec<Candidate>> {
        let board = &self.context.board;
        let mut count = 0;
        board.for_each_user(|other| count += other.regions.lock().cached().len());
        let mut candidates = KVVec::with_capacity(count, GFP_KERNEL)?;
        board.for_each_user(|other| {
            if !who(other) {
                return;
            }
            for region in other.regions.lock().cached() {
                // What is cached meanwhile is as good as used.
                if candidates.len() < candidates.capacity() {
                    let candidate = Candidate {
                        channel: other.channel,
                        place: place(region, other.channel == self.context.channel),
                        entries: region.entries(),
                    };
                    let _ = candidates.push(candidate, GFP_NOWAIT);
                }
            }
        });
        Ok(candidates)
    }

    /// Whether there would be a run of entries without these regions.
    fn fits(
        board: &Board,
        _: u32,
        count: u32,
        without: &mut dyn Iterator<Item = &Candidate>,
    ) -> Result<bool> {
        let words = EntrySet::<KVVec<u64>>::words(board.capabilities.att_entries());
        let mut spare = EntrySet::new(KVVec::from_elem(0, words, GFP_KERNEL)?);
        for candidate in without {
            spare.insert(candidate.entries.start, candidate.entries.len() as u32);
        }
        Ok(board.would_fit(count, &spare))
    }

    /// Whether the context's user might have so many entries without these regions.
    fn may_have(
        board: &Board,
        own: u32,
        count: u32,
        without: &mut dyn Iterator<Item = &Candidate>,
    ) -> Result<bool> {
        let mut spare = [0_u32; chan::COUNT];
        for candidate in without {
            if let Some(spare) = spare.get_mut(candidate.channel as usize) {
                *spare = spare.saturating_add(candidate.entries.len() as u32);
            }
        }
        let spare = |channel: u32| spare.get(channel as usize).copied().unwrap_or(0);
        Ok(board.with_quota(|quota| quota.would_take(own, count, spare)))
    }
}
