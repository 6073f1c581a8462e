//! `peerlane demo` with little data: on Peerlane's own BSP, and on a vendor's if there is one.

mod common;

use std::path::Path;

use common::{peerlane, text};

/// Runs the demo with 1 MiB each way; checks its output and its files.
fn demo(bsp: Option<&Path>, port: &[&str]) {
    let work = tempfile::tempdir().unwrap();
    let json = work.path().join("demo.json");
    let kept = work.path().join("kept");
    let mut arguments = vec!["demo", "--size", "1"];
    arguments.extend(port);
    arguments.extend(["--json", text(&json), "--keep", text(&kept)]);
    if let Some(bsp) = bsp {
        arguments.extend(["--bsp", text(bsp)]);
    }
    let output = peerlane(&arguments);
    let told = String::from_utf8_lossy(&output.stdout);
    let said = format!("{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(told.lines().last(), Some("demo: PASS"), "{said}");

    let results: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(results["bytes"], 1 << 20);
    let build = results["build_id"].as_str().unwrap();
    assert!(build.len() == 10 && build.starts_with("0x"), "{build}");
    let provenance = &results["provenance"];
    let commit = provenance["commit"].as_str().unwrap();
    assert!(commit == "unknown" || commit.len() == 40, "{commit}");
    assert!(provenance["machine"]["threads"].as_u64().unwrap() > 0);
    let rows = results["rows"].as_array().unwrap();
    let moved: Vec<_> = rows
        .iter()
        .filter(|row| !row["correct"].is_null())
        .collect();
    assert_eq!(moved.len(), 2, "one row a direction");
    for row in moved {
        assert_eq!(row["correct"], true, "{row}");
        // Each direction requests one interrupt, and moves 1 MiB in requests of 256 bytes or more.
        assert_eq!(row["interrupts"], 1, "{row}");
        assert!(
            row["requests"].as_u64().unwrap() >= (1 << 20) / 512,
            "{row}"
        );
        assert!(row["of_ceiling"].as_f64().unwrap() < 1.0, "{row}");
        assert!(row["of_port"].as_f64().unwrap() < 1.001, "{row}");
    }

    let check = peerlane(&["check", text(&kept)]);
    assert_eq!(
        check.status.code(),
        Some(0),
        "the BSP that was kept is sound"
    );
}

/// With a BSP in the form of AOCL 14.0 and later.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn on_the_second_reference_bsp() {
    let bsp = common::reference().with_file_name("reference-net");
    demo(Some(&bsp), &[]);
}

#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn on_the_reference_bsp() {
    demo(None, &[]);
}

/// The limit there is that of the bridge, not that of the link.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn on_the_reference_bsp_with_txs() {
    demo(None, &["--port", "txs"]);
}

#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn on_a_vendors_bsp() {
    if let Some(bsp) = common::vendor_bsp() {
        demo(Some(&bsp), &[]);
    }
}

#[test]
fn a_wrong_bsp_fails_with_one_line_and_leaves_nothing() {
    let work = tempfile::tempdir().unwrap();
    let json = work.path().join("demo.json");
    let output = peerlane(&["demo", "--json", text(&json), "--bsp", text(work.path())]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.lines().last(), Some("demo: FAIL"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("hardware/<board>"), "{said}");
    assert!(!json.exists());
}
