//! Paths through the hard IP, in settings, constraints and scripts: with a streaming port a level of them is gone.
//!
//! The Avalon-MM variant has the Avalon-ST one in it, as the instance `altera_s5_a2p` (`altpcie_sv_hip_avmm_hwtcl`, ACDS
//! 13.1), and that one now stands in its place. So of `…|altpcie_sv_hip_avmm_hwtcl:pcie|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|x`
//! there is `…|altpcie_sv_hip_ast_hwtcl:pcie|x`. Nobody but the Avalon-MM variant has an instance of that name, so where it
//! stands behind the hard IP or a variable, it goes. What patterns stand for is not guessed.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::hard_ip::{ENTITY, FROM};
use crate::extend::regions::matches;
use crate::extend::report::Change;
use crate::extend::rewrite::Rewritten;
use crate::extend::settings::{self, FileEdits, Settings};
use crate::layout::{Layout, has_extension};
use crate::system::project::{Project, Role};
use crate::system::site::Site;
use crate::system::xml::Edits;
use crate::text;

/// The level that is gone.
const LEVEL: &str = "altera_s5_a2p";
/// The entity of the variant that is replaced.
const OLD_ENTITY: &str = "altpcie_sv_hip_avmm_hwtcl";
/// The assignment that makes an instance a partition.
const PARTITION: &str = "PARTITION_HIERARCHY";
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
            is_only: modules.filter(|module| module.kind == FROM).count() == 1,
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
        if is_level(at) {
            let before = elements[at.checked_sub(1)?];
            let variable = before.contains('$') || before.is_empty() && at == 1 && behind_variable;
            match parts(before) {
                (None, "*") => new.push(element.replace(LEVEL, &hip.name)),
                (Some(OLD_ENTITY), any) if matches(any, &hip.name) => {}
                (_, name) if name == hip.name || variable => {}
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
    changes: Vec<String>,
    unsure: Vec<usize>,
}

fn follow(text: &str, hip: &Hip) -> Followed {
    let mut followed = Followed::default();
    for Named { at, old, new } in named(text, hip) {
        let line = text[..at.start].matches('\n').count() + 1;
        match new {
            Some(new) => {
                followed
                    .changes
                    .push(format!("{old} → {new} (line {line})"));
                followed.edits.push((at, new));
            }
            None => followed.unsure.push(line),
        }
    }
    followed.unsure.dedup();
    followed
}

impl FileEdits<'_> {
    /// Has paths through the hard IP follow; the lines of those that cannot.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a partition that cannot follow: Quartus would drop it with a warning.
    pub(super) fn hard_ip(&mut self, hip: &Hip) -> Result<Vec<String>> {
        let source = self.source;
        if source.role == Role::Shell {
            return Ok(Vec::new());
        }
        let followed = follow(&source.text, hip);
        let line_of = |at: usize| source.text[..at].matches('\n').count() + 1;
        for assignment in self.assignments.iter().filter(|a| a.name == PARTITION) {
            let lines = line_of(assignment.span.start)..=line_of(assignment.to_span.end);
            if let Some(line) = followed.unsure.iter().find(|line| lines.contains(line)) {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    Place::line(&source.path, *line),
                    format!(
                        "{PARTITION} is for what is inside of {}, whose hierarchy is another one with a streaming port, and \
                         its new path cannot be told",
                        hip.name
                    ),
                    format!(
                        "Write its path out, with {OLD_ENTITY}:{} and the level {LEVEL}, or leave port.kind out of the \
                         configuration.",
                        hip.name
                    ),
                ));
            }
        }
        for (at, new) in followed.edits {
            self.edits.replace(at, new);
        }
        for what in followed.changes {
            self.note(what, WHY);
        }
        let name = source
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        Ok((followed.unsure.iter())
            .map(|line| format!("{name}:{line}"))
            .collect())
    }
}

/// Has the timing constraints follow, wherever in the board's directory they are.
///
/// # Errors
/// [`ErrorKind::Io`] and the like for a file that cannot be read.
pub fn constraints(
    layout: &Layout,
    project: &Project,
    hip: &Hip,
    settings: &mut Settings,
) -> Result<()> {
    let all = project.tree.iter();
    for inside in
        all.filter(|path| has_extension(path, "sdc") && path.starts_with(&layout.hardware))
    {
        let path = layout.root.join(inside);
        let source = text::read(&path)?;
        let followed = follow(&source, hip);
        let name = inside.strip_prefix(&layout.hardware).unwrap_or(inside);
        let lines = followed.unsure.iter();
        (settings.inside_hip).extend(lines.map(|line| format!("{}:{line}", name.display())));
        if followed.edits.is_empty() {
            continue;
        }
        let mut edits = Edits::default();
        for (at, new) in followed.edits {
            edits.replace(at, new);
        }
        settings
            .changes
            .extend(followed.changes.into_iter().map(|what| Change {
                file: path.clone(),
                what,
                why: WHY.into(),
            }));
        settings.files.push(settings::Rewritten {
            text: edits.apply(&path, &source)?,
            path,
        });
    }
    Ok(())
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
