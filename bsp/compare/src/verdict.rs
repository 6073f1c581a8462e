//! The one rule for an edited file. The elements that the extension added, changed or removed must be as the extension
//! made them; every other difference is an edit of the user's.

use std::path::Path;

use peerlane_bsp_platform::error::Place;
use peerlane_bsp_platform::finding::Findings;
use peerlane_bsp_platform::hint::Hint;

/// The test of elements that the extension made.
pub(crate) const EXTENSION: &str = "extension";
/// The test of the user's edits.
pub(crate) const EDITS: &str = "edits";
/// Most faults of a file that are listed one by one.
const MOST_FAULTS: usize = 12;
/// Most edits of a file that are listed one by one.
const MOST_EDITS: usize = 12;

/// A difference between the file that this program writes and the present one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Line in the present file, if there is one.
    pub line: Option<usize>,
    /// The message.
    pub what: String,
    /// Whether the extension made the element.
    pub is_fault: bool,
}

/// Reports the differences of a file, faults first.
pub(crate) fn report(path: &Path, all: Vec<Difference>, findings: &mut Findings) {
    let (faults, edits): (Vec<_>, Vec<_>) = all.into_iter().partition(|d| d.is_fault);
    let place = |line: Option<usize>| Place {
        path: path.to_path_buf(),
        line,
    };
    let more = faults.len().saturating_sub(MOST_FAULTS);
    for fault in faults.into_iter().take(MOST_FAULTS) {
        findings.bad(
            EXTENSION,
            place(fault.line),
            fault.what,
            Hint::of_result(path),
        );
    }
    if more > 0 {
        let what = format!("more elements that are not as the extension made them: {more}");
        findings.bad(EXTENSION, Place::file(path), what, Hint::of_result(path));
    }
    let more = edits.len().saturating_sub(MOST_EDITS);
    for edit in edits.into_iter().take(MOST_EDITS) {
        findings.note(EDITS, place(edit.line), edit.what);
    }
    if more > 0 {
        findings.note(
            EDITS,
            Place::file(path),
            format!("edited in {more} more places, which leave the extension as it is"),
        );
    }
}

/// Quotes an element in a message; a long one is cut.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 160;
    let text = text.trim();
    match text.char_indices().nth(MOST) {
        None => format!("\"{text}\""),
        Some((at, _)) => format!("\"{} ...\"", &text[..at]),
    }
}
