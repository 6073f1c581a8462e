//! The typed form between rust-hdl's AST and the text.
//!
//! Every expression has a width of its own, and operands have the width of
//! their operator. Verilog extends operands to the width of their context
//! (IEEE 1364-2005, 5.4): as all widths are equal, nothing is ever extended.

use num_bigint::BigUint;

/// Index of a signal in the module's table.
pub(crate) type SignalId = usize;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    /// `width` bits of a signal, from bit `low` up.
    Select {
        signal: SignalId,
        low: usize,
        width: usize,
    },
    /// One bit at an index known at run time only, which always addresses a bit.
    BitAt {
        signal: SignalId,
        index: Box<Expr>,
    },
    /// A constant, by its name where it has one.
    Const {
        value: BigUint,
        width: usize,
        name: Option<ConstName>,
    },
    /// Parts side by side, the most significant first.
    Concat(Vec<Expr>),
    Not(Box<Expr>),
    Reduce(Reduction, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    Logical(LogicalOp, Box<Expr>, Box<Expr>),
    Shift(Direction, Box<Expr>, Box<Expr>),
}

/// A constant that the module declares as `localparam`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConstName(pub String);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reduction {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LogicalOp {
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Direction {
    Left,
    Right,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stmt {
    /// Bits `low..low + width` of the target take the value, which is as wide.
    Assign {
        target: SignalId,
        low: usize,
        width: usize,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// The last arm takes all values that no other arm names.
    Case {
        test: Expr,
        arms: Vec<(Expr, Vec<Stmt>)>,
        default: Vec<Stmt>,
        /// The values that no arm names are not states: the last arm is for a register that has been upset.
        recovers: bool,
    },
    Comment(String),
}

/// All ones in `width` bits.
pub(crate) fn ones(width: usize) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

impl Expr {
    pub fn constant(value: impl Into<BigUint>, width: usize) -> Expr {
        Expr::Const {
            value: value.into(),
            width,
            name: None,
        }
    }

    pub fn bit(value: bool) -> Expr {
        Expr::constant(u8::from(value), 1)
    }

    /// Width in bits.
    pub fn width(&self) -> usize {
        match self {
            Expr::Select { width, .. } | Expr::Const { width, .. } => *width,
            Expr::BitAt { .. } | Expr::Reduce(..) | Expr::Compare(..) | Expr::Logical(..) => 1,
            Expr::Concat(parts) => parts.iter().map(Expr::width).sum(),
            Expr::Not(e) | Expr::Binary(_, e, _) | Expr::Shift(_, e, _) => e.width(),
        }
    }

    /// The value, of a constant.
    pub fn as_constant(&self) -> Option<&BigUint> {
        match self {
            Expr::Const { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` with every selection of signal bits in the expression.
    pub fn for_each_select(&self, visit: &mut dyn FnMut(SignalId, Option<(usize, usize)>)) {
        match self {
            Expr::Select { signal, low, width } => visit(*signal, Some((*low, *width))),
            Expr::BitAt { signal, index } => {
                visit(*signal, None);
                index.for_each_select(visit);
            }
            Expr::Const { .. } => {}
            Expr::Concat(parts) => parts.iter().for_each(|p| p.for_each_select(visit)),
            Expr::Not(e) | Expr::Reduce(_, e) => e.for_each_select(visit),
            Expr::Binary(_, l, r)
            | Expr::Compare(_, l, r)
            | Expr::Logical(_, l, r)
            | Expr::Shift(_, l, r) => {
                l.for_each_select(visit);
                r.for_each_select(visit);
            }
        }
    }

    /// Calls `visit` with every constant in the expression.
    pub fn for_each_const(&self, visit: &mut dyn FnMut(&BigUint, usize, Option<&ConstName>)) {
        match self {
            Expr::Const { value, width, name } => visit(value, *width, name.as_ref()),
            Expr::Select { .. } => {}
            Expr::BitAt { index, .. } => index.for_each_const(visit),
            Expr::Concat(parts) => parts.iter().for_each(|p| p.for_each_const(visit)),
            Expr::Not(e) | Expr::Reduce(_, e) => e.for_each_const(visit),
            Expr::Binary(_, l, r)
            | Expr::Compare(_, l, r)
            | Expr::Logical(_, l, r)
            | Expr::Shift(_, l, r) => {
                l.for_each_const(visit);
                r.for_each_const(visit);
            }
        }
    }
}

impl Stmt {
    /// Calls `visit` with every expression of the statement, in the order of execution.
    pub fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Stmt::Assign { value, .. } => visit(value),
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                visit(test);
                then.iter()
                    .chain(otherwise)
                    .for_each(|s| s.for_each_expr(visit));
            }
            Stmt::Case {
                test,
                arms,
                default,
                ..
            } => {
                visit(test);
                for (label, body) in arms {
                    visit(label);
                    body.iter().for_each(|s| s.for_each_expr(visit));
                }
                default.iter().for_each(|s| s.for_each_expr(visit));
            }
            Stmt::Comment(_) => {}
        }
    }

    /// Calls `visit` with every target that the statement may assign.
    pub fn for_each_target(&self, visit: &mut dyn FnMut(SignalId)) {
        match self {
            Stmt::Assign { target, .. } => visit(*target),
            Stmt::If {
                then, otherwise, ..
            } => {
                then.iter()
                    .chain(otherwise)
                    .for_each(|s| s.for_each_target(visit));
            }
            Stmt::Case { arms, default, .. } => {
                let bodies = arms.iter().flat_map(|(_, body)| body).chain(default);
                bodies.for_each(|s| s.for_each_target(visit));
            }
            Stmt::Comment(_) => {}
        }
    }
}
