//! The choice of a route, and copies by it.

use crate::board::{Board, STAGING};
use crate::cost::Cost;
use crate::ends::{Ends, Errand};
use crate::error::{Error, Result};
use crate::gate::Held;
use crate::limits::{Limits, Watch};
use crate::probe::{Findings, PROBE, Prober, Verdict};
use crate::route::Route;
use crate::side::{Side, check};
use crate::staged::{Engines, PATIENCE};
use crate::turns::Turns;
use peerlane_host::Direction;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Settings of [`Routes`].
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of staging memory for the ways through the host.
    pub staging: usize,
    /// Bytes of the longest copy of a measurement; [`SCRATCH`](crate::SCRATCH) at most.
    pub measured: u64,
    /// Whether the board may try to read the device's memory. If a platform never answers, the board refuses all reads
    /// until its link was reset.
    pub probe_reads: bool,
    /// Whether that is also tried where an unanswered read harms others: on a board with
    /// [`PROVED_PEERS`](peerlane_host::peerlane_core::uapi::feature::PROVED_PEERS), whose driver then resets its link,
    /// which ends the transfers of all contexts. Without this only devices are read from which the board has already
    /// read.
    pub prove_reads: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            staging: STAGING,
            measured: crate::SCRATCH,
            probe_reads: true,
            prove_reads: false,
        }
    }
}

/// A copy between a board and a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// From FPGA: from the FPGA to the device. To FPGA: the other way round.
    pub direction: Direction,
    /// First byte in the board's memory, counted from the beginning of [`Board::memory`].
    pub fpga: u64,
    /// First byte in the device's memory.
    pub at: u64,
    /// Bytes.
    pub length: u64,
}

/// Result of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Bytes: all.
    pub bytes: u64,
    /// The route that they took.
    pub route: Route,
    /// Time of the copy itself, in the board's time: without waits for others, probe and measurement.
    pub time: Duration,
}

/// The route for a copy, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The route.
    pub route: Route,
    /// Expected time of the copy, in seconds.
    pub seconds: f64,
    /// The reason, in one line.
    pub why: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.route, self.why)
    }
}

/// All ways between a board and a device's memory. One copy runs at a time; others wait.
///
/// Several of these, and [`Pair`](crate::Pair)s, may have one board, and be used at the same time: they take turns at
/// its window and at its memory for probes. Measurements at such a time run concurrently with the others' copies.
///
/// The first copy by [`Route::Auto`] probes the routes and measures them. The first copy by a direct route probes only.
/// Both use separate memory of the device and the board's scratch memory.
pub struct Routes {
    board: Board,
    side: Arc<dyn Side>,
    options: Options,
    state: Held<State>,
}

struct State {
    ends: Ends,
    findings: Option<Findings>,
    costs: [Option<Costs>; 2],
}

/// The reason why a board moves no data to itself any more, except data that a device stores to it.
const READS_LOST: &str = "the board accepts no reads since one was never answered: reset its link";

/// Measured costs of the routes of a direction.
#[derive(Debug, Clone)]
struct Costs {
    direct: Vec<(Route, Cost)>,
    /// Those of the ways through the host, where there are any.
    engines: Option<Engines>,
    /// Measured time of a concurrent copy, divided by the time that follows from the engines' costs.
    factor: f64,
}

impl Routes {
    /// Makes the ways between a board and a side.
    pub fn new(board: &Board, side: Arc<dyn Side>, options: Options) -> Self {
        Self {
            state: Held::new(State {
                ends: Ends::new(board, Arc::clone(&side), options.staging),
                findings: None,
                costs: [None, None],
            }),
            board: board.clone(),
            side,
            options,
        }
    }

    /// Runs a function without limits, after earlier callers have finished.
    fn at_leisure<T>(&self, f: impl FnOnce(&mut State, &Watch<'_>) -> Result<T>) -> Result<T> {
        let (clock, limits) = (self.board.clock(), Limits::default());
        let watch = Watch::new(&clock, &limits, 0);
        f(&mut *self.state.take(&watch)?, &watch)
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the results of the probe. It runs once, and again for routes that were refused temporarily
    /// ([`Verdict::Busy`]).
    ///
    /// # Errors
    /// [`Error::Untrue`], and errors of board and device in copies through the host.
    pub fn findings(&self) -> Result<Findings> {
        self.at_leisure(|state, watch| self.findings_for(state, watch, |_| true))
    }

    /// Returns the results; temporary refusals are probed again where the route is wanted.
    fn findings_for(
        &self,
        state: &mut State,
        watch: &Watch<'_>,
        wanted: impl Fn(Route) -> bool,
    ) -> Result<Findings> {
        if let Some(findings) = &state.findings {
            let passes = |route: &Route| matches!(findings.of(*route), Some(Verdict::Busy(_)));
            if !Route::ALL
                .iter()
                .any(|route| passes(route) && wanted(*route))
            {
                return Ok(findings.clone());
            }
        }
        let turns = self.turns();
        let _alone = Turns::aside(&turns, watch)?;
        let (mut ends, fpga, length) = self.aside(&mut state.ends, PROBE)?;
        let mut prober = Prober {
            ends: &mut ends,
            fpga,
            length,
            prove_reads: self.options.prove_reads,
            watch,
        };
        let known = state.findings.as_ref();
        let findings = prober.all(self.options.probe_reads, known, wanted)?;
        if known.is_some_and(|known| *known != findings) {
            // Routes that have started to work were not measured.
            state.costs = [None, None];
        }
        Ok(state.findings.insert(findings).clone())
    }

    /// Returns the results for the routes of a direction. A proof that a write has arrived depends on reads.
    fn findings_of(
        &self,
        state: &mut State,
        watch: &Watch<'_>,
        direction: Direction,
    ) -> Result<Findings> {
        let proof = |route| direction == Direction::FromFpga && route == Route::DirectRead;
        self.findings_for(state, watch, |route| route.goes(direction) || proof(route))
    }

    /// Returns the turns at the memory that probes need.
    fn turns(&self) -> Vec<Turns> {
        Turns::together([self.board.turns(), self.side.turns()])
    }

    /// Makes ends with memory that no other code needs, of so many bytes at most. A board has one window, which the
    /// ends of the copies may have kept.
    fn aside(&self, own: &mut Ends, bytes: u64) -> Result<(Ends, u64, u64)> {
        own.give_window_back();
        let scratch = self.board.scratch();
        let length = bytes.min(scratch.end - scratch.start);
        let side = Arc::from(self.side.another(length)?);
        let ends = Ends::new(&self.board, side, length as usize);
        Ok((ends, scratch.start, length))
    }

    /// Returns the reason why a route does not work in a direction.
    fn refusal(findings: &Findings, route: Route, direction: Direction) -> Option<String> {
        let verdict = match route {
            _ if !route.goes(direction) => return Some("it works the other way only".into()),
            Route::DirectRead | Route::Concurrent | Route::Sequential
                if findings.reads_lost && direction == Direction::ToFpga =>
            {
                return Some(READS_LOST.into());
            }
            route => findings.of(route)?,
        };
        (!verdict.works()).then(|| verdict.to_string())
    }

    /// Returns the names of the source and of the target.
    fn names(&self, direction: Direction) -> (String, String) {
        let names = (self.board.name(), self.side.name());
        match direction {
            Direction::FromFpga => names,
            Direction::ToFpga => (names.1, names.0),
        }
    }

    /// Measures the working routes of a direction, once.
    fn costs(
        &self,
        state: &mut State,
        watch: &Watch<'_>,
        direction: Direction,
        findings: &Findings,
    ) -> Result<Costs> {
        if let Some(costs) = &state.costs[direction as usize] {
            return Ok(costs.clone());
        }
        let turns = self.turns();
        let _alone = Turns::aside(&turns, watch)?;
        let (mut ends, fpga, length) =
            self.aside(&mut state.ends, self.options.measured.max(8192))?;
        let clock = watch.clock();
        let from = match direction {
            Direction::FromFpga => 0,
            Direction::ToFpga => 1,
        };
        let places = [fpga, 0];
        let engines = match Self::refusal(findings, Route::Concurrent, direction) {
            None => Some(ends.staged()?.measure(from, places, length, watch)?),
            Some(_) => None,
        };
        let staging = self.options.staging as u64;
        let mut timed = |route: Route, length: u64| {
            let errand = Errand {
                direction,
                fpga,
                at: 0,
                length,
                chunk: engines.map_or(length, |engines| engines.chunk(length, staging)),
                proven: findings.proven,
            };
            let limits = Limits::within(PATIENCE);
            let begin = clock.now();
            ends.run(route, &errand, &watch.step(&limits, length))?;
            Ok::<_, Error>(clock.now().saturating_sub(begin))
        };
        let mut direct = Vec::new();
        for route in [Route::DirectWrite, Route::DirectRead, Route::Push] {
            if Self::refusal(findings, route, direction).is_none() {
                direct.push((route, Cost::measure(length, |length| timed(route, length))?));
            }
        }
        let mut factor = 1.0;
        if let Some(engines) = engines {
            let measured = timed(Route::Concurrent, length)?.as_secs_f64();
            let expected = engines.concurrent(length, length);
            if measured > 0.0 && expected > 0.0 {
                factor = measured / expected;
            }
        }
        let costs = Costs {
            direct,
            engines,
            factor,
        };
        state.costs[direction as usize] = Some(costs.clone());
        Ok(costs)
    }

    /// Returns the measurements, and makes them if they are missing.
    fn measured(
        &self,
        state: &mut State,
        watch: &Watch<'_>,
        direction: Direction,
    ) -> Result<Costs> {
        if let Some(costs) = &state.costs[direction as usize] {
            return Ok(costs.clone());
        }
        let findings = self.findings_of(state, watch, direction)?;
        self.costs(state, watch, direction, &findings)
    }

    /// Returns the route that [`Route::Auto`] takes for so many bytes, with the reason.
    ///
    /// A write whose arrival nothing proves, and memory that lies in the host's, are used only if the caller names the
    /// route.
    ///
    /// # Errors
    /// As [`findings`](Self::findings); [`Error::Refused`] if no route is left.
    pub fn choose(&self, direction: Direction, length: u64) -> Result<Choice> {
        self.at_leisure(|state, watch| self.choose_of(state, watch, direction, length))
    }

    fn choose_of(
        &self,
        state: &mut State,
        watch: &Watch<'_>,
        direction: Direction,
        length: u64,
    ) -> Result<Choice> {
        let findings = self.findings_of(state, watch, direction)?;
        let costs = self.costs(state, watch, direction, &findings)?;
        let staging = self.options.staging as u64;
        let mut times: Vec<(Route, f64)> = Vec::new();
        if let Some(engines) = &costs.engines {
            let concurrent = engines.concurrent(length, staging) * costs.factor;
            times.push((Route::Concurrent, concurrent));
            times.push((Route::Sequential, engines.sequential(length, staging)));
        }
        let mut passed_over = Vec::new();
        for route in [Route::DirectWrite, Route::DirectRead, Route::Push] {
            let Some(verdict) = findings.of(route).filter(|_| route.goes(direction)) else {
                continue;
            };
            let cost = costs.direct.iter().find(|(known, _)| *known == route);
            match (verdict, cost) {
                (Verdict::Works, Some((_, cost))) => times.push((route, cost.time(length))),
                _ => passed_over.push(format!("{route} {verdict}")),
            }
        }
        times.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some(&(route, seconds)) = times.first() else {
            let (from, to) = self.names(direction);
            return Err(Error::Refused {
                route: Route::Auto,
                from,
                to,
                why: READS_LOST.into(),
            });
        };
        let rate = length as f64 / seconds / 1e6;
        let mut why = format!(
            "{length} bytes in {} ({rate:.0} MB/s) by measured figures",
            micros(seconds)
        );
        if let Some((next, later)) = times.get(1) {
            why.push_str(&format!(", against {} by {next}", micros(*later)));
        }
        if matches!(route, Route::DirectWrite | Route::DirectRead) && findings.unknown() {
            why.push_str("; whether in the device or in the host's memory is not known");
        }
        if !passed_over.is_empty() {
            why.push_str(&format!("; {}", passed_over.join("; ")));
        }
        Ok(Choice {
            route,
            seconds,
            why: why.replace('\n', " "),
        })
    }

    /// Returns the bytes of a concurrent copy's piece for so many bytes, by the measured time of the engines' copies.
    ///
    /// # Errors
    /// As [`findings`](Self::findings).
    pub fn chunk(&self, direction: Direction, length: u64) -> Result<u64> {
        let costs = self.at_leisure(|state, watch| self.measured(state, watch, direction))?;
        let staging = self.options.staging as u64;
        Ok((costs.engines).map_or(length, |engines| engines.chunk(length, staging)))
    }

    /// Copies by a route, and returns when all has arrived.
    ///
    /// # Errors
    /// [`Error::Refused`] if it does not work here, by the probe; [`Error::Bounds`]; [`Error::Deadline`] and
    /// [`Error::Cancelled`], after which nothing is in progress any more; [`Error::UnderWay`] where a device goes on
    /// nevertheless; and errors of board and device.
    pub fn transfer(&self, order: &Order, route: Route, limits: &Limits) -> Result<Moved> {
        self.transfer_with(order, route, None, limits)
    }

    /// Copies as [`transfer`](Self::transfer). With [`Route::Concurrent`], pieces have `chunk` bytes, in place of the
    /// length that is best by the measurements. A quarter of the staging memory is the most.
    ///
    /// # Errors
    /// As [`transfer`](Self::transfer).
    pub fn transfer_with(
        &self,
        order: &Order,
        route: Route,
        chunk: Option<u64>,
        limits: &Limits,
    ) -> Result<Moved> {
        let &Order {
            direction,
            fpga,
            at,
            length,
        } = order;
        check(&self.board, fpga, length)?;
        check(&*self.side, at, length)?;
        if length == 0 {
            return Ok(Moved {
                bytes: 0,
                route,
                time: Duration::ZERO,
            });
        }
        let clock = self.board.clock();
        let watch = &Watch::new(&clock, limits, length);
        let state = &mut *self.state.take(watch)?;
        let route = match route {
            Route::Auto => self.choose_of(state, watch, direction, length)?.route,
            route => route,
        };
        let direct = !matches!(route, Route::Concurrent | Route::Sequential);
        let proven = match direct {
            true => {
                let findings = self.findings_of(state, watch, direction)?;
                if let Some(why) = Self::refusal(&findings, route, direction) {
                    let (from, to) = self.names(direction);
                    return Err(Error::Refused {
                        route,
                        from,
                        to,
                        why,
                    });
                }
                findings.proven
            }
            false => {
                let known = state.findings.as_ref();
                let why = known.and_then(|known| Self::refusal(known, route, direction));
                if let Some(why) = why {
                    let (from, to) = self.names(direction);
                    return Err(Error::Refused {
                        route,
                        from,
                        to,
                        why,
                    });
                }
                true
            }
        };
        let staging = self.options.staging as u64;
        let chunk = match (route, chunk) {
            (Route::Concurrent, None) => {
                let costs = self.measured(state, watch, direction)?;
                (costs.engines).map_or(length, |engines| engines.chunk(length, staging))
            }
            (_, chunk) => chunk.unwrap_or(staging),
        };
        let errand = Errand {
            direction,
            fpga: self.board.memory().start + fpga,
            at,
            length,
            chunk,
            proven,
        };
        let begin = clock.now();
        let bytes = state.ends.run(route, &errand, watch)?;
        Ok(Moved {
            bytes,
            route,
            time: clock.now().saturating_sub(begin),
        })
    }

    /// Releases all objects that are ready for copies: the device's memory that the board reaches, staging memory, and
    /// the board's window. The next copy has to make them again: the driver does not cache registrations for it either.
    /// The results of probe and measurements stay.
    pub fn forget(&self) {
        // There are no limits that could make this fail.
        let _ = self.at_leisure(|state, _| {
            state.ends.forget();
            Ok(())
        });
    }
}

/// Formats a time for a line.
fn micros(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

#[cfg(test)]
mod tests;
