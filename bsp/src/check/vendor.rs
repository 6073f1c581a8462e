//! What the vendor's BSP was, kept in the extended platform. The check compares the result with it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::build::{digest, digest_of};
use crate::check::read::design::Design;
use crate::check::read::settings::{Files, normal};
use crate::check::read::{Node, xml};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::kept::{self, Entry, Record, Tree};
use crate::layout::Layout;

/// Most links that lead to each other.
const MOST_LINKS: usize = 40;

/// The path of a file of the BSP from its hardware directory.
pub fn from_hardware(layout: &Layout, path: &Path) -> PathBuf {
    from(
        &layout.hardware,
        path.strip_prefix(&layout.root).unwrap_or(path),
    )
}

/// The path from a directory; both are relative to the same.
fn from(hardware: &Path, path: &Path) -> PathBuf {
    if let Ok(inside) = path.strip_prefix(hardware) {
        return inside.to_path_buf();
    }
    let up: PathBuf = hardware.components().map(|_| "..").collect();
    up.join(path)
}

/// The vendor's BSP.
#[derive(Debug)]
pub struct Vendor {
    kept: PathBuf,
    hardware: PathBuf,
    tree: Tree,
    /// Files by their path from the hardware directory: those outside of it begin with `..`.
    files: BTreeMap<PathBuf, String>,
    /// Names by hash, of files with content.
    names: BTreeMap<String, String>,
}

impl Vendor {
    /// Reads what was kept.
    ///
    /// # Errors
    /// Those of [`Record::read`].
    pub fn read(layout: &Layout) -> Result<Self> {
        let record = Record::read(&layout.root)?;
        let hardware = record.vendor_hardware();
        let mut files = BTreeMap::new();
        let mut names = BTreeMap::new();
        let empty = digest(b"");
        for (name, entry) in &record.vendor {
            if let (Entry::File { sha256, .. }, Some(path)) = (entry, kept::path_of(name)) {
                let path = from(&hardware, &path);
                if *sha256 != empty {
                    names.insert(sha256.clone(), path.to_string_lossy().into_owned());
                }
                files.insert(path, sha256.clone());
            }
        }
        Ok(Self {
            kept: layout.root.join(kept::VENDOR),
            hardware,
            tree: record.vendor,
            files,
            names,
        })
    }

    /// The vendor's system in place of a file, if there was one.
    ///
    /// # Errors
    /// Those of [`Design::read`] and [`Vendor::kept`].
    pub fn design(&self, inside: &Path) -> Result<Option<Design>> {
        let kept = self.kept(inside)?;
        kept.map(|path| Design::read(&path)).transpose()
    }

    /// The vendor's XML file in place of a file, if there was one.
    ///
    /// # Errors
    /// Those of [`xml`] and [`Vendor::kept`].
    pub fn xml(&self, inside: &Path) -> Result<Option<Node>> {
        self.kept(inside)?.map(|path| xml(&path)).transpose()
    }

    /// Where the vendor's file in place of a file lies, if there was one.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if it is not the vendor's any more, or gone; [`ErrorKind::Io`].
    pub fn kept(&self, inside: &Path) -> Result<Option<PathBuf>> {
        let Some((path, hash)) = self.file(inside) else {
            return Ok(None);
        };
        let path = self.kept.join(path);
        if path.is_file() && *hash == digest_of(&path)? {
            return Ok(Some(path));
        }
        Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(&path),
            "the vendor's file that was kept here is not the vendor's any more, so nothing can be compared with it",
            "Extend the vendor's BSP again.",
        ))
    }

    /// The hash that a file had; `None` if the vendor had no such file.
    pub fn hash(&self, inside: &Path) -> Option<&str> {
        self.file(inside).map(|(_, hash)| hash)
    }

    /// The file that a path from the hardware directory led to, links followed, and its hash.
    fn file(&self, inside: &Path) -> Option<(PathBuf, &str)> {
        self.below(&self.hardware.join(inside))
    }

    /// The kept file that a path in the kept tree would lead to, were its links there.
    pub fn linked(&self, path: &Path) -> Option<PathBuf> {
        let (file, _) = self.below(path.strip_prefix(&self.kept).ok()?)?;
        Some(self.kept.join(file))
    }

    /// The path of a kept file from the hardware directory.
    pub fn inside(&self, kept: &Path) -> PathBuf {
        from(
            &self.hardware,
            kept.strip_prefix(&self.kept).unwrap_or(kept),
        )
    }

    /// The board's directory as it is kept.
    pub fn hardware(&self) -> PathBuf {
        match self.hardware.as_os_str().is_empty() {
            // With nothing behind it, a join would end in a slash.
            true => self.kept.clone(),
            false => self.kept.join(&self.hardware),
        }
    }

    /// The kept files by their names.
    pub fn by_name(&self) -> Files {
        let mut found = Files::new();
        for path in self.files.keys() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let kept = normal(&self.hardware().join(path));
            found.entry(name.into_owned()).or_default().push(kept);
        }
        found
    }

    /// The file that a path from the root led to, links followed, and its hash.
    fn below(&self, path: &Path) -> Option<(PathBuf, &str)> {
        let parts = |path: &Path| -> Vec<PathBuf> {
            let parts = path.components().rev();
            parts.map(|part| part.as_os_str().into()).collect()
        };
        let mut rest = parts(path);
        let (mut path, mut links) = (PathBuf::new(), 0);
        while let Some(part) = rest.pop() {
            match part.components().next()? {
                Component::CurDir => continue,
                Component::ParentDir if path.pop() => continue,
                Component::Normal(part) => path.push(part),
                _ => return None,
            }
            if let Some(Entry::Link { to }) = self.tree.get(&kept::name(&path)) {
                links += 1;
                let to = kept::path_of(to).filter(|_| links <= MOST_LINKS)?;
                path.pop();
                rest.extend(parts(&to));
            }
        }
        match self.tree.get(&kept::name(&path))? {
            Entry::File { sha256, .. } => Some((path, sha256)),
            _ => None,
        }
    }

    /// The vendor's name of a file with this hash, wherever it was.
    pub fn name_of(&self, hash: &str) -> Option<&str> {
        self.names.get(hash).map(String::as_str)
    }

    /// All files of the vendor's, by their path from the hardware directory.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// All that the vendor's tree has.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Where the vendor's files are.
    pub fn directory(&self) -> &Path {
        &self.kept
    }
}
