//! The proofs that see mutants which no test has found.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use peerlane_tests::programs::{MUTANT_OF, MUTANT_SEEN, ignored_tests, newest};
use peerlane_verilog::mutants::SELECT;

use crate::Candidate;

/// Seconds after which a proof counts as passed: more than those of a module take without a mutant.
const PATIENCE: &str = "240";

/// All proofs.
pub(crate) struct Proofs {
    program: PathBuf,
    names: Vec<String>,
}

impl Proofs {
    pub(crate) fn all() -> Self {
        let program = newest("proofs");
        let names = ignored_tests(&program);
        Self { program, names }
    }

    /// The first proof that has a course of events in which the mutant breaks it. Those of other modules end at once.
    pub(crate) fn first_that_fails(&self, candidate: &Candidate) -> Option<String> {
        let fails = |name: &&String| {
            let status = Command::new("timeout")
                .args(["--signal=KILL", PATIENCE])
                .arg(&self.program)
                .args(["--ignored", "--exact", name])
                .env(MUTANT_OF, &candidate.module)
                .env(SELECT, candidate.mutant.number.to_string())
                .env("RUST_BACKTRACE", "0")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            status.code() == Some(MUTANT_SEEN)
        };
        let found = self.names.iter().find(fails);
        found.map(|name| format!("proofs: {name}"))
    }
}
