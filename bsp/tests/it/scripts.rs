//! The Tcl that an extended BSP gives to Quartus, under mocks of its programs.

use std::fs;
use std::process::Command;

use crate::common::{self, Work, text};

/// The constraints, under a mock of the Timing Analyzer that knows the registers of the Verilog: with a Quartus that
/// takes the skew from a clock's period, and with one that does not.
#[test]
fn the_constraints_reach_every_synchroniser() {
    constraints_under(
        r#"proc set_max_skew {to c args} {
            if {$args eq "20"} { puts "order [llength $c]"; return }
            if {$args ne "-get_skew_value_from_clock_period src_clock_period -skew_value_multiplier 0.8"} {
                error $args
            }
            puts "skew [llength $c]"
        }"#,
        false,
    );
    constraints_under(
        r#"proc set_max_skew {to c value} {
            puts "[expr {$value == 20 ? {order} : {skew}}] [llength $c]"
        }"#,
        true,
    );
}

fn constraints_under(set_max_skew: &str, warns: bool) {
    let work = Work::new();
    work.extend("").unwrap();
    let own = work.output("iface/peerlane");
    // Each module with a first stage, and the width of that stage.
    let mut widths = Vec::new();
    for entry in fs::read_dir(&own).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        if let Some(line) = text.lines().find(|l| l.trim().ends_with(" meta_q;")) {
            let high = line
                .split(['[', ':'])
                .nth(1)
                .map_or(0, |w| w.parse::<u32>().unwrap());
            widths.push(high + 1);
        }
    }
    let buses = widths.iter().filter(|w| **w > 1).count();
    assert!(buses >= 3, "{widths:?}");
    let registers: Vec<String> = widths
        .iter()
        .enumerate()
        .flat_map(|(n, width)| {
            let bit = move |b| {
                if *width == 1 {
                    String::new()
                } else {
                    format!("[{b}]")
                }
            };
            let name = move |b| format!("{{s|peerlane_dma:d|x:sync{n}|meta_q{}}}", bit(b));
            (0..*width).map(name)
        })
        .collect();
    let stand_in = format!(
        "set all [list {} {{s|peerlane_dma:d|y|other_q}}]\n{set_max_skew}\n{}",
        registers.join(" "),
        r#"
        proc get_registers {args} {
            set pattern [string map {[ \\[ ] \\]} [lindex $args end]]
            lsearch -all -inline -glob $::all $pattern
        }
        proc get_collection_size {c} { llength $c }
        proc foreach_in_collection {v c body} { uplevel 1 [list foreach $v $c $body] }
        proc get_register_info {option r} { return $r }
        proc post_message {args} { puts "message $args" }
        proc set_max_delay {option c value} { puts "delay [llength $c]" }
        proc set_min_delay {option c value} {}
        source [lindex $argv 0]
        "#
    );
    let file = work.dir.path().join("analyzer.tcl");
    fs::write(&file, stand_in).unwrap();
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = tclsh
        .command()
        .arg(&file)
        .arg(own.join("peerlane_dma.sdc"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let mut skews: Vec<u32> = said
        .lines()
        .filter_map(|l| l.strip_prefix("skew ")?.parse().ok())
        .collect();
    let mut want: Vec<u32> = widths.iter().copied().filter(|w| *w > 1).collect();
    skews.sort_unstable();
    want.sort_unstable();
    assert_eq!(skews, want, "{said}");
    assert!(
        said.contains(&format!("delay {}", registers.len())),
        "{said}"
    );
    // The order of resets and pointers holds even if the BSP's own constraints cut the paths.
    assert!(
        said.contains(&format!("order {}", registers.len())),
        "{said}"
    );
    assert_eq!(said.contains("message -type warning"), warns, "{said}");
    assert!(!said.contains("critical"), "{said}");
}

/// A mock of Quartus.
const QUARTUS: &str = include_str!("common/quartus.tcl");

/// Runs the script of an extended BSP in a directory; returns whether it succeeded, and its output.
fn rebuild(
    work: &Work,
    place: &std::path::Path,
    words: &[&str],
    import: &str,
    fails: &str,
) -> (bool, String) {
    let file = work.dir.path().join("quartus.tcl");
    fs::write(&file, QUARTUS).unwrap();
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let mut command: Command = tclsh.command();
    command
        .current_dir(place)
        .env("IMPORT", import)
        .env("FAILS", fails);
    command
        .arg(&file)
        .arg(work.output("scripts/peerlane/rebuild.tcl"));
    let run = command.args(words).output().unwrap();
    let mut said = String::from_utf8_lossy(&run.stdout).into_owned();
    said += &String::from_utf8_lossy(&run.stderr);
    (run.status.success(), said)
}

const IMPORT: &str = "set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"system_acl_iface:acl_iface\"\n";

#[test]
fn the_script_turns_the_import_of_a_partition_on_and_off() {
    let work = Work::new();
    let verilog = "set_global_assignment -name VERILOG_FILE top.v\n";
    work.edit("top.qsf", verilog, &format!("{verilog}{IMPORT}"));
    work.extend("").unwrap();
    let compile = work.dir.path().join("compile");
    fs::create_dir(&compile).unwrap();
    let board = work.hardware(&work.out);
    let section = "-section_id system_acl_iface:acl_iface";

    assert!(
        !rebuild(&work, &compile, &["export"], "p.qxp", "").0,
        "the old partition must not be exported"
    );
    let (good, said) = rebuild(&work, &board, &["import-on", text(&compile)], "", "");
    assert!(!good && said.contains("p.qxp does not exist"), "{said}");
    let (good, said) = rebuild(&work, &compile, &["export"], "", "");
    assert!(
        good && said.contains("--incremental_compilation_export=p.qxp"),
        "{said}"
    );
    assert!(
        !said.contains("flow"),
        "there is one revision, which `aoc` compiled: {said}"
    );
    let (good, said) = rebuild(&work, &board, &["import-on", text(&compile)], "", "");
    assert!(
        good && said.contains(&format!("PARTITION_IMPORT_FILE p.qxp {section}")),
        "{said}"
    );
    assert!(board.join("p.qxp").is_file());
    let marker = board.join("scripts/peerlane/imports_on");
    assert!(marker.is_file());
    let (good, said) = rebuild(&work, &board, &["import-off"], "p.qxp", "");
    assert!(
        good && said.contains(&format!("PARTITION_NETLIST_TYPE SOURCE {section}")),
        "{said}"
    );
    assert!(!marker.exists());
    for wrong in [&["nonsense"][..], &[], &["import-on"]] {
        assert!(!rebuild(&work, &board, wrong, "", "").0);
    }
}

/// Revision "base" is compiled, and its results are collected; the first failure ends the script.
#[test]
fn the_script_compiles_the_base_revision() {
    let work = Work::of(&common::reference_net());
    work.extend("").unwrap();
    let board = work.hardware(&work.out);
    let compile = |name: &str| {
        let dir = work.dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        dir
    };
    let persona = "persona/base.root_partition.personax";

    let failed = compile("failed");
    let (good, said) = rebuild(&work, &failed, &["export"], "", "compile");
    assert!(
        !good && said.contains("timing not met") && !said.contains("binedit"),
        "{said}"
    );
    let (good, said) = rebuild(&work, &failed, &["export"], "", "persona");
    assert!(
        !good && said.contains(&format!("{persona} was not made")),
        "{said}"
    );
    assert!(!said.contains("binedit"), "{said}");
    let (good, said) = rebuild(&work, &board, &["import-on", text(&failed)], "", "");
    assert!(
        !good && said.contains("does not exist") && !said.contains("set "),
        "{said}"
    );
    let on = compile("on");
    assert!(
        !rebuild(&work, &on, &["export"], persona, "").0,
        "the old persona is still imported"
    );

    let right = compile("right");
    let (good, said) = rebuild(&work, &right, &["export"], "", "");
    assert!(
        good && said.contains("open top base\nflow -compile"),
        "{said}"
    );
    assert!(
        right.join(persona).is_file() && right.join("base.aocx").is_file(),
        "{said}"
    );
    let (good, said) = rebuild(&work, &board, &["import-on", text(&right)], "", "");
    assert!(good, "{said}");
    let import = format!("open top top\nset -name INPUT_PERSONA {persona} -section_id Top\nsave");
    assert!(said.contains(&import), "{said}");
    assert!(!said.contains("PARTITION_NETLIST_TYPE"), "{said}");
    assert!(board.join(persona).is_file() && board.join("base.aocx").is_file());
}

/// An archive that a step of the flow uses is not made again: the script says so, and the imports stay off without it.
#[test]
fn an_archive_that_the_script_does_not_make_is_asked_for() {
    let work = Work::of(&common::reference_net());
    work.append(
        "scripts/pre_flow.tcl",
        "project_restore archives/shell.qar -destination .\n",
    );
    work.put("archives/shell.qar", "compiled");
    let report = work.extend("").unwrap();
    let notes = report.to_do.join("\n");
    assert!(notes.contains("archives/shell.qar"), "{notes}");
    let readme = fs::read_to_string(work.out.join("README.md")).unwrap();
    assert!(readme.contains("archives/shell.qar"), "{readme}");
    assert!(!work.output("archives/shell.qar").exists());

    let board = work.hardware(&work.out);
    let compile = work.dir.path().join("compile");
    fs::create_dir(&compile).unwrap();
    let (good, said) = rebuild(&work, &compile, &["export"], "", "");
    assert!(
        good && said.contains("archives/shell.qar is still missing"),
        "{said}"
    );
    let on = ["import-on", text(&compile)];
    let (good, said) = rebuild(&work, &board, &on, "", "");
    assert!(
        !good && said.contains("archives/shell.qar does not exist") && !said.contains("set "),
        "{said}"
    );
    assert!(!board.join("scripts/peerlane/imports_on").exists());
    fs::create_dir(compile.join("archives")).unwrap();
    fs::write(compile.join("archives/shell.qar"), "compiled again").unwrap();
    let (good, said) = rebuild(&work, &board, &on, "", "");
    assert!(good, "{said}");
    assert_eq!(work.made("archives/shell.qar"), "compiled again");
}
