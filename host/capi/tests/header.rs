//! The header with C and C++ compilers, and a program that is linked with the library.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the directory of the library: cargo puts it next to the test.
fn library() -> PathBuf {
    let mut program = std::env::current_exe().expect("the test has a name");
    program.pop();
    program
}

fn compile(compiler: &str, arguments: &[&str], out: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new(compiler)
        .args(arguments)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg(root.join("tests/program.c"))
        .arg("-L")
        .arg(library())
        .args(["-lpeerlane", "-o"])
        .arg(out)
        .status();
    assert!(
        status.expect("the compiler runs").success(),
        "{compiler} {arguments:?}"
    );
}

#[test]
fn a_program_in_c_and_cpp() {
    let work = tempfile::tempdir().unwrap();
    for (compiler, arguments) in [
        ("cc", ["-std=c99", "-xc"]),
        ("cc", ["-std=c17", "-xc"]),
        ("c++", ["-std=c++11", "-xc++"]),
    ] {
        let program = work.path().join("program");
        compile(compiler, &arguments, &program);
        // The library has a soname of its own, and cargo gives its file another one.
        let library = library().join("libpeerlane.so");
        let link = work.path().join("libpeerlane.so.1");
        if !link.exists() {
            std::os::unix::fs::symlink(library, &link).unwrap();
        }
        let output = Command::new(&program)
            .env("LD_LIBRARY_PATH", work.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(said.contains("/dev/null/no-such-board"), "{said}");
    }
}
