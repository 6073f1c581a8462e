//! The site of the DMA block: its system, the PCIe hard IP in it, and the ways between them.

use crate::library::{Library, is_pcie_hip, is_streaming_hip};
use crate::qsys::{Connection, Module, System};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::message::Message;
use peerlane_bsp_platform::roles::{NEW_DMA, OLD_DMA};

/// The instances that the extension changes. All are in one system.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// All systems of the BSP.
    pub library: &'a Library,
    /// The system with the DMA block.
    pub system: &'a System,
    /// The `acl_dma` instance.
    pub dma: &'a Module,
    /// The PCIe hard IP.
    pub hip: &'a Module,
}

/// Kind of an instance that an .ip file describes (Quartus Prime Pro).
const GENERIC: &str = "altera_generic_component";

/// Returns the kind of an instance; for one that an .ip file describes, the kind that its definition names.
fn real_kind(module: &Module) -> &str {
    let definition = (module.kind == GENERIC)
        .then(|| module.parameter("componentDefinition"))
        .flatten();
    let class = definition.and_then(|text| {
        let (_, rest) = text.split_once("<className>")?;
        Some(rest.split_once("</className>")?.0.trim())
    });
    class.unwrap_or(&module.kind)
}

/// Reports whether a PCIe hard IP has its own DMA ("Avalon-MM with DMA"): slaves for tables of descriptors.
fn has_dma_inside(module: &Module) -> bool {
    let tells = |name: &str, text: &str| {
        let said = module.parameter(name);
        said.is_some_and(|said| said.contains(text))
    };
    real_kind(module).starts_with("altera_pcie_")
        && (tells("componentDefinition", "rd_dts_slave")
            || tells("interface_type_hwtcl", "with DMA")
            || tells("interface_type_integer_hwtcl", "Avalon-MM with DMA"))
}

/// Describes the host side of a design without Altera's `acl_dma`, with the instance that has it.
fn other_host(library: &Library) -> Option<(&System, &Module, String)> {
    let all: Vec<_> = library
        .systems()
        .flat_map(|s| s.modules.iter().map(move |m| (s, m)))
        .collect();
    let find = |is_it: &dyn Fn(&Module) -> bool| all.iter().find(|(_, m)| is_it(m)).copied();
    let of_kind = |m: &Module| format!("{} of kind {}", m.name, real_kind(m));
    let dma = |text: &str| text.to_lowercase().contains("dma");
    let pcie = find(&|m| real_kind(m).contains("pcie"));
    if let (None, Some((system, hps))) = (pcie, find(&|m| real_kind(m).contains("_hps"))) {
        let what = format!(
            "its host is the HPS, {}, not a computer on PCIe",
            of_kind(hps)
        );
        return Some((system, hps, what));
    }
    if let Some((system, found)) = find(&|m| dma(real_kind(m))) {
        return Some((system, found, format!("its DMA is {}", of_kind(found))));
    }
    if let Some((system, hip)) = find(&has_dma_inside) {
        let what = format!("its DMA is inside the PCIe hard IP, {}", of_kind(hip));
        return Some((system, hip, what));
    }
    // Intel's acceleration cards: PCIe is in a shell, which systems reach by CCI-P or by a platform interface.
    let shell = |m: &Module| {
        ["cci", "afu", "ofs"]
            .iter()
            .any(|word| real_kind(m).contains(word))
    };
    if let (None, Some((system, door))) = (pcie, find(&shell)) {
        let what = format!(
            "PCIe and its DMA are in a shell outside the BSP, connected by {}",
            of_kind(door)
        );
        return Some((system, door, what));
    }
    // An instance of an .ip file without its definition: only its name is known.
    let (system, found) = find(&|m| real_kind(m) == GENERIC && dma(&m.name))?;
    Some((system, found, format!("its DMA is {}", of_kind(found))))
}

/// Refuses a design in which a system occurs more than once, for any reason.
fn once(library: &Library, system: &System) -> Result<()> {
    let mut open = vec![system];
    let mut seen: Vec<&str> = Vec::new();
    while let Some(inner) = open.pop() {
        let mut above: Vec<(&System, Vec<&Module>)> = Vec::new();
        for outer in library.systems() {
            let all = outer.modules.iter().filter(|m| m.kind == inner.kind);
            above.push((outer, all.collect()));
        }
        if let Some((outer, many)) = above.iter().find(|(_, all)| all.len() > 1) {
            let names: Vec<&str> = many.iter().map(|m| m.name.as_str()).collect();
            return Err(Error::new(
                ErrorKind::SeveralDmas,
                outer.place(many[1]),
                format!(
                    "{}.qsys, with the {OLD_DMA} in it, exists more than once: {}",
                    inner.kind,
                    names.join(" and ")
                ),
                "Remove all but one in Platform Designer: the block can replace only one DMA, and the board has one \
                 endpoint.",
            ));
        }
        for (outer, _) in above.iter().filter(|(_, all)| !all.is_empty()) {
            // Systems do not contain themselves, but may be reached in two ways.
            if !seen.contains(&outer.kind.as_str()) {
                seen.push(&outer.kind);
                open.push(outer);
            }
        }
    }
    Ok(())
}

impl<'a> Site<'a> {
    /// Finds the block and the hard IP by their kinds.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExtended`], [`ErrorKind::NoDma`], [`ErrorKind::SeveralDmas`],
    /// [`ErrorKind::NoPcie`], [`ErrorKind::Unsupported`] for more than one hard IP.
    pub fn find(library: &'a Library, bsp: &std::path::Path) -> Result<Self> {
        let instances = |kind: &'static str| {
            library.systems().flat_map(move |s| {
                s.modules
                    .iter()
                    .filter(move |m| m.kind == kind)
                    .map(move |m| (s, m))
            })
        };
        if let Some((system, module)) = instances(NEW_DMA).next() {
            return Err(Error::new(
                ErrorKind::AlreadyExtended,
                system.place(module),
                format!(
                    "the BSP is already extended: instance {} is a {NEW_DMA}",
                    module.name
                ),
                "Name the vendor's BSP with --bsp, not a BSP that this command wrote. `peerlane check` checks an \
                 extended BSP.",
            ));
        }
        let dmas: Vec<_> = instances(OLD_DMA).collect();
        let (system, dma) = match dmas.as_slice() {
            [] => {
                if let Some(place) = library.disabled.first() {
                    return Err(Error::new(
                        ErrorKind::NoDma,
                        place.clone(),
                        format!(
                            "the only instance of kind {OLD_DMA} is not enabled (enabled=\"0\")"
                        ),
                        "Enable it in Platform Designer: Peerlane replaces that instance.",
                    ));
                }
                if let Some((system, other, what)) = other_host(library) {
                    return Err(Error::new(
                        ErrorKind::NoDma,
                        system.place(other),
                        format!("no instance of kind {OLD_DMA} in the design: {what}"),
                        "Name the hardware directory of a BSP with Altera's acl_dma, which Peerlane replaces. BSPs for \
                         Arria 10, for Cyclone V SoC and newer ones do not have it.",
                    ));
                }
                let systems: Vec<_> = library
                    .systems()
                    .map(|s| format!("{}.qsys", s.kind))
                    .collect();
                return Err(Error::new(
                    ErrorKind::NoDma,
                    Place::file(bsp),
                    format!(
                        "no instance of kind {OLD_DMA} in the design, which is {}",
                        systems.join(", ")
                    ),
                    "Name the hardware directory of a BSP whose host interface has Altera's acl_dma component, which \
                     Peerlane replaces.",
                ));
            }
            [one] => {
                once(library, one.0)?;
                *one
            }
            [_, (system, second), ..] => {
                let names: Vec<_> = dmas
                    .iter()
                    .map(|(s, m)| format!("{} in {}.qsys", m.name, s.kind))
                    .collect();
                return Err(Error::new(
                    ErrorKind::SeveralDmas,
                    system.place(second),
                    format!(
                        "{} instances of kind {OLD_DMA} ({})",
                        dmas.len(),
                        names.join(", ")
                    ),
                    "Remove all but one in Platform Designer: the block can replace only one.",
                ));
            }
        };
        let hips: Vec<_> = system
            .modules
            .iter()
            .filter(|m| is_pcie_hip(&m.kind))
            .collect();
        let hip = match hips.as_slice() {
            [one] => *one,
            [] => {
                return Err(Error::new(
                    ErrorKind::NoPcie,
                    Place::file(&system.document.path),
                    format!(
                        "no PCIe hard IP with an Avalon-MM interface (kind altera_pcie_*_hip_avmm) next to {}",
                        dma.name
                    ),
                    "Use another BSP: Peerlane needs this IP, and this version cannot extend a BSP with an Avalon-ST \
                     or a soft PCIe core.",
                ));
            }
            [_, second, ..] => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    system.place(second),
                    "two PCIe hard IPs in one system",
                    "Use a BSP with one PCIe endpoint.",
                ));
            }
        };
        Ok(Self {
            library,
            system,
            dma,
            hip,
        })
    }

    /// Reports whether the block has a TLP port, and replaces the hard IP's bridge.
    pub fn has_tlp_port(&self) -> bool {
        is_streaming_hip(&self.hip.kind)
    }

    /// Returns the instance with the masters of the BARs: the hard IP, or the block that replaces its bridge.
    pub fn host(&self) -> &'a Module {
        match self.has_tlp_port() {
            true => self.dma,
            false => self.hip,
        }
    }

    /// Returns the bytes of a BAR as set in the hard IP, log2, if given.
    pub fn bar_bits(&self, bar: u32) -> Option<u64> {
        let name = match self.has_tlp_port() {
            true => format!("bar{bar}_size_mask_hwtcl"),
            false => format!("SLAVE_ADDRESS_MAP_{bar}"),
        };
        self.hip.number(&name)
    }

    /// Makes an error about a connection or instance of this system.
    pub fn unsupported(
        &self,
        place: Place,
        what: impl Into<Message>,
        hint: impl Into<Hint>,
    ) -> Error {
        Error::new(ErrorKind::Unsupported, place, what, hint)
    }

    /// Returns the place of a connection.
    pub fn place(&self, connection: &Connection) -> Place {
        self.system.document.place(&connection.element)
    }

    /// Iterates over Avalon connections that start at an instance, at one interface or at any.
    pub fn from(
        &self,
        instance: &'a str,
        interface: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Connection> + use<'a> {
        self.system.of_kind("avalon").filter(move |c| {
            c.start.instance == instance && interface.is_none_or(|i| c.start.interface == i)
        })
    }

    /// Iterates over Avalon connections that end at an instance.
    pub fn into(&self, instance: &'a str) -> impl Iterator<Item = &'a Connection> + use<'a> {
        self.system
            .of_kind("avalon")
            .filter(move |c| c.end.instance == instance)
    }

    /// Returns the only connection of a kind that ends at an interface of the DMA block.
    pub fn of_dma(&self, kind: &'a str, interface: &str) -> Option<&'a Connection> {
        self.system
            .of_kind(kind)
            .find(|c| c.end.instance == self.dma.name && c.end.interface == interface)
    }
}
