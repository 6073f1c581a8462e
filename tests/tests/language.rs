//! One package depends on rust-hdl, which is not maintained any more.

use std::path::PathBuf;
use std::process::Command;

use peerlane_tests::tree;

/// The package that re-exports the part of rust-hdl that is used.
const LANGUAGE: &str = "hdl/language/Cargo.toml";

#[test]
fn one_package_depends_on_rust_hdl() {
    let depends = |manifest: &PathBuf| {
        let text = std::fs::read_to_string(tree::root().join(manifest)).unwrap();
        text.lines().any(|line| line.starts_with("rust-hdl"))
    };
    let mut found = tree::files().unwrap();
    found.retain(|path| path.ends_with("Cargo.toml") && depends(path));
    found.sort();
    // The root's names the versions.
    assert_eq!(found, ["Cargo.toml", LANGUAGE].map(PathBuf::from));
}

/// The packages below [`LANGUAGE`] that a future compiler will refuse. If there is a new one, replace or vendor it while
/// today's compilers still take it.
const REFUSED_LATER: &[&str] = &["svg v0.10.0"];

#[test]
#[ignore = "external tools: cargo xtask test semver"]
fn a_newer_compiler_refuses_nothing_new() {
    let target = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(tree::root())
        .args(["check", "--package", "peerlane-language"])
        .args(["--future-incompat-report", "--target-dir"])
        .arg(target.path())
        .env("CARGO_TERM_COLOR", "never")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let listed = text
        .lines()
        .filter_map(|line| line.split_once("rejected by a future version of Rust: "))
        .flat_map(|(_, packages)| packages.split(", "));
    let mut listed: Vec<_> = listed.collect();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed, REFUSED_LATER, "{text}");
}
