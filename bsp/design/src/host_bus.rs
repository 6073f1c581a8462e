//! The way from the host's BAR to the block's registers, and the slaves in the BAR.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::clocks;
use crate::kinds::is_bridge;
use crate::qsys::{Connection, End, Module};
use crate::site::Site;
use peerlane_bsp_platform::error::Result;

/// A slave in the BAR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BarEntry {
    /// Byte offset in the BAR.
    pub base: u64,
    /// Bytes of its span; if that is not known, up to the next slave.
    pub bytes: u64,
    /// Whether `bytes` is such an assumption.
    pub assumed: bool,
    /// `instance.interface`.
    pub slave: String,
    /// Kind of the instance.
    pub kind: String,
    /// Source of `bytes`.
    pub source: String,
}

/// A BAR's content, in address order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BarMap {
    /// Number of the BAR.
    pub bar: u32,
    /// Bytes of the BAR, log2, as set in the hard IP.
    pub bits: u64,
    /// The slaves.
    pub entries: Vec<BarEntry>,
}

impl BarMap {
    /// Returns the offsets of an instance's slaves, by interface.
    pub fn slaves_of(&self, instance: &str) -> BTreeMap<String, u64> {
        self.entries
            .iter()
            .filter_map(|e| {
                let (name, interface) = e.slave.split_once('.')?;
                (name == instance).then(|| (interface.to_string(), e.base))
            })
            .collect()
    }
}

/// The chain of connections from `Rxm_BARn` to a slave of the block.
#[derive(Debug)]
pub struct HostPath<'a> {
    /// Number of the BAR.
    pub bar: u32,
    /// From the hard IP's master to the block's slave.
    pub hops: Vec<&'a Connection>,
    /// Number of bridges, from the hard IP on, that run in its clock. Slaves in that clock belong to the master after
    /// them: that of the last of these bridges, or `Rxm_BARn` itself.
    pub host: usize,
}

impl<'a> HostPath<'a> {
    /// Walks from the hard IP's BAR masters to the block's `csr`.
    ///
    /// # Errors
    /// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if no way of bridges leads there.
    pub fn find(site: &Site<'a>) -> Result<Self> {
        Self::to(site, "csr").ok_or_else(|| {
            site.unsupported(
                site.system.place(site.dma),
                format!(
                    "{}.csr cannot be reached from {}.Rxm_BARn through Avalon-MM bridges",
                    site.dma.name, site.hip.name
                ),
                "Connect the DMA's CSR slave to the BAR, directly or through \
                 altera_avalon_mm_bridge instances.",
            )
        })
    }

    /// Walks from the hard IP's BAR masters to a slave of the block, if a way leads there.
    pub fn to(site: &Site<'a>, slave: &str) -> Option<Self> {
        let mut ways: Vec<Vec<&Connection>> = site
            .from(&site.host().name, None)
            .filter(|c| bar_number(&c.start).is_some())
            .map(|c| vec![c])
            .collect();
        // A bridge is passed once: a second pass leads nowhere else.
        let mut passed = BTreeSet::new();
        while let Some(way) = ways.pop() {
            let last = way[way.len() - 1];
            if last.end.instance == site.dma.name && last.end.interface == slave {
                let bar = bar_number(&way[0].start).unwrap_or(0);
                let bridges = way[..way.len() - 1].iter();
                let own = bridges.take_while(|c| {
                    let bridge = site.system.module(&c.end.instance);
                    bridge.is_some_and(|bridge| clocks::is_hard_ips(site, bridge))
                });
                let host = own.count();
                return Some(Self {
                    bar,
                    hops: way,
                    host,
                });
            }
            let Some(module) = site.system.module(&last.end.instance) else {
                continue;
            };
            if is_bridge(&module.kind) && passed.insert(&module.name) {
                for next in site.from(&module.name, None) {
                    ways.push(way.iter().copied().chain([next]).collect());
                }
            }
        }
        None
    }

    /// Returns the master for slaves in the hard IP's clock.
    pub fn master(&self) -> &'a End {
        &self.hops[self.host].start
    }

    /// Returns the byte offset in the BAR of address 0 on that master.
    pub fn offset(&self) -> u64 {
        sum(&self.hops[..self.host])
    }

    /// Returns the address of the slave on that master.
    pub fn address(&self) -> u64 {
        sum(&self.hops[self.host..])
    }

    /// Returns the connection that ends at the slave.
    pub fn last(&self) -> &'a Connection {
        self.hops[self.hops.len() - 1]
    }

    /// Reports whether the slave is connected to that master already.
    pub fn is_direct(&self) -> bool {
        self.host + 1 == self.hops.len()
    }

    /// Returns the bridges on the way up to that master, from the hard IP on.
    pub fn bridges(&self, site: &Site<'a>) -> Vec<&'a Module> {
        let ends = self.hops[..self.host].iter();
        ends.filter_map(|c| site.system.module(&c.end.instance))
            .collect()
    }
}

fn sum(hops: &[&Connection]) -> u64 {
    let bases = hops.iter().map(|c| c.base.unwrap_or(0));
    bases.fold(0, u64::saturating_add)
}

/// Returns the number of the BAR of a receive master of the hard IP.
pub fn bar_number(end: &End) -> Option<u32> {
    end.interface.strip_prefix("Rxm_BAR")?.parse().ok()
}

/// Returns the bytes of a master's address space, if it is limited.
pub fn space(site: &Site<'_>, master: &End) -> Option<u128> {
    let module = site.system.module(&master.instance)?;
    match bar_number(master) {
        Some(bar) => {
            let bits = site.bar_bits(bar)?;
            (1..64).contains(&bits).then(|| 1 << bits)
        }
        None => site.library.bridge_bytes(module),
    }
}

/// Refuses a system in which two slaves overlap on a master: it is unknown which of them answers, and the driver uses
/// these addresses.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`].
pub fn refuse_overlaps(site: &Site<'_>) -> Result<()> {
    let mut masters: BTreeMap<&End, Vec<(u128, u128, &Connection)>> = BTreeMap::new();
    for connection in site.system.of_kind("avalon") {
        let Some(module) = site.system.module(&connection.end.instance) else {
            continue;
        };
        // The bytes that certainly belong to it.
        let bytes = site.library.extent(module, &connection.end.interface).least;
        let base = u128::from(connection.base.unwrap_or(0));
        let slaves = masters.entry(&connection.start).or_default();
        slaves.push((base, base + bytes.max(1), connection));
    }
    for (master, mut slaves) in masters {
        slaves.sort_by_key(|(base, ..)| *base);
        for pair in slaves.windows(2) {
            let [(from, end, first), (base, _, second)] = pair else {
                continue;
            };
            if base < end {
                return Err(site.unsupported(
                    site.place(second),
                    format!(
                        "on {master}, {} at {base:#x} overlaps {}, which takes {from:#x} to {:#x}",
                        second.end,
                        first.end,
                        end - 1
                    ),
                    "Set separate addresses for the two in Platform Designer.",
                ));
            }
        }
    }
    Ok(())
}

/// Returns the slaves of a master, with an upper bound for unknown spans: the next slave above, or the end of the
/// master's current address space.
pub fn slaves(site: &Site<'_>, master: &End) -> Vec<BarEntry> {
    slaves_but(site, master, &BTreeSet::new())
}

/// Returns the slaves of a master without some connections, given by the starts of their elements. An unknown span
/// still ends where one of those began, as it did before.
pub fn slaves_but(site: &Site<'_>, master: &End, gone: &BTreeSet<usize>) -> Vec<BarEntry> {
    let mut found: Vec<_> = site
        .from(&master.instance, Some(&master.interface))
        .filter_map(|c| Some((c.base.unwrap_or(0), site.system.module(&c.end.instance)?, c)))
        .collect();
    found.sort_by_key(|(base, ..)| *base);
    let bases: Vec<u64> = found.iter().map(|(base, ..)| *base).collect();
    found
        .into_iter()
        .filter(|(.., c)| !gone.contains(&c.element.span.start))
        .map(|(base, module, c)| {
            let extent = site.library.extent(module, &c.end.interface);
            let next = bases.iter().copied().find(|&b| b > base).map(u128::from);
            let limit = next
                .or_else(|| space(site, master))
                .unwrap_or(u128::from(base) + 0x1000);
            let room = limit.saturating_sub(u128::from(base)).max(extent.least);
            let (bytes, assumed, source) = match extent.most {
                Some(most) => (most, false, extent.source),
                None => (
                    room,
                    true,
                    format!("{}; assumed to end at the next limit", extent.source),
                ),
            };
            BarEntry {
                base,
                bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
                assumed,
                slave: c.end.to_string(),
                kind: module.kind.clone(),
                source,
            }
        })
        .collect()
}

/// Returns the whole content of the BAR that a master drives, found through bridges.
pub fn bar_map(site: &Site<'_>, bar: u32) -> BarMap {
    let master = End::new(&site.host().name, &format!("Rxm_BAR{bar}"));
    let mut entries = Vec::new();
    // Each bridge is passed once: a circle of bridges would have no end.
    let mut through = BTreeSet::new();
    let mut open = vec![(master, 0u64)];
    while let Some((master, offset)) = open.pop() {
        for entry in slaves(site, &master) {
            let instance = entry.slave.split('.').next().unwrap_or_default();
            let inner = site
                .system
                .module(instance)
                .filter(|m| is_bridge(&m.kind) && !through.contains(&m.name))
                .filter(|m| site.from(&m.name, Some("m0")).next().is_some());
            match inner {
                Some(bridge) => {
                    through.insert(bridge.name.clone());
                    let offset = offset.saturating_add(entry.base);
                    open.push((End::new(&bridge.name, "m0"), offset));
                }
                None => entries.push(BarEntry {
                    base: offset.saturating_add(entry.base),
                    ..entry
                }),
            }
        }
    }
    if site.has_tlp_port() {
        entries.extend(inside(site));
    }
    entries.sort_by(|a, b| (a.base, &a.slave).cmp(&(b.base, &b.slave)));
    let bits = site.bar_bits(bar).unwrap_or(0);
    BarMap { bar, bits, entries }
}

/// Returns the slaves inside the block, which no connection leads to.
fn inside<'a>(site: &'a Site<'_>) -> impl Iterator<Item = BarEntry> + use<'a> {
    site.library.inside().iter().map(|(slave, &base)| {
        let extent = site.library.extent(site.dma, slave);
        let bytes = extent.most.unwrap_or(extent.least);
        BarEntry {
            base,
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            assumed: false,
            slave: format!("{}.{slave}", site.dma.name),
            kind: site.dma.kind.clone(),
            source: extent.source,
        }
    })
}
