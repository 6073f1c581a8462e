//! Suites with virtual machines that run concurrently with the other suites, if that is asked for.
//!
//! A virtual machine here keeps one processor busy, and most other test programs do, too. So from the moment when the
//! test programs are built, the suites with machines run in a process of their own (`xtask test SUITE…`), and the
//! others yield to it, because programs in a machine see the time pass. Its output is shown when the others have ended,
//! so that lines of different suites do not mix.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use miette::{IntoDiagnostic, WrapErr};
use serde::{Deserialize, Serialize};

use crate::suites::Suite;

/// Environment variable of the process: the file into which it writes the outcomes of its suites.
const VARIABLE: &str = "PEERLANE_OUTCOMES";

/// The `nice` number with which the others yield.
const YIELD: i32 = 10;

/// Outcome of one step or suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The name. Suites are at the margin, their steps are indented.
    pub(crate) label: String,
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Its duration.
    pub(crate) time: Duration,
}

/// Reports the outcomes of the suites to the process that started this one, if there is one.
pub(crate) fn tell(report: &[Outcome]) -> miette::Result<()> {
    let Some(path) = env::var_os(VARIABLE) else {
        return Ok(());
    };
    let text = serde_json::to_string(report).into_diagnostic()?;
    fs::write(path, text)
        .into_diagnostic()
        .wrap_err("cannot report the outcomes of the suites")
}

/// Suites that run in a process of their own.
pub(crate) struct Beside {
    names: Vec<&'static str>,
    child: Child,
    directory: tempfile::TempDir,
    start: Instant,
}

impl Beside {
    /// Starts the suites. This process and all that it starts from now on yield to them.
    pub(crate) fn start(root: &Path, suites: &[&Suite]) -> miette::Result<Self> {
        let names: Vec<_> = suites.iter().map(|suite| suite.name).collect();
        let program = env::current_exe().into_diagnostic()?;
        let directory = tempfile::tempdir().into_diagnostic()?;
        let log = fs::File::create(directory.path().join("log")).into_diagnostic()?;
        let child = Command::new(program)
            .arg("test")
            .args(&names)
            .current_dir(root)
            .env(VARIABLE, directory.path().join("outcomes"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().into_diagnostic()?)
            .stderr(log)
            .spawn()
            .into_diagnostic()
            .wrap_err("cannot run the suites with virtual machines")?;
        // A process that may not yield shares equally.
        let _ = rustix::process::nice(YIELD);
        let started = Self {
            names,
            child,
            directory,
            start: Instant::now(),
        };
        println!(
            "\nsuite {} runs concurrently with the next ones; its output follows theirs, and is in {} until then",
            started.names.join(", "),
            started.log().display()
        );
        Ok(started)
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// Waits for the suites, shows their output, and returns their outcomes.
    pub(crate) fn finish(mut self) -> miette::Result<Vec<Outcome>> {
        if self.child.try_wait().into_diagnostic()?.is_none() {
            println!("\nwaiting for suite {}", self.names.join(", "));
        }
        let status = self.child.wait().into_diagnostic()?;
        let mut text = Vec::new();
        fs::File::open(self.log())
            .and_then(|mut log| log.read_to_end(&mut text))
            .into_diagnostic()?;
        println!("\n{}", String::from_utf8_lossy(&text));
        let outcomes = fs::read_to_string(self.directory.path().join("outcomes"));
        let mut report: Vec<Outcome> = outcomes
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        // The process may have ended before its report.
        if report.iter().all(|outcome| outcome.failed == 0) && !status.success() {
            report.push(Outcome {
                label: format!("{}: {status}", self.names.join(", ")),
                passed: 0,
                failed: 1,
                time: self.start.elapsed(),
            });
        }
        Ok(report)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Only on the way out of an error; a process that has ended is not killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn beside(script: &str) -> Beside {
        let directory = tempfile::tempdir().unwrap();
        let log = fs::File::create(directory.path().join("log")).unwrap();
        let child = Command::new("sh")
            .args(["-c", script])
            .env(VARIABLE, directory.path().join("outcomes"))
            .stdout(log)
            .spawn()
            .unwrap();
        Beside {
            names: vec!["things"],
            child,
            directory,
            start: Instant::now(),
        }
    }

    #[test]
    fn what_the_process_tells_is_reported() {
        let script = r#"echo '[{"label":"things","passed":3,"failed":1,
            "time":{"secs":2,"nanos":0}}]' > "$PEERLANE_OUTCOMES"; exit 1"#;
        let expected = Outcome {
            label: "things".to_owned(),
            passed: 3,
            failed: 1,
            time: Duration::from_secs(2),
        };
        assert_eq!(beside(script).finish().unwrap(), [expected]);
    }

    #[test]
    fn a_process_that_ends_without_a_word_has_failed() {
        for script in [
            "exit 1",
            "kill -9 $$",
            r#"echo '[' > "$PEERLANE_OUTCOMES"; exit 1"#,
        ] {
            let report = beside(script).finish().unwrap();
            let failed: u64 = report.iter().map(|outcome| outcome.failed).sum();
            assert_eq!(failed, 1, "{script}");
        }
    }
}
