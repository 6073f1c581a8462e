//! Steps of the vendor's scripts that make Quartus use compiled files: they wait until the imports are on again.
//!
//! With no import on, such a step would use Quartus's database of the last compile, or restore the old board's files.

use std::ffi::OsString;
use std::path::Path;

use crate::file_edits::{FileEdits, STALE, marker};
use peerlane_bsp_design::project::{Project, Role, Source};
use peerlane_bsp_design::tcl::Command;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::has_extension;

/// Words of a step that imports: options of `quartus_cdb` (`quartus_cdb --help`), and commands of the packages
/// `::quartus::project` and `::quartus::design` (Quartus Prime Scripting reference).
pub(super) const WORDS: [&str; 5] = [
    "incremental_compilation_import",
    "import_design",
    "import_block",
    "import_partition",
    "project_restore",
];
/// Commands that run the command in their words.
const RUNNERS: [&str; 6] = [
    "execute_module",
    "execute_flow",
    "qexec",
    "exec",
    "eval",
    "system",
];

fn imports(text: &str) -> bool {
    WORDS.iter().any(|word| text.contains(word))
}

/// Refuses a step that imports in a command of `board_spec.xml`, which cannot wait.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn refuse_commands(project: &Project) -> Result<()> {
    match project
        .commands
        .iter()
        .find(|(command, _)| imports(command))
    {
        None => Ok(()),
        Some((_, place)) => Err(Error::new(
            ErrorKind::Unsupported,
            place.clone(),
            "a command that `aoc` runs imports the vendor's compiled files",
            "Put the commands into a script, a .sh file with a tool's name at the beginning of each line or a .tcl \
             file, and let the command run the script: a step of a script can wait until the import is made again.",
        )),
    }
}

/// Returns the archives and compiled designs of the old board that such steps name.
pub(crate) fn files(project: &Project) -> Vec<OsString> {
    let mut found = Vec::new();
    for source in &project.sources {
        let lines: Vec<String> = match source.role {
            Role::Shell => source.text.lines().map(str::to_string).collect(),
            _ => {
                let commands = source.commands();
                let spans = commands
                    .iter()
                    .filter(|c| kind(project, source, c) != Kind::Other);
                spans
                    .map(|c| source.text[c.span.clone()].to_string())
                    .collect()
            }
        };
        for line in lines.iter().filter(|line| imports(line)) {
            let words = line.split([' ', '\t', '\n', '"', '{', '}', '=', ';', '[', ']', '\'']);
            let paths = words.map(Path::new);
            let old =
                paths.filter(|path| ["qdb", "qar", "qxp"].iter().any(|e| has_extension(path, e)));
            found.extend(
                old.filter_map(Path::file_name)
                    .map(|name| name.to_os_string()),
            );
        }
    }
    found
}

/// The relation of a command to an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It imports.
    Step,
    /// It names an import, and uses the name for something else.
    Names,
    /// Neither.
    Other,
}

fn kind(project: &Project, source: &Source, command: &Command) -> Kind {
    let name = command.name();
    if WORDS.contains(&name) {
        return Kind::Step;
    }
    let words = &command.words[1..];
    let literal = words.iter().any(|word| imports(&word.text));
    let runs = RUNNERS.contains(&name) || project.is_procedure(name);
    let mut values = words
        .iter()
        .filter(|word| word.text.contains('$'))
        .map(|word| {
            let values = project.values(source, word.span.clone());
            let those = values.iter().filter(|value| imports(value)).count();
            (those, values.len())
        });
    match (literal, runs) {
        (true, true) => Kind::Step,
        (true, false) => Kind::Names,
        // A variable counts if all of its values are imports.
        (false, true) if values.clone().any(|(those, all)| those == all) => Kind::Step,
        (false, true) if values.any(|(those, _)| those > 0) => Kind::Names,
        _ => Kind::Other,
    }
}

/// Makes the steps of a script that import wait; notes the other commands that name an import.
pub(super) fn hold_back(file: &mut FileEdits<'_>) -> Result<()> {
    let source = file.source;
    match source.role {
        Role::Shell => return hold_back_lines(file),
        // Settings run nothing.
        Role::Settings => return Ok(()),
        Role::Sourced | Role::Flow => {}
    }
    let all = source.commands();
    let kinds: Vec<(Kind, &Command)> = (all.iter())
        .map(|command| (kind(file.project, source, command), command))
        .filter(|(kind, _)| *kind != Kind::Other)
        .collect();
    // A command in another one's body counts as the body's.
    let around = |outer: &Command, inner: &Command| {
        let (outer, inner) = (&outer.span, &inner.span);
        outer != inner && outer.start <= inner.start && inner.end <= outer.end
    };
    for (kind, command) in &kinds {
        let step = |k: Kind| k == Kind::Step;
        let inside = kinds
            .iter()
            .any(|(k, other)| step(*k) && around(other, command));
        let has_inner = kinds.iter().any(|(_, other)| around(command, other));
        match kind {
            Kind::Step if !inside => {
                let (from, to) = (command.span.start, command.span.end);
                let wait = format!("if {{[file exists {}]}} {{ ", marker());
                file.edits.insert(from, wait);
                file.edits.insert(to, " }");
                held(file, command.line);
            }
            Kind::Names if !inside && !has_inner => {
                let name = source.name();
                file.notes.push(format!(
                    "The vendor's {name}:{}: the command {} names an import and was not changed; make sure that it \
                     does not import the vendor's compiled board.",
                    command.line,
                    command.name()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn held(file: &mut FileEdits<'_>, line: usize) {
    let what = format!(
        "the step that imports a partition waits for {} (line {line})",
        marker()
    );
    file.note(what, STALE);
}

/// Makes the steps of a shell script that import wait, by its lines.
fn hold_back_lines(file: &mut FileEdits<'_>) -> Result<()> {
    let source = file.source;
    let shell = ["sh", "bash"]
        .iter()
        .any(|kind| has_extension(&source.path, kind));
    let (mut at, mut continued) = (0, false);
    for (n, line) in source.text.split_inclusive('\n').enumerate() {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let (first, inner) = (line.trim_start(), continued);
        continued = line.trim_end().ends_with('\\');
        if first.starts_with('#') || !imports(first) {
            continue;
        }
        // A command that begins with its line, and is not part of a condition.
        if !shell || inner || !first.starts_with("quartus_") {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::line(&source.path, n + 1),
                "a step that imports the vendor's compiled files, in a script that cannot be changed safely",
                "Remove that step from the script, or write it as a line of a .sh file that begins with the tool's \
                 name.",
            ));
        }
        file.edits
            .insert(start, format!("[ ! -e {} ] || ", marker()));
        held(file, n + 1);
    }
    Ok(())
}
