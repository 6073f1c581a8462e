//! Tests of the driver under ThreadSanitizer: there is no race in programs with two platforms, events across queues,
//! and callbacks from other threads.
//!
//! PoCL is not compiled for the sanitizer, so races within PoCL are not checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, driver, errors, printed, run, succeed};

/// Options for programs that are linked with the sanitizer. The driver finds its functions in the program.
const WATCHED: [&str; 2] = ["-fsanitize=thread", "-rdynamic"];

/// Compiles the driver for the sanitizer.
fn watched_driver() -> PathBuf {
    // Next to the directory of profiles: TARGET/debug/deps/TEST.
    let driver = driver();
    let target = driver.ancestors().nth(3).unwrap().join("tsan");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--quiet",
            "--package",
            "peerlane-icd",
            "--target",
            "host-tuple",
        ])
        .arg("--target-dir")
        .arg(&target)
        // The stable compiler has the sanitizer, but not the option. The standard library is not compiled for it.
        .env("RUSTC_BOOTSTRAP", "1")
        .env(
            "RUSTFLAGS",
            "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
        )
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    succeed(&mut command, "cargo build");
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let driver = target.join(triple).join("debug/libpeerlane_icd.so");
    let bytes = fs::read(&driver).unwrap_or_else(|error| panic!("{}: {error}", driver.display()));
    let instrumented = (bytes.windows(13)).any(|part| part == b"__tsan_write8");
    assert!(instrumented, "{}", driver.display());
    driver
}

/// Returns a command with the compiled driver and, if there is one, another platform.
fn command(lab: &Lab, program: &Path, drivers: &[&Path]) -> Command {
    let supp = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/tsan.supp");
    let options = format!("ignore_noninstrumented_modules=1 suppressions={supp}");
    // Without randomized addresses: its libraries of 2022 do not support kernels that randomize more bits.
    let mut command = lab.command("setarch", Drivers::Wrapped, &lab.plain());
    command
        .args(["--addr-no-randomize", "timeout", "300"])
        .arg(program)
        .env("OCL_ICD_VENDORS", lab.vendors("watched", drivers))
        .env("TSAN_OPTIONS", options)
        // The probing process runs the driver as its program, but here the driver needs functions of this program.
        .env("PEERLANE_ICD_PROBE", "0");
    command
}

#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn two_platforms_race_nowhere() {
    let lab = Lab::new();
    let watched = watched_driver();
    let loader = lab.opencl().loader();
    let program = lab.compile(
        "two",
        &["two.c", "tsan.c"],
        &[&[loader.to_str().unwrap()][..], &WATCHED].concat(),
    );
    let output = succeed(
        &mut command(&lab, &program, &[&watched, &lab.other_pocl()]),
        "two",
    );
    let said = printed(&output);
    assert!(said.starts_with("2 platforms, 0 failures\n"), "{said}");
}

#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn copies_race_nowhere() {
    let lab = Lab::new();
    let watched = watched_driver();
    let program = lab.copies_with(&["tsan.c"], &WATCHED);
    for part in ["order", "events", "callback", "released", "many", "threads"] {
        let mut command = command(&lab, &program, &[&watched, &lab.other_pocl()]);
        command.arg(part).arg(&watched).env("COPIES_MOST", "65536");
        let said = printed(&succeed(&mut command, part));
        assert_eq!(said, format!("{part}: 0 failures\n"));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn objects_race_nowhere() {
    let lab = Lab::new();
    let watched = watched_driver();
    let loader = lab.opencl().loader();
    let sources = ["main.c", "objects.c", "events.c", "limits.c", "tsan.c"];
    let options = [&[loader.to_str().unwrap(), "-ldl"][..], &WATCHED].concat();
    let program = lab.compile("program", &sources, &options);
    for part in ["events", "callbacks", "handover", "cycles"] {
        let mut command = command(&lab, &program, &[&watched]);
        command.arg(part).arg(&watched).env("CYCLES", "20000");
        let said = printed(&succeed(&mut command, part));
        // The sanitizer's own memory grows.
        assert!(
            !said
                .replace("kibibytes() - memory < 1024: NO", "")
                .contains(": NO"),
            "{said}"
        );
    }
}

/// Proves that the check would find a race: the program's own, in code of the driver's.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn a_race_is_found() {
    let lab = Lab::new();
    let watched = watched_driver();
    let program = lab.compile(
        "race",
        &["race.c", "tsan.c"],
        &[&["-ldl"][..], &WATCHED].concat(),
    );
    let mut command = command(&lab, &program, &[&watched]);
    let output = run(command.arg(&watched), "race");
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{said}");
    assert!(
        said.contains("data race") && said.contains("libpeerlane_icd.so"),
        "{said}"
    );
}
