//! The check before the driver is built (`driver/crate/check.sh`), with configurations of kernels and compilers that are
//! files of a line or two; and the compile tests (`driver/crate/probe.sh`) with a compiler that is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../driver/crate");

/// Options of a kernel that the driver can be built for.
const GOOD: [&str; 5] = [
    "X86_64=y",
    "DMA_SHARED_BUFFER=y",
    "FW_LOADER=m",
    "MMU_NOTIFIER=y",
    "PCI_MSI=y",
];

fn program(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the check for a kernel with these options, and compilers of these versions. Returns the message if it refuses.
fn refusal(options: &[&str], rustc: Option<&str>, bindgen: Option<&str>) -> Option<String> {
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    let options: String = options
        .iter()
        .map(|option| format!("CONFIG_{option}\n"))
        .collect();
    fs::write(at("auto.conf"), options).unwrap();
    let library = at("sysroot/lib/rustlib/src/rust/library/core/src");
    fs::create_dir_all(&library).unwrap();
    fs::write(library.join("lib.rs"), "").unwrap();
    if let Some(version) = rustc {
        let sysroot = at("sysroot");
        program(
            &at("rustc"),
            &format!(
                "case $1 in --print) echo {};; *) echo 'rustc {version}';; esac",
                sysroot.display()
            ),
        );
    }
    if let Some(version) = bindgen {
        program(&at("bindgen"), &format!("echo 'bindgen {version}'"));
    }
    let output = Command::new("/bin/sh")
        .arg(Path::new(SCRIPTS).join("check.sh"))
        .args([at("auto.conf"), at("rustc"), at("bindgen")])
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    match output.status.success() {
        true => {
            assert_eq!(text, "");
            None
        }
        false => Some(text),
    }
}

const RUSTC: Option<&str> = Some("1.85.1 (4eb161250 2025-03-15) (built from a source tarball)");
const BINDGEN: Option<&str> = Some("0.71.1");

#[test]
fn a_kernel_and_compilers_that_fit_are_taken() {
    assert_eq!(refusal(&GOOD, RUSTC, BINDGEN), None);
    for (rustc, bindgen) in [("1.100.0-nightly", "0.72.1"), ("2.0.0", "1.0.0")] {
        assert_eq!(refusal(&GOOD, Some(rustc), Some(bindgen)), None);
    }
}

#[test]
fn each_option_that_is_missing_is_named() {
    for left_out in GOOD {
        let options: Vec<_> = GOOD
            .into_iter()
            .filter(|option| *option != left_out)
            .collect();
        let said = refusal(&options, RUSTC, BINDGEN).unwrap();
        let name = match left_out.split_once('=') {
            Some(("X86_64", _)) | None => "x86-64",
            Some((name, _)) => name,
        };
        assert!(said.contains(name), "{name}: {said}");
    }
}

#[test]
fn kernels_whose_c_code_rust_would_not_fit_are_refused() {
    for (option, reason) in [
        ("CFI_CLANG=y", "CONFIG_CFI"),
        ("CFI=y", "CONFIG_CFI"),
        ("RANDSTRUCT_FULL=y", "random order"),
        ("GCC_PLUGIN_RANDSTRUCT=y", "random order"),
        ("LTO_CLANG=y", "CONFIG_LTO_CLANG"),
    ] {
        let said = refusal(&[&GOOD[..], &[option]].concat(), RUSTC, BINDGEN).unwrap();
        assert!(said.contains(reason), "{option}: {said}");
        assert!(said.contains("peerlane bind"), "{option}: {said}");
    }
    // With `CONFIG_RUST` C has the form of types that Rust has.
    let both = [&GOOD[..], &["CFI=y", "RUST=y"]].concat();
    assert_eq!(refusal(&both, RUSTC, BINDGEN), None);
}

#[test]
fn compilers_that_are_missing_or_too_old_are_named() {
    let said = refusal(&GOOD, None, None).unwrap();
    assert!(
        said.contains("apt install rustc bindgen rust-src"),
        "{said}"
    );
    let said = refusal(&GOOD, Some("1.84.9"), BINDGEN).unwrap();
    assert!(said.contains("version 1.84, but 1.85 or later"), "{said}");
    let said = refusal(&GOOD, RUSTC, Some("0.60.1")).unwrap();
    assert!(said.contains("version 0.60, but 0.71 or later"), "{said}");
}

/// Runs the compile tests with a compiler that is a script, which gets a program on its standard input.
fn probes(compiler: &str) -> Result<String, String> {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("cc");
    program(&path, compiler);
    let output = Command::new("/bin/sh")
        .arg(Path::new(SCRIPTS).join("probe.sh"))
        .arg(Path::new(SCRIPTS).join("probes"))
        .arg(&path)
        .arg("-DX")
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn what_compiles_is_defined() {
    // A kernel that has `zap_vma_range` and `kfree`, and nothing else of the list.
    let found =
        probes("text=$(cat); case $text in *kfree*|*zap_vma_range*) ;; *) exit 1;; esac").unwrap();
    assert_eq!(found, "#define PEERLANE_HAS_ZAP_VMA_RANGE\n");
}

#[test]
fn a_compiler_that_judges_nothing_is_refused() {
    assert!(probes("exit 1").unwrap_err().contains("cannot read"));
    assert!(probes("exit 0").unwrap_err().contains("accepts a function"));
}
