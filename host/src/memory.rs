//! Memory that the board can reach, and regions registered in it.

use crate::backend::{MemoryId, MemoryKind};
use crate::device::Shared;
use crate::error::Result;
use peerlane_core::att::{PageSize, Permissions};
use std::sync::Arc;

/// Memory of the host or a GPU. Regions keep it alive.
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
        inner.check_memory(self.id, offset, length)?;
        Ok(inner.backend.read_memory(self.id, offset, bytes)?)
    }

    /// Writes, as the memory's owner does.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as u64;
        let mut inner = self.shared.lock();
        inner.check_memory(self.id, offset, length)?;
        Ok(inner.backend.write_memory(self.id, offset, bytes)?)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.lock().release_memory(self.id);
    }
}

/// A range of memory that is registered: the board can reach it through its ATT.
///
/// Dropping it invalidates the ATT entries, as soon as no transfer uses them.
#[derive(Debug)]
pub struct Region {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: u64,
    pub(crate) length: u64,
    pub(crate) permissions: Permissions,
    pub(crate) page_size: PageSize,
    pub(crate) entries: u32,
}

impl Region {
    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What the board may do.
    pub fn permissions(&self) -> Permissions {
        self.permissions
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
