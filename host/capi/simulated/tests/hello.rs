//! The examples in C, linked with `libpeerlane.so`, on the simulated board. CUDA's driver and AMD's runtimes are stand-ins.

#[path = "../../../../tests/fake-amd/mod.rs"]
mod fake_amd;

#[path = "../../../../tests/fake-cuda/mod.rs"]
mod fake_cuda;

use fake_amd::FakeAmd;
use fake_cuda::FakeCuda;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Cargo puts libraries beside the test.
fn beside(name: &str) -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.is_file(), "{}", library.display());
    library
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Compiles a program as its user does, and has it find the library over the simulated board in a directory.
fn compile(work: &TempDir, source: &str, more: &[&str]) -> PathBuf {
    let program = work.path().join("program");
    let real = beside("libpeerlane.so");
    let output = Command::new("cc")
        .args(["-std=c99", "-D_POSIX_C_SOURCE=200809L"])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root().join("host/capi/include"))
        .arg(root().join(source))
        .arg("-L")
        .arg(real.parent().unwrap())
        .arg("-lpeerlane")
        .args(more)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let simulated = beside("libpeerlane_capi_simulated.so");
    std::os::unix::fs::symlink(simulated, work.path().join("libpeerlane.so.1")).unwrap();
    program
}

/// What a program says that ends well.
fn run(program: &Path, libraries: &[&Path]) -> String {
    let output = Command::new(program)
        .env("LD_LIBRARY_PATH", std::env::join_paths(libraries).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    said.into_owned()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn hello() {
    let work = tempfile::tempdir().unwrap();
    let program = compile(&work, "examples/01-hello/hello.c", &[]);
    let said = run(&program, &[work.path()]);
    assert_eq!(said, "100000 bytes to the FPGA and back\n");
}

/// The stand-in's copies lie in the memory late where nobody has asked for their order, its dma-bufs are whole pages, and
/// what is in the allocation before is not the same.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_of_cuda() {
    let work = tempfile::tempdir().unwrap();
    let sources = root().join("tests/fake-cuda");
    let cuda = FakeCuda::new(&sources);
    let libraries = cuda.library().parent().unwrap().to_owned();
    let (place, header) = (libraries.to_str().unwrap(), sources.to_str().unwrap());
    let source = "examples/01-hello/cuda.c";
    let program = compile(&work, source, &["-I", header, "-L", place, "-lcuda"]);
    let said = run(&program, &[work.path(), &libraries]);
    assert_eq!(said, "100000 bytes from the GPU to the FPGA and back\n");
}

/// The stand-in's allocation shares a piece with others, so that it begins inside of the dma-buf.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_of_hip() {
    let work = tempfile::tempdir().unwrap();
    let sources = root().join("tests/fake-amd");
    let amd = FakeAmd::new(&sources);
    let header = sources.join("include");
    let [hip, hsa] = ["libamdhip64.so.6", "libhsa-runtime64.so.1"].map(|name| amd.path(name));
    let libraries = hip.parent().unwrap();
    let more = [
        "-D__HIP_PLATFORM_AMD__",
        "-I",
        header.to_str().unwrap(),
        hip.to_str().unwrap(),
        hsa.to_str().unwrap(),
    ];
    let program = compile(&work, "examples/01-hello/rocm.c", &more);
    let said = run(&program, &[work.path(), libraries]);
    assert_eq!(said, "100000 bytes from the GPU to the FPGA and back\n");
}
