//! The edits of the system: additions, replacements and removals.

use std::collections::BTreeSet;

use crate::bonus::{self, Base};
use crate::hard_ip;
use crate::host_bus::{HostBus, Placed};
use crate::identity;
use crate::logic::{self, Ends};
use crate::old_master::OldMaster;
use crate::step::Change;
use peerlane_bsp_design::host_bus::{HostPath, bar_number};
use peerlane_bsp_design::interrupts::{CONDUITS, Table};
use peerlane_bsp_design::qsys::{Connection, End, Module, NewConnection};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block::{self, stream::CLOCK};
use peerlane_bsp_generate::config::Identity;
use peerlane_bsp_generate::logic::Stream;
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::roles::NEW_DMA;
use peerlane_bsp_platform::xml::{Edits, Element};

const MASTER_GONE: &str = "the old master does not exist any more";

/// Edits of one system, each with its reason.
#[derive(Debug)]
pub struct Writer<'a> {
    site: &'a Site<'a>,
    /// The edits so far.
    pub edits: Edits,
    /// The descriptions and reasons of the edits.
    pub changes: Vec<Change>,
    /// Connections and requirements that are already removed, by the starts of their elements.
    gone: BTreeSet<usize>,
    /// Connections that will be removed, by the starts of their elements.
    doomed: BTreeSet<usize>,
    /// Whether the hard IP becomes the variant with an Avalon-ST interface.
    streams: bool,
}

impl<'a> Writer<'a> {
    /// Makes a writer without edits. `bus` and `old` have the connections that will be removed.
    pub fn new(site: &'a Site<'a>, bus: &HostBus<'_>, old: &OldMaster<'_>) -> Self {
        let bridges = bus.bridges.iter().chain(&old.bridges);
        let bridges: BTreeSet<&str> = bridges.map(|b| b.name.as_str()).collect();
        let all = site.system.connections.iter();
        let touching = all.filter(|c| {
            bridges.contains(c.start.instance.as_str()) || bridges.contains(c.end.instance.as_str())
        });
        let listed = bus
            .gone
            .iter()
            .chain(&old.to_pcie)
            .chain(&old.to_memory)
            .chain(&old.legs);
        let doomed = listed.copied().chain(touching);
        Self {
            site,
            edits: Edits::default(),
            changes: Vec::new(),
            gone: BTreeSet::new(),
            doomed: doomed.map(|c| c.element.span.start).collect(),
            streams: false,
        }
    }

    /// Makes a writer without edits for a system that gets a TLP port.
    pub fn streaming(site: &'a Site<'a>, bus: &HostBus<'_>, old: &OldMaster<'_>) -> Self {
        Self {
            streams: true,
            ..Self::new(site, bus, old)
        }
    }

    pub(super) fn site(&self) -> &'a Site<'a> {
        self.site
    }

    pub(super) fn note(&mut self, what: String, why: &str) {
        let file = self.site.system.document.path.clone();
        self.changes.push(Change {
            file,
            what,
            why: why.into(),
        });
    }

    /// Changes the instance to the new kind.
    pub fn replace_block(&mut self) {
        let dma = self.site.dma;
        let text = self.site.system.module_text(
            &dma.element,
            NEW_DMA,
            block::COMPONENT_VERSION,
            &dma.name,
        );
        self.edits.replace(dma.element.span.clone(), text);
        let why = match self.streams {
            false => {
                "the block replaces the old DMA under its name; clock, reset, csr, s_nondma and the interrupt keep \
                 their connections and addresses"
            }
            true => {
                "the block replaces the old DMA under its name, and the hard IP's bridge; clock and reset keep their \
                 connections, and all slaves keep their addresses"
            }
        };
        self.note(
            format!(
                "instance {}: kind {} becomes {NEW_DMA}, its parameters are removed",
                dma.name, dma.kind
            ),
            why,
        );
    }

    /// Reports whether a connection stays.
    pub(super) fn stays(&self, connection: &Connection) -> bool {
        let at = connection.element.span.start;
        !self.doomed.contains(&at) && !self.gone.contains(&at)
    }

    /// Reports whether a requirement on the interconnect is removed.
    pub(super) fn is_gone(&self, requirement: &Element) -> bool {
        self.gone.contains(&requirement.span.start)
    }

    /// Adds connections after an existing one; after another, if that one is removed.
    pub(super) fn add_after(&mut self, at: &Connection, new: &[NewConnection<'_>], why: &str) {
        let system = self.site.system;
        let stays = |c: &&Connection| !self.doomed.contains(&c.element.span.start);
        let like_it = |c: &&Connection| c.kind == at.kind;
        let mut others = system.connections.iter().filter(stays);
        let at = match stays(&at) {
            true => &at.element,
            // The block's clock stays, so there is another connection.
            false => match others.clone().find(like_it).or_else(|| others.next()) {
                Some(other) => &other.element,
                None => &self.site.hip.element,
            },
        };
        for connection in new {
            let text = system.connection_text(at, connection);
            self.edits.insert(at.span.end, text);
            self.added(connection, why);
        }
    }

    fn added(&mut self, new: &NewConnection<'_>, why: &str) {
        let base = new.base.map(|b| format!(" at {b:#x}")).unwrap_or_default();
        self.note(
            format!(
                "{} connection added: {} → {}{base}",
                new.kind, new.start, new.end
            ),
            why,
        );
    }

    /// Replaces a connection, which is removed because of `gone`.
    fn swap(&mut self, old: &Connection, new: &[NewConnection<'_>], why: &str, gone: &str) {
        let mut text = String::new();
        for connection in new {
            text += &self.site.system.connection_text(&old.element, connection);
            self.added(connection, why);
        }
        self.edits
            .replace(old.element.span.clone(), text.trim_start());
        self.removed(old, gone);
    }

    /// Leads the block's streams out of the system, and those that are channels to the kernels' clock and reset.
    pub(super) fn logic(&mut self, streams: &[Stream], ends: &Ends) {
        let site = self.site;
        let dma = &site.dma.name;
        for (names, stream) in logic::at_the_block(streams) {
            let inside = [&names.words, &names.clock, &names.reset];
            for ((name, kind, dir), inside) in logic::kinds(stream).into_iter().zip(inside) {
                let internal = End::new(dma, inside);
                site.system
                    .export(&mut self.edits, &name, &internal, kind, dir);
                self.note(
                    format!("export added: {name} is {internal}"),
                    logic::EXPORTED,
                );
            }
            let (Some(kernels), Some(at)) = (&ends.kernels, site.of_dma("clock", "clk")) else {
                continue;
            };
            if !stream.is_channel() {
                continue;
            }
            let new = |kind, start: &End, end: &str| NewConnection {
                kind,
                version: &at.version,
                start: start.clone(),
                end: End::new(dma, end),
                base: None,
            };
            let mut all = vec![new("clock", &kernels.clock, &names.clock)];
            all.extend((kernels.resets.iter()).map(|reset| new("reset", reset, &names.reset)));
            self.add_after(at, &all, logic::CHANNEL);
        }
    }

    fn removed(&mut self, old: &Connection, why: &str) {
        self.note(
            format!(
                "{} connection removed: {} → {}",
                old.kind, old.start, old.end
            ),
            why,
        );
    }

    /// Returns the source of the hard IP's clock.
    pub(super) fn hip_clock(&self) -> Option<End> {
        let hip = &self.site.hip.name;
        let mut clocks = self.site.system.of_kind("clock");
        let clock =
            clocks.find(|c| c.start.instance == *hip && c.start.interface.starts_with(CLOCK));
        let clock = clock.map(|c| c.start.clone());
        match self.streams {
            true => clock.map(|_| End::new(&self.site.dma.name, CLOCK)),
            false => clock,
        }
    }

    /// Returns a master of the host's bus: a BAR's master of the hard IP may have moved to the block.
    pub(super) fn of_host(&self, master: End) -> End {
        match self.streams && bar_number(&master).is_some() {
            true => End::new(&self.site.dma.name, &master.interface),
            false => master,
        }
    }

    /// Returns the resets of the first instance after the hard IP, which serve its clock domain.
    pub(super) fn host_resets(&self, path: &HostPath<'_>) -> Vec<&'a Connection> {
        let site = self.site;
        let first = &path.hops[0].end.instance;
        let all = site
            .system
            .of_kind("reset")
            .filter(|c| c.end.instance == *first && *first != site.dma.name);
        all.filter(|c| matches!(c.end.interface.as_str(), "reset" | "s0_reset"))
            .collect()
    }

    /// Connects the block's clock and reset of the PCIe side.
    ///
    /// # Errors
    /// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if there is nothing to connect them to.
    pub fn clocks_and_resets(&mut self, path: &HostPath<'_>) -> Result<()> {
        let site = self.site;
        let (dma, hip) = (&site.dma.name, &site.hip.name);
        let clock = self.hip_clock().ok_or_else(|| {
            site.unsupported(
                site.system.place(site.hip),
                format!("the clock (coreclkout) of {hip} is not connected"),
                "Connect the hard IP's coreclkout to the host-control bridge, as in the vendor's BSP.",
            )
        })?;
        if let Some(at) = site.of_dma("clock", "clk") {
            if !self.stays(at) {
                return Err(site.unsupported(
                    site.place(at),
                    format!(
                        "{dma}.clk is not connected without {}, which the block does not need",
                        at.start.instance
                    ),
                    "Connect the DMA's clock to the source of the clock in Platform Designer.",
                ));
            }
            let new = NewConnection {
                kind: "clock",
                version: &at.version,
                start: clock,
                end: End::new(dma, "pcie_clk"),
                base: None,
            };
            self.add_after(
                at,
                &[new],
                "csr, the channels, the table and the port to PCIe run in the hard IP's clock domain",
            );
        }
        let sources = self.host_resets(path);
        let Some(last) = sources.last() else {
            return Err(site.unsupported(
                site.place(path.hops[0]),
                format!(
                    "no reset connection to {}, whose reset the block would share",
                    path.hops[0].end.instance
                ),
                "Put an altera_avalon_mm_bridge with clock and reset between the BAR and the DMA, \
                 as in the vendor's BSPs.",
            ));
        };
        let new: Vec<_> = sources
            .iter()
            .map(|c| NewConnection {
                kind: "reset",
                version: &c.version,
                start: c.start.clone(),
                end: End::new(dma, "pcie_reset"),
                base: None,
            })
            .collect();
        self.add_after(
            last,
            &new,
            "the reset of the first block after the hard IP, which is in the same clock domain",
        );
        Ok(())
    }

    /// Connects the block's masters to memory.
    ///
    /// # Errors
    /// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if the memory lies out of reach.
    pub fn memory(&mut self, old: &OldMaster<'_>) -> Result<()> {
        let site = self.site;
        let dma = &site.dma.name;
        for connection in &old.to_memory {
            let base = connection.base.unwrap_or(0);
            let extent = site
                .system
                .module(&connection.end.instance)
                .and_then(|m| site.library.extent(m, &connection.end.interface).most)
                .unwrap_or(0);
            if u128::from(base) + extent > 1 << block::MEM_ADDR_BITS {
                return Err(site.unsupported(
                    site.place(connection),
                    format!(
                        "{} ends above 2^{} bytes",
                        connection.end,
                        block::MEM_ADDR_BITS
                    ),
                    "Connect it at a lower address: the block reaches only that much FPGA memory.",
                ));
            }
            let new: Vec<_> = ["mem_rd", "mem_wr", "mem_win"]
                .iter()
                .map(|name| NewConnection {
                    kind: "avalon",
                    version: &connection.version,
                    start: End::new(dma, name),
                    end: connection.end.clone(),
                    base: Some(base),
                })
                .collect();
            self.swap(
                connection,
                &new,
                "the block's masters to memory, where the old master was",
                MASTER_GONE,
            );
        }
        Ok(())
    }

    /// Connects the block's master to PCIe.
    pub fn txs(&mut self, old: &OldMaster<'_>) {
        let (dma, hip) = (&self.site.dma.name, &self.site.hip.name);
        let why =
            "the block's own master to PCIe, at the hard IP's width and clock, without a bridge";
        let end = End::new(hip, "Txs");
        let start = End::new(dma, "txs");
        let version = old.to_memory[0].version.as_str();
        let txs = NewConnection {
            kind: "avalon",
            version,
            start,
            end,
            base: Some(0),
        };
        match old.to_pcie.split_first() {
            Some((first, more)) => {
                self.swap(first, &[txs], why, MASTER_GONE);
                for connection in more {
                    self.remove(connection, MASTER_GONE);
                }
            }
            None => self.add_after(old.to_memory[0], &[txs], why),
        }
    }

    /// Removes the parts that only the old master used.
    pub fn old_master(&mut self, old: &OldMaster<'_>) {
        if self.streams {
            for connection in &old.to_pcie {
                self.remove(connection, MASTER_GONE);
            }
        }
        let bridge_gone = "nothing but the old master used the bridge";
        for leg in &old.legs {
            self.remove(leg, bridge_gone);
        }
        for bridge in &old.bridges {
            self.remove_bridge(bridge, bridge_gone);
        }
    }

    /// Removes a bridge, with the connections of its clocks and resets.
    pub(super) fn remove_bridge(&mut self, bridge: &Module, why: &str) {
        let system = self.site.system;
        system.remove(&mut self.edits, &bridge.element);
        self.note(
            format!("instance {} ({}) removed", bridge.name, bridge.kind),
            why,
        );
        for connection in &system.connections {
            let touches = [&connection.start, &connection.end]
                .iter()
                .any(|end| end.instance == bridge.name);
            if connection.kind != "avalon" && touches {
                self.remove(connection, why);
            }
        }
    }

    pub(super) fn remove(&mut self, connection: &Connection, why: &str) {
        if !self.gone.insert(connection.element.span.start) {
            return;
        }
        self.site
            .system
            .remove(&mut self.edits, &connection.element);
        self.removed(connection, why);
    }

    /// Sets the hard IP's addressing.
    pub fn hard_ip(&mut self) {
        let bits = block::TXS_ADDR_BITS.to_string();
        let settings = [
            ("AVALON_ADDR_WIDTH", bits.clone()),
            ("TX_S_ADDR_WIDTH", bits),
            ("BYPASSS_A2P_TRANSLATION", "0".into()),
        ];
        self.set_hard_ip(
            &settings,
            "64-bit bus addresses without the hard IP's own translation: the block translates and protects",
        );
        for (name, value, why) in hard_ip::receive_buffer(self.site.hip) {
            self.set_hard_ip(&[(name, value.into())], why);
        }
    }

    /// Gives the board its own identity, as far as it is in this system.
    pub fn identity(&mut self, identity: &Identity) {
        if !self.streams {
            self.set_hard_ip(&identity::settings(identity), identity::WHY);
        }
        let system = self.site.system;
        for module in &system.modules {
            if let Some(what) = identity::set_version(system, module, identity, &mut self.edits) {
                self.note(what, identity::WHY);
            }
        }
    }

    fn set_hard_ip(&mut self, settings: &[(&str, String)], why: &str) {
        let hip = self.site.hip;
        for (name, value) in settings {
            let before = hip.parameter(name).map(str::to_string);
            if before.as_ref() != Some(value) {
                self.site
                    .system
                    .set_parameter(&mut self.edits, hip, name, value);
                let before = before.unwrap_or_else(|| "not set".into());
                self.note(format!("{}: {name} {before} → {value}", hip.name), why);
            }
        }
    }

    /// Gives MSI-X to the function, and the OpenCL kernel's interrupt to the block.
    pub fn interrupts(&mut self, table: Table, kernel: &Connection) {
        let (dma, hip) = (&self.site.dma.name, &self.site.hip.name);
        let version = kernel.version.as_str();
        let connection = |kind, start, end| NewConnection {
            kind,
            version,
            start,
            end,
            base: None,
        };
        let receiver = End::new(dma, "kernel_irq");
        let mut new = vec![connection("interrupt", receiver, kernel.end.clone())];
        for (of_hip, of_block) in CONDUITS {
            let (start, end) = (End::new(hip, of_hip), End::new(dma, of_block));
            new.push(connection("conduit", start, end));
        }
        self.swap(
            kernel,
            &new,
            "the block sends the messages, and reads from the function's capability whether it may",
            "a function signals by MSI or by MSI-X, so the kernel's interrupt becomes a vector of the block",
        );
        let settings = table.settings().into_iter();
        let settings = settings.map(|(name, value)| (name, value.to_string()));
        let settings: Vec<_> = settings.collect();
        self.set_hard_ip(&settings, "MSI-X, with the table in the block");
    }

    /// Removes other references to removed instances: connections of disabled instances, and requirements on the
    /// interconnect.
    pub fn leftovers(&mut self, old: &OldMaster<'_>, bus: &HostBus<'_>) {
        let system = self.site.system;
        let bridges = old.bridges.iter().chain(&bus.bridges);
        let bridges: BTreeSet<&str> = bridges.map(|b| b.name.as_str()).collect();
        let master = End::new(&self.site.dma.name, "m");
        let streams = self.streams;
        let txs = End::new(&self.site.hip.name, "Txs");
        let gone = |end: &End| {
            *end == master || bridges.contains(end.instance.as_str()) || streams && *end == txs
        };
        for connection in &system.dormant {
            if gone(&connection.start) || gone(&connection.end) {
                self.remove(connection, MASTER_GONE);
            }
        }
        for requirement in system.document.root.children("interconnectRequirement") {
            let subject = requirement.attribute("for").unwrap_or_default();
            let mut parts = subject.split(['|', '/']);
            let names = |part: &str| {
                let (instance, interface) = part.split_once('.').unwrap_or((part, ""));
                gone(&End::new(instance, interface))
            };
            if parts.any(names) {
                self.gone.insert(requirement.span.start);
                system.remove(&mut self.edits, requirement);
                let name = requirement.attribute("name").unwrap_or_default();
                self.note(
                    format!("requirement {name} to the interconnect at {subject} removed"),
                    "it is for a removed connection",
                );
            }
        }
    }

    /// Updates Platform Designer's notes.
    pub fn bonus(&mut self, old: &OldMaster<'_>, bus: &HostBus<'_>) {
        let dma = &self.site.dma.name;
        let slave = |slave: &Placed| format!("{dma}.{}", slave.slave);
        let mut bases: Vec<_> = bus
            .outside()
            .map(|placed| Base {
                slave: slave(placed),
                base: placed.base,
            })
            .collect();
        let bridges: BTreeSet<&str> = old
            .bridges
            .iter()
            .chain(&bus.bridges)
            .map(|b| b.name.as_str())
            .collect();
        let mut interfaces = vec![format!("{dma}.m")];
        if self.streams {
            let hip = &self.site.hip.name;
            let registers = End::new(hip, "Cra");
            let all = self.site.system.of_kind("avalon");
            let mut at = all.filter(|c| c.end == registers).filter_map(|c| c.base);
            bases.extend(at.next().map(|base| Base {
                slave: format!("{dma}.Cra"),
                base,
            }));
            interfaces.extend([
                format!("{dma}.csr"),
                format!("{hip}.Cra"),
                format!("{hip}.Txs"),
            ]);
        }
        let gone = |name: &str| {
            let instance = name.split('.').next().unwrap_or(name);
            interfaces.iter().any(|interface| interface == name)
                || bridges.contains(instance)
                || bases.iter().any(|base| base.slave == name)
        };
        let after = [format!("{dma}.csr"), dma.clone()];
        let document = &self.site.system.document;
        if bonus::update(document, &mut self.edits, gone, &after, &bases) {
            self.note(
                "bonusData: entries of removed instances removed, base addresses of the new slaves added".into(),
                "Platform Designer's own notes about the instances",
            );
        }
    }
}
