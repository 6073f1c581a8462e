//! The DMA block of given parameters as a model that can be clocked: the one place that knows both the
//! generator of its Verilog and Verilator.
//!
//! ```no_run
//! use peerlane_hdl::Params;
//!
//! // Compiled the first time, which takes a minute, and found in the cache from then on.
//! let library = peerlane_block::library(&Params::default())?;
//! let model = library.instance()?;
//! # drop(model);
//! # Ok::<(), peerlane_block::Error>(())
//! ```

use miette::Diagnostic;
use peerlane_hdl::{GenerateError, Params, TOP, generate};
use peerlane_verilated::{Build, Library, Toolchain};
use peerlane_verilog::Design;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no model of the block.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The parameters cannot be built.
    #[error("the block cannot be generated: {0}")]
    Generate(#[from] GenerateError),
    /// Verilator or the compiler is missing, or refuses.
    #[error("the block cannot be compiled for simulation: {0}")]
    #[diagnostic(transparent)]
    Model(#[from] peerlane_verilated::Error),
}

/// The block: its Verilog is generated and verilated, or found in the cache.
///
/// # Errors
/// When the parameters cannot be built, or Verilator or the compiler is missing or refuses.
pub fn library(params: &Params) -> Result<Library> {
    library_of(TOP, &generate(params)?)
}

/// Verilog that was generated, or changed after that; `top` is its top module.
///
/// # Errors
/// When Verilator or the compiler is missing or refuses.
pub fn library_of(top: &str, design: &Design) -> Result<Library> {
    let mut build = Build::new(top);
    for module in &design.modules {
        build = build.text(format!("{}.v", module.name), module.verilog.clone());
    }
    Ok(build.model(&Toolchain::open()?)?)
}
