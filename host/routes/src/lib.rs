//! Ways between a board's memory and another device's.
//!
//! | route | who moves the data | direction |
//! | --- | --- | --- |
//! | [`Route::DirectWrite`] | the board writes into the device's memory | FPGA to device |
//! | [`Route::DirectRead`] | the board reads the device's memory | device to FPGA |
//! | [`Route::Push`] | the device stores to the board's window | device to FPGA |
//! | [`Route::Concurrent`] | both, through the host's memory, at once | both |
//! | [`Route::Sequential`] | both, one after the other | both |
//!
//! Which of the first three work depends on the computer. Where one does not work, often no interface reports that. So
//! a [probe](Routes::findings) tries them with data, and [`Route::Auto`] takes the fastest working route by its
//! [measurements](Routes::choose).
//!
//! ```no_run
//! use peerlane_host::{Device, Direction};
//! use peerlane_routes::{Board, Limits, Options, Order, Route, Routes, Side};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! # fn run(gpu_memory: Arc<dyn Side>) -> peerlane_routes::Result<()> {
//! let board = Board::new(&Device::first()?, 16 << 20)?;
//! let routes = Routes::new(&board, gpu_memory, Options::default());
//! println!("{}", routes.choose(Direction::FromFpga, 16 << 20)?);
//! let order = Order {
//!     direction: Direction::FromFpga,
//!     fpga: 0,
//!     at: 0,
//!     length: 16 << 20,
//! };
//! let moved = routes.transfer(&order, Route::Auto, &Limits::within(Duration::from_secs(1)))?;
//! println!("{} bytes by {} in {:?}", moved.bytes, moved.route, moved.time);
//! # Ok(())
//! # }
//! ```
//!
//! Memory is a [`Side`]: `peerlane_gpu` has one for CUDA's, [`opencl`] for any OpenCL device's, [`HostMemory`] is one
//! for a computer without a GPU, and a [`Board`] is one itself. A [`Pair`] copies between any two, also without a
//! board.

mod board;
mod cost;
mod direct;
mod ends;
pub mod engine;
mod error;
mod gate;
mod host;
mod indirect;
#[cfg(test)]
#[allow(dead_code, reason = "others use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;
mod limits;
pub mod opencl;
mod pair;
mod passing;
mod probe;
mod push;
mod route;
mod routes;
mod side;
mod staged;
mod turns;

pub use board::{Board, SCRATCH};
pub use cost::Cost;
pub use error::{Error, Result};
pub use host::HostMemory;
pub use limits::{Cancel, Limits};
pub use pair::{Copy, Pair, STAGING};
pub use probe::{Findings, Verdict};
pub use push::Push;
pub use route::Route;
pub use routes::{Choice, Moved, Options, Order, Routes};
pub use side::{Engine, Pending, Piece, Reach, Residence, Side, Staging, Way};
pub use turns::Turns;
