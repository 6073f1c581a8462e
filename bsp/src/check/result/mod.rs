//! The extended BSP as it stands in its files, read anew and judged by what Platform Designer and Quartus demand and by
//! what the vendor's BSP was.

mod addresses;
mod lists;
mod names;
mod settings;
mod wiring;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::build::Build;
use crate::check::Findings;
use crate::check::read::component::Declared;
use crate::check::read::design::{Design, Instance};
use crate::check::vendor::Vendor;
use crate::error::{Error, Place, Result};
use crate::layout::{Layout, hw_tcl_path};

/// The kind of the block.
const BLOCK: &str = "peerlane_dma";
/// The kind that it replaced.
const OLD: &str = "acl_dma";
const AGAIN: &str = "Mend it in Platform Designer, or extend the vendor's BSP again.";

/// All that is judged.
struct Bsp {
    hardware: PathBuf,
    vendor: Vendor,
    /// Systems by their kind. Of several with one name this cannot tell which one Quartus takes.
    designs: BTreeMap<String, Vec<Design>>,
    /// The vendor's, of those that the extension replaced, by their path.
    was: BTreeMap<PathBuf, Design>,
    declared: Declared,
}

impl Bsp {
    fn read(layout: &Layout) -> Result<Self> {
        let hardware = layout.hardware_dir();
        let vendor = Vendor::read(&hardware)?;
        let mut designs: BTreeMap<String, Vec<Design>> = BTreeMap::new();
        let mut was = BTreeMap::new();
        for path in systems(&hardware)? {
            let stem = path.file_stem().unwrap_or_default();
            let kind = stem.to_string_lossy().into_owned();
            designs.entry(kind).or_default().push(Design::read(&path)?);
            let inside = path.strip_prefix(&hardware).unwrap_or(&path);
            if let Some(old) = vendor.design(inside)? {
                was.insert(path, old);
            }
        }
        Ok(Self {
            vendor,
            was,
            declared: Declared::read(&hardware.join(hw_tcl_path()))?,
            designs,
            hardware,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Design> {
        self.designs.values().flatten()
    }

    /// The vendor's system, if the extension replaced it.
    fn was(&self, design: &Design) -> Option<&Design> {
        self.was.get(&design.path)
    }

    /// The only system of a kind.
    fn system(&self, kind: &str) -> Option<&Design> {
        match self.designs.get(kind).map(Vec::as_slice) {
            Some([one]) => Some(one),
            _ => None,
        }
    }

    /// The systems with the block.
    fn with_block(&self) -> impl Iterator<Item = (&Design, &Instance)> {
        self.all().flat_map(|design| {
            let blocks = design.instances.iter().filter(|i| i.kind == BLOCK);
            blocks.map(move |block| (design, block))
        })
    }

    /// A path in the hardware directory.
    fn inside<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.hardware).unwrap_or(path)
    }
}

/// Judges the result. Of the record only the places of the slaves are taken, which the driver is told.
///
/// # Errors
/// What cannot be read: [`crate::error::ErrorKind::BadXml`], [`crate::error::ErrorKind::Io`] and the like.
pub fn check(layout: &Layout, build: &Build, findings: &mut Findings) -> Result<()> {
    let component = layout.hardware_dir().join(hw_tcl_path());
    if !component.is_file() {
        let what = "the block's component is gone".to_string();
        bad(findings, "component list", Place::file(&component), what);
        return Ok(());
    }
    let bsp = Bsp::read(layout)?;
    names::check(&bsp, findings)?;
    wiring::check(&bsp, findings);
    addresses::check(&bsp, build, findings);
    settings::check(&bsp, findings)?;
    lists::check(&bsp, findings)
}

/// The `.qsys` files of a hardware directory, without what Quartus makes.
fn systems(hardware: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![hardware.to_path_buf()];
    while let Some(dir) = open.pop() {
        let failed = |e| Error::io(&dir, "list the directory", &e);
        for entry in std::fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let made = [
                "db",
                "incremental_db",
                "output_files",
                "synthesis",
                "simulation",
            ];
            if entry.file_type().map_err(failed)?.is_dir() {
                if !made.iter().any(|name| entry.file_name() == *name) {
                    open.push(path);
                }
            // A link that leads nowhere is no part of the design; one that is missed there, another test finds.
            } else if path.extension().is_some_and(|e| e == "qsys") && path.exists() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Says what is wrong with a system by itself. What the vendor's has, too, is a note.
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
            true => findings.note(
                test,
                design.place(line),
                format!("{what}; in the vendor's BSP too"),
            ),
            false => bad(findings, test, design.place(line), what),
        }
    }
}

/// What is said about a place.
fn bad(findings: &mut Findings, test: &'static str, place: Place, what: String) {
    findings.bad(test, place, what, AGAIN);
}
