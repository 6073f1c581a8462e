//! Diagnostics of a check.

use std::path::PathBuf;

use crate::error::Place;
use crate::hint::Hint;
use crate::message::Message;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Proved.
    Good,
    /// Not provable, already so in the vendor's BSP, or an edit of the user's; not a fault of the extension.
    Note,
    /// Wrong.
    Bad,
}

/// The result of one test, or one of its diagnostics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its severity.
    pub level: Level,
    /// The test.
    pub test: &'static str,
    /// Its place.
    pub place: PathBuf,
    /// Line, if there is one.
    pub line: Option<usize>,
    /// The message.
    pub what: Message,
    /// The hint; `None` unless the diagnostic is a fault.
    pub hint: Option<Hint>,
    /// Whether the vendor's BSP has the fault too. A test with such a diagnostic does not report success.
    pub inherited: bool,
}

/// All diagnostics.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Adds a proved fact.
    pub fn good(&mut self, test: &'static str, what: impl Into<Message>) {
        self.push(Level::Good, test, Place::file(""), what.into(), None);
    }

    /// Adds a fact that could not be proved.
    pub fn note(&mut self, test: &'static str, place: Place, what: impl Into<Message>) {
        self.push(Level::Note, test, place, what.into(), None);
    }

    /// Adds a fault that the vendor's BSP has too.
    pub fn inherited(&mut self, test: &'static str, place: Place, what: impl Into<Message>) {
        self.note(test, place, what);
        if let Some(last) = self.0.last_mut() {
            last.inherited = true;
        }
    }

    /// Adds a fault.
    pub fn bad(
        &mut self,
        test: &'static str,
        place: Place,
        what: impl Into<Message>,
        hint: impl Into<Hint>,
    ) {
        self.push(Level::Bad, test, place, what.into(), Some(hint.into()));
    }

    fn push(
        &mut self,
        level: Level,
        test: &'static str,
        place: Place,
        what: Message,
        hint: Option<Hint>,
    ) {
        let Place { path, line } = place;
        self.0.push(Finding {
            level,
            test,
            place: path,
            line,
            what,
            hint,
            inherited: false,
        });
    }

    /// Returns the first fault.
    pub fn first_error(&self) -> Option<&Finding> {
        self.0.iter().find(|f| f.level == Level::Bad)
    }

    /// Counts the faults.
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|f| f.level == Level::Bad).count()
    }

    /// Counts the faults, including those that the vendor's BSP has too.
    pub fn found(&self) -> usize {
        let faults = self
            .0
            .iter()
            .filter(|f| f.level == Level::Bad || f.inherited);
        faults.count()
    }

    /// Reports whether a test found no fault since there were `before` of them ([`Self::found`]).
    pub fn unchanged(&self, before: usize) -> bool {
        self.found() == before
    }
}
