//! `peerlane doctor`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comfy_table::{Cell, Color};
use serde::Serialize;

use crate::commands::{FAILED, Outcome, count, table};
use crate::doctor::{self, Finding, Reads, State, Where};
use peerlane_demo::provenance;

/// Find the reasons why a board and a GPU cannot exchange data directly, and hints for each.
///
/// The command examines the devices, their links, the way between them in the tree of bridges, IOMMUs, the GPU's BAR,
/// driver and bitstream, permissions, the library for OpenCL's runtime and OpenCL's driver. Then it moves data between
/// board and GPU in both directions, and compares them. The probes use memory of their own and one channel of the
/// board.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane doctor
  sudo -E env \"PATH=$PATH\" peerlane doctor --json > findings.json
  peerlane doctor --simulated

A diagnostic is `ok`, `note` (it works, or its state is not visible here) or `wrong`.
The exit status is 0 if nothing is wrong, else 2.")]
pub struct Args {
    /// Print the diagnostics as JSON.
    #[arg(long)]
    json: bool,
    /// Do not move any data.
    #[arg(long)]
    no_probes: bool,
    /// Do not let the board read from a GPU. A computer on which such a read is never answered leaves a board that must
    /// be reset.
    #[arg(long)]
    no_reads: bool,
    /// Try reads from GPUs even if no read by the board from them has succeeded before. On a board with the hard IP's
    /// bridge, the driver resets the board's link after a read that is not answered, which ends the transfers of all
    /// programs.
    #[arg(long, conflicts_with = "no_reads")]
    prove_reads: bool,
    /// Only probe the simulated board and its GPU; examine nothing else.
    #[arg(long, conflicts_with_all = ["root", "no_probes"])]
    simulated: bool,
    /// Examine a copy of another computer's /sys and /dev below this directory; nothing is probed then.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Serialize)]
struct Said<'a> {
    /// Of the command; then the kernel and the distribution of the computer that it runs on.
    version: &'static str,
    kernel: Option<String>,
    system: Option<String>,
    faults: usize,
    findings: &'a [Finding],
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let mut findings = Vec::new();
    let reads = Reads {
        probe: !args.no_reads,
        prove: args.prove_reads,
    };
    let root = args.root.as_deref().unwrap_or(Path::new("/"));
    if args.simulated {
        findings = doctor::probe(Where::Simulated, reads);
    } else {
        findings.extend(doctor::look(root));
        if args.root.is_none() && !args.no_probes {
            findings.extend(doctor::probe(Where::Here, reads));
        }
    }
    let wrong = |finding: &&Finding| finding.state == State::Wrong;
    let faults = findings.iter().filter(wrong).count();
    if args.json {
        let said = Said {
            version: provenance::VERSION,
            kernel: line(&root.join("proc/sys/kernel/osrelease"), ""),
            system: line(&root.join("etc/os-release"), "PRETTY_NAME="),
            faults,
            findings: &findings,
        };
        outln!(
            "{}",
            serde_json::to_string_pretty(&said).expect("plain data only")
        );
    } else {
        print(&findings);
        match faults {
            0 => outln!("doctor: nothing is wrong"),
            n => outln!("doctor: {}", count(n, "fault")),
        }
    }
    Ok(match faults {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

/// Returns the rest of the first line that begins like this, without quotation marks.
fn line(path: &Path, begin: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(begin))?;
    Some(rest.trim_matches('"').to_owned())
}

fn print(findings: &[Finding]) {
    if !std::io::stdout().is_terminal() {
        for finding in findings {
            outln!("{}", finding.line());
        }
        return;
    }
    let mut table = table(&["", "", "diagnostic"]);
    for finding in findings {
        let color = match finding.state {
            State::Ok => Color::Green,
            State::Note => Color::Yellow,
            State::Wrong => Color::Red,
        };
        let hint = finding.hint.as_ref().map(|hint| format!(". {hint}"));
        table.add_row(vec![
            Cell::new(finding.about),
            Cell::new(finding.state.word()).fg(color),
            Cell::new(format!("{}{}", finding.what, hint.unwrap_or_default())),
        ]);
    }
    outln!("{table}");
}
