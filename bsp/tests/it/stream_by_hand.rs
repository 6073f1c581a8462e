//! Gen3 with a TLP port: the changes of `extend`, the tasks for a user, and the check's results for both.

use std::fs;

use crate::common::{Work, edit, finds_in, reference_net};
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Finding, Level, check};

const STREAM: &str = "[port]\nkind = \"tlp\"\n";
const GEN_3: &str = "[port]\nkind = \"tlp\"\ngen = 3\n";
const BOARD: &str = "board.qsys";
const SYSTEM: &str = "acl_iface_system.qsys";
const SPECIFICATION: &str = "board_spec.xml";
const DRIVER: &str = "altera_pcie_reconfig_driver";

fn findings(work: &Work) -> Vec<Finding> {
    check(&Layout::find(&work.out).unwrap()).unwrap().0
}

/// Checks that the check of a platform finds no fault.
fn is_sound(work: &Work) {
    let bad: Vec<_> = (findings(work).into_iter())
        .filter(|f| f.level == Level::Bad)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Counts the notes of the check that have all words.
fn notes(work: &Work, words: &[&str]) -> usize {
    let all = findings(work).into_iter();
    all.filter(|f| {
        f.level == Level::Note && words.iter().all(|word| f.what.to_string().contains(word))
    })
    .count()
}

/// The OpenCL SDK's automigration would force the hard reset controller again.
#[test]
fn the_fix_that_forces_it_is_excluded() {
    for (was, now) in [
        ("", "cvphrcfix"),
        ("otherfix", "otherfix,cvphrcfix"),
        ("a, cvphrcfix", "a, cvphrcfix"),
    ] {
        let work = Work::of(&reference_net());
        let exclude = |fixes: &str| format!("<exclude fixes=\"{fixes}\"/>");
        work.edit(SPECIFICATION, &exclude(""), &exclude(was));
        work.sound(GEN_3);
        let made = work.made(SPECIFICATION);
        assert!(made.contains(&exclude(now)), "{made}");
        for not in ["", "another"] {
            fs::write(work.output(SPECIFICATION), &made).unwrap();
            finds_in(
                &work,
                SPECIFICATION,
                &exclude(now),
                &exclude(not),
                "automigration",
                "cvphrcfix",
            );
        }
    }
    // If there is no element, or no list in it.
    let element = "<auto_migrate platform_type=\"auto\">\n      <include fixes=\"\"/>\n      \
                   <exclude fixes=\"\"/>\n    </auto_migrate>";
    for was in [
        "",
        "<auto_migrate platform_type=\"none\"/>",
        "<auto_migrate>\n    </auto_migrate>",
    ] {
        let work = Work::of(&reference_net());
        work.edit(SPECIFICATION, element, was);
        work.sound(GEN_3);
        let made = work.made(SPECIFICATION);
        let there = "fixes=\"cvphrcfix\"";
        assert_eq!(made.matches(there).count(), 1, "{made}");
        finds_in(
            &work,
            SPECIFICATION,
            there,
            "",
            "automigration",
            "cvphrcfix",
        );
    }
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    assert!(!work.made(SPECIFICATION).contains("cvphrcfix"));
}

/// A specification without `<compile>` may get one for this.
#[test]
fn a_place_for_the_exclusion_may_be_added() {
    let work = Work::new();
    let report = work.sound(GEN_3);
    let made = work.made(SPECIFICATION);
    assert!(!made.contains("<compile"));
    let mut told = report
        .to_do
        .iter()
        .filter(|note| note.contains("cvphrcfix"));
    let told = told.next().unwrap();
    let at = told.find("<compile><").unwrap();
    let element = &told[at..told.find("</compile>").unwrap() + "</compile>".len()];
    assert_eq!(notes(&work, &["cvphrcfix"]), 1);
    // At the beginning and at the end.
    for place in ["  <device ", "</board>"] {
        edit(
            &work.output(SPECIFICATION),
            place,
            &format!("{element}\n{place}"),
        );
        is_sound(&work);
        assert_eq!(notes(&work, &["cvphrcfix"]), 0);
        fs::write(work.output(SPECIFICATION), &made).unwrap();
    }
    // Without the fix it does not count.
    finds_in(
        &work,
        SPECIFICATION,
        "</board>",
        &format!("{}</board>", element.replace("cvphrcfix", "")),
        "automigration",
        "cvphrcfix",
    );
    // Nothing else may be added.
    fs::write(work.output(SPECIFICATION), &made).unwrap();
    finds_in(
        &work,
        SPECIFICATION,
        "</board>",
        "<compile><generate cmd=\"echo\"/></compile></board>",
        "board_spec",
        "<compile>",
    );
}

/// If the controller is in the system and has no other user, the extension adds the driver that starts the
/// equalisation, as in Altera's example (`pcie_de_gen3_x8_ast256`, ACDS 13.1).
#[test]
fn the_driver_of_the_equalisation_is_put_in() {
    let work = Work::of(&reference_net());
    let report = work.sound(GEN_3);
    let made = work.made(BOARD);
    assert_eq!(made.matches(DRIVER).count(), 1, "{made}");
    for parameter in [
        "name=\"gen123_lane_rate_mode_hwtcl\" value=\"Gen3 (8.0 Gbps)\"",
        "name=\"number_of_reconfig_interfaces\" value=\"11\"",
    ] {
        assert_eq!(made.matches(parameter).count(), 2, "{parameter}");
    }
    assert!(!report.to_do.iter().any(|note| note.contains(DRIVER)));
    assert_eq!(notes(&work, &[DRIVER]), 0);
    // Each of its connections is checked.
    let own = "pcie_reconfig_driver";
    for (what, words) in [
        ("start=\"copier.hip_status_drv\"", "hip_status_drv"),
        ("start=\"endpoint.hip_currentspeed\"", "hip_currentspeed"),
        ("end=\"lane_tuner.reconfig_mgmt\"", "reconfig_mgmt"),
        ("end=\"lane_tuner.reconfig_busy\"", "reconfig_busy"),
        ("end=\"pcie_reconfig_driver.pld_clk\"", "pld_clk"),
        (
            "end=\"pcie_reconfig_driver.reconfig_xcvr_clk\"",
            "reconfig_xcvr_clk",
        ),
        (
            "end=\"pcie_reconfig_driver.reconfig_xcvr_rst\"",
            "reconfig_xcvr_rst",
        ),
    ] {
        let at = made.find(what).unwrap_or_else(|| panic!("{what}: {made}"));
        let start = made[..at].rfind("<connection").unwrap();
        let rest = &made[start..];
        let end = [rest.find("/>"), rest.find("</connection>")];
        let short = end[0].map(|end| end + "/>".len());
        let inner = rest[..rest.find('>').unwrap()].ends_with('/');
        let end = if inner {
            short.unwrap()
        } else {
            end[1].unwrap() + "</connection>".len()
        };
        assert!(rest[..end].contains(own), "{}", &rest[..end]);
        finds_in(&work, BOARD, &rest[..end], "", "packets", words);
        fs::write(work.output(BOARD), &made).unwrap();
    }
    for (from, to, words) in [
        (
            "start=\"copier.coreclkout\"\n   end=\"pcie_reconfig_driver.pld_clk\"",
            "start=\"config_clk.out_clk\"\n   end=\"pcie_reconfig_driver.pld_clk\"",
            "pld_clk",
        ),
        (
            "name=\"number_of_reconfig_interfaces\" value=\"11\" />\n  <parameter name=\"enable_cal",
            "name=\"number_of_reconfig_interfaces\" value=\"10\" />\n  <parameter name=\"enable_cal",
            "number_of_reconfig_interfaces",
        ),
    ] {
        finds_in(&work, BOARD, from, to, "packets", words);
        fs::write(work.output(BOARD), &made).unwrap();
    }
    let work = Work::of(&reference_net());
    work.sound(STREAM);
    assert!(!work.made(BOARD).contains(DRIVER));
}

/// Another master of the controller, or another user of the link's speed, stays: a user decides.
#[test]
fn a_controller_that_is_held_is_left() {
    let connection = "<connection\n   kind=\"conduit\"\n   version=\"14.0\"\n   start=\"endpoint.reconfig_to_xcvr\"";
    for (taken, words) in [
        (
            "<module kind=\"altera_jtag_avalon_master\" version=\"14.0\" enabled=\"1\" name=\"console\" />\
             <connection kind=\"clock\" version=\"14.0\" start=\"config_clk.out_clk\" end=\"console.clk\" />\
             <connection kind=\"reset\" version=\"14.0\" start=\"power_reset.out_reset\" end=\"console.clk_reset\" />\
             <connection kind=\"avalon\" version=\"14.0\" start=\"console.master\" end=\"lane_tuner.reconfig_mgmt\">\
             <parameter name=\"baseAddress\" value=\"0x0\" /></connection>",
            "console.master",
        ),
        (
            "<interface name=\"tuner\" internal=\"lane_tuner.reconfig_mgmt\" type=\"avalon\" dir=\"end\" />",
            "exported as tuner",
        ),
    ] {
        let work = Work::of(&reference_net());
        let begin = fs::read_to_string(work.input(BOARD)).unwrap();
        let begin = begin.replacen(connection, &format!("{taken}\n {connection}"), 1);
        assert!(begin.contains(taken));
        fs::write(work.input(BOARD), begin).unwrap();
        let report = work
            .extend(GEN_3)
            .unwrap_or_else(|e| panic!("{}", e.paragraph()));
        assert!(!work.made(BOARD).contains(DRIVER));
        let told = report.to_do.iter();
        let told = told.filter(|note| note.contains(DRIVER) && note.contains(words));
        assert_eq!(told.count(), 1, "{:#?}", report.to_do);
        assert_eq!(notes(&work, &[DRIVER]), 1);
    }
}

/// A driver that a user adds by the report is right, and its note disappears.
#[test]
fn a_driver_that_a_person_puts_in_is_right() {
    let work = Work::new();
    let report = work.sound(GEN_3);
    let to_do = &report.to_do;
    for word in [
        "reconfig_xcvr_clk",
        "reconfig_xcvr_rst",
        "reconfig_mgmt",
        "reconfig_busy",
        "hip_currentspeed",
        "dma_engine.hip_status_drv",
        "dma_engine.coreclkout",
        "Gen3 (8.0 Gbps)",
        "number_of_reconfig_interfaces",
        "through every system",
    ] {
        let has = |note: &&String| note.contains(DRIVER) && note.contains(word);
        assert_eq!(to_do.iter().filter(has).count(), 1, "{word}: {to_do:#?}");
    }
    assert_eq!(notes(&work, &[DRIVER]), 1);
    let made = work.made(SYSTEM);
    // Returns the start of the connection to an end.
    let start_of = |end: &str| {
        let (before, _) = made.split_once(&format!("end=\"{end}\"")).unwrap();
        let (_, start) = before.rsplit_once("start=\"").unwrap();
        start.split('"').next().unwrap()
    };
    let (clock, reset) = (start_of("dma_engine.clk"), start_of("dma_engine.reset"));
    let mut text = format!(
        "<module kind=\"{DRIVER}\" version=\"1.0\" enabled=\"1\" name=\"starter\">\
         <parameter name=\"gen123_lane_rate_mode_hwtcl\" value=\"Gen3 (8.0 Gbps)\" />\
         <parameter name=\"number_of_reconfig_interfaces\" value=\"11\" /></module>\
         <module kind=\"alt_xcvr_reconfig\" version=\"13.1\" enabled=\"1\" name=\"tuner\">\
         <parameter name=\"number_of_reconfig_interfaces\" value=\"11\" />\
         <parameter name=\"enable_adce\" value=\"1\" /></module>"
    );
    for (kind, start, end) in [
        ("clock", clock, "tuner.mgmt_clk_clk"),
        ("clock", clock, "starter.reconfig_xcvr_clk"),
        ("reset", reset, "tuner.mgmt_rst_reset"),
        ("reset", reset, "starter.reconfig_xcvr_rst"),
        ("clock", "dma_engine.coreclkout", "starter.pld_clk"),
        ("avalon", "starter.reconfig_mgmt", "tuner.reconfig_mgmt"),
        ("conduit", "starter.reconfig_busy", "tuner.reconfig_busy"),
        (
            "conduit",
            "dma_engine.hip_status_drv",
            "starter.hip_status_drv",
        ),
        (
            "conduit",
            "host_link.hip_currentspeed",
            "starter.hip_currentspeed",
        ),
    ] {
        text += &format!(
            "<connection kind=\"{kind}\" version=\"13.1\" start=\"{start}\" end=\"{end}\" />"
        );
    }
    edit(
        &work.output(SYSTEM),
        "</system>",
        &format!("{text}</system>"),
    );
    is_sound(&work);
    assert_eq!(notes(&work, &[DRIVER, "not"]), 0);
    // An undefined kind is still a fault, with a hint for a file of the BSP's own.
    edit(&work.output(SYSTEM), DRIVER, "some_driver");
    let all = findings(&work);
    let bad = |f: &&Finding| f.level == Level::Bad && f.what.to_string().contains("some_driver");
    assert!(
        all.iter().any(|f| bad(&f) && f.test == "hierarchy"),
        "{all:#?}"
    );
}
