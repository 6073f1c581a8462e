//! Walks a design with rust-hdl's `Probe` and collects the data that the emitter needs.

use num_bigint::BigUint;
use peerlane_language::{Atom, AtomKind, Block, Probe, TypeDescriptor, TypeKind, Verilog};

use crate::custom::{self, Register};
use crate::error::{EmitError, Problem};
use crate::hints::{self, Hint};

/// One block of the design.
pub(crate) struct Node {
    /// Field name in the parent; array elements are `field$0`, `field$1`.
    pub name: String,
    /// Documentation of that field.
    pub doc: Vec<String>,
    /// Documentation of the block itself.
    pub about: Vec<String>,
    /// Name that it wants for its module.
    pub module_name: Option<String>,
    /// Path from the top, for messages.
    pub path: String,
    pub atoms: Vec<AtomInfo>,
    pub children: Vec<Node>,
    pub code: Verilog,
    /// Set when the block is a D flip-flop of rust-hdl's widgets.
    pub register: Option<Register>,
}

/// One signal or constant of a block.
pub(crate) struct AtomInfo {
    /// Field name, after those of its interfaces, joined by `$`.
    pub name: String,
    /// Documentation of the field, after that of its interfaces.
    pub doc: Vec<String>,
    pub kind: AtomKind,
    pub width: usize,
    /// Value of a constant.
    pub value: BigUint,
    pub ty: TypeDescriptor,
}

impl AtomInfo {
    pub fn is_port(&self) -> bool {
        self.kind.is_parameter()
    }

    pub fn is_clock(&self) -> bool {
        self.ty.name == "clock"
    }
}

impl Node {
    /// An error at this block.
    pub fn error(&self, signal: impl Into<Option<String>>, problem: Problem) -> EmitError {
        EmitError {
            block: self.path.clone(),
            signal: signal.into(),
            problem,
        }
    }

    /// A block that has neither signals nor parts has nothing to emit.
    pub fn is_void(&self) -> bool {
        self.atoms.is_empty() && self.children.is_empty()
    }
}

/// Bits of a type, from its description.
pub(crate) fn type_width(ty: &TypeDescriptor) -> usize {
    match &ty.kind {
        TypeKind::Bits(n) | TypeKind::Signed(n) => *n,
        TypeKind::Enum(states) => peerlane_language::clog2(states.len()),
        TypeKind::Composite(fields) => fields.iter().map(|f| type_width(&f.kind)).sum(),
    }
}

/// Collects the whole tree below `top`.
pub(crate) fn collect<B: Block>(name: &str, top: &B) -> Option<Node> {
    let mut collector = Collector::default();
    top.accept(name, &mut collector);
    collector.top
}

#[derive(Default)]
struct Collector {
    /// Open blocks, each with the interfaces open inside it.
    stack: Vec<(Node, Vec<String>)>,
    /// Documentation of the next item to visit.
    doc: Vec<String>,
    top: Option<Node>,
}

impl Collector {
    fn local_name(&self, name: &str) -> String {
        let mut parts: Vec<&str> = match self.stack.last() {
            Some((_, interfaces)) => interfaces.iter().map(String::as_str).collect(),
            None => Vec::new(),
        };
        parts.push(name);
        parts.join("$")
    }
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, block: &dyn Block) {
        let name = self.local_name(name);
        let path = match self.stack.last() {
            Some((parent, _)) => format!("{}.{}", parent.path, name.replace('$', ".")),
            None => name.clone(),
        };
        let code = block.hdl();
        let register = custom::register(&code, &block.timing());
        let node = Node {
            name,
            doc: std::mem::take(&mut self.doc),
            about: Vec::new(),
            module_name: None,
            path,
            atoms: Vec::new(),
            children: Vec::new(),
            code,
            register,
        };
        self.stack.push((node, Vec::new()));
    }

    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        if let Some(hint) = hints::read(name) {
            match (hint, self.stack.last_mut()) {
                (Hint::Document(text), _) => self.doc.extend(hints::lines(text)),
                (Hint::About(text), Some((node, _))) => node.about.extend(hints::lines(text)),
                (Hint::ModuleName(text), Some((node, _))) => {
                    node.module_name = Some(text.to_owned());
                }
                (_, None) => {}
            }
        } else if let Some((_, interfaces)) = self.stack.last_mut() {
            interfaces.push(name.to_owned());
        }
    }

    fn visit_end_namespace(&mut self, name: &str, _: &dyn Block) {
        if hints::read(name).is_some() {
            // It was closed as it was read.
        } else if let Some((_, interfaces)) = self.stack.last_mut() {
            interfaces.pop();
        }
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let name = self.local_name(name);
        let info = AtomInfo {
            name,
            doc: std::mem::take(&mut self.doc),
            kind: atom.kind(),
            width: atom.bits(),
            value: custom::literal_value(&atom.verilog()),
            ty: atom.descriptor(),
        };
        if let Some((node, _)) = self.stack.last_mut() {
            node.atoms.push(info);
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        if let Some((node, _)) = self.stack.pop() {
            match self.stack.last_mut() {
                Some((parent, _)) => parent.children.push(node),
                None => self.top = Some(node),
            }
        }
    }
}
