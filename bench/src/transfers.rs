//! Transfers between a board and a GPU, by every route of `peerlane_routes`, over their size: the measurements of the
//! thesis's figures 7.1 to 7.3, on any board.
//!
//! A copy is timed from the call to its return, in the board's time: on the simulated board that is simulated time, so
//! its numbers are the same on every machine. Memory that is registered for a copy is unregistered before a *first
//! use*, so that the copy pays for the registration again; *cached* copies follow it, and find all ready. The data are
//! random, new each time, and compared after the first use and after the last cached copy.
//!
//! On the simulated board a registration costs the writes of the address translation table alone: pinning takes none of
//! its time.

mod measure;
mod page;
mod results;
mod setup;

pub use crate::plot::size;
pub use measure::{Advance, run};
pub use page::{html, micros};
pub use results::{Block, Refusal, Report, Row, Step, Times, csv};
pub use setup::Setup;

use peerlane_host::Direction;
use peerlane_routes::Route;
use std::str::FromStr;

/// How data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Between board and GPU, by a route.
    Route(Route),
    /// Between the board and the host's memory, by the board's DMA. No way to a GPU: the thesis shows it for contrast.
    Host,
}

impl Method {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::Route(Route::DirectWrite),
        Self::Route(Route::DirectRead),
        Self::Route(Route::Push),
        Self::Route(Route::Concurrent),
        Self::Route(Route::Sequential),
        Self::Host,
    ];

    /// Returns its name on a command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Route(route) => route.name(),
            Self::Host => "host",
        }
    }

    /// Returns its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Route(Route::DirectWrite) => "direct write",
            Self::Route(Route::DirectRead) => "direct read",
            Self::Route(Route::Push) => "GPU push",
            Self::Route(Route::Concurrent) => "concurrent indirect",
            Self::Route(Route::Sequential) => "sequential indirect",
            Self::Route(Route::Auto) => "the fastest",
            Self::Host => "host memory only",
        }
    }

    /// Reports whether it works in this direction.
    pub fn goes(self, direction: Direction) -> bool {
        match self {
            Self::Route(route) => route.goes(direction),
            Self::Host => true,
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            format!("there is no route {name}: use {}", names.join(", "))
        })
    }
}

/// Returns a direction's name in files.
pub fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::FromFpga => "fpga-to-gpu",
        Direction::ToFpga => "gpu-to-fpga",
    }
}

/// The measurements to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Bytes of the copies, ascending.
    pub sizes: Vec<u64>,
    /// By which ways.
    pub methods: Vec<Method>,
    /// Write is FPGA to GPU.
    pub directions: Vec<Direction>,
    /// Cached copies of each kind; fewer of long ones ([`budget`](Self::budget)), 3 at least.
    pub repeat: u32,
    /// Bytes that all cached copies of a kind move at most.
    pub budget: u64,
    /// Whether to make the measurements for the figures as well: the steps of figure 7.1 and the blocks of figure 7.2.
    pub figures: bool,
    /// Whether the board may try to read the GPU's memory: see [`peerlane_routes::Options::probe_reads`].
    pub probe_reads: bool,
    /// Whether it may also try where it has not yet been seen to read it: see
    /// [`peerlane_routes::Options::prove_reads`].
    pub prove_reads: bool,
}

impl Options {
    /// Returns the number of cached copies of so many bytes.
    pub fn copies(&self, bytes: u64) -> u32 {
        let affordable = u32::try_from(self.budget / bytes.max(1)).unwrap_or(u32::MAX);
        self.repeat.min(affordable.max(3)).max(1)
    }

    /// Returns the bytes of the longest copy.
    pub fn longest(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        let error = "fast".parse::<Method>().unwrap_err();
        assert!(
            error.contains("direct-write") && error.contains("host"),
            "{error}"
        );
        assert!("auto".parse::<Method>().is_err());
    }

    #[test]
    fn long_copies_are_made_less_often() {
        let options = Options {
            sizes: vec![4096, 1 << 20],
            methods: Vec::new(),
            directions: Vec::new(),
            repeat: 100,
            budget: 10 << 20,
            figures: false,
            probe_reads: true,
            prove_reads: false,
        };
        let copies = [4096, 1 << 20, 1 << 30].map(|bytes| options.copies(bytes));
        assert_eq!(copies, [100, 10, 3]);
        let once = Options {
            repeat: 1,
            ..options
        };
        assert_eq!(once.copies(1 << 30), 1);
        assert_eq!(once.longest(), 1 << 20);
    }
}
