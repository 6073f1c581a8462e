//! The line between a program in a virtual machine and the test that started it, for any kind of
//! question: a second serial port carries one line of JSON each way. The other end is `Vm::run` of
//! `peerlane-vm`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

/// The serial port. The machine's `init` makes it raw: no echo, no translation.
pub const PORT: &str = "/dev/ttyS1";

/// Environment variable that names another file, for both directions, instead of [`PORT`].
pub const VARIABLE: &str = "PEERLANE_CONTROL";

/// The line to the test. While one process has it, other processes wait for it.
#[derive(Debug)]
pub struct Control {
    answers: BufReader<File>,
    questions: File,
}

impl Control {
    /// Opens the line, as soon as no other process has it.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn open() -> io::Result<Self> {
        match std::env::var_os(VARIABLE) {
            Some(path) => Self::at(path),
            None => Self::at(PORT),
        }
    }

    fn at(path: impl AsRef<Path>) -> io::Result<Self> {
        let questions = File::options().read(true).write(true).open(path)?;
        questions.lock()?;
        Ok(Self {
            answers: BufReader::new(questions.try_clone()?),
            questions,
        })
    }

    /// Asks the test something and waits for its answer.
    ///
    /// # Errors
    /// If the line breaks, or the answer is not of the expected form.
    pub fn ask<A: DeserializeOwned>(&mut self, question: &impl Serialize) -> io::Result<A> {
        let mut line = serde_json::to_vec(question)?;
        line.push(b'\n');
        self.questions.write_all(&line)?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_ends_or_is_not_there_is_an_error() {
        let mut control = Control::at("/dev/null").unwrap();
        let error = control.ask::<String>(&"word").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let error = Control::at("/no/such/port").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
