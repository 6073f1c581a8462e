//! Pipeline stages of the interconnect, on which the order of chained transfers depends.

use std::fs;
use std::path::Path;

use crate::common::faults::{faults, notes, proved};
use crate::common::{self, Work, reference, reference_net};
use peerlane_bsp::board::{Description, Options, make};

const VENDOR: &str = "interconnect_stages = \"vendor\"";
const TEST: &str = "memory order";
const LIMIT: &str = "for=\"$system\" name=\"qsys_mm.maxAdditionalLatency\" value=\"";

fn system_of(bsp: &Path) -> &'static str {
    match bsp.ends_with("reference") {
        true => "acl_iface_system.qsys",
        false => "board.qsys",
    }
}

/// Returns the lines that differ.
fn differences(before: &str, after: &str) -> Vec<String> {
    let old: Vec<&str> = before.lines().collect();
    let new = after.lines().filter(|line| !old.contains(line));
    new.map(str::to_string).collect()
}

#[test]
fn the_limit_is_set_where_it_is_asked_for() {
    for bsp in [reference(), reference_net()] {
        let system = system_of(&bsp);
        let (kept, set) = (Work::of(&bsp), Work::of(&bsp));
        kept.sound(VENDOR);
        let report = set.sound("");
        assert_eq!(
            differences(&kept.made(system), &set.made(system)),
            [
                " <parameter name=\"maxAdditionalLatency\" value=\"0\" />".to_string(),
                format!(" <interconnectRequirement {LIMIT}0\" />"),
            ]
        );
        let told = |report: &peerlane_bsp::extend::report::Report| {
            let mut changes = report.changes.iter();
            changes.any(|change| change.what == "qsys_mm.maxAdditionalLatency 2 → 0")
        };
        assert!(told(&report));
        assert!(proved(&set).iter().any(|(test, _)| *test == TEST));
        assert!(!common::told(&report).any(|note| note.contains("interconnect_stages")));
    }
}

/// The design's requirement on the interconnect comes first in the report.
#[test]
fn a_limit_that_is_too_high_is_said_first() {
    for (config, words) in [
        (VENDOR, "up to 2 pipeline stages"),
        ("interconnect_stages = 1", "up to 1 pipeline stages"),
    ] {
        let work = Work::new();
        let report = work.sound(config);
        let to_do = &report.to_do;
        assert!(to_do[0].contains(words), "{to_do:#?}");
        assert!(
            to_do[0].contains("dma_engine.mem_wr") && to_do[0].contains("interconnect_stages = 0")
        );
        let said = notes(&work);
        assert!(
            said.iter()
                .any(|(test, what)| *test == TEST && what.contains("interconnect_stages = 0")),
            "{said:#?}"
        );
    }
}

#[test]
fn a_system_without_a_limit() {
    for eol in ["\n", "\r\n"] {
        let work = Work::new();
        let system = system_of(&reference());
        let limit = format!(" <interconnectRequirement {LIMIT}2\" />\n");
        work.edit(system, &limit, "");
        let path = work.input(system);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace('\n', eol)).unwrap();
        work.sound("interconnect_stages = 0");
        let made = work.made(system);
        assert!(
            made.contains(&format!(
                " <interconnectRequirement {LIMIT}0\" />{eol}</system>"
            )),
            "{made}"
        );
        assert_eq!(made.matches('\n').count(), made.matches(eol).count());
        let work = Work::new();
        work.edit(system, &limit, "");
        let report = work.sound(VENDOR);
        assert!(
            report.to_do[0].contains("sets no limit"),
            "{}",
            report.to_do[0]
        );
    }
}

#[test]
fn another_limit_than_the_one_asked_for_is_found() {
    let work = Work::new();
    work.extend("interconnect_stages = 0").unwrap();
    let system = work.output(system_of(&reference()));
    for to in ["4\"", "\"", "none\""] {
        let before = fs::read_to_string(&system).unwrap();
        common::edit(&system, &format!("{LIMIT}0\""), &format!("{LIMIT}{to}"));
        let found = faults(&work);
        fs::write(&system, before).unwrap();
        assert!(
            found.iter().any(|(test, what)| *test == TEST
                && what.contains("interconnect_stages = 0 was configured")),
            "{to}: {found:#?}"
        );
    }
}

/// A new board has no stages in the system with the block, and at most two in the top system.
#[test]
fn a_new_board_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    make(&Options {
        description: Description::find(Path::new("de5net")).unwrap(),
        out: out.clone(),
        pins: None,
        config: common::txs(),
    })
    .unwrap();
    let read =
        |file: &str| fs::read_to_string(out.join("hardware/de5net_peerlane").join(file)).unwrap();
    assert!(read("board.qsys").contains(&format!("{LIMIT}0\"")));
    assert!(read("system.qsys").contains(&format!("{LIMIT}2\"")));
}
