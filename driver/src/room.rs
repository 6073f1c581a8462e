// SPDX-License-Identifier: GPL-2.0

//! Room for a region: cached regions are evicted for it.
//!
//! Locked memory and room in a BAR do not belong to one board. Where the board's own regions are not enough, those of
//! other boards go, too.
//!
//! Before regions are evicted for entries of the ATT, the driver works out whether that helps, and how many it takes.
//! It evicts none if all would not be enough, and waits a moment first if the entries are about to come free by
//! themselves because only old descriptors name them. The context's own go first, then the oldest of the others, and
//! of them only those that lie where the new region goes.

use crate::{
    board::{Board, Departures, Need},
    context::Context,
    ffi::peerlane_is_killed,
    logic::{att::EntrySet, kept, quota::Freed, regs::chan},
    memory::{dmabuf::Exporter, host::Payer},
    regions::Region,
};
use core::{ops::Range, ptr};
use kernel::{
    prelude::*,
    time::{delay::fsleep, Delta, Instant, Monotonic},
};

/// Resources of which too little was found for a region.
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

impl Short {
    /// Whether other boards use the same resource.
    fn is_of_all_boards(self) -> bool {
        matches!(self, Self::Locked | Self::Bar(..))
    }

    /// Whether a region that used the resource was cached before, and is not any more.
    fn may_have_come(self, before: &Departures, now: &Departures) -> bool {
        match self.is_of_all_boards() {
            true => before.all != now.all,
            false => before.own != now.own,
        }
    }
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

/// Time for which a region is tried again after regions were evicted for it: another process may cache a region in
/// the meantime.
const PATIENCE: Delta = Delta::from_secs(1);

/// Least number of tries: on a busy machine one try can take longer than [`PATIENCE`].
const LEAST_TRIES: u32 = 16;

/// Pause between two looks for entries that come free by themselves.
const PAUSE: Delta = Delta::from_millis(2);

/// Largest number of looks for such entries before regions are evicted instead: their descriptors may take long.
const MOST_WAITS: u32 = 10;

/// The search of one call for room. While it lives, contexts whose regions were evicted cache nothing.
pub(crate) struct Room<'a> {
    context: &'a Context,
    need: Need<'a>,
    since: Option<Instant<Monotonic>>,
    tries: u32,
    /// Times that entries were waited for which come free by themselves.
    waits: u32,
    /// Bytes of other contexts that were evicted for room in a BAR.
    evicted: u64,
}

/// A cached region that may be evicted.
struct Candidate {
    channel: u32,
    place: u64,
    entries: Range<u32>,
}

/// Returns the place of a cached region among those that may be evicted, from 1: the context's own first, then the
/// oldest.
fn place(region: &Region, is_own: bool) -> u64 {
    let place = region.given_back() + 1;
    match is_own {
        true => place,
        false => place | 1 << 63,
    }
}

impl<'a> Room<'a> {
    /// Makes a search that has not begun.
    pub(crate) fn new(context: &'a Context) -> Self {
        Self {
            context,
            need: context.board.need(),
            since: None,
            tries: 0,
            waits: 0,
            evicted: 0,
        }
    }

    /// Runs `f`. If `f` fails because it finds too little of a resource, as `short` determines from its error, and
    /// regions can be evicted for that, they are evicted, and `f` runs again.
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
            // SAFETY: the call only reads the state of the calling thread.
            if unsafe { peerlane_is_killed() } {
                return Err(EINTR);
            }
            // Unbind may wait for this thread already: it is not let in again then.
            let inside = board.gate.enter()?;
            let mut done = self.make(short)?;
            drop(inside);
            if done == Done::Nothing {
                done = self.make_elsewhere(short)?;
            }
            match done {
                Done::Evicted => {}
                // A region that was cached when `f` was refused, and is not any more, may be all that is needed.
                Done::Nothing if !short.may_have_come(&departures, &board.departures()) => return Err(error),
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
                    Ok(self.make_on(&context.board, is_ours, Region::is_released_by_caller))
                }
                Short::Locked | Short::Bar(..) => self.make_for_others(&context.board, short),
            }
        })
    }

    /// Evicts cached regions of other boards, where these can help. The caller has no lock of its own board.
    fn make_elsewhere(&mut self, short: Short) -> Result<Done> {
        let mut done = Ok(Done::Nothing);
        if short.is_of_all_boards() {
            self.context.board.for_each_other(|other| {
                if matches!(done, Ok(Done::Nothing)) {
                    done = other.let_go(|| self.make_for_others(other, short));
                }
            });
        }
        done
    }

    /// Evicts cached regions of a board for something that all boards share.
    fn make_for_others(&mut self, board: &Board, short: Short) -> Result<Done> {
        match short {
            Short::Locked => {
                let payer = Payer::caller()?;
                let helps = |region: &Region| region.memory().weighs_on(&payer);
                Ok(self.make_on(board, |_| true, helps))
            }
            Short::Bar(exporter, bytes) => Ok(self.make_bar(board, exporter, bytes)),
            Short::Entries(_) | Short::Share(_) | Short::Pinned => Ok(Done::Nothing),
        }
    }

    /// Evicts all cached regions of a board that `goes` accepts, of all contexts.
    fn evict_on(&mut self, board: &Board, mut goes: impl FnMut(&Context, &Region) -> bool) -> Done {
        let own = self.context;
        let is_own = ptr::eq(board, &*own.board);
        let mut done = Done::Nothing;
        board.for_each_user(|user| {
            if user.evict(|region, _| goes(user, region)) {
                if is_own && user.channel != own.channel {
                    self.need.press(user.channel);
                }
                done = Done::Evicted;
            }
        });
        done
    }

    /// Evicts all cached regions of the context's board that `goes` accepts.
    fn evict(&mut self, goes: impl FnMut(&Context, &Region) -> bool) -> Done {
        let context = self.context;
        self.evict_on(&context.board, goes)
    }

    /// Evicts all regions of the context that help, on its own board. If there is no such region, evicts those of
    /// other contexts of the board.
    fn make_on(
        &mut self,
        board: &Board,
        who: impl Fn(&Context) -> bool,
        mut helps: impl FnMut(&Region) -> bool,
    ) -> Done {
        let own = self.context;
        match ptr::eq(board, &*own.board) && own.evict(|region, _| helps(region)) {
            true => Done::Evicted,
            false => self.evict_on(board, |user, region| who(user) && helps(region)),
        }
    }

    /// Evicts dma-bufs of an exporter. Its driver does not report how much room it has. So one call evicts at most
    /// twice the bytes that it needs.
    fn make_bar(&mut self, board: &Board, exporter: Option<Exporter>, bytes: u64) -> Done {
        let mut left = (2 * bytes).saturating_sub(self.evicted);
        let before = left;
        let done = self.make_on(
            board,
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
        let mut otherwise = Done::Nothing;
        if taken.free_run(entries, count).is_some() {
            self.waits += 1;
            if self.waits <= MOST_WAITS {
                return Ok(Done::Wait);
            }
            taken = board.entries_taken(storage()?);
            otherwise = Done::Wait;
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
            return Ok(otherwise);
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
        let is_ours = |user: &Context| context.has_user_of(user);
        let candidates = self.candidates(is_ours)?;
        let may_have = |soon: &Freed, first: usize| {
            let mut freed = *soon;
            for candidate in &candidates[..first] {
                freed[candidate.channel as usize] += candidate.entries.len() as u32;
            }
            context.board.with_quota(|quota| quota.would_take(own, count, &freed))
        };
        let mut soon = [0; chan::COUNT];
        context.board.each_lingering(|channel, run| soon[channel as usize] += run.len() as u32);
        let mut otherwise = Done::Nothing;
        if may_have(&soon, 0) {
            self.waits += 1;
            if self.waits <= MOST_WAITS {
                return Ok(Done::Wait);
            }
            soon = [0; chan::COUNT];
            otherwise = Done::Wait;
        }
        let Some(first) = least(candidates.len(), |first| may_have(&soon, first)) else {
            return Ok(otherwise);
        };
        let Some(last) = candidates[..first].last() else {
            return Ok(Done::Wait);
        };
        let last = last.place;
        Ok(self.evict(|user, region| {
            is_ours(user) && place(region, user.channel == own) <= last
        }))
    }

    /// Returns all cached regions with entries, of these contexts, in the order in which they are evicted.
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
                // A region that was cached in the meantime counts as used.
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

/// Returns the least number up to `most` for which `enough` is true. `enough` must be true for all larger numbers.
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
