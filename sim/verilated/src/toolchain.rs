//! The locations of Verilator, the C++ compiler and the cache.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use peerlane_tools::{Cache, Compiler, Verilator};

use crate::{Error, Result, error::io};

/// The tools that turn Verilog into a library, and the directory in which the libraries are cached.
#[derive(Debug, Clone)]
pub struct Toolchain {
    verilator: Verilator,
    compiler: Compiler,
    models: PathBuf,
    identity: String,
}

impl Toolchain {
    /// Finds the pinned Verilator of the user's tool cache and the machine's C++ compiler.
    ///
    /// `PEERLANE_VERILATOR_ROOT` selects another Verilator (the directory with `bin/` and `include/`), `CXX` another
    /// compiler.
    ///
    /// # Errors
    /// If the tools cannot be set up.
    pub fn open() -> Result<Self> {
        Self::of(&Cache::open()?)
    }

    /// As [`Toolchain::open`], with this tool cache.
    ///
    /// # Errors
    /// If the tools cannot be set up.
    pub fn of(cache: &Cache) -> Result<Self> {
        // Before Verilator is fetched, which would be in vain.
        peerlane_tools::cxx()?;
        let verilator = match env::var_os("PEERLANE_VERILATOR_ROOT").map(PathBuf::from) {
            Some(root) => Verilator {
                bin: root.join("bin").join("verilator_bin"),
                root,
            },
            None => cache.verilator()?,
        };
        Self::new(verilator, &cache.directory("models")?)
    }

    /// Combines this Verilator and the machine's C++ compiler; libraries are cached in `models`.
    ///
    /// # Errors
    /// If Verilator or the compiler does not run, or the directory cannot be created.
    pub fn new(verilator: Verilator, models: &Path) -> Result<Self> {
        let output = verilator
            .command()
            .arg("--version")
            .output()
            .map_err(|source| Error::Start {
                program: verilator.bin.clone(),
                source,
            })?;
        let compiler = peerlane_tools::cxx()?;
        let identity = format!(
            "{}\n{}\n{}\n",
            String::from_utf8_lossy(&output.stdout).trim(),
            compiler.bin.display(),
            compiler.version
        );
        Self {
            verilator,
            compiler,
            models: PathBuf::new(),
            identity,
        }
        .with_models(models)
    }

    /// Returns the same tools with another directory for the libraries.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn with_models(mut self, models: &Path) -> Result<Self> {
        std::fs::create_dir_all(models).map_err(io("create", models))?;
        // The compiler runs in other working directories.
        self.models = models.canonicalize().map_err(io("open", models))?;
        Ok(self)
    }

    /// Returns the dependencies of a library other than its design: the versions of Verilator and of the compiler.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the directory in which the libraries are cached. It may be deleted when no model is loaded.
    pub fn models(&self) -> &Path {
        &self.models
    }

    pub(crate) fn verilator(&self) -> Command {
        self.verilator.command()
    }

    pub(crate) fn compiler(&self) -> Command {
        self.compiler.command()
    }

    pub(crate) fn include(&self) -> PathBuf {
        self.verilator.include()
    }
}
