//! Gen3 with a TLP port: the report and a note of the check have each task for the user until it is done.

use std::fs;

use crate::common::{self, Work, edit, reference_net, vendor_bsp};
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Finding, Level, check};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";
const GEN_3: &str = "[port]\nkind = \"tlp\"\ngen = 3\n";

/// Returns the tasks of the check; fails on a fault.
fn to_do(work: &Work) -> Vec<Finding> {
    let all = check(&Layout::find(&work.out).unwrap()).unwrap().0;
    let bad: Vec<_> = all.iter().filter(|f| f.level == Level::Bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let notes = all.into_iter().filter(|f| f.level == Level::Note);
    notes.filter(|f| f.test == "to do").collect()
}

/// Returns the places of the notes with a word: file and line.
fn places(work: &Work, word: &str) -> Vec<(String, Option<usize>)> {
    let all = to_do(work)
        .into_iter()
        .filter(|f| f.what.to_string().contains(word));
    let name = |f: &Finding| f.place.file_name().unwrap().to_string_lossy().into_owned();
    let mut places: Vec<_> = all.map(|f| (name(&f), f.line)).collect();
    places.sort();
    places
}

/// Removes the lines with a word from a file.
fn without(work: &Work, file: &str, word: &str) {
    let text = work.made(file);
    let left: Vec<_> = text.lines().filter(|line| !line.contains(word)).collect();
    assert_ne!(left.len(), text.lines().count(), "{file} has no {word}");
    fs::write(work.output(file), left.join("\n") + "\n").unwrap();
}

/// Checks that no note asks for the removal of leftovers of configuration over PCIe.
#[track_caller]
fn nothing_of_cvp(work: &Work) {
    for word in [
        "CVP_",
        "_REVISION",
        "REVISION_TYPE",
        "core alone",
        "base.aocx",
    ] {
        assert_eq!(places(work, word), [], "{word}");
    }
    // The requested removals are not reported as lost.
    let all = check(&Layout::find(&work.out).unwrap()).unwrap().0;
    let missed = all.iter().filter(|f| {
        let names = ["CVP", "_REVISION", "REVISION_TYPE"];
        f.what.to_string().contains(" is missing")
            && names.iter().any(|name| f.what.to_string().contains(name))
    });
    assert_eq!(missed.count(), 0, "{all:#?}");
}

/// Each setting of configuration over PCIe, with its line, and the steps that make a core alone.
#[test]
fn the_list_for_configuration_over_pcie_is_whole() {
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    // Lines are those of the copy, which a user edits.
    let line = |file: &str, word: &str| {
        let text = work.made(file);
        1 + text.lines().position(|line| line.contains(word)).unwrap()
    };
    let notes = report.to_do.iter();
    let note = notes.filter(|note| note.contains("configuration over PCIe (CvP"));
    let note: Vec<_> = note.collect();
    let [note] = note.as_slice() else {
        panic!("{note:#?}")
    };
    for (file, name) in [
        ("base.qsf", "CVP_MODE"),
        ("base.qsf", "ENABLE_CVP_CONFDONE"),
        ("base.qsf", "CVP_REVISION"),
        ("top.qsf", "CVP_MODE"),
        ("top.qsf", "ENABLE_CVP_CONFDONE"),
        ("top.qsf", "REVISION_TYPE"),
        ("top.qsf", "BASE_REVISION"),
    ] {
        let place = format!("{file}:{} {name}", line(file, name));
        assert!(note.contains(&place), "{place}: {note}");
    }
    let pack = "scripts/pack_fpga_bin.tcl";
    let steps = [("core alone", "core.rbf"), ("base.aocx", "base.aocx get")];
    for (of, word) in steps {
        let step = format!("{pack}:{}", line(pack, word));
        assert!(note.contains(&step), "{step}: {note}");
        let told = places(&work, of);
        assert_eq!(told, [("pack_fpga_bin.tcl".into(), Some(line(pack, word)))]);
    }
    assert!(note.contains("INPUT_PERSONA"), "{note}");
    // The check removes notes on finished tasks.
    assert_eq!(places(&work, "CVP_MODE").len(), 2);
    assert_eq!(places(&work, "ENABLE_CVP_CONFDONE").len(), 2);
    assert_eq!(
        places(&work, "REVISION_TYPE"),
        [("top.qsf".into(), Some(line("top.qsf", "REVISION_TYPE")))]
    );
    for (file, words) in [
        (
            "base.qsf",
            ["CVP_MODE", "ENABLE_CVP_CONFDONE", "CVP_REVISION"],
        ),
        (
            "top.qsf",
            ["CVP_MODE", "ENABLE_CVP_CONFDONE", "REVISION_TYPE"],
        ),
    ] {
        for word in words {
            without(&work, file, word);
        }
    }
    // It disappears with the type.
    assert_eq!(places(&work, "BASE_REVISION").len(), 1);
    without(&work, "top.qsf", "BASE_REVISION");
    edit(&work.output(pack), " .acl.core.rbf $revision.core.rbf", "");
    let whole = work.made(pack);
    let (before, rest) = whole.split_once("    if {$revision").unwrap();
    let (_, after) = rest.split_once("    }\n").unwrap();
    fs::write(work.output(pack), format!("{before}{after}")).unwrap();
    nothing_of_cvp(&work);
    // At Gen2 it stays.
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    nothing_of_cvp(&work);
}

/// Tasks that the report lists at Gen2, too: the import that waits for the base's compile, and a constraint of a
/// removed bridge.
#[test]
fn imports_that_are_off_and_bridges_that_are_gone_are_told() {
    let work = Work::of(&reference_net());
    let settings = fs::read_to_string(work.input("top.qsf")).unwrap();
    let persona = settings.lines().find(|line| line.contains("INPUT_PERSONA"));
    work.sound(STREAM);
    let import = "INPUT_PERSONA of Top is off";
    assert_eq!(places(&work, import), [("top.qsf".into(), None)]);
    let bridge = "cross_to_endpoint, which is missing";
    let line = work.made("top_post.sdc").lines().count();
    assert_eq!(places(&work, bridge), [("top_post.sdc".into(), Some(line))]);
    assert_eq!(to_do(&work).len(), 2, "{:#?}", to_do(&work));
    // As the script does it, with the result of a compile.
    let made = work.output("persona/base.root_partition.personax");
    fs::create_dir_all(made.parent().unwrap()).unwrap();
    fs::write(made, "made again").unwrap();
    let text = work.made("top.qsf") + persona.unwrap() + "\n";
    fs::write(work.output("top.qsf"), text).unwrap();
    without(&work, "top_post.sdc", "cross_to_endpoint");
    assert_eq!(to_do(&work), []);
    // If each kernel's compile is one of the whole board, the import stays off.
    let work = Work::of(&reference_net());
    work.sound(GEN_3);
    assert_eq!(places(&work, import), []);
    assert_eq!(places(&work, bridge).len(), 1);
}

/// The module that holds a reset while a core is loaded: a revision that is compiled whole needs the version that
/// passes the reset on.
#[test]
fn a_reset_that_is_always_0_has_to_go() {
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    let settings = work.made("top.qsf");
    let line = settings.lines().position(|line| line.contains("_zero"));
    let line = 1 + line.unwrap();
    let is = |note: &&String| note.contains("configuration over PCIe (CvP");
    let note = report.to_do.iter().find(is).unwrap();
    let want = format!(
        "Where cvp_update_reset_zero is named (top.qsf:{line}), whose output is always 0, name cvp/cvp_update_reset.v"
    );
    assert!(note.contains(&want), "{want}: {note}");
    let (_, stays) = note
        .split_once("The module cvp_update_reset can stay")
        .unwrap();
    let (stays, _) = stays.split_once(')').unwrap();
    assert!(!stays.contains(&format!("top.qsf:{line}")), "{stays}");
    let told = "always 0";
    assert_eq!(places(&work, told), [("top.qsf".into(), Some(line))]);
    edit(&work.output("top.qsf"), "reset_zero.v", "reset.v");
    assert_eq!(places(&work, told), []);
    // Configuration over PCIe uses it.
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    assert_eq!(places(&work, told), []);
}

/// Settings that are off and macros are named, too, so that the user does not have to search for them.
#[test]
fn settings_that_are_off_and_macros_are_named() {
    let work = Work::of(&reference_net());
    for file in ["base.qsf", "top.qsf"] {
        work.edit(file, "ENABLE_CVP_CONFDONE ON", "ENABLE_CVP_CONFDONE OFF");
    }
    work.append(
        "top.qsf",
        "set_global_assignment -name VERILOG_MACRO \"CVPFIX=1\"\nset_global_assignment -name VERILOG_MACRO \"LANES=8\"\n",
    );
    let report = work.sound(GEN_3);
    let line = |word: &str| {
        let text = work.made("top.qsf");
        1 + text.lines().position(|line| line.contains(word)).unwrap()
    };
    let is = |note: &&String| note.contains("configuration over PCIe (CvP");
    let note = report.to_do.iter().find(is).unwrap();
    for words in [
        format!(
            "top.qsf:{} ENABLE_CVP_CONFDONE",
            line("ENABLE_CVP_CONFDONE")
        ),
        format!("top.qsf:{} VERILOG_MACRO \"CVPFIX=1\"", line("CVPFIX")),
    ] {
        assert!(note.contains(&words), "{words}: {note}");
    }
    assert!(!note.contains("LANES=8"), "{note}");
    // The check names lines that may have to go, and no others.
    assert_eq!(places(&work, "CONFDONE"), []);
    assert_eq!(
        places(&work, "VERILOG_MACRO"),
        [("top.qsf".into(), Some(line("CVPFIX")))]
    );
}

/// Steps 2 and 3 of the README: the import with a persona is gone at Gen3, that of a partition is not.
#[test]
fn the_base_compile_falls_away_with_the_persona_alone() {
    let steps = |work: &Work| {
        let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
        let (_, two) = readme.split_once("## 2. ").unwrap();
        two.split_once("## 4. ").unwrap().0.to_string()
    };
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    let said = steps(&work);
    assert!(said.contains("Go on with step 4") && said.contains("There is nothing to import"));
    assert!(!said.contains("rebuild.tcl"), "{said}");
    let shipped = report
        .to_do
        .iter()
        .find(|n| n.contains("shipped the board compiled"));
    assert!(!shipped.unwrap().contains("on again"), "{shipped:?}");

    let work = Work::of(&reference_net());
    let persona = fs::read_to_string(work.input("top.qsf")).unwrap();
    let mut lines = persona.lines();
    let persona = lines
        .find(|line| line.contains("INPUT_PERSONA"))
        .unwrap()
        .to_string();
    work.edit(
        "top.qsf",
        &persona,
        "set_global_assignment -name PARTITION_IMPORT_FILE acl_iface_partition.qxp -section_id part",
    );
    let report = work.sound(GEN_3);
    let said = steps(&work);
    assert!(!said.contains("Go on with step 4"), "{said}");
    assert!(
        said.contains("export") && said.contains("import-on"),
        "{said}"
    );
    assert!(
        said.contains("does not depend on configuration over PCIe"),
        "{said}"
    );
    let shipped = report
        .to_do
        .iter()
        .find(|n| n.contains("shipped the board compiled"));
    assert!(shipped.unwrap().contains("on again"), "{shipped:?}");
}

/// Removed lines do not shift the line numbers that the user gets; the report says which file each number belongs to.
#[test]
fn lines_to_act_on_are_those_of_the_copy() {
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    let text = fs::read_to_string(work.out.join("peerlane-report.md")).unwrap();
    let head = text.split_once("\n## ").unwrap().0;
    assert!(
        head.contains("Line numbers refer to the vendor's file under"),
        "{head}"
    );
    let moved = |file: &str, word: &str| {
        let line = |text: String| text.lines().position(|line| line.contains(word)).unwrap() + 1;
        let vendors = line(fs::read_to_string(work.input(file)).unwrap());
        (vendors, line(work.made(file)))
    };
    // A line of the vendor's above this one is gone.
    let (vendors, here) = moved("top.qsf", "REVISION_TYPE");
    let notes = report.to_do.join("\n");
    assert!(
        notes.contains(&format!("top.qsf:{here} REVISION_TYPE")),
        "{vendors}: {notes}"
    );
}

/// The rules of quartus.ini are searched.
#[test]
fn rules_of_the_ini_are_named_where_they_are() {
    let rule = "skip_hssi_gen3_pcie_hip_hip_hard_reset_rule=on";
    let work = Work::of(&reference_net());
    work.put(
        "quartus.ini",
        &format!("; of the vendor\n{rule}\nother=on\n"),
    );
    let report = work.sound(GEN_3);
    let told = |note: &&String| note.contains("quartus.ini:2") && note.contains("hard_reset_rule");
    assert_eq!(report.to_do.iter().filter(told).count(), 1);
    assert_eq!(
        places(&work, "hard_reset_rule"),
        [("quartus.ini".into(), Some(2))]
    );
    without(&work, "quartus.ini", rule);
    assert_eq!(places(&work, "hard_reset_rule"), []);
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    assert!(!common::told(&report).any(|note| note.contains("quartus.ini")));
}

/// If the device's part number gives its speed grades, the report names them, so the user does not have to look them
/// up.
#[test]
fn the_devices_grades_are_told_at_gen_3() {
    let grades = |part: &str, config: &str| {
        let work = Work::new();
        work.edit(
            "top.qsf",
            "DEVICE 5SGXEA7N2F45C2",
            &format!("DEVICE {part}"),
        );
        let to_do = work.sound(config).to_do;
        let note = to_do.iter().find(|note| note.starts_with("top.qsf:3: "))?;
        note.split_once(';').map(|(words, _)| words.to_string())
    };
    assert_eq!(
        grades("5SGXEA7K3F40C4N", GEN_3).as_deref(),
        Some(
            "top.qsf:3: the device 5SGXEA7K3F40C4N has the speed grade 4 of the fabric and 3 of the transceivers"
        )
    );
    // The report guesses nothing.
    assert_eq!(grades("5SGXEA7", GEN_3), None);
    assert_eq!(grades("5SGXEA7K3F40C4N", STREAM), None);
}

/// Places of the transceivers' cells of a compile at another generation are named.
#[test]
fn places_of_the_transceivers_are_told() {
    let place = "set_location_assignment CHANNELPLL_X0_Y23_N34 -to \"system:system_inst|system_board:board|\
                 altpcie_sv_hip_avmm_hwtcl:endpoint|altpcie_sv_hip_ast_hwtcl:altera_s5_a2p|\
                 altpcie_hip_256_pipen1b:altpcie_hip_256_pipen1b|sv_xcvr_pipe_native:g_xcvr.sv_xcvr_pipe_native|cdr[0]\"\n";
    let work = Work::of(&reference_net());
    work.append("top.qsf", &place.repeat(3));
    let report = work.sound(GEN_3);
    let made = work.made("top.qsf");
    let first = 1 + made
        .lines()
        .position(|line| line.contains("CHANNELPLL"))
        .unwrap();
    let range = format!("top.qsf:{first}–{}", first + 2);
    let told = |note: &&String| note.contains("set_location_assignment") && note.contains(&range);
    assert_eq!(
        report.to_do.iter().filter(told).count(),
        1,
        "{range}: {:#?}",
        report.to_do
    );
    assert_eq!(places(&work, "set_location_assignment").len(), 1);
    // When they are removed, as the note says, this is not a fault.
    without(&work, "top.qsf", "CHANNELPLL");
    assert_eq!(places(&work, "set_location_assignment"), []);
    let work = Work::of(&reference_net());
    work.append("top.qsf", place);
    work.sound(STREAM);
    assert_eq!(places(&work, "set_location_assignment"), []);
}

/// Constraints that match nothing any more.
#[test]
fn constraints_that_match_nothing_are_told() {
    let clock = "set_false_path -from [get_clocks {*end*|altera_s5_a2p|*coreclkout*}]\n";
    let work = Work::of(&reference_net());
    work.append("top_post.sdc", clock);
    let report = work.sound(STREAM);
    let to_do_of_report = &report.to_do;
    assert!(
        to_do_of_report
            .iter()
            .any(|note| note.contains("top_post.sdc:"))
    );
    assert_eq!(
        places(&work, "altera_s5_a2p").len(),
        1,
        "{:#?}",
        to_do(&work)
    );
    edit(&work.output("top_post.sdc"), "|altera_s5_a2p", "");
    assert_eq!(places(&work, "altera_s5_a2p"), []);
}

/// A controller outside the system, with its connections.
#[test]
fn the_vendors_board_is_told_what_is_left() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    work.sound(GEN_3);
    let settings = work.made("top.qsf");
    let line = settings.lines().position(|line| line.contains("CVP_MODE"));
    let line = line.map(|n| n + 1);
    assert_eq!(places(&work, "CVP_MODE"), [("top.qsf".into(), line)]);
    assert_eq!(places(&work, "altera_pcie_reconfig_driver").len(), 1);
    assert_eq!(places(&work, "set_location_assignment").len(), 1);
    let width = "770 and 506 bits";
    assert_eq!(places(&work, width).len(), 1);
    fs::write(
        work.output("top.v"),
        "module top();\n wire [769 : 0] to_xcvr;\n wire [505:0] from_xcvr;\nendmodule\n",
    )
    .unwrap();
    assert_eq!(places(&work, width).len(), 0);
}

/// The README leads to the report's list, before the first compile.
#[test]
fn the_readme_leads_to_the_list() {
    let work = Work::of(&reference_net());
    work.sound(GEN_3);
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    let list = readme.find("\"What to do\"").expect("the list");
    assert!(list < readme.find("## 2. ").unwrap(), "{readme}");
    for words in ["TLP port", "Gen3", "256 bits at 250 MHz", "`to do`"] {
        assert!(readme.contains(words), "{words}: {readme}");
    }
    let (_, second) = readme.split_once("## 2. ").unwrap();
    assert!(
        second
            .split("## 4. ")
            .next()
            .unwrap()
            .contains("no configuration over PCIe")
    );
    let work = Work::of(&reference_net());
    work.sound("");
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    assert!(!readme.contains("TLP port") && readme.contains("\"What to do\""));
}

/// Files and partitions belong to configuration over PCIe only if they are those of `cvp_update_reset`.
#[test]
fn other_files_are_no_settings_of_cvp() {
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    let to_do = &report.to_do;
    let of = |name: &str| to_do.iter().filter(|note| note.contains(name)).count();
    assert!(of("CVP_") > 0, "{to_do:?}");
    assert_eq!(
        (of(" VERILOG_FILE"), of(" PARTITION_HIERARCHY")),
        (0, 0),
        "{to_do:?}"
    );
}

/// A step that replaces the hard IP's Verilog by the vendor's, as BSPs for `s5_net` have it.
#[test]
fn patches_of_the_hard_ip_are_told() {
    const INTO: &str = "system/synthesis/submodules/";
    let mut steps = String::new();
    for file in [
        "altpcie_hip_256_pipen1b.v",
        "altpcie_sv_hip_ast_hwtcl.v",
        "cvp_update_reset.v",
    ] {
        steps += &format!("file copy -force scripts/cvpupdatefix/{file} {INTO}{file}\n");
    }
    for (config, test, hint) in [
        (GEN_3, "to do", "remove the lines"),
        (STREAM, "files", "the lines stay"),
    ] {
        let work = Work::of(&reference_net());
        work.append("scripts/pre_flow.tcl", &steps);
        let report = work.sound(config);
        let script = work.made("scripts/pre_flow.tcl");
        let line = script.lines().position(|line| line.contains("pipen1b"));
        let line = 1 + line.unwrap();
        let want = format!(
            "scripts/pre_flow.tcl:{line}, scripts/pre_flow.tcl:{}. ",
            line + 1
        );
        let is = |note: &&String| note.contains(&want) && note.contains(hint);
        let told = report.to_do.iter().filter(is).count();
        assert_eq!(told, 1, "{want}: {:#?}", report.to_do);
        let all = check(&Layout::find(&work.out).unwrap()).unwrap().0;
        let notes = all
            .iter()
            .filter(|f| f.level == Level::Note && f.test == test);
        let notes = notes.filter(|f| f.place.ends_with("scripts/pre_flow.tcl"));
        let lines: Vec<_> = notes.filter_map(|f| f.line).collect();
        assert_eq!(lines, [line, line + 1], "{all:#?}");
    }
}
