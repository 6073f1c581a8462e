//! The report as one HTML page that needs nothing else.

use askama::Template;

use crate::curves::{Curve, Drawing};
use crate::plot::{self, Frame};
use crate::results::{Report, Row, Stalls, Verdict};
use crate::{Error, Result};

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    report: &'a Report,
    rows: Vec<Shown<'a>>,
    cycles: Vec<(&'a str, Cycles)>,
    plots: Vec<Plot<'a>>,
}

/// A row as the page shows it.
struct Shown<'a> {
    row: &'a Row,
    value: String,
    link: String,
    contract: String,
    ratio: String,
    bar: String,
    /// Length of the bar in the cell, percent.
    fill: String,
    class: &'static str,
    word: &'static str,
}

/// Where a row's cycles went, in percent.
struct Cycles {
    all: u64,
    port: String,
    link_out: String,
    link_in: String,
    txs: String,
    tags: String,
    mem: String,
    read_ns: String,
}

struct Plot<'a> {
    title: &'static str,
    svg: String,
    legend: Vec<(usize, &'a str)>,
    limits: Vec<String>,
    points: Vec<(String, Vec<String>)>,
}

/// A value in the unit in which it is read.
pub(crate) fn figure(value: f64, unit: &str) -> String {
    match unit {
        "B/s" => format!("{:.0} MB/s", value / 1e6),
        "cycles/s" => format!("{:.0} kHz", value / 1e3),
        "descriptors/cycle" => format!("{value:.4} /cycle"),
        _ => format!("{value:.0} {unit}"),
    }
}

fn shown(row: &Row) -> Shown<'_> {
    // A row of the engine alone has no link.
    let limit = |limit: Option<f64>| {
        limit
            .filter(|limit| limit.is_finite())
            .map_or("–".into(), |limit| {
                let part = row.value / limit * 100.0;
                format!("{} ({part:.1} %)", figure(limit, row.unit))
            })
    };
    let (class, word) = match row.verdict {
        Verdict::Pass => ("pass", "pass"),
        Verdict::Below => ("below", "below"),
        Verdict::LimitBelow => ("limit", "limit below bar"),
        Verdict::Reported => ("report", "reported"),
    };
    Shown {
        row,
        value: figure(row.value, row.unit),
        link: limit(row.limits.map(|l| l.link)),
        contract: limit(row.limits.map(|l| l.contract)),
        ratio: row
            .ratio
            .map_or("–".into(), |ratio| format!("{:.1} %", ratio * 100.0)),
        bar: row.bar.map_or(String::new(), |bar| bar.to_string()),
        fill: row
            .ratio
            .map_or("0".into(), |ratio| format!("{:.1}", ratio.min(1.0) * 100.0)),
        class,
        word,
    }
}

fn cycles(stalls: &Stalls) -> Cycles {
    let percent = |part: f64| format!("{:.1}", part * 100.0);
    Cycles {
        all: stalls.cycles,
        port: percent(stalls.port),
        link_out: percent(stalls.link_out),
        link_in: percent(stalls.link_in),
        txs: percent(stalls.txs),
        tags: percent(stalls.tags),
        mem: percent(stalls.mem),
        read_ns: if stalls.read_ns > 0.0 {
            format!("{:.0}", stalls.read_ns)
        } else {
            "–".into()
        },
    }
}

fn plot(drawing: &Drawing) -> Result<Plot<'_>> {
    let Drawing {
        title,
        curves,
        limits,
    } = drawing;
    let title = *title;
    let mut sizes: Vec<u64> = curves
        .iter()
        .flat_map(|c| c.points.iter().map(|p| p.bytes))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rate = |curve: &Curve, bytes| {
        let point = curve.points.iter().find(|p| p.bytes == bytes);
        point.map_or(String::new(), |p| format!("{:.1}", p.rate / 1e6))
    };
    let rates: Vec<f64> = limits.iter().map(|(_, limit)| limit.smaller()).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let frame = Frame {
        sizes: (6.0, 26.0),
        // Room above the line.
        top: (highest / 1e6 * 1.15).ceil(),
        limits: rates,
    };
    Ok(Plot {
        title,
        svg: plot::draw(title, &frame, curves.iter().enumerate())?,
        legend: curves.iter().map(|c| c.name).enumerate().collect(),
        limits: limits
            .iter()
            .map(|(block, limit)| {
                let rate = figure(limit.smaller(), "B/s");
                format!("limit, {block}: {rate} ({})", limit.set_by())
            })
            .collect(),
        points: sizes
            .into_iter()
            .map(|bytes| {
                let rates = curves.iter().map(|c| rate(c, bytes)).collect();
                (plot::size(bytes), rates)
            })
            .collect(),
    })
}

/// The page.
///
/// # Errors
/// When a drawing fails.
pub fn html(report: &Report) -> Result<String> {
    let mut plots = Vec::new();
    if let Some(sweep) = &report.sweep {
        for drawing in &sweep.drawings {
            plots.push(plot(drawing)?);
        }
    }
    let with_stalls = |row: &'_ Row| row.stalls.as_ref().map(cycles);
    Page {
        report,
        rows: report.rows.iter().map(shown).collect(),
        cycles: report
            .rows
            .iter()
            .filter_map(|row| Some((row.name, with_stalls(row)?)))
            .collect(),
        plots,
    }
    .render()
    .map_err(|e| Error::Page(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SCENARIOS;
    use crate::results::Block;

    #[test]
    fn the_page_shows_every_row_and_asks_for_nothing() {
        let rows = SCENARIOS
            .iter()
            .map(|s| Row::new(s, 3.5e9, "B/s", Some(3.657e9)))
            .collect();
        let report = Report {
            blocks: vec![Block {
                name: "a block",
                build: "port_bits=128".into(),
                build_id: 1,
                link: "PCIe <Gen2>".into(),
            }],
            rows,
            sweep: None,
        };
        let html = html(&report).unwrap();
        for scenario in SCENARIOS {
            assert!(html.contains(scenario.name), "{}", scenario.name);
        }
        assert!(html.contains("3500 MB/s") && html.contains("95.7 %"));
        assert!(!html.contains("<Gen2>"), "text is escaped");
        for outside in ["http:", "https:", "<script", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
