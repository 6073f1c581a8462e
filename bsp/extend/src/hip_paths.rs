//! Paths through the hard IP, in settings, constraints and scripts: with a TLP port one level of them is gone.
//!
//! The Avalon-MM variant contains the Avalon-ST one as the instance `altera_s5_a2p` (`altpcie_sv_hip_avmm_hwtcl`, ACDS
//! 13.1), and the Avalon-ST one now takes its place. So
//! `…|altpcie_sv_hip_avmm_hwtcl:pcie|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|x` becomes
//! `…|altpcie_sv_hip_ast_hwtcl:pcie|x`.
//!
//! A path is converted if it means the same without the level. Only the Avalon-MM variant has an instance of that name,
//! so the element before the level is the hard IP: its name, a pattern or a variable. The level can be removed if the
//! rest still means the hard IP alone: after its name, after a pattern that ends with its whole name, and after a
//! variable. After another pattern it cannot, because the pattern may match other instances without the level; then a
//! user decides.

use std::ops::Range;

use crate::file_edits::FileEdits;
use crate::hard_ip::ENTITY;
use crate::regions::{Hip, matches};
use crate::step::{Change, Written};
use peerlane_bsp_design::project::{Project, Role, Source};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::layout::{Layout, has_extension};
use peerlane_bsp_platform::text::{self, ranges};
use peerlane_bsp_platform::xml::Edits;

/// The level that is gone.
const LEVEL: &str = "altera_s5_a2p";
/// The entity of the old variant.
const OLD_ENTITY: &str = "altpcie_sv_hip_avmm_hwtcl";
/// Files of the Avalon-ST variant and of the old variant that Platform Designer generates, by prefix and suffix of
/// their names (ACDS 13.1).
const FILES: [(&str, &str); 3] = [
    ("altpcie_sv_hip_", "_hwtcl.v"),
    ("altpcie_hip_256_pipen1b", ".v"),
    ("altpcie_rs_", ".v"),
];
/// The assignment that makes an instance a partition.
const PARTITION: &str = "PARTITION_HIERARCHY";
/// Most rows of the report for one file's paths before they are summed up.
const MOST_ROWS: usize = 8;
const WHY: &str =
    "the hard IP is the Avalon-ST variant, which was inside the Avalon-MM variant as altera_s5_a2p";

/// A word that names something inside the hard IP.
struct Named<'a> {
    at: Range<usize>,
    old: &'a str,
    /// The converted word, if the conversion is known.
    new: Option<String>,
}

/// Finds the words of a text, without comments, that name something inside the hard IP.
fn named<'a>(text: &'a str, hip: &Hip) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#') {
            let ends = |c: char| c.is_ascii_whitespace() || "\"{}[];".contains(c);
            let mut at = start;
            for old in line.split(ends) {
                if names(old) {
                    let behind_variable = text[..at].ends_with('}');
                    found.push(Named {
                        at: at..at + old.len(),
                        old,
                        new: moved(old, behind_variable, hip),
                    });
                }
                at += old.len() + 1;
            }
        }
        start += line.len();
    }
    found
}

/// Reports whether a word names the level that is gone, or the entity. A file with the entity's name does not count.
fn names(word: &str) -> bool {
    let mut entities = word.match_indices(OLD_ENTITY);
    word.contains(LEVEL) || entities.any(|(at, _)| !word[at + OLD_ENTITY.len()..].starts_with('.'))
}

/// Returns entity, if there is one, and instance of an element of a path.
fn parts(element: &str) -> (Option<&str>, &str) {
    match element.split_once(':') {
        Some((entity, instance)) => (Some(entity), instance),
        None => (None, element),
    }
}

/// Converts a path; `None` if the conversion is not known.
fn moved(path: &str, behind_variable: bool, hip: &Hip) -> Option<String> {
    if !hip.is_only {
        return None;
    }
    let elements: Vec<&str> = path.split('|').collect();
    let is_level = |at: usize| elements.get(at).is_some_and(|next| parts(next).1 == LEVEL);
    let mut new = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let (entity, instance) = parts(element);
        // A pattern of the old entity would match nothing.
        let other = |entity: &str| entity.contains(['*', '?']) && !matches(entity, ENTITY);
        if is_level(at) {
            let before = elements[at.checked_sub(1)?];
            if parts(before).0.is_some_and(other) {
                return None;
            }
            let variable = before.contains('$') || before.is_empty() && at == 1 && behind_variable;
            match parts(before) {
                (None, "*") => new.push(element.replace(LEVEL, &hip.name)),
                (Some(OLD_ENTITY), any) if matches(any, &hip.name) => {}
                (_, name) if name == hip.name || variable => {}
                (None, any) if any.strip_suffix(hip.name.as_str()) == Some("*") => {}
                _ => return None,
            }
        } else if entity == Some(OLD_ENTITY) {
            let next = elements.get(at + 1).is_none_or(|next| *next == "*");
            if !matches(instance, &hip.name) || !next && !is_level(at + 1) {
                return None;
            }
            new.push(format!("{ENTITY}:{instance}"));
        } else if names(element) {
            return None;
        } else {
            new.push((*element).to_string());
        }
    }
    Some(new.join("|"))
}

/// The result of converting a file's words: edits and changes, and the lines that a user has to check.
#[derive(Default)]
struct Followed {
    edits: Vec<(Range<usize>, String)>,
    /// Changes, each with its line.
    changes: Vec<(usize, String)>,
    unsure: Vec<usize>,
}

/// Returns the line of a byte, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn follow(text: &str, hip: &Hip) -> Followed {
    let mut followed = Followed::default();
    for Named { at, old, new } in named(text, hip) {
        let line = line_of(text, at.start);
        match new {
            Some(new) => {
                followed.changes.push((line, format!("{old} → {new}")));
                followed.edits.push((at, new));
            }
            None => followed.unsure.push(line),
        }
    }
    followed.unsure.dedup();
    followed
}

impl FileEdits<'_> {
    /// Converts paths through the hard IP.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a partition whose path cannot be converted: Quartus would drop it with a warning.
    pub(super) fn hard_ip(&mut self, hip: &Hip) -> Result<()> {
        let source = self.source;
        if source.role == Role::Shell {
            return Ok(());
        }
        let followed = follow(&source.text, hip);
        for assignment in self.assignments.iter().filter(|a| a.name == PARTITION) {
            let line_of = |at| line_of(&source.text, at);
            let lines = line_of(assignment.span.start)..=line_of(assignment.to_span.end);
            if let Some(line) = followed.unsure.iter().find(|line| lines.contains(line)) {
                let to = assignment.to.as_deref().unwrap_or_default();
                return Err(partition(Place::line(&source.path, *line), hip, to));
            }
        }
        for (at, new) in followed.edits {
            self.edits.replace(at, new);
        }
        for what in summed(followed.changes) {
            self.note(what, WHY);
        }
        Ok(())
    }
}

/// Makes the error for such a partition.
fn partition(place: Place, hip: &Hip, to: &str) -> Error {
    let name = &hip.name;
    let refuse = |what: &str, hint: Hint| {
        let what = format!("{PARTITION} names a path inside {name}, {what}");
        Error::new(ErrorKind::Unsupported, place.clone(), what, hint)
    };
    let elements: Vec<&str> = to.split('|').collect();
    let of_bridge = elements.windows(2).any(|pair| {
        let (entity, instance) = parts(pair[0]);
        let is_hip = instance == name || entity == Some(OLD_ENTITY) && matches(instance, name);
        is_hip && parts(pair[1]).1 != LEVEL && pair[1] != "*"
    });
    if of_bridge {
        return refuse(
            "in the Avalon-MM bridge, which does not exist with a TLP port",
            Hint::without_tlp("Remove the partition, or "),
        );
    }
    refuse(
        "whose hierarchy differs with a TLP port, and the new path cannot be determined",
        Hint::without_tlp(format!(
            "Write its path out, with {OLD_ENTITY}:{name} and the level {LEVEL}, or "
        )),
    )
}

/// Makes rows of the report for converted paths: one for a whole file if there are many.
fn summed(changes: Vec<(usize, String)>) -> Vec<String> {
    if changes.len() <= MOST_ROWS {
        let row = |(line, what)| format!("{what} (line {line})");
        return changes.into_iter().map(row).collect();
    }
    let mut lines: Vec<usize> = changes.iter().map(|(line, _)| *line).collect();
    lines.dedup();
    let example = changes.first().map_or("", |(_, what)| what.as_str());
    let (count, lines) = (changes.len(), ranges(&lines).join(", "));
    vec![format!(
        "{count} paths, lines {lines}: without the level {LEVEL}. The first: {example}"
    )]
}

/// Returns the lines of settings and scripts, after the extension, that name something inside the hard IP and could not
/// be converted.
pub fn unsure(hip: &Hip, after: &Project) -> Vec<String> {
    let mut lines = Vec::new();
    for source in after
        .sources
        .iter()
        .filter(|source| source.role != Role::Shell)
    {
        let file = source.name();
        let unsure = follow(&source.text, hip).unsure;
        lines.extend(unsure.iter().map(|line| format!("{file}:{line}")));
    }
    lines
}

/// Timing constraints with converted paths.
#[derive(Default)]
pub struct Constraints {
    /// Files that change.
    pub files: Vec<Written>,
    /// Changes.
    pub changes: Vec<Change>,
    /// Lines that could not be converted.
    pub unsure: Vec<String>,
}

/// Converts the timing constraints, anywhere in the board's directory.
///
/// # Errors
/// [`ErrorKind::Io`] and others for a file that cannot be read.
pub fn constraints(layout: &Layout, project: &Project, hip: &Hip) -> Result<Constraints> {
    let mut found = Constraints::default();
    let all = project.tree.iter();
    for inside in
        all.filter(|path| has_extension(path, "sdc") && path.starts_with(&layout.hardware))
    {
        let path = layout.root.join(inside);
        let source = text::read(&path)?;
        let followed = follow(&source, hip);
        let name = inside.strip_prefix(&layout.hardware).unwrap_or(inside);
        let lines = followed.unsure.iter();
        let unsure = lines.map(|line| format!("{}:{line}", name.display()));
        found.unsure.extend(unsure);
        if followed.edits.is_empty() {
            continue;
        }
        let mut edits = Edits::default();
        for (at, new) in followed.edits {
            edits.replace(at, new);
        }
        found
            .changes
            .extend(summed(followed.changes).into_iter().map(|what| Change {
                file: path.clone(),
                what,
                why: WHY.into(),
            }));
        found.files.push(Written {
            text: edits.apply(&path, &source)?,
            path,
        });
    }
    Ok(found)
}

/// Returns the task for a user about lines that could not be converted.
pub fn to_do(hip: &Hip, lines: &[String]) -> Option<String> {
    let name = &hip.name;
    (!lines.is_empty()).then(|| {
        format!(
            "These lines name instances inside the hard IP, by {LEVEL} or the entity {OLD_ENTITY}, and their new paths \
             could not be determined: {}. With a TLP port that level does not exist: {name}|{LEVEL}|x becomes \
             {name}|x, of the entity {ENTITY}, and the other parts of {OLD_ENTITY} do not exist any more. Quartus \
             ignores paths that match nothing.",
            lines.join(", ")
        )
    })
}

/// Returns the note on steps that replace files of the hard IP by the vendor's. `lost`: the board lost configuration
/// over PCIe, for which BSPs for `s5_net` patch these files (`scripts/cvpupdatefix`).
pub fn patches(after: &Project, lost: bool) -> Option<String> {
    let mut lines = Vec::new();
    let is_script =
        |source: &&Source| source.role > Role::Settings && !has_extension(&source.path, "qip");
    for source in after.sources.iter().filter(is_script) {
        let inside = source.path.strip_prefix(&after.directory);
        let file = inside.unwrap_or(&source.path).display();
        let all = source.text.lines().enumerate();
        let all = all.filter(|(_, line)| !line.trim_start().starts_with('#') && names_a_file(line));
        lines.extend(all.map(|(n, _)| format!("{file}:{}", n + 1)));
    }
    let then = match lost {
        true => {
            "Their changes for configuration over PCIe (cvp_update_reset) have no use at Gen3: remove the lines, \
             unless the files have other changes."
        }
        false => {
            "If the files are patched for configuration over PCIe (cvp_update_reset), the lines stay. Make sure that \
             the files are of the Quartus version that compiles the board, as the hard IP's component is."
        }
    };
    (!lines.is_empty()).then(|| {
        format!(
            "These lines name files that Platform Designer generates for the hard IP, and may replace them by the \
             vendor's: {}. {then}",
            lines.join(", ")
        )
    })
}

/// Reports whether a line names a file of the hard IP.
fn names_a_file(line: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut words = line.split(|c| !part(c));
    words.any(|word| {
        let rest =
            |(begin, end): &(&str, &str)| word.strip_prefix(begin)?.strip_suffix(end).map(|_| ());
        FILES.iter().any(|file| rest(file).is_some())
    })
}
