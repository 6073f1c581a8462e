//! The project's settings, scripts and compiled files in the copy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::compiled;
use crate::component::{self, Compile};
use crate::hip_paths;
use crate::leftovers;
use crate::regions::{Hip, Moved};
use crate::settings::{self, Settings};
use crate::step::{Step, Written};
use peerlane_bsp_design::project::Project;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::Layout;

/// The step, and facts that later steps need.
pub(crate) struct Settled {
    /// Files and messages.
    pub(crate) step: Step,
    /// The project after the extension.
    pub(crate) after: Project,
    /// Facts about the board's compile.
    pub(crate) compile: Compile,
    /// Files and directories that are not copied, relative to the BSP.
    pub(crate) left_out: Vec<PathBuf>,
    /// Files that the project does not name any more, as its settings named them.
    unnamed: Vec<String>,
}

impl Settled {
    /// Returns the files that the extended BSP names and does not have, of those that the input does not have.
    pub(crate) fn still_missing(&self, mut missing: Vec<String>) -> Vec<String> {
        let ends = |missing: &str, file: &str| missing.ends_with(&format!(" {file}"));
        missing.retain(|missing| !self.unnamed.iter().any(|file| ends(missing, file)));
        missing
    }
}

/// Replaces the project's settings and scripts by versions that import nothing, leaves out the compiled files, and adds
/// the script that makes them again.
///
/// # Errors
/// Those of [`settings::rewrite`], [`hip_paths::constraints`], [`leftovers::note`] and [`Step::replace`], and of
/// listing and reading the files.
pub(crate) fn step(
    layout: &Layout,
    site: &Site<'_>,
    project: &Project,
    moved: &Moved,
    cvp_lost: bool,
) -> Result<Settled> {
    let mut step = Step::default();
    let mut settings = settings::rewrite(project, moved)?;
    let after = settings.after(project);
    if let Some(hip) = &moved.hip {
        let unsure = constraints(layout, project, hip, &mut settings)?;
        let lines = [hip_paths::unsure(hip, &after), unsure].concat();
        step.to_do.extend(hip_paths::to_do(hip, &lines));
        step.to_do.extend(hip_paths::patches(&after, cvp_lost));
    }
    let mut paths = compiled::left_out(layout, &settings.compiled)?;
    let generated = compiled::generated(site);
    step.to_do.extend(generate_again(layout, &generated));
    paths.extend(generated);
    let stays = |path: &Path| !paths.iter().any(|left| path.starts_with(left));
    for file in settings.files.iter().filter(|file| stays(&file.path)) {
        step.replace(layout, &file.path, file.text.clone())?;
    }
    step.changes.extend(settings.changes.iter().cloned());
    let inside = |path: &PathBuf| {
        path.strip_prefix(&layout.root)
            .unwrap_or(path)
            .to_path_buf()
    };
    let left_out: Vec<PathBuf> = paths.iter().map(inside).collect();
    let named = named(layout, project, &settings.files, &left_out)?;
    let compile = compile(layout, &settings, &left_out, cvp_lost)?;
    step.added = component::scripts(&compile, &settings);
    step.notes.extend(settings.notes.iter().cloned());
    let note = compiled::note(&settings, &compile, &left_out, named.is_some());
    match settings.imports.is_empty() {
        true => step.notes.push(note),
        false => step.to_do.push(note),
    }
    step.to_do.extend(named);
    Ok(Settled {
        step,
        after,
        compile,
        left_out,
        unnamed: (settings.imports.into_iter())
            .map(|import| import.file)
            .collect(),
    })
}

/// Converts the paths of timing constraints. Returns the lines that could not be converted.
fn constraints(
    layout: &Layout,
    project: &Project,
    hip: &Hip,
    settings: &mut Settings,
) -> Result<Vec<String>> {
    let found = hip_paths::constraints(layout, project, hip)?;
    settings.files.extend(found.files);
    settings.changes.extend(found.changes);
    Ok(found.unsure)
}

/// Returns the task for a user about directories that Platform Designer generated.
fn generate_again(layout: &Layout, generated: &[PathBuf]) -> Option<String> {
    let hardware = layout.hardware_dir();
    let names: Vec<_> = (generated.iter())
        .map(|dir| compiled::inside(&hardware, dir))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The vendor's files that were generated from the systems with the old DMA were left out: {}. Generate them \
             again (qsys-generate) if no step of the compile does.",
            names.join(", ")
        )
    })
}

/// Returns the note on names of imports that stay in the files that are copied.
fn named(
    layout: &Layout,
    project: &Project,
    files: &[Written],
    left_out: &[PathBuf],
) -> Result<Option<String>> {
    let changed: Vec<(PathBuf, &str)> = (files.iter())
        .map(|file| Ok((layout.inside(&file.path)?, file.text.as_str())))
        .collect::<Result<_>>()?;
    let changed = (changed.iter())
        .map(|(path, text)| (path.as_path(), *text))
        .collect();
    let gone = |path: &Path| left_out.iter().any(|left| path.starts_with(left));
    leftovers::note(layout, project, &changed, &gone)
}

/// Returns the facts about the board's compile.
fn compile(
    layout: &Layout,
    settings: &Settings,
    left_out: &[PathBuf],
    cvp_lost: bool,
) -> Result<Compile> {
    let hardware: Vec<&Path> = (left_out.iter())
        .filter_map(|path| path.strip_prefix(&layout.hardware).ok())
        .collect();
    let images = hardware
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "aocx"));
    let archive = |name: &OsStr| {
        let path = hardware.iter().find(|path| path.file_name() == Some(name));
        path.copied().unwrap_or(name.as_ref()).display().to_string()
    };
    let importer = settings.imports.first();
    Ok(Compile {
        project: compiled::project_name(layout, importer.map(|i| i.revision.as_str()))?,
        images: images.map(|path| path.display().to_string()).collect(),
        archives: settings.archives.iter().map(|name| archive(name)).collect(),
        ..Compile::of(settings, cvp_lost)
    })
}
