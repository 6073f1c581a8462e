//! Tests that cover several parts of the tree, and code that several tests need.
//!
//! - [`lint`]: three independent readers of the Verilog that Peerlane ships.
//! - [`programs`]: the block's test programs.
//! - [`tree`]: the files that are committed.

pub mod lint;
pub mod programs;
pub mod tree;
