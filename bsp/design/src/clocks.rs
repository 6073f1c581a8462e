//! Finds the clock of an input.

use crate::qsys::{End, Module, System};
use crate::site::Site;

/// Returns the source of an input's clock: an output of an instance that neither passes clocks on nor renames them.
/// `None` if the input is not connected, or its clock comes from outside the system.
pub fn source(system: &System, sink: &End) -> Option<End> {
    let mut sink = sink.clone();
    for _ in 0..=system.modules.len() {
        let connection = system.of_kind("clock").find(|c| c.end == sink)?;
        let start = &connection.start;
        let module = system.module(&start.instance)?;
        let input = match (module.kind.as_str(), start.interface.as_str()) {
            ("altera_clock_bridge", "out_clk") => "in_clk",
            ("clock_source", "clk") => "clk_in",
            _ => return Some(start.clone()),
        };
        sink = End::new(&module.name, input);
    }
    None
}

/// Reports whether a bridge runs in the hard IP's clock on both sides. A side of unknown clock counts, except for a
/// bridge between clocks.
pub fn is_hard_ips(site: &Site<'_>, bridge: &Module) -> bool {
    let of = |name: &str| source(site.system, &End::new(&bridge.name, name));
    let hard_ips =
        |clock: End| clock.instance == site.hip.name && clock.interface.starts_with("coreclkout");
    match bridge.kind.as_str() {
        "altera_avalon_mm_clock_crossing_bridge" => ["s0_clk", "m0_clk"]
            .into_iter()
            .all(|side| of(side).is_some_and(hard_ips)),
        _ => of("clk").is_none_or(hard_ips),
    }
}
