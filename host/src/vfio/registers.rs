//! A BAR of the board, mapped into the process.

use crate::driver::{BackendError, BackendResult};
use crate::mapping::Mapping;
use peerlane_core::shell;
use std::sync::Arc;

/// The registers in a BAR. Clones are the same mapping.
#[derive(Debug, Clone)]
pub(super) struct Registers(Arc<Mapping>);

impl Registers {
    /// Takes the mapping of a BAR.
    pub(super) fn new(mapping: Mapping) -> Self {
        Self(Arc::new(mapping))
    }

    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.length() as u64
    }

    /// Returns the address of a register of `T`'s size.
    fn at<T>(&self, offset: u64) -> BackendResult<*mut T> {
        let size = size_of::<T>() as u64;
        let inside = offset
            .checked_add(size)
            .is_some_and(|end| end <= self.bytes());
        match inside && offset.is_multiple_of(size) {
            true => Ok(self.0.base().as_ptr().wrapping_add(offset as usize).cast()),
            false => Err(BackendError::Range(format!(
                "{size} bytes at {offset:#x} of the BAR"
            ))),
        }
    }

    fn read<T: Copy>(&self, offset: u64) -> BackendResult<T> {
        // SAFETY: `at` has checked place and alignment. It is a device's register, which only has volatile accesses.
        Ok(unsafe { self.at::<T>(offset)?.read_volatile() })
    }

    fn write<T: Copy>(&self, offset: u64, value: T) -> BackendResult<()> {
        // SAFETY: as in `read`.
        unsafe { self.at::<T>(offset)?.write_volatile(value) };
        Ok(())
    }

    /// Reads a register.
    pub(super) fn read32(&self, offset: u64) -> BackendResult<u32> {
        self.read::<u32>(offset).map(u32::from_le)
    }

    /// Writes a register.
    pub(super) fn write32(&self, offset: u64, value: u32) -> BackendResult<()> {
        self.write(offset, value.to_le())
    }

    /// Writes neighbouring registers in ascending order, two in a store where they are aligned.
    pub(super) fn write_block(&self, offset: u64, values: &[u32]) -> BackendResult<()> {
        let mut rest = values;
        let mut at = offset;
        while let [first, others @ ..] = rest {
            match others {
                [second, after @ ..] if at.is_multiple_of(8) => {
                    let both = u64::from(*second) << 32 | u64::from(*first);
                    self.write(at, both.to_le())?;
                    (rest, at) = (after, at + 8);
                }
                _ => {
                    self.write32(at, *first)?;
                    (rest, at) = (others, at + 4);
                }
            }
        }
        Ok(())
    }

    /// Reads bytes by the accesses that a part of the OpenCL side takes.
    pub(super) fn read_bytes(&self, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        for (at, length) in shell::accesses(offset, data.len() as u64) {
            let from = (at - offset) as usize;
            let word = &mut data[from..from + length as usize];
            match length {
                4 => word.copy_from_slice(&self.read::<u32>(at)?.to_ne_bytes()),
                2 => word.copy_from_slice(&self.read::<u16>(at)?.to_ne_bytes()),
                _ => word.copy_from_slice(&[self.read::<u8>(at)?]),
            }
        }
        Ok(())
    }

    /// Writes bytes by the accesses that a part of the OpenCL side takes.
    pub(super) fn write_bytes(&self, offset: u64, data: &[u8]) -> BackendResult<()> {
        for (at, length) in shell::accesses(offset, data.len() as u64) {
            let from = (at - offset) as usize;
            match data[from..from + length as usize] {
                [a, b, c, d] => self.write(at, u32::from_ne_bytes([a, b, c, d]))?,
                [a, b] => self.write(at, u16::from_ne_bytes([a, b]))?,
                [a] => self.write(at, a)?,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mm::MapFlags;

    fn registers() -> Registers {
        Registers::new(Mapping::anonymous("memory", 4096, 1, MapFlags::PRIVATE).unwrap())
    }

    #[test]
    fn neighbours_keep_their_order_and_place() {
        for first in [0, 4] {
            let registers = registers();
            registers.write_block(first, &[1, 2, 3, 4, 5]).unwrap();
            let found = (0..7).map(|index| registers.read32(4 * index).unwrap());
            let mut expected = [0; 7];
            let start = first as usize / 4;
            expected[start..start + 5].copy_from_slice(&[1, 2, 3, 4, 5]);
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn bytes_come_back_at_any_offset() {
        let registers = registers();
        let data: Vec<u8> = (1..=23).collect();
        for offset in 100..108 {
            registers.write_bytes(offset, &data).unwrap();
            let mut found = [0; 23];
            registers.read_bytes(offset, &mut found).unwrap();
            assert_eq!(found[..], data);
        }
    }

    #[test]
    fn nothing_outside_is_reached() {
        let registers = registers();
        for offset in [4096, 4094, 2, u64::MAX, u64::MAX - 3] {
            assert!(registers.read32(offset).is_err(), "{offset}");
            assert!(registers.write32(offset, 0).is_err(), "{offset}");
        }
        assert!(registers.write_block(4092, &[1, 2]).is_err());
        assert!(registers.read_bytes(4090, &mut [0; 7]).is_err());
    }
}
