//! Errors of endpoints.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an endpoint could not be made or used.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// The layout does not fit the design.
    #[error("BAR layout: {message}")]
    #[diagnostic(help("use `Layout::of`, which returns a layout for the build's parameters"))]
    Layout {
        /// The error in the layout.
        message: String,
    },
    /// There is no model of the block.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Block(#[from] peerlane_block::Error),
    /// The board could not be made, or refused a request.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Board(#[from] peerlane_sim::Error),
    /// A file could not be accessed.
    #[error("cannot examine {}: {source}", path.display())]
    #[diagnostic(help("create the backing file of the GPU's BAR before the endpoint starts"))]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The socket could not be made.
    #[error("cannot listen at {}: {source}", path.display())]
    #[diagnostic(help(
        "give a path of less than 108 bytes in an existing directory, and remove an old socket there \
         first"
    ))]
    Listen {
        /// The socket's path.
        path: PathBuf,
        /// The server's error.
        #[source]
        source: vfio_user::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The endpoint was dropped.
    #[error("the endpoint was dropped")]
    #[diagnostic(help("keep the `Endpoint` while its handles are in use"))]
    Gone,
    /// The block did not become idle in time.
    #[error("the block was still busy after {seconds:.1} s")]
    #[diagnostic(help("see `Status` for the progress of the block"))]
    Busy {
        /// Time that was waited.
        seconds: f64,
    },
}
