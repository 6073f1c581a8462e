//! Gen3: the parts that the transceivers need in addition to the hard IP.
//!
//! Receivers at 8 GT/s are adapted (AEQ) by a block of the transceivers' controller, `alt_xcvr_reconfig`. Altera's
//! `altera_pcie_reconfig_driver` starts it when the link comes to that rate (Stratix V Avalon-ST Interface for PCIe
//! 683093, "Connecting the Transceiver Reconfiguration Controller"). Interfaces, parameters and connections of the
//! driver are those of its component description and of the example `pcie_de_gen3_x8_ast256`, ACDS 13.1.

use crate::hard_ip::HardIp;
use crate::writer::Writer;
use peerlane_bsp_design::qsys::{Connection, End, Module, NewConnection, System};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block::stream::{CLOCK, STATUS};

/// The driver's kind.
const DRIVER: &str = "altera_pcie_reconfig_driver";
/// The name of the new instance.
const NAME: &str = "pcie_reconfig_driver";
/// The controller's parameter for the adaptive equalisation.
const ADAPTIVE: &str = "enable_adce";
/// The parameter of controller and driver for the number of interfaces.
const COUNT: &str = "number_of_reconfig_interfaces";
const RATE: &str = "Gen3 (8.0 Gbps)";
const SPEED: &str = "hip_currentspeed";
const STARTS: &str = "it starts the receivers' adaptive equalisation when the link reaches 8 GT/s";

/// Returns the controller of the transceivers, if it is in the system.
pub(crate) fn controller<'a>(site: &Site<'a>) -> Option<&'a Module> {
    let end = End::new(&site.hip.name, "reconfig_to_xcvr");
    let mut conduits = site.system.of_kind("conduit");
    let other = conduits.find_map(|c| c.other_end(&end))?;
    site.system.module(&other.instance)
}

/// Returns the groups of a controller's interfaces, if it has several ("Optional interface grouping" of
/// `alt_xcvr_reconfig`): the number of interfaces in each, separated by commas.
pub(crate) fn groups(controller: &Module) -> Option<&str> {
    let groups = controller.parameter("gui_split_sizes")?.trim();
    (!groups.is_empty()).then_some(groups)
}

/// The connections for the driver.
struct Driver<'a> {
    controller: &'a Module,
    clock: &'a Connection,
    resets: Vec<&'a Connection>,
}

/// Returns the user of an interface, as a sentence.
fn user(system: &System, end: &End) -> Option<String> {
    let other = system.connections.iter().find_map(|c| c.other_end(end));
    let export = system.exported(&end.instance, Some(&end.interface));
    let export = export.filter(|export| !export.stale);
    match (other, export) {
        (Some(other), _) => Some(format!("{end} is connected to {other}")),
        (None, Some(export)) => Some(format!("{end} is exported as {}", export.name)),
        (None, None) => None,
    }
}

/// Returns the connections for the driver, or the reason why a user must add it.
fn driver<'a>(site: &Site<'a>) -> Result<Driver<'a>, String> {
    let (system, hip) = (site.system, &site.hip.name);
    let Some(controller) = controller(site) else {
        return Err(format!("no controller is connected to {hip} in the system"));
    };
    let name = &controller.name;
    if groups(controller).is_some() {
        return Err(format!("{name} serves other components, too"));
    }
    if let Some(other) = system.modules.iter().find(|m| m.kind == DRIVER) {
        return Err(format!(
            "{} is already such a driver, for another component",
            other.name
        ));
    }
    let ends = [
        End::new(name, "reconfig_mgmt"),
        End::new(name, "reconfig_busy"),
        End::new(hip, SPEED),
    ];
    if let Some(held) = ends.iter().find_map(|end| user(system, end)) {
        return Err(held);
    }
    let of = |kind: &'static str, interface: &str| {
        let end = End::new(name, interface);
        let all = system.connections.iter();
        all.filter(move |c| c.kind == kind && c.end == end)
    };
    let clock = of("clock", "mgmt_clk_clk").next();
    let resets: Vec<_> = of("reset", "mgmt_rst_reset").collect();
    match clock.filter(|_| !resets.is_empty()) {
        Some(clock) => Ok(Driver {
            controller,
            clock,
            resets,
        }),
        None => Err(format!("{name} has no clock or no reset in the system")),
    }
}

impl Writer<'_> {
    /// Sets up the transceivers' controller for the hard IP, if the controller is in the system: the hard IP's number
    /// of interfaces, and at Gen3 the receivers' adaptive equalisation with the driver that starts it.
    pub(super) fn reconfiguration(&mut self, to: &HardIp) {
        let (site, (_, needed)) = (self.site(), to.reconfiguration);
        let Some(controller) = controller(site) else {
            return;
        };
        let mut set = |parameter, before: String, value: &str, why| {
            site.system
                .set_parameter(&mut self.edits, controller, parameter, value);
            let what = format!("{}: {parameter} {before} → {value}", controller.name);
            self.note(what, why);
        };
        // If the interfaces are in groups, a user must decide which group grows.
        let has = controller
            .number(COUNT)
            .filter(|_| groups(controller).is_none());
        if let Some(has) = has.filter(|has| *has < u64::from(needed)) {
            let why = "the number of interfaces of the hard IP at this generation";
            set(COUNT, has.to_string(), &needed.to_string(), why);
        }
        let adapts = controller.number(ADAPTIVE).is_some_and(|on| on != 0);
        if to.generation.1 == 3 && !adapts {
            let before = controller.parameter(ADAPTIVE).unwrap_or("not set").trim();
            let why = "the receivers' adaptive equalisation, which Gen3 needs";
            set(ADAPTIVE, before.to_string(), "1", why);
        }
        if to.generation.1 == 3
            && let Ok(driver) = driver(site)
        {
            self.driver(&driver, u64::from(needed).max(has.unwrap_or(0)));
        }
    }

    /// Adds the driver for the controller.
    fn driver(&mut self, to: &Driver<'_>, interfaces: u64) {
        let (site, controller) = (self.site(), to.controller);
        let taken = |name: &str| site.system.module(name).is_some();
        let numbered = (0..).map(|n| match n {
            0 => NAME.to_string(),
            n => format!("{NAME}_{n}"),
        });
        let name = numbered.into_iter().find(|name| !taken(name));
        let name = name.expect("there are more numbers than instances");
        // The driver's description of 13.1 has no version, which means 1.0; later ones have Quartus's own, like the
        // controller.
        let version = match controller.element.attribute("version") {
            Some(version) if !version.starts_with("13.") => version,
            _ => "1.0",
        };
        let parameters = [
            ("gen123_lane_rate_mode_hwtcl", RATE.to_string()),
            (COUNT, interfaces.to_string()),
            ("enable_cal_busy_hwtcl", "0".into()),
        ];
        let at = &controller.element;
        let text = (site.system).instance_text(at, DRIVER, version, &name, &parameters);
        self.edits.insert(at.span.end, text);
        self.note(format!("instance {name} of kind {DRIVER} added"), STARTS);
        let (hip, dma) = (&site.hip.name, &site.dma.name);
        let own = |interface: &str| End::new(&name, interface);
        let new = |kind, start: End, end: End, base| NewConnection {
            kind,
            version: &to.clock.version,
            start,
            end,
            base,
        };
        let other = |interface: &str| End::new(&controller.name, interface);
        let mut all = vec![new(
            "clock",
            to.clock.start.clone(),
            own("reconfig_xcvr_clk"),
            None,
        )];
        let resets = to.resets.iter().map(|reset| reset.start.clone());
        all.extend(resets.map(|reset| new("reset", reset, own("reconfig_xcvr_rst"), None)));
        all.extend([
            new("clock", End::new(dma, CLOCK), own("pld_clk"), None),
            new(
                "avalon",
                own("reconfig_mgmt"),
                other("reconfig_mgmt"),
                Some(0),
            ),
            new(
                "conduit",
                own("reconfig_busy"),
                other("reconfig_busy"),
                None,
            ),
            new("conduit", End::new(hip, SPEED), own(SPEED), None),
            new("conduit", End::new(dma, STATUS), own(STATUS), None),
        ]);
        self.add_after(to.clock, &all, STARTS);
    }
}

/// Returns the tasks for a user about the transceivers.
pub(crate) fn to_do(site: &Site<'_>, hip: &HardIp) -> Vec<String> {
    let name = &site.hip.name;
    let (before, after) = hip.reconfiguration;
    let mut to_do = Vec::new();
    if hip.generation.1 == 3
        && let Err(why) = driver(site)
    {
        to_do.push(equalisation(site, after, &why));
    }
    let controller = controller(site).and_then(|one| Some((one, groups(one)?)));
    if let Some((controller, groups)) = controller.filter(|_| before != after) {
        to_do.push(format!(
            "{} serves others in addition to {name}: its interfaces are in groups ({groups}, gui_split_sizes). The \
             group of {name} must grow from {before} to {after}, and number_of_reconfig_interfaces by as many; the \
             conduits after it get other names. Neither was changed.",
            controller.name
        ));
    }
    let is_exported = |interface| {
        let export = site.system.exported(name, Some(interface));
        export.is_some_and(|export| !export.stale)
    };
    if before != after && is_exported("reconfig_to_xcvr") {
        to_do.push(format!(
            "{name} has {after} interfaces of the transceivers' reconfiguration instead of {before}, and its conduits \
             reconfig_to_xcvr and reconfig_from_xcvr are exported: the controller outside (alt_xcvr_reconfig, \
             number_of_reconfig_interfaces) must have {after}, and the wires to it {} and {} bits.",
            70 * after,
            46 * after
        ));
    }
    to_do
}

/// Describes how a user adds the driver.
fn equalisation(site: &Site<'_>, interfaces: u32, why: &str) -> String {
    let (hip, dma) = (&site.hip.name, &site.dma.name);
    let (inside, adapts) = match controller(site) {
        Some(controller) => (
            controller.name.clone(),
            format!("It is on in {} now ({ADAPTIVE}).", controller.name),
        ),
        None => (
            "the controller".into(),
            format!("{ADAPTIVE} of the controller must be set to 1."),
        ),
    };
    format!(
        "At Gen3 the receivers need adaptive equalisation (AEQ) by the transceivers' controller (alt_xcvr_reconfig). \
         {adapts} Altera's {DRIVER} must start it when the link reaches 8 GT/s; without it the link may fall back, or \
         have errors. It was not added: {why}. Add one, with gen123_lane_rate_mode_hwtcl \"{RATE}\" and {COUNT} \
         {interfaces}, and connect these: reconfig_xcvr_clk and reconfig_xcvr_rst to the clock and the reset that \
         {inside} has at mgmt_clk_clk and mgmt_rst_reset; reconfig_mgmt, a master, to its reconfig_mgmt at 0, where no \
         other master may write at the same time; reconfig_busy to its reconfig_busy; pld_clk to {dma}.{CLOCK}; \
         {SPEED} to {hip}.{SPEED}; {STATUS} to {dma}.{STATUS}. If the controller is outside the system, add the driver \
         here and export its reconfig_mgmt and reconfig_busy through every system up to the controller's; or add it \
         next to the controller, and export {dma}.{CLOCK}, {hip}.{SPEED} and {dma}.{STATUS} instead."
    )
}
