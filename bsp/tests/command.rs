//! The command line itself.

mod common;

use common::{peerlane, text};

#[test]
fn help_has_examples_and_every_option() {
    let run = peerlane(&["extend", "--help"]);
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success());
    for word in [
        "Examples:",
        "--bsp",
        "--out",
        "--config",
        "--report",
        "--check",
        "peerlane config",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn the_printed_configuration_can_be_used() {
    let run = peerlane(&["config"]);
    assert!(run.status.success());
    let work = tempfile::tempdir().unwrap();
    let (file, out) = (work.path().join("c.toml"), work.path().join("D"));
    std::fs::write(&file, &run.stdout).unwrap();
    let bsp = common::reference();
    let run = peerlane(&[
        "-v",
        "extend",
        "--bsp",
        text(&bsp),
        "--out",
        text(&out),
        "--config",
        text(&file),
    ]);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn wrong_use_has_status_2() {
    for arguments in [
        &["extend"][..],
        &["extend", "--bsp", "x"],
        &["extend", "--check", "x", "--bsp", "y", "--out", "z"],
        &["nonsense"],
        &[],
    ] {
        assert_eq!(peerlane(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
