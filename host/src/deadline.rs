//! Deadlines in the format of the driver.

use peerlane_core::uapi;
use rustix::time::ClockId;
use std::time::Duration;

/// Returns a deadline after `limit` in the driver's format, for code that calls the driver or implements
/// [`Context`](crate::Context): nanoseconds of CLOCK_MONOTONIC, or [`uapi::NEVER`] for `None`.
pub fn deadline(limit: Option<Duration>) -> i64 {
    let now = rustix::time::clock_gettime(ClockId::Monotonic);
    let now = Duration::try_from(now).unwrap_or_default();
    let then = limit.and_then(|limit| now.checked_add(limit));
    then.and_then(|then| i64::try_from(then.as_nanos()).ok())
        .unwrap_or(uapi::NEVER)
}
