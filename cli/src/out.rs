//! What the command says, on standard output and standard error.
//!
//! `println!` of the standard library panics where it cannot write. Whoever reads may have seen enough (`| head -1`):
//! the work goes on, and its exit status is what it would have been. Where there is no room, the end says so.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::sync::{Mutex, PoisonError};

use peerlane_bsp::error::{self, Error, Place};

/// Why something could not be said, the first time.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Says something on standard output.
pub fn say(text: fmt::Arguments<'_>) {
    remember(io::stdout().lock().write_fmt(text));
}

/// Says something on standard error. Where that cannot be, nobody could be told.
pub fn warn(text: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

fn remember(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }
}

/// Ends what is said; the error if not all of it could be.
///
/// # Errors
/// [`Error`] of kind `Output`.
pub fn end() -> Result<(), Error> {
    remember(io::stdout().lock().flush());
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    match failure.take() {
        None => Ok(()),
        Some(error) => Err(Error::new(
            error::ErrorKind::Output,
            Place::file("standard output"),
            format!("cannot write all that there is to say: {error}"),
            "Make room there, or send it elsewhere. Files that the command was asked for are written by themselves.",
        )),
    }
}

/// As `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::out::say(format_args!($($text)*)) };
}

/// As `println!`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::out::say(format_args!("{}\n", format_args!($($text)*))) };
}

/// As `eprintln!`.
macro_rules! errln {
    ($($text:tt)*) => { $crate::out::warn(format_args!("{}\n", format_args!($($text)*))) };
}
