// SPDX-License-Identifier: GPL-2.0

//! Checked accesses to the registers of the OpenCL side ([`crate::opencl`]), for its holder.

use crate::{
    context::Context,
    logic::{
        shell::{accesses, reads_as_ones, Area},
        uapi,
    },
};
use kernel::{
    io::Io,
    pci,
    prelude::*,
    uaccess::{UserPtr, UserSlice},
};

/// Bytes that are accessed at once: during that, other threads wait for the registers.
const PIECE: u64 = 64;

/// Writes bytes of the BAR by one access.
fn store(bar: &pci::Bar<'_>, offset: usize, bytes: &[u8]) -> Option<()> {
    match *bytes {
        [a] => bar.try_write8(a, offset),
        [a, b] => bar.try_write16(u16::from_le_bytes([a, b]), offset),
        [a, b, c, d] => bar.try_write32(u32::from_le_bytes([a, b, c, d]), offset),
        _ => return None,
    }
    .ok()
}

/// Reads bytes of the BAR by one access.
fn load(bar: &pci::Bar<'_>, offset: usize, bytes: &mut [u8]) -> Option<()> {
    match bytes.len() {
        1 => bytes.copy_from_slice(&[bar.try_read8(offset).ok()?]),
        2 => bytes.copy_from_slice(&bar.try_read16(offset).ok()?.to_le_bytes()),
        4 => bytes.copy_from_slice(&bar.try_read32(offset).ok()?.to_le_bytes()),
        _ => return None,
    }
    Some(())
}

impl Context {
    /// Reads or writes registers of the OpenCL side.
    pub(crate) fn access(&self, arguments: &uapi::Access) -> Result {
        let area = *Area::ALL.get(arguments.area as usize).ok_or(EINVAL)?;
        let length = arguments.length as usize;
        let write = match arguments.flags {
            0 => false,
            uapi::access_flags::WRITE if !area.is_read_only() => true,
            _ => return Err(EINVAL),
        };
        if length == 0 || length > uapi::ACCESS_BYTES {
            return Err(EINVAL);
        }
        let bytes = u64::from(arguments.length);
        let opencl = self.board.opencl();
        let place = opencl
            .place(area, arguments.offset, bytes)
            .ok_or(EINVAL)?;
        let user = UserSlice::new(
            UserPtr::from_addr(usize::try_from(arguments.address)?),
            length,
        );
        let mut data = KVec::from_elem(0u8, length, GFP_KERNEL)?;
        let (mut reader, mut writer) = user.reader_writer();
        if write {
            reader.read_slice(&mut data)?;
        }
        let (mut start, mut rest) = (place.start, &mut data[..]);
        while !rest.is_empty() {
            // When the gate is closed, there is no board any more.
            let _inside = self.board.gate.enter()?;
            // Each dword is one access.
            let bytes = rest.len().min((PIECE - start % PIECE) as usize);
            let (piece, behind) = rest.split_at_mut(bytes);
            self.access_piece(area, start, piece, write)?;
            (start, rest) = (start + bytes as u64, behind);
        }
        match write {
            true => Ok(()),
            false => writer.write_slice(&data),
        }
    }

    fn access_piece(&self, area: Area, start: u64, piece: &mut [u8], write: bool) -> Result {
        let state = self.board.holding.lock();
        if !state.is_held_by(self.channel) {
            return Err(EPERM);
        }
        let base = self.board.opencl().range(area).ok_or(EINVAL)?.offset;
        self.board.hw.with_shell_that_answers(|bar| {
            let mut ones = false;
            for (offset, length) in accesses(start, piece.len() as u64) {
                let from = (offset - start) as usize;
                let bytes = piece.get_mut(from..from + length as usize)?;
                if !write {
                    load(bar, offset as usize, bytes)?;
                    continue;
                }
                store(bar, offset as usize, bytes)?;
                if let Some(reset) = area.read_behind(offset - base, length) {
                    ones |= bar.try_read32((base + reset) as usize).ok()? == u32::MAX;
                }
            }
            Some(ones || !write && reads_as_ones(start, piece))
        })?;
        Ok(())
    }
}
