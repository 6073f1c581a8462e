//! The data in an extended platform from which the vendor's tree can be restored: all of its files, and a record of
//! both trees.
//!
//! The vendor's files lie in `peerlane/vendor`, outside the board's directory, which `aoc` copies for each compile.
//! Directories, links, permissions and hashes are in `peerlane/files.json`, with the hashes of the written files. The
//! record has a hash of itself, against accidents. It does not protect against intent: anyone can compute it again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::hash::{digest, digest_of};
use crate::interrupt;
use crate::layout::{self, Layout};

/// Directory of the stored data, in the platform's root.
pub const DIR: &str = "peerlane";
/// The record.
pub const RECORD: &str = "peerlane/files.json";
/// The vendor's files.
pub const VENDOR: &str = "peerlane/vendor";

const AGAIN: &str = "Extend the vendor's BSP again.";

impl Layout {
    /// Takes a platform that `peerlane extend` wrote, or its hardware directory.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`], and those of [`Record::read`].
    pub fn of_result(dir: &Path) -> Result<Self> {
        let Ok(root) = Self::root_of_result(dir) else {
            return Self::find(dir);
        };
        let hardware = Record::read(&root)?.hardware();
        Ok(Self { root, hardware })
    }

    /// Returns the platform that `peerlane extend` wrote, from its directory or its hardware directory.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`].
    pub fn root_of_result(dir: &Path) -> Result<PathBuf> {
        if dir.join(RECORD).is_file() {
            return Ok(dir.to_path_buf());
        }
        let here = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        let above = here.ancestors().skip(1);
        let mut results = above.filter(|root| root.join(RECORD).is_file());
        let of = |root: &Path| Record::read(root).map(|record| root.join(record.hardware()));
        match results.next() {
            Some(root) if of(root).is_ok_and(|hardware| hardware == here) => Ok(root.to_path_buf()),
            _ => Err(Error::new(
                ErrorKind::NotABsp,
                Place::file(dir),
                format!(
                    "no {}: `peerlane extend` did not write this platform",
                    RECORD
                ),
                "Name the directory that was --out of `peerlane extend`.",
            )),
        }
    }
}

/// Permissions as `chmod` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:o}", self.0))
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match u32::from_str_radix(&text, 8) {
            Ok(mode @ 0..=0o7777) => Ok(Self(mode)),
            _ => Err(serde::de::Error::custom("permissions from 0 to 7777")),
        }
    }
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Entry {
    /// A directory.
    Directory {
        /// Permissions.
        mode: Mode,
    },
    /// A file.
    File {
        /// Permissions.
        mode: Mode,
        /// SHA-256 of its content.
        sha256: String,
    },
    /// A symbolic link.
    Link {
        /// Its target, as [`name`] writes it.
        to: String,
    },
}

/// Everything in a directory, and the directory itself, which has the empty name; the keys are the [`name`] of the path
/// from there.
pub type Tree = BTreeMap<String, Entry>;

/// Returns a path as text, without loss: bytes that are not UTF-8, and `%`, become `%` and two hexadecimal digits.
pub fn name(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text += &chunk.valid().replace('%', "%25");
        for byte in chunk.invalid() {
            text += &format!("%{byte:02X}");
        }
    }
    text
}

/// Returns the path that [`name`] wrote; `None` if the text is not such a name.
pub fn path_of(name: &str) -> Option<PathBuf> {
    let mut parts = name.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = (part.get(..2)?, &part.as_bytes()[2..]);
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend(rest);
    }
    Some(OsString::from_vec(bytes).into())
}

/// Reads a tree. Links are not followed; paths (from `root`) for which `skip` is true are left out.
///
/// # Errors
/// [`ErrorKind::Link`] for anything other than a file, a directory or a link; [`ErrorKind::Io`].
pub fn tree(root: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Tree> {
    let mode = |path: &Path| {
        let about = fs::metadata(path).map_err(|e| Error::io(path, "inspect the path", &e))?;
        Ok(Mode(about.mode() & 0o7777))
    };
    let mut found = Tree::from([(String::new(), Entry::Directory { mode: mode(root)? })]);
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let dir = root.join(&below);
        let failed = |e| Error::io(&dir, "list the directory", &e);
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, inside) = (entry.path(), below.join(entry.file_name()));
            interrupt::check(&path)?;
            if skip(&inside) {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            let what = if kind.is_dir() {
                open.push(inside.clone());
                Entry::Directory { mode: mode(&path)? }
            } else if kind.is_symlink() {
                let to = fs::read_link(&path).map_err(|e| Error::io(&path, "read the link", &e))?;
                Entry::Link { to: name(&to) }
            } else if kind.is_file() {
                let sha256 = digest_of(&path)?;
                let mode = mode(&path)?;
                Entry::File { mode, sha256 }
            } else {
                return Err(Error::new(
                    ErrorKind::Link,
                    Place::file(&path),
                    "neither a file, a directory nor a link",
                    "Remove it from the BSP.",
                ));
            };
            found.insert(name(&inside), what);
        }
    }
    Ok(found)
}

/// Copies the files of a tree that was read from `from` into `to`, each to its path in the tree.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] for a file that has changed since the tree was read; [`ErrorKind::Io`].
pub fn copy_files(tree: &Tree, from: &Path, to: &Path) -> Result<()> {
    for (name, entry) in tree {
        let Entry::File { mode, sha256 } = entry else {
            continue;
        };
        let inside = inside(name)
            .ok_or_else(|| damaged(from, &format!("\"{name}\" is not a valid name")))?;
        let (source, target) = (from.join(&inside), to.join(&inside));
        interrupt::check(&source)?;
        let dir = target.parent().unwrap_or(to);
        fs::create_dir_all(dir).map_err(|e| Error::io(dir, "make the directory", &e))?;
        let plain = fs::symlink_metadata(&source).is_ok_and(|about| about.is_file());
        if !plain {
            return Err(changed(&source, "does not exist any more"));
        }
        fs::copy(&source, &target).map_err(|e| Error::copy(&source, &target, &e))?;
        if digest_of(&target)? != *sha256 {
            return Err(changed(&source, "was changed since it was recorded"));
        }
        fs::set_permissions(&target, fs::Permissions::from_mode(mode.0))
            .map_err(|e| Error::io(&target, "set the permissions", &e))?;
    }
    Ok(())
}

fn changed(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        Place::file(path),
        format!("the vendor's file {what}"),
        AGAIN,
    )
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        Place::file(path),
        format!("the record of the vendor's files is damaged: {what}"),
        AGAIN,
    )
}

/// Returns the path of a name, if it stays below its root.
fn inside(name: &str) -> Option<PathBuf> {
    let path = path_of(name)?;
    let below = |part| matches!(part, Component::Normal(_));
    path.components().all(below).then_some(path)
}

/// Origin of a platform without the block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The board's vendor.
    #[default]
    Vendor,
    /// `peerlane new`, which wrote it from a description of the board.
    New,
}

impl Origin {
    /// Returns the origin of a board; one that `peerlane new` makes has a title.
    pub fn of(title: Option<&str>) -> Self {
        match title {
            Some(_) => Self::New,
            None => Self::Vendor,
        }
    }

    /// Returns the command that wrote the platform with the block.
    pub fn command(self) -> &'static str {
        match self {
            Self::Vendor => "peerlane extend",
            Self::New => "peerlane new",
        }
    }
}

/// The request from which a platform was made. Together with the vendor's tree it determines each of the platform's
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Title of a board that `peerlane new` made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The configuration that was asked for, as JSON: the extension chooses the port if it names none.
    pub config: String,
    /// The platform around a board's directory that was extended alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Around>,
}

/// The facts that an extension reads from the platform around a board's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// The board's directory in that platform, as [`name`] writes it.
    pub hardware: String,
    /// Its `board_env.xml`.
    pub environment: String,
    /// Names of its other boards.
    pub boards: Vec<String>,
    /// Libraries in the directories that it names for the linker; a directory ends in a slash.
    pub libraries: Vec<String>,
}

/// Both trees: the vendor's, and the platform that was made from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Origin of the vendor's tree.
    #[serde(default)]
    pub origin: Origin,
    /// The request; older versions of Peerlane did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The board's directory in the vendor's tree; empty if it is the tree itself.
    vendor_hardware: String,
    /// The board's directory in the platform.
    hardware: String,
    /// The vendor's tree.
    pub vendor: Tree,
    /// The platform as it was written, without [`DIR`].
    pub made: Tree,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    /// SHA-256 of the record.
    sha256: String,
    record: Record,
}

impl Record {
    /// Makes the record of a platform that was just written.
    ///
    /// # Errors
    /// Those of [`tree`].
    pub fn new(
        origin: Origin,
        vendor: &Layout,
        tree_of_vendor: Tree,
        made: &Layout,
    ) -> Result<Self> {
        Ok(Self {
            origin,
            request: None,
            vendor_hardware: name(&vendor.hardware),
            hardware: name(&made.hardware),
            vendor: tree_of_vendor,
            made: tree(&made.root, &is_kept)?,
        })
    }

    /// Returns the record as it is written.
    pub fn json(self) -> String {
        let sealed = Sealed {
            sha256: self.seal(),
            record: self,
        };
        let mut text = serde_json::to_string_pretty(&sealed).expect("plain data only");
        text.push('\n');
        text
    }

    fn seal(&self) -> String {
        digest(&serde_json::to_vec(self).expect("plain data only"))
    }

    /// Reads the record of a platform.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if there is no record, [`ErrorKind::Inconsistent`] if it was changed.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join(RECORD);
        if !fs::symlink_metadata(&path).is_ok_and(|about| about.is_file()) {
            return Err(Error::new(
                ErrorKind::NotABsp,
                Place::file(root),
                format!("no {RECORD}: `peerlane extend` did not write this platform"),
                "Name the directory that was --out of `peerlane extend`.",
            ));
        }
        let bytes = fs::read(&path).map_err(|e| Error::io(&path, "read the file", &e))?;
        Self::parse(&path, &bytes)
    }

    /// Reads a record that came from `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if it was changed, or names a path that has no place in a tree.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let sealed: Sealed = serde_json::from_slice(bytes).map_err(|e| {
            let mut error = damaged(path, &e.to_string());
            error.place.line = Some(e.line().max(1));
            error
        })?;
        let record = sealed.record;
        if record.seal() != sealed.sha256 {
            return Err(damaged(path, "it was changed since it was written"));
        }
        // Each path must be in a directory of the tree, not in the target of a link.
        let directory =
            |name: &str| matches!(record.vendor.get(name), Some(Entry::Directory { .. }));
        let above = |name: &str| match name.rsplit_once('/') {
            Some((dir, last)) => !last.is_empty() && directory(dir),
            None => directory(""),
        };
        for name in record.vendor.keys() {
            if inside(name).is_none() || !above(name) {
                return Err(damaged(path, &format!("\"{name}\" does not belong in it")));
            }
        }
        let request = record.request.as_ref();
        let around = request.and_then(|request| request.around.as_ref());
        let directories = [&record.vendor_hardware, &record.hardware];
        let around = around.map(|around| &around.hardware);
        for name in directories.into_iter().chain(around) {
            if inside(name).is_none() {
                return Err(damaged(
                    path,
                    &format!("\"{name}\" is not a directory in it"),
                ));
            }
        }
        Ok(record)
    }

    /// Returns the board's directory in the vendor's tree.
    pub fn vendor_hardware(&self) -> PathBuf {
        inside(&self.vendor_hardware).unwrap_or_default()
    }

    /// Returns the path in the vendor's tree for one in the platform.
    pub fn in_vendors_tree(&self, inside: &Path) -> PathBuf {
        layout::place(inside, (&self.hardware(), &self.vendor_hardware()))
    }

    /// Returns the board's directory in the platform.
    pub fn hardware(&self) -> PathBuf {
        inside(&self.hardware).unwrap_or_default()
    }
}

/// Returns the hash of a vendor's tree, which is in the record of the build, too.
pub fn digest_of_tree(tree: &Tree) -> String {
    digest(&serde_json::to_vec(tree).expect("plain data only"))
}

/// Reports whether a path of the platform belongs to the stored data.
pub fn is_kept(inside: &Path) -> bool {
    inside == Path::new(DIR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_without_loss() {
        for bytes in [
            &b""[..],
            b"a/b",
            b"100%",
            b"%41",
            b"\xff\xfe/x",
            "ü%/\u{fffd}".as_bytes(),
            b"a\xc3",
        ] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(path_of(&name(&path)), Some(path));
        }
        assert_eq!(name(Path::new("a%\u{fc}")), "a%25\u{fc}");
        for wrong in ["%", "%4", "%zz", "a%\u{fc}"] {
            assert_eq!(path_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nothing_leaves_the_tree() {
        for wrong in ["..", "a/../b", "/etc", "%2E%2E/x", "%2Fetc"] {
            assert_eq!(inside(wrong), None, "{wrong}");
        }
    }
}
