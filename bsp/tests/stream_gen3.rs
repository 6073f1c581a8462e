//! Gen3 with a streaming port: what the transceivers and the reset controller need for it.

mod common;

use common::{Work, edit, finds_in, reference_net};
use peerlane_bsp::extend::report::Change;

const STREAM: &str = "[port]\nkind = \"stream\"\n";
const GEN_3: &str = "[port]\nkind = \"stream\"\ngen = 3\n";
const BOARD: &str = "board.qsys";

fn parameter(name: &str, value: &str) -> String {
    format!("<parameter name=\"{name}\" value=\"{value}\" />")
}

/// The vendors' boards force the hard reset controller for configuration over PCIe.
#[test]
fn the_hard_reset_controller_is_not_forced() {
    let of = parameter("gen123_lane_rate_mode_hwtcl", "Gen2 (5.0 Gbps)");
    let forced = parameter("force_hrc", "1");
    let work = Work::of(&reference_net());
    edit(&work.input(BOARD), &of, &format!("{of}{forced}"));
    let report = work.sound(GEN_3);
    let not = parameter("force_hrc", "0");
    assert!(work.made(BOARD).contains(&not) && !work.made(BOARD).contains(&forced));
    let change = |c: &&Change| c.what.contains("force_hrc 1 → 0") && c.why.contains("soft reset");
    assert_eq!(report.changes.iter().filter(change).count(), 1);
    // It is done.
    let told = |note: &&String| note.contains("force_hrc");
    assert_eq!(
        report.notes.iter().filter(told).count(),
        0,
        "{:#?}",
        report.notes
    );
    finds_in(&work, BOARD, &not, &forced, "packets", "force_hrc");
    let work = Work::of(&reference_net());
    edit(&work.input(BOARD), &of, &format!("{of}{forced}"));
    let report = work.sound(STREAM);
    assert!(work.made(BOARD).contains(&forced));
    assert!(!report.notes.iter().any(|note| note.contains("cvphrcfix")));
}

/// Receivers at 8 GT/s are adapted by a block of the transceivers' controller, which Altera's driver starts (Stratix V
/// Avalon-ST Interface for PCIe 683093, "Connecting the Transceiver Reconfiguration Controller").
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
        // The driver that starts it is in, too.
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
    // Not before.
    let work = Work::of(&reference_net());
    let report = work.sound(STREAM);
    assert!(!work.made(BOARD).contains("enable_adce"));
    assert!(
        !report
            .notes
            .iter()
            .any(|note| note.contains("equalisation"))
    );
    // Outside of the system, or not there, somebody has to see to it.
    let work = Work::new();
    let report = work.sound(GEN_3);
    let to_do = &report.to_do;
    let told = |note: &&String| note.contains("enable_adce") && note.contains("no controller");
    assert_eq!(to_do.iter().filter(told).count(), 1, "{to_do:#?}");
}

/// A controller that serves others, too, has its interfaces in groups.
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
    // As many as before: nothing is to be done.
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
