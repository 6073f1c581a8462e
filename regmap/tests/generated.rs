//! The committed generated files are current.

mod common;

use common::assert_current;
use peerlane_regmap::{Map, emit};

#[test]
fn rtl_is_current() {
    let command = "cargo run --bin peerlane-regmap -- emit rtl --out hdl/src/generated";
    let files = emit::rtl(&Map::load());
    assert_current("hdl/src/generated", &files, command);
    let mut expected: Vec<&str> = files.iter().map(|f| f.path.as_str()).collect();
    let mut there: Vec<String> = std::fs::read_dir(common::repository("hdl/src/generated"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    expected.sort();
    there.sort();
    assert_eq!(there, expected, "left over from an older map?");
}

#[test]
fn compiled_fixtures_are_current() {
    let map = Map::load();
    let out = "--out regmap/tests/generated";
    let command = format!("cargo run --bin peerlane-regmap -- emit host {out}");
    assert_current("regmap/tests/generated", &emit::host(&map), &command);
}

#[test]
fn writing_leaves_equal_files_alone_and_makes_directories() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    let files = emit::host(&Map::load());
    let paths = emit::write(&files, &out).unwrap();
    assert_eq!(paths, [out.join("regs.rs")]);
    assert_eq!(std::fs::read_to_string(&paths[0]).unwrap(), files[0].text);
    let before = std::fs::metadata(&paths[0]).unwrap().modified().unwrap();
    emit::write(&files, &out).unwrap();
    let after = std::fs::metadata(&paths[0]).unwrap().modified().unwrap();
    assert_eq!(before, after);
    // Nothing temporary stays behind.
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
}
