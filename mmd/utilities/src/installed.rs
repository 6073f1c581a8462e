//! Records of the installed platforms, and the choice of the file by which a runtime finds the library of each.
//!
//! One file of a kind leads a runtime to the boards of all platforms, so a second platform has no file. A record says
//! that the second platform is installed: it gets its file when the first one is removed, and driver and rules stay for
//! it.

use crate::fcd::{Fcd, Form};
use crate::library::Library;
use crate::{Failure, Machine, Platform, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Directory of the records.
const DIRECTORY: &str = "/var/lib/peerlane";
/// Ending of their names.
const EXTENSION: &str = "platform";

/// The records of a computer, or of a directory that a user has for `.fcd` files alone.
#[derive(Debug)]
pub(crate) struct Records {
    directory: PathBuf,
}

impl Records {
    /// Returns the records; with `own`, those of that directory.
    pub(crate) fn of(machine: &Machine, own: Option<&Path>) -> Self {
        Self {
            directory: machine.path(own.unwrap_or(Path::new(DIRECTORY))),
        }
    }

    /// Returns the path of a platform's record.
    pub(crate) fn path(&self, platform: &Platform) -> PathBuf {
        let name = format!("{}.{EXTENSION}", platform.name);
        self.directory.join(name)
    }

    /// Returns the text of a record: the platform's directory.
    pub(crate) fn text(platform: &Platform) -> String {
        format!("{}\n", platform.root.display())
    }

    /// Lists other platforms that are installed and exist, by their names.
    pub(crate) fn others(&self, but: &Platform) -> Vec<Platform> {
        let entries = std::fs::read_dir(&self.directory);
        let mut files: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension() == Some(OsStr::new(EXTENSION)))
            .collect();
        files.sort();
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).ok()?;
            Platform::read(Path::new(text.trim_end_matches('\n'))).ok()
        };
        let mut found: Vec<_> = files.iter().filter_map(read).collect();
        found.retain(|platform| platform.root != but.root && kind(platform).is_some());
        found
    }
}

/// Returns the library that a platform has; `None`: it has no valid library.
pub(crate) fn kind(platform: &Platform) -> Option<Library> {
    let mut libraries = platform.libraries.iter();
    libraries.find_map(|library| Library::of(library).ok())
}

/// Treatment of a platform's file.
#[derive(Debug)]
pub(crate) enum Client {
    /// The file is written.
    Write(Fcd),
    /// The file exists already.
    There(PathBuf),
    /// Another file serves its boards, too.
    Served { by: PathBuf, instead_of: PathBuf },
    /// The runtime of this version does not read such a file.
    Linked,
}

/// Decides about the file, for the time after the files in `without` are removed.
///
/// # Errors
/// A file that is not Peerlane's is in its place, or another platform's file leads the same runtime to a library for
/// which it ends the program.
pub(crate) fn client(
    machine: &Machine,
    platform: &Platform,
    kind: Library,
    directory: Option<&Path>,
    without: &[PathBuf],
) -> Result<Client> {
    let Some(form) = Form::of(kind, platform) else {
        return Ok(Client::Linked);
    };
    let fcd = Fcd::of(machine, platform, directory, form)?;
    let there = fcd.there()?;
    if let Some(other) = fcd.other_of(kind.opposite(), without) {
        return Err(Failure::new(
            format!(
                "{} leads to {}, and this platform has {}",
                other.display(),
                kind.opposite().text(),
                kind.text()
            ),
            "A runtime loads all libraries that these files name, and ends the program at a library for another \
             runtime. Uninstall that platform first. Or put this platform's file into a directory of its own \
             (--fcd-dir), which programs name with ACL_BOARD_VENDOR_PATH.",
        ));
    }
    Ok(match (there, fcd.other_of(kind, without)) {
        (Some(true), _) => Client::There(fcd.path),
        // A second file would show each board twice.
        (None, Some(by)) => Client::Served {
            by,
            instead_of: fcd.path,
        },
        _ => Client::Write(fcd),
    })
}

/// Lists files of a platform that have no use any more: those of the form that its runtime does not read.
pub(crate) fn misplaced(
    machine: &Machine,
    platform: &Platform,
    kind: Library,
    directory: Option<&Path>,
) -> Vec<Fcd> {
    let wanted = Form::of(kind, platform);
    let others = Form::ALL.into_iter().filter(|form| Some(*form) != wanted);
    let files = others.filter_map(|form| Fcd::of(machine, platform, directory, form).ok());
    files
        .filter(|fcd| matches!(fcd.there(), Ok(Some(true))))
        .collect()
}
