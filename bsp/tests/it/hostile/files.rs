//! Encodings and line ends, links, and names of directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use crate::common::faults::faults;
use crate::common::{Work, expect, reference_net};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::revert;
use peerlane_bsp_check::structure;

const IMPORT: &str = "set_global_assignment -name INPUT_PERSONA persona/base.root_partition.personax -section_id Top";

fn net() -> Work {
    Work::of(&reference_net())
}

/// Returns a path relative to the directory of this process.
fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap();
    let up = here
        .components()
        .filter(|c| matches!(c, Component::Normal(_)));
    let up: PathBuf = up.map(|_| "..").collect();
    up.join(path.strip_prefix("/").unwrap())
}

#[test]
fn a_byte_order_mark_moves_nothing() {
    let work = net();
    for file in [
        "board.qsys",
        "system.qsys",
        "board_spec.xml",
        "board.ipx",
        "top.qsf",
        "../../board_env.xml",
    ] {
        let text = fs::read_to_string(work.input(file)).unwrap();
        // A character of two bytes, so that a place that is off by one is not a character boundary.
        let text = match file.ends_with("qsf") {
            true => format!("{IMPORT}\n# é\n{text}"),
            false => text.replacen("\n", "\n<!-- é -->", 2),
        };
        fs::write(work.input(file), format!("\u{feff}{text}")).unwrap();
    }
    work.sound("");
    assert!(!work.made("top.qsf").contains("INPUT_PERSONA"));
    assert!(work.made("board.qsys").starts_with('\u{feff}'));
}

#[test]
fn text_in_utf_16_is_refused() {
    for file in [
        "top.qsf",
        "board.qsys",
        "board_spec.xml",
        "board.ipx",
        "../../board_env.xml",
        "scripts/post_flow.tcl",
    ] {
        let work = net();
        let text = fs::read_to_string(work.input(file)).unwrap();
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        fs::write(work.input(file), bytes).unwrap();
        let last = Path::new(file).file_name().unwrap().to_str().unwrap();
        let kind = match [".qsf", ".tcl", ".ipx"]
            .iter()
            .any(|end| last.ends_with(end))
        {
            true => ErrorKind::Unsupported,
            false => ErrorKind::BadXml,
        };
        expect(&work.refused(""), kind, &["UTF-16", last]);
    }
}

/// For Tcl a carriage return alone ends a line, so the text after it does not belong to the comment.
#[test]
fn a_carriage_return_alone_hides_no_import() {
    let work = net();
    work.edit(
        "top.qsf",
        IMPORT,
        &format!("# as the base made it\r{IMPORT}\r"),
    );
    work.sound("");
    assert!(
        !work.made("top.qsf").contains("INPUT_PERSONA"),
        "{}",
        work.made("top.qsf")
    );
    let text = work.made("top.qsf");
    fs::write(work.output("top.qsf"), format!("{text}# back\r{IMPORT}\r")).unwrap();
    let found = faults(&work);
    assert!(
        found
            .iter()
            .any(|(test, what)| *test == "settings" && what.contains("INPUT_PERSONA")),
        "{found:?}"
    );
}

#[test]
fn links_with_other_names_are_what_their_own_names_say() {
    let work = net();
    for (file, real) in [
        ("top.qsf", "kept/settings"),
        ("board.qsys", "kept/board.xml"),
    ] {
        work.rename(file, real);
        symlink(real, work.input(file)).unwrap();
    }
    work.sound("");
    assert!(work.output("board.qsys").is_symlink());
    assert!(work.made("kept/board.xml").contains("peerlane_dma"));
    assert!(
        work.made("board_spec.xml")
            .contains("platform_type=\"s5_net\"")
    );
}

/// The check reads the same whether the platform's path is absolute or not: scripts compute absolute paths.
#[test]
fn a_platform_by_a_relative_path() {
    for source in ["[file dirname [info script]]/more.tcl", "[pwd]/more.tcl"] {
        let work = net();
        work.append("top.qsf", &format!("source {source}\n"));
        work.put("more.tcl", "set_global_assignment -name SEED 1\n");
        work.extend("").unwrap();
        let more = work.made("more.tcl");
        fs::write(work.output("more.tcl"), format!("{more}{IMPORT}\n")).unwrap();
        let absolute = Layout::find(&work.out).unwrap();
        for root in [absolute.root.clone(), relative(&absolute.root)] {
            let layout = Layout {
                root: root.clone(),
                hardware: absolute.hardware.clone(),
            };
            let findings = structure(&layout).unwrap();
            let import = findings
                .0
                .iter()
                .find(|f| f.what.to_string().contains("INPUT_PERSONA imports"));
            let import =
                import.unwrap_or_else(|| panic!("{source} {}: {findings:#?}", root.display()));
            assert_eq!(import.place, root.join(&layout.hardware).join("more.tcl"));
        }
    }
}

#[test]
fn a_dot_behind_the_output_is_no_name() {
    let mut work = net();
    let out = work.out.clone();
    work.out = out.join(".");
    work.extend("").unwrap();
    assert!(out.join("README.md").is_file());
    let back = work.dir.path().join("work/back");
    let options = revert::Options {
        bsp: out,
        out: back.join("."),
        without_edits: false,
    };
    revert::revert(&options).unwrap();
    assert!(back.join("board_env.xml").is_file());
}

/// The check reports the platform's files that were changed since they were written, since it does not understand all
/// of them.
#[test]
fn edits_are_said() {
    let work = net();
    work.extend("").unwrap();
    let text = work.made("top.v");
    fs::write(work.output("top.v"), text.replace("system_inst", "another")).unwrap();
    fs::remove_file(work.output("top.sdc")).unwrap();
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let edits: Vec<_> = findings.0.iter().filter(|f| f.test == "edits").collect();
    assert_eq!(edits.len(), 1);
    for words in ["top.v (changed)", "top.sdc (removed)"] {
        assert!(
            edits[0].what.to_string().contains(words),
            "{}",
            edits[0].what
        );
    }
}

/// Assignments by the old DMA's entity are named if they are not members of regions.
#[test]
fn a_partition_of_the_old_dma_is_named() {
    let work = net();
    work.append(
        "top.qsf",
        "set_instance_assignment -name PARTITION_HIERARCHY dma_part -to \"system:system_inst|system_board:board|\
         system_board_copier:copier\" -section_id dma_part\n",
    );
    let report = work.sound("");
    let line = 1 + work
        .made("top.qsf")
        .lines()
        .position(|l| l.contains("dma_part"))
        .unwrap();
    let place = format!("top.qsf:{line}");
    assert!(
        report
            .to_do
            .iter()
            .any(|n| n.contains("match nothing") && n.contains(&place)),
        "{:#?}",
        report.to_do
    );
}

/// A file that settings take in by `source` must stay.
#[test]
fn a_sourced_file_that_is_gone_is_found() {
    let work = net();
    work.append("top.qsf", "source more.tcl\nsource made.tcl\n");
    work.put("more.tcl", "set_global_assignment -name SEED 1\n");
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    fs::remove_file(work.output("more.tcl")).unwrap();
    let found = faults(&work);
    assert!(
        found.len() == 1
            && found[0]
                .1
                .contains("more.tcl is sourced, but does not exist; in the vendor's BSP it exists"),
        "{found:?}"
    );
}
