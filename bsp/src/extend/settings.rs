//! The project's settings and scripts: the block's fragment taken in, and everything that the vendor shipped
//! compiled taken out.
//!
//! What was compiled holds the old DMA. It comes into a revision as a partition that is imported (`.qxp`), as the
//! persona of the base revision (`.personax`, the CvP flow: s5_net porting guide 683645, 3.10.1.3) or as a netlist
//! among the sources, and a step of a script has Quartus take it. Quartus would take it instead of the sources, without a word.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::extend::report::Change;
use crate::layout::{OWN_DIR, SCRIPT_DIR};
use crate::system::project::{Project, Role, Source};
use crate::system::qsf::Assignment;
use crate::system::tcl::{Command, commands};
use crate::system::xml::Edits;

/// Usual name of the compiled partition.
const USUAL_QXP: &str = "acl_iface_partition.qxp";

/// Assignments by which something compiled comes into a section of the design (Quartus Prime Standard Edition
/// Settings File Reference Manual 683084).
const IMPORTS: [&str; 4] = [
    "PARTITION_IMPORT_FILE",
    "PARTITION_LAST_IMPORTED_FILE",
    "INPUT_PERSONA",
    "QDB_FILE_PARTITION",
];
/// The one that only remembers what was imported last.
const REMEMBERED: &str = "PARTITION_LAST_IMPORTED_FILE";
/// What tells a command of a script that imports a partition (`quartus_cdb --help`).
const IMPORT_STEP: &str = "incremental_compilation_import";

const STALE: &str =
    "it was compiled with the old DMA: importing it would build every kernel against that";
const FROM_SOURCE: &str = "the partition is compiled from source until it is made anew";

/// Something compiled that a revision imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The revision.
    pub revision: String,
    /// The assignment that imports it.
    pub assignment: String,
    /// The file, as the assignment names it.
    pub file: String,
    /// Section: the partition.
    pub section: String,
    /// `PARTITION_NETLIST_TYPE` with the import on; empty if it is not set.
    pub netlist: String,
    /// `PARTITION_IGNORE_SOURCE_FILE_CHANGES` with the import on; empty if it is not set.
    pub ignore_changes: String,
}

impl Import {
    /// Whether it is what the base revision of a CvP project makes.
    pub fn is_persona(&self) -> bool {
        self.assignment == "INPUT_PERSONA"
    }
}

/// A file of the project with its new text.
#[derive(Debug)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// New text.
    pub text: String,
}

/// What becomes of the project.
#[derive(Debug, Default)]
pub struct Settings {
    /// Files that change.
    pub files: Vec<Rewritten>,
    /// Changes.
    pub changes: Vec<Change>,
    /// The imports that were taken out.
    pub imports: Vec<Import>,
    /// The revision that compiles everything from source, where another one imports what it makes.
    pub base: Option<String>,
    /// What a person should look at.
    pub notes: Vec<String>,
}

/// Rewrites the project's settings and scripts.
///
/// # Errors
/// [`crate::error::ErrorKind::Unsupported`] if two of the changes are to the same bytes.
pub fn rewrite(project: &Project) -> Result<Settings> {
    let mut settings = Settings {
        imports: imports(project),
        base: value_of(project, "BASE_REVISION"),
        ..Settings::default()
    };
    for source in &project.sources {
        let mut edits = FileEdits::new(source);
        edits.take_out_imports(&settings.imports);
        edits.compile_from_source(&settings.imports);
        match source.role {
            Role::Settings => edits.fragment(),
            Role::Sourced => {}
            Role::Flow => edits.hold_back_steps(),
        }
        settings.notes.extend(edits.netlists());
        if !edits.edits.is_empty() {
            settings.files.push(Rewritten {
                path: source.path.clone(),
                text: edits.edits.apply(&source.path, &source.text)?,
            });
            settings.changes.extend(edits.changes);
        }
    }
    Ok(settings)
}

/// The value of an assignment that any revision makes.
fn value_of(project: &Project, name: &str) -> Option<String> {
    let found = project.settings(&[name]);
    found
        .first()
        .map(|(_, assignment)| assignment.value.clone())
}

/// Every import, once for each revision.
fn imports(project: &Project) -> Vec<Import> {
    let mut found: Vec<Import> = Vec::new();
    for source in &project.sources {
        let assignments = source.assignments();
        // What remembers an import is one where nothing else does.
        let mut these: Vec<&Assignment> = assignments.iter().filter(|a| is_import(a)).collect();
        these.sort_by_key(|a| a.name == REMEMBERED);
        for assignment in these {
            let section = assignment.section.clone().unwrap_or_default();
            for revision in &source.revisions {
                if found
                    .iter()
                    .any(|i| i.revision == *revision && i.section == section)
                {
                    continue;
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
                    revision: revision.clone(),
                    assignment: name.into(),
                    file: literal(&assignment.value),
                    section: section.clone(),
                    netlist: setting("PARTITION_NETLIST_TYPE"),
                    ignore_changes: setting("PARTITION_IGNORE_SOURCE_FILE_CHANGES"),
                });
            }
        }
    }
    found
}

/// The name of a file, or the usual one where a script puts it together.
fn literal(value: &str) -> String {
    let last = value.rsplit('/').next().unwrap_or(value);
    match value.contains(['$', '[']) {
        false => value.into(),
        true if last.contains(['$', '[']) => USUAL_QXP.into(),
        true => last.into(),
    }
}

fn is_import(assignment: &Assignment) -> bool {
    IMPORTS.contains(&assignment.name.as_str())
}

/// The edits of one file.
struct FileEdits<'a> {
    source: &'a Source,
    assignments: Vec<Assignment>,
    edits: Edits,
    changes: Vec<Change>,
}

impl<'a> FileEdits<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            assignments: source.assignments(),
            edits: Edits::default(),
            changes: Vec::new(),
        }
    }

    fn note(&mut self, what: String, why: &str) {
        self.changes.push(Change {
            file: self.source.path.clone(),
            what,
            why: why.into(),
        });
    }

    fn take_out(&mut self, assignment: &Assignment) {
        self.edits.delete(assignment.span.clone());
        let Assignment {
            name, value, line, ..
        } = assignment;
        self.note(format!("{name} {value} removed (line {line})"), STALE);
    }

    /// Takes out the assignments that import, and netlists that are the same file.
    fn take_out_imports(&mut self, imports: &[Import]) {
        let stale = |a: &&Assignment| {
            let compiled = a.name == "QXP_FILE" && is_compiled(Path::new(&a.value), imports);
            is_import(a) || compiled
        };
        let gone: Vec<_> = self.assignments.iter().filter(stale).cloned().collect();
        for assignment in &gone {
            self.take_out(assignment);
        }
    }

    /// Has the partitions whose import is gone compiled from source.
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

    /// Takes the block's constraints in, after the last ones, which make the clocks.
    fn fragment(&mut self) {
        let source = &self.source.text;
        let fragment = fragment();
        let eol = if source.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let line = format!("set_global_assignment -name SOURCE_TCL_SCRIPT_FILE {fragment}{eol}");
        let last = self.assignments.iter().rev().find(|a| a.name == "SDC_FILE");
        match last {
            Some(last) if source[last.span.clone()].ends_with('\n') => {
                self.edits.insert(last.span.end, line);
            }
            _ if source.is_empty() || source.ends_with('\n') => {
                self.edits.insert(source.len(), line)
            }
            _ => self.edits.insert(source.len(), format!("{eol}{line}")),
        }
        self.note(
            format!("{fragment} taken in"),
            "timing constraints and synchroniser settings of the block",
        );
    }

    /// Has the commands of a script that import a partition wait until the imports are on again: with none, they
    /// would take what Quartus remembers.
    fn hold_back_steps(&mut self) {
        let text = &self.source.text;
        let all = commands(text);
        let imports = |command: &&Command| {
            let mut words = command.words[1..].iter();
            words.any(|word| word.text.contains(IMPORT_STEP))
        };
        let steps: Vec<_> = all.iter().filter(imports).collect();
        for step in &steps {
            // Of a command in another one's body, the body's.
            let inside = |other: &&&Command| {
                let (outer, inner) = (&step.span, &other.span);
                outer != inner && outer.start <= inner.start && inner.end <= outer.end
            };
            if steps.iter().any(|other| inside(&other)) {
                continue;
            }
            let (from, to) = (step.span.start, step.span.end);
            self.edits
                .insert(from, format!("if {{[file exists {}]}} {{ ", marker()));
            self.edits.insert(to, " }");
            self.note(
                format!(
                    "the step that imports a partition waits for {} (line {})",
                    marker(),
                    step.line
                ),
                STALE,
            );
        }
    }

    /// Says which compiled netlists stay among the sources.
    fn netlists(&self) -> Vec<String> {
        let gone = |a: &Assignment| {
            self.changes
                .iter()
                .any(|c| c.what.contains(&format!(" {} removed", a.value)))
        };
        let stay = self
            .assignments
            .iter()
            .filter(|a| a.name == "QXP_FILE" && !gone(a));
        stay.map(|a| {
            format!(
                "{}:{}: {} is a compiled netlist among the sources; see that the board's system is not in it.",
                self.source.path.file_name().unwrap_or_default().to_string_lossy(),
                a.line,
                a.value
            )
        })
        .collect()
    }
}

/// The file that says that the imports are on again: `rebuild.tcl` makes it.
pub fn marker() -> String {
    format!("{SCRIPT_DIR}/imports_on")
}

/// The fragment that the settings files take in.
pub fn fragment() -> String {
    format!("{OWN_DIR}/peerlane.qsf")
}

/// Whether a file (relative to the hardware directory) was compiled from the vendor's design, and must not be
/// copied: a partition that was imported, a persona, the `.aocx` of a base revision.
pub fn is_compiled(relative: &Path, imports: &[Import]) -> bool {
    let by_name = relative.file_name().is_some_and(|name| name == USUAL_QXP);
    let by_kind = relative
        .extension()
        .is_some_and(|e| e == "personax" || e == "aocx");
    // By its name alone: scripts put paths together.
    let imported = |import: &Import| Path::new(&import.file).file_name() == relative.file_name();
    by_name || by_kind || imports.iter().any(imported)
}

/// Whether a directory (relative to the hardware directory) is Quartus's record of compiles, from which it would
/// take a partition as it was compiled before.
pub fn is_record(relative: &Path) -> bool {
    relative
        .file_name()
        .is_some_and(|name| name == "db" || name == "incremental_db")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rewritten(sources: &[(&str, Role, &str)]) -> Settings {
        let source = |(path, role, text): &(&str, Role, &str)| Source {
            path: path.into(),
            role: *role,
            text: text.to_string(),
            revisions: BTreeSet::from(["top".into()]),
        };
        rewrite(&Project {
            directory: PathBuf::new(),
            sources: sources.iter().map(source).collect(),
        })
        .unwrap()
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
                is_compiled(Path::new(path), &new.imports),
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
