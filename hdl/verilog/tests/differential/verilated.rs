//! One Verilated model of all cases, run as a program over a file of vectors.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use peerlane_tools::{Cache, cxx};

use crate::bits::unpack;
use crate::{Case, pack};

/// Reads vectors, drives all inputs at once, writes all outputs, then clocks once.
const PROGRAM: &str = r#"
#include "Vcorpus.h"
#include "verilated.h"
#include <cstdio>
#include <cstring>
int main(int, char** argv) {
    Vcorpus top;
    FILE* in = std::fopen(argv[1], "rb");
    FILE* out = std::fopen(argv[2], "wb");
    if (!in || !out) return 1;
    top.clk = 0;
    while (std::fread(&top.in[0], 4, sizeof(top.in) / 4, in) == sizeof(top.in) / 4) {
        top.eval();
        std::fwrite(&top.out[0], 4, sizeof(top.out) / 4, out);
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
    }
    top.final();
    return std::fclose(out);
}
double sc_time_stamp() { return 0; }
"#;

/// Runs a command and fails the test with all that it printed.
pub fn succeed(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A module with all cases in it, and two wide ports.
fn corpus(cases: &[Case]) -> String {
    let mut body = String::new();
    let (mut input, mut output) = (0, 0);
    let bits = |at: &mut usize, width: usize| {
        *at += width;
        format!("[{}:{}]", *at - 1, *at - width)
    };
    for case in cases {
        let mut pins: Vec<String> = case
            .inputs
            .iter()
            .map(|(port, width)| format!(".{port}(in{})", bits(&mut input, *width)))
            .collect();
        for (port, width) in &case.outputs {
            pins.push(format!(".{port}(out{})", bits(&mut output, *width)));
        }
        if case.clocked {
            pins.push(".clock(clk)".into());
        }
        writeln!(
            body,
            "  {} u_{} ({});",
            case.name,
            case.name,
            pins.join(", ")
        )
        .unwrap();
    }
    format!(
        "module corpus (input wire clk, input wire [{}:0] in, output wire [{}:0] out);\n{body}endmodule\n",
        input - 1,
        output - 1
    )
}

/// Builds the model and fills the mismatches of the cases in.
pub fn run(cache: &Cache, cases: &mut [Case], vectors: usize) {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let mut sources = Vec::new();
    for (name, text) in cases.iter().flat_map(|c| &c.files) {
        let file = directory.join(format!("{name}.v"));
        fs::write(&file, text).unwrap();
        sources.push(file);
    }
    fs::write(directory.join("corpus.v"), corpus(cases)).unwrap();
    sources.push(directory.join("corpus.v"));

    let program = build(cache, directory, &sources);
    let (input, output) = (directory.join("in.bin"), directory.join("out.bin"));
    fs::write(&input, stimulus(cases, vectors)).unwrap();
    succeed(Command::new(program).args([&input, &output]));
    compare(cases, &fs::read(output).unwrap(), vectors);
}

fn build(cache: &Cache, directory: &Path, sources: &[PathBuf]) -> PathBuf {
    let verilator = cache.verilator().unwrap();
    let generated = directory.join("obj");
    succeed(
        verilator
            .command()
            .args(["--cc", "--language", "1364-2005", "--top-module", "corpus"])
            // The stock emitter's text does not lint.
            .args(["-Wno-fatal", "-Wno-lint", "-Wno-style", "-O1"])
            // Verilator 5.048 adds the amounts of nested shifts without a carry
            // (its issue 7955).
            .arg("-fno-dfg-peephole-replace-shiftl-shiftl")
            .arg("-fno-dfg-peephole-replace-shiftr-shiftr")
            .arg("--Mdir")
            .arg(&generated)
            .args(sources),
    );
    fs::write(generated.join("program.cpp"), PROGRAM).unwrap();
    let mut units: Vec<PathBuf> = fs::read_dir(&generated)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    units.push(verilator.include().join("verilated.cpp"));
    units.push(verilator.include().join("verilated_threads.cpp"));
    let includes = [
        generated.clone(),
        verilator.include(),
        verilator.include().join("vltstd"),
    ];
    let compiler = cxx().unwrap();
    let compile = |unit: PathBuf| {
        let object = generated
            .join(unit.file_name().unwrap())
            .with_extension("o");
        succeed(
            compiler
                .command()
                .args(["-std=c++17", "-O0", "-pthread", "-c", "-o"])
                .arg(&object)
                .arg(unit)
                .args(includes.iter().map(|path| format!("-I{}", path.display()))),
        );
        object
    };
    let compile = &compile;
    let objects: Vec<PathBuf> = std::thread::scope(|scope| {
        let running: Vec<_> = units
            .into_iter()
            .map(|unit| scope.spawn(move || compile(unit)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let program = directory.join("program");
    succeed(
        compiler
            .command()
            .args(["-pthread", "-o"])
            .arg(&program)
            .args(objects),
    );
    program
}

fn stimulus(cases: &[Case], vectors: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for vector in 0..vectors {
        let values = cases
            .iter()
            .flat_map(|case| case.inputs.iter().map(|p| p.1).zip(&case.stimulus[vector]));
        bytes.extend(pack(values).bytes());
    }
    bytes
}

fn compare(cases: &mut [Case], found: &[u8], vectors: usize) {
    let width: usize = cases.iter().flat_map(|c| &c.outputs).map(|p| p.1).sum();
    let row = width.div_ceil(32) * 4;
    assert_eq!(
        found.len(),
        row * vectors,
        "the model did not run to the end"
    );
    let mut at = 0;
    for case in cases {
        for (port, (name, width)) in case.outputs.clone().into_iter().enumerate() {
            for vector in 0..vectors {
                let value = unpack(&found[row * vector..], at, width);
                let expected = &case.expected[vector][port];
                if value != *expected {
                    case.mismatches += 1;
                    case.first.get_or_insert_with(|| {
                        let inputs: Vec<String> = case
                            .inputs
                            .iter()
                            .zip(&case.stimulus[vector])
                            .map(|(p, v)| format!("{} = {v:x}", p.0))
                            .collect();
                        format!(
                            "in vector {vector}, {}: {name} is {value:x}, not {expected:x}",
                            inputs.join(", ")
                        )
                    });
                }
            }
            at += width;
        }
    }
}
