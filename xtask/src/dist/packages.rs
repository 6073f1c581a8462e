//! Packages of a release for a distribution. `packages.toml` describes them, for every format.
//!
//! Debian's are packed by `dpkg-deb`, which takes all control files that Debian's policy asks for. (nFPM, which writes
//! other formats, too, does not take `shlibs`.)

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use miette::IntoDiagnostic;
use serde::Deserialize;

use super::{copy, directory, link, must, output, write};

/// Directory of libraries in `/usr`, as Debian has it.
const LIBRARIES: &str = "lib/x86_64-linux-gnu";
/// Name and address in the packages. There is no address yet.
const MAINTAINER: &str = "The Peerlane authors <peerlane@peerlane.invalid>";

/// Contents of `packages.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    package: Vec<Package>,
}

/// A package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    name: String,
    section: String,
    /// `all` for a package without programs.
    architecture: Option<String>,
    multi_arch: Option<String>,
    licence: String,
    summary: String,
    text: String,
    depends: Vec<String>,
    #[serde(default)]
    recommends: Vec<String>,
    #[serde(default)]
    suggests: Vec<String>,
    files: Vec<(String, String)>,
    #[serde(default)]
    links: Vec<(String, String)>,
    /// Names and versions of the shared libraries.
    #[serde(default)]
    shlibs: Vec<String>,
    /// Command after the installation.
    configure: Option<String>,
    /// Command before the removal.
    remove: Option<String>,
}

/// The version of a release's packages.
#[derive(Debug)]
pub(crate) struct Version {
    /// That of the packages: a commit before a release sorts before it.
    packages: String,
    /// That of the driver for DKMS.
    driver: String,
    /// Seconds since 1970: the time of all files.
    time: String,
}

impl Version {
    /// Returns the version of a commit: `{version}-1` if it has the release's tag, else an earlier one with the time,
    /// in UTC, and the name of the commit.
    pub(crate) fn of(version: &str, tags: &str, commit: &super::Commit) -> miette::Result<Self> {
        let released = tags
            .lines()
            .any(|tag| tag.strip_prefix('v') == Some(version));
        let date = output(
            Command::new("date")
                .args(["--utc", "+%Y%m%d%H%M", "--date"])
                .arg(format!("@{}", commit.time)),
        )?;
        let (hash, changed) = match commit.name.strip_suffix("-dirty") {
            Some(hash) => (hash, ".dirty"),
            None => (commit.name.as_str(), ""),
        };
        let short: String = hash.chars().take(8).collect();
        Ok(Self {
            packages: match released && changed.is_empty() {
                true => format!("{version}-1"),
                false => format!("{version}~git{date}.{short}{changed}-1"),
            },
            driver: version.to_owned(),
            time: commit.time.clone(),
        })
    }

    /// Replaces the names in a value of the table.
    fn fill(&self, text: &str) -> String {
        text.replace("{version}", &self.packages)
            .replace("{driver}", &self.driver)
            .replace("{lib}", LIBRARIES)
    }
}

/// Packs all packages for Debian into the directory `out`. The sources of their files are below `work`.
pub(crate) fn debian(work: &Path, version: &Version, out: &Path) -> miette::Result<()> {
    let table: Table = toml::from_str(include_str!("packages.toml")).into_diagnostic()?;
    for package in &table.package {
        let root = work.join("packages").join(&package.name);
        package.lay(work, version, &root)?;
        package.pack(version, &root, out)?;
    }
    Ok(())
}

impl Package {
    fn architecture(&self) -> &str {
        self.architecture.as_deref().unwrap_or("amd64")
    }

    /// Puts the files into a root.
    fn lay(&self, work: &Path, version: &Version, root: &Path) -> miette::Result<()> {
        for (from, to) in &self.files {
            place(&work.join(from), &root.join(version.fill(to)))?;
        }
        for (text, place) in &self.links {
            link(version.fill(text).as_ref(), &root.join(version.fill(place)))?;
        }
        let doc = root.join("usr/share/doc").join(&self.name);
        directory(&doc)?;
        write(&doc.join("copyright"), &self.copyright())?;
        write(&doc.join("changelog.Debian"), &self.changelog(version)?)?;
        place(&work.join("source/CHANGELOG.md"), &doc.join("changelog"))?;
        compress(root)
    }

    fn copyright(&self) -> String {
        let (licence, comment, text) = match self.licence.as_str() {
            "GPL-2.0" => (
                "GPL-2",
                "The driver for Linux.",
                "The text is in /usr/share/common-licenses/GPL-2 on Debian systems.".to_owned(),
            ),
            _ => (
                "Expat or Apache-2.0",
                "/usr/share/doc/libpeerlane1/THIRD-PARTY.txt.gz lists what is compiled in, with its licences.",
                "The text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0 on Debian systems. Expat:\n\n"
                    .to_owned()
                    + include_str!("../../../LICENSE-MIT"),
            ),
        };
        format!(
            "Peerlane. {comment}\n\nCopyright: 2026 The Peerlane authors\nLicense: {licence}\n\n{}\n",
            text.trim()
        )
    }

    fn changelog(&self, version: &Version) -> miette::Result<String> {
        let date = output(
            Command::new("date")
                .args(["--utc", "--rfc-email", "--date"])
                .arg(format!("@{}", version.time)),
        )?;
        Ok(format!(
            "peerlane ({}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- {MAINTAINER}  {date}\n",
            version.packages
        ))
    }

    /// Returns the file `control`.
    fn control(&self, version: &Version, kibibytes: &str) -> String {
        let mut text = format!(
            "Package: {}\nSource: peerlane\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {kibibytes}\nSection: {}\nPriority: optional\n",
            self.name,
            version.packages,
            self.architecture(),
            self.section,
        );
        if let Some(multi_arch) = &self.multi_arch {
            text += &format!("Multi-Arch: {multi_arch}\n");
        }
        let relations = [
            ("Depends", &self.depends),
            ("Recommends", &self.recommends),
            ("Suggests", &self.suggests),
        ];
        for (field, names) in relations {
            if !names.is_empty() {
                text += &format!("{field}: {}\n", version.fill(&names.join(", ")));
            }
        }
        text + &format!("Description: {}\n{}", self.summary, indented(&self.text))
    }

    /// Packs a root.
    fn pack(&self, version: &Version, root: &Path, out: &Path) -> miette::Result<()> {
        let sums = "find * -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
        let sums = output(Command::new("sh").current_dir(root).args(["-c", sums]))?;
        // As dpkg-gencontrol(1) counts, independent of the file system.
        let size = r#"find . -printf '%y %s\n' | awk '{ s += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print s }'"#;
        let size = output(Command::new("sh").current_dir(root).args(["-c", size]))?;
        let control = root.join("DEBIAN");
        directory(&control)?;
        write(&control.join("control"), &self.control(version, &size))?;
        write(&control.join("md5sums"), &(sums + "\n"))?;
        if !self.shlibs.is_empty() {
            let lines = self.shlibs.iter();
            let lines =
                lines.map(|library| format!("{library} {} (>= {}~)\n", self.name, version.driver));
            write(&control.join("shlibs"), &lines.collect::<String>())?;
            write(&control.join("triggers"), "activate-noawait ldconfig\n")?;
        }
        let scripts = [
            ("postinst", "configure)", &self.configure),
            ("prerm", "remove | upgrade | deconfigure)", &self.remove),
        ];
        for (name, when, command) in scripts {
            let Some(command) = command else { continue };
            let script = control.join(name);
            let command = version.fill(command);
            write(
                &script,
                &format!("#!/bin/sh\nset -e\ncase $1 in {when}\n\t{command}\nesac\n"),
            )?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).into_diagnostic()?;
        }
        // Directories have the modes of the user's umask.
        must(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(root))?;
        must(
            Command::new("dpkg-deb")
                .env("SOURCE_DATE_EPOCH", &version.time)
                .args(["--root-owner-group", "-Zxz", "--build"])
                .arg(root)
                .arg(out)
                .stdout(std::process::Stdio::null()),
        )
    }
}

/// Returns a text as the lines of a field after its first one.
fn indented(text: &str) -> String {
    let lines = text.trim().lines();
    let lines = lines.map(|line| match line {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    });
    lines.collect()
}

/// Copies a file, or a directory with all that is in it, with the modes that files of packages have.
fn place(from: &Path, to: &Path) -> miette::Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from).into_diagnostic()? {
            let name = entry.into_diagnostic()?.file_name();
            place(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    copy(from, to)?;
    let mode = fs::metadata(from).into_diagnostic()?.permissions().mode();
    let is_library = to.to_string_lossy().contains(".so");
    let mode = if mode & 0o100 != 0 && !is_library {
        0o755
    } else {
        0o644
    };
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).into_diagnostic()
}

/// Compresses the documents that are compressed in a package.
fn compress(root: &Path) -> miette::Result<()> {
    let find = "find usr/share/man usr/share/doc/*/changelog* usr/share/doc/*/THIRD-PARTY.txt -type f 2>/dev/null \
                | xargs gzip -9n";
    must(Command::new("sh").current_dir(root).args(["-c", find]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn version(tags: &str, commit: &str) -> Version {
        let commit = super::super::Commit {
            name: commit.to_owned(),
            time: "1700000000".to_owned(),
        };
        Version::of("0.1.0", tags, &commit).unwrap()
    }

    #[test]
    fn a_commit_sorts_before_its_release() {
        let commit = "0123456789abcdef";
        assert_eq!(version("v0.1.0", commit).packages, "0.1.0-1");
        assert_eq!(
            version("v0.0.9", commit).packages,
            "0.1.0~git202311142213.01234567-1"
        );
        let changed = version("v0.1.0", "0123456789abcdef-dirty").packages;
        assert_eq!(changed, "0.1.0~git202311142213.01234567.dirty-1");
    }

    #[test]
    #[ignore = "external tools: cargo xtask test dist"]
    fn the_same_files_are_the_same_packages() {
        let table: Table = toml::from_str(include_str!("packages.toml")).unwrap();
        let make = |mode| {
            let work = tempfile::tempdir().unwrap();
            let sources = table.package.iter().flat_map(|package| &package.files);
            for from in sources
                .map(|(from, _)| from.as_str())
                .chain(["source/CHANGELOG.md"])
            {
                // A directory serves in place of a file.
                let file = work.path().join(from).join("file");
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, from).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            }
            let out = work.path().join("out");
            fs::create_dir(&out).unwrap();
            debian(work.path(), &version("", "0123456789abcdef"), &out).unwrap();
            let mut files: Vec<_> = fs::read_dir(&out)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            files.sort();
            let read = |path: PathBuf| {
                (
                    path.file_name().unwrap().to_owned(),
                    fs::read(path).unwrap(),
                )
            };
            files.into_iter().map(read).collect::<Vec<_>>()
        };
        let first = make(0o644);
        assert_eq!(first.len(), table.package.len());
        // Archives have times in seconds.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert!(first == make(0o600));
    }
}
