//! Gen3 with a TLP port: the needs of the transceivers and the reset controller.

use std::fs;

use crate::common::{self, Work, edit, finds_in, reference_net, vendor_bsp};
use peerlane_bsp::extend::report::Change;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Finding, Level, check};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";
const GEN_3: &str = "[port]\nkind = \"tlp\"\ngen = 3\n";
const BOARD: &str = "board.qsys";

fn parameter(name: &str, value: &str) -> String {
    format!("<parameter name=\"{name}\" value=\"{value}\" />")
}

/// The vendors' boards force the hard reset controller for configuration over PCIe.
#[test]
fn the_hard_reset_controller_is_not_forced() {
    let not = parameter("force_hrc", "0");
    let forced = parameter("force_hrc", "1");
    let work = Work::of(&reference_net());
    edit(&work.input(BOARD), &not, &forced);
    let report = work.sound(GEN_3);
    assert!(work.made(BOARD).contains(&not) && !work.made(BOARD).contains(&forced));
    let change = |c: &&Change| c.what.contains("force_hrc 1 → 0") && c.why.contains("soft reset");
    assert_eq!(report.changes.iter().filter(change).count(), 1);
    // The extension does it.
    let told = |note: &&String| note.contains("force_hrc");
    assert_eq!(
        report.notes.iter().filter(told).count(),
        0,
        "{:#?}",
        report.notes
    );
    finds_in(&work, BOARD, &not, &forced, "packets", "force_hrc");
    let work = Work::of(&reference_net());
    edit(&work.input(BOARD), &not, &forced);
    let report = work.sound(STREAM);
    assert!(work.made(BOARD).contains(&forced));
    assert!(!report.notes.iter().any(|note| note.contains("cvphrcfix")));
}

/// A block of the transceivers' controller adapts receivers at 8 GT/s. Altera's driver starts it (Stratix V Avalon-ST
/// Interface for PCIe 683093, "Connecting the Transceiver Reconfiguration Controller").
#[test]
fn the_receivers_are_adapted() {
    let on = parameter("enable_adce", "1");
    for was in ["", "0", "1"] {
        let work = Work::of(&reference_net());
        if !was.is_empty() {
            let count = parameter("number_of_reconfig_interfaces", "11");
            work.edit(
                BOARD,
                &count,
                &format!("{count}{}", parameter("enable_adce", was)),
            );
        }
        let report = work.sound(GEN_3);
        let made = work.made(BOARD);
        assert_eq!(made.matches("enable_adce").count(), 1, "{was}");
        assert!(made.contains(&on), "{was}: {made}");
        // The driver that starts it is there, too.
        assert!(made.contains("altera_pcie_reconfig_driver"));
        assert!(
            !report
                .notes
                .iter()
                .any(|note| note.contains("equalisation"))
        );
        finds_in(
            &work,
            BOARD,
            &on,
            "",
            "packets",
            "enable_adce of lane_tuner",
        );
    }
    // Not below Gen3.
    let work = Work::of(&reference_net());
    let report = work.sound(STREAM);
    assert!(!work.made(BOARD).contains("enable_adce"));
    assert!(
        !report
            .notes
            .iter()
            .any(|note| note.contains("equalisation"))
    );
    // If the controller is outside the system, or missing, a user must act.
    let work = Work::new();
    let report = work.sound(GEN_3);
    let to_do = &report.to_do;
    let told = |note: &&String| note.contains("enable_adce") && note.contains("no controller");
    assert_eq!(to_do.iter().filter(told).count(), 1, "{to_do:#?}");
}

/// A controller that serves other IP too has its interfaces in groups.
#[test]
fn groups_of_a_shared_controller_are_told() {
    let count = |n: u32| parameter("number_of_reconfig_interfaces", &n.to_string());
    let groups = parameter("gui_split_sizes", "10,4");
    let work = Work::of(&reference_net());
    work.edit(BOARD, &count(11), &format!("{}{groups}", count(14)));
    let report = work.sound(GEN_3);
    let made = work.made(BOARD);
    assert!(made.contains(&count(14)) && made.contains(&groups));
    let to_do = &report.to_do;
    let told = |note: &&String| {
        ["lane_tuner", "gui_split_sizes", "10,4", "10 to 11"]
            .iter()
            .all(|word| note.contains(word))
    };
    assert_eq!(to_do.iter().filter(told).count(), 1, "{to_do:#?}");
    // The check reports it until it is done.
    let open = |work: &Work| findings(work, Level::Note, &["gui_split_sizes", "has 11 interfaces"]);
    assert_eq!(open(&work).len(), 1);
    let wrong = |work: &Work| findings(work, Level::Bad, &["lane_tuner"]);
    fs::write(
        work.output(BOARD),
        made.replace(&groups, &parameter("gui_split_sizes", "11,4"))
            .replace(&count(14), &count(15)),
    )
    .unwrap();
    assert_eq!((open(&work), wrong(&work)), (vec![], vec![]));
    // The group of other IP stays.
    fs::write(
        work.output(BOARD),
        made.replace(&groups, &parameter("gui_split_sizes", "11,3")),
    )
    .unwrap();
    assert_eq!(wrong(&work).len(), 1);
    // With the same number as before there is no task.
    let work = Work::of(&reference_net());
    work.edit(BOARD, &count(11), &format!("{}{groups}", count(14)));
    let report = work.sound(STREAM);
    assert!(
        !report
            .notes
            .iter()
            .any(|note| note.contains("gui_split_sizes"))
    );
}

/// Returns the diagnostics of the check with all these words.
fn findings(work: &Work, level: Level, words: &[&str]) -> Vec<Finding> {
    let all = check(&Layout::find(&work.out).unwrap()).unwrap().0;
    let all = all.into_iter().filter(|f| f.level == level);
    all.filter(|f| words.iter().all(|word| f.what.to_string().contains(word)))
        .collect()
}

/// A vendor's hard IP at Gen3 stays there, with or without the key.
#[test]
fn a_board_at_gen_3_stays_there() {
    let rate = |rate: &str| parameter("gen123_lane_rate_mode_hwtcl", rate);
    let (before, after) = (rate("Gen2 (5.0 Gbps)"), rate("Gen3 (8.0 Gbps)"));
    let lanes = |lanes: &str| parameter("lane_mask_hwtcl", lanes);
    for (file, bsp) in [
        (BOARD, reference_net()),
        ("acl_iface_system.qsys", common::reference()),
    ] {
        let mut made = Vec::new();
        for config in [STREAM, GEN_3] {
            let work = Work::of(&bsp);
            work.edit(file, &before, &after);
            work.edit(file, &lanes("x8"), &lanes("x4"));
            let place =
                "set_location_assignment HSSIPMATXCGB_X0_Y9 -to \"*|sv_xcvr_pipe_native*\"\n";
            work.append("top.qsf", place);
            work.sound(config);
            assert!(
                work.made("iface/peerlane/peerlane_dma_hw.tcl")
                    .contains("hip_status_drv")
            );
            assert!(
                work.made("iface/peerlane/build.json")
                    .contains("\"gen\": 3")
            );
            // The places of the vendor's compile are of that generation.
            assert!(findings(&work, Level::Note, &["come from a compile"]).is_empty());
            made.push(work.made(file));
        }
        assert_eq!(made[0], made[1]);
    }
}

/// Eight lanes have eleven interfaces of the reconfiguration at Gen3 (parameter validation of `altera_pcie_sv_hip_ast`,
/// ACDS 13.1), of which a vendor's controller may have had ten.
#[test]
fn the_controller_has_enough_interfaces() {
    let count = |n: u32| parameter("number_of_reconfig_interfaces", &n.to_string());
    let words = ["number_of_reconfig_interfaces of lane_tuner is 10", "11"];
    for vendors in [9, 10] {
        let work = Work::of(&reference_net());
        work.edit(BOARD, &count(11), &count(vendors));
        work.sound(GEN_3);
        let made = work.made(BOARD);
        assert_eq!(made.matches(&count(11)).count(), 2);
        fs::write(work.output(BOARD), made.replace(&count(11), &count(10))).unwrap();
        assert_eq!(findings(&work, Level::Bad, &words).len(), 1, "{vendors}");
    }
    // At Gen2 ten are enough, and a vendor's nine become ten.
    let work = Work::of(&reference_net());
    work.edit(BOARD, &count(11), &count(9));
    work.sound(STREAM);
    assert!(work.made(BOARD).contains(&count(10)));
}

/// The driver that the extension added must stay.
#[test]
fn the_driver_stays_in() {
    let work = Work::of(&reference_net());
    work.sound(GEN_3);
    let made = work.made(BOARD);
    let name = "pcie_reconfig_driver";
    // Elements of this system begin, and end, on lines of their own.
    let mut elements: Vec<String> = Vec::new();
    for part in made.split("\n <") {
        match elements.last_mut().filter(|_| part.starts_with('/')) {
            Some(element) => *element += &format!("\n <{part}"),
            None => elements.push(part.into()),
        }
    }
    elements.retain(|element| !element.contains(name));
    let left = elements.join("\n <");
    assert!(!left.contains(name) && left.contains("</system>"), "{left}");
    fs::write(work.output(BOARD), left).unwrap();
    let words = ["altera_pcie_reconfig_driver", "copier.hip_status_drv"];
    assert_eq!(findings(&work, Level::Bad, &words).len(), 1);
    assert!(findings(&work, Level::Note, &["What to do"]).is_empty());
}

/// The driver may be outside with the controller: then its connections lead out of every system.
#[test]
fn a_driver_outside_is_reached() {
    let work = Work::new();
    work.sound(GEN_3);
    let words = ["altera_pcie_reconfig_driver"];
    let notes = |work: &Work| findings(work, Level::Note, &words);
    assert_eq!(notes(&work).len(), 1);
    let put = |file: &str, name: &str, inside: &str, kind: &str| {
        let export = format!(
            "<interface name=\"{name}\" internal=\"{inside}\" type=\"{kind}\" dir=\"end\" />"
        );
        let text = work.made(file);
        let at = text.find(" <module").unwrap();
        let text = format!("{}{export}\n{}", &text[..at], &text[at..]);
        fs::write(work.output(file), text).unwrap();
    };
    let ends = [
        ("dma_engine.hip_status_drv", "conduit"),
        ("host_link.hip_currentspeed", "conduit"),
        ("dma_engine.coreclkout", "clock"),
    ];
    for (n, (end, kind)) in ends.into_iter().enumerate() {
        put(
            "acl_iface_system.qsys",
            &format!("for_driver_{n}"),
            end,
            kind,
        );
        assert_eq!(notes(&work).len(), 1, "{end}");
    }
    for (n, (_, kind)) in ends.into_iter().enumerate() {
        let inside = format!("acl_iface.for_driver_{n}");
        assert_eq!(notes(&work).len(), 1, "{inside}");
        put("system.qsys", &format!("top_{n}"), &inside, kind);
    }
    let left = notes(&work);
    assert!(left.is_empty(), "{left:#?}");
}

/// A lost export of the vendor's board is a fault, and not one of the vendor's.
#[test]
fn an_export_that_is_gone_is_a_fault() {
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    edit(
        &work.output(BOARD),
        "name=\"pcie_npor\"\n   internal",
        "name=\"pcie_reset_n\"\n   internal",
    );
    let words = ["export pcie_npor: board", "has no interface pcie_npor"];
    assert_eq!(findings(&work, Level::Bad, &words).len(), 1);
    assert!(findings(&work, Level::Note, &words).is_empty());
}

/// An end that leads nowhere is reported as such.
#[test]
fn nothing_is_called_so() {
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    let made = work.made(BOARD);
    for (from, to, test, words) in [
        (
            "name=\"pcie_npor\"\n   internal=\"endpoint.npor\"",
            "name=\"pcie_npor\"",
            "wiring",
            "pcie_npor is nothing; in the vendor's BSP it is endpoint.npor",
        ),
        (
            "start=\"copier.mem_rd\"",
            "start=\"copier.mem_rdx\"",
            "memory order",
            "copier.mem_rd reaches nothing:",
        ),
    ] {
        finds_in(&work, BOARD, from, to, test, words);
        fs::write(work.output(BOARD), &made).unwrap();
    }
}

/// Another hard IP is one fault, and not one for each of its parameters.
#[test]
fn a_wrong_hard_ip_is_told_once() {
    for (kind, most) in [
        ("altera_pcie_sv_hip_avmm", 1),
        ("altera_pcie_sv_hip_ast", 2),
    ] {
        let work = Work::of(&reference_net());
        work.sound(GEN_3);
        edit(&work.output(BOARD), "peerlane_pcie_hip", kind);
        let bad = findings(&work, Level::Bad, &[]);
        assert!(
            bad.iter().any(|f| f.what.to_string().contains(kind)),
            "{bad:#?}"
        );
        assert!(bad.len() <= most, "{bad:#?}");
        let of_vendor = format!("in the vendor's BSP it has {kind}");
        assert!(
            !bad.iter().any(|f| f.what.to_string().contains(&of_vendor)),
            "{bad:#?}"
        );
    }
}

/// The Quartus that compiles the board may have another version than the hard IP.
#[test]
fn the_quartus_of_the_sdk_is_told() {
    let told = |notes: &[String], version: &str| {
        let of = format!("Quartus {version}");
        let notes = notes.iter();
        notes
            .filter(|note| note.contains(&of) && note.contains("as 13.1 has it"))
            .count()
    };
    let work = Work::of(&reference_net());
    assert_eq!(told(&work.sound(STREAM).to_do, "14.0"), 1);
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    let to_do = work.sound(STREAM).to_do;
    assert_eq!(told(&to_do, "14.1"), 1, "{to_do:#?}");
}

/// The new driver stays unchanged: at the controller's first register, with its reset.
#[test]
fn the_driver_is_held() {
    let work = Work::of(&reference_net());
    work.sound(GEN_3);
    let made = work.made(BOARD);
    let wrong = || findings(&work, Level::Bad, &["pcie_reconfig_driver"]);
    assert_eq!(wrong(), []);
    let spoil = |from: &str, to: &str, word: &str| {
        let at = made.find(from).unwrap();
        let (before, behind) = made.split_at(at);
        fs::write(
            work.output(BOARD),
            before.to_string() + &behind.replacen(from, to, 1),
        )
        .unwrap();
        let wrong = wrong();
        assert_eq!(wrong.len(), 1, "{to}: {wrong:#?}");
        assert!(wrong[0].what.to_string().contains(word), "{wrong:#?}");
    };
    let wire = |kind: &str, end: &str| {
        let mut all = made.split("<connection").skip(1);
        all.find(|wire| {
            wire.contains(&format!("kind=\"{kind}\""))
                && wire.contains(&format!("pcie_reconfig_driver.{end}\""))
        })
        .unwrap()
        .split("<connection")
        .next()
        .unwrap()
        .to_string()
    };
    let slave = wire("avalon", "reconfig_mgmt");
    spoil(
        &slave,
        &slave.replace("0x0000", "0x1000"),
        "it must be at 0",
    );
    let reset = wire("reset", "reconfig_xcvr_rst");
    spoil(
        &reset,
        &reset.replace("power_reset.out_reset", "endpoint_reset.reset_out"),
        "does not have the reset power_reset.out_reset",
    );
}
