//! Changes of the memory's side: banks, bursts, requirements on the interconnect.

use std::collections::BTreeSet;

use super::design::{Design, System, number};
use super::random::Random;
use super::tree::Node;

/// Returns the instances on the way from a bank of the divider, and those that lead only to them.
fn group(system: &System, divider: &str, first: &str) -> BTreeSet<String> {
    let instance = |end: &str| end.split('.').next().unwrap().to_string();
    let links = system.links("avalon");
    let mut group = BTreeSet::from([instance(first)]);
    loop {
        let mut found: BTreeSet<String> = BTreeSet::new();
        for (start, end) in &links {
            if group.contains(&instance(start)) {
                found.insert(instance(end));
            }
            let start = instance(start);
            let mut from = links.iter().filter(|(s, _)| instance(s) == start);
            if start != divider && from.all(|(_, e)| group.contains(&instance(e))) {
                found.insert(start);
            }
        }
        let before = group.len();
        group.extend(found);
        if group.len() == before {
            return group;
        }
    }
}

fn divider(design: &mut Design) -> (String, usize) {
    let name = design.instance_of("acl_memory_bank_divider");
    let module = design.main().module(&name).unwrap().clone();
    let banks = number(module.parameter("NUM_BANKS").unwrap());
    (name, usize::try_from(banks).unwrap())
}

fn set_banks(design: &mut Design, name: &str, from: usize, to: usize) {
    let module = design.main().module_mut(name);
    let bits = number(module.parameter("ADDRESS_WIDTH").unwrap());
    let bits = bits + u64::from(to.ilog2()) - u64::from(from.ilog2());
    module.set_parameter("NUM_BANKS", &to.to_string());
    module.set_parameter("ADDRESS_WIDTH", &bits.to_string());
}

/// Doubles the number of banks: each new one is like the last.
pub fn more_banks(design: &mut Design, random: &mut Random) -> Option<String> {
    let (name, banks) = divider(design);
    if banks >= 4 {
        return None;
    }
    for bank in banks + 1..=2 * banks {
        let system = design.main();
        let last = system.links("avalon");
        let last = last
            .iter()
            .find(|(s, _)| *s == format!("{name}.bank{banks}"));
        let group = group(system, &name, &last?.1);
        if group.contains(&name) {
            return None;
        }
        add_bank(design, &group, bank, &name, random);
        specify_bank(design, bank);
    }
    set_banks(design, &name, banks, 2 * banks);
    Some(format!("{} banks", 2 * banks))
}

fn add_bank(
    design: &mut Design,
    group: &BTreeSet<String>,
    bank: usize,
    divider: &str,
    random: &mut Random,
) {
    let kind = design.main().kind();
    let system = design.main();
    let mut names: Vec<(String, String)> = Vec::new();
    for old in group {
        let mut node = system.module(old).unwrap().clone();
        let new = system.fresh(random);
        node.set("name", &new);
        system.add(node);
        names.push((old.clone(), new));
    }
    let renamed = |end: &str| -> Option<String> {
        let (instance, interface) = end.split_once('.')?;
        let (_, new) = names.iter().find(|(old, _)| old == instance)?;
        Some(format!("{new}.{interface}"))
    };
    let mut exports = Vec::new();
    for node in system.root.children.clone() {
        let mut new = node.clone();
        match node.name.as_str() {
            "connection" => {
                let Some(end) = renamed(node.get("end")) else {
                    continue;
                };
                new.set("end", &end);
                match renamed(node.get("start")) {
                    Some(start) => new.set("start", &start),
                    // The divider's new master replaces the last one.
                    None if node.get("start").starts_with(&format!("{divider}.bank")) => {
                        new.set("start", &format!("{divider}.bank{bank}"));
                    }
                    // A slave on the host's bus stays unconnected: there may be no room.
                    None if node.get("kind") == "avalon" => continue,
                    None => {}
                }
                system.add(new);
            }
            "interface" => {
                let Some(inside) = renamed(node.get("internal")) else {
                    continue;
                };
                let name = match node.get("name").starts_with("kernel_mem") {
                    true => format!("kernel_mem{}", bank - 1),
                    false => system.fresh(random),
                };
                new.set("internal", &inside);
                new.set("name", &name);
                exports.push((node.get("name").to_string(), name));
                system.add(new);
            }
            _ => {}
        }
    }
    let top = design.top();
    for (old, new) in exports {
        let instance = top.modules().find(|m| m.get("kind") == kind).unwrap();
        let of = format!("{}.{old}", instance.get("name"));
        let inside = format!("{}.{new}", instance.get("name"));
        let like = (top.root.children.iter()).find(|n| n.get("internal") == of);
        let Some(mut node) = like.cloned() else {
            continue;
        };
        let name = top.fresh(random);
        node.set("internal", &inside);
        node.set("name", &name);
        top.add(node);
    }
}

/// Adds a line of the bank in `board_spec.xml`, like that of the last one.
fn specify_bank(design: &mut Design, bank: usize) {
    let line = |text: &str, port: &str| {
        let found = text.lines().find(|line| line.contains(port));
        found.map(str::to_string)
    };
    design.edit("board_spec.xml", |text| {
        let before = format!("port=\"kernel_mem{}\"", bank - 2);
        let Some(old) = line(&text, &before) else {
            return text;
        };
        let value = |name: &str| {
            let rest = old.split(&format!("{name}=\"")).nth(1).unwrap();
            rest.split('"').next().unwrap().to_string()
        };
        let (at, size) = (value("address"), value("size"));
        let next = number(&at) + number(&size);
        let new = old
            .replace(&before, &format!("port=\"kernel_mem{}\"", bank - 1))
            .replace(
                &format!("address=\"{at}\""),
                &format!("address=\"{next:#x}\""),
            );
        text.replacen(&old, &format!("{old}\n{new}"), 1)
    });
}

/// Halves the number of banks.
pub fn fewer_banks(design: &mut Design, _: &mut Random) -> Option<String> {
    let (name, banks) = divider(design);
    if banks != 2 {
        return None;
    }
    let system = design.main();
    let last = system.links("avalon");
    let last = last.iter().find(|(s, _)| *s == format!("{name}.bank2"));
    let group = group(system, &name, &last?.1);
    let inside = |end: &str| group.contains(end.split('.').next().unwrap());
    let kinds = ["clock", "reset", "avalon", "interrupt"];
    let mut links = kinds.iter().flat_map(|kind| system.links(kind));
    if links.any(|(start, end)| inside(&start) && !inside(&end)) {
        // Another instance uses its clock.
        return None;
    }
    let exports: Vec<String> = (system.root.children.iter())
        .filter(|n| n.name == "interface" && inside(n.get("internal")))
        .map(|n| n.get("name").to_string())
        .collect();
    let kind = system.kind();
    for instance in &group {
        system.drop_instance(instance);
    }
    let top = design.top();
    let instance = top.modules().find(|m| m.get("kind") == kind).unwrap();
    let instance = instance.get("name").to_string();
    for export in exports {
        let of = format!("{instance}.{export}");
        top.take_out(|n| n.get("internal") == of);
    }
    design.edit("board_spec.xml", |text| {
        let stays = |line: &&str| !line.contains("port=\"kernel_mem1\"");
        text.split_inclusive('\n').filter(stays).collect()
    });
    set_banks(design, &name, 2, 1);
    Some("1 bank".into())
}

/// Changes the bursts of bridges and of the DMA.
pub fn bursts(design: &mut Design, random: &mut Random) -> Option<String> {
    let system = design.main();
    let names: Vec<String> = system
        .modules()
        .map(|m| m.get("name").to_string())
        .collect();
    let mut said = Vec::new();
    for name in names {
        for parameter in ["MAX_BURST_SIZE", "BURST_SIZE"] {
            let has = system.module(&name).unwrap().parameter(parameter).is_some();
            if has && random.one_in(3) {
                let burst = 1 << random.below(7);
                system
                    .module_mut(&name)
                    .set_parameter(parameter, &burst.to_string());
                said.push(format!("{name} {burst}"));
            }
        }
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// Adds requirements on the interconnect, some for connections that are removed.
pub fn requirements(design: &mut Design, random: &mut Random) -> Option<String> {
    let dma = design.dma();
    let system = design.main();
    let links = system.links("avalon");
    let (start, end) = match random.one_in(2) {
        true => links
            .iter()
            .find(|(s, _)| *s == format!("{dma}.m"))
            .unwrap(),
        false => random.pick(&links),
    };
    let subject = match random.below(3) {
        0 => start.clone(),
        1 => end.clone(),
        _ => format!("{start}|{end}"),
    };
    let attributes = [
        ("for", subject.as_str()),
        ("name", "qsys_mm.maxAdditionalLatency"),
        ("value", "3"),
    ];
    system.add(Node::new("interconnectRequirement", &attributes));
    Some(subject)
}
