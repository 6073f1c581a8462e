//! The command.

use std::process::{Command, Output};

use peerlane_regmap::{Map, emit};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_peerlane-regmap"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn check_says_the_identity() {
    let output = run(&["check"]);
    assert!(output.status.success());
    let map = Map::load();
    let expected = format!("peerlane, version 1, MAP_ID {:#010x}\n", map.map_id());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn every_kind_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let map = Map::load();
    for (kind, files) in [
        ("rtl", emit::rtl(&map)),
        ("host", emit::host(&map)),
        ("c", emit::c(&map)),
        ("markdown", emit::markdown(&map)),
        ("html", emit::html(&map)),
        ("systemrdl", emit::systemrdl(&map)),
    ] {
        assert!(
            run(&["emit", kind, "--out", out]).status.success(),
            "{kind}"
        );
        for file in files {
            let text = std::fs::read_to_string(dir.path().join(&file.path)).unwrap();
            assert!(text == file.text, "{}", file.path);
        }
    }
}

#[test]
fn wrong_maps_are_refused_with_their_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.toml");
    let text = peerlane_regmap::PEERLANE_TOML;
    std::fs::write(
        &path,
        text.replace("name = \"CONTROL\"", "name = \"Control\""),
    )
    .unwrap();
    let line = 1 + text
        .lines()
        .position(|l| l == "name = \"CONTROL\"")
        .unwrap();
    let out = dir.path().join("out");
    let output = run(&[
        "--map",
        path.to_str().unwrap(),
        "emit",
        "c",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(&format!("bad.toml:{line}:")), "{error}");
    assert!(!out.exists(), "nothing is written from a wrong map");
}

#[test]
fn a_missing_map_is_named() {
    let output = run(&["--map", "no/such/map.toml", "check"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("no/such/map.toml")
    );
}
