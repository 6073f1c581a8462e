//! `peerlane extend`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comfy_table::{Cell, Color};

use crate::commands::{Outcome, count, table, wrapped};
use peerlane_bsp::config::Config;
use peerlane_bsp::extend::{self, Options, report::Report};
use peerlane_bsp::layout::REPORT;
use peerlane_bsp::size::size;
use peerlane_demo::progress::Step;

/// Put the Peerlane DMA block into an OpenCL BSP.
///
/// The vendor's BSP is only read. A whole platform for `aoc` is written, in which the acl_dma instance is replaced by
/// peerlane_dma. Its README.md has the steps from there to a working board, and peerlane-report.md lists the changes
/// and their reasons. `peerlane check` checks the platform later, and `peerlane revert` restores the vendor's BSP.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("result").required(true).args(["out", "dry_run"])))]
#[command(after_help = "Examples:
  peerlane extend --bsp de5net/hardware/de5net_a7 --out de5net_peerlane
  peerlane extend --bsp de5net --out de5net_peerlane --config peerlane.toml
  peerlane extend --bsp de5net --dry-run

`peerlane config` prints a configuration file. `kind = \"tlp\"` below [port] in it gives the board a TLP port, on
which the block makes PCIe packets itself; `gen = 3` gives it a Gen3 link. docs/fpga/tlp-port.md has the requirements.
The exit status is 0 on success, else 2.")]
pub struct Args {
    /// The vendor's BSP: its hardware/<board> directory, or a BSP root.
    #[arg(long, value_name = "DIR")]
    bsp: PathBuf,
    /// The board to extend, if the BSP root has several; the others stay unchanged.
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// The directory to create; it must not exist.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A configuration file; without it the defaults apply.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Also write the report to this file: Markdown if the name ends in .md or .txt, JSON if in .json.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print the report and keep nothing: the platform is written to the system's temporary directory, and deleted
    /// again.
    #[arg(long)]
    dry_run: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let config = match &args.config {
        Some(file) => Config::read(file)?,
        None => Config::default(),
    };
    let Some(out) = &args.out else {
        let step = Step::on_terminal("extending the BSP");
        let report = extend::preview(
            &args.bsp,
            args.board.as_deref(),
            &config,
            args.report.as_deref(),
        )?;
        drop(step);
        // A file or another program gets the whole report.
        match std::io::stdout().is_terminal() {
            true => print_report(&report, None),
            false => out!("{}", report.markdown()),
        }
        return Ok(ExitCode::SUCCESS);
    };
    let step = Step::on_terminal("extending the BSP");
    let report = extend::extend(&Options {
        bsp: args.bsp.clone(),
        out: out.clone(),
        config,
        report: args.report.clone(),
        board: args.board.clone(),
    })?;
    drop(step);
    print_report(&report, Some(out));
    Ok(ExitCode::SUCCESS)
}

/// Prints the BAR's map and the notes of an extension.
pub fn print_report(report: &Report, out: Option<&Path>) {
    if out.is_none() {
        outln!(
            "The BSP of the board `{}` fits: a port of {} bits, and {} to do by hand",
            report.bsp,
            report.port_bits,
            count(report.to_do.len(), "thing")
        );
    }
    if !report.missing_in_input.is_empty() {
        outln!("Missing, in the BSP and in the copy:");
    }
    for missing in &report.missing_in_input {
        outln!("· {missing}");
    }
    let mut bar = table(&["offset", "size", "slave", "kind", ""]);
    for entry in &report.bar_after.entries {
        let before = report
            .bar_before
            .entries
            .iter()
            .find(|b| b.slave == entry.slave);
        let state = match before {
            None => Cell::new("new").fg(Color::Green),
            Some(b) if b.kind != entry.kind => Cell::new("replaced").fg(Color::Yellow),
            Some(b) if b.base != entry.base => Cell::new("moved").fg(Color::Yellow),
            Some(_) => Cell::new(""),
        };
        let about = if entry.assumed { "≤ " } else { "" };
        bar.add_row(vec![
            Cell::new(format!("{:#07x}", entry.base)),
            Cell::new(format!("{about}{}", size(entry.bytes))),
            Cell::new(&entry.slave),
            Cell::new(&entry.kind),
            state,
        ]);
    }
    outln!(
        "BAR {} ({})",
        report.bar_after.bar,
        size(1 << report.bar_after.bits.min(63))
    );
    outln!("{bar}");
    let width = bar.width().map(usize::from);
    for (title, notes) in [("To do", &report.to_do), ("Found", &report.notes)] {
        if !notes.is_empty() {
            outln!("{title}:");
        }
        for note in notes {
            outln!("{}", wrapped(&format!("· {note}"), width));
        }
    }
    let Some(out) = out else {
        outln!(
            "{} changes in the BSP's files, {} files to add; nothing was written. `--report FILE` writes the whole report",
            report.changes.len(),
            report.added.len()
        );
        return;
    };
    outln!(
        "{}: {} changes in the BSP's files, {} files added; {} lists them with their reasons",
        out.display(),
        report.changes.len(),
        report.added.len(),
        out.join(REPORT).display()
    );
    outln!(
        "Next: follow the steps in {}, which lead to a working board",
        out.join("README.md").display()
    );
}
