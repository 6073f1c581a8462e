//! `peerlane check` finds the faults of an extended BSP.

use std::fs;

use crate::common::{self, Work, edit, extended_with, finds_in};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, check};

const SYSTEM: &str = "acl_iface_system.qsys";

/// Makes an extended copy of the reference BSP.
fn extended() -> Work {
    extended_with("")
}

/// Returns a file of the component other than its top.
fn inner_module(work: &Work) -> String {
    let files = fs::read_dir(work.output("iface/peerlane")).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut inner = names.filter(|name| name.ends_with(".v") && !name.starts_with("peerlane_dma"));
    inner.next().unwrap()
}

/// Corrupts a file of an extended BSP; the test of this name must find it, with the words.
fn finds(file: &str, from: &str, to: &str, test: &str, words: &str) {
    finds_in(&extended(), file, from, to, test, words);
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
        "parameters",
        "avalon",
        "bases",
        "receive side",
        "identity",
        "compiled files",
        "resets",
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
}

#[test]
fn every_configuration_gives_a_sound_one() {
    for config in [
        "att_entries = 256\nqueue_depth = 256",
        "att_entries = 65536\nqueue_depth = 4096",
        "channels = 1",
        "channels = 64\nqueue_depth = 256",
        "irq = \"msix\"",
        "irq = \"msix\"\nchannels = 64\n[bar]\nmsix_base = 0x22000",
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
        let found = findings.0.iter().any(|f| {
            f.level == Level::Bad && f.test == "files" && f.what.to_string().contains(file)
        });
        assert!(found, "{file}: {:#?}", findings.0);
    }
    finds("top.qsf", "top.v", "other.v", "files", "other.v");
    let work = extended();
    fs::remove_file(work.output("iface/peerlane").join(inner_module(&work))).unwrap();
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert!(
        findings
            .0
            .iter()
            .any(|f| f.test == "ids" && f.what.to_string().contains("missing"))
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
        "component list",
        "no list of components",
    );
    finds(
        "iface/board_status.qsys",
        "kind=\"version_id\"",
        "kind=\"acl_dma\"",
        "instances",
        "still of kind acl_dma",
    );
}

/// The block survives a reset of one of its sides, but not a reset of its partner alone.
#[test]
fn resets_that_reach_the_block_and_what_it_talks_to() {
    // The hard IP without the block's PCIe side.
    finds(
        SYSTEM,
        "start=\"host_link.nreset_status\"",
        "start=\"kernels.kernel_reset\"",
        "resets",
        "not from host_link.nreset_status",
    );
    // The memory alone, or the block's side of it alone.
    let chain = "start=\"link_reset.reset_out\"\n   end=\"memory_reset.reset_in0\"";
    let work = extended();
    edit(
        &work.output(SYSTEM),
        chain,
        "start=\"kernels.kernel_reset\"\n   end=\"memory_reset.reset_in0\"",
    );
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert!(
        findings.0.iter().any(|f| f.test == "resets"
            && f.level == Level::Good
            && f.what.to_string().contains("which the block tolerates")),
        "{:#?}",
        findings.0
    );
    finds(
        SYSTEM,
        "start=\"memory_reset.reset_out\"\n   end=\"memory.reset\"",
        "start=\"kernels.kernel_reset\"\n   end=\"memory.reset\"",
        "resets",
        "that never come",
    );
    finds(
        SYSTEM,
        "start=\"memory_reset.reset_out\"\n   end=\"dma_engine.reset\"",
        "start=\"kernels.kernel_reset\"\n   end=\"dma_engine.reset\"",
        "resets",
        "take earlier completions for new ones",
    );
}

/// A chained write must not read through another path than the one by which the read before it wrote.
#[test]
fn masters_that_meet_before_or_behind_something() {
    finds(
        SYSTEM,
        "start=\"dma_engine.mem_wr\"",
        "start=\"dma_engine.mem_win\"",
        "memory order",
        "old contents of memory",
    );
    let work = extended();
    let level = || {
        let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
        let found = findings.0.iter().find(|f| f.test == "memory order");
        found.unwrap().level
    };
    assert_eq!(level(), Level::Good);
    edit(
        &work.output(SYSTEM),
        "name=\"qsys_mm.maxAdditionalLatency\" value=\"0\"",
        "name=\"qsys_mm.maxAdditionalLatency\" value=\"2\"",
    );
    assert_eq!(level(), Level::Bad);
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
        "avalon",
        "control_pipe.s0 → ",
    );
    finds(
        SYSTEM,
        "end=\"status.s\"",
        "end=\"status.clk\"",
        "avalon",
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
        "bases",
        "the record has",
    );
    finds(
        SYSTEM,
        "start=\"dma_engine.txs\"",
        "start=\"bar_pipe.m0\"",
        "avalon",
        "bar_pipe.m0 → host_link.Txs",
    );
}

#[test]
fn overlapping_and_unreachable_addresses() {
    finds(
        SYSTEM,
        "value=\"0x00028000\"",
        "value=\"0x00020000\"",
        "bases",
        "overlaps dma_engine.chan",
    );
    finds(
        SYSTEM,
        "value=\"0x3800\"",
        "value=\"0x3040\"",
        "bases",
        "overlaps dma_engine.csr",
    );
    finds(
        SYSTEM,
        "value=\"0x00028000\"",
        "value=\"0x00048000\"",
        "bases",
        "above the 0x40000",
    );
    // On one of the block's own masters: the hard IP next to the memory.
    finds(
        SYSTEM,
        " <interconnectRequirement",
        " <connection kind=\"avalon\" version=\"13.1\" start=\"dma_engine.mem_rd\" end=\"host_link.Cra\" />\n \
         <interconnectRequirement",
        "bases",
        "on dma_engine.mem_rd",
    );
    finds(
        SYSTEM,
        "name=\"TX_S_ADDR_WIDTH\" value=\"64\"",
        "name=\"TX_S_ADDR_WIDTH\" value=\"32\"",
        "parameters",
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
            "not a clock interface",
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
            "set_fileset_property QUARTUS_SYNTH TOP_LEVEL peerlane_dma",
            "set_fileset_property QUARTUS_SYNTH TOP_LEVEL other",
            "top module other",
        ),
    ] {
        finds(tcl, from, to, "component", words);
    }
    let work = extended();
    let inner = inner_module(&work);
    let listed = format!("add_fileset_file {inner} VERILOG PATH {inner}\n");
    finds_in(
        &work,
        tcl,
        &listed,
        "\n",
        "component",
        "is instantiated, but is in no file",
    );
    let outer = "iface/peerlane/peerlane_dma_msix.v";
    for (file, from, to, words) in [
        (
            tcl,
            "kernel_irq interrupt start",
            "kernel_irq interrupt end",
            "associatedAddressablePoint",
        ),
        (
            tcl,
            "msix_intfc Input 16",
            "msix_intfc Input 15",
            "input of 15 bits declared, input of 16",
        ),
        (
            tcl,
            "add_interface intx conduit end",
            "add_interface intx conduit start",
            "no interface of type",
        ),
        (
            tcl,
            "irqScheme INDIVIDUAL_REQUESTS",
            "irqScheme ALL",
            "cannot be",
        ),
        (
            outer,
            "peerlane_dma dma (",
            "peerlane dma (",
            "module peerlane is",
        ),
        (
            outer,
            "output wire intx_req",
            "output wire intx_rec",
            "intx_rec",
        ),
    ] {
        let work = extended_with("irq = \"msix\"");
        finds_in(&work, file, from, to, "component", words);
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
        "input wire csr_read,",
        "input wire csr_reed,",
        "component",
        "csr_reed",
    );
    finds(
        top,
        "[7:0] csr_address",
        "[W:0] csr_address",
        "component",
        "does not consist of two numbers",
    );
}

#[test]
fn ids_that_differ() {
    let top = "iface/peerlane/peerlane_dma.v";
    let work = extended();
    let record = fs::read_to_string(work.output("iface/peerlane/build.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    for id in ["map_id", "build_id"] {
        // The spelling of the documents.
        let was = record[id].as_str().unwrap();
        assert!(was.len() == 10 && was.starts_with("0x"), "{was}");
        let other = u32::from_str_radix(&was[2..], 16).unwrap() ^ 1;
        let word = id.to_uppercase();
        let (from, to) = (format!("{word} {was}"), format!("{word} {other:#010x}"));
        finds(top, &from, &to, "ids", "but the BSP was built as");
        let (from, to) = (
            format!("\"{id}\": \"{was}\""),
            format!("\"{id}\": \"{other:#010x}\""),
        );
        finds(
            "iface/peerlane/build.json",
            &from,
            &to,
            "ids",
            "but the BSP was built as",
        );
    }
    // The record has another layout than the block.
    let att = record["slaves"]["att"].as_u64().unwrap();
    finds(
        "iface/peerlane/build.json",
        &format!("\"att\": {att}"),
        &format!("\"att\": {}", att + 0x8000),
        "ids",
        "places of the slaves give BUILD_ID",
    );
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

/// All clock crossings rely on the generated constraints.
#[test]
fn generated_constraints_are_not_edited() {
    let work = Work::new();
    work.sound("[port]\nkind = \"tlp\"\n");
    for file in ["peerlane_dma.sdc", "peerlane_pcie.sdc"] {
        let path = work.output(&format!("iface/peerlane/{file}"));
        let before = fs::read_to_string(&path).unwrap();
        for after in [String::new(), before.replacen("set_", "# set_", 1)] {
            fs::write(&path, after).unwrap();
            let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
            let bad: Vec<_> = (findings.0.iter())
                .filter(|f| f.level == Level::Bad)
                .collect();
            assert_eq!(bad.len(), 1, "{bad:#?}");
            assert_eq!(
                (bad[0].test, bad[0].what.to_string().as_str()),
                ("ids", "changed since it was generated")
            );
            assert!(bad[0].place.ends_with(file), "{bad:#?}");
            assert!(
                bad[0]
                    .hint
                    .as_ref()
                    .unwrap()
                    .to_string()
                    .contains("Extend the vendor's BSP again")
            );
        }
        fs::write(&path, before).unwrap();
    }
}
