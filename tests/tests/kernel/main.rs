//! The kernel driver in Debian's kernel, in a virtual machine whose board is the emitted Verilog
//! behind a vfio-user endpoint, and whose GPU is a test stand-in.
//!
//! What happens in the machine is the guest program's (`tests/guest`); here are the machines, and
//! what only the outside can see: FPGA memory, faults of the bus, every address that the board
//! has touched.

mod figures;
mod lab;
mod libraries;
mod long;
mod runtime;
mod tools;
mod variants;

use lab::Setup;
use peerlane_tools::Flavour;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn transfers_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest transfers");
}

/// One machine for what needs nothing special: a start takes as long as some of these.
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
fn what_an_administrator_sees_and_sets() {
    Setup::default()
        .parameter("user_entries=64 user_memory_mib=1")
        .run("mount -t cgroup2 cgroup2 /sys/fs/cgroup; peerlane-guest admin");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn ends_in_every_order() {
    Setup::default().run("peerlane-guest lifetimes");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest gpu");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn an_attacker_beside_a_victim() {
    // As much as the board fills with zeros while somebody waits.
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest hostile");
}

/// Runs a script, and what looks at tracepoints.
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

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn reprogrammed_over_pcie() {
    Setup::default()
        .cvp()
        .parameter("memory_pool_mib=16")
        // For its probes, where the kernel has some.
        .run("mount -t tracefs tracefs /sys/kernel/tracing || true; peerlane-guest programming");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_board_libraries_for_opencl() {
    Setup::default()
        .with(libraries::files)
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest libraries");
}
