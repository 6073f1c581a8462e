//! Errors, each with a hint.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reasons why a tool is not available. [`Error::hint`] has a hint for each.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither `PEERLANE_CACHE` nor a home directory is set.
    #[error("no cache directory: none of PEERLANE_CACHE, XDG_CACHE_HOME and HOME is set")]
    NoCacheDirectory,

    /// A file operation failed.
    #[error("cannot {action} `{}`: {source}", path.display())]
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
    Start {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },

    /// A program that has to be on the machine does not exist.
    #[error("{what} was not found (looked for {looked_for})")]
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
    Hash {
        /// The tool.
        tool: String,
        /// The file and the hashes.
        detail: String,
    },

    /// Fetching or unpacking failed.
    #[error("cannot install {tool}: {detail}")]
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
    Module {
        /// The module's source.
        source_directory: PathBuf,
        /// The kernel.
        release: String,
        /// All output of make and the compilers.
        output: String,
    },
}

impl Error {
    /// Returns the hint.
    pub fn hint(&self) -> &str {
        match self {
            Self::NoCacheDirectory => {
                "set PEERLANE_CACHE to a directory that may grow to about 3 GB"
            }
            Self::Io { .. } => {
                "check the permissions and the free space, or set PEERLANE_CACHE to another directory"
            }
            Self::Start { .. } => "check that the program exists and is executable",
            Self::Missing { hint, .. } | Self::Install { hint, .. } => hint,
            Self::Hash { .. } => {
                "the package index or a mirror serves a file other than the pinned one; try again, and do not use the \
                 file if the error persists"
            }
            Self::Module { .. } => "correct the source",
        }
    }
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
