//! What a test of the board library with a real FPGA runtime for OpenCL needs:
//!
//! - [`Runtime`]: where the runtime is installed, which a variable of the environment says.
//! - [`HostProgram`]: an OpenCL host program, written in C against the runtime's headers and linked with it. It
//!   knows nothing of Peerlane, but for a file that uses the extension of the board library (`peerlane_ext.h`).
//! - [`Package`]: an `.aocx` for a [`Program`](peerlane_sim_opencl::Program) of the simulated board.
//!
//! A machine that has none of this crate's sources runs the program with nothing but the runtime's library, a
//! board library with its `.fcd` file, and the packages.

mod host;
mod package;

pub use host::{BuildError, HostProgram, MEMCHECK, PREFIX, Runtime, RuntimeError};
pub use package::{CONFIGURATION, IMAGE, Package};
