//! What tests of the OpenCL driver around a vendor library need: Debian's PoCL and loader
//! ([`peerlane_tools::OpenCl`]), programs in C, and vendor libraries made for the tests.
//!
//! [`Lab`] runs a program with PoCL's own driver and with ours around `vendors/plain.c`, which
//! makes of PoCL a vendor library that is no driver.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use peerlane_tools::{Cache, OpenCl};
use tempfile::TempDir;

/// The driver, beside the test that calls this.
///
/// # Panics
/// Where cargo has not put it there.
pub fn driver() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let driver = test.with_file_name("libpeerlane_icd.so");
    assert!(driver.is_file(), "{}", driver.display());
    driver
}

/// A directory with programs, vendor libraries and what loaders read.
#[derive(Debug)]
pub struct Lab {
    opencl: OpenCl,
    directory: TempDir,
}

/// What a program with OpenCL is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drivers {
    /// PoCL's own.
    Bare,
    /// Ours.
    Wrapped,
}

impl Lab {
    /// An empty one.
    ///
    /// # Panics
    /// Where PoCL is not to be had, with the reason.
    pub fn new() -> Self {
        let opencl = Cache::open().and_then(|cache| cache.opencl());
        Self {
            opencl: opencl.unwrap_or_else(|error| panic!("{error}")),
            directory: tempfile::tempdir().unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// PoCL and the loader.
    pub fn opencl(&self) -> &OpenCl {
        &self.opencl
    }

    /// Another PoCL, with a compiler of its own, which works beside the first.
    ///
    /// # Panics
    /// Where it is not to be had, with the reason.
    pub fn other_pocl(&self) -> PathBuf {
        let cache = Cache::open().and_then(|cache| cache.other_pocl());
        cache.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Khronos's loader.
    ///
    /// # Panics
    /// Where it is not to be had, with the reason.
    pub fn khronos_loader(&self) -> PathBuf {
        let cache = Cache::open().and_then(|cache| cache.khronos_loader());
        cache.unwrap_or_else(|error| panic!("{error}"))
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Compiles sources of `tests/icd/programs` by the options of gcc and clang.
    ///
    /// # Panics
    /// If they do not compile, with what the compiler says.
    pub fn compile(&self, name: &str, sources: &[&str], options: &[&str]) -> PathBuf {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let file = self.path(name);
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(&compiler);
        command
            .args([
                "-std=gnu11",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pthread",
            ])
            // Functions that are old in one version of OpenCL are new in another.
            .args(["-Wno-deprecated-declarations", "-isystem"])
            .arg(self.opencl.headers())
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("generated"))
            .args(sources.iter().map(|source| programs.join(source)))
            .arg("-o")
            .arg(&file)
            .args(options);
        succeed(&mut command, "the compiler");
        file
    }

    /// Compiles a program that is linked with the loader.
    pub fn program(&self, name: &str, sources: &[&str]) -> PathBuf {
        let loader = self.opencl.loader();
        let loader = loader.to_str().unwrap_or_default();
        self.compile(name, sources, &[loader, "-ldl"])
    }

    /// Compiles the program for copies between platforms.
    pub fn copies(&self) -> PathBuf {
        self.copies_with(&[], &[])
    }

    /// The same with more sources and options.
    pub fn copies_with(&self, sources: &[&str], options: &[&str]) -> PathBuf {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/icd/include");
        let loader = self.opencl.loader();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (include, loader) = (text(&include), text(&loader));
        let all = ["-I", &include, &loader, "-ldl"];
        self.compile(
            "copies",
            &[&["copies.c", "direct.c"], sources].concat(),
            &[&all, options].concat(),
        )
    }

    /// Compiles a vendor library.
    pub fn library(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        self.compile(name, &[source], &[&["-shared", "-fPIC"], options].concat())
    }

    /// PoCL as a vendor library that is no driver.
    pub fn plain(&self) -> PathBuf {
        self.library("libalteracl.so", "vendors/plain.c", &["-ldl"])
    }

    /// The directory of a loader's files, for these drivers.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn vendors(&self, name: &str, libraries: &[&Path]) -> PathBuf {
        let directory = self.path(name);
        let written = fs::create_dir_all(&directory).and_then(|()| {
            libraries
                .iter()
                .enumerate()
                .try_for_each(|(index, library)| {
                    let file = directory.join(format!("{index}.icd"));
                    fs::write(file, format!("{}\n", library.display()))
                })
        });
        written.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        // Some loaders want it.
        directory.join("")
    }

    /// A command that sees these drivers, by a vendor library if need be.
    pub fn command(&self, program: impl AsRef<OsStr>, drivers: Drivers, vendor: &Path) -> Command {
        let mut command = Command::new(program);
        let directory = match drivers {
            Drivers::Bare => self.vendors("bare", &[&self.opencl.pocl()]),
            Drivers::Wrapped => self.vendors("wrapped", &[&driver()]),
        };
        self.set(&mut command);
        command
            .env("OCL_ICD_VENDORS", directory)
            .env("PEERLANE_ICD_VENDOR", vendor);
        command
    }

    /// Sets what programs with PoCL need.
    pub fn set(&self, command: &mut Command) {
        self.opencl.set(command);
        command
            .env("PLAIN_VENDOR_POCL", self.opencl.pocl())
            .env("PEERLANE_ICD_DEBUG", "1");
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a command.
///
/// # Panics
/// Unless it ends well, with all that it has said.
pub fn succeed(command: &mut Command, what: &str) -> Output {
    let output = run(command, what);
    let said = [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy);
    assert!(
        output.status.success(),
        "{what}: {}\n{}",
        output.status,
        said.concat()
    );
    output
}

/// Runs a command, however it ends.
///
/// # Panics
/// Where it cannot be started.
pub fn run(command: &mut Command, what: &str) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// What a command has printed.
pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command has said on standard error.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
