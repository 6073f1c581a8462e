//! A system of Platform Designer (`.qsys`), as far as the check compares it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::read::{Node, xml};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hint::Hint;

/// An instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instance {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// Version of the kind.
    pub version: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Parameters.
    pub parameters: BTreeMap<String, String>,
    /// Line.
    pub line: usize,
}

impl Instance {
    /// Returns a parameter that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        super::number(self.parameters.get(name)?)
    }
}

/// A connection; both ends are `instance.interface`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wire {
    /// Kind.
    pub kind: String,
    /// Master or source.
    pub from: String,
    /// Slave or sink.
    pub to: String,
    /// Parameters.
    pub parameters: BTreeMap<String, String>,
    /// Line.
    pub line: usize,
}

impl Wire {
    /// Returns the instances at its two ends.
    pub fn instances(&self) -> [&str; 2] {
        [instance(&self.from), instance(&self.to)]
    }
}

/// Returns the instance of an end.
pub fn instance(end: &str) -> &str {
    end.split('.').next().unwrap_or_default()
}

/// An interface of the whole system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// Name outside.
    pub name: String,
    /// End inside; empty if Platform Designer lost it.
    pub inside: String,
    /// Ports that it names, each with the port inside.
    pub ports: BTreeMap<String, String>,
    /// Line.
    pub line: usize,
}

/// A system.
#[derive(Debug, Default)]
pub struct Design {
    /// The file.
    pub path: PathBuf,
    /// Instances in file order.
    pub instances: Vec<Instance>,
    /// Connections in file order, without those of disabled instances.
    pub wires: Vec<Wire>,
    /// Exports in file order, without those of disabled instances.
    pub outside: Vec<Outside>,
    /// Requirements of the whole system on its interconnect, by name.
    pub requirements: BTreeMap<String, String>,
    by_name: BTreeMap<String, usize>,
}

impl Design {
    /// Reads a `.qsys` file.
    ///
    /// # Errors
    /// [`ErrorKind::BadXml`], with the line; [`ErrorKind::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        let root = xml(path)?;
        Self::of(path, &root).map_err(|(line, what)| {
            Error::new(
                ErrorKind::BadXml,
                Place::line(path, line),
                what,
                Hint::of_result(path),
            )
        })
    }

    /// Converts a parsed file into a system; on failure returns the line and the fault there.
    ///
    /// # Errors
    /// If the file is not a system, or an element lacks a required attribute.
    pub fn of(path: &Path, root: &Node) -> std::result::Result<Self, (usize, String)> {
        if root.tag != "system" {
            return Err((root.line, format!("<{}> is not a system", root.tag)));
        }
        let need = |node: &Node, name: &str| {
            let value = node.get(name).map(str::to_string);
            value.ok_or_else(|| (node.line, format!("<{}> without {name}", node.tag)))
        };
        let parameters = |node: &Node| -> BTreeMap<_, _> {
            node.parameters()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect()
        };
        let mut design = Self {
            path: path.to_path_buf(),
            ..Self::default()
        };
        for node in &root.inside {
            match node.tag.as_str() {
                "module" => {
                    let name = need(node, "name")?;
                    design.by_name.insert(name.clone(), design.instances.len());
                    design.instances.push(Instance {
                        name,
                        kind: need(node, "kind")?,
                        version: node.get("version").unwrap_or_default().into(),
                        enabled: !matches!(node.get("enabled"), Some("0" | "false")),
                        parameters: parameters(node),
                        line: node.line,
                    });
                }
                "connection" => design.wires.push(Wire {
                    kind: need(node, "kind")?,
                    from: need(node, "start")?,
                    to: need(node, "end")?,
                    parameters: parameters(node),
                    line: node.line,
                }),
                "interface" => design.outside.push(Outside {
                    name: need(node, "name")?,
                    inside: node.get("internal").unwrap_or_default().into(),
                    ports: (node.all("port"))
                        .filter_map(|port| {
                            Some((port.get("name")?.into(), port.get("internal")?.into()))
                        })
                        .collect(),
                    line: node.line,
                }),
                "interconnectRequirement" if node.get("for") == Some("$system") => {
                    let word = |name| node.get(name).unwrap_or_default().to_string();
                    design.requirements.insert(word("name"), word("value"));
                }
                _ => {}
            }
        }
        // Platform Designer generates neither a disabled instance nor the connections and exports of it.
        let off = design.instances.iter().filter(|i| !i.enabled);
        let off: BTreeSet<String> = off.map(|i| i.name.clone()).collect();
        let on = |end: &str| !off.contains(instance(end));
        design.wires.retain(|w| on(&w.from) && on(&w.to));
        design.outside.retain(|o| on(&o.inside));
        Ok(design)
    }

    /// Returns the instance of a name; of several, the last.
    pub fn instance(&self, name: &str) -> Option<&Instance> {
        self.by_name.get(name).map(|&at| &self.instances[at])
    }

    /// Iterates over the connections of a kind that end at an interface.
    pub fn into<'a, 'b>(
        &'a self,
        kind: &'b str,
        to: &'b str,
    ) -> impl Iterator<Item = &'a Wire> + use<'a, 'b> {
        self.wires
            .iter()
            .filter(move |w| w.kind == kind && w.to == to)
    }

    /// Iterates over the connections of masters and slaves.
    pub fn avalon(&self) -> impl Iterator<Item = &Wire> {
        self.wires.iter().filter(|w| w.kind == "avalon")
    }

    /// Iterates over the connections of resets.
    pub fn resets(&self) -> impl Iterator<Item = &Wire> {
        self.wires.iter().filter(|w| w.kind == "reset")
    }

    /// Returns the place of a line of the file.
    pub fn place(&self, line: usize) -> Place {
        Place::line(&self.path, line)
    }

    /// Returns the receiver that an interrupt reaches through bridges of interrupts (Embedded Peripherals IP user guide
    /// 683130, "IRQ Bridge" and "IRQ Clock Crosser").
    pub fn interrupted<'a>(&'a self, receiver: &'a str) -> &'a str {
        let mut receiver = receiver;
        for _ in 0..=self.instances.len() {
            let name = instance(receiver);
            let kind = self.instance(name).map_or("", |i| i.kind.as_str());
            let sender = match kind {
                "altera_irq_bridge" | "altera_irq_clock_crosser" => "sender",
                _ => return receiver,
            };
            let onward = self.wires.iter().find(|w| {
                w.kind == "interrupt"
                    && w.to
                        .split_once('.')
                        .is_some_and(|(to, end)| to == name && end.starts_with(sender))
            });
            match onward {
                Some(wire) => receiver = &wire.from,
                None => return receiver,
            }
        }
        receiver
    }

    /// Returns the source of an input's clock, found through bridges of clocks.
    pub fn clock(&self, input: &str) -> Option<&str> {
        let mut input = input.to_string();
        for _ in 0..=self.instances.len() {
            let from = &self.into("clock", &input).next()?.from;
            let (name, interface) = from.split_once('.')?;
            input = match (self.instance(name)?.kind.as_str(), interface) {
                ("altera_clock_bridge", _) => format!("{name}.in_clk"),
                ("clock_source", "clk") => format!("{name}.clk_in"),
                _ => return Some(from),
            };
            if self.into("clock", &input).next().is_none() {
                return Some(from);
            }
        }
        None
    }
}
