//! Expressions.

use num_bigint::BigUint;
use peerlane_language::ast::{VerilogExpression as Ast, VerilogOp, VerilogOpUnary};

use super::Context;
use crate::custom::{literal_value, literal_width};
use crate::error::{EmitError, Problem};
use crate::fold::fold;
use crate::ir::{
    BinaryOp, CompareOp, ConstName, Direction, Expr, LogicalOp, Reduction, SignalId, ones,
};
use crate::names::flatten;
use crate::path;
use crate::signals::{Named, Role};

/// Bits of rust-hdl's integer literals in arithmetic (`LiteralType`).
const LITERAL_BITS: usize = 64;
/// Up to this width rust-hdl refuses a literal that does not fit; above, it cuts it.
const CHECKED_BITS: usize = 32;

/// An expression, or an integer that takes the width of its context.
pub(super) enum Value {
    Typed(Expr),
    Int {
        value: BigUint,
        /// A loop variable, `usize` in Rust, and not a literal.
        index: bool,
    },
}

impl Context<'_> {
    /// The expression in a place of that width.
    pub(super) fn typed(&mut self, ast: &Ast, width: usize) -> Result<Expr, EmitError> {
        let value = self.value(ast)?;
        self.coerce(value, width)
    }

    fn coerce(&self, value: Value, width: usize) -> Result<Expr, EmitError> {
        match value {
            Value::Typed(expr) if expr.width() == width => Ok(expr),
            Value::Typed(expr) => {
                let found = expr.width();
                Err(self.error_here(Problem::Width {
                    expected: width,
                    found,
                }))
            }
            Value::Int { value, index } => {
                if value <= ones(width) {
                    Ok(Expr::constant(value, width))
                } else if !index && width > CHECKED_BITS {
                    Ok(Expr::constant(value & ones(width), width))
                } else {
                    let literal = format!("{value:#x}");
                    Err(self.error_here(Problem::LiteralTooWide { literal, width }))
                }
            }
        }
    }

    /// The expression at its own width.
    pub(super) fn sized_by_itself(&mut self, ast: &Ast) -> Result<Expr, EmitError> {
        match self.value(ast)? {
            Value::Typed(expr) => Ok(expr),
            Value::Int { .. } => Err(self.error_here(Problem::UntypedLiteral)),
        }
    }

    pub(super) fn value(&mut self, ast: &Ast) -> Result<Value, EmitError> {
        let expr = match ast {
            Ast::Signal(name) => return self.named(name),
            Ast::Literal(literal) => {
                let value = literal_value(literal);
                if literal_width(literal) != 1 {
                    return Ok(Value::Int {
                        value,
                        index: false,
                    });
                }
                Expr::constant(value, 1)
            }
            Ast::Paren(inner) => return self.value(inner),
            Ast::Cast(inner, width) => {
                if *width == 0 {
                    return Err(self.error_here(Problem::ZeroWidth));
                }
                match self.value(inner)? {
                    Value::Typed(expr) => self.resize(expr, *width),
                    int => self.coerce(int, *width)?,
                }
            }
            Ast::Signed(_) | Ast::Unsigned(_) | Ast::Unary(VerilogOpUnary::Neg, _) => {
                return Err(self.error_here(Problem::Signed));
            }
            Ast::Unary(VerilogOpUnary::Not, inner) => match self.value(inner)? {
                Value::Typed(expr) => Expr::Not(Box::new(expr)),
                Value::Int { value, index } => {
                    return Ok(Value::Int {
                        value: value ^ ones(LITERAL_BITS),
                        index,
                    });
                }
            },
            Ast::Unary(op, inner) => {
                let reduction = match op {
                    VerilogOpUnary::All => Reduction::And,
                    VerilogOpUnary::Any => Reduction::Or,
                    _ => Reduction::Xor,
                };
                let operand = self.sized_by_itself(inner)?;
                Expr::Reduce(reduction, Box::new(operand))
            }
            Ast::Index(base, index) => {
                let base = self.sized_by_itself(base)?;
                let index = self.index(index)?;
                self.bit_at(base, index)?
            }
            Ast::Slice(base, width, offset) => {
                if *width == 0 {
                    return Err(self.error_here(Problem::ZeroWidth));
                }
                let base = self.sized_by_itself(base)?;
                let offset = self.index(offset)?;
                self.bits_at(base, offset, *width)?
            }
            Ast::IndexReplace(base, index, bit) => {
                let base = self.sized_by_itself(base)?;
                let index = self.index(index)?;
                let bit = self.typed(bit, 1)?;
                self.replace_bit(base, index, bit)?
            }
            Ast::Binary(l, op, r) => return self.binary(l, op, r),
        };
        Ok(Value::Typed(fold(expr)))
    }

    pub(super) fn loop_value(&self, name: &str) -> Option<usize> {
        self.loops
            .iter()
            .rev()
            .find(|(n, _)| n == name)
            .map(|(_, value)| *value)
    }

    fn named(&mut self, name: &str) -> Result<Value, EmitError> {
        if let Some(value) = self.loop_value(name) {
            return Ok(Value::Int {
                value: value.into(),
                index: true,
            });
        }
        let path = path::normalise(name, &self.loops).map_err(|p| self.error(name, p))?;
        match self.signals.find(&path).map_err(|p| self.error(&path, p))? {
            Some(Named::Bits { signal, low, width }) => {
                Ok(Value::Typed(self.read(signal, low, width)?))
            }
            Some(Named::State(state)) => Ok(Value::Typed(Expr::Const {
                value: state.value.into(),
                width: state.width,
                name: Some(ConstName(flatten(&state.name))),
            })),
            None => Err(self.error(&path, Problem::UnknownName)),
        }
    }

    fn read(&mut self, id: SignalId, low: usize, width: usize) -> Result<Expr, EmitError> {
        let signal = &self.signals[id];
        if signal.signed {
            return Err(self.error(&signal.name, Problem::Signed));
        }
        let Role::Constant(value) = &signal.role else {
            return Ok(Expr::Select {
                signal: id,
                low,
                width,
            });
        };
        let name = Some(ConstName(flatten(&signal.name)));
        let whole = Expr::Const {
            value: value.clone(),
            width: signal.width,
            name,
        };
        Ok(self.extract(whole, low, width))
    }

    fn binary(&mut self, l: &Ast, op: &VerilogOp, r: &Ast) -> Result<Value, EmitError> {
        let (l, r) = (self.value(l)?, self.value(r)?);
        if let (Value::Int { value: a, index: i }, Value::Int { value: b, index: j }) = (&l, &r) {
            return self.fold_integers(a, op, b, *i || *j);
        }
        let expr = match op {
            VerilogOp::Add => self.add(l, r)?,
            VerilogOp::Mul => {
                let (l, r) = self.equal(l, r)?;
                let width = 2 * l.width();
                let (l, r) = (self.resize(l, width), self.resize(r, width));
                Expr::Binary(BinaryOp::Mul, Box::new(l), Box::new(r))
            }
            VerilogOp::Sub => self.operation(BinaryOp::Sub, l, r)?,
            VerilogOp::BitAnd => self.operation(BinaryOp::And, l, r)?,
            VerilogOp::BitOr => self.operation(BinaryOp::Or, l, r)?,
            VerilogOp::BitXor => self.operation(BinaryOp::Xor, l, r)?,
            VerilogOp::LogicalAnd | VerilogOp::LogicalOr => {
                let (l, r) = (self.coerce(l, 1)?, self.coerce(r, 1)?);
                let op = if matches!(op, VerilogOp::LogicalAnd) {
                    LogicalOp::And
                } else {
                    LogicalOp::Or
                };
                Expr::Logical(op, Box::new(l), Box::new(r))
            }
            VerilogOp::Shl => self.shift(Direction::Left, l, r)?,
            VerilogOp::Shr => self.shift(Direction::Right, l, r)?,
            VerilogOp::Eq => self.compare(CompareOp::Eq, l, r)?,
            VerilogOp::Ne => self.compare(CompareOp::Ne, l, r)?,
            VerilogOp::Lt => self.compare(CompareOp::Lt, l, r)?,
            VerilogOp::Le => self.compare(CompareOp::Le, l, r)?,
            VerilogOp::Gt => self.compare(CompareOp::Gt, l, r)?,
            VerilogOp::Ge => self.compare(CompareOp::Ge, l, r)?,
        };
        Ok(Value::Typed(fold(expr)))
    }

    /// Brings an integer to the width of the other operand.
    fn equal(&self, l: Value, r: Value) -> Result<(Expr, Expr), EmitError> {
        match (l, r) {
            (Value::Typed(l), r) => {
                let r = self.coerce(r, l.width())?;
                Ok((l, r))
            }
            (l, Value::Typed(r)) => Ok((self.coerce(l, r.width())?, r)),
            (Value::Int { .. }, Value::Int { .. }) => Err(self.error_here(Problem::UntypedLiteral)),
        }
    }

    fn operation(&self, op: BinaryOp, l: Value, r: Value) -> Result<Expr, EmitError> {
        let (l, r) = self.equal(l, r)?;
        Ok(Expr::Binary(op, Box::new(l), Box::new(r)))
    }

    /// A `bool` can be added to any `Bits`.
    fn add(&mut self, l: Value, r: Value) -> Result<Expr, EmitError> {
        let r = match (&l, r) {
            (Value::Typed(l), Value::Typed(r)) if r.width() == 1 => {
                Value::Typed(self.resize(r, l.width()))
            }
            (_, r) => r,
        };
        self.operation(BinaryOp::Add, l, r)
    }

    fn shift(&mut self, direction: Direction, l: Value, r: Value) -> Result<Expr, EmitError> {
        let l = match l {
            Value::Typed(l) => l,
            literal => self.coerce(literal, LITERAL_BITS)?,
        };
        let width = l.width();
        let by = match r {
            Value::Typed(Expr::Const { value, .. }) | Value::Int { value, .. } => value,
            Value::Typed(by) => return Ok(Expr::Shift(direction, Box::new(l), Box::new(by))),
        };
        let Some(by) = usize::try_from(&by).ok().filter(|by| *by < width) else {
            return Ok(Expr::constant(0u8, width));
        };
        let amount = Expr::constant(by, BigUint::from(by).bits().max(1) as usize);
        Ok(Expr::Shift(direction, Box::new(l), Box::new(amount)))
    }

    fn compare(&mut self, op: CompareOp, l: Value, r: Value) -> Result<Expr, EmitError> {
        let (op, l, r) = match (l, r) {
            (Value::Typed(l), r) => (op, l, r),
            (l, Value::Typed(r)) => (mirrored(op), r, l),
            (Value::Int { .. }, Value::Int { .. }) => {
                return Err(self.error_here(Problem::UntypedLiteral));
            }
        };
        let top = ones(l.width());
        let r = match r {
            // No value of the left side reaches it.
            Value::Int { value, index: true } if value > top => {
                return Ok(Expr::bit(matches!(
                    op,
                    CompareOp::Ne | CompareOp::Lt | CompareOp::Le
                )));
            }
            r => self.coerce(r, l.width())?,
        };
        Ok(Expr::Compare(op, Box::new(l), Box::new(r)))
    }

    /// Arithmetic over literals and loop variables alone.
    fn fold_integers(
        &self,
        a: &BigUint,
        op: &VerilogOp,
        b: &BigUint,
        index: bool,
    ) -> Result<Value, EmitError> {
        let by = || u16::try_from(b).unwrap_or(u16::MAX);
        let value = match op {
            VerilogOp::Add => a + b,
            VerilogOp::Sub if a >= b => a - b,
            VerilogOp::Sub => return Err(self.error_here(Problem::NegativeConstant)),
            VerilogOp::Mul => a * b,
            VerilogOp::BitAnd => a & b,
            VerilogOp::BitOr => a | b,
            VerilogOp::BitXor => a ^ b,
            VerilogOp::Shl => a << by(),
            VerilogOp::Shr => a >> by(),
            VerilogOp::Eq => return Ok(Value::Typed(Expr::bit(a == b))),
            VerilogOp::Ne => return Ok(Value::Typed(Expr::bit(a != b))),
            VerilogOp::Lt => return Ok(Value::Typed(Expr::bit(a < b))),
            VerilogOp::Le => return Ok(Value::Typed(Expr::bit(a <= b))),
            VerilogOp::Gt => return Ok(Value::Typed(Expr::bit(a > b))),
            VerilogOp::Ge => return Ok(Value::Typed(Expr::bit(a >= b))),
            VerilogOp::LogicalAnd | VerilogOp::LogicalOr => {
                return Err(self.error_here(Problem::UntypedLiteral));
            }
        };
        Ok(Value::Int { value, index })
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq | CompareOp::Ne => op,
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Ge => CompareOp::Le,
    }
}
