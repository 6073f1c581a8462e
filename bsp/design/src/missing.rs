//! Files that the vendor's BSP names but does not have: a report begins with them, a refusal ends with them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::qsf::{IMPORTS, assignments};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{Layout, has_extension, revisions_in, with_extension};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// A file that another one names, and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    path: PathBuf,
    line: Option<usize>,
    /// As written, relative to the hardware directory or to the file that names it.
    target: String,
    /// Whether the design is read from it.
    read: bool,
}

impl Missing {
    fn new(place: Place, target: impl Into<String>) -> Self {
        let Place { path, line } = place;
        let target = target.into();
        let named = Path::new(&target);
        let read = target.ends_with("_hw.tcl") || READ.iter().any(|end| has_extension(named, end));
        Self {
            path,
            line,
            target,
            read,
        }
    }

    /// Describes it for people: the place that names it, from the hardware directory on, and its name.
    pub fn words(&self, hardware: &Path) -> String {
        let file = self.path.strip_prefix(hardware).unwrap_or(&self.path);
        let line = self.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line} names {}", file.display(), self.target)
    }

    /// Reports whether it exists. Names are relative to the hardware directory, or to the file that has them.
    fn is_there(&self, hardware: &Path) -> bool {
        let beside = self.path.parent().unwrap_or(hardware);
        hardware.join(&self.target).exists() || beside.join(&self.target).exists()
    }
}

/// Assignments that name a source file.
const FILE_ASSIGNMENTS: [&str; 14] = [
    "SDC_FILE",
    "VERILOG_FILE",
    "SYSTEMVERILOG_FILE",
    "VHDL_FILE",
    "QIP_FILE",
    "QSYS_FILE",
    "IP_FILE",
    "MIF_FILE",
    "HEX_FILE",
    "QXP_FILE",
    "SOURCE_TCL_SCRIPT_FILE",
    "PRE_FLOW_SCRIPT_FILE",
    "POST_FLOW_SCRIPT_FILE",
    "POST_MODULE_SCRIPT_FILE",
];
/// Endings of files that the design is read from, in addition to descriptions of components and scripts that settings
/// include.
const READ: [&str; 6] = ["qsys", "ip", "ipx", "qip", "qsf", "qpf"];
/// Assignments that name a revision.
const REVISIONS: [&str; 2] = ["BASE_REVISION", "CVP_REVISION"];

/// Reports whether Quartus or Platform Designer makes a file in a compile; the latter can generate `systems`.
fn is_made(target: &str, systems: &BTreeSet<String>) -> bool {
    let first = target.split('/').next().unwrap_or_default();
    matches!(first, "db" | "incremental_db" | "output_files")
        || (systems.contains(first) && target.contains("/synthesis/"))
}

/// Finds the files that settings, and the settings that they include, name. Imported files do not count: the extension
/// removes the import, and its script makes the file again.
fn of_settings(layout: &Layout, found: &mut Vec<Missing>) -> Result<()> {
    let hardware = layout.hardware_dir();
    let mut imported = BTreeSet::new();
    let mut systems = BTreeSet::new();
    for path in layout.qsys_files()? {
        let stem = path.file_stem().unwrap_or_default();
        systems.insert(stem.to_string_lossy().into_owned());
    }
    let mut open = with_extension(&hardware, "qsf")?;
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let text = text::read(&path)?;
        for assignment in assignments(&text) {
            let place = Place::line(&path, assignment.line);
            let value = &assignment.value;
            if REVISIONS.contains(&assignment.name.as_str()) {
                if !value.is_empty() && !value.contains(['$', '[']) {
                    found.push(Missing::new(place, format!("{value}.qsf")));
                }
                continue;
            }
            if IMPORTS.contains(&assignment.name.as_str()) {
                imported.insert(value.clone());
            }
            if !FILE_ASSIGNMENTS.contains(&assignment.name.as_str()) {
                continue;
            }
            // Scripts are named as tool:file.
            let target = match value.split_once(':') {
                Some((tool, file)) if tool.starts_with("quartus_") => file,
                _ => value,
            };
            if target.is_empty() || target.contains(['$', '[']) || is_made(target, &systems) {
                continue;
            }
            let file = hardware.join(target);
            if assignment.name == "SOURCE_TCL_SCRIPT_FILE" && file.is_file() {
                open.push(file);
            }
            let missing = Missing::new(place, target);
            found.push(Missing {
                read: missing.read || assignment.name == "SOURCE_TCL_SCRIPT_FILE",
                ..missing
            });
        }
    }
    // A netlist among the sources may be the same file.
    found.retain(|missing| !imported.contains(&missing.target));
    Ok(())
}

/// Finds the files that the board's specification names (Custom Platform Toolkit user guide 683398, 2.2.8).
fn of_specification(hardware: &Path, found: &mut Vec<Missing>) -> Result<()> {
    let path = hardware.join("board_spec.xml");
    if !path.is_file() {
        return Ok(());
    }
    let document = Document::read(&path)?;
    for compile in document.root.children("compile") {
        for (attribute, ending) in [("project", ".qpf"), ("revision", ".qsf"), ("qsys_file", "")] {
            let name = compile.attribute(attribute).map(str::trim);
            // For the SDK, a system of this name means no system.
            let named = name.filter(|name| !name.is_empty() && *name != "none");
            if let Some(name) = named {
                let target = format!("{name}{ending}");
                found.push(Missing::new(document.place(compile), target));
            }
        }
    }
    Ok(())
}

/// Finds all file names in settings files, component lists, the project files and the board's specification.
fn named(layout: &Layout) -> Result<Vec<Missing>> {
    let hardware = layout.hardware_dir();
    let mut found = Vec::new();
    of_settings(layout, &mut found)?;
    of_specification(&hardware, &mut found)?;
    for list in with_extension(&hardware, "ipx")? {
        let document = Document::read(&list)?;
        for component in document.root.children("component") {
            match component.attribute("file") {
                // A file of the SDK's installation.
                Some(file) if file.contains('$') => {}
                Some(file) => found.push(Missing::new(document.place(component), file)),
                None => {}
            }
        }
    }
    for project in with_extension(&hardware, "qpf")? {
        for (name, line) in revisions_in(&text::read(&project)?) {
            if !name.is_empty() {
                found.push(Missing::new(
                    Place::line(&project, line),
                    format!("{name}.qsf"),
                ));
            }
        }
    }
    Ok(found)
}

/// Returns the files that a BSP names but does not have, with each place that names one, sorted.
///
/// # Errors
/// Those of reading the files that name them.
pub fn files(layout: &Layout) -> Result<Vec<Missing>> {
    let hardware = layout.hardware_dir();
    let all: BTreeSet<Missing> = named(layout)?.into_iter().collect();
    let missing = all.into_iter().filter(|named| !named.is_there(&hardware));
    Ok(missing.collect())
}

/// Adds a note with the missing files to an error about a BSP; they need not be its cause.
pub fn below(error: Error, missing: &[Missing], layout: &Layout) -> Error {
    // Errors that are unrelated to the BSP's files.
    let other = matches!(
        error.kind,
        ErrorKind::Config
            | ErrorKind::Output
            | ErrorKind::Interrupted
            | ErrorKind::AlreadyExtended
            | ErrorKind::Io
    );
    if missing.is_empty() || other {
        return error;
    }
    let hardware = layout.hardware_dir();
    let was_read = error.was_read || error.kind == ErrorKind::BadXml;
    let cause = match missing.iter().any(|missing| missing.read) {
        true if was_read => "They are not the cause: the value was read from an existing file",
        true => "A missing file of the design may be the cause",
        false => "They are not the cause: a BSP is extended without them, too",
    };
    let places = match missing.len() {
        1 => "1 place".into(),
        many => format!("{many} places"),
    };
    let note = format!("Note: the BSP names files that do not exist, in {places}. {cause}:");
    let lines = missing
        .iter()
        .map(|missing| format!("  {}", missing.words(&hardware)));
    let details = error.below.details.clone();
    error.with_details(details.into_iter().chain([note]).chain(lines))
}
