//! The measurements, and their files.

use super::Method;
use crate::results::hexadecimal;
use serde::{Serialize, Serializer};

/// Times of copies of one kind, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// Number of copies.
    pub count: usize,
    /// The shortest time.
    pub min_ns: f64,
    /// Time that a half of the copies do not exceed.
    pub p50_ns: f64,
    /// Time that nine of ten do not exceed.
    pub p90_ns: f64,
    /// Time that ninety-nine of a hundred do not exceed; of fewer than a hundred copies, all.
    pub p99_ns: f64,
    /// The longest time.
    pub max_ns: f64,
}

impl Times {
    /// Returns the times by the nearest rank; `None` without copies.
    pub fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = |part: f64| {
            let rank = (part * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied()
        };
        Some(Self {
            count: sorted.len(),
            min_ns: rank(0.0)?,
            p50_ns: rank(0.5)?,
            p90_ns: rank(0.9)?,
            p99_ns: rank(0.99)?,
            max_ns: rank(1.0)?,
        })
    }
}

fn route_name<S: Serializer>(method: &Method, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(method.name())
}

/// Copies by one way, in one direction, of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// `fpga-to-gpu` or `gpu-to-fpga`.
    pub direction: &'static str,
    /// The way.
    #[serde(serialize_with = "route_name")]
    pub route: Method,
    /// Bytes of a copy.
    pub bytes: u64,
    /// Nanoseconds of the first copy, with its registration.
    pub first_ns: f64,
    /// Bytes a second of the first copy.
    pub first_rate: f64,
    /// Bytes a second of the median of the cached copies.
    pub cached_rate: f64,
    /// Times of the cached copies.
    pub cached: Times,
}

impl Row {
    pub(crate) fn new(
        direction: &'static str,
        route: Method,
        bytes: u64,
        first_ns: f64,
        cached: Times,
    ) -> Self {
        Self {
            direction,
            route,
            bytes,
            first_ns,
            first_rate: rate(bytes, first_ns),
            cached_rate: rate(bytes, cached.p50_ns),
            cached,
        }
    }
}

/// Returns bytes a second.
pub(crate) fn rate(bytes: u64, ns: f64) -> f64 {
    match ns > 0.0 {
        true => bytes as f64 * 1e9 / ns,
        false => 0.0,
    }
}

/// A measurement that was not made, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// The direction.
    pub direction: &'static str,
    /// The route.
    #[serde(serialize_with = "route_name")]
    pub route: Method,
    /// The size from which on it was not made.
    pub bytes: u64,
    /// The reason, in one line.
    pub why: String,
    /// It should work, and did not: neither a finding of the probe nor left out.
    pub failed: bool,
}

/// A copy in descriptors of one size, one at a time, in memory that is registered for it (the thesis's figure 7.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// The direction.
    pub direction: &'static str,
    /// Bytes of a descriptor.
    pub descriptor: u64,
    /// Bytes of the copy.
    pub bytes: u64,
    /// Bytes a second.
    pub rate: f64,
}

/// A concurrent indirect copy in blocks of one size (the thesis's figure 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Block {
    /// The direction.
    pub direction: &'static str,
    /// Bytes of the copy.
    pub bytes: u64,
    /// Bytes of a block.
    pub block: u64,
    /// Bytes a second.
    pub rate: f64,
}

/// The route that `Route::Auto` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The direction.
    pub direction: &'static str,
    /// The route and the reason: one line.
    pub line: String,
}

/// All that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Board and GPU, in words.
    pub between: String,
    /// Whether times are simulated ones.
    pub simulated: bool,
    /// The block's `MAP_ID`.
    #[serde(serialize_with = "hexadecimal")]
    pub map_id: u32,
    /// The block's `BUILD_ID`.
    #[serde(serialize_with = "hexadecimal")]
    pub build_id: u32,
    /// The copies.
    pub results: Vec<Row>,
    /// Copies that are missing among them.
    pub not_measured: Vec<Refusal>,
    /// Remarks about the measurements: sentences.
    pub notes: Vec<&'static str>,
    /// The routes that a program gets if it does not name one.
    pub choices: Vec<Choice>,
    /// For figure 7.1, if it was asked for.
    pub steps: Vec<Step>,
    /// For figure 7.2, if it was asked for.
    pub blocks: Vec<Block>,
}

impl Report {
    /// Counts the kinds of copies that failed and should work.
    pub fn failed(&self) -> usize {
        self.not_measured.iter().filter(|r| r.failed).count()
    }
}

/// Writes a field of a file of comma-separated values (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Returns the copies as comma-separated values, a line for first uses and one for cached copies of each kind. Values
/// that are the same in all lines, for example the source of the measurements, are in columns at the end: names and
/// values.
pub fn csv(report: &Report, same: &[(&str, String)]) -> String {
    let mut text = String::from(
        "direction,route,bytes,use,count,rate_bytes_per_s,min_ns,p50_ns,p90_ns,p99_ns,max_ns,time,map_id,build_id,between",
    );
    for (name, _) in same {
        text.push(',');
        text.push_str(&field(name));
    }
    text.push('\n');
    let mut tail = format!(
        ",{},{:#010x},{:#010x},{}",
        if report.simulated {
            "simulated"
        } else {
            "real"
        },
        report.map_id,
        report.build_id,
        field(&report.between)
    );
    for (_, value) in same {
        tail.push(',');
        tail.push_str(&field(value));
    }
    for row in &report.results {
        let head = format!("{},{},{}", row.direction, row.route.name(), row.bytes);
        let first = row.first_ns;
        text.push_str(&format!(
            "{head},first,1,{:.0},{first:.0},{first:.0},{first:.0},{first:.0},{first:.0}{tail}\n",
            row.first_rate
        ));
        let times = &row.cached;
        text.push_str(&format!(
            "{head},cached,{},{:.0},{:.0},{:.0},{:.0},{:.0},{:.0}{tail}\n",
            times.count,
            row.cached_rate,
            times.min_ns,
            times.p50_ns,
            times.p90_ns,
            times.p99_ns,
            times.max_ns
        ));
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use peerlane_routes::Route;

    #[test]
    fn percentiles_are_by_the_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let times = Times::of(&hundred).unwrap();
        assert_eq!((times.count, times.min_ns, times.max_ns), (100, 1.0, 100.0));
        assert_eq!(
            (times.p50_ns, times.p90_ns, times.p99_ns),
            (50.0, 90.0, 99.0)
        );
        let few = Times::of(&[30.0, 10.0, 20.0]).unwrap();
        assert_eq!((few.p50_ns, few.p90_ns, few.p99_ns), (20.0, 30.0, 30.0));
        assert_eq!(Times::of(&[7.0]).unwrap().p50_ns, 7.0);
        assert_eq!(Times::of(&[]), None);
    }

    /// Makes a report with an example of everything.
    pub(crate) fn report() -> Report {
        let times = Times::of(&[1000.0, 2000.0, 4000.0]).unwrap();
        let row = |direction, route, bytes| Row::new(direction, route, bytes, 9000.0, times);
        let route = Method::Route;
        let mut results = Vec::new();
        for bytes in [4096, 65_536, 1 << 20] {
            for (direction, method) in [
                ("fpga-to-gpu", route(Route::DirectWrite)),
                ("fpga-to-gpu", route(Route::Concurrent)),
                ("fpga-to-gpu", Method::Host),
                ("gpu-to-fpga", route(Route::DirectRead)),
                ("gpu-to-fpga", route(Route::Sequential)),
            ] {
                results.push(row(direction, method, bytes));
            }
        }
        let both = ["fpga-to-gpu", "gpu-to-fpga"];
        Report {
            between: "a board, \"quoted\" <and> a GPU".into(),
            simulated: true,
            map_id: 0x1234,
            build_id: 0xabcd_0001,
            results,
            not_measured: vec![Refusal {
                direction: "gpu-to-fpga",
                route: route(Route::Push),
                bytes: 1 << 20,
                why: "left out".into(),
                failed: false,
            }],
            notes: vec!["A note."],
            choices: vec![Choice {
                direction: "fpga-to-gpu",
                line: "direct write: 1 MB/s".into(),
            }],
            steps: both
                .into_iter()
                .flat_map(|direction| {
                    [4096, 512 << 10].map(|descriptor| Step {
                        direction,
                        descriptor,
                        bytes: 1 << 20,
                        rate: 1e9,
                    })
                })
                .collect(),
            blocks: both
                .into_iter()
                .flat_map(|direction| {
                    [4096, 16_384, 32_768].map(|block| Block {
                        direction,
                        bytes: 65_536,
                        block,
                        rate: 1e9 + block as f64,
                    })
                })
                .collect(),
        }
    }

    #[test]
    fn csv_has_a_head_and_two_lines_of_each_kind() {
        let text = csv(&report(), &[("commit", "abc,d".into())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * report().results.len());
        assert!(
            lines[0].ends_with(",build_id,between,commit"),
            "{}",
            lines[0]
        );
        let columns = lines[0].split(',').count();
        assert_eq!(columns, 16);
        assert_eq!(
            lines[1],
            "fpga-to-gpu,direct-write,4096,first,1,455111111,9000,9000,9000,9000,9000,simulated,\
             0x00001234,0xabcd0001,\"a board, \"\"quoted\"\" <and> a GPU\",\"abc,d\""
        );
        assert!(
            lines[2].starts_with(
                "fpga-to-gpu,direct-write,4096,cached,3,2048000000,1000,2000,4000,4000,4000,"
            ),
            "{}",
            lines[2]
        );
    }

    #[test]
    fn json_names_routes_as_the_command_line_does() {
        let value = serde_json::to_value(report()).unwrap();
        assert_eq!(value["results"][0]["route"], "direct-write");
        assert_eq!(value["results"][0]["cached"]["p50_ns"], 2000.0);
        assert_eq!(value["build_id"], "0xabcd0001");
        assert_eq!(value["not_measured"][0]["route"], "push");
    }
}
