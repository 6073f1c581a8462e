//! MSI-X: the hard IP's capability, and the connections that belong to it. Without MSI-X there is nothing to test here:
//! the interrupt line is one of the block's interfaces.

use crate::Findings;
use crate::read::design::{Design, Wire, instance};
use crate::result::names::{is_hard_ip, is_streaming};
use crate::result::{Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_generate::config::Irq;

const TEST: &str = "interrupts";
/// Bytes of an entry of the table (PCI Local Bus Specification 3.0, 6.8.2).
const ENTRY: u64 = 16;
/// Bytes of the table with its pending bits, if they are inside the block.
const MSIX_BYTES: u128 = 0x1000;
/// Interfaces of the hard IP and of the block that belong together. The hard IP's names are those of its component in
/// Quartus 13.1 (`CG_ENABLE_ADVANCED_INTERRUPT`).
const PAIRS: [(&str, &str); 2] = [
    ("MSIX_Interface", "msix_control"),
    ("INTX_Interface", "intx"),
];

/// Returns the hard IP's parameters, of the Stratix V Avalon-MM user guide 683411, "MSI and MSI-X Capabilities". None
/// without MSI-X.
pub(super) fn settings(bsp: &Bsp, build: &Build) -> Vec<(&'static str, u64)> {
    let mut settings = of_function(bsp, build);
    if !settings.is_empty() {
        settings.push(("CG_ENABLE_ADVANCED_INTERRUPT", 1));
    }
    settings
}

/// Returns the parameters of the function's capability, which both variants of the hard IP have.
pub(super) fn of_function(bsp: &Bsp, build: &Build) -> Vec<(&'static str, u64)> {
    let Some((bar, table, vectors, pending)) = table(bsp, build) else {
        return Vec::new();
    };
    vec![
        ("enable_function_msix_support_hwtcl", 1),
        // The capability has the number of vectors less one.
        ("msix_table_size_hwtcl", vectors - 1),
        ("msix_table_bir_hwtcl", bar),
        ("msix_table_offset_hwtcl", table),
        ("msix_pba_bir_hwtcl", bar),
        ("msix_pba_offset_hwtcl", pending),
    ]
}

/// Returns BAR, place of the table in it, number of vectors, and place of the pending bits.
fn table(bsp: &Bsp, build: &Build) -> Option<(u64, u64, u64, u64)> {
    if build.config.irq != Irq::Msix {
        return None;
    }
    let table = *build.slaves.get("msix")?;
    // One vector for faults, one for the OpenCL kernel, one for each channel; the pending bits are in the upper half of
    // the slave (docs/explain/block.md, on interrupts).
    let vectors = u64::from(build.config.channels) + 2;
    let span = match build.config.has_tlp_port() {
        false => bsp.declared.span("msix")?,
        true => MSIX_BYTES,
    };
    let half = u64::try_from(span / 2).ok()?;
    Some((u64::from(build.bar), table, vectors, table + half))
}

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) {
    if build.config.irq != Irq::Msix {
        return;
    }
    let before = findings.found();
    let mut said = None;
    for (design, block) in bsp.with_block() {
        let place = || design.place(block.line);
        let Some((bar, at, vectors, pending)) = table(bsp, build) else {
            let what = format!("the record has no place for {}.msix", block.name);
            bad(findings, TEST, place(), what);
            continue;
        };
        if at + ENTRY * vectors > pending {
            let what =
                format!("{vectors} vectors at {at:#x} overlap the pending bits at {pending:#x}");
            bad(findings, TEST, place(), what);
        }
        said = Some(format!(
            "MSI-X, {vectors} vectors; table in BAR {bar} at {at:#x}, pending bits at {pending:#x}"
        ));
        let Some(hip) = design.instances.iter().find(|i| is_hard_ip(&i.kind)) else {
            continue;
        };
        let pairs = PAIRS.iter().filter(|_| !is_streaming(&hip.kind));
        for (of_hip, of_block) in pairs {
            let (one, other) = (
                format!("{}.{of_hip}", hip.name),
                format!("{}.{of_block}", block.name),
            );
            if !joined(design, &one, &other) {
                let what = format!("{other} is not connected to {one}");
                bad(findings, TEST, place(), what);
            }
        }
        let line = format!("{}.RxmIrq", hip.name);
        let others = |w: &&Wire| instance(&w.to) != block.name;
        let of_line = design
            .wires
            .iter()
            .filter(|w| w.kind == "interrupt" && w.from == line);
        for wire in of_line.filter(others) {
            let what = format!(
                "{} interrupts through {line}, where it has no vector",
                wire.to
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
        findings.note(
            TEST,
            design.place(hip.line),
            "not verified: the hard IP takes these offsets in bytes. Compare with `lspci -vv`",
        );
    }
    if let (true, Some(said)) = (findings.unchanged(before), said) {
        findings.good(TEST, said);
    }
}

/// Reports whether a conduit joins two interfaces, in either order.
fn joined(design: &Design, one: &str, other: &str) -> bool {
    let mut conduits = design.wires.iter().filter(|w| w.kind == "conduit");
    conduits.any(|w| (w.from == one && w.to == other) || (w.from == other && w.to == one))
}
