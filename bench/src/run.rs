//! Runs the rows, several at once where there are processors for it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use peerlane_hdl::Params;
use peerlane_sim::{BoardConfig, LinkConfig};
use peerlane_verilated::Library;

use crate::curves::{Curve, Drawing, Sweep};
use crate::limits::{self, Port};
use crate::measure;
use crate::results::{Block, Report, Row};
use crate::rig::{Bench, Way};
use crate::scenario::{Kind, Scenario, Variant};
use crate::sweep;
use crate::{Error, Result};

/// The work to do.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The build of the block.
    pub params: Params,
    /// The rows.
    pub rows: Vec<&'static Scenario>,
    /// Measure rate against size too, up to so many bytes.
    pub sweep: Option<u64>,
}

/// A receiver of progress reports. It is called from several threads.
pub trait Progress: Sync {
    /// A model of the block is being compiled, or found in the cache: its name, its number from 1, and the number of
    /// models.
    fn building(&self, model: &'static str, number: usize, models: usize);
    /// All are compiled; so many jobs follow.
    fn built(&self, jobs: usize);
    /// A job begins.
    fn started(&self, job: &'static str);
    /// Part of a job that is done, 0 to 1.
    fn advance(&self, job: &'static str, part: f64);
    /// A job is done: a row, unless it is a sweep.
    fn done(&self, job: &'static str, row: Option<&Row>);
}

enum Job {
    Row(&'static Scenario),
    /// Up to so many bytes.
    Sweep(Way, Variant, u64),
}

/// The compiled builds.
struct Builds(Vec<(Variant, Params, Library)>);

impl Builds {
    /// Compiles the builds that the jobs need.
    fn make(asked: Params, jobs: &[Job], progress: &dyn Progress) -> Result<Self> {
        let is_needed = |variant: &Variant| jobs.iter().any(|job| job.variant() == Some(*variant));
        let needed: Vec<Variant> = Variant::ALL.into_iter().filter(is_needed).collect();
        needed
            .iter()
            .enumerate()
            .map(|(n, &variant)| {
                progress.building(variant.words(), n + 1, needed.len());
                let params = variant.params(asked);
                Ok((variant, params, peerlane_block::library(&params)?))
            })
            .collect::<Result<_>>()
            .map(Self)
    }

    fn of(&self, variant: Variant) -> (Params, &Library) {
        let (_, params, library) = self
            .0
            .iter()
            .find(|build| build.0 == variant)
            .expect("the model of each job is built");
        (*params, library)
    }
}

enum Done {
    Row(Box<Row>),
    Sweep(Way, Variant, Vec<Curve>),
}

/// The builds whose rates are drawn: by link, next to each other.
const DRAWN: [Variant; 3] = [Variant::Asked, Variant::Gen2, Variant::Gen3];

/// Contents of one picture.
struct Picture {
    title: &'static str,
    way: Way,
    builds: &'static [Variant],
    /// The thesis's designs, too.
    thesis: bool,
}

const PICTURES: [Picture; 4] = [
    Picture {
        title: "FPGA to GPU",
        way: Way::Write,
        builds: &[Variant::Asked, Variant::Gen2],
        thesis: true,
    },
    Picture {
        title: "GPU to FPGA",
        way: Way::Read,
        builds: &[Variant::Asked, Variant::Gen2],
        thesis: false,
    },
    Picture {
        title: "FPGA to GPU, Gen3 x8",
        way: Way::Write,
        builds: &[Variant::Gen3],
        thesis: false,
    },
    Picture {
        title: "GPU to FPGA, Gen3 x8",
        way: Way::Read,
        builds: &[Variant::Gen3],
        thesis: false,
    },
];

impl Job {
    fn name(&self) -> &'static str {
        match self {
            Self::Row(scenario) => scenario.name,
            Self::Sweep(Way::Write, Variant::Gen2, _) => "sizes, FPGA to GPU, TLP port",
            Self::Sweep(Way::Read, Variant::Gen2, _) => "sizes, GPU to FPGA, TLP port",
            Self::Sweep(Way::Write, Variant::Gen3, _) => "sizes, FPGA to GPU, Gen3",
            Self::Sweep(Way::Read, Variant::Gen3, _) => "sizes, GPU to FPGA, Gen3",
            Self::Sweep(Way::Write, _, _) => "sizes, FPGA to GPU",
            Self::Sweep(Way::Read, _, _) => "sizes, GPU to FPGA",
        }
    }

    /// Reports whether the job needs the machine for itself: it measures wall-clock time.
    fn alone(&self) -> bool {
        matches!(self, Self::Row(scenario) if matches!(scenario.kind, Kind::Simulator(_)))
    }

    /// Returns the build that it needs; a row that is calculated needs none.
    fn variant(&self) -> Option<Variant> {
        match self {
            Self::Row(scenario) => scenario.block(),
            Self::Sweep(_, variant, _) => Some(*variant),
        }
    }

    fn run(&self, builds: &Builds, progress: &dyn Progress) -> Result<Done> {
        progress.started(self.name());
        let part = |part: f64| progress.advance(self.name(), part);
        let done = match self {
            Self::Row(scenario) => Done::Row(Box::new(match scenario.design() {
                Some(design) => measure::calculated(scenario, design),
                None => {
                    let (params, library) = builds.of(scenario.variant);
                    let bench = Bench {
                        library,
                        params,
                        progress: &part,
                    };
                    measure::measure(&bench, scenario)?
                }
            })),
            Self::Sweep(way, variant, most) => {
                let (params, library) = builds.of(*variant);
                let curves = sweep::block((library, params), *variant, *way, *most, &part)?;
                Done::Sweep(*way, *variant, curves)
            }
        };
        let row = match &done {
            Done::Row(row) => Some(row.as_ref()),
            Done::Sweep(..) => None,
        };
        progress.done(self.name(), row);
        Ok(done)
    }
}

/// Compiles the block and measures.
///
/// # Errors
/// When a tool is missing, the board stops, a descriptor fails or a byte arrives wrong. A row below its
/// bar is a result, not an error.
pub fn run(options: &Options, progress: &dyn Progress) -> Result<Report> {
    let mut jobs: Vec<Job> = Vec::new();
    if let Some(most) = options.sweep {
        for variant in DRAWN {
            jobs.extend([Way::Write, Way::Read].map(|way| Job::Sweep(way, variant, most)));
        }
    }
    jobs.extend(options.rows.iter().copied().map(Job::Row));
    let builds = Builds::make(options.params, &jobs, progress)?;
    progress.built(jobs.len());
    let (alone, together): (Vec<_>, Vec<_>) = jobs.into_iter().partition(Job::alone);
    let mut done = several(&together, &builds, progress)?;
    for job in &alone {
        done.push(job.run(&builds, progress)?);
    }
    Ok(assemble(options, done))
}

/// Runs jobs on as many threads as there are processors.
fn several(jobs: &[Job], builds: &Builds, progress: &dyn Progress) -> Result<Vec<Done>> {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(jobs.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Result<Vec<Done>>> = Mutex::new(Ok(Vec::new()));
    let keep = |result: Result<Done, Error>| {
        let mut all = done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match (all.as_mut(), result) {
            (Ok(list), Ok(one)) => list.push(one),
            (Ok(_), Err(error)) => *all = Err(error),
            // The first error stays.
            (Err(_), _) => {}
        }
        all.is_ok()
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !keep(job.run(builds, progress)) {
                        return;
                    }
                }
            });
        }
    });
    done.into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn assemble(options: &Options, done: Vec<Done>) -> Report {
    let config = BoardConfig::default();
    let (mut rows, mut drawn) = (Vec::new(), Vec::new());
    for one in done {
        match one {
            Done::Row(row) => rows.push(*row),
            Done::Sweep(way, variant, curves) => drawn.push((way, variant, curves)),
        }
    }
    let mut curves = |way: Way, build: Variant| -> Vec<Curve> {
        let at = drawn.iter().position(|one| (one.0, one.1) == (way, build));
        at.map_or(Vec::new(), |at| drawn.swap_remove(at).2)
    };
    rows.sort_by_key(|row| options.rows.iter().position(|s| s.name == row.name));
    let sweep = options.sweep.map(|_| Sweep {
        drawings: PICTURES
            .iter()
            .map(|picture| {
                let builds = picture.builds.iter();
                let mut drawn: Vec<Curve> = builds
                    .flat_map(|build| curves(picture.way, *build))
                    .collect();
                if picture.thesis {
                    drawn.extend(sweep::thesis(&config.link));
                }
                let limits = picture.builds.iter().map(|build| {
                    let config = build.config();
                    let port = Port::of(&config, &build.params(options.params));
                    (build.words(), limits::bulk(&config, port, picture.way))
                });
                Drawing {
                    title: picture.title,
                    curves: drawn,
                    limits: limits.collect(),
                }
            })
            .collect(),
    });
    let is_measured = |variant: &Variant| {
        let mut scenarios = options.rows.iter();
        scenarios.any(|scenario| scenario.block() == Some(*variant))
    };
    let blocks = Variant::ALL.into_iter().filter(is_measured);
    Report {
        blocks: blocks
            .map(|variant| block(variant, options.params))
            .collect(),
        rows,
        sweep,
    }
}

fn block(variant: Variant, asked: Params) -> Block {
    let params = variant.params(asked);
    let config = variant.config();
    Block {
        name: variant.words(),
        build: params.canonical(),
        build_id: params.build_id(),
        link: match config.stream.link {
            true => describe(&config.link),
            false => "no link".into(),
        },
    }
}

pub(crate) fn describe(link: &LinkConfig) -> String {
    format!(
        "PCIe {:?} x{}, {}-byte payloads, {} ns read round trip",
        link.generation, link.lanes, link.max_payload, link.read_round_trip_ns
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_names_the_block_and_the_link_it_was_measured_with() {
        let names = ["tlp.gen3.doorbell", "write.bulk", "thesis"].map(String::from);
        let rows = crate::select(&names).unwrap();
        let done = rows.iter().map(|scenario| {
            let row = Row::new(scenario, 1.0, "u", None);
            Done::Row(Box::new(row))
        });
        let options = Options {
            rows: rows.clone(),
            ..Options::default()
        };
        let report = assemble(&options, done.collect());
        let of = |name: &str| {
            let row = report.rows.iter().find(|row| row.name == name).unwrap();
            let block = row.block?;
            report.blocks.iter().find(|one| one.name == block)
        };
        let (gen3, txs) = (of("tlp.gen3.doorbell").unwrap(), of("write.bulk").unwrap());
        assert!(gen3.link.starts_with("PCIe Gen3 x8"), "{}", gen3.link);
        assert!(gen3.build.contains("port=tlp"), "{}", gen3.build);
        assert!(txs.link.starts_with("PCIe Gen2 x8"), "{}", txs.link);
        assert!(txs.build.contains("port=txs"), "{}", txs.build);
        assert_ne!(gen3.build_id, txs.build_id);
        // The thesis's designs are calculated.
        let calculated = report.rows.iter().filter(|row| row.block.is_none());
        assert_eq!(calculated.count(), 4);
        // Builds that no row needs are not named.
        let mut blocks = report.blocks.iter();
        assert!(blocks.all(|one| report.rows.iter().any(|row| row.block == Some(one.name))));
    }
}
