//! Checks that the generated files are those that the record names, and carry its hashes.

use std::fs;
use std::path::Path;

use crate::Findings;
use peerlane_bsp_generate::build::{Build, Program};
use peerlane_bsp_generate::generator::{self, Board};
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::hash::digest;
use peerlane_bsp_platform::layout::{BOARD_FILE, BUILD_FILE, Layout};

const AGAIN: &str = "Extend the vendor's BSP again, and do not edit generated files.";

/// Checks the hashes of files and the IDs in the Verilog.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::Inconsistent`] if the record has no place of a slave. A file that cannot
/// be read is a diagnostic.
pub fn check(layout: &Layout, build: &Build, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "ids";
    let before = findings.found();
    let hardware = layout.hardware_dir();
    let mut verilog = 0;
    for (path, recorded) in &build.generated {
        let file = hardware.join(path);
        let Ok(bytes) = fs::read(&file) else {
            findings.bad(
                TEST,
                Place::file(&file),
                "the generated file is missing",
                AGAIN,
            );
            continue;
        };
        let is_verilog = path.ends_with(".v");
        if is_verilog {
            verilog += 1;
            match generator::ids(&String::from_utf8_lossy(&bytes)) {
                Some(ids) if (ids.map, ids.build) == (build.map_id, build.build_id) => {}
                Some(ids) => findings.bad(
                    TEST,
                    Place::file(&file),
                    format!(
                        "MAP_ID {:#010x} and BUILD_ID {:#010x}, but the BSP was built as {:#010x} and {:#010x}",
                        ids.map, ids.build, build.map_id, build.build_id
                    ),
                    AGAIN,
                ),
                None => findings.bad(TEST, Place::file(&file), "no MAP_ID and BUILD_ID in its header", AGAIN),
            }
        }
        if digest(&bytes) != *recorded {
            findings.bad(
                TEST,
                Place::file(&file),
                "changed since it was generated",
                AGAIN,
            );
        }
    }
    program(build, &hardware, findings);
    // The `BUILD_ID` that this version of the program gives for the record's configuration.
    let board = build.board(layout)?;
    description(build, board, &hardware, findings);
    let ours = generator::params(&build.config, board).build_id();
    let here = build.program() == Program::this();
    if ours != build.build_id && here {
        findings.bad(
            TEST,
            Place::file(hardware.join(BUILD_FILE)),
            format!(
                "configuration and places of the slaves give BUILD_ID {ours:#010x}, but the BSP was built as \
                 {:#010x}",
                build.build_id
            ),
            AGAIN,
        );
    } else if ours != build.build_id {
        findings.note(
            TEST,
            Place::file(&hardware),
            format!(
                "another version of Peerlane ({}) generated the block: BUILD_ID {:#010x}, with this version it would \
                 be {ours:#010x}; driver and host library must be of that version too",
                build.program(),
                build.build_id
            ),
        );
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "MAP_ID {:#010x}, BUILD_ID {:#010x} in {verilog} Verilog files and the record",
                build.map_id, build.build_id
            ),
        );
    }
    Ok(())
}

/// Checks that the description of the board is the one that the hardware confirms.
fn description(build: &Build, board: Board, hardware: &Path, findings: &mut Findings) {
    const TEST: &str = "description";
    let path = hardware.join(BOARD_FILE);
    let Ok(text) = fs::read_to_string(&path) else {
        // It is one of the generated files.
        return;
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = |from: usize, to: usize| {
        let text = lines.get(from..to).map(<[&str]>::concat);
        text.map(|text| digest(text.as_bytes())[..8].to_string())
    };
    let hexadecimal = |id: u32| Some(format!("{id:08x}"));
    let map = format!("map {:08x}\n", build.map_id);
    let block = format!(
        "block {}\n",
        generator::params(&build.config, board).canonical()
    );
    if lines.get(3..5) != Some(&[map.as_str(), block.as_str()])
        || first(3, 5) != hexadecimal(build.build_id)
        || first(5, lines.len()) != build.shell.and_then(hexadecimal)
    {
        findings.bad(
            TEST,
            Place::file(&path),
            "the hardware does not confirm it: its hashes are not those of the build",
            AGAIN,
        );
    }
}

/// Compares the program that wrote the BSP with this one. Another program may write another BSP from the same input,
/// and knows other rules.
fn program(build: &Build, hardware: &Path, findings: &mut Findings) {
    const TEST: &str = "program";
    let (wrote, this) = (build.program(), Program::this());
    if wrote == this {
        return findings.good(
            TEST,
            format!("Peerlane {wrote} wrote it, the version that checks it"),
        );
    }
    let what = format!(
        "Peerlane {wrote} wrote it, and {this} checks it by its own rules; from the same vendor's BSP it may write \
         other files"
    );
    findings.note(TEST, Place::file(hardware.join(BUILD_FILE)), what);
}
