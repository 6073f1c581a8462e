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
}

/// A library for C.
struct Library {
    /// The package that builds it.
    package: &'static str,
    /// Its name: `libNAME.so`.
    name: &'static str,
    /// Its headers.
    headers: &'static [&'static str],
    /// What pkg-config(1) says of it.
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
        about: "Transfers between an FPGA board with the Peerlane block and memory beside it",
    },
    Library {
        package: "peerlane-clrdma",
        name: "peerlane_clrdma",
        headers: &["host/clrdma/include/clrdma.h"],
        about: "Transfers between OpenCL buffers on an FPGA board with the Peerlane block and on a GPU",
    },
];

/// Builds and installs them.
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
    for library in &LIBRARIES {
        for file in library.install(root, &target, &prefix)? {
            println!("{}", file.display());
        }
    }
    Ok(true)
}

impl Library {
    /// Puts its files in place, and names them.
    fn install(&self, root: &Path, target: &Path, prefix: &Path) -> miette::Result<Vec<PathBuf>> {
        let file = format!("lib{}.so", self.name);
        let versioned = format!("{file}.1");
        let library = prefix.join("lib").join(&versioned);
        install(&target.join("release").join(&file), &library)?;
        let link = prefix.join("lib").join(&file);
        // The link may be there already, and the library may not be the one of before.
        let _ = fs::remove_file(&link);
        (std::os::unix::fs::symlink(versioned, &link).into_diagnostic())
            .wrap_err_with(|| format!("cannot make {}", link.display()))?;
        let mut files = vec![library, link];
        for header in self.headers {
            let name = Path::new(header).file_name().unwrap_or_default();
            let place = prefix.join("include").join(name);
            install(&root.join(header), &place)?;
            files.push(place);
        }
        let package = format!("lib/pkgconfig/lib{}.pc", self.name);
        let package = prefix.join(package);
        directory_of(&package)?;
        (fs::write(&package, self.pkg_config(prefix)).into_diagnostic())
            .wrap_err_with(|| format!("cannot write {}", package.display()))?;
        files.push(package);
        Ok(files)
    }

    /// What pkg-config(1) reads.
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
    fn every_library_goes_under_the_prefix() {
        let root = super::super::root();
        let work = tempfile::tempdir().unwrap();
        let (target, prefix) = (work.path().join("target"), work.path().join("opt/peerlane"));
        fs::create_dir_all(target.join("release")).unwrap();
        for library in &LIBRARIES {
            let name = format!("lib{}.so", library.name);
            fs::write(target.join("release").join(&name), library.name).unwrap();
            // Twice: over what is there.
            for _ in 0..2 {
                let files = library.install(&root, &target, &prefix).unwrap();
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
        // Each installed header finds what it includes, beside it or on the system: as nvcc's user compiles.
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
