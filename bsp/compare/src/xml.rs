//! XML files other than systems: their elements are found by tag and name.

use std::collections::BTreeMap;
use std::fmt;

use peerlane_bsp_platform::xml::{Document, Element};

use crate::elements::{Elements, Key, States};
use crate::verdict::Difference;

/// Attributes that distinguish elements of one tag.
const NAMES: [&str; 3] = ["name", "port", "type"];

/// The path of an element or an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(Vec<String>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl Key for Path {
    fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_last()?;
        (!above.is_empty()).then(|| Self(above.to_vec()))
    }
}

/// Returns the elements and attributes of a document.
pub(crate) fn elements(document: &Document) -> Elements<Path> {
    let mut found = Elements::default();
    let root = vec![document.root.name.clone()];
    let mut open = vec![(root, &document.root)];
    while let Some((path, element)) = open.pop() {
        let line = document.line_of(element.span.start);
        found.add(Path(path.clone()), element.text.trim(), line);
        for attribute in &element.attributes {
            let mut path = path.clone();
            path.push(format!("@{}", attribute.name));
            found.add(Path(path), attribute.value.clone(), line);
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for child in &element.children {
            let mut part = part(child);
            let count = seen.entry(part.clone()).or_default();
            *count += 1;
            if *count > 1 {
                part += &format!(" ({count})");
            }
            let mut path = path.clone();
            path.push(part);
            open.push((path, child));
        }
    }
    found
}

fn part(element: &Element) -> String {
    let names = NAMES.iter().filter_map(|name| element.attribute(name));
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => element.name.clone(),
        false => format!("{} {}", element.name, names.join(" ")),
    }
}

/// Compares the present file with the one that this program writes.
pub(crate) fn differences(states: States<'_, Path>) -> Vec<Difference> {
    states.differences(|_| false, |_| (None, String::new()))
}
