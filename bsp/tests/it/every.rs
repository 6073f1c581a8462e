//! Every instance, connection, export and parameter of the second reference BSP's board is removed or changed, one at a
//! time, and the check finds each change.
//!
//! A part of the changes is tried at all times, all of them by `cargo xtask test bsp-all`.

use std::fs;
use std::ops::Range;

use crate::common::{Work, reference_net};
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, structure};

const BOARD: &str = "board.qsys";
const STREAM: &str = "[port]\nkind = \"tlp\"";

/// A change of the file: its name, the bytes, and the new text.
struct Mutation {
    name: String,
    at: Range<usize>,
    to: String,
}

/// Returns the bytes of the elements of a tag that are direct children of the system.
fn elements(text: &str, tag: &str) -> Vec<Range<usize>> {
    let (open, close) = (format!("\n <{tag}"), format!("</{tag}>"));
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(&open) {
        let start = from + at + 1;
        let first = start + text[start..].find('>').unwrap() + 1;
        let end = match text[..first].ends_with("/>") {
            true => first,
            false => start + text[start..].find(&close).unwrap() + close.len(),
        };
        found.push(start..end);
        from = end;
    }
    found
}

/// Returns the bytes of the value of an attribute in a range.
fn value(text: &str, within: &Range<usize>, attribute: &str) -> Option<Range<usize>> {
    let key = format!("{attribute}=\"");
    let at = text[within.clone()].find(&key)? + within.start + key.len();
    Some(at..at + text[at..within.end].find('"')?)
}

/// Returns a different value: a number plus one, or a word with another letter.
fn other(old: &str) -> String {
    match old.parse::<i64>() {
        Ok(number) => (number + 1).to_string(),
        Err(_) if old.starts_with("0x") => {
            // For a list, changes the first number.
            let (number, others) = old.split_at(old.find(',').unwrap_or(old.len()));
            let number = u64::from_str_radix(&number[2..], 16).unwrap();
            format!("{:#06x}{others}", number + 0x10_0000)
        }
        Err(_) => format!("{old}x"),
    }
}

/// Returns the parameters of an element: their bytes and names.
fn parameters(text: &str, element: &Range<usize>) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut from = element.start;
    while let Some(at) = text[from..element.end].find("<parameter") {
        let start = from + at;
        let end = start + text[start..].find('>').unwrap() + 1;
        if let Some(name) = value(text, &(start..end), "name") {
            found.push((start..end, text[name].to_string()));
        }
        from = end;
    }
    found
}

fn mutations(text: &str) -> Vec<Mutation> {
    let mut found = Vec::new();
    let mut add = |name: String, at: Range<usize>, to: String| {
        found.push(Mutation { name, at, to });
    };
    for tag in ["module", "connection", "interface"] {
        let all = elements(text, tag);
        for (n, element) in all.iter().enumerate() {
            let word = |attribute| value(text, element, attribute).map(|at| &text[at]);
            let about = match tag {
                "connection" => format!("{} → {}", word("start").unwrap(), word("end").unwrap()),
                _ => word("name").unwrap().to_string(),
            };
            add(
                format!("{tag} {about}: gone"),
                element.clone(),
                String::new(),
            );
            let attributes: &[&str] = match tag {
                "module" => &["kind", "version", "enabled", "name"],
                "connection" => &["kind", "start", "end"],
                _ => &["name", "internal"],
            };
            for attribute in attributes {
                let Some(at) = value(text, element, attribute) else {
                    continue;
                };
                let to = match *attribute {
                    "enabled" => "0".into(),
                    _ => other(&text[at.clone()]),
                };
                add(format!("{tag} {about}: {attribute}"), at, to);
            }
            // The end of another connection of its kind.
            let next = all.iter().skip(n + 1).find(|next| {
                let of =
                    |element: &Range<usize>, name| value(text, element, name).map(|at| &text[at]);
                tag == "connection"
                    && of(next, "kind") == of(element, "kind")
                    && of(next, "end") != of(element, "end")
            });
            if let Some(next) = next {
                let (at, to) = (value(text, element, "end"), value(text, next, "end"));
                let to = text[to.unwrap()].to_string();
                add(format!("{tag} {about}: moved to {to}"), at.unwrap(), to);
            }
            for (parameter, name) in parameters(text, element) {
                let Some(at) = value(text, &parameter, "value") else {
                    continue;
                };
                let to = other(&text[at.clone()]);
                add(format!("{tag} {about}: {name}"), at, to);
                add(
                    format!("{tag} {about}: {name} gone"),
                    parameter,
                    String::new(),
                );
            }
        }
    }
    found
}

/// Reports whether a change has no effect, or is one that the check leaves to users who tune the board.
fn is_harmless(name: &str) -> bool {
    // Without the parameter Platform Designer uses its default. These had the default (Platform Designer user guide
    // 683364, connections: base 0, priority 1, no default slave, number 0), or that of the new bridge.
    let default = [
        "→ peerlane_bar0.s0: baseAddress gone",
        ": arbitrationPriority gone",
        ": defaultConnection gone",
        "kernel_irq_to_host: irqNumber gone",
    ];
    // All wires of a conduit.
    let whole = [
        "startPort",
        "startPortLSB",
        "endPort",
        "endPortLSB",
        "width",
    ]
    .iter()
    .any(|word| name.ends_with(&format!(": {word} gone")));
    let at_0 = [
        "→ host_pipe.s0",
        "→ endpoint.Cra",
        "→ copier.Cra",
        "→ flash_port.s",
        "→ splitter.s",
        "→ endpoint.Txs",
        "→ bank_a_pipe.s0",
        "→ bank_b_pipe.s0",
        "→ cross_to_bank_b.s0",
        "→ bank_a.avl",
        "→ bank_b.avl",
    ];
    let of_bridge = name.starts_with("module peerlane_bar0: ")
        && ["MAX_", "PIPELINE_"].iter().any(|word| name.contains(word));
    // The shares of the block's own connections may be tuned, and the bridge to the block may be wider than necessary.
    let of_block = ["copier.", "→ peerlane_bar0."]
        .iter()
        .any(|word| name.contains(word));
    let tuned = of_block && name.ends_with(": arbitrationPriority")
        || name == "module host_pipe: ADDRESS_WIDTH";
    whole
        || default.iter().any(|end| name.ends_with(end))
        || at_0
            .iter()
            .any(|end| name.ends_with(&format!("{end}: baseAddress gone")))
        || of_bridge
        || tuned
}

/// Tries each `step`th, beginning with the first.
fn try_each(config: &str, step: usize) {
    let work = Work::of(&reference_net());
    work.extend(config).unwrap();
    let path = work.output(BOARD);
    let text = fs::read_to_string(&path).unwrap();
    let layout = Layout::find(&work.out).unwrap();
    let all = mutations(&text);
    assert!(all.len() > 1000, "{}", all.len());
    let mut missed = Vec::new();
    for Mutation { name, at, to } in all.iter().step_by(step) {
        let mut new = text.clone();
        new.replace_range(at.clone(), to);
        assert_ne!(new, text, "{name}");
        fs::write(&path, new).unwrap();
        // A file that cannot be read counts as found.
        let found = structure(&layout).map_or(true, |findings| {
            findings.0.iter().any(|f| f.level == Level::Bad)
        });
        if !found && !is_harmless(name) {
            missed.push(name.as_str());
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {}: {missed:#?}",
        missed.len(),
        all.len() / step
    );
    fs::write(&path, &text).unwrap();
    assert_eq!(structure(&layout).unwrap().errors(), 0);
}

#[test]
fn a_part_of_every_mutation_is_found() {
    // Not a divisor of the elements' order, so that each kind occurs.
    try_each("", 23);
    try_each(STREAM, 29);
}

#[test]
#[ignore = "minutes: cargo xtask test bsp-all"]
fn long_run() {
    try_each("", 1);
    try_each(STREAM, 1);
}
