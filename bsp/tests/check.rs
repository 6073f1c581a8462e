//! `peerlane extend --check` finds what is wrong with an extended BSP.

mod common;

use std::fs;
use std::process::Command;

use common::{Work, edit, peerlane, text};
use peerlane_bsp::check::{Level, check};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;

const SYSTEM: &str = "acl_iface_system.qsys";

/// An extended copy of the reference BSP.
fn extended() -> Work {
    let work = Work::new();
    work.extend("").unwrap();
    work
}

/// Spoils a file of an extended BSP; the test named must find it, with the words.
fn finds(file: &str, from: &str, to: &str, test: &str, words: &str) {
    let work = extended();
    edit(&work.output(file), from, to);
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    let bad: Vec<_> = findings
        .0
        .iter()
        .filter(|f| f.level == Level::Bad)
        .collect();
    assert!(
        bad.iter().any(|f| f.test == test && f.what.contains(words)),
        "{file}: {from:?} → {to:?}: {bad:#?}"
    );
    assert!(bad.iter().all(|f| !f.remedy.is_empty()));
}

#[test]
fn a_fresh_one_is_sound_and_the_command_says_so() {
    let work = extended();
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert_eq!(findings.errors(), 0, "{:#?}", findings.0);
    for test in [
        "instances",
        "files",
        "hierarchy",
        "connections",
        "block",
        "addresses",
        "hard IP",
        "ids",
        "component",
    ] {
        assert!(
            findings
                .0
                .iter()
                .any(|f| f.test == test && f.level == Level::Good),
            "{test}"
        );
    }
    edit(
        &work.output(SYSTEM),
        "end=\"dma_engine.att\"",
        "end=\"dma_engine.table\"",
    );
    let run = peerlane(&["extend", "--check", text(&work.out)]);
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(said.contains("wrong") && said.contains("faults"), "{said}");
}

#[test]
fn every_configuration_gives_a_sound_one() {
    for config in [
        "att_entries = 256\nqueue_depth = 256",
        "att_entries = 65536\nqueue_depth = 4096",
        "mode = \"windows\"",
    ] {
        let work = Work::new();
        work.extend(config).unwrap();
        let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
        assert_eq!(findings.errors(), 0, "{config}: {:#?}", findings.0);
    }
    let work = Work::new();
    work.edit(
        SYSTEM,
        "name=\"avmm_width_hwtcl\" value=\"128\"",
        "name=\"avmm_width_hwtcl\" value=\"256\"",
    );
    assert_eq!(work.extend("").unwrap().port_bits, 256);
    assert_eq!(
        check(&Layout::find(&work.out).unwrap()).unwrap().errors(),
        0
    );
}

#[test]
fn a_vendor_bsp_is_not_an_extended_one() {
    let error = check(&Layout::find(&common::reference()).unwrap()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotABsp);
    let run = peerlane(&["extend", "--check", text(&common::reference())]);
    assert_eq!(run.status.code(), Some(2));
    let work = extended();
    fs::write(work.output("iface/peerlane/build.json"), "{").unwrap();
    let error = check(&Layout::find(&work.out).unwrap()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Inconsistent);
}

#[test]
fn missing_files() {
    for file in [
        "top.v",
        "iface/peerlane/peerlane_dma_hw.tcl",
        "iface/peerlane/peerlane.qsf",
        "iface/peerlane/peerlane_dma.sdc",
    ] {
        let work = extended();
        fs::remove_file(work.output(file)).unwrap();
        let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
        let found = findings
            .0
            .iter()
            .any(|f| f.level == Level::Bad && f.test == "files" && f.what.contains(file));
        assert!(found, "{file}: {:#?}", findings.0);
    }
    finds("top.qsf", "top.v", "other.v", "files", "other.v");
    let work = extended();
    fs::remove_file(work.output("iface/peerlane/peerlane_dma_csr.v")).unwrap();
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert!(
        findings
            .0
            .iter()
            .any(|f| f.test == "ids" && f.what.contains("gone"))
    );
    assert!(
        findings
            .0
            .iter()
            .any(|f| f.test == "component" && f.level == Level::Bad)
    );
}

#[test]
fn kinds_and_instances() {
    finds(
        SYSTEM,
        "kind=\"board_status\"",
        "kind=\"board_stats\"",
        "hierarchy",
        "board_stats",
    );
    finds(
        "iface.ipx",
        "name=\"peerlane_dma\"",
        "name=\"peerlane\"",
        "hierarchy",
        "peerlane_dma",
    );
    finds(
        "iface/board_status.qsys",
        "kind=\"version_id\"",
        "kind=\"acl_dma\"",
        "instances",
        "still of kind acl_dma",
    );
}

#[test]
fn dangling_connections() {
    finds(
        SYSTEM,
        "end=\"host_link.Txs\"",
        "end=\"host_lonk.Txs\"",
        "connections",
        "no instance host_lonk",
    );
    finds(
        SYSTEM,
        "start=\"dma_engine.mem_wr\"",
        "start=\"dma_engine.mem_xx\"",
        "connections",
        "no interface mem_xx",
    );
    finds(
        SYSTEM,
        "start=\"control_pipe.m0\"",
        "start=\"control_pipe.s0\"",
        "connections",
        "cannot start",
    );
    finds(
        SYSTEM,
        "end=\"status.s\"",
        "end=\"status.clk\"",
        "connections",
        "status.clk",
    );
    finds(
        "system.qsys",
        "acl_iface.ddr_oct",
        "acl_iface.ddr_act",
        "connections",
        "ddr_act",
    );
    finds(
        "iface/peerlane/build.json",
        "\"csr\": 12288",
        "\"csr\": 12800",
        "block",
        "the record says",
    );
    finds(
        SYSTEM,
        "start=\"dma_engine.txs\"",
        "start=\"bar_pipe.m0\"",
        "block",
        "txs",
    );
}

#[test]
fn overlapping_and_unreachable_addresses() {
    finds(
        SYSTEM,
        "value=\"0x00028000\"",
        "value=\"0x00020000\"",
        "addresses",
        "overlaps dma_engine.chan",
    );
    finds(
        SYSTEM,
        "value=\"0x3800\"",
        "value=\"0x3040\"",
        "addresses",
        "overlaps dma_engine.csr",
    );
    finds(
        SYSTEM,
        "value=\"0x00028000\"",
        "value=\"0x00048000\"",
        "addresses",
        "past the 0x40000",
    );
    // On one of the block's own masters: the hard IP beside the memory.
    finds(
        SYSTEM,
        " <interconnectRequirement",
        " <connection kind=\"avalon\" version=\"13.1\" start=\"dma_engine.mem_rd\" end=\"host_link.Cra\" />\n \
         <interconnectRequirement",
        "addresses",
        "on dma_engine.mem_rd",
    );
    finds(
        SYSTEM,
        "name=\"TX_S_ADDR_WIDTH\" value=\"64\"",
        "name=\"TX_S_ADDR_WIDTH\" value=\"32\"",
        "hard IP",
        "TX_S_ADDR_WIDTH",
    );
}

#[test]
fn a_component_that_is_not_the_verilog() {
    let tcl = "iface/peerlane/peerlane_dma_hw.tcl";
    let top = "iface/peerlane/peerlane_dma.v";
    let port = "add_interface_port csr csr_readdata readdata Output 32";
    for (from, to, words) in [
        (
            "csr_address address Input 8",
            "csr_address address Input 9",
            "input of 9 bits declared, input of 8",
        ),
        (
            "csr_readdata readdata Output",
            "csr_readdata readdata Input",
            "role readdata",
        ),
        (port, "# none", "read without readdata"),
        (
            "add_interface_port csr csr_byteenable byteenable Input 4",
            "# none",
            "csr_byteenable of the Verilog",
        ),
        (
            "readLatency 1",
            "readLatencies 1",
            "no property readLatencies",
        ),
        ("readLatency 1", "readLatency one", "cannot be"),
        (
            "add_interface csr avalon end",
            "add_interface csr avalon both",
            "no interface of type",
        ),
        (
            "associatedClock pcie_clk",
            "associatedClock pci_clk",
            "no clock interface",
        ),
        (
            "set_module_property EDITABLE false",
            "set_module_prop EDITABLE false",
            "invalid command",
        ),
        (
            "package require -exact qsys 12.1",
            "package require -exact qsys 99",
            "qsys",
        ),
        (
            "add_fileset_file peerlane_dma_csr.v VERILOG PATH peerlane_dma_csr.v\n",
            "\n",
            "is instantiated and in no file",
        ),
        (
            "set_fileset_property QUARTUS_SYNTH TOP_LEVEL peerlane_dma",
            "set_fileset_property QUARTUS_SYNTH TOP_LEVEL other",
            "top module other",
        ),
    ] {
        finds(tcl, from, to, "component", words);
    }
    finds(
        top,
        "[7:0] csr_address",
        "[6:0] csr_address",
        "component",
        "csr_address",
    );
    finds(
        top,
        "input  wire csr_read,",
        "input  wire csr_reed,",
        "component",
        "csr_reed",
    );
    finds(
        top,
        "[7:0] csr_address",
        "[W:0] csr_address",
        "component",
        "not made of two numbers",
    );
}

#[test]
fn ids_that_differ() {
    let top = "iface/peerlane/peerlane_dma.v";
    let work = extended();
    let record = fs::read_to_string(work.output("iface/peerlane/build.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    for id in ["map_id", "build_id"] {
        let was = u32::try_from(record[id].as_u64().unwrap()).unwrap();
        let other = was ^ 1;
        let word = id.to_uppercase();
        let (from, to) = (
            format!("{word} {was:#010x}"),
            format!("{word} {other:#010x}"),
        );
        finds(top, &from, &to, "ids", "but the BSP was built as");
        let (from, to) = (format!("\"{id}\": {was}"), format!("\"{id}\": {other}"));
        finds(
            "iface/peerlane/build.json",
            &from,
            &to,
            "ids",
            "but the BSP was built as",
        );
    }
    finds(
        top,
        "BUILD_ID 0x",
        "BUILD 0x",
        "ids",
        "no MAP_ID and BUILD_ID",
    );
    finds(
        top,
        "endmodule",
        "// mine\nendmodule",
        "ids",
        "changed since",
    );
}

/// The constraints, under a stand-in for the Timing Analyzer that knows the registers of the Verilog.
#[test]
fn the_constraints_reach_every_synchroniser() {
    let work = extended();
    let own = work.output("iface/peerlane");
    // Each module with a first stage, and how wide that is.
    let mut widths = Vec::new();
    for entry in fs::read_dir(&own).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        if let Some(line) = text.lines().find(|l| l.trim().ends_with(" meta_q;")) {
            let high = line
                .split(['[', ':'])
                .nth(1)
                .map_or(0, |w| w.parse::<u32>().unwrap());
            widths.push(high + 1);
        }
    }
    let buses = widths.iter().filter(|w| **w > 1).count();
    assert!(buses >= 3, "{widths:?}");
    let registers: Vec<String> = widths
        .iter()
        .enumerate()
        .flat_map(|(n, width)| {
            let bit = move |b| {
                if *width == 1 {
                    String::new()
                } else {
                    format!("[{b}]")
                }
            };
            let name = move |b| format!("{{s|peerlane_dma:d|x:sync{n}|meta_q{}}}", bit(b));
            (0..*width).map(name)
        })
        .collect();
    let stand_in = format!(
        "set all [list {} {{s|peerlane_dma:d|y|other_q}}]\n{}",
        registers.join(" "),
        r#"
        proc get_registers {args} {
            set pattern [string map {[ \\[ ] \\]} [lindex $args end]]
            lsearch -all -inline -glob $::all $pattern
        }
        proc get_collection_size {c} { llength $c }
        proc foreach_in_collection {v c body} { uplevel 1 [list foreach $v $c $body] }
        proc get_register_info {option r} { return $r }
        proc post_message {args} { puts "message $args" }
        proc set_max_delay {option c value} { puts "delay [llength $c]" }
        proc set_min_delay {option c value} {}
        proc set_max_skew {option c value} { puts "skew [llength $c]" }
        source [lindex $argv 0]
        "#
    );
    let file = work.dir.path().join("analyzer.tcl");
    fs::write(&file, stand_in).unwrap();
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = tclsh
        .command()
        .arg(&file)
        .arg(own.join("peerlane_dma.sdc"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let mut skews: Vec<u32> = said
        .lines()
        .filter_map(|l| l.strip_prefix("skew ")?.parse().ok())
        .collect();
    let mut want: Vec<u32> = widths.iter().copied().filter(|w| *w > 1).collect();
    skews.sort_unstable();
    want.sort_unstable();
    assert_eq!(skews, want, "{said}");
    assert!(
        said.contains(&format!("delay {}", registers.len())),
        "{said}"
    );
    assert!(!said.contains("message"), "{said}");
}

/// The script that rebuilds the partition, under a stand-in for Quartus: it may use only commands that
/// Quartus has, and does what it says.
#[test]
fn the_partition_script_turns_the_import_on_and_off() {
    let work = Work::new();
    work.edit(
        "top.qsf",
        "set_global_assignment -name VERILOG_FILE top.v\n",
        "set_global_assignment -name VERILOG_FILE top.v\n\
         set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"system_acl_iface:acl_iface\"\n",
    );
    work.extend("").unwrap();
    let script = work.output("scripts/peerlane/partition.tcl");
    let stand_in = "package provide ::quartus::project 1.0\npackage provide ::quartus::flow 1.0\n\
        proc project_open {p} { puts \"open $p\" }\nproc project_close {} { puts close }\n\
        proc export_assignments {} { puts export }\nproc post_message {m} {}\n\
        proc set_global_assignment {args} { puts \"set $args\" }\n\
        proc get_global_assignment {args} { return $::env(IMPORT) }\n\
        proc execute_module {args} { puts \"module $args\" }\n\
        array set quartus [list args [list [lindex $argv 1]]]\nsource [lindex $argv 0]\n";
    let file = work.dir.path().join("stand_in.tcl");
    fs::write(&file, stand_in).unwrap();
    let run = |what: &str, import: &str| {
        let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
        let mut command: Command = tclsh.command();
        command
            .current_dir(work.hardware(&work.out))
            .env("IMPORT", import);
        let run = command.arg(&file).arg(&script).arg(what).output().unwrap();
        (
            run.status.success(),
            String::from_utf8_lossy(&run.stdout).into_owned(),
        )
    };
    let section = "-section_id system_acl_iface:acl_iface";
    let (good, said) = run("export", "");
    assert!(
        good && said.contains("--incremental_compilation_export=p.qxp"),
        "{said}"
    );
    assert!(
        !run("export", "p.qxp").0,
        "the old partition must not be exported again"
    );
    assert!(!run("import-on", "").0, "there is no file to import yet");
    fs::write(work.output("p.qxp"), b"new").unwrap();
    let (good, said) = run("import-on", "");
    assert!(
        good && said.contains(&format!("PARTITION_IMPORT_FILE p.qxp {section}")),
        "{said}"
    );
    let (good, said) = run("import-off", "p.qxp");
    assert!(
        good && said.contains(&format!("PARTITION_NETLIST_TYPE SOURCE {section}")),
        "{said}"
    );
    assert!(!run("nonsense", "").0);
}
