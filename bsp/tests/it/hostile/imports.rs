//! Imports by commands that are not plain assignments.

use crate::common::faults::Planted;
use crate::common::{Work, expect, reference_net};
use peerlane_bsp::error::ErrorKind;

const ARGUMENTS: &str = "INPUT_PERSONA persona/base.root_partition.personax -section_id Top";

/// Returns commands that import in other ways.
fn ways() -> Vec<String> {
    [
        "eval set_global_assignment -name {}",
        "eval \"set_global_assignment -name {}\"",
        "set way set_global_assignment\n$way -name {}",
        "interp alias {} assign {} set_global_assignment\nassign -name {}",
        "proc assign {args} { eval set_global_assignment $args }\nassign -name {}",
        "set text \"set_global_assignment -name {}\"\neval $text",
        "set_global_assignment -na {}",
    ]
    .iter()
    .map(|way| match way.rsplit_once("{}") {
        Some((before, after)) => format!("{before}{ARGUMENTS}{after}\n"),
        None => unreachable!("each has a place"),
    })
    .collect()
}

#[test]
fn imports_that_cannot_be_taken_out_are_refused() {
    for way in ways() {
        for file in ["top.qsf", "ip_include.tcl"] {
            let work = Work::of(&reference_net());
            work.edit(
                "top.qsf",
                &format!("set_global_assignment -name {ARGUMENTS}\n"),
                "",
            );
            work.append(file, &way);
            expect(
                &work.refused(""),
                ErrorKind::Unsupported,
                &[
                    "INPUT_PERSONA in a command that is not a plain assignment",
                    &format!("{file}:"),
                ],
            );
        }
    }
    let work = Work::of(&reference_net());
    work.append(
        "top.qsf",
        "set_global_assignment -name INPUT\\x5fPERSONA p.personax -section_id Top\n",
    );
    expect(
        &work.refused(""),
        ErrorKind::Unsupported,
        &["whose name cannot be determined", "top.qsf:"],
    );
}

#[test]
fn imports_that_are_put_back_are_found() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    let mut planted = Planted::new(work);
    for way in ways() {
        let words = ("settings", "this names INPUT_PERSONA");
        planted.fault(&way, "top.qsf", |s| s + &way, words);
        planted.fault(&way, "ip_include.tcl", |s| s + &way, words);
    }
    planted.all_were_found();
}

/// A command that only asks for an import does not import.
#[test]
fn questions_are_no_imports() {
    let work = Work::of(&reference_net());
    work.append(
        "top.qsf",
        "if {[get_global_assignment -name INPUT_PERSONA] eq \"\"} { post_message \"no INPUT_PERSONA\" }\n\
         foreach name {SEED} { if {$name ne \"INPUT_PERSONA\"} { puts $name } }\n\
         set_global_assignment -remove -name INPUT_PERSONA -section_id Top\n\
         set persona [get_global_assignment -name INPUT_PERSONA]\n",
    );
    work.sound("");
}
