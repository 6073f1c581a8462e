//! Base addresses: numbers, multiples of the slave's span, apart from each other, and unchanged for the vendor's
//! slaves. Two slaves at one address and a base that is not a number are faults in any BSP: the driver uses these
//! addresses.

use std::collections::BTreeMap;

use crate::Findings;
use crate::read::design::{Design, Instance, Wire, instance};
use crate::read::number;
use crate::result::avalon::is_bar;
use crate::result::names::{is_bridge, is_hard_ip};
use crate::result::{BLOCK, Bsp, OLD, bad, new_faults};
use peerlane_bsp_generate::build::Build;

const TEST: &str = "bases";
/// Most systems inside each other that are searched.
pub(super) const DEPTH: u32 = 8;
/// Most slaves of one BAR that are compared.
const MOST_SLAVES: usize = 10_000;

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) {
    let before = findings.found();
    let mut count = 0;
    // Other faults that the vendor's BSP has too are notes.
    for (design, vendor) in bsp.replaced() {
        count += design.avalon().count();
        let of = |design: &Design, always: bool| -> Vec<(usize, String)> {
            let faults = faults(bsp, design).into_iter();
            let faults = faults.filter(|fault| fault.always == always);
            faults.map(|fault| (fault.line, fault.what)).collect()
        };
        let had = of(vendor, true);
        for (line, mut what) in of(design, true) {
            if had.iter().any(|(_, had)| *had == what) {
                what += "; in the vendor's BSP too";
            }
            bad(findings, TEST, design.place(line), what);
        }
        new_faults(findings, TEST, design, Some(vendor), |design| {
            of(design, false)
        });
        same_places(design, vendor, findings);
    }
    for (design, block) in bsp.with_block() {
        as_recorded(design, bsp, block, build, findings);
    }
    if findings.unchanged(before) {
        findings.good(TEST, format!("{count} base addresses without an overlap"));
    }
}

/// Checks that the host reaches the block's slaves where the record says.
fn as_recorded(
    design: &Design,
    bsp: &Bsp,
    block: &Instance,
    build: &Build,
    findings: &mut Findings,
) {
    let reached = reached(design);
    let slaves = bsp.declared.interfaces.iter();
    let slaves = slaves.filter(|(_, (kind, side))| kind == "avalon" && side == "end");
    for (name, _) in slaves {
        let places = reached.get(&format!("{}.{name}", block.name));
        let has = places.cloned().unwrap_or_default();
        let bar = format!(".Rxm_BAR{}", build.bar);
        let want = build.slaves.get(name).map(|&at| u128::from(at));
        let mut there = has.iter().filter(|(master, _)| master.ends_with(&bar));
        if there.next().map(|(_, at)| *at) != want {
            let want = want.map_or("none".into(), |at| format!("{at:#x} of BAR {}", build.bar));
            let what = format!(
                "the host reaches {}.{name} at {}; the record has {want}",
                block.name,
                list(&has)
            );
            bad(findings, TEST, design.place(block.line), what);
        }
    }
}

/// Returns the base address of a connection; 0 if it has none, like Platform Designer.
pub(super) fn base(wire: &Wire) -> Option<u128> {
    let text = wire.parameters.get("baseAddress");
    text.map_or(Some(0), |text| number(text).map(u128::from))
}

/// A fault in a system's base addresses.
struct Fault {
    line: usize,
    what: String,
    /// Whether it is a fault even if the vendor's BSP has it too.
    always: bool,
}

/// Finds the faults in the base addresses of a system.
fn faults(bsp: &Bsp, design: &Design) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut masters: BTreeMap<&str, Vec<(u128, &Wire)>> = BTreeMap::new();
    for wire in design.avalon() {
        match base(wire) {
            Some(base) => masters.entry(&wire.from).or_default().push((base, wire)),
            None => {
                let text = wire.parameters.get("baseAddress");
                let text = text.map_or("", String::as_str);
                let what = format!(
                    "the base address of {} on {} is \"{text}\", which is not a number",
                    wire.to, wire.from
                );
                faults.push(Fault {
                    line: wire.line,
                    what,
                    always: true,
                });
            }
        }
    }
    for slaves in masters.into_values() {
        faults.extend(misplaced(bsp, design, slaves));
    }
    faults
}

/// Finds the faults in the base addresses of one master's slaves.
fn misplaced(bsp: &Bsp, design: &Design, mut slaves: Vec<(u128, &Wire)>) -> Vec<Fault> {
    let mut faults = Vec::new();
    slaves.sort_by_key(|(base, _)| *base);
    let mut highest: Option<(u128, &Wire)> = None;
    for (base, wire) in slaves {
        let mut fault = |what: String, always: bool| {
            faults.push(Fault {
                line: wire.line,
                what,
                always,
            });
        };
        let known = span(bsp, design, &wire.to, DEPTH);
        // A slave whose span is not known takes a word.
        let bytes = known.unwrap_or(4).max(1);
        // Platform Designer demands that a base is a multiple of the span, rounded up to a power of two.
        if let Some(bytes) = known.map(u128::next_power_of_two)
            && base % bytes != 0
        {
            let what = format!(
                "{} takes {bytes:#x} bytes and is at {base:#x}, not at a multiple of its size",
                wire.to
            );
            fault(what, false);
        }
        if let Some((end, other)) = highest.filter(|(end, _)| *end > base) {
            let what = format!(
                "on {}, {} at {base:#x} overlaps {}, which ends at {:#x}",
                wire.from,
                wire.to,
                other.to,
                end - 1
            );
            fault(what, true);
        }
        let end = base + bytes;
        if let Some(reach) = reach(bsp, design, &wire.from).filter(|reach| end > *reach) {
            let what = format!(
                "{} ends at {end:#x}, above the {reach:#x} that {} reaches",
                wire.to, wire.from
            );
            fault(what, false);
        }
        if highest.is_none_or(|(other, _)| end > other) {
            highest = Some((end, wire));
        }
    }
    faults
}

/// Returns the bytes that a master reaches, if known.
fn reach(bsp: &Bsp, design: &Design, master: &str) -> Option<u128> {
    let (name, interface) = master.split_once('.')?;
    let found = design.instance(name)?;
    if is_bar(design, master) && found.kind == BLOCK {
        let hip = design.instances.iter().find(|i| is_hard_ip(&i.kind))?;
        let bar = interface.rsplit("BAR").next()?;
        let bits = hip.number(&format!("bar{bar}_size_mask_hwtcl"))?;
        return (1..64).contains(&bits).then(|| 1 << bits);
    }
    if found.kind == BLOCK {
        // Avalon Interface Specifications 683091, "address": a master's address counts bytes.
        let bits = bsp.declared.width(interface, "address")?;
        return (bits < 128).then(|| 1 << bits);
    }
    if is_hard_ip(&found.kind) {
        let bar = interface.rsplit("BAR").next()?;
        let bits = found.number(&format!("SLAVE_ADDRESS_MAP_{bar}"))?;
        return (1..64).contains(&bits).then(|| 1 << bits);
    }
    match interface {
        "m0" if is_bridge(&found.kind) && found.number("USE_AUTO_ADDRESS_WIDTH") != Some(1) => {
            let bits = found.number("ADDRESS_WIDTH").filter(|&bits| bits <= 64)?;
            Some((1u128 << bits) * unit(found))
        }
        _ => None,
    }
}

/// Returns the bytes of a slave's span, if public documents or the BSP's own files give them.
pub(super) fn span(bsp: &Bsp, design: &Design, end: &str, depth: u32) -> Option<u128> {
    let (name, interface) = end.split_once('.')?;
    let found = design.instance(name)?;
    if found.kind == BLOCK {
        return bsp.declared.span(interface);
    }
    if let (Some(inner), Some(depth)) = (bsp.inner(design, &found.kind), depth.checked_sub(1)) {
        let export = inner.outside.iter().find(|o| o.name == interface)?;
        return span(bsp, inner, &export.inside, depth);
    }
    let bits = |name: &str| found.number(name).filter(|&bits| bits <= 64);
    match (found.kind.as_str(), interface) {
        // Embedded Peripherals IP user guide 683130, "Avalon-MM Pipeline Bridge" and "Clock Crossing Bridge".
        (kind, "s0") if is_bridge(kind) && found.number("USE_AUTO_ADDRESS_WIDTH") == Some(1) => {
            behind(bsp, design, &found.name, depth.checked_sub(1)?)
        }
        (kind, "s0") if is_bridge(kind) => Some((1u128 << bits("ADDRESS_WIDTH")?) * unit(found)),
        ("altera_avalon_onchip_memory2", "s1") => found.number("memorySize").map(u128::from),
        // Stratix V Avalon-MM user guide 683411, "Control Register Access": 14 address bits.
        (kind, "Cra") if is_hard_ip(kind) => Some(0x4000),
        // The SDK's components, as in the .sopcinfo of a system that Quartus 18.1 generated (addressSpan).
        ("acl_kernel_clk", "ctrl") => Some(0x800),
        ("kernel_interface", "ctrl") => Some(0x4000),
        ("version_id" | "uniphy_status", "s") => Some(4),
        (OLD, "csr") => Some(0x400),
        (OLD, "s_nondma") => Some(0x1_0000),
        (kind, "Txs") if is_hard_ip(kind) => Some(1u128 << bits("TX_S_ADDR_WIDTH")?),
        _ => None,
    }
}

/// Returns the span of a bridge whose address is as wide as its slaves need (the same user guide, "Use
/// automatically-determined address width"). Its `ADDRESS_WIDTH` is an earlier setting, without effect.
fn behind(bsp: &Bsp, design: &Design, bridge: &str, depth: u32) -> Option<u128> {
    let master = format!("{bridge}.m0");
    let mut end = 0;
    for wire in design.avalon().filter(|w| w.from == master) {
        let bytes = span(bsp, design, &wire.to, depth)?;
        end = end.max(base(wire)?.checked_add(bytes)?);
    }
    (end > 0).then(|| end.checked_next_power_of_two()).flatten()
}

/// Returns the bytes of one step of a bridge's address.
fn unit(bridge: &Instance) -> u128 {
    match bridge.parameters.get("ADDRESS_UNITS").map(String::as_str) {
        Some("WORDS") => bridge
            .number("DATA_WIDTH")
            .map_or(4, |bits| u128::from(bits / 8))
            .max(1),
        _ => 1,
    }
}

/// Checks that the host reaches each slave of the vendor's through a BAR where it did before.
fn same_places(design: &Design, vendor: &Design, findings: &mut Findings) {
    let now = reached(design);
    for (slave, places) in reached(vendor) {
        let name = instance(&slave);
        if vendor.instance(name).is_none_or(|i| i.kind == OLD) || design.instance(name).is_none() {
            continue;
        }
        let has = now.get(&slave).cloned().unwrap_or_default();
        if has != places {
            let what = format!(
                "the host reaches {slave} at {}, in the vendor's BSP at {}",
                list(&has),
                list(&places)
            );
            bad(
                findings,
                TEST,
                design.place(design.instance(name).map_or(1, |i| i.line)),
                what,
            );
        }
    }
}

fn list(places: &[(String, u128)]) -> String {
    let words = places.iter().map(|(bar, at)| format!("{at:#x} of {bar}"));
    match places.is_empty() {
        true => "no place".into(),
        false => words.collect::<Vec<_>>().join(", "),
    }
}

/// Returns the places in the hard IP's BARs of every slave that is not a bridge, found through bridges.
pub(super) fn reached(design: &Design) -> BTreeMap<String, Vec<(String, u128)>> {
    let mut from: BTreeMap<&str, Vec<&Wire>> = BTreeMap::new();
    for wire in design.wires.iter().filter(|w| w.kind == "avalon") {
        from.entry(&wire.from).or_default().push(wire);
    }
    let mut found: BTreeMap<String, Vec<(String, u128)>> = BTreeMap::new();
    for (master, _) in from
        .iter()
        .filter(|(master, _)| master.contains(".Rxm_BAR"))
    {
        let mut open = vec![(master.to_string(), 0u128, 0)];
        let mut looked = 0;
        while let Some((master_now, offset, depth)) = open.pop() {
            for wire in from.get(master_now.as_str()).into_iter().flatten() {
                looked += 1;
                if looked > MOST_SLAVES || depth > DEPTH {
                    break;
                }
                let at = offset + base(wire).unwrap_or(0);
                let name = instance(&wire.to);
                if design.instance(name).is_some_and(|i| is_bridge(&i.kind)) {
                    open.push((format!("{name}.m0"), at, depth + 1));
                } else {
                    found
                        .entry(wire.to.clone())
                        .or_default()
                        .push((master.to_string(), at));
                }
            }
        }
    }
    for places in found.values_mut() {
        places.sort();
    }
    found
}
