//! The systems of a design, and facts about their instances: address spans of slaves, names and types of interfaces.
//!
//! Kinds that a `.qsys` file of the BSP composes are searched inside; for the others [`crate::kinds`] has the
//! facts of public documents. An unknown span has no upper bound, and callers must then be careful.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::extent::Extent;
use crate::kinds::{bridge_bytes, comes_with_quartus, is_automatic, is_plain_bridge, known_extent};
use crate::project::Project;
use crate::qsys::{Module, System};
use crate::search::{self, Catalog, Definition};
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{self, Layout};
use peerlane_bsp_platform::message::Message;
use peerlane_bsp_platform::roles::{NEW_DMA, OLD_DMA};
use peerlane_bsp_platform::xml::Document;

pub use crate::kinds::{is_pcie_hip, is_streaming_hip};

/// Deepest nesting of systems that is searched; BSPs have three levels.
const DEPTH: u32 = 16;

/// The systems of a BSP's design by the kind that each defines.
#[derive(Debug, Default, Clone)]
pub struct Library {
    systems: BTreeMap<String, System>,
    /// Kinds that a component of the BSP, or one in a list of components, defines.
    components: BTreeSet<String>,
    block: Option<Config>,
    /// Byte offsets in the BAR of slaves that are inside the block, by the names of their interfaces.
    inside: BTreeMap<String, u64>,
    /// Paths that Platform Designer searches and this program cannot: outside the BSP, or not readable.
    pub outside: BTreeSet<String>,
    /// Disabled instances of the old DMA.
    pub disabled: Vec<Place>,
}

impl Library {
    /// Reads the systems of the design, as the project and the search path name them: its top systems, and the systems
    /// of their instances. Other files, even with the same name, are not read.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if there is no top system; [`ErrorKind::Unsupported`] if two files define one kind;
    /// [`ErrorKind::BadXml`] for a system that contains itself; those of [`System::read`], [`Project::read`] and
    /// [`Catalog::read`].
    pub fn find(layout: &Layout) -> Result<Self> {
        let project = Project::read(layout)?;
        let catalog = Catalog::read(layout, &project)?;
        let hardware = layout.hardware_dir();
        let mut library = Self {
            outside: catalog.outside.clone(),
            ..Self::default()
        };
        let named = tops(&hardware, &project)?;
        library.take(layout, &project, &catalog, &named)?;
        if !library.systems().any(System::has_dma) {
            // The systems that the settings name may be those of single cores.
            let all = unused(&hardware)?;
            library.take(layout, &project, &catalog, &all)?;
        }
        library.refuse_cycles()?;
        Ok(library)
    }

    /// Adds systems and the systems of their instances.
    fn take(
        &mut self,
        layout: &Layout,
        project: &Project,
        catalog: &Catalog,
        tops: &[PathBuf],
    ) -> Result<()> {
        let library = self;
        let mut open: Vec<(PathBuf, Option<String>)> =
            tops.iter().map(|path| (path.clone(), None)).collect();
        while let Some((path, kind)) = open.pop() {
            let mut system = System::read(&path)?;
            // A link to a file with another name defines the link's kind.
            system.kind = kind.unwrap_or(system.kind);
            let off = system
                .modules
                .iter()
                .filter(|m| m.kind == OLD_DMA && !m.is_enabled());
            let off: Vec<Place> = off.map(|m| system.place(m)).collect();
            library.disabled.extend(off);
            // The check reports a disabled block.
            let system = system.generated(|module| module.kind == NEW_DMA);
            let kinds: BTreeSet<&str> = system.modules.iter().map(|m| m.kind.as_str()).collect();
            for kind in kinds {
                if library.systems.contains_key(kind) || kind == system.kind {
                    // A system that contains itself is refused below.
                    continue;
                }
                match one(kind, catalog, project, layout)? {
                    Some(Definition::System(file)) => {
                        open.push((as_given(layout, file), Some(kind.to_string())));
                    }
                    Some(_) => drop(library.components.insert(kind.to_string())),
                    None => {}
                }
            }
            library.systems.insert(system.kind.clone(), system);
        }
        Ok(())
    }

    /// Refuses a system that contains itself, directly or through others.
    fn refuse_cycles(&self) -> Result<()> {
        let mut done = BTreeSet::new();
        for system in self.systems.values() {
            // The way down, with the instances that are still to be visited at each level.
            let mut way = vec![(system, system.modules.iter())];
            while let Some((inner, modules)) = way.last_mut() {
                let Some(module) = modules.next() else {
                    done.insert(inner.kind.clone());
                    way.pop();
                    continue;
                };
                let Some(below) = self.systems.get(&module.kind) else {
                    continue;
                };
                let inner = *inner;
                if way.iter().any(|(s, _)| s.kind == below.kind) {
                    return Err(Error::new(
                        ErrorKind::BadXml,
                        inner.place(module),
                        format!(
                            "the system {} contains itself (instance {} in {}.qsys)",
                            below.kind, module.name, inner.kind
                        ),
                        "Take the .qsys files from the vendor's BSP package again.",
                    ));
                }
                if !done.contains(&below.kind) {
                    way.push((below, below.modules.iter()));
                }
            }
        }
        Ok(())
    }

    /// Makes a library of systems that are read already.
    pub fn of(systems: impl IntoIterator<Item = System>) -> Self {
        let systems = systems.into_iter().map(|s| (s.kind.clone(), s)).collect();
        Self {
            systems,
            ..Self::default()
        }
    }

    /// Returns the same design with one system changed.
    pub fn with(&self, system: System) -> Self {
        let mut systems = self.systems.clone();
        systems.insert(system.kind.clone(), system);
        Self {
            systems,
            components: self.components.clone(),
            block: self.block.clone(),
            inside: self.inside.clone(),
            outside: self.outside.clone(),
            disabled: self.disabled.clone(),
        }
    }

    /// Returns the kinds of instances that neither the BSP nor Quartus defines; the OpenCL SDK may define them.
    pub fn unresolved(&self) -> BTreeSet<String> {
        let kinds = self
            .systems()
            .flat_map(|s| s.modules.iter().map(|m| m.kind.as_str()));
        kinds
            .filter(|kind| !self.defines(kind))
            .map(str::to_string)
            .collect()
    }

    /// Reports whether a kind is defined by the BSP, by its lists of components, or by Quartus.
    pub fn defines(&self, kind: &str) -> bool {
        self.systems.contains_key(kind)
            || self.components.contains(kind)
            || comes_with_quartus(kind)
    }

    /// Sets the configuration that `peerlane_dma` was built with.
    pub fn set_block(&mut self, config: Config) {
        self.block = Some(config);
    }

    /// Sets the places of slaves that the host reaches inside the block, for a TLP port.
    pub fn set_inside(&mut self, places: &BTreeMap<String, u64>) {
        let of_block = |name: &&str| block::stream::INSIDE_BAR.contains(name);
        let places = places.iter().filter(|(name, _)| of_block(&name.as_str()));
        self.inside = places.map(|(name, at)| (name.clone(), *at)).collect();
    }

    /// Returns the places of slaves inside the block.
    pub(super) fn inside(&self) -> &BTreeMap<String, u64> {
        &self.inside
    }

    /// Iterates over all systems.
    pub fn systems(&self) -> impl Iterator<Item = &System> {
        self.systems.values()
    }

    /// Returns the system that defines a kind.
    pub fn system(&self, kind: &str) -> Option<&System> {
        self.systems.get(kind)
    }

    /// Returns the bytes that a slave interface of an instance takes.
    pub fn extent(&self, module: &Module, interface: &str) -> Extent {
        self.extent_within(module, interface, DEPTH)
    }

    fn extent_within(&self, module: &Module, interface: &str, depth: u32) -> Extent {
        let kind = module.kind.as_str();
        if let Some(inside) = self.systems.get(kind) {
            let target = inside
                .exports
                .iter()
                .find(|e| e.name == interface)
                .and_then(|e| e.internal.as_ref())
                .and_then(|end| Some((inside.module(&end.instance)?, &end.interface)));
            if let (Some((module, interface)), true) = (target, depth > 0) {
                let mut extent = self.extent_within(module, interface, depth - 1);
                extent.source = format!("{}.qsys, {}", inside.kind, extent.source);
                return extent;
            }
        }
        if is_plain_bridge(kind) && interface == "s0" && is_automatic(module) {
            return match self.behind(module, depth) {
                Some(bytes) => Extent::exact(
                    bytes,
                    "the slaves after the bridge, from which it has its width",
                ),
                None => Extent::unknown(kind),
            };
        }
        known_extent(module, interface, self.block.as_ref())
            .unwrap_or_else(|| Extent::unknown(kind))
    }

    /// Returns the bytes that a bridge passes on: by its width, or by its slaves if it derives the width from them
    /// (`USE_AUTO_ADDRESS_WIDTH`); `None` if that is not known.
    pub fn bridge_bytes(&self, module: &Module) -> Option<u128> {
        match is_automatic(module) {
            true => self.behind(module, DEPTH),
            false => bridge_bytes(module),
        }
    }

    /// Returns the bytes of a bridge's slaves, rounded up to a power of two: Platform Designer sets the width of an
    /// automatic bridge so. The width in the file is an earlier setting, without effect.
    fn behind(&self, bridge: &Module, depth: u32) -> Option<u128> {
        let depth = depth.checked_sub(1)?;
        let of = |system: &&System| {
            let mut modules = system.modules.iter();
            modules.any(|module| Arc::ptr_eq(&module.element, &bridge.element))
        };
        let system = self.systems().find(of)?;
        if system.exported(&bridge.name, Some("m0")).is_some() {
            return None;
        }
        let all = system.of_kind("avalon");
        let slaves = all.filter(|c| c.start.instance == bridge.name && c.start.interface == "m0");
        let mut end = None;
        for slave in slaves {
            let module = system.module(&slave.end.instance)?;
            let most = self
                .extent_within(module, &slave.end.interface, depth)
                .most?;
            end = end.max(Some(u128::from(slave.base.unwrap_or(0)).checked_add(most)?));
        }
        end?.checked_next_power_of_two()
    }
}

/// Returns the top systems of a project: those that a revision compiles, else that of `board_spec.xml`, else those of
/// the project's directory that no other one instantiates.
fn tops(hardware: &Path, project: &Project) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut take = |file: &str| {
        let path = hardware.join(file);
        if file.ends_with(".qsys") && path.is_file() && !found.contains(&path) {
            found.push(path);
        }
    };
    for (source, assignment) in project.settings(&["QSYS_FILE", "QIP_FILE"]) {
        for value in project.values(source, assignment.value_span.clone()) {
            let value = value.strip_prefix("./").unwrap_or(&value);
            match assignment.name.as_str() {
                "QSYS_FILE" => take(value),
                // Platform Designer generates NAME/synthesis/NAME.qip from NAME.qsys.
                _ => take(&format!(
                    "{}.qsys",
                    value.split('/').next().unwrap_or_default()
                )),
            }
        }
    }
    let specification = Document::read(&hardware.join("board_spec.xml"))?;
    for compile in specification.root.children("compile") {
        take(compile.attribute("qsys_file").unwrap_or_default());
    }
    if found.is_empty() {
        found = unused(hardware)?;
    }
    if found.is_empty() {
        return Err(Error::new(
            ErrorKind::NotABsp,
            Place::file(hardware),
            "no top system: no revision names one (QSYS_FILE), and each .qsys file here is instantiated in another one",
            "Name the top system in the project's settings: set_global_assignment -name QSYS_FILE system.qsys.",
        ));
    }
    Ok(found)
}

/// Returns the systems of the project's directory that no other one there instantiates.
fn unused(hardware: &Path) -> Result<Vec<PathBuf>> {
    let all = layout::with_extension(hardware, "qsys")?;
    let systems: Vec<System> = all
        .iter()
        .map(|path| System::read(path))
        .collect::<Result<_>>()?;
    let used: BTreeSet<&str> = systems
        .iter()
        .flat_map(|s| {
            s.modules
                .iter()
                .filter(|m| m.kind != s.kind)
                .map(|m| m.kind.as_str())
        })
        .collect();
    let tops = systems.iter().filter(|s| !used.contains(s.kind.as_str()));
    Ok(tops.map(|s| s.document.path.clone()).collect())
}

/// Returns the definition of a kind; several are an error if one of them is a system.
fn one<'a>(
    kind: &str,
    catalog: &'a Catalog,
    project: &Project,
    layout: &Layout,
) -> Result<Option<&'a Definition>> {
    let inside = |d: &&Definition| !matches!(d, Definition::Outside(_));
    let all: Vec<&Definition> = catalog.definitions(kind).filter(inside).collect();
    let system = all.iter().any(|d| matches!(d, Definition::System(_)));
    if let ([first, second, ..], true) = (all.as_slice(), system) {
        let path = |definition: &Definition| match definition {
            Definition::System(path) | Definition::Component(path) | Definition::Outside(path) => {
                path.clone()
            }
        };
        return Err(Error::new(
            ErrorKind::Unsupported,
            Place::file(path(first)),
            Message::from(format!(
                "two files on the project's search path define kind {kind}: this one and "
            ))
            .then(path(second).as_path()),
            "Move the file that the design does not use out of the search path (the project's directory, ip/, the \
             SEARCH_PATH of the settings, the paths of .ipx files), or rename it.",
        ));
    }
    if let Some(Definition::System(file)) = all.first() {
        refuse_double(kind, file, catalog, project, layout)?;
    }
    Ok(all
        .first()
        .copied()
        .or_else(|| catalog.definitions(kind).next()))
}

/// Refuses a system with a second file at a place that a search path may reach, if that path cannot be read here.
fn refuse_double(
    kind: &str,
    file: &Path,
    catalog: &Catalog,
    project: &Project,
    layout: &Layout,
) -> Result<()> {
    let root = std::fs::canonicalize(&layout.root).unwrap_or_else(|_| layout.root.clone());
    let name = |path: &&PathBuf| {
        path.file_stem().is_some_and(|stem| *stem == *kind) && layout::has_extension(path, "qsys")
    };
    let others = project
        .tree
        .iter()
        .filter(name)
        .filter(|path| root.join(path) != file);
    for other in others {
        let directory = other.parent().unwrap_or(Path::new(""));
        if let Some(pattern) = catalog
            .outside
            .iter()
            .find(|pattern| search::may_reach(pattern, directory))
        {
            return Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(file),
                Message::from(format!("two files define kind {kind}, this one and "))
                    .then(layout.root.join(other).as_path())
                    .then(format!(
                        ", and the search path has {pattern}, which cannot be determined without Quartus and may lead \
                         to the other"
                    )),
                "Write that search path out, or remove the file that the design does not use from the BSP.",
            ));
        }
    }
    Ok(())
}

/// Returns a file of the BSP by the path that the BSP was given with.
fn as_given(layout: &Layout, file: &Path) -> PathBuf {
    let root = std::fs::canonicalize(&layout.root).unwrap_or_else(|_| layout.root.clone());
    match file.strip_prefix(&root) {
        Ok(inside) => layout.root.join(inside),
        Err(_) => file.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_bsp_platform::xml::Document;

    fn module(kind: &str, parameters: &[(&str, &str)]) -> Module {
        let p: String = parameters
            .iter()
            .map(|(n, v)| format!("<parameter name=\"{n}\" value=\"{v}\"/>"))
            .collect();
        let text = format!("<system><module kind=\"{kind}\" name=\"x\">{p}</module></system>");
        let d = Document::parse(Path::new("s.qsys"), text).unwrap();
        System::from_document(d).unwrap().modules.remove(0)
    }

    fn empty() -> Library {
        Library::default()
    }

    #[test]
    fn spans_of_known_kinds() {
        let bridge = module("altera_avalon_mm_bridge", &[("ADDRESS_WIDTH", "18")]);
        assert_eq!(empty().extent(&bridge, "s0").most, Some(0x4_0000));
        let words = module(
            "altera_avalon_mm_bridge",
            &[
                ("ADDRESS_WIDTH", "8"),
                ("ADDRESS_UNITS", "WORDS"),
                ("DATA_WIDTH", "64"),
            ],
        );
        assert_eq!(empty().extent(&words, "s0").most, Some(0x800));
        let hip = "altera_pcie_cv_hip_avmm";
        let pages = [
            ("TX_S_ADDR_WIDTH", "32"),
            ("CB_A2P_ADDR_MAP_NUM_ENTRIES", "256"),
            ("CB_A2P_ADDR_MAP_PASS_THRU_BITS", "12"),
        ];
        assert_eq!(
            empty().extent(&module(hip, &pages), "Txs").most,
            Some(1 << 20)
        );
        let wide = module(hip, &[("TX_S_ADDR_WIDTH", "64")]);
        assert_eq!(empty().extent(&wide, "Txs").most, Some(1 << 64));
        assert_eq!(empty().extent(&module("anything", &[]), "s").most, None);
    }
}
