//! A board with a TLP port beyond its system: constraints, names of the other hard IP, the driver's facts, the picture,
//! and requirements on the interconnect.

use std::fs;

use crate::common::{self, Work, edit, finds_in, reference_net};
use peerlane_bsp::diagram::Diagram;

const SYSTEM: &str = "acl_iface_system.qsys";
const STREAM: &str = "[port]\nkind = \"tlp\"\n";

/// Runs the constraints under a mock of the Timing Analyzer that has these registers and pins; returns its commands.
fn constraints(registers: &str, pins: &str) -> String {
    let work = Work::new();
    work.sound(STREAM);
    constraints_of(&work, registers, pins)
}

/// Runs the constraints of a board.
fn constraints_of(work: &Work, registers: &str, pins: &str) -> String {
    let settings = work.made("iface/peerlane/peerlane.qsf");
    assert!(settings.contains("SDC_FILE iface/peerlane/peerlane_pcie.sdc\n"));
    let stand_in = format!(
        "set registers {{{registers}}}\nset pins {{{pins}}}\n{}",
        r#"
        proc get_collection_size {c} { llength $c }
        proc matching {all pattern} {
            lsearch -all -inline -glob $all [string map {[ \\[ ] \\]} $pattern]
        }
        proc get_registers {option pattern} { matching $::registers $pattern }
        proc get_ports {option pattern} { matching $::pins $pattern }
        proc set_false_path {args} { puts "cut $args" }
        proc set_multicycle_path {args} { puts "cycles $args" }
        proc create_clock {args} { puts "clock $args" }
        proc post_message {args} { puts "message $args" }
        source [lindex $argv 0]
        "#
    );
    let file = work.dir.path().join("analyzer.tcl");
    fs::write(&file, stand_in).unwrap();
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = tclsh
        .command()
        .arg(&file)
        .arg(work.output("iface/peerlane/peerlane_pcie.sdc"))
        .output()
        .unwrap();
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{failed}");
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn the_hard_ips_paths_are_cut() {
    const SPEED: &str = "h|g3_to_g1_speedchange_r";
    const FIRST: &str = "h|altpcie_rs_serdes:r|fifo_err_sync_r[0]";
    const SECOND: &str = "h|altpcie_rs_serdes:r|fifo_err_sync_r[1]";
    const LANE: &str = "h|sv_xcvr_pipe_native:n|x";
    const WORD: &str = "d|peerlane_dma:dma|s:settings|early_ctl_q[3]";
    let all = [SPEED, FIRST, SECOND, LANE, WORD, "h|other"];
    let all: Vec<_> = all.iter().map(|name| format!("{{{name}}}")).collect();
    let said = constraints(&all.join(" "), "reconfig_xcvr_clk other");
    for line in [
        format!("cut -to {SPEED}"),
        // A list of names in brackets.
        ["cut -to {{", FIRST, "}}"].concat(),
        ["cut -from ", LANE, " -to {{", FIRST, "} {", SECOND, "}}"].concat(),
        "clock -name reconfig_xcvr_clk -period 8.000 reconfig_xcvr_clk".into(),
        ["cycles -setup -end -to {{", WORD, "}} 2"].concat(),
        ["cycles -hold -end -to {{", WORD, "}} 1"].concat(),
    ] {
        assert_eq!(
            said.lines().filter(|l| *l == line).count(),
            1,
            "{line}: {said}"
        );
    }
    assert_eq!(said.lines().count(), 6, "{said}");
    // If nothing is as expected, a message says so.
    let said = constraints("", "");
    assert!(said.contains("message -type critical_warning"), "{said}");
    assert_eq!(said.matches("critical_warning").count(), 2, "{said}");
    assert!(
        !said.contains("cut ") && !said.contains("clock ") && !said.contains("cycles "),
        "{said}"
    );
}

#[test]
fn lines_that_name_the_other_hard_ip_follow() {
    let work = Work::new();
    work.append(
        "top.sdc",
        "\nset_false_path -to {s|acl_iface_system:acl_iface|altpcie_sv_hip_avmm_hwtcl:host_link*}\n\
         set_false_path -to {s|acl_iface_system:acl_iface|altpcie_sv_hip_ast_hwtcl:host_link*}\n",
    );
    let report = work.sound(STREAM);
    let made = work.made("top.sdc");
    let new = "altpcie_sv_hip_ast_hwtcl:host_link*}\n";
    assert_eq!(made.matches(new).count(), 2, "{made}");
    assert!(!made.contains("_avmm_"), "{made}");
    let named = |note: &String| note.contains("top.sdc:");
    assert!(!common::told(&report).any(named), "{report:#?}");
}

#[test]
fn the_driver_and_the_picture_know_it() {
    for work in [Work::new(), Work::of(&reference_net())] {
        let report = work.sound(STREAM);
        let board = work.described();
        let (places, shell) = (board.places, board.shell);
        assert_eq!((shell.line, shell.clock), (None, 250_000_000));
        assert!(places.msix.is_some() && shell.opencl.kernels.is_some());
        let place = |slave: &str| {
            let mut entries = report.bar_after.entries.iter();
            let entry = entries.find(|e| e.slave.ends_with(slave)).unwrap();
            entry.base
        };
        assert_eq!(places.csr, place(".csr"));
        assert_eq!(places.chan, place(".chan"));
        assert_eq!(places.window, Some(place(".s_nondma")));
        let picture = Diagram::read(&work.out).unwrap().html();
        for words in ["rx_st", "tx_st", "Rxm_BAR"] {
            assert!(picture.contains(words), "{words}");
        }
    }
}

/// Gen3 has one transmit PLL more, and so one more interface for their controller.
#[test]
fn the_transceivers_controller_has_an_interface_for_each() {
    const GEN_3: &str = "[port]\nkind = \"tlp\"\ngen = 3\n";
    let count = |n: u32| format!("name=\"number_of_reconfig_interfaces\" value=\"{n}\"");
    for (config, before, after) in [(GEN_3, 10, 11), (STREAM, 10, 10), (STREAM, 11, 11)] {
        let work = Work::of(&reference_net());
        work.edit("board.qsys", &count(11), &count(before));
        work.sound(config);
        assert!(
            work.made("board.qsys").contains(&count(after)),
            "{config}{before}"
        );
    }
    // If the controller is outside the system, a user must change it.
    let work = Work::new();
    let export = " <interface name=\"to_lanes\" internal=\"host_link.reconfig_to_xcvr\" type=\"conduit\" dir=\"end\" />\n";
    work.edit(SYSTEM, "</system>", &format!("{export}</system>"));
    let report = work.sound(GEN_3);
    let to_do = &report.to_do;
    let told = |note: &&String| note.contains("11 interfaces") && note.contains("770 and 506 bits");
    assert_eq!(to_do.iter().filter(told).count(), 1, "{to_do:#?}");
}

/// A board whose kernels do not interrupt the host stays so.
#[test]
fn the_kernels_need_not_interrupt() {
    let work = Work::new();
    let path = work.input(SYSTEM);
    let text = fs::read_to_string(&path).unwrap();
    let end = text.find("end=\"kernels.kernel_irq_to_host\"").unwrap();
    let start = text[..end].rfind(" <connection").unwrap();
    let close = "</connection>\n";
    let end = end + text[end..].find(close).unwrap() + close.len();
    fs::write(&path, format!("{}{}", &text[..start], &text[end..])).unwrap();
    work.sound(STREAM);
    assert!(!work.made(SYSTEM).contains("dma_engine.kernel_irq"));
}

#[test]
fn requirements_to_the_interconnect_follow() {
    let work = Work::new();
    let requirement = |subject: &str, value: u32| {
        format!(
            " <interconnectRequirement for=\"{subject}\" name=\"qsys_mm.insertPerformanceMonitor\" value=\"{value}\" />\n"
        )
    };
    let lines = [
        requirement("host_link.Rxm_BAR2/bar_pipe.s0", 1),
        requirement("host_link.Txs", 2),
        requirement("bar_pipe.m0", 3),
    ];
    edit(
        &work.input(SYSTEM),
        "</system>",
        &format!("{}</system>", lines.concat()),
    );
    work.sound(STREAM);
    let made = work.made(SYSTEM);
    assert!(made.contains(&requirement("dma_engine.Rxm_BAR2/bar_pipe.s0", 1)));
    assert!(!made.contains("host_link.Txs"));
    assert!(made.contains(&lines[2]));
}

/// An export may name the ports inside. The ports of the other variant and of the block have other names
/// (`nreset_status` of `altera_pcie_sv_hip_avmm` is the port `reset_status`, ACDS 13.1).
#[test]
fn named_ports_of_exports_follow() {
    let export = |name: &str, end: &str, port: &str, kind: &str| {
        format!(
            " <interface name=\"{name}\" internal=\"{end}\" type=\"{kind}\" dir=\"start\">\n  <port name=\"out_{name}\" \
             internal=\"{port}\" />\n </interface>\n"
        )
    };
    let work = Work::new();
    let old = [
        export("link_clock", "host_link.coreclkout", "coreclkout", "clock"),
        export(
            "link_up",
            "host_link.nreset_status",
            "reset_status",
            "reset",
        ),
    ];
    work.edit(SYSTEM, "</system>", &format!("{}</system>", old.concat()));
    work.sound(STREAM);
    let made = work.made(SYSTEM);
    let reset = export(
        "link_up",
        "dma_engine.nreset_status",
        "nreset_status",
        "reset",
    );
    for new in [
        export("link_clock", "dma_engine.coreclkout", "coreclkout", "clock"),
        reset.clone(),
    ] {
        assert!(made.contains(&new), "{new}: {made}");
    }
    let spoilt = reset.replace("internal=\"nreset_status\"", "internal=\"reset_status\"");
    finds_in(&work, SYSTEM, &reset, &spoilt, "wiring", "out_link_up");
}

/// The hard IP has one of two reset controllers (`update_default_value_hidden_parameter_common`, ACDS 13.1): only the
/// soft one has the registers that the constraints need.
#[test]
fn the_sequencers_registers_are_missed_only_where_it_is() {
    let rate =
        |rate: &str| format!("<parameter name=\"gen123_lane_rate_mode_hwtcl\" value=\"{rate}\" />");
    let gen_2 = rate("Gen2 (5.0 Gbps)");
    let with = |name: &str| format!("{gen_2}<parameter name=\"{name}\" value=\"1\" />");
    for (new, soft) in [
        (gen_2.clone(), true),
        (with("force_hrc"), false),
        (with("force_src"), true),
        (
            with("force_hrc") + &with("use_atx_pll_hwtcl")[gen_2.len()..],
            true,
        ),
        (rate("Gen1 (2.5 Gbps)"), false),
        (
            rate("Gen1 (2.5 Gbps)") + &with("force_src")[gen_2.len()..],
            true,
        ),
    ] {
        let work = Work::new();
        edit(&work.input(SYSTEM), &gen_2, &new);
        let report = work.sound(STREAM);
        let said = constraints_of(&work, "", "");
        assert_eq!(said.contains("altpcie_rs_serdes"), soft, "{new}: {said}");
        let to_do = &report.to_do;
        let wanted = to_do.iter().any(|note| note.contains("altpcie_rs_serdes"));
        assert_eq!(wanted, soft, "{new}: {to_do:#?}");
    }
}

/// Links of half the rate have a clock of 125 MHz, and an unanswered read must time out after the same time.
#[test]
fn the_block_knows_a_slow_clock() {
    let rate =
        |rate: &str| format!("<parameter name=\"gen123_lane_rate_mode_hwtcl\" value=\"{rate}\" />");
    let made = |gen_1: bool| {
        let work = Work::new();
        if gen_1 {
            let slow = rate("Gen1 (2.5 Gbps)");
            edit(&work.input(SYSTEM), &rate("Gen2 (5.0 Gbps)"), &slow);
        }
        work.sound(STREAM);
        let board = work.described();
        let own = fs::read_dir(work.output("iface/peerlane")).unwrap();
        let mut files: Vec<_> = own.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .contains("completions")
        });
        files.sort();
        assert!(!files.is_empty());
        // Without the header, which has BUILD_ID.
        let text = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            text.lines()
                .filter(|l| !l.starts_with("//"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let texts: Vec<_> = files.iter().map(text).collect();
        let record = work.made("iface/peerlane/build.json");
        (
            board.shell.clock,
            record.contains("\"clock_mhz\": 125"),
            texts,
            work,
        )
    };
    let (fast_clock, fast_told, fast, _) = made(false);
    let (slow_clock, slow_told, slow, work) = made(true);
    assert_eq!((fast_clock, fast_told), (250_000_000, false));
    assert_eq!((slow_clock, slow_told), (125_000_000, true));
    assert_ne!(fast, slow);
    // A clock other than the link's is found.
    finds_in(
        &work,
        "iface/peerlane/build.json",
        "\"clock_mhz\": 125",
        "\"clock_mhz\": 250",
        "packets",
        "125 MHz",
    );
}
