//! A Python interpreter for the machine, with no more of its library than a program imports.

use std::path::PathBuf;

use peerlane_tools::Python;
use serde::Deserialize;

use crate::{Error, Result, error::io_error};

/// Imports what is named, and says what that took: the interpreter, where its library is, and all files.
const QUESTION: &str = "\
import importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
files = {getattr(module, '__file__', None) for module in list(sys.modules.values())}
print(json.dumps({
    'program': os.path.realpath(sys.executable),
    'prefix': sys.base_prefix,
    'files': sorted(file for file in files if file),
}))";

/// What a program takes of an interpreter.
#[derive(Debug, Deserialize)]
pub(crate) struct Parts {
    /// The interpreter itself.
    pub(crate) program: PathBuf,
    /// Where its library is: `PYTHONHOME`.
    pub(crate) prefix: String,
    /// Modules in Python, and shared libraries.
    pub(crate) files: Vec<PathBuf>,
}

/// What it takes to import some modules of the standard library.
pub(crate) fn parts(python: &Python, imports: &[&str]) -> Result<Parts> {
    let failed = |reason: String| Error::Python {
        interpreter: python.interpreter.clone(),
        reason,
    };
    // Isolated: nothing of the user's, nor of this directory, is imported.
    let output = std::process::Command::new(&python.interpreter)
        .args(["-I", "-S", "-c", QUESTION])
        .args(imports)
        .output()
        .map_err(io_error("run", &python.interpreter))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}
