//! Settings of the whole project and of LogicLock regions: each difference from the vendor's is reported, with the
//! vendor's line.

use std::fs;

use crate::common::faults::{Planted, faults, notes};
use crate::common::{Work, edit, expect, reference_net};
use peerlane_bsp::error::ErrorKind;

const BOARD: &str = "system:system_inst|system_board:board";

/// Makes a BSP with a region of several rectangles that contains the whole board, and one that contains only a bridge
/// of it.
fn net() -> Work {
    let work = Work::of(&reference_net());
    let region = |name: &str, member: &str| {
        format!(
            "set_global_assignment -name LL_ENABLED ON -section_id {name}\n\
             set_global_assignment -name LL_AUTO_SIZE OFF -section_id {name}\n\
             set_global_assignment -name LL_RECT X0_Y30 -width 100 -height 40 -section_id {name}\n\
             set_global_assignment -name LL_RECT X0_Y70 -width 50 -height 40 -section_id {name}\n\
             set_instance_assignment -name LL_MEMBER_OF {name} -to \"{member}\" -section_id {name}\n"
        )
    };
    work.append(
        "top.qsf",
        &format!(
            "{}{}set_global_assignment -name FITTER_EFFORT OFF\n\
             set_global_assignment -name VERILOG_FILE ./more.v\n\
             set_global_assignment -name VERILOG_MACRO \"A=1\"\n\
             set_global_assignment -name POST_FLOW_SCRIPT_FILE \"quartus_cdb:scripts/more.tcl\"\n\
             set_global_assignment -name LAST_QUARTUS_VERSION 14.1.0\n",
            region("whole", BOARD),
            region("other", "system:system_inst|more:other"),
        ),
    );
    work.put("more.v", "module more; endmodule\n");
    work.put("scripts/more.tcl", "puts more\n");
    work
}

/// Returns the line of a text in a vendor's file.
fn line(work: &Work, text: &str) -> usize {
    let all = fs::read_to_string(work.input("top.qsf")).unwrap();
    all.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// Checks that a change of a file is not a fault, and is reported with these words.
fn noted(work: &Work, (from, to): (&str, &str), test: &str, words: &str) {
    let path = work.output("top.qsf");
    let before = fs::read_to_string(&path).unwrap();
    edit(&path, from, to);
    assert_eq!(faults(work), [], "{words}");
    let said = notes(work);
    let all = said.iter().filter(|(t, w)| *t == test && w == words);
    assert_eq!(all.count(), 1, "{words}: {said:#?}");
    fs::write(&path, before).unwrap();
}

#[test]
fn what_the_extension_changes_is_not_told() {
    for config in ["", "irq = \"msix\"", "[port]\nkind = \"tlp\"\n"] {
        for work in [Work::new(), net()] {
            work.sound(config);
            let said = notes(&work);
            let ours = said
                .iter()
                .filter(|(_, what)| what.contains("the vendor's top.qsf:"));
            assert_eq!(ours.count(), 0, "{config}: {said:#?}");
        }
    }
}

#[test]
fn regions_and_their_members() {
    let work = net();
    work.sound("");
    let top = |text: &str| format!("the vendor's top.qsf:{}", line(&work, text));
    let rectangle = "LL_RECT X0_Y70 -width 50 -height 40 -section_id whole";
    let (member, other, gone) = (
        top("LL_MEMBER_OF whole"),
        top("LL_MEMBER_OF other"),
        top("LL_ENABLED ON -section_id whole"),
    );
    noted(
        &work,
        (rectangle, &rectangle.replace("50", "60")),
        "regions",
        &format!(
            "LL_RECT of whole is \"X0_Y70 -height 40 -width 60\"; in {} it is \"X0_Y70 -height 40 -width 50\"",
            top(rectangle)
        ),
    );
    // A region without the block, whose room a user may need.
    let small = "LL_RECT X0_Y70 -width 50 -height 40 -section_id other";
    noted(
        &work,
        (&format!("set_global_assignment -name {small}\n"), ""),
        "regions",
        &format!(
            "LL_RECT of other (\"X0_Y70 -height 40 -width 50\") of {} is missing",
            top(small)
        ),
    );
    noted(
        &work,
        (
            "LL_ENABLED ON -section_id whole",
            "LL_ENABLED OFF -section_id whole",
        ),
        "regions",
        &format!("LL_ENABLED of whole is \"OFF\"; in {gone} it is \"ON\""),
    );
    let mut planted = Planted::new(work);
    let without = |text: String, words: &str| -> String {
        let kept = text.lines().filter(|line| !line.contains(words));
        kept.map(|line| format!("{line}\n")).collect()
    };
    for (name, words, what) in [
        (
            "the block's member",
            "LL_MEMBER_OF whole",
            format!(
                "{BOARD}, where the block is, is not a member of the LogicLock region whole any more; it is a member \
                 in {member}"
            ),
        ),
        (
            "another member",
            "LL_MEMBER_OF other",
            format!(
                "|more:other is not a member of the LogicLock region other any more; it is a member in {other}"
            ),
        ),
        (
            "a region",
            "-section_id whole",
            format!("the LogicLock region whole of {gone} is missing"),
        ),
        (
            "all lines",
            "LL_",
            format!("the LogicLock region whole of {gone} is missing"),
        ),
        ("a rectangle", rectangle, "LL_RECT of whole".to_string()),
    ] {
        planted.fault(name, "top.qsf", |s| without(s, words), ("regions", &what));
    }
    planted.fault(
        "less room",
        "top.qsf",
        |s| {
            s.replace(
                "X0_Y30 -width 100 -height 40 -section_id whole",
                "X0_Y30 -width 2 -height 2 -section_id whole",
            )
        },
        (
            "regions",
            "LL_RECT of whole is \"X0_Y30 -height 2 -width 2\"",
        ),
    );
    planted.fault(
        "no member any more",
        "top.qsf",
        |s| s.replace("LL_MEMBER_OF whole", "LL_MEMBER_OFX whole"),
        ("regions", &member),
    );
    planted.all_were_found();
}

#[test]
fn settings_of_the_project() {
    let work = net();
    work.sound("");
    let top = |text: &str| format!("the vendor's top.qsf:{}", line(&work, text));
    let off = "set_global_assignment -name FITTER_EFFORT OFF\n";
    let clock = top("FITTER_EFFORT");
    noted(
        &work,
        ("FITTER_EFFORT OFF", "FITTER_EFFORT ON"),
        "settings",
        &format!("FITTER_EFFORT is \"ON\"; in {clock} it is \"OFF\""),
    );
    noted(
        &work,
        (off, ""),
        "settings",
        &format!("FITTER_EFFORT (\"OFF\") of {clock} is missing"),
    );
    noted(
        &work,
        (off, &format!("{off}{}", off.replace("OFF", "ON"))),
        "settings",
        &format!("FITTER_EFFORT has the last value \"ON\"; in {clock} it is \"OFF\""),
    );
    noted(
        &work,
        (off, &format!("if {{$x}} {{\n{off}}}\n")),
        "settings",
        &format!("FITTER_EFFORT (\"OFF\") is set only under a condition; {clock} always sets it"),
    );
    noted(
        &work,
        (
            "set_global_assignment -name POST_FLOW_SCRIPT_FILE \"quartus_cdb:scripts/more.tcl\"\n",
            "",
        ),
        "settings",
        &format!(
            "POST_FLOW_SCRIPT_FILE (\"quartus_cdb:scripts/more.tcl\") of {} is missing",
            top("more.tcl")
        ),
    );
    // Quartus writes the first, and the others have the same meaning.
    let path = work.output("top.qsf");
    let before = fs::read_to_string(&path).unwrap();
    edit(
        &path,
        "LAST_QUARTUS_VERSION 14.1.0",
        "LAST_QUARTUS_VERSION 18.1.0",
    );
    edit(&path, "VERILOG_FILE ./more.v", "VERILOG_FILE more.v");
    edit(
        &path,
        "VERILOG_MACRO \"A=1\"\n",
        "VERILOG_MACRO A=1\nset_global_assignment -name VERILOG_MACRO B\n",
    );
    assert_eq!(faults(&work), []);
    let said = notes(&work);
    let ours = said
        .iter()
        .filter(|(_, what)| what.contains("the vendor's top.qsf:"));
    assert_eq!(ours.count(), 0, "{said:#?}");
    fs::write(&path, before).unwrap();
    let (source, system) = (top("./more.v"), top("QSYS_FILE"));
    let mut planted = Planted::new(work);
    planted.fault(
        "a source file",
        "top.qsf",
        |s| s.replace("set_global_assignment -name VERILOG_FILE ./more.v\n", ""),
        (
            "settings",
            &format!("VERILOG_FILE (\"./more.v\") of {source} is missing"),
        ),
    );
    planted.fault(
        "the system",
        "top.qsf",
        |s| {
            s.replace(
                "set_global_assignment -name QSYS_FILE",
                "# set_global_assignment -name QSYS_FILE",
            )
        },
        ("settings", &format!("of {system} is missing")),
    );
    planted.all_were_found();
}

/// A truncated file would lose pins, regions and constraints without a message.
#[test]
fn settings_that_were_cut_are_refused() {
    for (end, what) in [
        (
            "set_instance_assignment -name CURRENT_STRENGTH_NEW 8MA -to dq[23] -ta",
            "\"-ta\" is not an option",
        ),
        (
            "set_global_assignment -name FITTER_EFFORT OFF -ta",
            "\"-ta\" is not an option",
        ),
        (
            "set_instance_assignment -name IO_STANDARD \"1.5",
            "a quote or brace of it is not closed",
        ),
        (
            "set_location_assignment PIN_A1 -to",
            "the option -to has no value",
        ),
        (
            "set_location_assignment PIN_A1 -to\n",
            "the option -to has no value",
        ),
        ("set_glob", "\"set_glob\" is not a command"),
    ] {
        let work = net();
        work.append("top.qsf", end);
        let text = fs::read_to_string(work.input("top.qsf")).unwrap();
        let place = format!("top.qsf:{}:", text.lines().count());
        let error = work.refused("");
        expect(
            &error,
            ErrorKind::Unsupported,
            &[&place, what, "Copy the whole file"],
        );
    }
    let work = net();
    work.append("top.qsf", "set_global_assignment -name ENABLE_OCT_DONE OFF");
    work.sound("");
}
