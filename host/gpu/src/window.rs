//! A window to FPGA memory that is to be moved while a GPU's stores to it are under way.

use peerlane_routes::Error;
use std::time::Duration;

/// How long stores may take to end when nobody waits for them any more: in a copy the GPU has no more to store by then.
pub(crate) const LAST: Duration = Duration::from_secs(1);

/// They have not ended within [`LAST`].
pub(crate) fn late() -> Error {
    Error::side(
        "the GPU",
        format!("its stores to the window have not ended after {LAST:?}"),
    )
}
