//! All files that a BSP names but does not have are reported, with the place that names each: first in a report, last
//! in a refusal.

use std::fs;

use crate::common::faults::{faults, notes};
use crate::common::{Work, reference_net};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, structure};

/// Returns the line of a file that has a text, from 1.
fn line(work: &Work, file: &str, text: &str) -> usize {
    let source = fs::read_to_string(work.input(file)).unwrap();
    let at = source.lines().position(|line| line.contains(text));
    at.unwrap_or_else(|| panic!("no {text:?} in {file}")) + 1
}

/// Makes a BSP that can be extended, and names missing files in every way.
fn lacking() -> (Work, Vec<String>) {
    let work = Work::of(&reference_net());
    work.append(
        "top.qsf",
        "set_global_assignment -name VERILOG_FILE gone.v\nset_global_assignment -name CVP_REVISION flat\n",
    );
    work.append(
        "ip_include.tcl",
        "\nset_global_assignment -name SDC_FILE more/gone.sdc\n",
    );
    work.append("top.qpf", "\nPROJECT_REVISION = \"old\"\n");
    work.edit(
        "board_spec.xml",
        "project=\"top\" revision=\"top\"",
        "project=\"other\" revision=\"gone\"",
    );
    work.edit(
        "board.ipx",
        "</library>",
        " <component name=\"gone\" file=\"gone_hw.tcl\" version=\"1.0\" />\n</library>",
    );
    let mut want: Vec<String> = [
        ("board.ipx", "gone_hw.tcl", "gone_hw.tcl"),
        ("board_spec.xml", "<compile", "gone.qsf"),
        ("board_spec.xml", "<compile", "other.qpf"),
        ("ip_include.tcl", "gone.sdc", "more/gone.sdc"),
        ("top.qpf", "\"old\"", "old.qsf"),
        ("top.qsf", "gone.v", "gone.v"),
        ("top.qsf", "CVP_REVISION flat", "flat.qsf"),
    ]
    .iter()
    .map(|(file, text, target)| format!("{file}:{} names {target}", line(&work, file, text)))
    .collect();
    want.sort();
    (work, want)
}

#[test]
fn the_report_begins_with_them() {
    let (work, want) = lacking();
    let report = work.sound("");
    let mut found = report.missing_in_input.clone();
    found.sort();
    assert_eq!(found, want);
    let text = fs::read_to_string(work.out.join("peerlane-report.md")).unwrap();
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("no {words:?}: {text}"))
    };
    for missing in &want {
        assert!(at(missing) < at("## What to do"), "{missing}");
    }
}

#[test]
fn the_check_begins_with_them() {
    let (work, want) = lacking();
    work.sound("");
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let (first, rest) = findings.0.split_at(want.len());
    for missing in &want {
        let (_, target) = missing.split_once(" names ").unwrap();
        let said = format!("{target} does not exist; the vendor's BSP does not have it either");
        assert!(
            first
                .iter()
                .any(|f| f.what.to_string() == said && f.level == Level::Note),
            "{missing}: {first:#?}"
        );
    }
    assert!(
        !rest
            .iter()
            .any(|f| f.test == "files" && f.level != Level::Good)
    );
    // A file that is lost later is a fault, and precedes the faults that follow from it.
    for file in ["top.v", "board.qsys", "top_post.sdc"] {
        fs::remove_file(work.output(file)).unwrap();
    }
    let findings = structure(&Layout::find(&work.out).unwrap()).unwrap();
    let bad: Vec<_> = findings
        .0
        .iter()
        .filter(|f| f.level == Level::Bad)
        .collect();
    // Each of the two revisions names them.
    let named: Vec<_> = bad.iter().take(4).map(|f| f.what.to_string()).collect();
    assert!(
        named
            .iter()
            .all(|what| what.ends_with("is named, but does not exist")),
        "{named:#?}"
    );
    assert!(bad.len() > 4 && !notes(&work).is_empty());
}

/// The block's component, without which nearly nothing can be checked, does not hide other missing files.
#[test]
fn the_component_and_others() {
    let work = Work::of(&reference_net());
    work.extend("").unwrap();
    for file in ["top.v", "iface/peerlane/peerlane_dma_hw.tcl"] {
        fs::remove_file(work.output(file)).unwrap();
    }
    let found = faults(&work);
    for words in [
        "top.v is named",
        "peerlane_dma_hw.tcl is named",
        "nothing else can be checked",
    ] {
        assert!(
            found
                .iter()
                .any(|(test, what)| *test == "files" && what.contains(words)),
            "{words}: {found:#?}"
        );
    }
}

/// A refusal is about the fault, with its place and its hint. Missing files are a note below it.
#[test]
fn an_error_ends_with_them() {
    let work = Work::of(&reference_net());
    for file in ["top.v", "top_post.sdc"] {
        fs::remove_file(work.input(file)).unwrap();
    }
    // The unchanged BSP is extended.
    let mut want = work.sound("").missing_in_input;
    want.sort();
    assert_eq!(want.len(), 4, "{want:#?}");
    fs::remove_dir_all(&work.out).unwrap();

    // Scripts of the flow do not describe the design.
    work.append(
        "top.qsf",
        "set_global_assignment -name POST_FLOW_SCRIPT_FILE \"quartus_sh:scripts/gone.tcl\"\n",
    );
    want.push(format!(
        "top.qsf:{} names scripts/gone.tcl",
        line(&work, "top.qsf", "gone.tcl")
    ));
    want.sort();
    let qsys = work.input("board.qsys");
    let whole = fs::read_to_string(&qsys).unwrap();
    fs::write(&qsys, &whole[..whole.len() / 2]).unwrap();
    let error = work.refused("");
    assert_eq!(error.kind, ErrorKind::BadXml);
    assert_eq!(error.place.path, qsys, "{error}");
    for words in [error.what.to_string(), error.hint.to_string()] {
        assert!(
            !words.contains("not exist") && !words.contains("missing"),
            "{error:?}"
        );
    }
    assert!(
        error.hint.to_string().starts_with("Take board.qsys"),
        "{error:?}"
    );
    let (note, lines) = error.below.details.split_first().unwrap();
    assert!(
        note.contains("in 5 places. They are not the cause"),
        "{note}"
    );
    let mut said: Vec<_> = lines.iter().map(|line| line.trim().to_string()).collect();
    said.sort();
    assert_eq!(said, want, "as many as the report has");

    // A missing component may well be the reason for a fault.
    fs::write(work.input("top.v"), "module top; endmodule\n").unwrap();
    fs::write(work.input("top_post.sdc"), "").unwrap();
    fs::create_dir_all(work.input("scripts")).unwrap();
    fs::write(work.input("scripts/gone.tcl"), "").unwrap();
    work.edit(
        "board.ipx",
        "</library>",
        " <component name=\"gone\" file=\"gone_hw.tcl\" version=\"1.0\" />\n</library>",
    );
    // A faulty value in an existing file is not caused by a missing file.
    let error = work.refused("");
    assert!(
        error.below.details[0].contains("in 1 place. They are not the cause"),
        "{error:?}"
    );
    let width = "name=\"avmm_width_hwtcl\" value=\"";
    fs::write(
        &qsys,
        whole.replace(&format!("{width}128"), &format!("{width}64")),
    )
    .unwrap();
    let error = work.refused("");
    assert!(error.what.to_string().contains("64 bits"), "{error:?}");
    assert_eq!(
        error.place.line,
        Some(line(&work, "board.qsys", width)),
        "{error:?}"
    );
    assert!(
        error.below.details[0].contains("in 1 place. They are not the cause"),
        "{error:?}"
    );
    let stream = "[port]\nkind = \"tlp\"\n";
    let rates = "name=\"gen123_lane_rate_mode_hwtcl\" value=\"Gen2 (5.0 Gbps)\"";
    fs::write(&qsys, whole.replace(rates, &rates.replace("Gen2", "Gen9"))).unwrap();
    let error = work.refused(stream);
    assert!(
        error.what.to_string().contains("not a rate of PCIe"),
        "{error:?}"
    );
    assert!(
        error.below.details[0].contains("They are not the cause"),
        "{error:?}"
    );
    fs::write(&qsys, whole.replace("kind=\"acl_dma\"", "kind=\"gone\"")).unwrap();
    let error = work.refused("");
    assert_eq!(error.kind, ErrorKind::NoDma, "{error:?}");
    assert!(
        error.below.details[0].contains("in 1 place. A missing file of the design may be"),
        "{error:?}"
    );

    // An error that is unrelated to the BSP's files has no such note.
    let error = work.extend("channels = 3").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    assert!(error.below.details.is_empty(), "{error:?}");
}

/// A compiled file that the extension removes from the settings is reported as missing neither in the report nor in a
/// refusal.
#[test]
fn imports_are_not_among_them() {
    let work = Work::of(&reference_net());
    work.append(
        "top.qsf",
        "set_global_assignment -name PARTITION_IMPORT_FILE gone.qxp -section_id part\n\
         set_global_assignment -name QXP_FILE gone.qxp\n",
    );
    let whole = fs::read_to_string(work.input("board.qsys")).unwrap();
    let report = work.sound("");
    assert_eq!(report.missing_in_input, Vec::<String>::new());
    fs::remove_dir_all(&work.out).unwrap();
    fs::write(work.input("board.qsys"), &whole[..whole.len() / 2]).unwrap();
    let error = work.refused("");
    assert!(error.below.details.is_empty(), "{error:?}");
}
