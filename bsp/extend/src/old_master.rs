//! Parts of the old DMA's way to PCIe that are removed with it.

use std::collections::BTreeSet;

use peerlane_bsp_design::kinds::is_bridge;
use peerlane_bsp_design::qsys::{Connection, Module};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_platform::error::Result;

/// The connections of the old master, by their fate.
#[derive(Debug, Default)]
pub struct OldMaster<'a> {
    /// Connections of `dma.m` that lead to PCIe only.
    pub to_pcie: Vec<&'a Connection>,
    /// Connections of `dma.m` that lead to memory.
    pub to_memory: Vec<&'a Connection>,
    /// Bridges that are not used any more.
    pub bridges: Vec<&'a Module>,
    /// Avalon connections between those bridges and to `Txs`.
    pub legs: Vec<&'a Connection>,
}

impl<'a> OldMaster<'a> {
    /// Follows `dma.m` and decides which parts to remove.
    ///
    /// # Errors
    /// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if `m` is exported or reaches no memory.
    pub fn follow(site: &Site<'a>) -> Result<Self> {
        if let Some(export) = site.system.exported(&site.dma.name, Some("m")) {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!(
                    "the master {}.m is exported as {}",
                    site.dma.name, export.name
                ),
                "Connect the DMA's master inside the same system as the PCIe hard IP, in Platform \
                 Designer.",
            ));
        }
        let mut old = Self::default();
        for connection in site.from(&site.dma.name, Some("m")) {
            if old.prune(site, connection) {
                old.to_pcie.push(connection);
            } else {
                old.to_memory.push(connection);
            }
        }
        if old.to_memory.is_empty() {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!("the master {}.m reaches no memory", site.dma.name),
                "Use a BSP whose DMA is connected to its memory: the block's three memory masters get that connection.",
            ));
        }
        let ends_at_txs = |c: &&Connection| {
            c.end.instance == site.hip.name
                && c.end.interface == "Txs"
                && !old
                    .legs
                    .iter()
                    .chain(&old.to_pcie)
                    .any(|gone| std::ptr::eq(*gone, *c))
        };
        if let Some(other) = site.system.of_kind("avalon").find(ends_at_txs) {
            return Err(site.unsupported(
                site.place(other),
                format!(
                    "another master than the DMA drives {} (through {})",
                    other.end, other.start
                ),
                "Remove that connection, or export, in Platform Designer: the block changes the hard IP's addressing \
                 for its own use, and any other master would reach other addresses than before.",
            ));
        }
        Ok(old)
    }

    /// Returns whether a connection leads only to PCIe. Adds the parts that become unused with it.
    fn prune(&mut self, site: &Site<'a>, connection: &'a Connection) -> bool {
        let mut seen = BTreeSet::new();
        if !only_pcie(site, connection, &mut seen) {
            // A bridge to both that only this master uses: its leg to PCIe is removed, the bridge stays.
            if let Some(bridge) = self.ours_alone(site, connection) {
                for leg in site.from(&bridge.name, None) {
                    if self.prune(site, leg) {
                        self.legs.push(leg);
                    }
                }
            }
            return false;
        }
        if let Some(bridge) = self.ours_alone(site, connection) {
            self.bridges.push(bridge);
            for leg in site.from(&bridge.name, None) {
                self.prune(site, leg);
                self.legs.push(leg);
            }
        }
        true
    }

    /// Returns the bridge at the end of a connection, if it has no other master and is not exported.
    fn ours_alone(&self, site: &Site<'a>, connection: &Connection) -> Option<&'a Module> {
        let bridge = site.system.module(&connection.end.instance)?;
        let alone = is_bridge(&bridge.kind)
            && site.into(&bridge.name).count() == 1
            && site.system.exported(&bridge.name, None).is_none();
        alone.then_some(bridge)
    }
}

/// Reports whether every slave that a connection leads to is the hard IP's.
fn only_pcie(site: &Site<'_>, connection: &Connection, seen: &mut BTreeSet<String>) -> bool {
    let instance = &connection.end.instance;
    if *instance == site.hip.name {
        return connection.end.interface == "Txs";
    }
    let Some(module) = site.system.module(instance) else {
        return false;
    };
    if !is_bridge(&module.kind) || !seen.insert(instance.clone()) {
        return false;
    }
    let mut onward = site.from(&module.name, None).peekable();
    onward.peek().is_some() && onward.all(|c| only_pcie(site, c, seen))
}
