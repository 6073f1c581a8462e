//! The kernel driver in Debian's kernel, in a virtual machine whose board is the emitted Verilog
//! behind a vfio-user endpoint, and whose GPU is a test stand-in.
//!
//! What happens in the machine is the guest program's (`tests/guest`); here are the machines, and
//! what only the outside can see: FPGA memory, faults of the bus, every address that the board
//! has touched.

mod figures;
mod lab;
mod long;

use lab::Setup;
use peerlane_tools::Flavour;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn transfers() {
    Setup::default().run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn transfers_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn transfers_without_a_table_of_vectors() {
    Setup::default().irq_line().run("peerlane-guest transfers");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn costs() {
    // Room for the pages of the largest transfer.
    Setup::default()
        .memory(2048)
        .parameter("kept_gpu_mib=256")
        .run("peerlane-guest cost");
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
fn regions_that_are_kept() {
    Setup::default().run("peerlane-guest kept");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_window_into_fpga_memory() {
    Setup::default().run("peerlane-guest window");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn wrong_ioctls_where_there_is_no_window() {
    Setup::default().windowless().run("peerlane-guest ioctls");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn fpga_memory() {
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest memory");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn fpga_memory_that_everybody_may_hold() {
    Setup::default()
        .parameter("memory_pool_mib=16 hold_all=1")
        .run("peerlane-guest memory --filter memory.all");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn ends_in_every_order() {
    Setup::default().run("peerlane-guest lifetimes");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn ends_in_every_order_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest lifetimes");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu() {
    Setup::default().run("peerlane-guest gpu");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_under_an_iommu() {
    Setup::default().iommu().run("peerlane-guest gpu");
}

/// As NVIDIA's driver does it: NVIDIA/open-gpu-kernel-modules, issue 1324.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_that_gives_raw_addresses() {
    Setup::default().iommu().gpu_at_the_root().run(
        "echo Y > /sys/module/fakegpu/parameters/raw_addresses\n\
         peerlane-guest gpu",
    );
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_behind_the_host_bridge_and_an_iommu() {
    Setup::default()
        .iommu()
        .gpu_at_the_root()
        .run("peerlane-guest gpu --filter data");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_on_a_board_that_is_stuck() {
    // A port that stands still is not found out by itself in that time.
    Setup::default()
        .iommu()
        .port_timeout(1_000_000_000)
        .parameter("patience_ms=1000")
        .run("peerlane-guest gpu-stuck");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn memory_of_a_gpu_far_away() {
    Setup::default().far_gpu().run("peerlane-guest gpu-far");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn an_attacker_beside_a_victim() {
    // As much as the board fills with zeros while somebody waits.
    Setup::default()
        .parameter("memory_pool_mib=16")
        .run("peerlane-guest hostile");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn faults() {
    Setup::default().run("peerlane-guest faults");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn faults_with_a_status() {
    Setup::default().tagged().run("peerlane-guest faults");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn what_tracepoints_say() {
    if Flavour::chosen().unwrap() == Flavour::Memory {
        println!("skipped: the kernel with KASAN is built without tracing");
        return;
    }
    Setup::default().run("mount -t tracefs tracefs /sys/kernel/tracing; peerlane-guest traces");
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_board_that_dies() {
    Setup::default().run("peerlane-guest killed");
}
