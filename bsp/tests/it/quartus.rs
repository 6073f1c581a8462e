//! Facts about the extended board for Quartus and the OpenCL SDK: figures by the device's family, the platform's type,
//! the regions of the floor plan.

use crate::common::faults::{faults, notes};
use crate::common::{self, Work, expect, reference_net};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::extend::report::Report;

const SYSTEM: &str = "board.qsys";
const REVISIONS: [&str; 2] = ["base.qsf", "top.qsf"];

fn net() -> Work {
    Work::of(&reference_net())
}

/// Returns the notes of a report with some words.
fn said<'a>(report: &'a Report, words: &str) -> Vec<&'a str> {
    let all = common::told(report).map(String::as_str);
    all.filter(|note| note.contains(words)).collect()
}

/// Makes the reference BSP for another device, with the hard IP of its family.
fn cyclone() -> Work {
    let work = net();
    for revision in REVISIONS {
        work.edit(revision, "\"Stratix V\"", "\"Cyclone V\"");
        work.edit(revision, "5SGXEA7N2F45C2", "5CGTFD9E5F35C7");
    }
    work.edit(
        "board_spec.xml",
        "5sgxea7n2f45c2_dm.xml",
        "5cgtfd9e5f35c7_dm.xml",
    );
    work.edit(SYSTEM, "altera_pcie_sv_hip_avmm", "altera_pcie_cv_hip_avmm");
    work.edit(SYSTEM, "value=\"x8\"", "value=\"x4\"");
    work
}

#[test]
fn memory_blocks_are_those_of_the_family() {
    let first = net();
    let stratix = first.sound("");
    let work = cyclone();
    let report = work.sound("");
    // Blocks of half the bits, so more of them; never more than twice as many.
    let (large, small) = (stratix.resources.rams, report.resources.rams);
    assert!(large < small && small <= 2 * large, "{large} {small}");
    assert_eq!(stratix.resources.ffs, report.resources.ffs);
    for (report, name) in [(&stratix, "M20K"), (&report, "M10K")] {
        assert!(
            report
                .markdown()
                .contains(&format!("memory blocks ({name})"))
        );
        assert!(report.json().contains(&format!("\"memory\": \"{name}\"")));
    }
    assert!(
        work.made("board_spec.xml")
            .contains(&format!("<rams num=\"{}\"/>", 500 + small))
    );
    // The Verilog asks for memory blocks that the device has.
    for (work, has, lacks) in [
        (&first, "\"M20K, no", "M10K"),
        (&work, "\"M10K, no", "M20K"),
    ] {
        let verilog = common::snapshot(&work.output("iface/peerlane"));
        let texts: Vec<_> = verilog
            .values()
            .map(|text| String::from_utf8_lossy(text))
            .collect();
        assert!(texts.iter().any(|text| text.contains(has)));
        assert!(!texts.iter().any(|text| text.contains(lacks)));
    }
    // The settings may leave the family to the device, and the device to the board's specification.
    let work = cyclone();
    for revision in REVISIONS {
        work.edit(
            revision,
            "set_global_assignment -name FAMILY \"Cyclone V\"\n",
            "",
        );
    }
    assert_eq!(work.sound("").resources, report.resources);
    let work = cyclone();
    for revision in REVISIONS {
        work.edit(revision, "\"Cyclone V\"", "\"Cyclone X\"");
        work.edit(revision, "5CGTFD9E5F35C7", "5XX");
    }
    work.edit("board_spec.xml", "5cgtfd9e5f35c7_dm.xml", "other_dm.xml");
    let unknown = work.sound("");
    assert_eq!(unknown.resources, report.resources);
    assert_eq!(said(&unknown, "counted as M10K").len(), 1);
    assert_eq!(said(&report, "says FAMILY").len(), 0);
}

/// An unsupported family is noted, even if the device is known.
#[test]
fn a_family_that_is_not_known_is_said() {
    let work = net();
    work.edit("top.qsf", "\"Stratix V\"", "\"Arria 10\"");
    let report = work.sound("");
    let said = said(&report, "says FAMILY \"Arria 10\"");
    assert_eq!(said.len(), 1, "{:#?}", report.notes);
    assert!(
        said[0].starts_with("The vendor's hardware/peerlane_net/top.qsf:2 "),
        "{}",
        said[0]
    );
    assert!(
        said[0].contains("Stratix V, Arria V GZ, Arria V, Cyclone V"),
        "{}",
        said[0]
    );
}

/// The block has no port of 64 bits, which is all that Gen1 x4 has. Other links have one of 128 bits (Stratix V
/// Avalon-MM user guide 683411, "System Settings"); with such a link the same board is extended.
#[test]
fn a_port_of_64_bits_is_refused_with_its_link() {
    let narrow = |rate: &str, lanes: &str| {
        let work = cyclone();
        work.edit(SYSTEM, "Gen2 (5.0 Gbps)", rate);
        work.edit(SYSTEM, "value=\"x4\"", &format!("value=\"{lanes}\""));
        let width = "\"avmm_width_hwtcl\" value=\"128\"";
        work.edit(SYSTEM, width, "\"avmm_width_hwtcl\" value=\"64\"");
        work
    };
    for lanes in ["x4", "x1"] {
        let error = narrow("Gen1 (2.5 Gbps)", lanes).refused("");
        let link = format!("64 bits (avmm_width_hwtcl), the link is Gen1 (2.5 Gbps) {lanes}");
        let words = [
            link.as_str(),
            "Gen1 x8, Gen2 x8, Gen2 x4",
            "cannot be extended by this version",
        ];
        expect(&error, ErrorKind::Unsupported, &words);
        assert!(!error.hint.to_string().contains("256"), "{error:?}");
    }
    for (rate, lanes) in [
        ("Gen1 (2.5 Gbps)", "x8"),
        ("Gen2 (5.0 Gbps)", "x4"),
        ("Gen2 (5.0 Gbps)", "x8"),
    ] {
        let work = narrow(rate, lanes);
        let error = work.refused("");
        let says = "Set avmm_width_hwtcl to 128";
        expect(
            &error,
            ErrorKind::Unsupported,
            &["64 bits", rate, lanes, says],
        );
        for word in ["Gen2 x4", "cannot be extended", "256"] {
            assert!(!error.hint.to_string().contains(word), "{word}: {error:?}");
        }
        work.edit(
            SYSTEM,
            "\"avmm_width_hwtcl\" value=\"64\"",
            "\"avmm_width_hwtcl\" value=\"128\"",
        );
        work.sound("");
    }
}

#[test]
fn memory_of_256_bits_is_taken_and_said() {
    let work = net();
    work.edit(
        SYSTEM,
        "\"NUM_BANKS\" value=\"2\" />\n  <parameter name=\"DATA_WIDTH\" value=\"512\"",
        "\"NUM_BANKS\" value=\"2\" />\n  <parameter name=\"DATA_WIDTH\" value=\"256\"",
    );
    for port in ["kernel_mem0", "kernel_mem1"] {
        let with = |width| format!("port=\"{port}\" type=\"slave\" width=\"{width}\"");
        work.edit("board_spec.xml", &with(512), &with(256));
    }
    let report = work.sound("");
    let notes = said(&report, "kernel_mem0 256 bits, kernel_mem1 256 bits");
    assert_eq!(notes.len(), 1, "{:?}", report.notes);
    assert!(
        notes[0].contains("as many beats as necessary"),
        "{}",
        notes[0]
    );
    assert!(said(&net().sound(""), "Platform Designer adapts").is_empty());
}

#[test]
fn the_platforms_type_is_told_outright() {
    let file = "board_spec.xml";
    let work = net();
    let report = work.sound("");
    assert!(
        work.made(file)
            .contains("<auto_migrate platform_type=\"s5_net\">")
    );
    let told = report
        .changes
        .iter()
        .filter(|c| c.what == "platform_type auto → s5_net");
    assert_eq!(told.count(), 1);
    // Set by the vendor already.
    let work = net();
    work.edit(file, "platform_type=\"auto\"", "platform_type=\"none\"");
    work.sound("");
    assert!(work.made(file).contains("platform_type=\"none\""));
    // Not set.
    let work = net();
    let text = std::fs::read_to_string(work.input(file)).unwrap();
    let (before, rest) = text.split_once("    <auto_migrate").unwrap();
    let (_, after) = rest.split_once("</auto_migrate>\n").unwrap();
    std::fs::write(work.input(file), format!("{before}{after}")).unwrap();
    work.sound("");
    assert!(
        work.made(file)
            .contains("    <auto_migrate platform_type=\"s5_net\">\n      <include fixes=\"\"/>")
    );
    // The SDK would not find the type by a file: another family, or too old.
    let work = net();
    work.edit(
        "top.qsf",
        "LAST_QUARTUS_VERSION 14",
        "LAST_QUARTUS_VERSION 12",
    );
    work.sound("");
    assert!(work.made(file).contains("platform_type=\"auto\""));
    let work = cyclone();
    work.sound("");
    assert!(work.made(file).contains("platform_type=\"auto\""));
}

/// A board in the shape of AOCL 13.1, with a partition; the older specifications have no `<compile>`.
#[test]
fn the_type_of_a_platform_with_a_partition() {
    let board = |compile: &str| {
        let work = Work::new();
        work.put("acl_iface_partition.qxp", "compiled");
        work.append(
            "top.qsf",
            "set_global_assignment -name LAST_QUARTUS_VERSION \"13.1\"\n",
        );
        let device = "  <device device_model";
        work.edit("board_spec.xml", device, &format!("{compile}{device}"));
        work
    };
    let work = board("  <compile project=\"top\" revision=\"top\"/>\n");
    work.sound("");
    assert!(work.made("board_spec.xml").contains(
        "  <compile project=\"top\" revision=\"top\">\n    <auto_migrate platform_type=\"cvpqxp_13.x\">\n"
    ));
    let work = board("");
    let report = work.sound("");
    assert!(!work.made("board_spec.xml").contains("auto_migrate"));
    assert_eq!(
        said(&report, "finds that the vendor's BSP is cvpqxp_13.x").len(),
        1
    );
    let said = notes(&work);
    assert!(
        said.iter()
            .any(|(test, what)| *test == "automigration" && what.contains("<compile> is missing")),
        "{said:?}"
    );
    assert_eq!(faults(&work), []);
}

const WAY: &str = "system:system_inst|system_board:board|";

/// Returns the members of regions in a file of the copy.
fn members(work: &Work, file: &str) -> Vec<String> {
    let text = work.made(file);
    let lines = text
        .lines()
        .filter(|line| line.contains("LL_MEMBER_OF") && !line.trim().starts_with('#'));
    lines
        .map(|line| {
            let path = line
                .split("-to ")
                .nth(1)
                .unwrap()
                .split(" -section_id")
                .next()
                .unwrap();
            path.trim_matches(['"', '{', '}']).replace(WAY, "")
        })
        .collect()
}

fn member(path: &str) -> String {
    format!("set_instance_assignment -name LL_MEMBER_OF r -to \"{path}\" -section_id r\n")
}

#[test]
fn members_of_regions_follow_the_instances() {
    let work = net();
    let report = work.sound("");
    for revision in REVISIONS {
        assert_eq!(
            members(&work, revision),
            [
                "altera_avalon_mm_bridge:host_pipe",
                // Next to the member that follows it.
                "altera_avalon_mm_bridge:peerlane_bar0",
                "peerlane_dma:copier",
            ]
        );
        // Other settings of the regions stay.
        for setting in [
            "LL_ORIGIN X0_Y1",
            "LL_WIDTH 116",
            "LL_HEIGHT 24",
            "LL_STATE LOCKED",
        ] {
            assert!(work.made(revision).contains(setting));
        }
    }
    let says = |words: &str| {
        report
            .changes
            .iter()
            .filter(|c| c.what.contains(words))
            .count()
    };
    assert_eq!(
        says("member system_board_copier:copier of region board_region → peerlane_dma:copier"),
        2
    );
    assert_eq!(
        says(
            "|altera_avalon_mm_clock_crossing_bridge:cross_control of region board_region removed"
        ),
        2
    );
    assert_eq!(
        says("member altera_avalon_mm_bridge:peerlane_bar0 added to region board_region"),
        2
    );
    let msix = net();
    msix.sound("irq = \"msix\"");
    assert_eq!(members(&msix, "top.qsf")[2], "peerlane_dma_msix:copier");
    // The place is named once, for both revisions, with the setting to enlarge.
    let size = said(
        &report,
        "board_region (116 × 24, X0_Y1, LOCKED; revision base, top)",
    );
    assert_eq!(size.len(), 1, "{:?}", report.notes);
    assert!(
        size[0].contains("at most 27840 ALMs") && size[0].contains("LL_WIDTH 1"),
        "{}",
        size[0]
    );
    for revision in REVISIONS {
        let text = std::fs::read_to_string(work.input(revision)).unwrap();
        for side in ["LL_WIDTH", "LL_HEIGHT"] {
            let line = 1 + text.lines().position(|line| line.contains(side)).unwrap();
            let place = format!("{revision}:{line}");
            assert!(size[0].contains(&place), "{place}: {}", size[0]);
        }
    }
    // Quartus sizes it, or ignores it.
    for (from, to) in [
        ("LL_AUTO_SIZE OFF", "LL_AUTO_SIZE ON"),
        ("LL_ENABLED ON", "LL_ENABLED OFF"),
    ] {
        let work = net();
        for revision in REVISIONS {
            work.edit(revision, from, to);
        }
        assert!(said(&work.sound(""), "board_region (116").is_empty());
        assert_eq!(members(&work, "top.qsf").len(), 3);
    }
}

#[test]
fn parts_of_the_old_dma_become_the_block() {
    let part = format!("{WAY}system_board_copier:copier|acl_dma_core:core");
    let work = net();
    work.append("top.qsf", &member(&part));
    work.sound("");
    // The block is a member already.
    assert_eq!(members(&work, "top.qsf").len(), 3);
    let work = net();
    for revision in REVISIONS {
        let line = format!("{WAY}system_board_copier:copier\"");
        work.edit(revision, &line, &format!("{part}|fifo:f\""));
        work.append(revision, &member(&part));
    }
    work.sound("");
    for revision in REVISIONS {
        let blocks = members(&work, revision)
            .into_iter()
            .filter(|m| m.ends_with("copier"));
        assert_eq!(blocks.collect::<Vec<_>>(), ["peerlane_dma:copier"]);
    }
}

#[test]
fn members_in_tcl_that_is_taken_in() {
    let work = net();
    let lines = format!(
        "set at \"{WAY}\"\n\
         if {{[file exists top.sdc]}} {{\n  {}}}\n\
         set_instance_assignment -name LL_MEMBER_OF r -to \"${{at}}altera_avalon_mm_clock_crossing_bridge:cross_window\" \
         -section_id r\n\
         set_instance_assignment -name LL_MEMBER_OF r -to \"${{at}}kernels:k\" -section_id r\n\
         set_instance_assignment -name LL_MEMBER_OF r -to system_inst|board|cross_to_endpoint -section_id r\n\
         set_instance_assignment -name LL_MEMBER_OF r -to system_inst|board|copier -section_id r\n",
        member(&format!("{WAY}system_board_copier:copier|*"))
    );
    work.append("ip_include.tcl", &lines);
    let report = work.sound("");
    assert_eq!(
        members(&work, "ip_include.tcl"),
        [
            "peerlane_dma:copier|*",
            "${at}kernels:k",
            "system_inst|board|copier"
        ]
    );
    assert!(
        work.made("ip_include.tcl")
            .contains("if {[file exists top.sdc]} {\n  set_instance")
    );
    assert!(
        said(&report, "a script composes").is_empty(),
        "{:?}",
        report.notes
    );
}

#[test]
fn members_that_scripts_put_together() {
    // The element is written out, the way to it is a pattern.
    let work = net();
    work.append(
        "top.qsf",
        "set_instance_assignment -name LL_MEMBER_OF r -to \"$env(WAY)|system_board_copier:copier\" -section_id r\n",
    );
    work.sound("");
    assert!(
        work.made("top.qsf")
            .contains("\"$env(WAY)|peerlane_dma:copier\"")
    );
    // The whole path is known.
    let work = net();
    work.append(
        "top.qsf",
        &format!("set e system_board_copier\nset_instance_assignment -name LL_MEMBER_OF r -to \"{WAY}${{e}}:copier\" -section_id r\n"),
    );
    work.sound("");
    assert!(
        work.made("top.qsf")
            .contains(&format!("-to {{{WAY}peerlane_dma:copier}} -section_id r"))
    );
    // Some of several members, and a pattern by the old entity: noted, and left unchanged.
    for line in [
        format!(
            "foreach m {{kernels:k x:cross_control}} {{ set_instance_assignment -name LL_MEMBER_OF r -to \"{WAY}$m\" -section_id r }}\n"
        ),
        member("*|system_board_copier:*"),
    ] {
        let work = net();
        work.append("top.qsf", &line);
        let report = work.sound("");
        assert!(work.made("top.qsf").contains(&line));
        let notes = said(
            &report,
            "a script composes the members of the LogicLock region r",
        );
        assert_eq!(notes.len(), 1, "{:?}", report.notes);
        assert!(
            notes[0].starts_with("The vendor's top.qsf:"),
            "{}",
            notes[0]
        );
    }
}

#[test]
fn members_that_platform_designer_numbers_are_said() {
    let work = net();
    work.append(
        "base.qsf",
        &member(&format!("{WAY}board_mm_interconnect_2:mm_interconnect_2")),
    );
    let report = work.sound("");
    let notes = said(&report, "generates and numbers again: base.qsf:");
    assert_eq!(notes.len(), 1, "{:?}", report.notes);
}
