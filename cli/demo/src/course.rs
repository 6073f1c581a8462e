//! The whole path once: a BSP is extended, the Verilog in it is built, and the host library moves data through it; the
//! result is compared with the thesis's design on the same link.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use peerlane_sim::{BarConfig, BarSizes, BoardConfig, LinkConfig};
use peerlane_simulated::SimBoard;
use peerlane_verilated::{Library, Toolchain};

use peerlane_bsp::build::Build;
use peerlane_bsp::config::MSIX_BYTES;
use peerlane_bsp::config::{Config, PortKind};
use peerlane_bsp::extend;
use peerlane_bsp::layout::Layout;

use crate::error::Error;
use crate::moves;
use crate::progress::Step;
use crate::summary::Summary;

/// Peerlane's own small BSP.
static REFERENCE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../bsp/reference");

/// Parameters of the demo.
#[derive(Debug, Clone)]
pub struct Options {
    /// The BSP to extend; `None` means Peerlane's own.
    pub bsp: Option<PathBuf>,
    /// The block's port to PCIe; `None` means the port that the BSP gets by default.
    pub port: Option<PortKind>,
    /// Bytes to move in each direction.
    pub bytes: u64,
    /// Seed of the random data.
    pub seed: u64,
    /// Directory in which the extended BSP is kept.
    pub keep: Option<PathBuf>,
}

/// Extends a BSP, builds its block, moves data, and compares them.
///
/// # Errors
/// If the BSP cannot be extended, a tool is missing, or the board fails. Data that arrive wrong are a result, not an
/// error.
pub fn run(options: &Options) -> Result<Summary, Error> {
    let work = tempfile::tempdir()
        .map_err(|e| Error::io(std::env::temp_dir(), "make a temporary directory", &e))?;
    let (input, name) = match &options.bsp {
        Some(dir) => (dir.clone(), dir.display().to_string()),
        None => {
            let dir = work.path().join("reference");
            std::fs::create_dir(&dir)
                .and_then(|()| REFERENCE.extract(&dir))
                .map_err(|e| Error::io(&dir, "write the reference BSP", &e))?;
            (dir, "Peerlane's reference BSP".to_owned())
        }
    };
    let out = options
        .keep
        .clone()
        .unwrap_or_else(|| work.path().join("extended"));

    let step = Step::begin("extending the BSP");
    let mut asked = Config::default();
    asked.port.kind = options.port;
    let report = extend::extend(&extend::Options {
        bsp: input,
        out: out.clone(),
        config: asked,
        report: None,
        board: None,
    })?;
    let layout = Layout::of_result(&out)?;
    let build = Build::read(&layout)?;
    step.end(&format!(
        "extended {name}: {} changes, {} files added",
        report.changes.len(),
        report.added.len()
    ));

    let toolchain = Toolchain::open().map_err(|e| tool(&e))?;
    let step = Step::begin("building the Verilog of the extended BSP (a minute, then cached)");
    let library = library(&build, &layout, &toolchain)?;
    let files = build.verilog(&layout).len();
    step.end(&format!("built {files} Verilog files of the extended BSP"));

    let config = board(&build);
    let (limits, link) = (config.clone(), describe(&config.link));
    let model = library.instance().map_err(|e| broken(&out, &e))?;
    let board = SimBoard::new(model, config).map_err(|e| broken(&out, &e))?;
    let moved = moves::both_ways(&board, build.build_id, options.bytes, options.seed)
        .map_err(|e| failed(&out, &e))?;
    Ok(Summary::new(
        name,
        &build,
        &limits,
        link,
        options.bytes,
        &moved,
    ))
}

/// Returns the simulated board for a build. A block with a TLP port decodes the BAR itself, so the host must know the
/// offsets of its slaves.
fn board(build: &Build) -> BoardConfig {
    let mut board = BoardConfig::default();
    let config = &build.config;
    if !config.has_tlp_port() {
        return board;
    }
    let at = |slave: &str| build.slaves.get(slave).copied();
    let usual = BarConfig::default();
    board.pcie_clk_ps = 1_000_000 / u64::from(build.clock_mhz.max(1));
    board.bar = BarConfig {
        csr: at("csr").unwrap_or(usual.csr),
        window: at("s_nondma").unwrap_or(usual.window),
        channels: at("chan").unwrap_or(usual.channels),
        att: at("att").unwrap_or(usual.att),
        msix: at("msix").unwrap_or(usual.msix),
        // A function has at most six BARs.
        number: build.bar as u8,
        sizes: Some(BarSizes {
            channels: config.chan_bytes(),
            att: config.att_bytes(),
            msix: at("msix").map_or(0, |_| u64::from(MSIX_BYTES)),
        }),
    };
    board
}

/// Compiles the block from its files in the BSP.
fn library(build: &Build, layout: &Layout, toolchain: &Toolchain) -> Result<Library, Error> {
    let mut model = peerlane_verilated::Build::new(peerlane_hdl::TOP);
    for file in build.verilog(layout) {
        model = model.file(&file).map_err(|e| broken(&file, &e))?;
    }
    model
        .model(toolchain)
        .map_err(|e| broken(&layout.hardware_dir(), &e))
}

fn describe(link: &LinkConfig) -> String {
    format!(
        "{:?} x{}, {}-byte payloads, {} ns read round trip",
        link.generation, link.lanes, link.max_payload, link.read_round_trip_ns
    )
}

fn tool(error: &dyn std::fmt::Display) -> Error {
    Error::new(
        "Verilator",
        error.to_string(),
        "Run `cargo xtask tools`: it installs the tools of the demo, and lists those that it cannot install.",
    )
}

fn broken(place: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(
        place,
        format!("the block cannot be simulated: {error}"),
        "Run `peerlane check`: it compares the files with those that were written.",
    )
}

fn failed(place: &Path, error: &peerlane_host::Error) -> Error {
    Error::new(
        place,
        format!("the transfer failed on the simulated board: {error}"),
        error.hint(),
    )
}
