//! Every file that the BSP names is there, and every component kind is known.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::check::{Extended, Findings};
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
pub fn missing(layout: &Layout, library: &Library) -> Result<Vec<String>> {
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

/// Tests that every file named exists. What the vendor's BSP lacked already is a note.
///
/// # Errors
/// Those of reading the files.
pub fn check(bsp: &Extended<'_>, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "files";
    let hardware = bsp.layout.hardware_dir();
    let before = findings.errors();
    let all = references(bsp.layout, bsp.library)?;
    let mut absent = 0;
    for reference in &all {
        if exists(&hardware, reference) {
            continue;
        }
        absent += 1;
        let key = reference.key();
        if bsp.build.missing_in_input.contains(&key) {
            findings.note(
                TEST,
                reference.place.clone(),
                format!(
                    "{} is not there; the vendor's BSP lacked it too",
                    reference.target
                ),
            );
        } else {
            findings.bad(
                TEST,
                reference.place.clone(),
                format!("{} is named and does not exist", reference.target),
                "Put the file back, or extend the vendor's BSP again.",
            );
        }
    }
    let stale: Vec<PathBuf> = with_extension(&hardware, "qxp")?;
    for path in stale.iter().filter(|p| {
        p.file_name()
            .is_some_and(|n| n == "acl_iface_partition.qxp")
    }) {
        findings.note(
            TEST,
            Place::file(path),
            "a compiled partition is there; it must have been exported from this extended BSP",
        );
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "{} of {} files named are there",
                all.len() - absent,
                all.len()
            ),
        );
    }
    Ok(())
}

/// Tests that every instance's kind is defined: by a `.qsys` file or a component on the project's search path, by a
/// list of components, or by Quartus. What the vendor's BSP left open is a note.
pub fn kinds(bsp: &Extended<'_>, findings: &mut Findings) {
    const TEST: &str = "hierarchy";
    let before = findings.errors();
    let mut count = 0;
    for system in bsp.library.systems() {
        for module in &system.modules {
            count += 1;
            let kind = module.kind.as_str();
            if bsp.library.defines(kind) {
                continue;
            }
            if bsp.build.unresolved_in_input.contains(kind) {
                findings.note(
                    TEST,
                    system.place(module),
                    format!(
                        "kind {kind} of {} is not defined in the BSP, nor was it in the vendor's: it must come from \
                         the OpenCL SDK",
                        module.name
                    ),
                );
            } else {
                findings.bad(
                    TEST,
                    system.place(module),
                    format!("kind {kind} of instance {} is defined nowhere", module.name),
                    "Add its component to the BSP's .ipx list or its .qsys file to the IP path.",
                );
            }
        }
    }
    if findings.unchanged(before) {
        findings.good(TEST, format!("the kinds of {count} instances are defined"));
    }
}
