//! The workspace's test programs: built once, together, and run as the suites ask.
//!
//! Cargo unifies the features of dependencies over the packages that it is asked for, so a
//! `cargo test --package …` a step would compile most dependencies again.

use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use miette::{IntoDiagnostic, WrapErr};
use serde::Deserialize;

/// A test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// The package it tests.
    pub(crate) package: String,
    /// The target: an integration test's name, or that of the library or binary.
    pub(crate) target: String,
    executable: PathBuf,
    directory: PathBuf,
}

impl Program {
    /// The command that runs it, as `cargo test` would.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }
}

/// A line of cargo's JSON output, as far as it matters.
#[derive(Deserialize)]
struct Message {
    reason: String,
    package_id: Option<String>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds all test programs; `None` when one does not build.
pub(crate) fn build(root: &Path) -> miette::Result<Option<Vec<Program>>> {
    let mut command = crate::cargo(root);
    command.args([
        "test",
        "--workspace",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ]);
    if env::var_os("CI").is_some() {
        command.arg("--locked");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    let mut programs = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            programs.extend(program(&line.into_diagnostic()?));
        }
    }
    let built = child.wait().into_diagnostic()?.success();
    Ok(built.then_some(programs))
}

/// The test program that a line of cargo's output reports.
fn program(line: &str) -> Option<Program> {
    let message: Message = serde_json::from_str(line).ok()?;
    if message.reason != "compiler-artifact" {
        return None;
    }
    let (executable, target) = (message.executable?, message.target?);
    // Programs and examples are built too, for the tests that run them.
    if !message.profile?.test {
        return None;
    }
    Some(Program {
        package: package_name(&message.package_id?)?.to_owned(),
        target: target.name,
        executable,
        directory: message.manifest_path?.parent()?.to_owned(),
    })
}

/// The name in a package ID: `path+file:///…/hdl#peerlane-hdl@0.1.0`, or `…/xtask#0.1.0` where the
/// directory has the package's name.
fn package_name(id: &str) -> Option<&str> {
    let (path, fragment) = id.rsplit_once('#')?;
    match fragment.split_once('@') {
        Some((name, _)) => Some(name),
        None => path.rsplit('/').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_read_in_both_forms() {
        assert_eq!(
            package_name("path+file:///a/hdl#peerlane-hdl@0.1.0"),
            Some("peerlane-hdl")
        );
        assert_eq!(package_name("path+file:///a/xtask#0.1.0"), Some("xtask"));
        assert_eq!(package_name("nonsense"), None);
    }

    #[test]
    fn only_test_programs_are_taken() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///a/hdl#peerlane-hdl@0.1.0","manifest_path":"/a/hdl/Cargo.toml","target":{{"name":"dma","kind":["bin"]}},"profile":{{"opt_level":"1","test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = program(&line(true, "\"/a/target/debug/deps/dma-1\"")).unwrap();
        assert_eq!((&*found.package, &*found.target), ("peerlane-hdl", "dma"));
        assert_eq!(found.directory, Path::new("/a/hdl"));
        assert_eq!(program(&line(true, "null")), None);
        assert_eq!(program(&line(false, "\"/a/x\"")), None);
        assert_eq!(
            program(r#"{"reason":"build-finished","success":true}"#),
            None
        );
    }
}
