//! The board's port to PCIe: the stream of packets if possible, else `Txs`, unless the file asks for one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Work, edit, expect, finds_in, fixture, reference, reference_net, vendor_bsp};
use peerlane_bsp::board::{Description, Options, make};
use peerlane_bsp::build::Build;
use peerlane_bsp::config::{Config, PortKind};
use peerlane_bsp::error::{ErrorKind, Place};
use peerlane_bsp::extend::report::Report;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, check};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";
const TXS: &str = "[port]\nkind = \"txs\"\n";
const SYSTEM: &str = "acl_iface_system.qsys";

/// Checks that the check finds no fault in the output, and that the record has the port of the report.
fn is_sound(out: &Path, report: &Report) {
    let layout = Layout::find(out).unwrap();
    let findings = check(&layout).unwrap().0;
    let bad: Vec<_> = findings.iter().filter(|f| f.level == Level::Bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let build = Build::read(&layout).unwrap();
    assert_eq!(build.config.has_tlp_port(), report.config.has_tlp_port());
    let text = fs::read_to_string(out.join("peerlane-report.md")).unwrap();
    assert!(text.contains("## The port to PCIe"), "{text}");
    let own = if report.config.has_tlp_port() {
        "| TLP port (this board's) |"
    } else {
        "`Txs` (this board's) |"
    };
    assert!(text.contains(own), "{text}");
}

/// Extends without a configuration.
fn by_itself(bsp: &Path) -> (Work, Report) {
    let work = Work::of(bsp);
    let report = work
        .extend_by_itself("")
        .unwrap_or_else(|e| panic!("{}", e.message()));
    is_sound(&work.out, &report);
    (work, report)
}

/// All boards of Stratix V that the tests have: Quartus 13.1 and 14.0.
#[test]
fn a_board_of_stratix_v_gets_the_stream() {
    let bsps: Vec<PathBuf> = [Some(reference()), Some(reference_net()), vendor_bsp()]
        .into_iter()
        .flatten()
        .collect();
    for bsp in bsps {
        let (work, report) = by_itself(&bsp);
        assert!(
            report.config.has_tlp_port(),
            "{}: {}",
            bsp.display(),
            report.notes[0]
        );
        assert!(
            report.notes[0].contains("which is the default"),
            "{}",
            report.notes[0]
        );
        // The same result as with an explicit key.
        let asked = Work::of(&bsp);
        let other = asked.extend_by_itself(STREAM).unwrap();
        assert_eq!(other.build_id, report.build_id);
        assert!(other.notes[0].contains("as the configuration asks"));
        drop(work);
    }
    let work = Work::new();
    let report = work.extend_by_itself(TXS).unwrap();
    assert!(!report.config.has_tlp_port() && report.notes[0].contains("as the configuration asks"));
    is_sound(&work.out, &report);
}

/// Arria V GZ has the hard IP of Stratix V under another name.
#[test]
fn a_board_of_arria_v_gz_gets_the_stream() {
    let work = Work::new();
    work.edit(
        SYSTEM,
        "altera_pcie_sv_hip_avmm",
        "altera_pcie_avgz_hip_avmm",
    );
    work.edit(
        SYSTEM,
        "\"INTENDED_DEVICE_FAMILY\" value=\"Stratix V\"",
        "\"INTENDED_DEVICE_FAMILY\" value=\"Arria V GZ\"",
    );
    let report = work.extend_by_itself("").unwrap();
    assert!(report.config.has_tlp_port(), "{}", report.notes[0]);
    is_sound(&work.out, &report);
}

/// No streaming form of the hard IP of Cyclone V and Arria V is known here.
#[test]
fn another_family_gets_txs() {
    for kind in ["altera_pcie_cv_hip_avmm", "altera_pcie_av_hip_avmm"] {
        let work = Work::new();
        work.edit(SYSTEM, "altera_pcie_sv_hip_avmm", kind);
        let report = work.extend_by_itself("").unwrap();
        assert!(!report.config.has_tlp_port());
        assert!(report.notes[0].contains(kind), "{}", report.notes[0]);
        is_sound(&work.out, &report);
        let other = Work::new();
        other.edit(SYSTEM, "altera_pcie_sv_hip_avmm", kind);
        expect(&other.refused(STREAM), ErrorKind::Unsupported, &[kind]);
    }
    let Some(c5p) = fixture("c5p-18.1") else {
        return;
    };
    // Its link is Gen1 x4, which `Txs` cannot have either: the user can fix that.
    let error = Work::of(&c5p).extend_by_itself("").unwrap_err();
    expect(
        &error,
        ErrorKind::Unsupported,
        &["width of 64 bits", "Gen2 x4"],
    );
}

/// `gen` asks for the stream, with `kind` or without it. A board without a stream is refused at the line of `gen`, and
/// no hint leads to another error about these keys.
#[test]
fn a_generation_that_no_port_has_is_refused_by_its_key() {
    let board = || {
        let work = Work::new();
        work.edit(SYSTEM, "altera_pcie_sv_hip_avmm", "altera_pcie_cv_hip_avmm");
        work
    };
    for asked in [2, 3] {
        let work = board();
        let error = work
            .extend_by_itself(&format!("[port]\ngen = {asked}\n"))
            .unwrap_err();
        assert_eq!(error.place, Place::line("c.toml", 2), "{error}");
        assert!(
            error
                .what
                .to_string()
                .starts_with(&format!("port.gen = {asked} asks for a TLP port, but")),
            "{error}"
        );
        assert!(
            error.what.to_string().contains("altera_pcie_cv_hip_avmm"),
            "{error}"
        );
        assert_eq!(
            error.hint.to_string(),
            "Leave port.gen out of the configuration."
        );
        // The hint works.
        assert!(
            !work
                .extend_by_itself("[port]\n")
                .unwrap()
                .config
                .has_tlp_port()
        );
    }
    let error = board().refused(&format!("{STREAM}gen = 3\n"));
    assert_eq!(
        error.hint.to_string(),
        "Leave port.kind and port.gen out of the configuration."
    );
    let error = board().refused(STREAM);
    assert!(
        error.hint.to_string().contains("port.kind out"),
        "{error:?}"
    );
    // Further reasons against it.
    let work = Work::new();
    let line = "<parameter name=\"lane_mask_hwtcl\" value=\"x8\" />";
    let two = "<parameter name=\"use_ast_parity\" value=\"1\" /><parameter name=\"a_new_one\" value=\"7\" />";
    work.edit(SYSTEM, line, &format!("{line}\n{two}"));
    let error = work.extend_by_itself("[port]\ngen = 3\n").unwrap_err();
    let said = error.message();
    assert!(
        said.matches("leave port.gen out").count() >= 2 && !said.contains("port.kind"),
        "{said}"
    );
}

/// A real board of Cyclone V is extended after its link is set to one with a port of 128 bits.
#[test]
fn a_real_board_of_cyclone_v_is_extended_at_another_link() {
    let Some(c5p) = fixture("c5p-18.1") else {
        return;
    };
    let work = Work::of(&c5p);
    for (name, value) in [
        ("gen123_lane_rate_mode_hwtcl", "Gen2 (5.0 Gbps)"),
        ("avmm_width_hwtcl", "128"),
    ] {
        let text = fs::read_to_string(work.input("board.qsys")).unwrap();
        let begin = format!("<parameter name=\"{name}\" value=\"");
        let (_, old) = text.split_once(&begin).unwrap();
        let (old, _) = old.split_once('"').unwrap();
        work.edit("board.qsys", &(begin.clone() + old), &(begin + value));
    }
    let report = work
        .extend_by_itself("")
        .unwrap_or_else(|e| panic!("{}", e.message()));
    assert!(!report.config.has_tlp_port());
    is_sound(&work.out, &report);
}

/// docs/fpga/README.md has the comparison of the ports that every report has.
#[test]
fn the_document_compares_the_ports_as_the_report_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("../docs/fpga/README.md")).unwrap();
    let section = peerlane_bsp::extend::port::section(&Config::default());
    let rows: Vec<_> = section.lines().filter(|l| l.starts_with("| ")).collect();
    for row in &rows[2..] {
        assert!(document.contains(&format!("\n{row}\n")), "{row}");
    }
    assert!(rows.len() > 6, "{section}");
}

/// A board that cannot have the stream gets `Txs` with every reason, and is refused with them if the file asks for the
/// stream.
#[test]
fn all_reasons_are_told() {
    let spoilt = || {
        let work = Work::new();
        let two = "    <parameter name=\"use_ast_parity\" value=\"1\" />\n    <parameter name=\"a_new_one\" value=\"7\" />\n";
        let line = "<parameter name=\"lane_mask_hwtcl\" value=\"x8\" />";
        work.edit(SYSTEM, line, &format!("{line}\n{two}"));
        work
    };
    let work = spoilt();
    let report = work.extend_by_itself("").unwrap();
    assert!(!report.config.has_tlp_port());
    let note = &report.notes[0];
    for word in [
        "use_ast_parity",
        "a_new_one",
        "acl_iface_system.qsys:",
        "kind = \"tlp\"",
    ] {
        assert!(note.contains(word), "{word}: {note}");
    }
    assert!(!note.contains(work.dir.path().to_str().unwrap()), "{note}");
    is_sound(&work.out, &report);
    let work = spoilt();
    let error = work.refused(STREAM);
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.what.to_string().starts_with("2 reasons"), "{error}");
    let said = error.message();
    assert!(
        said.contains("use_ast_parity") && said.contains("a_new_one"),
        "{said}"
    );
}

/// A TLP port must satisfy all keys of the file.
#[test]
fn keys_of_the_file_choose_too() {
    let work = Work::new();
    let report = work.extend_by_itself("irq = \"rxm\"").unwrap();
    assert!(!report.config.has_tlp_port());
    assert!(
        report.notes[0].contains("irq = \"rxm\""),
        "{}",
        report.notes[0]
    );
    is_sound(&work.out, &report);
    for config in ["irq = \"msix\"", "[port]\ngen = 3"] {
        let work = Work::new();
        let report = work.extend_by_itself(config).unwrap();
        assert!(report.config.has_tlp_port(), "{config}");
    }
}

/// An unknown parameter whose value switches nothing on is left out with a note.
#[test]
fn an_unknown_parameter_that_is_off_is_a_note() {
    let work = Work::of(&reference_net());
    let line = "<parameter name=\"hip_tag_checking_hwtcl\" value=\"1\" />";
    let new = "<parameter name=\"of_quartus_99_hwtcl\" value=\"0\" />";
    work.edit("board.qsys", line, &format!("{line}\n  {new}"));
    let report = work.extend_by_itself("").unwrap();
    assert!(report.config.has_tlp_port(), "{}", report.notes[0]);
    let mut notes = report.notes.iter();
    assert!(
        notes.any(|note| note.contains("of_quartus_99_hwtcl = 0")),
        "{:#?}",
        report.notes
    );
    is_sound(&work.out, &report);
    assert!(!work.made("board.qsys").contains("of_quartus_99"));
}

/// A receive buffer without room for the completions gets one with room, with either port, and the check compares it.
#[test]
fn the_receive_buffer_gets_room() {
    for (config, test) in [(STREAM, "packets"), (TXS, "parameters")] {
        for was in ["Maximum", "High"] {
            let work = Work::new();
            let line = |value: &str| format!("name=\"rxbuffer_rxreq_hwtcl\" value=\"{value}\"");
            work.edit(SYSTEM, &line("Low"), &line(was));
            let report = work.extend_by_itself(config).unwrap();
            is_sound(&work.out, &report);
            let change = format!("rxbuffer_rxreq_hwtcl {was} → Low");
            let mut all = report.changes.iter();
            let change = all
                .find(|one| one.what.contains(&change))
                .expect("a change");
            assert!(change.why.contains("completions"), "{}", change.why);
            let made = work.made(SYSTEM);
            for wrong in [was, "Balanced"] {
                finds_in(
                    &work,
                    SYSTEM,
                    &line("Low"),
                    &line(wrong),
                    test,
                    "rxbuffer_rxreq_hwtcl",
                );
                fs::write(work.output(SYSTEM), &made).unwrap();
            }
        }
        // A division with room is the vendor's choice.
        let work = Work::new();
        edit(
            &work.input(SYSTEM),
            "name=\"rxbuffer_rxreq_hwtcl\" value=\"Low\"",
            "name=\"rxbuffer_rxreq_hwtcl\" value=\"Balanced\"",
        );
        let report = work.extend_by_itself(config).unwrap();
        is_sound(&work.out, &report);
        assert!(work.made(SYSTEM).contains("value=\"Balanced\""));
    }
}

/// A board that `peerlane new` makes has the same choice.
#[test]
fn a_new_board_gets_the_stream() {
    for (kind, streams) in [(None, true), (Some(PortKind::Txs), false)] {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.port.kind = kind;
        let out = dir.path().join("out");
        let report = make(&Options {
            description: Description::find(Path::new("de5net")).unwrap(),
            out: out.clone(),
            pins: None,
            config,
        })
        .unwrap();
        assert_eq!(report.config.has_tlp_port(), streams);
        is_sound(&out, &report);
    }
}
