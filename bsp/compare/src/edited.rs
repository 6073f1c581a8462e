//! A file that was edited by hand.

use std::path::Path;

use peerlane_bsp_design::qsys::System;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::finding::Findings;
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::kept::{self, Entry};
use peerlane_bsp_platform::layout::{BUILD_FILE, EXAMPLES, has_extension};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

use crate::elements::Elements;
use crate::lines::Texts;
use crate::verdict::{Difference, EDITS, EXTENSION, report};
use crate::{States, elements, has_content, hash, is_same, lines, systems, xml};

/// Texts for people, which no program reads.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "peerlane-report.md",
    "peerlane-report.json",
    "linux64/lib/README.md",
    "linux64/libexec/README.md",
];
/// Endings of files that Quartus compiles. The vendor's contain the old DMA.
const COMPILED: [&str; 8] = ["aocx", "personax", "pof", "qar", "qdb", "qxp", "rbf", "sof"];
const AGAIN: &str = "Extend the vendor's BSP again, and repeat the edits.";
const GENERATED: &str = "Extend the vendor's BSP again, and do not edit generated files.";
const BACK: &str = "Put the file back, or extend the vendor's BSP again.";

/// Reports whether Quartus writes a file of this name when it compiles.
pub(crate) fn is_compiled(path: &Path) -> bool {
    COMPILED.iter().any(|ending| has_extension(path, ending))
}

/// Judges a file of the platform that is neither as this program writes it nor as it was written.
pub(crate) fn judge(states: &States<'_>, name: &str, findings: &mut Findings) -> Result<()> {
    let path = states.path(name);
    let (now, made) = (states.now.get(name), states.made.get(name));
    let vendor = states.vendors(name);
    if path.file_name() == Some(EXAMPLES.as_ref()) && vendor.is_none() {
        let what = "edited or removed; it has examples for your own logic";
        findings.note(EDITS, Place::file(&path), what);
        return Ok(());
    }
    if !has_content(now) {
        if has_content(made) {
            findings.bad(EXTENSION, Place::file(&path), "the file was removed", BACK);
        }
        return Ok(());
    }
    if !has_content(made) {
        // The vendor's file, which the extension left out.
        let what = "the vendor's file is back, which the extension left out";
        match is_compiled(&path) {
            true => findings.bad(
                EXTENSION,
                Place::file(&path),
                format!("{what}: it was compiled with the old DMA"),
                "Remove it, or make it again with the block: the README has the steps.",
            ),
            false => findings.note(EDITS, Place::file(&path), what),
        }
        return Ok(());
    }
    if is_generated(states, name) {
        let line = first_line(states, name);
        let place = Place {
            path: path.clone(),
            line,
        };
        findings.bad(
            EXTENSION,
            place,
            "changed since it was generated",
            GENERATED,
        );
        return Ok(());
    }
    let as_recorded = is_same(made, states.record.made.get(name));
    if !as_recorded && states.is_of_another() {
        let what = "edited, and this version writes it otherwise, so the edits cannot be judged";
        findings.bad(EXTENSION, Place::file(&path), what, AGAIN);
        return Ok(());
    }
    if DOCUMENTS.contains(&name) {
        let what = "edited; no program reads it";
        findings.note(EDITS, Place::file(&path), what);
        return Ok(());
    }
    let is_file = |entry: Option<&Entry>| matches!(entry, Some(Entry::File { .. }));
    let is_set = !is_same(vendor.as_ref().map(|(entry, _)| *entry), made);
    if !is_file(now) || !is_file(made) {
        return whole(&path, is_set, findings);
    }
    let was = vendor.as_ref().filter(|(entry, _)| is_file(Some(entry)));
    let was = was.map(|(_, path)| path.as_path());
    let writes = made_path(states, name);
    let paths = (was, writes.as_path(), path.as_path());
    let judged = match path.extension().and_then(|e| e.to_str()) {
        Some("qsys") => system(paths),
        Some("xml" | "ipx") => document(paths),
        _ => Ok(None),
    };
    let judged = match judged {
        Ok(None) => match plain(states, paths)? {
            Some(all) => Ok(all),
            None => return whole(&path, is_set, findings),
        },
        Ok(Some(all)) => Ok(all),
        Err(error) => Err(error),
    };
    match judged {
        // The present file cannot be read, as Quartus could not.
        Err(error) if error.place.path == path && error.kind != ErrorKind::Io => {
            findings.bad(EXTENSION, error.place, error.what, Hint::of_result(&path));
            Ok(())
        }
        Err(error) => Err(error),
        // Platform Designer writes a saved system again.
        Ok(all) if all.is_empty() && !has_extension(&path, "qsys") => {
            let what = "edited in its form only: order, blanks, quotes, comments or line ends";
            findings.note(EDITS, Place::file(&path), what);
            Ok(())
        }
        Ok(all) => {
            report(&path, all, findings);
            Ok(())
        }
    }
}

fn made_path(states: &States<'_>, name: &str) -> std::path::PathBuf {
    let inside = kept::path_of(name).unwrap_or_default();
    states.again.made.root.join(inside)
}

/// Reports whether the extension alone wrote a file that programs read.
fn is_generated(states: &States<'_>, name: &str) -> bool {
    if states.vendors(name).is_none() {
        return !DOCUMENTS.contains(&name);
    }
    let hardware = &states.again.made.hardware;
    let is_it = |path: &str| kept::name(&hardware.join(path)) == name;
    is_it(BUILD_FILE) || states.writes.generated.keys().any(|path| is_it(path))
}

/// Returns the first line that differs from the file that this program writes.
fn first_line(states: &States<'_>, name: &str) -> Option<usize> {
    let made = text::read(&made_path(states, name)).ok()?;
    let now = text::read(&states.path(name)).ok()?;
    let same = (made.lines().zip(now.lines()))
        .take_while(|(a, b)| a == b)
        .count();
    Some((same + 1).min(now.lines().count().max(1)))
}

/// Judges a file that has no elements.
fn whole(path: &Path, is_set: bool, findings: &mut Findings) -> Result<()> {
    match is_set {
        true => findings.bad(
            EXTENSION,
            Place::file(path),
            "changed since the extension wrote it",
            Hint::of_result(path),
        ),
        false => findings.note(EDITS, Place::file(path), "changed since it was copied"),
    }
    Ok(())
}

type Paths<'a> = (Option<&'a Path>, &'a Path, &'a Path);

fn states<'a, K: elements::Key>(all: &'a Three<K>) -> elements::States<'a, K> {
    elements::States {
        vendor: &all.0,
        made: &all.1,
        now: &all.2,
    }
}

type Three<K> = (Elements<K>, Elements<K>, Elements<K>);

/// Reads the three states of a file; `None` if this program writes one that cannot be read: it was the vendor's. A
/// vendor's file that cannot be read has no elements.
fn read<T, K: elements::Key>(
    (vendor, made, now): Paths<'_>,
    read: impl Fn(&Path) -> Result<T>,
    elements: impl Fn(&T) -> Elements<K>,
) -> Result<Option<Three<K>>> {
    let Ok(made) = read(made) else {
        return Ok(None);
    };
    let vendor = vendor.and_then(|path| read(path).ok());
    Ok(Some((
        vendor.as_ref().map(&elements).unwrap_or_default(),
        elements(&made),
        elements(&read(now)?),
    )))
}

fn system(paths: Paths<'_>) -> Result<Option<Vec<Difference>>> {
    let all = read(paths, System::read, systems::elements)?;
    Ok(all.map(|all| systems::differences(states(&all))))
}

fn document(paths: Paths<'_>) -> Result<Option<Vec<Difference>>> {
    let all = read(paths, Document::read, xml::elements)?;
    Ok(all.map(|all| xml::differences(states(&all))))
}

/// Returns the differences of a text file; `None` if it is not a text.
fn plain(states: &States<'_>, (vendor, made, now): Paths<'_>) -> Result<Option<Vec<Difference>>> {
    let texts = |path: &Path| match text::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err::<_, Error>(error),
    };
    let vendor = vendor.map(&texts).transpose()?;
    let (Some(vendor), Some(made), Some(now)) = (
        vendor.unwrap_or_else(|| Some(String::new())),
        texts(made)?,
        texts(now)?,
    ) else {
        return Ok(None);
    };
    let made_again = |line: &str| is_made_again(states, line);
    let texts = Texts {
        vendor: &vendor,
        made: &made,
        now: &now,
    };
    Ok(Some(lines::differences(texts, &made_again)))
}

/// Reports whether a line names a file that the extension left out and that exists again, with other content than the
/// vendor's.
fn is_made_again(states: &States<'_>, line: &str) -> bool {
    left_out(states, line)
        .is_some_and(|(path, sha256)| hash(&path).is_some_and(|is| path.is_file() && is != sha256))
}

/// Returns the file that the extension left out and that a line names, in the present platform, and the hash of the
/// vendor's.
pub(crate) fn left_out<'a>(
    states: &'a States<'_>,
    line: &str,
) -> Option<(std::path::PathBuf, &'a str)> {
    let hardware = &states.layout.hardware;
    line.split(' ').find_map(|word| {
        let name = kept::name(&hardware.join(word));
        let (entry, _) = states.vendors(&name)?;
        match entry {
            Entry::File { sha256, .. } if !states.made.contains_key(&name) => {
                Some((states.path(&name), sha256.as_str()))
            }
            _ => None,
        }
    })
}
