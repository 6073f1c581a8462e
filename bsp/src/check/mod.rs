//! `peerlane check`: proves an extended BSP sound, as far as that goes without Quartus.

pub mod component;
pub mod ids;
pub mod read;
pub mod result;
pub mod vendor;

use std::path::PathBuf;

use crate::build::Build;
use crate::error::{Place, Result};
use crate::layout::Layout;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Proved.
    Good,
    /// Could not be proved, or was so before; not a fault of the extension.
    Note,
    /// Wrong.
    Bad,
}

/// The result of one test, or one thing that it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How grave.
    pub level: Level,
    /// What was tested.
    pub test: &'static str,
    /// Where.
    pub place: PathBuf,
    /// Line, if there is one.
    pub line: Option<usize>,
    /// The finding: a sentence without its full stop.
    pub what: String,
    /// What to do about it; empty unless it is bad.
    pub remedy: String,
}

/// All findings.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Adds what was proved.
    pub fn good(&mut self, test: &'static str, what: impl Into<String>) {
        self.push(Level::Good, test, Place::file(""), what.into(), "");
    }

    /// Adds what could not be proved.
    pub fn note(&mut self, test: &'static str, place: Place, what: impl Into<String>) {
        self.push(Level::Note, test, place, what.into(), "");
    }

    /// Adds a fault.
    pub fn bad(&mut self, test: &'static str, place: Place, what: impl Into<String>, remedy: &str) {
        self.push(Level::Bad, test, place, what.into(), remedy);
    }

    fn push(&mut self, level: Level, test: &'static str, place: Place, what: String, remedy: &str) {
        let Place { path, line } = place;
        self.0.push(Finding {
            level,
            test,
            place: path,
            line,
            what,
            remedy: remedy.into(),
        });
    }

    /// The first fault.
    pub fn first_error(&self) -> Option<&Finding> {
        self.0.iter().find(|f| f.level == Level::Bad)
    }

    /// Number of faults.
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|f| f.level == Level::Bad).count()
    }

    /// Whether a test found no fault since there were `before` of them.
    fn unchanged(&self, before: usize) -> bool {
        self.errors() == before
    }
}

/// Everything that can be checked, with the component run under `tclsh`.
///
/// # Errors
/// [`crate::error::ErrorKind::NotABsp`] if it is no extended BSP, [`crate::error::ErrorKind::BadXml`],
/// [`crate::error::ErrorKind::Tool`] if there is no `tclsh`, [`crate::error::ErrorKind::Io`]. What is wrong with the
/// BSP itself is a [`Finding`].
pub fn check(layout: &Layout) -> Result<Findings> {
    run(layout, true)
}

/// Everything that needs no other program.
///
/// # Errors
/// As [`check`].
pub fn structure(layout: &Layout) -> Result<Findings> {
    run(layout, false)
}

fn run(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let build = Build::read(layout)?;
    let mut findings = Findings::default();
    result::check(layout, &build, &mut findings)?;
    ids::check(layout, &build, &mut findings)?;
    if with_tcl {
        component::check(layout, &build, &mut findings)?;
    }
    for finding in &findings.0 {
        let place = Place {
            path: finding.place.clone(),
            line: finding.line,
        };
        tracing::debug!(test = finding.test, level = ?finding.level, %place, what = finding.what, "found");
    }
    tracing::info!(
        findings = findings.0.len(),
        faults = findings.errors(),
        "checked"
    );
    Ok(findings)
}
