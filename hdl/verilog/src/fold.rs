//! Expressions of constants, which linters would take for mistakes.
//!
//! A parameter that is zero makes `a & MASK` constant, and a comparison with
//! it constant as well; Verilator warns of such comparisons.

use num_bigint::BigUint;

use crate::ir::{BinaryOp, CompareOp, Direction, Expr, LogicalOp, Reduction, ones};

/// The expression, or its value if operands that are constant decide it.
pub(crate) fn fold(expr: Expr) -> Expr {
    let width = expr.width();
    match value(&expr) {
        Some(value) => Expr::constant(value & ones(width), width),
        None => expr,
    }
}

fn value(expr: &Expr) -> Option<BigUint> {
    match expr {
        Expr::Not(e) => Some(e.as_constant()? ^ ones(e.width())),
        Expr::Reduce(op, e) => {
            let bits = e.as_constant()?;
            Some(flag(match op {
                Reduction::And => *bits == ones(e.width()),
                Reduction::Or => *bits != BigUint::ZERO,
                Reduction::Xor => bits.count_ones() % 2 == 1,
            }))
        }
        Expr::Binary(op, l, r) => binary(*op, l, r),
        Expr::Compare(op, l, r) => compare(*op, l, r).map(flag),
        Expr::Logical(op, l, r) => logical(*op, l, r).map(flag),
        Expr::Shift(direction, l, r) => {
            let bits = l.as_constant()?;
            if *bits == BigUint::ZERO {
                return Some(BigUint::ZERO);
            }
            let by = u16::try_from(r.as_constant()?).ok()?;
            Some(match direction {
                Direction::Left => bits << by,
                Direction::Right => bits >> by,
            })
        }
        Expr::Select { .. } | Expr::BitAt { .. } | Expr::Const { .. } | Expr::Concat(_) => None,
    }
}

fn flag(value: bool) -> BigUint {
    u8::from(value).into()
}

fn binary(op: BinaryOp, l: &Expr, r: &Expr) -> Option<BigUint> {
    let is = |e: &Expr, value: &BigUint| e.as_constant() == Some(value);
    let absorbing = match op {
        BinaryOp::And | BinaryOp::Mul => Some(BigUint::ZERO),
        BinaryOp::Or => Some(ones(l.width())),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor => None,
    };
    if let Some(absorbing) = absorbing
        && (is(l, &absorbing) || is(r, &absorbing))
    {
        return Some(absorbing);
    }
    let (a, b) = (l.as_constant()?, r.as_constant()?);
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a + (ones(l.width()) + 1u8) - b,
        BinaryOp::Mul => a * b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
    })
}

fn compare(op: CompareOp, l: &Expr, r: &Expr) -> Option<bool> {
    let top = ones(l.width());
    let is_zero = |e: &Expr| e.as_constant() == Some(&BigUint::ZERO);
    let is_top = |e: &Expr| e.as_constant() == Some(&top);
    match op {
        CompareOp::Lt if is_zero(r) || is_top(l) => return Some(false),
        CompareOp::Gt if is_top(r) || is_zero(l) => return Some(false),
        CompareOp::Ge if is_zero(r) || is_top(l) => return Some(true),
        CompareOp::Le if is_top(r) || is_zero(l) => return Some(true),
        _ => {}
    }
    let (a, b) = (l.as_constant()?, r.as_constant()?);
    Some(match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    })
}

fn logical(op: LogicalOp, l: &Expr, r: &Expr) -> Option<bool> {
    let known = |e: &Expr| e.as_constant().map(|value| value.bit(0));
    match (op, known(l), known(r)) {
        (LogicalOp::And, Some(false), _) | (LogicalOp::And, _, Some(false)) => Some(false),
        (LogicalOp::Or, Some(true), _) | (LogicalOp::Or, _, Some(true)) => Some(true),
        (LogicalOp::And, Some(a), Some(b)) => Some(a && b),
        (LogicalOp::Or, Some(a), Some(b)) => Some(a || b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u32, width: usize) -> Box<Expr> {
        Box::new(Expr::constant(value, width))
    }

    fn signal(width: usize) -> Box<Expr> {
        Box::new(Expr::Select {
            signal: 0,
            low: 0,
            width,
        })
    }

    #[test]
    fn arithmetic_wraps_at_the_width() {
        let sub = Expr::Binary(BinaryOp::Sub, int(3, 8), int(5, 8));
        assert_eq!(fold(sub), *int(254, 8));
        let add = Expr::Binary(BinaryOp::Add, int(255, 8), int(2, 8));
        assert_eq!(fold(add), *int(1, 8));
        let shift = Expr::Shift(Direction::Left, int(0x81, 8), int(1, 1));
        assert_eq!(fold(shift), *int(2, 8));
        assert_eq!(fold(Expr::Not(int(0xF0, 8))), *int(0x0F, 8));
    }

    #[test]
    fn one_constant_can_decide() {
        assert_eq!(
            fold(Expr::Binary(BinaryOp::And, signal(8), int(0, 8))),
            *int(0, 8)
        );
        assert_eq!(
            fold(Expr::Binary(BinaryOp::Or, int(255, 8), signal(8))),
            *int(255, 8)
        );
        assert_eq!(
            fold(Expr::Compare(CompareOp::Ge, signal(8), int(0, 8))),
            Expr::bit(true)
        );
        assert_eq!(
            fold(Expr::Compare(CompareOp::Lt, int(255, 8), signal(8))),
            Expr::bit(false)
        );
    }

    #[test]
    fn others_stay() {
        for expr in [
            Expr::Binary(BinaryOp::And, signal(8), int(1, 8)),
            Expr::Compare(CompareOp::Lt, signal(8), int(255, 8)),
            Expr::Shift(Direction::Left, signal(8), int(9, 4)),
        ] {
            assert_eq!(fold(expr.clone()), expr);
        }
    }
}
