//! The tests that look for mutants.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use peerlane_tests::programs::{LEFT_OUT, command, ignored_tests, newest};
use peerlane_verilog::mutants::SELECT;

use crate::{Candidate, on_all_processors};

/// The test programs of `hdl/tests`.
const PROGRAMS: [&str; 3] = ["pcie", "dma", "interrupts"];

/// Factor of the time limit: a mutant that makes a test take longer than this many times its time, plus [`GRACE`], has
/// hung it.
const PATIENCE: u32 = 8;
const GRACE: Duration = Duration::from_secs(10);

/// A test of a program.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    program: PathBuf,
    name: String,
    /// Its time without a mutant.
    takes: Duration,
    /// The modules of its models.
    modules: BTreeSet<String>,
}

/// Environment variable of `peerlane_block::MODULES`: the file for the names of a model's modules.
const MODULES: &str = "PEERLANE_MODULES_OF_MODELS";

impl Test {
    fn start(&self, list: &Path, mutant: Option<u32>) -> Child {
        self.command(list, mutant).spawn().unwrap()
    }

    fn command(&self, list: &Path, mutant: Option<u32>) -> Command {
        let mut command = command(&self.program);
        command
            .args(["--ignored", "--exact", &self.name])
            .env("PEERLANE_MUTANTS", list)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(number) = mutant {
            command.env(SELECT, number.to_string());
        }
        command
    }

    /// Runs a test without a mutant, to measure its time. `None`: its models have none of these modules.
    fn known(program: &Path, name: &str, list: &Path, modules: &BTreeSet<&str>) -> Option<Self> {
        let mut test = Self {
            program: program.to_owned(),
            name: name.to_owned(),
            takes: Duration::ZERO,
            modules: BTreeSet::new(),
        };
        let told = tempfile::NamedTempFile::new().unwrap();
        let run = || {
            let begun = Instant::now();
            let mut command = test.command(list, None);
            let status = command.env(MODULES, told.path()).status().unwrap();
            assert!(status.success(), "{name} fails without a mutant");
            begun.elapsed()
        };
        // Once to compile the models, once to be timed.
        run();
        let names = std::fs::read_to_string(told.path()).unwrap();
        if !names.lines().any(|name| modules.contains(name)) {
            return None;
        }
        let takes = run();
        test.takes = takes;
        test.modules = names.lines().map(str::to_owned).collect();
        println!("{name}: {:.1} s", takes.as_secs_f64());
        Some(test)
    }

    /// Returns whether the test passes with a mutant.
    fn passes(&self, list: &Path, mutant: u32) -> bool {
        let limit = self.takes * PATIENCE + GRACE;
        ends(self.start(list, Some(mutant)), limit).is_some_and(|status| status.success())
    }
}

/// Waits for the end of a process; `None`: it did not end in time, and was killed.
fn ends(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begun.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns all tests that have one of the mutants' modules, with their times: each must pass as long as no mutant is
/// selected. The models are compiled here. As many tests run at once as later, so that the times are comparable.
pub(crate) fn timed(list: &Path, drawn: &[Candidate]) -> Vec<Test> {
    let modules: BTreeSet<_> = drawn.iter().map(|one| one.module.as_str()).collect();
    let mut names = Vec::new();
    for program in PROGRAMS {
        let program = newest(program);
        let of_program = ignored_tests(&program).into_iter();
        names.extend(
            of_program
                .filter(|name| LEFT_OUT.iter().all(|part| !name.contains(part)))
                .map(|name| (program.clone(), name)),
        );
    }
    let known = on_all_processors(&names, |_, (program, name)| {
        Test::known(program, name, list, &modules)
    });
    known.into_iter().flatten().collect()
}

/// For each group and test: the number of mutants that it has found, and the number that it was run on.
#[derive(Debug, Default)]
pub(crate) struct Experience(BTreeMap<(&'static str, usize), (u32, u32)>);

impl Experience {
    /// Returns the tests in the order in which one fails the soonest, as far as is known.
    fn order(&self, group: &'static str, tests: &[Test]) -> Vec<usize> {
        let worth = |index: usize| {
            let (found, asked) = self.0.get(&(group, index)).copied().unwrap_or_default();
            let likely = (f64::from(found) + 0.3) / (f64::from(asked) + 1.0);
            likely / (tests[index].takes.as_secs_f64() + 0.05)
        };
        let mut order: Vec<_> = (0..tests.len()).collect();
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
        order
    }

    fn add(&mut self, group: &'static str, test: usize, has_found: bool) {
        let (found, asked) = self.0.entry((group, test)).or_default();
        *found += u32::from(has_found);
        *asked += 1;
    }
}

/// Returns the test that finds a mutant.
pub(crate) fn first_that_fails(
    list: &Path,
    tests: &[Test],
    candidate: &Candidate,
    experience: &Mutex<Experience>,
) -> Option<String> {
    let known = || experience.lock().unwrap_or_else(PoisonError::into_inner);
    let order = known().order(candidate.group, tests);
    for index in order {
        // A test without the module cannot see it.
        if !tests[index].modules.contains(&candidate.module) {
            continue;
        }
        let fails = !tests[index].passes(list, candidate.mutant.number);
        known().add(candidate.group, index, fails);
        if fails {
            return Some(tests[index].name.clone());
        }
    }
    None
}
