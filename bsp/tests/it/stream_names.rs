//! Paths through the hard IP: with a TLP port a level of the hierarchy is gone (`altera_s5_a2p`, the Avalon-ST variant
//! inside the Avalon-MM one). Settings, constraints and scripts that name parts of it must be converted.

use std::fs;

use crate::common::{Work, finds_in, reference_net};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Finding, check};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";
const ABOVE: &str = "system:system_inst|system_board:board";
/// The vendors' module for configuration over PCIe is inside the hard IP.
const OLD: &str = "altpcie_sv_hip_avmm_hwtcl:endpoint|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|\
                   altpcie_hip_256_pipen1b:altpcie_hip_256_pipen1b|cvp_update_reset:r";
const NEW: &str = "altpcie_sv_hip_ast_hwtcl:endpoint|altpcie_hip_256_pipen1b:altpcie_hip_256_pipen1b|cvp_update_reset:r";

fn partition(path: &str) -> String {
    format!(
        "set_instance_assignment -name PARTITION_HIERARCHY rst_part -to \"{ABOVE}|{path}\" -section_id update_reset_part\n"
    )
}

/// Makes a board whose reset partition for configuration over PCIe is where the vendors' boards have it.
fn board() -> Work {
    let work = Work::of(&reference_net());
    for file in ["base.qsf", "top.qsf"] {
        let own = "set_instance_assignment -name PARTITION_HIERARCHY rst_part -to \"cvp_update_reset:update_reset\" \
                   -section_id update_reset_part\n";
        work.edit(file, own, &partition(OLD));
    }
    work
}

#[test]
fn the_partition_for_configuration_over_pcie_follows() {
    let work = board();
    let report = work.sound(STREAM);
    for file in ["base.qsf", "top.qsf"] {
        let made = work.made(file);
        assert!(made.contains(&partition(NEW)), "{made}");
        assert!(!made.contains("altera_s5_a2p"), "{made}");
    }
    let told = |file: &str| {
        let of = report.changes.iter().filter(|c| c.file.ends_with(file));
        of.filter(|c| c.what.contains("altera_s5_a2p")).count()
    };
    assert_eq!(
        (told("base.qsf"), told("top.qsf")),
        (1, 1),
        "{:#?}",
        report.changes
    );
    let to_do = &report.to_do;
    assert!(
        !to_do.iter().any(|note| note.contains("altera_s5_a2p")),
        "{to_do:#?}"
    );
    // The check finds a corrupted path.
    finds_in(
        &work,
        "base.qsf",
        &partition(NEW),
        &partition(OLD),
        "pins and constraints",
        "PARTITION_HIERARCHY",
    );
}

/// Lines before and after the conversion.
const LINES: [(&str, &str); 9] = [
    (
        "set_output_delay -clock {system_inst|board|endpoint|altera_s5_a2p|altpcie_hip_256_pipen1b|x|coreclkout} 1 [get_ports leds*]",
        "set_output_delay -clock {system_inst|board|endpoint|altpcie_hip_256_pipen1b|x|coreclkout} 1 [get_ports leds*]",
    ),
    (
        "set_false_path -from {*|endpoint|altera_s5_a2p|*}",
        "set_false_path -from {*|endpoint|*}",
    ),
    (
        "set_false_path -from \"*|altera_s5_a2p|altpcie_hip_256_pipen1b|r\"",
        "set_false_path -from \"*|endpoint|altpcie_hip_256_pipen1b|r\"",
    ),
    (
        "set_false_path -from ${hip}|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|r",
        "set_false_path -from ${hip}|r",
    ),
    (
        "set_false_path -to {b|altpcie_sv_hip_avmm_hwtcl:endpoint|*}",
        "set_false_path -to {b|altpcie_sv_hip_ast_hwtcl:endpoint|*}",
    ),
    (
        "set_false_path -to {b|altpcie_sv_hip_avmm_hwtcl:endpoint}",
        "set_false_path -to {b|altpcie_sv_hip_ast_hwtcl:endpoint}",
    ),
    (
        "set_clock_groups -asynchronous -group [get_clocks {a b|endpoint|altera_s5_a2p|c d|endpoint|altera_s5_a2p|e}]",
        "set_clock_groups -asynchronous -group [get_clocks {a b|endpoint|c d|endpoint|e}]",
    ),
    (
        "set_false_path -from [get_clocks {*endpoint|altera_s5_a2p|*coreclkout*}]",
        "set_false_path -from [get_clocks {*endpoint|*coreclkout*}]",
    ),
    (
        "set_false_path -from {b|altpcie_sv_hip_*_hwtcl:endpoint|altera_s5_a2p|r}",
        "set_false_path -from {b|altpcie_sv_hip_*_hwtcl:endpoint|r}",
    ),
];
/// Lines that cannot be converted with certainty.
const UNSURE: [&str; 7] = [
    "set_false_path -from {*altera_s5_a2p*}",
    "set_false_path -from {*end*|altera_s5_a2p|r}",
    "set_false_path -to {altera_s5_a2p|r}",
    "set_false_path -to {b|altpcie_sv_hip_avmm_hwtcl:endpoint|altpcierd_hip_rs:rs_hip|app_rstn}",
    "set_false_path -to {b|altpcie_sv_hip_avmm_hwtcl:end*|r}",
    "set_false_path -to {b|*hip_avmm_hwtcl:endpoint|altera_s5_a2p|r}",
    "set_false_path -to [get_keepers {*altpcie_sv_hip_avmm_hwtcl*}]",
];

#[test]
fn constraints_follow_or_are_told() {
    let work = Work::of(&reference_net());
    // A comment does not count.
    let mut text = "\n# altera_s5_a2p was here\nset hip system_inst|board|endpoint\n".to_string();
    for line in LINES.iter().map(|(old, _)| old).chain(&UNSURE) {
        text += &format!("{line}\n");
    }
    work.append("top.sdc", &text);
    let before = fs::read_to_string(work.input("top.sdc")).unwrap();
    let report = work.sound(STREAM);
    let made = work.made("top.sdc");
    for (old, new) in LINES {
        assert!(made.contains(&format!("\n{new}\n")), "{old}: {made}");
    }
    let to_do = &report.to_do;
    let note = to_do.iter().find(|note| note.contains("altera_s5_a2p"));
    let note = note.unwrap_or_else(|| panic!("{to_do:#?}"));
    for line in UNSURE {
        assert!(made.contains(&format!("\n{line}\n")), "{line}: {made}");
        let at = before.lines().position(|l| l == line).unwrap() + 1;
        assert!(note.contains(&format!("top.sdc:{at}")), "{line}: {note}");
    }
    assert!(made.contains("# altera_s5_a2p was here"));
    // The check names the same lines.
    let all = check(&Layout::find(&work.out).unwrap()).unwrap().0;
    let is = |f: &&Finding| f.test == "to do" && f.place.ends_with("top.sdc");
    let notes: Vec<_> = all.iter().filter(is).map(|f| f.what.to_string()).collect();
    let at = |line: &str| made.lines().position(|l| l == line).unwrap() + 1;
    let first = at(UNSURE[0]);
    let last = at(UNSURE[UNSURE.len() - 1]);
    let want = format!("{} lines from {first} to {last} name", UNSURE.len());
    assert!(
        notes.len() == 1 && notes[0].starts_with(&want),
        "{want}: {notes:#?}"
    );
    let (old, new) = LINES[0];
    finds_in(
        &work,
        "top.sdc",
        new,
        old,
        "pins and constraints",
        "set_output_delay",
    );
}

/// A script of the flow is converted, too: the names that it takes apart must exist.
#[test]
fn scripts_follow() {
    let work = Work::of(&reference_net());
    let line = "set reset $top|endpoint|altera_s5_a2p|altpcie_hip_256_pipen1b|r\n";
    work.append("scripts/post_flow.tcl", line);
    work.sound(STREAM);
    assert!(
        work.made("scripts/post_flow.tcl")
            .contains("set reset $top|endpoint|altpcie_hip_256_pipen1b|r\n")
    );
}

/// A partition that cannot be converted would be lost without a message, so it is refused.
#[test]
fn a_partition_that_cannot_follow_is_refused() {
    let work = board();
    let path = "altpcie_sv_hip_avmm_hwtcl:endpoint|altpcierd_hip_rs:rs_hip";
    work.edit("base.qsf", &partition(OLD), &partition(path));
    let error = work.refused(STREAM);
    assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
    assert!(
        error.hint.to_string().contains("Remove the partition"),
        "{error}"
    );
    // Another pattern needs its path.
    let pattern = board();
    pattern.edit(
        "base.qsf",
        &partition(OLD),
        &partition("end*|altera_s5_a2p|r"),
    );
    let other = pattern.refused(STREAM);
    assert!(
        other.hint.to_string().contains("Write its path out"),
        "{other}"
    );
    assert!(
        error.to_string().contains("base.qsf") && error.to_string().contains("PARTITION_HIERARCHY"),
        "{error}"
    );
}

/// Hundreds of paths of a file are one row of the report.
#[test]
fn many_paths_are_one_row() {
    let work = Work::of(&reference_net());
    let line = "set_instance_assignment -name GLOBAL_SIGNAL OFF -to \"b|altpcie_sv_hip_avmm_hwtcl:endpoint|altpcie_sv_hip_ast_hwtcl:\
                altera_s5_a2p|r[";
    let all: String = (0..300).map(|n| format!("{line}{n}]\"\n")).collect();
    work.append("top.qsf", &all);
    let report = work.sound(STREAM);
    let rows = report
        .changes
        .iter()
        .filter(|c| c.what.contains("altera_s5_a2p"));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(
        rows[0].what.starts_with("300 paths, lines "),
        "{}",
        rows[0].what
    );
    // No note is a list of names.
    let longest = report.notes.iter().map(String::len).max().unwrap();
    assert!(longest < 2500, "{longest}");
}

/// Without a TLP port these lines do not change.
#[test]
fn without_a_streaming_port_all_stays() {
    let work = board();
    work.sound("");
    assert!(work.made("base.qsf").contains(&partition(OLD)));
}
