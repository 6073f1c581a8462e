//! The hard IP's receive side. In the RTL that Quartus 16.0 and 17.0 generate (`altpciexpav128_p2a_addrtrans`), a BAR's
//! master gives the offset in the BAR, with 64-bit addresses too. For earlier versions this is not known. There a slave
//! certainly sees the offset only if it is alone, at address 0, and takes no more address bits than the BAR has.

use std::collections::BTreeMap;

use crate::Findings;
use crate::read::design::{Design, Wire, instance};
use crate::result::addresses::{DEPTH, base, span};
use crate::result::avalon::is_bar;
use crate::result::{Bsp, bad};

const TEST: &str = "receive side";
const WHY: &str = "with 64-bit addresses the master gives the offset in the BAR in Quartus 16.0 and 17.0; for earlier \
                   versions that is not known";

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) {
    let before = findings.found();
    let (mut said, mut seen) = (Vec::new(), false);
    for design in bsp.all() {
        let mut bars: BTreeMap<&str, Vec<&Wire>> = BTreeMap::new();
        for wire in design.avalon().filter(|w| is_bar(design, &w.from)) {
            bars.entry(&wire.from).or_default().push(wire);
        }
        for (bar, slaves) in bars {
            let hip = design.instance(instance(bar));
            if hip.and_then(|hip| hip.number("AVALON_ADDR_WIDTH")) == Some(64) {
                if alone(bsp, design, bar, &slaves, findings) {
                    said.push(bar.to_string());
                }
                seen = true;
            }
        }
        for export in design.outside.iter().filter(|o| is_bar(design, &o.inside)) {
            let what = format!("{} is exported as {}; {WHY}", export.inside, export.name);
            findings.note(TEST, design.place(export.line), what);
        }
    }
    if findings.unchanged(before) {
        let what = match said.as_slice() {
            [] if seen => return,
            [] => "no BAR of the hard IP has an Avalon-MM master with 64-bit addresses".into(),
            said => format!("one slave within the BAR on each of {}", said.join(", ")),
        };
        findings.good(TEST, what);
    }
}

/// Reports whether a BAR's master has one slave, at 0, within the BAR. Otherwise it adds a note, or a fault for a slave
/// past the BAR.
fn alone(bsp: &Bsp, design: &Design, bar: &str, slaves: &[&Wire], findings: &mut Findings) -> bool {
    let mut note = |line: usize, what: String| {
        findings.note(TEST, design.place(line), format!("{what}; {WHY}"));
        false
    };
    let [wire] = slaves else {
        let names: Vec<_> = slaves.iter().map(|w| w.to.as_str()).collect();
        let line = slaves.first().map_or(1, |w| w.line);
        return note(line, format!("{bar} has the slaves {}", names.join(", ")));
    };
    if base(wire) != Some(0) {
        return note(
            wire.line,
            format!("{} is not at address 0 of {bar}", wire.to),
        );
    }
    let number = bar
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    let hip = design.instance(instance(bar));
    let bits = hip.and_then(|hip| hip.number(&format!("SLAVE_ADDRESS_MAP_{number}")));
    match (span(bsp, design, &wire.to, DEPTH), bits) {
        (None, _) => note(
            wire.line,
            format!("the span of {} on {bar} is not known", wire.to),
        ),
        (Some(bytes), Some(bits @ 1..64)) if bytes > 1 << bits => {
            let what = format!(
                "{} takes {bytes:#x} bytes of {bar}, which has {:#x}",
                wire.to,
                1u64 << bits
            );
            bad(findings, TEST, design.place(wire.line), what);
            false
        }
        // If the width of the BAR is not given, Platform Designer takes its slave's.
        _ => true,
    }
}
