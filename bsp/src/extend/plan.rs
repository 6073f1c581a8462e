//! All that an extension writes, gathered before anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::block;
use crate::build::{self, Build};
use crate::check;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::component::{self, Written};
use crate::extend::report::{Change, Report};
use crate::extend::resources::{self, Resources};
use crate::extend::rewrite::{self, Rewritten};
use crate::extend::settings::{self, Partition};
use crate::extend::{Options, ipx};
use crate::generator::{self, Ids, VerilogModule};
use crate::interrupt;
use crate::layout::{self, BUILD_FILE, Layout};
use crate::system::library::{Library, NEW_DMA};
use crate::system::site::Site;
use crate::system::xml::Document;
use crate::text;
use crate::verilog;

/// All of the output that differs from the input.
#[derive(Debug)]
pub(super) struct Plan {
    /// Files in place of old ones and new files, relative to the hardware directory.
    files: Vec<Written>,
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
        let qsys = layout.qsys_files()?;
        let library = Library::read(qsys.iter().map(PathBuf::as_path))?;
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
        let block = Block::generate(&site, &new, config, &specification)?;

        let mut builder = Builder::new(layout, missing);
        builder.block(config, &block);
        builder.system(&site.system.document.path, &new);
        builder.settings()?;
        builder.component_list()?;
        let resources = builder.specification(&specification, config, &block)?;
        builder.build_file(config, &new, &block);
        builder.notes(&new)?;
        builder.vendor()?;
        Ok(builder.finish(config, new, &block, resources))
    }

    /// Writes the extended BSP into a directory.
    pub(super) fn write(&self, layout: &Layout, to: &Path) -> Result<()> {
        layout::copy(&layout.root, to, &|p| self.left_out.iter().any(|l| l == p))?;
        let hardware = to.join(&layout.hardware);
        for file in &self.files {
            interrupt::check(&file.path)?;
            layout::write(&hardware.join(&file.path), &text::encode(&file.text))?;
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
    files: Vec<Written>,
    /// SHA-256 of each generated file, by its path.
    generated: BTreeMap<String, String>,
    changes: Vec<Change>,
    /// Files that the input does not have.
    added: Vec<String>,
    /// Files not to be copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// Imports of compiled partitions that were taken out.
    partitions: Vec<Partition>,
    /// Files that the input names and does not have.
    missing: Vec<String>,
    notes: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(layout: &'a Layout, missing: Vec<String>) -> Self {
        Self {
            layout,
            hardware: layout.hardware_dir(),
            files: Vec::new(),
            generated: BTreeMap::new(),
            changes: Vec::new(),
            added: Vec::new(),
            left_out: Vec::new(),
            partitions: Vec::new(),
            missing,
            notes: Vec::new(),
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

    /// The system that the block is in.
    fn system(&mut self, path: &Path, new: &Rewritten) {
        self.replace(path, new.text.clone());
        self.changes.extend(new.changes.iter().cloned());
    }

    /// The project's settings, without compiled partitions; and the script that makes them anew.
    fn settings(&mut self) -> Result<()> {
        let mut project = String::from("top");
        for path in self.layout.settings_files()? {
            let stem = path.file_stem();
            project = stem.map_or(project, |stem| stem.to_string_lossy().into_owned());
            let settings = settings::rewrite(&path, &text::read(&path)?)?;
            self.replace(&path, settings.text);
            self.changes.extend(settings.changes);
            self.partitions.extend(settings.partitions);
        }
        // What is not named any more cannot be missing.
        let gone = self.partitions.iter();
        let gone: Vec<_> = gone
            .map(|partition| format!(" {}", partition.file))
            .collect();
        (self.missing).retain(|missing| !gone.iter().any(|file| missing.ends_with(file)));
        let root = &self.layout.root;
        self.left_out = left_out(&self.hardware, &self.partitions)?
            .into_iter()
            .map(|path| path.strip_prefix(root).unwrap_or(&path).to_path_buf())
            .collect();
        for script in component::scripts(&project, &self.partitions) {
            self.add(script);
        }
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
        let (text, changes) = resources::raise(specification, resources)?;
        self.replace(&specification.path, text);
        self.changes.extend(changes);
        Ok(resources)
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
    fn notes(&mut self, new: &Rewritten) -> Result<()> {
        self.notes.extend(new.notes.iter().cloned());
        self.notes.push(match self.partitions.is_empty() {
            true => "The project imports no compiled partition.".into(),
            false => format!(
                "The import of the compiled partition is off, so kernels compile the interface from \
                 source. {}/partition.tcl rebuilds it: base compile, export, import on.",
                layout::SCRIPT_DIR
            ),
        });
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
            if let Ok(inside) = change.file.strip_prefix(root) {
                change.file = inside.to_path_buf();
            }
        }
        let name = root.file_name();
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            bsp: name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            hardware: self.layout.hardware.clone(),
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

/// Compiled partitions anywhere in the hardware directory.
fn left_out(hardware: &Path, partitions: &[settings::Partition]) -> Result<Vec<PathBuf>> {
    let mut dirs = vec![hardware.to_path_buf()];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        let entries = fs::read_dir(&dir).map_err(|e| Error::io(&dir, "list the directory", &e))?;
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            let relative = path.strip_prefix(hardware).unwrap_or(&path);
            if path.is_dir() && !path.is_symlink() {
                dirs.push(path);
            } else if settings::is_stale_partition(relative, partitions) {
                found.push(path);
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
