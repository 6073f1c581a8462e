//! Paths of the AST: text such as `chan[i + 1]$fifo$write$next`.

use crate::error::Problem;

/// The loops open around a statement, with the value of this round.
pub(crate) type Loops = Vec<(String, usize)>;

/// Joins the parts of a path by `$`, with array indices as parts of their own.
pub(crate) fn normalise(raw: &str, loops: &Loops) -> Result<String, Problem> {
    let mut path = raw
        .trim_start_matches('.')
        .replace("::", "$")
        .replace('.', "$");
    while path.starts_with('$') {
        path.remove(0);
    }
    if let Some(base) = path.strip_suffix("$next") {
        path = base.to_owned();
    }
    while let Some(open) = path.find('[') {
        let index = bracketed(&path[open..]);
        let value = index.and_then(|i| evaluate(i, loops));
        let (Some(index), Some(value)) = (index, value) else {
            let index = index.unwrap_or(&path[open + 1..]).to_owned();
            return Err(Problem::DynamicIndex { index });
        };
        let rest = &path[open + index.len() + 2..];
        path = format!("{}${value}{rest}", &path[..open]);
    }
    Ok(path)
}

/// The text inside the brackets that `text` starts with.
fn bracketed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[1..at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// The value of index arithmetic over integers and loop variables.
fn evaluate(text: &str, loops: &Loops) -> Option<usize> {
    let mut parser = Parser {
        rest: text.trim(),
        loops,
    };
    let value = parser.sum()?;
    parser.rest.is_empty().then_some(value)?.try_into().ok()
}

struct Parser<'a> {
    rest: &'a str,
    loops: &'a Loops,
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value = value.checked_add(self.product()?)?;
            } else if self.eat('-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.factor()?;
        loop {
            if self.eat('*') {
                value = value.checked_mul(self.factor()?)?;
            } else if self.eat('/') {
                value = value.checked_div(self.factor()?)?;
            } else if self.eat('%') {
                value = value.checked_rem(self.factor()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<i128> {
        if self.eat('(') {
            let value = self.sum()?;
            return self.eat(')').then_some(value);
        }
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.trim_end_matches("usize").replace('_', "");
            return match digits.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            };
        }
        self.loops
            .iter()
            .rev()
            .find(|(name, _)| name == word)
            .map(|(_, value)| *value as i128)
    }

    fn eat(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops() -> Loops {
        vec![("i".into(), 3), ("j".into(), 2)]
    }

    #[test]
    fn indices_become_parts() {
        let path = |raw| normalise(raw, &loops()).unwrap();
        assert_eq!(path("a$b$next"), "a$b");
        assert_eq!(path("chan[i]$fifo[(j+1)*2-1]$x"), "chan$3$fifo$5$x");
        assert_eq!(path("a[i%2][7_usize/j]"), "a$1$3");
        assert_eq!(path("State::Idle"), "State$Idle");
        assert_eq!(path(".sink.valid"), "sink$valid");
    }

    #[test]
    fn inner_loops_hide_outer_ones() {
        let loops = vec![("i".into(), 1), ("i".into(), 7)];
        assert_eq!(normalise("a[i]", &loops).unwrap(), "a$7");
    }

    #[test]
    fn other_indices_are_refused() {
        for raw in [
            "a[k]",
            "a[i-4]",
            "a[sel$val()$index()]",
            "a[i/0]",
            "a[i",
            "a[]",
        ] {
            let found = normalise(raw, &loops());
            assert!(
                matches!(found, Err(Problem::DynamicIndex { .. })),
                "{raw}: {found:?}"
            );
        }
    }
}
