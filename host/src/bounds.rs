//! Checks of ranges.

use crate::error::{Error, Result};

/// Checks that a range lies in `size` bytes; `what` names them in the error.
pub(crate) fn check(what: &'static str, size: usize, offset: usize, length: usize) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(Error::Bounds {
            what,
            offset,
            length,
            size,
        }),
    }
}
