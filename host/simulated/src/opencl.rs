//! The OpenCL side of the simulated board, for the driver in the process.

use crate::{SimBoard, failed};
use peerlane_host::Area;
use peerlane_host::driver::{BackendError, BackendResult, Bar};
use peerlane_sim::Board;
use peerlane_sim::opencl::Part;

fn part(area: Area) -> Part {
    match area {
        Area::Kernels => Part::Kernels,
        Area::Clock => Part::Clock,
        Area::Version => Part::Version,
        Area::Temperature => Part::Temperature,
        Area::Status => Part::Status,
    }
}

/// Returns the offset in the BAR, and the bytes, of a part.
fn range(board: &Board, area: Area) -> Option<(u64, u64)> {
    let mut ranges = board.opencl()?.offsets().ranges();
    let (base, bytes, _) = ranges.find(|(_, _, found)| *found == part(area))?;
    let bytes = match area {
        Area::Kernels | Area::Clock => bytes,
        // One register.
        Area::Version | Area::Temperature | Area::Status => 4,
    };
    Some((base, bytes))
}

fn base(board: &Board, area: Area) -> BackendResult<u64> {
    let range = range(board, area).map(|(base, _)| base);
    range.ok_or_else(|| BackendError::Range(format!("the simulated board has no {}", area.name())))
}

/// Splits an access into pieces within one dword each: offset of the dword, first lane, range of the data.
fn pieces(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let lane = (offset % 4) as usize;
    let first = offset - lane as u64;
    (0..(lane + bytes).div_ceil(4)).map(move |dword| {
        let begin = (dword * 4).max(lane);
        let end = (dword * 4 + 4).min(lane + bytes);
        (
            first + dword as u64 * 4,
            begin % 4,
            begin - lane..end - lane,
        )
    })
}

impl Bar for SimBoard {
    fn bytes(&self, area: Area) -> u64 {
        self.with(|board| range(board, area).map_or(0, |(_, bytes)| bytes))
    }

    fn read(&mut self, area: Area, offset: u64, data: &mut [u8]) -> BackendResult<()> {
        self.with(|board| {
            let base = base(board, area)?;
            for (at, lane, range) in pieces(offset, data.len()) {
                let dword = board.opencl_read(base + at).map_err(failed)?.to_le_bytes();
                let bytes = range.len();
                data[range].copy_from_slice(&dword[lane..lane + bytes]);
            }
            Ok(())
        })
    }

    fn write(&mut self, area: Area, offset: u64, data: &[u8]) -> BackendResult<()> {
        self.with(|board| {
            let base = base(board, area)?;
            for (at, lane, range) in pieces(offset, data.len()) {
                let mut dword = [0; 4];
                let lanes = ((1_u8 << range.len()) - 1) << lane;
                dword[lane..lane + range.len()].copy_from_slice(&data[range]);
                let written = board.opencl_write(base + at, u32::from_le_bytes(dword), lanes);
                written.map_err(failed)?;
            }
            Ok(())
        })
    }

    fn interrupt(&mut self) -> BackendResult<bool> {
        Ok(self.with(|board| board.opencl().is_some_and(|side| side.kernel_irq())))
    }

    fn running(&self) -> bool {
        self.with(|board| board.opencl().is_some_and(|side| side.busy()))
    }
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn an_access_is_cut_at_dwords() {
        let cut = |offset, bytes| pieces(offset, bytes).collect::<Vec<_>>();
        assert_eq!(cut(8, 8), [(8, 0, 0..4), (12, 0, 4..8)]);
        assert_eq!(cut(3, 2), [(0, 3, 0..1), (4, 0, 1..2)]);
        assert_eq!(cut(0x38, 13).last(), Some(&(0x44, 0, 12..13)));
        assert_eq!(cut(4, 0), []);
    }
}
