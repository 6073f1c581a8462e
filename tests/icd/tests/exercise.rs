//! Every function called with right and wrong arguments, by a generated program: the driver must
//! answer as the vendor library does.

use std::path::Path;
use std::process::Command;

use peerlane_icd as _;
use peerlane_icd_tests::{Drivers, Lab, printed, run};

/// Returns the results of all calls. A call that ends the program, as some do with PoCL, is a line, too.
fn calls(lab: &Lab, program: &Path, drivers: Drivers, vendor: &Path) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    loop {
        let mut command: Command = lab.command(program, drivers, vendor);
        command
            .arg(lines.len().to_string())
            .env_remove("PEERLANE_ICD_DEBUG");
        let output = run(&mut command, "exercise");
        let said = printed(&output);
        let before = lines.len();
        lines.extend(said.lines().map(str::to_owned));
        if lines.last().is_some_and(|line| line == "end") {
            return lines;
        }
        assert!(lines.len() > before, "{said} {output:?}");
        if let Some(line) = lines.last_mut() {
            line.push_str("ENDED THE PROGRAM");
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test icd"]
fn every_function_answers_as_the_vendors() {
    let lab = Lab::new();
    let program = lab.program("exercise", &["exercise.c"]);
    let vendor = lab.plain();
    let bare = calls(&lab, &program, Drivers::Bare, &vendor);
    let wrapped = calls(&lab, &program, Drivers::Wrapped, &vendor);
    let other: Vec<_> = (bare.iter().zip(&wrapped))
        .filter(|(bare, wrapped)| bare != wrapped)
        .collect();
    assert!(
        other.is_empty() && bare.len() == wrapped.len(),
        "{other:#?}"
    );
    // All functions of OpenCL 1.0 to 3.0 in Khronos's header are called.
    let header = lab.opencl().headers().join("CL/cl.h");
    let header = std::fs::read_to_string(header).unwrap();
    let declared: Vec<_> = (header.split("CL_API_CALL").skip(1))
        .filter_map(|rest| rest.trim_start().split_once('('))
        .map(|(name, _)| name)
        .collect();
    assert!(declared.len() > 100 && declared.contains(&"clSetContextDestructorCallback"));
    let uncalled: Vec<_> = (declared.iter())
        .filter(|name| !bare.iter().any(|l| l.contains(&format!(" {name} right: "))))
        .collect();
    assert!(uncalled.is_empty(), "{uncalled:?}");
    // Most functions exist, and most of them accept the arguments that the generator considers right.
    let right = |end: &str| {
        let lines = bare.iter().filter(|l| l.contains(" right: "));
        lines.filter(|l| l.contains(end)).count()
    };
    let (all, absent) = (right(""), right("absent"));
    let taken = right(" right: 0,") + right(" right: something, error 0,") + right(" right: done,");
    println!("{all} functions, {absent} absent, {taken} took right arguments");
    assert!(
        all - absent > 100 && taken > 60,
        "{all} {absent} {taken}: {bare:#?}"
    );
}
