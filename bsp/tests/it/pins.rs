//! Device, pins and timing constraints of an extended BSP are the vendor's; the check compares them itself.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::faults::{Planted, faults, notes, proved};
use crate::common::{self, Work, reference_net};

const TEST: &str = "pins and constraints";
const PINS: &str = "pins/pins.tcl";

/// Makes a BSP with pins in a revision, in a file that both revisions source by a link, and in a loop.
fn net() -> Work {
    let work = Work::of(&reference_net());
    work.put(
        PINS,
        "set bank AB\nset_location_assignment PIN_${bank}1 -to led[0]\nset_location_assignment PIN_AB2 -to {led[1]}\n\
         foreach port {a b} {\n  set_instance_assignment -name IO_STANDARD \"1.5 V\" -to $port\n}\n\
         set_instance_assignment -name IO_STANDARD LVDS -to pcie_refclk\n\
         if {[info exists fast]} {\n  set_instance_assignment -name CURRENT_STRENGTH_NEW 8MA -to led\n}\n",
    );
    symlink("pins/pins.tcl", work.input("link.tcl")).unwrap();
    for revision in ["top.qsf", "base.qsf"] {
        work.append(
            revision,
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE link.tcl\n",
        );
    }
    work.append(
        "top.qsf",
        "set_location_assignment PIN_C3 -to config_clk\nset_instance_assignment -name GLOBAL_SIGNAL OFF -to \"a|b\"\n",
    );
    work.append(
        "top.sdc",
        "\nset_clock_groups -asynchronous \\\n  -group { a \\\n  b } \\\n  -group [get_clocks {c|*}]\n\
         set_false_path -to [get_keepers {*|copier|core|x}]\n",
    );
    work
}

fn extended() -> Work {
    let work = net();
    work.sound("");
    work
}

#[test]
fn all_of_them_are_the_vendors() {
    let work = extended();
    let said = proved(&work);
    let found = said.iter().find(|(test, _)| *test == TEST);
    // Of each revision 2 of the device, 3 of partitions, 2 locations and 3 of pins; of one 2 more.
    let (_, what) = found.unwrap_or_else(|| panic!("{said:?}"));
    assert!(
        what.starts_with("22 settings") && what.contains("2 files"),
        "{what}"
    );
}

#[test]
fn what_is_lost_or_changed_is_found() {
    let mut planted = Planted::new(extended());
    let mut fault = |name: &str, file: &str, from: &str, to: &str, words: &str| {
        let change = |s: String| {
            assert!(s.contains(from), "no {from:?}");
            s.replacen(from, to, 1)
        };
        planted.fault(name, file, change, (TEST, words));
    };
    for (name, file, from, to, words) in [
        (
            "another device",
            "top.qsf",
            "5SGXEA7N2F45C2",
            "5SGXEA7N2F45C1",
            "DEVICE is \"5SGXEA7N2F45C1\"; in the vendor's BSP it is \"5SGXEA7N2F45C2\"",
        ),
        (
            "another family",
            "base.qsf",
            "FAMILY \"Stratix V\"",
            "FAMILY \"Arria V GZ\"",
            "FAMILY is \"Arria V GZ\"",
        ),
        (
            "a second device",
            "top.qsf",
            "set_location_assignment PIN_C3",
            "set_global_assignment -name DEVICE 5SGXMA7H2F35C2\nset_location_assignment PIN_C3",
            "DEVICE is \"5SGXMA7H2F35C2\"",
        ),
        (
            "a missing pin",
            "top.qsf",
            "set_location_assignment PIN_C3 -to config_clk\n",
            "",
            "the location of config_clk (\"PIN_C3\") of the vendor's top.qsf:",
        ),
        (
            "a pin in a remark",
            "top.qsf",
            "set_location_assignment PIN_C3",
            "# set_location_assignment PIN_C3",
            "the location of config_clk (\"PIN_C3\")",
        ),
        (
            "a pin that may not be set",
            "top.qsf",
            "set_location_assignment PIN_C3 -to config_clk",
            "if {$a} {set_location_assignment PIN_C3 -to config_clk}",
            "the location of config_clk (\"PIN_C3\") is set only under a condition",
        ),
        (
            "pins after the end",
            "top.qsf",
            "set_location_assignment PIN_C3",
            "return\nset_location_assignment PIN_C3",
            "is set only under a condition",
        ),
        (
            "another pin in a sourced file",
            PINS,
            "PIN_AB2 -to {led[1]}",
            "PIN_AB3 -to {led[1]}",
            "the location of led[1] is \"PIN_AB3\"; in the vendor's BSP it is \"PIN_AB2\"",
        ),
        (
            "another pin by a variable",
            PINS,
            "set bank AB",
            "set bank AC",
            "the location of led[0] is \"PIN_AC1\"",
        ),
        (
            "another standard in a loop",
            PINS,
            "\"1.5 V\"",
            "\"1.8 V\"",
            "IO_STANDARD of $port is \"1.8 V\"",
        ),
        (
            "a standard that is overridden",
            "top.qsf",
            "set_location_assignment PIN_C3",
            "set_instance_assignment -name io_standard HCSL -to pcie_refclk\nset_location_assignment PIN_C3",
            "IO_STANDARD of pcie_refclk is \"HCSL\"; in the vendor's BSP it is \"LVDS\"",
        ),
        (
            "a missing condition",
            PINS,
            "CURRENT_STRENGTH_NEW 8MA",
            "CURRENT_STRENGTH_NEW 4MA",
            "CURRENT_STRENGTH_NEW of led is \"4MA\"",
        ),
        (
            "a cell's setting",
            "top.qsf",
            "GLOBAL_SIGNAL OFF",
            "GLOBAL_SIGNAL ON",
            "GLOBAL_SIGNAL of a|b is \"ON\"",
        ),
        (
            "all removed again",
            "top.qsf",
            "set_location_assignment PIN_C3",
            "remove_all_instance_assignments -name IO_STANDARD -to *\nset_location_assignment PIN_C3",
            "removes settings",
        ),
        (
            "one removed again",
            "base.qsf",
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE link.tcl",
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE link.tcl\n\
             set_location_assignment PIN_AB2 -to led[1] -remove",
            "removes settings",
        ),
        (
            "the file with the pins not included",
            "base.qsf",
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE link.tcl",
            "",
            "of the vendor's pins/pins.tcl:2 is missing",
        ),
        (
            "constraints not included",
            "base.qsf",
            "set_global_assignment -name SDC_FILE top_post.sdc\n",
            "",
            "the constraints top_post.sdc of the vendor's BSP are not included any more",
        ),
        (
            "constraints in another order",
            "top.qsf",
            "set_global_assignment -name SDC_FILE top.sdc\nset_global_assignment -name SDC_FILE top_post.sdc\n",
            "set_global_assignment -name SDC_FILE top_post.sdc\nset_global_assignment -name SDC_FILE top.sdc\n",
            "are not included in the vendor's order",
        ),
        (
            "a clock of another period",
            "top.sdc",
            "-period 10.000 [get_ports pcie_refclk]",
            "-period 100.000 [get_ports pcie_refclk]",
            "\"create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk]\" of the vendor's top.sdc:6 is \
             missing",
        ),
        (
            "clock groups that lost one",
            "top.sdc",
            "a \\\n  b }",
            "a }",
            "\"set_clock_groups -asynchronous -group a b -group [get_clocks {c|*}]\" of the vendor's top.sdc:",
        ),
        (
            "a constraint in a remark",
            "top.sdc",
            "derive_pll_clocks",
            "# derive_pll_clocks",
            "\"derive_pll_clocks\" of the vendor's top.sdc:7 is missing",
        ),
        (
            "constraints after the end",
            "top.sdc",
            "create_clock -name config_clk",
            "return\ncreate_clock -name config_clk",
            "create_clock -name config_clk",
        ),
    ] {
        fault(name, file, from, to, words);
    }
    planted.all_were_found();
}

/// Of many differences some are listed, and the others are counted.
#[test]
fn many_differences_are_summed_up() {
    let work = net();
    let pins: String = (0..100)
        .map(|n| format!("set_location_assignment PIN_{n} -to dq[{n}]\n"))
        .collect();
    work.append("top.qsf", &pins);
    work.sound("");
    common::edit(&work.output("top.qsf"), &pins, "");
    let found = faults(&work);
    let found: Vec<_> = found.iter().filter(|(test, _)| *test == TEST).collect();
    assert_eq!(found.len(), 13, "{found:#?}");
    assert!(found[12].1.starts_with("88 more settings"), "{found:#?}");
}

/// Changes that the extension recommends, and those that Quartus itself makes to a settings file, are not faults.
#[test]
fn what_may_differ() {
    let work = extended();
    let path = work.output("top.qsf");
    let text = fs::read_to_string(&path).unwrap();
    // The same settings in another order and spelling, without the remarks, as `export_assignments` writes them.
    let mut lines: Vec<String> = (text.lines())
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.replace(
                "PIN_C3 -to config_clk",
                "-to \"config_clk\" {PIN_C3} -tag x",
            )
        })
        .collect();
    let at = lines.iter().position(|l| l.contains("PIN_C3")).unwrap();
    let pin = lines.remove(at);
    lines.insert(2, pin);
    lines.push("set_global_assignment -name LL_WIDTH 120 -section_id board_region".into());
    lines.push("set_instance_assignment -name IO_STANDARD LVDS -to new_port".into());
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    common::edit(
        &work.output("top.sdc"),
        "set_false_path -to [get_keepers {*|copier|core|x}]\n",
        "set_false_path -to [get_ports new_port]  ;# mine\n",
    );
    assert_eq!(faults(&work), []);
    let said = notes(&work);
    let has = |words: &str| {
        said.iter()
            .any(|(test, what)| *test == TEST && what.contains(words))
    };
    assert!(has("it names copier"), "{said:#?}");
    assert!(
        has("\"set_false_path -to [get_ports new_port]\" is not a constraint of the vendor's BSP"),
        "{said:#?}"
    );
}
