//! The Peerlane DMA block in rust-hdl, and its Verilog.
//!
//! [`generate`] turns [`Params`] into Verilog-2005 files. The block itself is in [`rtl`], from its
//! primitives in [`prim`] and the register decoders that the register map generates.
//!
//! ```
//! use peerlane_hdl::{Params, TOP, generate};
//!
//! let params = Params { channels: 1, ..Params::default() };
//! let design = generate(&params)?;
//! let top = design.modules.iter().find(|module| module.name == TOP);
//! assert!(top.is_some_and(|top| top.verilog.contains("txs_waitrequest")));
//! # Ok::<(), peerlane_hdl::GenerateError>(())
//! ```
#![allow(missing_docs)] // ports of blocks are named in the field's words and documented where they are not

mod build;
mod error;
pub mod generated;
mod link_reset;
mod params;
pub mod pcie;
pub mod prim;
pub mod rtl;
pub mod streams;

pub use build::{generate, restart};
pub use error::GenerateError;
pub use params::{
    Input, Irq, Output, ParamError, Params, Port, Slaves, Streams, TOP, shell_hash, txs_burst_bits,
};
pub use peerlane_verilog::{Design, Module, Port as ModulePort};
