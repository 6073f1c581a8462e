//! `peerlane new`: a BSP for a board that has none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, expect, one_paragraph};
use peerlane_bsp::board::{Board, Description, Options, SHIPPED, blank_pins, make};
use peerlane_bsp::config::{Config, PortKind};
use peerlane_bsp::error::{Error, ErrorKind, Result};
use peerlane_bsp::extend::report::Report;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, check};
use peerlane_tools::Cache;

const DE5NET: &str = include_str!("../../boards/de5net.toml");
const P385: &str = include_str!("../../boards/p385.toml");
const PINS: &str = include_str!("../../boards/de5net_pins.tcl");

/// A workplace with a description and a fragment in it.
struct Desk {
    dir: tempfile::TempDir,
    board: PathBuf,
    out: PathBuf,
}

impl Desk {
    fn new(description: &str, pins: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let board = dir.path().join("board.toml");
        fs::write(&board, description).unwrap();
        fs::write(dir.path().join("de5net_pins.tcl"), pins).unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        Self {
            board,
            out: work.join("out"),
            dir,
        }
    }

    fn make(&self, pins: Option<&Path>, config: &str) -> Result<Report> {
        let mut config = Config::parse(Path::new("c.toml"), config)?;
        config.port.kind.get_or_insert(PortKind::Txs);
        make(&Options {
            description: Description::find(&self.board)?,
            out: self.out.clone(),
            pins: pins.map(Path::to_path_buf),
            config,
        })
    }

    /// Makes the board, and runs all checks of an extended BSP.
    fn sound(&self, config: &str) -> Report {
        let report = self.make(None, config);
        let report = report.unwrap_or_else(|e| panic!("{}", e.paragraph()));
        let findings = check(&Layout::find(&self.out).unwrap()).unwrap();
        let bad: Vec<_> = findings
            .0
            .iter()
            .filter(|f| f.level == Level::Bad)
            .collect();
        assert!(bad.is_empty(), "{bad:#?}");
        let left = fs::read_dir(self.dir.path().join("work")).unwrap().count();
        assert_eq!(left, 1, "files are left next to the output");
        report
    }

    /// Checks that the board is refused and leaves no files.
    fn refused(&self, config: &str) -> Error {
        let error = self
            .make(None, config)
            .expect_err("the board must be refused");
        let left: Vec<_> = fs::read_dir(self.dir.path().join("work"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "files left: {left:?}");
        one_paragraph(&error);
        error
    }

    fn text(&self, file: &str) -> String {
        let below = fs::read_dir(self.out.join("hardware")).unwrap();
        let board = below.map(|entry| entry.unwrap().path()).next().unwrap();
        fs::read_to_string(board.join(file)).unwrap()
    }
}

/// Returns the line of a text's first occurrence, from 1.
fn line_of(text: &str, what: &str) -> usize {
    let at = text.find(what).unwrap_or_else(|| panic!("no {what:?}"));
    1 + text[..at].matches('\n').count()
}

/// Returns the 385's description with all values filled in; the values are made up.
fn filled_in() -> String {
    let mut text = P385.replace(
        "# Without the key pins",
        "pins = \"de5net_pins.tcl\"\n# Without the key pins",
    );
    for (key, value) in [
        ("model", "\"5sgxma7h2fe35c2_dm.xml\""),
        ("format", "\"discrete\""),
        ("bytes", "0x1_0000_0000"),
        ("clock_hz", "666_666_667"),
        ("row_bits", "16"),
        ("column_bits", "10"),
        ("ranks", "1"),
        ("clock_pairs", "2"),
        ("board_hz", "100_000_000"),
        ("MEM_DRV_STR", "\"RZQ/7\""),
    ] {
        text = text.replace(
            &format!("\n{key} = \"unknown\""),
            &format!("\n{key} = {value}"),
        );
    }
    text.replace("_hz = \"unknown\"", "_hz = 125_000_000")
        .replace("\"unknown\"", "7")
}

/// Returns a fragment in which every port has its own pin; no board has these.
fn made_up_pins(description: &str) -> String {
    let desk = Desk::new(description, "");
    let blank = blank_pins(&Description::find(&desk.board).unwrap()).unwrap();
    let mut text = String::new();
    for (number, line) in blank.lines().enumerate() {
        writeln!(text, "{}", line.replace("PIN_?", &format!("PIN_X{number}"))).unwrap();
    }
    text
}

/// Returns the place of each slave of the BAR, by its name.
fn map(report: &Report) -> BTreeMap<String, (u64, u64)> {
    let entries = report.bar_after.entries.iter();
    entries
        .map(|e| (e.slave.clone(), (e.base, e.bytes)))
        .collect()
}

#[test]
fn the_de5net_is_sound_and_has_the_addresses_that_are_computed_by_hand() {
    let desk = Desk::new(DE5NET, PINS);
    let report = desk.sound("");
    let map = map(&report);
    // The hard IP's registers, the kernels and the version as in Altera's map; then the window of 64 KiB.
    assert_eq!(map["pcie.Cra"], (0, 0x4000));
    assert_eq!(map["kernel_interface.kernel_cntrl"].0, 0x4000);
    assert_eq!(map["kernel_clock.ctrl"].0, 0xc000);
    assert_eq!(map["version.s"].0, 0xcfc0);
    assert_eq!(map["memory_status.s"].0, 0xcfe0);
    let slave = |name: &str| map.iter().find(|(s, _)| s.ends_with(name)).unwrap().1;
    assert_eq!(*slave(".s_nondma"), (0x1_0000, 0x1_0000));
    // 8 channels of 4 KiB, and 4096 entries of 8 bytes: 32 KiB each, after the window; 256 KiB in all.
    assert_eq!(*slave(".chan"), (0x2_0000, 0x8000));
    assert_eq!(*slave(".att"), (0x2_8000, 0x8000));
    assert_eq!(report.bar_after.bits, 18);

    // 2 DIMMs of 2 GiB are 4 GiB, that is 32 bits; 2 x 800 million transfers of 8 bytes twice.
    let spec = desk.text("board_spec.xml");
    for part in [
        "name=\"de5net_peerlane\"",
        "max_bandwidth=\"25600\"",
        "address=\"0x00000000\" size=\"0x80000000\"",
        "address=\"0x80000000\" size=\"0x80000000\"",
    ] {
        assert!(spec.contains(part), "{part}");
    }
    // 20 ns are 50 MHz, 10 ns are 100 MHz.
    let clocks = desk.text("top.sdc");
    assert!(
        clocks.contains("-period 20.000 [get_ports ddr3b_refclk]"),
        "{clocks}"
    );
    assert!(
        clocks.contains("-period 10.000 [get_ports pcie_refclk]"),
        "{clocks}"
    );
    let system = desk.text("board.qsys");
    for (name, value) in [
        ("MEM_CLK_FREQ", "800.0"),
        ("MEM_TRCD_NS", "13.75"),
        ("number_of_reconfig_interfaces", "10"),
        ("gui_reference_clock_frequency", "50.0"),
        ("subsystem_device_id_hwtcl", "20556"),
    ] {
        let parameter = format!("name=\"{name}\" value=\"{value}\"");
        assert!(system.contains(&parameter), "{parameter}");
    }
    // The step before a compile generates the system once; the project uses the result.
    assert!(desk.text("scripts/pre_flow.tcl").contains("qsys-generate"));
    let settings = desk.text("top.qsf");
    assert!(
        settings.contains("-name QIP_FILE system/synthesis/system.qip\n"),
        "{settings}"
    );
    assert!(!settings.contains("QSYS_FILE"), "{settings}");
    assert_eq!(desk.text("pins.tcl"), PINS);
    assert_eq!(desk.text("board.toml"), DE5NET);
}

#[test]
fn the_shipped_de5net_needs_no_file() {
    let mut desk = Desk::new("", "");
    desk.board = "de5net".into();
    desk.sound("");
    let e = Description::find(Path::new("de4")).unwrap_err();
    expect(&e, ErrorKind::Config, &["de4", "de5net, p385"]);
}

#[test]
fn the_385_is_refused_with_every_gap_and_sound_when_they_are_filled() {
    let e = Desk::new(P385, "").refused("");
    expect(
        &e,
        ErrorKind::Config,
        &[
            "board.toml",
            "values are unknown, device.model first",
            "vendor",
        ],
    );
    // All of them, a line for each, with its table, which distinguishes the two banks.
    let unknown = P385
        .lines()
        .filter(|line| line.contains("= \"unknown\""))
        .count();
    assert_eq!(e.below.details.len(), unknown, "{:#?}", e.below.details);
    let second = P385.rfind("format = \"unknown\"").unwrap();
    let line = 1 + P385[..second].matches('\n').count();
    for detail in [
        format!(
            "line {}: device.model",
            line_of(P385, "model = \"unknown\"")
        ),
        format!(
            "line {}: memory[0].format",
            line_of(P385, "format = \"unknown\"")
        ),
        format!("line {line}: memory[1].format"),
    ] {
        assert!(
            e.below.details.contains(&detail),
            "{detail}: {:#?}",
            e.below.details
        );
    }
    let skews = e
        .below
        .details
        .iter()
        .filter(|d| d.contains("[1].uniphy.TIMING_BOARD_AC_SKEW"));
    assert_eq!(skews.count(), 1, "{:#?}", e.below.details);
    assert!(!e.paragraph().contains("format"), "{}", e.paragraph());
    assert_eq!(e.place.line, Some(line_of(P385, "model = \"unknown\"")));

    let whole = filled_in();
    let desk = Desk::new(&whole, &made_up_pins(&whole));
    let report = desk.sound("channels = 64\nirq = \"msix\"");
    // 64 channels of 4 KiB are 256 KiB, at the next multiple of that after the window; the table follows them, at 512
    // KiB, so the BAR has 1 MiB.
    let map = map(&report);
    let slave = |name: &str| *map.iter().find(|(s, _)| s.ends_with(name)).unwrap().1;
    assert_eq!(slave(".chan"), (0x4_0000, 0x4_0000), "{map:x?}");
    assert_eq!(slave(".att"), (0x8_0000, 0x8000), "{map:x?}");
    assert_eq!(report.bar_after.bits, 20);
    let spec = desk.text("board_spec.xml");
    // Two banks of 4 GiB; 666.666667 MHz are 10666 MB/s each, without the fraction.
    assert!(
        spec.contains("address=\"0x100000000\" size=\"0x100000000\""),
        "{spec}"
    );
    assert!(
        desk.text("top.v").contains("output wire [1:0]   ddr3a_ck"),
        "{}",
        desk.text("top.v")
    );
    // A clock of 100 MHz needs no PLL for the calibration.
    assert!(!desk.text("board.qsys").contains("altera_pll"));
}

#[test]
fn every_bad_description_names_line_and_hint() {
    for (from, to, words) in [
        (
            "name = \"de5net\"",
            "name = \"DE5 net\"",
            "name = \"DE5 net\" is not a valid name",
        ),
        ("name = \"de5net\"", "nmae = \"de5net\"", "nmae"),
        (
            "family = \"Stratix V\"",
            "family = \"Cyclone V\"",
            "made for Stratix V only",
        ),
        (
            "part = \"5SGXEA7N2F45C2\"",
            "part = \"5CGTFD9E5F35C7\"",
            "not a device of Stratix V",
        ),
        (
            "part = \"5SGXEA7N2F45C2\"",
            "part = \"5SEE9H40C2\"",
            "not a device of Stratix V",
        ),
        (
            "speed_grade = \"2_H2\"",
            "speed_grade = \"3_H2\"",
            "one of \"2_H2\"",
        ),
        (
            "model = \"5sgxma7h2fe35c2_dm.xml\"",
            "model = \"../x_dm.xml\"",
            "device.model",
        ),
        ("alms = 19538", "alms = -1", "shell.alms = -1"),
        (
            "alms = 19538",
            "alms = \"many\"",
            "alms: a whole number is expected, not the word \"many\"",
        ),
        ("generation = 2", "generation = 3", "pcie.generation = 3"),
        ("port_bits = 128", "port_bits = 96", "pcie.port_bits = 96"),
        ("port_bits = 128", "port_bits = 64", "pcie.port_bits = 64"),
        (
            "#: bar_bytes = 0x40000",
            "bar_bytes = 0x30000",
            "pcie.bar_bytes = 0x30000",
        ),
        (
            "#: bar_bytes = 0x40000",
            "bar_bytes = 0x10000",
            "pcie.bar_bytes = 0x10000",
        ),
        (
            "#: bar_bytes = 0x40000",
            "bar_bytes = 0x20000",
            "pcie.bar_bytes = 0x20000 is too small",
        ),
        ("vendor = 0x1172", "vendor = 0xffff", "pcie.vendor"),
        (
            "board_hz = 50_000_000",
            "board_hz = 50",
            "clocks.board_hz = 50",
        ),
        (
            "kernel_hz = 50_000_000",
            "kernel_hz = 62_500_000",
            "whole number of MHz",
        ),
        (
            "name = \"ddr3b\"",
            "name = \"ddr3a\"",
            "\"ddr3a\" is described twice",
        ),
        (
            "name = \"ddr3a\"",
            "name = \"pcie\"",
            "memory.name = \"pcie\"",
        ),
        ("kind = \"ddr3\"", "kind = \"qdr2\"", "memory.kind"),
        ("width = 64", "width = 72", "memory.width = 72"),
        ("width = 64", "width = 48", "memory.width = 48"),
        (
            "bytes = 0x8000_0000",
            "bytes = 0xc000_0000",
            "memory.bytes = 0xc000_0000",
        ),
        (
            "bytes = 0x8000_0000",
            "bytes = 0x1_0000_0000",
            "make 0x80000000",
        ),
        (
            "clock_hz = 800_000_000",
            "clock_hz = 1_600_000_000",
            "memory.clock_hz",
        ),
        ("MEM_TCL = 11\n", "", "lacks MEM_TCL"),
        (
            "MEM_TCL = 11\n",
            "MEM_TCL = [11]\n",
            "MEM_TCL is neither a number",
        ),
        (
            "MEM_TCL = 11\n",
            "MEM_TCL = 11\nMEM_DQ_WIDTH = 8\n",
            "MEM_DQ_WIDTH",
        ),
        ("rams = 283", "rams = 283\nm20ks = 1", "m20ks"),
        ("rams = 283", "rams = \"unknown\" # ask", "rams is unknown"),
        ("rams = 283", "rams = 'unknown'", "shell.rams is unknown"),
        (
            "pins = \"de5net_pins.tcl\"",
            "pins = \"none.tcl\"",
            "none.tcl",
        ),
        ("pins = \"de5net_pins.tcl\"", "", "no pins"),
    ] {
        assert!(DE5NET.contains(from), "{from:?}");
        let text = DE5NET.replacen(from, to, 1);
        let e = Desk::new(&text, PINS).refused("");
        expect(&e, ErrorKind::Config, &[words, "board.toml"]);
        let line = e.place.line;
        let about = match to {
            "" => None,
            _ if words.contains("lacks") => None,
            "MEM_TCL = 11\nMEM_DQ_WIDTH = 8\n" => Some(line_of(&text, "MEM_DQ_WIDTH")),
            "rams = 283\nm20ks = 1" => Some(line_of(&text, "m20ks")),
            // The name of the second bank occurs twice.
            _ if words.contains("twice") => Some(
                DE5NET[..DE5NET.find("name = \"ddr3b\"").unwrap()]
                    .matches('\n')
                    .count()
                    + 1,
            ),
            _ => Some(line_of(&text, to)),
        };
        if let Some(about) = about {
            assert_eq!(line, Some(about), "{to}: {}", e.paragraph());
        }
    }
    // Three banks, and a second one of another size.
    let second = &DE5NET[DE5NET.rfind("[[memory]]").unwrap()..];
    let three = format!("{DE5NET}\n{}", second.replace("ddr3b", "ddr3c"));
    expect(
        &Desk::new(&three, PINS).refused(""),
        ErrorKind::Config,
        &["3 banks", "1, 2 or 4"],
    );
    let odd = second
        .replace("row_bits = 15", "row_bits = 16")
        .replace("0x8000_0000", "0x1_0000_0000");
    let odd = DE5NET.replace(second, &odd);
    expect(
        &Desk::new(&odd, PINS).refused(""),
        ErrorKind::Config,
        &["equal banks"],
    );
    // A board without [pcie], an empty one, and text that is not TOML.
    for text in [
        DE5NET.replace("[pcie]", "[link]"),
        String::new(),
        "name = ".into(),
        "\u{0}".into(),
    ] {
        let e = Desk::new(&text, PINS).refused("");
        expect(&e, ErrorKind::Config, &["board.toml"]);
    }
}

#[test]
fn every_bad_fragment_names_line_and_hint() {
    let edit = |from: &str, to: &str| {
        assert!(PINS.contains(from), "{from}");
        PINS.replacen(from, to, 1)
    };
    let clock = "set_location_assignment PIN_AW35 -to board_clk\n";
    for (text, file, line, words) in [
        (
            edit(clock, ""),
            "board.toml",
            line_of(DE5NET, "pins ="),
            "no pin to board_clk",
        ),
        // 20 of clocks and link, and 117 of each bank: 254, of which 8 are named.
        (
            String::new(),
            "board.toml",
            line_of(DE5NET, "pins ="),
            "and 246 more",
        ),
        (
            edit("-to board_clk", "-to bord_clk"),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "bord_clk is not a port",
        ),
        (
            edit("PIN_AW35", "PIN_J18"),
            "de5net_pins.tcl",
            line_of(PINS, "PIN_J18"),
            "PIN_J18 is already assigned",
        ),
        (
            edit("PIN_AW35", "AW35"),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "cannot be read",
        ),
        (
            edit("-to kernel_refclk", "-to board_clk"),
            "de5net_pins.tcl",
            line_of(PINS, "PIN_J18"),
            "already has a pin",
        ),
        (
            edit(clock, &format!("exec rm x\n{clock}")),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "exec in a fragment",
        ),
        (
            edit("PIN_AW35", "$pin"),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "cannot compute values",
        ),
        (
            edit("PIN_AW35", "[exec id]"),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "cannot compute values",
        ),
        (
            edit(
                clock,
                &format!("set_global_assignment -name QXP_FILE a.qxp\n{clock}"),
            ),
            "de5net_pins.tcl",
            line_of(PINS, clock),
            "set_global_assignment in a fragment",
        ),
    ] {
        let e = Desk::new(DE5NET, &text).refused("");
        expect(&e, ErrorKind::Config, &[words, file]);
        assert_eq!(e.place.line, Some(line), "{}", e.paragraph());
    }
    // A board whose description names no pins gets them from outside.
    let desk = Desk::new(&DE5NET.replace("pins = \"de5net_pins.tcl\"", ""), "");
    let pins = desk.dir.path().join("mine.tcl");
    fs::write(&pins, PINS).unwrap();
    desk.make(Some(&pins), "").unwrap();
    // Nothing is overwritten.
    let before = common::snapshot(&desk.out);
    let e = desk.make(Some(&pins), "").unwrap_err();
    expect(&e, ErrorKind::Output, &["already exists"]);
    assert!(common::snapshot(&desk.out) == before);
}

#[test]
fn a_single_bank_and_four_are_sound() {
    let first = DE5NET.find("[[memory]]").unwrap();
    let second = DE5NET.rfind("[[memory]]").unwrap();
    let one = &DE5NET[..second];
    let more = ["c", "d"].map(|name| DE5NET[second..].replace("ddr3b", &format!("ddr3{name}")));
    let four = format!("{DE5NET}{}", more.concat());
    assert!(first < second);
    for (text, total) in [(one.to_string(), "31"), (four, "33")] {
        let desk = Desk::new(&text, &made_up_pins(&text));
        desk.sound("");
        let width = format!("name=\"ADDRESS_WIDTH\" value=\"{total}\"");
        assert!(desk.text("board.qsys").contains(&width), "{width}");
    }
}

#[test]
fn gen1_x8_and_gen2_x4_are_sound() {
    for (link, lanes, interfaces) in [("generation = 1", 8, 10), ("lanes = 4", 4, 5)] {
        let from = &link[..link.find('=').unwrap()];
        let line = DE5NET.lines().find(|line| line.starts_with(from)).unwrap();
        let text = DE5NET.replace(line, link);
        let desk = Desk::new(&text, &made_up_pins(&text));
        desk.sound("");
        let system = desk.text("board.qsys");
        assert!(system.contains(&format!("value=\"x{lanes}\"")), "{link}");
        assert!(
            system.contains(&format!("interfaces\" value=\"{interfaces}\"")),
            "{link}"
        );
    }
}

#[test]
fn descriptions_give_a_result_or_an_error_whatever_they_are() {
    for at in 0..DE5NET.len() {
        if at % 97 == 0 && DE5NET.is_char_boundary(at) {
            // A cut between the banks leaves a board with one bank.
            if let Err(e) = Board::parse(Path::new("b.toml"), &DE5NET[..at]) {
                one_paragraph(&e);
            }
        }
    }
}

#[test]
fn shipped_boards_say_what_they_are() {
    let of = |name: &str| SHIPPED.iter().find(|board| board.name == name).unwrap();
    assert_eq!(
        (of("de5net").title(), of("de5net").gaps()),
        ("Terasic DE5-Net", 0)
    );
    // 5 of the device, 2 clocks, and 8 with 37 parameters for each bank.
    assert_eq!(of("p385").gaps(), 5 + 2 + 2 * (8 + 37));
}

/// Makes a stub with the signals of a system's exports and their widths, as Platform Designer names them. They are
/// written down from the components' documentation, and not taken from the program.
fn stub(desk: &Desk, lanes: u32) -> String {
    let mut ports = vec![
        ("input", 1, "board_clk_clk".to_string()),
        ("input", 1, "board_reset_reset_n".into()),
        ("input", 1, "kernel_refclk_clk".into()),
        ("input", 1, "pcie_refclk_clk".into()),
        ("input", 1, "pcie_npor_npor".into()),
        ("input", 1, "pcie_npor_pin_perst".into()),
        ("input", 32, "pcie_control_test_in".into()),
        ("input", 1, "pcie_control_simu_mode_pipe".into()),
    ];
    for lane in 0..lanes {
        ports.push(("input", 1, format!("pcie_serial_rx_in{lane}")));
        ports.push(("output", 1, format!("pcie_serial_tx_out{lane}")));
    }
    for bank in ["ddr3a", "ddr3b"] {
        ports.push(("input", 1, format!("{bank}_refclk_clk")));
        ports.push(("input", 1, format!("{bank}_oct_rzqin")));
        for (direction, bits, signal) in [
            ("output", 15, "a"),
            ("output", 3, "ba"),
            ("output", 1, "ck"),
            ("output", 1, "ck_n"),
            ("output", 1, "cke"),
            ("output", 1, "cs_n"),
            ("output", 8, "dm"),
            ("output", 1, "ras_n"),
            ("output", 1, "cas_n"),
            ("output", 1, "we_n"),
            ("output", 1, "reset_n"),
            ("inout", 64, "dq"),
            ("inout", 8, "dqs"),
            ("inout", 8, "dqs_n"),
            ("output", 1, "odt"),
        ] {
            ports.push((direction, bits, format!("{bank}_memory_mem_{signal}")));
        }
    }
    // Each belongs to an interface that the system exports.
    let system = desk.text("system.qsys");
    let exports: Vec<_> = system
        .split("<interface\n   name=\"")
        .skip(1)
        .map(|s| s.split('"').next().unwrap())
        .collect();
    for (_, _, port) in &ports {
        assert!(
            exports
                .iter()
                .any(|export| port.starts_with(&format!("{export}_"))),
            "{port}"
        );
    }
    for export in exports {
        assert!(
            ports
                .iter()
                .any(|(_, _, port)| port.starts_with(&format!("{export}_"))),
            "{export}"
        );
    }
    let ports = ports
        .iter()
        .map(|(direction, bits, name)| format!("  {direction} wire [{}:0] {name}", bits - 1));
    format!(
        "/* verilator lint_off UNUSED */\n/* verilator lint_off UNDRIVEN */\nmodule system (\n{}\n);\nendmodule\n",
        ports.collect::<Vec<_>>().join(",\n")
    )
}

/// Checks that the top fits the system: every port connected, at its width.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn verilator_has_nothing_to_say_about_the_top() {
    let desk = Desk::new(DE5NET, PINS);
    desk.sound("");
    let system = desk.dir.path().join("system.v");
    fs::write(&system, stub(&desk, 8)).unwrap();
    let top = desk.out.join("hardware/de5net_peerlane/top.v");
    let mut verilator = Cache::open().unwrap().verilator().unwrap().command();
    verilator.args(["--lint-only", "--quiet-stats", "-Wall", "-Wno-DECLFILENAME"]);
    verilator.args(["--language", "1364-2005", "--top-module", "top"]);
    let run = verilator.args([&top, &system]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && said.is_empty(), "{said}");
}

/// The board's README has the link of the board with this configuration.
#[test]
fn the_readme_is_of_the_link_that_is_made() {
    for (config, link, driver) in [
        ("", "Gen2 x8", true),
        ("[port]\nkind = \"tlp\"\ngen = 3\n", "Gen3 x8", false),
    ] {
        let desk = Desk::new(DE5NET, PINS);
        desk.sound(config);
        let readme = desk.text("README.md");
        assert!(readme.contains(&format!("hard IP ({link})")), "{readme}");
        assert_eq!(readme.contains("A driver for the transceivers"), driver);
        assert!(!readme.contains("\n\n- **A place"), "{readme}");
    }
}
