//! The second reference BSP: several slaves on the BAR, clock crossings before the DMA, a CvP project, components in
//! many places.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::common::elements::{connections, elements, minus, parameters, set};
use crate::common::{self, Work, expect, reference_net};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::extend::report::Report;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, check};

const SYSTEM: &str = "board.qsys";

fn work() -> Work {
    Work::of(&reference_net())
}

/// Extends, and checks the result.
fn sound(work: &Work, config: &str) -> Report {
    let report = work.extend(config).unwrap();
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert_eq!(findings.errors(), 0, "{:#?}", findings.0);
    report
}

fn all(work: &Work) -> BTreeSet<String> {
    connections(&elements(&work.output(SYSTEM)).keys().cloned().collect())
}

#[test]
fn only_the_intended_elements_change() {
    let work = work();
    let report = sound(&work, "");
    assert_eq!(report.instance, "copier");
    let before = elements(&work.input(SYSTEM));
    let after = elements(&work.output(SYSTEM));
    let (gone, new) = (minus(&before, &after), minus(&after, &before));
    assert_eq!(
        connections(&new),
        set(&[
            "avalon endpoint.Rxm_BAR0 peerlane_bar0.s0 0x0000",
            "avalon peerlane_bar0.m0 host_pipe.s0 0x0000",
            "avalon peerlane_bar0.m0 flash_pipe.s0 0x10000000",
            "clock endpoint.coreclkout peerlane_bar0.clk",
            "reset endpoint_reset.reset_out peerlane_bar0.reset",
            // The registers and the window stay where they were in the BAR, the new slaves are above.
            "avalon host_pipe.m0 copier.csr 0xc800",
            "avalon host_pipe.m0 copier.s_nondma 0x00010000",
            "avalon host_pipe.m0 copier.chan 0x00020000",
            "avalon host_pipe.m0 copier.att 0x00028000",
            "avalon copier.mem_rd splitter.s 0x0000",
            "avalon copier.mem_wr splitter.s 0x0000",
            "avalon copier.mem_win splitter.s 0x0000",
            "avalon copier.txs endpoint.Txs 0x0000",
            "clock endpoint.coreclkout copier.pcie_clk",
            "reset endpoint_reset.reset_out copier.pcie_reset",
        ])
    );
    assert_eq!(
        connections(&gone),
        set(&[
            "avalon endpoint.Rxm_BAR0 host_pipe.s0 0x0000",
            "avalon endpoint.Rxm_BAR0 flash_pipe.s0 0x10000000",
            "avalon host_pipe.m0 cross_control.s0 0xc800",
            "avalon host_pipe.m0 cross_window.s0 0x00010000",
            "avalon cross_control.m0 copier.csr 0x0000",
            "avalon cross_window.m0 copier.s_nondma 0x0000",
            "avalon copier.m splitter.s 0x0000",
            "avalon copier.m cross_to_endpoint.s0 0x0000002000000000",
            "avalon cross_to_endpoint.m0 endpoint.Txs 0x0000",
            "clock endpoint.coreclkout cross_control.s0_clk",
            "clock endpoint.coreclkout cross_window.s0_clk",
            "clock endpoint.coreclkout cross_to_endpoint.m0_clk",
            "clock bank_a.afi_clk cross_control.m0_clk",
            "clock bank_a.afi_clk cross_window.m0_clk",
            "clock bank_a.afi_clk cross_to_endpoint.s0_clk",
            "reset endpoint_reset.reset_out cross_control.s0_reset",
            "reset endpoint_reset.reset_out cross_window.s0_reset",
            "reset endpoint_reset.reset_out cross_to_endpoint.m0_reset",
            "reset bank_reset.reset_out cross_control.m0_reset",
            "reset bank_reset.reset_out cross_window.m0_reset",
            "reset bank_reset.reset_out cross_to_endpoint.s0_reset",
        ])
    );
    let bridge = parameters(
        &new,
        "module kind=altera_avalon_mm_bridge version=14.0 enabled=1 name=peerlane_bar0",
    );
    for parameter in [
        "name=ADDRESS_WIDTH value=29",
        "name=DATA_WIDTH value=128",
        "name=MAX_BURST_SIZE value=32",
    ] {
        assert!(bridge.contains(parameter), "{bridge:?}");
    }
    // The BAR was large enough, for the flash.
    assert_eq!((report.bar_before.bits, report.bar_after.bits), (29, 29));
    let moved = report
        .notes
        .iter()
        .filter(|n| n.contains("outside the hard IP's clock domain"));
    assert_eq!(moved.count(), 2, "{:?}", report.notes);
    let text = fs::read_to_string(work.output(SYSTEM)).unwrap();
    assert!(
        !text.contains("cross_control") && !text.contains("cross_window"),
        "notes of Platform Designer"
    );
}

#[test]
fn every_configuration_gives_a_sound_one() {
    for config in [
        "irq = \"msix\"",
        "channels = 64\natt_entries = 65536",
        "[bar]\nchan_base = 0x30000",
    ] {
        sound(&work(), config);
    }
}

/// Adds a connection before the first.
fn connect(work: &Work, start: &str, end: &str, base: &str) {
    let more = format!(
        " <connection kind=\"avalon\" version=\"14.0\" start=\"{start}\" end=\"{end}\">\n  \
         <parameter name=\"baseAddress\" value=\"{base}\" />\n </connection>\n"
    );
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find(" <connection").unwrap();
    fs::write(
        work.input(SYSTEM),
        format!("{}{more}{}", &text[..at], &text[at..]),
    )
    .unwrap();
}

/// A clock crossing that others use, too, stays for them, with its range of the BAR.
#[test]
fn a_crossing_with_another_slave_stays() {
    let work = work();
    // 2 KiB at a free place; the other slave has the second of them.
    let text = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let at = text.find("name=\"cross_control\">").unwrap();
    let (head, rest) = text.split_at(at);
    let width = "\"ADDRESS_WIDTH\" value=\"1";
    let rest = (rest.replacen(&format!("{width}0\""), &format!("{width}1\""), 1)).replacen(
        "value=\"0xc800\"",
        "value=\"0xe000\"",
        1,
    );
    fs::write(work.input(SYSTEM), format!("{head}{rest}")).unwrap();
    connect(&work, "cross_control.m0", "mailbox.slow", "0x400");
    let report = sound(&work, "");
    let all = all(&work);
    assert!(
        all.contains("avalon host_pipe.m0 cross_control.s0 0xe000"),
        "{all:?}"
    );
    assert!(
        all.contains("avalon cross_control.m0 mailbox.slow 0x400"),
        "{all:?}"
    );
    assert!(
        !all.contains("avalon cross_control.m0 copier.csr 0x0000"),
        "{all:?}"
    );
    // 2 KiB at 0xe000 are the bridge's, so the registers move above everything in use.
    assert!(
        all.contains("avalon host_pipe.m0 copier.csr 0x00020000"),
        "{all:?}"
    );
    assert_eq!(report.bar_after.slaves_of("copier")["csr"], 0x2_0000);
}

/// One crossing for both slaves, at a base that leaves no room to grow.
#[test]
fn one_crossing_for_registers_and_window() {
    let work = work();
    let system = work.input(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    let text = text
        .replace("start=\"cross_window.m0\"", "start=\"cross_control.m0\"")
        .replacen(
            "name=\"ADDRESS_WIDTH\" value=\"10\"",
            "name=\"ADDRESS_WIDTH\" value=\"17\"",
            1,
        );
    // The window above the registers, both on the bridge at 0x20000, and a slave directly above the bridge.
    let at = text.find("end=\"copier.s_nondma\"").unwrap();
    let moved = text[at..].replacen("0x0000", "0x00010000", 1);
    let text = format!("{}{moved}", &text[..at]);
    let at = text.find("end=\"cross_control.s0\"").unwrap();
    let moved = text[at..].replacen("0xc800", "0x00020000", 1);
    fs::write(&system, format!("{}{moved}", &text[..at])).unwrap();
    connect(&work, "host_pipe.m0", "mailbox.near", "0x00040000");
    common::edit(
        &system,
        "name=\"ADDRESS_WIDTH\" value=\"18\"",
        "name=\"ADDRESS_WIDTH\" value=\"19\"",
    );
    let report = sound(&work, "");
    let places = report.bar_after.slaves_of("copier");
    assert_eq!((places["csr"], places["s_nondma"]), (0x2_0000, 0x3_0000));
    let text = fs::read_to_string(work.output(SYSTEM)).unwrap();
    assert!(!text.contains("name=\"cross_control\""));
    // The window's crossing leads nowhere now, but it did so already in the input.
    assert!(text.contains("name=\"cross_window\""));
}

/// A crossing directly at the BAR: no bridge is in the hard IP's clock, so the extension adds one.
#[test]
fn a_bar_that_goes_into_the_memorys_clock_at_once() {
    let work = work();
    let system = work.input(SYSTEM);
    let text = fs::read_to_string(&system).unwrap();
    fs::write(
        &system,
        text.replace(
            "start=\"endpoint.coreclkout\"\n   end=\"host_pipe.clk\"",
            "start=\"bank_a.afi_clk\"\n   end=\"host_pipe.clk\"",
        ),
    )
    .unwrap();
    sound(&work, "");
    let all = all(&work);
    assert!(
        all.contains("avalon peerlane_bar0.m0 host_pipe.s0 0x0000"),
        "{all:?}"
    );
    assert!(
        all.iter()
            .any(|c| c.starts_with("avalon peerlane_bar0.m0 copier.csr ")),
        "{all:?}"
    );
}

#[test]
fn another_master_on_a_crossing_that_would_go() {
    let work = work();
    connect(&work, "mailbox.master", "cross_control.s0", "0x0");
    expect(
        &work.refused(""),
        ErrorKind::Unsupported,
        &["mailbox.master", "cross_control", "directly"],
    );
}

#[test]
fn the_flash_alone_away_from_0_gets_a_bridge_of_its_own() {
    let work = work();
    common::edit(
        &work.input(SYSTEM),
        "start=\"endpoint.Rxm_BAR0\"\n   end=\"flash_pipe.s0\"",
        "start=\"endpoint.Rxm_BAR2\"\n   end=\"flash_pipe.s0\"",
    );
    // The BAR's size is not known: its slave stays unchanged.
    let unknown = Work::of(&work.bsp);
    let report = unknown.sound("");
    let words = "endpoint.Rxm_BAR2 keeps its slaves unchanged";
    assert!(report.notes.iter().any(|note| note.contains(words)));
    common::edit(
        &work.input(SYSTEM),
        "name=\"SLAVE_ADDRESS_MAP_2\" value=\"0\"",
        "name=\"SLAVE_ADDRESS_MAP_2\" value=\"29\"",
    );
    sound(&work, "");
    let all = all(&work);
    assert!(
        all.contains("avalon endpoint.Rxm_BAR0 host_pipe.s0 0x0000"),
        "{all:?}"
    );
    assert!(
        all.contains("avalon peerlane_bar2.m0 flash_pipe.s0 0x10000000"),
        "{all:?}"
    );
}

/// A backup of the system is not the system; two systems on the search path are an error.
#[test]
fn the_system_is_the_one_on_the_search_path() {
    let backup = work();
    fs::create_dir(backup.input("old")).unwrap();
    let text = fs::read_to_string(backup.input(SYSTEM)).unwrap();
    let other = text
        .replace("\"copier\"", "\"older\"")
        .replace("copier.", "older.");
    fs::write(backup.input("old/board.qsys"), &other).unwrap();
    let report = sound(&backup, "");
    assert_eq!(report.instance, "copier");
    assert_eq!(
        fs::read_to_string(backup.output("old/board.qsys")).unwrap(),
        other
    );
    assert!(
        report
            .notes
            .iter()
            .any(|n| n.contains("copier of board.qsys")),
        "{:?}",
        report.notes
    );

    // In ip/, below the project, in a path of an index, in the settings' search path.
    for (place, also) in [
        ("ip/spare", ""),
        ("cores/spare", ""),
        ("iface", "set_global_assignment -name SEARCH_PATH iface\n"),
    ] {
        let work = work();
        fs::create_dir_all(work.input(place)).unwrap();
        fs::write(work.input(&format!("{place}/board.qsys")), &other).unwrap();
        let settings = fs::read_to_string(work.input("ip_include.tcl")).unwrap();
        fs::write(work.input("ip_include.tcl"), settings + also).unwrap();
        let spare = format!("{place}/board.qsys");
        expect(
            &work.refused(""),
            ErrorKind::Unsupported,
            &["/board.qsys", &spare, "kind board", "search path"],
        );
    }
}

#[test]
fn kinds_are_found_where_they_are() {
    let work = work();
    let report = sound(&work, "");
    let note = report
        .notes
        .iter()
        .find(|n| n.contains("the OpenCL SDK must"))
        .unwrap();
    for of_the_sdk in ["acl_kernel_interface", "version_id", "temperature"] {
        assert!(note.contains(of_the_sdk), "{note}");
    }
    for ours in [
        "peerlane_net_flash",
        "peerlane_net_mailbox",
        "peerlane_net_blinker",
        "alt_xcvr_reconfig",
    ] {
        assert!(!note.contains(ours), "{note}");
    }
    // A kind that is undefined in the input is a note, too; a new undefined kind in the output is a fault.
    let odd = self::work();
    common::edit(
        &odd.input(SYSTEM),
        "kind=\"temperature\"",
        "kind=\"weather\"",
    );
    sound(&odd, "");
    common::edit(&odd.output(SYSTEM), "kind=\"weather\"", "kind=\"climate\"");
    let findings = check(&Layout::find(&odd.out).unwrap()).unwrap();
    let bad = findings
        .0
        .iter()
        .find(|f| f.level == Level::Bad && f.test == "hierarchy");
    assert!(
        bad.is_some_and(|f| f.what.to_string().contains("climate")),
        "{:#?}",
        findings.0
    );
}

#[test]
fn the_persona_is_neither_imported_nor_there() {
    let work = work();
    let report = sound(&work, "");
    let board = work.hardware(&work.bsp);
    let inside = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let left_out: Vec<_> = report.left_out.iter().map(inside).collect();
    assert_eq!(
        left_out,
        ["base.aocx", "base.root_partition.personax"],
        "{}",
        board.display()
    );
    for file in ["base.aocx", "persona/base.root_partition.personax"] {
        assert!(!work.output(file).exists(), "{file}");
    }
    let settings = fs::read_to_string(work.output("top.qsf")).unwrap();
    assert!(
        !settings.contains("INPUT_PERSONA") && settings.contains("BASE_REVISION base"),
        "{settings}"
    );
    for revision in ["base.qsf", "top.qsf"] {
        let text = fs::read_to_string(work.output(revision)).unwrap();
        assert_eq!(
            text.matches("iface/peerlane/peerlane.qsf").count(),
            1,
            "{revision}"
        );
    }
    let note = report
        .to_do
        .iter()
        .find(|n| n.contains("shipped the board compiled"))
        .unwrap();
    for word in [
        "persona/base.root_partition.personax",
        "revision top",
        "rebuild.tcl",
        "first error",
    ] {
        assert!(note.contains(word), "{note}");
    }
}

/// The same import in files that the settings source directly or indirectly, in either way.
#[test]
fn an_import_in_tcl_that_the_settings_source() {
    let import = "set_global_assignment -name INPUT_PERSONA persona/base.root_partition.personax -section_id Top";
    for (file, line) in [
        ("ip_include.tcl", format!("{import}\n")),
        (
            "ip_include.tcl",
            format!("if {{$::quartus(nameofexecutable) ne \"\"}} {{ {import} }}\n"),
        ),
        ("more.tcl", format!("{import}\n")),
        ("base.qsf", format!("{import}\n")),
    ] {
        let work = work();
        work.edit("top.qsf", &format!("{import}\n"), "");
        let before = fs::read_to_string(work.input(file)).unwrap_or_default();
        if file == "more.tcl" {
            let include = fs::read_to_string(work.input("ip_include.tcl")).unwrap();
            fs::write(work.input("ip_include.tcl"), include + "source more.tcl\n").unwrap();
        }
        fs::write(work.input(file), before + &line).unwrap();
        let report = sound(&work, "");
        let after = fs::read_to_string(work.output(file)).unwrap();
        assert!(!after.contains("INPUT_PERSONA"), "{file}: {after}");
        assert!(
            report
                .changes
                .iter()
                .any(|c| c.file.ends_with(file) && c.what.contains("INPUT_PERSONA"))
        );
        assert!(work.output("scripts/peerlane/rebuild.tcl").is_file());
    }
}

/// A step of the flow that imports, in a script that another one runs.
#[test]
fn an_import_in_a_script_of_the_flow() {
    let work = work();
    let flow = fs::read_to_string(work.input("scripts/pre_flow.tcl")).unwrap();
    fs::write(
        work.input("scripts/pre_flow.tcl"),
        flow + "qexec \"quartus_sh -t scripts/import.tcl\"\n",
    )
    .unwrap();
    let step = "if [string match quartus_map $module] {\n  if { ![file exists p.qxp] } {\n    post_message none\n  } else {\n    \
                execute_flow -incremental_compilation_import\n  }\n}\n";
    fs::write(work.input("scripts/import.tcl"), step).unwrap();
    fs::create_dir(work.input("incremental_db")).unwrap();
    fs::write(work.input("incremental_db/top.db"), "old").unwrap();
    let report = sound(&work, "");
    // It waits until the imports are on again, and then it is needed.
    let after = fs::read_to_string(work.output("scripts/import.tcl")).unwrap();
    let (flow, held) = (
        "execute_flow -incremental_compilation_import",
        "if {[file exists scripts/peerlane/imports_on]} { execute_flow -incremental_compilation_import }",
    );
    assert_eq!(after, step.replace(flow, held));
    let change = report
        .changes
        .iter()
        .find(|c| c.what.contains("step that imports"));
    assert!(change.is_some(), "{:?}", report.changes);
    assert!(!work.output("incremental_db").exists());
}
