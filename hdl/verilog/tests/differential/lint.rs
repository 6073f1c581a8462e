//! Every file through Verilator `-Wall`, Icarus `-Wall` and Yosys, as Verilog-2005.

use std::fs;
use std::process::Command;

use peerlane_tools::Cache;

type DesignFiles = (String, Vec<(String, String)>);

/// The only lint message that the emitter may waive, and does so by name.
const WAIVED: &str = "UNUSEDSIGNAL";

fn quiet(command: &mut Command, what: &str) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(
        output.status.success() && text.trim().is_empty(),
        "{what}\n{command:?}\n{text}"
    );
}

pub fn all(cache: &Cache, designs: &[DesignFiles]) {
    let (verilator, icarus) = (cache.verilator().unwrap(), cache.iverilog().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut script = String::new();
    for (top, files) in designs {
        let directory = directory.path().join(top);
        fs::create_dir(&directory).unwrap();
        for (name, text) in files {
            check_waivers(name, text);
            fs::write(directory.join(format!("{name}.v")), text).unwrap();
        }
        let sources: Vec<_> = files
            .iter()
            .map(|f| directory.join(format!("{}.v", f.0)))
            .collect();
        // Chance makes comparisons like `x - x < y`, which Verilator sees through.
        let chance: &[&str] = if top.starts_with("Random") {
            &["-Wno-UNSIGNED"]
        } else {
            &[]
        };
        // Not `--lint-only`: loops (UNOPTFLAT) are found after the lint.
        quiet(
            verilator
                .command()
                .args([
                    "--quiet",
                    "--cc",
                    "-Wall",
                    "--language",
                    "1364-2005",
                    "--Mdir",
                ])
                .arg(directory.join("obj"))
                .args(chance)
                .args(["--top-module", top])
                .args(&sources),
            top,
        );
        quiet(
            icarus
                .command()
                .args(["-g2005", "-Wall", "-tnull", "-s", top])
                .args(&sources),
            top,
        );
        script.push_str(&yosys_script(top));
    }
    fs::write(directory.path().join("check.ys"), script).unwrap();
    // It runs in a sandbox which has the current directory only.
    quiet(
        cache
            .yosys()
            .unwrap()
            .command()
            .current_dir(directory.path())
            .args(["-q", "-e", ".*", "-s", "check.ys"]),
        "Yosys",
    );
}

fn yosys_script(top: &str) -> String {
    format!(
        "design -reset\nread_verilog {top}/*.v\nhierarchy -check -top {top}\nproc\ncheck -assert\n"
    )
}

/// Each waiver names the one message allowed, and has its reason above it.
fn check_waivers(name: &str, text: &str) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(message) = line.strip_prefix("// verilator lint_off ") {
            assert_eq!(message, WAIVED, "{name}");
            assert!(
                lines[at - 1].starts_with("// Nothing in this module reads"),
                "{name}"
            );
            assert_eq!(lines[at + 2], "// verilator lint_on UNUSEDSIGNAL", "{name}");
        }
    }
}
