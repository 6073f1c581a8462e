//! The record of how a BSP's block was built: `iface/peerlane/build.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use peerlane_hdl::Slaves;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::generator::Board;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{BUILD_FILE, Layout};
use peerlane_bsp_platform::text;

const AGAIN: &str = "Extend the vendor's BSP again.";

/// Returns the block's slaves in a BAR from offsets by the names of their interfaces, or the name of a missing one. The
/// window is optional: vendors' BSPs may leave it unconnected.
pub fn slaves(
    bar: u32,
    offsets: &BTreeMap<String, u64>,
) -> std::result::Result<Slaves, &'static str> {
    let at = |name| offsets.get(name).copied().ok_or(name);
    Ok(Slaves {
        bar,
        csr: at("csr")?,
        chan: at("chan")?,
        att: at("att")?,
        msix: at("msix").ok(),
        window: at("s_nondma").ok(),
    })
}

/// The commit that [`built_from`] was given.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Sets the commit that this program was built from, so that written files can name it. Only the program knows the
/// commit: it must call this once, at its start.
pub fn built_from(commit: &'static str) {
    let _ = COMMIT.set(commit);
}

/// A program that wrote files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Version.
    pub version: String,
    /// The commit that it was built from, if known.
    pub commit: Option<String>,
}

impl Program {
    /// Returns the running program.
    pub fn this() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: COMMIT.get().map(|commit| (*commit).into()),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version)?;
        match &self.commit {
            Some(commit) => write!(f, " (commit {commit})"),
            None => Ok(()),
        }
    }
}

/// Clock of the port in MHz if a record does not give one.
pub const USUAL_CLOCK: u32 = 250;

fn usual_clock() -> u32 {
    USUAL_CLOCK
}

fn is_usual_clock(mhz: &u32) -> bool {
    *mhz == USUAL_CLOCK
}

/// The record with which `peerlane check` compares the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Version of the program that wrote it.
    pub version: String,
    /// The commit that the program was built from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Configuration.
    pub config: Config,
    /// Width of the port to PCIe in bits.
    pub port_bits: u32,
    /// Bytes of FPGA memory that the block can name, log2.
    pub memory_log2: u32,
    /// Hash of the register map.
    #[serde(with = "peerlane_bsp_platform::hexadecimal")]
    pub map_id: u32,
    /// Hash of the map and the build parameters.
    #[serde(with = "peerlane_bsp_platform::hexadecimal")]
    pub build_id: u32,
    /// Instance name of the block.
    pub instance: String,
    /// Number of the BAR that the block's slaves are in.
    pub bar: u32,
    /// Bytes of that BAR, log2, if the block decodes the BAR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar_log2: Option<u32>,
    /// Clock of the port to PCIe in MHz, if the block has a TLP port.
    #[serde(default = "usual_clock", skip_serializing_if = "is_usual_clock")]
    pub clock_mhz: u32,
    /// Hash of the description of the rest of the board, which `BUILD_ID` covers. Older records have none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "peerlane_bsp_platform::hexadecimal::optional"
    )]
    pub shell: Option<u32>,
    /// Byte offset in that BAR of each of the block's slaves, by the name of the interface.
    pub slaves: BTreeMap<String, u64>,
    /// SHA-256 of each generated file, by its path in the hardware directory.
    pub generated: BTreeMap<String, String>,
    /// Files that the vendor's BSP names but does not have.
    pub missing_in_input: Vec<String>,
    /// Kinds of components in the vendor's BSP that neither the BSP nor Quartus defines; the OpenCL SDK may define
    /// them.
    #[serde(default)]
    pub unresolved_in_input: BTreeSet<String>,
    /// Hash of the vendor's tree in the record of the vendor's files.
    pub vendor: String,
}

impl Build {
    /// Returns the program that wrote the record.
    pub fn program(&self) -> Program {
        Program {
            version: self.version.clone(),
            commit: self.commit.clone(),
        }
    }

    /// Returns the record as JSON.
    pub fn json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("the record holds plain data only");
        text.push('\n');
        text
    }

    /// Returns the facts that the board determines for the block.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if the record has no place of a slave.
    pub fn board(&self, layout: &Layout) -> Result<Board> {
        let slaves = slaves(self.bar, &self.slaves).map_err(|slave| {
            Error::new(
                ErrorKind::Inconsistent,
                Place::file(layout.hardware_dir().join(BUILD_FILE)),
                format!("the record has no place for the slave {slave}"),
                AGAIN,
            )
        })?;
        Ok(Board {
            port_bits: self.port_bits,
            memory_log2: self.memory_log2,
            slaves,
            bar_log2: self.bar_log2,
            clock_mhz: self.clock_mhz,
            shell: self.shell,
        })
    }

    /// Returns the block's Verilog files.
    pub fn verilog(&self, layout: &Layout) -> Vec<PathBuf> {
        let hardware = layout.hardware_dir();
        self.generated
            .keys()
            .filter(|path| path.ends_with(".v"))
            .map(|path| hardware.join(path))
            .collect()
    }

    /// Reads the record of an extended BSP.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if there is no record, [`ErrorKind::Inconsistent`] if the record is damaged.
    pub fn read(layout: &Layout) -> Result<Self> {
        let path = layout.hardware_dir().join(BUILD_FILE);
        if !path.exists() {
            return Err(Error::new(
                ErrorKind::NotABsp,
                Place::file(layout.hardware_dir()),
                format!("no {BUILD_FILE}: `peerlane extend` did not write this BSP"),
                "Name the directory that was --out of `peerlane extend`.",
            ));
        }
        let text = text::read(&path)?;
        serde_json::from_str(&text).map_err(|e| damaged(&path, &e))
    }
}

fn damaged(path: &Path, error: &serde_json::Error) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        Place::line(path, error.line().max(1)),
        format!("the record of the build is damaged: {error}"),
        AGAIN,
    )
}
