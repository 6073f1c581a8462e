//! The package with an interpreter: as pip builds it, and built with boards that fail on request, together with mocks of
//! CUDA's driver and AMD's runtimes.

#[path = "../../../tests/fake-amd/mod.rs"]
mod fake_amd;

#[path = "../../../tests/fake-cuda/mod.rs"]
mod fake_cuda;

use fake_amd::FakeAmd;
use fake_cuda::FakeCuda;
use peerlane_tools::{Cache, Python, Requirements};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn python() -> Python {
    let cache = Cache::open().unwrap();
    cache.python(Requirements::Package).unwrap()
}

/// Runs a command that must end well, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{said}{errors}");
    said
}

/// Runs pytest with a package first in the path, and a library in whose directory others may lie.
fn pytest(python: &Python, package: &Path, library: Option<&Path>, tests: &[&str]) {
    let mut command = python.command();
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library.parent().unwrap());
    }
    let path = env::join_paths([package, &python.site]).unwrap();
    let files = tests.iter().map(|test| here().join("tests").join(test));
    command.env("PYTHONPATH", path).current_dir(here());
    let said = run(command.args(["-m", "pytest", "-q"]).args(files));
    print!("{said}");
    // pytest ends well, too, where all tests were skipped.
    assert!(said.contains(" passed"), "{said}");
}

/// Returns the directory where cargo built this test, and its libraries.
fn target() -> PathBuf {
    let program = env::current_exe().unwrap();
    let directory = program.ancestors().nth(2).unwrap();
    directory.to_owned()
}

/// Locks the build of the library, for this process and for others: the one for tests has the same name.
fn alone() -> File {
    let lock = File::create(target().join("peerlane-python.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// `pip install host/python`, without a network: everything that it needs is here.
#[test]
#[ignore = "external tools: cargo xtask test python"]
fn pip_installs_it() {
    let python = python();
    let work = tempfile::tempdir().unwrap();
    let mut command = python.command();
    let mut path = vec![python.site.join("bin")];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    command
        .args(["-m", "pip", "install", "--no-build-isolation", "--no-deps"])
        .args(["--no-input", "--disable-pip-version-check", "--target"])
        .arg(work.path())
        .arg(here())
        .env("PATH", env::join_paths(path).unwrap())
        // Quick to compile, because most of it is compiled already.
        .env("MATURIN_PEP517_ARGS", "--profile dev")
        .env("CARGO_TARGET_DIR", target().parent().unwrap());
    let alone = alone();
    run(&mut command);
    drop(alone);
    assert!(work.path().join("peerlane/_peerlane.pyi").is_file());
    assert!(work.path().join("peerlane/py.typed").is_file());
    pytest(&python, work.path(), None, &["test_package.py"]);

    // With the model that a wheel can have, the package needs neither compiler nor Verilator.
    let models = work.path().join("peerlane/peerlane-models");
    peerlane_block::make_ahead(&peerlane_hdl::Params::default(), &models).unwrap();
    let hello = |python: &mut Command| {
        let said = run(python
            .arg(here().join("../../examples/01-hello/hello.py"))
            .env("PYTHONPATH", work.path())
            .env("PEERLANE_DEVICE", "simulated")
            .env("PEERLANE_CACHE", work.path().join("empty"))
            .env("CXX", "/no such compiler"));
        assert_eq!(said, "100000 bytes to the FPGA and back\n");
    };
    hello(&mut python.command());
    // The oldest CPython. The tests' own packages need a later one.
    let oldest = Command::new("python3.10").arg("--version").output();
    match oldest.is_ok_and(|output| output.status.success()) {
        true => hello(&mut Command::new("python3.10")),
        false => println!("left out: there is no python3.10"),
    }
}

#[test]
#[ignore = "external tools: cargo xtask test python"]
fn transfers_on_the_simulated_board() {
    let python = python();
    let work = tempfile::tempdir().unwrap();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let alone = alone();
    let directory = target().parent().unwrap().to_owned();
    // All packages of the workspace, as the tests were built: the package alone would get its dependencies with other
    // features, and all of them would be compiled once more.
    run(Command::new(cargo)
        .args(["build", "--workspace", "--lib"])
        .args(["--features", "peerlane-python/testing"])
        .arg("--target-dir")
        .arg(&directory)
        .current_dir(here()));
    let package = work.path().join("peerlane");
    fs::create_dir(&package).unwrap();
    for file in fs::read_dir(here().join("python/peerlane")).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            fs::copy(&file, package.join(file.file_name().unwrap())).unwrap();
        }
    }
    let library = directory.join("debug/lib_peerlane.so");
    fs::copy(library, package.join("_peerlane.abi3.so")).unwrap();
    drop(alone);
    pytest(
        &python,
        work.path(),
        None,
        &["test_simulated.py", "test_package.py"],
    );
    let cuda = FakeCuda::new(&here().join("../../tests/fake-cuda"));
    let library = cuda.library();
    pytest(&python, work.path(), Some(&library), &["test_gpu.py"]);
    let amd = FakeAmd::new(&here().join("../../tests/fake-amd"));
    let library = amd.path("libamdhip64.so.6");
    pytest(&python, work.path(), Some(&library), &["test_amd.py"]);
}
