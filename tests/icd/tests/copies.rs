//! Tests of copies between buffers of two platforms by one call (`docs/cl_peerlane_copy_buffer.md`): PoCL, wrapped, and
//! another PoCL.

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, driver, errors, printed, succeed};

/// Runs parts of the program, which must pass.
fn passes(vendor: &str, parts: &[&str]) {
    passes_with(vendor, &["-ldl"], parts);
}

/// Runs parts of the program with a vendor library that is compiled with these options.
fn passes_with(vendor: &str, options: &[&str], parts: &[&str]) {
    let lab = Lab::new();
    let program = lab.copies();
    let vendor = lab.library("libalteracl.so", vendor, options);
    let both = lab.vendors("both", &[&driver(), &lab.other_pocl()]);
    for part in parts {
        let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
        command
            .arg(part)
            .arg(driver())
            .env("OCL_ICD_VENDORS", &both);
        let output = succeed(&mut command, part);
        let said = printed(&output);
        assert_eq!(said, format!("{part}: 0 failures\n"), "{}", errors(&output));
    }
}

const PLAIN: &str = "vendors/plain.c";

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn bytes_go_both_ways() {
    passes(PLAIN, &["data", "same-platform"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_copy_has_its_place_in_the_queue() {
    passes(PLAIN, &["order", "out-of-order"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn each_error_is_that_of_the_table() {
    passes(PLAIN, &["errors"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn copies_that_fail_copy_nothing() {
    passes(PLAIN, &["failures", "references"]);
}

/// Markers of the open FPGA runtime end well although an event that they have waited for has failed.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn failures_do_not_depend_on_the_vendors_markers() {
    passes_with(PLAIN, &["-ldl", "-DFORGETS"], &["forgotten"]);
}

/// When the vendor library's destructors run, the copy's thread does not use it any more: until then it moves bytes, or
/// releases its objects. A copy that waits has not begun.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_program_may_end_behind_a_copy() {
    passes_with(PLAIN, &["-ldl", "-DENDS"], &["exit", "leave", "waits"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn events_tell_of_copies() {
    passes(PLAIN, &["events", "callback"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn objects_may_go_while_a_copy_is_under_way() {
    passes(PLAIN, &["released"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn many_copies_are_under_way_at_a_time() {
    passes(PLAIN, &["many", "threads"]);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_path_is_told() {
    passes(PLAIN, &["path"]);
}

/// With a mock of the board's library, and once more by the host's memory.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_boards_library_moves_bytes_itself() {
    passes("vendors/board.c", &["direct", "data", "errors"]);
}
