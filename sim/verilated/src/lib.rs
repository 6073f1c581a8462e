//! Verilog to a Rust-callable model through Verilator, at run time.
//!
//! [`Build`] takes Verilog sources and a top module. It runs Verilator, compiles the generated
//! C++ with the system's C++ compiler into one shared library, and loads it. No make, no build
//! script: the Verilog may come from a BSP that was written a second ago.
//!
//! The library is kept in a cache directory under a name made of everything that went into it
//! (sources, top, flags, versions of Verilator and of the compiler, the shim), so a design is
//! compiled once. Two processes may build at the same time: a lock file per design makes the
//! second wait, and the library appears by an atomic rename. A package can have the library of its
//! design compiled ahead ([`Build::make_ahead`]); its machine needs no tools.
//!
//! ```no_run
//! use peerlane_verilated::{Build, Direction, Toolchain};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Toolchain::open()?;
//! let library = Build::new("counter").file("counter.v")?.model(&tools)?;
//! let clk = library.port_as("clk", Direction::Input, 1)?;
//! let count = library.port_as("count", Direction::Output, 8)?;
//! let mut model = library.instance()?;
//! for _ in 0..10 {
//!     model.set(clk, 1);
//!     model.eval()?;
//!     model.set(clk, 0);
//!     model.eval()?;
//! }
//! println!("{}", model.get(count));
//! # Ok(())
//! # }
//! ```
//!
//! `$stop`, `$fatal` and a failed assertion end the evaluation with a [`Fault`] instead of ending
//! the process.

mod build;
mod error;
mod header;
mod library;
mod model;
mod port;
mod shim;
mod toolchain;

pub use build::{Build, Source};
pub use error::{Error, Fault, Result};
pub use library::Library;
pub use model::Model;
pub use port::{Direction, Port, PortInfo};
pub use toolchain::Toolchain;
