//! Emitters: each writes the map in one language.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

mod c;
mod constants;
mod host;
mod manual;
mod rtl;
mod systemrdl;
mod text;

pub use c::{c, c_excerpt};
pub use host::host;
pub use manual::{html, markdown};
pub use rtl::rtl;
pub use systemrdl::systemrdl;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Path below the output directory, with `/`.
    pub path: String,
    /// The content.
    pub text: String,
}

impl OutputFile {
    fn new(path: impl Into<String>, text: String) -> Self {
        OutputFile {
            path: path.into(),
            text,
        }
    }
}

/// Renders a template. An error is a panic: the templates are checked when the crate is built, and writing to a
/// `String` does not fail.
fn render(template: &impl askama::Template) -> String {
    match template.render() {
        Ok(text) => text,
        Err(error) => unreachable!("a template failed: {error}"),
    }
}

/// Writes files below a directory, which is made if it is not there. A file appears complete or
/// not at all. Files that have the text already are left alone. Returns the paths of all files.
///
/// # Errors
/// Errors of the file system.
pub fn write(files: &[OutputFile], dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for file in files {
        let path = dir.join(&file.path);
        let parent = path.parent().unwrap_or(dir);
        fs::create_dir_all(parent)?;
        if !fs::read(&path).is_ok_and(|old| old == file.text.as_bytes()) {
            let mut temporary = tempfile::Builder::new()
                .permissions(readable_by_all())
                .tempfile_in(parent)?;
            temporary.write_all(file.text.as_bytes())?;
            temporary.persist(&path)?;
        }
        paths.push(path);
    }
    Ok(paths)
}

/// Returns the permissions of a source file, which all may read, unlike a temporary file. The umask still applies.
fn readable_by_all() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
