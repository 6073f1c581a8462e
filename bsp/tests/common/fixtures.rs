//! Real BSPs, which are no part of the project.

use std::path::{Path, PathBuf};

/// The vendor BSP among the fixtures: `$PEERLANE_FIXTURES`, or beside the workspace. `None`, with a
/// message, on a machine without them.
pub fn vendor_bsp() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    let dir = std::env::var_os("PEERLANE_FIXTURES").map_or_else(beside, PathBuf::from);
    let bsp = dir.join("de5net-13.1");
    if bsp.is_dir() {
        Some(bsp)
    } else {
        eprintln!("skipped: no vendor BSP at {}", bsp.display());
        None
    }
}
