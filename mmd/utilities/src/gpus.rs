//! Tests of GPUs with a board: copies both ways, directly from device to device.

use crate::{Failure, Result};
use peerlane_gpu::amd::{AmdGpu, AmdMemory};
use peerlane_gpu::{Gpu, GpuMemory};
use peerlane_host::{Device, Direction, Queue};
use peerlane_routes::{Board, Findings, Limits, Options, Order, Route, Routes, Side, Verdict};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a copy whose rate is measured.
const BYTES: u64 = 8 << 20;
/// Number of measurements; the best one counts, as for the rates to the host.
const TIMES: usize = 5;
/// Longer than such a copy takes while all works.
const LIMIT: Duration = Duration::from_secs(10);

/// Memory of a GPU, or the reason why it has none.
#[derive(Debug)]
pub struct Memory<S = Arc<dyn Side>> {
    /// The GPU's place on the bus, as Linux names it: `0000:3b:00.0`.
    pub bus: String,
    /// The memory.
    pub side: Result<S>,
}

/// Source of GPUs' memory.
pub trait Gpus {
    /// Allocates so much memory of each available GPU, for a board.
    ///
    /// # Errors
    /// A sentence with the reason why GPUs cannot be used at all.
    fn memories(&self, device: &Device, bytes: u64) -> Result<Vec<Memory>, String>;
}

/// NVIDIA's GPUs by CUDA's driver and AMD's by ROCm, where these are installed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Installed;

impl Gpus for Installed {
    fn memories(&self, _: &Device, bytes: u64) -> Result<Vec<Memory>, String> {
        let told = |error: peerlane_gpu::Error| Failure::new(error.to_string(), error.hint());
        let counts = [Gpu::count(), AmdGpu::count()];
        if let [Err(cuda), Err(rocm)] = &counts {
            return Err(format!("{cuda}; {rocm}"));
        }
        let [cuda, rocm] = counts.map(|count| 0..count.unwrap_or(0));
        let of_nvidia = cuda
            .filter_map(|number| Gpu::open(number).ok())
            .map(|gpu| Memory {
                bus: gpu.bus().into(),
                side: (gpu.buffer(bytes))
                    .and_then(|buffer| GpuMemory::new(Arc::new(buffer)))
                    .map(|memory| Arc::new(memory) as Arc<dyn Side>)
                    .map_err(told),
            });
        let of_amd = rocm
            .filter_map(|number| AmdGpu::open(number).ok())
            .map(|gpu| Memory {
                bus: gpu.bus().into(),
                side: (gpu.buffer(bytes))
                    .map(|buffer| Arc::new(AmdMemory::new(Arc::new(buffer))) as Arc<dyn Side>)
                    .map_err(told),
            });
        Ok(of_nvidia.chain(of_amd).collect())
    }
}

/// Copies between a board's memory, of which all of this range may be overwritten, and each GPU's; the results go to
/// `say`. Returns the places of the GPUs that were tested.
///
/// # Errors
/// Data that arrive wrong without an error, and a board that refuses all reads afterwards.
pub(crate) fn copied(
    gpus: &dyn Gpus,
    (name, queue): (&str, &Queue),
    range: &Range<u64>,
    say: &mut dyn FnMut(String),
) -> Result<Vec<String>> {
    let scratch = range
        .end
        .saturating_sub(peerlane_routes::SCRATCH)
        .max(range.start);
    let bytes = BYTES.min(scratch - range.start);
    if bytes == 0 {
        say("GPUs are not tested: the test needs more than 1 MiB of FPGA memory".into());
        return Ok(Vec::new());
    }
    let memories = match gpus.memories(queue.device(), bytes) {
        Ok(memories) => memories,
        Err(why) => {
            say(format!("GPUs are not tested: {why}"));
            return Ok(Vec::new());
        }
    };
    let mut tried = Vec::new();
    for Memory { bus, side } in memories {
        let names = format!("{name} and the GPU at {bus}");
        let side = match side {
            Ok(side) => side,
            Err(failure) => {
                say(format!("{names}: not tested: {failure}"));
                continue;
            }
        };
        let routed =
            |error: peerlane_routes::Error| Failure::new(format!("{names}: {error}"), error.hint());
        let memory = range.start..range.start + bytes;
        let board = Board::over(queue.clone(), memory, scratch..range.end).map_err(routed)?;
        let routes = Routes::new(&board, side, Options::default());
        let findings = routes.findings().map_err(routed)?;
        for (direction, way) in [
            (Direction::FromFpga, "FPGA to GPU"),
            (Direction::ToFpga, "GPU to FPGA"),
        ] {
            let said = one_way(&routes, &findings, direction, bytes).map_err(routed)?;
            say(format!("{names}: {way}: {said}"));
        }
        checked(&names, &findings)?;
        tried.push(bus);
    }
    Ok(tried)
}

/// Tests copies in one direction, and describes the result.
fn one_way(
    routes: &Routes,
    findings: &Findings,
    direction: Direction,
    bytes: u64,
) -> peerlane_routes::Result<String> {
    let (verdict, route) = match direction {
        Direction::FromFpga => (&findings.write, Route::DirectWrite),
        Direction::ToFpga => (&findings.read, Route::DirectRead),
    };
    if !verdict.works() {
        return Ok(format!("not directly: {verdict}"));
    }
    let order = Order {
        direction,
        fpga: 0,
        at: 0,
        length: bytes,
    };
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        let moved = routes.transfer(&order, route, &Limits::within(LIMIT))?;
        best = best.min(moved.time);
    }
    let what = match verdict {
        Verdict::Works if findings.unknown() => {
            "without a copy in between, the data compared; it is not known whether the data lie in the GPU or in the \
             host's memory".into()
        }
        Verdict::Works => "directly, the data compared".into(),
        other => other.to_string(),
    };
    Ok(match best {
        Duration::ZERO => format!("{what}; the board's time does not advance"),
        best => format!("{:.2} GB/s {what}", bytes as f64 / best.as_secs_f64() / 1e9),
    })
}

/// Refuses faults that a program would get no error for.
fn checked(names: &str, findings: &Findings) -> Result<()> {
    if findings.reads_lost {
        return Err(Failure::new(
            format!(
                "{names}: a read of the GPU's memory was never answered, and the board accepts no more reads"
            ),
            "Reset the board (echo 1 > reset in its sysfs directory). The computer does not pass reads between the two: \
             docs/program/README.md, \"Requirements on the computer\".",
        ));
    }
    for (way, verdict) in [
        ("FPGA to GPU", &findings.write),
        ("GPU to FPGA", &findings.read),
    ] {
        if let Verdict::Wrong(what) = verdict {
            return Err(Failure::new(
                format!("{names}: {way}: data arrive wrong, without an error: {what}"),
                "Run `peerlane doctor`: it checks the path between the two, and prints hints. Until then no program \
                 may copy between them directly.",
            ));
        }
    }
    Ok(())
}
