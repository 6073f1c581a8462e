//! Changes of names and of the order of elements.

use super::design::Design;
use super::random::Random;

/// Replaces `from` if no letter of names follows.
fn replace(text: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let after = &rest[at + from.len()..];
        out += &rest[..at];
        let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        out += if goes_on { from } else { to };
        rest = after;
    }
    out + rest
}

/// Changes names of instances everywhere.
pub fn instances(design: &mut Design, random: &mut Random) -> Option<String> {
    let which = random.below(design.systems.len());
    let main = design.main().kind();
    let top = design.top().kind();
    let system = &mut design.systems[which];
    let kind = system.kind();
    let names: Vec<String> = system
        .modules()
        .map(|m| m.get("name").to_string())
        .collect();
    let often = 1 + random.below(4);
    let mut said = Vec::new();
    for old in names {
        if !random.one_in(often) {
            continue;
        }
        let new = design.systems[which].fresh(random);
        rename(design, which, &old, &new);
        said.push(format!("{old} → {new}"));
        if kind == main && design.idle.remove(&old) {
            design.idle.insert(new.clone());
        }
        for file in design
            .with_ending(".qsf")
            .into_iter()
            .chain(design.with_ending(".tcl"))
        {
            design.edit(&file, |text| {
                let text = replace(&text, &format!(":{old}"), &format!(":{new}"));
                replace(&text, &format!("{kind}_{old}"), &format!("{kind}_{new}"))
            });
        }
        for file in design.with_ending(".sdc") {
            design.edit(&file, |text| {
                replace(&text, &format!("|{old}"), &format!("|{new}"))
            });
        }
        if kind == top {
            design.edit("board_spec.xml", |text| {
                text.replace(&format!("=\"{old}\""), &format!("=\"{new}\""))
                    .replace(&format!("=\"{old}."), &format!("=\"{new}."))
            });
        }
    }
    (!said.is_empty()).then(|| format!("in {kind}: {}", said.join(", ")))
}

fn rename(design: &mut Design, which: usize, old: &str, new: &str) {
    let system = &mut design.systems[which];
    system.touched = true;
    let of = |end: &str| match end.strip_prefix(old) {
        Some(rest) if rest.starts_with('.') => format!("{new}{rest}"),
        _ => end.to_string(),
    };
    for node in &mut system.root.children {
        match node.name.as_str() {
            "module" if node.get("name") == old => node.set("name", new),
            "connection" => {
                let (start, end) = (of(node.get("start")), of(node.get("end")));
                node.set("start", &start);
                node.set("end", &end);
            }
            "interface" if !node.get("internal").is_empty() => {
                let inside = of(node.get("internal"));
                node.set("internal", &inside);
            }
            "interconnectRequirement" => {
                let subject: Vec<String> = node.get("for").split('|').map(of).collect();
                node.set("for", &subject.join("|"));
            }
            "parameter" if node.get("name") == "bonusData" => {
                node.text = replace(
                    &node.text,
                    &format!("element {old}"),
                    &format!("element {new}"),
                );
            }
            _ => {}
        }
    }
}

/// Changes the name of a system that is used in another one, and of its file.
pub fn system(design: &mut Design, random: &mut Random) -> Option<String> {
    let inner: Vec<usize> = (0..design.systems.len())
        .filter(|&n| {
            let kind = design.systems[n].kind();
            let mut all = design.systems.iter().flat_map(|s| s.modules());
            all.any(|m| m.get("kind") == kind)
        })
        .collect();
    let which = *random.pick(&inner);
    let old = design.systems[which].kind();
    if old == "acl_dma" {
        // The search finds it by this name.
        return None;
    }
    let new = format!(
        "{}_{}",
        random.pick(&["iface", "Board", "sys", "kit"]),
        random.below(90)
    );
    if design.systems.iter().any(|s| s.kind() == new) {
        return None;
    }
    let moved = |path: &std::path::Path| path.with_file_name(format!("{new}.qsys"));
    let before = design.systems[which].path.clone();
    let path = moved(&before);
    let content = design.files.remove(&design.hardware.join(&before)).unwrap();
    design.files.insert(design.hardware.join(&path), content);
    design.systems[which].path = path;
    for system in &mut design.systems {
        for node in &mut system.root.children {
            if node.name == "module" && node.get("kind") == old {
                node.set("kind", &new);
                system.touched = true;
            }
        }
    }
    for file in design
        .with_ending(".qsf")
        .into_iter()
        .chain(design.with_ending(".tcl"))
    {
        design.edit(&file, |text| {
            text.replace(&format!("|{old}:"), &format!("|{new}:"))
                .replace(&format!("|{old}_"), &format!("|{new}_"))
        });
    }
    for file in design.with_ending(".ipx") {
        design.edit(&file, |text| {
            text.replace(&format!("name=\"{old}\""), &format!("name=\"{new}\""))
                .replace(&format!("{old}.qsys"), &format!("{new}.qsys"))
        });
    }
    Some(format!("{old} → {new}"))
}

/// Changes the order of the elements.
pub fn order(design: &mut Design, random: &mut Random) -> Option<String> {
    let which = random.below(design.systems.len());
    let system = &mut design.systems[which];
    system.touched = true;
    let all = &mut system.root.children;
    let said = match random.below(3) {
        0 => {
            random.shuffle(all);
            "everything mixed"
        }
        1 => {
            all.reverse();
            "all reversed"
        }
        _ => {
            for node in all.iter_mut() {
                random.shuffle(&mut node.children);
            }
            "parameters mixed"
        }
    };
    Some(format!("{said} in {}", system.kind()))
}

/// Changes the spelling of an address.
pub fn numbers(design: &mut Design, random: &mut Random) -> Option<String> {
    let system = design.main();
    system.touched = true;
    for node in &mut system.root.children {
        if let Some(base) = node.parameter("baseAddress").map(super::design::number) {
            let text = match random.below(4) {
                0 => base.to_string(),
                1 => format!("{base:#x}"),
                2 => format!("0x{base:016X}"),
                _ => format!("{base:#010x}"),
            };
            node.set_parameter("baseAddress", &text);
        }
    }
    Some("addresses in decimal and hexadecimal".into())
}
