//! Members of LogicLock regions by patterns and in entities, and bridges in the wrong region.

use crate::common::faults::{Planted, faults, notes};
use crate::common::{Work, reference_net};

const WAY: &str = "system:system_inst|system_board:board|";
const REVISIONS: [&str; 2] = ["base.qsf", "top.qsf"];

fn net() -> Work {
    Work::of(&reference_net())
}

/// Returns the lines of a settings file with members that name an instance.
fn members(work: &Work, file: &str, instance: &str) -> Vec<String> {
    let text = work.made(file);
    let lines = text
        .lines()
        .filter(|line| line.contains("LL_MEMBER_OF") && line.contains(instance));
    lines.map(str::to_string).collect()
}

#[test]
fn members_by_patterns_follow_the_block() {
    let dma = "system_board_copier:copier\"";
    for way in [
        "system:system_inst|*|",
        "system:*|b?ard|",
        "*d|",
        "system:sys*board|",
    ] {
        let work = net();
        for revision in REVISIONS {
            work.edit(revision, &format!("{WAY}{dma}"), &format!("{way}{dma}"));
        }
        work.sound("");
        for revision in REVISIONS {
            let found = members(&work, revision, ":copier");
            assert!(
                found.len() == 1 && found[0].contains(&format!("\"{way}peerlane_dma:copier\"")),
                "{way}: {found:#?}"
            );
        }
    }
}

#[test]
fn members_in_an_entity_follow_the_block() {
    let whole = format!("\"{WAY}system_board_copier:copier\"");
    for (entity, path) in [
        ("system_board", "system_board_copier:copier"),
        ("board", "copier"),
        ("system", "system_board:board|system_board_copier:copier"),
    ] {
        let work = net();
        for revision in REVISIONS {
            work.edit(revision, &whole, &format!("\"{path}\" -entity {entity}"));
        }
        work.sound("");
        let want = path.replace("system_board_copier:", "peerlane_dma:");
        for revision in REVISIONS {
            let found = members(&work, revision, "-entity");
            assert!(found[0].contains(&format!("\"{want}\"")), "{found:#?}");
        }
    }
}

/// The new bridge gets the region of the instance that it leads to, in any form of that member.
#[test]
fn a_new_bridge_has_a_region() {
    // Its member is in a script that computes the way.
    let work = net();
    for revision in REVISIONS {
        let line = format!("-to \"{WAY}altera_avalon_mm_bridge:host_pipe\"");
        work.edit(
            revision,
            &line,
            "-to \"${at}altera_avalon_mm_bridge:host_pipe\"",
        );
        work.edit(
            revision,
            "# The board has a place",
            &format!("set at \"{WAY}\"\n# The board has a place"),
        );
    }
    work.sound("");
    for revision in REVISIONS {
        let found = members(
            &work,
            revision,
            "\"${at}altera_avalon_mm_bridge:peerlane_bar0\"",
        );
        assert_eq!(found.len(), 1, "{}", work.made(revision));
    }
}

#[test]
fn a_bridge_in_the_wrong_region_is_found() {
    let work = net();
    work.extend("").unwrap();
    let mut planted = Planted::new(work);
    let bridge = format!("{WAY}altera_avalon_mm_bridge:peerlane_bar0");
    let block = format!("{WAY}peerlane_dma:copier");
    let moved = |path: &str| {
        let (from, to) = (
            format!("board_region -to \"{path}\" -section_id board_region"),
            format!("other -to \"{path}\" -section_id other"),
        );
        move |s: String| s.replace(&from, &to)
    };
    let without = |s: String| {
        let stays = |line: &&str| !line.contains("peerlane_bar0");
        s.lines()
            .filter(stays)
            .map(|line| format!("{line}\n"))
            .collect()
    };
    let in_none =
        "peerlane_bar0 is in no LogicLock region, but host_pipe after it is in board_region";
    planted.fault("no member", "top.qsf", without, ("regions", in_none));
    let renamed = |s: String| s.replace("bridge:peerlane_bar0", "bridge:peerlane_bar1");
    planted.fault("another name", "base.qsf", renamed, ("regions", in_none));
    planted.fault(
        "another region",
        "base.qsf",
        moved(&bridge),
        (
            "regions",
            "peerlane_bar0 is in the LogicLock region other, but no instance after it is",
        ),
    );
    planted.fault(
        "another entity",
        "top.qsf",
        |s| {
            s.replace(
                "altera_avalon_mm_bridge:peerlane_bar0",
                "altera_avalon_mm_pipe:peerlane_bar0",
            )
        },
        (
            "regions",
            "has the entity altera_avalon_mm_bridge, not altera_avalon_mm_pipe",
        ),
    );
    planted.fault(
        "the block in another region",
        "base.qsf",
        moved(&block),
        ("regions", "copier is in the LogicLock region other of revision base, but the old DMA was in board_region"),
    );
    for (name, path) in [
        (
            "a pattern",
            "system:system_inst|*|system_board_copier:copier".to_string(),
        ),
        (
            "half a pattern",
            "system:sys*board|system_board_copier:copier".to_string(),
        ),
        (
            "in an entity",
            "system_board_copier:copier\" -entity \"system_board".to_string(),
        ),
        (
            "a removed bridge in an entity",
            "x:cross_control\" -entity \"board".to_string(),
        ),
    ] {
        let line = format!(
            "set_instance_assignment -name LL_MEMBER_OF board_region -to \"{path}\" -section_id board_region\n"
        );
        planted.fault(
            name,
            "top.qsf",
            |s| s + &line,
            ("regions", "is a member of a region"),
        );
    }
    planted.all_were_found();
}

/// A bridge on a BAR whose first slave is removed takes that slave's place.
#[test]
fn a_bridge_takes_the_place_of_one_that_goes() {
    let work = net();
    // The control registers are directly on the BAR, through the crossing.
    let text = std::fs::read_to_string(work.input("board.qsys")).unwrap();
    let text = text.replace(
        "start=\"host_pipe.m0\"\n   end=\"cross_control.s0\"",
        "start=\"endpoint.Rxm_BAR0\"\n   end=\"cross_control.s0\"",
    );
    let text = text.replacen("value=\"0xc800\"", "value=\"0x04000000\"", 1);
    std::fs::write(work.input("board.qsys"), text).unwrap();
    match work.extend("") {
        Ok(_) => {
            assert_eq!(faults(&work), []);
            assert_eq!(members(&work, "top.qsf", ":peerlane_bar0").len(), 1);
        }
        Err(error) => panic!("{}", error.paragraph()),
    }
}

/// Regions of several rectangles, as Quartus writes them after the import of a partition (the public 13.1 BSP of the
/// DE5-Net has one).
#[test]
fn regions_of_several_rectangles_are_measured() {
    let sides = "set_global_assignment -name LL_ORIGIN X0_Y1 -section_id board_region\n\
                 set_global_assignment -name LL_WIDTH 116 -section_id board_region\n\
                 set_global_assignment -name LL_HEIGHT 24 -section_id board_region\n";
    let with = |rectangles: [(u32, u32); 2]| {
        let lines: String = (rectangles.iter())
            .map(|(width, height)| {
                format!(
                    "set_global_assignment -name LL_RECT X0_Y17 -width {width} -height {height} -section_id \
                     board_region -tag \"QXP_IMPORT_board\"\n"
                )
            })
            .collect();
        let work = net();
        for revision in REVISIONS {
            work.edit(revision, sides, &lines);
        }
        let report = work.sound("");
        for revision in REVISIONS {
            assert_eq!(members(&work, revision, "peerlane_dma:copier").len(), 1);
            assert!(members(&work, revision, "system_board_copier").is_empty());
        }
        let said = notes(&work);
        let of_check = said
            .into_iter()
            .find(|(test, what)| *test == "regions" && what.contains("at most"));
        let mut all = report.to_do.iter();
        let of_report = all.find(|note| note.contains("LogicLock region board_region"));
        let of_report = of_report.cloned().unwrap();
        // Every line that is named is a line of the project.
        for revision in REVISIONS {
            let text = std::fs::read_to_string(work.input(revision)).unwrap();
            for (index, line) in text.lines().enumerate() {
                let named = of_report.contains(&format!("{revision}:{},", index + 1))
                    || of_report.contains(&format!("{revision}:{}.", index + 1));
                assert_eq!(named, line.contains("LL_RECT"), "{line}: {of_report}");
            }
        }
        let text = std::fs::read_to_string(work.out.join("peerlane-report.md")).unwrap();
        assert!(text.contains("nlarge a rectangle of "), "{text}");
        assert!(
            !text.contains("LL_WIDTH") && !text.contains("<new>"),
            "{text}"
        );
        (of_report, of_check.map(|(_, what)| what))
    };
    let (room, found) = with([(116, 12), (100, 10)]);
    assert!(
        room.contains("(116 × 12 and 100 × 10, LOCKED") && room.contains("has 2392 places"),
        "{room}"
    );
    assert_eq!(found, None);
    let (small, found) = with([(5, 4), (3, 2)]);
    assert!(
        small.contains("too small for the block: its rectangles (LL_RECT) need at least"),
        "{small}"
    );
    let found = found.unwrap();
    assert!(
        found.contains("of 5 × 4 and 3 × 2 has at most 260 ALMs")
            && found.contains("enlarge its rectangles"),
        "{found}"
    );
}
