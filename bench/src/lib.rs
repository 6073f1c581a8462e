//! Rates and latencies of the DMA block: its Verilog on the simulated board, next to the limits of the link and of the
//! hard IP's port, and next to the thesis's designs.
//!
//! [`run`] measures the rows of [`SCENARIOS`]; a [`Report`] is written as JSON, and [`html`] shows it. All times are
//! simulated, so two runs of the same block give the same numbers; only `sim.rate` is the speed of the simulator
//! itself. The block is driven register by register, and every byte that a row moves is compared.
//!
//! ```
//! use peerlane_bench::thesis::{Design, Direction, Parameters};
//! use peerlane_sim::LinkConfig;
//!
//! // The design that Peerlane is compared with, as its author measured it: about 740 MB/s one way.
//! let thesis = Parameters::default();
//! let link = LinkConfig::default();
//! let there = thesis.run(Design::LazyUnpinning, Direction::FpgaToGpu, &link, 64 << 20);
//! assert!((600e6..800e6).contains(&there.rate().unwrap()));
//! let back = thesis.run(Design::LazyUnpinning, Direction::GpuToFpga, &link, 64 << 20);
//! assert_eq!(back.rate(), None);
//! ```

mod bar;
mod curves;
mod error;
mod fairness;
mod limits;
mod measure;
mod opencl;
mod page;
mod plot;
mod results;
mod rig;
mod run;
mod scenario;
mod streams;
mod sweep;
pub mod transfers;

pub use bar::Bar;
pub use curves::{Curve, Drawing, Point, Sweep};
pub use error::{Error, Result};
pub use limits::Limit;
pub use page::html;
pub use peerlane_thesis as thesis;
pub use results::{Block, Report, Row, Stalls, Verdict};
pub use run::{Options, Progress, run};
pub use scenario::{SCENARIOS, Scenario, UnknownName, select};
