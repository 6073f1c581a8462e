//! Ends the program early, without leftover files.
//!
//! A signal must not end the program in the middle of writing, because a half-written copy would stay. The handler sets
//! the [`flag`]. The work checks it at each step and ends with an error; on that path temporary files are removed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::error::{Error, ErrorKind, Place, Result};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns the flag that asks for an early end of this process's work.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// Returns an error if an early end was requested; `at` is the subject of the work.
///
/// # Errors
/// [`ErrorKind::Interrupted`].
pub fn check(at: &Path) -> Result<()> {
    if !REQUESTED.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Interrupted,
        Place::file(at),
        "interrupted; no output was left",
        "Run the command again.",
    ))
}
