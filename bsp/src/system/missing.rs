//! Files that the vendor's BSP names and does not have, for the report.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::layout::{Layout, with_extension};
use crate::system::library::Library;
use crate::system::qsf::assignments;
use crate::system::xml::Document;

/// A file named in another one.
#[derive(Debug)]
struct Reference {
    place: Place,
    /// As written, relative to the hardware directory.
    target: String,
}

impl Reference {
    /// How it is remembered from the input to the output: line numbers may change.
    fn key(&self) -> String {
        let file = self
            .place
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        format!("{file}: {}", self.target)
    }
}

/// Assignments that name a file to be read.
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
    "PARTITION_IMPORT_FILE",
    "SOURCE_TCL_SCRIPT_FILE",
    "POST_FLOW_SCRIPT_FILE",
    "POST_MODULE_SCRIPT_FILE",
];

/// Whether Quartus or Platform Designer makes a file in a compile.
fn is_made(target: &str, library: &Library) -> bool {
    let first = target.split('/').next().unwrap_or_default();
    matches!(first, "db" | "incremental_db" | "output_files")
        || (library.system(first).is_some() && target.contains("/synthesis/"))
}

/// All file names in settings files, component lists and the project file.
fn references(layout: &Layout, library: &Library) -> Result<Vec<Reference>> {
    let hardware = layout.hardware_dir();
    let mut found = Vec::new();
    let mut open = layout.settings_files()?;
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|e| Error::io(&path, "read the file", &e))?;
        for assignment in assignments(&String::from_utf8_lossy(&bytes)) {
            if !FILE_ASSIGNMENTS.contains(&assignment.name.as_str()) {
                continue;
            }
            // Scripts are named as tool:file.
            let target = match assignment.value.split_once(':') {
                Some((tool, file)) if tool.starts_with("quartus_") => file.to_string(),
                _ => assignment.value.clone(),
            };
            if target.contains('$') || is_made(&target, library) {
                continue;
            }
            let file = hardware.join(&target);
            if assignment.name == "SOURCE_TCL_SCRIPT_FILE" && file.is_file() {
                open.push(file);
            }
            found.push(Reference {
                place: Place::line(&path, assignment.line),
                target,
            });
        }
    }
    for list in with_extension(&hardware, "ipx")? {
        let document = Document::read(&list)?;
        for component in document.root.children("component") {
            match component.attribute("file") {
                // Of the SDK's own installation.
                Some(file) if file.contains('$') => {}
                Some(file) => {
                    found.push(Reference {
                        place: document.place(component),
                        target: file.into(),
                    });
                }
                None => {}
            }
        }
    }
    for project in with_extension(&hardware, "qpf")? {
        let text = fs::read(&project).map_err(|e| Error::io(&project, "read the file", &e))?;
        for (n, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            if let Some(value) = line.trim().strip_prefix("PROJECT_REVISION") {
                let name = value.trim_matches(|c: char| c == '=' || c == '"' || c.is_whitespace());
                let place = Place::line(&project, n + 1);
                found.push(Reference {
                    place,
                    target: format!("{name}.qsf"),
                });
            }
        }
    }
    Ok(found)
}

/// Files that a BSP names and does not have; sorted, each once.
///
/// # Errors
/// Those of reading the files that name them.
pub fn files(layout: &Layout, library: &Library) -> Result<Vec<String>> {
    let hardware = layout.hardware_dir();
    let keys: BTreeSet<String> = references(layout, library)?
        .iter()
        .filter(|r| !exists(&hardware, r))
        .map(Reference::key)
        .collect();
    Ok(keys.into_iter().collect())
}

/// Names are relative to the hardware directory, or to the file that has them.
fn exists(hardware: &Path, reference: &Reference) -> bool {
    let beside = reference.place.path.parent().unwrap_or(hardware);
    hardware.join(&reference.target).exists() || beside.join(&reference.target).exists()
}
