//! What the vendor's BSP was, kept in the extended one: the files that the extension replaces, as they were, and the
//! hash of every other file. The check compares the result with them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::build::{digest, digest_of};
use crate::check::read::design::Design;
use crate::check::read::{Node, xml};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::layout::{Layout, SCRIPT_DIR};
use crate::text;

/// Behind the names of files that are kept, so that no tool takes them for its own.
const SUFFIX: &str = ".vendor";
const AGAIN: &str = "Extend the vendor's BSP again.";

/// Directory of what is kept, in the hardware directory.
fn directory() -> PathBuf {
    Path::new(SCRIPT_DIR).join("vendor")
}

/// Directory of what is kept of the BSP outside of the hardware directory.
fn directory_outside() -> PathBuf {
    Path::new(SCRIPT_DIR).join("vendor_platform")
}

/// Where a file is kept, by its path from the hardware directory.
fn kept_at(inside: &Path) -> PathBuf {
    let outside: PathBuf = inside
        .components()
        .skip_while(|part| *part == Component::ParentDir)
        .collect();
    let mut name = match outside == inside {
        true => directory().join(inside),
        false => directory_outside().join(outside),
    }
    .into_os_string();
    name.push(SUFFIX);
    name.into()
}

/// The path of a file of the BSP from its hardware directory.
pub fn from_hardware(layout: &Layout, path: &Path) -> PathBuf {
    let hardware = layout.hardware_dir();
    if let Ok(inside) = path.strip_prefix(&hardware) {
        return inside.to_path_buf();
    }
    let up: PathBuf = layout.hardware.components().map(|_| "..").collect();
    up.join(path.strip_prefix(&layout.root).unwrap_or(path))
}

/// Whether a file is kept although the extension does not name it: what it does not know that it changed must not be
/// lost to the check.
fn always(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let by_kind = path.extension().is_some_and(|e| {
        ["qsys", "qsf", "qpf", "ipx"]
            .iter()
            .any(|kind| e.eq_ignore_ascii_case(kind))
    });
    by_kind || matches!(name.as_ref(), "board_spec.xml" | "board_env.xml")
}

/// A file to be kept, with its path in the hardware directory.
pub type Kept = (PathBuf, String);

/// Hashes of the vendor's files.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hashes {
    /// SHA-256 by the path from the hardware directory: those outside of it begin with `..`.
    sha256: BTreeMap<String, String>,
}

/// Files to be added to an extended BSP: those of the vendor's that are replaced or that the check compares, and the
/// hashes of all.
///
/// # Errors
/// [`ErrorKind::Io`]; those of [`text::read`] for a file that is replaced.
pub fn keep<'a>(layout: &Layout, replaced: impl Iterator<Item = &'a Path>) -> Result<Vec<Kept>> {
    let hardware = layout.hardware_dir();
    let mut kept = BTreeMap::new();
    for path in replaced {
        kept.insert(kept_at(path), text::read(&hardware.join(path))?);
    }
    let mut hashes = Hashes::default();
    layout.entries(|path, _| {
        // A link may become a file; one that leads nowhere, or to something else, is none.
        if !path.is_file() {
            return Ok(());
        }
        let inside = from_hardware(layout, path);
        let name = inside.to_string_lossy().into_owned();
        hashes.sha256.insert(name, digest_of(path)?);
        let at = kept_at(&inside);
        if always(path) && !kept.contains_key(&at) {
            // What cannot be read is no part of a design that can.
            if let Ok(text) = text::read(path) {
                kept.insert(at, text);
            }
        }
        Ok(())
    })?;
    let mut json = serde_json::to_string_pretty(&hashes).expect("the hashes hold plain data only");
    json.push('\n');
    kept.insert(directory().join("files.json"), json);
    Ok(kept.into_iter().collect())
}

/// The vendor's BSP as far as it was kept.
#[derive(Debug)]
pub struct Vendor {
    hardware: PathBuf,
    hashes: Hashes,
    /// Names by hash, of files with content.
    names: BTreeMap<String, String>,
}

impl Vendor {
    /// Reads what was kept.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if nothing was, or it is damaged.
    pub fn read(hardware: &Path) -> Result<Self> {
        let path = hardware.join(directory()).join("files.json");
        let json = text::read(&path)?;
        let hashes: Hashes = serde_json::from_str(&json).map_err(|e| {
            Error::new(
                ErrorKind::Inconsistent,
                Place::line(&path, e.line().max(1)),
                format!("the hashes of the vendor's files are damaged: {e}"),
                AGAIN,
            )
        })?;
        let empty = digest(b"");
        let names = hashes.sha256.iter().filter(|(_, hash)| **hash != empty);
        let names = names.map(|(name, hash)| (hash.clone(), name.clone()));
        Ok(Self {
            hardware: hardware.to_path_buf(),
            names: names.collect(),
            hashes,
        })
    }

    /// The vendor's system in place of a file, if it was kept.
    ///
    /// # Errors
    /// Those of [`Design::read`]; [`ErrorKind::Inconsistent`] if it is not the vendor's any more.
    pub fn design(&self, inside: &Path) -> Result<Option<Design>> {
        let kept = self.kept(inside)?;
        kept.map(|path| Design::read(&path)).transpose()
    }

    /// The vendor's XML file in place of a file, if it was kept.
    ///
    /// # Errors
    /// Those of [`xml`]; [`ErrorKind::Inconsistent`] if it is not the vendor's any more.
    pub fn xml(&self, inside: &Path) -> Result<Option<Node>> {
        self.kept(inside)?.map(|path| xml(&path)).transpose()
    }

    /// Where the vendor's file in place of a file lies, if it was kept.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if it is not the vendor's any more; [`ErrorKind::Io`].
    pub fn kept(&self, inside: &Path) -> Result<Option<PathBuf>> {
        let path = self.hardware.join(kept_at(inside));
        if !path.is_file() {
            return Ok(None);
        }
        if self.hash(inside) == Some(digest_of(&path)?.as_str()) {
            return Ok(Some(path));
        }
        Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(&path),
            "the vendor's file that was kept here is not the vendor's any more, so nothing can be compared with it",
            AGAIN,
        ))
    }

    /// The hash that a file had; `None` if the vendor had no such file.
    pub fn hash(&self, inside: &Path) -> Option<&str> {
        let name = inside.to_string_lossy();
        self.hashes.sha256.get(name.as_ref()).map(String::as_str)
    }

    /// The vendor's name of a file with this hash, wherever it was.
    pub fn name_of(&self, hash: &str) -> Option<&str> {
        self.names.get(hash).map(String::as_str)
    }

    /// All files of the vendor's, by their path from the hardware directory.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.hashes.sha256.keys().map(String::as_str)
    }
}
