//! Tests of a vendor library, PoCL without its dispatch table, bare and wrapped: a program must not see a difference.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, driver, errors, printed, succeed};

const PROGRAM: [&str; 4] = ["main.c", "objects.c", "events.c", "limits.c"];

/// Runs a part of the program bare and wrapped, and returns the standard error of the wrapped run.
fn same(part: &str, cycles: Option<u32>) -> String {
    let lab = Lab::new();
    let program = lab.program("program", &PROGRAM);
    let vendor = lab.plain();
    let run = |drivers| -> Output {
        let mut command = lab.command(&program, drivers, &vendor);
        command.arg(part).arg(driver());
        if let Some(cycles) = cycles {
            command.env("CYCLES", cycles.to_string());
        }
        succeed(&mut command, part)
    };
    let (bare, wrapped) = (run(Drivers::Bare), run(Drivers::Wrapped));
    let (bare, said) = (printed(&bare), errors(&wrapped));
    assert_eq!(bare, printed(&wrapped), "{said}");
    assert!(!bare.contains(": NO"), "{bare}");
    assert!(bare.lines().count() > 3, "{bare}");
    assert!(!said.contains("LEAK"), "{said}");
    // Platform and device are never freed.
    assert!(said.contains("live objects at the end: 2\n"), "{said}");
    said
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn answers_name_the_same_objects() {
    same("parents", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn arguments_that_are_handles_arrive() {
    same("arguments", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn events_order_commands() {
    same("events", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn callbacks_get_the_programs_handles() {
    same("callbacks", None);
}

/// The same result when other threads use the objects.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn last_references_go_in_any_thread() {
    same("handover", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn programs_come_from_binaries_and_libraries() {
    same("programs", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn parts_of_devices_live_as_long_as_they_are_needed() {
    same("devices", None);
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn handles_that_are_none_are_refused() {
    let said = same("wrong", None);
    // CL_INVALID_MEM_OBJECT of the specification, each time.
    for wrong in ["of another kind", "released", "released again"] {
        assert!(said.contains(&format!("{wrong}: -38\n")), "{said}");
    }
    assert!(said.contains("refused: 1000, left: 0\n"), "{said}");
    // CL_INVALID_PROGRAM, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT.
    for wrong in ["programs: -44\n", "devices: -33\n", "memory: -38\n"] {
        assert!(said.contains(wrong), "{said}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn no_query_answers_with_a_handle_of_the_vendors() {
    let said = same("queries", None);
    assert!(said.contains("trap: known"), "{said}");
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn objects_come_and_go_without_a_trace() {
    same("cycles", Some(200_000));
}

#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn a_million_events() {
    same("cycles", Some(1_000_000));
}

/// A driver around a library has a suffix and an extension that the library lacks, and does not offer command buffers.
/// There is no other difference, with Debian's loader and Khronos's.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn clinfo_says_the_same() {
    let lab = Lab::new();
    let vendor = lab.plain();
    for loader in [None, Some(lab.khronos_loader())] {
        let ask = |drivers| -> BTreeSet<String> {
            let clinfo: PathBuf = lab.opencl().clinfo();
            let mut command = lab.command(clinfo, drivers, &vendor);
            command.envs(loader.iter().map(|file| ("LD_PRELOAD", file)));
            let output = succeed(&mut command, "clinfo");
            let words = |line: &str| {
                let words = line.split_whitespace();
                let offered: Vec<_> = words.filter(|w| *w != "cl_khr_command_buffer").collect();
                offered.join(" ")
            };
            printed(&output).lines().map(words).collect()
        };
        let (bare, wrapped) = (ask(Drivers::Bare), ask(Drivers::Wrapped));
        assert!(bare.len() > 100, "{bare:?}");
        let own = [
            "cl_khr_icd",
            "cl_peerlane_copy_buffer",
            "Peerlane",
            "POCL",
            "cl_pocl_content_size",
        ];
        let hidden = ["ommand buffer", "(0.9.0)"];
        let explained = |line: &&String| own.iter().chain(&hidden).any(|word| line.contains(word));
        let other: Vec<_> = wrapped.symmetric_difference(&bare).collect();
        let unexplained: Vec<_> = other.iter().filter(|line| !explained(line)).collect();
        assert!(unexplained.is_empty(), "{unexplained:#?}");
        assert!(
            other.iter().any(|line| line.ends_with(" Peerlane")),
            "{other:#?}"
        );
    }
}
