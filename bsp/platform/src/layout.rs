//! The directories and files of a BSP, and copying them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::interrupt;
use crate::roles::NEW_DMA;
use crate::text;
use crate::xml::Document;

/// Directory of Peerlane's files for the design, in the BSP's IP path.
pub const OWN_DIR: &str = "iface/peerlane";

/// Returns the path of the block's component for Platform Designer, from the hardware directory.
pub fn hw_tcl_path() -> String {
    format!("{OWN_DIR}/{NEW_DMA}_hw.tcl")
}
/// Directory of the scripts.
pub const SCRIPT_DIR: &str = "scripts/peerlane";
/// The report of the extension, with the tasks that are left to a user.
pub const REPORT: &str = "peerlane-report.md";
/// The record of how the block was built, which `peerlane check` reads.
pub const BUILD_FILE: &str = "iface/peerlane/build.json";

/// The description of the board for the kernel driver, in the hardware directory.
pub const BOARD_FILE: &str = "peerlane.board";

/// Examples of logic for the streams, in the hardware directory. Users replace the examples by their own logic.
pub const EXAMPLES: &str = "peerlane_streams.v";

/// A BSP on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The given directory.
    pub root: PathBuf,
    /// The hardware directory, relative to the root; empty if it is the root.
    pub hardware: PathBuf,
}

impl Layout {
    /// Takes a hardware directory, or a BSP root with exactly one below `hardware/`.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`].
    pub fn find(dir: &Path) -> Result<Self> {
        Self::of_board(dir, None)
    }

    /// Takes a hardware directory, or a BSP root with one of that name below `hardware/`; without a name, with one.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`].
    pub fn of_board(dir: &Path, board: Option<&str>) -> Result<Self> {
        let is_asked =
            |path: &Path| board.is_none_or(|board| path.file_name() == Some(board.as_ref()));
        let with_hint = |what: String, more: &str| {
            let hint = format!(
                "Name the BSP's hardware/<board> directory, which has board_spec.xml, top.qsf and the .qsys files, or \
                 a BSP root with one such directory.{more}"
            );
            Error::new(ErrorKind::NotABsp, Place::file(dir), what, hint)
        };
        let not = |what: String| with_hint(what, "");
        if !dir.is_dir() {
            return Err(not("is not a directory".into()));
        }
        if is_hardware(dir) {
            let whole = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
            if let (Some(board), false) = (board, is_asked(&whole)) {
                return Err(not(format!(
                    "is a board's directory, but not that of the board {board}"
                )));
            }
            return Ok(Self {
                root: dir.to_path_buf(),
                hardware: PathBuf::new(),
            });
        }
        let below = boards_directory(dir);
        let mut boards: Vec<PathBuf> = match fs::read_dir(dir.join(&below)) {
            Ok(entries) => entries
                .filter_map(|e| Some(e.ok()?.path()))
                .filter(|p| is_hardware(p))
                .filter_map(|p| Some(below.join(p.file_name()?)))
                .collect(),
            Err(_) => Vec::new(),
        };
        boards.sort();
        let link = |path: &Path| {
            path.ancestors()
                .any(|p| dir.join(p).is_symlink() && p != Path::new(""))
        };
        if let Some(board) = boards.iter().find(|board| link(board)) {
            return Err(Error::new(
                ErrorKind::Link,
                Place::file(dir.join(board)),
                "the board's directory is a link",
                "Replace the link by its directory: the extended board has its own name.",
            ));
        }
        let asked: Vec<&PathBuf> = boards.iter().filter(|board| is_asked(board)).collect();
        match asked.as_slice() {
            [one] => Ok(Self {
                root: dir.to_path_buf(),
                hardware: (*one).clone(),
            }),
            [] if boards.is_empty() => Err(match without_systems(dir) {
                None => not(
                    "is not an OpenCL BSP: no board_spec.xml with .qsys files next to it".into(),
                ),
                Some((board, elsewhere)) => Error::new(
                    ErrorKind::NotABsp,
                    Place::file(board.join("board_spec.xml")),
                    format!("there is no .qsys file next to this file{elsewhere}"),
                    "Put the systems next to board_spec.xml: Peerlane extends a BSP with systems there that have an \
                     instance of Altera's acl_dma. If scripts make the systems, run the scripts first. A BSP for a \
                     card with a shell (DCP, OFS) has PCIe and its DMA in the shell and cannot be extended.",
                ),
            }),
            others => {
                let names: Vec<_> = boards.iter().map(|p| p.display().to_string()).collect();
                let what = match (others, board) {
                    ([], Some(board)) => {
                        format!("has no board {board}; it has {}", names.join(", "))
                    }
                    _ => format!("has several boards ({})", names.join(", ")),
                };
                let more = " `peerlane extend` accepts such a root with --board NAME.";
                Err(with_hint(what, more))
            }
        }
    }

    /// Returns the other boards of the platform, relative to the root. They do not belong to this BSP, and are copied
    /// unchanged.
    pub fn other_boards(&self) -> Vec<PathBuf> {
        let Some(boards) = self.hardware.parent() else {
            return Vec::new();
        };
        let all = fs::read_dir(self.root.join(boards));
        let mut others: Vec<PathBuf> = (all.into_iter().flatten().flatten())
            .filter(|entry| is_hardware(&entry.path()))
            .map(|entry| boards.join(entry.file_name()))
            .filter(|board| *board != self.hardware)
            .collect();
        others.sort();
        others
    }

    /// Returns the hardware directory.
    pub fn hardware_dir(&self) -> PathBuf {
        self.root.join(&self.hardware)
    }

    /// Returns the path, relative to the root, of the file or directory that a path leads to: links are followed.
    ///
    /// # Errors
    /// [`ErrorKind::Link`] if it lies outside the BSP, [`ErrorKind::Io`] if it does not exist.
    pub fn inside(&self, path: &Path) -> Result<PathBuf> {
        let real = |path: &Path| {
            fs::canonicalize(path).map_err(|e| Error::io(path, "inspect the file", &e))
        };
        let whole = real(path)?;
        match whole.strip_prefix(real(&self.root)?) {
            Ok(inside) => Ok(inside.to_path_buf()),
            Err(_) => Err(Error::new(
                ErrorKind::Link,
                Place::file(path),
                format!("it is outside the BSP ({})", whole.display()),
                "Put it into the BSP, or name the BSP's root instead of its hardware directory.",
            )),
        }
    }

    /// Returns all `.qsys` files, sorted. Directories that Quartus makes are left out.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn qsys_files(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        collect(&self.hardware_dir(), &mut |path| {
            if path.extension().is_some_and(|e| e == "qsys") {
                found.push(path.to_path_buf());
            }
        })?;
        found.sort();
        Ok(found)
    }

    /// Returns all files, relative to the root, sorted; links and other boards are left out.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        self.entries(|path, kind| {
            if kind.is_file() {
                found.push(path.strip_prefix(&self.root).unwrap_or(path).to_path_buf());
            }
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    /// Calls `take` for everything below the root except directories and other boards, in any order; links are not
    /// followed.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], and those of `take`.
    pub fn entries(&self, mut take: impl FnMut(&Path, fs::FileType) -> Result<()>) -> Result<()> {
        let others: Vec<PathBuf> = (self.other_boards().iter())
            .map(|board| self.root.join(board))
            .collect();
        let mut open = vec![self.root.clone()];
        while let Some(dir) = open.pop() {
            let failed = |e| Error::io(&dir, "list the directory", &e);
            for entry in fs::read_dir(&dir).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
                interrupt::check(&path)?;
                if kind.is_dir() {
                    open.extend(Some(path).filter(|path| !others.contains(path)));
                } else {
                    take(&path, kind)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the revisions that the project files name, with the place of each.
    ///
    /// # Errors
    /// Those of [`text::read`].
    pub fn revisions(&self) -> Result<Vec<(String, Place)>> {
        let mut revisions = Vec::new();
        for project in with_extension(&self.hardware_dir(), "qpf")? {
            let named = revisions_in(&text::read(&project)?);
            let place = |(name, line)| (name, Place::line(&project, line));
            revisions.extend(named.into_iter().map(place));
        }
        Ok(revisions)
    }

    /// Returns the Quartus settings files next to the project file, sorted. Each may be a revision's.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if the project has none, [`ErrorKind::Io`].
    pub fn settings_files(&self) -> Result<Vec<PathBuf>> {
        let dir = self.hardware_dir();
        let all = with_extension(&dir, "qsf")?;
        if !all.is_empty() {
            return Ok(all);
        }
        if let Some((name, place)) = self.revisions()?.into_iter().next() {
            return Err(Error::new(
                ErrorKind::NotABsp,
                place,
                format!("the revision \"{name}\" has no settings file {name}.qsf"),
                "Name a revision whose .qsf exists, or put the .qsf next to the project file.",
            ));
        }
        Err(Error::new(
            ErrorKind::NotABsp,
            Place::file(&dir),
            "no Quartus settings file (.qsf) of the project",
            "Name the hardware directory with the Quartus project (top.qpf, top.qsf).",
        ))
    }
}

/// Returns the revisions that a project file names, with the line of each: `PROJECT_REVISION = "top"`; the rest of the
/// line is a comment.
pub fn revisions_in(project: &str) -> Vec<(String, usize)> {
    let name = |line: &str| {
        let value = line.trim().strip_prefix("PROJECT_REVISION")?.trim_start();
        let value = value.strip_prefix('=')?.trim();
        let name = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split([' ', '\t', '#']).next(),
        };
        Some(name.unwrap_or_default().to_string())
    };
    let project = project.trim_start_matches(text::BYTE_ORDER_MARK);
    let lines = project.lines().enumerate();
    lines
        .filter_map(|(n, line)| Some((name(line)?, n + 1)))
        .collect()
}

/// Returns the directory of a platform's boards, relative to the platform, as its `board_env.xml` names it (Custom
/// Platform Toolkit user guide 683398, 1.4.2.1).
pub fn boards_directory(platform: &Path) -> PathBuf {
    let environment = Document::read(&platform.join("board_env.xml")).ok();
    let named = environment.and_then(|document| {
        let mut all = document.root.children("hardware");
        let dir = PathBuf::from(all.find_map(|hardware| hardware.attribute("dir"))?);
        let below = dir
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        (below && platform.join(&dir).is_dir()).then_some(dir)
    });
    named.unwrap_or_else(|| "hardware".into())
}

/// Returns a board's directory that has a specification but no system next to it, with words on the place of systems.
fn without_systems(dir: &Path) -> Option<(PathBuf, String)> {
    let entries = |dir: &Path| -> Vec<PathBuf> {
        let all = fs::read_dir(dir).into_iter().flatten().flatten();
        let mut all: Vec<_> = all.map(|entry| entry.path()).collect();
        all.sort();
        all
    };
    let mut boards = entries(&dir.join(boards_directory(dir)));
    boards.insert(0, dir.to_path_buf());
    let board = (boards.into_iter()).find(|board| board.join("board_spec.xml").is_file())?;
    let below = entries(&board)
        .into_iter()
        .find(|inner| with_extension(inner, "qsys").is_ok_and(|files| !files.is_empty()));
    let elsewhere = below.map_or(String::new(), |below| {
        let name = below
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        format!("; some are in {name}/")
    });
    Some((board, elsewhere))
}

fn is_hardware(dir: &Path) -> bool {
    dir.join("board_spec.xml").is_file()
        && with_extension(dir, "qsys").is_ok_and(|files| !files.is_empty())
}

/// Returns the files of a directory with an extension, in any case; sorted.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn with_extension(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|e| Error::io(dir, "list the directory", &e))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.is_file() && has_extension(p, extension))
        .collect();
    files.sort();
    Ok(files)
}

/// Reports whether a file has an extension, in any case: Quartus also runs on Windows, which ignores case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

fn collect(dir: &Path, take: &mut dyn FnMut(&Path)) -> Result<()> {
    let entries = fs::read_dir(dir).map_err(|e| Error::io(dir, "list the directory", &e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::io(dir, "list the directory", &e))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let kind = kind.map_err(|e| Error::io(&path, "inspect the file", &e))?;
        if kind.is_dir() {
            let made = [
                "db",
                "incremental_db",
                "output_files",
                "synthesis",
                "simulation",
            ];
            if !made.iter().any(|m| entry.file_name() == *m) {
                collect(&path, take)?;
            }
        } else {
            take(&path);
        }
    }
    Ok(())
}

/// Copies a directory into one that exists. Files and directories for which `skip` (given the path relative to `from`)
/// is true are left out. Permissions stay, except that the owner may write all of it; links inside the BSP stay.
///
/// # Errors
/// [`ErrorKind::Link`] for a link that leaves the BSP or a special file, [`ErrorKind::Io`].
pub fn copy(from: &Path, to: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<()> {
    copy_moved(from, to, skip, (Path::new(""), Path::new("")))
}

/// Copies like [`copy`], with one directory (relative to `from`) under another path. Links through it are adapted.
///
/// # Errors
/// Those of [`copy`].
pub fn copy_moved(
    from: &Path,
    to: &Path,
    skip: &dyn Fn(&Path) -> bool,
    moved: (&Path, &Path),
) -> Result<()> {
    Copy {
        from,
        to,
        skip,
        moved,
    }
    .below(Path::new(""))
}

struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    skip: &'a dyn Fn(&Path) -> bool,
    moved: (&'a Path, &'a Path),
}

impl Copy<'_> {
    /// Returns the path in the copy for one in the original, both relative.
    fn place(&self, path: &Path) -> PathBuf {
        place(path, self.moved)
    }

    /// Returns the target in the copy of a link in the directory `below`.
    fn link(&self, below: &Path, link: &Path) -> PathBuf {
        let here = self.place(below);
        let target = self.place(&normal(&below.join(link)));
        if normal(&here.join(link)) == target {
            return link.to_path_buf();
        }
        // Over the root: all paths are relative to it.
        let up: PathBuf = here.components().map(|_| "..").collect();
        up.join(target)
    }

    fn below(&self, below: &Path) -> Result<()> {
        let dir = self.from.join(below);
        let made = self.to.join(self.place(below));
        fs::create_dir_all(&made).map_err(|e| Error::io(&made, "make the directory", &e))?;
        let entries = fs::read_dir(&dir).map_err(|e| Error::io(&dir, "list the directory", &e))?;
        for entry in entries {
            let entry = entry.map_err(|e| Error::io(&dir, "list the directory", &e))?;
            let path = entry.path();
            let relative = below.join(entry.file_name());
            interrupt::check(&path)?;
            let kind = entry
                .file_type()
                .map_err(|e| Error::io(&path, "inspect the file", &e))?;
            let target = self.to.join(self.place(&relative));
            if (self.skip)(&relative) {
                tracing::info!(path = %relative.display(), "left out");
            } else if kind.is_dir() {
                self.below(&relative)?;
            } else if kind.is_symlink() {
                let link =
                    fs::read_link(&path).map_err(|e| Error::io(&path, "read the link", &e))?;
                if !stays_inside(below, &link) {
                    return Err(Error::new(
                        ErrorKind::Link,
                        Place::file(&path),
                        format!("the link points out of the BSP ({})", link.display()),
                        "Replace it by the file or directory that it points to: the extended copy must be complete.",
                    ));
                }
                std::os::unix::fs::symlink(self.link(below, &link), &target)
                    .map_err(|e| Error::io(&target, "make the link", &e))?;
            } else if kind.is_file() {
                fs::copy(&path, &target).map_err(|e| Error::copy(&path, &target, &e))?;
                make_writable(&target)?;
            } else {
                return Err(Error::new(
                    ErrorKind::Link,
                    Place::file(&path),
                    "neither a file, a directory nor a link",
                    "Remove it from the BSP.",
                ));
            }
        }
        // Last, when everything in it is made. The root belongs to the caller.
        match below.as_os_str().is_empty() {
            true => Ok(()),
            false => give_mode(&made, mode(&dir)? | 0o700),
        }
    }
}

/// Returns the new path when the first directory of `moved` has become the second; all are relative to the same
/// directory.
pub fn place(path: &Path, moved: (&Path, &Path)) -> PathBuf {
    let (old, new) = moved;
    match path.strip_prefix(old) {
        // `join` with an empty path would end in a slash.
        Ok(inside) if inside.as_os_str().is_empty() => new.to_path_buf(),
        Ok(inside) => new.join(inside),
        Err(_) => path.to_path_buf(),
    }
}

/// Returns a relative path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

fn make_writable(path: &Path) -> Result<()> {
    give_mode(path, mode(path)? | 0o200)
}

/// Returns the permissions, as `chmod` takes them.
fn mode(path: &Path) -> Result<u32> {
    use std::os::unix::fs::PermissionsExt;
    let about = fs::metadata(path).map_err(|e| Error::io(path, "read the permissions", &e))?;
    Ok(about.permissions().mode() & 0o7777)
}

fn give_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|e| Error::io(path, "set the permissions", &e))
}

/// Reports whether a link in the directory `below` (relative to the BSP) stays in the BSP.
fn stays_inside(below: &Path, link: &Path) -> bool {
    let mut depth = below.components().count();
    for part in link.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

/// Writes a file of the copy; a link is replaced. Nothing outside `root` is written, with any path.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] for a path that does not name a place below `root`, [`ErrorKind::Io`].
pub fn write_below(root: &Path, path: &Path, content: &[u8]) -> Result<()> {
    let outside = || {
        Error::new(
            ErrorKind::Inconsistent,
            Place::file(path),
            "a file would be written outside the output",
            "This is a defect of Peerlane; report it with the BSP.",
        )
    };
    let below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let (true, Some(_)) = (below, path.file_name()) else {
        return Err(outside());
    };
    let file = root.join(path);
    let dir = file.parent().unwrap_or(root);
    fs::create_dir_all(dir).map_err(|e| Error::io(dir, "make the directory", &e))?;
    // A directory on the way may be a link.
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|e| Error::io(path, "inspect the directory", &e))
    };
    if !real(dir)?.starts_with(real(root)?) {
        return Err(outside());
    }
    if file.is_symlink() {
        fs::remove_file(&file).map_err(|e| Error::io(&file, "replace the link", &e))?;
    }
    fs::write(&file, content).map_err(|e| Error::io(&file, "write the file", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_of_a_project_file() {
        let text = "\u{feff}PROJECT_REVISION = \"base\" # first\r\nPROJECT_REVISION\t=\t\"a b\"\r\nPROJECT_REVISION=top\n\
                    PROJECT_REVISION = flat   # last\n# PROJECT_REVISION = \"no\"\nPROJECT_REVISION =\n";
        let found = revisions_in(text);
        let found: Vec<_> = found
            .iter()
            .map(|(name, line)| (name.as_str(), *line))
            .collect();
        assert_eq!(
            found,
            [("base", 1), ("a b", 2), ("top", 3), ("flat", 4), ("", 6)]
        );
    }

    #[test]
    fn nothing_is_written_outside_of_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        fs::create_dir(&out).unwrap();
        std::os::unix::fs::symlink(dir.path(), out.join("up")).unwrap();
        write_below(&out, Path::new("a/b"), b"in").unwrap();
        let absolute = dir.path().join("victim");
        for path in [
            absolute.as_path(),
            Path::new("../victim"),
            Path::new("up/victim"),
            Path::new(""),
        ] {
            let error = write_below(&out, path, b"out").unwrap_err();
            assert_eq!(error.kind, ErrorKind::Inconsistent, "{error}");
        }
        assert!(!absolute.exists());
        assert_eq!(fs::read(out.join("a/b")).unwrap(), b"in");
    }

    #[test]
    fn links_are_judged_by_where_they_lead() {
        for (below, link, inside) in [
            ("", "top.qsf", true),
            ("a/b", "../../top.qsf", true),
            ("a", "../../top.qsf", false),
            ("", "/etc/passwd", false),
            ("a", "./b/../c", true),
        ] {
            assert_eq!(
                stays_inside(Path::new(below), Path::new(link)),
                inside,
                "{below} {link}"
            );
        }
    }
}
