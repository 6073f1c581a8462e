//! Arrows between rooms point one way, as `docs/architecture.md` says.

use std::process::Command;

use peerlane_tests::tree;

/// The project's own packages that a package needs to be built without its default features, itself among them.
fn needs(package: &str) -> Vec<String> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--no-default-features"])
        .args(["--package", package])
        .args(["--edges", "normal,build", "--prefix=none", "--format={p}"])
        .current_dir(tree::root())
        .output()
        .expect("cargo starts");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8(out.stdout).expect("cargo writes text");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let mut own: Vec<_> = names
        .filter(|name| name.starts_with("peerlane"))
        .map(str::to_owned)
        .collect();
    own.sort_unstable();
    own.dedup();
    own
}

fn assert_without(package: &str, others: &[&str]) {
    let found = needs(package);
    assert!(found.iter().any(|name| name == package), "{found:?}");
    let wrong: Vec<_> = (found.iter())
        .filter(|name| others.contains(&name.as_str()))
        .collect();
    assert!(wrong.is_empty(), "{package} needs {wrong:?}");
}

#[test]
fn a_program_for_a_real_board_compiles_neither_simulator_nor_tools() {
    let not_for_boards = [
        "peerlane-bench",
        "peerlane-block",
        "peerlane-hdl",
        "peerlane-sim",
        "peerlane-simulated",
        "peerlane-tools",
        "peerlane-verilated",
        "peerlane-verilog",
    ];
    for package in [
        "peerlane-host",
        "peerlane-capi",
        "peerlane-gpu",
        "peerlane-clrdma",
        "peerlane-mmd",
        "peerlane-mmd-legacy",
        "peerlane-icd",
        "peerlane-utilities",
    ] {
        assert_without(package, &not_for_boards);
    }
}

#[test]
fn an_extension_knows_neither_host_library_nor_benchmarks() {
    assert_without(
        "peerlane-bsp",
        &["peerlane-bench", "peerlane-host", "peerlane"],
    );
}

#[test]
fn the_second_model_does_not_know_who_extends() {
    assert_without(
        "peerlane-bsp-check",
        &[
            "peerlane-bsp-compare",
            "peerlane-bsp-design",
            "peerlane-bsp-extend",
        ],
    );
}

#[test]
fn the_second_model_is_for_tests() {
    for package in ["peerlane", "peerlane-bsp", "peerlane-bsp-compare"] {
        assert_without(package, &["peerlane-bsp-check"]);
    }
}
