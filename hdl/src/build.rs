//! From build parameters to Verilog.

use crate::params::{ParamError, Params};
use crate::rtl::top::{PeerlaneDma, TopConfig};
use peerlane_verilog::{Design, EmitError, emit};
use rust_hdl::prelude::*;

/// Name of the top module.
pub const TOP: &str = "peerlane_dma";

/// Why there is no Verilog.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The parameters cannot be built.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The back-end refused the design: a defect of this crate.
    #[error("the Verilog back-end refused {TOP}: {0}")]
    Emit(#[from] EmitError),
}

/// The block as Verilog-2005, one file a module, top module [`TOP`].
pub fn generate(params: &Params) -> Result<Design, GenerateError> {
    params.validate()?;
    match (params.port_bits, params.txs_addr_bits) {
        (128, 64) => with_table::<128, 16, 129, 64>(params),
        (128, _) => with_table::<128, 16, 129, 32>(params),
        (_, 64) => with_table::<256, 32, 257, 64>(params),
        (_, _) => with_table::<256, 32, 257, 32>(params),
    }
}

/// The ATT slave's address width is a width of the type; everything inside takes the size at run time.
fn with_table<const W: usize, const B: usize, const E: usize, const T: usize>(
    params: &Params,
) -> Result<Design, GenerateError> {
    match params.att_log2 {
        8 => top::<W, B, E, T, 9>(params),
        9 => top::<W, B, E, T, 10>(params),
        10 => top::<W, B, E, T, 11>(params),
        11 => top::<W, B, E, T, 12>(params),
        12 => top::<W, B, E, T, 13>(params),
        13 => top::<W, B, E, T, 14>(params),
        14 => top::<W, B, E, T, 15>(params),
        15 => top::<W, B, E, T, 16>(params),
        _ => top::<W, B, E, T, 17>(params),
    }
}

fn top<const W: usize, const B: usize, const E: usize, const T: usize, const A: usize>(
    params: &Params,
) -> Result<Design, GenerateError> {
    let config = TopConfig {
        queue_log2: params.queue_log2 as usize,
        att_log2: params.att_log2 as usize,
        memory_log2: params.memory_log2 as usize,
        build_id: params.build_id(),
    };
    let mut block = PeerlaneDma::<W, B, E, T, A>::new(config);
    block.connect_inputs();
    block.connect_all();
    Ok(emit(TOP, &block, &header(params))?)
}

/// What stands at the head of each file. `peerlane extend --check` reads the two hashes back.
fn header(params: &Params) -> String {
    format!(
        "Peerlane DMA block. Generated; edit the generator, not this file.\n\
         SPDX-License-Identifier: MIT OR Apache-2.0\n\
         MAP_ID 0x{:08x}  BUILD_ID 0x{:08x}\n\
         {}",
        peerlane_regmap::Map::load().map_id(),
        params.build_id(),
        params.canonical()
    )
}
