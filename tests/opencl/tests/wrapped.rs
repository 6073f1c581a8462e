//! Tests of a real FPGA runtime for OpenCL, which `PEERLANE_RUNTIME` names, over the simulated board and with the
//! driver `libpeerlane_icd.so` around it, in one process with PoCL: copies between buffers of both
//! (`docs/cl_peerlane_copy_buffer.md`).

use peerlane_icd as _;
use peerlane_icd_tests::{Lab, driver, errors, printed, run, succeed};
use peerlane_mmd_simulated::{SETUP, Setup, Simulation};
use peerlane_opencl::Runtime;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime over the simulated board, as a program sees it.
struct Board {
    lab: Lab,
    runtime: PathBuf,
}

impl Board {
    fn new() -> Self {
        let lab = Lab::new();
        let runtime = Runtime::find().unwrap_or_else(|error| panic!("{error}"));
        // Cargo puts both libraries next to the test.
        let library = driver().with_file_name("libpeerlane_mmd_simulated.so");
        assert!(library.is_file(), "{}", library.display());
        fs::write(lab.path("peerlane.fcd"), format!("{}\n", library.display())).unwrap();
        let setup = Setup {
            boards: vec![Simulation::default()],
        };
        fs::write(lab.path("setup.json"), serde_json::to_vec(&setup).unwrap()).unwrap();
        let runtime = runtime.library();
        Self { lab, runtime }
    }

    /// Returns a command with these drivers.
    fn command(&self, program: &Path, name: &str, drivers: &[&Path]) -> Command {
        // If a library hangs, the command still ends.
        let mut command = Command::new("timeout");
        self.lab.set(&mut command);
        command
            .arg("60")
            .arg(program)
            .env("OCL_ICD_VENDORS", self.lab.vendors(name, drivers))
            .env("PEERLANE_ICD_VENDOR", &self.runtime)
            .env("ACL_BOARD_VENDOR_PATH", self.lab.path("."))
            .env(SETUP, self.lab.path("setup.json"));
        command
    }
}

/// Runs parts of the program with the board's platform and PoCL's. They must pass.
fn passes(parts: &[&str]) {
    let board = Board::new();
    let program = board.lab.copies();
    let pocl = board.lab.opencl().pocl();
    for part in parts {
        let mut command = board.command(&program, "both", &[&driver(), &pocl]);
        command
            .arg(part)
            .arg(driver())
            // The board's Verilog is simulated.
            .env("COPIES_MOST", "65536")
            .env("COPIES_CONTEXT", "1");
        let output = succeed(&mut command, part);
        let said = printed(&output);
        assert_eq!(said, format!("{part}: 0 failures\n"), "{}", errors(&output));
    }
}

/// The runtime (v2025.0) by itself loses bytes that were written into a sub-buffer when the sub-buffer is released
/// before the buffer is used. Checks that the result is the same with the driver and without.
#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn parts_of_buffers_are_as_the_runtime_has_them() {
    let board = Board::new();
    let program = board.lab.program("parts", &["parts.c"]);
    let [bare, wrapped] = [("bare", &board.runtime), ("wrapped", &driver())]
        .map(|(name, of)| printed(&succeed(&mut board.command(&program, name, &[of]), name)));
    assert_eq!(bare, wrapped);
    assert!(bare.contains("by another queue: error 0, seen"), "{bare}");
    println!("{bare}");
}

/// The runtime (v2025.0) by itself loses a reference to an out-of-order queue with each of its commands that fails with
/// a user event, or ends the program where it was built with its assertions: it notes the failed command twice as
/// completed (`acl_set_execution_status`, `acl_event.cpp`, and `acl_update_ooo_queue`, `acl_command_queue.cpp`), and
/// submits it afterwards. Checks that the result is the same with the driver and without; the driver's copies avoid the
/// case.
#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn queues_are_as_the_runtime_has_them() {
    let board = Board::new();
    let program = board.lab.program("references", &["references.c"]);
    let [bare, wrapped] = [("bare", &board.runtime), ("wrapped", &driver())]
        .map(|(name, of)| printed(&run(&mut board.command(&program, name, &[of]), name)));
    assert_eq!(bare, wrapped);
    assert!(bare.contains("in order: 9, 9, 9, 9\n"), "{bare}");
    println!("{bare}");
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn copies_go_through_the_hosts_memory() {
    passes(&["data", "order", "events", "callback"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn failures_reach_those_who_wait() {
    passes(&["failures", "references"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn each_error_is_that_of_the_table() {
    passes(&["errors"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn objects_may_go_while_a_copy_is_under_way() {
    passes(&["released"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn a_queue_out_of_order_has_barriers() {
    passes(&["out-of-order"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn many_copies_are_under_way_at_a_time() {
    passes(&["many", "threads"]);
}

#[test]
#[ignore = "an installed runtime: cargo xtask test runtime"]
fn the_board_copies_to_and_from_the_gpus_memory() {
    passes(&["simulated"]);
}
