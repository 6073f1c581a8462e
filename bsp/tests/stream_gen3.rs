//! Gen3 with a streaming port: what the transceivers and the reset controller need for it.

mod common;

use common::{Work, edit, finds_in, reference_net};

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
    let (to_do, _) = report.divided();
    let told = |note: &&String| {
        ["force_hrc", "quartus.ini", "cvphrcfix"]
            .iter()
            .all(|word| note.contains(word))
    };
    assert_eq!(to_do.iter().filter(told).count(), 1, "{to_do:#?}");
    finds_in(&work, BOARD, &not, &forced, "packets", "force_hrc");
    let work = Work::of(&reference_net());
    edit(&work.input(BOARD), &of, &format!("{of}{forced}"));
    let report = work.sound(STREAM);
    assert!(work.made(BOARD).contains(&forced));
    assert!(!report.notes.iter().any(|note| note.contains("cvphrcfix")));
}
