//! Tests that cross rooms, and what several of them need.
//!
//! - [`lint`]: three independent readers of the Verilog that Peerlane ships.
//! - [`tree`]: the files that are committed.

pub mod lint;
pub mod tree;
