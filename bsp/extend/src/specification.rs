//! The new `board_spec.xml`: with the board's name, the block's resources and the type for the SDK.

use crate::identity::Name;
use crate::logic::Ends;
use crate::migration;
use crate::resources::{self, Resources};
use crate::step::Step;
use peerlane_bsp_design::project::Project;
use peerlane_bsp_generate::logic::Stream;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::xml::{Document, Edits};

/// Facts about the extended board.
pub(crate) struct New<'a> {
    /// Its name.
    pub(crate) name: &'a Name,
    /// The block's resources.
    pub(crate) resources: Resources,
    /// Bits of the old DMA's data, if known.
    pub(crate) old_bits: Option<u64>,
    /// Whether the hard reset controller must not be forced.
    pub(crate) not_forced: bool,
    /// The ends of the streams.
    pub(crate) ends: &'a Ends,
    /// The streams of the FPGA's logic.
    pub(crate) streams: &'a [Stream],
}

/// Replaces the board's specification.
///
/// # Errors
/// Those of [`resources::raise`], [`Edits::apply`] and [`Step::replace`].
pub(crate) fn step(
    layout: &Layout,
    project: &Project,
    specification: &Document,
    new: &New<'_>,
) -> Result<Step> {
    let mut step = Step::default();
    let note = resources::narrow_memory(specification, new.old_bits);
    step.notes.extend(note);
    let mut edits = Edits::default();
    let named = new.name.in_specification(specification, &mut edits);
    step.changes.extend(named);
    let raised = resources::raise(specification, new.resources, &mut edits)?;
    step.changes.extend(raised);
    let channels = (new.ends).in_specification(specification, new.streams, &mut edits);
    step.changes.extend(channels);
    let detected = migration::detected(layout, project);
    let told = migration::tell(specification, detected, new.not_forced, &mut edits);
    step.changes.extend(told.changes);
    step.notes.extend(told.note);
    step.to_do.extend(told.to_do);
    let text = edits.apply(&specification.path, &specification.source)?;
    step.replace(layout, &specification.path, text)?;
    Ok(step)
}
