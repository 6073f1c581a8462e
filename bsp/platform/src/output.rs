//! The output of a command: its place is checked before anything is written.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, ErrorKind, Place, Result, reason};

/// Makes the error for a directory in which nothing can be made.
pub fn not_writable(parent: &Path, source: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Output,
        Place::file(parent),
        format!("cannot write here: {}", reason(source)),
        "Choose a writable directory for --out.",
    )
}

/// Makes a directory for temporary files.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn temporary() -> Result<TempDir> {
    tempfile::tempdir().map_err(|e| {
        Error::new(
            ErrorKind::Output,
            Place::file(std::env::temp_dir()),
            format!("cannot write temporary files here: {}", reason(&e)),
            "Set TMPDIR to a writable directory.",
        )
    })
}

/// Checks that a directory can be made; returns its parent.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn new_directory(out: &Path) -> Result<PathBuf> {
    let problem =
        |what: &str, hint: &str| Error::new(ErrorKind::Output, Place::file(out), what, hint);
    if fs::symlink_metadata(out).is_ok() || out.file_name().is_none() {
        return Err(problem(
            "the output already exists",
            "Choose another --out, or remove it first: the command overwrites nothing.",
        ));
    }
    let parent = match out.parent() {
        Some(p) if p.as_os_str().is_empty() => Path::new("."),
        Some(p) => p,
        None => Path::new("/"),
    };
    fs::canonicalize(parent)
        .ok()
        .filter(|p| p.is_dir())
        .ok_or_else(|| {
            problem(
                "the parent directory of the output does not exist or is not a directory",
                "Create it first, or choose another --out.",
            )
        })
}

/// Gives a finished directory its name.
///
/// # Errors
/// [`ErrorKind::Output`] if the name is in use by now, [`ErrorKind::Io`].
pub fn put(made: &Path, out: &Path, what: &str) -> Result<()> {
    // Without a dot at its end: no directory can be renamed to that.
    let name: PathBuf = out.components().collect();
    fs::rename(made, &name).map_err(|e| match fs::symlink_metadata(&name) {
        Ok(_) => Error::new(
            ErrorKind::Output,
            Place::file(out),
            format!("another program created it in the meantime ({e})"),
            "Choose another --out, or remove it first: the command overwrites nothing.",
        ),
        Err(_) => Error::io(out, &format!("put {what} in its place"), &e),
    })
}

/// Checks that the output can be made outside the BSP; returns its parent directory.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn check_output(out: &Path, bsp: &Path) -> Result<PathBuf> {
    let parent = new_directory(out)?;
    if parent.starts_with(bsp) {
        return Err(Error::new(
            ErrorKind::Output,
            Place::file(out),
            "the output is inside the BSP",
            "Choose an --out outside the BSP: the command never writes to its input.",
        ));
    }
    Ok(parent)
}

/// Returns the reason why `aoc` cannot work below a directory, if there is one. Its scripts split paths at blanks
/// (Intel's article 000086370: the SDK does not support spaces in directory names, and this will not be changed).
pub fn unfit_for_aoc(directory: &Path) -> Option<String> {
    let name = directory.to_string_lossy();
    let blank = name.chars().find(|letter| letter.is_whitespace())?;
    Some(format!(
        "aoc does not work in a directory whose path has a blank ({blank:?} in {name:?})"
    ))
}

/// Refuses a directory in which `aoc` could not use a platform.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn check_for_aoc(out: &Path) -> Result<()> {
    let whole = new_directory(out)?.join(out.file_name().unwrap_or_default());
    match unfit_for_aoc(&whole) {
        None => Ok(()),
        Some(what) => Err(Error::new(
            ErrorKind::Output,
            Place::file(out),
            what,
            "Choose an --out without blanks in the whole path.",
        )),
    }
}

/// Opens a directory for all users. Temporary directories are private; the finished BSP is as open as any directory.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn set_directory_mode(path: &Path) -> Result<()> {
    set_executable(path)
}

/// Lets all users run a file or look into a directory.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn set_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|e| Error::io(path, "set the permissions", &e))
}
