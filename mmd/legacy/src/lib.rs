//! `libpeerlane_mmd_legacy.so`: the board library for the closed FPGA runtimes for OpenCL of 13.1 to 18.1. Its
//! functions are in [`peerlane_mmd_core`].

#[path = "../../src/origin.rs"]
mod origin;

peerlane_mmd_core::export!(
    peerlane_mmd_core::Flavour::LEGACY,
    peerlane_mmd_core::Nodes,
    reprogram
);
