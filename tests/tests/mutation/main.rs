//! Measures how good the block's tests are. Mutants of its Verilog (`peerlane_verilog::mutants`), drawn evenly over the
//! modules that decide which packets go to the link, run against the tests of `hdl/tests` and the proofs. A mutant that
//! none finds is a gap, or changes nothing that can be seen, and then `tests/mutation/explained.toml` has the reason.
//!
//! All drawn mutants are in one model of each build, and a test process starts as one of them. The tests run one after
//! the other until one fails, those first that have found the most in the least time. A mutant that no test has found
//! is then put into the proofs of its module.
//!
//! `PEERLANE_DRAW=N` draws N mutants instead of [`DRAWN`], `PEERLANE_MODULES=receive,fence` draws from some groups
//! only, and `PEERLANE_NUMBERS=1,2` keeps only the drawn mutants with these numbers.
//! The report is `target/mutation.md`.

mod proofs;
mod report;
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    fs,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use peerlane_hdl::{Irq, Params, Port, generate};
use peerlane_tests::programs::target;
use peerlane_verilog::mutants::{Mutant, find};
use proofs::Proofs;
use report::{Found, Group};
use tests::{Experience, Test};

/// Mutants that are drawn.
const DRAWN: usize = 300;

/// The least percentage of mutants that must be found, not counting those that are explained.
const AIM: f64 = 95.0;

/// Each group, and the prefix of its modules' names.
const GROUPS: [(&str, &str); 4] = [
    ("pcie", "peerlane_pcie"),
    ("segment", "segment"),
    ("receive", "peerlane_engine_receive"),
    ("fence", "peerlane_engine_fence"),
];

/// Returns the parameters of a build that has all of these modules.
fn params() -> Params {
    Params {
        port: Port::Tlp,
        irq: Irq::Msix,
        port_bits: 256,
        reads_log2: 6,
        receive_log2: 12,
        ..Params::default()
    }
}

/// A mutant, and its group and module.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    group: &'static str,
    module: String,
    mutant: Mutant,
}

/// Returns all mutants of some groups, in the order of the modules and of their lines.
fn candidates(groups: &[&'static str]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for module in generate(&params()).unwrap().modules {
        let of = GROUPS.iter().find(|(group, part)| {
            groups.contains(group) && module.name.contains(part) && !module.name.contains("sync")
        });
        let Some((group, _)) = of else { continue };
        found.extend(
            find(&module.name, &module.verilog)
                .into_iter()
                .map(|mutant| Candidate {
                    group,
                    module: module.name.clone(),
                    mutant,
                }),
        );
    }
    found
}

/// Draws `number` mutants: from each module its share, those with the smallest numbers. The numbers are digests, so
/// they are spread over the module, and stay the same when other modules change.
fn drawn(candidates: &[Candidate], number: usize) -> Vec<Candidate> {
    let number = number.min(candidates.len());
    let mut drawn = Vec::new();
    let mut before = 0;
    for module in candidates.chunk_by(|a, b| a.module == b.module) {
        let share = |count: usize| count * number / candidates.len();
        let mut own: Vec<_> = module.iter().collect();
        own.sort_by_key(|candidate| candidate.mutant.number);
        own.truncate(share(before + module.len()) - share(before));
        own.sort_by_key(|candidate| candidate.mutant.line);
        drawn.extend(own.into_iter().cloned());
        before += module.len();
    }
    drawn
}

/// Returns the result of `work` for each item and its index, computed on all processors.
fn on_all_processors<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return;
            };
            let result = work(index, item);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(index, result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(run);
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

/// Runs the tests on each mutant.
fn tried(list: &Path, tests: &[Test], drawn: &[Candidate]) -> Vec<Found> {
    let experience = Mutex::new(Experience::default());
    on_all_processors(drawn, |index, candidate| {
        let by = tests::first_that_fails(list, tests, candidate, &experience);
        let mutant = &candidate.mutant;
        println!(
            "{:>4} of {}: {:<8} {:<9} {}",
            index + 1,
            drawn.len(),
            candidate.group,
            mutant.kind.name(),
            by.clone().unwrap_or_else(|| format!(
                "{} SURVIVES in {}: `{}` becomes `{}`",
                mutant.number, candidate.module, mutant.before, mutant.after
            )),
        );
        Found {
            candidate: candidate.clone(),
            by,
        }
    })
}

/// Runs the proofs on mutants that no test has found.
fn proved(found: Vec<Found>) -> Vec<Found> {
    let proofs = Proofs::all();
    on_all_processors(&found, |_, one| {
        let mut one = one.clone();
        if one.by.is_none() {
            one.by = proofs.first_that_fails(&one.candidate);
            if let Some(proof) = &one.by {
                println!("{}: {proof}", one.candidate.mutant.number);
            }
        }
        one
    })
}

#[test]
#[ignore = "external tools, an hour: cargo xtask test mutation"]
fn the_blocks_tests_find_mutants() {
    let number = env::var("PEERLANE_DRAW").map_or(DRAWN, |text| text.parse().unwrap());
    let asked = env::var("PEERLANE_MODULES").unwrap_or_default();
    let groups: Vec<_> = (GROUPS.iter().map(|(group, _)| *group))
        .filter(|group| asked.is_empty() || asked.split(',').any(|name| name == *group))
        .collect();
    let mut drawn = drawn(&candidates(&groups), number);
    if let Ok(numbers) = env::var("PEERLANE_NUMBERS") {
        let numbers: BTreeSet<_> = numbers.split(',').collect();
        drawn.retain(|one| numbers.contains(&*one.mutant.number.to_string()));
    }
    let work = tempfile::tempdir().unwrap();
    let list = work.path().join("mutants");
    let mut numbers = String::new();
    for candidate in &drawn {
        writeln!(numbers, "{}", candidate.mutant.number).unwrap();
    }
    fs::write(&list, numbers).unwrap();

    let tests = tests::timed(&list, &drawn);
    let found = proved(tried(&list, &tests, &drawn));
    let report = Group::all(&groups, &found);
    let text = report::markdown(&report, &found);
    fs::write(target().join("mutation.md"), &text).unwrap();
    println!("{text}");
    let missed: Vec<_> = report.iter().filter(|group| group.score() < AIM).collect();
    assert!(missed.is_empty(), "below {AIM} %: {missed:?}");
    let not_true = report::not_true(&found);
    assert!(not_true.is_empty(), "explained, and found: {not_true:?}");
}

#[test]
fn numbers_are_each_mutants_own() {
    let all = candidates(&GROUPS.map(|(group, _)| group));
    let numbers: BTreeSet<_> = all.iter().map(|c| c.mutant.number).collect();
    assert_eq!(numbers.len(), all.len());
    for (group, _) in GROUPS {
        assert!(all.iter().any(|c| c.group == group), "{group}");
    }
}

#[test]
fn what_is_explained_is_there() {
    let all = candidates(&GROUPS.map(|(group, _)| group));
    let there: BTreeSet<_> = all.iter().map(|c| c.mutant.number.to_string()).collect();
    let explained = report::explained();
    let gone: Vec<_> = explained.keys().filter(|n| !there.contains(*n)).collect();
    assert!(gone.is_empty(), "no mutants have the numbers {gone:?}");
}

#[test]
fn a_draw_is_even() {
    let all = candidates(&GROUPS.map(|(group, _)| group));
    let some = drawn(&all, DRAWN);
    assert_eq!(some.len(), DRAWN);
    assert_eq!(drawn(&all, usize::MAX).len(), all.len());
    for module in all.chunk_by(|a, b| a.module == b.module) {
        let of: Vec<_> = (some.iter())
            .filter(|c| c.module == module[0].module)
            .map(|c| c.mutant.line)
            .collect();
        let share = module.len() * DRAWN;
        assert!(share.abs_diff(of.len() * all.len()) < all.len());
        assert!(of.is_sorted());
    }
}

/// Checks that most explained mutants are still drawn after another module has changed.
#[test]
fn a_draw_stays_beside_a_change() {
    let all = candidates(&["pcie"]);
    let mut fewer = all.clone();
    let mut index = 0;
    fewer.retain(|c| {
        index += 1;
        c.module != "peerlane_pcie_asks" || index % 20 != 0
    });
    assert!(fewer.len() < all.len());
    let numbers = |all: &[Candidate]| -> BTreeSet<u32> {
        drawn(all, 100).iter().map(|c| c.mutant.number).collect()
    };
    let stay = numbers(&all).intersection(&numbers(&fewer)).count();
    assert!(stay > 90, "{stay} of 100");
}
