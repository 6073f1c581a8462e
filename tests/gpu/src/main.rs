//! Checks of `peerlane-gpu` on a machine with a real GPU. `cargo xtask gpu` makes a bundle of this program that needs
//! neither a toolchain nor Verilator on that machine.

#[macro_use]
mod forward;

mod board;
mod capture;
mod carrier;
mod cl;
mod cuda;
mod doctor;
mod examples;
mod kept;
mod mapped;
mod memory;
mod peers;
mod report;
mod routes;
mod speed;
mod started;
mod thesis;

use anyhow::{Context, Result, anyhow};
use clap::{Parser, Subcommand};
use cudarc::driver::CudaContext;
use peerlane_gpu::Gpu;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Checks Peerlane with a real GPU's memory.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:\n  \
    peerlane-gpu-check model block.so         compile the block's Verilog, for a machine without Verilator\n  \
    peerlane-gpu-check run --model block.so   run all checks on the first GPU")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Compile the block's Verilog into a file.
    Model {
        /// The file.
        to: PathBuf,
    },
    /// Run the checks.
    Run(Options),
}

/// Options of the checks.
#[derive(Debug, clap::Args)]
struct Options {
    /// The compiled block, from `model`. Without it the block is compiled now.
    #[arg(long)]
    model: Option<PathBuf>,
    /// PTX of `examples/08-gpu-kernel/kernel.cu`, for transfers that a kernel starts.
    #[arg(long)]
    kernel: Option<PathBuf>,
    /// `tests/gpu/board_library.c`, compiled, for the thesis's calls: a library whose name begins with
    /// `libpeerlane_mmd`.
    #[arg(long)]
    board_library: Option<PathBuf>,
    /// The command `peerlane`, for its doctor.
    #[arg(long)]
    command: Option<PathBuf>,
    /// The GPU's number.
    #[arg(long, default_value_t = 0)]
    gpu: usize,
    /// MiB that the board moves in each direction.
    #[arg(long, default_value_t = 64)]
    mib: u32,
    /// Only checks whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Also write the results to a file as Markdown.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Also write the results to a file as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Input of a check: the GPU, and the options.
struct Bench<'a> {
    gpu: Gpu,
    /// The GPU's primary context, which is also that of `gpu`: for kernels and streams of the checks' own.
    context: Arc<CudaContext>,
    options: &'a Options,
}

/// A check returns a line with its results.
type Check = fn(&Bench<'_>) -> Result<String>;

const CHECKS: &[(&str, Check)] = &[
    ("what the GPU offers", memory::abilities),
    ("buffers", memory::buffers),
    ("identity of a reused address", memory::identity),
    ("memory as dma-bufs", memory::dma_bufs),
    ("pieces mapped side by side", mapped::side_by_side),
    ("other memory at an address", mapped::anew),
    ("flush of a peer's writes", memory::flush),
    ("OpenCL takes a buffer", cl::import),
    (
        "transfers of a stream and a graph",
        started::stream_and_graph,
    ),
    ("a step's limit", started::limit),
    ("transfers that a kernel starts", started::by_a_kernel),
    ("memory beside another thread's capture", capture::beside),
    ("memory that is kept registered", kept::reused),
    ("the same at random, against a model", kept::random),
    ("the thesis's calls", thesis::calls),
    ("every route", routes::all),
    ("concurrent copies through the host", speed::concurrent),
    ("doctor", doctor::look),
    ("example 03, acquisition", examples::acquisition),
    ("example 04, inference feed", examples::inference_feed),
    ("example 07, a CUDA graph", examples::cuda_graph),
    ("the board's RTL, both ways", board::both_ways),
];

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Model { to } => model(&to).map(|()| true),
        Task::Run(options) => run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn model(to: &std::path::Path) -> Result<()> {
    let library = board::compile()?;
    std::fs::copy(library.path(), to).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}

/// Runs the checks. Returns whether all of them passed.
fn run(options: &Options) -> Result<bool> {
    let gpu = Gpu::open(options.gpu).map_err(|error| anyhow!("{error}. {}", error.hint()))?;
    let machine = report::Machine::of(&gpu)?;
    println!("{machine}\n");
    let context = CudaContext::new(options.gpu)?;
    let bench = Bench {
        gpu,
        context,
        options,
    };
    let mut lines = Vec::new();
    for &(name, check) in CHECKS {
        if (options.only.as_deref()).is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let result = check(&bench);
        let line = report::Line::new(name, result);
        println!("{line}");
        lines.push(line);
    }
    let failed = lines.iter().filter(|line| !line.passed).count();
    println!("\n{} passed, {failed} failed", lines.len() - failed);
    let report = report::Report { machine, lines };
    if let Some(file) = &options.markdown {
        std::fs::write(file, report.markdown())?;
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(failed == 0)
}
