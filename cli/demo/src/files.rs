//! Outcomes of subcommands, and the files into which they write their results.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::Error;
use serde::Serialize;

use crate::provenance::Provenance;

/// The exit status of a subcommand, or the error that the command prints.
pub type Outcome = Result<ExitCode, Error>;

/// Exit status of a run that failed or a check that found a fault.
pub const FAILED: u8 = 2;

/// Writes results and their provenance as JSON.
pub fn save_json(file: &Path, results: &impl Serialize) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Stamped<'a, T> {
        provenance: Provenance,
        #[serde(flatten)]
        results: &'a T,
    }
    let stamped = Stamped {
        provenance: Provenance::here(),
        results,
    };
    let mut text = serde_json::to_string_pretty(&stamped).expect("plain data only");
    text.push('\n');
    save(file, &text)
}

/// Rejects a file that could not be written, before the work whose results go into it.
pub fn check_file(file: &Path) -> Result<(), Error> {
    let problem = |what: &str, hint: &str| Err(Error::new(file, what, hint));
    if file.is_dir() {
        return problem("this is a directory", "Give the name of a file.");
    }
    if file.exists() && !file.is_file() {
        return problem(
            "this is not a file, and a file would replace it",
            "Give the name of a file.",
        );
    }
    match directory_of(file) {
        directory if !directory.is_dir() => problem(
            "the directory for this file does not exist",
            "Create it first, or give another name.",
        ),
        // Dropped immediately, which deletes it.
        directory => match tempfile::NamedTempFile::new_in(directory) {
            Ok(_) => Ok(()),
            Err(e) => Err(Error::io(file, "write the results", &e)),
        },
    }
}

fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes a text, completely or not at all.
pub fn save(file: &Path, text: &str) -> Result<(), Error> {
    replace(file, "write the results", text.as_bytes())
}

/// Writes to a temporary file in the same directory and renames it, so that there is never half a file. `doing` is for
/// the error.
pub fn replace(file: &Path, doing: &str, bytes: &[u8]) -> Result<(), Error> {
    // The mode of any new file, subject to the umask. The default mode of a temporary file is for its owner only.
    write(file, doing, bytes, |_| Ok(()))
}

/// Does the work of [`replace`] for a file of the system: all users may read it, and its owner alone may write it,
/// independently of the umask.
pub fn publish(file: &Path, doing: &str, bytes: &[u8]) -> Result<(), Error> {
    write(file, doing, bytes, |file| {
        file.set_permissions(Permissions::from_mode(0o644))
    })
}

fn write(
    file: &Path,
    doing: &str,
    bytes: &[u8],
    set_mode: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |e: &io::Error| Error::io(file, doing, e);
    let mut temporary = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(file))
        .map_err(|e| failed(&e))?;
    set_mode(temporary.as_file()).map_err(|e| failed(&e))?;
    temporary.write_all(bytes).map_err(|e| failed(&e))?;
    temporary.persist(file).map_err(|e| failed(&e.error))?;
    Ok(())
}
