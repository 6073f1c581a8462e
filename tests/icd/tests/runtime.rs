//! A real FPGA runtime for OpenCL, which `PEERLANE_RUNTIME` names, as the vendor library: Intel's open one
//! is a driver by itself, too, so that a program can be run with both. It needs no board for that, because it
//! makes a platform with a device that no program can be run on.

use std::path::{Path, PathBuf};
use std::process::Output;

use peerlane_icd as _;
use peerlane_icd_tests::{Lab, driver, errors, printed, succeed};

/// Makes the device (acl_shipped_board_cfgs of the runtime has its name).
const OFFLINE: (&str, &str) = ("CL_CONTEXT_OFFLINE_DEVICE_INTELFPGA", "a10_ref_small");

fn runtime() -> PathBuf {
    let prefix = std::env::var_os("PEERLANE_RUNTIME").expect("PEERLANE_RUNTIME is not set");
    let library = Path::new(&prefix).join("lib/libalteracl.so");
    assert!(library.is_file(), "{}", library.display());
    library
}

/// Runs a program by the runtime's own driver and by ours around it.
fn both(lab: &Lab, program: &Path, argument: &str) -> [Output; 2] {
    let library = runtime();
    [&library, &driver()].map(|of| {
        let name = if *of == library { "runtime" } else { "wrapped" };
        let directory = lab.vendors(name, &[of]);
        let mut command = std::process::Command::new(program);
        lab.set(&mut command);
        command.arg(argument).env(OFFLINE.0, OFFLINE.1);
        command
            .env("OCL_ICD_VENDORS", directory)
            .env("PEERLANE_ICD_VENDOR", &library);
        succeed(&mut command, argument)
    })
}

/// Parts of the program that the runtime survives by itself: there is no compiler, so that no kernel can be
/// built.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn programs_see_no_difference() {
    let lab = Lab::new();
    let program = lab.program("program", &["main.c", "objects.c", "events.c", "limits.c"]);
    for part in ["arguments", "devices", "queries"] {
        let [bare, wrapped] = both(&lab, &program, part);
        assert_eq!(
            printed(&bare),
            printed(&wrapped),
            "{part}: {}",
            errors(&wrapped)
        );
        assert!(
            printed(&bare).contains("context && !error: yes"),
            "{}",
            printed(&bare)
        );
    }
}

/// All that there is to ask, but for the driver's extension; the suffix, too, by which loaders find the runtime's own
/// functions.
#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn clinfo_sees_no_difference() {
    let lab = Lab::new();
    let [bare, wrapped] = both(&lab, &lab.opencl().clinfo(), "-a").map(|output| printed(&output));
    assert!(bare.lines().count() > 80, "{bare}");
    assert_eq!(bare.lines().count(), wrapped.lines().count(), "{wrapped}");
    for (bare, wrapped) in bare.lines().zip(wrapped.lines()) {
        assert_eq!(bare, wrapped.replace(" cl_peerlane_copy_buffer", ""));
    }
}
