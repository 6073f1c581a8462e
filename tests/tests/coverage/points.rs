//! Verilator's counts.
//!
//! A line of Verilator's file is `C '<fields>' <count>`; a field is `\x01`, its name, `\x02` and its value: `f` the
//! file, `l` the line, `t` the kind of point, `o` the branch, or signal and edge, `h` the instance.

use std::{
    collections::{BTreeMap, BTreeSet},
    str,
};

use peerlane_hdl::pcie;

/// Kinds of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Line,
    Branch,
    Edge,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Branch => "branch",
            Self::Edge => "edges",
        }
    }
}

/// A point, in any instance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    module: String,
    kind: Kind,
    /// Counted from the module's first line with a point, a port: builds differ in the lines before it. 0 for edges.
    line: usize,
    /// Branch, or signal with bit and edge.
    what: String,
}

/// All points, and how often each was reached.
#[derive(Debug, Default)]
pub(crate) struct Points(BTreeMap<Point, u64>);

/// Signals of simulations only: values of memories where an FPGA promises nothing.
const OF_SIMULATION: [&str; 3] = ["noise", "garbage", "collides"];

fn point(fields: &str) -> Option<Point> {
    let field = |name: &str| {
        let mut all = fields.split('\x01');
        all.find_map(|field| field.strip_prefix(name)?.strip_prefix('\x02'))
    };
    let kind = match field("t")? {
        "line" => Kind::Line,
        "branch" => Kind::Branch,
        "toggle" => Kind::Edge,
        _ => return None,
    };
    let what = field("o")?.to_owned();
    let simulated = kind == Kind::Edge && OF_SIMULATION.iter().any(|name| what.starts_with(name));
    (!simulated).then_some(Point {
        module: field("f")?.strip_suffix(".v")?.to_owned(),
        kind,
        line: field("l")?.parse().ok()?,
        what,
    })
}

impl Points {
    /// Adds a file.
    pub(crate) fn add(&mut self, file: &[u8]) {
        let text = str::from_utf8(file).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("C '"));
        let points: Vec<_> = lines
            .filter_map(|line| {
                let (fields, count) = line.rsplit_once("' ").unwrap();
                Some((point(fields)?, count.parse::<u64>().unwrap()))
            })
            .collect();
        let mut first = BTreeMap::new();
        for (point, _) in &points {
            let line = first.entry(point.module.clone()).or_insert(point.line);
            *line = point.line.min(*line);
        }
        for (mut point, count) in points {
            point.line = match point.kind {
                Kind::Edge => 0,
                Kind::Line | Kind::Branch => point.line - first[&point.module],
            };
            *self.0.entry(point).or_default() += count;
        }
    }

    /// Returns for each module the numbers of lines, branches and edges that were reached, and of all.
    pub(crate) fn shares(&self) -> BTreeMap<&str, [(usize, usize); 3]> {
        let mut shares: BTreeMap<&str, [(usize, usize); 3]> = BTreeMap::new();
        for (point, count) in &self.0 {
            for name in [&point.module, "all"] {
                let (reached, all) = &mut shares.entry(name).or_default()[point.kind as usize];
                *reached += usize::from(*count > 0);
                *all += 1;
            }
        }
        shares
    }

    /// Returns module, kind, and the place that was not reached: code, or a signal's bits with an edge that was not
    /// reached.
    pub(crate) fn holes(&self) -> BTreeSet<(String, Kind, String)> {
        let texts = texts();
        let mut holes = BTreeSet::new();
        let mut signals: BTreeMap<(&str, &str), BTreeSet<u32>> = BTreeMap::new();
        for (point, _) in self.0.iter().filter(|(_, count)| **count == 0) {
            if point.kind == Kind::Edge {
                let (name, bit) = signal(&point.what);
                let bits = signals.entry((&point.module, name)).or_default();
                bits.extend(bit);
                continue;
            }
            let is_port = |line: &&str| {
                let line = line.trim_start();
                line.starts_with("input") || line.starts_with("output")
            };
            let code = texts.get(&point.module).and_then(|text| {
                let mut lines = text.lines().skip_while(|line| !is_port(line));
                lines.nth(point.line)
            });
            let code = code.unwrap_or_default().trim();
            // A state that only an upset register can have. The other last arms have a block.
            if code.starts_with("default: ") && !code.ends_with("begin") {
                continue;
            }
            let what = format!("{code} ({})", point.what);
            holes.insert((point.module.clone(), point.kind, what));
        }
        for ((module, name), bits) in signals {
            let mut add = |what| holes.insert((module.to_owned(), Kind::Edge, what));
            if bits.is_empty() {
                add(name.to_owned());
            }
            for (high, low) in ranges(&bits) {
                add(format!("{name}[{high}:{low}]"));
            }
        }
        holes
    }
}

/// Splits a signal's edge, `name[3]:0->1`, into name and bit.
fn signal(edge: &str) -> (&str, Option<u32>) {
    let (signal, _) = edge.split_once(':').unwrap_or((edge, ""));
    match signal.split_once('[') {
        Some((name, bit)) => (name, bit.strip_suffix(']').and_then(|bit| bit.parse().ok())),
        None => (signal, None),
    }
}

/// Returns the highest and lowest bit of each run of adjacent bits.
fn ranges(bits: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for bit in bits.iter().copied() {
        match ranges.last_mut() {
            Some((high, _)) if *high + 1 == bit => *high = bit,
            _ => ranges.push((bit, bit)),
        }
    }
    ranges
}

/// Returns the Verilog of the modules. Where builds differ the line may be that of another build; the code around is
/// the same.
fn texts() -> BTreeMap<String, String> {
    let designs = [128, 256].map(|bits| pcie::generate(bits, pcie::patience_log2(250)).unwrap());
    let modules = designs.into_iter().flat_map(|design| design.modules);
    modules
        .map(|module| (module.name, module.verilog))
        .collect()
}

#[test]
fn a_point_is_read() {
    let fields = "\x01f\x02m.v\x01l\x02403\x01n\x025\x01t\x02branch\x01page\x02v_branch/m\x01o\x02if\x01h\x02top.m";
    let read = point(fields).unwrap();
    assert_eq!(
        (read.module.as_str(), read.kind, read.line),
        ("m", Kind::Branch, 403)
    );
    let port = "\x01f\x02m.v\x01l\x0210\x01t\x02toggle\x01o\x02clock:0->1";
    let mut points = Points::default();
    points.add(format!("# SystemC::Coverage-3\nC '{port}' 1\nC '{fields}' 0\n").as_bytes());
    // The same point in a build with three lines more above.
    let below = [("l\x0210", "l\x0213"), ("403", "406")];
    let [port, same] = [port, fields].map(|text| {
        let moved = below.iter();
        moved.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    });
    points.add(format!("C '{port}' 1\nC '{same}' 2\n").as_bytes());
    assert_eq!(points.shares()["m"], [(0, 0), (1, 1), (1, 1)]);
    assert!(points.holes().is_empty());
    let unreached = same.replace("406", "405");
    points.add(format!("C '{port}' 1\nC '{unreached}' 0\n").as_bytes());
    assert_eq!(points.shares()["all"][1], (1, 2));
    assert_eq!(points.holes().len(), 1);
}
