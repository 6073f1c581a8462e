//! The project's revisions and the scripts of its compile: they include the block's fragment, and import nothing that
//! was compiled with the old DMA.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::settings::{Assignment, Files, Reader, Revision, normal};
use crate::read::tcl::{Command, Runs, without_brackets};
use crate::result::{Bsp, bad, bad_with_path, steps};
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::hash::digest_of;
use peerlane_bsp_platform::message::Message;

pub(super) const TEST: &str = "settings";
/// The block's constraints and settings of its synchronisers.
const FRAGMENT: &str = "iface/peerlane/peerlane.qsf";
/// Assignments that import compiled parts: of the settings file reference manual 683084, 1.11, and of CvP's revisions.
pub(super) const IMPORTS: [&str; 5] = [
    "PARTITION_IMPORT_FILE",
    "PARTITION_LAST_IMPORTED_FILE",
    "INPUT_PERSONA",
    NETLIST,
    "QDB_FILE_PARTITION",
];
/// The assignment for a netlist among the sources, which may be a core that the vendor bought.
const NETLIST: &str = "QXP_FILE";
pub(super) fn check(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    let mut names = Vec::new();
    let project = &bsp.project;
    let old = vendors_imports(bsp)?;
    let mut unread = false;
    for (qsf, revision) in project.whole() {
        let name = qsf.file_stem().unwrap_or_default();
        names.push(name.to_string_lossy().into_owned());
        fragment(bsp, qsf, revision, findings);
        for (place, name) in &revision.missing {
            let what = Message::from(Path::new(name)).then(" is sourced, but does not exist");
            let beside = place.path.parent().unwrap_or(&bsp.hardware);
            let places = [bsp.hardware.join(name), beside.join(name)];
            let had = |path: &PathBuf| bsp.vendor.hash(&bsp.inside(&normal(path))).is_some();
            // A file that the vendor does not have either may be made by the vendor's scripts.
            match places.iter().any(had) {
                true => bad_with_path(
                    findings,
                    TEST,
                    place.clone(),
                    what.then("; in the vendor's BSP it exists"),
                ),
                false => findings.note(TEST, place.clone(), what),
            }
        }
        unread |= not_read(revision, findings);
        for assignment in &revision.assignments {
            imported(bsp, assignment, &old, findings)?;
        }
        hidden(revision, findings);
        netlists(bsp, qsf, revision, findings)?;
    }
    unread |= steps::check(bsp, &old, findings)?;
    if findings.unchanged(before) {
        let names = names.join(", ");
        let what = match unread {
            false => format!("{names}: the block's settings are included, no old import"),
            true => format!(
                "{names}: the block's settings are included; no old import in the parts that could be read; some could \
                 not"
            ),
        };
        findings.good(TEST, what);
    }
    Ok(())
}

/// Checks that the fragment is included once, in any case.
fn fragment(bsp: &Bsp, qsf: &Path, revision: &Revision, findings: &mut Findings) {
    let fragment = normal(&bsp.hardware.join(FRAGMENT));
    let all = revision
        .sourced
        .iter()
        .filter(|(path, _)| *path == fragment);
    let (always, perhaps): (Vec<_>, Vec<_>) = all.partition(|(_, runs)| *runs == Runs::Always);
    let what = match (always.len(), perhaps.len()) {
        (1, 0) => return,
        (0, 1..) => {
            format!("{FRAGMENT} is sourced only under a condition; it must always be sourced")
        }
        (times, more) => format!(
            "{FRAGMENT} is sourced {} times; it must be sourced once",
            times + more
        ),
    };
    match bsp.project.named.contains(qsf) || bsp.project.named.is_empty() {
        true => bad(findings, TEST, Place::file(qsf), what),
        false => findings.note(
            TEST,
            Place::file(qsf),
            format!("{what}, if this file is a revision: nothing names it"),
        ),
    }
}

/// Reports the parts of a revision that could not be read; returns whether there are any.
pub(super) fn not_read(revision: &Revision, findings: &mut Findings) -> bool {
    for (place, what) in &revision.unread {
        findings.note(TEST, place.clone(), what.clone());
    }
    let mut unknown = revision
        .assignments
        .iter()
        .filter(|a| a.name.is_none() && a.runs != Runs::Held)
        .peekable();
    let Some(first) = unknown.peek() else {
        return !revision.unread.is_empty();
    };
    // A computed name may be that of an import. Then the import's name occurs in another command.
    let named = revision.commands.iter().find(|command| {
        let mut words = command.words[1..].iter();
        let own = command
            .assignment()
            .map(|(name, _)| name.text.to_uppercase());
        let plain = own.is_some_and(|name| IMPORTS.contains(&name.as_str()));
        !plain
            && command.runs != Runs::Held
            && words.any(|word| {
                let mut tokens = word.text.split(|c: char| !c.is_alphanumeric() && c != '_');
                tokens.any(|token| IMPORTS.contains(&token.to_uppercase().as_str()))
            })
    });
    match named {
        Some(command) => {
            let what = "this names an import, and a script composes the names of some assignments";
            bad(findings, TEST, command.place.clone(), what.into());
        }
        None => {
            let what = "a script composes the name of this assignment, which cannot be determined";
            findings.note(TEST, first.place.clone(), what);
        }
    }
    true
}

/// Checks commands that name an import without being its assignment: they may import all the same.
fn hidden(revision: &Revision, findings: &mut Findings) {
    // Words of harmless commands, or of conditions.
    let harmless = |command: &Command| {
        let name = command.name();
        let asks = ["get_", "remove_all_"]
            .iter()
            .any(|start| name.starts_with(start));
        let takes_away = command.words.iter().any(|word| word.text == "-remove");
        let compares = command.words.get(1).is_some_and(|word| {
            matches!(word.text.as_str(), "eq" | "ne" | "==" | "!=" | "in" | "ni")
        });
        asks || takes_away
            || compares
            || matches!(
                name,
                "puts" | "post_message" | "string" | "regexp" | "lsearch"
            )
    };
    for command in &revision.commands {
        let own = command
            .assignment()
            .map(|(name, _)| name.text.to_uppercase());
        let plain = own.is_some_and(|name| IMPORTS.contains(&name.as_str()));
        if plain || command.runs == Runs::Held || harmless(command) {
            continue;
        }
        let words = command.words[1..].iter().filter(|word| !word.braced);
        let texts: Vec<String> = words.map(|word| without_brackets(&word.text)).collect();
        let line = texts.join(" ").to_uppercase();
        let mut tokens = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let Some(import) = tokens.find(|token| *token != NETLIST && IMPORTS.contains(token)) else {
            continue;
        };
        // A name alone is checked where it is used.
        if command.name() == "set" && !line.contains("_ASSIGNMENT") {
            continue;
        }
        let what = format!(
            "this names {import}, but is not a plain assignment: the imported file cannot be determined"
        );
        bad(findings, TEST, command.place.clone(), what);
    }
}

/// Returns the names of the files that the vendor's revisions import into a partition.
fn vendors_imports(bsp: &Bsp) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::from(["acl_iface_partition.qxp".to_string()]);
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &Files::new(),
        vendor: None,
    };
    for file in bsp.vendor.files() {
        let kind = file.extension().unwrap_or_default().to_string_lossy();
        let settings = matches!(kind.as_ref(), "qsf" | "tcl" | "qip");
        // An unchanged file imports nothing, or another test reports it.
        let stayed = || -> Result<bool> {
            let now = bsp.hardware.join(file);
            Ok(now.is_file() && bsp.vendor.hash(file) == Some(digest_of(&now)?.as_str()))
        };
        if !settings || (kind != "qsf" && stayed()?) {
            continue;
        }
        let Some(path) = bsp.vendor.kept(file)? else {
            continue;
        };
        for assignment in reader.read(&path)?.assignments {
            let name = assignment.name.unwrap_or_default();
            let import = name != NETLIST && IMPORTS.contains(&name.as_str());
            let value = assignment.value.filter(|_| import).unwrap_or_default();
            let file = Path::new(&value).file_name();
            found.extend(file.map(|file| file.to_string_lossy().into_owned()));
        }
    }
    Ok(found)
}

/// Checks an assignment that imports a file.
pub(super) fn imported(
    bsp: &Bsp,
    assignment: &Assignment,
    old: &BTreeSet<String>,
    findings: &mut Findings,
) -> Result<()> {
    let name = assignment.name.as_deref().unwrap_or_default();
    if !IMPORTS.contains(&name) || assignment.runs == Runs::Held {
        return Ok(());
    }
    let place = assignment.place.clone();
    let Some(file) = &assignment.value else {
        let what = format!("{name} imports a file whose name cannot be determined");
        bad(findings, TEST, place, what);
        return Ok(());
    };
    if file.is_empty() {
        return Ok(());
    }
    let imports = Message::from(format!("{name} imports ")).then(Path::new(file));
    let path = bsp.hardware.join(file);
    if !path.is_file() {
        let what = ", which does not exist: it has not been compiled with the block";
        bad_with_path(findings, TEST, place, imports.then(what));
        return Ok(());
    }
    let last = path.file_name().unwrap_or_default().to_string_lossy();
    match bsp.vendor.name_of(&digest_of(&path)?) {
        Some(was) if name == NETLIST && !old.contains(last.as_ref()) && !is_import(was, old) => {
            let what = " is a netlist that the vendor compiled; make sure that it does not contain the old board's \
                        system";
            findings.note(TEST, place, Message::from(Path::new(file)).then(what));
        }
        Some(was) => {
            let what = format!(", which is the vendor's {was}, compiled with the old DMA");
            bad_with_path(findings, TEST, place, imports.then(what));
        }
        None => {
            let what = " is imported; make sure that it was compiled from this extended BSP";
            findings.note(TEST, place, Message::from(Path::new(file)).then(what));
        }
    }
    Ok(())
}

/// Reports whether the vendor imported a file.
fn is_import(name: &str, old: &BTreeSet<String>) -> bool {
    let last = Path::new(name).file_name();
    last.is_some_and(|last| old.contains(last.to_string_lossy().as_ref()))
}

/// Checks that a partition is compiled from source, unless a file is imported into it or the vendor has another
/// setting.
fn netlists(bsp: &Bsp, qsf: &Path, revision: &Revision, findings: &mut Findings) -> Result<()> {
    const TYPE: &str = "PARTITION_NETLIST_TYPE";
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &Files::new(),
        vendor: None,
    };
    let kept = bsp.vendor.kept(&bsp.inside(qsf))?;
    let vendor = kept.map(|path| reader.read(&path)).transpose()?;
    let imports = |revision: &Revision, section: &str| {
        revision.assignments.iter().any(|a| {
            a.section == section
                && a.name
                    .as_deref()
                    .is_some_and(|n| n != TYPE && IMPORTS.contains(&n))
        })
    };
    for assignment in &revision.assignments {
        let (Some(TYPE), Some(value)) = (assignment.name.as_deref(), &assignment.value) else {
            continue;
        };
        let section = &assignment.section;
        // `SOURCE`, or "Source File" as the user interface calls it.
        if value.to_uppercase().starts_with("SOURCE") || imports(revision, section) {
            continue;
        }
        let same = vendor.as_ref().is_some_and(|vendor| {
            let mut all = vendor.assignments.iter();
            !imports(vendor, section)
                && all.any(|a| {
                    (&a.name, &a.value, &a.section)
                        == (&assignment.name, &assignment.value, section)
                })
        });
        let what = format!("{TYPE} of {section} is {value}, but nothing is imported into it");
        match same {
            true => findings.note(
                TEST,
                assignment.place.clone(),
                format!("{what}; in the vendor's BSP too"),
            ),
            false => bad(
                findings,
                TEST,
                assignment.place.clone(),
                format!("{what}: Quartus would use its earlier compilation results"),
            ),
        }
    }
    Ok(())
}
