//! The report in a file of its own: checked before anything is written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::report::Report;

/// Checks that a report can be written there.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn check_report(report: &Path, bsp: &Path, out: &Path) -> Result<()> {
    let problem = |what: &str, remedy: &str| {
        Err(Error::new(
            ErrorKind::Output,
            Place::file(report),
            what,
            remedy,
        ))
    };
    if report.is_dir() {
        return problem(
            "the report's name is a directory's",
            "Give a file name to --report.",
        );
    }
    if report.exists() && !report.is_file() {
        return problem(
            "this is a device or the like, and a file would take its place",
            "Give the name of a file to --report.",
        );
    }
    if report.starts_with(out) {
        return problem(
            "the report lies in the output, which does not exist yet",
            "Leave --report out: the output holds peerlane-report.md and .json anyway.",
        );
    }
    let parent = report_parent(report);
    match fs::canonicalize(&parent) {
        Ok(p) if p.starts_with(bsp) => problem(
            "the report would be written into the BSP",
            "Choose a --report outside of it: the input is never written.",
        ),
        Ok(p) if p.is_dir() => Ok(()),
        _ => problem(
            "the directory for the report does not exist",
            "Make it first.",
        ),
    }
}

fn report_parent(report: &Path) -> PathBuf {
    match report.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The report in a temporary file beside its place.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn prepare_report(path: &Path, report: &Report) -> Result<tempfile::NamedTempFile> {
    use std::io::Write as _;
    let json = path.extension().is_some_and(|e| e == "json");
    let text = if json {
        report.json()
    } else {
        report.markdown()
    };
    let failed = |e: std::io::Error| Error::io(path, "write the report", &e);
    let mut file = tempfile::Builder::new()
        .prefix(".peerlane-report-")
        .tempfile_in(report_parent(path))
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(file)
}
