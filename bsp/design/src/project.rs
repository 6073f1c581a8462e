//! The Quartus project: its revisions, and every file of the BSP from which their settings and steps come.
//!
//! A revision's settings are its `.qsf` and the files that it sources. Scripts run before, within and after a compile,
//! and run others. Sources: Quartus Prime Standard Edition Settings File Reference Manual 683084
//! (`SOURCE_TCL_SCRIPT_FILE`, `QIP_FILE`, `*_FLOW_SCRIPT_FILE`, `POST_MODULE_SCRIPT_FILE`); OpenCL Custom Platform
//! Toolkit user guide 683398, 2.2.8 (`generate` and `synthesize` of `board_spec.xml`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::qsf::{Assignment, assignments, cut};
use crate::tcl::{Command, MOST_COMMANDS, commands};
use crate::values::{Script, UNKNOWN, Values};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// Most times that the scripts are read: a file that was found may resolve further names.
const ROUNDS: usize = 4;
/// Endings of scripts that are run by a name on a command line, and are not Tcl.
const SHELL: [&str; 8] = ["sh", "bash", "csh", "bat", "cmd", "pl", "py", "mk"];

/// A file that is included as settings, and a byte of the command that includes it.
pub type Taken = (PathBuf, usize);
/// A file and its role in the project.
type Run = (PathBuf, Role);

/// The role of a file in the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A revision's `.qsf`.
    Settings,
    /// Tcl that a `.qsf` includes: by `source`, `SOURCE_TCL_SCRIPT_FILE` or `QIP_FILE`.
    Sourced,
    /// Tcl that runs in a compile.
    Flow,
    /// A script in another language that runs in a compile.
    Shell,
}

/// A file of the project.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// Its role.
    pub role: Role,
    /// Its content, as [`text::read`] returns it.
    pub text: String,
    /// The revisions that it belongs to.
    pub revisions: BTreeSet<String>,
    /// The files that it includes as settings, each with a byte of the command that does.
    pub takes_in: Vec<Taken>,
}

impl Source {
    /// Returns its name without directories, for people.
    pub fn name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// Makes a file that includes no other.
    pub fn new(path: PathBuf, role: Role, text: String, revisions: BTreeSet<String>) -> Self {
        Self {
            path,
            role,
            text,
            revisions,
            takes_in: Vec::new(),
        }
    }

    /// Returns its assignments.
    pub fn assignments(&self) -> Vec<Assignment> {
        match self.role {
            Role::Shell => Vec::new(),
            _ => assignments(&self.text),
        }
    }

    /// Returns its commands.
    pub fn commands(&self) -> Vec<Command> {
        match self.role {
            Role::Shell => Vec::new(),
            _ => commands(&self.text),
        }
    }
}

/// A Quartus project.
#[derive(Debug)]
pub struct Project {
    /// The directory of its project file, which all paths are relative to.
    pub directory: PathBuf,
    /// Its files: settings of the revisions first, each before the files that it names.
    pub sources: Vec<Source>,
    /// Notes on files that are named but do not exist, and on files that could not be followed.
    pub notes: Vec<String>,
    /// Commands of steps that source a script whose name cannot be read.
    pub unread: Vec<Place>,
    /// All files of the BSP, relative to its root.
    pub tree: Vec<PathBuf>,
    /// The commands that `board_spec.xml` makes `aoc` run.
    pub commands: Vec<(String, Place)>,
    values: Values,
}

impl Project {
    /// Makes a project of files that are read already.
    pub fn of(directory: PathBuf, sources: Vec<Source>) -> Self {
        let mut project = Self {
            directory,
            sources,
            notes: Vec::new(),
            unread: Vec::new(),
            tree: Vec::new(),
            commands: Vec::new(),
            values: Values::default(),
        };
        project.values = project.learned();
        project
    }

    /// Reads the project of a BSP.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if there is no settings file; [`ErrorKind::Unsupported`] if a revision includes a file
    /// whose name cannot be read, or one outside the BSP; those of [`text::read`] and [`Document::read`].
    pub fn read(layout: &Layout) -> Result<Self> {
        let revisions = Revisions::find(layout)?;
        let tree = layout.files()?;
        let mut values = Values::default();
        let mut before = Vec::new();
        for round in 1.. {
            let mut walk = Walk::new(layout, values, &tree);
            walk.revisions(&revisions)?;
            let found: Vec<PathBuf> = walk.sources.iter().map(|s| s.path.clone()).collect();
            if round < ROUNDS && (round == 1 || found != before) {
                values = Self::of(layout.hardware_dir(), walk.sources).values;
                before = found;
                continue;
            }
            if let Some(problem) = walk.problems.into_iter().next() {
                return Err(problem);
            }
            let mut project = Self::of(layout.hardware_dir(), walk.sources);
            project.sources.sort_by_key(|source| source.role);
            project.notes = revisions.notes;
            project.commands = revisions.commands;
            project.unread = walk.unread;
            project.tree = tree;
            return Ok(project);
        }
        unreachable!("the last round returns")
    }

    fn learned(&self) -> Values {
        let mut values = Values::default();
        for _ in 0..2 {
            for source in &self.sources {
                let path = script_path(&self.directory, &source.path);
                let commands = source.commands();
                let script = Script {
                    text: &source.text,
                    commands: &commands,
                    path: &path,
                };
                values.learn(script);
                values.learn(script);
            }
        }
        values
    }

    /// Returns the possible values of the words at these bytes of a source.
    pub fn values(&self, source: &Source, span: Range<usize>) -> Vec<String> {
        let path = script_path(&self.directory, &source.path);
        let script = Script {
            text: &source.text,
            commands: &[],
            path: &path,
        };
        self.values.word(script, span)
    }

    /// Reports whether a command of that name is one of the project's own.
    pub fn is_procedure(&self, name: &str) -> bool {
        self.values.is_procedure(name)
    }

    /// Returns every assignment of the given names in the settings of the revisions.
    pub fn settings(&self, names: &[&str]) -> Vec<(&Source, Assignment)> {
        let settings = self
            .sources
            .iter()
            .filter(|source| source.role <= Role::Sourced);
        let all =
            settings.flat_map(|source| source.assignments().into_iter().map(move |a| (source, a)));
        all.filter(|(_, a)| names.contains(&a.name.as_str()))
            .collect()
    }
}

/// Reads a Tcl file of the project.
fn read_script(path: &Path) -> Result<String> {
    let text = text::read(path)?;
    if commands(&text).len() > MOST_COMMANDS {
        return Err(Error::new(
            ErrorKind::Unsupported,
            Place::file(path),
            format!("more than {MOST_COMMANDS} commands in the file"),
            "If the file belongs to the project, divide it into files that it sources.",
        ));
    }
    Ok(text)
}

/// Returns the path of a script from the project's directory.
fn script_path(directory: &Path, path: &Path) -> String {
    let mut up = String::new();
    let mut base = directory;
    loop {
        if let Ok(inside) = path.strip_prefix(base) {
            return format!("{up}{}", inside.display());
        }
        let Some(parent) = base.parent() else {
            return path.display().to_string();
        };
        base = parent;
        up += "../";
    }
}

/// The revisions of a project.
struct Revisions {
    /// Settings files in the project's directory, by revision.
    files: BTreeMap<String, PathBuf>,
    /// Names that a project file, a step or another revision uses for revisions.
    named: BTreeSet<String>,
    /// The commands that `board_spec.xml` makes `aoc` run.
    commands: Vec<(String, Place)>,
    notes: Vec<String>,
}

impl Revisions {
    /// Finds the revisions. Every settings file next to the project counts as a revision's, because `aoc` may be asked
    /// to compile any.
    fn find(layout: &Layout) -> Result<Self> {
        let files = layout.settings_files()?;
        let stem = |path: &Path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let files: BTreeMap<_, _> = files
            .iter()
            .map(|path| (stem(path), path.clone()))
            .collect();
        let mut named = layout.revisions()?;
        let mut commands = Vec::new();
        let specification = Document::read(&layout.hardware_dir().join("board_spec.xml"))?;
        for compile in specification.root.children("compile") {
            let place = specification.place(compile);
            if let Some(revision) = compile.attribute("revision") {
                named.push((revision.to_string(), place));
            }
            for step in compile
                .children("generate")
                .chain(compile.children("synthesize"))
            {
                let Some(command) = step.attribute("cmd") else {
                    continue;
                };
                let place = specification.place(step);
                let words: Vec<&str> = command.split_whitespace().collect();
                for pair in words
                    .windows(2)
                    .filter(|pair| matches!(pair[0], "-c" | "-rev" | "--rev"))
                {
                    named.push((pair[1].to_string(), place.clone()));
                }
                let long = words.iter().filter_map(|word| word.strip_prefix("--rev="));
                named.extend(long.map(|name| (name.to_string(), place.clone())));
                commands.push((command.to_string(), place));
            }
        }
        for path in files.values() {
            let other = ["BASE_REVISION", "CVP_REVISION"];
            let text = read_script(path)?;
            if let Some((line, what)) = cut(&text) {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    Place::line(path, line),
                    format!("the file ends in the middle of an assignment: {what}"),
                    "Copy the whole file from the vendor's BSP again, or complete its last line.",
                ));
            }
            let all = assignments(&text).into_iter();
            for a in all.filter(|a| other.contains(&a.name.as_str())) {
                named.push((a.value.clone(), Place::line(path, a.line)));
            }
        }
        let mut notes = Vec::new();
        let mut names = BTreeSet::new();
        for (name, place) in named {
            let readable = !name.is_empty() && !name.contains(['$', '[', '%']);
            if readable && names.insert(name.clone()) && !files.contains_key(&name) {
                let line = place.line.map_or(String::new(), |line| format!(":{line}"));
                let file = place
                    .path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                notes.push(format!(
                    "{file}{line} names a revision {name}, which has no settings file {name}.qsf."
                ));
            }
        }
        Ok(Self {
            files,
            named: names,
            commands,
            notes,
        })
    }
}

/// Follows the files of a project.
struct Walk<'a> {
    layout: &'a Layout,
    directory: PathBuf,
    values: Values,
    sources: Vec<Source>,
    problems: Vec<Error>,
    unread: Vec<Place>,
    /// All files of the BSP, relative to its root.
    tree: &'a [PathBuf],
}

/// The files that a name in a script stands for.
struct Named {
    files: Vec<PathBuf>,
    /// Whether no part of the name can be read.
    unread: bool,
    /// An existing file that a copy of the BSP would not have: one outside the BSP, or with an absolute path.
    outside: Option<PathBuf>,
}

impl<'a> Walk<'a> {
    fn new(layout: &'a Layout, values: Values, tree: &'a [PathBuf]) -> Self {
        Self {
            layout,
            directory: layout.hardware_dir(),
            values,
            sources: Vec::new(),
            problems: Vec::new(),
            unread: Vec::new(),
            tree,
        }
    }

    fn revisions(&mut self, revisions: &Revisions) -> Result<()> {
        let all: BTreeSet<String> = revisions.files.keys().cloned().collect();
        let real = |path: &Path| match self.layout.inside(path) {
            Ok(inside) => self.layout.root.join(inside),
            // A link out of the BSP is refused when it is copied.
            Err(_) => path.to_path_buf(),
        };
        let files: Vec<(&String, PathBuf)> = (revisions.files.iter())
            .map(|(name, path)| (name, real(path)))
            .collect();
        for (name, path) in &files {
            self.take(path, Role::Settings, &BTreeSet::from([(*name).clone()]))?;
        }
        // A settings file that another one includes, and that nothing names as a revision, is a part of the other.
        let taken: BTreeSet<PathBuf> = (self.sources.iter())
            .flat_map(|source| source.takes_in.iter().map(move |(path, _)| (source, path)))
            .filter(|(source, path)| source.path != **path)
            .map(|(_, path)| path.clone())
            .collect();
        for source in &mut self.sources {
            let mut names = files
                .iter()
                .filter(|(_, path)| *path == source.path)
                .map(|(name, _)| *name);
            let named =
                revisions.named.is_empty() || names.any(|name| revisions.named.contains(name));
            if source.role == Role::Settings && !named && taken.contains(&source.path) {
                source.role = Role::Sourced;
            }
        }
        for (command, _) in &revisions.commands {
            for (path, role) in self.run(command, &self.directory.clone()) {
                self.take(&path, role, &all)?;
            }
        }
        Ok(())
    }

    /// Adds a file and the files that it names.
    fn take(&mut self, path: &Path, role: Role, revisions: &BTreeSet<String>) -> Result<()> {
        let mut open = vec![(path.to_path_buf(), role)];
        while let Some((path, role)) = open.pop() {
            if let Some(known) = self.sources.iter_mut().find(|source| source.path == path) {
                // Each revision once, so a file that sources itself ends.
                if known.revisions.is_superset(revisions) && known.role <= role {
                    continue;
                }
                known.revisions.extend(revisions.iter().cloned());
                known.role = known.role.min(role);
                let (text, role) = (known.text.clone(), known.role);
                open.extend(self.named(&path, &text, role).0);
                continue;
            }
            let text = match role {
                Role::Shell => text::read(&path)?,
                _ => read_script(&path)?,
            };
            let (named, takes_in) = self.named(&path, &text, role);
            open.extend(named);
            self.sources.push(Source {
                path,
                role,
                text,
                revisions: revisions.clone(),
                takes_in,
            });
        }
        Ok(())
    }

    /// Returns the files that a script names for Quartus, with their roles, and those that it includes.
    fn named(&mut self, path: &Path, text: &str, role: Role) -> (Vec<Run>, Vec<Taken>) {
        let beside = path.parent().unwrap_or(&self.directory).to_path_buf();
        let mut found = Vec::new();
        let mut takes_in = Vec::new();
        if role == Role::Shell {
            for line in text
                .lines()
                .filter(|line| !line.trim_start().starts_with('#'))
            {
                found.extend(self.run(line, &beside));
            }
            return (found, takes_in);
        }
        let name = script_path(&self.directory, path);
        let script = Script {
            text,
            commands: &[],
            path: &name,
        };
        let inner = role.max(Role::Sourced);
        let mut taken = |walk: &mut Self, span: Range<usize>, line: usize, optional: bool| {
            let at = span.start;
            let place = Place::line(path, line);
            for value in walk.values.word(script, span) {
                let named = walk.find(&value, &beside);
                walk.judge(&named, &value, role, &place, optional);
                takes_in.extend(named.files.iter().map(|file| (file.clone(), at)));
                found.extend(named.files.into_iter().map(|file| (file, inner)));
            }
        };
        let mut steps = Vec::new();
        for assignment in assignments(text) {
            match assignment.name.as_str() {
                "SOURCE_TCL_SCRIPT_FILE" => {
                    taken(self, assignment.value_span, assignment.line, false);
                }
                "QIP_FILE" => taken(self, assignment.value_span, assignment.line, true),
                "PRE_FLOW_SCRIPT_FILE" | "POST_FLOW_SCRIPT_FILE" | "POST_MODULE_SCRIPT_FILE" => {
                    // Steps of the flow are named as tool:file.
                    for value in self.values.word(script, assignment.value_span.clone()) {
                        let file = value
                            .split_once(':')
                            .map_or(value.as_str(), |(_, file)| file);
                        steps.push(file.to_string());
                    }
                }
                _ => {}
            }
        }
        for command in commands(text) {
            let words = &command.words[1..];
            match (command.name(), role) {
                ("source", _) => {
                    if let Some(word) = words.last() {
                        taken(self, word.span.clone(), command.line, false);
                    }
                }
                // Any command may run it: `exec`, `qexec`, one of the script's own.
                (_, Role::Flow) => {
                    let values = words
                        .iter()
                        .flat_map(|word| self.values.word(script, word.span.clone()));
                    steps.extend(values);
                }
                _ => {}
            }
        }
        for step in steps {
            found.extend(self.run(&step, &beside));
        }
        (found, takes_in)
    }

    /// Returns the files that a command line runs, with the role of each.
    fn run(&self, line: &str, beside: &Path) -> Vec<Run> {
        let mut found = Vec::new();
        for word in line.split([' ', '\t', '\n', ';', '&', '|', '(', ')']) {
            let word = word.trim_matches(['"', '{', '}', '\'', ',']);
            let ending = Path::new(word)
                .extension()
                .unwrap_or_default()
                .to_string_lossy()
                .to_lowercase();
            let role = match ending.as_str() {
                "tcl" => Role::Flow,
                ending if SHELL.contains(&ending) => Role::Shell,
                _ => continue,
            };
            let files = self.find(word, beside).files;
            found.extend(files.into_iter().map(|file| (file, role)));
        }
        found
    }

    /// Finds the files that a name stands for: relative to the project or to the file that names them. If its beginning
    /// cannot be read, all files of the BSP with the same end.
    fn find(&self, name: &str, beside: &Path) -> Named {
        let mut named = Named {
            files: Vec::new(),
            unread: false,
            outside: None,
        };
        if let Some(at) = name.rfind(UNKNOWN) {
            let tail = name[at + UNKNOWN.len_utf8()..].trim_start_matches('/');
            if tail.is_empty() || !name[at + UNKNOWN.len_utf8()..].starts_with('/') {
                named.unread = true;
                return named;
            }
            let all = self.tree.iter().filter(|path| path.ends_with(tail));
            named.files = all.map(|path| self.layout.root.join(path)).collect();
            return named;
        }
        for place in [self.directory.join(name), beside.join(name)] {
            if !place.is_file() {
                continue;
            }
            match self.layout.inside(&place) {
                // With an absolute path, the copy would use the original's file.
                Ok(inside) if !name.starts_with('/') => {
                    named.files.push(self.layout.root.join(inside));
                }
                _ => named.outside = Some(place),
            }
            break;
        }
        named
    }

    /// Reports a file that cannot be included as settings.
    fn judge(&mut self, named: &Named, value: &str, role: Role, place: &Place, optional: bool) {
        let problem = |what: String, hint: &str| {
            Error::new(ErrorKind::Unsupported, place.clone(), what, hint)
        };
        if named.unread && role <= Role::Sourced && !optional {
            self.problems.push(problem(
                "settings are included from a file whose name cannot be determined without Quartus: it may import the \
                 vendor's compiled board"
                    .into(),
                "Write the file's name out, relative to the project's directory.",
            ));
        } else if named.unread && !optional {
            self.unread.push(place.clone());
        } else if let (Some(_), true) = (&named.outside, role <= Role::Sourced) {
            self.problems.push(problem(
                format!(
                    "settings are included from {value}, which is outside the given BSP, or has an absolute path: it \
                     would not be in the copy"
                ),
                "Name the BSP's root, with that file in it, and make the file's path relative to the project's \
                 directory.",
            ));
        }
    }
}
