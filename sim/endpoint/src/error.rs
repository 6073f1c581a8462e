//! Why there is no endpoint, or no answer from one.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an endpoint could not be made or asked.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// The layout does not fit the design.
    #[error("BAR layout: {message}")]
    #[diagnostic(help("`Layout::of` gives one that fits the build's parameters"))]
    Layout {
        /// What is wrong with it.
        message: String,
    },
    /// There is no model of the block.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Block(#[from] peerlane_block::Error),
    /// The board could not be made, or refused what was asked.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Board(#[from] peerlane_sim::Error),
    /// A file could not be looked at.
    #[error("cannot look at {}: {source}", path.display())]
    #[diagnostic(help("the file behind the GPU's BAR must exist before the endpoint starts"))]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The socket could not be made.
    #[error("cannot listen at {}: {source}", path.display())]
    #[diagnostic(help(
        "give a path of less than 108 bytes in a directory that exists; a socket that a process left \
         there must be removed first"
    ))]
    Listen {
        /// The socket's path.
        path: PathBuf,
        /// Why not.
        #[source]
        source: vfio_user::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The endpoint was dropped.
    #[error("the endpoint is gone")]
    #[diagnostic(help("keep the `Endpoint` as long as its handles are used"))]
    Gone,
    /// Something did not happen in time.
    #[error("the block was still busy after {seconds:.1} s")]
    #[diagnostic(help("`Status` says what the block has done so far"))]
    Busy {
        /// How long was waited.
        seconds: f64,
    },
}
