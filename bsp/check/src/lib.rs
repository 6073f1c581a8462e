//! A second model of an extended BSP, for tests: it proves a BSP correct, as far as that is possible without Quartus.
//!
//! This crate depends neither on `peerlane-bsp-design` nor on `peerlane-bsp-extend`. It has readers of its own, so that
//! one error does not hide in both. The tests run it on every extension that they make. Commands do not use it:
//! `peerlane check` is `peerlane-bsp-compare`.

#![warn(unreachable_pub)]

pub mod component;
pub mod ids;
pub mod read;
pub mod result;

pub use peerlane_bsp_platform::finding::{Finding, Findings, Level};

use std::path::Path;

use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Error, Place, Result};
use peerlane_bsp_platform::hint::{Hint, Owner};
use peerlane_bsp_platform::kept::{Origin, Record};
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::message::moved;
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::revert;

/// Most changed files that are listed by name.
const MOST: usize = 12;

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

/// Reports the origin of the platform and the changes of its files since they were written. The model judges the files
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
