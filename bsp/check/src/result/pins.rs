//! Settings of the device and of its pins, and the timing constraints: all of the vendor's must be there.
//!
//! The extension changes none of these, so its report names none. Without this test, a difference would appear only in
//! a Fitter run of hours, or on a board with a pin that drives against another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::settings::{Assignment, LOCATION, Reader, Revision};
use crate::read::tcl::{Command, Runs};
use crate::result::hip_paths::{Hip, names_the_old};
use crate::result::lines::{self, Difference};
use crate::result::settings::IMPORTS;
use crate::result::{BLOCK, Bsp};
use peerlane_bsp_platform::error::{Place, Result};

const TEST: &str = "pins and constraints";
/// The assignment that makes an instance a partition.
const PARTITION: &str = "PARTITION_HIERARCHY";
/// The native PHY inside the hard IP; at Gen3 it has one PLL more than below (ACDS 13.1).
pub(super) const PHY: &str = "sv_xcvr_pipe_native";
/// Assignments of the whole device.
const DEVICE: [&str; 2] = ["DEVICE", "FAMILY"];
/// Most characters of a command that are shown.
const SHOWN: usize = 80;

/// The subject of an assignment: its name, and its options.
type Key<'a> = (&'a str, &'a [(String, String)]);

pub(super) fn check(bsp: &Bsp, pairs: &[lines::Pair<'_>], findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    let files = bsp.vendor.by_name();
    let hardware = bsp.vendor.hardware();
    let now = Reader {
        hardware: &bsp.hardware,
        files: &bsp.project.files,
        vendor: None,
    };
    let was = Reader {
        hardware: &hardware,
        files: &files,
        vendor: Some(&bsp.vendor),
    };
    let mut pair = Pair {
        bsp,
        now,
        was,
        gone: gone(bsp),
        hip: Hip::of(bsp),
        assignments: 0,
        constraints: BTreeSet::new(),
    };
    let mut said = BTreeSet::new();
    for lines::Pair {
        qsf,
        now: revision,
        was: vendor,
    } in pairs
    {
        let mut found = pair.settings(qsf, revision, vendor);
        found.extend(pair.partitions(revision));
        found.extend(pair.removals(revision, vendor));
        found.extend(pair.constraints(qsf, revision, vendor)?);
        // A fault in a file that two revisions source is reported once.
        found.retain(|(place, what, _)| said.insert((place.to_string(), what.clone())));
        lines::tell(findings, (TEST, qsf), found, "settings or constraints");
    }
    if findings.unchanged(before) {
        let what = format!(
            "{} settings of the device and its pins, and the constraints of {} files, are as in the vendor's BSP",
            pair.assignments,
            pair.constraints.len()
        );
        findings.good(TEST, what);
    }
    Ok(())
}

/// Returns the names of instances of the vendor's that are gone, including those inside the old DMA, as constraints
/// name them.
fn gone(bsp: &Bsp) -> Vec<String> {
    let mut found = Vec::new();
    for (design, vendor) in bsp.replaced() {
        for was in &vendor.instances {
            match design.instance(&was.name) {
                None => found.push(was.name.clone()),
                Some(now) if now.kind == BLOCK => found.push(was.name.clone()),
                Some(_) => {}
            }
        }
    }
    found
}

/// Both projects.
struct Pair<'a> {
    bsp: &'a Bsp,
    now: Reader<'a>,
    was: Reader<'a>,
    gone: Vec<String>,
    /// The hard IP, if it is another variant now.
    hip: Option<Hip>,
    assignments: usize,
    constraints: BTreeSet<PathBuf>,
}

impl Pair<'_> {
    /// Compares the settings of the device, pins and cells in two revisions.
    fn settings(&mut self, qsf: &Path, now: &Revision, was: &Revision) -> Vec<Difference> {
        let (now, was) = (judged(now), judged(was));
        self.assignments += was.len();
        let mut found = Vec::new();
        for (key, old) in &was {
            // A user may have corrected names whose conversion is not known, and places of cells that are elsewhere at
            // Gen3.
            let by_hand = |(_, to): &(String, String)| {
                names_the_old(to) || key.0 == LOCATION && to.contains(PHY)
            };
            if self.hip.is_some() && !now.contains_key(key) && key.1.iter().any(by_hand) {
                continue;
            }
            let new = now.get(key).map_or(&[][..], Vec::as_slice);
            let before = found.len();
            for assignment in new {
                if !old.iter().any(|old| old.says == assignment.says) {
                    let what = format!(
                        "{} is {}; in the vendor's BSP it is {}",
                        words(*key),
                        shown(&assignment.says),
                        shown(&last(old).says)
                    );
                    found.push((assignment.place.clone(), what, true));
                }
            }
            if found.len() > before {
                continue;
            }
            for assignment in old {
                let mut same = new.iter().filter(|new| new.says == assignment.says);
                if same.any(|new| new.runs <= assignment.runs) {
                    continue;
                }
                let what = format!("{} ({})", words(*key), shown(&assignment.says));
                found.push(match new.iter().find(|new| new.says == assignment.says) {
                    None => {
                        let line = assignment.place.line.unwrap_or(0);
                        let file = self.bsp.vendor.inside(&assignment.place.path);
                        let what = format!(
                            "{what} of the vendor's {}:{line} is missing",
                            file.display()
                        );
                        (Place::file(qsf), what, true)
                    }
                    Some(new) => {
                        let what = format!("{what} is set only under a condition");
                        (new.place.clone(), what, true)
                    }
                });
            }
            if found.len() == before && last(new).says != last(old).says {
                let what = format!(
                    "{} has the last value {}; in the vendor's BSP it is {}",
                    words(*key),
                    shown(&last(new).says),
                    shown(&last(old).says)
                );
                found.push((last(new).place.clone(), what, true));
            }
        }
        found
    }

    /// Finds partitions of levels that do not exist with a TLP port: Quartus would drop them with a warning.
    fn partitions(&self, now: &Revision) -> Vec<Difference> {
        let all = now.assignments.iter().filter(|a| {
            self.hip.is_some() && a.runs != Runs::Held && a.name.as_deref() == Some(PARTITION)
        });
        let lost = all.filter_map(|a| {
            let (_, to) = a.about.iter().find(|(option, to)| option == "-to" && names_the_old(to))?;
            let what = format!(
                "{PARTITION} of {to}: with a TLP port the hard IP does not have this hierarchy, and Quartus drops the \
                 partition"
            );
            Some((a.place.clone(), what, true))
        });
        lost.collect()
    }

    /// Finds commands that remove assignments and that the vendor does not have.
    fn removals(&self, now: &Revision, was: &Revision) -> Vec<Difference> {
        let removes = |command: &&Command| {
            let all = command.name().starts_with("remove_all_");
            let import = |name: &str| command.words.iter().any(|word| word.text == name);
            (all || command.takes_away())
                && command.runs != Runs::Held
                && !IMPORTS.iter().any(|name| import(name))
        };
        let old: BTreeSet<String> = was.commands.iter().filter(removes).map(text).collect();
        let new = now.commands.iter().filter(removes);
        new.filter(|command| !old.contains(&text(command)))
            .map(|command| {
                let what = format!(
                    "\"{}\" removes settings; the vendor's BSP does not remove them",
                    beginning(&text(command))
                );
                (command.place.clone(), what, true)
            })
            .collect()
    }

    /// Compares the constraint files that two revisions include, and their contents.
    fn constraints(
        &mut self,
        qsf: &Path,
        now: &Revision,
        was: &Revision,
    ) -> Result<Vec<Difference>> {
        let new = taken_in(now, &self.now);
        let new: Vec<_> = (new.into_iter())
            .map(|(path, a)| (self.bsp.inside(&path), path, a))
            .collect();
        let mut rest = new.as_slice();
        let mut found = Vec::new();
        for (kept, old) in taken_in(was, &self.was) {
            let name = self.bsp.vendor.inside(&kept);
            let is = |(inside, _, a): &&(PathBuf, PathBuf, &Assignment)| {
                *inside == name && a.runs <= old.runs
            };
            let Some(at) = rest.iter().position(|new| is(&new)) else {
                let what = match new.iter().find(|(inside, ..)| *inside == name) {
                    None => "are not included any more",
                    Some((.., a)) if a.runs > old.runs => "are included only under a condition",
                    Some(_) => {
                        "are not included in the vendor's order, on which constraints depend"
                    }
                };
                let what = format!(
                    "the constraints {} of the vendor's BSP {what}",
                    name.display()
                );
                let place = new.iter().find(|(inside, ..)| *inside == name);
                let place = place.map_or_else(|| Place::file(qsf), |(.., a)| a.place.clone());
                found.push((place, what, true));
                continue;
            };
            let path = &rest[at].1;
            found.extend(self.file(path, &kept)?);
            self.constraints.insert(path.clone());
            rest = &rest[at + 1..];
        }
        Ok(found)
    }

    /// Compares two files of constraints, command by command: the vendor's commands must be there, in their order.
    fn file(&self, path: &Path, kept: &Path) -> Result<Vec<Difference>> {
        // A command inside a body is part of the command with the body.
        let outer = |revision: Revision| {
            let all = revision.commands.into_iter();
            all.filter(|c| c.runs == Runs::Always).collect::<Vec<_>>()
        };
        let mut vendor = self.was.read(kept)?;
        if let Some(hip) = &self.hip {
            hip.follow(&mut vendor);
        }
        let (now, was) = (outer(self.now.read(path)?), outer(vendor));
        let texts: Vec<String> = now.iter().map(text).collect();
        let mut found = Vec::new();
        let (mut at, mut used) = (0, BTreeSet::new());
        for command in &was {
            let old = text(command);
            if let Some(same) = texts[at..].iter().position(|new| *new == old) {
                used.insert(at + same);
                at += same + 1;
                continue;
            }
            let line = command.place.line.unwrap_or(0);
            let what = format!(
                "\"{}\" of the vendor's {}:{line} is missing or changed",
                beginning(&old),
                self.bsp.vendor.inside(&command.place.path).display()
            );
            let place = now.get(at).map(|command| command.place.clone());
            let place = place.unwrap_or_else(|| Place::file(path));
            // For a constraint of an instance that is gone, the report says that it may go.
            match self.gone.iter().find(|name| names(&old, name)) {
                Some(gone) => found.push((place, format!("{what}; it names {gone}"), false)),
                // The conversion of this constraint is not known.
                None if self.hip.is_some() && names_the_old(&old) => {
                    let what =
                        format!("{what}; it named something that does not exist with a TLP port");
                    found.push((place, what, false));
                }
                None => found.push((place, what, true)),
            }
        }
        let more = now.iter().enumerate().filter(|(n, _)| !used.contains(n));
        let more = more.map(|(_, command)| {
            let what = format!(
                "\"{}\" is not a constraint of the vendor's BSP",
                beginning(&text(command))
            );
            (command.place.clone(), what, false)
        });
        found.extend(more);
        Ok(found)
    }
}

/// Returns the settings of the device, of pins and of cells in a revision, in order. Other tests check members of
/// regions and imports.
fn judged(revision: &Revision) -> BTreeMap<Key<'_>, Vec<&Assignment>> {
    let mut found: BTreeMap<Key<'_>, Vec<&Assignment>> = BTreeMap::new();
    for assignment in revision.assignments.iter().filter(|a| a.runs != Runs::Held) {
        let Some(name) = assignment.name.as_deref() else {
            continue;
        };
        let of_cell = assignment.about.iter().any(|(option, _)| option == "-to")
            && !name.starts_with("LL_")
            && !IMPORTS.contains(&name);
        if of_cell || DEVICE.contains(&name) {
            let key = (name, assignment.about.as_slice());
            found.entry(key).or_default().push(assignment);
        }
    }
    found
}

/// Returns the assignment that takes effect: the last that is made in any case, or else the last that may be made.
fn last<'a>(all: &[&'a Assignment]) -> &'a Assignment {
    let always = all.iter().rev().find(|a| a.runs == Runs::Always);
    always.or(all.last()).expect("there is one")
}

/// Describes the subject of an assignment in words.
fn words((name, about): Key<'_>) -> String {
    let option = |wanted: &str| {
        let found = about.iter().find(|(option, _)| option == wanted);
        found.map(|(_, word)| word.as_str())
    };
    let name = match name {
        LOCATION => "the location",
        name => name,
    };
    match option("-to") {
        Some(to) => format!("{name} of {to}"),
        None => name.into(),
    }
}

fn shown(says: &str) -> String {
    match says {
        "" => "nothing".into(),
        says => format!("\"{says}\""),
    }
}

/// Returns the constraint files that a revision includes, if they exist.
fn taken_in<'r>(revision: &'r Revision, reader: &Reader<'_>) -> Vec<(PathBuf, &'r Assignment)> {
    let all = revision.assignments.iter();
    let all = all.filter(|a| a.name.as_deref() == Some("SDC_FILE") && a.runs != Runs::Held);
    let found = all.filter_map(|a| Some((reader.find(a.value.as_deref()?, &a.place.path)?, a)));
    found.collect()
}

/// Returns a command as text, with one space for several or for the end of a line.
fn text(command: &Command) -> String {
    let words = command
        .words
        .iter()
        .map(|word| word.text.replace("\\\n", " "));
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words
        .iter()
        .flat_map(|word| word.split_whitespace())
        .collect();
    words.join(" ")
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.into(),
    }
}

/// Reports whether a text has an instance as an element of a path.
pub(super) fn names(text: &str, instance: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = text.match_indices(instance);
    all.any(|(at, _)| {
        text[..at].ends_with(['|', ':']) && !text[at + instance.len()..].starts_with(part)
    })
}
