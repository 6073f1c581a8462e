//! Reads a Verilog module's header: names, directions and widths of its ports, and the modules that it instantiates. It
//! does not depend on the generator: `peerlane check` must see the file as Quartus will.

use std::collections::BTreeMap;
use std::path::Path;

use crate::block::{Direction, Port};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};

/// Facts that are read from a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Name.
    pub name: String,
    /// Ports in the order of the header.
    pub ports: Vec<Port>,
    /// Kinds of the modules that it instantiates, with the number of instances.
    pub instances: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    line: usize,
}

/// Reads one module of a file.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] with the line, if the module is missing or its ports cannot be read.
pub fn module(path: &Path, text: &str, name: &str) -> Result<Module> {
    let tokens = tokens(text);
    let problem = |line: usize, what: String| {
        Error::new(
            ErrorKind::Inconsistent,
            Place::line(path, line),
            what,
            "Extend the vendor's BSP again, and do not edit the generated Verilog.",
        )
    };
    let start = tokens
        .windows(2)
        .position(|w| w[0].text == "module" && w[1].text == name)
        .ok_or_else(|| problem(1, format!("no module {name} in the file")))?;
    let end = tokens[start..]
        .iter()
        .position(|t| t.text == "endmodule")
        .map(|at| start + at)
        .ok_or_else(|| problem(tokens[start].line, format!("module {name} does not end")))?;
    let body = &tokens[start + 2..end];
    let ports =
        ports(body).map_err(|(line, what)| problem(line, format!("module {name}: {what}")))?;
    Ok(Module {
        name: name.into(),
        ports,
        instances: instances(body),
    })
}

/// Returns the line of the first instance of a kind in a file.
pub fn instantiation(text: &str, kind: &str) -> Option<usize> {
    let tokens = tokens(text);
    let at = |n: usize| {
        tokens
            .get(n)
            .map_or("", |token: &Token| token.text.as_str())
    };
    let is_instance = |n: usize| {
        // A module's own name is not an instance.
        let before = n.checked_sub(1).map_or("", at);
        let name = match at(n + 1) {
            "#" => past_parenthesis(&tokens, n + 2),
            _ => n + 1,
        };
        let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
        at(n) == kind && before != "module" && at(name).starts_with(begins) && at(name + 1) == "("
    };
    (0..tokens.len())
        .find(|&n| is_instance(n))
        .map(|n| tokens[n].line)
}

/// Splits a text into identifiers, numbers and single characters; comments, strings and attributes are dropped.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    while at < bytes.len() {
        let rest = &text[at..];
        let start = at;
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |n| n + 2);
        } else if rest.starts_with("(*") && !rest.starts_with("(*)") {
            at += rest.find("*)").map_or(rest.len(), |n| n + 2);
        } else if let Some(string) = rest.strip_prefix('"') {
            at += string.find('"').map_or(rest.len(), |n| n + 2);
        } else if word(bytes[at]) {
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
            found.push(Token {
                text: text[start..at].into(),
                line,
            });
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            at += c.len_utf8();
            if !c.is_whitespace() {
                found.push(Token {
                    text: c.into(),
                    line,
                });
            }
        }
        line += text[start..at].matches('\n').count();
    }
    found
}

/// Returns the position after the `)` that closes the parenthesis at `open`.
fn past_parenthesis(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return n + 1;
        }
    }
    tokens.len()
}

type Fault = (usize, String);

fn ports(body: &[Token]) -> Result<Vec<Port>, Fault> {
    let at = |n: usize| body.get(n).map_or("", |t| t.text.as_str());
    let mut open = 0;
    if at(0) == "#" {
        open = past_parenthesis(body, 1);
    }
    if at(open) == ";" {
        return Ok(Vec::new());
    }
    if at(open) != "(" {
        return Err((body.get(open).map_or(0, |t| t.line), "no port list".into()));
    }
    let close = past_parenthesis(body, open);
    // Empty if this is the last parenthesis.
    let list = body.get(open + 1..close - 1).unwrap_or_default();
    if list.iter().any(|t| direction(&t.text).is_some()) {
        return declarations(list);
    }
    // Names only: the directions are declared in the body.
    let mut declared = BTreeMap::new();
    let mut n = close;
    while n < body.len() {
        if direction(&body[n].text).is_some() {
            let stop = body[n..]
                .iter()
                .position(|t| t.text == ";")
                .map_or(body.len(), |p| n + p);
            for port in declarations(&body[n..stop])? {
                declared.insert(port.name.clone(), port);
            }
            n = stop;
        }
        n += 1;
    }
    list.iter()
        .filter(|t| t.text != ",")
        .map(|t| {
            declared
                .remove(&t.text)
                .ok_or_else(|| (t.line, format!("port {} has no direction", t.text)))
        })
        .collect()
}

fn direction(word: &str) -> Option<Option<Direction>> {
    match word {
        "input" => Some(Some(Direction::Input)),
        "output" => Some(Some(Direction::Output)),
        "inout" => Some(None),
        _ => None,
    }
}

/// Reads `input wire [7:0] a, b, output reg c`.
fn declarations(tokens: &[Token]) -> Result<Vec<Port>, Fault> {
    let mut ports = Vec::new();
    let mut now: Option<(Direction, u32)> = None;
    let mut n = 0;
    while n < tokens.len() {
        let Token { text, line } = &tokens[n];
        if let Some(found) = direction(text) {
            let found = found.ok_or_else(|| (*line, "a port is inout".to_string()))?;
            now = Some((found, 1));
        } else if text == "[" {
            let close = tokens[n..]
                .iter()
                .position(|t| t.text == "]")
                .map_or(tokens.len(), |p| n + p);
            let inside: Vec<&str> = tokens[n + 1..close]
                .iter()
                .map(|t| t.text.as_str())
                .collect();
            let bounds = match inside.as_slice() {
                [high, ":", low] => high.parse::<u32>().ok().zip(low.parse::<u32>().ok()),
                _ => None,
            };
            let (high, low) = bounds.filter(|(high, low)| high >= low).ok_or_else(|| {
                (
                    *line,
                    format!(
                        "the range [{}] does not consist of two numbers",
                        inside.join("")
                    ),
                )
            })?;
            if let Some((_, width)) = &mut now {
                *width = high - low + 1;
            }
            n = close;
        } else if !matches!(text.as_str(), "," | "wire" | "reg" | "signed" | "logic") {
            let (direction, width) =
                now.ok_or_else(|| (*line, format!("port {text} has no direction")))?;
            ports.push(Port {
                name: text.clone(),
                direction,
                width,
            });
        }
        n += 1;
    }
    Ok(ports)
}

/// Counts the kinds in `kind name (.port…` and `kind #(…) name (.port…`.
fn instances(body: &[Token]) -> BTreeMap<String, u64> {
    let at = |n: usize| body.get(n).map_or("", |t| t.text.as_str());
    let identifier = |n: usize| {
        at(n).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !matches!(
                at(n),
                "begin" | "else" | "end" | "module" | "function" | "task"
            )
    };
    let mut found = BTreeMap::new();
    for n in 0..body.len() {
        if !identifier(n) {
            continue;
        }
        let name = if at(n + 1) == "#" && at(n + 2) == "(" {
            past_parenthesis(body, n + 2)
        } else {
            n + 1
        };
        if identifier(name) && at(name + 1) == "(" && at(name + 2) == "." {
            *found.entry(at(n).to_string()).or_default() += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Module> {
        module(Path::new("m.v"), text, "m")
    }

    fn port(name: &str, direction: Direction, width: u32) -> Port {
        Port {
            name: name.into(),
            direction,
            width,
        }
    }

    #[test]
    fn reads_both_styles_of_header() {
        use Direction::{Input, Output};
        let want = [
            port("a", Input, 1),
            port("b", Input, 1),
            port("c", Output, 8),
        ];
        let ansi = "/* input x */ (* keep *) module m #(parameter W = 8) (\n input wire a, b, // c\n \
                    output reg [7:0] c);\n endmodule";
        let old = "module other(q); input q; endmodule\nmodule m(a, b, c);\n input a, b;\n \
                   output [7:0] c;\n reg [7:0] c;\nendmodule";
        assert_eq!(read(ansi).unwrap().ports, want);
        assert_eq!(read(old).unwrap().ports, want);
    }

    #[test]
    fn finds_what_is_instantiated() {
        let text = "module m(input a);\n fifo #(.W(8), .D(2)) f0 (.clk(a));\n sync s (\n .d(a));\n sync t (.d(a));\n \
                    always @(posedge a) begin if (a) x <= f(a); end\nendmodule";
        let found: Vec<_> = read(text).unwrap().instances.into_iter().collect();
        assert_eq!(found, [("fifo".to_string(), 1), ("sync".to_string(), 2)]);
    }

    #[test]
    fn finds_where_a_system_is() {
        let text = "module system(input a);\nendmodule\nmodule top;\n // system x (\n system #(.W(1)) s (\n .a(1));\n\
                    endmodule";
        assert_eq!(instantiation(text, "system"), Some(5));
        assert_eq!(instantiation(text, "top"), None);
    }

    #[test]
    fn unreadable_headers_are_errors_with_a_line() {
        for (text, line) in [
            ("module n(); endmodule", 1),
            ("\nmodule m(input a);", 2),
            ("module m(\ninput [W-1:0] a); endmodule", 2),
            ("module m(\n a); endmodule", 2),
            ("module m(\ninout a); endmodule", 2),
        ] {
            let e = read(text).expect_err(text);
            assert_eq!(e.place.line, Some(line), "{text}: {e}");
        }
    }
}
