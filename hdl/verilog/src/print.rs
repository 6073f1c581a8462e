//! Text of expressions and statements.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use crate::ir::{
    BinaryOp, CompareOp, ConstName, Direction, Expr, LogicalOp, Reduction, SignalId, Stmt,
};
use crate::schedule::Item;
use crate::signals::Signals;

/// The Verilog names of one module.
pub(crate) struct Printer<'a> {
    pub signals: &'a Signals,
    pub names: &'a [String],
    pub constants: &'a BTreeMap<ConstName, String>,
}

/// A constant with its width: decimal while small, hexadecimal otherwise.
pub(crate) fn literal(value: &BigUint, width: usize) -> String {
    if width == 1 {
        format!("1'b{value}")
    } else if value < &BigUint::from(10u8) {
        format!("{width}'d{value}")
    } else {
        format!("{width}'h{value:x}")
    }
}

/// `[7:0] ` in a declaration; nothing for one bit.
pub(crate) fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}

impl Printer<'_> {
    /// The expression, without parentheses around it.
    pub fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Select { signal, low, width } => self.select(*signal, *low, *width),
            Expr::BitAt { signal, index } => {
                format!("{}[{}]", self.names[*signal], self.expr(index))
            }
            Expr::Const { value, width, name } => match name {
                Some(name) => self.constants[name].clone(),
                None => literal(value, *width),
            },
            Expr::Concat(parts) => {
                let parts: Vec<_> = parts.iter().map(|p| self.expr(p)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Expr::Not(e) => format!("~{}", self.operand(e)),
            Expr::Reduce(op, e) => {
                let op = match op {
                    Reduction::And => "&",
                    Reduction::Or => "|",
                    Reduction::Xor => "^",
                };
                format!("{op}{}", self.operand(e))
            }
            Expr::Binary(op, l, r) => {
                let op = match op {
                    BinaryOp::Add => "+",
                    BinaryOp::Sub => "-",
                    BinaryOp::Mul => "*",
                    BinaryOp::And => "&",
                    BinaryOp::Or => "|",
                    BinaryOp::Xor => "^",
                };
                self.infix(l, op, r)
            }
            Expr::Compare(op, l, r) => {
                let op = match op {
                    CompareOp::Eq => "==",
                    CompareOp::Ne => "!=",
                    CompareOp::Lt => "<",
                    CompareOp::Le => "<=",
                    CompareOp::Gt => ">",
                    CompareOp::Ge => ">=",
                };
                self.infix(l, op, r)
            }
            Expr::Logical(LogicalOp::And, l, r) => self.infix(l, "&&", r),
            Expr::Logical(LogicalOp::Or, l, r) => self.infix(l, "||", r),
            Expr::Shift(Direction::Left, l, r) => self.infix(l, "<<", r),
            Expr::Shift(Direction::Right, l, r) => self.infix(l, ">>", r),
        }
    }

    fn infix(&self, l: &Expr, op: &str, r: &Expr) -> String {
        format!("{} {op} {}", self.operand(l), self.operand(r))
    }

    fn operand(&self, expr: &Expr) -> String {
        let text = self.expr(expr);
        match expr {
            Expr::Select { .. } | Expr::BitAt { .. } | Expr::Const { .. } | Expr::Concat(_) => text,
            _ => format!("({text})"),
        }
    }

    pub fn select(&self, signal: SignalId, low: usize, width: usize) -> String {
        let name = &self.names[signal];
        if width == self.signals[signal].width {
            name.clone()
        } else if width == 1 {
            format!("{name}[{low}]")
        } else {
            format!("{name}[{}:{low}]", low + width - 1)
        }
    }

    /// The statements of an `always @*` block.
    pub fn items(&self, items: &[Item], out: &mut String) {
        for item in items {
            for text in &item.comments {
                line(out, 2, &format!("// {text}"));
            }
            self.statement(&item.statement, 2, out);
        }
    }

    fn statements(&self, statements: &[Stmt], depth: usize, out: &mut String) {
        statements
            .iter()
            .for_each(|s| self.statement(s, depth, out));
    }

    fn statement(&self, statement: &Stmt, depth: usize, out: &mut String) {
        match statement {
            Stmt::Assign {
                target,
                low,
                width,
                value,
            } => {
                let target = self.select(*target, *low, *width);
                line(out, depth, &format!("{target} = {};", self.expr(value)));
            }
            Stmt::If { .. } => self.conditional(statement, "if", depth, out),
            Stmt::Case {
                test,
                arms,
                default,
                recovers,
            } => {
                line(out, depth, &format!("case ({})", self.expr(test)));
                for (label, body) in arms {
                    self.arm(&self.expr(label), body, depth + 1, out);
                }
                if *recovers {
                    // On one line: tools that count the statements that a simulation can reach skip it.
                    let mut body = String::new();
                    self.statements(default, 0, &mut body);
                    line(out, depth + 1, &format!("default: {}", body.trim_end()));
                } else {
                    self.arm("default", default, depth + 1, out);
                }
                line(out, depth, "endcase");
            }
            Stmt::Comment(text) => line(out, depth, &format!("// {text}")),
        }
    }

    fn arm(&self, label: &str, body: &[Stmt], depth: usize, out: &mut String) {
        line(out, depth, &format!("{label}: begin"));
        self.statements(body, depth + 1, out);
        line(out, depth, "end");
    }

    fn conditional(&self, statement: &Stmt, keyword: &str, depth: usize, out: &mut String) {
        let Stmt::If {
            test,
            then,
            otherwise,
        } = statement
        else {
            return;
        };
        line(
            out,
            depth,
            &format!("{keyword} ({}) begin", self.expr(test)),
        );
        self.statements(then, depth + 1, out);
        match otherwise.as_slice() {
            [] => line(out, depth, "end"),
            [chained @ Stmt::If { .. }] => self.conditional(chained, "end else if", depth, out),
            body => {
                line(out, depth, "end else begin");
                self.statements(body, depth + 1, out);
                line(out, depth, "end");
            }
        }
    }
}

/// One line of text, indented.
pub(crate) fn line(out: &mut String, depth: usize, text: &str) {
    for _ in 0..depth {
        out.push_str("  ");
    }
    out.push_str(text);
    out.push('\n');
}
