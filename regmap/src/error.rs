//! Errors of a map, with their places and hints.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

/// All errors of a map.
#[derive(Debug, Error)]
pub struct MapErrors {
    /// The errors, in the order of the file. There is at least one.
    pub errors: Vec<MapError>,
}

impl fmt::Display for MapErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// One error, with its place.
#[derive(Debug, Error)]
#[error("{file}:{line}:{column}: {place}: {kind}")]
pub struct MapError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The register, field or other item concerned.
    pub place: String,
    /// The kind of error.
    pub kind: ErrorKind,
    /// The hint.
    pub hint: String,
    /// The text of the file.
    pub text: Arc<String>,
    /// The place in the text.
    pub span: Range<usize>,
}

impl MapError {
    pub(crate) fn new(
        file: &str,
        text: &Arc<String>,
        span: Range<usize>,
        place: impl Into<String>,
        kind: ErrorKind,
    ) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        MapError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            place: place.into(),
            hint: kind.hint(),
            kind,
            text: text.clone(),
            span,
        }
    }
}

/// The kinds of errors in a map.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not TOML, an unknown or missing key, or a value of the wrong type.
    #[error("{0}")]
    Syntax(String),
    /// A name that is not in its case.
    #[error("`{name}` is not {case}")]
    Name {
        /// The name.
        name: String,
        /// `snake_case` or `UPPER_CASE`.
        case: &'static str,
    },
    /// A reserved word of a target language.
    #[error("`{name}` is a reserved word of {language}")]
    ReservedWord {
        /// The name.
        name: String,
        /// The language.
        language: &'static str,
    },
    /// A name that is used twice.
    #[error("the name `{0}` is used twice")]
    Duplicate(String),
    /// Two items whose generated names are equal.
    #[error("the generated name `{name}` is also that of {other}")]
    Collision {
        /// The generated name.
        name: String,
        /// The item that has it already.
        other: String,
    },
    /// An empty doc text.
    #[error("the doc text is empty")]
    NoDoc,
    /// A list that must have an item has none.
    #[error("there is no {0}")]
    Empty(&'static str),
    /// A number that is 0 or too large.
    #[error("{value} is not in the range {min} to {max}")]
    Number {
        /// The number.
        value: u64,
        /// Smallest legal number.
        min: u64,
        /// Largest legal number.
        max: u64,
    },
    /// A bit or byte range that cannot be read.
    #[error("`{0}` is not a range")]
    Range(String),
    /// A range beyond the end of the register, member or record that contains it.
    #[error("{range} is beyond the end, which is at {end}")]
    Overflow {
        /// The range.
        range: String,
        /// The first bit or byte outside.
        end: u64,
    },
    /// Two items share bits or bytes.
    #[error("{range}: already in use by {other}")]
    Overlap {
        /// The range.
        range: String,
        /// The other item.
        other: String,
    },
    /// Bits or bytes of a record that nothing covers.
    #[error("{0} is neither used nor reserved")]
    Gap(String),
    /// An offset or size that is not aligned.
    #[error("{value:#x} is not a multiple of {alignment:#x}")]
    Unaligned {
        /// The offset or size.
        value: u64,
        /// The required divisor.
        alignment: u64,
    },
    /// A size that is not a power of two.
    #[error("{0:#x} is not a power of two")]
    PowerOfTwo(u64),
    /// Not an access kind.
    #[error("`{0}` is not an access kind")]
    Access(String),
    /// A combination of access kinds, widths or counts that the RTL cannot have.
    #[error("{0}")]
    Shape(&'static str),
    /// Not a width or a member type.
    #[error("`{0}` is not a width")]
    Width(String),
    /// A reset value or constant on a field that cannot have one.
    #[error("a field with access {0} has no {1}")]
    NoReset(&'static str, &'static str),
    /// A reset value the field cannot or must not have.
    #[error("the reset value {value} is not {legal}")]
    Reset {
        /// The value.
        value: u64,
        /// The values that it may have.
        legal: String,
    },
    /// A field too narrow for its values.
    #[error("{what} {value} does not fit {width} bits")]
    TooWide {
        /// The kind of value that does not fit.
        what: String,
        /// The value.
        value: u64,
        /// Bits of the field.
        width: u32,
    },
    /// A lower bound above the upper one.
    #[error("the minimum {min} is above the maximum {max}")]
    Bounds {
        /// Lower bound.
        min: u64,
        /// Upper bound.
        max: u64,
    },
    /// A name that does not exist.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// The kind of item that was looked for.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A record that does not fit the table or the register array that it belongs to.
    #[error("the record `{record}` has {size} bytes, {there}")]
    RecordSize {
        /// Name of the record.
        record: String,
        /// Its size.
        size: u64,
        /// The size of that table or array, in words.
        there: String,
    },
}

impl ErrorKind {
    fn hint(&self) -> String {
        match self {
            ErrorKind::Syntax(_) => "regmap/README.md lists the keys of every table.".into(),
            ErrorKind::Name { case, .. } if *case == "UPPER_CASE" => {
                "Begin with a letter; use capitals, digits and single underscores.".into()
            }
            ErrorKind::Name { .. } => {
                "Begin with a letter; use small letters, digits and single underscores.".into()
            }
            ErrorKind::ReservedWord { .. } => {
                "Choose another name: the generated source would not compile.".into()
            }
            ErrorKind::Duplicate(_) => "Rename one of the two.".into(),
            ErrorKind::Collision { .. } => {
                "Rename one of the two, so that register and field names joined by `_` differ."
                    .into()
            }
            ErrorKind::NoDoc => "Describe the item: the texts are the reference manual.".into(),
            ErrorKind::Empty(what) => format!("Add a {what}, or remove the empty table."),
            ErrorKind::Number { .. } => "Give a number in the range.".into(),
            ErrorKind::Range(_) => {
                "Write bits as \"7\" or \"15:8\" (high first), bytes as \"0x18..0x20\" (end excluded)."
                    .into()
            }
            ErrorKind::Overflow { .. } => "Move the item down, or enlarge its container.".into(),
            ErrorKind::Overlap { .. } => "Move one of the two.".into(),
            ErrorKind::Gap(range) => {
                format!("Add a field or member there, or list {range} in `reserved`.")
            }
            ErrorKind::Unaligned { alignment, .. } => {
                format!("Use a multiple of {alignment:#x}.")
            }
            ErrorKind::PowerOfTwo(value) => {
                format!("The next power of two is {:#x}.", value.next_power_of_two())
            }
            ErrorKind::Access(_) => "Use ro, rw, w1c, wo or pulse.".into(),
            ErrorKind::Shape(_) => "See regmap/README.md for each access kind.".into(),
            ErrorKind::Width(_) => {
                "A register has width 32 or 64, a member the type \"u32\" or \"u64\".".into()
            }
            ErrorKind::NoReset(..) => "Remove the key.".into(),
            ErrorKind::Reset { .. } => "Change the reset value or the field's bounds.".into(),
            ErrorKind::TooWide { .. } => "Make the field wider or the value smaller.".into(),
            ErrorKind::Bounds { .. } => "Exchange the two.".into(),
            ErrorKind::Unknown { what, .. } => {
                format!("Define the {what}, or correct the name.")
            }
            ErrorKind::RecordSize { .. } => {
                "Make both sizes equal, or make the block's size a multiple of the record's.".into()
            }
        }
    }
}
