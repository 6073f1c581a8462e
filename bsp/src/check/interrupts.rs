//! How the block interrupts the host: the hard IP's capability, and the connections that belong to it.

use crate::check::{Extended, Findings};
use crate::config::Irq;
use crate::system::interrupts::{CONDUITS, RXM_IRQ, Table, joins, other_senders};
use crate::system::library::is_pcie_hip;
use crate::system::qsys::End;

const TEST: &str = "interrupts";
const AGAIN: &str = "Mend it in Platform Designer, or extend the vendor's BSP again.";

/// Tests the settings of MSI-X against the record and the places, and what hangs on its interfaces. Without
/// MSI-X there is nothing to test: the interrupt line is one of the block's interfaces.
pub fn check(bsp: &Extended<'_>, findings: &mut Findings) {
    // That there is a hard IP, another test says.
    let Some(hip) = bsp.system.modules.iter().find(|m| is_pcie_hip(&m.kind)) else {
        return;
    };
    let (build, name) = (bsp.build, &bsp.block.name);
    if build.config.irq == Irq::Rxm {
        return;
    }
    let before = findings.errors();
    let Some(&offset) = build.slaves.get("msix") else {
        let what = format!("the record has no place of {name}.msix");
        findings.bad(TEST, bsp.system.place(bsp.block), what, AGAIN);
        return;
    };
    let table = Table {
        bar: build.bar,
        offset,
        vectors: build.config.vectors(),
    };
    for (parameter, value) in table.settings() {
        let has = hip.parameter(parameter).unwrap_or("not set");
        // Newer versions of Platform Designer write such numbers with a point.
        if has.strip_suffix(".0").unwrap_or(has).parse() != Ok(value) {
            let what = format!("{}: {parameter} is {has}, it must be {value}", hip.name);
            findings.bad(TEST, bsp.system.place(hip), what, AGAIN);
        }
    }
    for (of_hip, of_block) in CONDUITS {
        let (one, other) = (End::new(&hip.name, of_hip), End::new(name, of_block));
        let mut conduits = bsp.system.of_kind("conduit");
        if !conduits.any(|c| joins(c, &one, &other)) {
            let what = format!("{other} is not connected to {one}");
            findings.bad(TEST, bsp.system.place(bsp.block), what, AGAIN);
        }
    }
    for sender in other_senders(bsp.system, &hip.name, name) {
        let place = bsp.system.document.place(&sender.element);
        let what = format!(
            "{} interrupts through {}.{RXM_IRQ}, where it gets no vector",
            sender.end, hip.name
        );
        findings.bad(TEST, place, what, AGAIN);
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "MSI-X, {} vectors; table in BAR {} at {offset:#x}, pending bits at {:#x}",
                table.vectors,
                table.bar,
                table.pending()
            ),
        );
        findings.note(
            TEST,
            bsp.system.place(hip),
            "that the hard IP takes these offsets in bytes was not verified: compare with `lspci -vv`",
        );
    }
}
