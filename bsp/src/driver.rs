//! Facts that the kernel driver must know about a board: its PCI IDs, and the places of the block's slaves.

use std::path::Path;

use askama::Template;
use peerlane_hdl::Slaves;

use crate::build::Build;
use crate::config::Irq;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::resources::memory_bytes;
use crate::layout::Layout;
use crate::roles::NEW_DMA;
use crate::system::host_bus::{self, BarMap};
use crate::system::library::{Library, is_pcie_hip, is_streaming_hip};
use crate::system::qsys::{Module, System};
use crate::system::shell::{self, Line, OpenCl, Range};
use crate::system::site::Site;
use crate::xml::Document;

const AGAIN: &str = "Extend the vendor's BSP again.";

/// Bytes of the window into FPGA memory (`s_nondma`).
const WINDOW_BYTES: u64 = 64 << 10;

/// A board as the driver finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Name of the BSP's hardware directory.
    pub name: String,
    /// PCI vendor ID.
    pub vendor: u16,
    /// PCI device ID.
    pub device: u16,
    /// PCI IDs of the subsystem, if the hard IP sets them: its vendor, and its own.
    pub subsystem: (Option<u16>, Option<u16>),
    /// `BUILD_ID` of its block.
    pub build_id: u32,
    /// Places of the block's slaves.
    pub slaves: Slaves,
    /// Bytes of FPGA memory, from address 0 on.
    pub memory: u64,
    /// Frequency of the hard IP's clock, in hertz.
    pub clock: u64,
    /// Link and width of a TLP port, in words; `None` for a block at `Txs`.
    pub stream: Option<String>,
    /// The hard IP's interrupt registers. `None`: the block has a table of vectors.
    pub line: Option<Line>,
    /// The OpenCL side.
    pub opencl: OpenCl,
}

impl Board {
    /// Reads a BSP that `peerlane extend` wrote.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if it is not such a BSP, [`ErrorKind::Inconsistent`] if its record and its hard IP lack a
    /// required fact, [`ErrorKind::Unsupported`] for a link that the driver does not know.
    pub fn read(dir: &Path) -> Result<Self> {
        let layout = Layout::of_result(dir)?;
        let build = Build::read(&layout)?;
        let library = Library::find(&layout)?;
        let hardware = layout.hardware_dir();
        let mut hips = library.systems().flat_map(|system| {
            let modules = system.modules.iter();
            modules.map(move |module| (system, module))
        });
        let hip =
            hips.find(|(_, module)| is_pcie_hip(&module.kind) || is_streaming_hip(&module.kind));
        let (system, hip) = hip.ok_or_else(|| {
            Error::new(
                ErrorKind::NoPcie,
                Place::file(&hardware),
                "the BSP has no PCIe hard IP",
                AGAIN,
            )
        })?;
        let slaves = build.board(&layout)?.slaves;
        let mut library = library.clone();
        library.set_block(build.config.clone());
        library.set_inside(&build.slaves);
        let Some(dma) = system.modules.iter().find(|m| m.kind == NEW_DMA) else {
            return Err(Error::new(
                ErrorKind::Inconsistent,
                Place::file(layout.hardware_dir()),
                format!("there is no {NEW_DMA} next to the hard IP {}", hip.name),
                AGAIN,
            ));
        };
        let site = Site {
            library: &library,
            system,
            dma,
            hip,
        };
        let map = host_bus::bar_map(&site, build.bar);
        moved(&site, &build, &map)?;
        let line = match build.config.irq {
            Irq::Msix => None,
            Irq::Rxm => Some(shell::line(&site, &map)?),
        };
        if let Some(offset) = slaves.window.filter(|offset| offset % WINDOW_BYTES != 0) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(hardware.join(crate::layout::BUILD_FILE)),
                format!(
                    "s_nondma is at {offset:#x} of the BAR, not at a multiple of its size, 64 KiB"
                ),
                "Move it in Platform Designer, then extend the BSP again.",
            ));
        }
        let name = hardware.file_name().unwrap_or(hardware.as_os_str());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            vendor: id(system, hip, "vendor_id_hwtcl")?,
            device: id(system, hip, "device_id_hwtcl")?,
            subsystem: subsystem(hip),
            build_id: build.build_id,
            slaves,
            memory: memory_bytes(&Document::read(&hardware.join("board_spec.xml"))?)?,
            clock: clock(system, hip, build.port_bits)?,
            stream: is_streaming_hip(&hip.kind).then(|| stream(hip, build.port_bits)),
            line,
            opencl: shell::opencl(&map),
        })
    }
}

/// Refuses a system whose slaves are not where the block was built for. The block does not know of the move, so its
/// `BUILD_ID` would be that of the old places.
fn moved(site: &Site<'_>, build: &Build, map: &BarMap) -> Result<()> {
    let real = map.slaves_of(&site.dma.name);
    if real == build.slaves {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Inconsistent,
        site.system.place(site.dma),
        format!(
            "its slaves are in BAR {} at {real:x?}, but the block was built for {:x?}",
            build.bar, build.slaves
        ),
        "Move them back in Platform Designer, or extend the vendor's BSP again.",
    ))
}

fn unusable(system: &System, hip: &Module, name: &str) -> Error {
    let has = hip.parameter(name).unwrap_or("not set");
    Error::new(
        ErrorKind::Unsupported,
        system.place(hip),
        format!("{}: {name} is {has}", hip.name),
        "Set it in Platform Designer, then extend the BSP again.",
    )
}

fn id(system: &System, hip: &Module, name: &str) -> Result<u16> {
    let number = hip.number(name).and_then(|number| number.try_into().ok());
    number
        .filter(|id| ![0, u16::MAX].contains(id))
        .ok_or_else(|| unusable(system, hip, name))
}

fn subsystem(hip: &Module) -> (Option<u16>, Option<u16>) {
    let id = |name| hip.number(name)?.try_into().ok();
    (
        id("subsystem_vendor_id_hwtcl"),
        id("subsystem_device_id_hwtcl"),
    )
}

const RATE: &str = "gen123_lane_rate_mode_hwtcl";
const LANES: &str = "lane_mask_hwtcl";

/// Describes a TLP port for readers of the driver's table.
fn stream(hip: &Module, port_bits: u32) -> String {
    let rate = hip.parameter(RATE).unwrap_or_default();
    let rate = rate.split_whitespace().next().unwrap_or_default();
    let lanes = hip.parameter(LANES).unwrap_or_default();
    format!("PCIe {rate} {lanes}, {port_bits} bits")
}

/// Returns the frequency of `coreclkout_hip`: the bit rate of all lanes divided by the width of the port, but no less
/// than 125 MHz (Stratix V Avalon-MM Interface for PCIe Solutions User Guide, table of `coreclkout_hip` values for all
/// parameterizations). The 62.5 MHz of a single Gen1 lane is an option that no OpenCL board has.
fn clock(system: &System, hip: &Module, port_bits: u32) -> Result<u64> {
    const LEAST: u64 = 125_000_000;
    let rate = hip.parameter(RATE).unwrap_or_default();
    // Bits that a lane carries in a second, coded 8b/10b or 128b/130b; the clock of Gen3 ignores the loss by the
    // coding.
    let lane: u64 = match rate.split_whitespace().next() {
        Some("Gen1") => 2_000_000_000,
        Some("Gen2") => 4_000_000_000,
        Some("Gen3") => 8_000_000_000,
        _ => return Err(unusable(system, hip, RATE)),
    };
    let lanes = hip.parameter(LANES).unwrap_or_default();
    let lanes: u64 = match lanes.strip_prefix('x').map(str::parse) {
        Some(Ok(lanes @ (1 | 2 | 4 | 8))) => lanes,
        _ => return Err(unusable(system, hip, LANES)),
    };
    Ok((lanes * lane / u64::from(port_bits)).max(LEAST))
}

#[derive(Template)]
#[template(path = "board_table.rs", escape = "none")]
struct Table<'a> {
    boards: &'a [Board],
}

/// Formats the ID of a subsystem for the driver's source. An unknown ID becomes any (`PCI_ANY_ID` of
/// `include/linux/mod_devicetable.h`).
fn subsystem_id(id: &Option<u16>) -> String {
    id.map_or("u32::MAX".into(), |id| format!("{id:#06x}"))
}

/// Formats an optional offset for the driver's source.
fn offset(offset: &Option<u64>) -> String {
    offset.map_or("None".into(), |at| format!("Some({at:#x})"))
}

/// Formats an optional range of the BAR for the driver's source.
fn range(range: &Option<Range>) -> String {
    let text = |Range { offset, bytes }: &Range| {
        format!("Some($crate::boards::Range {{ offset: {offset:#x}, bytes: {bytes:#x} }})")
    };
    range.as_ref().map_or("None".into(), text)
}

/// Formats the hard IP's interrupt registers for the driver's source.
fn line(line: &Option<Line>) -> String {
    let Some(Line {
        cra,
        block,
        kernels,
    }) = line
    else {
        return "None".into();
    };
    format!("Some($crate::boards::Line {{ cra: {cra:#x}, block: {block}, kernels: {kernels:?} }})")
}

/// Makes the driver's source file `boards_table.rs` for these boards.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if two boards have the same IDs.
pub fn table(boards: &[Board]) -> Result<String> {
    for (index, board) in boards.iter().enumerate() {
        let ids = |other: &&Board| (other.vendor, other.device) == (board.vendor, board.device);
        // An unknown ID equals any other.
        let equal =
            |one: Option<u16>, other| one.zip(other).is_none_or(|(one, other)| one == other);
        let alike = |other: &&Board| {
            ids(other)
                && equal(other.subsystem.0, board.subsystem.0)
                && equal(other.subsystem.1, board.subsystem.1)
        };
        if let Some(other) = boards[..index].iter().find(alike) {
            let id = |id: Option<u16>| id.map_or("any".into(), |id| format!("{id:04x}"));
            let subsystem = format!("{}:{}", id(board.subsystem.0), id(board.subsystem.1));
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(&board.name),
                format!(
                    "it has the same PCI IDs as {}, {:04x}:{:04x} with the subsystem {subsystem}",
                    other.name, board.vendor, board.device
                ),
                "Extend one of them again with another identity.subsystem_device in the configuration, or build a \
                 driver for each.",
            ));
        }
    }
    let mut text = Table { boards }.render().expect("plain data");
    text.push('\n');
    Ok(text)
}
