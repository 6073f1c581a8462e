//! Every file that the BSP names exists, and every kind of component is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Findings;
use crate::read::settings::normal;
use crate::read::tcl::Runs;
use crate::read::xml;
use crate::result::{Bsp, Design, bad};
use peerlane_bsp_platform::error::{Place, Result};
use peerlane_bsp_platform::hash::digest_of;
use peerlane_bsp_platform::layout::with_extension;
use peerlane_bsp_platform::message::Message;
use peerlane_bsp_platform::text;

/// Assignments that name a source file (Quartus Prime Standard Edition Settings File Reference Manual 683084).
const NAMES: [&str; 13] = [
    "SDC_FILE",
    "VERILOG_FILE",
    "SYSTEMVERILOG_FILE",
    "VHDL_FILE",
    "QIP_FILE",
    "QSYS_FILE",
    "IP_FILE",
    "MIF_FILE",
    "HEX_FILE",
    "SOURCE_TCL_SCRIPT_FILE",
    "PRE_FLOW_SCRIPT_FILE",
    "POST_FLOW_SCRIPT_FILE",
    "POST_MODULE_SCRIPT_FILE",
];
/// Kinds of Quartus itself that the extension adds or asks a user to add.
const OF_QUARTUS: [&str; 3] = [
    "altera_avalon_mm_bridge",
    "alt_xcvr_reconfig",
    super::gen3::DRIVER,
];
/// Prefixes of the names of Quartus's own kinds.
const LIKE_QUARTUS: [&str; 2] = ["altera_", "alt_"];

/// Names, each with the file and line that has it.
type Named = BTreeSet<(String, std::path::PathBuf, Option<usize>)>;

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    const TEST: &str = super::FILES;
    let before = findings.found();
    let named = named(bsp)?;
    let mut absent = 0;
    for (target, from, line) in &named {
        let beside = from.parent().unwrap_or(&bsp.hardware);
        let places = [bsp.hardware.join(target), beside.join(target)];
        if places.iter().any(|path| path.exists()) {
            continue;
        }
        absent += 1;
        let place = Place {
            path: from.clone(),
            line: *line,
        };
        let had = places
            .iter()
            .any(|path| bsp.vendor.hash(&bsp.inside(&normal(path))).is_some());
        if !had && vendor_names(bsp, from, target)? {
            let what = " does not exist; the vendor's BSP does not have it either";
            findings.note(TEST, place, Message::from(Path::new(target)).then(what));
        } else {
            findings.bad(
                TEST,
                place,
                Message::from(Path::new(target)).then(" is named, but does not exist"),
                "Put the file back, or extend the vendor's BSP again.",
            );
        }
    }
    if findings.unchanged(before) {
        let what = format!(
            "{} of {} named files exist",
            named.len() - absent,
            named.len()
        );
        findings.good(TEST, what);
    }
    Ok(())
}

/// Reports whether the vendor's version of a file has the name too.
fn vendor_names(bsp: &Bsp, from: &Path, target: &str) -> Result<bool> {
    let inside = bsp.inside(from);
    if bsp.vendor.hash(&inside) == Some(digest_of(from)?.as_str()) {
        return Ok(true);
    }
    // Revisions and projects may be named without their endings.
    let endings = [".qsf", ".qpf"].iter();
    let name = endings.fold(target, |name, ending| {
        name.strip_suffix(ending).unwrap_or(name)
    });
    Ok(match bsp.vendor.kept(&inside)? {
        Some(kept) => text::read(&kept)?.contains(name),
        None => false,
    })
}

/// Finds all file names in settings files, lists of components and project files.
fn named(bsp: &Bsp) -> Result<Named> {
    let mut found = Named::new();
    let all = bsp.project.revisions.values();
    for assignment in all.flat_map(|revision| &revision.assignments) {
        let (Some(name), Some(value)) = (&assignment.name, &assignment.value) else {
            continue;
        };
        let place = assignment.place.clone();
        if matches!(name.as_str(), "BASE_REVISION" | "CVP_REVISION") && !value.is_empty() {
            found.insert((format!("{value}.qsf"), place.path, place.line));
            continue;
        }
        if !NAMES.contains(&name.as_str()) || assignment.runs == Runs::Held || value.is_empty() {
            continue;
        }
        // Scripts are named as tool:file.
        let target = match value.split_once(':') {
            Some((tool, file)) if tool.starts_with("quartus_") => file,
            _ => value,
        };
        if !is_made(bsp, target) {
            found.insert((target.to_string(), place.path, place.line));
        }
    }
    for list in with_extension(&bsp.hardware, "ipx")? {
        for entry in xml(&list)?.all("component") {
            // Other files belong to the SDK's installation.
            if let Some(file) = entry.get("file").filter(|file| !file.contains('$')) {
                found.insert((file.to_string(), list.clone(), Some(entry.line)));
            }
        }
    }
    let specification = bsp.hardware.join("board_spec.xml");
    for compile in xml(&specification)?.all("compile") {
        for (attribute, ending) in [("project", ".qpf"), ("revision", ".qsf"), ("qsys_file", "")] {
            let name = compile.get(attribute).map(str::trim).unwrap_or_default();
            if !matches!(name, "" | "none") {
                let target = format!("{name}{ending}");
                found.insert((target, specification.clone(), Some(compile.line)));
            }
        }
    }
    for project in with_extension(&bsp.hardware, "qpf")? {
        for (n, line) in text::read(&project)?.lines().enumerate() {
            if let Some(name) = super::project::revision_of(line) {
                found.insert((format!("{name}.qsf"), project.clone(), Some(n + 1)));
            }
        }
    }
    Ok(found)
}

/// Reports whether Quartus or Platform Designer makes a file in a compile.
fn is_made(bsp: &Bsp, target: &str) -> bool {
    let first = target.split('/').next().unwrap_or_default();
    matches!(first, "db" | "incremental_db" | "output_files")
        || (bsp.catalog.systems.contains_key(first) && target.contains("/synthesis/"))
}

/// Checks that every instance's kind is defined: in the BSP, or, if neither BSP has a file of it, where the vendor's
/// kind was.
pub(super) fn kinds(bsp: &Bsp, findings: &mut Findings) {
    const TEST: &str = "hierarchy";
    let before = findings.found();
    let old: BTreeSet<&str> = bsp
        .was
        .values()
        .flat_map(|design| design.instances.iter().map(|i| i.kind.as_str()))
        // The vendor's system was converted to a TLP port: this component is Peerlane's.
        .filter(|kind| *kind != super::names::OWN_HIP)
        .collect();
    let (mut count, mut outside) = (0, BTreeSet::new());
    for design in bsp.all() {
        for instance in design.instances.iter().filter(|i| i.enabled) {
            count += 1;
            let kind = instance.kind.as_str();
            let defined =
                bsp.catalog.systems.contains_key(kind) || bsp.catalog.components.contains(kind);
            if defined || OF_QUARTUS.contains(&kind) {
                continue;
            }
            let files = [format!("{kind}.qsys"), format!("{kind}_hw.tcl")];
            let mut gone = bsp.vendor.files().filter(|path| {
                let last = path.file_name().unwrap_or_default();
                files.iter().any(|file| last == file.as_str()) && !bsp.hardware.join(path).exists()
            });
            let what = match (old.contains(kind), gone.next()) {
                (true, None) => {
                    outside.insert(kind);
                    continue;
                }
                (_, Some(file)) => format!(
                    "kind {kind} of instance {} is not defined any more: the vendor's BSP defined it in {}",
                    instance.name,
                    file.display()
                ),
                (false, None) if LIKE_QUARTUS.iter().any(|begin| kind.starts_with(begin)) => {
                    let what = format!(
                        "kind {kind} of instance {} is defined neither in the BSP nor in the vendor's BSP: by its name \
                         Quartus defines it",
                        instance.name
                    );
                    findings.note(TEST, design.place(instance.line), what);
                    continue;
                }
                (false, None) => format!(
                    "kind {kind} of instance {} is defined nowhere",
                    instance.name
                ),
            };
            findings.bad(
                TEST,
                design.place(instance.line),
                what,
                "If the BSP defines the kind, add its component to the BSP's .ipx list or its .qsys file to the IP \
                 path; else remove the instance.",
            );
        }
    }
    if findings.unchanged(before) {
        let outside: Vec<_> = outside.into_iter().collect();
        findings.good(
            TEST,
            format!(
                "the kinds of {count} instances are defined. Quartus or the OpenCL SDK defines these, as for the \
                 vendor's BSP: {}",
                outside.join(", ")
            ),
        );
    }
}

/// Checks that the block occurs once, and the old DMA not at all.
pub(super) fn instances(bsp: &Bsp, findings: &mut Findings) {
    const TEST: &str = "instances";
    let before = findings.found();
    for design in bsp.all() {
        for old in design
            .instances
            .iter()
            .filter(|i| i.enabled && i.kind == super::OLD)
        {
            let what = format!("instance {} is still of kind {}", old.name, super::OLD);
            findings.bad(
                TEST,
                design.place(old.line),
                what,
                "Extend the vendor's BSP again.",
            );
        }
    }
    let names: Vec<_> = bsp
        .with_block()
        .map(|(_, block)| block.name.as_str())
        .collect();
    let [name] = names.as_slice() else {
        let what = format!(
            "{} instances of kind {}; exactly one must exist",
            names.len(),
            super::BLOCK
        );
        return bad(findings, TEST, Place::file(&bsp.hardware), what);
    };
    for (kind, designs) in &bsp.designs {
        let with_block = |design: &Design| design.instances.iter().any(|i| i.kind == super::BLOCK);
        let Some(design) = designs.iter().find(|design| with_block(design)) else {
            continue;
        };
        let mut tops: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for way in super::paths::ways(bsp, kind) {
            let (top, instances) = way.whole();
            tops.entry(top.into()).or_default().push(instances);
        }
        for (top, mut many) in tops.into_iter().filter(|(_, many)| many.len() > 1) {
            many.sort();
            let what = format!(
                "the block's system is in {top} {} times: {}; it must be there once",
                many.len(),
                many.join(" and ")
            );
            bad(findings, TEST, design.place(1), what);
        }
    }
    if findings.unchanged(before) {
        let what = format!("one {} ({name}), no {}", super::BLOCK, super::OLD);
        findings.good(TEST, what);
    }
}

/// Checks that both ends of every connection, and every export, name an instance, and an interface if that is known.
pub(super) fn ends(bsp: &Bsp, findings: &mut Findings) {
    const TEST: &str = "connections";
    let before = findings.found();
    let mut count = 0;
    for design in bsp.all() {
        count += design.wires.len();
        for wire in &design.wires {
            for what in [&wire.from, &wire.to]
                .into_iter()
                .filter_map(|end| fault(bsp, design, end))
            {
                let what = format!(
                    "{} connection {} → {}: {what}",
                    wire.kind, wire.from, wire.to
                );
                bad(findings, TEST, design.place(wire.line), what);
            }
        }
        // Platform Designer itself leaves exports without an instance.
        super::new_faults(findings, TEST, design, bsp.was(design), |design| {
            let exports = design.outside.iter().filter(|o| !o.inside.is_empty());
            exports
                .filter_map(|o| {
                    let what = fault(bsp, design, &o.inside)?;
                    Some((o.line, format!("export {}: {what}", o.name)))
                })
                .collect()
        });
    }
    if findings.unchanged(before) {
        findings.good(TEST, format!("all {count} connections end at an instance"));
    }
}

/// Returns the fault of an end, if any.
fn fault(bsp: &Bsp, design: &super::Design, end: &str) -> Option<String> {
    let (name, interface) = end.split_once('.').unwrap_or((end, ""));
    if name.is_empty() {
        return Some(format!("internal=\"{end}\" does not name an instance"));
    }
    let Some(instance) = design.instance(name) else {
        return Some(format!("there is no instance {name}"));
    };
    let known = match bsp.inner(design, &instance.kind) {
        _ if instance.kind == super::BLOCK => bsp.declared.interfaces.contains_key(interface),
        Some(inner) => inner.outside.iter().any(|o| o.name == interface),
        None => true,
    };
    (!known).then(|| {
        format!(
            "{name} (kind {}) has no interface {interface}",
            instance.kind
        )
    })
}

/// Checks that no compiled file of the vendor's lies where a compile finds it.
pub(super) fn compiled(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "compiled files";
    let before = findings.found();
    for path in bsp.project.compiled() {
        let hash = digest_of(path)?;
        let Some(was) = bsp.vendor.name_of(&hash) else {
            continue;
        };
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        let inside = path.starts_with(&bsp.hardware);
        match kind.as_ref() {
            "aocx" | "personax" | "" if inside => {
                let what = format!("this file is the vendor's {was}, compiled with the old DMA");
                bad(findings, TEST, Place::file(path), what);
            }
            _ => findings.note(
                TEST,
                Place::file(path),
                format!(
                    "this file is the vendor's {was}, which is compiled; make sure that it does not contain the old DMA"
                ),
            ),
        }
    }
    // Quartus's databases of earlier compiles.
    for name in ["db", "incremental_db"] {
        let mut open = vec![bsp.hardware.join(name)];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(&directory)
                .into_iter()
                .flatten()
                .flatten()
            {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if path.is_file()
                    && let Some(was) = bsp.vendor.name_of(&digest_of(&path)?)
                {
                    let what = format!(
                        "Quartus would use its database of the vendor's compile: {was}, unchanged"
                    );
                    bad(findings, TEST, Place::file(&path), what);
                    return Ok(());
                }
            }
        }
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            "no compiled file of the vendor in the board's directory",
        );
    }
    Ok(())
}
