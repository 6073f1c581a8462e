//! Compares the area and the speed of the default build and of the transaction layer alone with the files of
//! `tests/budgets` and with their aims.
//!
//! A number more than 3 % worse than its file fails. If it is more than 3 % better, the file must be written again, so
//! that the gain is recorded: `PEERLANE_BLESS=1 cargo xtask test budgets speed`. A number that misses its aim fails in
//! any case.
//!
//! Each file has the digest of the Verilog that its numbers were measured of. A plain `cargo test` compares the
//! digests, which takes no time: a change of the Verilog needs a new measurement.
//!
//! `PEERLANE_MODULES=1` also synthesises a build module by module and prints where its area goes.

mod area;
mod netlist;
mod speed;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, File},
    path::PathBuf,
};

use peerlane_hdl::{Design, Params, generate, pcie};
use peerlane_tools::Cache;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Percent by which a number may be worse.
const TOLERANCE: f64 = 3.0;

/// Numbers of one family, by quantity.
type Numbers = BTreeMap<String, f64>;

/// Content of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Budget {
    /// The digest of the measured Verilog, by kind of number (`area`, `fmax`).
    verilog: BTreeMap<String, String>,
    /// Cells, by family.
    area: BTreeMap<String, Numbers>,
    /// MHz of each clock, by family.
    fmax: BTreeMap<String, Numbers>,
}

/// The direction in which numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

impl Better {
    /// Returns whether `new` is worse than `old` by more than `percent`.
    fn worse(self, new: f64, old: f64, percent: f64) -> bool {
        let (large, small) = match self {
            Self::Less => (new, old),
            Self::More => (old, new),
        };
        // Numbers of the file have one decimal at most.
        (large * 1000.0).round() > (small * (1000.0 + 10.0 * percent)).round()
    }
}

/// A limit that does not move with recorded numbers.
#[derive(Debug)]
struct Aim {
    family: &'static str,
    quantity: &'static str,
    limit: f64,
    better: Better,
    source: &'static str,
}

/// A design that is measured.
#[derive(Debug)]
struct Subject {
    /// The file of `tests/budgets`, without its ending.
    file: &'static str,
    /// The text at the file's head.
    about: &'static str,
    area: fn() -> Design,
    speed: fn() -> Design,
    clocks: &'static [&'static str],
    aims: &'static [Aim],
}

/// 8 channels, 1024 descriptors, 4096 ATT entries and a 128-bit port.
const BLOCK: Subject = Subject {
    file: "default",
    about: "the default build",
    area: || generate(&Params::default()).unwrap(),
    speed: || generate(&Params::default()).unwrap(),
    clocks: &["pcie_clk", "clk"],
    aims: &AIMS,
};

/// The transaction layer: the area of the wide one, the clock of the narrow one.
const LAYER: Subject = Subject {
    file: "pcie",
    about: "the transaction layer: area at 256 bits, speed at 128",
    area: || pcie::generate(256, pcie::patience_log2(250)).unwrap(),
    speed: || pcie::generate(128, pcie::patience_log2(250)).unwrap(),
    clocks: &["pcie_clk"],
    aims: &LAYER_AIMS,
};

/// Requirements of the transaction layer ("TLP", section Speed).
const LAYER_AIMS: [Aim; 2] = [
    Aim {
        family: "xc7",
        quantity: "lut",
        limit: 6000.0,
        better: Better::Less,
        source: "LUTs on 7 series, transaction layer of 256 bits",
    },
    Aim {
        family: "ecp5",
        quantity: "pcie_clk",
        limit: 150.0,
        better: Better::More,
        source: "MHz on ECP5, transaction layer of 128 bits out of context",
    },
];

/// Requirements of the block ("Engine", section Budgets).
const AIMS: [Aim; 4] = [
    Aim {
        family: "xc7",
        quantity: "lut",
        limit: 8000.0,
        better: Better::Less,
        source: "LUTs on 7 series, default build",
    },
    Aim {
        family: "xc7",
        quantity: "ff",
        limit: 9000.0,
        better: Better::Less,
        source: "flip-flops on 7 series, default build",
    },
    Aim {
        family: "ecp5",
        quantity: "pcie_clk",
        limit: 150.0,
        better: Better::More,
        source: "MHz on ECP5, default build out of context",
    },
    Aim {
        family: "ecp5",
        quantity: "clk",
        limit: 150.0,
        better: Better::More,
        source: "MHz on ECP5, default build out of context",
    },
];

/// Lists the numbers that differ from the file by more than the tolerance.
fn compare(family: &str, held: &Numbers, measured: &Numbers, better: Better) -> Vec<String> {
    let quantities: BTreeSet<&String> = held.keys().chain(measured.keys()).collect();
    let mut findings = Vec::new();
    for quantity in quantities {
        let finding = match (held.get(quantity), measured.get(quantity)) {
            (Some(&old), Some(&new)) if better.worse(new, old, TOLERANCE) => {
                format!("{new}, the budget is {old}")
            }
            (Some(&old), Some(&new)) if better.worse(old, new, TOLERANCE) => {
                format!("{new}, better than the budget of {old}: {BLESS}")
            }
            (None, Some(&new)) => format!("{new}, and no budget: {BLESS}"),
            (Some(&old), None) => format!("gone, the budget is {old}: {BLESS}"),
            _ => continue,
        };
        findings.push(format!("{family}.{quantity}: {finding}"));
    }
    findings
}

const BLESS: &str = "write it down with PEERLANE_BLESS=1";

/// Lists the aims that the numbers of a family miss.
fn missed(aims: &[Aim], family: &str, measured: &Numbers) -> Vec<String> {
    aims.iter()
        .filter(|aim| aim.family == family)
        .filter_map(|aim| {
            let new = *measured.get(aim.quantity)?;
            aim.better.worse(new, aim.limit, 0.0).then(|| {
                let (bound, limit) = match aim.better {
                    Better::Less => ("most", aim.limit),
                    Better::More => ("least", aim.limit),
                };
                format!(
                    "{family}.{}: {new} misses the aim of at {bound} {limit} {}",
                    aim.quantity, aim.source
                )
            })
        })
        .collect()
}

impl Subject {
    fn path(&self) -> PathBuf {
        let budgets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("budgets");
        budgets.join(self.file).with_extension("toml")
    }

    fn read(&self) -> Budget {
        let path = self.path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

fn write(subject: &Subject, part: impl FnOnce(&mut Budget)) {
    // Tests run at the same time, in processes of their own, and each writes its own part.
    let directory = File::open(subject.path().parent().unwrap()).unwrap();
    directory.lock().unwrap();
    let mut budget = subject.read();
    part(&mut budget);
    let mut text = format!(
        "# Area (cells) and speed (MHz) of {}. Written by\n\
         # `PEERLANE_BLESS=1 cargo xtask test budgets speed`; the test says what each number is.\n\
         \n[verilog]\n",
        subject.about
    );
    for (kind, digest) in &budget.verilog {
        text += &format!("{kind} = \"{digest}\"\n");
    }
    for (kind, families) in [("area", &budget.area), ("fmax", &budget.fmax)] {
        for (family, numbers) in families {
            text += &format!("\n[{kind}.{family}]\n");
            for (quantity, number) in numbers {
                text += &format!("{quantity} = {number}\n");
            }
        }
    }
    let aside = subject.path().with_extension("toml.new");
    fs::write(&aside, text).unwrap();
    fs::rename(&aside, subject.path()).unwrap();
}

fn wanted(variable: &str) -> bool {
    env::var_os(variable).is_some()
}

/// A kind of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Area,
    Fmax,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Area => "area",
            Self::Fmax => "fmax",
        }
    }

    fn better(self) -> Better {
        match self {
            Self::Area => Better::Less,
            Self::Fmax => Better::More,
        }
    }

    fn design(self, subject: &Subject) -> Design {
        match self {
            Self::Area => (subject.area)(),
            Self::Fmax => (subject.speed)(),
        }
    }

    fn numbers(self, budget: &mut Budget) -> &mut BTreeMap<String, Numbers> {
        match self {
            Self::Area => &mut budget.area,
            Self::Fmax => &mut budget.fmax,
        }
    }
}

/// Returns the SHA-256 of the text that Yosys reads of a design: the Verilog without its comments.
fn digest(design: &Design) -> String {
    let mut hash = Sha256::new();
    for module in &design.modules {
        for line in module.verilog.lines() {
            let code = line.split_once("//").map_or(line, |(code, _)| code);
            if !code.trim().is_empty() {
                hash.update(code.trim_end());
                hash.update("\n");
            }
        }
    }
    format!("{:x}", hash.finalize())
}

/// Compares a family with the file, or writes the family there.
fn hold(
    subject: &Subject,
    kind: Kind,
    family: &str,
    design: &Design,
    measured: &Numbers,
) -> Vec<String> {
    let mut findings = if wanted("PEERLANE_BLESS") {
        write(subject, |budget| {
            let numbers = measured.clone();
            kind.numbers(budget).insert(family.to_owned(), numbers);
            budget
                .verilog
                .insert(kind.name().to_owned(), digest(design));
        });
        Vec::new()
    } else {
        let held = kind
            .numbers(&mut subject.read())
            .remove(family)
            .unwrap_or_default();
        compare(family, &held, measured, kind.better())
    };
    findings.extend(missed(subject.aims, family, measured));
    findings
}

/// Checks that a subject's numbers were measured of today's Verilog.
fn is_measured(subject: &Subject, kind: Kind) {
    let (name, suite) = match kind {
        Kind::Area => ("area", "budgets"),
        Kind::Fmax => ("speed", "speed"),
    };
    assert_eq!(
        subject.read().verilog.get(kind.name()),
        Some(&digest(&kind.design(subject))),
        "{}: the {name} of other Verilog. `cargo xtask test {suite}` measures today's, and with PEERLANE_BLESS=1 \
         writes it down",
        subject.path().display()
    );
}

fn keeps_its_area(subject: &Subject) {
    let yosys = Cache::open().unwrap().yosys().unwrap();
    let design = Kind::Area.design(subject);
    let mut findings = Vec::new();
    for family in &area::FAMILIES {
        let measured = area::measure(&yosys, family, &design);
        findings.extend(hold(subject, Kind::Area, family.name, &design, &measured));
    }
    if wanted("PEERLANE_MODULES") {
        area::print_modules(&yosys, &design);
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

fn keeps_its_speed(subject: &Subject) {
    let cache = Cache::open().unwrap();
    let (yosys, nextpnr) = (cache.yosys().unwrap(), cache.nextpnr().unwrap());
    let design = Kind::Fmax.design(subject);
    let measured = speed::measure(&yosys, &nextpnr, &design, subject.clocks);
    let findings = hold(subject, Kind::Fmax, "ecp5", &design, &measured);
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn the_area_is_that_of_todays_verilog() {
    is_measured(&BLOCK, Kind::Area);
    is_measured(&LAYER, Kind::Area);
}

#[test]
fn the_speed_is_that_of_todays_verilog() {
    is_measured(&BLOCK, Kind::Fmax);
    is_measured(&LAYER, Kind::Fmax);
}

#[test]
fn a_comment_does_not_change_the_digest_and_code_does() {
    let of = |verilog: &str| {
        let mut design = Kind::Area.design(&BLOCK);
        design.modules.truncate(1);
        verilog.clone_into(&mut design.modules[0].verilog);
        digest(&design)
    };
    let bare = of("wire a;\nwire b;\n");
    assert_eq!(of("// What a is.\nwire a; // a\n\nwire b;\n"), bare);
    assert_ne!(of("wire a;\nwire c;\n"), bare);
    assert_ne!(of("wire a;wire b;\n"), bare);
}

#[test]
#[ignore = "external tools: cargo xtask test budgets"]
fn the_default_build_keeps_its_area() {
    keeps_its_area(&BLOCK);
}

#[test]
#[ignore = "external tools: cargo xtask test speed"]
fn the_transaction_layer_keeps_its_area() {
    keeps_its_area(&LAYER);
}

#[test]
#[ignore = "external tools: cargo xtask test speed"]
fn the_default_build_keeps_its_speed() {
    keeps_its_speed(&BLOCK);
}

#[test]
#[ignore = "external tools: cargo xtask test speed"]
fn the_transaction_layer_keeps_its_speed() {
    keeps_its_speed(&LAYER);
}

#[test]
fn three_parts_in_a_hundred_are_allowed_and_no_more() {
    let one = |number| Numbers::from([("q".to_owned(), number)]);
    let less = |old, new| compare("f", &one(old), &one(new), Better::Less);
    assert!(less(1000.0, 1030.0).is_empty());
    assert!(less(1000.0, 1031.0)[0].contains("the budget is 1000"));
    assert!(less(1030.0, 1000.0).is_empty());
    assert!(less(1031.0, 1000.0)[0].contains("PEERLANE_BLESS"));

    let more = |old, new| compare("f", &one(old), &one(new), Better::More);
    assert!(more(103.0, 100.0).is_empty());
    assert!(more(103.1, 100.0)[0].contains("the budget is 103.1"));
    assert!(more(100.0, 103.0).is_empty());
    assert!(more(100.0, 103.1)[0].contains("PEERLANE_BLESS"));
}

#[test]
fn a_quantity_on_one_side_only_is_told() {
    let one = Numbers::from([("q".to_owned(), 1.0)]);
    let none = Numbers::new();
    assert!(compare("f", &none, &one, Better::Less)[0].contains("no budget"));
    assert!(compare("f", &one, &none, Better::Less)[0].contains("gone"));
}

#[test]
fn a_missed_aim_is_named() {
    let numbers = |lut: f64, ff: f64| Numbers::from([("lut".into(), lut), ("ff".into(), ff)]);
    assert!(missed(&AIMS, "xc7", &numbers(8000.0, 9000.0)).is_empty());
    let findings = missed(&AIMS, "xc7", &numbers(8001.0, 9000.0));
    assert_eq!(
        findings,
        ["xc7.lut: 8001 misses the aim of at most 8000 LUTs on 7 series, default build"]
    );
    let clocks = Numbers::from([("clk".into(), 150.0), ("pcie_clk".into(), 149.9)]);
    let findings = missed(&AIMS, "ecp5", &clocks);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].starts_with("ecp5.pcie_clk: 149.9 misses the aim of at least 150 MHz"));
    // Other families have budgets but no aims.
    assert!(missed(&AIMS, "cyclonev", &numbers(1e6, 1e6)).is_empty());
}
