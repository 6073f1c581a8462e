//! Reads the Tcl of settings files, `.qip` files and scripts of a compile: every command, including those in the bodies
//! and brackets of others, and whether it runs, as far as that is known.
//!
//! Nothing is run. Unknown values are reported as unknown: a check must not call a text correct that it did not read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use peerlane_bsp_platform::error::Place;

/// Most words of a command that are read; an assignment with all its options has fewer.
const MOST_WORDS: usize = 256;
/// Deepest nesting of bodies and brackets that is read.
const MOST_DEPTH: usize = 12;
/// Most commands of one file that are read.
const MOST_COMMANDS: usize = 60_000;

/// The file that permits imports of compiled files again; the script that makes these files again writes it.
pub const IMPORTS_ON: &str = "scripts/peerlane/imports_on";

/// Whether a command runs when its file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runs {
    /// In any case.
    Always,
    /// Perhaps: it stands in a body or a bracket, or after a command that ends the file.
    Perhaps,
    /// Only if [`IMPORTS_ON`] exists.
    Held,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text, without quotes; a bracket in it is not replaced.
    pub text: String,
    /// Whether it stands in braces, where nothing is replaced.
    pub braced: bool,
    /// Line, counted from 1.
    line: usize,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its words.
    pub words: Vec<Word>,
    /// Its place.
    pub place: Place,
    /// Whether it runs.
    pub runs: Runs,
}

impl Command {
    /// Returns its name, without the namespace.
    pub fn name(&self) -> &str {
        let name = self.words.first().map_or("", |word| word.text.as_str());
        name.rsplit("::").next().unwrap_or(name)
    }

    /// Returns the word after an option.
    pub fn option(&self, name: &str) -> Option<&Word> {
        let at = self.words.iter().position(|word| word.text == name)?;
        self.words.get(at + 1)
    }

    /// Returns name and value of a `set_global_assignment` or `set_instance_assignment`, unless the command removes an
    /// assignment.
    pub fn assignment(&self) -> Option<(&Word, Option<&Word>)> {
        if !matches!(
            self.name(),
            "set_global_assignment" | "set_instance_assignment"
        ) || self.takes_away()
        {
            return None;
        }
        Some((self.option("-name")?, self.value()))
    }

    /// Returns the value of an assignment: its first word that is neither an option nor the word of an option.
    pub fn value(&self) -> Option<&Word> {
        let mut all = self.arguments().into_iter();
        all.find_map(|(option, word)| word.filter(|_| option.is_none()))
    }

    /// Reports whether it removes an assignment.
    pub fn takes_away(&self) -> bool {
        self.words.iter().any(|word| word.text == "-remove")
    }

    /// Returns the words of an assignment after its name: options with their words, and other words.
    pub fn arguments(&self) -> Vec<(Option<&str>, Option<&Word>)> {
        let mut found = Vec::new();
        let mut words = self.words.iter().skip(1);
        while let Some(word) = words.next() {
            match word.text.as_str() {
                option @ ("-name" | "-section_id" | "-to" | "-from" | "-entity" | "-tag"
                | "-comment" | "-library" | "-hdl_version" | "-width" | "-height") => {
                    found.push((Some(option), words.next()));
                }
                option if option.starts_with('-') && option.len() > 1 => {
                    found.push((Some(option), None));
                }
                _ => found.push((None, Some(word))),
            }
        }
        found
    }
}

/// Returns the commands of a file, each before those inside it, and the first line that cannot be read, because a
/// quote, brace or bracket is not closed.
pub fn read(path: &Path, source: &str) -> (Vec<Command>, Option<usize>) {
    // Tcl reads a sourced file with any end of line (`fconfigure(n)`, the translation `auto`).
    let source = source.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let source = source.replace('\r', "\n");
    let mut reading = Reading {
        path,
        found: Vec::new(),
        open: None,
    };
    reading.script(&source, 1, Runs::Always, 0);
    (reading.found, reading.open)
}

struct Reading<'a> {
    path: &'a Path,
    found: Vec<Command>,
    open: Option<usize>,
}

impl Reading<'_> {
    fn script(&mut self, source: &str, line: usize, runs: Runs, depth: usize) {
        let mut parser = Parser {
            rest: source,
            line,
            open: None,
        };
        let mut runs = runs;
        while let Some(words) = parser.command() {
            if self.found.len() >= MOST_COMMANDS {
                self.open.get_or_insert(parser.line);
                return;
            }
            let command = Command {
                place: Place::line(self.path, words[0].line),
                words,
                runs,
            };
            let inner = match depth < MOST_DEPTH {
                true => inside(&command),
                false => Vec::new(),
            };
            let ends = matches!(command.name(), "return" | "exit" | "error" | "break");
            self.found.push(command);
            for (text, line, runs) in inner {
                self.script(&text, line, runs, depth + 1);
            }
            if ends && runs == Runs::Always {
                runs = Runs::Perhaps;
            }
        }
        if depth == 0 {
            self.open = parser.open.or(self.open);
        }
    }
}

/// Returns the scripts inside a command, with their lines.
fn inside(command: &Command) -> Vec<(String, usize, Runs)> {
    // A script in brackets runs with its command.
    let mut found = Vec::new();
    for word in &command.words {
        // A bracket inside braces may be replaced later: in a condition, or in text for `eval`.
        for (text, lines) in brackets(&word.text) {
            found.push((text, word.line + lines, command.runs.max(Runs::Perhaps)));
        }
    }
    // Plain data, and texts for people.
    let plain = matches!(
        command.name(),
        "puts" | "post_message" | "string" | "regexp" | "regsub" | "expr"
    ) || command.assignment().is_some();
    if plain {
        return found;
    }
    let condition = command.words.get(1).map_or("", |word| word.text.trim());
    let waits = command.name() == "if"
        && condition
            .strip_prefix("[file exists ")
            .and_then(|rest| rest.strip_suffix(']'))
            .is_some_and(|file| file.trim() == IMPORTS_ON);
    for (n, word) in command.words.iter().enumerate().skip(1) {
        if word.braced && !word.text.trim().is_empty() {
            let held = waits && n == 2;
            let runs = if held { Runs::Held } else { Runs::Perhaps };
            found.push((word.text.clone(), word.line, command.runs.max(runs)));
        }
    }
    found
}

/// Returns the texts in brackets of a word, each with the number of lines before it.
fn brackets(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('[').map(|i| i + at) {
        let Some(length) = bracket(&text[start..]) else {
            break;
        };
        let inner = &text[start + 1..start + length - 1];
        found.push((inner.to_string(), text[..start].matches('\n').count()));
        at = start + length;
    }
    found
}

/// Returns a text without its brackets and the text in them.
pub fn without_brackets(text: &str) -> String {
    let mut rest = text;
    let mut left = String::new();
    while let Some((before, length)) = rest
        .find('[')
        .and_then(|at| Some((at, bracket(&rest[at..])?)))
    {
        left.push_str(&rest[..before]);
        rest = &rest[before + length..];
    }
    left + rest
}

/// Returns the bytes of a text in brackets, from the opening bracket that it begins with.
fn bracket(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
    /// Line of an unclosed quote, brace or bracket.
    open: Option<usize>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Skips a backslash with the end of its line; returns whether there was one.
    fn continued(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix('\\') else {
            return false;
        };
        let rest = rest.strip_prefix('\r').unwrap_or(rest);
        let Some(rest) = rest.strip_prefix('\n') else {
            return false;
        };
        self.rest = rest;
        self.line += 1;
        true
    }

    /// Reads the words of the next command.
    fn command(&mut self) -> Option<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            if self.continued() {
                continue;
            }
            match self.peek() {
                None => break,
                Some('#') if words.is_empty() => self.comment(),
                Some('\n' | ';') => {
                    self.next();
                    if !words.is_empty() {
                        break;
                    }
                }
                Some(c) if c.is_whitespace() => {
                    self.next();
                }
                Some(_) => {
                    let word = self.word();
                    if words.len() < MOST_WORDS {
                        words.push(word);
                    }
                }
            }
        }
        (!words.is_empty()).then_some(words)
    }

    /// Skips a comment. It continues after a backslash at the end of its line (Tcl manual, Tcl(n), rule 10).
    fn comment(&mut self) {
        loop {
            if self.continued() {
                continue;
            }
            match self.peek() {
                None | Some('\n') => return,
                Some('\\') => {
                    self.next();
                    self.next();
                }
                Some(_) => {
                    self.next();
                }
            }
        }
    }

    fn word(&mut self) -> Word {
        let line = self.line;
        let first = self.peek();
        if let Some(rest) = self.rest.strip_prefix("{*}")
            && rest.starts_with(|c: char| !c.is_whitespace() && c != ';')
        {
            self.rest = rest;
            return self.word();
        }
        let (text, braced) = match first {
            Some('{') => (self.braced(), true),
            Some('"') => (self.quoted(), false),
            _ => (self.bare(), false),
        };
        Word { text, braced, line }
    }

    fn braced(&mut self) -> String {
        let start = self.line;
        let mut text = String::new();
        let mut depth = 0usize;
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    text.push(c);
                    text.extend(self.next());
                    continue;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                text.remove(0);
                return text;
            }
            text.push(c);
        }
        self.open.get_or_insert(start);
        text.remove(0);
        text
    }

    fn quoted(&mut self) -> String {
        let start = self.line;
        let mut text = String::new();
        self.next();
        loop {
            if self.continued() {
                text.push(' ');
                continue;
            }
            match self.peek() {
                Some('"') => {
                    self.next();
                    return text;
                }
                Some('[') => self.bracketed(&mut text),
                Some('\\') => {
                    self.next();
                    text.extend(self.next());
                }
                Some(c) => {
                    text.push(c);
                    self.next();
                }
                None => {
                    self.open.get_or_insert(start);
                    return text;
                }
            }
        }
    }

    fn bare(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            let ends = c.is_whitespace() || c == ';' || self.rest.starts_with("\\\n");
            if ends || self.rest.starts_with("\\\r\n") {
                break;
            }
            match c {
                '[' => self.bracketed(&mut text),
                '\\' => {
                    self.next();
                    text.extend(self.next());
                }
                c => {
                    text.push(c);
                    self.next();
                }
            }
        }
        text
    }

    /// Takes a text in brackets as it is; an unclosed bracket is a character.
    fn bracketed(&mut self, text: &mut String) {
        match bracket(self.rest) {
            Some(length) => {
                let (inner, rest) = self.rest.split_at(length);
                text.push_str(inner);
                self.line += inner.matches('\n').count();
                self.rest = rest;
            }
            None => {
                self.open.get_or_insert(self.line);
                text.extend(self.next());
            }
        }
    }
}

/// Variables with their values: `None` for a variable with several values or an unknown one.
pub type Variables = BTreeMap<String, Option<String>>;

/// Context of a word, which determines its value.
#[derive(Debug)]
pub struct Context<'a> {
    /// The directory that Quartus runs in.
    pub project: &'a Path,
    /// The file.
    pub file: &'a Path,
    /// Variables.
    pub variables: &'a Variables,
}

impl Context<'_> {
    /// Returns the value of a word when its command runs, if known.
    pub fn value(&self, word: &Word) -> Option<String> {
        match word.braced {
            true => Some(word.text.clone()),
            false => self.text(&word.text, 0),
        }
    }

    fn text(&self, text: &str, depth: usize) -> Option<String> {
        let mut value = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '[']) {
            value.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with('[') {
                let length = bracket(rest)?;
                value.push_str(&self.bracket(&rest[1..length - 1], depth)?);
                rest = &rest[length..];
            } else {
                let Some((name, length)) = variable(rest) else {
                    // A `$` without a name after it stands for itself: Tcl(n), rule 8.
                    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '{' | '(');
                    if rest[1..].starts_with(name) {
                        return None;
                    }
                    value.push('$');
                    rest = &rest[1..];
                    continue;
                };
                value.push_str(&self.variable(name)?);
                rest = &rest[length..];
            }
        }
        value.push_str(rest);
        Some(value)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let name = name.trim_start_matches(':');
        let directory = |path: &Path| Some(path.to_string_lossy().into_owned());
        match name {
            // Quartus Prime Scripting reference: directory of the `.qip` file; directory of the project.
            "quartus(qip_path)" => directory(self.file.parent()?),
            "quartus(project_dir)" | "quartus(project_directory)" | "env(PWD)" => {
                directory(self.project)
            }
            name => self.variables.get(name)?.clone(),
        }
    }

    fn bracket(&self, script: &str, depth: usize) -> Option<String> {
        if depth >= MOST_DEPTH {
            return None;
        }
        let mut parser = Parser {
            rest: script,
            line: 1,
            open: None,
        };
        let words = parser.command()?;
        let values: Option<Vec<String>> = words
            .iter()
            .map(|word| match word.braced {
                true => Some(word.text.clone()),
                false => self.text(&word.text, depth + 1),
            })
            .collect();
        let values = values?;
        let words: Vec<&str> = values.iter().map(String::as_str).collect();
        let path = |path: PathBuf| Some(path.to_string_lossy().into_owned());
        match words.as_slice() {
            ["file", "join", parts @ ..] => path(parts.iter().collect()),
            ["file", "dirname", name] => path(Path::new(name).parent()?.to_path_buf()),
            ["file", "normalize" | "nativename", name] | ["list" | "subst", name] => {
                Some((*name).into())
            }
            ["info", "script"] => path(self.file.to_path_buf()),
            ["pwd"] => path(self.project.to_path_buf()),
            _ => None,
        }
    }
}

/// Returns the name of the variable that a text begins with, and its length with the sign.
fn variable(text: &str) -> Option<(&str, usize)> {
    let rest = &text[1..];
    if let Some(name) = rest.strip_prefix('{') {
        let end = name.find('}')?;
        return Some((&name[..end], end + 3));
    }
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let mut end = rest.find(|c| !plain(c)).unwrap_or(rest.len());
    if rest[end..].starts_with('(') {
        end += rest[end..].find(')')? + 1;
    }
    (end > 0).then(|| (&rest[..end], end + 1))
}

/// Returns the file's name: the last part of a path, if that part is written out and the rest is computed.
pub fn last_part(word: &Word) -> Option<&str> {
    let text = word.text.trim_end_matches([']', '"', '}']);
    let last = text
        .rsplit(|c: char| c == '/' || c.is_whitespace())
        .next()?
        .trim_matches(['"', '{', '}']);
    (!last.is_empty() && !last.contains(['$', '[', ']'])).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(source: &str) -> Vec<(String, usize, Runs)> {
        let (commands, _) = read(Path::new("t"), source);
        let words = |c: &Command| c.words.iter().map(|w| w.text.clone()).collect::<Vec<_>>();
        commands
            .iter()
            .map(|c| (words(c).join("|"), c.place.line.unwrap(), c.runs))
            .collect()
    }

    #[test]
    fn commands_as_tcl_has_them() {
        let source = "# c \\\r\nset_global_assignment -name A \"b c\" ;# d\r\nsource {x y}; source z\nif {1} {\n a\n}\na\\\n b\n::q::p::c \"x \\\"y\"\nd [file join a b]/c\nlast";
        let want = [
            ("source|x y", 3, Runs::Always),
            ("x|y", 3, Runs::Perhaps),
            ("source|z", 3, Runs::Always),
            ("if|1|\n a\n", 4, Runs::Always),
            ("1", 4, Runs::Perhaps),
            ("a", 5, Runs::Perhaps),
            ("a|b", 7, Runs::Always),
            ("::q::p::c|x \"y", 9, Runs::Always),
            ("d|[file join a b]/c", 10, Runs::Always),
            ("file|join|a|b", 10, Runs::Perhaps),
            ("last", 11, Runs::Always),
        ];
        let found = listed(source);
        let found: Vec<_> = found.iter().map(|(w, l, r)| (w.as_str(), *l, *r)).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn what_waits_for_the_imports_is_told_from_what_may_run() {
        let guard = format!("if {{[file exists {IMPORTS_ON}]}} {{ a }}\nset x [{{*}}b]\nreturn\nc");
        let runs = |name: &str| {
            let found = listed(&guard);
            found.iter().find(|(w, ..)| w == name).unwrap().2
        };
        assert_eq!(
            [runs("a"), runs("b"), runs("return"), runs("c")],
            [Runs::Held, Runs::Perhaps, Runs::Always, Runs::Perhaps]
        );
        let other = format!("if {{![file exists {IMPORTS_ON}]}} {{ a }}");
        assert!(listed(&other).contains(&("a".into(), 1, Runs::Perhaps)));
    }

    #[test]
    fn lines_end_in_three_ways() {
        let found = listed("\u{feff}a\r# b\rc \\\r d\r\ne");
        let found: Vec<_> = found.iter().map(|(w, l, _)| (w.as_str(), *l)).collect();
        assert_eq!(found, [("a", 1), ("c|d", 3), ("e", 5)]);
    }

    #[test]
    fn what_is_not_closed_is_said() {
        for (source, line) in [
            ("a\n\"b\nc", Some(2)),
            ("a {\n{}", Some(1)),
            ("\na [b", Some(2)),
            ("a ]}\"", None),
        ] {
            assert_eq!(read(Path::new("t"), source).1, line, "{source}");
        }
    }

    #[test]
    fn values_as_far_as_they_can_be_told() {
        let variables = Variables::from([
            ("a".into(), Some("x".into())),
            ("b(1)".into(), Some("y".into())),
            ("c".into(), None),
        ]);
        let context = Context {
            project: Path::new("/p"),
            file: Path::new("/p/sub/f.tcl"),
            variables: &variables,
        };
        for (text, value) in [
            ("$a/${a}$b(1)", Some("x/xy")),
            ("[file join $a b {c d}]", Some("x/b/c d")),
            ("[file dirname [info script]]/g", Some("/p/sub/g")),
            ("$::quartus(qip_path)/g", Some("/p/sub/g")),
            ("[pwd]", Some("/p")),
            ("$c", None),
            ("$d", None),
            ("[lindex $a 0]", None),
            ("cores/*,$", Some("cores/*,$")),
        ] {
            let word = Word {
                text: text.into(),
                braced: false,
                line: 1,
            };
            assert_eq!(context.value(&word).as_deref(), value, "{text}");
        }
        let last = |text: &str| {
            let word = Word {
                text: text.into(),
                braced: false,
                line: 1,
            };
            last_part(&word).map(str::to_string)
        };
        assert_eq!(last("$x/a.tcl").as_deref(), Some("a.tcl"));
        assert_eq!(last("[file join $x b.tcl]").as_deref(), Some("b.tcl"));
        assert_eq!(last("$x/$y"), None);
    }
}
