//! The board libraries for OpenCL, and the files that they need in a machine.

use crate::simulated::program;
use peerlane_endpoint::Params;
use peerlane_opencl::{CONFIGURATION, IMAGE, Package};
use peerlane_vm::{Initramfs, guest_library, guest_program};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Files of the libraries for a machine.
struct Parts {
    libraries: [PathBuf; 2],
    loader: PathBuf,
    programmer: PathBuf,
}

fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(|| Parts {
        libraries: ["libpeerlane_mmd.so", "libpeerlane_mmd_legacy.so"]
            .map(|name| guest_library(name).unwrap()),
        loader: guest_program("peerlane-loader").unwrap(),
        programmer: guest_program("quartus_pgm").unwrap(),
    })
}

/// Puts both libraries into a machine, with the program that makes the runtime's calls, a mock of Quartus's programmer,
/// and images: `/srv/1.bin` and `2.bin` of programs with all kernels, and `spoilt.bin` without a program.
pub(crate) fn files(files: &mut Initramfs) {
    let parts = parts();
    for library in &parts.libraries {
        files.library(library).unwrap();
    }
    for program in [&parts.loader, &parts.programmer] {
        files.shared_program(program).unwrap();
    }
    for number in [1, 2] {
        let package = Package::of(&program(Params::default(), number));
        let image = package.get(IMAGE).unwrap();
        files.file(&format!("srv/{number}.bin"), image).unwrap();
    }
    let mut spoilt = Package::default();
    spoilt.set(CONFIGURATION, "no program");
    files.file("srv/spoilt.bin", &spoilt.bytes()).unwrap();
}
