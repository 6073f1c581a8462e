//! Regions and the ATT: the owners of regions, and when a region can be freed.

use super::backend::{MemoryId, Pinned};
use super::board::Board;
use crate::error::{Error, Result};
use crate::memory::MemoryKind;
use peerlane_core::att::{AttAllocator, Permissions, Run};
use peerlane_core::capability::Capabilities;
use peerlane_core::layout::{LayoutError, Page, layout, pages};
use peerlane_core::owners::Owners;
use peerlane_core::region::Region;
use peerlane_core::table::{self, Reach};
use std::any::Any;
use std::collections::BTreeMap;

/// A region of a channel.
struct State {
    region: Region,
    channel: u32,
    kind: MemoryKind,
    pinned: Pinned,
    /// It is not needed any more, but the board has not confirmed that it is done with it. Its memory is kept.
    kept: bool,
    /// Its memory was unpinned on a board that was cut off. A board that answers again still has the entries.
    unpinned: bool,
    /// The board can never reach its memory again.
    dead: bool,
    /// Memory of the library that is dropped with it.
    memory: Option<Box<dyn Any + Send + Sync>>,
}

/// The regions of a board.
pub(crate) struct Regions {
    att: AttAllocator<Vec<u64>>,
    all: BTreeMap<u32, State>,
    /// Entries that map nothing any more, but that descriptors on their channel may still name.
    named: Vec<(u32, Run)>,
    last: u32,
}

impl Regions {
    pub(crate) fn new(entries: u32) -> Result<Self> {
        let words = AttAllocator::<Vec<u64>>::words(entries);
        let att = AttAllocator::new(vec![0; words], entries).map_err(Error::AttFull)?;
        Ok(Self {
            att,
            all: BTreeMap::new(),
            named: Vec::new(),
            last: 0,
        })
    }

    /// Maps memory that was pinned, with these permissions, and with pages of several sizes if that is allowed. Returns
    /// the region's name, and the region. On failure the memory is unpinned.
    pub(crate) fn register(
        &mut self,
        board: &mut Board,
        caps: &Capabilities,
        channel: u32,
        (kind, pinned, length): (MemoryKind, Pinned, u64),
        wanted: (Permissions, bool),
    ) -> Result<(u32, &Region)> {
        let id = pinned.id;
        match self.map(board, caps, channel, (kind, pinned, length), wanted) {
            Ok(state) => {
                // A name is used again only after all others: the library may unregister a region once more.
                loop {
                    self.last = self.last.wrapping_add(1);
                    if self.last != 0 && !self.all.contains_key(&self.last) {
                        break;
                    }
                }
                let name = self.last;
                Ok((name, &self.all.entry(name).or_insert(state).region))
            }
            Err(error) => {
                board.backend.unpin(id);
                Err(error)
            }
        }
    }

    fn map(
        &mut self,
        board: &mut Board,
        caps: &Capabilities,
        channel: u32,
        (kind, pinned, length): (MemoryKind, Pinned, u64),
        (permissions, mixed): (Permissions, bool),
    ) -> Result<State> {
        self.collect(board)?;
        let segments = || pinned.segments.iter().copied();
        let most = u64::from(self.att.entries());
        let mixed = mixed.then_some(self.att.entries());
        let too_large = |entries| Error::TooLarge {
            length,
            entries,
            most,
        };
        let layout =
            layout(segments(), pinned.offset, length, mixed).map_err(|error| match error {
                LayoutError::TooLong { entries } => too_large(entries),
                error => Error::Layout(error),
            })?;
        if u64::from(layout.entries) > most {
            return Err(too_large(layout.entries.into()));
        }
        let far = |page: &Page| {
            let end = page.address.checked_add(page.size.bytes() - 1);
            !end.is_some_and(|end| caps.reaches(end))
        };
        if let Some(page) = pages(segments(), pinned.offset, &layout).find(far) {
            return Err(Error::Unreachable {
                address: page.address,
                bits: caps.txs_addr_bits,
            });
        }
        let run = self.att.allocate(layout.entries).map_err(Error::AttFull)?;
        let owner = Owners::channel(channel);
        let region = match Region::new(run, &layout, permissions, owner) {
            Ok(region) => region,
            Err((run, error)) => {
                self.give_back(run)?;
                return Err(Error::Region(error));
            }
        };
        let state = State {
            region,
            channel,
            kind,
            pinned,
            kept: false,
            unpinned: false,
            dead: false,
            memory: None,
        };
        if let Err(error) = state.program(board) {
            // The entries that were written map only memory that the caller holds.
            let _ = state.invalidate(board);
            self.give_back(state.region.into_run())?;
            return Err(error);
        }
        Ok(state)
    }

    fn give_back(&mut self, run: Run) -> Result<()> {
        self.att.free(run).map_err(|error| Error::Broken {
            reason: error.to_string(),
        })
    }

    /// Returns a region of a channel, by its name.
    pub(crate) fn of(&self, channel: u32, name: u32) -> Option<&Region> {
        let state = self.all.get(&name);
        let state = state.filter(|state| state.channel == channel && !state.kept);
        state.map(|state| &state.region)
    }

    /// Leaks memory of kept regions: the board may reach it, and there is no driver that could reset the board.
    pub(crate) fn leak_kept(&mut self) {
        for state in self.all.values_mut() {
            std::mem::forget(state.memory.take());
        }
    }

    /// Keeps memory of the library as long as its region, which the board may still reach.
    pub(crate) fn keep(&mut self, name: u32, memory: Box<dyn Any + Send + Sync>) {
        if let Some(state) = self.all.get_mut(&name).filter(|state| state.kept) {
            state.memory = Some(memory);
        }
    }

    /// Unregisters a region at once. On success its memory is freed now, as it is if the board is cut off. Otherwise it
    /// is freed when the block has been reset.
    pub(crate) fn unregister(&mut self, board: &mut Board, name: u32) -> Result<()> {
        let Some(state) = self.all.get_mut(&name) else {
            return Err(Error::call("UNREGISTER", rustix::io::Errno::NOENT));
        };
        let invalidated = match board.is_cut_off() {
            true => Err(Error::Gone),
            false => state.invalidate(board),
        };
        if let Err(error) = invalidated {
            // A board that does not answer may also go on with the entries that it has.
            state.kept = true;
            if !board.is_cut_off() {
                return Err(error);
            }
            state.unpin(board);
            return Ok(());
        }
        if let Some(mut state) = self.all.remove(&name) {
            state.unpin(board);
            self.named.push((state.channel, state.region.into_run()));
        }
        // The region is gone, even if its entries cannot be freed. A registration that needs entries then gets the
        // error.
        let _ = self.collect(board);
        Ok(())
    }

    /// Frees entries that no descriptor can name any more: those of idle channels. After an error, the rest are freed
    /// the next time.
    fn collect(&mut self, board: &mut Board) -> Result<()> {
        let mut collected = Ok(());
        for (channel, run) in std::mem::take(&mut self.named) {
            let busy = match collected.is_err() || board.check_there().is_err() {
                true => Ok(true),
                false => board.busy(channel),
            };
            let given = match busy {
                Ok(false) => self.give_back(run),
                kept => {
                    self.named.push((channel, run));
                    kept.map(drop)
                }
            };
            collected = collected.and(given);
        }
        collected
    }

    /// Tries again to unregister regions whose unregistration failed before.
    pub(crate) fn collect_kept(&mut self, board: &mut Board) {
        let kept = self.all.iter().filter(|(_, state)| state.kept);
        let kept: Vec<u32> = kept.map(|(name, _)| *name).collect();
        for name in kept {
            // A region that cannot go now stays for the next time.
            let _ = self.unregister(board, name);
        }
    }

    /// Unpins memory of kept regions, on a board that is cut off from memory: at their addresses may be other memory by
    /// now, which the board must not reach when it is started.
    pub(crate) fn give_up_kept(&mut self, board: &mut Board) {
        for state in self.all.values_mut().filter(|state| state.kept) {
            state.unpin(board);
        }
    }

    /// Notes that the board can never reach some memory again.
    pub(crate) fn bury(&mut self, memory: &[MemoryId]) {
        for state in self.all.values_mut() {
            state.dead |= memory.contains(&state.pinned.id);
        }
    }

    /// Waits until data that were written to a region can be seen.
    pub(crate) fn flush(&self, board: &mut Board, name: u32) -> Result<()> {
        match self.all.get(&name) {
            Some(state) => Ok(board.backend.flush(state.pinned.id)?),
            None => Ok(()),
        }
    }

    /// Returns the number of regions of a channel, and their bytes.
    pub(crate) fn count(&self, channel: u32) -> (u32, u64) {
        let mine = self.all.values().filter(|state| state.channel == channel);
        mine.fold((0, 0), |(count, bytes), state| {
            (count + 1, bytes + state.region.length())
        })
    }

    /// Writes every region's entries again, after a reset.
    pub(crate) fn program_all(&self, board: &mut Board) -> Result<()> {
        let mut mapped = self.all.values().filter(|state| !state.kept);
        mapped.try_for_each(|state| match state.dead {
            // The block still has the earlier entries.
            true => board.run("taken an entry back", table::unmap(state.region.run())),
            false => state.program(board),
        })
    }

    /// Invalidates every region's entries, when the driver releases the board.
    pub(crate) fn unmap_all(&self, board: &mut Board) -> Result<()> {
        for state in self.all.values() {
            state.invalidate(board)?;
        }
        board.run("reached the fence", table::fence(Reach::Host))
    }

    /// Unpins all memory, when the board cannot reach it any more.
    pub(crate) fn free_all(&mut self, board: &mut Board) {
        while let Some((_, mut state)) = self.all.pop_first() {
            state.unpin(board);
        }
    }
}

impl State {
    /// Gives the memory back, which the board cannot reach any more.
    fn unpin(&mut self, board: &mut Board) {
        if !std::mem::replace(&mut self.unpinned, true) {
            board.backend.unpin(self.pinned.id);
        }
        self.memory = None;
    }

    fn program(&self, board: &mut Board) -> Result<()> {
        let Self { region, pinned, .. } = self;
        board.run("accepted owners", table::set_owners(region.owners()))?;
        let segments = pinned.segments.iter().copied();
        let pages = pages(segments, pinned.offset, region.layout());
        for steps in table::map(region, pages) {
            let steps = steps.map_err(|error| Error::Broken {
                reason: error.to_string(),
            })?;
            board.run("accepted an entry", steps)?;
        }
        Ok(())
    }

    /// Invalidates the region's entries, and waits until no request to its pages is under way.
    fn invalidate(&self, board: &mut Board) -> Result<()> {
        let Self { region, pinned, .. } = self;
        let segments = pinned.segments.iter().copied();
        let reach = match self.kind {
            MemoryKind::Host => Reach::Host,
            MemoryKind::Gpu => Reach::peer(region, pages(segments, pinned.offset, region.layout())),
        };
        let steps = table::unmap(region.run()).chain(table::fence(reach));
        board.run("reached the fence", steps)?;
        board.check_port()
    }
}
