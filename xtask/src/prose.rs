//! `cargo xtask prose`: counts the sentences of documents and comments that are hard to read.
//!
//! `xtask/prose.toml` has the words and the rooms, `xtask/prose-counts.toml` the count of each room, which may only
//! fall. Code blocks, tables, generated files and text in backquotes are left out.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
};

use clap::Args;
use miette::{IntoDiagnostic, WrapErr, bail};
use serde::Deserialize;

/// The words and the rooms.
const RULES: &str = "xtask/prose.toml";

/// The counts that hold today.
const COUNTS: &str = "xtask/prose-counts.toml";

/// Nouns after which "who" is plain English.
const PERSONS: [&str; 10] = [
    "user",
    "users",
    "reader",
    "readers",
    "person",
    "people",
    "engineer",
    "engineers",
    "administrator",
    "administrators",
];

/// Options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print the sentences of these files or directories, with the words to use.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Write the counts that hold today; fails if one has grown.
    #[arg(long, conflicts_with = "paths")]
    update: bool,
    /// Print nothing but the rooms whose count has grown; fails if there are any.
    #[arg(long, conflicts_with_all = ["paths", "update"])]
    check: bool,
}

/// The file of rules.
#[derive(Debug, Deserialize)]
struct Rules {
    /// Phrases to avoid, and the replacement of each.
    words: BTreeMap<String, String>,
    /// Rooms, in the order in which they claim text.
    rooms: Vec<Room>,
}

/// A part of the tree.
#[derive(Debug, Deserialize)]
struct Room {
    /// The name in the table.
    name: String,
    /// Files or directories, or `*.md`.
    paths: Vec<String>,
    /// Whether documentation comments alone belong to the room.
    #[serde(default)]
    public: bool,
    /// The share of flagged sentences to reach, in percent.
    goal: u32,
}

impl Room {
    /// Reports whether text of a file belongs to this room.
    fn has(&self, path: &str, kind: Kind) -> bool {
        (!self.public || kind == Kind::Documentation)
            && self
                .paths
                .iter()
                .any(|place| match place.strip_prefix('*') {
                    Some(ending) => path.ends_with(ending),
                    None => path
                        .strip_prefix(place.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
                })
    }
}

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A document, a documentation comment of Rust or a comment of a C header.
    Documentation,
    /// A comment beside code.
    Comment,
}

/// A sentence and the line that it begins on.
#[derive(Debug)]
struct Sentence {
    line: usize,
    kind: Kind,
    text: String,
}

/// Sentences of a room: flagged and in all.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    flagged: usize,
    all: usize,
}

/// Runs the command; `false` if a count has grown. A reader that closes the output early is not an error.
pub(crate) fn run(root: &Path, options: &Options) -> miette::Result<bool> {
    let rules: Rules = read(root, RULES)?;
    let mut counts = vec![Count::default(); rules.rooms.len()];
    for path in tracked(root, &options.paths)? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        for sentence in sentences(&path, &text) {
            let Some(room) = rules
                .rooms
                .iter()
                .position(|room| room.has(&path, sentence.kind))
            else {
                continue;
            };
            let found = found(&sentence.text, &rules.words);
            counts[room].all += 1;
            counts[room].flagged += usize::from(!found.is_empty());
            if !options.paths.is_empty() && !found.is_empty() {
                let words: Vec<_> = found
                    .iter()
                    .map(|(word, instead)| format!("{word} -> {instead}"))
                    .collect();
                let _ = writeln!(
                    io::stdout(),
                    "{path}:{}: {}\n    {}",
                    sentence.line,
                    sentence.text,
                    words.join("; ")
                );
            }
        }
    }
    if options.paths.is_empty() {
        judge(root, &rules, &counts, options)
    } else {
        Ok(true)
    }
}

/// Compares the counts with the recorded ones, and prints or writes them as asked.
fn judge(root: &Path, rules: &Rules, counts: &[Count], options: &Options) -> miette::Result<bool> {
    let recorded: BTreeMap<String, usize> = if root.join(COUNTS).exists() {
        read(root, COUNTS)?
    } else {
        BTreeMap::new()
    };
    let mut good = true;
    let mut text = String::from(
        "# Flagged sentences of each room, by `cargo xtask prose --update`. They may only fall.\n",
    );
    if !options.check {
        let _ = writeln!(
            io::stdout(),
            "{:<20} {:>9} {:>8} {:>6} {:>6} {:>9}",
            "room",
            "sentences",
            "flagged",
            "%",
            "goal",
            "recorded"
        );
    }
    for (Room { name, goal, .. }, Count { flagged, all }) in rules.rooms.iter().zip(counts) {
        let most = recorded.get(name).copied();
        // A new room has to be recorded.
        let grown = most.map_or(options.check, |most| *flagged > most);
        good &= !grown;
        if grown {
            eprintln!(
                "{name}: {flagged} sentences are flagged, {} were before; `cargo xtask prose PATH` prints them",
                most.unwrap_or(0)
            );
        }
        if !options.check {
            let most = most.map_or_else(String::new, |most| most.to_string());
            let _ = writeln!(
                io::stdout(),
                "{name:<20} {all:>9} {flagged:>8} {:>6.1} {goal:>6} {most:>9}",
                percent(*flagged, *all)
            );
        }
        text += &format!("{name:?} = {flagged}\n");
    }
    if options.update && good {
        fs::write(root.join(COUNTS), text)
            .into_diagnostic()
            .wrap_err(COUNTS)?;
    }
    Ok(good)
}

/// A share in percent.
fn percent(part: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of sentences are small")]
    let share = 100.0 * part as f64 / all.max(1) as f64;
    share
}

/// Reads a TOML file of the tree.
fn read<T: for<'a> Deserialize<'a>>(root: &Path, name: &str) -> miette::Result<T> {
    let text = fs::read_to_string(root.join(name))
        .into_diagnostic()
        .wrap_err_with(|| name.to_owned())?;
    toml::from_str(&text)
        .into_diagnostic()
        .wrap_err_with(|| name.to_owned())
}

/// Lists the files with text that git knows, below `paths`, without those that are generated.
fn tracked(root: &Path, paths: &[String]) -> miette::Result<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .arg("ls-files")
        .arg("--")
        .args(paths)
        .output();
    let output = output.into_diagnostic().wrap_err("cannot run git")?;
    if !output.status.success() {
        bail!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let has_text = |path: &str| {
        [".md", ".rs", ".c", ".h", ".py", ".pyi", ".sv", ".toml"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let files = String::from_utf8_lossy(&output.stdout);
    let files = files
        .lines()
        .filter(|path| has_text(path) && !path.contains("generated"));
    Ok(files.map(str::to_owned).collect())
}

/// Cuts the text of a file into sentences.
fn sentences(path: &str, text: &str) -> Vec<Sentence> {
    let document = path.ends_with(".md");
    let mut result = Vec::new();
    let mut paragraph: Vec<(usize, String)> = Vec::new();
    let mut kind = Kind::Documentation;
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (content, of) = if document {
            (Some(line), Kind::Documentation)
        } else {
            comment(path, line)
        };
        let content = content.map(str::trim);
        if content.is_some_and(|content| content.starts_with("```")) {
            fenced = !fenced;
        } else if content.is_none() {
            fenced = false;
        }
        let words = content.filter(|content| {
            !fenced
                && !content.is_empty()
                && !content.starts_with('|')
                && !content.starts_with("```")
        });
        let begins = words.is_some_and(|words| words.starts_with(['#', '-', '*']));
        if words.is_none() || begins || of != kind {
            finish(&mut paragraph, kind, &mut result);
        }
        kind = of;
        if let Some(words) = words {
            paragraph.push((
                number,
                words.trim_start_matches(['#', '-', '*', ' ']).to_owned(),
            ));
        }
    }
    finish(&mut paragraph, kind, &mut result);
    result
}

/// Takes the comment of a line of code.
fn comment<'a>(path: &str, line: &'a str) -> (Option<&'a str>, Kind) {
    let line = line.trim_start();
    if path.ends_with(".rs") {
        if let Some(text) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        {
            return (Some(text), Kind::Documentation);
        }
        return (line.strip_prefix("//"), Kind::Comment);
    }
    let marks: &[&str] =
        if path.ends_with(".py") || path.ends_with(".pyi") || path.ends_with(".toml") {
            &["#"]
        } else {
            &["//", "/**", "/*", "*/", "*"]
        };
    let text = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let header = path.ends_with(".h") || path.ends_with(".pyi");
    (
        text,
        if header {
            Kind::Documentation
        } else {
            Kind::Comment
        },
    )
}

/// Ends a paragraph: its sentences of more than three words go to `result`.
fn finish(paragraph: &mut Vec<(usize, String)>, kind: Kind, result: &mut Vec<Sentence>) {
    let mut current = Sentence {
        line: 0,
        kind,
        text: String::new(),
    };
    let mut quoted = false;
    let mut push = |sentence: &mut Sentence| {
        if sentence.text.split_whitespace().count() > 3 {
            result.push(Sentence {
                line: sentence.line,
                kind,
                text: sentence.text.trim().to_owned(),
            });
        }
        sentence.text.clear();
    };
    for (line, text) in paragraph.drain(..) {
        let mut last = ' ';
        for letter in text.chars().chain([' ']) {
            if letter == '`' {
                quoted = !quoted;
                if quoted {
                    if current.text.trim().is_empty() {
                        current.line = line;
                    }
                    current.text.push('x');
                }
            } else if !quoted {
                if letter.is_whitespace() && matches!(last, '.' | '!' | '?' | ':' | ';') {
                    push(&mut current);
                }
                if current.text.trim().is_empty() {
                    current.line = line;
                }
                current.text.push(letter);
            }
            last = letter;
        }
    }
    push(&mut current);
}

/// Finds the phrases to avoid in a sentence.
fn found<'a>(sentence: &str, rules: &'a BTreeMap<String, String>) -> Vec<(&'a str, &'a str)> {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '\'')))
        .filter(|word| !word.is_empty())
        .collect();
    let is_there = |phrase: &str| {
        let (phrase, unless) = match phrase
            .strip_prefix('!')
            .and_then(|rest| rest.split_once(' '))
        {
            Some((unless, phrase)) => (phrase, Some(unless)),
            None => (phrase, None),
        };
        let phrase: Vec<&str> = phrase.split(' ').collect();
        (0..words.len()).any(|at| {
            let before = at.checked_sub(1).map(|before| words[before]);
            let plain = phrase == ["who"] && before.is_some_and(|before| PERSONS.contains(&before));
            words[at..].starts_with(&phrase) && (unless.is_none() || before != unless) && !plain
        })
    };
    rules
        .iter()
        .filter(|(phrase, _)| is_there(phrase))
        .map(|(phrase, instead)| (phrase.as_str(), instead.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flagged(sentence: &str) -> Vec<String> {
        let rules = [
            ("what", "a noun"),
            ("who", "a noun"),
            ("let go", "released"),
            ("!there is no", "is not a"),
        ];
        let rules = rules
            .map(|(word, instead)| (word.to_owned(), instead.to_owned()))
            .into();
        found(sentence, &rules)
            .into_iter()
            .map(|(word, _)| word.to_owned())
            .collect()
    }

    #[test]
    fn words_and_phrases_are_found() {
        assert_eq!(flagged("What was found is let go."), ["let go", "what"]);
        assert_eq!(
            flagged("This file is no device, and there is no other."),
            ["!there is no"]
        );
        assert!(
            flagged("There is no other, for a user who has none and a somewhat whole let.")
                .is_empty()
        );
        assert_eq!(flagged("Wakes who waits."), ["who"]);
    }

    #[test]
    fn text_is_cut_into_sentences() {
        let text = "/// `X` reads a file of `what` it is. Then\n/// closes the file again.\n///\n/// ```\n/// let what = who(of, it, all);\n/// \
                    ```\nfn what() {} // what is not a whole line\n    // A comment of code here.\n";
        let found = sentences("a.rs", text);
        let found: Vec<_> = found
            .iter()
            .map(|s| (s.line, s.kind, s.text.as_str()))
            .collect();
        let expected = [
            (1, Kind::Documentation, "x reads a file of x it is."),
            (1, Kind::Documentation, "Then closes the file again."),
            (8, Kind::Comment, "A comment of code here."),
        ];
        assert_eq!(found, expected);
    }
}
