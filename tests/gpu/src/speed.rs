//! Measures copies through the host's memory with both engines at work: are they as fast as the slower engine alone?
//!
//! There is no board, so a mock takes its place: an engine that copies between memories of the host's at the rate of a
//! board ([`BOARD_RATE`]). The other engines are real: the GPU's copy engines by CUDA, and by NVIDIA's OpenCL. Two
//! engines of one GPU share its link, so their reference is the rate that both reach when they copy independently at
//! the same time.

use crate::Bench;
use crate::cuda::{Kernels, pattern};
use anyhow::{Context as _, Result, bail, ensure};
use peerlane_gpu::{Gpu, GpuBuffer, GpuMemory};
use peerlane_host::Memory;
use peerlane_routes::{
    Copy, Engine, Limits, Pair, Pending, Piece, Route, STAGING, Side, Way, opencl,
};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a copy.
const BYTES: u64 = 1 << 30;

/// Number of measurements of each.
const ROUNDS: usize = 7;

/// The ratio to reach: a part of the slower side's own rate.
const BAR: f64 = 0.90;

/// Bytes a second of the mock of a board: about the payload that a link of PCIe 2.0 with 8 lanes carries in packets of
/// 256 bytes (4 GB/s, and 24 bytes for each packet).
const BOARD_RATE: f64 = 3.6e9;

/// Bytes that a thread of the mock copies before it looks at the clock.
const STEP: u64 = 64 << 10;

/// Threads of the mock. Data that a GPU has written are in no cache, and on some hosts one thread reads them slower
/// than a board would.
const THREADS: u64 = 4;

/// Work of an engine.
struct Job {
    piece: Piece,
    end: Arc<End>,
}

#[derive(Default)]
struct End {
    ended: Mutex<bool>,
    told: Condvar,
}

/// Memory of the host's with an engine as fast as a board's.
struct Paced(Arc<Memory>);

struct PacedEngine {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

struct PacedCopy(Arc<End>);

impl Paced {
    fn new(bytes: u64) -> Result<Self> {
        Ok(Self(Arc::new(Memory::new(bytes as usize)?)))
    }
}

impl Side for Paced {
    fn name(&self) -> String {
        format!("a mock of a board, {:.1} GB/s", BOARD_RATE / 1e9)
    }

    fn length(&self) -> u64 {
        self.0.length() as u64
    }

    fn attach(&self, staging: &Memory) -> peerlane_routes::Result<Box<dyn Engine>> {
        let (jobs, todo) = channel();
        let (memory, staging) = (Arc::clone(&self.0), staging.clone());
        let thread = std::thread::spawn(move || pace(&memory, &staging, &todo));
        Ok(Box::new(PacedEngine {
            jobs: Some(jobs),
            thread: Some(thread),
        }))
    }

    fn another(&self, bytes: u64) -> peerlane_routes::Result<Box<dyn Side>> {
        Ok(Box::new(Self(Arc::new(Memory::new(bytes as usize)?))))
    }
}

/// Copies, but not faster than a board.
fn pace(memory: &Memory, staging: &Memory, todo: &Receiver<Job>) {
    let mut due = Instant::now();
    loop {
        // A board with work loses no time to a scheduler, so these threads catch up with lost time.
        let Job { piece, end } = match todo.try_recv() {
            Ok(job) => job,
            Err(_) => {
                let Ok(job) = todo.recv() else { return };
                due = due.max(Instant::now());
                job
            }
        };
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || share(memory, staging, piece, thread, due));
            }
        });
        due += time(piece.length);
        *end.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        end.told.notify_all();
    }
}

/// Returns the time that a board takes for so many bytes.
fn time(bytes: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / BOARD_RATE)
}

/// Runs one thread's steps of a piece: of all steps, which begin at `from`, each [`THREADS`]th.
fn share(memory: &Memory, staging: &Memory, piece: Piece, thread: u64, from: Instant) {
    let mut bytes = vec![0; STEP as usize];
    let steps = (0..piece.length).step_by(STEP as usize);
    for done in steps.skip(thread as usize).step_by(THREADS as usize) {
        let part = STEP.min(piece.length - done);
        let bytes = &mut bytes[..part as usize];
        let (at, staged) = ((piece.at + done) as usize, (piece.staged + done) as usize);
        let ((source, first), (to, then)) = match piece.way {
            Way::Out => ((memory, at), (staging, staged)),
            Way::In => ((staging, staged), (memory, at)),
        };
        // `begin` has checked that the ranges lie in both memories.
        source.read(first, bytes).expect("it lies in the memory");
        to.write(then, bytes).expect("it lies in the memory");
        // A board's rate is even in intervals shorter than the scheduler's.
        let due = from + time(done + part);
        while Instant::now() < due {
            std::hint::spin_loop();
        }
    }
}

impl Engine for PacedEngine {
    fn begin(&mut self, piece: Piece) -> peerlane_routes::Result<Box<dyn Pending>> {
        let end = Arc::<End>::default();
        let job = Job {
            piece,
            end: Arc::clone(&end),
        };
        let given = self.jobs.as_ref().map(|jobs| jobs.send(job));
        match given {
            Some(Ok(())) => Ok(Box::new(PacedCopy(end))),
            _ => Err(peerlane_routes::Error::side(
                "the mock",
                "its engine has ended",
            )),
        }
    }
}

impl Drop for PacedEngine {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Pending for PacedCopy {
    fn wait(&mut self, limit: Duration) -> peerlane_routes::Result<bool> {
        let ended = (self.0.ended.lock()).unwrap_or_else(PoisonError::into_inner);
        let waited = (self.0.told).wait_timeout_while(ended, limit, |ended| !*ended);
        Ok(*waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// Returns staging memory that both sides accept.
fn staging(sides: [&dyn Side; 2], bytes: usize) -> Result<Memory> {
    for side in sides {
        if let Some(offer) = side.staging(bytes)? {
            return Ok(offer.memory);
        }
    }
    Ok(Memory::new(bytes)?)
}

/// Copies with all engines independently, each by pieces of its own staging memory, with two pieces in progress.
/// Returns the bytes a second of all together until the last has ended.
fn alone(engines: &mut [(Box<dyn Engine>, Way)], piece: u64) -> Result<f64> {
    let begin = Instant::now();
    let mut flights: Vec<(VecDeque<Box<dyn Pending>>, u64)> = Vec::new();
    for (engine, way) in engines.iter_mut() {
        let mut flight = VecDeque::new();
        for number in 0..2 {
            flight.push_back(engine.begin(part(*way, number, piece))?);
        }
        flights.push((flight, 2));
    }
    let pieces = BYTES / piece;
    while flights.iter().any(|(flight, _)| !flight.is_empty()) {
        for ((engine, way), (flight, begun)) in engines.iter_mut().zip(&mut flights) {
            let Some(first) = flight.front_mut() else {
                continue;
            };
            if first.wait(Duration::from_micros(200))? {
                flight.pop_front();
                if *begun < pieces {
                    flight.push_back(engine.begin(part(*way, *begun, piece))?);
                    *begun += 1;
                }
            }
        }
    }
    Ok(BYTES as f64 / begin.elapsed().as_secs_f64())
}

fn part(way: Way, number: u64, piece: u64) -> Piece {
    Piece {
        way,
        at: number * piece,
        staged: number % 2 * piece,
        length: piece,
    }
}

/// Two sides, and their properties.
struct Case {
    name: &'static str,
    sides: [Arc<dyn Side>; 2],
    /// Whether both engines belong to one GPU.
    share: bool,
}

/// One measurement: a copy, and right before it the references that it is compared with.
struct Round {
    rate: f64,
    /// Each side's own rate, or with a shared link the rate of both at once.
    references: Vec<f64>,
}

impl Round {
    /// Returns the rate as a part of the slower side's own rate.
    fn ratio(&self) -> f64 {
        let slower = self
            .references
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        self.rate / slower
    }
}

impl Case {
    /// Returns the round in the middle of [`ROUNDS`], by its ratio, and the piece size that the pair has chosen. Other
    /// programs use host and link, too: a disturbance slows a copy and its reference down alike.
    fn measured(&self, from: usize) -> Result<(Round, u64)> {
        let sides = [&*self.sides[from], &*self.sides[1 - from]];
        let memory = [staging(sides, STAGING)?, staging(sides, STAGING)?];
        let mut engines = [
            (sides[0].attach(&memory[0])?, Way::Out),
            (sides[1].attach(&memory[1])?, Way::In),
        ];
        let [one, other] = self.sides.clone();
        let pair = Pair::new(one, other, STAGING);
        let chunk = pair.chunk(from, BYTES)?;
        let piece = STAGING as u64 / 2;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let references = match self.share {
                true => vec![alone(&mut engines, piece)?],
                false => (engines.iter_mut())
                    .map(|engine| alone(std::slice::from_mut(engine), piece))
                    .collect::<Result<_>>()?,
            };
            let rate = copied(&pair, from)?;
            rounds.push(Round { rate, references });
        }
        rounds.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        Ok((rounds.swap_remove(ROUNDS / 2), chunk))
    }
}

/// Returns the bytes a second of one copy by the pair.
fn copied(pair: &Pair, from: usize) -> Result<f64> {
    let copy = Copy {
        from,
        at: 0,
        to: 0,
        length: BYTES,
        route: Route::Concurrent,
        chunk: None,
    };
    let begin = Instant::now();
    pair.copy(&copy, &Limits::within(Duration::from_secs(20)))?;
    Ok(BYTES as f64 / begin.elapsed().as_secs_f64())
}

/// Returns the first GPU's device in OpenCL.
fn opencl_memory(bench: &Bench<'_>) -> Result<opencl::ClMemory> {
    let name = bench.gpu.name()?;
    let devices = opencl::devices()?;
    let device = devices.iter().find(|device| device.name().contains(&name));
    let device = device.with_context(|| format!("OpenCL has no {name}"))?;
    Ok(device.memory(BYTES)?)
}

fn gpu_memory(gpu: &Gpu) -> Result<Arc<GpuBuffer>> {
    Ok(Arc::new(gpu.plain_buffer(BYTES)?))
}

/// Measures rates of concurrent copies, as parts of the rate that the slower side reaches alone.
pub fn concurrent(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let [one, other] = [gpu_memory(&bench.gpu)?, gpu_memory(&bench.gpu)?];
    let side = |buffer: &Arc<GpuBuffer>| GpuMemory::new(Arc::clone(buffer)).map(Arc::new);
    let board = Arc::new(Paced::new(BYTES)?);
    let board_memory = Arc::clone(&board.0);
    let mut cases = vec![
        Case {
            name: "board (mock) and CUDA",
            sides: [board.clone(), side(&one)?],
            share: false,
        },
        Case {
            name: "CUDA and CUDA, one GPU",
            sides: [side(&one)?, side(&other)?],
            share: true,
        },
    ];
    let mut found = Vec::new();
    match opencl_memory(bench) {
        Ok(memory) => {
            let memory = Arc::new(memory);
            cases.push(Case {
                name: "board (mock) and OpenCL",
                sides: [board.clone(), memory.clone()],
                share: false,
            });
            cases.push(Case {
                name: "CUDA and OpenCL, one GPU",
                sides: [side(&one)?, memory],
                share: true,
            });
        }
        Err(error) => found.push(format!("not tried with OpenCL: {error:#}")),
    }
    let second = (Gpu::count()? > 1).then(|| Gpu::open(1)).transpose()?;
    if let Some(second) = &second {
        cases.push(Case {
            name: "CUDA and CUDA, two GPUs",
            sides: [side(&one)?, side(&gpu_memory(second)?)?],
            share: false,
        });
    }

    // Check data first: from the GPU to the board's mock, and back to another place of the GPU's.
    kernels.fill(&one, BYTES, 21)?;
    let [one_side, other_side] = cases[0].sides.clone();
    copied(&Pair::new(one_side, other_side, STAGING), 1)?;
    let mut bytes = vec![0; 1 << 20];
    let last = BYTES as usize - bytes.len();
    board_memory.read(last, &mut bytes)?;
    ensure!(
        bytes == pattern(BYTES as usize, 21).split_off(last),
        "the mock has other bytes"
    );
    copied(&Pair::new(board, side(&other)?, STAGING), 0)?;
    let wrong = kernels.wrong(&other, BYTES, 21)?;
    ensure!(wrong == 0, "a kernel sees {wrong} wrong words");

    let mut low = false;
    for case in &cases {
        for (from, way) in [(0, "there"), (1, "back")] {
            let (round, chunk) = case.measured(from)?;
            let ratio = round.ratio();
            low |= ratio < BAR;
            let what = match case.share {
                true => "both at once",
                false => "the slower alone",
            };
            let references: Vec<_> = (round.references.iter())
                .map(|rate| format!("{:.2}", rate / 1e9))
                .collect();
            found.push(format!(
                "{}, {way}: {:.2} GB/s in pieces of {} KiB, {ratio:.2} of {what} ({} GB/s)",
                case.name,
                round.rate / 1e9,
                chunk >> 10,
                references.join(" and ")
            ));
        }
    }
    let found = found.join("; ");
    match low {
        true => bail!("less than {BAR}: {found}"),
        false => Ok(found),
    }
}
