//! Programs and libraries for the machine.
//!
//! They are built from the workspace like the tests themselves: with the same features, flags and directory, so nothing
//! is compiled a second time. Machines also get the shared libraries of this computer.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{Error, Result, error::io_error};

/// Builds the program `bin` of the workspace and returns its path. A machine takes it by
/// [`Initramfs::shared_program`](crate::Initramfs::shared_program).
///
/// # Errors
/// When it does not build, or there is no such program.
pub fn guest_program(bin: &str) -> Result<PathBuf> {
    built(&["--bin", bin], bin)
}

/// Builds the example `name` of the workspace and returns its path, for
/// [`Initramfs::shared_program`](crate::Initramfs::shared_program).
///
/// # Errors
/// As [`guest_program`].
pub fn guest_example(name: &str) -> Result<PathBuf> {
    built(&["--example", name], name)
}

/// Builds the workspace's libraries and returns the path of their file `name`. A machine takes it by
/// [`Initramfs::library`](crate::Initramfs::library).
///
/// # Errors
/// When they do not build, or none has that name.
pub fn guest_library(name: &str) -> Result<PathBuf> {
    built(&["--lib"], name)
}

/// Builds some targets of the whole workspace, and finds the file with this name among the outputs.
fn built(targets: &[&str], name: &str) -> Result<PathBuf> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args([
            "build",
            "--quiet",
            "--workspace",
            "--message-format=json-render-diagnostics",
        ])
        .args(targets);
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(io_error("run", program))?;
    let failed = |output: String| Error::Guest {
        program: name.to_owned(),
        output,
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    find(&said, name).ok_or_else(|| failed("cargo built nothing of this name".to_owned()))
}

/// A message of cargo about a target that it built (the book of cargo, External tools, JSON messages).
#[derive(Deserialize)]
struct Artifact {
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// Finds the file with this name among all that cargo built.
fn find(said: &str, name: &str) -> Option<PathBuf> {
    said.lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .flat_map(|artifact| artifact.filenames)
        .find(|file| file.file_name().is_some_and(|found| found == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_whole_name() {
        // Of cargo 1.94, shortened.
        let said = r#"{"reason":"compiler-artifact","target":{"name":"a"},"filenames":["/t/liba.so","/t/liba.rlib"]}
{"reason":"compiler-artifact","target":{"name":"b"},"filenames":["/t/b"],"executable":"/t/b"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(find(said, "liba.so"), Some("/t/liba.so".into()));
        assert_eq!(find(said, "b"), Some("/t/b".into()));
        assert_eq!(find(said, "a"), None);
    }
}
