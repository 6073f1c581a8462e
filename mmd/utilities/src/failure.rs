//! Errors.

use peerlane_host::Error;
use std::fmt;
use std::path::Path;

/// Result of a utility.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error with its hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The error, a sentence without its full stop.
    pub what: String,
    /// The hint, in whole sentences.
    pub hint: String,
}

impl Failure {
    /// Makes a failure; `what` is without, `hint` with a full stop.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Combines several failures, at least one; each has its own hint.
    pub(crate) fn all(mut all: Vec<Self>, hint: &str) -> Self {
        if all.len() == 1 {
            return all.remove(0);
        }
        let list = all.iter().zip(1..).map(|(one, n)| format!("({n}) {one}"));
        let list = list.collect::<Vec<_>>().join(" ");
        let what = format!(
            "{} things are missing. {}",
            all.len(),
            list.trim_end_matches('.')
        );
        Self::new(what, hint)
    }

    /// Makes the failure of a file that could not be read or written.
    pub(crate) fn io(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::new(
            format!("{}: cannot {doing}: {error}", path.display()),
            "Check that it exists, its permissions and the free space, then run this again.",
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what, self.hint)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}
