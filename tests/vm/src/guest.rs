//! Programs for the machine.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde::Deserialize;

use crate::{Error, Result, error::io_error};

/// Statically linked with the C library that every Rust installation links with.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds the program `bin` of the workspace's package `package`, so that it runs in a machine
/// that has no shared libraries, and says where it is.
///
/// # Errors
/// When it does not build.
pub fn guest_program(package: &str, bin: &str) -> Result<PathBuf> {
    let directory = own_directory()?;
    let output = run(cargo()
        .args(["build", "--quiet", "--package", package, "--bin", bin])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&directory)
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    if !output.status.success() {
        return Err(failure(format!("{package}, {bin}"), &output));
    }
    Ok(directory.join(TARGET).join("debug").join(bin))
}

/// Builds packages of the workspace as for any computer, programs and libraries, and says in which directory
/// they are. What comes of it needs [`Initramfs::shared_program`](crate::Initramfs::shared_program) or
/// [`Initramfs::library`](crate::Initramfs::library).
///
/// # Errors
/// When they do not build.
pub fn shared_build(packages: &[&str]) -> Result<PathBuf> {
    let directory = own_directory()?;
    let named = packages.iter().flat_map(|package| ["--package", package]);
    let output = run(cargo()
        .args(["build", "--quiet", "--target-dir"])
        .arg(&directory)
        .args(named))?;
    if !output.status.success() {
        return Err(failure(packages.join(", "), &output));
    }
    Ok(directory.join("debug"))
}

/// A directory for what is built here: the flags differ, and cargo may hold the other one's lock.
fn own_directory() -> Result<PathBuf> {
    Ok(target_directory()?.join("guest"))
}

/// cargo in the workspace that this crate belongs to.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    command
}

fn run(command: &mut Command) -> Result<Output> {
    let program = PathBuf::from(command.get_program());
    command.output().map_err(io_error("run", program))
}

fn failure(program: String, output: &Output) -> Error {
    Error::Guest {
        program,
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Where cargo builds, which the user may have set in many ways.
fn target_directory() -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let output = run(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    match serde_json::from_slice::<Metadata>(&output.stdout) {
        Ok(metadata) => Ok(metadata.target_directory),
        Err(_) => Err(failure("cargo metadata".to_owned(), &output)),
    }
}
