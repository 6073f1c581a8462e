//! The proofs that see mutants which no test has found.

use std::process::{Command, Stdio};

use peerlane_tests::programs::{command, newest};
use peerlane_verilog::mutants::SELECT;

use crate::Candidate;

/// As `proofs/planted.rs`: what a proof that sees the mutant ends with, and the module that the mutant is in.
const SEEN: i32 = 70;
/// See [`SEEN`].
const MODULE: &str = "PEERLANE_MUTANT_OF";

/// Seconds after which a proof counts as passed: more than those of a module take without a mutant.
const PATIENCE: &str = "240";

/// The names of all proofs.
pub(crate) fn all() -> Vec<String> {
    let mut list = command(&newest("proofs"));
    let output = list.args(["--list", "--ignored"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    names.map(str::to_owned).collect()
}

/// The first proof that has a course of events in which the mutant breaks it. Those of other modules end at once.
pub(crate) fn first_that_fails(names: &[String], candidate: &Candidate) -> Option<String> {
    let fails = |name: &&String| {
        let status = Command::new("timeout")
            .args(["--signal=KILL", PATIENCE])
            .arg(newest("proofs"))
            .args(["--ignored", "--exact", name])
            .env(MODULE, &candidate.module)
            .env(SELECT, candidate.mutant.number.to_string())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        status.code() == Some(SEEN)
    };
    names
        .iter()
        .find(fails)
        .map(|name| format!("proofs: {name}"))
}
