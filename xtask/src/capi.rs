//! `cargo xtask capi`: the libraries for C, installed.

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
    /// Put the files below this directory as if it were `/`: for a prefix that is root's, to which they are copied
    /// then.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// A library for C.
struct Library {
    /// The package that builds it.
    package: &'static str,
    /// Its name: `libNAME.so`.
    name: &'static str,
    /// Its headers.
    headers: &'static [&'static str],
    /// Description for pkg-config(1).
    about: &'static str,
}

const LIBRARIES: [Library; 2] = [
    Library {
        package: "peerlane-capi",
        name: "peerlane",
        headers: &[
            "host/capi/include/libpeerlane.h",
            // For kernels that start transfers, with the registers that it takes.
            "host/gpu/include/peerlane_gpu.h",
            "driver/uapi/peerlane.h",
        ],
        about: "Transfers between an FPGA board with the Peerlane block and memory of GPUs or the host",
    },
    Library {
        package: "peerlane-clrdma",
        name: "peerlane_clrdma",
        headers: &["host/clrdma/include/clrdma.h"],
        about: "Transfers between OpenCL buffers on an FPGA board with the Peerlane block and on a GPU",
    },
];

/// Builds and installs the libraries.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    let mut build = super::cargo(root);
    build.args(["build", "--release"]);
    for library in &LIBRARIES {
        build.args(["-p", library.package]);
    }
    let built = build
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !built.success() {
        return Ok(false);
    }
    let target = super::target(root);
    let prefix = std::path::absolute(&options.prefix).into_diagnostic()?;
    let place = match &options.root {
        Some(below) => below.join(prefix.strip_prefix("/").unwrap_or(&prefix)),
        None => prefix.clone(),
    };
    for file in lay(root, &target.join("release"), &prefix, &place)? {
        println!("{}", file.display());
    }
    if options.root.is_some() {
        let (from, to) = (place.display(), prefix.display());
        println!("next: sudo cp -RP --remove-destination {from}/. {to}/ && sudo ldconfig");
    }
    Ok(true)
}

/// Puts the libraries of the directory `built`, with their headers and pkg-config files, into `place`, from which they
/// are used below a prefix, and returns their names.
pub(crate) fn lay(
    root: &Path,
    built: &Path,
    prefix: &Path,
    place: &Path,
) -> miette::Result<Vec<PathBuf>> {
    let laid = (LIBRARIES.iter()).map(|library| library.install(root, built, prefix, place));
    Ok(laid.collect::<miette::Result<Vec<_>>>()?.concat())
}

impl Library {
    /// Puts its files into a place, from which they are used below a prefix, and returns their names.
    fn install(
        &self,
        root: &Path,
        built: &Path,
        prefix: &Path,
        place: &Path,
    ) -> miette::Result<Vec<PathBuf>> {
        let file = format!("lib{}.so", self.name);
        let versioned = format!("{file}.1");
        let library = place.join("lib").join(&versioned);
        install(&built.join(&file), &library)?;
        let link = place.join("lib").join(&file);
        // The link may be there already, and the library may be another one than before.
        let _ = fs::remove_file(&link);
        (std::os::unix::fs::symlink(versioned, &link).into_diagnostic())
            .wrap_err_with(|| format!("cannot create {}", link.display()))?;
        let mut files = vec![library, link];
        for header in self.headers {
            let name = Path::new(header).file_name().unwrap_or_default();
            let included = place.join("include").join(name);
            install(&root.join(header), &included)?;
            files.push(included);
        }
        let package = format!("lib/pkgconfig/lib{}.pc", self.name);
        let package = place.join(package);
        directory_of(&package)?;
        (fs::write(&package, self.pkg_config(prefix)).into_diagnostic())
            .wrap_err_with(|| format!("cannot write {}", package.display()))?;
        files.push(package);
        Ok(files)
    }

    /// Returns the file for pkg-config(1).
    fn pkg_config(&self, prefix: &Path) -> String {
        format!(
            "prefix={}\n\
            Name: lib{}\n\
            Description: {}\n\
            Version: {}\n\
            Libs: -L${{prefix}}/lib -l{}\n\
            Cflags: -I${{prefix}}/include\n",
            prefix.display(),
            self.name,
            self.about,
            env!("CARGO_PKG_VERSION"),
            self.name
        )
    }
}

fn directory_of(file: &Path) -> miette::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    (fs::create_dir_all(directory).into_diagnostic())
        .wrap_err_with(|| format!("cannot create {}", directory.display()))
}

/// Copies a file next to its place and renames it: a program that runs keeps the library that it has.
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

    /// A user builds, and root copies: nothing is written outside of the directory, and the files name the prefix.
    #[test]
    fn files_are_made_ready_for_root() {
        let work = tempfile::tempdir().unwrap();
        let (built, below) = (work.path().join("built"), work.path().join("root"));
        fs::create_dir_all(&built).unwrap();
        let library = &LIBRARIES[0];
        fs::write(built.join("libpeerlane.so"), "library").unwrap();
        let prefix = Path::new("/nowhere/peerlane");
        let place = below.join("nowhere/peerlane");
        let root = super::super::root();
        let files = library.install(&root, &built, prefix, &place).unwrap();
        assert!(files.iter().all(|file| file.starts_with(&below)));
        let text = fs::read_to_string(place.join("lib/pkgconfig/libpeerlane.pc")).unwrap();
        assert!(text.starts_with("prefix=/nowhere/peerlane\n"), "{text}");
        // Copies in the way of the printed command, over existing files.
        let to = work.path().join("usr");
        fs::create_dir(&to).unwrap();
        for _ in 0..2 {
            let copied = std::process::Command::new("cp")
                .args(["-RP", "--remove-destination"])
                .args([place.join("."), to.clone()])
                .status();
            assert!(copied.unwrap().success());
        }
        let link = fs::read_link(to.join("lib/libpeerlane.so")).unwrap();
        assert_eq!(link, Path::new("libpeerlane.so.1"));
    }

    #[test]
    fn every_library_goes_under_the_prefix() {
        let root = super::super::root();
        let work = tempfile::tempdir().unwrap();
        let (built, prefix) = (work.path().join("built"), work.path().join("opt/peerlane"));
        fs::create_dir_all(&built).unwrap();
        for library in &LIBRARIES {
            let name = format!("lib{}.so", library.name);
            fs::write(built.join(&name), library.name).unwrap();
            // Twice: the second time over existing files.
            for _ in 0..2 {
                let files = library.install(&root, &built, &prefix, &prefix).unwrap();
                assert!(files.iter().all(|file| file.starts_with(&prefix)));
            }
            let link = fs::read_to_string(prefix.join("lib").join(&name)).unwrap();
            assert_eq!(link, library.name);
            let package = prefix.join(format!("lib/pkgconfig/lib{}.pc", library.name));
            let text = fs::read_to_string(package).unwrap();
            let begin = format!("prefix={}\nName: lib{}\n", prefix.display(), library.name);
            assert!(text.starts_with(&begin), "{text}");
            let flags = format!("\nLibs: -L${{prefix}}/lib -l{}\n", library.name);
            assert!(text.contains(&flags), "{text}");
        }
        let include = prefix.join("include");
        for header in ["libpeerlane.h", "clrdma.h"] {
            assert!(include.join(header).is_file(), "{header}");
        }
        // Each installed header finds the headers that it includes, next to it or on the system, as a user of nvcc
        // compiles.
        let kernel = "#define __device__\n#define PEERLANE_GPU_ON_A_PROCESSOR\n\
                      #include <stdint.h>\n#include <stdbool.h>\n\
                      static uint64_t peerlane_gpu_now(void) { return 0; }\n\
                      #define peerlane_gpu_fence()\n#include <peerlane_gpu.h>\n#include <libpeerlane.h>\n";
        let source = work.path().join("kernel.c");
        fs::write(&source, kernel).unwrap();
        let compiled = std::process::Command::new("cc")
            .args(["-fsyntax-only", "-I"])
            .args([&include, &source])
            .status();
        assert!(compiled.unwrap().success());
    }
}
