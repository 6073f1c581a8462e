//! A Debian system in a directory, for the steps of an administrator.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Progress, Recipe, Result, chroot,
    chroot::Chroot,
    debian::Debian,
    error::io_error,
    process::{self, text},
};

/// Package of the backports, whose kernels need it.
const LINUX_BASE: &str = "linux-base/trixie-backports";
/// Packages that every Debian system has and programs rely on.
const BASE: [&str; 11] = [
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

/// A release of Debian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Debian 12.
    Bookworm,
    /// Debian 13.
    Trixie,
}

impl Release {
    fn name(self) -> &'static str {
        match self {
            Self::Bookworm => "bookworm",
            Self::Trixie => "trixie",
        }
    }
}

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
        self.system_of(
            "system",
            &[&[LINUX_BASE], packages].concat(),
            |root, progress| {
                Debian::open(self, "a Debian system", progress)?.unpack_with_needs(
                    &[&[LINUX_BASE], &BASE[..], packages].concat(),
                    None,
                    root,
                    progress,
                )
            },
        )
    }

    /// Returns a system of `release` with `packages` and their dependencies, of which its `dpkg` knows.
    ///
    /// # Errors
    /// As [`Cache::system`].
    pub fn installed_system(&self, release: Release, packages: &[&str]) -> Result<System> {
        let name = format!("system-{}", release.name());
        let packages = [&["base-passwd", "dpkg", "libc-bin"], packages].concat();
        self.system_of(&name, &packages, |root, progress| {
            let tool = "a Debian system";
            let debian = match release {
                Release::Bookworm => Debian::old(self, tool, progress),
                Release::Trixie => Debian::open(self, tool, progress),
            }?;
            debian.install_with_needs(&[&BASE, &packages[..]].concat(), root, progress)?;
            ["bin", "lib", "lib64", "sbin"]
                .iter()
                .try_for_each(|directory| merge(root, directory))?;
            for file in ["passwd", "group"] {
                let master = root.join(format!("usr/share/base-passwd/{file}.master"));
                let path = root.join("etc").join(file);
                fs::copy(master, &path).map_err(io_error("create", &path))?;
            }
            Ok(())
        })
    }

    /// Returns a system with `packages`, which `unpack` puts into a root together with those of [`BASE`].
    fn system_of(
        &self,
        name: &str,
        packages: &[&str],
        unpack: impl FnOnce(&Path, &Progress) -> Result<()>,
    ) -> Result<System> {
        chroot::check("a Debian system")?;
        let recipe = Recipe::new(name, &format!("Debian with {}", packages.join(", ")))
            .part("1")
            .part(BASE.join(" "))
            .part(packages.join(" "))
            .requires("usr/bin/awk");
        let root = self.install(&recipe, |root, progress| {
            unpack(root, progress)?;
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

/// Moves the files of a directory into that of the same name in `/usr`, and links it there. Debian 13 has the links in a
/// package, and the installer of Debian 12 makes them.
fn merge(root: &Path, directory: &str) -> Result<()> {
    let path = root.join(directory);
    if path.is_symlink() {
        return Ok(());
    }
    let to = root.join("usr").join(directory);
    fs::create_dir_all(&to).map_err(io_error("create", &to))?;
    let mut copy = Command::new("cp");
    let copied = process::output(copy.arg("-a").arg(path.join(".")).arg(&to))?;
    if !copied.status.success() {
        let failed = io::Error::other(text(&copied));
        return Err(io_error("copy", &path)(failed));
    }
    fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
    symlink(Path::new("usr").join(directory), &path).map_err(io_error("create", &path))
}
