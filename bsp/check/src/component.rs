//! Runs the component (`_hw.tcl`) under `tclsh`, with a mock of Platform Designer's commands, and compares it with the
//! Verilog that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use peerlane_tools::Tclsh;

use crate::Findings;
use peerlane_bsp_generate::block::{self, Direction, Port};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_generate::verilog;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{Layout, OWN_DIR, hw_tcl_path};
use peerlane_bsp_platform::output;
use peerlane_bsp_platform::roles::{NEW_DMA, Role};

/// The mock. It implements the commands and properties of Platform Designer that a component may use, refuses all
/// others, and prints the declarations.
const STAND_IN: &str = include_str!("../../tcl/platform_designer.tcl");

/// Declarations of a component.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Parameters with their values after the elaboration.
    pub parameters: BTreeMap<String, String>,
    /// Interfaces: type and side, `avalon end`.
    pub interfaces: BTreeMap<String, String>,
    /// Ports with their interface and role.
    pub ports: Vec<(Port, String, String)>,
    /// Files of the synthesis fileset.
    pub files: Vec<String>,
    /// Top module of that fileset.
    pub top: String,
}

/// Runs a component.
///
/// # Errors
/// [`ErrorKind::Tool`] if `tclsh` is missing; [`ErrorKind::Inconsistent`] with the mock's message if the component does
/// something that Platform Designer would refuse.
pub fn run(hw_tcl: &Path) -> Result<Component> {
    let tool = |what: String| {
        Error::new(
            ErrorKind::Tool,
            Place::file(hw_tcl),
            what,
            "Install tclsh 8.6 or newer, under which the check runs the component. Or let Peerlane fetch it, which \
             needs the network once, and a directory (PEERLANE_CACHE).",
        )
    };
    let work = output::temporary()?;
    let tclsh = Tclsh::open().map_err(|e| tool(format!("no tclsh: {e}")))?;
    let script = work.path().join("platform_designer.tcl");
    fs::write(&script, STAND_IN).map_err(|e| Error::io(&script, "write the file", &e))?;
    // `tclsh` takes its arguments as text, so the script is started by its file name alone, which Peerlane chose.
    let (Some(dir), Some(name)) = (hw_tcl.parent(), hw_tcl.file_name()) else {
        return Err(tool("the component has no name".into()));
    };
    let output = tclsh
        .command()
        .arg(&script)
        .arg(name)
        .current_dir(dir)
        .output()
        .map_err(|e| tool(format!("tclsh does not start: {e}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Error::new(
            ErrorKind::Inconsistent,
            Place::file(hw_tcl),
            format!(
                "Platform Designer would refuse the component: {}",
                text.trim().replace('\n', " ")
            ),
            "Extend the vendor's BSP again.",
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text)
        .ok_or_else(|| tool("the mock of Platform Designer printed unexpected lines".into()))
}

/// Reads the output of the mock: one declaration a line.
fn parse(text: &str) -> Option<Component> {
    let mut found = Component::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["component", name] => found.name = (*name).into(),
            ["parameter", name, value @ ..] => {
                found.parameters.insert((*name).into(), value.join(" "));
            }
            ["interface", name, kind, side] => {
                found
                    .interfaces
                    .insert((*name).into(), format!("{kind} {side}"));
            }
            ["port", interface, name, role, direction, width] => {
                let direction = match *direction {
                    "Input" => Direction::Input,
                    "Output" => Direction::Output,
                    _ => return None,
                };
                let port = Port {
                    name: (*name).into(),
                    direction,
                    width: width.parse().ok()?,
                };
                found
                    .ports
                    .push((port, (*interface).into(), (*role).into()));
            }
            ["file", "QUARTUS_SYNTH", path] => found.files.push((*path).into()),
            ["top", "QUARTUS_SYNTH", name] => found.top = (*name).into(),
            ["file" | "top", _, _] => {}
            _ => return None,
        }
    }
    Some(found)
}

/// Checks the component against the Verilog.
///
/// # Errors
/// [`ErrorKind::Tool`], [`ErrorKind::Io`].
pub fn check(layout: &Layout, build: &Build, findings: &mut Findings) -> Result<()> {
    const TEST: &str = "component";
    const AGAIN: &str = "Extend the vendor's BSP again.";
    let before = findings.found();
    let path = layout.hardware_dir().join(hw_tcl_path());
    let own = layout.hardware_dir().join(OWN_DIR);
    let place = Place::file(&path);
    let component = match run(&path) {
        Ok(component) => component,
        Err(e) if e.kind == ErrorKind::Inconsistent => {
            findings.bad(TEST, e.place, e.what, AGAIN);
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    let config = &build.config;
    if component.name != NEW_DMA || component.top != block::top(config) {
        let what = format!(
            "it declares {} with the top module {}",
            component.name, component.top
        );
        findings.bad(TEST, place.clone(), what, AGAIN);
    }

    let mut defined = BTreeSet::new();
    let mut used = BTreeSet::new();
    let mut top = None;
    for file in &component.files {
        let path = own.join(file);
        let Ok(text) = fs::read_to_string(&path) else {
            findings.bad(
                TEST,
                place.clone(),
                format!("its file {file} does not exist"),
                AGAIN,
            );
            continue;
        };
        let name = file.trim_end_matches(".v");
        match verilog::module(&path, &text, name) {
            Ok(module) => {
                defined.insert(module.name.clone());
                used.extend(module.instances.keys().cloned());
                if module.name == component.top {
                    top = Some(module);
                }
            }
            Err(e) => findings.bad(TEST, e.place, e.what, e.hint),
        }
    }
    for name in used.difference(&defined) {
        let what = format!("module {name} is instantiated, but is in no file of the component");
        findings.bad(TEST, place.clone(), what, AGAIN);
    }
    if let Some(top) = &top {
        compare(&component, top, &place, findings);
    } else {
        findings.bad(
            TEST,
            place.clone(),
            format!("no file has its top module {}", component.top),
            AGAIN,
        );
    }
    for (name, value) in [
        ("CHANNELS", build.config.channels.to_string()),
        ("QUEUE_DEPTH", build.config.queue_depth.to_string()),
        ("ATT_ENTRIES", build.config.att_entries.to_string()),
        ("PORT_BITS", build.port_bits.to_string()),
        ("MEMORY_LOG2", build.memory_log2.to_string()),
        ("MAP_ID", format!("{:#010x}", build.map_id)),
        ("BUILD_ID", format!("{:#010x}", build.build_id)),
    ] {
        let says = component.parameters.get(name).map(String::as_str);
        if says != Some(value.as_str()) {
            let says = says.unwrap_or("nothing");
            let what = format!("its parameter {name} is {says}, but the build has {value}");
            findings.bad(TEST, place.clone(), what, AGAIN);
        }
    }
    let roles = block::roles(config, build.bar);
    for (interface, role) in &roles {
        let want = match role {
            Role::Master => "avalon start",
            Role::Slave => "avalon end",
            Role::IrqSender => "interrupt end",
            Role::IrqReceiver => "interrupt start",
            Role::Conduit => "conduit end",
            Role::ClockSink => "clock end",
            Role::ClockSource => "clock start",
            Role::ResetSource => "reset start",
            Role::StreamSource => "avalon_streaming start",
            Role::StreamSink => "avalon_streaming end",
            _ => "reset end",
        };
        if component.interfaces.get(&**interface).map(String::as_str) != Some(want) {
            let what = format!("interface {interface} is not declared as \"{want}\"");
            findings.bad(TEST, place.clone(), what, AGAIN);
        }
    }
    if component.interfaces.len() != roles.len() {
        findings.bad(
            TEST,
            place,
            "it declares more interfaces than the block has",
            AGAIN,
        );
    }
    if findings.unchanged(before) {
        findings.good(
            TEST,
            format!(
                "{} interfaces and {} ports of the component match {} Verilog modules",
                component.interfaces.len(),
                component.ports.len(),
                defined.len()
            ),
        );
    }
    Ok(())
}

/// Compares ports, widths and directions; adds at most one diagnostic for each port.
fn compare(component: &Component, top: &verilog::Module, place: &Place, findings: &mut Findings) {
    let text = |p: &Port| format!("{} of {} bits", p.direction.verilog(), p.width);
    let declared: BTreeMap<&str, &Port> = component
        .ports
        .iter()
        .map(|(p, ..)| (p.name.as_str(), p))
        .collect();
    let real: BTreeMap<&str, &Port> = top.ports.iter().map(|p| (p.name.as_str(), p)).collect();
    let names: BTreeSet<&&str> = declared.keys().chain(real.keys()).collect();
    for name in names {
        let what = match (declared.get(*name), real.get(*name)) {
            (Some(d), Some(r)) if d == r => continue,
            (Some(d), Some(r)) => format!(
                "port {name}: {} declared, {} in the Verilog",
                text(d),
                text(r)
            ),
            (Some(_), None) => format!("port {name} is declared, but not in the Verilog"),
            _ => format!("port {name} of the Verilog is not declared"),
        };
        findings.bad(
            "component",
            place.clone(),
            what,
            "Extend the vendor's BSP again.",
        );
    }
}
