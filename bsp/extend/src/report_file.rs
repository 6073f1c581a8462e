//! The report in a file of its own: checked before anything is written.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::report::Report;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};

/// Checks that a report can be written there: neither into the BSP, nor into the new platform.
///
/// # Errors
/// [`ErrorKind::Output`].
pub(crate) fn check(report: &Path, bsp: &Path, out: Option<&Path>) -> Result<()> {
    let problem = |what: &str, hint: &str| {
        Err(Error::new(
            ErrorKind::Output,
            Place::file(report),
            what,
            hint,
        ))
    };
    if report.is_dir() {
        return problem(
            "the report's name is that of a directory",
            "Name a file with --report.",
        );
    }
    let ending = report.extension().unwrap_or_default().to_string_lossy();
    if !["md", "txt", "json"].contains(&ending.as_ref()) {
        return problem(
            "the extension is not that of a report's format",
            "End the name in .md or .txt for Markdown, or in .json for JSON.",
        );
    }
    if report.exists() && !report.is_file() {
        return problem(
            "this is not a file, and a file would replace it",
            "Name a file with --report.",
        );
    }
    if out.is_some_and(|out| report.starts_with(out)) {
        return problem(
            "the report would be in the output, which does not exist yet",
            "Leave --report out: the output has peerlane-report.md and .json in any case.",
        );
    }
    let parent = parent(report);
    match fs::canonicalize(parent) {
        Ok(p) if p.starts_with(bsp) => problem(
            "the report would be written into the BSP",
            "Choose a --report outside the BSP: the command never writes to its input.",
        ),
        Ok(p) if p.is_dir() => Ok(()),
        _ => problem(
            "the directory for the report does not exist",
            "Create it first.",
        ),
    }
}

fn parent(report: &Path) -> PathBuf {
    match report.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A report in a temporary file next to its final place.
pub(crate) struct Prepared {
    file: NamedTempFile,
    path: PathBuf,
}

/// Writes the report to a temporary file next to its final place.
///
/// # Errors
/// [`ErrorKind::Io`].
pub(crate) fn prepare(path: &Path, report: &Report) -> Result<Prepared> {
    let json = path.extension().is_some_and(|e| e == "json");
    let text = if json {
        report.json()
    } else {
        report.markdown()
    };
    let failed = |e: std::io::Error| Error::io(path, "write the report", &e);
    let mut file = tempfile::Builder::new()
        .prefix(".peerlane-report-")
        // Like any new file, with the mode that the umask leaves. By default only the owner may use a temporary file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(parent(path))
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(Prepared {
        file,
        path: path.to_path_buf(),
    })
}

impl Prepared {
    /// Moves the report to its final place.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(crate) fn put(self) -> Result<()> {
        let put = self.file.persist(&self.path);
        put.map_err(|e| Error::io(&self.path, "write the report", &e.error))?;
        Ok(())
    }
}
