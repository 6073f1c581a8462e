//! Finds the possible values of a script's words, without running the script.
//!
//! A variable may have every value that any command of the project's scripts gives it, and a parameter of a procedure
//! every value that it is called with. So a word has several values; if all can be read, one of them is right. An
//! unreadable part of a value is [`UNKNOWN`]. Sources: `Tcl(n)`, rules 5 to 9; `file(n)`, `info(n)`; Quartus Prime
//! Standard Edition user guide: Scripting 683325, "The quartus() Array" (`quartus(project_dir)`, `quartus(qip_path)`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::tcl::{Command, commands};

/// Replaces an unreadable part of a value; no file has it in its name.
pub const UNKNOWN: char = '\u{fffd}';
/// Most values of a word; with more it is unknown.
const MOST: usize = 64;
/// Most bytes of a value; longer ones are unknown.
const LONGEST: usize = 4096;
/// Deepest nesting of substitutions.
const DEPTH: u32 = 8;

/// A script, with the context of its words.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its commands.
    pub commands: &'a [Command],
    /// Its path from the project's directory.
    pub path: &'a str,
}

/// The variables and procedures of the project's scripts.
#[derive(Debug, Default, Clone)]
pub struct Values {
    variables: BTreeMap<String, BTreeSet<String>>,
    /// Parameters of procedures.
    procedures: BTreeMap<String, Vec<String>>,
}

impl Values {
    /// Learns values from a script. The caller must repeat this, since the values of one command may depend on a later
    /// one.
    pub fn learn(&mut self, script: Script<'_>) {
        for command in script.commands {
            let words = &command.words;
            let text = |n: usize| words.get(n).map_or("", |word| word.text.as_str());
            match (command.name(), words.len()) {
                ("set" | "variable", 3) => {
                    let values = self.word(script, words[2].span.clone());
                    self.give(text(1), values);
                }
                ("append" | "lappend", 3..) => {
                    let more = self.words(script, &words[2..]);
                    let more = more.into_iter().map(|more| format!("{UNKNOWN} {more}"));
                    self.give(text(1), more.collect());
                }
                ("foreach", 4..) => {
                    let names: Vec<&str> = text(1).split_whitespace().collect();
                    for list in self.word(script, words[2].span.clone()) {
                        for (n, element) in elements(&list).into_iter().enumerate() {
                            if let Some(name) = names.get(n % names.len().max(1)) {
                                self.give(name, vec![element]);
                            }
                        }
                    }
                }
                ("proc", 4) => {
                    let parameters = elements(text(2));
                    let first = |p: &String| p.split_whitespace().next().unwrap_or("").to_string();
                    let name = text(1).rsplit("::").next().unwrap_or_default().to_string();
                    let parameters = parameters.iter().map(first).collect();
                    self.procedures.insert(name, parameters);
                }
                (name, _) => {
                    let Some(parameters) = self.procedures.get(name).cloned() else {
                        continue;
                    };
                    for (n, parameter) in parameters.iter().enumerate() {
                        let Some(word) = words.get(n + 1) else { break };
                        let values = match parameter.as_str() {
                            "args" => self.words(script, &words[n + 1..]),
                            _ => self.word(script, word.span.clone()),
                        };
                        self.give(parameter, values);
                    }
                }
            }
        }
    }

    fn give(&mut self, name: &str, values: Vec<String>) {
        let name = name.strip_prefix("::").unwrap_or(name);
        let known = self.variables.entry(name.to_string()).or_default();
        for value in values {
            if known.len() >= MOST {
                known.insert(UNKNOWN.to_string());
                return;
            }
            known.insert(value);
        }
    }

    /// Reports whether a command of that name is one of the project's own.
    pub fn is_procedure(&self, name: &str) -> bool {
        self.procedures.contains_key(name)
    }

    /// Returns the values of a word, which is at these bytes of the script.
    pub fn word(&self, script: Script<'_>, span: Range<usize>) -> Vec<String> {
        self.of(script, &script.text[span], DEPTH)
    }

    /// Returns the values of words with blanks between them.
    pub fn words(&self, script: Script<'_>, words: &[crate::tcl::Word]) -> Vec<String> {
        let all = words
            .iter()
            .map(|word| self.word(script, word.span.clone()));
        joined(all, " ")
    }

    fn of(&self, script: Script<'_>, word: &str, depth: u32) -> Vec<String> {
        // Rule 5: the elements of the list become words of their own.
        let word = match word.strip_prefix("{*}") {
            Some(rest) if !rest.is_empty() => rest,
            _ => word,
        };
        let inner = |open: char, close: char| word.strip_prefix(open)?.strip_suffix(close);
        match (inner('{', '}'), inner('"', '"')) {
            (Some(text), _) => vec![bounded(text.to_string())],
            (_, Some(text)) => self.substituted(script, text, depth),
            _ => self.substituted(script, word, depth),
        }
    }

    fn substituted(&self, script: Script<'_>, text: &str, depth: u32) -> Vec<String> {
        let mut parts: Vec<Vec<String>> = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let behind = &rest[c.len_utf8()..];
            let (values, after) = match c {
                '$' => match variable(behind) {
                    Some((name, after)) => (self.variable(script, name, depth), after),
                    None => {
                        literal.push(c);
                        rest = behind;
                        continue;
                    }
                },
                '[' => match bracket(rest) {
                    Some((inner, after)) => (self.command(script, inner, depth), after),
                    None => {
                        literal.push(c);
                        rest = behind;
                        continue;
                    }
                },
                '\\' => {
                    let escaped = behind.chars().next();
                    literal.push(match escaped {
                        Some('\n' | 't' | 'n') => ' ',
                        Some(c) => c,
                        None => c,
                    });
                    rest = &behind[escaped.map_or(0, char::len_utf8)..];
                    continue;
                }
                _ => {
                    literal.push(c);
                    rest = behind;
                    continue;
                }
            };
            parts.push(vec![std::mem::take(&mut literal)]);
            parts.push(values);
            rest = after;
        }
        parts.push(vec![literal]);
        joined(parts.into_iter(), "")
    }

    fn variable(&self, script: Script<'_>, name: &str, depth: u32) -> Vec<String> {
        let name = name.strip_prefix("::").unwrap_or(name);
        match name {
            // Every tool of the flow runs in the project's directory.
            "quartus(project_dir)" | "env(PWD)" => vec![".".into()],
            "quartus(qip_path)" => vec![dirname(script.path)],
            _ => match self.variables.get(name) {
                Some(values) if depth > 0 => values.iter().cloned().collect(),
                _ => vec![UNKNOWN.into()],
            },
        }
    }

    fn command(&self, script: Script<'_>, inner: &str, depth: u32) -> Vec<String> {
        let unknown = vec![UNKNOWN.to_string()];
        let found = commands(inner);
        let (Some(command), true) = (found.first(), depth > 0) else {
            return unknown;
        };
        let value = |n: usize| match command.words.get(n) {
            Some(word) => self.of(script, &inner[word.span.clone()], depth - 1),
            None => vec![UNKNOWN.to_string()],
        };
        let from = |n: usize| (n..command.words.len()).map(value);
        let second = command.words.get(1).map_or("", |word| word.text.as_str());
        match (command.name(), second) {
            ("file", "join") => joined(from(2), "/").into_iter().map(last_root).collect(),
            ("file", "normalize" | "nativename") => value(2),
            ("file", "dirname") => value(2).iter().map(|path| dirname(path)).collect(),
            ("file", "tail") => {
                let tail = |path: &String| path.rsplit('/').next().unwrap_or("").to_string();
                value(2).iter().map(tail).collect()
            }
            ("info", "script") => vec![script.path.to_string()],
            ("pwd" | "get_project_directory", _) => vec![".".into()],
            ("list" | "concat", _) => joined(from(1), " "),
            ("subst", _) => value(command.words.len() - 1),
            _ => unknown,
        }
    }
}

/// Applies the rule of `file join`: the last absolute part begins the path.
fn last_root(path: String) -> String {
    match path.rfind("//") {
        Some(at) => path[at + 1..].to_string(),
        None => path,
    }
}

fn bounded(value: String) -> String {
    match value.len() > LONGEST {
        true => UNKNOWN.into(),
        false => value,
    }
}

/// Returns every combination of the values of the parts.
fn joined(parts: impl Iterator<Item = Vec<String>>, between: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for (n, values) in parts.enumerate() {
        if all.len() * values.len() > MOST || all.iter().any(|start| start.len() > LONGEST) {
            all = vec![UNKNOWN.into()];
            continue;
        }
        let between = if n == 0 { "" } else { between };
        let with = |start: &String| {
            let values = values.iter();
            values
                .map(|value| format!("{start}{between}{value}"))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.into_iter().map(bounded).collect()
}

/// Returns the elements of a list, without the braces and quotes around them.
fn elements(list: &str) -> Vec<String> {
    // A list is written like a command, except for its line ends.
    let line = list.replace(['\n', '\r', ';'], " ");
    let found = commands(&line);
    let words = found.first().map(|command| command.words.as_slice());
    let words = words.unwrap_or_default().iter();
    words.map(|word| word.text.clone()).collect()
}

fn dirname(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, _)) => directory.to_string(),
        None if path.contains(UNKNOWN) => UNKNOWN.into(),
        None => ".".into(),
    }
}

/// Returns the name after a dollar sign, and the rest of the text.
fn variable(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('{') {
        return inner.split_once('}');
    }
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let end = text.find(|c| !part(c)).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    if let (false, Some(index)) = (name.is_empty(), after.strip_prefix('('))
        && let Some(close) = index.find(')')
    {
        return Some(text.split_at(end + close + 2));
    }
    (!name.is_empty()).then_some((name, after))
}

/// Returns the text in the brackets that the text begins with, and the rest.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut skip = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if skip => skip = false,
            '\\' => skip = true,
            '[' => depth += 1,
            ']' if depth == 1 => return Some((&text[1..at], &text[at + 1..])),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values of the last word of the last command.
    fn last(text: &str) -> Vec<String> {
        let commands = commands(text);
        let path = "sub/x.tcl";
        let script = Script {
            text,
            commands: &commands,
            path,
        };
        let mut values = Values::default();
        for _ in 0..3 {
            values.learn(script);
        }
        let word = commands.iter().map(|c| c.words.last().unwrap());
        let word = word.max_by_key(|word| word.span.end).unwrap();
        values.word(script, word.span.clone())
    }

    #[test]
    fn values_of_words() {
        let unknown = UNKNOWN.to_string();
        for (text, want) in [
            ("source a.tcl", vec!["a.tcl"]),
            ("source {a $b.tcl}", vec!["a $b.tcl"]),
            ("source [file join scripts p.tcl]", vec!["scripts/p.tcl"]),
            ("source \"$::quartus(project_dir)/p.tcl\"", vec!["./p.tcl"]),
            ("source $::env(PWD)/p.tcl", vec!["./p.tcl"]),
            ("source [file join $quartus(qip_path) p.v]", vec!["sub/p.v"]),
            (
                "set d [file dirname [info script]]\nsource $d/p.tcl",
                vec!["sub/p.tcl"],
            ),
            ("source ${d}/p.tcl\nset d x", vec!["x"]),
            ("set d x\nset d y\nsource ${d}p", vec!["xp", "yp"]),
            ("foreach {n v} {A 1 B 2} { use x $n }", vec!["A", "B"]),
            ("foreach {n v} {A 1 B 2} { use $n $v }", vec!["1", "2"]),
            (
                "import p.qxp\nproc import {file} { set_it $file }",
                vec!["p.qxp"],
            ),
            ("set c [list exec --now]\nrun {*}$c", vec!["exec --now"]),
            ("source [lindex $x 1]", vec![unknown.as_str()]),
            ("set a $b\nset b $a\nsource $a", vec![unknown.as_str()]),
        ] {
            // A body ends after its last word.
            let got = match text.contains("} {") {
                true => inner(text),
                false => last(text),
            };
            assert_eq!(got, want, "{text}");
        }
        assert_eq!(
            last("source $sdk/ip/x.tcl"),
            [format!("{UNKNOWN}/ip/x.tcl")]
        );
    }

    /// Returns the values of the last word of the last command in a body.
    fn inner(text: &str) -> Vec<String> {
        let commands = commands(text);
        let script = Script {
            text,
            commands: &commands,
            path: "x.tcl",
        };
        let mut values = Values::default();
        for _ in 0..3 {
            values.learn(script);
        }
        let word = commands.last().unwrap().words.last().unwrap();
        values.word(script, word.span.clone())
    }

    proptest::proptest! {
        /// No text causes a panic or an endless loop.
        #[test]
        fn any_text_is_read(text in "[a-c\\\\{}\\[\\]\";$() \n]{0,60}|(set [ab] [$ab]{1,4}\n){0,8}") {
            let commands = commands(&text);
            let script = Script { text: &text, commands: &commands, path: "x" };
            let mut values = Values::default();
            for _ in 0..3 {
                values.learn(script);
            }
            for command in &commands {
                for word in &command.words {
                    values.word(script, word.span.clone());
                }
            }
        }
    }
}
