//! A system before and after an extension: the removed and added elements; all others stay byte for byte.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::Faults;
use super::design::{Design, number};

const CROSSING: &str = "altera_avalon_mm_clock_crossing_bridge";
const BRIDGE: &str = "altera_avalon_mm_bridge";
/// Bytes of the block's slaves with the default configuration: 8 channels of a page, 4096 entries of 8 bytes.
const SIZES: [(&str, u64); 5] = [
    ("csr", 0x400),
    ("s_nondma", 0x1_0000),
    ("chan", 0x8000),
    ("att", 0x8000),
    ("msix", 0x1000),
];

/// An element below the root, or a comment there.
struct Item<'a> {
    raw: &'a str,
    tag: String,
    attributes: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
    text: String,
}

impl Item<'_> {
    fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Returns kind, start, end and address of a connection.
    fn link(&self) -> Link {
        Link {
            kind: self.get("kind").into(),
            start: self.get("start").into(),
            end: self.get("end").into(),
            base: self
                .parameters
                .get("baseAddress")
                .map(|text| hexadecimal(text)),
        }
    }
}

fn hexadecimal(text: &str) -> u64 {
    number(&text.to_lowercase())
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    kind: String,
    start: String,
    end: String,
    base: Option<u64>,
}

fn instance(end: &str) -> &str {
    end.split('.').next().unwrap()
}

/// A system, read by another parser.
struct System<'a> {
    items: Vec<Item<'a>>,
}

impl<'a> System<'a> {
    fn read(text: &'a str) -> Self {
        let document = roxmltree::Document::parse(text).unwrap();
        let all = document.root_element().children();
        let items = all.filter(|n| !n.is_text()).map(|n| Item {
            raw: &text[n.range()],
            tag: n.tag_name().name().into(),
            attributes: (n.attributes())
                .map(|a| (a.name().to_string(), a.value().to_string()))
                .collect(),
            parameters: (n.children().filter(|c| c.has_tag_name("parameter")))
                .map(|p| {
                    let value = p.attribute("value").or(p.text()).unwrap_or_default();
                    (p.attribute("name").unwrap().to_string(), value.to_string())
                })
                .collect(),
            text: n.text().unwrap_or_default().into(),
        });
        Self {
            items: items.collect(),
        }
    }

    fn of<'b>(&'b self, tag: &'b str) -> impl Iterator<Item = &'b Item<'a>> {
        self.items.iter().filter(move |item| item.tag == tag)
    }

    fn module(&self, name: &str) -> Option<&Item<'a>> {
        self.of("module").find(|m| m.get("name") == name)
    }

    fn kind_of(&self, name: &str) -> &str {
        self.module(name).map_or("", |m| m.get("kind"))
    }

    fn is_on(&self, name: &str) -> bool {
        self.module(name).is_some_and(|m| m.get("enabled") != "0")
    }

    /// Returns the connections of enabled instances.
    fn links(&self) -> Vec<Link> {
        let all = self.of("connection").map(Item::link);
        all.filter(|l| self.is_on(instance(&l.start)) && self.is_on(instance(&l.end)))
            .collect()
    }

    fn drivers(&self, kind: &str, end: &str) -> BTreeSet<String> {
        let all = self.links().into_iter();
        all.filter(|l| l.kind == kind && l.end == end)
            .map(|l| l.start)
            .collect()
    }

    /// Returns the place of every slave in a BAR, and the bridges on the way there.
    fn bars(&self, hip: &str) -> BTreeMap<String, (String, u64)> {
        let links = self.links();
        let mut found = BTreeMap::new();
        let mut open: Vec<(String, String, u64)> = links
            .iter()
            .filter(|l| l.start.starts_with(&format!("{hip}.Rxm_BAR")))
            .map(|l| (l.start.clone(), l.start.clone(), 0))
            .collect();
        while let Some((bar, master, offset)) = open.pop() {
            for link in links
                .iter()
                .filter(|l| l.kind == "avalon" && l.start == master)
            {
                let at = offset + link.base.unwrap();
                let inner = instance(&link.end);
                if [BRIDGE, CROSSING].contains(&self.kind_of(inner)) {
                    open.push((bar.clone(), format!("{inner}.m0"), at));
                } else {
                    found.insert(link.end.clone(), (bar.clone(), at));
                }
            }
        }
        found
    }
}

/// Returns the differences of a system that are not permitted.
pub fn differences(design: &Design, old: &str, new: &str) -> Faults {
    let (before, after) = (System::read(old), System::read(new));
    let dma = before.of("module").find(|m| m.get("kind") == "acl_dma");
    let Some(dma) = dma.map(|m| m.get("name").to_string()) else {
        return other(&before, &after);
    };
    let hip = before
        .of("module")
        .find(|m| m.get("kind").ends_with("_hip_avmm"));
    let mut pair = Pair {
        hip: hip.unwrap().get("name").to_string(),
        dma,
        design,
        before,
        after,
        faults: Faults::new(),
    };
    let (gone, come) = pair.connections();
    let changed = pair.modules();
    pair.bytes(&gone, &come, &changed);
    pair.addresses();
    pair.notes();
    pair.faults
}

/// Compares a system without the DMA: the version may change.
fn other(before: &System<'_>, after: &System<'_>) -> Faults {
    let stays = |item: &&Item<'_>| item.get("kind") != "version_id";
    let raw = |system: &System<'_>| -> Vec<String> {
        let all = system.items.iter().filter(stays);
        all.map(|item| item.raw.to_string()).collect()
    };
    match raw(before) == raw(after) {
        true => Faults::new(),
        false => vec!["more than the version was changed".into()],
    }
}

/// A new bridge.
pub struct New {
    pub name: String,
    pub kind: String,
    /// The instances that it drives.
    pub behind: BTreeSet<String>,
}

/// Returns the instances that a system did not have.
pub fn inserted(old: &str, new: &str) -> Vec<New> {
    let (before, after) = (System::read(old), System::read(new));
    let links = after.links();
    let new = (after.of("module")).filter(|m| before.module(m.get("name")).is_none());
    let new = new.map(|m| {
        let name = m.get("name").to_string();
        let driven = links
            .iter()
            .filter(|l| l.kind == "avalon" && instance(&l.start) == name);
        New {
            kind: m.get("kind").into(),
            behind: driven.map(|l| instance(&l.end).to_string()).collect(),
            name,
        }
    });
    new.collect()
}

struct Pair<'a> {
    design: &'a Design,
    before: System<'a>,
    after: System<'a>,
    dma: String,
    hip: String,
    faults: Faults,
}

impl Pair<'_> {
    fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(what.into());
    }

    fn of_dma(&self, interface: &str) -> String {
        format!("{}.{interface}", self.dma)
    }

    fn is_idle(&self, end: &str) -> bool {
        self.design.idle.contains(instance(end))
    }

    /// Returns slaves of the block that were on a clock crossing, and are on the host's own bridge now.
    fn moved(&self) -> Vec<String> {
        let slaves = [self.of_dma("csr"), self.of_dma("s_nondma")].into_iter();
        let crossed = |end: &String| {
            let drivers = self.before.drivers("avalon", end);
            drivers
                .iter()
                .any(|d| self.before.kind_of(instance(d)) == CROSSING)
        };
        slaves.filter(crossed).collect()
    }

    /// Returns the connections that must be removed and added, by start and end.
    fn connections(&mut self) -> (BTreeSet<Link>, BTreeSet<Link>) {
        let moved = self.moved();
        let m = self.of_dma("m");
        let irq = format!("{}.RxmIrq", self.hip);
        let all: BTreeSet<Link> = self.before.of("connection").map(Item::link).collect();
        let now: BTreeSet<Link> = self.after.of("connection").map(Item::link).collect();
        let mut must_go: BTreeSet<Link> = (all.iter())
            .filter(|l| {
                self.is_idle(&l.start)
                    || self.is_idle(&l.end)
                    || l.start == m
                    || moved.contains(&l.end)
                    || (self.design.msix && l.start == irq && instance(&l.end) != self.dma)
            })
            .cloned()
            .collect();
        let mut must_come = self.wanted(&all, &must_go);
        for (gone, come) in self.inserted(&all, &must_go) {
            must_go.extend(gone);
            must_come.extend(come);
        }
        let gone: BTreeSet<Link> = all.difference(&now).cloned().collect();
        let come: BTreeSet<Link> = now.difference(&all).cloned().collect();
        for link in gone.symmetric_difference(&must_go) {
            self.fault(format!("{link:?}: unexpected removal or presence"));
        }
        for link in come.symmetric_difference(&must_come) {
            self.fault(format!("{link:?}: unexpected addition or absence"));
        }
        if self.before.of("connection").count() != all.len() {
            self.fault("two connections of the variation are the same");
        }
        (gone, come)
    }

    /// Returns the connections of the new block.
    fn wanted(&mut self, all: &BTreeSet<Link>, gone: &BTreeSet<Link>) -> BTreeSet<Link> {
        let link = |kind: &str, start: String, end: String, base| Link {
            kind: kind.into(),
            start,
            end,
            base,
        };
        let mut wanted = BTreeSet::new();
        let m = self.of_dma("m");
        for old in all
            .iter()
            .filter(|l| l.start == m && self.before.is_on(instance(&l.end)))
        {
            if self.is_idle(&old.end) || old.end == format!("{}.Txs", self.hip) {
                continue;
            }
            for port in ["mem_rd", "mem_wr", "mem_win"] {
                wanted.insert(link("avalon", self.of_dma(port), old.end.clone(), old.base));
            }
        }
        let txs = format!("{}.Txs", self.hip);
        wanted.insert(link("avalon", self.of_dma("txs"), txs, Some(0)));

        let csr = self.after.drivers("avalon", &self.of_dma("csr"));
        let master = csr.first().cloned().unwrap_or_default();
        self.master_is_hosts(&master);
        let mut slaves = vec![self.of_dma("chan"), self.of_dma("att")];
        slaves.extend(self.moved());
        if self.design.msix {
            slaves.push(self.of_dma("msix"));
            for (of_hip, of_dma) in [
                ("MSIX_Interface", "msix_control"),
                ("INTX_Interface", "intx"),
            ] {
                let start = format!("{}.{of_hip}", self.hip);
                wanted.insert(link("conduit", start, self.of_dma(of_dma), None));
            }
            let kernel = gone.iter().find(|l| l.kind == "interrupt").unwrap();
            wanted.insert(link(
                "interrupt",
                self.of_dma("kernel_irq"),
                kernel.end.clone(),
                None,
            ));
        }
        for end in slaves {
            // The test of addresses checks its place.
            let base = self
                .after
                .links()
                .into_iter()
                .find(|l| l.end == end && l.start == master);
            wanted.insert(link(
                "avalon",
                master.clone(),
                end,
                base.and_then(|l| l.base),
            ));
        }
        if let Some((clock, reset)) = self.hosts() {
            wanted.insert(link("clock", clock, self.of_dma("pcie_clk"), None));
            wanted.extend(
                reset
                    .into_iter()
                    .map(|r| link("reset", r, self.of_dma("pcie_reset"), None)),
            );
        }
        wanted
    }

    /// Returns clock and resets of the first bridge from the BAR that leads to the registers.
    fn hosts(&self) -> Option<(String, BTreeSet<String>)> {
        let bars = self.before.bars(&self.hip);
        let (bar, at) = &bars[&self.of_dma("csr")];
        let links = self.before.links().into_iter();
        let mut ways: Vec<Link> = links
            .filter(|l| l.start == *bar && l.base.unwrap() <= *at)
            .collect();
        ways.sort_by_key(|l| l.base);
        let first = instance(&ways.last()?.end).to_string();
        let clock = self.before.drivers("clock", &format!("{first}.clk"));
        let resets = self.before.drivers("reset", &format!("{first}.reset"));
        Some((clock.first()?.clone(), resets))
    }

    fn master_is_hosts(&mut self, master: &str) {
        let of = format!("{}.coreclkout", self.hip);
        let clock = self
            .after
            .drivers("clock", &format!("{}.clk", instance(master)));
        if clock != BTreeSet::from([of]) {
            self.fault(format!(
                "{master} drives the registers, and runs in {clock:?}"
            ));
        }
    }

    /// Returns, for each BAR that gets its own bridge, the removed and added connections.
    fn inserted(
        &mut self,
        all: &BTreeSet<Link>,
        gone: &BTreeSet<Link>,
    ) -> Vec<(BTreeSet<Link>, BTreeSet<Link>)> {
        let bar = format!("{}.Rxm_BAR", self.hip);
        let bars: BTreeSet<String> = (all.iter())
            .filter(|l| l.start.starts_with(&bar))
            .map(|l| l.start.clone())
            .collect();
        let mut found = Vec::new();
        for bar in bars {
            let slaves: Vec<&Link> = (all.iter())
                .filter(|l| l.start == bar && !gone.contains(l))
                .collect();
            let new = self.after.drivers("avalon", &slaves[0].end);
            let new = new
                .iter()
                .find(|start| self.before.module(instance(start)).is_none());
            let low = slaves.len() == 1 && slaves[0].base == Some(0);
            let bridge = self.before.module(instance(&slaves[0].end)).unwrap();
            let automatic = bridge.parameters.get("USE_AUTO_ADDRESS_WIDTH");
            // The slaves of a bridge without its own width may not be known.
            let either = automatic.is_some_and(|v| v == "1");
            let Some(new) = new.map(|start| instance(start).to_string()) else {
                if !low {
                    self.fault(format!("{bar} drives whole addresses into its slaves"));
                }
                continue;
            };
            if low && !either {
                self.fault(format!("{new} was added, but is not needed"));
            }
            let link = |kind: &str, start: &str, end: &str, base| Link {
                kind: kind.into(),
                start: start.into(),
                end: format!("{new}.{end}"),
                base,
            };
            let mut come = BTreeSet::from([link("avalon", &bar, "s0", Some(0))]);
            if let Some((clock, resets)) = self.hosts() {
                come.insert(link("clock", &clock, "clk", None));
                come.extend(
                    resets
                        .iter()
                        .map(|reset| link("reset", reset, "reset", None)),
                );
            }
            for slave in &slaves {
                come.insert(Link {
                    start: format!("{new}.m0"),
                    ..(*slave).clone()
                });
            }
            found.push((slaves.into_iter().cloned().collect(), come));
        }
        found
    }

    /// Compares the instances; returns the names of those that changed.
    fn modules(&mut self) -> BTreeSet<String> {
        let names = |system: &System<'_>| -> BTreeSet<String> {
            let all = system.of("module");
            all.map(|m| m.get("name").to_string()).collect()
        };
        let (old, new) = (names(&self.before), names(&self.after));
        let gone: BTreeSet<String> = old.difference(&new).cloned().collect();
        if gone != self.design.idle {
            self.fault(format!("{gone:?} were removed, not {:?}", self.design.idle));
        }
        let mut changed: BTreeSet<String> = gone;
        for name in new.difference(&old) {
            if self.after.kind_of(name) != BRIDGE {
                self.fault(format!("instance {name} is new"));
            }
            changed.insert(name.clone());
        }
        for name in old.intersection(&new) {
            let (a, b) = (
                self.before.module(name).unwrap(),
                self.after.module(name).unwrap(),
            );
            if a.raw == b.raw {
                continue;
            }
            changed.insert(name.clone());
            let mut faults = Faults::new();
            if *name == self.dma {
                let sound = b.get("kind") == "peerlane_dma"
                    && b.get("version") == "1.0"
                    && b.get("enabled") != "0"
                    && b.parameters.is_empty();
                if !sound {
                    faults.push(format!("{}: not a block", b.raw));
                }
            } else {
                if a.attributes != b.attributes {
                    faults.push(format!("attributes of {name} were changed"));
                }
                let keys: BTreeSet<_> = a.parameters.keys().chain(b.parameters.keys()).collect();
                for key in keys {
                    let (x, y) = (a.parameters.get(key), b.parameters.get(key));
                    let y_text = y.map_or("", String::as_str);
                    if x != y && !self.may_become(a, key, x, y_text) {
                        faults.push(format!("{name}: {key} {x:?} became {y:?}"));
                    }
                }
            }
            self.faults.extend(faults);
        }
        changed
    }

    fn may_become(&self, module: &Item<'_>, key: &str, old: Option<&String>, new: &str) -> bool {
        let grows = || hexadecimal(new) > old.map_or(0, |old| hexadecimal(old));
        let kind = module.get("kind");
        match (kind, key) {
            (kind, _) if kind.ends_with("_hip_avmm") => match key {
                "AVALON_ADDR_WIDTH" | "TX_S_ADDR_WIDTH" => new == "64",
                "BYPASSS_A2P_TRANSLATION" => new == "0",
                "subsystem_device_id_hwtcl" => new == "20556",
                "CG_ENABLE_ADVANCED_INTERRUPT"
                | "enable_function_msix_support_hwtcl"
                | "msix_table_size_hwtcl"
                | "msix_table_bir_hwtcl"
                | "msix_table_offset_hwtcl"
                | "msix_pba_bir_hwtcl"
                | "msix_pba_offset_hwtcl" => self.design.msix,
                _ => key.starts_with("SLAVE_ADDRESS_MAP_") && grows(),
            },
            ("version_id", "VERSION_ID") => new == "1347158017",
            (BRIDGE, "ADDRESS_WIDTH") => grows(),
            (BRIDGE, "USE_AUTO_ADDRESS_WIDTH") => old.is_some_and(|v| v == "1") && new == "0",
            _ => false,
        }
    }

    /// Checks that unchanged elements stay, byte for byte and in order.
    fn bytes(&mut self, gone: &BTreeSet<Link>, come: &BTreeSet<Link>, changed: &BTreeSet<String>) {
        let m = self.of_dma("m");
        let requirement = |item: &Item<'_>| {
            let subject = item.get("for");
            subject.split('|').any(|end| end == m || self.is_idle(end))
        };
        let stays = |item: &&Item<'_>, out: &BTreeSet<Link>| match item.tag.as_str() {
            "module" => !changed.contains(item.get("name")),
            "connection" => !out.contains(&item.link()),
            "parameter" => item.get("name") != "bonusData",
            "interconnectRequirement" => !requirement(item),
            _ => true,
        };
        let raw = |system: &System<'_>, out| -> Vec<String> {
            let all = system.items.iter().filter(|item| stays(item, out));
            all.map(|item| item.raw.to_string()).collect()
        };
        let (old, new) = (raw(&self.before, gone), raw(&self.after, come));
        let left = self
            .after
            .of("interconnectRequirement")
            .filter(|i| requirement(i));
        let left: Vec<String> = left
            .map(|i| format!("{} is still present", i.raw))
            .collect();
        self.faults.extend(left);
        if old != new {
            let differ = old.iter().zip(&new).find(|(a, b)| a != b);
            self.fault(format!("these should stay, but differ: {differ:?}"));
        }
    }

    /// Checks that every slave is at its old address, and the new ones at free addresses.
    fn addresses(&mut self) {
        let (old, new) = (self.before.bars(&self.hip), self.after.bars(&self.hip));
        let moved = self.moved();
        for (slave, place) in &old {
            let now = new.get(slave);
            // If another slave stays on the old crossing, the old address is not free.
            let driver = self.before.drivers("avalon", slave);
            let driver = driver.first().cloned().unwrap_or_default();
            let taken = moved.contains(slave) && !self.is_idle(&driver);
            if now != Some(place) && !(taken && now.is_some_and(|now| now.0 == place.0)) {
                self.fault(format!("{slave}: {place:?} became {now:?}"));
            }
        }
        let mut spans: Vec<(u64, u64, String)> = Vec::new();
        let bar = &new.get(&self.of_dma("csr")).cloned().unwrap_or_default().0;
        for (slave, (of, at)) in new.iter().filter(|(_, place)| place.0 == *bar) {
            let (name, interface) = slave.split_once('.').unwrap();
            let size = SIZES.iter().find(|(slave, _)| *slave == interface);
            let ours = name == self.dma;
            let bytes = size.filter(|_| ours).map_or(1, |(_, bytes)| *bytes);
            if at % bytes != 0 {
                self.fault(format!("{slave} at {at:#x} of {of} is not aligned"));
            }
            spans.push((*at, bytes, slave.clone()));
        }
        spans.sort();
        for two in spans.windows(2) {
            if two[0].0 + two[0].1 > two[1].0 {
                self.fault(format!("{two:?} overlap"));
            }
        }
        let key = format!(
            "SLAVE_ADDRESS_MAP_{}",
            bar.split("Rxm_BAR").nth(1).unwrap_or("")
        );
        let hip = self.after.module(&self.hip).unwrap();
        let bits = hip.parameters.get(&key).map_or(0, |bits| number(bits));
        let last = spans.last().map_or(0, |(at, bytes, _)| at + bytes);
        if last > 1 << bits {
            self.fault(format!("{last:#x} bytes do not fit {key} = {bits}"));
        }
    }

    /// Checks Platform Designer's notes: only those of removed and added instances may change.
    fn notes(&mut self) {
        let read = |system: &System<'_>| -> BTreeMap<String, String> {
            let notes = system
                .of("parameter")
                .find(|p| p.get("name") == "bonusData");
            let text = notes.map_or(String::new(), |p| p.text.replace('\r', ""));
            let all = text.split("\n   element ").skip(1);
            all.filter_map(|block| block.split_once('\n'))
                .map(|(name, rest)| {
                    (
                        name.trim().into(),
                        rest.trim_end_matches("}\n").trim().into(),
                    )
                })
                .collect()
        };
        let (old, new) = (read(&self.before), read(&self.after));
        for (name, text) in &old {
            let moved = self.moved();
            let goes = self.is_idle(name) || *name == self.of_dma("m");
            let same = new.get(name).is_some_and(|now| now == text);
            if goes == new.contains_key(name) || (!goes && !same && !moved.contains(name)) {
                self.fault(format!("the note of {name} is unexpected"));
            }
        }
        let ours = |name: &&String| instance(name) == self.dma;
        let strange: Vec<_> = new
            .keys()
            .filter(|n| !old.contains_key(*n) && !ours(n))
            .collect();
        if !strange.is_empty() {
            let what = format!("notes of {strange:?} are new");
            self.fault(what);
        }
    }
}
