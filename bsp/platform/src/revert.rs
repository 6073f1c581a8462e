//! `peerlane revert`: restores the vendor's tree, byte for byte, from an extended platform alone.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::interrupt;
use crate::kept::{self, Entry, Origin, Record, Tree};
use crate::layout::Layout;
use crate::output;

/// Most changes that an error lists one by one.
const MOST: usize = 12;

/// Options of [`revert`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The extended platform, or its board's directory. It is only read.
    pub bsp: PathBuf,
    /// The directory to make.
    pub out: PathBuf,
    /// Whether to revert even if files of the platform were changed since, without these changes.
    pub without_edits: bool,
}

/// The difference of a file of the platform from the one that `peerlane extend` wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Other content.
    Changed,
    /// Gone.
    Removed,
    /// New.
    Added,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Added => "added",
        })
    }
}

/// The result of [`revert`].
#[derive(Debug, Clone)]
pub struct Reverted {
    /// Origin of the tree.
    pub origin: Origin,
    /// Number of files.
    pub files: usize,
    /// Changes of the platform that the tree does not have, by the path from the platform.
    pub edits: Vec<(PathBuf, Edit)>,
}

/// Restores the vendor's tree. On failure it leaves no files.
///
/// # Errors
/// [`ErrorKind::NotABsp`] if the BSP is not extended; [`ErrorKind::Edited`] if files were changed since;
/// [`ErrorKind::Inconsistent`] if the stored data is damaged; [`ErrorKind::Output`], [`ErrorKind::Interrupted`],
/// [`ErrorKind::Io`].
pub fn revert(options: &Options) -> Result<Reverted> {
    let bsp = fs::canonicalize(&options.bsp).unwrap_or_else(|_| options.bsp.clone());
    revert_from(&bsp, options).map_err(|e| e.named_as_given(&bsp, &options.bsp))
}

fn revert_from(bsp: &Path, options: &Options) -> Result<Reverted> {
    let root = Layout::root_of_result(bsp)?;
    let record = Record::read(&root)?;
    let parent = output::check_output(&options.out, &root)?;
    let edits = edits(&root, &record.made)?;
    if !options.without_edits && !edits.is_empty() {
        return Err(edited(&root, &edits));
    }
    let temporary = tempfile::Builder::new()
        .prefix(".peerlane-revert-")
        .tempdir_in(&parent)
        .map_err(|e| output::not_writable(&parent, &e))?;
    write(&record.vendor, &root.join(kept::VENDOR), temporary.path())
        .map_err(|e| e.named_as_given(temporary.path(), &options.out))?;
    interrupt::check(&options.out)?;

    let path = temporary.keep();
    let placed = directory_modes(&record.vendor, &path)
        .and_then(|()| output::put(&path, &options.out, "the finished tree"));
    if let Err(error) = placed {
        remove(&record.vendor, &path);
        return Err(error);
    }
    let is_file = |entry: &&Entry| matches!(entry, Entry::File { .. });
    Ok(Reverted {
        origin: record.origin,
        files: record.vendor.values().filter(is_file).count(),
        edits,
    })
}

/// The vendor's tree in a temporary directory; it is removed with this value.
#[derive(Debug)]
pub struct Restored {
    tree: Tree,
    path: PathBuf,
}

impl Restored {
    /// Restores the vendor's tree of a platform into a new directory.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if the stored data is damaged; [`ErrorKind::Interrupted`], [`ErrorKind::Io`].
    pub fn new(root: &Path, record: &Record, to: &Path) -> Result<Self> {
        let restored = Self {
            tree: record.vendor.clone(),
            path: to.to_path_buf(),
        };
        write(&restored.tree, &root.join(kept::VENDOR), to)?;
        directory_modes(&restored.tree, to)?;
        Ok(restored)
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        remove(&self.tree, &self.path);
    }
}

fn edited(root: &Path, edits: &[(PathBuf, Edit)]) -> Error {
    let shown = edits.iter().take(MOST);
    let shown: Vec<_> = shown
        .map(|(path, edit)| format!("{} ({edit})", path.display()))
        .collect();
    let more = match edits.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Error::new(
        ErrorKind::Edited,
        Place::file(root),
        format!(
            "edited after it was extended, and the vendor's tree has none of the edits: {}{more}",
            shown.join(", ")
        ),
        "Save the edits that you need, then use --without-edits; the platform itself stays unchanged.",
    )
}

/// Compares a platform with the written one. Directories and permissions are ignored.
///
/// # Errors
/// Those of [`kept::tree`].
pub fn edits(root: &Path, made: &Tree) -> Result<Vec<(PathBuf, Edit)>> {
    let now = kept::tree(root, &kept::is_kept)?;
    let same = |a: &Entry, b: &Entry| match (a, b) {
        (Entry::File { sha256: a, .. }, Entry::File { sha256: b, .. }) => a == b,
        (Entry::Link { to: a }, Entry::Link { to: b }) => a == b,
        (Entry::Directory { .. }, Entry::Directory { .. }) => true,
        _ => false,
    };
    let counts = |entry: &Entry| !matches!(entry, Entry::Directory { .. });
    let mut found = Vec::new();
    for (name, was) in made {
        match now.get(name) {
            Some(is) if same(was, is) => {}
            Some(_) => found.push((name, Edit::Changed)),
            None if counts(was) => found.push((name, Edit::Removed)),
            None => {}
        }
    }
    let new = now
        .iter()
        .filter(|(name, is)| counts(is) && !made.contains_key(*name));
    found.extend(new.map(|(name, _)| (name, Edit::Added)));
    found.sort_by_key(|(name, _)| *name);
    let path = |name: &String| kept::path_of(name).unwrap_or_else(|| name.into());
    Ok(found
        .iter()
        .map(|(name, edit)| (path(name), *edit))
        .collect())
}

/// Writes a tree without the permissions of its directories, and compares it with the record.
fn write(tree: &Tree, from: &Path, to: &Path) -> Result<()> {
    for (path, entry) in entries(tree, to) {
        if matches!(entry, Entry::Directory { .. }) {
            fs::create_dir_all(&path).map_err(|e| Error::io(&path, "make the directory", &e))?;
        }
    }
    kept::copy_files(tree, from, to)?;
    // Last, so that nothing is written through them.
    for (path, entry) in entries(tree, to) {
        if let Entry::Link { to } = entry {
            let to = kept::path_of(to).unwrap_or_default();
            std::os::unix::fs::symlink(to, &path)
                .map_err(|e| Error::io(&path, "make the link", &e))?;
        }
    }
    let made = kept::tree(to, &|_| false)?;
    let directory = |entry: &Entry| matches!(entry, Entry::Directory { .. });
    let same = |(name, entry): (&String, &Entry)| {
        let is = made.get(name);
        is == Some(entry) || (directory(entry) && is.is_some_and(directory))
    };
    match tree.iter().find(|entry| !same(*entry)) {
        None if made.len() == tree.len() => Ok(()),
        odd => Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(to.join(odd.map_or("", |(name, _)| name))),
            "the written file differs from the vendor's",
            "Check the disk and the file system, then run the command again.",
        )),
    }
}

/// Returns the entries of a tree, with the path of each in a directory.
fn entries<'a>(
    tree: &'a Tree,
    to: &'a Path,
) -> impl DoubleEndedIterator<Item = (PathBuf, &'a Entry)> {
    tree.iter().map(|(name, entry)| {
        let inside = kept::path_of(name).unwrap_or_default();
        // `join` with an empty path would end in a slash.
        match inside.as_os_str().is_empty() {
            true => (to.to_path_buf(), entry),
            false => (to.join(inside), entry),
        }
    })
}

/// Sets the permissions of the directories, from the inside to the outside: nothing can be made in a directory without
/// the permission to write.
fn directory_modes(tree: &Tree, to: &Path) -> Result<()> {
    for (path, entry) in entries(tree, to).rev() {
        if let Entry::Directory { mode } = entry {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode.0))
                .map_err(|e| Error::io(&path, "set the permissions", &e))?;
        }
    }
    Ok(())
}

/// Removes a tree that could not be moved to its place, or has none. This process made it; a failure has no better handling.
fn remove(tree: &Tree, path: &Path) {
    for (path, entry) in entries(tree, path) {
        if matches!(entry, Entry::Directory { .. }) {
            let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
        }
    }
    let _ = fs::remove_dir_all(path);
}
