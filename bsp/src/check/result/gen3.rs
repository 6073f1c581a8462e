//! Gen3: the receivers' adaptive equalisation, in the transceivers' controller and by the driver that starts it
//! (Stratix V Avalon-ST Interface for PCIe 683093, "Connecting the Transceiver Reconfiguration Controller"). The driver's
//! interfaces and what they are connected to are those of Altera's example `pcie_de_gen3_x8_ast256`, ACDS 13.1.

use crate::check::Findings;
use crate::check::read::design::{Design, Instance, instance};
use crate::check::result::names::is_hard_ip;
use crate::check::result::stream::{TEST, is_joined};
use crate::check::result::{Bsp, bad};

/// What is left to a person.
pub(super) const TO_DO: &str = "to do";
/// The driver's kind.
pub(super) const DRIVER: &str = "altera_pcie_reconfig_driver";
const RATE: &str = "gen123_lane_rate_mode_hwtcl";
const COUNT: &str = "number_of_reconfig_interfaces";

/// Whether a hard IP is run at Gen3.
pub(super) fn is_gen_3(hip: &Instance) -> bool {
    let rate = hip.parameters.get(RATE);
    rate.is_some_and(|rate| rate.starts_with("Gen3"))
}

/// What stands at the other ends of an interface, of connections of a kind.
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

/// The equalisation is on in the controller, where that is in the system, and there is what starts it.
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
        }
        let status = format!("{}.hip_status_drv", block.name);
        let drivers = design.instances.iter().filter(|i| i.kind == DRIVER);
        let drivers: Vec<_> = drivers.filter(|i| i.enabled).collect();
        for driver in &drivers {
            started(design, (driver, hip, block), findings);
        }
        if drivers.is_empty() && !is_exported(design, &status) {
            let what = format!(
                "there is no {DRIVER} at {status}: nothing starts the receivers' equalisation at 8 GT/s (\"What to do\" of \
                 peerlane-report.md says how one is put in)"
            );
            findings.note(TO_DO, design.place(block.line), what);
        }
    }
}

/// The driver is connected and set as in Altera's example.
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
            "{} has the clock of {}, it must be that of {fed}",
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
                    "{} has the clock of {}, {} has that of {}",
                    own("reconfig_xcvr_clk"),
                    clock.as_deref().unwrap_or("nothing"),
                    controller.name,
                    want.as_deref().unwrap_or("nothing"),
                ));
            }
            if driver.number(COUNT) != controller.number(COUNT) {
                let text = |i: &Instance| {
                    i.parameters
                        .get(COUNT)
                        .map_or("not set".into(), Clone::clone)
                };
                wrong(format!(
                    "{COUNT} of {} is {}, of {} it is {}",
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
                wrong(format!("{master} is exported, and {busy} is not"));
            }
        }
        None => wrong(format!(
            "{master} leads to {}, it must lead to reconfig_mgmt of the transceivers' controller",
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
            "{RATE} of {} is not that of {}, Gen3",
            driver.name, hip.name
        ));
    }
}
