//! The test programs of `hdl/tests`, for suites that run them again and again.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Parts of the names of tests that run for minutes, or that have their own faults.
pub const LEFT_OUT: [&str; 3] = ["long::", "full_matrix", "planted"];

/// Returns the directory in which cargo builds.
///
/// # Panics
/// In a program that cargo has not built.
pub fn target() -> PathBuf {
    let program = env::current_exe().expect("this program has a file");
    let directory = program.ancestors().nth(3);
    directory.expect("cargo has built it").to_owned()
}

/// Returns the newest build of a program next to this one: `cargo xtask test` has built them together.
///
/// # Panics
/// If there is no build.
pub fn newest(program: &str) -> PathBuf {
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hash = name
            .strip_prefix(program)
            .and_then(|rest| rest.strip_prefix('-'));
        hash.is_some_and(|hash| hash.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let here = env::current_exe().expect("this program has a file");
    let beside = fs::read_dir(here.parent().expect("it lies in a directory"));
    beside
        .expect("the directory can be read")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_it)
        .max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok())
        .unwrap_or_else(|| panic!("no program {program}: `cargo xtask test` builds it"))
}

/// Environment variable that names the module of the whole block that contains a mutant, for a proof of that module.
/// `peerlane_verilog::mutants::SELECT` has the mutant's number.
pub const MUTANT_OF: &str = "PEERLANE_MUTANT_OF";

/// Exit status of the program of proofs if a proof finds the mutant.
pub const MUTANT_SEEN: i32 = 70;

/// Returns the names of a program's tests that need external tools.
///
/// # Panics
/// If the program does not run.
pub fn ignored_tests(program: &Path) -> Vec<String> {
    let output = command(program).args(["--list", "--ignored"]).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("names of tests");
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    names.map(str::to_owned).collect()
}

/// Returns the command that runs a program in the directory in which cargo would run it.
pub fn command(program: &Path) -> Command {
    let hdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdl");
    let mut command = Command::new(program);
    command.current_dir(&hdl).env("CARGO_MANIFEST_DIR", &hdl);
    command
}
