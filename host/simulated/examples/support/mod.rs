//! Code that both examples use: a simulated board with the default build of the block.

use anyhow::{Context, Result};
use peerlane_hdl::Params;
use peerlane_host::Device;
use peerlane_host::driver::Options;
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;

/// Generates the block's Verilog, compiles it, and puts a board around it. The first
/// time takes a minute or so; after that the compiled model comes from the cache.
pub fn open() -> Result<Device> {
    let library = peerlane_block::library(&Params::default())?;
    let board = SimBoard::new(library.instance()?, BoardConfig::default());
    let driver = board.and_then(|board| board.drive(&Options::default()));
    Ok(driver.context("the board does not start")?.open()?)
}
