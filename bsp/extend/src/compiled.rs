//! Compiled and generated files of the vendor: which of them are left out, and the note about them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::component::Compile;
use crate::rewrite::Rewritten;
use crate::settings::{self, Import};
use crate::step::Step;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_platform::error::{Error, Result};
use peerlane_bsp_platform::layout::{self, Layout};
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::Document;

/// Returns the name of the Quartus project: of the `.qpf` that names the revision, that `board_spec.xml` has compiled,
/// or that comes first; otherwise of the first revision.
pub(crate) fn project_name(layout: &Layout, revision: Option<&str>) -> Result<String> {
    let hardware = layout.hardware_dir();
    let projects = layout::with_extension(&hardware, "qpf")?;
    let specification = Document::read(&hardware.join("board_spec.xml"))?;
    let asked = specification
        .root
        .children("compile")
        .find_map(|c| c.attribute("project"));
    let called = |path: &PathBuf| {
        path.file_stem()
            .is_some_and(|stem| asked.is_some_and(|a| *stem == *a))
    };
    let mut naming = Vec::new();
    for project in &projects {
        let all = layout::revisions_in(&text::read(project)?);
        if all.iter().any(|(name, _)| Some(name.as_str()) == revision) {
            naming.push(project.clone());
        }
    }
    let best = naming.iter().find(|path| called(path)).or(naming.first());
    let best = best
        .or_else(|| projects.iter().find(|path| called(path)))
        .or(projects.first());
    let best = match best {
        Some(path) => Some(path.clone()),
        None => layout.settings_files()?.into_iter().next(),
    };
    let stem = best
        .as_deref()
        .and_then(Path::file_stem)
        .unwrap_or_default();
    Ok(stem.to_string_lossy().into_owned())
}

/// Returns the note about the vendor's compiled files.
pub(crate) fn note(
    settings: &settings::Settings,
    compile: &Compile,
    left_out: &[PathBuf],
    named: bool,
) -> String {
    if settings.imports.is_empty() {
        let also = match left_out {
            [] => String::new(),
            _ => " Compiled files in the BSP were left out nevertheless.".into(),
        };
        let but = match named {
            true => " by a known assignment, but names of imports remain in its files",
            false => "",
        };
        return format!("The project imports no compiled file{but}.{also}");
    }
    let imports: Vec<_> = settings
        .imports
        .iter()
        .map(|i| {
            format!(
                "{} ({} of {}, revision {})",
                i.file, i.assignment, i.section, i.revision
            )
        })
        .collect();
    let taken_out = format!(
        "The vendor shipped the board compiled, with the old DMA in it. These imports were removed: {}.",
        imports.join(", ")
    );
    if compile.whole {
        return format!(
            "{taken_out} They stay off: each kernel's compile compiles the whole board, because Gen3 has no \
             configuration over PCIe (see the point about CvP)."
        );
    }
    let script = format!("{}/rebuild.tcl", layout::SCRIPT_DIR);
    let then = match settings
        .base
        .as_deref()
        .filter(|_| settings.imports.iter().any(Import::is_persona))
    {
        Some(base) => format!(
            "Until revision {base} is compiled once, the other revision has nothing to import, and Quartus stops. \
             {script} compiles {base}, collects the results and turns the import on again."
        ),
        None => format!(
            "Until then kernels compile the board from source. {script} exports the results of a base compile and \
             turns the import on again."
        ),
    };
    let also = match compile.archives.as_slice() {
        [] => String::new(),
        archives => format!(
            " It does not make {}, which steps of the flow also use: make these by hand before you turn the imports \
             on.",
            archives.join(", ")
        ),
    };
    format!(
        "{taken_out} {then} The comment at its head explains its use; it stops at the first error. It was not tried \
         with Quartus.{also}"
    )
}

/// Finds lines of constraints and settings that name instances that are gone, or the block with an entity other than
/// `entity`. `settings` is the step that changes such files: its texts are read in place of the vendor's.
///
/// # Errors
/// Those of finding and reading the files.
pub(crate) fn mentions(
    layout: &Layout,
    new: &Rewritten,
    entity: &str,
    settings: &Step,
) -> Result<Step> {
    let mut lines = Vec::new();
    for extension in ["qsf", "sdc"] {
        for path in layout::with_extension(&layout.hardware_dir(), extension)? {
            let text = match settings.text_of(layout, &path) {
                Some(text) => text.to_string(),
                None => text::read(&path)?,
            };
            for (n, line) in text.lines().enumerate() {
                let gone = (new.removed_instances.iter()).any(|name| names(line, name));
                if gone || names_as_another(line, &new.instance, entity) {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    lines.push(format!("{name}:{}", n + 1));
                }
            }
        }
    }
    let mut step = Step::default();
    if !lines.is_empty() {
        step.to_do.push(format!(
            "These lines name the old DMA, instances inside it, or removed bridges; Quartus will warn that they match \
             nothing: {}.",
            lines.join(", ")
        ));
    }
    Ok(step)
}

/// Reports whether a line has an instance as an element of a path, with another entity.
fn names_as_another(line: &str, instance: &str, entity: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = line.match_indices(instance);
    all.any(|(at, _)| {
        let Some(before) = line[..at].strip_suffix(':') else {
            return false;
        };
        let named = before.rsplit(|c| !part(c)).next().unwrap_or_default();
        !line[at + instance.len()..].starts_with(part) && !named.is_empty() && named != entity
    })
}

/// Reports whether a line has a name as an element of a path, with or without its entity.
fn names(line: &str, name: &str) -> bool {
    let mut all = line.match_indices(name);
    all.any(|(at, _)| {
        let open = name.ends_with('|');
        let behind = line[at + name.len()..].chars().next();
        line[..at].ends_with(['|', ':'])
            && (open || !behind.is_some_and(|c| c.is_alphanumeric() || c == '_'))
    })
}

/// Returns the files that were compiled from the vendor's design, anywhere in the BSP, and the directories of Quartus's
/// records.
pub(crate) fn left_out(layout: &Layout, compiled: &BTreeSet<OsString>) -> Result<Vec<PathBuf>> {
    let hardware = layout.hardware_dir();
    let others: Vec<PathBuf> = (layout.other_boards().iter())
        .map(|board| layout.root.join(board))
        .collect();
    let mut dirs = vec![layout.root.clone()];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        let failed = |e| Error::io(&dir, "list the directory", &e);
        let entries: Vec<PathBuf> = fs::read_dir(&dir)
            .map_err(failed)?
            .filter_map(|e| Some(e.ok()?.path()))
            .collect();
        let (directories, files): (Vec<_>, Vec<_>) =
            (entries.into_iter()).partition(|path| path.is_dir() && !path.is_symlink());
        let relative = dir.strip_prefix(&hardware).unwrap_or(&dir);
        if settings::is_record(relative, &files) {
            found.push(dir);
            continue;
        }
        dirs.extend(directories.into_iter().filter(|dir| !others.contains(dir)));
        found.extend(
            files
                .into_iter()
                .filter(|path| settings::is_compiled(path, compiled)),
        );
    }
    found.sort();
    Ok(found)
}

/// Returns the directories of files that Platform Designer generated from the systems with the old DMA.
pub(crate) fn generated(site: &Site<'_>) -> Vec<PathBuf> {
    let mut with: BTreeSet<&str> = BTreeSet::from([site.system.kind.as_str()]);
    // From the inside to the outside; systems do not contain themselves.
    for _ in site.library.systems() {
        let around = site.library.systems().filter(|system| {
            let mut modules = system.modules.iter();
            modules.any(|module| with.contains(module.kind.as_str()))
        });
        let around: Vec<&str> = around.map(|system| system.kind.as_str()).collect();
        with.extend(around);
    }
    let mut found = Vec::new();
    for system in site
        .library
        .systems()
        .filter(|s| with.contains(s.kind.as_str()))
    {
        let path = &system.document.path;
        let beside = path.parent().unwrap_or(path).join(&system.kind);
        let all = ["synthesis", "simulation", "submodules"].map(|name| beside.join(name));
        found.extend(
            all.into_iter()
                .filter(|dir| dir.is_dir() && !dir.is_symlink()),
        );
    }
    found
}

/// Returns a path for people: relative to the hardware directory.
pub(crate) fn inside(hardware: &Path, path: &Path) -> String {
    path.strip_prefix(hardware)
        .unwrap_or(path)
        .display()
        .to_string()
}
