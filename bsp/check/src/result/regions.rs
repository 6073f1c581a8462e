//! LogicLock regions: their members exist in the design, and the block is where the old DMA was.
//!
//! A member is an instance by its path, `entity:instance|entity:instance|…` (Quartus Prime Standard Edition Settings
//! File Reference Manual 683084, 1.12).

use std::collections::BTreeSet;
use std::path::Path;

use crate::Findings;
use crate::read::design::{Design, Instance, instance};
use crate::read::settings::{Assignment, Files, Reader, Revision};
use crate::read::tcl::Runs;
use crate::read::{Node, number, xml};
use crate::result::names::is_bridge;
use crate::result::paths::{self, Way, elements, ways};
use crate::result::{Bsp, bad, lines};
use peerlane_bsp_platform::error::{Place, Result};

const TEST: &str = "regions";
/// Most ALMs of a place of a region (Stratix V and Cyclone V Device Handbooks, volume 1, "Logic Array Blocks and
/// Adaptive Logic Modules": ten in a LAB).
const ALMS: u128 = 10;

/// A system with the block, to find its instances in paths.
pub(super) struct Shape<'a> {
    design: &'a Design,
    vendor: &'a Design,
    ways: Vec<Way>,
    block: String,
    entity: String,
    /// Instances of the vendor's system that no longer exist.
    gone: Vec<String>,
}

impl Shape<'_> {
    /// Returns where a member names an instance of the block's system, and whether it names a part of that instance.
    fn at(&self, member: &Assignment, name: &str) -> Option<(usize, bool)> {
        let path = member.to.as_deref()?;
        let elements = elements(path);
        let at = paths::at(&self.ways, &elements, &member.entity, name)?;
        Some((at, elements[at + 1..].iter().any(|(_, name)| *name != "*")))
    }

    /// Reports whether a member is the block, or an instance that contains it.
    pub(super) fn holds_the_block(&self, member: &Assignment) -> bool {
        let Some(path) = member.to.as_deref() else {
            return false;
        };
        matches!(self.at(member, &self.block), Some((_, false)))
            || paths::is_above(&self.ways, &elements(path), &member.entity)
    }

    /// Returns the entity that a member gives for an instance.
    fn entity_of<'m>(&self, member: &'m Assignment, name: &str) -> Option<&'m str> {
        let (at, _) = self.at(member, name)?;
        let entity = elements(member.to.as_deref()?)[at].0;
        entity.filter(|entity| !entity.contains(['*', '?']))
    }

    /// Returns the fault of a member.
    pub(super) fn fault(&self, member: &Assignment) -> Option<String> {
        let path = member.to.as_deref()?;
        if let Some(gone) = self
            .gone
            .iter()
            .find(|name| self.at(member, name).is_some())
        {
            return Some(format!(
                "{path} is a member of a region, but {gone} is missing"
            ));
        }
        for bridge in self.bridges() {
            let (name, kind) = (&bridge.name, &bridge.kind);
            if let Some(entity) = self.entity_of(member, name).filter(|e| e != kind) {
                return Some(format!(
                    "{path} is a member of a region, but {name} has the entity {kind}, not {entity}"
                ));
            }
        }
        let block = &self.block;
        if self.at(member, block)?.1 {
            return Some(format!(
                "{path} is a member of a region, but it was inside the old DMA, which {block} replaces"
            ));
        }
        let entity = self.entity_of(member, block)?;
        (entity != self.entity).then(|| {
            format!(
                "{path} is a member of a region, but {block} has the entity {}, not {entity}",
                self.entity
            )
        })
    }

    /// Returns the regions that contain an instance as a whole.
    fn regions(&self, revision: &Revision, name: &str) -> BTreeSet<String> {
        let whole = |member: &&Assignment| matches!(self.at(member, name), Some((_, false)));
        let all = members(revision).filter(whole);
        all.map(|member| member.value.clone().unwrap_or_default())
            .collect()
    }

    /// Returns the bridges that the vendor did not have.
    fn bridges(&self) -> impl Iterator<Item = &Instance> {
        let all = self.design.instances.iter();
        all.filter(|i| is_bridge(&i.kind) && self.vendor.instance(&i.name).is_none())
    }

    /// Returns the instances that a bridge leads to.
    fn behind(&self, bridge: &str) -> BTreeSet<&str> {
        let master = format!("{bridge}.m0");
        let wires = self.design.wires.iter();
        let wires = wires.filter(|w| w.kind == "avalon" && w.from == master);
        wires.map(|wire| instance(&wire.to)).collect()
    }

    /// Reports whether an instance leads to the block through bridges.
    fn leads_to_the_block(&self, name: &str) -> bool {
        let mut open = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if name == self.block {
                return true;
            }
            if seen.insert(name) {
                open.extend(self.behind(name));
            }
        }
        false
    }

    /// Returns the fault of a bridge's region: it must be the region of the instances that the bridge leads to on the
    /// way to the block.
    fn misplaced(
        &self,
        revision: &Revision,
        bridge: &str,
        vendors: &[Assignment],
    ) -> Option<String> {
        let has = self.regions(revision, bridge);
        let behind = self.behind(bridge);
        let all: Vec<_> = behind
            .into_iter()
            .map(|name| (name, self.regions(revision, name)))
            .collect();
        // The bridge may be in the region of an instance that is gone.
        let old = vendors.iter().filter(|member| {
            let mut gone = self.gone.iter();
            gone.any(|name| self.at(member, name).is_some())
        });
        let old = old.filter_map(|member| member.value.as_ref());
        let mut good: BTreeSet<&String> = all.iter().flat_map(|(_, regions)| regions).collect();
        good.extend(old);
        if let Some(region) = has.iter().find(|region| !good.contains(region)) {
            return Some(format!(
                "the bridge {bridge} is in the LogicLock region {region}, but no instance after it is"
            ));
        }
        let others = || all.iter().filter(|(name, _)| *name != self.block);
        let leads = |(name, _): &&(&str, _)| self.leads_to_the_block(name);
        let mut must: Vec<_> = others().filter(leads).collect();
        if must.is_empty() {
            must = others().collect();
        }
        let (name, regions) = must.first()?;
        let all_are = must.iter().all(|(_, regions)| !regions.is_empty());
        (has.is_empty() && all_are).then(|| {
            format!(
                "the bridge {bridge} is in no LogicLock region, but {name} after it is in {}",
                words(regions)
            )
        })
    }
}

fn words(regions: &BTreeSet<String>) -> String {
    let regions: Vec<_> = regions.iter().map(String::as_str).collect();
    regions.join(", ")
}

fn shapes(bsp: &Bsp) -> Vec<Shape<'_>> {
    let mut found = Vec::new();
    for (kind, designs) in &bsp.designs {
        for design in designs {
            let (Some(vendor), Some(block)) = (
                bsp.was(design),
                design.instances.iter().find(|i| i.kind == super::BLOCK),
            ) else {
                continue;
            };
            let gone = vendor
                .instances
                .iter()
                .filter(|was| design.instance(&was.name).is_none());
            found.push(Shape {
                design,
                vendor,
                ways: ways(bsp, kind),
                block: block.name.clone(),
                entity: bsp.declared.top.clone(),
                gone: gone.map(|was| was.name.clone()).collect(),
            });
        }
    }
    found
}

/// Returns the members of regions that a revision makes, or may make.
fn members(revision: &Revision) -> impl Iterator<Item = &Assignment> {
    let all = revision.assignments.iter();
    all.filter(|a| a.name.as_deref() == Some("LL_MEMBER_OF") && a.runs != Runs::Held)
}

pub(super) fn check(bsp: &Bsp, pairs: &[lines::Pair<'_>], findings: &mut Findings) -> Result<()> {
    let before = findings.found();
    let mut judged = BTreeSet::new();
    let shapes = shapes(bsp);
    lines::regions(bsp, pairs, (&shapes, TEST), findings);
    for shape in shapes {
        for (qsf, revision) in &bsp.project.revisions {
            let mut unknown = false;
            for member in members(revision) {
                let Some(path) = &member.to else {
                    unknown = true;
                    continue;
                };
                let first = judged.insert((member.place.to_string(), path.clone()));
                let Some(what) = shape.fault(member).filter(|_| first) else {
                    continue;
                };
                match member.to_is_plain {
                    true => bad(findings, TEST, member.place.clone(), what),
                    false => findings.note(
                        TEST,
                        member.place.clone(),
                        format!("{what}; a script composes the path"),
                    ),
                }
            }
            let name = qsf.file_stem().unwrap_or_default().to_string_lossy();
            if unknown {
                let what = format!(
                    "revision {name} has members of LogicLock regions that cannot be determined"
                );
                findings.note(TEST, Place::file(qsf), what);
            }
            let vendors = vendors(bsp, qsf, revision)?;
            let regions = shape.regions(revision, &shape.block);
            let mut faults: Vec<_> = elsewhere(&shape, &regions, &vendors, &name)
                .into_iter()
                .collect();
            let bridges = shape.bridges();
            let bridges =
                bridges.filter_map(|bridge| shape.misplaced(revision, &bridge.name, &vendors));
            faults.extend(bridges.map(|what| format!("in revision {name}, {what}")));
            for what in faults {
                match unknown {
                    false => bad(findings, TEST, Place::file(qsf), what),
                    true => findings.note(TEST, Place::file(qsf), what),
                }
            }
            for region in regions {
                size(bsp, (qsf, revision), &region, findings)?;
            }
        }
    }
    if findings.unchanged(before) && !judged.is_empty() {
        let what = "no LogicLock region names a missing instance; the block is in the region of the old DMA, and new \
                    bridges are in the regions of their slaves";
        findings.good(TEST, what);
    }
    Ok(())
}

/// Reports the block if it is in other regions than the old DMA was.
fn elsewhere(
    shape: &Shape<'_>,
    regions: &BTreeSet<String>,
    vendors: &[Assignment],
    revision: &str,
) -> Option<String> {
    let old = vendors
        .iter()
        .filter(|member| shape.at(member, &shape.block).is_some());
    let old: BTreeSet<String> = old
        .map(|member| member.value.clone().unwrap_or_default())
        .collect();
    if old.is_empty() || !regions.is_empty() && regions.is_subset(&old) {
        return None;
    }
    let now = match regions.is_empty() {
        true => "no LogicLock region".to_string(),
        false => format!("the LogicLock region {}", words(regions)),
    };
    Some(format!(
        "{} is in {now} of revision {revision}, but the old DMA was in {}",
        shape.block,
        words(&old)
    ))
}

/// Returns the members of regions in the vendor's revision.
fn vendors(bsp: &Bsp, qsf: &Path, revision: &Revision) -> Result<Vec<Assignment>> {
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &Files::new(),
        vendor: None,
    };
    let sourced = revision.sourced.iter().map(|(path, _)| path.as_path());
    let files: BTreeSet<&Path> = sourced.chain([qsf]).collect();
    let mut found = Vec::new();
    for file in files {
        let kept = bsp.vendor.kept(&bsp.inside(file))?;
        let path = kept.as_deref().unwrap_or(file);
        let was = reader.read(path)?;
        // Files that the file includes are in the list too.
        found.extend(members(&was).filter(|m| m.place.path == path).cloned());
    }
    Ok(found)
}

/// Returns the last value of a line of a region.
fn value(revision: &Revision, region: &str, name: &str) -> Option<String> {
    let mut all = revision.assignments.iter().rev();
    let found = all.find(|a| a.name.as_deref() == Some(name) && a.section == region)?;
    let value = found.value.as_deref();
    value.map(|value| value.trim().to_uppercase())
}

/// Returns the rectangles of a region of a fixed size, each with width and height, and a hint how to enlarge the
/// region. A region has one rectangle, or several that replace it.
fn rectangles(revision: &Revision, region: &str) -> Option<(Vec<(u64, u64)>, &'static str)> {
    let several = revision.assignments.iter().filter(|a| {
        a.name.as_deref() == Some("LL_RECT") && a.section == region && a.runs != Runs::Held
    });
    let of = |rectangle: &Assignment, option: &str| {
        let found = rectangle.about.iter().find(|(name, _)| name == option);
        found?.1.trim().parse::<u64>().ok()
    };
    let rectangles: Vec<(u64, u64)> = several
        .filter_map(|a| of(a, "-width").zip(of(a, "-height")))
        .collect();
    if !rectangles.is_empty() {
        return Some((rectangles, "enlarge its rectangles (LL_RECT)"));
    }
    let side = |name: &str| value(revision, region, name)?.parse::<u64>().ok();
    let one = side("LL_WIDTH").zip(side("LL_HEIGHT"))?;
    Some((vec![one], "enlarge LL_WIDTH or LL_HEIGHT"))
}

/// Returns the number of places in a region of a fixed size.
pub(super) fn area(revision: &Revision, region: &str) -> Option<u128> {
    let (rectangles, _) = rectangles(revision, region)?;
    let areas = rectangles.iter();
    let areas = areas.map(|(width, height)| u128::from(*width) * u128::from(*height));
    Some(areas.sum())
}

/// Checks that a region of a fixed size has room for the resources that the block adds.
fn size(
    bsp: &Bsp,
    (qsf, revision): (&Path, &Revision),
    region: &str,
    findings: &mut Findings,
) -> Result<()> {
    let is = |name: &str, wanted: &str| value(revision, region, name).as_deref() == Some(wanted);
    let (Some((rectangles, enlarge)), Some(area)) =
        (rectangles(revision, region), area(revision, region))
    else {
        return Ok(());
    };
    if is("LL_ENABLED", "OFF") || is("LL_AUTO_SIZE", "ON") {
        return Ok(());
    }
    let now = xml(&bsp.hardware.join("board_spec.xml"))?;
    let was = bsp.vendor.xml("board_spec.xml".as_ref())?;
    let added = alms(&now).zip(was.as_ref().and_then(alms));
    let Some(added) = added.and_then(|(now, was)| now.checked_sub(was)) else {
        return Ok(());
    };
    let most = area * ALMS;
    if most < u128::from(added) {
        let sides: Vec<_> = (rectangles.iter())
            .map(|(width, height)| format!("{width} × {height}"))
            .collect();
        let what = format!(
            "the LogicLock region {region} of {} has at most {most} ALMs, and the block takes about {added}: {enlarge}",
            sides.join(" and ")
        );
        findings.note(TEST, Place::file(qsf), what);
    }
    Ok(())
}

/// Returns the used ALMs of a board's specification.
fn alms(board: &Node) -> Option<u64> {
    let used = board
        .all("device")
        .flat_map(|device| device.all("used_resources"));
    let mut figures = used.flat_map(|used| used.all("alms"));
    number(figures.next()?.get("num")?)
}
