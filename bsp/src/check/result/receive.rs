//! The hard IP's receive side. With 64-bit addresses it does not translate: a BAR's master drives the PCIe address
//! (Stratix V Avalon-MM user guide 683411, "Avalon-MM System Settings"). Its slave sees the offset in the BAR only if
//! it is alone there, at address 0, and takes no more address bits than the BAR has.

use std::collections::BTreeMap;

use crate::check::Findings;
use crate::check::read::design::{Design, Wire, instance};
use crate::check::result::addresses::{DEPTH, base, span};
use crate::check::result::avalon::is_bar;
use crate::check::result::{Bsp, bad};

const TEST: &str = "receive side";

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    let before = findings.errors();
    let mut said = Vec::new();
    for design in bsp.all() {
        let mut bars: BTreeMap<&str, Vec<&Wire>> = BTreeMap::new();
        for wire in design.avalon().filter(|w| is_bar(design, &w.from)) {
            bars.entry(&wire.from).or_default().push(wire);
        }
        for (bar, slaves) in bars {
            let hip = design.instance(instance(bar));
            if hip.and_then(|hip| hip.number("AVALON_ADDR_WIDTH")) == Some(64) {
                alone(bsp, design, bar, &slaves, findings);
                said.push(bar.to_string());
            }
        }
        for export in design.outside.iter().filter(|o| is_bar(design, &o.inside)) {
            let what = format!(
                "{} is exported as {}, where the PCIe address comes out",
                export.inside, export.name
            );
            findings.note(TEST, design.place(export.line), what);
        }
    }
    if findings.unchanged(before) {
        let what = match said.as_slice() {
            [] => "no BAR of the hard IP has an Avalon-MM master with 64-bit addresses".into(),
            said => format!("one slave within the BAR on each of {}", said.join(", ")),
        };
        findings.good(TEST, what);
    }
}

fn alone(bsp: &Bsp, design: &Design, bar: &str, slaves: &[&Wire], findings: &mut Findings) {
    const WHY: &str =
        "with 64-bit addresses it would be found at other offsets than the host writes to";
    let [wire] = slaves else {
        let names: Vec<_> = slaves.iter().map(|w| w.to.as_str()).collect();
        let what = format!("{bar} has the slaves {}: {WHY}", names.join(", "));
        let line = slaves.first().map_or(1, |w| w.line);
        return bad(findings, TEST, design.place(line), what);
    };
    if base(wire) != Some(0) {
        let what = format!("{} is not at 0 of {bar}: {WHY}", wire.to);
        bad(findings, TEST, design.place(wire.line), what);
    }
    let number = bar
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    let hip = design.instance(instance(bar));
    let bits = hip.and_then(|hip| hip.number(&format!("SLAVE_ADDRESS_MAP_{number}")));
    match (span(bsp, design, &wire.to, DEPTH), bits) {
        (None, _) => {
            let what = format!("what {} takes of {bar} is not known: {WHY}", wire.to);
            bad(findings, TEST, design.place(wire.line), what);
        }
        (Some(bytes), Some(bits @ 1..64)) if bytes > 1 << bits => {
            let what = format!(
                "{} takes {bytes:#x} bytes of {bar}, which has {:#x}: {WHY}",
                wire.to,
                1u64 << bits
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
        // Where the width of the BAR is not given, Platform Designer takes its slave's.
        _ => {}
    }
}
