//! Each package is compiled with one set of features, for the programs and for the tests.
//!
//! Cargo joins the features that all selected targets ask for. Features that only a dev-dependency asks for are
//! therefore missing when a program is built, and the package with everything above it is compiled a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Returns each package's sets of features when the given kinds of dependency count.
///
/// A package may have several sets: one for build scripts, one for programs.
fn features(kinds: &str) -> BTreeMap<String, BTreeSet<String>> {
    let out = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--workspace",
            "--offline",
            "--no-dedupe",
            "--prefix=none",
            "--format={p}|{f}",
        ])
        .args(["--edges", kinds])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo starts");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let mut sets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(out.stdout)
        .expect("cargo writes text")
        .lines()
        // A member's tree ends with an empty line.
        .filter(|line| !line.is_empty())
    {
        let (package, features) = line.split_once('|').expect("the format above");
        sets.entry(package.to_owned())
            .or_default()
            .insert(features.to_owned());
    }
    sets
}

#[test]
fn programs_and_tests_share_what_is_compiled() {
    let programs = features("normal,build");
    let tests = features("normal,build,dev");
    assert!(
        programs.keys().any(|package| package.starts_with("xtask ")),
        "{programs:?}"
    );
    let twice: Vec<_> = programs
        .iter()
        .filter(|(package, sets)| !sets.is_subset(&tests[*package]))
        .map(|(package, sets)| {
            format!(
                "{package}\n  programs: {sets:?}\n  tests:    {:?}",
                tests[package]
            )
        })
        .collect();
    assert!(
        twice.is_empty(),
        "compiled once for programs and once for tests; enable the features in an ordinary dependency:\n{}",
        twice.join("\n")
    );
}
