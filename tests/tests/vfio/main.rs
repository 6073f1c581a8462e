//! Tests of a board without a driver of this project: in a virtual machine with a strict IOMMU, where `vfio-pci` of a
//! kernel that Debian ships has the board.
//!
//! Board and mock GPU are those of the kernel driver's tests.

#[path = "../machines/examples.rs"]
mod examples;
mod lab;
#[path = "../machines/libraries.rs"]
mod libraries;
#[path = "../machines/outside.rs"]
mod outside;
#[path = "../machines/simulated.rs"]
mod simulated;
mod variants;

use lab::Setup;
use peerlane_tools::Series;

/// The tests in the machine.
const TESTS: &str = "peerlane-guest vfio --rounds 2";

#[test]
#[ignore = "external tools: cargo xtask test vfio"]
fn linux_6_12() {
    Setup::new(Series::Trixie).run(TESTS);
}
