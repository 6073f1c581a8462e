//! TOML files that a user writes: checked against a table of their keys, with the line of each error.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::toml_words::{key_at, nearest, of_key, syntax};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::key::Key;

/// The keys of a section, with blanks between them.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name; empty for the keys above all sections. The section that contains it has a key of the last part.
    pub name: &'static str,
    /// Whether there may be several: `[[name]]`.
    pub is_list: bool,
    /// Keys that it must have.
    pub needed: &'static str,
    /// Keys that it can have; `None` if it can have any.
    pub optional: Option<&'static str>,
}

impl Section {
    /// Makes a section of which there is one.
    pub const fn of(name: &'static str, needed: &'static str, optional: &'static str) -> Self {
        Self {
            name,
            is_list: false,
            needed,
            optional: Some(optional),
        }
    }

    /// Returns the names of all keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let optional = self.optional.unwrap_or_default();
        self.needed
            .split_whitespace()
            .chain(optional.split_whitespace())
    }
}

/// A TOML file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name in errors.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The keys of all sections.
    pub sections: &'a [Section],
    /// The hint of errors that have no better one.
    pub help: &'static str,
}

impl<'a> Source<'a> {
    /// Parses the text, and checks the keys.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line.
    pub fn tree(self) -> Result<Spanned<DeValue<'a>>> {
        let table = DeTable::parse(self.text).map_err(|e| {
            let message: Vec<_> = e.message().split_whitespace().collect();
            let (what, meant) = syntax(&message.join(" "), self.text, e.span());
            let mut error = self.fault(e.span().unwrap_or_default(), what, meant);
            if e.span().is_none() {
                error.place.line = None;
            }
            error
        })?;
        let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        self.check("", &root)?;
        Ok(root)
    }

    /// Returns the whole file, whose [`tree`](Self::tree) this is.
    pub fn table(self, tree: &'a Spanned<DeValue<'a>>) -> Table<'a> {
        Table {
            source: self,
            name: "",
            value: tree,
        }
    }

    /// Checks a value, and those in it.
    fn check(self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<()> {
        let section = self.sections.iter().find(|section| section.name == name);
        let all: Vec<_> = match (value.get_ref(), section) {
            (DeValue::Array(all), Some(section)) if section.is_list => all.iter().collect(),
            (_, Some(section)) if section.is_list => return Err(self.mistyped(value, "a list")),
            _ => vec![value],
        };
        for value in all {
            match (value.get_ref(), section) {
                (DeValue::Table(table), Some(section)) => {
                    self.check_keys(section, table, value.span())?;
                }
                (_, Some(_)) => return Err(self.mistyped(value, "a section")),
                (DeValue::Integer(_), None) if integer(value).is_some() => {}
                (DeValue::Float(_), None) if float(value).is_some() => {}
                (DeValue::Integer(_) | DeValue::Float(_), None) => {
                    let what = of_key(self.text, Some(value.span()), "not a number, or too large");
                    return Err(self.fault(value.span(), what, None));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_keys(self, section: &Section, table: &DeTable<'_>, span: Range<usize>) -> Result<()> {
        for (key, value) in table {
            let name = key.get_ref();
            if section.optional.is_some() && !section.keys().any(|known| known == name) {
                let meant =
                    nearest(name, section.keys()).map(|meant| format!("Did you mean {meant}?"));
                let what = format!("there is no key {name} here");
                return Err(self.fault(key.span(), what, self.elsewhere(name).or(meant)));
            }
            let dot = if section.name.is_empty() { "" } else { "." };
            self.check(&format!("{}{dot}{name}", section.name), value)?;
        }
        let mut needed = section.needed.split_whitespace();
        match needed.find(|key| !table.contains_key(*key)) {
            Some(key) => Err(self.fault(span, format!("the key {key} is missing"), None)),
            None => Ok(()),
        }
    }

    /// Returns the section that a misplaced key belongs to, as a sentence.
    fn elsewhere(self, key: &str) -> Option<String> {
        let mut all = self.sections.iter();
        if all.clone().any(|section| section.name == key) {
            return None;
        }
        let section = all.find(|section| section.keys().any(|known| known == key))?;
        Some(match (section.name, section.is_list) {
            ("", _) => {
                format!("The key {key} belongs to the first lines, above every [section].")
            }
            (name, true) => format!("The key {key} belongs below [[{name}]]."),
            (name, false) => format!("The key {key} belongs below [{name}]."),
        })
    }

    fn fault(self, span: Range<usize>, what: String, meant: Option<String>) -> Error {
        let meant = meant.map_or(String::new(), |meant| format!("{meant} "));
        self.error(span, what, format!("{meant}{}", self.help))
    }

    /// Makes the error for a value of another type.
    fn mistyped(self, value: &Spanned<DeValue<'_>>, wanted: &str) -> Error {
        let found = match value.get_ref() {
            DeValue::Table(_) => "a section".into(),
            DeValue::Array(_) => "a list".into(),
            DeValue::String(word) => format!("the word {word:?}"),
            _ => self.written(value.span()),
        };
        let what = format!("{wanted} is expected, not {found}");
        let key = key_at(self.text, Some(value.span())).filter(|_| wanted == "a section");
        let meant = key.map(|key| {
            format!("Write [{key}] in a line of its own, and its keys with their values below it.")
        });
        let what = of_key(self.text, Some(value.span()), &what);
        self.fault(value.span(), what, meant)
    }

    /// Returns a value as it is written, or its beginning.
    fn written(self, span: Range<usize>) -> String {
        let text = self.text.get(span).unwrap_or_default();
        text.chars().take(40).collect()
    }

    /// Returns the place of some bytes.
    pub fn place(self, span: Range<usize>) -> Place {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Place::line(self.path, line)
    }

    /// Makes an error about the value at some bytes.
    pub fn error(self, span: Range<usize>, what: String, hint: impl Into<Hint>) -> Error {
        Error::new(ErrorKind::Config, self.place(span), what, hint)
    }
}

/// Returns a whole number of 64 bits.
pub fn integer(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Returns a number; `inf` and `nan` are numbers, a number that is too large is not.
pub fn float(value: &Spanned<DeValue<'_>>) -> Option<f64> {
    let text = value.get_ref().as_float()?.as_str();
    let number: f64 = text.parse().ok()?;
    (number.is_finite() || text.contains('n')).then_some(number)
}

/// A checked file, or an element of a list of sections. Keys have their full names, such as `port.kind`.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// The file.
    pub source: Source<'a>,
    /// The list's name with a dot; empty for a file.
    pub name: &'static str,
    /// The values.
    pub value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    /// Returns the value of a key.
    pub fn get(self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        let key = key.strip_prefix(self.name).unwrap_or(key);
        (key.split('.')).try_fold(self.value, |value, part| value.get_ref().get(part))
    }

    /// Returns the bytes of a key's value.
    pub fn span(self, key: &str) -> Range<usize> {
        self.get(key).map_or(self.value.span(), Spanned::span)
    }

    /// Makes an error about a key's value.
    pub fn error(self, key: &str, what: impl Into<String>, hint: impl Into<Hint>) -> Error {
        self.source.error(self.span(key), what.into(), hint)
    }

    /// Makes the error for a value of a key that is not possible.
    pub fn impossible(self, key: &str, hint: impl Into<Hint>) -> Error {
        let what = format!("{key} = {} is not possible", self.written(key));
        self.error(key, what, hint)
    }

    /// Makes the error for a value of another type.
    pub fn mistyped(self, key: &str, wanted: &str) -> Error {
        self.source
            .mistyped(self.get(key).unwrap_or(self.value), wanted)
    }

    /// Returns a key's value as it is written, or its beginning.
    pub fn written(self, key: &str) -> String {
        self.source.written(self.span(key))
    }

    /// Reads the word of a key.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the value is not a word.
    pub fn word(self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.get_ref().as_str() {
                Some(word) => Ok(Some(word)),
                None => Err(self.mistyped(key, "a word in quotes")),
            },
        }
    }

    /// Reads the flag of a key, `false` without the key.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the value is neither `true` nor `false`.
    pub fn flag(self, key: &str) -> Result<bool> {
        match self.get(key) {
            None => Ok(false),
            Some(value) => match value.get_ref().as_bool() {
                Some(flag) => Ok(flag),
                None => Err(self.mistyped(key, "true or false")),
            },
        }
    }

    /// Reads the number of a key, if `good` accepts it.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with key, value and line.
    pub fn number<T: TryFrom<i64>>(
        self,
        key: &str,
        good: impl Fn(i64) -> bool,
        hint: impl Into<Hint>,
    ) -> Result<Option<T>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let Some(number) = integer(value) else {
            let what = format!("{key} = {} is not a whole number", self.written(key));
            return Err(self.error(key, what, hint));
        };
        match T::try_from(number).ok().filter(|_| good(number)) {
            Some(number) => Ok(Some(number)),
            // As it is written, also in hexadecimal.
            None => Err(self.impossible(key, hint)),
        }
    }
}

/// Places of the keys of a file. They do not change the meaning of a file, so all values are equal.
#[derive(Debug, Clone, Default)]
pub struct Places(BTreeMap<Key, Place>);

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Places {}

impl Places {
    /// Records the place of a key.
    pub fn note(&mut self, key: Key, place: Place) {
        self.0.insert(key, place);
    }

    /// Returns the place of a key.
    pub fn of(&self, key: Key) -> Option<&Place> {
        self.0.get(&key)
    }

    /// Reports whether the file has a key.
    pub fn has(&self, key: Key) -> bool {
        self.0.contains_key(&key)
    }

    /// Moves an error to the line of its key, if it has one and the file has it.
    pub fn point(&self, mut error: Error) -> Error {
        if let Some(place) = error.key.and_then(|key| self.0.get(&key)) {
            error.place = place.clone();
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [Section; 1] = [Section::of("", "b", "a")];

    fn number(text: &str, good: fn(i64) -> bool) -> Result<Option<u8>> {
        let source = Source {
            path: Path::new("c.toml"),
            text,
            sections: &KEYS,
            help: "Look.",
        };
        let tree = source.tree()?;
        source.table(&tree).number("b", good, "Use less.")
    }

    #[test]
    fn a_number_is_good_and_fits() {
        let of = |value: i64, good| number(&format!("a = 1\nb = {value}\n"), good);
        assert_eq!(of(255, |_| true).unwrap(), Some(255));
        for (value, good) in [
            (300, (|_| true) as fn(i64) -> bool),
            (7, |n| n > 7),
            (-1, |_| true),
        ] {
            let error = of(value, good).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("c.toml:2: b = {value} is not possible")
            );
        }
    }

    #[test]
    fn keys_are_those_of_the_table() {
        for (text, said) in [
            ("a = 1\n", "c.toml:1: the key b is missing"),
            ("b = 1\nc = 2\n", "c.toml:2: there is no key c here"),
            ("b = 1e999\n", "c.toml:1: b: not a number, or too large"),
        ] {
            let error = number(text, |_| true).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
