//! `peerlane bench rtl`.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use peerlane_bench::{Limit, Options, Progress, Report, Row, Verdict};

use super::{bar, failed};
use crate::commands::{FAILED, Outcome, check_file, save, save_json};
use peerlane_demo::error::Error;

/// The block's Verilog on the simulated board, compared with the limits of the link and the PCIe IP.
///
/// First each model of the block that the rows need is compiled, of eight at most. That takes minutes the first time;
/// the models are cached. Standard error shows the models that are built and the rows that are measured, and each row
/// when it is done; the table comes at the end.
///
/// Times are simulated, so the numbers are the same on every machine; only sim.rate is the speed of the simulation
/// itself. The exit status is 2 if a row is below its bar while its limit is not.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Also write the results to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with plots of rate against size, 64 B to 64 MiB. They are measured in both directions with three
    /// models, in addition to the rows: this takes minutes more.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The rows to measure; without any, all rows. The beginning of a name up to a dot selects all rows that have it:
    /// `tlp.gen2` for `tlp.gen2.write`, `tlp.gen2.read` and the like, `read.bulk` for `read.bulk.2us` too.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

fn after_help() -> String {
    let mut text = "Rows:\n".to_owned();
    for scenario in peerlane_bench::SCENARIOS {
        // Text that continues on the next line has the same indent as its first line.
        text.push_str(&format!("  {}\n      {}\n", scenario.name, scenario.what));
    }
    text.push_str(
        "\nExamples:
  peerlane bench rtl
  peerlane bench rtl write.bulk thesis
  peerlane bench rtl tlp.gen2 tlp.gen3.doorbell
  peerlane bench rtl --json results.json --html report.html",
    );
    text
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    for file in [&args.json, &args.html].into_iter().flatten() {
        check_file(file)?;
    }
    let rows = peerlane_bench::select(&args.names).map_err(|error| {
        Error::new(
            "bench rtl",
            error.to_string(),
            "`peerlane bench rtl --help` lists them.",
        )
    })?;
    let shown = Shown::new();
    let report = peerlane_bench::run(
        &Options {
            rows,
            sweep: args.html.is_some().then_some(64 << 20),
            ..Options::default()
        },
        &shown,
    );
    shown.clear();
    let report = report.map_err(|error| failed("bench rtl", &error))?;
    if let Some(file) = &args.json {
        save_json(file, &report)?;
    }
    if let Some(file) = &args.html {
        let page = peerlane_bench::html(&report).map_err(|error| failed("bench rtl", &error))?;
        save(file, &page)?;
    }
    print(&report);
    Ok(match report.count(Verdict::Below) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

/// Progress on standard error: on a terminal one bar for all jobs and one for each that runs, with each finished row
/// above them; elsewhere a line for each step.
struct Shown {
    bars: Option<MultiProgress>,
    jobs: Mutex<BTreeMap<&'static str, ProgressBar>>,
    /// Number of finished jobs, and of all jobs.
    count: (AtomicUsize, AtomicUsize),
}

/// Name of the bar over all jobs.
const TOTAL: &str = "";

impl Shown {
    fn new() -> Self {
        Self {
            bars: std::io::stderr().is_terminal().then(MultiProgress::default),
            jobs: Mutex::default(),
            count: Default::default(),
        }
    }

    /// Calls `use_it` with the bar of this name, which `new` makes if it does not exist; does nothing without bars.
    fn with(
        &self,
        name: &'static str,
        new: impl FnOnce() -> ProgressBar,
        use_it: impl Fn(&ProgressBar),
    ) {
        let Some(all) = &self.bars else { return };
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(jobs.entry(name).or_insert_with(|| all.add(new())));
    }

    /// Prints a line that stays on the screen.
    fn say(&self, line: &str) {
        match &self.bars {
            // An error cannot be reported anywhere else.
            Some(all) => drop(all.println(line)),
            None => errln!("{line}"),
        }
    }

    fn clear(&self) {
        if let Some(all) = &self.bars {
            // The screen is empty if this fails.
            let _ = all.clear();
        }
    }
}

impl Progress for Shown {
    fn building(&self, model: &'static str, number: usize, models: usize) {
        let what = format!(
            "building model {number} of {models}: {model} (minutes the first time, then it is cached)"
        );
        if self.bars.is_none() {
            return self.say(&what);
        }
        self.with(
            TOTAL,
            || bar(0, "{spinner:.cyan} {msg} ({elapsed})"),
            |bar| {
                bar.set_message(what.clone());
                bar.enable_steady_tick(Duration::from_millis(120));
            },
        );
    }

    fn built(&self, jobs: usize) {
        self.count.1.store(jobs, Ordering::Relaxed);
        let template = "{spinner:.cyan} measuring {pos}/{len} ({elapsed})";
        let new = || bar(jobs as u64, template);
        self.with(TOTAL, new, |bar| {
            bar.set_length(jobs as u64);
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
        });
    }

    fn started(&self, job: &'static str) {
        match self.bars {
            Some(_) => self.advance(job, 0.0),
            None => self.say(&format!("{job}: measuring")),
        }
    }

    fn advance(&self, job: &'static str, part: f64) {
        let template = "  {msg:18} {bar:40.cyan} {percent:>3} %";
        self.with(
            job,
            || bar(1000, template).with_message(job),
            |bar| {
                bar.set_position((part.clamp(0.0, 1.0) * 1000.0) as u64);
            },
        );
    }

    fn done(&self, job: &'static str, row: Option<&Row>) {
        let number = self.count.0.fetch_add(1, Ordering::Relaxed) + 1;
        let all = self.count.1.load(Ordering::Relaxed);
        let result = match row {
            Some(row) => format!("{} {}", number_of(row), unit(row)),
            None => "measured".into(),
        };
        self.say(&format!("{job}: {result} ({number} of {all})"));
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = jobs.remove(job) {
            bar.finish_and_clear();
        }
        if let Some(all) = jobs.get(TOTAL) {
            all.inc(1);
        }
    }
}

fn print(report: &Report) {
    for block in &report.blocks {
        outln!("{}: {}; {}", block.name, block.link, block.build);
    }
    let mut table = Table::new();
    table.load_preset(presets::UTF8_BORDERS_ONLY).set_header(
        [
            "", "measured", "unit", "link", "port", "of limit", "bar", "",
        ]
        .map(|h| Cell::new(h).add_attribute(Attribute::Bold)),
    );
    for row in &report.rows {
        table.add_row(cells(row));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    outln!("{table}");
    for row in &report.rows {
        for note in &row.notes {
            outln!("{}: {note}", row.name);
        }
    }
    outln!(
        "link, port: the two limits, and the share of each that was reached. The link's limit is payload after packet \
         headers and framing. The limit of a Txs port is the cycles of the hard IP's bridge; that of a TLP port is its \
         width, tags and room for completions. The limit of a row is the smaller one; for a modelled design it is the \
         published rate, for a latency the bar."
    );
    outln!(
        "bench: {} rows, {} at their bar, {} below it, {} with a limit below their bar",
        report.rows.len(),
        report.count(Verdict::Pass),
        report.count(Verdict::Below),
        report.count(Verdict::LimitBelow),
    );
}

/// Formats a number in the unit that the table uses for it.
fn number(value: f64, unit: &str) -> String {
    match unit {
        "B/s" => format!("{:.1}", value / 1e6),
        "descriptors/cycle" => format!("{value:.4}"),
        "cycles/s" => format!("{:.0}", value / 1e3),
        "requests" => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats the measured value in the unit that the table uses for it.
fn number_of(row: &Row) -> String {
    number(row.value, row.unit)
}

/// Returns the unit that the table uses.
fn unit(row: &Row) -> &'static str {
    match row.unit {
        "B/s" => "MB/s",
        "cycles/s" => "kcycles/s",
        "descriptors/cycle" => "desc/cycle",
        unit => unit,
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    let limit = |of: fn(&Limit) -> f64| {
        // A row that measures the engine alone has no link.
        row.limits
            .map(|limits| of(&limits))
            .filter(|limit| limit.is_finite())
            .map_or(String::new(), |limit| {
                let part = row.value / limit * 100.0;
                format!("{} {part:>5.1} %", number(limit, row.unit))
            })
    };
    let (word, colour) = match row.verdict {
        Verdict::Pass => ("pass", Color::Green),
        Verdict::Below => ("below", Color::Red),
        Verdict::LimitBelow => ("limit below bar", Color::Yellow),
        Verdict::Reported => ("", Color::Reset),
    };
    vec![
        Cell::new(row.name),
        Cell::new(number_of(row)),
        Cell::new(unit(row)),
        Cell::new(limit(|l| l.link)),
        Cell::new(limit(|l| l.contract)),
        Cell::new(
            row.ratio
                .map_or(String::new(), |ratio| format!("{:.1} %", ratio * 100.0)),
        ),
        Cell::new(row.bar.map_or(String::new(), |bar| bar.to_string())),
        Cell::new(word).fg(colour),
    ]
}
