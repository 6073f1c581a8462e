//! The project as its files name it: revisions, the steps of a compile, and the BSP's files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::read::settings::{Files, Reader, Revision};
use crate::read::{Node, xml};
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::kept;
use peerlane_bsp_platform::layout::{Layout, with_extension};
use peerlane_bsp_platform::text;

/// The revisions, and the files that belong to them.
#[derive(Debug)]
pub(super) struct Project {
    /// By the path of their `.qsf`.
    pub revisions: BTreeMap<PathBuf, Revision>,
    /// Revisions that a project file, a step or another revision names.
    pub named: BTreeSet<PathBuf>,
    /// Commands of `board_spec.xml`, with their lines.
    pub steps: Vec<(String, usize)>,
    /// All files of the BSP, by their names.
    pub files: Files,
    /// The system that `board_spec.xml` names.
    pub top: Option<String>,
}

impl Project {
    /// Reads the revisions and the files that belong to them.
    ///
    /// # Errors
    /// Those of reading the settings.
    pub(crate) fn read(layout: &Layout) -> Result<Self> {
        let hardware = &layout.hardware_dir();
        let files = files(layout);
        let specification = xml(&hardware.join("board_spec.xml"))?;
        let (mut names, steps, top) = commanded(&specification);
        for project in with_extension(hardware, "qpf")? {
            names.extend(text::read(&project)?.lines().filter_map(revision_of));
        }
        let reader = Reader {
            hardware,
            files: &files,
            vendor: None,
        };
        let mut revisions = BTreeMap::new();
        let mut open = with_extension(hardware, "qsf")?;
        let path = |name: &str| hardware.join(format!("{name}.qsf"));
        open.extend(
            names
                .iter()
                .map(|name| path(name))
                .filter(|path| path.is_file()),
        );
        while let Some(qsf) = open.pop() {
            if revisions.contains_key(&qsf) {
                continue;
            }
            let revision = reader.read(&qsf)?;
            for assignment in &revision.assignments {
                if matches!(
                    assignment.name.as_deref(),
                    Some("BASE_REVISION" | "CVP_REVISION")
                ) {
                    names.extend(assignment.value.clone());
                    let other = path(assignment.value.as_deref().unwrap_or_default());
                    open.extend(Some(other).filter(|other| other.is_file()));
                }
            }
            revisions.insert(qsf, revision);
        }
        let named = names.iter().map(|name| path(name));
        Ok(Self {
            named: named.filter(|path| revisions.contains_key(path)).collect(),
            revisions,
            steps,
            files,
            top,
        })
    }

    /// Returns the revisions that stand alone: a file that another one sources is not a revision of its own.
    pub(crate) fn whole(&self) -> impl Iterator<Item = (&PathBuf, &Revision)> {
        self.revisions.iter().filter(|(qsf, _)| {
            let mut others = self.revisions.iter().filter(|(other, _)| other != qsf);
            let part = others.any(|(_, r)| r.sourced.iter().any(|(path, _)| path == *qsf));
            !part || self.named.contains(*qsf)
        })
    }

    /// Returns files of the kinds that Quartus compiles to.
    pub(crate) fn compiled(&self) -> impl Iterator<Item = &Path> {
        let kinds = ["aocx", "personax", "qxp", "qdb", "qar"];
        let all = self.files.values().flatten().map(PathBuf::as_path);
        all.filter(move |path| {
            path.extension()
                .is_some_and(|e| kinds.iter().any(|k| e == *k))
        })
    }

    /// Returns the values of an assignment in any revision, as far as they are known.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let all = self.revisions.values().flat_map(|r| &r.assignments);
        let these = all.filter(|a| a.name.as_deref() == Some(name));
        let values: BTreeSet<String> = these.filter_map(|a| a.value.clone()).collect();
        values.into_iter().collect()
    }
}

/// Returns revisions and commands of `board_spec.xml` (OpenCL Custom Platform Toolkit user guide 683398, 2.2.8), and
/// the system that it names.
fn commanded(specification: &Node) -> (BTreeSet<String>, Vec<(String, usize)>, Option<String>) {
    let mut names = BTreeSet::new();
    let mut steps = Vec::new();
    let mut top = None;
    for compile in specification.all("compile") {
        names.extend(compile.get("revision").map(str::to_string));
        top = compile.get("qsys_file").map(str::to_string).or(top);
        for step in compile.all("generate").chain(compile.all("synthesize")) {
            let command = step.get("cmd").unwrap_or_default();
            let words: Vec<_> = command.split_whitespace().collect();
            let revisions = words.windows(2).filter(|w| w[0] == "-c" || w[0] == "-rev");
            names.extend(revisions.map(|w| w[1].trim_matches(['"', '\'']).to_string()));
            steps.push((command.to_string(), step.line));
        }
    }
    (names, steps, top)
}

/// Returns the revision that a line of a project file names.
pub(super) fn revision_of(line: &str) -> Option<String> {
    // The first line may begin with a byte order mark.
    let (key, value) = line.trim_start_matches('\u{feff}').split_once('=')?;
    let value = value.trim();
    let name = match value.strip_prefix('"') {
        Some(rest) => rest.split('"').next()?,
        None => value.split(['#', ' ', '\t']).next()?,
    };
    (key.trim() == "PROJECT_REVISION").then(|| name.to_string())
}

/// Returns the files of a BSP by their names, without those that Peerlane and Quartus make and those of other boards.
fn files(layout: &Layout) -> Files {
    let (hardware, root) = (layout.hardware_dir(), &layout.root);
    let mut own = vec![hardware.join("scripts/peerlane"), root.join(kept::DIR)];
    own.extend(layout.other_boards().iter().map(|board| root.join(board)));
    let mut found = Files::new();
    let mut open = vec![root.clone()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let made =
                        own.contains(&path) || matches!(name.as_str(), "db" | "incremental_db");
                    open.extend(Some(path).filter(|_| !made));
                }
                _ if path.is_file() => found.entry(name).or_default().push(path),
                _ => {}
            }
        }
    }
    for paths in found.values_mut() {
        paths.sort();
    }
    found
}
