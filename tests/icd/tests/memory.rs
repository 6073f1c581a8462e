//! Tests of the driver's memory under valgrind: no wrong access, and no leak.

use std::process::Command;

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, driver, errors, printed, run, succeed};

/// Wraps a command so that each message of memcheck is an error, except those that `valgrind.supp` names.
fn watched(command: &Command) -> Command {
    let supp = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/valgrind.supp");
    // PoCL may also hang.
    let mut valgrind = Command::new("timeout");
    valgrind
        .args(["300", "valgrind"])
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
        .args([
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
        ])
        .arg(format!("--suppressions={supp}"))
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    // Valgrind does not run the process that tries the vendor library.
    valgrind
        .env("PEERLANE_ICD_PROBE", "0")
        .env("COPIES_MOST", "65536");
    valgrind
}

/// Copies, with all their events, errors and objects that are released during a copy.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn copies_do_nothing_wrong_in_memory() {
    let lab = Lab::new();
    let program = lab.copies();
    let vendor = lab.plain();
    let both = lab.vendors("both", &[&driver(), &lab.other_pocl()]);
    for part in ["events", "callback", "released", "errors"] {
        let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
        command
            .arg(part)
            .arg(driver())
            .env("OCL_ICD_VENDORS", &both);
        let said = printed(&succeed(&mut watched(&command), part));
        assert_eq!(said, format!("{part}: 0 failures\n"));
    }
}

/// Objects, and handles that are not valid.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn objects_do_nothing_wrong_in_memory() {
    let lab = Lab::new();
    let program = lab.program("program", &["main.c", "objects.c", "events.c", "limits.c"]);
    let vendor = lab.plain();
    for part in ["wrong", "cycles"] {
        let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
        command.arg(part).arg(driver()).env("CYCLES", "2000");
        succeed(&mut watched(&command), part);
    }
}

/// Proves that the check would find an error.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn valgrind_finds_what_is_wrong() {
    let lab = Lab::new();
    let program = lab.compile("lost", &["lost.c"], &[]);
    let output = watched(&Command::new(program)).output();
    let output = output.unwrap_or_else(|error| panic!("valgrind: {error}"));
    assert_eq!(output.status.code(), Some(9));
}

/// PoCL 3.1 has its error with commands that fail also without the driver. This is the reason why the driver retains
/// events until a copy has ended, and why copies that fail are not among the tests above.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn pocl_itself_uses_commands_that_have_failed() {
    let lab = Lab::new();
    let program = lab.program("failed", &["failed.c"]);
    let command = lab.command(&program, Drivers::Bare, &lab.plain());
    let output = run(&mut watched(&command), "failed");
    let (said, faults) = (printed(&output), errors(&output));
    if !said.contains("PoCL 3.1") {
        println!("skipped: not PoCL 3.1 but {said}");
        return;
    }
    assert!(!output.status.success(), "{said}{faults}");
    let (_, first) = faults.split_once("Invalid read").expect(&faults);
    let place = first.lines().nth(1).unwrap_or_default();
    assert!(place.contains("libpocl.so"), "{faults}");
    assert!(!faults.contains("libpeerlane"), "{faults}");
}
