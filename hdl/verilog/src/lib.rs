//! Verilog-2005 back-end over rust-hdl's public AST.
//!
//! rust-hdl's own `generate_verilog` prints expressions with Rust's precedence and with 32-bit literals, so that the
//! Verilog computes other values. This crate emits plain Verilog-2005 (IEEE 1364-2005) that computes the same as
//! rust-hdl's simulator: every expression is typed, every literal has a width, every nested operator its parentheses.
//!
//! ```
//! use peerlane_language::*;
//!
//! #[derive(LogicBlock, Default)]
//! struct Counter {
//!     pub clock: Signal<In, Clock>,
//!     pub enable: Signal<In, Bit>,
//!     pub count: Signal<Out, Bits<8>>,
//!     value: DFF<Bits<8>>,
//! }
//!
//! impl Logic for Counter {
//!     #[hdl_gen]
//!     fn update(&mut self) {
//!         dff_setup!(self, clock, value);
//!         self.count.next = self.value.q.val();
//!         if self.enable.val() {
//!             self.value.d.next = self.value.q.val() + 1;
//!         }
//!     }
//! }
//!
//! let mut top = Counter::default();
//! top.connect_all();
//! let design = peerlane_verilog::emit("counter", &top, "An example.").unwrap();
//! assert!(design.top().verilog.contains("value_d = value_q + 8'd1;"));
//! ```
//!
//! # Documentation
//!
//! Blocks that derive [`DocBlock`], and the bundles of ports that [`bundle`] makes, have their `///` lines in the
//! Verilog: before the port, the signal, the register, the constant and the instance that they document, and before
//! the module. `#[module_name(METHOD)]` on a block gives its module a name other than that of the field in which the
//! first such block is.
//!
//! # Information that the AST lacks
//!
//! - Constants and const generics in expressions are names only: use
//!   `Constant<Bits<N>>` fields. Widths, loop bounds and casts are values.
//! - `.index()` is dropped. As a bit index it is understood, and arithmetic on
//!   it is refused where it could wrap; elsewhere do not compute with it.
//! - An index into an array of blocks or signals must be a constant of the
//!   unrolled loops.
//! - A cast inside a loop cannot name the loop's variable: rust-hdl's macro
//!   evaluates the cast outside the loop.
//!
//! # Verilator
//!
//! 5.048 to 5.050 miscompile `(a >> b) >> c`, and the same to the left, where
//! `b + c` overflows the width of the amounts (Verilator's issue 7955). Give
//! them `-fno-dfg-peephole-replace-shiftl-shiftl` and
//! `-fno-dfg-peephole-replace-shiftr-shiftr`.

mod bind;
mod collect;
mod custom;
mod design;
mod error;
mod fold;
#[doc(hidden)]
pub mod hints;
mod ir;
mod join;
mod lower;
mod module;
pub mod mutants;
mod names;
mod path;
mod print;
mod schedule;
mod signals;
mod usage;

use peerlane_language::{AtomKind, Block, check_all};

pub use error::{EmitError, Problem};
pub use join::{JoinError, Narrow, Part, join};
pub use names::is_reserved;
pub use peerlane_verilog_macros::{DocBlock, bundle};

/// Modules of a design, with the ports of the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Each module once, after those that it instantiates: the top is the last.
    pub modules: Vec<Module>,
    /// Ports of the top module, in the order of the fields.
    pub ports: Vec<Port>,
    /// Signals that nothing reads; the Verilog has a lint waiver for each.
    pub unread: Vec<Unread>,
}

impl Design {
    /// The top module.
    ///
    /// # Panics
    ///
    /// If `modules` was emptied; [`emit`] always gives one.
    pub fn top(&self) -> &Module {
        self.modules.last().expect("a design has a top module")
    }
}

/// One module: the content of the file `<name>.v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Name of the module.
    pub name: String,
    /// Its text, with the header comment.
    pub verilog: String,
}

/// A port of the top module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// `field`, or `interface_field`.
    pub name: String,
    /// Seen from the module.
    pub direction: Direction,
    /// Width in bits.
    pub width: usize,
    /// Its documentation, a line each.
    pub doc: Vec<String>,
}

/// Direction of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Driven from outside.
    Input,
    /// Driven by the module.
    Output,
}

/// Bits of a signal that nothing in its module reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Name of the module.
    pub module: String,
    /// Verilog name of the signal.
    pub signal: String,
    /// Ranges of bits, `(high, low)`, the highest first.
    pub bits: Vec<(usize, usize)>,
}

/// Emits the design below `top`, with a top module called `name`.
///
/// `connect_all()` must have been called on `top`. `header` becomes a comment
/// at the start of each file; it may have several lines.
///
/// # Errors
///
/// [`EmitError`] names the block and signal, the problem and the hint.
pub fn emit<B: Block>(name: &str, top: &B, header: &str) -> Result<Design, EmitError> {
    check_all(top).map_err(|e| EmitError::from_check(name, e))?;
    let Some(node) = collect::collect(name, top) else {
        return Err(EmitError {
            block: name.to_owned(),
            signal: None,
            problem: Problem::NoVerilog {
                kind: "that is not a `LogicBlock`",
            },
        });
    };
    let mut design = design::emit(&node, header)?;
    design.ports = node
        .atoms
        .iter()
        .filter(|atom| atom.is_port())
        .map(|atom| Port {
            name: module::port_name(&atom.name),
            direction: match atom.kind {
                AtomKind::InputParameter => Direction::Input,
                _ => Direction::Output,
            },
            width: atom.width,
            doc: atom.doc.clone(),
        })
        .collect();
    Ok(design)
}

/// A comment of the Verilog, in the code of a block; nothing to Rust.
///
/// It appears before the statement that follows it.
#[macro_export]
macro_rules! comment {
    ($text:literal) => {};
}
