//! Rate against size as an SVG drawing.
//!
//! The drawing's colours are names only: the page's style sheet gives them their real ones, so that one drawing works
//! in light and in dark.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::curves::Curve;
use crate::{Error, Result};

/// Placeholders for the page's colours.
pub(crate) const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const LIMIT: RGBColor = RGBColor(3, 3, 3);
const CARD: RGBColor = RGBColor(4, 4, 4);

const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;

/// Ranges and limits of a drawing's axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// log2 of the sizes at both ends.
    pub(crate) sizes: (f64, f64),
    /// The highest rate, in MB/s.
    pub(crate) top: f64,
    /// Rates that nothing goes beyond, in bytes a second: a line across for each.
    pub(crate) limits: Vec<f64>,
}

impl Frame {
    /// Makes a frame as large as these curves need.
    pub(crate) fn around<'a>(curves: impl Iterator<Item = &'a Curve>) -> Self {
        let points = curves.flat_map(|curve| curve.points.iter());
        let (mut first, mut last, mut top) = (u64::MAX, 1, 0.0_f64);
        for point in points {
            first = first.min(point.bytes);
            last = last.max(point.bytes);
            top = top.max(point.rate / 1e6);
        }
        let first = f64::from(first.min(last).max(1).ilog2());
        let last = f64::from(last.ilog2());
        Self {
            sizes: (first, last.max(first + 1.0)),
            top: (top * 1.1).max(1.0),
            limits: Vec::new(),
        }
    }

    /// Counts labels for the sizes: a power of two each, or every second one.
    fn labels(&self) -> usize {
        let octaves = (self.sizes.1 - self.sizes.0) as usize;
        match octaves {
            0..=10 => octaves + 1,
            _ => octaves / 2 + 1,
        }
    }
}

/// Returns the placeholder for the colour of this number.
fn curve_colour(n: usize) -> RGBColor {
    RGBColor(16 + n as u8, 16, 16)
}

/// `4194304` as `4 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0x10_0000.. => format!("{} MiB", bytes >> 20),
        0x400.. => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Draws curves, each in the colour of its number.
pub(crate) fn draw<'a>(
    label: &str,
    frame: &Frame,
    curves: impl Iterator<Item = (usize, &'a Curve)>,
) -> Result<String> {
    let mut svg = String::new();
    paint(&mut svg, frame, curves).map_err(|e| Error::Page(e.to_string()))?;
    Ok(headed(label, &svg))
}

/// Adds a name to the drawing for readers who do not see it.
fn headed(label: &str, svg: &str) -> String {
    let head = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    svg.replacen("<svg ", &head, 1)
}

type Painted = std::result::Result<(), Box<dyn std::error::Error>>;

fn paint<'a>(
    svg: &mut String,
    frame: &Frame,
    curves: impl Iterator<Item = (usize, &'a Curve)>,
) -> Painted {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let (from, to) = frame.sizes;
    let decimals = if frame.top < 10.0 { 1 } else { 0 };
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(from..to, 0.0..frame.top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .x_labels(frame.labels())
        .y_labels(9)
        .x_label_formatter(&|x| size(1 << (*x as u32)))
        .y_label_formatter(&|y| format!("{y:.decimals$}"))
        .label_style(text(13))
        .x_desc("bytes of a transfer")
        .y_desc("MB/s")
        .axis_desc_style(text(14))
        .draw()?;
    for limit in &frame.limits {
        let limit = limit / 1e6;
        chart.draw_series(DashedLineSeries::new(
            [(from, limit), (to, limit)],
            6,
            4,
            LIMIT.stroke_width(1),
        ))?;
    }
    for (number, curve) in curves {
        let colour = curve_colour(number);
        let points = || {
            curve
                .points
                .iter()
                .map(|p| ((p.bytes as f64).log2(), p.rate / 1e6))
        };
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    root.present()?;
    Ok(())
}

/// A rate for each pair of sizes: the darker, the higher, with a dot at the best block of each transfer (as the
/// thesis's figure 7.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shade {
    /// Bytes of the transfer.
    pub(crate) bytes: u64,
    /// Bytes of a block.
    pub(crate) block: u64,
    /// Bytes a second.
    pub(crate) rate: f64,
}

/// Draws shades.
pub(crate) fn shades(label: &str, cells: &[Shade]) -> Result<String> {
    let mut svg = String::new();
    paint_shades(&mut svg, cells).map_err(|e| Error::Page(e.to_string()))?;
    Ok(headed(label, &svg))
}

/// Returns the sizes in ascending order, each once.
fn distinct(sizes: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn paint_shades(svg: &mut String, cells: &[Shade]) -> Painted {
    /// Room for the labels on the left and below.
    const LEFT: i32 = 84;
    const BELOW: i32 = 48;
    const ROW: i32 = 34;
    let columns = distinct(cells.iter().map(|cell| cell.bytes));
    let rows = distinct(cells.iter().map(|cell| cell.block));
    let height = 16 + ROW * rows.len() as i32;
    let column = (WIDTH as i32 - LEFT - 16) / (columns.len() as i32).max(1);
    let root = SVGBackend::with_string(svg, (WIDTH, (height + BELOW) as u32)).into_drawing_area();
    let text = |size: u32, across: HPos| {
        let style = ("sans-serif", size).into_font().color(&INK);
        style.pos(Pos::new(across, VPos::Center))
    };
    let best = cells
        .iter()
        .map(|cell| cell.rate)
        .fold(0.0, f64::max)
        .max(1.0);
    // Long blocks above.
    let place = |cell: &Shade| {
        let x = columns.binary_search(&cell.bytes).unwrap_or(0) as i32;
        let y = rows.binary_search(&cell.block).unwrap_or(0) as i32;
        (LEFT + x * column, height - (y + 1) * ROW)
    };
    for cell in cells {
        let (x, y) = place(cell);
        let fill = curve_colour(0)
            .mix(0.06 + 0.74 * (cell.rate / best).powi(2))
            .filled();
        root.draw(&Rectangle::new(
            [(x, y), (x + column - 2, y + ROW - 2)],
            fill,
        ))?;
        let middle = (x + column / 2, y + ROW / 2);
        let rate = format!("{:.0}", cell.rate / 1e6);
        root.draw(&Text::new(rate, middle, text(13, HPos::Center)))?;
        let others = cells.iter().filter(|other| other.bytes == cell.bytes);
        if others.into_iter().all(|other| other.rate <= cell.rate) {
            root.draw(&Circle::new(
                (x + column - 14, y + ROW / 2),
                5,
                CARD.filled(),
            ))?;
        }
    }
    for (row, block) in rows.iter().enumerate() {
        let y = height - row as i32 * ROW - ROW / 2;
        root.draw(&Text::new(
            size(*block),
            (LEFT - 8, y),
            text(13, HPos::Right),
        ))?;
    }
    for (number, bytes) in columns.iter().enumerate() {
        let x = LEFT + number as i32 * column + column / 2;
        root.draw(&Text::new(
            size(*bytes),
            (x, height + 12),
            text(13, HPos::Center),
        ))?;
    }
    let middle = (LEFT + (WIDTH as i32 - LEFT - 16) / 2, height + 34);
    let axes = "bytes of a transfer; on the left: bytes of a block; in the cells: MB/s";
    root.draw(&Text::new(axes, middle, text(13, HPos::Center)))?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::Point;

    #[test]
    fn a_drawing_has_its_curves_and_asks_for_nothing() {
        let points = vec![
            Point {
                bytes: 64,
                rate: 1e8,
            },
            Point {
                bytes: 1 << 20,
                rate: 3.6e9,
            },
        ];
        let curve = Curve { name: "a", points };
        let frame = Frame {
            limits: vec![3.657e9],
            ..Frame::around([&curve].into_iter())
        };
        assert_eq!(frame.sizes, (6.0, 20.0));
        assert!((3600.0..4200.0).contains(&frame.top), "{frame:?}");
        let svg = draw("rates", &frame, [(2, &curve)].into_iter()).unwrap();
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"rates\""));
        // The placeholder of the third curve: line and two points.
        assert_eq!(svg.matches("#121010").count(), 3, "{svg}");
        assert!(svg.contains("1 MiB") && svg.contains("64 B"));
        assert!(!svg.contains("href"));
    }

    #[test]
    fn shades_have_a_dot_at_the_best_block_of_each_transfer() {
        let mut cells = Vec::new();
        for (bytes, best) in [(1 << 16, 1 << 14), (1 << 20, 1 << 18)] {
            for log2 in 12..20 {
                let block = 1_u64 << log2;
                cells.push(Shade {
                    bytes,
                    block,
                    rate: 1e9 - block.abs_diff(best) as f64,
                });
            }
        }
        let svg = shades("blocks", &cells).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        // A cell each, in shades of one colour.
        assert_eq!(svg.matches("#101010").count(), cells.len());
        assert!(svg.contains("512 KiB") && svg.contains("1 MiB") && !svg.contains("href"));
        assert!(shades("none", &[]).is_ok());
    }

    #[test]
    fn sizes_are_read_easily() {
        assert_eq!(size(64), "64 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(64 << 20), "64 MiB");
    }
}
