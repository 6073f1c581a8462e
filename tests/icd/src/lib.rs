//! The basis of the tests of the OpenCL driver around a vendor library: Debian's PoCL and loader
//! ([`peerlane_tools::OpenCl`]), programs in C, and vendor libraries made for the tests.
//!
//! [`Lab`] runs a program with PoCL's own driver and with ours around `vendors/plain.c`, which turns PoCL into a vendor
//! library without a dispatch table.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use peerlane_tools::{Cache, OpenCl};
use tempfile::TempDir;

/// Returns the driver next to the test that calls this.
///
/// # Panics
/// If cargo has not put it there.
pub fn driver() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let driver = test.with_file_name("libpeerlane_icd.so");
    assert!(driver.is_file(), "{}", driver.display());
    driver
}

/// A directory with programs, vendor libraries and files for loaders.
#[derive(Debug)]
pub struct Lab {
    opencl: OpenCl,
    directory: TempDir,
}

/// The drivers that a program with OpenCL is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drivers {
    /// PoCL's own driver.
    Bare,
    /// Our driver.
    Wrapped,
}

impl Lab {
    /// Makes an empty lab.
    ///
    /// # Panics
    /// If PoCL is not available, with the reason.
    pub fn new() -> Self {
        let opencl = Cache::open().and_then(|cache| cache.opencl());
        Self {
            opencl: opencl.unwrap_or_else(|error| panic!("{error}")),
            directory: tempfile::tempdir().unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// Returns PoCL and the loader.
    pub fn opencl(&self) -> &OpenCl {
        &self.opencl
    }

    /// Returns another PoCL with a compiler of its own, which works together with the first.
    ///
    /// # Panics
    /// If it is not available, with the reason.
    pub fn other_pocl(&self) -> PathBuf {
        let cache = Cache::open().and_then(|cache| cache.other_pocl());
        cache.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns Khronos's loader.
    ///
    /// # Panics
    /// If it is not available, with the reason.
    pub fn khronos_loader(&self) -> PathBuf {
        let cache = Cache::open().and_then(|cache| cache.khronos_loader());
        cache.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns a path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Compiles sources of `tests/icd/programs` by the options of gcc and clang.
    ///
    /// # Panics
    /// If they do not compile, with the compiler's messages.
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
            // Functions that are deprecated in one version of OpenCL are new in another.
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

    /// Compiles the program for copies between platforms, with more sources and options.
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

    /// Compiles PoCL as a vendor library without a dispatch table.
    pub fn plain(&self) -> PathBuf {
        self.library("libalteracl.so", "vendors/plain.c", &["-ldl"])
    }

    /// Writes the directory of a loader's files for these drivers.
    ///
    /// # Panics
    /// If it cannot be written.
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
        // Some loaders need the separator at the end.
        directory.join("")
    }

    /// Returns a command that sees these drivers, around a vendor library if necessary.
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

    /// Sets the environment for programs with PoCL.
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

/// Runs a command that must succeed.
///
/// # Panics
/// If it fails, with all its output.
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

/// Runs a command, which may end in any way.
///
/// # Panics
/// If it cannot be started.
pub fn run(command: &mut Command, what: &str) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Returns the standard output of a command.
pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the standard error of a command.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
