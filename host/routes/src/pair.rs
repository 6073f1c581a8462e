//! Copies between any two devices, through the host's memory.

use crate::error::{Error, Result};
use crate::gate::Held;
use crate::indirect::Plan;
use crate::limits::{Clock, Limits, Watch};
use crate::route::Route;
use crate::side::{Side, check};
use crate::staged::{Engines, SLOTS, Staged};
use crate::turns::Turns;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of staging memory, unless the caller sets another size.
///
/// A piece is a quarter of it at most. Between GPUs of today a piece of 2 MiB takes 50 us. To report its end and to
/// begin the next one takes the host almost as long, so that sometimes an engine waits for the host. With pieces of 8
/// MiB no engine does (`indirect/tests/pace.rs`).
pub const STAGING: usize = 32 << 20;

/// The longest copy of a measurement.
const MEASURED: u64 = 1 << 20;

/// Two sides, and the host's memory between them. Neither needs to be a board's.
///
/// One copy runs at a time; others wait.
pub struct Pair {
    sides: [Arc<dyn Side>; 2],
    staging: usize,
    state: Held<State>,
    clock: Clock,
}

#[derive(Default)]
struct State {
    staged: Option<Staged>,
    /// Indexed by the number of the side that the data come from.
    engines: [Option<Engines>; 2],
}

/// A copy of a [`Pair`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// The side with the data: 0 or 1, in the order that the pair was made with.
    pub from: usize,
    /// Offset of the data there.
    pub at: u64,
    /// Offset of the data in the other side's memory.
    pub to: u64,
    /// Bytes.
    pub length: u64,
    /// [`Route::Auto`], [`Route::Concurrent`] or [`Route::Sequential`].
    pub route: Route,
    /// Bytes of a piece of a concurrent copy; `None`: as measured.
    pub chunk: Option<u64>,
}

impl Pair {
    /// Makes a pair with so much staging memory ([`STAGING`]), or less where a side takes less
    /// ([`Side::staging_most`]).
    pub fn new(one: Arc<dyn Side>, other: Arc<dyn Side>, staging: usize) -> Self {
        let most = one.staging_most().min(other.staging_most());
        Self {
            sides: [one, other],
            staging: staging.min(most).max(4096),
            state: Held::default(),
            clock: Clock::Process(Instant::now()),
        }
    }

    /// Copies, and returns how many bytes were copied: all.
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::Refused`] for a route that needs a board, [`Error::Deadline`] and
    /// [`Error::Cancelled`], after which nothing is in progress, [`Error::UnderWay`] where a device goes on
    /// nevertheless, and errors of the devices.
    pub fn copy(&self, copy: &Copy, limits: &Limits) -> Result<u64> {
        let from = copy.from.min(1);
        let sides = [&*self.sides[from], &*self.sides[1 - from]];
        check(sides[0], copy.at, copy.length)?;
        check(sides[1], copy.to, copy.length)?;
        if copy.length == 0 {
            return Ok(0);
        }
        let watch = Watch::new(&self.clock, limits, copy.length);
        let mut state = self.state.take(&watch)?;
        let staging = self.staging as u64;
        let (chunk, slots) = match copy.route {
            Route::Sequential => (staging, 1),
            Route::Auto | Route::Concurrent => {
                let chunk = match copy.chunk {
                    Some(chunk) => chunk.clamp(1, (staging / SLOTS).max(1)),
                    None => self
                        .engines(&mut state, from, &watch)?
                        .chunk(copy.length, staging),
                };
                (chunk, SLOTS)
            }
            route => {
                return Err(Error::Refused {
                    route,
                    from: sides[0].name(),
                    to: sides[1].name(),
                    why: "it needs a board on one side".into(),
                });
            }
        };
        let plan = Plan {
            from: copy.at,
            to: copy.to,
            length: copy.length,
            chunk: chunk.min(copy.length),
            slots,
        };
        let copied = self.staged(&mut state)?.copy(from, &plan, &watch);
        if copied.is_err() {
            // An engine that has not ended its copies may still use it.
            state.staged = None;
        }
        copied
    }

    /// Returns the bytes of a concurrent copy's piece, for a copy of so many bytes from this side. It follows from the
    /// time of the engines' copies, which is measured once.
    ///
    /// # Errors
    /// Errors of the devices.
    pub fn chunk(&self, from: usize, length: u64) -> Result<u64> {
        let limits = Limits::default();
        let watch = Watch::new(&self.clock, &limits, length);
        let mut state = self.state.take(&watch)?;
        let engines = self.engines(&mut state, from.min(1), &watch)?;
        Ok(engines.chunk(length, self.staging as u64))
    }

    fn staged<'a>(&self, state: &'a mut State) -> Result<&'a mut Staged> {
        let made = match state.staged.take() {
            Some(staged) => staged,
            None => Staged::new([&*self.sides[0], &*self.sides[1]], self.staging)?,
        };
        Ok(state.staged.insert(made))
    }

    /// Measures the time of the engines' copies, with memory of the same kind.
    fn engines(&self, state: &mut State, from: usize, watch: &Watch<'_>) -> Result<Engines> {
        if let Some(engines) = state.engines[from] {
            return Ok(engines);
        }
        let most = MEASURED.min(self.staging as u64);
        let turns = Turns::together([self.sides[0].turns(), self.sides[1].turns()]);
        let _alone = Turns::aside(&turns, watch)?;
        let others = [self.sides[0].another(most)?, self.sides[1].another(most)?];
        let mut staged = Staged::new([&*others[0], &*others[1]], most as usize)?;
        let engines = staged.measure(from, [0, 0], most, watch)?;
        state.engines[from] = Some(engines);
        Ok(engines)
    }
}
