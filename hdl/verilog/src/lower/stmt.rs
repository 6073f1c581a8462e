//! Statements: loops are unrolled, macros and links become assignments.

use peerlane_language::ast::{
    VerilogBlock, VerilogBlockOrConditional as Else, VerilogConditional, VerilogExpression as Ast,
    VerilogLink, VerilogLinkDetails, VerilogLoop, VerilogMatch, VerilogStatement,
};

use super::Context;
use super::shape::concat;
use crate::error::{EmitError, Problem};
use crate::ir::{ConstName, Expr, SignalId, Stmt};
use crate::names::flatten;
use crate::path;
use crate::signals::{Named, Role, reads};

impl Context<'_> {
    pub(super) fn block(&mut self, block: &VerilogBlock) -> Result<Vec<Stmt>, EmitError> {
        let mut out = Vec::new();
        for statement in block {
            self.statement(statement, &mut out)?;
        }
        Ok(self.whole_words(out))
    }

    /// Replaces assignments of all fields of a struct, one after another, by one assignment of the whole.
    fn whole_words(&self, statements: Vec<Stmt>) -> Vec<Stmt> {
        let mut out: Vec<Stmt> = Vec::new();
        let mut fields: Vec<Stmt> = Vec::new();
        for statement in statements {
            if target_of(&statement).is_none()
                || target_of(&statement) != fields.first().and_then(target_of)
            {
                out.extend(self.whole_word(std::mem::take(&mut fields)));
            }
            if target_of(&statement).is_some() {
                fields.push(statement);
            } else {
                out.push(statement);
            }
        }
        out.extend(self.whole_word(fields));
        out
    }

    /// Replaces assignments of a signal by one, if each of its bits is assigned once and none of them is read.
    fn whole_word(&self, fields: Vec<Stmt>) -> Vec<Stmt> {
        let mut parts = Vec::new();
        for field in &fields {
            if let Stmt::Assign {
                target, low, value, ..
            } = field
            {
                if reads(&self.signals, value).contains(target) {
                    return fields;
                }
                parts.push((*low, value.clone()));
            }
        }
        parts.sort_by_key(|(low, _)| *low);
        let mut end = 0;
        for (low, value) in &parts {
            if *low != end {
                return fields;
            }
            end += value.width();
        }
        match fields.first() {
            Some(Stmt::Assign { target, .. })
                if fields.len() > 1 && end == self.signals[*target].width =>
            {
                let parts = parts.into_iter().rev().map(|(_, value)| value).collect();
                vec![Stmt::Assign {
                    target: *target,
                    low: 0,
                    width: end,
                    value: concat(parts),
                }]
            }
            _ => fields,
        }
    }

    fn statement(
        &mut self,
        statement: &VerilogStatement,
        out: &mut Vec<Stmt>,
    ) -> Result<(), EmitError> {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                let (target, low, width) = self.target(target)?;
                let value = self.typed(value, width)?;
                out.push(Stmt::Assign {
                    target,
                    low,
                    width,
                    value,
                });
            }
            VerilogStatement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => {
                let (target, base, whole) = self.target(base)?;
                let low = match self.index(offset)? {
                    super::index::Index::Known(low) if low + width <= whole => base + low,
                    super::index::Index::Known(index) => {
                        let problem = Problem::IndexOutOfRange {
                            index,
                            width: whole,
                        };
                        return Err(self.error_here(problem));
                    }
                    super::index::Index::Dynamic(_) => {
                        return Err(self.error_here(Problem::AmbiguousIndex));
                    }
                };
                let value = self.typed(replacement, *width)?;
                out.push(Stmt::Assign {
                    target,
                    low,
                    width: *width,
                    value,
                });
            }
            VerilogStatement::If(conditional) => self.conditional(conditional, out)?,
            VerilogStatement::Match(m) => self.case(m, out)?,
            VerilogStatement::Loop(l) => self.unroll(l, out)?,
            VerilogStatement::Comment(text) => out.extend(comment(text)),
            VerilogStatement::Link(links) => {
                for link in links {
                    out.push(self.link(link)?);
                }
            }
            VerilogStatement::Macro(block) => out.extend(self.block(block)?),
        }
        Ok(())
    }

    /// Returns the signal that is assigned, and its bits.
    fn target(&mut self, target: &Ast) -> Result<(usize, usize, usize), EmitError> {
        let name = match target {
            Ast::Signal(name) => name,
            Ast::Paren(inner) => return self.target(inner),
            _ => return Err(self.error_here(Problem::NotAssignable)),
        };
        let path = path::normalise(name, &self.loops).map_err(|p| self.error(name, p))?;
        match self.signals.find(&path).map_err(|p| self.error(&path, p))? {
            Some(Named::Bits { signal, low, width }) => {
                let found = &self.signals[signal];
                if !found.is_assignable() {
                    return Err(self.error(&path, Problem::NotAssignable));
                }
                if found.signed {
                    return Err(self.error(&path, Problem::Signed));
                }
                self.hint = found.name.clone();
                Ok((signal, low, width))
            }
            Some(Named::State(_)) => Err(self.error(&path, Problem::NotAssignable)),
            None => Err(self.error(&path, Problem::UnknownName)),
        }
    }

    fn conditional(
        &mut self,
        c: &VerilogConditional,
        out: &mut Vec<Stmt>,
    ) -> Result<(), EmitError> {
        self.hint = String::new();
        let test = self.typed(&c.test, 1)?;
        let known = test.as_constant().map(|value| value.bit(0));
        let then = if known == Some(false) {
            Vec::new()
        } else {
            self.block(&c.then)?
        };
        let mut otherwise = Vec::new();
        if known != Some(true) {
            match &c.otherwise {
                Else::Block(block) => otherwise = self.block(block)?,
                Else::Conditional(statement) => self.statement(statement, &mut otherwise)?,
                Else::None => {}
            }
        }
        match known {
            Some(true) => out.extend(then),
            Some(false) => out.extend(otherwise),
            None if then.is_empty() && otherwise.is_empty() => {}
            None => out.push(Stmt::If {
                test,
                then,
                otherwise,
            }),
        }
        Ok(())
    }

    fn case(&mut self, m: &VerilogMatch, out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        self.hint = String::new();
        let test = self.sized_by_itself(&m.test)?;
        let mut arms = Vec::new();
        let mut default = None;
        for case in &m.cases {
            if case.condition == "default" {
                default = Some(self.block(&case.block)?);
                // Rust takes no later arm.
                break;
            }
            let label = self.label(&case.condition, test.width())?;
            arms.push((label, self.block(&case.block)?));
        }
        // Rust's `match` covers all states. In a register that is upset, values that are not states lead to its first
        // state; else the last arm can stand for them.
        let recovery = match default {
            None => self.recovery(&test),
            Some(_) => None,
        };
        let recovers = recovery.is_some();
        let default = match default.or(recovery) {
            Some(default) => default,
            None => arms.pop().map(|(_, body)| body).unwrap_or_default(),
        };
        if arms.is_empty() {
            out.extend(default);
        } else {
            out.push(Stmt::Case {
                test,
                arms,
                default,
                recovers,
            });
        }
        Ok(())
    }

    /// Returns the statements by which a register with illegal states leaves them: they give it its first value.
    fn recovery(&self, test: &Expr) -> Option<Vec<Stmt>> {
        let register = self.signals.as_whole(test)?;
        let Role::ChildOutput(child) = self.signals[register].role else {
            return None;
        };
        let child = &self.node.children[child];
        let initial = child.register.as_ref()?.initial.clone();
        let states = self.signals[register].states_with_spare_codes()?;
        let state = states.get(usize::try_from(&initial).ok()?)?;
        let Ok(Some(Named::Bits { signal, width, .. })) =
            self.signals.find(&format!("{}$d", child.name))
        else {
            return None;
        };
        let name = Some(ConstName(flatten(&state.replace("::", "$"))));
        Some(vec![Stmt::Assign {
            target: signal,
            low: 0,
            width,
            value: Expr::Const {
                value: initial,
                width,
                name,
            },
        }])
    }

    fn label(&mut self, condition: &str, width: usize) -> Result<Expr, EmitError> {
        let condition = condition.trim();
        match condition {
            "true" => return Ok(Expr::bit(true)),
            "false" => return Ok(Expr::bit(false)),
            _ => {}
        }
        let path = path::normalise(condition, &self.loops).map_err(|p| self.error(condition, p))?;
        let label = self.sized_by_itself(&Ast::Signal(path))?;
        if label.as_constant().is_none() {
            return Err(self.error(condition, Problem::UnknownName));
        }
        if label.width() != width {
            let problem = Problem::Width {
                expected: width,
                found: label.width(),
            };
            return Err(self.error(condition, problem));
        }
        Ok(label)
    }

    fn unroll(&mut self, l: &VerilogLoop, out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        for value in l.from.as_usize()..l.to.as_usize() {
            self.loops.push((l.index.clone(), value));
            let body = self.block(&l.block);
            self.loops.pop();
            out.extend(body?);
        }
        Ok(())
    }

    fn link(&mut self, link: &VerilogLink) -> Result<Stmt, EmitError> {
        let path = |end: &str, details: &VerilogLinkDetails| format!("{end}{}", details.my_name);
        let (to, from) = match link {
            VerilogLink::Forward(d) => (path(&d.other_name, d), path(&d.owner_name, d)),
            VerilogLink::Backward(d) => (path(&d.owner_name, d), path(&d.other_name, d)),
            VerilogLink::Bidirectional(d) => {
                return Err(self.error(&path(&d.owner_name, d), Problem::Bidirectional));
            }
        };
        let (target, low, width) = self.target(&Ast::Signal(to))?;
        let value = self.typed(&Ast::Signal(from), width)?;
        Ok(Stmt::Assign {
            target,
            low,
            width,
            value,
        })
    }
}

/// Returns the signal that a statement assigns.
fn target_of(statement: &Stmt) -> Option<SignalId> {
    match statement {
        Stmt::Assign { target, .. } => Some(*target),
        _ => None,
    }
}

/// The macro takes `comment ! ("` and `")` off the text of the invocation, or
/// less where rustc prints the invocation otherwise.
fn comment(text: &str) -> Option<Stmt> {
    let text = match text.split_once('"') {
        Some((_, text)) => text,
        None if text.contains('!') => return None,
        None => text,
    };
    let text = text.trim_end_matches([')', ' ']);
    let text = text.strip_suffix('"').unwrap_or(text).trim();
    (!text.is_empty()).then(|| Stmt::Comment(text.replace(['\n', '\r'], " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_all_shapes() {
        for text in [
            "A word.",
            "comment! (\"A word.",
            "comment ! (\"A word.\")",
            "comment! (\"A word.\")",
        ] {
            assert_eq!(
                comment(text),
                Some(Stmt::Comment("A word.".into())),
                "{text}"
            );
        }
        assert_eq!(comment("assert ! (self . x . val ())"), None);
        assert_eq!(comment(""), None);
    }
}
