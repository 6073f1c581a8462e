//! Tasks that are left to a user, as far as they can be seen: a task of the report names lines of the written files,
//! and a line that is still there is not done.

use std::collections::BTreeMap;
use std::path::PathBuf;

use peerlane_bsp_extend::report::headline;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::finding::Findings;
use peerlane_bsp_platform::kept::{self, Entry};
use peerlane_bsp_platform::layout::SCRIPT_DIR;
use peerlane_bsp_platform::text;

use crate::lines::{normal, removed};
use crate::{States, edited, is_same};

const TEST: &str = "to do";
/// Words of tasks whose lines are those of the vendor's files: such a task is a comparison of numbers.
const OF_VENDOR: &str = "of the vendor's files";
/// Words of sentences about lines that need no change.
const STAYS: [&str; 2] = ["can stay", "lines stay"];
/// The script that makes compiled files again.
const SCRIPT: &str = "rebuild.tcl";

pub(crate) fn check(states: &States<'_>, findings: &mut Findings) -> Result<()> {
    let report = &states.again.report;
    for note in report.to_do.iter().filter(|note| !note.contains(OF_VENDOR)) {
        for (file, lines) in places(states, note) {
            left(states, (note, &file, &lines), findings);
        }
    }
    imports(states, findings)
}

/// Reports the lines of a task that are still there.
fn left(
    states: &States<'_>,
    (note, file, lines): (&str, &PathBuf, &[usize]),
    findings: &mut Findings,
) {
    let path = states.layout.root.join(file);
    let made = text::read(&states.again.made.root.join(file));
    let (Ok(made), Ok(now)) = (made, text::read(&path)) else {
        return;
    };
    let (made, now): (Vec<_>, Vec<_>) = (
        made.lines().map(normal).collect(),
        now.lines().map(normal).collect(),
    );
    let still = lines.iter().filter_map(|line| {
        let asked = made.get(line.checked_sub(1)?)?;
        let at = now.iter().position(|line| line == asked)?;
        (!asked.is_empty()).then_some(at + 1)
    });
    let still: Vec<usize> = still.collect();
    if let Some(first) = still.first() {
        let headline = headline(note);
        let headline = headline.trim_end_matches('.');
        let what = match still.len() {
            1 => headline.to_string(),
            count => format!("{headline} ({count} lines from here on)"),
        };
        findings.note(TEST, Place::line(path, *first), what);
    }
}

/// Returns the lines of the written files that a note names, by their file.
fn places(states: &States<'_>, note: &str) -> BTreeMap<PathBuf, Vec<usize>> {
    let made = &states.again.made;
    let mut found: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    let sentences = note.split(". ");
    let asking = sentences.filter(|text| !STAYS.iter().any(|stays| text.contains(stays)));
    for word in asking.flat_map(|text| text.split([' ', ',', ';', '(', ')'])) {
        let word = word.trim_end_matches(['.', ':']);
        let Some((file, lines)) = word.rsplit_once(':') else {
            continue;
        };
        let mut ends = lines.split('–').map(|number| number.parse::<usize>().ok());
        let (Some(Some(first)), last) = (ends.next(), ends.next().flatten()) else {
            continue;
        };
        let beside = [made.hardware.join(file), PathBuf::from(file)];
        let file = beside
            .into_iter()
            .find(|file| !file.is_absolute() && made.root.join(file).is_file());
        if let Some(file) = file {
            let lines = first..=last.unwrap_or(first);
            found.entry(file).or_default().extend(lines);
        }
    }
    found
}

/// Reports imports of compiled files that are off until the script has made them again.
fn imports(states: &States<'_>, findings: &mut Findings) -> Result<()> {
    let script = states
        .again
        .made
        .hardware_dir()
        .join(SCRIPT_DIR)
        .join(SCRIPT);
    let Ok(script) = text::read(&script) else {
        return Ok(());
    };
    for (name, made) in &states.made {
        let Some((was, vendor)) = states.vendors(name) else {
            continue;
        };
        let is_file = matches!((was, made), (Entry::File { .. }, Entry::File { .. }));
        if !is_file || is_same(Some(was), Some(made)) || !name.ends_with("qsf") {
            continue;
        }
        let inside = kept::path_of(name).unwrap_or_default();
        let read = |path: PathBuf| text::read(&path).ok();
        let made = read(states.again.made.root.join(inside));
        let (Some(vendor), Some(made), Some(now)) = (read(vendor), made, read(states.path(name)))
        else {
            continue;
        };
        let now: Vec<_> = now.lines().map(normal).collect();
        for line in removed(&vendor, &made) {
            let file = edited::left_out(states, &line).and_then(|(path, _)| {
                let name = path.file_name()?.to_string_lossy().into_owned();
                Some(name)
            });
            if file.is_some_and(|file| script.contains(&file)) && !now.contains(&line) {
                let what = format!(
                    "\"{line}\" is off until the board is compiled with the block: {SCRIPT_DIR}/{SCRIPT} turns it on"
                );
                findings.note(TEST, Place::file(states.path(name)), what);
            }
        }
    }
    Ok(())
}
