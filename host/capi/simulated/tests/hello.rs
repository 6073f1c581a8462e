//! The examples in C, linked with `libpeerlane.so`, on the simulated board.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Cargo puts libraries beside the test.
fn beside(name: &str) -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.is_file(), "{}", library.display());
    library
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn hello() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join("hello");
    let real = beside("libpeerlane.so");
    let output = Command::new("cc")
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
        ])
        .arg(root.join("host/capi/include"))
        .arg(root.join("examples/01-hello/hello.c"))
        .arg("-L")
        .arg(real.parent().unwrap())
        .args(["-lpeerlane", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");

    let simulated = beside("libpeerlane_capi_simulated.so");
    std::os::unix::fs::symlink(simulated, work.path().join("libpeerlane.so.1")).unwrap();
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", work.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert_eq!(said, "100000 bytes to the FPGA and back\n");
}
