//! `libpeerlane_mmd.so`: the board library that the open FPGA runtime for OpenCL loads (intel/fpga-runtime-for-opencl).
//! Its functions are in [`peerlane_mmd_core`].

mod origin;

peerlane_mmd_core::export!(
    peerlane_mmd_core::Flavour::OPEN,
    peerlane_mmd_core::Nodes,
    program
);
