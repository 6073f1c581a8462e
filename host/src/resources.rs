//! Memory, regions and the ATT: who holds what, and when it can go.

use crate::backend::{Backend, MemoryId, MemoryKind, Space};
use crate::error::{Error, Result};
use peerlane_core::att::{AllocError, AttAllocator, Entry, PageSize, Permissions};
use peerlane_core::capability::Capabilities;
use peerlane_core::descriptor::Direction;
use peerlane_core::layout::{Segment, layout, pages};
use peerlane_core::region::{Region, RegionError};
use peerlane_core::regs::{AttEntry, csr};
use std::collections::BTreeMap;

/// Memory that somebody holds.
struct MemoryState {
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
    memory: MemoryId,
    /// Offset of the region in the memory.
    offset: u64,
    /// The caller still has its handle.
    held: bool,
    /// Transfers under way.
    users: u32,
}

/// The tables of a device.
pub(crate) struct Resources {
    att: AttAllocator<Vec<u64>>,
    memories: BTreeMap<MemoryId, MemoryState>,
    regions: BTreeMap<u64, RegionState>,
    next_region: u64,
}

fn region_error(error: RegionError) -> Error {
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
        backend: &mut dyn Backend,
        kind: MemoryKind,
        length: u64,
    ) -> Result<MemoryId> {
        if length == 0 {
            return Err(Error::Empty);
        }
        let allocation = backend.allocate(kind, length, false)?;
        let state = MemoryState {
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

    pub(crate) fn release_memory(&mut self, backend: &mut dyn Backend, id: MemoryId) {
        if let Some(state) = self.memories.get_mut(&id) {
            state.held = false;
        }
        self.collect_memory(backend, id);
    }

    fn collect_memory(&mut self, backend: &mut dyn Backend, id: MemoryId) {
        let unused = |state: &MemoryState| !state.held && state.regions == 0;
        if self.memories.get(&id).is_some_and(unused) {
            self.memories.remove(&id);
            backend.free(id);
        }
    }

    /// Maps a range of a memory: takes entries and writes them.
    pub(crate) fn register(
        &mut self,
        backend: &mut dyn Backend,
        caps: &Capabilities,
        memory: MemoryId,
        range: (u64, u64),
        permissions: Permissions,
    ) -> Result<(u64, PageSize, u32)> {
        let (offset, length) = range;
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
        let region = match Region::new(run, &layout, permissions) {
            Ok(region) => region,
            Err((run, error)) => {
                self.give_back(run)?;
                return Err(region_error(error));
            }
        };
        if let Err(error) = program(backend, &region, &state.segments, offset) {
            // What was written maps nothing that the caller does not hold.
            let _ = invalidate(backend, &region);
            self.give_back(region.into_run())?;
            return Err(error);
        }
        state.regions += 1;
        let id = self.next_region;
        self.next_region += 1;
        let state = RegionState {
            region,
            memory,
            offset,
            held: true,
            users: 0,
        };
        self.regions.insert(id, state);
        Ok((id, layout.page_size, layout.entries))
    }

    fn give_back(&mut self, run: peerlane_core::att::Run) -> Result<()> {
        self.att
            .free(run)
            .map_err(|error: AllocError| Error::Broken {
                reason: error.to_string(),
            })
    }

    pub(crate) fn release_region(&mut self, backend: &mut dyn Backend, id: u64) {
        if let Some(state) = self.regions.get_mut(&id) {
            state.held = false;
        }
        self.collect_region(backend, id);
    }

    /// Invalidates a region that neither handle nor transfer needs.
    fn collect_region(&mut self, backend: &mut dyn Backend, id: u64) {
        let unused = |state: &RegionState| !state.held && state.users == 0;
        if !self.regions.get(&id).is_some_and(unused) {
            return;
        }
        let Some(state) = self.regions.remove(&id) else {
            return;
        };
        // A failure here means that the device is gone, as the next call will say. It
        // can then not reach the memory either.
        let _ = invalidate(backend, &state.region);
        let _ = self.give_back(state.region.into_run());
        if let Some(memory) = self.memories.get_mut(&state.memory) {
            memory.regions -= 1;
        }
        self.collect_memory(backend, state.memory);
    }

    pub(crate) fn region(&self, id: u64) -> Result<&Region> {
        match self.regions.get(&id) {
            Some(state) => Ok(&state.region),
            None => Err(Error::Foreign { what: "region" }),
        }
    }

    /// Checks a transfer's range, and keeps the region until [`Resources::unuse`].
    pub(crate) fn use_region(
        &mut self,
        id: u64,
        direction: Direction,
        offset: u64,
        length: u64,
    ) -> Result<&Region> {
        let Some(state) = self.regions.get_mut(&id) else {
            return Err(Error::Foreign { what: "region" });
        };
        state
            .region
            .check(direction, offset, length)
            .map_err(region_error)?;
        state.users += 1;
        Ok(&state.region)
    }

    /// Waits until what was written to a region can be seen.
    pub(crate) fn flush(&self, backend: &mut dyn Backend, id: u64) -> Result<()> {
        match self.regions.get(&id) {
            Some(state) => Ok(backend.flush(state.memory)?),
            None => Ok(()),
        }
    }

    pub(crate) fn unuse(&mut self, backend: &mut dyn Backend, id: u64) {
        if let Some(state) = self.regions.get_mut(&id) {
            state.users -= 1;
        }
        self.collect_region(backend, id);
    }

    /// Writes every region's entries again, after a reset.
    pub(crate) fn program_all(&self, backend: &mut dyn Backend) -> Result<()> {
        for state in self.regions.values() {
            if let Some(memory) = self.memories.get(&state.memory) {
                program(backend, &state.region, &memory.segments, state.offset)?;
            }
        }
        Ok(())
    }

    /// Invalidates every region's entries, when the device is closed.
    pub(crate) fn invalidate_all(&self, backend: &mut dyn Backend) -> Result<()> {
        (self.regions.values()).try_for_each(|state| invalidate(backend, &state.region))
    }
}

/// Writes one entry: the high word commits both.
fn write_entry(backend: &mut dyn Backend, index: u32, raw: u64) -> Result<()> {
    let offset = index as usize * AttEntry::SIZE;
    backend.write32(Space::Att, offset, raw as u32)?;
    backend.write32(Space::Att, offset + 4, (raw >> 32) as u32)?;
    Ok(())
}

fn program(
    backend: &mut dyn Backend,
    region: &Region,
    segments: &[Segment],
    offset: u64,
) -> Result<()> {
    let pages = pages(segments.iter().copied(), offset, &region.layout());
    for (index, address) in (region.run().first()..).zip(pages) {
        let entry = Entry {
            address,
            page_size: region.page_size(),
            permissions: region.permissions(),
        };
        let raw = entry.encode().map_err(|error| Error::Broken {
            reason: error.to_string(),
        })?;
        write_entry(backend, index, raw)?;
    }
    Ok(())
}

fn invalidate(backend: &mut dyn Backend, region: &Region) -> Result<()> {
    let first = region.run().first();
    for index in first..first + region.run().count() {
        write_entry(backend, index, Entry::INVALID)?;
    }
    // Writes are posted: the read's answer says that they have arrived.
    backend.read32(Space::Csr, csr::STATUS)?;
    Ok(())
}
