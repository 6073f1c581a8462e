//! Runs the tests of the host library's public interface, and its examples, on the kernel's device. The same tests and
//! programs run on the simulated board in the process.

use crate::lab::{Lab, has_iommu, told};
use crate::suite::Suite;
use anyhow::Result;
use peerlane_functional::{ALL, Bench};
use peerlane_host::{Device, MemoryKind};

#[path = "../../../host/examples/read.rs"]
mod read;
#[path = "../../../host/examples/write.rs"]
mod write;

struct Kernel;

impl Bench for Kernel {
    fn open(&self) -> Result<Device> {
        Device::first().map_err(told)
    }

    fn takes_addresses(&self) -> bool {
        true
    }

    fn shows_huge_pages(&self) -> bool {
        // Through an IOMMU all pages are contiguous.
        !has_iommu()
    }
}

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    for (name, test) in ALL {
        suite.run(&format!("library.{name}"), || test(&Kernel).map(|()| ""));
    }
    suite.run("library.example.read", || {
        read::run(&lab.open()?, MemoryKind::Host).map(|()| "")
    });
    suite.run("library.example.write", || {
        write::run(&lab.open()?, MemoryKind::Host).map(|()| "")
    });
}
