//! Devices of the simulated board, and of a driver that fails on request, or has a file.

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
    // SAFETY: programs reach the driver by this module alone, which keeps the memory that it registers alive. Their
    // files represent dma-bufs, and the programs are tests.
    unsafe {
        board.admit_process_memory();
        board.admit_files();
    }
    board.drive(&Options::default())
}

/// Opens a context of the process's board.
pub(crate) fn open() -> Result<Device> {
    static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
    DRIVER
        .get_or_init(start)
        .as_ref()
        .map_err(Clone::clone)?
        .open()
}

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
