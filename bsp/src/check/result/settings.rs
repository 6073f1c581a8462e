//! The project's revisions: the block's fragment is sourced, and nothing is imported that was compiled with the old
//! DMA.

use std::path::Path;

use crate::build::digest_of;
use crate::check::Findings;
use crate::check::read::settings::{Command, Revision};
use crate::check::result::{Bsp, bad};
use crate::error::{Place, Result};
use crate::layout::with_extension;
use crate::text;

const TEST: &str = "settings";
/// The block's constraints and synchroniser settings.
const FRAGMENT: &str = "iface/peerlane/peerlane.qsf";
/// Assignments that bring something compiled in: of the Quartus II settings reference, "Incremental Compilation
/// Assignments", and of CvP's revisions.
const IMPORTS: [&str; 5] = [
    "PARTITION_IMPORT_FILE",
    "PARTITION_LAST_IMPORTED_FILE",
    "INPUT_PERSONA",
    "QXP_FILE",
    "QDB_FILE_PARTITION",
];

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let before = findings.errors();
    let mut names = Vec::new();
    for qsf in revisions(&bsp.hardware)? {
        let revision = Revision::read(&bsp.hardware, &qsf)?;
        names.push(
            qsf.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        );
        let times = revision
            .sourced
            .iter()
            .filter(|f| *f == Path::new(FRAGMENT))
            .count();
        if times != 1 {
            let what = format!("{FRAGMENT} is sourced {times} times; it must be once");
            bad(findings, TEST, Place::file(&qsf), what);
        }
        for command in &revision.missing {
            let name = command.words.last().map_or("", String::as_str);
            let what = format!("{name} is sourced and does not exist");
            // The vendor's own may be made by its scripts.
            findings.note(TEST, command.place.clone(), what);
        }
        for command in &revision.commands {
            imported(bsp, command, findings)?;
        }
    }
    if findings.unchanged(before) {
        let what = format!(
            "{}: the block's settings are taken in, no old import",
            names.join(", ")
        );
        findings.good(TEST, what);
    }
    Ok(())
}

/// The settings files of the revisions that project files name, or all.
fn revisions(hardware: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut named = Vec::new();
    for project in with_extension(hardware, "qpf")? {
        for line in text::read(&project)?.lines() {
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            if key.trim() == "PROJECT_REVISION" {
                let name = value.trim().trim_matches('"');
                named.push(hardware.join(format!("{name}.qsf")));
            }
        }
    }
    named.retain(|path| path.is_file());
    match named.is_empty() {
        true => with_extension(hardware, "qsf"),
        false => Ok(named),
    }
}

/// Judges a command that imports something.
fn imported(bsp: &Bsp, command: &Command, findings: &mut Findings) -> Result<()> {
    let Some((name, file)) = command.assignment() else {
        return Ok(());
    };
    if !IMPORTS.contains(&name.as_str()) || file.is_empty() {
        return Ok(());
    }
    let path = bsp.hardware.join(file);
    let place = command.place.clone();
    if !path.is_file() {
        let what = format!(
            "{name} imports {file}, which is not there: it has not been compiled with the block"
        );
        bad(findings, TEST, place, what);
        return Ok(());
    }
    if bsp.vendor.hash(Path::new(file)) == Some(&digest_of(&path)?) {
        let what =
            format!("{name} imports the vendor's {file}, which was compiled with the old DMA");
        bad(findings, TEST, place, what);
    } else {
        let what = format!("{file} is imported; it must have been compiled from this extended BSP");
        findings.note(TEST, place, what);
    }
    Ok(())
}
