//! `program`.

use super::{Toys, Work, aocx, code, says, told};
use peerlane_utilities::program::{Options, program};
use std::path::PathBuf;

fn load(
    work: &Work,
    toys: &Toys,
    board: &str,
    files: &[PathBuf],
) -> (Vec<String>, Result<(), String>) {
    let options = Options {
        board: board.into(),
        files: files.to_vec(),
    };
    told(|say| {
        program(
            &work.machine(),
            Some(&work.platform()),
            toys.clone(),
            &options,
            say,
        )
    })
}

#[test]
fn the_packages_configuration_is_loaded() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let image = code(b"configuration");
    let bin = work.put("fpga_temp.bin", &image);
    let package = work.put("k.aocx", &aocx("toy_peerlane\0", &image));
    // By hand; as `aocl` does for platforms of 15.1 and later, and for those before.
    for files in [
        &[package.clone()][..],
        &[bin.clone(), package.clone()],
        &[bin],
    ] {
        for board in ["peerlane0", "acl0"] {
            let (lines, result) = load(&work, &toys, board, files);
            result.unwrap();
            assert_eq!(toys.loaded.lock().unwrap().pop().as_ref(), Some(&image));
            says(&lines, "peerlane0 is programmed");
        }
    }
    // The board is closed again.
    drop(toys.driver.open().unwrap().allocate_all(0).unwrap());
}

#[test]
fn what_must_not_be_loaded_is_refused() {
    let (work, toys) = (Work::new(), Toys::new());
    work.board("peerlane0", "0000:01:00.0");
    let image = code(b"configuration");
    let put = |name: &str, bytes: &[u8]| work.put(name, bytes);
    let fails = |board: &str, files: &[PathBuf], words: &str| {
        let error = load(&work, &toys, board, files).1.unwrap_err();
        assert!(error.contains(words), "{error}");
        assert_eq!(toys.loaded.lock().unwrap().len(), 0);
    };
    let good = put("good.aocx", &aocx("toy_peerlane", &image));
    let other = put("other.aocx", &aocx("toy", &image));
    fails(
        "peerlane0",
        std::slice::from_ref(&other),
        "for the board \"toy\", and this board is \"toy_peerlane\". Compile the kernels",
    );
    fails(
        "peerlane9",
        std::slice::from_ref(&good),
        "no board \"peerlane9\"",
    );
    fails(
        "peerlane0",
        &[put("x.aocx", b"text")],
        "not a configuration that aoc packed",
    );
    fails(
        "peerlane0",
        &[work.put("y/gone", b"").with_file_name("none")],
        "none: cannot be read",
    );
    fails("peerlane0", &[good.clone(), other], "are of the same kind");
    let wrong = put("wrong.bin", &code(b"another"));
    fails(
        "peerlane0",
        &[wrong, good],
        "wrong.bin is not the configuration of the package",
    );
    let nameless = put("n.aocx", &super::package(&[(".acl.fpga.bin", &image)]));
    fails("peerlane0", &[nameless], "does not name its board");
    let no_cable = put("c.aocx", &aocx("toy_peerlane", b"\x7fELF no cable"));
    fails("peerlane0", &[no_cable], "peerlane0 was not programmed");
    // Another program has the board.
    let holder = toys.driver.open().unwrap();
    let memory = holder.allocate_all(0).unwrap();
    let package = put("again.aocx", &aocx("toy_peerlane", &image));
    fails("peerlane0", &[package], "it cannot be opened");
    drop(memory);
}

/// Where the driver does not say its name, a board is one of the platform's.
#[test]
fn the_platform_names_the_board_where_sysfs_does_not() {
    let (work, toys) = (Work::new(), Toys::new());
    let image = code(b"x");
    let other = work.put("o.aocx", &aocx("other", &image));
    let error = load(&work, &toys, "peerlane0", &[other]).1.unwrap_err();
    assert!(
        error.contains("and this board is \"toy_peerlane\""),
        "{error}"
    );
    let good = work.put("g.aocx", &aocx("toy_peerlane", &image));
    load(&work, &toys, "peerlane0", &[good]).1.unwrap();
}
