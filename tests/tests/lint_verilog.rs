//! Checks the Verilog of the block with Verilator, Icarus Verilog and Yosys.

use peerlane_hdl::{
    Design, Input, Irq, Output, Params, Port, Slaves, Streams, TOP, generate, pcie,
};
use peerlane_tests::lint::{Finding, READERS, Reader, Source, Waiver, lint};
use peerlane_tools::Cache;

/// Waivers that the generated Verilog may have.
const WAIVERS: &[Waiver] = &[Waiver {
    rule: "UNUSEDSIGNAL",
    reason: "the back-end names each bit that nothing reads: spare bits of a slave's address or \
             write data, fixed by the bus",
}];

fn check(sources: &[Source], top: &str, readers: &[Reader]) -> Vec<Finding> {
    lint(&Cache::open().unwrap(), sources, top, WAIVERS, readers).unwrap()
}

fn one(text: &str) -> Vec<Finding> {
    let source = Source {
        name: "top.v".to_owned(),
        text: text.to_owned(),
    };
    check(&[source], "top", &READERS)
}

fn readers(findings: &[Finding]) -> Vec<Reader> {
    findings.iter().map(|finding| finding.reader).collect()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_good_file_has_no_finding() {
    let good = "module top (\n  input wire clk,\n  input wire [7:0] d,\n  output reg [7:0] q\n);\n\
                  always @(posedge clk) begin\n    q <= d;\n  end\nendmodule\n";
    assert_eq!(one(good), []);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn each_reader_finds_what_it_is_there_for() {
    // Assigned with the wrong width: Verilator.
    let width = "module top(input wire [7:0] a, output wire [3:0] y);\n\
                 assign y = a;\nendmodule\n";
    assert!(readers(&one(width)).contains(&Reader::Verilator));

    // Two drivers of one wire: Yosys.
    let drivers = "module top(input wire a, input wire b, output wire y);\n\
                   assign y = a;\nassign y = b;\nendmodule\n";
    assert!(readers(&one(drivers)).contains(&Reader::Yosys));

    // SystemVerilog: Icarus and the list of words.
    let system = "module top(input logic a, output logic y);\nalways_comb y = a;\nendmodule\n";
    let found = readers(&one(system));
    assert!(found.contains(&Reader::Icarus), "{found:?}");
    assert!(found.contains(&Reader::Words), "{found:?}");

    // A name that SystemVerilog reserves: only the list of words.
    let name = "module top(input wire bit, output wire y);\nassign y = bit;\nendmodule\n";
    assert!(readers(&one(name)).contains(&Reader::Words));

    // A module that does not exist: all three programs.
    let missing = "module top(input wire a, output wire y);\nother o(.a(a), .y(y));\nendmodule\n";
    let found = readers(&one(missing));
    assert_eq!(found, [Reader::Verilator, Reader::Icarus, Reader::Yosys]);

    // A waiver that is not allowed.
    let waived = "/* verilator lint_off WIDTH */\nmodule top(input wire [7:0] a, output wire [3:0] \
                  y);\nassign y = a;\nendmodule\n";
    assert!(readers(&one(waived)).contains(&Reader::Waivers));
}

/// Checks the block as synthesis sees it, and, with the readers that simulate, as simulation does, with the memories'
/// garbage.
fn the_block_is_clean(params: Params) {
    is_clean(&generate(&params).unwrap(), TOP, &format!("{params:?}"));
}

fn is_clean(design: &Design, top: &str, what: &str) {
    let views = [
        ("", &READERS[..]),
        ("`define SIMULATION\n", &[Reader::Verilator, Reader::Icarus]),
    ];
    for (view, readers) in views {
        let sources: Vec<Source> = design
            .modules
            .iter()
            .map(|module| Source {
                name: format!("{}.v", module.name),
                text: format!("{view}{}", module.verilog),
            })
            .collect();
        let findings = check(&sources, top, readers);
        let text: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{what}:\n{}", text.join("\n"));
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_with_a_128_bit_port_and_64_bit_addresses_is_clean() {
    the_block_is_clean(Params {
        port_bits: 128,
        txs_addr_bits: 64,
        att_log2: 12,
        ..Params::default()
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_with_a_256_bit_port_and_the_largest_tables_is_clean() {
    the_block_is_clean(Params {
        port_bits: 256,
        txs_addr_bits: 64,
        queue_log2: 12,
        att_log2: 16,
        ..Params::default()
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_in_windows_mode_and_with_the_smallest_tables_is_clean() {
    for port_bits in [128, 256] {
        the_block_is_clean(Params {
            port_bits,
            txs_addr_bits: 32,
            queue_log2: 8,
            att_log2: 8,
            ..Params::default()
        });
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_behind_streams_with_an_msix_table_and_64_channels_is_clean() {
    the_block_is_clean(Params {
        port: Port::Stream,
        irq: Irq::Msix,
        channels: 64,
        reads_log2: 6,
        receive_log2: 12,
        ..Params::default()
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_with_streams_is_clean() {
    let widths = [64, 128, 256, 512];
    let inputs = widths.into_iter().flat_map(|bits| {
        let stream = move |packets, lossy| Input {
            bits,
            packets,
            lossy,
        };
        [stream(false, false), stream(true, true)]
    });
    let inputs = Streams::try_from(inputs.collect::<Vec<_>>()).unwrap();
    let outputs = Streams::try_from(widths.map(|bits| Output { bits }).to_vec()).unwrap();
    for port_bits in [128, 256] {
        let plain = Params {
            port_bits,
            ..Params::default()
        };
        the_block_is_clean(Params {
            inputs,
            outputs,
            ..plain
        });
        the_block_is_clean(Params { inputs, ..plain });
        the_block_is_clean(Params { outputs, ..plain });
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_with_one_channel_is_clean() {
    the_block_is_clean(Params {
        channels: 1,
        reads_log2: 3,
        ..Params::default()
    });
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_with_its_transaction_layer_is_clean() {
    for (port_bits, irq) in [(128, Irq::Rxm), (256, Irq::Msix)] {
        the_block_is_clean(Params {
            port: Port::Tlp,
            irq,
            port_bits,
            reads_log2: 6,
            receive_log2: 10,
            ..Params::default()
        });
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_block_that_leads_the_host_to_its_slaves_is_clean() {
    for (irq, msix) in [(Irq::Rxm, None), (Irq::Msix, Some(0x3_0000))] {
        the_block_is_clean(Params {
            port: Port::Tlp,
            irq,
            slaves: Some(Slaves {
                bar: 0,
                csr: 0xC800,
                chan: 0x2_0000,
                att: 0x2_8000,
                msix,
                window: Some(0x1_0000),
            }),
            ..Params::default()
        });
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_transaction_layer_is_clean() {
    for bits in [128, 256] {
        let design = pcie::generate(bits, pcie::patience_log2(250)).unwrap();
        is_clean(&design, pcie::TOP, &format!("{bits} bits"));
    }
}
