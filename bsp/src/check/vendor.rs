//! What the vendor's BSP was, kept in the extended one: the files that the extension replaces, as they were, and the
//! hash of every other file. The check compares the result with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::build::digest_of;
use crate::check::read::design::Design;
use crate::check::read::{Node, xml};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::layout::{Layout, SCRIPT_DIR};
use crate::{interrupt, text};

/// Behind the names of files that are kept, so that no tool takes them for its own.
const SUFFIX: &str = ".vendor";

/// Directory of what is kept, in the hardware directory.
fn directory() -> PathBuf {
    Path::new(SCRIPT_DIR).join("vendor")
}

/// A file to be kept, with its path in the hardware directory.
pub type Kept = (PathBuf, String);

/// Hashes of the vendor's files.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hashes {
    /// SHA-256 by the path in the hardware directory.
    sha256: BTreeMap<String, String>,
}

/// Files to be added to an extended BSP: those of the vendor's hardware directory that are replaced, and the hashes.
///
/// # Errors
/// [`ErrorKind::Io`], those of [`text::read`].
pub fn keep<'a>(layout: &Layout, replaced: impl Iterator<Item = &'a Path>) -> Result<Vec<Kept>> {
    let hardware = layout.hardware_dir();
    let mut kept = Vec::new();
    for path in replaced {
        let mut name = directory().join(path).into_os_string();
        name.push(SUFFIX);
        kept.push((name.into(), text::read(&hardware.join(path))?));
    }
    let mut hashes = Hashes::default();
    let mut open = vec![hardware.clone()];
    while let Some(dir) = open.pop() {
        let failed = |e| Error::io(&dir, "list the directory", &e);
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            interrupt::check(&path)?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let inside = path.strip_prefix(&hardware).unwrap_or(&path);
                let name = inside.to_string_lossy().into_owned();
                hashes.sha256.insert(name, digest_of(&path)?);
            }
        }
    }
    let mut json = serde_json::to_string_pretty(&hashes).expect("the hashes hold plain data only");
    json.push('\n');
    kept.push((directory().join("files.json"), json));
    Ok(kept)
}

/// The vendor's BSP as far as it was kept.
#[derive(Debug)]
pub struct Vendor {
    directory: PathBuf,
    hashes: Hashes,
}

impl Vendor {
    /// Reads what was kept.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if nothing was, or it is damaged.
    pub fn read(hardware: &Path) -> Result<Self> {
        let directory = hardware.join(directory());
        let path = directory.join("files.json");
        let json = text::read(&path)?;
        let hashes = serde_json::from_str(&json).map_err(|e| {
            Error::new(
                ErrorKind::Inconsistent,
                Place::line(&path, e.line().max(1)),
                format!("the hashes of the vendor's files are damaged: {e}"),
                "Extend the vendor's BSP again.",
            )
        })?;
        Ok(Self { directory, hashes })
    }

    /// The vendor's system in place of a file, if the extension replaced it.
    ///
    /// # Errors
    /// Those of [`Design::read`].
    pub fn design(&self, inside: &Path) -> Result<Option<Design>> {
        self.kept(inside)
            .map(|path| Design::read(&path))
            .transpose()
    }

    /// The vendor's XML file in place of a file, if the extension replaced it.
    ///
    /// # Errors
    /// Those of [`xml`].
    pub fn xml(&self, inside: &Path) -> Result<Option<Node>> {
        self.kept(inside).map(|path| xml(&path)).transpose()
    }

    fn kept(&self, inside: &Path) -> Option<PathBuf> {
        let mut name = self.directory.join(inside).into_os_string();
        name.push(SUFFIX);
        Some(PathBuf::from(name)).filter(|path| path.is_file())
    }

    /// The hash that a file had; `None` if the vendor had no such file.
    pub fn hash(&self, inside: &Path) -> Option<&str> {
        let name = inside.to_string_lossy();
        self.hashes.sha256.get(name.as_ref()).map(String::as_str)
    }
}
