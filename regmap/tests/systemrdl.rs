//! The SystemRDL, read by `systemrdl-compiler`, against the map.

mod common;

use std::collections::BTreeMap;
use std::process::Command;

use peerlane_regmap::{Access, Block, Content, Field, Map, Register, emit};
use peerlane_tools::{Cache, Requirements};
use serde_json::{Value, json};

/// Runs the exporter on a map's SystemRDL.
fn export(map: &Map) -> Value {
    let python = Cache::open().unwrap().python(Requirements::Rdl).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let files = emit::write(&emit::systemrdl(map), dir.path()).unwrap();
    let mut command: Command = python.command();
    let output = command
        .arg(common::repository("regmap/tests/systemrdl_export.py"))
        .arg(&files[0])
        .args(
            map.blocks
                .iter()
                .map(|b| format!("{}_{}", map.name, b.name)),
        )
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // No warning either.
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check(map: &Map) {
    let exported = export(map);
    for block in &map.blocks {
        let top = &exported[format!("{}_{}", map.name, block.name)];
        let inner = match (&block.content, block.count) {
            (Content::Registers(_), 1) => top,
            _ => {
                assert_eq!(top["registers"], json!([]));
                assert_eq!(top["containers"].as_array().unwrap().len(), 1);
                &top["containers"][0]
            }
        };
        check_wrapper(map, block, inner);
        let mut registers = block.as_registers(map);
        let table = matches!(block.content, Content::Table { .. });
        if table {
            // There the entry is the array.
            registers.iter_mut().for_each(|r| r.count = 1);
        }
        let there = inner["registers"].as_array().unwrap();
        assert_eq!(there.len(), registers.len(), "{}", block.name);
        for (register, there) in registers.iter().zip(there) {
            check_register(map, register, there, table);
        }
    }
}

fn check_wrapper(map: &Map, block: &Block, there: &Value) {
    let array = match &block.content {
        Content::Table { record, entries } => (*entries, map.record(record).unwrap().size),
        Content::Registers(_) => (block.count, block.size),
    };
    if array.0 == 1 {
        assert_eq!(there["kind"], "AddrmapNode");
    } else {
        assert_eq!(there["kind"], "RegfileNode");
        assert_eq!(
            (&there["count"], &there["stride"]),
            (&json!(array.0), &json!(array.1))
        );
        assert_eq!(there["address"], 0);
    }
}

fn check_register(map: &Map, register: &Register, there: &Value, table: bool) {
    let name = &register.name;
    assert_eq!(there["name"], name.as_str());
    assert_eq!(there["address"], register.offset, "{name}");
    assert_eq!(there["width"], register.width, "{name}");
    assert_eq!(there["count"], register.count, "{name}");
    if register.count > 1 {
        assert_eq!(there["stride"], register.stride, "{name}");
    }
    assert_eq!(there["access_width"], 32, "{name}");
    assert_eq!(there["external"], table || register.is_strobe(), "{name}");
    let fields = there["fields"].as_array().unwrap();
    assert_eq!(fields.len(), register.fields.len(), "{name}");
    for (field, there) in register.fields.iter().zip(fields) {
        check_field(map, field, there);
    }
}

fn check_field(map: &Map, field: &Field, there: &Value) {
    let name = &field.name;
    assert_eq!(there["name"], name.as_str());
    assert_eq!(there["msb"], field.lsb + field.width - 1, "{name}");
    assert_eq!(there["lsb"], field.lsb, "{name}");
    let (sw, hw, onwrite, pulse, hwset) = match field.access {
        Access::Ro if field.constant.is_some() => ("r", "na", Value::Null, false, false),
        Access::Ro => ("r", "w", Value::Null, false, false),
        Access::Rw => ("rw", "r", Value::Null, false, false),
        Access::W1c => ("rw", "r", json!("woclr"), false, true),
        Access::Wo => ("w", "r", Value::Null, false, false),
        Access::Pulse => ("w", "r", Value::Null, true, false),
    };
    assert_eq!(there["sw"], sw, "{name}");
    assert_eq!(there["hw"], hw, "{name}");
    assert_eq!(there["onwrite"], onwrite, "{name}");
    assert_eq!(there["onread"], Value::Null, "{name}");
    assert_eq!(there["singlepulse"], pulse, "{name}");
    assert_eq!(there["hwset"], hwset, "{name}");
    let reset = match (field.access, field.constant) {
        (_, Some(constant)) => json!(map.constant(constant)),
        (Access::Rw | Access::W1c | Access::Pulse, None) => json!(field.reset),
        (Access::Ro | Access::Wo, None) => Value::Null,
    };
    assert_eq!(there["reset"], reset, "{name}");
    let encode = field.enumeration.as_ref().map(|e| {
        let variants = &map.enumeration(e).unwrap().variants;
        let values: BTreeMap<_, _> = variants.iter().map(|v| (&v.name, v.value)).collect();
        values
    });
    assert_eq!(there["encode"], json!(encode), "{name}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let desc = words(there["desc"].as_str().unwrap());
    assert!(desc.starts_with(&words(&field.doc)), "{name}: {desc}");
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn the_map() {
    check(&Map::load());
}

#[test]
#[ignore = "external tools: cargo xtask test unit"]
fn a_map_with_one_of_everything() {
    let map = Map::parse(include_str!("small.toml"), "small.toml");
    match map {
        Ok(map) => check(&map),
        Err(errors) => panic!("{errors}"),
    }
}
