//! `peerlane bench transfers`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use comfy_table::{Cell, CellAlignment, Color};
use peerlane_bench::transfers::{self, Advance, Method, Options, Report, Row, Setup};
use peerlane_demo::error::Error;
use peerlane_gpu::{Gpu, GpuMemory};
use peerlane_host::{Device, Direction};
use peerlane_routes::{HostMemory, Side};

use super::{bar, failed};
use crate::commands::{FAILED, Outcome, check_file, count, save, save_json, table, wrapped};
use peerlane_demo::progress::Step;
use peerlane_demo::provenance::Provenance;

const PLACE: &str = "bench transfers";

/// Transfers between a board and an NVIDIA GPU by every route, over their size: rates and latencies.
///
/// GPUs of other makers are not measured here. `peerlane doctor` moves data between a board and AMD GPUs, and `aocl
/// diagnose` measures both directions; `--gpu none` measures the board with host memory.
///
/// Both directions are measured, with the first use of memory, which registers it, and cached copies after it. The data
/// are random and are compared. Routes that do not work here are left out, and the reason is printed. With --html the
/// page has the measured results and also figures 7.1 to 7.3 of Gillert's thesis, as a model of its design gives them.
///
/// The exit status is 2 if a byte arrives wrong, or if a copy by a working route fails.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Routes: direct-write (FPGA to GPU), direct-read and push (GPU to FPGA), concurrent and sequential (through the
host's memory), host (board and host memory alone, without a GPU).

Examples:
  peerlane bench transfers --simulated
  peerlane bench transfers
  peerlane bench transfers --device /dev/peerlane1 --gpu 1 --sizes 4KiB..1GiB
  peerlane bench transfers --routes direct-write,concurrent --direction fpga-to-gpu --sizes 64KiB,1MiB
  peerlane bench transfers --gpu none
  peerlane bench transfers --simulated --csv rates.csv --json rates.json --html rates.html"
)]
pub struct Args {
    /// Measure the simulated board and its GPU. Times are simulated, and are the same on every machine.
    #[arg(long, conflicts_with_all = ["device", "gpu"])]
    simulated: bool,
    /// The board: a device node, or the PCI address of a board that is bound to vfio-pci.
    #[arg(long, value_name = "BOARD", default_value = "/dev/peerlane0")]
    device: PathBuf,
    /// The NVIDIA GPU's number, as CUDA counts them; with `none`, host memory takes its place.
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = peer)]
    gpu: Peer,
    /// Sizes of the copies: `4KiB,1MiB`, or `4KiB..1MiB` for each size four times the one before it. The default is
    /// 4KiB..256MiB; on the simulated board 4KiB..1MiB.
    #[arg(long, value_name = "SIZES")]
    sizes: Option<Sizes>,
    /// The routes to measure; without it all of them.
    #[arg(long, value_name = "ROUTES", value_delimiter = ',', value_parser = method)]
    routes: Vec<Method>,
    /// The direction to measure.
    #[arg(long, value_enum, default_value_t = Ways::Both)]
    direction: Ways,
    /// Number of cached copies of each kind, fewer of long ones. The default is 100; on the simulated board 5.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Do not let the board read from the GPU. A computer on which such a read is never answered leaves a board that
    /// must be reset.
    #[arg(long)]
    no_reads: bool,
    /// Try reads from a GPU even if no read by the board from it has succeeded before. On a board with the hard IP's
    /// bridge, the driver resets the board's link after a read that is not answered, which ends the transfers of all
    /// programs.
    #[arg(long, conflicts_with = "no_reads")]
    prove_reads: bool,
    /// Also write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the results to this file as comma-separated values.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page with the plots to this file. The additional rows that figures 7.1 and 7.2 need are then measured,
    /// too.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Ways {
    FpgaToGpu,
    GpuToFpga,
    Both,
}

/// The memory with which the board exchanges data.
#[derive(Debug, Clone, Copy)]
enum Peer {
    Gpu(usize),
    Host,
}

fn peer(text: &str) -> Result<Peer, String> {
    match (text, text.parse()) {
        ("none", _) => Ok(Peer::Host),
        (_, Ok(number)) => Ok(Peer::Gpu(number)),
        _ => Err("give the number of the GPU, or none".into()),
    }
}

/// Sizes of the copies, in ascending order.
#[derive(Debug, Clone, PartialEq)]
struct Sizes(Vec<u64>);

fn method(name: &str) -> Result<Method, String> {
    name.parse()
}

/// Parses a size such as `64KiB` (65536).
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => {
            return Err(format!(
                "{unit} is not a unit: use KiB, MiB or GiB, or none for bytes"
            ));
        }
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("{text} is not a size: use a number and KiB, MiB or GiB"))?;
    match number.checked_mul(1 << shift) {
        Some(bytes @ 1..=0x40_0000_0000) => Ok(bytes),
        _ => Err(format!("{text} is not a size from 1 byte to 256 GiB")),
    }
}

impl std::str::FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => sizes.push(bytes(part)?),
                Some((first, last)) => {
                    let (first, last) = (bytes(first)?, bytes(last)?);
                    if first > last {
                        return Err(format!(
                            "{part}: the first size is larger than the last one"
                        ));
                    }
                    let more = std::iter::successors(Some(first), |size| size.checked_mul(4));
                    sizes.extend(more.take_while(|size| *size <= last));
                    // Both ends of the range are measured.
                    sizes.push(last);
                }
            }
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

impl Args {
    fn options(&self) -> Options {
        let default = match self.simulated {
            true => 4 << 10..=1 << 20,
            false => 4 << 10..=256 << 20,
        };
        let sizes = match &self.sizes {
            Some(Sizes(sizes)) => sizes.clone(),
            None => std::iter::successors(Some(*default.start()), |size| Some(size * 4))
                .take_while(|size| default.contains(size))
                .collect(),
        };
        Options {
            sizes,
            methods: match self.routes.is_empty() {
                true => Method::ALL.to_vec(),
                false => self.routes.clone(),
            },
            directions: match self.direction {
                Ways::FpgaToGpu => vec![Direction::FromFpga],
                Ways::GpuToFpga => vec![Direction::ToFpga],
                Ways::Both => Direction::BOTH.to_vec(),
            },
            repeat: self.repeat.unwrap_or(if self.simulated { 5 } else { 100 }),
            budget: 2 << 30,
            figures: self.html.is_some(),
            probe_reads: !self.no_reads,
            prove_reads: self.prove_reads,
        }
    }

    /// Opens the board, and the GPU if a route needs one.
    fn setup(&self, options: &Options) -> Result<Setup, Error> {
        let told = |error: peerlane_bench::Error| failed(PLACE, &error);
        if self.simulated {
            let message = "building the block's Verilog (a minute, then cached)";
            let waiting = bar(0, "{spinner:.cyan} {msg} ({elapsed})").with_message(message);
            waiting.enable_steady_tick(Duration::from_millis(120));
            let setup = Setup::simulated(options.longest()).map_err(told);
            waiting.finish_and_clear();
            return setup;
        }
        // The GPU goes first: without one, the board is not opened.
        let needed = options.methods.iter().any(|m| *m != Method::Host);
        let gpu = match self.gpu {
            Peer::Gpu(number) if needed => Some(gpu(number, options.longest())?),
            _ => None,
        };
        let device = Device::open(&self.device).map_err(|error| {
            refused(
                error.to_string(),
                &format!(
                    "{} `peerlane doctor` finds the reason; `--simulated` measures the simulated board.",
                    error.hint()
                ),
            )
        })?;
        let side = match (gpu, needed) {
            (None, true) => {
                let memory = HostMemory::new(&device, options.longest());
                let memory = memory.map_err(|error| told(error.into()))?;
                Some(Arc::new(memory) as Arc<dyn Side>)
            }
            (gpu, _) => gpu,
        };
        Setup::new(&device, side, options.longest()).map_err(told)
    }
}

fn refused(what: String, hint: &str) -> Error {
    Error::new(PLACE, what, hint)
}

/// Returns memory of a GPU, of this many bytes.
fn gpu(number: usize, bytes: u64) -> Result<Arc<dyn Side>, Error> {
    let memory = Gpu::open(number).and_then(|gpu| GpuMemory::new(Arc::new(gpu.buffer(bytes)?)));
    match memory {
        Ok(memory) => Ok(Arc::new(memory)),
        Err(error) => Err(refused(
            format!("GPU {number}: {error}"),
            &format!(
                "{} `--gpu none` uses host memory instead; `--simulated` measures the simulated board.",
                error.hint()
            ),
        )),
    }
}

/// Rejects routes none of which has a requested direction: nothing would be measured.
fn refuse_nothing(options: &Options) -> Result<(), Error> {
    let goes = |method: &Method| options.directions.iter().any(|way| method.goes(*way));
    if options.methods.iter().any(goes) {
        return Ok(());
    }
    let names: Vec<_> = options.methods.iter().map(|method| method.name()).collect();
    let ways: Vec<_> = (options.directions.iter())
        .map(|way| match way {
            Direction::FromFpga => "from the FPGA to the GPU",
            Direction::ToFpga => "from the GPU to the FPGA",
        })
        .collect();
    Err(refused(
        format!("{} does not go {}", names.join(", "), ways.join(" or ")),
        "Use another --direction, or other --routes: `--help` lists the direction of each route.",
    ))
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    for file in [&args.json, &args.csv, &args.html].into_iter().flatten() {
        check_file(file)?;
    }
    let options = args.options();
    refuse_nothing(&options)?;
    let step = Step::begin(match args.simulated {
        true => {
            "starting the simulated board (the first time its Verilog is compiled, for a minute)"
        }
        false => "opening the board",
    });
    let mut setup = args.setup(&options)?;
    drop(step);
    let moving = bar(0, "{bar:30.cyan} {percent:>3} %  {eta:>4} left  {msg}");
    let report = transfers::run(&mut setup, &options, &mut |advance: &Advance| {
        moving.set_length(advance.total.max(1));
        moving.set_position(advance.moved);
        if moving.is_hidden() && moving.message() != advance.what {
            errln!("measuring {}", advance.what);
        }
        moving.set_message(advance.what.clone());
    });
    moving.finish_and_clear();
    let report = report.map_err(|error| failed(PLACE, &error))?;
    let origin = Provenance::here().pairs();
    if let Some(file) = &args.json {
        save_json(file, &report)?;
    }
    if let Some(file) = &args.csv {
        save(file, &transfers::csv(&report, &origin))?;
    }
    if let Some(file) = &args.html {
        let page = transfers::html(&report, &origin).map_err(|error| failed(PLACE, &error))?;
        save(file, &page)?;
    }
    print(&report);
    Ok(match report.failed() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

fn print(report: &Report) {
    outln!("{}; build {:#010x}", report.between, report.build_id);
    for (direction, title) in [
        ("fpga-to-gpu", "FPGA to GPU"),
        ("gpu-to-fpga", "GPU to FPGA"),
    ] {
        let rows: Vec<&Row> = (report.results.iter())
            .filter(|row| row.direction == direction)
            .collect();
        if rows.is_empty() {
            continue;
        }
        let time = if report.simulated {
            ", simulated time"
        } else {
            ""
        };
        outln!("\n{title}{time}");
        outln!("{}", rates(&rows));
    }
    let mut notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    for choice in &report.choices {
        notes.push(format!(
            "{}: route that the library chooses: {}",
            choice.direction, choice.line
        ));
    }
    for one in &report.not_measured {
        let word = if one.failed { "failed" } else { "not measured" };
        let (way, route) = (one.direction, one.route.title());
        let from = transfers::size(one.bytes);
        notes.push(format!(
            "{way}: {route}, from {from} on: {word}: {}",
            one.why
        ));
    }
    if !notes.is_empty() {
        out!("\n");
    }
    // Width of the table; none without a terminal.
    let width = table(&[]).width().map(usize::from);
    for note in notes {
        outln!("{}", wrapped(&note, width));
    }
    outln!(
        "bench: {}, {} failed",
        count(report.results.len(), "row"),
        report.failed()
    );
}

fn rates(rows: &[&Row]) -> comfy_table::Table {
    let mut table = table(&[
        "route",
        "bytes",
        "first, µs",
        "first, MB/s",
        "cached, MB/s",
        "median, µs",
        "90 %",
        "99 %",
        "most",
        "copies",
    ]);
    let mut before = None;
    for row in rows {
        let times = &row.cached;
        let numbers = [
            transfers::micros(row.first_ns),
            format!("{:.1}", row.first_rate / 1e6),
        ];
        let cached = [times.p50_ns, times.p90_ns, times.p99_ns, times.max_ns];
        // A route is named in its first row only.
        let name = match before == Some(row.route) {
            true => "",
            false => row.route.title(),
        };
        before = Some(row.route);
        let mut cells = vec![Cell::new(name), Cell::new(transfers::size(row.bytes))];
        cells.extend(numbers.map(Cell::new));
        cells.push(Cell::new(format!("{:.1}", row.cached_rate / 1e6)).fg(Color::Green));
        cells.extend(cached.map(|ns| Cell::new(transfers::micros(ns))));
        cells.push(Cell::new(times.count));
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_lists_and_ranges() {
        let of = |text: &str| text.parse::<Sizes>().map(|Sizes(sizes)| sizes);
        assert_eq!(of("64KiB,1,4K"), Ok(vec![1, 4096, 65_536]));
        assert_eq!(of("4KiB..64KiB"), Ok(vec![4096, 16_384, 65_536]));
        assert_eq!(of("4KiB..32KiB"), Ok(vec![4096, 16_384, 32_768]));
        assert_eq!(of("1MiB..1MiB"), Ok(vec![1 << 20]));
        assert_eq!(of("1 GiB"), Ok(vec![1 << 30]));
        for wrong in [
            "",
            "0",
            "KiB",
            "4kb",
            "2MiB..1MiB",
            "999999GiB",
            "-1",
            "1..",
            "99999999999999999999",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
