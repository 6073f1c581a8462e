//! The project's settings and scripts: includes the block's fragment, updates the members of regions
//! (`extend/regions`), and removes everything that the vendor shipped compiled.
//!
//! The compiled files contain the old DMA. They come into a revision as a partition that is imported (`.qxp`), as the
//! persona of the base revision (`.personax`, the CvP flow: s5_net porting guide 683645, 3.10.1.3) or as a netlist
//! among the sources, or a step of a script makes Quartus use them (`extend/import_steps.rs`). Quartus would use them instead
//! of the sources, without a message.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::file_edits::{FileEdits, STALE};
use crate::import_steps;
use crate::regions::{Members, Moved};
use crate::step::{Change, Written};
use peerlane_bsp_design::project::{Project, Role, Source};
use peerlane_bsp_design::qsf::{Assignment, IMPORTS, assignment};
use peerlane_bsp_design::tcl::{Command, Word};
use peerlane_bsp_design::values::UNKNOWN;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{OWN_DIR, has_extension};

/// Usual name of the compiled partition.
const USUAL_QXP: &str = "acl_iface_partition.qxp";

/// Commands that query an assignment or only mention its name.
const ASKING: [&str; 12] = [
    "get_global_assignment",
    "get_instance_assignment",
    "get_all_global_assignments",
    "get_all_instance_assignments",
    "get_all_assignments",
    "remove_all_global_assignments",
    "remove_all_instance_assignments",
    "puts",
    "post_message",
    "string",
    "regexp",
    "lsearch",
];
/// Operators of conditions that compare texts (`expr(n)`).
const OPERATORS: [&str; 6] = ["eq", "ne", "==", "!=", "in", "ni"];
/// The assignment that only records the last import.
const REMEMBERED: &str = "PARTITION_LAST_IMPORTED_FILE";
/// The assignment of Quartus Prime Pro, which names its partition by `-to`.
const PRO: &str = "QDB_FILE_PARTITION";
/// The assignment for a netlist among the sources.
const NETLIST: &str = "QXP_FILE";

const FROM_SOURCE: &str = "the partition is compiled from source until the import is made again";

/// A compiled file that a revision imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The revision.
    pub revision: String,
    /// The assignment that imports it.
    pub assignment: String,
    /// The file, as the assignment names it.
    pub file: String,
    /// Section, which is the partition.
    pub section: String,
    /// `PARTITION_NETLIST_TYPE` with the import on; empty if it is not set.
    pub netlist: String,
    /// `PARTITION_IGNORE_SOURCE_FILE_CHANGES` with the import on; empty if it is not set.
    pub ignore_changes: String,
}

impl Import {
    /// Reports whether it is the result of the base revision of a CvP project.
    pub fn is_persona(&self) -> bool {
        self.assignment == "INPUT_PERSONA"
    }
}

/// The changes of the project.
#[derive(Debug, Default)]
pub struct Settings {
    /// Files that change.
    pub files: Vec<Written>,
    /// Changes.
    pub changes: Vec<Change>,
    /// The removed imports, which a script makes again.
    pub imports: Vec<Import>,
    /// Names of the compiled files, in any directory.
    pub compiled: BTreeSet<OsString>,
    /// Compiled files that steps of scripts use and that are not partitions.
    pub archives: BTreeSet<OsString>,
    /// The revision that compiles everything from source, if another one imports its result.
    pub base: Option<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Rewrites the project's settings and scripts.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for an import that cannot be read, for a partition inside the hard IP whose path cannot
/// be converted, and if two of the changes are to the same bytes.
pub fn rewrite(project: &Project, moved: &Moved) -> Result<Settings> {
    let mut settings = Settings {
        base: value_of(project, "BASE_REVISION"),
        notes: project.notes.clone(),
        ..Settings::default()
    };
    import_steps::refuse_commands(project)?;
    for source in &project.sources {
        refuse_unread(project, source)?;
        if source.role <= Role::Sourced {
            refuse_hidden(source)?;
        }
    }
    imports(project, &mut settings)?;
    for file in import_steps::files(project) {
        if !has_extension(Path::new(&file), "qxp") {
            settings.archives.insert(file.clone());
        }
        settings.compiled.insert(file);
    }
    let mut members = Members::find(project, moved);
    for source in &project.sources {
        let mut edits = FileEdits::new(project, source);
        edits.take_out_imports(&settings.compiled);
        edits.compile_from_source(&settings.imports);
        edits.regions(moved, &mut members);
        if let Some(hip) = &moved.hip {
            edits.hard_ip(hip)?;
        }
        if source.role == Role::Settings && !takes_in_a_revision(project, source) {
            edits.fragment();
        }
        import_steps::hold_back(&mut edits)?;
        settings.notes.extend(edits.netlists());
        settings.notes.append(&mut edits.notes);
        if !edits.edits.is_empty() {
            settings.files.push(Written {
                path: source.path.clone(),
                text: edits.edits.apply(&source.path, &source.text)?,
            });
            settings.changes.extend(edits.changes);
        }
    }
    Ok(settings)
}

impl Settings {
    /// Returns the project after the extension; line numbers are those that the user finds.
    pub fn after(&self, project: &Project) -> Project {
        let mut sources = project.sources.clone();
        for source in &mut sources {
            if let Some(new) = self.files.iter().find(|file| file.path == source.path) {
                source.text.clone_from(&new.text);
            }
        }
        let mut after = Project::of(project.directory.clone(), sources);
        after.tree.clone_from(&project.tree);
        after
    }
}

/// Returns the value of an assignment in any revision.
fn value_of(project: &Project, name: &str) -> Option<String> {
    let found = project.settings(&[name]);
    found
        .first()
        .map(|(_, assignment)| assignment.value.clone())
}

/// Refuses an assignment with a computed name, which may be an import.
fn refuse_unread(project: &Project, source: &Source) -> Result<()> {
    for command in source.commands() {
        if !matches!(
            command.name(),
            "set_global_assignment" | "set_instance_assignment"
        ) {
            continue;
        }
        let mut words = command.words.iter();
        let name = words
            .find(|word| word.text == "-name")
            .and_then(|_| words.next());
        let Some(name) = name.filter(|name| name.text.contains(['$', '[', '\\'])) else {
            continue;
        };
        let values = project.values(source, name.span.clone());
        let import = |value: &&String| {
            let name = value.to_uppercase();
            IMPORTS.contains(&name.as_str()) || name == NETLIST
        };
        // A backslash may stand for any character.
        let unread = name.text.contains('\\') || values.iter().any(|value| value.contains(UNKNOWN));
        let unread = unread && source.role <= Role::Sourced;
        let what = match values.iter().find(import) {
            Some(name) => format!("{name} is assigned by a composed name"),
            None if unread => {
                "an assignment whose name cannot be determined without Quartus: it may import the \
                               vendor's compiled board"
                    .into()
            }
            None => continue,
        };
        return Err(Error::new(
            ErrorKind::Unsupported,
            Place::line(&source.path, command.line),
            what,
            "Write out each of these assignments, with the name of its file.",
        ));
    }
    Ok(())
}

/// Refuses settings that name an import in a command that is not a plain assignment: `eval`, an alias, a variable. It
/// may import all the same, and could not be removed.
fn refuse_hidden(source: &Source) -> Result<()> {
    let known = |command: &Command| {
        let found = assignment(&source.text, command);
        let plain = found.is_some_and(|a| is_import(&a) || a.name == NETLIST);
        let removes = command.words.iter().any(|word| word.text == "-remove");
        // `$name eq "INPUT_PERSONA"` is a condition.
        let second = command.words.get(1).map_or("", |word| word.text.as_str());
        plain || removes || ASKING.contains(&command.name()) || OPERATORS.contains(&second)
    };
    for command in source.commands().iter().filter(|c| !known(c)) {
        // Text in braces or brackets is a command of its own, or data.
        let plain = |word: &&Word| !source.text[word.span.clone()].starts_with('{');
        let words = command.words[1..].iter().filter(plain);
        let texts: Vec<String> = words.map(|word| without_brackets(&word.text)).collect();
        // A variable with only the name is read where it is used.
        if matches!(command.name(), "set" | "variable")
            && !texts.iter().any(|text| text.contains("_assignment"))
        {
            continue;
        }
        let name = IMPORTS.iter().find(|name| {
            let part = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let mut all = texts.iter().flat_map(|text| text.split(part));
            all.any(|part| part.eq_ignore_ascii_case(name))
        });
        if let Some(name) = name {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::line(&source.path, command.line),
                format!(
                    "{name} in a command that is not a plain assignment: it may import the vendor's compiled board"
                ),
                "Write the assignment out, or remove it.",
            ));
        }
    }
    Ok(())
}

/// Returns a text without its brackets and the text in them.
fn without_brackets(text: &str) -> String {
    let mut depth = 0usize;
    let outside = |c: &char| {
        depth += usize::from(*c == '[');
        let out = depth == 0;
        depth -= usize::from(*c == ']' && depth > 0);
        out
    };
    text.chars().filter(outside).collect()
}

/// Finds every import, once for each revision, and the names of the imported files.
fn imports(project: &Project, settings: &mut Settings) -> Result<()> {
    for source in &project.sources {
        let assignments = source.assignments();
        // An assignment that records an import counts only if there is no other.
        let mut these: Vec<&Assignment> = assignments.iter().filter(|a| is_import(a)).collect();
        these.sort_by_key(|a| a.name == REMEMBERED);
        for assignment in these {
            let files = files_of(project, source, assignment)?;
            let names = files.iter().filter_map(|file| Path::new(file).file_name());
            settings.compiled.extend(names.map(OsStr::to_os_string));
            if assignment.name == PRO {
                settings.notes.push(format!(
                    "The vendor's {}:{}: {PRO} {} was removed. It is an import of Quartus Prime Pro, which no script \
                     here makes again. When the board is compiled, export the partition {} to that file and restore \
                     the assignment.",
                    source.name(),
                    assignment.line,
                    assignment.value,
                    assignment.to.as_deref().unwrap_or_default(),
                ));
                continue;
            }
            let Some(file) = files.first() else {
                continue;
            };
            for revision in &source.revisions {
                add_import(project, settings, revision, assignment, file);
            }
        }
    }
    Ok(())
}

/// Adds an import of a revision, unless it is known.
fn add_import(
    project: &Project,
    settings: &mut Settings,
    revision: &str,
    assignment: &Assignment,
    file: &str,
) {
    let section = assignment.section.clone().unwrap_or_default();
    let found = &mut settings.imports;
    if (found.iter()).any(|i| i.revision == *revision && i.section == section) {
        return;
    }
    let setting = |name: &str| {
        let all = project.settings(&[name]);
        let mut of = all.iter().filter(|(source, a)| {
            source.revisions.contains(revision) && a.section == assignment.section
        });
        of.next().map_or_else(String::new, |(_, a)| a.value.clone())
    };
    let name = match assignment.name.as_str() {
        REMEMBERED => "PARTITION_IMPORT_FILE",
        name => name,
    };
    found.push(Import {
        revision: revision.into(),
        assignment: name.into(),
        file: file.into(),
        section,
        netlist: setting("PARTITION_NETLIST_TYPE"),
        ignore_changes: setting("PARTITION_IGNORE_SOURCE_FILE_CHANGES"),
    });
}

/// Returns the files that an import may name. If nothing of the name can be read, it is the only file of its kind in
/// the BSP.
fn files_of(project: &Project, source: &Source, assignment: &Assignment) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for value in project.values(source, assignment.value_span.clone()) {
        let last = value.rsplit('/').next().unwrap_or(&value);
        if !value.contains(UNKNOWN) {
            files.push(value.strip_prefix("./").unwrap_or(&value).to_string());
        } else if !last.contains(UNKNOWN) {
            files.push(last.to_string());
        } else {
            files.push(the_only(project, source, assignment)?);
        }
    }
    files.retain(|file| !file.is_empty());
    Ok(files)
}

fn the_only(project: &Project, source: &Source, assignment: &Assignment) -> Result<String> {
    let kind = match assignment.name.as_str() {
        "INPUT_PERSONA" => "personax",
        PRO => "qdb",
        _ => "qxp",
    };
    let all: Vec<_> = (project.tree.iter())
        .filter(|path| has_extension(path, kind))
        .collect();
    match all.as_slice() {
        [] => Ok(USUAL_QXP.into()),
        [one] => Ok(one
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()),
        [one, other, ..] => Err(Error::new(
            ErrorKind::Unsupported,
            Place::line(&source.path, assignment.line),
            format!(
                "the name of the file that {} imports cannot be determined without Quartus, and the BSP has {} and {}",
                assignment.name,
                one.display(),
                other.display()
            ),
            "Write the file's name out in the assignment.",
        )),
    }
}

/// Reports whether a revision's settings include those of another one, which have the fragment already.
fn takes_in_a_revision(project: &Project, source: &Source) -> bool {
    let reached = |from: &Source| {
        let mut found: BTreeSet<&Path> = BTreeSet::new();
        let mut open = vec![from.path.as_path()];
        while let Some(path) = open.pop() {
            let source = project.sources.iter().find(|s| s.path == path);
            let inner = source.iter().flat_map(|s| s.takes_in.iter());
            let inner = inner.map(|(path, _)| path.as_path());
            open.extend(inner.filter(|path| found.insert(path)).collect::<Vec<_>>());
        }
        found
    };
    let all = reached(source);
    let revisions = project.sources.iter().filter(|s| s.role == Role::Settings);
    let mut others = revisions.filter(|s| s.path != source.path && all.contains(s.path.as_path()));
    others.any(|other| !reached(other).contains(source.path.as_path()))
}

fn is_import(assignment: &Assignment) -> bool {
    IMPORTS.contains(&assignment.name.as_str())
}

impl FileEdits<'_> {
    fn take_out(&mut self, assignment: &Assignment) {
        self.edits.delete(assignment.span.clone());
        let Assignment {
            name, value, line, ..
        } = assignment;
        self.note(format!("{name} {value} removed (line {line})"), STALE);
    }

    /// Removes the assignments that import, and netlists that are the same file.
    fn take_out_imports(&mut self, compiled: &BTreeSet<OsString>) {
        let same_file = |a: &Assignment| {
            let values = self.project.values(self.source, a.value_span.clone());
            values
                .iter()
                .any(|value| is_compiled(Path::new(value), compiled))
        };
        let stale = |a: &&Assignment| is_import(a) || a.name == NETLIST && same_file(a);
        let gone: Vec<_> = self.assignments.iter().filter(stale).cloned().collect();
        for assignment in &gone {
            self.take_out(assignment);
        }
    }

    /// Sets the partitions whose import is removed to be compiled from source.
    fn compile_from_source(&mut self, imports: &[Import]) {
        for assignment in self.assignments.clone() {
            let to = match assignment.name.as_str() {
                "PARTITION_NETLIST_TYPE" => "SOURCE",
                "PARTITION_IGNORE_SOURCE_FILE_CHANGES" => "OFF",
                _ => continue,
            };
            let section = assignment.section.clone().unwrap_or_default();
            if assignment.value == to || !imports.iter().any(|i| i.section == section) {
                continue;
            }
            self.edits.replace(assignment.value_span.clone(), to);
            let Assignment {
                name, value, line, ..
            } = &assignment;
            self.note(
                format!("{name} of {section} {value} → {to} (line {line})"),
                FROM_SOURCE,
            );
        }
    }

    /// Includes the block's constraints, after the last ones, which make the clocks.
    fn fragment(&mut self) {
        let source = &self.source.text;
        let fragment = fragment();
        let eol = if source.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let line = format!("set_global_assignment -name SOURCE_TCL_SCRIPT_FILE {fragment}{eol}");
        match self.behind_constraints() {
            Some(at) => self.edits.insert(at, line),
            None => {
                let end = match () {
                    () if source.is_empty() => "",
                    () if !source.ends_with('\n') => eol,
                    () => "",
                };
                // A backslash continues a comment on the next line, too: Tcl(n), rules 9 and 10.
                let continued = source.trim_end_matches(['\r', '\n']).ends_with('\\');
                let gap = if continued { eol } else { "" };
                self.edits.insert(source.len(), format!("{end}{gap}{line}"));
            }
        }
        self.note(
            format!("{fragment} included"),
            "timing constraints and synchroniser settings of the block",
        );
    }

    /// Returns the line after the last command that includes constraints; `None` if only the end of the file will do.
    fn behind_constraints(&self) -> Option<usize> {
        let text = &self.source.text;
        let own = self.assignments.iter().filter(|a| a.name == "SDC_FILE");
        let own = own.map(|a| a.value_span.start);
        let has = |path: &Path| {
            let source = self.project.sources.iter().find(|s| s.path == path);
            source.is_some_and(|s| s.assignments().iter().any(|a| a.name == "SDC_FILE"))
        };
        let inner = self.source.takes_in.iter().filter(|(path, _)| has(path));
        let last = own.chain(inner.map(|(_, at)| *at)).max()?;
        // Not in the body of another command, which may not run.
        let commands = self.source.commands();
        let around = commands
            .iter()
            .filter(|c| c.span.start <= last && last <= c.span.end);
        let outermost = around.min_by_key(|c| c.span.start)?;
        let rest = &text[outermost.span.end..];
        let line = &rest[..=rest.find('\n')?];
        let alone = line.chars().all(|c| c.is_whitespace() || c == ';');
        (alone && outermost.name() != "proc").then(|| outermost.span.end + line.len())
    }

    /// Returns notes on the compiled netlists that stay among the sources.
    fn netlists(&self) -> Vec<String> {
        let gone = |a: &Assignment| {
            self.changes
                .iter()
                .any(|c| c.what.contains(&format!(" {} removed", a.value)))
        };
        let stay = self
            .assignments
            .iter()
            .filter(|a| a.name == NETLIST && !gone(a));
        stay.map(|a| {
            format!(
                "The vendor's {}:{}: {} is a compiled netlist among the sources; make sure that it does not contain \
                 the board's system.",
                self.source.name(),
                a.line,
                a.value
            )
        })
        .collect()
    }
}

/// Returns the path of the fragment that the settings files include.
pub fn fragment() -> String {
    format!("{OWN_DIR}/peerlane.qsf")
}

/// Reports whether a file was compiled from the vendor's design, and must not be copied: a partition that was imported,
/// a persona, an `.aocx`.
pub fn is_compiled(path: &Path, compiled: &BTreeSet<OsString>) -> bool {
    let kind = ["personax", "aocx"]
        .iter()
        .any(|kind| has_extension(path, kind));
    // By its name alone: scripts compute paths.
    let name = path.file_name();
    kind || name.is_some_and(|name| name == USUAL_QXP || compiled.contains(name))
}

/// Files of Quartus's records of compiles.
const RECORDS: [&str; 6] = ["db_info", "cdb", "hdb", "rdb", "kpt", "qmsg"];

/// Reports whether a directory (relative to the hardware directory, with the names of the files in it) is Quartus's
/// record of compiles. Quartus would take a partition from it as it was compiled before. A directory of sources may
/// have the same name.
pub fn is_record(relative: &Path, files: &[PathBuf]) -> bool {
    let is = |called: &str| relative.file_name().is_some_and(|name| name == called);
    let quartus = |file: &PathBuf| RECORDS.iter().any(|kind| has_extension(file, kind));
    let of_project = relative.components().count() == 1;
    is("incremental_db") || is("db") && (of_project || files.iter().any(quartus))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(sources: &[(&str, Role, &str)]) -> Settings {
        let source = |(path, role, text): &(&str, Role, &str)| {
            let revisions = BTreeSet::from(["top".into()]);
            Source::new(path.into(), *role, text.to_string(), revisions)
        };
        let sources = sources.iter().map(source).collect();
        rewrite(&Project::of(PathBuf::new(), sources), &Moved::default()).unwrap()
    }

    #[test]
    fn import_goes_off_and_everything_else_stays() {
        let source = "a\r\nset_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id Top\r\n\
            set_global_assignment -name PARTITION_IGNORE_SOURCE_FILE_CHANGES ON -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_LAST_IMPORTED_FILE old.qxp -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"s:i\"\r\n\
            set_global_assignment -name QXP_FILE p.qxp\r\n\
            set_global_assignment -name SDC_FILE top.sdc\r\nlast";
        let new = rewritten(&[("top.qsf", Role::Settings, source)]);
        let want = "a\r\nset_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id \"s:i\"\r\n\
            set_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id Top\r\n\
            set_global_assignment -name PARTITION_IGNORE_SOURCE_FILE_CHANGES OFF -section_id \"s:i\"\r\n\
            set_global_assignment -name SDC_FILE top.sdc\r\n\
            set_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\r\nlast";
        assert_eq!(new.files[0].text, want);
        let import = Import {
            revision: "top".into(),
            assignment: "PARTITION_IMPORT_FILE".into(),
            file: "p.qxp".into(),
            section: "s:i".into(),
            netlist: "POST_FIT".into(),
            ignore_changes: "ON".into(),
        };
        assert_eq!(new.imports, [import]);
        for (path, compiled) in [
            ("p.qxp", true),
            ("deep/p.qxp", true),
            ("acl_iface_partition.qxp", true),
            ("persona/base.root_partition.personax", true),
            ("base.aocx", true),
            ("other.qxp", false),
        ] {
            assert_eq!(
                is_compiled(Path::new(path), &new.compiled),
                compiled,
                "{path}"
            );
        }
    }

    #[test]
    fn an_import_in_sourced_tcl_and_the_type_elsewhere() {
        let settings = "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE more.tcl\n\
            set_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id s\n";
        let sourced = "if {[file exists $qxp]} {\n  set_global_assignment -name PARTITION_IMPORT_FILE $qxp -section_id s\n}\n";
        let step = "if {[catch {execute_module -tool cdb -args \"--incremental_compilation_import=on\"} why]} {\n  error $why\n}\n";
        let new = rewritten(&[
            ("top.qsf", Role::Settings, settings),
            ("more.tcl", Role::Sourced, sourced),
            ("step.tcl", Role::Flow, step),
            ("other.tcl", Role::Flow, "puts hello\n"),
        ]);
        let text = |path: &str| {
            let file = new.files.iter().find(|f| f.path == Path::new(path));
            file.map(|f| f.text.as_str())
        };
        assert!(
            text("top.qsf")
                .unwrap()
                .contains("PARTITION_NETLIST_TYPE SOURCE -section_id s")
        );
        assert_eq!(text("more.tcl"), Some("if {[file exists $qxp]} {\n}\n"));
        let held = "if {[catch {if {[file exists scripts/peerlane/imports_on]} { execute_module -tool cdb -args \
                    \"--incremental_compilation_import=on\" }} why]} {\n  error $why\n}\n";
        assert_eq!(text("step.tcl"), Some(held));
        assert_eq!(text("other.tcl"), None);
        assert_eq!(new.imports[0].file, USUAL_QXP);
        assert_eq!(new.imports[0].netlist, "POST_FIT");
    }

    #[test]
    fn a_comment_that_a_backslash_continues_imports_nothing() {
        for eol in ["\n", "\r\n"] {
            let import = "set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id s";
            let text = format!("# the old flow: \\{eol}{import}{eol}");
            let new = rewritten(&[("top.qsf", Role::Settings, &text)]);
            assert!(new.imports.is_empty() && new.compiled.is_empty());
            assert!(new.files[0].text.starts_with(&text));
        }
    }

    #[test]
    fn a_netlist_that_nobody_imports_stays_and_is_said() {
        let new = rewritten(&[(
            "t.qsf",
            Role::Settings,
            "set_global_assignment -name QXP_FILE mine.qxp\n",
        )]);
        assert!(
            new.files[0]
                .text
                .starts_with("set_global_assignment -name QXP_FILE mine.qxp\n")
        );
        assert!(
            new.notes[0].contains("t.qsf:1: mine.qxp"),
            "{:?}",
            new.notes
        );
    }

    #[test]
    fn a_file_without_constraints_gets_the_fragment_at_its_end() {
        assert_eq!(
            rewritten(&[("t.qsf", Role::Settings, "x")]).files[0].text,
            "x\nset_global_assignment -name SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf\n"
        );
    }
}
