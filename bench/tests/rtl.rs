//! The quick rows on the real block.

use peerlane_bench::{Options, Progress, Report, Row, Verdict, html, run, select};

struct Silent;

impl Progress for Silent {
    fn building(&self, _: &'static str, _: usize, _: usize) {}
    fn built(&self, _: usize) {}
    fn started(&self, _: &'static str) {}
    fn advance(&self, _: &'static str, _: f64) {}
    fn done(&self, _: &'static str, _: Option<&Row>) {}
}

fn rows(names: &[&str], sweep: Option<u64>) -> Report {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let options = Options {
        rows: select(&names).unwrap(),
        sweep,
        ..Options::default()
    };
    run(&options, &Silent).unwrap()
}

fn measure(sweep: Option<u64>) -> Report {
    rows(
        &["write.4k", "write.64b.rate", "read.64b.rate", "latency"],
        sweep,
    )
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn rows_are_the_same_each_time_and_below_their_limits() {
    let report = measure(None);
    assert_eq!(report, measure(None));
    assert_eq!(report.rows.len(), 5);
    for row in &report.rows {
        let ratio = row.ratio.unwrap();
        assert!(ratio > 0.2 && ratio <= 1.001, "{row:?}");
        assert_ne!(row.verdict, Verdict::Below, "{row:?}");
    }
}

/// Bytes that may be on their way already when a stream's first record comes, in parts of the shortest stream: the hard
/// IP's room for completions, in 1 MiB.
const AHEAD: f64 = 195.0 * 64.0 / (1 << 20) as f64;

/// Bytes of the longest descriptor of a curve here; a report has longer ones.
const MOST: u64 = 64 << 10;

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_page_has_a_drawing_for_each_direction() {
    let report = measure(Some(MOST));
    let sweep = report.sweep.as_ref().unwrap();
    for drawing in &sweep.drawings {
        for curve in &drawing.curves {
            // The limits of the block that has packets of its own, if there are two.
            let own = usize::from(curve.name.contains("TLP port"));
            let at = own.min(drawing.limits.len() - 1);
            let limit = drawing.limits[at].1.smaller();
            for point in &curve.points {
                assert!(
                    point.rate > 0.0 && point.rate < (1.001 + AHEAD) * limit,
                    "{}, {}: {point:?}, limit {limit}",
                    drawing.title,
                    curve.name
                );
            }
            if curve.name.starts_with("Peerlane") {
                let [first, .., last] = &curve.points[..] else {
                    panic!("{curve:?}");
                };
                assert_eq!((first.bytes, last.bytes), (64, MOST));
                assert!(first.rate < last.rate, "{curve:?}");
            }
        }
    }
    assert_eq!(html(&report).unwrap().matches("<svg role=").count(), 4);
}

/// The runtime writes 72 bytes of work, 24 of arguments and 4 that start the kernel; at the interrupt it reads status
/// and counter (`acl_kernel_if.cpp` of intel/fpga-runtime-for-opencl v2025.0). Then one pointer changes.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_launch_costs_what_the_runtime_writes_and_reads() {
    let report = rows(&["opencl.launch"], None);
    let [row] = &report.rows[..] else {
        panic!("{report:?}");
    };
    assert_eq!(row.value, f64::from((72 + 24 + 4) / 4 + 2), "{row:?}");
    let again = format!("one changed argument {} dwords", (8 + 4) / 4 + 2);
    assert!(
        row.notes[0].contains(&again) && row.notes[0].contains("1 interrupt a launch"),
        "{row:?}"
    );
}
