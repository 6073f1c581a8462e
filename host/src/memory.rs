//! Memory that the board may be let into.

use crate::error::{Error, Result};
use crate::mapping::Mapping;
use peerlane_core::uapi::provider;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, ProtFlags};
use std::fmt::Debug;
use std::sync::Arc;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// The host's main memory.
    Host,
    /// A GPU's memory, reached through its BAR.
    Gpu,
}

/// Memory as its owner sees it: what is behind a [`Memory`].
pub trait Place: Debug + Send + Sync {
    /// Whose memory it is: decides how it is registered ([`provider`]).
    fn kind(&self) -> MemoryKind;

    /// The address it is registered by: of this process, or what its owner's driver calls it.
    fn address(&self) -> u64;

    /// Bytes.
    fn length(&self) -> usize;

    /// Copies from the memory. The range was found to lie in it.
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()>;

    /// Copies into the memory. The range was found to lie in it.
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()>;
}

/// Memory that has an address of its own for as long as it lives. The board may write it at
/// any time while it is registered, so there are no references into it: it is read and
/// written by copying. Clones are the same memory, and so are regions in it.
#[derive(Debug, Clone)]
pub struct Memory(Arc<dyn Place>);

impl Memory {
    /// New memory of this process, all zero.
    pub fn new(length: usize) -> Result<Self> {
        Mapping::anonymous("memory", length, MapFlags::PRIVATE).map(Self::over)
    }

    /// New memory of huge pages, as many as `length` needs, all zero.
    pub fn huge(length: usize) -> Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB;
        Mapping::anonymous("huge pages", length, flags).map(Self::over)
    }

    /// `length` bytes of a file from its start, shared with whoever else maps it.
    pub fn shared(file: impl AsFd, length: usize) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        Mapping::file("shared memory", file.as_fd(), 0, length, protection).map(Self::over)
    }

    /// Memory of any kind.
    pub fn over(place: impl Place + 'static) -> Self {
        Self(Arc::new(place))
    }

    /// Whose memory it is.
    pub fn kind(&self) -> MemoryKind {
        self.0.kind()
    }

    /// What the driver knows it by.
    pub(crate) fn provider(&self) -> u32 {
        match self.kind() {
            MemoryKind::Host => provider::HOST,
            MemoryKind::Gpu => provider::NVIDIA,
        }
    }

    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// Bytes.
    pub fn length(&self) -> usize {
        self.0.length()
    }

    /// Copies from the memory at `offset`.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        check("memory", self.length(), offset, bytes.len())?;
        self.0.read(offset, bytes)
    }

    /// Copies into the memory at `offset`.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        check("memory", self.length(), offset, bytes.len())?;
        self.0.write(offset, bytes)
    }
}

/// Checks that a range lies in so many bytes of something.
pub(crate) fn check(what: &'static str, size: usize, offset: usize, length: usize) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(Error::Bounds {
            what,
            offset,
            length,
            size,
        }),
    }
}

impl Place for Mapping {
    fn kind(&self) -> MemoryKind {
        MemoryKind::Host
    }

    fn address(&self) -> u64 {
        self.base().as_ptr() as u64
    }

    fn length(&self) -> usize {
        Mapping::length(self)
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.copy_to(offset, bytes)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.copy_from(offset, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_written_within_its_bounds() {
        let memory = Memory::new(8192).unwrap();
        assert_eq!((memory.length(), memory.address() % 4096), (8192, 0));
        memory.write(8190, &[7, 8]).unwrap();
        let mut bytes = [9; 3];
        memory.read(8189, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 7, 8]);
        for offset in [8191, usize::MAX] {
            assert!(matches!(
                memory.write(offset, &[1, 2]),
                Err(Error::Bounds { size: 8192, .. })
            ));
        }
        memory.write(8192, &[]).unwrap();
    }
}
