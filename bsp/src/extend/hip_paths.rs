//! Paths through the hard IP, in settings, constraints and scripts: with a streaming port a level of them is gone.
//!
//! The Avalon-MM variant has the Avalon-ST one in it, as the instance `altera_s5_a2p` (`altpcie_sv_hip_avmm_hwtcl`, ACDS
//! 13.1), and that one now stands in its place. So of `…|altpcie_sv_hip_avmm_hwtcl:pcie|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|x`
//! there is `…|altpcie_sv_hip_ast_hwtcl:pcie|x`.
//!
//! The principle: a path follows where it means the same without the level. Nobody but the Avalon-MM variant has an instance of
//! that name, so what stands before it is the hard IP, be it written as its name, a pattern or a variable. The level can go
//! where the rest still means the hard IP alone: behind its name, behind a pattern that ends with its whole name, and behind a
//! variable. Behind another pattern it cannot, since that may match others without the level; a person decides.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::hard_ip::{ENTITY, FROM};
use crate::extend::regions::matches;
use crate::extend::report::Change;
use crate::extend::rewrite::Rewritten;
use crate::extend::settings::{self, FileEdits, Settings};
use crate::layout::{Layout, has_extension};
use crate::system::project::{Project, Role, Source};
use crate::system::site::Site;
use crate::system::xml::Edits;
use crate::text::{self, ranges};

/// The level that is gone.
const LEVEL: &str = "altera_s5_a2p";
/// The entity of the variant that is replaced.
const OLD_ENTITY: &str = "altpcie_sv_hip_avmm_hwtcl";
/// Files of the Avalon-ST variant, by how their names begin and end: what Platform Designer generates (ACDS 13.1), and the
/// same of the variant that is replaced.
const FILES: [(&str, &str); 3] = [
    ("altpcie_sv_hip_", "_hwtcl.v"),
    ("altpcie_hip_256_pipen1b", ".v"),
    ("altpcie_rs_", ".v"),
];
/// The assignment that makes an instance a partition.
const PARTITION: &str = "PARTITION_HIERARCHY";
/// Rows of the report for one file's paths, each by itself.
const MOST_ROWS: usize = 8;
const WHY: &str =
    "the hard IP is the Avalon-ST variant, which was inside of the other one as altera_s5_a2p";

/// The hard IP that is another variant now.
#[derive(Debug, Clone)]
pub struct Hip {
    /// Its instance.
    pub name: String,
    /// Whether the design has no other of the old kind.
    pub is_only: bool,
}

impl Hip {
    /// The one of a board that gets a streaming port.
    pub fn of(site: &Site<'_>, new: &Rewritten) -> Option<Self> {
        let hip = new.hip.as_ref()?;
        let modules = site.library.systems().flat_map(|system| &system.modules);
        Some(Self {
            name: hip.name.clone(),
            is_only: modules
                .filter(|module| FROM.contains(&module.kind.as_str()))
                .count()
                == 1,
        })
    }
}

/// A word that names what is inside of the hard IP.
struct Named<'a> {
    at: Range<usize>,
    old: &'a str,
    /// How it must read, if that can be told.
    new: Option<String>,
}

/// The words of a text that name what is inside of the hard IP, but for comments.
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

/// Whether a word names the level that is gone, or the entity. A file of the entity's name is none.
fn names(word: &str) -> bool {
    let mut entities = word.match_indices(OLD_ENTITY);
    word.contains(LEVEL) || entities.any(|(at, _)| !word[at + OLD_ENTITY.len()..].starts_with('.'))
}

/// Entity, if there is one, and instance of an element of a path.
fn parts(element: &str) -> (Option<&str>, &str) {
    match element.split_once(':') {
        Some((entity, instance)) => (Some(entity), instance),
        None => (None, element),
    }
}

/// How a path must read now; `None` where that cannot be told.
fn moved(path: &str, behind_variable: bool, hip: &Hip) -> Option<String> {
    if !hip.is_only {
        return None;
    }
    let elements: Vec<&str> = path.split('|').collect();
    let is_level = |at: usize| elements.get(at).is_some_and(|next| parts(next).1 == LEVEL);
    let mut new = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let (entity, instance) = parts(element);
        // A pattern of the entity that went would match nothing.
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

/// What a file's words come to: edits and changes, and the lines that a person has to look at.
#[derive(Default)]
struct Followed {
    edits: Vec<(Range<usize>, String)>,
    /// Each with its line.
    changes: Vec<(usize, String)>,
    unsure: Vec<usize>,
}

/// The line of a byte, counted from 1.
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
    /// Has paths through the hard IP follow.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a partition that cannot follow: Quartus would drop it with a warning.
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

/// A partition that cannot follow.
fn partition(place: Place, hip: &Hip, to: &str) -> Error {
    let name = &hip.name;
    let refuse = |what: &str, remedy: String| {
        let what = format!("{PARTITION} is for what is inside of {name}, {what}");
        Error::new(ErrorKind::Unsupported, place.clone(), what, remedy)
    };
    let elements: Vec<&str> = to.split('|').collect();
    let of_bridge = elements.windows(2).any(|pair| {
        let (entity, instance) = parts(pair[0]);
        let is_hip = instance == name || entity == Some(OLD_ENTITY) && matches(instance, name);
        is_hip && parts(pair[1]).1 != LEVEL && pair[1] != "*"
    });
    if of_bridge {
        return refuse(
            "in the Avalon-MM bridge, which is gone with a streaming port",
            "Remove the partition, or leave port.kind out of the configuration.".into(),
        );
    }
    refuse(
        "whose hierarchy is another one with a streaming port, and its new path cannot be told",
        format!(
            "Write its path out, with {OLD_ENTITY}:{name} and the level {LEVEL}, or leave port.kind out of the configuration."
        ),
    )
}

/// Rows of the report for paths that followed: one for all of a file where there are many.
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

/// The lines of settings and scripts, as they will be, that name what is inside of the hard IP and could not follow.
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

/// Has the timing constraints follow, wherever in the board's directory they are; gives the lines of those that cannot.
///
/// # Errors
/// [`ErrorKind::Io`] and the like for a file that cannot be read.
pub fn constraints(
    layout: &Layout,
    project: &Project,
    hip: &Hip,
    settings: &mut Settings,
) -> Result<Vec<String>> {
    let mut unsure = Vec::new();
    let all = project.tree.iter();
    for inside in
        all.filter(|path| has_extension(path, "sdc") && path.starts_with(&layout.hardware))
    {
        let path = layout.root.join(inside);
        let source = text::read(&path)?;
        let followed = follow(&source, hip);
        let name = inside.strip_prefix(&layout.hardware).unwrap_or(inside);
        let lines = followed.unsure.iter();
        unsure.extend(lines.map(|line| format!("{}:{line}", name.display())));
        if followed.edits.is_empty() {
            continue;
        }
        let mut edits = Edits::default();
        for (at, new) in followed.edits {
            edits.replace(at, new);
        }
        settings
            .changes
            .extend(summed(followed.changes).into_iter().map(|what| Change {
                file: path.clone(),
                what,
                why: WHY.into(),
            }));
        settings.files.push(settings::Rewritten {
            text: edits.apply(&path, &source)?,
            path,
        });
    }
    Ok(unsure)
}

/// What a person has to do about the lines that could not follow.
pub fn to_do(hip: &Hip, lines: &[String]) -> Option<String> {
    let name = &hip.name;
    (!lines.is_empty()).then(|| {
        format!(
            "These lines name what is inside of the hard IP, by {LEVEL} or the entity {OLD_ENTITY}, and how they must read \
             now could not be told: {}. With a streaming port that level is gone: {name}|{LEVEL}|x is {name}|x, of the \
             entity {ENTITY}, and what else {OLD_ENTITY} had in it is gone. Quartus ignores what matches nothing.",
            lines.join(", ")
        )
    })
}

/// What a person has to know of steps that put the vendor's files in the place of the hard IP's: `lost` is whether
/// configuration over PCIe is, which BSPs for `s5_net` patch them for (`scripts/cvpupdatefix`).
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
            "What they change for configuration over PCIe (cvp_update_reset) is of no use at Gen3: take the lines out, unless \
             the files have other changes."
        }
        false => {
            "If the files are patched for configuration over PCIe (cvp_update_reset), the lines stay. See that the files are \
             of the Quartus version that compiles the board: the hard IP's component is that version's."
        }
    };
    (!lines.is_empty()).then(|| {
        format!(
            "These lines name files that Platform Designer generates for the hard IP, and may put the vendor's in their \
             place: {}. {then}",
            lines.join(", ")
        )
    })
}

/// Whether a line names a file of the hard IP.
fn names_a_file(line: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut words = line.split(|c| !part(c));
    words.any(|word| {
        let rest =
            |(begin, end): &(&str, &str)| word.strip_prefix(begin)?.strip_suffix(end).map(|_| ());
        FILES.iter().any(|file| rest(file).is_some())
    })
}
