//! Which resets the two sides of the block have, and whether it survives each of them.
//!
//! The block survives a reset of either side alone: what it owes on the other side, and what it is owed there, is
//! counted. It has to know of each reset of what it talks to, though. A memory that is reset without the block
//! never answers what the block waits for; and a block that is reset on the side of a memory which is not takes
//! answers from before for new ones. The same holds of the hard IP.

use std::collections::BTreeSet;

use crate::check::{Extended, Findings};
use crate::system::library::is_pcie_hip;
use crate::system::qsys::{End, System};

const TEST: &str = "resets";

/// Tests that the block is reset with the hard IP, and its memory side with what its masters reach.
pub fn check(bsp: &Extended<'_>, findings: &mut Findings) {
    let before = findings.errors();
    let (system, block) = (bsp.system, bsp.block);
    let memory = roots(system, &End::new(&block.name, "reset"));
    let pcie = roots(system, &End::new(&block.name, "pcie_reset"));
    if let Some(hip) = system.modules.iter().find(|m| is_pcie_hip(&m.kind)) {
        let status = End::new(&hip.name, "nreset_status").to_string();
        if !pcie.contains(&status) {
            findings.bad(
                TEST,
                system.place(block),
                format!(
                    "{}.pcie_reset comes from {}, not from {status}: a reset of the hard IP would leave the block \
                     waiting in the middle of a burst",
                    block.name,
                    list(&pcie)
                ),
                "Connect the hard IP's nreset_status, through a reset controller, to the block's pcie_reset.",
            );
        }
    }
    let mut unknown = BTreeSet::new();
    for master in ["mem_rd", "mem_wr", "mem_win"] {
        let master = End::new(&block.name, master);
        for connection in system.of_kind("avalon").filter(|c| c.start == master) {
            let Some(sink) = reset_of(system, &connection.end) else {
                unknown.insert(connection.end.to_string());
                continue;
            };
            let there = roots(system, &sink);
            let place = || system.document.place(&connection.element);
            let alone: BTreeSet<_> = there.difference(&memory).cloned().collect();
            if !alone.is_empty() {
                findings.bad(
                    TEST,
                    place(),
                    format!(
                        "{} resets {sink} and not {}.reset: answers that the block waits for would never come",
                        list(&alone),
                        block.name
                    ),
                    "Lead it to the reset controller of the block's memory side, too.",
                );
            }
            let alone: BTreeSet<_> = memory.difference(&there).cloned().collect();
            if !alone.is_empty() {
                findings.bad(
                    TEST,
                    place(),
                    format!(
                        "{} resets {}.reset and not {sink}: the block would take answers of before for new ones",
                        list(&alone),
                        block.name
                    ),
                    "Lead it to that reset, too, or take it from the block's.",
                );
            }
        }
    }
    if !unknown.is_empty() {
        findings.note(
            TEST,
            system.place(block),
            format!(
                "no reset is connected to {}: whether the memory is reset with {}.reset was not tested",
                unknown.into_iter().collect::<Vec<_>>().join(", "),
                block.name
            ),
        );
    }
    if findings.errors() == before {
        let alone: BTreeSet<_> = memory.symmetric_difference(&pcie).cloned().collect();
        findings.good(
            TEST,
            match alone.is_empty() {
                true => format!("{} reset both sides of the block", list(&memory)),
                false => format!(
                    "{} reset one side of the block alone, which it survives",
                    list(&alone)
                ),
            },
        );
    }
}

fn list(roots: &BTreeSet<String>) -> String {
    match roots.is_empty() {
        true => "nothing".into(),
        false => roots.iter().cloned().collect::<Vec<_>>().join(", "),
    }
}

/// The reset sink that belongs to a slave, if it is connected: by the names of Platform Designer's bridges, and
/// `reset` elsewhere, as the memory dividers of these BSPs have it.
fn reset_of(system: &System, slave: &End) -> Option<End> {
    let names = [format!("{}_reset", slave.interface), "reset".to_owned()];
    names.into_iter().find_map(|name| {
        let sink = End::new(&slave.instance, &name);
        system
            .of_kind("reset")
            .any(|c| c.end == sink)
            .then_some(sink)
    })
}

/// Where the resets of a sink begin: outputs of what neither gathers nor hands on resets.
fn roots(system: &System, sink: &End) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![sink.clone()];
    while let Some(sink) = open.pop() {
        for connection in system.of_kind("reset").filter(|c| c.end == sink) {
            let source = &connection.start;
            if !seen.insert(source.to_string()) {
                continue;
            }
            let inputs = hands_on(system, source);
            if inputs.is_empty() {
                found.insert(source.to_string());
            }
            open.extend(inputs);
        }
    }
    found
}

/// The sinks whose resets this source hands on.
fn hands_on(system: &System, source: &End) -> Vec<End> {
    let Some(module) = system.module(&source.instance) else {
        return Vec::new();
    };
    let ends = || {
        system
            .of_kind("reset")
            .map(|c| &c.end)
            .filter(|end| end.instance == module.name)
    };
    let input = |name: &str| {
        ends()
            .filter(|end| end.interface == name)
            .cloned()
            .collect()
    };
    match (module.kind.as_str(), source.interface.as_str()) {
        ("altera_reset_controller", "reset_out") => ends()
            .filter(|end| end.interface.starts_with("reset_in"))
            .cloned()
            .collect(),
        ("altera_reset_bridge", "out_reset") => input("in_reset"),
        ("clock_source", "clk_reset") => input("clk_in_reset"),
        _ => Vec::new(),
    }
}
