//! Runs suites, and reports.

use std::{
    env, fs, io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use miette::{IntoDiagnostic, WrapErr};
use peerlane_tools::{Cache, Program};

use crate::{
    junit::{self, Test},
    suites::{Kernel, Step, Suite, Tests},
    tools,
};

/// Number of tests in the closing list of the slowest.
const SLOWEST: usize = 10;

/// Outcome of a step or suite.
#[derive(Debug)]
struct Outcome {
    /// The name. Suites are at the margin, their steps are indented.
    label: String,
    count: Count,
    time: Duration,
}

/// How many passed and how many failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    /// Counts one check.
    fn one(passed: bool) -> Self {
        Self {
            passed: u64::from(passed),
            failed: u64::from(!passed),
        }
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    fn line(self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }

    /// Makes the outcome of a step or suite since `start`.
    fn outcome(self, label: String, start: Instant) -> Outcome {
        Outcome {
            label,
            count: self,
            time: start.elapsed(),
        }
    }
}

/// Runs the suites, prints the report, and returns whether all tests passed. A suite that the machine cannot run is
/// left out with a message, or has failed if the run is to be `complete`.
///
/// `partition` is nextest's: a part of the tests runs.
pub(crate) fn run(
    root: &Path,
    suites: &[&Suite],
    complete: bool,
    partition: Option<&str>,
) -> miette::Result<bool> {
    let kernels: Vec<Kernel> = suites
        .iter()
        .flat_map(|suite| suite.kernels)
        .copied()
        .collect();
    // The suites before compile in that time. The suite itself reports errors of the set-up.
    thread::spawn(move || kernels.into_iter().try_for_each(Kernel::set_up));
    let mut runner = Runner {
        root,
        partition,
        nextest: None,
        tests: Vec::new(),
    };
    let mut report = Vec::new();
    for suite in suites {
        let start = Instant::now();
        let mut count = Count::default();
        if let Some(obstacle) = suite.obstacle() {
            let word = if complete { "CANNOT RUN" } else { "LEFT OUT" };
            println!("\nsuite {}\n{word}: {obstacle}", suite.name);
            println!(
                "run `cargo xtask test --skip {}` for the others",
                suite.name
            );
            count.failed = u64::from(complete);
            let label = format!("{} ({})", suite.name, word.to_lowercase());
            report.push(count.outcome(label, start));
            continue;
        }
        let mut steps = Vec::new();
        for step in suite.steps {
            let (label, begun) = (step.label(), Instant::now());
            println!("\n== {}: {label}", suite.name);
            if let Some(why) = step.left_out() {
                println!("LEFT OUT: {why}");
                steps.push(Count::default().outcome(format!("  {label} (left out)"), begun));
                continue;
            }
            let of_step = match step {
                Step::Check { cargo, env, .. } => runner.check(cargo, env)?,
                Step::Tests(tests) => runner.tests(tests)?,
            };
            count.add(of_step);
            steps.push(of_step.outcome(format!("  {label}"), begun));
        }
        println!("\nsuite {}\n{}", suite.name, count.line());
        report.push(count.outcome(suite.name.to_owned(), start));
        report.extend(steps);
    }
    println!("\n{}", table(&report));
    if !runner.tests.is_empty() {
        println!("\nslowest tests\n{}", slowest(runner.tests));
    }
    Ok(report.iter().all(|outcome| outcome.count.failed == 0))
}

/// Parts of a run that its steps share.
struct Runner<'a> {
    root: &'a Path,
    partition: Option<&'a str>,
    /// Set up by the first step that has tests.
    nextest: Option<Program>,
    /// All tests so far.
    tests: Vec<Test>,
}

impl Runner<'_> {
    /// Runs a cargo command.
    fn check(&self, cargo: &[&str], env: &[(&str, &str)]) -> miette::Result<Count> {
        let mut command = crate::cargo(self.root);
        let status = command.args(cargo).envs(env.iter().copied()).status();
        let passed = status
            .into_diagnostic()
            .wrap_err("cannot run cargo")?
            .success();
        if !passed {
            println!("FAILED: cargo {}", cargo.join(" "));
        }
        Ok(Count::one(passed))
    }

    /// Runs the tests of a profile. All of the workspace is built: cargo joins the features of dependencies over the
    /// packages that it is asked for, so that most would be compiled again for a part of it.
    fn tests(&mut self, tests: &Tests) -> miette::Result<Count> {
        let nextest = match self.nextest.take() {
            Some(nextest) => nextest,
            None => Cache::open()
                .and_then(|cache| cache.nextest())
                .map_err(tools::report)?,
        };
        let results = self.root.join("target/nextest").join(tests.profile);
        let results = results.join("junit.xml");
        remove(&results)?;
        let mut command = nextest.command();
        command
            .current_dir(self.root)
            .args(["nextest", "run", "--workspace", "--profile", tests.profile])
            .args(tests.arguments)
            .envs(tests.env.iter().copied());
        if let Some(partition) = self.partition {
            command.args(["--partition", partition, "--no-tests=pass"]);
        }
        if env::var_os("CI").is_some() {
            command.arg("--locked");
        }
        self.nextest = Some(nextest);
        let status = command.status();
        let success = status
            .into_diagnostic()
            .wrap_err("cannot run cargo-nextest")?
            .success();
        let ran = junit::read(&results)?;
        let mut count = Count::default();
        for test in &ran {
            count.add(Count::one(test.passed));
        }
        self.tests.extend(ran);
        let (count, problem) = judge(count, success, self.partition.is_some());
        if let Some(problem) = problem {
            println!("{}: FAILED: {problem}", tests.profile);
        }
        Ok(count)
    }
}

/// Removes the results of an earlier run.
fn remove(file: &Path) -> miette::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot remove {}", file.display())),
        _ => Ok(()),
    }
}

/// Makes failures that no test reported count as one, and a run without tests a failure, unless it is a `part`.
fn judge(count: Count, success: bool, part: bool) -> (Count, Option<&'static str>) {
    let problem = match (count, success) {
        (Count { failed: 0, .. }, false) => "the build failed, or no test ran",
        (
            Count {
                passed: 0,
                failed: 0,
            },
            true,
        ) if !part => "no test ran",
        _ => return (count, None),
    };
    let count = Count {
        failed: count.failed + 1,
        ..count
    };
    (count, Some(problem))
}

/// Returns the summary. Suites are at the margin, their steps are indented.
fn table(report: &[Outcome]) -> String {
    let width = report
        .iter()
        .map(|outcome| outcome.label.chars().count())
        .chain(["suite".len()])
        .max()
        .unwrap_or(0);
    let mut lines = vec![format!(
        "{:<width$}  {:>7}  {:>7}  {:>8}",
        "suite", "passed", "failed", "time"
    )];
    for Outcome { label, count, time } in report {
        let Count { passed, failed } = count;
        let mark = if *failed == 0 { "" } else { "  FAILED" };
        let seconds = time.as_secs_f32();
        lines.push(format!(
            "{label:<width$}  {passed:>7}  {failed:>7}  {seconds:>6.1} s{mark}"
        ));
    }
    lines.join("\n")
}

/// Returns the list of the slowest tests.
fn slowest(mut tests: Vec<Test>) -> String {
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let lines = tests.iter().take(SLOWEST);
    let lines = lines.map(|test| format!("{:>8.1} s  {}", test.seconds, test.name));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::{Installed, Runs};

    fn count(passed: u64, failed: u64) -> Count {
        Count { passed, failed }
    }

    #[test]
    fn nothing_run_and_nothing_built_are_failures() {
        for part in [false, true] {
            assert_eq!(judge(count(3, 0), true, part), (count(3, 0), None));
            assert_eq!(judge(count(3, 1), false, part), (count(3, 1), None));
            let (crashed, why) = judge(count(7, 0), false, part);
            assert_eq!((crashed, why.is_some()), (count(7, 1), true));
        }
        let (ran_none, why) = judge(count(0, 0), true, false);
        assert_eq!((ran_none, why.is_some()), (count(0, 1), true));
        assert_eq!(judge(count(0, 0), true, true), (count(0, 0), None));
    }

    #[test]
    fn what_is_left_out_is_neither_built_nor_a_failure() {
        const NOWHERE: Installed = Installed {
            variable: "PEERLANE_NOBODY_SETS_THIS",
            what: "a thing",
        };
        const SUITE: Suite = Suite {
            name: "things",
            about: "",
            runs: Runs::All,
            kernels: &[],
            steps: &[Step::Tests(Tests {
                profile: "with-a-thing",
                arguments: &[],
                env: &[],
                needs: Some(&NOWHERE),
            })],
        };
        // There is no workspace to build.
        assert!(run(Path::new("/nowhere"), &[&SUITE], true, None).unwrap());
    }

    #[test]
    fn the_slowest_come_first() {
        let test = |name: &str, seconds: f64| Test {
            name: name.to_owned(),
            passed: true,
            seconds,
        };
        let tests = (0..20).map(|number| test(&format!("t{number}"), f64::from(number)));
        let text = slowest(tests.collect());
        assert!(
            text.starts_with("    19.0 s  t19\n    18.0 s  t18\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), SLOWEST);
    }
}
