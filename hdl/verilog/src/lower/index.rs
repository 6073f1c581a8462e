//! Bit indices and offsets: `usize` in Rust.
//!
//! The macro drops `.index()`, so that the AST of `x.val().index() + 1`, which
//! does not wrap, is that of `(x.val() + 1).index()`, which wraps at the width
//! of `x`. Where the two differ, the emitter refuses.

use num_bigint::BigUint;
use peerlane_language::ast::{VerilogExpression as Ast, VerilogOp};

use super::Context;
use super::expr::Value;
use super::shape::concat;
use crate::error::{EmitError, Problem};
use crate::ir::{BinaryOp, Direction, Expr};

pub(super) enum Index {
    Known(usize),
    Dynamic(Expr),
}

impl Context<'_> {
    pub(super) fn index(&mut self, ast: &Ast) -> Result<Index, EmitError> {
        match self.index_value(ast)? {
            Value::Int { value, .. } => {
                let problem = || Problem::IndexOutOfRange {
                    index: usize::MAX,
                    width: 0,
                };
                usize::try_from(&value)
                    .map(Index::Known)
                    .map_err(|_| self.error_here(problem()))
            }
            Value::Typed(Expr::Const { value, .. }) => {
                let index = u32::try_from(&value).unwrap_or(u32::MAX) as usize;
                Ok(Index::Known(index))
            }
            Value::Typed(expr) => Ok(Index::Dynamic(expr)),
        }
    }

    fn index_value(&mut self, ast: &Ast) -> Result<Value, EmitError> {
        match ast {
            Ast::Paren(inner) => self.index_value(inner),
            Ast::Binary(
                l,
                op @ (VerilogOp::Add | VerilogOp::Sub | VerilogOp::Mul | VerilogOp::Shl),
                r,
            ) => {
                let is_usize = self.is_usize(l) || self.is_usize(r);
                let (left, right) = (self.index_value(l)?, self.index_value(r)?);
                match (left, right) {
                    (Value::Int { .. }, Value::Int { .. }) => self.value(ast),
                    (l, r) if is_usize || matches!(op, VerilogOp::Mul) => self.exact(op, l, r),
                    _ => Err(self.error_here(Problem::AmbiguousIndex)),
                }
            }
            _ => self.value(ast),
        }
    }

    /// True if Rust's types allow `usize` arithmetic only.
    fn is_usize(&self, ast: &Ast) -> bool {
        match ast {
            Ast::Paren(inner) => self.is_usize(inner),
            Ast::Signal(name) => self.loop_value(name).is_some(),
            Ast::Binary(l, VerilogOp::Mul, r) => {
                // `Bits` has a product of two `Bits<16>` only, none with an integer.
                let is_literal = |e: &Ast| matches!(e, Ast::Literal(_));
                is_literal(l) || is_literal(r) || self.is_usize(l) || self.is_usize(r)
            }
            Ast::Binary(l, _, r) => self.is_usize(l) || self.is_usize(r),
            _ => false,
        }
    }

    /// Arithmetic that does not wrap.
    fn exact(&mut self, op: &VerilogOp, l: Value, r: Value) -> Result<Value, EmitError> {
        let (l, r) = (self.sized(l), self.sized(r));
        let (left, right) = (l.width(), r.width());
        let expr = match op {
            VerilogOp::Shl => {
                let Some(by) = r.as_constant().and_then(|v| u16::try_from(v).ok()) else {
                    return Err(self.error_here(Problem::AmbiguousIndex));
                };
                concat(vec![l, Expr::constant(0u8, usize::from(by))])
            }
            VerilogOp::Mul => match power_of_two(&l)
                .map(|by| (r.clone(), by))
                .or_else(|| power_of_two(&r).map(|by| (l.clone(), by)))
            {
                Some((other, by)) => concat(vec![other, Expr::constant(0u8, by)]),
                None => self.exact_binary(BinaryOp::Mul, l, r, left + right),
            },
            VerilogOp::Add => self.exact_binary(BinaryOp::Add, l, r, left.max(right) + 1),
            // Rust panics below zero.
            _ => self.exact_binary(BinaryOp::Sub, l, r, left.max(right)),
        };
        Ok(Value::Typed(expr))
    }

    fn exact_binary(&mut self, op: BinaryOp, l: Expr, r: Expr, width: usize) -> Expr {
        let (l, r) = (self.resize(l, width), self.resize(r, width));
        Expr::Binary(op, Box::new(l), Box::new(r))
    }

    /// An integer takes the bits that it needs.
    fn sized(&self, value: Value) -> Expr {
        match value {
            Value::Typed(expr) => expr,
            Value::Int { value, .. } => minimal(value),
        }
    }

    /// The bit of `base` that the index addresses.
    pub(super) fn bit_at(&mut self, base: Expr, index: Index) -> Result<Expr, EmitError> {
        let width = base.width();
        match index {
            Index::Known(index) if index < width => Ok(self.extract(base, index, 1)),
            Index::Known(index) => Err(self.error_here(Problem::IndexOutOfRange { index, width })),
            Index::Dynamic(index) => {
                let reachable = 1usize
                    .checked_shl(index.width() as u32)
                    .unwrap_or(usize::MAX);
                match self.signals.as_whole(&base) {
                    Some(signal) if width > 1 && reachable <= width => {
                        let bits = width.next_power_of_two().trailing_zeros() as usize;
                        let index = Box::new(self.resize(index, bits));
                        Ok(Expr::BitAt { signal, index })
                    }
                    _ => Ok(self.shifted(base, index, 1)),
                }
            }
        }
    }

    /// `width` bits of `base` from the index up, zeros where it has none.
    pub(super) fn bits_at(
        &mut self,
        base: Expr,
        index: Index,
        width: usize,
    ) -> Result<Expr, EmitError> {
        match index {
            Index::Known(index) if index <= base.width() => Ok(self.extract(base, index, width)),
            Index::Known(index) => Err(self.error_here(Problem::IndexOutOfRange {
                index,
                width: base.width(),
            })),
            Index::Dynamic(index) => Ok(self.shifted(base, index, width)),
        }
    }

    fn shifted(&mut self, base: Expr, by: Expr, width: usize) -> Expr {
        let shifted = Expr::Shift(Direction::Right, Box::new(base), Box::new(by));
        self.extract(shifted, 0, width)
    }

    /// `base` with one bit replaced.
    pub(super) fn replace_bit(
        &mut self,
        base: Expr,
        index: Index,
        bit: Expr,
    ) -> Result<Expr, EmitError> {
        let width = base.width();
        match index {
            Index::Known(index) if index < width => {
                let high = self.extract(base.clone(), index + 1, width - index - 1);
                let low = self.extract(base, 0, index);
                Ok(concat(vec![high, bit, low]))
            }
            Index::Known(index) => Err(self.error_here(Problem::IndexOutOfRange { index, width })),
            Index::Dynamic(by) => {
                let at = |expr: Expr, by: &Expr| {
                    Box::new(Expr::Shift(
                        Direction::Left,
                        Box::new(expr),
                        Box::new(by.clone()),
                    ))
                };
                let mask = Expr::Not(at(Expr::constant(1u8, width), &by));
                let kept = Expr::Binary(BinaryOp::And, Box::new(base), Box::new(mask));
                let bit = at(self.resize(bit, width), &by);
                Ok(Expr::Binary(BinaryOp::Or, Box::new(kept), bit))
            }
        }
    }
}

fn minimal(value: BigUint) -> Expr {
    let width = value.bits().max(1) as usize;
    Expr::constant(value, width)
}

fn power_of_two(expr: &Expr) -> Option<usize> {
    let value = expr.as_constant()?;
    (value.count_ones() == 1).then(|| value.trailing_zeros().unwrap_or(0) as usize)
}
