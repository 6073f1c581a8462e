//! Gen3: lines in settings and `quartus.ini` that a user has to check.

use std::collections::BTreeSet;

use crate::hard_ip::HardIp;
use crate::step::Step;
use peerlane_bsp_design::part::Part;
use peerlane_bsp_design::project::{Project, Role};
use peerlane_bsp_platform::error::Result;
use peerlane_bsp_platform::layout::Layout;
use peerlane_bsp_platform::text::{self, ranges};

/// Rules that make Quartus take a hard reset controller at Gen3.
const RULES: [&str; 2] = [
    "skip_hssi_gen3_pcie_hip_hip_hard_reset_rule",
    "skip_hssi_gen3_pcie_hip_hrdrstctrl_en_rule",
];
/// The native PHY inside the hard IP, whose cells have places of their own (`altpcie_hip_256_pipen1b`, ACDS 13.1).
const PHY: &str = "sv_xcvr_pipe_native";

/// Returns the points that a user has to check if the hard IP becomes Gen3. `after` is the project after the extension.
///
/// # Errors
/// Those of reading `quartus.ini`.
pub(crate) fn step(layout: &Layout, after: &Project, hip: Option<&HardIp>) -> Result<Step> {
    let mut step = Step::default();
    if hip.is_some_and(HardIp::becomes_gen_3) {
        step.to_do.extend(rules(layout, after)?);
        step.to_do.extend(places(after));
        step.to_do.extend(grades(after));
    }
    Ok(step)
}

/// Returns notes on the speed grades of the devices, if the part numbers have a known form.
fn grades(project: &Project) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (source, device) in project.settings(&["DEVICE"]) {
        let number = device.value.trim();
        let Ok(part) = Part::parse(number) else {
            continue;
        };
        if seen.insert(number.to_string()) {
            found.push(format!(
                "{}:{}: the device {number} has the speed grade {} of the fabric and {} of the transceivers; check \
                 that the table \"Recommended Speed Grades\" of 683093 has these for the new link.",
                source.name(),
                device.line,
                part.core,
                part.transceivers
            ));
        }
    }
    found
}

/// Finds rules of `quartus.ini` that would let a hard reset controller pass.
fn rules(layout: &Layout, project: &Project) -> Result<Option<String>> {
    let mut lines = Vec::new();
    let inis = project.tree.iter();
    for path in inis.filter(|path| path.file_name().is_some_and(|name| name == "quartus.ini")) {
        for (n, line) in text::read(&layout.root.join(path))?.lines().enumerate() {
            let rule = RULES
                .iter()
                .find(|rule| line.trim_start().starts_with(*rule));
            lines.extend(rule.map(|rule| format!("{}:{} {rule}", path.display(), n + 1)));
        }
    }
    Ok((!lines.is_empty()).then(|| {
        format!(
            "These rules make Quartus accept a hard reset controller at Gen3, which uses the soft one: {}. Remove \
             them, so that Quartus reports a forced hard reset controller again.",
            lines.join(", ")
        )
    }))
}

/// Finds places of the transceivers' cells from a compile at another generation.
fn places(project: &Project) -> Option<String> {
    let settings = project.sources.iter();
    let mut all = Vec::new();
    for source in settings.filter(|source| source.role <= Role::Sourced) {
        let lines = source.text.lines().enumerate();
        let those = lines.filter(|(_, line)| {
            line.trim_start().starts_with("set_location_assignment") && line.contains(PHY)
        });
        let lines: Vec<usize> = those.map(|(n, _)| n + 1).collect();
        let file = source.name();
        all.extend(
            ranges(&lines)
                .into_iter()
                .map(|range| format!("{file}:{range}")),
        );
    }
    (!all.is_empty()).then(|| {
        format!(
            "These lines place cells of the hard IP's transceivers (set_location_assignment): {}. They come from a \
             compile at the vendor's generation, and Gen3 has one PLL more. They were kept; remove them if the Fitter \
             reports that it cannot place a cell, or that a cell does not exist.",
            all.join(", ")
        )
    })
}
