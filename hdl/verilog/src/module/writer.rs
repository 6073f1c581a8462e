//! The text of a module with code of its own.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;

use super::{Body, PortLine, check_ports, child_mark, comment, port_list, port_name, waived};
use crate::bind::Bindings;
use crate::collect::Node;
use crate::error::{EmitError, Problem};
use crate::ir::{ConstName, Expr, SignalId};
use crate::lower::Lowered;
use crate::names::{Namespace, flatten, is_identifier};
use crate::print::{Printer, line, literal, range};
use crate::schedule::Schedule;
use crate::signals::{Role, Signals};
use crate::usage::Usage;

pub(crate) struct Writer<'a> {
    node: &'a Node,
    signals: &'a Signals,
    schedule: &'a Schedule,
    bindings: &'a Bindings,
    children: &'a [Option<usize>],
    hoisted: Vec<SignalId>,
    /// Targets of `always @*` blocks.
    in_blocks: BTreeSet<SignalId>,
    usage: Usage,
    names: Vec<String>,
    instances: Vec<String>,
    constants: BTreeMap<ConstName, String>,
    constant_text: Vec<String>,
    namespace: Namespace,
    unread: Vec<(String, Vec<(usize, usize)>)>,
}

impl<'a> Writer<'a> {
    pub fn new(
        node: &'a Node,
        lowered: &'a Lowered,
        schedule: &'a Schedule,
        bindings: &'a Bindings,
        children: &'a [Option<usize>],
    ) -> Result<Self, EmitError> {
        check_ports(node, false)?;
        let mut writer = Writer {
            node,
            signals: &lowered.signals,
            schedule,
            bindings,
            children,
            hoisted: Vec::new(),
            in_blocks: schedule.block_targets(),
            usage: Usage::new(&lowered.signals),
            names: Vec::new(),
            instances: Vec::new(),
            constants: BTreeMap::new(),
            constant_text: Vec::new(),
            namespace: Namespace::default(),
            unread: Vec::new(),
        };
        writer.measure(lowered);
        writer.give_names()?;
        Ok(writer)
    }

    fn is_register(&self, child: usize) -> bool {
        self.node.children[child].register.is_some()
    }

    /// The child's signal of that port.
    fn port(&self, child: usize, port: &str) -> Option<SignalId> {
        self.signals.ids().find(|&id| {
            let signal = &self.signals[id];
            signal.port == port
                && (signal.role == Role::ChildInput(child)
                    || signal.role == Role::ChildOutput(child))
        })
    }

    fn expressions(&self) -> Vec<Expr> {
        let mut all = Vec::new();
        self.schedule.for_each_expr(&mut |e| all.push(e.clone()));
        all.extend(self.bindings.inputs.values().cloned());
        all
    }

    /// Finds the wires that are needed, and the bits that are read.
    fn measure(&mut self, lowered: &Lowered) {
        let mut expressions = self.expressions();
        let mut needed = BTreeSet::new();
        while let Some(expr) = expressions.pop() {
            self.usage.expr(self.signals, &expr);
            expr.for_each_select(&mut |id, _| {
                if let Role::Hoisted { source, .. } = &self.signals[id].role
                    && needed.insert(id)
                {
                    expressions.push(source.clone());
                }
            });
        }
        self.hoisted = lowered
            .hoisted
            .iter()
            .copied()
            .filter(|id| needed.contains(id))
            .collect();
        for &clock in self.bindings.clocks.values() {
            self.usage.whole(self.signals, clock);
        }
        for id in self.signals.ids() {
            // Outputs are read outside, inputs of children inside these.
            if matches!(self.signals[id].role, Role::Output | Role::ChildInput(_))
                || self.bindings.outputs.contains_key(&id)
            {
                self.usage.whole(self.signals, id);
            }
        }
    }

    /// Ports first, as their names are fixed.
    fn give_names(&mut self) -> Result<(), EmitError> {
        self.names = vec![String::new(); self.signals.ids().len()];
        for id in self.signals.ids() {
            if matches!(self.signals[id].role, Role::Input | Role::Output) {
                self.names[id] = port_name(&self.signals[id].name);
                self.namespace.claim(&self.names[id]);
            }
        }
        let mut driven = self.in_blocks.clone();
        driven.extend(self.schedule.continuous.iter().map(|item| item.target));
        for id in self.signals.ids() {
            let signal = &self.signals[id];
            let mut wish = flatten(&signal.name);
            match &signal.role {
                Role::Input | Role::Output | Role::Constant(_) => continue,
                Role::ChildInput(_) if self.bindings.inputs.contains_key(&id) => continue,
                Role::ChildInput(child) if signal.clock && self.is_register(*child) => continue,
                Role::ChildOutput(child) if !self.is_register(*child) => {
                    if let Some(&output) = self.bindings.outputs.get(&id) {
                        self.names[id] = self.names[output].clone();
                        continue;
                    }
                    if !self.usage.is_read(id) {
                        // The name shows Verilator that it is meant to be unused.
                        wish.push_str("_unused");
                    }
                }
                Role::Hoisted { .. } if !self.hoisted.contains(&id) => continue,
                Role::Local if !driven.contains(&id) => continue,
                _ => {}
            }
            if !is_identifier(&wish) {
                return Err(self.node.error(signal.name.clone(), Problem::BadIdentifier));
            }
            self.names[id] = self.namespace.unique(&wish);
        }
        for child in &self.node.children {
            let name = match child.register {
                Some(_) => String::new(),
                None => self.namespace.unique(&flatten(&child.name)),
            };
            self.instances.push(name);
        }
        self.name_constants();
        Ok(())
    }

    /// Declares the constants that the code names.
    fn name_constants(&mut self) {
        let mut used: BTreeMap<ConstName, (BigUint, usize)> = BTreeMap::new();
        let mut note = |e: &Expr| {
            e.for_each_const(&mut |value, width, name| {
                if let Some(name) = name {
                    used.insert(name.clone(), (value.clone(), width));
                }
            });
        };
        self.expressions().iter().for_each(&mut note);
        for &id in &self.hoisted {
            if let Role::Hoisted { source, .. } = &self.signals[id].role {
                note(source);
            }
        }
        let mut used: Vec<_> = used.into_iter().collect();
        used.sort_by(|a, b| (a.1.1, &a.1.0, &a.0).cmp(&(b.1.1, &b.1.0, &b.0)));
        for (name, (value, width)) in used {
            let text = self.namespace.unique(&name.0);
            let value = literal(&value, width);
            let mut declared = String::new();
            let constant = self.signals.ids().find(|&id| {
                let signal = &self.signals[id];
                matches!(signal.role, Role::Constant(_)) && flatten(&signal.name) == name.0
            });
            if let Some(id) = constant {
                comment(&self.signals[id].doc, &mut declared);
            }
            line(
                &mut declared,
                1,
                &format!("localparam {}{text} = {value};", range(width)),
            );
            self.constant_text.push(declared);
            self.constants.insert(name, text);
        }
    }

    fn printer(&self) -> Printer<'_> {
        Printer {
            signals: self.signals,
            names: &self.names,
            constants: &self.constants,
        }
    }

    /// The reason for a waiver, if bits of the signal have no reader.
    fn waiver(&mut self, id: SignalId) -> Option<String> {
        let unread = self.usage.unread(self.signals, id);
        let width = self.signals[id].width;
        let reason = match unread.as_slice() {
            [] => return None,
            [(high, 0)] if high + 1 == width => "Nothing in this module reads it.".to_owned(),
            ranges => {
                let ranges: Vec<_> = ranges
                    .iter()
                    .map(|(high, low)| match high == low {
                        true => format!("{low}"),
                        false => format!("{high}:{low}"),
                    })
                    .collect();
                format!(
                    "Nothing in this module reads its bits {}.",
                    ranges.join(", ")
                )
            }
        };
        self.unread.push((self.names[id].clone(), unread));
        Some(reason)
    }

    /// The module's text.
    pub fn write(mut self) -> Result<Body, EmitError> {
        let mut out = String::new();
        self.ports(&mut out);
        let mut declarations = self.declarations();
        let assigns = self.assigns(&mut declarations);
        let constants = self.constant_text.concat();
        let sections: [String; 3] = [constants, declarations, assigns];
        for section in sections.iter().filter(|s| !s.is_empty()) {
            out.push_str(section);
            out.push('\n');
        }
        self.instances(&mut out);
        for block in &self.schedule.blocks {
            line(&mut out, 1, "always @* begin");
            self.printer().items(block, &mut out);
            line(&mut out, 1, "end");
            out.push('\n');
        }
        self.registers(&mut out);
        while out.ends_with("\n\n") {
            out.pop();
        }
        out.push_str("endmodule\n");
        Ok(Body {
            text: out,
            unread: self.unread,
        })
    }

    fn ports(&mut self, out: &mut String) {
        let mut ports = Vec::new();
        for id in self.signals.ids() {
            let kind = match self.signals[id].role {
                Role::Input => "input  wire",
                Role::Output if self.in_blocks.contains(&id) => "output reg ",
                Role::Output => "output wire",
                _ => continue,
            };
            let text = format!("{kind} {}{}", range(self.signals[id].width), self.names[id]);
            ports.push(PortLine {
                text,
                doc: self.signals[id].doc.clone(),
                waiver: self.waiver(id),
            });
        }
        port_list(&ports, out);
    }

    fn declarations(&mut self) -> String {
        let mut out = String::new();
        let mut told = BTreeSet::new();
        for id in self.signals.ids() {
            let signal = &self.signals[id];
            if self.names[id].is_empty() || self.bindings.outputs.contains_key(&id) {
                continue;
            }
            let (kind, can_waive) = match &signal.role {
                Role::Local | Role::ChildInput(_) if self.in_blocks.contains(&id) => ("reg", true),
                Role::Local | Role::ChildInput(_) => ("wire", true),
                Role::ChildOutput(child) if self.is_register(*child) => ("reg", true),
                Role::ChildOutput(_) => ("wire", self.usage.is_read(id)),
                Role::Hoisted { .. } => ("wire", true),
                Role::Input | Role::Output | Role::Constant(_) => continue,
            };
            // Quartus drops unreachable states of a state machine, unless that is to be safe (Quartus Prime
            // Design Recommendations 683082, "State Machine HDL Guidelines").
            let safe = match (&signal.role, signal.states_with_spare_codes()) {
                (Role::ChildOutput(child), Some(_)) if self.is_register(*child) => {
                    "(* syn_encoding = \"safe\" *) "
                }
                _ => "",
            };
            let text = format!("{safe}{kind} {}{};", range(signal.width), self.names[id]);
            match signal.role {
                Role::Local => comment(&signal.doc, &mut out),
                // Of a register's two signals the first that is declared.
                Role::ChildInput(child) | Role::ChildOutput(child)
                    if self.is_register(child) && told.insert(child) =>
                {
                    comment(&self.node.children[child].doc, &mut out);
                }
                _ => {}
            }
            let waiver = if can_waive { self.waiver(id) } else { None };
            waived(waiver.as_deref(), &text, &mut out);
        }
        out
    }

    fn assigns(&mut self, declarations: &mut String) -> String {
        let mut out = String::new();
        for id in self.hoisted.clone() {
            self.hoisted_wire(id, declarations, &mut out);
        }
        for item in &self.schedule.continuous {
            for text in &item.comments {
                line(&mut out, 1, &format!("// {text}"));
            }
            let (target, value) = (&self.names[item.target], self.printer().expr(&item.value));
            line(&mut out, 1, &format!("assign {target} = {value};"));
        }
        out
    }

    /// Writes a wire for bits of an expression. Verilog selects bits of names only: the other bits get a name which
    /// shows Verilator that they are meant to be unused.
    fn hoisted_wire(&mut self, id: SignalId, wires: &mut String, out: &mut String) {
        let signal = &self.signals[id];
        let Role::Hoisted { source, low } = &signal.role else {
            return;
        };
        let name = self.names[id].clone();
        let above = source.width() - low - signal.width;
        let mut parts = vec![name.clone()];
        for (width, at, suffix) in [
            (above, 0, "_unused_above"),
            (*low, parts.len(), "_unused_below"),
        ] {
            if width > 0 {
                let unused = self.namespace.unique(&format!("{name}{suffix}"));
                line(wires, 1, &format!("wire {}{unused};", range(width)));
                parts.insert(if at == 0 { 0 } else { parts.len() }, unused);
            }
        }
        let target = match parts.as_slice() {
            [name] => name.clone(),
            parts => format!("{{{}}}", parts.join(", ")),
        };
        line(
            out,
            1,
            &format!("assign {target} = {};", self.printer().expr(source)),
        );
    }

    fn instances(&self, out: &mut String) {
        for (number, child) in self.node.children.iter().enumerate() {
            let Some(module) = self.children[number] else {
                continue;
            };
            comment(&child.doc, out);
            line(
                out,
                1,
                &format!("{} {} (", child_mark(module), self.instances[number]),
            );
            let ports: Vec<_> = child.atoms.iter().filter(|a| a.is_port()).collect();
            for (at, atom) in ports.iter().enumerate() {
                let Some(id) = self.port(number, &atom.name) else {
                    continue;
                };
                let net = match self.bindings.inputs.get(&id) {
                    Some(expr) => self.printer().expr(expr),
                    None => self.names[id].clone(),
                };
                let comma = if at + 1 < ports.len() { "," } else { "" };
                line(out, 2, &format!(".{}({net}){comma}", port_name(&atom.name)));
            }
            line(out, 1, ");");
            out.push('\n');
        }
    }

    fn registers(&self, out: &mut String) {
        let mut clocks: Vec<(SignalId, Vec<usize>)> = Vec::new();
        for (number, _) in self.node.children.iter().enumerate() {
            let Some(&clock) = self.bindings.clocks.get(&number) else {
                continue;
            };
            match clocks.iter_mut().find(|(c, _)| *c == clock) {
                Some((_, registers)) => registers.push(number),
                None => clocks.push((clock, vec![number])),
            }
        }
        for (clock, registers) in clocks {
            let mut edge = String::new();
            line(out, 1, "initial begin");
            for number in registers {
                let Some(register) = &self.node.children[number].register else {
                    continue;
                };
                let (Some(d), Some(q)) = (self.port(number, "d"), self.port(number, "q")) else {
                    continue;
                };
                let width = self.signals[q].width;
                let initial = literal(&register.initial, width);
                line(out, 2, &format!("{} = {initial};", self.names[q]));
                let next = match self.bindings.inputs.get(&d) {
                    Some(expr) => self.printer().expr(expr),
                    None => self.names[d].clone(),
                };
                line(&mut edge, 2, &format!("{} <= {next};", self.names[q]));
            }
            line(out, 1, "end");
            out.push('\n');
            line(
                out,
                1,
                &format!("always @(posedge {}) begin", self.names[clock]),
            );
            out.push_str(&edge);
            line(out, 1, "end");
            out.push('\n');
        }
    }
}
