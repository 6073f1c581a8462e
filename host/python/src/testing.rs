//! Devices of a driver that fails on request, or has a file.

#[allow(dead_code, reason = "the host library's tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

use least::Least;
use peerlane_host::Errno;
use peerlane_host::{Device, Result};
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// The last such board, which a test can inspect without the device.
static LAST: Mutex<Option<Least>> = Mutex::new(None);

fn over(least: Least) -> Result<Device> {
    *LAST.lock().expect("no thread has panicked") = Some(least.clone());
    Device::over(least)
}

/// Returns the number of calls of the last board's driver, and of looks at its ring.
pub(crate) fn counts() -> (usize, usize) {
    let last = LAST.lock().expect("no thread has panicked");
    let counts = (last.as_ref()).map(|least| (least.count(), least.looks.load(Ordering::Relaxed)));
    counts.unwrap_or_default()
}

/// Opens a context with a file: an eventfd, to which each transfer's end is an event.
pub(crate) fn watched(file: OwnedFd) -> Result<Device> {
    let least = Least::new();
    let _ = least.file.set(file.into());
    over(least)
}

/// Opens a context whose board ends nothing by itself, and whose channel cannot be stopped: that fails with this number
/// of errno.h. Unregistering the first region takes `forgets` seconds of the test's time.
pub(crate) fn stuck(number: i32, forgets: f64) -> Result<Device> {
    let least = Least::new();
    let sleep = move || thread::sleep(Duration::from_secs_f64(forgets));
    *least.in_unregister.lock().expect("no thread has panicked") = Some(Box::new(sleep));
    least.stuck.store(true, Ordering::Relaxed);
    *least.clock.lock().expect("no thread has panicked") = Some(Duration::ZERO);
    let refused = Errno::from_raw_os_error(number);
    *least.refuse_stop.lock().expect("no thread has panicked") = Some(refused);
    over(least)
}

/// Opens a context whose board ends nothing by itself. Its driver restarts it for longer than a test can wait.
pub(crate) fn away() -> Result<Device> {
    let least = Least::new();
    least.stuck.store(true, Ordering::Relaxed);
    least.real.store(true, Ordering::Relaxed);
    *least.refuse_stop.lock().expect("no thread has panicked") = Some(Errno::AGAIN);
    over(least)
}

/// Opens a context whose board takes its first descriptor after a second, in the test's time.
pub(crate) fn slow() -> Result<Device> {
    let least = Least::new();
    least.real.store(true, Ordering::Relaxed);
    let sleep = || thread::sleep(Duration::from_secs(1));
    *least.in_post.lock().expect("no thread has panicked") = Some(Box::new(sleep));
    over(least)
}

/// Opens a context whose board ends each descriptor with a fault.
pub(crate) fn failing() -> Result<Device> {
    let least = Least::new();
    least.failing.store(true, Ordering::Relaxed);
    over(least)
}
