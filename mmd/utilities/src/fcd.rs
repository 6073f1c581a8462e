//! `.fcd` files, by which the runtime finds the libraries of boards: a path a line.
//!
//! The open runtime reads all of `/opt/Intel/OpenCL_boards`, and all of the directory that `ACL_BOARD_VENDOR_PATH`
//! names, by default `/opt/Intel/OpenCL/Boards` (intel/fpga-runtime-for-opencl v2025.0, `acl_hal_mmd.cpp`,
//! `l_load_board_libraries`). A library that is named twice gives each board twice. `aocl install` writes
//! `/opt/Intel/OpenCL/Boards/<platform>.fcd` itself from 17.1 on, so ours has that name and that text.

use crate::setup::VENDORS;
use crate::{Failure, Machine, Platform, Result};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where `aocl` writes them.
pub(crate) const DIRECTORY: &str = "/opt/Intel/OpenCL/Boards";
/// The directory of before, which the runtime always reads, too.
pub(crate) const OLD: &str = "/opt/Intel/OpenCL_boards";
/// How the libraries' names begin.
const LIBRARY: &str = "libpeerlane_mmd";

/// The file of a platform.
#[derive(Debug)]
pub(crate) struct Fcd {
    pub path: PathBuf,
    pub text: String,
    /// The directories that a runtime reads together with it.
    places: Vec<PathBuf>,
}

impl Fcd {
    /// In this directory, or in the default one.
    ///
    /// # Errors
    /// A path that cannot stand in such a file.
    pub(crate) fn of(
        machine: &Machine,
        platform: &Platform,
        directory: Option<&Path>,
    ) -> Result<Self> {
        let directory = match directory {
            Some(directory) => {
                let found = std::path::absolute(directory);
                let found = found.map_err(|error| Failure::io(directory, "be found", &error))?;
                // The runtime takes it for one name, in which nobody would look for a list.
                if found.as_os_str().as_encoded_bytes().contains(&b':') {
                    return Err(Failure::new(
                        format!(
                            "{}: .fcd files lie in one directory, and this has a colon",
                            directory.display()
                        ),
                        format!(
                            "Name one directory by --fcd-dir, or by {VENDORS}: the runtime takes no list there."
                        ),
                    ));
                }
                machine.path(found)
            }
            None => machine.path(DIRECTORY),
        };
        let mut text = String::new();
        for library in &platform.libraries {
            let path = library.to_str().filter(|path| {
                library.is_absolute() && path.trim() == *path && !path.contains(['\n', '\r'])
            });
            let path = path.ok_or_else(|| {
                Failure::new(
                    format!("{library:?} cannot stand in an .fcd file"),
                    "Give the platform a directory whose name is plain text without blanks at its end.",
                )
            })?;
            text += path;
            text.push('\n');
        }
        Ok(Self {
            path: directory.join(format!("{}.fcd", platform.name)),
            text,
            places: vec![machine.path(OLD), directory],
        })
    }

    /// Another file that leads the runtime to a library of Peerlane's that is there. One that leads nowhere, because
    /// its platform was deleted, shows no board and needs no driver.
    pub(crate) fn other(&self) -> Option<PathBuf> {
        self.others()
            .find(|path| libraries(path).any(|library| library.is_file()))
    }

    /// Other files that name libraries of Peerlane's of which none is there.
    pub(crate) fn stale(&self) -> impl Iterator<Item = PathBuf> {
        self.others()
            .filter(|path| names_ours(path) && !libraries(path).any(|library| library.is_file()))
    }

    fn others(&self) -> impl Iterator<Item = PathBuf> {
        files(&self.places).filter(|path| *path != self.path)
    }

    /// What stands in its place: `None`, nothing. `Some(true)`: this very text.
    ///
    /// # Errors
    /// A file that is not Peerlane's.
    pub(crate) fn there(&self) -> Result<Option<bool>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => Ok(Some(true)),
            Ok(_) if names_ours(&self.path) => Ok(Some(false)),
            Ok(_) => Err(Failure::new(
                format!("{} names other libraries", self.path.display()),
                "Another platform has the same name: uninstall that one, or give this one another name in board_env.xml.",
            )),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(Failure::io(&self.path, "be read", &error)),
        }
    }
}

/// The `.fcd` files of directories.
pub(crate) fn files(places: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let entries = places
        .iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten();
    let files = entries.map(|entry| entry.path());
    files.filter(|path| path.extension() == Some(OsStr::new("fcd")))
}

/// Whether a library has a name of Peerlane's.
pub(crate) fn is_ours(library: &Path) -> bool {
    let name = library.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with(LIBRARY))
}

/// Whether a file names a library of Peerlane's.
fn names_ours(path: &Path) -> bool {
    libraries(path).next().is_some()
}

/// The libraries of Peerlane's that a file names.
fn libraries(path: &Path) -> impl Iterator<Item = PathBuf> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<_> = text.lines().map(PathBuf::from).collect();
    lines.into_iter().filter(|line| is_ours(line))
}
