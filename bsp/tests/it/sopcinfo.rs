//! Real systems under the mock of Platform Designer (`tcl/elaborate.tcl`), compared with the `.sopcinfo` that Quartus
//! generated for them: every interface, port, width, unit, span and base. The systems are fixtures, which do not belong
//! to the project; without them the tests are skipped with a message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::fixture;
use roxmltree::{Document, Node};

/// Systems of the fixtures: directory and name.
const SYSTEMS: [(&str, &str); 2] = [("c5p-18.1", "system"), ("hip-avmm-16.0", "pcie_hip_avmm")];

/// Kinds without a model, and the reason.
const UNKNOWN: [(&str, &str); 7] = [
    ("FPGANetSt_system", "a compiled kernel: each is another one"),
    (
        "avl_to_asmi",
        "the author's own component, without its description",
    ),
    (
        "move_engine",
        "the author's own component, without its description",
    ),
    ("altera_mem_if_ddr3_qseq", INSIDE_UNIPHY),
    ("altera_mem_if_ddr3_phy_core", INSIDE_UNIPHY),
    ("altera_mem_if_nextgen_ddr3_controller", INSIDE_UNIPHY),
    ("altera_mem_if_nextgen_ddr3_controller_core", INSIDE_UNIPHY),
];
const INSIDE_UNIPHY: &str =
    "a part of the memory controller, which no system instantiates by itself";

/// Differences that stay, and the reason. Each must occur.
const DIFFERENCES: [(&str, &str); 1] = [(
    "board_kernel_interface_kernel_cra.m0: kernel_system_kernel_cra.s0 at 0x0",
    "the connection leaves two components: Quartus lists the slave at kernel_interface.kernel_cra, not at the bridge inside",
)];

/// The facts of a system: one line for each fact of an instance.
#[derive(Default)]
struct Facts {
    instances: BTreeMap<String, BTreeSet<String>>,
    /// The slaves of each master: interface, base and span.
    slaves: BTreeMap<String, BTreeSet<(String, u128, u128)>>,
    unknown: BTreeSet<String>,
}

impl Facts {
    fn add(&mut self, interface: &str, fact: &str) {
        let (instance, name) = interface.rsplit_once('.').unwrap();
        let facts = self.instances.entry(instance.into()).or_default();
        facts.insert(format!("{name}: {fact}"));
    }
}

/// Returns the properties to compare, with the value of an interface without the property, by type and side.
fn compared(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "avalon start" => &[
            ("addressUnits", "SYMBOLS"),
            ("maximumPendingReadTransactions", "0"),
        ],
        "avalon end" => &[
            ("addressUnits", "WORDS"),
            ("maximumPendingReadTransactions", "0"),
            ("readLatency", "0"),
        ],
        "clock start" => &[("clockRate", "0")],
        "reset start" | "reset end" => &[("synchronousEdges", "DEASSERT")],
        "avalon_streaming start" | "avalon_streaming end" => &[("dataBitsPerSymbol", "8")],
        _ => &[],
    }
}

/// Returns the mock's elaboration.
fn elaborated(file: &Path) -> (Facts, Vec<String>) {
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcl/elaborate.tcl");
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = (tclsh.command())
        .arg(stand_in)
        .args([file, Path::new("-interfaces")])
        .output()
        .unwrap();
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(failed.is_empty(), "{failed}");
    let mut facts = Facts::default();
    let mut said = Vec::new();
    let mut properties: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut spans: BTreeMap<String, u128> = BTreeMap::new();
    let mut kinds = Vec::new();
    for line in String::from_utf8(run.stdout).unwrap().lines() {
        match *line.split_whitespace().collect::<Vec<_>>() {
            ["unknown", instance] => _ = facts.unknown.insert(instance.into()),
            ["interface", interface, kind, side] => {
                kinds.push((interface.to_string(), format!("{kind} {side}")));
                facts.add(interface, &format!("{kind} {side}"));
            }
            ["property", interface, name, value] => {
                let of = properties.entry(interface.into()).or_default();
                of.insert(name.into(), value.into());
            }
            ["port", interface, role, direction, width] => {
                facts.add(interface, &format!("port {role} {direction} {width}"));
            }
            ["span", interface, span] => _ = spans.insert(interface.into(), span.parse().unwrap()),
            ["slave", master, slave, base, span] => {
                let base = base.strip_prefix("0x").map_or_else(
                    || base.parse().unwrap(),
                    |hex| u128::from_str_radix(hex, 16).unwrap(),
                );
                let slaves = facts.slaves.entry(master.into()).or_default();
                slaves.insert((slave.into(), base, span.parse().unwrap()));
            }
            _ => said.push(line.to_string()),
        }
    }
    for (interface, kind) in kinds {
        let of = properties.remove(&interface).unwrap_or_default();
        for (name, usual) in compared(&kind) {
            let value = of.get(*name).map_or(*usual, String::as_str);
            facts.add(&interface, &format!("{name} {value}"));
        }
        if let Some(span) = spans.get(&interface) {
            facts.add(&interface, &format!("span {span}"));
        }
    }
    (facts, said)
}

fn child<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    let found = node.children().find(|c| c.has_tag_name(name));
    found.and_then(|c| c.text()).unwrap_or_default()
}

fn children<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'a str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |c| c.has_tag_name(name))
}

/// Returns type and side of an interface, as a component declares it.
fn kind(generated: &str) -> String {
    let (kind, side) = generated.rsplit_once('_').unwrap();
    let side = match side {
        "master" | "source" | "receiver" if kind != "interrupt" || side == "receiver" => "start",
        _ => "end",
    };
    format!("{kind} {side}")
}

/// A module of a `.sopcinfo` with the name that instances have here.
struct Generated<'a, 'i> {
    modules: BTreeMap<&'a str, (String, Node<'a, 'i>)>,
    connections: Vec<Node<'a, 'i>>,
}

impl<'a, 'i> Generated<'a, 'i> {
    fn of(document: &'a Document<'i>) -> Self {
        let root = document.root_element();
        let modules = children(root, "module").map(|module| {
            let path = module.attribute("path").unwrap().to_string();
            (module.attribute("name").unwrap(), (path, module))
        });
        Self {
            modules: modules.collect(),
            connections: children(root, "connection").collect(),
        }
    }

    /// Returns the facts of all modules, under the names that `name` gives them.
    fn facts(&self, name: impl Fn(&str) -> String) -> Facts {
        let mut facts = Facts::default();
        for (module, (_, node)) in &self.modules {
            for interface in children(*node, "interface") {
                let full = format!("{}.{}", name(module), interface.attribute("name").unwrap());
                let kind = kind(interface.attribute("kind").unwrap());
                facts.add(&full, &kind);
                let properties: BTreeMap<_, _> = children(interface, "parameter")
                    .map(|p| (p.attribute("name").unwrap(), child(p, "value")))
                    .collect();
                for (name, _) in compared(&kind) {
                    facts.add(&full, &format!("{name} {}", properties[name]));
                }
                if kind == "avalon end" {
                    facts.add(&full, &format!("span {}", properties["addressSpan"]));
                }
                for port in children(interface, "port") {
                    let [role, direction, width] =
                        ["role", "direction", "width"].map(|what| child(port, what));
                    facts.add(&full, &format!("port {role} {direction} {width}"));
                }
                for block in children(interface, "memoryBlock") {
                    let slave = format!(
                        "{}.{}",
                        name(child(block, "moduleName")),
                        child(block, "slaveName")
                    );
                    let [base, span] =
                        ["baseAddress", "span"].map(|w| child(block, w).parse().unwrap());
                    let slaves = facts.slaves.entry(full.clone()).or_default();
                    slaves.insert((slave, base, span));
                }
            }
        }
        facts
    }

    /// Returns all modules that Quartus connected, also the parts of the SDK's components, in the commands of
    /// qsys-script.
    fn script(&self) -> String {
        let mut script = String::from("create_system parts\n");
        let root = (self.connections[0].parent().unwrap().children())
            .find(|p| p.attribute("name") == Some("deviceFamily"));
        let family = root.map_or("", |p| child(p, "value"));
        writeln!(script, "set_project_property DEVICE_FAMILY {{{family}}}").unwrap();
        let end = |connection: &Node<'a, '_>, which: &str| {
            connection.attribute(which).unwrap().to_string()
        };
        let mut used = BTreeSet::new();
        for connection in &self.connections {
            for which in ["start", "end"] {
                used.insert(
                    end(connection, which)
                        .split('.')
                        .next()
                        .unwrap()
                        .to_string(),
                );
            }
        }
        for (name, (_, node)) in self
            .modules
            .iter()
            .filter(|(name, _)| used.contains(**name))
        {
            let kind = node.attribute("kind").unwrap();
            writeln!(script, "add_instance {name} {kind}").unwrap();
            for parameter in children(*node, "parameter") {
                let (key, value) = (
                    parameter.attribute("name").unwrap(),
                    child(parameter, "value"),
                );
                let braces = value.contains(['{', '}', '\\']);
                if !braces {
                    writeln!(
                        script,
                        "set_instance_parameter_value {name} {{{key}}} {{{value}}}"
                    )
                    .unwrap();
                }
            }
        }
        for connection in &self.connections {
            let (start, to) = (end(connection, "start"), end(connection, "end"));
            let kind = connection.attribute("kind").unwrap();
            writeln!(script, "add_connection {start} {to} {kind}").unwrap();
            for parameter in children(*connection, "parameter") {
                let name = parameter.attribute("name").unwrap();
                if ["baseAddress", "irqNumber"].contains(&name) {
                    let value = child(parameter, "value");
                    writeln!(
                        script,
                        "set_connection_parameter_value {start}/{to} {name} {value}"
                    )
                    .unwrap();
                }
            }
        }
        script
    }
}

/// Compares an elaboration with Quartus's: returns the differences, and the number of facts that agree.
fn compare(ours: &Facts, real: &Facts) -> (Vec<String>, usize) {
    let mut differences = Vec::new();
    let mut agree = 0;
    for (instance, facts) in &ours.instances {
        if ours.unknown.contains(instance) {
            continue;
        }
        let Some(generated) = real.instances.get(instance) else {
            differences.push(format!("{instance}: Quartus has no such instance"));
            continue;
        };
        agree += facts.intersection(generated).count();
        for fact in facts.difference(generated) {
            differences.push(format!("{instance}.{fact}: only here"));
        }
        for fact in generated.difference(facts) {
            differences.push(format!("{instance}.{fact}: only Quartus"));
        }
    }
    for (master, slaves) in &ours.slaves {
        let generated = real.slaves.get(master).cloned().unwrap_or_default();
        for (slave, base, span) in slaves {
            // Quartus names the part of a component that answers.
            let instance = slave.rsplit_once('.').unwrap().0;
            let found = generated.iter().any(|(other, from, size)| {
                (base, span) == (from, size)
                    && (slave == other || other.starts_with(&format!("{instance}.")))
            });
            if found {
                agree += 1;
            } else {
                differences.push(format!(
                    "{master}: {slave} at {base:#x}, {span} bytes: only here"
                ));
            }
        }
    }
    (differences, agree)
}

#[test]
fn real_systems_elaborate_as_quartus_elaborated_them() {
    let mut met: BTreeSet<&(&str, &str)> = BTreeSet::new();
    for (directory, system) in SYSTEMS {
        let Some(fixture) = fixture(directory) else {
            return;
        };
        let text = fs::read_to_string(fixture.join(system).with_extension("sopcinfo")).unwrap();
        let document = Document::parse(&text).unwrap();
        let generated = Generated::of(&document);
        let parts = tempfile::tempdir().unwrap();
        let script = parts.path().join("parts.tcl");
        fs::write(&script, generated.script()).unwrap();
        let by_path = |module: &str| generated.modules[module].0.clone();
        for (file, real, instances, facts) in [
            (
                fixture.join(system).with_extension("qsys"),
                generated.facts(by_path),
                [38, 5],
                [1000, 480],
            ),
            (
                script,
                generated.facts(|module| module.to_string()),
                [73, 5],
                [1700, 520],
            ),
        ] {
            let at = usize::from(system != "system");
            let (ours, said) = elaborated(&file);
            // The file does not say which parts were exported.
            let exported = |m: &String| {
                m.starts_with("Error: parts.") && m.contains(" must be connected to a ")
            };
            let errors = said
                .iter()
                .filter(|m| m.starts_with("Error") && !exported(m));
            let errors: Vec<_> = errors.collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
            for name in &ours.unknown {
                let known = generated
                    .modules
                    .iter()
                    .find(|(module, (path, _))| *module == name || path == name);
                let kind = known.unwrap().1.1.attribute("kind").unwrap();
                assert!(
                    UNKNOWN.iter().any(|(unknown, _)| *unknown == kind),
                    "{name}: no model of {kind}"
                );
            }
            let (mut differences, agree) = compare(&ours, &real);
            differences.retain(|difference| {
                let reason = DIFFERENCES
                    .iter()
                    .find(|(what, _)| difference.contains(what));
                met.extend(reason);
                reason.is_none()
            });
            assert!(
                differences.is_empty(),
                "{}: {differences:#?}",
                file.display()
            );
            // At least one instance was compared.
            let compared = ours.instances.len() - ours.unknown.len();
            println!("{}: {compared} instances, {agree} facts", file.display());
            assert!(
                compared >= instances[at] && agree >= facts[at],
                "{compared} {agree}"
            );
        }
    }
    assert_eq!(met.len(), DIFFERENCES.len(), "{met:?}");
}
