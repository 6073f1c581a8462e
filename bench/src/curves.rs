//! Curves of rate against size.

use crate::limits::Limit;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Bytes of a descriptor, or of the thesis's transfer.
    pub bytes: u64,
    /// Payload bytes a second.
    pub rate: f64,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: &'static str,
    /// Its points, the smallest size first.
    pub points: Vec<Point>,
}

/// A direction on a link: its curves next to their limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Direction and link.
    pub title: &'static str,
    /// The curves.
    pub curves: Vec<Curve>,
    /// The limits of each measured block, with the block's name.
    pub limits: Vec<(&'static str, Limit)>,
}

/// Both directions of each link.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// In the order of the page.
    pub drawings: Vec<Drawing>,
}
