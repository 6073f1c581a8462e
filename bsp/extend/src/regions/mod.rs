//! LogicLock regions: the places on the device that the settings give to instances of the design.
//!
//! A member is an instance by its path, `entity:instance|entity:instance|…` (Quartus Prime Standard Edition Settings
//! File Reference Manual 683084, 1.12). The block has another entity than the old DMA, bridges of the old DMA are
//! removed, and a bridge may be added: their paths are rewritten. A path that a script computes and that cannot be
//! rewritten is reported.

mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::file_edits::FileEdits;
use crate::resources::{ALMS_PER_LAB, Resources};
use crate::step::Step;
use peerlane_bsp_design::project::{Project, Source};
use peerlane_bsp_design::qsf::Assignment;
use peerlane_bsp_design::values::UNKNOWN;

pub use crate::host_bus::NewBridge;
use paths::{Fate, Path, instance};
pub use paths::{Hip, Moved, Way, matches};

/// The assignment that makes an instance a member of a region, which is its value.
const MEMBER: &str = "LL_MEMBER_OF";
/// The assignment that gives a region one of several rectangles.
const RECTANGLE: &str = "LL_RECT";
const WHY_REWRITTEN: &str =
    "the block has another entity than the old DMA; it replaces the DMA in the region";
const WHY_PART: &str =
    "the parts of the old DMA do not exist any more; the whole block is a member";
const WHY_GONE: &str = "the instance was removed";
const WHY_INSERTED: &str = "the new bridge is next to this instance";

/// Facts about the members of all files.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Revisions that have the block as a member already: a member that names a part of it may be removed.
    whole: BTreeSet<String>,
}

impl Members {
    /// Finds the members that are the old DMA as a whole.
    pub(crate) fn find(project: &Project, moved: &Moved) -> Self {
        let mut whole = BTreeSet::new();
        for (source, assignment) in members(project) {
            let values = values(project, source, &assignment);
            let found = values.iter().any(|path| {
                let found = moved.find(at(path, &assignment), &moved.dma);
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

/// Returns a path of a member, in the entity that the assignment names.
fn at<'a>(text: &'a str, assignment: &'a Assignment) -> Path<'a> {
    Path {
        text,
        entity: assignment.entity.as_deref(),
    }
}

/// Returns the paths that a member may be. In settings files brackets are bits of buses, unless the path is computed.
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
    /// Rewrites the members of regions.
    pub(super) fn regions(&mut self, moved: &Moved, members: &mut Members) {
        for assignment in self.assignments.clone() {
            if assignment.name == MEMBER && !assignment.to_span.is_empty() {
                self.member(&assignment, moved, members);
            }
        }
    }

    fn member(&mut self, assignment: &Assignment, moved: &Moved, members: &mut Members) {
        let values = values(self.project, self.source, assignment);
        let fates: Vec<Fate> = (values.iter())
            .map(|path| moved.fate(at(path, assignment)))
            .collect();
        let region = &assignment.value;
        let Some((fate, path)) = fates.first().zip(values.first()) else {
            return;
        };
        let line = assignment.line;
        if fates.iter().all(|fate| *fate == Fate::Stays) {
            if values.iter().any(|path| moved.is_old_pattern(path)) {
                self.put_together(assignment, path);
            } else {
                self.insert_beside(assignment, &values, moved);
            }
        } else if fates.iter().all(|fate| *fate == Fate::Gone) {
            self.insert_beside(assignment, &values, moved);
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
            self.insert_beside(assignment, &values, moved);
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

    /// Returns the bytes of the file that a new element of a path replaces, with the text: the element as it is
    /// written, or the whole word if all of the path is known.
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
        let file = self.source.name();
        let path = path.replace(UNKNOWN, "…");
        self.notes.push(format!(
            "The vendor's {}:{}: a script composes the members of the LogicLock region {}, or a pattern represents \
             them. One is {path}, which was removed or has another entity now. Write the members out, as the systems \
             have them.",
            file,
            assignment.line,
            assignment.value,
        ));
    }

    /// Puts a new bridge into the region of the instance that follows it.
    fn insert_beside(&mut self, assignment: &Assignment, values: &[String], moved: &Moved) {
        let source = self.source;
        for bridge in &moved.inserted {
            let beside = |path: &String| {
                let found = moved.find(at(path, assignment), &bridge.beside);
                let found = found.filter(|found| found.element.end == path.len())?;
                Some((path.clone(), found.element))
            };
            let Some((path, element)) = values.iter().find_map(beside) else {
                continue;
            };
            let new = match path[element.clone()].contains(':') {
                true => format!("{}:{}", bridge.kind, bridge.name),
                false => bridge.name.clone(),
            };
            let place = match values {
                [_] => self.new_text(assignment, &path, &element, &new),
                _ => None,
            };
            let Some((place, text)) = place else {
                self.notes.push(format!(
                    "The vendor's {}:{}: a script composes the members of the LogicLock region {}. One is {path}, and \
                     the new bridge {} is next to it: make the bridge a member, too.",
                    source.name(),
                    assignment.line,
                    assignment.value,
                    bridge.name,
                ));
                continue;
            };
            let span = assignment.span.clone();
            let line = format!(
                "{}{text}{}",
                &source.text[span.start..place.start],
                &source.text[place.end..span.end]
            );
            let crlf = source.text.contains("\r\n");
            let line = match line.ends_with('\n') {
                true => line,
                false => format!("{}{line}", if crlf { "\r\n" } else { "\n" }),
            };
            self.edits.insert(span.end, line);
            let what = format!("member {new} added to region {}", assignment.value);
            self.note(what, WHY_INSERTED);
        }
    }
}

/// A region in a revision.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Region {
    name: String,
    /// Width and height of each of its rectangles.
    rectangles: Vec<(u64, u64)>,
    /// Whether these are lines of their own ([`RECTANGLE`]), instead of one origin with its sides.
    several: bool,
    /// Origin and state in the settings.
    about: Vec<String>,
}

/// The revisions that have such a region, and the lines with its sides: file and line.
#[derive(Debug, Default)]
struct Found {
    revisions: BTreeSet<String>,
    lines: BTreeSet<(String, usize)>,
}

/// Returns the notes on the regions: whether the one with the block has room for it, and members whose names Platform
/// Designer may change.
pub fn notes(project: &Project, moved: &Moved, resources: Resources) -> Vec<String> {
    let mut regions: BTreeMap<Region, Found> = BTreeMap::new();
    let mut numbered = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (source, assignment) in members(project) {
        let values = values(project, source, &assignment);
        if (values.iter()).any(|path| moved.holds_the_block(at(path, &assignment))) {
            for revision in &source.revisions {
                // Each costs a pass over the settings.
                if !seen.insert((revision.clone(), assignment.value.clone())) {
                    continue;
                }
                if let Some((region, lines)) = region(project, revision, &assignment.value) {
                    let found = regions.entry(region).or_default();
                    found.revisions.insert(revision.clone());
                    found.lines.extend(lines);
                }
            }
        }
        let generated = ["mm_interconnect_", "irq_mapper", "rst_controller"];
        let is = |path: &String| {
            let mut names = path.split('|').map(instance);
            let made = names.find(|name| generated.iter().any(|begin| name.starts_with(begin)));
            made.map(str::to_string)
        };
        if let Some(name) = values.iter().find_map(is) {
            numbered.insert(format!("{}:{} ({name})", source.name(), assignment.line));
        }
    }
    let mut notes: Vec<_> = (regions.iter())
        .map(|(region, found)| size(region, found, resources))
        .collect();
    if !numbered.is_empty() {
        let lines: Vec<_> = numbered.into_iter().collect();
        notes.push(format!(
            "These members of LogicLock regions, by the vendor's lines, are instances that Platform Designer generates \
             and numbers again: {}. Compare them with the hierarchy of the first compile.",
            lines.join(", ")
        ));
    }
    notes
}

/// Returns the notes as tasks for the user.
pub(crate) fn step(project: &Project, moved: &Moved, resources: Resources) -> Step {
    Step {
        to_do: notes(project, moved, resources),
        ..Step::default()
    }
}

/// Returns a region with a size of its own, and the lines with the size; `None` if Quartus sizes it, or ignores it.
fn region(project: &Project, revision: &str, name: &str) -> Option<(Region, Vec<(String, usize)>)> {
    let all = |setting: &str| -> Vec<(&Source, Assignment)> {
        let all = project.settings(&[setting]).into_iter();
        let of = all.filter(|(source, a)| {
            source.revisions.contains(revision) && a.section.as_deref() == Some(name)
        });
        of.collect()
    };
    let value = |setting: &str| {
        let of = all(setting);
        of.last().map(|(_, a)| a.value.trim().to_uppercase())
    };
    let is = |setting: &str, wanted: &str| value(setting).is_some_and(|value| value == wanted);
    if is("LL_ENABLED", "OFF") || is("LL_AUTO_SIZE", "ON") || is("LL_ROOT_REGION", "ON") {
        return None;
    }
    let positive = |text: &str| text.trim().parse().ok().filter(|&n: &u64| n > 0);
    let line = |source: &Source, a: &Assignment| (source.name().into_owned(), a.line);
    // A region of several rectangles has them instead of one origin with its sides.
    let (mut rectangles, mut lines) = (Vec::new(), Vec::new());
    for (source, a) in all(RECTANGLE) {
        let (width, height) = &a.sides;
        let sides = (|| Some((positive(width.as_deref()?)?, positive(height.as_deref()?)?)))();
        if let Some(sides) = sides {
            rectangles.push(sides);
            lines.push(line(source, &a));
        }
    }
    let several = !rectangles.is_empty();
    if !several {
        let mut side = |setting| {
            let (source, a) = all(setting).pop()?;
            lines.push(line(source, &a));
            positive(&a.value)
        };
        rectangles.push((side("LL_WIDTH")?, side("LL_HEIGHT")?));
    }
    let region = Region {
        name: name.into(),
        rectangles,
        several,
        about: ["LL_ORIGIN", "LL_STATE"]
            .into_iter()
            .filter_map(value)
            .collect(),
    };
    Some((region, lines))
}

/// Describes whether a region has room for the block, and how to enlarge it.
fn size(region: &Region, found: &Found, resources: Resources) -> String {
    let Region {
        name,
        rectangles,
        several,
        about,
    } = region;
    let area = |(width, height): &(u64, u64)| u128::from(*width) * u128::from(*height);
    let places: u128 = rectangles.iter().map(area).sum();
    let sides: Vec<_> = (rectangles.iter())
        .map(|(width, height)| format!("{width} × {height}"))
        .collect();
    let labs = resources.alms.div_ceil(ALMS_PER_LAB);
    let needed = u128::from(labs) + u128::from(resources.rams);
    let memory = resources.memory.name();
    let revisions: Vec<_> = found.revisions.iter().map(String::as_str).collect();
    let lines: Vec<_> = (found.lines.iter())
        .map(|(file, line)| format!("{file}:{line}"))
        .collect();
    let about = match about.as_slice() {
        [] => String::new(),
        about => format!(", {}", about.join(", ")),
    };
    let head = format!(
        "The LogicLock region {name} ({}{about}; revision {}) has the block in it. It has {places} places: at most {} \
         ALMs, if all of them are LABs ({ALMS_PER_LAB} ALMs each); the columns with {memory} or DSP blocks are not \
         known here. The block takes about {} ALMs, which are {labs} LABs, and {} {memory}; the old DMA and its \
         bridges are not in it any more, and their size is not known. These lines of the vendor's files set its size: \
         {}.",
        sides.join(" and "),
        revisions.join(", "),
        places * u128::from(ALMS_PER_LAB),
        resources.alms,
        resources.rams,
        lines.join(", "),
    );
    let (false, &[(width, height)]) = (*several, rectangles.as_slice()) else {
        return match needed > places {
            true => format!(
                "{head} The region is too small for the block: its rectangles ({RECTANGLE}) need at least {needed} \
                 places, and more for its other contents."
            ),
            false => format!(
                "{head} Find the free part of the region in the Fitter's report of the vendor's compile. If it is \
                 less, enlarge a rectangle ({RECTANGLE} with -width and -height) or add one, by {needed} places in \
                 all, and make sure that no other region overlaps."
            ),
        };
    };
    let more = |across: u64| needed.div_ceil(u128::from(across));
    let (columns, rows) = (
        u128::from(width) + more(height),
        u128::from(height) + more(width),
    );
    if needed > places {
        return format!(
            "{head} The region is too small for the block: it needs at least LL_WIDTH {} or LL_HEIGHT {}, and more for \
             its other contents.",
            more(height),
            more(width)
        );
    }
    format!(
        "{head} Find the free part of the region in the Fitter's report of the vendor's compile. If it is less, set \
         LL_WIDTH {columns} or LL_HEIGHT {rows}, and make sure that no other region overlaps."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_says_what_it_lacks() {
        let region = |width, height| Region {
            name: "r".into(),
            rectangles: vec![(width, height)],
            several: false,
            about: vec!["X0_Y1".into(), "LOCKED".into()],
        };
        let resources = Resources {
            alms: 1995,
            ffs: 0,
            rams: 100,
            memory: peerlane_bsp_generate::memory_blocks::Blocks::M20k,
        };
        let found = Found {
            revisions: BTreeSet::from(["base".to_string()]),
            lines: BTreeSet::from([("base.qsf".to_string(), 12), ("base.qsf".to_string(), 9)]),
        };
        // 200 LABs and 100 blocks: 300 places.
        let room = size(&region(100, 10), &found, resources);
        for words in [
            "100 × 10, X0_Y1, LOCKED",
            "at most 10000 ALMs",
            "size: base.qsf:9, base.qsf:12. ",
            "200 LABs, and 100 M20K",
            "LL_WIDTH 130 or LL_HEIGHT 13",
        ] {
            assert!(room.contains(words), "{words}: {room}");
        }
        let small = size(&region(29, 10), &found, resources);
        assert!(
            small.contains("too small") && small.contains("LL_WIDTH 30 or LL_HEIGHT 11"),
            "{small}"
        );
        let several = |rectangles: &[(u64, u64)]| Region {
            rectangles: rectangles.to_vec(),
            several: true,
            ..region(0, 0)
        };
        let room = size(&several(&[(20, 10), (50, 4)]), &found, resources);
        for words in [
            "(20 × 10 and 50 × 4, X0_Y1",
            "has 400 places",
            "by 300 places",
        ] {
            assert!(room.contains(words), "{words}: {room}");
        }
        // A single rectangle has no LL_WIDTH, either.
        let room = size(&several(&[(100, 10)]), &found, resources);
        assert!(
            room.contains("LL_RECT") && !room.contains("LL_WIDTH"),
            "{room}"
        );
        let small = size(&several(&[(20, 10), (9, 11)]), &found, resources);
        assert!(
            small.contains("too small") && small.contains("at least 300 places"),
            "{small}"
        );
    }
}
