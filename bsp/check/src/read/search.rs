//! Finds the file that defines a kind of component, by Platform Designer's search path.
//!
//! Sources: Platform Designer user guides 683364 and 683609, "IP Search Path Recursive Search" and "Defining the IP
//! Search Path with Index Files"; `SEARCH_PATH` and `IP_SEARCH_PATHS` of the settings file reference manual 683084.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::read::settings::normal;
use crate::read::{tcl, xml};
use peerlane_bsp_platform::error::{Error, Result};
use peerlane_bsp_platform::text;

/// Most directories that are searched.
const MOST_DIRECTORIES: usize = 20_000;

/// Systems and components on the search path of a project.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Systems by their kind.
    pub systems: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Kinds of components (`_hw.tcl`), and of entries of a list (`.ipx`) whose file lies elsewhere.
    pub components: BTreeSet<String>,
    seen: BTreeSet<PathBuf>,
}

impl Catalog {
    /// Searches from the project's directory, with the values of its search paths.
    ///
    /// # Errors
    /// Those of reading the files that are found; [`peerlane_bsp_platform::error::ErrorKind::Io`].
    pub fn read(hardware: &Path, paths: &[String]) -> Result<Self> {
        let mut catalog = Self::default();
        catalog.directory(hardware, false)?;
        catalog.directory(&hardware.join("ip"), true)?;
        for pattern in paths.iter().flat_map(|path| path.split([';', ','])) {
            catalog.pattern(hardware, pattern.trim())?;
        }
        Ok(catalog)
    }

    fn pattern(&mut self, base: &Path, pattern: &str) -> Result<()> {
        let pattern = pattern.strip_prefix("$$/").unwrap_or(pattern);
        if pattern.is_empty() || pattern.contains('$') {
            return Ok(());
        }
        let (mut path, mut deep) = (base.to_path_buf(), false);
        let mut parts = pattern.split('/').peekable();
        if pattern.starts_with('/') {
            path = PathBuf::from("/");
        }
        while let Some(part) = parts.next() {
            match part {
                "*" | "**" => {
                    // As the last part it stands for any file, before the last part for any directories.
                    deep |= parts.peek().is_some();
                    break;
                }
                part => path.push(part),
            }
        }
        let path = normal(&path);
        match path.is_file() {
            true => self.file(&path),
            false => self.directory(&path, deep),
        }
    }

    /// Searches a directory and those below it, down to the first with a component or a list.
    fn directory(&mut self, directory: &Path, deep: bool) -> Result<()> {
        let mut open = vec![directory.to_path_buf()];
        while let Some(directory) = open.pop() {
            if !directory.is_dir() || self.seen.len() > MOST_DIRECTORIES {
                continue;
            }
            let failed = |e| Error::io(&directory, "list the directory", &e);
            let mut below = Vec::new();
            let mut defines = false;
            for entry in std::fs::read_dir(&directory).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.is_dir() {
                    below.push(path);
                } else {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    defines |= name.ends_with("_hw.tcl") || name.ends_with(".ipx");
                    self.file(&path)?;
                }
            }
            // A link may lead back up.
            let first =
                std::fs::canonicalize(&directory).is_ok_and(|whole| self.seen.insert(whole));
            if deep && first && !defines {
                open.extend(below);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !path.is_file() {
            return Ok(());
        }
        if let Some(kind) = name.strip_suffix(".qsys") {
            self.system(kind, path);
        } else if name.ends_with("_hw.tcl") {
            self.components.extend(component_name(path)?);
        } else if name.ends_with(".ipx") && self.seen.insert(path.to_path_buf()) {
            self.list(path)?;
        }
        Ok(())
    }

    fn system(&mut self, kind: &str, path: &Path) {
        let files = self.systems.entry(kind.to_string()).or_default();
        let whole = |p: &Path| std::fs::canonicalize(p).ok();
        if !files.iter().any(|file| whole(file) == whole(path)) {
            files.insert(path.to_path_buf());
        }
    }

    fn list(&mut self, path: &Path) -> Result<()> {
        let base = path.parent().unwrap_or(path);
        for entry in &xml(path)?.inside {
            match (entry.tag.as_str(), entry.get("path"), entry.get("file")) {
                ("path", Some(pattern), _) => self.pattern(base, pattern)?,
                ("component", _, Some(file)) => {
                    let file = normal(&base.join(file));
                    // The kind is the name that the list gives.
                    let kind = entry.get("name");
                    if file.extension().is_some_and(|e| e == "qsys") && file.is_file() {
                        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                        self.system(kind.unwrap_or(&stem), &file);
                    }
                    self.components
                        .extend(entry.get("name").map(str::to_string));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the value of `set_module_property NAME` of a component.
fn component_name(path: &Path) -> Result<Option<String>> {
    let (commands, _) = tcl::read(path, &text::read(path)?);
    let variables = tcl::Variables::new();
    let context = tcl::Context {
        project: path,
        file: path,
        variables: &variables,
    };
    let named = commands.iter().find(|command| {
        let property = command.words.get(1).map(|word| word.text.to_uppercase());
        command.name() == "set_module_property" && property.as_deref() == Some("NAME")
    });
    // If the name is computed and not known, the name of the file is the best guess.
    let by_file = || {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix("_hw.tcl").map(str::to_string)
    };
    Ok(named
        .and_then(|command| command.words.get(2))
        .and_then(|word| context.value(word).or_else(by_file)))
}
