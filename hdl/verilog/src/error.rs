//! Errors, with the place of each.

use std::fmt;

use peerlane_language::check_error::{CheckError, PathedName};

/// A design that cannot be emitted: the place and the problem.
///
/// [`EmitError::hint`] has the hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmitError {
    /// Path of the block, as Rust field names joined by dots, from the top.
    pub block: String,
    /// The signal, name or construct concerned, as the Rust source has it.
    pub signal: Option<String>,
    /// The problem there.
    pub problem: Problem,
}

impl std::error::Error for EmitError {}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block `{}`", self.block)?;
        if let Some(signal) = &self.signal {
            write!(f, ", `{signal}`")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl EmitError {
    /// Returns the change that the design needs.
    pub fn hint(&self) -> &'static str {
        self.problem.hint()
    }
}

impl EmitError {
    /// Makes an error of the first finding of rust-hdl's own checks.
    pub(crate) fn from_check(top: &str, error: CheckError) -> EmitError {
        let (found, problem) = match error {
            CheckError::OpenSignal(map) => (map.into_values().collect(), Problem::Open),
            CheckError::LogicLoops(list) => (list, Problem::LogicLoop),
            CheckError::WritesToInputs(list) => (list, Problem::WritesInput),
        };
        let mut found: Vec<(String, String)> = found
            .into_iter()
            .map(|p: PathedName| (p.path, p.name))
            .collect();
        found.sort();
        let (path, signal) = found.into_iter().next().unwrap_or_default();
        // The checks call the top `uut`.
        let path = path.strip_prefix("uut").unwrap_or(&path);
        EmitError {
            block: format!("{top}{path}").replace('$', "."),
            signal: Some(signal.replace('$', ".")),
            problem,
        }
    }
}

/// The reasons for which a design cannot be emitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// rust-hdl's own check found signals that nothing drives.
    #[error("not driven, according to rust-hdl's check of connections")]
    Open,
    /// rust-hdl's own check found a read before the first write.
    #[error("read before it is written in `update`")]
    LogicLoop,
    /// rust-hdl's own check found a block that writes its own input.
    #[error("an input is written by its own block")]
    WritesInput,
    /// The design has no such signal, constant or state.
    #[error("unknown name")]
    UnknownName,
    /// Two enums of one name with different states are visible in the block.
    #[error("two states of this name have different values")]
    AmbiguousState,
    /// An array of blocks or signals indexed by something that is not a constant.
    #[error("array index `{index}` is not a constant of the unrolled loops")]
    DynamicIndex {
        /// The text of the index.
        index: String,
    },
    /// Arithmetic in a bit index, where `.index()` is invisible in the AST.
    #[error(
        "arithmetic in a bit index: the AST does not show whether it wraps at the signal's width"
    )]
    AmbiguousIndex,
    /// A constant bit index past the end.
    #[error("bit {index} of a value of {width} bits")]
    IndexOutOfRange {
        /// The constant index.
        index: usize,
        /// The width of the value indexed.
        width: usize,
    },
    /// An expression has another width than its place.
    #[error("{found} bits where {expected} are needed")]
    Width {
        /// Bits that the place takes.
        expected: usize,
        /// Bits that the expression has.
        found: usize,
    },
    /// A literal does not fit.
    #[error("literal {literal} does not fit in {width} bits")]
    LiteralTooWide {
        /// The literal, in hexadecimal.
        literal: String,
        /// The width of its context.
        width: usize,
    },
    /// Only literals in an expression whose width must be known.
    #[error("the width of a literal is not known here")]
    UntypedLiteral,
    /// A constant expression below zero.
    #[error("constant expression is negative")]
    NegativeConstant,
    /// Signed values.
    #[error("signed values are not supported")]
    Signed,
    /// `InOut` signals and tri-states.
    #[error("bidirectional signals are not supported")]
    Bidirectional,
    /// A signal without bits.
    #[error("a signal without bits")]
    ZeroWidth,
    /// A block without Verilog, or of a kind that has no place in plain Verilog output.
    #[error("a block {kind} cannot be emitted")]
    NoVerilog {
        /// The kind of block.
        kind: &'static str,
    },
    /// Assignment to something that the block does not drive.
    #[error("cannot be assigned here")]
    NotAssignable,
    /// Some path through `update` assigns it, another does not.
    #[error("keeps its value on some path through `update`: a latch")]
    Latch,
    /// Nothing assigns it.
    #[error("never assigned")]
    Undriven,
    /// A clock that is not a plain signal.
    #[error("a clock must be a plain signal")]
    ClockExpression,
    /// A local signal is read, inside a slice, cast or dynamic index, between two assignments.
    #[error(
        "read between two of its assignments, and inside an expression that needs a separate wire"
    )]
    OrderedHoist,
    /// A child's input is read in the block of statements that assigns it.
    #[error("a child's input is read in the statement that assigns it")]
    ReadsOwnInput,
    /// A port of the top module, or of custom Verilog, is a reserved word.
    #[error("port name is a reserved word of Verilog")]
    Keyword,
    /// Two ports get one Verilog name.
    #[error("two ports have the Verilog name `{name}`")]
    NameCollision {
        /// The common name.
        name: String,
    },
    /// A name with characters that a Verilog identifier cannot have.
    #[error("not a Verilog identifier")]
    BadIdentifier,
}

impl Problem {
    fn hint(&self) -> &'static str {
        use Problem::*;
        match self {
            Open | Undriven => {
                "assign it in `update`, and call `connect_all()` on the design before `emit`"
            }
            LogicLoop => "move the assignment before the first read, or break the loop with a DFF",
            WritesInput => "assign it in the parent, or make it an output",
            UnknownName => {
                "constants and const generics are invisible in rust-hdl's AST: \
                 use a field `Constant<Bits<N>>`, a literal, or a state of a `LogicState` enum"
            }
            AmbiguousState => "rename one of the enums",
            DynamicIndex { .. } => {
                "unroll it: `for i in 0..4 { if sel == i.to_bits() { … a[i] … } }`, \
                 with literal bounds in index arithmetic"
            }
            AmbiguousIndex => {
                "assign the index to a local signal of the right width first, and index with that"
            }
            IndexOutOfRange { .. } => "rust-hdl would panic there; correct the index",
            Width { .. } => "make widths equal with `bit_cast::<TO, FROM>`",
            LiteralTooWide { .. } => "rust-hdl would panic there; correct the literal",
            UntypedLiteral => "give it a width with `bits::<N>(…)`",
            NegativeConstant => "correct the constant arithmetic",
            Signed => "use `Bits` and write the sign handling out",
            Bidirectional => "split it into an input and an output",
            ZeroWidth => "an enum needs two states, `Bits<N>` one bit",
            NoVerilog { .. } => "give the block a `#[hdl_gen] fn update` or `Verilog::Custom` text",
            NotAssignable => "assign outputs, local signals and inputs of children only",
            Latch => "give it a default at the top of `update`",
            ClockExpression => "connect the clock to an input, or to an output of a child",
            OrderedHoist => "use a second local signal for the intermediate value",
            ReadsOwnInput => "put the value in a local signal, and read that",
            Keyword | NameCollision { .. } | BadIdentifier => "rename the field",
        }
    }
}
