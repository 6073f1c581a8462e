//! Devices of the simulated board.

use peerlane_host::driver::{BackendError, Driver, Options};
use peerlane_host::{Device, Error, Result};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::sync::OnceLock;

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
