//! The identity that distinguishes the extended board from the vendor's: PCI IDs, the version that software reads, the
//! board's name.
//!
//! Otherwise the vendor's driver and MMD library would accept the extended board and drive a DMA that is gone. The
//! subsystem ID distinguishes boards and platforms (s5_net porting guide 683645, 3.1.2), and the drivers of these BSPs
//! have it in their tables. If a driver does not check it, the MMD still opens no board whose `version_id` is not the
//! expected one. `aoc` finds a board by its name in `board_spec.xml`, in `board_env.xml` and of the directory (Custom
//! Platform Toolkit user guide 683398, 1.4.2.1 and 2.2.1), so both boards can be installed.

use std::path::{Path, PathBuf};

use crate::hard_ip;
use crate::step::Change;
use peerlane_bsp_design::qsys::{Module, System};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::config::{Config, Identity};
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::key::Key;
use peerlane_bsp_platform::xml::{Document, Edits, escape};

/// Kind of the component from which software reads the version.
const VERSION_KIND: &str = "version_id";
const VERSION: &str = "VERSION_ID";
/// A board's version, but for its last digit: the MMD libraries of these BSPs expect it (`ACL_VERSIONID` of their
/// `hw_pcie_constants.h`).
const BOARD_VERSION: u32 = 0xa0c7_c1e0;

/// Reason for the change of identities, for the report.
pub const WHY: &str =
    "the vendor's driver and MMD must not bind to this board, which does not have their DMA";

/// Returns the hard IP's parameters to set, with their values.
pub fn settings(identity: &Identity) -> Vec<(&'static str, String)> {
    let ids = [
        ("vendor_id_hwtcl", identity.vendor),
        ("device_id_hwtcl", identity.device),
        ("subsystem_vendor_id_hwtcl", identity.subsystem_vendor),
        ("subsystem_device_id_hwtcl", Some(identity.subsystem_device)),
    ];
    let set = ids
        .into_iter()
        .filter_map(|(name, id)| Some((name, id?.to_string())));
    set.collect()
}

/// Sets the version that a board's instance reads; returns the description of the change. Platform Designer writes the
/// number with a sign.
pub fn set_version(
    system: &System,
    module: &Module,
    identity: &Identity,
    edits: &mut Edits,
) -> Option<String> {
    let before = version(module)?;
    let to = identity.version_id;
    if before == to {
        return None;
    }
    system.set_parameter(edits, module, VERSION, &to.cast_signed().to_string());
    Some(format!(
        "{}: {VERSION} {before:#010x} → {to:#010x}",
        module.name
    ))
}

/// Returns the version that an instance reads, if it is the board's. The kernels' interface and their clock have such
/// instances, too, with versions that the runtime expects.
fn version(module: &Module) -> Option<u32> {
    let text = module
        .parameter(VERSION)
        .filter(|_| module.kind == VERSION_KIND)?;
    let number = text.trim().parse::<i64>().ok()?;
    let version = match i32::try_from(number) {
        Ok(signed) => signed.cast_unsigned(),
        Err(_) => u32::try_from(number).ok()?,
    };
    (version & !0xf == BOARD_VERSION).then_some(version)
}

/// The board's PCI IDs, in four digits each, or "not set" if the hard IP has none.
#[derive(Debug, Clone)]
pub struct PciIds {
    /// Vendor.
    pub vendor: String,
    /// Device.
    pub device: String,
    /// Vendor of the subsystem.
    pub subsystem_vendor: String,
    /// Subsystem.
    pub subsystem: String,
}

impl PciIds {
    /// Returns the IDs that the board of a site gets. With a TLP port all are written.
    pub fn of(site: &Site<'_>, config: &Config) -> Self {
        let identity = &config.identity;
        let id = |asked: Option<u16>, name: &str| {
            let has = || site.hip.number(name);
            let written = || match config.has_tlp_port() {
                true => hard_ip::default(name)?.parse().ok(),
                false => None,
            };
            let id = asked.map(u64::from).or_else(has).or_else(written);
            id.map_or("not set".into(), |id| format!("{id:04x}"))
        };
        Self {
            vendor: id(identity.vendor, "vendor_id_hwtcl"),
            device: id(identity.device, "device_id_hwtcl"),
            subsystem_vendor: id(identity.subsystem_vendor, "subsystem_vendor_id_hwtcl"),
            subsystem: id(Some(identity.subsystem_device), "subsystem_device_id_hwtcl"),
        }
    }
}

/// Returns the note on the PCI IDs and the version.
///
/// # Errors
/// [`ErrorKind::Config`] if they would be those of the vendor's board.
pub fn note(site: &Site<'_>, config: &Config) -> Result<String> {
    let identity = &config.identity;
    let same = |(name, id): (&str, String)| site.hip.number(name) == id.parse().ok();
    if settings(identity).into_iter().all(same) {
        return Err(Error::new(
            ErrorKind::Config,
            site.system.place(site.hip),
            format!(
                "the vendor's board has the same PCI IDs (subsystem {:04x}): its driver would bind to the extended \
                 board",
                identity.subsystem_device
            ),
            "Set another identity.subsystem_device in the configuration.",
        )
        .of_key(Key::SubsystemDevice));
    }
    let ids = PciIds::of(site, config);
    let mut all = site.library.systems().flat_map(|s| &s.modules);
    let versions = all.any(|module| version(module).is_some());
    let version = match versions {
        true => format!("its version_id reads {:#010x}", identity.version_id),
        false => "the design has no version_id with a board's version that could be changed".into(),
    };
    Ok(format!(
        "The board is a PCI function {}:{} with the subsystem {}:{}, and {version}. A vendor's driver that compares \
         only vendor and device still binds to it: do not load both drivers, or set identity.device in the \
         configuration.",
        ids.vendor, ids.device, ids.subsystem_vendor, ids.subsystem,
    ))
}

/// The board's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// In the vendor's `board_spec.xml`.
    pub old: String,
    /// The new one.
    pub new: String,
    /// The hardware directory of the output, relative to its root.
    pub hardware: PathBuf,
}

impl Name {
    /// Reads the name of a BSP's board, and makes the new one in the directory of the boards.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`] if the board has no name, [`ErrorKind::Unsupported`] if no directory can have it.
    pub fn of(boards: &Path, specification: &Document, config: &Config) -> Result<Self> {
        let old = specification
            .root
            .attribute("name")
            .filter(|name| !name.is_empty());
        let old = old.ok_or_else(|| {
            Error::new(
                ErrorKind::BadXml,
                specification.place(&specification.root),
                "<board> has no attribute \"name\"",
                "Take board_spec.xml from the vendor's BSP package again.",
            )
        })?;
        let new = format!("{old}{}", config.identity.board_suffix);
        if Path::new(&new).file_name() != Some(new.as_ref()) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                specification.place(&specification.root),
                format!(
                    "the board's name \"{old}\" is not a directory's name, but aoc needs both equal"
                ),
                "Give the board the name of its directory.",
            ));
        }
        Ok(Self {
            old: old.into(),
            hardware: boards.join(&new),
            new,
        })
    }

    /// Puts the new name into `board_spec.xml`.
    pub fn in_specification(&self, specification: &Document, edits: &mut Edits) -> Option<Change> {
        let attribute = specification.root.attribute_at("name")?;
        if self.old == self.new {
            return None;
        }
        edits.replace(attribute.span.clone(), escape(&self.new));
        Some(Change {
            file: specification.path.clone(),
            what: format!("board {} → {}", self.old, self.new),
            why: "a separate board for aoc, in addition to the vendor's".into(),
        })
    }
}
