//! `cargo xtask driver`: the kernel module.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use peerlane_tools::{Cache, Flavour, Lint, copy_changed};

/// How to build the module.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Check it with clippy and keep nothing.
    #[arg(long, conflicts_with = "out")]
    clippy: bool,
    /// Build nothing: write the source, with the kernel crate, to a new directory, for DKMS.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["clippy", "out"])]
    source: Option<PathBuf>,
    /// Where the module goes. Default: target/driver in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Puts the source of the driver with the kernel crate, all that DKMS needs, into the directory `to`.
pub(crate) fn driver_source(root: &Path, to: &Path) -> miette::Result<()> {
    let kernel_crate = Cache::open()
        .and_then(|cache| cache.kernel_crate())
        .map_err(crate::tools::report)?;
    copy_changed(&root.join("driver"), to)
        .and_then(|()| copy_changed(&kernel_crate, &to.join("rust")))
        .map_err(crate::tools::report)
}

/// Builds the module of the tree `root`. Returns false if clippy complains.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    if let Some(out) = &options.source {
        fs::create_dir(out)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot create {}", out.display()))?;
        driver_source(root, out)?;
        println!("{}: dkms add {0}", out.display());
        return Ok(true);
    }
    let kernel = Cache::open()
        .and_then(|cache| cache.kernel(Flavour::chosen()?))
        .map_err(crate::tools::report)?;
    let lint = match options.clippy {
        true => Lint::Clippy,
        false => Lint::Compiler,
    };
    // A fresh directory each time: files that are not compiled give no warnings.
    let work = tempfile::tempdir().into_diagnostic()?;
    let modules = kernel
        .build(&root.join("driver"), work.path(), lint)
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
