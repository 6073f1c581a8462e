//! Errors, each with a hint.

use std::{io, path::PathBuf};

use miette::Diagnostic;
use thiserror::Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reasons why a tool is not available. The `help` text of each is a hint.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// Neither `PEERLANE_CACHE` nor a home directory is set.
    #[error("no cache directory: none of PEERLANE_CACHE, XDG_CACHE_HOME and HOME is set")]
    #[diagnostic(help("set PEERLANE_CACHE to a directory that may grow to about 3 GB"))]
    NoCacheDirectory,

    /// A file operation failed.
    #[error("cannot {action} `{}`: {source}", path.display())]
    #[diagnostic(help(
        "check the permissions and the free space, or set PEERLANE_CACHE to another directory"
    ))]
    Io {
        /// The action that was tried, as a verb: "create", "rename".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A program could not be started.
    #[error("cannot run `{program}`: {source}")]
    #[diagnostic(help("check that the program exists and is executable"))]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },

    /// A program that has to be on the machine does not exist.
    #[error("{what} was not found (looked for {looked_for})")]
    #[diagnostic(help("{hint}"))]
    Missing {
        /// The thing, for a person: "a C++ compiler".
        what: String,
        /// The names tried.
        looked_for: String,
        /// The hint.
        hint: String,
    },

    /// A download is not the file that was pinned. No part of it was stored.
    #[error("the download of {tool} does not match its pinned hash: {detail}")]
    #[diagnostic(help(
        "the package index or a mirror serves a file other than the pinned one; try again, and do \
         not use the file if the error persists"
    ))]
    Hash {
        /// The tool.
        tool: String,
        /// The file and the hashes.
        detail: String,
    },

    /// Fetching or unpacking failed.
    #[error("cannot install {tool}: {detail}")]
    #[diagnostic(help("{hint}"))]
    Install {
        /// The tool.
        tool: String,
        /// The last lines of the installer's output.
        detail: String,
        /// The hint.
        hint: String,
    },

    /// A kernel module does not build.
    #[error("the kernel module in `{}` does not build for Linux {release}:\n{output}", source_directory.display())]
    #[diagnostic(help("correct the source"))]
    Module {
        /// The module's source.
        source_directory: PathBuf,
        /// The kernel.
        release: String,
        /// All output of make and the compilers.
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
