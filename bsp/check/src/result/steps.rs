//! The scripts that run in a compile: none uses files that the vendor compiled, unless it waits until these are made
//! again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::settings::{Reader, Revision, is_script, wording};
use crate::read::tcl::{Command, IMPORTS_ON, Runs, without_brackets};
use crate::result::project::Project;
use crate::result::settings::{IMPORTS, TEST, imported, not_read};
use crate::result::{Bsp, bad};
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::text;

/// Options of Quartus's programs (`quartus_cdb --help`, `quartus_sh --help`) and commands of its Tcl packages that use
/// compiled files.
const STEPS: [&str; 6] = [
    "incremental_compilation_import",
    "import_design",
    "import_block",
    "import_partition",
    "import_database",
    "project_restore",
];
/// Commands that only look at their words, print them or store them.
const LOOKING: [&str; 14] = [
    "puts",
    "post_message",
    "string",
    "lsearch",
    "regexp",
    "regsub",
    "expr",
    "set",
    "list",
    "info",
    "lappend",
    "append",
    "if",
    "proc",
];

/// Checks the scripts that run in a compile; returns whether parts of them could not be read.
pub(super) fn check(bsp: &Bsp, old: &BTreeSet<String>, findings: &mut Findings) -> Result<bool> {
    let project = &bsp.project;
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &project.files,
        vendor: None,
    };
    let specification = bsp.hardware.join("board_spec.xml");
    let mut open: Vec<PathBuf> = Vec::new();
    for (command, line) in &project.steps {
        if STEPS.iter().any(|step| command.contains(step)) {
            let what = "this step uses a compiled file".to_string();
            bad(findings, TEST, Place::line(&specification, *line), what);
        }
        open.extend(reader.scripts(command, &specification));
    }
    // Files that a revision sources run too.
    for revision in project.revisions.values() {
        open.extend(revision.flow.iter().cloned());
        let variables = variables(revision);
        for command in &revision.commands {
            step(bsp, revision, command, &variables, findings);
        }
    }
    let mut seen = BTreeSet::new();
    let mut unread = false;
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        if !path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("tcl"))
        {
            let text = text::read(&path)?;
            lines(&path, &text, findings);
            open.extend(text.lines().flat_map(|line| reader.scripts(line, &path)));
            continue;
        }
        let script = reader.read(&path)?;
        unread |= not_read(&script, findings);
        let variables = variables(&script);
        for command in &script.commands {
            step(bsp, &script, command, &variables, findings);
            let from = &command.place.path;
            let words = wording(&command.words, &script, &bsp.hardware, from);
            open.extend(reader.scripts(&words, from));
        }
        for assignment in &script.assignments {
            imported(bsp, assignment, old, findings)?;
        }
        open.extend(script.flow);
    }
    left_over(project, &seen, findings);
    Ok(unread)
}

/// Checks a command of a script.
fn step(
    bsp: &Bsp,
    script: &Revision,
    command: &Command,
    variables: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    if command.runs == Runs::Held {
        return;
    }
    // A nested command is checked by itself.
    let literal = command
        .words
        .iter()
        .filter(|word| !word.braced)
        .map(|word| word.text.as_str())
        .map(without_brackets)
        .any(|text| STEPS.iter().any(|step| text.contains(step)));
    let by_variable = uses(command, variables);
    if !literal && !by_variable && !STEPS.contains(&command.name()) {
        return;
    }
    let words = wording(&command.words, script, &bsp.hardware, &command.place.path);
    let place = command.place.clone();
    if LOOKING.contains(&command.name()) {
        let what = format!(
            "{words}: this names a step that uses a compiled file; make sure that nothing runs it"
        );
        findings.note(TEST, place, what);
    } else {
        let what = format!(
            "this step uses a file compiled with the old DMA, and does not wait for {IMPORTS_ON}: {words}"
        );
        bad(findings, TEST, place, what);
    }
}

/// Returns the variables that were given the words of a step.
fn variables(script: &Revision) -> BTreeSet<&str> {
    let sets = script
        .commands
        .iter()
        .filter(|command| command.name() == "set");
    let of_steps = sets.filter(|set| {
        let text = set.words.get(2).map_or("", |word| word.text.as_str());
        // A value that waits for `IMPORTS_ON` is empty until the file exists.
        !text.contains(IMPORTS_ON) && STEPS.iter().any(|step| text.contains(step))
    });
    of_steps.map(|set| set.words[1].text.as_str()).collect()
}

/// Reports whether a command uses one of these variables itself, not in a body or in brackets.
fn uses(command: &Command, variables: &BTreeSet<&str>) -> bool {
    let ends = |text: &str| !text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let used = |text: &str, name: &str| {
        let plain = format!("${name}");
        let mut places = text.match_indices(&plain);
        text.contains(&format!("${{{name}}}"))
            || places.any(|(at, found)| ends(&text[at + found.len()..]))
    };
    let words = command.words.iter().filter(|word| !word.braced);
    let texts: Vec<String> = words.map(|word| without_brackets(&word.text)).collect();
    variables
        .iter()
        .any(|name| texts.iter().any(|text| used(text, name)))
}

/// Checks the lines of a script that is not Tcl.
fn lines(path: &Path, text: &str, findings: &mut Findings) {
    let mut waits = false;
    for (n, line) in text.lines().enumerate() {
        let comment = ["#", "rem ", "REM ", "::"];
        if comment
            .iter()
            .any(|start| line.trim_start().starts_with(start))
        {
            continue;
        }
        // The line has the form `[ ! -e FILE ] || step`, or its step is on the next line.
        let held = line.contains(IMPORTS_ON) || waits;
        waits = line.contains(IMPORTS_ON) && line.trim_end().ends_with('\\');
        let imports = STEPS.iter().chain(&IMPORTS).any(|word| line.contains(word));
        if imports && !held {
            let what = format!(
                "this step uses a file compiled with the old DMA, and does not wait for {IMPORTS_ON}"
            );
            bad(findings, TEST, Place::line(path, n + 1), what);
        }
    }
}

/// Reports scripts that name an import and that no known compile runs.
fn left_over(project: &Project, seen: &BTreeSet<PathBuf>, findings: &mut Findings) {
    let sourced: BTreeSet<&PathBuf> = project
        .revisions
        .values()
        .flat_map(|r| r.sourced.iter().map(|(path, _)| path))
        .collect();
    let all = project.files.values().flatten();
    for path in
        all.filter(|path| is_script(path) && !seen.contains(*path) && !sourced.contains(path))
    {
        let text = text::read(path).unwrap_or_default();
        let names = |line: &str| {
            let words = STEPS.iter().chain(&IMPORTS);
            !line.trim_start().starts_with('#')
                && !line.contains(IMPORTS_ON)
                && words.into_iter().any(|word| line.contains(word))
        };
        if let Some(line) = text.lines().position(names) {
            let what = "this names an import; no known step of a compile runs it";
            findings.note(TEST, Place::line(path, line + 1), what);
        }
    }
}
