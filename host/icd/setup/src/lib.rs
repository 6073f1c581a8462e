//! The places where the driver `libpeerlane_icd.so` is installed, and a check that it works there: the library of
//! `peerlane icd`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

/// The driver's file.
pub const LIBRARY: &str = "libpeerlane_icd.so";
/// The dynamic linker, which runs the driver to try the vendor library (System V ABI for AMD64,
/// "Program Interpreter").
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
/// Bytes that the driver's file alone has: the name of a function of its own.
const MARK: &[u8] = b"\0peerlane_icd_live\0";
/// Variables that make programs use other files than the installed ones: those of OpenCL's loaders, and of the driver.
const ELSEWHERE: [&str; 7] = [
    "OCL_ICD_VENDORS",
    "OCL_ICD_FILENAMES",
    "OPENCL_VENDOR_PATH",
    "PEERLANE_ICD_CONFIG",
    "PEERLANE_ICD_VENDOR",
    "PEERLANE_ICD_HELPERS",
    "PEERLANE_ICD_PROBE",
];
/// Limit of the vendor library's time, as in the driver: a library that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);
/// Bytes that are read of the driver's line.
const LINE: u64 = 64 << 10;

/// A step that failed.
#[derive(Debug, Error)]
pub enum Failed {
    /// A file could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file that was given as the driver is another file.
    #[error("{} is not {LIBRARY}", path.display())]
    NoDriver {
        /// The file.
        path: PathBuf,
    },
    /// A path cannot stand in the file of settings.
    #[error("{path:?} cannot be written into a file of settings: it is not text of one line")]
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

/// Libraries that the driver is to load.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The vendor library; `None` leaves it to the driver.
    pub vendor: Option<PathBuf>,
    /// Libraries that are loaded before it, in this order.
    pub helpers: Vec<PathBuf>,
}

/// Result of a check: lines of text, and whether the driver works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The lines.
    pub lines: Vec<String>,
    /// The reason why there is no platform.
    pub fault: Option<String>,
}

impl Places {
    /// Returns the places below a directory: `/` for this machine.
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Returns the path of the driver.
    pub fn library(&self) -> PathBuf {
        self.root.join("usr/local/lib/peerlane").join(LIBRARY)
    }

    /// Returns the path of the file that OpenCL's loaders read.
    pub fn icd(&self) -> PathBuf {
        self.root.join("etc/OpenCL/vendors/peerlane.icd")
    }

    /// Returns the path of the file that the driver reads.
    pub fn settings(&self) -> PathBuf {
        self.root.join("etc/peerlane/icd.toml")
    }

    /// Installs the driver from the file `library`. Existing settings stay, unless there are new ones. Returns the
    /// files that were written.
    ///
    /// # Errors
    /// If a file cannot be read or written, or `library` is not the driver. The file for loaders is the last one.
    pub fn install(&self, library: &Path, settings: &Settings) -> Result<Vec<PathBuf>, Failed> {
        let mut written = Vec::new();
        // Before anything is written.
        let text = settings.text()?;
        let bytes = fs::read(library).map_err(Failed::io("read", library))?;
        if !bytes.windows(MARK.len()).any(|part| part == MARK) {
            return Err(Failed::NoDriver {
                path: library.to_owned(),
            });
        }
        let to = self.library();
        write(&to, &bytes, 0o755)?;
        written.push(to);
        if settings.vendor.is_some() || !settings.helpers.is_empty() {
            let file = self.settings();
            write(&file, text.as_bytes(), 0o644)?;
            written.push(file);
        }
        // The path as a program sees it, in every place of the installation.
        let seen = Self::below(Path::new("/")).library();
        let icd = self.icd();
        write(&icd, format!("{}\n", seen.display()).as_bytes(), 0o644)?;
        written.push(icd);
        Ok(written)
    }

    /// Removes the driver and the loaders' file; the settings stay. Returns the files that were removed.
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

    /// Checks whether loaders find the driver, and whether the driver finds a platform. The vendor library is tried in
    /// a process of its own.
    pub fn check(&self) -> Report {
        self.check_within(LIMIT)
    }

    /// Does the work of [`check`](Self::check) with a limit for the vendor library.
    pub fn check_within(&self, limit: Duration) -> Report {
        let mut lines = Vec::new();
        let fault = self
            .found(&mut lines)
            .and_then(|driver| tried(&driver, &self.settings(), &mut lines, limit))
            .err();
        lines.extend(elsewhere(|name| env::var_os(name)));
        Report { lines, fault }
    }

    /// Returns the driver that loaders find.
    fn found(&self, lines: &mut Vec<String>) -> Result<PathBuf, String> {
        let icd = self.icd();
        let named = fs::read_to_string(&icd).map_err(|error| {
            let why = format!(
                "OpenCL's loaders do not know the driver: {}: {error}",
                icd.display()
            );
            match error.kind() {
                io::ErrorKind::NotFound => format!("{why}; `peerlane icd install` installs it"),
                _ => why,
            }
        })?;
        lines.push(format!("{} names {}", icd.display(), named.trim()));
        let named = named.trim().trim_start_matches('/');
        let driver = self.root.join(named);
        match driver.is_file() {
            true => Ok(driver),
            false => Err(format!("there is no file /{named}")),
        }
    }
}

/// Lists the variables that make programs started from here use other files than the installed ones.
fn elsewhere(variable: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let line = |name| {
        format!("{name} is set here: programs started from here use it, and this check does not")
    };
    ELSEWHERE.into_iter().filter(set).map(line).collect()
}

/// Runs a driver that tries its vendor library in a process of its own.
fn tried(
    driver: &Path,
    settings: &Path,
    lines: &mut Vec<String>,
    limit: Duration,
) -> Result<(), String> {
    let mut command = Command::new(LINKER);
    command.arg(driver).env("PEERLANE_ICD_PROBING", "1");
    // The installed settings are checked, not those of this process.
    for name in ["CONFIG", "VENDOR", "HELPERS", "PROBE"] {
        command.env_remove(format!("PEERLANE_ICD_{name}"));
    }
    match settings.exists() {
        true => {
            lines.push(format!(
                "{} names the libraries that it loads",
                settings.display()
            ));
            command.env("PEERLANE_ICD_CONFIG", settings);
        }
        false => lines.push(format!("{} is not there", settings.display())),
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot run {LINKER}: {error}"))?;
    // Read during the wait, so that the pipe is never full.
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(output) = output {
            let _ = output.take(LINE).read_to_end(&mut said);
        }
        said
    });
    let status = within(&mut child, limit).ok_or_else(|| {
        let seconds = limit.as_secs();
        format!("the vendor library did not answer within {seconds} s")
    })?;
    let said = reader.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    match (&*said, status.signal()) {
        ("sound", _) => {
            lines.push("the vendor library has a platform".to_owned());
            Ok(())
        }
        ("", Some(signal)) => Err(format!("the vendor library crashed (signal {signal})")),
        ("", None) => Err("the vendor library ended the process that tried it".to_owned()),
        (why, _) => Err(why.to_owned()),
    }
}

/// Waits for a process. After the limit it ends the process and returns `None`.
fn within(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

impl Settings {
    /// Returns the text of the file that the driver reads.
    fn text(&self) -> Result<String, Failed> {
        let mut text =
            "# Libraries of libpeerlane_icd.so; written by `peerlane icd install`.\n".to_owned();
        if let Some(vendor) = &self.vendor {
            text.push_str(&format!("vendor = {}\n", quoted(vendor)?));
        }
        let helpers: Result<Vec<_>, _> = self.helpers.iter().map(|helper| quoted(helper)).collect();
        text.push_str(&format!("helpers = [{}]\n", helpers?.join(", ")));
        Ok(text)
    }
}

/// Writes a path as a basic string of TOML. A path with a `/` becomes an absolute one, because programs run in any
/// directory; a plain name is for the dynamic linker to look for.
fn quoted(path: &Path) -> Result<String, Failed> {
    let whole = match path.components().count() {
        0 | 1 => path.to_owned(),
        _ => std::path::absolute(path).map_err(Failed::io("find", path))?,
    };
    let text = whole
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| Failed::Path {
        path: path.to_owned(),
    })?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// Writes a temporary file next to the target and renames it: a program that runs keeps the library that it has.
fn write(file: &Path, bytes: &[u8], mode: u32) -> Result<(), Failed> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    make(directory).map_err(Failed::io("create", directory))?;
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    fs::write(&new, bytes)
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&new, file))
        .map_err(Failed::io("write", file))
}

/// Makes a directory and its parents. All users may read them, independently of the umask.
///
/// # Errors
/// Those of the system.
pub fn make(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(above) = directory.parent() {
        make(above)?;
    }
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        made => {
            made.and_then(|()| fs::set_permissions(directory, fs::Permissions::from_mode(0o755)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_removed_but_for_the_settings() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::below(root.path());
        let library = root.path().join("built.so");
        fs::write(&library, MARK).unwrap();
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
        // A second installation without settings leaves the existing ones.
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
        // If a path cannot be written whole, nothing is written.
        let other = Places::below(&root.path().join("other"));
        let library = root.path().join("built.so");
        fs::write(&library, MARK).unwrap();
        assert!(matches!(
            other.install(&library, &line),
            Err(Failed::Path { .. })
        ));
        assert!(!root.path().join("other").exists());
    }

    #[test]
    fn another_library_is_not_taken_for_the_driver() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::below(&root.path().join("system"));
        let library = root.path().join("libalteracl.so");
        fs::write(&library, "library").unwrap();
        let failed = places.install(&library, &Settings::default());
        assert!(matches!(failed, Err(Failed::NoDriver { path }) if path == library));
        assert!(!places.library().exists() && !places.icd().exists());
    }

    #[test]
    fn what_programs_go_by_instead_is_said() {
        let set = |name: &str| match name {
            "OCL_ICD_VENDORS" => Some("/elsewhere".into()),
            "PEERLANE_ICD_VENDOR" => Some("".into()),
            _ => None,
        };
        let lines = elsewhere(set);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("OCL_ICD_VENDORS is set here"),
            "{lines:?}"
        );
    }

    #[test]
    fn programs_run_anywhere() {
        let settings = Settings {
            vendor: Some("lib/libalteracl.so".into()),
            helpers: vec!["libmine_mmd.so".into()],
        };
        let here = std::env::current_dir().unwrap();
        let whole = here.join("lib/libalteracl.so");
        let text = settings.text().unwrap();
        assert!(
            text.contains(&format!("vendor = \"{}\"\n", whole.display())),
            "{text}"
        );
        assert!(text.contains("helpers = [\"libmine_mmd.so\"]\n"), "{text}");
    }
}
