//! The platform around the board, as `aoc` selects it: `board_env.xml`, the board's directory, the utilities that
//! `aocl` runs, and places for the files of the OpenCL runtime.
//!
//! `board_env.xml` names the MMD library, the linker options of programs, and the directory of `install`, `diagnose`
//! and other utilities (Custom Platform Toolkit user guide 683398, 1.4.2.1; `%b` is the platform). The vendor's files
//! would install a driver for a DMA that is gone, so they are set aside, and Peerlane's names replace theirs.

use std::path::{Component, Path, PathBuf};

use askama::Template;

use crate::identity::Name;
use crate::step::{Change, Step, Written};
use crate::version::Version;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::kept;
use peerlane_bsp_platform::layout::{Layout, boards_directory};
use peerlane_bsp_platform::text::render;
use peerlane_bsp_platform::xml::{Document, Edits, Element, escape};

/// The description of a platform.
pub(crate) const ENVIRONMENT: &str = "board_env.xml";
/// The name in `board_env.xml` of the system that the driver is for, and the directory of its programs.
const LINUX: &str = "linux64";
/// The name of the MMD library: `lib….so`, and as the linker gets it.
const MMD: &str = "peerlane_mmd";
/// The library of the SDK by which old runtimes reach an MMD. It is linked together with the MMD.
const HAL: &str = "-lalterahalmmd";
/// The header of the library's own functions, in addition to those of the runtime.
const EXTENSION: &str = include_str!("../../../mmd/include/peerlane_ext.h");
/// The utilities (683398, 1.4.5), each with the command of Peerlane's program that implements it. For platforms before
/// 14.1 the SDK has other names for two of them (its `acl/Command.pm`, 17.1).
const UTILITIES: [(&str, &str); 7] = [
    ("install", "install"),
    ("uninstall", "uninstall"),
    ("diagnose", "diagnose"),
    ("diagnostic", "diagnose"),
    ("program", "program"),
    ("reprogram", "program"),
    ("flash", "flash"),
];
/// The platform to write around the board.
#[derive(Debug)]
pub(crate) struct Platform {
    /// The vendor's description, in the BSP or around it.
    vendor: Option<Document>,
    /// Whether that description is in the BSP, and is replaced.
    inside: bool,
    /// Directory of the boards.
    pub boards: PathBuf,
    /// Names of the platform's other boards.
    others: Vec<String>,
}

#[derive(Template)]
#[template(path = "board_env.xml", escape = "none")]
struct Environment<'a> {
    version: String,
    name: String,
    boards: String,
    board: String,
    mmd: &'a str,
}

#[derive(Template)]
#[template(path = "runtime_lib.md")]
struct Libraries<'a> {
    mmd: &'a str,
}

#[derive(Template)]
#[template(path = "runtime_libexec.md")]
struct Utilities<'a> {
    all: &'a [(&'a str, &'a str)],
}

#[derive(Template)]
#[template(path = "utility.sh", escape = "none")]
struct Utility<'a> {
    name: &'a str,
    command: &'a str,
}

impl Platform {
    /// Finds the platform that a BSP is, or that its board's directory lies in.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`], [`ErrorKind::Io`].
    pub(crate) fn of(layout: &Layout) -> Result<Self> {
        let inside = !layout.hardware.as_os_str().is_empty();
        let root = match inside {
            true => Some(layout.root.clone()),
            false => around(&layout.root),
        };
        let file = root.as_ref().map(|root| root.join(ENVIRONMENT));
        let file = file.filter(|file| file.is_file());
        let vendor = file.as_deref().map(read).transpose()?;
        let others = match (inside, &root) {
            (false, Some(root)) => {
                let hardware = layout.root.strip_prefix(root).unwrap_or(&layout.root);
                let around = Layout {
                    root: root.clone(),
                    hardware: hardware.to_path_buf(),
                };
                around.other_boards()
            }
            _ => layout.other_boards(),
        };
        let name = |board: &PathBuf| Some(board.file_name()?.to_string_lossy().into_owned());
        let others = others.iter().filter_map(name).collect();
        let boards = match (inside, root) {
            (true, _) => layout.hardware.parent().map(Path::to_path_buf),
            (false, root) => root.map(|root| boards_directory(&root)),
        };
        Ok(Self {
            inside: inside && vendor.is_some(),
            vendor,
            others,
            boards: boards.unwrap_or_else(|| "hardware".into()),
        })
    }

    /// Refuses a BSP that has a file where the platform must have another.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`].
    pub(crate) fn refuse_taken(&self, layout: &Layout, name: &Name) -> Result<()> {
        if layout.hardware.as_os_str().is_empty() {
            return Ok(());
        }
        let taken = [name.hardware.as_path(), Path::new(kept::DIR)];
        let taken = taken.iter().filter(|path| **path != layout.hardware);
        for path in taken.map(|path| layout.root.join(path)) {
            if std::fs::symlink_metadata(&path).is_ok() {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    Place::file(&path),
                    "the extended platform already has a file or directory of this name",
                    "Rename it, or name only the board's hardware directory. For a board's name, set another \
                     identity.board_suffix in the configuration.",
                ));
            }
        }
        Ok(())
    }

    /// Adds the platform's description, and the places for the runtime. Returns also the directories of the vendor's
    /// runtime, relative to the BSP, which are not copied.
    ///
    /// # Errors
    /// Those of [`Platform::environment`] and [`Step::replace`].
    pub(crate) fn step(
        &self,
        layout: &Layout,
        name: &Name,
        config: &Config,
    ) -> Result<(Step, Vec<PathBuf>)> {
        let mut step = Step::default();
        let (text, changes) = self.environment(layout, name, config)?;
        match self.replaced() {
            Some(path) => {
                step.changes = changes;
                step.replace(layout, path, text)?;
            }
            None => step.around.push(Written {
                path: ENVIRONMENT.into(),
                text,
            }),
        }
        step.around.extend(Self::places());
        step.to_do.extend(self.others(layout, name));
        let set_aside = self.set_aside(layout);
        if !set_aside.is_empty() {
            let all: Vec<_> = (set_aside.iter())
                .map(|path| path.display().to_string())
                .collect();
            step.notes.push(format!(
                "The vendor's runtime ({}) was set aside: its library and its utilities drive the old DMA, and \
                 `install` would load a driver for it. Peerlane's library goes to linux64/lib, peerlane-aocl to \
                 linux64/libexec; a README.md in each explains how to build them.",
                all.join(", ")
            ));
        }
        Ok((step, set_aside))
    }

    /// Returns the note on the platform's other boards, if it has any.
    pub(crate) fn others(&self, layout: &Layout, name: &Name) -> Option<String> {
        if self.others.is_empty() {
            return None;
        }
        let others = self.others.join(", ");
        Some(match layout.hardware.as_os_str().is_empty() {
            true => format!(
                "The platform that contains the board's directory has other boards ({others}), which are not in this \
                 platform. To include them, extend the whole platform with --board."
            ),
            false => format!(
                "The platform has other boards: {others}. They are kept unchanged, and `aoc` compiles for them. The \
                 runtime of this platform is only for {}: programs for the others need the vendor's platform.",
                name.new
            ),
        })
    }

    /// Returns the version of the SDK that the platform is for.
    ///
    /// # Errors
    /// Those of [`Version::of`].
    pub(crate) fn version(&self, layout: &Layout, asked: Option<&str>) -> Result<Version> {
        let described = self.vendor.as_ref();
        Version::of(
            layout,
            asked,
            described.map(|d| d.root.attribute("version")),
        )
    }

    /// Returns the text of `board_env.xml` and the changes to the vendor's file.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if two of the changes are to the same bytes; [`ErrorKind::Io`].
    pub(crate) fn environment(
        &self,
        layout: &Layout,
        name: &Name,
        config: &Config,
    ) -> Result<(String, Vec<Change>)> {
        let suffix = &config.identity.board_suffix;
        let Some(document) = &self.vendor else {
            let new = Environment {
                version: escape(&self.version(layout, config.sdk.as_deref())?.text),
                name: escape(&name.new),
                boards: escape(&self.boards.to_string_lossy()),
                board: escape(&name.new),
                mmd: MMD,
            };
            return Ok((render(&new), Vec::new()));
        };
        self.refuse_elsewhere(document)?;
        let mut edits = Edits::default();
        let mut changes = Vec::new();
        let root = &document.root;
        let platform = root
            .attribute_at("name")
            .map(|name| (name, format!("{}{suffix}", name.value)));
        let hardware = root
            .children("hardware")
            .find_map(|h| h.attribute_at("default"));
        let board = hardware.map(|default| (default, name.new.clone()));
        for (attribute, to) in platform.into_iter().chain(board) {
            if attribute.value != to {
                edits.replace(attribute.span.clone(), escape(&to));
                changes.push(Change {
                    file: document.path.clone(),
                    what: format!("{} {} → {to}", attribute.name, attribute.value),
                    why: "a separate platform for aoc, in addition to the vendor's".into(),
                });
            }
        }
        for (what, edit) in Self::runtime(document) {
            if !edit.1.is_empty() {
                edits.replace(edit.0, edit.1);
            }
            changes.push(Change {
                file: document.path.clone(),
                what,
                why: "the vendor's library and utilities drive a DMA that was removed".into(),
            });
        }
        let text = edits.apply(&document.path, &document.source)?;
        Ok((text, changes))
    }

    /// Refuses a description that leads `aoc` to a directory other than that of the board.
    fn refuse_elsewhere(&self, document: &Document) -> Result<()> {
        let mut all = document.root.children("hardware");
        let found = all.find_map(|hardware| Some((hardware, hardware.attribute("dir")?)));
        let (element, what) = match found {
            Some((_, dir)) if Path::new(dir) == self.boards => return Ok(()),
            Some((hardware, dir)) => (
                hardware,
                format!(
                    "the boards' directory is \"{dir}\", but the board is in \"{}\"",
                    self.boards.display()
                ),
            ),
            None => (
                &document.root,
                "<hardware> with a dir is missing, by which aoc finds the boards".into(),
            ),
        };
        Err(Error::new(
            ErrorKind::BadXml,
            document.place(element),
            what,
            format!(
                "Take {ENVIRONMENT} from the vendor's BSP package again, or write <hardware dir=\"{}\" \
                 default=\"BOARD\"/> into it.",
                self.boards.display()
            ),
        ))
    }

    /// Returns the file that the text of [`Platform::environment`] replaces, if it is one of the BSP's.
    pub(crate) fn replaced(&self) -> Option<&Path> {
        let vendor = self.vendor.as_ref().filter(|_| self.inside);
        vendor.map(|document| document.path.as_path())
    }

    /// Edits the runtime's entries of the platforms for Linux: descriptions and edits, with Peerlane's names.
    fn runtime(document: &Document) -> Vec<(String, Edit)> {
        let all = document.root.children("platform");
        let all: Vec<&Element> = all.filter(|p| p.attribute("name") == Some(LINUX)).collect();
        if all.is_empty() {
            let text = format!(
                "  <platform name=\"{LINUX}\">\n    <mmdlib>%b/{LINUX}/lib/lib{MMD}.so</mmdlib>\n    \
                 <linkflags>-L%b/{LINUX}/lib</linkflags>\n    <linklibs>-l{MMD}</linklibs>\n    \
                 <utilbindir>%b/{LINUX}/libexec</utilbindir>\n  </platform>\n"
            );
            let end = document.root.content.as_ref().map(|content| content.end);
            let end = end.map(|end| (format!("platform {LINUX} added"), (end..end, text)));
            return end.into_iter().collect();
        }
        all.into_iter()
            .flat_map(|linux| Self::libraries(document, linux))
            .collect()
    }

    /// Edits the runtime's entries of one platform for Linux.
    fn libraries(document: &Document, linux: &Element) -> Vec<(String, Edit)> {
        let library = format!("%b/{LINUX}/lib/lib{MMD}.so");
        let old = linux.children("mmdlib").next().map(|mmd| mmd.text.trim());
        let around = document.path.parent().unwrap_or(&document.path);
        let of_vendor = |word: &str| is_of_vendor(around, linux, old, word);
        let mut found = Vec::new();
        for element in &linux.children {
            let before = element.text.trim();
            let after = match element.name.as_str() {
                "mmdlib" => library.clone(),
                "utilbindir" => format!("%b/{LINUX}/libexec"),
                "linkflags" => {
                    let flag = format!("-L%b/{LINUX}/lib");
                    let old = |word: &str| word.starts_with("-L%b");
                    words(before, &old, &flag)
                }
                "linklibs" => words(before, &of_vendor, &format!("-l{MMD}")),
                _ => continue,
            };
            if after != before {
                let what = format!("{LINUX}: {} {before} → {after}", element.name);
                found.push((what, content(element, &after)));
            }
        }
        let lib = format!("%b/{LINUX}/lib");
        let mut more = String::new();
        for (tag, text) in [
            ("mmdlib", library),
            ("linkflags", format!("-L{lib}")),
            ("linklibs", format!("-l{MMD}")),
            ("utilbindir", format!("%b/{LINUX}/libexec")),
        ] {
            if linux.children(tag).next().is_none() {
                more += &format!("<{tag}>{text}</{tag}>");
                found.push((
                    format!("{LINUX}: {tag} {text} added"),
                    (0..0, String::new()),
                ));
            }
        }
        // The first of the added elements gets the text of all.
        if let Some((_, edit)) = found
            .iter_mut()
            .find(|(_, (at, text))| at.is_empty() && text.is_empty())
        {
            *edit = inside(document, linux, &more);
        }
        found
    }

    /// Returns directories of the vendor's runtime in the BSP, relative to its root, for every system that the platform
    /// is for.
    pub(crate) fn set_aside(&self, layout: &Layout) -> Vec<PathBuf> {
        if layout.hardware.as_os_str().is_empty() {
            return Vec::new();
        }
        let mut found = vec![PathBuf::from(LINUX)];
        let all = self.vendor.iter().flat_map(|d| d.root.children("platform"));
        for platform in all {
            let system = platform.attribute("name").unwrap_or_default();
            for element in &platform.children {
                let words = element.text.split_whitespace();
                let paths = words.filter_map(|w| below(w.strip_prefix("-L").unwrap_or(w)));
                for path in paths {
                    let first = path.components().next();
                    let whole = first.is_some_and(|first| first.as_os_str() == system);
                    let file = matches!(element.name.as_str(), "mmdlib" | "linklibs");
                    found.push(match (whole, file) {
                        (true, _) => system.into(),
                        (false, true) => path.parent().unwrap_or(&path).to_path_buf(),
                        (false, false) => path,
                    });
                }
            }
        }
        found.retain(|dir| {
            let board = layout.hardware.starts_with(dir) || dir.starts_with(&self.boards);
            !board && std::fs::symlink_metadata(layout.root.join(dir)).is_ok()
        });
        found.sort();
        found.dedup();
        let all = found.clone();
        found.retain(|dir| {
            !all.iter()
                .any(|other| other != dir && dir.starts_with(other))
        });
        found
    }

    /// Makes the directories for the runtime's files, each with a description, and the utilities.
    pub(crate) fn places() -> Vec<Written> {
        let lib = Libraries { mmd: MMD };
        let libexec = Utilities { all: &UTILITIES };
        let linux = Path::new(LINUX);
        let utilities = UTILITIES.map(|(name, command)| Written {
            path: linux.join("libexec").join(name),
            text: render(&Utility { name, command }),
        });
        let mut all = vec![
            Written {
                path: linux.join("lib/README.md"),
                text: render(&lib),
            },
            Written {
                path: linux.join("libexec/README.md"),
                text: render(&libexec),
            },
            // For programs that copy between buffers and a GPU.
            Written {
                path: linux.join("include/peerlane_ext.h"),
                text: EXTENSION.into(),
            },
        ];
        all.extend(utilities);
        all
    }
}

/// Bytes, and the text that replaces them.
type Edit = (std::ops::Range<usize>, String);

/// Reports whether a word for the linker is a library of the vendor's: the MMD, or one that lies in the platform. If
/// neither is known, every library except the SDK's counts.
fn is_of_vendor(platform: &Path, linux: &Element, mmd: Option<&str>, word: &str) -> bool {
    let Some(library) = word.strip_prefix("-l") else {
        return word.contains("%b");
    };
    let files = [format!("lib{library}.so"), format!("lib{library}.a")];
    if let Some(mmd) = mmd {
        let last = mmd.rsplit(['/', '\\']).next().unwrap_or(mmd);
        if files.iter().any(|file| file == last) {
            return true;
        }
    }
    let flags = linux.children("linkflags").map(|f| f.text.as_str());
    let places: Vec<PathBuf> = flags
        .flat_map(str::split_whitespace)
        .filter_map(|flag| below(flag.strip_prefix("-L")?))
        .map(|dir| platform.join(dir))
        .collect();
    let lies = |file: &String| places.iter().any(|dir| dir.join(file).exists());
    let known = mmd.is_some() || places.iter().any(|dir| dir.is_dir());
    match known {
        true => files.iter().any(lies),
        false => word != HAL,
    }
}

/// Makes an edit that replaces the text of an element.
fn content(element: &Element, text: &str) -> Edit {
    match &element.content {
        Some(content) => (content.clone(), escape(text)),
        None => {
            let tag = &element.name;
            (
                element.span.clone(),
                format!("<{tag}>{}</{tag}>", escape(text)),
            )
        }
    }
}

/// Makes an edit that adds text at the end of an element.
fn inside(document: &Document, element: &Element, more: &str) -> Edit {
    match &element.content {
        Some(content) => (content.end..content.end, more.into()),
        // `<platform …/>`
        None => {
            let end = element.span.end - "/>".len();
            let tag = document.source[..end].trim_end().len();
            (tag..element.span.end, format!(">{more}</{}>", element.name))
        }
    }
}

/// Replaces the first old word by a new one, and removes the other old words.
fn words(text: &str, old: &dyn Fn(&str) -> bool, new: &str) -> String {
    let mut put = false;
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        match old(word) {
            true if put => {}
            true => {
                put = true;
                words.push(new);
            }
            false => words.push(word),
        }
    }
    words.join(" ")
}

/// Returns the path in the platform that a word of `board_env.xml` names: `%b/…`, also in the spelling of Windows.
pub(crate) fn below(word: &str) -> Option<PathBuf> {
    let rest = word.strip_prefix("%b")?.replace('\\', "/");
    let path = PathBuf::from(rest.trim_matches('/'));
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    (inside && !path.as_os_str().is_empty()).then_some(path)
}

/// Returns the platform that a board's directory lies in.
pub(crate) fn around(hardware: &Path) -> Option<PathBuf> {
    const MOST: usize = 3;
    let parent = hardware.parent()?;
    let mut all = hardware.ancestors().skip(1).take(MOST);
    all.find(|root| root.join(ENVIRONMENT).is_file() && root.join(boards_directory(root)) == parent)
        .map(Path::to_path_buf)
}

fn read(path: &Path) -> Result<Document> {
    let document = Document::read(path)?;
    match document.root.name.as_str() {
        "board_env" => Ok(document),
        other => Err(Error::new(
            ErrorKind::BadXml,
            Place::file(path),
            format!("the outermost element is <{other}>, not <board_env>"),
            "Take board_env.xml from the vendor's BSP package again.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_platform() {
        for (word, path) in [
            ("%b/linux64/lib", Some("linux64/lib")),
            ("%b\\windows64\\lib\\", Some("windows64/lib")),
            ("%b", None),
            ("%b/../x", None),
            ("%a/host", None),
        ] {
            assert_eq!(below(word), path.map(PathBuf::from), "{word}");
        }
    }

    #[test]
    fn one_new_word_for_all_old_ones() {
        let old = |word: &str| word.starts_with('o');
        assert_eq!(words("a o1 b o2", &old, "n"), "a n b");
        assert_eq!(words("", &old, "n"), "");
    }
}
