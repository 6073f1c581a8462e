//! Names of imports that are left in the files of the extended BSP: the last search, by words alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file_edits::marker;
use crate::import_steps::WORDS;
use peerlane_bsp_design::project::Project;
use peerlane_bsp_design::qsf::IMPORTS;
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::text;

/// Most lines that are listed one by one.
const MOST: usize = 20;

/// Finds lines that name an import in the files that are copied; `changed` has the new texts (both by their paths in
/// the BSP). Returns the note, if there are such lines.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if a step runs a script whose name cannot be read, and a script that no other step runs
/// names an import.
pub(crate) fn note(
    layout: &Layout,
    project: &Project,
    changed: &BTreeMap<&Path, &str>,
    left_out: &dyn Fn(&Path) -> bool,
) -> Result<Option<String>> {
    let mut lines: Vec<(PathBuf, usize)> = Vec::new();
    for path in project.tree.iter().filter(|path| !left_out(path)) {
        let file = layout.root.join(path);
        let read;
        let content = match changed.get(path.as_path()) {
            Some(text) => *text,
            None => match text::read_bytes(&file) {
                // Files that are too large for a script or not text.
                Err(_) => continue,
                Ok(bytes) if bytes.contains(&0) => continue,
                Ok(bytes) => {
                    read = String::from_utf8_lossy(&bytes).into_owned();
                    &read
                }
            },
        };
        let found = lines_of(content);
        let known = project.sources.iter().any(|source| source.path == file);
        if let (Some(line), false, Some(step)) = (found.first(), known, project.unread.first()) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                step.clone(),
                format!(
                    "the name of a sourced script cannot be determined without Quartus; it may be {}, which imports a \
                     compiled file (line {line})",
                    path.display()
                ),
                "Write the script's name out, relative to the project's directory.",
            ));
        }
        lines.extend(found.into_iter().map(|line| (path.clone(), line)));
    }
    let shown: Vec<_> = (lines.iter().take(MOST))
        .map(|(path, line)| format!("{}:{line}", path.display()))
        .collect();
    let more = lines.len().saturating_sub(MOST);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Ok((!lines.is_empty()).then(|| {
        format!(
            "These lines still have the name of an import: {}{more}. No known step of a compile of this project \
             imports by them; make sure that none imports the vendor's compiled board.",
            shown.join(", ")
        )
    }))
}

/// Returns the lines that name an import, without comments and steps that wait.
fn lines_of(text: &str) -> Vec<usize> {
    let waits = marker();
    let names = |line: &str| {
        let mut names = IMPORTS.iter().chain(&WORDS);
        names.any(|name| line.contains(name)) && !line.contains(&waits)
    };
    let mut comment = false;
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        // A backslash continues a comment on the next line.
        let starts = ["#", "//", "--", "::", "rem ", "<!--"];
        comment = comment
            || starts
                .iter()
                .any(|start| line.trim_start().starts_with(start));
        if !comment && names(line) {
            found.push(n + 1);
        }
        comment = comment && line.ends_with('\\');
    }
    found
}
