//! The report as one HTML page that needs nothing else: the measurements, and next to them the thesis's figures 7.1 to
//! 7.3 from the model of its design.

use super::{Method, Report, Row};
use crate::curves::{Curve, Point};
use crate::plot::{self, Frame, Shade};
use crate::thesis::{Design, Direction, Indirect, Parameters};
use crate::{Error, Result};
use askama::Template;
use peerlane_routes::Route;
use peerlane_sim::LinkConfig;

#[derive(Template)]
#[template(path = "transfers.html")]
struct Page<'a> {
    report: &'a Report,
    /// The source of the numbers: a line.
    origin: String,
    build: String,
    figures: Vec<Figure>,
    tables: Vec<(&'static str, Vec<Shown>)>,
}

/// Drawings that belong together.
struct Figure {
    title: &'static str,
    plots: Vec<Plot>,
    note: &'static str,
}

struct Plot {
    title: &'static str,
    svg: String,
    legend: Vec<(usize, &'static str)>,
    /// A head, and rows of a size with a rate for each curve.
    points: Vec<(String, Vec<String>)>,
    /// In words, where there is nothing to draw.
    instead: &'static str,
}

/// A kind of copies as the table shows it.
struct Shown {
    bytes: String,
    route: &'static str,
    first: String,
    first_rate: String,
    cached_rate: String,
    /// Least, median, 90th and 99th percentile, most.
    times: [String; 5],
    count: usize,
}

const WRITE: &str = "fpga-to-gpu";
const READ: &str = "gpu-to-fpga";

/// Returns microseconds, with a decimal where it is significant.
pub fn micros(ns: f64) -> String {
    let us = ns / 1e3;
    match us {
        us if us < 10_000.0 => format!("{us:.1}"),
        us => format!("{us:.0}"),
    }
}

fn shown(row: &Row) -> Shown {
    let times = &row.cached;
    Shown {
        bytes: plot::size(row.bytes),
        route: row.route.title(),
        first: micros(row.first_ns),
        first_rate: format!("{:.1}", row.first_rate / 1e6),
        cached_rate: format!("{:.1}", row.cached_rate / 1e6),
        times: [
            times.min_ns,
            times.p50_ns,
            times.p90_ns,
            times.p99_ns,
            times.max_ns,
        ]
        .map(micros),
        count: times.count,
    }
}

/// Returns the number of a way's colour, the same in all drawings.
fn colour(method: Method) -> usize {
    match method {
        Method::Route(Route::Push) => 1,
        Method::Route(Route::Concurrent) => 3,
        Method::Route(Route::Sequential) => 5,
        Method::Route(_) => 0,
        Method::Host => 2,
    }
}

fn curves(title: &'static str, curves: &[(usize, Curve)]) -> Result<Plot> {
    let lines = || curves.iter().map(|(_, curve)| curve);
    if lines().all(|curve| curve.points.is_empty()) {
        return Ok(words(title, "There are no measurements for this plot."));
    }
    let mut sizes: Vec<u64> = lines()
        .flat_map(|curve| curve.points.iter().map(|point| point.bytes))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |curve: &Curve, bytes| {
        let point = curve.points.iter().find(|point| point.bytes == bytes);
        point.map_or(String::new(), |point| format!("{:.1}", point.rate / 1e6))
    };
    let frame = Frame::around(lines());
    // The first ones are drawn above the later ones.
    let numbered = curves.iter().rev().map(|(number, curve)| (*number, curve));
    Ok(Plot {
        title,
        svg: plot::draw(title, &frame, numbered)?,
        legend: curves.iter().map(|(n, curve)| (*n, curve.name)).collect(),
        points: sizes
            .into_iter()
            .map(|bytes| {
                let rates = lines().map(|curve| at(curve, bytes)).collect();
                (plot::size(bytes), rates)
            })
            .collect(),
        instead: "",
    })
}

fn words(title: &'static str, instead: &'static str) -> Plot {
    Plot {
        title,
        svg: String::new(),
        legend: Vec::new(),
        points: Vec::new(),
        instead,
    }
}

fn shades(title: &'static str, cells: &[Shade]) -> Result<Plot> {
    match cells.is_empty() {
        true => Ok(words(title, "There are no measurements for this plot.")),
        false => Ok(Plot {
            svg: plot::shades(title, cells)?,
            ..words(title, "")
        }),
    }
}

/// Returns the cached copies of a direction, a curve for each way.
fn measured(report: &Report, direction: &str) -> Vec<(usize, Curve)> {
    let of = |method: Method| {
        let rows = report.results.iter();
        let rows = rows.filter(|row| row.direction == direction && row.route == method);
        let points: Vec<Point> = rows
            .map(|row| Point {
                bytes: row.bytes,
                rate: row.cached_rate,
            })
            .collect();
        let name = method.title();
        (!points.is_empty()).then_some((colour(method), Curve { name, points }))
    };
    Method::ALL.into_iter().filter_map(of).collect()
}

/// Returns the sizes of the model's curves: 64 KiB to 512 MiB.
fn sizes() -> impl Iterator<Item = u64> {
    (16..=29).map(|log2| 1 << log2)
}

fn curve(name: &'static str, rate: impl Fn(u64) -> Option<f64>) -> Curve {
    let point = |bytes| {
        let rate = rate(bytes)?;
        Some(Point { bytes, rate })
    };
    Curve {
        name,
        points: sizes().filter_map(point).collect(),
    }
}

/// Returns figure 7.3 by the model.
fn modelled(direction: Direction) -> Vec<(usize, Curve)> {
    let (indirect, direct) = (Indirect::default(), Parameters::default());
    let link = LinkConfig::default();
    let title = |route| Method::Route(route).title();
    let mut curves = vec![
        (
            3,
            curve(title(Route::Concurrent), |bytes| {
                indirect.concurrent(direction, bytes, Indirect::block(bytes))
            }),
        ),
        (
            5,
            curve(title(Route::Sequential), |bytes| {
                Some(indirect.sequential(direction, bytes))
            }),
        ),
        (
            2,
            curve(Method::Host.title(), |bytes| {
                Some(indirect.host(direction, bytes))
            }),
        ),
    ];
    let direct = curve("direct", |bytes| {
        let run = direct.run(Design::LazyUnpinning, direction, &link, bytes);
        run.rate()
    });
    if !direct.points.is_empty() {
        curves.insert(0, (0, direct));
    }
    curves
}

const STEPS: [(u64, usize, &str); 2] = [
    (4 << 10, 5, "4 KiB, one at a time"),
    (512 << 10, 4, "512 KiB, one at a time"),
];

/// Returns figure 7.1, measured: the last two steps are the direct route's first use and its cached copies.
fn steps(report: &Report, direction: &str, route: Route) -> Vec<(usize, Curve)> {
    let mut curves: Vec<(usize, Curve)> = STEPS
        .iter()
        .map(|(descriptor, colour, name)| {
            let steps = report.steps.iter();
            let of = steps.filter(|s| s.direction == direction && s.descriptor == *descriptor);
            let points = of.map(|step| Point {
                bytes: step.bytes,
                rate: step.rate,
            });
            let points = points.collect();
            (*colour, Curve { name, points })
        })
        .collect();
    let rows = || {
        let rows = report.results.iter();
        rows.filter(|row| row.direction == direction && row.route == Method::Route(route))
    };
    let direct = |name, rate: fn(&Row) -> f64| Curve {
        name,
        points: rows()
            .map(|row| Point {
                bytes: row.bytes,
                rate: rate(row),
            })
            .collect(),
    };
    curves.push((3, direct("queued, first use", |row| row.first_rate)));
    curves.push((0, direct("queued, cached", |row| row.cached_rate)));
    curves
}

/// Returns figure 7.1 by the model.
fn modelled_steps() -> Vec<(usize, Curve)> {
    let (parameters, link) = (Parameters::default(), LinkConfig::default());
    let names = [
        (5, "4 KiB descriptors"),
        (4, "512 KiB descriptors"),
        (3, "two at a time"),
        (0, "lazy unpinning"),
    ];
    let designs = Design::ALL.into_iter().zip(names);
    designs
        .map(|(design, (number, name))| {
            let rate = |bytes| {
                parameters
                    .run(design, Direction::FpgaToGpu, &link, bytes)
                    .rate()
            };
            (number, curve(name, rate))
        })
        .collect()
}

fn blocks(report: &Report, direction: &str) -> Vec<Shade> {
    let of = report.blocks.iter().filter(|b| b.direction == direction);
    of.map(|block| Shade {
        bytes: block.bytes,
        block: block.block,
        rate: block.rate,
    })
    .collect()
}

/// Returns figure 7.2 by the model: transfers of 1 to 256 MiB.
fn modelled_blocks(direction: Direction) -> Vec<Shade> {
    let model = Indirect::default();
    let sizes = (20..=28).step_by(2).map(|log2| 1_u64 << log2);
    let cell = |bytes: u64, block| {
        let rate = model.concurrent(direction, bytes, block)?;
        Some(Shade { bytes, block, rate })
    };
    sizes
        .flat_map(|bytes| (1..=6).filter_map(move |parts| cell(bytes, bytes >> parts)))
        .collect()
}

const HERE: [&str; 2] = ["Measured here: FPGA to GPU", "Measured here: GPU to FPGA"];
const THESIS: [&str; 2] = [
    "The thesis, modelled: FPGA to GPU",
    "The thesis, modelled: GPU to FPGA",
];

fn ways(report: &Report) -> Result<Figure> {
    Ok(Figure {
        title: "Routes between board and GPU (the thesis's figure 7.3)",
        plots: vec![
            curves(HERE[0], &measured(report, WRITE))?,
            curves(HERE[1], &measured(report, READ))?,
            curves(THESIS[0], &modelled(Direction::FpgaToGpu))?,
            curves(THESIS[1], &modelled(Direction::GpuToFpga))?,
        ],
        note: "Cached copies: the median of each kind. \"Host memory only\" is the board's DMA with host memory, \
               without a GPU, which the thesis shows for contrast. The thesis's curves are a model of its driver and \
               of its copies through the host; the documentation of the model names the source of each number. The \
               thesis used other devices.",
    })
}

fn each_step(report: &Report) -> Result<Figure> {
    Ok(Figure {
        title: "Gain by each step (the thesis's figure 7.1)",
        plots: vec![
            curves(HERE[0], &steps(report, WRITE, Route::DirectWrite))?,
            curves(HERE[1], &steps(report, READ, Route::DirectRead))?,
            curves(THESIS[0], &modelled_steps())?,
            words(
                "The thesis: GPU to FPGA",
                "There is no curve: the board stopped answering, and at times the computer too (chapter 7).",
            ),
        ],
        note: "All but \"cached\" and \"lazy unpinning\" register, or pin, the GPU's memory for each transfer.",
    })
}

fn each_block(report: &Report) -> Result<Figure> {
    Ok(Figure {
        title: "Size of a block, concurrent indirect (the thesis's figure 7.2)",
        plots: vec![
            shades(HERE[0], &blocks(report, WRITE))?,
            shades(HERE[1], &blocks(report, READ))?,
            shades(THESIS[0], &modelled_blocks(Direction::FpgaToGpu))?,
            shades(THESIS[1], &modelled_blocks(Direction::GpuToFpga))?,
        ],
        note: "The stronger the colour, the higher the rate. The dot is at the best block of each transfer.",
    })
}

/// Returns the page. `origin` has the source of the numbers: names and values.
///
/// # Errors
/// When a drawing fails.
pub fn html(report: &Report, origin: &[(&str, String)]) -> Result<String> {
    let both = [(WRITE, "FPGA to GPU"), (READ, "GPU to FPGA")];
    let tables = both.map(|(direction, title)| {
        let rows = report.results.iter().filter(|r| r.direction == direction);
        (title, rows.map(shown).collect::<Vec<_>>())
    });
    let mut figures = vec![ways(report)?];
    if !report.steps.is_empty() || !report.blocks.is_empty() {
        figures.push(each_step(report)?);
        figures.push(each_block(report)?);
    }
    Page {
        report,
        origin: origin
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect::<Vec<_>>()
            .join(" · "),
        build: format!("{:#010x}", report.build_id),
        figures,
        tables: (tables.into_iter())
            .filter(|(_, rows)| !rows.is_empty())
            .collect(),
    }
    .render()
    .map_err(|e| Error::Page(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfers::results::tests::report;

    #[test]
    fn the_page_has_the_three_figures_twice_and_asks_for_nothing() {
        let page = html(&report(), &[("commit", "abc".into())]).unwrap();
        // 7.3 and 7.2 both ways, 7.1 both ways and the thesis's one way.
        assert_eq!(page.matches("<svg role=").count(), 4 + 4 + 3);
        for part in [
            "figure 7.1",
            "figure 7.2",
            "figure 7.3",
            "commit abc",
            "0xabcd0001",
            "direct write",
            "lazy unpinning",
            "left out",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.contains("&#60;and&#62;"), "text is escaped");
        // The name of SVG is not an address that the page loads.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn without_the_figures_measurements_the_page_has_the_routes() {
        let mut report = report();
        report.steps.clear();
        report.blocks.clear();
        let page = html(&report, &[]).unwrap();
        assert_eq!(page.matches("<svg role=").count(), 4);
        assert!(!page.contains("figure 7.2"));
    }

    #[test]
    fn the_model_has_no_direct_curve_where_the_board_froze() {
        let names = |direction| {
            let curves = modelled(direction);
            curves
                .iter()
                .map(|(_, curve)| curve.name)
                .collect::<Vec<_>>()
        };
        assert!(names(Direction::FpgaToGpu).contains(&"direct"));
        assert!(!names(Direction::GpuToFpga).contains(&"direct"));
        // 512 MB did not go concurrently.
        let curves = modelled(Direction::FpgaToGpu);
        let last = |number: usize| curves[number].1.points.last().unwrap().bytes;
        assert_eq!((last(0), last(1)), (512 << 20, 256 << 20));
    }

    #[test]
    fn times_keep_their_unit() {
        assert_eq!(micros(1234.0), "1.2");
        assert_eq!(micros(12_345_678.0), "12346");
    }
}
