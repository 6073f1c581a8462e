//! From a configuration to the block's Verilog in a platform: the configuration, the block's ports, the generated
//! files, and the record of how the block was built.
//!
//! This crate depends neither on `peerlane-bsp-design` nor on `peerlane-bsp-check`, because the extension and the check
//! share it. It reads no design.

#![warn(unreachable_pub)]

pub mod block;
pub mod build;
pub mod config;
pub mod generator;
pub mod hip_parameters;
pub mod logic;
pub mod memory_blocks;
pub mod toml_values;
mod toml_words;
pub mod verilog;
