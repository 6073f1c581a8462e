//! Runs suites, counts and reports.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use miette::{IntoDiagnostic, WrapErr};

use crate::{
    beside::{self, Beside, Outcome},
    figures::{self, Figures},
    programs::{self, Program},
    suites::{self, Step, Suite},
};

/// How many passed and how many failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
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
            passed: self.passed,
            failed: self.failed,
            time: start.elapsed(),
        }
    }
}

/// Runs the suites, prints the report, and returns whether all tests passed. A suite that the machine cannot run is
/// left out with a message, or has failed if the run is to be `complete`.
///
/// With `share`, suites with machines run concurrently with the others as soon as the test programs are built.
pub(crate) fn run(
    root: &Path,
    suites: &[&Suite],
    complete: bool,
    share: bool,
) -> miette::Result<bool> {
    if suites.iter().any(|suite| suite.machines) {
        // The suites before compile in that time. The suite itself reports errors of the set-up.
        thread::spawn(suites::set_up_machines);
    }
    let mut report = Vec::new();
    let mut programs = Programs::default();
    let figures = Figures::new();
    let mut beside: Option<Beside> = None;
    for (index, suite) in suites.iter().enumerate() {
        if beside.is_some() && suite.machines {
            continue;
        }
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
            if let Some(why) = step.left_out() {
                println!("\n== {}: {}\nLEFT OUT: {why}", suite.name, step.label());
                steps.push(Outcome {
                    label: format!("  {} (left out)", step.label()),
                    passed: 0,
                    failed: 0,
                    time: Duration::ZERO,
                });
                continue;
            }
            let begun = Instant::now();
            let of_step = run_step(root, &mut programs, &figures, suite.name, step)?;
            count.add(of_step);
            steps.push(of_step.outcome(format!("  {}", step.label()), begun));
        }
        println!("\nsuite {}", suite.name);
        if let Some(tables) = figures.take() {
            println!("\n{tables}\n");
        }
        println!("{}", count.line());
        report.push(count.outcome(suite.name.to_owned(), start));
        report.extend(steps);
        if share && beside.is_none() && programs.are_built() {
            beside = start_beside(root, &suites[index + 1..])?;
        }
    }
    if let Some(beside) = beside {
        report.extend(beside.finish()?);
    }
    println!("\n{}", table(&report));
    beside::tell(&report)?;
    Ok(report.iter().all(|outcome| outcome.failed == 0))
}

/// Starts those of the remaining suites that have machines, if there are others to run at the same time, and if this
/// machine can run them.
fn start_beside(root: &Path, to_come: &[&Suite]) -> miette::Result<Option<Beside>> {
    let (machines, others): (Vec<&Suite>, Vec<&Suite>) =
        to_come.iter().copied().partition(|suite| suite.machines);
    let possible = machines
        .first()
        .is_some_and(|suite| suite.obstacle().is_none());
    if !possible || others.is_empty() {
        return Ok(None);
    }
    Beside::start(root, &machines).map(Some)
}

fn run_step(
    root: &Path,
    programs: &mut Programs,
    figures: &Figures,
    suite: &str,
    step: &Step,
) -> miette::Result<Count> {
    Ok(match step {
        Step::Check { label, cargo, env } => {
            announce(suite, label);
            let mut command = crate::cargo(root);
            command.args(*cargo).envs(env.iter().copied());
            let passed = command
                .status()
                .into_diagnostic()
                .wrap_err("cannot run cargo")?
                .success();
            if !passed {
                println!("{suite}: {label} FAILED: cargo {}", cargo.join(" "));
            }
            Count {
                passed: u64::from(passed),
                failed: u64::from(!passed),
            }
        }
        Step::Tests {
            label,
            of,
            arguments,
            env,
            ..
        } => {
            announce(suite, label);
            let mut count = Count::default();
            let mut success = true;
            match programs.get(root)? {
                None => success = false,
                Some(programs) => {
                    for program in programs.iter().filter(|p| of.takes(&p.package, &p.target)) {
                        println!("\n{} {}", program.package, program.target);
                        let mut command = program.command();
                        command.args(*arguments).envs(env.iter().copied());
                        command.env(figures::VARIABLE, figures.path());
                        let (more, ended_well) = count_tests(command, one_at_a_time(arguments))?;
                        count.add(more);
                        success &= ended_well;
                    }
                }
            }
            judged(suite, label, count, success)
        }
        Step::DocTests => {
            let label = step.label();
            announce(suite, label);
            let mut command = crate::cargo(root);
            command.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
            let (count, success) = count_tests(command, false)?;
            judged(suite, label, count, success)
        }
    })
}

/// The test programs, built when the first step wants them.
#[derive(Default)]
struct Programs(Option<Option<Vec<Program>>>);

impl Programs {
    /// Reports whether they were built without an error.
    fn are_built(&self) -> bool {
        matches!(self.0, Some(Some(_)))
    }

    fn get(&mut self, root: &Path) -> miette::Result<Option<&[Program]>> {
        let built = match self.0.take() {
            Some(built) => built,
            None => programs::build(root)?,
        };
        Ok(self.0.insert(built).as_deref())
    }
}

fn announce(suite: &str, label: &str) {
    println!("\n== {suite}: {label}");
}

/// Calls [`judge`], with a line for the user.
fn judged(suite: &str, label: &str, count: Count, success: bool) -> Count {
    let (count, problem) = judge(count, success);
    if let Some(problem) = problem {
        println!("{suite}: {label} FAILED: {problem}");
    }
    count
}

/// Makes failures that no test reported count as one, and a run without tests a failure.
fn judge(count: Count, success: bool) -> (Count, Option<&'static str>) {
    let problem = match (count, success) {
        (Count { failed: 0, .. }, false) => "the build failed, or a test program crashed",
        (
            Count {
                passed: 0,
                failed: 0,
            },
            true,
        ) => "no test ran",
        _ => return (count, None),
    };
    let count = Count {
        failed: count.failed + 1,
        ..count
    };
    (count, Some(problem))
}

/// Reports whether a program with these arguments runs its tests one after the other.
fn one_at_a_time(arguments: &[&str]) -> bool {
    arguments.contains(&"--test-threads=1")
}

/// Runs a program with tests, shows its output as it comes, and adds up its results. If each test begins when the one
/// before has ended (`in_turn`), its duration is shown next to it.
fn count_tests(mut command: Command, in_turn: bool) -> miette::Result<(Count, bool)> {
    let mut begun = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {}", command.get_program().display()))?;
    let mut count = Count::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.into_diagnostic()?;
            let line = String::from_utf8_lossy(&line);
            if in_turn && is_end_of_test(&line) {
                println!("{line}  {:.1} s", begun.elapsed().as_secs_f32());
                begun = Instant::now();
            } else {
                println!("{line}");
            }
            if let Some(result) = test_result(&line) {
                count.add(result);
            }
        }
    }
    let status = child.wait().into_diagnostic()?;
    Ok((count, status.success()))
}

/// Reports whether this is libtest's line of a test that has ended: `test a::b ... ok`.
fn is_end_of_test(line: &str) -> bool {
    ["ok", "FAILED"].iter().any(|result| {
        line.strip_suffix(result)
            .is_some_and(|test| test.ends_with("... "))
    })
}

/// Reads libtest's closing line: `test result: ok. 5 passed; 0 failed; 1 ignored; …`.
fn test_result(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |what: &str| {
        counts
            .split("; ")
            .find_map(|part| part.strip_suffix(what))
            .and_then(|number| number.trim().parse().ok())
    };
    Some(Count {
        passed: number(" passed")?,
        failed: number(" failed")?,
    })
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
    for outcome in report {
        let Outcome {
            label,
            passed,
            failed,
            time,
        } = outcome;
        let mark = if *failed == 0 { "" } else { "  FAILED" };
        let seconds = time.as_secs_f32();
        lines.push(format!(
            "{label:<width$}  {passed:>7}  {failed:>7}  {seconds:>6.1} s{mark}"
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::{Installed, Of, tests_with};

    fn count(passed: u64, failed: u64) -> Count {
        Count { passed, failed }
    }

    #[test]
    fn libtest_results_are_read() {
        let line = "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 1 filtered out; \
                    finished in 0.00s";
        assert_eq!(test_result(line), Some(count(12, 0)));
        let line = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered \
                    out; finished in 1.10s";
        assert_eq!(test_result(line), Some(count(3, 2)));
        assert_eq!(test_result("test a::b ... ok"), None);
        assert_eq!(test_result("all doctests ran in 0.18s"), None);
        assert_eq!(test_result("test result: ok."), None);
    }

    #[test]
    fn nothing_run_and_nothing_built_are_failures() {
        assert_eq!(judge(count(3, 0), true), (count(3, 0), None));
        assert_eq!(judge(count(3, 1), false), (count(3, 1), None));
        let (ran_none, why) = judge(count(0, 0), true);
        assert_eq!((ran_none, why.is_some()), (count(0, 1), true));
        let (crashed, why) = judge(count(7, 0), false);
        assert_eq!((crashed, why.is_some()), (count(7, 1), true));
    }

    #[cfg(unix)]
    #[test]
    fn results_of_several_programs_are_added_and_the_exit_status_kept() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; \
             echo 'test result: FAILED. 1 passed; 4 failed; 0 ignored'; exit 101",
        ]);
        assert_eq!(count_tests(command, true).unwrap(), (count(3, 4), false));
    }

    #[test]
    fn ends_of_tests_are_known() {
        for line in ["test a::b ... ok", "test a ... FAILED"] {
            assert!(is_end_of_test(line), "{line}");
        }
        let result = "test result: ok. 1 passed; 0 failed; 0 ignored; finished in 0.00s";
        for line in [result, "running 2 tests", "ok", "test a ... ignored, long"] {
            assert!(!is_end_of_test(line), "{line}");
        }
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
            default: true,
            machines: false,
            steps: &[tests_with(&NOWHERE, "with a thing", Of::Package("a"), &[])],
        };
        // There is no workspace to build.
        assert!(run(Path::new("/nowhere"), &[&SUITE], true, true).unwrap());
    }

    #[test]
    fn the_closing_line_stands_as_others_read_it() {
        assert_eq!(count(5, 0).line(), "5 passed, 0 failed");
    }
}
