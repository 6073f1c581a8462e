//! Finds the commands of a Tcl script with the bytes of each, also those in bodies and in substitutions.
//!
//! Nothing is run. Text in braces is searched for commands, because it may be the body of an `if` or a `foreach`; if it
//! is data, the commands that are found there are not used. Sources: the rules of the Tcl language, `Tcl(n)`, 1 to 10.

use std::ops::Range;

use peerlane_bsp_platform::text::BYTE_ORDER_MARK;

/// Deepest nesting of bodies that is searched. Each level costs a pass over its text, and real scripts are not so deep.
const DEPTH: u32 = 32;

/// Most words of a command that are stored. Later ones are not used, and the words of a file must not take many times
/// its size.
const WORDS: usize = 1000;

/// Most commands of a file, including those in bodies. A board with every pin written out has a fifth of them, and the
/// commands of a larger file would take many times its size.
pub const MOST_COMMANDS: usize = 50_000;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text without the quotes or braces around it; nothing is substituted.
    pub text: String,
    /// Its bytes, with quotes or braces.
    pub span: Range<usize>,
}

/// A command with at least one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its first 1000 words; the very first is its name.
    pub words: Vec<Word>,
    /// Its bytes, from the first word to the last.
    pub span: Range<usize>,
    /// Line of its first word, counted from 1.
    pub line: usize,
}

impl Command {
    /// Returns its name, without its namespaces.
    pub fn name(&self) -> &str {
        let name = self.words.first().map_or("", |word| word.text.as_str());
        name.rsplit("::").next().unwrap_or(name)
    }

    /// Returns the bytes to delete for a removal of the command: its lines, if they have nothing else, otherwise its
    /// own bytes.
    pub fn lines(&self, source: &str) -> Range<usize> {
        let start = source[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &source[self.span.end..];
        let end = rest
            .find('\n')
            .map_or(source.len(), |at| self.span.end + at + 1);
        let alone = |part: &str| part.chars().all(|c| c.is_whitespace() || c == ';');
        if alone(&source[start..self.span.start]) && alone(&source[self.span.end..end]) {
            start..end
        } else {
            self.span.clone()
        }
    }
}

/// Returns all commands of a script, in order.
pub fn commands(source: &str) -> Vec<Command> {
    let mut scanner = Scanner {
        source,
        bytes: source.as_bytes(),
        found: Vec::new(),
        inner: Vec::new(),
    };
    let begin = source.len() - source.trim_start_matches(BYTE_ORDER_MARK).len();
    let mut open: Vec<Range<usize>> = std::iter::once(begin..source.len()).collect();
    for _ in 0..DEPTH {
        for range in std::mem::take(&mut open) {
            scanner.script(range);
        }
        open = std::mem::take(&mut scanner.inner);
        if open.is_empty() {
            break;
        }
    }
    let mut found = scanner.found;
    found.sort_by_key(|command| (command.span.start, std::cmp::Reverse(command.span.end)));
    number_lines(source, &mut found);
    found
}

fn number_lines(source: &str, commands: &mut [Command]) {
    let (mut line, mut at) = (1, 0);
    for command in commands {
        let passed = &source.as_bytes()[at..command.span.start];
        line += passed.iter().filter(|&&byte| byte == b'\n').count();
        at = command.span.start;
        command.line = line;
    }
}

struct Scanner<'a> {
    source: &'a str,
    bytes: &'a [u8],
    found: Vec<Command>,
    /// Texts to search next.
    inner: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    /// Finds the commands of one script; those inside them are left for later.
    fn script(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            match self.bytes[at] {
                b'#' => at = self.comment(at, range.end),
                c if c.is_ascii_whitespace() || c == b';' => at += 1,
                _ => at = self.command(at, range.end),
            }
        }
    }

    /// Returns the end of a comment: the end of its line, unless a backslash precedes it.
    fn comment(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end && !self.ends_line(at) {
            at += match self.bytes[at] {
                b'\\' if self.continued(at, end) => self.bytes_after_break(at) - at,
                b'\\' => 2,
                _ => 1,
            };
        }
        at.min(end)
    }

    /// Takes a command; returns the position after it.
    fn command(&mut self, start: usize, end: usize) -> usize {
        let mut words: Vec<Word> = Vec::new();
        let mut last = start;
        let mut at = start;
        while at < end {
            match self.bytes[at] {
                b';' => break,
                _ if self.ends_line(at) => break,
                b'\\' if self.continued(at, end) => at = self.bytes_after_break(at),
                c if c.is_ascii_whitespace() => at += 1,
                _ => {
                    let (text, span) = self.word(at, end);
                    last = span.end;
                    at = last.max(at + 1);
                    if words.len() < WORDS {
                        let text = text.to_string();
                        words.push(Word { text, span });
                    }
                }
            }
        }
        if let Some(first) = words.first() {
            let span = first.span.start..last;
            self.found.push(Command {
                words,
                span,
                line: 0,
            });
        }
        at.max(start + 1)
    }

    /// Reports whether a line ends with this byte. A carriage return alone ends one, too, when Tcl sources a file
    /// (`source(n)`, `fconfigure(n)`: the translation `auto`).
    fn ends_line(&self, at: usize) -> bool {
        let before_feed = self.bytes.get(at + 1) == Some(&b'\n');
        self.bytes[at] == b'\n' || self.bytes[at] == b'\r' && !before_feed
    }

    /// Reports whether a backslash continues the line.
    fn continued(&self, at: usize, end: usize) -> bool {
        let rest = &self.bytes[at + 1..end];
        rest.starts_with(b"\n") || rest.starts_with(b"\r")
    }

    fn bytes_after_break(&self, at: usize) -> usize {
        let feed = self.bytes[at + 1..].starts_with(b"\r\n");
        at + if feed { 3 } else { 2 }
    }

    /// Returns a word's text, and its bytes.
    fn word(&mut self, start: usize, end: usize) -> (&'a str, Range<usize>) {
        let source = self.source;
        let closed = match self.bytes[start] {
            b'{' => self.braces(start, end).inspect(|&close| {
                self.inner.push(start + 1..close);
            }),
            b'"' => self.quotes(start, end),
            _ => None,
        };
        if let Some(close) = closed {
            return (&source[start + 1..close], start..close + 1);
        }
        let mut at = start;
        while at < end {
            match self.bytes[at] {
                b';' => break,
                b'\\' if self.continued(at, end) => break,
                b'\\' => at = (at + 2).min(end),
                b'[' => at = self.substitution(at, end),
                c if c.is_ascii_whitespace() => break,
                _ => at += 1,
            }
        }
        // A backslash may have been in front of a character of several bytes.
        while !source.is_char_boundary(at) {
            at += 1;
        }
        let text = source[start..at].trim_matches(['"', '{', '}']);
        (text, start..at)
    }

    /// Returns the brace that closes the one at `start`.
    fn braces(&self, start: usize, end: usize) -> Option<usize> {
        let (mut depth, mut at) = (0usize, start);
        while at < end {
            match self.bytes[at] {
                b'\\' => at += 1,
                b'{' => depth += 1,
                b'}' if depth == 1 => return Some(at),
                b'}' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the quote that closes the one at `start`. Substitutions in between are recorded.
    fn quotes(&mut self, start: usize, end: usize) -> Option<usize> {
        let noted = self.inner.len();
        let mut at = start + 1;
        while at < end {
            match self.bytes[at] {
                b'\\' => at += 2,
                b'"' => return Some(at),
                b'[' => at = self.substitution(at, end),
                _ => at += 1,
            }
        }
        self.inner.truncate(noted);
        None
    }

    /// Records the text in brackets; returns the position after them. A bracket that is not closed in its line, or
    /// closed by a quote first, stands for itself: settings files name the bits of buses in this way.
    fn substitution(&mut self, start: usize, end: usize) -> usize {
        let (mut depth, mut at) = (0usize, start);
        while at < end {
            match self.bytes[at] {
                b'\\' if self.continued(at, end) => at = self.bytes_after_break(at) - 1,
                b'\\' => at += 1,
                _ if self.ends_line(at) => break,
                b'{' => match self.braces(at, end) {
                    Some(close) => at = close,
                    None => break,
                },
                b'[' => depth += 1,
                b']' if depth == 1 => {
                    self.inner.push(start + 1..at);
                    return at + 1;
                }
                b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        start + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<Vec<String>> {
        let words = |command: Command| command.words.into_iter().map(|word| word.text).collect();
        commands(source).into_iter().map(words).collect()
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        let source = "# set a 1\nset a \"b c\" ; set d {e f}\nif {[exists x]} {\n  import a \\\n    b\n} else { import c }\n";
        let found = texts(source);
        let has = |words: &[&str]| found.iter().any(|w| w == words);
        assert!(
            has(&["set", "a", "b c"]) && has(&["set", "d", "e f"]),
            "{found:?}"
        );
        assert!(has(&["exists", "x"]), "{found:?}");
        assert!(
            has(&["import", "a", "b"]) && has(&["import", "c"]),
            "{found:?}"
        );
        assert!(!has(&["set", "a", "1"]));
        let nested = commands(source)
            .into_iter()
            .find(|c| c.words[0].text == "import")
            .unwrap();
        assert_eq!(nested.line, 4);
        assert_eq!(&source[nested.lines(source)], "  import a \\\n    b\n");
        let last = commands(source)
            .into_iter()
            .rfind(|c| c.name() == "import")
            .unwrap();
        assert_eq!(&source[last.lines(source)], "import c");
    }

    #[test]
    fn a_comment_goes_on_behind_a_backslash() {
        for eol in ["\n", "\r\n"] {
            let found = texts(&format!(
                "# the old flow: \\{eol}import a{eol}import b{eol}"
            ));
            assert_eq!(found, [["import", "b"]]);
        }
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line() {
        let found = texts("\u{feff}a 1\r# b \\\rc\rd \\\r e\r\r\nf\r");
        assert_eq!(found, [vec!["a", "1"], vec!["d", "e"], vec!["f"]]);
    }

    #[test]
    fn a_line_that_is_no_tcl_ends_with_itself() {
        let found = texts("a -to Dq[0]\nb -to x[\nc \"open\nd {open\ne\n");
        let first: Vec<_> = found.iter().map(|w| w[0].as_str()).collect();
        for name in ["a", "b", "c", "d", "e"] {
            assert!(first.contains(&name), "{name}: {found:?}");
        }
    }

    proptest::proptest! {
        /// No text causes a panic, and every span is one of characters.
        #[test]
        fn any_text_is_read(text in "[a-z\\\\{}\\[\\]\";#\n é$]{0,60}") {
            for command in commands(&text) {
                let _ = &text[command.lines(&text)];
                for word in &command.words {
                    let _ = &text[word.span.clone()];
                }
            }
        }
    }
}
