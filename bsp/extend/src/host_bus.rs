//! Places of the block's slaves on the host's bus, and room for them on the way from the BAR.
//!
//! Registers, channels and tables run in the hard IP's clock, so they are connected to the last bridge in that clock. A
//! way through further bridges, into the memory's clock, is removed. So is such a way to the window into FPGA memory:
//! Platform Designer puts an adapter between the clocks.
//!
//! `Rxm_BARn` gives the offset in the BAR, with 64-bit addresses too: the RTL that Quartus 16.0 and 17.0 generate for
//! `altera_pcie_sv_hip_avmm` and `altera_pcie_cv_hip_avmm` masks the PCIe address by the BAR's size
//! (`altpciexpav128_p2a_addrtrans`). Earlier versions were not seen, and the user guide 683411 ("Avalon-MM System
//! Settings") leaves it open for them. So the block does not rely on it where that costs nothing: if a master has
//! several slaves, the extension puts a bridge between, which passes on as many address bits as the BAR has.

use std::collections::{BTreeMap, BTreeSet};

use peerlane_bsp_design::host_bus::{HostPath, bar_map, bar_number, slaves_but, space};
use peerlane_bsp_design::kinds::{bridge_unit, is_automatic, is_bridge};
use peerlane_bsp_design::qsys::{Connection, End, Export, Module};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::config::{Config, NewSlave};
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::xml::Edits;

/// The largest supported BAR, log2; requested places are below that, too.
const MOST_BITS: u64 = 31;
/// Kind of a new bridge.
pub const INSERTED: &str = "altera_avalon_mm_bridge";

/// A sentence on the addresses of a BAR's master, for notes.
const OFFSET: &str = "The hard IP gives the offset in the BAR, with 64-bit addresses too, in the RTL that Quartus 16.0 \
                      and 17.0 generate; for earlier versions that is not known";

/// A new bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBridge {
    /// Its name.
    pub name: String,
    /// Its kind, which is its entity, too.
    pub kind: String,
    /// The instance that follows it.
    pub beside: String,
}

/// The place of a slave of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Interface of the block.
    pub slave: &'static str,
    /// Address on the master.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A slave whose way is removed: name, bytes, and its old place.
type Homeless = (&'static str, u64, Option<u64>);

/// A new bridge between a BAR's master and its slaves.
#[derive(Debug)]
pub struct Inserted<'a> {
    /// The BAR.
    pub bar: u32,
    /// Name of the bridge.
    pub name: String,
    /// The connections that begin at the BAR's master now.
    pub slaves: Vec<&'a Connection>,
    /// Bytes that they need, log2, without the slaves that are placed again.
    pub bits: u64,
}

/// The changes of the host's bus.
#[derive(Debug)]
pub struct HostBus<'a> {
    /// The current way to the registers.
    pub path: HostPath<'a>,
    /// Slaves to connect: the new ones, and those whose old way is removed.
    pub placed: Vec<Placed>,
    /// New bridges.
    pub inserted: Vec<Inserted<'a>>,
    /// Bridges that are not needed any more.
    pub bridges: Vec<&'a Module>,
    /// Avalon connections to remove: to slaves that move, and to those bridges.
    pub gone: Vec<&'a Connection>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Whether the block itself leads the host to its slaves. Then only the window is connected to the bus.
    inside: bool,
}

impl<'a> HostBus<'a> {
    /// Decides the place of every slave.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a bus that cannot stay; [`ErrorKind::Config`] if a place that the configuration
    /// asks for is taken or not aligned.
    pub fn plan(site: &Site<'a>, config: &Config) -> Result<Self> {
        let (mut bus, moved) = Self::leaving(site, false)?;
        bus.receive_side(site);
        bus.place(site, config, &moved)?;
        Ok(bus)
    }

    /// Decides the places for a block that leads the host to its slaves itself.
    ///
    /// # Errors
    /// Those of [`Self::plan`], without that of the hard IP's address mode.
    pub fn plan_inside(site: &Site<'a>, config: &Config) -> Result<Self> {
        let (mut bus, moved) = Self::leaving(site, true)?;
        bus.place(site, config, &moved)?;
        if bus.path.is_direct() {
            bus.gone.push(bus.path.last());
            bus.refuse_empty(site)?;
        }
        Ok(bus)
    }

    /// Refuses a master that would have no slave left: nothing shows that it has no use elsewhere.
    fn refuse_empty(&self, site: &Site<'_>) -> Result<()> {
        let gone = self.gone_at();
        let master = self.path.master();
        let mut all = site.from(&master.instance, Some(&master.interface));
        let exported = site
            .system
            .exported(&master.instance, Some(&master.interface));
        if exported.is_some()
            || self.outside().next().is_some()
            || all.any(|c| !gone.contains(&c.element.span.start))
        {
            return Ok(());
        }
        Err(site.unsupported(
            site.place(self.path.last()),
            format!(
                "{master} leads only to {}, which is inside the block with a TLP port",
                self.path.last().end
            ),
            Hint::without_tlp(
                "Connect another slave of the board to that bridge in Platform Designer, as in vendors' BSPs, or ",
            ),
        ))
    }

    /// Returns byte offsets in the BAR of the block's slaves, by the names of the interfaces.
    pub fn places(&self, site: &Site<'_>) -> BTreeMap<String, u64> {
        let path = &self.path;
        let mut places = bar_map(site, path.bar).slaves_of(&site.dma.name);
        for placed in &self.placed {
            places.insert(placed.slave.into(), path.offset() + placed.base);
        }
        places
    }

    /// Returns the placed slaves that are connected to the bus.
    pub fn outside(&self) -> impl Iterator<Item = &Placed> {
        let is_outside = |placed: &&Placed| !self.inside || placed.slave == "s_nondma";
        self.placed.iter().filter(is_outside)
    }

    /// Returns the bus without the removed ways, and the slaves that lose theirs: name, bytes, and old place.
    fn leaving(site: &Site<'a>, inside: bool) -> Result<(Self, Vec<Homeless>)> {
        let path = HostPath::find(site)?;
        let window = HostPath::to(site, "s_nondma").filter(|way| !way.is_direct());
        let mut bus = Self {
            path,
            placed: Vec::new(),
            inserted: Vec::new(),
            bridges: Vec::new(),
            gone: Vec::new(),
            notes: Vec::new(),
            inside,
        };
        let mut moved = Vec::new();
        if !bus.path.is_direct() {
            let wish = Some(bus.path.address());
            bus.leave(site, &HostPath::find(site)?)?;
            moved.push(("csr", u64::from(block::CSR_BYTES), wish));
        }
        if let Some(way) = &window {
            bus.leave(site, way)?;
            // In the BAR it stays where it is, by any bridges.
            let wish = way
                .offset()
                .saturating_add(way.address())
                .checked_sub(bus.path.offset());
            let wish = wish.filter(|_| way.bar == bus.path.bar);
            moved.push(("s_nondma", u64::from(block::WINDOW_BYTES), wish));
        }
        Ok((bus, moved))
    }

    /// Returns the master of the block's slaves after the extension.
    pub fn master(&self) -> End {
        let inserted = self
            .inserted
            .iter()
            .find(|bridge| bridge.bar == self.path.bar);
        match inserted {
            Some(bridge) if self.path.host == 0 => End::new(&bridge.name, "m0"),
            _ => self.path.master().clone(),
        }
    }

    /// Returns the new bridges, each with the instance that follows it: for a bridge on the way to the registers, the
    /// first one there.
    pub fn inserted(&self) -> Vec<NewBridge> {
        let all = self.inserted.iter().filter_map(|bridge| {
            let first = self.path.hops[0];
            let behind = match bridge.bar == self.path.bar {
                true => Some(first),
                false => bridge.slaves.first().copied(),
            };
            Some(NewBridge {
                name: bridge.name.clone(),
                kind: INSERTED.into(),
                beside: behind?.end.instance.clone(),
            })
        });
        all.collect()
    }

    /// Returns the starts of the elements of removed connections.
    fn gone_at(&self) -> BTreeSet<usize> {
        self.gone.iter().map(|c| c.element.span.start).collect()
    }

    /// Removes the way from the host's master to a slave: the connection to it, and the bridges that lead nowhere
    /// without it.
    fn leave(&mut self, site: &Site<'a>, way: &HostPath<'a>) -> Result<()> {
        self.gone.push(way.last());
        let before = match way.host {
            0 => format!("{}.Rxm_BAR{}", site.hip.name, way.bar),
            _ => way.master().to_string(),
        };
        let now = match self.inside && way.last().end.interface == "csr" {
            true => "it is inside the block now".to_string(),
            false => format!("it is connected to {before} now"),
        };
        self.notes.push(format!(
            "{} was reached through {}, outside the hard IP's clock domain; {now}.",
            way.last().end,
            way.hops[way.host..way.hops.len() - 1]
                .iter()
                .map(|c| c.end.instance.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ));
        for hop in way.hops[way.host..way.hops.len() - 1].iter().rev() {
            let gone = self.gone_at();
            let Some(bridge) = site.system.module(&hop.end.instance) else {
                break;
            };
            let used = site
                .from(&bridge.name, None)
                .any(|c| !gone.contains(&c.element.span.start));
            if used || !is_bridge(&bridge.kind) {
                break;
            }
            if let Some(export) = site.system.exported(&bridge.name, None) {
                return Err(site.unsupported(
                    site.system.place(bridge),
                    format!(
                        "{} leads only to {}, which moves to another clock domain, but it is exported as {}",
                        bridge.name,
                        way.last().end,
                        export.name
                    ),
                    "Remove the export in Platform Designer.",
                ));
            }
            if let Some(other) = site.into(&bridge.name).find(|c| !std::ptr::eq(*c, *hop)) {
                return Err(site.unsupported(
                    site.place(other),
                    format!(
                        "{} also drives {}, which leads only to {}; that moves to the hard IP's clock domain",
                        other.start,
                        bridge.name,
                        way.last().end
                    ),
                    "Connect that master directly to the DMA's slave in Platform Designer.",
                ));
            }
            self.bridges.push(bridge);
            self.gone.push(hop);
        }
        Ok(())
    }

    /// Decides which BARs get a new bridge.
    fn receive_side(&mut self, site: &Site<'a>) {
        let gone = self.gone_at();
        let exported = |export: &&Export| {
            let inside = export.internal.as_ref().filter(|_| !export.stale);
            inside.is_some_and(|end| end.instance == site.hip.name && bar_number(end).is_some())
        };
        for export in site.system.exports.iter().filter(exported) {
            self.notes.push(format!(
                "A BAR's master of {} is exported as {}. {OFFSET}; it stays unchanged.",
                site.hip.name, export.name
            ));
        }
        let mut masters: Vec<&End> = site
            .from(&site.hip.name, None)
            .filter(|c| bar_number(&c.start).is_some())
            .map(|c| &c.start)
            .collect();
        masters.sort();
        masters.dedup();
        for master in masters {
            let bar = bar_number(master).unwrap_or(0);
            let ours = bar == self.path.bar;
            let slaves: Vec<&Connection> = site
                .from(&master.instance, Some(&master.interface))
                .filter(|c| !gone.contains(&c.element.span.start))
                .collect();
            let alone = match slaves.as_slice() {
                [one] if one.base.unwrap_or(0) == 0 && !(ours && self.path.host == 0) => {
                    decoded(site, one)
                }
                _ => None,
            };
            if alone.is_some() {
                continue;
            }
            let Some(bits) = self.needed_bits(site, master, bar, &gone) else {
                self.notes
                    .push(format!("{master} keeps its slaves unchanged. {OFFSET}."));
                continue;
            };
            let name = unused(site, &format!("peerlane_bar{bar}"));
            self.notes.push(format!(
                "{name}, a bridge with as many address bits as the BAR has, is between {master} and its slaves. \
                 {OFFSET}; the bridge makes both cases correct, and a host's access takes two cycles more."
            ));
            self.inserted.push(Inserted {
                bar,
                name,
                slaves,
                bits,
            });
        }
    }

    /// Returns the bits that the slaves of a BAR need, log2 of the bytes; `None` if that is not known or the BAR is not
    /// one of 32 bits.
    fn needed_bits(
        &self,
        site: &Site<'_>,
        master: &End,
        bar: u32,
        gone: &BTreeSet<usize>,
    ) -> Option<u64> {
        let own = site.hip.number(&format!("SLAVE_ADDRESS_MAP_{bar}"))?;
        if !(1..=MOST_BITS).contains(&own) {
            return None;
        }
        let ends = slaves_but(site, master, gone);
        let most = ends.iter().map(|e| e.base.saturating_add(e.bytes)).max();
        let Some(most) = most else {
            return Some(own);
        };
        let needed = u64::from(most.checked_next_power_of_two()?.ilog2());
        (needed <= MOST_BITS).then(|| own.max(needed))
    }

    /// Puts the slaves above everything in use, each at a multiple of its size. Those that move keep their places in
    /// the BAR if possible; places that the configuration asks for come next.
    fn place(&mut self, site: &Site<'_>, config: &Config, moved: &[Homeless]) -> Result<()> {
        let master = self.path.master();
        let gone = self.gone_at();
        // With a TLP port some have another name after the extension.
        let file = site.system.document.path.file_name().unwrap_or_default();
        let of_vendor = |slave: &str| format!("{slave} of {}", file.display());
        let mut taken: Vec<(u64, u64, String)> = slaves_but(site, master, &gone)
            .into_iter()
            .map(|e| (e.base, e.bytes, of_vendor(&e.slave)))
            .collect();
        let taken_by = |taken: &[(u64, u64, String)], base: u64, bytes: u64| {
            let meets = |(b, n, _): &&(u64, u64, String)| {
                base < b.saturating_add(*n) && *b < base.saturating_add(bytes)
            };
            taken.iter().find(meets).map(|(.., name)| name.clone())
        };
        let mut homeless = Vec::new();
        for (slave, bytes, wish) in moved {
            let wish =
                wish.filter(|base| base % bytes == 0 && taken_by(&taken, *base, *bytes).is_none());
            let Some(base) = wish else {
                homeless.push((*slave, *bytes));
                continue;
            };
            taken.push((base, *bytes, format!("{}.{slave}", site.dma.name)));
            self.placed.push(Placed {
                slave,
                base,
                bytes: *bytes,
            });
        }
        let ends = taken.iter().map(|(base, n, _)| base.saturating_add(*n));
        let mut floor = ends.max().unwrap_or(0);
        if site
            .system
            .exported(&master.instance, Some(&master.interface))
            .is_some()
        {
            // Slaves outside this file: they may use the whole space.
            let all = space(site, master)
                .and_then(|s| u64::try_from(s).ok())
                .unwrap_or(0);
            floor = floor.max(all);
        }
        // A 32-bit BAR has at most 31 address bits (PCI Local Bus Specification 3.0, 6.2.5.1).
        if let Some((base, _, name)) = taken.iter().find(|(base, ..)| *base >= 1 << MOST_BITS) {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!("{name}, next to the block's registers, is at {base:#x}: no BAR reaches this address"),
                "Move that slave below 2 GiB in Platform Designer.",
            ));
        }
        floor = floor.min(1 << MOST_BITS);
        // Whole pages, so that each can be mapped alone.
        let size = |bytes: u64| bytes.next_power_of_two().max(4096);
        let new = config.new_slaves();
        let mut asked = Vec::new();
        for slave in &new {
            let Some(base) = slave.asked else {
                asked.push(None);
                continue;
            };
            let local = self.asked(site, slave, base, size(slave.bytes))?;
            if let Some(other) = taken_by(&taken, local, size(slave.bytes)) {
                let what = format!("is taken by {other}");
                return Err(not_there(site, slave, base, what));
            }
            taken.push((local, size(slave.bytes), slave.key.to_string()));
            floor = floor.max(local + size(slave.bytes));
            asked.push(Some(local));
        }
        let new = new
            .iter()
            .zip(asked)
            .map(|(slave, asked)| (slave.name, slave.bytes, asked));
        for (slave, bytes, asked) in homeless.into_iter().map(|(s, n)| (s, n, None)).chain(new) {
            let base = asked.unwrap_or_else(|| {
                let base = floor.next_multiple_of(size(bytes));
                floor = base + size(bytes);
                base
            });
            self.placed.push(Placed { slave, base, bytes });
        }
        Ok(())
    }

    /// Returns the address on the master for a place in the BAR that the configuration asks for.
    fn asked(&self, site: &Site<'_>, slave: &NewSlave, base: u64, bytes: u64) -> Result<u64> {
        let local = base.checked_sub(self.path.offset()).ok_or_else(|| {
            not_there(
                site,
                slave,
                base,
                "is below the bridge to which the registers are connected".into(),
            )
        })?;
        if local % bytes != 0 {
            return Err(not_there(
                site,
                slave,
                base,
                format!("is not a multiple of its size {bytes:#x}"),
            ));
        }
        Ok(local)
    }

    /// Raises the address widths on the way from the BAR so that all placed slaves can be reached, and sets those of
    /// the new bridges. Returns the raised parameters, and the widths by BAR.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if a wider bridge would not be aligned or run into its neighbour, or the BAR would
    /// be larger than 2 GiB.
    pub fn raise(&self, site: &Site<'_>, edits: &mut Edits) -> Result<(Vec<Raised>, Vec<u64>)> {
        let gone = self.gone_at();
        let path = &self.path;
        let mut raised = Vec::new();
        let top = self.outside().map(|s| s.base + s.bytes).max();
        let Some(top) = top else {
            return Ok((raised, Vec::new()));
        };
        let mut top = u128::from(top);
        for hop in path.hops[..path.host].iter().rev() {
            let Some(bridge) = site.system.module(&hop.end.instance) else {
                continue;
            };
            let automatic = is_automatic(bridge);
            let mut old = site.library.bridge_bytes(bridge);
            if automatic && old.is_none() {
                // The known slaves of the bridge: the width has to be that of the whole.
                let master = End::new(&bridge.name, "m0");
                let ends = slaves_but(site, &master, &gone).into_iter();
                let ends = ends.map(|e| u128::from(e.base) + u128::from(e.bytes));
                old = ends.max().unwrap_or(1).checked_next_power_of_two();
            }
            let (Some(bits), Some(old)) = (bridge.number("ADDRESS_WIDTH"), old) else {
                return Err(site.unsupported(
                    site.system.place(bridge),
                    format!("bridge {} has no ADDRESS_WIDTH", bridge.name),
                    "Open and save the system in Platform Designer, which writes the parameter.",
                ));
            };
            let bytes = top.next_power_of_two().max(old);
            let base = u128::from(hop.base.unwrap_or(0));
            if bytes > old {
                let to = u64::from((bytes / u128::from(bridge_unit(bridge))).ilog2());
                site.system
                    .set_parameter(edits, bridge, "ADDRESS_WIDTH", &to.to_string());
                if automatic {
                    site.system
                        .set_parameter(edits, bridge, "USE_AUTO_ADDRESS_WIDTH", "0");
                }
                raised.push(Raised {
                    instance: bridge.name.clone(),
                    parameter: "ADDRESS_WIDTH".into(),
                    from: bits,
                    to,
                });
                self.has_room(site, hop, bridge, base..base + bytes)?;
            }
            let others = slaves_but(site, &hop.start, &gone);
            let others = others
                .iter()
                .map(|e| u128::from(e.base) + u128::from(e.bytes))
                .max();
            top = others.unwrap_or(0).max(base + bytes);
        }
        if self.inside {
            // The hard IP is replaced, and the new one has its own size.
            return Ok((raised, Vec::new()));
        }
        let parameter = format!("SLAVE_ADDRESS_MAP_{}", path.bar);
        let mut to = u64::from(top.next_power_of_two().ilog2());
        let mut widths = Vec::new();
        for bridge in &self.inserted {
            if bridge.bar == path.bar {
                to = to.max(bridge.bits);
            }
            widths.push(if bridge.bar == path.bar {
                to
            } else {
                bridge.bits
            });
        }
        if to > MOST_BITS {
            return Err(site.unsupported(
                site.system.place(site.hip),
                format!("BAR {} would need 2^{to} bytes", path.bar),
                "Set a smaller table (att_entries), or lower places ([bar]).",
            ));
        }
        let others = self.inserted.iter().filter(|bridge| bridge.bar != path.bar);
        let others =
            others.map(|bridge| (format!("SLAVE_ADDRESS_MAP_{}", bridge.bar), bridge.bits));
        for (parameter, to) in others.chain([(parameter, to)]) {
            let from = site.hip.number(&parameter).unwrap_or(0);
            if to > from {
                site.system
                    .set_parameter(edits, site.hip, &parameter, &to.to_string());
                raised.push(Raised {
                    instance: site.hip.name.clone(),
                    parameter,
                    from,
                    to,
                });
            }
        }
        Ok((raised, widths))
    }

    /// Refuses a bridge that would not be aligned to its new size, or would overlap its neighbour.
    fn has_room(
        &self,
        site: &Site<'_>,
        hop: &Connection,
        bridge: &Module,
        range: std::ops::Range<u128>,
    ) -> Result<()> {
        let bytes = range.end - range.start;
        if !range.start.is_multiple_of(bytes) {
            return Err(site.unsupported(
                site.place(hop),
                format!(
                    "bridge {} must grow to {bytes:#x} bytes, but is at {:#x}",
                    bridge.name, range.start
                ),
                "Move the bridge to a multiple of that size in Platform Designer.",
            ));
        }
        let others = slaves_but(site, &hop.start, &self.gone_at());
        let mut others = others
            .iter()
            .filter(|other| other.slave != hop.end.to_string());
        match others.find(|other| range.contains(&u128::from(other.base))) {
            None => Ok(()),
            Some(other) => Err(site.unsupported(
                site.place(hop),
                format!(
                    "bridge {} must grow to {bytes:#x} bytes and would overlap {}",
                    bridge.name, other.slave
                ),
                "Move that slave to a higher address in Platform Designer, or set free places under [bar] of the \
                 configuration.",
            )),
        }
    }
}

/// A raised parameter.
#[derive(Debug, Clone)]
pub struct Raised {
    /// Instance.
    pub instance: String,
    /// Parameter.
    pub parameter: String,
    /// Before.
    pub from: u64,
    /// After.
    pub to: u64,
}

fn not_there(site: &Site<'_>, slave: &NewSlave, base: u64, what: String) -> Error {
    Error::new(
        ErrorKind::Config,
        site.system.place(site.dma),
        format!(
            "{} = {base:#x} is not possible: the place {what}",
            slave.key
        ),
        "Choose another multiple of the size, or leave the key out to get the lowest free place.",
    )
    .of_key(slave.key)
}

/// Returns the address bits that a slave decodes, if that is known and few.
fn decoded(site: &Site<'_>, connection: &Connection) -> Option<u32> {
    let module = site.system.module(&connection.end.instance)?;
    let extent = site.library.extent(module, &connection.end.interface);
    let most = extent.most.filter(|&most| most <= 1 << MOST_BITS)?;
    Some(most.ilog2())
}

/// Returns a name that no instance and no export has.
fn unused(site: &Site<'_>, name: &str) -> String {
    let taken = |name: &str| {
        site.system.module(name).is_some() || site.system.exports.iter().any(|e| e.name == name)
    };
    let others = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_string()).chain(others);
    names
        .find(|name| !taken(name))
        .expect("the number of names is unlimited")
}
