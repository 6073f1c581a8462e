//! One module's text.

mod writer;

use std::collections::BTreeSet;

use peerlane_language::AtomKind;
use peerlane_language::ast::Verilog;

use crate::bind::bind;
use crate::collect::Node;
use crate::custom;
use crate::error::{EmitError, Problem};
use crate::lower::lower;
use crate::names::{flatten, is_identifier, is_reserved};
use crate::print::{line, literal, range};
use crate::schedule::schedule;
use writer::Writer;

/// A module without its name, which depends on the other modules of the design.
pub(crate) struct Body {
    /// From the end of the name to `endmodule`; [`child_mark`]s stand for modules' names.
    pub text: String,
    pub unread: Vec<(String, Vec<(usize, usize)>)>,
}

/// Returns a mark for the name of a module until names are given.
pub(crate) fn child_mark(module: usize) -> String {
    format!("\u{1}{module}\u{1}")
}

/// Emits a block whose children are the modules numbered in `children`;
/// registers and empty blocks have no module.
pub(crate) fn emit(node: &Node, children: &[Option<usize>]) -> Result<Body, EmitError> {
    match &node.code {
        Verilog::Combinatorial(code) => {
            let mut lowered = lower(node, code)?;
            let mut schedule = schedule(node, &mut lowered)?;
            let bindings = bind(node, &lowered, &mut schedule)?;
            Writer::new(node, &lowered, &schedule, &bindings, children)?.write()
        }
        Verilog::Custom(text) => custom_module(node, text),
        Verilog::Empty => Err(node.error(
            None,
            Problem::NoVerilog {
                kind: "without Verilog",
            },
        )),
        Verilog::Blackbox(_) => Err(node.error(
            None,
            Problem::NoVerilog {
                kind: "of kind `Blackbox`",
            },
        )),
        Verilog::Wrapper(_) => Err(node.error(
            None,
            Problem::NoVerilog {
                kind: "of kind `Wrapper`",
            },
        )),
    }
}

/// Verilog name of a port; the same in the module and in its instances.
pub(crate) fn port_name(path: &str) -> String {
    let name = flatten(path);
    if is_reserved(&name) {
        format!("{name}_")
    } else {
        name
    }
}

/// Checks the names of ports, which others refer to.
pub(crate) fn check_ports(node: &Node, exact: bool) -> Result<(), EmitError> {
    let mut names = BTreeSet::new();
    for atom in node.atoms.iter().filter(|a| a.is_port()) {
        let name = port_name(&atom.name);
        let place = atom.name.replace('$', ".");
        if !is_identifier(&name) {
            return Err(node.error(place, Problem::BadIdentifier));
        }
        if exact && name != flatten(&atom.name) {
            return Err(node.error(place, Problem::Keyword));
        }
        if !names.insert(name.clone()) {
            return Err(node.error(place, Problem::NameCollision { name }));
        }
    }
    Ok(())
}

/// The top module's ports have exactly their names, or there is an error.
pub(crate) fn check_top(node: &Node) -> Result<(), EmitError> {
    check_ports(node, true)
}

fn custom_module(node: &Node, text: &str) -> Result<Body, EmitError> {
    check_ports(node, true)?;
    let registers = custom::procedural_targets(text);
    let mut ports = Vec::new();
    for atom in node.atoms.iter().filter(|a| a.is_port()) {
        let name = flatten(&atom.name);
        let kind = match atom.kind {
            AtomKind::InputParameter => "input  wire",
            AtomKind::OutputParameter if registers.contains(&name) => "output reg ",
            AtomKind::OutputParameter => "output wire",
            _ => return Err(node.error(atom.name.clone(), Problem::Bidirectional)),
        };
        ports.push(PortLine {
            text: format!("{kind} {}{name}", range(atom.width)),
            doc: atom.doc.clone(),
            waiver: None,
        });
    }
    let mut out = String::new();
    port_list(&ports, &mut out);
    for atom in node.atoms.iter().filter(|a| a.kind == AtomKind::Constant) {
        let (width, name) = (range(atom.width), flatten(&atom.name));
        if custom::mentions(text, &name) {
            comment(&atom.doc, &mut out);
            let value = literal(&atom.value, atom.width);
            line(&mut out, 1, &format!("localparam {width}{name} = {value};"));
        }
    }
    let mut blank = true;
    for text in text.trim().lines().map(str::trim_end) {
        match text.is_empty() {
            true if blank => {}
            empty => line(&mut out, usize::from(!empty), text),
        }
        blank = text.is_empty();
    }
    out.push_str("endmodule\n");
    Ok(Body {
        text: out,
        unread: Vec::new(),
    })
}

/// The declaration of a port.
pub(crate) struct PortLine {
    pub text: String,
    pub doc: Vec<String>,
    /// The reason for a lint waiver.
    pub waiver: Option<String>,
}

/// Writes ports, each after its comments.
pub(crate) fn port_list(ports: &[PortLine], out: &mut String) {
    out.push_str(" (\n");
    for (at, port) in ports.iter().enumerate() {
        let comma = if at + 1 < ports.len() { "," } else { "" };
        comment(&port.doc, out);
        waived(
            port.waiver.as_deref(),
            &format!("{}{comma}", port.text),
            out,
        );
    }
    out.push_str(");\n\n");
}

/// Writes lines of comment inside a module.
pub(crate) fn comment(lines: &[String], out: &mut String) {
    for text in lines {
        line(out, 1, format!("// {text}").trim_end());
    }
}

/// Writes a line, between the waiver of a lint message and its end if there is a reason.
pub(crate) fn waived(reason: Option<&str>, text: &str, out: &mut String) {
    match reason {
        Some(reason) => {
            line(out, 1, &format!("// {reason}"));
            line(out, 1, "// verilator lint_off UNUSEDSIGNAL");
            line(out, 1, text);
            line(out, 1, "// verilator lint_on UNUSEDSIGNAL");
        }
        None => line(out, 1, text),
    }
}
