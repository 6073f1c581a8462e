//! A Debian system in a directory, for the steps of an administrator.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Cache, Recipe, Result, chroot, chroot::Chroot, debian::Debian, error::io_error};

/// Packages that every Debian system has and programs rely on. The first is of the backports, whose kernels need it.
const BASE: [&str; 12] = [
    "linux-base/trixie-backports",
    "base-files",
    "bash",
    "coreutils",
    "dash",
    "diffutils",
    "findutils",
    "grep",
    "hostname",
    "mawk",
    "sed",
    "tar",
];
/// Place at which commands see the directory that they are given.
const SHARED: &str = "/mnt";

/// A Debian system with packages unpacked, none of whose scripts has run.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// Returns the directory. Nothing in it may be changed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a command, as root, that sees the directory `shared` of the machine at `/mnt`, read-only. Its changes go
    /// to `changes/upper` and are seen by later commands with the same `changes`, an empty directory at first, whose
    /// path may have no comma and no colon.
    pub fn command(&self, program: &str, shared: &Path, changes: &Path) -> Command {
        Chroot::new(&self.root)
            .changes(changes)
            .reads(shared, SHARED)
            .command(program)
    }
}

impl Cache {
    /// Returns a Debian system with `packages` and their dependencies.
    ///
    /// # Errors
    /// As [`Cache::qemu`]; when the machine does not let programs run in a root of their own.
    pub fn system(&self, packages: &[&str]) -> Result<System> {
        chroot::check("a Debian system")?;
        let recipe = Recipe::new("system", &format!("Debian with {}", packages.join(", ")))
            .part("1")
            .part(BASE.join(" "))
            .part(packages.join(" "))
            .requires("usr/bin/awk");
        let root = self.install(&recipe, |root, progress| {
            Debian::open(self, "a Debian system", progress)?.unpack_with_needs(
                &[&BASE, packages].concat(),
                None,
                root,
                progress,
            )?;
            // An alternative, which the package's scripts would set up.
            let awk = root.join("usr/bin/awk");
            symlink("mawk", &awk).map_err(io_error("create", &awk))?;
            let shared = root.join(SHARED.trim_start_matches('/'));
            fs::create_dir_all(&shared).map_err(io_error("create", &shared))?;
            chroot::prepare(root, &[])
        })?;
        Ok(System { root })
    }
}
