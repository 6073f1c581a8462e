//! The examples in C, linked with `libpeerlane.so`, on the simulated board. CUDA's driver and AMD's runtimes are mocks.

#[path = "../../../tests/fake-amd/mod.rs"]
mod fake_amd;

#[path = "../../../tests/fake-cuda/mod.rs"]
mod fake_cuda;

use fake_amd::FakeAmd;
use fake_cuda::FakeCuda;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Returns the path of a library. Cargo puts libraries into the directory of the test.
fn beside(name: &str) -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.is_file(), "{}", library.display());
    library
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program as its user does, and places the library in a directory for it.
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
    std::os::unix::fs::symlink(real, work.path().join("libpeerlane.so.1")).unwrap();
    program
}

/// Runs a program that must end well, and returns its output.
fn run(program: &Path, libraries: &[&Path]) -> String {
    run_with(program, libraries, &[])
}

fn run_with(program: &Path, libraries: &[&Path], variables: &[(&str, &str)]) -> String {
    let output = Command::new(program)
        .env("LD_LIBRARY_PATH", std::env::join_paths(libraries).unwrap())
        .env("PEERLANE_DEVICE", "simulated")
        // One of 8 is left: this is the limit of a user.
        .env("PEERLANE_SIMULATED_TAKEN", "7")
        .envs(variables.iter().copied())
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

/// Where the order of the mock's copies was not requested, they reach the memory late, as memory of `cuMemCreate` does
/// not allow. Its dma-bufs are whole pages, and the memory before the allocation is other memory.
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
    for variables in [&[][..], &[("FAKE_CUDA_VMM", "1")]] {
        let said = run_with(&program, &[work.path(), &libraries], variables);
        assert_eq!(said, "100000 bytes from the GPU to the FPGA and back\n");
    }
}

/// The mock's allocation shares a piece with others, so that it begins inside of the dma-buf. Data that the board
/// writes are held back until the program flushes: by a function that HIP has from 7.2 on, or by a register.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_of_hip() {
    let sources = root().join("tests/fake-amd");
    let amd = FakeAmd::new(&sources);
    let header = sources.join("include");
    let [hip, hsa] = ["libamdhip64.so.6", "libhsa-runtime64.so.1"].map(|name| amd.path(name));
    let libraries = hip.parent().unwrap();
    for (version, held_back_until) in [
        (
            "-DHIP_VERSION=70200000",
            "hipDeviceFlushGPUDirectRDMAWrites",
        ),
        ("-DHIP_VERSION=70200000", "register"),
        ("-DHIP_VERSION=70100000", "register"),
    ] {
        let work = tempfile::tempdir().unwrap();
        let more = [
            version,
            "-D__HIP_PLATFORM_AMD__",
            "-I",
            header.to_str().unwrap(),
            hip.to_str().unwrap(),
            hsa.to_str().unwrap(),
        ];
        let program = compile(&work, "examples/01-hello/rocm.c", &more);
        let libraries = [work.path(), libraries];
        let said = run_with(
            &program,
            &libraries,
            &[("FAKE_AMD_HELD_BACK", held_back_until)],
        );
        assert_eq!(said, "100000 bytes from the GPU to the FPGA and back\n");
    }
}
