//! `peerlane extend`: a vendor BSP goes in, a complete extended copy comes out.
//!
//! An extension is deterministic: the vendor's tree and the request, both of which are recorded, determine each byte.
//! [`again`] makes a platform again from its record, and `peerlane check` compares.

#![warn(unreachable_pub)]

pub mod again;
pub mod area;
mod around;
pub mod bonus;
mod build_file;
mod compiled;
pub mod component;
mod cvp;
mod design;
pub mod family;
mod file_edits;
mod gen3;
mod gen3_settings;
mod generated;
pub mod hard_ip;
pub mod hip_paths;
pub mod host_bus;
mod host_writer;
pub mod identity;
mod import_steps;
mod input;
mod interconnect;
pub mod interrupts;
pub mod ipx;
mod leftovers;
pub mod logic;
pub mod migration;
mod notes;
pub mod old_master;
pub mod parameters;
mod plan;
mod platform;
pub mod port;
mod project_files;
mod readme;
pub mod regions;
pub mod report;
mod report_file;
pub mod resources;
pub mod rewrite;
pub mod settings;
mod specification;
mod step;
pub mod stream;
mod stream_writer;
mod to_do_list;
mod traces;
mod version;
pub mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use peerlane_bsp_design::missing;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::{Error, Result};
use peerlane_bsp_platform::interrupt;
use peerlane_bsp_platform::kept::{self, Request};
use peerlane_bsp_platform::layout::{self, Layout};
use peerlane_bsp_platform::output;

use tempfile::TempDir;

use plan::Plan;
use report::Report;

/// Options of [`extend`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The BSP: its hardware directory, or a root with one.
    pub bsp: PathBuf,
    /// The directory to make.
    pub out: PathBuf,
    /// Configuration.
    pub config: Config,
    /// Another place for the report: Markdown, or JSON if the name ends in `.json`.
    pub report: Option<PathBuf>,
    /// The name of the board's directory, to choose one of several boards.
    pub board: Option<String>,
}

/// Extends a BSP. On failure it leaves no files.
///
/// # Errors
/// All kinds of [`peerlane_bsp_platform::error::ErrorKind`], with the place and the hint.
pub fn extend(options: &Options) -> Result<Report> {
    output::check_for_aoc(&options.out)?;
    with_canonical(&options.bsp, |bsp| extend_from(bsp, options, None))
}

/// Extends a BSP without a vendor: a board of this title, which `peerlane new` has just written.
///
/// # Errors
/// Those of [`extend`].
pub fn extend_new(options: &Options, title: &str) -> Result<Report> {
    with_canonical(&options.bsp, |bsp| extend_from(bsp, options, Some(title)))
}

/// Previews [`extend`]: makes the extended BSP in the system's temporary directory, and removes it. The
/// report is written to `file`, if given: Markdown, or JSON if the name ends in `.json`.
///
/// # Errors
/// Those of [`extend`], without those of its output.
pub fn preview(
    bsp: &Path,
    board: Option<&str>,
    config: &Config,
    file: Option<&Path>,
) -> Result<Report> {
    with_canonical(bsp, |bsp| {
        let layout = extendable(bsp, board)?;
        let work = output::temporary()?;
        if let Some(file) = file {
            report_file::check(file, bsp, None)?;
        }
        let (_, report) = make(&layout, config, None, work.path(), &std::env::temp_dir())?;
        if let Some(file) = file {
            report_file::prepare(file, &report)?.put()?;
        }
        Ok(report)
    })
}

/// Runs with the canonical name of the BSP's directory; errors have the name that was given.
fn with_canonical(given: &Path, run: impl FnOnce(&Path) -> Result<Report>) -> Result<Report> {
    let bsp = fs::canonicalize(given).unwrap_or_else(|_| given.to_path_buf());
    run(&bsp).map_err(|e| e.named_as_given(&bsp, given))
}

/// Finds a BSP without traces of an extension.
fn extendable(bsp: &Path, board: Option<&str>) -> Result<Layout> {
    traces::refuse_above(bsp)?;
    let layout = Layout::of_board(bsp, board)?;
    traces::refuse(&layout)?;
    Ok(layout)
}

/// Extends the BSP in a directory; errors have its canonical name.
fn extend_from(bsp: &Path, options: &Options, title: Option<&str>) -> Result<Report> {
    let layout = extendable(bsp, options.board.as_deref())?;
    let parent = output::check_output(&options.out, bsp)?;
    if let Some(report) = &options.report {
        report_file::check(report, bsp, Some(&options.out))?;
    }
    let (temporary, report) = make(&layout, &options.config, title, &parent, &options.out)?;

    let report_file = match &options.report {
        Some(path) => Some(report_file::prepare(path, &report)?),
        None => None,
    };
    output::set_directory_mode(temporary.path())?;
    interrupt::check(&options.out)?;
    let path = temporary.keep();
    if let Err(error) = output::put(&path, &options.out, "the finished BSP") {
        // This process made the directory; a failure to remove it has no better handling.
        let _ = fs::remove_dir_all(&path);
        return Err(error);
    }
    if let Some(file) = report_file {
        file.put()?;
    }
    Ok(report)
}

/// Makes the extended BSP in a temporary directory below another. Errors of writing name the final directory.
fn make(
    layout: &Layout,
    config: &Config,
    title: Option<&str>,
    parent: &Path,
    out: &Path,
) -> Result<(TempDir, Report)> {
    let with_missing = |error: Error| match missing::files(layout) {
        Ok(missing) => missing::below(error, &missing, layout),
        Err(_) => error,
    };
    let plan = Plan::best(layout, config, title).map_err(with_missing)?;
    let request = Request {
        title: title.map(str::to_string),
        config: config.request(),
        around: around::read(layout)?,
    };
    let temporary = tempfile::Builder::new()
        .prefix(".peerlane-extend-")
        .tempdir_in(parent)
        .map_err(|e| output::not_writable(parent, &e))?;
    let to = temporary.path();
    let written = plan.write(layout, to).and_then(|mut record| {
        record.request = Some(request);
        layout::write_below(to, Path::new(kept::RECORD), record.json().as_bytes())
    });
    written.map_err(|e| e.named_as_given(to, out))?;
    tracing::info!(directory = %to.display(), "written");
    Ok((temporary, plan.report))
}
