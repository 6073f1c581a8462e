//! Values of a TOML file that a user writes, and errors with the line of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::key::Key;

/// A TOML file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name in errors.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
}

impl Source<'_> {
    /// Returns the place of some bytes.
    pub fn place(&self, span: Range<usize>) -> Place {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Place::line(self.path, line)
    }

    /// Makes an error about the value at some bytes.
    pub fn error(&self, span: Range<usize>, what: String, hint: &str) -> Error {
        Error::new(ErrorKind::Config, self.place(span), what, hint)
    }

    /// Reads the number of a key, which is at these bytes, if `good` accepts it.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with key, value and line.
    pub fn number<T: TryFrom<i64>>(
        &self,
        key: &str,
        (number, span): (i64, Range<usize>),
        good: impl Fn(i64) -> bool,
        hint: &str,
    ) -> Result<T> {
        let fits = Some(number).filter(|&number| good(number));
        fits.and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                // As it is written, also in hexadecimal.
                let written = self.text.get(span.clone()).unwrap_or_default();
                self.error(span, format!("{key} = {written} is not possible"), hint)
            })
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

    #[test]
    fn a_number_is_good_and_fits() {
        let number = |value: i64, good: fn(i64) -> bool| {
            let written = value.to_string();
            let source = Source {
                path: Path::new("c.toml"),
                text: &format!("a = 1\nb = {written}\n"),
            };
            source.number::<u8>("b", (value, 10..10 + written.len()), good, "Use less.")
        };
        assert_eq!(number(255, |_| true).unwrap(), 255);
        for (value, good) in [
            (300, (|_| true) as fn(i64) -> bool),
            (7, |n| n > 7),
            (-1, |_| true),
        ] {
            let error = number(value, good).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("c.toml:2: b = {value} is not possible")
            );
        }
        let source = Source {
            path: Path::new("c.toml"),
            text: "a = 1\nb = 300\n",
        };
        assert_eq!(source.place(1000..1001).line, Some(3));
    }
}
