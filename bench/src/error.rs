//! Errors, each as one sentence and a hint.

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reasons why there is no measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no model of the block.
    #[error(transparent)]
    Block(#[from] peerlane_block::Error),
    /// The board stopped: a broken rule, or something that did not happen in time.
    #[error("{row}: the simulated board stopped: {source}")]
    Board {
        /// The row that was being measured.
        row: &'static str,
        /// The board's error.
        source: peerlane_sim::Error,
    },
    /// A descriptor ended with a status other than OK.
    #[error("{row}: descriptor {cookie} failed after {bytes} bytes: {fault}")]
    Status {
        /// The row that was being measured.
        row: &'static str,
        /// The descriptor's cookie.
        cookie: u32,
        /// The reason.
        fault: peerlane_core::fault::Fault,
        /// Bytes that it moved.
        bytes: u32,
    },
    /// A record that no block writes.
    #[error("{row}: {source}")]
    Record {
        /// The row that was being measured.
        row: &'static str,
        /// The error in it.
        source: peerlane_core::record::RecordError,
    },
    /// The board library, or the driver in the process below it, refused a call.
    #[error("{row}: {reason}")]
    Library {
        /// The row that was being measured.
        row: &'static str,
        /// The library's or driver's message.
        reason: String,
    },
    /// Bytes arrived wrong.
    #[error("{row}: the byte at {offset:#x} arrived wrong")]
    Data {
        /// The row that was being measured.
        row: &'static str,
        /// Offset in the moved bytes.
        offset: u64,
    },
    /// The board, or the host library.
    #[error(transparent)]
    Host(#[from] peerlane_host::Error),
    /// A copy between a board and a GPU.
    #[error(transparent)]
    Routes(#[from] peerlane_routes::Error),
    /// A copy did not end.
    #[error("a copy of {bytes} bytes did not end within {limit:?}")]
    Late {
        /// Bytes of the copy.
        bytes: u64,
        /// How long the copy was waited for.
        limit: std::time::Duration,
    },
    /// A copy between a board and a GPU succeeded, and the bytes are wrong.
    #[error(
        "{method}, {direction}, {bytes} bytes: the byte at {offset:#x} arrived wrong, and no error was reported"
    )]
    Transfer {
        /// The way of the copy.
        method: &'static str,
        /// The direction.
        direction: &'static str,
        /// Bytes of the copy.
        bytes: u64,
        /// Offset of the first wrong byte.
        offset: u64,
    },
    /// The page could not be drawn.
    #[error("the page cannot be drawn: {0}")]
    Page(String),
}

impl Error {
    /// Returns the hint, in whole sentences.
    pub fn hint(&self) -> String {
        let text = match self {
            Self::Host(error) => error.hint(),
            Self::Routes(error) => return error.hint(),
            Self::Block(peerlane_block::Error::Model(_)) => {
                "Run `cargo xtask tools`: it installs the tools of the simulation, and lists those that it cannot \
                 install."
            }
            Self::Block(_)
            | Self::Board { .. }
            | Self::Status { .. }
            | Self::Record { .. }
            | Self::Library { .. }
            | Self::Data { .. } => {
                "This is a defect of the block: run `cargo xtask test rtl` to find it."
            }
            Self::Late { .. } => {
                "Look at the output of `peerlane doctor`, and at the kernel's log."
            }
            Self::Transfer { .. } => {
                "Do not rely on this computer for transfers between board and GPU. Run `peerlane doctor` to find the reason."
            }
            Self::Page(_) => "Run the command without the page.",
        };
        text.into()
    }
}
