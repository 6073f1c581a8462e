//! `peerlane extend`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use crate::commands::{FAILED, Outcome};
use peerlane_bsp::check::{self, Finding, Findings, Level};
use peerlane_bsp::config::Config;
use peerlane_bsp::extend::{self, Options, report::Report};
use peerlane_bsp::layout::Layout;
use peerlane_bsp::size::size;

/// Put the Peerlane DMA block into an OpenCL BSP, or check a BSP that has it.
///
/// The vendor's BSP is only read. A whole platform for `aoc` is written, in which the acl_dma instance is replaced
/// by peerlane_dma. Its README.md has the steps from there to a board that works, and peerlane-report.md says what
/// was changed and why. `peerlane revert` gives the vendor's BSP back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane extend --bsp de5net/hardware/de5net_a7 --out de5net_peerlane
  peerlane extend --bsp de5net --out de5net_peerlane --config peerlane.toml
  peerlane extend --check de5net_peerlane

`peerlane config` prints a configuration file. The exit status is 0 if all is well, else 2.")]
pub struct Args {
    /// The vendor's BSP: its hardware/<board> directory, or a BSP root with one board.
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "check",
        requires = "out"
    )]
    bsp: Option<PathBuf>,
    /// The directory to make; it must not exist.
    #[arg(long, value_name = "DIR", requires = "bsp")]
    out: Option<PathBuf>,
    /// A configuration file; without it the defaults hold.
    #[arg(long, value_name = "FILE", requires = "bsp")]
    config: Option<PathBuf>,
    /// Another copy of the report: Markdown, or JSON if the name ends in .json.
    #[arg(long, value_name = "FILE", requires = "bsp")]
    report: Option<PathBuf>,
    /// Check a BSP that was extended before.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["bsp", "out", "config", "report"])]
    check: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    if let Some(dir) = &args.check {
        return check(dir);
    }
    let (Some(bsp), Some(out)) = (&args.bsp, &args.out) else {
        unreachable!("clap requires both without --check");
    };
    let config = match &args.config {
        Some(file) => Config::read(file)?,
        None => Config::default(),
    };
    let options = Options {
        bsp: bsp.clone(),
        out: out.clone(),
        config,
        report: args.report.clone(),
    };
    let report = extend::extend(&options)?;
    print_report(&report, out);
    Ok(ExitCode::SUCCESS)
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(
            header
                .iter()
                .map(|h| Cell::new(h).add_attribute(Attribute::Bold)),
        );
    table
}

/// Prints the BAR's map and the notes of an extension.
pub fn print_report(report: &Report, out: &Path) {
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
    println!(
        "BAR {} ({})",
        report.bar_after.bar,
        size(1 << report.bar_after.bits.min(63))
    );
    println!("{bar}");
    for note in &report.notes {
        println!("· {note}");
    }
    println!(
        "{}: {} changes in the BSP's files, {} files added; {} says what and why",
        out.display(),
        report.changes.len(),
        report.added.len(),
        out.join("peerlane-report.md").display()
    );
}

fn check(dir: &Path) -> Outcome {
    let layout = Layout::of_result(dir)?;
    let findings = check::check(&layout)?;
    print_findings(&findings, dir);
    Ok(if findings.errors() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

fn print_findings(findings: &Findings, dir: &Path) {
    let mut table = table(&["test", "", "finding"]);
    for finding in &findings.0 {
        let word = match finding.level {
            Level::Good => Cell::new("ok").fg(Color::Green),
            Level::Note => Cell::new("note").fg(Color::Yellow),
            Level::Bad => Cell::new("wrong").fg(Color::Red),
        };
        table.add_row(vec![
            Cell::new(finding.test),
            word,
            Cell::new(sentence(finding, dir)),
        ]);
    }
    println!("{table}");
    match findings.errors() {
        0 => println!("{}: sound", dir.display()),
        n => println!("{}: {n} faults", dir.display()),
    }
}

fn sentence(finding: &Finding, dir: &Path) -> String {
    let place = finding.place.strip_prefix(dir).unwrap_or(&finding.place);
    let mut text = match (finding.place.as_os_str().is_empty(), finding.line) {
        (true, _) => finding.what.clone(),
        (false, None) => format!("{}: {}", place.display(), finding.what),
        (false, Some(line)) => format!("{}:{line}: {}", place.display(), finding.what),
    };
    if !finding.remedy.is_empty() {
        text += &format!(". {}", finding.remedy);
    }
    text
}
