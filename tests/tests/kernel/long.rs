//! Tests that take long: many rounds of tests that depend on chance, and the largest transfers.

use std::time::Duration;

use crate::lab::Setup;

/// Longer than any of these tests takes.
const DEADLINE: Duration = Duration::from_secs(2 * 3600);

fn setup() -> Setup {
    Setup::default().deadline(DEADLINE)
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn unbound_200_times_under_load() {
    setup().run("peerlane-guest faults --rounds 200 --filter rebound_under_load");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn unbound_200_times_under_load_and_an_iommu() {
    setup()
        .iommu()
        .run("peerlane-guest faults --rounds 200 --filter rebound_under_load");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn loaded_200_times() {
    setup().run("peerlane-guest faults --rounds 200 --filter module");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn reset_removed_suspended_and_in_error_under_load() {
    setup().run(
        "for event in reset removed suspended error; do\n\
         peerlane-guest faults --rounds 70 --filter $event || exit 1\n\
         done",
    );
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn transfers_of_all_sizes() {
    setup().memory(2048).run("peerlane-guest transfers --all");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn transfers_of_all_sizes_under_an_iommu() {
    setup()
        .iommu()
        .memory(2048)
        .run("peerlane-guest transfers --all");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn gpu_memory_goes_100_times() {
    setup()
        .reset_fabric()
        .run("peerlane-guest gpu --all --rounds 100");
}

#[test]
#[ignore = "external tools, and long: cargo xtask test kernel-long"]
fn transfers_of_all_sizes_with_a_gpu() {
    // Memory for the compared data, in addition to the GPU's memory for 256 MiB at any offset.
    setup()
        .memory(2048)
        .vram(512)
        .run("peerlane-guest gpu-sizes");
}
