//! The output of `peerlane extend`, read by another XML parser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::elements::{connections, elements, minus, parameters, set};
use crate::common::{self, Work, extend_to, reference_net, snapshot, text, vendor_bsp};
use peerlane_bsp::build::Build;
use peerlane_bsp::config::Config;
use peerlane_bsp::layout::Layout;

fn instances(platform: &Path, kind: &str) -> usize {
    snapshot(&platform.join("hardware"))
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "qsys"))
        .map(|(_, bytes)| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let document = roxmltree::Document::parse(&text).unwrap();
            let of_kind = |n: &roxmltree::Node<'_, '_>| {
                n.tag_name().name() == "module" && n.attribute("kind") == Some(kind)
            };
            document.descendants().filter(of_kind).count()
        })
        .sum()
}

/// Returns the files that differ, and the new files.
fn differences(before: &Path, after: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let (before, after) = (snapshot(before), snapshot(after));
    let name = |p: &PathBuf| p.to_str().unwrap().to_string();
    // The board's directory has another name in the output, or is in a platform there.
    let under = |path: &Path| {
        let path = path.to_str().unwrap();
        path.replace("hardware/de5net_a7_peerlane/", "")
            .replace("peerlane_ref_peerlane/", "peerlane_ref/")
    };
    let after: BTreeMap<PathBuf, Vec<u8>> = after
        .into_iter()
        .filter(|(path, _)| !path.starts_with("peerlane"))
        .map(|(path, bytes)| (under(&path).into(), bytes))
        .collect();
    for path in before.keys() {
        assert!(
            after.contains_key(path),
            "{} is not in the output",
            path.display()
        );
    }
    let changed = before
        .iter()
        .filter(|(p, b)| after[*p] != **b)
        .map(|(p, _)| name(p))
        .collect();
    let added = after
        .keys()
        .filter(|p| !before.contains_key(*p))
        .map(name)
        .collect();
    (changed, added)
}

#[test]
fn the_vendor_bsp_is_only_read() {
    let Some(bsp) = vendor_bsp() else { return };
    let before = snapshot(&bsp);
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("D");
    extend_to(&bsp, &out, Config::default(), None).unwrap();

    assert_eq!(snapshot(&bsp), before, "the original was changed");
    assert_eq!(instances(&out, "acl_dma"), 0);
    assert_eq!(instances(&out, "peerlane_dma"), 1);
    let (changed, added) = differences(&bsp, &out);
    assert_eq!(
        changed,
        set(&[
            "acl_iface_system.qsys",
            "board_spec.xml",
            "iface.ipx",
            "top.qsf"
        ])
    );
    for path in &added {
        assert!(
            path.starts_with("iface/peerlane/")
                || path == "scripts/peerlane/rebuild.tcl"
                || path.starts_with("linux64/")
                || path.starts_with("peerlane-report.")
                || ["README.md", "board_env.xml", "peerlane.board"].contains(&path.as_str()),
            "{path}"
        );
    }
}

#[test]
fn only_the_intended_elements_of_the_vendor_system_change() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    work.extend("").unwrap();
    let before = elements(&work.input("acl_iface_system.qsys"));
    let after = elements(&work.output("acl_iface_system.qsys"));
    let (gone, new) = (minus(&before, &after), minus(&after, &before));
    assert_eq!(
        connections(&gone),
        set(&[
            "avalon dma_0.m acl_memory_bank_divider_0.s 0x0000",
            "avalon dma_0.m clock_cross_dma_to_pcie.s0 0x0000000200000000",
            "avalon clock_cross_dma_to_pcie.m0 pcie.Txs 0x0000",
            "clock pcie.coreclkout clock_cross_dma_to_pcie.m0_clk",
            "clock ddr3a.afi_clk clock_cross_dma_to_pcie.s0_clk",
            "reset reset_controller_pcie.reset_out clock_cross_dma_to_pcie.m0_reset",
            "reset global_reset.out_reset clock_cross_dma_to_pcie.s0_reset",
        ])
    );
    assert_eq!(
        connections(&new),
        set(&[
            "avalon dma_0.mem_rd acl_memory_bank_divider_0.s 0x0000",
            "avalon dma_0.mem_wr acl_memory_bank_divider_0.s 0x0000",
            "avalon dma_0.mem_win acl_memory_bank_divider_0.s 0x0000",
            "avalon dma_0.txs pcie.Txs 0x0000",
            "avalon pipe_stage_host_ctrl.m0 dma_0.chan 0x00040000",
            "avalon pipe_stage_host_ctrl.m0 dma_0.att 0x00048000",
            "clock pcie.coreclkout dma_0.pcie_clk",
            "reset reset_controller_pcie.reset_out dma_0.pcie_reset",
        ])
    );
    // Connections of the old block that the new one takes over.
    for kept in [
        "avalon pipe_stage_host_ctrl.m0 dma_0.csr 0xc800",
        "avalon pipe_stage_host_ctrl.m0 dma_0.s_nondma 0x00010000",
        "clock ddr3a.afi_clk dma_0.clk",
        "reset reset_controller_ddr3b.reset_out dma_0.reset",
        "interrupt pcie.RxmIrq dma_0.dma_irq",
    ] {
        let all: BTreeSet<String> = after.keys().cloned().collect();
        assert!(connections(&all).contains(kept), "{kept}");
    }
    // Of the instances only the block, its bridge, the host-control bridge and the hard IP.
    let modules = |set: &BTreeSet<String>| -> BTreeSet<String> {
        set.iter()
            .filter(|e| !e.starts_with("connection "))
            .map(|e| e.split(" (").next().unwrap().into())
            .collect()
    };
    let hip = "module kind=altera_pcie_sv_hip_avmm version=13.1 enabled=1 name=pcie";
    let bridge =
        "module kind=altera_avalon_mm_bridge version=13.1 enabled=1 name=pipe_stage_host_ctrl";
    let version = "module kind=version_id version=10.0 enabled=1 name=version_id_0";
    let old = "module kind=acl_dma version=1.0 enabled=1 name=dma_0";
    let crossing = "module kind=altera_avalon_mm_clock_crossing_bridge version=13.1 enabled=1 name=clock_cross_dma_to_pcie";
    // Pipeline stages of the interconnect.
    let stages = |number: u32| {
        [
            format!(
                "interconnectRequirement for=$system name=qsys_mm.maxAdditionalLatency value={number}"
            ),
            format!("parameter name=maxAdditionalLatency value={number}"),
        ]
    };
    let with_stages = |of: &[&str], number: u32| {
        let mut all = set(of);
        all.extend(stages(number));
        all
    };
    assert_eq!(
        modules(&gone),
        with_stages(&[hip, bridge, version, old, crossing], 2)
    );
    assert_eq!(
        modules(&new),
        with_stages(
            &[
                hip,
                bridge,
                version,
                "module kind=peerlane_dma version=1.0 enabled=1 name=dma_0"
            ],
            0
        )
    );
    // In these, only these parameters.
    let changed: BTreeSet<String> = parameters(&new, hip)
        .difference(&parameters(&gone, hip))
        .cloned()
        .collect();
    assert_eq!(
        changed,
        set(&[
            "name=AVALON_ADDR_WIDTH value=64",
            "name=TX_S_ADDR_WIDTH value=64",
            "name=SLAVE_ADDRESS_MAP_0 value=19",
            "name=subsystem_device_id_hwtcl value=20556",
        ])
    );
    assert!(parameters(&new, version).contains("name=VERSION_ID value=1347158017"));
    let changed: BTreeSet<String> = parameters(&new, bridge)
        .difference(&parameters(&gone, bridge))
        .cloned()
        .collect();
    assert_eq!(changed, set(&["name=ADDRESS_WIDTH value=19"]));
}

#[test]
fn line_ends_of_the_vendor_files_stay() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    work.extend("").unwrap();
    for file in [
        "acl_iface_system.qsys",
        "board_spec.xml",
        "iface.ipx",
        "top.qsf",
    ] {
        let before = fs::read_to_string(work.input(file)).unwrap();
        let after = fs::read_to_string(work.output(file)).unwrap();
        // All lines that are in the output and not in the input, byte for byte.
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for line in before.split_inclusive('\n') {
            *known.entry(line).or_default() += 1;
        }
        let same_but_for_the_end = |line: &str| {
            let other = if line.ends_with("\r\n") {
                line.replace("\r\n", "\n")
            } else {
                line.replace('\n', "\r\n")
            };
            before.split_inclusive('\n').any(|l| l == other) && !known.contains_key(line)
        };
        for line in after.split_inclusive('\n') {
            assert!(
                !same_but_for_the_end(line),
                "{file}: {line:?} changed its line end"
            );
        }
    }
    // Platform Designer's notes have their own line ends; new entries use the same.
    let after = fs::read_to_string(work.output("acl_iface_system.qsys")).unwrap();
    assert!(after.contains("   element dma_0.chan\r\n   {\r\n"));
    assert!(after.contains("\n   end=\"dma_0.chan\">\n"));
    assert!(!after.contains("element clock_cross_dma_to_pcie"));
}

#[test]
fn what_is_not_named_as_elsewhere_is_found_by_kind() {
    let work = Work::new();
    let report = work.extend("").unwrap();
    assert_eq!(report.instance, "dma_engine");
    assert_eq!(
        (
            report.bar_after.bar,
            report.bar_before.bits,
            report.bar_after.bits
        ),
        (2, 17, 18)
    );
    let before = elements(&work.input("acl_iface_system.qsys"));
    let after = elements(&work.output("acl_iface_system.qsys"));
    assert_eq!(
        connections(&minus(&after, &before)),
        set(&[
            "avalon dma_engine.mem_rd memory.s 0x0000",
            "avalon dma_engine.mem_wr memory.s 0x0000",
            "avalon dma_engine.mem_win memory.s 0x0000",
            "avalon dma_engine.txs host_link.Txs 0x0000",
            "avalon control_pipe.m0 dma_engine.chan 0x00020000",
            "avalon control_pipe.m0 dma_engine.att 0x00028000",
            "clock host_link.coreclkout dma_engine.pcie_clk",
            "reset link_reset.reset_out dma_engine.pcie_reset",
        ])
    );
    let gone = connections(&minus(&before, &after));
    for bridge in ["dma_out", "dma_narrow"] {
        assert!(gone.iter().any(|c| c.contains(bridge)));
        assert!(
            !after.keys().any(|e| e.contains(bridge)),
            "{bridge} is still named"
        );
    }
    let (changed, _) = differences(&work.bsp, &work.out);
    let hardware = "hardware/peerlane_ref/";
    let want = [
        "acl_iface_system.qsys",
        "board_spec.xml",
        "iface.ipx",
        "iface/board_status.qsys",
        "top.qsf",
    ];
    let want = want.iter().map(|f| format!("{hardware}{f}"));
    let around = ["README.md", "board_env.xml"].map(str::to_string);
    assert_eq!(changed, want.chain(around).collect());
}

#[test]
fn places_in_the_bar_can_be_asked_for() {
    let work = Work::new();
    let report = work
        .extend("att_entries = 65536\n[bar]\nchan_base = 0x70000\natt_base = 0x80000")
        .unwrap();
    let base = |slave: &str| {
        report
            .bar_after
            .entries
            .iter()
            .find(|e| e.slave == slave)
            .unwrap()
            .base
    };
    assert_eq!(
        (base("dma_engine.chan"), base("dma_engine.att")),
        (0x7_0000, 0x8_0000)
    );
    assert_eq!(report.bar_after.bits, 20);
}

#[test]
fn a_compiled_partition_is_left_out_and_its_import_turned_off() {
    let work = Work::new();
    fs::write(work.input("acl_iface_partition.qxp"), b"old").unwrap();
    work.edit(
        "top.qsf",
        "set_global_assignment -name PARTITION_NETLIST_TYPE SOURCE -section_id \"system_acl_iface:acl_iface\"\n",
        "set_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id \"system_acl_iface:acl_iface\"\n\
         set_global_assignment -name PARTITION_IMPORT_FILE acl_iface_partition.qxp -section_id \"system_acl_iface:acl_iface\"\n",
    );
    let report = work.extend("").unwrap();
    assert!(!work.output("acl_iface_partition.qxp").exists());
    assert_eq!(
        report.left_out,
        [PathBuf::from(
            "hardware/peerlane_ref/acl_iface_partition.qxp"
        )]
    );
    let settings = fs::read_to_string(work.output("top.qsf")).unwrap();
    assert!(!settings.contains("PARTITION_IMPORT_FILE") && !settings.contains("POST_FIT"));
    assert!(work.output("scripts/peerlane/rebuild.tcl").is_file());
    assert!(
        report.missing_in_input.is_empty(),
        "{:?}",
        report.missing_in_input
    );
}

#[test]
fn the_report_can_be_had_elsewhere_too() {
    let work = tempfile::tempdir().unwrap();
    let (out, file) = (work.path().join("D"), work.path().join("r.json"));
    let bsp = common::reference();
    extend_to(&bsp, &out, Config::default(), Some(&file)).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["instance"], "dma_engine");
    assert_eq!(
        fs::read(&file).unwrap(),
        fs::read(out.join("peerlane-report.json")).unwrap()
    );
    let markdown = fs::read_to_string(out.join("peerlane-report.md")).unwrap();
    assert!(
        markdown.contains("| 0x20000 | 32 KiB | dma_engine.chan | peerlane_dma | new |"),
        "{markdown}"
    );
    assert!(
        !markdown.contains(text(work.path())),
        "paths of this machine in the report"
    );
}

#[test]
fn links_inside_the_bsp_are_kept() {
    let work = Work::new();
    let link = work.input("scripts/again.tcl");
    std::os::unix::fs::symlink("post_flow.tcl", &link).unwrap();
    // If a file to rewrite is a link, its target is rewritten, and the link stays.
    let (spec, moved) = (work.input("board_spec.xml"), work.input("real_spec.xml"));
    fs::rename(&spec, &moved).unwrap();
    std::os::unix::fs::symlink("real_spec.xml", &spec).unwrap();
    work.extend("").unwrap();
    assert_eq!(
        fs::read_link(work.output("scripts/again.tcl")).unwrap(),
        Path::new("post_flow.tcl")
    );
    assert!(work.output("board_spec.xml").is_symlink());
    assert!(
        work.made("real_spec.xml")
            .contains("name=\"peerlane_ref_peerlane\"")
    );
}

/// The vendor's driver and tools must not accept the board as theirs, and `aoc` finds it next to the vendor's.
#[test]
fn the_board_has_an_identity_of_its_own() {
    let parse = |path: PathBuf| fs::read_to_string(path).unwrap();
    let value = |text: &str, name: &str| {
        let document = roxmltree::Document::parse(text).unwrap();
        let mut all = document
            .descendants()
            .filter(|n| n.attribute("name") == Some(name));
        all.next()
            .and_then(|n| n.attribute("value").map(str::to_string))
    };
    for (config, board, subsystem, device, version) in [
        ("", "peerlane_ref_peerlane", "20556", "43776", "1347158017"),
        (
            "[identity]\nsubsystem_device = 0x1234\ndevice = 0xab01\nversion_id = 0xfedcba98\nboard_suffix = \"-x\"",
            "peerlane_ref-x",
            "4660",
            "43777",
            "-19088744",
        ),
    ] {
        let work = Work::new();
        let report = work.extend(config).unwrap();
        // The directory, the specification and the default agree, as `aoc` wants it.
        let hardware = work.out.join("hardware").join(board);
        let specification = parse(hardware.join("board_spec.xml"));
        let specification = roxmltree::Document::parse(&specification).unwrap();
        assert_eq!(specification.root_element().attribute("name"), Some(board));
        let environment = parse(work.out.join("board_env.xml"));
        let environment = roxmltree::Document::parse(&environment).unwrap();
        let default = environment
            .descendants()
            .find_map(|n| n.attribute("default"));
        assert_eq!(default, Some(board));
        assert_eq!(environment.root_element().attribute("name"), Some(board));
        assert_eq!(fs::read_dir(work.out.join("hardware")).unwrap().count(), 1);

        let system = parse(hardware.join("acl_iface_system.qsys"));
        assert_eq!(
            value(&system, "subsystem_device_id_hwtcl").as_deref(),
            Some(subsystem)
        );
        assert_eq!(value(&system, "device_id_hwtcl").as_deref(), Some(device));
        assert_eq!(value(&system, "vendor_id_hwtcl").as_deref(), Some("4466"));
        // JSON has the IDs in the spelling of the documents, and the record is read again.
        let subsystem: u16 = subsystem.parse().unwrap();
        let id = format!("\"subsystem_device\": \"{subsystem:#06x}\"");
        let record = fs::read_to_string(hardware.join("iface/peerlane/build.json")).unwrap();
        assert!(
            report.json().contains(&id) && record.contains(&id),
            "{id}: {record}"
        );
        let record = Build::read(&Layout::find(&work.out).unwrap()).unwrap();
        assert_eq!(record.config, report.config);
        // This BSP has the version in a separate system.
        let status = parse(hardware.join("iface/board_status.qsys"));
        assert_eq!(value(&status, "VERSION_ID").as_deref(), Some(version));
        assert!(
            report.notes.iter().any(|n| n.contains("vendor's driver")),
            "{:?}",
            report.notes
        );
        assert!(
            report
                .changes
                .iter()
                .all(|c| work.out.join(&c.file).is_file()),
            "{:?}",
            report.changes
        );
    }
    // Only the name may stay.
    let work = Work::new();
    let report = work.extend("[identity]\nboard_suffix = \"\"").unwrap();
    // The report names the board, not the directory, which may have any name.
    assert_ne!(work.bsp.file_name().unwrap(), "peerlane_ref");
    assert!(
        report
            .markdown()
            .starts_with("# Peerlane in the BSP of the board `peerlane_ref`\n")
    );
    let kept = |note: &&String| note.contains("keeps the vendor's name peerlane_ref");
    assert_eq!(
        report.notes.iter().filter(kept).count(),
        1,
        "{:?}",
        report.notes
    );
    assert_eq!(
        fs::read(work.bsp.join("board_env.xml")).unwrap(),
        fs::read(work.out.join("board_env.xml")).unwrap()
    );
}

/// Links into the board's directory are adapted to its new name; those within it stay unchanged.
#[test]
fn links_through_the_boards_directory_follow_its_name() {
    let work = Work::new();
    let link = |at: &Path, to: &str| std::os::unix::fs::symlink(to, at).unwrap();
    link(&work.bsp.join("board"), "hardware/peerlane_ref/top.v");
    link(
        &work.input("scripts/over"),
        "../../../hardware/peerlane_ref/top.v",
    );
    link(&work.input("scripts/out"), "../../../board_env.xml");
    link(&work.input("scripts/up"), "../top.v");
    work.extend("").unwrap();
    for (at, to) in [
        (
            work.out.join("board"),
            "hardware/peerlane_ref_peerlane/top.v",
        ),
        (work.output("scripts/out"), "../../../board_env.xml"),
        (work.output("scripts/up"), "../top.v"),
    ] {
        assert_eq!(fs::read_link(&at).unwrap(), Path::new(to));
    }
    assert_eq!(
        fs::read(work.output("scripts/over")).unwrap(),
        fs::read(work.input("top.v")).unwrap()
    );
}

/// For programs: the JSON lists the tasks, and no note is in both lists.
#[test]
fn the_json_report_lists_what_is_to_do() {
    let work = Work::of(&reference_net());
    let report = work.extend("[port]\nkind = \"tlp\"\ngen = 3").unwrap();
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let list = |name: &str| {
        let all = json[name].as_array().unwrap_or_else(|| panic!("{name}"));
        let texts = all.iter().map(|note| note.as_str().unwrap().to_string());
        texts.collect::<Vec<_>>()
    };
    let (to_do, notes) = (list("to_do"), list("notes"));
    assert!(to_do.iter().any(|note| note.contains("CVP_MODE")));
    assert!(notes.iter().any(|note| note.contains("vendor's driver")));
    assert!(!notes.iter().any(|note| to_do.contains(note)));
}
