//! Two sides and the host's memory between them.

use crate::cost::{Cost, best_chunk, concurrent};
use crate::error::{Error, Result};
use crate::indirect::{self, Plan};
use crate::limits::{Clock, Limits, Watch};
use crate::side::{Engine, Piece, Side, Way};
use peerlane_host::Memory;
use std::time::Duration;

/// Places in staging memory: each engine has a copy under way and a next one.
pub(crate) const SLOTS: u64 = 4;

/// The least piece that is worth a copy of its own.
pub(crate) const LEAST_CHUNK: u64 = 4 << 10;

/// How long one copy of a probe or a measurement may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Staging memory with both engines.
pub(crate) struct Staged {
    pub(crate) memory: Memory,
    /// In the order of the sides.
    pub(crate) engines: [Box<dyn Engine>; 2],
}

/// What the copies of two engines cost: of the one out of its memory, of the other into its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Engines {
    pub(crate) out: Cost,
    pub(crate) into: Cost,
}

impl Staged {
    /// Memory for both, that of the side first that may reach no other.
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

    /// Has one engine copy a piece, and waits for it.
    pub(crate) fn one(&mut self, side: usize, piece: Piece, clock: &Clock) -> Result<()> {
        let limits = Limits::within(PATIENCE);
        let watch = Watch::new(clock, &limits, piece.length);
        let mut pending = self.engines[side].begin(piece)?;
        loop {
            let stretch = watch.stretch(0);
            let ended = stretch.and_then(|stretch| pending.wait(stretch));
            match ended {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // Who did not run for that long finds the copy ended.
                Err(_) if pending.wait(Duration::ZERO).is_ok_and(|ended| ended) => return Ok(()),
                Err(error) => {
                    let ended = pending.end(crate::limits::GRACE);
                    return Err(error.with(usize::from(!ended)));
                }
            }
        }
    }

    /// Puts bytes into the memory of a side.
    pub(crate) fn put(&mut self, side: usize, at: u64, bytes: &[u8], clock: &Clock) -> Result<()> {
        self.memory.write(0, bytes)?;
        let piece = Piece {
            way: Way::In,
            at,
            staged: 0,
            length: bytes.len() as u64,
        };
        self.one(side, piece, clock)
    }

    /// Gets bytes of the memory of a side.
    pub(crate) fn get(
        &mut self,
        side: usize,
        at: u64,
        length: usize,
        clock: &Clock,
    ) -> Result<Vec<u8>> {
        // What a copy would leave that does nothing.
        let mut bytes = vec![0xee; length];
        self.memory.write(0, &bytes)?;
        let piece = Piece {
            way: Way::Out,
            at,
            staged: 0,
            length: length as u64,
        };
        self.one(side, piece, clock)?;
        self.memory.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// What copies cost from the side with this number to the other: each engine by itself.
    pub(crate) fn measure(
        &mut self,
        from: usize,
        places: [u64; 2],
        most: u64,
        clock: &Clock,
    ) -> Result<Engines> {
        let mut of = |side: usize, way: Way| {
            Cost::measure(most, |length| {
                let piece = Piece {
                    way,
                    at: places[side],
                    staged: 0,
                    length,
                };
                let begin = clock.now();
                self.one(side, piece, clock)?;
                Ok::<_, Error>(clock.now().saturating_sub(begin))
            })
        };
        Ok(Engines {
            out: of(from, Way::Out)?,
            into: of(1 - from, Way::In)?,
        })
    }
}

impl Engines {
    /// The piece that makes a copy of so many bytes the shortest.
    pub(crate) fn chunk(&self, length: u64, staging: u64) -> u64 {
        best_chunk(
            &self.out,
            &self.into,
            length,
            (staging / SLOTS).max(LEAST_CHUNK),
        )
    }

    /// How long a copy takes with both at work.
    pub(crate) fn concurrent(&self, length: u64, staging: u64) -> f64 {
        concurrent(&self.out, &self.into, length, self.chunk(length, staging))
    }

    /// How long it takes when they take turns.
    pub(crate) fn sequential(&self, length: u64, staging: u64) -> f64 {
        let pieces = length.div_ceil(staging.max(1)).max(1);
        let each = length.div_ceil(pieces);
        pieces as f64 * (self.out.time(each) + self.into.time(each))
    }
}
