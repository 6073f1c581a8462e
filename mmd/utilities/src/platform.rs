//! The platform that the utilities belong to.

use crate::{Failure, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::path::{Path, PathBuf};

/// The system that the runtime's part is for.
const LINUX: &str = "linux64";
/// File that only an extended platform has: the list of changes to the vendor's files (`bsp/platform/src/kept.rs`).
const RECORD: &str = "peerlane/files.json";
/// The library if the description of the platform does not name one, as those before 15.1 do not.
const LIBRARY: &str = "%b/linux64/lib/libpeerlane_mmd.so";

/// A platform for `aoc` that `peerlane extend` wrote.
#[derive(Debug, Clone)]
pub struct Platform {
    /// Its directory: absolute.
    pub root: PathBuf,
    /// Its name.
    pub name: String,
    /// The version of the SDK that it is for, if it has one.
    pub version: Option<String>,
    /// The libraries that the OpenCL runtime loads for its boards.
    pub libraries: Vec<PathBuf>,
    /// Its utilities' directory.
    pub utilities: Option<PathBuf>,
    /// Directories of its boards.
    pub boards: Vec<PathBuf>,
}

impl Platform {
    /// Reads the description of an extended platform, `board_env.xml`.
    ///
    /// # Errors
    /// A part that is missing or wrong; a platform that `peerlane extend` has not written.
    pub fn read(root: &Path) -> Result<Self> {
        let platform = Self::described(root)?;
        match platform.root.join(RECORD).is_file() {
            true => Ok(platform),
            false => Err(Failure::new(
                format!(
                    "{}: not a platform that `peerlane extend` wrote: {RECORD} is missing",
                    platform.root.display()
                ),
                "Name the platform that it wrote with --platform or AOCL_BOARD_PACKAGE_ROOT, which may still name the \
                 vendor's platform.",
            )),
        }
    }

    /// Reads the description of a platform of any origin.
    ///
    /// # Errors
    /// A part that is missing or wrong.
    pub(crate) fn described(root: &Path) -> Result<Self> {
        let again = "Name the directory that `peerlane extend` wrote by --platform, or extend the BSP again.";
        let root = std::fs::canonicalize(root)
            .map_err(|error| Failure::new(format!("{}: {error}", root.display()), again))?;
        let file = root.join("board_env.xml");
        let bad = |what: String| Failure::new(format!("{}: {what}", file.display()), again);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| bad(format!("cannot be read: {error}")))?;
        let told = told(&text).map_err(&bad)?;
        let plain = |name: &String| {
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\n', '\0'])
        };
        let name = told.name.filter(plain);
        let name =
            name.ok_or_else(|| bad("the platform has no name that is possible for a file".into()))?;
        let place = |path: &str| PathBuf::from(path.replace("%b", &root.to_string_lossy()));
        // The SDK takes several libraries, with commas between them.
        let libraries = told.libraries.unwrap_or_else(|| LIBRARY.into());
        let libraries = libraries
            .split(',')
            .map(|path| place(path.trim()))
            .collect();
        let hardware = root.join(told.hardware.as_deref().unwrap_or("hardware"));
        let entries = std::fs::read_dir(&hardware).into_iter().flatten().flatten();
        let mut boards: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        boards.retain(|path| path.join("board_spec.xml").is_file());
        boards.sort();
        Ok(Self {
            name,
            version: told.version,
            libraries,
            utilities: told.utilities.map(|path| place(&path)),
            boards,
            root,
        })
    }

    /// Whether it is of a version whose kernels the open runtime does not take: before 14.1 (`docs/program/opencl.md`, "Which
    /// board with which runtime").
    pub(crate) fn is_for_closed_runtimes(&self) -> bool {
        self.number()
            .is_some_and(|number| number > 0.0 && number < 14.1)
    }

    /// Returns its version as a number.
    pub(crate) fn number(&self) -> Option<f64> {
        self.version.as_ref()?.trim().parse().ok()
    }

    /// Returns the names of its boards, which are those of their directories.
    pub(crate) fn board_names(&self) -> Vec<String> {
        let names = self.boards.iter().filter_map(|path| path.file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

/// Contents of `board_env.xml`, as far as the utilities need them (683398, 1.4.2.1).
#[derive(Default)]
struct Told {
    name: Option<String>,
    version: Option<String>,
    hardware: Option<String>,
    libraries: Option<String>,
    utilities: Option<String>,
}

fn told(text: &str) -> Result<Told, String> {
    let attribute = |element: &BytesStart<'_>, name: &str| {
        let attribute = element.try_get_attribute(name).map_err(|e| e.to_string())?;
        let value = attribute.map(|attribute| attribute.unescape_value());
        let value = value.transpose().map_err(|e| e.to_string())?;
        Ok::<_, String>(value.map(|value| value.into_owned()))
    };
    let mut reader = Reader::from_str(text);
    let mut told = Told::default();
    let mut open: Vec<String> = Vec::new();
    let mut linux = false;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let ends = matches!(event, Event::Empty(_));
        match event {
            Event::Start(element) | Event::Empty(element) => {
                let tag = String::from_utf8_lossy(element.name().as_ref()).into_owned();
                match tag.as_str() {
                    "board_env" if open.is_empty() => {
                        told.name = attribute(&element, "name")?;
                        told.version = attribute(&element, "version")?;
                    }
                    "hardware" => told.hardware = attribute(&element, "dir")?,
                    "platform" => linux = attribute(&element, "name")?.as_deref() == Some(LINUX),
                    _ => {}
                }
                if !ends {
                    open.push(tag);
                }
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) if linux => {
                let text = text.decode().map_err(|error| error.to_string())?;
                let text = quick_xml::escape::unescape(&text).map_err(|error| error.to_string())?;
                match open.last().map(String::as_str) {
                    Some("mmdlib") => told.libraries = Some(text.trim().into()),
                    Some("utilbindir") => told.utilities = Some(text.trim().into()),
                    _ => {}
                }
            }
            Event::Eof => return Ok(told),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> (tempfile::TempDir, Result<Platform>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("board_env.xml"), text).unwrap();
        let board = dir.path().join("hardware/toy_peerlane");
        std::fs::create_dir_all(&board).unwrap();
        std::fs::create_dir_all(dir.path().join("hardware/common")).unwrap();
        std::fs::write(board.join("board_spec.xml"), "").unwrap();
        std::fs::create_dir_all(dir.path().join("peerlane")).unwrap();
        std::fs::write(dir.path().join(RECORD), "").unwrap();
        let platform = Platform::read(dir.path());
        (dir, platform)
    }

    #[test]
    fn the_description_of_linux_is_read() {
        let (dir, platform) = platform(
            "<board_env version=\"17.1\" name=\"toy &amp; co\"><hardware dir=\"hardware\" default=\"x\"/>\
             <platform name=\"windows64\"><mmdlib>%b/w.dll</mmdlib></platform>\
             <platform name=\"linux64\"><mmdlib> %b/a.so,%b/b.so </mmdlib><linklibs/>\
             <utilbindir>%b/linux64/libexec</utilbindir></platform></board_env>",
        );
        let platform = platform.unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        assert_eq!(platform.name, "toy & co");
        assert_eq!(platform.version.as_deref(), Some("17.1"));
        assert!(!platform.is_for_closed_runtimes());
        assert_eq!(platform.libraries, [root.join("a.so"), root.join("b.so")]);
        assert_eq!(platform.utilities, Some(root.join("linux64/libexec")));
        assert_eq!(platform.board_names(), ["toy_peerlane"]);
    }

    #[test]
    fn an_old_description_names_no_library() {
        let (_dir, platform) = platform("<board_env version=\"13.1\" name=\"toy\"/>");
        let platform = platform.unwrap();
        let library = platform.root.join("linux64/lib/libpeerlane_mmd.so");
        assert_eq!(platform.libraries, [library]);
        assert!(platform.is_for_closed_runtimes());
    }

    #[test]
    fn what_is_no_platform_is_named() {
        for (text, words) in [
            (
                "<board_env name=\"a/b\"/>",
                "no name that is possible for a file",
            ),
            ("<board_env/>", "no name"),
            ("<board_env name=\"x\"></wrong>", "board_env.xml: "),
            ("", "no name"),
        ] {
            let error = platform(text).1.unwrap_err().to_string();
            assert!(
                error.contains(words) && error.contains("--platform"),
                "{error}"
            );
        }
        let (dir, platform) = platform("<board_env name=\"x\"/>");
        platform.unwrap();
        std::fs::remove_file(dir.path().join(RECORD)).unwrap();
        let error = Platform::read(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("not a platform that `peerlane extend` wrote"),
            "{error}"
        );
        assert!(error.contains("AOCL_BOARD_PACKAGE_ROOT"), "{error}");
        let error = Platform::read(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all: "), "{error}");
    }
}
