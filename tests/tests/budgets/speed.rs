//! Speed: the highest frequency of each clock where nextpnr places and routes the block alone.
//!
//! The part is a Lattice LFE5UM5G-85F, speed grade 8 (it exists in no other). Its 4-input LUTs and 40 nm are slower
//! than the boards' FPGAs: the number is a gate for changes, not a promise for a board.
//!
//! The block has thousands of ports, and the part has 365 pins. nextpnr's option for this is `--out-of-context`: ports
//! end in the fabric and have no I/O cell and no place, and each clock is taken to be on a global net. So paths from
//! and to ports are not timed, nor are paths between the two clocks; all others are. With its seed fixed, nextpnr gives
//! the same number on every run and machine. Another seed, or a change anywhere, moves it by as much as a tenth: three
//! seeds are placed, and the median of each clock counts.

use std::{collections::BTreeMap, fs, path::Path, thread};

use peerlane_hdl::Design;
use peerlane_tools::{Nextpnr, Yosys};
use serde::Deserialize;

use crate::{Numbers, netlist};

/// Flattened, with Yosys's default mapper for the family; no I/O cells.
const SYNTHESIS: &str = "synth_ecp5 -noiopad";

/// Options of nextpnr. The wanted frequency is the aim; this test itself reports a miss.
const PLACE_AND_ROUTE: [&str; 9] = [
    "--um5g-85k",
    "--speed",
    "8",
    "--package",
    "CABGA756",
    "--out-of-context",
    "--freq",
    "150",
    "--timing-allow-fail",
];

/// Seeds of the placer.
const SEEDS: [&str; 3] = ["1", "2", "3"];

/// The part of nextpnr's report that is read.
#[derive(Debug, Deserialize)]
struct Report {
    fmax: BTreeMap<String, Fmax>,
    critical_paths: Vec<Slowest>,
}

#[derive(Debug, Deserialize)]
struct Fmax {
    /// MHz.
    achieved: f64,
}

/// The slowest path between two clocks, or of one.
#[derive(Debug, Deserialize)]
struct Slowest {
    from: String,
    to: String,
    path: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    /// ns.
    delay: f64,
    /// `clk-to-q`, `logic`, `routing` or `setup`.
    #[serde(rename = "type")]
    kind: String,
    to: End,
}

#[derive(Debug, Deserialize)]
struct End {
    cell: String,
}

impl Slowest {
    fn print(&self) {
        let total: f64 = self.path.iter().map(|step| step.delay).sum();
        eprintln!("slowest path, {} to {}: {total:.2} ns", self.from, self.to);
        // A carry chain has many steps that take no time.
        for step in self.path.iter().filter(|step| step.delay > 0.0) {
            eprintln!("  {:>5.2} {:<8} {}", step.delay, step.kind, step.to.cell);
        }
    }
}

/// Places and routes `block.json` in a directory.
fn place(nextpnr: &Nextpnr, directory: &Path, top: &str, seed: &str) -> Report {
    let report = format!("report-{seed}.json");
    let output = nextpnr
        .command()
        .current_dir(directory)
        .args(PLACE_AND_ROUTE)
        .args(["--seed", seed, "--top", top, "--json", "block.json"])
        .args(["--report", &report, "--quiet"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json = fs::read_to_string(directory.join(report)).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// Returns the MHz of each clock, to a tenth.
pub(crate) fn measure(
    yosys: &Yosys,
    nextpnr: &Nextpnr,
    design: &Design,
    clocks: &[&str],
) -> Numbers {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let top = design.top().name.as_str();
    netlist::synthesise(yosys, directory, design, SYNTHESIS, "write_json block.json");
    let reports = thread::scope(|scope| {
        let runs = SEEDS.map(|seed| scope.spawn(move || place(nextpnr, directory, top, seed)));
        runs.map(|run| run.join().expect("nextpnr reports"))
    });
    for (seed, report) in SEEDS.iter().zip(&reports) {
        eprintln!("seed {seed}:");
        for path in report.critical_paths.iter().filter(|p| p.from == p.to) {
            path.print();
        }
    }
    let median = |clock: &str| {
        let achieved = |report: &Report| match report.fmax.get(clock) {
            Some(fmax) => fmax.achieved,
            None => panic!("nextpnr reports no path of {clock}"),
        };
        let mut all: Vec<f64> = reports.iter().map(achieved).collect();
        eprintln!("ecp5.{clock}, a seed each: {all:.1?} MHz");
        all.sort_by(f64::total_cmp);
        (all[all.len() / 2] * 10.0).round() / 10.0
    };
    clocks
        .iter()
        .map(|clock| ((*clock).to_owned(), median(clock)))
        .collect()
}
