//! All that an extension writes, gathered before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::block;
use crate::build::{self, Build};
use crate::check;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::component::{self, Written};
use crate::extend::identity::{self, Name};
use crate::extend::report::{Change, Report};
use crate::extend::resources::{self, Resources};
use crate::extend::rewrite::{self, Rewritten};
use crate::extend::settings::{self, Import};
use crate::extend::{Options, ipx};
use crate::generator::{self, Ids, VerilogModule};
use crate::interrupt;
use crate::layout::{self, BUILD_FILE, Layout};
use crate::system::library::{Library, NEW_DMA};
use crate::system::project::Project;
use crate::system::qsys::System;
use crate::system::site::Site;
use crate::system::xml::{Document, Edits};
use crate::text;
use crate::verilog;

/// All of the output that differs from the input.
#[derive(Debug)]
pub(super) struct Plan {
    /// Files in place of old ones and new files, relative to the hardware directory.
    files: Vec<Written>,
    /// Files in place of old ones, relative to the BSP.
    root_files: Vec<(PathBuf, String)>,
    /// Files not to be copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// What is said about it.
    pub(super) report: Report,
}

impl Plan {
    /// What extending a BSP comes to.
    pub(super) fn new(layout: &Layout, options: &Options) -> Result<Self> {
        let config = &options.config;
        let hardware = layout.hardware_dir();
        let library = Library::find(layout)?;
        let site = Site::find(&library, &hardware)?;
        tracing::info!(
            dma = %site.dma.name,
            hip = %site.hip.name,
            system = %site.system.document.path.display(),
            "found by kind"
        );
        let missing = check::files::missing(layout, &library)?;
        let new = rewrite::rewrite(&site, config)?;
        let specification = Document::read(&hardware.join("board_spec.xml"))?;
        let name = Name::of(layout, &specification, config)?;
        let block = Block::generate(&site, &new, config, &specification)?;

        let mut builder = Builder::new(layout, missing, name);
        builder.design(&site);
        builder.block(config, &block);
        builder.system(&site.system.document.path, &new);
        builder.settings()?;
        builder.component_list()?;
        let resources = builder.specification(&specification, config, &block)?;
        builder.environment(config)?;
        builder.build_file(config, &new, &block);
        builder.notes(&new, &options.out)?;
        builder.vendor()?;
        Ok(builder.finish(config, new, &block, resources))
    }

    /// Writes the extended BSP into a directory.
    pub(super) fn write(&self, layout: &Layout, to: &Path) -> Result<()> {
        let skip = |path: &Path| self.left_out.iter().any(|left| left == path);
        let moved = (layout.hardware.as_path(), self.report.hardware.as_path());
        layout::copy_moved(&layout.root, to, &skip, moved)?;
        let hardware = to.join(&self.report.hardware);
        for file in &self.files {
            interrupt::check(&file.path)?;
            layout::write(&hardware.join(&file.path), &text::encode(&file.text))?;
        }
        for (path, text) in &self.root_files {
            layout::write(&to.join(path), &text::encode(text))?;
        }
        layout::write(
            &to.join("peerlane-report.md"),
            self.report.markdown().as_bytes(),
        )?;
        layout::write(
            &to.join("peerlane-report.json"),
            self.report.json().as_bytes(),
        )
    }
}

/// The generated block.
struct Block {
    modules: Vec<VerilogModule>,
    ids: Ids,
    port_bits: u32,
    memory_log2: u32,
    /// Byte offset in the BAR of each slave, by the name of the interface.
    places: BTreeMap<String, u64>,
}

impl Block {
    fn generate(
        site: &Site<'_>,
        new: &Rewritten,
        config: &Config,
        specification: &Document,
    ) -> Result<Self> {
        let port_bits = new.port_bits;
        let memory_log2 = resources::memory_log2(specification)?;
        // The places are a part of BUILD_ID, so they are decided before the block is generated.
        let places = new.bar_after.slaves_of(&new.instance);
        let slaves = build::slaves(new.bar_after.bar, &places)
            .map_err(|slave| unreached(site, new.bar_after.bar, slave))?;
        let board = generator::Board {
            port_bits,
            memory_log2,
            slaves,
        };
        let modules = generator::generate(config, board)?;
        let ids = agree(config, port_bits, &modules)?;
        tracing::info!(modules = modules.len(), port_bits, "Verilog generated");
        Ok(Self {
            modules,
            ids,
            port_bits,
            memory_log2,
            places,
        })
    }
}

/// Gathers files and what there is to say about them. The files of the block come first.
struct Builder<'a> {
    layout: &'a Layout,
    hardware: PathBuf,
    /// The board's name.
    name: Name,
    files: Vec<Written>,
    /// Files in place of old ones, relative to the BSP.
    root_files: Vec<(PathBuf, String)>,
    /// SHA-256 of each generated file, by its path.
    generated: BTreeMap<String, String>,
    changes: Vec<Change>,
    /// Files that the input does not have.
    added: Vec<String>,
    /// Files not to be copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// Imports that were taken out.
    imports: Vec<Import>,
    /// Files that the input names and does not have.
    missing: Vec<String>,
    /// Kinds that the input leaves open.
    unresolved: BTreeSet<String>,
    notes: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(layout: &'a Layout, missing: Vec<String>, name: Name) -> Self {
        Self {
            layout,
            hardware: layout.hardware_dir(),
            name,
            files: Vec::new(),
            root_files: Vec::new(),
            generated: BTreeMap::new(),
            changes: Vec::new(),
            added: Vec::new(),
            left_out: Vec::new(),
            imports: Vec::new(),
            missing,
            unresolved: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    /// What was found to be the design.
    fn design(&mut self, site: &Site<'_>) {
        let file = |system: &System| self.relative(&system.document.path).display().to_string();
        let all: Vec<_> = site.library.systems().map(file).collect();
        self.notes.push(format!(
            "The DMA is the instance {} of {}. The design, as the project and its search path name it, is {}; other \
             .qsys files are no part of it and were not looked at.",
            site.dma.name,
            file(site.system),
            all.join(", ")
        ));
        self.unresolved = site.library.unresolved();
        if !self.unresolved.is_empty() {
            let kinds: Vec<_> = self.unresolved.iter().map(String::as_str).collect();
            self.notes.push(format!(
                "Neither the BSP nor Quartus defines these kinds of components, so the OpenCL SDK must: {}.",
                kinds.join(", ")
            ));
        }
    }

    /// A path relative to the hardware directory.
    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.hardware)
            .unwrap_or(path)
            .to_path_buf()
    }

    /// A file in place of one of the input.
    fn replace(&mut self, path: &Path, text: String) {
        let path = self.relative(path);
        self.files.push(Written { path, text });
    }

    /// A file that the input does not have.
    fn add(&mut self, file: Written) {
        self.added.push(file.path.display().to_string());
        self.files.push(file);
    }

    /// The block's Verilog, component and constraints.
    fn block(&mut self, config: &Config, block: &Block) {
        for file in component::ip_files(config, block.port_bits, &block.modules) {
            let digest = build::digest(file.text.as_bytes());
            self.generated
                .insert(file.path.display().to_string(), digest);
            self.add(file);
        }
    }

    /// The system that the block is in, and others that change.
    fn system(&mut self, path: &Path, new: &Rewritten) {
        self.replace(path, new.text.clone());
        for other in &new.others {
            self.replace(&other.path, other.text.clone());
        }
        self.changes.extend(new.changes.iter().cloned());
    }

    /// The project's settings and scripts without anything compiled; and the script that makes it anew.
    fn settings(&mut self) -> Result<()> {
        let project = Project::read(self.layout)?;
        let settings = settings::rewrite(&project)?;
        for file in &settings.files {
            self.replace(&file.path, file.text.clone());
        }
        self.changes.extend(settings.changes.iter().cloned());
        // What is not named any more cannot be missing.
        let gone = settings.imports.iter();
        let gone: Vec<_> = gone.map(|import| format!(" {}", import.file)).collect();
        (self.missing).retain(|missing| !gone.iter().any(|file| missing.ends_with(file)));
        let root = &self.layout.root;
        let left_out = left_out(&self.hardware, &settings.imports)?;
        let inside = left_out
            .iter()
            .filter_map(|path| path.strip_prefix(&self.hardware).ok());
        let images: Vec<String> = inside
            .filter(|path| path.extension().is_some_and(|e| e == "aocx"))
            .map(|path| path.display().to_string())
            .collect();
        self.left_out = left_out
            .iter()
            .map(|path| path.strip_prefix(root).unwrap_or(path).to_path_buf())
            .collect();
        for script in component::scripts(&project_name(self.layout)?, &settings, &images) {
            self.add(script);
        }
        self.notes.extend(settings.notes.iter().cloned());
        self.notes.push(compiled_note(&settings, &self.left_out));
        self.imports = settings.imports;
        Ok(())
    }

    /// The list of components with the block in it.
    fn component_list(&mut self) -> Result<()> {
        let lists = layout::with_extension(&self.hardware, "ipx")?;
        let usual = (lists.iter()).find(|p| p.file_name().is_some_and(|n| n == "iface.ipx"));
        let hw_tcl = layout::hw_tcl_path();
        let Some(list) = usual.or(lists.first()) else {
            self.add(Written {
                path: "peerlane.ipx".into(),
                text: ipx::new_list(&hw_tcl),
            });
            return Ok(());
        };
        self.changes.push(Change {
            file: list.clone(),
            what: format!("component {NEW_DMA} added"),
            why: "Platform Designer finds the block's component by this list".into(),
        });
        let text = ipx::add(&Document::read(list)?, &hw_tcl)?;
        self.replace(list, text);
        Ok(())
    }

    /// The board's specification, with what the block takes.
    fn specification(
        &mut self,
        specification: &Document,
        config: &Config,
        block: &Block,
    ) -> Result<Resources> {
        let resources = resources::estimate(&block.modules, block::top(config.irq))?;
        let mut edits = Edits::default();
        self.changes
            .extend(self.name.in_specification(specification, &mut edits));
        let raised = resources::raise(specification, resources, &mut edits)?;
        self.changes.extend(raised);
        self.replace(
            &specification.path,
            edits.apply(&specification.path, &specification.source)?,
        );
        Ok(resources)
    }

    /// The platform's description, with the board's name.
    fn environment(&mut self, config: &Config) -> Result<()> {
        if let Some(environment) = identity::environment(self.layout)? {
            let suffix = &config.identity.board_suffix;
            let (text, changes) = self.name.in_environment(&environment, suffix)?;
            self.changes.extend(changes);
            self.root_files.push((PathBuf::from("board_env.xml"), text));
        }
        Ok(())
    }

    /// The record of how the block was built.
    fn build_file(&mut self, config: &Config, new: &Rewritten, block: &Block) {
        let build = Build {
            version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            port_bits: block.port_bits,
            memory_log2: block.memory_log2,
            map_id: block.ids.map,
            build_id: block.ids.build,
            instance: new.instance.clone(),
            bar: new.bar_after.bar,
            slaves: block.places.clone(),
            generated: self.generated.clone(),
            missing_in_input: self.missing.clone(),
            unresolved_in_input: self.unresolved.clone(),
        };
        self.add(Written {
            path: BUILD_FILE.into(),
            text: build.json(),
        });
    }

    /// The vendor's files that are replaced, for the check and for the way back.
    fn vendor(&mut self) -> Result<()> {
        let replaced = self.files.iter().map(|file| file.path.as_path());
        let replaced = replaced.filter(|path| self.hardware.join(path).is_file());
        for (path, text) in check::vendor::keep(self.layout, replaced)? {
            self.add(Written { path, text });
        }
        Ok(())
    }

    /// What a person should know.
    fn notes(&mut self, new: &Rewritten, out: &Path) -> Result<()> {
        self.notes.extend(self.name.note(self.layout, out));
        self.notes.extend(new.notes.iter().cloned());
        let mentions = mentions(&self.hardware, &new.removed_instances)?;
        self.notes.extend(mentions);
        Ok(())
    }

    fn finish(
        mut self,
        config: &Config,
        new: Rewritten,
        block: &Block,
        resources: Resources,
    ) -> Plan {
        let root = &self.layout.root;
        for change in &mut self.changes {
            // Where it is in the output.
            if let Ok(inside) = change.file.strip_prefix(&self.hardware) {
                change.file = self.name.hardware.join(inside);
            } else if let Ok(inside) = change.file.strip_prefix(root) {
                change.file = inside.to_path_buf();
            }
        }
        let name = root.file_name();
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            bsp: name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            hardware: self.name.hardware.clone(),
            instance: new.instance,
            map_id: block.ids.map,
            build_id: block.ids.build,
            config: config.clone(),
            port_bits: block.port_bits,
            resources,
            bar_before: new.bar_before,
            bar_after: new.bar_after,
            changes: self.changes,
            added: self.added,
            left_out: self.left_out.clone(),
            missing_in_input: self.missing,
            notes: self.notes,
        };
        Plan {
            files: self.files,
            root_files: self.root_files,
            left_out: self.left_out,
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

/// Name of the Quartus project: of its `.qpf`, or of its first revision.
fn project_name(layout: &Layout) -> Result<String> {
    let hardware = layout.hardware_dir();
    let projects = layout::with_extension(&hardware, "qpf")?;
    let first = projects.into_iter().chain(layout.settings_files()?).next();
    let stem = first
        .as_deref()
        .and_then(Path::file_stem)
        .unwrap_or_default();
    Ok(stem.to_string_lossy().into_owned())
}

/// What became of what the vendor shipped compiled.
fn compiled_note(settings: &settings::Settings, left_out: &[PathBuf]) -> String {
    if settings.imports.is_empty() {
        let also = match left_out {
            [] => String::new(),
            _ => " What lay compiled in the BSP was left out all the same.".into(),
        };
        return format!("The project imports nothing compiled.{also}");
    }
    let imports: Vec<_> = settings
        .imports
        .iter()
        .map(|i| {
            format!(
                "{} ({} of {}, revision {})",
                i.file, i.assignment, i.section, i.revision
            )
        })
        .collect();
    let script = format!("{}/rebuild.tcl", layout::SCRIPT_DIR);
    let then = match settings
        .base
        .as_deref()
        .filter(|_| settings.imports.iter().any(Import::is_persona))
    {
        Some(base) => format!(
            "Until revision {base} was compiled once, the other one has nothing to import, and Quartus stops: {script} \
             compiles {base}, collects what it makes and turns the import on again."
        ),
        None => format!(
            "Kernels compile the board from source until then: {script} exports what a base compile makes and turns \
             the import on again."
        ),
    };
    format!(
        "The vendor shipped the board compiled, with the old DMA in it. Taken out: {}. {then} Its head says how; it \
         stops at the first error. It was not tried with Quartus.",
        imports.join(", ")
    )
}

/// Lines of constraints and settings that speak of instances which are gone.
fn mentions(hardware: &Path, removed: &[String]) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for extension in ["qsf", "sdc"] {
        for path in layout::with_extension(hardware, extension)? {
            for (n, line) in text::read(&path)?.lines().enumerate() {
                if removed
                    .iter()
                    .any(|name| line.contains(&format!("|{name}")))
                {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    lines.push(format!("{name}:{}", n + 1));
                }
            }
        }
    }
    Ok((!lines.is_empty()).then(|| {
        format!(
            "These lines name what was inside the old DMA or its bridges; Quartus will warn that they \
             match nothing: {}.",
            lines.join(", ")
        )
    }))
}

/// What was compiled from the vendor's design, anywhere in the hardware directory: files, and directories of
/// Quartus's records.
fn left_out(hardware: &Path, imports: &[Import]) -> Result<Vec<PathBuf>> {
    let mut dirs = vec![hardware.to_path_buf()];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        let entries = fs::read_dir(&dir).map_err(|e| Error::io(&dir, "list the directory", &e))?;
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            let relative = path.strip_prefix(hardware).unwrap_or(&path);
            let directory = path.is_dir() && !path.is_symlink();
            match directory {
                true if settings::is_record(relative) => found.push(path),
                true => dirs.push(path),
                false if settings::is_compiled(relative, imports) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Checks that the Verilog has the ports that the component will declare, and that all files carry
/// the same hashes.
fn agree(config: &Config, port_bits: u32, modules: &[VerilogModule]) -> Result<generator::Ids> {
    let defect = |what: String| {
        Error::new(
            ErrorKind::Inconsistent,
            Place::file("peerlane_dma.v"),
            what,
            "This is a defect of Peerlane; report it with the configuration.",
        )
    };
    let name = block::top(config.irq);
    let top = modules
        .iter()
        .find(|m| m.name == name)
        .ok_or_else(|| defect("the generator made no top module".into()))?;
    let parsed = verilog::module(Path::new(&top.file_name()), &top.text, &top.name)?;
    let mut have = parsed.ports;
    let mut want: Vec<_> = block::interfaces(config, port_bits)
        .into_iter()
        .flat_map(|i| i.ports.into_iter().map(|(_, p)| p))
        .collect();
    have.sort();
    want.sort();
    if let Some(odd) = have
        .iter()
        .find(|p| !want.contains(p))
        .or(want.iter().find(|p| !have.contains(p)))
    {
        return Err(defect(format!(
            "port {} ({} bits) of Verilog and component differ",
            odd.name, odd.width
        )));
    }
    let ids = generator::ids(&top.text)
        .ok_or_else(|| defect("the Verilog has no MAP_ID and BUILD_ID in its header".into()))?;
    match modules
        .iter()
        .find(|m| generator::ids(&m.text) != Some(ids))
    {
        Some(odd) => Err(defect(format!(
            "module {} carries other hashes than the top",
            odd.name
        ))),
        None => Ok(ids),
    }
}
