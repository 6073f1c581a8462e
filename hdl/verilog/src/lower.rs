//! From rust-hdl's AST to the typed form.

mod expr;
mod index;
mod shape;
mod stmt;
#[cfg(test)]
mod tests;

use peerlane_language::ast::VerilogBlock;

use crate::collect::Node;
use crate::error::{EmitError, Problem};
use crate::ir::{SignalId, Stmt};
use crate::path::Loops;
use crate::signals::Signals;

/// A block's statements, with its signals.
pub(crate) struct Lowered {
    pub signals: Signals,
    pub statements: Vec<Stmt>,
    /// The wires made for parts of expressions, in the order of their making.
    pub hoisted: Vec<SignalId>,
}

/// Lowers the code of a block.
pub(crate) fn lower(node: &Node, code: &VerilogBlock) -> Result<Lowered, EmitError> {
    let signals = Signals::of(node)?;
    let mut context = Context {
        node,
        signals,
        loops: Loops::new(),
        hoisted: Vec::new(),
        hint: String::new(),
    };
    let statements = context.block(code)?;
    Ok(Lowered {
        signals: context.signals,
        statements,
        hoisted: context.hoisted,
    })
}

struct Context<'a> {
    node: &'a Node,
    signals: Signals,
    loops: Loops,
    hoisted: Vec<SignalId>,
    /// Name of the target being assigned: wires are named after it.
    hint: String,
}

impl Context<'_> {
    fn error(&self, name: &str, problem: Problem) -> EmitError {
        self.node.error(name.replace('$', "."), problem)
    }

    /// An error in the expression of the current target.
    fn error_here(&self, problem: Problem) -> EmitError {
        let place = (!self.hint.is_empty()).then(|| self.hint.replace('$', "."));
        self.node.error(place, problem)
    }
}
