//! A window to FPGA memory that is to be moved while a GPU's stores to it are in progress.

use peerlane_routes::Error;
use std::time::Duration;

/// The longest time that stores may take to end after the last caller has stopped waiting: a running copy has no more
/// to store by then.
pub(crate) const LAST: Duration = Duration::from_secs(1);

/// Makes the error of stores that have not ended within [`LAST`].
pub(crate) fn late() -> Error {
    Error::side(
        "the GPU",
        format!("its stores to the window have not ended after {LAST:?}"),
    )
}
