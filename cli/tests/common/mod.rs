//! Functions shared by the tests.
#![allow(dead_code, missing_docs, unused_imports)] // Each test crate uses a part of it.

#[path = "../../../bsp/tests/it/common/fixtures.rs"]
mod fixtures;

pub use fixtures::vendor_bsp;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command.
pub fn peerlane(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_peerlane"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Returns a path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the directory of Peerlane's own BSP.
pub fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bsp/reference")
}
