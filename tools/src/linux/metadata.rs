//! What a module in Rust needs of the kernel, beyond what one in C does: the compiled crates'
//! metadata. Debian's headers do not have it.

use std::{collections::BTreeSet, fs, path::Path};

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

/// The symbols that Rust code of the build in `out` exports.
pub(super) fn exported(out: &Path) -> Result<BTreeSet<String>> {
    let directory = out.join("rust");
    let mut symbols = BTreeSet::new();
    for entry in fs::read_dir(&directory)
        .map_err(io_error("read", &directory))?
        .flatten()
    {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("exports_") && name.ends_with("_generated.h") {
            let path = entry.path();
            let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
            symbols.extend(exports(&text));
        }
    }
    Ok(symbols)
}

/// The symbols of a generated header: `EXPORT_SYMBOL_RUST_GPL(symbol);` a line.
fn exports(header: &str) -> impl Iterator<Item = String> {
    header.lines().filter_map(|line| {
        let (_, rest) = line.split_once("EXPORT_SYMBOL_RUST_GPL(")?;
        Some(rest.split_once(')')?.0.to_owned())
    })
}

/// The symbols of Rust code in a kernel's `Module.symvers`.
pub(super) fn shipped(symvers: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(symvers).map_err(io_error("read", symvers))?;
    Ok(rust_symbols(&text))
}

/// `checksum symbol module kind` a line. Rust's are mangled (`_R…`), or helpers in C that the
/// `kernel` crate calls (`rust_…`).
fn rust_symbols(symvers: &str) -> BTreeSet<String> {
    symvers
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|symbol| symbol.starts_with("_R") || symbol.starts_with("rust_"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_name_the_same_symbols() {
        let header = "EXPORT_SYMBOL_RUST_GPL(_RNvNtCs1_6kernel3pci4read);\n\
                      EXPORT_SYMBOL_RUST_GPL(rust_helper_get_page);\n\n";
        let symvers = "0x12345678\t_RNvNtCs1_6kernel3pci4read\tvmlinux\tEXPORT_SYMBOL_GPL\t\n\
                       0x9abcdef0\tpci_enable_device\tvmlinux\tEXPORT_SYMBOL\t\n\
                       0x00000000\trust_helper_get_page\tvmlinux\tEXPORT_SYMBOL_GPL\t\n";
        let ours: BTreeSet<String> = exports(header).collect();
        assert_eq!(ours.len(), 2);
        assert_eq!(ours, rust_symbols(symvers));
    }
}
