//! The copies, timed and compared.

use super::results::{Block, Choice, Refusal, Report, Row, Step, Times, rate};
use super::setup::{Contents, Setup};
use super::{Method, Options, direction_name};
use crate::{Error, Result};
use peerlane_host::{Direction, Memory, Permissions, Region};
use peerlane_routes::{Limits, Order, Route, Routes, Side, Verdict};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Lengths of the copies whose blocks are varied: their staging memory is twice the longest.
const BLOCKS_OF: std::ops::RangeInclusive<u64> = 64 * KIB..=16 * MIB;

/// Bytes of the descriptors of figure 7.1.
const DESCRIPTORS: [u64; 2] = [4 * KIB, 512 * KIB];

/// The longest copy in such descriptors: all of it is registered at once.
const STEPS_TO: u64 = 64 * MIB;

/// Differences of the simulated board from a real one.
const SIMULATED: [&str; 2] = [
    "On the simulated board a registration costs only the writes to the address translation table: pinning takes no time.",
    "The simulated GPU's stores do not cross the modelled link, so the rate of GPU push is not that of a link.",
];

/// Progress of the measurement.
#[derive(Debug, Clone)]
pub struct Advance {
    /// Bytes that were moved so far, with those of copies that are left out.
    pub moved: u64,
    /// Bytes in all.
    pub total: u64,
    /// The next step.
    pub what: String,
}

/// Returns the time limit of a copy: longer than it takes over any link.
fn limit(bytes: u64) -> Duration {
    Duration::from_secs(30) + Duration::from_secs_f64(bytes as f64 / 10e6)
}

/// The host's memory for [`Method::Host`], and its region while it is registered.
struct Host {
    memory: Memory,
    region: Option<Region>,
}

struct Runner<'a> {
    setup: &'a mut Setup,
    options: &'a Options,
    routes: Option<Routes>,
    host: Option<Host>,
    random: ChaCha8Rng,
    advance: &'a mut dyn FnMut(&Advance),
    progress: Advance,
}

/// Measures all copies that the options ask for.
///
/// # Errors
/// Errors of the board after which no copy can go on, and [`Error::Transfer`] where bytes arrive wrong. A route that
/// does not work is not an error: [`Report::not_measured`] has it.
pub fn run(
    setup: &mut Setup,
    options: &Options,
    advance: &mut dyn FnMut(&Advance),
) -> Result<Report> {
    let info = *setup.board.device().info();
    let routes = setup.gpu.as_ref().map(|gpu| {
        let side = Arc::clone(&gpu.side) as Arc<dyn Side>;
        let settings = peerlane_routes::Options {
            probe_reads: options.probe_reads,
            prove_reads: options.prove_reads,
            // Simulated time is expensive.
            measured: if setup.simulated { 128 * KIB } else { MIB },
            ..peerlane_routes::Options::default()
        };
        Routes::new(&setup.board, side, settings)
    });
    let mut report = Report {
        between: setup.description.clone(),
        simulated: setup.simulated,
        map_id: info.map_id,
        build_id: info.build_id,
        results: Vec::new(),
        not_measured: Vec::new(),
        notes: match setup.simulated {
            true => SIMULATED.to_vec(),
            false => Vec::new(),
        },
        choices: Vec::new(),
        steps: Vec::new(),
        blocks: Vec::new(),
    };
    let mut runner = Runner {
        routes,
        host: None,
        random: ChaCha8Rng::seed_from_u64(1),
        progress: Advance {
            moved: 0,
            total: total(setup, options),
            what: String::new(),
        },
        setup,
        options,
        advance,
    };
    for direction in options.directions.clone() {
        for method in options
            .methods
            .iter()
            .copied()
            .filter(|m| m.goes(direction))
        {
            runner.rows(direction, method, &mut report)?;
        }
        runner.choice(direction, &mut report)?;
        if options.figures {
            runner.steps(direction, &mut report)?;
            runner.blocks(direction, &mut report)?;
        }
    }
    Ok(report)
}

/// Returns the bytes of all copies.
fn total(setup: &Setup, options: &Options) -> u64 {
    let sizes = || options.sizes.iter().copied();
    let rows: u64 = sizes()
        .map(|bytes| bytes * u64::from(1 + options.copies(bytes)))
        .sum();
    let steps: u64 = sizes().filter(|b| *b <= STEPS_TO).sum();
    let blocks: u64 = sizes()
        .map(|bytes| bytes * blocks(bytes).count() as u64 * u64::from(1 + repeats(setup)))
        .sum();
    let of = |direction: Direction| {
        let methods = options.methods.iter().filter(|m| m.goes(direction));
        let figures = match options.figures && setup.gpu.is_some() {
            true => steps * DESCRIPTORS.len() as u64 + blocks,
            false => 0,
        };
        rows * methods.count() as u64 + figures
    };
    options
        .directions
        .iter()
        .map(|direction| of(*direction))
        .sum()
}

/// Returns the blocks that a copy is tried with: a half of it to a sixty-fourth, and 4 KiB at least.
fn blocks(bytes: u64) -> impl Iterator<Item = u64> {
    let parts = (1..=6).map(move |log2| bytes >> log2);
    parts.filter(move |block| *block >= 4 * KIB && BLOCKS_OF.contains(&bytes))
}

/// Returns the number of copies whose median counts in a figure. Simulated ones take the same time each.
fn repeats(setup: &Setup) -> u32 {
    match setup.simulated {
        true => 1,
        false => 5,
    }
}

impl Runner<'_> {
    fn tell(&mut self, direction: Direction, what: &str, bytes: u64) {
        let way = match direction {
            Direction::FromFpga => "FPGA to GPU",
            Direction::ToFpga => "GPU to FPGA",
        };
        self.progress.what = format!("{way}, {what}, {}", crate::plot::size(bytes));
        (self.advance)(&self.progress);
    }

    fn moved(&mut self, bytes: u64) {
        self.progress.moved += bytes;
        (self.advance)(&self.progress);
    }

    /// Measures all sizes by one way.
    fn rows(&mut self, direction: Direction, method: Method, report: &mut Report) -> Result<()> {
        let name = direction_name(direction);
        let mut refused = None;
        for &bytes in &self.options.sizes {
            let copies = self.options.copies(bytes);
            let planned = self.progress.moved + bytes * u64::from(1 + copies);
            if refused.is_none() {
                self.tell(direction, method.title(), bytes);
                refused = match self.left_out(method, bytes) {
                    Some(why) => Some((why, false)),
                    None => match self.series(direction, method, bytes, copies) {
                        Ok((first, times)) => {
                            if let Some(times) = Times::of(&times) {
                                report
                                    .results
                                    .push(Row::new(name, method, bytes, first, times));
                            }
                            None
                        }
                        Err(error @ (Error::Transfer { .. } | Error::Late { .. })) => {
                            return Err(error);
                        }
                        Err(Error::Routes(peerlane_routes::Error::Refused { why, .. })) => {
                            Some((why, false))
                        }
                        Err(error) => Some((error.to_string(), true)),
                    },
                };
                if let Some((why, failed)) = &refused {
                    report.not_measured.push(Refusal {
                        direction: name,
                        route: method,
                        bytes,
                        why: why.replace('\n', " "),
                        failed: *failed,
                    });
                }
            }
            self.progress.moved = planned;
        }
        Ok(())
    }

    /// Returns the reason why a copy is not tried.
    fn left_out(&self, method: Method, bytes: u64) -> Option<String> {
        match (method, &self.setup.gpu) {
            (Method::Host, _) => None,
            (_, None) => Some("there is no GPU".into()),
            (Method::Route(Route::Push), Some(gpu)) if bytes > gpu.pushed => Some(format!(
                "left out above {}: the simulation processes each store separately",
                crate::plot::size(gpu.pushed)
            )),
            _ => None,
        }
    }

    /// Measures the first copy and the cached ones, in nanoseconds.
    fn series(
        &mut self,
        direction: Direction,
        method: Method,
        bytes: u64,
        copies: u32,
    ) -> Result<(f64, Vec<f64>)> {
        self.anew(method, bytes)?;
        let data = self.fill(direction, method, bytes)?;
        let first = self.once(direction, method, bytes)?;
        self.compare(direction, method, &data)?;
        self.moved(bytes);
        let data = self.fill(direction, method, bytes)?;
        let mut times = Vec::new();
        for _ in 0..copies {
            times.push(self.once(direction, method, bytes)?.as_nanos() as f64);
            self.moved(bytes);
        }
        self.compare(direction, method, &data)?;
        Ok((first.as_nanos() as f64, times))
    }

    /// Unregisters memory that is ready, so that the next copy is a first use, with memory of so many bytes.
    fn anew(&mut self, method: Method, bytes: u64) -> Result<()> {
        match method {
            Method::Route(_) => {
                if let (Some(gpu), Some(routes)) = (&self.setup.gpu, &self.routes) {
                    gpu.side.resize(bytes);
                    routes.forget();
                }
            }
            Method::Host => {
                let host = match self.host.take() {
                    Some(host) => host,
                    None => Host {
                        memory: self.setup.host_memory(self.options.longest())?,
                        region: None,
                    },
                };
                let host = self.host.insert(host);
                if let Some(region) = host.region.take() {
                    region.forget()?;
                }
            }
        }
        Ok(())
    }

    /// Returns the memory that the data come from and the memory that they go to.
    fn ends(&mut self, method: Method) -> Result<[&mut dyn Contents; 2]> {
        let Setup { fpga, gpu, .. } = &mut *self.setup;
        let peer: &mut dyn Contents = match (method, &mut self.host, gpu) {
            (Method::Host, Some(host), _) => &mut host.memory,
            (Method::Route(_), _, Some(gpu)) => &mut *gpu.contents,
            _ => return Err(missing()),
        };
        Ok([&mut **fpga, peer])
    }

    /// Puts random bytes into the memory that the data come from.
    fn fill(&mut self, direction: Direction, method: Method, bytes: u64) -> Result<Vec<u8>> {
        let mut data = vec![0; bytes as usize];
        self.random.fill_bytes(&mut data);
        let [fpga, peer] = self.ends(method)?;
        match direction {
            Direction::FromFpga => fpga.put(0, &data)?,
            Direction::ToFpga => peer.put(0, &data)?,
        }
        Ok(data)
    }

    /// Compares the bytes in the memory that the data go to.
    fn compare(&mut self, direction: Direction, method: Method, data: &[u8]) -> Result<()> {
        let mut found = vec![0; data.len()];
        let [fpga, peer] = self.ends(method)?;
        match direction {
            Direction::FromFpga => peer.get(0, &mut found)?,
            Direction::ToFpga => fpga.get(0, &mut found)?,
        }
        match found.iter().zip(data).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(offset) => Err(Error::Transfer {
                method: method.title(),
                direction: direction_name(direction),
                bytes: data.len() as u64,
                offset: offset as u64,
            }),
        }
    }

    /// Makes one copy, and returns its time.
    fn once(&mut self, direction: Direction, method: Method, bytes: u64) -> Result<Duration> {
        match method {
            Method::Route(route) => {
                let routes = self.routes.as_ref().ok_or_else(missing)?;
                let order = order(direction, bytes);
                let moved = routes.transfer(&order, route, &Limits::within(limit(bytes)))?;
                Ok(moved.time)
            }
            Method::Host => {
                let host = self.host.as_mut().ok_or_else(missing)?;
                let board = &self.setup.board;
                let device = board.device();
                let begin = device.now();
                let region = match &mut host.region {
                    Some(region) => region,
                    none => {
                        let whole = 0..bytes as usize;
                        let both = Permissions::ReadWrite;
                        none.insert(device.register(&host.memory, whole, both)?)
                    }
                };
                let fpga = board.memory().start;
                let transfer = board
                    .queue()
                    .submit(direction, region.part(0..bytes), fpga)?;
                transfer.wait(limit(bytes))?;
                Ok(device.now().saturating_sub(begin))
            }
        }
    }

    /// Adds the route that a program gets if it names none.
    fn choice(&mut self, direction: Direction, report: &mut Report) -> Result<()> {
        let Some(routes) = &self.routes else {
            return Ok(());
        };
        let asked = |method: &Method| matches!(method, Method::Route(_));
        if !self.options.methods.iter().any(asked) {
            return Ok(());
        }
        let line = match routes.choose(direction, self.options.longest()) {
            Ok(choice) => choice.to_string(),
            Err(error) => error.to_string(),
        };
        report.choices.push(Choice {
            direction: direction_name(direction),
            line,
        });
        Ok(())
    }

    /// Measures figure 7.1, without its last two steps, which are the direct route's first use and its cached copies.
    fn steps(&mut self, direction: Direction, report: &mut Report) -> Result<()> {
        let Some(routes) = &self.routes else {
            return Ok(());
        };
        let findings = routes.findings()?;
        let (verdict, method) = match direction {
            Direction::FromFpga => (&findings.write, Method::Route(Route::DirectWrite)),
            Direction::ToFpga => (&findings.read, Method::Route(Route::DirectRead)),
        };
        // A route without proof, or one through the host, is not an example of a direct transfer.
        let works = *verdict == Verdict::Works;
        for descriptor in DESCRIPTORS {
            for &bytes in self.options.sizes.iter().filter(|b| **b <= STEPS_TO) {
                if works {
                    self.tell(direction, "one descriptor at a time", bytes);
                    self.anew(method, bytes)?;
                    let data = self.fill(direction, method, bytes)?;
                    let time = self.stepwise(direction, bytes, descriptor)?;
                    self.compare(direction, method, &data)?;
                    report.steps.push(Step {
                        direction: direction_name(direction),
                        descriptor,
                        bytes,
                        rate: rate(bytes, time.as_nanos() as f64),
                    });
                }
                self.moved(bytes);
            }
        }
        Ok(())
    }

    /// Registers, moves in descriptors that are waited for, and unregisters.
    fn stepwise(&mut self, direction: Direction, bytes: u64, descriptor: u64) -> Result<Duration> {
        let board = &self.setup.board;
        let gpu = self.setup.gpu.as_ref().ok_or_else(missing)?;
        let (device, queue) = (board.device(), board.queue());
        let fpga = board.memory().start;
        let begin = device.now();
        let reach = gpu.side.reach(device, 0..bytes, Permissions::ReadWrite)?;
        let mut at = 0;
        while at < bytes {
            let length = descriptor.min(bytes - at);
            let place = reach.offset + at;
            let transfer = queue.submit(
                direction,
                reach.region.part(place..place + length),
                fpga + at,
            )?;
            transfer.wait(limit(length))?;
            at += length;
        }
        if direction == Direction::FromFpga {
            gpu.side.arrived()?;
        }
        let time = device.now().saturating_sub(begin);
        reach.region.forget()?;
        Ok(time)
    }

    /// Measures figure 7.2.
    fn blocks(&mut self, direction: Direction, report: &mut Report) -> Result<()> {
        let method = Method::Route(Route::Concurrent);
        let sizes: Vec<u64> = (self.options.sizes.iter().copied())
            .filter(|bytes| BLOCKS_OF.contains(bytes))
            .collect();
        let (Some(gpu), Some(&longest)) = (&self.setup.gpu, sizes.last()) else {
            return Ok(());
        };
        let settings = peerlane_routes::Options {
            // A block is a quarter of it at most.
            staging: 2 * longest as usize,
            probe_reads: self.options.probe_reads,
            prove_reads: self.options.prove_reads,
            ..peerlane_routes::Options::default()
        };
        let side = Arc::clone(&gpu.side) as Arc<dyn Side>;
        let routes = Routes::new(&self.setup.board, side, settings);
        let times = repeats(self.setup);
        for bytes in sizes {
            self.tell(direction, "concurrent indirect, blocks", bytes);
            self.anew(method, bytes)?;
            let data = self.fill(direction, method, bytes)?;
            for block in blocks(bytes) {
                let order = order(direction, bytes);
                let mut measured = Vec::new();
                // The first one is not counted.
                for _ in 0..=times {
                    let limits = Limits::within(limit(bytes));
                    let copied =
                        routes.transfer_with(&order, Route::Concurrent, Some(block), &limits);
                    measured.push(copied?.time.as_nanos() as f64);
                    self.moved(bytes);
                }
                if let Some(times) = Times::of(&measured[1..]) {
                    report.blocks.push(Block {
                        direction: direction_name(direction),
                        bytes,
                        block,
                        rate: rate(bytes, times.p50_ns),
                    });
                }
            }
            self.compare(direction, method, &data)?;
        }
        Ok(())
    }
}

fn order(direction: Direction, bytes: u64) -> Order {
    Order {
        direction,
        fpga: 0,
        at: 0,
        length: bytes,
    }
}

/// Makes the error of a caller that has no GPU; callers have checked that before.
fn missing() -> Error {
    Error::Library {
        row: "transfers",
        reason: "there is no GPU memory to copy to".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_halves_down_to_four_kib() {
        let of = |bytes| blocks(bytes).collect::<Vec<_>>();
        assert!(of(32 * KIB).is_empty());
        assert_eq!(of(64 * KIB), [32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB]);
        assert_eq!(of(16 * MIB).len(), 6);
        assert!(of(32 * MIB).is_empty());
    }

    /// A wrong byte is found in either direction; and the same copies succeed without it.
    #[test]
    #[ignore = "external tools: cargo xtask test rtl"]
    fn a_wrong_byte_is_found() {
        struct Wrong(Box<dyn Contents>);
        impl Contents for Wrong {
            fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
                let mut bytes = bytes.to_vec();
                bytes[1000] ^= 1;
                self.0.put(at, &bytes)
            }
            fn get(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
                self.0.get(at, bytes)
            }
        }
        let options = |direction| Options {
            sizes: vec![4 * KIB],
            methods: vec![Method::Host],
            directions: vec![direction],
            repeat: 1,
            budget: MIB,
            figures: false,
            probe_reads: true,
            prove_reads: false,
        };
        let mut setup = Setup::simulated(4 * KIB).unwrap();
        let report = run(&mut setup, &options(Direction::FromFpga), &mut |_| ()).unwrap();
        assert_eq!(report.results.len(), 1);
        let nothing = Box::new(setup.host_memory(1).unwrap());
        let fpga = std::mem::replace(&mut setup.fpga, nothing);
        setup.fpga = Box::new(Wrong(fpga));
        let found = run(&mut setup, &options(Direction::FromFpga), &mut |_| ());
        assert!(
            matches!(
                found,
                Err(Error::Transfer {
                    offset: 1000,
                    bytes: 4096,
                    ..
                })
            ),
            "{found:?}"
        );
    }

    #[test]
    fn a_copy_has_time_enough_for_a_slow_link() {
        assert!(limit(0) >= Duration::from_millis(100));
        assert!(limit(1 << 30) > Duration::from_secs(100));
    }
}
