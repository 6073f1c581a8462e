//! Tests of vendor libraries that are broken, knotted or missing.

use std::fs;
use std::path::{Path, PathBuf};

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, driver, errors, printed, run, succeed};

/// Checks that a program that asks for platforms does not find ours, continues, and gets the reason.
fn absent(lab: &Lab, vendor: &Path, why: &str) {
    let clinfo = lab.opencl().clinfo();
    let mut command = lab.command(&clinfo, Drivers::Wrapped, vendor);
    // PoCL's own driver is installed, too.
    let both = lab.vendors("both", &[&driver(), &lab.opencl().pocl()]);
    command.arg("-l").env("OCL_ICD_VENDORS", both);
    let output = succeed(&mut command, "clinfo");
    let (said, list) = (errors(&output), printed(&output));
    assert_eq!(list.matches("Platform #").count(), 1, "{list}{said}");
    let lines: Vec<_> = said
        .lines()
        .filter(|l| l.starts_with("peerlane-icd: "))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains(why), "{said}");
    // There is no output that was not asked for.
    command.env_remove("PEERLANE_ICD_DEBUG");
    assert_eq!(errors(&succeed(&mut command, "clinfo")), "");
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_library_that_cannot_be_loaded_makes_no_platform() {
    let lab = Lab::new();
    absent(
        &lab,
        Path::new("/nowhere/libalteracl.so"),
        "/nowhere/libalteracl.so",
    );
    absent(
        &lab,
        Path::new("libnowhere_at_all.so"),
        "libnowhere_at_all.so: cannot open shared object file: No such file or directory (a name without / is",
    );
    absent(&lab, Path::new("/usr/lib"), "/usr/lib: it is a directory");
    absent(&lab, &lab.opencl().pocl(), "is a driver by itself");
    absent(&lab, &driver(), "is a driver by itself");
    let sound = fs::read(lab.plain()).unwrap();
    let file = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = lab.path(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    absent(&lab, &file("cut.so", &sound[..4096]), "cut off");
    let mut arm = sound.clone();
    arm[18] = 183; // EM_AARCH64
    absent(&lab, &file("arm.so", &arm), "64-bit ARM");
    absent(&lab, &file("text.so", b"no library\n"), "not an ELF file");
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_library_that_crashes_takes_no_program_with_it() {
    let lab = Lab::new();
    let faults = [
        (1, "crashed (signal 6)"),
        (2, "ended the process"),
        (3, "crashed (signal 11)"),
        (4, "has no platform"),
        (5, "not an OpenCL library"),
    ];
    for (fault, why) in faults {
        let name = format!("libfault{fault}.so");
        let library = lab.library(&name, "vendors/broken.c", &[&format!("-DFAULT={fault}")]);
        absent(&lab, &library, why);
    }
}

/// A program that takes the first platform would find no device there. The result may be an error or an empty list.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_platform_without_a_board_is_not_shown() {
    let lab = Lab::new();
    for result in [-1, 0] {
        let name = format!("libboardless{result}.so");
        let option = format!("-DBOARDLESS={result}");
        let library = lab.library(&name, "vendors/plain.c", &["-ldl", &option]);
        let mut command = lab.command(lab.opencl().clinfo(), Drivers::Wrapped, &library);
        command.arg("-l");
        let output = run(&mut command, "clinfo");
        let (said, list) = (errors(&output), printed(&output));
        assert_eq!(list.matches("Platform #").count(), 0, "{list}{said}");
        absent(&lab, &library, "no board answers");
        // With 0, no process tries the library first, because that could open boards in the program.
        command.env("PEERLANE_ICD_PROBE", "0");
        let list = printed(&succeed(&mut command, "clinfo"));
        assert_eq!(list.matches("Platform #").count(), 1, "{list}");
    }
}

/// Takes half a minute, twice: the time that the driver waits.
#[test]
#[ignore = "external tools: cargo xtask test icd-all"]
fn a_library_that_hangs_makes_no_platform() {
    let lab = Lab::new();
    let library = lab.library("libhangs.so", "vendors/broken.c", &["-DFAULT=6"]);
    absent(&lab, &library, "did not answer within 30 s");
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_loader_is_no_vendor_library() {
    let lab = Lab::new();
    absent(&lab, &lab.opencl().loader(), "loader");
}

/// The vendor library and its helper call each other, and no functions of these names in other libraries.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn a_knot_of_libraries_is_bound_to_itself() {
    let lab = Lab::new();
    let program = lab.compile("program", &["knot.c"], &["-rdynamic", "-ldl"]);
    for linked in [&["-Wl,-z,lazy"][..], &["-Wl,-z,lazy,-z,relro"]] {
        let vendor = lab.library("libknot.so", "vendors/knot.c", linked);
        let helper = lab.library(
            "libhelper.so",
            "vendors/knot.c",
            &[&["-DHELPER"], linked].concat(),
        );
        let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
        command
            .arg(driver())
            .arg(&vendor)
            .env("PEERLANE_ICD_HELPERS", &helper);
        let said = printed(&succeed(&mut command, "knot"));
        assert!(
            said.starts_with("knot 31, both 7, own 1, table 0, unique 5\n"),
            "{said}"
        );
        // One part of the data stays writable; the part that the dynamic linker made read-only is read-only again.
        assert!(
            said.ends_with("\n1 writable parts of the vendor library\n"),
            "{said}"
        );
        // Without the helper its function does not exist.
        command
            .env_remove("PEERLANE_ICD_HELPERS")
            .env("PEERLANE_ICD_PROBE", "0");
        assert!(!command.output().unwrap().status.success());
    }
}

/// Helpers are loaded in the order in which they are named, and the vendor library gets a function from the first one
/// that has it.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn helpers_come_in_order() {
    let lab = Lab::new();
    let program = lab.compile("program", &["knot.c"], &["-rdynamic", "-ldl"]);
    let vendor = lab.library("libordered.so", "vendors/ordered.c", &["-Wl,-z,lazy"]);
    let helper = |number: &str| {
        let option = format!("-DHELPER={number}");
        lab.library(
            &format!("libhelper{number}.so"),
            "vendors/ordered.c",
            &[&option],
        )
    };
    let helpers = ["1", "2", "3"].map(helper);
    let (file, loaded) = (lab.path("icd.toml"), lab.path("loaded"));
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let of = order.map(|index| &helpers[index]);
        let numbers = order.map(|index| (index + 1).to_string()).concat();
        let text = format!("vendor = {vendor:?}\nhelpers = {of:?}\nprobe = false\n");
        let by_file = fs::write(&file, text).map(|()| &file).unwrap();
        let by_variable = std::env::join_paths(of).unwrap();
        for named in ["file", "variable"] {
            let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
            command.arg(driver()).arg(&vendor).env("ORDERED", &loaded);
            match named {
                "file" => {
                    command.env_remove("PEERLANE_ICD_VENDOR");
                    command.env("PEERLANE_ICD_CONFIG", by_file)
                }
                _ => {
                    command.env("PEERLANE_ICD_PROBE", "0");
                    command.env("PEERLANE_ICD_HELPERS", &by_variable)
                }
            };
            let _ = fs::remove_file(&loaded);
            let said = printed(&succeed(&mut command, "ordered"));
            let first = &numbers[..1];
            assert!(
                said.starts_with(&format!("helper {first} of 3, second 2\n")),
                "{said}"
            );
            // The vendor library comes last.
            assert_eq!(
                fs::read_to_string(&loaded).unwrap(),
                format!("{numbers}0"),
                "{named}"
            );
        }
    }
}

/// The file of the machine, and the environment, which overrides it.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn the_file_names_the_libraries() {
    let lab = Lab::new();
    let program = lab.compile("program", &["knot.c"], &["-rdynamic", "-ldl"]);
    let vendor = lab.library("libknot.so", "vendors/knot.c", &["-Wl,-z,lazy"]);
    let helper = lab.library(
        "libhelper.so",
        "vendors/knot.c",
        &["-DHELPER", "-Wl,-z,lazy"],
    );
    let file = lab.path("icd.toml");
    let text = format!("vendor = {vendor:?}\nhelpers = [{helper:?}]\n");
    fs::write(&file, text).unwrap();
    let mut command = lab.command(&program, Drivers::Wrapped, &vendor);
    command.arg(driver()).arg(&vendor);
    command
        .env_remove("PEERLANE_ICD_VENDOR")
        .env("PEERLANE_ICD_CONFIG", &file);
    assert!(printed(&succeed(&mut command, "knot")).starts_with("knot 31, "));
    fs::write(&file, "vendr = 'x'\n").unwrap();
    let output = succeed(&mut command, "knot");
    assert_eq!(printed(&output), "no platform\n");
    assert!(errors(&output).contains("icd.toml"), "{}", errors(&output));
}
