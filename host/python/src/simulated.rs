//! Devices of the simulated board, and of a driver that fails when it is told to, or has a file.

#[allow(dead_code, reason = "the host library's tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

use least::Least;
use peerlane_host::Errno;
use peerlane_host::driver::{BackendError, Driver, Options};
use peerlane_host::{Device, Error, Result};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Backend(BackendError::Other(error.to_string()))
}

fn start() -> Result<Driver> {
    let params = peerlane_hdl::Params::default();
    let library = peerlane_block::library(&params).map_err(failed)?;
    let board = SimBoard::new(library.instance().map_err(failed)?, BoardConfig::default())?;
    // SAFETY: programs reach the driver by this module alone, which keeps what it registers. Their files stand for
    // dma-bufs, and they are tests'.
    unsafe {
        board.admit_process_memory();
        board.admit_files();
    }
    board.drive(&Options::default())
}

/// A context of the process's board.
pub(crate) fn open() -> Result<Device> {
    static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
    DRIVER
        .get_or_init(start)
        .as_ref()
        .map_err(Clone::clone)?
        .open()
}

/// The last such board, for what a test looks at behind the device's back.
static LAST: Mutex<Option<Least>> = Mutex::new(None);

fn over(least: Least) -> Result<Device> {
    *LAST.lock().expect("nobody has panicked") = Some(least.clone());
    Device::over(least)
}

/// Calls of the last board's driver, and looks at its ring.
pub(crate) fn counts() -> (usize, usize) {
    let last = LAST.lock().expect("nobody has panicked");
    let counts = (last.as_ref()).map(|least| (least.count(), least.looks.load(Ordering::Relaxed)));
    counts.unwrap_or_default()
}

/// A context with a file: an eventfd, to which each transfer's end is an event.
pub(crate) fn watched(file: OwnedFd) -> Result<Device> {
    let least = Least::new();
    let _ = least.file.set(file.into());
    over(least)
}

/// A context whose board ends nothing by itself, and whose channel cannot be stopped, with this number of errno.h. To give
/// the first region back takes so many seconds of the test's time.
pub(crate) fn stuck(number: i32, forgets: f64) -> Result<Device> {
    let least = Least::new();
    let sleep = move || thread::sleep(Duration::from_secs_f64(forgets));
    *least.in_unregister.lock().expect("nobody has panicked") = Some(Box::new(sleep));
    least.stuck.store(true, Ordering::Relaxed);
    *least.clock.lock().expect("nobody has panicked") = Some(Duration::ZERO);
    let refused = Errno::from_raw_os_error(number);
    *least.refuse_stop.lock().expect("nobody has panicked") = Some(refused);
    over(least)
}

/// The same, whose driver starts it again for as long as a test can wait.
pub(crate) fn away() -> Result<Device> {
    let least = Least::new();
    least.stuck.store(true, Ordering::Relaxed);
    least.real.store(true, Ordering::Relaxed);
    *least.refuse_stop.lock().expect("nobody has panicked") = Some(Errno::AGAIN);
    over(least)
}

/// A context whose board takes its first descriptor after a second, in the test's time.
pub(crate) fn slow() -> Result<Device> {
    let least = Least::new();
    least.real.store(true, Ordering::Relaxed);
    let sleep = || thread::sleep(Duration::from_secs(1));
    *least.in_post.lock().expect("nobody has panicked") = Some(Box::new(sleep));
    over(least)
}

/// A context whose board ends each descriptor with a fault.
pub(crate) fn failing() -> Result<Device> {
    let least = Least::new();
    least.failing.store(true, Ordering::Relaxed);
    over(least)
}
