//! Unchanged examples, and the command `peerlane`, as files of a machine.

use peerlane_tools::{Cache, Requirements};
use peerlane_vm::{Initramfs, guest_example, guest_library, guest_program};
use std::{env, fs, path::Path, process::Command};

/// Adds whole programs in Rust, and the command `peerlane`.
pub(crate) fn programs(files: &mut Initramfs) {
    for name in ["acquisition", "inference_feed", "processes"] {
        files.shared_program(&guest_example(name).unwrap()).unwrap();
    }
    command(files);
}

/// Adds the command `peerlane`.
pub(crate) fn command(files: &mut Initramfs) {
    files
        .shared_program(&guest_program("peerlane").unwrap())
        .unwrap();
}

/// Returns the path of a file of the repository.
fn source(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Adds the first example in C and in Rust.
pub(crate) fn compiled(files: &mut Initramfs) {
    let library = guest_library("libpeerlane.so").unwrap();
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join("hello-c");
    let status = Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()))
        .arg("-I")
        .arg(source("host/capi/include"))
        .arg("-o")
        .args([&program, &source("examples/01-hello/hello.c"), &library])
        .status();
    assert!(status.unwrap().success());
    files.program(&program).unwrap();
    // With the name that the linker has put into the program, as a package installs it.
    files.place(&library, "lib/libpeerlane.so.1").unwrap();
    files
        .shared_program(&guest_example("hello").unwrap())
        .unwrap();
}

/// Adds an interpreter with the package, as pip would install it, and programs for it.
pub(crate) fn python(files: &mut Initramfs) {
    let cache = Cache::open().unwrap();
    let python = cache.python(Requirements::Package).unwrap();
    // `traceback` prints an uncaught exception, and `wait_for` needs it.
    files
        .python(
            &python,
            &[
                "__future__",
                "asyncio",
                "concurrent.futures.thread",
                "threading",
                "time",
                "traceback",
            ],
        )
        .unwrap();
    let package = source("host/python/python/peerlane");
    for file in fs::read_dir(&package).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        if name.ends_with(".py") {
            let target = format!("lib/python/peerlane/{name}");
            files.place(&file.path(), &target).unwrap();
        }
    }
    let library = guest_library("lib_peerlane.so").unwrap();
    files
        .place(&library, "lib/python/peerlane/_peerlane.abi3.so")
        .unwrap();
    for file in [
        "examples/01-hello/hello.py",
        "host/python/tests/on_a_board.py",
    ] {
        let name = file.rsplit('/').next().unwrap();
        files.place(&source(file), &format!("srv/{name}")).unwrap();
    }
}
