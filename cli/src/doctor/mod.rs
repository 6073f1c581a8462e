//! The checks of `peerlane doctor`: findings, each with a hint.

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

/// State of a checked item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is correct.
    Ok,
    /// It works, but could be better; or its state is not visible here.
    Note,
    /// It does not work in this state.
    Wrong,
}

impl State {
    /// Returns the word for the state in a line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The checked item, such as `link`.
    pub about: &'static str,
    /// Its state.
    pub state: State,
    /// A sentence without its full stop.
    pub what: String,
    /// The hint in whole sentences; `None` if nothing is to be done.
    #[serde(rename = "remedy")]
    pub hint: Option<String>,
}

impl Finding {
    pub(crate) fn ok(about: &'static str, what: impl Into<String>) -> Self {
        Self {
            about,
            state: State::Ok,
            what: what.into(),
            hint: None,
        }
    }

    pub(crate) fn note(
        about: &'static str,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            about,
            state: State::Note,
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    pub(crate) fn wrong(
        about: &'static str,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Wrong,
            ..Self::note(about, what, hint)
        }
    }

    /// Returns the finding as one line.
    pub fn line(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(". {hint}"));
        let text = format!("{}{}", self.what, hint.unwrap_or_default());
        // The output stays one line, even if a file that a finding quotes contains control characters.
        let text = text.replace(char::is_control, " ");
        format!("{}: {}: {text}", self.about, self.state.word())
    }
}

/// Examines a computer: the files of its kernel below `root`, which is `/` or a copy of such a tree.
pub fn look(root: &Path) -> Vec<Finding> {
    let bus = pci::Bus::read(root);
    let mut findings = checks::devices(&bus);
    findings.extend(checks::links(&bus));
    findings.extend(checks::driver(root, &bus));
    findings.extend(checks::nodes(root, &bus));
    findings.extend(checks::vfio(root, &bus));
    findings.extend(checks::window(&bus));
    findings.extend(checks::iommu(root, &bus));
    findings.extend(way::ways(&bus));
    findings.extend(checks::library(root));
    findings.extend(checks::opencl(root));
    findings.extend(checks::paths(root));
    findings
}
