//! All output of an extension, gathered before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::component::{self, Compile, Written};
use crate::cvp::Cvp;
use crate::family;
use crate::hard_ip::HardIp;
use crate::identity::{Name, PciIds};
use crate::platform::Platform;
use crate::regions::{self, Moved};
use crate::report::{Change, Report};
use crate::resources::{self, Resources};
use crate::rewrite::{self, Rewritten};
use crate::settings::{self, Import};
use crate::version::Version;
use crate::{compiled, gen3_settings, hip_paths, ipx, leftovers, migration, port, readme, stream};
use peerlane_bsp_design::host_bus;
use peerlane_bsp_design::library::Library;
use peerlane_bsp_design::missing;
use peerlane_bsp_design::project::Project;
use peerlane_bsp_design::qsys::System;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::build::{self, Build, Program};
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_generate::generator::{self, Ids, VerilogModule};
use peerlane_bsp_generate::memory_blocks::Blocks;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hash;
use peerlane_bsp_platform::interrupt;
use peerlane_bsp_platform::kept::{self, Origin, Record, Tree};
use peerlane_bsp_platform::layout::{self, BUILD_FILE, Layout, OWN_DIR};
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::text;
use peerlane_bsp_platform::xml::{Document, Edits};

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
        let hardware = layout.hardware_dir();
        // Before anything is read: the copy is refused if a file has changed since.
        let vendor = kept::tree(&layout.root, &|_| false)?;
        let library = Library::find(layout)?;
        let site = Site::find(&library, &hardware)?;
        host_bus::refuse_overlaps(&site)?;
        let old_bits = site.dma.number("DATA_WIDTH");
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
        let named: Vec<String> = (missing.iter())
            .map(|missing| missing.words(&hardware))
            .collect();
        let new = rewrite::rewrite(&site, config).map_err(|e| config.places.point(e))?;
        let config = &match &new.hip {
            Some(hip) => hip.settle(config),
            None => config.clone(),
        };
        let specification = Document::read(&hardware.join("board_spec.xml"))?;
        let platform = Platform::of(layout)?;
        let name = Name::of(&platform.boards, &specification, config)?;
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
        let memory = family::blocks(&project, &specification);
        let block = Block::generate(&site, &new, config, (&specification, memory))?;

        let mut builder = Builder::new(layout, named, name, Origin::of(title));
        builder.design(&site)?;
        builder.block(config, &block, new.hip.as_ref());
        builder.system(&site.system.document.path, &new)?;
        let resources =
            builder.specification(&specification, &project, (config, &block, memory), old_bits)?;
        let moved = Moved::new(&site, &new, config);
        let cvp_lost = new.hip.as_ref().is_some_and(|hip| hip.loses_cvp);
        let after = builder.settings(&site, &project, (&moved, cvp_lost))?;
        let lost = cvp_lost.then_some(builder.compile.images.as_slice());
        builder.cvp = Cvp::of((&project, &after), &site, lost);
        builder.to_do.extend(builder.cvp.as_ref().map(Cvp::note));
        let version = platform.version(layout, config.sdk.as_deref())?;
        if new.hip.is_some() {
            let other = stream::other_quartus(&site, &version.text);
            builder.to_do.extend(other);
        }
        if new.hip.as_ref().is_some_and(HardIp::becomes_gen_3) {
            (builder.to_do).extend(gen3_settings::to_do(layout, &after)?);
        }
        builder
            .to_do
            .extend(regions::notes(&project, &moved, resources));
        builder.component_list(new.hip.as_ref())?;
        builder.platform(&platform, config)?;
        builder.build_file(config, &new, &block, &vendor);
        builder.notes(&new, config, (title.is_none(), &version))?;
        let board = (&site, &version, config, &block);
        builder.readme(title, board, new.hip.as_ref());
        let plan = builder.finish(config, new, &block, resources, vendor);
        for change in &plan.report.changes {
            tracing::debug!(file = %change.file.display(), what = change.what, "changed");
        }
        tracing::info!(
            changes = plan.report.changes.len(),
            added = plan.report.added.len(),
            left_out = plan.left_out.len(),
            "planned"
        );
        Ok(plan)
    }

    /// Writes the extended BSP into a directory.
    pub(super) fn write(&self, layout: &Layout, to: &Path) -> Result<()> {
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
        let record = Record::new(self.report.origin, layout, self.vendor.clone(), &made)?;
        layout::write_below(to, Path::new(kept::RECORD), record.json().as_bytes())
    }
}

/// The generated block.
struct Block {
    modules: Vec<VerilogModule>,
    ids: Ids,
    board: generator::Board,
    /// Byte offset in the BAR of each slave, by the name of the interface.
    places: BTreeMap<String, u64>,
}

impl Block {
    fn generate(
        site: &Site<'_>,
        new: &Rewritten,
        config: &Config,
        (specification, memory): (&Document, Option<Blocks>),
    ) -> Result<Self> {
        let port_bits = new.port_bits;
        let memory_log2 = resources::memory_log2(specification)?;
        // `BUILD_ID` covers the places, so they are decided before the block is generated.
        let places = new.bar_after.slaves_of(&new.instance);
        let slaves = build::slaves(new.bar_after.bar, &places)
            .map_err(|slave| unreached(site, new.bar_after.bar, slave))?;
        let board = generator::Board {
            port_bits,
            memory_log2,
            slaves,
            bar_log2: new.bar_log2,
            clock_mhz: (new.hip.as_ref()).map_or(build::USUAL_CLOCK, |hip| hip.clock.1),
        };
        let mut modules = generator::generate(config, board)?;
        if let Some(memory) = memory {
            generator::name_memory(&mut modules, memory);
        }
        let ids = generator::agree(config, board, &modules)?;
        tracing::info!(modules = modules.len(), port_bits, "Verilog generated");
        Ok(Self {
            modules,
            ids,
            board,
            places,
        })
    }
}

/// Gathers files and messages. The files of the block come first.
struct Builder<'a> {
    layout: &'a Layout,
    origin: Origin,
    hardware: PathBuf,
    /// The board's name.
    name: Name,
    /// New and replaced files, relative to the BSP.
    files: Vec<Written>,
    /// Files of the platform around the BSP, relative to the output.
    around: Vec<Written>,
    /// SHA-256 of each generated file, by its path.
    generated: BTreeMap<String, String>,
    changes: Vec<Change>,
    /// Files that the input does not have.
    added: Vec<String>,
    /// Files that are not copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// Directories of the vendor's runtime, relative to the BSP.
    set_aside: Vec<PathBuf>,
    /// Facts about the board's compile.
    compile: Compile,
    /// Imports that were removed.
    imports: Vec<Import>,
    /// Whether the board is configured over PCIe.
    cvp: Option<Cvp>,
    /// Files that the input names but does not have.
    missing: Vec<String>,
    /// Kinds that the input does not define.
    unresolved: BTreeSet<String>,
    notes: Vec<String>,
    /// Notes that require an action of the user.
    to_do: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(layout: &'a Layout, missing: Vec<String>, name: Name, origin: Origin) -> Self {
        Self {
            layout,
            origin,
            hardware: layout.hardware_dir(),
            name,
            files: Vec::new(),
            around: Vec::new(),
            generated: BTreeMap::new(),
            changes: Vec::new(),
            added: Vec::new(),
            left_out: Vec::new(),
            set_aside: Vec::new(),
            compile: Compile::default(),
            imports: Vec::new(),
            cvp: None,
            missing,
            unresolved: BTreeSet::new(),
            notes: Vec::new(),
            to_do: Vec::new(),
        }
    }

    /// Reports the design that was found.
    fn design(&mut self, site: &Site<'_>) -> Result<()> {
        let file = |system: &System| {
            let inside = self.layout.inside(&system.document.path)?;
            let hardware = inside.strip_prefix(&self.layout.hardware);
            Ok(hardware.unwrap_or(&inside).display().to_string())
        };
        let all: Vec<_> = site.library.systems().map(file).collect::<Result<_>>()?;
        self.notes.push(format!(
            "The DMA is the instance {} of {}. The design, as the project and its search path name it, is {}; other \
             .qsys files are not a part of it and were not read.",
            site.dma.name,
            file(site.system)?,
            all.join(", ")
        ));
        let outside: Vec<_> = site.library.outside.iter().map(String::as_str).collect();
        if !outside.is_empty() {
            self.notes.push(format!(
                "Platform Designer also searches these paths, which are outside the BSP or cannot be determined \
                 without Quartus, and were not read: {}.",
                outside.join(", ")
            ));
        }
        self.unresolved = site.library.unresolved();
        if !self.unresolved.is_empty() {
            let kinds: Vec<_> = self.unresolved.iter().map(String::as_str).collect();
            self.notes.push(format!(
                "Neither the BSP nor Quartus defines these kinds of components, so the OpenCL SDK must: {}.",
                kinds.join(", ")
            ));
        }
        Ok(())
    }

    /// Replaces a file of the input: the target if it is a link, since the link stays.
    fn replace(&mut self, path: &Path, text: String) -> Result<()> {
        let inside = self.layout.inside(path)?;
        match self.files.iter().find(|file| file.path == inside) {
            None => self.files.push(Written { path: inside, text }),
            Some(file) if file.text == text => {}
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    Place::file(path),
                    format!(
                        "{} has two names here, but its two copies would have to differ",
                        inside.display()
                    ),
                    "Replace each link to it by a separate file.",
                ));
            }
        }
        Ok(())
    }

    /// Adds a file that the input does not have, by its path in the hardware directory.
    fn add(&mut self, file: Written) {
        self.added.push(file.path.display().to_string());
        self.files.push(Written {
            path: self.layout.hardware.join(file.path),
            text: file.text,
        });
    }

    /// Adds the block's Verilog, component and constraints.
    fn block(&mut self, config: &Config, block: &Block, hip: Option<&HardIp>) {
        let own = hip.map(|hip| component::hip_files(OWN_DIR, hip.soft_reset));
        let files = component::ip_files(OWN_DIR, config, &block.board, block.ids, &block.modules);
        for file in files.into_iter().chain(own.into_iter().flatten()) {
            let digest = hash::digest(file.text.as_bytes());
            self.generated
                .insert(file.path.display().to_string(), digest);
            self.add(file);
        }
    }

    /// Replaces the system with the block, and other changed systems.
    fn system(&mut self, path: &Path, new: &Rewritten) -> Result<()> {
        self.replace(path, new.text.clone())?;
        for other in &new.others {
            self.replace(&other.path, other.text.clone())?;
        }
        self.changes.extend(new.changes.iter().cloned());
        Ok(())
    }

    /// Replaces the project's settings and scripts by versions that import nothing, and adds the script that makes the
    /// compiled files again. Returns the project after the extension.
    fn settings(
        &mut self,
        site: &Site<'_>,
        project: &Project,
        (moved, cvp_lost): (&Moved, bool),
    ) -> Result<Project> {
        let mut settings = settings::rewrite(project, moved)?;
        let after = settings.after(project);
        if let Some(hip) = &moved.hip {
            let mut lines = hip_paths::unsure(hip, &after);
            lines.extend(hip_paths::constraints(
                self.layout,
                project,
                hip,
                &mut settings,
            )?);
            self.to_do.extend(hip_paths::to_do(hip, &lines));
            self.to_do.extend(hip_paths::patches(&after, cvp_lost));
        }
        let root = &self.layout.root;
        let mut left_out = compiled::left_out(self.layout, &settings.compiled)?;
        let generated = compiled::generated(site);
        if !generated.is_empty() {
            let names: Vec<_> = generated
                .iter()
                .map(|dir| compiled::inside(&self.hardware, dir))
                .collect();
            self.to_do.push(format!(
                "The vendor's files that were generated from the systems with the old DMA were left out: {}. Generate \
                 them again (qsys-generate) if no step of the compile does.",
                names.join(", ")
            ));
            left_out.extend(generated);
        }
        let stays = |path: &Path| !left_out.iter().any(|left| path.starts_with(left));
        for file in settings.files.iter().filter(|file| stays(&file.path)) {
            self.replace(&file.path, file.text.clone())?;
        }
        self.changes.extend(settings.changes.iter().cloned());
        // A file that is not named any more cannot be missing.
        let gone = settings.imports.iter();
        let gone: Vec<_> = gone.map(|import| format!(" {}", import.file)).collect();
        (self.missing).retain(|missing| !gone.iter().any(|file| missing.ends_with(file)));
        let images = left_out
            .iter()
            .filter_map(|path| path.strip_prefix(&self.hardware).ok());
        let images: Vec<String> = images
            .filter(|path| path.extension().is_some_and(|e| e == "aocx"))
            .map(|path| path.display().to_string())
            .collect();
        self.left_out = left_out
            .iter()
            .map(|path| path.strip_prefix(root).unwrap_or(path).to_path_buf())
            .collect();
        let stays = {
            let changed: Vec<(PathBuf, &str)> = (settings.files.iter())
                .map(|file| Ok((self.layout.inside(&file.path)?, file.text.as_str())))
                .collect::<Result<_>>()?;
            let changed = changed
                .iter()
                .map(|(path, text)| (path.as_path(), *text))
                .collect();
            let gone = |path: &Path| self.left_out.iter().any(|left| path.starts_with(left));
            leftovers::note(self.layout, project, &changed, &gone)?
        };
        let importer = settings
            .imports
            .first()
            .map(|import| import.revision.as_str());
        let archives: Vec<String> = (settings.archives.iter())
            .map(|name| self.left_out_as(name))
            .collect();
        self.compile = Compile {
            project: compiled::project_name(self.layout, importer)?,
            images,
            archives,
            ..Compile::of(&settings, cvp_lost)
        };
        for script in component::scripts(&self.compile, &settings) {
            self.add(script);
        }
        self.notes.extend(settings.notes.iter().cloned());
        let named = stays.is_some();
        let note = compiled::note(&settings, &self.compile, &self.left_out, named);
        match settings.imports.is_empty() {
            true => self.notes.push(note),
            false => self.to_do.push(note),
        }
        self.to_do.extend(stays);
        self.imports = settings.imports;
        Ok(after)
    }

    /// Returns the path in the board's directory of a file that was left out, by its name.
    fn left_out_as(&self, name: &OsStr) -> String {
        let all = self.left_out.iter();
        let mut inside = all.filter_map(|path| path.strip_prefix(&self.layout.hardware).ok());
        let path = inside.find(|path| path.file_name() == Some(name));
        path.unwrap_or(name.as_ref()).display().to_string()
    }

    /// Adds the block to the list of components.
    fn component_list(&mut self, hip: Option<&HardIp>) -> Result<()> {
        let mut components = vec![ipx::BLOCK];
        components.extend(hip.map(|_| ipx::HARD_IP));
        let lists = layout::with_extension(&self.hardware, "ipx")?;
        let usual = (lists.iter()).find(|p| p.file_name().is_some_and(|n| n == "iface.ipx"));
        let Some(list) = usual.or(lists.first()) else {
            self.add(Written {
                path: "peerlane.ipx".into(),
                text: ipx::new_list(&components),
            });
            return Ok(());
        };
        for component in &components {
            self.changes.push(Change {
                file: list.clone(),
                what: format!("component {} added", component.kind),
                why: "Platform Designer finds the component by this list".into(),
            });
        }
        let text = ipx::add(&Document::read(list)?, &components)?;
        self.replace(list, text)
    }

    /// Replaces the board's specification: with the block's resources and the type for the SDK.
    fn specification(
        &mut self,
        specification: &Document,
        project: &Project,
        (config, block, memory): (&Config, &Block, Option<Blocks>),
        old_bits: Option<u64>,
    ) -> Result<Resources> {
        if let Some((family, place)) = family::foreign(project) {
            let file = self.layout.inside(&place.path)?;
            self.to_do.push(format!(
                "The vendor's {} says FAMILY \"{family}\". Peerlane was made for {}, with the hard IP of these \
                 families. The statements below may not be valid, and Platform Designer will refuse components that \
                 the family does not have.",
                Place { path: file, ..place },
                family::known()
            ));
        }
        if memory.is_none() {
            self.notes.push(format!(
                "This program does not know the device's family; its memory blocks were counted as {}, the smaller \
                 ones.",
                Blocks::M10k.name()
            ));
        }
        let memory = memory.unwrap_or(Blocks::M10k);
        let resources = resources::estimate(&block.modules, block::top(config), memory)?;
        self.notes
            .extend(resources::narrow_memory(specification, old_bits));
        let mut edits = Edits::default();
        self.changes
            .extend(self.name.in_specification(specification, &mut edits));
        let raised = resources::raise(specification, resources, &mut edits)?;
        self.changes.extend(raised);
        let detected = migration::detected(self.layout, project);
        let not_forced = config.port.generation == Some(3);
        let told = migration::tell(specification, detected, not_forced, &mut edits);
        self.changes.extend(told.changes);
        self.notes.extend(told.note);
        self.to_do.extend(told.to_do);
        self.replace(
            &specification.path,
            edits.apply(&specification.path, &specification.source)?,
        )?;
        Ok(resources)
    }

    /// Adds the platform's description, and the places for the runtime.
    fn platform(&mut self, platform: &Platform, config: &Config) -> Result<()> {
        let (text, changes) = platform.environment(self.layout, &self.name, config)?;
        match platform.replaced() {
            Some(path) => {
                self.changes.extend(changes);
                self.replace(path, text)?;
            }
            None => self.add_around(Written {
                path: "board_env.xml".into(),
                text,
            }),
        }
        for place in Platform::places() {
            self.add_around(place);
        }
        self.to_do.extend(platform.others(self.layout, &self.name));
        self.set_aside = platform.set_aside(self.layout);
        if !self.set_aside.is_empty() {
            let all: Vec<_> = (self.set_aside.iter())
                .map(|path| path.display().to_string())
                .collect();
            self.notes.push(format!(
                "The vendor's runtime ({}) was set aside: its library and its utilities drive the old DMA, and \
                 `install` would load a driver for it. Peerlane's library goes to linux64/lib, peerlane-aocl to \
                 linux64/libexec; a README.md in each explains how to build them.",
                all.join(", ")
            ));
        }
        Ok(())
    }

    /// Adds a file of the platform that is not in the board's directory.
    fn add_around(&mut self, file: Written) {
        self.added.push(file.path.display().to_string());
        self.around.push(file);
    }

    /// Adds the README: the steps to a working board.
    fn readme(
        &mut self,
        title: Option<&str>,
        (site, version, config, block): (&Site<'_>, &Version, &Config, &Block),
        hip: Option<&HardIp>,
    ) {
        let vendors = self.layout.root.join(readme::FILE);
        self.to_do.extend(version.note());
        self.notes.extend(version.differing());
        let facts = readme::Facts {
            board: &self.name.new,
            title,
            vendors_board: &self.name.old,
            hardware: &self.name.hardware,
            version,
            ids: PciIds::of(site, config),
            map_id: block.ids.map,
            build_id: block.ids.build,
            compile: &self.compile,
            cvp: self.cvp.as_ref().map(Cvp::paragraph),
            loses_cvp: self.cvp.as_ref().is_some_and(Cvp::is_lost),
            to_do: self.to_do.len(),
            streaming: hip.map(HardIp::link),
            set_aside: &self.set_aside,
            replaced: !self.layout.hardware.as_os_str().is_empty() && vendors.exists(),
        };
        let readme = Written {
            path: readme::FILE.into(),
            text: readme::text(&facts),
        };
        if facts.replaced {
            self.changes.push(Change {
                file: vendors,
                what: "the steps for this board in place of the vendor's text".into(),
                why: "the vendor's text describes the board before the extension".into(),
            });
            self.around.push(readme);
        } else {
            self.add_around(readme);
        }
    }

    /// Adds the record of how the block was built.
    fn build_file(&mut self, config: &Config, new: &Rewritten, block: &Block, vendor: &Tree) {
        let Program { version, commit } = Program::this();
        let build = Build {
            version,
            commit,
            config: config.clone(),
            port_bits: block.board.port_bits,
            memory_log2: block.board.memory_log2,
            map_id: block.ids.map,
            build_id: block.ids.build,
            instance: new.instance.clone(),
            bar: new.bar_after.bar,
            bar_log2: new.bar_log2,
            clock_mhz: block.board.clock_mhz,
            slaves: block.places.clone(),
            generated: self.generated.clone(),
            missing_in_input: self.missing.clone(),
            unresolved_in_input: self.unresolved.clone(),
            vendor: kept::digest_of_tree(vendor),
        };
        self.add(Written {
            path: BUILD_FILE.into(),
            text: build.json(),
        });
    }

    /// Adds the notes for the user.
    fn notes(
        &mut self,
        new: &Rewritten,
        config: &Config,
        (has_vendor, version): (bool, &Version),
    ) -> Result<()> {
        let block = (new.instance.as_str(), block::top(config));
        self.notes.push(self.name.note(has_vendor, version));
        self.notes.extend(new.notes.iter().cloned());
        // Requirements of the design come before tasks.
        self.to_do.splice(0..0, new.to_do.iter().cloned());
        let changed = |path: &Path| {
            let inside = self.layout.inside(path).ok()?;
            let file = self.files.iter().find(|file| file.path == inside)?;
            Some(file.text.clone())
        };
        let mentions = compiled::mentions(&self.hardware, &new.removed_instances, block, &changed)?;
        self.to_do.extend(mentions);
        Ok(())
    }

    fn finish(
        mut self,
        config: &Config,
        new: Rewritten,
        block: &Block,
        resources: Resources,
        vendor: Tree,
    ) -> Plan {
        for change in &mut self.changes {
            // The path in the output.
            if let Ok(inside) = self.layout.inside(&change.file) {
                change.file = layout::place(&inside, (&self.layout.hardware, &self.name.hardware));
            }
        }
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            commit: Program::this().commit,
            origin: self.origin,
            bsp: self.name.old.clone(),
            hardware: self.name.hardware.clone(),
            instance: new.instance,
            map_id: block.ids.map,
            build_id: block.ids.build,
            config: config.clone(),
            port_bits: block.board.port_bits,
            resources,
            bar_before: new.bar_before,
            bar_after: new.bar_after,
            changes: self.changes,
            added: self.added,
            left_out: self.left_out.clone(),
            set_aside: self.set_aside.clone(),
            missing_in_input: self.missing,
            to_do: self.to_do,
            notes: self.notes,
        };
        self.left_out.extend(self.set_aside);
        Plan {
            files: self.files,
            around: self.around,
            left_out: self.left_out,
            vendor,
            report,
        }
    }
}

fn unreached(site: &Site<'_>, bar: u32, slave: &str) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        site.system.place(site.dma),
        format!("the host would not reach {slave} of the block in BAR {bar}"),
        "This is a defect of Peerlane; report it with the BSP.",
    )
}
