// SPDX-License-Identifier: GPL-2.0

//! Room for a region: cached regions are evicted for it.
//!
//! Before regions are evicted for entries of the ATT, the driver works out whether that helps, and how many it takes.
//! It evicts none if all would not be enough, or if the entries are about to come free by themselves because only old
//! descriptors name them. The context's own go
//! first, then the oldest of the others, and of them only those that lie where the new region goes.

use crate::{
    board::Need,
    context::Context,
    ffi::peerlane_is_killed,
    logic::{att::EntrySet, kept, quota::Quota},
    memory::{dmabuf::Exporter, host::Payer},
    regions::Region,
};
use core::ops::Range;
use kernel::{
    prelude::*,
    time::{delay::fsleep, Delta, Instant, Monotonic},
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
    /// Room in the exporter's BAR, for so many bytes; `None`: the exporter is not known.
    Bar(Option<Exporter>, u64),
}

/// Result of a search for room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Nothing helps.
    Nothing,
    /// Regions were evicted, or are not needed any more.
    Evicted,
    /// Enough comes free by itself.
    Wait,
}

/// For how long a region is tried again after regions were evicted for it: another process may cache
/// something meanwhile.
const PATIENCE: Delta = Delta::from_secs(1);

/// How often at least: on a busy machine one try can take longer than [`PATIENCE`].
const LEAST_TRIES: u32 = 16;

/// Pause between two looks for entries that come free by themselves.
const PAUSE: Delta = Delta::from_millis(2);

/// The search of one call for room. While it lives, those whose regions were evicted cache nothing.
pub(crate) struct Room<'a> {
    context: &'a Context,
    need: Need<'a>,
    since: Option<Instant<Monotonic>>,
    tries: u32,
    /// Bytes of others' that were evicted for room in a BAR.
    evicted: u64,
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
            evicted: 0,
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
            match self.make(short)? {
                Done::Evicted => {}
                // A region that was cached when `f` was refused, and is not any more, may be all that is needed.
                Done::Nothing if departures == board.departures() => return Err(error),
                Done::Nothing => {}
                Done::Wait => fsleep(PAUSE),
            }
        }
    }

    /// Evicts regions. One thread at a time does this: regions that another thread evicts are gone afterwards.
    fn make(&mut self, short: Short) -> Result<Done> {
        let context = self.context;
        context.board.let_go(|| {
            // Useless regions that the work item has not evicted yet.
            if context.evict(|region, _| region.is_useless()) {
                return Ok(Done::Evicted);
            }
            match short {
                Short::Entries(count) => self.make_entries(count),
                Short::Share(count) => self.make_share(count),
                Short::Pinned => {
                    let is_ours = |other: &Context| context.has_user_of(other);
                    Ok(self.make_if(is_ours, Region::is_released_by_caller))
                }
                Short::Locked => {
                    let payer = Payer::caller()?;
                    Ok(self.make_if(|_| true, |region| region.memory().weighs_on(&payer)))
                }
                Short::Bar(exporter, bytes) => Ok(self.make_bar(exporter, bytes)),
            }
        })
    }

    /// Evicts all cached regions that `goes` accepts, of all contexts.
    fn evict(&mut self, mut goes: impl FnMut(&Context, &Region) -> bool) -> Done {
        let mut done = Done::Nothing;
        self.context.board.for_each_user(|user| {
            if user.evict(|region, _| goes(user, region)) {
                if user.channel != self.context.channel {
                    self.need.press(user.channel);
                }
                done = Done::Evicted;
            }
        });
        done
    }

    /// Evicts all regions of the context that help. If there are none, evicts those of other contexts.
    fn make_if(&mut self, who: impl Fn(&Context) -> bool, mut helps: impl FnMut(&Region) -> bool) -> Done {
        match self.context.evict(|region, _| helps(region)) {
            true => Done::Evicted,
            false => self.evict(|user, region| who(user) && helps(region)),
        }
    }

    /// Evicts dma-bufs of an exporter. Its driver does not report how much room it has. So one call evicts at most
    /// twice the bytes that it needs.
    fn make_bar(&mut self, exporter: Option<Exporter>, bytes: u64) -> Done {
        let mut left = (2 * bytes).saturating_sub(self.evicted);
        let before = left;
        let done = self.make_if(
            |_| true,
            |region| {
                let helps = left > 0 && region.memory().fills_the_bar_of(exporter);
                if helps {
                    left = left.saturating_sub(region.pinned_bytes());
                }
                helps
            },
        );
        self.evicted += before - left;
        done
    }

    /// Evicts regions for a run of entries.
    fn make_entries(&mut self, count: u32) -> Result<Done> {
        let (board, own) = (&self.context.board, self.context.channel);
        // The driver's own entries follow these.
        let (entries, _) = board.entries();
        let storage = || {
            let words = EntrySet::<KVVec<u64>>::words(entries);
            KVVec::from_elem(0, words, GFP_KERNEL)
        };
        let mut taken = board.entries_taken(storage()?);
        board.each_lingering(|_, run| taken.remove(run));
        if taken.free_run(entries, count).is_some() {
            return Ok(Done::Wait);
        }
        let candidates = self.candidates(|_| true)?;
        let mut after = EntrySet::new(storage()?);
        let mut run = |first: usize| {
            after.copy_from(&taken);
            for candidate in &candidates[..first] {
                after.remove(candidate.entries.clone());
            }
            after.free_run(entries, count)
        };
        let Some(first) = least(candidates.len(), |first| run(first).is_some()) else {
            return Ok(Done::Nothing);
        };
        let (Some(run), Some(last)) = (run(first), candidates[..first].last()) else {
            return Ok(Done::Evicted);
        };
        let last = last.place;
        Ok(self.evict(|user, region| {
            let entries = region.entries();
            place(region, user.channel == own) <= last
                && entries.start < run.end
                && run.start < entries.end
        }))
    }

    /// Evicts regions of the context's user for its share of the entries.
    fn make_share(&mut self, count: u32) -> Result<Done> {
        let (context, own) = (self.context, self.context.channel);
        let mut quota = context.board.with_quota(Quota::clone);
        context.board.each_lingering(|channel, run| quota.give(channel, run.len() as u32));
        let is_ours = |user: &Context| context.has_user_of(user);
        let candidates = self.candidates(is_ours)?;
        let may_have = |first: usize| {
            let mut after = quota.clone();
            for candidate in &candidates[..first] {
                after.give(candidate.channel, candidate.entries.len() as u32);
            }
            after.take(own, count).is_ok()
        };
        let Some(first) = least(candidates.len(), may_have) else {
            return Ok(Done::Nothing);
        };
        let Some(last) = candidates[..first].last() else {
            return Ok(Done::Wait);
        };
        let last = last.place;
        Ok(self.evict(|user, region| {
            is_ours(user) && place(region, user.channel == own) <= last
        }))
    }

    /// All that is cached and has entries, of these contexts, in the order in which it goes.
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
                // A region that was cached meanwhile counts as used.
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
        kept::sort(&mut candidates, |candidate| candidate.place);
        Ok(candidates)
    }
}

/// The least number up to `most` for which `enough` says yes, which does so for all above.
fn least(most: usize, mut enough: impl FnMut(usize) -> bool) -> Option<usize> {
    if !enough(most) {
        return None;
    }
    let (mut less, mut most) = (0, most);
    while less < most {
        let middle = less + (most - less) / 2;
        match enough(middle) {
            true => most = middle,
            false => less = middle + 1,
        }
    }
    Some(most)
}
