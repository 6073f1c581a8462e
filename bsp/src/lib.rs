//! Extends an OpenCL BSP with the Peerlane DMA block, and checks the result.
//!
//! [`system`] is a BSP as it is in its files. [`extend::extend`] finds the `acl_dma` instance of a vendor's BSP by
//! kind, and writes a copy in which `peerlane_dma` replaces it; [`check::check`] proves such a copy correct.
//! [`by_hand`] writes the block's component without a BSP, and [`board`] a BSP for a board without one. [`driver`]
//! gives the kernel driver the place of the block, [`diagram`] shows a board. The command `peerlane` is a thin shell
//! over all of them.

pub mod block;
pub mod board;
pub mod build;
pub mod by_hand;
pub mod check;
pub mod config;
pub mod diagram;
pub mod driver;
pub mod error;
pub mod extend;
pub mod fuzz;
pub mod generator;
pub mod hash;
pub mod hexadecimal;
pub mod interrupt;
pub mod kept;
mod key;
pub mod layout;
pub mod memory_blocks;
pub mod output;
mod remedy;
pub mod revert;
pub mod roles;
pub mod size;
pub mod system;
pub mod text;
mod toml_values;
mod toml_words;
pub mod verilog;
pub mod xml;
