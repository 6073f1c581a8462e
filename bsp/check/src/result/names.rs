//! Names that must be unique, instances that must be enabled, versions that must fit.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Findings;
use crate::read::component::Declared;
use crate::read::design::Design;
use crate::result::{BLOCK, Bsp, OLD, bad, new_faults};
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::hash::digest_of;
use peerlane_bsp_platform::layout::hw_tcl_path;

const TEST: &str = "names";
/// Kinds of the connections that the extension makes (Platform Designer's own names for them).
const CONNECTIONS: [&str; 6] = [
    "avalon",
    "avalon_streaming",
    "clock",
    "reset",
    "interrupt",
    "conduit",
];

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    let mut instances = 0;
    for design in bsp.all() {
        instances += design.instances.len();
        new_faults(findings, TEST, design, bsp.was(design), twice);
        if let Some(vendor) = bsp.was(design) {
            against(design, vendor, findings);
        } else {
            untouched(bsp, design, findings)?;
        }
    }
    for (design, block) in bsp.with_block() {
        if block.version != bsp.declared.version {
            let what = format!(
                "{} has version {}, its component has version {}",
                block.name, block.version, bsp.declared.version
            );
            bad(findings, TEST, design.place(block.line), what);
        }
    }
    own_hip(bsp, findings)?;
    if findings.unchanged(before) {
        let what = format!(
            "{instances} instances, each once and enabled; those that the extension kept have the vendor's kinds and \
             versions"
        );
        findings.good(TEST, what);
    }
    Ok(())
}

/// Checks that Peerlane's own hard IP has the version of its component.
fn own_hip(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let path = Path::new(&hw_tcl_path()).with_file_name(format!("{OWN_HIP}_hw.tcl"));
    let path = bsp.hardware.join(path);
    // The test of component lists reports a missing file.
    if !path.is_file() {
        return Ok(());
    }
    let version = Declared::read(&path)?.version;
    for design in bsp.all() {
        let own = design.instances.iter().filter(|i| i.kind == OWN_HIP);
        for instance in own.filter(|i| i.version != version) {
            let what = format!(
                "{} has version {}, its component has version {version}",
                instance.name, instance.version
            );
            bad(findings, TEST, design.place(instance.line), what);
        }
    }
    Ok(())
}

/// Finds names that occur twice in a system.
fn twice(design: &Design) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let instances = design.instances.iter();
    let instances = instances.map(|i| (i.line, format!("instance {}", i.name)));
    let exports = design.outside.iter();
    let exports = exports.map(|o| (o.line, format!("export {}", o.name)));
    let wires = design.wires.iter();
    let wires = wires.map(|w| {
        (
            w.line,
            format!("{} connection {} → {}", w.kind, w.from, w.to),
        )
    });
    let all = instances.chain(exports).chain(wires);
    all.filter(|(_, name)| !seen.insert(name.clone()))
        .map(|(line, name)| (line, format!("{name} exists twice")))
        .collect()
}

/// Compares a system that the extension changed with the vendor's.
fn against(design: &Design, vendor: &Design, findings: &mut Findings) {
    for instance in &design.instances {
        let place = || design.place(instance.line);
        let Some(was) = vendor.instance(&instance.name) else {
            if !instance.enabled {
                bad(
                    findings,
                    TEST,
                    place(),
                    format!("{} is not enabled", instance.name),
                );
            }
            // Quartus has the versions of a kind that the vendor's instances have.
            let like = vendor.instances.iter().filter(|i| i.kind == instance.kind);
            let mut versions: Vec<&str> = like.map(|i| i.version.as_str()).collect();
            versions.dedup();
            if !versions.is_empty() && !versions.contains(&instance.version.as_str()) {
                let what = format!(
                    "{} has the kind {} {}; those of the vendor's BSP have {}",
                    instance.name,
                    instance.kind,
                    instance.version,
                    versions.join(", ")
                );
                bad(findings, TEST, place(), what);
            }
            continue;
        };
        if was.enabled && !instance.enabled {
            bad(
                findings,
                TEST,
                place(),
                format!("{} is not enabled", instance.name),
            );
        }
        if instance.kind == BLOCK && was.kind == OLD {
            continue;
        }
        if (&instance.kind, &instance.version) != (&was.kind, &was.version) {
            let what = format!(
                "{} has the kind {} {}; in the vendor's BSP it has {} {}",
                instance.name, instance.kind, instance.version, was.kind, was.version
            );
            bad(findings, TEST, place(), what);
        }
    }
    for wire in &design.wires {
        let known = |kind: &str| {
            CONNECTIONS.contains(&kind) || vendor.wires.iter().any(|was| was.kind == kind)
        };
        if !known(&wire.kind) {
            let what = format!(
                "the connection {} → {} has the kind {}, which does not exist",
                wire.from, wire.to, wire.kind
            );
            bad(findings, TEST, design.place(wire.line), what);
        }
    }
    for was in &vendor.instances {
        // A bridge may be gone if all its connections are; the test of connections checks those.
        let ways = vendor
            .avalon()
            .filter(|w| w.instances().contains(&was.name.as_str()));
        if design.instance(&was.name).is_none() && (!is_bridge(&was.kind) || ways.count() == 0) {
            let what = format!(
                "instance {} ({}) of the vendor's BSP is missing",
                was.name, was.kind
            );
            bad(findings, TEST, design.place(1), what);
        }
    }
}

/// Checks that a system that the extension did not change is the vendor's.
fn untouched(bsp: &Bsp, design: &Design, findings: &mut Findings) -> Result<()> {
    let inside = bsp.inside(&design.path);
    match bsp.vendor.hash(&inside) {
        Some(hash) if digest_of(&design.path)? != hash => {
            for instance in design.instances.iter().filter(|i| !i.enabled) {
                let what = format!("{} is not enabled", instance.name);
                bad(findings, TEST, design.place(instance.line), what);
            }
            let what =
                "it differs from the vendor's file, and no copy of that was kept".to_string();
            bad(findings, TEST, design.place(1), what);
        }
        Some(_) => {}
        None => findings.note(
            TEST,
            design.place(1),
            "the vendor's BSP does not have this system",
        ),
    }
    Ok(())
}

/// Quartus's component of the Avalon-ST variant.
const QUARTUS_HIP: &str = "altera_pcie_sv_hip_ast";
/// Peerlane's own component of that variant.
pub(super) const OWN_HIP: &str = "peerlane_pcie_hip";

/// Reports whether a kind is a PCIe hard IP, of either variant.
pub(super) fn is_hard_ip(kind: &str) -> bool {
    is_avmm(kind) || is_streaming(kind)
}

/// Reports whether a kind is the variant with Avalon-MM ports.
pub(super) fn is_avmm(kind: &str) -> bool {
    kind.starts_with("altera_pcie_") && kind.ends_with("_hip_avmm")
}

/// Reports whether a kind is the variant with an Avalon-ST interface.
pub(super) fn is_streaming(kind: &str) -> bool {
    [QUARTUS_HIP, OWN_HIP].contains(&kind)
}

/// Reports whether a kind passes transfers on.
pub(super) fn is_bridge(kind: &str) -> bool {
    matches!(
        kind,
        "altera_avalon_mm_bridge" | "altera_avalon_mm_clock_crossing_bridge" | "dma_pcie_bridge"
    )
}
