//! The results of the demo, as a table and as JSON.

use peerlane_core::descriptor::Direction;
use peerlane_sim::{BoardConfig, BridgeRates};
use serde::Serialize;

use crate::moves::Moved;
use peerlane_bsp::build::Build;

/// Published rates of the thesis in bytes per second, with their names: A. Gillert, *Direct GPU-FPGA Communication*, TU
/// München 2015, chapter 7.
const PUBLISHED: [(&str, f64); 3] = [
    ("thesis, published: FPGA → GPU direct", 740e6),
    ("thesis, published: FPGA → GPU through the host", 730e6),
    ("thesis, published: GPU → FPGA through the host", 525e6),
];

/// Fraction of the smaller limit, the link's or the port's, that each direction must reach.
const LEAST: f64 = 0.95;

/// A line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name of the run.
    pub name: String,
    /// Bytes per second.
    pub rate: Option<f64>,
    /// Text in place of a rate that does not exist.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instead: String,
    /// Fraction of the link's payload ceiling for the direction, 0 to 1.
    pub of_ceiling: Option<f64>,
    /// Fraction of the port's limit in this direction, 0 to 1. The limit of a TLP port is that of the link.
    pub of_port: Option<f64>,
    /// Simulated nanoseconds.
    pub ns: Option<f64>,
    /// Cycles of the PCIe clock.
    pub cycles: Option<u64>,
    /// Requests on the link.
    pub requests: Option<u64>,
    /// Interrupts.
    pub interrupts: Option<u64>,
    /// Whether every byte was correct, if data were moved.
    pub correct: Option<bool>,
}

/// All results of the demo.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The BSP.
    pub bsp: String,
    /// The port to PCIe.
    pub port: &'static str,
    /// Its width in bits.
    pub port_bits: u32,
    /// `BUILD_ID` of the block that ran.
    #[serde(serialize_with = "peerlane_bsp::hexadecimal::serialize")]
    pub build_id: u32,
    /// The link.
    pub link: String,
    /// Bytes moved in each direction.
    pub bytes: u64,
    /// Ceiling of payload from the board, bytes per second.
    pub write_ceiling: f64,
    /// Ceiling of payload to the board, bytes per second.
    pub read_ceiling: f64,
    /// The port's limits, from the board and to the board, bytes per second.
    pub port_limits: [f64; 2],
    /// The table.
    pub rows: Vec<Row>,
    /// Notes on the table.
    pub notes: Vec<String>,
}

impl Summary {
    pub(crate) fn new(
        bsp: String,
        build: &Build,
        config: &BoardConfig,
        description: String,
        bytes: u64,
        moved: &[Moved],
    ) -> Self {
        let link = &config.link;
        let ceilings = [link.write_ceiling(), link.read_ceiling()];
        let bridge = BridgeRates::of(config, build.port_bits / 8);
        let port_limits = match build.config.has_tlp_port() {
            true => ceilings,
            false => [bridge.write(BridgeRates::BURST_BYTES), bridge.read()],
        };
        let ceiling = |direction| ceilings[direction as usize];
        let mut rows: Vec<Row> = moved
            .iter()
            .map(|m| {
                let rate = bytes as f64 / m.ns * 1e9;
                Row {
                    name: match m.direction {
                        Direction::FromFpga => "Peerlane, FPGA → GPU".into(),
                        Direction::ToFpga => "Peerlane, GPU → FPGA".into(),
                    },
                    rate: Some(rate),
                    instead: String::new(),
                    of_ceiling: Some(rate / ceiling(m.direction)),
                    of_port: Some(rate / port_limits[m.direction as usize]),
                    ns: Some(m.ns),
                    cycles: Some(m.cycles),
                    requests: Some(m.requests),
                    interrupts: Some(m.interrupts),
                    correct: Some(m.correct),
                }
            })
            .collect();
        for (name, way, direction) in [
            (
                "FPGA → GPU",
                peerlane_thesis::Direction::FpgaToGpu,
                Direction::FromFpga,
            ),
            (
                "GPU → FPGA",
                peerlane_thesis::Direction::GpuToFpga,
                Direction::ToFpga,
            ),
        ] {
            let outcome = peerlane_thesis::Parameters::default().run(
                peerlane_thesis::Design::LazyUnpinning,
                way,
                link,
                bytes,
            );
            let (run, rate) = match &outcome {
                peerlane_thesis::Outcome::Done(run) => (Some(run), outcome.rate()),
                peerlane_thesis::Outcome::Frozen => (None, None),
            };
            rows.push(Row {
                name: format!("thesis, modelled: {name}"),
                rate,
                instead: "froze".into(),
                of_ceiling: rate.map(|r| r / ceiling(direction)),
                of_port: None,
                ns: run.map(|r| r.ns),
                cycles: None,
                requests: None,
                interrupts: run.map(|r| r.descriptors),
                correct: None,
            });
        }
        rows.extend(PUBLISHED.map(|(name, rate)| Row {
            name: name.into(),
            rate: Some(rate),
            instead: String::new(),
            of_ceiling: None,
            of_port: None,
            ns: None,
            cycles: None,
            requests: None,
            interrupts: None,
            correct: None,
        }));
        Self {
            bsp,
            port: if build.config.has_tlp_port() { "tlp" } else { "Txs" },
            port_bits: build.port_bits,
            build_id: build.build_id,
            link: description,
            bytes,
            write_ceiling: link.write_ceiling(),
            read_ceiling: link.read_ceiling(),
            port_limits,
            rows,
            notes: vec![
                format!(
                    "The link's limit is payload after packet headers and framing: {:.0} MB/s from the board, {:.0} MB/s \
                     to it. Time is simulated, from submission to the end of the wait.",
                    ceilings[0] / 1e6,
                    ceilings[1] / 1e6
                ),
                match build.config.has_tlp_port() {
                    true => "The limit of a TLP port is the link's.".into(),
                    false => format!(
                        "The limit of Txs is the hard IP's Avalon-MM bridge: {:.0} MB/s from the board, {:.0} MB/s to it.",
                        port_limits[0] / 1e6,
                        port_limits[1] / 1e6
                    ),
                },
                format!(
                    "The demo passes if every byte arrived and each direction reached {:.0} % of the smaller limit.",
                    LEAST * 100.0
                ),
                "The block is the Verilog of the extended BSP; the link, the hard IP's port, the GPU and the \
                 FPGA's memory are models. The thesis's design is a model of its driver's loop."
                    .into(),
            ],
        }
    }

    /// Whether all data arrived, at the required rate.
    pub fn pass(&self) -> bool {
        let mut moved = self
            .rows
            .iter()
            .filter(|row| row.correct.is_some())
            .peekable();
        moved.peek().is_some()
            && moved.all(|row| {
                let parts = [row.of_ceiling, row.of_port];
                row.correct == Some(true) && parts.iter().flatten().any(|part| *part >= LEAST)
            })
    }
}
