//! `peerlane extend`: a vendor BSP goes in, a complete extended copy comes out.

pub mod area;
pub mod bonus;
pub mod component;
pub mod host_bus;
pub mod interrupts;
pub mod ipx;
pub mod old_master;
pub mod output;
pub mod report;
pub mod resources;
pub mod rewrite;
pub mod settings;
pub mod writer;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::block;
use crate::build::Build;
use crate::check;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::generator::{self, VerilogModule};
use crate::layout::{self, BUILD_FILE, Layout};
use crate::system::library::Library;
use crate::system::site::Site;
use crate::system::xml::Document;
use crate::verilog;

use component::Written;
use report::{Change, Report};
use settings::Settings;

/// What to extend, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The BSP: its hardware directory, or a root with one.
    pub bsp: PathBuf,
    /// The directory to be made.
    pub out: PathBuf,
    /// Configuration.
    pub config: Config,
    /// Another place for the report: Markdown, or JSON if the name ends in `.json`.
    pub report: Option<PathBuf>,
}

/// Extends a BSP. Nothing is left behind if it fails.
///
/// # Errors
/// All kinds of [`ErrorKind`], with the place and the remedy.
pub fn extend(options: &Options) -> Result<Report> {
    let bsp = fs::canonicalize(&options.bsp).unwrap_or_else(|_| options.bsp.clone());
    let layout = Layout::find(&bsp).map_err(|e| output::named_as_given(e, &bsp, &options.bsp))?;
    let parent = output::check_output(&options.out, &bsp)?;
    if let Some(report) = &options.report {
        output::check_report(report, &bsp, &options.out)?;
    }
    let plan = plan(&layout, options)?;

    let temporary = tempfile::Builder::new()
        .prefix(".peerlane-extend-")
        .tempdir_in(&parent)
        .map_err(|e| output::not_writable(&parent, &e))?;
    plan.write(&layout, temporary.path())?;
    let made = Layout {
        root: temporary.path().to_path_buf(),
        hardware: layout.hardware.clone(),
    };
    let proof = check::structure(&made)?;
    if let Some(finding) = proof.first_error() {
        return Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(&finding.place),
            format!("the extended BSP would not be sound: {}", finding.what),
            "If the input has the same fault, mend it there; else report it with the BSP.",
        ));
    }

    let report_file = match &options.report {
        Some(path) => Some((path, output::prepare_report(path, &plan.report)?)),
        None => None,
    };
    output::set_directory_mode(temporary.path())?;
    let path = temporary.keep();
    if let Err(e) = fs::rename(&path, &options.out) {
        // The directory is ours alone; if it cannot be removed there is nothing better to do.
        let _ = fs::remove_dir_all(&path);
        return Err(Error::io(
            &options.out,
            "put the finished BSP in its place",
            &e,
        ));
    }
    if let Some((path, file)) = report_file {
        file.persist(path)
            .map_err(|e| Error::io(path, "write the report", &e.error))?;
    }
    Ok(plan.report)
}

/// All of the output that differs from the input.
#[derive(Debug)]
struct Plan {
    /// Files in place of old ones and new files, relative to the hardware directory.
    files: Vec<Written>,
    /// Files not to be copied, relative to the BSP.
    left_out: Vec<PathBuf>,
    /// What is said about it.
    report: Report,
}

impl Plan {
    fn write(&self, layout: &Layout, to: &Path) -> Result<()> {
        layout::copy(&layout.root, to, &|p| self.left_out.iter().any(|l| l == p))?;
        let hardware = to.join(&layout.hardware);
        for file in &self.files {
            layout::write(&hardware.join(&file.path), file.text.as_bytes())?;
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

fn plan(layout: &Layout, options: &Options) -> Result<Plan> {
    let (config, root) = (&options.config, &layout.root);
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
    let mut missing = check::files::missing(layout, &library)?;
    let new = rewrite::rewrite(&site, config)?;
    let port_bits = new.port_bits;
    let specification = Document::read(&hardware.join("board_spec.xml"))?;
    let memory_log2 = resources::memory_log2(&specification)?;
    // The places are a part of BUILD_ID, so they are decided before the block is generated.
    let places = new.bar_after.slaves_of(&new.instance);
    let slaves = crate::build::slaves(new.bar_after.bar, &places)
        .map_err(|slave| unreached(&site, new.bar_after.bar, slave))?;
    let board = generator::Board {
        port_bits,
        memory_log2,
        slaves,
    };
    let modules = generator::generate(config, board)?;
    let ids = agree(config, port_bits, &modules)?;
    tracing::info!(modules = modules.len(), port_bits, "Verilog generated");

    let mut files = component::ip_files(config, port_bits, &modules);
    let generated: BTreeMap<String, String> = files
        .iter()
        .map(|f| (f.path.clone(), crate::build::digest(f.text.as_bytes())))
        .collect();
    let mut changes = new.changes;
    let relative = |path: &Path| -> String {
        path.strip_prefix(&hardware)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    files.push(Written {
        path: relative(&site.system.document.path),
        text: new.text,
    });

    let mut partitions = Vec::new();
    let mut project = String::from("top");
    for path in layout.settings_files()? {
        project = path
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or(project);
        let source = read_text(&path)?;
        let Settings {
            text,
            changes: more,
            partitions: found,
        } = settings::rewrite(&path, &source);
        files.push(Written {
            path: relative(&path),
            text,
        });
        changes.extend(more);
        partitions.extend(found);
    }
    // What is not named any more cannot be missing.
    missing.retain(|m| {
        !partitions
            .iter()
            .any(|p| m.ends_with(&format!(" {}", p.file)))
    });
    let left_out: Vec<PathBuf> = left_out(&hardware, &partitions)?
        .into_iter()
        .map(|p| p.strip_prefix(root).unwrap_or(&p).to_path_buf())
        .collect();
    let mut added: Vec<String> = files[..generated.len()]
        .iter()
        .map(|f| f.path.clone())
        .collect();
    let scripts = component::scripts(&project, &partitions);
    added.extend(scripts.iter().map(|f| f.path.clone()));
    files.extend(scripts);
    files.push(component_list(
        &hardware,
        &relative,
        &mut changes,
        &mut added,
    )?);

    let resources = resources::estimate(&modules, block::top(config.irq))?;
    let (text, more) = resources::raise(&specification, resources)?;
    files.push(Written {
        path: "board_spec.xml".into(),
        text,
    });
    changes.extend(more);

    let build = Build {
        version: env!("CARGO_PKG_VERSION").into(),
        config: config.clone(),
        port_bits,
        memory_log2,
        map_id: ids.map,
        build_id: ids.build,
        instance: new.instance.clone(),
        bar: new.bar_after.bar,
        slaves: places,
        generated,
        missing_in_input: missing.clone(),
    };
    files.push(Written {
        path: BUILD_FILE.into(),
        text: build.json(),
    });
    added.push(BUILD_FILE.into());

    let mut notes = new.notes;
    if partitions.is_empty() {
        notes.push("The project imports no compiled partition.".into());
    } else {
        notes.push(format!(
            "The import of the compiled partition is off, so kernels compile the interface from source. \
             {}/partition.tcl rebuilds it: base compile, export, import on.",
            layout::SCRIPT_DIR
        ));
    }
    notes.extend(mentions(&hardware, &new.removed_instances)?);
    for change in &mut changes {
        if let Ok(inside) = change.file.strip_prefix(root) {
            change.file = inside.to_path_buf();
        }
    }
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        bsp: root
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default(),
        hardware: layout.hardware.clone(),
        instance: new.instance,
        map_id: ids.map,
        build_id: ids.build,
        config: config.clone(),
        port_bits,
        resources,
        bar_before: new.bar_before,
        bar_after: new.bar_after,
        changes,
        added,
        left_out: left_out.clone(),
        missing_in_input: missing,
        notes,
    };
    Ok(Plan {
        files,
        left_out,
        report,
    })
}

fn unreached(site: &Site<'_>, bar: u32, slave: &str) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        site.system.place(site.dma),
        format!("the host would not reach {slave} of the block in BAR {bar}"),
        "This is a defect of Peerlane; report it with the BSP.",
    )
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|e| Error::io(path, "read the file", &e))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::new(
            ErrorKind::Unsupported,
            Place::file(path),
            "the file is not UTF-8 text",
            "Save it as UTF-8 first; only comments can hold other characters.",
        )
    })
}

/// Lines of constraints and settings that speak of instances which are gone.
fn mentions(hardware: &Path, removed: &[String]) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for extension in ["qsf", "sdc"] {
        for path in layout::with_extension(hardware, extension)? {
            let bytes = fs::read(&path).map_err(|e| Error::io(&path, "read the file", &e))?;
            for (n, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
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

/// The list of components with the block in it.
fn component_list(
    hardware: &Path,
    relative: &dyn Fn(&Path) -> String,
    changes: &mut Vec<Change>,
    added: &mut Vec<String>,
) -> Result<Written> {
    let lists = layout::with_extension(hardware, "ipx")?;
    let usual = lists
        .iter()
        .find(|p| p.file_name().is_some_and(|n| n == "iface.ipx"));
    let hw_tcl = layout::hw_tcl_path();
    let Some(list) = usual.or(lists.first()) else {
        added.push("peerlane.ipx".into());
        return Ok(Written {
            path: "peerlane.ipx".into(),
            text: ipx::new_list(&hw_tcl),
        });
    };
    changes.push(Change {
        file: list.clone(),
        what: format!("component {} added", crate::system::library::NEW_DMA),
        why: "Platform Designer finds the block's component by this list".into(),
    });
    Ok(Written {
        path: relative(list),
        text: ipx::add(&Document::read(list)?, &hw_tcl)?,
    })
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
