//! The files that a module in Rust needs of the kernel, in addition to those for one in C: the compiled crates'
//! metadata.

use std::{fs, path::Path};

use crate::{Result, error::io_error};

/// Crates that modules are compiled against, in the kernel's directory `rust`.
const CRATES: [&str; 9] = [
    "core",
    "compiler_builtins",
    "ffi",
    "bindings",
    "uapi",
    "build_error",
    "pin_init",
    "kernel",
    "zerocopy",
];
/// Procedural macros, in the same directory.
const MACROS: [&str; 3] = ["macros", "pin_init_internal", "zerocopy_derive"];
/// The compiler's target, below the directories from and to which [`copy`] copies.
const TARGET: &str = "scripts/target.json";

/// Copies the metadata from the output directory of a kernel's build to the directory that
/// modules are built against.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    let rust = to.join("rust");
    fs::create_dir_all(&rust).map_err(io_error("create", &rust))?;
    let crates = CRATES.iter().map(|name| format!("rust/lib{name}.rmeta"));
    let macros = MACROS.iter().map(|name| format!("rust/lib{name}.so"));
    for file in crates.chain(macros).chain([TARGET.to_owned()]) {
        let (source, target) = (from.join(&file), to.join(&file));
        fs::copy(&source, &target).map_err(io_error("copy", &source))?;
    }
    Ok(())
}
