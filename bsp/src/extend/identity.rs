//! What tells the extended board from the vendor's: PCI IDs, the version that software reads, the board's name.
//!
//! The vendor's driver and MMD library would take the extended board for theirs and drive a DMA that is gone. The
//! subsystem ID is the one that tells boards and platforms apart (s5_net porting guide 683645, 3.1.2), and the drivers
//! of these BSPs have it in their tables. Where a driver does not look at it, the MMD opens no board whose
//! `version_id` is not the one that it expects. The board's name, in `board_spec.xml`, in `board_env.xml` and of the directory, is the one that `aoc`
//! finds it by (Custom Platform Toolkit user guide 683398, 1.4.2.1 and 2.2.1), so both can be installed.

use std::path::{Path, PathBuf};

use crate::config::{Config, Identity};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::report::Change;
use crate::layout::Layout;
use crate::system::qsys::{Module, System};
use crate::system::site::Site;
use crate::system::xml::{Document, Edits, escape};

/// Kind of the component that software reads the version from.
const VERSION_KIND: &str = "version_id";
const VERSION: &str = "VERSION_ID";
/// What a board's version is, but for its last digit: the MMD libraries of these BSPs look for it (`ACL_VERSIONID` of
/// their `hw_pcie_constants.h`).
const BOARD_VERSION: u32 = 0xa0c7_c1e0;

/// Why identities change, for the report.
pub const WHY: &str =
    "the vendor's driver and MMD must not take the board for theirs: their DMA is not in it";

/// The hard IP's parameters that are set, with their values.
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

/// Sets the version that a board's instance reads; what is said of it. Platform Designer writes the number with a
/// sign.
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

/// The version that an instance reads, if it is the board's. The kernels' interface and their clock have such
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

/// Another system than that of the DMA, with its new text.
#[derive(Debug)]
pub struct Other {
    /// The file.
    pub path: PathBuf,
    /// New text.
    pub text: String,
}

/// The version in systems beside the DMA's.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if two of the changes are to the same bytes.
pub fn other_systems(
    site: &Site<'_>,
    config: &Config,
    changes: &mut Vec<Change>,
) -> Result<Vec<Other>> {
    let mut others = Vec::new();
    for system in site
        .library
        .systems()
        .filter(|s| s.kind != site.system.kind)
    {
        let mut edits = Edits::default();
        for module in &system.modules {
            if let Some(what) = set_version(system, module, &config.identity, &mut edits) {
                let file = system.document.path.clone();
                changes.push(Change {
                    file,
                    what,
                    why: WHY.into(),
                });
            }
        }
        if !edits.is_empty() {
            others.push(Other {
                path: system.document.path.clone(),
                text: edits.apply(&system.document.path, &system.document.source)?,
            });
        }
    }
    Ok(others)
}

/// What a person should know of the PCI IDs and the version.
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
                "the vendor's board has these PCI IDs already (subsystem {:04x}): its driver would take the extended \
                 board for its own",
                identity.subsystem_device
            ),
            "Set another identity.subsystem_device in the configuration.",
        ));
    }
    let id = |asked: Option<u16>, name: &str| {
        let has = || {
            site.hip
                .number(name)
                .map_or("not set".into(), |id| format!("{id:04x}"))
        };
        asked.map_or_else(has, |id| format!("{id:04x}"))
    };
    let mut all = site.library.systems().flat_map(|s| &s.modules);
    let versions = all.any(|module| version(module).is_some());
    let version = match versions {
        true => format!("its version_id reads {:#010x}", identity.version_id),
        false => "the design has no version_id with a board's version that could be changed".into(),
    };
    Ok(format!(
        "The board is a PCI function {}:{} with the subsystem {}:{:04x}, and {version}. A vendor's driver that goes by \
         vendor and device alone still binds to it: do not load both, or set identity.device in the configuration.",
        id(identity.vendor, "vendor_id_hwtcl"),
        id(identity.device, "device_id_hwtcl"),
        id(identity.subsystem_vendor, "subsystem_vendor_id_hwtcl"),
        identity.subsystem_device,
    ))
}

/// The board's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// In the vendor's `board_spec.xml`.
    pub old: String,
    /// The new one.
    pub new: String,
    /// The hardware directory of the output, relative to its root; empty if it is the same.
    pub hardware: PathBuf,
}

impl Name {
    /// The name of a BSP's board, and what it becomes.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`] if the board has no name.
    pub fn of(layout: &Layout, specification: &Document, config: &Config) -> Result<Self> {
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
        let mut hardware = layout.hardware.clone();
        if hardware.file_name().is_some() {
            hardware.set_file_name(&new);
        }
        Ok(Self {
            old: old.into(),
            new,
            hardware,
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
            why: "a board of its own for aoc, beside the vendor's".into(),
        })
    }

    /// The new text of a `board_env.xml`, which names the board that is compiled for by default, and itself.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if two of the changes are to the same bytes.
    pub fn in_environment(
        &self,
        environment: &Document,
        suffix: &str,
    ) -> Result<(String, Vec<Change>)> {
        let mut edits = Edits::default();
        let mut changes = Vec::new();
        let root = &environment.root;
        let platform = root
            .attribute_at("name")
            .map(|name| (name, format!("{}{suffix}", name.value)));
        let hardware = root
            .children("hardware")
            .find_map(|h| h.attribute_at("default"));
        let board = hardware.map(|default| (default, self.new.clone()));
        for (attribute, to) in platform.into_iter().chain(board) {
            if attribute.value != to {
                edits.replace(attribute.span.clone(), escape(&to));
                changes.push(Change {
                    file: environment.path.clone(),
                    what: format!("{} {} → {to}", attribute.name, attribute.value),
                    why: "a platform of its own for aoc, beside the vendor's".into(),
                });
            }
        }
        Ok((
            edits.apply(&environment.path, &environment.source)?,
            changes,
        ))
    }

    /// What a person should know of it.
    pub fn note(&self, layout: &Layout, out: &Path) -> Option<String> {
        if layout.hardware.as_os_str().is_empty() {
            let is = out.file_name().is_some_and(|name| *name == *self.new);
            return (!is).then(|| {
                format!(
                    "The board is called {}, and aoc wants its directory to be called so, too: put this directory \
                     into the platform's hardware/ under that name.",
                    self.new
                )
            });
        }
        Some(format!(
            "The board is called {}: `aoc --board {}`.",
            self.new, self.new
        ))
    }
}

/// The `board_env.xml` of a BSP's root, if there is one.
///
/// # Errors
/// [`ErrorKind::BadXml`], [`ErrorKind::Io`].
pub fn environment(layout: &Layout) -> Result<Option<Document>> {
    let path = layout.root.join("board_env.xml");
    if layout.hardware.as_os_str().is_empty() || !path.is_file() {
        return Ok(None);
    }
    let document = Document::read(&path)?;
    match document.root.name.as_str() {
        "board_env" => Ok(Some(document)),
        other => Err(Error::new(
            ErrorKind::BadXml,
            Place::file(&path),
            format!("the outermost element is <{other}>, not <board_env>"),
            "Take board_env.xml from the vendor's BSP package again.",
        )),
    }
}
