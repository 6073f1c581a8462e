//! Bars of rows.

use serde::{Serialize, Serializer};

/// The bar that a row is to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// So much of the limit.
    RatioAtLeast(f64),
    /// The limit, within this part of it.
    RatioWithin(f64),
    /// The value itself.
    ValueAtLeast(f64),
    /// The value itself.
    ValueAtMost(f64),
}

impl std::fmt::Display for Bar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RatioAtLeast(bar) => write!(f, "≥ {:.0} %", bar * 100.0),
            Self::RatioWithin(bar) => write!(f, "± {:.0} %", bar * 100.0),
            Self::ValueAtLeast(bar) => write!(f, "≥ {bar}"),
            Self::ValueAtMost(bar) => write!(f, "≤ {bar}"),
        }
    }
}

impl Serialize for Bar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
