//! A BSP in memory, which can be changed and written.

use crate::common;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::random::Random;
use super::tree::{self, Node, Style};
/// A system of the design.
#[derive(Clone)]
pub struct System {
    /// Path below the hardware directory.
    pub path: PathBuf,
    pub root: Node,
    pub style: Style,
    /// Whether it was changed and must be written.
    pub touched: bool,
}

impl System {
    /// Returns the kind that it defines.
    pub fn kind(&self) -> String {
        self.path.file_stem().unwrap().to_str().unwrap().to_string()
    }

    pub fn modules(&self) -> impl Iterator<Item = &Node> {
        self.root.children.iter().filter(|n| n.name == "module")
    }

    pub fn module(&self, name: &str) -> Option<&Node> {
        self.modules().find(|m| m.get("name") == name)
    }

    pub fn module_mut(&mut self, name: &str) -> &mut Node {
        self.touched = true;
        let mut all = self.root.children.iter_mut();
        all.find(|m| m.name == "module" && m.get("name") == name)
            .unwrap()
    }

    /// Returns start and end of every connection of a kind.
    pub fn links(&self, kind: &str) -> Vec<(String, String)> {
        let all = self.root.children.iter();
        all.filter(|n| n.name == "connection" && n.get("kind") == kind)
            .map(|n| (n.get("start").to_string(), n.get("end").to_string()))
            .collect()
    }

    /// Returns the driver of an interface.
    pub fn driver(&self, kind: &str, end: &str) -> Option<String> {
        let links = self.links(kind);
        links.into_iter().find(|(_, e)| e == end).map(|(s, _)| s)
    }

    pub fn base(&self, start: &str, end: &str) -> u64 {
        let all = self.root.children.iter();
        let mut ours = all.filter(|n| n.get("start") == start && n.get("end") == end);
        number(ours.next().unwrap().parameter("baseAddress").unwrap())
    }

    pub fn add(&mut self, node: Node) {
        self.touched = true;
        self.root.children.push(node);
    }

    /// Adds an instance.
    pub fn instance(&mut self, kind: &str, name: &str, parameters: &[(&str, String)]) {
        let version = self.root.children.iter().find(|n| n.name == "module");
        let version = version.unwrap().get("version").to_string();
        let attributes = [
            ("kind", kind),
            ("version", &version),
            ("enabled", "1"),
            ("name", name),
        ];
        let mut node = Node::new("module", &attributes);
        for (name, value) in parameters {
            node.set_parameter(name, value);
        }
        self.add(node);
    }

    /// Adds a connection; with an address, if it is one of Avalon-MM.
    pub fn connect(&mut self, kind: &str, start: &str, end: &str, base: Option<u64>) {
        let like = self.root.children.iter().find(|n| n.name == "connection");
        let version = like.unwrap().get("version").to_string();
        let attributes = [
            ("kind", kind),
            ("version", &version),
            ("start", start),
            ("end", end),
        ];
        let mut node = Node::new("connection", &attributes);
        if let Some(base) = base {
            node.set_parameter("arbitrationPriority", "1");
            node.set_parameter("baseAddress", &format!("{base:#06x}"));
            node.set_parameter("defaultConnection", "false");
        }
        self.add(node);
    }

    /// Removes the elements for which `out` is true.
    pub fn take_out(&mut self, out: impl Fn(&Node) -> bool) {
        self.touched = true;
        self.root.children.retain(|n| !out(n));
    }

    /// Removes an instance with its connections and exports.
    pub fn drop_instance(&mut self, name: &str) {
        let of = |end: &str| end.split('.').next() == Some(name);
        self.take_out(|n| match n.name.as_str() {
            "module" => n.get("name") == name,
            "connection" => of(n.get("start")) || of(n.get("end")),
            "interface" => of(n.get("internal")),
            _ => false,
        });
    }

    /// Returns an unused name.
    pub fn fresh(&self, random: &mut Random) -> String {
        const WORDS: [&str; 24] = [
            "dma",
            "csr",
            "m",
            "pcie",
            "clk",
            "reset",
            "Host",
            "BAR0",
            "pipe",
            "stage",
            "txs",
            "mem_rd",
            "window",
            "module",
            "connection",
            "system",
            "old",
            "X",
            "bridge",
            "cross",
            "peerlane",
            "bank",
            "s0",
            "top",
        ];
        loop {
            let mut name = random.pick(&WORDS).to_string();
            while random.one_in(2) {
                name += &format!("_{}", random.pick(&WORDS));
            }
            if random.one_in(3) {
                name += &format!("_{}", random.below(12));
            }
            let mut all = self.root.children.iter();
            // The block's name is a trace of an extension, at any place.
            let trace = name.contains("peerlane_dma");
            if !trace && !all.any(|n| n.get("name").eq_ignore_ascii_case(&name)) {
                return name;
            }
        }
    }
}

/// Reads a number as Platform Designer writes it.
pub fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// A BSP.
#[derive(Clone)]
pub struct Design {
    /// The hardware directory in the BSP.
    pub hardware: PathBuf,
    /// Files below the BSP, without the systems.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    pub systems: Vec<System>,
    /// Bridges that only the old DMA needs: all of them must go.
    pub idle: BTreeSet<String>,
    /// Files with compiled content.
    pub compiled: BTreeSet<PathBuf>,
    /// Files that a copy must have unchanged.
    pub backups: BTreeSet<PathBuf>,
    /// Whether MSI-X is used.
    pub msix: bool,
}

impl Design {
    /// Reads a BSP. `idle` are the bridges that only the DMA needs.
    pub fn read(bsp: &Path, idle: &[&str]) -> Self {
        let mut design = Self {
            hardware: PathBuf::new(),
            files: common::snapshot(bsp),
            systems: Vec::new(),
            idle: idle.iter().map(|name| name.to_string()).collect(),
            compiled: BTreeSet::new(),
            backups: BTreeSet::new(),
            msix: false,
        };
        let mut specifications = design.files.keys();
        let specification = specifications.find(|path| path.ends_with("board_spec.xml"));
        design.hardware = specification.unwrap().parent().unwrap().to_path_buf();
        let systems: Vec<PathBuf> = (design.files.keys())
            .filter(|path| path.extension().is_some_and(|e| e == "qsys"))
            .cloned()
            .collect();
        for path in systems {
            let text = String::from_utf8(design.files[&path].clone()).unwrap();
            design.systems.push(System {
                path: path.strip_prefix(&design.hardware).unwrap().to_path_buf(),
                root: Node::parse(&text),
                style: Style::plain(),
                touched: false,
            });
        }
        design.compiled = (design.files.keys())
            .filter(|path| {
                path.extension()
                    .is_some_and(|e| e == "aocx" || e == "personax")
            })
            .cloned()
            .collect();
        design
    }

    /// Returns the system with the DMA.
    pub fn main(&mut self) -> &mut System {
        let dma = |system: &&mut System| system.modules().any(|m| m.get("kind") == "acl_dma");
        self.systems.iter_mut().find(dma).unwrap()
    }

    /// Returns the system that contains the system with the DMA.
    pub fn top(&mut self) -> &mut System {
        let main = self.main().kind();
        let has = |system: &&mut System| system.modules().any(|m| m.get("kind") == main);
        self.systems.iter_mut().find(has).unwrap()
    }

    pub fn instance_of(&mut self, kind: &str) -> String {
        let system = self.main();
        let found = system.modules().find(|m| m.get("kind") == kind);
        found.unwrap().get("name").to_string()
    }

    pub fn dma(&mut self) -> String {
        self.instance_of("acl_dma")
    }

    pub fn hip(&mut self) -> String {
        self.instance_of("altera_pcie_sv_hip_avmm")
    }

    /// Returns the file of the hardware directory.
    pub fn file(&mut self, name: &str) -> &mut Vec<u8> {
        let path = self.hardware.join(name);
        self.files.get_mut(&path).unwrap()
    }

    /// Changes a text file of the hardware directory.
    pub fn edit(&mut self, name: &str, change: impl FnOnce(String) -> String) {
        let file = self.file(name);
        // `last_touches` adds bytes that are not UTF-8 at the end.
        let text = String::from_utf8(file.clone()).unwrap();
        *file = change(text).into_bytes();
    }

    /// Returns files of the hardware directory with an ending, without backups.
    pub fn with_ending(&self, ending: &str) -> Vec<String> {
        let inside = self
            .files
            .keys()
            .filter(|path| !self.backups.contains(*path));
        inside
            .filter_map(|path| {
                Some(
                    path.strip_prefix(&self.hardware)
                        .ok()?
                        .to_str()?
                        .to_string(),
                )
            })
            .filter(|name| name.ends_with(ending))
            .collect()
    }

    /// Returns the settings files of the revisions.
    pub fn settings(&self) -> Vec<String> {
        let all = self.with_ending(".qsf").into_iter();
        all.filter(|name| !name.contains('/')).collect()
    }

    /// Writes the BSP.
    pub fn write(&self, to: &Path) {
        let mut files = self.files.clone();
        for system in &self.systems {
            if system.touched {
                let path = self.hardware.join(&system.path);
                files.insert(path, tree::write(&system.root, &system.style));
            }
        }
        for (path, content) in files {
            let path = to.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
}
