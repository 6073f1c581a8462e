//! The error type of the command.

use std::io;
use std::path::Path;

use peerlane_bsp::error::{Error as BspError, ErrorKind};

/// The reason why a subcommand failed.
#[derive(Debug)]
pub enum Error {
    /// An error of the crates of BSPs.
    Bsp(Box<BspError>),
    /// Another error.
    Other {
        /// The file, device or program that the error is about.
        place: String,
        /// A sentence without its full stop.
        what: String,
        /// The hint, in whole sentences.
        hint: String,
    },
}

impl Error {
    /// Makes an error; `what` has no full stop at its end, `hint` has one.
    pub fn new(place: impl AsRef<Path>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Other {
            place: place.as_ref().display().to_string(),
            // An error is one line.
            what: what.into().replace(char::is_control, " "),
            hint: hint.into(),
        }
    }

    /// Makes the error of a failed read or write of `path`.
    pub fn io(path: impl AsRef<Path>, doing: &str, source: &io::Error) -> Self {
        BspError::io(path, doing, source).into()
    }

    /// Reports whether a signal asked for an early end.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Bsp(error) if error.kind == ErrorKind::Interrupted)
    }

    /// Returns the text that the command prints.
    pub fn message(&self) -> String {
        match self {
            Self::Bsp(error) => error.message(),
            Self::Other { place, what, hint } => format!("{place}: {what}. {hint}"),
        }
    }
}

impl From<BspError> for Error {
    fn from(error: BspError) -> Self {
        Self::Bsp(Box::new(error))
    }
}
