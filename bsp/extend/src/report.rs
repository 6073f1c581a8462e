//! The report of changes and reasons: Markdown for people, JSON for programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::logic;
use crate::port;
use crate::resources::Resources;
use crate::step::shown;
use crate::to_do_list;
use peerlane_bsp_design::host_bus::BarMap;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::config::{Config, Irq};
use peerlane_bsp_platform::kept::Origin;
use peerlane_bsp_platform::size::size;

pub use crate::step::Change;
pub use crate::to_do_list::headline;

/// The heading of the list of tasks that are left to a user.
pub const TO_DO: &str = "## What to do";

/// All messages of an extension.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Version of this program.
    pub version: &'static str,
    /// The commit that it was built from, if known.
    pub commit: Option<String>,
    /// Origin of the input.
    pub origin: Origin,
    /// Name of the vendor's board.
    pub bsp: String,
    /// Hardware directory within the output.
    #[serde(serialize_with = "shown")]
    pub hardware: PathBuf,
    /// Instance name of the block.
    pub instance: String,
    /// Hash of the register map.
    #[serde(serialize_with = "peerlane_bsp_platform::hexadecimal::serialize")]
    pub map_id: u32,
    /// Hash of the map and the build parameters.
    #[serde(serialize_with = "peerlane_bsp_platform::hexadecimal::serialize")]
    pub build_id: u32,
    /// Configuration.
    pub config: Config,
    /// Width of the port to PCIe in bits.
    pub port_bits: u32,
    /// Estimate of the block's resources.
    pub resources: Resources,
    /// The BAR before.
    pub bar_before: BarMap,
    /// The BAR after.
    pub bar_after: BarMap,
    /// Changes to files of the BSP.
    pub changes: Vec<Change>,
    /// Files that were added.
    pub added: Vec<String>,
    /// Files that were not copied.
    #[serde(serialize_with = "all_shown")]
    pub left_out: Vec<PathBuf>,
    /// Directories of the vendor's runtime, which were not copied.
    #[serde(serialize_with = "all_shown")]
    pub set_aside: Vec<PathBuf>,
    /// Files that the BSP names but did not have in the input, each with its place.
    pub missing_in_input: Vec<String>,
    /// Tasks for the user.
    pub to_do: Vec<String>,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

impl Report {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("the report holds plain data only");
        text.push('\n');
        text
    }

    /// Returns the report as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        self.write_markdown(&mut out)
            .expect("writing to a string does not fail");
        out
    }

    fn write_markdown(&self, out: &mut String) -> std::fmt::Result {
        let c = &self.config;
        writeln!(out, "# Peerlane in the BSP of the board `{}`\n", self.bsp)?;
        writeln!(
            out,
            "Written by `{}` {}{}. The DMA block is the instance `{}` of kind `peerlane_dma`: \
             {}-bit port to PCIe, {} address bits, {} table entries, queues of {}, {} channels. \
             `MAP_ID` is `0x{:08x}`, `BUILD_ID` is `0x{:08x}`; driver and host library compare both.\n",
            self.origin.command(),
            self.version,
            match &self.commit {
                Some(commit) => format!(" (commit {commit})"),
                None => String::new(),
            },
            self.instance,
            self.port_bits,
            block::TXS_ADDR_BITS,
            c.att_entries,
            c.queue_depth,
            c.channels,
            self.map_id,
            self.build_id
        )?;
        writeln!(
            out,
            "Line numbers refer to the vendor's file under \"Missing files\" and \"Changes\" and where the text says \
             so. Elsewhere they refer to the written file here.\n"
        )?;
        if !self.missing_in_input.is_empty() {
            writeln!(
                out,
                "## Missing files\n\nThe BSP names files that neither it nor the copy has:\n"
            )?;
            for missing in &self.missing_in_input {
                writeln!(out, "- `{missing}`: {}", without(missing))?;
            }
            writeln!(out)?;
        }
        if !self.to_do.is_empty() {
            writeln!(out, "{TO_DO}\n")?;
            to_do_list::write(out, &self.to_do)?;
        }
        writeln!(out, "## What to know\n")?;
        for note in &self.notes {
            writeln!(out, "- {note}")?;
        }
        writeln!(
            out,
            "- The resources in `board_spec.xml` grew by {} ALMs, {} registers and {} memory blocks ({}): \
             an estimate until a compile is measured.",
            self.resources.alms,
            self.resources.ffs,
            self.resources.rams,
            self.resources.memory.name()
        )?;
        writeln!(
            out,
            "- Nothing here was compiled with Quartus. `peerlane check` finds edits that break the extension; it \
             does not replace a compile.\n"
        )?;
        let irq = match c.irq {
            Irq::Rxm => "the hard IP's RxmIrq (`irq = \"rxm\"`)".to_string(),
            Irq::Msix => format!("MSI-X, {} vectors (`irq = \"msix\"`)", c.vectors()),
        };
        writeln!(
            out,
            "PCIe addressing: 64-bit bus addresses. Interrupt: {irq}.\n"
        )?;
        writeln!(out, "{}", port::section(c))?;
        logic::section(out, &c.streams)?;
        self.write_bars(out)?;
        writeln!(out, "## Changes\n")?;
        let mut files: Vec<&Path> = self.changes.iter().map(|c| c.file.as_path()).collect();
        files.dedup();
        for file in files {
            writeln!(
                out,
                "### `{}`\n\n| change | why |\n| --- | --- |",
                file.display()
            )?;
            for change in self.changes.iter().filter(|c| c.file == file) {
                writeln!(out, "| {} | {} |", cell(&change.what), cell(&change.why))?;
            }
            writeln!(out)?;
        }
        writeln!(out, "## Files\n")?;
        let kept = match self.origin {
            Origin::Vendor => "All of the vendor's files are kept",
            Origin::New => {
                "All files of the board without the block, which `peerlane new` also wrote, are kept"
            }
        };
        writeln!(
            out,
            "Every other file is a byte-for-byte copy. {kept} in `peerlane/vendor`; `peerlane revert` restores them.\n"
        )?;
        let list = |out: &mut String, title: &str, names: Vec<String>| -> std::fmt::Result {
            if names.is_empty() {
                return Ok(());
            }
            // Folded: the longest list has hundreds of names.
            writeln!(
                out,
                "<details><summary>{title}: {}</summary>\n",
                names.len()
            )?;
            for name in names {
                writeln!(out, "- `{name}`")?;
            }
            writeln!(out, "\n</details>\n")
        };
        let paths = |p: &[PathBuf]| p.iter().map(|p| p.display().to_string()).collect();
        list(out, "Files added", self.added.clone())?;
        list(
            out,
            "Files left out (compiled with the old DMA)",
            paths(&self.left_out),
        )?;
        list(
            out,
            "The vendor's runtime, set aside",
            paths(&self.set_aside),
        )
    }

    fn write_bars(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "## BAR {}: {} before, {} after\n",
            self.bar_after.bar,
            size(1 << self.bar_before.bits.min(63)),
            size(1 << self.bar_after.bits.min(63))
        )?;
        writeln!(
            out,
            "| offset | size | slave | kind | before | size known from |"
        )?;
        writeln!(out, "| --- | --- | --- | --- | --- | --- |")?;
        for entry in &self.bar_after.entries {
            let before = self
                .bar_before
                .entries
                .iter()
                .find(|b| b.slave == entry.slave);
            let before = match before {
                None => "new".to_string(),
                Some(b) if b.base == entry.base && b.kind == entry.kind => "same".into(),
                Some(b) => format!("{:#07x}, {}", b.base, b.kind),
            };
            let about = if entry.assumed { "≤ " } else { "" };
            writeln!(
                out,
                "| {:#07x} | {about}{} | {} | {} | {} | {} |",
                entry.base,
                size(entry.bytes),
                entry.slave,
                entry.kind,
                before,
                cell(&entry.source)
            )?;
        }
        for gone in &self.bar_before.entries {
            if !self.bar_after.entries.iter().any(|e| e.slave == gone.slave) {
                writeln!(
                    out,
                    "| – | – | {} | {} | {:#07x}, removed | |",
                    gone.slave, gone.kind, gone.base
                )?;
            }
        }
        writeln!(out)
    }
}

/// Returns the effect of a missing file, by its kind, according to Quartus's manuals and messages.
fn without(missing: &str) -> &'static str {
    let ends = |all: &[&str]| all.iter().any(|end| missing.ends_with(end));
    if ends(&[".sdc"]) {
        "Quartus warns that the file is not found and goes on, without its timing constraints"
    } else if ends(&["_hw.tcl", ".qsys", ".ip"]) {
        "Platform Designer stops with an error at the instance that needs it"
    } else if ends(&[".ipx"]) {
        "Platform Designer does not find the components that it lists, and stops where one is used"
    } else if ends(&[".qip", ".qsf", ".tcl", ".qpf"]) {
        "Quartus stops with an error where it is read or run"
    } else if ends(&[".hex", ".mif"]) {
        "Quartus stops, or leaves the memory that it fills without content"
    } else if ends(&[".v", ".sv", ".vhd", ".vh"]) {
        "Quartus stops in Analysis & Synthesis, unless nothing uses its modules"
    } else {
        "the step that uses it fails"
    }
}

fn all_shown<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.display().to_string()))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
