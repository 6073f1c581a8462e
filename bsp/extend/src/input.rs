//! The input of the plan's steps.

use crate::identity::Name;
use crate::logic::Ends;
use crate::platform::Platform;
use crate::rewrite::{self, Rewritten};
use peerlane_bsp_design::host_bus;
use peerlane_bsp_design::library::Library;
use peerlane_bsp_design::missing;
use peerlane_bsp_design::project::Project;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::xml::Document;

/// The input, as it was read, and the rewritten system, which decides the rest.
pub(crate) struct Input<'a> {
    /// The DMA's system in the design.
    pub(crate) site: Site<'a>,
    /// Files that the BSP names but does not have, for people.
    pub(crate) missing: Vec<String>,
    /// The ends of the streams of the FPGA's logic.
    pub(crate) ends: Ends,
    /// The rewritten system.
    pub(crate) new: Rewritten,
    /// The configuration, with the values that the hard IP determines.
    pub(crate) config: Config,
    /// The vendor's `board_spec.xml`.
    pub(crate) specification: Document,
    /// The platform of the board.
    pub(crate) platform: Platform,
    /// The board's name.
    pub(crate) name: Name,
    /// The Quartus project.
    pub(crate) project: Project,
}

impl<'a> Input<'a> {
    /// Reads the input, and rewrites the system.
    ///
    /// # Errors
    /// All kinds of [`ErrorKind`](peerlane_bsp_platform::error::ErrorKind), with the place and the hint.
    pub(crate) fn read(layout: &Layout, library: &'a Library, config: &Config) -> Result<Self> {
        let hardware = layout.hardware_dir();
        let site = Site::find(library, &hardware)?;
        host_bus::refuse_overlaps(&site)?;
        tracing::info!(
            dma = %site.dma.name,
            hip = %site.hip.name,
            system = %site.system.document.path.display(),
            "found by kind"
        );
        for system in library.systems() {
            tracing::debug!(file = %system.document.path.display(), instances = system.modules.len(), "system of the design");
        }
        let missing = missing::files(layout)?;
        let point = |e| config.places.point(e);
        let ends = Ends::of(&site, &hardware, config).map_err(point)?;
        let new = rewrite::rewrite(&site, config, &ends).map_err(point)?;
        let config = match &new.hip {
            Some(hip) => hip.settle(config),
            None => config.clone(),
        };
        let specification = Document::read(&hardware.join("board_spec.xml"))?;
        let platform = Platform::of(layout)?;
        let name = Name::of(&platform.boards, &specification, &config)?;
        platform.refuse_taken(layout, &name)?;
        let project = Project::read(layout)?;
        tracing::info!(
            files = project.sources.len(),
            missing = missing.len(),
            "settings and scripts read"
        );
        for source in &project.sources {
            tracing::debug!(file = %source.path.display(), role = ?source.role, "of the project");
        }
        Ok(Self {
            site,
            missing: (missing.iter())
                .map(|missing| missing.words(&hardware))
                .collect(),
            ends,
            new,
            config,
            specification,
            platform,
            name,
            project,
        })
    }
}
