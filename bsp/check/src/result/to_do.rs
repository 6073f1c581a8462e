//! Work that is left to a user on a board with a TLP port: notes that disappear when it is done.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Findings;
use crate::read::design::{Design, Instance};
use crate::read::settings::{Assignment, Revision};
use crate::read::tcl::Runs;
use crate::result::gen3::{TO_DO, interfaces, is_gen_3};
use crate::result::hip_paths::{names_a_file, names_the_old};
use crate::result::lines::Pair;
use crate::result::names::is_streaming;
use crate::result::pins::{PHY, names};
use crate::result::settings::IMPORTS;
use crate::result::{Bsp, FILES};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::layout::{OWN_DIR, SCRIPT_DIR};
use peerlane_bsp_platform::text;

/// Settings of configuration over PCIe (Configuration via Protocol in V-series FPGA devices user guide 683889, 4.2).
const CVP: [&str; 5] = [
    BASE,
    "CVP_MODE",
    "CVP_REVISION",
    "ENABLE_CVP_CONFDONE",
    TYPE,
];
const BASE: &str = "BASE_REVISION";
const TYPE: &str = "REVISION_TYPE";
/// A word in a step that takes a core alone.
const CORE: &str = "core.rbf";
/// Endings of scripts.
const SCRIPTS: [&str; 9] = ["tcl", "sh", "bash", "csh", "bat", "cmd", "pl", "py", "mk"];
/// Defines a macro for the Verilog, which may be about configuration over PCIe.
const MACRO: &str = "VERILOG_MACRO";
/// The vendors' module whose output is 0, which replaces `cvp_update_reset` in the revision that is for a core alone.
const ZERO: &str = "cvp_update_reset_zero";
/// Rules of `quartus.ini` that make Quartus take a hard reset controller at Gen3.
const RULES: [&str; 2] = [
    "skip_hssi_gen3_pcie_hip_hip_hard_reset_rule",
    "skip_hssi_gen3_pcie_hip_hrdrstctrl_en_rule",
];

pub(super) fn check(
    bsp: &Bsp,
    build: &Build,
    pairs: &[Pair<'_>],
    findings: &mut Findings,
) -> Result<()> {
    let mut all = bsp.with_block().flat_map(|(design, _)| {
        let hips = design.instances.iter().filter(|i| is_streaming(&i.kind));
        hips.map(move |hip| (design, hip))
    });
    let Some((design, hip)) = all.next() else {
        return Ok(());
    };
    constraints(bsp, findings)?;
    bridges(bsp, findings)?;
    let lost_cvp = lost_cvp(bsp);
    // If each kernel's compile is one of the whole board, the imports stay off.
    if !(lost_cvp && had_persona(pairs)) {
        imports(pairs, findings);
    }
    patches(bsp, lost_cvp, findings);
    if !is_gen_3(hip) || build.config.port.generation.is_none() {
        return Ok(());
    }
    if lost_cvp {
        configuration(bsp, findings);
        cores(bsp, had_persona(pairs), findings);
    }
    let was = bsp.was(design);
    // Settings for a compile at Gen3 stay valid.
    if was
        .and_then(|vendor| vendor.instance(&hip.name))
        .is_some_and(is_gen_3)
    {
        return Ok(());
    }
    rules(bsp, findings)?;
    places(bsp, findings)?;
    widths(bsp, design, hip, findings)
}

/// Reports whether the vendor's hard IP has configuration over PCIe, and the new one has none because it is at Gen3.
fn lost_cvp(bsp: &Bsp) -> bool {
    bsp.replaced().any(|(design, vendor)| {
        let mut hips = design.instances.iter();
        hips.any(|hip| {
            let was = vendor.instance(&hip.name);
            is_streaming(&hip.kind)
                && is_gen_3(hip)
                && was.is_some_and(|was| was.number("in_cvp_mode_hwtcl").unwrap_or(0) != 0)
        })
    })
}

/// Settings of a vendor's revision that the notes ask to remove with configuration over PCIe.
pub(super) struct Leaving {
    lost_cvp: bool,
    for_core: bool,
}

impl Leaving {
    pub(super) fn of(bsp: &Bsp, vendor: &Revision) -> Self {
        Self {
            lost_cvp: lost_cvp(bsp),
            for_core: is_for_core(vendor, false),
        }
    }

    /// Reports whether the setting may not stay as it is.
    pub(super) fn has(&self, vendor: &Assignment) -> bool {
        self.lost_cvp && for_cvp(vendor, self.for_core).is_some()
    }

    /// Reports whether the setting is to be removed without doubt. One that is off may go, too: the report names it.
    pub(super) fn was_asked(&self, vendor: &Assignment) -> bool {
        let name = vendor.name.as_deref().unwrap_or_default();
        let off = || name != TYPE && name != BASE;
        self.lost_cvp && CVP.contains(&name) && (off() || self.has(vendor))
    }
}

fn names_zero(assignment: &Assignment) -> bool {
    let value = assignment.value.as_deref().unwrap_or_default();
    assignment.name.as_deref() == Some("VERILOG_FILE") && value.contains(ZERO)
}

/// Returns the BSP's files with these endings, without those that Peerlane generates.
fn files<'a>(bsp: &'a Bsp, endings: &'a [&str]) -> impl Iterator<Item = &'a PathBuf> {
    let own = bsp.hardware.join(OWN_DIR);
    let all = bsp.project.files.values().flatten();
    all.filter(move |path| {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        endings.contains(&ending.as_ref()) && !path.starts_with(&own)
    })
}

/// Returns the lines of a script or settings file for which `holds` is true, without comments.
fn lines(path: &Path, holds: impl Fn(&str) -> bool) -> Result<Vec<usize>> {
    let text = text::read(path)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with('#') && holds(line));
    Ok(lines.map(|(n, _)| n + 1).collect())
}

/// Reports paths with the level of the hierarchy that is gone, which Quartus does not find.
fn constraints(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    for path in files(bsp, &["sdc", "tcl", "qsf", "qip"]) {
        let lines = lines(path, names_the_old)?;
        if let Some(first) = lines.first() {
            let what = format!(
                "{} name altera_s5_a2p or the entity around it, which do not exist with a TLP port: Quartus ignores \
                 names that match nothing",
                counted(&lines)
            );
            findings.note(TO_DO, Place::line(path, *first), what);
        }
    }
    Ok(())
}

/// Reports constraints of instances that are gone.
fn bridges(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let all = bsp.replaced().flat_map(|(design, vendor)| {
        let was = vendor.instances.iter().map(|was| was.name.as_str());
        was.filter(|name| design.instance(name).is_none())
    });
    let gone: BTreeSet<&str> = all.collect();
    for path in files(bsp, &["sdc"]) {
        for name in &gone {
            let lines = lines(path, |line| names(line, name))?;
            if let Some(first) = lines.first() {
                let what = format!(
                    "{} name {name}, which is missing: Quartus ignores names that match nothing",
                    counted(&lines)
                );
                findings.note(TO_DO, Place::line(path, *first), what);
            }
        }
    }
    Ok(())
}

/// Reports imports of the vendor's that are off until the board was compiled.
fn imports(pairs: &[Pair<'_>], findings: &mut Findings) {
    let name = |a: &Assignment| {
        a.name
            .clone()
            .filter(|name| IMPORTS.contains(&name.as_str()))
    };
    for pair in pairs {
        let is_on = |section: &str| {
            let mut now = pair.now.assignments.iter();
            now.any(|a| a.section == section && a.runs != Runs::Held && name(a).is_some())
        };
        let mut seen = BTreeSet::new();
        for was in pair.was.assignments.iter().filter(|a| a.runs != Runs::Held) {
            let (Some(name), section) = (name(was), &was.section) else {
                continue;
            };
            // A netlist among the sources has no section, and stays.
            if section.is_empty() || is_on(section) || !seen.insert(section) {
                continue;
            }
            let what = format!(
                "{name} of {section} is off until the board is compiled with the block: {SCRIPT_DIR}/rebuild.tcl turns \
                 it on"
            );
            findings.note(TO_DO, Place::file(pair.qsf), what);
        }
    }
}

/// Reports whether the vendor's kernels were compiled on the result of the base compile.
fn had_persona(pairs: &[Pair<'_>]) -> bool {
    let mut vendors = pairs.iter().flat_map(|pair| &pair.was.assignments);
    vendors.any(|a| a.name.as_deref() == Some("INPUT_PERSONA"))
}

/// Reports steps that may put the vendor's files in the place of the hard IP's. If they are for configuration over
/// PCIe, they must go with it; otherwise a user has to check their purpose.
fn patches(bsp: &Bsp, lost_cvp: bool, findings: &mut Findings) {
    let (test, then) = match lost_cvp {
        true => (
            TO_DO,
            "remove it if it is for configuration over PCIe, which Gen3 does not have",
        ),
        false => (
            FILES,
            "make sure that the file is of the Quartus version that compiles the board",
        ),
    };
    for path in scripts(bsp) {
        for line in lines(path, names_a_file).unwrap_or_default() {
            let what =
                format!("this step may replace a file of the hard IP by the vendor's: {then}");
            findings.note(test, Place::line(path, line), what);
        }
    }
}

/// Returns the scripts, without Peerlane's.
fn scripts(bsp: &Bsp) -> impl Iterator<Item = &PathBuf> {
    let own = bsp.hardware.join(SCRIPT_DIR);
    files(bsp, &SCRIPTS).filter(move |path| !path.starts_with(&own))
}

/// Describes lines in words.
fn counted(lines: &[usize]) -> String {
    match lines {
        [_] => "this line has paths that".into(),
        [first, .., last] => format!("{} lines from {first} to {last}", lines.len()),
        [] => String::new(),
    }
}

/// Reports whether a revision is for a core that is configured over PCIe: the last of its types decides; without a
/// type, `without` does.
fn is_for_core(revision: &Revision, without: bool) -> bool {
    let mut types = revision.assignments.iter().rev();
    let last = types.find(|a| a.name.as_deref() == Some(TYPE));
    let value = last.and_then(|a| a.value.as_deref());
    value.map_or(without, |v| v.trim().eq_ignore_ascii_case("CVP"))
}

/// Returns the note for a setting for configuration over PCIe; `for_core`: the revision is for a core alone.
fn for_cvp(assignment: &Assignment, for_core: bool) -> Option<String> {
    let (name, value) = (assignment.name.as_ref()?, assignment.value.as_ref()?.trim());
    match name.as_str() {
        BASE if !for_core => None,
        TYPE if !value.eq_ignore_ascii_case("CVP") => None,
        _ if names_zero(assignment) => Some(format!(
            "{name} {value}: the output of this module is always 0, but the whole revision is compiled now: name the \
             module that passes the reset on"
        )),
        MACRO if value.to_uppercase().contains("CVP") => Some(format!(
            "{name} \"{value}\" may be for configuration over PCIe, which Gen3 does not have: remove it in that case"
        )),
        name if CVP.contains(&name) && !value.is_empty() && !value.eq_ignore_ascii_case("OFF") => {
            Some(format!(
                "{name} \"{value}\" is for configuration over PCIe, which Gen3 does not have: remove it"
            ))
        }
        _ => None,
    }
}

/// Reports settings that ask for configuration over PCIe, which the hard IP no longer has.
fn configuration(bsp: &Bsp, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for revision in bsp.project.revisions.values() {
        // The type may have been removed before the base.
        let for_core = is_for_core(revision, true);
        for assignment in &revision.assignments {
            let place = &assignment.place;
            if let Some(what) = for_cvp(assignment, for_core)
                && seen.insert((place.path.clone(), place.line))
            {
                findings.note(TO_DO, place.clone(), what);
            }
        }
    }
}

/// Reports steps that take a core alone, or an image of the base compile, which goes with the persona that the base
/// compile made.
fn cores(bsp: &Bsp, had_persona: bool, findings: &mut Findings) {
    let images: Vec<_> = (bsp.vendor.files())
        .filter(|path| had_persona && path.extension().is_some_and(|e| e == "aocx"))
        .filter(|path| !bsp.hardware.join(path).exists())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    for path in scripts(bsp) {
        for line in lines(path, |line| line.contains(CORE)).unwrap_or_default() {
            let what = format!(
                "this step uses a core alone (.{CORE}), which does not exist at Gen3: remove the core from it"
            );
            findings.note(TO_DO, Place::line(path, line), what);
        }
        for image in &images {
            for line in lines(path, |line| line.contains(image.as_str())).unwrap_or_default() {
                let what = format!(
                    "this step uses {image}, which was left out and is not made again at Gen3: remove this use, and \
                     the steps that depend on it"
                );
                findings.note(TO_DO, Place::line(path, line), what);
            }
        }
    }
}

/// Reports rules that would let a hard reset controller pass.
fn rules(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    for path in bsp.project.files.get("quartus.ini").into_iter().flatten() {
        for rule in RULES {
            for line in lines(path, |line| line.trim_start().starts_with(rule))? {
                let what = format!(
                    "{rule} makes Quartus accept a hard reset controller, which Gen3 does not have: remove it"
                );
                findings.note(TO_DO, Place::line(path, line), what);
            }
        }
    }
    Ok(())
}

/// Reports cells of the transceivers with the places of a compile at another generation.
fn places(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    for path in files(bsp, &["tcl", "qsf", "qip"]) {
        let lines = lines(path, |line| {
            line.trim_start().starts_with("set_location_assignment") && line.contains(PHY)
        })?;
        if let Some(first) = lines.first() {
            let what = format!(
                "{} places of the transceivers' cells (set_location_assignment) come from a compile at the vendor's \
                 generation: remove them if the Fitter reports that it cannot place a cell, or that a cell does not \
                 exist",
                lines.len()
            );
            findings.note(TO_DO, Place::line(path, *first), what);
        }
    }
    Ok(())
}

/// Checks that a controller outside the system has as many interfaces as the hard IP: 70 bits to each, and 46 from it.
fn widths(bsp: &Bsp, design: &Design, hip: &Instance, findings: &mut Findings) -> Result<()> {
    let end = format!("{}.reconfig_to_xcvr", hip.name);
    let Some(export) = design.outside.iter().find(|o| o.inside == end) else {
        return Ok(());
    };
    let interfaces = interfaces(hip);
    let (to, from) = (70 * interfaces, 46 * interfaces);
    for path in files(bsp, &["v", "sv"]) {
        let Ok(bytes) = text::read_bytes(path) else {
            continue;
        };
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        text.retain(|c| !c.is_whitespace());
        let has = |bits: u64| text.contains(&format!("[{}:0]", bits - 1));
        if has(to) && has(from) {
            return Ok(());
        }
    }
    let what = format!(
        "the exported reconfig_to_xcvr and reconfig_from_xcvr of {} have {to} and {from} bits, but no Verilog file of \
         the BSP has wires of these widths ([{}:0] and [{}:0]): the transceivers' controller outside needs \
         {interfaces} interfaces",
        hip.name,
        to - 1,
        from - 1
    );
    findings.note(TO_DO, design.place(export.line), what);
    Ok(())
}
