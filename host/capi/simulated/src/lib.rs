//! The host library for C over the simulated board: a program that was linked with `libpeerlane.so` runs without a
//! board when it finds this library in its place. Nothing of the product depends on it.
//!
//! The first `pl_open` compiles the block's Verilog, which takes a minute; later the result comes from the cache. Paths
//! are ignored: there is one board. `PEERLANE_SIMULATED_TAKEN` is the number of its channels that other contexts have.

use peerlane_block::library;
use peerlane_hdl::Params;
use peerlane_host::driver::{BackendError, Driver, Options};
use peerlane_host::{Device, Error, Result};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::sync::OnceLock;

/// The board of the process, and the other contexts.
static DRIVER: OnceLock<Result<(Driver, Vec<Device>)>> = OnceLock::new();

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Backend(BackendError::Other(error.to_string()))
}

fn start() -> Result<(Driver, Vec<Device>)> {
    let library = library(&Params::default()).map_err(failed)?;
    let board = SimBoard::new(library.instance().map_err(failed)?, BoardConfig::default())?;
    // SAFETY: programs reach the driver by the functions of C alone, and the documentation of the functions that
    // register memory has the promises. Files in place of dma-bufs are those of a mock of a GPU (`tests/fake-cuda`).
    unsafe {
        board.admit_process_memory();
        board.admit_files();
    }
    let driver = board.drive(&Options::default())?;
    let taken = std::env::var("PEERLANE_SIMULATED_TAKEN").map_or(Ok(0), |taken| taken.parse());
    let others = (0..taken.map_err(failed)?).map(|_| driver.open());
    let others = others.collect::<Result<_>>()?;
    Ok((driver, others))
}

fn open(_: Option<&str>) -> Result<Device> {
    let (driver, _) = DRIVER.get_or_init(start).as_ref().map_err(Clone::clone)?;
    driver.open()
}

/// Sets the opener. The loader calls this when it has loaded the library.
extern "C" fn loaded() {
    peerlane::open_by(open);
}

// SAFETY: functions in this section are called with arguments that this one ignores.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;
