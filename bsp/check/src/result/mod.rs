//! Reads the files of the extended BSP again, and checks them against the demands of Platform Designer and Quartus and
//! against the vendor's BSP.

mod addresses;
mod avalon;
mod files;
mod gen3;
mod hip_paths;
mod identity;
mod interrupts;
mod lines;
mod lists;
mod logic;
mod memory;
mod migration;
mod names;
mod parameters;
mod paths;
mod pins;
mod platform;
mod project;
mod receive;
mod regions;
mod resets;
mod settings;
mod steps;
mod stream;
mod to_do;
mod wiring;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::component::Declared;
use crate::read::design::{Design, Instance};
use crate::read::search::Catalog;
use crate::read::settings::normal;
use crate::read::vendor::{self, Vendor};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::layout::{Layout, hw_tcl_path};
use peerlane_bsp_platform::message::Message;

/// The test that finds missing files.
pub(super) const FILES: &str = "files";
/// The kind of the block.
const BLOCK: &str = "peerlane_dma";
/// The kind that it replaced.
const OLD: &str = "acl_dma";

/// Everything that is checked.
struct Bsp {
    layout: Layout,
    hardware: PathBuf,
    vendor: Vendor,
    /// The project's settings.
    project: project::Project,
    /// Systems and components on its search path.
    catalog: Catalog,
    /// The design's systems by their kind. Of several with one name, it is not known which one Quartus takes.
    designs: BTreeMap<String, Vec<Design>>,
    /// The vendor's systems, by the path of the system that replaces each.
    was: BTreeMap<PathBuf, Design>,
    declared: Declared,
}

impl Bsp {
    fn read(layout: &Layout) -> Result<Self> {
        let hardware = layout.hardware_dir();
        let vendor = Vendor::read(layout)?;
        let project = project::Project::read(layout)?;
        let mut paths = project.values("SEARCH_PATH");
        paths.extend(project.values("IP_SEARCH_PATHS"));
        let catalog = Catalog::read(&hardware, &paths)?;
        let mut bsp = Self {
            layout: layout.clone(),
            declared: match hardware.join(hw_tcl_path()) {
                component if component.is_file() => Declared::read(&component)?,
                _ => Declared::default(),
            },
            designs: BTreeMap::new(),
            was: BTreeMap::new(),
            vendor,
            project,
            catalog,
            hardware,
        };
        let tops = bsp.tops();
        bsp.follow(tops.iter().map(|path| of_its_name(path)).collect())?;
        if bsp.with_block().next().is_none() {
            // No system with a block was found from the top: it may be anywhere on the search path.
            let all = bsp.catalog.systems.values().flatten();
            let all = all.map(|path| of_its_name(path)).collect();
            bsp.follow(all)?;
        }
        Ok(bsp)
    }

    /// Returns the systems that the project names, or those of its directory.
    fn tops(&self) -> Vec<PathBuf> {
        let mut named = self.project.values("QSYS_FILE");
        named.extend(self.project.top.clone());
        // If a system is generated before the compile, the project names the generated file.
        for made in self.project.values("QIP_FILE") {
            let stem = Path::new(&made).file_stem().unwrap_or_default();
            named.push(format!("{}.qsys", stem.to_string_lossy()));
        }
        let mut tops: Vec<_> = named
            .iter()
            .map(|name| normal(&self.hardware.join(name)))
            .collect();
        tops.retain(|path| path.is_file());
        if tops.is_empty() {
            let all = self.catalog.systems.values().flatten();
            let here = all.filter(|path| path.parent() == Some(self.hardware.as_path()));
            tops.extend(here.cloned());
        }
        tops
    }

    /// Reads systems, each with its kind, and the systems of their instances' kinds.
    fn follow(&mut self, mut open: Vec<(PathBuf, String)>) -> Result<()> {
        let mut seen = BTreeSet::new();
        while let Some((path, kind)) = open.pop() {
            let known = self.all().any(|design| design.path == path);
            if known || !seen.insert(std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone()))
            {
                continue;
            }
            let design = Design::read(&path)?;
            for instance in &design.instances {
                let files = self.catalog.systems.get(&instance.kind);
                let files = files.into_iter().flatten().cloned();
                open.extend(files.map(|file| (file, instance.kind.clone())));
            }
            if let Some(old) = self.vendor.design(&self.inside(&path))? {
                let old = stream::as_streaming(old, &design);
                self.was.insert(path.clone(), old);
            }
            self.designs.entry(kind).or_default().push(design);
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Design> {
        self.designs.values().flatten()
    }

    /// Returns the vendor's system that a system replaces.
    fn was(&self, design: &Design) -> Option<&Design> {
        self.was.get(&design.path)
    }

    /// Returns the only system of a kind.
    fn system(&self, kind: &str) -> Option<&Design> {
        match self.designs.get(kind).map(Vec::as_slice) {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    /// Returns the only system of a kind inside another: inside a system of the vendor's, the vendor's.
    fn inner(&self, outer: &Design, kind: &str) -> Option<&Design> {
        let inner = self.system(kind)?;
        let of_vendor = self.was.values().any(|was| std::ptr::eq(was, outer));
        let was = self.was(inner).filter(|_| of_vendor);
        Some(was.unwrap_or(inner))
    }

    /// Returns the systems that replace the vendor's, each with the vendor's.
    fn replaced(&self) -> impl Iterator<Item = (&Design, &Design)> {
        self.all()
            .filter_map(|design| Some((design, self.was(design)?)))
    }

    /// Returns the systems with the block.
    fn with_block(&self) -> impl Iterator<Item = (&Design, &Instance)> {
        self.all().flat_map(|design| {
            let blocks = design.instances.iter().filter(|i| i.kind == BLOCK);
            blocks.map(move |block| (design, block))
        })
    }

    /// Returns the path of a file from the hardware directory, with links followed.
    fn inside(&self, path: &Path) -> PathBuf {
        let whole = |path: &Path| std::fs::canonicalize(path).ok();
        let inside = whole(path)
            .zip(whole(&self.layout.root))
            .and_then(|(path, root)| Some(path.strip_prefix(root).ok()?.to_path_buf()));
        let path = inside.map_or_else(
            || path.to_path_buf(),
            |inside| self.layout.root.join(inside),
        );
        vendor::from_hardware(&self.layout, &path)
    }
}

/// Returns a system with the kind that its file's name gives.
fn of_its_name(path: &Path) -> (PathBuf, String) {
    let stem = path.file_stem().unwrap_or_default();
    (path.to_path_buf(), stem.to_string_lossy().into_owned())
}

/// Checks the result. From the record it takes only the requested configuration and the places of the slaves, which are
/// the driver's too.
///
/// # Errors
/// Those of reading a file: [`peerlane_bsp_platform::error::ErrorKind::BadXml`],
/// [`peerlane_bsp_platform::error::ErrorKind::Io`] and others.
pub fn check(layout: &Layout, build: &Build, findings: &mut Findings) -> Result<()> {
    let bsp = Bsp::read(layout)?;
    files::check(&bsp, findings)?;
    let component = layout.hardware_dir().join(hw_tcl_path());
    if !component.is_file() {
        let what = format!(
            "the block's component {} does not exist, and without it nothing else can be checked",
            hw_tcl_path()
        );
        bad(findings, "files", Place::file(&component), what);
        return Ok(());
    }
    files::instances(&bsp, findings);
    files::kinds(&bsp, findings);
    files::ends(&bsp, findings);
    let pairs = lines::pairs(&bsp)?;
    // If the hard IP is the wrong one, its other faults say nothing new.
    if !stream::is_without_packets(&bsp, build, findings) {
        names::check(&bsp, findings)?;
        parameters::check(&bsp, build, findings);
        avalon::check(&bsp, findings);
        wiring::check(&bsp, findings);
        stream::check(&bsp, build, findings);
        logic::check(&bsp, build, findings)?;
        to_do::check(&bsp, build, &pairs, findings)?;
        addresses::check(&bsp, build, findings);
        receive::check(&bsp, findings);
        resets::check(&bsp, findings);
        memory::check(&bsp, build, findings);
        interrupts::check(&bsp, build, findings);
        identity::check(&bsp, build, findings)?;
    }
    platform::check(&bsp, build, findings)?;
    settings::check(&bsp, findings)?;
    lines::globals(&bsp, &pairs, findings);
    pins::check(&bsp, &pairs, findings)?;
    regions::check(&bsp, &pairs, findings)?;
    files::compiled(&bsp, findings)?;
    lists::check(&bsp, build, findings)?;
    migration::check(&bsp, build, findings)
}

/// Reports the faults of a system by itself. A fault that the vendor's system has too is a note.
fn new_faults(
    findings: &mut Findings,
    test: &'static str,
    design: &Design,
    vendor: Option<&Design>,
    faults: impl Fn(&Design) -> Vec<(usize, String)>,
) {
    let old: Vec<_> = vendor.map(&faults).unwrap_or_default();
    for (line, what) in faults(design) {
        match old.iter().any(|(_, had)| *had == what) {
            true => findings.inherited(
                test,
                design.place(line),
                format!("{what}; in the vendor's BSP too"),
            ),
            false => bad(findings, test, design.place(line), what),
        }
    }
}

/// Reports a fault at a place, with the hint for a file of that kind.
fn bad(findings: &mut Findings, test: &'static str, place: Place, what: String) {
    bad_with_path(findings, test, place, what.into());
}

/// Reports a fault as [`bad`] does, with a message that has paths.
fn bad_with_path(findings: &mut Findings, test: &'static str, place: Place, what: Message) {
    let hint = Hint::of_result(&place.path);
    findings.bad(test, place, what, hint);
}
