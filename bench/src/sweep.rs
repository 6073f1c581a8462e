//! Measurements of rate against size.

use peerlane_sim::LinkConfig;

use crate::thesis;
use peerlane_verilated::Library;

use crate::Result;
use crate::curves::{Curve, Point};
use crate::measure;
use crate::rig::{Bench, Way};
use crate::scenario::{Stream, Variant};

/// Returns sizes of the block's curves: from 64 B on, to 64 MiB in a report.
fn sizes(most: u64) -> impl Iterator<Item = u64> {
    let all = (6..=26).step_by(2).map(|log2| 1 << log2);
    all.take_while(move |bytes| *bytes <= most)
}

/// Returns the descriptors of a queued point: 1 MiB of them, at least 8, at most as many as can wait after one; of
/// large ones as many as there is memory for.
fn count(bytes: u64) -> u64 {
    ((1 << 20) / bytes)
        .clamp(8, 1000)
        .min(((64 << 20) / bytes).max(1))
}

/// Measures the block's two curves of a direction.
pub(crate) fn block(
    (library, params): (&Library, peerlane_hdl::Params),
    variant: Variant,
    way: Way,
    most: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<Curve>> {
    let bench = Bench {
        library,
        params,
        progress: &|_| (),
    };
    let config = variant.config();
    let row = match way {
        Way::Write => "sweep, FPGA to GPU",
        Way::Read => "sweep, GPU to FPGA",
    };
    let steps = sizes(most).count() as f64;
    let mut alone = Vec::new();
    let mut queued = Vec::new();
    let mut single = measure::rig(&bench, row, &config, &[way])?;
    for (n, bytes) in sizes(most).enumerate() {
        progress(n as f64 / steps);
        let ns = measure::single(&mut single, way, bytes)?;
        alone.push(Point {
            bytes,
            rate: bytes as f64 * 1e9 / ns,
        });
        let stream = Stream::aligned(bytes, count(bytes), 16);
        let mut rig = measure::rig(&bench, row, &config, &[way])?;
        let (rate, _) = measure::stream_rate(&bench, &mut rig, way, &stream)?;
        queued.push(Point { bytes, rate });
    }
    let names = match variant {
        Variant::Gen2 | Variant::Gen3 => [
            "Peerlane, TLP port, queued descriptors",
            "Peerlane, TLP port, one descriptor, register write to record",
        ],
        _ => [
            "Peerlane, queued descriptors",
            "Peerlane, one descriptor, register write to record",
        ],
    };
    Ok(names
        .into_iter()
        .zip([queued, alone])
        .map(|(name, points)| Curve { name, points })
        .collect())
}

/// Returns the thesis's designs, modelled, from FPGA to GPU.
pub(crate) fn thesis(link: &LinkConfig) -> Vec<Curve> {
    let parameters = thesis::Parameters::default();
    let name = |design| match design {
        thesis::Design::Basic => "thesis: 4 KiB at a time",
        thesis::Design::LargeDescriptors => "thesis: 512 KiB at a time",
        thesis::Design::MultipleDescriptors => "thesis: two descriptors",
        thesis::Design::LazyUnpinning => "thesis: and lazy unpinning",
    };
    thesis::Design::ALL
        .into_iter()
        .map(|design| Curve {
            name: name(design),
            points: (12..=26)
                .step_by(2)
                .filter_map(|log2| {
                    let bytes = 1 << log2;
                    let way = thesis::Direction::FpgaToGpu;
                    let rate = parameters.run(design, way, link, bytes).rate()?;
                    Some(Point { bytes, rate })
                })
                .collect(),
        })
        .collect()
}
