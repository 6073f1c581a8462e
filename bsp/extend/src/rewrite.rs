//! The new text of the system that holds the DMA block.

use std::collections::BTreeMap;
use std::path::Path;

use crate::hard_ip::{self, HardIp};
use crate::host_bus::{HostBus, NewBridge};
use crate::identity;
use crate::interconnect;
use crate::interrupts;
use crate::logic::{self, Ends};
use crate::old_master::OldMaster;
use crate::step::{Change, Step, Written};
use crate::stream::{self, Streaming};
use crate::writer::Writer;
use peerlane_bsp_design::host_bus::{BarMap, HostPath, bar_map};
use peerlane_bsp_design::interrupts::Table;
use peerlane_bsp_design::qsys::{End, System};
use peerlane_bsp_design::shell::{self, Ids, Line};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::config::{Config, Irq};
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::key::Key;
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::roles::NEW_DMA;
use peerlane_bsp_platform::xml::{Document, Edits};

/// The rewritten system, with the report's messages about it.
#[derive(Debug)]
pub struct Rewritten {
    /// The new text of the file.
    pub text: String,
    /// Other systems of the design that change.
    pub others: Vec<Written>,
    /// The changes, with reasons.
    pub changes: Vec<Change>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Requirements outside the system that the user has to meet.
    pub to_do: Vec<String>,
    /// The BAR before.
    pub bar_before: BarMap,
    /// The BAR after.
    pub bar_after: BarMap,
    /// The PCI IDs after.
    pub ids: Ids,
    /// Frequency of the hard IP's clock after, in hertz.
    pub clock: u64,
    /// The hard IP's interrupt input after. `None`: the block has a table of vectors.
    pub line: Option<Line>,
    /// Instance name of the block.
    pub instance: String,
    /// Paths of instances that are gone: removed bridges, and the parts of the old block.
    pub removed_instances: Vec<String>,
    /// Names of the removed bridges.
    pub removed_bridges: Vec<String>,
    /// New bridges.
    pub inserted: Vec<NewBridge>,
    /// Width of the hard IP's port in bits.
    pub port_bits: u32,
    /// Bytes of the BAR, log2, if the block decodes it.
    pub bar_log2: Option<u32>,
    /// The hard IP with an Avalon-ST interface, if that replaces the old one.
    pub hip: Option<HardIp>,
}

impl Rewritten {
    /// Replaces the system, whose file is given, and other changed systems.
    ///
    /// # Errors
    /// Those of [`Step::replace`].
    pub(crate) fn step(&self, layout: &Layout, file: &Path) -> Result<Step> {
        let mut step = Step {
            changes: self.changes.clone(),
            to_do: self.to_do.clone(),
            ..Step::default()
        };
        step.replace(layout, file, self.text.clone())?;
        for other in &self.others {
            step.replace(layout, &other.path, other.text.clone())?;
        }
        Ok(step)
    }
}

/// Interfaces of the old block that the new one has too: their connections stay.
const KEPT: [&str; 5] = ["clk", "reset", "csr", "s_nondma", "dma_irq"];

/// Returns the width of the hard IP's Avalon-MM port, checked against the configuration.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::Config`].
fn port_bits(site: &Site<'_>, config: &Config) -> Result<u32> {
    let width = site.hip.number("avmm_width_hwtcl");
    let Some(width) = width
        .and_then(|w| u32::try_from(w).ok())
        .filter(|w| [128, 256].contains(w))
    else {
        let link = ["gen123_lane_rate_mode_hwtcl", "lane_mask_hwtcl"];
        let link: Vec<_> = link
            .iter()
            .filter_map(|name| site.hip.parameter(name))
            .collect();
        let link = match link.as_slice() {
            [] => String::new(),
            words => format!(", the link is {}", words.join(" ")),
        };
        let has = width.map_or("no width".into(), |w| format!("a width of {w} bits"));
        return Err(site
            .unsupported(
                hard_ip::place_of(site.system, site.hip, "avmm_width_hwtcl"),
                format!(
                    "the Avalon-MM port of {} has {has} (avmm_width_hwtcl){link}",
                    site.hip.name
                ),
                hard_ip::to_128_bits(site.hip),
            )
            .of_a_value());
    };
    match config.port_bits {
        Some(asked) if asked != width => Err(Error::new(
            ErrorKind::Config,
            site.system.place(site.hip),
            format!(
                "port_bits = {asked}, but the Txs port of {} is {width} bits wide",
                site.hip.name
            ),
            format!("Set port_bits = {width} in the configuration, or leave the key out."),
        )
        .of_key(Key::PortBits)),
        _ => Ok(width),
    }
}

/// Rewrites the system.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::Config`], with the place.
pub fn rewrite(site: &Site<'_>, config: &Config, ends: &Ends) -> Result<Rewritten> {
    if config.has_tlp_port() {
        return rewrite_streaming(site, config, ends);
    }
    let port_bits = port_bits(site, config)?;
    check_connections(site)?;
    let old = OldMaster::follow(site)?;
    let kernel = interrupts::kernel(site, config)?;
    let bus = HostBus::plan(site, config)?;
    let path = &bus.path;
    let bar_before = bar_map(site, path.bar);
    if config.irq == Irq::Rxm {
        shell::registers(site, &bar_before)?;
    }

    let mut writer = Writer::new(site, &bus, &old);
    let mut notes = bus.notes.clone();
    notes.push(found_from(site, path));
    notes.push(identity::note(site, config)?);
    writer.replace_block();
    writer.clocks_and_resets(path)?;
    writer.memory(&old)?;
    writer.txs(&old);
    writer.old_master(&old);
    writer.host_bus(&bus)?;
    writer.hard_ip();
    writer.identity(&config.identity);
    writer.interconnect(config.interconnect_stages);
    let msix = bus.placed.iter().find(|slave| slave.slave == "msix");
    if let (Some(kernel), Some(slave)) = (kernel, msix) {
        let table = Table {
            bar: path.bar,
            offset: path.offset() + slave.base,
            vectors: config.vectors(),
        };
        writer.interrupts(table, kernel);
        notes.extend(table.notes(site, kernel));
    }
    writer.logic(&config.streams, ends);
    writer.bonus(&old, &bus);
    writer.leftovers(&old, &bus);
    notes.extend(assumption_notes(&bar_before));
    if old.to_pcie.is_empty() && old.legs.is_empty() {
        notes.push(format!(
            "{}.m had no path to {}.Txs; nothing had to be removed.",
            site.dma.name, site.hip.name
        ));
    }

    let outcome = Outcome {
        old: &old,
        bus: &bus,
        bar_before,
        notes,
        port_bits,
        to_do: Vec::new(),
        hip: None,
        inside: None,
    };
    outcome.finish(site, config, writer)
}

/// Rewrites the system for a TLP port.
fn rewrite_streaming(site: &Site<'_>, config: &Config, ends: &Ends) -> Result<Rewritten> {
    let streaming = stream::plan(site, config)?;
    let config = &streaming.hip.settle(config);
    let Streaming {
        hip,
        bus,
        places,
        kernel,
    } = &streaming;
    check_connections(site)?;
    let old = OldMaster::follow(site)?;
    let path = &bus.path;
    let bar_before = bar_map(site, path.bar);

    let mut writer = Writer::streaming(site, bus, &old);
    let mut notes = bus.notes.clone();
    notes.push(found_from(site, path));
    notes.push(identity::note(site, config)?);
    let table = places.get("msix").map(|at| Table {
        bar: path.bar,
        offset: *at,
        vectors: config.vectors(),
    });
    writer.replace_block();
    writer.clocks_and_resets(path)?;
    writer.memory(&old)?;
    writer.old_master(&old);
    writer.host_bus(bus)?;
    writer.streaming_hip(hip, &config.identity, table);
    writer.leftovers(&old, bus);
    writer.streaming_port(&streaming);
    writer.reconfiguration(hip);
    writer.identity(&config.identity);
    writer.interconnect(config.interconnect_stages);
    writer.logic(&config.streams, ends);
    writer.bonus(&old, bus);
    notes.extend(table.map(|table| table.note(site, *kernel)));
    notes.extend(hip.notes());
    notes.extend(streaming.clock(site));
    notes.extend(assumption_notes(&bar_before));

    let outcome = Outcome {
        old: &old,
        bus,
        bar_before,
        notes,
        port_bits: hip.port_bits,
        to_do: streaming.to_do(site),
        hip: Some(hip.clone()),
        inside: Some((hip.bar_log2, places)),
    };
    outcome.finish(site, config, writer)
}

/// The result of rewriting, except the edits.
struct Outcome<'a> {
    old: &'a OldMaster<'a>,
    bus: &'a HostBus<'a>,
    bar_before: BarMap,
    notes: Vec<String>,
    port_bits: u32,
    to_do: Vec<String>,
    hip: Option<HardIp>,
    /// For a block that decodes the BAR: its bytes, log2, and the places of the block's slaves.
    inside: Option<(u32, &'a BTreeMap<String, u64>)>,
}

impl Outcome<'_> {
    fn finish(self, site: &Site<'_>, config: &Config, writer: Writer<'_>) -> Result<Rewritten> {
        let bridges = self.old.bridges.iter().chain(&self.bus.bridges);
        let removed_bridges: Vec<String> = bridges.map(|b| b.name.clone()).collect();
        let inside = format!("{}|", site.dma.name);
        let removed_instances = removed_bridges.iter().cloned().chain([inside]).collect();
        let document = &site.system.document;
        let text = writer.edits.apply(&document.path, &document.source)?;
        let none = BTreeMap::new();
        let places = self.inside.map_or(&none, |(_, places)| places);
        let After {
            map: bar_after,
            ids,
            clock,
            line,
        } = After::read(
            site,
            config,
            &text,
            self.bus.path.bar,
            self.port_bits,
            places,
        )?;
        let mut changes = writer.changes;
        let others = other_systems(site, config, &mut changes)?;
        Ok(Rewritten {
            text,
            others,
            changes,
            notes: self.notes,
            to_do: (self.to_do.into_iter())
                .chain(interconnect::note(site, config))
                .collect(),
            hip: self.hip,
            bar_before: self.bar_before,
            bar_after,
            ids,
            clock,
            line,
            instance: site.dma.name.clone(),
            removed_instances,
            removed_bridges,
            inserted: self.bus.inserted(),
            port_bits: self.port_bits,
            bar_log2: self.inside.map(|(log2, _)| log2),
        })
    }
}

/// Facts about the board that the new text gives.
struct After {
    map: BarMap,
    ids: Ids,
    clock: u64,
    line: Option<Line>,
}

impl After {
    fn read(
        site: &Site<'_>,
        config: &Config,
        text: &str,
        bar: u32,
        port_bits: u32,
        inside: &BTreeMap<String, u64>,
    ) -> Result<Self> {
        let document = Document::parse(&site.system.document.path, text.into())?;
        let system = System::from_document(document)?;
        let mut system = system.generated(|_| false);
        system.kind.clone_from(&site.system.kind);
        let mut library = site.library.with(system.clone());
        library.set_block(config.clone());
        library.set_inside(inside);
        let (Some(dma), Some(hip)) = (system.module(&site.dma.name), system.module(&site.hip.name))
        else {
            unreachable!("the rewriting keeps both instances");
        };
        let after = Site {
            library: &library,
            system: &system,
            dma,
            hip,
        };
        let map = bar_map(&after, bar);
        Ok(Self {
            ids: shell::ids(&system, hip)?,
            clock: shell::clock(&system, hip, port_bits)?,
            line: match config.irq {
                Irq::Msix => None,
                Irq::Rxm => Some(shell::line(&after, &map)?),
            },
            map,
        })
    }
}

/// Changes the systems other than the DMA's: their version, and the exports of streams.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if two of the changes are to the same bytes.
fn other_systems(
    site: &Site<'_>,
    config: &Config,
    changes: &mut Vec<Change>,
) -> Result<Vec<Written>> {
    let mut others = Vec::new();
    for system in site
        .library
        .systems()
        .filter(|s| s.kind != site.system.kind)
    {
        let mut edits = Edits::default();
        for module in &system.modules {
            if let Some(what) = identity::set_version(system, module, &config.identity, &mut edits)
            {
                let file = system.document.path.clone();
                changes.push(Change {
                    file,
                    what,
                    why: identity::WHY.into(),
                });
            }
        }
        logic::export_up(site, system, &config.streams, &mut edits, changes);
        if !edits.is_empty() {
            others.push(Written {
                path: system.document.path.clone(),
                text: edits.apply(&system.document.path, &system.document.source)?,
            });
        }
    }
    Ok(others)
}

/// Refuses connections that the new block cannot take over.
fn check_connections(site: &Site<'_>) -> Result<()> {
    let dma = &site.dma.name;
    for need in ["clk", "csr"] {
        let kind = if need == "clk" { "clock" } else { "avalon" };
        if site.of_dma(kind, need).is_none() {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!("{dma}.{need} is not connected"),
                "Connect it in Platform Designer as in the vendor's BSP.",
            ));
        }
    }
    let strange = |end: &End| {
        end.instance == *dma && end.interface != "m" && !KEPT.contains(&end.interface.as_str())
    };
    for connection in &site.system.connections {
        for end in [&connection.start, &connection.end] {
            if strange(end) {
                return Err(site.unsupported(
                    site.place(connection),
                    format!("{end} is an interface that {NEW_DMA} does not have"),
                    "This acl_dma differs from that of the public BSPs. Remove the connection, or report the BSP, so \
                     that the block can support it.",
                ));
            }
        }
    }
    if let Some(export) = site
        .system
        .exports
        .iter()
        .find(|e| e.internal.as_ref().is_some_and(strange))
    {
        return Err(site.unsupported(
            site.system.place(site.dma),
            format!(
                "{NEW_DMA} does not have the interface exported as {}",
                export.name
            ),
            "Remove the export in Platform Designer.",
        ));
    }
    Ok(())
}

/// Describes the way on which the registers were found.
fn found_from(site: &Site<'_>, path: &HostPath<'_>) -> String {
    let bridges = path.bridges(site);
    let names: Vec<_> = bridges.iter().map(|m| m.name.as_str()).collect();
    let names = match names.as_slice() {
        [] => "no bridge".to_string(),
        names => names.join(", "),
    };
    format!(
        "The registers were found from BAR {} through {names}.",
        path.bar
    )
}

fn assumption_notes(map: &BarMap) -> Option<String> {
    let assumed: Vec<_> = map
        .entries
        .iter()
        .filter(|e| e.assumed)
        .map(|e| format!("{} ({})", e.slave, e.kind))
        .collect();
    (!assumed.is_empty()).then(|| {
        format!(
            "The span of {} is not known here. Each is assumed to end at the next slave or the end of its bridge, and \
             the new slaves are above that.",
            assumed.join(", ")
        )
    })
}
