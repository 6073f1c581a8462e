//! The output of one step of the plan, and the collection of the steps.
//!
//! A step reads the facts that its parameters name, and writes no file: it returns a [`Step`], and separately the
//! results that later steps need. So the parameters in `plan.rs` are all that steps know of each other.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{self, Layout};

/// A file to write.
#[derive(Debug, Clone)]
pub struct Written {
    /// Path. That of a new file is relative to the hardware directory or to the platform.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

/// One change to a file of the BSP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The file, relative to the BSP.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// The change.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// Writes a path as people see it: JSON has no bytes that are not UTF-8.
pub(crate) fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// A file of the input that gets another text.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// Its name in the input.
    name: PathBuf,
    /// The file that the name leads to, relative to the BSP, with its new text.
    file: Written,
}

/// Files and messages of one step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// Files of the input that get another text.
    pub(crate) replaced: Vec<Replaced>,
    /// New files, relative to the board's directory.
    pub(crate) added: Vec<Written>,
    /// New files outside the board's directory, relative to the platform.
    pub(crate) around: Vec<Written>,
    /// Changes of files, with reasons. Their paths are those of the input.
    pub(crate) changes: Vec<Change>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
    /// Notes that require an action of the user.
    pub(crate) to_do: Vec<String>,
}

impl Step {
    /// Replaces a file of the input: the target if it is a link, since the link stays.
    ///
    /// # Errors
    /// [`ErrorKind::Link`] for a file outside the BSP; [`ErrorKind::Unsupported`] if this step has another text for it.
    pub(crate) fn replace(&mut self, layout: &Layout, name: &Path, text: String) -> Result<()> {
        let path = layout.inside(name)?;
        put(&mut self.replaced, replaced(name, path, text))
    }

    /// Replaces a file of the platform itself, even if it is a link.
    pub(crate) fn replace_itself(&mut self, layout: &Layout, path: PathBuf, text: String) {
        let name = layout.root.join(&path);
        self.replaced.push(replaced(&name, path, text));
    }

    /// Returns the new text of a file of the input, if this step replaces it.
    pub(crate) fn text_of(&self, layout: &Layout, name: &Path) -> Option<&str> {
        let path = layout.inside(name).ok()?;
        let found = self.replaced.iter().find(|known| known.file.path == path);
        found.map(|known| known.file.text.as_str())
    }
}

fn replaced(name: &Path, path: PathBuf, text: String) -> Replaced {
    Replaced {
        name: name.to_path_buf(),
        file: Written { path, text },
    }
}

/// Adds a replaced file. No step changes the text that another one made, so two texts of a file are an error.
fn put(all: &mut Vec<Replaced>, new: Replaced) -> Result<()> {
    match all.iter().find(|known| known.file.path == new.file.path) {
        None => all.push(new),
        Some(known) if known.file.text == new.file.text => {}
        Some(_) => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(new.name),
                format!(
                    "{} has two names here, but its two copies would have to differ",
                    new.file.path.display()
                ),
                "Replace each link to it by a separate file.",
            ));
        }
    }
    Ok(())
}

/// Files and messages of all steps, in their order.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// New and replaced files, relative to the BSP.
    pub(crate) files: Vec<Written>,
    /// New files outside the board's directory, relative to the platform.
    pub(crate) around: Vec<Written>,
    /// Files that the input does not have, for people.
    pub(crate) added: Vec<String>,
    /// Changes of files. Their paths are those of the output.
    pub(crate) changes: Vec<Change>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
    /// Notes that require an action of the user.
    pub(crate) to_do: Vec<String>,
}

/// Joins the steps. `hardware` is the board's directory in the output.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if two steps have different texts for one file.
pub(crate) fn collect(layout: &Layout, hardware: &Path, steps: Vec<Step>) -> Result<Collected> {
    let mut all = Collected::default();
    let mut known = Vec::new();
    for step in steps {
        for file in step.replaced {
            put(&mut known, file)?;
        }
        let new = step.added.iter().chain(&step.around);
        all.added
            .extend(new.map(|file| file.path.display().to_string()));
        known.extend(step.added.into_iter().map(|file| {
            let path = layout.hardware.join(&file.path);
            replaced(&file.path, path, file.text)
        }));
        all.around.extend(step.around);
        all.changes.extend(step.changes);
        all.notes.extend(step.notes);
        all.to_do.extend(step.to_do);
    }
    all.files = known.into_iter().map(|known| known.file).collect();
    for change in &mut all.changes {
        if let Ok(inside) = layout.inside(&change.file) {
            change.file = layout::place(&inside, (&layout.hardware, hardware));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> (tempfile::TempDir, Layout) {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.qsf"), "old").unwrap();
        std::os::unix::fs::symlink("a.qsf", root.path().join("b.qsf")).unwrap();
        let layout = Layout {
            root: root.path().to_path_buf(),
            hardware: PathBuf::new(),
        };
        (root, layout)
    }

    fn step(layout: &Layout, name: &str, text: &str) -> Step {
        let mut step = Step::default();
        let name = layout.root.join(name);
        step.replace(layout, &name, text.into()).unwrap();
        step
    }

    #[test]
    fn two_texts_of_one_file_are_refused_in_a_step_and_between_steps() {
        let (_root, layout) = layout();
        let link = layout.root.join("b.qsf");
        let mut first = step(&layout, "a.qsf", "new");
        assert_eq!(first.text_of(&layout, &link), Some("new"));
        first.replace(&layout, &link, "new".into()).unwrap();
        let within = first.replace(&layout, &link, "other".into()).unwrap_err();
        let steps = vec![first, step(&layout, "b.qsf", "other")];
        let between = collect(&layout, Path::new(""), steps).unwrap_err();
        for error in [within, between] {
            assert_eq!(error.kind, ErrorKind::Unsupported);
            assert_eq!(error.place.path, link);
        }
        let same = vec![step(&layout, "a.qsf", "new"), step(&layout, "b.qsf", "new")];
        let all = collect(&layout, Path::new(""), same).unwrap();
        assert_eq!(all.files.len(), 1);
        assert_eq!(all.files[0].path, Path::new("a.qsf"));
    }
}
