//! The edits of one file of the project's settings and scripts.

use crate::step::Change;
use peerlane_bsp_design::project::{Project, Source};
use peerlane_bsp_design::qsf::Assignment;
use peerlane_bsp_platform::layout::SCRIPT_DIR;
use peerlane_bsp_platform::xml::Edits;

/// The reason for changes of an import.
pub(super) const STALE: &str = "it was compiled with the old DMA: with the import every kernel would be built against the old DMA";

/// Returns the path of the file that says that the imports are on again: `rebuild.tcl` makes it.
pub(crate) fn marker() -> String {
    format!("{SCRIPT_DIR}/imports_on")
}

/// The edits of one file.
pub(super) struct FileEdits<'a> {
    pub(super) project: &'a Project,
    pub(super) source: &'a Source,
    pub(super) assignments: Vec<Assignment>,
    pub(super) edits: Edits,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

impl<'a> FileEdits<'a> {
    pub(super) fn new(project: &'a Project, source: &'a Source) -> Self {
        Self {
            project,
            source,
            assignments: source.assignments(),
            edits: Edits::default(),
            changes: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, what: String, why: &str) {
        self.changes.push(Change {
            file: self.source.path.clone(),
            what,
            why: why.into(),
        });
    }
}
