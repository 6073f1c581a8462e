//! Packages of a Debian or Ubuntu machine, unpacked into the cache without root.
//!
//! The versions are the distribution's, so the hashes are not pinned here: each package is
//! compared with the SHA-256 in apt's package index, whose signature apt checked. Nothing of the
//! system is written: apt gets its own cache and, where the system has no package lists, its own
//! lists.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use sha2::{Digest, Sha256};

use crate::{
    Cache, Error, Progress, Recipe, Result,
    cache::hex,
    error::io_error,
    process::{self, find, tail, text},
};

/// A package of the plan, which apt would download.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Package {
    name: String,
    version: String,
    architecture: String,
}

impl Package {
    /// Reads the file name that apt gives it, `name_version_architecture.deb`.
    fn from_file(file: &str) -> Option<Self> {
        let mut parts = file.strip_suffix(".deb")?.splitn(3, '_');
        Some(Self {
            name: parts.next()?.to_owned(),
            // apt writes the colon of an epoch as %3a.
            version: parts.next()?.replace("%3a", ":"),
            architecture: parts.next()?.to_owned(),
        })
    }

    /// Returns the name in the form that apt takes on the command line.
    fn specifier(&self) -> String {
        if self.architecture == "all" {
            format!("{}={}", self.name, self.version)
        } else {
            format!("{}:{}={}", self.name, self.architecture, self.version)
        }
    }
}

/// apt, run as the user.
struct Apt {
    state: PathBuf,
    own_lists: bool,
    /// One apt at a time: its own locks are switched off.
    _lock: File,
}

impl Apt {
    fn open(cache: &Cache, tool: &str) -> Result<Self> {
        for program in ["apt-get", "apt-cache", "dpkg-deb"] {
            if find(program).is_none() {
                return Err(Error::Missing {
                    what: tool.to_owned(),
                    looked_for: format!(
                        "`{tool}` on PATH, and for apt to download it, but `{program}` is missing"
                    ),
                    hint: format!("install {tool} with the system's package manager"),
                });
            }
        }
        let state = cache.directory("apt")?;
        for part in ["lists/partial", "archives/partial"] {
            let path = state.join(part);
            fs::create_dir_all(&path).map_err(io_error("create", &path))?;
        }
        Ok(Self {
            state,
            own_lists: false,
            _lock: cache.lock("apt", "packages of the system")?,
        })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let set = |name: &str, path: &Path| format!("{name}={}", path.display());
        command
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-o", &set("Dir::Cache", &self.state)])
            .args([
                "-o",
                &set("Dir::Cache::archives", &self.state.join("archives")),
            ])
            // The system's locks belong to root; nothing of the system is written.
            .args(["-o", "Debug::NoLocking=true"])
            // Downloads as root go to a directory of the user, too.
            .args(["-o", "APT::Sandbox::User="]);
        if self.own_lists {
            command.args(["-o", &set("Dir::State::Lists", &self.state.join("lists"))]);
        }
        command
    }

    /// Switches to package lists of our own and gets them. A source that cannot be reached is not fatal, because
    /// another may have the packages: returns apt's complaints.
    fn update(&mut self, progress: &Progress) -> Result<Option<String>> {
        progress.step("getting apt's package lists");
        self.own_lists = true;
        let output = process::output(
            self.command("apt-get")
                // Without it, lists that could not be fetched are only a warning.
                .args(["-o", "APT::Update::Error-Mode=any"])
                .args(["update", "-q"]),
        )?;
        Ok((!output.status.success()).then(|| complaint(&output)))
    }

    /// Returns the downloads for `packages`, with their dependencies that the system lacks.
    fn plan(&self, packages: &[&str]) -> Result<Vec<Package>, String> {
        let output = process::output(
            self.command("apt-get")
                .args(["install", "--print-uris", "-qq", "-y", "--no-remove"])
                .args(["--no-install-recommends", "--reinstall"])
                .args(packages),
        )
        .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(complaint(&output));
        }
        // Each line: 'address' file size hash
        let plan: Vec<Package> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.starts_with('\''))
            .filter_map(|line| Package::from_file(line.split_whitespace().nth(1)?))
            // Another libc than the system's does not work with the system's loader.
            .filter(|package| !package.name.starts_with("libc6"))
            .collect();
        match packages
            .iter()
            .find(|name| !plan.iter().any(|package| package.name == **name))
        {
            Some(name) => Err(format!(
                "apt has no file for the package {name}: {}",
                complaint(&output)
            )),
            None => Ok(plan),
        }
    }

    /// Returns the SHA-256 that the signed index gives for `package`.
    fn hash(&self, package: &Package) -> Result<String, String> {
        let output = process::output(
            self.command("apt-cache")
                .args(["show", "--no-all-versions"])
                .arg(package.specifier()),
        )
        .map_err(|error| error.to_string())?;
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .find_map(|line| line.strip_prefix("SHA256: "))
            .map(|hash| hash.trim().to_owned())
            .ok_or_else(|| format!("apt's index has no SHA-256 for {}", package.specifier()))
    }

    /// Downloads `plan` into the directory `to` and checks every file.
    fn download(&self, tool: &str, plan: &[Package], to: &Path) -> Result<Vec<PathBuf>, Failure> {
        let output = process::output(
            self.command("apt-get")
                .args(["download", "-q"])
                .args(plan.iter().map(Package::specifier))
                .current_dir(to),
        )?;
        if !output.status.success() {
            return Err(Failure::Apt(complaint(&output)));
        }
        let mut files = Vec::new();
        for package in plan {
            let file = fs::read_dir(to)
                .map_err(io_error("read", to))?
                .flatten()
                .map(|entry| entry.path())
                .find(|path| {
                    path.file_name()
                        .and_then(|name| Package::from_file(name.to_str()?))
                        .is_some_and(|found| found == *package)
                })
                .ok_or_else(|| Failure::Apt(format!("apt got no file for {}", package.name)))?;
            let expected = self.hash(package).map_err(Failure::Apt)?;
            check_hash(&format!("{tool} ({})", package.name), &file, &expected)?;
            files.push(file);
        }
        Ok(files)
    }
}

/// A failed step: newer package lists may fix it, or it is final.
enum Failure {
    Apt(String),
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Returns the errors in apt's output, without its warnings about other things.
pub(crate) fn complaint(output: &Output) -> String {
    let said = text(output);
    let errors: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("E: ") || line.starts_with("W: Failed to fetch"))
        .collect();
    if errors.is_empty() {
        tail(&said, 4)
    } else {
        tail(&errors.join("\n"), 2)
    }
}

/// Refuses `file` unless its SHA-256 is `expected`.
fn check_hash(tool: &str, file: &Path, expected: &str) -> Result<()> {
    let bytes = fs::read(file).map_err(io_error("read", file))?;
    let found = hex(&Sha256::digest(&bytes));
    if found == expected {
        return Ok(());
    }
    Err(Error::Hash {
        tool: tool.to_owned(),
        detail: format!("expected SHA-256 {expected}, got {found}"),
    })
}

/// Downloads `packages` with their dependencies and unpacks them all into `root`.
pub(crate) fn unpack(
    cache: &Cache,
    tool: &str,
    packages: &[&str],
    root: &Path,
    progress: &Progress,
) -> Result<()> {
    let mut apt = Apt::open(cache, tool)?;
    let work =
        tempfile::tempdir_in(&apt.state).map_err(io_error("create a directory in", &apt.state))?;

    // First with the system's package lists, then, if they are missing or too old for the
    // mirror, with lists of our own.
    let mut update_failure = None;
    let files = loop {
        progress.step("downloading");
        let result = apt
            .plan(packages)
            .map_err(Failure::Apt)
            .and_then(|plan| apt.download(tool, &plan, work.path()));
        match result {
            Ok(files) => break files,
            Err(Failure::Apt(_)) if !apt.own_lists => update_failure = apt.update(progress)?,
            Err(Failure::Apt(detail)) => {
                return Err(Error::Install {
                    tool: tool.to_owned(),
                    detail: update_failure.unwrap_or(detail),
                    hint: format!(
                        "check the network and apt's sources, or install the packages: sudo \
                         apt-get update && sudo apt-get install {}",
                        packages.join(" ")
                    ),
                });
            }
            Err(Failure::Final(error)) => return Err(error),
        }
    };

    progress.step("unpacking");
    for file in files {
        let output = process::output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(root))?;
        if !output.status.success() {
            return Err(Error::Install {
                tool: tool.to_owned(),
                detail: tail(&text(&output), 4),
                hint: "check the free space of the cache directory".to_owned(),
            });
        }
    }
    Ok(())
}

/// Makes a recipe for unpacked packages: they belong to one release of one distribution.
pub(crate) fn recipe(name: &str, packages: &[&str]) -> Recipe {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let label = format!("{} (packages of this system)", packages.join(", "));
    Recipe::new(name, &label)
        .part("apt 1")
        .part(packages.join(" "))
        .part(std::env::consts::ARCH)
        .part(release)
}

/// Returns the distribution's pip as a wheel that Python can run directly.
pub(crate) fn pip_wheel(cache: &Cache) -> Result<PathBuf> {
    const PACKAGE: &str = "python3-pip-whl";
    let root = cache.install(&recipe("pip-wheel", &[PACKAGE]), |root, progress| {
        unpack(cache, "pip", &[PACKAGE], root, progress)
    })?;
    let wheels = root.join("usr/share/python-wheels");
    fs::read_dir(&wheels)
        .map_err(io_error("read", &wheels))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("pip-"))
        })
        .ok_or_else(|| Error::Missing {
            what: "pip".to_owned(),
            looked_for: format!("pip-*.whl in {}", wheels.display()),
            hint: "install python3-venv".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_tells_package_version_and_architecture() {
        let package = Package::from_file("libfoo-dev_1%3a2.3+b1~x_amd64.deb").unwrap();
        assert_eq!(package.name, "libfoo-dev");
        assert_eq!(package.version, "1:2.3+b1~x");
        assert_eq!(package.specifier(), "libfoo-dev:amd64=1:2.3+b1~x");
        let package = Package::from_file("a_1_all.deb").unwrap();
        assert_eq!(package.specifier(), "a=1");
        assert_eq!(Package::from_file("a_1_all.rpm"), None);
        assert_eq!(Package::from_file("a_1.deb"), None);
    }

    #[test]
    fn a_corrupted_download_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.deb");
        fs::write(&file, "abc").unwrap();
        // FIPS 180-2, appendix B.1: the SHA-256 of "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check_hash("a", &file, abc).unwrap();
        fs::write(&file, "abd").unwrap();
        match check_hash("a", &file, abc) {
            Err(Error::Hash { tool, detail }) => {
                assert_eq!(tool, "a");
                assert!(detail.contains(abc));
            }
            other => panic!("{other:?}"),
        }
    }
}
