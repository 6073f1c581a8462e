//! `peerlane check`: proves an extended BSP correct, as far as that is possible without Quartus.
//!
//! This crate depends neither on `peerlane-bsp-design` nor on `peerlane-bsp-extend`. It has readers of its own, so that
//! one error does not hide in both.

#![warn(unreachable_pub)]

pub mod component;
pub mod ids;
pub mod read;
pub mod result;

use std::path::{Path, PathBuf};

use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Error, Place, Result};
use peerlane_bsp_platform::hint::{Hint, Owner};
use peerlane_bsp_platform::kept::{Origin, Record};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::message::{Message, moved};
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::revert;

/// Most changed files that are listed by name.
const MOST: usize = 12;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Proved.
    Good,
    /// Not provable, or already so in the vendor's BSP; not a fault of the extension.
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
    fn found(&self) -> usize {
        let faults = self
            .0
            .iter()
            .filter(|f| f.level == Level::Bad || f.inherited);
        faults.count()
    }

    /// Reports whether a test found no fault since there were `before` of them ([`Self::found`]).
    fn unchanged(&self, before: usize) -> bool {
        self.found() == before
    }
}

/// Runs all tests, with the component under `tclsh`.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::NotABsp`] if the directory is not an extended BSP,
/// [`peerlane_bsp_platform::error::ErrorKind::BadXml`], [`peerlane_bsp_platform::error::ErrorKind::Tool`] if `tclsh` is
/// missing, [`peerlane_bsp_platform::error::ErrorKind::Io`]. A fault of the BSP itself is a [`Finding`].
pub fn check(layout: &Layout) -> Result<Findings> {
    let mut findings = run(layout, true)?;
    let whole = std::fs::canonicalize(&layout.root).unwrap_or_else(|_| layout.root.clone());
    if let Some(what) = output::unfit_for_aoc(&whole) {
        findings.bad(
            "path",
            Place::file(&layout.root),
            what,
            "Move the platform to a directory without blanks in its path.",
        );
    }
    Ok(findings)
}

/// Runs all tests that need no other program.
///
/// # Errors
/// Those of [`check`].
pub fn structure(layout: &Layout) -> Result<Findings> {
    run(layout, false)
}

/// Runs the tests on the canonical path. The platform's location must not matter, and scripts have absolute paths
/// (`info script`, `pwd`).
fn run(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let given = &layout.root;
    let whole =
        std::fs::canonicalize(given).map_err(|e| Error::io(given, "inspect the directory", &e))?;
    let real = Layout {
        root: whole.clone(),
        hardware: layout.hardware.clone(),
    };
    let mut findings = judge(&real, with_tcl).map_err(|mut error| {
        // Readers do not know whether a file belongs to the input or to the result.
        if let Hint::File(owner, _) = &mut error.hint {
            *owner = Owner::Result;
        }
        error.named_as_given(&whole, given)
    })?;
    let as_given = |path: &Path| moved(path, &whole, given);
    for finding in &mut findings.0 {
        finding.place = as_given(&finding.place);
        finding.what.map_paths(as_given);
    }
    Ok(findings)
}

fn judge(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let build = Build::read(layout)?;
    let mut findings = Findings::default();
    edits(layout, &mut findings)?;
    result::check(layout, &build, &mut findings)?;
    // A missing file may be the reason for another fault.
    let missing = |finding: &Finding| finding.test == result::FILES && finding.level != Level::Good;
    findings.0.sort_by_key(|finding| !missing(finding));
    ids::check(layout, &build, &mut findings)?;
    if with_tcl {
        component::check(layout, &build, &mut findings)?;
    }
    for finding in &findings.0 {
        let place = Place {
            path: finding.place.clone(),
            line: finding.line,
        };
        tracing::debug!(test = finding.test, level = ?finding.level, %place, what = %finding.what, "found");
    }
    tracing::info!(
        findings = findings.0.len(),
        faults = findings.errors(),
        "checked"
    );
    Ok(findings)
}

/// Reports the origin of the platform and the changes of its files since they were written. The check judges the files
/// as they are, but it does not understand all of them: of Verilog it knows only the names of the files.
fn edits(layout: &Layout, findings: &mut Findings) -> Result<()> {
    let record = Record::read(&layout.root)?;
    if record.origin == Origin::New {
        let what = "`peerlane new` made this board: \"the vendor's\" means the board without the block here";
        findings.good("origin", what);
    }
    let edits = revert::edits(&layout.root, &record.made)?;
    if edits.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = (edits.iter().take(MOST))
        .map(|(path, edit)| format!("{} ({edit})", path.display()))
        .collect();
    let more = match edits.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!(
        "changed since they were written: {}{more}; the check uses their present content, as far as it reads them",
        named.join(", ")
    );
    findings.note("edits", Place::file(&layout.root), what);
    Ok(())
}
