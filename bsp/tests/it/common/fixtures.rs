//! Real BSPs and systems, which do not belong to the project.

use std::path::{Path, PathBuf};

/// Returns the vendor BSP of the fixtures.
pub fn vendor_bsp() -> Option<PathBuf> {
    fixture("de5net-13.1")
}

/// Finds a fixture: below `$PEERLANE_FIXTURES`, or next to the workspace. `None`, with a message, on a machine without
/// it.
pub fn fixture(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    let dir = std::env::var_os("PEERLANE_FIXTURES").map_or_else(beside, PathBuf::from);
    let found = dir.join(name);
    if found.is_dir() {
        Some(found)
    } else {
        eprintln!("skipped: no fixture at {}", found.display());
        None
    }
}
