//! Counts the lines, branches and edges of the transaction layer's Verilog that its tests reach, by Verilator.
//!
//! A place that no test reaches is a gap, or cannot be reached, and then `tests/coverage/holes.toml` has the reason: by
//! module and line of code for lines and branches, by module and signal for edges. A hole without a reason fails, and
//! so does a reason without a hole. The report is `target/coverage.md`.

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

/// Programs of `hdl/tests`, and those of their tests that have a transaction layer.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("pcie", &[]),
    ("dma", &["host::", "stream::", "packets::", "interrupts::"]),
];

/// Prefix of the modules that are counted.
const MODULES: &str = "peerlane_pcie";

/// Reasons why places are not reached: for each module a line of code or a signal, and the reason. `*` stands for all
/// modules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Holes {
    /// Lines and branches.
    #[serde(default)]
    code: BTreeMap<String, BTreeMap<String, String>>,
    /// Edges: of a signal, or of some of its bits, `signal[31:16]`.
    #[serde(default)]
    signal: BTreeMap<String, BTreeMap<String, String>>,
}

/// Place of a reason: `code` or `signal`, module, and the line or signal.
type Place<'a> = (&'static str, &'a str, &'a str);

impl Holes {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("coverage/holes.toml");
        let text = fs::read_to_string(&path).unwrap();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn all(&self) -> impl Iterator<Item = (Place<'_>, &str)> {
        let tables = [("code", &self.code), ("signal", &self.signal)];
        tables.into_iter().flat_map(|(table, modules)| {
            modules.iter().flat_map(move |(module, reasons)| {
                let reasons = reasons.iter();
                reasons
                    .map(move |(what, why)| ((table, module.as_str(), what.as_str()), why.as_str()))
            })
        })
    }

    /// Returns the reason for a hole; a reason of its own module comes first.
    fn reason(&self, kind: Kind, module: &str, what: &str) -> Option<(Place<'_>, &str)> {
        let of_kind = if kind == Kind::Edge { "signal" } else { "code" };
        let about = |of: &str, (table, module, about): Place<'_>| {
            table == of_kind && module == of && covers(about, what)
        };
        let in_module = |of| self.all().find(|(reason, _)| about(of, *reason));
        in_module(module).or_else(|| in_module("*"))
    }
}

/// Returns whether a reason is for this place: for the same one, or for more bits of the signal.
fn covers(reason: &str, what: &str) -> bool {
    let bits = |text: &str| {
        let (name, range) = text.strip_suffix(']')?.split_once('[')?;
        let (high, low) = range.split_once(':')?;
        Some((
            name.to_owned(),
            high.parse::<u32>().ok()?,
            low.parse::<u32>().ok()?,
        ))
    };
    match (bits(reason), bits(what)) {
        (Some((of, high, low)), Some((name, to, from))) => of == name && high >= to && low <= from,
        (None, Some((name, _, _))) => reason == name,
        _ => reason == what,
    }
}

/// Runs a program, and adds the counts that its models write as they go.
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

/// Makes a table of the modules and of the places that are not reached. Also returns the places without a reason, and
/// the reasons without a place.
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
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (module, kind, what) in points.holes() {
        let reason = holes.reason(kind, &module, &what);
        let kind = kind.name();
        let why = reason.as_ref().map_or("?", |(_, why)| *why);
        writeln!(text, "| {module} | {kind} | `{what}` | {why} |").unwrap();
        match reason {
            Some((place, _)) => _ = used.insert(place),
            None => wrong.push(format!("no reason for {module}: {kind}: {what}")),
        }
    }
    let idle = holes.all().filter(|(place, _)| !used.contains(place));
    wrong.extend(idle.map(|((_, module, what), _)| format!("no hole at {module}: {what}")));
    (text, wrong)
}

#[test]
#[ignore = "external tools: cargo xtask test coverage"]
fn what_tests_of_the_transaction_layer_do_not_reach_is_explained() {
    let holes = Holes::read();
    let mut points = Points::default();
    for (program, filters) in PROGRAMS {
        counted(&newest(program), filters, &mut points);
    }
    let (text, wrong) = report(&points, &holes);
    fs::write(target().join("coverage.md"), &text).unwrap();
    println!("{text}");
    assert!(wrong.is_empty(), "tests/coverage/holes.toml:\n{wrong:#?}");
}

#[test]
fn a_reason_is_for_its_bits() {
    assert!(covers("at", "at") && covers("at", "at[3:0]") && covers("at[7:0]", "at[3:1]"));
    assert!(!covers("at[3:0]", "at[4:1]") && !covers("at[3:0]", "at") && !covers("a", "at[3:0]"));
    assert!(covers("at[k] (if)", "at[k] (if)") && !covers("at[k]", "at[k] (if)"));
}
