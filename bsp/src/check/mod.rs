//! `peerlane check`: proves an extended BSP sound, as far as that goes without Quartus.

pub mod component;
pub mod ids;
pub mod read;
pub mod result;
pub mod vendor;

use std::path::{Path, PathBuf};

use crate::build::Build;
use crate::error::{Error, Place, Result};
use crate::kept::{Origin, Record};
use crate::layout::Layout;
use crate::output;
use crate::remedy;
use crate::revert;

/// Changed files that are named one by one.
const MOST: usize = 12;

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
    /// Whether the vendor's BSP has it too. A test that found this claims no success.
    pub inherited: bool,
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

    /// Adds a fault that the vendor's BSP has too.
    pub fn inherited(&mut self, test: &'static str, place: Place, what: impl Into<String>) {
        self.note(test, place, what);
        if let Some(last) = self.0.last_mut() {
            last.inherited = true;
        }
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
            inherited: false,
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

    /// Number of faults, and of those that the vendor's BSP has too.
    fn found(&self) -> usize {
        let faults = self
            .0
            .iter()
            .filter(|f| f.level == Level::Bad || f.inherited);
        faults.count()
    }

    /// Whether a test found no fault since there were `before` of them ([`Self::found`]).
    fn unchanged(&self, before: usize) -> bool {
        self.found() == before
    }
}

/// Everything that can be checked, with the component run under `tclsh`.
///
/// # Errors
/// [`crate::error::ErrorKind::NotABsp`] if it is no extended BSP, [`crate::error::ErrorKind::BadXml`],
/// [`crate::error::ErrorKind::Tool`] if there is no `tclsh`, [`crate::error::ErrorKind::Io`]. What is wrong with the
/// BSP itself is a [`Finding`].
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

/// Everything that needs no other program.
///
/// # Errors
/// As [`check`].
pub fn structure(layout: &Layout) -> Result<Findings> {
    run(layout, false)
}

/// Where the platform is must not matter: scripts have absolute paths, too (`info script`, `pwd`).
fn run(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let given = &layout.root;
    let whole =
        std::fs::canonicalize(given).map_err(|e| Error::io(given, "look at the directory", &e))?;
    let real = Layout {
        root: whole.clone(),
        hardware: layout.hardware.clone(),
    };
    let mut findings = judge(&real, with_tcl).map_err(|mut error| {
        // Readers do not know whose file it is.
        if error.remedy == remedy::of_input(&error.place.path) {
            error.remedy = remedy::of_result(&error.place.path);
        }
        error.named_as_given(&whole, given)
    })?;
    let name = |path: &Path| path.to_string_lossy().into_owned();
    for finding in &mut findings.0 {
        if let Ok(inside) = finding.place.strip_prefix(&whole) {
            finding.place = match inside.as_os_str().is_empty() {
                // With nothing behind it, a join would end in a slash.
                true => given.clone(),
                false => given.join(inside),
            };
        }
        finding.what = finding.what.replace(&name(&whole), &name(given));
    }
    Ok(findings)
}

fn judge(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let build = Build::read(layout)?;
    let mut findings = Findings::default();
    edits(layout, &mut findings)?;
    result::check(layout, &build, &mut findings)?;
    // What is missing may be why something else is wrong.
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
        tracing::debug!(test = finding.test, level = ?finding.level, %place, what = finding.what, "found");
    }
    tracing::info!(
        findings = findings.0.len(),
        faults = findings.errors(),
        "checked"
    );
    Ok(findings)
}

/// What the platform was made of, and what has become of its files since. The check judges the files as they are, but it
/// does not understand all of them: of Verilog it knows the names of the files alone.
fn edits(layout: &Layout, findings: &mut Findings) -> Result<()> {
    let record = Record::read(&layout.root)?;
    if record.origin == Origin::New {
        let what = "`peerlane new` made this board: what is called the vendor's here is the board before the block came in";
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
        "not as they were written: {}{more}; the files are judged as they are now, as far as they are read here",
        named.join(", ")
    );
    findings.note("edits", Place::file(&layout.root), what);
    Ok(())
}
