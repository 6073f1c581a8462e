//! The area of the default build, measured by Yosys and held to `tests/budgets/default.toml`.
//!
//! More than 3 % worse than the file fails; more than 3 % better asks for the file to be written
//! again, so that the gain is kept: `PEERLANE_BLESS=1 cargo xtask test budgets`.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use peerlane_hdl::{Params, TOP, generate};
use peerlane_tools::{Cache, Yosys};
use serde::Deserialize;

/// Parts in a hundred by which a number may be worse.
const TOLERANCE: u64 = 3;

/// Quantity to count, for one family.
type Counts = BTreeMap<String, u64>;

/// Family to its counts: what the file holds.
type Budget = BTreeMap<String, Counts>;

/// The part of Yosys's `stat -json` that is read.
#[derive(Debug, Deserialize)]
struct Statistics {
    modules: BTreeMap<String, Module>,
}

/// One module's own cells, submodules among them.
#[derive(Debug, Deserialize)]
struct Module {
    num_cells_by_type: BTreeMap<String, u64>,
}

/// What a cell of a family counts as, or nothing where it takes no area of the fabric.
type Classify = fn(&str) -> Option<(&'static str, u64)>;

/// 7 series (UG474, tables 2-1 and 2-3): a LUT RAM of four outputs takes four LUTs.
fn xc7(cell: &str) -> Option<(&'static str, u64)> {
    Some(match cell {
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" => ("lut", 1),
        "RAM32M" | "RAM64M" | "RAM128X1D" => ("lut", 4),
        "RAM32X1D" | "RAM64X1D" => ("lut", 2),
        "SRL16E" | "SRLC32E" => ("lut", 1),
        "FDRE" | "FDSE" | "FDCE" | "FDPE" => ("ff", 1),
        // Half a block RAM counts as one half.
        "RAMB36E1" => ("bram18", 2),
        "RAMB18E1" => ("bram18", 1),
        // In the slice beside its LUTs; an inverter is taken into the next LUT.
        "CARRY4" | "MUXF7" | "MUXF8" | "INV" => return None,
        other => panic!("a cell of xc7 that nobody counts: {other}"),
    })
}

/// Cyclone V. Yosys does not pack adaptive logic modules; two ALUTs make one at best.
fn cyclonev(cell: &str) -> Option<(&'static str, u64)> {
    Some(match cell {
        "MISTRAL_ALUT2" | "MISTRAL_ALUT3" | "MISTRAL_ALUT4" | "MISTRAL_ALUT5" | "MISTRAL_ALUT6"
        | "MISTRAL_ALUT_ARITH" => ("alut", 1),
        "MISTRAL_FF" => ("ff", 1),
        "MISTRAL_M10K" => ("m10k", 1),
        // One bit of width, 32 words deep.
        "MISTRAL_MLAB" => ("mlab_bit", 1),
        "MISTRAL_NOT" => return None,
        other => panic!("a cell of Cyclone V that nobody counts: {other}"),
    })
}

/// Synthesises the default build.
fn synthesise(yosys: &Yosys, command: &str) -> Statistics {
    let directory = tempfile::tempdir().unwrap();
    let mut files = String::new();
    for module in generate(&Params::default()).unwrap().modules {
        let file = format!("{}.v", module.name);
        fs::write(directory.path().join(&file), module.verilog).unwrap();
        files += &file;
        files.push(' ');
    }
    // `MLAB` in a memory's style is Quartus's word; to Yosys it is a style that no RAM has.
    let script = format!(
        "read_verilog {files}; hierarchy -check -top {TOP}; proc; \
         setattr -set ramstyle \"no_rw_check\" m:*; {command} -top {TOP}; \
         tee -q -o stat.json stat -json"
    );
    let output = yosys
        .command()
        .current_dir(directory.path())
        .args(["-q", "-p", &script])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json = fs::read_to_string(directory.path().join("stat.json")).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// Adds up the module `name` and all below it; `by_module` gets each module's own share, over all
/// its instances.
fn add(
    statistics: &Statistics,
    classify: Classify,
    name: &str,
    instances: u64,
    by_module: &mut BTreeMap<String, Counts>,
) {
    for (cell, count) in &statistics.modules[name].num_cells_by_type {
        let count = count * instances;
        let below = format!("\\{cell}");
        if statistics.modules.contains_key(&below) {
            add(statistics, classify, &below, count, by_module);
        } else if statistics.modules.contains_key(cell) {
            add(statistics, classify, cell, count, by_module);
        } else if let Some((quantity, each)) = classify(cell) {
            *by_module
                .entry(name.trim_start_matches('\\').to_owned())
                .or_default()
                .entry(quantity.to_owned())
                .or_default() += count * each;
        }
    }
}

/// Measures one family and prints where its area goes.
fn measure(yosys: &Yosys, family: &str, command: &str, classify: Classify) -> Counts {
    let statistics = synthesise(yosys, command);
    let mut by_module = BTreeMap::new();
    let top = format!("\\{TOP}");
    add(&statistics, classify, &top, 1, &mut by_module);
    let mut total = Counts::new();
    for counts in by_module.values() {
        for (quantity, count) in counts {
            *total.entry(quantity.clone()).or_default() += count;
        }
    }
    let quantities: Vec<&String> = total.keys().collect();
    let row = |name: &str, counts: &Counts| {
        let mut line = format!("  {name:<48}");
        for quantity in &quantities {
            line += &format!("{:>10}", counts.get(*quantity).unwrap_or(&0));
        }
        eprintln!("{line}");
    };
    let heads: String = quantities.iter().map(|q| format!("{q:>10}")).collect();
    eprintln!(
        "{:<50}{heads}",
        format!("{family}: modules, without what is below")
    );
    let mut modules: Vec<_> = by_module.iter().collect();
    modules.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.values().sum::<u64>()));
    for (name, counts) in modules.iter().take(16) {
        row(name, counts);
    }
    row("all", &total);
    total
}

/// What differs from the file by more than the tolerance.
fn compare(family: &str, held: &Counts, measured: &Counts) -> Vec<String> {
    let mut findings = Vec::new();
    for quantity in held.keys().chain(measured.keys()) {
        let (old, new) = (
            held.get(quantity).copied().unwrap_or(0),
            measured.get(quantity).copied().unwrap_or(0),
        );
        let more_than = |larger: u64, base: u64| larger * 100 > base * (100 + TOLERANCE);
        if more_than(new, old) {
            findings.push(format!("{family}.{quantity}: {new}, the budget is {old}"));
        } else if more_than(old, new) {
            findings.push(format!(
                "{family}.{quantity}: {new}, better than the budget of {old}: write it down with \
                 PEERLANE_BLESS=1"
            ));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("budgets/default.toml")
}

#[test]
#[ignore = "external tools: cargo xtask test budgets"]
fn the_default_build_keeps_its_area() {
    let yosys = Cache::open().unwrap().yosys().unwrap();
    // Cyclone V flat, so without a table: Yosys's M10K has one clock, and only in the flat netlist do
    // the two clocks of a RAM turn out to be one. The RAMs between the clock domains are MLABs there.
    let families: [(&str, &str, Classify); 2] = [
        ("xc7", "synth_xilinx -family xc7 -noiopad -noclkbuf", xc7),
        (
            "cyclonev",
            "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
            cyclonev,
        ),
    ];
    let measured: Budget = families
        .into_iter()
        .map(|(family, command, classify)| {
            let counts = measure(&yosys, family, command, classify);
            (family.to_owned(), counts)
        })
        .collect();
    if env::var_os("PEERLANE_BLESS").is_some() {
        let text = format!(
            "# Area of the default build, synthesised by Yosys. Written by\n\
             # `PEERLANE_BLESS=1 cargo xtask test budgets`; the test says what each count is.\n\n{}",
            toml::to_string(&measured).unwrap()
        );
        let aside = file().with_extension("toml.new");
        fs::write(&aside, text).unwrap();
        fs::rename(&aside, file()).unwrap();
        return;
    }
    let held: Budget = toml::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    let findings: Vec<String> = held
        .keys()
        .chain(measured.keys())
        .flat_map(|family| {
            let empty = Counts::new();
            compare(
                family,
                held.get(family).unwrap_or(&empty),
                measured.get(family).unwrap_or(&empty),
            )
        })
        .collect();
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn three_parts_in_a_hundred_are_allowed_and_no_more() {
    let counts = |lut| Counts::from([("lut".to_owned(), lut)]);
    assert!(compare("f", &counts(1000), &counts(1030)).is_empty());
    assert_eq!(compare("f", &counts(1000), &counts(1031)).len(), 1);
    assert!(compare("f", &counts(1030), &counts(1000)).is_empty());
    assert!(compare("f", &counts(1031), &counts(1000))[0].contains("PEERLANE_BLESS"));
    // A quantity that was not there before.
    assert_eq!(compare("f", &Counts::new(), &counts(1)).len(), 1);
}
