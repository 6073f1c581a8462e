//! Tests of OpenCL programs with a real FPGA runtime for OpenCL, which `PEERLANE_RUNTIME` names, in the machine: over
//! the board library, the driver and the block's Verilog. Program and runtime are the same as for any board.

use crate::lab::Setup;
use crate::libraries;
use crate::simulated::program;
use peerlane_endpoint::Params;
use peerlane_opencl::{HostProgram, Package, Runtime};
use peerlane_vm::Initramfs;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The runtime, and the program for it.
struct Parts {
    runtime: Runtime,
    program: HostProgram,
    _directory: TempDir,
}

fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(|| {
        let runtime = Runtime::find().unwrap_or_else(|error| panic!("{error}"));
        let directory = tempfile::tempdir().unwrap();
        let program = HostProgram::build(&runtime, &directory.path().join("opencl-host"));
        Parts {
            program: program.unwrap_or_else(|error| panic!("{error}")),
            runtime,
            _directory: directory,
        }
    })
}

/// Puts runtime and program into a machine, in addition to the board library, the file by which the runtime finds that
/// library, and packages `/srv/1.aocx` and `2.aocx`.
fn files(files: &mut Initramfs) {
    libraries::files(files);
    let parts = parts();
    files.library(&parts.runtime.library()).unwrap();
    // This also adds the runtime's own libraries.
    files.program(parts.program.file()).unwrap();
    files
        .file("srv/peerlane.fcd", b"/lib/libpeerlane_mmd.so\n")
        .unwrap();
    for number in [1, 2] {
        let package = Package::of(&program(Params::default(), number));
        files
            .file(&format!("srv/{number}.aocx"), &package.bytes())
            .unwrap();
    }
}

fn run(script: &str) {
    Setup::default()
        .with(files)
        .parameter("memory_pool_mib=16")
        .run(script);
}

#[test]
#[ignore = "external tools and an installed runtime: cargo xtask test kernel"]
fn opencl_programs() {
    run("peerlane-guest programs --filter programs.run");
}

#[test]
#[ignore = "external tools and an installed runtime: cargo xtask test kernel"]
fn opencl_programs_and_a_gpu() {
    run("peerlane-guest programs --filter programs.gpu");
}

#[test]
#[ignore = "external tools and an installed runtime: cargo xtask test kernel"]
fn opencl_programs_that_are_ended() {
    run("peerlane-guest programs --filter programs.end");
}
