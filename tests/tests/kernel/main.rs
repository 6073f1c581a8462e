//! Tests of the kernel driver in Debian's kernel, in a virtual machine whose board is the emitted Verilog at a
//! vfio-user endpoint, and whose GPU is a mock.
//!
//! The guest program (`tests/guest`) does the work in the machine. This program has the machines, and checks that need
//! the outside: FPGA memory, faults of the bus, every address that the board has accessed.

#[path = "../machines/examples.rs"]
mod examples;
mod lab;
#[path = "../machines/libraries.rs"]
mod libraries;
mod long;
#[path = "../machines/module.rs"]
mod module;
#[path = "../machines/outside.rs"]
mod outside;
mod runtime;
#[path = "../machines/simulated.rs"]
mod simulated;
mod tools;
mod variants;

use lab::Setup;
use peerlane_tools::Flavour;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn transfers_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest transfers");
}

/// One machine for tests without special needs: its start takes as long as some of these tests.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_host_library_kept_regions_and_tracepoints() {
    tracepoints(
        Setup::default(),
        "peerlane-guest library\npeerlane-guest kept\n",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn wrong_ioctls() {
    Setup::default()
        .parameter("context_entries=512")
        .run("peerlane-guest ioctls\npeerlane-example /dev/peerlane0");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn ends_in_every_order() {
    Setup::default().run("peerlane-guest lifetimes");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_under_an_iommu() {
    Setup::default()
        .reset_fabric()
        .iommu()
        .run("peerlane-guest gpu");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn streams_of_the_logic() {
    Setup::default()
        .stream()
        .iommu()
        .run("peerlane-guest rings");
}

/// Runs a script, and tests of tracepoints.
fn tracepoints(setup: Setup, script: &str) {
    if Flavour::chosen().unwrap() == Flavour::Memory {
        println!("skipped: the kernel with KASAN is built without tracing");
        setup.run(script);
        return;
    }
    let traces = "mount -t tracefs tracefs /sys/kernel/tracing; peerlane-guest traces";
    setup.run(&format!("{script}{traces}"));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_opencl_side_of_a_board() {
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest opencl");
}
