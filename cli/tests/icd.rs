//! `peerlane icd` and the findings of `peerlane doctor` about it, with the driver and a vendor library whose functions
//! do nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use peerlane_icd as _;

/// Returns the path of the driver, which cargo puts into the same directory as the test.
fn driver() -> PathBuf {
    let driver = std::env::current_exe()
        .unwrap()
        .with_file_name("libpeerlane_icd.so");
    assert!(driver.is_file(), "{}", driver.display());
    driver
}

/// Compiles a vendor library.
fn vendor(directory: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/icd/programs/vendors/null.c");
    let library = directory.join("libalteracl.so");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .status()
        .unwrap();
    assert!(status.success());
    library
}

/// Returns `peerlane` with these arguments, for a system below a directory, without the environment variables that
/// loaders use.
fn peerlane(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peerlane"));
    command
        .args(&arguments[..1])
        .arg("--root")
        .arg(root)
        .args(&arguments[1..]);
    for name in ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"] {
        command.env_remove(name);
    }
    command
}

fn run(command: &mut Command) -> (Output, String) {
    let output = command.output().unwrap();
    let said = [&*output.stdout, &*output.stderr]
        .map(String::from_utf8_lossy)
        .concat();
    (output, said)
}

fn install(root: &Path, vendor: &Path) -> Command {
    let mut command = peerlane(root, &["icd", "install", "--library"]);
    command.arg(driver()).arg("--vendor").arg(vendor);
    command
}

/// Returns the finding of doctor about OpenCL: state and text.
fn found(root: &Path) -> (String, String) {
    let (output, said) = run(&mut peerlane(root, &["doctor", "--json"]));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    let findings = json["findings"].as_array().unwrap();
    let mut about = findings
        .iter()
        .filter(|finding| finding["about"] == "opencl");
    let (only, none) = (about.next().unwrap(), about.next());
    assert_eq!(none, None);
    let text = |name: &str| only[name].as_str().unwrap().to_owned();
    (text("state"), text("what"))
}

#[test]
#[ignore = "a C compiler: cargo xtask test bsp"]
fn an_installation_is_checked_and_reported() {
    let work = tempfile::tempdir().unwrap();
    let (root, vendor) = (work.path().join("system"), vendor(work.path()));
    let (_, what) = found(&root);
    assert!(what.contains("is not installed"), "{what}");
    let (output, said) = run(&mut install(&root, &vendor));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.ends_with("the vendor library has a platform\n"),
        "{said}"
    );
    let (state, what) = found(&root);
    assert_eq!(state, "ok", "{what}");
    assert!(
        what.contains("peerlane.icd names /usr/local/lib/peerlane/libpeerlane_icd.so"),
        "{what}"
    );
    assert!(what.contains("the vendor library has a platform"), "{what}");
    // The vendor library is removed, and the finding reports this.
    fs::remove_file(&vendor).unwrap();
    let (state, what) = found(&root);
    assert_eq!(state, "wrong", "{what}");
    assert!(
        what.contains("no platform") && what.contains("libalteracl.so: No such file"),
        "{what}"
    );
    // The variable that programs started from this shell use instead is reported, too.
    let mut check = peerlane(&root, &["icd", "check"]);
    let (output, said) = run(check.env("OCL_ICD_VENDORS", "/elsewhere"));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("OCL_ICD_VENDORS is set here"), "{said}");
    let (_, said) = run(&mut peerlane(&root, &["icd", "uninstall"]));
    assert_eq!(said.matches("removed: ").count(), 2, "{said}");
    let (output, said) = run(&mut peerlane(&root, &["icd", "check"]));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`peerlane icd install`"), "{said}");
}

#[test]
#[ignore = "a C compiler: cargo xtask test bsp"]
fn mistakes_are_said_when_they_are_made() {
    let work = tempfile::tempdir().unwrap();
    let (root, vendor) = (work.path().join("system"), vendor(work.path()));
    // A missing vendor library: settings are written, and there is no platform.
    let (output, said) = run(&mut install(&root, &work.path().join("nowhere.so")));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("no platform: ") && said.contains("nowhere.so: No such file"),
        "{said}"
    );
    // The vendor library given as the driver.
    let other = work.path().join("other");
    let mut command = peerlane(&other, &["icd", "install", "--library"]);
    let (output, said) = run(command.arg(&vendor));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is not libpeerlane_icd.so") && said.contains("--vendor"),
        "{said}"
    );
    assert!(!other.exists());
    // No driver in the directory of the program.
    let alone = work.path().join("peerlane");
    fs::hard_link(env!("CARGO_BIN_EXE_peerlane"), &alone)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_peerlane"), &alone).map(drop))
        .unwrap();
    let (output, said) = run(Command::new(alone)
        .args(["icd", "install", "--root"])
        .arg(&other));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("cargo build --release -p peerlane-icd"),
        "{said}"
    );
}

/// The user who installs may have a mask that hides new files from others.
#[test]
#[ignore = "a C compiler: cargo xtask test bsp"]
fn everybody_finds_the_driver() {
    let work = tempfile::tempdir().unwrap();
    let (root, vendor) = (work.path().join("system"), vendor(work.path()));
    let install = install(&root, &vendor);
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 077 && exec \"$@\"", "sh"]);
    shell.arg(install.get_program()).args(install.get_args());
    let (output, said) = run(&mut shell);
    assert!(output.status.success(), "{said}");
    for file in [
        "usr/local/lib/peerlane/libpeerlane_icd.so",
        "etc/OpenCL/vendors/peerlane.icd",
        "etc/peerlane/icd.toml",
    ] {
        let mut path = root.join(file);
        assert_eq!(mode(&path) & 0o444, 0o444, "{}", path.display());
        while path.pop() && path != *work.path() {
            assert_eq!(mode(&path), 0o755, "{}", path.display());
        }
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
