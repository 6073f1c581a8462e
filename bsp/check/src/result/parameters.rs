//! Parameters of instances: unchanged, except those that the extension sets, which have the values that the block
//! needs.

use std::collections::BTreeMap;

use crate::Findings;
use crate::read::design::{Design, Instance, instance};
use crate::read::number;
use crate::result::addresses::{DEPTH, span};
use crate::result::avalon::is_bar;
use crate::result::names::{is_bridge, is_hard_ip, is_streaming};
use crate::result::{BLOCK, Bsp, bad, identity, interrupts, stream};
use peerlane_bsp_generate::build::Build;

const TEST: &str = "parameters";

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) {
    let before = findings.found();
    let mut count = 0;
    for (design, vendor) in bsp.replaced() {
        for now in &design.instances {
            match vendor.instance(&now.name) {
                // The test of packets compares them.
                Some(was) if is_streaming(&now.kind) => count += was.parameters.len(),
                Some(was) if was.kind == now.kind => {
                    count += was.parameters.len();
                    let set = set(bsp, design, vendor, now, build);
                    compare(design, was, now, &set, findings);
                }
                None if is_bridge(&now.kind) => inserted(design, now, findings),
                _ => {}
            }
        }
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "{count} parameters have the vendor's values, or the values that the block needs"
            ),
        );
    }
}

/// The values that a parameter may have that the extension sets.
pub(super) enum Set {
    /// This value.
    Is(String),
    /// The vendor's value or more.
    AtLeast,
    /// A list with as many numbers as the vendor's, none of them less.
    EachAtLeast,
    /// Anything: another parameter makes it void.
    Void,
}

/// Reports whether two values are the same. Newer versions of Platform Designer write some numbers with a point.
pub(super) fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim();
        number(text.strip_suffix(".0").unwrap_or(text))
    };
    one == other || plain(one).is_some_and(|n| plain(other) == Some(n))
}

/// Returns the parameters of an instance that the extension sets.
fn set(
    bsp: &Bsp,
    design: &Design,
    vendor: &Design,
    now: &Instance,
    build: &Build,
) -> BTreeMap<String, Set> {
    let beside_block = design.instances.iter().any(|i| i.kind == BLOCK);
    let mut set = BTreeMap::new();
    if now.kind == "version_id" {
        let was = vendor
            .instance(&now.name)
            .and_then(|was| was.parameters.get(identity::VERSION));
        if was.is_some_and(|was| identity::is_boards(was)) {
            // Platform Designer writes the number with a sign.
            let version = build.config.identity.version_id.cast_signed();
            set.insert(identity::VERSION.into(), Set::Is(version.to_string()));
        }
    }
    if is_hard_ip(&now.kind) && beside_block {
        let bits = bsp.declared.width("txs", "address").unwrap_or(64);
        // Stratix V Avalon-MM user guide 683411, "Avalon-MM System Settings": with 64-bit addresses the bridge
        // translates no address towards PCIe.
        for (name, value) in [
            ("AVALON_ADDR_WIDTH", bits),
            ("TX_S_ADDR_WIDTH", bits),
            ("BYPASSS_A2P_TRANSLATION", 0),
        ] {
            set.insert(name.into(), Set::Is(value.to_string()));
        }
        // The bridge of Arria V and Cyclone V waits for buffer space by itself.
        let looks_at_no_room = ["altera_pcie_sv_hip_avmm", "altera_pcie_avgz_hip_avmm"];
        if let Some(was) = vendor.instance(&now.name)
            && looks_at_no_room.contains(&now.kind.as_str())
        {
            for (name, value) in stream::receive_buffer(was) {
                set.insert(name.into(), Set::Is(value.into()));
            }
        }
        for (name, value) in identity::ids(&build.config.identity) {
            set.insert(name.into(), Set::Is(value.to_string()));
        }
        for (name, value) in interrupts::settings(bsp, build) {
            set.insert(name.into(), Set::Is(value.to_string()));
        }
        // A BAR is as large as its only slave, if the extension enlarged that slave.
        for wire in design.avalon().filter(|w| instance(&w.from) == now.name) {
            let bar = wire.from.rsplit("BAR").next().unwrap_or_default();
            if !is_bar(design, &wire.from) || bar != build.bar.to_string() {
                continue;
            }
            if let Some(bytes) = span(bsp, design, &wire.to, DEPTH) {
                let name = format!("SLAVE_ADDRESS_MAP_{bar}");
                let bits = bytes.next_power_of_two().trailing_zeros();
                let has = now.parameters.get(&name);
                let was = vendor.instance(&now.name);
                // The vendor's may be larger.
                if has != was.and_then(|was| was.parameters.get(&name)) {
                    set.insert(name, Set::Is(bits.to_string()));
                }
            }
        }
    }
    if now.kind == "alt_xcvr_reconfig" && build.config.has_tlp_port() {
        // For Gen3. The test of packets checks the number of interfaces and the equalisation.
        set.insert("number_of_reconfig_interfaces".into(), Set::AtLeast);
        set.insert("enable_adce".into(), Set::AtLeast);
        // If the controller serves other IP too, the hard IP's group grows.
        set.insert("gui_split_sizes".into(), Set::EachAtLeast);
    }
    if is_bridge(&now.kind) && beside_block && leads_to_block(design, &now.name) {
        let was = vendor.instance(&now.name);
        let auto = was.and_then(|was| was.number("USE_AUTO_ADDRESS_WIDTH")) == Some(1);
        let width = match auto {
            true => Set::Void,
            false => Set::AtLeast,
        };
        set.insert("ADDRESS_WIDTH".into(), width);
        if auto && now.number("USE_AUTO_ADDRESS_WIDTH") == Some(0) {
            set.insert("USE_AUTO_ADDRESS_WIDTH".into(), Set::Is("0".into()));
        }
    }
    set
}

/// Reports whether the host reaches the block through a bridge.
fn leads_to_block(design: &Design, bridge: &str) -> bool {
    let mut open = vec![bridge];
    let mut seen = Vec::new();
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        match design.instance(name) {
            Some(found) if found.kind == BLOCK => return true,
            Some(found) if is_bridge(&found.kind) => {
                let onward = design.avalon().filter(|w| instance(&w.from) == name);
                open.extend(onward.map(|w| instance(&w.to)));
            }
            _ => {}
        }
    }
    false
}

fn compare(
    design: &Design,
    was: &Instance,
    now: &Instance,
    set: &BTreeMap<String, Set>,
    findings: &mut Findings,
) {
    let mut names: Vec<&String> = was.parameters.keys().chain(set.keys()).collect();
    if is_hard_ip(&now.kind) || is_bridge(&now.kind) {
        // Platform Designer writes facts that it found about an instance into parameters with these names.
        let added = now.parameters.keys();
        names.extend(added.filter(|name| !name.starts_with("AUTO_")));
    }
    names.sort();
    names.dedup();
    for name in names {
        let (old, has) = (was.parameters.get(name), now.parameters.get(name));
        let right = match (set.get(name), has) {
            (Some(Set::Is(value)), Some(has)) => same(has, value),
            (Some(Set::Is(_)), None) => false,
            (Some(Set::AtLeast), _) => now.number(name) >= was.number(name),
            (Some(Set::EachAtLeast), _) => each_at_least(old, has),
            (Some(Set::Void), _) => true,
            (None, Some(has)) => old.is_some_and(|old| same(has, old)),
            (None, None) => old.is_none(),
        };
        if right {
            continue;
        }
        let text = |value: Option<&String>| value.map_or("not set".into(), |v| format!("\"{v}\""));
        let want = match set.get(name) {
            Some(Set::Is(value)) => format!("the block needs \"{value}\""),
            _ => format!("in the vendor's BSP it is {}", text(old)),
        };
        let what = format!("{}: {name} is {}, {want}", now.name, text(has));
        bad(findings, TEST, design.place(now.line), what);
    }
}

/// Reports whether the second of two lists, with commas, has as many numbers as the first, and none is less.
fn each_at_least(old: Option<&String>, has: Option<&String>) -> bool {
    let numbers = |list: &String| -> Option<Vec<u64>> {
        let numbers = list.split(',').map(|number| number.trim().parse().ok());
        numbers.collect()
    };
    if old == has {
        return true;
    }
    let (Some(old), Some(has)) = (old.and_then(numbers), has.and_then(numbers)) else {
        return false;
    };
    old.len() == has.len() && old.iter().zip(&has).all(|(old, has)| has >= old)
}

/// A parameter, its possible values in words, and a test of a number.
type Range = (&'static str, &'static str, fn(u64) -> bool);

/// Checks a bridge that the extension put between a BAR and its slaves: as wide as the hard IP's port, with an address
/// in bytes.
fn inserted(design: &Design, bridge: &Instance, findings: &mut Findings) {
    let slave = format!("{}.s0", bridge.name);
    let mut from = design.avalon().filter(|w| w.to == slave);
    let Some(bar) = from.find(|w| is_bar(design, &w.from)) else {
        findings.note(
            TEST,
            design.place(bridge.line),
            format!("{} is not in the vendor's BSP", bridge.name),
        );
        return;
    };
    let hip = design.instance(instance(&bar.from));
    let port = hip.and_then(|hip| hip.parameters.get("avmm_width_hwtcl"));
    // Embedded Peripherals IP user guide 683130, "Avalon-MM Pipeline Bridge".
    let want = [
        ("DATA_WIDTH", port.map_or("128", String::as_str)),
        ("SYMBOL_WIDTH", "8"),
        ("ADDRESS_UNITS", "SYMBOLS"),
        ("USE_AUTO_ADDRESS_WIDTH", "0"),
        ("LINEWRAPBURSTS", "0"),
    ];
    for (name, value) in want {
        let has = bridge
            .parameters
            .get(name)
            .map_or("not set", String::as_str);
        if !same(has, value) {
            let what = format!("{}: {name} is {has}; it must be {value}", bridge.name);
            bad(findings, TEST, design.place(bridge.line), what);
        }
    }
    let ranges: [Range; 4] = [
        ("MAX_BURST_SIZE", "a power of two up to 1024", |n| {
            n.is_power_of_two() && n <= 1024
        }),
        ("MAX_PENDING_RESPONSES", "from 1 to 64", |n| {
            (1..=64).contains(&n)
        }),
        ("PIPELINE_COMMAND", "0 or 1", |n| n <= 1),
        ("PIPELINE_RESPONSE", "0 or 1", |n| n <= 1),
    ];
    for (name, words, good) in ranges {
        // A parameter that is not set has the component's default.
        let Some(has) = bridge.parameters.get(name) else {
            continue;
        };
        if !number(has).is_some_and(good) {
            let what = format!("{}: {name} is {has}; it must be {words}", bridge.name);
            bad(findings, TEST, design.place(bridge.line), what);
        }
    }
}
