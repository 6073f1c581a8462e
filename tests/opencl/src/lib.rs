//! The basis of the tests of the board library with a real FPGA runtime for OpenCL:
//!
//! - [`Runtime`]: the installed runtime, which an environment variable names.
//! - [`HostProgram`]: an OpenCL host program, written in C against the runtime's headers and linked with it. It does
//!   not use Peerlane, except for a file that uses the extension of the board library (`peerlane_ext.h`).
//! - [`Package`]: an `.aocx` for a [`Program`](peerlane_sim_opencl::Program) of the simulated board.
//!
//! A machine without this crate's sources can run the program with the runtime's library, a board library with its
//! `.fcd` file, and the packages.

mod host;
mod package;

pub use host::{BuildError, HostProgram, MEMCHECK, PREFIX, Runtime, RuntimeError};
pub use package::{CONFIGURATION, IMAGE, Package};
