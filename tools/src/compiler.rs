//! The C++ compiler of the machine.

use std::{env, path::PathBuf, process::Command};

use crate::{Error, Result, process};

/// A C++ compiler that answers.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program.
    pub bin: PathBuf,
    /// First line of its `--version`.
    pub version: String,
}

impl Compiler {
    /// A command that runs the compiler.
    pub fn command(&self) -> Command {
        Command::new(&self.bin)
    }
}

/// The C++ compiler: `CXX`, else the first of `c++`, `g++` and `clang++` that runs.
///
/// # Errors
/// When none runs.
pub fn cxx() -> Result<Compiler> {
    let named = env::var("CXX").ok().filter(|name| !name.is_empty());
    let candidates = match &named {
        Some(name) => vec![name.as_str()],
        None => vec!["c++", "g++", "clang++"],
    };
    candidates
        .iter()
        .find_map(|name| {
            let bin = process::find(name)?;
            let output = process::output(Command::new(&bin).arg("--version")).ok()?;
            let version = String::from_utf8_lossy(&output.stdout);
            output.status.success().then(|| Compiler {
                bin,
                version: version.lines().next().unwrap_or_default().to_owned(),
            })
        })
        .ok_or_else(|| Error::Missing {
            what: "a C++ compiler".to_owned(),
            looked_for: candidates.join(", "),
            hint: "install one (on Debian and Ubuntu: sudo apt-get install g++), or set CXX"
                .to_owned(),
        })
}
