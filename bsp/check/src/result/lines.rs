//! Lines of the vendor's revisions that no other test checks: settings of the whole project, and the lines of LogicLock
//! regions.
//!
//! A user may have a reason to change most of them, so a difference is a note. It is a fault if the board loses
//! something that it needs: a source file, a region, a member of one, or room where the DMA was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::settings::{Assignment, Reader, Revision};
use crate::read::tcl::Runs;
use crate::result::hip_paths::{Hip, names_the_old};
use crate::result::regions::{Shape, area};
use crate::result::settings::{IMPORTS, TEST};
use crate::result::to_do::Leaving;
use crate::result::{Bsp, bad};
use peerlane_bsp_platform::error::{Place, Result};

/// Most differences of one revision that are listed one by one.
const MOST: usize = 12;
/// Assignments of source files (Quartus Prime Standard Edition Settings File Reference Manual 683084). Timing
/// constraints have a test of their own.
const SOURCES: [&str; 15] = [
    "AHDL_FILE",
    "BDF_FILE",
    "EDIF_FILE",
    "HEX_FILE",
    "IP_FILE",
    "MIF_FILE",
    "QIP_FILE",
    "QSYS_FILE",
    "SIP_FILE",
    "SOURCE_TCL_SCRIPT_FILE",
    "SYSTEMVERILOG_FILE",
    "VERILOG_FILE",
    "VERILOG_INCLUDE_FILE",
    "VHDL_FILE",
    "VQM_FILE",
];
/// Other assignments of which each line counts.
const LISTS: [&str; 5] = [
    "IP_SEARCH_PATHS",
    "LL_RECT",
    "SEARCH_PATH",
    "USER_LIBRARIES",
    "VERILOG_MACRO",
];
/// Assignments that other tests check, and those that Quartus writes by itself.
const ELSEWHERE: [&str; 5] = [
    "DEVICE",
    "FAMILY",
    "LAST_QUARTUS_VERSION",
    "PARTITION_NETLIST_TYPE",
    "SDC_FILE",
];
/// An assignment that the extension turns off together with an import.
const IGNORE: &str = "PARTITION_IGNORE_SOURCE_FILE_CHANGES";
const MEMBER: &str = "LL_MEMBER_OF";
/// Lines that give a region its size.
const SIZES: [&str; 3] = ["LL_HEIGHT", "LL_RECT", "LL_WIDTH"];

/// A difference, and whether it is a fault.
pub(super) type Difference = (Place, String, bool);
/// The subject of an assignment: its name, and its options other than those of a size.
type Key = (String, Vec<(String, String)>);
/// The value of an assignment, with the assignment.
type Line<'a> = (String, &'a Assignment);

/// A revision, and the vendor's revision as it would be after the extension.
pub(super) struct Pair<'a> {
    pub qsf: &'a Path,
    pub now: &'a Revision,
    pub was: Revision,
}

/// Returns all revisions that the vendor has, too.
pub(super) fn pairs(bsp: &Bsp) -> Result<Vec<Pair<'_>>> {
    let files = bsp.vendor.by_name();
    let hardware = bsp.vendor.hardware();
    let reader = Reader {
        hardware: &hardware,
        files: &files,
        vendor: Some(&bsp.vendor),
    };
    let hip = Hip::of(bsp);
    let mut found = Vec::new();
    for (qsf, now) in bsp.project.whole() {
        let inside = qsf.strip_prefix(&bsp.hardware).unwrap_or(qsf);
        let Some(kept) = bsp.vendor.linked(&hardware.join(inside)) else {
            continue;
        };
        let mut was = reader.read(&kept)?;
        if let Some(hip) = &hip {
            hip.follow(&mut was);
        }
        found.push(Pair { qsf, now, was });
    }
    Ok(found)
}

/// Checks the settings of the whole project.
pub(super) fn globals(bsp: &Bsp, pairs: &[Pair<'_>], findings: &mut Findings) {
    let mut said = BTreeSet::new();
    for pair in pairs {
        let imported = |a: &Assignment| {
            a.name.as_deref() == Some(IGNORE)
                && pair.was.assignments.iter().any(|other| {
                    let name = other.name.as_deref().unwrap_or_default();
                    other.section == a.section && IMPORTS.contains(&name)
                })
        };
        let is_global = |a: &Assignment| {
            let name = a.name.as_deref().unwrap_or_default();
            let made = a.place.path.extension().is_some_and(|e| e == "qip");
            let other = name.starts_with("LL_") || IMPORTS.contains(&name);
            !made && !other && !ELSEWHERE.contains(&name) && !is_of_cell(a) && !imported(a)
        };
        let was = lines(&pair.was, is_global);
        let leaving = Leaving::of(bsp, &pair.was);
        let mut all = Vec::new();
        for lost in differences(bsp, pair, &was) {
            // A file may leave together with its setting, if another takes its place.
            let wrong = SOURCES.contains(&lost.name) && !leaving.has(lost.vendor);
            if !(lost.gone && leaving.was_asked(lost.vendor)) {
                all.push((lost.place, lost.what, wrong));
            }
        }
        all.retain(|(_, what, _)| said.insert(what.clone()));
        tell(findings, (TEST, pair.qsf), all, "settings");
    }
}

/// Checks the lines of LogicLock regions.
pub(super) fn regions(
    bsp: &Bsp,
    pairs: &[Pair<'_>],
    (shapes, test): (&[Shape<'_>], &'static str),
    findings: &mut Findings,
) {
    let mut said = BTreeSet::new();
    let streams = Hip::of(bsp).is_some();
    for pair in pairs {
        let of_region = |a: &Assignment| {
            let name = a.name.as_deref().unwrap_or_default();
            // Another test checks a member that the extension changed.
            let changed = name == MEMBER
                && (a.to.is_none()
                    || shapes.iter().any(|shape| shape.fault(a).is_some())
                    || streams && a.about.iter().any(|(_, to)| names_the_old(to)));
            name.starts_with("LL_") && !changed
        };
        let mut was = lines(&pair.was, of_region);
        let mut all = gone(bsp, pair, &mut was);
        let with_dma = |region: &str| {
            let mut members = pair.was.assignments.iter();
            members.any(|a| {
                a.name.as_deref() == Some(MEMBER)
                    && a.value.as_deref() == Some(region)
                    && shapes.iter().any(|shape| shape.holds_the_block(a))
            })
        };
        for lost in differences(bsp, pair, &was) {
            if lost.name == MEMBER {
                let to = lost.vendor.to.as_deref().unwrap_or_default();
                let what = format!(
                    "{to}{} is not a member of the LogicLock region {} any more; it is a member in the vendor's {}",
                    match shapes
                        .iter()
                        .any(|shape| shape.holds_the_block(lost.vendor))
                    {
                        true => ", where the block is,",
                        false => "",
                    },
                    lost.vendor.value.as_deref().unwrap_or_default(),
                    lost.of
                );
                all.push((lost.place, what, true));
                continue;
            }
            let region = lost.vendor.section.as_str();
            let sizes = area(pair.now, region).zip(area(&pair.was, region));
            let is_less = sizes.is_none_or(|(now, was)| now < was);
            let wrong = SIZES.contains(&lost.name) && is_less && with_dma(region);
            all.push((lost.place, lost.what, wrong));
        }
        all.retain(|(_, what, _)| said.insert(what.clone()));
        tell(findings, (test, pair.qsf), all, "settings");
    }
}

/// Finds regions that are gone as a whole, and removes their lines from those to compare.
fn gone(bsp: &Bsp, pair: &Pair<'_>, was: &mut BTreeMap<Key, Vec<Line<'_>>>) -> Vec<Difference> {
    let there: BTreeSet<&str> = (pair.now.assignments.iter())
        .filter(|a| a.runs != Runs::Held)
        .filter(|a| {
            a.name
                .as_deref()
                .is_some_and(|name| name.starts_with("LL_"))
        })
        .map(|a| a.section.as_str())
        .collect();
    let mut found: BTreeMap<String, &Assignment> = BTreeMap::new();
    for ((name, _), lines) in was.iter() {
        for &(_, line) in lines {
            if name != MEMBER && !there.contains(line.section.as_str()) {
                // The earliest line of the region is named.
                let first = found.entry(line.section.clone()).or_insert(line);
                if line.place.line < first.place.line {
                    *first = line;
                }
            }
        }
    }
    was.retain(|_, lines| {
        let mut lines = lines.iter();
        lines.all(|(_, line)| !found.contains_key(&line.section))
    });
    let gone = found.into_iter().map(|(region, line)| {
        let of = vendors(bsp, line);
        let what = format!("the LogicLock region {region} of the vendor's {of} is missing");
        (Place::file(pair.qsf), what, true)
    });
    gone.collect()
}

/// A line of the vendor's that is gone or changed.
struct Lost<'a> {
    name: &'a str,
    vendor: &'a Assignment,
    /// The vendor's file and line.
    of: String,
    place: Place,
    what: String,
    /// Whether nothing replaces it.
    gone: bool,
}

/// Compares the vendor's lines with those of the revision.
fn differences<'a>(
    bsp: &Bsp,
    pair: &Pair<'_>,
    was: &'a BTreeMap<Key, Vec<Line<'a>>>,
) -> Vec<Lost<'a>> {
    let now = lines(pair.now, |_| true);
    let mut found = Vec::new();
    for (key, old) in was {
        let name = key.0.as_str();
        let is = |a: &str, b: &str| a == b || name.ends_with("_FILE") && path(a) == path(b);
        let new = now.get(key).map_or(&[][..], Vec::as_slice);
        let before = found.len();
        let other = new
            .iter()
            .find(|(new, _)| !old.iter().any(|(old, _)| is(old, new)));
        // A file may have the same line thousands of times.
        let mut least_of = BTreeMap::new();
        for (says, vendor) in old {
            let of = vendors(bsp, vendor);
            let least = *least_of.entry(says).or_insert_with(|| {
                let same = new.iter().filter(|(new, _)| is(new, says));
                same.min_by_key(|(_, a)| a.runs)
            });
            let words = words(key);
            let gone = least.is_none() && other.is_none();
            let (place, what) = match (least, other) {
                (Some((_, a)), _) if a.runs <= vendor.runs => continue,
                (Some((_, a)), _) => (
                    a.place.clone(),
                    format!(
                        "{words} ({}) is set only under a condition; the vendor's {of} always sets it",
                        shown(says)
                    ),
                ),
                (None, Some((new, a))) => (
                    a.place.clone(),
                    format!(
                        "{words} is {}; in the vendor's {of} it is {}",
                        shown(new),
                        shown(says)
                    ),
                ),
                (None, None) => (
                    Place::file(pair.qsf),
                    format!("{words} ({}) of the vendor's {of} is missing", shown(says)),
                ),
            };
            found.push(Lost {
                name,
                vendor,
                of,
                place,
                what,
                gone,
            });
        }
        let is_list = name.ends_with("_FILE") || LISTS.contains(&name);
        let (Some((new, a)), Some((says, vendor))) = (new.last(), old.last()) else {
            continue;
        };
        if found.len() == before && !is_list && new != says && a.runs == Runs::Always {
            let of = vendors(bsp, vendor);
            let what = format!(
                "{} has the last value {}; in the vendor's {of} it is {}",
                words(key),
                shown(new),
                shown(says)
            );
            found.push(Lost {
                name,
                vendor,
                of,
                place: a.place.clone(),
                what,
                gone: false,
            });
        }
    }
    found
}

/// Reports the differences of a revision, faults first, and the number of those that are not listed; `kind` names them.
pub(super) fn tell(
    findings: &mut Findings,
    (test, qsf): (&'static str, &Path),
    all: Vec<Difference>,
    kind: &str,
) {
    let (faults, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(.., wrong)| *wrong);
    for (mut these, wrong) in [(faults, true), (others, false)] {
        let more = these.len().saturating_sub(MOST);
        these.truncate(MOST);
        if more > 0 {
            let what = format!("{more} more {kind} differ from the vendor's");
            these.push((Place::file(qsf), what, wrong));
        }
        for (place, what, _) in these {
            match wrong {
                true => bad(findings, test, place, what),
                false => findings.note(test, place, what),
            }
        }
    }
}

/// Returns the assignments of a revision by their subject, in order.
fn lines<'a>(
    revision: &'a Revision,
    wanted: impl Fn(&Assignment) -> bool,
) -> BTreeMap<Key, Vec<Line<'a>>> {
    let mut found: BTreeMap<Key, Vec<Line<'a>>> = BTreeMap::new();
    let all = revision.assignments.iter();
    for assignment in all.filter(|a| a.runs != Runs::Held && wanted(a)) {
        let Some(name) = &assignment.name else {
            continue;
        };
        let is_size = |option: &str| matches!(option, "-width" | "-height");
        let (sizes, about): (Vec<_>, Vec<_>) =
            (assignment.about.iter().cloned()).partition(|(option, _)| is_size(option));
        let mut says = assignment.says.clone();
        for (option, size) in sizes {
            says += &format!(" {option} {size}");
        }
        let line = (says, assignment);
        found.entry((name.clone(), about)).or_default().push(line);
    }
    found
}

/// Reports whether an assignment belongs to a pin, a cell or an instance.
fn is_of_cell(assignment: &Assignment) -> bool {
    assignment.about.iter().any(|(option, _)| option == "-to")
}

/// Returns file and line of an assignment of the vendor's.
fn vendors(bsp: &Bsp, assignment: &Assignment) -> String {
    let file = bsp.vendor.inside(&assignment.place.path);
    format!("{}:{}", file.display(), assignment.place.line.unwrap_or(0))
}

/// Returns a file's name without `.` components.
fn path(name: &str) -> PathBuf {
    let all = Path::new(name).components();
    all.filter(|part| !matches!(part, std::path::Component::CurDir))
        .collect()
}

/// Describes the subject of a setting in words.
fn words((name, about): &Key) -> String {
    let section = about.iter().find(|(option, _)| option == "-section_id");
    match section {
        Some((_, section)) => format!("{name} of {section}"),
        None => name.clone(),
    }
}

fn shown(says: &str) -> String {
    match says {
        "" => "nothing".into(),
        says => format!("\"{says}\""),
    }
}
