//! A Python interpreter for the machine, with only those parts of its library that a program imports.

use std::path::PathBuf;

use peerlane_tools::Python;
use serde::Deserialize;

use crate::{Error, Result, error::io_error};

/// Imports the named modules, and prints the interpreter, the place of its library, and all files that the imports
/// needed.
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

/// Parts of an interpreter that a program needs.
#[derive(Debug, Deserialize)]
pub(crate) struct Parts {
    /// The interpreter itself.
    pub(crate) program: PathBuf,
    /// Place of its library: `PYTHONHOME`.
    pub(crate) prefix: String,
    /// Modules in Python, and shared libraries.
    pub(crate) files: Vec<PathBuf>,
}

/// Returns the parts that are needed to import some modules of the standard library.
pub(crate) fn parts(python: &Python, imports: &[&str]) -> Result<Parts> {
    let failed = |reason: String| Error::Python {
        interpreter: python.interpreter.clone(),
        reason,
    };
    // Isolated: no modules of the user, or of this directory, are imported.
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
