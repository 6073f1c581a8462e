//! Streams of the FPGA's logic: from the configuration to the board's systems, its channels, and the examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::faults::{faults, proved};
use crate::common::{
    Work, bad, expect, finds_in, one_paragraph, reference, reference_net, snapshot, vendor_bsp,
};
use crate::elaborate::{elaborate, sound};
use peerlane_bsp::check;
use peerlane_bsp::config::Config;
use peerlane_bsp::diagram::Diagram;
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::revert::{self, revert};
use peerlane_tools::Cache;

/// One stream of each direction and connection.
pub(crate) const STREAMS: &str = r#"
[[streams]]
name = "camera"
direction = "from_logic"
bits = 128
packets = true
lossy = true

[[streams]]
name = "orders"
direction = "to_logic"
bits = 64

[[streams]]
name = "results"
direction = "from_logic"
bits = 256
connect = "channel"

[[streams]]
name = "samples"
direction = "to_logic"
bits = 512
connect = "channel"
"#;
const PORTS: [&str; 3] = ["", "irq = \"msix\"", "[port]\nkind = \"tlp\""];

/// The block's interfaces of these streams: role, direction and width of each port.
const WIRES: &str = "\
    input0_clk clk Input 1\n\
    input0_reset reset Input 1\n\
    input0 data Input 128\n\
    input0 valid Input 1\n\
    input0 ready Output 1\n\
    input0 endofpacket Input 1\n\
    input0 empty Input 4\n\
    output0_clk clk Input 1\n\
    output0_reset reset Input 1\n\
    output0 data Output 64\n\
    output0 valid Output 1\n\
    output0 ready Input 1\n\
    output0 startofpacket Output 1\n\
    output0 endofpacket Output 1\n\
    output0 empty Output 3\n\
    output0 error Output 1\n\
    input1_clk clk Input 1\n\
    input1_reset reset Input 1\n\
    input1 data Input 256\n\
    input1 valid Input 1\n\
    input1 ready Output 1\n\
    output1_clk clk Input 1\n\
    output1_reset reset Input 1\n\
    output1 data Output 512\n\
    output1 valid Output 1\n\
    output1 ready Input 1";

struct Reference {
    bsp: std::path::PathBuf,
    system: &'static str,
    /// The system's instance, and the block's.
    board: &'static str,
    block: &'static str,
    /// The kernels' clock and reset in the system.
    clock: &'static str,
    reset: &'static str,
}

fn references() -> [Reference; 2] {
    [
        Reference {
            bsp: reference(),
            system: "acl_iface_system.qsys",
            board: "acl_iface",
            block: "dma_engine",
            clock: "kernel_clock.kernel_clk",
            reset: "kernels.kernel_reset",
        },
        Reference {
            bsp: reference_net(),
            system: "board.qsys",
            board: "board",
            block: "copier",
            clock: "kernel_pll.kernel_clk",
            reset: "kernel_bus.kernel_reset",
        },
    ]
}

/// Returns the words of a file with single blanks, so that a line's layout does not count.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn streams_lead_out_of_both_references() {
    for Reference {
        bsp,
        system,
        board,
        block,
        clock,
        reset,
    } in references()
    {
        for port in PORTS {
            let work = Work::of(&bsp);
            let report = work.sound(&format!("{port}\n{STREAMS}"));
            let good = proved(&work);
            let said = good.iter().any(|(test, what)| {
                *test == "streams" && what.contains("camera, orders, results, samples")
            });
            assert!(said, "{good:#?}");
            let (warnings, _) = sound(&work.output("system.qsys"));
            let (_, all) = elaborate(&work.output("system.qsys"), &[Path::new("-interfaces")]);
            let begin = format!("port {board}.{block}.");
            let of_block = all.iter().filter_map(|line| line.strip_prefix(&begin));
            let of_streams: BTreeSet<_> = of_block
                .filter(|line| line.starts_with("input") || line.starts_with("output"))
                .collect();
            assert_eq!(of_streams, WIRES.lines().collect());
            // The kernels are missing, which only `aoc` adds.
            for name in ["results", "samples"] {
                let open = warnings
                    .iter()
                    .any(|w| w.contains(&format!("{board}.{name} must be")));
                assert!(open, "{warnings:#?}");
            }
            let inner = words(&work.made(system));
            for (name, interface, kind, side) in [
                ("camera", "input0", "avalon_streaming", "end"),
                ("camera_clk", "input0_clk", "clock", "end"),
                ("camera_reset", "input0_reset", "reset", "end"),
                ("orders", "output0", "avalon_streaming", "start"),
                ("orders_clk", "output0_clk", "clock", "end"),
                ("orders_reset", "output0_reset", "reset", "end"),
                ("results", "input1", "avalon_streaming", "end"),
                ("samples", "output1", "avalon_streaming", "start"),
            ] {
                let line = |internal: &str| {
                    format!(
                        "<interface name=\"{name}\" internal=\"{internal}\" type=\"{kind}\" dir=\"{side}\" />"
                    )
                };
                assert!(
                    inner.contains(&line(&format!("{block}.{interface}"))),
                    "{name}"
                );
                let outer = words(&work.made("system.qsys"));
                let is_channel = matches!(name, "results" | "samples");
                let there = outer.contains(&line(&format!("{board}.{name}")));
                assert_eq!(there, !is_channel, "{name}");
            }
            for (kind, from, interface) in [
                ("clock", clock, "input1_clk"),
                ("reset", reset, "input1_reset"),
                ("clock", clock, "output1_clk"),
                ("reset", reset, "output1_reset"),
            ] {
                let wire = format!("start=\"{from}\" end=\"{block}.{interface}\" />");
                assert!(inner.contains(&wire), "{kind} {wire}");
            }
            let lines = format!(
                "<channels> <interface name=\"{board}\" port=\"results\" type=\"streamsink\" width=\"256\" \
                 chan_id=\"results\"/> <interface name=\"{board}\" port=\"samples\" type=\"streamsource\" \
                 width=\"512\" chan_id=\"samples\"/> </channels> <interfaces>"
            );
            let specification = words(&work.made("board_spec.xml"));
            assert!(specification.contains(&lines), "{specification}");
            // Report, README, help and the description for the driver.
            let task = report
                .to_do
                .iter()
                .find(|task| task.contains("camera, orders"));
            assert!(task.unwrap().contains("`top.v`, line "), "{task:?}");
            let markdown = report.markdown();
            let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
            let kernel = "channel ulong8 samples __attribute__((depth(4))) __attribute__((io(\"samples\")));";
            for text in [&markdown, &readme] {
                assert!(
                    text.contains(kernel) && text.contains("ports `camera_*`"),
                    "{text}"
                );
            }
            assert!(
                markdown.contains(".camera_data(camera_data),"),
                "{markdown}"
            );
            let help = work.made("iface/peerlane/peerlane_dma.html");
            assert!(help.contains("the stream orders"), "{help}");
            let diagram = Diagram::read(&work.out).unwrap();
            let rows: Vec<_> = diagram
                .streams
                .iter()
                .map(|s| s.interface.as_str())
                .collect();
            let want = ["input0", "output0", "input1", "output1"].map(|i| format!("{block}.{i}"));
            assert_eq!(rows, want);
            let line = format!("results  {block}.input1");
            assert!(
                words(&diagram.text()).contains(&words(&line)),
                "{}",
                diagram.text()
            );
            let described = work.described().text;
            let params = "input=128,packets,lossy input=256 output=64 output=512";
            assert!(described.contains(params), "{described}");
        }
    }
}

#[test]
fn streams_are_the_same_again_and_go_with_the_extension() {
    for Reference { bsp, .. } in references() {
        let work = Work::of(&bsp);
        work.sound(STREAMS);
        let again = Work::of(&bsp);
        again.extend(STREAMS).unwrap();
        assert!(snapshot(&work.out) == snapshot(&again.out));
        let back = work.dir.path().join("back");
        revert(&revert::Options {
            bsp: work.out.clone(),
            out: back.clone(),
            without_edits: false,
        })
        .unwrap();
        assert!(snapshot(&back) == snapshot(&bsp));
    }
}

/// The BSP of a real board, whose top module is not among its files here.
#[test]
fn a_vendors_bsp_gets_streams() {
    let Some(bsp) = vendor_bsp() else {
        return;
    };
    for port in ["", "[port]\nkind = \"tlp\""] {
        let work = Work::of(&bsp);
        let report = work.extend(&format!("{port}\n{STREAMS}")).unwrap();
        let mut tasks = report.to_do.iter();
        assert!(tasks.any(|task| task.contains("is instantiated (the top module)")));
        let system = words(&work.made("acl_iface_system.qsys"));
        for wire in [
            "start=\"acl_kernel_clk.kernel_clk\" end=\"dma_0.input1_clk\" />",
            "internal=\"dma_0.output0\"",
        ] {
            assert!(system.contains(wire), "{wire}");
        }
    }
}

/// Users replace the examples by their own logic.
#[test]
fn the_examples_may_be_changed_or_removed() {
    let work = Work::new();
    work.extend(STREAMS).unwrap();
    let layout = Layout::of_result(&work.out).unwrap();
    let path = work.output("peerlane_streams.v");
    let changes: [&dyn Fn(); 2] = [
        &|| fs::write(&path, "module mine; endmodule\n").unwrap(),
        &|| fs::remove_file(&path).unwrap(),
    ];
    for change in changes {
        change();
        let findings = check::check(&layout).unwrap();
        assert!(
            findings
                .0
                .iter()
                .any(|f| f.what.to_string().contains("examples for your own logic"))
        );
        assert_eq!(bad(findings), []);
    }
}

/// A board without streams has no trace of them.
#[test]
fn no_streams_leave_no_trace() {
    for Reference { bsp, .. } in references() {
        for port in PORTS {
            let work = Work::of(&bsp);
            work.extend(port).unwrap();
            assert!(!work.output("peerlane_streams.v").exists());
            assert!(!work.output("iface/peerlane/peerlane_dma_logic.v").exists());
            let build = work.made("iface/peerlane/build.json");
            assert!(!build.contains("streams"), "{build}");
            for file in ["iface/peerlane/peerlane_dma_hw.tcl", "board_spec.xml"] {
                let text = work.made(file);
                assert!(
                    !text.contains("STREAMS") && !text.contains("<channels>"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn boards_that_cannot_have_a_stream_are_refused() {
    let only = |name: &str, connect: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\ndirection = \"to_logic\"\nbits = 64\nconnect = \"{connect}\"\n"
        )
    };
    for (name, connect, file, from, to, says) in [
        (
            "kernel",
            "export",
            "",
            "",
            "",
            "has the interface kernel_clk",
        ),
        (
            "kernel_mem0",
            "channel",
            "",
            "",
            "",
            "has the interface kernel_mem0",
        ),
        // In the system around the block's.
        ("ddr_oct", "export", "", "", "", "has the interface ddr_oct"),
        (
            "ch",
            "channel",
            "board_spec.xml",
            "  <interfaces>",
            "  <channels><interface chan_id=\"ch\"/></channels>\n  <interfaces>",
            "has a channel of this name",
        ),
        (
            "ch",
            "channel",
            "board_spec.xml",
            "<kernel_clk_reset ",
            "<kernel_clk ",
            "there is no <kernel_clk_reset>",
        ),
        (
            "ch",
            "channel",
            "board_spec.xml",
            "clk=\"acl_iface.kernel_clk\"",
            "clk=\"other.kernel_clk\"",
            "names other, which is not the instance of acl_iface_system",
        ),
        (
            "ch",
            "channel",
            "board_spec.xml",
            "clk=\"acl_iface.kernel_clk\"",
            "clk=\"acl_iface.kernel_clk2x\"",
            "do not come from a clock source or bridge",
        ),
        (
            "a",
            "export",
            "peerlane_streams.v",
            "",
            "",
            "would replace this file",
        ),
    ] {
        let work = Work::new();
        match (file, from) {
            ("", _) => {}
            (file, "") => work.put(file, "// mine\n"),
            (file, from) => work.edit(file, from, to),
        }
        let error = work.refused(&only(name, connect));
        expect(&error, ErrorKind::Unsupported, &[says]);
        one_paragraph(&error);
    }
    // A BSP with channels of its own keeps them.
    let work = Work::new();
    work.edit(
        "board_spec.xml",
        "  <interfaces>",
        "  <channels>\n    <interface name=\"acl_iface\" port=\"old\" type=\"streamsink\" width=\"64\" chan_id=\"old\"/>\n  \
         </channels>\n  <interfaces>",
    );
    work.sound(&only("ch", "channel"));
    let text = words(&work.made("board_spec.xml"));
    assert!(
        text.contains("chan_id=\"old\"/> <interface name=\"acl_iface\" port=\"ch\""),
        "{text}"
    );
    // An element without a channel gets the first ones.
    for empty in [
        "<channels/>",
        "<channels>\n  </channels>",
        "<channels>  <!-- none yet --> </channels>",
    ] {
        let work = Work::new();
        work.edit(
            "board_spec.xml",
            "  <interfaces>",
            &format!("  {empty}\n  <interfaces>"),
        );
        work.sound(&only("ch", "channel"));
        let text = work.made("board_spec.xml");
        assert_eq!(text.matches("<channels").count(), 1, "{text}");
        assert_eq!(text.matches("port=\"ch\"").count(), 1, "{text}");
    }
    // The block needs an address bit for the streams.
    let work = Work::new();
    work.edit(
        "board_spec.xml",
        "size=\"0x100000000\"",
        "size=\"0x10000000000\"",
    );
    let error = work.refused(&only("a", "export"));
    expect(
        &error,
        ErrorKind::Unsupported,
        &["c.toml:1", "Leave out the streams"],
    );
}

#[test]
fn the_check_finds_a_stream_that_leads_elsewhere() {
    for (file, from, to, words) in [
        (
            "system.qsys",
            "internal=\"acl_iface.camera\"",
            "internal=\"acl_iface.orders\"",
            "the export camera",
        ),
        (
            "acl_iface_system.qsys",
            "name=\"orders_clk\"",
            "name=\"orders_clock\"",
            "the export orders_clk of a stream is missing",
        ),
        (
            "board_spec.xml",
            "width=\"256\" chan_id=\"results\"",
            "width=\"128\" chan_id=\"results\"",
            "width of the channel results",
        ),
        (
            "board_spec.xml",
            "chan_id=\"samples\"",
            "chan_id=\"sample\"",
            "0 channels are called samples",
        ),
    ] {
        let work = Work::new();
        work.extend(STREAMS).unwrap();
        finds_in(&work, file, from, to, "streams", words);
    }
    let work = Work::new();
    work.extend(STREAMS).unwrap();
    let text = work.made("acl_iface_system.qsys");
    let at = text.find("end=\"dma_engine.output1_clk\"").unwrap();
    let begin = text[..at].rfind("kernel_clock.kernel_clk").unwrap();
    let other = format!(
        "{}ddr.afi_clk{}",
        &text[..begin],
        &text[begin + "kernel_clock.kernel_clk".len()..]
    );
    fs::write(work.output("acl_iface_system.qsys"), other).unwrap();
    let found = faults(&work);
    let says =
        |(_, what): &(&str, String)| what.contains("output1_clk has the clock of ddr.afi_clk");
    assert!(found.iter().any(says), "{found:#?}");
}

/// The examples, and the lines for the top module, fit the system's ports.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn verilator_accepts_the_examples_in_the_top_module() {
    let work = Work::new();
    work.extend(STREAMS).unwrap();
    let config = Config::parse(Path::new("c.toml"), STREAMS).unwrap();
    let text = work.made("peerlane_streams.v");
    let (_, lines) = text.split_once("in that clock.\n").unwrap();
    let (lines, _) = lines.rsplit_once("*/").unwrap();
    let (inside, ports) = lines
        .split_once("// In the port list of the system:")
        .unwrap();
    let mut stub = "module system (\n".to_string();
    for line in WIRES.lines() {
        let mut parts = line.split(' ');
        let [interface, role, way, width] = [(); 4].map(|()| parts.next().unwrap());
        let Some(rest) = ["input0", "output0"]
            .iter()
            .zip(["camera", "orders"])
            .find_map(|(own, name)| Some(format!("{name}{}", interface.strip_prefix(own)?)))
        else {
            continue;
        };
        let width = width.parse::<u32>().unwrap() - 1;
        stub += &format!("  {} wire [{width}:0] {rest}_{role},\n", way.to_lowercase());
    }
    let top = format!(
        "{stub}  input wire last\n);\nendmodule\nmodule top (input wire CLOCK, input wire RESET);\n{inside}\n\
         system s (\n{ports}\n.last(1'b0));\nendmodule\n"
    );
    fs::write(work.out.join("top.v"), top).unwrap();
    assert_eq!(config.streams.len(), 4);
    let mut verilator = Cache::open().unwrap().verilator().unwrap().command();
    verilator.args([
        "--lint-only",
        "-Wall",
        "-Wno-UNDRIVEN",
        "-Wno-UNUSED",
        "-Wno-DECLFILENAME",
    ]);
    verilator.args([
        "-Wno-PINCONNECTEMPTY",
        "-Wno-PINMISSING",
        "--language",
        "1364-2005",
        "--top-module",
        "top",
    ]);
    let run = verilator
        .arg(work.out.join("top.v"))
        .arg(work.output("peerlane_streams.v"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.is_empty(), "{said}");
}
