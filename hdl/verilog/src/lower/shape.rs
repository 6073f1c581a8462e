//! Widening, narrowing and selecting bits of expressions.
//!
//! Verilog selects bits of names only. Selections move down to the names
//! where that keeps the value; elsewhere the expression gets a wire.

use num_bigint::BigUint;

use super::Context;
use crate::fold::fold;
use crate::ir::{BinaryOp, Direction, Expr, ones};
use crate::signals::Role;

impl Context<'_> {
    /// The low `width` bits, or the value with zeros above it.
    pub(super) fn resize(&mut self, expr: Expr, width: usize) -> Expr {
        self.extract(expr, 0, width)
    }

    /// Bits `low..low + width`; zeros where the expression has no such bits.
    pub(super) fn extract(&mut self, expr: Expr, low: usize, width: usize) -> Expr {
        let has = expr.width();
        if low == 0 && width == has {
            return expr;
        }
        if low >= has || width == 0 {
            return Expr::constant(0u8, width);
        }
        if low + width > has {
            let part = self.extract(expr, low, has - low);
            return concat(vec![Expr::constant(0u8, width - (has - low)), part]);
        }
        match expr {
            Expr::Select {
                signal, low: from, ..
            } => Expr::Select {
                signal,
                low: from + low,
                width,
            },
            Expr::Const { value, .. } => Expr::constant((value >> low) & ones(width), width),
            Expr::Concat(parts) => {
                let mut picked = Vec::new();
                let mut at = 0;
                for part in parts.into_iter().rev() {
                    let end = at + part.width();
                    let (from, to) = (low.max(at), (low + width).min(end));
                    if from < to {
                        picked.push(self.extract(part, from - at, to - from));
                    }
                    at = end;
                }
                picked.reverse();
                concat(picked)
            }
            Expr::Not(e) => fold(Expr::Not(Box::new(self.extract(*e, low, width)))),
            Expr::Binary(op, l, r) if low == 0 || is_bitwise(op) => {
                let l = self.extract(*l, low, width);
                let r = self.extract(*r, low, width);
                fold(Expr::Binary(op, Box::new(l), Box::new(r)))
            }
            Expr::Shift(Direction::Right, e, by) if by.as_constant().is_some() => {
                let by = small(by.as_constant());
                let part = self.extract(*e, low + by, width);
                debug_assert_eq!(part.width(), width);
                part
            }
            Expr::Shift(Direction::Left, e, by) if by.as_constant().is_some() => {
                let by = small(by.as_constant());
                if low + width <= by {
                    return Expr::constant(0u8, width);
                }
                let zeros = by.saturating_sub(low);
                let part = self.extract(*e, low.saturating_sub(by), width - zeros);
                concat(vec![part, Expr::constant(0u8, zeros)])
            }
            Expr::Shift(Direction::Left, e, by) if low == 0 => {
                let e = self.extract(*e, 0, width);
                fold(Expr::Shift(Direction::Left, Box::new(e), by))
            }
            other => self.hoist(other, low, width),
        }
    }

    /// A wire of its own for some bits of an expression.
    pub(super) fn hoist(&mut self, source: Expr, low: usize, width: usize) -> Expr {
        let role = Role::Hoisted { source, low };
        let known = self
            .hoisted
            .iter()
            .find(|&&id| self.signals[id].role == role && self.signals[id].width == width);
        let signal = match (known, role) {
            (Some(&signal), _) => signal,
            (None, Role::Hoisted { source, low }) => {
                let name = format!(
                    "{}$bits",
                    if self.hint.is_empty() {
                        "test"
                    } else {
                        &self.hint
                    }
                );
                let signal = self.signals.add_hoisted(name, source, low, width);
                self.hoisted.push(signal);
                signal
            }
            (None, _) => unreachable!("the role was made above"),
        };
        Expr::Select {
            signal,
            low: 0,
            width,
        }
    }
}

fn is_bitwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
}

/// A shift amount; those beyond any width are all alike.
fn small(value: Option<&BigUint>) -> usize {
    value
        .and_then(|v| u32::try_from(v).ok())
        .unwrap_or(u32::MAX) as usize
}

/// Parts side by side, without empty ones, nested ones and neighbouring constants.
pub(super) fn concat(parts: Vec<Expr>) -> Expr {
    let mut flat: Vec<Expr> = Vec::new();
    let mut pending: Vec<Expr> = parts.into_iter().rev().collect();
    while let Some(part) = pending.pop() {
        match (flat.last_mut(), part) {
            (_, part) if part.width() == 0 => {}
            (_, Expr::Concat(inner)) => pending.extend(inner.into_iter().rev()),
            (
                Some(Expr::Const {
                    value: high,
                    width: high_width,
                    name: None,
                }),
                Expr::Const {
                    value,
                    width,
                    name: None,
                },
            ) => {
                *high = (std::mem::take(high) << width) | value;
                *high_width += width;
            }
            (_, part) => flat.push(part),
        }
    }
    match flat.len() {
        1 => flat.remove(0),
        _ => Expr::Concat(flat),
    }
}
