//! A real FPGA runtime for OpenCL, which `PEERLANE_RUNTIME` names, over the simulated board and with the driver
//! `libpeerlane_icd.so` around it, in one process with PoCL: copies between buffers of both
//! (`docs/cl_peerlane_copy_buffer.md`).

use peerlane_icd as _;
use peerlane_icd_tests::{Lab, driver, errors, printed, succeed};
use peerlane_mmd_simulated::{SETUP, Setup, Simulation};
use peerlane_opencl::Runtime;
use std::fs;
use std::process::Command;

/// Runs parts of the program with the board's platform and PoCL's.
fn passes(parts: &[&str]) {
    let lab = Lab::new();
    let program = lab.copies();
    let runtime = Runtime::find().unwrap_or_else(|error| panic!("{error}"));
    // Cargo puts both libraries beside the test.
    let library = driver().with_file_name("libpeerlane_mmd_simulated.so");
    assert!(library.is_file(), "{}", library.display());
    fs::write(lab.path("peerlane.fcd"), format!("{}\n", library.display())).unwrap();
    let setup = Setup {
        boards: vec![Simulation::default()],
    };
    fs::write(lab.path("setup.json"), serde_json::to_vec(&setup).unwrap()).unwrap();
    let both = lab.vendors("both", &[&driver(), &lab.opencl().pocl()]);
    for part in parts {
        let mut command = Command::new(&program);
        lab.set(&mut command);
        command
            .arg(part)
            .arg(driver())
            .env("OCL_ICD_VENDORS", &both)
            .env("PEERLANE_ICD_VENDOR", runtime.library())
            .env("ACL_BOARD_VENDOR_PATH", lab.path("."))
            .env(SETUP, lab.path("setup.json"))
            // The board's Verilog is simulated.
            .env("COPIES_MOST", "65536")
            // With the open runtime v2025.0 bytes that are written into a sub-buffer are not seen in the buffer.
            .env("COPIES_WHOLE", "1");
        let output = succeed(&mut command, part);
        let said = printed(&output);
        assert_eq!(said, format!("{part}: 0 failures\n"), "{}", errors(&output));
    }
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn copies_go_through_the_hosts_memory() {
    passes(&["data", "order", "events"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn the_board_copies_to_and_from_the_gpus_memory() {
    passes(&["simulated"]);
}
