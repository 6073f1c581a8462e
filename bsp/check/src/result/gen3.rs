//! Gen3: the receivers' adaptive equalisation, in the transceivers' controller and by the driver that starts it
//! (Stratix V Avalon-ST Interface for PCIe 683093, "Connecting the Transceiver Reconfiguration Controller"). The
//! driver's interfaces and their connections are those of Altera's example `pcie_de_gen3_x8_ast256`, ACDS 13.1.

use crate::Findings;
use crate::read::design::{Design, Instance, instance};
use crate::result::addresses::{DEPTH, base};
use crate::result::names::is_hard_ip;
use crate::result::stream::{TEST, is_joined};
use crate::result::{Bsp, bad};
use peerlane_bsp_platform::layout::REPORT;

/// Name of the test for work that is left to a user.
pub(super) const TO_DO: &str = "to do";
/// The driver's kind.
pub(super) const DRIVER: &str = "altera_pcie_reconfig_driver";
const RATE: &str = "gen123_lane_rate_mode_hwtcl";
const COUNT: &str = "number_of_reconfig_interfaces";

/// Reports whether a hard IP is set to Gen3.
pub(super) fn is_gen_3(hip: &Instance) -> bool {
    let rate = hip.parameters.get(RATE);
    rate.is_some_and(|rate| rate.starts_with("Gen3"))
}

/// Returns the other ends of the connections of a kind at an interface.
fn others<'a>(design: &'a Design, kind: &str, end: &str) -> Vec<&'a str> {
    let wires = design.wires.iter().filter(|w| w.kind == kind);
    let others = wires.filter_map(|w| match (w.from == end, w.to == end) {
        (true, _) => Some(w.to.as_str()),
        (_, true) => Some(w.from.as_str()),
        _ => None,
    });
    others.collect()
}

fn is_exported(design: &Design, end: &str) -> bool {
    design.outside.iter().any(|outside| outside.inside == end)
}

/// Reports whether an exported interface is used: connected in a surrounding system, or exported from each up to the
/// top.
fn leaves(bsp: &Bsp, design: &Design, end: &str, depth: u32) -> bool {
    let kind = bsp.designs.iter().find(|(_, designs)| {
        let mut designs = designs.iter();
        designs.any(|one| std::ptr::eq(one, design))
    });
    let mut exports = design.outside.iter().filter(|o| o.inside == end);
    exports.any(|export| {
        let mut around = bsp.all().flat_map(|outer| {
            let inner = outer.instances.iter();
            let inner = inner.filter(move |i| kind.is_some_and(|(kind, _)| *kind == i.kind));
            inner.map(move |i| (outer, format!("{}.{}", i.name, export.name)))
        });
        around.all(|(outer, end)| {
            let used = outer.wires.iter().any(|w| w.from == end || w.to == end);
            used || depth > 0 && leaves(bsp, outer, &end, depth - 1)
        })
    })
}

/// Returns the number of reconfiguration interfaces that a hard IP has at Gen3: one for each lane, one for the PLL that
/// sends for the lanes at Gen3 and one for the PLL below Gen3; eight lanes have one more (683093, "Transceiver
/// Reconfiguration").
pub(super) fn interfaces(hip: &Instance) -> u64 {
    let lanes = hip.parameters.get("lane_mask_hwtcl");
    let lanes = lanes.map_or("x4", String::as_str).trim_start_matches('x');
    let lanes: u64 = lanes.parse().unwrap_or(8);
    lanes + if lanes == 8 { 3 } else { 2 }
}

/// Returns the groups of a controller's interfaces, if it serves other IP too.
fn groups(controller: &Instance) -> Option<&str> {
    let groups = controller.parameters.get("gui_split_sizes")?.trim();
    Some(groups).filter(|groups| !groups.is_empty())
}

/// Reports whether the vendor's system has everything that the driver needs, unused: then the extension added a driver.
fn had_room(was: &Design, hip: &Instance) -> bool {
    let end = format!("{}.reconfig_to_xcvr", hip.name);
    let controller = others(was, "conduit", &end);
    let Some(controller) = controller.first().and_then(|c| was.instance(instance(c))) else {
        return false;
    };
    let own = |interface: &str| format!("{}.{interface}", controller.name);
    let is_free = |end: &String| {
        !is_exported(was, end) && !was.wires.iter().any(|w| w.from == *end || w.to == *end)
    };
    let speed = format!("{}.hip_currentspeed", hip.name);
    controller.enabled
        && groups(controller).is_none()
        && !was.instances.iter().any(|i| i.kind == DRIVER)
        && [own("reconfig_mgmt"), own("reconfig_busy"), speed]
            .iter()
            .all(is_free)
        && was.clock(&own("mgmt_clk_clk")).is_some()
        && !others(was, "reset", &own("mgmt_rst_reset")).is_empty()
}

/// Checks that the equalisation is on in the controller, if that is in the system, and that a driver starts it.
pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    for (design, block) in bsp.with_block() {
        let mut hips = design.instances.iter().filter(|i| is_hard_ip(&i.kind));
        let Some(hip) = hips.next().filter(|hip| is_gen_3(hip)) else {
            continue;
        };
        let end = format!("{}.reconfig_to_xcvr", hip.name);
        for other in others(design, "conduit", &end) {
            let Some(controller) = design.instance(instance(other)) else {
                continue;
            };
            if controller.number("enable_adce").unwrap_or(0) == 0 {
                let what = format!(
                    "enable_adce of {} is off: at Gen3 the receivers need adaptive equalisation",
                    controller.name
                );
                bad(findings, TEST, design.place(controller.line), what);
            }
            let was = bsp.was(design);
            let vendors = was.and_then(|was| was.instance(&controller.name)?.number(COUNT));
            let (has, needs) = (controller.number(COUNT), interfaces(hip));
            // The test of parameters reports a number below the vendor's.
            if has.is_some_and(|has| has < needs && vendors.is_none_or(|vendors| has >= vendors)) {
                let what = format!(
                    "{COUNT} of {} is {}: at Gen3 {} alone has {needs}",
                    controller.name,
                    has.unwrap_or(0),
                    hip.name
                );
                bad(findings, TEST, design.place(controller.line), what);
            }
            grouped(design, was, (hip, controller), findings);
        }
        let drivers: Vec<_> = (design.instances.iter())
            .filter(|i| i.kind == DRIVER)
            .collect();
        // The test of names reports a driver that is not enabled.
        for driver in drivers.iter().filter(|i| i.enabled) {
            started(design, (driver, hip, block), findings);
            outside(bsp, design, driver, findings);
        }
        if drivers.is_empty() {
            elsewhere(bsp, design, (hip, block), findings);
        }
    }
}

/// Reports a controller that serves other IP too, if a user must still enlarge its group of interfaces for the hard IP.
fn grouped(
    design: &Design,
    vendor: Option<&Design>,
    (hip, controller): (&Instance, &Instance),
    findings: &mut Findings,
) {
    let Some(has) = groups(controller) else {
        return;
    };
    let needs = interfaces(hip).to_string();
    let was = vendor.and_then(|vendor| groups(vendor.instance(&controller.name)?));
    let is_large = has.split(',').any(|group| group.trim() == needs);
    if was == Some(has) && !is_large {
        let what = format!(
            "gui_split_sizes of {} is {has}: at Gen3 the group of {} has {needs} interfaces, and {COUNT} increases by \
             as many",
            controller.name, hip.name
        );
        findings.note(TO_DO, design.place(controller.line), what);
    }
}

/// Reports whether a clock is used outside, directly or through a bridge.
fn clock_leaves(bsp: &Bsp, design: &Design, clock: &str) -> bool {
    let fed = design.wires.iter();
    let fed = fed.filter(|w| w.kind == "clock" && w.from == clock);
    let bridges = fed.filter_map(|w| design.instance(instance(&w.to)));
    let bridges = bridges.filter(|i| i.kind == "altera_clock_bridge");
    let mut ends = bridges.map(|i| format!("{}.out_clk", i.name));
    leaves(bsp, design, clock, DEPTH) || ends.any(|end| leaves(bsp, design, &end, DEPTH))
}

/// Checks a driver whose controller is outside: the exports must lead all the way to it.
fn outside(bsp: &Bsp, design: &Design, driver: &Instance, findings: &mut Findings) {
    for interface in ["reconfig_mgmt", "reconfig_busy"] {
        let end = format!("{}.{interface}", driver.name);
        if is_exported(design, &end) && !leaves(bsp, design, &end, DEPTH) {
            let what = format!(
                "{end} ends in an outer system: export it from each system, up to the one with the transceivers' \
                 controller"
            );
            findings.note(TO_DO, design.place(driver.line), what);
        }
    }
}

/// Checks a system without a driver: the driver is outside, or a user must still add it.
fn elsewhere(
    bsp: &Bsp,
    design: &Design,
    (hip, block): (&Instance, &Instance),
    findings: &mut Findings,
) {
    let status = format!("{}.hip_status_drv", block.name);
    let place = design.place(block.line);
    if !is_exported(design, &status) {
        let what = format!(
            "no {DRIVER} is connected to {status}: nothing starts the receivers' equalisation at 8 GT/s"
        );
        match bsp.was(design) {
            Some(was) if had_room(was, hip) => bad(findings, TEST, place, what),
            _ => {
                let where_said = format!("\"What to do\" of {REPORT} explains how to add one");
                findings.note(TO_DO, place, format!("{what} ({where_said})"));
            }
        }
        return;
    }
    let clock = format!("{}.coreclkout", block.name);
    let speed = format!("{}.hip_currentspeed", hip.name);
    let mut missing: Vec<String> = [status, speed]
        .into_iter()
        .filter(|end| !leaves(bsp, design, end, DEPTH))
        .collect();
    if !clock_leaves(bsp, design, &clock) {
        missing.push(clock);
    }
    if !missing.is_empty() {
        let what = format!(
            "{} must be exported from each system, up to the one with the {DRIVER}: else nothing starts the receivers' \
             equalisation at 8 GT/s",
            missing.join(" and ")
        );
        findings.note(TO_DO, place, what);
    }
}

/// Checks that the driver is connected and set as in Altera's example.
fn started(
    design: &Design,
    (driver, hip, block): (&Instance, &Instance, &Instance),
    findings: &mut Findings,
) {
    let mut wrong = |what: String| bad(findings, TEST, design.place(driver.line), what);
    let own = |interface: &str| format!("{}.{interface}", driver.name);
    for (interface, other) in [("hip_status_drv", block), ("hip_currentspeed", hip)] {
        let (one, other) = (own(interface), format!("{}.{interface}", other.name));
        if !is_joined(design, "conduit", &one, &other) {
            wrong(format!("{one} and {other} are not connected"));
        }
    }
    let fed = format!("{}.coreclkout", block.name);
    let clocks = |end: &str| design.clock(end).map(String::from);
    let has = clocks(&own("pld_clk"));
    if has.as_deref() != Some(fed.as_str()) {
        wrong(format!(
            "{} has the clock of {}; it must have the clock of {fed}",
            own("pld_clk"),
            has.as_deref().unwrap_or("nothing")
        ));
    }
    // The controller may be in another system.
    let master = own("reconfig_mgmt");
    let slaves = others(design, "avalon", &master);
    let controller = match slaves.as_slice() {
        [slave] if slave.ends_with(".reconfig_mgmt") => design.instance(instance(slave)),
        _ => None,
    };
    let clock = clocks(&own("reconfig_xcvr_clk"));
    match controller {
        Some(controller) => {
            let (one, other) = (
                own("reconfig_busy"),
                format!("{}.reconfig_busy", controller.name),
            );
            if !is_joined(design, "conduit", &one, &other) {
                wrong(format!("{one} and {other} are not connected"));
            }
            let want = clocks(&format!("{}.mgmt_clk_clk", controller.name));
            if clock != want {
                wrong(format!(
                    "{} has the clock of {}, {} has the clock of {}",
                    own("reconfig_xcvr_clk"),
                    clock.as_deref().unwrap_or("nothing"),
                    controller.name,
                    want.as_deref().unwrap_or("nothing"),
                ));
            }
            let base = design.avalon().find(|w| w.from == master).and_then(base);
            if base != Some(0) {
                wrong(format!(
                    "{master} reaches {}.reconfig_mgmt at {}; it must be at 0",
                    controller.name,
                    base.map_or("no number".into(), |base| format!("{base:#x}"))
                ));
            }
            let rst = format!("{}.mgmt_rst_reset", controller.name);
            let (has, wants) = (
                others(design, "reset", &own("reconfig_xcvr_rst")),
                others(design, "reset", &rst),
            );
            if let Some(lacks) = wants
                .iter()
                .find(|reset| !has.contains(reset))
                .filter(|_| !has.is_empty())
            {
                wrong(format!(
                    "{} does not have the reset {lacks}, which {rst} has",
                    own("reconfig_xcvr_rst")
                ));
            }
            // A controller that serves other IP too has more interfaces than this hard IP.
            let counts = [controller.number(COUNT), Some(interfaces(hip))];
            if !counts.contains(&driver.number(COUNT)) {
                let text = |i: &Instance| {
                    i.parameters
                        .get(COUNT)
                        .map_or("not set".into(), Clone::clone)
                };
                wrong(format!(
                    "{COUNT} of {} is {}, but of {} it is {}",
                    driver.name,
                    text(driver),
                    controller.name,
                    text(controller)
                ));
            }
        }
        None if is_exported(design, &master) => {
            let busy = own("reconfig_busy");
            if !is_exported(design, &busy) {
                wrong(format!("{master} is exported, but {busy} is not"));
            }
        }
        None => wrong(format!(
            "{master} is connected to {}; it must be connected to reconfig_mgmt of the transceivers' controller",
            match slaves.as_slice() {
                [] => "nothing".into(),
                all => all.join(" and "),
            }
        )),
    }
    let resets = others(design, "reset", &own("reconfig_xcvr_rst"));
    if resets.is_empty() {
        wrong(format!("{} has no reset", own("reconfig_xcvr_rst")));
    }
    if !is_gen_3(driver) {
        wrong(format!(
            "{RATE} of {} differs from that of {}, which is Gen3",
            driver.name, hip.name
        ));
    }
}
