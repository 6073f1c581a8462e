//! The line between a program in a virtual machine and the test that started it, for any kind of
//! question: a second serial port carries one line of JSON each way. The other end is `Vm::run` of
//! `peerlane-vm`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
};

use serde::{Serialize, de::DeserializeOwned};

/// The serial port. The machine's `init` makes it raw: no echo, no translation.
pub const PORT: &str = "/dev/ttyS1";

/// The line to the test.
#[derive(Debug)]
pub struct Control {
    answers: BufReader<File>,
    questions: File,
}

impl Control {
    /// Opens it.
    ///
    /// # Errors
    /// When the port is not there.
    pub fn open() -> io::Result<Self> {
        let questions = File::options().read(true).write(true).open(PORT)?;
        Ok(Self {
            answers: BufReader::new(questions.try_clone()?),
            questions,
        })
    }

    /// Asks the test something and waits for its answer.
    ///
    /// # Errors
    /// When the line breaks, and when the answer is not what is expected.
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
