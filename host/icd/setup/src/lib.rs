//! Where the driver `libpeerlane_icd.so` is installed, and whether it works there: what
//! `peerlane icd` does.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

/// The driver's file.
pub const LIBRARY: &str = "libpeerlane_icd.so";
/// The dynamic linker, which runs the driver to try the vendor library (System V ABI for AMD64,
/// "Program Interpreter").
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";

/// A step that failed.
#[derive(Debug, Error)]
pub enum Failed {
    /// A file could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path cannot stand in the file of settings.
    #[error("{path:?} cannot be written into a file of settings: it is no text of one line")]
    Path {
        /// The path.
        path: PathBuf,
    },
}

impl Failed {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

/// Where files are installed.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
}

/// What the driver is to load.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The vendor library; `None` leaves it to the driver.
    pub vendor: Option<PathBuf>,
    /// Libraries that are loaded before it, in this order.
    pub helpers: Vec<PathBuf>,
}

/// What a check has found: a line each, and whether the driver works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What there is.
    pub lines: Vec<String>,
    /// Why there is no platform.
    pub fault: Option<String>,
}

impl Places {
    /// Below a directory: `/` for this machine.
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The driver.
    pub fn library(&self) -> PathBuf {
        self.root.join("usr/local/lib/peerlane").join(LIBRARY)
    }

    /// What OpenCL's loaders read of it.
    pub fn icd(&self) -> PathBuf {
        self.root.join("etc/OpenCL/vendors/peerlane.icd")
    }

    /// What the driver reads.
    pub fn settings(&self) -> PathBuf {
        self.root.join("etc/peerlane/icd.toml")
    }

    /// Installs the driver from the file `library`. Settings that are there stay, unless there are new
    /// ones. Gives what was written.
    ///
    /// # Errors
    /// If a file cannot be read or written. The file for loaders is the last one.
    pub fn install(&self, library: &Path, settings: &Settings) -> Result<Vec<PathBuf>, Failed> {
        let mut written = Vec::new();
        let bytes = fs::read(library).map_err(Failed::io("read", library))?;
        let to = self.library();
        write(&to, &bytes, 0o755)?;
        written.push(to);
        if settings.vendor.is_some() || !settings.helpers.is_empty() {
            let file = self.settings();
            write(&file, settings.text()?.as_bytes(), 0o644)?;
            written.push(file);
        }
        // As a program sees it, whatever it is installed below.
        let seen = Self::below(Path::new("/")).library();
        let icd = self.icd();
        write(&icd, format!("{}\n", seen.display()).as_bytes(), 0o644)?;
        written.push(icd);
        Ok(written)
    }

    /// Takes driver and file for loaders away; the settings stay. Gives what was removed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn uninstall(&self) -> Result<Vec<PathBuf>, Failed> {
        let mut removed = Vec::new();
        for file in [self.icd(), self.library()] {
            match fs::remove_file(&file) {
                Ok(()) => removed.push(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failed::io("remove", &file)(error)),
            }
        }
        Ok(removed)
    }

    /// Whether loaders find the driver, and whether that finds a platform. The vendor library is tried
    /// in a process of its own.
    pub fn check(&self) -> Report {
        let mut lines = Vec::new();
        let fault = self
            .found(&mut lines)
            .and_then(|()| self.tried(&mut lines))
            .err();
        Report { lines, fault }
    }

    fn found(&self, lines: &mut Vec<String>) -> Result<(), String> {
        let icd = self.icd();
        let named = fs::read_to_string(&icd).map_err(|error| {
            format!(
                "OpenCL's loaders do not know it: {}: {error}",
                icd.display()
            )
        })?;
        lines.push(format!("{} names {}", icd.display(), named.trim()));
        let named = named.trim().trim_start_matches('/');
        match self.root.join(named).is_file() {
            true => Ok(()),
            false => Err(format!("there is no file /{named}")),
        }
    }

    fn tried(&self, lines: &mut Vec<String>) -> Result<(), String> {
        let settings = self.settings();
        let mut command = Command::new(LINKER);
        command.arg(self.library()).env("PEERLANE_ICD_PROBING", "1");
        match settings.exists() {
            true => {
                lines.push(format!("{} says what it loads", settings.display()));
                command.env("PEERLANE_ICD_CONFIG", &settings);
            }
            false => lines.push(format!("{} is not there", settings.display())),
        }
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run {LINKER}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        match (&*said, output.status.signal()) {
            ("sound", _) => {
                lines.push("the vendor library has a platform".to_owned());
                Ok(())
            }
            ("", Some(signal)) => Err(format!("the vendor library crashed (signal {signal})")),
            ("", None) => Err("the vendor library ended the process that tried it".to_owned()),
            (why, _) => Err(why.to_owned()),
        }
    }
}

impl Settings {
    /// The text of the file that the driver reads.
    fn text(&self) -> Result<String, Failed> {
        let mut text =
            "# What libpeerlane_icd.so loads; written by `peerlane icd install`.\n".to_owned();
        if let Some(vendor) = &self.vendor {
            text.push_str(&format!("vendor = {}\n", quoted(vendor)?));
        }
        let helpers: Result<Vec<_>, _> = self.helpers.iter().map(|helper| quoted(helper)).collect();
        text.push_str(&format!("helpers = [{}]\n", helpers?.join(", ")));
        Ok(text)
    }
}

/// A path as TOML writes a basic string.
fn quoted(path: &Path) -> Result<String, Failed> {
    let text = path
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| Failed::Path {
        path: path.to_owned(),
    })?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// Writes beside the file and renames: a program that runs keeps the library that it has.
fn write(file: &Path, bytes: &[u8], mode: u32) -> Result<(), Failed> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(Failed::io("create", directory))?;
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    fs::write(&new, bytes)
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&new, file))
        .map_err(Failed::io("write", file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_removed_but_for_the_settings() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::below(root.path());
        let library = root.path().join("built.so");
        fs::write(&library, "library").unwrap();
        let settings = Settings {
            vendor: Some("/a/lib \"x\".so".into()),
            helpers: vec!["/a/one.so".into(), "two.so".into()],
        };
        let written = places.install(&library, &settings).unwrap();
        assert_eq!(written, [places.library(), places.settings(), places.icd()]);
        let read = |file: PathBuf| fs::read_to_string(file).unwrap();
        assert_eq!(
            read(places.icd()),
            "/usr/local/lib/peerlane/libpeerlane_icd.so\n"
        );
        let text = read(places.settings());
        assert!(
            text.contains("vendor = \"/a/lib \\\"x\\\".so\"\n"),
            "{text}"
        );
        assert!(
            text.contains("helpers = [\"/a/one.so\", \"two.so\"]\n"),
            "{text}"
        );
        let mode = fs::metadata(places.library()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        // Again, without settings: those that are there stay.
        let written = places.install(&library, &Settings::default()).unwrap();
        assert_eq!(written, [places.library(), places.icd()]);
        assert_eq!(read(places.settings()), text);
        assert_eq!(
            places.uninstall().unwrap(),
            [places.icd(), places.library()]
        );
        assert_eq!(read(places.settings()), text);
        assert!(places.uninstall().unwrap().is_empty());
    }

    #[test]
    fn what_is_missing_is_said() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::below(root.path());
        let fault = places.check().fault.unwrap();
        assert!(fault.contains("peerlane.icd"), "{fault}");
        assert!(
            places
                .install(&root.path().join("none.so"), &Settings::default())
                .is_err()
        );
        assert!(!places.icd().exists());
        write(
            &places.icd(),
            b"/usr/local/lib/peerlane/libpeerlane_icd.so\n",
            0o644,
        )
        .unwrap();
        let fault = places.check().fault.unwrap();
        assert!(
            fault.contains("/usr/local/lib/peerlane/libpeerlane_icd.so"),
            "{fault}"
        );
        let line = Settings {
            vendor: Some("/a\nb".into()),
            ..Settings::default()
        };
        assert!(matches!(line.text(), Err(Failed::Path { .. })));
    }
}
