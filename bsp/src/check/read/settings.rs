//! The settings of a revision: its `.qsf` and every file that it sources, in order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{Place, Result};
use crate::text;

/// Files that one revision may source.
const MOST_FILES: usize = 1000;

/// Words of a command that are read; an assignment with all its options has fewer.
const MOST_WORDS: usize = 32;

/// A command of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its words, without quotes.
    pub words: Vec<String>,
    /// Where.
    pub place: Place,
}

impl Command {
    /// The word behind an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// Name, in capitals, and value of a `set_global_assignment` or `set_instance_assignment`.
    pub fn assignment(&self) -> Option<(String, &str)> {
        let command = self.words.first()?;
        if !matches!(
            command.as_str(),
            "set_global_assignment" | "set_instance_assignment"
        ) {
            return None;
        }
        let name = self.option("-name")?.to_uppercase();
        let mut words = self.words[1..].iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-name" | "-section_id" | "-to" | "-from" | "-entity" | "-tag" | "-comment"
                | "-library" => {
                    words.next();
                }
                option if option.starts_with('-') && option.len() > 1 => {}
                value => return Some((name, value)),
            }
        }
        Some((name, ""))
    }
}

/// All commands of a revision.
#[derive(Debug, Default)]
pub struct Revision {
    /// The `.qsf`.
    pub path: PathBuf,
    /// Commands, those of a sourced file where it is sourced.
    pub commands: Vec<Command>,
    /// Files that are sourced, as often as they are, relative to the hardware directory where they are in it.
    pub sourced: Vec<PathBuf>,
    /// Commands whose file is not there.
    pub missing: Vec<Command>,
}

impl Revision {
    /// Reads a `.qsf` and follows what it sources. A name with a variable in it is not followed.
    ///
    /// # Errors
    /// Those of [`text::read`].
    pub fn read(hardware: &Path, qsf: &Path) -> Result<Self> {
        let mut revision = Self {
            path: qsf.to_path_buf(),
            ..Self::default()
        };
        revision.take(hardware, qsf, &mut BTreeSet::new())?;
        Ok(revision)
    }

    fn take(&mut self, hardware: &Path, path: &Path, above: &mut BTreeSet<PathBuf>) -> Result<()> {
        // A file that sources itself is followed once.
        if above.len() > 50 || self.sourced.len() > MOST_FILES || !above.insert(path.to_path_buf())
        {
            return Ok(());
        }
        for command in commands(path, &text::read(path)?) {
            let name = match (
                command.words.first().map(String::as_str),
                command.assignment(),
            ) {
                (Some("source"), _) => command.words.last().cloned(),
                (_, Some((name, value))) if name == "SOURCE_TCL_SCRIPT_FILE" => Some(value.into()),
                _ => None,
            };
            let Some(name) = name.filter(|name| !name.contains(['$', '['])) else {
                self.commands.push(command);
                continue;
            };
            self.commands.push(command.clone());
            let beside = path.parent().unwrap_or(hardware).join(&name);
            let file = Some(hardware.join(&name)).filter(|f| f.is_file());
            match file.or(Some(beside).filter(|f| f.is_file())) {
                Some(file) => {
                    let inside = file.strip_prefix(hardware).unwrap_or(&file);
                    self.sourced.push(inside.to_path_buf());
                    self.take(hardware, &file, above)?;
                }
                None => self.missing.push(command),
            }
        }
        above.remove(path);
        Ok(())
    }
}

/// The commands of a file. Braces and quotes may go over lines, a backslash joins two.
pub fn commands(path: &Path, source: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let (mut line, mut first) = (1, 1);
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        let starts = word.is_none();
        match c {
            '\\' => match rest.next() {
                Some('\r') => {}
                Some('\n') => {
                    line += 1;
                    end_word(&mut words, &mut word);
                }
                Some(c) => word.get_or_insert_default().push(c),
                None => {}
            },
            '#' if starts && words.is_empty() => while rest.next_if(|&c| c != '\n').is_some() {},
            '"' | '{' if starts => {
                let text = word.insert(String::new());
                let mut depth = 1;
                for inner in rest.by_ref() {
                    line += usize::from(inner == '\n');
                    match (c, inner) {
                        ('"', '"') => depth = 0,
                        ('{', '{') => depth += 1,
                        ('{', '}') => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    text.push(inner);
                }
            }
            '\n' | ';' | '\r' => {
                end_word(&mut words, &mut word);
                if !words.is_empty() && c != '\r' {
                    let place = Place::line(path, first);
                    found.push(Command {
                        words: std::mem::take(&mut words),
                        place,
                    });
                }
                line += usize::from(c == '\n');
            }
            c if c.is_whitespace() => end_word(&mut words, &mut word),
            c => word.get_or_insert_default().push(c),
        }
        if words.is_empty() && word.is_none() {
            first = line;
        }
    }
    end_word(&mut words, &mut word);
    if !words.is_empty() {
        let place = Place::line(path, first);
        found.push(Command { words, place });
    }
    found
}

/// Takes a word to those of its command; what is beyond the last that counts is dropped.
fn end_word(words: &mut Vec<String>, word: &mut Option<String>) {
    if let Some(word) = word.take()
        && words.len() < MOST_WORDS
    {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn commands_as_tcl_has_them() {
        let source = "# c \\\r\nset_global_assignment -name A \"b c\" ;# d\r\nsource {x y}; source z\nif {1} {\n a\n}\na\\\n b\nlast";
        let found: Vec<_> = commands(Path::new("t"), source)
            .into_iter()
            .map(|c| (c.words.join("|"), c.place.line.unwrap()))
            .collect();
        let found: Vec<_> = found.iter().map(|(w, l)| (w.as_str(), *l)).collect();
        assert_eq!(
            found,
            [
                ("set_global_assignment|-name|A|b c", 2),
                ("source|x y", 3),
                ("source|z", 3),
                ("if|1|\n a\n", 4),
                ("a|b", 7),
                ("last", 9),
            ]
        );
    }

    #[test]
    fn sources_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        file(
            "a.qsf",
            "source sub/b.tcl\nset_global_assignment -name SOURCE_TCL_SCRIPT_FILE gone.tcl\nsource $x\n",
        );
        file(
            "sub/b.tcl",
            "source c.tcl\nsource a.qsf\nset_global_assignment -name input_persona p -section_id Top\n",
        );
        file("sub/c.tcl", "");
        let revision = Revision::read(dir.path(), &dir.path().join("a.qsf")).unwrap();
        assert_eq!(
            revision.sourced,
            ["sub/b.tcl", "sub/c.tcl", "a.qsf"].map(PathBuf::from)
        );
        assert_eq!(revision.missing.len(), 1);
        let assignments: Vec<_> = revision
            .commands
            .iter()
            .filter_map(Command::assignment)
            .collect();
        assert_eq!(assignments[0], ("INPUT_PERSONA".to_string(), "p"));
    }
}
