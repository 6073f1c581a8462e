//! Reads a BSP, and its state before it was extended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::block::logic::Names;
use crate::build::Build;
use crate::diagram::{Address, Clock, Diagram, Instance, Interrupt, Part, State, Stream, Wire};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::hash::digest_of;
use crate::kept::{self, Entry, Record};
use crate::layout::Layout;
use crate::logic;
use crate::roles::NEW_DMA;
use crate::system::clocks;
use crate::system::host_bus::{bar_map, bar_number, slaves};
use crate::system::kinds::is_bridge;
use crate::system::library::{Library, is_pcie_hip, is_streaming_hip};
use crate::system::qsys::{Connection, End, Module, System};
use crate::system::site::Site;
use crate::xml::Document;

/// Reads a BSP.
pub(super) fn diagram(bsp: &Path) -> Result<Diagram> {
    let given = bsp;
    let bsp = fs::canonicalize(bsp).unwrap_or_else(|_| bsp.to_path_buf());
    read(&bsp).map_err(|e| e.named_as_given(&bsp, given))
}

fn read(bsp: &Path) -> Result<Diagram> {
    let layout = Layout::of_result(bsp)?;
    let hardware = layout.hardware_dir();
    let mut library = Library::find(&layout)?;
    let extended = library
        .systems()
        .any(|s| s.modules.iter().any(|m| m.kind == NEW_DMA));
    let mut streams = Vec::new();
    let old = if extended {
        let build = Build::read(&layout)?;
        streams = streams_of(&build);
        library.set_inside(&build.slaves);
        library.set_block(build.config);
        vendors(&layout, &library)?
    } else {
        library.clone()
    };
    let before = Site::find(&old, &hardware)?;
    let name = &before.system.kind;
    let new = library.system(name).and_then(|system| {
        let dma = system.modules.iter().find(|m| m.kind == NEW_DMA)?;
        let is_hip = |m: &&Module| is_pcie_hip(&m.kind) || is_streaming_hip(&m.kind);
        let hip = system.modules.iter().find(is_hip)?;
        Some((system, dma, hip))
    });
    let after = new.map(|(system, dma, hip)| Site {
        library: &library,
        system,
        dma,
        hip,
    });
    let specification = Document::read(&hardware.join("board_spec.xml"))?;
    let board = specification.root.attribute("name").unwrap_or("a board");
    let board = board.to_string();
    Ok(Diagram {
        streams,
        ..of(board, &before, after.as_ref())
    })
}

/// Returns the streams of a build.
fn streams_of(build: &Build) -> Vec<Stream> {
    let all = logic::numbered(&build.config.streams);
    all.map(|(number, stream)| Stream {
        name: stream.name.clone(),
        interface: format!("{}.{}", build.instance, Names::of(number, stream).words),
        direction: stream.direction.words(),
        bits: stream.bits,
        channel: stream.is_channel(),
    })
    .collect()
}

/// Returns the design before it was extended, with the stored systems of the vendor.
fn vendors(layout: &Layout, library: &Library) -> Result<Library> {
    let record = Record::read(&layout.root)?;
    let mut old = library.clone();
    for system in library.systems() {
        let inside = record.in_vendors_tree(&layout.inside(&system.document.path)?);
        let Some(Entry::File { sha256, .. }) = record.vendor.get(&kept::name(&inside)) else {
            continue;
        };
        let path = layout.root.join(kept::VENDOR).join(inside);
        if !path.is_file() || digest_of(&path)? != *sha256 {
            return Err(Error::new(
                ErrorKind::Inconsistent,
                Place::file(&path),
                "the kept copy of the vendor's file was changed: nothing can be compared with it",
                "Extend the vendor's BSP again.",
            ));
        }
        let mut kept = System::read(&path)?.generated(|_| false);
        kept.kind.clone_from(&system.kind);
        old = old.with(kept);
    }
    Ok(old)
}

/// A value before and after.
struct Both<T> {
    old: Option<T>,
    new: Option<T>,
}

/// Pairs the values before and after by a key.
fn both<K: Ord, T>(
    old: Vec<T>,
    new: Option<Vec<T>>,
    key: impl Fn(&T) -> K,
) -> Vec<(Both<T>, bool)> {
    let after = new.is_some();
    let mut found: Vec<Both<T>> = old
        .into_iter()
        .map(|old| Both {
            old: Some(old),
            new: None,
        })
        .collect();
    let mut at = 0;
    for value in new.into_iter().flatten() {
        let same = |both: &Both<T>| both.old.as_ref().is_some_and(|old| key(old) == key(&value));
        match found.iter().position(same) {
            Some(n) => {
                found[n].new = Some(value);
                at = n + 1;
            }
            None => {
                let new = Both {
                    old: None,
                    new: Some(value),
                };
                found.insert(at, new);
                at += 1;
            }
        }
    }
    found.into_iter().map(|both| (both, after)).collect()
}

impl<T: Clone> Both<T> {
    /// Returns the latest value and the effect of the extension.
    fn last(&self, after: bool, same: impl Fn(&T, &T) -> bool) -> (T, State) {
        match (&self.old, &self.new) {
            (Some(old), None) if !after => (old.clone(), State::Same),
            (Some(old), None) => (old.clone(), State::Gone),
            (Some(old), Some(new)) if same(old, new) => (new.clone(), State::Same),
            (Some(_), Some(new)) => (new.clone(), State::Changed),
            (None, Some(new)) => (new.clone(), State::New),
            (None, None) => unreachable!("it exists before or after"),
        }
    }
}

fn of(board: String, before: &Site<'_>, after: Option<&Site<'_>>) -> Diagram {
    let parts = parts(before, after);
    let clocks = clock_table(before, after);
    let interrupts = interrupt_table(before, after);
    let path = &before.system.kind;
    Diagram {
        board,
        system: format!("{path}.qsys"),
        extended: after.is_some(),
        instances: instances(before, after, &parts, &clocks, &interrupts),
        wires: wires(before, after, &parts),
        addresses: address_table(before, after),
        interrupts,
        clocks,
        streams: Vec::new(),
    }
}

/// Returns the instances to show, with their roles.
fn parts(before: &Site<'_>, after: Option<&Site<'_>>) -> BTreeMap<String, Part> {
    let mut parts = BTreeMap::new();
    for site in [Some(before), after].into_iter().flatten() {
        for (name, part) in parts_of(site) {
            parts.entry(name).or_insert(part);
        }
    }
    parts
}

fn parts_of(site: &Site<'_>) -> BTreeMap<String, Part> {
    let mut parts = BTreeMap::from([
        (site.hip.name.clone(), Part::Host),
        (site.dma.name.clone(), Part::Dma),
    ]);
    let kind = |name: &str| site.system.module(name).map_or("", |m| m.kind.as_str());
    // Down from the BARs.
    let bars = site.from(&site.host().name, None);
    let mut open: Vec<&Connection> = bars.filter(|c| bar_number(&c.start).is_some()).collect();
    while let Some(connection) = open.pop() {
        let name = &connection.end.instance;
        if parts.contains_key(name) {
            continue;
        }
        let part = match kind(name) {
            kind if is_bridge(kind) => {
                open.extend(site.from(name, None));
                Part::Bridge
            }
            kind if kind.starts_with("acl_kernel") => Part::Kernel,
            _ => Part::Slave,
        };
        parts.insert(name.clone(), part);
    }
    // Instances that the DMA's masters lead to: back to PCIe, or to memory.
    let links: Vec<&Connection> = site.system.of_kind("avalon").collect();
    let from = |name: &str| {
        let links = links.iter().copied();
        let name = name.to_string();
        links.filter(move |c| c.start.instance == name)
    };
    let mut found: Vec<String> = Vec::new();
    let mut open: Vec<&Connection> = from(&site.dma.name).collect();
    while let Some(connection) = open.pop() {
        let name = &connection.end.instance;
        if !parts.contains_key(name) && !found.contains(name) {
            found.push(name.clone());
            open.extend(from(name));
        }
    }
    let back = |name: &String| {
        let mut seen = BTreeSet::new();
        let mut open = vec![name.clone()];
        let mut ends = Vec::new();
        while let Some(name) = open.pop() {
            if seen.insert(name.clone()) {
                ends.extend(from(&name).map(|c| c.end.instance.clone()));
                open.extend(from(&name).map(|c| c.end.instance.clone()));
            }
            if name == site.hip.name {
                break;
            }
        }
        ends.contains(&site.hip.name)
    };
    for name in &found {
        let part = if back(name) {
            Part::Return
        } else {
            Part::Memory
        };
        parts.insert(name.clone(), part);
    }
    // Other masters of that memory: the kernel, also through a monitor, which is a slave in the BAR, too.
    loop {
        let more: Vec<String> = links
            .iter()
            .filter(|c| parts.get(&c.end.instance) == Some(&Part::Memory))
            .map(|c| c.start.instance.clone())
            .filter(|name| matches!(parts.get(name), None | Some(Part::Slave)))
            .collect();
        if more.is_empty() {
            return parts;
        }
        parts.extend(more.into_iter().map(|name| (name, Part::Memory)));
    }
}

fn instances(
    before: &Site<'_>,
    after: Option<&Site<'_>>,
    parts: &BTreeMap<String, Part>,
    clocks: &[Clock],
    interrupts: &[Interrupt],
) -> Vec<Instance> {
    let all = |site: &Site<'_>| -> Vec<Module> {
        let modules = site.system.modules.iter();
        modules
            .filter(|m| parts.contains_key(&m.name))
            .cloned()
            .collect()
    };
    let modules = both(all(before), after.map(all), |m| m.name.clone());
    let instance = |(both, after): (Both<Module>, bool)| {
        let (module, state) = both.last(after, |a, b| a.kind == b.kind);
        let name = module.name;
        let clock = |inputs: &[&str]| {
            let runs = |clock: &Clock, input: &&str| {
                let sink = format!("{name}.{input}");
                let all = &clock.sinks;
                // An input with an old connection has its new one in the list too.
                all.iter()
                    .any(|(s, st)| *s == sink && (*st != State::Gone || state == State::Gone))
            };
            inputs
                .iter()
                .find_map(|input| clocks.iter().position(|clock| runs(clock, input)))
        };
        let own = clocks
            .iter()
            .position(|clock| clock.source.starts_with(&format!("{name}.")));
        let any = || {
            let runs = |(sink, _): &(String, State)| sink.starts_with(&format!("{name}."));
            clocks.iter().position(|clock| clock.sinks.iter().any(runs))
        };
        let first = clock(&["s0_clk", "pcie_clk", "clk", "clk1", "kernel_clk"]);
        let first = first.or(own).or_else(any);
        let second = clock(&["m0_clk", "clk"]).or(first);
        let of = |i: &&Interrupt| {
            i.state != State::Gone && i.sender.split('.').next() == Some(name.as_str())
        };
        let numbers = interrupts.iter().filter(of);
        Instance {
            part: parts[&name],
            kind: module.kind,
            clocks: (first, second),
            interrupts: numbers.map(|i| i.number.clone()).collect(),
            state,
            name,
        }
    };
    modules.into_iter().map(instance).collect()
}

fn wires(before: &Site<'_>, after: Option<&Site<'_>>, parts: &BTreeMap<String, Part>) -> Vec<Wire> {
    let all = |site: &Site<'_>| -> Vec<(String, String, u64)> {
        let links = site.system.of_kind("avalon");
        // Packets go between the hard IP and the block.
        let links = links.chain(site.system.of_kind("avalon_streaming"));
        links
            .filter(|c| {
                parts.contains_key(&c.start.instance) && parts.contains_key(&c.end.instance)
            })
            .map(|c| (c.start.to_string(), c.end.to_string(), c.base.unwrap_or(0)))
            .collect()
    };
    let links = both(all(before), after.map(all), |l| (l.0.clone(), l.1.clone()));
    let wire = |(both, after): (Both<(String, String, u64)>, bool)| {
        let ((start, end, base), state) = both.last(after, |a, b| a.2 == b.2);
        Wire {
            start,
            end,
            base,
            state,
        }
    };
    links.into_iter().map(wire).collect()
}

/// Returns the BARs that a hard IP uses.
fn bars(site: &Site<'_>) -> BTreeSet<u32> {
    let all = site.from(&site.host().name, None);
    all.filter_map(|c| bar_number(&c.start)).collect()
}

fn address_table(before: &Site<'_>, after: Option<&Site<'_>>) -> Vec<Address> {
    let all = |site: &Site<'_>| -> Vec<Address> {
        let address = |master: &str, entry: crate::system::host_bus::BarEntry| Address {
            master: master.into(),
            base: entry.base,
            bytes: entry.bytes,
            assumed: entry.assumed,
            slave: entry.slave,
            kind: entry.kind,
            state: State::Same,
        };
        let mut found = Vec::new();
        for bar in bars(site) {
            let master = format!("{}.Rxm_BAR{bar}", site.host().name);
            let entries = bar_map(site, bar).entries.into_iter();
            found.extend(entries.map(|entry| address(&master, entry)));
        }
        let masters = site.from(&site.dma.name, None);
        let masters = masters.filter(|c| bar_number(&c.start).is_none());
        let masters: BTreeSet<&str> = masters.map(|c| c.start.interface.as_str()).collect();
        for master in masters {
            let end = End::new(&site.dma.name, master);
            let entries = slaves(site, &end).into_iter();
            found.extend(entries.map(|entry| address(&end.to_string(), entry)));
        }
        found
    };
    // A BAR's master stays the same, even if another instance has it.
    let both = both(all(before), after.map(all), |a| {
        let (of, interface) = a.master.split_once('.').unwrap_or_default();
        let of = if interface.starts_with("Rxm_BAR") {
            ""
        } else {
            of
        };
        (of.to_string(), interface.to_string(), a.slave.clone())
    });
    let mut found: Vec<Address> = both
        .into_iter()
        .map(|(both, after)| {
            let same = |a: &Address, b: &Address| a.base == b.base && a.kind == b.kind;
            let (address, state) = both.last(after, same);
            Address { state, ..address }
        })
        .collect();
    let host = |a: &Address| !a.master.contains(".Rxm_BAR");
    found.sort_by(|a, b| {
        let key = |a: &Address| (host(a), a.master.clone(), a.base, a.slave.clone());
        key(a).cmp(&key(b))
    });
    found
}

fn interrupt_table(before: &Site<'_>, after: Option<&Site<'_>>) -> Vec<Interrupt> {
    let all = |site: &Site<'_>| -> Vec<Interrupt> {
        let links = site.system.of_kind("interrupt");
        links
            .map(|c| {
                let number = (c.element.children("parameter"))
                    .find(|p| p.attribute("name") == Some("irqNumber"))
                    .and_then(|p| p.attribute("value").or(Some(&p.text)));
                Interrupt {
                    receiver: c.start.to_string(),
                    number: number.unwrap_or("0").trim().into(),
                    sender: c.end.to_string(),
                    state: State::Same,
                }
            })
            .collect()
    };
    let key = |i: &Interrupt| (i.receiver.clone(), i.sender.clone());
    let mut found: Vec<Interrupt> = both(all(before), after.map(all), key)
        .into_iter()
        .map(|(both, after)| {
            let (interrupt, state) = both.last(after, |a, b| a.number == b.number);
            Interrupt { state, ..interrupt }
        })
        .collect();
    found.sort_by_key(|i| (i.receiver.clone(), i.number.parse::<u64>().ok()));
    found
}

fn clock_table(before: &Site<'_>, after: Option<&Site<'_>>) -> Vec<Clock> {
    let all = |site: &Site<'_>| -> Vec<(String, String)> {
        let links = site.system.of_kind("clock");
        links
            .map(|c| {
                let source = clocks::source(site.system, &c.end);
                let source = source.unwrap_or_else(|| c.start.clone());
                (source.to_string(), c.end.to_string())
            })
            .collect()
    };
    let mut found: Vec<Clock> = Vec::new();
    for (both, after) in both(all(before), after.map(all), Clone::clone) {
        let ((source, sink), state) = both.last(after, |_, _| true);
        match found.iter_mut().find(|clock| clock.source == source) {
            Some(clock) => clock.sinks.push((sink, state)),
            None => found.push(Clock {
                source,
                sinks: vec![(sink, state)],
            }),
        }
    }
    found
}
