//! LogicLock regions: the places on the device that the settings give to instances of the design.
//!
//! A member is an instance by its path, `entity:instance|entity:instance|…` (Quartus Prime Standard Edition Settings File
//! Reference Manual 683084, `LL_MEMBER_OF`). The block has another entity than the old DMA, bridges of the old DMA go, and a
//! bridge may come: their paths are rewritten. What a script puts together is said where it cannot be rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::block;
use crate::config::Config;
use crate::extend::resources::{ALMS_PER_LAB, Resources};
use crate::extend::rewrite::Rewritten;
use crate::extend::settings::FileEdits;
use crate::system::library::{Library, OLD_DMA};
use crate::system::project::{Project, Source};
use crate::system::qsf::Assignment;
use crate::system::site::Site;
use crate::system::values::UNKNOWN;

/// The assignment that makes an instance a member of a region, which is its value.
const MEMBER: &str = "LL_MEMBER_OF";
const WHY_REWRITTEN: &str =
    "the block is another entity than the old DMA; it takes the DMA's place in the region";
const WHY_PART: &str = "what was inside the old DMA is gone; the block is a member as a whole";
const WHY_GONE: &str = "the instance is gone";
const WHY_INSERTED: &str = "the new bridge stands beside this one";
/// Ways from the top down to the DMA's system that are told apart.
const MOST_WAYS: usize = 64;

/// A bridge that is put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBridge {
    /// Its name.
    pub name: String,
    /// Its kind, which is its entity, too.
    pub kind: String,
    /// The instance behind it.
    pub beside: String,
}

/// What becomes of the instances of the system with the DMA.
#[derive(Debug, Default)]
pub struct Moved {
    /// Names of the instances from a top system down to that system, which a path of Quartus has in it.
    pub ways: Vec<Vec<String>>,
    /// Name of the DMA's instance, and then of the block's.
    pub dma: String,
    /// The block's entity.
    pub entity: &'static str,
    /// Instances that go.
    pub gone: Vec<String>,
    /// Bridges that come.
    pub inserted: Vec<NewBridge>,
}

/// What becomes of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Stays,
    Gone,
    /// These bytes of the path get another text. With `part` they named something inside of the old DMA.
    Rewritten {
        at: Range<usize>,
        to: String,
        part: bool,
    },
}

/// Where a path names an instance.
struct Found {
    /// Bytes of the instance's element.
    element: Range<usize>,
    /// Whether more of the path follows that narrows it.
    inside: bool,
}

impl Moved {
    /// What an extension does to the instances.
    pub fn new(site: &Site<'_>, new: &Rewritten, config: &Config) -> Self {
        Self {
            ways: ways(site.library, &site.system.kind),
            dma: site.dma.name.clone(),
            entity: block::top(config.irq),
            gone: new.removed_bridges.clone(),
            inserted: new.inserted.clone(),
        }
    }

    /// Where a path names an instance of the system with the DMA, by names that are written out.
    fn find(&self, path: &str, name: &str) -> Option<Found> {
        let elements = elements(path);
        let names: Vec<&str> = (elements.iter())
            .map(|at| instance(&path[at.clone()]))
            .collect();
        // What is put together, or any number of instances, may stand for the beginning of a way.
        let open = names
            .first()
            .is_some_and(|first| first.contains(['*', UNKNOWN]));
        for way in &self.ways {
            let whole: Vec<&str> = way.iter().map(String::as_str).chain([name]).collect();
            let mut starts = 0..names.len();
            let found = starts.find_map(|start| {
                let ahead = names[start..].starts_with(&whole);
                ahead.then_some(start + whole.len() - 1)
            });
            let found = found.or_else(|| {
                let mut rest = (0..whole.len()).filter(|_| open).map(|from| &whole[from..]);
                rest.find_map(|rest| names[1..].starts_with(rest).then_some(rest.len()))
            });
            if let Some(at) = found {
                let behind = &names[at + 1..];
                return Some(Found {
                    element: elements[at].clone(),
                    inside: behind.iter().any(|name| *name != "*"),
                });
            }
        }
        None
    }

    fn fate(&self, path: &str) -> Fate {
        if self.gone.iter().any(|name| self.find(path, name).is_some()) {
            return Fate::Gone;
        }
        let Some(found) = self.find(path, &self.dma) else {
            return Fate::Stays;
        };
        let element = &path[found.element.clone()];
        let named = element.split_once(':').map(|(entity, _)| entity);
        let to = match named {
            Some(_) => format!("{}:{}", self.entity, self.dma),
            None => self.dma.clone(),
        };
        match (named, found.inside) {
            (_, true) => Fate::Rewritten {
                at: found.element.start..path.len(),
                to,
                part: true,
            },
            (Some(entity), _) if !matches(entity, self.entity) => Fate::Rewritten {
                at: found.element,
                to,
                part: false,
            },
            _ => Fate::Stays,
        }
    }

    /// Whether a pattern stands for the old DMA by its entity, which the block does not have.
    fn is_old_pattern(&self, path: &str) -> bool {
        path.split('|').any(|element| {
            let Some((entity, instance)) = element.split_once(':') else {
                return false;
            };
            instance.contains(['*', '?'])
                && matches(instance, &self.dma)
                && (entity.ends_with(&self.dma) || entity.ends_with(OLD_DMA))
        })
    }

    /// Whether a member is the old DMA, a part of it, or has it in it.
    fn holds_the_block(&self, path: &str) -> bool {
        let in_it = || {
            let elements = elements(path);
            let names: Vec<&str> = (elements.iter())
                .map(|at| instance(&path[at.clone()]))
                .collect();
            // By the beginnings of the way down, from the longest on.
            self.ways.iter().any(|way| {
                let way: Vec<&str> = way.iter().map(String::as_str).collect();
                (1..=way.len()).any(|length| names.ends_with(&way[..length]))
            })
        };
        self.find(path, &self.dma).is_some() || in_it()
    }
}

/// The ways from top systems down to a system.
fn ways(library: &Library, kind: &str) -> Vec<Vec<String>> {
    let mut open = vec![(kind.to_string(), Vec::new())];
    let mut found = Vec::new();
    while let Some((kind, way)) = open.pop() {
        let around = library.systems().flat_map(|system| {
            let inner = system.modules.iter().filter(|module| module.kind == kind);
            inner.map(move |module| (system, module))
        });
        let around: Vec<_> = around.collect();
        if around.is_empty() {
            found.push(way);
            continue;
        }
        for (system, module) in around {
            if found.len() + open.len() < MOST_WAYS {
                let mut way: Vec<String> = way.clone();
                way.insert(0, module.name.clone());
                open.push((system.kind.clone(), way));
            }
        }
    }
    found
}

/// Bytes of the elements of a path.
fn elements(path: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let all = path.split('|').map(|element| {
        let at = start..start + element.len();
        start = at.end + 1;
        at
    });
    all.filter(|at| !at.is_empty()).collect()
}

/// The instance of an element, with its entity or without.
fn instance(element: &str) -> &str {
    element
        .split_once(':')
        .map_or(element, |(_, instance)| instance)
}

/// Whether a text is one of those that a pattern with `*` and `?` stands for.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Behind the last star, and where what it stands for ends.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((behind, end)) => {
                    star = Some((behind, end + 1));
                    (p, t) = (behind, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// What the members of all files come to.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Revisions that have the block as a member already: what names a part of it may go.
    whole: BTreeSet<String>,
}

impl Members {
    /// Looks for the members that are the old DMA as a whole.
    pub fn find(project: &Project, moved: &Moved) -> Self {
        let mut whole = BTreeSet::new();
        for (source, assignment) in members(project) {
            let values = values(project, source, &assignment);
            let found = values.iter().any(|path| {
                let found = moved.find(path, &moved.dma);
                found.is_some_and(|found| !found.inside)
            });
            if found {
                whole.extend(source.revisions.iter().cloned());
            }
        }
        Self { whole }
    }
}

fn members(project: &Project) -> impl Iterator<Item = (&Source, Assignment)> {
    let all = project.sources.iter().flat_map(|source| {
        let all = source.assignments().into_iter();
        all.map(move |assignment| (source, assignment))
    });
    all.filter(|(_, a)| a.name == MEMBER && !a.to_span.is_empty())
}

/// The paths that a member may be. In settings files brackets are bits of buses, unless something is put together.
fn values(project: &Project, source: &Source, assignment: &Assignment) -> Vec<String> {
    let text = assignment.to.as_deref().unwrap_or_default();
    let mut bits = text.split('[').skip(1);
    let plain = bits.all(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '*'));
    match plain && !text.contains('$') {
        true => vec![text.to_string()],
        false => project.values(source, assignment.to_span.clone()),
    }
}

impl FileEdits<'_> {
    /// Has the members of regions follow the instances.
    pub(super) fn regions(&mut self, moved: &Moved, members: &mut Members) {
        for assignment in self.assignments.clone() {
            if assignment.name == MEMBER && !assignment.to_span.is_empty() {
                self.member(&assignment, moved, members);
            }
        }
    }

    fn member(&mut self, assignment: &Assignment, moved: &Moved, members: &mut Members) {
        let values = values(self.project, self.source, assignment);
        let fates: Vec<Fate> = values.iter().map(|path| moved.fate(path)).collect();
        let region = &assignment.value;
        let Some((fate, path)) = fates.first().zip(values.first()) else {
            return;
        };
        let line = assignment.line;
        if fates.iter().all(|fate| *fate == Fate::Stays) {
            if values.iter().any(|path| moved.is_old_pattern(path)) {
                self.put_together(assignment, path);
            } else {
                self.insert_beside(assignment, moved);
            }
        } else if fates.iter().all(|fate| *fate == Fate::Gone) {
            self.edits.delete(assignment.span.clone());
            let what = format!("member {path} of region {region} removed (line {line})");
            self.note(what, WHY_GONE);
        } else if let ([_], Fate::Rewritten { at, to, part }) = (fates.as_slice(), fate) {
            let known = |revision: &String| members.whole.contains(revision);
            if *part && self.source.revisions.iter().all(known) {
                self.edits.delete(assignment.span.clone());
                let what = format!("member {path} of region {region} removed (line {line})");
                self.note(what, WHY_PART);
                return;
            }
            let Some((span, text)) = self.new_text(assignment, path, at, to) else {
                self.put_together(assignment, path);
                return;
            };
            self.edits.replace(span, text);
            members.whole.extend(self.source.revisions.iter().cloned());
            let why = if *part { WHY_PART } else { WHY_REWRITTEN };
            let old = &path[at.clone()];
            let what = format!("member {old} of region {region} → {to} (line {line})");
            self.note(what, why);
        } else {
            let changed = fates.iter().position(|fate| *fate != Fate::Stays);
            let path = values[changed.unwrap_or(0)].clone();
            self.put_together(assignment, &path);
        }
    }

    /// The bytes of the file that a new element of a path takes the place of: of the element as it is written, or of the
    /// whole word if all of the path is known.
    fn new_text(
        &self,
        assignment: &Assignment,
        path: &str,
        at: &Range<usize>,
        to: &str,
    ) -> Option<(Range<usize>, String)> {
        let word = assignment.to_span.clone();
        let text = &self.source.text[word.clone()];
        let old = &path[at.clone()];
        if let Some(found) = text.rfind(old) {
            let start = word.start + found;
            return Some((start..start + old.len(), to.to_string()));
        }
        let new = format!("{}{to}{}", &path[..at.start], &path[at.end..]);
        (!path.contains(UNKNOWN)).then(|| (word, format!("{{{new}}}")))
    }

    fn put_together(&mut self, assignment: &Assignment, path: &str) {
        let file = self.source.path.file_name().unwrap_or_default();
        let path = path.replace(UNKNOWN, "…");
        self.notes.push(format!(
            "{}:{}: a script puts the members of the LogicLock region {} together, or a pattern stands for \
             them. One is {path}, which is gone or another entity now: write the members out, as the systems have them.",
            file.to_string_lossy(),
            assignment.line,
            assignment.value,
        ));
    }

    /// Puts a bridge that is new into the region of the one that it stands beside.
    fn insert_beside(&mut self, assignment: &Assignment, moved: &Moved) {
        let span = assignment.span.clone();
        let text = &self.source.text;
        let path = assignment.to.as_deref().unwrap_or_default();
        for bridge in &moved.inserted {
            let found = moved.find(path, &bridge.beside);
            let Some(found) = found.filter(|found| found.element.end == path.len()) else {
                continue;
            };
            let old = &path[found.element];
            let new = match old.contains(':') {
                true => format!("{}:{}", bridge.kind, bridge.name),
                false => bridge.name.clone(),
            };
            let word = &assignment.to_span;
            let Some(at) = text[word.clone()].rfind(old).map(|at| word.start + at) else {
                continue;
            };
            let line = format!(
                "{}{new}{}",
                &text[span.start..at],
                &text[at + old.len()..span.end]
            );
            let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let line = match line.ends_with('\n') {
                true => line,
                false => format!("{eol}{line}"),
            };
            self.edits.insert(span.end, line);
            let what = format!("member {new} added to region {}", assignment.value);
            self.note(what, WHY_INSERTED);
        }
    }
}

/// A region as a revision has it.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Region {
    name: String,
    width: u64,
    height: u64,
    /// Origin and state, as the settings say them.
    about: Vec<String>,
}

/// What a person should know of the regions: whether the one with the block has room for it, and members that Platform
/// Designer may call otherwise afterwards.
pub fn notes(project: &Project, moved: &Moved, resources: Resources) -> Vec<String> {
    let mut regions: BTreeMap<Region, BTreeSet<String>> = BTreeMap::new();
    let mut numbered = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (source, assignment) in members(project) {
        let values = values(project, source, &assignment);
        if values.iter().any(|path| moved.holds_the_block(path)) {
            for revision in &source.revisions {
                // Each costs a pass over the settings.
                if !seen.insert((revision.clone(), assignment.value.clone())) {
                    continue;
                }
                if let Some(region) = region(project, revision, &assignment.value) {
                    regions.entry(region).or_default().insert(revision.clone());
                }
            }
        }
        let generated = ["mm_interconnect_", "irq_mapper", "rst_controller"];
        let is = |path: &String| {
            let names: Vec<_> = path.split('|').map(instance).collect();
            (names.iter()).any(|name| generated.iter().any(|begin| name.starts_with(begin)))
        };
        if values.iter().any(is) {
            let file = source.path.file_name().unwrap_or_default();
            numbered.insert(format!("{}:{}", file.to_string_lossy(), assignment.line));
        }
    }
    let mut notes: Vec<_> = (regions.iter())
        .map(|(region, revisions)| size(region, revisions, resources))
        .collect();
    if !numbered.is_empty() {
        let lines: Vec<_> = numbered.into_iter().collect();
        notes.push(format!(
            "These members of LogicLock regions are instances that Platform Designer makes, and it numbers them anew: {}. \
             Compare them with the hierarchy of the first compile.",
            lines.join(", ")
        ));
    }
    notes
}

/// A region with a size of its own; `None` where Quartus sizes it, or does not look at it.
fn region(project: &Project, revision: &str, name: &str) -> Option<Region> {
    let value = |setting: &str| {
        let all = project.settings(&[setting]);
        let mut of = all.iter().filter(|(source, a)| {
            source.revisions.contains(revision) && a.section.as_deref() == Some(name)
        });
        of.next_back().map(|(_, a)| a.value.trim().to_uppercase())
    };
    let is = |setting: &str, wanted: &str| value(setting).is_some_and(|value| value == wanted);
    if is("LL_ENABLED", "OFF") || is("LL_AUTO_SIZE", "ON") || is("LL_ROOT_REGION", "ON") {
        return None;
    }
    let number = |setting: &str| value(setting)?.parse().ok().filter(|&n: &u64| n > 0);
    Some(Region {
        name: name.into(),
        width: number("LL_WIDTH")?,
        height: number("LL_HEIGHT")?,
        about: ["LL_ORIGIN", "LL_STATE"]
            .into_iter()
            .filter_map(value)
            .collect(),
    })
}

/// Whether a region has room for the block, and what to enlarge.
fn size(region: &Region, revisions: &BTreeSet<String>, resources: Resources) -> String {
    let Region {
        name,
        width,
        height,
        about,
    } = region;
    let places = u128::from(*width) * u128::from(*height);
    let labs = resources.alms.div_ceil(ALMS_PER_LAB);
    let needed = u128::from(labs) + u128::from(resources.rams);
    let memory = resources.memory.name();
    let revisions: Vec<_> = revisions.iter().map(String::as_str).collect();
    let about = match about.as_slice() {
        [] => String::new(),
        about => format!(", {}", about.join(", ")),
    };
    let head = format!(
        "The LogicLock region {name} ({width} × {height}{about}; revision {}) has the block in it. It has {places} places: at \
         most {} ALMs, if all of them are LABs ({ALMS_PER_LAB} ALMs each); which columns are {memory} or DSP blocks is not \
         known here. The block takes about {} ALMs, which are {labs} LABs, and {} {memory}; the old DMA and its bridges are \
         gone from it, and what they took is not known.",
        revisions.join(", "),
        places * u128::from(ALMS_PER_LAB),
        resources.alms,
        resources.rams,
    );
    let more = |across: &u64| needed.div_ceil(u128::from(*across));
    let (columns, rows) = (
        u128::from(*width) + more(height),
        u128::from(*height) + more(width),
    );
    if needed > places {
        return format!(
            "{head} The region is too small for the block: it needs at least LL_WIDTH {} or LL_HEIGHT {}, and more for what \
             else is in it.",
            more(height),
            more(width)
        );
    }
    format!(
        "{head} See in the Fitter's report of the vendor's compile how much of the region is free. Where that is less, set \
         LL_WIDTH {columns} or LL_HEIGHT {rows}, and see that no other region is in the way."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved() -> Moved {
        Moved {
            ways: vec![vec!["shell".into(), "board".into()]],
            dma: "copier".into(),
            entity: "peerlane_dma",
            gone: vec!["crossing".into()],
            inserted: Vec::new(),
        }
    }

    fn fate(path: &str) -> String {
        match moved().fate(path) {
            Fate::Stays => "stays".into(),
            Fate::Gone => "gone".into(),
            Fate::Rewritten { at, to, .. } => {
                format!("{}{to}{}", &path[..at.start], &path[at.end..])
            }
        }
    }

    #[test]
    fn paths_with_entities_and_without() {
        let (old, new) = ("system_board_copier:copier", "peerlane_dma:copier");
        for way in [
            "system:inst|system_shell:shell|shell_board:board|",
            "inst|shell|board|",
            "|inst|shell|board|",
            "*|board|",
            "*|",
        ] {
            assert_eq!(fate(&format!("{way}{old}")), format!("{way}{new}"));
            assert_eq!(fate(&format!("{way}{old}|*")), format!("{way}{new}|*"));
            // What was inside of it: the whole block.
            assert_eq!(
                fate(&format!("{way}{old}|core:core|fifo[3]")),
                format!("{way}{new}")
            );
            assert_eq!(fate(&format!("{way}copier|core")), format!("{way}copier"));
            for stays in [
                "copier",
                "peerlane_dma:copier",
                "*:copier",
                "peerlane*:copier",
                "x:copier_2",
                "x:other|y",
            ] {
                assert_eq!(fate(&format!("{way}{stays}")), "stays", "{way}{stays}");
            }
            for gone in ["crossing", "bridge:crossing", "bridge:crossing|fifo:f|*"] {
                assert_eq!(fate(&format!("{way}{gone}")), "gone", "{way}{gone}");
            }
        }
        // Elsewhere in the design, and no instance of it.
        for other in [
            "inst|shell|kernels|copier",
            "copier",
            "inst|board|copier",
            "",
            "|",
            "*",
            "inst|shell|board",
        ] {
            assert_eq!(fate(other), "stays", "{other}");
        }
    }

    #[test]
    fn what_has_the_block_in_it() {
        for path in [
            "inst|shell|board|x:copier",
            "i|shell|board|copier|core",
            "s:i|s_shell:shell|b:board",
            "i|shell",
        ] {
            assert!(moved().holds_the_block(path), "{path}");
        }
        for path in ["inst|shell|board|other", "inst|board", "inst"] {
            assert!(!moved().holds_the_block(path), "{path}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("a*c", "abbc"),
            ("?b*", "ab"),
            ("*a*a*b", "aaab"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("a*c", "abb"),
            ("?", ""),
            ("*a*a*b", "ab"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        for old in [
            "*|system_board_copier:*",
            "*acl_dma:cop*",
            "x:y|*_copier:copier*",
        ] {
            assert!(moved().is_old_pattern(old), "{old}");
        }
        for other in ["*|altera_avalon_mm_bridge:*", "*copier", "*|x_copier:host*"] {
            assert!(!moved().is_old_pattern(other), "{other}");
        }
    }

    #[test]
    fn a_region_says_what_it_lacks() {
        let region = |width, height| Region {
            name: "r".into(),
            width,
            height,
            about: vec!["X0_Y1".into(), "LOCKED".into()],
        };
        let resources = Resources {
            alms: 1995,
            ffs: 0,
            rams: 100,
            memory: crate::extend::family::Blocks::M20k,
        };
        let revisions = BTreeSet::from(["base".to_string()]);
        // 200 LABs and 100 blocks: 300 places.
        let room = size(&region(100, 10), &revisions, resources);
        for words in [
            "100 × 10, X0_Y1, LOCKED",
            "at most 10000 ALMs",
            "200 LABs, and 100 M20K",
            "LL_WIDTH 130 or LL_HEIGHT 13",
        ] {
            assert!(room.contains(words), "{words}: {room}");
        }
        let small = size(&region(29, 10), &revisions, resources);
        assert!(
            small.contains("too small") && small.contains("LL_WIDTH 30 or LL_HEIGHT 11"),
            "{small}"
        );
    }
}
