//! Blocks whose Verilog is text: flip-flops are recognised, ports of others are typed.

use std::collections::HashSet;

use num_bigint::BigUint;
use peerlane_language::{TimingInfo, Verilog, VerilogLiteral};

/// A D flip-flop: `q` takes `d` at the rising edge of `clock`.
pub(crate) struct Register {
    /// Value of `q` before the first edge.
    pub initial: BigUint,
}

/// The value of a literal of the AST, whose fields are private.
pub(crate) fn literal_value(literal: &VerilogLiteral) -> BigUint {
    let text = format!("{literal:x}");
    parse_literal(&text).unwrap_or_default()
}

/// Width of a literal of the AST; `bool` literals are the ones of one bit.
pub(crate) fn literal_width(literal: &VerilogLiteral) -> usize {
    let text = format!("{literal:x}");
    text.split_once('\'')
        .and_then(|(width, _)| width.parse().ok())
        .unwrap_or(0)
}

fn parse_literal(text: &str) -> Option<BigUint> {
    let (_, digits) = text.split_once("'h")?;
    BigUint::parse_bytes(digits.as_bytes(), 16)
}

/// Recognises the `DFF` of rust-hdl's widgets by its timing and its text.
pub(crate) fn register(code: &Verilog, timing: &[TimingInfo]) -> Option<Register> {
    let Verilog::Custom(text) = code else {
        return None;
    };
    let [info] = timing else { return None };
    if info.name != "dff" || info.inputs != ["d"] || info.outputs != ["q"] {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [
            "initial",
            "begin",
            "q",
            "=",
            initial,
            "end",
            "always",
            "@(posedge",
            "clock)",
            "begin",
            "q",
            "<=",
            "d;",
            "end",
        ] => Some(Register {
            initial: parse_literal(initial.trim_end_matches(';'))?,
        }),
        _ => None,
    }
}

/// The names that the text assigns in procedural code: such outputs are `reg`.
pub(crate) fn procedural_targets(text: &str) -> HashSet<String> {
    let tokens = tokens(text);
    let mut found = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let starts_statement = at == 0
            || matches!(
                tokens[at - 1].as_str(),
                ";" | ")" | ":" | "begin" | "end" | "else" | "endcase"
            );
        if !starts_statement || !is_identifier(token) {
            continue;
        }
        let mut next = at + 1;
        while tokens.get(next).is_some_and(|t| t == "[") {
            match closing(&tokens, next) {
                Some(close) => next = close + 1,
                None => return found,
            }
        }
        if tokens.get(next).is_some_and(|t| t == "=" || t == "<=") {
            found.insert(token.clone());
        }
    }
    found
}

/// True if the code has the name.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    tokens(text).iter().any(|token| token == name)
}

fn closing(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "[" => depth += 1,
            "]" => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Words, and operators that matter, without comments, strings and attributes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("(*") && !rest.starts_with("(*)") {
            rest.find("*)").map_or(rest.len(), |at| at + 2)
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |at| at + 2)
        } else {
            0
        };
        if skipped > 0 {
            rest = &rest[skipped..];
            continue;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '\'';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if ["<=", "==", "!=", ">="]
            .iter()
            .any(|op| rest.starts_with(op))
        {
            2
        } else {
            first.len_utf8()
        };
        let token = &rest[..length];
        if !token.trim().is_empty() {
            tokens.push(token.to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        let mut names: Vec<_> = procedural_targets(text).into_iter().collect();
        names.sort();
        names
    }

    #[test]
    fn finds_what_processes_assign() {
        let text = "reg [7:0] mem[3:0];\n// q = 1\nalways @(posedge clock) begin\n\
                    if (we <= 3) mem[a[1:0]] <= d;\n q <= mem[a];\nend\nassign w = q;";
        assert_eq!(targets(text), ["mem", "q"]);
    }

    #[test]
    fn comments_mention_nothing() {
        assert!(mentions("assign y = a & MASK;", "MASK"));
        assert!(!mentions("assign y = a; // MASK", "MASK"));
    }

    #[test]
    fn knows_case_arms_and_attributes() {
        let text = "(* ramstyle = \"no_rw_check\" *) reg x;\nalways @(*) case (a)\n 2'h1: y = 1;\n default: z = 0;\nendcase";
        assert_eq!(targets(text), ["y", "z"]);
    }
}
