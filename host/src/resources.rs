//! Memory, regions and the ATT: who holds what, and when it can go.

use crate::backend::{Backend, MemoryId, MemoryKind};
use crate::board::Board;
use crate::error::{Error, Result};
use peerlane_core::att::{AllocError, AttAllocator, Permissions, Run};
use peerlane_core::capability::Capabilities;
use peerlane_core::layout::{Layout, Segment, layout, pages};
use peerlane_core::owners::Owners;
use peerlane_core::region::{Region, RegionError};
use peerlane_core::table::{self, Reach};
use std::collections::BTreeMap;

/// Memory that somebody holds.
struct MemoryState {
    kind: MemoryKind,
    segments: Vec<Segment>,
    length: u64,
    /// The caller still has its handle.
    held: bool,
    /// Regions registered in it.
    regions: u32,
}

/// A registered region.
struct RegionState {
    region: Region,
    /// What it maps; nothing any more if it was revoked.
    memory: Option<MemoryId>,
    /// Offset of the region in the memory.
    offset: u64,
    /// The caller still has its handle.
    held: bool,
    /// Transfers under way.
    users: u32,
    /// Nobody needs it, but the board has not said that it has done with it. Its memory
    /// is kept.
    kept: bool,
}

/// The tables of a device.
pub(crate) struct Resources {
    att: AttAllocator<Vec<u64>>,
    memories: BTreeMap<MemoryId, MemoryState>,
    regions: BTreeMap<u64, RegionState>,
    next_region: u64,
}

pub(crate) fn region_error(error: RegionError) -> Error {
    match error {
        RegionError::Bounds {
            offset,
            length,
            region,
        } => Error::Bounds {
            what: "region",
            offset,
            length,
            size: region,
        },
        RegionError::Permission { direction, .. } => Error::Permission { direction },
        RegionError::Entries { .. } => Error::Broken {
            reason: error.to_string(),
        },
    }
}

impl Resources {
    pub(crate) fn new(entries: u32) -> Result<Self> {
        let words = AttAllocator::<Vec<u64>>::words(entries);
        let att = AttAllocator::new(vec![0; words], entries).map_err(Error::AttFull)?;
        Ok(Self {
            att,
            memories: BTreeMap::new(),
            regions: BTreeMap::new(),
            next_region: 0,
        })
    }

    pub(crate) fn allocate(
        &mut self,
        board: &mut Board,
        kind: MemoryKind,
        length: u64,
    ) -> Result<MemoryId> {
        if length == 0 {
            return Err(Error::Empty);
        }
        let allocation = board.backend.allocate(kind, length, false)?;
        let state = MemoryState {
            kind,
            segments: allocation.segments,
            length,
            held: true,
            regions: 0,
        };
        self.memories.insert(allocation.id, state);
        Ok(allocation.id)
    }

    /// Checks that a range lies in a memory.
    pub(crate) fn check_memory(&self, id: MemoryId, offset: u64, length: u64) -> Result<()> {
        let size = self.memories.get(&id).map_or(0, |state| state.length);
        match offset.checked_add(length) {
            Some(end) if end <= size => Ok(()),
            _ => Err(Error::Bounds {
                what: "memory",
                offset,
                length,
                size,
            }),
        }
    }

    pub(crate) fn release_memory(&mut self, board: &mut Board, id: MemoryId) {
        if let Some(state) = self.memories.get_mut(&id) {
            state.held = false;
        }
        self.collect_memory(board, id);
    }

    fn collect_memory(&mut self, board: &mut Board, id: MemoryId) {
        let unused = |state: &MemoryState| !state.held && state.regions == 0;
        if self.memories.get(&id).is_some_and(unused) {
            self.memories.remove(&id);
            board.backend.free(id);
        }
    }

    /// Maps a range of a memory: takes entries and writes them.
    pub(crate) fn register(
        &mut self,
        board: &mut Board,
        caps: &Capabilities,
        memory: MemoryId,
        (offset, length): (u64, u64),
        (permissions, owners): (Permissions, Owners),
    ) -> Result<(u64, Layout)> {
        if length == 0 {
            return Err(Error::Empty);
        }
        self.check_memory(memory, offset, length)?;
        let Some(state) = self.memories.get_mut(&memory) else {
            return Err(Error::Foreign { what: "memory" });
        };
        let segments = || state.segments.iter().copied();
        let layout = layout(segments(), offset, length).map_err(Error::Layout)?;
        let last = layout.page_size.bytes() - 1;
        let far = |page: &u64| !page.checked_add(last).is_some_and(|end| caps.reaches(end));
        if let Some(address) = pages(segments(), offset, &layout).find(far) {
            return Err(Error::Unreachable {
                address,
                bits: caps.txs_addr_bits,
            });
        }
        let run = self.att.allocate(layout.entries).map_err(Error::AttFull)?;
        let region = match Region::new(run, &layout, permissions, owners) {
            Ok(region) => region,
            Err((run, error)) => {
                give_back(&mut self.att, run)?;
                return Err(region_error(error));
            }
        };
        if let Err(error) = program(board, &region, &state.segments, offset) {
            // What was written maps nothing that the caller does not hold.
            let _ = invalidate(board, &region, state, offset);
            give_back(&mut self.att, region.into_run())?;
            return Err(error);
        }
        state.regions += 1;
        let id = self.next_region;
        self.next_region += 1;
        let state = RegionState {
            region,
            memory: Some(memory),
            offset,
            held: true,
            users: 0,
            kept: false,
        };
        self.regions.insert(id, state);
        Ok((id, layout))
    }

    pub(crate) fn release_region(&mut self, board: &mut Board, id: u64) {
        if let Some(state) = self.regions.get_mut(&id) {
            state.held = false;
        }
        self.collect_region(board, id);
    }

    /// Takes a region from the board at once. Transfers under way run into a fault; what
    /// they were to move may go when this has ended well.
    pub(crate) fn revoke(&mut self, board: &mut Board, id: u64) -> Result<()> {
        let Some(state) = self.regions.get_mut(&id) else {
            return Err(Error::Foreign { what: "region" });
        };
        let Some(memory) = state.memory.and_then(|id| self.memories.get(&id)) else {
            return Ok(());
        };
        match invalidate(board, &state.region, memory, state.offset) {
            // A board that is gone, as the next call will say, reaches no memory.
            Ok(()) | Err(Error::Gone) => {}
            Err(error) => return Err(error),
        }
        if let Some(id) = state.memory.take() {
            if let Some(memory) = self.memories.get_mut(&id) {
                memory.regions -= 1;
            }
            self.collect_memory(board, id);
        }
        Ok(())
    }

    /// Gives a region back that neither handle nor transfer needs. Its entries are not
    /// used again before: a descriptor on the board may still name them.
    fn collect_region(&mut self, board: &mut Board, id: u64) {
        let unused = |state: &RegionState| !state.held && state.users == 0;
        if !self.regions.get(&id).is_some_and(unused) {
            return;
        }
        let revoked = self.revoke(board, id);
        if let Some(state) = self.regions.get_mut(&id) {
            state.kept = revoked.is_err();
        }
        if revoked.is_ok()
            && let Some(state) = self.regions.remove(&id)
        {
            let _ = give_back(&mut self.att, state.region.into_run());
        }
    }

    /// Tries again to give back what could not be given back before.
    pub(crate) fn collect_kept(&mut self, board: &mut Board) {
        let kept = self.regions.iter().filter(|(_, state)| state.kept);
        let kept: Vec<u64> = kept.map(|(id, _)| *id).collect();
        for id in kept {
            self.collect_region(board, id);
        }
    }

    /// Takes regions away from channels that go; those of all channels stay as they are.
    /// What they have under way is not waited for.
    pub(crate) fn take_from(&mut self, board: &mut Board, channels: Owners) -> Result<()> {
        for state in self.regions.values_mut() {
            let owners = state.region.owners();
            let left = owners.without(channels);
            if owners == Owners::ALL || left == owners {
                continue;
            }
            state.region.set_owners(left);
            let memory = state.memory.and_then(|id| self.memories.get(&id));
            match memory {
                Some(memory) if !left.is_empty() => {
                    program(board, &state.region, &memory.segments, state.offset)?;
                }
                _ => board.run("unmapped a region", table::unmap(state.region.run()))?,
            }
        }
        Ok(())
    }

    /// Whether a region still maps memory.
    pub(crate) fn check_mapped(&self, id: u64) -> Result<()> {
        match self.regions.get(&id) {
            Some(state) if state.memory.is_none() => Err(Error::Revoked),
            _ => Ok(()),
        }
    }

    pub(crate) fn region(&self, id: u64) -> Result<&Region> {
        match self.regions.get(&id) {
            Some(state) => Ok(&state.region),
            None => Err(Error::Foreign { what: "region" }),
        }
    }

    /// Keeps a region for a transfer, until [`Resources::unuse`].
    pub(crate) fn use_region(&mut self, id: u64) {
        if let Some(state) = self.regions.get_mut(&id) {
            state.users += 1;
        }
    }

    /// Waits until what was written to a region can be seen.
    pub(crate) fn flush(&self, backend: &mut dyn Backend, id: u64) -> Result<()> {
        match self.regions.get(&id) {
            Some(RegionState {
                memory: Some(memory),
                ..
            }) => Ok(backend.flush(*memory)?),
            _ => Ok(()),
        }
    }

    pub(crate) fn unuse(&mut self, board: &mut Board, id: u64) {
        if let Some(state) = self.regions.get_mut(&id) {
            state.users -= 1;
        }
        self.collect_region(board, id);
    }

    /// Writes every region's entries again, after a reset.
    pub(crate) fn program_all(&self, board: &mut Board) -> Result<()> {
        for state in self.regions.values() {
            if state.kept || state.region.owners().is_empty() {
                continue;
            }
            if let Some(memory) = state.memory.and_then(|id| self.memories.get(&id)) {
                program(board, &state.region, &memory.segments, state.offset)?;
            }
        }
        Ok(())
    }

    /// Invalidates every region's entries, when the device is closed.
    pub(crate) fn unmap_all(&self, board: &mut Board) -> Result<()> {
        for state in self.regions.values() {
            match state.memory.and_then(|id| self.memories.get(&id)) {
                Some(memory) => invalidate(board, &state.region, memory, state.offset)?,
                None => board.run("unmapped a region", table::unmap(state.region.run()))?,
            }
        }
        board.run("reached the fence", table::fence(Reach::Host))
    }

    /// Gives all memory back, when the device is closed and cannot reach it any more.
    pub(crate) fn free_all(&mut self, board: &mut Board) {
        self.regions.clear();
        while let Some((id, _)) = self.memories.pop_first() {
            board.backend.free(id);
        }
    }
}

fn give_back(att: &mut AttAllocator<Vec<u64>>, run: Run) -> Result<()> {
    att.free(run).map_err(|error: AllocError| Error::Broken {
        reason: error.to_string(),
    })
}

fn program(board: &mut Board, region: &Region, segments: &[Segment], offset: u64) -> Result<()> {
    board.run("taken owners", table::set_owners(region.owners()))?;
    let pages = pages(segments.iter().copied(), offset, &region.layout());
    for steps in table::map(region, pages) {
        let steps = steps.map_err(|error| Error::Broken {
            reason: error.to_string(),
        })?;
        board.run("taken an entry", steps)?;
    }
    Ok(())
}

/// Invalidates the entries of a region at `offset` of a memory, and waits until no request to its
/// pages is under way.
fn invalidate(board: &mut Board, region: &Region, memory: &MemoryState, offset: u64) -> Result<()> {
    let segments = memory.segments.iter().copied();
    let reach = match memory.kind {
        MemoryKind::Host => Reach::Host,
        MemoryKind::Gpu => Reach::peer(region, pages(segments, offset, &region.layout())),
    };
    let steps = table::unmap(region.run()).chain(table::fence(reach));
    board.run("reached the fence", steps)?;
    board.check_port()
}
