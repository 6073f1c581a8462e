//! Packages of a Debian release, on a machine with any Debian or Ubuntu.
//!
//! A private apt: its own sources, lists and archives, and an empty package status, so that it resolves whole
//! dependency trees and needs no root. From the machine it takes the address of a mirror and the way to reach it (for
//! example proxies). It accepts only files that the archive's key signed: Release file → package lists → packages.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Error, Progress, Result,
    apt::{self, complaint},
    error::io_error,
    process::{self, find, tail, text},
};

/// The release: its rustc built the kernels that its backports have.
const RELEASE: &str = "trixie";
/// Newer kernels and QEMU for [`RELEASE`].
pub(crate) const BACKPORTS: &str = "trixie-backports";
/// The release before it, whose kernel is the oldest of the tests.
const OLD_RELEASE: &str = "bookworm";
/// Names the mirror where the machine's apt knows none.
const MIRROR: &str = "PEERLANE_DEBIAN_MIRROR";
/// The archive's keys, as a path on Debian and inside the package of the same name.
const KEYRING: &str = "usr/share/keyrings/debian-archive-keyring.gpg";

/// The private apt, with current lists.
pub(crate) struct Debian {
    tool: String,
    suites: &'static [&'static str],
    state: PathBuf,
    /// One at a time: apt's own locks are switched off.
    _lock: File,
}

impl Debian {
    /// Sets it up and gets the package lists. The packages are for `tool`.
    pub(crate) fn open(cache: &Cache, tool: &str, progress: &Progress) -> Result<Self> {
        Self::with_suites(cache, "debian", &[RELEASE, BACKPORTS], tool, progress)
    }

    /// Does the same for Debian 12. Its packages are not mixed with those of [`RELEASE`].
    pub(crate) fn old(cache: &Cache, tool: &str, progress: &Progress) -> Result<Self> {
        Self::with_suites(cache, "debian-old", &[OLD_RELEASE], tool, progress)
    }

    /// Sets up the apt for these suites, whose files are in the cache's directory `name`.
    fn with_suites(
        cache: &Cache,
        name: &str,
        suites: &'static [&'static str],
        tool: &str,
        progress: &Progress,
    ) -> Result<Self> {
        check_machine(tool)?;
        let debian = Self {
            tool: tool.to_owned(),
            suites,
            _lock: cache.lock(name, "packages of Debian")?,
            state: cache.directory(name)?,
        };
        for part in ["lists/partial", "cache/archives/partial", "none"] {
            let path = debian.state.join(part);
            fs::create_dir_all(&path).map_err(io_error("create", &path))?;
        }
        debian.write("status", "")?;
        debian.write("apt.conf", &debian.configuration()?)?;
        progress.step("getting Debian's package lists");
        debian.update(&keyring(cache)?)?;
        Ok(debian)
    }

    /// Returns the names of the suites that it takes packages of.
    pub(crate) fn suites(&self) -> &[&str] {
        self.suites
    }

    fn write(&self, name: &str, content: &str) -> Result<()> {
        let path = self.state.join(name);
        fs::write(&path, content).map_err(io_error("write", &path))
    }

    /// Returns apt's configuration. That of the machine is not read, because of its hooks and its other sources; the
    /// settings for reaching servers are copied from it.
    fn configuration(&self) -> Result<String> {
        let mut text = String::new();
        let paths = [
            ("Dir::Etc::Main", "none/main"),
            ("Dir::Etc::Parts", "none"),
            ("Dir::Etc::SourceList", "sources.list"),
            ("Dir::Etc::SourceParts", "none"),
            ("Dir::Etc::Preferences", "none/preferences"),
            ("Dir::Etc::PreferencesParts", "none"),
            ("Dir::Etc::Trusted", "none/trusted"),
            ("Dir::Etc::TrustedParts", "none"),
            ("Dir::State", "."),
            ("Dir::State::Lists", "lists"),
            ("Dir::State::Status", "status"),
            ("Dir::Cache", "cache"),
        ];
        for (name, path) in paths {
            text.push_str(&format!(
                "{name} \"{}\";\n",
                self.state.join(path).display()
            ));
        }
        text.push_str(
            "APT::Architecture \"amd64\";\nAPT::Architectures { \"amd64\"; };\n\
             APT::Install-Recommends \"false\";\nAPT::Sandbox::User \"\";\n\
             APT::Update::Error-Mode \"any\";\nAcquire::Languages \"none\";\n\
             Acquire::GzipIndexes \"true\";\nDir::Cache::srcpkgcache \"\";\n\
             Debug::NoLocking \"true\";\n",
        );
        let output = process::output(Command::new("apt-config").args(["dump", "Acquire"]))?;
        text.push_str(&reaching(&String::from_utf8_lossy(&output.stdout)));
        Ok(text)
    }

    /// Gets the lists from the first mirror that has the suites.
    fn update(&self, keyring: &Path) -> Result<()> {
        let mirrors = mirrors()?;
        let mut detail = "apt's sources contain no Debian mirror".to_owned();
        for mirror in mirrors {
            let source = format!("deb [arch=amd64 signed-by={}] {mirror}", keyring.display());
            let lines = self.suites.iter();
            let lines: Vec<_> = lines
                .map(|suite| format!("{source} {suite} main\n"))
                .collect();
            self.write("sources.list", &lines.concat())?;
            let output = process::output(self.command("apt-get").args(["update", "-q"]))?;
            if output.status.success() {
                return Ok(());
            }
            detail = complaint(&output);
        }
        Err(Error::Install {
            tool: self.tool.clone(),
            detail,
            hint: format!(
                "check the network; or set {MIRROR} to the address of a Debian mirror that has {} \
                 (the directory that contains `dists`)",
                self.suites.join(" and ")
            ),
        })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("APT_CONFIG", self.state.join("apt.conf"));
        command
    }

    /// Returns the names of all packages that begin with `prefix`.
    pub(crate) fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let output = process::output(self.command("apt-cache").args(["pkgnames", prefix]))?;
        Ok(String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Returns the package with the image of a kernel's release, of 6.19 or later.
    pub(crate) fn linux_binary(&self, release: &str) -> Result<String> {
        // Debian signs an image for secure boot some time after it is built.
        let image = format!("linux-binary-{release}");
        Ok(match self.names(&image)?.contains(&image) {
            true => image,
            false => format!("linux-binary-unsigned-{release}"),
        })
    }

    /// Unpacks `packages` and all their dependencies into `root`. With `release` the packages and their dependencies
    /// come from that release where it has them.
    pub(crate) fn unpack_with_needs(
        &self,
        packages: &[&str],
        release: Option<&str>,
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let work = self.download_with_needs(packages, release, progress)?;
        progress.step("unpacking");
        self.unpack(work.path(), root)
    }

    /// Unpacks as [`Debian::unpack_with_needs`] does, and writes the status by which `dpkg` in the root takes the
    /// packages for installed.
    pub(crate) fn install_with_needs(
        &self,
        packages: &[&str],
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let work = self.download_with_needs(packages, None, progress)?;
        progress.step("unpacking");
        self.unpack(work.path(), root)?;
        let mut status = String::new();
        for file in packages_in(work.path())? {
            let output = process::output(Command::new("dpkg-deb").arg("-f").arg(&file))?;
            status += "Status: install ok installed\n";
            status += String::from_utf8_lossy(&output.stdout).trim_end();
            status += "\n\n";
        }
        let path = root.join("var/lib/dpkg/status");
        fs::write(&path, status).map_err(io_error("write", &path))
    }

    /// Returns a directory with the files of `packages` and all their dependencies.
    fn download_with_needs(
        &self,
        packages: &[&str],
        release: Option<&str>,
        progress: &Progress,
    ) -> Result<tempfile::TempDir> {
        let work = self.work()?;
        fs::create_dir_all(work.path().join("partial"))
            .map_err(io_error("create a directory in", work.path()))?;
        let mut command = self.command("apt-get");
        command
            .args(["install", "--download-only", "-q", "-y"])
            .arg("-o")
            .arg(format!("Dir::Cache::Archives={}/", work.path().display()));
        if let Some(release) = release {
            command.args(["-t", release]);
        }
        progress.step("downloading");
        self.run(command.args(packages))?;
        Ok(work)
    }

    /// Unpacks `packages`, and nothing else, into `root`.
    pub(crate) fn unpack_only(
        &self,
        packages: &[String],
        root: &Path,
        progress: &Progress,
    ) -> Result<()> {
        let work = self.work()?;
        progress.step("downloading");
        self.run(
            self.command("apt-get")
                .args(["download", "-q"])
                .args(packages)
                .current_dir(work.path()),
        )?;
        progress.step("unpacking");
        self.unpack(work.path(), root)
    }

    fn work(&self) -> Result<tempfile::TempDir> {
        tempfile::tempdir_in(&self.state).map_err(io_error("create a directory in", &self.state))
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let output = process::output(command)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::Install {
            tool: self.tool.clone(),
            detail: complaint(&output),
            hint: "check the network and the free space; if Debian no longer has a package, use \
                     a newer version of Peerlane"
                .to_owned(),
        })
    }

    fn unpack(&self, packages: &Path, root: &Path) -> Result<()> {
        for file in packages_in(packages)? {
            let output = process::output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(root))?;
            if !output.status.success() {
                return Err(Error::Install {
                    tool: self.tool.clone(),
                    detail: tail(&text(&output), 4),
                    hint: "check the free space of the cache directory".to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// Returns the packages in a directory.
fn packages_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(io_error("read", directory))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    files.sort();
    Ok(files)
}

/// Refuses machines that do not run programs of x86-64 Linux or have no apt.
fn check_machine(tool: &str) -> Result<()> {
    let missing = |looked_for: String| Error::Missing {
        what: format!("a requirement of {tool}"),
        looked_for,
        hint: "use a Debian or Ubuntu machine (x86-64)".to_owned(),
    };
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(missing(format!(
            "x86-64 Linux, found {} {}",
            env::consts::ARCH,
            env::consts::OS
        )));
    }
    match ["apt-get", "apt-cache", "apt-config", "dpkg-deb"]
        .iter()
        .find(|program| find(program).is_none())
    {
        Some(program) => Err(missing(format!("`{program}` on PATH"))),
        None => Ok(()),
    }
}

/// Returns the lines of apt's configuration about reaching a server, out of a dump of all of it.
fn reaching(dump: &str) -> String {
    const KEPT: [&str; 5] = ["http", "https", "Check-", "ForceIPv", "Retries"];
    dump.lines()
        .filter(|line| {
            line.strip_prefix("Acquire::")
                .is_some_and(|name| KEPT.iter().any(|kept| name.starts_with(kept)))
        })
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Returns the mirrors to try, in order: the variable's, else those of the machine's apt.
fn mirrors() -> Result<Vec<String>> {
    if let Some(named) = env::var(MIRROR).ok().filter(|value| !value.is_empty()) {
        return Ok(vec![named]);
    }
    let output = process::output(Command::new("apt-get").env("LC_ALL", "C").args([
        "update",
        "--print-uris",
        "-o",
        "Debug::NoLocking=true",
    ]))?;
    Ok(mirrors_of(&String::from_utf8_lossy(&output.stdout)))
}

/// Returns the Debian mirrors in the output of `apt-get update --print-uris`, each once.
fn mirrors_of(uris: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in uris.lines() {
        // 'address/dists/suite/InRelease' file size
        let Some((mirror, _)) = line
            .strip_prefix('\'')
            .and_then(|line| line.split_once("/dists/"))
        else {
            continue;
        };
        // Security updates and debug symbols are in archives of their own.
        let last = mirror.rsplit('/').next();
        if last == Some("debian") && !found.iter().any(|known| known == mirror) {
            found.push(mirror.to_owned());
        }
    }
    found
}

/// Returns the archive's keys: the machine's, else those of the distribution's package.
fn keyring(cache: &Cache) -> Result<PathBuf> {
    const PACKAGE: &str = "debian-archive-keyring";
    let system = Path::new("/").join(KEYRING);
    if system.exists() {
        return Ok(system);
    }
    let recipe = apt::recipe("debian-keyring", &[PACKAGE]).requires(KEYRING);
    let root = cache.install(&recipe, |root, progress| {
        apt::unpack(cache, "Debian's archive keys", &[PACKAGE], root, progress)
    })?;
    Ok(root.join(KEYRING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_those_of_debian_and_come_once() {
        let uris = "'http://mirror.test/debian/dists/bookworm/InRelease' a 0 \n\
                    'http://mirror.test/debian/dists/bookworm-updates/InRelease' b 0 \n\
                    'http://mirror.test/debian-security/dists/bookworm-security/InRelease' c 0 \n\
                    'http://mirror.test/ubuntu/dists/noble/InRelease' d 0 \n\
                    W: something else\n";
        assert_eq!(mirrors_of(uris), ["http://mirror.test/debian"]);
        assert!(mirrors_of("").is_empty());
    }

    #[test]
    fn proxies_are_copied_and_indexes_are_not() {
        let dump = "Acquire \"\";\nAcquire::http::Proxy \"http://proxy.test:8\";\n\
                    Acquire::IndexTargets::deb::DEP-11::MetaKey \"x\";\n\
                    Acquire::Check-Valid-Until \"false\";\nAPT::Other \"y\";\n";
        assert_eq!(
            reaching(dump),
            "Acquire::http::Proxy \"http://proxy.test:8\";\nAcquire::Check-Valid-Until \"false\";\n"
        );
    }
}
