//! `peerlane check`: makes a platform again from the vendor's files that it contains and the request that it records,
//! and compares.
//!
//! `peerlane extend` is deterministic, so a file that is equal is as the extension wrote it. A file that was edited is
//! judged by one rule (`verdict`): the elements that the extension added, changed or removed must be as the extension
//! made them. Everything else is the user's, and is only listed.
//!
//! So this check does not prove that an extension is right. The tests do that for the BSPs that they have, with a
//! second model of the whole system, `peerlane-bsp-check`.

#![warn(unreachable_pub)]

mod edited;
mod elements;
mod lines;
mod overlaps;
mod systems;
mod to_do;
mod verdict;
mod xml;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use peerlane_bsp_extend::again::Again;
use peerlane_bsp_generate::build::{Build, Program};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::finding::Findings;
use peerlane_bsp_platform::hash::digest_of;
use peerlane_bsp_platform::hint::{Hint, Owner};
use peerlane_bsp_platform::kept::{self, Entry, Origin, Record, Tree};
use peerlane_bsp_platform::layout::{BUILD_FILE, Layout};
use peerlane_bsp_platform::message::{Message, moved};
use peerlane_bsp_platform::output;

/// The test of files that are as this program writes them.
const FILES: &str = "files";
/// The test of the program that wrote the platform.
const PROGRAM: &str = "program";
/// The test of the vendor's stored files.
const VENDORS: &str = "vendor's files";
/// Most files that are listed by name.
const MOST: usize = 12;
const AGAIN: &str = "Extend the vendor's BSP again.";
/// Hint for the vendor's stored files.
const KEPT: &str = "Extend the vendor's BSP again, and do not edit the kept files.";

/// Checks a platform. Temporary files are removed, also after an interruption.
///
/// # Errors
/// [`ErrorKind::NotABsp`] if the directory is not an extended BSP; [`ErrorKind::Inconsistent`] if one of its records was
/// changed; [`ErrorKind::Output`] if there is no place for temporary files; [`ErrorKind::Interrupted`],
/// [`ErrorKind::Io`]. A fault of the platform is a [`Finding`](peerlane_bsp_platform::finding::Finding).
pub fn check(layout: &Layout) -> Result<Findings> {
    let (real, whole) = canonical(layout)?;
    let found = || {
        let mut findings = Findings::default();
        let record = Record::read(&real.root)?;
        let build = Build::read(&real)?;
        vendors_files(&real, &record, &mut findings)?;
        if findings.errors() > 0 {
            return Ok(findings);
        }
        match Again::new(&real, &record, &build.config) {
            Ok(again) => compare(&real, &again, record, build, &mut findings)?,
            Err(error) => findings.bad(FILES, error.place.clone(), refused(&build, error)?, AGAIN),
        }
        Ok(findings)
    };
    let mut findings = as_given(found(), layout, &whole)?;
    if let Some(what) = output::unfit_for_aoc(&whole) {
        findings.bad(
            "path",
            Place::file(&layout.root),
            what,
            "Move the platform to a directory without blanks in its path.",
        );
    }
    Ok(findings)
}

/// Returns the message about an extension that this program refuses. Other errors are returned as they are.
fn refused(build: &Build, error: Error) -> Result<Message> {
    match error.kind {
        ErrorKind::Interrupted | ErrorKind::Io | ErrorKind::Output | ErrorKind::Inconsistent => {
            Err(error)
        }
        _ => {
            let wrote = build.program();
            let what = format!(
                "Peerlane {wrote} wrote this platform, and {} does not extend its vendor's BSP: ",
                Program::this()
            );
            Ok(Message::from(what).then(error.what))
        }
    }
}

/// Returns a layout with its canonical path, and that path. The platform's location must not matter.
fn canonical(layout: &Layout) -> Result<(Layout, PathBuf)> {
    let given = &layout.root;
    let whole =
        fs::canonicalize(given).map_err(|e| Error::io(given, "inspect the directory", &e))?;
    let real = Layout {
        root: whole.clone(),
        hardware: layout.hardware.clone(),
    };
    Ok((real, whole))
}

/// Names paths as the caller gave them.
fn as_given(found: Result<Findings>, layout: &Layout, whole: &Path) -> Result<Findings> {
    let given = &layout.root;
    let mut findings = found.map_err(|mut error| {
        // Readers do not know whether a file belongs to the input or to the result.
        if let Hint::File(owner, _) = &mut error.hint {
            *owner = Owner::Result;
        }
        error.named_as_given(whole, given)
    })?;
    let as_given = |path: &Path| moved(path, whole, given);
    for finding in &mut findings.0 {
        finding.place = as_given(&finding.place);
        finding.what.map_paths(as_given);
        let place = Place {
            path: finding.place.clone(),
            line: finding.line,
        };
        tracing::debug!(test = finding.test, level = ?finding.level, %place, what = %finding.what, "found");
    }
    tracing::info!(
        findings = findings.0.len(),
        faults = findings.errors(),
        "checked"
    );
    Ok(findings)
}

/// Checks that the vendor's stored files are those of the record.
fn vendors_files(layout: &Layout, record: &Record, findings: &mut Findings) -> Result<()> {
    let root = layout.root.join(kept::VENDOR);
    let now = match root.is_dir() {
        true => kept::tree(&root, &|_| false)?,
        false => Tree::new(),
    };
    let is_file = |entry: &&Entry| matches!(entry, Entry::File { .. });
    let mut bad = |name: &str, what: &str| {
        let path = kept::path_of(name).unwrap_or_default();
        findings.bad(VENDORS, Place::file(root.join(path)), what, KEPT);
    };
    for (name, entry) in &record.vendor {
        let Entry::File { sha256, .. } = entry else {
            continue;
        };
        match now.get(name) {
            Some(Entry::File { sha256: is, .. }) if is == sha256 => {}
            Some(_) => bad(name, "the file differs from the vendor's file"),
            None => bad(name, "the kept copy of the vendor's file is missing"),
        }
    }
    for (name, entry) in &now {
        let known = match (record.vendor.get(name), entry) {
            (Some(Entry::Directory { .. }), Entry::Directory { .. }) => true,
            (Some(Entry::File { .. }), _) => true,
            _ => name.is_empty(),
        };
        if !known {
            bad(name, "the vendor's BSP does not have this file");
        }
    }
    if findings.errors() == 0 {
        let count = record.vendor.values().filter(is_file).count();
        findings.good(VENDORS, format!("{count} kept files, unchanged"));
    }
    Ok(())
}

/// A platform, and the one that this program makes from the same vendor's tree and the same request.
#[derive(Debug)]
pub struct Comparison {
    layout: Layout,
    again: Again,
}

impl Comparison {
    /// Makes the platform again.
    ///
    /// # Errors
    /// Those of [`Again::new`].
    pub fn new(layout: &Layout) -> Result<Self> {
        let (layout, _) = canonical(layout)?;
        let record = Record::read(&layout.root)?;
        let build = Build::read(&layout)?;
        let again = Again::new(&layout, &record, &build.config)?;
        Ok(Self { layout, again })
    }

    /// Compares the present files.
    ///
    /// # Errors
    /// Those of [`check`].
    pub fn findings(&self) -> Result<Findings> {
        let Self { layout, again } = self;
        let record = Record::read(&layout.root)?;
        let mut findings = Findings::default();
        compare(layout, again, record, Build::read(layout)?, &mut findings)?;
        Ok(findings)
    }
}

/// Compares the present files, of which `record` and `wrote` are the records.
fn compare(
    layout: &Layout,
    again: &Again,
    record: Record,
    wrote: Build,
    findings: &mut Findings,
) -> Result<()> {
    if record.origin == Origin::New {
        let what = "`peerlane new` made this board: \"the vendor's\" means the board without the block here";
        findings.good("origin", what);
    }
    let states = States {
        layout,
        again,
        now: kept::tree(&layout.root, &kept::is_kept)?,
        wrote,
        writes: Build::read(&again.made)?,
        record,
        made: Record::read(&again.made.root)?.made,
    };
    states.compare(findings)?;
    overlaps::check(&states, findings)?;
    to_do::check(&states, findings)
}

/// The states of all files.
#[derive(Debug)]
struct States<'a> {
    layout: &'a Layout,
    again: &'a Again,
    /// The present platform.
    now: Tree,
    /// The record of the present platform.
    record: Record,
    /// The platform that this program makes.
    made: Tree,
    /// The record of the present platform's build.
    wrote: Build,
    /// The record of the build that this program makes.
    writes: Build,
}

/// The difference of a file from the one that this program makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Equal,
    /// As the record says that it was written, but this program writes another.
    Written,
    Edited,
}

/// Reports whether two entries have the same content; directories have none.
fn is_same(a: Option<&Entry>, b: Option<&Entry>) -> bool {
    match (a, b) {
        (Some(Entry::File { sha256: a, .. }), Some(Entry::File { sha256: b, .. })) => a == b,
        (Some(Entry::Link { to: a }), Some(Entry::Link { to: b })) => a == b,
        (a, b) => !has_content(a) && !has_content(b),
    }
}

fn has_content(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::File { .. } | Entry::Link { .. }))
}

impl States<'_> {
    /// Returns the path of a file of the present platform.
    fn path(&self, name: &str) -> PathBuf {
        self.layout
            .root
            .join(kept::path_of(name).unwrap_or_default())
    }

    /// Returns the vendor's file in place of one of the platform, with its path in the restored tree.
    fn vendors(&self, name: &str) -> Option<(&Entry, PathBuf)> {
        let inside = kept::path_of(name)?;
        let inside = self.record.in_vendors_tree(&inside);
        let entry = self.record.vendor.get(&kept::name(&inside))?;
        has_content(Some(entry)).then(|| (entry, self.again.vendor.root.join(inside)))
    }

    /// Reports whether another program wrote the platform.
    fn is_of_another(&self) -> bool {
        self.wrote.program() != Program::this()
    }

    fn kind(&self, name: &str) -> Kind {
        let (now, made) = (self.now.get(name), self.made.get(name));
        if is_same(now, made) {
            return Kind::Equal;
        }
        match is_same(now, self.record.made.get(name)) {
            true => Kind::Written,
            false => Kind::Edited,
        }
    }

    fn compare(&self, findings: &mut Findings) -> Result<()> {
        let trees = [&self.now, &self.made, &self.record.made];
        let names: BTreeSet<&String> = trees.into_iter().flat_map(Tree::keys).collect();
        let (mut equal, mut written, mut added) = (0, Vec::new(), Vec::new());
        let mut edited = Findings::default();
        for name in names {
            match self.kind(name) {
                Kind::Equal if has_content(self.now.get(name)) => {
                    equal += 1;
                    self.executable(name, &mut edited);
                }
                Kind::Equal => {}
                Kind::Written => written.push(name.as_str()),
                Kind::Edited if self.is_added(name) => {
                    self.copied(name, &mut edited);
                    added.push(name.as_str());
                }
                Kind::Edited => edited::judge(self, name, &mut edited)?,
            }
        }
        findings.good(
            FILES,
            format!("{equal} files are as this program writes them from the vendor's BSP"),
        );
        self.program(&written, findings);
        findings.0.append(&mut edited.0);
        if !added.is_empty() {
            let what = format!("added, and not judged: {}", listed(&added));
            findings.note(verdict::EDITS, Place::file(&self.layout.root), what);
        }
        Ok(())
    }

    /// Reports whether a file belongs to the user alone, or was made again by the user's compile.
    fn is_added(&self, name: &str) -> bool {
        let ours = has_content(self.made.get(name)) || has_content(self.record.made.get(name));
        let now = self.now.get(name);
        !ours && !(self.vendors(name)).is_some_and(|(was, _)| is_same(Some(was), now))
    }

    /// Reports a compiled file of the vendor's that is back under another name.
    fn copied(&self, name: &str, findings: &mut Findings) {
        let now = self.now.get(name);
        let left_out = |(was, _): &(&String, &Entry)| !self.made.contains_key(was.as_str());
        let mut vendors = self.record.vendor.iter().filter(left_out);
        let found = vendors.find(|(was, entry)| {
            edited::is_compiled(Path::new(was.as_str())) && is_same(Some(entry), now)
        });
        if let Some((was, _)) = found {
            findings.bad(
                verdict::EXTENSION,
                Place::file(self.path(name)),
                format!("a copy of the vendor's {was}, which was compiled with the old DMA"),
                "Remove it, or make it again with the block: the README has the steps.",
            );
        }
    }

    /// Reports a program that lost its permission to run.
    fn executable(&self, name: &str, findings: &mut Findings) {
        let runs = |tree: &Tree| match tree.get(name) {
            Some(Entry::File { mode, .. }) => mode.0 & 0o100 != 0,
            _ => false,
        };
        if runs(&self.made) && !runs(&self.now) {
            let path = self.path(name);
            findings.bad(
                verdict::EXTENSION,
                Place::file(&path),
                "the file cannot be executed any more",
                "Make it executable with `chmod +x`.",
            );
        }
    }

    /// Reports the program that wrote the platform, and the files that it wrote otherwise than this one.
    fn program(&self, written: &[&str], findings: &mut Findings) {
        let (wrote, this) = (self.wrote.program(), Program::this());
        let build = Place::file(self.layout.hardware_dir().join(BUILD_FILE));
        if !self.is_of_another() {
            match written.is_empty() {
                true => findings.good(
                    PROGRAM,
                    format!("Peerlane {wrote} wrote it, the version that checks it"),
                ),
                false => findings.bad(
                    PROGRAM,
                    build,
                    format!(
                        "Peerlane {wrote} wrote it and checks it, but writes these files otherwise now: {}",
                        listed(written)
                    ),
                    "Extend the vendor's BSP again. If the fault stays, it is a defect of Peerlane: report it with the \
                     BSP.",
                ),
            }
            return;
        }
        findings.note(
            PROGRAM,
            build.clone(),
            format!(
                "Peerlane {wrote} wrote it, and {this} checks it. From the same vendor's BSP {this} writes these files \
                 otherwise: {}. Extend the vendor's BSP again to get them",
                listed(written)
            ),
        );
        let ids = |build: &Build| (build.map_id, build.build_id);
        if ids(&self.wrote) != ids(&self.writes) {
            findings.bad(
                "ids",
                build,
                format!(
                    "MAP_ID {:#010x} and BUILD_ID {:#010x}; this version generates the block as {:#010x} and {:#010x}, \
                     and its driver and libraries refuse others",
                    self.wrote.map_id, self.wrote.build_id, self.writes.map_id, self.writes.build_id
                ),
                "Extend the vendor's BSP again, or use driver and libraries of the version that wrote it.",
            );
            return;
        }
        let verilog = |build: &Build| -> Vec<(String, String)> {
            let all = build.generated.iter();
            let all = all.filter(|(path, _)| path.ends_with(".v"));
            all.map(|(a, b)| (a.clone(), b.clone())).collect()
        };
        if verilog(&self.wrote) != verilog(&self.writes) {
            findings.bad(
                "ids",
                build,
                "this version generates other Verilog under the same MAP_ID and BUILD_ID",
                AGAIN,
            );
        }
    }
}

/// Lists names; of many, the first ones.
fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(MOST).copied().collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the hash of a file of the present platform.
fn hash(path: &Path) -> Option<String> {
    digest_of(path).ok()
}
