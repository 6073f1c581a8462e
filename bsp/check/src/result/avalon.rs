//! Avalon connections: those of the vendor are unchanged except for the old DMA's, and new ones belong to the block.
//!
//! These connections may be gone: the old master's, if the block's three masters replace each at the same place or if
//! it led only to the hard IP's `Txs`; those on the way from the old master to `Txs`; the host's to the old DMA's
//! slaves only; and those from a BAR to slaves that now have a new bridge in front of them.

use std::collections::BTreeSet;

use crate::Findings;
use crate::read::design::{Design, Wire, instance};
use crate::result::addresses::base;
use crate::result::names::{is_bridge, is_hard_ip};
use crate::result::{BLOCK, Bsp, OLD, bad, stream};

const TEST: &str = "avalon";
/// The block's masters that replace the old one.
const MASTERS: [&str; 3] = ["mem_rd", "mem_wr", "mem_win"];
/// The old DMA's slaves.
const OLD_SLAVES: [&str; 2] = ["csr", "s_nondma"];

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    let before = findings.found();
    let mut count = 0;
    for (design, vendor) in bsp.replaced() {
        count += vendor.avalon().count();
        Change::of(bsp, design, vendor).judge(findings);
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!("the vendor's {count} connections are unchanged, except those of the old DMA"),
        );
    }
}

/// Master, slave and base address.
type Key<'a> = (&'a str, &'a str, Option<u128>);

fn key(wire: &Wire) -> Key<'_> {
    (&wire.from, &wire.to, base(wire))
}

/// Reports whether an end is the interface of the hard IP that a BAR drives.
pub(super) fn is_bar(design: &Design, end: &str) -> bool {
    end.split_once('.').is_some_and(|(name, interface)| {
        interface.to_ascii_lowercase().starts_with("rxm_bar")
            && (design.instance(name).is_some_and(|i| is_hard_ip(&i.kind))
                || stream::is_in_front(design, end))
    })
}

/// Returns the masters that reach an output, found through bridges; a name without an instance is an export.
pub(super) fn masters(design: &Design, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_string()];
    while let Some(end) = open.pop() {
        if !seen.insert(end.clone()) {
            continue;
        }
        let name = instance(&end);
        if !design.instance(name).is_some_and(|i| is_bridge(&i.kind)) {
            found.insert(end);
            continue;
        }
        let into = design.avalon().filter(|w| instance(&w.to) == name);
        open.extend(into.map(|w| w.from.clone()));
        let outside = design.outside.iter();
        let slaves = outside.filter(|o| o.inside.ends_with(".s0") && instance(&o.inside) == name);
        found.extend(slaves.map(|o| o.name.clone()));
    }
    found
}

/// Reports whether a slave leads only to ends for which `is` holds, directly or through bridges.
fn leads_only(design: &Design, end: &str, is: &dyn Fn(&str) -> bool) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![end.to_string()];
    while let Some(end) = open.pop() {
        if is(&end) {
            continue;
        }
        let name = instance(&end);
        if !design.instance(name).is_some_and(|i| is_bridge(&i.kind)) {
            return false;
        }
        if !seen.insert(name.to_string()) {
            continue;
        }
        let mut onward = design
            .avalon()
            .filter(|w| instance(&w.from) == name)
            .peekable();
        let outside = design.outside.iter().any(|o| instance(&o.inside) == name);
        if onward.peek().is_none() || outside {
            return false;
        }
        open.extend(onward.map(|w| w.to.clone()));
    }
    true
}

/// A system, with the vendor's system that it replaces.
struct Change<'a> {
    bsp: &'a Bsp,
    design: &'a Design,
    vendor: &'a Design,
    now: BTreeSet<Key<'a>>,
    old: BTreeSet<Key<'a>>,
    /// The block's instance, which replaces the old DMA.
    block: Option<&'a str>,
}

impl<'a> Change<'a> {
    fn of(bsp: &'a Bsp, design: &'a Design, vendor: &'a Design) -> Self {
        let blocks = design.instances.iter().filter(|i| i.kind == BLOCK);
        let mut blocks = blocks.filter(|i| vendor.instance(&i.name).is_some_and(|v| v.kind == OLD));
        Self {
            bsp,
            design,
            vendor,
            now: design.avalon().map(key).collect(),
            old: vendor.avalon().map(key).collect(),
            block: blocks.next().map(|block| block.name.as_str()),
        }
    }

    fn judge(&self, findings: &mut Findings) {
        self.arbitration(findings);
        for wire in self.vendor.avalon() {
            if self.now.contains(&key(wire)) || self.may_go(wire) {
                continue;
            }
            let mut moved = self
                .design
                .avalon()
                .filter(|w| (&w.from, &w.to) == (&wire.from, &wire.to));
            let old = self.block.map(|block| format!("{block}.m"));
            let (line, has) = match moved.next() {
                Some(now) => (now.line, format!("is now at {}", at(now))),
                None if old.as_ref() == Some(&wire.from) => {
                    let block = self.block.unwrap_or_default();
                    let line = self.design.instance(block).map_or(1, |i| i.line);
                    let what = format!(
                        "differs from those of {block}'s masters {}, which must have the same address",
                        MASTERS.join(", ")
                    );
                    (line, what)
                }
                None => {
                    let name = instance(&wire.from);
                    let line = self.design.instance(name).map_or(1, |i| i.line);
                    (line, "is missing".into())
                }
            };
            let what = format!(
                "the connection {} → {} at {} of the vendor's BSP {has}",
                wire.from,
                wire.to,
                at(wire)
            );
            bad(findings, TEST, self.design.place(line), what);
        }
        for wire in self.design.avalon() {
            if !self.old.contains(&key(wire)) && !self.may_come(wire) {
                let what = format!(
                    "the connection {} → {} at {} belongs neither to the vendor's BSP nor to the block",
                    wire.from,
                    wire.to,
                    at(wire)
                );
                bad(findings, TEST, self.design.place(wire.line), what);
            }
        }
    }

    /// Checks that the arbiter's shares and each master's default slave are the vendor's, and that no new slave is a
    /// default slave.
    fn arbitration(&self, findings: &mut Findings) {
        let value = |wire: &Wire, name: &str, usual: &str| {
            let value = wire.parameters.get(name);
            value.map_or(usual.to_string(), |value| value.trim().to_lowercase())
        };
        for wire in self.design.avalon() {
            // If a bridge is now in front of a BAR's slaves, only the start of the connection differs.
            let same_end = |was: &&Wire| was.to == wire.to && base(was) == base(wire);
            let of_bar =
                |was: &Wire| is_bar(self.vendor, &was.from) && self.is_new_bridge(&wire.from);
            let mut old = self.vendor.avalon().filter(same_end);
            let was = old.find(|was| was.from == wire.from || of_bar(was));
            for (name, usual) in [("arbitrationPriority", "1"), ("defaultConnection", "false")] {
                let has = value(wire, name, usual);
                let wrong = match was {
                    Some(was) => has != value(was, name, usual),
                    None => name == "defaultConnection" && has != usual,
                };
                if wrong {
                    let want = was.map_or(usual.into(), |was| value(was, name, usual));
                    let what = format!(
                        "{name} of {} → {} is {has}; it must be {want}",
                        wire.from, wire.to
                    );
                    bad(findings, TEST, self.design.place(wire.line), what);
                }
            }
        }
    }

    /// Reports whether an end is the hard IP's port to PCIe.
    fn is_txs(&self, end: &str) -> bool {
        end.split_once('.').is_some_and(|(name, interface)| {
            interface == "Txs"
                && self
                    .vendor
                    .instance(name)
                    .is_some_and(|i| is_hard_ip(&i.kind))
        })
    }

    /// Reports whether a connection of the vendor's may be gone.
    fn may_go(&self, wire: &Wire) -> bool {
        let Some(block) = self.block else {
            return false;
        };
        let to_txs = leads_only(self.vendor, &wire.to, &|end| self.is_txs(end));
        let old_master = format!("{block}.m");
        if wire.from == old_master {
            let replaced = |name: &&str| {
                let from = format!("{block}.{name}");
                self.now.contains(&(&from, &wire.to, base(wire)))
            };
            return to_txs || MASTERS.iter().all(replaced);
        }
        let from = masters(self.vendor, &wire.from);
        if to_txs && !from.is_empty() && from.iter().all(|from| *from == old_master) {
            return true;
        }
        let is_slave = |end: &str| OLD_SLAVES.iter().any(|s| *end == format!("{block}.{s}"));
        let of_host = !from.is_empty() && from.iter().all(|from| is_bar(self.vendor, from));
        if of_host && leads_only(self.vendor, &wire.to, &is_slave) {
            return true;
        }
        is_bar(self.vendor, &wire.from)
            && self.design.avalon().any(|w| {
                let onward = format!("{}.m0", instance(&w.to));
                w.from == wire.from
                    && self.is_new_bridge(&w.to)
                    && self.now.contains(&(&onward, &wire.to, base(wire)))
            })
    }

    /// Reports whether a connection that the vendor's BSP does not have belongs to the extension, or to an instance
    /// that a user added.
    fn may_come(&self, wire: &Wire) -> bool {
        let there = |name: &str| self.design.instance(name).is_some();
        if !wire.instances().into_iter().all(there) {
            return false;
        }
        if let Some(block) = self.block {
            let of_block = |end: &str| {
                let (name, interface) = end.split_once('.')?;
                (name == block).then(|| interface.to_string())
            };
            if let Some(master) = of_block(&wire.from) {
                let from = format!("{block}.m");
                let memory = self.old.contains(&(&from, &wire.to, base(wire)))
                    && !leads_only(self.vendor, &wire.to, &|end| self.is_txs(end));
                return match master.as_str() {
                    "txs" => self.is_txs(&wire.to) && base(wire) == Some(0),
                    master => MASTERS.contains(&master) && memory,
                };
            }
            let from = masters(self.design, &wire.from);
            let of_host = !from.is_empty() && from.iter().all(|from| is_bar(self.design, from));
            if let Some(slave) = of_block(&wire.to) {
                let declared = self.bsp.declared.interfaces.get(&slave);
                return of_host
                    && declared.is_some_and(|(kind, side)| kind == "avalon" && side == "end");
            }
            // A bridge that the extension put between a BAR and its slaves.
            if is_bar(self.design, &wire.from) && self.is_new_bridge(&wire.to) {
                return wire.to.ends_with(".s0") && base(wire) == Some(0);
            }
            if self.is_new_bridge(&wire.from) && of_host {
                let was = |bar: &String| self.old.contains(&(bar, &wire.to, base(wire)));
                return from.iter().all(was);
            }
        }
        let new = |name: &str| self.vendor.instance(name).is_none();
        wire.instances().into_iter().any(new)
    }

    /// Reports whether an end belongs to a bridge that the vendor's BSP does not have.
    fn is_new_bridge(&self, end: &str) -> bool {
        let name = instance(end);
        self.vendor.instance(name).is_none()
            && self
                .design
                .instance(name)
                .is_some_and(|i| is_bridge(&i.kind))
    }
}

/// Formats a base address.
fn at(wire: &Wire) -> String {
    base(wire).map_or_else(
        || "an address that is not a number".into(),
        |at| format!("{at:#x}"),
    )
}
