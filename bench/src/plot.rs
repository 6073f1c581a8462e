//! Rate against size as an SVG drawing.
//!
//! The drawing's colours are names only: the page's style sheet gives them their real ones, so that one
//! drawing does in light and in dark.

use plotters::prelude::*;

use crate::sweep::Curve;
use crate::{Error, Result};

/// Stand-ins for the page's colours.
pub(crate) const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const LIMIT: RGBColor = RGBColor(3, 3, 3);

const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;

/// log2 of the sizes at both ends of the axis.
const FROM: f64 = 6.0;
const TO: f64 = 26.0;

/// Stand-in for the colour of curve `n`, counted from 0.
fn curve_colour(n: usize) -> RGBColor {
    RGBColor(16 + n as u8, 16, 16)
}

/// `4194304` as `4 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0x10_0000.. => format!("{} MiB", bytes >> 20),
        0x400.. => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Draws curves; `first` is the number of the first one's colour, `limit` a line across.
pub(crate) fn draw(label: &str, curves: &[Curve], first: usize, limit: f64) -> Result<String> {
    let mut svg = String::new();
    paint(&mut svg, curves, first, limit).map_err(|e| Error::Page(e.to_string()))?;
    let head = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    Ok(svg.replacen("<svg ", &head, 1))
}

fn paint(
    svg: &mut String,
    curves: &[Curve],
    first: usize,
    limit: f64,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    let top = 4200.0;
    let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(FROM..TO, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .x_labels(11)
        .y_labels(9)
        .x_label_formatter(&|x| size(1 << (*x as u32)))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(text(13))
        .x_desc("bytes of a transfer")
        .y_desc("MB/s")
        .axis_desc_style(text(14))
        .draw()?;
    let limit = limit / 1e6;
    chart.draw_series(DashedLineSeries::new(
        [(FROM, limit), (TO, limit)],
        6,
        4,
        LIMIT.stroke_width(1),
    ))?;
    for (n, curve) in curves.iter().enumerate() {
        let colour = curve_colour(first + n);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Point;

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
        let svg = draw("rates", &[curve], 2, 3.657e9).unwrap();
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"rates\""));
        // The third curve's stand-in: line and two points.
        assert_eq!(svg.matches("#121010").count(), 3, "{svg}");
        assert!(svg.contains("1 MiB") && svg.contains("64 B"));
        assert!(!svg.contains("href"));
    }

    #[test]
    fn sizes_are_read_easily() {
        assert_eq!(size(64), "64 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(64 << 20), "64 MiB");
    }
}
