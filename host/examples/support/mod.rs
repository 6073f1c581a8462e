//! What both examples need: a simulated board with the default build of the block.

use anyhow::{Context, Result};
use peerlane_hdl::Params;
use peerlane_host::SimBoard;
use peerlane_sim::BoardConfig;

/// Generates the block's Verilog, compiles it, and puts a board around it. The first
/// time takes a minute or so; after that the compiled model comes from the cache.
pub fn board() -> Result<SimBoard> {
    let library = peerlane_block::library(&Params::default())?;
    let model = library.instance()?;
    SimBoard::new(model, BoardConfig::default()).context("the board does not start")
}

/// Bytes that differ from place to place.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect()
}
