//! A TLP port: the hard IP's Avalon-ST variant replaces the one with Avalon-MM ports, and the block replaces the bridge
//! that is inside the latter.
//!
//! The connections that the vendor's BSP has at the bridge must be at the block. So the vendor's system is converted to
//! one with a TLP port, and all tests compare with that. Interfaces and parameters of the variants are those of ACDS
//! 13.1.

use std::collections::BTreeMap;

use crate::Findings;
use crate::read::design::{Design, Instance, Wire, instance};
use crate::result::addresses::{DEPTH, base, reached, span};
use crate::result::names::{OWN_HIP, is_avmm, is_hard_ip, is_streaming};
use crate::result::parameters::same;
use crate::result::{BLOCK, Bsp, OLD, bad, gen3, identity, interrupts};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_generate::hip_parameters::is_parameter;
use peerlane_bsp_platform::text::either;

pub(super) const TEST: &str = "packets";

/// Connections between hard IP and block: kind, interface, and whether it begins at the hard IP.
const WAYS: [(&str, &str, bool); 10] = [
    ("avalon_streaming", "rx_st", true),
    ("avalon_streaming", "tx_st", false),
    ("conduit", "rx_bar_be", true),
    ("conduit", "tx_cred", true),
    ("conduit", "config_tl", true),
    ("conduit", "hip_rst", true),
    ("conduit", "hip_status", true),
    ("conduit", "int_msi", true),
    ("conduit", "lmi", true),
    ("conduit", "power_mngt", true),
];
/// The hard IP's clock, which is not on a global network.
const RAW_CLOCK: &str = "coreclkout_hip";
/// Further interfaces of that variant.
const OTHERS: [&str; 11] = [
    RAW_CLOCK,
    "pld_clk",
    "refclk",
    "npor",
    "hip_serial",
    "hip_pipe",
    "hip_ctrl",
    "hip_currentspeed",
    "reconfig_to_xcvr",
    "reconfig_from_xcvr",
    "no_connect",
];
/// A further interface of Peerlane's own component of that variant.
const LOCKED: &str = "reconfig_clk_locked";

/// Converts the vendor's system to one with a TLP port, if the system that replaces it has one.
pub(super) fn as_streaming(mut vendor: Design, design: &Design) -> Design {
    let new = |i: &&Instance| is_streaming(&i.kind);
    let Some(new) = design.instances.iter().find(new) else {
        return vendor;
    };
    let Some(dma) = vendor.instances.iter().find(|i| i.kind == OLD) else {
        return vendor;
    };
    let (hip, dma) = (new.name.clone(), dma.name.clone());
    for instance in &mut vendor.instances {
        if instance.name == hip && is_avmm(&instance.kind) {
            instance.kind.clone_from(&new.kind);
            instance.version.clone_from(&new.version);
        }
    }
    let line = format!("{dma}.dma_irq");
    vendor.wires.retain(|wire| wire.to != line);
    let moved = |end: &mut String| {
        let Some(interface) = end.strip_prefix(&format!("{hip}.")) else {
            return;
        };
        *end = match interface {
            "RxmIrq" => format!("{dma}.kernel_irq"),
            "coreclkout" | "nreset_status" | "Cra" => format!("{dma}.{interface}"),
            bar if bar.starts_with("Rxm_BAR") => format!("{dma}.{bar}"),
            _ => return,
        };
    };
    for wire in &mut vendor.wires {
        moved(&mut wire.from);
        moved(&mut wire.to);
        if wire.kind == "interrupt" && wire.from == format!("{dma}.kernel_irq") {
            wire.parameters.insert("irqNumber".into(), "0".into());
        }
    }
    for outside in &mut vendor.outside {
        // The port of that reset has another name in the block.
        if outside.inside == format!("{hip}.nreset_status") {
            let ports = outside.ports.values_mut();
            let old = ports.filter(|port| *port == "reset_status");
            old.for_each(|port| *port = "nreset_status".into());
        }
        moved(&mut outside.inside);
    }
    vendor
}

/// Reports a block with a TLP port whose hard IP has none; returns whether there is one.
pub(super) fn is_without_packets(bsp: &Bsp, build: &Build, findings: &mut Findings) -> bool {
    let before = findings.found();
    let blocks = bsp.with_block();
    for (design, _) in blocks.filter(|_| build.config.has_tlp_port()) {
        let mut hips = design.instances.iter().filter(|i| is_hard_ip(&i.kind));
        if let Some(hip) = hips.next().filter(|hip| !is_streaming(&hip.kind)) {
            let what = format!(
                "{} is a {}, which has no packet interfaces for the block's TLP port; the rest of the system was not \
                 tested",
                hip.name, hip.kind
            );
            bad(findings, TEST, design.place(hip.line), what);
        }
    }
    !findings.unchanged(before)
}

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) {
    if !build.config.has_tlp_port() {
        return;
    }
    let before = findings.found();
    for (design, block) in bsp.with_block() {
        let mut hips = design.instances.iter().filter(|i| is_hard_ip(&i.kind));
        // The test of wiring reports a missing hard IP.
        let Some(hip) = hips.next() else { continue };
        if hip.kind != OWN_HIP {
            let what = format!(
                "{} is a {}; it must be a {OWN_HIP}. In Quartus 13.1 the former does not pass use_tx_cons_cred_sel to \
                 the Verilog, and the block would have no credits",
                hip.name, hip.kind
            );
            bad(findings, TEST, design.place(hip.line), what);
        }
        ways(design, hip, block, findings);
        interfaces(design, hip, findings);
        clock(bsp, design, hip, build, findings);
        places(bsp, design, (hip, block), build, findings);
        if let Some(was) = bsp
            .was(design)
            .and_then(|vendor| vendor.instance(&hip.name))
        {
            parameters(bsp, design, (was, hip), build, findings);
        }
    }
    gen3::check(bsp, findings);
    if findings.unchanged(before) {
        let what = "packets go directly between the hard IP and the block; the hard IP's parameters have the vendor's \
                    values or those that the block needs";
        findings.good(TEST, what);
    }
}

/// Checks that the block was built for the clock that the link has with this width (683093, table of `coreclkout_hip`):
/// MHz from the bits that a lane carries in a microsecond.
fn clock(bsp: &Bsp, design: &Design, hip: &Instance, build: &Build, findings: &mut Findings) {
    let of = |name: &str| hip.parameters.get(name).map_or("", String::as_str);
    let lane = match of("gen123_lane_rate_mode_hwtcl").split(' ').next() {
        Some("Gen1") => 2000,
        Some("Gen2") => 4000,
        _ => 8000,
    };
    let lanes: u64 = of("lane_mask_hwtcl")
        .trim_start_matches('x')
        .parse()
        .unwrap_or(0);
    let bits = bsp.declared.width("rx_st", "data").unwrap_or(128).max(1);
    let mhz = lanes * lane / bits;
    if u64::from(build.clock_mhz) != mhz {
        let what = format!(
            "the clock of {} is {mhz} MHz, but the block was built for {} MHz: reads would have another timeout",
            hip.name, build.clock_mhz
        );
        bad(findings, TEST, design.place(hip.line), what);
    }
}

/// Reports whether a connection takes all wires of two conduits: Platform Designer can take some of them.
fn is_whole(wire: &Wire) -> bool {
    let is = |name: &str, usual: &str| wire.parameters.get(name).is_none_or(|has| has == usual);
    ["startPort", "endPort"].iter().all(|name| is(name, ""))
        && ["startPortLSB", "endPortLSB", "width"]
            .iter()
            .all(|name| is(name, "0"))
}

/// Reports whether two interfaces are connected as a whole. Conduits have no direction, so for them either order
/// counts.
pub(super) fn is_joined(design: &Design, kind: &str, from: &str, to: &str) -> bool {
    design.wires.iter().any(|w| {
        let ahead = w.from == from && w.to == to;
        let back = w.from == to && w.to == from;
        w.kind == kind && (ahead || kind == "conduit" && back) && is_whole(w)
    })
}

/// Checks the streams and conduits between the hard IP and the block, and that the application has the hard IP's clock.
fn ways(design: &Design, hip: &Instance, block: &Instance, findings: &mut Findings) {
    for (kind, interface, from_hip) in WAYS {
        let (one, other) = (
            format!("{}.{interface}", hip.name),
            format!("{}.{interface}", block.name),
        );
        let (from, to) = if from_hip {
            (&one, &other)
        } else {
            (&other, &one)
        };
        if !is_joined(design, kind, from, to) {
            let what = format!("{one} and {other} are not connected");
            bad(findings, TEST, design.place(block.line), what);
        }
    }
    // The buffer for this clock is in the block: nothing else may use the clock that is not on a global network.
    let raw = format!("{}.{RAW_CLOCK}", hip.name);
    let buffer = format!("{}.{RAW_CLOCK}", block.name);
    let buffered = format!("{}.coreclkout", block.name);
    let application = format!("{}.pld_clk", hip.name);
    for (fed, clock) in [(&buffer, &raw), (&application, &buffered)] {
        let has = design.clock(fed);
        if has != Some(clock) {
            let what = format!(
                "{fed} has the clock of {}; it must have the clock of {clock}",
                has.unwrap_or("nothing")
            );
            bad(findings, TEST, design.place(hip.line), what);
        }
    }
    let straight = |w: &&Wire| is_raw(w, hip) && w.to != buffer && w.to != application;
    for wire in design.wires.iter().filter(straight) {
        let what = format!(
            "{} has the hard IP's clock directly, not from the global buffer; it must have the clock of {buffered}",
            wire.to
        );
        bad(findings, TEST, design.place(wire.line), what);
    }
}

fn is_raw(wire: &Wire, hip: &Instance) -> bool {
    let from = wire.from.split_once('.');
    wire.kind == "clock" && from == Some((hip.name.as_str(), RAW_CLOCK))
}

/// Reports whether an end that must have the block's clock has the hard IP's clock, which is not on a global network.
pub(super) fn is_straight(design: &Design, end: &str) -> bool {
    let mut hips = design.instances.iter().filter(|i| is_streaming(&i.kind));
    hips.any(|hip| design.wires.iter().any(|w| w.to == end && is_raw(w, hip)))
}

/// Checks that nothing is connected to an interface that this variant does not have.
fn interfaces(design: &Design, hip: &Instance, findings: &mut Findings) {
    let ends = design
        .wires
        .iter()
        .flat_map(|w| [(&w.from, w.line), (&w.to, w.line)]);
    let outside = design.outside.iter().map(|o| (&o.inside, o.line));
    for (end, line) in ends.chain(outside) {
        let Some((name, interface)) = end.split_once('.') else {
            continue;
        };
        let known = WAYS.iter().any(|(_, way, _)| *way == interface)
            || OTHERS.contains(&interface)
            || hip.kind == OWN_HIP && interface == LOCKED;
        if name == hip.name && !known {
            let what = format!("{name} (kind {}) has no interface {interface}", hip.kind);
            bad(findings, TEST, design.place(line), what);
        }
    }
}

/// Checks that the block's own slaves overlap no slave of the board, and that all slaves lie within the BAR.
fn places(
    bsp: &Bsp,
    design: &Design,
    (hip, block): (&Instance, &Instance),
    build: &Build,
    findings: &mut Findings,
) {
    let config = &build.config;
    // Sizes of docs/explain/block.md: registers, a page for each channel, 8 bytes for each entry, the table with its
    // pending bits.
    let inside = [
        ("csr", 0x400),
        ("chan", 0x1000 * u128::from(config.channels)),
        ("att", 8 * u128::from(config.att_entries)),
        ("msix", 0x1000),
    ];
    let mut end = 0;
    let board = format!("{}.Rxm_BAR{}", block.name, build.bar);
    let reached = reached(design);
    for (slave, bytes) in inside {
        let Some(at) = build.slaves.get(slave).map(|&at| u128::from(at)) else {
            let what = format!("the record has no place for {}.{slave}", block.name);
            bad(findings, TEST, design.place(block.line), what);
            continue;
        };
        end = end.max(at + bytes);
        for (other, places) in &reached {
            let here = places.iter().filter(|(master, _)| *master == board);
            for (_, base) in here {
                let size = span(bsp, design, other, DEPTH).unwrap_or(4);
                if *base < at + bytes && at < base + size {
                    let what = format!(
                        "{slave} of the block, at {at:#x} to {:#x}, hides {other} at {base:#x}",
                        at + bytes - 1
                    );
                    bad(findings, TEST, design.place(block.line), what);
                }
            }
        }
    }
    let mut last = "the block's slaves";
    for wire in design.avalon().filter(|w| w.from == board) {
        let top = base(wire).zip(span(bsp, design, &wire.to, DEPTH));
        let top = top.map_or(0, |(base, bytes)| base + bytes);
        if top > end {
            (end, last) = (top, &wire.to);
        }
    }
    let name = format!("bar{}_size_mask_hwtcl", build.bar);
    let bits = hip.number(&name).filter(|bits| *bits < 64).unwrap_or(0);
    if 1u128 << bits < end || build.bar_log2.map(u64::from) != Some(bits) {
        let what = format!(
            "{name} of {} is {bits}, {:#x} bytes; the addresses that the host reaches end at {end:#x} with {last}; the \
             block was built for {}",
            hip.name,
            1u128 << bits,
            build
                .bar_log2
                .map_or("none".into(), |log2| log2.to_string())
        );
        bad(findings, TEST, design.place(hip.line), what);
    }
}

/// Parameters that only the other variant has: prefixes, and whole names.
const BRIDGES: [&str; 8] = [
    "CB_",
    "CG_",
    "RXM_",
    "SLAVE_ADDRESS_MAP_",
    "AUTO_",
    "PCIe Address",
    // Their names since Quartus 14.0.
    "PCIeAddress",
    "AddressPage",
];
const OF_BRIDGE: [&str; 9] = [
    "AST_LITE",
    "AVALON_ADDR_WIDTH",
    "TX_S_ADDR_WIDTH",
    "BYPASSS_A2P_TRANSLATION",
    "NUM_PREFETCH_MASTERS",
    "avmm_width_hwtcl",
    "bypass_tl",
    "fixed_address_mode",
    "Address Page",
];
/// Parameters that are derived from others in either variant.
const DERIVED: [&str; 7] = [
    "avmm_burst_width_hwtcl",
    "pld_clk_MHz",
    "millisecond_cycle_count_hwtcl",
    "port_width_be_hwtcl",
    "port_width_data_hwtcl",
    "coreclkout_hip_phaseshift_hwtcl",
    "pldclk_hip_phase_shift_hwtcl",
];
/// Defaults of the Avalon-MM variant, which the other variant may not share.
const DEFAULTS: [(&str, &str); 9] = [
    ("lane_mask_hwtcl", "x4"),
    ("max_payload_size_hwtcl", "128"),
    ("rxbuffer_rxreq_hwtcl", "Low"),
    ("vendor_id_hwtcl", "0"),
    ("device_id_hwtcl", "1"),
    ("revision_id_hwtcl", "1"),
    ("class_code_hwtcl", "0"),
    ("subsystem_vendor_id_hwtcl", "0"),
    ("subsystem_device_id_hwtcl", "0"),
];

fn is_bridges(name: &str) -> bool {
    BRIDGES.iter().any(|start| name.starts_with(start)) || OF_BRIDGE.contains(&name)
}

/// Parameter for the division of the receive buffer.
const BUFFER: &str = "rxbuffer_rxreq_hwtcl";
/// Divisions of the receive buffer that leave enough room for the block's reads, with either port: 64 bytes of data for
/// each header of a completion, and more than eight reads of 512 bytes (`set_pcie_hip_flow_control_settings_common`,
/// ACDS 13.1).
const BUFFERS: [&str; 3] = ["Minimum", "Low", "Balanced"];

/// Returns settings for the receive buffer of Stratix V's hard IP, if the vendor's division leaves too little room.
pub(super) fn receive_buffer(was: &Instance) -> Vec<(&'static str, &'static str)> {
    let of = |name: &str| was.parameters.get(name);
    let small = of(BUFFER).filter(|division| !BUFFERS.contains(&division.trim()));
    let by_hand = of("override_rxbuffer_cred_preset").filter(|on| !same(on, "0"));
    let new = [
        small.map(|_| (BUFFER, "Low")),
        by_hand.map(|_| ("override_rxbuffer_cred_preset", "0")),
    ];
    new.into_iter().flatten().collect()
}

/// Detects a value that switches nothing on.
fn is_off(value: &str) -> bool {
    let words = ["", "false", "disable", "disabled", "none"];
    value.split(',').all(|part| {
        let part = part.trim().to_lowercase();
        words.contains(&part.as_str()) || same(&part, "0") || part.parse::<f64>() == Ok(0.0)
    })
}

/// Checks that every parameter of the vendor's is there, except the bridge's, and that new or changed ones are those
/// that the block needs.
fn parameters(
    bsp: &Bsp,
    design: &Design,
    (was, now): (&Instance, &Instance),
    build: &Build,
    findings: &mut Findings,
) {
    let mut want: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (name, value) in DEFAULTS {
        want.insert(name.into(), Some(value.into()));
    }
    for (name, value) in &was.parameters {
        let value = (!is_bridges(name)).then(|| value.clone());
        want.insert(name.clone(), value);
    }
    for (name, value) in needed(bsp, was, build) {
        want.insert(name, Some(value));
    }
    cvp(was, build, &mut want);
    let buffer = now.parameters.get(BUFFER);
    let small = buffer.filter(|buffer| !BUFFERS.contains(&buffer.as_str()));
    if let Some(buffer) = small {
        let what = format!(
            "{BUFFER} of {} is {buffer}, in which the data of completions does not have the room that the block counts \
             on; it must be {}",
            now.name,
            either(&BUFFERS)
        );
        bad(findings, TEST, design.place(now.line), what);
    }
    let names = want.keys().chain(now.parameters.keys());
    let mut names: Vec<_> = names
        .filter(|name| !DERIVED.contains(&name.as_str()))
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        let has = now.parameters.get(name);
        let wanted = want.get(name).cloned().flatten();
        let right = match (&wanted, has) {
            (Some(wanted), Some(has)) => same(has, wanted),
            // Platform Designer writes facts that it found about an instance into parameters with these names.
            (None, Some(_)) => name.starts_with("AUTO_"),
            // A parameter that no known version has may be gone, if it had no effect.
            (Some(value), None) => {
                let advanced = name.starts_with("advanced_default_hwtcl_");
                let counts = was.number("advanced_default_parameter_override");
                let idle = is_off(value) || advanced && counts.unwrap_or(0) == 0;
                idle && !is_parameter(name)
            }
            (None, None) => true,
        };
        // The message about the buffer gives the reason.
        if right || name == BUFFER && small.is_some() {
            continue;
        }
        let text = |value: Option<&String>| value.map_or("not set".into(), |v| format!("\"{v}\""));
        let of_gen_3 = [
            "force_hrc",
            "gen123_lane_rate_mode_hwtcl",
            "pcie_spec_version_hwtcl",
        ];
        let when = match build.config.port.generation {
            Some(3) if of_gen_3.contains(&name.as_str()) => "at Gen3",
            _ => "with a TLP port",
        };
        let what = format!(
            "{}: {name} is {}; {when} it must be {}",
            now.name,
            text(has),
            text(wanted.as_ref())
        );
        bad(findings, TEST, design.place(now.line), what);
    }
}

/// Keeps configuration over PCIe, except at Gen3, which does not have it (Configuration via Protocol in V-series FPGA
/// devices user guide 683889, 1.3). Quartus's component of 13.1 refuses it above Gen1; Peerlane's component has another
/// name for it.
fn cvp(was: &Instance, build: &Build, want: &mut BTreeMap<String, Option<String>>) {
    const CVP: &str = "in_cvp_mode_hwtcl";
    let before = was.number(CVP).unwrap_or(0);
    let stays = before != 0 && build.config.port.generation != Some(3);
    want.insert(CVP.into(), None);
    let on = u32::from(stays).to_string();
    want.insert("CONFIGURATION_OVER_PCIE".into(), Some(on));
}

/// Returns the parameters that the block and the configuration need (Stratix V Avalon-ST Interface for PCIe 683093,
/// parameter settings).
fn needed(bsp: &Bsp, was: &Instance, build: &Build) -> BTreeMap<String, String> {
    const RATE: &str = "gen123_lane_rate_mode_hwtcl";
    let mut needed = BTreeMap::new();
    let mut set = |name: &str, value: String| needed.insert(name.into(), value);
    let bits = bsp.declared.width("rx_st", "data").unwrap_or_default();
    set("ast_width_hwtcl", format!("Avalon-ST {bits}-bit"));
    let vendors = was
        .parameters
        .get(RATE)
        .map_or("Gen1 (2.5 Gbps)", String::as_str);
    let rate = match build.config.port.generation {
        Some(3) => "Gen3 (8.0 Gbps)",
        _ => vendors,
    };
    set(RATE, rate.into());
    let specification = if rate.starts_with("Gen3") {
        "3.0"
    } else {
        "2.1"
    };
    set("pcie_spec_version_hwtcl", specification.into());
    // The hard reset controller is forced for configuration over PCIe, which Gen3 does not have; otherwise Quartus
    // takes the soft one (update_default_value_hidden_parameter_common, ACDS 13.1).
    if rate.starts_with("Gen3") && was.parameters.contains_key("force_hrc") {
        set("force_hrc", "0".into());
    }
    // The block has 64 tags, and counts credits by those that the hard IP has used.
    set("extend_tag_field_hwtcl", "64".into());
    // With this variant the block has the completion timeout, and it is fixed.
    set("completion_timeout_hwtcl", "NONE".into());
    set("use_tx_cons_cred_sel_hwtcl", "1".into());
    for (name, value) in receive_buffer(was) {
        set(name, value.into());
    }
    // The Avalon-MM variant does not pass the first on, and does not bring the second out.
    for (name, value) in [("hip_tag_checking_hwtcl", "1"), ("hip_reconfig_hwtcl", "0")] {
        if was.parameters.contains_key(name) {
            set(name, value.into());
        }
    }
    for bar in 0..6 {
        let name = format!("bar{bar}_type_hwtcl");
        let usual = if bar == 0 { "1" } else { "0" };
        let kind = was.parameters.get(&name).map_or(usual, String::as_str);
        let own = bar == build.bar;
        set(&name, if own { kind } else { "0" }.into());
        let bits = build.bar_log2.filter(|_| own).unwrap_or(0);
        set(&format!("bar{bar}_size_mask_hwtcl"), bits.to_string());
    }
    for (name, value) in identity::ids(&build.config.identity) {
        set(name, value.to_string());
    }
    for (name, value) in interrupts::of_function(bsp, build) {
        set(name, value.to_string());
    }
    needed
}

/// Reports whether an end belongs to the instance that the BARs' masters move to: the block, or the old DMA in the
/// converted system.
pub(super) fn is_in_front(design: &Design, end: &str) -> bool {
    let kind = design.instance(instance(end)).map(|i| i.kind.as_str());
    matches!(kind, Some(BLOCK | OLD)) && design.instances.iter().any(|i| is_streaming(&i.kind))
}
