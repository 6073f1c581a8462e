//! Ending early, without a rest.
//!
//! A signal must not end the program in the middle of writing, because a half-written copy would stay. The handler
//! sets the [`flag`]; the work looks at it at each step and ends with an error, on whose way out temporary files go.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::error::{Error, ErrorKind, Place, Result};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Set to ask for an early end of whatever this process does.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// An error if an end was asked for; `at` is what the work is about.
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
        "interrupted; nothing was left behind",
        "Run it again.",
    ))
}
