//! The client's memory, as its DMA mappings show it.
//!
//! A mapping with a file descriptor is mapped into this process and accessed directly. One without (a peer device whose
//! BAR is not memory of its own) cannot be accessed: the crate does not have the protocol's messages for that, and
//! nothing here needs them. An access must lie in one mapping as a whole, which is the case because the block's packets
//! stay within a page.
//!
//! The order in which the block's words become visible: a reader that sees the first eight bytes of an aligned piece
//! sees all bytes after them. So a completion record is complete when its phase bit is there.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

use peerlane_sim::{Outside, Target};
use serde::Serialize;
use vm_memory::{AtomicAccess, FileOffset, MmapRegion, VolatileMemory, VolatileSlice};

use crate::error::{Error, Result};
use crate::ledger::{Access, Ledger};
use crate::ranges::Ranges;

/// Identity of a file, independent of its name: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }

    /// Returns the identity of the file at a path, which must exist.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let metadata = path.metadata().map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::of(&metadata))
    }
}

/// The files that mappings show, each mapped into this process once and as a whole: with an IOMMU there are more
/// mappings than a process may have.
#[derive(Debug, Default)]
struct Files(Vec<(FileId, bool, Weak<MmapRegion>)>);

impl Files {
    /// Returns a file's bytes, which can be written to if `write`.
    fn open(&mut self, file: File, write: bool) -> std::io::Result<Arc<MmapRegion>> {
        let metadata = file.metadata()?;
        let id = FileId::of(&metadata);
        self.0.retain(|(_, _, region)| region.strong_count() > 0);
        let bytes = usize::try_from(metadata.len()).map_err(std::io::Error::other)?;
        let known = (self.0.iter())
            .filter(|(of, writable, _)| *of == id && (*writable || !write))
            .find_map(|(_, _, region)| region.upgrade());
        // A file that has grown is mapped again.
        if let Some(region) = known.filter(|region| region.size() >= bytes) {
            return Ok(region);
        }
        let protection = if write {
            libc::PROT_READ | libc::PROT_WRITE
        } else {
            libc::PROT_READ
        };
        let whole = Some(FileOffset::new(file, 0));
        let region = MmapRegion::build(whole, bytes, protection, libc::MAP_SHARED);
        let region = Arc::new(region.map_err(std::io::Error::other)?);
        self.0.push((id, write, Arc::downgrade(&region)));
        Ok(region)
    }
}

/// A mapping, as the client described it.
#[derive(Debug)]
struct Mapping {
    bytes: u64,
    /// The file and the offset of the mapping in it; `None` where the client gave no descriptor.
    region: Option<(Arc<MmapRegion>, usize)>,
    readable: bool,
    writable: bool,
    target: Target,
}

/// Bus addresses at which the block finds memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// The host's.
    pub host: Ranges,
    /// The GPU's.
    pub gpu: Ranges,
}

/// The mappings and the record of accesses to them. Clones are handles of the same memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// Mappings by first bus address, without overlap. An access holds the lock from the look-up to its last byte, so
    /// an unmapping waits for it.
    mappings: Arc<RwLock<BTreeMap<u64, Mapping>>>,
    files: Arc<Mutex<Files>>,
    ledger: Arc<Mutex<Ledger>>,
    gpu: Option<FileId>,
}

/// Accesses to a mapping that the client permits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rights {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Memory {
    /// Makes a memory without mappings. Mappings of the file `gpu` count as the GPU's.
    pub(crate) fn new(gpu: Option<FileId>) -> Self {
        Self {
            gpu,
            ..Self::default()
        }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mappings(&self) -> RwLockReadGuard<'_, BTreeMap<u64, Mapping>> {
        self.mappings.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn mappings_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, Mapping>> {
        self.mappings
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a mapping of `bytes` bytes at a bus address, which begins at `offset` of the file.
    ///
    /// # Errors
    /// If the range overlaps another one or the file cannot be mapped.
    pub(crate) fn map(
        &self,
        address: u64,
        bytes: u64,
        rights: Rights,
        file: Option<(File, u64)>,
    ) -> std::io::Result<()> {
        let invalid = std::io::ErrorKind::InvalidInput;
        let (Some(end), Ok(length)) = (address.checked_add(bytes), usize::try_from(bytes)) else {
            return Err(invalid.into());
        };
        let mut target = Target::Host;
        let mut region = None;
        if let Some((file, offset)) = file {
            if Some(FileId::of(&file.metadata()?)) == self.gpu {
                target = Target::Gpu;
            }
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let whole = files.open(file, rights.write)?;
            let from = usize::try_from(offset).map_err(|_| invalid)?;
            whole.get_slice(from, length).map_err(|_| invalid)?;
            region = Some((whole, from));
        }
        let mut mappings = self.mappings_mut();
        let before = mappings.range(..end).next_back();
        if before.is_some_and(|(start, mapping)| start + mapping.bytes > address) {
            return Err(invalid.into());
        }
        mappings.insert(
            address,
            Mapping {
                bytes,
                region,
                readable: rights.read,
                writable: rights.write,
                target,
            },
        );
        Ok(())
    }

    /// Removes the mappings that begin in a range. When it returns no access to them is in progress, and none comes
    /// later.
    pub(crate) fn unmap(&self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        self.mappings_mut()
            .retain(|start, _| !(address..end).contains(start));
    }

    /// Returns the bus addresses of mappings that can be accessed.
    pub(crate) fn mapped(&self) -> Mapped {
        let mut mapped = Mapped::default();
        let mappings = self.mappings();
        for (start, mapping) in mappings.iter().filter(|(_, one)| one.region.is_some()) {
            let ranges = match mapping.target {
                Target::Host => &mut mapped.host,
                Target::Gpu => &mut mapped.gpu,
            };
            ranges.insert(*start..start + mapping.bytes);
        }
        mapped
    }

    /// Removes all mappings.
    pub(crate) fn unmap_all(&self) {
        self.mappings_mut().clear();
    }

    /// Carries an access out: `copy` gets the bytes in this process. Returns the target, if memory is there and the
    /// access is permitted.
    fn access(&self, access: Access, copy: impl FnOnce(&VolatileSlice<'_>)) -> Option<Target> {
        self.ledger().note(access);
        let mappings = self.mappings();
        let found = mappings.range(..=access.address).next_back();
        let target = found.and_then(|(start, mapping)| {
            let offset = usize::try_from(access.address - start).ok()?;
            let permitted = if access.write {
                mapping.writable
            } else {
                mapping.readable
            };
            let (file, from) = mapping.region.as_ref().filter(|_| permitted)?;
            let bytes = u64::from(access.bytes);
            if offset as u64 + bytes > mapping.bytes {
                return None;
            }
            let slice = file.get_slice(from + offset, bytes as usize).ok()?;
            copy(&slice);
            Some(mapping.target)
        });
        drop(mappings);
        self.ledger().ended(access, target);
        target
    }
}

/// Returns the begin and the end of the aligned 8-byte words in a piece of memory.
fn words(slice: &VolatileSlice<'_>) -> (usize, usize) {
    let from = slice.ptr_guard().as_ptr().align_offset(8).min(slice.len());
    let to = from + (slice.len() - from) / 8 * 8;
    (from, to)
}

fn store<A: AtomicAccess>(slice: &VolatileSlice<'_>, offset: usize, value: A) {
    // In bounds and aligned: the caller's offsets come from `words`.
    let stored = vm_memory::Bytes::store(slice, value, offset, Ordering::Release);
    debug_assert!(stored.is_ok());
}

/// Copies into memory that others read concurrently: from its end to its beginning, in aligned words.
fn copy_in(slice: &VolatileSlice<'_>, data: &[u8]) {
    let (from, to) = words(slice);
    for at in (to..data.len()).rev() {
        store(slice, at, data[at]);
    }
    for (index, word) in data[from..to].chunks_exact(8).enumerate().rev() {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        store(slice, from + index * 8, u64::from_ne_bytes(bytes));
    }
    for at in (0..from).rev() {
        store(slice, at, data[at]);
    }
}

impl Outside for Memory {
    fn target(&self, address: u64) -> Option<Target> {
        let mappings = self.mappings();
        let (start, mapping) = mappings.range(..=address).next_back()?;
        (address - start < mapping.bytes).then_some(mapping.target)
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> bool {
        let access = Access {
            address,
            bytes: data.len() as u32,
            write: false,
        };
        self.access(access, |slice| {
            slice.copy_to(data);
        })
        .is_some()
    }

    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        let access = Access {
            address,
            bytes: data.len() as u32,
            write: true,
        };
        self.access(access, |slice| copy_in(slice, data)).is_some()
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
