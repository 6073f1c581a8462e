//! Random BSPs: each is a reference BSP, or the vendor's among the fixtures, after random changes that a vendor might
//! have made. Each must be extended, the result must be correct, and only permitted differences may occur.
//!
//! A variation comes from a seed. For a failure, the test prints the shortest list of changes that still fails;
//! `PEERLANE_VARIATION=reference:17` runs only the variation of seed 17 again, and leaves its files.
//!
//! For each BSP, 12 are tried at all times and 200 by `cargo xtask test bsp-all`.

mod compare;
mod design;
mod files;
mod host;
mod memory;
mod names;
mod random;
mod regions;
mod system;
mod tree;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::common;
use design::Design;
use peerlane_bsp::config::Config;
use peerlane_bsp::layout::Layout;
use peerlane_bsp::revert;
use peerlane_bsp_check::{Level, structure};
use random::Random;

/// Changes a BSP and describes the change; `None` if it is not possible.
type Change = fn(&mut Design, &mut Random) -> Option<String>;

const CHANGES: [(&str, Change); 24] = [
    ("names of instances", names::instances),
    ("name of a system", names::system),
    ("order", names::order),
    ("spelling of addresses", names::numbers),
    ("addresses", host::addresses),
    ("larger BAR", host::larger_bar),
    ("clock crossing", host::cross),
    ("shared clock crossing", host::shared_crossing),
    ("no clock crossing", host::uncross),
    ("slave", host::slave),
    ("slave on a BAR", host::bar_slave),
    ("interrupt", host::interrupt),
    ("numbers of interrupts", host::interrupt_numbers),
    ("MSI-X", host::msix),
    ("instance that is off", host::disabled),
    ("automatic width", host::automatic),
    ("more banks", memory::more_banks),
    ("fewer banks", memory::fewer_banks),
    ("bursts", memory::bursts),
    ("requirement to the interconnect", memory::requirements),
    ("backup", files::backup),
    ("sourced settings", files::sourced),
    ("import", files::import),
    ("remarks in settings", files::remarks),
];

/// Bridges of the reference BSPs that only the old DMA needs.
const IDLE: [&str; 2] = ["dma_out", "dma_narrow"];
const NET_IDLE: [&str; 3] = ["cross_control", "cross_window", "cross_to_endpoint"];

/// Most changes of a variation, in addition to the spelling of its files.
const MOST: usize = 8;

/// A change with its own seed, so that it stays the same when others are left out.
#[derive(Clone)]
struct Step {
    change: usize,
    seed: u64,
}

/// A variation of a BSP.
struct Variation<'a> {
    origin: &'a Origin,
    seed: u64,
}

/// The BSP from which variations are made.
struct Origin {
    name: &'static str,
    bsp: PathBuf,
    /// Bridges that only the old DMA needs.
    idle: &'static [&'static str],
}

impl Variation<'_> {
    fn steps(&self) -> Vec<Step> {
        let mut random = Random::new(self.seed);
        let count = 1 + random.below(MOST);
        let step = |_| Step {
            change: random.below(CHANGES.len()),
            seed: random.next(),
        };
        (0..count).map(step).collect()
    }

    /// Makes the BSP; returns it with the descriptions of the changes.
    fn make(&self, steps: &[Step], spell: bool) -> (Design, Vec<String>) {
        let mut design = Design::read(&self.origin.bsp, self.origin.idle);
        let mut said = Vec::new();
        for step in steps {
            let (name, change) = CHANGES[step.change];
            if design.msix && name == "interrupt" {
                // More interrupts than the block has vectors for.
                continue;
            }
            if let Some(what) = change(&mut design, &mut Random::new(step.seed)) {
                said.push(format!("{name}: {what}"));
            }
        }
        if spell {
            let mut random = Random::new(self.seed ^ 1);
            while random.one_in(2) {
                said.extend(
                    files::style(&mut design, &mut random).map(|w| format!("spelling of {w}")),
                );
            }
            said.extend(files::last_touches(&mut design, &mut random));
        }
        (design, said)
    }

    /// Returns the faults of its extension.
    fn faults(&self, steps: &[Step], spell: bool, at: &Path) -> Vec<String> {
        let (bsp, out) = (at.join("bsp"), at.join("out"));
        let tried = catch_unwind(AssertUnwindSafe(|| {
            let (design, _) = self.make(steps, spell);
            design.write(&bsp);
            let irq = if design.msix { "msix" } else { "rxm" };
            // Nothing of the vendor's changes unnecessarily.
            let config = format!("irq = \"{irq}\"\ninterconnect_stages = \"vendor\"");
            let config = Config::parse(Path::new("c.toml"), &config).unwrap();
            if let Err(error) = common::extend_to(&bsp, &out, config, None) {
                return vec![error.paragraph()];
            }
            let findings = structure(&Layout::find(&out).unwrap()).unwrap().0;
            let bad = findings.iter().filter(|f| f.level == Level::Bad);
            let mut faults: Vec<String> = bad.map(|f| f.what.to_string()).collect();
            faults.extend(compare::differences(&design, &bsp, &out));
            let back = at.join("back");
            let options = revert::Options {
                bsp: out,
                out: back.clone(),
                without_edits: false,
            };
            match revert::revert(&options) {
                Err(error) => faults.push(error.paragraph()),
                Ok(_) if common::snapshot(&back) != common::snapshot(&bsp) => {
                    faults.push("the restored BSP differs from the vendor's".into());
                }
                Ok(_) => {}
            }
            faults
        }));
        tried.unwrap_or_else(|_| vec!["panicked, see above".into()])
    }

    /// Returns the faults, if there are any, with the fewest changes that cause them.
    fn run(&self) -> Result<(), String> {
        let faults = |steps: &[Step], spell| {
            let work = tempfile::tempdir().unwrap();
            self.faults(steps, spell, work.path())
        };
        let (mut steps, mut spell) = (self.steps(), true);
        let mut found = faults(&steps, spell);
        if found.is_empty() {
            return Ok(());
        }
        let mut simpler = |steps: &[Step], spell| {
            let fewer = faults(steps, spell);
            let fails = !fewer.is_empty();
            if fails {
                found = fewer;
            }
            fails
        };
        spell = !simpler(&steps, false);
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.remove(at);
            match simpler(&fewer, spell) {
                true => steps = fewer,
                false => at += 1,
            }
        }
        let (_, said) = catch_unwind(AssertUnwindSafe(|| self.make(&steps, spell)))
            .unwrap_or_else(|_| panic!("{}:{} is not made", self.origin.name, self.seed));
        Err(format!(
            "{}:{}\n  changes:\n    {}\n  faults:\n    {}",
            self.origin.name,
            self.seed,
            said.join("\n    "),
            found.join("\n    ")
        ))
    }
}

/// Tries variations of a BSP, or the one that the environment names.
fn vary(
    name: &'static str,
    bsp: PathBuf,
    idle: &'static [&'static str],
    seeds: std::ops::Range<u64>,
) {
    let origin = Origin { name, bsp, idle };
    if let Ok(wish) = std::env::var("PEERLANE_VARIATION") {
        if let Some(seed) = wish.strip_prefix(&format!("{name}:")) {
            alone(
                &origin,
                seed.parse().expect("PEERLANE_VARIATION is ORIGIN:SEED"),
            );
        }
        return;
    }
    let origin = &origin;
    let runs = seeds.clone().map(|seed| Variation { origin, seed }.run());
    let failed: Vec<String> = runs.filter_map(Result::err).collect();
    let (failures, all) = (failed.len(), seeds.count());
    assert!(
        failed.is_empty(),
        "{failures} of {all} variations failed\n{}",
        failed.join("\n")
    );
}

/// Runs one variation, and leaves its files.
fn alone(origin: &Origin, seed: u64) {
    let variation = Variation { origin, seed };
    let at = std::env::temp_dir().join(format!("peerlane-variation-{}-{seed}", origin.name));
    if at.exists() {
        fs::remove_dir_all(&at).unwrap();
    }
    let (_, said) = variation.make(&variation.steps(), true);
    println!("{}\n{}", at.display(), said.join("\n"));
    let faults = variation.faults(&variation.steps(), true, &at);
    assert!(faults.is_empty(), "{}", variation.run().unwrap_err());
}

/// Checks that every change occurs in some of the variations, except those for which a BSP has no place.
fn all_changes_are_made(origin: &Origin, but: &[&str]) {
    let mut made = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let variation = Variation { origin, seed };
        let (_, said) = variation.make(&variation.steps(), false);
        made.extend(
            said.iter()
                .filter_map(|s| Some(s.split_once(':')?.0.to_string())),
        );
    }
    let names = CHANGES.iter().map(|(name, _)| *name);
    let never: Vec<_> = names.filter(|name| !made.contains(*name)).collect();
    assert_eq!(never, but, "{}", origin.name);
}

/// The comparison must find each of these differences in an otherwise correct extension.
#[test]
fn the_comparison_finds_what_should_not_differ() {
    let system = "hardware/peerlane_ref_peerlane/acl_iface_system.qsys";
    let specification = "hardware/peerlane_ref_peerlane/board_spec.xml";
    let settings = "hardware/peerlane_ref_peerlane/top.qsf";
    let net_settings = "hardware/peerlane_net_peerlane/top.qsf";
    let net_specification = "hardware/peerlane_net_peerlane/board_spec.xml";
    for (file, from, to) in [
        // No change.
        (system, "", ""),
        (
            system,
            "\"MAX_PENDING_READS\" value=\"64\"",
            "\"MAX_PENDING_READS\" value=\"32\"",
        ),
        (
            system,
            "end=\"memory_pipe.clk\"",
            "end=\"memory_pipe.clk \"",
        ),
        (
            system,
            "start=\"ddr.afi_clk\" end=\"memory.clk\"",
            "start=\"host_link.coreclkout\" end=\"memory.clk\"",
        ),
        (system, "end=\"dma_engine.att\"", "end=\"dma_engine.msix\""),
        (system, "value=\"0x00028000\"", "value=\"0x00024000\""),
        (system, "value=\"0x3800\"", "value=\"0x3900\""),
        (system, "element status\n", "element statuses\n"),
        (specification, "latency=\"240\"", "latency=\"241\""),
        (settings, "SEARCH_PATH iface", "SEARCH_PATH ."),
        (
            settings,
            "iface/peerlane/peerlane.qsf",
            "iface/peerlane/other.qsf",
        ),
        ("hardware/peerlane_ref_peerlane/top.v", "module", "Module"),
        ("peerlane-report.mine", "", ""),
        ("README.md", "peerlane_ref", "another_board"),
        ("peerlane/vendor/README.md", "reference", "Reference"),
        // No change, in the other BSP.
        (net_settings, "", ""),
        (net_settings, "peerlane_dma:copier", "peerlane_dma:copied"),
        (
            net_settings,
            "peerlane_dma:copier",
            "system_board_copier:copier",
        ),
        (
            net_settings,
            "peerlane_dma:copier",
            "peerlane_dma_msix:copier",
        ),
        (net_settings, "bridge:host_pipe", "bridge:cross_control"),
        (
            net_settings,
            "# Partitions",
            "set_instance_assignment -name LL_MEMBER_OF r -to \"x:host_pipe\"\n# Partitions",
        ),
        (net_specification, "\"s5_net\"", "\"auto\""),
        (net_specification, "\"s5_net\"", "\"cvpqxp_13.x\""),
    ] {
        let net = file.contains("peerlane_net");
        let work = match net {
            true => common::Work::of(&common::reference_net()),
            false => common::Work::new(),
        };
        work.extend("interconnect_stages = \"vendor\"").unwrap();
        let path = work.out.join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        assert!(before.contains(from), "{file} has no {from}");
        let often = if file == "README.md" { usize::MAX } else { 1 };
        fs::write(&path, before.replacen(from, to, often)).unwrap();
        let idle = if net { &NET_IDLE[..] } else { &IDLE[..] };
        let design = Design::read(&work.bsp, idle);
        let faults = compare::differences(&design, &work.bsp, &work.out);
        let sound = [system, net_settings].contains(&file) && from == to;
        assert_eq!(faults.is_empty(), sound, "{from} → {to}: {faults:#?}");
    }
}

/// Defines tests of a BSP: a few variations, and all, which take their time.
macro_rules! variations {
    ($name:ident, $bsp:expr, $idle:expr, $never:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn some() {
                each(0..12);
            }

            #[test]
            #[ignore = "minutes: cargo xtask test bsp-all"]
            fn long_run() {
                each(0..200);
            }

            #[test]
            fn all_changes_are_made() {
                let (name, idle) = (stringify!($name), $idle);
                if let Some(bsp) = $bsp {
                    super::all_changes_are_made(&Origin { name, bsp, idle }, $never);
                }
            }

            fn each(seeds: std::ops::Range<u64>) {
                if let Some(bsp) = $bsp {
                    vary(stringify!($name), bsp, $idle, seeds);
                }
            }
        }
    };
}

variations!(reference, Some(common::reference()), &IDLE, &[]);
variations!(
    net,
    Some(common::reference_net()),
    &NET_IDLE,
    &["larger BAR"]
);
variations!(
    vendor,
    common::vendor_bsp(),
    &["clock_cross_dma_to_pcie"],
    &["fewer banks"]
);
