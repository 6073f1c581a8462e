//! Faults injected into emitted Verilog, to measure how good the tests are.
//!
//! A mutant is one small change of one statement: another operator, another constant, a condition turned around, an
//! assignment left out. Tests that still pass with a mutant do not look at the values that it changes.
//!
//! [`find`] lists the mutants of a module, as the back-end writes modules: a statement a line. [`schemata`] writes many
//! of them into the module at once, each with a comparison with a number that is read when the simulation begins, so
//! that one compilation serves all. [`apply`] writes a single one, for tools without such numbers.
//!
//! The same statement is in the modules of several builds, with other widths and constants. A mutant's number is a hash
//! of the statement without its digits, and of how often the module had it before: it is the same in all of them.

use std::collections::{BTreeMap, BTreeSet};

/// The variable of the environment that has the number of the mutant, for a simulation of [`schemata`].
pub const SELECT: &str = "PEERLANE_MUTANT";

/// Kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An operator is another one.
    Operator,
    /// The lowest bit of a constant is turned around.
    Constant,
    /// A condition is turned around.
    Condition,
    /// An assignment is left out.
    Dropped,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Constant => "constant",
            Self::Condition => "condition",
            Self::Dropped => "dropped",
        }
    }
}

/// One change of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The number that selects it.
    pub number: u32,
    /// The kind of change.
    pub kind: Kind,
    /// The line of the module, from 0.
    pub line: usize,
    /// The statement as it is.
    pub before: String,
    /// As it becomes; empty where it is left out.
    pub after: String,
}

/// A statement that can be mutated.
enum Statement<'a> {
    /// `assign target = value;`, or one in a block: the text before the value, and the value.
    Assignment {
        target: &'a str,
        value: &'a str,
        /// In a block, and not the first there: without it the block still gives its target a value.
        may_drop: bool,
    },
    /// `if (condition) begin`, with the text before and after the condition.
    If {
        before: &'a str,
        condition: &'a str,
        behind: &'a str,
    },
}

/// State of a block, from its lines so far.
#[derive(Default)]
struct Place<'a> {
    combinational: bool,
    clocked: bool,
    assigned: BTreeSet<&'a str>,
}

impl<'a> Place<'a> {
    /// Returns the statement that a line is.
    fn statement(&mut self, line: &'a str) -> Option<Statement<'a>> {
        let code = line.trim_start();
        if code.starts_with("always @*") || code.starts_with("always @(posedge") {
            self.clocked = code.contains("posedge");
            self.combinational = !self.clocked;
            self.assigned.clear();
            return None;
        }
        if code.starts_with("//") || code.starts_with("localparam") {
            return None;
        }
        if line == "  end" {
            (self.combinational, self.clocked) = (false, false);
        }
        for opening in ["if (", "end else if ("] {
            if code.starts_with(opening) {
                let from = line.len() - code.len() + opening.len();
                let to = line.rfind(") begin")?;
                return Some(Statement::If {
                    before: &line[..from],
                    condition: &line[from..to],
                    behind: &line[to..],
                });
            }
        }
        let body = line.strip_suffix(';')?;
        if let Some(rest) = code.strip_prefix("assign ") {
            let at = rest.find(" = ")? + line.len() - rest.len() + 3;
            return Some(Statement::Assignment {
                target: &line[..at],
                value: &body[at..],
                may_drop: false,
            });
        }
        if !self.combinational && !self.clocked {
            return None;
        }
        let sign = if self.clocked { " <= " } else { " = " };
        let at = line.find(sign)?;
        let name = line[..at].trim_start();
        let again = !self.assigned.insert(name);
        Some(Statement::Assignment {
            target: &line[..at + sign.len()],
            value: &body[at + sign.len()..],
            may_drop: self.clocked || again,
        })
    }
}

/// Operators and their replacements. With blanks around, as the back-end writes operators between two operands.
const OPERATORS: [(&str, &str); 12] = [
    (" & ", " | "),
    (" | ", " & "),
    (" ^ ", " | "),
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" + ", " - "),
    (" - ", " + "),
    (" << ", " >> "),
];

/// Operators before one operand, and their replacements.
const PREFIXES: [(&str, &str); 5] = [
    ("(~", "("),
    ("(|", "(&"),
    ("(&", "(|"),
    ("~", ""),
    ("|", "&"),
];

/// Returns all changes of an expression.
fn changes(expression: &str) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let mut put = |kind, from: usize, old: usize, new: &str| {
        let (left, right) = (&expression[..from], &expression[from + old..]);
        found.push((kind, format!("{left}{new}{right}")));
    };
    for (at, _) in expression.char_indices() {
        let rest = &expression[at..];
        if let Some((old, new)) = OPERATORS.iter().find(|(old, _)| rest.starts_with(old)) {
            put(Kind::Operator, at, old.len(), new);
        }
        // The last two are at the beginning only: elsewhere they follow a parenthesis, or are operators.
        let prefixes = &PREFIXES[..if at == 0 { 5 } else { 3 }];
        if let Some((old, new)) = prefixes.iter().find(|(old, _)| rest.starts_with(old)) {
            put(Kind::Operator, at, old.len(), new);
        }
        let literal = ["'d", "'h", "'b"].iter().any(|base| rest.starts_with(base));
        if literal {
            let digits: String = rest[2..]
                .chars()
                .take_while(char::is_ascii_hexdigit)
                .collect();
            let last = digits.chars().last().and_then(|digit| digit.to_digit(16));
            if let Some(other) = last.and_then(|digit| char::from_digit(digit ^ 1, 16)) {
                put(Kind::Constant, at + 1 + digits.len(), 1, &other.to_string());
            }
        }
    }
    found
}

/// Computes the hash FNV-1a.
fn hash(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811C_9DC5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Returns the mutants of a module, in the order of its lines.
pub fn find(name: &str, verilog: &str) -> Vec<Mutant> {
    let mut place = Place::default();
    let mut before: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, line) in verilog.lines().enumerate() {
        let Some(statement) = place.statement(line) else {
            continue;
        };
        let bare: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
        let times = before.entry(bare.clone()).or_default();
        *times += 1;
        let mut nth: BTreeMap<Kind, usize> = BTreeMap::new();
        let mut push = |kind: Kind, after: String| {
            let index = nth.entry(kind).or_default();
            *index += 1;
            let place = format!("{times} {} {index}", kind.name());
            found.push(Mutant {
                number: hash(&[name, &bare, &place]),
                kind,
                line: number,
                before: line.trim().to_owned(),
                after: after.trim().to_owned(),
            });
        };
        match statement {
            Statement::Assignment {
                target,
                value,
                may_drop,
            } => {
                for (kind, value) in changes(value) {
                    push(kind, format!("{target}{value};"));
                }
                if may_drop {
                    push(Kind::Dropped, String::new());
                }
            }
            Statement::If {
                before,
                condition,
                behind,
            } => {
                for (kind, condition) in changes(condition) {
                    push(kind, format!("{before}{condition}{behind}"));
                }
                push(Kind::Condition, format!("{before}!({condition}){behind}"));
            }
        }
    }
    found
}

/// Returns a module with a single mutant, if it has that.
pub fn apply(name: &str, verilog: &str, number: u32) -> Option<String> {
    let mutant = find(name, verilog)
        .into_iter()
        .find(|m| m.number == number)?;
    let mut text = String::new();
    for (index, line) in verilog.lines().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if index != mutant.line {
            text += line;
        } else if !mutant.after.is_empty() {
            text += indent;
            text += &mutant.after;
        }
        text += "\n";
    }
    Some(text)
}

/// Returns a module that behaves as one of these mutants of its own, where a simulation by Verilator begins with the
/// number in the environment ([`SELECT`]), and else as it is. Without one of the mutants it is the module itself.
pub fn schemata(name: &str, verilog: &str, numbers: &BTreeSet<u32>) -> String {
    let mut mutants: BTreeMap<usize, Vec<Mutant>> = BTreeMap::new();
    for mutant in find(name, verilog) {
        if numbers.contains(&mutant.number) {
            mutants.entry(mutant.line).or_default().push(mutant);
        }
    }
    if mutants.is_empty() {
        return verilog.to_owned();
    }
    let mut place = Place::default();
    let mut text = String::new();
    for (index, line) in verilog.lines().enumerate() {
        let statement = place.statement(line);
        match (statement, mutants.get(&index)) {
            (Some(statement), Some(mutants)) => text += &switched(&statement, mutants),
            _ => text += line,
        }
        text += "\n";
        if line == ");" {
            text += &format!(
                "  reg [31:0] mutant_selected;\n  initial mutant_selected = \
                 $c32(\"(std::getenv(\\\"{SELECT}\\\") ? std::strtoul(std::getenv(\\\"{SELECT}\\\"), nullptr, 10) : 0)\");\n"
            );
        }
    }
    text
}

/// Returns a statement that is one of its mutants where that is selected.
fn switched(statement: &Statement<'_>, mutants: &[Mutant]) -> String {
    // A choice between the mutants' texts in the place of an expression, which is between these two texts.
    let choice = |before: &str, expression: &str, behind: &str| {
        let mut text = String::new();
        for mutant in mutants.iter().filter(|mutant| mutant.kind != Kind::Dropped) {
            let other = mutant.after.strip_prefix(before.trim_start());
            let other = other.and_then(|rest| rest.strip_suffix(behind));
            let other = other.expect("a mutant of this statement");
            text += &format!("(mutant_selected == 32'd{}) ? ({other}) : ", mutant.number);
        }
        format!("{text}({expression})")
    };
    match statement {
        Statement::Assignment { target, value, .. } => {
            let line = format!("{target}{};", choice(target, value, ";"));
            match mutants.iter().find(|mutant| mutant.kind == Kind::Dropped) {
                Some(dropped) => format!("if (mutant_selected != 32'd{}) {line}", dropped.number),
                None => line,
            }
        }
        Statement::If {
            before,
            condition,
            behind,
        } => format!("{before}{}{behind}", choice(before, condition, behind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "module m (
  input  wire clock,
  output reg  q
);

  localparam [1:0] two = 2'd2;
  // a & b
  wire a;
  reg b;
  reg q_d;

  assign a = (~b) & (q == 1'b1);

  always @* begin
    b = q;
    if (a | b) begin
      b = 1'b0;
    end
  end

  always @(posedge clock) begin
    q <= q_d;
  end
endmodule
";

    fn afters(kind: Kind) -> Vec<String> {
        let found = find("m", MODULE).into_iter();
        found.filter(|m| m.kind == kind).map(|m| m.after).collect()
    }

    #[test]
    fn each_kind_is_found_where_it_can_be() {
        assert_eq!(
            afters(Kind::Operator),
            [
                "assign a = (b) & (q == 1'b1);",
                "assign a = (~b) | (q == 1'b1);",
                "assign a = (~b) & (q != 1'b1);",
                "if (a & b) begin",
            ]
        );
        assert_eq!(
            afters(Kind::Constant),
            ["assign a = (~b) & (q == 1'b0);", "b = 1'b1;"]
        );
        assert_eq!(afters(Kind::Condition), ["if (!(a | b)) begin"]);
        // Without the first of a block `b` would be a latch.
        let dropped = find("m", MODULE);
        let dropped = dropped.iter().filter(|m| m.kind == Kind::Dropped);
        let lines: Vec<_> = dropped.map(|m| m.before.as_str()).collect();
        assert_eq!(lines, ["b = 1'b0;", "q <= q_d;"]);
    }

    #[test]
    fn numbers_differ_and_are_those_of_other_widths() {
        let found = find("m", MODULE);
        let numbers: BTreeSet<u32> = found.iter().map(|m| m.number).collect();
        assert_eq!(numbers.len(), found.len());
        let wider = MODULE.replace("1'b", "12'b");
        let others: BTreeSet<u32> = find("m", &wider).iter().map(|m| m.number).collect();
        assert_eq!(numbers, others);
        assert!(
            find("n", MODULE)
                .iter()
                .all(|m| !numbers.contains(&m.number))
        );
    }

    #[test]
    fn a_single_one_changes_its_line_only() {
        for mutant in find("m", MODULE) {
            let text = apply("m", MODULE, mutant.number).unwrap();
            let lines = MODULE.lines().zip(text.lines());
            let changed: Vec<_> = lines.filter(|(old, new)| old != new).collect();
            assert_eq!(changed.len(), 1, "{mutant:?}");
            assert_eq!(changed[0].0.trim(), mutant.before);
            assert_eq!(changed[0].1.trim(), mutant.after);
        }
        assert_eq!(apply("m", MODULE, 0), None);
    }

    #[test]
    fn all_stand_in_one_module_behind_their_numbers() {
        let found = find("m", MODULE);
        let all: BTreeSet<u32> = found.iter().map(|m| m.number).collect();
        let text = schemata("m", MODULE, &all);
        for number in &all {
            assert_eq!(text.matches(&format!("32'd{number})")).count(), 1);
        }
        assert!(text.contains(" ? ((~b) | (q == 1'b1)) : "), "{text}");
        assert_eq!(schemata("m", MODULE, &BTreeSet::new()), MODULE);
    }
}
