//! The real tools: each is installed (once, into the user's cache) and asked to do something.

use std::{fs, process::Command};

use peerlane_tools::{Cache, Requirements};

const GOOD: &str = "module top(input clk, input d, output reg q);\n\
                    always @(posedge clk) q <= d;\nendmodule\n";

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn verilator_lints_and_has_its_run_time() {
    let verilator = Cache::open().unwrap().verilator().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("top.v"), GOOD).unwrap();
    let mut command = verilator.command();
    command.current_dir(&directory);
    succeeds(command.args(["--lint-only", "-Wall", "top.v"]));
    assert!(verilator.include().join("verilated.h").exists());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn iverilog_compiles_and_vvp_runs() {
    let iverilog = Cache::open().unwrap().iverilog().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let source = "module t; initial begin $display(\"six times seven is %0d\", 6 * 7); $finish; \
                  end endmodule\n";
    fs::write(directory.path().join("t.v"), source).unwrap();
    let mut compile = iverilog.command();
    compile.current_dir(&directory);
    succeeds(compile.args(["-g2005", "-Wall", "-o", "t.vvp", "t.v"]));
    let said = succeeds(iverilog.vvp().current_dir(&directory).arg("t.vvp"));
    assert!(said.contains("six times seven is 42"), "{said}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn tclsh_runs_a_script() {
    let tclsh = Cache::open().unwrap().tclsh().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("t.tcl");
    fs::write(&script, "package require Tcl 8.6-\nputs [expr {6 * 7}]\n").unwrap();
    assert_eq!(succeeds(tclsh.command().arg(script)).trim(), "42");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn yosys_checks_a_design() {
    let yosys = Cache::open().unwrap().yosys().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("top.v"), GOOD).unwrap();
    let script = "read_verilog top.v; hierarchy -check -top top; proc; check -assert";
    let said = succeeds(
        yosys
            .command()
            .current_dir(&directory)
            .args(["-q", "-p", script]),
    );
    assert_eq!(said.trim(), "");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nextpnr_places_and_routes_what_yosys_made() {
    let cache = Cache::open().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("top.v"), GOOD).unwrap();
    let mut yosys = cache.yosys().unwrap().command();
    yosys.current_dir(&directory);
    succeeds(
        yosys
            .args(["-q", "-p"])
            .arg("read_verilog top.v; synth_ecp5 -noiopad -top top -json top.json"),
    );
    let mut nextpnr = cache.nextpnr().unwrap().command();
    nextpnr.current_dir(&directory);
    let said = succeeds(nextpnr.args([
        "--25k",
        "--package",
        "CABGA381",
        "--out-of-context",
        "--json",
        "top.json",
    ]));
    assert!(said.contains("Routing complete"), "{said}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_systemrdl_compiler_compiles() {
    let python = Cache::open().unwrap().python(Requirements::Rdl).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let source = "addrmap m { reg { field { sw = rw; } f[8]; } status @ 0x10; };";
    fs::write(directory.path().join("m.rdl"), source).unwrap();
    let script = "from systemrdl import RDLCompiler\n\
                  c = RDLCompiler()\n\
                  c.compile_file('m.rdl')\n\
                  print(c.elaborate().top.find_by_path('status').absolute_address)";
    let mut command = python.command();
    command.current_dir(&directory);
    assert_eq!(succeeds(command.args(["-c", script])).trim(), "16");
}

#[test]
fn a_cxx_compiler_answers() {
    let compiler = peerlane_tools::cxx().unwrap();
    assert!(!compiler.version.is_empty());
    succeeds(compiler.command().arg("--version"));
}
