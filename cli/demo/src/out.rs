//! Output of the command, to standard output and standard error.
//!
//! `println!` of the standard library panics if it cannot write. The reader may close the pipe early (`| head -1`):
//! then the work goes on, and the exit status does not change. If there is no space left for the output, the command
//! reports an error at its end.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::files::{FAILED, Outcome};

/// The first output error.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints to standard output.
pub fn say(text: fmt::Arguments<'_>) {
    remember(io::stdout().lock().write_fmt(text));
}

/// Prints to standard error. Its own errors cannot be reported and are ignored.
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

/// Flushes the output; returns the error if not all of it could be written.
fn end() -> Result<(), Error> {
    remember(io::stdout().lock().flush());
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    match failure.take() {
        None => Ok(()),
        Some(error) => Err(Error::new(
            "standard output",
            format!("cannot write the whole output: {error}"),
            "Free some space there, or redirect the output. Files that the command was to write are not affected.",
        )),
    }
}

/// Same as `print!`, without a panic.
#[macro_export]
macro_rules! out {
    ($($text:tt)*) => { $crate::out::say(format_args!($($text)*)) };
}

/// Same as `println!`, without a panic.
#[macro_export]
macro_rules! outln {
    ($($text:tt)*) => { $crate::out::say(format_args!("{}\n", format_args!($($text)*))) };
}

/// Same as `eprintln!`, without a panic.
#[macro_export]
macro_rules! errln {
    ($($text:tt)*) => { $crate::out::warn(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints the error of the program or of its output, if any, and returns the exit status.
pub fn finish(outcome: Outcome) -> ExitCode {
    let failed = |error: Error| {
        errln!("peerlane: {}", error.message());
        ExitCode::from(FAILED)
    };
    let code = outcome.unwrap_or_else(failed);
    match end() {
        Ok(()) => code,
        Err(error) => failed(error),
    }
}
