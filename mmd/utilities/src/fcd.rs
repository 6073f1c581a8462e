//! Files by which a runtime finds the libraries of boards: a path a line.
//!
//! The open runtime reads all `.fcd` files of `/opt/Intel/OpenCL_boards`, and all of the directory that
//! `ACL_BOARD_VENDOR_PATH` names, by default `/opt/Intel/OpenCL/Boards` (intel/fpga-runtime-for-opencl v2025.0,
//! `acl_hal_mmd.cpp`, `l_load_board_libraries`). A library that is named twice gives each board twice. `aocl install`
//! writes `/opt/Intel/OpenCL/Boards/<platform>.fcd` itself from 17.1 on, so ours has that name and that text. The
//! runtime of 17.0 reads them there (Intel's article 000086441).
//!
//! Before 17.0, their names ended in `.acd`, and they were in `/opt/Altera/OpenCL/Boards`: the runtime of 16.0 names
//! that directory if it does not find any (inducer/pyopencl, issue 132); the Altera Client Driver became the FPGA
//! Client Driver with 17.0 (Intel 683173, revision history, 2017.05.05). Earlier runtimes do not read such files:
//! programs are linked with the library. All programs can be linked with it.

use crate::library::Library;
use crate::{Failure, Machine, Platform, Result};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The variable that names the directory of `.fcd` files.
pub const VENDORS: &str = "ACL_BOARD_VENDOR_PATH";
/// Directory in which `aocl` writes them.
pub(crate) const DIRECTORY: &str = "/opt/Intel/OpenCL/Boards";
/// Directory of the older `.acd` files.
pub(crate) const ALTERA: &str = "/opt/Altera/OpenCL/Boards";
/// The older directory, which the runtime always reads, too.
pub(crate) const OLD: &str = "/opt/Intel/OpenCL_boards";
/// Beginning of the libraries' names.
const LIBRARY: &str = "libpeerlane_mmd";

/// Forms of a runtime's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.fcd`, in Intel's directories.
    Fcd,
    /// `.acd`, in Altera's.
    Acd,
}

impl Form {
    pub(crate) const ALL: [Self; 2] = [Self::Fcd, Self::Acd];

    /// Returns the form that the runtime reads that takes this library in this platform; `None`: it does not read such
    /// files.
    pub(crate) fn of(kind: Library, platform: &Platform) -> Option<Self> {
        match (kind, platform.number().unwrap_or(0.0)) {
            (Library::Open, _) => Some(Self::Fcd),
            (Library::Legacy, version) if version >= 17.0 => Some(Self::Fcd),
            (Library::Legacy, version) if version >= 15.1 => Some(Self::Acd),
            (Library::Legacy, _) => None,
        }
    }

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Fcd => "fcd",
            Self::Acd => "acd",
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Self::Fcd => DIRECTORY,
            Self::Acd => ALTERA,
        }
    }
}

/// The file of a platform.
#[derive(Debug)]
pub(crate) struct Fcd {
    pub path: PathBuf,
    pub text: String,
    form: Form,
    /// The directories that a runtime reads together with it.
    places: Vec<PathBuf>,
}

impl Fcd {
    /// Makes the file in this directory, or in the default one.
    ///
    /// # Errors
    /// A path that cannot be written in such a file.
    pub(crate) fn of(
        machine: &Machine,
        platform: &Platform,
        directory: Option<&Path>,
        form: Form,
    ) -> Result<Self> {
        let directory = match directory {
            Some(directory) => {
                let found = std::path::absolute(directory);
                let found = found.map_err(|error| Failure::io(directory, "be found", &error))?;
                // The runtime takes it for one name; a list is not supported there.
                if found.as_os_str().as_encoded_bytes().contains(&b':') {
                    return Err(Failure::new(
                        format!(
                            "{}: .fcd files lie in one directory, and this path has a colon",
                            directory.display()
                        ),
                        format!(
                            "Name one directory with --fcd-dir, or with {VENDORS}: the runtime reads no list there."
                        ),
                    ));
                }
                machine.path(found)
            }
            None => machine.path(form.directory()),
        };
        let mut text = String::new();
        for library in &platform.libraries {
            let path = library.to_str().filter(|path| {
                library.is_absolute() && path.trim() == *path && !path.contains(['\n', '\r'])
            });
            let path = path.ok_or_else(|| {
                Failure::new(
                    format!("{library:?} cannot be written into an .{} file", form.extension()),
                    "Give the platform a directory whose name is plain text without blanks at its end.",
                )
            })?;
            text += path;
            text.push('\n');
        }
        Ok(Self {
            path: directory.join(format!("{}.{}", platform.name, form.extension())),
            text,
            form,
            places: vec![machine.path(OLD), directory],
        })
    }

    /// Finds another file, except those in `without`, that leads the runtime to an existing library of Peerlane's. A
    /// file whose platform was deleted leads nowhere: it shows no board and needs no driver.
    pub(crate) fn other(&self, without: &[PathBuf]) -> Option<PathBuf> {
        self.leading(without, Path::is_file)
    }

    /// Finds another file that leads to a library of this kind.
    pub(crate) fn other_of(&self, kind: Library, without: &[PathBuf]) -> Option<PathBuf> {
        self.leading(without, |library| {
            Library::of(library).is_ok_and(|one| one == kind)
        })
    }

    fn leading(&self, without: &[PathBuf], to: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        self.others()
            .filter(|path| !without.contains(path))
            .find(|path| libraries(path).any(|library| to(&library)))
    }

    /// Lists other files that name only libraries of Peerlane's that do not exist.
    pub(crate) fn stale(&self) -> impl Iterator<Item = PathBuf> {
        self.others()
            .filter(|path| names_ours(path) && !libraries(path).any(|library| library.is_file()))
    }

    fn others(&self) -> impl Iterator<Item = PathBuf> {
        files(&self.places, self.form).filter(|path| *path != self.path)
    }

    /// Checks the file in its place: `None`: there is none. `Some(true)`: it has this very text.
    ///
    /// # Errors
    /// A file that is not Peerlane's.
    pub(crate) fn there(&self) -> Result<Option<bool>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => Ok(Some(true)),
            Ok(_) if names_ours(&self.path) => Ok(Some(false)),
            Ok(_) => Err(Failure::new(
                format!("{} names other libraries", self.path.display()),
                "Another platform has the same name: uninstall it, or change this platform's name in board_env.xml.",
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

/// Lists the files of one form in directories.
pub(crate) fn files(places: &[PathBuf], form: Form) -> impl Iterator<Item = PathBuf> {
    let entries = places
        .iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten();
    let files = entries.map(|entry| entry.path());
    files.filter(move |path| path.extension() == Some(OsStr::new(form.extension())))
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

/// Lists the libraries of Peerlane's that a file names.
fn libraries(path: &Path) -> impl Iterator<Item = PathBuf> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<_> = text.lines().map(PathBuf::from).collect();
    lines.into_iter().filter(|line| is_ours(line))
}
