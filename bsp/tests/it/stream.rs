//! A TLP port: the boards that can have it, their changes, and the refusals of other boards.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, Work, finds_in, fixture, reference, reference_net, vendor_bsp};
use peerlane_bsp::config::Config;
use peerlane_bsp::error::{Error, ErrorKind, Problems};
use peerlane_bsp::extend::hard_ip::{FROM, Wanted, streaming};
use peerlane_bsp::extend::report::Report;
use peerlane_bsp::extend::{Options, extend};
use peerlane_bsp::hip_parameters::is_parameter;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::system::qsys::{Module, System};
use peerlane_bsp::xml::Document;
use peerlane_bsp_check::{Level, check};

/// Parameters that the extension sets, or whose meaning such a parameter takes over.
const SET: [&str; 5] = [
    "gen123_lane_rate_mode_hwtcl",
    "extend_tag_field_hwtcl",
    "completion_timeout_hwtcl",
    "avmm_width_hwtcl",
    "SLAVE_ADDRESS_MAP_",
];

/// Returns every system of a BSP with such a hard IP in it.
fn systems(bsp: &Path) -> Vec<System> {
    let mut found = Vec::new();
    let mut open = vec![bsp.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "qsys") {
            let text = fs::read_to_string(&path).unwrap();
            if FROM.iter().any(|kind| text.contains(kind)) {
                let document = Document::parse(&path, text).unwrap();
                found.push(System::from_document(document).unwrap());
            }
        }
    }
    found
}

/// Returns the requirements with the only BAR that has a size.
fn wanted(hip: &Module) -> Wanted {
    let size = |bar: &u32| hip.number(&format!("SLAVE_ADDRESS_MAP_{bar}")).unwrap_or(0);
    let bar = (0..6).find(|bar| size(bar) != 0).expect("a BAR");
    Wanted {
        bar,
        bar_log2: size(&bar),
        generation: None,
        port_bits: None,
    }
}

fn is_hip(module: &Module) -> bool {
    FROM.contains(&module.kind.as_str())
}

/// The parameters of a whole system that Quartus 16.0 generated, as its file has them.
#[test]
fn every_parameter_of_quartus_16_is_known() {
    let Some(dir) = fixture("hip-avmm-16.0") else {
        return;
    };
    let systems = systems(&dir);
    let hip = systems[0].modules.iter().find(|m| is_hip(m)).unwrap();
    let all: Vec<_> = hip.element.children("parameter").collect();
    assert!(all.len() > 200, "{}", all.len());
    // The file has only a part of its parameters: those that are not derived.
    let generated = fs::read_to_string(dir.join("pcie_hip_avmm.sopcinfo")).unwrap();
    let document = roxmltree::Document::parse(&generated).unwrap();
    let mut modules = document.descendants().filter(|n| n.has_tag_name("module"));
    let module = modules.find(|n| FROM.contains(&n.attribute("kind").unwrap_or_default()));
    let text = |n: &roxmltree::Node<'_, '_>, child: &str| {
        let child = n.children().find(|n| n.has_tag_name(child));
        child
            .and_then(|n| n.text().map(str::to_string))
            .unwrap_or_default()
    };
    let set = (module.unwrap().children())
        .filter(|n| n.has_tag_name("parameter") && text(n, "derived") == "false")
        .map(|n| n.attribute("name").unwrap().to_string());
    let set: Vec<_> = set.collect();
    assert!(set.len() > all.len(), "{}", set.len());
    // Parameters that Platform Designer itself gives each instance.
    let own = ["deviceFamily", "generateLegacySim"];
    let written = all.iter().map(|p| p.attribute("name").unwrap().to_string());
    for name in written
        .chain(set)
        .filter(|name| !own.contains(&name.as_str()))
    {
        assert!(is_parameter(&name), "{name}");
    }
}

/// No parameter of a real board's hard IP is unknown, and each goes somewhere.
#[test]
fn every_parameter_of_every_board_is_known() {
    let bsps: Vec<PathBuf> = [Some(reference()), Some(reference_net()), vendor_bsp()]
        .into_iter()
        .flatten()
        .collect();
    for bsp in bsps {
        let systems = systems(&bsp);
        assert!(!systems.is_empty(), "{}", bsp.display());
        for system in &systems {
            for hip in system.modules.iter().filter(|m| is_hip(m)) {
                let mut problems = Problems::default();
                let made = streaming(system, hip, wanted(hip), &mut problems);
                problems.settle("a TLP port").unwrap();
                let made = made.unwrap();
                assert!(made.unknown.is_empty(), "{:?}", made.unknown);
                for old in hip.element.children("parameter") {
                    let name = old.attribute("name").unwrap();
                    let value = old.attribute("value").unwrap_or(&old.text).trim();
                    let same = |v: &peerlane_bsp::extend::hard_ip::Value| {
                        v.name == name && v.value == value
                    };
                    let kept = made.parameters.iter().any(same);
                    let dropped = made.dropped.iter().any(same);
                    let set = SET.iter().any(|set| name.starts_with(set));
                    let times = [kept, dropped, set].iter().filter(|&&is| is).count();
                    // The rate is set to its old value.
                    let rate = name == SET[0] && kept;
                    assert!(times == 1 || rate, "{name}={value}: {times}");
                }
            }
        }
    }
}

fn refused(work: &Work, config: &str) -> Error {
    let options = Options {
        bsp: work.bsp.clone(),
        out: work.out.clone(),
        config: Config::parse(Path::new("c.toml"), config).unwrap(),
        report: None,
        board: None,
    };
    let error = extend(&options).expect_err("refused");
    // No files are left.
    let around = work.out.parent().unwrap();
    assert_eq!(fs::read_dir(around).unwrap().count(), 0);
    error
}

const SYSTEM: &str = "acl_iface_system.qsys";
const STREAM: &str = "[port]\nkind = \"tlp\"\n";

#[test]
fn a_board_gets_a_streaming_port() {
    let work = Work::new();
    let report = work.sound(STREAM);
    assert_eq!(report.port_bits, 128);
    // 128 KiB of the vendor's, and the block's slaves above.
    assert_eq!((report.bar_before.bits, report.bar_after.bits), (17, 18));
    let place = |slave: &str| {
        let mut entries = report.bar_after.entries.iter();
        entries.find(|e| e.slave == slave).map(|e| e.base)
    };
    // The places of the vendor's BSP.
    assert_eq!(place("dma_engine.csr"), Some(0x3000));
    assert_eq!(place("dma_engine.s_nondma"), Some(0x1_0000));
    assert_eq!(place("dma_engine.Cra"), Some(0x8000));
    assert_eq!(place("kernels.kernel_cntrl"), Some(0x4000));
    let text = report.markdown();
    assert!(!text.contains("not built"), "{text}");
    let system = work.made(SYSTEM);
    for gone in [
        "altera_pcie_sv_hip_avmm",
        "host_link.Txs",
        "host_link.Cra",
        "host_link.RxmIrq",
        "host_link.Rxm_BAR2",
        "host_link.nreset_status",
        "\"host_link.coreclkout\"",
        "dma_engine.csr",
        "dma_engine.dma_irq",
        "SLAVE_ADDRESS_MAP",
    ] {
        assert!(!system.contains(gone), "{gone} still exists");
    }
    // Exports of the board are unchanged.
    let before = fs::read_to_string(work.input(SYSTEM)).unwrap();
    let exports = |text: &str| {
        let lines = text.split("<interface").skip(1).map(|rest| {
            let end = rest.find('>').unwrap();
            rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>()
    };
    assert!(exports(&before).len() > 10);
    assert_eq!(exports(&system), exports(&before));
}

/// The Avalon-ST variant's clock output is not on a global network, and vendors' boards have AUTO_GLOBAL_CLOCK OFF. The
/// block puts the clock on a global network, and feeds everything that the bridge's clock fed.
#[test]
fn the_clock_is_on_a_global_network() {
    for (work, file, hip, dma) in [
        (Work::new(), SYSTEM, "host_link", "dma_engine"),
        (
            Work::of(&reference_net()),
            "board.qsys",
            "endpoint",
            "copier",
        ),
    ] {
        let report = work.sound(STREAM);
        let made = work.made(file);
        let old = format!("{hip}.coreclkout_hip");
        let new = format!("start=\"{dma}.coreclkout\"");
        let old_clock = format!("\"{hip}.coreclkout\"");
        assert!(made.matches(&new).count() > 5 && !made.contains(&old_clock));
        // To the buffer, and nowhere else.
        assert_eq!(made.matches(&old).count(), 1, "{made}");
        assert!(made.contains(&format!("end=\"{dma}.coreclkout_hip\"")));
        let told = |change: &peerlane_bsp::extend::report::Change| {
            change.what.contains(&format!("{dma}.coreclkout")) && change.why.contains("global")
        };
        assert!(report.changes.iter().any(told), "{:#?}", report.changes);
    }
}

#[test]
fn gen_3_has_256_bits() {
    let work = Work::new();
    let report = work.sound("[port]\nkind = \"tlp\"\ngen = 3\n");
    assert_eq!(report.port_bits, 256);
    let system = work.made(SYSTEM);
    for (name, value) in [
        ("gen123_lane_rate_mode_hwtcl", "Gen3 (8.0 Gbps)"),
        ("pcie_spec_version_hwtcl", "3.0"),
        ("ast_width_hwtcl", "Avalon-ST 256-bit"),
    ] {
        let line = format!("<parameter name=\"{name}\" value=\"{value}\" />");
        assert!(system.contains(&line), "{line}");
    }
    // The board's own generation may be given; of the others only Gen3 can be set.
    let as_it_is = Work::new().sound(&format!("{STREAM}gen = 2\n"));
    assert_eq!(as_it_is.port_bits, Work::new().sound(STREAM).port_bits);
    let error = refused(&Work::new(), &format!("{STREAM}gen = 1\n"));
    assert!(
        error.what.to_string().contains("port.gen = 1")
            && error.hint.to_string().starts_with("Use 2, as it is, or 3"),
        "{error:?}"
    );
    let error = refused(&Work::new(), &format!("port_bits = 128\n{STREAM}gen = 3\n"));
    assert_eq!(error.kind, ErrorKind::Config, "{error}");
}

/// With Peerlane's own component of the hard IP; Quartus's component of 13.1 would refuse it.
#[test]
fn a_board_that_is_configured_over_pcie_stays_so() {
    let work = Work::of(&reference_net());
    let report = work.sound(STREAM);
    assert_eq!(report.port_bits, 128);
    let system = work.made("board.qsys");
    assert!(system.contains("kind=\"peerlane_pcie_hip\""));
    let on = "<parameter name=\"CONFIGURATION_OVER_PCIE\" value=\"1\" />";
    assert!(system.contains(on) && !system.contains("in_cvp_mode_hwtcl"));
    assert!(
        work.output("iface/peerlane/peerlane_pcie_hip_hw.tcl")
            .is_file()
    );
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    assert!(
        readme.contains("for configuration over PCIe (CvP)"),
        "{readme}"
    );
    // The check finds a corrupted value.
    finds_in(
        &work,
        "board.qsys",
        on,
        "",
        "packets",
        "CONFIGURATION_OVER_PCIE",
    );
    fs::write(work.output("board.qsys"), &system).unwrap();
    let kind = "kind=\"altera_pcie_sv_hip_ast\"";
    finds_in(
        &work,
        "board.qsys",
        "kind=\"peerlane_pcie_hip\"",
        kind,
        "packets",
        "must be a peerlane_pcie_hip",
    );
    fs::write(work.output("board.qsys"), &system).unwrap();
    finds_in(
        &work,
        "board.ipx",
        "iface/peerlane/peerlane_pcie_hip_hw.tcl",
        "gone_hw.tcl",
        "component list",
        "listed 0 times",
    );
}

#[test]
fn gen_3_has_no_configuration_over_pcie() {
    let work = Work::of(&reference_net());
    let report = work.sound("[port]\nkind = \"tlp\"\ngen = 3\n");
    let system = work.made("board.qsys");
    assert!(system.contains("kind=\"peerlane_pcie_hip\""));
    assert!(system.contains("<parameter name=\"CONFIGURATION_OVER_PCIE\" value=\"0\" />"));
    let settings = work.made("base.qsf");
    let line = settings.lines().position(|line| line.contains("CVP_MODE"));
    let place = format!("base.qsf:{} CVP_MODE", line.unwrap() + 1);
    let to_do = &report.to_do;
    for words in [
        "At Gen3 the FPGA has no configuration over PCIe",
        place.as_str(),
        "PCIe becomes Gen3",
    ] {
        assert!(
            to_do.iter().any(|note| note.contains(words)),
            "{words}: {to_do:#?}"
        );
    }
}

/// A wider stream has half the clock, and another version of Quartus may describe the hard IP in another way.
#[test]
fn the_clock_and_the_version_are_told() {
    let work = Work::new();
    let report = work.sound(&format!("port_bits = 256\n{STREAM}"));
    let clock = "becomes 125 MHz (250 MHz before)";
    assert!(report.notes.iter().any(|note| note.contains(clock)));
    let report = Work::new().sound(STREAM);
    assert!(!common::told(&report).any(|note| note.contains("MHz before")));
    let version = |report: &Report| {
        let to_do = &report.to_do;
        let all = to_do.iter().filter(|note| note.contains("as 13.1 has it"));
        all.count()
    };
    assert_eq!(version(&report), 0);
    let work = Work::of(&reference_net());
    let report = work.sound(&format!("{STREAM}gen = 3\n"));
    assert_eq!(version(&report), 1);
    let to_do = &report.to_do;
    assert!(
        to_do
            .iter()
            .any(|note| note.contains("has 250 MHz, as before"))
    );
}

/// A real BSP.
#[test]
fn the_vendors_board_gets_a_streaming_port() {
    let Some(bsp) = vendor_bsp() else { return };
    for config in [STREAM.to_string(), format!("{STREAM}gen = 3\n")] {
        let work = Work::of(&bsp);
        work.sound(&config);
    }
}

/// The BAR of a network card's board has 512 MiB, and its flash memory is in the upper half: the block's slaves have
/// room below.
#[test]
fn a_large_bar_stays_as_large() {
    let work = Work::of(&reference_net());
    let report = work.sound(STREAM);
    assert_eq!((report.bar_before.bits, report.bar_after.bits), (29, 29));
}

#[test]
fn a_place_that_is_taken_is_refused() {
    // The reference BSP has the kernels at 0x4000.
    let error = refused(&Work::new(), &format!("{STREAM}[bar]\nchan_base = 0x0\n"));
    assert_eq!(error.kind, ErrorKind::Config, "{error}");
    assert!(error.to_string().contains("bar.chan_base"), "{error}");
}

/// The registers are inside the block, and only the host reaches them.
#[test]
fn a_second_master_of_the_registers_is_refused() {
    let work = Work::new();
    let path = work.input(SYSTEM);
    let before = fs::read_to_string(&path).unwrap();
    let end = before.rfind("</system>").unwrap();
    let lines = " <module kind=\"altera_jtag_avalon_master\" version=\"13.1\" enabled=\"1\" name=\"probe\" />\n <connection kind=\"avalon\" \
                 version=\"13.1\" start=\"probe.master\" end=\"dma_engine.csr\" />\n";
    let new = format!("{}{lines}{}", &before[..end], &before[end..]);
    let line = new
        .lines()
        .position(|l| l.contains("probe.master"))
        .unwrap()
        + 1;
    fs::write(&path, new).unwrap();
    let error = refused(&work, STREAM);
    assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
    assert_eq!(error.place.line, Some(line), "{error}");
    assert!(
        error.what.to_string().contains("probe.master")
            && error.what.to_string().contains("dma_engine.csr"),
        "{error}"
    );
}

/// Connections of the hard IP that would have no place.
#[test]
fn what_would_be_lost_is_named() {
    let connection = |kind: &str, start: &str, end: &str| {
        format!(
            "  <connection kind=\"{kind}\" version=\"13.1\" start=\"{start}\" end=\"{end}\" />\n"
        )
    };
    let export = |interface: &str| {
        format!(
            "  <interface name=\"new_export\" internal=\"host_link.{interface}\" type=\"conduit\" dir=\"end\" />\n"
        )
    };
    for (line, word) in [
        (export("hip_status"), "host_link.hip_status"),
        (export("HIP_status_ext"), "host_link.HIP_status_ext"),
        (export("MSI_Interface"), "host_link.MSI_Interface"),
        (export("Txs"), "inside the block"),
        (export("Rxm_BAR2"), "inside the block"),
        (export("future"), "not known"),
        (
            connection("interrupt", "kernels.irq", "host_link.CraIrq"),
            "host_link.CraIrq",
        ),
        (
            connection("interrupt", "host_link.RxmIrq", "status.irq"),
            "2 interrupts in addition to the DMA's",
        ),
    ] {
        let work = Work::new();
        let path = work.input(SYSTEM);
        let before = fs::read_to_string(&path).unwrap();
        let end = before.rfind("</system>").unwrap();
        fs::write(&path, format!("{}{line}{}", &before[..end], &before[end..])).unwrap();
        let error = refused(&work, STREAM);
        assert!(error.to_string().contains(word), "{line}: {error}");
        // The line of that connection, not the hard IP's.
        let at = before[..end].lines().count() + 1;
        if !word.contains("interrupts") {
            assert_eq!(error.place.line, Some(at), "{line}: {error}");
        }
    }
    // An interface that the other variant has, too, may be used.
    let work = Work::new();
    let path = work.input(SYSTEM);
    let before = fs::read_to_string(&path).unwrap();
    let end = before.rfind("</system>").unwrap();
    let line = export("hip_ctrl");
    fs::write(&path, format!("{}{line}{}", &before[..end], &before[end..])).unwrap();
    work.sound(STREAM);
}

/// The check finds every corruption of such a board.
#[test]
fn what_is_spoilt_is_found() {
    let connection = |kind: &str, start: &str, end: &str| {
        format!("kind=\"{kind}\"\n   version=\"13.1\"\n   start=\"{start}\"\n   end=\"{end}\"")
    };
    let parameter =
        |name: &str, value: &str| format!("<parameter name=\"{name}\" value=\"{value}\" />");
    let work = Work::new();
    work.sound(STREAM);
    let path = work.output(SYSTEM);
    let whole = fs::read_to_string(&path).unwrap();
    let apart = |start: &str, end: &str| {
        let (start, end) = (format!("start=\"{start}\""), format!("end=\"{end}\""));
        let mut elements = whole.split("<connection").skip(1);
        elements
            .find(|e| e.contains(&start) && e.contains(&end))
            .map(|e| {
                let empty = e.find("/>").filter(|at| e.find('>') == Some(at + 1));
                let length = empty.map_or_else(
                    || e.find("</connection>").unwrap() + "</connection>".len(),
                    |at| at + 2,
                );
                format!("<connection{}", &e[..length])
            })
            .unwrap_or_else(|| panic!("{start} {end}"))
    };
    let gone = |start: &str, end: &str| (apart(start, end), String::new());
    let led = |start: &str, end: &str, to: &str| {
        let old = apart(start, end);
        let new = old.replace(&format!("\"{end}\""), &format!("\"{to}\""));
        (old, new)
    };
    let from = |start: &str, end: &str, other: &str| {
        let old = apart(start, end);
        let new = old.replace(&format!("\"{start}\""), &format!("\"{other}\""));
        (old, new)
    };
    let set = |name: &str, from: &str, to: &str| (parameter(name, from), parameter(name, to));
    let unset = |name: &str, value: &str| (parameter(name, value), String::new());
    let mut faults = vec![
        (
            gone("host_link.rx_st", "dma_engine.rx_st"),
            "packets",
            "rx_st",
        ),
        (
            gone("dma_engine.tx_st", "host_link.tx_st"),
            "packets",
            "tx_st",
        ),
        (
            gone("dma_engine.coreclkout", "host_link.pld_clk"),
            "packets",
            "host_link.pld_clk has the clock of nothing",
        ),
        (
            gone("host_link.coreclkout_hip", "dma_engine.coreclkout_hip"),
            "packets",
            "dma_engine.coreclkout_hip has the clock of nothing",
        ),
        (
            set("completion_timeout_hwtcl", "NONE", "ABCD"),
            "packets",
            "completion_timeout_hwtcl",
        ),
        // The comparison is with the converted system: the vendor's own has no dma_engine.coreclkout.
        (
            from("dma_engine.coreclkout", "kernels.clk", "ddr.afi_clk"),
            "wiring",
            "with a TLP port it must have that of dma_engine.coreclkout",
        ),
        // Not on a global network.
        (
            from(
                "dma_engine.coreclkout",
                "status.clk",
                "host_link.coreclkout_hip",
            ),
            "packets",
            "status.clk has the hard IP's clock directly",
        ),
        (
            from(
                "dma_engine.coreclkout",
                "dma_engine.pcie_clk",
                "ddr.afi_clk",
            ),
            "wiring",
            "dma_engine.pcie_clk is not the clock",
        ),
        (
            gone("dma_engine.nreset_status", "link_reset.reset_in1"),
            "resets",
            "dma_engine.nreset_status",
        ),
        (
            gone("link_reset.reset_out", "dma_engine.pcie_reset"),
            "resets",
            "dma_engine.pcie_reset",
        ),
        (
            gone("dma_engine.Rxm_BAR2", "bar_pipe.s0"),
            "avalon",
            "dma_engine.Rxm_BAR2",
        ),
        (
            gone("control_pipe.m0", "dma_engine.Cra"),
            "avalon",
            "dma_engine.Cra",
        ),
        (
            gone("dma_engine.kernel_irq", "kernels.kernel_irq_to_host"),
            "wiring",
            "kernels.kernel_irq_to_host",
        ),
        (
            led("host_link.tx_cred", "dma_engine.tx_cred", "dma_engine.lmi"),
            "packets",
            "host_link.tx_cred and dma_engine.tx_cred",
        ),
        // Interfaces of the old hard IP.
        (
            led("control_pipe.m0", "dma_engine.Cra", "host_link.Cra"),
            "packets",
            "has no interface Cra",
        ),
        (
            set("bar2_size_mask_hwtcl", "18", "17"),
            "packets",
            "bar2_size_mask_hwtcl of host_link is 17",
        ),
        (
            set("ast_width_hwtcl", "Avalon-ST 128-bit", "Avalon-ST 256-bit"),
            "packets",
            "ast_width_hwtcl",
        ),
        (
            set(
                "gen123_lane_rate_mode_hwtcl",
                "Gen2 (5.0 Gbps)",
                "Gen1 (2.5 Gbps)",
            ),
            "packets",
            "gen123_lane_rate_mode_hwtcl",
        ),
        (
            unset("rxbuffer_rxreq_hwtcl", "Low"),
            "packets",
            "rxbuffer_rxreq_hwtcl is not set",
        ),
        (
            set("rxbuffer_rxreq_hwtcl", "Low", "High"),
            "packets",
            "counts on; it must be Minimum, Low or Balanced",
        ),
        (
            unset("max_payload_size_hwtcl", "256"),
            "packets",
            "max_payload_size_hwtcl",
        ),
        (
            set("pll_refclk_freq_hwtcl", "100 MHz", "125 MHz"),
            "packets",
            "pll_refclk_freq_hwtcl",
        ),
        (
            set("extend_tag_field_hwtcl", "64", "32"),
            "packets",
            "extend_tag_field_hwtcl",
        ),
        (
            set("use_tx_cons_cred_sel_hwtcl", "1", "0"),
            "packets",
            "use_tx_cons_cred_sel_hwtcl",
        ),
        (
            set("enable_function_msix_support_hwtcl", "1", "0"),
            "packets",
            "enable_function_msix_support_hwtcl",
        ),
        (
            set("bar0_type_hwtcl", "0", "1"),
            "packets",
            "bar0_type_hwtcl",
        ),
        (
            (
                parameter("use_aer_hwtcl", "0"),
                parameter("use_aer_hwtcl", "0") + &parameter("use_ast_parity", "1"),
            ),
            "packets",
            "use_ast_parity",
        ),
        (
            (
                parameter("use_aer_hwtcl", "0"),
                parameter("use_aer_hwtcl", "0") + &parameter("CG_RXM_IRQ_NUM", "16"),
            ),
            "packets",
            "CG_RXM_IRQ_NUM",
        ),
        (
            (
                "kind=\"peerlane_pcie_hip\"".into(),
                "kind=\"altera_pcie_sv_hip_avmm\"".into(),
            ),
            "packets",
            "has no packet interfaces for the block's TLP port",
        ),
    ];
    for conduit in [
        "rx_bar_be",
        "tx_cred",
        "config_tl",
        "hip_rst",
        "hip_status",
        "int_msi",
        "lmi",
        "power_mngt",
    ] {
        let ends = (
            format!("host_link.{conduit}"),
            format!("dma_engine.{conduit}"),
        );
        faults.push((gone(&ends.0, &ends.1), "packets", conduit));
    }
    // A slave of the board at a place of the block's.
    let status = connection("avalon", "control_pipe.m0", "status.s");
    assert!(whole.contains(&status), "{whole}");
    let at = whole.find(&status).unwrap();
    let element = &whole[at..at + whole[at..].find("</connection>").unwrap()];
    let moved = element.replace("0x3800", "0x3000");
    assert_ne!(moved, element);
    faults.push(((element.into(), moved), "packets", "csr of the block"));
    let mut missed = Vec::new();
    for ((from, to), test, words) in faults {
        assert!(whole.contains(&from), "{from}");
        fs::write(&path, whole.replacen(&from, &to, 1)).unwrap();
        let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
        let bad: Vec<_> = findings
            .0
            .iter()
            .filter(|f| f.level == Level::Bad)
            .collect();
        if !bad
            .iter()
            .any(|f| f.test == test && f.what.to_string().contains(words))
        {
            missed.push(format!("{from} → {to}: {test}, {words}: {bad:#?}"));
        }
        assert!(bad.iter().all(|f| f.hint.is_some()));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
