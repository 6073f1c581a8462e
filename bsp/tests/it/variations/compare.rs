//! The permitted changes of an extension, compared with the actual ones. Nothing here belongs to the tested crate:
//! another parser reads the files, and the expected output is derived from the input.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::design::Design;
use super::regions::Regions;
use super::system;
use crate::common::snapshot;

/// Suffix of a board's names.
const SUFFIX: &str = "_peerlane";

/// Faults that were found.
pub type Faults = Vec<String>;

/// Returns a file as text. Bytes that are not UTF-8 become letters of ISO 8859-1.
pub fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Returns everything that differs and should not, and everything that should differ and does not.
pub fn differences(design: &Design, bsp: &Path, out: &Path) -> Faults {
    let (before, mut after) = (snapshot(bsp), snapshot(out));
    let mut faults = Faults::new();
    // A board's directory becomes a platform with one board.
    let boards = std::fs::read_dir(out.join("hardware")).unwrap();
    let names: Vec<_> = boards.map(|b| b.unwrap().file_name()).collect();
    let hardware = Path::new("hardware").join(&names[0]);
    if names.len() != 1 || !names[0].to_str().unwrap().ends_with(SUFFIX) {
        faults.push(format!("the boards are {names:?}"));
    }
    let moved = |path: &Path| match path.strip_prefix(&design.hardware) {
        Ok(inside) => hardware.join(inside),
        Err(_) => path.to_path_buf(),
    };
    let mut settings = Settings::default();
    let regions = Regions::new(design, &before, &|path| {
        after.get(&moved(path)).map(|new| text(new))
    });
    let platform_type = platform_type(design, &before);
    let mut lists = 0;
    readme(&before, &after, &hardware, &mut faults);
    for (path, old) in &before {
        let new = after.remove(&moved(path));
        let name = path.display();
        let Some(new) = new else {
            if !design.compiled.contains(path) {
                faults.push(format!("{name} is missing"));
            }
            continue;
        };
        if design.compiled.contains(path) {
            faults.push(format!("{name} has compiled data, but was copied"));
        }
        settings.count(path, &new);
        lists += text(&new).matches("\"peerlane_dma\"").count()
            * usize::from(path.extension().is_some_and(|e| e == "ipx"));
        if *old == new {
            continue;
        }
        if design.backups.contains(path) {
            faults.push(format!("{name} is a backup, and was changed"));
            continue;
        }
        let (old, new) = (text(old), text(&new));
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let found = match (ending, path.file_name().unwrap().to_str().unwrap()) {
            ("qsys", _) => system::differences(design, &old, &new),
            ("qsf" | "tcl", _) => settings.differences(&regions, &old, &new),
            ("ipx", _) => component_list(&old, &new),
            (_, "board_spec.xml") => specification(&old, &new, platform_type),
            (_, "board_env.xml") => attributes(&old, &new, &environment),
            // The platform's own: see above.
            (_, "README.md") if path.as_os_str() == "README.md" => continue,
            _ => vec!["was changed".into()],
        };
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    for path in after.keys() {
        let inside = path.strip_prefix(&hardware).unwrap_or(path);
        let ours = ["iface/peerlane", "scripts/peerlane", "peerlane.board"];
        let platform = ["README.md", "board_env.xml", "linux64", "peerlane"];
        let report = ["peerlane-report.md", "peerlane-report.json"];
        let mut beside = platform.iter().chain(&report);
        let known =
            ours.iter().any(|d| inside.starts_with(d)) || beside.any(|name| path.starts_with(name));
        if !known {
            faults.push(format!("{} is new", path.display()));
        }
    }
    if lists != 1 {
        faults.push(format!(
            "{lists} entries of the block in lists of components"
        ));
    }
    settings.whole(design, &mut faults);
    faults
}

/// Checks that the platform has its own README, about its board, and that the vendor's, in the same place, is stored.
fn readme(before: &Tree, after: &Tree, hardware: &Path, faults: &mut Faults) {
    let name = Path::new("README.md");
    let board = hardware.file_name().unwrap().to_str().unwrap();
    if !after.get(name).is_some_and(|new| text(new).contains(board)) {
        faults.push(format!("README.md does not explain the use of {board}"));
    }
    let kept = Path::new("peerlane/vendor").join(name);
    if before.get(name) != after.get(&kept) {
        faults.push("the kept copy of the vendor's README.md was changed".into());
    }
}

/// Returns the type that the SDK assumes for the platform if it decides by compiled files: only for Stratix V, by the
/// settings in `top.qsf` alone, and since version 13.
fn platform_type(design: &Design, before: &Tree) -> Option<&'static str> {
    let inside = |name: &str| before.get(&design.hardware.join(name));
    let settings = text(inside("top.qsf")?);
    let value = |name: &str| {
        let begin = format!("set_global_assignment -name {name} ");
        let mut all = settings
            .lines()
            .filter_map(|l| l.trim().strip_prefix(&begin));
        all.next().map(|value| value.trim_matches('"').to_string())
    };
    let version = value("LAST_QUARTUS_VERSION")?;
    let version: u32 = version.split('.').next()?.parse().ok()?;
    if value("FAMILY")? != "Stratix V" || version < 13 {
        return None;
    }
    let persona = inside("persona/base.root_partition.personax").is_some();
    if inside("base.qsf").is_some() && persona {
        return Some("s5_net");
    }
    inside("acl_iface_partition.qxp").map(|_| "cvpqxp_13.x")
}

/// Files with their content.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// The settings of all revisions.
#[derive(Default)]
struct Settings {
    fragments: usize,
    imports: Vec<String>,
}

impl Settings {
    /// Counts the lines that must be there, or must not be.
    fn count(&mut self, path: &Path, content: &[u8]) {
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let backup = ["old", "backup", "Copy of iface", "attic", "v1"];
        let backup = path.iter().any(|part| backup.iter().any(|b| part == *b));
        if !["qsf", "tcl"].contains(&ending) || backup {
            return;
        }
        for line in text(content).lines().map(str::trim) {
            if line.starts_with('#') {
                continue;
            }
            self.fragments += usize::from(line.contains("iface/peerlane/peerlane.qsf"));
            let import = [
                "PARTITION_IMPORT_FILE",
                "INPUT_PERSONA",
                "POST_FIT -section",
            ];
            if import.iter().any(|name| line.contains(name)) {
                self.imports.push(format!("{}: {line}", path.display()));
            }
        }
    }

    fn whole(&self, design: &Design, faults: &mut Faults) {
        let revisions = design.settings().len();
        if self.fragments != revisions {
            faults.push(format!(
                "{revisions} revisions, and {} of them take the block's settings in",
                self.fragments
            ));
        }
        faults.extend(self.imports.iter().cloned());
    }

    /// Compares line by line: imports are removed, the block's settings are added, and members of regions follow their
    /// instances.
    fn differences(&self, regions: &Regions, old: &str, new: &str) -> Faults {
        let goes = |line: &str| {
            let import = [
                "IMPORT",
                "INPUT_PERSONA",
                "POST_FIT",
                "SOURCE_FILE_CHANGES ON",
            ];
            import.iter().any(|name| line.contains(name))
        };
        let comes = |line: &str| {
            [
                "iface/peerlane/peerlane.qsf",
                "PARTITION_NETLIST_TYPE SOURCE",
                "SOURCE_FILE_CHANGES OFF",
            ]
            .iter()
            .any(|name| line.contains(name))
        };
        let (expected, mut faults) = regions.follow(old, new);
        let (mut old, mut new) = (expected.lines().peekable(), new.lines().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (None, None) => return faults,
                (Some(a), Some(b)) if a == b => {
                    old.next();
                    new.next();
                }
                (Some(a), _) if goes(a) => drop(old.next()),
                (_, Some(b)) if comes(b) => drop(new.next()),
                (a, b) => {
                    faults.push(format!("line {a:?} became {b:?}"));
                    return faults;
                }
            }
        }
    }
}

/// Checks that a list of components has one more.
fn component_list(old: &str, new: &str) -> Faults {
    let read = |text: &str| -> Vec<String> {
        let document = roxmltree::Document::parse(text).unwrap();
        let all = document.root_element().children();
        let ours = all.filter(|n| !n.is_text() && n.attribute("name") != Some("peerlane_dma"));
        ours.map(|n| text[n.range()].to_string()).collect()
    };
    match read(old) == read(new) {
        true => Faults::new(),
        false => vec!["the vendor's entries were changed".into()],
    }
}

/// Reports whether an attribute may change: element, attribute, before, after.
type Rule<'a> = &'a dyn Fn(&str, &str, &str, &str) -> bool;

/// Compares a specification: the board's name, its used resources, and the type that was left to the SDK may differ.
fn specification(old: &str, new: &str, platform_type: Option<&str>) -> Faults {
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    let mut faults = attributes(old, new, &|element, attribute, before, after| match (
        element, attribute,
    ) {
        ("board", "name") => after == format!("{before}{SUFFIX}"),
        ("alms" | "ffs" | "rams", "num") => number(after) > number(before),
        ("auto_migrate", "platform_type") => before == "auto" && Some(after) == platform_type,
        _ => false,
    });
    let document = roxmltree::Document::parse(new).unwrap();
    let mut told = document
        .descendants()
        .filter(|n| n.has_tag_name("auto_migrate"));
    let open = told.any(|n| n.attribute("platform_type") == Some("auto"));
    if let Some(kind) = platform_type.filter(|_| open) {
        faults.push(format!("the type {kind} is left to the SDK"));
    }
    faults
}

fn environment(element: &str, attribute: &str, before: &str, after: &str) -> bool {
    matches!(
        (element, attribute),
        ("board_env", "name") | ("hardware", "default")
    ) && after == format!("{before}{SUFFIX}")
}

/// Compares elements and comments, with the rule for values of attributes.
fn attributes(old: &str, new: &str, rule: Rule<'_>) -> Faults {
    let (a, b) = (
        roxmltree::Document::parse(old).unwrap(),
        roxmltree::Document::parse(new).unwrap(),
    );
    let (a, b): (Vec<_>, Vec<_>) = (a.descendants().collect(), b.descendants().collect());
    let mut faults = Faults::new();
    if a.len() != b.len() {
        faults.push(format!("{} nodes became {}", a.len(), b.len()));
    }
    for (a, b) in a.iter().zip(&b) {
        let name = a.tag_name().name();
        if name != b.tag_name().name() || a.text() != b.text() {
            faults.push(format!("{a:?} became {b:?}"));
        }
        let values = |n: &roxmltree::Node<'_, '_>| -> BTreeMap<String, String> {
            let all = n.attributes();
            all.map(|a| (a.name().to_string(), a.value().to_string()))
                .collect()
        };
        let (before, after) = (values(a), values(b));
        let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for attribute in names {
            match (before.get(attribute), after.get(attribute)) {
                (Some(x), Some(y)) if x == y || rule(name, attribute, x, y) => {}
                (x, y) => faults.push(format!("{name}.{attribute}: {x:?} became {y:?}")),
            }
        }
    }
    faults
}
