//! `peerlane bench transfers`.

mod common;

use common::{peerlane, text};

fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = peerlane(&[&["bench", "transfers"], arguments].concat());
    let both = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(both).unwrap())
}

#[test]
fn help_has_examples_routes_and_every_option() {
    let (code, help) = said(&["--help"]);
    assert_eq!(code, Some(0));
    for word in [
        "Examples:",
        "--simulated",
        "--sizes",
        "--routes",
        "--no-reads",
        "--prove-reads",
        "--csv",
        "direct-write",
        "sequential",
        "an NVIDIA GPU",
        "GPUs of other makers are not measured",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_hint() {
    // Without a board.
    let (code, told) = said(&["--gpu", "none", "--device", "/dev/no such peerlane"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("/dev/no such peerlane") && told.contains("peerlane doctor"),
        "{told}"
    );
    for (arguments, word) in [
        (&["--routes", "fast"][..], "direct-write"),
        (&["--sizes", "4kb"], "KiB"),
        (&["--sizes", "2MiB..1MiB"], "larger"),
        (&["--gpu", "first"], "none"),
        (&["--repeat", "0"], "--repeat"),
        (&["--simulated", "--gpu", "1"], "cannot be used with"),
        (
            &[
                "--simulated",
                "--routes",
                "direct-write",
                "--direction",
                "gpu-to-fpga",
            ],
            "direct-write does not go from the GPU to the FPGA",
        ),
        (
            &[
                "--simulated",
                "--routes",
                "direct-read,push",
                "--direction",
                "fpga-to-gpu",
            ],
            "direct-read, push does not go from the FPGA to the GPU",
        ),
        (
            &["--simulated", "--json", "/no such directory/file"],
            "directory",
        ),
    ] {
        let (code, told) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
        assert!(told.contains(word), "{arguments:?}: {told}");
    }
}

/// Runs all routes on the simulated board, and checks the three files.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn the_simulated_board() {
    let work = tempfile::tempdir().unwrap();
    let files = ["json", "csv", "html"].map(|kind| work.path().join(format!("rates.{kind}")));
    let [json, csv, html] = files.each_ref().map(|file| text(file));
    let (code, told) = said(&[
        "--simulated",
        "--sizes",
        "4KiB,64KiB",
        "--repeat",
        "2",
        "--json",
        json,
        "--csv",
        csv,
        "--html",
        html,
    ]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("FPGA to GPU, simulated time"), "{told}");

    let read = |file| std::fs::read_to_string(file).unwrap();
    let report: serde_json::Value = serde_json::from_str(&read(json)).unwrap();
    let commit = report["provenance"]["commit"].as_str().unwrap().to_owned();
    let build = report["build_id"].as_str().unwrap().to_owned();
    assert!(build.len() == 10 && build.starts_with("0x"), "{build}");
    assert_eq!(report["simulated"], true);
    let rows = report["results"].as_array().unwrap();
    let kinds: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["direction"].as_str().unwrap(),
                row["route"].as_str().unwrap(),
            )
        })
        .collect();
    for kind in [
        ("fpga-to-gpu", "direct-write"),
        ("fpga-to-gpu", "concurrent"),
        ("fpga-to-gpu", "sequential"),
        ("fpga-to-gpu", "host"),
        ("gpu-to-fpga", "direct-read"),
        ("gpu-to-fpga", "push"),
        ("gpu-to-fpga", "concurrent"),
        ("gpu-to-fpga", "sequential"),
        ("gpu-to-fpga", "host"),
    ] {
        // Both sizes.
        let found = kinds.iter().filter(|found| **found == kind).count();
        assert_eq!(found, 2, "{kind:?}: {kinds:?}");
    }
    assert_eq!(rows.len(), 18);
    for row in rows {
        let number = |name: &str| row["cached"][name].as_f64().unwrap();
        assert_eq!(row["cached"]["count"], 2, "{row}");
        assert!(number("min_ns") <= number("p50_ns") && number("p50_ns") <= number("max_ns"));
        let first = row["first_ns"].as_f64().unwrap();
        // Registration writes the translation table; a route without it is as fast the first time.
        assert!(first > 0.9 * number("p50_ns"), "{row}");
        // The payload rate of Gen2 x8 is at most its 4 GB/s of symbols, less the headers of 256-byte packets; the
        // simulated GPU's stores do not cross the link.
        let rate = row["cached_rate"].as_f64().unwrap();
        assert!(rate > 1e6, "{row}");
        assert!(rate < 3.8e9 || row["route"] == "push", "{row}");
    }
    let first = |route: &str| {
        let of = rows
            .iter()
            .find(|row| row["route"] == route && row["bytes"] == 65_536);
        let row = of.unwrap();
        row["first_ns"].as_f64().unwrap() / row["cached"]["p50_ns"].as_f64().unwrap()
    };
    // In simulated times an entry of the translation table is visible.
    for route in ["direct-write", "direct-read", "host"] {
        assert!(
            first(route) > 1.0,
            "{route}: a registration costs something"
        );
    }
    for direction in ["fpga-to-gpu", "gpu-to-fpga"] {
        let of = |list: &str| {
            let all = report[list].as_array().unwrap();
            all.iter()
                .filter(|one| one["direction"] == direction)
                .count()
        };
        // Descriptors of 4 KiB and 512 KiB, two sizes; blocks of 32, 16, 8 and 4 KiB of the longer one.
        assert_eq!((of("steps"), of("blocks"), of("choices")), (4, 4, 1));
    }

    let table = read(csv);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * rows.len());
    let column = lines[0]
        .split(',')
        .position(|name| name == "commit")
        .unwrap();
    assert!(column > 10);
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.contains(&commit) && line.contains(&build))
    );
    let page = read(html);
    assert_eq!(page.matches("<svg role=").count(), 11);
    assert!(page.contains(&commit) && page.contains(&build));
}
