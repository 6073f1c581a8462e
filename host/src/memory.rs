//! Memory that the board can reach, and regions registered in it.

use crate::backend::{MemoryId, MemoryKind};
use crate::device::Shared;
use crate::error::{Error, Result};
use peerlane_core::att::{PageSize, Permissions};
use peerlane_core::owners::Owners;
use std::ops::Range;
use std::sync::Arc;

/// Memory of the host or a GPU. Regions keep it alive, and so does a board that does not
/// say that it has done with it ([`Error::PortDead`]).
#[derive(Debug)]
pub struct Memory {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: MemoryId,
    pub(crate) kind: MemoryKind,
    pub(crate) length: u64,
}

impl Memory {
    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Where it lies.
    pub fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// Reads, as the memory's owner sees it.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let length = bytes.len() as u64;
        let mut inner = self.shared.lock();
        inner.resources.check_memory(self.id, offset, length)?;
        Ok(inner.board.backend.read_memory(self.id, offset, bytes)?)
    }

    /// Writes, as the memory's owner does.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as u64;
        let mut inner = self.shared.lock();
        inner.resources.check_memory(self.id, offset, length)?;
        Ok(inner.board.backend.write_memory(self.id, offset, bytes)?)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.lock().release_memory(self.id);
    }
}

/// A range of memory that is registered: the board can reach it through its ATT.
///
/// Dropping it invalidates the ATT entries, as soon as no transfer uses them; its memory is
/// given back only when no request of the board can touch it any more.
#[derive(Debug)]
pub struct Region {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: u64,
    pub(crate) length: u64,
    permissions: Permissions,
    page_size: PageSize,
    entries: u32,
    owners: Owners,
}

impl Region {
    /// Registers a range of a memory for these channels.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        memory: &Memory,
        range: Range<u64>,
        permissions: Permissions,
        owners: Owners,
    ) -> Result<Self> {
        if !Arc::ptr_eq(shared, &memory.shared) {
            return Err(Error::Foreign { what: "memory" });
        }
        let length = range.end.saturating_sub(range.start);
        let mut guard = shared.lock();
        let inner = &mut *guard;
        let (id, layout) = inner.resources.register(
            &mut inner.board,
            &inner.caps,
            memory.id,
            (range.start, length),
            (permissions, owners),
        )?;
        drop(guard);
        Ok(Self {
            shared: Arc::clone(shared),
            id,
            length,
            permissions,
            page_size: layout.page_size,
            entries: layout.entries,
            owners,
        })
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What the board may do.
    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// The channels that it was registered for. One that has been given back since can not
    /// use it any more.
    pub fn owners(&self) -> Owners {
        self.owners
    }

    /// Takes the memory from the board at once, transfers or not: those under way end with
    /// [`Fault::AttInvalid`](crate::Fault::AttInvalid). When this returns without an error,
    /// no request of the board to the memory is under way or will be made.
    pub fn revoke(&self) -> Result<()> {
        let mut guard = self.shared.lock();
        let inner = &mut *guard;
        inner.resources.revoke(&mut inner.board, self.id)
    }

    /// The page size it is mapped with.
    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// ATT entries it takes.
    pub fn entries(&self) -> u32 {
        self.entries
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.shared.lock().release_region(self.id);
    }
}
