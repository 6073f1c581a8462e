//! The notes on the design that was found.

use std::collections::BTreeSet;

use crate::step::Step;
use peerlane_bsp_design::qsys::System;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::Layout;

/// Reports the design. `unresolved` are the kinds of components that neither the BSP nor Quartus defines.
///
/// # Errors
/// Those of [`Layout::inside`].
pub(crate) fn step(
    layout: &Layout,
    site: &Site<'_>,
    unresolved: &BTreeSet<String>,
) -> Result<Step> {
    let file = |system: &System| {
        let inside = layout.inside(&system.document.path)?;
        let hardware = inside.strip_prefix(&layout.hardware);
        Ok(hardware.unwrap_or(&inside).display().to_string())
    };
    let all: Vec<_> = site.library.systems().map(file).collect::<Result<_>>()?;
    let mut notes = vec![format!(
        "The DMA is the instance {} of {}. The design, as the project and its search path name it, is {}; other .qsys \
         files are not a part of it and were not read.",
        site.dma.name,
        file(site.system)?,
        all.join(", ")
    )];
    let outside: Vec<_> = site.library.outside.iter().map(String::as_str).collect();
    if !outside.is_empty() {
        notes.push(format!(
            "Platform Designer also searches these paths, which are outside the BSP or cannot be determined without \
             Quartus, and were not read: {}.",
            outside.join(", ")
        ));
    }
    if !unresolved.is_empty() {
        let kinds: Vec<_> = unresolved.iter().map(String::as_str).collect();
        notes.push(format!(
            "Neither the BSP nor Quartus defines these kinds of components, so the OpenCL SDK must: {}.",
            kinds.join(", ")
        ));
    }
    Ok(Step {
        notes,
        ..Step::default()
    })
}
