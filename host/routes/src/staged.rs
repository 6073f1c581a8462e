//! Two sides and the host's memory between them.

use crate::cost::{Cost, best_chunk, concurrent};
use crate::error::{Error, Result};
use crate::indirect::{self, Plan};
use crate::limits::{Limits, Watch};
use crate::side::{Engine, Pending, Piece, Side, Way};
use peerlane_host::Memory;
use std::time::Duration;

/// Places in staging memory: each engine has a copy in progress and a next one.
pub(crate) const SLOTS: u64 = 4;

/// The shortest piece that is worth a copy of its own.
pub(crate) const LEAST_CHUNK: u64 = 4 << 10;

/// Limit of one copy of a probe or a measurement: longer than a thread waits for a processor on a busy computer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Staging memory with both engines.
pub(crate) struct Staged {
    pub(crate) memory: Memory,
    /// In the order of the sides.
    pub(crate) engines: [Box<dyn Engine>; 2],
}

/// Costs of the copies of two engines: of one out of its memory, of the other into its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Engines {
    pub(crate) out: Cost,
    pub(crate) into: Cost,
}

impl Staged {
    /// Allocates memory for both; memory of a side whose engine reaches no other memory is preferred.
    pub(crate) fn new(sides: [&dyn Side; 2], bytes: usize) -> Result<Self> {
        let mut offers = Vec::new();
        for side in sides {
            offers.extend(side.staging(bytes)?);
            if offers.last().is_some_and(|offer| offer.only) {
                break;
            }
        }
        let offer = offers.iter().find(|offer| offer.only).or(offers.first());
        let memory = match offer {
            Some(offer) => offer.memory.clone(),
            None => Memory::new(bytes)?,
        };
        Ok(Self {
            engines: [sides[0].attach(&memory)?, sides[1].attach(&memory)?],
            memory,
        })
    }

    /// Copies from the side with this number to the other.
    pub(crate) fn copy(&mut self, from: usize, plan: &Plan, watch: &Watch<'_>) -> Result<u64> {
        let [first, second] = &mut self.engines;
        match from {
            0 => indirect::copy(&mut **first, &mut **second, plan, watch),
            _ => indirect::copy(&mut **second, &mut **first, plan, watch),
        }
    }

    /// Makes one engine copy a piece, and waits for it.
    pub(crate) fn one(&mut self, side: usize, piece: Piece, whole: &Watch<'_>) -> Result<()> {
        let limits = Limits::within(PATIENCE);
        let watch = whole.step(&limits, piece.length);
        let mut pending = self.engines[side].begin(piece)?;
        end(&mut *pending, &watch).map_err(|error| {
            let ended = pending.end(crate::limits::GRACE);
            error.with(usize::from(!ended))
        })
    }

    /// Puts bytes into the memory of a side.
    pub(crate) fn put(
        &mut self,
        side: usize,
        at: u64,
        bytes: &[u8],
        whole: &Watch<'_>,
    ) -> Result<()> {
        self.memory.write(0, bytes)?;
        let piece = Piece {
            way: Way::In,
            at,
            staged: 0,
            length: bytes.len() as u64,
        };
        self.one(side, piece, whole)
    }

    /// Gets bytes of the memory of a side.
    pub(crate) fn get(
        &mut self,
        side: usize,
        at: u64,
        length: usize,
        whole: &Watch<'_>,
    ) -> Result<Vec<u8>> {
        // The bytes that a copy without effect would leave.
        let mut bytes = vec![0xee; length];
        self.memory.write(0, &bytes)?;
        let piece = Piece {
            way: Way::Out,
            at,
            staged: 0,
            length: length as u64,
        };
        self.one(side, piece, whole)?;
        self.memory.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Measures the costs of copies from the side with this number to the other: each engine by itself.
    pub(crate) fn measure(
        &mut self,
        from: usize,
        places: [u64; 2],
        most: u64,
        whole: &Watch<'_>,
    ) -> Result<Engines> {
        let clock = whole.clock();
        let mut of = |side: usize, way: Way| {
            Cost::measure(most, |length| {
                let piece = Piece {
                    way,
                    at: places[side],
                    staged: 0,
                    length,
                };
                let begin = clock.now();
                self.one(side, piece, whole)?;
                Ok::<_, Error>(clock.now().saturating_sub(begin))
            })
        };
        Ok(Engines {
            out: of(from, Way::Out)?,
            into: of(1 - from, Way::In)?,
        })
    }
}

/// Waits for the end of a copy.
pub(crate) fn end(pending: &mut dyn Pending, watch: &Watch<'_>) -> Result<()> {
    loop {
        match watch.stretch(0) {
            Ok(stretch) => {
                if pending.wait(stretch)? {
                    return Ok(());
                }
            }
            // It may have ended since the last look, when this thread had no processor.
            Err(error @ Error::Deadline { .. }) => {
                return match pending.wait(Duration::ZERO)? {
                    true => Ok(()),
                    false => Err(error),
                };
            }
            Err(error) => return Err(error),
        }
    }
}

impl Engines {
    /// Returns the piece that makes a copy of so many bytes the shortest.
    pub(crate) fn chunk(&self, length: u64, staging: u64) -> u64 {
        best_chunk(
            &self.out,
            &self.into,
            length,
            (staging / SLOTS).max(LEAST_CHUNK),
        )
    }

    /// Returns the time of a copy with both engines at work.
    pub(crate) fn concurrent(&self, length: u64, staging: u64) -> f64 {
        concurrent(&self.out, &self.into, length, self.chunk(length, staging))
    }

    /// Returns the time of a copy in which they take turns.
    pub(crate) fn sequential(&self, length: u64, staging: u64) -> f64 {
        let pieces = length.div_ceil(staging.max(1)).max(1);
        let each = length.div_ceil(pieces);
        pieces as f64 * (self.out.time(each) + self.into.time(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Clock;
    use std::time::Instant;

    /// Each wait lasts longer than the limit. The copy has ended at the first look after that, or never does.
    struct Late {
        ends: bool,
    }

    /// Has ended with an error. The error is reported once, as by engines whose bytes have still to be passed on.
    struct Fails {
        told: bool,
    }

    impl Pending for Fails {
        fn wait(&mut self, _: Duration) -> Result<bool> {
            match std::mem::replace(&mut self.told, true) {
                true => Ok(true),
                false => Err(Error::side("an engine", "it fails on purpose")),
            }
        }
    }

    impl Pending for Late {
        fn wait(&mut self, limit: Duration) -> Result<bool> {
            if limit.is_zero() {
                return Ok(self.ends);
            }
            std::thread::sleep(Duration::from_millis(5));
            Ok(false)
        }
    }

    #[test]
    fn what_has_ended_by_the_deadline_is_seen_by_a_thread_that_comes_late() {
        let clock = Clock::Process(Instant::now());
        let limits = Limits::within(Duration::from_millis(1));
        let ended = |ends| end(&mut Late { ends }, &Watch::new(&clock, &limits, 1));
        ended(true).unwrap();
        let late = ended(false);
        assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    }

    #[test]
    fn a_copy_that_failed_is_not_looked_at_again() {
        let clock = Clock::Process(Instant::now());
        let limits = Limits::within(PATIENCE);
        let failed = end(&mut Fails { told: false }, &Watch::new(&clock, &limits, 1));
        assert!(failed.is_err());
    }
}
