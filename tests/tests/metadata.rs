//! The script that makes a build directory for the driver (`driver/dkms/metadata.sh`), with kernels and compilers that are
//! files of a line or two.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../driver/dkms/metadata.sh");

const RUSTC: &str = "rustc 1.85.0 (4d91de4e4 2025-02-17)";

/// Runs the script with headers that have compiled crates, and a compiler of this version. Returns the script's output.
fn made(options: &[&str], compiler: Option<&str>) -> Result<String, String> {
    let work = tempfile::tempdir().unwrap();
    let (headers, programs) = (work.path().join("headers"), work.path().join("bin"));
    fs::create_dir_all(headers.join("rust")).unwrap();
    fs::write(headers.join("rust/libkernel.rmeta"), "").unwrap();
    let options: String = options
        .iter()
        .map(|option| format!("{option}=y\n"))
        .collect();
    let configuration = format!("CONFIG_RUSTC_VERSION_TEXT=\"{RUSTC}\"\n{options}");
    fs::write(headers.join(".config"), configuration).unwrap();
    fs::create_dir(&programs).unwrap();
    for program in [
        "sh", "sed", "grep", "readlink", "mkdir", "dirname", "ln", "rm", "cat",
    ] {
        let real = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(program));
        let real = real.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(real, programs.join(program)).unwrap();
    }
    if let Some(version) = compiler {
        let rustc = programs.join("rustc");
        fs::write(&rustc, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let out = work.path().join("out/build");
    let output = Command::new("/bin/sh")
        .args([Path::new(SCRIPT), &headers, &out])
        .env("PATH", &programs)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    match output.status.success() {
        true => {
            assert_eq!(
                fs::canonicalize(&out).unwrap(),
                fs::canonicalize(&headers).unwrap()
            );
            Ok(text)
        }
        false => {
            assert!(!out.exists(), "{text}");
            Err(text)
        }
    }
}

const BOTH: [&str; 2] = ["CONFIG_RUST", "CONFIG_PCI_P2PDMA"];

#[test]
fn headers_with_metadata_are_taken_as_they_are() {
    assert!(
        made(&BOTH, Some(RUSTC))
            .unwrap()
            .contains("has the Rust metadata")
    );
}

#[test]
fn metadata_of_another_compiler_is_refused() {
    let other = "rustc 1.95.0 (59807616e 2026-03-21)";
    let said = made(&BOTH, Some(other)).unwrap_err();
    assert!(said.contains(RUSTC) && said.contains(other), "{said}");
    assert!(
        said.contains("Install the distribution's package rustc"),
        "{said}"
    );
    let said = made(&BOTH, None).unwrap_err();
    assert!(said.contains("apt install rustc"), "{said}");
}

#[test]
fn kernels_without_what_the_driver_needs_are_refused() {
    for (has, lacks) in [(BOTH[0], BOTH[1]), (BOTH[1], BOTH[0])] {
        let said = made(&[has], Some(RUSTC)).unwrap_err();
        assert!(said.contains(&format!("without {lacks}")), "{said}");
    }
}
