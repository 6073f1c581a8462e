//! Addresses that overlap after an edit.

use peerlane_bsp_design::host_bus::refuse_overlaps;
use peerlane_bsp_design::library::{Library, is_pcie_hip, is_streaming_hip};
use peerlane_bsp_design::qsys::Module;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{ErrorKind, Result};
use peerlane_bsp_platform::finding::Findings;
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::roles::NEW_DMA;

use crate::States;
use crate::verdict::EXTENSION;

/// Reports slaves of one master that overlap in the present system with the block, but not in the one that this program
/// writes, and files that keep the systems from being read.
pub(crate) fn check(states: &States<'_>, findings: &mut Findings) -> Result<()> {
    let made = find(&states.again.made, &states.writes);
    let now = find(states.layout, &states.wrote);
    match (made, now) {
        (_, Err(error)) if matches!(error.kind, ErrorKind::Interrupted | ErrorKind::Io) => {
            Err(error)
        }
        (Ok(()), Err(error)) => {
            findings.bad(EXTENSION, error.place, error.what, error.hint);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn find(layout: &Layout, build: &Build) -> Result<()> {
    let mut library = Library::find(layout)?;
    library.set_inside(&build.slaves);
    library.set_block(build.config.clone());
    let site = library.systems().find_map(|system| {
        let dma = system.modules.iter().find(|m| m.kind == NEW_DMA)?;
        let is_hip = |m: &&Module| is_pcie_hip(&m.kind) || is_streaming_hip(&m.kind);
        let hip = system.modules.iter().find(is_hip)?;
        Some(Site {
            library: &library,
            system,
            dma,
            hip,
        })
    });
    site.map_or(Ok(()), |site| refuse_overlaps(&site))
}
