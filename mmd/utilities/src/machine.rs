//! The computer: its files, the commands that are run on it, its PCI functions.

use crate::{Failure, Result};
use peerlane_host::peerlane_core::board::SUBDEVICE;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs commands.
pub trait Commands {
    /// Runs a program of the `PATH`, or of the administrator's directories, to its end.
    ///
    /// # Errors
    /// The program does not exist, or its output when it failed.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Stopped>;
}

/// The reason why a command has done nothing, or not all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// There is no such program.
    Absent,
    /// The command's output.
    Failed(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("it is neither on the PATH nor in /usr/sbin or /sbin"),
            Self::Failed(said) => f.write_str(said),
        }
    }
}

/// Directories in which Debian has tools of the administrator's. They are not on the `PATH` of users, nor on one that a
/// user keeps with `sudo`.
const ADMINISTRATOR: [&str; 2] = ["/usr/sbin", "/sbin"];

/// Runs commands on this computer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shell;

impl Commands for Shell {
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Stopped> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let file = tool(program, &path).ok_or(Stopped::Absent)?;
        let output = Command::new(file).args(arguments).output();
        let output = output.map_err(|error| Stopped::Failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Stopped::Failed(match said.trim() {
            "" => output.status.to_string(),
            said => said.replace('\n', "; "),
        }))
    }
}

/// Finds a program, on this `PATH` or in the administrator's directories.
fn tool(program: &str, path: &OsStr) -> Option<PathBuf> {
    let places = std::env::split_paths(path).chain(ADMINISTRATOR.map(PathBuf::from));
    let mut files = places.map(|place| place.join(program));
    files.find(|file| file.is_file())
}

/// A computer.
pub struct Machine {
    root: PathBuf,
    commands: Option<Box<dyn Commands>>,
}

/// A PCI function, as sysfs has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its place on the bus.
    pub slot: String,
    pub vendor: u32,
    pub device: u32,
    /// Base class, subclass and programming interface.
    pub class: u32,
    /// The driver that is bound to it.
    pub driver: Option<String>,
}

impl Machine {
    /// Returns this computer.
    pub fn here() -> Self {
        Self::new("/", Some(Box::new(Shell)))
    }

    /// Returns the files below a directory, for example of a package that is being made. No command is run for them.
    pub fn tree(root: impl Into<PathBuf>) -> Self {
        Self::new(root, None)
    }

    /// Returns a computer with its files below `root`. Without `commands` it does not run.
    pub fn new(root: impl Into<PathBuf>, commands: Option<Box<dyn Commands>>) -> Self {
        Self {
            root: root.into(),
            commands,
        }
    }

    /// Returns a file by its absolute path.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the place of a file that something on the computer names by its absolute path.
    pub(crate) fn named(&self, path: impl AsRef<Path>) -> PathBuf {
        match self.commands {
            Some(_) => path.as_ref().into(),
            None => self.path(path),
        }
    }

    /// Lists the boards that the driver shows.
    pub(crate) fn boards(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("/sys/class/misc"));
        let names = entries.into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut boards: Vec<String> = names
            .filter(|name| {
                let number = name.strip_prefix("peerlane");
                number.is_some_and(|number| number.parse::<u32>().is_ok())
            })
            .collect();
        boards.sort();
        boards
    }

    /// Returns the commands. `None`: the computer does not run, so no command can be run on it.
    pub(crate) fn commands(&self) -> Option<&dyn Commands> {
        self.commands.as_deref()
    }

    /// Whether the kernel driver is loaded.
    pub(crate) fn has_driver(&self) -> bool {
        self.path("/sys/module/peerlane").is_dir()
    }

    /// Whether programs drive a board without the kernel driver: one with the subsystem of extended boards is bound to
    /// vfio-pci.
    pub(crate) fn has_board_by_vfio(&self) -> bool {
        let entries = std::fs::read_dir(self.path("/sys/bus/pci/drivers/vfio-pci"));
        let mut entries = entries.into_iter().flatten().flatten();
        entries.any(|entry| {
            self.line(&entry.path().join("subsystem_device")) == Some(format!("{SUBDEVICE:#06x}"))
        })
    }

    /// Returns the first line of a file; `None`: it cannot be read.
    fn line(&self, path: &Path) -> Option<String> {
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.lines().next()?.trim().to_string())
    }

    /// Returns the place on the bus of the board of a name.
    pub(crate) fn slot(&self, board: &str) -> Option<String> {
        let device = self.path(format!("/sys/class/misc/{board}/device"));
        let target = std::fs::read_link(device).ok()?;
        Some(target.file_name()?.to_str()?.to_string())
    }

    /// Returns the driver's information about a board (`docs/operate/driver.md`, "Sysfs").
    pub(crate) fn says(&self, board: &str, file: &str) -> Option<String> {
        let slot = self.slot(board)?;
        let directory = self.path(format!("/sys/bus/pci/devices/{slot}/peerlane"));
        self.line(&directory.join(file))
    }

    /// Returns the configuration space of a board's function: all of it for the administrator, else 64 bytes.
    pub(crate) fn configuration(&self, board: &str) -> Option<Vec<u8>> {
        let slot = self.slot(board)?;
        std::fs::read(self.path(format!("/sys/bus/pci/devices/{slot}/config"))).ok()
    }

    /// Lists all PCI functions, by their slots.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let directory = self.path("/sys/bus/pci/devices");
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut found: Vec<Function> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let number = |file: &str| {
                    let text = self.line(&path.join(file))?;
                    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
                };
                let driver = std::fs::read_link(path.join("driver")).ok();
                let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_string()));
                Some(Function {
                    slot: entry.file_name().to_str()?.to_string(),
                    vendor: number("vendor")?,
                    device: number("device")?,
                    class: number("class")?,
                    driver,
                })
            })
            .collect();
        found.sort_by(|one, other| one.slot.cmp(&other.slot));
        found
    }
}

/// Refuses a directory in which this process may not make files; for a directory that does not exist yet, this checks
/// the one that it will be made in.
pub(crate) fn check_rights(directory: &Path) -> Result<()> {
    let place = directory.ancestors().find(|path| path.exists());
    let place = place.unwrap_or(Path::new("/"));
    let told = |why: &str| {
        Failure::new(
            format!("cannot write into {}: {why}", place.display()),
            "Run it as root (sudo -E keeps the variables that aocl needs), or name a directory of your own with \
             --fcd-only --fcd-dir DIR.",
        )
    };
    if !place.is_dir() {
        return Err(told("it is not a directory"));
    }
    let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(place, rights).map_err(|error| told(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_administrators_tools_are_found_without_their_directory() {
        let path = OsStr::new("/usr/local/bin:/nowhere");
        assert_eq!(tool("peerlane-no-such-tool", path), None);
        // Each Debian has the program that makes the dynamic linker's cache.
        let found = tool("ldconfig", path).expect("ldconfig, in /usr/sbin or /sbin");
        assert!(ADMINISTRATOR.iter().any(|place| found.starts_with(place)));
        assert_eq!(tool("sh", OsStr::new("/bin")), Some("/bin/sh".into()));
    }
}
