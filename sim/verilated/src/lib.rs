//! Verilog to a Rust-callable model through Verilator, at run time.
