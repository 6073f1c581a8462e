//! Lines, branches and edges of the transaction layer's Verilog that its tests reach, counted by Verilator.
//!
//! What no test reaches is a gap, or cannot be reached, and then `tests/coverage/holes.toml` says why: by module and
//! line of code for lines and branches, by module and signal for edges. A hole without a reason fails, and a reason
//! without a hole, too. The report is `target/coverage.md`.

mod points;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::Duration,
};

use peerlane_tests::programs::{LEFT_OUT, command, newest, target};
use points::{Kind, Points};
use serde::Deserialize;

/// Programs of `hdl/tests`, and which of their tests have a transaction layer.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("pcie", &[]),
    ("dma", &["host::", "stream::", "packets::", "interrupts::"]),
];

/// What is counted.
const MODULES: &str = "peerlane_pcie";

/// Why something is not reached: of modules by name, a line of code or a signal and the reason.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Holes {
    /// Lines and branches.
    #[serde(default)]
    code: BTreeMap<String, BTreeMap<String, String>>,
    /// Edges. `*` stands for all modules.
    #[serde(default)]
    signal: BTreeMap<String, BTreeMap<String, String>>,
}

impl Holes {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("coverage/holes.toml");
        let text = fs::read_to_string(&path).unwrap();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn reason(&self, kind: Kind, module: &str, what: &str) -> Option<&str> {
        let of = if kind == Kind::Edge {
            &self.signal
        } else {
            &self.code
        };
        let in_module = |module| of.get(module).and_then(|reasons| reasons.get(what));
        in_module(module)
            .or_else(|| in_module("*"))
            .map(String::as_str)
    }
}

/// Runs a program, and counts what its models write as they go.
fn counted(program: &Path, filters: &[&str], points: &mut Points) {
    let directory = tempfile::tempdir().unwrap();
    let mut child = command(program)
        .arg("--ignored")
        .args(filters)
        .args(LEFT_OUT.iter().flat_map(|part| ["--skip", part]))
        .env("PEERLANE_COVERED", MODULES)
        .env("PEERLANE_COVERAGE", directory.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        let ended = child.try_wait().unwrap();
        for entry in fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "dat") {
                points.add(&fs::read(&path).unwrap());
                fs::remove_file(&path).unwrap();
            }
        }
        if let Some(status) = ended {
            assert!(status.success(), "{}", program.display());
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// A table of the modules, and what is not reached.
fn report(points: &Points, holes: &Holes) -> (String, Vec<String>) {
    let mut text = "| module | lines | branches | edges |\n| --- | --- | --- | --- |\n".to_owned();
    let share = |(reached, all): (usize, usize)| match all {
        0 => "none".to_owned(),
        _ => format!("{:.1} % of {all}", 100.0 * reached as f64 / all as f64),
    };
    for (module, shares) in points.shares() {
        let [lines, branches, edges] = shares.map(share);
        writeln!(text, "| {module} | {lines} | {branches} | {edges} |").unwrap();
    }
    text += "\n| module | kind | not reached | why |\n| --- | --- | --- | --- |\n";
    let mut unexplained = Vec::new();
    for (module, kind, what) in points.holes() {
        let reason = holes.reason(kind, &module, &what);
        let kind = kind.name();
        writeln!(
            text,
            "| {module} | {kind} | `{what}` | {} |",
            reason.unwrap_or("?")
        )
        .unwrap();
        if reason.is_none() {
            unexplained.push(format!("{module}: {kind}: {what}"));
        }
    }
    (text, unexplained)
}

#[test]
#[ignore = "external tools: cargo xtask test coverage"]
fn what_tests_of_the_transaction_layer_do_not_reach_is_explained() {
    let mut points = Points::default();
    for (program, filters) in PROGRAMS {
        counted(&newest(program), filters, &mut points);
    }
    let (text, unexplained) = report(&points, &Holes::read());
    fs::write(target().join("coverage.md"), &text).unwrap();
    println!("{text}");
    let unexplained: BTreeSet<_> = unexplained.into_iter().collect();
    assert!(
        unexplained.is_empty(),
        "without a reason in tests/coverage/holes.toml:\n{unexplained:#?}"
    );
}
