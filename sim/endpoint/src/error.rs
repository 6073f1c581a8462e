//! Errors of endpoints.

use std::path::PathBuf;

use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an endpoint could not be made or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The layout does not fit the design.
    #[error("BAR layout: {message}")]
    Layout {
        /// The error in the layout.
        message: String,
    },
    /// There is no model of the block.
    #[error(transparent)]
    Block(#[from] peerlane_block::Error),
    /// The board could not be made, or refused a request.
    #[error(transparent)]
    Board(#[from] peerlane_sim::Error),
    /// A file could not be accessed.
    #[error("cannot examine {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The socket could not be made.
    #[error("cannot listen at {}: {source}", path.display())]
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
    Gone,
    /// The block did not become idle in time.
    #[error("the block was still busy after {seconds:.1} s")]
    Busy {
        /// Time that was waited.
        seconds: f64,
    },
}

impl Error {
    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        Some(match self {
            Self::Layout { .. } => {
                "use `Layout::of`, which returns a layout for the build's parameters"
            }
            Self::Block(error) => return error.hint(),
            Self::Board(error) => return error.hint(),
            Self::File { .. } => {
                "create the backing file of the GPU's BAR before the endpoint starts"
            }
            Self::Listen { .. } => {
                "give a path of less than 108 bytes in an existing directory, and remove an old socket there first"
            }
            Self::Thread(_) => return None,
            Self::Gone => "keep the `Endpoint` while its handles are in use",
            Self::Busy { .. } => "see `Status` for the progress of the block",
        })
    }
}
