//! Systems of Platform Designer. It writes a saved system again as a whole, so only elements count: instances and their
//! parameters, connections and their parameters, exported interfaces, and requirements on the interconnect.

use std::collections::BTreeSet;
use std::fmt;

use peerlane_bsp_design::qsys::{End, System};
use peerlane_bsp_platform::roles::NEW_DMA;
use peerlane_bsp_platform::xml::Element;

use crate::elements::{Elements, Key, States};
use crate::verdict::Difference;

/// Parameters that do not count, each with the reason; a name that ends in `_` stands for all names that begin so.
/// The attribute `version` of instances and connections does not count either: Platform Designer writes its own.
const IGNORED: [(&str, &str); 4] = [
    ("bonusData", "places of the picture in the window"),
    ("generationId", "the time of the last generation"),
    ("timeStamp", "the time of the last save"),
    (
        "AUTO_",
        "facts about the system that Platform Designer derives again",
    ),
];
/// Kinds of connections whose end has one start.
const OF_ONE: [&str; 3] = ["avalon_streaming", "clock", "conduit"];
/// Kinds of connections whose start at the block belongs to the extension.
const OF_BLOCK: [&str; 4] = ["avalon", "avalon_streaming", "conduit", "interrupt"];
/// Parameters of connections that the extension writes. Newer versions of Platform Designer add others.
const OF_CONNECTION: [&str; 3] = ["arbitrationPriority", "baseAddress", "irqNumber"];
/// The block's masters of the BARs, which a user may connect to slaves of the own design.
const BAR: &str = "Rxm_BAR";

/// The name of an element of a system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Instance(String),
    Parameter(String, String),
    Connection(String, End, End),
    OfConnection(String, End, End, String),
    Export(String),
    Requirement(String, String),
    OfSystem(String),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(name) => write!(f, "the instance {name}"),
            Self::Parameter(instance, name) => write!(f, "the parameter {name} of {instance}"),
            Self::Connection(kind, start, end) => {
                write!(f, "the {kind} connection {start} → {end}")
            }
            Self::OfConnection(kind, start, end, name) => {
                write!(f, "{name} of the {kind} connection {start} → {end}")
            }
            Self::Export(name) => write!(f, "the export {name}"),
            Self::Requirement(of, name) if of.is_empty() => write!(f, "the requirement {name}"),
            Self::Requirement(of, name) => write!(f, "the requirement {name} of {of}"),
            Self::OfSystem(name) => write!(f, "the parameter {name} of the system"),
        }
    }
}

impl Key for Name {
    fn parent(&self) -> Option<Self> {
        match self {
            Self::Parameter(instance, _) => Some(Self::Instance(instance.clone())),
            Self::OfConnection(kind, start, end, _) => {
                Some(Self::Connection(kind.clone(), start.clone(), end.clone()))
            }
            _ => None,
        }
    }
}

fn counts(name: &str) -> bool {
    let is_it = |ignored: &str| match ignored.ends_with('_') {
        true => name.starts_with(ignored),
        false => name == ignored,
    };
    !IGNORED.iter().any(|(ignored, _)| is_it(ignored))
}

fn parameters(element: &Element) -> impl Iterator<Item = (&str, &str, &Element)> {
    element.children("parameter").filter_map(|parameter| {
        let name = parameter.attribute("name")?;
        let value = parameter.attribute("value").unwrap_or(&parameter.text);
        counts(name).then_some((name, value, parameter))
    })
}

/// Returns the elements of a system.
pub(crate) fn elements(system: &System) -> Elements<Name> {
    let line = |element: &Element| system.document.line_of(element.span.start);
    let mut found = Elements::default();
    for module in &system.modules {
        let value = match module.is_enabled() {
            true => module.kind.clone(),
            false => format!("{}, which is not enabled", module.kind),
        };
        let instance = Name::Instance(module.name.clone());
        found.add(instance, value, line(&module.element));
        for (name, value, element) in parameters(&module.element) {
            let key = Name::Parameter(module.name.clone(), name.into());
            found.add(key, value, line(element));
        }
    }
    for c in &system.connections {
        let ends = || (c.kind.clone(), c.start.clone(), c.end.clone());
        let (kind, start, end) = ends();
        let key = Name::Connection(kind, start, end);
        found.add(key, "", line(&c.element));
        for (name, value, element) in parameters(&c.element) {
            let (kind, start, end) = ends();
            let key = Name::OfConnection(kind, start, end, name.into());
            found.add(key, value, line(element));
        }
    }
    let exports = system.document.root.children("interface");
    for (export, element) in system.exports.iter().zip(exports) {
        // Platform Designer keeps or drops the line of an interface that is gone.
        if let (false, Some(internal)) = (export.stale, &export.internal) {
            let key = Name::Export(export.name.clone());
            found.add(key, internal.to_string(), line(element));
        }
    }
    for element in system.document.root.children("interconnectRequirement") {
        let of = |name: &str| element.attribute(name).unwrap_or_default();
        let of_all = |name: &str| {
            if name == "$system" {
                String::new()
            } else {
                name.into()
            }
        };
        let key = Name::Requirement(of_all(of("for")), of("name").into());
        found.add(key, of("value"), line(element));
    }
    for (name, value, element) in parameters(&system.document.root) {
        found.add(Name::OfSystem(name.into()), value, line(element));
    }
    found
}

/// Compares the present system with the one that this program writes.
pub(crate) fn differences(states: States<'_, Name>) -> Vec<Difference> {
    let blocks: BTreeSet<&str> = instances(states.made)
        .filter(|(_, kind)| *kind == NEW_DMA)
        .map(|(name, _)| name)
        .collect();
    let changed: BTreeSet<&str> = (states.vendor.0.keys().chain(states.made.0.keys()))
        .filter(|key| states.is_changed(key))
        .filter_map(|key| match key {
            Name::Instance(name) | Name::Parameter(name, _) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let of_block = |end: &End| blocks.contains(end.instance.as_str());
    // All connections of the block are the extension's, and so are connections that the extension made alone at an
    // interface of an instance that it changed. An interface that has such a connection is not exported.
    let is_set = |key: &Name| {
        let (kind, start, end) = match key {
            Name::OfConnection(.., name)
                if !states.made.has(key) && !OF_CONNECTION.contains(&name.as_str()) =>
            {
                return false;
            }
            Name::Connection(kind, start, end) | Name::OfConnection(kind, start, end, _) => {
                (kind, start, end)
            }
            Name::Export(_) => {
                let mut interfaces = states.now.get(key).iter();
                return interfaces.any(|value| is_taken(&states, &blocks, &value.text));
            }
            // Its state: enabled or not.
            Name::Instance(name) => return states.made.has(key) && changed.contains(name.as_str()),
            Name::Requirement(of, _) => {
                let instance = of.split(['.', '|']).next().unwrap_or_default();
                return blocks.contains(instance);
            }
            Name::Parameter(..) | Name::OfSystem(_) => return false,
        };
        if states
            .made
            .has(&Name::Connection(kind.clone(), start.clone(), end.clone()))
        {
            return of_block(start) || of_block(end);
        }
        if of_block(end) || missing(&states, start, end).is_some() {
            return true;
        }
        let is_alone = OF_ONE.contains(&kind.as_str());
        let has_another = || {
            states.made.0.keys().any(|key| match key {
                Name::Connection(of, _, other) => {
                    of == kind && other == end && (is_alone || states.is_changed(key))
                }
                _ => false,
            })
        };
        let is_own = of_block(start)
            && OF_BLOCK.contains(&kind.as_str())
            && !start.interface.starts_with(BAR);
        is_own || kind != "interrupt" && changed.contains(end.instance.as_str()) && has_another()
    };
    let place = |key: &Name| match key {
        Name::Connection(_, start, end) if !states.made.has(key) => {
            let missing = missing(&states, start, end);
            let words = missing.map(|name| format!("; there is no instance {name}"));
            (None, words.unwrap_or_default())
        }
        Name::Connection(kind, start, end) => instead(&states, kind, (start, end)),
        Name::Instance(name) => (at(&states, name), String::new()),
        _ => (None, String::new()),
    };
    states.differences(is_set, place)
}

/// Returns the name of an end's instance that the present system does not have.
fn missing<'a>(states: &States<'_, Name>, start: &'a End, end: &'a End) -> Option<&'a str> {
    let names = [start, end].map(|end| end.instance.as_str());
    let mut names = names.into_iter();
    names.find(|name| !states.now.has(&Name::Instance((*name).into())))
}

/// Reports whether an interface is one of a block, or has a connection that the extension made.
fn is_taken(states: &States<'_, Name>, blocks: &BTreeSet<&str>, interface: &str) -> bool {
    let of_block =
        (interface.split_once('.')).is_some_and(|(instance, _)| blocks.contains(instance));
    let mut made = states.made.0.keys().filter(|key| states.is_changed(key));
    of_block
        || made.any(|key| match key {
            Name::Connection(_, start, end) => {
                [start, end].iter().any(|end| end.to_string() == interface)
            }
            _ => false,
        })
}

fn instances(of: &Elements<Name>) -> impl Iterator<Item = (&str, &str)> {
    of.0.iter().filter_map(|(key, values)| match key {
        Name::Instance(name) => Some((name.as_str(), values.first()?.text.as_str())),
        _ => None,
    })
}

/// Finds the first connection of an instance that is missing.
fn at(states: &States<'_, Name>, instance: &str) -> Option<usize> {
    let all = states.now.0.keys().filter(|key| match key {
        Name::Connection(_, start, end) => start.instance == instance || end.instance == instance,
        _ => false,
    });
    all.filter_map(|key| states.now.line(key)).min()
}

/// Finds the line of the connection that took the place of another, or of an instance at its ends.
fn instead(
    states: &States<'_, Name>,
    of: &str,
    (start, end): (&End, &End),
) -> (Option<usize>, String) {
    let other = states.now.0.keys().find(|key| match key {
        Name::Connection(kind, a, b) => {
            kind == of && (a == start || b == end) && !states.made.has(key)
        }
        _ => false,
    });
    if let Some(other) = other {
        let words = format!("; there is {other}");
        return (states.now.line(other), words);
    }
    let line = |end: &End| states.now.line(&Name::Instance(end.instance.clone()));
    (line(end).or_else(|| line(start)), String::new())
}
