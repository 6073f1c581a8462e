//! Errors of machines.

use std::{io, path::PathBuf};

use miette::Diagnostic;
use thiserror::Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a machine failed.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// A file operation failed.
    #[error("cannot {action} `{}`: {source}", path.display())]
    #[diagnostic(help("check the file, its permissions and the free space"))]
    Io {
        /// The operation, as a verb: "read", "create".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A program for the machine does not build.
    #[error("the program {program} for the machine does not build:\n{output}")]
    #[diagnostic(help(
        "most are linked statically: the C library's static archive has to be there \
                       (on Debian and Ubuntu: libc6-dev)"
    ))]
    Guest {
        /// Package and program.
        program: String,
        /// The output of cargo.
        output: String,
    },

    /// The shared libraries of a file for the machine are not known.
    #[error("the shared libraries of `{}` are not known: {reason}", file.display())]
    #[diagnostic(help(
        "`ldd`, of the C library, lists them; LD_LIBRARY_PATH names directories for what is missing"
    ))]
    Libraries {
        /// The program or library.
        file: PathBuf,
        /// The reason.
        reason: String,
    },

    /// The files that a Python interpreter needs are not known.
    #[error("what `{}` needs is not known: {reason}", interpreter.display())]
    #[diagnostic(help("PEERLANE_PYTHON names another interpreter"))]
    Python {
        /// The interpreter.
        interpreter: PathBuf,
        /// The reason.
        reason: String,
    },

    /// QEMU ended before it was asked to, or did not start.
    #[error("QEMU {what}\n{output}")]
    #[diagnostic(help("the last lines are QEMU's own, and the machine's console"))]
    Qemu {
        /// The event.
        what: String,
        /// QEMU's output, and the end of the console.
        output: String,
    },

    /// QEMU refused a command.
    #[error("QEMU refused `{command}`: {answer}")]
    #[diagnostic(help("check the command's arguments against QEMU's QMP reference"))]
    Qmp {
        /// The command.
        command: String,
        /// QEMU's answer.
        answer: String,
    },

    /// The machine is not done, and its time is up.
    #[error("the machine was not done after {seconds} s\n{output}")]
    #[diagnostic(help("look at the last lines of its console; `Machine::deadline` sets the time"))]
    Deadline {
        /// The time that it had.
        seconds: u64,
        /// The end of the console.
        output: String,
    },

    /// A program in the machine asked a question that the test does not understand.
    #[error("the machine asked `{question}`, which is no question of this test: {reason}")]
    #[diagnostic(help("program and test have to agree on the type of the question"))]
    Question {
        /// The line.
        question: String,
        /// The reason.
        reason: String,
    },

    /// The machine's script failed.
    #[error("the machine's script ended with status {status}\n{output}")]
    #[diagnostic(help("a program in the machine failed; the last lines are of its console"))]
    Script {
        /// Its exit status.
        status: i32,
        /// The end of the console.
        output: String,
    },

    /// The machine's kernel complained.
    #[error("the machine's kernel complained:\n{complaints}\n\n{output}")]
    #[diagnostic(help("a complaint that the test provokes is to be named by `Machine::expect`"))]
    Kernel {
        /// The lines that are complaints.
        complaints: String,
        /// The end of the console.
        output: String,
    },
}

/// Makes an [`Error::Io`] from a system error.
pub(crate) fn io_error(
    action: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io {
        action,
        path,
        source,
    }
}
