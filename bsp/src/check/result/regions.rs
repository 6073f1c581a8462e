//! LogicLock regions: what they name is in the design, and the block is where the old DMA was.
//!
//! A member is an instance by its path, `entity:instance|entity:instance|…` (Quartus Prime Standard Edition Settings File
//! Reference Manual 683084, `LL_MEMBER_OF`).

use std::collections::BTreeSet;
use std::path::Path;

use crate::check::Findings;
use crate::check::read::settings::{Assignment, Files, Reader, Revision};
use crate::check::read::tcl::Runs;
use crate::check::read::{Node, number, xml};
use crate::check::result::{Bsp, bad};
use crate::error::{Place, Result};

const TEST: &str = "regions";
/// ALMs of a place of a region at most (Stratix V and Cyclone V Device Handbooks, volume 1, "Logic Array Blocks and
/// Adaptive Logic Modules": ten in a LAB).
const ALMS: u128 = 10;
/// Ways from the top to a system that are looked at.
const MOST_WAYS: usize = 64;

/// What is looked for in paths.
struct Shape {
    /// Names of the instances from the top to the block's system.
    ways: Vec<Vec<String>>,
    block: String,
    entity: String,
    /// Instances of the vendor's system that are not there any more.
    gone: Vec<String>,
}

/// An element of a path: its entity, if it is said, and its instance.
type Element<'a> = (Option<&'a str>, &'a str);

fn elements(path: &str) -> Vec<Element<'_>> {
    let all = path.split('|').filter(|element| !element.is_empty());
    all.map(|element| match element.split_once(':') {
        Some((entity, instance)) => (Some(entity), instance),
        None => (None, element),
    })
    .collect()
}

impl Shape {
    /// Where a path names an instance of the block's system, if it does.
    fn at(&self, path: &[Element<'_>], name: &str) -> Option<usize> {
        let is = |way: &[String], from: usize| {
            let mut way = way.iter().map(String::as_str).chain([name]);
            let mut rest = path[from..].iter().map(|(_, instance)| *instance);
            way.all(|wanted| rest.next() == Some(wanted))
        };
        self.ways.iter().find_map(|way| {
            let whole = (0..path.len()).find(|&from| is(way, from));
            if let Some(from) = whole {
                return Some(from + way.len());
            }
            // A star stands for the beginning of the way.
            let star = path.first().is_some_and(|(_, first)| first.contains('*'));
            let skipped = (0..=way.len()).find(|&skip| star && is(&way[skip..], 1));
            skipped.map(|skip| 1 + way.len() - skip)
        })
    }

    /// Whether a path is the block's, and if so, whether it names a part of it.
    fn part(&self, path: &str) -> Option<bool> {
        let elements = elements(path);
        let at = self.at(&elements, &self.block)?;
        Some(elements[at + 1..].iter().any(|(_, name)| *name != "*"))
    }

    /// What is wrong with a path.
    fn fault(&self, path: &str) -> Option<String> {
        let elements = elements(path);
        if let Some(gone) = self
            .gone
            .iter()
            .find(|name| self.at(&elements, name).is_some())
        {
            return Some(format!(
                "{path} is a member of a region, and {gone} is gone"
            ));
        }
        let at = self.at(&elements, &self.block)?;
        if self.part(path) == Some(true) {
            let block = &self.block;
            return Some(format!(
                "{path} is a member of a region: it was inside of the old DMA, which {block} is not"
            ));
        }
        let entity = elements[at]
            .0
            .filter(|entity| !entity.contains(['*', '?']))?;
        (entity != self.entity).then(|| {
            format!(
                "{path} is a member of a region: {} is of the entity {}, not {entity}",
                self.block, self.entity
            )
        })
    }
}

/// The ways from the top to a system.
fn ways(bsp: &Bsp, kind: &str) -> Vec<Vec<String>> {
    let mut open = vec![(kind, Vec::new())];
    let mut found = Vec::new();
    while let Some((kind, way)) = open.pop() {
        let mut top = true;
        for (outer, designs) in &bsp.designs {
            let instances = designs.iter().flat_map(|design| &design.instances);
            for instance in instances.filter(|i| i.kind == kind && outer != kind) {
                top = false;
                if open.len() + found.len() < MOST_WAYS && way.len() < MOST_WAYS {
                    let mut longer: Vec<String> = vec![instance.name.clone()];
                    longer.extend(way.iter().cloned());
                    open.push((outer, longer));
                }
            }
        }
        if top {
            found.push(way);
        }
    }
    found
}

fn shapes(bsp: &Bsp) -> Vec<Shape> {
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
                ways: ways(bsp, kind),
                block: block.name.clone(),
                entity: bsp.declared.top.clone(),
                gone: gone.map(|was| was.name.clone()).collect(),
            });
        }
    }
    found
}

/// Members of regions that a revision makes, or may make.
fn members(revision: &Revision) -> impl Iterator<Item = &Assignment> {
    let all = revision.assignments.iter();
    all.filter(|a| a.name.as_deref() == Some("LL_MEMBER_OF") && a.runs != Runs::Held)
}

pub(super) fn check(bsp: &Bsp, findings: &mut Findings) -> Result<()> {
    let before = findings.errors();
    let mut judged = BTreeSet::new();
    for shape in shapes(bsp) {
        for (qsf, revision) in &bsp.project.revisions {
            let (mut regions, mut unknown) = (BTreeSet::new(), false);
            for member in members(revision) {
                let Some(path) = &member.to else {
                    unknown = true;
                    continue;
                };
                if shape.part(path) == Some(false) {
                    regions.insert(member.value.clone().unwrap_or_default());
                }
                let first = judged.insert((member.place.to_string(), path.clone()));
                let Some(what) = shape.fault(path).filter(|_| first) else {
                    continue;
                };
                match member.to_is_plain {
                    true => bad(findings, TEST, member.place.clone(), what),
                    false => findings.note(
                        TEST,
                        member.place.clone(),
                        format!("{what}; a script puts it together"),
                    ),
                }
            }
            let name = qsf.file_stem().unwrap_or_default().to_string_lossy();
            if unknown {
                let what =
                    format!("revision {name} has members of LogicLock regions that cannot be told");
                findings.note(TEST, Place::file(qsf), what);
            }
            if let Some(old) = vendors(bsp, qsf, revision, &shape)?.filter(|_| regions.is_empty()) {
                let what = format!(
                    "{} is in no LogicLock region of revision {name}, and the old DMA was in {old}",
                    shape.block
                );
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
        let what = "no LogicLock region names an instance that is gone, and the block is where the old DMA was";
        findings.good(TEST, what);
    }
    Ok(())
}

/// The region that the old DMA, or a part of it, was in.
fn vendors(bsp: &Bsp, qsf: &Path, revision: &Revision, shape: &Shape) -> Result<Option<String>> {
    let reader = Reader {
        hardware: &bsp.hardware,
        files: &Files::new(),
    };
    let sourced = revision.sourced.iter().map(|(path, _)| path.as_path());
    let files: BTreeSet<&Path> = sourced.chain([qsf]).collect();
    for file in files {
        let kept = bsp.vendor.kept(&bsp.inside(file))?;
        let was = reader.read(kept.as_deref().unwrap_or(file))?;
        let old = members(&was).find(|member| {
            let path = member.to.as_deref();
            path.is_some_and(|path| shape.part(path).is_some())
        });
        if let Some(member) = old {
            return Ok(Some(member.value.clone().unwrap_or_default()));
        }
    }
    Ok(None)
}

/// A region of a fixed size must have room for what the block adds.
fn size(
    bsp: &Bsp,
    (qsf, revision): (&Path, &Revision),
    region: &str,
    findings: &mut Findings,
) -> Result<()> {
    let value = |name: &str| {
        let mut all = revision.assignments.iter().rev();
        let found = all.find(|a| a.name.as_deref() == Some(name) && a.section == region)?;
        found
            .value
            .as_deref()
            .map(|value| value.trim().to_uppercase())
    };
    let is = |name: &str, wanted: &str| value(name).as_deref() == Some(wanted);
    let side = |name: &str| value(name)?.parse::<u64>().ok();
    let (Some(width), Some(height)) = (side("LL_WIDTH"), side("LL_HEIGHT")) else {
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
    let most = u128::from(width) * u128::from(height) * ALMS;
    if most < u128::from(added) {
        let what = format!(
            "the LogicLock region {region} of {width} × {height} has at most {most} ALMs, and the block takes about {added}: \
             enlarge LL_WIDTH or LL_HEIGHT"
        );
        findings.note(TEST, Place::file(qsf), what);
    }
    Ok(())
}

/// The used ALMs of a board's specification.
fn alms(board: &Node) -> Option<u64> {
    let used = board
        .all("device")
        .flat_map(|device| device.all("used_resources"));
    let mut figures = used.flat_map(|used| used.all("alms"));
    number(figures.next()?.get("num")?)
}
