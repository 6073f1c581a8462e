//! The C header, compiled: every macro, `offsetof` and `sizeof` against the map.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use peerlane_regmap::{Map, emit, ones};

/// Name and value of everything the header must define.
fn expected(map: &Map) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::from([
        ("PEERLANE_MAP_ID".to_owned(), u64::from(map.map_id())),
        ("PEERLANE_MAP_VERSION".to_owned(), map.version.into()),
    ]);
    for block in &map.blocks {
        let prefix = format!("PEERLANE_{}", block.name.to_uppercase());
        all.insert(format!("{prefix}_SIZE"), block.size);
        for register in block.registers() {
            let (name, count) = (&register.name, register.count);
            for index in [0, 1, count - 1] {
                for (half, suffix) in ["_LO", "_HI"].iter().enumerate() {
                    let suffix = if register.width == 64 { suffix } else { "" };
                    if register.width == 32 && half == 1 {
                        continue;
                    }
                    let argument = match count {
                        1 => String::new(),
                        _ => format!("({index})"),
                    };
                    let offset = register.offset + index * register.stride + 4 * half as u64;
                    let offset = match count {
                        1 => register.offset + 4 * half as u64,
                        _ => offset,
                    };
                    all.insert(format!("{prefix}_{name}{suffix}{argument}"), offset);
                }
            }
            for field in &register.fields {
                let mask = ones(field.width) << field.lsb;
                let upper = field.name.to_uppercase();
                let halves: &[(u64, &str)] = match register.width {
                    64 => &[(mask & 0xFFFF_FFFF, "_LO"), (mask >> 32, "_HI")],
                    _ => &[(mask, "")],
                };
                for (mask, suffix) in halves.iter().filter(|(mask, _)| *mask != 0) {
                    let field = format!("{prefix}_{name}{suffix}_{upper}");
                    all.insert(format!("{field}_MASK"), *mask);
                    all.insert(format!("{field}_SHIFT"), mask.trailing_zeros().into());
                }
            }
        }
    }
    for e in &map.enums {
        for v in &e.variants {
            let name = format!("PEERLANE_{}_{}", e.name.to_uppercase(), v.name);
            all.insert(name, v.value);
        }
    }
    for record in &map.records {
        let name = format!("struct peerlane_{}", record.name);
        all.insert(format!("sizeof({name})"), record.size);
        for member in &record.members {
            all.insert(format!("offsetof({name}, {})", member.name), member.offset);
            let size = format!("sizeof((({name} *)0)->{})", member.name);
            all.insert(size, u64::from(member.width) / 8);
            for f in &member.fields {
                let field = format!("PEERLANE_{}_{}_{}", record.name, member.name, f.name);
                let field = field.to_uppercase();
                all.insert(format!("{field}_MASK"), ones(f.width) << f.lsb);
                all.insert(format!("{field}_SHIFT"), f.lsb.into());
            }
        }
    }
    all
}

/// Compiles a program that prints every expression, and compares.
fn check(compiler: &str, file: &str, flags: &[&str]) {
    let map = Map::load();
    let dir = tempfile::tempdir().unwrap();
    emit::write(&emit::c(&map), dir.path()).unwrap();
    let expected = expected(&map);
    assert!(expected.len() > 150);
    let mut program = String::from(
        "#include \"peerlane_regs.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for expression in expected.keys() {
        let value = format!("(unsigned long long)({expression})");
        writeln!(program, "    printf(\"{expression}=%llu\\n\", {value});").unwrap();
    }
    program.push_str("    return 0;\n}\n");
    let source = dir.path().join(file);
    let binary = dir.path().join("print");
    std::fs::write(&source, program).unwrap();
    let compiled = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-o"])
        .args([&binary, &source])
        .output()
        .unwrap();
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let output = Command::new(&binary).output().unwrap();
    let there: BTreeMap<String, u64> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.rsplit_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect();
    for (name, value) in &expected {
        assert_eq!(there.get(name), Some(value), "{name}");
    }
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn as_c() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    check(&compiler, "print.c", &["-std=c99"]);
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn as_cpp() {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    check(&compiler, "print.cpp", &["-std=c++11"]);
}
