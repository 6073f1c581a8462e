//! Memory of the process that the board may be let into.

use crate::error::{Error, Result};
use crate::mapping::Mapping;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, ProtFlags};

/// Memory that has an address of its own for as long as it lives. The board may write it at
/// any time while it is registered, so there are no references into it: it is read and
/// written by copying.
#[derive(Debug)]
pub struct Memory(Mapping);

impl Memory {
    /// New memory, all zero.
    pub fn new(length: usize) -> Result<Self> {
        Mapping::anonymous("memory", length, MapFlags::PRIVATE).map(Self)
    }

    /// New memory of huge pages, as many as `length` needs, all zero.
    pub fn huge(length: usize) -> Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB;
        Mapping::anonymous("huge pages", length, flags).map(Self)
    }

    /// `length` bytes of a file from its start, shared with whoever else maps it.
    pub fn shared(file: impl AsFd, length: usize) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        Mapping::file("shared memory", file.as_fd(), 0, length, protection).map(Self)
    }

    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.base().as_ptr() as u64
    }

    /// Bytes.
    pub fn length(&self) -> usize {
        self.0.length()
    }

    fn at(&self, offset: usize, length: usize) -> Result<*mut u8> {
        let size = self.length();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            return Err(Error::Bounds {
                offset,
                length,
                size,
            });
        }
        // SAFETY: `offset` lies in the mapping, or at its end.
        Ok(unsafe { self.0.base().as_ptr().add(offset) })
    }

    /// Copies from the memory at `offset`.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let from = self.at(offset, bytes.len())?;
        // SAFETY: both are good for so many bytes; nobody has a reference into the mapping, so
        // `bytes` does not overlap it. The board may be writing: then the bytes are of before
        // or after, each by itself.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Copies into the memory at `offset`.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let to = self.at(offset, bytes.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
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
