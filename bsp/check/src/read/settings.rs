//! The settings of a revision: its `.qsf` and every file that it sources, in order; and the scripts of its flow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::read::tcl::{self, Command, Context, Runs, Variables, Word, last_part};
use crate::read::vendor::Vendor;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::text;

/// Files that one revision may source.
const MOST_FILES: usize = 1000;

/// Assignments that name a script that runs in a compile (Quartus Prime Standard Edition Settings File Reference Manual
/// 683084).
const FLOW: [&str; 4] = [
    "PRE_FLOW_SCRIPT_FILE",
    "POST_FLOW_SCRIPT_FILE",
    "POST_MODULE_SCRIPT_FILE",
    "PRE_MODULE_SCRIPT_FILE",
];

/// The command that places a pin or a cell.
const LOCATING: &str = "set_location_assignment";
/// The name that this module gives the assignments of places to pins and cells.
pub const LOCATION: &str = "LOCATION";

/// The files of a BSP by their names, to find a file whose path is not known.
pub type Files = BTreeMap<String, Vec<PathBuf>>;

/// Returns a path without `.` and `..`, as far as that is possible without a look at links.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its name, in capitals; `None` if not known.
    pub name: Option<String>,
    /// Its value; `None` if not known, empty if it has none.
    pub value: Option<String>,
    /// Its section.
    pub section: String,
    /// Its target (`-to`); `None` if not known, empty if it has none.
    pub to: Option<String>,
    /// The entity that it is in (`-entity`); empty if it has none or it is not known.
    pub entity: String,
    /// Whether `to` is written out.
    pub to_is_plain: bool,
    /// All of its options but remarks and its name, sorted, each with its word: a value where it is known, else the
    /// word as written.
    pub about: Vec<(String, String)>,
    /// The value that it assigns, spelled in the same way.
    pub says: String,
    /// Place of the command.
    pub place: Place,
    /// Whether the command runs.
    pub runs: Runs,
}

/// Everything in a revision, or in a script, with the files that it sources.
#[derive(Debug, Default)]
pub struct Revision {
    /// Commands; those of a sourced file follow where it is sourced.
    pub commands: Vec<Command>,
    /// Assignments in the same order.
    pub assignments: Vec<Assignment>,
    /// Files that are sourced, once for each time, and whether they are.
    pub sourced: Vec<(PathBuf, Runs)>,
    /// Sourced files that do not exist, by name.
    pub missing: Vec<(Place, String)>,
    /// Sourced files whose names are not known, and parts that cannot be read.
    pub unread: Vec<(Place, String)>,
    /// Scripts of the flow that the assignments name.
    pub flow: Vec<PathBuf>,
    /// Variables at the end.
    variables: Variables,
}

/// Reads revisions of one project.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The directory that Quartus runs in.
    pub hardware: &'a Path,
    /// The BSP's files.
    pub files: &'a Files,
    /// The vendor's files, if the settings are the stored ones of the vendor: the stored files have no links, and this
    /// has their targets.
    pub vendor: Option<&'a Vendor>,
}

impl Reader<'_> {
    /// Reads a `.qsf` or another Tcl file, and follows the files that it sources.
    ///
    /// # Errors
    /// Those of [`text::read`].
    pub fn read(&self, path: &Path) -> Result<Revision> {
        let mut revision = Revision::default();
        self.take(&mut revision, path, Runs::Always, &mut BTreeSet::new())?;
        Ok(revision)
    }

    /// Finds the file of a name, relative to the project or to the file that has the name.
    pub fn find(&self, name: &str, from: &Path) -> Option<PathBuf> {
        let beside = from.parent().unwrap_or(self.hardware);
        let mut places = [self.hardware, beside].into_iter();
        places.find_map(|place| {
            let path = normal(&place.join(name));
            match self.vendor {
                Some(vendor) => vendor.linked(&path),
                None => Some(path).filter(|path| path.is_file()),
            }
        })
    }

    fn take(
        &self,
        revision: &mut Revision,
        path: &Path,
        runs: Runs,
        above: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        // A file that sources itself is followed once.
        if above.len() > 50 || !above.insert(path.to_path_buf()) {
            return Ok(());
        }
        if revision.sourced.len() > MOST_FILES {
            let what = "too many sourced files".to_string();
            revision.unread.push((Place::file(path), what));
            return Ok(());
        }
        let (commands, open) = tcl::read(path, &text::read(path)?);
        if let Some(line) = open {
            let what =
                "a quote, brace or bracket is not closed: the rest of the file cannot be read";
            revision
                .unread
                .push((Place::line(path, line), what.to_string()));
        }
        for mut command in commands {
            command.runs = command.runs.max(runs);
            self.command(revision, path, command, above)?;
        }
        above.remove(path);
        Ok(())
    }

    fn command(
        &self,
        revision: &mut Revision,
        path: &Path,
        command: Command,
        above: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        let context = Context {
            project: self.hardware,
            file: path,
            variables: &revision.variables,
        };
        let mut named = None;
        let mut learnt = Vec::new();
        match command.name() {
            "source" => named = command.words.last().cloned(),
            "set" => {
                if let [_, name, value] = command.words.as_slice() {
                    let value = context.value(value);
                    let name = name.text.trim_start_matches(':').to_string();
                    let known = revision.variables.get(&name);
                    // A variable that may have two values has no known value.
                    let value = match (command.runs, known) {
                        (Runs::Always, _) | (_, None) => value,
                        (_, Some(old)) if *old == value => value,
                        _ => None,
                    };
                    learnt.push((name, value));
                }
            }
            "foreach" | "lassign" | "append" | "lappend" | "incr" => {
                let names = command.words.get(1).map_or("", |word| word.text.as_str());
                for name in names.split_whitespace() {
                    learnt.push((name.to_string(), None));
                }
            }
            _ => {}
        }
        let assignment = match command.name() {
            LOCATING => command.words.first().map(|name| (name, command.value())),
            _ => command.assignment(),
        };
        let assignment = assignment.filter(|_| !command.takes_away());
        if let Some((name, value)) = assignment {
            let to = match command.option("-to") {
                None => Some(String::new()),
                // Brackets with a number in them are a bit of a bus.
                Some(word) if is_bit(&word.text) => Some(word.text.clone()),
                Some(word) => context.value(word),
            };
            let (about, says) = said(&command, &context);
            let assignment = Assignment {
                name: match command.name() {
                    LOCATING => Some(LOCATION.into()),
                    _ => context.value(name).map(|name| name.to_uppercase()),
                },
                value: value.map_or(Some(String::new()), |value| context.value(value)),
                section: command
                    .option("-section_id")
                    .and_then(|section| context.value(section))
                    .unwrap_or_default(),
                to: to.clone(),
                entity: command
                    .option("-entity")
                    .and_then(|entity| context.value(entity))
                    .unwrap_or_default(),
                to_is_plain: to
                    .is_some_and(|to| command.option("-to").is_none_or(|word| word.text == to)),
                about,
                says,
                place: command.place.clone(),
                runs: command.runs,
            };
            match assignment.name.as_deref() {
                Some("SOURCE_TCL_SCRIPT_FILE") => named = value.cloned(),
                Some("QIP_FILE") => {
                    // A file that Quartus makes does not exist before a compile.
                    let file = assignment.value.as_ref();
                    let file = file.and_then(|name| self.find(name, path));
                    if file.is_some() || assignment.value.is_none() {
                        named = value.cloned();
                    }
                }
                Some(name) if FLOW.contains(&name) => {
                    let file = assignment.value.clone().unwrap_or_default();
                    let file = file.split_once(':').map_or(file.as_str(), |(_, file)| file);
                    match self.find(file, path) {
                        Some(file) => revision.flow.push(file),
                        None => {
                            let last = value.and_then(last_part);
                            let last = last.map(|l| l.rsplit(':').next().unwrap_or(l));
                            let named = last.and_then(|last| self.files.get(last));
                            revision.flow.extend(named.into_iter().flatten().cloned());
                        }
                    }
                }
                _ => {}
            }
            revision.assignments.push(assignment);
        }
        let (place, runs) = (command.place.clone(), command.runs);
        let name = named.as_ref().map(|word| context.value(word));
        revision.commands.push(command);
        revision.variables.extend(learnt);
        match (name, named) {
            (Some(Some(name)), _) => match self.find(&name, path) {
                Some(file) => self.follow(revision, &file, runs, above)?,
                None => revision.missing.push((place, name)),
            },
            // If the name is computed and not known, every file that it may be is followed.
            (Some(None), Some(word)) => match last_part(&word) {
                Some(last) => {
                    for file in self.files.get(last).into_iter().flatten() {
                        self.follow(revision, file, runs.max(Runs::Perhaps), above)?;
                    }
                }
                None => {
                    let what = format!(
                        "\"{}\" is sourced, but its name cannot be determined",
                        word.text
                    );
                    revision.unread.push((place, what));
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn follow(
        &self,
        revision: &mut Revision,
        file: &Path,
        runs: Runs,
        above: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        revision.sourced.push((file.to_path_buf(), runs));
        self.take(revision, file, runs, above)
    }

    /// Returns the scripts that a text names and the BSP has.
    pub fn scripts(&self, text: &str, from: &Path) -> Vec<PathBuf> {
        let apart = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '{' | '}' | '[' | ']' | ';' | '=')
        };
        let words = text.split(apart).filter(|word| is_script(Path::new(word)));
        let mut found = Vec::new();
        for word in words {
            // Steps are named as tool:file.
            let name = word.rsplit(':').next().unwrap_or(word);
            match self.find(name, from) {
                Some(file) => found.push(file),
                None if name.contains('$') || name.starts_with('/') => {
                    let last = name.rsplit('/').next().unwrap_or(name);
                    found.extend(self.files.get(last).into_iter().flatten().cloned());
                }
                None => {}
            }
        }
        found
    }
}

/// Returns the options and the value of an assignment: see [`Assignment::about`] and [`Assignment::says`].
fn said(command: &Command, context: &Context<'_>) -> (Vec<(String, String)>, String) {
    let here = format!("{}/", context.project.display());
    let text = |word: &Word| {
        let value = match is_bit(&word.text) {
            true => None,
            false => context.value(word),
        };
        // The text must be the same at each place of the project.
        value
            .unwrap_or_else(|| word.text.clone())
            .replace(&here, "")
    };
    let (mut about, mut says) = (Vec::new(), Vec::new());
    for (option, word) in command.arguments() {
        match (option, word) {
            (Some("-name" | "-tag" | "-comment"), _) => {}
            (Some(option), word) => about.push((option.into(), word.map(text).unwrap_or_default())),
            (None, word) => says.extend(word.map(text)),
        }
    }
    about.sort();
    (about, says.join(" "))
}

/// Reports whether all brackets of a name, which has some, are those of bits.
fn is_bit(name: &str) -> bool {
    let mut bits = name.split('[').skip(1);
    let number = |bit: &str| bit.starts_with(|c: char| c.is_ascii_digit() || c == '*');
    name.contains('[') && !name.contains('$') && bits.all(number)
}

/// Reports whether a file is a script, by its name.
pub fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|e| {
        ["tcl", "sh", "bash", "csh", "bat", "cmd", "pl", "py"]
            .iter()
            .any(|kind| e.eq_ignore_ascii_case(kind))
    })
}

/// Returns a command's words as text, for a search: values where they are known, else the words as written.
pub fn wording(words: &[Word], revision: &Revision, hardware: &Path, file: &Path) -> String {
    let context = Context {
        project: hardware,
        file,
        variables: &revision.variables,
    };
    let texts = words
        .iter()
        .map(|word| context.value(word).unwrap_or_else(|| word.text.clone()));
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Reads `top.qsf` of the given files.
    fn revision(files: &[(&str, &str)]) -> (tempfile::TempDir, Revision) {
        let dir = tempfile::tempdir().unwrap();
        let mut names = Files::new();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            names.entry(name).or_default().push(path);
        }
        let reader = Reader {
            hardware: dir.path(),
            files: &names,
            vendor: None,
        };
        let revision = reader.read(&dir.path().join("top.qsf")).unwrap();
        (dir, revision)
    }

    fn sourced(dir: &tempfile::TempDir, revision: &Revision) -> Vec<(String, Runs)> {
        let inside = |path: &Path| path.strip_prefix(dir.path()).unwrap().display().to_string();
        let all = revision.sourced.iter();
        all.map(|(path, runs)| (inside(path), *runs)).collect()
    }

    #[test]
    fn sources_are_followed() {
        let (dir, revision) = revision(&[
            (
                "top.qsf",
                "source sub/b.tcl\nset_global_assignment -name SOURCE_TCL_SCRIPT_FILE gone.tcl\nsource $x\n\
                 if {1} { source $here/sub/c.tcl }\nset_global_assignment -name QIP_FILE d/d.qip\n",
            ),
            (
                "sub/b.tcl",
                "source c.tcl\nsource top.qsf\nset_global_assignment -name input_persona p -section_id Top\n",
            ),
            ("sub/c.tcl", ""),
            (
                "d/d.qip",
                "set_global_assignment -name QXP_FILE [file join $::quartus(qip_path) \"e.qxp\"]\n",
            ),
        ]);
        assert_eq!(
            sourced(&dir, &revision),
            [
                ("sub/b.tcl".to_string(), Runs::Always),
                ("sub/c.tcl".into(), Runs::Always),
                ("top.qsf".into(), Runs::Always),
                ("sub/c.tcl".into(), Runs::Perhaps),
                ("d/d.qip".into(), Runs::Always),
            ]
        );
        assert_eq!(revision.missing.len(), 1);
        assert_eq!(revision.unread.len(), 1);
        let names: Vec<_> = revision
            .assignments
            .iter()
            .map(|a| a.name.as_deref().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "INPUT_PERSONA",
                "SOURCE_TCL_SCRIPT_FILE",
                "QIP_FILE",
                "QXP_FILE"
            ]
        );
        let netlist = revision.assignments.last().unwrap().value.clone().unwrap();
        assert_eq!(Path::new(&netlist), dir.path().join("d/e.qxp"));
    }

    #[test]
    fn names_that_are_put_together() {
        let (dir, revision) = revision(&[
            (
                "top.qsf",
                "set d s\nsource $d/a.tcl\nsource [file join s b.tcl]\nforeach {n v} {A b} { set_global_assignment -name $n $v }\n\
                 set_global_assignment -name POST_FLOW_SCRIPT_FILE \"quartus_cdb:$x/post.tcl\"\n",
            ),
            ("s/a.tcl", ""),
            ("s/b.tcl", ""),
            ("s/post.tcl", ""),
        ]);
        assert_eq!(sourced(&dir, &revision).len(), 2);
        assert_eq!(revision.assignments[0].name, None);
        assert_eq!(revision.flow, [dir.path().join("s/post.tcl")]);
    }
}
