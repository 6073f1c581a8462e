//! The platform around the board: the files that `board_env.xml` names, the README, and the stored files of the vendor.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::{Node, xml};
use crate::result::{Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::hash::digest_of;
use peerlane_bsp_platform::kept::{self, Entry};
use peerlane_bsp_platform::layout::BUILD_FILE;
use peerlane_bsp_platform::text;

const TEST: &str = "platform";
/// Hint for the vendor's stored files.
const KEPT: &str = "Extend the vendor's BSP again, and do not edit the kept files.";
/// Places of the runtime's parts (Custom Platform Toolkit user guide 683398, 1.4.2.1).
const LIBRARY: &str = "%b/linux64/lib/libpeerlane_mmd.so";
const UTILITIES: &str = "%b/linux64/libexec";
/// Utilities that `aocl` runs from that directory, by the names of SDKs before and since 14.1, each with the command of
/// Peerlane's program that implements it.
const COMMANDS: [(&str, &str); 7] = [
    ("diagnose", "diagnose"),
    ("diagnostic", "diagnose"),
    ("flash", "flash"),
    ("install", "install"),
    ("program", "program"),
    ("reprogram", "program"),
    ("uninstall", "uninstall"),
];
/// Peerlane's program.
const PROGRAM: &str = "peerlane-aocl";

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    environment(bsp, findings)?;
    runtime(bsp, findings)?;
    utilities(bsp, findings)?;
    readme(bsp, findings)?;
    if findings.unchanged(before) {
        findings.good(
            TEST,
            "board_env.xml names this board and no runtime of the vendor",
        );
    }
    vendors_files(bsp, build, findings)
}

/// Checks the files that the platform for Linux names.
fn environment(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let path = bsp.layout.root.join("board_env.xml");
    if !path.is_file() {
        findings.bad(
            TEST,
            Place::file(&path),
            "the file is missing, and without it aoc finds no board",
            "Put it back, or extend the vendor's BSP again.",
        );
        return Ok(());
    }
    let environment = xml(&path)?;
    let directory = environment.all("hardware").find_map(|h| h.get("dir"));
    let parent = bsp.layout.hardware.parent().unwrap_or(Path::new(""));
    if directory.map(Path::new) != Some(parent) {
        let what = format!(
            "the boards' directory is \"{}\", but this board is in {}",
            directory.unwrap_or_default(),
            parent.display()
        );
        bad(findings, TEST, Place::line(&path, environment.line), what);
    }
    let is_linux = |platform: &&Node| platform.get("name") == Some("linux64");
    if !environment.all("platform").any(|p| is_linux(&p)) {
        let what = "the platform linux64 is missing, for which the driver is".into();
        bad(findings, TEST, Place::line(&path, environment.line), what);
    }
    for linux in environment.all("platform").filter(is_linux) {
        for (tag, want) in [("mmdlib", LIBRARY), ("utilbindir", UTILITIES)] {
            if linux.all(tag).next().is_none() {
                let what = format!("the platform linux64 has no {tag}; it must be {want}");
                bad(findings, TEST, Place::line(&path, linux.line), what);
            }
            for element in linux.all(tag).filter(|element| element.text() != want) {
                let what = format!(
                    "{tag} is \"{}\"; it must be {want}: the vendor's file drives a DMA that was removed",
                    element.text()
                );
                bad(findings, TEST, Place::line(&path, element.line), what);
            }
        }
        for element in linux.all("linkflags").chain(linux.all("linklibs")) {
            for word in element.text().split_whitespace() {
                if let Some(what) = linked(bsp, word) {
                    bad(findings, TEST, Place::line(&path, element.line), what);
                }
            }
        }
    }
    // Peerlane has nothing for other systems, and the vendor's files for them are not in use.
    for other in environment.all("platform").filter(|p| !is_linux(p)) {
        let words = other
            .inside
            .iter()
            .flat_map(|e| e.text().split_whitespace());
        let mut places = words.filter_map(|word| Some(word.split_once("%b")?.1));
        let there = |place: &str| {
            let place = place.replace('\\', "/");
            bsp.layout.root.join(place.trim_start_matches('/')).exists()
        };
        if let Some(gone) = places.find(|place| !there(place)) {
            let what = format!(
                "the platform {} names %b{gone}, which does not exist: Peerlane does not support that system",
                other.get("name").unwrap_or_default()
            );
            findings.note(TEST, Place::line(&path, other.line), what);
        }
    }
    Ok(())
}

/// Returns the fault of a word for the linker: it leads to another place in the platform than the runtime's, or names a
/// library that the vendor's platform had.
fn linked(bsp: &Bsp, word: &str) -> Option<String> {
    if let Some((_, place)) = word.split_once("%b") {
        let good = matches!(place.trim_end_matches('/'), "/linux64/lib");
        return (!good)
            .then(|| format!("programs would be linked with {word}, where the runtime is not"));
    }
    let library = word
        .strip_prefix("-l")
        .filter(|name| *name != "peerlane_mmd")?;
    let names = [format!("lib{library}.so"), format!("lib{library}.a")];
    let mut all = bsp.vendor.files();
    let was = all.find(|file| {
        let name = file.file_name().unwrap_or_default();
        names.iter().any(|known| name == known.as_str())
    })?;
    Some(format!(
        "programs would be linked with {word}, the vendor's {}, for a DMA that was removed",
        was.display()
    ))
}

/// Checks that no file of the vendor's lies where the runtime's parts belong.
fn runtime(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let mut open: Vec<PathBuf> = ["lib", "libexec"]
        .iter()
        .map(|dir| bsp.layout.root.join("linux64").join(dir))
        .collect();
    for dir in open.iter().filter(|dir| !dir.is_dir()) {
        let what = "board_env.xml names a directory that does not exist".into();
        bad(findings, TEST, Place::file(dir), what);
    }
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if path.is_file()
                && let Some(was) = bsp.vendor.name_of(&digest_of(&path)?)
            {
                let what = format!("this file is the vendor's {was}, for a DMA that was removed");
                bad(findings, TEST, Place::file(&path), what);
            }
        }
    }
    let library = bsp.layout.root.join(LIBRARY.trim_start_matches("%b/"));
    if !library.is_file() {
        let what = "the library for the OpenCL runtime does not exist yet: aoc compiles, but programs cannot run";
        findings.note(TEST, Place::file(&library), what);
    }
    Ok(())
}

/// Checks that `aocl` can run every utility, and that each calls its own command of the program.
fn utilities(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let directory = bsp.layout.root.join(UTILITIES.trim_start_matches("%b/"));
    for (name, command) in COMMANDS {
        let path = directory.join(name);
        let Ok(found) = std::fs::metadata(&path) else {
            let what = format!("`aocl {name}` finds no file to run");
            bad(findings, TEST, Place::file(&path), what);
            continue;
        };
        if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
            let what =
                format!("`aocl {name}` cannot run it: it is not a file, or is not executable");
            bad(findings, TEST, Place::file(&path), what);
            continue;
        }
        // A program that a user has put there may be of any kind.
        let text = text::read(&path).unwrap_or_default();
        let calls: Vec<&str> = (text.lines())
            .filter(|line| line.starts_with("exec ") && line.contains(PROGRAM))
            .collect();
        match calls[..] {
            [call] if call.split_whitespace().any(|word| word == command) => {}
            [call] => {
                let what = format!("`aocl {name}` does not run {PROGRAM} {command}, but {call}");
                bad(findings, TEST, Place::file(&path), what);
            }
            _ => {
                let what = format!("`aocl {name}` runs a file that Peerlane did not write");
                findings.note(TEST, Place::file(&path), what);
            }
        }
    }
    let program = directory.join(PROGRAM);
    if !program.is_file() {
        let what = "the program for the commands of `aocl` does not exist yet: each command prints how to build it";
        findings.note(TEST, Place::file(&program), what);
    }
    Ok(())
}

/// Checks that the README is this board's.
fn readme(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let path = bsp.layout.root.join("README.md");
    if !path.is_file() {
        findings.note(
            TEST,
            Place::file(&path),
            "the README with the steps is missing",
        );
        return Ok(());
    }
    let specification = xml(&bsp.hardware.join("board_spec.xml"))?;
    let name = specification.get("name").unwrap_or_default();
    if !text::read(&path)?.contains(&format!("# The board {name}")) {
        let what = format!("the README is for another board than \"{name}\"");
        bad(findings, TEST, Place::file(&path), what);
    }
    Ok(())
}

/// Checks that all of the vendor's files are stored, as the record says, and that the record is the build's.
fn vendors_files(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "vendor's files";
    let before = findings.found();
    let directory = bsp.vendor.directory();
    let tree = bsp.vendor.tree();
    if kept::digest_of_tree(tree) != build.vendor {
        let what = format!(
            "the vendor's tree in {} differs from {BUILD_FILE}",
            kept::RECORD
        );
        bad(
            findings,
            TEST,
            Place::file(bsp.layout.root.join(kept::RECORD)),
            what,
        );
    }
    let mut count = 0;
    for (name, entry) in tree {
        let (Entry::File { sha256, .. }, Some(inside)) = (entry, kept::path_of(name)) else {
            continue;
        };
        count += 1;
        let path = directory.join(inside);
        let what = match path.is_file() {
            false => "the kept copy of the vendor's file is missing",
            true if digest_of(&path)? != *sha256 => "the file differs from the vendor's file",
            true => continue,
        };
        findings.bad(TEST, Place::file(&path), what, KEPT);
    }
    let mut open = vec![directory.to_path_buf()];
    while let Some(dir) = open.pop() {
        for found in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = found.path();
            let inside = path.strip_prefix(directory).unwrap_or(&path);
            match tree.get(&kept::name(inside)) {
                Some(Entry::Directory { .. }) => open.push(path),
                Some(Entry::File { .. }) => {}
                _ => findings.bad(
                    TEST,
                    Place::file(&path),
                    "the vendor's BSP does not have this file",
                    KEPT,
                ),
            }
        }
    }
    if findings.unchanged(before) {
        findings.good(TEST, format!("{count} kept files, unchanged"));
    }
    Ok(())
}
