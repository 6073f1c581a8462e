//! Checks the resets of the block's two sides, and whether the block survives each of them.
//!
//! The block survives a reset of either side alone: it counts the transactions that are outstanding in both directions.
//! But it must be reset with its partner on each side. A memory that is reset without the block never sends the answers
//! that the block waits for. A block that is reset while its memory is not takes stale answers for new ones. The same
//! holds for the hard IP.

use std::collections::BTreeSet;

use crate::Findings;
use crate::read::design::{Design, Instance, Wire, instance};
use crate::result::avalon::is_bar;
use crate::result::names::{is_bridge, is_hard_ip, is_streaming};
use crate::result::{Bsp, bad, logic};

const TEST: &str = "resets";

/// Checks that the block is reset with the hard IP, and its memory side with the slaves of its masters.
pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    let before = findings.found();
    let mut said = Vec::new();
    for (design, block) in bsp.with_block() {
        let memory = roots(design, &format!("{}.reset", block.name));
        let pcie = roots(design, &format!("{}.pcie_reset", block.name));
        with_hard_ip(bsp, design, block, &pcie, findings);
        with_memory(design, block, &memory, findings);
        bridges(bsp, design, &pcie, findings);
        domains(bsp, design, block, findings);
        if let Some(vendor) = bsp.was(design) {
            let ours = Ours {
                design,
                vendor,
                block: &block.name,
                host_sinks: host_sinks(design, vendor, &block.name),
            };
            ours.added(findings);
            ours.more_roots("reset", findings);
            ours.more_roots("pcie_reset", findings);
        }
        let alone: BTreeSet<_> = memory.symmetric_difference(&pcie).cloned().collect();
        said.push(match alone.is_empty() {
            true => format!("{} reset both sides of the block", list(&memory)),
            false => format!(
                "{} reset one side of the block alone, which the block tolerates",
                list(&alone)
            ),
        });
    }
    if findings.unchanged(before) {
        findings.good(TEST, said.join("; "));
    }
}

fn with_hard_ip(
    bsp: &Bsp,
    design: &Design,
    block: &Instance,
    pcie: &BTreeSet<String>,
    findings: &mut Findings,
) {
    let Some(hip) = design.instances.iter().find(|i| is_hard_ip(&i.kind)) else {
        return;
    };
    // With a TLP port the block makes this reset.
    let from = if is_streaming(&hip.kind) { block } else { hip };
    let status = format!("{}.nreset_status", from.name);
    if pcie.contains(&status) {
        return;
    }
    let what = format!(
        "{}.pcie_reset comes from {}, not from {status}: a reset of the hard IP would leave the block waiting in the \
         middle of a burst",
        block.name,
        list(pcie)
    );
    // The vendor relied on an instance of an unknown kind to pass the reset on: the vendor's host bus has the same
    // reset.
    let unknown = pcie.iter().find(|root| {
        let name = instance(root);
        let takes = design
            .resets()
            .any(|w| w.from == status && instance(&w.to) == name);
        let old = bsp.was(design).is_some_and(|vendor| {
            let host = vendor.avalon().find(|w| instance(&w.from) == hip.name);
            let host = host.map_or("", |w| instance(&w.to));
            vendor
                .resets()
                .any(|w| w.from == **root && instance(&w.to) == host)
        });
        takes && old
    });
    match unknown {
        Some(root) => {
            let kind = design.instance(instance(root)).map_or("", |i| i.kind.as_str());
            let what = format!(
                "{}.pcie_reset comes from {root}, as the reset of the host's bus does in the vendor's BSP; whether \
                 {kind} passes {status} on was not tested",
                block.name
            );
            findings.note(TEST, design.place(block.line), what);
        }
        None => findings.bad(
            TEST,
            design.place(block.line),
            what,
            "Connect the hard IP's nreset_status, through a reset controller, to the block's pcie_reset.",
        ),
    }
}

fn with_memory(
    design: &Design,
    block: &Instance,
    memory: &BTreeSet<String>,
    findings: &mut Findings,
) {
    let mut unknown = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let masters = ["mem_rd", "mem_wr", "mem_win"].map(|m| format!("{}.{m}", block.name));
    for wire in design.avalon().filter(|w| masters.contains(&w.from)) {
        let Some(sink) = reset_of(design, &wire.to) else {
            unknown.insert(wire.to.clone());
            continue;
        };
        if !seen.insert(sink) {
            continue;
        }
        let there = roots(design, sink);
        let alone: BTreeSet<_> = there.difference(memory).cloned().collect();
        if !alone.is_empty() {
            findings.bad(
                TEST,
                design.place(wire.line),
                format!(
                    "{} resets {sink}, but not {}.reset: the block would wait for completions that never come",
                    list(&alone),
                    block.name
                ),
                "Connect it also to the reset controller of the block's memory side.",
            );
        }
        let alone: BTreeSet<_> = memory.difference(&there).cloned().collect();
        if !alone.is_empty() {
            findings.bad(
                TEST,
                design.place(wire.line),
                format!(
                    "{} resets {}.reset, but not {sink}: the block would take earlier completions for new ones",
                    list(&alone),
                    block.name
                ),
                "Connect it also to that reset, or disconnect it from the block's reset.",
            );
        }
    }
    if !unknown.is_empty() {
        let what = format!(
            "no reset is connected to {}: whether the memory is reset with {}.reset was not tested",
            unknown.into_iter().collect::<Vec<_>>().join(", "),
            block.name
        );
        findings.note(TEST, design.place(block.line), what);
    }
}

/// Checks that a bridge that the extension put in front of a BAR's slaves is reset with the block's PCIe side.
/// Otherwise the bridge would hold a transfer that never ends, or lose one that the host waits for.
fn bridges(bsp: &Bsp, design: &Design, pcie: &BTreeSet<String>, findings: &mut Findings) {
    let Some(vendor) = bsp.was(design) else {
        return;
    };
    let new = |i: &&Instance| is_bridge(&i.kind) && vendor.instance(&i.name).is_none();
    for bridge in design.instances.iter().filter(new) {
        let slave = format!("{}.s0", bridge.name);
        let of_bar = design
            .avalon()
            .any(|w| w.to == slave && is_bar(design, &w.from));
        let has = roots(design, &format!("{}.reset", bridge.name));
        // The test of wiring reports a bridge without a reset.
        if !of_bar || has.is_empty() || has == *pcie {
            continue;
        }
        let what = format!(
            "{}.reset comes from {}, but {} resets the block's PCIe side",
            bridge.name,
            list(&has),
            list(pcie)
        );
        bad(findings, TEST, design.place(bridge.line), what);
    }
}

/// Checks that a new reset comes out of a controller in the clock domain of its sink.
fn domains(bsp: &Bsp, design: &Design, block: &Instance, findings: &mut Findings) {
    let Some(vendor) = bsp.was(design) else {
        return;
    };
    let old: BTreeSet<_> = vendor.resets().map(|w| (&w.from, &w.to)).collect();
    for wire in design.resets().filter(|w| !old.contains(&(&w.from, &w.to))) {
        let to = instance(&wire.to);
        let ours = to == block.name
            || vendor.instance(to).is_none()
                && design.instance(to).is_some_and(|i| is_bridge(&i.kind));
        let from = design.instance(instance(&wire.from));
        if !ours || from.is_none_or(|i| i.kind != "altera_reset_controller") {
            continue;
        }
        // Clocks and resets belong together by name: `reset` and `clk`, `pcie_reset` and `pcie_clk`.
        let clock = wire.to.replace("reset", "clk");
        let there = design.clock(&clock);
        let here = design.clock(&format!("{}.clk", instance(&wire.from)));
        if here.is_some() && there.is_some() && here != there {
            let what = format!(
                "{} is a reset in the clock domain of {}, but {} is in that of {}",
                wire.from,
                here.unwrap_or_default(),
                wire.to,
                there.unwrap_or_default()
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
    }
}

/// The block's resets, compared with the vendor's system. The block survives a reset of one side alone, but the
/// transfers in progress are lost. So a side may have only the resets that `extend` gave it.
struct Ours<'a> {
    design: &'a Design,
    vendor: &'a Design,
    block: &'a str,
    host_sinks: BTreeSet<String>,
}

/// Returns the sinks of the vendor's whose resets the PCIe side takes: those of the first instance after a BAR, by the
/// names of Platform Designer's bridges.
fn host_sinks(design: &Design, vendor: &Design, block: &str) -> BTreeSet<String> {
    let bars = vendor.avalon();
    let bars = bars.filter(|w| is_bar(vendor, &w.from) || is_bar(design, &w.from));
    let first = bars.map(|w| instance(&w.to)).filter(|i| *i != block);
    first
        .flat_map(|name| ["reset", "s0_reset"].map(|sink| format!("{name}.{sink}")))
        .collect()
}

impl Ours<'_> {
    /// Reports whether a connection leads a reset of the host's bus to the block, or to a new bridge between a BAR and
    /// its slaves.
    fn is_of_host(&self, wire: &Wire) -> bool {
        let mut old = self.vendor.resets();
        let (name, interface) = wire.to.split_once('.').unwrap_or_default();
        let takes = match name == self.block {
            true => interface == "pcie_reset",
            false => interface == "reset" && self.is_bar_bridge(name),
        };
        takes && old.any(|w| w.from == wire.from && self.host_sinks.contains(&w.to))
    }

    fn is_new(&self, name: &str) -> bool {
        self.vendor.instance(name).is_none()
    }

    /// Reports whether an instance is a new bridge between a BAR and its slaves.
    fn is_bar_bridge(&self, name: &str) -> bool {
        let slave = format!("{name}.s0");
        let kind = self
            .design
            .instance(name)
            .is_some_and(|i| is_bridge(&i.kind));
        let mut wires = self.design.avalon();
        kind && self.is_new(name) && wires.any(|w| w.to == slave && is_bar(self.design, &w.from))
    }

    /// Returns the connections of the block, and of new bridges between a BAR and its slaves, that neither the vendor
    /// nor the extension made. The test of wiring reports those between two instances of the vendor's.
    fn strange(&self) -> impl Iterator<Item = &Wire> {
        let old: BTreeSet<_> = self.vendor.resets().map(|w| (&w.from, &w.to)).collect();
        self.design.resets().filter(move |wire| {
            let [from, to] = wire.instances();
            let ours = [from, to].contains(&self.block) || self.is_bar_bridge(to);
            // A connection from or to an instance that a user added is judged by its root.
            let by_hand = self.is_new(from) || self.is_new(to) && !self.is_bar_bridge(to);
            // The test of streams judges the resets of channels.
            let of_stream = to == self.block && logic::is_reset(&wire.to);
            let known = old.contains(&(&wire.from, &wire.to)) || self.is_of_host(wire);
            ours && !by_hand && !known && !of_stream
        })
    }

    fn added(&self, findings: &mut Findings) {
        for wire in self.strange() {
            findings.bad(
                TEST,
                self.design.place(wire.line),
                format!(
                    "the reset connection {} → {} belongs neither to the vendor's BSP nor to the block",
                    wire.from, wire.to
                ),
                "Remove the connection in Platform Designer.",
            );
        }
    }

    /// Reports additional resets of one side of the block that come through an instance that a user added. The test of
    /// wiring reports changes of the vendor's own connections.
    fn more_roots(&self, interface: &str, findings: &mut Findings) {
        let sink = format!("{}.{interface}", self.block);
        let sinks = match interface {
            "pcie_reset" => self.host_sinks.clone(),
            _ => BTreeSet::from([sink.clone()]),
        };
        let old: BTreeSet<_> = (sinks.iter())
            .flat_map(|sink| roots(self.vendor, sink))
            .collect();
        let into = self.design.resets().filter(|w| w.to == sink);
        let all = into.flat_map(|w| handed(self.design, &w.from));
        let added = all.filter(|source| self.is_new(instance(source)));
        let begin = added.flat_map(|source| begins(self.design, source));
        let more: BTreeSet<_> = begin
            .filter(|root| !self.is_new(instance(root)) && !old.contains(root))
            .collect();
        if more.is_empty() {
            return;
        }
        let line = self.design.instance(self.block).map_or(1, |i| i.line);
        findings.bad(
            TEST,
            self.design.place(line),
            format!(
                "{} resets {sink}; in the vendor's BSP it does not: transfers in progress would be lost",
                list(&more)
            ),
            "Disconnect it from the reset controllers that lead to it.",
        );
    }
}

fn list(roots: &BTreeSet<String>) -> String {
    match roots.is_empty() {
        true => "nothing".into(),
        false => roots.iter().cloned().collect::<Vec<_>>().join(", "),
    }
}

/// Returns the reset sink that belongs to a slave, if it is connected. Names are those of Platform Designer's bridges,
/// or `reset` for other instances, as the memory dividers of these BSPs have it.
fn reset_of<'a>(design: &'a Design, slave: &str) -> Option<&'a str> {
    let (name, interface) = slave.split_once('.')?;
    let sinks = [format!("{name}.{interface}_reset"), format!("{name}.reset")];
    sinks.iter().find_map(|sink| {
        let mut all = design.resets().map(|w| w.to.as_str());
        all.find(|to| to == sink)
    })
}

/// Returns the roots of a sink's resets: outputs of instances that neither gather resets nor pass them on.
fn roots(design: &Design, sink: &str) -> BTreeSet<String> {
    let into = design.resets().filter(|w| w.to == sink);
    into.flat_map(|w| begins(design, &w.from)).collect()
}

/// Returns the roots of a source's resets.
fn begins(design: &Design, source: &str) -> BTreeSet<String> {
    let all = handed(design, source).into_iter();
    let first = all.filter(|source| handed_on(design, source).is_empty());
    first.map(str::to_string).collect()
}

/// Returns a source and all sources whose resets it passes on.
fn handed<'a>(design: &'a Design, source: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![source];
    while let Some(source) = open.pop() {
        if found.insert(source) {
            let inputs = handed_on(design, source).into_iter();
            open.extend(inputs.map(|w| w.from.as_str()));
        }
    }
    found
}

/// Returns the resets that an output passes on (Platform Designer user guide 683364: "Reset Bridge", "Reset
/// Controller", "Clock Source").
fn handed_on<'a>(design: &'a Design, source: &str) -> Vec<&'a Wire> {
    let Some((name, interface)) = source.split_once('.') else {
        return Vec::new();
    };
    let kind = design.instance(name).map_or("", |i| i.kind.as_str());
    let input = match (kind, interface) {
        ("altera_reset_controller", "reset_out") => "reset_in",
        ("altera_reset_bridge", "out_reset") => "in_reset",
        ("clock_source", "clk_reset") => "clk_in_reset",
        _ => return Vec::new(),
    };
    let into = design.resets().filter(|w| {
        w.to.split_once('.')
            .is_some_and(|(to, end)| to == name && end.starts_with(input))
    });
    into.collect()
}
