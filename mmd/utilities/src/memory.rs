//! The test of a board's memory, by transfers, and their rates.

use crate::{Failure, Result};
use peerlane_host::{Device, Memory, MemoryKind, Permissions, Queue, Region};
use std::ops::Range;
use std::time::Duration;

/// Bytes of a piece.
const PIECE: usize = 8 << 20;
/// Longer than a piece takes while the board works, in the board's time.
const LIMIT: Duration = Duration::from_secs(10);
/// Number of measurements of a rate; the best one counts, because only the board's speed is of interest.
const TIMES: usize = 5;
/// Masks of the two passes that write each word, the second pass with all bits inverted.
const PASSES: [u64; 2] = [0, u64::MAX];

/// Memory of the host for transfers to and from the board's.
pub(crate) struct Bench<'a> {
    device: &'a Device,
    queue: Queue,
    memory: Memory,
    region: Region,
}

/// Bytes a second from the board to the host, and back.
pub(crate) type Rates = [f64; 2];

impl<'a> Bench<'a> {
    pub(crate) fn new(device: &'a Device) -> Result<Self> {
        let queue = device.queue()?;
        let memory = device.memory(MemoryKind::Host, PIECE)?;
        let region = device.register_all(&memory, Permissions::ReadWrite)?;
        Ok(Self {
            device,
            queue,
            memory,
            region,
        })
    }

    /// Returns the device's only queue.
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Moves a piece to the board; returns how long that took.
    fn to_board(&self, address: u64, length: usize) -> Result<Duration> {
        let begin = self.device.now();
        let transfer = self
            .queue
            .to_fpga(self.region.part(0..length as u64), address)?;
        transfer.wait(LIMIT)?;
        Ok(self.device.now() - begin)
    }

    /// Moves a piece to the host; returns how long that took.
    fn to_host(&self, address: u64, length: usize) -> Result<Duration> {
        let begin = self.device.now();
        let transfer = self
            .queue
            .from_fpga(address, self.region.part(0..length as u64))?;
        transfer.wait(LIMIT)?;
        Ok(self.device.now() - begin)
    }

    /// Writes all of a range, then reads it back, twice. Every word is its own address, scattered, so that address
    /// lines that are stuck or joined become visible, and every bit is 0 once and 1 once. Whole words only.
    ///
    /// # Errors
    /// The first word that differs, or the error of a transfer.
    pub(crate) fn test(&self, range: Range<u64>) -> Result<()> {
        let mut buffer = vec![0; PIECE];
        for flip in PASSES {
            for (address, length) in pieces(range.clone()) {
                let bytes = &mut buffer[..length];
                let words = (address..).step_by(8).zip(bytes.as_chunks_mut().0);
                words.for_each(|(at, word)| *word = pattern(at, flip).to_le_bytes());
                self.memory.write(0, bytes)?;
                self.to_board(address, length)?;
            }
            for (address, length) in pieces(range.clone()) {
                let bytes = &mut buffer[..length];
                // Otherwise the earlier content would be taken for an answer.
                bytes.fill(0x5a);
                self.memory.write(0, bytes)?;
                self.to_host(address, length)?;
                self.memory.read(0, bytes)?;
                let words = (address..).step_by(8).zip(bytes.as_chunks().0);
                for (at, word) in words {
                    compare(at, pattern(at, flip), u64::from_le_bytes(*word))?;
                }
            }
        }
        Ok(())
    }

    /// Measures the rates of transfers of a piece, at the beginning of a range; `None`: no time has passed.
    pub(crate) fn rates(&self, range: &Range<u64>) -> Result<Option<Rates>> {
        let Some((address, length)) = pieces(range.clone()).next() else {
            return Ok(None);
        };
        let mut best = [Duration::MAX; 2];
        for _ in 0..TIMES {
            best[0] = best[0].min(self.to_host(address, length)?);
            best[1] = best[1].min(self.to_board(address, length)?);
        }
        let rate = |time: Duration| length as f64 / time.as_secs_f64();
        Ok((!best.contains(&Duration::ZERO)).then(|| best.map(rate)))
    }
}

/// Lists addresses and lengths of the pieces of a range, as far as it has whole words.
fn pieces(range: Range<u64>) -> impl Iterator<Item = (u64, usize)> {
    let end = range.end / 8 * 8;
    let begin = range.start.next_multiple_of(8);
    (begin..end).step_by(PIECE).map(move |address| {
        let length = (end - address).min(PIECE as u64);
        (address, length as usize)
    })
}

/// Returns the word for an address: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014), which maps no two addresses to one value.
fn pattern(address: u64, flip: u64) -> u64 {
    let mixed = address.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31 ^ flip
}

fn compare(address: u64, want: u64, got: u64) -> Result<()> {
    if got == want {
        return Ok(());
    }
    Err(Failure::new(
        format!(
            "FPGA memory at {address:#x} is {got:#018x} and should be {want:#018x} (bits {:#018x} differ)",
            got ^ want
        ),
        "No other program may use the memory during the test: make sure that no kernel of another program runs. Then \
         check the board's memory (calibration, timing of the compile), and the kernel's log for errors of the link.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_whole_words_of_a_range() {
        let piece = PIECE as u64;
        let all: Vec<_> = pieces(3..2 * piece + 20).collect();
        assert_eq!(all, [(8, PIECE), (8 + piece, PIECE), (8 + 2 * piece, 8)]);
        assert_eq!(pieces(0..7).count(), 0);
    }

    #[test]
    fn words_differ_and_every_bit_is_both() {
        for address in (0..1 << 16).step_by(8) {
            assert_ne!(pattern(address, 0), pattern(address + 8, 0));
            assert_eq!(pattern(address, 0) ^ pattern(address, u64::MAX), u64::MAX);
        }
    }

    #[test]
    fn the_first_wrong_word_is_named() {
        let error = compare(0x1230, 0xff, 0xfd).unwrap_err().to_string();
        assert!(
            error.contains("at 0x1230") && error.contains("(bits 0x0000000000000002 differ)"),
            "{error}"
        );
    }
}
