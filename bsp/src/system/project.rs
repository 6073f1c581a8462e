//! The Quartus project: its revisions, and every file of the BSP that their settings and steps come from.
//!
//! A revision's settings are its `.qsf` and what that sources. Scripts run before, within and after a compile, and
//! run others. Sources: Quartus Prime Standard Edition Settings File Reference Manual 683084
//! (`SOURCE_TCL_SCRIPT_FILE`, `*_FLOW_SCRIPT_FILE`, `POST_MODULE_SCRIPT_FILE`); OpenCL Custom Platform Toolkit
//! user guide 683398, 2.2.8 (`generate` and `synthesize` of `board_spec.xml`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::layout::Layout;
use crate::system::qsf::{Assignment, assignments};
use crate::system::tcl::commands;
use crate::system::xml::Document;
use crate::text;

/// What a file is to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A revision's `.qsf`.
    Settings,
    /// Tcl that a `.qsf` sources.
    Sourced,
    /// Tcl that runs in a compile.
    Flow,
}

/// A file of the project.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub role: Role,
    /// Its content, as [`text::read`] gives it.
    pub text: String,
    /// The revisions that it belongs to.
    pub revisions: BTreeSet<String>,
}

impl Source {
    /// Its assignments.
    pub fn assignments(&self) -> Vec<Assignment> {
        assignments(&self.text)
    }
}

/// A Quartus project.
#[derive(Debug)]
pub struct Project {
    /// The directory of its project file, which all paths are relative to.
    pub directory: PathBuf,
    /// Its files: settings of the revisions first, each before what it names.
    pub sources: Vec<Source>,
}

impl Project {
    /// Reads the project of a BSP.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::NotABsp`] if there is no settings file; those of [`text::read`] and
    /// [`Document::read`].
    pub fn read(layout: &Layout) -> Result<Self> {
        let mut project = Self {
            directory: layout.hardware_dir(),
            sources: Vec::new(),
        };
        let settings = layout.settings_files()?;
        let revision = |path: &Path| {
            let stem = path.file_stem().unwrap_or_default();
            BTreeSet::from([stem.to_string_lossy().into_owned()])
        };
        let all: BTreeSet<String> = settings.iter().flat_map(|path| revision(path)).collect();
        for path in &settings {
            project.take(path, Role::Settings, &revision(path))?;
        }
        for path in project.commanded()? {
            project.take(&path, Role::Flow, &all)?;
        }
        project.sources.sort_by_key(|source| source.role);
        Ok(project)
    }

    /// Takes a file and what it names.
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
                open.extend(named(&self.directory, &path, &known.text, role));
                continue;
            }
            let text = text::read(&path)?;
            open.extend(named(&self.directory, &path, &text, role));
            self.sources.push(Source {
                path,
                role,
                text,
                revisions: revisions.clone(),
            });
        }
        Ok(())
    }

    /// Scripts that `board_spec.xml` has `aoc` run.
    fn commanded(&self) -> Result<Vec<PathBuf>> {
        let specification = Document::read(&self.directory.join("board_spec.xml"))?;
        let compiles = specification.root.children("compile");
        let steps = compiles.flat_map(|c| c.children("generate").chain(c.children("synthesize")));
        Ok(steps
            .filter_map(|step| step.attribute("cmd"))
            .flat_map(|command| scripts_in(&self.directory, &self.directory, command))
            .collect())
    }

    /// Every assignment of the given names in the settings of the revisions.
    pub fn settings(&self, names: &[&str]) -> Vec<(&Source, Assignment)> {
        let settings = self
            .sources
            .iter()
            .filter(|source| source.role != Role::Flow);
        let all =
            settings.flat_map(|source| source.assignments().into_iter().map(move |a| (source, a)));
        all.filter(|(_, a)| names.contains(&a.name.as_str()))
            .collect()
    }
}

/// The files that a script names for Quartus, with their roles.
fn named(directory: &Path, path: &Path, text: &str, role: Role) -> Vec<(PathBuf, Role)> {
    let beside = path.parent().unwrap_or(directory);
    let scripts = |text: &str| scripts_in(directory, beside, text);
    let as_role = |role: Role| move |path: PathBuf| (path, role);
    let inner = role.max(Role::Sourced);
    let mut found = Vec::new();
    for assignment in assignments(text) {
        let role = match assignment.name.as_str() {
            "SOURCE_TCL_SCRIPT_FILE" => inner,
            "PRE_FLOW_SCRIPT_FILE" | "POST_FLOW_SCRIPT_FILE" | "POST_MODULE_SCRIPT_FILE" => {
                Role::Flow
            }
            _ => continue,
        };
        // Steps of the flow are named as tool:file.
        let value = assignment.value.as_str();
        let file = value.split_once(':').map_or(value, |(_, file)| file);
        found.extend(scripts(file).into_iter().map(as_role(role)));
    }
    for command in commands(text) {
        let words = command.words[1..].iter().map(|word| word.text.as_str());
        match (command.name(), role) {
            ("source", _) => found.extend(words.flat_map(scripts).map(as_role(inner))),
            // Run by whatever command: `exec`, `qexec`, one of the script's own.
            (_, Role::Flow) => found.extend(words.flat_map(scripts).map(as_role(Role::Flow))),
            _ => {}
        }
    }
    found
}

/// The Tcl files that a text names and the BSP has, relative to the project or to the file that names them.
fn scripts_in(directory: &Path, beside: &Path, text: &str) -> Vec<PathBuf> {
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '{', '}', '\'']));
    words
        .filter(|word| word.ends_with(".tcl") && !word.starts_with('/') && !word.contains("$"))
        .filter_map(|word| {
            let places = [directory.join(word), beside.join(word)];
            let file = places.into_iter().find(|path| path.is_file())?;
            inside(directory, &file)
        })
        .collect()
}

/// A path without detours, if it stays below the directory.
fn inside(directory: &Path, file: &Path) -> Option<PathBuf> {
    let (whole, root) = (
        fs::canonicalize(file).ok()?,
        fs::canonicalize(directory).ok()?,
    );
    Some(directory.join(whole.strip_prefix(root).ok()?))
}
