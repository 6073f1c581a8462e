//! `cargo xtask capi`: the host library for C, installed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use miette::{IntoDiagnostic, WrapErr};

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The directory whose lib, include and lib/pkgconfig take the files.
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

/// Builds and installs it.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    let built = super::cargo(root)
        .args(["build", "--release", "-p", "peerlane-capi"])
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !built.success() {
        return Ok(false);
    }
    let target = super::target(root);
    let prefix = std::path::absolute(&options.prefix).into_diagnostic()?;
    let library = prefix.join("lib/libpeerlane.so.1");
    install(&target.join("release/libpeerlane.so"), &library)?;
    let link = prefix.join("lib/libpeerlane.so");
    // The link may be there already, and the library may not be the one of before.
    let _ = fs::remove_file(&link);
    (std::os::unix::fs::symlink("libpeerlane.so.1", &link).into_diagnostic())
        .wrap_err_with(|| format!("cannot make {}", link.display()))?;
    let header = prefix.join("include/libpeerlane.h");
    install(&root.join("host/capi/include/libpeerlane.h"), &header)?;
    let package = prefix.join("lib/pkgconfig/libpeerlane.pc");
    directory_of(&package)?;
    (fs::write(&package, pkg_config(&prefix)).into_diagnostic())
        .wrap_err_with(|| format!("cannot write {}", package.display()))?;
    for file in [library, link, header, package] {
        println!("{}", file.display());
    }
    Ok(true)
}

/// What pkg-config(1) reads.
fn pkg_config(prefix: &Path) -> String {
    format!(
        "prefix={}\n\
        Name: libpeerlane\n\
        Description: Transfers between an FPGA board with the Peerlane block and memory beside it\n\
        Version: {}\n\
        Libs: -L${{prefix}}/lib -lpeerlane\n\
        Cflags: -I${{prefix}}/include\n",
        prefix.display(),
        env!("CARGO_PKG_VERSION")
    )
}

fn directory_of(file: &Path) -> miette::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    (fs::create_dir_all(directory).into_diagnostic())
        .wrap_err_with(|| format!("cannot create {}", directory.display()))
}

/// Copies a file beside its place and renames it: a program that runs keeps the library that it has.
fn install(from: &Path, to: &Path) -> miette::Result<()> {
    directory_of(to)?;
    let new = to.with_extension("new");
    (fs::copy(from, &new).and_then(|_| fs::rename(&new, to)))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pkg_config_names_the_prefix() {
        let text = pkg_config(Path::new("/opt/peerlane"));
        assert!(text.starts_with("prefix=/opt/peerlane\n"), "{text}");
        assert!(
            text.contains("\nLibs: -L${prefix}/lib -lpeerlane\n"),
            "{text}"
        );
    }
}
