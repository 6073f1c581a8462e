//! What `peerlane doctor` looks at: findings, each with what to do about it.

mod amd;
mod checks;
mod missing;
mod nvidia;
pub(crate) mod pci;
mod probes;
mod way;

pub use probes::{Reads, Where, probe};

use serde::Serialize;
use std::path::Path;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and could be better; or it cannot be seen from here.
    Note,
    /// It does not work so.
    Wrong,
}

impl State {
    /// Its word in a line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at: `link`, for one.
    pub about: &'static str,
    /// How it is.
    pub state: State,
    /// A sentence without its full stop.
    pub what: String,
    /// Whole sentences; nothing where all is well.
    pub remedy: Option<String>,
}

impl Finding {
    pub(crate) fn ok(about: &'static str, what: impl Into<String>) -> Self {
        Self {
            about,
            state: State::Ok,
            what: what.into(),
            remedy: None,
        }
    }

    pub(crate) fn note(
        about: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            about,
            state: State::Note,
            what: what.into(),
            remedy: Some(remedy.into()),
        }
    }

    pub(crate) fn wrong(
        about: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Wrong,
            ..Self::note(about, what, remedy)
        }
    }

    /// Its line.
    pub fn line(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!(". {remedy}"));
        let text = format!("{}{}", self.what, remedy.unwrap_or_default());
        // A line is a line, whatever stands in a file that a finding quotes.
        let text = text.replace(char::is_control, " ");
        format!("{}: {}: {text}", self.about, self.state.word())
    }
}

/// Looks at a computer: what its kernel shows below `root`, which is `/` or a copy of such a tree.
pub fn look(root: &Path) -> Vec<Finding> {
    let bus = pci::Bus::read(root);
    let mut findings = checks::devices(&bus);
    findings.extend(checks::links(&bus));
    findings.extend(checks::driver(root, &bus));
    findings.extend(checks::nodes(root, &bus));
    findings.extend(checks::window(&bus));
    findings.extend(checks::iommu(root, &bus));
    findings.extend(way::ways(&bus));
    findings.extend(checks::library(root));
    findings.extend(checks::opencl(root));
    findings.extend(checks::paths(root));
    findings
}
