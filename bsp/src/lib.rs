//! Extends an OpenCL BSP with the Peerlane DMA block, and checks the result.
//!
//! [`system`] is a BSP as it is in its files. [`extend::extend`] finds the `acl_dma` instance of a vendor's BSP by
//! kind, and writes a copy in which `peerlane_dma` replaces it; [`check::check`] makes such a copy again,
//! and judges the edits.
//! [`by_hand`] writes the block's component without a BSP, and [`board`] a BSP for a board without one. [`diagram`]
//! shows a board. The command `peerlane` is a thin shell over all of them.
//!
//! This crate joins the crates below it under one name. It may depend on each of them, and none of them on it.

#![warn(unreachable_pub)]

pub mod board;
pub mod by_hand;
pub mod diagram;

pub use peerlane_bsp_compare as check;
pub use peerlane_bsp_design as system;
pub use peerlane_bsp_extend as extend;
pub use peerlane_bsp_generate::{
    block, build, config, generator, hip_parameters, logic, memory_blocks, verilog,
};
pub use peerlane_bsp_platform::{
    error, finding, hash, hexadecimal, hint, interrupt, kept, layout, message, output, revert,
    roles, size, text, xml,
};
