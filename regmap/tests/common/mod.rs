//! Helpers of the tests.

use std::path::{Path, PathBuf};

use peerlane_regmap::emit::OutputFile;

/// Returns a path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Checks that committed files are the same as the emitter's output.
#[allow(dead_code)] // Not every test crate has committed files.
pub fn assert_current(dir: &str, files: &[OutputFile], command: &str) {
    for file in files {
        let path = repository(dir).join(&file.path);
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == file.text,
            "{dir}/{} is not current. Run: {command}",
            file.path
        );
    }
}
