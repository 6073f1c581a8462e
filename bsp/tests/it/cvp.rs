//! Boards for configuration over PCIe (CvP): report and README describe the consequences for the extended board.

use std::fs;

use crate::common::{self, Work, reference_net, vendor_bsp};

/// Returns the first note on it, whether the note is a task, and the README.
fn told(work: &Work) -> (Option<String>, bool, String) {
    let report = work.sound("");
    let is = |note: &&String| note.contains("CvP");
    let note = common::told(&report).find(is).cloned();
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    (
        note,
        report.to_do.iter().any(|note| note.contains("CvP")),
        readme,
    )
}

const PARAGRAPH: &str = "**This board is for configuration over PCIe (CvP).**";

#[test]
fn the_order_of_loading_is_said() {
    let (note, to_do, readme) = told(&Work::of(&reference_net()));
    let note = note.unwrap();
    assert!(to_do);
    for words in [
        "CVP_MODE \"SUBSEQUENT CORE RECONFIGURATION\" of revision base",
        "CVP_REVISION \"top\" of revision base",
        "REVISION_TYPE \"CVP\" of revision top",
        "in_cvp_mode_hwtcl of endpoint",
        "the whole image (.sof) of the new board comes first",
        "load the core over PCIe where the package has one",
    ] {
        assert!(note.contains(words), "{words}: {note}");
    }
    // In the step that loads the first image, before its command.
    let (_, step) = readme.split_once("## 5. ").unwrap();
    let (before, _) = step.split_once("quartus_pgm").unwrap();
    assert!(
        before.contains(PARAGRAPH) && before.contains(".acl.sof"),
        "{before}"
    );
    assert!(
        !readme.contains("&quot;") && !readme.contains("&#"),
        "{readme}"
    );
}

#[test]
fn a_board_without_says_nothing() {
    let (note, _, readme) = told(&Work::new());
    assert_eq!(note, None);
    assert!(!readme.contains("CvP"));
    // A setting that is off does not count.
    let work = Work::of(&reference_net());
    for revision in ["base.qsf", "top.qsf"] {
        work.edit(
            revision,
            "CVP_MODE \"SUBSEQUENT CORE RECONFIGURATION\"",
            "CVP_MODE OFF",
        );
    }
    work.edit(
        "base.qsf",
        "set_global_assignment -name CVP_REVISION top\n",
        "",
    );
    work.edit("top.qsf", "REVISION_TYPE CVP", "REVISION_TYPE BASE");
    work.edit(
        "board.qsys",
        "name=\"in_cvp_mode_hwtcl\" value=\"1\"",
        "name=\"in_cvp_mode_hwtcl\" value=\"0\"",
    );
    let (note, _, _) = told(&work);
    assert_eq!(note, None);
}

/// Each of these is enough, also in a file that is sourced. If the core comes at power-up, no part of Peerlane loads
/// it.
#[test]
fn a_core_that_comes_at_power_up() {
    for mode in [
        "CORE INITIALIZATION AND UPDATE",
        "CORE INITIALIZATION",
        "POWER UP AND SUBSEQUENT CORE CONFIGURATION",
    ] {
        let work = Work::new();
        work.put(
            "more.tcl",
            &format!("set_global_assignment -name CVP_MODE \"{mode}\"\n"),
        );
        work.append(
            "top.qsf",
            "\nset_global_assignment -name SOURCE_TCL_SCRIPT_FILE more.tcl\n",
        );
        let (note, to_do, readme) = told(&work);
        let note = note.unwrap();
        assert!(
            to_do && note.contains(&format!("CVP_MODE \"{mode}\" of revision top")),
            "{note}"
        );
        for text in [&note, &readme] {
            assert!(
                text.contains("after each power-up it must be loaded by JTAG"),
                "{text}"
            );
        }
    }
}

#[test]
fn the_vendors_board_is_one() {
    let Some(bsp) = vendor_bsp() else { return };
    let (note, to_do, readme) = told(&Work::of(&bsp));
    assert!(to_do && note.unwrap().contains("SUBSEQUENT CORE RECONFIGURATION"));
    assert!(readme.contains(PARAGRAPH));
}
