//! The committed files.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the root of the work tree.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the files that are committed, or would be with the next `git add`, relative to [`root`].
///
/// # Errors
/// If git cannot be run or the directory is not a work tree.
pub fn files() -> io::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()))
        // Removed in the work tree but not yet in the index.
        .filter(|path| root().join(path).is_file())
        .collect())
}
