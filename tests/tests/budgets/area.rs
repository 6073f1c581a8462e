//! Area: the cells that Yosys uses.

use std::collections::BTreeMap;
use std::fs;

use peerlane_hdl::Design;
use peerlane_tools::Yosys;
use serde::Deserialize;

use crate::{Numbers, netlist};

/// Number of each quantity.
type Counts = BTreeMap<String, u64>;

/// Returns the quantity of a family that a cell counts as, and how often, or `None` where it takes no area of the
/// fabric.
type Classify = fn(&str) -> Option<(&'static str, u64)>;

/// An FPGA family.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Flattened, as every vendor's tool works: constants of the parts that the build leaves out are removed across
    /// modules, and only then is it known that the two clocks of a RAM inside one domain are the same.
    synthesis: &'static str,
    classify: Classify,
}

pub(crate) const FAMILIES: [Family; 2] = [
    Family {
        name: "xc7",
        synthesis: "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
        classify: xc7,
    },
    Family {
        name: "cyclonev",
        synthesis: "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
        classify: cyclonev,
    },
];

/// The first family, module by module.
const BY_MODULE: Family = Family {
    name: "xc7",
    synthesis: "synth_xilinx -family xc7 -noiopad -noclkbuf",
    classify: xc7,
};

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
        // Part of the slice of its LUTs; an inverter becomes part of the next LUT.
        "CARRY4" | "MUXF7" | "MUXF8" | "INV" => return None,
        // A module's name, kept for debuggers.
        "$scopeinfo" => return None,
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
        "MISTRAL_NOT" | "$scopeinfo" => return None,
        other => panic!("a cell of Cyclone V that nobody counts: {other}"),
    })
}

/// The part of Yosys's `stat -json` that is read.
#[derive(Debug, Deserialize)]
struct Statistics {
    modules: BTreeMap<String, Module>,
}

/// One module's own cells, including submodules.
#[derive(Debug, Deserialize)]
struct Module {
    num_cells_by_type: BTreeMap<String, u64>,
}

impl Statistics {
    fn of(yosys: &Yosys, family: &Family, design: &Design) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let after = "tee -q -o stat.json stat -json";
        netlist::synthesise(yosys, directory.path(), design, family.synthesis, after);
        let json = fs::read_to_string(directory.path().join("stat.json")).unwrap();
        serde_json::from_str(&json).unwrap()
    }

    /// Returns the cells of each module itself, over all its instances.
    fn by_module(&self, classify: Classify, design: &Design) -> BTreeMap<String, Counts> {
        let mut by_module = BTreeMap::new();
        let top = format!("\\{}", design.top().name);
        self.add(classify, &top, 1, &mut by_module);
        by_module
    }

    fn add(
        &self,
        classify: Classify,
        name: &str,
        instances: u64,
        by_module: &mut BTreeMap<String, Counts>,
    ) {
        for (cell, count) in &self.modules[name].num_cells_by_type {
            let count = count * instances;
            let below = format!("\\{cell}");
            if self.modules.contains_key(&below) {
                self.add(classify, &below, count, by_module);
            } else if self.modules.contains_key(cell) {
                self.add(classify, cell, count, by_module);
            } else if let Some((quantity, each)) = classify(cell) {
                *by_module
                    .entry(name.trim_start_matches('\\').to_owned())
                    .or_default()
                    .entry(quantity.to_owned())
                    .or_default() += count * each;
            }
        }
    }
}

fn sum(by_module: &BTreeMap<String, Counts>) -> Counts {
    let mut total = Counts::new();
    for (quantity, count) in by_module.values().flatten() {
        *total.entry(quantity.clone()).or_default() += count;
    }
    total
}

/// Measures a design.
pub(crate) fn measure(yosys: &Yosys, family: &Family, design: &Design) -> Numbers {
    let total = sum(&Statistics::of(yosys, family, design).by_module(family.classify, design));
    eprintln!("{}: {total:?}", family.name);
    total
        .into_iter()
        .map(|(quantity, count)| (quantity, count as f64))
        .collect()
}

/// Prints the area of each module. It includes logic that the tool cannot remove across the modules' borders, so the
/// sum is more than the budget's.
pub(crate) fn print_modules(yosys: &Yosys, design: &Design) {
    let statistics = Statistics::of(yosys, &BY_MODULE, design);
    let by_module = statistics.by_module(BY_MODULE.classify, design);
    let total = sum(&by_module);
    let row = |name: &str, cell: &dyn Fn(&String) -> String| {
        let cells: String = total.keys().map(|q| format!("{:>10}", cell(q))).collect();
        eprintln!("{name:<50}{cells}");
    };
    let counts = |name: &str, counts: &Counts| {
        row(name, &|q| counts.get(q).unwrap_or(&0).to_string());
    };
    row("xc7: modules, without what is below", &String::clone);
    let mut modules: Vec<_> = by_module.iter().collect();
    modules.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.values().sum::<u64>()));
    for (name, own) in modules {
        counts(name, own);
    }
    counts("all", &total);
}
