//! Platforms with several boards, boards that occur twice in a design, and descriptions with few entries.

use std::fs;
use std::path::Path;

use crate::common::faults::{each, faults};
use crate::common::{self, Work, expect, extend_to, reference_net, snapshot};
use peerlane_bsp::config::Config;
use peerlane_bsp::diagram::Diagram;
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::extend::{Options, extend};
use peerlane_bsp::layout::{self, Layout};
use peerlane_bsp::revert;
use peerlane_bsp_check::{Level, structure};

/// Makes a platform with the reference board and another one that is never changed.
fn two_boards() -> Work {
    let work = Work::of(&reference_net());
    let other = work.bsp.join("hardware/other");
    fs::create_dir(&other).unwrap();
    layout::copy(&work.bsp.join("hardware/peerlane_net"), &other, &|_| false).unwrap();
    common::edit(
        &other.join("board_spec.xml"),
        "name=\"peerlane_net\"",
        "name=\"other\"",
    );
    // A path that a step of the first board computes is not searched in the other board.
    fs::write(
        other.join("scripts/helper.tcl"),
        "set_global_assignment -name INPUT_PERSONA x\n",
    )
    .unwrap();
    work
}

fn options(work: &Work, board: Option<&str>) -> Options {
    Options {
        bsp: work.bsp.clone(),
        out: work.out.clone(),
        config: common::txs(),
        report: None,
        board: board.map(str::to_string),
    }
}

#[test]
fn one_of_several_boards_is_extended() {
    let work = two_boards();
    let before = snapshot(&work.bsp);
    let report = extend(&options(&work, Some("peerlane_net"))).unwrap();
    assert_eq!(report.hardware, Path::new("hardware/peerlane_net_peerlane"));
    // The other stays as it was, compiled files and all.
    let other = |root: &Path| snapshot(&root.join("hardware/other"));
    assert!(other(&work.bsp) == other(&work.out));
    assert!(work.out.join("hardware/other/base.aocx").is_file());
    assert!(
        !work
            .out
            .join("hardware/peerlane_net_peerlane/base.aocx")
            .exists()
    );
    let environment = fs::read_to_string(work.out.join("board_env.xml")).unwrap();
    assert!(
        environment.contains("default=\"peerlane_net_peerlane\""),
        "{environment}"
    );
    let to_do = &report.to_do;
    assert!(
        to_do
            .iter()
            .any(|note| note.contains("other boards: other") && note.contains("vendor's platform")),
        "{to_do:#?}"
    );
    let layout = Layout::of_result(&work.out).unwrap();
    let findings = structure(&layout).unwrap();
    let odd: Vec<_> = findings
        .0
        .iter()
        .filter(|f| f.level == Level::Bad)
        .collect();
    assert!(odd.is_empty(), "{odd:#?}");
    assert!(
        !findings
            .0
            .iter()
            .any(|f| f.place.starts_with(work.out.join("hardware/other")))
    );
    Diagram::read(&work.out).unwrap();
    let back = work.dir.path().join("back");
    revert::revert(&revert::Options {
        bsp: work.out.clone(),
        out: back.clone(),
        without_edits: false,
    })
    .unwrap();
    assert!(snapshot(&back) == before);
}

#[test]
fn which_board_must_be_said() {
    let work = two_boards();
    let error = extend(&options(&work, None)).unwrap_err();
    expect(
        &error,
        ErrorKind::NotABsp,
        &["other, hardware/peerlane_net", "--board"],
    );
    let error = extend(&options(&work, Some("third"))).unwrap_err();
    expect(
        &error,
        ErrorKind::NotABsp,
        &["no board third", "other, hardware/peerlane_net"],
    );
    // A board's directory means that board.
    let mut of_directory = options(&work, Some("other"));
    of_directory.bsp = work.bsp.join("hardware/peerlane_net");
    let error = extend(&of_directory).unwrap_err();
    expect(&error, ErrorKind::NotABsp, &["not that of the board other"]);
    of_directory.board = None;
    let report = extend(&of_directory).unwrap();
    assert!(!work.out.join("hardware/other").exists());
    let to_do = &report.to_do;
    assert!(
        to_do
            .iter()
            .any(|note| note.contains("other boards (other)") && note.contains("--board")),
        "{to_do:#?}"
    );
}

/// A design with the board in it twice has two DMAs and two endpoints, which could be confused.
#[test]
fn a_board_that_stands_in_the_design_twice_is_refused() {
    let work = Work::of(&reference_net());
    let board = "name=\"board\"";
    let system = work.input("system.qsys");
    let twice = each(&fs::read_to_string(&system).unwrap(), |element| {
        Some(match element.contains("kind=\"board\"") {
            true => format!("{element}{}", element.replace(board, "name=\"board_2\"")),
            false => element.into(),
        })
    });
    fs::write(&system, &twice).unwrap();
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::SeveralDmas,
        &[
            "system.qsys:",
            "board.qsys",
            "board and board_2",
            "Remove all but one",
        ],
    );
    // A disabled instance does not count.
    let off = each(&twice, |element| {
        Some(match element.contains("name=\"board_2\"") {
            true => element.replace("enabled=\"1\"", "enabled=\"0\""),
            false => element.into(),
        })
    });
    assert_ne!(off, twice);
    fs::write(&system, off).unwrap();
    work.sound("");
    common::edit(
        &work.output("system.qsys"),
        "enabled=\"0\"",
        "enabled=\"1\"",
    );
    let found = faults(&work);
    assert!(
        found
            .iter()
            .any(|(test, what)| *test == "instances" && what.contains("board and board_2")),
        "{found:#?}"
    );
}

/// Descriptions without the entries that the SDK does not require, and one that is written over several lines.
#[test]
fn descriptions_that_say_little() {
    let linux =
        "<platform name=\"linux64\"><mmdlib>%b/linux64/lib/libpeerlane_mmd.so</mmdlib></platform>";
    for (name, environment) in [
        ("no name", format!("<board_env version=\"14.0\"><hardware dir=\"hardware\" default=\"peerlane_net\"/>{linux}</board_env>")),
        ("no version", format!("<board_env name=\"x\"><hardware dir=\"hardware\" default=\"peerlane_net\"/>{linux}</board_env>")),
        ("no default", format!("<board_env version=\"14.0\" name=\"x\"><hardware dir=\"hardware\"/>{linux}</board_env>")),
        ("no platform", "<board_env version=\"14.0\" name=\"x\"><hardware dir=\"hardware\" default=\"peerlane_net\"></hardware></board_env>".to_string()),
        ("an empty platform", "<board_env version=\"14.0\" name=\"x\"><hardware dir=\"hardware\" default=\"peerlane_net\"/><platform name=\"linux64\"/></board_env>".to_string()),
    ] {
        let work = Work::of(&reference_net());
        fs::write(work.bsp.join("board_env.xml"), &environment).unwrap();
        work.sound("");
        let made = fs::read_to_string(work.out.join("board_env.xml")).unwrap();
        for words in ["%b/linux64/lib/libpeerlane_mmd.so", "%b/linux64/libexec"] {
            assert!(made.contains(words), "{name}: no {words} in {made}");
        }
        assert!(!made.contains("default=\"peerlane_net\""), "{name}: {made}");
    }
    for (name, environment, words) in [
        (
            "no boards",
            "<board_env version=\"14.0\" name=\"x\"/>",
            "<hardware>",
        ),
        (
            "another directory",
            "<board_env version=\"14.0\" name=\"x\"><hardware dir=\"boards\"/></board_env>",
            "boards",
        ),
    ] {
        let work = Work::of(&reference_net());
        fs::write(work.bsp.join("board_env.xml"), environment).unwrap();
        let error = work.refused("");
        expect(&error, error.kind, &["board_env.xml", words]);
        assert!(
            error.hint.to_string().contains("board_env.xml"),
            "{name}: {}",
            error.paragraph()
        );
    }
}

/// A byte order mark stays where it is, and nothing else moves.
#[test]
fn byte_order_marks() {
    let files = [
        "board.qsys",
        "system.qsys",
        "board_spec.xml",
        "board.ipx",
        "opencl.ipx",
        "top.qpf",
        "top.qsf",
        "base.qsf",
        "ip_include.tcl",
        "top.sdc",
        "scripts/post_flow.tcl",
        "../../board_env.xml",
        "blinker_hw.tcl",
    ];
    let plain = Work::of(&reference_net());
    plain.sound("");
    for file in files {
        let work = Work::of(&reference_net());
        let path = work.input(file);
        // Also if the first line has content.
        let text = fs::read_to_string(&path).unwrap();
        let from = match file {
            "top.qpf" => text.find("PROJECT_REVISION").unwrap(),
            "top.qsf" | "base.qsf" => text.find("set_global").unwrap(),
            _ => 0,
        };
        fs::write(&path, format!("\u{feff}{}", &text[from..])).unwrap();
        let report = work.sound("");
        assert!(
            report.missing_in_input.is_empty(),
            "{file}: {:?}",
            report.missing_in_input
        );
        let made = work.made(file);
        let want = plain.made(file);
        let want = match file {
            "top.qpf" | "top.qsf" | "base.qsf" => &want[from..],
            _ => &want,
        };
        assert_eq!(made, format!("\u{feff}{want}"), "{file}");
    }
}

/// A list of components may give a system another name than its file, and so may a link.
#[test]
fn systems_by_other_names() {
    for link in [false, true] {
        let work = Work::of(&reference_net());
        fs::create_dir(work.input("parts")).unwrap();
        fs::rename(work.input("board.qsys"), work.input("parts/shell_v2.qsys")).unwrap();
        if link {
            std::os::unix::fs::symlink("parts/shell_v2.qsys", work.input("board.qsys")).unwrap();
        } else {
            work.edit(
                "board.ipx",
                "</library>",
                " <component name=\"board\" file=\"parts/shell_v2.qsys\" version=\"1.0\" />\n</library>",
            );
        }
        work.sound("");
        assert!(
            work.made("parts/shell_v2.qsys")
                .contains("kind=\"peerlane_dma\"")
        );
        common::edit(
            &work.output("parts/shell_v2.qsys"),
            "\"AVALON_ADDR_WIDTH\" value=\"64\"",
            "\"AVALON_ADDR_WIDTH\" value=\"32\"",
        );
        let found = faults(&work);
        assert!(
            found.iter().any(|(test, _)| *test == "parameters"),
            "{link}: {found:#?}"
        );
        // The new place in the design is known, too.
        common::edit(
            &work.output("top.qsf"),
            "peerlane_dma:copier",
            "system_board_copier:copier",
        );
        let found = faults(&work);
        assert!(
            found.iter().any(|(test, _)| *test == "regions"),
            "{link}: {found:#?}"
        );
        // Two systems of one name cannot be distinguished.
        if !link {
            fs::copy(work.input("parts/shell_v2.qsys"), work.input("board.qsys")).unwrap();
            let out = work.dir.path().join("twice");
            let error = extend_to(&work.bsp, &out, Config::default(), None).unwrap_err();
            expect(
                &error,
                ErrorKind::Unsupported,
                &["shell_v2.qsys", "board.qsys"],
            );
        }
    }
}

/// A port of 64 bits is refused with the link and a hint: the reference's link (Gen2 x8) has a port of 128 bits.
#[test]
fn a_port_of_64_bits() {
    let work = Work::of(&reference_net());
    work.edit(
        "board.qsys",
        "name=\"avmm_width_hwtcl\" value=\"128\"",
        "name=\"avmm_width_hwtcl\" value=\"64\"",
    );
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &[
            "board.qsys:",
            "64 bits",
            "byte enables",
            "Set avmm_width_hwtcl to 128",
        ],
    );
    assert!(
        !error.hint.to_string().contains("cannot be extended")
            && !error.hint.to_string().contains("256"),
        "{error:?}"
    );
    for bits in [128, 256] {
        let error = work.extend(&format!("port_bits = {bits}")).unwrap_err();
        expect(&error, ErrorKind::Unsupported, &["64 bits"]);
    }
    let error = work.extend("port_bits = 64").unwrap_err();
    expect(&error, ErrorKind::Config, &["port_bits = 64", "128 or 256"]);
}
