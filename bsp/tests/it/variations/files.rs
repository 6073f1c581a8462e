//! Changes of files: backups, settings in sourced Tcl, imports, spelling and line ends.

use std::path::PathBuf;

use super::design::Design;
use super::random::Random;
use super::tree::{Node, Style, write};

/// Adds a backup with the same name in a directory that nothing searches.
pub fn backup(design: &mut Design, random: &mut Random) -> Option<String> {
    let directory = *random.pick(&[
        "old",
        "backup/2014",
        "Copy of iface",
        "attic/ip",
        "iface/v1",
    ]);
    let mut all = design.with_ending(".qsys");
    all.extend(design.with_ending(".qsf"));
    all.extend(design.with_ending("board_spec.xml"));
    let name = random.pick(&all).clone();
    let stem = name.rsplit('/').next().unwrap();
    let path: PathBuf = design.hardware.join(directory).join(stem);
    let content = match random.below(3) {
        0 => design.file(&name).clone(),
        1 => b"<system name=\"unfinished\"".to_vec(),
        _ => Vec::new(),
    };
    design.files.insert(path.clone(), content);
    design.backups.insert(path);
    Some(format!("{directory}/{stem}"))
}

/// Moves settings to Tcl that the revision sources.
pub fn sourced(design: &mut Design, random: &mut Random) -> Option<String> {
    let all = design.settings();
    let file = random.pick(&all).clone();
    let number = random.below(100);
    let name = match random.below(3) {
        0 => format!("part_{number}.tcl"),
        1 => format!("settings/part_{number}.tcl"),
        _ => format!("settings/part_{number}.qsf"),
    };
    let text = String::from_utf8(design.file(&file).clone()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = random.below(lines.len());
    let to = from + 1 + random.below(lines.len() - from);
    let path = design.hardware.join(&name);
    if design.files.contains_key(&path) || lines[from..to].iter().any(|l| l.contains("part_")) {
        return None;
    }
    let how = match random.below(4) {
        0 => format!("set_global_assignment -name SOURCE_TCL_SCRIPT_FILE {name}\n"),
        1 => format!("set_global_assignment -name SOURCE_TCL_SCRIPT_FILE \"{name}\"\n"),
        2 => format!("source {name}\n"),
        _ => match name.split_once('/') {
            Some((directory, file)) => format!("source [file join {directory} {file}]\n"),
            None => format!("source \"{name}\"\n"),
        },
    };
    let rest = [&lines[..from].concat(), &how, &lines[to..].concat()]
        .map(String::as_str)
        .concat();
    *design.file(&file) = rest.into_bytes();
    design
        .files
        .insert(path, lines[from..to].concat().into_bytes());
    Some(format!(
        "lines {} to {to} of {file}, by {}",
        from + 1,
        how.trim()
    ))
}

/// Adds a partition that the vendor compiled.
pub fn import(design: &mut Design, random: &mut Random) -> Option<String> {
    let mut all = design.settings();
    all.extend(
        design
            .with_ending(".tcl")
            .into_iter()
            .filter(|name| name.contains("part_")),
    );
    let file = random.pick(&all).clone();
    let number = random.below(100);
    let compiled = format!("compiled_{number}.qxp");
    let path = design.hardware.join(&compiled);
    if design.files.contains_key(&path) {
        return None;
    }
    design.edit(&file, |text| {
        let line = format!(
            "set_global_assignment -name PARTITION_IMPORT_FILE {compiled} -section_id Top\n"
        );
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("{text}{end}{line}")
    });
    design.files.insert(path.clone(), vec![0, 1, 2, 255]);
    design.compiled.insert(path);
    Some(format!("{compiled} in {file}"))
}

/// Lines of settings without effect.
const REMARKS: [&str; 5] = [
    "\n",
    "   # set_global_assignment -name QXP_FILE old.qxp\n",
    "#\n",
    "\t\n",
    "# { \" [\n",
];

/// Adds comments and blank lines to settings.
pub fn remarks(design: &mut Design, random: &mut Random) -> Option<String> {
    let all = design.settings();
    let file = random.pick(&all).clone();
    let mut seed = random.clone();
    design.edit(&file, |text| {
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            if seed.one_in(4) {
                out += *seed.pick(&REMARKS);
            }
            out += line;
        }
        out
    });
    Some(file)
}

/// Changes the spelling of a system.
pub fn style(design: &mut Design, random: &mut Random) -> Option<String> {
    let which = random.below(design.systems.len());
    let system = &mut design.systems[which];
    system.touched = true;
    system.style = any(random);
    Some(format!("{}: {}", system.kind(), said(&system.style)))
}

fn any(random: &mut Random) -> Style {
    let mut some = || random.one_in(2);
    let (comments, entities, spaces) = (some(), some(), some());
    let (attribute_order, cdata) = (some(), some());
    Style {
        comments,
        entities,
        spaces,
        attribute_order,
        cdata,
        foreign_bytes: comments && random.one_in(3),
        one_line: random.one_in(8),
        seed: random.next(),
    }
}

fn said(style: &Style) -> String {
    let all = [
        ("comments", style.comments),
        ("ISO 8859-1", style.foreign_bytes),
        ("entities", style.entities),
        ("white space", style.spaces),
        ("order of attributes", style.attribute_order),
        ("CDATA", style.cdata),
        ("one line", style.one_line),
    ];
    let on: Vec<_> = all
        .iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| *name)
        .collect();
    on.join(", ")
}

/// Changes the spelling of the other XML files, and line ends. This comes last: the files are bytes afterwards.
pub fn last_touches(design: &mut Design, random: &mut Random) -> Vec<String> {
    let mut done = Vec::new();
    let mut others = design.with_ending("board_spec.xml");
    others.extend(design.with_ending(".ipx"));
    for name in others {
        if random.one_in(4) {
            let style = any(random);
            let file = design.file(&name);
            let root = Node::parse(std::str::from_utf8(file).unwrap());
            *file = write(&root, &style);
            done.push(format!("{name}: {}", said(&style)));
        }
    }
    for file in design.settings() {
        if random.one_in(6) {
            design
                .file(&file)
                .extend_from_slice(b"# f\xfcr die Platine\n");
            done.push(format!("{file}: a comment in ISO 8859-1"));
        }
    }
    for at in 0..design.systems.len() {
        let system = &mut design.systems[at];
        if system.touched {
            let path = design.hardware.join(&system.path);
            design
                .files
                .insert(path, write(&system.root, &system.style));
            system.touched = false;
        }
    }
    for (path, content) in &mut design.files {
        let text = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let text = ["qsys", "qsf", "xml", "ipx", "tcl", "sdc", "qpf"].contains(&text);
        if text && !design.backups.contains(path) && random.one_in(6) {
            let mixed = random.one_in(3);
            let mut out = Vec::new();
            for &byte in content.iter() {
                let wanted = byte == b'\n' && out.last() != Some(&b'\r');
                if wanted && !(mixed && random.one_in(2)) {
                    out.push(b'\r');
                }
                out.push(byte);
            }
            *content = out;
            let how = if mixed { "both line ends" } else { "CRLF" };
            done.push(format!("{}: {how}", path.display()));
        }
    }
    done
}
