//! A system as another XML parser sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns every element below the root with its attributes and content, and the number of its occurrences.
pub fn elements(path: &Path) -> BTreeMap<String, usize> {
    let source = fs::read_to_string(path).unwrap();
    let document = roxmltree::Document::parse(&source).unwrap();
    let mut found = BTreeMap::new();
    for node in document
        .root_element()
        .children()
        .filter(|n| n.is_element())
    {
        *found.entry(describe(node)).or_default() += 1;
    }
    found
}

fn describe(node: roxmltree::Node<'_, '_>) -> String {
    let mut words = vec![node.tag_name().name().to_string()];
    // Platform Designer's notes about instances are compared separately.
    if node.attribute("name") == Some("bonusData") {
        return "bonusData".into();
    }
    words.extend(
        node.attributes()
            .map(|a| format!("{}={}", a.name(), a.value())),
    );
    words.extend(
        node.children()
            .filter(|n| n.is_element())
            .map(|n| format!("({})", describe(n))),
    );
    words.extend(
        node.text()
            .map(str::trim)
            .filter(|t| !t.is_empty())
            .map(str::to_string),
    );
    words.join(" ")
}

pub fn minus(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>) -> BTreeSet<String> {
    a.iter()
        .filter(|(k, n)| b.get(*k).copied().unwrap_or(0) < **n)
        .map(|(k, _)| k.clone())
        .collect()
}

/// Returns `kind start end [base]` of connections.
pub fn connections(elements: &BTreeSet<String>) -> BTreeSet<String> {
    elements
        .iter()
        .filter(|e| e.starts_with("connection "))
        .map(|e| short(e))
        .collect()
}

fn short(connection: &str) -> String {
    let value = |key: &str| {
        connection
            .split(' ')
            .find_map(|w| w.strip_prefix(key))
            .unwrap_or_default()
            .to_string()
    };
    let base = connection
        .split("name=baseAddress value=")
        .nth(1)
        .map(|v| format!(" {}", v.split(')').next().unwrap()))
        .unwrap_or_default();
    format!(
        "{} {} {}{base}",
        value("kind="),
        value("start="),
        value("end=")
    )
}

pub fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|w| w.to_string()).collect()
}

/// Returns the parameters of the first element with this beginning.
pub fn parameters(set: &BTreeSet<String>, of: &str) -> BTreeSet<String> {
    let element = set.iter().find(|e| e.starts_with(of)).unwrap();
    element
        .split(" (parameter ")
        .skip(1)
        .map(|p| p.trim_end_matches(')').to_string())
        .collect()
}
