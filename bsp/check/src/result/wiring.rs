//! Clocks, resets, interrupts and exports: the block's are connected, the vendor's are unchanged.

use std::collections::{BTreeMap, BTreeSet};

use crate::Findings;
use crate::read::design::{Design, Instance, Wire, instance};
use crate::read::number;
use crate::result::names::{is_bridge, is_hard_ip, is_streaming};
use crate::result::{Bsp, OLD, bad, new_faults, stream};

/// The hard IP's status, which a block with a TLP port passes on.
const STATUS: &str = "hip_status_drv";
/// Interfaces for which [`hard_ip`] and the tests of packets and resets report more than a missing connection.
const ELSEWHERE: [&str; 3] = ["pcie_clk", "pcie_reset", "coreclkout_hip"];
const TEST: &str = "wiring";

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    let before = findings.found();
    let mut count = 0;
    for design in bsp.all() {
        count += design.wires.len();
        new_faults(findings, TEST, design, bsp.was(design), numbers);
        let Some(vendor) = bsp.was(design) else {
            continue;
        };
        kept(design, vendor, findings);
        added(design, vendor, findings);
        bridges(design, vendor, findings);
    }
    for (design, block) in bsp.with_block() {
        connected(bsp, design, block, bsp.was(design), findings);
        hard_ip(bsp, design, block, findings);
    }
    if findings.unchanged(before) {
        let what =
            format!("{count} connections: the vendor's are unchanged, the block's are correct");
        findings.good(TEST, what);
    }
}

/// Counts the connections at an interface and its exports.
fn in_use(design: &Design, end: &str) -> usize {
    let wires = design
        .wires
        .iter()
        .filter(|w| w.from == end || w.to == end)
        .count();
    wires + design.outside.iter().filter(|o| o.inside == end).count()
}

/// Returns the connections of the vendor's that are gone without a reason of the extension's; [`kept`] reports each.
fn lost<'a>(design: &'a Design, vendor: &'a Design) -> impl Iterator<Item = &'a Wire> {
    let there = |name: &str| design.instance(name).is_some();
    vendor.wires.iter().filter(move |was| {
        was.kind != "avalon"
            // A connection of an instance that is gone went with the instance, which another test checks.
            && was.instances().into_iter().all(there)
            && !is_in(design, was)
            && !(was.kind == "interrupt" && through_the_block(design, vendor, was))
    })
}

/// Reports whether [`kept`] reports this end, so that no other test has to.
fn is_told(design: &Design, vendor: &Design, end: &str) -> bool {
    lost(design, vendor).any(|was| was.to == end || was.from == end)
}

/// Reports whether a system has a connection of another's.
fn is_in(design: &Design, wire: &Wire) -> bool {
    let ends = |w: &Wire| (w.kind == wire.kind, w.from == wire.from, w.to == wire.to);
    design.wires.iter().any(|w| ends(w) == (true, true, true))
}

/// Checks interrupt numbers, and inputs that can have only one source.
fn numbers(design: &Design) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut irqs = BTreeMap::new();
    let mut clocked = BTreeSet::new();
    for wire in &design.wires {
        if wire.kind == "clock" && !clocked.insert(&wire.to) {
            found.push((wire.line, format!("{} has two clocks", wire.to)));
        }
        if wire.kind != "interrupt" {
            continue;
        }
        let text = wire.parameters.get("irqNumber").map_or("0", String::as_str);
        let Some(irq) = number(text) else {
            let what = format!(
                "the interrupt number of {} is \"{text}\", which is not a number",
                wire.to
            );
            found.push((wire.line, what));
            continue;
        };
        if let Some(other) = irqs.insert((&wire.from, irq), &wire.to) {
            let what = format!(
                "{} and {other} are both interrupt {irq} of {}",
                wire.to, wire.from
            );
            found.push((wire.line, what));
        }
    }
    found
}

/// Compares the connections and exports of the vendor's that the extension does not change.
fn kept(design: &Design, vendor: &Design, findings: &mut Findings) {
    numbered(design, vendor, findings);
    // The comparison is with the vendor's system as converted to a TLP port.
    let streams = design.instances.iter().any(|i| is_streaming(&i.kind));
    let whose = match streams {
        true => "with a TLP port it must have",
        false => "in the vendor's BSP it has",
    };
    // The test of packets reports why a clock that is not on a global network is wrong.
    for was in lost(design, vendor).filter(|was| !stream::is_straight(design, &was.to)) {
        let mut instead = design
            .wires
            .iter()
            .filter(|w| (&w.kind, &w.to) == (&was.kind, &was.to) && !is_in(vendor, w));
        let (line, has) = match instead.next() {
            Some(wire) => (wire.line, format!("{} instead", wire.from)),
            None => {
                let name = instance(&was.to);
                let line = design.instance(name).map_or(1, |i| i.line);
                (line, "nothing".into())
            }
        };
        let what = format!(
            "{} has the {} of {has}; {whose} that of {}",
            was.to, was.kind, was.from
        );
        bad(findings, TEST, design.place(line), what);
    }
    exports(design, vendor, findings);
}

/// Checks the numbers of the vendor's interrupts that still exist.
fn numbered(design: &Design, vendor: &Design, findings: &mut Findings) {
    let irq = |wire: &Wire| {
        let text = wire.parameters.get("irqNumber");
        text.map_or(Some(0), |n| number(n))
    };
    let said = |wire: &Wire| irq(wire).map_or("?".into(), |n| n.to_string());
    for was in vendor.wires.iter().filter(|w| w.kind == "interrupt") {
        let ends = (&was.from, &was.to);
        let all = design.wires.iter().filter(|w| w.kind == was.kind);
        let now: Vec<_> = all.filter(|w| (&w.from, &w.to) == ends).collect();
        if let Some(wire) = now.first()
            && now.iter().all(|w| irq(w) != irq(was))
        {
            let what = format!(
                "{} is interrupt {} of {}; in the vendor's BSP it is {}",
                was.to,
                said(wire),
                was.from,
                said(was)
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
    }
}

fn exports(design: &Design, vendor: &Design, findings: &mut Findings) {
    for was in &vendor.outside {
        let Some(inner) = design.instance(instance(&was.inside)) else {
            continue;
        };
        match design.outside.iter().find(|o| o.name == was.name) {
            Some(now) if now.inside == was.inside => {
                for (port, inside) in was
                    .ports
                    .iter()
                    .filter(|(port, inside)| now.ports.get(*port) != Some(*inside))
                {
                    let has = now.ports.get(port).map_or("gone", String::as_str);
                    let what = format!(
                        "the port {port} of the export {} is {has}; it must be {inside}",
                        was.name
                    );
                    bad(findings, TEST, design.place(now.line), what);
                }
            }
            Some(now) => {
                let inside = match now.inside.as_str() {
                    "" => "nothing",
                    inside => inside,
                };
                let what = format!(
                    "{} is {inside}; in the vendor's BSP it is {}",
                    now.name, was.inside
                );
                bad(findings, TEST, design.place(now.line), what);
            }
            None => bad(
                findings,
                TEST,
                design.place(inner.line),
                format!("the export {} of {} is missing", was.name, was.inside),
            ),
        }
    }
}

/// Reports whether, with MSI-X, an interrupt of the vendor's reaches the block instead of the hard IP.
fn through_the_block(design: &Design, vendor: &Design, was: &Wire) -> bool {
    let of_hip = vendor
        .instance(instance(&was.from))
        .is_some_and(|i| is_hard_ip(&i.kind));
    of_hip
        && design.wires.iter().any(|w| {
            let block = instance(&w.from);
            w.kind == "interrupt"
                && w.to == was.to
                && vendor.instance(block).is_some_and(|i| i.kind == OLD)
        })
}

/// Checks that connections that the vendor's BSP did not have belong to the block, or to a new instance.
fn added(design: &Design, vendor: &Design, findings: &mut Findings) {
    let ours = |name: &str| vendor.instance(name).is_none_or(|i| i.kind == OLD);
    for wire in design.wires.iter().filter(|w| w.kind != "avalon") {
        if !is_in(vendor, wire)
            && !is_told(design, vendor, &wire.to)
            && !stream::is_straight(design, &wire.to)
            && !wire.instances().into_iter().any(ours)
        {
            let what = format!(
                "the {} connection {} → {} belongs neither to the vendor's BSP nor to the block",
                wire.kind, wire.from, wire.to
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
    }
}

/// Checks clocks and resets of bridges. Inputs that the vendor left open may stay open.
fn bridges(design: &Design, vendor: &Design, findings: &mut Findings) {
    for bridge in design.instances.iter().filter(|i| is_bridge(&i.kind)) {
        // Names of Embedded Peripherals IP user guide 683130.
        let sinks: &[&str] = match bridge.kind.as_str() {
            "altera_avalon_mm_bridge" => &["clk", "reset"],
            "altera_avalon_mm_clock_crossing_bridge" => {
                &["s0_clk", "s0_reset", "m0_clk", "m0_reset"]
            }
            _ => &[],
        };
        for sink in sinks {
            let end = format!("{}.{sink}", bridge.name);
            let open_before = vendor.instance(&bridge.name).is_some() && in_use(vendor, &end) == 0;
            if in_use(design, &end) == 0 && !open_before && !is_told(design, vendor, &end) {
                bad(
                    findings,
                    TEST,
                    design.place(bridge.line),
                    format!("{end} is not connected"),
                );
            }
        }
    }
}

/// Checks that every interface that the block's component declares is connected.
fn connected(
    bsp: &Bsp,
    design: &Design,
    block: &Instance,
    vendor: Option<&Design>,
    findings: &mut Findings,
) {
    for (name, (kind, side)) in &bsp.declared.interfaces {
        // A clock output may feed many inputs.
        let feeds = kind == "clock" && side == "start";
        let end = format!("{}.{name}", block.name);
        let count = in_use(design, &end);
        let place = || design.place(block.line);
        let told = |v: &Design| is_told(design, v, &end);
        if count == 0 && (name == STATUS || ELSEWHERE.contains(&name.as_str())) {
            // For a driver that a user adds, or reported together with its required source.
        } else if count == 0 && vendor.is_some_and(told) {
            // Reported together with the connection of the vendor's BSP.
        } else if count == 0 {
            // An interface that the old DMA, or the hard IP that the block replaces here, had too.
            let of_hip = matches!(name.as_str(), "kernel_irq" | "Cra");
            let kept = matches!(name.as_str(), "reset" | "s_nondma" | "dma_irq")
                || of_hip && stream::is_in_front(design, &end);
            match kept && vendor.is_some_and(|v| in_use(v, &end) == 0) {
                true => findings.note(
                    TEST,
                    place(),
                    format!("{end} is not connected; it is not in the vendor's BSP either"),
                ),
                false => bad(findings, TEST, place(), format!("{end} is not connected")),
            }
        } else if count > 1
            && !feeds
            && matches!(kind.as_str(), "clock" | "conduit" | "avalon_streaming")
        {
            bad(
                findings,
                TEST,
                place(),
                format!("{end} has {count} connections"),
            );
        }
    }
    for wire in design
        .wires
        .iter()
        .filter(|w| w.instances().contains(&block.name.as_str()))
    {
        for end in [&wire.from, &wire.to] {
            let interface = end.strip_prefix(&format!("{}.", block.name));
            if let Some(interface) = interface
                && !bsp.declared.interfaces.contains_key(interface)
            {
                bad(
                    findings,
                    TEST,
                    design.place(wire.line),
                    format!("the block has no interface {interface}"),
                );
            }
        }
    }
}

/// Checks that the block's PCIe side is the hard IP's: its clock, its port, its interrupts.
fn hard_ip(bsp: &Bsp, design: &Design, block: &Instance, findings: &mut Findings) {
    let mut hips = design.instances.iter().filter(|i| is_hard_ip(&i.kind));
    let (Some(hip), None) = (hips.next(), hips.next()) else {
        let what = "the number of PCIe hard IPs next to the block is not one".to_string();
        return bad(findings, TEST, design.place(block.line), what);
    };
    let of_hip = |end: &str, interface: &str| {
        end.split_once('.')
            .is_some_and(|(i, name)| i == hip.name && name.starts_with(interface))
    };
    let clock = format!("{}.pcie_clk", block.name);
    // With a TLP port the hard IP's clock goes through the block.
    let through = format!("{}.coreclkout", block.name);
    let is_right = |from: &str| match is_streaming(&hip.kind) {
        true => from == through,
        false => of_hip(from, "coreclkout"),
    };
    let kept = |vendor: &Design| is_told(design, vendor, &clock);
    let told = stream::is_straight(design, &clock) || bsp.was(design).is_some_and(kept);
    if !design.clock(&clock).is_some_and(is_right) && !told {
        let what = format!("{clock} is not the clock of {} (coreclkout)", hip.name);
        bad(findings, TEST, design.place(block.line), what);
    }
    if is_streaming(&hip.kind) {
        // The test of packets checks the rest.
        return;
    }
    // Bits that a master drives beyond the slave's width would be lost.
    for (parameter, role) in [
        ("TX_S_ADDR_WIDTH", "address"),
        ("avmm_width_hwtcl", "writedata"),
    ] {
        let (has, want) = (hip.number(parameter), bsp.declared.width("txs", role));
        if has != want {
            let words = |n: Option<u64>| n.map_or("not set".into(), |n| format!("{n} bits"));
            let what = format!(
                "{parameter} of {} is {}, but the block's port has {}",
                hip.name,
                words(has),
                words(want)
            );
            bad(findings, TEST, design.place(hip.line), what);
        }
    }
    let port = format!("{}.txs", block.name);
    for wire in design.wires.iter().filter(|w| w.kind == "avalon") {
        let at_zero = wire
            .parameters
            .get("baseAddress")
            .is_none_or(|base| number(base) == Some(0));
        match (wire.from == port, of_hip(&wire.to, "Txs")) {
            (true, true) if at_zero => {}
            (true, _) | (_, true) => {
                let what = format!(
                    "{} → {}: only the block may drive Txs, at address 0",
                    wire.from, wire.to
                );
                bad(findings, TEST, design.place(wire.line), what);
            }
            (false, false) => {}
        }
    }
    let irq = format!("{}.dma_irq", block.name);
    for wire in design.into("interrupt", &irq) {
        let receiver = design.interrupted(&wire.from);
        if of_hip(receiver, "RxmIrq") {
            continue;
        }
        let what = format!("{irq} interrupts {receiver}, not {}.RxmIrq", hip.name);
        let old = bsp.was(design).is_some_and(|vendor| {
            let mut old = vendor.into("interrupt", &irq);
            old.any(|w| vendor.interrupted(&w.from) == receiver)
        });
        match old {
            true => findings.note(
                TEST,
                design.place(wire.line),
                format!(
                    "{what}, as in the vendor's BSP; the path from there to the host was not tested"
                ),
            ),
            false => bad(findings, TEST, design.place(wire.line), what),
        }
    }
}
