//! The compilers that Debian builds its kernels with, in a root of their own.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{MODULE, SOURCES};
use crate::{Cache, Recipe, Result, chroot, debian::Debian, error::io_error};

/// The packages that the kernel's documentation (`process/changes.rst`) asks for, and the further packages of Debian's
/// root.
const PACKAGES: &[&str] = &[
    // A root in which make and sh run.
    "base-files",
    "bash",
    "coreutils",
    "cpio",
    "dash",
    "diffutils",
    "findutils",
    "gawk",
    "grep",
    "gzip",
    "perl-base",
    "python3-minimal",
    "sed",
    "tar",
    "xz-utils",
    // C.
    "bc",
    "binutils",
    "bison",
    "clang-19",
    "flex",
    "gcc-14",
    "kmod",
    "libc6-dev",
    "libelf-dev",
    "libssl-dev",
    "make",
    "openssl",
    "pahole",
    // Rust.
    "bindgen",
    "rust-clippy",
    "rust-src",
    "rustc",
    "rustfmt",
];

/// Directories that no build reads.
const USELESS: &[&str] = &[
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "usr/lib/llvm-19/include",
];

/// Places in the root of directories of the machine, for builds.
const MOUNTED: [&str; 2] = [SOURCES, MODULE];

const RUSTC: &str = "usr/bin/rustc";
/// The place where the kernel's build looks for the compiler's own library.
const LIBRARY: &str = "usr/lib/rustlib/src/rust/library";

/// Returns the root, and a text that changes with it.
pub(super) fn install(cache: &Cache) -> Result<(String, PathBuf)> {
    let recipe = Recipe::new(
        "linux-toolchain",
        "the kernel's compilers (Debian packages)",
    )
    .part("1")
    .part(PACKAGES.join(" "))
    .part(MOUNTED.join(" "))
    .requires(RUSTC)
    .requires(LIBRARY);
    let root = cache.install(&recipe, |root, progress| {
        Debian::open(cache, "the kernel's compilers", progress)?
            .unpack_with_needs(PACKAGES, None, root, progress)?;
        trim(root)?;
        // An alternative, which the package's scripts would set up.
        let awk = root.join("usr/bin/awk");
        symlink("gawk", &awk).map_err(io_error("create", &awk))?;
        chroot::prepare(root, &MOUNTED)
    })?;
    Ok((recipe.hash(), root))
}

/// Removes files that no build reads, and frees [`SOURCES`] of the compiler's source, of which only the library is
/// needed.
fn trim(root: &Path) -> Result<()> {
    for directory in USELESS {
        let path = root.join(directory);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("remove", &path)(error));
            }
            _ => {}
        }
    }
    let archives = root.join("usr/lib/llvm-19/lib");
    for entry in fs::read_dir(&archives)
        .map_err(io_error("read", &archives))?
        .flatten()
    {
        if entry.path().extension().is_some_and(|kind| kind == "a") {
            fs::remove_file(entry.path()).map_err(io_error("remove", entry.path()))?;
        }
    }

    // usr/lib/rustlib/src/rust links to usr/src/rustc-…
    let library = root.join(LIBRARY);
    let kept = root.join("library");
    fs::rename(&library, &kept).map_err(io_error("rename", &library))?;
    let sources = root.join(SOURCES.trim_start_matches('/'));
    fs::remove_dir_all(&sources).map_err(io_error("remove", &sources))?;
    if let Some(link) = library.parent() {
        fs::remove_file(link).map_err(io_error("remove", link))?;
        fs::create_dir(link).map_err(io_error("create", link))?;
    }
    fs::rename(&kept, &library).map_err(io_error("rename to", &library))
}
