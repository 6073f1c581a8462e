//! Traits of real boards, in small systems of our own: refusals give the real reason, faults of the vendor's are
//! reported, too, and the report is readable.

use std::fs;

use crate::common::faults::{faults, notes, proved};
use crate::common::{Work, expect, reference_net, told};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;

const BOARD: &str = "board.qsys";
const SYSTEM: &str = "acl_iface_system.qsys";

fn net() -> Work {
    Work::of(&reference_net())
}

/// Makes the board without its `acl_dma`, which gets another kind, and optionally without its PCIe hard IP.
fn without_dma(replace: &[(&str, &str)]) -> Work {
    let work = net();
    let mut text = fs::read_to_string(work.input(BOARD)).unwrap();
    text = text.replace("kind=\"acl_dma\"", "kind=\"altera_avalon_mm_bridge\"");
    for (from, to) in replace {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(work.input(BOARD), text).unwrap();
    work
}

/// Returns an instance that an .ip file describes, as Quartus Prime Pro writes it.
fn generic(name: &str, class: &str, more: &str) -> String {
    format!(
        " <module name=\"{name}\" kind=\"altera_generic_component\" version=\"1.0\" enabled=\"1\">\n  <parameter \
         name=\"componentDefinition\"><![CDATA[<componentDefinition><boundary>{more}</boundary><originalModuleInfo>\
         <className>{class}</className></originalModuleInfo></componentDefinition>]]></parameter>\n </module>\n <module"
    )
}

#[test]
fn refusals_name_the_real_dma() {
    let hip = "kind=\"altera_pcie_sv_hip_avmm\"";
    let bridge = generic("pipe_stage_dma_rd_master", "altera_avalon_mm_bridge", "");
    let inside = generic("pcie", "altera_pcie_a10_hip", "<name>rd_dts_slave</name>");
    let msgdma = generic("mover", "altera_msgdma", "");
    let hps =
        " <module kind=\"altera_hps\" version=\"14.0\" enabled=\"1\" name=\"hps_0\" />\n <module";
    let shell =
        " <module kind=\"cci_interface\" version=\"1.0\" enabled=\"1\" name=\"door\" />\n <module";
    let no_hip = (hip, "kind=\"altera_avalon_mm_bridge\"");
    for (more, replace, words) in [
        (
            format!("{bridge}{}", &inside[" <module".len()..]),
            vec![no_hip],
            "its DMA is inside the PCIe hard IP, pcie of kind altera_pcie_a10_hip",
        ),
        (
            msgdma,
            vec![no_hip],
            "its DMA is mover of kind altera_msgdma",
        ),
        (
            hps.into(),
            vec![no_hip],
            "its host is the HPS, hps_0 of kind altera_hps",
        ),
        (
            shell.into(),
            vec![no_hip],
            "in a shell outside the BSP, connected by door of kind cci_interface",
        ),
    ] {
        let work = without_dma(&replace);
        work.edit(BOARD, " <module", &more);
        let error = work.refused("");
        expect(&error, ErrorKind::NoDma, &[words, "board.qsys:"]);
    }
}

#[test]
fn a_specification_without_systems_is_told() {
    let work = net();
    let board = work.input("");
    fs::create_dir(board.join("build")).unwrap();
    for entry in fs::read_dir(&board).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "qsys") {
            fs::rename(&path, board.join("build").join(path.file_name().unwrap())).unwrap();
        }
    }
    let error = Layout::find(&work.bsp).unwrap_err();
    let words = [
        "board_spec.xml",
        "no .qsys file next to",
        "some are in build/",
        "shell",
    ];
    expect(&error, ErrorKind::NotABsp, &words);
    assert!(!error.paragraph().contains("no board_spec.xml"), "{error}");
}

/// Two of the vendor's slaves at one base, and a base that is not a number.
#[test]
fn addresses_that_cannot_be_are_refused() {
    let base = |end: &str, value: &str| {
        let text =
            fs::read_to_string(reference_net().join("hardware/peerlane_net").join(BOARD)).unwrap();
        let at = text.find(&format!("end=\"{end}\"")).unwrap();
        let (before, rest) = text.split_at(at);
        let from = rest.find("baseAddress").unwrap();
        let (head, rest) = rest.split_at(from);
        let old = rest
            .split("value=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let rest = rest.replacen(
            &format!("value=\"{old}\""),
            &format!("value=\"{value}\""),
            1,
        );
        let work = net();
        fs::write(work.input(BOARD), format!("{before}{head}{rest}")).unwrap();
        work
    };
    let error = base("identity.s", "0x0010").refused("");
    let words = ["identity.s at 0x10 overlaps endpoint.Cra", "board.qsys:"];
    expect(&error, ErrorKind::Unsupported, &words);
    let error = base("identity.s", "banana").refused("");
    expect(
        &error,
        ErrorKind::BadXml,
        &["base address \"banana\" is not a number", "board.qsys:"],
    );
}

/// A test that found a fault of the vendor's does not report success.
#[test]
fn what_the_vendor_has_wrong_is_not_called_right() {
    let work = Work::new();
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    // The CRA, 16 KiB, not at a multiple of its size.
    let at = text.find("end=\"host_link.Cra\"").unwrap();
    let (head, rest) = text.split_at(at);
    let moved = rest.replacen("value=\"0x8000\"", "value=\"0xa000\"", 1);
    assert_ne!(moved, rest);
    fs::write(work.input(SYSTEM), format!("{head}{moved}")).unwrap();
    work.extend("").unwrap();
    assert_eq!(faults(&work), []);
    let of = |all: Vec<(&'static str, String)>| {
        all.into_iter()
            .filter(|(test, _)| *test == "bases")
            .collect::<Vec<_>>()
    };
    let found = of(notes(&work));
    assert!(
        found
            .iter()
            .any(|(_, what)| what.ends_with("in the vendor's BSP too")),
        "{found:?}"
    );
    assert_eq!(of(proved(&work)), []);
}

/// The kernels' interface of AOCL 14.0 and later has another kind, whose span is known.
#[test]
fn the_kernels_interface_of_later_sdks_is_known() {
    let work = net();
    let text = fs::read_to_string(work.input(BOARD)).unwrap();
    let text = (text.replace("kind=\"acl_kernel_interface\"", "kind=\"kernel_interface\""))
        .replace("kernel_bus.kernel_cntrl", "kernel_bus.ctrl");
    fs::write(work.input(BOARD), text).unwrap();
    let report = work.sound("");
    let entry = report.bar_after.entries.iter();
    let entry = entry
        .clone()
        .find(|entry| entry.slave == "kernel_bus.ctrl")
        .unwrap();
    assert_eq!((entry.bytes, entry.assumed), (0x4000, false));
    let identity = report
        .bar_after
        .entries
        .iter()
        .find(|entry| entry.slave == "identity.s");
    assert_eq!(
        identity.map(|entry| (entry.bytes, entry.assumed)),
        Some((4, false))
    );
    let board = work.described().shell;
    let kernels = board.opencl.kernels.expect("the kernels' range");
    assert_eq!((kernels.offset, kernels.bytes), (entry.base, 0x4000));
    assert_eq!(board.line.and_then(|line| line.kernels), Some(0));
}

/// The report: tasks in lines, effects of missing files, the lists of files last and folded.
#[test]
fn the_report_can_be_read() {
    let work = net();
    work.append("top.qsf", "set_global_assignment -name SDC_FILE lost.sdc\n");
    let report = work.sound("");
    let text = report.markdown();
    let lost = text
        .lines()
        .find(|line| line.contains("names lost.sdc"))
        .unwrap();
    assert!(
        lost.contains("goes on, without its timing constraints"),
        "{lost}"
    );
    let (list, _) = text.split_once("### Details").unwrap();
    let (_, list) = list.split_once("## What to do").unwrap();
    for n in 1..=report.to_do.len() {
        let line = list
            .lines()
            .find(|line| line.starts_with(&format!("{n}. ")))
            .unwrap();
        assert!(line.len() < 170, "{line}");
    }
    let example = "   -set_global_assignment -name LL_WIDTH";
    assert!(
        list.contains(example) && list.contains("   +set_global_assignment"),
        "{list}"
    );
    let changes = text.find("## Changes").unwrap();
    let files = text.find("<details><summary>Files added").unwrap();
    assert!(changes < files && text.trim_end().ends_with("</details>"));
    assert!(!text.contains("## Files added"));
}

/// Up to 17.0 `--board NAME`, since 17.1 `-board=NAME` (release notes of the SDK 17.1): the notes agree with the
/// README.
#[test]
fn the_command_in_the_notes_is_that_of_the_sdk() {
    for (sdk, says) in [
        ("13.1", "`aoc --board peerlane_net_peerlane`"),
        ("17.0", "`aoc --board peerlane_net_peerlane`"),
        ("17.1", "`aoc -board=peerlane_net_peerlane`"),
        ("18.1", "`aoc -board=peerlane_net_peerlane`"),
    ] {
        let report = net().extend(&format!("sdk = \"{sdk}\"")).unwrap();
        assert!(
            report.notes.iter().any(|note| note.contains(says)),
            "{sdk}: {:#?}",
            report.notes
        );
    }
}

#[test]
fn the_sdks_version_can_be_given() {
    let work = net();
    let report = work.sound("sdk = \"16.1\"");
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    assert!(
        readme.contains("16.1, as the configuration says"),
        "{readme}"
    );
    assert!(told(&report).any(|note| note.contains("PEERLANE_MMD_VERSION to 16.1")));
    let error = net().refused("sdk = \"12.1\"");
    expect(
        &error,
        ErrorKind::Config,
        &["sdk = \"12.1\" is not a version", "c.toml:1"],
    );
    assert!(readme.contains("The *build machine*") && readme.contains("The *target machine*"));
}
