//! `cargo xtask driver`: the kernel module.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use peerlane_tools::{Cache, Flavour, Lint};

/// How to build the module.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Check it with clippy and keep nothing.
    #[arg(long, conflicts_with = "out")]
    clippy: bool,
    /// Build it for the boards of these extended BSPs, instead of the reference BSP's.
    #[arg(long, value_name = "DIR")]
    bsp: Vec<PathBuf>,
    /// Where the module goes. Default: target/driver in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Builds the module of the tree `root`. Returns false if clippy complains.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    let kernel = Cache::open()
        .and_then(|cache| cache.kernel(Flavour::chosen()?))
        .map_err(crate::tools::report)?;
    let lint = match options.clippy {
        true => Lint::Clippy,
        false => Lint::Compiler,
    };
    // A fresh directory each time: files that are not compiled give no warnings.
    let work = tempfile::tempdir().into_diagnostic()?;
    let source = root.join("driver");
    let copy = tempfile::tempdir().into_diagnostic()?;
    let source = match options.bsp.as_slice() {
        [] => source,
        bsps => with_boards(root, &source, bsps, copy.path())?,
    };
    let modules = kernel
        .build(&source, work.path(), lint)
        .map_err(crate::tools::report)?;
    if !modules.warnings.is_empty() {
        eprintln!("{}", modules.warnings);
    }
    if options.clippy {
        return Ok(modules.warnings.is_empty());
    }
    let out = match &options.out {
        Some(out) => out.clone(),
        None => root.join("target/driver"),
    };
    fs::create_dir_all(&out)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", out.display()))?;
    for module in modules.files {
        let Some(name) = module.file_name() else {
            continue;
        };
        let target = out.join(name);
        fs::copy(&module, &target)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", target.display()))?;
        println!("{} for Linux {}", target.display(), kernel.release());
    }
    Ok(true)
}

/// Makes a copy of the driver's source with a table of other boards.
fn with_boards(
    root: &Path,
    source: &Path,
    bsps: &[PathBuf],
    copy: &Path,
) -> miette::Result<PathBuf> {
    copy_tree(source, copy)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot copy {}", source.display()))?;
    let done = crate::peerlane(root)?
        .env("CARGO_TERM_QUIET", "true")
        .arg("driver")
        .args(bsps)
        .arg("--out")
        .arg(copy.join("src/boards_table.rs"))
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    miette::ensure!(
        done.success(),
        "the table of boards was not written; see the messages above"
    );
    Ok(copy.to_path_buf())
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_tree(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}
