//! The Verilog in an extended BSP, read by other programs: the outer module of MSI-X builds by Verilator, and
//! the clock crossings by Yosys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Work;
use crate::streams::STREAMS;
use peerlane_tools::Cache;
use serde_json::Value;

/// Returns the directory of the block in an extended reference BSP, and its Verilog files.
fn extended(config: &str) -> (Work, PathBuf, Vec<String>) {
    let work = Work::new();
    work.extend(config).unwrap();
    let own = work.output("iface/peerlane");
    let names = fs::read_dir(&own).unwrap();
    let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
    let files = names.filter(|n| n.ends_with(".v")).collect();
    (work, own, files)
}

/// Checks that the outer module fits the block: every port connected, at its width.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn verilator_has_nothing_to_say_about_the_outer_module() {
    for (config, top) in [
        (STREAMS, "peerlane_dma_logic"),
        ("irq = \"msix\"", "peerlane_dma_msix"),
        ("[port]\nkind = \"tlp\"", "peerlane_dma_stream"),
        ("[port]\nkind = \"tlp\"\ngen = 3", "peerlane_dma_stream"),
    ] {
        let (_work, own, files) = extended(config);
        let mut verilator = Cache::open().unwrap().verilator().unwrap().command();
        verilator.args(["--lint-only", "--quiet-stats", "-Wall", "-Wno-fatal"]);
        verilator.args(["--language", "1364-2005", "--top-module", top]);
        let run = verilator.args(&files).current_dir(&own).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "{said}");
        assert!(!said.contains(&format!("{top}.v")), "{said}");
    }
}

/// A clock, or no clock of the block.
type Clock = &'static str;
/// Sources of a signal: one for each clock that it depends on, by name.
type Sources = BTreeMap<Clock, String>;

const MEMORY: Clock = "clk";
const PCIE: Clock = "pcie_clk";
/// Clocks of the streams that a build can have here.
const LOGIC: [Clock; 4] = ["input0_clk", "input1_clk", "output0_clk", "output1_clk"];

/// Returns the clock of a port, as the component declares it.
fn clock_of_port(name: &str) -> Clock {
    let prefixes = ["clk", "reset", "mem_", "s_nondma"];
    let of_stream = |clock: &&Clock| name.starts_with(clock.trim_end_matches("clk"));
    if let Some(clock) = LOGIC.iter().find(of_stream) {
        return clock;
    }
    match name {
        "kernel_irq" | "reset_status" | "pld_clk_inuse" | "pcie_reset" | "dlup" => "asynchronous",
        _ if prefixes.iter().any(|p| name.starts_with(p)) => MEMORY,
        _ => PCIE,
    }
}

/// The flat design as Yosys writes it.
struct Design {
    json: Value,
    clocks: BTreeMap<u64, Clock>,
    names: BTreeMap<u64, String>,
    /// Cell and port that drive a bit.
    drivers: BTreeMap<u64, String>,
    inputs: BTreeMap<u64, String>,
    /// Clocks that write a memory.
    writers: BTreeMap<String, BTreeSet<Clock>>,
    known: BTreeMap<u64, Sources>,
}

fn bits(value: &Value) -> Vec<u64> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .collect()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

impl Design {
    fn read(text: &str, top: &str) -> Self {
        let mut json: Value = serde_json::from_str(text).unwrap();
        let json = json["modules"][top].take();
        let clock = |name: Clock| Some((*bits(&json["ports"][name]["bits"]).first()?, name));
        let clocks = [MEMORY, PCIE].into_iter().chain(LOGIC);
        let clocks: BTreeMap<_, _> = clocks.filter_map(clock).collect();
        assert!(clocks.len() >= 2);
        let mut names: BTreeMap<u64, String> = BTreeMap::new();
        for (name, net) in fields(&json["netnames"]) {
            // A register's own name has priority over that of a port that it drives.
            for bit in bits(&net["bits"]) {
                let known = names.entry(bit).or_insert_with(|| name.clone());
                if name.ends_with("_q") {
                    known.clone_from(name);
                }
            }
        }
        let mut inputs = BTreeMap::new();
        for (name, port) in fields(&json["ports"]) {
            if port["direction"] == "input" {
                inputs.extend(bits(&port["bits"]).into_iter().map(|b| (b, name.clone())));
            }
        }
        let mut drivers = BTreeMap::new();
        let mut writers: BTreeMap<String, BTreeSet<Clock>> = BTreeMap::new();
        for (name, cell) in fields(&json["cells"]) {
            for (port, connected) in fields(&cell["connections"]) {
                if cell["port_directions"][port] == "output" {
                    drivers.extend(bits(connected).into_iter().map(|b| (b, name.clone())));
                }
            }
            if cell["type"].as_str().unwrap().starts_with("$memwr") {
                let memory = cell["parameters"]["MEMID"].as_str().unwrap();
                let clock = clocks[&bits(&cell["connections"]["CLK"])[0]];
                writers.entry(memory.to_string()).or_default().insert(clock);
            }
        }
        Self {
            json,
            clocks,
            names,
            drivers,
            inputs,
            writers,
            known: BTreeMap::new(),
        }
    }

    fn sources_of(&mut self, all: &[u64]) -> Sources {
        let mut found = Sources::new();
        for bit in all {
            found.extend(self.sources(*bit));
        }
        found
    }

    fn sources(&mut self, bit: u64) -> Sources {
        if let Some(known) = self.known.get(&bit) {
            return known.clone();
        }
        // A bit that is still in progress adds no sources.
        self.known.insert(bit, Sources::new());
        let found = if let Some(port) = self.inputs.get(&bit) {
            Sources::from([(clock_of_port(port), port.clone())])
        } else if let Some(cell) = self.drivers.get(&bit) {
            let cell = self.json["cells"][cell].clone();
            let of = |port: &str| bits(&cell["connections"][port]);
            let kind = cell["type"].as_str().unwrap();
            if kind.contains("dff") {
                Sources::from([(self.clocks[&of("CLK")[0]], self.names[&bit].clone())])
            } else if kind.starts_with("$memrd") {
                let memory = cell["parameters"]["MEMID"].as_str().unwrap();
                let mut found = self.sources_of(&of("ADDR"));
                let from = format!("memory {memory}");
                found.extend(self.writers[memory].iter().map(|c| (*c, from.clone())));
                found
            } else {
                let inputs = fields(&cell["port_directions"]).filter(|(_, d)| *d == "input");
                let inputs: Vec<u64> = inputs.flat_map(|(port, _)| of(port)).collect();
                self.sources_of(&inputs)
            }
        } else {
            Sources::new()
        };
        self.known.insert(bit, found.clone());
        found
    }

    /// Returns the clock of the register with a name.
    fn clock_of(&self, name: &str) -> Clock {
        let of = |cell: &Value, port: &str| bits(&cell["connections"][port]);
        let cells = fields(&self.json["cells"]).map(|(_, cell)| cell);
        let mut registers = cells.filter(|cell| cell["type"].as_str().unwrap().contains("dff"));
        let found = registers.find(|cell| self.names[&of(cell, "Q")[0]] == name);
        self.clocks[&of(found.unwrap(), "CLK")[0]]
    }

    /// Returns each register, with the bits that it takes.
    fn registers(&self) -> Vec<(String, Vec<u64>)> {
        let mut found = Vec::new();
        for (_, cell) in fields(&self.json["cells"]) {
            if cell["type"].as_str().unwrap().contains("dff") {
                let of = |port: &str| bits(&cell["connections"][port]);
                let taken = ["D", "EN", "SRST", "ARST"].into_iter().flat_map(of);
                found.push((self.names[&of("Q")[0]].clone(), taken.collect()));
            }
        }
        found
    }

    /// Returns everything that one clock takes from another: register, its clock, source.
    fn crossings(&mut self) -> BTreeSet<(String, Clock, String)> {
        let mut found = BTreeSet::new();
        let cells = self.json["cells"].clone();
        for (_, cell) in fields(&cells) {
            let kind = cell["type"].as_str().unwrap();
            let of = |port: &str| bits(&cell["connections"][port]);
            let (name, taken) = if kind.contains("dff") {
                let into = self.names[&of("Q")[0]].clone();
                (into, ["D", "EN", "SRST", "ARST"])
            } else if kind.starts_with("$memwr") {
                let memory = cell["parameters"]["MEMID"].as_str().unwrap();
                (format!("memory {memory}"), ["DATA", "ADDR", "EN", ""])
            } else {
                continue;
            };
            let clock = self.clocks[&of("CLK")[0]];
            for port in taken {
                for (other, from) in self.sources_of(&of(port)) {
                    if other != clock {
                        found.insert((name.clone(), clock, from));
                    }
                }
            }
        }
        for (name, port) in fields(&self.json["ports"].clone()) {
            if port["direction"] == "output" {
                for (other, from) in self.sources_of(&bits(&port["bits"])) {
                    if other != clock_of_port(name) {
                        found.insert((format!("port {name}"), clock_of_port(name), from));
                    }
                }
            }
        }
        found
    }
}

/// Returns those names for which a file of constraints relaxes paths, under a mock of the Timing Analyzer.
fn relaxed(own: &Path, file: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    // As Quartus names them, below the block's instance.
    let path = |name: &String| format!("s|peerlane_dma_stream:d|{}", name.replace('.', "|"));
    let all: BTreeMap<_, _> = names.iter().map(|name| (path(name), name)).collect();
    let list: Vec<_> = all.keys().map(|name| format!("{{{name}}}")).collect();
    let mock = format!(
        "set all {{{}}}\n{}",
        list.join(" "),
        r#"
        proc get_registers {option pattern} {
            lsearch -all -inline -glob $::all [string map {[ \\[ ] \\]} $pattern]
        }
        proc get_ports {args} {}
        proc get_collection_size {c} { llength $c }
        proc foreach_in_collection {args} {}
        proc post_message {args} {}
        proc gives {args} { foreach name [lindex $args [expr {[lsearch $args -to] + 1}]] { puts $name } }
        foreach name {set_max_delay set_min_delay set_max_skew set_false_path set_multicycle_path} {
            interp alias {} $name {} gives
        }
        source [lindex $argv 0]
        "#
    );
    let script = own.join("analyzer.tcl");
    fs::write(&script, mock).unwrap();
    let mut tclsh = Cache::open().unwrap().tclsh().unwrap().command();
    let run = tclsh.arg(&script).arg(own.join(file)).output().unwrap();
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{failed}");
    let given = String::from_utf8(run.stdout).unwrap();
    given.lines().map(|name| all[name].clone()).collect()
}

/// The constraints find crossings by the name of the register that takes them. So nothing else may cross except the
/// words of the FIFOs, in memories that Quartus is not asked to make of logic.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn every_clock_crossing_is_one_that_the_constraints_find() {
    crossings_of("irq = \"msix\"", "peerlane_dma");
    crossings_of("[port]\nkind = \"tlp\"", "peerlane_dma_stream");
    let streams = format!("irq = \"msix\"\n{STREAMS}");
    crossings_of(&streams, "peerlane_dma_msix");
}

fn crossings_of(config: &str, top: &str) {
    let (_work, own, files) = extended(config);
    let script = format!(
        "read_verilog {}; hierarchy -top {top}; proc; flatten; opt_clean; write_json flat.json",
        files.join(" ")
    );
    let mut yosys = Cache::open().unwrap().yosys().unwrap().command();
    let run = yosys
        .args(["-q", "-p", &script])
        .current_dir(&own)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let mut design = Design::read(&fs::read_to_string(own.join("flat.json")).unwrap(), top);
    let mut first_stages = BTreeSet::new();
    let mut memories = BTreeSet::new();
    for (into, clock, from) in design.crossings() {
        if let Some(memory) = from.strip_prefix("memory ") {
            memories.insert(memory.trim_start_matches('\\').to_string());
        } else {
            assert!(into.contains(".meta_q"), "{into} ({clock}) takes {from}");
            first_stages.insert(into);
        }
    }
    // Both ends of a FIFO, the window's base, the resets, the kernel's interrupt; and each register of that name
    // crosses.
    let called: BTreeSet<_> = design
        .names
        .values()
        .filter(|n| n.contains("meta_q"))
        .cloned()
        .collect();
    assert_eq!(first_stages, called);
    // A relaxed path comes from another clock, or is the hard IP's own word. Paths within a clock are not relaxed: no
    // such path leads into a first stage.
    let registers = design.registers();
    let names: BTreeSet<_> = registers.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(relaxed(&own, "peerlane_dma.sdc", &names), first_stages);
    let mut words = BTreeSet::new();
    for (name, taken) in &registers {
        let sources = design.sources_of(taken);
        if first_stages.contains(name) {
            let clock = design.clock_of(name);
            assert!(!sources.contains_key(clock), "{name}: {sources:?}");
        }
        let ports: Vec<_> = taken
            .iter()
            .filter_map(|bit| design.inputs.get(bit))
            .collect();
        if ports.len() == taken.len() && ports.iter().any(|port| port.starts_with("tl_cfg_")) {
            words.insert(name.clone());
        }
    }
    if top == "peerlane_dma_stream" {
        assert_eq!(words.len(), 2, "{words:?}");
        assert_eq!(relaxed(&own, "peerlane_pcie.sdc", &names), words);
    }
    assert!(called.len() > 10, "{called:?}");
    assert!(
        called.iter().any(|n| n.contains("kernel_sees")),
        "{called:?}"
    );
    assert!(
        memories.iter().any(|n| n.contains(".written.")),
        "{memories:?}"
    );
    for memory in &memories {
        let style = design.json["memories"][memory]["attributes"]["ramstyle"].as_str();
        assert!(
            style.is_some_and(|s| !s.contains("MLAB")),
            "{memory}: {style:?}"
        );
    }
}
