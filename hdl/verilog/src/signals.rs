//! The signals that one module's code can name, with their widths.

use std::collections::{BTreeSet, HashMap};

use num_bigint::BigUint;
use peerlane_language::{AtomKind, TypeDescriptor, TypeKind};

use crate::collect::{AtomInfo, Node, type_width};
use crate::error::{EmitError, Problem};
use crate::ir::{Expr, SignalId};

/// Roles of a signal in the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    Input,
    Output,
    Local,
    Constant(BigUint),
    /// Input of the child of that number.
    ChildInput(usize),
    /// Output of the child of that number.
    ChildOutput(usize),
    /// Bits `low..low + width` of an expression, which Verilog cannot select from.
    Hoisted {
        source: Expr,
        low: usize,
    },
}

pub(crate) struct Signal {
    /// Path of Rust fields from the block, joined by `$`.
    pub name: String,
    /// Name of the port in the child, for its inputs and outputs.
    pub port: String,
    pub role: Role,
    pub width: usize,
    pub clock: bool,
    pub signed: bool,
    /// Documentation, of the module's own signals.
    pub doc: Vec<String>,
    ty: Option<TypeDescriptor>,
}

impl Signal {
    /// Reports whether the signal is read in order. Local signals and outputs are read as last assigned, in the order
    /// of statements; all others have the values to which everything has settled.
    pub fn reads_in_order(&self) -> bool {
        matches!(self.role, Role::Local | Role::Output)
    }

    pub fn is_assignable(&self) -> bool {
        matches!(self.role, Role::Local | Role::Output | Role::ChildInput(_))
    }

    /// Returns the states of an enum's signal that has values which are not states.
    pub fn states_with_spare_codes(&self) -> Option<&[String]> {
        match &self.ty.as_ref()?.kind {
            TypeKind::Enum(states) if states.len() < 1 << self.width => Some(states),
            _ => None,
        }
    }
}

/// A state of an enum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub name: String,
    pub value: usize,
    pub width: usize,
}

/// The meaning of a name of the AST.
pub(crate) enum Named {
    Bits {
        signal: SignalId,
        low: usize,
        width: usize,
    },
    State(State),
}

#[derive(Default)]
pub(crate) struct Signals {
    list: Vec<Signal>,
    by_name: HashMap<String, SignalId>,
    /// States by `Type$State`; two entries where types disagree.
    states: HashMap<String, Vec<State>>,
}

impl std::ops::Index<SignalId> for Signals {
    type Output = Signal;

    fn index(&self, id: SignalId) -> &Signal {
        &self.list[id]
    }
}

impl Signals {
    /// Collects the signals of a block and the ports of its children.
    pub fn of(node: &Node) -> Result<Signals, EmitError> {
        let mut signals = Signals::default();
        for atom in &node.atoms {
            let role = match atom.kind {
                AtomKind::InputParameter => Role::Input,
                AtomKind::OutputParameter => Role::Output,
                AtomKind::LocalSignal => Role::Local,
                AtomKind::Constant => Role::Constant(atom.value.clone()),
                _ => return Err(node.error(atom.name.clone(), Problem::Bidirectional)),
            };
            signals.add_atom(node, atom, atom.name.clone(), role)?;
        }
        for (number, child) in node.children.iter().enumerate() {
            for atom in child.atoms.iter().filter(|a| a.is_port()) {
                let name = format!("{}${}", child.name, atom.name);
                let role = match atom.kind {
                    AtomKind::InputParameter => Role::ChildInput(number),
                    AtomKind::OutputParameter => Role::ChildOutput(number),
                    _ => return Err(node.error(name, Problem::Bidirectional)),
                };
                signals.add_atom(node, atom, name, role)?;
            }
        }
        Ok(signals)
    }

    fn add_atom(
        &mut self,
        node: &Node,
        atom: &AtomInfo,
        name: String,
        role: Role,
    ) -> Result<(), EmitError> {
        if atom.width == 0 {
            return Err(node.error(name, Problem::ZeroWidth));
        }
        self.add_states(&atom.ty);
        self.by_name.insert(name.clone(), self.list.len());
        self.list.push(Signal {
            name,
            port: atom.name.clone(),
            role,
            width: atom.width,
            clock: atom.is_clock(),
            signed: has_signed(&atom.ty),
            doc: atom.doc.clone(),
            ty: Some(atom.ty.clone()),
        });
        Ok(())
    }

    fn add_states(&mut self, ty: &TypeDescriptor) {
        match &ty.kind {
            TypeKind::Enum(states) => {
                for (value, state) in states.iter().enumerate() {
                    let name = state.replace("::", "$");
                    let state = State {
                        name: name.clone(),
                        value,
                        width: type_width(ty),
                    };
                    let known = self.states.entry(name).or_default();
                    if !known.contains(&state) {
                        known.push(state);
                    }
                }
            }
            TypeKind::Composite(fields) => fields.iter().for_each(|f| self.add_states(&f.kind)),
            TypeKind::Bits(_) | TypeKind::Signed(_) => {}
        }
    }

    /// Adds a wire for bits of an expression.
    pub fn add_hoisted(
        &mut self,
        name: String,
        source: Expr,
        low: usize,
        width: usize,
    ) -> SignalId {
        self.list.push(Signal {
            name,
            port: String::new(),
            role: Role::Hoisted { source, low },
            width,
            clock: false,
            signed: false,
            doc: Vec::new(),
            ty: None,
        });
        self.list.len() - 1
    }

    pub fn ids(&self) -> std::ops::Range<SignalId> {
        0..self.list.len()
    }

    /// Returns all bits of a signal.
    pub fn whole(&self, signal: SignalId) -> Expr {
        Expr::Select {
            signal,
            low: 0,
            width: self[signal].width,
        }
    }

    /// Returns the signal if an expression is just a signal.
    pub fn as_whole(&self, expr: &Expr) -> Option<SignalId> {
        match expr {
            Expr::Select {
                signal,
                low: 0,
                width,
            } if *width == self[*signal].width => Some(*signal),
            _ => None,
        }
    }

    /// Looks a path up, its parts joined by `$`.
    pub fn find(&self, path: &str) -> Result<Option<Named>, Problem> {
        if let Some(&signal) = self.by_name.get(path) {
            return Ok(Some(Named::Bits {
                signal,
                low: 0,
                width: self[signal].width,
            }));
        }
        let mut parts: Vec<&str> = path.rsplitn(3, '$').take(2).collect();
        parts.reverse();
        match self.states.get(&parts.join("$")).map(Vec::as_slice) {
            Some([state]) => return Ok(Some(Named::State(state.clone()))),
            Some(_) => return Err(Problem::AmbiguousState),
            None => {}
        }
        Ok(self.find_field(path))
    }

    /// A field of a field of a `LogicStruct`: rust-hdl resolves one level itself.
    fn find_field(&self, path: &str) -> Option<Named> {
        for separator in ["$val()$", "$next$"] {
            let Some((base, fields)) = path.split_once(separator) else {
                continue;
            };
            let signal = *self.by_name.get(base)?;
            let mut ty = self[signal].ty.as_ref()?;
            let mut low = 0;
            for name in fields.split('$') {
                let TypeKind::Composite(fields) = &ty.kind else {
                    return None;
                };
                let at = fields.iter().position(|f| f.fieldname == name)?;
                low += fields[..at]
                    .iter()
                    .map(|f| type_width(&f.kind))
                    .sum::<usize>();
                ty = &fields[at].kind;
            }
            return Some(Named::Bits {
                signal,
                low,
                width: type_width(ty),
            });
        }
        None
    }
}

fn has_signed(ty: &TypeDescriptor) -> bool {
    match &ty.kind {
        TypeKind::Signed(_) => true,
        TypeKind::Composite(fields) => fields.iter().any(|f| has_signed(&f.kind)),
        _ => false,
    }
}

/// Returns the signals that an expression depends on, through the wires made for its parts.
pub(crate) fn reads(signals: &Signals, expr: &Expr) -> BTreeSet<SignalId> {
    let mut found = BTreeSet::new();
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        expr.for_each_select(&mut |id, _| {
            if found.insert(id)
                && let Role::Hoisted { source, .. } = &signals[id].role
            {
                pending.push(source);
            }
        });
    }
    found
}
