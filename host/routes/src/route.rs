//! The names of the routes.

use peerlane_host::Direction;
use std::fmt;
use std::str::FromStr;

/// A way between a board's memory and a device's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Route {
    /// Whichever works here and is the fastest for the length.
    Auto,
    /// The board writes into the device's memory: FPGA to device.
    DirectWrite,
    /// The board reads the device's memory: device to FPGA.
    DirectRead,
    /// The device stores to the board's window into FPGA memory: device to FPGA (Bittner and Ruf, *Direct GPU/FPGA
    /// Communication via PCI Express*, 2012).
    Push,
    /// Through memory of the host's, in pieces, with both devices at work.
    Concurrent,
    /// Through memory of the host's, one device after the other.
    Sequential,
}

impl Route {
    /// All but [`Route::Auto`].
    pub const ALL: [Self; 5] = [
        Self::DirectWrite,
        Self::DirectRead,
        Self::Push,
        Self::Concurrent,
        Self::Sequential,
    ];

    /// Whether it goes this way.
    pub fn goes(self, direction: Direction) -> bool {
        match self {
            Self::DirectWrite => direction == Direction::FromFpga,
            Self::DirectRead | Self::Push => direction == Direction::ToFpga,
            Self::Auto | Self::Concurrent | Self::Sequential => true,
        }
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::DirectWrite => "direct-write",
            Self::DirectRead => "direct-read",
            Self::Push => "push",
            Self::Concurrent => "concurrent",
            Self::Sequential => "sequential",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "the fastest route",
            Self::DirectWrite => "direct write",
            Self::DirectRead => "direct read",
            Self::Push => "GPU push",
            Self::Concurrent => "concurrent indirect",
            Self::Sequential => "sequential indirect",
        })
    }
}

impl FromStr for Route {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = [Self::Auto].into_iter().chain(Self::ALL);
        all.find(|route| route.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|route| route.name()).collect();
            format!("there is no route {name}: use auto, {}", names.join(", "))
        })
    }
}
