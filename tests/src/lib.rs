//! Tests that cross rooms, and what several of them need.
//!
//! - [`lint`]: three independent readers of the Verilog that Peerlane ships.
//! - [`programs`]: the block's test programs.
//! - [`tree`]: the files that are committed.

pub mod lint;
pub mod programs;
pub mod tree;
