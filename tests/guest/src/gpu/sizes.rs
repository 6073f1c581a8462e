//! Data of every size up to 256 MiB, from any byte to any byte.

use super::{MIB, Name, Way, whole, with_gpu};
use crate::fakegpu::GpuBuffer;
use crate::lab::{Lab, Mover, Target, told};
use anyhow::Result;
use peerlane_host::{Direction, Region};
use rand::Rng;

const LONGEST: usize = 256 * MIB;

/// The buffer's bytes: the longest, whole pages of 2 MiB, so that no more entries are needed
/// than the table has.
const BUFFER: usize = LONGEST + 2 * MIB;

/// Around the sizes of beats, requests and pages; then larger ones, odd and even.
const LENGTHS: [usize; 18] = [
    1,
    2,
    3,
    31,
    64,
    255,
    257,
    511,
    512,
    4095,
    4096,
    4097,
    65_537,
    MIB - 1,
    MIB + 5,
    2 * MIB,
    16 * MIB - 3,
    LONGEST,
];

/// A region that begins inside of a buffer.
struct Part {
    buffer: GpuBuffer,
    region: Region,
    first: usize,
}

impl Target for Part {
    fn region(&self) -> &Region {
        &self.region
    }

    fn first(&self) -> usize {
        self.first
    }

    fn length(&self) -> usize {
        self.buffer.size()
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.buffer.write(at, bytes)
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<()> {
        self.buffer.read(at, bytes)
    }
}

/// Every length both ways, at odd places of the GPU's memory and the FPGA's.
pub fn all(lab: &mut Lab, way: Way) -> Result<String> {
    with_gpu(|gpu| {
        let mut mover = Mover::fast_with_all(lab)?;
        let base = mover.device().range().start;
        let buffer = gpu.buffer(BUFFER, 0, 1, None)?;
        let first = lab.rng.random_range(0..8192) | 1;
        let name = Name::of(&buffer, way)?;
        // To an odd byte of the last granule: a page of 2 MiB must be had as a whole.
        let region = name.register(mover.device(), first, BUFFER - first - 333);
        let part = Part {
            region: region.map_err(told)?,
            buffer,
            first,
        };
        for length in LENGTHS {
            for direction in Direction::BOTH {
                let room = part.region.length() as usize - length;
                let offset = (first + lab.rng.random_range(0..room)) | 1;
                let local = base + (lab.rng.random_range(4096..MIB as u64) | 1);
                let inside = offset - first..offset - first + length;
                let bytes = match direction {
                    Direction::FromFpga => whole(mover.device(), &part.region, inside),
                    Direction::ToFpga => inside,
                };
                if !bytes.is_empty() {
                    let (offset, length) = (first + bytes.start, bytes.len());
                    lab.check(&mut mover, direction, &part, offset, local, length)?;
                }
            }
        }
        Ok(format!(
            "1 B to {} MiB each way, pages of {}",
            LONGEST / MIB,
            part.region.att_address().page_size()
        ))
    })
}
