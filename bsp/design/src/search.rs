//! Finds the file that defines a kind of component, by Platform Designer's search path from the Quartus project.
//!
//! Sources: Platform Designer user guides 683364 and 683609, "IP Search Path Recursive Search" (the project's
//! directory itself, its `ip/` to any depth; a directory with a component or an index is not searched deeper) and
//! "Defining the IP Search Path with Index Files" (`.ipx`: paths relative to the index; an asterisk as a directory
//! is any number of directories); `SEARCH_PATH` and `IP_SEARCH_PATHS` of the settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::project::Project;
use crate::tcl::commands;
use crate::values::UNKNOWN;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{Layout, has_extension};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// Most directories below a search path that are searched: a search path is not a whole file system.
const DIRECTORIES: usize = 20_000;

/// The definition of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Definition {
    /// A system: a `.qsys` file.
    System(PathBuf),
    /// A component: a `_hw.tcl` file.
    Component(PathBuf),
    /// An entry of an index whose file lies outside the BSP.
    Outside(PathBuf),
}

/// The kinds on the search path of a project.
#[derive(Debug, Default)]
pub struct Catalog {
    kinds: BTreeMap<String, BTreeSet<Definition>>,
    /// Paths outside the BSP that are searched, too: mostly the OpenCL SDK's.
    pub outside: BTreeSet<String>,
}

impl Catalog {
    /// Searches as Platform Designer does.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for an absolute path into the BSP, [`ErrorKind::Io`]; those of [`Document::read`] for
    /// an index, of [`text::read`] for a component.
    pub fn read(layout: &Layout, project: &Project) -> Result<Self> {
        let hardware = layout.hardware_dir();
        let mut search = Search {
            root: fs::canonicalize(&layout.root).unwrap_or_else(|_| layout.root.clone()),
            catalog: Self::default(),
            seen: BTreeSet::new(),
        };
        search.directory(&hardware)?;
        search.below(&hardware.join("ip"))?;
        for (source, assignment) in project.settings(&["SEARCH_PATH", "IP_SEARCH_PATHS"]) {
            for value in project.values(source, assignment.value_span.clone()) {
                let shown = match value.contains(UNKNOWN) {
                    true => Some(assignment.value.as_str()),
                    false => None,
                };
                for pattern in value.split([';', ',']).map(str::trim) {
                    search.pattern(&hardware, pattern, shown)?;
                }
            }
        }
        Ok(search.catalog)
    }

    /// Returns everything that defines a kind, each file once.
    pub fn definitions(&self, kind: &str) -> impl Iterator<Item = &Definition> {
        self.kinds.get(kind).into_iter().flatten()
    }
}

struct Search {
    root: PathBuf,
    catalog: Catalog,
    /// Directories and indices that were searched, as canonical paths.
    seen: BTreeSet<PathBuf>,
}

impl Search {
    fn define(&mut self, kind: &str, definition: Definition) {
        let kinds = &mut self.catalog.kinds;
        kinds
            .entry(kind.to_string())
            .or_default()
            .insert(definition);
    }

    /// Searches a path of the settings or of an index, relative to `base`. One that cannot be read is recorded as
    /// `shown`.
    fn pattern(&mut self, base: &Path, pattern: &str, shown: Option<&str>) -> Result<()> {
        // A single dollar sign stands for the paths that are searched anyway, two for the directory of an index.
        let pattern = pattern.strip_prefix("$$/").unwrap_or(pattern);
        if pattern.is_empty() || pattern == "$" || pattern == "$$" {
            return Ok(());
        }
        let literal = pattern.split(['*', UNKNOWN, '$']).next().unwrap_or(pattern);
        let absolute = Path::new(literal).is_absolute();
        if absolute && fs::canonicalize(literal).is_ok_and(|whole| whole.starts_with(&self.root)) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(base),
                format!("the search path {pattern} leads into the given BSP, not into its copy"),
                "Make it relative to the project's directory.",
            ));
        }
        if pattern.contains(['$', UNKNOWN]) || pattern.starts_with(['/', '~']) {
            let pattern = shown.unwrap_or(pattern);
            self.catalog.outside.insert(pattern.to_string());
            return Ok(());
        }
        let pattern = pattern.replace('\\', "/");
        let mut directory = base.to_path_buf();
        let mut parts = pattern.split('/').peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            match part {
                // As the last part any files, before the last part any number of directories.
                "*" | "**" if last => break,
                "*" | "**" => return self.below(&directory),
                _ => directory.push(part),
            }
        }
        match directory.is_file() {
            true => self.file(&directory),
            false => self.directory(&directory),
        }
    }

    /// Searches the files of a directory.
    fn directory(&mut self, directory: &Path) -> Result<()> {
        self.entries(directory).map(|_| ())
    }

    /// Searches the files of a directory and of those below it, down to the first with a component or an index.
    fn below(&mut self, directory: &Path) -> Result<()> {
        let mut open = vec![directory.to_path_buf()];
        while let Some(directory) = open.pop() {
            if self.seen.len() > DIRECTORIES {
                break;
            }
            let (deeper, found) = self.entries(&directory)?;
            if !found {
                open.extend(deeper);
            }
        }
        Ok(())
    }

    /// Adds the files of a directory. Returns the directories in it, and whether it has a component or an index.
    fn entries(&mut self, directory: &Path) -> Result<(Vec<PathBuf>, bool)> {
        let nothing = (Vec::new(), false);
        let Ok(whole) = fs::canonicalize(directory) else {
            return Ok(nothing);
        };
        if !whole.is_dir() || !whole.starts_with(&self.root) || !self.seen.insert(whole.clone()) {
            return Ok(nothing);
        }
        let failed = |e| Error::io(directory, "list the directory", &e);
        let mut paths = Vec::new();
        for entry in fs::read_dir(&whole).map_err(failed)? {
            paths.push(entry.map_err(failed)?.path());
        }
        paths.sort();
        let (directories, files): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| path.is_dir());
        let mut found = false;
        for path in files {
            found |= is_component(&path) || has_extension(&path, "ipx");
            self.file(&path)?;
        }
        Ok((directories, found))
    }

    /// Adds a file, if it defines a kind.
    fn file(&mut self, path: &Path) -> Result<()> {
        let Ok(whole) = fs::canonicalize(path) else {
            return Ok(());
        };
        if !whole.is_file() || !whole.starts_with(&self.root) {
            return Ok(());
        }
        // A link defines the kind of its own name, not of the target's.
        if has_extension(path, "qsys") {
            let kind = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            self.define(&kind, Definition::System(whole));
        } else if is_component(path) {
            if let Some(kind) = component_name(&whole)? {
                self.define(&kind, Definition::Component(whole));
            }
        } else if has_extension(path, "ipx") && self.seen.insert(whole.clone()) {
            self.index(path, &whole)?;
        }
        Ok(())
    }

    /// Reads an index: components by name, and further paths.
    fn index(&mut self, path: &Path, whole: &Path) -> Result<()> {
        let document = Document::read(path)?;
        let base = whole.parent().unwrap_or(whole).to_path_buf();
        for entry in &document.root.children {
            match (
                entry.name.as_str(),
                entry.attribute("path"),
                entry.attribute("file"),
            ) {
                ("path", Some(pattern), _) => self.pattern(&base, pattern, None)?,
                ("component", _, Some(file)) => {
                    let inside = fs::canonicalize(base.join(file)).ok();
                    let inside = inside.filter(|f| f.is_file() && f.starts_with(&self.root));
                    let definition = match inside {
                        Some(file) if has_extension(&file, "qsys") => Definition::System(file),
                        Some(file) => Definition::Component(file),
                        None => Definition::Outside(path.to_path_buf()),
                    };
                    if let Some(kind) = entry.attribute("name") {
                        self.define(kind, definition);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Reports whether a search path that cannot be read may lead to a directory (relative to the BSP): the readable end of
/// the path must be on the way.
pub fn may_reach(pattern: &str, directory: &Path) -> bool {
    // An absolute path leads out of the copy, and so do those of Quartus and of the SDK.
    const OTHERS: [&str; 4] = [
        "ALTERAOCLSDKROOT",
        "INTELFPGAOCLSDKROOT",
        "QUARTUS_ROOTDIR",
        "QSYS_ROOTDIR",
    ];
    if pattern.starts_with(['/', '~']) || OTHERS.iter().any(|name| pattern.contains(name)) {
        return false;
    }
    let readable = |part: &&str| !part.contains(['$', '[', ']', '*', '"', '{', '}', ' ']);
    let end: Vec<&str> = (pattern.split('/').rev())
        .skip_while(|part| part.is_empty() || part.contains('*'))
        .take_while(readable)
        .collect();
    let names: Vec<_> = directory
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    end.is_empty() || names.windows(end.len()).any(|way| way == end)
}

fn is_component(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with("_hw.tcl"))
}

/// Returns the kind that a `_hw.tcl` file defines: `set_module_property NAME`.
fn component_name(path: &Path) -> Result<Option<String>> {
    let text = text::read(path)?;
    let named = commands(&text).into_iter().find(|command| {
        let property = command.words.get(1).map(|word| word.text.to_uppercase());
        command.name() == "set_module_property" && property.as_deref() == Some("NAME")
    });
    Ok(named.and_then(|command| Some(command.words.get(2)?.text.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a hardware directory of these files.
    fn catalog(files: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
        let dir = tempfile::tempdir().unwrap();
        let usual = [
            ("top.qsf", "set_global_assignment -name SEARCH_PATH iface\n"),
            ("board_spec.xml", "<board/>"),
        ];
        for (path, text) in usual.iter().chain(files) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let layout = Layout {
            root: dir.path().to_path_buf(),
            hardware: PathBuf::new(),
        };
        let catalog = Catalog::read(&layout, &Project::read(&layout).unwrap()).unwrap();
        (dir, catalog)
    }

    fn found(catalog: &Catalog, kind: &str) -> Vec<String> {
        let name = |definition: &Definition| match definition {
            Definition::System(path) | Definition::Component(path) | Definition::Outside(path) => {
                path.file_name().unwrap().to_string_lossy().into_owned()
            }
        };
        catalog.definitions(kind).map(name).collect()
    }

    #[test]
    fn the_search_path_is_platform_designers() {
        let component = |name: &str| format!("set_module_property NAME {name}\n");
        let index = "<library><path path=\"cores/**/*\"/><path path=\"${SDK}/ip/*\"/>\
                     <component name=\"far\" file=\"${SDK}/far_hw.tcl\"/>\
                     <component name=\"near\" file=\"hidden/near_hw.tcl\"/></library>";
        let (_dir, catalog) = catalog(&[
            ("here.qsys", ""),
            ("old/here.qsys", ""),
            ("iface/side.qsys", ""),
            ("iface/deep/side.qsys", ""),
            ("root_hw.tcl", &component("root")),
            ("ip/a/b/deep_hw.tcl", &component("{deep}")),
            ("ip/a/b/c/deeper_hw.tcl", &component("deeper")),
            ("cores/x/core_hw.tcl", &component("\"core\"")),
            ("hidden/near_hw.tcl", ""),
            ("iface.ipx", index),
        ]);
        assert_eq!(found(&catalog, "here"), ["here.qsys"]);
        assert_eq!(
            catalog.definitions("here").count(),
            1,
            "the backup is not on the search path"
        );
        assert_eq!(catalog.definitions("side").count(), 1);
        assert_eq!(found(&catalog, "root"), ["root_hw.tcl"]);
        assert_eq!(found(&catalog, "deep"), ["deep_hw.tcl"]);
        assert_eq!(found(&catalog, "core"), ["core_hw.tcl"]);
        assert_eq!(found(&catalog, "near"), ["near_hw.tcl"]);
        assert_eq!(found(&catalog, "far"), ["iface.ipx"]);
        // Nothing below a directory with a component is searched.
        assert_eq!(catalog.definitions("deeper").count(), 0);
        assert_eq!(catalog.outside, BTreeSet::from(["${SDK}/ip/*".to_string()]));
    }

    #[test]
    fn two_files_of_one_kind_are_both_found() {
        let (_dir, catalog) = catalog(&[("here.qsys", ""), ("iface/here.qsys", "")]);
        assert_eq!(catalog.definitions("here").count(), 2);
    }
}
