//! `peerlane check`.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use comfy_table::{Cell, Color};
use serde::Serialize;

use crate::commands::{FAILED, Outcome, count, table};
use peerlane_bsp::check;
use peerlane_bsp::extend::report;
use peerlane_bsp::finding::{Finding, Level};
use peerlane_bsp::layout::{Layout, REPORT};
use peerlane_demo::progress::Step;

/// Check a BSP that was extended before.
///
/// The vendor's files, which the platform contains, are extended again in the system's temporary directory, and each
/// file is compared with the result. In an edited file, each element that the extension wrote or removed must be as the
/// extension left it. All other edits are listed, and not judged. The platform is only read. On a terminal the
/// diagnostics are a table; elsewhere each is a line `test: state: file:line: text`. File names are relative to DIR.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane check de5net_peerlane
  peerlane check de5net_peerlane/hardware/de5net_a7_peerlane
  peerlane check de5net_peerlane --json > findings.json

A diagnostic is `ok` (proved), `note` (an edit that leaves the extension as it is, a task, or a fact that cannot be
proved) or `wrong`.
The exit status is 0 if nothing is wrong, else 2.")]
pub struct Args {
    /// A platform that `peerlane extend` or `peerlane new` wrote, or its hardware/<board> directory.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print the diagnostics as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let layout = Layout::of_result(&args.dir)?;
    let step = Step::on_terminal("checking the platform");
    let findings = check::check(&layout)?;
    drop(step);
    let said = Said {
        dir: args.dir.display().to_string(),
        faults: findings.errors(),
        findings: findings.0.iter().map(|f| Line::of(f, &args.dir)).collect(),
        report_has_more: fs::read_to_string(layout.root.join(REPORT))
            .is_ok_and(|report| report.lines().any(|line| line == report::TO_DO)),
    };
    match (args.json, std::io::stdout().is_terminal()) {
        (true, _) => outln!(
            "{}",
            serde_json::to_string_pretty(&said).expect("plain data only")
        ),
        (false, true) => said.print_table(),
        (false, false) => said.print_lines(),
    }
    Ok(match said.faults {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

/// The output of the command.
#[derive(Debug, Serialize)]
struct Said<'a> {
    /// The directory as it was given.
    dir: String,
    /// Number of findings that are `wrong`.
    faults: usize,
    findings: Vec<Line<'a>>,
    /// Whether the report exists and has a list of steps that are left to the user.
    #[serde(skip)]
    report_has_more: bool,
}

/// One finding.
#[derive(Debug, Serialize)]
struct Line<'a> {
    test: &'a str,
    state: &'static str,
    /// Path relative to the directory that was given; `None` if the finding is not about a file.
    file: Option<String>,
    line: Option<usize>,
    /// A sentence without its full stop.
    what: String,
    /// The hint in whole sentences; `None` unless the finding is a fault.
    #[serde(rename = "remedy")]
    hint: Option<String>,
}

impl<'a> Line<'a> {
    fn of(finding: &'a Finding, dir: &Path) -> Self {
        let named = !finding.place.as_os_str().is_empty();
        Self {
            test: finding.test,
            state: match finding.level {
                Level::Good => "ok",
                Level::Note => "note",
                Level::Bad => "wrong",
            },
            file: named.then(|| from(dir, &finding.place).display().to_string()),
            line: finding.line,
            what: finding.what.to_string(),
            hint: finding.hint.as_ref().map(ToString::to_string),
        }
    }

    /// Whether the finding is a step for the user, by the name of its test.
    fn is_to_do(&self) -> bool {
        self.test == "to do" && self.state == "note"
    }

    fn text(&self) -> String {
        let place = match (&self.file, self.line) {
            (None, _) => String::new(),
            (Some(file), None) => format!("{file}: "),
            (Some(file), Some(line)) => format!("{file}:{line}: "),
        };
        let hint = self.hint.as_ref().map(|hint| format!(". {hint}"));
        // The output stays one line, even if a file that a finding quotes contains control characters.
        format!("{place}{}{}", self.what, hint.unwrap_or_default()).replace(char::is_control, " ")
    }
}

impl Said<'_> {
    fn print_table(&self) {
        let mut table = table(&["test", "", "diagnostic"]);
        for line in &self.findings {
            let color = match line.state {
                "ok" => Color::Green,
                "note" => Color::Yellow,
                _ => Color::Red,
            };
            table.add_row(vec![
                Cell::new(line.test),
                Cell::new(line.state).fg(color),
                Cell::new(line.text()),
            ]);
        }
        outln!("{table}");
        outln!("{}", self.close());
    }

    fn print_lines(&self) {
        for line in &self.findings {
            outln!("{}: {}: {}", line.test, line.state, line.text());
        }
        outln!("{}", self.close());
    }

    /// Returns the last line of the output.
    fn close(&self) -> String {
        if self.faults > 0 {
            return format!("{}: {}", self.dir, count(self.faults, "fault"));
        }
        let to_do = match self.findings.iter().filter(|line| line.is_to_do()).count() {
            0 => String::new(),
            n => format!(", {} to do", count(n, "thing")),
        };
        // A check does not find everything, such as a lack of room in a region.
        let more = match self.report_has_more {
            true => format!("; \"What to do\" of {REPORT} may have more"),
            false => String::new(),
        };
        let verdict = match self.findings.iter().any(|line| line.test == "edits") {
            true => "the extension is intact; other edits were not judged",
            false => "sound",
        };
        format!("{}: {verdict}{to_do}{more}", self.dir)
    }
}

/// Returns the path of a file relative to a directory: `../../board_env.xml`, seen from a board's directory. The path
/// stays as it is if one of the two does not exist.
fn from(dir: &Path, file: &Path) -> PathBuf {
    let relative = || {
        let dir = fs::canonicalize(dir).ok()?;
        // The file may be missing, and its directory, too.
        let there = file.ancestors().find(|part| part.exists())?;
        let rest = file.strip_prefix(there).ok()?;
        let mut full = fs::canonicalize(there).ok()?;
        full.extend(rest.components());
        let same = (dir.components().zip(full.components()))
            .take_while(|(a, b)| a == b)
            .count();
        let up = dir.components().skip(same).map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(full.components().skip(same)).collect();
        Some(match path.as_os_str().is_empty() {
            true => ".".into(),
            false => path,
        })
    };
    relative().unwrap_or_else(|| file.to_path_buf())
}
