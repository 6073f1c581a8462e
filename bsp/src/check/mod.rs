//! `peerlane extend --check`: proves an extended BSP sound, as far as that goes without Quartus.

pub mod component;
pub mod connections;
pub mod files;
pub mod ids;
pub mod interrupts;
pub mod memory;
pub mod read;
pub mod resets;
pub mod result;
pub mod vendor;

use std::path::PathBuf;

use crate::build::Build;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::layout::Layout;
use crate::system::library::{Library, NEW_DMA, OLD_DMA};
use crate::system::qsys::{Module, System};

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Proved.
    Good,
    /// Could not be proved, or was so before; not a fault of the extension.
    Note,
    /// Wrong.
    Bad,
}

/// The result of one test, or one thing that it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How grave.
    pub level: Level,
    /// What was tested.
    pub test: &'static str,
    /// Where.
    pub place: PathBuf,
    /// Line, if there is one.
    pub line: Option<usize>,
    /// The finding: a sentence without its full stop.
    pub what: String,
    /// What to do about it; empty unless it is bad.
    pub remedy: String,
}

/// All findings.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Adds what was proved.
    pub fn good(&mut self, test: &'static str, what: impl Into<String>) {
        self.push(Level::Good, test, Place::file(""), what.into(), "");
    }

    /// Adds what could not be proved.
    pub fn note(&mut self, test: &'static str, place: Place, what: impl Into<String>) {
        self.push(Level::Note, test, place, what.into(), "");
    }

    /// Adds a fault.
    pub fn bad(&mut self, test: &'static str, place: Place, what: impl Into<String>, remedy: &str) {
        self.push(Level::Bad, test, place, what.into(), remedy);
    }

    fn push(&mut self, level: Level, test: &'static str, place: Place, what: String, remedy: &str) {
        let Place { path, line } = place;
        self.0.push(Finding {
            level,
            test,
            place: path,
            line,
            what,
            remedy: remedy.into(),
        });
    }

    /// The first fault.
    pub fn first_error(&self) -> Option<&Finding> {
        self.0.iter().find(|f| f.level == Level::Bad)
    }

    /// Number of faults.
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|f| f.level == Level::Bad).count()
    }

    /// Whether a test found no fault since there were `before` of them.
    fn unchanged(&self, before: usize) -> bool {
        self.errors() == before
    }
}

/// An extended BSP, read.
#[derive(Debug)]
pub struct Extended<'a> {
    /// Where.
    pub layout: &'a Layout,
    /// Its record.
    pub build: &'a Build,
    /// Its systems.
    pub library: &'a Library,
    /// The system with the block.
    pub system: &'a System,
    /// The block's instance.
    pub block: &'a Module,
}

/// Everything that can be checked, with the component run under `tclsh`.
///
/// # Errors
/// [`ErrorKind::NotABsp`] if it is no extended BSP, [`ErrorKind::BadXml`], [`ErrorKind::Tool`] if there
/// is no `tclsh`, [`ErrorKind::Io`]. What is wrong with the BSP itself is a [`Finding`].
pub fn check(layout: &Layout) -> Result<Findings> {
    run(layout, true)
}

/// Everything that needs no other program.
///
/// # Errors
/// As [`check`].
pub fn structure(layout: &Layout) -> Result<Findings> {
    run(layout, false)
}

fn run(layout: &Layout, with_tcl: bool) -> Result<Findings> {
    let build = Build::read(layout)?;
    let mut findings = Findings::default();
    by_model(layout, &build, with_tcl, &mut findings)?;
    result::check(layout, &build, &mut findings)?;
    Ok(findings)
}

/// What the model of the BSP that the extension works with can tell.
fn by_model(layout: &Layout, build: &Build, with_tcl: bool, findings: &mut Findings) -> Result<()> {
    let mut library = Library::find(layout)?;
    library.set_block(build.config.clone());
    let instances = |kind: &'static str| {
        library
            .systems()
            .flat_map(move |s| {
                s.modules
                    .iter()
                    .filter(move |m| m.kind == kind)
                    .map(move |m| (s, m))
            })
            .collect::<Vec<_>>()
    };
    let old = instances(OLD_DMA);
    for (system, module) in &old {
        findings.bad(
            "instances",
            system.place(module),
            format!("instance {} is still of kind {OLD_DMA}", module.name),
            "Extend the vendor's BSP again.",
        );
    }
    let new = instances(NEW_DMA);
    let [(system, block)] = new.as_slice() else {
        return Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(layout.hardware_dir()),
            format!(
                "{} instances of kind {NEW_DMA}; there must be exactly one",
                new.len()
            ),
            "Extend the vendor's BSP again.",
        ));
    };
    if old.is_empty() {
        findings.good(
            "instances",
            format!("one {NEW_DMA} ({}), no {OLD_DMA}", block.name),
        );
    }
    let bsp = Extended {
        layout,
        build,
        library: &library,
        system,
        block,
    };
    files::check(&bsp, findings)?;
    files::kinds(&bsp, findings);
    connections::dangling(&bsp, findings);
    connections::block(&bsp, findings);
    connections::overlaps(&bsp, findings);
    connections::hard_ip(&bsp, findings);
    interrupts::check(&bsp, findings);
    resets::check(&bsp, findings);
    memory::check(&bsp, findings);
    ids::check(&bsp, findings)?;
    if with_tcl {
        component::check(&bsp, findings)?;
    }
    Ok(())
}
