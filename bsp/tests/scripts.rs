//! The Tcl that an extended BSP gives to Quartus, under stand-ins for its programs.

mod common;

use std::fs;
use std::process::Command;

use common::Work;

/// The constraints, under a stand-in for the Timing Analyzer that knows the registers of the Verilog: of a
/// Quartus that takes the skew from a clock's period, and of one that does not.
#[test]
fn the_constraints_reach_every_synchroniser() {
    constraints_under(
        r#"proc set_max_skew {to c args} {
            if {$args ne "-get_skew_value_from_clock_period src_clock_period -skew_value_multiplier 0.8"} {
                error $args
            }
            puts "skew [llength $c]"
        }"#,
        false,
    );
    constraints_under(
        r#"proc set_max_skew {to c value} { puts "skew [llength $c]" }"#,
        true,
    );
}

fn constraints_under(set_max_skew: &str, warns: bool) {
    let work = Work::new();
    work.extend("").unwrap();
    let own = work.output("iface/peerlane");
    // Each module with a first stage, and how wide that is.
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
    assert_eq!(said.contains("message -type warning"), warns, "{said}");
    assert!(!said.contains("critical"), "{said}");
}

/// The script that rebuilds the partition, under a stand-in for Quartus: it may use only commands that
/// Quartus has, and does what it says.
#[test]
fn the_partition_script_turns_the_import_on_and_off() {
    let work = Work::new();
    work.edit(
        "top.qsf",
        "set_global_assignment -name VERILOG_FILE top.v\n",
        "set_global_assignment -name VERILOG_FILE top.v\n\
         set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id \"system_acl_iface:acl_iface\"\n",
    );
    work.extend("").unwrap();
    let script = work.output("scripts/peerlane/partition.tcl");
    let stand_in = "package provide ::quartus::project 1.0\npackage provide ::quartus::flow 1.0\n\
        proc project_open {p} { puts \"open $p\" }\nproc project_close {} { puts close }\n\
        proc export_assignments {} { puts export }\nproc post_message {m} {}\n\
        proc set_global_assignment {args} { puts \"set $args\" }\n\
        proc get_global_assignment {args} { return $::env(IMPORT) }\n\
        proc execute_module {args} { puts \"module $args\" }\n\
        array set quartus [list args [list [lindex $argv 1]]]\nsource [lindex $argv 0]\n";
    let file = work.dir.path().join("stand_in.tcl");
    fs::write(&file, stand_in).unwrap();
    let run = |what: &str, import: &str| {
        let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
        let mut command: Command = tclsh.command();
        command
            .current_dir(work.hardware(&work.out))
            .env("IMPORT", import);
        let run = command.arg(&file).arg(&script).arg(what).output().unwrap();
        (
            run.status.success(),
            String::from_utf8_lossy(&run.stdout).into_owned(),
        )
    };
    let section = "-section_id system_acl_iface:acl_iface";
    let (good, said) = run("export", "");
    assert!(
        good && said.contains("--incremental_compilation_export=p.qxp"),
        "{said}"
    );
    assert!(
        !run("export", "p.qxp").0,
        "the old partition must not be exported again"
    );
    assert!(!run("import-on", "").0, "there is no file to import yet");
    fs::write(work.output("p.qxp"), b"new").unwrap();
    let (good, said) = run("import-on", "");
    assert!(
        good && said.contains(&format!("PARTITION_IMPORT_FILE p.qxp {section}")),
        "{said}"
    );
    let (good, said) = run("import-off", "p.qxp");
    assert!(
        good && said.contains(&format!("PARTITION_NETLIST_TYPE SOURCE {section}")),
        "{said}"
    );
    assert!(!run("nonsense", "").0);
}
