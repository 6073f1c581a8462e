//! All output of an extension, made by steps before anything is written.

use std::path::{Path, PathBuf};

use crate::build_file;
use crate::compiled;
use crate::cvp::Cvp;
use crate::design;
use crate::family;
use crate::gen3_settings;
use crate::generated::Block;
use crate::hard_ip::HardIp;
use crate::identity::PciIds;
use crate::input::Input;
use crate::ipx;
use crate::logic;
use crate::notes;
use crate::port;
use crate::project_files;
use crate::readme;
use crate::regions::{self, Moved};
use crate::report::Report;
use crate::specification;
use crate::step::{self, Written};
use crate::stream;
use peerlane_bsp_design::library::Library;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::build::Program;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::interrupt;
use peerlane_bsp_platform::kept::{self, Origin, Record, Tree};
use peerlane_bsp_platform::layout::{self, Layout};
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::text;

/// All of the output that differs from the input.
#[derive(Debug)]
pub(super) struct Plan {
    /// New and replaced files, relative to the BSP that was given.
    files: Vec<Written>,
    /// Files of the platform around the BSP, relative to the output.
    around: Vec<Written>,
    /// Files that are not copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// The vendor's tree.
    vendor: Tree,
    /// The report.
    pub(super) report: Report,
}

impl Plan {
    /// Plans the extension with the port that the configuration asks for, or the best one that the board can have.
    pub(super) fn best(layout: &Layout, config: &Config, title: Option<&str>) -> Result<Self> {
        let make = |config: &Config| Self::new(layout, config, title);
        let (mut plan, why) = port::first(&layout.root, port::candidates(config), make)?;
        let chosen = config.port.kind.is_some();
        let note = port::note(&plan.report.config, chosen, why.as_deref());
        plan.report.notes.insert(0, note);
        Ok(plan)
    }

    /// Plans the extension of a BSP. With a title, the board has no BSP of a vendor.
    pub(super) fn new(layout: &Layout, config: &Config, title: Option<&str>) -> Result<Self> {
        // Before anything is read: the copy is refused if a file has changed since.
        let vendor = kept::tree(&layout.root, &|_| false)?;
        let library = Library::find(layout)?;
        let Input {
            site,
            missing,
            ends,
            new,
            config,
            specification,
            platform,
            name,
            project,
        } = Input::read(layout, &library, config)?;
        let hip = new.hip.as_ref();
        let memory = family::blocks(&project, &specification);
        let block = Block::generate(&site, &new, &config, &specification, memory)?;

        let unresolved = site.library.unresolved();
        let design = design::step(layout, &site, &unresolved)?;
        let block_files = block.step(&config, &new, &name.new);
        let system = new.step(layout, &site.system.document.path)?;
        let family = family::step(layout, &project, memory)?;
        let resources = block.resources(&config, memory)?;
        let described = specification::New {
            name: &name,
            resources,
            old_bits: site.dma.number("DATA_WIDTH"),
            not_forced: config.port.generation == Some(3),
            ends: &ends,
            streams: &config.streams,
        };
        let described = specification::step(layout, &project, &specification, &described)?;
        let moved = Moved::new(&site, &new, &config);
        let cvp_lost = hip.is_some_and(|hip| hip.loses_cvp);
        let settled = project_files::step(layout, &site, &project, &moved, cvp_lost)?;
        let after = &settled.after;
        let missing = settled.still_missing(missing);
        let images = settled.compile.images.as_slice();
        let cvp = Cvp::of(&project, after, &site, cvp_lost.then_some(images));
        let cvp_note = cvp.as_ref().map(Cvp::step).unwrap_or_default();
        let version = platform.version(layout, config.sdk.as_deref())?;
        let quartus = stream::step(&site, &version.text, hip);
        let gen3 = gen3_settings::step(layout, after, hip)?;
        let regions = regions::step(&project, &moved, resources);
        let components = ipx::step(layout, hip)?;
        let (runtime, set_aside) = platform.step(layout, &name, &config)?;
        let recorded = build_file::Input {
            missing: &missing,
            unresolved: &unresolved,
            vendor: &vendor,
        };
        let build = build_file::step(&config, &new, &block, &block_files.added, &recorded);
        let streams = logic::step(layout, &site, &config)?;
        let notes = notes::step(&name, title.is_none(), &version, &new);
        let mentions = compiled::mentions(layout, &new, block::top(&config), &settled.step)?;

        let mut steps = vec![
            design,
            block_files,
            system,
            family,
            described,
            settled.step,
            cvp_note,
            quartus,
            gen3,
            regions,
            components,
            runtime,
            build,
            streams,
            notes,
            mentions,
            version.step(),
        ];
        let facts = readme::Facts {
            board: &name.new,
            title,
            vendors_board: &name.old,
            hardware: &name.hardware,
            version: &version,
            ids: PciIds::of(&site, &config),
            map_id: block.ids.map,
            build_id: block.ids.build,
            compile: &settled.compile,
            cvp: cvp.as_ref().map(Cvp::paragraph),
            loses_cvp: cvp.as_ref().is_some_and(Cvp::is_lost),
            to_do: steps.iter().map(|step| step.to_do.len()).sum(),
            streaming: hip.map(HardIp::link),
            streams: &config.streams,
            set_aside: &set_aside,
            replaced: readme::replaces(layout),
        };
        steps.push(readme::step(layout, &facts));
        let all = step::collect(layout, &name.hardware, steps)?;

        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            commit: Program::this().commit,
            origin: Origin::of(title),
            bsp: name.old,
            hardware: name.hardware,
            instance: new.instance,
            map_id: block.ids.map,
            build_id: block.ids.build,
            config,
            port_bits: block.board.port_bits,
            resources,
            bar_before: new.bar_before,
            bar_after: new.bar_after,
            changes: all.changes,
            added: all.added,
            left_out: settled.left_out.clone(),
            set_aside: set_aside.clone(),
            missing_in_input: missing,
            to_do: all.to_do,
            notes: all.notes,
        };
        let plan = Self {
            files: all.files,
            around: all.around,
            left_out: [settled.left_out, set_aside].concat(),
            vendor,
            report,
        };
        plan.trace();
        Ok(plan)
    }

    fn trace(&self) {
        for change in &self.report.changes {
            tracing::debug!(file = %change.file.display(), what = change.what, "changed");
        }
        tracing::info!(
            changes = self.report.changes.len(),
            added = self.report.added.len(),
            left_out = self.left_out.len(),
            "planned"
        );
    }

    /// Writes the extended BSP into a directory, without its record, which is returned.
    pub(super) fn write(&self, layout: &Layout, to: &Path) -> Result<Record> {
        let skip = |path: &Path| self.left_out.iter().any(|left| left == path);
        let made = Layout {
            root: to.to_path_buf(),
            hardware: self.report.hardware.clone(),
        };
        let moved = (layout.hardware.as_path(), made.hardware.as_path());
        layout::copy_moved(&layout.root, to, &skip, moved)?;
        for file in &self.files {
            interrupt::check(&file.path)?;
            let path = layout::place(&file.path, moved);
            tracing::debug!(file = %path.display(), bytes = file.text.len(), "written");
            layout::write_below(to, &path, &text::encode(&file.text))?;
        }
        for file in &self.around {
            layout::write_below(to, &file.path, &text::encode(&file.text))?;
            if file.text.starts_with("#!") {
                output::set_executable(&to.join(&file.path))?;
            }
        }
        let report = [
            (layout::REPORT, self.report.markdown()),
            ("peerlane-report.json", self.report.json()),
        ];
        for (path, text) in report {
            layout::write_below(to, Path::new(path), text.as_bytes())?;
        }
        kept::copy_files(&self.vendor, &layout.root, &to.join(kept::VENDOR))?;
        Record::new(self.report.origin, layout, self.vendor.clone(), &made)
    }
}
