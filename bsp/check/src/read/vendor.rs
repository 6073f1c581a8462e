//! The vendor's BSP as it was, stored in the extended platform. The check compares the result with it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::read::design::Design;
use crate::read::settings::{Files, normal};
use crate::read::{Node, xml};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hash::{digest, digest_of};
use peerlane_bsp_platform::kept::{self, Entry, Record, Tree};
use peerlane_bsp_platform::layout::Layout;

/// Longest chain of links.
const MOST_LINKS: usize = 40;

/// Returns the path of a file of the BSP from its hardware directory.
pub fn from_hardware(layout: &Layout, path: &Path) -> PathBuf {
    from(
        &layout.hardware,
        path.strip_prefix(&layout.root).unwrap_or(path),
    )
}

/// Returns a path relative to a directory; both are given relative to the same directory.
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
    /// Hashes of files by their path from the hardware directory; a path outside it begins with `..`.
    files: BTreeMap<PathBuf, String>,
    /// Names by hash, of files that are not empty.
    names: BTreeMap<String, String>,
}

impl Vendor {
    /// Reads the record of the stored files.
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

    /// Returns the vendor's system in place of a file, if it exists.
    ///
    /// # Errors
    /// Those of [`Design::read`] and [`Vendor::kept`].
    pub fn design(&self, inside: &Path) -> Result<Option<Design>> {
        let kept = self.kept(inside)?;
        kept.map(|path| Design::read(&path)).transpose()
    }

    /// Returns the vendor's XML file in place of a file, if it exists.
    ///
    /// # Errors
    /// Those of [`xml`] and [`Vendor::kept`].
    pub fn xml(&self, inside: &Path) -> Result<Option<Node>> {
        self.kept(inside)?.map(|path| xml(&path)).transpose()
    }

    /// Returns the path of the vendor's file in place of a file, if it exists.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if the stored file was changed or is gone; [`ErrorKind::Io`].
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
            "the kept copy of the vendor's file was changed: nothing can be compared with it",
            "Extend the vendor's BSP again.",
        ))
    }

    /// Returns the hash that a file had; `None` if the vendor had no such file.
    pub fn hash(&self, inside: &Path) -> Option<&str> {
        self.file(inside).map(|(_, hash)| hash)
    }

    /// Returns the file that a path from the hardware directory led to, with links followed, and its hash.
    fn file(&self, inside: &Path) -> Option<(PathBuf, &str)> {
        self.below(&self.hardware.join(inside))
    }

    /// Returns the stored file that a path in the stored tree would lead to if the tree had its links.
    pub fn linked(&self, path: &Path) -> Option<PathBuf> {
        let (file, _) = self.below(path.strip_prefix(&self.kept).ok()?)?;
        Some(self.kept.join(file))
    }

    /// Returns the path of a stored file from the hardware directory.
    pub fn inside(&self, kept: &Path) -> PathBuf {
        from(
            &self.hardware,
            kept.strip_prefix(&self.kept).unwrap_or(kept),
        )
    }

    /// Returns the board's directory in the stored tree.
    pub fn hardware(&self) -> PathBuf {
        match self.hardware.as_os_str().is_empty() {
            // `join` with an empty path would end in a slash.
            true => self.kept.clone(),
            false => self.kept.join(&self.hardware),
        }
    }

    /// Returns the stored files by their names.
    pub fn by_name(&self) -> Files {
        let mut found = Files::new();
        for path in self.files.keys() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let kept = normal(&self.hardware().join(path));
            found.entry(name.into_owned()).or_default().push(kept);
        }
        found
    }

    /// Returns the file that a path from the root led to, with links followed, and its hash.
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

    /// Returns the vendor's name of a file with this hash, in any directory.
    pub fn name_of(&self, hash: &str) -> Option<&str> {
        self.names.get(hash).map(String::as_str)
    }

    /// Returns all files of the vendor's, by their path from the hardware directory.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Returns the vendor's tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the directory of the vendor's stored files.
    pub fn directory(&self) -> &Path {
        &self.kept
    }
}
