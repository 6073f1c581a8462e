//! Several designs as one: a top module that joins their ports by name.

use crate::module::{PortLine, port_list};
use crate::{Design, Direction, Module, Port};

/// A port of the joined top that is narrower than the parts have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrow<'a> {
    /// Name of the port.
    pub name: &'a str,
    /// Bits that remain, the low ones. The others of an input are 0; with none left the port is gone.
    pub width: usize,
}

/// A design as a part of a joined one.
#[derive(Debug, Clone)]
pub struct Part {
    /// The design. Several parts may be of the same design; its modules are in the joined one once.
    pub design: Design,
    /// Name of the instance.
    pub instance: String,
    /// Ports with another name outside of the part: name in the part, name outside.
    pub renamed: Vec<(String, String)>,
    /// Inputs with a constant value: name in the part, value in Verilog.
    pub fixed: Vec<(String, String)>,
    /// Outputs, by their names outside, that other parts drive too. Their wires are joined by OR: a part drives zeros
    /// unless the others do.
    pub gathered: &'static [&'static str],
}

impl From<Design> for Part {
    fn from(design: Design) -> Self {
        Self {
            instance: design.top().name.clone(),
            design,
            renamed: Vec::new(),
            fixed: Vec::new(),
            gathered: &[],
        }
    }
}

impl Part {
    /// Returns the ports that are not fixed, with their names outside.
    fn ports(&self) -> impl Iterator<Item = (&Port, &str)> {
        let free = |port: &&Port| !self.fixed.iter().any(|(name, _)| *name == port.name);
        self.design.ports.iter().filter(free).map(|port| {
            let renamed = self.renamed.iter().find(|(name, _)| *name == port.name);
            (port, renamed.map_or(&*port.name, |(_, outside)| outside))
        })
    }

    /// Returns the name of this part's wire of an output that several parts drive.
    fn gathers(&self, port: &Port, outside: &str) -> Option<String> {
        (port.direction == Direction::Output && self.gathered.contains(&outside))
            .then(|| format!("{}_{outside}", self.instance))
    }
}

/// Why designs cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// Two parts drive the same name.
    #[error("port `{0}` is driven by two parts")]
    TwoDrivers(String),
    /// Two parts have a port of the same name and different width.
    #[error("port `{name}` has {first} bits in one part and {second} in another")]
    Widths {
        /// Name of the port.
        name: String,
        /// Width in the first part that has it.
        first: usize,
        /// Another width.
        second: usize,
    },
    /// A port that no part has, or that is narrower already.
    #[error("the port `{0}` does not exist, or is already as narrow")]
    Narrow(String),
}

/// A name at the border of a part.
struct Net {
    name: String,
    width: usize,
    driven: bool,
    used: bool,
    /// Of the first part that documents it.
    doc: Vec<String>,
}

impl Net {
    /// Joins two parts, so that the outside does not see it.
    fn inside(&self) -> bool {
        self.driven && self.used
    }
}

/// A design whose top module `name` holds the parts. A port that one part drives and another reads
/// becomes a wire; all others are ports of the top, in the order of the parts.
///
/// # Errors
/// When names or widths do not fit.
pub fn join(
    name: &str,
    parts: Vec<Part>,
    narrow: &[Narrow<'_>],
    header: &str,
) -> Result<Design, JoinError> {
    let nets = nets(&parts)?;
    for cut in narrow {
        if !nets
            .iter()
            .any(|n| n.name == cut.name && !n.inside() && n.width >= cut.width)
        {
            return Err(JoinError::Narrow(cut.name.to_owned()));
        }
    }
    let cut = |net: &Net| {
        let found = narrow.iter().find(|cut| cut.name == net.name);
        found.map_or(net.width, |cut| cut.width)
    };
    let mut ports = Vec::new();
    let mut wires = String::new();
    for net in &nets {
        let left = cut(net);
        let full = range(net.width);
        if !net.inside() && left > 0 {
            ports.push(Port {
                name: net.name.clone(),
                direction: if net.driven {
                    Direction::Output
                } else {
                    Direction::Input
                },
                width: left,
                doc: net.doc.clone(),
            });
        }
        if net.inside() {
            wires += &format!("  wire {full}{};\n", net.name);
        } else if left < net.width {
            let (inner, above) = (format!("all_{}", net.name), net.width - left);
            wires += &format!("  wire {full}{inner};\n");
            wires += &match (net.driven, left) {
                (true, 0) => format!("  wire unused_{0} = &{{1'b0, {inner}}};\n", net.name),
                (true, _) => format!(
                    "  assign {0} = {inner}[{1}:0];\n  wire unused_{0} = &{{1'b0, {inner}[{2}:{left}]}};\n",
                    net.name,
                    left - 1,
                    net.width - 1
                ),
                (false, 0) => format!("  assign {inner} = {above}'d0;\n"),
                (false, _) => format!("  assign {inner} = {{{above}'d0, {}}};\n", net.name),
            };
        }
    }
    let mut text = String::new();
    for line in header.trim_end().lines() {
        text += format!("// {line}").trim_end();
        text.push('\n');
    }
    let lines: Vec<PortLine> = ports
        .iter()
        .map(|port| {
            let direction = match port.direction {
                Direction::Input => "input wire",
                Direction::Output => "output wire",
            };
            PortLine {
                text: format!("{direction} {}{}", range(port.width), port.name),
                doc: port.doc.clone(),
                waiver: None,
            }
        })
        .collect();
    text += &format!("module {name}");
    port_list(&lines, &mut text);
    text += &wires;
    for net in &nets {
        let wires: Vec<String> = parts
            .iter()
            .flat_map(|part| {
                part.ports()
                    .map(move |(port, outside)| (part, port, outside))
            })
            .filter(|(_, _, outside)| *outside == net.name)
            .filter_map(|(part, port, outside)| part.gathers(port, outside))
            .collect();
        for wire in &wires {
            text += &format!("  wire {}{wire};\n", range(net.width));
        }
        if !wires.is_empty() {
            text += &format!("  assign {} = {};\n", net.name, wires.join(" | "));
        }
    }
    for part in &parts {
        let mut connections: Vec<String> = part
            .ports()
            .map(|(port, outside)| {
                let net = nets.iter().find(|net| net.name == outside);
                let trimmed = net.is_some_and(|net| !net.inside() && cut(net) < net.width);
                let outer = if trimmed { "all_" } else { "" };
                let wire = part.gathers(port, outside);
                let wire = wire.unwrap_or_else(|| format!("{outer}{outside}"));
                format!("    .{}({wire})", port.name)
            })
            .collect();
        let fixed = part.fixed.iter();
        connections.extend(fixed.map(|(port, value)| format!("    .{port}({value})")));
        let module = &part.design.top().name;
        let instance = &part.instance;
        text += &format!(
            "  {module} {instance} (\n{}\n  );\n",
            connections.join(",\n")
        );
    }
    text += "endmodule\n";
    let mut joined = Design {
        modules: Vec::new(),
        ports,
        unread: Vec::new(),
    };
    for Part { design, .. } in parts {
        let top = &design.top().name;
        if joined.modules.iter().any(|module| module.name == *top) {
            continue;
        }
        joined.modules.extend(design.modules);
        joined.unread.extend(design.unread);
    }
    joined.modules.push(Module {
        name: name.to_owned(),
        verilog: text,
    });
    Ok(joined)
}

fn nets(parts: &[Part]) -> Result<Vec<Net>, JoinError> {
    let mut nets: Vec<Net> = Vec::new();
    let ports = parts.iter().flat_map(|part| {
        part.ports()
            .map(move |(port, outside)| (part, port, outside))
    });
    for (part, port, outside) in ports {
        let drives = port.direction == Direction::Output;
        let Some(net) = nets.iter_mut().find(|net| net.name == outside) else {
            nets.push(Net {
                name: outside.to_owned(),
                width: port.width,
                driven: drives,
                used: !drives,
                doc: port.doc.clone(),
            });
            continue;
        };
        if net.width != port.width {
            return Err(JoinError::Widths {
                name: outside.to_owned(),
                first: net.width,
                second: port.width,
            });
        }
        if drives && net.driven && part.gathers(port, outside).is_none() {
            return Err(JoinError::TwoDrivers(outside.to_owned()));
        }
        net.driven |= drives;
        net.used |= !drives;
        if net.doc.is_empty() {
            net.doc.clone_from(&port.doc);
        }
    }
    Ok(nets)
}

/// `[7:0] `, nothing for one bit.
fn range(width: usize) -> String {
    match width {
        0 | 1 => String::new(),
        _ => format!("[{}:0] ", width - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, ports: &[(&str, Direction, usize)]) -> Design {
        Design {
            modules: vec![Module {
                name: name.to_owned(),
                verilog: format!("module {name}; endmodule\n"),
            }],
            ports: ports
                .iter()
                .map(|&(name, direction, width)| Port {
                    name: name.to_owned(),
                    direction,
                    width,
                    doc: Vec::new(),
                })
                .collect(),
            unread: Vec::new(),
        }
    }

    fn parts<const N: usize>(designs: [Design; N]) -> Vec<Part> {
        designs.into_iter().map(Part::from).collect()
    }

    use Direction::{Input, Output};

    #[test]
    fn equal_names_become_wires_and_the_rest_ports() {
        let a = part(
            "a",
            &[("clk", Input, 1), ("word", Output, 8), ("far", Input, 16)],
        );
        let b = part(
            "b",
            &[("clk", Input, 1), ("word", Input, 8), ("out", Output, 64)],
        );
        let cuts = [
            Narrow {
                name: "far",
                width: 3,
            },
            Narrow {
                name: "out",
                width: 32,
            },
        ];
        let design = join("top", parts([a, b]), &cuts, "Head.").unwrap();
        let text = &design.top().verilog;
        for line in [
            "// Head.",
            "module top (",
            "  input wire clk,",
            "  input wire [2:0] far,",
            "  output wire [31:0] out",
            "  wire [7:0] word;",
            "  assign all_far = {13'd0, far};",
            "  assign out = all_out[31:0];",
            "    .word(word)",
            "    .far(all_far)",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert_eq!(design.ports.len(), 3);
        assert_eq!(design.modules.len(), 3);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let a = part("a", &[("x", Output, 8)]);
        let b = part("b", &[("x", Input, 9)]);
        let c = part("c", &[("x", Output, 8)]);
        assert!(matches!(
            join("t", parts([a.clone(), b]), &[], ""),
            Err(JoinError::Widths { .. })
        ));
        assert_eq!(
            join("t", parts([a.clone(), c]), &[], ""),
            Err(JoinError::TwoDrivers("x".to_owned()))
        );
        let cut = [Narrow {
            name: "y",
            width: 1,
        }];
        assert_eq!(
            join("t", parts([a]), &cut, ""),
            Err(JoinError::Narrow("y".to_owned()))
        );
    }

    #[test]
    fn several_instances_of_a_design_share_an_output() {
        let unit = part(
            "unit",
            &[("id", Input, 2), ("data", Input, 8), ("found", Output, 4)],
        );
        let user = part("user", &[("found", Input, 4)]);
        let instances = [0, 1].map(|number| Part {
            instance: format!("unit_{number}"),
            renamed: vec![("data".to_owned(), format!("data_{number}"))],
            fixed: vec![("id".to_owned(), format!("2'd{number}"))],
            gathered: &["found"],
            ..Part::from(unit.clone())
        });
        let all = instances.into_iter().chain([Part::from(user)]).collect();
        let design = join("top", all, &[], "").unwrap();
        let text = &design.top().verilog;
        for line in [
            "  input wire [7:0] data_1",
            "  assign found = unit_0_found | unit_1_found;",
            "  unit unit_1 (",
            "    .data(data_1)",
            "    .found(unit_1_found)",
            "    .id(2'd1)",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert_eq!(design.modules.len(), 3);
        let names: Vec<_> = design.ports.iter().map(|port| &*port.name).collect();
        assert_eq!(names, ["data_0", "data_1"]);
    }
}
